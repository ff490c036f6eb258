//! Formulas of nodes and numbers, written with operators: `intercept + level.gather(clinic) + slope * age`.

use crate::graph::{Graph, NodeId};
use crate::operation::Op;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// What statements of a [`ProgramBuilder`](crate::ProgramBuilder) take: a node, a number in its place, or a formula of both.
///
/// A formula becomes nodes where it is used, and equal ones are made once. [`ProgramBuilder::node`] makes it a node, which
/// is copied and not moved.
///
/// [`ProgramBuilder::node`]: crate::ProgramBuilder::node
#[derive(Clone, Debug)]
pub enum Value {
    /// A node.
    Node(NodeId),
    /// A number.
    Number(f64),
    /// An operation on each row.
    Operation(Op, Vec<Value>),
    /// Elements of a vector by an index of each row, counted from 0.
    Elements(Box<Value>, Arc<[u32]>),
}

impl Value {
    /// Adds what is not in the graph yet.
    pub(crate) fn node(&self, graph: &mut Graph) -> NodeId {
        match self {
            Self::Node(node) => *node,
            Self::Number(x) => graph.constant(*x),
            Self::Operation(op, args) => {
                let args: Vec<NodeId> = args.iter().map(|arg| arg.node(graph)).collect();
                graph.apply(*op, &args)
            }
            Self::Elements(source, index) => {
                let source = source.node(graph);
                graph.gather(source, index.clone())
            }
        }
    }
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Self {
        Self::Node(node)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

/// Functions of a node and of a formula.
macro_rules! functions {
    ($($name:ident $op:ident $about:literal)+) => {
        impl Value {
            $(
                #[doc = $about]
                #[must_use]
                pub fn $name(self) -> Self {
                    Self::Operation(Op::$op, vec![self])
                }
            )+

            /// The elements at these places, counted from 0: one for each row.
            #[must_use]
            pub fn gather(self, index: impl Into<Arc<[u32]>>) -> Self {
                Self::Elements(Box::new(self), index.into())
            }
        }

        impl NodeId {
            $(
                #[doc = $about]
                #[must_use]
                pub fn $name(self) -> Value {
                    Value::from(self).$name()
                }
            )+

            /// The elements at these places, counted from 0: one for each row.
            #[must_use]
            pub fn gather(self, index: impl Into<Arc<[u32]>>) -> Value {
                Value::from(self).gather(index)
            }
        }
    };
}

functions! {
    exp Exp "The exponential of each row."
    ln Ln "The natural logarithm of each row."
    sqrt Sqrt "The square root of each row."
    abs Abs "The size of each row."
    inv_logit Sigmoid "1 / (1 + exp(-x)) of each row x."
}

/// An operator between nodes, formulas and numbers.
macro_rules! operators {
    ($($operator:ident $method:ident $op:ident)+) => {
        $(
            impl<T: Into<Value>> $operator<T> for NodeId {
                type Output = Value;
                fn $method(self, other: T) -> Value {
                    Value::Operation(Op::$op, vec![self.into(), other.into()])
                }
            }

            impl<T: Into<Value>> $operator<T> for Value {
                type Output = Value;
                fn $method(self, other: T) -> Value {
                    Value::Operation(Op::$op, vec![self, other.into()])
                }
            }

            impl $operator<NodeId> for f64 {
                type Output = Value;
                fn $method(self, other: NodeId) -> Value {
                    Value::Operation(Op::$op, vec![self.into(), other.into()])
                }
            }

            impl $operator<Value> for f64 {
                type Output = Value;
                fn $method(self, other: Value) -> Value {
                    Value::Operation(Op::$op, vec![self.into(), other])
                }
            }
        )+
    };
}

operators! {
    Add add Add
    Sub sub Sub
    Mul mul Mul
    Div div Div
}

impl Neg for NodeId {
    type Output = Value;
    fn neg(self) -> Value {
        -Value::from(self)
    }
}

impl Neg for Value {
    type Output = Self;
    fn neg(self) -> Self {
        Self::Operation(Op::Neg, vec![self])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;

    #[test]
    fn a_formula_is_what_it_says() {
        let mut m = Graph::new();
        let (a, b) = (m.parameter(1), m.parameter(3));
        let formula =
            2.0 - (-a).exp() * b.gather([2, 0, 2, 1]) / (1.0 + a.abs()) + (3.0 * b).sqrt().ln().gather([0; 4]);
        let node = formula.node(&mut m);
        let count = m.node_count();
        assert_eq!(formula.node(&mut m), node, "equal formulas are one node");
        assert_eq!(m.node_count(), count);
        let (x, y) = (0.5_f64, [1.5, 2.0, 4.0]);
        let found = evaluate(&m, &[node], &[x, y[0], y[1], y[2]]).concat();
        for (found, at) in found.iter().zip([2, 0, 2, 1]) {
            let expected = 2.0 - (-x).exp() * y[at] / (1.0 + x.abs()) + (3.0 * y[0]).sqrt().ln();
            assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        }
        let half = (a - a).inv_logit().node(&mut m);
        assert_eq!(evaluate(&m, &[half], &[x, y[0], y[1], y[2]])[0], [0.5]);
    }
}
