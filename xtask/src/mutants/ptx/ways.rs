//! Faults whose values are soon the same again: lanes that go another way to the same (a division of 64 bits where one of
//! 32 would do), and numbers that are lost in the rounding of a sum.
//!
//! From the changed line on as far as nothing is stored and no lane jumps out, the kernel's text gets both: first the lines
//! with the change, into registers of their own, then the lines as they are, and then the questions of [`idle`]: where a
//! register that other lines read has another value, the launch fails.

use super::idle;
use std::collections::BTreeSet;
use std::ops::Range;

/// What has no place between, since doing it twice is not the same as doing it once.
const NOT_TWICE: [&str; 6] = ["st.", "ld.volatile", "ld.relaxed", "bar.", "ret", "nanosleep"];

/// Regions of more lines are not tried.
const MOST_LINES: usize = 600;

/// Returns texts in which a line (from 1) and what follows it are done both ways, each over another part of the text. With
/// a `poison` a register that has another value gets that instead of a question, but for predicates.
pub(super) fn both(text: &str, line: usize, new: &str, poison: Option<u64>) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = idle::body(&lines, line);
    let Some(length) = lines[begin..].iter().position(|line| *line == "}") else { return Vec::new() };
    let body = begin..begin + length;
    let regions = regions(&lines, body.clone(), line - 1);
    let change = Change { line, new, poison };
    regions.into_iter().filter_map(|between| done_twice(&lines, body.clone(), between, &change)).collect()
}

/// What a line is changed to, and what its values are changed to then.
struct Change<'a> {
    line: usize,
    new: &'a str,
    poison: Option<u64>,
}

/// Returns the text with some lines done with a change and then as they are.
fn done_twice(lines: &[&str], body: Range<usize>, between: Range<usize>, change: &Change<'_>) -> Option<String> {
    let written: BTreeSet<&str> = lines[between.clone()].iter().flat_map(|line| written(line)).collect();
    let last = label(lines[between.end]);

    let mut all: Vec<String> = lines[..between.start].iter().map(|line| (*line).to_owned()).collect();
    all.extend(written.iter().map(|register| format!("\t{} \t{}, {register};", copying(register), ours(register))));
    for at in between.clone() {
        let line = if at + 1 == change.line { change.new } else { lines[at] };
        all.push(renamed(line, &written).replace("$L__", "$L__other_"));
    }
    all.extend(last.map(|last| format!("{}:", last.replace("$L__", "$L__other_"))));
    // The lines as they are end at the questions.
    let asked = last.unwrap_or("$L__END").replace("$L__", "$L__asked_");
    all.extend(lines[between.clone()].iter().map(|line| match target(line) {
        Some(to) if Some(to) == last => line.replace(to, &asked),
        _ => (*line).to_owned(),
    }));
    all.push(format!("{asked}:"));
    let elsewhere: BTreeSet<&str> = lines[body.start..between.start]
        .iter()
        .chain(&lines[between.end..body.end])
        .flat_map(|line| read(line))
        .collect();
    for register in written.intersection(&elsewhere) {
        let poisoned = change.poison.and_then(|poison| idle::poisoning(register, &ours(register), poison));
        all.push(poisoned.or_else(|| idle::question(register, &ours(register)))?);
    }
    all.extend(lines[between.end..].iter().map(|line| (*line).to_owned()));
    let declared = written.iter().map(|register| format!("\t.reg {} {};", class(register), ours(register)));
    let declared: Vec<String> = [idle::REGISTERS.to_owned()].into_iter().chain(declared).collect();
    all.insert(body.start, declared.join("\n"));
    Some(all.join("\n"))
}

/// Returns regions around a line of a body that are entered in the first line and left behind the last only, each as long
/// as it can be: one from the line itself, and one from the head of each loop that the line is in.
fn regions(lines: &[&str], body: Range<usize>, at: usize) -> Vec<Range<usize>> {
    let place = |of: &str| body.clone().find(|at| label(lines[*at]) == Some(of));
    let jumps: Vec<(usize, usize)> = body.clone().filter_map(|at| Some((at, place(target(lines[at])?)?))).collect();
    let is_once = |at: usize| NOT_TWICE.iter().any(|opcode| without_guard(lines[at]).starts_with(opcode));
    let Some(last) = (at..body.end.min(at + MOST_LINES)).take_while(|at| !is_once(*at)).last() else {
        return Vec::new();
    };
    let heads = jumps.iter().filter(|(from, to)| *to < at && at <= *from && *from <= last).map(|(_, to)| *to);
    let heads = heads.filter(|head| at - head < MOST_LINES && (*head..at).all(|at| !is_once(at)));
    let longest = |begin: usize| {
        let is_closed = |between: &Range<usize>| {
            jumps.iter().all(|(from, to)| match between.contains(from) {
                true => between.contains(to) || *to == between.end,
                false => !between.contains(to),
            })
        };
        (at + 1..=last + 1).rev().map(|end| begin..end).find(is_closed)
    };
    [at].into_iter().chain(heads).filter_map(longest).collect()
}

pub(super) fn label(line: &str) -> Option<&str> {
    line.trim().strip_suffix(':').filter(|label| label.starts_with('$'))
}

/// Returns where a branch goes.
pub(super) fn target(line: &str) -> Option<&str> {
    let (opcode, to) = without_guard(line).split_once(char::is_whitespace)?;
    opcode.starts_with("bra").then(|| to.trim().trim_end_matches(';'))
}

/// Returns an instruction without the predicate that guards it.
pub(super) fn without_guard(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((_, instruction)) => instruction.trim_start(),
        None => line,
    }
}

/// Returns the registers that a line names, special ones aside.
fn registers(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let name = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let all = code.match_indices('%').map(|(at, _)| &code[at..at + 1 + name(&code[at + 1..])]);
    all.filter(|register| !class(register).is_empty()).collect()
}

/// Returns the registers that a line writes: those before the first comma, or in the braces that come first.
fn written(line: &str) -> Vec<&str> {
    let Some((_, operands)) = without_guard(line).split_once(char::is_whitespace) else { return Vec::new() };
    let operands = operands.trim_start();
    let end = if operands.starts_with('{') { operands.find('}') } else { operands.find(',') };
    end.map_or_else(Vec::new, |end| registers(&operands[..end]))
}

/// Returns the registers that a line reads: all that it names, but for those that it only writes.
fn read(line: &str) -> Vec<&str> {
    let stores = without_guard(line).starts_with("st.");
    let written = if stores { 0 } else { written(line).len() };
    let guard = line.len() - without_guard(line).len();
    let guards = registers(&line[..guard.min(line.len())]).len();
    let number = |at: &usize| *at < guards || guards + written <= *at;
    let all = registers(line);
    (0..all.len()).filter(number).map(|at| all[at]).collect()
}

/// Returns the line with our registers for these.
fn renamed(line: &str, all: &BTreeSet<&str>) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        let end = at + 1 + rest[at + 1..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len() - at - 1);
        text.push_str(&rest[..at]);
        let register = &rest[at..end];
        text.push_str(&if all.contains(register) { ours(register) } else { register.to_owned() });
        rest = &rest[end..];
    }
    text + rest
}

fn ours(register: &str) -> String {
    register.replacen('%', "%other_", 1)
}

/// Returns how a register is declared; nothing for what is no register of the text.
fn class(register: &str) -> &'static str {
    match register.trim_start_matches('%').trim_end_matches(|c: char| c.is_ascii_digit()) {
        "p" => ".pred",
        "rs" => ".b16",
        "r" | "f" => ".b32",
        "rd" | "fd" => ".b64",
        _ => "",
    }
}

fn copying(register: &str) -> &'static str {
    match class(register) {
        ".pred" => "mov.pred",
        ".b16" => "mov.u16",
        ".b64" => "mov.b64",
        _ => "mov.b32",
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{kernel, left_by, line_of};
    use super::*;

    /// Whether both ways give the same over one of the regions around a line of these.
    fn is_same(lines: &str, old: &str, new: &str) -> bool {
        let text = kernel(lines);
        both(&text, line_of(&text, old), new, None).iter().any(|text| left_by(text).is_some())
    }

    /// Two ways to divide lanes' numbers by three, the second of which gives `quotient` of them.
    fn division(quotient: &str) -> String {
        format!(
            "\tcvt.u64.u32 \t%rd2, %r1;\n\tand.b64 \t%rd3, %rd2, -4294967296;\n\tsetp.eq.s64 \t%p2, %rd3, 0;\n\t@%p2 bra \t$L__1;\n\n\tdiv.u64 \t%rd4, %rd2, 3;\n\tbra.uni \t$L__2;\n\n$L__1:\n{quotient}\n\tcvt.u64.u32 \t%rd4, %r4;\n\n$L__2:\n\tst.global.u64 \t[%rd1], %rd4;"
        )
    }

    #[test]
    fn another_way_to_the_same_is_told_from_one_to_something_else() {
        let right = division("\tdiv.u32 \t%r4, %r1, %r2;");
        let wrong = division("\tadd.s32 \t%r4, %r1, %r2;");
        for (old, new) in [
            ("\t@%p2 bra \t$L__1;", "\t@!%p2 bra \t$L__1;"),
            ("\tsetp.eq.s64 \t%p2, %rd3, 0;", "\tsetp.ne.s64 \t%p2, %rd3, 0;"),
            ("\tand.b64 \t%rd3, %rd2, -4294967296;", "\tor.b64 \t%rd3, %rd2, -4294967296;"),
        ] {
            assert!(is_same(&right, old, new), "{new}");
            assert!(!is_same(&wrong, old, new), "{new}");
        }
        let (old, new) = ("\tdiv.u32 \t%r4, %r1, %r2;", "\tdiv.u32 \t%r4, %r1, 4;");
        assert!(!is_same(&right, old, new));
    }

    #[test]
    fn what_a_sum_swallows_is_told_from_what_it_keeps() {
        let line = |factor: &str| format!("\tmul.rn.f64 \t%fd2, %fd1, {factor};");
        // Two and 2^-60 are two; two and 2^-10 are more.
        let (small, smaller, large) =
            (line("0d3C20000000000000"), line("0d3C10000000000000"), line("0d3F40000000000000"));
        let sum = |first: &str| {
            kernel(&format!("{first}\n\tadd.rn.f64 \t%fd3, %fd2, %fd1;\n\tst.global.f64 \t[%rd1], %fd3;"))
        };
        let is_same = |old: &str, new: &str| {
            let text = sum(old);
            both(&text, line_of(&text, old), new, None).iter().any(|text| left_by(text).is_some())
        };
        assert!(is_same(&small, &smaller));
        assert!(!is_same(&small, &large));
    }

    /// A step that is too wide ends a loop of one round as the right one does, and one of two rounds too early.
    #[test]
    fn a_loop_is_done_both_ways_from_its_head() {
        let rounds = |end: u32| {
            format!(
                "\tmov.u32 \t%r4, %r3;\n\n$L__1:\n\tadd.s32 \t%r5, %r4, %r1;\n\tadd.s32 \t%r4, %r4, 32;\n\tsetp.lt.u32 \t%p2, %r4, {end};\n\t@%p2 bra \t$L__1;\n\n\tst.global.u32 \t[%rd1], %r5;"
            )
        };
        let (old, new) = ("\tadd.s32 \t%r4, %r4, 32;", "\tadd.s32 \t%r4, %r4, 33;");
        assert!(is_same(&rounds(20), old, new));
        assert!(!is_same(&rounds(40), old, new));
    }

    #[test]
    fn registers_that_are_read_are_not_those_that_are_written() {
        assert_eq!(read("\t@%p1 add.s32 \t%r1, %r2, %r1;"), ["%p1", "%r2", "%r1"]);
        assert_eq!(read("\tst.global.v2.u32 \t[%rd1+8], {%r1, %r2};"), ["%rd1", "%r1", "%r2"]);
        assert_eq!(written("\tld.param.v2.u32 \t{%r1, %r2}, [%rd147+8];"), ["%r1", "%r2"]);
        assert_eq!(written("\tshfl.sync.idx.b32 \t%r1|%p1, %r2, 3, 31, -1;"), ["%r1", "%p1"]);
        assert_eq!(written("\tbra.uni \t$L__1;"), [""; 0]);
    }
}
