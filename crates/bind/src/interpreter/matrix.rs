//! Products of vectors and matrices, powers, and what is made of them.

use super::{Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Tensor};
use octopus_program::{Matrix, Op};
use octopus_stan::{BaseType, Span, StanType};

/// Powers up to this one are products.
const MOST_FACTORS: f64 = 16.0;
/// Products of elements of the largest product of matrices that is done in lanes, unless it is one product for all.
const MOST_TERMS: usize = 1024;

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
            self.multiplications(&[rows, columns, inner], 1, span)?;
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
        if rows == 1 && columns == 1 {
            return self.dot(a, b, span);
        }
        let product = self.product_in_lanes(a, b, [rows, inner, columns], span)?;
        Ok(Tensor { ty, dims, ..product })
    }

    /// The product of small matrices in each lane: all products of elements, and the sums of them.
    fn product_in_lanes(
        &mut self,
        a: &Tensor,
        b: &Tensor,
        [rows, inner, columns]: [usize; 3],
        span: Span,
    ) -> Run<Tensor> {
        let (lanes, count) = (self.lane_count(), rows.saturating_mul(columns));
        let terms = count.saturating_mul(inner);
        if terms == 0 || terms > MOST_TERMS {
            return Err(Stop::Lanes);
        }
        self.room(&[lanes, terms], span)?;
        let mut side = |x: &Tensor, place: &dyn Fn(usize, usize, usize) -> usize| {
            let (lanes, size) = (if x.laned { lanes } else { 1 }, x.count());
            let of_lane = |lane: usize| {
                let all = (0..terms).map(|t| place(t / inner / columns, t / inner % columns, t % inner));
                all.map(move |at| (lane * size + at) as u32).collect::<Vec<u32>>()
            };
            let elements = self.pick(&x.elements, (0..lanes).flat_map(of_lane).collect());
            Tensor::new(StanType::VECTOR, vec![terms], x.laned, elements)
        };
        let left = side(a, &|i, _, k| i * inner + k);
        let right = side(b, &|_, j, k| k * columns + j);
        let products = self.mul(&left, &right, span)?;
        let sums = self.sums_of(&products, count);
        Ok(Tensor { dims: vec![count], ..sums })
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
