//! Nodes in the place of others: what reads the old ones is made anew.

use crate::graph::{Graph, Node, NodeId};
use crate::scan::Scan;
use std::collections::HashMap;

/// Where a node of the old graph is on its way to the new one.
#[derive(Clone, Copy, PartialEq)]
enum NodeProgress {
    Unseen,
    /// What it reads is being made.
    Open,
    Made(NodeId),
}

impl Graph {
    /// Returns `roots` with the nodes of `instead` in the place of others, wherever roots, or the new nodes themselves, read
    /// them; none if a new node needs the one that it replaces.
    pub(crate) fn substituted(&mut self, instead: &HashMap<NodeId, NodeId>, roots: &[NodeId]) -> Option<Vec<NodeId>> {
        let mut progress = vec![NodeProgress::Unseen; self.nodes.len()];
        let mut waiting: Vec<NodeId> = roots.to_vec();
        while let Some(&id) = waiting.last() {
            match progress[id.at()] {
                NodeProgress::Made(_) => {
                    waiting.pop();
                }
                NodeProgress::Unseen => {
                    progress[id.at()] = NodeProgress::Open;
                    let mut asked = Vec::new();
                    match instead.get(&id) {
                        Some(&other) => asked.push(other),
                        None => self.for_each_operand(&self.nodes[id.at()], |operand| asked.push(operand)),
                    }
                    for operand in asked {
                        match progress[operand.at()] {
                            NodeProgress::Unseen => waiting.push(operand),
                            NodeProgress::Open => return None,
                            NodeProgress::Made(_) => {}
                        }
                    }
                }
                NodeProgress::Open => {
                    waiting.pop();
                    let made = |operand: NodeId| match progress[operand.at()] {
                        NodeProgress::Made(made) => made,
                        _ => operand,
                    };
                    let new = match instead.get(&id) {
                        Some(&other) => made(other),
                        None => self.with_operands(id, &made),
                    };
                    progress[id.at()] = NodeProgress::Made(new);
                }
            }
        }
        let made = |root: &NodeId| if let NodeProgress::Made(made) = progress[root.at()] { Some(made) } else { None };
        roots.iter().map(made).collect()
    }

    /// The node's operation on other operands, of the same lengths.
    fn with_operands(&mut self, id: NodeId, new: &dyn Fn(NodeId) -> NodeId) -> NodeId {
        let mut is_same = true;
        self.for_each_operand(&self.nodes[id.at()], |operand| is_same &= new(operand) == operand);
        if is_same {
            return id;
        }
        let length = self.len(id);
        match self.nodes[id.at()].clone() {
            Node::Constant(_) | Node::Column(_) | Node::Parameter(_) | Node::Unknown(_) => id,
            Node::Map(op, args) => {
                let args: Vec<NodeId> = args[..op.arity()].iter().map(|&arg| new(arg)).collect();
                let made = self.apply(op, &args);
                self.broadcast(made, length)
            }
            Node::Gather(x, index) => self.gather_by(new(x), index),
            Node::Sum(x) => {
                let rows = self.len(x);
                self.sum_of_rows(new(x), rows)
            }
            Node::SegmentSum(x, index) => self.segment_sum_by(new(x), index),
            Node::Slice(x, start, _) => self.slice(new(x), start as usize, length),
            Node::Concat(pieces) => {
                let pieces: Vec<NodeId> = pieces.iter().map(|&piece| new(piece)).collect();
                self.concat(&pieces)
            }
            Node::Matrix(op, args) => {
                let args = args.map(|arg| if arg == NodeId::NONE { arg } else { new(arg) });
                self.intern(Node::Matrix(op, args), length, self.active[id.at()])
            }
            Node::Solve(which, args) => self.intern(Node::Solve(which, args.map(new)), length, self.active[id.at()]),
            Node::Sensitivities(solution) => {
                self.intern(Node::Sensitivities(new(solution)), length, self.active[id.at()])
            }
            Node::Scan(scan) => {
                let old = self.scans[scan as usize].clone();
                let args = old.args.iter().map(|&arg| new(arg)).collect();
                self.scans.push(Scan { args, ..old });
                self.intern(Node::Scan(self.scans.len() as u32 - 1), 0, self.active[id.at()])
            }
            Node::Output(scan, inner) => self.output(new(scan), inner),
        }
    }

    /// Makes `to` the coordinates that `from` was; nothing may read `from` any more.
    pub(crate) fn move_parameter(&mut self, from: NodeId, to: NodeId) {
        self.nodes.swap(from.at(), to.at());
        for parameter in &mut self.parameters {
            if *parameter == from {
                *parameter = to;
            }
        }
    }
}
