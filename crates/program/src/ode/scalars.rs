//! A graph of vectors as a graph of scalars: each element by itself, so that which one depends on which can be seen.

use crate::error::ProgramError;
use crate::graph::{Graph, Node, NodeId};
use crate::matrix::MatrixOp;

/// Operations of the largest right-hand side.
const MOST_OPERATIONS: usize = 1 << 20;

/// Returns a graph of scalars with the same parameters, each of one element, and the elements of `root` in it.
pub(super) fn scalars(graph: &Graph, root: NodeId) -> Result<(Graph, Vec<NodeId>), ProgramError> {
    let mut made = Graph::new();
    let parameters: Vec<NodeId> = (0..graph.dim()).map(|_| made.parameter(1)).collect();
    let needed = graph.needed(&[root]);
    let mut of: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    for id in (0..graph.nodes.len()).filter(|&id| needed[id]) {
        let length = graph.lengths[id] as usize;
        let all = |node: &NodeId| of[node.at()].as_slice();
        let row = |node: &NodeId, i: usize| if all(node).len() == 1 { all(node)[0] } else { all(node)[i] };
        of[id] = match &graph.nodes[id] {
            Node::Constant(bits) => vec![made.constant(f64::from_bits(*bits))],
            Node::Column(column) => graph.columns[*column as usize].iter().map(|&x| made.constant(x)).collect(),
            Node::Parameter(offset) => parameters[*offset as usize..][..length].to_vec(),
            Node::Map(op, args) => (0..length)
                .map(|i| {
                    let args: Vec<NodeId> = args[..op.arity()].iter().map(|arg| row(arg, i)).collect();
                    made.apply(*op, &args)
                })
                .collect(),
            Node::Gather(source, index) => {
                graph.indexes[*index as usize].rows.iter().map(|&i| all(source)[i as usize]).collect()
            }
            Node::Sum(x) => vec![sum(&mut made, all(x))],
            Node::SegmentSum(x, index) => {
                let index = &graph.indexes[*index as usize];
                let mut segments: Vec<Vec<NodeId>> = vec![Vec::new(); index.bound];
                for (i, &segment) in index.rows.iter().enumerate() {
                    segments[segment as usize].push(row(x, i));
                }
                segments.iter().map(|terms| sum(&mut made, terms)).collect()
            }
            Node::Slice(source, start, _) => all(source)[*start as usize..][..length].to_vec(),
            Node::Concat(pieces) => pieces.iter().flat_map(|piece| all(piece).iter().copied()).collect(),
            Node::Matrix(MatrixOp::Product { rows, inner, columns, left_transposed, right_transposed }, [a, b]) => {
                let (rows, inner, columns) = (*rows as usize, *inner as usize, *columns as usize);
                let left = |i: usize, k: usize| all(a)[if *left_transposed { k * rows + i } else { i * inner + k }];
                let right =
                    |k: usize, j: usize| all(b)[if *right_transposed { j * inner + k } else { k * columns + j }];
                let mut out = Vec::with_capacity(rows * columns);
                for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                    let terms: Vec<NodeId> = (0..inner).map(|k| made.mul(left(i, k), right(k, j))).collect();
                    out.push(sum(&mut made, &terms));
                }
                out
            }
            Node::Matrix(..) => return Err(refused("a factor or an inverse of a matrix")),
            Node::Scan(_) | Node::Output(..) => return Err(refused("a recurrence over many steps")),
            Node::Solve(..) | Node::Sensitivities(_) => return Err(refused("a solver of differential equations")),
            Node::Unknown(_) => return Err(refused("a value of another pass of a loop")),
        };
        if made.node_count() > MOST_OPERATIONS {
            let (length, most) = (made.node_count(), MOST_OPERATIONS);
            return Err(ProgramError::TooLong { operation: "a right-hand side", length, most });
        }
    }
    let root = std::mem::take(&mut of[root.at()]);
    Ok((made, root))
}

/// The sum in the order of the terms.
fn sum(graph: &mut Graph, terms: &[NodeId]) -> NodeId {
    match terms {
        [] => graph.constant(0.0),
        [first, rest @ ..] => rest.iter().fold(*first, |sum, &term| graph.add(sum, term)),
    }
}

fn refused(what: &str) -> ProgramError {
    ProgramError::Ode(format!("the right-hand side has {what}, which is not supported in it"))
}
