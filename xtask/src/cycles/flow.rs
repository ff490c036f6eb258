//! Where warps go in a kernel's machine code: its basic blocks, and which of them whole warps on the usual ways come to.
//!
//! ptxas writes much code twice: for warps whose lanes have parted, and calls for numbers that the short way of a division
//! does not serve. Both have the lines of PTX of the usual code. They are known by how they are reached: only by a branch of
//! parted lanes (`BRA.DIV`), by not taking one of a whole warp (`BRA.CONV`), or through a call.

use super::sass::{Instruction, Listing};
use std::ops::Range;

/// The blocks that whole warps come to without a call, in the order of their addresses.
pub(super) fn fast_blocks(listing: &Listing) -> Vec<Range<usize>> {
    let blocks = blocks(listing);
    let block_of = |instruction: usize| blocks.iter().position(|block| block.start == instruction);
    let mut is_reached = vec![false; blocks.len()];
    let mut waiting: Vec<usize> = (!blocks.is_empty()).then_some(0).into_iter().collect();
    while let Some(number) = waiting.pop() {
        let block = &blocks[number];
        let code = &listing.instructions[block.clone()];
        if is_reached[number] || code.iter().any(calls) {
            continue;
        }
        is_reached[number] = true;
        let Some(last) = code.last() else { continue };
        let (falls_through, branches) = ways(last);
        let target = last.target.as_ref().and_then(|label| listing.labels.get(label));
        waiting.extend(target.filter(|_| branches).and_then(|target| block_of(*target)));
        waiting.extend(falls_through.then(|| block_of(block.end)).flatten());
    }
    blocks.into_iter().zip(is_reached).filter(|(_, is_reached)| *is_reached).map(|(block, _)| block).collect()
}

/// All basic blocks.
fn blocks(listing: &Listing) -> Vec<Range<usize>> {
    let ends = listing.instructions.iter().enumerate().filter(|(_, instruction)| ends_a_block(instruction));
    let mut heads: Vec<usize> = [0, listing.instructions.len()].into();
    heads.extend(ends.map(|(i, _)| i + 1));
    heads.extend(listing.labels.values());
    heads.sort_unstable();
    heads.dedup();
    heads.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn ends_a_block(instruction: &Instruction) -> bool {
    matches!(instruction.name(), "BRA" | "BRX" | "JMP" | "CALL" | "RET" | "EXIT" | "BREAK" | "BSYNC" | "WARPSYNC")
}

/// Whether it calls what is outside the kernel's own code; on older architectures some branches are calls of a label.
fn calls(instruction: &Instruction) -> bool {
    instruction.name() == "CALL" && !instruction.target.as_ref().is_some_and(|label| label.starts_with('.'))
}

/// Whether a whole warp may go on with what follows an instruction, and whether with its target.
fn ways(instruction: &Instruction) -> (bool, bool) {
    match instruction.name() {
        "BRA" if instruction.has("DIV") => (true, false),
        "BRA" if instruction.has("CONV") => (false, true),
        "BRA" | "JMP" | "CALL" => (instruction.is_conditional, true),
        "EXIT" | "RET" => (instruction.is_conditional, false),
        _ => (true, false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sass::tests::written;
    use super::*;

    /// The opcodes of the blocks that are reached, a word for each block.
    fn reached(lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| if line.ends_with(':') { (*line).to_owned() } else { format!("1 - - | {line}") })
            .collect();
        let listing = written(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let words = |block: Range<usize>| {
            listing.instructions[block].iter().map(|i| i.opcode.clone()).collect::<Vec<_>>().join(" ")
        };
        fast_blocks(&listing).into_iter().map(words).collect()
    }

    #[test]
    fn a_division_is_reached_without_its_call() {
        let lines = [
            "DMUL R0",
            "@P0 BRA `(.L_1)",
            "MOV R2",
            "CALL.REL.NOINC `($div)",
            "MOV R3",
            ".L_1:",
            "DADD R0",
            "EXIT",
            "RET.REL R2",
        ];
        assert_eq!(reached(&lines), ["DMUL BRA", "DADD EXIT"]);
    }

    #[test]
    fn the_ways_of_parted_lanes_are_left_out() {
        // Where lanes have parted a shuffle is out of line, with what follows it, and comes back.
        let lines = [
            "BRA.DIV UR4, `(.L_9)",
            "SHFL.BFLY R0",
            ".L_1:",
            "DADD R0",
            "EXIT",
            ".L_9:",
            "WARPSYNC.COLLECTIVE R4, `(.L_8)",
            ".L_8:",
            "DADD R0",
            "BRA `(.L_1)",
        ];
        assert_eq!(reached(&lines), ["BRA.DIV", "SHFL.BFLY", "DADD EXIT"]);
        let lines = ["BRA.CONV ~URZ, `(.L_1)", "MOV R0", "CALL.REL.NOINC `($warpsync)", ".L_1:", "LDS R0", "EXIT"];
        assert_eq!(reached(&lines), ["BRA.CONV", "LDS EXIT"]);
    }

    #[test]
    fn loops_and_branches_that_are_calls_of_a_label_are_followed() {
        let lines = [
            ".L_1:",
            "FADD R0",
            "@P0 CALL.REL.NOINC `(.L_2)",
            "BRA `(.L_1)",
            ".L_2:",
            "FMUL R0",
            "@P1 BRA `(.L_1)",
            "EXIT",
            "BRA `(.L_1)",
        ];
        assert_eq!(reached(&lines), ["FADD CALL.REL.NOINC", "BRA", "FMUL BRA", "EXIT"]);
    }

    #[test]
    fn no_code_has_no_blocks() {
        assert_eq!(fast_blocks(&Listing::default()), []);
    }
}
