//! A solution as two nodes of a graph: the states, and their slopes, which are computed where something reads them.

use super::OdeProblem;
use crate::error::ProgramError;
use crate::evaluate::VectorWidth;
use crate::graph::{Graph, Node, NodeId};
use crate::matrix::Matrix;
use crate::number::Number;
use crate::operation::Op;
use std::sync::Arc;

impl Graph {
    /// Returns the states of a solution at its times, time by time, from the states `initial` on with the values
    /// `parameters`. Where the end is not reached, the density has no value. Besides returns the number of steps, below 0
    /// there, if nothing depends on parameters.
    pub fn solve_ode(&mut self, problem: OdeProblem, initial: NodeId, parameters: NodeId) -> (NodeId, Option<f64>) {
        if let Err(error) = self.check_problem(&problem, initial, parameters) {
            return (self.refuse(error), None);
        }
        let length = problem.length();
        let message = format!(
            "{}: the solution is not followed to its last time: a state is not finite, or it takes more than {} steps \
             between two times, or too much work",
            problem.name, problem.settings.most_steps
        );
        let active = self.active[initial.at()] || self.active[parameters.at()];
        // A program that solves the same twice, in two of its blocks, has it once.
        let which = self.odes.iter().position(|known| **known == problem).unwrap_or_else(|| {
            self.odes.push(Arc::new(problem));
            self.odes.len() - 1
        }) as u32;
        let solution = self.intern(Node::Solve(which, [initial, parameters]), length, active);
        let (steps, zero) = (self.element(solution, 0), self.constant(0.0));
        let is_reached = self.apply(Op::Less, &[zero, steps]);
        self.guard(is_reached, &message);
        let known = self.known(steps).and_then(|steps| steps.first().copied());
        (self.slice(solution, 1, length - 1), known)
    }

    fn check_problem(&self, problem: &OdeProblem, initial: NodeId, parameters: NodeId) -> Result<(), ProgramError> {
        let OdeProblem { system, varying, start, times, .. } = problem;
        let lengths = [(system.states, initial), (system.parameters, parameters)];
        for (expected, node) in lengths {
            if self.len(node) != expected {
                let (first, second) = (expected, self.len(node));
                return Err(ProgramError::Lengths { operation: "an initial value problem", first, second });
            }
        }
        let is_wrong = |text: &str| Err(ProgramError::Ode(text.into()));
        if system.states == 0 || varying.iter().any(|&state| state as usize >= system.states) {
            return is_wrong("there is no such state");
        }
        let in_order =
            times.windows(2).all(|pair| pair[0] <= pair[1]) && times.first().is_some_and(|first| start < first);
        if !in_order || !start.is_finite() || times.iter().any(|time| !time.is_finite()) {
            return is_wrong("times must be finite, above the first one, and in order");
        }
        let length = problem.slopes_length().max(problem.length());
        if length > MOST_ELEMENTS {
            return Err(ProgramError::TooLong { operation: "slopes of a solution", length, most: MOST_ELEMENTS });
        }
        Ok(())
    }

    /// The adjoints of the first states and of the parameters, given those of the solution: the slopes, turned, times
    /// those of the states.
    pub(crate) fn solution_adjoints(&mut self, solution: NodeId, adjoint: NodeId) -> Vec<(NodeId, NodeId)> {
        let Node::Solve(which, [initial, parameters]) = self.nodes[solution.at()] else { return Vec::new() };
        let problem = self.odes[which as usize].clone();
        let directions = problem.directions();
        if directions == 0 {
            return Vec::new();
        }
        let rows = problem.length() - 1;
        let adjoint = self.broadcast(adjoint, rows + 1);
        let of_states = self.slice(adjoint, 1, rows);
        let slopes = self.intern(Node::Sensitivities(solution), problem.slopes_length(), true);
        let all = self.product(Matrix::new(slopes, rows, directions).t(), Matrix::new(of_states, rows, 1));
        let (varying, states) = (problem.varying.len(), problem.states());
        let first = self.slice(all, 0, varying);
        let of_initial = self.segment_sum(first, problem.varying.clone(), states);
        let of_parameters = self.slice(all, varying, directions - varying);
        let mut made = Vec::new();
        if varying > 0 {
            made.push((initial, of_initial));
        }
        if directions > varying {
            made.push((parameters, of_parameters));
        }
        made
    }
}

/// Elements of the largest table of slopes.
const MOST_ELEMENTS: usize = 1 << 26;

impl OdeProblem {
    /// The solution for numbers of any type, and its slopes if something reads them. Numbers with slopes get them from
    /// those of the solution; the slopes themselves have none.
    pub(crate) fn solve_plainly<N: Number>(&self, initial: &[N], parameters: &[N], slopes: bool) -> (Vec<N>, Vec<N>) {
        let plain = |numbers: &[N]| numbers.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let of_f64 = |numbers: &[f64]| numbers.iter().map(|&x| N::from_f64(x)).collect::<Vec<N>>();
        let with_slopes = (slopes || N::HAS_SLOPE) && self.directions() > 0;
        let mut out = vec![0.0; self.length()];
        let mut found = vec![0.0; if with_slopes { self.slopes_length() } else { 0 }];
        let inputs = (&plain(initial)[..], &plain(parameters)[..]);
        self.solve(
            &mut self.scratch(with_slopes),
            VectorWidth::Baseline,
            inputs,
            &mut out,
            with_slopes.then_some(&mut found),
        );
        let mut states = of_f64(&out);
        if N::HAS_SLOPE && with_slopes {
            let varying = self.varying.iter().map(|&state| initial[state as usize]);
            let directions: Vec<N> =
                varying.chain(parameters.iter().copied()).map(|x| x - N::from_f64(x.to_f64())).collect();
            for (state, slopes) in states[1..].iter_mut().zip(found.chunks(directions.len())) {
                for (&slope, &direction) in slopes.iter().zip(&directions) {
                    *state = *state + N::from_f64(slope) * direction;
                }
            }
        }
        (states, of_f64(&found))
    }
}
