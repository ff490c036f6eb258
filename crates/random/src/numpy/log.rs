//! The natural logarithm with the bits of the C library that NumPy's Linux wheels call.

use super::log_table::{AWAY_FROM_ONE, INTERVALS, LN2, NEAR_ONE};

/// Returns a constant of the table.
const fn f(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Multiply and add with one rounding, as the processor's instruction does.
#[inline]
fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// ln x for a normal positive `x`, with the bits of glibc's `log` on x86-64 processors with FMA.
///
/// Arm's algorithm (optimized-routines, `math/log.c`, in glibc since 2.28): x = 2^k z with z near c, a table
/// of 1/c and log c, and a polynomial in r = z/c - 1; near 1, where k ln 2 + log c would cancel, a longer
/// polynomial in x - 1 whose first term is carried in two parts. The error is below 0.52 units in the last
/// place, so that about one result in 1300 is *not* the correctly rounded one: neither a correctly rounded
/// nor any other good logarithm gives the same data as NumPy. Where the C source says `a * b + c`, the
/// compiled library rounds once; the calls of `fma` below are exactly those of the machine code
/// (`__ieee754_log_fma` of glibc 2.36, x86-64).
pub(super) fn log(x: f64) -> f64 {
    debug_assert!(x.is_normal() && x > 0.0, "log of {x}");
    const LOW: u64 = (1.0f64 - 0.0625).to_bits();
    const HIGH: u64 = (1.0f64 + 0.064_697_265_625).to_bits();
    let bits = x.to_bits();
    if (LOW..HIGH).contains(&bits) { near_one(x) } else { away_from_one(bits) }
}

/// Outside (1 - 2^-4, 1 + 1.035 * 2^-4).
fn away_from_one(bits: u64) -> f64 {
    /// The bits of 0.6875, the lower end of the range of z.
    const OFFSET: u64 = 0x3fe6_0000_0000_0000;
    let [a0, a1, a2, a3, a4] = AWAY_FROM_ONE.map(f);
    let [ln2_high, ln2_low] = LN2.map(f);
    let shifted = bits.wrapping_sub(OFFSET);
    let [inverse_c, log_c] = INTERVALS[(shifted >> 45) as usize % 128].map(f);
    let k = (shifted.cast_signed() >> 52) as f64;
    let z = f64::from_bits(bits.wrapping_sub(shifted & 0xfff0_0000_0000_0000));

    let r = fma(z, inverse_c, -1.0);
    let w = fma(k, ln2_high, log_c);
    let high = w + r;
    let low = fma(k, ln2_low, (w - high) + r);
    let r2 = r * r;
    let tail = fma(fma(r, a4, a3), r2, fma(r, a2, a1));
    fma(r * r2, tail, fma(r2, a0, low)) + high
}

/// Inside (1 - 2^-4, 1 + 1.035 * 2^-4).
fn near_one(x: f64) -> f64 {
    /// Splits a number into two halves of 26 bits.
    const SPLIT: f64 = 134_217_728.0;
    let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10] = NEAR_ONE.map(f);
    let r = x - 1.0;
    let r2 = r * r;
    let r3 = r * r2;
    let first = fma(r2, b3, fma(r, b2, b1));
    let second = fma(r2, b6, fma(r, b5, b4));
    let third = fma(r3, b10, fma(r2, b9, fma(r, b8, b7)));
    let tail = fma(fma(third, r3, second), r3, first);

    // The quadratic term b0 r^2 in two parts: r = r_high + r_low, r_high^2 exact.
    let r_high = fma(-SPLIT, r, fma(r, SPLIT, r));
    let r_low = r - r_high;
    let square = r_high * r_high;
    let high = fma(square, b0, r);
    let low = fma(b0 * r_low, r + r_high, fma(square, b0, r - high));
    fma(tail, r3, low) + high
}

#[cfg(test)]
mod tests {
    use super::log;

    /// The bits of CPython's `math.log` (x86-64, glibc 2.36, FMA): uniform numbers, the two ends of the range near 1 and
    /// numbers at which the path without FMA, a correctly rounded logarithm or one with another last bit of a coefficient
    /// differs.
    #[test]
    fn bits_of_the_c_library() {
        let fixture = include_str!("../../tests/data/glibc_log.txt");
        let mut rows = 0;
        for line in fixture.lines().filter(|line| !line.starts_with('#')) {
            let (x, expected) = line.split_once(' ').expect("two columns");
            let x = f64::from_bits(u64::from_str_radix(x, 16).expect("hexadecimal"));
            let expected = u64::from_str_radix(expected, 16).expect("hexadecimal");
            assert_eq!(log(x).to_bits(), expected, "log({x})");
            rows += 1;
        }
        assert!(rows > 500, "{rows} rows");
    }

    /// Within one unit in the last place of the standard library's logarithm everywhere in (0, 2).
    #[test]
    fn close_to_the_standard_library() {
        for k in 1..200_000u32 {
            let x = f64::from(k) * 1e-5 * if k % 7 == 0 { 1e-12 } else { 1.0 };
            let (ours, theirs) = (log(x), x.ln());
            assert!((ours - theirs).abs() <= theirs.abs() * 2.3e-16, "log({x}): {ours} and {theirs}");
        }
        assert_eq!(log(1.0).to_bits(), 0);
    }

    /// The SHA-256 of `__log_data` in `libm.so.6` of glibc 2.36, x86-64: LN2, the polynomials, and the table of intervals.
    #[test]
    fn the_table_is_that_of_the_c_library() {
        use crate::numpy::log_table::{AWAY_FROM_ONE, INTERVALS, LN2, NEAR_ONE};
        use sha2::{Digest, Sha256};
        let constants = [&LN2[..], &AWAY_FROM_ONE, &NEAR_ONE, INTERVALS.as_flattened()].concat();
        let hash = constants.iter().fold(Sha256::new(), |hash, bits| hash.chain_update(bits.to_le_bytes())).finalize();
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "d8f77f04619b10fe29031a98a0596af699fd6329c5253affc554092a17cf1bd8");
    }
}
