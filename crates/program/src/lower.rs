//! A graph made anew from what its roots need: composite operations in primitive ones, and a product that one sum reads
//! fused with it. Both operations of a fused one are rounded, so that no bit changes.

use crate::graph::{Graph, Node, NodeId};
use crate::operation::{Algebra, Op};
use crate::scan::{Body, Scan};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the graph in primitive operations, with its roots: values as they are written.
pub(crate) fn lower(graph: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    fused(rebuild(graph, roots, |graph, _, op, args| op.expand(&mut Primitive(graph), args)))
}

/// The same for a density and its slopes, in which a divisor of several rows or several quotients is divided by once, and
/// scalar factors of a vector are multiplied first: what this rounds once more is no value that anybody reads.
pub(crate) fn lower_density(graph: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    let made = rebuild(graph, roots, |graph, uses, op, args| match (op, args) {
        (Op::Div, &[a, b]) => quotient(graph, uses, a, b),
        (Op::Mul, &[a, b]) => scaled(graph, a, b),
        _ => op.expand(&mut Primitive(graph), args),
    });
    fused(made)
}

/// Returns a / b as a product with 1 / b, where that is known, serves more than one number, or is data.
fn quotient(graph: &mut Graph, uses: &Uses<'_>, a: NodeId, b: NodeId) -> NodeId {
    let inverse = graph.known_inverse(b).or_else(|| {
        let Node::Map(_, [_, divisor, _]) = uses.graph.nodes[uses.node.at()] else { return None };
        let serves_rows = graph.len(a) > 1 && graph.len(b) == 1;
        let is_data = graph.len(b) > 1 && !graph.active[b.at()];
        (serves_rows || is_data || uses.quotients[divisor.at()] > 1).then(|| {
            let one = graph.constant(1.0);
            graph.div(one, b)
        })
    });
    match inverse {
        Some(inverse) => scaled(graph, a, inverse),
        None => graph.div(a, b),
    }
}

/// Returns a b; scalar factors of a vector are one.
fn scaled(graph: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    for (scalar, vector) in [(a, b), (b, a)] {
        if graph.len(scalar) == 1
            && let Some((factor, rest)) = graph.scalar_factor(vector)
        {
            let factor = graph.mul(scalar, factor);
            return graph.mul(factor, rest);
        }
    }
    graph.mul(a, b)
}

impl Graph {
    /// Returns 1 / b, if it costs no division.
    fn known_inverse(&mut self, b: NodeId) -> Option<NodeId> {
        let one = self.constant(1.0);
        match self.nodes[b.at()] {
            Node::Map(Op::Div, [a, divisor, _]) if a == one => Some(divisor),
            // 1 / sqrt(x) = sqrt(x) / x
            Node::Map(Op::Sqrt, [x, ..]) => {
                let inverse = self.known_inverse(x)?;
                Some(self.mul(b, inverse))
            }
            _ => self.made(&Node::Map(Op::Div, [one, b, NodeId::NONE])),
        }
    }
}

fn fused((graph, roots): (Graph, Vec<NodeId>)) -> (Graph, Vec<NodeId>) {
    let fused = |graph: &mut Graph, uses: &Uses<'_>, op: Op, args: &[NodeId]| fuse(graph, uses, op, args);
    rebuild(&graph, &roots, fused)
}

/// A graph as the algebra of primitive operations.
struct Primitive<'a>(&'a mut Graph);

impl Algebra for Primitive<'_> {
    type Value = NodeId;
    fn number(&mut self, x: f64) -> NodeId {
        self.0.constant(x)
    }
    fn operate(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        if op.is_composite() { op.expand(self, args) } else { self.0.apply(op, args) }
    }
}

/// The operation under way: its place in the graph that is read, and how often each node there is read.
struct Uses<'a> {
    node: NodeId,
    graph: &'a Graph,
    counts: &'a [u32],
    /// How many quotients each node divides.
    quotients: &'a [u32],
    to: &'a [Option<NodeId>],
}

/// An addition of a product that nothing else reads, as one operation.
fn fuse(graph: &mut Graph, uses: &Uses<'_>, op: Op, args: &[NodeId]) -> NodeId {
    let Node::Map(_, old) = uses.graph.nodes[uses.node.at()] else { return graph.apply(op, args) };
    let product = |side: usize| match uses.graph.nodes.get(old[side].at()) {
        Some(Node::Map(Op::Mul, [a, b, _]))
            if uses.counts[old[side].at()] == 1 && uses.graph.len(old[side]) == uses.graph.len(uses.node) =>
        {
            Some((uses.to[a.at()]?, uses.to[b.at()]?))
        }
        _ => None,
    };
    match op {
        Op::Add => {
            if let Some((a, b)) = product(1) {
                return graph.apply(Op::MulAdd, &[a, b, args[0]]);
            }
            if let Some((a, b)) = product(0) {
                return graph.apply(Op::MulAdd, &[a, b, args[1]]);
            }
        }
        Op::Sub => {
            if let Some((a, b)) = product(0) {
                return graph.apply(Op::MulSub, &[a, b, args[1]]);
            }
            if let Some((a, b)) = product(1) {
                return graph.apply(Op::SubMul, &[a, b, args[0]]);
            }
        }
        _ => {}
    }
    graph.apply(op, args)
}

/// Copies what `roots` need; `map` makes the operations.
fn rebuild(
    old: &Graph,
    roots: &[NodeId],
    map: impl Fn(&mut Graph, &Uses<'_>, Op, &[NodeId]) -> NodeId + Copy,
) -> (Graph, Vec<NodeId>) {
    let mut new = old.empty_with_its_data();
    let needed = old.needed(roots);
    let mut counts = vec![0; old.nodes.len()];
    let mut quotients = vec![0; old.nodes.len()];
    for id in (0..old.nodes.len()).filter(|&id| needed[id]) {
        old.for_each_operand(&old.nodes[id], |arg| counts[arg.at()] += 1);
        if let Node::Map(Op::Div, [_, divisor, _]) = old.nodes[id] {
            quotients[divisor.at()] += 1;
        }
    }
    for root in roots {
        counts[root.at()] += 1;
    }
    let mut to: Vec<Option<NodeId>> = vec![None; old.nodes.len()];
    for &parameter in &old.parameters {
        let made = new.intern(old.nodes[parameter.at()].clone(), old.len(parameter), true);
        new.parameters.push(made);
        to[parameter.at()] = Some(made);
    }
    // Nodes of a scan's body: where they are in its new body.
    let mut bodies: HashMap<NodeId, Vec<Option<NodeId>>> = HashMap::new();
    for id in (0..old.nodes.len()).filter(|&id| needed[id]) {
        let (node, at, length) = (&old.nodes[id], NodeId(id as u32), old.lengths[id] as usize);
        let new_of = |arg: NodeId| to[arg.at()].unwrap_or(NodeId::NONE);
        let made = match node {
            Node::Constant(_) | Node::Column(_) => new.intern(node.clone(), length, false),
            Node::Unknown(_) => new.constant(f64::NAN),
            Node::Parameter(_) => continue,
            Node::Map(op, args) => {
                let args: Vec<NodeId> = args[..op.arity()].iter().map(|&arg| new_of(arg)).collect();
                let made = map(
                    &mut new,
                    &Uses { node: at, graph: old, counts: &counts, quotients: &quotients, to: &to },
                    *op,
                    &args,
                );
                new.broadcast(made, length)
            }
            Node::Gather(x, index) => new.gather_by(new_of(*x), *index),
            Node::Sum(x) => {
                let rows = old.len(*x);
                new.sum_of_rows(new_of(*x), rows)
            }
            Node::SegmentSum(x, index) => new.segment_sum_by(new_of(*x), *index),
            Node::Slice(x, start, _) => new.slice(new_of(*x), *start as usize, length),
            Node::Concat(pieces) => {
                let pieces: Vec<NodeId> = pieces.iter().map(|&piece| new_of(piece)).collect();
                new.concat(&pieces)
            }
            Node::Matrix(op, args) => {
                let args = args.map(|arg| if arg == NodeId::NONE { arg } else { new_of(arg) });
                new.intern(Node::Matrix(*op, args), length, old.active[id])
            }
            Node::Solve(which, args) => new.intern(Node::Solve(*which, args.map(new_of)), length, old.active[id]),
            Node::Sensitivities(solution) => new.intern(Node::Sensitivities(new_of(*solution)), length, old.active[id]),
            Node::Scan(scan) => {
                let Scan { body, args, steps, reversed } = &old.scans[*scan as usize];
                let asked = old.nodes.iter().enumerate().filter_map(|(reader, node)| match node {
                    Node::Output(scan, inner) if *scan == at && needed[reader] => Some(*inner),
                    _ => None,
                });
                let inner_roots: Vec<NodeId> = body.next.iter().copied().chain(asked).collect();
                let (graph, inner) = rebuild(&body.graph, &inner_roots, map);
                let mut places = vec![None; body.graph.nodes.len()];
                for (old, new) in inner_roots.iter().zip(&inner) {
                    places[old.at()] = Some(*new);
                }
                bodies.insert(at, places);
                let next = inner[..body.states].to_vec();
                let body = Arc::new(Body { graph, states: body.states, next });
                let args = args.iter().map(|&arg| new_of(arg)).collect();
                new.scans.push(Scan { body, args, steps: *steps, reversed: *reversed });
                new.intern(Node::Scan(new.scans.len() as u32 - 1), 0, old.active[id])
            }
            Node::Output(scan, inner) => {
                let place = bodies.get(scan).and_then(|places| places[inner.at()]).unwrap_or(NodeId::NONE);
                new.output(new_of(*scan), place)
            }
        };
        to[id] = Some(made);
    }
    let roots = roots.iter().map(|root| to[root.at()].unwrap_or(NodeId::NONE)).collect();
    (new, roots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::evaluate;

    const ROWS: usize = 20;

    fn position() -> Vec<f64> {
        (0..2 * ROWS + 2).map(|i| 0.5 + 0.37 * ((i * 7 % 11) as f64)).collect()
    }

    /// Returns how many of a lowered density's nodes are this operation, over rows or at all; the values of its roots are the
    /// same but for rounding.
    fn count(graph: &Graph, roots: &[NodeId], op: Op, rows: usize) -> usize {
        let (lowered, made) = lower_density(graph, roots);
        let (values, expected) = (evaluate(&lowered, &made, &position()), evaluate(graph, roots, &position()));
        for (x, y) in values.iter().flatten().zip(expected.iter().flatten()) {
            assert!((x / y - 1.0).abs() < 1e-14, "{x} is not {y}");
        }
        let needed = lowered.needed(&made);
        let is_it = |id: &usize| matches!(lowered.nodes[*id], Node::Map(own, _) if own == op);
        (0..lowered.nodes.len()).filter(|&id| needed[id] && lowered.lengths[id] as usize >= rows).filter(is_it).count()
    }

    #[test]
    fn a_divisor_is_divided_by_once() {
        let mut graph = Graph::new();
        let (x, d, s) = (graph.parameter(ROWS), graph.parameter(ROWS), graph.parameter(1));
        let (one, data) = (graph.constant(1.0), graph.column((1..=ROWS).map(|i| i as f64).collect::<Vec<_>>()));
        let inverse = graph.div(one, d);
        let root = graph.apply(Op::Sqrt, &[inverse]);
        let [by_d, by_inverse, by_root, by_data, by_scalar] =
            [d, inverse, root, data, s].map(|divisor| graph.div(x, divisor));
        let other = graph.div(data, d);
        assert_eq!(count(&graph, &[by_d], Op::Div, 1), 1);
        assert_eq!(count(&graph, &[inverse, by_d, by_inverse, by_root, other], Op::Div, 1), 1);
        assert_eq!(count(&graph, &[by_d, other], Op::Div, 1), 1);
        assert_eq!(count(&graph, &[by_data], Op::Div, 1), 0);
        assert_eq!((count(&graph, &[by_scalar], Op::Div, 1), count(&graph, &[by_scalar], Op::Div, ROWS)), (1, 0));
    }

    #[test]
    fn scalar_factors_of_a_vector_are_one_and_stand_outside_of_sums() {
        let mut graph = Graph::new();
        let (x, y) = (graph.parameter(ROWS), graph.parameter(ROWS));
        let (s, t) = (graph.parameter(1), graph.parameter(1));
        let once = graph.mul(s, x);
        let twice = graph.mul(t, once);
        assert_eq!(count(&graph, &[twice], Op::Mul, ROWS), 1);
        let quotient = graph.div(y, t);
        let sum = graph.dot(twice, quotient);
        assert_eq!((count(&graph, &[sum], Op::Mul, ROWS), count(&graph, &[sum], Op::Div, ROWS)), (1, 0));
    }
}
