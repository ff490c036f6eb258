//! What a kernel does behind a line.

use super::ways::{label, target, without_guard};
use std::collections::{HashMap, HashSet};

/// Returns whether a barrier in this line, counted from 1, orders nothing, since nothing follows on any way to the kernel's
/// end that others could see early or late: no access of memory but letters, which others may meet at any time.
pub(super) fn orders_nothing(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let labels: HashMap<&str, usize> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((label(line)?, at))).collect();
    let mut seen = HashSet::new();
    let mut open = vec![line];
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(line) = lines.get(at) else { return false };
        let instruction = without_guard(line);
        if let Some(to) = target(line) {
            let Some(to) = labels.get(to) else { return false };
            open.push(*to);
        } else if is_seen_by_others(instruction) {
            return false;
        }
        let ends = instruction == "ret;" || instruction.starts_with("bra");
        if !ends || instruction != *line {
            open.push(at + 1);
        }
    }
    true
}

/// Whether an instruction reads or writes memory that others write or read, or meets them.
fn is_seen_by_others(instruction: &str) -> bool {
    let opcode = instruction.split_whitespace().next().unwrap_or("");
    let is = |beginnings: &[&str]| beginnings.iter().any(|beginning| opcode.starts_with(beginning));
    match () {
        () if is(&["ld.param", "st.relaxed"]) => false,
        () => {
            is(&["ld.", "st.", "atom", "red", "bar", "shfl", "vote", "match", "activemask", "membar", "fence", "call"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_followed_on_all_ways() {
        let of = |after: &str| {
            let text =
                format!("{{\nbar.warp.sync -1;\n{after}\n$L__1:\nst.relaxed.gpu.global.u64 [%rd1], %rd2;\nret;\n}}");
            orders_nothing(&text, 2)
        };
        assert!(of("add.s32 %r1, %r2, %r3;\nld.param.u32 %r1, [k_param_0];"));
        assert!(of("bra.uni \t$L__1;\nld.shared.u32 %r1, [%r2];"));
        assert!(of("$L__2:\n@%p1 bra $L__2;"));
        assert!(of("ret;\nst.global.u32 [%rd1], %r2;"));
        for seen in [
            "st.global.u32 [%rd1], %r2;",
            "@%p1 st.shared.u32 [%rd1], %r2;",
            "@%p1 bra \t$L__1;\nld.global.f64 %fd1, [%rd1];",
            "ld.relaxed.gpu.global.u64 %rd1, [%rd2];",
            "bar.warp.sync -1;",
            "shfl.sync.idx.b32 %r1|%p1, %r2, %r3, %r4, %r5;",
            "@%p1 ret;\nst.global.u32 [%rd1], %r2;",
            "bra.uni $L__9;",
        ] {
            assert!(!of(seen), "{seen}");
        }
    }
}
