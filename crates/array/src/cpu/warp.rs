//! Sums, dot products, minima and maxima on the CPU (reductions), in the virtual warp's order.
//!
//! The elements of a chunk stand here.
//!
//! All lanes go on together, row by row: arrays are read in the order in which they lie in memory, and the lanes stay in
//! the first-level cache.

use super::same_length;
use crate::{ArrayError, Scalar};
use octopus_cuda::AxisReduction;
use octopus_random::warp::{NARROW, NARROW_LIMIT, WIDE, halve};
use pulp::{Arch, Simd, WithSimd};
use std::marker::PhantomData;

/// Elements of a chunk.
const CHUNK: usize = 16_384;

/// How two values are joined, and what a lane without elements holds; the same as in
/// `kernels/include/octopus/warp.cuh`.
pub(crate) trait Operation<T: Scalar> {
    const EMPTY: T;
    fn join(a: T, b: T) -> T;

    /// The same for values that are no NaN, where that is faster, and whether it is.
    const HAS_JOIN_OF_NUMBERS: bool = false;
    #[inline(always)]
    fn join_numbers(a: T, b: T) -> T {
        Self::join(a, b)
    }
}

pub(crate) struct Sum;
pub(crate) struct Min;
pub(crate) struct Max;

impl<T: Scalar> Operation<T> for Sum {
    const EMPTY: T = T::ZERO;

    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a + b
    }
}

impl<T: Scalar> Operation<T> for Min {
    const EMPTY: T = T::INFINITY;

    // A NaN is taken when it comes, and kept: no comparison with it holds. Of equal numbers (-0 and 0) the first stays.
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn join(a: T, b: T) -> T {
        if b < a || b != b { b } else { a }
    }

    const HAS_JOIN_OF_NUMBERS: bool = true;
    #[inline(always)]
    fn join_numbers(a: T, b: T) -> T {
        if b < a { b } else { a }
    }
}

impl<T: Scalar> Operation<T> for Max {
    const EMPTY: T = T::NEG_INFINITY;

    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn join(a: T, b: T) -> T {
        if b > a || b != b { b } else { a }
    }

    const HAS_JOIN_OF_NUMBERS: bool = true;
    #[inline(always)]
    fn join_numbers(a: T, b: T) -> T {
        if b > a { b } else { a }
    }
}

/// The terms that are reduced: an array, or what is made of arrays element by element.
trait Terms: Copy {
    type Value: Scalar;
    fn len(&self) -> usize;
    fn one(&self, at: usize) -> Self::Value;
    /// Returns the `length` terms from `at` on: a loop over as many knows that all of them are there.
    fn part(&self, at: usize, length: usize) -> Self;
}

impl<T: Scalar> Terms for &[T] {
    type Value = T;

    #[inline(always)]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline(always)]
    fn one(&self, at: usize) -> T {
        self[at]
    }

    #[inline(always)]
    fn part(&self, at: usize, length: usize) -> Self {
        &self[at..at + length]
    }
}

/// The squares of an array's distances from a number.
#[derive(Clone, Copy)]
struct Deviations<'a, T>(&'a [T], T);

impl<T: Scalar> Terms for Deviations<'_, T> {
    type Value = T;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn one(&self, at: usize) -> T {
        let distance = self.0[at] - self.1;
        distance * distance
    }

    #[inline(always)]
    fn part(&self, at: usize, length: usize) -> Self {
        Self(&self.0[at..at + length], self.1)
    }
}

/// Two arrays of the same length.
#[derive(Clone, Copy)]
struct Products<'a, T>(&'a [T], &'a [T]);

impl<T: Scalar> Terms for Products<'_, T> {
    type Value = T;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn one(&self, at: usize) -> T {
        self.0[at] * self.1[at]
    }

    #[inline(always)]
    fn part(&self, at: usize, length: usize) -> Self {
        Self(&self.0[at..at + length], &self.1[at..at + length])
    }
}

/// Returns the sum of all elements; +0 for none.
#[must_use]
pub fn sum<T: Scalar>(x: &[T]) -> T {
    (T::loops().reduce)(AxisReduction::Sum, x)
}

/// Returns the smallest element; NaN when there is one, infinity for no elements.
#[must_use]
pub fn min<T: Scalar>(x: &[T]) -> T {
    (T::loops().reduce)(AxisReduction::Min, x)
}

/// Returns the largest element; NaN when there is one, minus infinity for no elements.
#[must_use]
pub fn max<T: Scalar>(x: &[T]) -> T {
    (T::loops().reduce)(AxisReduction::Max, x)
}

/// Returns the sum of `x[i] * y[i]`, each product rounded; +0 for no elements.
///
/// # Errors
/// When lengths differ.
pub fn dot<T: Scalar>(x: &[T], y: &[T]) -> Result<T, ArrayError> {
    (T::loops().dot)(x, y)
}

/// Returns the sum of `(x[i] - center)^2`, rounded after each operation; +0 for no elements.
#[must_use]
pub fn sum_of_squares<T: Scalar>(center: T, x: &[T]) -> T {
    (T::loops().sum_of_squares)(center, x)
}

/// Joins the numbers of each row of `x`, which has `rows` x `columns` elements, in `out`: each row is reduced as an array of
/// its own.
///
/// # Errors
/// When a slice is not as long as the shape says, or the shape has more elements than memory has addresses.
pub fn reduce_rows<T: Scalar>(
    reduction: AxisReduction,
    sides: (usize, usize),
    x: &[T],
    out: &mut [T],
) -> Result<(), ArrayError> {
    (T::loops().reduce_rows)(reduction, sides, x, out)
}

/// The loop of [`sum`], [`min`] and [`max`], which the table of loops has.
pub(super) fn reduce_loop<T: Scalar>(reduction: AxisReduction, x: &[T]) -> T {
    match reduction {
        AxisReduction::Sum => reduce::<T, Sum>(x),
        AxisReduction::Min => reduce::<T, Min>(x),
        AxisReduction::Max => reduce::<T, Max>(x),
    }
}

/// The loop of [`dot`], which the table of loops has.
pub(super) fn dot_loop<T: Scalar>(x: &[T], y: &[T]) -> Result<T, ArrayError> {
    same_length("dot", x.len(), y.len())?;
    Ok(reduce::<T, Sum>(Products(x, y)))
}

/// The loop of [`sum_of_squares`], which the table of loops has.
pub(super) fn sum_of_squares_loop<T: Scalar>(center: T, x: &[T]) -> T {
    reduce::<T, Sum>(Deviations(x, center))
}

/// The loop of [`reduce_rows`], which the table of loops has.
pub(super) fn reduce_rows_loop<T: Scalar>(
    reduction: AxisReduction,
    (rows, columns): (usize, usize),
    x: &[T],
    out: &mut [T],
) -> Result<(), ArrayError> {
    const NAME: &str = "reduce_rows";
    let too_large = ArrayError::TooLarge { operation: NAME, rows, columns };
    same_length(NAME, rows.checked_mul(columns).ok_or(too_large)?, x.len())?;
    same_length(NAME, rows, out.len())?;
    match reduction {
        AxisReduction::Sum => along_rows::<T, Sum, _>(columns, x, out, |row, _| row),
        AxisReduction::Min => along_rows::<T, Min, _>(columns, x, out, |row, _| row),
        AxisReduction::Max => along_rows::<T, Max, _>(columns, x, out, |row, _| row),
    }
    Ok(())
}

/// Puts the sum of `(x[i, j] - center[i])^2` over all columns j into `out[i]`; a loop of the table.
pub(super) fn squares_along_rows<T: Scalar>(columns: usize, center: &[T], x: &[T], out: &mut [T]) {
    along_rows::<T, Sum, _>(columns, x, out, |row, at| Deviations(row, center[at]));
}

fn along_rows<'a, T: Scalar, O: Operation<T>, X: Terms<Value = T>>(
    columns: usize,
    x: &'a [T],
    out: &mut [T],
    terms: impl Fn(&'a [T], usize) -> X,
) {
    Arch::new().dispatch(EachRow::<T, _, O> { columns, x, out, terms, of: PhantomData });
}

/// The reduction of each row. A type and not a closure, so that all of it is compiled for each level of vector
/// instructions.
struct EachRow<'a, 'b, T, F, O> {
    columns: usize,
    x: &'a [T],
    out: &'b mut [T],
    terms: F,
    of: PhantomData<O>,
}

impl<'a, T: Scalar, O: Operation<T>, X: Terms<Value = T>, F: Fn(&'a [T], usize) -> X> WithSimd
    for EachRow<'a, '_, T, F, O>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (at, out) in self.out.iter_mut().enumerate() {
            let row = &self.x[at * self.columns..(at + 1) * self.columns];
            *out = whole::<T, O>(&(self.terms)(row, at));
        }
    }
}

/// Reduces one array of terms.
fn reduce<T: Scalar, O: Operation<T>>(terms: impl Terms<Value = T>) -> T {
    Arch::new().dispatch(One::<_, O>(terms, PhantomData))
}

/// The reduction of one array. A type and not a closure, for the same reason.
struct One<X, O>(X, PhantomData<O>);

impl<X: Terms, O: Operation<X::Value>> WithSimd for One<X, O> {
    type Output = X::Value;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> X::Value {
        whole::<X::Value, O>(&self.0)
    }
}

/// Reduces by chunks, then the chunks' results until one is left.
#[inline(always)]
fn whole<T: Scalar, O: Operation<T>>(terms: &impl Terms<Value = T>) -> T {
    if terms.len() <= CHUNK {
        return any_chunk::<_, O, _>(*terms);
    }
    // Loops and no iterators: calls of closures, as those make them, are not compiled for vectors.
    let mut partial = Vec::with_capacity(terms.len().div_ceil(CHUNK));
    for at in (0..terms.len()).step_by(CHUNK) {
        partial.push(any_chunk::<_, O, _>(terms.part(at, CHUNK.min(terms.len() - at))));
    }
    while partial.len() > 1 {
        let mut fewer = Vec::with_capacity(partial.len().div_ceil(CHUNK));
        for chunk in partial.chunks(CHUNK) {
            fewer.push(any_chunk::<_, O, _>(chunk));
        }
        partial = fewer;
    }
    partial[0]
}

/// One chunk, by as many lanes as it has in the virtual warp.
#[inline(always)]
fn any_chunk<T: Scalar, O: Operation<T>, X: Terms<Value = T>>(terms: X) -> T {
    if terms.len() <= NARROW_LIMIT { chunk::<_, O, _, NARROW>(terms) } else { chunk::<_, O, _, WIDE>(terms) }
}

/// One chunk by `L` lanes.
#[inline(always)]
fn chunk<T: Scalar, O: Operation<T>, X: Terms<Value = T>, const L: usize>(terms: X) -> T {
    let rows = terms.len() / L;
    let lanes = if O::HAS_JOIN_OF_NUMBERS {
        let (lanes, has_nan) = numbers_by_lanes::<_, O, _, L>(terms, rows);
        if has_nan { by_lanes::<_, O, _, L>(terms, rows) } else { lanes }
    } else {
        by_lanes::<_, O, _, L>(terms, rows)
    };
    let mut aligned = CacheLines(lanes);
    let lanes = &mut aligned.0;
    // The last row may be incomplete.
    for (lane, i) in (rows * L..terms.len()).enumerate() {
        lanes[lane] = if rows == 0 { terms.one(i) } else { O::join(lanes[lane], terms.one(i)) };
    }
    halve(aligned.0, O::join)
}

/// Joins so many rows of `L` terms.
#[inline(always)]
fn by_lanes<T: Scalar, O: Operation<T>, X: Terms<Value = T>, const L: usize>(terms: X, rows: usize) -> [T; L] {
    let mut lanes = first_row::<_, O, _, L>(terms, rows);
    for row in 1..rows {
        let next = terms.part(row * L, L);
        // Lanes that are replaced as a whole stay in registers; those that are changed are written to memory in each row.
        let mut joined = lanes;
        for lane in 0..L {
            joined[lane] = O::join(joined[lane], next.one(lane));
        }
        lanes = joined;
    }
    lanes
}

/// As [`by_lanes`], if no term is a NaN, and whether one is.
#[inline(always)]
#[allow(clippy::eq_op)]
fn numbers_by_lanes<T: Scalar, O: Operation<T>, X: Terms<Value = T>, const L: usize>(
    terms: X,
    rows: usize,
) -> ([T; L], bool) {
    let mut lanes = first_row::<_, O, _, L>(terms, rows);
    let mut has_nan = false;
    for lane in 0..L {
        has_nan |= lanes[lane] != lanes[lane];
    }
    for row in 1..rows {
        let next = terms.part(row * L, L);
        let mut joined = lanes;
        for lane in 0..L {
            joined[lane] = O::join_numbers(joined[lane], next.one(lane));
        }
        lanes = joined;
        // Two at a time: a processor compares them with each other, and knows whether one is a NaN.
        for lane in 0..L / 2 {
            let (a, b) = (next.one(lane), next.one(lane + L / 2));
            has_nan |= (a != a) | (b != b);
        }
    }
    (lanes, has_nan)
}

/// The first row as it is: joined with +0, -0 would be lost.
#[inline(always)]
fn first_row<T: Scalar, O: Operation<T>, X: Terms<Value = T>, const L: usize>(terms: X, rows: usize) -> [T; L] {
    let mut lanes = [O::EMPTY; L];
    if rows > 0 {
        let first = terms.part(0, L);
        for lane in 0..L {
            lanes[lane] = first.one(lane);
        }
    }
    lanes
}

/// Lanes at the beginning of a cache line: a vector of them is in one line, not in two. Without it a sum of 10^6 takes a
/// fifth longer, and one of 1000 twice as long.
#[repr(align(64))]
struct CacheLines<T, const L: usize>([T; L]);
