//! Numbers to compute with, and how results are compared.

use octopus_array::{ArrayElement, Scalar};

/// Around every length at which the shape of a reduction changes.
pub(crate) const LENGTHS: [usize; 17] =
    [0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 384, 16_383, 16_384, 16_385, 50_000];

/// Numbers of both signs and many sizes, no two alike, the same every time; `seed` chooses among series.
pub(crate) fn numbers<T: ArrayElement>(length: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = || {
        // Marsaglia's xorshift, "Xorshift RNGs" (2003), is random enough to be irregular.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..length)
        .map(|_| {
            let size = 10_f64.powf(8.0 * next() - 4.0);
            T::nearest(if next() < 0.5 { -size } else { size })
        })
        .collect()
}

/// Their absolute values.
pub(crate) fn positive<T: Scalar>(length: usize, seed: u64) -> Vec<T> {
    numbers::<T>(length, seed).into_iter().map(|x| T::from_f64(x.to_f64().abs())).collect()
}

/// The bits, of NaN only that it is one: sign and payload of a NaN are no part of the promise.
pub(crate) fn bits<T: ArrayElement>(value: T) -> u64 {
    // Widening an f32 is exact and keeps the sign of zero.
    if value.into_double().is_nan() { u64::MAX } else { value.into_double().to_bits() }
}

pub(crate) fn all_bits<T: ArrayElement>(values: &[T]) -> Vec<u64> {
    values.iter().copied().map(bits).collect()
}
