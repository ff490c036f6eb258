//! The addresses and seeds of a calibration's random numbers.
//!
//! Each data set, or sequence, has streams of its own.

use octopus_random::{Purpose, Stream, philox4x32_10};

/// The purposes of the random numbers of one data set.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum StreamPurpose {
    /// Parameters from the prior.
    Parameters = 0,
    /// Data given the parameters.
    Data = 1,
    /// The choice between several possible ranks.
    Ties = 2,
    /// The seed of the sampler.
    Seed = 3,
    /// The data of the steps of a sequence, from this number on.
    Steps = 16,
}

/// Returns the stream of `part` for data set, or sequence, `number`.
pub(crate) fn stream(seed: u64, number: u32, part: StreamPurpose) -> Stream {
    Stream::new(seed, number, part as u32, Purpose::Calibration)
}

/// Returns the stream of the data after `step` steps of sequence `number`.
pub(crate) fn step_stream(seed: u64, number: u32, step: u32) -> Stream {
    Stream::new(seed, number, StreamPurpose::Steps as u32 + step, Purpose::Calibration)
}

/// Returns the sampler's seed for data set, or sequence, `number`: 64 random bits, so that no two runs share numbers.
pub(crate) fn sampler_seed(seed: u64, number: u32) -> u64 {
    let counter = [0, StreamPurpose::Seed as u32, number, Purpose::Calibration as u32];
    let words = philox4x32_10(counter, [seed as u32, (seed >> 32) as u32]);
    u64::from(words[0]) | u64::from(words[1]) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Philox written anew in Python, at counters (0, part, number, 8): 3 is the seed's part, and step 5 is part 21.
    #[test]
    fn numbers_are_those_of_their_address() {
        let seed = 0x0123_4567_89ab_cdef;
        assert_eq!(sampler_seed(seed, 7), 0xe1a8_90f9_a1b5_3120);
        assert_eq!(step_stream(seed, 7, 5).uniform(), 0.49468310502026946);
    }

    #[test]
    fn data_sets_share_no_numbers() {
        let mut seen = HashSet::new();
        for number in 0..200 {
            assert!(seen.insert(sampler_seed(5, number)));
            for part in [StreamPurpose::Parameters, StreamPurpose::Data, StreamPurpose::Ties] {
                assert!(seen.insert(stream(5, number, part).uniform().to_bits()));
            }
            for step in 0..5 {
                assert!(seen.insert(step_stream(5, number, step).uniform().to_bits()));
            }
        }
    }
}
