//! What the gallery draws is on record, picture by picture: whoever changes a line of drawing sees which pictures
//! change, looks at them, and accepts them.
//!
//! After a change that is meant: `cargo run --release -p octopus-report --example gallery -- gallery` draws the
//! new pictures, to look at; `INSTA_UPDATE=always cargo nextest run --release -p octopus-report --test
//! pictures` puts them on record.

#[path = "../../examples/gallery/checks.rs"]
mod checks;
#[path = "../../examples/gallery/convergence.rs"]
mod convergence;
#[path = "../../examples/gallery/edges.rs"]
mod edges;
#[path = "../../examples/gallery/reports.rs"]
mod reports;
#[path = "../../examples/gallery/sample.rs"]
mod sample;

use std::fs;
use std::path::Path;

use octopus_report::{Figure, Format, write_figures, write_report};
use sha2::{Digest, Sha256};

/// Each file in `folder`: its name, its length and the begin of its SHA-256. The numbers of pictures and pages are
/// rounded; `report.json` has all their digits, of which the last depend on the machine's library of functions.
fn files(folder: &Path) -> String {
    let line = |entry: fs::DirEntry| {
        let bytes = fs::read(entry.path()).unwrap();
        format!("{} {} {}", entry.file_name().display(), bytes.len(), hash(&bytes))
    };
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut lines: Vec<String> = entries.filter(|entry| entry.file_name() != "report.json").map(line).collect();
    lines.sort();
    lines.join("\n")
}

/// The begin of the SHA-256 of `bytes`.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn drawn(figures: &[Figure]) -> String {
    let folder = tempfile::tempdir().unwrap();
    write_figures(folder.path(), figures, &[Format::Svg]).unwrap();
    files(folder.path())
}

/// A test for each line, so that a picture that changes is found in a second.
macro_rules! on_record {
    ($($name:ident: $drawn:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), $drawn);
        }
    )*};
}

on_record! {
    checks_of_3_groups: drawn(&checks::of_groups(checks::GROUPS[0]));
    checks_of_100_groups: drawn(&checks::of_groups(checks::GROUPS[1]));
    checks_of_1003_groups: drawn(&checks::of_groups(checks::GROUPS[2]));
    checks_of_10000_groups: drawn(&checks::of_groups(checks::GROUPS[3]));
    speed: drawn(&checks::of_speed());
    many_observations: drawn(&checks::of_many_observations());
    good_run: convergence(0);
    run_of_many_parameters: convergence(1);
    run_of_64_chains: convergence(2);
    run_of_one_chain: convergence(3);
    funnel: convergence(4);
    funnel_of_many_parameters: convergence(5);
    report_of_3_groups: report(0);
    report_of_100_groups: report(1);
    report_of_1000_groups: report(2);
    report_of_many_chains: report(3);
    forests: edges(0);
    forests_of_runs: edges(1);
    pairs: edges(2);
    pareto_ks: edges(3);
    energies: edges(4);
    priors_and_posteriors: edges(5);
    speeds: edges(6);
}

/// The pictures of one kind at the edges: a line for each.
fn edges(kind: usize) -> String {
    let line = |(name, plot): &edges::Named| {
        let svg = plot.svg().unwrap();
        format!("{name}: {} {}", svg.len(), hash(svg.as_bytes()))
    };
    edges::KINDS[kind].1().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn convergence(run: usize) -> String {
    drawn(&convergence::of_run(convergence::RUNS[run].1()))
}

/// The pictures, the page and the tables of a report.
fn report(run: usize) -> String {
    let (report, figures) = reports::of_run(reports::SHAPES[run].1);
    let folder = tempfile::tempdir().unwrap();
    write_figures(folder.path(), &figures, &[Format::Svg]).unwrap();
    write_report(folder.path(), &report, &figures).unwrap();
    files(folder.path())
}
