//! An ignored test that judges something is run by `cargo xtask nightly`.

use super::{Complaint, Tree};
use crate::nightly::LONG;

/// The reasons of ignored tests that judge nothing by themselves.
const NO_TEST: [&str; 3] = ["a measurement", "writes fuzz/corpus", "started by other tests"];
/// In pieces, lest this file complain about itself.
const MARK: &str = concat!("#[ign", "ore");

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let sources = tree.texts().filter(|(path, _)| path.ends_with(".rs"));
    sources.flat_map(|(path, text)| judge(path, text)).collect()
}

fn judge(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with(MARK)) {
        let reason = line.split('"').nth(1).unwrap_or_default();
        let declared = text.lines().skip(number).find_map(|line| line.trim_start().strip_prefix("fn "));
        let name = declared.and_then(|line| line.split('(').next()).unwrap_or_default();
        if !NO_TEST.contains(&reason) && !LONG.contains(&name) {
            let message = format!(
                "{name} is ignored and runs nowhere: name it in xtask/src/nightly.rs, or give one of the reasons {NO_TEST:?}"
            );
            complaints.push(Complaint::error(path, message).at(number + 1));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(reason: &str, name: &str) -> Vec<Option<usize>> {
        let text = format!("\n#[test]\n{MARK}{reason}]\nfn {name}() {{\n");
        judge("x.rs", &text).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn an_ignored_test_runs_somewhere_or_judges_nothing() {
        assert_eq!(complaints("", "forgotten"), [Some(3)]);
        assert_eq!(complaints(" = \"slow\"", "forgotten"), [Some(3)]);
        assert_eq!(complaints(" = \"a measurement\"", "time_of_a_run"), []);
        for name in LONG {
            assert_eq!(complaints(" = \"minutes\"", name), []);
        }
    }
}
