//! A program as a graph of vectors: each node has a length, and a node of length 1 is a scalar that serves every row.
//!
//! Nodes are made once (equal ones are one node), and are known at once when they depend on no parameter: data are folded
//! as the graph is built. A node only depends on earlier ones, so their order is an order of evaluation.

use crate::error::ProgramError;
use crate::hash::BuildNodeHasher;
use crate::matrix::MatrixOp;
use crate::ode::OdeProblem;
use crate::operation::{Algebra, Op};
use crate::plain;
use crate::scan::Scan;
use std::collections::HashMap;
use std::sync::Arc;

/// A node of a [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// In the place of operands that an operation does not have.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// One number, by its bits.
    Constant(u64),
    /// Data, one number for each row.
    Column(u32),
    /// Coordinates of the unconstrained point from this one on.
    Parameter(u32),
    /// A scalar operation on each row.
    Map(Op, [NodeId; 3]),
    /// Elements of a vector by an index of each row.
    Gather(NodeId, u32),
    /// The sum of all rows.
    Sum(NodeId),
    /// The sums of the rows of each segment; rows belong to segments by an index.
    SegmentSum(NodeId, u32),
    /// Elements of a vector: the first one and their number.
    Slice(NodeId, u32, u32),
    /// Vectors, one after the other.
    Concat(Box<[NodeId]>),
    /// An operation on matrices.
    Matrix(MatrixOp, [NodeId; 2]),
    /// A scan: it has no value of its own, only outputs.
    Scan(u32),
    /// The value that a node of a scan's body has at each step.
    Output(NodeId, NodeId),
    /// A solution of the differential equations of this number: from first states on, with parameters.
    Solve(u32, [NodeId; 2]),
    /// The slopes of a solution's states by what they depend on.
    Sensitivities(NodeId),
    /// What passes of a loop read of earlier ones, until its recurrence is closed; by a number of its own.
    Unknown(u32),
}

/// Rows' indices, all below `bound`.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) rows: Arc<[u32]>,
    pub(crate) bound: usize,
    /// Whether row i has the index i, and there is no other one.
    pub(crate) is_identity: bool,
}

/// The columns of a matrix of data.
type MatrixColumns = Vec<Arc<[f64]>>;

/// A condition that must hold, or the density has no value.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The number of elements that violate it.
    pub(crate) violations: NodeId,
    pub(crate) message: Arc<str>,
}

/// A program that is being built.
///
/// Methods take and return nodes. Misuse (lengths that differ, an index outside) makes a NaN, and the first such error is
/// returned when the program is compiled: so that formulas can be written without a `?` at each operation.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) lengths: Vec<u32>,
    pub(crate) active: Vec<bool>,
    pub(crate) columns: Vec<Arc<[f64]>>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) scans: Vec<Scan>,
    pub(crate) odes: Vec<Arc<OdeProblem>>,
    pub(crate) parameters: Vec<NodeId>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) dim: usize,
    memo: HashMap<Node, NodeId, BuildNodeHasher>,
    /// The sum of all lengths.
    elements: usize,
    /// The numbers of the columns and of the indices that are the same memory.
    known_columns: HashMap<(usize, usize), u32>,
    known_indexes: HashMap<(usize, usize, usize), u32>,
    /// The indices that undo others, and those of a gather of a gather.
    pub(crate) inverses: HashMap<u32, Option<u32>>,
    pub(crate) gathers_of_gathers: HashMap<(u32, u32), u32>,
    /// The columns of matrices of data, by the data, the number of columns and whether they stand column by column.
    pub(crate) matrix_columns: HashMap<(u32, usize, bool), MatrixColumns>,
    /// Products of a lower triangle and itself, with the triangle.
    pub(crate) factors: HashMap<NodeId, NodeId>,
    fault: Option<ProgramError>,
}

impl Graph {
    /// Makes an empty program.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty graph with the same data, indices and coordinates.
    pub(crate) fn empty_with_its_data(&self) -> Self {
        Self {
            columns: self.columns.clone(),
            indexes: self.indexes.clone(),
            odes: self.odes.clone(),
            known_columns: self.known_columns.clone(),
            known_indexes: self.known_indexes.clone(),
            inverses: self.inverses.clone(),
            gathers_of_gathers: self.gathers_of_gathers.clone(),
            dim: self.dim,
            ..Self::default()
        }
    }

    /// Returns the length of a node's vector; 1 for a scalar.
    pub fn len(&self, node: NodeId) -> usize {
        self.lengths[node.at()] as usize
    }

    /// Returns whether the program has no node yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of elements that all nodes have together.
    pub fn element_count(&self) -> usize {
        self.elements
    }

    /// Returns the number of unconstrained coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns whether a node depends on a parameter.
    pub fn depends_on_parameters(&self, node: NodeId) -> bool {
        self.active[node.at()]
    }

    /// Returns the values of a node that depends on no parameter.
    pub fn known(&self, node: NodeId) -> Option<Vec<f64>> {
        match &self.nodes[node.at()] {
            Node::Constant(bits) => Some(vec![f64::from_bits(*bits)]),
            Node::Column(column) => Some(self.columns[*column as usize].to_vec()),
            _ => None,
        }
    }

    /// Returns the first misuse.
    pub fn fault(&self) -> Option<&ProgramError> {
        self.fault.as_ref()
    }

    /// Notes a misuse, and returns a NaN in place of the node.
    pub(crate) fn refuse(&mut self, error: ProgramError) -> NodeId {
        self.fault.get_or_insert(error);
        self.constant(f64::NAN)
    }

    /// Forgets the nodes from one on.
    pub(crate) fn forget_from(&mut self, first: usize, fault: Option<ProgramError>) {
        // A folded node is an old one, though its operands may be forgotten.
        let mut memo = std::mem::take(&mut self.memo);
        memo.retain(|node, made| {
            let mut is_old = made.at() < first;
            self.for_each_operand(node, |operand| is_old &= operand.at() < first);
            is_old
        });
        self.memo = memo;
        self.factors.retain(|product, _| product.at() < first);
        self.nodes.truncate(first);
        let forgotten: usize = self.lengths.drain(first.min(self.lengths.len())..).map(|length| length as usize).sum();
        self.elements = self.elements.saturating_sub(forgotten);
        self.active.truncate(first);
        self.fault = fault;
    }

    /// Returns a number.
    pub fn constant(&mut self, x: f64) -> NodeId {
        self.intern(Node::Constant(x.to_bits()), 1, false)
    }

    /// Returns data, one number for each row; data of one row are a number.
    pub fn column(&mut self, values: impl Into<Arc<[f64]>>) -> NodeId {
        let values = values.into();
        if let [x] = *values {
            return self.constant(x);
        }
        if values.len() > MOST {
            let error = ProgramError::TooLong { operation: "column", length: values.len(), most: MOST };
            return self.refuse(error);
        }
        let length = values.len();
        // The graph keeps the memory, so that its address means it for good.
        let column = *self.known_columns.entry((values.as_ptr().addr(), length)).or_insert_with(|| {
            self.columns.push(values);
            self.columns.len() as u32 - 1
        });
        self.intern(Node::Column(column), length, false)
    }

    /// Returns the next `length` coordinates of the unconstrained point.
    pub fn parameter(&mut self, length: usize) -> NodeId {
        if self.dim + length > MOST {
            let error = ProgramError::TooLong { operation: "parameter", length: self.dim + length, most: MOST };
            return self.refuse(error);
        }
        if length == 0 {
            return self.column(Vec::new());
        }
        let node = self.intern(Node::Parameter(self.dim as u32), length, true);
        self.dim += length;
        self.parameters.push(node);
        node
    }

    /// Returns an operation on each row: operands have the same length, or serve every row as scalars.
    pub fn apply(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        if args.len() != op.arity() {
            let error = ProgramError::Arity { operation: op.name(), expected: op.arity(), found: args.len() };
            return self.refuse(error);
        }
        let mut length = 1;
        for &arg in args {
            match self.len(arg) {
                1 => {}
                other if length == 1 || length == other => length = other,
                other => {
                    let error = ProgramError::Lengths { operation: op.name(), first: length, second: other };
                    return self.refuse(error);
                }
            }
        }
        if let Some(simpler) = self.simplify(op, args) {
            return simpler;
        }
        let mut padded = [NodeId::NONE; 3];
        padded[..args.len()].copy_from_slice(args);
        if matches!(op, Op::Add | Op::Mul) && padded[1] < padded[0] {
            padded.swap(0, 1);
        }
        let active = args.iter().any(|&arg| self.active[arg.at()]);
        self.intern(Node::Map(op, padded), length, active)
    }

    /// Returns the elements of `source` that `index` has, counted from 0: one for each row.
    pub fn gather(&mut self, source: NodeId, index: impl Into<Arc<[u32]>>) -> NodeId {
        match self.index("gather", index.into(), self.len(source)) {
            Ok(index) => self.gather_by(source, index),
            Err(error) => self.refuse(error),
        }
    }

    /// Returns the sums of `values` by segment: row i belongs to segment `index[i]` of `segments`.
    pub fn segment_sum(&mut self, values: NodeId, index: impl Into<Arc<[u32]>>, segments: usize) -> NodeId {
        let index = index.into();
        let (length, rows) = (self.len(values), index.len());
        if length != 1 && length != rows {
            let error = ProgramError::Lengths { operation: "segment_sum", first: length, second: rows };
            return self.refuse(error);
        }
        match self.index("segment_sum", index, segments) {
            Ok(index) => self.segment_sum_by(values, index),
            Err(error) => self.refuse(error),
        }
    }

    /// Returns the sum of all rows.
    pub fn sum(&mut self, values: NodeId) -> NodeId {
        match self.len(values) {
            0 => return self.constant(0.0),
            1 => return values,
            _ => {}
        }
        match &self.nodes[values.at()] {
            Node::SegmentSum(rows, _) => return self.sum(*rows),
            Node::Concat(pieces) => {
                let pieces = pieces.clone();
                let first = self.sum(pieces[0]);
                return pieces[1..].iter().fold(first, |sum, &piece| {
                    let more = self.sum(piece);
                    self.add(sum, more)
                });
            }
            _ => {}
        }
        if let Node::Map(op, [a, b, _]) = self.nodes[values.at()] {
            let (of_a, of_b) = (self.is_easy_to_sum(a), op.arity() > 1 && self.is_easy_to_sum(b));
            let is_scalar = |graph: &Self, x: NodeId| graph.len(x) == 1;
            let rows = self.len(values);
            match op {
                Op::Neg => {
                    let sum = self.sum(a);
                    return self.neg(sum);
                }
                Op::Mul if is_scalar(self, a) => {
                    let sum = self.sum(b);
                    return self.mul(a, sum);
                }
                Op::Mul if is_scalar(self, b) => {
                    let sum = self.sum(a);
                    return self.mul(sum, b);
                }
                Op::Div if is_scalar(self, b) => {
                    let sum = self.sum(a);
                    return self.div(sum, b);
                }
                Op::Mul => {
                    let (of_a, of_b) = (self.scalar_factor(a), self.scalar_factor(b));
                    if of_a.is_some() || of_b.is_some() {
                        let rest = self.mul(of_a.map_or(a, |(_, rest)| rest), of_b.map_or(b, |(_, rest)| rest));
                        let sum = self.sum(rest);
                        let factors = [of_a, of_b].into_iter().flatten();
                        return factors.fold(sum, |sum, (factor, _)| self.mul(factor, sum));
                    }
                }
                Op::Add | Op::Sub if of_a || of_b => {
                    let (a, b) = (self.sum_of_rows(a, rows), self.sum_of_rows(b, rows));
                    return self.apply(op, &[a, b]);
                }
                _ => {}
            }
        }
        let active = self.active[values.at()];
        self.intern(Node::Sum(values), 1, active)
    }

    /// Returns the scalar that a vector was multiplied by or divided by, as a factor, and what was multiplied.
    pub(crate) fn scalar_factor(&mut self, vector: NodeId) -> Option<(NodeId, NodeId)> {
        match self.nodes[vector.at()] {
            Node::Map(Op::Mul, [a, b, _]) if self.len(a) == 1 && self.len(b) > 1 => Some((a, b)),
            Node::Map(Op::Mul, [a, b, _]) if self.len(a) > 1 && self.len(b) == 1 => Some((b, a)),
            Node::Map(Op::Div, [a, b, _]) if self.len(a) > 1 && self.len(b) == 1 => {
                let one = self.constant(1.0);
                Some((self.div(one, b), a))
            }
            _ => None,
        }
    }

    /// Whether a term of a sum costs no loop: a scalar, or data.
    fn is_easy_to_sum(&self, node: NodeId) -> bool {
        self.len(node) == 1 || !self.active[node.at()]
    }

    /// Returns the sum of a vector, or of a scalar as often as there are rows.
    pub fn sum_of_rows(&mut self, node: NodeId, rows: usize) -> NodeId {
        if self.len(node) != 1 || rows == 1 {
            return self.sum(node);
        }
        let count = self.constant(rows as f64);
        self.mul(count, node)
    }

    /// Returns `length` elements of `source` from `start` on.
    pub fn slice(&mut self, source: NodeId, start: usize, length: usize) -> NodeId {
        let all = self.len(source);
        if start.saturating_add(length) > all {
            let index = start.saturating_add(length).saturating_sub(1);
            return self.refuse(ProgramError::Index { operation: "slice", index, row: 0, length: all });
        }
        match self.nodes[source.at()] {
            _ if length == all => source,
            _ if length == 0 => self.column(Vec::new()),
            Node::Slice(whole, first, _) => self.slice(whole, first as usize + start, length),
            _ => {
                let active = self.active[source.at()];
                self.intern(Node::Slice(source, start as u32, length as u32), length, active)
            }
        }
    }

    /// Returns one element of `source`, counted from 0.
    pub fn element(&mut self, source: NodeId, index: usize) -> NodeId {
        self.slice(source, index, 1)
    }

    /// Returns the vectors one after the other.
    pub fn concat(&mut self, pieces: &[NodeId]) -> NodeId {
        let pieces: Vec<NodeId> = pieces.iter().copied().filter(|&piece| self.len(piece) > 0).collect();
        let length = pieces.iter().map(|&piece| self.len(piece)).sum();
        match pieces[..] {
            [] => self.column(Vec::new()),
            [one] => one,
            _ if length > MOST => self.refuse(ProgramError::TooLong { operation: "concat", length, most: MOST }),
            _ => {
                let active = pieces.iter().any(|&piece| self.active[piece.at()]);
                self.intern(Node::Concat(pieces.into()), length, active)
            }
        }
    }

    /// Returns a scalar as a vector of `length` elements; a vector of that length as it is.
    pub fn broadcast(&mut self, node: NodeId, length: usize) -> NodeId {
        match self.len(node) {
            found if found == length => node,
            1 => self.gather(node, vec![0; length]),
            found => self.refuse(ProgramError::Lengths { operation: "broadcast", first: found, second: length }),
        }
    }

    /// Demands that no element of `condition` is 0: where one is, the density has no value, for the reason `message`.
    pub fn guard(&mut self, condition: NodeId, message: &str) {
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let violated = self.apply(Op::Select, &[condition, zero, one]);
        let violations = self.sum(violated);
        if matches!(self.nodes[violations.at()], Node::Constant(bits) if f64::from_bits(bits) == 0.0) {
            return;
        }
        self.guards.push(Guard { violations, message: message.into() });
    }

    /// Returns a vector that is NaN where a guard fails.
    pub fn guarded(&mut self, node: NodeId) -> NodeId {
        let (nan, length) = (self.constant(f64::NAN), self.len(node));
        let made =
            self.guards.clone().iter().fold(node, |made, guard| self.apply(Op::Select, &[guard.violations, nan, made]));
        self.broadcast(made, length)
    }

    /// Returns the number of guards.
    pub fn guard_count(&self) -> usize {
        self.guards.len()
    }

    /// Returns each guard: how many elements violate it, a scalar, and its message.
    pub fn guards(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.guards.iter().map(|guard| (guard.violations, &*guard.message))
    }

    /// Forgets all guards but the first `count`: what was added with the others belongs to no density.
    pub fn keep_guards(&mut self, count: usize) {
        self.guards.truncate(count);
    }

    /// a + b
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.apply(Op::Add, &[a, b])
    }

    /// a - b
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.apply(Op::Sub, &[a, b])
    }

    /// a b, element by element.
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.apply(Op::Mul, &[a, b])
    }

    /// a / b, element by element.
    pub fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.apply(Op::Div, &[a, b])
    }

    /// -a
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        self.apply(Op::Neg, &[a])
    }

    /// e^a
    pub fn exp(&mut self, a: NodeId) -> NodeId {
        self.apply(Op::Exp, &[a])
    }

    /// The natural logarithm.
    pub fn ln(&mut self, a: NodeId) -> NodeId {
        self.apply(Op::Ln, &[a])
    }

    /// a^2
    pub fn square(&mut self, a: NodeId) -> NodeId {
        self.mul(a, a)
    }

    /// The sum of products of two vectors.
    pub fn dot(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let rows = self.len(a).max(self.len(b));
        let product = self.mul(a, b);
        self.sum_of_rows(product, rows)
    }

    /// `value` where `condition` is not 0, else 0.
    pub(crate) fn when(&mut self, condition: NodeId, value: NodeId) -> NodeId {
        let zero = self.constant(0.0);
        self.apply(Op::Select, &[condition, value, zero])
    }

    /// `value` where `condition` is 0, else 0.
    pub(crate) fn unless(&mut self, condition: NodeId, value: NodeId) -> NodeId {
        let zero = self.constant(0.0);
        self.apply(Op::Select, &[condition, zero, value])
    }

    /// Checks an index and keeps it; equal tables are kept once where they are the same memory.
    pub(crate) fn index(
        &mut self,
        operation: &'static str,
        rows: Arc<[u32]>,
        bound: usize,
    ) -> Result<u32, ProgramError> {
        if rows.len() > MOST {
            return Err(ProgramError::TooLong { operation, length: rows.len(), most: MOST });
        }
        if let Some(row) = rows.iter().position(|&index| index as usize >= bound) {
            return Err(ProgramError::Index { operation, index: rows[row] as usize, row, length: bound });
        }
        let key = (rows.as_ptr().addr(), rows.len(), bound);
        Ok(*self.known_indexes.entry(key).or_insert_with(|| {
            let is_identity = rows.len() == bound && rows.iter().enumerate().all(|(i, &row)| i == row as usize);
            self.indexes.push(Index { rows, bound, is_identity });
            self.indexes.len() as u32 - 1
        }))
    }

    pub(crate) fn gather_by(&mut self, source: NodeId, index: u32) -> NodeId {
        let Index { rows, is_identity, .. } = self.indexes[index as usize].clone();
        match *rows {
            _ if is_identity => return source,
            [] => return self.column(Vec::new()),
            [one] => return self.element(source, one as usize),
            _ => {}
        }
        if let Some(gathered) = self.gather_of_reordered(source, index) {
            return gathered;
        }
        let active = self.active[source.at()];
        self.intern(Node::Gather(source, index), rows.len(), active)
    }

    pub(crate) fn segment_sum_by(&mut self, values: NodeId, index: u32) -> NodeId {
        let table = &self.indexes[index as usize];
        let (rows, segments) = (table.rows.len(), table.bound);
        if self.len(values) == 1 && rows != 1 {
            let counts = crate::order::segment_sums(&[1.0], &table.rows.clone(), segments);
            let counts = self.column(counts);
            return self.mul(counts, values);
        }
        if table.is_identity {
            return values;
        }
        if segments == 1 {
            return self.sum(values);
        }
        if let [only] = *table.rows {
            let (before, after) = (only as usize, segments - 1 - only as usize);
            let (before, after) = (self.column(vec![0.0; before]), self.column(vec![0.0; after]));
            return self.concat(&[before, values, after]);
        }
        if let Some(inverse) = self.inverse(index) {
            return self.gather_by(values, inverse);
        }
        // A scalar factor is applied once for each segment.
        if let Node::Map(op @ (Op::Mul | Op::Div), [a, b, _]) = self.nodes[values.at()] {
            if self.len(b) == 1 {
                let sums = self.segment_sum_by(a, index);
                return self.apply(op, &[sums, b]);
            }
            if op == Op::Mul && self.len(a) == 1 {
                let sums = self.segment_sum_by(b, index);
                return self.mul(a, sums);
            }
        }
        let active = self.active[values.at()];
        self.intern(Node::SegmentSum(values, index), segments, active)
    }

    /// A simpler node for an operation, if there is one.
    fn simplify(&mut self, op: Op, args: &[NodeId]) -> Option<NodeId> {
        let (a, b) = (args[0], *args.get(1).unwrap_or(&args[0]));
        let is = |graph: &Self, node: NodeId, x: f64| graph.nodes[node.at()] == Node::Constant(x.to_bits());
        let minus = |graph: &Self, node: NodeId| match graph.nodes[node.at()] {
            Node::Map(Op::Neg, [x, ..]) => Some(x),
            _ => None,
        };
        match op {
            Op::Add if is(self, a, 0.0) || is(self, a, -0.0) => return Some(b),
            Op::Add | Op::Sub if is(self, b, 0.0) || is(self, b, -0.0) => return Some(a),
            Op::Sub if is(self, a, 0.0) => return Some(self.neg(b)),
            Op::Mul if is(self, a, 1.0) => return Some(b),
            Op::Mul | Op::Div if is(self, b, 1.0) => return Some(a),
            Op::Mul if is(self, a, -1.0) => return Some(self.neg(b)),
            Op::Mul | Op::Div if is(self, b, -1.0) => return Some(self.neg(a)),
            Op::Neg => {
                if let Some(x) = minus(self, a) {
                    return Some(x);
                }
                if let Node::Map(Op::Sub, [x, y, _]) = self.nodes[a.at()] {
                    return Some(self.sub(y, x));
                }
            }
            Op::Add => {
                if let Some(x) = minus(self, b) {
                    return Some(self.sub(a, x));
                }
                if let Some(x) = minus(self, a) {
                    return Some(self.sub(b, x));
                }
            }
            Op::Sub => {
                if let Some(x) = minus(self, b) {
                    return Some(self.add(a, x));
                }
            }
            // Signs go outwards, to where a sum or a difference takes them for nothing.
            Op::Mul | Op::Div => match (minus(self, a), minus(self, b)) {
                (Some(x), Some(y)) => return Some(self.apply(op, &[x, y])),
                (Some(x), None) => {
                    let positive = self.apply(op, &[x, b]);
                    return Some(self.neg(positive));
                }
                (None, Some(y)) => {
                    let positive = self.apply(op, &[a, y]);
                    return Some(self.neg(positive));
                }
                (None, None) => {}
            },
            // The logarithms of what transforms of parameters make, without a logarithm or with the transform's own.
            Op::Ln => match self.nodes[a.at()] {
                Node::Map(Op::Exp, [x, ..]) => return Some(x),
                Node::Map(Op::Sigmoid, [x, ..]) => {
                    let minus = self.neg(x);
                    let complement = self.apply(Op::Softplus, &[minus]);
                    return Some(self.neg(complement));
                }
                Node::Map(Op::Sub, [one, x, ..]) if is(self, one, 1.0) => {
                    if let Node::Map(Op::Sigmoid, _) = self.nodes[x.at()] {
                        return Some(self.apply(Op::Ln1m, &[x]));
                    }
                }
                _ => {}
            },
            Op::Ln1m => {
                if let Node::Map(Op::Sigmoid, [x, ..]) = self.nodes[a.at()] {
                    let complement = self.apply(Op::Softplus, &[x]);
                    return Some(self.neg(complement));
                }
            }
            // x and -x have the same value here, and so have x - y and y - x.
            Op::Abs | Op::ExpMinusAbs => {
                if let Some(x) = minus(self, a) {
                    return Some(self.apply(op, &[x]));
                }
                if let Node::Map(Op::Sub, [x, y, _]) = self.nodes[a.at()]
                    && y < x
                {
                    let other = self.sub(y, x);
                    return Some(self.apply(op, &[other]));
                }
            }
            Op::Select => {
                if let Node::Constant(bits) = self.nodes[a.at()] {
                    let chosen = if f64::from_bits(bits) != 0.0 { args[1] } else { args[2] };
                    // The length of the whole must stay.
                    let length = args.iter().map(|&arg| self.len(arg)).find(|&length| length != 1).unwrap_or(1);
                    return (self.len(chosen) == length).then_some(chosen);
                }
            }
            _ => {}
        }
        self.before_gather(op, args)
    }

    /// An operation of scalars and gathers by one index is the same operation on the gathers' sources, gathered: fewer
    /// rows, the same bits.
    fn before_gather(&mut self, op: Op, args: &[NodeId]) -> Option<NodeId> {
        let mut by = None;
        for &arg in args {
            match self.nodes[arg.at()] {
                _ if self.len(arg) == 1 => {}
                Node::Gather(source, index) if by.is_none_or(|by| by == index) => {
                    if self.len(source) > 1 && 2 * self.len(source) > self.len(arg) {
                        return None;
                    }
                    by = Some(index);
                }
                _ => return None,
            }
        }
        let index = by?;
        let source = |&arg: &NodeId| match self.nodes[arg.at()] {
            Node::Gather(source, by) if by == index => source,
            _ => arg,
        };
        let sources: Vec<NodeId> = args.iter().map(source).collect();
        // All sources may be of one element while the rows are many: the index is right for them too.
        let first = self.apply(op, &sources);
        Some(self.gather_by(first, index))
    }

    /// Returns a node that was made before.
    pub(crate) fn made(&self, node: &Node) -> Option<NodeId> {
        self.memo.get(node).copied()
    }

    /// Returns the node, made if it is new, and folded if it depends on no parameter.
    pub(crate) fn intern(&mut self, node: Node, length: usize, active: bool) -> NodeId {
        if let Some(&known) = self.memo.get(&node) {
            return known;
        }
        let is_leaf = matches!(node, Node::Constant(_) | Node::Column(_) | Node::Scan(_));
        if !active && !is_leaf || length == 0 && !matches!(node, Node::Column(_) | Node::Scan(_)) {
            let values = plain::fold(self, &node, length);
            let folded = self.column(values);
            self.memo.insert(node, folded);
            return folded;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.lengths.push(length as u32);
        self.elements = self.elements.saturating_add(length);
        self.active.push(active);
        self.memo.insert(node, id);
        id
    }
}

/// The longest vector, and the most coordinates.
pub(crate) const MOST: usize = 1 << 31;

impl Algebra for Graph {
    type Value = NodeId;
    fn number(&mut self, x: f64) -> NodeId {
        self.constant(x)
    }
    fn operate(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        self.apply(op, args)
    }
}
