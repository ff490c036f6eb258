//! Products of matrices by panels: some columns of the one factor, as vectors, times all columns of the other, as numbers.
//!
//! Both are copied in the order in which they are read: one lane of a sum after the other, the halving tree depth first, so
//! that few sums wait to be joined.

use super::{Factor, sum_of_tiles};
use crate::evaluate::block::{
    BlockSums, HIGHEST, add_products, aligned, cut, rows_of, rows_of_mut, store, vectors_for, widest,
};
use crate::order::{FEW, LANES, TILE};
use pulp::Simd;

/// Columns of numbers that are copied at a time: with a tile of products they stay in the cache.
const GROUP: usize = 16 * HIGHEST;
/// Sums that wait at most, and the one that is next.
const WAITING: usize = 6;

/// A product to be written: element (i, j) goes to `out[i * by_wide + j * by_narrow]`.
pub(super) struct Panels<'a> {
    /// What is read as vectors.
    pub(super) wide: Factor<'a>,
    /// What is read number by number.
    pub(super) narrow: Factor<'a>,
    pub(super) inner: usize,
    pub(super) by_wide: usize,
    pub(super) by_narrow: usize,
}

impl Panels<'_> {
    #[inline(always)]
    pub(super) fn write<S: Simd>(self, simd: S, out: &mut [f64], scratch: &mut Vec<f64>) {
        let Self { wide, narrow, inner, by_wide, by_narrow } = self;
        if inner == 0 {
            return out.fill(0.0);
        }
        let (tiles, longest, widest) = (inner.div_ceil(TILE), inner.min(TILE), widest::<S>() * S::F64_LANES);
        let of_tiles = if tiles > 1 { GROUP.min(narrow.count) * wide.count } else { 0 };
        let lengths =
            [longest * widest, longest * GROUP.min(narrow.count), WAITING * HIGHEST * widest, tiles * of_tiles, tiles];
        let memory = aligned(scratch, lengths.iter().sum());
        let [panel, numbers, waiting, sums, of_one] = cut(memory, lengths);
        for first in (0..narrow.count).step_by(GROUP) {
            let count = GROUP.min(narrow.count - first);
            let out = &mut out[first * by_narrow..];
            for tile in 0..tiles {
                let length = longest.min(inner - tile * TILE);
                let order = LaneOrder::new(length, inner <= FEW);
                let (wide, high) = (wide.part(tile * TILE, 0, wide.count), Factor::high_of(count));
                for (block, numbers) in numbers[..length * count].chunks_mut(length * high).enumerate() {
                    let columns = narrow.part(tile * TILE, first + block * high, high);
                    order.copy(columns, numbers, columns.count);
                }
                let numbers = &numbers[..length * count];
                let (by_wide, by_narrow) = if tiles == 1 { (by_wide, by_narrow) } else { (1, wide.count) };
                let out = if tiles == 1 { &mut *out } else { &mut sums[tile * of_tiles..] };
                PanelTile { order: &order, wide, numbers, length, high, by_wide, by_narrow }
                    .write(simd, panel, waiting, out);
            }
            if tiles > 1 {
                for j in 0..count {
                    for i in 0..wide.count {
                        let tiles = &sums[j * wide.count + i..];
                        out[i * by_wide + j * by_narrow] = sum_of_tiles(tiles, of_tiles, of_one);
                    }
                }
            }
        }
    }
}

/// A tile of the sums of some columns of numbers, which are copied already.
struct PanelTile<'a> {
    order: &'a LaneOrder,
    wide: Factor<'a>,
    numbers: &'a [f64],
    length: usize,
    /// Columns of numbers of a block.
    high: usize,
    by_wide: usize,
    by_narrow: usize,
}

impl PanelTile<'_> {
    #[inline(always)]
    fn write<S: Simd>(&self, simd: S, panel: &mut [f64], waiting: &mut [f64], out: &mut [f64]) {
        let mut start = 0;
        while start < self.wide.count {
            let vectors = vectors_for::<S>(self.wide.count - start);
            match vectors {
                1 => self.panel::<S, 1>(simd, start, panel, waiting, out),
                2 => self.panel::<S, 2>(simd, start, panel, waiting, out),
                _ => self.panel::<S, 4>(simd, start, panel, waiting, out),
            }
            start += vectors * S::F64_LANES;
        }
    }

    #[inline(always)]
    fn panel<S: Simd, const WIDE: usize>(
        &self,
        simd: S,
        start: usize,
        panel: &mut [f64],
        waiting: &mut [f64],
        out: &mut [f64],
    ) {
        let &Self { by_wide, by_narrow, .. } = self;
        let width = WIDE * S::F64_LANES;
        let count = width.min(self.wide.count - start);
        let panel = &mut panel[..self.length * width];
        self.order.copy(self.wide.part(0, start, width), panel, width);
        let panel = rows_of::<S, WIDE>(panel);
        for (block, numbers) in self.numbers.chunks(self.length * self.high).enumerate() {
            let high = numbers.len() / self.length;
            macro_rules! block {
                ($($high:literal)*) => {
                    match high {
                        $($high => self.order.sums::<S, WIDE, $high>(simd, panel, numbers.as_chunks().0, waiting),)*
                        _ => {}
                    }
                };
            }
            block!(1 2 3 4 5 6);
            let at = start * by_wide + block * self.high * by_narrow;
            for (j, sums) in waiting.chunks_exact(width).take(high).enumerate() {
                let out = &mut out[at + j * by_narrow..];
                if by_wide == 1 {
                    for (out, from) in out[..count].chunks_mut(S::F64_LANES).zip(S::as_simd_f64s(sums).0) {
                        store(simd, out, *from);
                    }
                } else {
                    for (out, &x) in out.iter_mut().step_by(by_wide).zip(&sums[..count]) {
                        *out = x;
                    }
                }
            }
        }
    }
}

/// The products of one lane, and how many of the sums before it are joined to its own.
#[derive(Clone, Copy, Default)]
struct Lane {
    first: usize,
    count: usize,
    joined: usize,
}

/// The lanes of a tile in the order in which they are done.
struct LaneOrder {
    lanes: [Lane; LANES],
    count: usize,
    /// From one product of a lane to the next.
    step: usize,
}

impl LaneOrder {
    /// The order of a tile of so many products. All of a sum of few are one lane.
    fn new(length: usize, is_few: bool) -> Self {
        let mut me = Self { lanes: [Lane::default(); LANES], count: 0, step: if is_few { 1 } else { LANES } };
        if is_few {
            me.lanes[0].count = length;
            me.count = 1;
        } else {
            me.visit(length, 0, 1);
        }
        me
    }

    /// Adds the lanes from `first` on in steps: both halves, and then their sum. Lanes without a product add nothing.
    fn visit(&mut self, length: usize, first: usize, step: usize) {
        if step == LANES {
            self.lanes[self.count] = Lane { first, count: (length - first).div_ceil(LANES), joined: 0 };
            self.count += 1;
            return;
        }
        self.visit(length, first, 2 * step);
        if first + step < length {
            self.visit(length, first + step, 2 * step);
            self.lanes[self.count - 1].joined += 1;
        }
    }

    /// Copies columns of a factor, those of one product side by side; columns that there are not are 0.
    #[inline(always)]
    fn copy(&self, factor: Factor<'_>, to: &mut [f64], width: usize) {
        let count = factor.count;
        let mut to = to.chunks_exact_mut(width);
        for lane in &self.lanes[..self.count] {
            for (k, to) in (0..lane.count).map(|k| lane.first + k * self.step).zip(&mut to) {
                let from = &factor.values[k * factor.by_sum..];
                if factor.by_result == 1 {
                    for (to, &x) in to.iter_mut().zip(&from[..count]) {
                        *to = x;
                    }
                } else {
                    for (to, &x) in to[..count].iter_mut().zip(from.iter().step_by(factor.by_result)) {
                        *to = x;
                    }
                }
                to[count..].fill(0.0);
            }
        }
    }

    /// Writes the sums of a block to the beginning of `waiting`.
    #[inline(always)]
    fn sums<S: Simd, const WIDE: usize, const HIGH: usize>(
        &self,
        simd: S,
        panel: &[[S::f64s; WIDE]],
        numbers: &[[f64; HIGH]],
        waiting: &mut [f64],
    ) {
        let waiting: &mut [BlockSums<S, WIDE, HIGH>] = rows_of_mut::<S, WIDE>(waiting).as_chunks_mut().0;
        let zero = simd.splat_f64s(0.0);
        let (mut at, mut depth) = (0, 0);
        for lane in &self.lanes[..self.count] {
            let (panel, numbers) = (&panel[at..at + lane.count], &numbers[at..at + lane.count]);
            let mut sums = add_products(simd, [[zero; WIDE]; HIGH], panel, numbers);
            for before in waiting[depth - lane.joined..depth].iter().rev() {
                for j in 0..HIGH {
                    for v in 0..WIDE {
                        sums[j][v] = simd.add_f64s(before[j][v], sums[j][v]);
                    }
                }
            }
            depth -= lane.joined;
            waiting[depth] = sums;
            depth += 1;
            at += lane.count;
        }
    }
}
