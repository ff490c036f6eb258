//! What reads each node of a target, and what one of its terms reads alone.

use crate::graph::{Graph, NodeId};
use std::collections::{BinaryHeap, HashSet};

/// The readers of all nodes that a target's terms and the conditions on it need.
pub(super) struct Readers {
    /// Where the readers of each node begin, and where those of the last one end.
    starts: Vec<usize>,
    all: Vec<NodeId>,
    /// How many terms and conditions each node is.
    roots: Vec<u32>,
}

impl Readers {
    pub(super) fn new(graph: &Graph, terms: &[NodeId]) -> Self {
        let guards = graph.guards.iter().map(|guard| guard.violations);
        let roots: Vec<NodeId> = terms.iter().copied().chain(guards).collect();
        let needed = graph.needed(&roots);
        let nodes = || (0..needed.len()).filter(|&id| needed[id]);
        let mut starts = vec![0; needed.len() + 1];
        for id in nodes() {
            graph.for_each_operand(&graph.nodes[id], |operand| starts[operand.at() + 1] += 1);
        }
        for id in 0..needed.len() {
            starts[id + 1] += starts[id];
        }
        let (mut next, mut all) = (starts.clone(), vec![NodeId::NONE; starts[needed.len()]]);
        for id in nodes() {
            graph.for_each_operand(&graph.nodes[id], |operand| {
                all[next[operand.at()]] = NodeId(id as u32);
                next[operand.at()] += 1;
            });
        }
        let mut counts = vec![0; needed.len()];
        roots.iter().for_each(|root| counts[root.at()] += 1);
        Self { starts, all, roots: counts }
    }

    /// The readers of a node; none of a node that was made later.
    fn of(&self, node: NodeId) -> &[NodeId] {
        match self.starts.get(node.at()..node.at() + 2) {
            Some(&[from, to]) => &self.all[from..to],
            _ => &[],
        }
    }

    /// The readers that are left without one of the terms.
    pub(super) fn without(&self, graph: &Graph, term: NodeId) -> OtherReaders<'_> {
        let mut own = HashSet::new();
        // Readers are later nodes than what they read: the last node first.
        let mut waiting = BinaryHeap::from([term]);
        while let Some(node) = waiting.pop() {
            let roots = self.roots.get(node.at()).copied().unwrap_or(0) - u32::from(node == term);
            if roots == 0 && !own.contains(&node) && self.of(node).iter().all(|reader| own.contains(reader)) {
                own.insert(node);
                graph.for_each_operand(&graph.nodes[node.at()], |operand| waiting.push(operand));
            }
        }
        OtherReaders { readers: self, own }
    }
}

/// What reads each node without what one term alone needs.
pub(super) struct OtherReaders<'a> {
    readers: &'a Readers,
    own: HashSet<NodeId>,
}

impl OtherReaders<'_> {
    pub(super) fn of(&self, node: NodeId) -> Vec<NodeId> {
        self.readers.of(node).iter().copied().filter(|reader| !self.own.contains(reader)).collect()
    }

    /// The only reader of a node.
    pub(super) fn only(&self, node: NodeId) -> Option<NodeId> {
        match self.of(node)[..] {
            [reader] => Some(reader),
            _ => None,
        }
    }
}
