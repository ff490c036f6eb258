//! Can device memory be had, and does it keep what is written?

use crate::live::Live;
use octopus_cuda::{CudaError, DeviceBuffer};
use octopus_device::{Finding, Question, memory_text};

pub(crate) const QUESTION: Question = Question {
    id: "memory",
    title: "Device memory in use",
    expected: "memory can be had and returns what was written",
};

/// Words of 8 bytes: 64 MiB, or 4 MiB where all is small.
const WORDS: usize = 8 << 20;
const SMALL_WORDS: usize = 512 << 10;

pub(crate) fn check(live: &mut Live) -> Result<Finding, CudaError> {
    let found = live.context.memory_info()?;
    let words = if live.config.small { SMALL_WORDS } else { WORDS };
    // Each bit is written as 0 and as 1, and each word tells its place: crossed address lines show too.
    let pattern: Vec<u64> = (0..words as u64).map(scatter).collect();
    let inverse: Vec<u64> = pattern.iter().map(|word| !word).collect();
    let mut buffer = DeviceBuffer::from_slice(&live.context, &pattern)?;
    let plain = differing(&buffer.to_vec()?, &pattern);
    buffer.copy_from(&inverse)?;
    let inverted = differing(&buffer.to_vec()?, &inverse);
    let room = format!("{} of {} free", memory_text(found.free), memory_text(found.total));
    Ok(judge(&room, words, [plain, inverted]))
}

/// Judges by the words that came back changed, of as many words written twice.
fn judge(room: &str, words: usize, changed: [usize; 2]) -> Finding {
    let changed: usize = changed.into_iter().sum();
    if changed == 0 {
        let bytes = memory_text(size_of::<u64>() as u64 * words as u64);
        return QUESTION.pass(format!("{room}; {bytes} written and read back"));
    }
    QUESTION.fail(
        format!("{room}; {changed} of {} words came back changed", 2 * words),
        "the device's memory or the bus to it is faulty",
        "do not trust results of this device: see memory-errors, `nvidia-smi -q -d ECC,PAGE_RETIREMENT`, reseat the card",
    )
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
    fn one_changed_word_is_a_fault() {
        let observed = |changed| judge("1.0 GiB of 2.0 GiB free", SMALL_WORDS, changed).observed;
        assert_eq!(observed([0, 0]), "1.0 GiB of 2.0 GiB free; 4 MiB written and read back");
        for (changed, count) in [([1, 0], 1), ([0, 1], 1), ([2, 3], 5)] {
            let words = format!("1.0 GiB of 2.0 GiB free; {count} of 1048576 words came back changed");
            assert_eq!(observed(changed), words);
        }
    }

    #[test]
    fn changed_words_are_counted() {
        assert_eq!(differing(&[1, 2, 3], &[1, 0, 4]), 2);
    }
}
