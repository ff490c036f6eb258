//! The kinds of faults of PTX: what a compiler or a typing error would make of one line.

/// A kind of fault: its name, and what it makes of a line; nothing where it does not apply.
pub(super) struct Kind {
    pub(super) name: &'static str,
    change: fn(&Line<'_>) -> Option<String>,
}

/// A line of PTX.
struct Line<'a> {
    /// `@%p1 ` or nothing.
    guard: &'a str,
    opcode: &'a str,
    operands: Vec<&'a str>,
}

/// What stands in the place of a line that was removed.
const NOTHING: &str = "";

#[rustfmt::skip]
pub(super) const KINDS: [Kind; 19] = [
    Kind { name: "barrier of the block removed", change: |line| removed(line, &["bar.sync"]) },
    Kind { name: "barrier of the warp removed", change: |line| removed(line, &["bar.warp.sync"]) },
    Kind { name: "ordinary for relaxed", change: |line| renamed(line, &[("st.relaxed.gpu.", "st."), ("ld.relaxed.gpu.", "ld.")]) },
    Kind { name: "store removed", change: |line| removed(line, &["st."]) },
    Kind { name: "load removed", change: |line| removed(line, &["ld.global", "ld.shared", "ld.volatile", "ld.relaxed"]) },
    Kind { name: "half of a shuffle's mask", change: |line| operand(line, &["shfl."], 4, |_| Some("65535".into())) },
    Kind { name: "own lane in an exchange", change: |line| operand(line, &["shfl.sync.bfly"], 2, |_| Some("0".into())) },
    Kind { name: "another lane of a shuffle", change: |line| operand(line, &["shfl.sync.idx"], 2, |_| Some("3".into())) },
    Kind { name: "another parameter", change: |line| moved(line, &["ld.param"]) },
    Kind { name: "another place in shared memory", change: |line| moved(line, &["ld.shared", "st.shared"]) },
    Kind { name: "another place in global memory", change: |line| moved(line, &["ld.global", "st.global", "ld.volatile", "st.volatile", "ld.relaxed", "st.relaxed"]) },
    Kind { name: "difference for sum", change: |line| renamed(line, &[("add.rn", "sub.rn"), ("sub.rn", "add.rn")]) },
    Kind { name: "sum for product", change: |line| renamed(line, &[("mul.rn", "add.rn")]) },
    Kind { name: "guard denied", change: denied },
    Kind { name: "choice swapped", change: swapped },
    Kind { name: "comparison moved", change: |line| renamed(line, &[
        ("setp.lt.", "setp.le."), ("setp.le.", "setp.lt."), ("setp.gt.", "setp.ge."), ("setp.ge.", "setp.gt."),
        ("setp.eq.", "setp.ne."), ("setp.ne.", "setp.eq."), ("setp.ltu.", "setp.leu."), ("setp.leu.", "setp.ltu."),
        ("setp.gtu.", "setp.geu."), ("setp.geu.", "setp.gtu."),
    ]) },
    Kind { name: "constant one more", change: |line| operand(line, &["add.s32", "add.s64", "mul.wide", "mul.lo"], 2, one_more) },
    Kind { name: "or for and", change: |line| renamed(line, &[("and.", "or."), ("or.", "and.")]) },
    Kind { name: "shift by one more", change: |line| operand(line, &["shl.", "shr."], 2, one_more) },
];

impl Kind {
    /// Returns what it makes of a line, if it applies and changes it.
    pub(super) fn of(&self, text: &str) -> Option<String> {
        let line = Line::of(text)?;
        (self.change)(&line).filter(|changed| changed.trim() != text.trim())
    }
}

impl<'a> Line<'a> {
    /// Reads an instruction that stands alone on its line, as the compiler writes them.
    fn of(text: &'a str) -> Option<Self> {
        let text = text.trim().strip_suffix(';')?;
        let (guard, rest) = match text.starts_with('@') {
            true => text.split_once(char::is_whitespace)?,
            false => ("", text),
        };
        let (opcode, operands) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_instruction = opcode.starts_with(|c: char| c.is_ascii_lowercase());
        is_instruction.then(|| Self { guard, opcode, operands: operands.split(',').map(str::trim).collect() })
    }

    fn with(&self, opcode: &str, operands: &[String]) -> String {
        format!("\t{} {opcode} \t{};", self.guard, operands.join(", "))
    }

    fn is(&self, beginnings: &[&str]) -> bool {
        beginnings.iter().any(|beginning| self.opcode.starts_with(beginning))
    }

    fn owned(&self) -> Vec<String> {
        self.operands.iter().map(|operand| (*operand).to_owned()).collect()
    }
}

fn removed(line: &Line<'_>, opcodes: &[&str]) -> Option<String> {
    line.is(opcodes).then(|| NOTHING.to_owned())
}

fn renamed(line: &Line<'_>, names: &[(&str, &str)]) -> Option<String> {
    let (old, new) = names.iter().find(|(old, _)| line.opcode.starts_with(old))?;
    // Whole numbers have no sum of this name, and bits no comparison with NaN.
    Some(line.with(&line.opcode.replacen(old, new, 1), &line.owned()))
}

fn operand(line: &Line<'_>, opcodes: &[&str], at: usize, new: fn(&str) -> Option<String>) -> Option<String> {
    let mut operands = line.is(opcodes).then(|| line.owned())?;
    *operands.get_mut(at)? = new(line.operands[at])?;
    Some(line.with(line.opcode, &operands))
}

fn one_more(operand: &str) -> Option<String> {
    operand.parse::<i64>().ok().map(|number| (number + 1).to_string())
}

/// Moves the address of a load or store by what it reaches.
fn moved(line: &Line<'_>, opcodes: &[&str]) -> Option<String> {
    let mut operands = line.is(opcodes).then(|| line.owned())?;
    let bytes = if line.opcode.ends_with("64") { 8 } else { 4 } * if line.opcode.contains(".v2.") { 2 } else { 1 };
    let address = operands.iter_mut().find(|operand| operand.starts_with('['))?;
    let inner = address.trim_matches(['[', ']']);
    let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
    *address = format!("[{base}+{}]", offset.parse::<i64>().ok()? + bytes);
    Some(line.with(line.opcode, &operands))
}

fn denied(line: &Line<'_>) -> Option<String> {
    let guard = line.guard.strip_prefix('@')?;
    let other = guard.strip_prefix('!').map_or_else(|| format!("@!{guard}"), |plain| format!("@{plain}"));
    Some(Line { guard: &other, opcode: line.opcode, operands: line.operands.clone() }.with(line.opcode, &line.owned()))
}

fn swapped(line: &Line<'_>) -> Option<String> {
    let mut operands = line.is(&["selp."]).then(|| line.owned())?;
    if operands.len() != 4 {
        return None;
    }
    operands.swap(1, 2);
    Some(line.with(line.opcode, &operands))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_changes_its_lines() {
        for (name, line, expected) in [
            ("barrier of the block removed", "\tbar.sync \t0;", ""),
            ("barrier of the warp removed", "\tbar.warp.sync \t-1;", ""),
            ("ordinary for relaxed", "\tst.relaxed.gpu.global.u64 \t[%rd1], %rd2;", "st.global.u64 \t[%rd1], %rd2;"),
            (
                "ordinary for relaxed",
                "\tld.relaxed.gpu.global.v2.u64 \t{%rd2, %rd3}, [%rd1];",
                "ld.global.v2.u64 \t{%rd2, %rd3}, [%rd1];",
            ),
            ("store removed", "\tst.shared.u32 \t[%rd1], %r1;", ""),
            ("load removed", "\tld.volatile.global.u32 \t%r1, [%rd1];", ""),
            (
                "half of a shuffle's mask",
                "\tshfl.sync.bfly.b32 \t%r1|%p1, %r2, %r3, %r4, %r5;",
                "shfl.sync.bfly.b32 \t%r1|%p1, %r2, %r3, %r4, 65535;",
            ),
            (
                "own lane in an exchange",
                "\tshfl.sync.bfly.b32 \t%r1|%p1, %r2, %r3, %r4, %r5;",
                "shfl.sync.bfly.b32 \t%r1|%p1, %r2, 0, %r4, %r5;",
            ),
            (
                "another lane of a shuffle",
                "\tshfl.sync.idx.b32 \t%r1|%p1, %r2, %r3, %r4, %r5;",
                "shfl.sync.idx.b32 \t%r1|%p1, %r2, 3, %r4, %r5;",
            ),
            ("another parameter", "\tld.param.u64 \t%rd1, [k_param_0+8];", "ld.param.u64 \t%rd1, [k_param_0+16];"),
            (
                "another place in shared memory",
                "\tst.shared.v2.u32 \t[%rd1], {%r1, %r2};",
                "st.shared.v2.u32 \t[%rd1+8], {%r1, %r2};",
            ),
            ("another place in global memory", "\tld.global.f32 \t%f1, [%rd1+-4];", "ld.global.f32 \t%f1, [%rd1+0];"),
            ("difference for sum", "\tadd.rn.f64 \t%fd1, %fd2, %fd3;", "sub.rn.f64 \t%fd1, %fd2, %fd3;"),
            ("sum for product", "\tmul.rn.f32 \t%f1, %f2, %f3;", "add.rn.f32 \t%f1, %f2, %f3;"),
            ("guard denied", "\t@%p1 bra \t$L__BB0_2;", "@!%p1 bra \t$L__BB0_2;"),
            ("guard denied", "\t@!%p1 bra \t$L__BB0_2;", "@%p1 bra \t$L__BB0_2;"),
            (
                "choice swapped",
                "\tselp.f64 \t%fd1, %fd2, 0d3FF0000000000000, %p1;",
                "selp.f64 \t%fd1, 0d3FF0000000000000, %fd2, %p1;",
            ),
            ("comparison moved", "\tsetp.lt.s32 \t%p1, %r1, 0;", "setp.le.s32 \t%p1, %r1, 0;"),
            ("constant one more", "\tadd.s32 \t%r1, %r2, -1;", "add.s32 \t%r1, %r2, 0;"),
            ("or for and", "\tand.b32  \t%r1, %r2, 31;", "or.b32 \t%r1, %r2, 31;"),
            ("shift by one more", "\tshl.b64 \t%rd1, %rd2, 5;", "shl.b64 \t%rd1, %rd2, 6;"),
        ] {
            let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
            assert_eq!(kind.of(line).as_deref().map(str::trim), Some(expected), "{name}");
        }
        assert!(KINDS.iter().all(|kind| kind.of("\tret;").is_none() && kind.of("$L__BB0_2:").is_none()));
        let constant = KINDS.iter().find(|kind| kind.name == "constant one more").unwrap();
        assert_eq!(constant.of("\tadd.s32 \t%r1, %r2, %r3;"), None);
    }
}
