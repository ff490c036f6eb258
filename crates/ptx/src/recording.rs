//! A launch on record: what a kernel was given and what it left, so that it can be run again without the program.

use crate::{Allocation, Launch, LaunchOutcome, LaunchShape, Module, Order};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The kernel's name.
    pub entry: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// See [`Launch::parameters`].
    pub parameters: Vec<u8>,
    /// See [`Launch::dynamic_shared`].
    pub dynamic_shared: u32,
    /// See [`Launch::together`].
    pub together: bool,
    /// The memory that the kernel could reach.
    pub memory: Vec<RecordedMemory>,
}

/// An allocation before and after a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedMemory {
    /// See [`Allocation::address`].
    pub address: u64,
    /// What it held.
    pub before: Vec<u8>,
    /// What the launch has left in it.
    pub after: Vec<u8>,
}

/// How a recorded launch is run again.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// See [`Launch::order`].
    pub order: Order,
    /// See [`Launch::checked`].
    pub checked: bool,
    /// See [`Launch::most_joins`].
    pub most_joins: u64,
}

/// How long threads may sleep in a launch that is run again: such launches are short.
const PATIENCE: Duration = Duration::from_secs(2);

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn read(path: &Path) -> io::Result<Self> {
        postcard::from_bytes(&std::fs::read(path)?).map_err(io::Error::other)
    }

    /// Writes a recording.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, postcard::to_stdvec(self).map_err(io::Error::other)?)
    }

    /// Runs the launch again with the kernel of this module, if it has one of the name. Also returns whether it has left
    /// the same, to the bit.
    pub fn replay(&self, module: &Module, replay: Replay) -> Option<(LaunchOutcome, bool)> {
        let (outcome, memory) = self.run(module, replay)?;
        let same = self.memory.iter().zip(&memory).all(|(recorded, memory)| recorded.after == *memory);
        Some((outcome, same))
    }

    /// Runs the launch with the kernel of this module, if it has one of the name, and takes for granted what it leaves:
    /// so a launch that was changed becomes one on record.
    pub fn record(mut self, module: &Module, replay: Replay) -> Option<(LaunchOutcome, Self)> {
        let (outcome, memory) = self.run(module, replay)?;
        self.memory.iter_mut().zip(memory).for_each(|(recorded, memory)| recorded.after = memory);
        Some((outcome, self))
    }

    /// Runs the launch; returns what it leaves in each allocation, too.
    fn run(&self, module: &Module, replay: Replay) -> Option<(LaunchOutcome, Vec<Vec<u8>>)> {
        let entry = module.entry(&self.entry)?;
        let mut memory: Vec<Vec<u8>> = self.memory.iter().map(|memory| memory.before.clone()).collect();
        let allocations = self.memory.iter().zip(&mut memory);
        let outcome = entry.run(Launch {
            shape: LaunchShape { grid: self.grid, block: self.block },
            parameters: &self.parameters,
            dynamic_shared: self.dynamic_shared,
            together: self.together,
            allocations: allocations
                .map(|(of, memory)| Allocation { address: of.address, memory, written: None })
                .collect(),
            order: replay.order,
            checked: replay.checked,
            patience: PATIENCE,
            most_joins: replay.most_joins,
        });
        Some((outcome, memory))
    }
}
