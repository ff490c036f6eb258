//! A scan, step by step: operations on a small file of registers, several of a kind at once.

use super::rows::Inputs;
use super::{EvaluationOptions, Workspace};
use crate::number::Number;
use crate::operation::{Lanes, Op, kernel};
use crate::plan::{PackedProgram, RegisterGroup, ScanStepPlan};
use pulp::{Simd, WithSimd};
use std::mem;

/// Registers that a file of fixed size has: no index is checked there.
const FEW_REGISTERS: usize = 256;
/// Inputs whose memory is looked up once for all steps.
const MOST_VIEWS: usize = 64;

/// The memory of the largest scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanScratch {
    registers: Vec<f64>,
    next: Vec<f64>,
    outputs: Vec<Vec<f64>>,
}

impl ScanScratch {
    pub(crate) fn new<'a>(scans: impl Iterator<Item = &'a ScanStepPlan> + Clone) -> Self {
        let most = |of: &dyn Fn(&ScanStepPlan) -> usize| scans.clone().map(of).max().unwrap_or(0);
        let registers = most(&|scan| scan.registers);
        Self {
            registers: vec![0.0; registers.max(FEW_REGISTERS)],
            next: vec![0.0; most(&|scan| scan.next.len())],
            outputs: Vec::with_capacity(most(&|scan| scan.outputs.len())),
        }
    }
}

impl Workspace {
    pub(crate) fn run_scan(
        &mut self,
        plan: &PackedProgram,
        scan: &ScanStepPlan,
        options: EvaluationOptions,
        position: &[f64],
    ) {
        let mut scratch = mem::take(&mut self.scan);
        scratch.outputs.extend(scan.outputs.iter().map(|&(_, slot)| mem::take(&mut self.slots[slot as usize])));
        let inputs = self.inputs(plan, position);
        let ScanScratch { registers, next, outputs } = &mut scratch;
        match registers.first_chunk_mut::<FEW_REGISTERS>() {
            Some(registers) if scan.registers <= FEW_REGISTERS => {
                options.width.run(Steps { scan, inputs, registers, next, outputs });
            }
            _ => options.width.run(Steps { scan, inputs, registers: &mut registers[..], next, outputs }),
        }
        for (values, &(_, slot)) in scratch.outputs.drain(..).zip(&scan.outputs) {
            self.slots[slot as usize] = values;
        }
        self.scan = scratch;
    }
}

/// Memory of registers.
trait RegisterFile {
    fn get(&self, register: u32) -> f64;
    fn set(&mut self, register: u32, value: f64);
}

impl RegisterFile for [f64; FEW_REGISTERS] {
    #[inline(always)]
    fn get(&self, register: u32) -> f64 {
        self[register as usize % FEW_REGISTERS]
    }
    #[inline(always)]
    fn set(&mut self, register: u32, value: f64) {
        self[register as usize % FEW_REGISTERS] = value;
    }
}

impl RegisterFile for [f64] {
    #[inline(always)]
    fn get(&self, register: u32) -> f64 {
        self[register as usize]
    }
    #[inline(always)]
    fn set(&mut self, register: u32, value: f64) {
        self[register as usize] = value;
    }
}

/// All steps of a scan, compiled for each width of vectors.
struct Steps<'a, R: ?Sized> {
    scan: &'a ScanStepPlan,
    inputs: Inputs<'a>,
    registers: &'a mut R,
    next: &'a mut [f64],
    outputs: &'a mut [Vec<f64>],
}

impl<R: RegisterFile + ?Sized> WithSimd for Steps<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { scan, inputs, registers, next, outputs } = self;
        let mut register = 0;
        for &scalar in &scan.initial {
            registers.set(register, inputs.scalars[scalar as usize]);
            register += 1;
        }
        let first_input = register;
        register += scan.vectors.len() as u32;
        for &scalar in &scan.scalars {
            registers.set(register, inputs.scalars[scalar as usize]);
            register += 1;
        }
        for &constant in &scan.constants {
            registers.set(register, constant);
            register += 1;
        }
        let mut views: [&[f64]; MOST_VIEWS] = [&[]; MOST_VIEWS];
        let (near, far) = scan.vectors.split_at(scan.vectors.len().min(MOST_VIEWS));
        for (view, &of) in views.iter_mut().zip(near) {
            *view = inputs.view(of, scan.steps);
        }
        let views = &views[..near.len()];
        if let Some(single) = Single::of(scan, inputs.scalars, views) {
            single.run(scan, registers.get(0), outputs);
            return;
        }
        for step in 0..scan.steps {
            let at = if scan.reversed { scan.steps - 1 - step } else { step };
            let mut register = first_input;
            for view in views {
                registers.set(register, view[at]);
                register += 1;
            }
            for &view in far {
                registers.set(register, inputs.view(view, scan.steps)[at]);
                register += 1;
            }
            for group in &scan.code {
                run_group(group, &scan.operands, registers);
            }
            for (values, &(register, _)) in outputs.iter_mut().zip(&scan.outputs) {
                values[at] = registers.get(register);
            }
            if scan.moves_states {
                for (to, &register) in next.iter_mut().zip(&scan.next) {
                    *to = registers.get(register);
                }
                for (k, &value) in next[..scan.next.len()].iter().enumerate() {
                    registers.set(k as u32, value);
                }
            } else {
                for (k, &register) in scan.next.iter().enumerate() {
                    registers.set(k as u32, registers.get(register));
                }
            }
        }
    }
}

/// A step of one state and one operation, a product with the state and a sum: most backward scans, and linear recurrences.
struct Single<'a> {
    op: Op,
    factor: Lanes<'a>,
    term: Lanes<'a>,
}

impl<'a> Single<'a> {
    #[inline(always)]
    fn of(scan: &ScanStepPlan, scalars: &[f64], views: &[&'a [f64]]) -> Option<Self> {
        let &[RegisterGroup { op, args: [a, b, c], count: 1, out, .. }] = &scan.code[..] else { return None };
        let is_linear = matches!(op, Op::MulAdd | Op::MulSub | Op::SubMul) && scan.next == [out];
        let factor = if a == 0 { b } else { a };
        let own_outputs = scan.outputs.iter().all(|&(register, _)| register == 0 || register == out);
        if !is_linear || !own_outputs || (a != 0 && b != 0) || factor == 0 || c == 0 {
            return None;
        }
        let lanes = |register: u32| {
            let at = register as usize - 1;
            match at.checked_sub(scan.vectors.len()) {
                None => views.get(at).map(|&view| Lanes::Each(view)),
                Some(at) => match scan.scalars.get(at) {
                    Some(&scalar) => Some(Lanes::Same(scalars[scalar as usize])),
                    None => scan.constants.get(at - scan.scalars.len()).map(|&x| Lanes::Same(x)),
                },
            }
        };
        Some(Self { op, factor: lanes(factor)?, term: lanes(c)? })
    }

    #[inline(always)]
    fn run(&self, scan: &ScanStepPlan, initial: f64, outputs: &mut [Vec<f64>]) {
        let at = |lanes: Lanes<'_>, at: usize| match lanes {
            Lanes::Same(x) => x,
            Lanes::Each(values) => values[at],
        };
        let mut state = initial;
        for step in 0..scan.steps {
            let row = if scan.reversed { scan.steps - 1 - step } else { step };
            let product = at(self.factor, row) * state;
            let term = at(self.term, row);
            let next = match self.op {
                Op::MulAdd => product + term,
                Op::MulSub => product - term,
                _ => term - product,
            };
            for (values, &(register, _)) in outputs.iter_mut().zip(&scan.outputs) {
                values[row] = if register == 0 { state } else { next };
            }
            state = next;
        }
    }
}

/// One operation on the registers of a group. Frequent ones are inlined; functions of several registers are done as
/// vectors.
#[inline(always)]
fn run_group<R: RegisterFile + ?Sized>(group: &RegisterGroup, operands: &[[u32; 3]], registers: &mut R) {
    macro_rules! each {
        (|$a:ident| $value:expr) => {{
            let [a, _, _] = group.args;
            let $a = registers.get(a);
            registers.set(group.out, $value);
            if group.count > 1 {
                let all = &operands[group.first as usize..(group.first + group.count) as usize];
                for (out, &[a, _, _]) in (group.out + 1..).zip(&all[1..]) {
                    let $a = registers.get(a);
                    registers.set(out, $value);
                }
            }
        }};
        (|$a:ident, $b:ident| $value:expr) => {{
            let [a, b, _] = group.args;
            let ($a, $b) = (registers.get(a), registers.get(b));
            registers.set(group.out, $value);
            if group.count > 1 {
                let all = &operands[group.first as usize..(group.first + group.count) as usize];
                for (out, &[a, b, _]) in (group.out + 1..).zip(&all[1..]) {
                    let ($a, $b) = (registers.get(a), registers.get(b));
                    registers.set(out, $value);
                }
            }
        }};
        (|$a:ident, $b:ident, $c:ident| $value:expr) => {{
            let [a, b, c] = group.args;
            let ($a, $b, $c) = (registers.get(a), registers.get(b), registers.get(c));
            registers.set(group.out, $value);
            if group.count > 1 {
                let all = &operands[group.first as usize..(group.first + group.count) as usize];
                for (out, &[a, b, c]) in (group.out + 1..).zip(&all[1..]) {
                    let ($a, $b, $c) = (registers.get(a), registers.get(b), registers.get(c));
                    registers.set(out, $value);
                }
            }
        }};
    }
    match group.op {
        Op::Add => each!(|a, b| a + b),
        Op::Sub => each!(|a, b| a - b),
        Op::Mul => each!(|a, b| a * b),
        Op::Div => each!(|a, b| a / b),
        Op::Neg => each!(|a| -a),
        Op::Sqrt => each!(|a| Number::sqrt(a)),
        Op::MulAdd => each!(|a, b, c| a * b + c),
        Op::MulSub => each!(|a, b, c| a * b - c),
        Op::SubMul => each!(|a, b, c| c - a * b),
        Op::Select => each!(|a, b, c| if a != 0.0 { b } else { c }),
        Op::Less => each!(|a, b| if a < b { 1.0 } else { 0.0 }),
        Op::Max => each!(|a, b| if b < a { a } else { b }),
        Op::Min => each!(|a, b| if a < b { a } else { b }),
        Op::Exp => functions(Op::Exp, group, operands, registers),
        Op::Ln => functions(Op::Ln, group, operands, registers),
        Op::ExpMinusAbs => functions(Op::ExpMinusAbs, group, operands, registers),
        Op::AddPositive => each!(|a, b| a + if 0.0 < b { b } else { 0.0 }),
        Op::WhereNegative => each!(|a, b| if b < 0.0 { a } else { 1.0 }),
        op => each!(|a, b, c| rare(op, a, b, c)),
    }
}

#[inline(never)]
fn rare(op: Op, a: f64, b: f64, c: f64) -> f64 {
    op.value([a, b, c])
}

/// A function of one number, of several registers at once.
#[inline(always)]
fn functions<R: RegisterFile + ?Sized>(op: Op, group: &RegisterGroup, operands: &[[u32; 3]], registers: &mut R) {
    if group.count == 1 {
        let a = registers.get(group.args[0]);
        registers.set(group.out, op.value([a, 0.0, 0.0]));
        return;
    }
    let mut out = group.out;
    let operands = &operands[group.first as usize..(group.first + group.count) as usize];
    for operands in operands.chunks(8) {
        if operands.len() <= 4 {
            functions_of::<4, R>(op, operands, out, registers);
        } else {
            functions_of::<8, R>(op, operands, out, registers);
        }
        out += operands.len() as u32;
    }
}

#[inline(always)]
fn functions_of<const N: usize, R: RegisterFile + ?Sized>(op: Op, operands: &[[u32; 3]], out: u32, registers: &mut R) {
    // Taken together in the processor: numbers that are written one by one and read as a vector would wait for memory.
    let from: [f64; N] = std::array::from_fn(|k| registers.get(operands[k.min(operands.len() - 1)][0]));
    let mut to = [0.0; N];
    kernel(op, &mut to, [Lanes::Each(&from), Lanes::Same(0.0), Lanes::Same(0.0)]);
    for (k, &to) in to[..operands.len().min(N)].iter().enumerate() {
        registers.set(out + k as u32, to);
    }
}
