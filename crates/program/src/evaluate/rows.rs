//! The block interpreter: each instruction of a loop over a block of rows, so that blocks stay in the cache.

use super::product::joined;
use super::small::padded;
use super::{EvaluationOptions, rows_with_padding};
use crate::operation::{Lanes, kernel};
use crate::order::{FEW, LANES, TILE};
use crate::plan::{Base, DataColumn, Instruction, Loop, Operand, View};
use pulp::{Simd, WithSimd};
use std::ops::Range;
use std::sync::Arc;

/// Rows of the longest block.
pub(crate) const BLOCK: usize = 512;

/// Numbers between two registers, so that their rows are not all in the same places of the cache.
const ROOM: usize = 8;

/// A register: a value of each row of a block. Aligned as the widest vectors are.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Register([f64; BLOCK + ROOM]);

/// The memory of a loop's registers and lanes.
#[derive(Clone, Debug)]
pub(crate) struct LoopScratch {
    registers: Vec<Register>,
    lanes: Vec<SumLanes>,
}

/// The lanes of a sum.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct SumLanes([f64; LANES]);

impl LoopScratch {
    pub(crate) fn new(registers: usize, sums: usize) -> Self {
        Self { registers: vec![Register([0.0; BLOCK + ROOM]); registers], lanes: vec![SumLanes([0.0; LANES]); sums] }
    }
}

/// What a step reads.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) columns: &'a [DataColumn],
    pub(crate) indexes: &'a [Arc<[u32]>],
    pub(crate) position: &'a [f64],
    pub(crate) slots: &'a [Vec<f64>],
    pub(crate) scalars: &'a [f64],
}

impl<'a> Inputs<'a> {
    /// Returns `length` elements of a vector.
    #[inline(always)]
    pub(crate) fn view(&self, view: View, length: usize) -> &'a [f64] {
        let start = view.start as usize;
        &self.whole(view.base)[start..start + length]
    }

    /// The same with a few numbers that stand behind them, if there are any.
    pub(crate) fn view_with_room(&self, view: View, length: usize) -> &'a [f64] {
        let (whole, start) = (self.whole(view.base), view.start as usize);
        &whole[start..whole.len().min(start + padded(length))]
    }

    #[inline(always)]
    fn whole(&self, base: Base) -> &'a [f64] {
        match base {
            Base::Column(column) => self.columns[column as usize].values(),
            Base::Position => self.position,
            Base::Slot(slot) => &self.slots[slot as usize][..],
            Base::Scalars => self.scalars,
        }
    }
}

/// The vectors that a loop writes.
pub(crate) enum Stores<'a> {
    /// All rows of each vector, for one thread: no list of pieces is made.
    Whole(&'a mut [Vec<f64>]),
    /// The rows of a unit, from this row on.
    Unit(usize, Vec<&'a mut [f64]>),
}

impl Stores<'_> {
    /// Returns `count` rows of a vector.
    #[inline(always)]
    fn rows(&mut self, store: usize, start: usize, count: usize) -> &mut [f64] {
        match self {
            Self::Whole(vectors) => &mut vectors[store][start..start + count],
            Self::Unit(first, pieces) => &mut pieces[store][start - *first..][..count],
        }
    }
}

/// Runs a loop over some rows; they begin where a tile begins.
#[allow(clippy::too_many_arguments, reason = "all that a unit of work reads and writes")]
pub(crate) fn run(
    options: EvaluationOptions,
    rows: &Loop,
    inputs: &Inputs<'_>,
    range: Range<usize>,
    scratch: &mut LoopScratch,
    stores: &mut Stores<'_>,
    tiles: &mut [f64],
    partial: &mut [f64],
) {
    options.width.run(RowRange { block: options.block, rows, inputs, range, scratch, stores, tiles, partial });
}

struct RowRange<'a, 'b> {
    block: usize,
    rows: &'a Loop,
    inputs: &'a Inputs<'a>,
    range: Range<usize>,
    scratch: &'a mut LoopScratch,
    stores: &'a mut Stores<'b>,
    tiles: &'a mut [f64],
    partial: &'a mut [f64],
}

impl WithSimd for RowRange<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { block, rows, inputs, range, scratch, stores, tiles, partial } = self;
        let LoopScratch { registers, lanes } = scratch;
        let lanes = &mut lanes[..rows.sums.len()];
        for lanes in lanes.iter_mut() {
            lanes.0.fill(0.0);
        }
        let mut start = range.start;
        while start < range.end {
            let count = block.min(range.end - start);
            let filled = count + if start + count == rows.rows { rows_with_padding(rows.rows) - rows.rows } else { 0 };
            for instruction in &rows.code {
                match *instruction {
                    Instruction::Map { op, out, args } => {
                        // The result's register is no operand's.
                        let (before, rest) = registers.split_at_mut(out as usize);
                        let Some((out, after)) = rest.split_first_mut() else { continue };
                        let split = SplitRegisters { before, after };
                        let args = [
                            split.read(inputs, args[0], start, filled),
                            split.read(inputs, args[1], start, filled),
                            split.read(inputs, args[2], start, filled),
                        ];
                        kernel(op, &mut out.0[..filled], args);
                    }
                    Instruction::Columns { out, from, first, count: terms } => {
                        let (before, rest) = registers.split_at_mut(out as usize);
                        let Some((out, after)) = rest.split_first_mut() else { continue };
                        let (split, out) = (SplitRegisters { before, after }, &mut out.0[..filled]);
                        let from = split.read(inputs, from, start, filled);
                        let terms = &rows.terms[first as usize..(first + terms) as usize];
                        add_columns(out, from, terms, inputs, start);
                    }
                    Instruction::Gather { out, source, length, index } => {
                        let source = inputs.view(source, length as usize);
                        let index = &inputs.indexes[index as usize][start..start + count];
                        gather(&mut registers[out as usize].0[..count], source, index);
                    }
                    Instruction::Store { from, store } => {
                        if let Operand::Register(register) = from {
                            let to = stores.rows(store as usize, start, count);
                            to.copy_from_slice(&registers[register as usize].0[..count]);
                        }
                    }
                    Instruction::Sum { sum, values } => {
                        let all = SplitRegisters { before: registers, after: &[] };
                        if let Lanes::Each(values) = all.read(inputs, values, start, count) {
                            add(&mut lanes[sum as usize].0, values, rows.rows);
                        }
                    }
                    Instruction::Dot { sum, a, b } => {
                        let all = SplitRegisters { before: registers, after: &[] };
                        let (a, b) = (all.read(inputs, a, start, count), all.read(inputs, b, start, count));
                        if let (Lanes::Each(a), Lanes::Each(b)) = (a, b) {
                            add_products(&mut lanes[sum as usize].0, a, b, rows.rows);
                        }
                    }
                    Instruction::Dots { values, first, count: terms } => {
                        let all = SplitRegisters { before: registers, after: &[] };
                        if let Lanes::Each(values) = all.read(inputs, values, start, count) {
                            let terms = &rows.terms[first as usize..(first + terms) as usize];
                            add_dots(lanes, terms, values, inputs, start);
                        }
                    }
                    Instruction::SegmentSum { sum, values } => {
                        let table = &rows.segment_sums[sum as usize];
                        let all = SplitRegisters { before: registers, after: &[] };
                        if let Lanes::Each(values) = all.read(inputs, values, start, count) {
                            let span = (start - range.start) / table.span;
                            let lanes = table.segments * table.lanes;
                            let own = &mut partial[table.offset + span * lanes..][..lanes];
                            scatter(own, values, &table.slots[start..start + count], table.in_runs);
                        }
                    }
                }
            }
            start += count;
            if start % TILE == 0 || start == range.end {
                let tile = (start - 1 - range.start) / TILE * lanes.len();
                for (lanes, sum) in lanes.iter_mut().zip(&mut tiles[tile..]) {
                    *sum = joined(&lanes.0);
                    lanes.0.fill(0.0);
                }
            }
        }
    }
}

/// All registers but the one that is written.
struct SplitRegisters<'a> {
    before: &'a [Register],
    after: &'a [Register],
}

impl<'a> SplitRegisters<'a> {
    #[inline(always)]
    fn read(&self, inputs: &Inputs<'a>, operand: Operand, start: usize, count: usize) -> Lanes<'a> {
        match operand {
            Operand::Register(register) => {
                let register = register as usize;
                let own = match register.checked_sub(self.before.len() + 1) {
                    Some(after) if register > self.before.len() => &self.after[after],
                    _ => &self.before[register],
                };
                Lanes::Each(&own.0[..count])
            }
            Operand::Scalar(scalar) => Lanes::Same(inputs.scalars[scalar as usize]),
            Operand::Vector(view) => Lanes::Each(inputs.view(View { start: view.start + start as u32, ..view }, count)),
            Operand::None => Lanes::Same(0.0),
        }
    }
}

/// Writes `from` plus columns times scalars, added one after the other: a few at a time, so that a sum is seldom written.
#[inline(always)]
fn add_columns(out: &mut [f64], from: Lanes<'_>, terms: &[(View, u32)], inputs: &Inputs<'_>, start: usize) {
    let count = out.len();
    let column = |(view, scalar): (View, u32)| {
        let view = View { start: view.start + start as u32, ..view };
        (inputs.view(view, count), inputs.scalars[scalar as usize])
    };
    let (mut fours, rest) = terms.as_chunks::<4>();
    if let (Lanes::Each(from), Some((&four, more))) = (from, fours.split_first()) {
        let [(a, of_a), (b, of_b), (c, of_c), (d, of_d)] = four.map(column);
        for (((((out, &from), &a), &b), &c), &d) in out.iter_mut().zip(from).zip(a).zip(b).zip(c).zip(d) {
            *out = (((from + a * of_a) + b * of_b) + c * of_c) + d * of_d;
        }
        fours = more;
    } else {
        match from {
            Lanes::Each(from) => out.copy_from_slice(from),
            Lanes::Same(x) => out.fill(x),
        }
    }
    for four in fours {
        let [(a, of_a), (b, of_b), (c, of_c), (d, of_d)] = four.map(column);
        for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *out = (((*out + a * of_a) + b * of_b) + c * of_c) + d * of_d;
        }
    }
    match *rest {
        [one] => {
            let (a, of_a) = column(one);
            for (out, &a) in out.iter_mut().zip(a) {
                *out += a * of_a;
            }
        }
        [one, two] => {
            let [(a, of_a), (b, of_b)] = [one, two].map(column);
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *out = (*out + a * of_a) + b * of_b;
            }
        }
        [one, two, three] => {
            let [(a, of_a), (b, of_b), (c, of_c)] = [one, two, three].map(column);
            for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
                *out = ((*out + a * of_a) + b * of_b) + c * of_c;
            }
        }
        _ => {}
    }
}

/// Adds the products of columns and values to the lanes of their sums: each value is read once for two columns.
#[inline(always)]
fn add_dots(lanes: &mut [SumLanes], terms: &[(View, u32)], values: &[f64], inputs: &Inputs<'_>, start: usize) {
    let column = |view: View| inputs.view(View { start: view.start + start as u32, ..view }, values.len());
    let (pairs, rest) = terms.as_chunks::<2>();
    let (full, last) = values.as_chunks::<LANES>();
    for &[(a, of_a), (b, of_b)] in pairs {
        let (a, b) = (column(a).as_chunks::<LANES>(), column(b).as_chunks::<LANES>());
        let (mut first, mut second) = (lanes[of_a as usize].0, lanes[of_b as usize].0);
        for ((values, a), b) in full.iter().zip(a.0).zip(b.0) {
            for k in 0..LANES {
                first[k] += a[k] * values[k];
            }
            for k in 0..LANES {
                second[k] += b[k] * values[k];
            }
        }
        (lanes[of_a as usize].0, lanes[of_b as usize].0) = (first, second);
        for (sum, rest) in [(of_a, a.1), (of_b, b.1)] {
            for ((lane, &x), &value) in lanes[sum as usize].0.iter_mut().zip(rest).zip(last) {
                *lane += x * value;
            }
        }
    }
    for &(view, sum) in rest {
        // The longest few rows that are added in order are no loop of this kind.
        add_products(&mut lanes[sum as usize].0, column(view), values, usize::MAX);
    }
}

/// Several rows at a time, so that the loop's own instructions matter less.
#[inline(always)]
fn gather(out: &mut [f64], source: &[f64], index: &[u32]) {
    let ((fours, last), (of_fours, of_last)) = (out.as_chunks_mut::<4>(), index.as_chunks::<4>());
    for (out, index) in fours.iter_mut().zip(of_fours) {
        for k in 0..4 {
            out[k] = source[index[k] as usize];
        }
    }
    for (out, &index) in last.iter_mut().zip(of_last) {
        *out = source[index as usize];
    }
}

/// Adds a block's rows to lanes; few rows in all are added in order, by the first lane.
#[inline(always)]
fn add(lanes: &mut [f64; LANES], values: &[f64], rows: usize) {
    if rows <= FEW {
        for &x in values {
            lanes[0] += x;
        }
        return;
    }
    let (full, rest) = values.as_chunks::<LANES>();
    let mut sums = *lanes;
    for row in full {
        for k in 0..LANES {
            sums[k] += row[k];
        }
    }
    // In memory again before single lanes are taken, or the compiler takes all lanes one by one.
    *lanes = sums;
    for (sum, &x) in lanes.iter_mut().zip(rest) {
        *sum += x;
    }
}

#[inline(always)]
fn add_products(lanes: &mut [f64; LANES], a: &[f64], b: &[f64], rows: usize) {
    if rows <= FEW {
        for (&a, &b) in a.iter().zip(b) {
            lanes[0] += a * b;
        }
        return;
    }
    let ((full_a, rest_a), (full_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = *lanes;
    for (a, b) in full_a.iter().zip(full_b) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    *lanes = sums;
    for ((sum, &a), &b) in lanes.iter_mut().zip(rest_a).zip(rest_b) {
        *sum += a * b;
    }
}

/// Adds rows to the lanes of their segments. Rows of one lane that stand together wait for no memory.
#[inline(always)]
fn scatter(lanes: &mut [f64], values: &[f64], slots: &[u32], in_runs: bool) {
    if !in_runs {
        for (&x, &slot) in values.iter().zip(slots) {
            lanes[slot as usize] += x;
        }
        return;
    }
    let Some(&first) = slots.first() else { return };
    let (mut current, mut sum) = (first, lanes[first as usize]);
    let ((fours, last), (of_fours, of_last)) = (values.as_chunks::<4>(), slots.as_chunks::<4>());
    for (values, slots) in fours.iter().zip(of_fours) {
        if *slots == [current; 4] {
            sum = (((sum + values[0]) + values[1]) + values[2]) + values[3];
        } else {
            (current, sum) = add_to_runs(lanes, values, slots, (current, sum));
        }
    }
    (current, sum) = add_to_runs(lanes, last, of_last, (current, sum));
    lanes[current as usize] = sum;
}

/// Adds rows to the sum of a lane, as long as they are of this lane, and then to others; returns the last one with its sum.
#[inline(always)]
fn add_to_runs(lanes: &mut [f64], values: &[f64], slots: &[u32], (mut current, mut sum): (u32, f64)) -> (u32, f64) {
    for (&x, &slot) in values.iter().zip(slots) {
        if slot != current {
            lanes[current as usize] = sum;
            (current, sum) = (slot, lanes[slot as usize]);
        }
        sum += x;
    }
    (current, sum)
}
