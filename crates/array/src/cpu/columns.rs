//! Reductions along the columns of a matrix on the CPU (axis 0).
//!
//! The rows of a group stand here.
//!
//! Rows are taken in groups of [`GROUP`]: in each, the numbers of a column are joined one after the other, from the first
//! row to the last; the groups' rows of results are reduced in the same way until one is left. So whole rows are read in
//! the order in which they lie in memory, each number meets at most 64 roundings for each factor of 64 in the number of
//! rows, and a GPU has a thread for each column of each group.

use super::same_length;
use super::warp::{Max, Min, Operation, Sum};
use crate::{ArrayError, Scalar};
use octopus_cuda::{AxisReduction, COLUMN_PART as GROUP};
use pulp::{Arch, Simd, WithSimd};
use std::marker::PhantomData;

/// Columns that are worked on at a time: their results stay in the first-level cache while a group's rows go by.
const STRIP: usize = 1024;

/// Joins the numbers of each column of `x`, which has `rows` x `columns` elements, in `out`.
///
/// # Errors
/// When a slice is not as long as the shape says, or the shape has more elements than memory has addresses.
pub fn reduce_columns<T: Scalar>(
    reduction: AxisReduction,
    sides: (usize, usize),
    x: &[T],
    out: &mut [T],
) -> Result<(), ArrayError> {
    (T::loops().reduce_columns)(reduction, sides, x, out)
}

/// The loop of [`reduce_columns`], which the table of loops has.
pub(super) fn reduce_columns_loop<T: Scalar>(
    reduction: AxisReduction,
    (rows, columns): (usize, usize),
    x: &[T],
    out: &mut [T],
) -> Result<(), ArrayError> {
    const NAME: &str = "reduce_columns";
    let too_large = ArrayError::TooLarge { operation: NAME, rows, columns };
    same_length(NAME, rows.checked_mul(columns).ok_or(too_large)?, x.len())?;
    same_length(NAME, columns, out.len())?;
    match reduction {
        AxisReduction::Sum => along_columns::<T, Sum>((rows, columns), x, out, itself),
        AxisReduction::Min => along_columns::<T, Min>((rows, columns), x, out, itself),
        AxisReduction::Max => along_columns::<T, Max>((rows, columns), x, out, itself),
    }
    Ok(())
}

/// Puts the sum of `(x[i, j] - center[j])^2` over all rows i into `out[j]`; a loop of the table.
pub(super) fn squares_along_columns<T: Scalar>(sides: (usize, usize), center: &[T], x: &[T], out: &mut [T]) {
    along_columns::<T, Sum>(sides, x, out, |x, column| {
        let distance = x - center[column];
        distance * distance
    });
}

/// Joins `term(x[i, j], j)` for all rows i in `out[j]`.
fn along_columns<T: Scalar, O: Operation<T>>(
    (rows, columns): (usize, usize),
    x: &[T],
    out: &mut [T],
    term: impl Fn(T, usize) -> T,
) {
    if rows == 0 || columns == 0 {
        return out.fill(O::EMPTY);
    }
    let arch = Arch::new();
    let groups = |rows: usize| rows.div_ceil(GROUP);
    if groups(rows) == 1 {
        return arch.dispatch(Groups::<T, _, O> { columns, x, out, term, of: PhantomData });
    }
    let mut partial = vec![T::ZERO; groups(rows) * columns];
    arch.dispatch(Groups::<T, _, O> { columns, x, out: &mut partial, term, of: PhantomData });
    along_columns::<T, O>((groups(rows), columns), &partial, out, itself);
}

/// The term of a reduction of the numbers themselves; a function and no closure, so that it has one type at any depth.
#[inline(always)]
fn itself<T>(x: T, _: usize) -> T {
    x
}

/// One pass. A type and not a closure, so that all of it is compiled for each level of vector instructions.
struct Groups<'a, T, F, O> {
    columns: usize,
    x: &'a [T],
    out: &'a mut [T],
    term: F,
    of: PhantomData<O>,
}

impl<T: Scalar, F: Fn(T, usize) -> T, O: Operation<T>> WithSimd for Groups<'_, T, F, O> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { columns, x, out, term, .. } = self;
        for (group, out) in x.chunks(GROUP * columns).zip(out.chunks_exact_mut(columns)) {
            for first in (0..columns).step_by(STRIP) {
                let width = STRIP.min(columns - first);
                let out = &mut out[first..first + width];
                let mut rows = group.chunks_exact(columns).map(|row| &row[first..first + width]);
                if let Some(row) = rows.next() {
                    for (column, (out, &x)) in out.iter_mut().zip(row).enumerate() {
                        *out = term(x, first + column);
                    }
                }
                // Four rows at a time, still one after the other: the results are read and written a fourth as often.
                while let Some(a) = rows.next() {
                    let (Some(b), Some(c), Some(d)) = (rows.next(), rows.next(), rows.next()) else {
                        // No more than three rows are left, of which some were taken: they are found anew.
                        let left = (group.len() / columns - 1) % 4;
                        for row in group.chunks_exact(columns).rev().take(left).rev() {
                            let row = &row[first..first + width];
                            for (column, (out, &x)) in out.iter_mut().zip(row).enumerate() {
                                *out = O::join(*out, term(x, first + column));
                            }
                        }
                        break;
                    };
                    for (column, ((((out, &a), &b), &c), &d)) in out.iter_mut().zip(a).zip(b).zip(c).zip(d).enumerate()
                    {
                        let column = first + column;
                        let joined = O::join(O::join(*out, term(a, column)), term(b, column));
                        *out = O::join(O::join(joined, term(c, column)), term(d, column));
                    }
                }
            }
        }
    }
}
