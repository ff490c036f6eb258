//! The reader of `nvdisasm -gp -hex`: the machine instructions of each kernel, with their lines of PTX and control words.

use super::control::Control;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// Marks of the listing.
const SECTION: &str = ".text.";
const RULE: &str = "//----";
const LINE: &str = "//## File ";

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// From the beginning of the kernel, in bytes.
    pub(super) address: u32,
    /// With its modifiers, without a guard: `LDG.E.64`.
    pub(super) opcode: String,
    /// Whether it has a guard, or a branch a condition among its operands.
    pub(super) is_conditional: bool,
    /// The label that a branch or call goes to.
    pub(super) target: Option<String>,
    /// The line of PTX that it comes from, counted from 1.
    pub(super) line: Option<u32>,
    pub(super) control: Control,
}

impl Instruction {
    /// The opcode without modifiers.
    pub(super) fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or(&self.opcode)
    }

    /// Whether the opcode has this modifier.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').skip(1).any(|word| word == modifier)
    }
}

/// The machine code of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) instructions: Vec<Instruction>,
    /// The instructions that labels stand before, by number.
    pub(super) labels: BTreeMap<String, usize>,
}

/// The kernels of a listing, by name.
///
/// # Errors
/// When an instruction is not understood.
pub(super) fn listings(text: &str) -> Result<BTreeMap<String, Listing>> {
    let mut all = BTreeMap::new();
    let mut open: Option<(String, Reader)> = None;
    for (number, line) in text.lines().enumerate() {
        let begins = line.strip_prefix(SECTION).and_then(|rest| rest.strip_suffix(':'));
        if begins.is_some() || line.starts_with(RULE) {
            if let Some((name, reader)) = open.take() {
                all.insert(name, reader.end()?);
            }
            open = begins.map(|name| (name.to_owned(), Reader::default()));
        } else if let Some((name, reader)) = &mut open {
            reader.take(line).with_context(|| format!("line {} of the listing of {name}", number + 1))?;
        }
    }
    if let Some((name, reader)) = open {
        all.insert(name, reader.end()?);
    }
    Ok(all)
}

/// What was read of a kernel so far.
#[derive(Default)]
struct Reader {
    listing: Listing,
    /// The line of the PTX that what follows was made of.
    line: Option<u32>,
    /// The instruction whose second half is on the next line.
    half: Option<Instruction>,
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<()> {
        let text = line.trim();
        if let Some(mut instruction) = self.half.take() {
            let word = hexadecimal(text);
            let word = word.with_context(|| format!("{text:?} is no second half of {}", instruction.opcode))?;
            instruction.control = Control::of(word);
            self.listing.instructions.push(instruction);
        } else if let Some(rest) = text.strip_prefix(LINE) {
            // `"/folder/name.ptx", line 61`, which may go on with where it was inlined.
            let number = rest.split(", line ").nth(1).and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
            self.line =
                Some(number.and_then(|word| word.parse().ok()).with_context(|| format!("no line in {text:?}"))?);
        } else if text.starts_with("/*") {
            self.half = Some(instruction(text, self.line).with_context(|| format!("{text:?} is no instruction"))?);
        } else if let Some(label) = text.strip_suffix(':').filter(|text| text.starts_with(['.', '$'])) {
            self.listing.labels.insert(label.to_owned(), self.listing.instructions.len());
        }
        Ok(())
    }

    fn end(self) -> Result<Listing> {
        if let Some(Instruction { opcode, address, .. }) = self.half {
            bail!("{opcode} at {address:#x} lacks its second half");
        }
        Ok(self.listing)
    }
}

/// The first half, `/*0040*/  @!P0 BRA P1, `(.L_x_2) ;  /* 0x... */`; its control word is in the second.
fn instruction(text: &str, line: Option<u32>) -> Option<Instruction> {
    let (address, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address, 16).ok()?;
    let (code, word) = rest.rsplit_once("/*")?;
    hexadecimal(&format!("/*{word}"))?;
    let code = code.trim().trim_end_matches(';').trim_end();
    let (guard, code) = match code.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').map(|(guard, code)| (Some(guard), code.trim_start()))?,
        None => (None, code),
    };
    let (opcode, operands) = code.split_once(' ').unwrap_or((code, ""));
    let target = operands.split_once("`(").map(|(before, label)| (before, label.trim_end_matches(')')));
    let is_branch_with_condition = opcode.starts_with("BRA") && target.is_some_and(|(before, _)| before.contains('P'));
    opcode.starts_with(|c: char| c.is_ascii_uppercase()).then(|| Instruction {
        address,
        opcode: opcode.to_owned(),
        is_conditional: guard.is_some() || is_branch_with_condition,
        target: target.map(|(_, label)| label.to_owned()),
        line,
        control: Control::of(0),
    })
}

/// The number of `/* 0x00000a00ff017b82 */`.
fn hexadecimal(comment: &str) -> Option<u64> {
    let digits = comment.strip_prefix("/*")?.strip_suffix("*/")?.trim().strip_prefix("0x")?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The beginning of `array_dot_f64` by ptxas 12.4.131 for sm_90 and nvdisasm 13.5.37.
    pub(in super::super) const EXCERPT: &str = include_str!("excerpt.sass");

    /// A listing of these lines: labels, which end in a colon, and instructions with stall, scoreboard to write and scoreboards
    /// to wait for before a bar, `2 0 1,3 | LDS R0`; `-` is none. Each instruction is of the line of PTX of its number.
    pub(in super::super) fn written(lines: &[&str]) -> Listing {
        let mut text = format!("{SECTION}k:\n");
        for (number, line) in lines.iter().enumerate() {
            let Some((control, code)) = line.split_once('|') else {
                text += &format!("{line}\n");
                continue;
            };
            let [stall, write, waits] = control.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
            let waits: u64 =
                waits.split(',').filter(|word| *word != "-").map(|word| 1 << word.parse::<u64>().unwrap()).sum();
            let write = if write == "-" { 7 } else { write.parse::<u64>().unwrap() };
            let control = stall.parse::<u64>().unwrap() | write << 5 | 7 << 8 | waits << 11;
            text +=
                &format!("{LINE}\"p\", line {number}\n /*{:04x}*/ {} ; /* 0x{:016x} */\n", 16 * number, code.trim(), 0);
            text += &format!(" /* 0x{:016x} */\n", control << 41);
        }
        listings(&text).unwrap().remove("k").unwrap()
    }

    #[test]
    fn an_excerpt_is_read_as_nvdisasm_wrote_it() {
        let listing = listings(EXCERPT).unwrap().remove("array_dot_f64").unwrap();
        assert_eq!(listing.instructions.len(), 39);
        let numbered = |i: usize| {
            let Instruction { address, opcode, line, is_conditional, .. } = &listing.instructions[i];
            (*address, opcode.as_str(), line.unwrap(), *is_conditional)
        };
        assert_eq!(numbered(0), (0x00, "LDC", 4544, false));
        assert_eq!(numbered(3), (0x30, "IMAD.WIDE.U32", 4558, false));
        // A line holds until the next one.
        assert_eq!(numbered(4), (0x40, "ISETP.NE.AND", 4558, false));
        assert_eq!(numbered(7), (0x70, "EXIT", 4562, true));
        assert_eq!(numbered(38), (0x260, "BRA", 4587, true));
        assert_eq!(listing.instructions[38].target.as_deref(), Some(".L_x_1"));
        assert_eq!(listing.labels, BTreeMap::from([(".L_x_414".to_owned(), 7)]));
        assert!(listing.instructions[33].has("64") && listing.instructions[33].name() == "LDG");
    }

    /// nvdisasm tells one field of the control word itself: which operands it keeps.
    #[test]
    fn the_control_words_keep_the_operands_that_nvdisasm_says() {
        let listing = listings(EXCERPT).unwrap().remove("array_dot_f64").unwrap();
        let told: Vec<u32> = EXCERPT
            .lines()
            .filter(|line| line.contains(';'))
            .map(|line| line.matches(".reuse").count() as u32)
            .collect();
        let decoded: Vec<u32> =
            listing.instructions.iter().map(|instruction| instruction.control.reuse.count_ones()).collect();
        assert_eq!(decoded, told);
        assert_eq!(told.iter().sum::<u32>(), 1);
    }

    /// The results that are waited for by a scoreboard are waited for by that one: two loads of one scoreboard by the product.
    #[test]
    fn an_instruction_waits_for_the_scoreboards_of_its_operands() {
        let listing = listings(EXCERPT).unwrap().remove("array_dot_f64").unwrap();
        let control = |address: u32| {
            listing.instructions.iter().find(|instruction| instruction.address == address).unwrap().control
        };
        let loads = [0x210, 0x220].map(|address| control(address).write.map(usize::from));
        assert_eq!(loads, [Some(2), Some(2)]);
        assert_eq!(control(0x250).waits().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn conditions_of_branches_are_seen_as_guards_or_operands() {
        let lines =
            ["1 - - | BRA `(.L)", "1 - - | @!P0 BRA `(.L)", "1 - - | BRA.U !UP0, `(.L)", "1 - - | BRA.DIV UR4, `(.L)"];
        let conditional: Vec<bool> = written(&lines).instructions.iter().map(|i| i.is_conditional).collect();
        assert_eq!(conditional, [false, true, true, false]);
    }

    #[test]
    fn a_listing_that_breaks_off_is_refused() {
        let cut = EXCERPT.trim_end().rsplit_once('\n').unwrap().0;
        let error = listings(cut).unwrap_err().to_string();
        assert_eq!(error, "BRA at 0x260 lacks its second half");
        let wrong = EXCERPT.replacen("0x000e240000000800", "0x000e24", 1);
        assert!(format!("{:#}", listings(&wrong).unwrap_err()).contains("is no second half of LDC"));
    }
}
