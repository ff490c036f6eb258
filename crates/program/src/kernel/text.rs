//! The text of a body: statements, registers and labels with names of their own, and loops.
//!
//! `~` and a letter stand for what the place of insertion gives: `~c`, `~w`, `~i`, `~s`, `~l` and `~v` are the registers of
//! [`BodySite`](super::BodySite), and `~n` is the site's number.

use super::functions;
use crate::operation::Op;
use std::fmt::Write;

/// Kinds of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegisterKind {
    Real,
    Wide,
    Word,
    Truth,
}

/// Each kind with its stem and the type that declares it.
const KINDS: [(RegisterKind, &str, &str); 4] = [
    (RegisterKind::Real, "%bf", ".f64"),
    (RegisterKind::Wide, "%bd", ".b64"),
    (RegisterKind::Word, "%br", ".b32"),
    (RegisterKind::Truth, "%bp", ".pred"),
];

/// Statements so far.
#[derive(Debug, Default)]
pub(super) struct BodyText {
    out: String,
    statements: usize,
    registers: [usize; KINDS.len()],
    labels: usize,
    functions: usize,
}

/// Adds a statement; what follows is formatted as `format!` does it.
macro_rules! say {
    ($text:expr, $($what:tt)+) => { $text.say(format_args!($($what)+)) };
}
pub(super) use say;

/// Returns how a number is written.
pub(super) fn number(x: f64) -> String {
    format!("0d{:016X}", x.to_bits())
}

impl BodyText {
    /// Adds a statement.
    pub(super) fn say(&mut self, statement: std::fmt::Arguments<'_>) {
        self.statements += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{statement};");
    }

    /// Adds a function of numbers and returns the register of its value; nothing if it is none.
    pub(super) fn function(&mut self, function: Op, operands: &[&str]) -> Option<String> {
        let (result, begin) = (self.new_real(), self.out.len());
        self.functions += 1;
        let site = format!("~n_{}", self.functions);
        if !functions::inline(function, operands, &result, &site, &mut self.out) {
            return None;
        }
        self.statements += self.out[begin..].matches(';').count();
        Some(result)
    }

    pub(super) fn statements(&self) -> usize {
        self.statements
    }

    /// The whole in braces, its registers declared at its beginning.
    pub(super) fn finish(self) -> String {
        let mut whole = String::from("{\n");
        for ((_, stem, kind), count) in KINDS.into_iter().zip(self.registers) {
            if count > 0 {
                let _ = writeln!(whole, ".reg {kind} {stem}~n_<{count}>;");
            }
        }
        whole.push_str(&self.out);
        whole.push_str("}\n");
        whole
    }

    fn register(&mut self, kind: RegisterKind) -> String {
        let count = &mut self.registers[kind as usize];
        *count += 1;
        format!("{}~n_{}", KINDS[kind as usize].1, *count - 1)
    }

    /// Returns a register of a real number that nothing is in yet.
    pub(super) fn new_real(&mut self) -> String {
        self.register(RegisterKind::Real)
    }

    /// Returns a register of 32 bits that nothing is in yet.
    pub(super) fn new_word(&mut self) -> String {
        self.register(RegisterKind::Word)
    }

    /// Returns a register of yes or no that nothing is in yet.
    pub(super) fn new_truth(&mut self) -> String {
        self.register(RegisterKind::Truth)
    }

    /// Returns a name that no other label has.
    pub(super) fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("$B~n_{}", self.labels)
    }

    pub(super) fn place_label(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
    }

    fn operate(&mut self, kind: RegisterKind, op: &str, from: &[&str]) -> String {
        let to = self.register(kind);
        say!(self, "{op} {to}, {}", from.join(", "));
        to
    }

    /// Adds an operation and returns the register that its result is in, a real number.
    pub(super) fn real(&mut self, op: &str, from: &[&str]) -> String {
        self.operate(RegisterKind::Real, op, from)
    }

    /// The same for an address.
    pub(super) fn wide(&mut self, op: &str, from: &[&str]) -> String {
        self.operate(RegisterKind::Wide, op, from)
    }

    /// The same for an integer of 32 bits.
    pub(super) fn word(&mut self, op: &str, from: &[&str]) -> String {
        self.operate(RegisterKind::Word, op, from)
    }

    /// The same for yes or no.
    pub(super) fn truth(&mut self, op: &str, from: &[&str]) -> String {
        self.operate(RegisterKind::Truth, op, from)
    }

    /// Returns `base` plus `index` elements of so many bytes.
    pub(super) fn address(&mut self, base: &str, index: &str, bytes: u32) -> String {
        let offset = self.wide("mul.wide.u32", &[index, &bytes.to_string()]);
        self.wide("add.s64", &[base, &offset])
    }

    /// The lanes for which `is` holds do `body`.
    pub(super) fn only_if(&mut self, is: &str) -> OpenLoop {
        let end = self.new_label();
        say!(self, "@!{is} bra {end}");
        OpenLoop { head: None, end, index: String::new(), to: String::new(), step: 0 }
    }

    /// Begins a loop of `index` from `from` to before `to`; both may be registers. [`end`](Self::end) ends it.
    pub(super) fn begin(&mut self, from: &str, to: &str, step: u32) -> OpenLoop {
        let (index, head, end) = (self.new_word(), self.new_label(), self.new_label());
        say!(self, "mov.u32 {index}, {from}");
        if from.parse::<u32>().is_err() || to.parse::<u32>().is_err() {
            let is_over = self.truth("setp.ge.u32", &[&index, to]);
            say!(self, "@{is_over} bra {end}");
        }
        self.place_label(&head);
        OpenLoop { head: Some(head), end, index, to: to.to_owned(), step }
    }

    /// Begins the elements `lane`, `lane + step` ... below `count` of all lanes below `step`, of which a pass may be all
    /// that there is.
    pub(super) fn begin_lanes(&mut self, lane: &str, count: usize, step: u32) -> OpenLoop {
        if count > step as usize {
            return self.begin(lane, &count.to_string(), step);
        }
        let end = self.new_label();
        if count < step as usize {
            let is_over = self.truth("setp.ge.u32", &[lane, &count.to_string()]);
            say!(self, "@{is_over} bra {end}");
        }
        OpenLoop { head: None, end, index: lane.to_owned(), to: String::new(), step }
    }

    /// Ends what was begun.
    pub(super) fn end(&mut self, open: OpenLoop) {
        let OpenLoop { head, end, index, to, step } = open;
        if let Some(head) = head {
            say!(self, "add.s32 {index}, {index}, {step}");
            let goes_on = self.truth("setp.lt.u32", &[&index, &to]);
            say!(self, "@{goes_on} bra {head}");
        }
        self.place_label(&end);
    }

    /// Adds `real` of the lane whose number differs from the own one in `bit`, for all lanes of a warp.
    pub(super) fn add_of_other_half(&mut self, real: &str, bit: u32) {
        let halves = self.halves(real);
        let other = self.shuffle("bfly", &halves, bit);
        say!(self, "add.rn.f64 {real}, {real}, {other}");
    }

    /// Returns the two words of a number.
    pub(super) fn halves(&mut self, real: &str) -> [String; 2] {
        let [low, high] = [(); 2].map(|()| self.new_word());
        say!(self, "mov.b64 {{{low}, {high}}}, {real}");
        [low, high]
    }

    /// Returns the number with these halves of another lane of the warp.
    pub(super) fn shuffle(&mut self, mode: &str, [low, high]: &[String; 2], lane: u32) -> String {
        let [other_low, other_high] = [(); 2].map(|()| self.new_word());
        let is_there = self.register(RegisterKind::Truth);
        say!(self, "shfl.sync.{mode}.b32 {other_low}|{is_there}, {low}, {lane}, 31, -1");
        say!(self, "shfl.sync.{mode}.b32 {other_high}|{is_there}, {high}, {lane}, 31, -1");
        let other = self.new_real();
        say!(self, "mov.b64 {other}, {{{other_low}, {other_high}}}");
        other
    }

    /// Joins the lanes of a warp by a halving tree: each gets the sum, since a + b is b + a to the bit.
    pub(super) fn join_lanes(&mut self, real: &str) {
        for bit in [16, 8, 4, 2, 1] {
            self.add_of_other_half(real, bit);
        }
    }
}

/// A loop, or a condition, that is not ended yet.
#[derive(Debug)]
#[must_use = "a loop has an end"]
pub(super) struct OpenLoop {
    /// Where the next pass begins; there is one pass without it.
    head: Option<String>,
    end: String,
    /// The register of the element that a pass is for.
    pub(super) index: String,
    to: String,
    step: u32,
}
