//! Generated faults that mean the same as what they replace, or change only what no test should hold: the committed list,
//! each with its reason.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The list, from the repository's root.
const LIST: &str = "xtask/equivalent-faults.toml";

/// The list as it is read.
#[derive(Debug, Default)]
pub(super) struct Equivalents {
    /// Each as [`entry`] writes it.
    entries: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    #[serde(default)]
    equivalent: Vec<Entry>,
}

/// Faults that one reason is true of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reason: String,
    /// `FILE: WORDS: SOURCE LINE`, as [`entry`] writes them; with ` (2)` the second of a line's faults with these words.
    /// `replace X with anything` is all that may stand for it.
    faults: Vec<String>,
}

impl Equivalents {
    /// Reads the list of the repository at `root`.
    ///
    /// # Errors
    /// When it cannot be read, a fault stands in it twice or has no source line, or a reason is missing.
    pub(super) fn read(root: &Path) -> Result<Self> {
        Self::read_list(root, LIST)
    }

    /// Reads another list of the repository at `root`, of entries in three parts.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(super) fn read_list(root: &Path, list: &str) -> Result<Self> {
        let path = root.join(list);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| list.to_owned())
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let listing: Listing = toml::from_str(text).context("it is no list of faults")?;
        let mut found = Self::default();
        for Entry { reason, faults } in listing.equivalent {
            if reason.trim().is_empty() || faults.is_empty() {
                bail!("an entry needs a reason and faults: {reason:?} {faults:?}");
            }
            for fault in faults {
                if fault.splitn(3, ": ").filter(|part| !part.is_empty()).count() < 3 {
                    bail!("{fault:?} is not FILE: WORDS: SOURCE LINE");
                }
                if let Some(twice) = found.entries.replace(fault) {
                    bail!("{twice:?} stands there twice");
                }
            }
        }
        Ok(found)
    }

    /// Returns whether the list has a fault. `name` is the name that it is listed by, and `line` the line of the sources
    /// that it is in, numbered where it has several faults of the same words.
    pub(super) fn has(&self, name: &str, line: &str) -> bool {
        self.lists(&entry(name, line)) || any_of(name).is_some_and(|any| self.lists(&entry(&any, line)))
    }

    /// Returns whether the list has this entry.
    pub(super) fn lists(&self, entry: &str) -> bool {
        self.entries.contains(entry)
    }
}

/// Returns a fault as the list has it.
pub(super) fn entry(name: &str, line: &str) -> String {
    let (file, words) = place_and_words(name).unwrap_or((name, ""));
    format!("{file}: {words}: {}", line.trim())
}

/// Returns the name under which the list has whatever may stand for one number or setting.
fn any_of(name: &str) -> Option<String> {
    let (replaced, with) = name.split_once(" with ")?;
    let function = with.rsplit_once(" in ").map_or(String::new(), |(_, function)| format!(" in {function}"));
    Some(format!("{replaced} with anything{function}"))
}

/// Splits `crates/a/src/b.rs:12:5: replace + with - in f` into its file and its words.
pub(super) fn place_and_words(name: &str) -> Option<(&str, &str)> {
    let (place, words) = name.split_once(": ")?;
    Some((place.split_once(':')?.0, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const NAME: &str = "crates/a/src/b.rs:12:5: replace A::f -> Option<B> with None";

    fn list(faults: &[&str]) -> Result<Equivalents> {
        Equivalents::parse(&format!("[[equivalent]]\nreason = \"why\"\nfaults = {faults:?}\n"))
    }

    #[test]
    fn a_fault_is_found_wherever_its_line_has_moved() {
        let line = "    fn f(x: u8) -> Option<B> {";
        let text = entry(NAME, line);
        assert_eq!(text, "crates/a/src/b.rs: replace A::f -> Option<B> with None: fn f(x: u8) -> Option<B> {");
        let found = list(&[&text]).unwrap();
        assert!(found.has(&NAME.replace("12:5", "40:1"), line));
        assert!(!found.has(NAME, "fn g() {"));
        assert!(!found.has(&NAME.replace("None", "Some(B)"), line));
        assert!(!found.has(&NAME.replace("b.rs", "c.rs"), line));
    }

    #[test]
    fn one_entry_is_of_all_that_stands_for_a_number() {
        let found =
            list(&["a.rs: replace 4 with anything in f: x < 4", "a.rs: replace N with anything: const N: u8 = 4;"]);
        let has = |name: &str, line: &str| found.as_ref().unwrap().has(name, line);
        assert!(has("a.rs:1:9: replace 4 with 8 in f", "x < 4") && has("a.rs:1:9: replace 4 with 2 in f", "x < 4"));
        assert!(!has("a.rs:1:9: replace 4 with 8 in g", "x < 4") && !has("a.rs:1:9: replace 4 with 8 in f", "y < 4"));
        assert!(has("a.rs:9:7: replace N with 2 * 4", "const N: u8 = 4;"));
    }

    #[test]
    fn entries_say_all_and_once() {
        let said = |faults: &[&str]| format!("{:#}", list(faults).unwrap_err());
        assert!(said(&["a.rs: words: x", "a.rs: words: x"]).contains("stands there twice"));
        assert!(said(&["a.rs: words"]).contains("is not FILE: WORDS: SOURCE LINE"));
        assert!(said(&[]).contains("needs a reason and faults"));
        assert!(Equivalents::parse("[[equivalent]]\nreason = \" \"\nfaults = [\"a: b: c\"]\n").is_err());
    }

    #[test]
    fn the_committed_list_is_about_lines_that_are_there() {
        let root = crate::place::root();
        let found = Equivalents::read(&root).unwrap();
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for fault in &found.entries {
            let (file, rest) = fault.split_once(": ").unwrap();
            let text = texts.entry(file).or_insert_with(|| fs::read_to_string(root.join(file)).expect(file));
            let unnumbered = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
            let rest = unnumbered.filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(rest, |(line, _)| line);
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let there = lines.any(|line| rest.strip_suffix(line).is_some_and(|words| words.ends_with(": ")));
            assert!(there, "{LIST}: the line of {fault:?} is not there any more: remove it");
        }
    }
}
