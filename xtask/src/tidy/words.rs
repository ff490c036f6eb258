//! Help, pages and the headers of sources name things: some phrases are refused, and long sentences in README.md.

use super::{Complaint, Tree};
use std::mem;

/// Phrases that point at a thing instead of naming it.
const PHRASES: [&str; 6] = ["those of", "that of", "those that", "so many", "is none", "is told"];

/// Words of a sentence at the most.
const LONGEST: usize = 25;

/// The page whose sentences are counted.
const FIRST_PAGE: &str = "README.md";

/// What stands for a code span among the words.
const CODE: char = '`';

/// A line's number and a piece of it: its prose, or one word.
type Piece<T> = (usize, T);

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let prose = |(path, text)| Some((path, paragraphs(text, marks(path)?)));
    tree.texts().filter_map(prose).flat_map(|(path, paragraphs)| judge(path, &paragraphs)).collect()
}

/// What begins the lines of prose in a file: nothing on pages; `None` for a file that is not looked at.
fn marks(path: &str) -> Option<&'static [&'static str]> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_page = match folder {
        "" => [FIRST_PAGE, "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&name),
        "docs" | "docs/decisions" => name.ends_with(".md"),
        _ => name == "README.md" && path.starts_with("kernels/"),
    };
    if is_page {
        Some(&[""])
    } else if path.starts_with("crates/cli/src/args") {
        Some(&["//!", "///"])
    } else {
        (name.ends_with(".rs") && !path.starts_with("vendor/")).then_some(&["//!"])
    }
}

/// The paragraphs, items and rows of tables outside of code blocks.
fn paragraphs<'a>(text: &'a str, marks: &[&str]) -> Vec<Vec<Piece<&'a str>>> {
    let (mut all, mut current, mut in_code) = (Vec::new(), Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let prose = marks.iter().find_map(|mark| line.trim().strip_prefix(mark)).map(str::trim);
        in_code &= prose.is_some();
        let prose = prose.unwrap_or_default();
        let is_fence = prose.starts_with("```");
        let is_text = !(prose.is_empty() || is_fence || in_code);
        in_code ^= is_fence;
        if !is_text || begins(prose) {
            all.push(mem::take(&mut current));
        }
        if is_text {
            current.push((at + 1, prose));
        }
    }
    all.push(current);
    all
}

/// Whether a line begins an item, a heading or a row of a table.
fn begins(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "#", "|"].iter().any(|mark| line.starts_with(mark))
        || after_number.len() < line.len() && after_number.starts_with(". ")
}

fn judge(path: &str, paragraphs: &[Vec<Piece<&str>>]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for paragraph in paragraphs {
        let words = words(paragraph);
        for (line, phrase) in phrases(&words) {
            let message = format!("`{phrase}` names nothing, say what it is: one subject, one verb");
            complaints.push(Complaint::error(path, message).at(line));
        }
        let is_counted = path == FIRST_PAGE && paragraph.first().is_some_and(|(_, line)| !line.starts_with('|'));
        for (line, length) in sentences(&words).filter(|(_, length)| is_counted && *length > LONGEST) {
            let message = format!("a sentence of {length} words, {LONGEST} are the most: one subject, one verb");
            complaints.push(Complaint::error(path, message).at(line));
        }
    }
    complaints
}

/// The words of a paragraph; a code span is one, [`CODE`].
fn words(paragraph: &[Piece<&str>]) -> Vec<Piece<String>> {
    let (mut words, mut in_code) = (Vec::new(), false);
    for (line, text) in paragraph {
        for word in text.split_whitespace() {
            let mut said = String::new();
            for (at, piece) in word.split(CODE).enumerate() {
                if at > 0 {
                    in_code = !in_code;
                    said.extend(in_code.then_some(CODE));
                }
                said.push_str(if in_code { "" } else { piece });
            }
            if !said.is_empty() {
                words.push((*line, said));
            }
        }
    }
    words
}

/// The refused phrases with their lines; punctuation between two words parts them.
fn phrases(words: &[Piece<String>]) -> impl Iterator<Item = Piece<&'static str>> {
    let is_mark = |c: char| c.is_ascii_punctuation() && c != CODE;
    words.windows(2).filter_map(move |pair| {
        let [(line, first), (_, second)] = pair else { return None };
        let both = format!("{} {}", first.trim_start_matches(is_mark), second.trim_end_matches(is_mark)).to_lowercase();
        PHRASES.into_iter().find(|phrase| *phrase == both).map(|phrase| (*line, phrase))
    })
}

/// The sentences of a paragraph: the first line of each, and how many words it has.
fn sentences(words: &[Piece<String>]) -> impl Iterator<Item = Piece<usize>> {
    let ends = |(_, word): &Piece<String>| {
        let word = word.trim_end_matches(['*', '_', '"', '\'', ')', ']']);
        word.ends_with(['.', '!', '?']) && !["e.g.", "i.e."].iter().any(|short| word.ends_with(short))
    };
    let is_word = |(_, word): &&Piece<String>| word.contains(|c: char| c.is_alphanumeric() || c == CODE);
    words.split_inclusive(ends).filter_map(move |words| Some((words.first()?.0, words.iter().filter(is_word).count())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<Option<usize>> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn each_phrase_is_refused_wherever_people_read() {
        for phrase in PHRASES {
            for path in ["README.md", "docs/a.md", "docs/decisions/1.md", "CONTRIBUTING.md", "kernels/nuts/README.md"] {
                assert_eq!(found(path, &format!("# A\n\nIt has ({phrase}) b.\n")), [Some(3)], "{path}: {phrase}");
            }
            let sources = ["//!", "///", "//"].map(|mark| format!("{mark} It has {phrase} b.\n"));
            for (path, refused) in [("crates/a/src/lib.rs", 1), ("crates/cli/src/args/a.rs", 2), ("vendor/a.rs", 0)] {
                assert_eq!(found(path, &sources.concat()).len(), refused, "{path}: {phrase}");
            }
            for path in ["reports/README.md", "docs/a/b.md", "crates/a/README.md", "docs/a.toml"] {
                assert_eq!(found(path, phrase), [], "{path}: {phrase}");
            }
        }
        let complaint = check(&Tree::of(&[("README.md", "It has those of b.")])).remove(0).to_string();
        assert!(complaint.contains("`those of`") && complaint.contains("say what it is: one subject, one verb"));
    }

    #[test]
    fn clean_texts_pass() {
        for text in [
            "It has all of them. Those are of use; that, of course, is nonetheless told so: many times.",
            "- It is\n- none of them\n\n| a | those |\n| of |",
            "Code is no prose: `those of`, `a those\nof b`.\n\n```text\nthose of\n```\n",
        ] {
            assert_eq!(found("README.md", text), [], "{text}");
        }
        assert_eq!(found("a.rs", "//! Runs:\n//! ```\n//! those of\n//! ```\n// Those of b.\n//! Ends.\n"), []);
    }

    #[test]
    fn a_phrase_is_found_across_lines_and_after_code() {
        assert_eq!(found("docs/a.md", "1. The bits are\nalso **those\nof** b.\n"), [Some(2)]);
        assert_eq!(found("docs/a.md", "```sh\nls\n```\nOf `a b` and that of c.\n"), [Some(4)]);
        assert_eq!(found("a.rs", "//! ```\nfn a() {}\n//! Those of b.\n"), [Some(3)]);
    }

    #[test]
    fn sentences_of_the_first_page_have_25_words_at_the_most() {
        let sentence = |length: usize| format!("{}.", vec!["a"; length].join(" "));
        assert_eq!(found("README.md", &sentence(25)), []);
        assert_eq!(found("README.md", &sentence(26)), [Some(1)]);
        assert_eq!(found("README.md", &format!("- {}\n- {}\n", sentence(25), sentence(26))), [Some(2)]);
        assert_eq!(found("README.md", &format!("{}\n{}?\n\nx", sentence(25), sentence(24).replace('.', " `b c`"))), []);
        assert_eq!(found("README.md", &format!("Say e.g. {}", sentence(24))), [Some(1)]);
        for text in [format!("| {} |", sentence(26)), format!("```\n{}\n```", sentence(26))] {
            assert_eq!(found("README.md", &text), [], "{text}");
        }
        assert_eq!(found("docs/a.md", &sentence(26)), []);
    }
}
