//! Can device memory be had, and does it keep what is written?

use super::live::Live;
use crate::Finding;
use crate::finding::Question;
use crate::nvml::memory;
use octopus_cuda::{CudaError, DeviceBuffer};

pub(super) const QUESTION: Question = Question {
    id: "memory",
    title: "Device memory in use",
    expected: "memory can be had and returns what was written",
};

/// Words of 8 bytes: 64 MiB, or 4 MiB where all is small.
const WORDS: usize = 8 << 20;
const SMALL_WORDS: usize = 512 << 10;

pub(super) fn check(live: &mut Live) -> Result<Finding, CudaError> {
    let found = live.context.memory_info()?;
    let words = if live.config.small { SMALL_WORDS } else { WORDS };
    // Each bit is written as 0 and as 1, and each word tells its place: crossed address lines show too.
    let pattern: Vec<u64> = (0..words as u64).map(scatter).collect();
    let inverse: Vec<u64> = pattern.iter().map(|word| !word).collect();
    let mut buffer = DeviceBuffer::from_slice(&live.context, &pattern)?;
    let mut wrong = differing(&buffer.to_vec()?, &pattern);
    buffer.copy_from(&inverse)?;
    wrong += differing(&buffer.to_vec()?, &inverse);
    let room = format!("{} of {} free", memory(found.free), memory(found.total));
    let bytes = memory(buffer.bytes() as u64);
    if wrong == 0 {
        return Ok(QUESTION.pass(format!("{room}; {bytes} written and read back")));
    }
    Ok(QUESTION.fail(
        format!("{room}; {wrong} of {} words came back changed", 2 * words),
        "the device's memory or the bus to it is faulty",
        "do not trust results of this device: see memory-errors, `nvidia-smi -q -d ECC,PAGE_RETIREMENT`, reseat the card",
    ))
}

/// Neighbouring numbers to unlike words: Fibonacci hashing, which loses none.
fn scatter(place: u64) -> u64 {
    place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

fn differing(found: &[u64], expected: &[u64]) -> usize {
    found.iter().zip(expected).filter(|(found, expected)| found != expected).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_of_the_pattern_tells_its_place() {
        let words: BTreeSet<u64> = (0..100_000).map(scatter).collect();
        assert_eq!(words.len(), 100_000);
    }

    #[test]
    fn changed_words_are_counted() {
        assert_eq!(differing(&[1, 2, 3], &[1, 0, 4]), 2);
    }
}
