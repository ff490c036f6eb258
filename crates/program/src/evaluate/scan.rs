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
        if let Some(chain) = Chain::of(scan, inputs.scalars, views) {
            chain.run(scan, registers.get(0), outputs);
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

/// Operations of a step that is a chain.
const MOST_LINKS: usize = 8;

/// An operand of a link.
#[derive(Clone, Copy)]
enum LinkOperand<'a> {
    /// The state before the step.
    State,
    /// The result of the link before.
    Before,
    Input(Lanes<'a>),
}

/// An operation on the result of the one before and inputs.
#[derive(Clone, Copy)]
struct Link<'a> {
    op: Op,
    operands: [LinkOperand<'a>; 3],
    /// The output that has its values.
    output: Option<usize>,
}

/// A step of one state through which one value goes, from operation to operation: it stays in the processor, where the
/// registers of a step would be written and read.
struct Chain<'a> {
    links: [Link<'a>; MOST_LINKS],
    count: usize,
    output_of_state: Option<usize>,
}

impl<'a> Chain<'a> {
    #[inline(always)]
    fn of(scan: &ScanStepPlan, scalars: &[f64], views: &[&'a [f64]]) -> Option<Self> {
        let last = scan.code.last()?;
        if scan.initial.len() != 1 || scan.code.len() > MOST_LINKS || scan.next != [last.out] {
            return None;
        }
        let input = |register: u32| {
            let at = register as usize - 1;
            let lanes = match at.checked_sub(scan.vectors.len()) {
                None => Lanes::Each(views.get(at)?),
                Some(at) => match scan.scalars.get(at) {
                    Some(&scalar) => Lanes::Same(scalars[scalar as usize]),
                    None => Lanes::Same(*scan.constants.get(at - scan.scalars.len())?),
                },
            };
            Some(LinkOperand::Input(lanes))
        };
        let output_of = |register: u32| scan.outputs.iter().position(|&(of, _)| of == register);
        let none = Link { op: Op::Neg, operands: [LinkOperand::Before; 3], output: None };
        let (mut links, mut before) = ([none; MOST_LINKS], 0);
        for (link, group) in links.iter_mut().zip(&scan.code) {
            if group.count != 1 {
                return None;
            }
            (link.op, link.output) = (group.op, output_of(group.out));
            for (operand, register) in link.operands.iter_mut().zip(&group.args[..group.op.arity()]) {
                *operand = match *register {
                    register if register == before => LinkOperand::Before,
                    0 => LinkOperand::State,
                    register => input(register)?,
                };
            }
            before = group.out;
        }
        let output_of_state = output_of(0);
        let has_outputs = links.iter().filter_map(|link| link.output).chain(output_of_state).count();
        let count = scan.code.len();
        (has_outputs == scan.outputs.len()).then_some(Self { links, count, output_of_state })
    }

    #[inline(always)]
    fn run(&self, scan: &ScanStepPlan, initial: f64, outputs: &mut [Vec<f64>]) {
        let mut state = initial;
        for step in 0..scan.steps {
            let row = if scan.reversed { scan.steps - 1 - step } else { step };
            if let Some(output) = self.output_of_state {
                outputs[output][row] = state;
            }
            let mut value = state;
            for link in &self.links[..self.count] {
                let [a, b, c] = link.operands.map(|operand| match operand {
                    LinkOperand::State => state,
                    LinkOperand::Before => value,
                    LinkOperand::Input(Lanes::Same(x)) => x,
                    LinkOperand::Input(Lanes::Each(values)) => values[row],
                });
                value = match link.op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div => a / b,
                    Op::Neg => -a,
                    Op::Sqrt => Number::sqrt(a),
                    Op::MulAdd => a * b + c,
                    Op::MulSub => a * b - c,
                    Op::SubMul => c - a * b,
                    Op::Exp => Number::exp(a),
                    op => rare(op, a, b, c),
                };
                if let Some(output) = link.output {
                    outputs[output][row] = value;
                }
            }
            state = value;
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
