//! Events of a running launch, for checks that a GPU does not make.

use crate::instruction::{Instruction, MemoryAccess};
use crate::lanes::{LANES, Registers};
use crate::module::Code;

/// The lanes of a warp that do an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) instruction: &'a Instruction,
    /// The number of the block.
    pub(crate) block: u32,
    /// The number of the warp in its block.
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
}

/// Looks on. The interpreter is compiled for each of these, so that one that does nothing costs nothing.
pub(crate) trait Watch {
    /// What is known of a warp's registers.
    type Notes;

    /// Returns whether anything is looked at.
    const LOOKS: bool;

    /// Makes the notes of a warp that has done nothing.
    fn notes(&self, code: &Code) -> Self::Notes;

    /// Lanes are about to do an instruction that reads or writes registers; `arrived` are those that came to it, whether
    /// or not its guard lets them.
    fn registers(&mut self, doing: Doing<'_>, arrived: u32, notes: &mut Self::Notes);

    /// Lanes have loaded, or stored what the registers hold.
    fn memory(
        &mut self,
        doing: Doing<'_>,
        access: MemoryAccess,
        addresses: &[u64; LANES],
        registers: &Registers,
        is_store: bool,
    );

    /// Lanes of a warp wait for each other.
    fn meet(&mut self, doing: Doing<'_>);

    /// Lanes order what they have written before what they write from now on.
    fn fence(&mut self, doing: Doing<'_>);

    /// Threads of a block have met at a barrier, each group at its instruction.
    fn barrier(&mut self, groups: &[Doing<'_>], some_have_left: bool);

    /// Lanes that came apart meet in instructions of the same kind in different lines.
    fn meet_elsewhere(&mut self, doing: Doing<'_>, other: &Instruction);

    /// A block begins.
    fn begin(&mut self, block: u32);

    /// Returns what was found.
    fn findings(self) -> Vec<String>;
}

/// Looks at nothing.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    type Notes = ();
    const LOOKS: bool = false;

    fn notes(&self, _: &Code) {}
    fn registers(&mut self, _: Doing<'_>, _: u32, (): &mut ()) {}
    fn memory(&mut self, _: Doing<'_>, _: MemoryAccess, _: &[u64; LANES], _: &Registers, _: bool) {}
    fn meet(&mut self, _: Doing<'_>) {}
    fn fence(&mut self, _: Doing<'_>) {}
    fn barrier(&mut self, _: &[Doing<'_>], _: bool) {}
    fn meet_elsewhere(&mut self, _: Doing<'_>, _: &Instruction) {}
    fn begin(&mut self, _: u32) {}
    fn findings(self) -> Vec<String> {
        Vec::new()
    }
}
