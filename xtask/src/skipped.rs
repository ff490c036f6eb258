//! Which tests skipped themselves: a test that passes without having tested must not go unseen.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How such a test begins a line of its own that says what is missing.
const WORD: &str = "SKIPPED: ";

/// Where nextest reports: below the workspace's `target` wherever builds go.
fn report(root: &Path) -> PathBuf {
    let profile = std::env::var("NEXTEST_PROFILE").unwrap_or_else(|_| "default".into());
    root.join("target/nextest").join(profile).join("junit.xml")
}

/// Forgets an earlier run, so that it is not announced as the coming one.
pub(crate) fn forget(root: &Path) {
    // There is none before the first run.
    let _ = fs::remove_file(report(root));
}

/// Says on standard error which tests of the last run of nextest skipped themselves.
pub(crate) fn announce(root: &Path) {
    let path = report(root);
    match fs::read_to_string(&path) {
        Ok(report) => announcement(&report).iter().for_each(|line| eprintln!("xtask: {line}")),
        Err(_) => eprintln!("xtask: cannot read {}: tests that skipped themselves are not listed", path.display()),
    }
}

/// The lines that say which tests skipped themselves, and how many, from a report in JUnit's form. A test that skipped
/// two things is one test.
fn announcement(report: &str) -> Vec<String> {
    let found = skipped(report);
    let tests: BTreeSet<&String> = found.iter().map(|(test, _)| test).collect();
    let closing = format!("{} of the tests that passed did not test all they could", tests.len());
    let lines = found.iter().map(|(test, words)| format!("{test}: {words}"));
    lines.chain((!tests.is_empty()).then_some(closing)).collect()
}

/// Names of tests with the lines in which they say that something was skipped. Lines that only mention the word, as
/// those of a verdict, are left out.
fn skipped(report: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut test = "";
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("<testcase name=\"") {
            test = rest.split('"').next().unwrap_or_default();
        }
        let said = line.rsplit_once("<system-out>").or_else(|| line.rsplit_once("<system-err>"));
        let said = said.map_or(line, |(_, said)| said);
        if said.starts_with(WORD) {
            found.push((plain(test), plain(said.split("</system-").next().unwrap_or_default())));
        }
    }
    found
}

/// Text without XML's escapes.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_their_words_are_found() {
        let report = r#"<testsuite name="octopus-runs::arviz">
        <testcase name="opens_in_arviz" classname="octopus-runs::arviz" time="0.1">
            <system-out>
running 1 test
test opens_in_arviz ... ok
</system-out>
            <system-err>SKIPPED: no Python: OCTOPUS_PYTHON isn&apos;t set &amp; &quot;x&quot;
</system-err>
        </testcase>
        <testcase name="rank::tests::other" time="0.1">
            <system-err>fine</system-err>
        </testcase>
        <testcase name="rank::tests::third" time="0.1">
            <system-err>SKIPPED: no g++
P0.1  SKIPPED: no GPU
SKIPPED: no shell</system-err>
        </testcase>"#;
        let pairs = [
            ("opens_in_arviz", "SKIPPED: no Python: OCTOPUS_PYTHON isn't set & \"x\""),
            ("rank::tests::third", "SKIPPED: no g++"),
            ("rank::tests::third", "SKIPPED: no shell"),
        ];
        assert_eq!(skipped(report), pairs.map(|(test, words)| (test.to_owned(), words.to_owned())));
        let announced = announcement(report);
        assert_eq!(announced.len(), 4);
        assert_eq!(announced[3], "2 of the tests that passed did not test all they could");
        assert_eq!(announcement("<testsuites/>"), Vec::<String>::new());
    }
}
