//! The plain evaluator: one node after the other, over any number type. It is the twin that tests hold the loops to, and
//! what folds data.

use crate::evaluate::matrix_of_data;
use crate::graph::{Graph, Node, NodeId};
use crate::number::Number;
use crate::order;
use crate::scan::Scan;
use std::borrow::Cow;
use std::collections::HashMap;

/// Returns the values of `roots` at a point; each has the length of its node.
///
/// In f64 these are the bits of a compiled program.
pub fn evaluate<N: Number>(graph: &Graph, roots: &[NodeId], position: &[N]) -> Vec<Vec<N>> {
    let needed = graph.needed(roots);
    let mut values: Vec<Vec<N>> = vec![Vec::new(); graph.nodes.len()];
    let mut of_scans: HashMap<NodeId, Vec<(NodeId, NodeId)>> = HashMap::new();
    let mut of_solutions: HashMap<NodeId, usize> = HashMap::new();
    for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
        if let Node::Output(scan, inner) = graph.nodes[id] {
            of_scans.entry(scan).or_default().push((NodeId(id as u32), inner));
        }
        if let Node::Sensitivities(solution) = graph.nodes[id] {
            of_solutions.insert(solution, id);
        }
    }
    for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
        match graph.nodes[id] {
            // A scan has all of its outputs at once.
            Node::Scan(scan) => {
                let outputs = of_scans.remove(&NodeId(id as u32)).unwrap_or_default();
                let inner: Vec<NodeId> = outputs.iter().map(|output| output.1).collect();
                let scan = &graph.scans[scan as usize];
                let args: Vec<&[N]> = scan.args.iter().map(|arg| &values[arg.at()][..]).collect();
                let made = run_scan(scan, &inner, &args);
                for ((output, _), made) in outputs.into_iter().zip(made) {
                    values[output.at()] = made;
                }
            }
            // A solution has its slopes at once.
            Node::Solve(which, [initial, parameters]) => {
                let slopes = of_solutions.get(&NodeId(id as u32)).copied();
                let (initial, parameters) = (&values[initial.at()], &values[parameters.at()]);
                let problem = &graph.odes[which as usize];
                let (states, found) = problem.solve_plainly(initial, parameters, slopes.is_some());
                values[id] = states;
                if let Some(slopes) = slopes {
                    values[slopes] = found;
                }
            }
            Node::Output(..) | Node::Sensitivities(_) => {}
            _ => {
                let length = graph.lengths[id] as usize;
                values[id] = node(graph, &graph.nodes[id], length, position, |id| Cow::Borrowed(&values[id.at()]));
            }
        }
    }
    roots.iter().map(|root| values[root.at()].clone()).collect()
}

/// The values of a node that depends on no parameter.
pub(crate) fn fold(graph: &Graph, what: &Node, length: usize) -> Vec<f64> {
    let value = |id: NodeId| match &graph.nodes[id.at()] {
        Node::Constant(bits) => Cow::Owned(vec![f64::from_bits(*bits)]),
        Node::Column(column) => Cow::Borrowed(&graph.columns[*column as usize][..]),
        // A scan has no values; an empty vector may depend on parameters, and nothing is read of them.
        _ => Cow::Owned(vec![f64::NAN; graph.len(id)]),
    };
    // Matrices of data may be large.
    if let Node::Matrix(op, [a, b]) = *what {
        let b = if b == NodeId::NONE { Cow::Borrowed(&[][..]) } else { value(b) };
        return matrix_of_data(op, [&value(a), &b]);
    }
    node(graph, what, length, &[], value)
}

fn node<'a, N: Number>(
    graph: &Graph,
    what: &Node,
    length: usize,
    position: &[N],
    value: impl Fn(NodeId) -> Cow<'a, [N]>,
) -> Vec<N> {
    let zero = N::from_f64(0.0);
    match what {
        Node::Constant(bits) => vec![N::from_f64(f64::from_bits(*bits))],
        Node::Column(column) => graph.columns[*column as usize].iter().map(|&x| N::from_f64(x)).collect(),
        Node::Parameter(offset) => position[*offset as usize..][..length].to_vec(),
        Node::Map(op, args) => {
            let values: Vec<Cow<'_, [N]>> = args[..op.arity()].iter().map(|&arg| value(arg)).collect();
            let row = |i: usize| {
                let mut operands = [zero; 3];
                for (operand, values) in operands.iter_mut().zip(&values) {
                    *operand = values[if values.len() == 1 { 0 } else { i }];
                }
                op.value(operands)
            };
            (0..length).map(row).collect()
        }
        Node::Gather(source, index) => {
            let source = value(*source);
            graph.indexes[*index as usize].rows.iter().map(|&i| source[i as usize]).collect()
        }
        Node::Sum(x) => vec![order::sum(&value(*x))],
        Node::SegmentSum(x, index) => {
            let index = &graph.indexes[*index as usize];
            order::segment_sums(&value(*x), &index.rows, index.bound)
        }
        Node::Slice(source, start, _) => value(*source)[*start as usize..][..length].to_vec(),
        Node::Concat(pieces) => pieces.iter().flat_map(|&piece| value(piece).into_owned()).collect(),
        Node::Matrix(op, [a, b]) => {
            let mut out = vec![zero; length];
            let b = if *b == NodeId::NONE { Cow::Borrowed(&[][..]) } else { value(*b) };
            op.evaluate(&value(*a), &b, &mut out, &mut Vec::new());
            out
        }
        Node::Solve(which, [initial, parameters]) => {
            graph.odes[*which as usize].solve_plainly(&value(*initial), &value(*parameters), false).0
        }
        Node::Sensitivities(_) => vec![N::from_f64(f64::NAN); length],
        Node::Scan(_) => Vec::new(),
        // It is read by nothing that is asked for.
        Node::Unknown(_) => vec![N::from_f64(f64::NAN); length],
        Node::Output(scan, inner) => {
            let Node::Scan(scan) = graph.nodes[scan.at()] else { return vec![N::from_f64(f64::NAN); length] };
            let scan = &graph.scans[scan as usize];
            let args: Vec<Cow<'_, [N]>> = scan.args.iter().map(|&arg| value(arg)).collect();
            let args: Vec<&[N]> = args.iter().map(|arg| &arg[..]).collect();
            run_scan(scan, &[*inner], &args).pop().unwrap_or_default()
        }
    }
}

/// The values that some nodes of a scan's body have at each step.
fn run_scan<N: Number>(scan: &Scan, inner: &[NodeId], args: &[&[N]]) -> Vec<Vec<N>> {
    let (body, zero) = (&scan.body, N::from_f64(0.0));
    let mut states: Vec<N> = args[..body.states].iter().map(|arg| arg[0]).collect();
    let mut out = vec![vec![zero; scan.steps]; inner.len()];
    let roots: Vec<NodeId> = body.next.iter().chain(inner).copied().collect();
    let needed = body.graph.needed(&roots);
    let mut values = vec![zero; body.graph.nodes.len()];
    for step in 0..scan.steps {
        let at = if scan.reversed { scan.steps - 1 - step } else { step };
        for id in (0..values.len()).filter(|&id| needed[id]) {
            values[id] = match &body.graph.nodes[id] {
                Node::Constant(bits) => N::from_f64(f64::from_bits(*bits)),
                Node::Parameter(k) if (*k as usize) < body.states => states[*k as usize],
                Node::Parameter(k) => {
                    let arg = args[*k as usize];
                    arg[if arg.len() == 1 { 0 } else { at }]
                }
                Node::Map(op, operands) => {
                    let mut padded = [zero; 3];
                    for (to, operand) in padded.iter_mut().zip(&operands[..op.arity()]) {
                        *to = values[operand.at()];
                    }
                    op.value(padded)
                }
                // A body has scalar operations only.
                _ => N::from_f64(f64::NAN),
            };
        }
        for (out, inner) in out.iter_mut().zip(inner) {
            out[at] = values[inner.at()];
        }
        for (state, next) in states.iter_mut().zip(&body.next) {
            *state = values[next.at()];
        }
    }
    out
}

impl Graph {
    /// Returns for each node whether one of `roots` depends on it.
    pub(crate) fn needed(&self, roots: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            needed[root.at()] = true;
        }
        for id in (0..self.nodes.len()).rev() {
            if needed[id] {
                self.for_each_operand(&self.nodes[id], |arg| needed[arg.at()] = true);
            }
        }
        needed
    }

    /// Calls `f` with each node that this one reads.
    pub(crate) fn for_each_operand(&self, node: &Node, mut f: impl FnMut(NodeId)) {
        match node {
            Node::Constant(_) | Node::Column(_) | Node::Parameter(_) | Node::Unknown(_) => {}
            Node::Map(op, args) => args[..op.arity()].iter().for_each(|&arg| f(arg)),
            Node::Gather(x, _)
            | Node::Sum(x)
            | Node::SegmentSum(x, _)
            | Node::Slice(x, ..)
            | Node::Output(x, _)
            | Node::Sensitivities(x) => f(*x),
            Node::Concat(pieces) => pieces.iter().for_each(|&piece| f(piece)),
            Node::Matrix(op, args) => args[..op.arity()].iter().for_each(|&arg| f(arg)),
            Node::Solve(_, args) => args.iter().for_each(|&arg| f(arg)),
            Node::Scan(scan) => self.scans[*scan as usize].args.iter().for_each(|&arg| f(arg)),
        }
    }
}
