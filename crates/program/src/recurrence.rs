//! Recurrences: a loop of which each pass reads what earlier passes wrote becomes a scan.
//!
//! The loop is written as vectors first, with an element for each pass; what its passes read of earlier ones is an
//! *unknown* vector. Once the whole body is there, [`Graph::close_recurrence`] takes the scalar operations of one pass out
//! of the vectors, makes a scan of them, and puts its outputs in the place of what depended on the unknowns.

use crate::error::ProgramError;
use crate::graph::{Graph, Node, NodeId};
use crate::scan::Body;
use std::collections::HashMap;

/// A value that passes read and earlier passes wrote.
#[derive(Clone, Debug)]
pub struct CarriedValue {
    /// The vector that stands for it, an element for each pass.
    pub unknown: NodeId,
    /// What the first passes read, which no pass wrote. Its length is the distance from the pass that writes to the one
    /// that reads; a vector of all passes is carried from none.
    pub before: NodeId,
    /// What the passes write from the first one on, for each pass whose value is read.
    pub after: NodeId,
}

/// A state of a graph that it can be taken back to.
#[derive(Clone, Debug)]
pub struct GraphMark {
    nodes: usize,
    guards: usize,
    fault: Option<ProgramError>,
}

/// The longest distance between writing and reading that a scan carries.
const FARTHEST: usize = 16;

/// One element of a vector that depends on unknowns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ElementSource {
    /// A value of the body in one pass.
    Part { pass: u32, part: NodeId },
    /// An element of a vector that depends on no unknown.
    Free { node: NodeId, place: u32 },
}

/// How a vector is made of the passes' values.
#[derive(Clone, Debug)]
enum Layout {
    /// It depends on no unknown.
    Free,
    /// Some values of the body, pass after pass.
    Passes(Vec<NodeId>),
    /// Element by element.
    Rows(Vec<ElementSource>),
    /// It is no value of single passes: a sum over all of them.
    Outside,
}

impl Graph {
    /// Returns the state of now.
    pub fn mark(&self) -> GraphMark {
        GraphMark { nodes: self.nodes.len(), guards: self.guards.len(), fault: self.fault().cloned() }
    }

    /// Forgets the nodes, the guards and the misuse since a mark; coordinates must not have been added since.
    pub fn rewind(&mut self, mark: &GraphMark) {
        self.forget_from(mark.nodes, mark.fault.clone());
        self.guards.truncate(mark.guards);
    }

    /// Returns a vector whose elements become known when the recurrence is closed.
    pub fn unknown(&mut self, passes: usize) -> NodeId {
        let which = self.nodes.len() as u32;
        self.intern(Node::Unknown(which), passes, true)
    }

    /// Makes a scan of the nodes since `mark` that depend on the unknowns of `carried`, and returns what takes the place
    /// of each of `results`; none if the passes do not all do the same, or need more than scalar operations. Guards since
    /// the mark are mended too. After none, the graph has to be taken back.
    pub fn close_recurrence(
        &mut self,
        mark: &GraphMark,
        passes: usize,
        carried: &[CarriedValue],
        results: &[NodeId],
    ) -> Option<Vec<NodeId>> {
        let guarded: Vec<NodeId> = self.guards[mark.guards..].iter().map(|guard| guard.violations).collect();
        let wanted: Vec<NodeId> = results.iter().chain(&guarded).copied().collect();
        let (carried, needed) = self.carried_values_in_use(carried, &wanted);
        let mut closing = Closing::new(mark.nodes, passes, needed);
        closing.read_carried(self, &carried)?;
        for id in mark.nodes..closing.needed.len() {
            if closing.needed[id] {
                let layout = closing.layout(self, NodeId(id as u32))?;
                closing.layouts[id - mark.nodes] = layout;
            }
        }
        closing.next_states(self, &carried)?;
        let to = closing.run(self, &wanted)?;
        if self.fault() != mark.fault.as_ref() {
            return None;
        }
        let new = |node: &NodeId| to.get(node).copied().unwrap_or(*node);
        for (guard, violations) in self.guards[mark.guards..].iter_mut().zip(&guarded) {
            guard.violations = new(violations);
        }
        Some(results.iter().map(new).collect())
    }

    /// The carried values that `wanted` depends on, and the nodes that it does.
    fn carried_values_in_use(&self, carried: &[CarriedValue], wanted: &[NodeId]) -> (Vec<CarriedValue>, Vec<bool>) {
        let mut roots = wanted.to_vec();
        let mut is_used = vec![false; carried.len()];
        loop {
            let needed = self.needed(&roots);
            let before = roots.len();
            for (value, is_used) in carried.iter().zip(&mut is_used) {
                if needed[value.unknown.at()] && !*is_used {
                    *is_used = true;
                    roots.push(value.after);
                }
            }
            if roots.len() == before {
                let used = carried.iter().zip(is_used).filter(|(_, is_used)| *is_used);
                return (used.map(|(value, _)| value.clone()).collect(), needed);
            }
        }
    }
}

/// A recurrence that is being closed.
struct Closing {
    /// The first node that may depend on an unknown.
    first: usize,
    passes: usize,
    needed: Vec<bool>,
    layouts: Vec<Layout>,
    /// One pass.
    body: Graph,
    states: usize,
    next: Vec<NodeId>,
    /// What the body's parameters are: first states, then inputs.
    args: Vec<NodeId>,
    inputs: HashMap<NodeId, NodeId>,
    /// The body's values that stand for unknowns.
    reads: HashMap<NodeId, NodeId>,
}

impl Closing {
    fn new(first: usize, passes: usize, needed: Vec<bool>) -> Self {
        let layouts = vec![Layout::Free; needed.len() - first];
        Self {
            first,
            passes,
            needed,
            layouts,
            body: Graph::new(),
            states: 0,
            next: Vec::new(),
            args: Vec::new(),
            inputs: HashMap::new(),
            reads: HashMap::new(),
        }
    }

    fn layout_of(&self, node: NodeId) -> &Layout {
        node.at().checked_sub(self.first).and_then(|at| self.layouts.get(at)).unwrap_or(&Layout::Free)
    }

    fn is_free(&self, node: NodeId) -> bool {
        matches!(self.layout_of(node), Layout::Free)
    }

    /// Makes states of the carried values. One whose writers need no unknown is a vector that can be had before.
    fn read_carried(&mut self, graph: &mut Graph, carried: &[CarriedValue]) -> Option<()> {
        let mut unknown: Vec<bool> = vec![false; graph.nodes.len()];
        for id in self.first..graph.nodes.len() {
            let mut depends = matches!(graph.nodes[id], Node::Unknown(_));
            graph.for_each_operand(&graph.nodes[id], |arg| depends |= unknown[arg.at()]);
            unknown[id] = depends;
        }
        let (free, states): (Vec<&CarriedValue>, Vec<&CarriedValue>) =
            carried.iter().partition(|value| graph.len(value.before) == self.passes || !unknown[value.after.at()]);
        for value in &states {
            let distance = graph.len(value.before);
            if distance == 0 || distance > FARTHEST {
                return None;
            }
            // The oldest value is the first state, and the one that is read.
            for age in 0..distance {
                let state = self.body.parameter(1);
                self.args.push(graph.element(value.before, age));
                if age == 0 {
                    self.reads.insert(value.unknown, state);
                }
            }
            self.states += distance;
        }
        for value in free {
            let vector = match graph.len(value.before) {
                all if all == self.passes => value.before,
                _ => graph.concat(&[value.before, value.after]),
            };
            if graph.len(vector) != self.passes {
                return None;
            }
            let read = self.input(graph, vector);
            self.reads.insert(value.unknown, read);
        }
        Some(())
    }

    /// The body's node for a scalar or a vector of all passes that depends on no unknown.
    fn input(&mut self, graph: &Graph, value: NodeId) -> NodeId {
        if let Node::Constant(bits) = graph.nodes[value.at()] {
            return self.body.constant(f64::from_bits(bits));
        }
        if let Some(&known) = self.inputs.get(&value) {
            return known;
        }
        let made = self.body.parameter(1);
        self.args.push(value);
        self.inputs.insert(value, made);
        made
    }

    /// The values of a free vector that stand at `places`, an element for each pass, as an input.
    fn free_input(&mut self, graph: &mut Graph, mut node: NodeId, mut places: Vec<u32>) -> NodeId {
        while let Node::Gather(source, index) = graph.nodes[node.at()] {
            let rows = &graph.indexes[index as usize].rows;
            places.iter_mut().for_each(|place| *place = rows[*place as usize]);
            node = source;
        }
        let first = places.first().copied().unwrap_or(0);
        let vector = if places.iter().all(|&place| place == first) {
            graph.element(node, first as usize)
        } else if places.iter().enumerate().all(|(k, &place)| place as usize == first as usize + k) {
            graph.slice(node, first as usize, places.len())
        } else {
            graph.gather(node, places)
        };
        self.input(graph, vector)
    }

    fn layout(&mut self, graph: &mut Graph, id: NodeId) -> Option<Layout> {
        let node = graph.nodes[id.at()].clone();
        if let Node::Unknown(_) = node {
            return self.reads.get(&id).map(|&read| Layout::Passes(vec![read]));
        }
        let (mut depends, mut is_outside) = (false, false);
        graph.for_each_operand(&node, |arg| {
            depends |= !self.is_free(arg);
            is_outside |= matches!(self.layout_of(arg), Layout::Outside);
        });
        if !depends || is_outside {
            return Some(if depends { Layout::Outside } else { Layout::Free });
        }
        Some(match node {
            Node::Map(op, args) => {
                let (rows, arity) = (graph.len(id), op.arity());
                let width = rows / self.passes;
                if rows == 1 || rows % self.passes != 0 {
                    return Some(Layout::Outside);
                }
                let mut columns = Vec::with_capacity(arity);
                for &arg in &args[..arity] {
                    match self.columns(graph, arg, width) {
                        Some(made) => columns.push(made),
                        None => return Some(Layout::Outside),
                    }
                }
                let parts = (0..width).map(|j| {
                    let of_pass: Vec<NodeId> = columns.iter().map(|column| column[j % column.len()]).collect();
                    self.body.apply(op, &of_pass)
                });
                Layout::Passes(parts.collect())
            }
            Node::Gather(source, index) => {
                let places = graph.indexes[index as usize].rows.clone();
                let rows = places.iter().map(|&place| self.row(source, place as usize)).collect();
                self.settled(graph, rows)
            }
            Node::Slice(source, start, length) => {
                let rows = (0..length).map(|k| self.row(source, (start + k) as usize)).collect();
                self.settled(graph, rows)
            }
            Node::Concat(pieces) => {
                let all = pieces.iter().flat_map(|&piece| (0..graph.len(piece)).map(move |k| (piece, k)));
                let rows = all.map(|(piece, k)| self.row(piece, k)).collect();
                self.settled(graph, rows)
            }
            Node::SegmentSum(x, index) => self.sums_within(graph, x, index).unwrap_or(Layout::Outside),
            Node::Scan(_) | Node::Output(..) => return None,
            _ => Layout::Outside,
        })
    }

    /// The body's values that a pass has of a vector of `width` elements a pass; one if a scalar serves all.
    fn columns(&mut self, graph: &mut Graph, node: NodeId, width: usize) -> Option<Vec<NodeId>> {
        match self.layout_of(node) {
            Layout::Free if graph.len(node) == 1 => Some(vec![self.input(graph, node)]),
            Layout::Free if width == 1 => Some(vec![self.input(graph, node)]),
            Layout::Free => {
                let places = |j: usize| (0..self.passes).map(|pass| (pass * width + j) as u32).collect();
                let places: Vec<Vec<u32>> = (0..width).map(places).collect();
                Some(places.into_iter().map(|places| self.free_input(graph, node, places)).collect())
            }
            Layout::Passes(parts) if parts.len() == width => Some(parts.clone()),
            _ => None,
        }
    }

    fn row(&self, node: NodeId, place: usize) -> ElementSource {
        match self.layout_of(node) {
            Layout::Passes(parts) => {
                ElementSource::Part { pass: (place / parts.len()) as u32, part: parts[place % parts.len()] }
            }
            Layout::Rows(rows) => rows[place],
            _ => ElementSource::Free { node, place: place as u32 },
        }
    }

    /// Rows as values of the body pass after pass, if they are that.
    fn settled(&mut self, graph: &mut Graph, rows: Vec<ElementSource>) -> Layout {
        let width = rows.len() / self.passes;
        if width == 0 || !rows.len().is_multiple_of(self.passes) {
            return Layout::Rows(rows);
        }
        let of = |pass: usize, j: usize| rows[pass * width + j];
        let is_regular = (0..width).all(|j| match of(0, j) {
            ElementSource::Part { part, .. } => {
                (0..self.passes).all(|pass| of(pass, j) == ElementSource::Part { pass: pass as u32, part })
            }
            ElementSource::Free { node, .. } => (0..self.passes)
                .all(|pass| matches!(of(pass, j), ElementSource::Free { node: other, .. } if other == node)),
        });
        if !is_regular {
            return Layout::Rows(rows);
        }
        let parts = (0..width).map(|j| match of(0, j) {
            ElementSource::Part { part, .. } => part,
            ElementSource::Free { node, .. } => {
                let place = |pass| if let ElementSource::Free { place, .. } = of(pass, j) { place } else { 0 };
                let places = (0..self.passes).map(place).collect();
                self.free_input(graph, node, places)
            }
        });
        Layout::Passes(parts.collect())
    }

    /// Sums within each pass.
    fn sums_within(&mut self, graph: &Graph, x: NodeId, index: u32) -> Option<Layout> {
        let table = &graph.indexes[index as usize];
        let Layout::Passes(parts) = self.layout_of(x) else { return None };
        let (parts, segments) = (parts.clone(), table.bound / self.passes);
        if segments == 0 || !table.bound.is_multiple_of(self.passes) || table.rows.len() != parts.len() * self.passes {
            return None;
        }
        let first = &table.rows[..parts.len()];
        let is_regular = table.rows.chunks(parts.len()).enumerate().all(|(pass, rows)| {
            rows.iter().zip(first).all(|(&row, &first)| row as usize == first as usize + pass * segments)
        });
        if !is_regular || first.iter().any(|&segment| segment as usize >= segments) {
            return None;
        }
        let mut sums = vec![self.body.constant(0.0); segments];
        for (&part, &segment) in parts.iter().zip(first) {
            sums[segment as usize] = self.body.add(sums[segment as usize], part);
        }
        Some(Layout::Passes(sums))
    }

    /// What each state becomes.
    fn next_states(&mut self, graph: &Graph, carried: &[CarriedValue]) -> Option<()> {
        let mut at = 0;
        for value in carried {
            let (distance, read) = (graph.len(value.before), self.reads.get(&value.unknown)?);
            if self.body.parameters.get(at) != Some(read) || at >= self.states {
                continue;
            }
            let written = graph.len(value.after);
            if written == 0 || written + distance != self.passes {
                return None;
            }
            let ElementSource::Part { pass: 0, part } = self.row(value.after, 0) else { return None };
            let is_same = |pass: usize| self.row(value.after, pass) == ElementSource::Part { pass: pass as u32, part };
            if !(0..written).all(is_same) {
                return None;
            }
            self.next.extend((1..distance).map(|i| self.body.parameters[at + i]));
            self.next.push(part);
            at += distance;
        }
        (self.next.len() == self.states).then_some(())
    }

    /// Runs the scan, and makes anew what depends on it: `wanted` and what they read.
    fn run(mut self, graph: &mut Graph, wanted: &[NodeId]) -> Option<HashMap<NodeId, NodeId>> {
        let mut is_asked = vec![false; self.layouts.len()];
        for node in wanted.iter().filter(|node| !self.is_free(**node)) {
            is_asked[node.at() - self.first] = true;
        }
        for id in (self.first..self.needed.len()).rev() {
            if is_asked[id - self.first] && matches!(self.layouts[id - self.first], Layout::Outside) {
                graph.for_each_operand(&graph.nodes[id], |arg| {
                    if !self.is_free(arg) {
                        is_asked[arg.at() - self.first] = true;
                    }
                });
            }
        }
        let asked: Vec<NodeId> = (self.first..self.needed.len())
            .filter(|id| is_asked[id - self.first])
            .map(|id| NodeId(id as u32))
            .collect();
        let mut outputs: Vec<NodeId> = Vec::new();
        let mut output_of: HashMap<NodeId, usize> = HashMap::new();
        let mut ask = |part: NodeId| {
            output_of.entry(part).or_insert_with(|| {
                outputs.push(part);
                outputs.len() - 1
            });
        };
        for &node in &asked {
            match self.layout_of(node) {
                Layout::Passes(parts) => parts.iter().for_each(|&part| ask(part)),
                Layout::Rows(rows) => rows.iter().for_each(|row| {
                    if let ElementSource::Part { part, .. } = row {
                        ask(*part);
                    }
                }),
                _ => {}
            }
        }
        let body = Body { graph: std::mem::take(&mut self.body), states: self.states, next: self.next.clone() };
        let vectors = graph.run_body(body, &outputs, self.passes, &self.args, false);
        let vector_of = |part: &NodeId| output_of.get(part).map(|&k| vectors[k]);
        let mut to: HashMap<NodeId, NodeId> = HashMap::new();
        for &node in &asked {
            let made = match self.layout_of(node) {
                Layout::Passes(parts) if parts.len() == 1 => vector_of(&parts[0])?,
                Layout::Passes(parts) => {
                    let vectors: Vec<NodeId> = parts.iter().map(vector_of).collect::<Option<_>>()?;
                    let width = parts.len();
                    let whole = graph.concat(&vectors);
                    let places = 0..width * self.passes;
                    let places: Vec<u32> = places.map(|k| (k % width * self.passes + k / width) as u32).collect();
                    graph.gather(whole, places)
                }
                Layout::Rows(rows) => {
                    let place = |row: &ElementSource| match row {
                        ElementSource::Part { pass, part } => Some((vector_of(part)?, *pass)),
                        ElementSource::Free { node, place } => Some((*node, *place)),
                    };
                    let places: Vec<(NodeId, u32)> = rows.iter().map(place).collect::<Option<_>>()?;
                    join(graph, &places)
                }
                _ => graph.made_anew(node, &to)?,
            };
            to.insert(node, made);
        }
        Some(to)
    }
}

/// One vector of elements from several.
fn join(graph: &mut Graph, places: &[(NodeId, u32)]) -> NodeId {
    let mut starts: HashMap<NodeId, u32> = HashMap::new();
    let (mut sources, mut length) = (Vec::new(), 0);
    for &(node, _) in places {
        starts.entry(node).or_insert_with(|| {
            sources.push(node);
            length += graph.len(node) as u32;
            length - graph.len(node) as u32
        });
    }
    let rows: Vec<u32> = places.iter().map(|(node, place)| starts[node] + place).collect();
    let whole = graph.concat(&sources);
    let first = rows.first().copied().unwrap_or(0);
    if rows.iter().enumerate().all(|(k, &row)| row == first + k as u32) {
        return graph.slice(whole, first as usize, rows.len());
    }
    graph.gather(whole, rows)
}

impl Graph {
    /// The same operation of what takes the place of its operands.
    fn made_anew(&mut self, id: NodeId, to: &HashMap<NodeId, NodeId>) -> Option<NodeId> {
        let new = |arg: &NodeId| to.get(arg).copied().unwrap_or(*arg);
        let length = self.len(id);
        let made = match self.nodes[id.at()].clone() {
            Node::Map(op, args) => {
                let args: Vec<NodeId> = args[..op.arity()].iter().map(new).collect();
                self.apply(op, &args)
            }
            Node::Gather(x, index) => self.gather_by(new(&x), index),
            Node::Sum(x) => self.sum_of_rows(new(&x), self.len(x)),
            Node::SegmentSum(x, index) => self.segment_sum_by(new(&x), index),
            Node::Slice(x, start, length) => self.slice(new(&x), start as usize, length as usize),
            Node::Concat(pieces) => {
                let pieces: Vec<NodeId> = pieces.iter().map(new).collect();
                self.concat(&pieces)
            }
            Node::Matrix(op, args) => {
                let args = args.map(|arg| new(&arg));
                let active = args.iter().filter(|&&arg| arg != NodeId::NONE).any(|arg| self.active[arg.at()]);
                self.intern(Node::Matrix(op, args), length, active)
            }
            _ => return None,
        };
        Some(self.broadcast(made, length))
    }
}
