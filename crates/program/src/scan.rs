//! Scans: a small program of scalars that carries its state from step to step.
//!
//! Only the recurrence stays in a scan. What a step computes without the state becomes operations on vectors before it,
//! and what no later state needs becomes operations on vectors after it. The backward scan of the derivatives is made by
//! the same rule: its expensive parts are vectors too, and a linear recurrence of the adjoints is left.

use crate::error::ProgramError;
use crate::graph::{Graph, MOST, Node, NodeId};
use std::sync::Arc;

/// More states than this have no matrix of derivatives.
const MOST_IN_MATRIX: usize = 32;

/// One step of a scan: parameters of the graph are the states, then the inputs.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) graph: Graph,
    pub(crate) states: usize,
    /// The states after the step.
    pub(crate) next: Vec<NodeId>,
}

/// A body with what it is applied to.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) body: Arc<Body>,
    /// First states, then inputs: vectors with an element for each step, or scalars.
    pub(crate) args: Vec<NodeId>,
    pub(crate) steps: usize,
    /// Whether the last step comes first.
    pub(crate) reversed: bool,
}

/// What a step returns: the next states, and values that are kept of each step.
#[derive(Clone, Debug, Default)]
pub struct ScanStep {
    /// The states that the next step begins with.
    pub next: Vec<NodeId>,
    /// Values of which the whole program gets a vector, an element for each step.
    pub outputs: Vec<NodeId>,
}

impl Graph {
    /// Runs `step` for each of `steps` steps, and returns its outputs: vectors with an element for each step.
    ///
    /// `initial` are the first states, scalars. `inputs` are vectors with an element for each step, or scalars. `step`
    /// gets the body's own graph with its states and inputs there, and may use operations on scalars only.
    pub fn scan(
        &mut self,
        steps: usize,
        initial: &[NodeId],
        inputs: &[NodeId],
        step: impl FnOnce(&mut Graph, &[NodeId], &[NodeId]) -> ScanStep,
    ) -> Vec<NodeId> {
        let mut body = Graph::new();
        let parameters: Vec<NodeId> = (0..initial.len() + inputs.len()).map(|_| body.parameter(1)).collect();
        let (states, values) = parameters.split_at(initial.len());
        let made = step(&mut body, states, values);
        let body = Body { graph: body, states: initial.len(), next: made.next };
        self.run_body(body, &made.outputs, steps, &[initial, inputs].concat(), false)
    }

    /// Refuses a scan that is none.
    fn check_body(&self, body: &Body, outputs: &[NodeId], steps: usize, args: &[NodeId]) -> Result<(), ProgramError> {
        let refuse = |text: String| Err(ProgramError::Scan(text));
        if let Some(error) = body.graph.fault() {
            return Err(error.clone());
        }
        if body.next.len() != body.states {
            return refuse(format!("{} states, but the step returns {} next states", body.states, body.next.len()));
        }
        if steps > MOST {
            return Err(ProgramError::TooLong { operation: "scan", length: steps, most: MOST });
        }
        let is_scalar = |node: &Node| matches!(node, Node::Constant(_) | Node::Parameter(_) | Node::Map(..));
        let needed = body.graph.needed(&[&body.next, outputs].concat());
        if body.graph.nodes.iter().zip(needed).any(|(node, needed)| needed && !is_scalar(node)) {
            return refuse("a step has operations on scalars only".into());
        }
        for (k, &arg) in args.iter().enumerate() {
            let length = self.len(arg);
            if length != 1 && (k < body.states || length != steps) {
                let kind = if k < body.states { "state" } else { "input" };
                return refuse(format!("{kind} {k} has {length} elements, and there are {steps} steps"));
            }
        }
        Ok(())
    }

    /// Splits a body in what comes before, the recurrence, and what comes after.
    pub(crate) fn run_body(
        &mut self,
        body: Body,
        outputs: &[NodeId],
        steps: usize,
        args: &[NodeId],
        reversed: bool,
    ) -> Vec<NodeId> {
        if let Err(error) = self.check_body(&body, outputs, steps, args) {
            let nan = self.refuse(error);
            return vec![nan; outputs.len()];
        }
        if steps == 0 {
            let empty = self.column(Vec::new());
            return vec![empty; outputs.len()];
        }
        let inner = &body.graph;
        let wanted = inner.needed(&[&body.next, outputs].concat());
        let recurrent = inner.needed(&body.next);
        let carried = carried(&body);
        let is_core = |id: NodeId| carried[id.at()] && recurrent[id.at()];

        // Before: what needs no state.
        let mut outside: Vec<Option<NodeId>> = vec![None; inner.nodes.len()];
        for id in (0..inner.nodes.len()).filter(|&id| wanted[id] && !carried[id]) {
            outside[id] = Some(match &inner.nodes[id] {
                Node::Constant(bits) => self.constant(f64::from_bits(*bits)),
                Node::Parameter(k) => args[*k as usize],
                node => self.outside(node, &outside),
            });
        }

        // The recurrence: carried nodes that a later state needs, with what they read.
        let mut core = Graph::new();
        let mut core_args = args[..body.states].to_vec();
        let mut to: Vec<Option<NodeId>> = vec![None; inner.nodes.len()];
        for k in 0..body.states {
            to[inner.parameters[k].at()] = Some(core.parameter(1));
        }
        for &root in &body.next {
            if !is_core(root) {
                bring_in(root, inner, &outside, &mut core, &mut core_args, &mut to);
            }
        }
        for id in (0..inner.nodes.len()).map(|id| NodeId(id as u32)).filter(|&id| is_core(id)) {
            let Node::Map(op, operands) = &inner.nodes[id.at()] else { continue };
            let mut mapped = [NodeId::NONE; 3];
            for (mapped, &operand) in mapped.iter_mut().zip(&operands[..op.arity()]) {
                *mapped = bring_in(operand, inner, &outside, &mut core, &mut core_args, &mut to);
            }
            to[id.at()] = Some(core.apply(*op, &mapped[..op.arity()]));
        }
        let next = body.next.iter().filter_map(|root| to[root.at()]).collect();
        let active = core_args.iter().any(|&arg| self.active[arg.at()]);
        let scan =
            Scan { body: Arc::new(Body { graph: core, states: body.states, next }), args: core_args, steps, reversed };
        self.scans.push(scan);
        let scan = self.intern(Node::Scan(self.scans.len() as u32 - 1), 0, active);

        // After: what needs a state, and no later state needs.
        for id in (0..inner.nodes.len()).filter(|&id| wanted[id] && carried[id]) {
            let is_after = !is_core(NodeId(id as u32)) && !matches!(inner.nodes[id], Node::Parameter(_));
            outside[id] = match to[id] {
                _ if is_after => Some(self.outside(&inner.nodes[id], &outside)),
                Some(core) => Some(self.output(scan, core)),
                None => None,
            };
        }
        let nan = |graph: &mut Self| graph.constant(f64::NAN);
        outputs
            .iter()
            .map(|output| {
                let value = outside[output.at()].unwrap_or_else(|| nan(self));
                self.broadcast(value, steps)
            })
            .collect()
    }

    /// The value of a node of a scan's body at each step.
    pub(crate) fn output(&mut self, scan: NodeId, inner: NodeId) -> NodeId {
        let Node::Scan(which) = self.nodes[scan.at()] else { return self.constant(f64::NAN) };
        let (steps, active) = (self.scans[which as usize].steps, self.active[scan.at()]);
        self.intern(Node::Output(scan, inner), steps, active)
    }

    fn outside(&mut self, node: &Node, outside: &[Option<NodeId>]) -> NodeId {
        let Node::Map(op, operands) = node else { return self.constant(f64::NAN) };
        let mapped: Vec<NodeId> = operands[..op.arity()].iter().filter_map(|operand| outside[operand.at()]).collect();
        self.apply(*op, &mapped)
    }

    /// Makes the backward scan of `scan`: `adjoints` are the adjoints of some values of its body, an element for each
    /// step or a scalar. Returns the adjoint of each operand that depends on a parameter.
    pub(crate) fn backward_scan(&mut self, scan: NodeId, adjoints: &[(NodeId, NodeId)]) -> Vec<(NodeId, NodeId)> {
        let Node::Scan(which) = self.nodes[scan.at()] else { return Vec::new() };
        let Scan { body, args, steps, reversed } = self.scans[which as usize].clone();
        let states = body.states;

        // The body with the adjoints of its results as further parameters.
        let mut graph = body.graph.clone();
        let forward = graph.nodes.len();
        let of_states: Vec<NodeId> = (0..states).map(|_| graph.parameter(1)).collect();
        let of_values: Vec<NodeId> = adjoints.iter().map(|_| graph.parameter(1)).collect();
        let results = body.next.iter().zip(&of_states).map(|(&value, &adjoint)| (value, adjoint));
        let values = adjoints.iter().zip(&of_values).map(|(&(value, _), &adjoint)| (value, adjoint));
        let seeds: Vec<(NodeId, NodeId)> = results.chain(values).collect();
        let is_wanted = |k: usize| k < states || self.active[args[k].at()];
        let wanted: Vec<usize> = (0..args.len()).filter(|&k| is_wanted(k)).collect();
        let parameters: Vec<NodeId> = wanted.iter().map(|&k| graph.parameters[k]).collect();
        let slopes = graph.adjoints(&seeds, &parameters);
        let zero = graph.constant(0.0);
        let mut slopes: Vec<NodeId> = slopes.into_iter().map(|slope| slope.unwrap_or(zero)).collect();
        let size = graph.nodes.len() - forward;
        if let Some(linear) = linear_step(&mut graph, &body.next, &seeds, states, size) {
            slopes[..states].copy_from_slice(&linear);
        }

        // The backward body: what it reads of the forward one are inputs.
        let mut back = Graph::new();
        let mut to: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
        let mut back_args = Vec::new();
        for &state in &of_states {
            to[state.at()] = Some(back.parameter(1));
            back_args.push(self.constant(0.0));
        }
        for (&value, &(_, adjoint)) in of_values.iter().zip(adjoints) {
            to[value.at()] = Some(back.parameter(1));
            back_args.push(adjoint);
        }
        let read = read_of_forward(&graph, &slopes, forward);
        for id in (0..forward).filter(|&id| read[id]) {
            to[id] = Some(match &graph.nodes[id] {
                Node::Constant(bits) => back.constant(f64::from_bits(*bits)),
                Node::Parameter(k) if *k as usize >= states => {
                    back_args.push(args[*k as usize]);
                    back.parameter(1)
                }
                _ => {
                    back_args.push(self.output(scan, NodeId(id as u32)));
                    back.parameter(1)
                }
            });
        }
        for id in forward..graph.nodes.len() {
            to[id] = match &graph.nodes[id] {
                _ if !read[id] => to[id],
                Node::Constant(bits) => Some(back.constant(f64::from_bits(*bits))),
                Node::Map(op, operands) => {
                    let mapped: Vec<NodeId> =
                        operands[..op.arity()].iter().filter_map(|operand| to[operand.at()]).collect();
                    Some(back.apply(*op, &mapped))
                }
                _ => to[id],
            };
        }
        let slopes: Vec<NodeId> = slopes.iter().filter_map(|slope| to[slope.at()]).collect();
        let back = Body { graph: back, states, next: slopes[..states].to_vec() };
        let made = self.run_body(back, &slopes, steps, &back_args, !reversed);

        // The adjoint of a first state is the last one that the backward scan has.
        let last = if reversed { steps - 1 } else { 0 };
        let mut result = Vec::new();
        for (&k, &slope) in wanted.iter().zip(&made) {
            if !self.active[args[k].at()] {
                continue;
            }
            let slope = if k < states { self.element(slope, last) } else { slope };
            result.push((args[k], slope));
        }
        result
    }
}

/// The backward step of the states as their matrix of derivatives times the adjoints, plus what the step's other values
/// give. The matrix and the rest depend on no adjoint of a state, so that they are vectors before the backward scan, and a
/// product and a sum are left in it. None where the matrix would be much larger than the step.
fn linear_step(
    graph: &mut Graph,
    next: &[NodeId],
    seeds: &[(NodeId, NodeId)],
    states: usize,
    size: usize,
) -> Option<Vec<NodeId>> {
    if states > MOST_IN_MATRIX {
        return None;
    }
    let by: Vec<NodeId> = graph.parameters[..states].to_vec();
    let before = graph.nodes.len();
    let (one, zero) = (graph.constant(1.0), graph.constant(0.0));
    let rest = graph.adjoints(&seeds[states..], &by);
    let mut sums: Vec<NodeId> = rest.into_iter().map(|slope| slope.unwrap_or(zero)).collect();
    let mut rows = Vec::with_capacity(states);
    for &value in next {
        rows.push(graph.adjoints(&[(value, one)], &by));
        if graph.nodes.len() - before > 4 * size + 16 {
            return None;
        }
    }
    for (row, &(_, adjoint)) in rows.into_iter().zip(seeds) {
        for (sum, derivative) in sums.iter_mut().zip(row) {
            if let Some(derivative) = derivative {
                let product = graph.mul(derivative, adjoint);
                *sum = graph.add(*sum, product);
            }
        }
    }
    Some(sums)
}

/// Whether a node depends on a state.
fn carried(body: &Body) -> Vec<bool> {
    let mut carried = vec![false; body.graph.nodes.len()];
    for (id, node) in body.graph.nodes.iter().enumerate() {
        carried[id] = match node {
            Node::Parameter(k) => (*k as usize) < body.states,
            Node::Map(op, args) => args[..op.arity()].iter().any(|arg| carried[arg.at()]),
            _ => false,
        };
    }
    carried
}

/// The node of the recurrence that stands for a node of the body; values from outside become its inputs.
fn bring_in(
    id: NodeId,
    inner: &Graph,
    outside: &[Option<NodeId>],
    core: &mut Graph,
    core_args: &mut Vec<NodeId>,
    to: &mut [Option<NodeId>],
) -> NodeId {
    if let Some(known) = to[id.at()] {
        return known;
    }
    let made = match (&inner.nodes[id.at()], outside[id.at()]) {
        (Node::Constant(bits), _) => core.constant(f64::from_bits(*bits)),
        (_, Some(value)) => {
            core_args.push(value);
            core.parameter(1)
        }
        // Operands come before what reads them, so that this is not reached.
        (_, None) => core.constant(f64::NAN),
    };
    to[id.at()] = Some(made);
    made
}

/// The nodes that `roots` need, where nothing below a node of the forward body is asked for.
fn read_of_forward(graph: &Graph, roots: &[NodeId], forward: usize) -> Vec<bool> {
    let mut read = vec![false; graph.nodes.len()];
    for root in roots {
        read[root.at()] = true;
    }
    for id in (forward..graph.nodes.len()).rev() {
        if read[id] {
            graph.for_each_operand(&graph.nodes[id], |arg| read[arg.at()] = true);
        }
    }
    read
}
