//! `rand`'s generator, so that each of its distributions can draw from a stream.

use crate::Stream;
use rand::TryRng;
use std::convert::Infallible;

/// A stream is a generator of `rand`: its words are those of which [`Stream::uniform`] makes its numbers, one after
/// another, 64 bits of each.
///
/// ```
/// use octopus_random::{Purpose, Stream};
/// use rand::distr::{Distribution, Uniform};
///
/// let die = Uniform::new_inclusive(1, 6).unwrap();
/// let rolled = die.sample(&mut Stream::new(42, 0, 0, Purpose::User));
/// assert!((1..=6).contains(&rolled));
/// ```
impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for eight in bytes.chunks_mut(8) {
            eight.copy_from_slice(&self.next_bits().to_le_bytes()[..eight.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Purpose, Stream};
    use rand::Rng;

    fn stream() -> Stream {
        Stream::new(42, 1, 2, Purpose::User)
    }

    /// The upper 52 bits of each word are those of the uniform number in its place.
    #[test]
    fn words_are_those_of_uniform_numbers() {
        let (mut words, mut numbers) = (stream(), stream());
        for _ in 0..9 {
            let expected = (words.next_u64() >> 12) as f64 / 2f64.powi(52) + 0.5 / 2f64.powi(52);
            assert_eq!(numbers.uniform(), expected);
        }
        assert_eq!(words.uniform(), numbers.uniform(), "both are as far on");
    }

    #[test]
    fn words_and_bytes_are_parts_of_the_same() {
        let (mut all, mut halves, mut bytes) = (stream(), stream(), stream());
        let mut got = [0; 19];
        bytes.fill_bytes(&mut got);
        let expected: Vec<u8> = (0..3).flat_map(|_| all.next_u64().to_le_bytes()).take(19).collect();
        assert_eq!(got.as_slice(), expected);
        assert_eq!(halves.next_u32(), (stream().next_u64() >> 32) as u32);
    }

    /// Mean and variance of draws that `rand_distr` makes of our words: 4 standard errors.
    #[test]
    fn distributions_of_others_draw_from_a_stream() {
        use rand_distr::{Distribution, Gamma};
        let (gamma, n) = (Gamma::new(3.0, 2.0).unwrap(), 100_000);
        let draws: Vec<f64> = gamma.sample_iter(stream()).take(n).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        assert!((mean - 6.0).abs() < 4.0 * (12.0 / n as f64).sqrt(), "{mean}");
    }
}
