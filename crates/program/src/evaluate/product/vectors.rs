//! Products of a matrix and a vector, which is contiguous however it is stored.
//!
//! Rows that are contiguous along the sum are multiplied lane by lane. Otherwise the sums of several results go side by
//! side, with the lanes of all of them in memory.

use super::{ProductShape, SHORT, joined, sum_of_tiles};
use crate::order::{FEW, LANES, TILE, sum};
use std::mem;

/// Results whose sums go side by side.
const SIDE: usize = 8;

/// Writes a product of which one factor is a row or a column.
#[inline(always)]
pub(super) fn write(shape: ProductShape, a: &[f64], b: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
    let ProductShape { rows, inner, columns, left_transposed, right_transposed } = shape;
    if (rows == 1 && (right_transposed || columns == 1)) || (columns == 1 && !left_transposed) {
        by_rows(shape, a, b, out, scratch);
    } else if columns == 1 {
        weighted_rows(b, a, inner, rows, out, scratch);
    } else if inner > SHORT && inner <= TILE {
        // Turned, both factors are contiguous along the sum.
        let mut turned = mem::take(scratch);
        turned.clear();
        for j in 0..columns {
            turned.extend(b[j..].iter().step_by(columns).take(inner));
        }
        by_rows(shape, a, &turned, out, scratch);
        *scratch = turned;
    } else {
        weighted_rows(a, b, inner, columns, out, scratch);
    }
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

/// Writes the sums of the rows of a matrix of `inner` x `width`, each times its weight.
#[inline(always)]
fn weighted_rows(weights: &[f64], matrix: &[f64], inner: usize, width: usize, out: &mut [f64], scratch: &mut Vec<f64>) {
    if inner <= SHORT {
        return short_weighted_rows(weights, matrix, inner, width, out);
    }
    let (lanes, padded) = (LANES, width.next_multiple_of(SIDE));
    let tiles = inner.div_ceil(TILE).max(1);
    scratch.clear();
    scratch.resize(lanes * padded + if tiles > 1 { tiles * width + tiles } else { 0 }, 0.0);
    let (sums, of_tiles) = scratch.split_at_mut(lanes * padded);
    for tile in 0..tiles {
        sums.fill(0.0);
        for k in tile * TILE..inner.min((tile + 1) * TILE) {
            let (weight, lane) = (weights[k], k % lanes * padded);
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
        return out[..width].copy_from_slice(&sums[..width]);
    }
    let (of_tiles, one) = of_tiles.split_at_mut(tiles * width);
    for (i, out) in out.iter_mut().take(width).enumerate() {
        *out = sum_of_tiles(&of_tiles[i..], width, one);
    }
}

/// The same for short sums: lane by lane, so that no lane stands in memory. A lane without a product adds nothing: no sum
/// of 0 and a product is -0.
#[inline(always)]
fn short_weighted_rows(weights: &[f64], matrix: &[f64], inner: usize, width: usize, out: &mut [f64]) {
    for start in (0..width).step_by(SIDE) {
        let side = Side { weights, matrix, inner, width, start };
        if (inner.max(1) - 1) * width + start + SIDE > matrix.len() {
            side.at_the_end(&mut out[start..]);
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
        let out = &mut out[start..width];
        match out.first_chunk_mut::<SIDE>() {
            Some(out) => *out = sums,
            None => out.copy_from_slice(&sums[..out.len()]),
        }
    }
}

/// Results that stand side by side.
#[derive(Clone, Copy)]
struct Side<'a> {
    weights: &'a [f64],
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
            let weight = self.weights[k];
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
    fn at_the_end(self, out: &mut [f64]) {
        for (out, column) in out.iter_mut().zip(self.start..self.width) {
            let mut products = [0.0; SHORT];
            for (k, product) in products.iter_mut().enumerate().take(self.inner) {
                *product = self.matrix[k * self.width + column] * self.weights[k];
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
