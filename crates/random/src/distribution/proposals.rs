//! How draws are made of random bits: turn by turn, many side by side.
//!
//! A distribution proposes a draw of the bits of one turn, and takes it or refuses it. A draw's turns have their own
//! random bits, so that a refused neighbour disturbs no other.
//!
//! To propose, to test and to finish are loops of their own: a processor has more draws under way when each is soon done.

use super::{MOST_TURNS, TurnsExhausted};
use crate::floating_point::GROUP;
use crate::{FloatingPoint, Key};
use pulp::{Arch, Simd, WithSimd};

/// Draws worked on together.
pub(crate) const SPAN: usize = 8 * GROUP;

/// Draws that are tried again are padded to a multiple of this: two vectors of the widest.
const VECTORS: usize = 16;

/// Turns of one part of a draw that is made of several: each part has as many of its own.
pub(super) const PART: u32 = 1 << 16;

/// What a distribution makes of random bits: those of two numbers in each turn, or of four.
pub(super) trait Propose<T: FloatingPoint, const N: usize = 2> {
    /// Returns what the draw will be made of, and what its test asks for.
    fn propose(&self, bits: [T::Bits; N]) -> ([T; 2], T);

    /// Returns whether a proposal is taken, given what its test asks for.
    fn takes(&self, _test: T, _bits: [T::Bits; N]) -> bool {
        true
    }

    /// Returns the draw of what was proposed and taken; `extra` are bits that no proposal has seen.
    fn finish(&self, taken: [T; 2], extra: T::Bits) -> T;

    /// Returns the distribution, in words.
    fn name(&self) -> &'static str;

    /// Whether every proposal is taken.
    const ALWAYS: bool = false;
    /// Whether [`finish`](Self::finish) needs extra bits.
    fn needs_extra(&self) -> bool {
        false
    }
}

/// Fills `out` with draws `first`, `first + 1`, ...; `part` is the first of their turns.
pub(super) fn fill<T: FloatingPoint, P: Propose<T, N> + Copy, const N: usize>(
    proposer: &P,
    (key, first, part): (Key, u64, u32),
    out: &mut [T],
) -> Result<(), TurnsExhausted> {
    let proposer = *proposer;
    Arch::new().dispatch(Filler { proposer_at: |_| proposer, key, first, part, out })
}

/// Fills a span with draws of proposers of their own, given the place in the span; `first` is a multiple of the span's
/// size.
pub(super) fn fill_each<T: FloatingPoint, P: Propose<T, N>, const N: usize>(
    proposer_at: impl Fn(usize) -> P,
    (key, first): (Key, u64),
    out: &mut [T; SPAN],
) -> Result<(), TurnsExhausted> {
    Arch::new().dispatch(Filler { proposer_at, key, first, part: 0, out })
}

/// [`fill`], compiled for each level of vector instructions.
struct Filler<'a, T, F, const N: usize> {
    proposer_at: F,
    key: Key,
    first: u64,
    part: u32,
    out: &'a mut [T],
}

impl<T: FloatingPoint, P: Propose<T, N>, F: Fn(usize) -> P, const N: usize> WithSimd for Filler<'_, T, F, N> {
    type Output = Result<(), TurnsExhausted>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let mut at = Span::<T, N>::default();
        let mut first = self.first;
        let mut rest = self.out;
        while !rest.is_empty() {
            // Whole groups are done in rows; what is before the first and behind the last is done by itself. No span goes
            // beyond a multiple of its size, so that the upper half of all its indices is the same.
            let ragged = first % GROUP as u64;
            let whole = rest.len().min(SPAN - (first % SPAN as u64) as usize) / GROUP * GROUP;
            let count = match (ragged, whole) {
                (0, 1..) => whole,
                (0, _) => rest.len(),
                _ => rest.len().min(GROUP - ragged as usize),
            };
            let (span, behind) = rest.split_at_mut(count);
            at.draw(&self.proposer_at, (self.key, first, self.part), span)?;
            first += count as u64;
            rest = behind;
        }
        Ok(())
    }
}

/// The working memory of a span of draws.
struct Span<T: FloatingPoint, const N: usize> {
    bits: [[T::Bits; SPAN]; N],
    taken: [[T; SPAN]; 2],
    again: [[T; SPAN]; 2],
    tests: [T; SPAN],
    refused: [bool; SPAN],
    pending: [u32; SPAN],
}

impl<T: FloatingPoint, const N: usize> Default for Span<T, N> {
    fn default() -> Self {
        Self {
            bits: [[T::Bits::default(); SPAN]; N],
            taken: [[T::default(); SPAN]; 2],
            again: [[T::default(); SPAN]; 2],
            tests: [T::default(); SPAN],
            refused: [false; SPAN],
            pending: [0; SPAN],
        }
    }
}

impl<T: FloatingPoint, const N: usize> Span<T, N> {
    #[inline(always)]
    fn draw<P: Propose<T, N>>(
        &mut self,
        proposer_at: impl Fn(usize) -> P,
        (key, first, part): (Key, u64, u32),
        out: &mut [T],
    ) -> Result<(), TurnsExhausted> {
        let n = out.len().min(SPAN);
        fill_bits::<T, N>((key, first, part), &mut self.bits, n);
        propose_each(&proposer_at, n, &self.bits, &mut self.taken, &mut self.tests);
        if !P::ALWAYS {
            test_each(&proposer_at, n, &self.bits, &self.tests, &mut self.refused);
            let mut count = 0;
            for (l, refused) in self.refused[..n].iter().enumerate() {
                // Written always and kept only if counted: no branch that cannot be foretold.
                self.pending[count] = l as u32;
                count += usize::from(*refused);
            }
            let mut turn = 0;
            while count > 0 {
                turn += 1;
                if turn == MOST_TURNS {
                    return Err(TurnsExhausted {
                        distribution: proposer_at(0).name(),
                        index: first + u64::from(self.pending[0]),
                    });
                }
                count = self.draw_again(&proposer_at, (key, first, part + turn), count);
            }
        }
        if proposer_at(0).needs_extra() {
            for (l, extra) in self.bits[0][..n].iter_mut().enumerate() {
                // No part has as many turns.
                [*extra, _] = T::bits(key, first + l as u64, part + PART - 1);
            }
        }
        let ([a, b], extra) = (&self.taken, &self.bits[0]);
        let (a, b, extra) = (&a[..n], &b[..n], &extra[..n]);
        let out = &mut out[..n];
        for l in 0..n {
            out[l] = proposer_at(l).finish([a[l], b[l]], extra[l]);
        }
        Ok(())
    }

    /// Gives those that are pending another turn, and returns how many were refused again.
    #[inline(always)]
    fn draw_again<P: Propose<T, N>>(
        &mut self,
        proposer_at: impl Fn(usize) -> P,
        (key, first, turn): (Key, u64, u32),
        count: usize,
    ) -> usize {
        // A whole number of vectors: what is behind the last is some old draw, which nobody asks for.
        let padded = count.next_multiple_of(VECTORS);
        let (bits, pending) = (&mut self.bits, &self.pending[..padded]);
        let (low, high) = (first as u32, first & !0xffff_ffff);
        for p in 0..padded {
            let own: [T::Bits; N] = T::bits(key, high | u64::from(low.wrapping_add(pending[p])), turn);
            for place in 0..N {
                bits[place][p] = own[place];
            }
        }
        let again_at = |p: usize| proposer_at(pending[p] as usize % SPAN);
        propose_each(again_at, padded, &self.bits, &mut self.again, &mut self.tests);
        test_each(again_at, padded, &self.bits, &self.tests, &mut self.refused);
        let mut left = 0;
        for p in 0..count {
            let l = self.pending[p];
            // What was refused is written, too: a later turn takes its place.
            self.taken[0][l as usize] = self.again[0][p];
            self.taken[1][l as usize] = self.again[1][p];
            self.pending[left] = l;
            left += usize::from(self.refused[p]);
        }
        left
    }
}

/// Fills each of `bits` for `n` draws from `first` on in one of their turns, no more than a span, whose indices have the
/// same upper half.
#[inline(always)]
pub(super) fn fill_bits<T: FloatingPoint, const N: usize>(
    (key, first, turn): (Key, u64, u32),
    bits: &mut [[T::Bits; SPAN]; N],
    n: usize,
) {
    let n = n.min(SPAN);
    if let [even, odd] = bits.as_mut_slice()
        && first.is_multiple_of(GROUP as u64)
        && n.is_multiple_of(GROUP)
    {
        return T::fill_bits(key, first, turn, [&mut even[..n], &mut odd[..n]]);
    }
    let (low, high) = (first as u32, first & !0xffff_ffff);
    for l in 0..n {
        let own: [T::Bits; N] = T::bits(key, high | u64::from(low.wrapping_add(l as u32)), turn);
        for place in 0..N {
            bits[place][l] = own[place];
        }
    }
}

#[inline(always)]
fn propose_each<T: FloatingPoint, P: Propose<T, N>, const N: usize>(
    proposer_at: impl Fn(usize) -> P,
    n: usize,
    bits: &[[T::Bits; SPAN]; N],
    [a, b]: &mut [[T; SPAN]; 2],
    tests: &mut [T; SPAN],
) {
    for l in 0..n.min(SPAN) {
        ([a[l], b[l]], tests[l]) = proposer_at(l).propose(bits_at(bits, l));
    }
}

#[inline(always)]
fn test_each<T: FloatingPoint, P: Propose<T, N>, const N: usize>(
    proposer_at: impl Fn(usize) -> P,
    n: usize,
    bits: &[[T::Bits; SPAN]; N],
    tests: &[T; SPAN],
    refused: &mut [bool; SPAN],
) {
    for l in 0..n.min(SPAN) {
        refused[l] = !proposer_at(l).takes(tests[l], bits_at(bits, l));
    }
}

#[inline(always)]
fn bits_at<B: Copy + Default, const N: usize>(bits: &[[B; SPAN]; N], l: usize) -> [B; N] {
    let mut own = [B::default(); N];
    for place in 0..N {
        own[place] = bits[place][l];
    }
    own
}

/// Draws with a generator of another kind; NaN when that refuses as many turns as a draw has, which no generator does
/// whose numbers are random.
pub(super) fn draw_with<T: FloatingPoint, P: Propose<T, N>, const N: usize, R: rand::Rng + ?Sized>(
    proposer: &P,
    generator: &mut R,
) -> T {
    for _ in 0..MOST_TURNS {
        let bits = std::array::from_fn(|_| T::bits_of(generator));
        let (proposed, test) = proposer.propose(bits);
        if proposer.takes(test, bits) {
            let extra = if proposer.needs_extra() { T::bits_of(generator) } else { T::Bits::default() };
            return proposer.finish(proposed, extra);
        }
    }
    T::from_f64(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a draw where its bits are below a limit, and is that draw's bits.
    #[derive(Clone, Copy)]
    struct Below(f64);

    impl Propose<f64> for Below {
        fn propose(&self, bits: [u64; 2]) -> ([f64; 2], f64) {
            ([f64::uniform(bits[0]), f64::uniform(bits[1])], f64::uniform(bits[1]))
        }
        fn takes(&self, test: f64, _: [u64; 2]) -> bool {
            test < self.0
        }
        fn finish(&self, taken: [f64; 2], _: u64) -> f64 {
            taken[0]
        }
        fn name(&self) -> &'static str {
            "below"
        }
    }

    /// Draw by draw, turn by turn: what the spans must give.
    fn one(limit: f64, key: Key, index: u64) -> f64 {
        let taken = (0..).map(|turn| f64::bits::<2>(key, index, turn)).find(|bits| f64::uniform(bits[1]) < limit);
        f64::uniform(taken.unwrap()[0])
    }

    #[test]
    fn any_piece_gives_the_draws_of_their_numbers() {
        let key = Key::new(7);
        for (first, n) in [(0, 1), (0, 64), (0, 1000), (3, 700), (64, 65), (191, 2), (u64::from(u32::MAX) - 70, 300)] {
            let mut out = vec![0.0; n];
            fill(&Below(0.4), (key, first, 0), &mut out).unwrap();
            for (l, draw) in out.iter().enumerate() {
                assert_eq!(*draw, one(0.4, key, first + l as u64), "{first} + {l}");
            }
        }
    }

    #[test]
    fn a_draw_that_is_always_refused_is_an_error() {
        let error = fill(&Below(0.0), (Key::new(7), 5, 0), &mut [0.0; 9]).unwrap_err();
        assert_eq!(error, TurnsExhausted { distribution: "below", index: 5 });
        assert_eq!(error.to_string().split(';').next(), Some("below: draw 5 was refused 128 times"));
        assert!(draw_with(&Below(0.0), &mut crate::Stream::new(1, 0, 0, crate::Purpose::User)).is_nan());
        // All of a span, and more than one.
        let error = fill(&Below(0.0), (Key::new(7), SPAN as u64, 0), &mut [0.0; 2 * SPAN]).unwrap_err();
        assert_eq!(error.index, SPAN as u64);
    }

    /// Is refused until its last turn.
    struct AtLast<'a> {
        last: u32,
        turns: &'a std::cell::Cell<u32>,
    }

    impl Propose<f64> for AtLast<'_> {
        fn propose(&self, _: [u64; 2]) -> ([f64; 2], f64) {
            self.turns.set(self.turns.get() + 1);
            ([0.5, 0.0], 0.0)
        }
        fn takes(&self, _: f64, _: [u64; 2]) -> bool {
            self.turns.get() == self.last
        }
        fn finish(&self, taken: [f64; 2], _: u64) -> f64 {
            taken[0]
        }
        fn name(&self) -> &'static str {
            "at last"
        }
    }

    #[test]
    fn a_generator_is_asked_for_as_many_turns_as_a_draw_has() {
        for last in [1, 2, 127, 128, 129] {
            let turns = std::cell::Cell::new(0);
            let draw =
                draw_with(&AtLast { last, turns: &turns }, &mut crate::Stream::new(1, 0, 0, crate::Purpose::User));
            assert_eq!((draw == 0.5, turns.get()), (last <= 128, last.min(128)), "{last}");
        }
    }
}
