//! Sums that stay in registers while products are added to them: some vectors wide, some numbers high.
//!
//! Vectors are explicit here. Of arrays of numbers, the compiler keeps those in memory that it should keep in registers.

use pulp::Simd;

/// `HIGH` rows of sums, each of `WIDE` vectors.
pub(super) type BlockSums<S, const WIDE: usize, const HIGH: usize> = [[<S as Simd>::f64s; WIDE]; HIGH];

/// Rows of the highest block. With [`widest`] vectors they fill the registers, but for what is being multiplied.
pub(super) const HIGHEST: usize = 6;

/// Returns the vectors of the widest block.
#[inline(always)]
pub(super) fn widest<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 4 } else { 2 }
}

/// Returns the vectors of the widest block that a matrix of so many more columns fills, but for the last vector.
#[inline(always)]
pub(super) fn vectors_for<S: Simd>(columns: usize) -> usize {
    match columns.div_ceil(S::F64_LANES) {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => widest::<S>(),
    }
}

/// Adds to the sums, one product after the other, each row of vectors times the weights of its place.
#[inline(always)]
pub(super) fn add_products<S: Simd, const WIDE: usize, const HIGH: usize>(
    simd: S,
    mut sums: BlockSums<S, WIDE, HIGH>,
    rows: &[[S::f64s; WIDE]],
    weights: &[[f64; HIGH]],
) -> BlockSums<S, WIDE, HIGH> {
    for (row, weights) in rows.iter().zip(weights) {
        for j in 0..HIGH {
            let weight = simd.splat_f64s(weights[j]);
            for v in 0..WIDE {
                sums[j][v] = simd.add_f64s(sums[j][v], simd.mul_f64s(row[v], weight));
            }
        }
    }
    sums
}

/// Returns a slice of memory as rows of vectors.
#[inline(always)]
pub(super) fn rows_of<S: Simd, const WIDE: usize>(memory: &[f64]) -> &[[S::f64s; WIDE]] {
    S::as_simd_f64s(memory).0.as_chunks().0
}

/// The same, to be written.
#[inline(always)]
pub(super) fn rows_of_mut<S: Simd, const WIDE: usize>(memory: &mut [f64]) -> &mut [[S::f64s; WIDE]] {
    S::as_mut_simd_f64s(memory).0.as_chunks_mut().0
}

/// Returns the first numbers of a slice as a vector; what it has not is 0.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, from: &[f64]) -> S::f64s {
    match S::as_simd_f64s(from).0.first() {
        Some(&vector) => vector,
        None => simd.partial_load_f64s(from),
    }
}

/// Writes as many of a vector's first numbers as a slice has room for.
#[inline(always)]
pub(super) fn store<S: Simd>(simd: S, to: &mut [f64], vector: S::f64s) {
    match S::as_mut_simd_f64s(to).0.first_mut() {
        Some(to) => *to = vector,
        None => simd.partial_store_f64s(to, vector),
    }
}

/// Returns memory of so many numbers that begins where a line of the cache does; what stands in it means nothing.
#[inline(always)]
pub(super) fn aligned(scratch: &mut Vec<f64>, length: usize) -> &mut [f64] {
    const LINE: usize = 8;
    if scratch.len() < length + LINE {
        scratch.resize(length + LINE, 0.0);
    }
    let start = scratch.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
    &mut scratch[start..start + length]
}

/// Cuts memory in pieces of these lengths.
pub(super) fn cut<const N: usize>(mut memory: &mut [f64], lengths: [usize; N]) -> [&mut [f64]; N] {
    lengths.map(|length| {
        let (piece, rest) = std::mem::take(&mut memory).split_at_mut(length);
        memory = rest;
        piece
    })
}
