//! Arguments of distributions: what they may be, and what holds them to it.

use super::Distribution;
use crate::error::ProgramError;
use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;

/// The numbers that an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    /// Any number.
    Real,
    /// A number above 0.
    Positive,
    /// 0 or a number above.
    NotNegative,
    /// A number between 0 and 1.
    Unit,
    /// 0 or 1.
    Binary,
    /// A whole number, 0 or above.
    Count,
    /// A whole number.
    Whole,
}

impl Must {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Real => "a number",
            Self::Positive => "above 0",
            Self::NotNegative => "0 or above",
            Self::Unit => "between 0 and 1",
            Self::Binary => "0 or 1",
            Self::Count => "a whole number, 0 or above",
            Self::Whole => "a whole number",
        }
    }

    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Binary | Self::Count | Self::Whole)
    }

    /// Returns whether the argument may be `x`.
    pub fn holds(self, x: f64) -> bool {
        match self {
            Self::Real => !x.is_nan(),
            Self::Positive => x > 0.0,
            Self::NotNegative => x >= 0.0,
            Self::Unit => (0.0..=1.0).contains(&x),
            Self::Binary => x == 0.0 || x == 1.0,
            Self::Count => x >= 0.0 && x.fract() == 0.0,
            Self::Whole => x.fract() == 0.0,
        }
    }

    /// A node that is 0 where the condition fails; none where there is no condition, or it always holds.
    pub(super) fn condition(self, graph: &mut Graph, x: NodeId) -> Option<NodeId> {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        match self {
            Self::Real | Self::Binary | Self::Count | Self::Whole => None,
            _ if graph.surely_holds(self, x, DEEPEST) => None,
            Self::Positive => Some(graph.apply(Op::Less, &[zero, x])),
            Self::NotNegative => {
                let below = graph.apply(Op::Less, &[x, zero]);
                Some(graph.apply(Op::Select, &[below, zero, one]))
            }
            Self::Unit => {
                let (below, above) = (graph.apply(Op::Less, &[x, zero]), graph.apply(Op::Less, &[one, x]));
                let outside = graph.add(below, above);
                Some(graph.apply(Op::Select, &[outside, zero, one]))
            }
        }
    }
}

/// How far a proof goes back in the graph.
pub(super) const DEEPEST: u32 = 12;

/// An argument of a distribution.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name in messages.
    pub name: &'static str,
    /// The numbers that it may be.
    pub must: Must,
    /// Whether it may depend on no parameter.
    pub is_data: bool,
}

impl Graph {
    /// Refuses data outside of their domain, and guards what depends on parameters.
    pub(super) fn check_arguments(&mut self, distribution: &Distribution, args: &[NodeId]) -> Result<(), ProgramError> {
        let arguments = distribution.arguments;
        if args.len() != arguments.len() {
            let operation = distribution.name;
            return Err(ProgramError::Arity { operation, expected: arguments.len(), found: args.len() });
        }
        for (&node, argument) in args.iter().zip(arguments) {
            self.check_argument(distribution.name, argument, node)?;
        }
        Ok(())
    }

    pub(super) fn check_argument(
        &mut self,
        distribution: &'static str,
        argument: &Argument,
        node: NodeId,
    ) -> Result<(), ProgramError> {
        let (must, argument_name) = (argument.must, argument.name);
        if let Some(values) = self.known(node) {
            let wrong = values.iter().position(|&x| !must.holds(x));
            return wrong.map_or(Ok(()), |row| {
                let (value, must) = (values[row], must.words());
                Err(ProgramError::Data { distribution, argument: argument_name, value, row, must })
            });
        }
        if argument.is_data {
            return Err(ProgramError::NeedsData { distribution, argument: argument_name });
        }
        if let Some(condition) = must.condition(self, node) {
            self.guard(condition, &format!("{distribution}: {argument_name} must be {}", must.words()));
        }
        Ok(())
    }

    /// Whether a condition holds at all points, as far as a look at the nearest operations tells: then no guard is needed.
    ///
    /// A power of e counts as positive, though it may underflow to 0: its logarithm, which densities have, is no number
    /// that a sampler accepts.
    pub(super) fn surely_holds(&self, must: Must, x: NodeId, depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        if let Some(values) = self.known(x) {
            return values.iter().all(|&x| must.holds(x));
        }
        let is = |must: Must, x: NodeId| self.surely_holds(must, x, depth - 1);
        let signs = [Must::Positive, Must::NotNegative].contains(&must);
        match &self.nodes[x.at()] {
            Node::Gather(source, _) | Node::Slice(source, ..) => is(must, *source),
            Node::Concat(pieces) => pieces.iter().all(|&piece| is(must, piece)),
            Node::Sum(source) if signs => is(must, *source),
            Node::Map(op, [a, b, c]) => match op {
                Op::Exp | Op::Softplus => signs,
                Op::Sigmoid | Op::Phi => true,
                Op::Abs => must == Must::NotNegative,
                Op::Sqrt => signs && is(must, *a),
                Op::Mul if a == b && must == Must::NotNegative => true,
                Op::Mul => is(must, *a) && is(must, *b),
                Op::Div if signs => is(must, *a) && is(Must::Positive, *b),
                Op::Add if must == Must::Positive => {
                    is(must, *a) && is(Must::NotNegative, *b) || is(Must::NotNegative, *a) && is(must, *b)
                }
                Op::Add if signs => is(must, *a) && is(must, *b),
                Op::Sub if must == Must::Unit => self.known(*a).is_some_and(|a| a == [1.0]) && is(must, *b),
                Op::Add if must == Must::Unit => {
                    self.is_mean(*a, *b) && [*a, *b].iter().all(|&x| is(must, self.weighted(x).1))
                }
                Op::Pow if signs => is(Must::Positive, *a),
                Op::Pow => self.surely_holds(Must::NotNegative, *b, 1) && is(must, *a),
                Op::Select => is(must, *b) && is(must, *c),
                Op::Max | Op::Min => is(must, *a) && is(must, *b),
                _ => false,
            },
            _ => false,
        }
    }

    /// A term's known weights, with what they weigh.
    fn weighted(&self, x: NodeId) -> (Vec<f64>, NodeId) {
        match &self.nodes[x.at()] {
            Node::Map(Op::Mul, [a, b, _]) => match (self.known(*a), self.known(*b)) {
                (Some(weights), _) => (weights, *b),
                (_, Some(weights)) => (weights, *a),
                _ => (vec![1.0], x),
            },
            _ => (vec![1.0], x),
        }
    }

    /// Whether two terms make a weighted mean: known weights, 0 or above, whose sum is 1.
    fn is_mean(&self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.weighted(a).0, self.weighted(b).0);
        let at = |weights: &[f64], i: usize| weights[if weights.len() == 1 { 0 } else { i }];
        let fits = a.len() == b.len() || a.len() == 1 || b.len() == 1;
        let all = a.iter().chain(&b).all(|&x| x >= 0.0);
        fits && all && (0..a.len().max(b.len())).all(|i| at(&a, i) + at(&b, i) == 1.0)
    }
}
