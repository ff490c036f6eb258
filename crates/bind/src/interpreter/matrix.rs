//! Products of vectors and matrices, powers, and what is made of them.

use super::{Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Tensor};
use octopus_program::{Matrix, Op};
use octopus_stan::{BaseType, Span, StanType};

/// Powers up to this one are products.
const MOST_FACTORS: f64 = 16.0;

impl Interpreter<'_> {
    /// `a * b` of vectors and matrices.
    pub(crate) fn product(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        let shape = |t: &Tensor| match (t.ty.base, &t.dims[..]) {
            (BaseType::Vector, &[n]) => (n, 1),
            (BaseType::RowVector, &[n]) => (1, n),
            (_, &[rows, columns]) => (rows, columns),
            (_, _) => (1, 1),
        };
        let ((rows, inner), (other, columns)) = (shape(a), shape(b));
        if inner != other {
            return wrong(
                span,
                format!("{rows} x {inner} times {other} x {columns} is no product: {inner} and {other} must be equal"),
            );
        }
        let (ty, dims) = match (a.ty.base, b.ty.base) {
            (BaseType::RowVector, BaseType::Vector) => (StanType::REAL, vec![]),
            (BaseType::RowVector, _) => (StanType::ROW_VECTOR, vec![columns]),
            (_, BaseType::Vector) => (StanType::VECTOR, vec![rows]),
            _ => (StanType::MATRIX, vec![rows, columns]),
        };
        self.room(&[rows, columns], span)?;
        if !a.laned && !b.laned {
            self.work(rows.saturating_mul(columns).saturating_mul(inner), span)?;
            let (x, y) = (self.node(a), self.node(b));
            if inner == 0 || rows * columns == 0 {
                let zeros = vec![0.0; rows * columns];
                return Ok(Tensor::data(ty, dims, zeros));
            }
            let (x, y) = (self.graph.broadcast(x, rows * inner), self.graph.broadcast(y, inner * columns));
            let node = self.graph.product(Matrix::new(x, rows, inner), Matrix::new(y, inner, columns));
            return Ok(self.made(node, ty, dims));
        }
        let lanes = self.lane_count();
        // A row of each lane times one matrix is one product.
        if a.laned && !b.laned && rows == 1 && inner > 0 && columns > 0 && inner > 8 {
            let (x, y) = (self.node(a), self.node(b));
            let node = self.graph.product(Matrix::new(x, lanes, inner), Matrix::new(y, inner, columns));
            return Ok(Tensor::new(ty, dims, true, Elements::Whole(node)));
        }
        if rows != 1 || columns != 1 {
            return Err(Stop::Lanes);
        }
        self.dot(a, b, span)
    }

    /// The sum of products of two vectors, in each lane.
    pub(crate) fn dot(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        let vector = |t: &Tensor| t.clone().with_type(StanType::VECTOR);
        let (a, b) = (vector(a), vector(b));
        if a.count() != b.count() {
            return wrong(span, format!("vectors of {} and {} elements", a.count(), b.count()));
        }
        if (a.laned || b.laned) && a.count() <= 8 {
            let (a, b) = (self.last_columns(&a), self.last_columns(&b));
            let mut sum = Tensor::number(0.0);
            for (x, y) in a.iter().zip(&b) {
                let term = self.mul(x, y, span)?;
                sum = self.add(&sum, &term, span)?;
            }
            return Ok(sum);
        }
        let products = self.mul(&a, &b, span)?;
        Ok(self.sum_of(&products))
    }

    /// A node of these sizes, the same in all lanes.
    pub(crate) fn made(&mut self, node: octopus_program::NodeId, ty: StanType, dims: Vec<usize>) -> Tensor {
        let elements = match self.known_elements(node, dims.iter().product()) {
            Some(values) if !self.graph.depends_on_parameters(node) => Elements::Data(values.into()),
            _ => Elements::Whole(node),
        };
        Tensor::new(ty, dims, false, elements)
    }

    /// `a ^ b`, element by element.
    pub(crate) fn power(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        if let (Some(x), Some(y)) = (a.known(), b.known())
            && !a.laned
            && !b.laned
        {
            let shared = self.shared(&[a.clone(), b.clone()], span)?;
            let count = shared.count();
            let at = |values: &[f64], k: usize| values[if values.len() == 1 { 0 } else { k }];
            let values = (0..count).map(|k| octopus_random::exact::pow(at(x, k), at(y, k))).collect();
            return Ok(Tensor::data(shared.ty, shared.dims, values));
        }
        let exponent = match b.known() {
            Some(values) if !values.is_empty() && values.iter().all(|x| *x == values[0]) => Some(values[0]),
            _ => None,
        };
        let Some(exponent) = exponent else { return self.apply(Op::Pow, &[a.clone(), b.clone()], span) };
        let factors = exponent.abs();
        if factors == 0.5 {
            let root = self.apply(Op::Sqrt, std::slice::from_ref(a), span)?;
            return if exponent > 0.0 { Ok(root) } else { self.div(&Tensor::number(1.0), &root, span) };
        }
        if factors.fract() != 0.0 || factors > MOST_FACTORS {
            return self.apply(Op::Pow, &[a.clone(), b.clone()], span);
        }
        let mut rest = factors as u32;
        let (mut square, mut product) = (a.clone(), None);
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(match product {
                    None => square.clone(),
                    Some(product) => self.mul(&product, &square, span)?,
                });
            }
            rest /= 2;
            if rest > 0 {
                square = self.mul(&square, &square, span)?;
            }
        }
        match product {
            None => {
                let zero = self.mul(a, &Tensor::number(0.0), span)?;
                self.add(&zero, &Tensor::number(1.0), span)
            }
            Some(product) if exponent < 0.0 => self.div(&Tensor::number(1.0), &product, span),
            Some(product) => Ok(product),
        }
    }
}
