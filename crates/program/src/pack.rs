//! From a graph to a plan: rows that can be done together are one loop, forward and reverse.
//!
//! Each node has a phase: the number of loops that must be over before it. Elementwise nodes of one phase and one length
//! are one loop, with the sums of their rows. Gathered vectors and sums that it reads are of an earlier phase. A
//! node that only later phases read is moved there, so that its rows need not be kept in memory.

mod columns;
mod registers;

use crate::evaluate::{SHORT, rows_with_padding};
use crate::graph::{Graph, Node, NodeId};
use crate::matrix::MatrixOp;
use crate::operation::Op;
use crate::order;
use crate::plan::{
    Base, DataColumn, Instruction, Loop, Operand, PackedProgram, PlanStep, RegisterGroup, RootPlace, ScalarInstruction,
    ScanStepPlan, SegmentTable, SolvePlan, View,
};
use std::collections::{BTreeMap, HashMap};

/// Numbers of the largest matrix of data that is kept turned as well.
const MOST_TURNED: usize = 1 << 20;

/// Longer columns of data are not copied.
const MOST_ALIGNED: usize = 1 << 16;

/// Makes the plan that computes `roots` of a graph in primitive operations.
pub(crate) fn pack(graph: &Graph, roots: &[NodeId]) -> PackedProgram {
    let mut packer = Packer::new(graph, roots);
    packer.place_leaves();
    packer.place_results();
    packer.write_steps();
    packer.align_columns();
    packer.plan.roots = roots.iter().map(|&root| packer.place(root)).collect();
    packer.plan
}

struct Packer<'a> {
    graph: &'a Graph,
    needed: Vec<bool>,
    phases: Vec<u32>,
    /// Whether a loop's value is read from memory.
    stored: Vec<bool>,
    counts: Vec<u32>,
    scalars: Vec<Option<u32>>,
    slots: Vec<Option<u32>>,
    /// The turned copies of matrices by their columns and widths.
    turned: HashMap<(u32, usize), u32>,
    /// The slopes that are read of a solution.
    slopes_of: HashMap<NodeId, NodeId>,
    /// Solutions so far.
    solutions: usize,
    plan: PackedProgram,
}

impl<'a> Packer<'a> {
    fn new(graph: &'a Graph, roots: &[NodeId]) -> Self {
        let needed = graph.needed(roots);
        let count = graph.nodes.len();
        let mut packer = Self {
            graph,
            phases: vec![0; count],
            stored: vec![false; count],
            counts: vec![0; count],
            scalars: vec![None; count],
            slots: vec![None; count],
            turned: HashMap::new(),
            slopes_of: HashMap::new(),
            solutions: 0,
            plan: PackedProgram {
                dim: graph.dim,
                columns: graph.columns.iter().cloned().map(DataColumn::new).collect(),
                indexes: graph.indexes.iter().map(|index| index.rows.clone()).collect(),
                ..PackedProgram::default()
            },
            needed,
        };
        packer.set_phases(roots);
        packer.find_stored(roots);
        packer
    }

    fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        let needed: Vec<NodeId> =
            self.needed.iter().enumerate().filter(|(_, needed)| **needed).map(|(id, _)| NodeId(id as u32)).collect();
        needed.into_iter()
    }

    /// Whether a node is computed row by row in a loop.
    fn is_in_loop(&self, id: NodeId) -> bool {
        self.graph.len(id) > 1 && matches!(self.graph.nodes[id.at()], Node::Map(..) | Node::Gather(..))
    }

    /// The first phase in which a node can be read from memory.
    fn ready(&self, id: NodeId) -> u32 {
        let phase = self.phases[id.at()];
        match &self.graph.nodes[id.at()] {
            Node::Constant(_) | Node::Column(_) | Node::Parameter(_) => 0,
            Node::Slice(source, ..) => self.ready(*source),
            Node::Map(..) if self.graph.len(id) == 1 => phase,
            _ => phase + 1,
        }
    }

    /// Whether `reader` reads row i of `id` for its own row i.
    fn is_aligned(&self, reader: NodeId, id: NodeId) -> bool {
        let reads_rows = match self.graph.nodes[reader.at()] {
            Node::Map(..) => self.graph.len(reader) == self.graph.len(id),
            Node::Sum(_) | Node::SegmentSum(..) => true,
            _ => false,
        };
        reads_rows && self.is_in_loop(id)
    }

    fn earliest(&self, id: NodeId) -> u32 {
        let node = &self.graph.nodes[id.at()];
        let mut phase = 0;
        self.graph.for_each_operand(node, |arg| {
            let at = match node {
                // Outputs are in their scan's phase, slopes in their solution's.
                Node::Output(..) | Node::Sensitivities(_) => self.phases[arg.at()],
                _ if self.is_aligned(id, arg) => self.phases[arg.at()],
                _ => self.ready(arg),
            };
            phase = phase.max(at);
        });
        phase
    }

    fn set_phases(&mut self, roots: &[NodeId]) {
        for id in self.ids() {
            self.phases[id.at()] = self.earliest(id);
            if let Node::Sensitivities(solution) = self.graph.nodes[id.at()] {
                self.slopes_of.insert(solution, id);
            }
        }
        // Later, where all readers are later. A sum goes with its rows.
        let mut latest = vec![u32::MAX; self.graph.nodes.len()];
        for root in roots {
            latest[root.at()] = self.phases[root.at()];
        }
        for id in self.ids().rev() {
            let is_sum = matches!(self.graph.nodes[id.at()], Node::Sum(_) | Node::SegmentSum(..));
            if self.is_in_loop(id) && latest[id.at()] != u32::MAX {
                self.phases[id.at()] = self.phases[id.at()].max(latest[id.at()]);
            }
            let own = self.phases[id.at()];
            let until = if is_sum && latest[id.at()] != u32::MAX { own.max(latest[id.at()]) } else { own };
            let is_view = matches!(self.graph.nodes[id.at()], Node::Slice(..));
            let mut bounds = Vec::new();
            self.graph.for_each_operand(&self.graph.nodes[id.at()], |arg| {
                let bound = if is_view {
                    latest[id.at()].min(own.saturating_sub(1))
                } else if self.is_aligned(id, arg) {
                    until
                } else {
                    own.saturating_sub(1)
                };
                bounds.push((arg, bound));
            });
            for (arg, bound) in bounds {
                latest[arg.at()] = latest[arg.at()].min(bound);
            }
        }
        for id in self.ids() {
            if !self.is_in_loop(id) {
                self.phases[id.at()] = self.earliest(id);
            }
        }
    }

    fn find_stored(&mut self, roots: &[NodeId]) {
        for root in roots {
            self.stored[root.at()] = true;
            self.counts[root.at()] += 1;
        }
        for id in self.ids() {
            let mut found = Vec::new();
            self.graph.for_each_operand(&self.graph.nodes[id.at()], |arg| {
                let together = self.is_aligned(id, arg) && self.phases[id.at()] == self.phases[arg.at()];
                found.push((arg, !together));
            });
            for (arg, stored) in found {
                self.counts[arg.at()] += 1;
                self.stored[arg.at()] |= stored;
            }
        }
    }

    fn new_scalar(&mut self, value: f64) -> u32 {
        self.plan.scalars.push(value);
        self.plan.scalars.len() as u32 - 1
    }

    fn new_slot(&mut self, length: usize) -> u32 {
        self.plan.slots.push(length);
        self.plan.slots.len() as u32 - 1
    }

    fn place_leaves(&mut self) {
        for id in self.ids() {
            match self.graph.nodes[id.at()] {
                Node::Constant(bits) => self.scalars[id.at()] = Some(self.new_scalar(f64::from_bits(bits))),
                Node::Parameter(offset) if self.graph.len(id) == 1 => {
                    let scalar = self.new_scalar(0.0);
                    self.plan.parameters.push((offset, scalar));
                    self.scalars[id.at()] = Some(scalar);
                }
                _ => {}
            }
        }
    }

    fn place_results(&mut self) {
        for id in self.ids() {
            let length = self.graph.len(id);
            match self.graph.nodes[id.at()] {
                Node::Constant(_) | Node::Parameter(_) | Node::Column(_) | Node::Scan(_) => {}
                Node::Slice(..) if length > 1 => {}
                Node::Map(..) | Node::Sum(_) | Node::Slice(..) if length == 1 => {
                    self.scalars[id.at()] = Some(self.new_scalar(0.0));
                }
                Node::Map(..) | Node::Gather(..) => {
                    if self.stored[id.at()] {
                        self.slots[id.at()] = Some(self.new_slot(length));
                    }
                }
                _ => self.slots[id.at()] = Some(self.new_slot(length)),
            }
        }
        // Results of one element that are made as vectors are read as scalars: as an element of theirs.
        for id in self.ids() {
            if self.graph.len(id) == 1 && self.slots[id.at()].is_some() && self.scalars[id.at()].is_none() {
                self.scalars[id.at()] = Some(self.new_scalar(0.0));
            }
        }
    }

    fn view(&self, id: NodeId) -> View {
        match self.graph.nodes[id.at()] {
            Node::Column(column) => View { base: Base::Column(column), start: 0 },
            Node::Parameter(offset) => View { base: Base::Position, start: offset },
            Node::Slice(source, start, _) if self.graph.len(id) > 1 => {
                let whole = self.view(source);
                View { start: whole.start + start, ..whole }
            }
            _ => match (self.scalars[id.at()], self.slots[id.at()]) {
                (Some(scalar), _) => View { base: Base::Scalars, start: scalar },
                (None, Some(slot)) => View { base: Base::Slot(slot), start: 0 },
                (None, None) => View { base: Base::Scalars, start: 0 },
            },
        }
    }

    fn place(&self, id: NodeId) -> RootPlace {
        match self.scalars[id.at()] {
            Some(scalar) => RootPlace::Scalar(scalar),
            None => RootPlace::Vector(self.view(id), self.graph.len(id)),
        }
    }

    fn scalar(&self, id: NodeId) -> u32 {
        if id == NodeId::NONE { 0 } else { self.scalars[id.at()].unwrap_or(0) }
    }

    fn write_steps(&mut self) {
        let mut by_phase: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
        for id in self.ids() {
            by_phase.entry(self.phases[id.at()]).or_default().push(id);
        }
        // Vectors of one element are read as scalars in the phase after theirs.
        let mut elements: BTreeMap<u32, Vec<ScalarInstruction>> = BTreeMap::new();
        for (phase, ids) in &by_phase {
            for &id in ids {
                if let (Some(slot), Some(out)) = (self.slots[id.at()], self.scalars[id.at()]) {
                    let view = View { base: Base::Slot(slot), start: 0 };
                    elements.entry(phase + 1).or_default().push(ScalarInstruction::Element { out, view });
                }
            }
        }
        let last = by_phase.keys().chain(elements.keys()).max().copied().unwrap_or(0);
        for phase in 0..=last {
            let ids = by_phase.remove(&phase).unwrap_or_default();
            let mut scalars = elements.remove(&phase).unwrap_or_default();
            let mut steps = Vec::new();
            let mut loops: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
            for id in ids {
                let length = self.graph.len(id);
                match self.graph.nodes[id.at()].clone() {
                    Node::Map(op, args) if length == 1 => {
                        let (out, args) = (self.scalar(id), args.map(|arg| self.scalar(arg)));
                        scalars.push(ScalarInstruction::Map { op, out, args });
                    }
                    Node::Slice(source, start, _) if length == 1 => {
                        let whole = self.view(source);
                        let view = View { start: whole.start + start, ..whole };
                        scalars.push(ScalarInstruction::Element { out: self.scalar(id), view });
                    }
                    Node::Map(..) | Node::Gather(..) => loops.entry(length).or_default().push(id),
                    Node::Sum(x) | Node::SegmentSum(x, _) => loops.entry(self.graph.len(x)).or_default().push(id),
                    Node::Concat(pieces) => {
                        let pieces = pieces.iter().map(|&piece| (self.view(piece), self.graph.len(piece))).collect();
                        steps.push(PlanStep::Concat { pieces, out: self.slots[id.at()].unwrap_or(0) });
                    }
                    Node::Matrix(op, args) => {
                        let read = |arg: NodeId| if arg == NodeId::NONE { args[0] } else { arg };
                        let (mut views, lengths) =
                            (args.map(|arg| self.view(read(arg))), args.map(|arg| self.graph.len(read(arg))));
                        let op = match self.turned(op, views[0]) {
                            Some((turned, view)) => {
                                views[0] = view;
                                turned
                            }
                            None => op,
                        };
                        steps.push(PlanStep::Matrix {
                            op,
                            args: views,
                            lengths,
                            out: self.slots[id.at()].unwrap_or(0),
                        });
                    }
                    Node::Scan(_) => steps.push(PlanStep::Scan(self.scan(id))),
                    Node::Solve(which, args) => {
                        let slopes = self.slopes_of.get(&id).and_then(|slopes| self.slots[slopes.at()]);
                        steps.push(PlanStep::Solve(SolvePlan {
                            problem: self.graph.odes[which as usize].clone(),
                            args: args.map(|arg| self.view(arg)),
                            out: self.slots[id.at()].unwrap_or(0),
                            slopes,
                            number: self.solutions,
                        }));
                        self.solutions += 1;
                    }
                    _ => {}
                }
            }
            if !scalars.is_empty() {
                self.plan.steps.push(PlanStep::Scalars(scalars));
            }
            self.plan.steps.extend(steps);
            for (rows, ids) in loops {
                let made = self.row_loop(rows, &ids);
                self.plan.steps.push(PlanStep::Loop(made));
            }
        }
    }

    /// The product of a matrix of data and a vector with the matrix turned: results of short sums then stand side by side
    /// in memory, and so do the products of a long one.
    fn turned(&mut self, op: MatrixOp, matrix: View) -> Option<(MatrixOp, View)> {
        let MatrixOp::Product { rows, inner, columns: 1, left_transposed, right_transposed } = op else {
            return None;
        };
        let View { base: Base::Column(column), start: 0 } = matrix else { return None };
        let (height, width) = if left_transposed { (inner, rows) } else { (rows, inner) };
        let (height, width) = (height as usize, width as usize);
        let helps = if left_transposed { height > SHORT } else { height >= 8 && width <= SHORT };
        if !helps || width < 2 || height * width > MOST_TURNED {
            return None;
        }
        let column = match self.turned.get(&(column, width)) {
            Some(&turned) => turned,
            None => {
                let values = self.plan.columns[column as usize].values();
                let turned = (0..width * height).map(|k| values[k % height * width + k / height]);
                // With room behind the last row.
                let turned = DataColumn::new(turned.chain([0.0; order::LANES]).collect());
                self.plan.columns.push(turned);
                let made = self.plan.columns.len() as u32 - 1;
                self.turned.insert((column, width), made);
                made
            }
        };
        let op = MatrixOp::Product { rows, inner, columns: 1, left_transposed: !left_transposed, right_transposed };
        Some((op, View { base: Base::Column(column), start: 0 }))
    }

    /// Gives columns that loops read a copy that begins where vectors do, with room behind the last row where they read
    /// more than their rows.
    fn align_columns(&mut self) {
        let PackedProgram { steps, columns, .. } = &mut self.plan;
        let mut read = vec![0; columns.len()];
        for step in steps {
            let PlanStep::Loop(rows) = step else { continue };
            let count = rows_with_padding(rows.rows);
            let operands = rows.code.iter_mut().flat_map(registers::operands).map(|operand| *operand);
            let terms = rows.terms.iter().map(|&(view, _)| Operand::Vector(view));
            for operand in operands.chain(terms) {
                if let Operand::Vector(View { base: Base::Column(column), start }) = operand {
                    let read = &mut read[column as usize];
                    *read = (start as usize + count).max(*read);
                }
            }
        }
        for (column, read) in columns.iter_mut().zip(read) {
            let length = column.values().len();
            if read > length || read > 0 && length <= MOST_ALIGNED {
                *column = column.aligned(length.max(read));
            }
        }
    }

    /// The loop over `rows` rows that computes `ids`, all of one phase.
    fn row_loop(&self, rows: usize, ids: &[NodeId]) -> Loop {
        let phase = ids.first().map_or(0, |id| self.phases[id.at()]);
        let mut made = Loop { rows, ..Loop::default() };
        let operand = |id: NodeId| {
            if id == NodeId::NONE {
                Operand::None
            } else if let Some(scalar) = self.scalars[id.at()] {
                Operand::Scalar(scalar)
            } else if self.is_in_loop(id) && self.graph.len(id) == rows && self.phases[id.at()] == phase {
                Operand::Register(id.0)
            } else {
                Operand::Vector(self.view(id))
            }
        };
        // Products that one sum of this loop reads are made where they are added.
        let fused = |id: NodeId| match self.graph.nodes[id.at()] {
            Node::Map(Op::Mul, [a, b, _])
                if self.counts[id.at()] == 1 && !self.stored[id.at()] && self.phases[id.at()] == phase =>
            {
                Some((operand(a), operand(b)))
            }
            _ => None,
        };
        let products: Vec<NodeId> = ids
            .iter()
            .filter_map(|id| match self.graph.nodes[id.at()] {
                Node::Sum(x) if fused(x).is_some() => Some(x),
                _ => None,
            })
            .collect();
        for &id in ids {
            match &self.graph.nodes[id.at()] {
                Node::Map(op, args) if !products.contains(&id) => {
                    made.code.push(Instruction::Map { op: *op, out: id.0, args: args.map(operand) });
                }
                Node::Gather(source, index) => {
                    let length = self.graph.len(*source) as u32;
                    made.code.push(Instruction::Gather {
                        out: id.0,
                        source: self.view(*source),
                        length,
                        index: *index,
                    });
                }
                Node::Sum(x) => {
                    let sum = made.sums.len() as u32;
                    made.sums.push(self.scalar(id));
                    made.code.push(match fused(*x) {
                        Some((a, b)) => Instruction::Dot { sum, a, b },
                        None => Instruction::Sum { sum, values: operand(*x) },
                    });
                }
                Node::SegmentSum(x, index) => {
                    let sum = made.segment_sums.len() as u32;
                    let table = self.segment_table(*index, self.slots[id.at()].unwrap_or(0));
                    made.segment_sums.push(table);
                    made.code.push(Instruction::SegmentSum { sum, values: operand(*x) });
                }
                _ => {}
            }
            if let (true, Some(slot)) = (self.is_in_loop(id), self.slots[id.at()]) {
                let store = made.stores.len() as u32;
                made.stores.push(slot);
                made.code.push(Instruction::Store { from: Operand::Register(id.0), store });
            }
        }
        made.unit = made.segment_sums.iter().map(|table| table.span).max().unwrap_or(order::SPAN);
        for table in &mut made.segment_sums {
            table.offset = made.partial;
            made.partial += table.segments * table.lanes * made.unit.min(rows).div_ceil(table.span);
        }
        columns::join(&mut made);
        registers::assign(&mut made);
        made.is_small = made.fits_chunks();
        made
    }

    fn segment_table(&self, index: u32, slot: u32) -> SegmentTable {
        let index = &self.graph.indexes[index as usize];
        let lanes = order::segment_lanes(index.rows.len(), index.bound);
        let slots: std::sync::Arc<[u32]> =
            if lanes == 1 { index.rows.clone() } else { order::segment_slots(&index.rows, index.bound).into() };
        let runs = slots.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
        let in_runs = 4 * runs <= slots.len();
        let span = order::span(index.bound);
        SegmentTable { slots, segments: index.bound, lanes, span, in_runs, offset: 0, slot }
    }

    fn scan(&self, id: NodeId) -> ScanStepPlan {
        let Node::Scan(which) = self.graph.nodes[id.at()] else { return ScanStepPlan::default() };
        let scan = &self.graph.scans[which as usize];
        let (body, graph) = (&scan.body, &scan.body.graph);
        let outputs: Vec<(NodeId, u32)> = self
            .ids()
            .filter_map(|reader| match self.graph.nodes[reader.at()] {
                Node::Output(of, inner) if of == id => Some((inner, self.slots[reader.at()]?)),
                _ => None,
            })
            .collect();
        let roots: Vec<NodeId> = body.next.iter().copied().chain(outputs.iter().map(|output| output.0)).collect();
        let needed = graph.needed(&roots);
        let mut made = ScanStepPlan { steps: scan.steps, reversed: scan.reversed, ..ScanStepPlan::default() };
        made.initial = scan.args[..body.states].iter().map(|&arg| self.scalar(arg)).collect();
        let inputs: Vec<usize> = (body.states..scan.args.len()).filter(|&k| needed[graph.parameters[k].at()]).collect();
        let is_scalar = |k: &usize| self.graph.len(scan.args[*k]) == 1;
        let (scalars, vectors): (Vec<usize>, Vec<usize>) = inputs.into_iter().partition(is_scalar);
        let mut register = vec![0; graph.nodes.len()];
        let mut next = 0;
        let parameters = (0..body.states).chain(vectors.iter().copied()).chain(scalars.iter().copied());
        for k in parameters {
            register[graph.parameters[k].at()] = next;
            next += 1;
        }
        made.vectors = vectors.iter().map(|&k| self.view(scan.args[k])).collect();
        made.scalars = scalars.iter().map(|&k| self.scalar(scan.args[k])).collect();
        for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
            if let Node::Constant(bits) = graph.nodes[id] {
                made.constants.push(f64::from_bits(bits));
                register[id] = next;
                next += 1;
            }
        }
        for group in groups(graph, &needed) {
            let (first, out) = (made.operands.len() as u32, next);
            let Node::Map(op, _) = graph.nodes[group[0]] else { continue };
            for &id in &group {
                if let Node::Map(_, args) = graph.nodes[id] {
                    made.operands.push(args.map(|arg| if arg == NodeId::NONE { 0 } else { register[arg.at()] }));
                }
                register[id] = next;
                next += 1;
            }
            let args = made.operands[first as usize];
            made.code.push(RegisterGroup { op, out, args, first, count: group.len() as u32 });
        }
        made.next = body.next.iter().map(|root| register[root.at()]).collect();
        let is_other = |(k, &next): (usize, &u32)| (next as usize) < body.states && next as usize != k;
        made.moves_states = made.next.iter().enumerate().any(is_other);
        made.outputs = outputs.iter().map(|(inner, slot)| (register[inner.at()], *slot)).collect();
        made.registers = next as usize;
        made
    }
}

/// Operations of a scan's step that wait for the same number of others, by operation: each group is done side by side.
fn groups(graph: &Graph, needed: &[bool]) -> Vec<Vec<usize>> {
    let mut depth = vec![0_u32; graph.nodes.len()];
    let mut groups: BTreeMap<(u32, Op), Vec<usize>> = BTreeMap::new();
    for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
        if let Node::Map(op, args) = graph.nodes[id] {
            depth[id] = args[..op.arity()].iter().map(|arg| depth[arg.at()]).max().unwrap_or(0) + 1;
            groups.entry((depth[id], op)).or_default().push(id);
        }
    }
    groups.into_values().collect()
}
