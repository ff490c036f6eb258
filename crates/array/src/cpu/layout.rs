//! Arrays made of numbers or of parts of other arrays on the CPU: arange, eye, transpose, window.

use super::{is_within, same_length};
use crate::{ArrayError, Scalar};
use octopus_cuda::WindowPlace;

/// Rows and columns of a tile that is turned over: its lines stay in the first-level cache.
const TILE: usize = 16;

/// Computes `out[i] = start + step * (first + i)`, with the index rounded to the type, then the product, then the sum.
pub fn arange<T: Scalar>(start: T, step: T, first: usize, out: &mut [T]) {
    (T::loops().arange)(start, step, first, out);
}

/// The loop of [`arange`], which the table of loops has.
pub(super) fn arange_loop<T: Scalar>(start: T, step: T, first: usize, out: &mut [T]) {
    for (i, out) in (first as u64..).zip(out) {
        *out = start + step * T::from_u64(i);
    }
}

/// Makes `out` the identity with `side` rows.
///
/// # Errors
/// When `out` is of another length.
pub fn eye<T: Scalar>(side: usize, out: &mut [T]) -> Result<(), ArrayError> {
    let length = side.checked_mul(side).ok_or(ArrayError::TooLarge { operation: "eye", rows: side, columns: side })?;
    same_length("eye", length, out.len())?;
    out.fill(T::ZERO);
    out.iter_mut().step_by(side + 1).for_each(|one| *one = T::ONE);
    Ok(())
}

/// Turns `x`, of `rows` x `columns` elements, over into `out`.
///
/// # Errors
/// When a slice is not as long as the shape says, or the shape has more elements than memory has addresses.
pub fn transpose<T: Copy>((rows, columns): (usize, usize), x: &[T], out: &mut [T]) -> Result<(), ArrayError> {
    let too_large = ArrayError::TooLarge { operation: "transpose", rows, columns };
    let length = rows.checked_mul(columns).ok_or(too_large)?;
    same_length("transpose", length, x.len())?;
    same_length("transpose", length, out.len())?;
    columns_of((rows, columns), x, 0, out);
    Ok(())
}

/// Turns the columns of `x` from `first` on over into `out`, as many as its length has room for.
pub(crate) fn columns_of<T: Copy>((rows, columns): (usize, usize), x: &[T], first: usize, out: &mut [T]) {
    if rows == 0 {
        return;
    }
    let count = out.len() / rows;
    for left in (0..count).step_by(TILE) {
        let width = TILE.min(count - left);
        for top in (0..rows).step_by(TILE) {
            let height = TILE.min(rows - top);
            for column in left..left + width {
                let out = &mut out[column * rows + top..column * rows + top + height];
                let x = x[top * columns + first + column..].iter().step_by(columns);
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = x);
            }
        }
    }
}

/// Copies a window of `rows` x `columns` elements from one place to another; the rest of `out` stays as it is.
///
/// # Errors
/// When a window ends beyond its slice.
pub fn window<T: Copy>(
    (rows, columns): (usize, usize),
    (x, from): (&[T], WindowPlace),
    (out, to): (&mut [T], WindowPlace),
) -> Result<(), ArrayError> {
    is_within("window", (rows, columns), x.len(), from.first, (from.row, 1))?;
    is_within("window", (rows, columns), out.len(), to.first, (to.row, 1))?;
    if columns == 0 {
        return Ok(());
    }
    for row in 0..rows {
        let (source, target) = (from.first + row * from.row, to.first + row * to.row);
        out[target..target + columns].copy_from_slice(&x[source..source + columns]);
    }
    Ok(())
}
