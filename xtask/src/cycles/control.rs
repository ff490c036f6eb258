//! The control word of an instruction: what ptxas tells the scheduler about it.
//!
//! From sm_70 on an instruction has 128 bits, of which 105 to 125 are the control word: Jia et al., "Dissecting the NVIDIA
//! Volta GPU architecture via microbenchmarking" (arXiv:1804.06826, section 2.1); Huerta et al., "Analyzing modern NVIDIA
//! GPU cores" (arXiv:2503.20481) for what a core makes of it.

/// Where the control word begins in the second half of an instruction.
const FIRST_BIT: u32 = 105 - 64;
/// The counters by which instructions wait for results of unknown latency.
pub(super) const SCOREBOARDS: usize = 6;

/// A decoded control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control {
    /// Cycles until the warp may issue its next instruction, 0 to 15.
    pub(super) stall: u8,
    /// Whether the scheduler should go on with another warp.
    pub(super) yields: bool,
    /// The scoreboard that is released when the result is there.
    pub(super) write: Option<u8>,
    /// The scoreboard that is released when the operands have been read.
    pub(super) read: Option<u8>,
    /// The scoreboards that must be free before it is issued, a bit each.
    waits: u8,
    /// The operands that stay in the cache of registers, a bit each.
    pub(super) reuse: u8,
}

impl Control {
    /// Decodes the second half of an instruction.
    pub(super) fn of(second_half: u64) -> Self {
        let field = |first: u32, bits: u32| (second_half >> (FIRST_BIT + first) & ((1 << bits) - 1)) as u8;
        // Seven stands for none; there is no sixth.
        let scoreboard = |number: u8| (usize::from(number) < SCOREBOARDS).then_some(number);
        Self {
            stall: field(0, 4),
            yields: field(4, 1) == 0,
            write: scoreboard(field(5, 3)),
            read: scoreboard(field(8, 3)),
            waits: field(11, 6),
            reuse: field(17, 4),
        }
    }

    /// The scoreboards that it waits for.
    pub(super) fn waits(self) -> impl Iterator<Item = usize> {
        (0..SCOREBOARDS).filter(move |number| self.waits >> number & 1 == 1)
    }

    /// Cycles that pass until the warp may go on: an instruction takes one at least.
    pub(super) fn cycles(self) -> u64 {
        u64::from(self.stall.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(control: Control) -> Vec<usize> {
        control.waits().collect()
    }

    /// Words of ptxas 12.4 for sm_90, decoded by hand: bits 41 to 44 are the stall, 45 the yield, 46 to 48 and 49 to 51 the
    /// scoreboards, 52 to 57 the waits, 58 to 61 the reuse.
    #[test]
    fn known_words_are_decoded_as_by_hand() {
        // LDC R1, c[0x0][0x28]: 0x0e24 >> 1 is 111 000 1 0010.
        let load = Control::of(0x000e_2400_0000_0800);
        assert_eq!((load.stall, load.yields, load.write, load.read), (2, false, Some(0), None));
        assert_eq!(waits(load), [0; 0]);
        // IMAD.WIDE.U32 R4, R0.reuse, 0x4000, RZ: 0x42fe2 >> 1 is 0001 000010 111 111 1 0001.
        let multiply = Control::of(0x042f_e200_078e_00ff);
        assert_eq!((multiply.stall, multiply.write, multiply.read, multiply.reuse), (1, None, None, 1));
        assert_eq!(waits(multiply), [1]);
        // DMUL R2, R2, R10: 0x4fd8 >> 1 is 000100 111 111 0 1100.
        let product = Control::of(0x004f_d800_0000_0000);
        assert_eq!((product.stall, product.yields, product.cycles()), (12, true, 12));
        assert_eq!(waits(product), [2]);
    }

    #[test]
    fn an_instruction_takes_a_cycle_at_least() {
        assert_eq!(Control::of(0x000f_c000_0000_0000).cycles(), 1);
    }
}
