//! Cholesky factors and triangular systems with the bits of `matrix.rs`: each element takes its products away in the same
//! order, and elements of a row are done side by side.

use super::EvaluationOptions;
use super::product::SIDE;
use pulp::{Simd, WithSimd};

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

struct Cholesky<'a> {
    a: &'a [f64],
    l: &'a mut [f64],
    n: usize,
    scratch: &'a mut Vec<f64>,
}

impl WithSimd for Cholesky<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { a, l, n, scratch } = self;
        let width = n.next_multiple_of(SIDE);
        // Row j has column j of L, from its diagonal on; what stands before it means nothing.
        scratch.clear();
        scratch.resize(n * width, 0.0);
        for j in 0..n {
            let (before, own) = scratch.split_at_mut(j * width);
            let own = &mut own[..width];
            for (x, row) in own[j..n].iter_mut().zip(a[j * n..].chunks_exact(n)) {
                *x = row[j];
            }
            for (piece, own) in own.as_chunks_mut::<SIDE>().0.iter_mut().enumerate().skip(j / SIDE) {
                let mut rest = *own;
                for row in before.chunks_exact(width) {
                    rest = less(rest, row[j], &row[piece * SIDE..]);
                }
                *own = rest;
            }
            let root = own[j].sqrt();
            for x in &mut own[j / SIDE * SIDE..] {
                *x /= root;
            }
            own[j] = root;
        }
        for (i, row) in l.chunks_exact_mut(n).enumerate() {
            for (x, column) in row[..=i].iter_mut().zip(scratch.chunks_exact(width)) {
                *x = column[i];
            }
            row[i + 1..].fill(0.0);
        }
    }
}

/// Takes the products of a factor and a row away.
#[inline(always)]
fn less(mut rest: [f64; SIDE], factor: f64, row: &[f64]) -> [f64; SIDE] {
    if let Some(row) = row.first_chunk::<SIDE>() {
        for k in 0..SIDE {
            rest[k] -= factor * row[k];
        }
    }
    rest
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
    fn with_simd<S: Simd>(self, _: S) {
        if self.columns == 1 { self.one_column() } else { self.rows() }
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
    fn rows(self) {
        let Self { l, b, x, n, columns, transposed, scratch } = self;
        let width = columns.next_multiple_of(SIDE);
        // Row s is the one that is done s-th.
        scratch.resize(n * width, 0.0);
        for step in 0..n {
            let i = if transposed { n - 1 - step } else { step };
            let (before, own) = scratch.split_at_mut(step * width);
            let diagonal = l[i * n + i];
            for (piece, own) in own[..width].as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                let from = &b[i * columns + piece * SIDE..];
                match from.first_chunk::<SIDE>() {
                    // What stands behind the row is done too, and not used.
                    Some(row) => *own = *row,
                    None => own[..from.len()].copy_from_slice(from),
                }
                let mut rest = *own;
                for (done, row) in before.chunks_exact(width).enumerate() {
                    let factor = if transposed { l[(n - 1 - done) * n + i] } else { l[i * n + done] };
                    rest = less(rest, factor, &row[piece * SIDE..]);
                }
                for x in &mut rest {
                    *x /= diagonal;
                }
                *own = rest;
            }
        }
        for (i, x) in x.chunks_exact_mut(columns).enumerate() {
            let step = if transposed { n - 1 - i } else { i };
            x.copy_from_slice(&scratch[step * width..][..columns]);
        }
    }
}
