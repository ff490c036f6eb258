//! Files stay small enough to read and to clone: the most lines of Rust, and the most bytes.

use super::{Complaint, Tree};

/// Bytes beyond which a file does not belong in the repository.
const MOST_BYTES: usize = 1_000_000;
/// Lines of Rust beyond which a file deserves a second look.
const MANY_LINES: usize = 600;
/// Lines of Rust beyond which a file must be split.
const MOST_LINES: usize = 1000;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let bytes = tree.sizes().filter(|&(_, bytes)| bytes > MOST_BYTES).map(|(path, bytes)| {
        Complaint::error(path, format!("{bytes} bytes; files above {MOST_BYTES} are made, not committed"))
    });
    let lines = tree.rust().filter_map(|(path, text)| match text.lines().count() {
        n if n > MOST_LINES => Some(Complaint::error(path, format!("{n} lines, split it (limit {MOST_LINES})"))),
        n if n > MANY_LINES => Some(Complaint::warning(path, format!("{n} lines, is it more than one idea?"))),
        _ => None,
    });
    bytes.chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Severity;

    #[test]
    fn long_files_are_told_by_degree() {
        let lines = |n: usize| "//\n".repeat(n);
        let (fine, long, too_long) = (lines(MANY_LINES), lines(MANY_LINES + 1), lines(MOST_LINES + 1));
        let table = "1,2\n".repeat(MOST_LINES + 1);
        let tree = Tree::of(&[("a.rs", &fine), ("b.rs", &long), ("c.rs", &too_long), ("d.csv", &table)]);
        let found: Vec<(String, Severity)> = check(&tree).into_iter().map(|c| (c.path, c.severity)).collect();
        assert_eq!(found, [("b.rs".into(), Severity::Warning), ("c.rs".into(), Severity::Error)]);
    }

    #[test]
    fn big_files_are_refused() {
        let (fine, big) = ("x".repeat(MOST_BYTES), "x".repeat(MOST_BYTES + 1));
        let complaints = check(&Tree::of(&[("fine.bin", &fine), ("big.bin", &big)]));
        assert_eq!(complaints.len(), 1);
        assert_eq!((complaints[0].path.as_str(), complaints[0].severity), ("big.bin", Severity::Error));
    }
}
