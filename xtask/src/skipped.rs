//! What a run of the tests has tested: which tests skipped themselves, and which GPUs took part. A test that passes
//! without having tested must not go unseen. The same report tells how long each test took.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// How such a test begins a line of its own that says what is missing.
const WORD: &str = "SKIPPED: ";
/// How a test begins the line that names the GPU it ran on.
const TOOK_PART: &str = "TOOK PART: ";

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

/// Says on standard error which tests of the last run of nextest skipped themselves, and what took part.
pub(crate) fn announce(root: &Path) {
    let path = report(root);
    match fs::read_to_string(&path) {
        Ok(report) => announcement(&report).iter().for_each(|line| eprintln!("xtask: {line}")),
        Err(_) => eprintln!("xtask: cannot read {}: tests that skipped themselves are not listed", path.display()),
    }
}

/// Returns the seconds that each test of the last run of nextest took, by the names of its program and its own:
/// `octopus-runs::arviz opens_in_arviz`. It is empty where nothing has run.
pub(crate) fn seconds(root: &Path) -> HashMap<String, f64> {
    fs::read_to_string(report(root)).map(|report| seconds_of(&report)).unwrap_or_default()
}

fn seconds_of(report: &str) -> HashMap<String, f64> {
    let tests = report.split("<testcase ").skip(1).filter_map(|test| {
        let (head, _) = test.split_once('>')?;
        // `name` is also the end of `classname`.
        let head = format!(" {head}");
        let value = |name: &str| Some(plain(head.split_once(&format!(" {name}=\""))?.1.split('"').next()?));
        Some((format!("{} {}", value("classname")?, value("name")?), value("time")?.parse().ok()?))
    });
    tests.collect()
}

/// The lines that say which tests skipped themselves, how many, and what took part, from a report in JUnit's form. A
/// test that skipped two things is one test.
fn announcement(report: &str) -> Vec<String> {
    let found = said(report, WORD);
    let tests: BTreeSet<&String> = found.iter().map(|(test, _)| test).collect();
    let closing = format!("{} of the tests that passed did not test all they could", tests.len());
    let lines = found.iter().map(|(test, words)| format!("{test}: {words}"));
    lines.chain((!tests.is_empty()).then_some(closing)).chain([took_part(report)]).collect()
}

/// The line that says in how many tests which GPU took part; in the others it was the CPU alone.
fn took_part(report: &str) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut alone = 0;
    for test in report.split("<testcase ").skip(1) {
        let gpus: BTreeSet<String> = said(test, TOOK_PART).into_iter().map(|(_, words)| words).collect();
        alone += usize::from(gpus.is_empty());
        gpus.into_iter().for_each(|gpu| *counts.entry(gpu[TOOK_PART.len()..].to_owned()).or_default() += 1);
    }
    let gpus = counts.iter().map(|(gpu, count)| format!(", {gpu} in {count}"));
    format!("took part: CPU alone in {alone} tests{}", gpus.collect::<String>())
}

/// Names of tests with the lines of theirs that begin with `word`. Lines that only mention it, as those of a verdict,
/// are left out.
fn said(report: &str, word: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut test = "";
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("<testcase name=\"") {
            test = rest.split('"').next().unwrap_or_default();
        }
        let said = line.rsplit_once("<system-out>").or_else(|| line.rsplit_once("<system-err>"));
        let said = said.map_or(line, |(_, said)| said);
        if said.starts_with(word) {
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
        assert_eq!(said(report, WORD), pairs.map(|(test, words)| (test.to_owned(), words.to_owned())));
        let announced = announcement(report);
        assert_eq!(announced.len(), 5);
        assert_eq!(announced[3], "2 of the tests that passed did not test all they could");
        assert_eq!(announcement("<testsuites/>"), ["took part: CPU alone in 0 tests"]);
    }

    #[test]
    fn times_are_found_by_the_names_of_program_and_test() {
        let report = r#"<testcase name="a::b" classname="octopus-runs::arviz" timestamp="2026-11-27" time="0.125">
            <system-err>time="9"</system-err></testcase><testcase name="c" classname="octopus-runs" time="2"/>
            <testcase name="d" classname="octopus-runs" time="long">"#;
        let expected = [("octopus-runs::arviz a::b", 0.125), ("octopus-runs c", 2.0)];
        assert_eq!(seconds_of(report), expected.map(|(test, seconds)| (test.to_owned(), seconds)).into());
    }

    #[test]
    fn what_took_part_is_counted_by_test() {
        let report = "<testcase name=\"a\"><system-err>TOOK PART: software GPU
TOOK PART: software GPU
TOOK PART: NVIDIA &quot;X&quot;
</system-err></testcase>
<testcase name=\"a\"><system-err>TOOK PART: software GPU</system-err></testcase>
<testcase name=\"b\"><system-err></system-err></testcase>";
        assert_eq!(took_part(report), "took part: CPU alone in 1 tests, NVIDIA \"X\" in 1, software GPU in 2");
    }
}
