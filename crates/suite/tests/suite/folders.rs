//! Folders of results: they are gone on with, read again, compared, and written in other forms.

use crate::{peers, run, suite};
use octopus_suite::{
    PosteriorCheck, Suite, SuiteChoice, SuiteExport, SuiteObserver, SuiteResults, SuiteRow, SuiteRun, compare,
};
use std::collections::BTreeSet;

/// Stops once so many cases are finished, or once it was asked so often whether to go on.
struct After {
    cases: usize,
    asked: usize,
    begun: usize,
    finished: BTreeSet<String>,
}

impl After {
    fn new(cases: usize, asked: usize) -> Self {
        Self { cases, asked, begun: 0, finished: BTreeSet::new() }
    }
}

impl SuiteObserver for After {
    fn case(&mut self, _number: usize, _of: usize, _name: &str) {
        self.begun += 1;
    }

    fn judged(&mut self, check: &PosteriorCheck, rows: &[SuiteRow]) {
        assert_eq!(check.case, rows[0].case);
        self.finished.insert(check.case.clone());
    }

    fn go_on(&mut self) -> bool {
        self.asked = self.asked.saturating_sub(1);
        self.asked > 0 && self.finished.len() < self.cases
    }
}

#[test]
fn the_same_command_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let choice = SuiteChoice::default();
    // What is stopped in the middle of a case is not kept.
    let mut middle = After::new(usize::MAX, 4);
    let Some(none) = run(folder.path(), &["none", "cannot"], &choice, &mut middle) else { return };
    assert_eq!((middle.begun, none.rows.len()), (1, 0));
    let mut first = After::new(1, usize::MAX);
    let Some(some) = run(folder.path(), &["none", "cannot"], &choice, &mut first) else { return };
    let mut rest = After::new(usize::MAX, usize::MAX);
    let all = run(folder.path(), &["none", "cannot"], &choice, &mut rest).unwrap();
    assert_eq!((first.begun, rest.begun), (1, 3));
    assert_eq!(all.rows[..4], some.rows[..], "three repetitions, and why the other one has none");
    assert_eq!((all.rows.len(), all.checks.len()), (16, 8));
    let again = SuiteResults::open(&folder.path().join("results")).unwrap();
    assert_eq!(again.rows.len(), 16);
    let of = |results: &SuiteResults| results.summary().iter().map(|line| line.seconds).filter(Option::is_some).count();
    assert_eq!((of(&all), of(&again)), (4, 4));
    let names: Vec<_> = std::fs::read_dir(folder.path().join("results/data")).unwrap().collect();
    assert_eq!(names.len(), 3, "a program and two sizes");
    assert_eq!(again.metadata.data.len(), 2);
    assert_eq!(again.metadata.versions["none"], "closed form 1");

    // Results of another suite are not added to.
    let mut other = suite(folder.path(), &["none"]);
    other.name = "other".to_owned();
    let peers = peers(folder.path(), &["none"]).unwrap();
    let run = SuiteRun { suite: &other, choice: &choice, peers: &peers, program: Default::default() };
    let error = run.run(&folder.path().join("results"), &mut ()).unwrap_err().to_string();
    assert!(error.contains("its results are of the suite a-test"), "{error}");
}

/// Parts run in folders of their own; the whole has each case once, in the suite's order, and runs what is missing.
#[test]
fn parts_of_a_suite_are_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let faults = ["none", "cannot"];
    let Some(peers) = peers(folder.path(), &faults) else { return };
    let suite = suite(folder.path(), &faults);
    let all = folder.path().join("all");
    let run = |part: Option<(usize, usize)>, observer: &mut dyn SuiteObserver| {
        let choice = SuiteChoice { part, ..SuiteChoice::default() };
        let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: Default::default() };
        let own = part.map_or(all.clone(), |(part, parts)| SuiteRun::part_folder(&all, &format!("{part}-of-{parts}")));
        run.run(&own, observer)
    };
    assert_eq!(run(Some((2, 3)), &mut ()).unwrap().checks.len(), 2);
    let first = run(Some((1, 3)), &mut ()).unwrap();
    let mut rest = After::new(usize::MAX, usize::MAX);
    let whole = run(None, &mut rest).unwrap();
    assert_eq!((rest.begun, first.checks.len(), whole.checks.len(), whole.rows.len()), (1, 4, 8, 16));
    let mut nothing = After::new(usize::MAX, usize::MAX);
    let again = run(None, &mut nothing).unwrap();
    let cases = |results: &SuiteResults| results.checks.iter().map(|check| check.case.clone()).collect::<Vec<_>>();
    let order: Vec<String> =
        suite.cases(&SuiteChoice::default()).iter().flat_map(|case| [case.name(), case.name()]).collect();
    assert_eq!((nothing.begun, cases(&again)), (0, order));
    assert_eq!(again.rows.iter().filter(|row| row.case == first.checks[0].case).count(), 4);
    assert_eq!(SuiteResults::open(&all).unwrap().rows.len(), 16);

    // Times of other machines are not put beside each other.
    let of_another = |folder: &std::path::Path| {
        let path = folder.join("metadata.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("-cores\"", "-cores-of-another\"")).unwrap();
    };
    of_another(&SuiteRun::part_folder(&all, "2-of-3"));
    let error = run(None, &mut ()).unwrap_err().to_string();
    assert!(error.contains("part-2-of-3") && error.contains("machines like"), "{error}");
    std::fs::remove_dir_all(SuiteRun::part_folder(&all, "2-of-3")).unwrap();
    of_another(&SuiteRun::part_folder(&all, "1-of-3"));
    assert!(run(Some((1, 3)), &mut ()).is_ok(), "nothing is missing");
    std::fs::remove_file(all.join("metadata.json")).unwrap();
    let error = run(None, &mut ()).unwrap_err().to_string();
    assert!(error.contains("-cores-of-another") && error.contains("go on there"), "{error}");
}

#[test]
fn what_became_slower_is_told_and_two_machines_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let choice = SuiteChoice { sizes: vec![10], ..SuiteChoice::default() };
    let Some(then) = run(folder.path(), &["none"], &choice, &mut ()) else { return };
    let mut now = then.clone();
    let cases: Vec<String> = then.checks.iter().map(|check| check.case.clone()).collect();
    for row in &mut now.rows {
        let factor = if row.case == cases[0] { 1.2 } else { 1.05 };
        row.seconds = row.seconds.map(|seconds| factor * seconds);
    }
    let found = compare(&then, &now, false).unwrap();
    assert_eq!(
        found.iter().map(|case| (case.slower, case.faster)).collect::<Vec<_>>(),
        [(true, false), (false, false)]
    );
    assert!((found[0].ratio - 1.2).abs() < 1e-12);
    let back = compare(&now, &then, false).unwrap();
    assert_eq!(back.iter().map(|case| (case.slower, case.faster)).collect::<Vec<_>>(), [(false, true), (false, false)]);
    now.metadata.machine_id = "another".to_owned();
    let error = compare(&then, &now, false).unwrap_err().to_string();
    assert!(error.contains("another") && error.contains("--force"), "{error}");
    assert!(compare(&then, &now, true).unwrap()[0].slower);
}

#[test]
fn results_come_in_the_forms_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let choice = SuiteChoice { sizes: vec![10], ..SuiteChoice::default() };
    let Some(results) = run(folder.path(), &["none", "spread"], &choice, &mut ()) else { return };
    let of = |form: SuiteExport| form.of(&results);
    let csv = std::fs::read_to_string(folder.path().join("results/summary.csv")).unwrap();
    assert_eq!(of(SuiteExport::Csv), csv);
    let markdown = of(SuiteExport::Markdown);
    assert_eq!(markdown.lines().count(), 2 + 4, "{markdown}");
    assert!(markdown.contains("| none | passed | 10.000 ms |"), "{markdown}");
    assert!(markdown.contains("| spread | failed |  |"), "{markdown}");
    let gha: serde_json::Value = serde_json::from_str(&of(SuiteExport::Gha)).unwrap();
    let entries = gha.as_array().unwrap();
    assert_eq!(entries.len(), 2, "only what passed");
    assert_eq!((&entries[0]["unit"], &entries[0]["value"]), (&"s".into(), &0.01.into()));
    let critcmp: serde_json::Value = serde_json::from_str(&of(SuiteExport::Criterion)).unwrap();
    let name = format!("{}/none", results.checks[0].case);
    let median = &critcmp["benchmarks"][&name]["criterion_estimates_v1"]["median"];
    assert_eq!(median["point_estimate"], 0.01 * 1e9);
    assert_eq!(critcmp["name"], "a-test");
}

/// Every suite that ships can be read, has no case twice, and names programs that there are.
#[test]
fn suites_that_ship_are_whole() {
    for name in Suite::names() {
        let suite = Suite::find(name).unwrap();
        let cases = suite.cases(&SuiteChoice::default());
        let names: BTreeSet<String> = cases.iter().map(octopus_suite::SuiteCase::name).collect();
        assert_eq!(names.len(), cases.len(), "{name}");
        if ["arrays", "random", "diagnostics"].contains(&name) {
            continue; // Kinds of work have no program.
        }
        let (folder, choice) =
            (tempfile::tempdir().unwrap(), SuiteChoice { sizes: vec![10, 50, 100], ..Default::default() });
        let peers = octopus_suite::Peers { folder: folder.path().to_owned(), octopus: Vec::new() };
        let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: Default::default() };
        assert!(!run.export_data(&folder.path().join("data")).unwrap().is_empty(), "{name}");
    }
}

#[test]
fn what_is_wrong_with_a_suite_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        let path = folder.path().join("x.toml");
        std::fs::write(&path, text).unwrap();
        Suite::find(path.to_str().unwrap()).unwrap_err().to_string()
    };
    let good = "about = \"\"\nframeworks = [\"a\"]\nrepeats = 1\n[[problem]]\nprogram = \"polynomial\"\n[[method]]\nname = \"nuts\"\n";
    assert!(read(&good.replace("repeats = 1", "repeats = 0")).contains("x.toml: repeats = 0"));
    assert!(read(&good.replace("[\"a\"]", "[]")).contains("x.toml: frameworks = []"));
    assert!(read(&good.replace("repeats = 1", "repeats = 1\npatience = -1")).contains("x.toml: patience = -1"));
    assert!(read(&good.replace("repeats = 1", "repeat = 1")).contains("unknown field `repeat`"));
    assert!(read(&good.replace("program =", "programs =")).contains("a [[problem]] has no program"));
    assert!(read(&good.replace("name =", "names =")).contains("a [[method]] has no name"));
    assert!(Suite::find("nothing").unwrap_err().to_string().contains("take one of polynomial-is"));
    std::fs::write(folder.path().join("x.toml"), good).unwrap();
    let suite = Suite::find(folder.path().join("x.toml").to_str().unwrap()).unwrap();
    let choice = SuiteChoice { frameworks: vec!["b".to_owned()], ..Default::default() };
    assert!(suite.narrowed(&choice).unwrap_err().to_string().contains("there is no framework b"));
}

/// The metadata are as the schema says, and others are not. Needs `jsonschema` in `OCTOPUS_PYTHON`.
#[test]
fn metadata_are_as_the_schema_says() {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON").filter(|python| !python.is_empty()) else {
        eprintln!(
            "SKIPPED: no Python with jsonschema: set OCTOPUS_PYTHON (see crates/suite/tests/suite/requirements.txt)"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let choice = SuiteChoice { sizes: vec![10], ..SuiteChoice::default() };
    let Some(_) = run(folder.path(), &["none"], &choice, &mut ()) else { return };
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/results.schema.json");
    let metadata = folder.path().join("results/metadata.json");
    let valid = |path: &std::path::Path| {
        let code =
            "import json, sys, jsonschema; jsonschema.validate(*(json.load(open(path)) for path in sys.argv[2:0:-1]))";
        let done = std::process::Command::new(&python).args(["-c", code, schema]).arg(path).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (is_valid, why) = valid(&metadata);
    assert!(is_valid, "{why}");
    let text = std::fs::read_to_string(&metadata).unwrap();
    std::fs::write(&metadata, text.replace("\"repeats\": 3", "\"repeats\": 0")).unwrap();
    let (is_valid, why) = valid(&metadata);
    assert!(!is_valid && why.contains("0 is less than the minimum of 1"), "{why}");
}
