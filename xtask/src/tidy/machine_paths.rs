//! No file speaks of the machine that it was written on: no absolute paths of somebody's folders.

use super::{Complaint, Tree};

/// Folders of one person or one machine. In pieces, lest this file complain about itself.
const FOLDERS: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts() {
        for (number, line) in text.lines().enumerate() {
            if let Some(folder) = FOLDERS.into_iter().find(|folder| mentions(line, folder)) {
                let message =
                    format!("a path below {folder} means nothing elsewhere: write it relative to the checkout");
                complaints.push(Complaint::error(path, message).at(number + 1));
            }
        }
    }
    complaints
}

/// Whether an absolute path below `folder` stands in `line`: one inside a longer path is none.
fn mentions(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '}' | ')' | '>' | '*')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        for folder in FOLDERS {
            for line in [format!("{folder}x"), format!("open(\"{folder}x\")"), format!("see file://{folder}x")] {
                let tree = Tree::of(&[("a.md", &format!("fine\n{line}\n"))]);
                let complaints = check(&tree);
                assert_eq!(complaints.len(), 1, "{line}");
                assert_eq!(complaints[0].line, Some(2));
            }
            for line in [format!("docs{folder}x"), format!("$HOME/..{folder}x"), format!("example.org{folder}x")] {
                assert_eq!(check(&Tree::of(&[("a.md", &line)])), [], "{line}");
            }
        }
    }
}
