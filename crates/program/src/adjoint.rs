//! Reverse mode: the derivatives of a program are nodes of the same program.
//!
//! A scalar that serves many rows gets the sum of what they give; a gather gives sums by segment; an operation gives by
//! the slopes of its row in the table; a scan gives by a backward scan.

use crate::graph::{Graph, Node, NodeId};
use std::collections::HashMap;

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
            let Some(g) = adjoints[id] else { continue };
            let rows = self.len(out);
            match node {
                Node::Constant(_) | Node::Column(_) | Node::Parameter(_) | Node::Scan(_) | Node::Unknown(_) => {}
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
                    let (before, all) = (start as usize, self.len(source));
                    let own = self.broadcast(g, rows);
                    let left = self.column(vec![0.0; before]);
                    let right = self.column(vec![0.0; all - before - rows]);
                    let slope = self.concat(&[left, own, right]);
                    self.give(&mut adjoints, source, slope, 1);
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
