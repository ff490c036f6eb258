//! What exact kernels must not contain: anything whose bits another processor would not give.
//!
//! The lists of forbidden instructions and modifiers stand here.
//!
//! Allowed are additions, products, quotients and roots that name round-to-nearest (`.rn`): those IEEE 754 defines, and
//! neither the assembler nor the driver may contract them. Without a rounding mode they may.

/// Instructions that approximate, contract, or add in no order.
const INSTRUCTIONS: [&str; 11] = ["fma", "ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "mma", "wmma", "wgmma", "redux"];
/// Ways of an instruction that give up exactness.
const MODIFIERS: [&str; 3] = ["approx", "ftz", "full"];
/// Instructions that must name round-to-nearest when they work on real numbers.
const ROUNDED: [&str; 6] = ["add", "sub", "mul", "div", "sqrt", "rcp"];
/// Instructions that may not work on real numbers at all: contraction, and sums in the order of arrival.
const WHOLE_NUMBERS_ONLY: [&str; 3] = ["mad", "atom", "red"];

/// A line for every instruction of `ptx` that is not exact.
pub(super) fn faults(ptx: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in ptx.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for opcode in code.split([';', '{', '}']).filter_map(opcode) {
            if let Some(reason) = fault(opcode) {
                faults.push(format!("PTX line {}: `{opcode}` {reason}", number + 1));
            }
        }
    }
    faults
}

/// The opcode of a statement with its modifiers; `None` for directives, labels and nothing.
fn opcode(statement: &str) -> Option<&str> {
    let mut words = statement.split_whitespace().skip_while(|word| word.starts_with('@') || word.ends_with(':'));
    words.next().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn fault(opcode: &str) -> Option<&'static str> {
    let mut parts = opcode.split('.');
    let name = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    let real = parts.iter().any(|part| ["f16", "bf16", "f32", "f64", "tf32"].iter().any(|kind| part.starts_with(kind)));
    if INSTRUCTIONS.contains(&name) {
        Some("is not exact")
    } else if parts.iter().any(|part| MODIFIERS.contains(part)) {
        Some("approximates")
    } else if real && WHOLE_NUMBERS_ONLY.contains(&name) {
        Some("is exact for whole numbers only")
    } else if real && ROUNDED.contains(&name) && !parts.contains(&"rn") {
        Some("does not name round-to-nearest, and may be contracted")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fault(line: &str) -> bool {
        faults(&format!("{{\n\tmov.u32 %r1, %tid.x;\n\t{line}\n}}\n")).len() == 1
    }

    #[test]
    fn every_forbidden_word_is_noticed() {
        for line in [
            "ex2.approx.ftz.f32 %f1, %f2;",
            "ex2.approx.f32 %f1, %f2;",
            "lg2.approx.f32 %f1, %f2;",
            "rcp.approx.ftz.f64 %fd1, %fd2;",
            "rcp.approx.f32 %f1, %f2;",
            "div.full.f32 %f1, %f2, %f3;",
            "div.approx.f32 %f1, %f2, %f3;",
            "sqrt.approx.f32 %f1, %f2;",
            "rsqrt.approx.f64 %fd1, %fd2;",
            "sin.approx.f32 %f1, %f2;",
            "cos.approx.f32 %f1, %f2;",
            "tanh.approx.f32 %f1, %f2;",
            "fma.rn.f32 %f1, %f2, %f3, %f4;",
            "fma.rn.f64 %fd1, %fd2, %fd3, %fd4;",
            "mad.rn.f32 %f1, %f2, %f3, %f4;",
            "mad.rn.f64 %fd1, %fd2, %fd3, %fd4;",
            "add.rn.ftz.f32 %f1, %f2, %f3;",
            "mul.ftz.f32 %f1, %f2, %f3;",
            "mul.f64 %fd1, %fd2, %fd3;",
            "add.f32 %f1, %f2, %f3;",
            "sub.rz.f64 %fd1, %fd2, %fd3;",
            "add.f16x2 %r1, %r2, %r3;",
            "atom.global.add.f64 %fd1, [%rd1], %fd2;",
            "red.global.add.f32 [%rd1], %f2;",
            "setp.lt.ftz.f32 %p1, %f1, %f2;",
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1}, {%fd2}, {%fd3}, {%fd4};",
        ] {
            assert!(is_fault(line), "{line}");
        }
    }

    #[test]
    fn it_is_noticed_wherever_it_stands() {
        assert!(is_fault("@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;"));
        assert!(is_fault("@!%p1 ex2.approx.f32 %f1, %f2;"));
        assert!(is_fault("$L__BB0_1: fma.rn.f32 %f1, %f2, %f3, %f4;"));
        assert!(is_fault("mov.u32 %r1, %r2; fma.rn.f32 %f1, %f2, %f3, %f4;"));
        assert!(is_fault("{.reg .f32 t; fma.rn.f32 t, %f2, %f3, %f4;}"));
        assert_eq!(faults("x\nfma.rn.f32 a, b, c, d;"), ["PTX line 2: `fma.rn.f32` is not exact"]);
    }

    #[test]
    fn what_is_exact_passes() {
        for line in [
            "add.rn.f64 %fd1, %fd2, %fd3;",
            "mul.rn.f32 %f1, %f2, %f3;",
            "div.rn.f64 %fd1, %fd2, %fd3;",
            "sqrt.rn.f32 %f1, %f2;",
            "mad.lo.s32 %r1, %r2, %r3, %r4;",
            "mad.wide.u32 %rd1, %r2, 8, %rd3;",
            "mul.wide.u32 %rd1, %r2, %r3;",
            "add.s64 %rd1, %rd2, 1;",
            "cvt.rn.f64.u64 %fd1, %rd1;",
            "setp.nan.f64 %p1, %fd1, %fd1;",
            "neg.f64 %fd1, %fd2;",
            "atom.global.add.u32 %r1, [%rd1], 1;",
            "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
            "// fma.rn.f32 in a comment",
            ".visible .entry fma_kernel(",
            "$L_ex2: ret;",
        ] {
            assert!(!is_fault(line), "{line}");
        }
    }
}
