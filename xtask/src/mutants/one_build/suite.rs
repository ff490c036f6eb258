//! The tests of the one build, as nextest lists them.

use super::folder::Folder;
use super::group;
use crate::mutants::generated::CRATES;
use crate::run;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

/// Packages whose tests only have a model to sample from, which depends on formats: minutes that catch nothing.
pub(super) const WITHOUT: [&str; 2] = ["octopus-cuda", "octopus-sampler"];

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// The program that has it.
    pub(super) program: PathBuf,
    /// The folder that it runs in.
    pub(super) folder: PathBuf,
    pub(super) package: String,
    /// The program's name in nextest, and the test's: no other test has them.
    pub(super) name: String,
    /// The test's name in its program.
    pub(super) within: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Listing {
    rust_suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Suite {
    package_name: String,
    binary_path: PathBuf,
    cwd: PathBuf,
    #[serde(default)]
    testcases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Case {
    ignored: bool,
    filter_match: Match,
}

#[derive(Deserialize)]
struct Match {
    status: String,
}

/// Builds the tests with all faults and lists those of packages that a fault can reach: the seven, and what depends on
/// them, but [`WITHOUT`]. This program's own have nothing to do with them.
///
/// # Errors
/// When they cannot be built or listed.
pub(super) fn list(folder: &Folder) -> Result<Vec<Test>> {
    let of = CRATES.map(|name| format!("rdeps(=octopus-{name})")).join(" + ");
    let without = WITHOUT.map(|name| format!(" - package(={name})")).concat();
    let filter = format!("({of}){without}");
    let mut command = folder.cargo(&["nextest", "list", "--workspace", "--exclude=xtask", "--message-format=json"]);
    command.args(["--cargo-profile", folder.profile(), "--filterset", &filter]);
    eprintln!("xtask: $ {}", run::show(&command));
    read(&run::output(&mut command)?)
}

/// Builds the tests of these `packages` with the faults of a change and lists them.
///
/// # Errors
/// When they cannot be built or listed, or it is late before.
pub(super) fn list_of(folder: &Folder, packages: &BTreeSet<String>, until: Option<Instant>) -> Result<Vec<Test>> {
    let mut command = folder.cargo_of(&["nextest", "list", "--message-format=json"], packages);
    command.args(folder.profile_for_nextest());
    let listed = group::output(&mut command, until)?;
    if !listed.status.success() {
        bail!("the tests with faults cannot be built or listed:\n{}", String::from_utf8_lossy(&listed.stderr));
    }
    read(&String::from_utf8_lossy(&listed.stdout))
}

fn read(json: &str) -> Result<Vec<Test>> {
    let listing: Listing =
        serde_json::from_str(json).context("nextest's list is not of the form that is known here")?;
    let mut tests = Vec::new();
    for (id, suite) in listing.rust_suites {
        for (within, case) in suite.testcases {
            if !case.ignored && case.filter_match.status == "matches" {
                let (program, folder) = (suite.binary_path.clone(), suite.cwd.clone());
                let name = format!("{id} {within}");
                tests.push(Test { program, folder, package: suite.package_name.clone(), name, within });
            }
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ignored_tests_and_those_of_other_packages_are_left_out() {
        let case = |ignored: bool, status: &str| json!({ "ignored": ignored, "filter-match": { "status": status } });
        let suite = json!({ "package-name": "octopus-runs", "binary-path": "b", "cwd": "c", "testcases":
            { "x::y": case(false, "matches"), "slow": case(true, "matches"), "other": case(false, "mismatch") } });
        let skipped = json!({ "package-name": "octopus-cuda", "binary-path": "d", "cwd": "e", "status": "skipped" });
        let tests = read(&json!({ "rust-suites": { "runs": suite, "cuda": skipped } }).to_string()).unwrap();
        let names: Vec<&str> = tests.iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["runs x::y"]);
        assert_eq!((&*tests[0].within, &*tests[0].package), ("x::y", "octopus-runs"));
    }
}
