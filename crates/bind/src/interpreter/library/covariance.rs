//! Covariances of Gaussian processes between points.

use super::Arguments;
use crate::interpreter::{Interpreter, Run, wrong};
use crate::value::{Tensor, Value};
use octopus_program::Op;
use octopus_stan::StanType;
use std::f64::consts::PI;

/// Points in rows, and the number of their coordinates.
struct Points {
    x: Tensor,
    count: usize,
    width: usize,
}

impl Points {
    fn of(x: Tensor) -> Self {
        let count = x.dims.first().copied().unwrap_or(0);
        let width = x.dims.get(1).copied().unwrap_or(1);
        Self { x, count, width }
    }
}

/// What a covariance is a function of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    ExpQuad,
    Exponential,
    Matern32,
    Matern52,
    Periodic,
}

fn kernel(name: &str) -> Option<Kernel> {
    Some(match name {
        "gp_exp_quad_cov" | "cov_exp_quad" => Kernel::ExpQuad,
        "gp_exponential_cov" => Kernel::Exponential,
        "gp_matern32_cov" => Kernel::Matern32,
        "gp_matern52_cov" => Kernel::Matern52,
        "gp_periodic_cov" => Kernel::Periodic,
        _ => return None,
    })
}

/// The covariance function of a name; its arguments have no lanes.
pub(super) fn covariance(name: &str) -> Option<Box<super::Function>> {
    if name == "gp_dot_prod_cov" {
        return Some(Box::new(dot_product));
    }
    let kernel = kernel(name)?;
    Some(Box::new(move |me, a| covariance_of(me, a, kernel)))
}

/// The arguments: points, points again, and where the numbers begin.
fn points(me: &Interpreter<'_>, a: &Arguments, numbers: usize) -> Run<(Points, Points, bool)> {
    let is_cross = a.values.len() == numbers + 2;
    let first = Points::of(a.tensor(me, 0));
    let second = Points::of(a.tensor(me, usize::from(is_cross)));
    if first.width != second.width {
        return wrong(a.span, format!("points of {} and of {} coordinates", first.width, second.width));
    }
    Ok((first, second, is_cross))
}

fn covariance_of(me: &mut Interpreter<'_>, a: &Arguments, kernel: Kernel) -> Run<Value> {
    let numbers = if kernel == Kernel::Periodic { 3 } else { 2 };
    let (first, second, is_cross) = points(me, a, numbers)?;
    let at = 1 + usize::from(is_cross);
    let (alpha, scale) = (a.tensor(me, at), a.tensor(me, at + 1));
    let span = a.span;
    me.room(&[first.count, second.count], span)?;
    me.work(first.count.saturating_mul(second.count).saturating_mul(first.width), span)?;
    if kernel != Kernel::ExpQuad && (first.x.known().is_none() || second.x.known().is_none()) {
        return wrong(
            span,
            "points that depend on parameters are not supported here yet; `gp_exp_quad_cov` takes them",
        );
    }
    // A scale of each coordinate, or one that is applied to the distance.
    let square = if scale.is_scalar() {
        let square = me.squared_distances(&first, &second, None, a)?;
        let squared_scale = me.mul(&scale, &scale, span)?;
        if kernel == Kernel::Periodic { square } else { me.div(&square, &squared_scale, span)? }
    } else {
        if scale.count() != first.width && first.count * second.count > 0 {
            return wrong(span, format!("{} length scales for {} coordinates", scale.count(), first.width));
        }
        me.squared_distances(&first, &second, Some(&scale), a)?
    };
    let variance = me.mul(&alpha, &alpha, span)?;
    let part = |me: &mut Interpreter<'_>, factor: f64, x: &Tensor| me.mul(&Tensor::number(factor), x, span);
    let (polynomial, exponent) = match kernel {
        Kernel::ExpQuad => (None, part(me, -0.5, &square)?),
        Kernel::Periodic => {
            let distance = me.apply(Op::Sqrt, &[square], span)?;
            let turns = me.div(&distance, &a.tensor(me, at + 2), span)?;
            let angle = part(me, PI, &turns)?;
            let sine = me.apply(Op::Sin, &[angle], span)?;
            let ratio = me.div(&sine, &scale, span)?;
            let ratio = me.mul(&ratio, &ratio, span)?;
            (None, part(me, -2.0, &ratio)?)
        }
        Kernel::Exponential | Kernel::Matern32 | Kernel::Matern52 => {
            // The root is of known squares where it can be: at 0 it has no slope.
            let distance = me.scaled_distances(&first, &second, &scale, square.clone(), a)?;
            match kernel {
                Kernel::Exponential => (None, part(me, -1.0, &distance)?),
                Kernel::Matern32 => {
                    let steps = part(me, 3.0_f64.sqrt(), &distance)?;
                    let polynomial = me.add(&Tensor::number(1.0), &steps, span)?;
                    (Some(polynomial), part(me, -1.0, &steps)?)
                }
                _ => {
                    let steps = part(me, 5.0_f64.sqrt(), &distance)?;
                    let curved = part(me, 5.0 / 3.0, &square)?;
                    let polynomial = me.add(&Tensor::number(1.0), &steps, span)?;
                    (Some(me.add(&polynomial, &curved, span)?), part(me, -1.0, &steps)?)
                }
            }
        }
    };
    let mut value = me.apply(Op::Exp, &[exponent], span)?;
    if let Some(polynomial) = polynomial {
        value = me.mul(&polynomial, &value, span)?;
    }
    Ok(me.mul(&variance, &value, span)?.into())
}

/// sigma^2 + x . y
fn dot_product(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let (first, second, is_cross) = points(me, a, 1)?;
    let sigma = a.tensor(me, 1 + usize::from(is_cross));
    me.room(&[first.count, second.count], a.span)?;
    let (rows, width) = (first.count, first.width);
    let left = Tensor { dims: vec![rows, width], ..first.x.with_type(StanType::MATRIX) };
    let right = Tensor { dims: vec![second.count, width], ..second.x.with_type(StanType::MATRIX) };
    let turned = me.transpose(&right);
    let products = me.product(&left, &turned, a.span)?;
    let variance = me.mul(&sigma, &sigma, a.span)?;
    Ok(me.add(&variance, &products, a.span)?.into())
}

impl Interpreter<'_> {
    /// Squares of the distances, each coordinate over its scale.
    fn squared_distances(&mut self, x: &Points, y: &Points, scales: Option<&Tensor>, a: &Arguments) -> Run<Tensor> {
        let (rows, columns) = (x.count, y.count);
        let mut sum = Tensor::data(StanType::MATRIX, vec![rows, columns], vec![0.0; rows * columns]);
        if rows * columns == 0 {
            return Ok(sum);
        }
        for d in 0..x.width {
            let left = (0..rows * columns).map(|k| (k / columns * x.width + d) as u32).collect();
            let right = (0..rows * columns).map(|k| (k % columns * x.width + d) as u32).collect();
            let (left, right) = (self.pick(&x.x.elements, left), self.pick(&y.x.elements, right));
            let as_matrix = |elements| Tensor::new(StanType::MATRIX, vec![rows, columns], false, elements);
            let difference = self.sub(&as_matrix(left), &as_matrix(right), a.span)?;
            let mut square = self.mul(&difference, &difference, a.span)?;
            if let Some(scales) = scales {
                let elements = self.pick(&scales.elements, vec![d as u32]);
                let scale = Tensor::new(StanType::REAL, Vec::new(), false, elements);
                let scale = self.mul(&scale, &scale, a.span)?;
                square = self.div(&square, &scale, a.span)?;
            }
            sum = self.add(&sum, &square, a.span)?;
        }
        Ok(sum)
    }

    /// Distances over their scale. `square` has their squares; where they are 0 for sure, no root is taken.
    fn scaled_distances(
        &mut self,
        x: &Points,
        y: &Points,
        scale: &Tensor,
        square: Tensor,
        a: &Arguments,
    ) -> Run<Tensor> {
        let plain = self.squared_distances(x, y, None, a)?;
        if scale.is_scalar() {
            let distance = self.apply(Op::Sqrt, &[plain], a.span)?;
            return self.div(&distance, scale, a.span);
        }
        let Some(known) = plain.known() else { return wrong(a.span, "points must be data here") };
        let apart = known.iter().map(|&x| if x > 0.0 { 1.0 } else { 0.0 }).collect();
        let apart = Tensor::data(StanType::MATRIX, plain.dims.clone(), apart);
        let safe = self.apply(Op::Select, &[apart.clone(), square, Tensor::number(1.0)], a.span)?;
        let root = self.apply(Op::Sqrt, &[safe], a.span)?;
        self.apply(Op::Select, &[apart, root, Tensor::number(0.0)], a.span)
    }
}
