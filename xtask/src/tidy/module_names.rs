//! A module is named for what it does: the names that say nothing are listed here.

use super::{Complaint, Tree};

const NAMES_OF_NOTHING: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "stuff"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.rust()
        .filter_map(|(path, _)| {
            let mut parts = path.strip_suffix(".rs").unwrap_or(path).split('/');
            let name = parts.find(|part| NAMES_OF_NOTHING.contains(part))?;
            Some(Complaint::error(path, format!("`{name}` says nothing: name it for what it does")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_judged_by_whole_words() {
        let tree = Tree::of(&[
            ("crates/a/src/utils.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/src/uncommon.rs", ""),
            ("crates/a/src/rhat.rs", ""),
            ("docs/common.md", ""),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|complaint| complaint.path).collect();
        assert_eq!(found, ["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs"]);
    }
}
