//! Scalars and loops of few rows: steps that stand together in a plan are done in one call, compiled for each width of
//! vectors. Rows are done eight at a time, the rows behind the last one too, which nothing reads.

use super::rows::Inputs;
use crate::number::Number;
use crate::operation::Op;
use crate::order::{FEW, LANES};
use crate::plan::{Instruction, Loop, Operand, PackedProgram, PlanStep, ScalarInstruction, View};
use pulp::{Simd, WithSimd};

/// Rows of a chunk.
const SIDE: usize = 8;
/// Rows of the longest loop whose last rows are filled up: vectors of so many numbers have room for it.
const MOST_PADDED: usize = 4096;
/// Chunks of the longest small loop: a lane of a sum has at most one row.
const MOST: usize = LANES / SIDE;

/// Eight rows of a value.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Chunk([f64; SIDE]);

/// Returns the room for a vector of which loops read more than their rows.
pub(crate) fn padded(length: usize) -> usize {
    length + if length > LANES { LANES - 1 } else { SIDE - 1 }
}

/// Returns the rows of which a loop reads and computes: those behind the last one are not used.
pub(crate) fn rows_with_padding(rows: usize) -> usize {
    if rows <= LANES {
        rows.next_multiple_of(SIDE)
    } else if rows <= MOST_PADDED {
        rows.next_multiple_of(LANES)
    } else {
        rows
    }
}

/// Returns the memory of the small loops of a plan.
pub(crate) fn registers(plan: &PackedProgram) -> Vec<Chunk> {
    let of_step = |step: &PlanStep| match step {
        PlanStep::Loop(rows) if rows.is_small => rows.registers * rows.rows.div_ceil(SIDE),
        _ => 0,
    };
    vec![Chunk([0.0; SIDE]); plan.steps.iter().map(of_step).max().unwrap_or(0)]
}

impl Loop {
    /// Whether the loop's rows are few enough, and its operations ready, for chunks.
    pub(crate) fn fits_chunks(&self) -> bool {
        let is_ready = |instruction: &Instruction| match instruction {
            Instruction::Map { op, .. } => is_frequent(*op),
            Instruction::Columns { .. } | Instruction::Dots { .. } => false,
            _ => true,
        };
        (1..=LANES).contains(&self.rows) && self.code.iter().all(is_ready)
    }
}

impl PlanStep {
    /// Whether the step is done here.
    #[inline(always)]
    pub(crate) fn is_small(&self) -> bool {
        match self {
            Self::Scalars(_) | Self::Concat { .. } => true,
            Self::Loop(rows) => rows.is_small,
            _ => false,
        }
    }
}

/// Steps of a plan, one after the other.
pub(crate) struct SmallSteps<'a> {
    pub(crate) steps: &'a [PlanStep],
    pub(crate) plan: &'a PackedProgram,
    pub(crate) position: &'a [f64],
    pub(crate) scalars: &'a mut [f64],
    pub(crate) slots: &'a mut [Vec<f64>],
    pub(crate) chunks: &'a mut [Chunk],
}

impl WithSimd for SmallSteps<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for step in self.steps {
            match step {
                PlanStep::Scalars(code) => self.run_scalars(code),
                PlanStep::Loop(rows) => self.run_loop(rows),
                PlanStep::Concat { pieces, out } => self.join(pieces, *out),
                PlanStep::Scan(_) | PlanStep::Solve(_) | PlanStep::Matrix { .. } => {}
            }
        }
    }
}

impl SmallSteps<'_> {
    #[inline(always)]
    fn inputs(&self) -> Inputs<'_> {
        let Self { plan, position, scalars, slots, .. } = self;
        Inputs { columns: &plan.columns, indexes: &plan.indexes, position, slots, scalars }
    }

    #[inline(always)]
    fn run_scalars(&mut self, code: &[ScalarInstruction]) {
        for instruction in code {
            match *instruction {
                ScalarInstruction::Map { op, out, args } => {
                    let [a, b, c] = args;
                    let all = &mut *self.scalars;
                    all[out as usize] = scalar(op, [all[a as usize], all[b as usize], all[c as usize]]);
                }
                ScalarInstruction::Element { out, view } => {
                    self.scalars[out as usize] = self.inputs().view(view, 1)[0];
                }
            }
        }
    }

    #[inline(always)]
    fn join(&mut self, pieces: &[(View, usize)], out: u32) {
        let mut to = std::mem::take(&mut self.slots[out as usize]);
        let mut at = 0;
        for &(view, length) in pieces {
            to[at..at + length].copy_from_slice(self.inputs().view(view, length));
            at += length;
        }
        self.slots[out as usize] = to;
    }

    #[inline(always)]
    fn run_loop(&mut self, rows: &Loop) {
        let chunks = rows.rows.div_ceil(SIDE);
        for instruction in &rows.code {
            match *instruction {
                Instruction::Map { op, out, args } => {
                    // The result's register is no operand's.
                    let (before, rest) = self.chunks.split_at_mut(out as usize * chunks);
                    let (out, after) = rest.split_at_mut(chunks);
                    let Self { plan, position, scalars, slots, .. } = self;
                    let inputs = Inputs { columns: &plan.columns, indexes: &plan.indexes, position, slots, scalars };
                    let split = SplitChunks { before, after };
                    let [a, b, c] = args;
                    let read = [
                        split.read(&inputs, a, chunks),
                        split.read(&inputs, b, chunks),
                        split.read(&inputs, c, chunks),
                    ];
                    map(op, out, read);
                }
                Instruction::Gather { out, source, length, index } => {
                    let out = &mut self.chunks[out as usize * chunks..][..chunks];
                    let Self { plan, position, scalars, slots, .. } = self;
                    let inputs = Inputs { columns: &plan.columns, indexes: &plan.indexes, position, slots, scalars };
                    let (source, index) = (inputs.view(source, length as usize), &plan.indexes[index as usize]);
                    for (out, index) in out.iter_mut().zip(index.chunks(SIDE)) {
                        for (out, &index) in out.0.iter_mut().zip(index) {
                            *out = source[index as usize];
                        }
                    }
                }
                Instruction::Store { from, store } => {
                    if let Operand::Register(register) = from {
                        let from = &self.chunks[register as usize * chunks..][..chunks];
                        let to = &mut self.slots[rows.stores[store as usize] as usize];
                        for (to, from) in to.as_chunks_mut::<SIDE>().0.iter_mut().zip(from) {
                            *to = from.0;
                        }
                    }
                }
                Instruction::Sum { sum, values } => {
                    let (values, mut lanes) = (self.read(values, chunks), [[0.0; SIDE]; MOST]);
                    for (chunk, lanes) in lanes.iter_mut().enumerate().take(chunks) {
                        *lanes = values.at(chunk);
                    }
                    self.scalars[rows.sums[sum as usize] as usize] = added(&mut lanes, rows.rows);
                }
                Instruction::Dot { sum, a, b } => {
                    let (a, b) = (self.read(a, chunks), self.read(b, chunks));
                    let mut lanes = [[0.0; SIDE]; MOST];
                    for (chunk, lanes) in lanes.iter_mut().enumerate().take(chunks) {
                        let (a, b) = (a.at(chunk), b.at(chunk));
                        for k in 0..SIDE {
                            lanes[k] = a[k] * b[k];
                        }
                    }
                    self.scalars[rows.sums[sum as usize] as usize] = added(&mut lanes, rows.rows);
                }
                Instruction::SegmentSum { sum, values } => {
                    let table = &rows.segment_sums[sum as usize];
                    // So few rows have one lane for each segment.
                    let mut sums = std::mem::take(&mut self.slots[table.slot as usize]);
                    sums[..table.segments].fill(0.0);
                    let values = self.read(values, chunks);
                    for (chunk, slots) in table.slots.chunks(SIDE).enumerate() {
                        for (k, &slot) in slots.iter().enumerate() {
                            sums[slot as usize] += values.row(chunk, k);
                        }
                    }
                    self.slots[table.slot as usize] = sums;
                }
                Instruction::Columns { .. } | Instruction::Dots { .. } => {}
            }
        }
    }

    #[inline(always)]
    fn read(&self, operand: Operand, chunks: usize) -> Chunks<'_> {
        SplitChunks { before: self.chunks, after: &[] }.read(&self.inputs(), operand, chunks)
    }
}

/// An operand of a small loop.
#[derive(Clone, Copy)]
enum Chunks<'a> {
    /// One number for all rows.
    Same(f64),
    Register(&'a [Chunk]),
    Memory(&'a [[f64; SIDE]]),
}

impl Chunks<'_> {
    #[inline(always)]
    fn at(self, chunk: usize) -> [f64; SIDE] {
        match self {
            Self::Same(x) => [x; SIDE],
            Self::Register(all) => all[chunk].0,
            Self::Memory(all) => all[chunk],
        }
    }

    #[inline(always)]
    fn row(self, chunk: usize, k: usize) -> f64 {
        match self {
            Self::Same(x) => x,
            Self::Register(all) => all[chunk].0[k],
            Self::Memory(all) => all[chunk][k],
        }
    }
}

/// All registers but the one that is written.
struct SplitChunks<'a> {
    before: &'a [Chunk],
    after: &'a [Chunk],
}

impl<'a> SplitChunks<'a> {
    #[inline(always)]
    fn read(&self, inputs: &Inputs<'a>, operand: Operand, chunks: usize) -> Chunks<'a> {
        match operand {
            Operand::Register(register) => {
                let start = register as usize * chunks;
                Chunks::Register(match start.checked_sub(self.before.len()) {
                    None => &self.before[start..start + chunks],
                    Some(after) => &self.after[after - chunks..after],
                })
            }
            Operand::Scalar(scalar) => Chunks::Same(inputs.scalars[scalar as usize]),
            Operand::Vector(view) => Chunks::Memory(inputs.view(view, chunks * SIDE).as_chunks().0),
            Operand::None => Chunks::Same(0.0),
        }
    }
}

/// The sum of the rows in the order that all back ends have; what stands behind them is cleared.
#[inline(always)]
fn added(lanes: &mut [[f64; SIDE]; MOST], rows: usize) -> f64 {
    if rows <= FEW {
        let mut sum = 0.0;
        for &x in &lanes[0][..rows] {
            sum += x;
        }
        return sum;
    }
    // A lane has its row or 0. Nothing changes where a lane without a row is added: sums of 0 and a row are never -0.
    for (chunk, lanes) in lanes.iter_mut().enumerate() {
        for (k, lane) in lanes.iter_mut().enumerate() {
            let row = 0.0 + *lane;
            *lane = if chunk * SIDE + k < rows { row } else { 0.0 };
        }
    }
    let [a, b, c, d] = *lanes;
    let mut half = [0.0; SIDE];
    for k in 0..SIDE {
        half[k] = (a[k] + c[k]) + (b[k] + d[k]);
    }
    let [a, b, c, d, e, f, g, h] = half;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Whether an operation is done for chunks as vectors.
fn is_frequent(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Neg
            | Op::Abs
            | Op::Sign
            | Op::Sqrt
            | Op::Max
            | Op::Min
            | Op::Less
            | Op::Select
            | Op::Exp
            | Op::Ln
            | Op::MulAdd
            | Op::MulSub
            | Op::SubMul
            | Op::ExpMinusAbs
            | Op::AddPositive
            | Op::WhereNegative
            | Op::Ln1p
    )
}

/// Writes an expression of the operands' rows for each frequent operation.
macro_rules! frequent {
    ($op:expr, $each:ident, $rare:expr) => {
        match $op {
            Op::Add => $each!(|a, b, _c| a + b),
            Op::Sub => $each!(|a, b, _c| a - b),
            Op::Mul => $each!(|a, b, _c| a * b),
            Op::Div => $each!(|a, b, _c| a / b),
            Op::Neg => $each!(|a, _b, _c| -a),
            Op::Abs => $each!(|a, _b, _c| Number::abs(a)),
            Op::Sign => $each!(|a, _b, _c| if a < 0.0 { -1.0 } else { 1.0 }),
            Op::Sqrt => $each!(|a, _b, _c| Number::sqrt(a)),
            Op::Max => $each!(|a, b, _c| if b < a { a } else { b }),
            Op::Min => $each!(|a, b, _c| if a < b { a } else { b }),
            Op::Less => $each!(|a, b, _c| if a < b { 1.0 } else { 0.0 }),
            Op::Select => $each!(|a, b, c| if a != 0.0 { b } else { c }),
            Op::Exp => $each!(|a, _b, _c| Number::exp(a)),
            Op::Ln => $each!(|a, _b, _c| Number::ln(a)),
            Op::MulAdd => $each!(|a, b, c| a * b + c),
            Op::MulSub => $each!(|a, b, c| a * b - c),
            Op::SubMul => $each!(|a, b, c| c - a * b),
            Op::ExpMinusAbs => $each!(|a, _b, _c| Number::exp(-Number::abs(a))),
            Op::AddPositive => $each!(|a, b, _c| a + if 0.0 < b { b } else { 0.0 }),
            Op::WhereNegative => $each!(|a, b, _c| if b < 0.0 { a } else { 1.0 }),
            Op::Ln1p => $each!(|a, _b, _c| Number::ln_1p(a)),
            _ => $rare,
        }
    };
}

/// The value of an operation, frequent ones inline.
#[inline(always)]
pub(crate) fn scalar(op: Op, args: [f64; 3]) -> f64 {
    macro_rules! each {
        (|$a:ident, $b:ident, $c:ident| $value:expr) => {{
            let [$a, $b, $c] = args;
            $value
        }};
    }
    frequent!(op, each, rare(op, args))
}

#[inline(never)]
fn rare(op: Op, args: [f64; 3]) -> f64 {
    op.value(args)
}

#[inline(always)]
fn map(op: Op, out: &mut [Chunk], args: [Chunks<'_>; 3]) {
    macro_rules! each {
        (|$a:ident, $b:ident, $c:ident| $value:expr) => {
            for (chunk, out) in out.iter_mut().enumerate() {
                let ($a, $b, $c) = (args[0].at(chunk), args[1].at(chunk), args[2].at(chunk));
                let mut made = [0.0; SIDE];
                for k in 0..SIDE {
                    let ($a, $b, $c) = ($a[k], $b[k], $c[k]);
                    made[k] = $value;
                }
                out.0 = made;
            }
        };
    }
    frequent!(op, each, {
        for (chunk, out) in out.iter_mut().enumerate() {
            let (a, b, c) = (args[0].at(chunk), args[1].at(chunk), args[2].at(chunk));
            for k in 0..SIDE {
                out.0[k] = rare(op, [a[k], b[k], c[k]]);
            }
        }
    });
}
