//! Reverse mode: the derivatives of a program are nodes of the same program.
//!
//! A scalar that serves many rows gets the sum of what they give; a gather gives sums by segment; an operation gives by
//! the slopes of its row in the table; a scan gives by a backward scan. What the slices of one vector give is put together
//! once, or each of a thousand elements that are taken one by one would give a thousand zeros.

use crate::error::ProgramError;
use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;
use std::collections::HashMap;

/// The adjoint of some rows of a vector.
struct SliceAdjoint {
    start: usize,
    rows: usize,
    adjoint: NodeId,
}

impl Graph {
    /// Returns the derivative of the scalar `target` by each node of `by`, of the node's length or a scalar for all its
    /// elements; none where it is 0.
    pub fn gradient(&mut self, target: NodeId, by: &[NodeId]) -> Vec<Option<NodeId>> {
        let one = self.constant(1.0);
        self.adjoints(&[(target, one)], by)
    }

    /// The same, of several results with their adjoints.
    pub(crate) fn adjoints(&mut self, seeds: &[(NodeId, NodeId)], by: &[NodeId]) -> Vec<Option<NodeId>> {
        let count = self.nodes.len();
        let depends = self.depending_on(by);
        let mut adjoints: Vec<Option<NodeId>> = vec![None; count];
        let mut of_slices: HashMap<NodeId, Vec<SliceAdjoint>> = HashMap::new();
        let mut of_outputs: HashMap<NodeId, Vec<(NodeId, NodeId)>> = HashMap::new();
        for &(node, adjoint) in seeds {
            self.accumulate(&mut adjoints, node, adjoint);
        }
        for id in (0..count).rev().filter(|&id| depends[id]) {
            let out = NodeId(id as u32);
            let node = self.nodes[id].clone();
            if let Node::Scan(_) = node {
                if let Some(of_values) = of_outputs.remove(&out) {
                    for (arg, adjoint) in self.backward_scan(out, &of_values) {
                        if depends[arg.at()] {
                            self.give(&mut adjoints, arg, adjoint, self.len(adjoint));
                        }
                    }
                }
                continue;
            }
            if let Some(slices) = of_slices.remove(&out) {
                self.give_slices(&mut adjoints, out, slices);
            }
            let Some(g) = adjoints[id] else { continue };
            let rows = self.len(out);
            match node {
                Node::Constant(_) | Node::Column(_) | Node::Parameter(_) | Node::Scan(_) | Node::Unknown(_) => {}
                // A square: both sides give the same.
                Node::Map(Op::Mul, [a, b, _]) if a == b => {
                    let two = self.constant(2.0);
                    let twice = self.mul(two, g);
                    let slope = self.mul(twice, a);
                    self.give(&mut adjoints, a, slope, rows);
                }
                Node::Map(op, args) => {
                    for side in (0..op.arity()).filter(|&side| depends[args[side].at()]) {
                        if let Some(slope) = op.slope(self, args, out, g, side) {
                            self.give(&mut adjoints, args[side], slope, rows);
                        }
                    }
                }
                Node::Gather(source, index) => {
                    let slope = self.segment_sum_by(g, index);
                    self.give(&mut adjoints, source, slope, 1);
                }
                Node::Sum(x) => self.give(&mut adjoints, x, g, 1),
                Node::SegmentSum(x, index) => {
                    let slope = if self.len(g) == 1 { g } else { self.gather_by(g, index) };
                    self.give(&mut adjoints, x, slope, 1);
                }
                Node::Slice(source, start, _) => {
                    let adjoint = self.broadcast(g, rows);
                    of_slices.entry(source).or_default().push(SliceAdjoint { start: start as usize, rows, adjoint });
                }
                Node::Concat(pieces) => {
                    let mut start = 0;
                    for &piece in &pieces {
                        let length = self.len(piece);
                        if depends[piece.at()] {
                            let slope = if self.len(g) == 1 { g } else { self.slice(g, start, length) };
                            self.give(&mut adjoints, piece, slope, 1);
                        }
                        start += length;
                    }
                }
                Node::Matrix(op, args) => {
                    let g = self.broadcast(g, rows);
                    for side in (0..op.arity()).filter(|&side| depends[args[side].at()]) {
                        let slope = self.matrix_slope(op, args, out, g, side);
                        self.give(&mut adjoints, args[side], slope, 1);
                    }
                }
                Node::Solve(..) => {
                    for (arg, slope) in self.solution_adjoints(out, g) {
                        if depends[arg.at()] {
                            self.give(&mut adjoints, arg, slope, self.len(slope));
                        }
                    }
                }
                Node::Sensitivities(_) => {
                    self.refuse(ProgramError::NoSlope { operation: "the slopes of a solver" });
                }
                Node::Output(scan, inner) => of_outputs.entry(scan).or_default().push((inner, g)),
            }
        }
        by.iter().map(|node| adjoints[node.at()]).collect()
    }

    /// Adds to the adjoint of `to` what one of its readers, a node of `rows` rows, gives.
    fn give(&mut self, adjoints: &mut [Option<NodeId>], to: NodeId, slope: NodeId, rows: usize) {
        let slope = if self.len(to) == 1 && rows != 1 { self.sum_of_rows(slope, rows) } else { slope };
        self.accumulate(adjoints, to, slope);
    }

    /// Adds to the adjoint of `whole` what its slices give: slices that do not overlap are one vector, with zeros between.
    fn give_slices(&mut self, adjoints: &mut [Option<NodeId>], whole: NodeId, mut slices: Vec<SliceAdjoint>) {
        let all = self.len(whole);
        slices.sort_by_key(|slice| (slice.start, slice.rows));
        let mut layers: Vec<(usize, Vec<NodeId>)> = Vec::new();
        for SliceAdjoint { start, rows, adjoint } in slices {
            let free = match layers.iter().position(|(end, _)| *end <= start) {
                Some(free) => free,
                None => {
                    layers.push((0, Vec::new()));
                    layers.len() - 1
                }
            };
            let (end, pieces) = &mut layers[free];
            if start > *end {
                pieces.push(self.column(vec![0.0; start - *end]));
            }
            pieces.push(adjoint);
            *end = start + rows;
        }
        for (end, mut pieces) in layers {
            if end < all {
                pieces.push(self.column(vec![0.0; all - end]));
            }
            let slope = self.concat(&pieces);
            self.give(adjoints, whole, slope, 1);
        }
    }

    fn accumulate(&mut self, adjoints: &mut [Option<NodeId>], to: NodeId, slope: NodeId) {
        adjoints[to.at()] = Some(match adjoints[to.at()] {
            Some(before) => self.add(before, slope),
            None => slope,
        });
    }

    /// Whether each node depends on one of `by`.
    fn depending_on(&self, by: &[NodeId]) -> Vec<bool> {
        let mut depends = vec![false; self.nodes.len()];
        for node in by {
            depends[node.at()] = true;
        }
        for id in 0..self.nodes.len() {
            let mut any = depends[id];
            self.for_each_operand(&self.nodes[id], |arg| any |= depends[arg.at()]);
            depends[id] = any;
        }
        depends
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;
    use crate::plain::evaluate;

    /// Slices that overlap and leave gaps, and what many of them take.
    #[test]
    fn slices_of_one_vector_give_once() {
        const LENGTH: usize = 2000;
        let mut graph = Graph::new();
        let x = graph.parameter(LENGTH);
        let mut terms = Vec::new();
        for k in (0..LENGTH).filter(|k| k % 7 != 3) {
            let element = graph.element(x, k);
            let factor = graph.constant(k as f64);
            terms.push(graph.mul(factor, element));
        }
        let run = graph.slice(x, 5, 9);
        terms.push(graph.sum(run));
        let terms = graph.concat(&terms);
        let target = graph.sum(terms);
        let before = graph.element_count();
        let gradient = graph.gradient(target, &[x])[0].expect("it depends on x");
        assert!(graph.element_count() < before + 20 * LENGTH, "{}", graph.element_count());
        let slopes = &evaluate(&graph, &[gradient], &[0.0; LENGTH])[0];
        for (k, slope) in slopes.iter().enumerate() {
            let own = if k % 7 == 3 { 0.0 } else { k as f64 };
            assert_eq!(*slope, own + f64::from(u8::from((5..14).contains(&k))), "{k}");
        }
    }
}
