//! Products of matrices in the order of sums that all back ends have, as vectors.
//!
//! | module | products |
//! |--|--|
//! | `panels` | of matrices: vectors of results side by side |
//! | `dots` | of matrices with rows that are contiguous along a long sum: its lanes are vectors |
//! | `vectors` | of a matrix and a vector |

mod dots;
mod panels;
mod vectors;

use super::EvaluationOptions;
use super::block::HIGHEST;
use crate::order::{LANES, sum};
use pulp::{Simd, WithSimd};

/// Numbers of a vector, for the choice of the factor that is read as vectors: the same for all widths.
const SIDE: usize = 8;
/// From this many columns on, vectors are full enough.
const FEWEST_WIDE: usize = 16;
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
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { shape, a, b, out, scratch } = self;
        let ProductShape { rows, inner, columns, left_transposed, right_transposed } = shape;
        if out.is_empty() {
            return;
        }
        if rows == 1 || columns == 1 {
            return vectors::write(shape, a, b, out, scratch);
        }
        let left = Factor::new(a, rows, inner, left_transposed);
        let right = Factor::new(b, columns, inner, !right_transposed);
        if !left_transposed && inner > SHORT && (right_transposed || columns < FEWEST_WIDE) {
            dots::Dots { left: a, rows, right, inner }.write(simd, out, scratch);
        } else if left_transposed && (right_transposed || sides(rows, columns) < sides(columns, rows)) {
            let panels = panels::Panels { wide: left, narrow: right, inner, by_wide: columns, by_narrow: 1 };
            panels.write(simd, out, scratch);
        } else {
            let panels = panels::Panels { wide: right, narrow: left, inner, by_wide: 1, by_narrow: columns };
            panels.write(simd, out, scratch);
        }
    }
}

/// Returns how many vectors `count` sums of rows of this `width` take.
fn sides(width: usize, count: usize) -> usize {
    width.div_ceil(SIDE) * count
}

/// A factor as it is read: along the sum, and from one result to the next.
#[derive(Clone, Copy)]
struct Factor<'a> {
    values: &'a [f64],
    count: usize,
    by_sum: usize,
    by_result: usize,
}

impl<'a> Factor<'a> {
    /// A factor for `count` results, which are side by side or stand `inner` apart.
    fn new(values: &'a [f64], count: usize, inner: usize, side_by_side: bool) -> Self {
        let (by_sum, by_result) = if side_by_side { (count, 1) } else { (1, inner) };
        Self { values, count, by_sum, by_result }
    }

    /// The factor from a product and a result on, for at most so many results.
    #[inline(always)]
    fn part(self, product: usize, result: usize, most: usize) -> Self {
        let values = &self.values[product * self.by_sum + result * self.by_result..];
        Self { values, count: most.min(self.count - result), ..self }
    }

    /// Returns the results of a block, where `count` are cut in blocks as equal as can be.
    #[inline(always)]
    fn high_of(count: usize) -> usize {
        count.div_ceil(count.div_ceil(HIGHEST))
    }
}

/// Returns the sum of a result's tiles, which stand `step` apart; `of_one` has room for them.
#[inline(always)]
fn sum_of_tiles(tiles: &[f64], step: usize, of_one: &mut [f64]) -> f64 {
    for (to, &x) in of_one.iter_mut().zip(tiles.iter().step_by(step)) {
        *to = x;
    }
    sum(of_one)
}

/// The sum of the lanes as a halving tree; each half is an array, so that it stays in the processor.
#[inline(always)]
pub(super) fn joined(lanes: &[f64; LANES]) -> f64 {
    let half: [f64; 16] = std::array::from_fn(|k| lanes[k] + lanes[k + 16]);
    let half: [f64; 8] = std::array::from_fn(|k| half[k] + half[k + 8]);
    let half: [f64; 4] = std::array::from_fn(|k| half[k] + half[k + 4]);
    (half[0] + half[2]) + (half[1] + half[3])
}
