//! The memory in which the blocks of each chain's team meet.

use super::layout::{NutsFormat, THREADS};
use crate::{Context, CudaError, DeviceBuffer, Float};
use std::time::Duration;

/// The size of one evaluation's tasks: `TeamWork` of `octopus-density`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NutsTeamWork {
    /// The number of tasks; one warp does each.
    pub tasks: usize,
    /// The number of results of all tasks together.
    pub answers: usize,
}

impl NutsTeamWork {
    /// Returns the most blocks of a chain that have something to do: the leader, and one for each four tasks.
    #[must_use]
    pub fn most_blocks(&self) -> usize {
        1 + self.tasks.div_ceil(THREADS as usize / 32)
    }

    /// Returns the bytes of device memory for this many chains, whatever the number of blocks.
    #[must_use]
    pub fn bytes(&self, format: NutsFormat, chains: usize) -> usize {
        chains.saturating_mul(question_bytes(format) + asked_bytes(format) + self.answer_bytes(format))
    }

    /// Returns the bytes of the letters that a chain's tasks answer with.
    fn answer_bytes(&self, format: NutsFormat) -> usize {
        self.answers.saturating_mul(letter_bytes(format.scalar))
    }
}

/// Returns the bytes of the number of a chain's last question: each lane of the leader has its own.
fn question_bytes(format: NutsFormat) -> usize {
    4 * format.lanes as usize
}

/// Returns the bytes of a letter: beside each half of the number is that of its question.
fn letter_bytes(number: Float) -> usize {
    2 * number.bytes()
}

/// Returns the bytes of the letters that a chain's tasks depend on: a vector.
fn asked_bytes(format: NutsFormat) -> usize {
    format.vector() * letter_bytes(format.element)
}

/// Several blocks for each chain, which share its evaluations.
pub struct NutsTeam {
    pub(crate) blocks: u32,
    /// How long the host waits for a launch.
    pub(crate) patience: Duration,
    /// Letters that a chain's tasks answer with.
    pub(crate) stride: u32,
    /// The number of the last launch.
    launch: u32,
    pub(crate) questions: DeviceBuffer<u8>,
    pub(crate) asked: DeviceBuffer<u8>,
    pub(crate) answers: DeviceBuffer<u8>,
}

/// The numbers of launches end here, and begin again with 1. A letter that nobody has rewritten in all launches since
/// would be taken for a new one: that takes hours of launches, none of which moved the letter's chain.
const MOST_LAUNCHES: u32 = (1 << 24) - 1;

impl NutsTeam {
    /// Makes teams of `blocks` blocks for this many chains; of fewer blocks if not all have something to do. The host
    /// waits for a launch of several blocks a team for `patience`; then the device counts as lost, as such a launch may
    /// never end.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(
        context: &Context,
        format: NutsFormat,
        chains: usize,
        work: NutsTeamWork,
        blocks: usize,
        patience: Duration,
    ) -> Result<Self, CudaError> {
        let most = work.most_blocks();
        let zeroed = |bytes: usize| DeviceBuffer::zeroed(context, chains.saturating_mul(bytes));
        let too_large = |_| CudaError::TooLarge { elements: work.answers, element_bytes: format.scalar.bytes() };
        Ok(Self {
            blocks: u32::try_from(blocks.clamp(1, most)).map_err(too_large)?,
            patience,
            stride: u32::try_from(work.answers).map_err(too_large)?,
            launch: 0,
            questions: zeroed(question_bytes(format))?,
            asked: zeroed(asked_bytes(format))?,
            answers: zeroed(work.answer_bytes(format))?,
        })
    }

    /// Returns the number of the next launch, by which its letters are told from those of earlier ones.
    pub(crate) fn number_launch(&mut self) -> u32 {
        self.launch = after(self.launch);
        self.launch
    }
}

/// Returns the number of the launch that follows.
fn after(launch: u32) -> u32 {
    launch % MOST_LAUNCHES + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_by_hand() {
        let format = NutsFormat { element: Float::F32, scalar: Float::F64, lanes: 32, rows: 8 };
        let work = NutsTeamWork { tasks: 9, answers: 66 };
        assert_eq!(work.most_blocks(), 4);
        // 32 numbers, and letters of 256 floats and 66 doubles.
        assert_eq!(work.bytes(format, 3), 3 * (128 + 2 * (1024 + 528)));
    }

    /// None has the number of the one before it, nor that of memory which nobody has written.
    #[test]
    fn launches_are_numbered_from_1_to_the_last_of_24_bits() {
        assert_eq!([0, 1, (1 << 24) - 2, (1 << 24) - 1].map(after), [1, 2, (1 << 24) - 1, 1]);
    }
}
