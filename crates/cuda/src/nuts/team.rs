//! The memory in which the blocks of each chain's team meet.

use super::layout::{NutsFormat, THREADS};
use crate::{Context, CudaError, DeviceBuffer};
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
        let each = self.word_bytes() + asked_bytes(format) + self.answers.saturating_mul(format.scalar.bytes());
        chains.saturating_mul(each)
    }

    /// Returns the bytes of a chain's question, and of what each of its blocks has answered.
    fn word_bytes(&self) -> usize {
        4 * (1 + self.most_blocks())
    }
}

/// Returns the bytes of the vector that a chain's tasks depend on.
fn asked_bytes(format: NutsFormat) -> usize {
    format.vector() * format.element.bytes()
}

/// Several blocks for each chain, which share its evaluations.
pub struct NutsTeam {
    pub(crate) blocks: u32,
    /// How long the host waits for a launch.
    pub(crate) patience: Duration,
    /// Numbers that a chain's tasks answer with.
    pub(crate) stride: u32,
    pub(crate) questions: DeviceBuffer<u8>,
    pub(crate) answered: DeviceBuffer<u8>,
    pub(crate) asked: DeviceBuffer<u8>,
    pub(crate) answers: DeviceBuffer<u8>,
}

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
            questions: zeroed(4)?,
            answered: zeroed(4 * most)?,
            asked: zeroed(asked_bytes(format))?,
            answers: zeroed(work.answers.saturating_mul(format.scalar.bytes()))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Float;

    #[test]
    fn memory_is_by_hand() {
        let format = NutsFormat { element: Float::F32, scalar: Float::F64, lanes: 32, rows: 8 };
        let work = NutsTeamWork { tasks: 9, answers: 66 };
        assert_eq!(work.most_blocks(), 4);
        // A question, four answered numbers, 256 floats, 66 doubles.
        assert_eq!(work.bytes(format, 3), 3 * (4 + 16 + 1024 + 528));
    }
}
