//! Scalar arithmetic as a list of instructions on registers: what a solver evaluates thousands of times.

use crate::error::ProgramError;
use crate::evaluate::scalar;
use crate::graph::{Graph, NodeId};
use crate::lower::lower;
use crate::operation::Op;
use crate::pack::pack;
use crate::plan::{PlanStep, RootPlace, ScalarInstruction};

/// An operation on registers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TapeInstruction {
    op: Op,
    out: u32,
    args: [u32; 3],
}

/// A program of scalars whose inputs are a time, states and parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tape {
    /// Registers at the beginning: constants have their values.
    registers: Vec<f64>,
    time: Option<u32>,
    /// States that are read, with their registers; parameters in the same way.
    states: Vec<(u32, u32)>,
    parameters: Vec<(u32, u32)>,
    /// What depends on parameters alone: done once for a solution.
    once: Vec<TapeInstruction>,
    each: Vec<TapeInstruction>,
    /// The register of each result.
    pub(super) outputs: Vec<u32>,
}

impl Tape {
    /// Compiles `roots` of a graph of scalars, whose parameters are the time, `states` states, and parameters.
    pub(super) fn new(graph: &Graph, roots: &[NodeId], states: usize) -> Result<Self, ProgramError> {
        let (graph, roots) = lower(graph, roots);
        let plan = pack(&graph, &roots);
        let mut tape = Self {
            registers: plan.scalars,
            time: None,
            states: Vec::new(),
            parameters: Vec::new(),
            once: Vec::new(),
            each: Vec::new(),
            outputs: Vec::with_capacity(roots.len()),
        };
        // Whether a register changes with the time or the states.
        let mut changes = vec![false; tape.registers.len()];
        for (offset, register) in plan.parameters {
            match (offset as usize).checked_sub(1 + states) {
                Some(parameter) => tape.parameters.push((parameter as u32, register)),
                None => {
                    changes[register as usize] = true;
                    match offset.checked_sub(1) {
                        None => tape.time = Some(register),
                        Some(state) => tape.states.push((state, register)),
                    }
                }
            }
        }
        for step in plan.steps {
            let PlanStep::Scalars(code) = step else { return Err(not_scalar()) };
            for instruction in code {
                let ScalarInstruction::Map { op, out, args } = instruction else { return Err(not_scalar()) };
                let own = args[..op.arity()].iter().any(|&arg| changes[arg as usize]);
                changes[out as usize] = own;
                if own { &mut tape.each } else { &mut tape.once }.push(TapeInstruction { op, out, args });
            }
        }
        for root in plan.roots {
            let RootPlace::Scalar(register) = root else { return Err(not_scalar()) };
            tape.outputs.push(register);
        }
        Ok(tape)
    }

    /// Registers for one solution at a time.
    pub(super) fn registers(&self) -> Vec<f64> {
        self.registers.clone()
    }

    /// Operations of an evaluation.
    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    /// Begins a solution.
    pub(super) fn begin(&self, registers: &mut [f64], parameters: &[f64]) {
        for &(parameter, register) in &self.parameters {
            registers[register as usize] = parameters[parameter as usize];
        }
        run(&self.once, registers);
    }

    /// Evaluates at a time and a state; results are in their registers.
    #[inline(always)]
    pub(super) fn evaluate(&self, registers: &mut [f64], time: f64, states: &[f64]) {
        if let Some(register) = self.time {
            registers[register as usize] = time;
        }
        for &(state, register) in &self.states {
            registers[register as usize] = states[state as usize];
        }
        run(&self.each, registers);
    }
}

#[inline(always)]
fn run(code: &[TapeInstruction], registers: &mut [f64]) {
    for &TapeInstruction { op, out, args: [a, b, c] } in code {
        registers[out as usize] = scalar(op, [registers[a as usize], registers[b as usize], registers[c as usize]]);
    }
}

fn not_scalar() -> ProgramError {
    ProgramError::Ode("the right-hand side is more than operations on numbers".into())
}
