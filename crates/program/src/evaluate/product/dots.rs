//! Products of matrices by dot products: the lanes of a sum are vectors, and some rows of the one factor are multiplied by
//! some columns of the other at once.
//!
//! The lanes of a block would fill more registers than there are. So that some of them, as many as a vector has, are done
//! for the whole sum, and then the next.

use super::{Factor, joined, sum_of_tiles};
use crate::evaluate::block::{BlockSums, HIGHEST, aligned, cut, rows_of, widest};
use crate::order::{LANES, TILE};
use pulp::Simd;

/// Columns that are copied at a time: with a tile of products they stay in the cache.
const GROUP: usize = 4 * HIGHEST;

/// A product of a matrix whose rows are contiguous.
pub(super) struct Dots<'a> {
    pub(super) left: &'a [f64],
    pub(super) rows: usize,
    pub(super) right: Factor<'a>,
    pub(super) inner: usize,
}

impl Dots<'_> {
    #[inline(always)]
    pub(super) fn write<S: Simd>(self, simd: S, out: &mut [f64], scratch: &mut Vec<f64>) {
        let Self { left, rows, right, inner } = self;
        let (tiles, group, columns) = (inner.div_ceil(TILE), GROUP.min(right.count), right.count);
        let of_tile = if tiles > 1 { rows * group } else { 0 };
        let packed = inner.min(TILE).next_multiple_of(LANES) * group;
        let lengths = [packed, LANES * widest::<S>(), LANES * widest::<S>() * HIGHEST, tiles * of_tile, tiles];
        let memory = aligned(scratch, lengths.iter().sum());
        let [packed, ends, lanes, sums, of_one] = cut(memory, lengths);
        for first in (0..columns).step_by(GROUP) {
            let group = right.part(0, first, GROUP);
            for tile in 0..tiles {
                let length = TILE.min(inner - tile * TILE);
                let high = Factor::high_of(group.count);
                let of_block = length.next_multiple_of(LANES) * high;
                for (block, packed) in
                    packed[..length.next_multiple_of(LANES) * group.count].chunks_mut(of_block).enumerate()
                {
                    pack::<S>(group.part(tile * TILE, block * high, high), length, packed);
                }
                let work = DotTile { left: &left[tile * TILE..], inner, length, packed, columns: group.count };
                let (out, step) =
                    if tiles > 1 { (&mut sums[tile * of_tile..], group.count) } else { (&mut out[first..], columns) };
                let side = widest::<S>();
                let mut start = 0;
                while start < rows {
                    if rows < side {
                        work.rows::<S, 1>(simd, start, ends, lanes, out, step);
                        start += 1;
                    } else {
                        // The last ones are done with some before them again.
                        let from = start.min(rows - side);
                        if side == 4 {
                            work.rows::<S, 4>(simd, from, ends, lanes, out, step);
                        } else {
                            work.rows::<S, 2>(simd, from, ends, lanes, out, step);
                        }
                        start += side;
                    }
                }
            }
            if tiles > 1 {
                for i in 0..rows {
                    for j in 0..group.count {
                        let tiles = &sums[i * group.count + j..];
                        out[i * columns + first + j] = sum_of_tiles(tiles, of_tile, of_one);
                    }
                }
            }
        }
    }
}

/// Copies columns in the order in which they are read: the lanes of one vector of all columns, for the whole sum, and then
/// the next. Behind the end of a sum there are zeros.
#[inline(always)]
fn pack<S: Simd>(columns: Factor<'_>, length: usize, to: &mut [f64]) {
    let mut to = to.chunks_exact_mut(S::F64_LANES);
    for group in (0..LANES).step_by(S::F64_LANES) {
        for first in (group..length.next_multiple_of(LANES)).step_by(LANES) {
            let count = S::F64_LANES.min(length.saturating_sub(first));
            for (column, to) in (0..columns.count).zip(&mut to) {
                if count > 0 {
                    let from = columns.part(first, column, 1).values;
                    for (to, &x) in to.iter_mut().zip(from.iter().step_by(columns.by_sum)) {
                        *to = x;
                    }
                }
                to[count..].fill(0.0);
            }
        }
    }
}

/// A tile of the sums of some columns, which are copied already.
struct DotTile<'a> {
    left: &'a [f64],
    inner: usize,
    length: usize,
    packed: &'a [f64],
    columns: usize,
}

impl DotTile<'_> {
    #[inline(always)]
    fn rows<S: Simd, const WIDE: usize>(
        &self,
        simd: S,
        start: usize,
        ends: &mut [f64],
        lanes: &mut [f64],
        out: &mut [f64],
        step: usize,
    ) {
        let full = self.length / LANES * LANES;
        let rows: [&[f64]; WIDE] = std::array::from_fn(|i| &self.left[(start + i) * self.inner..][..self.length]);
        for (row, end) in rows.iter().zip(ends.chunks_exact_mut(LANES)) {
            let rest = &row[full..];
            end[..rest.len()].copy_from_slice(rest);
            end[rest.len()..].fill(0.0);
        }
        let ends: [&[S::f64s]; WIDE] = std::array::from_fn(|i| S::as_simd_f64s(&ends[i * LANES..][..LANES]).0);
        let rows = rows.map(|row| S::as_simd_f64s(&row[..full]).0);
        let chunks = self.length.div_ceil(LANES);
        let high = Factor::high_of(self.columns);
        let of_block = chunks * LANES * high;
        for (block, packed) in self.packed[..chunks * LANES * self.columns].chunks(of_block).enumerate() {
            let high_here = packed.len() / chunks / LANES;
            macro_rules! block {
                ($($high:literal)*) => {
                    match high_here {
                        $($high => lanes_of::<S, WIDE, $high>(simd, rows, ends, packed, chunks, lanes),)*
                        _ => {}
                    }
                };
            }
            block!(1 2 3 4 5 6);
            for (at, lanes) in lanes.as_chunks::<LANES>().0.iter().take(WIDE * high_here).enumerate() {
                out[(start + at % WIDE) * step + block * high + at / WIDE] = joined(lanes);
            }
        }
    }
}

/// Writes the lanes of each row times each column of a block.
#[inline(always)]
fn lanes_of<S: Simd, const WIDE: usize, const HIGH: usize>(
    simd: S,
    rows: [&[S::f64s]; WIDE],
    ends: [&[S::f64s]; WIDE],
    packed: &[f64],
    chunks: usize,
    lanes: &mut [f64],
) {
    let step = LANES / S::F64_LANES;
    let lanes = S::as_mut_simd_f64s(lanes).0;
    for (group, columns) in rows_of::<S, HIGH>(packed).chunks_exact(chunks).enumerate() {
        let mut sums: BlockSums<S, WIDE, HIGH> = [[simd.splat_f64s(0.0); WIDE]; HIGH];
        let full = rows[0].len() / step;
        for (chunk, columns) in columns.iter().enumerate() {
            let row: [S::f64s; WIDE] =
                if chunk < full { rows.map(|row| row[chunk * step + group]) } else { ends.map(|end| end[group]) };
            for j in 0..HIGH {
                for i in 0..WIDE {
                    sums[j][i] = simd.add_f64s(sums[j][i], simd.mul_f64s(row[i], columns[j]));
                }
            }
        }
        for j in 0..HIGH {
            for i in 0..WIDE {
                lanes[(j * WIDE + i) * step + group] = sums[j][i];
            }
        }
    }
}
