//! Which tests skipped themselves: a test that passes without having tested must not go unseen.

use std::fs;
use std::path::{Path, PathBuf};

/// The word that such a test prints, with what is missing, on a line of its own.
const WORD: &str = "SKIPPED";

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
    let Ok(report) = fs::read_to_string(&path) else {
        eprintln!("xtask: cannot read {}: tests that skipped themselves are not listed", path.display());
        return;
    };
    let found = skipped(&report);
    for (test, words) in &found {
        eprintln!("xtask: {test}: {words}");
    }
    if !found.is_empty() {
        eprintln!("xtask: {} of the tests that passed did not test all they could", found.len());
    }
}

/// Names of tests with the line in which they say that they were skipped, from a report in JUnit's form.
fn skipped(report: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut test = "";
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("<testcase name=\"") {
            test = rest.split('"').next().unwrap_or_default();
        }
        if let Some(at) = line.find(WORD) {
            let words = line[at..].split("</system-").next().unwrap_or_default();
            found.push((plain(test), plain(words)));
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
            <system-err>SKIPPED: no g++</system-err>
        </testcase>"#;
        let pairs = [
            ("opens_in_arviz", "SKIPPED: no Python: OCTOPUS_PYTHON isn't set & \"x\""),
            ("rank::tests::third", "SKIPPED: no g++"),
        ];
        assert_eq!(skipped(report), pairs.map(|(test, words)| (test.to_owned(), words.to_owned())));
        assert_eq!(skipped("<testsuites/>"), []);
    }
}
