//! Instructions that a GPU approximates: kernels whose names end in `_fast` have them.
//!
//! The PTX ISA bounds their errors and says no more. So a result here is beside the nearest number, by up to the bound and
//! by steps that the argument's bits choose: what asks for more than the bound promises is noticed.

/// `ex2.approx.ftz.f32`: 2 to the power of a number, within 2 units in the last place.
pub(crate) fn exp2(bits: u32) -> u32 {
    let x = f32::from_bits(flushed(bits));
    // Powers of whole numbers are exact, 1 among them.
    let steps = if x == x.round() { 0 } else { choice(bits, 5) - 2 };
    moved(x.exp2(), steps)
}

/// `rcp.approx.ftz.f32`: the reciprocal, within 1 unit in the last place.
pub(crate) fn reciprocal(bits: u32) -> u32 {
    let x = f32::from_bits(flushed(bits));
    let is_power_of_two = x.to_bits() << 9 == 0;
    let steps = if is_power_of_two { 0 } else { choice(bits, 3) - 1 };
    moved(1.0 / x, steps)
}

/// A number below the normal range is 0 with its sign.
fn flushed(bits: u32) -> u32 {
    if f32::from_bits(bits).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

/// One of `0..among`, by the bits of an argument.
fn choice(bits: u32, among: u64) -> i32 {
    ((u64::from(bits.wrapping_mul(0x9E37_79B9)) * among) >> 32) as i32
}

/// The number so many steps away from zero or towards it, where it is a normal one.
fn moved(x: f32, steps: i32) -> u32 {
    if x.is_normal() { flushed(x.to_bits().wrapping_add_signed(steps)) } else { flushed(x.to_bits()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_stays_so_and_small_numbers_are_flushed() {
        let of = |f: fn(u32) -> u32, x: f32| f32::from_bits(f(x.to_bits()));
        assert_eq!(
            [of(exp2, 0.0), of(exp2, -3.0), of(exp2, 1e-40), of(exp2, 127.0)],
            [1.0, 0.125, 1.0, 2f32.powi(127)]
        );
        assert_eq!([of(exp2, 200.0), of(exp2, f32::NEG_INFINITY), of(exp2, -130.0)], [f32::INFINITY, 0.0, 0.0]);
        assert_eq!([of(reciprocal, 0.25), of(reciprocal, -0.0)], [4.0, f32::NEG_INFINITY]);
        assert_eq!(
            [of(reciprocal, 1e-40), of(reciprocal, f32::INFINITY), of(reciprocal, 3e38)],
            [f32::INFINITY, 0.0, 0.0]
        );
        assert!(of(exp2, f32::NAN).is_nan() && of(reciprocal, f32::NAN).is_nan());
    }

    /// Every step within the bounds comes up, and none beyond.
    #[test]
    fn results_are_beside_the_nearest_within_the_bounds() {
        let mut seen = [[false; 5]; 2];
        for i in 0..10_000u16 {
            let x = 0.5 + f32::from(i) * 1.37e-4;
            for (seen, (got, exact)) in
                seen.iter_mut().zip([(exp2(x.to_bits()), x.exp2()), (reciprocal(x.to_bits()), 1.0 / x)])
            {
                seen[(got.wrapping_sub(exact.to_bits()) as i32 + 2) as usize] = true;
            }
        }
        assert_eq!(seen, [[true; 5], [false, true, true, true, false]]);
    }
}
