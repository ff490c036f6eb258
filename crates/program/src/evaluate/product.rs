//! Products of matrices in the order of sums that all back ends have, as vectors.
//!
//! Rows that are contiguous along the sum are multiplied lane by lane. Otherwise the sums of several results go side by
//! side, with the lanes of all of them in memory.

use super::EvaluationOptions;
use crate::order::{FEW, LANES, TILE, sum};
use pulp::{Simd, WithSimd};
use std::mem;

/// Results whose sums go side by side.
pub(super) const SIDE: usize = 8;
/// The longest sums that are done lane by lane.
pub(crate) const SHORT: usize = 4 * LANES;

/// The shapes of a product of `rows` x `columns` with sums over `inner`; factors may be stored transposed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProductShape {
    pub(crate) rows: usize,
    pub(crate) inner: usize,
    pub(crate) columns: usize,
    pub(crate) left_transposed: bool,
    pub(crate) right_transposed: bool,
}

/// Writes the product of `a` and `b` to `out`. `scratch` is memory that later products use again.
pub(crate) fn product(
    options: EvaluationOptions,
    shape: ProductShape,
    a: &[f64],
    b: &[f64],
    out: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    options.width.run(Product { shape, a, b, out, scratch });
}

struct Product<'a> {
    shape: ProductShape,
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
    scratch: &'a mut Vec<f64>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { shape, a, b, out, scratch } = self;
        let ProductShape { rows, inner, columns, left_transposed, right_transposed } = shape;
        if !left_transposed && (right_transposed || columns == 1) {
            by_rows(shape, a, b, out, scratch);
        } else if !left_transposed && !right_transposed && inner > SHORT && inner <= TILE {
            // Turned, both factors are contiguous along the sum.
            let mut turned = mem::take(scratch);
            turned.clear();
            for j in 0..columns {
                turned.extend(b[j..].iter().step_by(columns).take(inner));
            }
            by_rows(shape, a, &turned, out, scratch);
            *scratch = turned;
        } else if !right_transposed
            && columns > 1
            && !(left_transposed && vectors(rows, columns) < vectors(columns, rows))
        {
            for (i, out) in out.chunks_exact_mut(columns).enumerate() {
                let (start, step) = if left_transposed { (i, rows) } else { (i * inner, 1) };
                weighted_rows(RowWeights { values: a, start, step }, b, inner, columns, 1, out, scratch);
            }
        } else {
            for j in 0..columns {
                let (start, step) = if right_transposed { (j * inner, 1) } else { (j, columns) };
                weighted_rows(RowWeights { values: b, start, step }, a, inner, rows, columns, &mut out[j..], scratch);
            }
        }
    }
}

/// Returns how many vectors `count` sums of rows of this `width` take.
fn vectors(width: usize, count: usize) -> usize {
    width.div_ceil(SIDE) * count
}

/// Each row of `a` times each row of `b`.
#[inline(always)]
fn by_rows(shape: ProductShape, a: &[f64], b: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
    let ProductShape { rows, inner, columns, .. } = shape;
    for j in 0..columns {
        let right = &b[j * inner..(j + 1) * inner];
        let mut rest = [0.0; LANES];
        for (rest, &x) in rest.iter_mut().zip(right.as_chunks::<LANES>().1) {
            *rest = x;
        }
        for i in 0..rows {
            out[i * columns + j] = dot(a, i * inner, right, &rest, scratch);
        }
    }
}

/// A row or a column of a matrix.
#[derive(Clone, Copy)]
struct RowWeights<'a> {
    values: &'a [f64],
    start: usize,
    step: usize,
}

impl RowWeights<'_> {
    #[inline(always)]
    fn at(self, k: usize) -> f64 {
        self.values[self.start + k * self.step]
    }
}

/// The sum of the products of the elements of `a` from `start` on and `b`, whose elements after the last full lanes stand
/// in `rest` too.
#[inline(always)]
fn dot(a: &[f64], start: usize, b: &[f64], rest: &[f64; LANES], tiles: &mut Vec<f64>) -> f64 {
    if b.len() <= FEW {
        return a[start..].iter().zip(b).fold(0.0, |sum, (&x, &y)| sum + x * y);
    }
    if b.len() <= TILE {
        return tile(a, start, b, rest);
    }
    tiles.clear();
    for (k, b) in b.chunks(TILE).enumerate() {
        tiles.push(tile(a, start + k * TILE, b, rest));
    }
    sum(tiles)
}

#[inline(always)]
fn tile(a: &[f64], start: usize, b: &[f64], padded: &[f64; LANES]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (full, rest) = b.as_chunks::<LANES>();
    let mut at = start;
    for b in full {
        if let Some(a) = a[at..].first_chunk::<LANES>() {
            for k in 0..LANES {
                lanes[k] += a[k] * b[k];
            }
        }
        at += LANES;
    }
    if !rest.is_empty() {
        match a[at..].first_chunk::<LANES>() {
            // What stands behind the row is read and not used.
            Some(a) => {
                for k in 0..LANES {
                    let product = a[k] * padded[k];
                    lanes[k] += if k < rest.len() { product } else { 0.0 };
                }
            }
            None => {
                for ((lane, &a), &b) in lanes.iter_mut().zip(&a[at..]).zip(rest) {
                    *lane += a * b;
                }
            }
        }
    }
    joined(&lanes)
}

/// The sum of the lanes as a halving tree; each half is an array, so that it stays in the processor.
#[inline(always)]
fn joined(lanes: &[f64; LANES]) -> f64 {
    let half: [f64; 16] = std::array::from_fn(|k| lanes[k] + lanes[k + 16]);
    let half: [f64; 8] = std::array::from_fn(|k| half[k] + half[k + 8]);
    let half: [f64; 4] = std::array::from_fn(|k| half[k] + half[k + 4]);
    (half[0] + half[2]) + (half[1] + half[3])
}

/// Writes the sums of the rows of a matrix of `inner` x `width`, each times its weight, to each `step`-th place of `out`.
#[inline(always)]
fn weighted_rows(
    weights: RowWeights<'_>,
    matrix: &[f64],
    inner: usize,
    width: usize,
    step: usize,
    out: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    if inner <= SHORT {
        return short_weighted_rows(weights, matrix, inner, width, step, out);
    }
    let (lanes, padded) = (LANES, width.next_multiple_of(SIDE));
    let tiles = inner.div_ceil(TILE).max(1);
    scratch.clear();
    scratch.resize(lanes * padded + if tiles > 1 { tiles * width + tiles } else { 0 }, 0.0);
    let (sums, of_tiles) = scratch.split_at_mut(lanes * padded);
    for tile in 0..tiles {
        sums.fill(0.0);
        for k in tile * TILE..inner.min((tile + 1) * TILE) {
            let (weight, lane) = (weights.at(k), k % lanes * padded);
            for (piece, sums) in sums[lane..lane + padded].as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
                let at = k * width + piece * SIDE;
                match matrix[at..].first_chunk::<SIDE>() {
                    // What stands behind the row is summed too, and not used.
                    Some(row) => {
                        let before = *sums;
                        *sums = std::array::from_fn(|i| before[i] + row[i] * weight);
                    }
                    None => {
                        for (sum, &x) in sums.iter_mut().zip(&matrix[at..]) {
                            *sum += x * weight;
                        }
                    }
                }
            }
        }
        let mut half = lanes / 2;
        while half > 0 {
            let (to, from) = sums.split_at_mut(half * padded);
            for (to, &x) in to.iter_mut().zip(&*from) {
                *to += x;
            }
            half /= 2;
        }
        if tiles > 1 {
            of_tiles[tile * width..(tile + 1) * width].copy_from_slice(&sums[..width]);
        }
    }
    if tiles == 1 {
        for (out, &x) in out.iter_mut().step_by(step).zip(&sums[..width]) {
            *out = x;
        }
        return;
    }
    let (of_tiles, one) = of_tiles.split_at_mut(tiles * width);
    for (i, out) in out.iter_mut().step_by(step).take(width).enumerate() {
        for (to, &x) in one.iter_mut().zip(of_tiles[i..].iter().step_by(width)) {
            *to = x;
        }
        *out = sum(one);
    }
}

/// The same for short sums: lane by lane, so that no lane stands in memory. A lane without a product adds nothing: no sum
/// of 0 and a product is -0.
#[inline(always)]
fn short_weighted_rows(
    weights: RowWeights<'_>,
    matrix: &[f64],
    inner: usize,
    width: usize,
    step: usize,
    out: &mut [f64],
) {
    for start in (0..width).step_by(SIDE) {
        let side = Side { weights, matrix, inner, width, start };
        if (inner.max(1) - 1) * width + start + SIDE > matrix.len() {
            side.at_the_end(&mut out[start * step..], step);
            continue;
        }
        let sums = if inner <= FEW {
            side.lane(0, 1)
        } else {
            let mut eight = [[0.0; SIDE]; 8];
            for (k, sums) in eight.iter_mut().enumerate() {
                *sums = side.lane(k, LANES);
                if k + 16 < inner {
                    *sums = plus(*sums, side.lane(k + 16, LANES));
                }
                if k + 8 < inner {
                    let mut other = side.lane(k + 8, LANES);
                    if k + 24 < inner {
                        other = plus(other, side.lane(k + 24, LANES));
                    }
                    *sums = plus(*sums, other);
                }
            }
            let [a, b, c, d, e, f, g, h] = eight;
            plus(plus(plus(a, e), plus(c, g)), plus(plus(b, f), plus(d, h)))
        };
        let out = &mut out[start * step..];
        match out.first_chunk_mut::<SIDE>() {
            Some(out) if step == 1 && start + SIDE <= width => *out = sums,
            _ => {
                for (out, &x) in out.iter_mut().step_by(step).zip(&sums[..SIDE.min(width - start)]) {
                    *out = x;
                }
            }
        }
    }
}

/// Results that stand side by side.
#[derive(Clone, Copy)]
struct Side<'a> {
    weights: RowWeights<'a>,
    matrix: &'a [f64],
    inner: usize,
    width: usize,
    start: usize,
}

impl Side<'_> {
    /// The sums of each `lanes`-th product. What stands behind a row is summed too, and not used.
    #[inline(always)]
    fn lane(self, first: usize, lanes: usize) -> [f64; SIDE] {
        let mut sums = [0.0; SIDE];
        let mut k = first;
        while k < self.inner {
            let weight = self.weights.at(k);
            let from = &self.matrix[k * self.width + self.start..];
            let Some(row) = from.first_chunk::<SIDE>() else { break };
            for i in 0..SIDE {
                sums[i] += row[i] * weight;
            }
            k += lanes;
        }
        sums
    }

    /// The same one by one, where there is no room behind the matrix.
    #[inline(never)]
    fn at_the_end(self, out: &mut [f64], step: usize) {
        for (out, column) in out.iter_mut().step_by(step).zip(self.start..self.width) {
            let mut products = [0.0; SHORT];
            for (k, product) in products.iter_mut().enumerate().take(self.inner) {
                *product = self.matrix[k * self.width + column] * self.weights.at(k);
            }
            *out = sum(&products[..self.inner]);
        }
    }
}

#[inline(always)]
fn plus(mut a: [f64; SIDE], b: [f64; SIDE]) -> [f64; SIDE] {
    for k in 0..SIDE {
        a[k] += b[k];
    }
    a
}
