//! Comments in the text with faults that say which fault a piece of it belongs to, so that an error of the compiler can
//! be held against a fault.

use std::fmt::Write as _;
use std::ops::Range;

/// A piece of the text, and the faults that it is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    /// In bytes.
    pub(super) range: Range<usize>,
    /// Their numbers.
    pub(super) faults: Vec<usize>,
}

/// All that is marked in a file.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// What stands there with one fault.
    pub(super) branches: Vec<Marked>,
    /// What was made of one place of the sources, the branches of its faults included.
    pub(super) sites: Vec<Marked>,
}

/// Returns `text`, marked as what stands there with a fault.
pub(super) fn branch(fault: usize, text: &str) -> String {
    format!("/*<{fault}*/ {text} /*{fault}>*/")
}

/// Returns `text`, marked as made for `faults`.
pub(super) fn site(faults: impl IntoIterator<Item = usize>, text: &str) -> String {
    let mut numbers = String::new();
    for fault in faults {
        // Writing into a string does not fail.
        let _ = write!(numbers, "{}{fault}", if numbers.is_empty() { "" } else { "," });
    }
    format!("/*[{numbers}*/{text}/*]*/")
}

/// Finds what [`branch`] and [`site`] have marked; pieces inside others come before them.
pub(super) fn find(text: &str) -> Marks {
    let mut marks = Marks::default();
    let mut open: Vec<Marked> = Vec::new();
    for (at, _) in text.match_indices("/*") {
        let Some(length) = text[at + 2..].find("*/") else { break };
        let word = &text[at + 2..at + 2 + length];
        let opens = word.strip_prefix(['<', '[']).and_then(numbers);
        let closes = word == "]" || word.strip_suffix('>').is_some_and(|number| numbers(number).is_some());
        if let Some(faults) = opens {
            open.push(Marked { range: at..at, faults });
        } else if closes && let Some(mut marked) = open.pop() {
            marked.range.end = at + length + 4;
            if word == "]" { &mut marks.sites } else { &mut marks.branches }.push(marked);
        }
    }
    marks
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_again() {
        let inner = site([7], &branch(7, "x"));
        let text = format!("/* words */ \"/*\" {} y", site([1, 12], &inner));
        let marks = find(&text);
        let found = |marked: &[Marked]| -> Vec<(String, Vec<usize>)> {
            marked.iter().map(|one| (text[one.range.clone()].to_owned(), one.faults.clone())).collect()
        };
        assert_eq!(found(&marks.branches), [(branch(7, "x"), vec![7])]);
        assert_eq!(found(&marks.sites), [(inner.clone(), vec![7]), (site([1, 12], &inner), vec![1, 12])]);
    }

    #[test]
    fn other_comments_are_none() {
        let marks = find("/* a */ /*<x*/ /*<*/ /*[]*/ /*]");
        assert!(marks.branches.is_empty() && marks.sites.is_empty());
    }
}
