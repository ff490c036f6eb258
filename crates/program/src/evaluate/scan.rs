//! A scan, step by step: a short list of operations on registers. Inputs are laid out by step before, outputs after.

use super::Workspace;
use crate::plan::{PackedProgram, ScanStepPlan};
use std::mem;

/// The memory of the largest scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanScratch {
    registers: Vec<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    next: Vec<f64>,
}

impl ScanScratch {
    pub(crate) fn new<'a>(scans: impl Iterator<Item = &'a ScanStepPlan> + Clone) -> Self {
        let most = |of: &dyn Fn(&ScanStepPlan) -> usize| scans.clone().map(of).max().unwrap_or(0);
        Self {
            registers: vec![0.0; most(&|scan| scan.registers)],
            inputs: vec![0.0; most(&|scan| scan.steps * scan.vectors.len())],
            outputs: vec![0.0; most(&|scan| scan.steps * scan.outputs.len())],
            next: vec![0.0; most(&|scan| scan.next.len())],
        }
    }
}

impl Workspace {
    pub(crate) fn run_scan(&mut self, plan: &PackedProgram, scan: &ScanStepPlan, position: &[f64]) {
        let mut scratch = mem::take(&mut self.scan);
        let (states, vectors, outputs) = (scan.initial.len(), scan.vectors.len(), scan.outputs.len());
        let read = self.inputs(plan, position);
        for (k, &view) in scan.vectors.iter().enumerate() {
            let values = read.view(view, scan.steps);
            for (to, &x) in scratch.inputs[k..].iter_mut().step_by(vectors).zip(values) {
                *to = x;
            }
        }
        let registers = &mut scratch.registers[..scan.registers];
        for (register, &scalar) in registers.iter_mut().zip(&scan.initial) {
            *register = self.scalars[scalar as usize];
        }
        let fixed =
            scan.scalars.iter().map(|&scalar| self.scalars[scalar as usize]).chain(scan.constants.iter().copied());
        for (register, x) in registers[states + vectors..].iter_mut().zip(fixed) {
            *register = x;
        }
        for step in 0..scan.steps {
            let at = if scan.reversed { scan.steps - 1 - step } else { step };
            registers[states..states + vectors].copy_from_slice(&scratch.inputs[at * vectors..(at + 1) * vectors]);
            for code in &scan.code {
                let value = code.op.value(code.args.map(|arg| registers[arg as usize]));
                registers[code.out as usize] = value;
            }
            let row = &mut scratch.outputs[at * outputs..(at + 1) * outputs];
            for (to, &(register, _)) in row.iter_mut().zip(&scan.outputs) {
                *to = registers[register as usize];
            }
            // All at once: a next state may be another state.
            for (to, &register) in scratch.next.iter_mut().zip(&scan.next) {
                *to = registers[register as usize];
            }
            registers[..states].copy_from_slice(&scratch.next[..states]);
        }
        for (k, &(_, slot)) in scan.outputs.iter().enumerate() {
            let values = scratch.outputs[k..].iter().step_by(outputs);
            for (to, &x) in self.slots[slot as usize].iter_mut().zip(values) {
                *to = x;
            }
        }
        self.scan = scratch;
    }
}
