//! A kernel as it is timed: basic blocks of machine instructions, each with how often a step of its work goes through it.

use super::flow::fast_blocks;
use super::kind::{Kind, width};
use super::sass::{Instruction, Listing};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of an instruction.
const BYTES: usize = 16;
/// A block that every tenth step goes through at least is hot code: it has to stay in the instruction cache.
const HOT: f64 = 0.1;
/// Instructions that are executed one after the other, all equally often.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// In the listing.
    pub(super) instructions: Range<usize>,
    /// How often a step leads a warp through it.
    pub(super) rate: f64,
}

/// A kernel's executed code.
#[derive(Clone, Debug)]
pub(super) struct Program<'a> {
    listing: &'a Listing,
    /// In the order of their addresses.
    pub(super) blocks: Vec<Block>,
}

impl<'a> Program<'a> {
    /// Joins machine code with how often each line of its PTX is executed. What was not executed is left out, and so are the
    /// slow ways of divisions and roots, and of shuffles among lanes that have parted: their lines of PTX are those of the
    /// fast ways, which warps take.
    pub(super) fn new(listing: &'a Listing, by_line: &BTreeMap<u32, f64>) -> Self {
        let blocks = fast_blocks(listing).into_iter().filter_map(|instructions| {
            let rate = rate(&listing.instructions[instructions.clone()], by_line)?;
            Some(Block { instructions, rate })
        });
        Self { blocks: blocks.collect(), listing }
    }

    /// The instructions of a block.
    pub(super) fn code(&self, block: &Block) -> &'a [Instruction] {
        &self.listing.instructions[block.instructions.clone()]
    }

    /// Sums what `value` gives for each instruction over those that a warp executes in a step.
    pub(super) fn of_a_step(&self, value: impl Fn(&Instruction) -> f64) -> f64 {
        self.blocks.iter().map(|block| block.rate * self.code(block).iter().map(&value).sum::<f64>()).sum()
    }

    /// The executions of each opcode in a step, the most frequent first.
    pub(super) fn opcodes(&self) -> Vec<(String, f64)> {
        let mut sums = BTreeMap::<&str, f64>::new();
        for block in &self.blocks {
            for instruction in self.code(block) {
                *sums.entry(instruction.name()).or_default() += block.rate;
            }
        }
        let mut sums: Vec<(String, f64)> = sums.into_iter().map(|(name, sum)| (name.to_owned(), sum)).collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    /// Bytes of hot code.
    pub(super) fn hot_bytes(&self) -> usize {
        self.blocks.iter().filter(|block| block.rate >= HOT).map(|block| block.instructions.len() * BYTES).sum()
    }
}

/// How often a block is executed: what most of its instructions say by their lines of PTX. A few may have been moved here
/// from blocks that are executed more or less often. `None` where no line was executed.
fn rate(code: &[Instruction], by_line: &BTreeMap<u32, f64>) -> Option<f64> {
    // In the order in which they are first met, which decides between equals.
    let mut votes: Vec<(f64, usize)> = Vec::new();
    for rate in
        code.iter().filter_map(|instruction| by_line.get(&instruction.line?).copied()).filter(|rate| *rate > 0.0)
    {
        match votes.iter_mut().find(|(voted, _)| *voted == rate) {
            Some((_, votes)) => *votes += 1,
            None => votes.push((rate, 1)),
        }
    }
    let most = votes.iter().map(|(_, votes)| *votes).max()?;
    votes.into_iter().find(|(_, votes)| *votes == most).map(|(rate, _)| rate)
}

/// Kind and width of an instruction.
pub(super) fn kind_and_width(instruction: &Instruction) -> (Kind, u64) {
    (Kind::of(instruction), width(instruction))
}

#[cfg(test)]
mod tests {
    use super::super::sass::listings;
    use super::super::sass::tests::{EXCERPT, written};
    use super::*;

    #[test]
    fn a_block_is_executed_as_often_as_most_of_its_lines() {
        let listing = written(&[
            "1 - - | FADD R0",
            "1 - - | FADD R1",
            "1 - - | LDC R2",
            "1 - - | @P0 BRA `(.L)",
            "1 - - | FMUL R0",
            ".L:",
            "1 - - | EXIT",
        ]);
        // The constant was moved here from a rarer block; nothing is known of the branch, and the last was not executed.
        let lines = BTreeMap::from([(0, 1.0), (1, 1.0), (2, 0.06), (4, 0.5), (6, 0.0)]);
        let program = Program::new(&listing, &lines);
        assert_eq!(program.blocks, [Block { instructions: 0..4, rate: 1.0 }, Block { instructions: 4..5, rate: 0.5 }]);
        assert_eq!(program.of_a_step(|_| 1.0), 4.5);
        assert_eq!(program.opcodes()[0], ("FADD".to_owned(), 2.0));
        assert_eq!(program.hot_bytes(), 5 * 16);
    }

    #[test]
    fn an_excerpt_has_the_counts_of_its_lines() {
        let listing = listings(EXCERPT).unwrap().remove("array_dot_f64").unwrap();
        // The kernel's line 4584 multiplies: 32 times where the others are executed once.
        let lines = (4544..=4574).map(|line| (line, 1.0)).chain((4575..=4587).map(|line| (line, 32.0)));
        let program = Program::new(&listing, &lines.collect());
        let rates: Vec<f64> = program.blocks.iter().map(|block| block.rate).collect();
        assert_eq!(rates, [1.0, 1.0, 1.0, 32.0]);
        assert_eq!(program.of_a_step(|instruction| f64::from(instruction.name() == "DMUL")), 32.0);
    }
}
