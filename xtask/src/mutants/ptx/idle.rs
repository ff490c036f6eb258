//! Faults that change nothing: whether a changed line gives another value than its own in any launch.
//!
//! The kernel's text gets both: first the changed line, into registers of its own, then the line as it is, and then a
//! question: where the two differ, the launch fails.

/// Registers that no compiler's text has.
const REGISTERS: &str = "\t.reg .pred %idle_p<3>;\n\t.reg .b32 %idle_r<9>;\n\t.reg .b64 %idle_d<9>;";

/// Returns the lines that do `old`, and fail where `new` in its place gives another value; nothing for a line that gives
/// no value, or is not understood.
pub(super) fn both(old: &str, new: &str) -> Option<String> {
    let (opcode, operands) = parts(old)?;
    if opcode.starts_with("st.") {
        return stored(old, new);
    }
    let (first, _) = operands.split_once(", ")?;
    let (_, changed) = parts(new)?;
    let (of_new, inputs_of_new) = changed.split_once(", ")?;
    if first != of_new {
        return None;
    }
    // The value of a shuffle, and whether its lane was there.
    let value = first.split('|').next()?;
    let own = own_register(value, 1)?;
    let own_first = if first.contains('|') { format!("{own}|%idle_p1") } else { own.clone() };
    let asked = question(value, &own)?;
    Some(format!("\t{} \t{own_first}, {inputs_of_new};\n{old}\n{asked}", parts(new)?.0))
}

/// For a store: what is in the place that it goes to is compared with what it stores there. For a store to another place,
/// also what is in that.
fn stored(old: &str, new: &str) -> Option<String> {
    let (opcode, operands) = parts(old)?;
    let (address, value) = operands.split_once(", ")?;
    if value.contains('{') || opcode.contains("volatile") {
        return None;
    }
    let own = own_register(value, 1)?;
    let load = opcode.replacen("st.", "ld.", 1);
    let there = format!("\t{load} \t{own}, {address};\n{}", question(value, &own)?);
    if new.trim().is_empty() {
        return Some(format!("{there}\n{old}"));
    }
    let (_, changed) = parts(new)?;
    let elsewhere = changed.split_once(", ")?.0;
    let other = own_register(value, 2)?;
    let at_other = format!("\t{load} \t{other}, {elsewhere};\n{}", question(value, &other)?);
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

/// Returns lines that write to where nothing is when two registers differ.
fn question(register: &str, other: &str) -> Option<String> {
    let differ = match other.strip_prefix("%idle_")?.chars().next()? {
        'p' => format!("\txor.pred \t%idle_p2, {register}, {other};"),
        'r' => format!("\tsetp.ne.s32 \t%idle_p2, {register}, {other};"),
        _ => format!("\tsetp.ne.s64 \t%idle_p2, {register}, {other};"),
    };
    Some(format!("{differ}\n\tmov.u64 \t%idle_d8, 0;\n\t@%idle_p2 st.global.u64 \t[%idle_d8], %idle_d8;"))
}

/// Returns the text with other lines in the place of one of an entry's, and our registers declared in that entry.
pub(super) fn in_place(text: &str, line: usize, lines: &str) -> String {
    let mut all: Vec<&str> = text.lines().collect();
    all[line - 1] = lines;
    // The entry's body begins with the last brace before the line.
    let begin = all[..line].iter().rposition(|line| *line == "{").map_or(0, |at| at + 1);
    all.insert(begin, REGISTERS);
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_ptx::{Allocation, Launch, LaunchFault, LaunchShape, Module, Order};
    use std::time::Duration;

    /// Whether the changed line gives another value in a warp of which lane `i` has `i` in `%r1` and 3 in `%r2`.
    fn differs(old: &str, new: &str) -> bool {
        let text = format!(
            ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.reg .f64 %fd<9>;\n\tld.param.u64 \t%rd1, [k_param_0];\n\tmov.u32 \t%r1, %tid.x;\n\tmov.u32 \t%r2, 3;\n\tmov.u32 \t%r3, 0;\n\tmov.f64 \t%fd1, 0d4000000000000000;\n\tsetp.eq.s32 \t%p1, %r2, 3;\n{old}\n\tret;\n}}\n"
        );
        let line = text.lines().position(|line| line == old).unwrap() + 1;
        let module = Module::parse(&in_place(&text, line, &both(old, new).unwrap())).unwrap();
        let (address, mut memory) = (1_u64 << 32, vec![0; 64]);
        memory[12] = 1;
        let outcome = module.entry("k").unwrap().run(Launch {
            shape: LaunchShape { grid: [1; 3], block: [32, 1, 1] },
            parameters: &address.to_ne_bytes(),
            dynamic_shared: 0,
            together: false,
            allocations: vec![Allocation { address, memory: &mut memory, written: None }],
            order: Order::LockStep,
            checked: false,
            patience: Duration::from_secs(1),
            most_joins: u64::MAX,
        });
        match outcome.fault {
            None => false,
            Some(LaunchFault::Address { address: 0, .. }) => true,
            Some(other) => panic!("{other}"),
        }
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
        ] {
            assert_eq!(differs(old, new), expected, "{old} {new}");
        }
    }
}
