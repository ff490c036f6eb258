//! Nothing is left for later: no notes to oneself, no macros for debugging.

use super::{Complaint, Tree};

/// Notes to oneself. In pieces, lest this file complain about itself.
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// Macros that end a program or chatter where a product should work.
const MACROS: [&str; 3] = [concat!("dbg", "!("), concat!("todo", "!("), concat!("unimplemented", "!(")];
/// Kinds of files that people write.
const WRITTEN: [&str; 8] = [".rs", ".py", ".md", ".toml", ".sh", ".cuh", ".cu", ".cu.in"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| WRITTEN.iter().any(|kind| path.ends_with(kind))) {
        for (number, line) in text.lines().enumerate() {
            let note = NOTES.into_iter().find(|note| is_word(line, note));
            let found = note.or_else(|| MACROS.into_iter().find(|name| path.ends_with(".rs") && line.contains(name)));
            if let Some(found) = found {
                let message = format!("{} is left over: do it, or open an issue", found.trim_end_matches('('));
                complaints.push(Complaint::error(path, message).at(number + 1));
            }
        }
    }
    complaints
}

/// Whether `word` stands in `line` on its own.
fn is_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(inside)
            && !line[at + word.len()..].chars().next().is_some_and(inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_and_macros_are_found_with_their_line() {
        for word in NOTES {
            let tree = Tree::of(&[("a.rs", &format!("fine\n// {word}: later\n")), ("b.md", word), ("c.json", word)]);
            let found: Vec<(String, Option<usize>)> = check(&tree).into_iter().map(|c| (c.path, c.line)).collect();
            assert_eq!(found, [("a.rs".into(), Some(2)), ("b.md".into(), Some(1))]);
        }
        for name in MACROS {
            let line = format!("    {name}x)");
            assert_eq!(check(&Tree::of(&[("a.rs", &line), ("a.md", &line)])).len(), 1);
        }
    }

    #[test]
    fn parts_of_words_are_not() {
        let line = format!("let {}S = 1; // {}_y", NOTES[0], NOTES[2]);
        assert_eq!(check(&Tree::of(&[("a.rs", &line)])), []);
    }
}
