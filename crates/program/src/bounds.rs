//! Parameters with bounds, or with an offset and a multiplier, made of unconstrained coordinates.

use crate::graph::{Graph, NodeId};
use crate::operation::Op;

impl Graph {
    /// Returns numbers between bounds, made of unconstrained ones, and the logarithm of the Jacobian of each; a bound may
    /// be a number for all, or one for each.
    pub fn bounded(&mut self, free: NodeId, lower: Option<NodeId>, upper: Option<NodeId>) -> (NodeId, Option<NodeId>) {
        match (lower, upper) {
            (None, None) => (free, None),
            (Some(lower), None) => {
                let size = self.exp(free);
                (self.add(lower, size), Some(free))
            }
            (None, Some(upper)) => {
                let size = self.exp(free);
                (self.sub(upper, size), Some(free))
            }
            (Some(lower), Some(upper)) => {
                let width = self.sub(upper, lower);
                // ln(width s (1 - s)), from both sides so that nothing is lost far out.
                let (minus, log_width) = (self.neg(free), self.ln(width));
                let (left, right) = (self.apply(Op::Softplus, &[free]), self.apply(Op::Softplus, &[minus]));
                let both = self.add(left, right);
                let jacobian = self.sub(log_width, both);
                let share = self.apply(Op::Sigmoid, &[free]);
                let part = self.mul(width, share);
                (self.add(lower, part), Some(jacobian))
            }
        }
    }

    /// Returns offset + multiplier x, and the logarithm of the Jacobian of each element.
    pub fn offset_and_multiplied(&mut self, free: NodeId, offset: NodeId, multiplier: NodeId) -> (NodeId, NodeId) {
        let scaled = self.mul(multiplier, free);
        (self.add(offset, scaled), self.ln(multiplier))
    }
}
