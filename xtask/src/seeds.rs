//! `cargo xtask seeds`: every data set of `benchmarks/seeds` under many seeds with every strategy, as one table.

use crate::ptx::sha256;
use crate::run::{self, Outcome, cargo};
use crate::target;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds of each data set and strategy, where no number is given.
const SEEDS: u64 = 1000;
const STRATEGIES: [&str; 3] = ["four-long", "auto", "many-short"];
/// Where the table goes.
const TABLE: &str = "benchmarks/seeds/RESULTS.md";

/// The file of `octopus sweep --out`, as far as the table tells of it.
#[derive(Debug, Deserialize)]
struct Report {
    good: bool,
    sweep: Sweep,
}

#[derive(Debug, Deserialize)]
struct Sweep {
    runs: u64,
    median_rhat: f64,
    largest_rhat: f64,
    unfit: u64,
    lost: u64,
    divergences: u64,
    diverging: u64,
    warm_up_leapfrogs: f64,
    leapfrogs_a_draw: f64,
}

/// The number of seeds that `arguments` ask for.
///
/// # Errors
/// When they are something else.
pub(crate) fn parse(arguments: &[String]) -> Result<u64, String> {
    let number = match arguments {
        [] => return Ok(SEEDS),
        [number] => number.parse().ok().filter(|&seeds: &u64| seeds > 0),
        _ => None,
    };
    number.ok_or_else(|| format!("seeds takes one number of seeds, got {:?}", arguments.join(" ")))
}

/// Sweeps what has not been swept yet with as many seeds, and writes the table of all.
///
/// # Errors
/// When a program cannot be started, or a file cannot be read or written.
pub(crate) fn run(root: &Path, seeds: u64) -> Result<Outcome> {
    let mut build = cargo(root, &["build", "--release", "--package", "octopus-cli"]);
    let built = run::step("build", &mut build, run::check_failed)?;
    if built != Outcome::Passed {
        return Ok(built);
    }
    let program = target(root).join("release/octopus");
    // Another program's results are another folder's; a commit that leaves the program alone keeps what was done.
    let bytes = std::fs::read(&program).with_context(|| program.display().to_string())?;
    let folder = target(root).join("seeds").join(format!("{seeds}-{:.12}", sha256(&bytes)));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut rows = Vec::new();
    for sweep in sweeps(root)? {
        let out = folder.join(format!("{}.json", sweep.name.replace(' ', "-")));
        if !out.exists() {
            let mut octopus = Command::new(&program);
            octopus.current_dir(root).args(["sweep", "--quiet", "--seeds", &seeds.to_string(), "--out"]).arg(&out);
            // 1 says that chains were lost: so does the table.
            if !matches!(run::status(octopus.args(&sweep.arguments))?.code(), Some(0 | 1)) {
                return Ok(Outcome::Failed(3));
            }
        }
        let text = std::fs::read(&out).with_context(|| out.display().to_string())?;
        let report: Report = serde_json::from_slice(&text).with_context(|| out.display().to_string())?;
        rows.push((sweep.name, report));
    }
    let path = root.join(TABLE);
    std::fs::write(&path, table(&rows)).with_context(|| path.display().to_string())?;
    eprintln!("xtask: {TABLE} is written");
    Ok(if rows.iter().all(|(_, report)| report.good) { Outcome::Passed } else { Outcome::Failed(1) })
}

/// One command and what the table calls it: `data strategy`.
struct Planned {
    name: String,
    arguments: Vec<String>,
}

/// Every data set with every strategy, and Rubin's schools.
fn sweeps(root: &Path) -> Result<Vec<Planned>> {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut planned = Vec::new();
    for data in data_sets(root)? {
        let name = data.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let config = format!("benchmarks/seeds/{name}.toml");
        for strategy in STRATEGIES {
            let arguments = words(&["hierarchical-normal", "--config", &config, "--strategy", strategy]);
            planned.push(Planned { name: format!("{name} {strategy}"), arguments });
        }
    }
    let schools = words(&["eight-schools", "--target-accept", "0.95", "--draws", "5000"]);
    planned.push(Planned { name: "schools four-long".to_owned(), arguments: schools });
    Ok(planned)
}

/// The configurations of `benchmarks/seeds`, by name.
fn data_sets(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join("benchmarks/seeds");
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    Ok(paths)
}

fn table(rows: &[(String, Report)]) -> String {
    let mut text = String::from(
        "# Seeds\n\n\
         What `cargo xtask seeds` found: runs of `octopus sample` with its default settings on the data sets of this folder,\n\
         seeds from 1 on, on the CPU. R-hat is the largest of all quantities of a run, nested for many short chains.\n\n\
         | data | strategy | runs | R-hat: median | largest | 1.01 or above | above 1.05 | divergences | runs with any | \
         leapfrog steps of warm-up | of a draw |\n\
         |--|--|--|--|--|--|--|--|--|--|--|\n",
    );
    for (name, Report { sweep, .. }) in rows {
        let (data, strategy) = name.split_once(' ').unwrap_or((name, ""));
        let Sweep { runs, median_rhat, largest_rhat, unfit, lost, divergences, diverging, .. } = sweep;
        let Sweep { warm_up_leapfrogs, leapfrogs_a_draw, .. } = sweep;
        let _ = writeln!(
            text,
            "| {data} | {strategy} | {runs} | {median_rhat:.4} | {largest_rhat:.4} | {unfit} | {lost} | {divergences} | \
             {diverging} | {warm_up_leapfrogs:.0} | {leapfrogs_a_draw:.1} |"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn seeds_are_a_number() {
        assert_eq!(parse(&[]), Ok(SEEDS));
        assert_eq!(parse(&words("20000")), Ok(20_000));
        for bad in ["0", "-1", "many", "1 2"] {
            assert!(parse(&words(bad)).unwrap_err().contains(bad), "{bad}");
        }
    }

    #[test]
    fn every_data_set_meets_every_strategy() {
        let planned = sweeps(&crate::root()).unwrap();
        let files = data_sets(&crate::root()).unwrap().len();
        assert!(files >= 10, "{files} data sets");
        assert_eq!(planned.len(), 3 * files + 1);
        assert!(planned.iter().any(|sweep| sweep.name == "single many-short"));
    }

    #[test]
    fn a_row_tells_what_was_found() {
        let sweep = Sweep {
            runs: 20_000,
            median_rhat: 1.0012,
            largest_rhat: 1.00484,
            unfit: 2,
            lost: 1,
            divergences: 7,
            diverging: 3,
            warm_up_leapfrogs: 65_220.4,
            leapfrogs_a_draw: 15.0,
        };
        let text = table(&[("zero auto".to_owned(), Report { good: false, sweep })]);
        assert!(text.ends_with("| zero | auto | 20000 | 1.0012 | 1.0048 | 2 | 1 | 7 | 3 | 65220 | 15.0 |\n"), "{text}");
    }
}
