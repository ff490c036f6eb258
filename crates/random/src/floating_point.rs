//! The two types that draws come in, f64 and f32: their exact functions, and how random words become numbers.

use crate::exact::{self, circle, single};
use crate::key::Key;
use crate::stream::open01;
use rand::Rng;
use std::fmt::{Debug, Display};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Draws that are worked on together.
pub(crate) const GROUP: usize = 64;

mod sealed {
    pub trait KnownFloat: crate::distribution::DrawnByAll {}
    impl KnownFloat for f32 {}
    impl KnownFloat for f64 {}
}

/// `f64` or `f32`: the type of draws.
///
/// The functions are those of [`exact`], with the same bits on every machine and GPU.
pub trait FloatingPoint:
    sealed::KnownFloat
    + Copy
    + Default
    + PartialOrd
    + Debug
    + Display
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// The random bits of one number: 64 or 32.
    type Bits: Copy + Default + Send + Sync;

    /// The type's name, as NumPy has it.
    const NAME: &'static str;

    /// 1 is nothing beside the square root of numbers above this one.
    const ROOT_IS_HUGE: f64;
    /// 1.5 times the number from which there are no fractions: adding it rounds to a whole number.
    const ROUND: f64;

    /// Converts from f64, to the nearest.
    #[must_use]
    fn from_f64(value: f64) -> Self;
    /// Converts to f64, which holds each value.
    #[must_use]
    fn to_f64(self) -> f64;
    /// Returns whether the number is neither infinite nor NaN.
    #[must_use]
    fn is_finite(self) -> bool;
    /// e to the power of this.
    #[must_use]
    fn exp(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// -ln(1 - x) for x of (0, 1/2].
    #[must_use]
    fn minus_ln_of_rest(self) -> Self;
    /// e^x - 1 for x of [0, 80], with its digits where it is small.
    #[must_use]
    fn exp_minus_one(self) -> Self;
    /// The square root, correctly rounded.
    #[must_use]
    fn sqrt(self) -> Self;
    /// The number without its sign.
    #[must_use]
    fn abs(self) -> Self;
    /// sin(pi x / 2) and cos(pi x / 2) for x of [0, 1/2].
    #[must_use]
    fn sin_cos_quarter(self) -> (Self, Self);
    /// The arctangent of a quotient of two numbers that are not negative.
    #[must_use]
    fn arctangent(above: Self, below: Self) -> Self;

    /// The random bits of a draw in one of its turns: two numbers' worth, or four, in blocks that are the draw's own.
    #[must_use]
    fn bits<const N: usize>(key: Key, index: u64, turn: u32) -> [Self::Bits; N];
    /// The bits of a whole number of groups of 64 draws in their first turn, or that with this number: the two numbers
    /// of [`bits`](Self::bits) for `first` and those after it. `first` is a multiple of 64.
    fn fill_bits(key: Key, first: u64, turn: u32, bits: [&mut [Self::Bits]; 2]);
    /// The bits of one number from a generator of another kind.
    #[must_use]
    fn bits_of<R: Rng + ?Sized>(generator: &mut R) -> Self::Bits;
    /// A uniform number: of (0, 1) in f64; of (0, 1] in f32, which holds nothing between 1 - 2^-24 and 1.
    #[must_use]
    fn uniform(bits: Self::Bits) -> Self;
    /// A uniform number of (-1, 1) by its sign, the half in which its size lies, and the distance x of (0, 1/2] of that
    /// size from the near end of that half: from 0 (`false`) or from 1 (`true`). So both ends are fine-grained.
    #[must_use]
    fn halves(bits: Self::Bits) -> (bool, bool, Self);
    /// A standard normal number.
    #[must_use]
    fn normal(bits: Self::Bits) -> Self;
}

impl FloatingPoint for f64 {
    type Bits = u64;
    const NAME: &'static str = "float64";
    const ROOT_IS_HUGE: f64 = 1e34;
    const ROUND: f64 = 6_755_399_441_055_744.0;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exact::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        exact::ln(self)
    }
    #[inline(always)]
    fn minus_ln_of_rest(self) -> Self {
        exact::minus_ln_of_rest(self)
    }
    #[inline(always)]
    fn exp_minus_one(self) -> Self {
        exact::exp_minus_one(self)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn sin_cos_quarter(self) -> (Self, Self) {
        circle::sin_cos_quarter(self)
    }
    #[inline(always)]
    fn arctangent(above: Self, below: Self) -> Self {
        circle::arctangent(above, below)
    }
    #[inline(always)]
    fn bits<const N: usize>(key: Key, index: u64, turn: u32) -> [u64; N] {
        let mut bits = [0; N];
        let blocks = turn * (N / 2) as u32;
        for (block, pair) in bits.chunks_exact_mut(2).enumerate() {
            let words = key.words(index, blocks + block as u32);
            pair[0] = u64::from(words[0]) << 32 | u64::from(words[1]);
            pair[1] = u64::from(words[2]) << 32 | u64::from(words[3]);
        }
        bits
    }
    #[inline(always)]
    fn fill_bits(key: Key, first: u64, turn: u32, bits: [&mut [u64]; 2]) {
        let [even, odd] = bits;
        let groups = even.chunks_exact_mut(GROUP).zip(odd.chunks_exact_mut(GROUP));
        for (group, (even, odd)) in groups.enumerate() {
            // Within a group the upper half of the index stays as it is.
            let start = first + (group * GROUP) as u64;
            let (low, high) = (start as u32, start & !0xffff_ffff);
            for l in 0..GROUP {
                [even[l], odd[l]] = Self::bits(key, high | u64::from(low | l as u32), turn);
            }
        }
    }
    #[inline(always)]
    fn bits_of<R: Rng + ?Sized>(generator: &mut R) -> u64 {
        generator.next_u64()
    }
    #[inline(always)]
    fn uniform(bits: u64) -> Self {
        open01((bits >> 32) as u32, bits as u32)
    }
    #[inline(always)]
    fn halves(bits: u64) -> (bool, bool, Self) {
        // The upper two bits choose, the next 52 are (k + 1/2) / 2^53.
        let distance = (Self::from_bits((bits << 2) >> 12 | 0x3ff0_0000_0000_0000) - 1.0) + 0.5 * Self::EPSILON;
        (bits >> 63 != 0, (bits >> 62) & 1 != 0, 0.5 * distance)
    }
    #[inline(always)]
    fn normal(bits: u64) -> Self {
        exact::normal_quantile(Self::uniform(bits))
    }
}

/// 2^-31
const STEP: f32 = 4.656_613e-10;

impl FloatingPoint for f32 {
    type Bits = u32;
    const NAME: &'static str = "float32";
    const ROOT_IS_HUGE: f64 = 1e16;
    const ROUND: f64 = 12_582_912.0;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn exp(self) -> Self {
        single::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        single::ln(self)
    }
    #[inline(always)]
    fn minus_ln_of_rest(self) -> Self {
        single::minus_ln_of_rest(self)
    }
    #[inline(always)]
    fn exp_minus_one(self) -> Self {
        single::exp_minus_one(self)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn sin_cos_quarter(self) -> (Self, Self) {
        circle::single::sin_cos_quarter(self)
    }
    #[inline(always)]
    fn arctangent(above: Self, below: Self) -> Self {
        circle::single::arctangent(above, below)
    }
    #[inline(always)]
    fn bits<const N: usize>(key: Key, index: u64, turn: u32) -> [u32; N] {
        let mut bits = [0; N];
        if N == 2 {
            // Draws i and i + 32 of each 64 share a block: a warp, or a vector, has whole rows of both.
            let words = key.words((index >> 6) << 5 | (index & 31), turn);
            let is_first = (index >> 5) & 1 == 0;
            bits[0] = if is_first { words[0] } else { words[2] };
            bits[1] = if is_first { words[1] } else { words[3] };
        } else {
            let words = key.words(index, turn);
            #[expect(
                clippy::manual_memcpy,
                reason = "a call that copies memory keeps the loop around from being vectors"
            )]
            for place in 0..N {
                bits[place] = words[place];
            }
        }
        bits
    }
    #[inline(always)]
    fn fill_bits(key: Key, first: u64, turn: u32, bits: [&mut [u32]; 2]) {
        let [even, odd] = bits;
        let groups = even.chunks_exact_mut(GROUP).zip(odd.chunks_exact_mut(GROUP));
        for (group, (even, odd)) in groups.enumerate() {
            let block = (first >> 1) + (group * GROUP / 2) as u64;
            let (low, high) = (block as u32, block & !0xffff_ffff);
            let ((even, even_beyond), (odd, odd_beyond)) = (even.split_at_mut(32), odd.split_at_mut(32));
            for l in 0..32 {
                [even[l], odd[l], even_beyond[l], odd_beyond[l]] = key.words(high | u64::from(low | l as u32), turn);
            }
        }
    }
    #[inline(always)]
    fn bits_of<R: Rng + ?Sized>(generator: &mut R) -> u32 {
        generator.next_u32()
    }
    #[inline(always)]
    fn uniform(bits: u32) -> Self {
        ((bits >> 1) as i32 as Self + 0.5) * STEP
    }
    #[inline(always)]
    fn halves(bits: u32) -> (bool, bool, Self) {
        (bits >> 31 != 0, (bits >> 30) & 1 != 0, ((bits & 0x3fff_ffff) as i32 as Self + 0.5) * STEP)
    }
    #[inline(always)]
    fn normal(bits: u32) -> Self {
        // The lower half alone has probabilities as small as 2^-33; a sign makes both.
        let size = single::normal_quantile(((bits & 0x7fff_ffff) as i32 as Self + 0.5) * (0.5 * STEP));
        if bits >> 31 != 0 { -size } else { size }
    }
}
