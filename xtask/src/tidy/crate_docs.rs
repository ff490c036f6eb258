//! Every crate opens with its page: the documentation at the top of `lib.rs` or `main.rs`.

use super::{Complaint, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.packages().filter_map(|(folder, _)| judge(tree, folder)).collect()
}

fn judge(tree: &Tree, folder: &str) -> Option<Complaint> {
    let candidates = ["lib.rs", "main.rs"].map(|name| format!("{folder}/src/{name}"));
    let Some((path, text)) = candidates.iter().find_map(|path| Some((path, tree.text(path)?))) else {
        return Some(Complaint::error(folder, "has neither src/lib.rs nor src/main.rs"));
    };
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let documented = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    (!documented).then(|| Complaint::error(path, "must begin with the crate's page: `//! One sentence.`").at(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(file: &str, text: &str) -> usize {
        check(&Tree::of(&[("crates/a/Cargo.toml", ""), (file, text)])).len()
    }

    #[test]
    fn a_page_is_words_at_the_top() {
        assert_eq!(complaints("crates/a/src/lib.rs", "//! Does a thing.\n"), 0);
        assert_eq!(complaints("crates/a/src/main.rs", "\n//! Does a thing.\n"), 0);
        assert_eq!(complaints("crates/a/src/lib.rs", "//!\npub mod a;\n"), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "// Does a thing.\n"), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", ""), 1);
        assert_eq!(complaints("crates/a/src/other.rs", "//! Does a thing.\n"), 1);
    }
}
