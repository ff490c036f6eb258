//! Nodes that are added, multiplied and so on by operators, so that formulas read as on paper.

use super::argument::{DEEPEST, Must};
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;
use crate::operation::Op;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A node of a graph under construction.
#[derive(Clone, Copy)]
pub(crate) struct Symbol<'a> {
    graph: &'a RefCell<Graph>,
    node: NodeId,
}

impl<'a> Symbol<'a> {
    pub(super) fn node(self) -> NodeId {
        self.node
    }

    fn made(self, make: impl FnOnce(&mut Graph) -> NodeId) -> Self {
        let node = make(&mut self.graph.borrow_mut());
        Self { node, ..self }
    }

    fn apply(self, op: Op, rest: &[Self]) -> Self {
        let args: Vec<NodeId> = std::iter::once(&self).chain(rest).map(|symbol| symbol.node).collect();
        self.made(|graph| graph.apply(op, &args))
    }

    /// A number in the same graph.
    pub(super) fn number(self, x: f64) -> Self {
        self.made(|graph| graph.constant(x))
    }

    /// The values, where they depend on no parameter.
    pub(super) fn known(self) -> Option<Vec<f64>> {
        self.graph.borrow().known(self.node)
    }

    pub(super) fn len(self) -> usize {
        self.graph.borrow().len(self.node)
    }

    pub(super) fn ln(self) -> Self {
        self.apply(Op::Ln, &[])
    }

    pub(super) fn exp(self) -> Self {
        self.apply(Op::Exp, &[])
    }

    pub(super) fn abs(self) -> Self {
        self.apply(Op::Abs, &[])
    }

    pub(super) fn sin(self) -> Self {
        self.apply(Op::Sin, &[])
    }

    pub(super) fn atan(self) -> Self {
        self.apply(Op::Atan, &[])
    }

    pub(super) fn square(self) -> Self {
        self * self
    }

    /// ln(1 + x)
    pub(super) fn ln_1p(self) -> Self {
        self.apply(Op::Ln1p, &[])
    }

    /// ln(1 - x)
    pub(super) fn ln_1m(self) -> Self {
        self.apply(Op::Ln1m, &[])
    }

    /// ln(1 - e^x) for x below 0.
    pub(super) fn ln_1m_exp(self) -> Self {
        self.apply(Op::Ln1mExp, &[])
    }

    /// ln(1 + e^x)
    pub(super) fn softplus(self) -> Self {
        self.apply(Op::Softplus, &[])
    }

    /// ln |Gamma(x)|
    pub(super) fn ln_gamma(self) -> Self {
        self.apply(Op::LnGamma, &[])
    }

    /// ln I0(x) - x of the modified Bessel function.
    pub(super) fn ln_bessel(self) -> Self {
        self.apply(Op::LnBessel0, &[])
    }

    /// The logarithm of the standard normal distribution function.
    pub(super) fn ln_phi(self) -> Self {
        self.apply(Op::LnPhi, &[])
    }

    pub(super) fn log_sum_exp(self, other: Self) -> Self {
        self.apply(Op::LogSumExp, &[other])
    }

    /// ln(e^self - e^other)
    pub(super) fn log_diff_exp(self, other: Self) -> Self {
        self + (other - self).ln_1m_exp()
    }

    pub(super) fn max(self, other: Self) -> Self {
        self.apply(Op::Max, &[other])
    }

    pub(super) fn min(self, other: Self) -> Self {
        self.apply(Op::Min, &[other])
    }

    /// 1 where self < other, else 0.
    pub(super) fn below(self, other: Self) -> Self {
        self.apply(Op::Less, &[other])
    }

    /// `yes` where this is not 0, else `no`.
    pub(super) fn select(self, yes: Self, no: Self) -> Self {
        self.apply(Op::Select, &[yes, no])
    }

    /// self ln x, which is 0 where self is a known 0.
    pub(super) fn times_ln(self, x: Self) -> Self {
        self.times_log(x.ln())
    }

    /// self times a logarithm, 0 where self is a known 0.
    pub(super) fn times_log(self, log: Self) -> Self {
        match self.known() {
            Some(values) if values.iter().all(|&x| x == 0.0) => self.number(0.0),
            Some(values) if values.contains(&0.0) => self.select(self * log, self.number(0.0)),
            _ => self * log,
        }
    }

    /// 0 where `low <= self <= high`, else minus infinity.
    pub(super) fn between(self, low: Self, high: Self) -> Self {
        let outside = self.below(low) + high.below(self);
        outside.select(self.number(f64::NEG_INFINITY), self.number(0.0))
    }

    /// This number with 0 where it is above `low`, and a number above it with minus infinity where it is not: terms of a
    /// density that is 0 there.
    pub(super) fn above(self, low: Self) -> (Self, Self) {
        let (zero, none) = (self.number(0.0), self.number(f64::NEG_INFINITY));
        let is_zero = low.known().is_some_and(|low| low == [0.0]);
        if is_zero && self.graph.borrow().surely_holds(Must::Positive, self.node, DEEPEST) {
            return (self, zero);
        }
        let inside = low.below(self);
        (inside.select(self, low + 1.0), inside.select(zero, none))
    }

    /// Elements by their places.
    pub(super) fn gather(self, places: &std::sync::Arc<[u32]>) -> Self {
        self.made(|graph| graph.gather(self.node, places.clone()))
    }

    /// The sum of all elements.
    pub(super) fn sum(self) -> Self {
        self.made(|graph| graph.sum(self.node))
    }

    /// The sum over rows, all of which a number serves.
    pub(super) fn sum_of_rows(self, rows: usize) -> Self {
        self.made(|graph| graph.sum_of_rows(self.node, rows))
    }

    pub(super) fn broadcast(self, length: usize) -> Self {
        self.made(|graph| graph.broadcast(self.node, length))
    }

    /// Both vectors, one after the other.
    pub(super) fn followed_by(self, other: Self) -> Self {
        self.made(|graph| graph.concat(&[self.node, other.node]))
    }

    /// The Cholesky factor of a matrix of `n` rows.
    pub(super) fn cholesky(self, n: usize) -> Self {
        self.made(|graph| graph.cholesky(self.node, n))
    }

    /// X with L X = `right` of so many columns, L being this lower triangle.
    pub(super) fn solve(self, right: Self, n: usize, columns: usize) -> Self {
        self.made(|graph| graph.solve(self.node, right.node, n, columns, false))
    }

    /// L' R of this square matrix L and a matrix R.
    pub(super) fn transposed_product(self, right: Self, n: usize, columns: usize) -> Self {
        let (left, right) = (Matrix::new(self.node, n, n), Matrix::new(right.node, n, columns));
        self.made(|graph| graph.product(left.t(), right))
    }

    /// Demands that this condition is not 0.
    pub(super) fn demand(self, message: &str) {
        self.graph.borrow_mut().guard(self.node, message);
    }

    /// Data in the same graph.
    pub(super) fn column(self, values: Vec<f64>) -> Self {
        self.made(|graph| graph.column(values))
    }

    /// Sums of segments.
    pub(super) fn segment_sum(self, segment: &std::sync::Arc<[u32]>, segments: usize) -> Self {
        self.made(|graph| graph.segment_sum(self.node, segment.clone(), segments))
    }
}

impl Graph {
    /// Lets `write` make nodes by formulas of symbols.
    pub(super) fn formula<T>(&mut self, args: &[NodeId], write: impl for<'a> FnOnce(&[Symbol<'a>]) -> T) -> T {
        let graph = RefCell::new(std::mem::take(self));
        let symbols: Vec<Symbol<'_>> = args.iter().map(|&node| Symbol { graph: &graph, node }).collect();
        let made = write(&symbols);
        *self = graph.into_inner();
        made
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident $op:ident)+) => { $(
        impl<'a> $operator for Symbol<'a> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.apply(Op::$op, &[other])
            }
        }
        impl<'a> $operator<f64> for Symbol<'a> {
            type Output = Self;
            fn $name(self, other: f64) -> Self {
                self.apply(Op::$op, &[self.number(other)])
            }
        }
        impl<'a> $operator<Symbol<'a>> for f64 {
            type Output = Symbol<'a>;
            fn $name(self, other: Symbol<'a>) -> Symbol<'a> {
                other.number(self).apply(Op::$op, &[other])
            }
        }
    )+ };
}

operators! { Add add Add Sub sub Sub Mul mul Mul Div div Div }

impl Neg for Symbol<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.apply(Op::Neg, &[])
    }
}
