//! Faults that change nothing: whether a changed line gives another value than its own in any launch, and if it does,
//! whether anybody uses it.
//!
//! The kernel's text gets both: first the changed line, into registers of its own, then the line as it is, and then a
//! question: where the two differ, the launch fails. Or, in the place of that, where the two differ a lane gets neither of
//! them but something else: a value that never changes the bits is not used.

/// Registers that no compiler's text has.
pub(super) const REGISTERS: &str = "\t.reg .pred %idle_p<3>;\n\t.reg .b32 %idle_r<9>;\n\t.reg .b64 %idle_d<9>;";

/// What a lane gets where two lines differ, one after the other: whole numbers, addresses of nothing, and NaNs.
pub(super) const POISONS: [u64; 5] = [0, 1, u64::MAX, 0x7ff8_dead_7fc0_beef, 0x4059_1234_42c8_5678];

/// Returns the lines that do `old`, and fail where `new` in its place gives another value; nothing for a line that gives
/// no value, or is not understood.
pub(super) fn both(old: &str, new: &str) -> Option<String> {
    if parts(old)?.0.starts_with("st.") {
        return stored(old, new);
    }
    let Both { lines, value, own } = values(old, new)?;
    Some(format!("{lines}\n{}", question(&value, &own)?))
}

/// Returns the lines that do `old`, and give `poison` to the lanes in which `new` in its place gives another value. Nothing
/// for a store, for a predicate, of which there is only one other value, or where a line is not understood.
pub(super) fn poisoned(old: &str, new: &str, poison: u64) -> Option<String> {
    let Both { lines, value, own } = values(old, new)?;
    Some(format!("{lines}\n{}", poisoning(&value, &own, poison)?))
}

/// Returns lines that give `poison` to a register in the lanes in which another differs; nothing for predicates.
pub(super) fn poisoning(register: &str, other: &str, poison: u64) -> Option<String> {
    let own = own_register(register, 0)?;
    if own.starts_with("%idle_p") {
        return None;
    }
    let (bits, poison) = sized(&own, poison);
    let differ = difference(register, other)?;
    Some(format!("{differ}\n\tselp.b{bits} \t{register}, {poison}, {register}, %idle_p2;"))
}

/// Returns the lines that leave `poison` in a place that one of two stores would write, and in the other's place what is
/// there; `old` has another address than `new`. Where `new` is nothing, `poison` is left in those words of the place that
/// the store would change. Where `same` is given, the launch fails if what is in the place of `old` is not what it stores.
pub(super) fn poisoned_store(old: &str, new: &str, poison: u64, same: bool) -> Option<String> {
    let (opcode, operands) = parts(old).filter(|(opcode, _)| opcode.starts_with("st."))?;
    let (address, value) = operands.split_once(", ")?;
    let own = Stored::read(value, 1)?;
    let poisoned = own.poisoned(poison);
    let there = format!("\t{} \t{}, {address};", opcode.replacen("st.", "ld.", 1), own.text);
    let stored = format!("\t{opcode} \t{address}, {};", own.text);
    let Some((_, elsewhere)) = parts(new) else {
        return Some(format!("{there}\n{}\n{stored}", own.poisoned_where_changed(poison)?));
    };
    let first = if same { format!("{there}\n{}", own.question()?) } else { format!("{poisoned}\n{stored}") };
    let elsewhere = elsewhere.split_once(", ")?.0;
    Some(format!("{first}\n{poisoned}\n\t{opcode} \t{elsewhere}, {};", own.text))
}

/// What a store stores, one register or a vector of them, with registers of ours.
struct Stored {
    /// The registers that are stored, each with ours.
    registers: Vec<(String, String)>,
    /// Ours, as a store or a load has them.
    text: String,
}

impl Stored {
    /// Reads `%fd1` or `{%r1, %r2}`; ours are numbered from `first` on.
    fn read(value: &str, first: usize) -> Option<Self> {
        let inner = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let stored = inner.unwrap_or(value).split(',').map(str::trim).zip(first..);
        let registers: Vec<(String, String)> = stored
            .map(|(register, number)| Some((register.to_owned(), own_register(register, number)?)))
            .collect::<Option<_>>()?;
        let ours = registers.iter().map(|(_, own)| own.as_str()).collect::<Vec<_>>().join(", ");
        let text = if inner.is_some() { format!("{{{ours}}}") } else { ours };
        Some(Self { registers, text })
    }

    /// Returns lines that write to where nothing is when one of ours differs.
    fn question(&self) -> Option<String> {
        let all: Option<Vec<String>> = self.registers.iter().map(|(register, own)| question(register, own)).collect();
        Some(all?.join("\n"))
    }

    /// Returns lines that give `poison` to each of ours that differs from what is stored, of which it gets the value else.
    fn poisoned_where_changed(&self, poison: u64) -> Option<String> {
        let lines = self.registers.iter().map(|(register, own)| {
            let (bits, poison) = sized(own, poison);
            let differ = difference(register, own)?;
            Some(format!("{differ}\n\tselp.b{bits} \t{own}, {poison}, {register}, %idle_p2;"))
        });
        Some(lines.collect::<Option<Vec<_>>>()?.join("\n"))
    }

    /// Returns lines that give `poison` to each of ours.
    fn poisoned(&self, poison: u64) -> String {
        let lines = self.registers.iter().map(|(_, own)| {
            let (bits, poison) = sized(own, poison);
            format!("\tmov.b{bits} \t{own}, {poison};")
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Lines that do a changed line and then the line as it is.
struct Both {
    lines: String,
    /// The register that has the line's value.
    value: String,
    /// Ours, which has the changed line's.
    own: String,
}

fn values(old: &str, new: &str) -> Option<Both> {
    let (_, operands) = parts(old)?;
    let (first, _) = operands.split_once(", ")?;
    let (opcode, changed) = parts(new)?;
    let (of_new, inputs_of_new) = changed.split_once(", ")?;
    if first != of_new {
        return None;
    }
    // The value of a shuffle, and whether its lane was there.
    let value = first.split('|').next()?;
    let own = own_register(value, 1)?;
    let own_first = if first.contains('|') { format!("{own}|%idle_p1") } else { own.clone() };
    let lines = format!("\t{opcode} \t{own_first}, {inputs_of_new};\n{old}");
    Some(Both { lines, value: value.to_owned(), own })
}

/// For a store: what is in the place that it goes to is compared with what it stores there. For a store to another place,
/// also what is in that.
fn stored(old: &str, new: &str) -> Option<String> {
    let (opcode, operands) = parts(old)?;
    let (address, value) = operands.split_once(", ")?;
    if opcode.contains("volatile") {
        return None;
    }
    let own = Stored::read(value, 1)?;
    let load = opcode.replacen("st.", "ld.", 1);
    let there = format!("\t{load} \t{}, {address};\n{}", own.text, own.question()?);
    if new.trim().is_empty() {
        return Some(format!("{there}\n{old}"));
    }
    let (_, changed) = parts(new)?;
    let elsewhere = changed.split_once(", ")?.0;
    let other = Stored::read(value, 5)?;
    let at_other = format!("\t{load} \t{}, {elsewhere};\n{}", other.text, other.question()?);
    Some(format!("{there}\n{at_other}\n{old}"))
}

/// Returns the opcode and the operands of a line without a guard.
fn parts(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_suffix(';')?;
    let (opcode, operands) = line.split_once(char::is_whitespace)?;
    (!opcode.starts_with('@')).then(|| (opcode, operands.trim()))
}

/// Returns a register like this one that is ours.
fn own_register(register: &str, number: usize) -> Option<String> {
    let kind = match register.strip_prefix('%')?.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "p" => "p",
        "r" | "f" | "rs" => "r",
        "rd" | "fd" => "d",
        _ => return None,
    };
    Some(format!("%idle_{kind}{number}"))
}

/// Returns the bits of a register of ours, and as many of `poison`.
fn sized(own: &str, poison: u64) -> (u32, u64) {
    if own.starts_with("%idle_d") { (64, poison) } else { (32, poison & u64::from(u32::MAX)) }
}

/// Returns lines that write to where nothing is when two registers differ.
pub(super) fn question(register: &str, other: &str) -> Option<String> {
    let differ = difference(register, other)?;
    Some(format!("{differ}\n\tmov.u64 \t%idle_d8, 0;\n\t@%idle_p2 st.global.u64 \t[%idle_d8], %idle_d8;"))
}

/// Returns the line that asks whether two registers differ.
fn difference(register: &str, other: &str) -> Option<String> {
    Some(match own_register(register, 0)?.strip_prefix("%idle_")?.chars().next()? {
        'p' => format!("\txor.pred \t%idle_p2, {register}, {other};"),
        'r' => format!("\tsetp.ne.s32 \t%idle_p2, {register}, {other};"),
        _ => format!("\tsetp.ne.s64 \t%idle_p2, {register}, {other};"),
    })
}

/// Returns the text with other lines in the place of one of an entry's, and our registers declared in that entry.
pub(super) fn in_place(text: &str, line: usize, lines: &str) -> String {
    let mut all: Vec<&str> = text.lines().collect();
    all[line - 1] = lines;
    all.insert(body(&all, line), REGISTERS);
    all.join("\n")
}

/// Returns where the body of the entry begins that has this line: behind the last brace before it.
pub(super) fn body(lines: &[&str], line: usize) -> usize {
    lines[..line].iter().rposition(|line| *line == "{").map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{kernel, left_by, line_of};
    use super::*;

    /// Whether the changed line gives another value in a warp.
    fn differs(old: &str, new: &str) -> bool {
        let text = kernel(old);
        left_by(&in_place(&text, line_of(&text, old), &both(old, new).unwrap())).is_none()
    }

    /// Whether a poisoned text leaves what the text does, whatever the poison.
    fn is_unused(text: &str, old: &str, poisoned: impl Fn(u64) -> Option<String>) -> bool {
        let line = line_of(text, old);
        POISONS.iter().all(|poison| left_by(&in_place(text, line, &poisoned(*poison).unwrap())) == left_by(text))
    }

    #[test]
    fn what_nobody_uses_is_told_from_what_somebody_does() {
        let (old, new) = ("\tadd.s32 \t%r4, %r1, 1;", "\tadd.s32 \t%r4, %r1, 2;");
        let store = "\tst.global.u32 \t[%rd1], %r5;";
        // Lanes from 8 on take another value, and lane 3 and all others store the last of them.
        let chosen = |from: u32| {
            let choice = format!("\tsetp.lt.u32 \t%p2, %r1, {from};\n\tselp.b32 \t%r5, %r4, %r2, %p2;");
            kernel(&format!("{old}\n{choice}\n{store}"))
        };
        let is_unused_of = |text: &str| is_unused(text, old, |poison| poisoned(old, new, poison));
        assert!(is_unused_of(&chosen(0)));
        assert!(is_unused_of(&chosen(31)));
        assert!(!is_unused_of(&chosen(32)));
        // Only where the two lines differ is there a poison.
        let same = "\tadd.s32 \t%r4, 1, %r1;";
        assert!(is_unused(&chosen(32), old, |poison| poisoned(old, same, poison)));
        assert_eq!(poisoned("\tsetp.lt.u32 \t%p2, %r1, 31;", "\tsetp.le.u32 \t%p2, %r1, 31;", 0), None);
    }

    #[test]
    fn places_that_nobody_reads_are_told_from_those_that_somebody_does() {
        let (old, new) = ("\tst.global.u32 \t[%rd1], %r3;", "\tst.global.u32 \t[%rd1+4], %r3;");
        let again = |at: u32| format!("\tst.global.u32 \t[%rd1+{at}], %r2;");
        let is_unused_of = |behind: &[u32], same: bool| {
            let lines: Vec<String> = behind.iter().map(|at| again(*at)).collect();
            let text = kernel(&format!("{old}\n{}", lines.join("\n")));
            is_unused(&text, old, |poison| poisoned_store(old, new, poison, same))
        };
        assert!(is_unused_of(&[0, 4], false));
        assert!(!is_unused_of(&[4], false) && !is_unused_of(&[0], false) && !is_unused_of(&[], false));
        // A vector: what it changes, which is its second word, must be written again.
        let vector = "\tst.global.v2.u32 \t[%rd1], {%r3, %r2};";
        let is_vector_unused = |behind: &str| {
            is_unused(&kernel(&format!("{vector}\n{behind}")), vector, |poison| {
                poisoned_store(vector, "", poison, false)
            })
        };
        assert!(is_vector_unused("\tst.global.v2.u32 \t[%rd1], {%r2, %r2};"));
        assert!(is_vector_unused(&again(4)) && !is_vector_unused(&again(0)) && !is_vector_unused(""));
        // What is stored is there already, and the other place is written again.
        assert!(is_unused_of(&[4], true));
        assert!(!is_unused_of(&[0], true));
    }

    #[test]
    fn a_line_that_gives_another_value_is_told_from_one_that_does_not() {
        for (old, new, expected) in [
            ("\tadd.s32 \t%r3, %r1, %r2;", "\tsub.s32 \t%r3, %r1, %r2;", true),
            ("\tadd.s32 \t%r2, %r2, 1;", "\tadd.s32 \t%r2, %r2, 2;", true),
            ("\tand.b32 \t%r3, %r2, %r2;", "\tor.b32 \t%r3, %r2, %r2;", false),
            ("\tsetp.lt.u32 \t%p2, %r1, 32;", "\tsetp.le.u32 \t%p2, %r1, 32;", false),
            ("\tsetp.lt.u32 \t%p2, %r1, 31;", "\tsetp.le.u32 \t%p2, %r1, 31;", true),
            ("\tmul.rn.f64 \t%fd2, %fd1, %fd1;", "\tadd.rn.f64 \t%fd2, %fd1, %fd1;", false),
            ("\tsub.rn.f64 \t%fd2, %fd1, %fd1;", "\tadd.rn.f64 \t%fd2, %fd1, %fd1;", true),
            ("\tshfl.sync.idx.b32 \t%r3|%p2, %r2, 1, 31, -1;", "\tshfl.sync.idx.b32 \t%r3|%p2, %r2, 3, 31, -1;", false),
            ("\tshfl.sync.idx.b32 \t%r3|%p2, %r1, 1, 31, -1;", "\tshfl.sync.idx.b32 \t%r3|%p2, %r1, 3, 31, -1;", true),
            ("\tst.global.u32 \t[%rd1], %r2;", "", true),
            ("\tst.global.u32 \t[%rd1], %r3;", "", false),
            ("\tst.global.u32 \t[%rd1], %r3;", "\tst.global.u32 \t[%rd1+4], %r3;", false),
            ("\tst.global.u32 \t[%rd1+8], %r3;", "\tst.global.u32 \t[%rd1+12], %r3;", true),
            ("\tst.global.v2.u32 \t[%rd1], {%r3, %r3};", "", false),
            ("\tst.global.v2.u32 \t[%rd1], {%r3, %r2};", "", true),
            ("\tst.global.v2.u32 \t[%rd1], {%r2, %r3};", "", true),
            ("\tst.global.v2.u32 \t[%rd1], {%r3, %r3};", "\tst.global.v2.u32 \t[%rd1+8], {%r3, %r3};", true),
            ("\tst.global.v2.u32 \t[%rd1], {%r3, %r3};", "\tst.global.v2.u32 \t[%rd1+16], {%r3, %r3};", false),
        ] {
            assert_eq!(differs(old, new), expected, "{old} {new}");
        }
    }
}
