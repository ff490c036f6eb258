//! Cholesky factors and triangular systems with the bits of `matrix.rs`: each element takes its products away in the same
//! order, and the elements of a block do so side by side.
//!
//! Panels of columns are done one after the other, each from its first row to its last. The rows of a block take what is
//! known away while they stay in registers, and are then finished one by one.

use super::EvaluationOptions;
use super::block::{BlockSums, add_products, aligned, cut, load, rows_of, rows_of_mut, store, vectors_for, widest};
use pulp::{Simd, WithSimd};

/// Rows of a block. Each panel but the last begins at a multiple of it.
const HIGH: usize = 4;

/// Writes the lower triangle L with L L' = A. `scratch` is memory that later steps use again.
pub(crate) fn cholesky(options: EvaluationOptions, a: &[f64], l: &mut [f64], n: usize, scratch: &mut Vec<f64>) {
    options.width.run(Cholesky { a, l, n, scratch });
}

/// Writes the matrix X of `n` x `columns` with L X = B, or L' X = B.
#[allow(clippy::too_many_arguments, reason = "a system, its shape and its memory")]
pub(crate) fn solve(
    options: EvaluationOptions,
    l: &[f64],
    b: &[f64],
    x: &mut [f64],
    n: usize,
    columns: usize,
    transposed: bool,
    scratch: &mut Vec<f64>,
) {
    options.width.run(Solve { l, b, x, n, columns, transposed, scratch });
}

/// The rows of a factor, block by block, as they are read: the elements of each column before the block with a minus, and
/// then the block's own triangle, of which the diagonal has none.
struct FactorBlocks<'a>(&'a mut [[f64; HIGH]]);

impl<'a> FactorBlocks<'a> {
    /// The numbers of a factor of `n` rows.
    fn length(n: usize) -> usize {
        let blocks = n.div_ceil(HIGH);
        HIGH * HIGH * blocks * (blocks + 1) / 2
    }

    fn new(memory: &'a mut [f64]) -> Self {
        Self(memory.as_chunks_mut().0)
    }

    /// The block whose first row is `first`.
    fn block(&mut self, first: usize) -> (&mut [[f64; HIGH]], &mut [[f64; HIGH]; HIGH]) {
        let blocks = first / HIGH;
        let (before, rest) = self.0[HIGH * blocks * (blocks + 1) / 2..].split_at_mut(first);
        (before, &mut rest.as_chunks_mut().0[0])
    }
}

/// Finishes the rows of a block from which all before them are taken away.
#[inline(always)]
fn finish<S: Simd, const WIDE: usize>(
    simd: S,
    mut rows: BlockSums<S, WIDE, HIGH>,
    corner: &[[f64; HIGH]; HIGH],
) -> BlockSums<S, WIDE, HIGH> {
    for j in 0..HIGH {
        let diagonal = simd.splat_f64s(corner[j][j]);
        for v in 0..WIDE {
            rows[j][v] = simd.div_f64s(rows[j][v], diagonal);
        }
        for i in j + 1..HIGH {
            let weight = simd.splat_f64s(corner[j][i]);
            for v in 0..WIDE {
                rows[i][v] = simd.add_f64s(rows[i][v], simd.mul_f64s(rows[j][v], weight));
            }
        }
    }
    rows
}

struct Cholesky<'a> {
    a: &'a [f64],
    l: &'a mut [f64],
    n: usize,
    scratch: &'a mut Vec<f64>,
}

impl WithSimd for Cholesky<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { a, l, n, scratch } = self;
        let lengths = [FactorBlocks::length(n), n.next_multiple_of(HIGH) * widest::<S>() * S::F64_LANES];
        let [blocks, panel] = cut(aligned(scratch, lengths.iter().sum()), lengths);
        let mut blocks = FactorBlocks::new(blocks);
        let mut start = 0;
        while start < n {
            let vectors = vectors_for::<S>(n - start);
            match vectors {
                1 => factor_panel::<S, 1>(simd, a, l, n, start, &mut blocks, panel),
                2 => factor_panel::<S, 2>(simd, a, l, n, start, &mut blocks, panel),
                _ => factor_panel::<S, 4>(simd, a, l, n, start, &mut blocks, panel),
            }
            start += vectors * S::F64_LANES;
        }
    }
}

/// Writes as many rows of L from `start` on as a panel has columns. Row j of the panel has their j-th elements.
#[inline(always)]
fn factor_panel<S: Simd, const WIDE: usize>(
    simd: S,
    a: &[f64],
    l: &mut [f64],
    n: usize,
    start: usize,
    blocks: &mut FactorBlocks<'_>,
    panel: &mut [f64],
) {
    let width = WIDE * S::F64_LANES;
    let end = n.min(start + width);
    for (j, to) in panel.chunks_exact_mut(width).enumerate().take(end) {
        for (to, row) in to.iter_mut().skip(j.saturating_sub(start)).zip(a[start.max(j) * n..end * n].chunks_exact(n)) {
            *to = row[j];
        }
    }
    for first in (0..start).step_by(HIGH) {
        let (before, rest) = panel.split_at_mut(first * width);
        let own = &mut rows_of_mut::<S, WIDE>(rest).as_chunks_mut().0[0];
        let (known, corner) = blocks.block(first);
        *own = finish(simd, add_products(simd, *own, rows_of::<S, WIDE>(before), known), corner);
    }
    // The rows of the triangle are columns of the panel, too.
    for j in start..end {
        let (before, own) = panel.split_at_mut(j * width);
        let at = j - start;
        let rows = rows_of::<S, WIDE>(before);
        let own_row = &mut rows_of_mut::<S, WIDE>(own)[0];
        for v in at / S::F64_LANES..WIDE {
            let mut rest = own_row[v];
            for (row, numbers) in rows.iter().zip(before.chunks_exact(width)) {
                rest = simd.sub_f64s(rest, simd.mul_f64s(row[v], simd.splat_f64s(numbers[at])));
            }
            own_row[v] = rest;
        }
        let root = own[at].sqrt();
        let divisor = simd.splat_f64s(root);
        let own_row = &mut rows_of_mut::<S, WIDE>(own)[0];
        for x in &mut own_row[at / S::F64_LANES..] {
            *x = simd.div_f64s(*x, divisor);
        }
        own[at] = root;
    }
    if end < n {
        for first in (start..end).step_by(HIGH) {
            let (known, corner) = blocks.block(first);
            let at = first - start;
            for (to, row) in known.iter_mut().zip(panel.chunks_exact(width)) {
                *to = std::array::from_fn(|j| -row[at + j]);
            }
            for (j, row) in panel[first * width..].chunks_exact(width).take(HIGH).enumerate() {
                corner[j] = std::array::from_fn(|i| if i == j { row[at + i] } else { -row[at + i] });
            }
        }
    }
    for (i, row) in (start..end).zip(l[start * n..].chunks_exact_mut(n)) {
        for (x, column) in row[..=i].iter_mut().zip(panel.chunks_exact(width)) {
            *x = column[i - start];
        }
        row[i + 1..].fill(0.0);
    }
}

struct Solve<'a> {
    l: &'a [f64],
    b: &'a [f64],
    x: &'a mut [f64],
    n: usize,
    columns: usize,
    transposed: bool,
    scratch: &'a mut Vec<f64>,
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.columns == 1 { self.one_column() } else { self.panels(simd) }
    }
}

impl Solve<'_> {
    /// An element that is known is taken from all that need it at once.
    #[inline(always)]
    fn one_column(self) {
        let Self { l, b, x, n, transposed, .. } = self;
        x.copy_from_slice(&b[..n]);
        if transposed {
            for i in (0..n).rev() {
                let row = &l[i * n..=i * n + i];
                let known = x[i] / row[i];
                x[i] = known;
                for (rest, &factor) in x[..i].iter_mut().zip(row) {
                    *rest -= factor * known;
                }
            }
        } else {
            for i in 0..n {
                let known = x[i] / l[i * n + i];
                x[i] = known;
                for (rest, row) in x[i + 1..].iter_mut().zip(l[(i + 1) * n..].chunks_exact(n)) {
                    *rest -= row[i] * known;
                }
            }
        }
    }

    #[inline(always)]
    fn panels<S: Simd>(self, simd: S) {
        let Self { l, b, x, n, columns, transposed, scratch } = self;
        let lengths = [FactorBlocks::length(n), n.next_multiple_of(HIGH) * widest::<S>() * S::F64_LANES];
        let [blocks, panel] = cut(aligned(scratch, lengths.iter().sum()), lengths);
        let mut blocks = FactorBlocks::new(blocks);
        // The row that is done s-th, and what it takes of the one that is done k-th.
        let place = |s: usize| if transposed { n - 1 - s } else { s };
        let factor = |s: usize, k: usize| if transposed { l[place(k) * n + place(s)] } else { l[s * n + k] };
        for first in (0..n).step_by(HIGH) {
            let (known, corner) = blocks.block(first);
            let count = HIGH.min(n - first);
            for (k, known) in known.iter_mut().enumerate() {
                *known = [0.0; HIGH];
                for (j, to) in known.iter_mut().enumerate().take(count) {
                    *to = -factor(first + j, k);
                }
            }
            *corner = [[1.0; HIGH]; HIGH];
            for j in 0..count {
                corner[j][j] = factor(first + j, first + j);
                for i in j + 1..count {
                    corner[j][i] = -factor(first + i, first + j);
                }
            }
        }
        let system = System { b, n, columns, transposed };
        let mut start = 0;
        while start < columns {
            let vectors = vectors_for::<S>(columns - start);
            match vectors {
                1 => system.panel::<S, 1>(simd, start, &mut blocks, panel, x),
                2 => system.panel::<S, 2>(simd, start, &mut blocks, panel, x),
                _ => system.panel::<S, 4>(simd, start, &mut blocks, panel, x),
            }
            start += vectors * S::F64_LANES;
        }
    }
}

/// The right side of a system, whose factor is copied already.
struct System<'a> {
    b: &'a [f64],
    n: usize,
    columns: usize,
    transposed: bool,
}

impl System<'_> {
    #[inline(always)]
    fn panel<S: Simd, const WIDE: usize>(
        &self,
        simd: S,
        start: usize,
        blocks: &mut FactorBlocks<'_>,
        panel: &mut [f64],
        x: &mut [f64],
    ) {
        let &Self { b, n, columns, transposed } = self;
        let width = WIDE * S::F64_LANES;
        let count = width.min(columns - start);
        let place = |s: usize| (if transposed { n - 1 - s } else { s }) * columns + start;
        for first in (0..n).step_by(HIGH) {
            let (before, own) = panel.split_at_mut(first * width);
            let own = &mut rows_of_mut::<S, WIDE>(own).as_chunks_mut::<HIGH>().0[0];
            let mut rows: BlockSums<S, WIDE, HIGH> = [[simd.splat_f64s(0.0); WIDE]; HIGH];
            for (s, row) in (first..n).zip(&mut rows) {
                for (v, to) in row.iter_mut().enumerate() {
                    *to = load(simd, &b[place(s)..][(v * S::F64_LANES).min(count)..count]);
                }
            }
            let (known, corner) = blocks.block(first);
            *own = finish(simd, add_products(simd, rows, rows_of::<S, WIDE>(before), known), corner);
            for (s, row) in (first..n).zip(own) {
                for (v, from) in row.iter().enumerate() {
                    store(simd, &mut x[place(s)..][(v * S::F64_LANES).min(count)..count], *from);
                }
            }
        }
    }
}
