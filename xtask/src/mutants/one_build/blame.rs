//! Which faults the compiler's errors are about, by the marks around what it complains of.

use super::list::Genre;
use super::marks::{self, Marked, Marks};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use syn::Pat;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Errors that are kept for somebody to read.
const MOST_UNEXPLAINED: usize = 10;
/// The compiler's code for a match that leaves out a case.
const NOT_EXHAUSTIVE: &str = "E0004";

/// What the errors of a compilation are held against.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// How many there are.
    pub(super) errors: usize,
    /// Faults that are themselves no program.
    pub(super) not_compiling: BTreeSet<usize>,
    /// Faults whose place does not compile with a question in it.
    pub(super) left_over: BTreeSet<usize>,
    /// Some of the errors that no fault is to blame for.
    pub(super) unexplained: Vec<String>,
}

/// The files that the compiler saw, read when it complains of them.
pub(super) struct Rendered<G> {
    source: PathBuf,
    genre: G,
    files: HashMap<String, Option<(String, Marks)>>,
}

#[derive(Deserialize)]
struct Line {
    reason: String,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    code: Option<Code>,
    spans: Vec<CompilerSpan>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct CompilerSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
}

impl<G: Fn(usize) -> Genre> Rendered<G> {
    /// Makes the reader of the files below `source`; `genre` tells the genre of a fault.
    pub(super) fn new(source: PathBuf, genre: G) -> Self {
        Self { source, genre, files: HashMap::new() }
    }

    /// Finds the faults that the errors in cargo's `messages` are about.
    pub(super) fn blame(&mut self, messages: &str) -> Blame {
        let mut blame = Blame::default();
        let lines = messages.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let messages = lines.filter(|line| line.reason == "compiler-message").filter_map(|line| line.message);
        // The last error of a crate only counts the others, and is of no place.
        for mut message in messages.filter(|message| message.level == "error" && !message.spans.is_empty()) {
            blame.errors += 1;
            message.spans.sort_by_key(|span| !span.is_primary);
            if let Some(fault) = message.spans.iter().find_map(|span| self.branch(span)) {
                // A field that cannot be taken out of its base can still be left to it.
                let own = (self.genre)(fault) != Genre::StructField;
                if own { &mut blame.not_compiling } else { &mut blame.left_over }.insert(fault);
                continue;
            }
            let mut sites: Vec<usize> = message.spans.iter().find_map(|span| self.sites(span)).unwrap_or_default();
            if sites.is_empty() && message.code.as_ref().is_some_and(|code| code.code == NOT_EXHAUSTIVE) {
                sites = message.spans.iter().find_map(|span| self.arms(span)).unwrap_or_default();
            } else if sites.iter().all(|&fault| (self.genre)(fault) == Genre::FnValue) {
                // Of several values of a function, which are types of their own, those before the last may compile.
                sites.sort_unstable();
                sites = sites.split_off(sites.len().saturating_sub(1));
            }
            if sites.is_empty() && blame.unexplained.len() < MOST_UNEXPLAINED {
                blame.unexplained.extend(message.rendered);
            }
            blame.left_over.extend(sites);
        }
        blame
    }

    fn file(&mut self, name: &str) -> Option<&(String, Marks)> {
        let path = self.source.join(name);
        let read = || {
            let text = fs::read_to_string(path).ok()?;
            let marks = marks::find(&text);
            Some((text, marks))
        };
        self.files.entry(name.to_owned()).or_insert_with(read).as_ref()
    }

    /// The fault whose own text the place is in.
    fn branch(&mut self, span: &CompilerSpan) -> Option<usize> {
        let (_, marks) = self.file(&span.file_name)?;
        let around = marks.branches.iter().find(|marked| contains(&marked.range, span))?;
        around.faults.first().copied()
    }

    /// The faults of the smallest site around the place, or else those of sites in it.
    fn sites(&mut self, span: &CompilerSpan) -> Option<Vec<usize>> {
        let (_, marks) = self.file(&span.file_name)?;
        let around = marks.sites.iter().filter(|marked| contains(&marked.range, span));
        if let Some(smallest) = around.min_by_key(|marked| marked.range.len()) {
            return Some(smallest.faults.clone());
        }
        let touched = |marked: &&Marked| marked.range.start < span.byte_end && span.byte_start < marked.range.end;
        let faults: Vec<usize> = marks.sites.iter().filter(touched).flat_map(|marked| marked.faults.clone()).collect();
        (!faults.is_empty()).then_some(faults)
    }

    /// The faults that leave out arms of the match over the value at the place: of one whose last arm takes all that
    /// the others leave only that arm's, without which those before it may compile.
    fn arms(&mut self, span: &CompilerSpan) -> Option<Vec<usize>> {
        let (text, marks) = self.file(&span.file_name)?;
        let mut finder = MatchFinder { value: span.byte_start..span.byte_end, found: None };
        finder.visit_file(&syn::parse_file(text).ok()?);
        let (whole, rest) = finder.found?;
        let inside = |range: &Range<usize>| {
            let within = |marked: &&Marked| range.start <= marked.range.start && marked.range.end <= range.end;
            marks.sites.iter().filter(within).flat_map(|marked| marked.faults.clone()).collect::<Vec<usize>>()
        };
        let (all, of_rest) = (inside(&whole), rest.map(|rest| inside(&rest)).unwrap_or_default());
        let arms = |faults: Vec<usize>| -> Vec<usize> {
            faults.into_iter().filter(|&fault| (self.genre)(fault) == Genre::MatchArm).collect()
        };
        let (all, of_rest) = (arms(all), arms(of_rest));
        Some(if of_rest.is_empty() { all } else { of_rest })
    }
}

fn contains(range: &Range<usize>, span: &CompilerSpan) -> bool {
    range.start <= span.byte_start && span.byte_end <= range.end
}

/// Looks for the match over the value at a place.
struct MatchFinder {
    value: Range<usize>,
    /// The match, and its last arm if that takes whatever is left.
    found: Option<(Range<usize>, Option<Range<usize>>)>,
}

impl<'ast> Visit<'ast> for MatchFinder {
    fn visit_expr_match(&mut self, found: &'ast syn::ExprMatch) {
        if found.expr.span().byte_range() == self.value {
            let takes_all = |arm: &&syn::Arm| matches!(arm.pat, Pat::Wild(_) | Pat::Ident(_));
            let rest = found.arms.last().filter(takes_all).map(|arm| arm.span().byte_range());
            self.found = Some((found.span().byte_range(), rest));
        }
        visit::visit_expr_match(self, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What one error at `place` in `text` is held against.
    fn blamed(text: &str, place: &str, code: &str, genre: Genre) -> Blame {
        let folder = std::env::temp_dir().join(format!("octopus-blame-{}-{code}-{genre:?}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), text).unwrap();
        let start = text.find(place).unwrap();
        let span =
            json!({ "file_name": "a.rs", "byte_start": start, "byte_end": start + place.len(), "is_primary": true });
        let message = json!({ "level": "error", "code": { "code": code }, "spans": [span], "rendered": "no" });
        let line = json!({ "reason": "compiler-message", "message": message }).to_string();
        let blame = Rendered::new(folder.clone(), |_| genre).blame(&format!("not json\n{line}\n"));
        fs::remove_dir_all(folder).unwrap();
        blame
    }

    #[test]
    fn errors_in_a_branch_are_the_faults_own() {
        let text = format!("fn f() {{ {} }}", marks::site([3, 4], &format!("x {} y", marks::branch(4, "a - b"))));
        let blame = blamed(&text, "a - b", "E1", Genre::BinaryOperator);
        assert_eq!((blame.errors, blame.not_compiling), (1, BTreeSet::from([4])));
        let blame = blamed(&text, "a - b", "E1", Genre::StructField);
        assert_eq!((blame.not_compiling, blame.left_over), (BTreeSet::new(), BTreeSet::from([4])));
    }

    #[test]
    fn errors_in_a_site_or_around_it_are_of_its_place() {
        let text = format!("fn f() {{ {} }}", marks::site([3, 4], "x"));
        for place in ["x", "fn f() { /*[3,4*/x/*]*/ }"] {
            assert_eq!(blamed(&text, place, "E2", Genre::MatchArm).left_over, BTreeSet::from([3, 4]), "{place}");
        }
        assert_eq!(blamed(&text, "fn", "E2", Genre::FnValue).unexplained, ["no"]);
        // Values of a function are taken out one by one, from the last on.
        assert_eq!(blamed(&text, "x", "E3", Genre::FnValue).left_over, BTreeSet::from([4]));
    }

    #[test]
    fn a_match_that_leaves_out_a_case_is_held_against_its_arms() {
        let arm = marks::site([5], " if !on(5)");
        let text = format!("fn f() {{ match a {{ B{arm} => 1, C => 2 }} }}");
        let blame = blamed(&text, "a ", "E0004", Genre::MatchArm);
        assert_eq!(blame.left_over, BTreeSet::new(), "the place is not the value's");
        let text = text.replace("match a ", "match value ");
        assert_eq!(blamed(&text, "value", "E0004", Genre::MatchArm).left_over, BTreeSet::from([5]));
        // The one that takes all the rest goes first.
        let rest = marks::site([6], " if !on(6)");
        let text = text.replace("C => 2", &format!("rest{rest} => 2"));
        assert_eq!(blamed(&text, "value", "E0004", Genre::MatchArm).left_over, BTreeSet::from([6]));
    }
}
