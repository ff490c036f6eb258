//! `cargo xtask seeds`: every data set of `benchmarks/seeds` under many seeds with every strategy, as one table.

use crate::ptx::sha256;
use crate::run::{self, Outcome};
use crate::target;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds of each data set and strategy, where no number is given.
const SEEDS: u64 = 1000;
const STRATEGIES: [&str; 3] = ["four-long", "auto", "many-short"];
/// Seeds of one process: what an interrupted run has to do again at most, and when the table is written anew.
const BLOCK: u64 = 500;
/// Where the table goes.
const TABLE: &str = "benchmarks/seeds/RESULTS.md";

/// The file of `octopus sweep --out`, as far as the table tells of it.
#[derive(Debug, Deserialize)]
struct Report {
    sweep: Sweep,
}

/// What was found of a range of seeds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Sweep {
    runs: u64,
    largest_rhat: f64,
    unfit: u64,
    lost: u64,
    divergences: u64,
    diverging: u64,
    warm_up_leapfrogs: f64,
    leapfrogs_a_draw: f64,
}

impl Sweep {
    /// Of both ranges together.
    fn and(&self, other: &Self) -> Self {
        let runs = self.runs + other.runs;
        let mean =
            |of: fn(&Self) -> f64| (self.runs as f64 * of(self) + other.runs as f64 * of(other)) / runs.max(1) as f64;
        Self {
            runs,
            largest_rhat: self.largest_rhat.max(other.largest_rhat),
            unfit: self.unfit + other.unfit,
            lost: self.lost + other.lost,
            divergences: self.divergences + other.divergences,
            diverging: self.diverging + other.diverging,
            warm_up_leapfrogs: mean(|sweep| sweep.warm_up_leapfrogs),
            leapfrogs_a_draw: mean(|sweep| sweep.leapfrogs_a_draw),
        }
    }
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

/// Sweeps what has not been swept yet, as many seeds of each, and writes the table of all after each block of seeds.
///
/// # Errors
/// When a program cannot be started, or a file cannot be read or written.
pub(crate) fn run(root: &Path, seeds: u64) -> Result<Outcome> {
    if !run::build_octopus(root)? {
        return Ok(Outcome::Failed(3));
    }
    let program = target(root).join("release/octopus");
    // Another program's results are another folder's; a commit that leaves the program alone keeps what was done.
    let bytes = std::fs::read(&program).with_context(|| program.display().to_string())?;
    let folder = target(root).join("seeds").join(format!("{:.12}", sha256(&bytes)));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let commit = run::git(root, &["describe", "--always", "--dirty"])?;
    let path = root.join(TABLE);
    let mut rows: Vec<(Planned, Sweep)> =
        sweeps(root)?.into_iter().map(|planned| (planned, Sweep::default())).collect();
    for block in blocks(seeds) {
        for (planned, total) in &mut rows {
            let Some(found) = sweep(root, &program, &folder, planned, &block)? else { return Ok(Outcome::Failed(3)) };
            *total = total.and(&found);
        }
        std::fs::write(&path, table(&commit, &rows)).with_context(|| path.display().to_string())?;
        eprintln!("xtask: {TABLE} has the seeds up to {}", block.end());
    }
    Ok(if rows.iter().all(|(_, sweep)| sweep.lost == 0) { Outcome::Passed } else { Outcome::Failed(1) })
}

/// The seeds from 1 to `seeds`, a process's at a time.
fn blocks(seeds: u64) -> impl Iterator<Item = RangeInclusive<u64>> {
    (0..seeds).step_by(BLOCK as usize).map(move |before| before + 1..=seeds.min(before + BLOCK))
}

/// What `program` finds of these seeds, or has found before; `None` where it fails.
fn sweep(
    root: &Path,
    program: &Path,
    folder: &Path,
    planned: &Planned,
    seeds: &RangeInclusive<u64>,
) -> Result<Option<Sweep>> {
    let (first, last) = (seeds.start(), seeds.end());
    let out = folder.join(format!("{}-{first}-{last}.json", planned.name.replace(' ', "-")));
    if !out.exists() {
        let mut octopus = Command::new(program);
        octopus.current_dir(root).args(["sweep", "--quiet", "--out"]).arg(&out).args(&planned.arguments);
        octopus.args(["--seed", &first.to_string(), "--seeds", &(last - first + 1).to_string()]);
        // 1 says that chains were lost: so does the table.
        if !matches!(run::status(&mut octopus)?.code(), Some(0 | 1)) {
            return Ok(None);
        }
    }
    let text = std::fs::read(&out).with_context(|| out.display().to_string())?;
    let report: Report = serde_json::from_slice(&text).with_context(|| out.display().to_string())?;
    Ok(Some(report.sweep))
}

/// One command and what the table calls it: `data strategy`.
#[derive(Debug)]
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

fn table(commit: &str, rows: &[(Planned, Sweep)]) -> String {
    let mut text = format!(
        "# Seeds\n\n\
         What `cargo xtask seeds` found at commit {commit}: runs of `octopus sample` with its default settings on the data\n\
         sets of this folder, seeds from 1 on, on the CPU. R-hat is the largest of all quantities of all runs, nested for\n\
         many short chains.\n\n\
         | data | strategy | runs | largest R-hat | 1.01 or above | above 1.05 | divergences | runs with any | \
         leapfrog steps of warm-up | of a draw |\n\
         |--|--|--|--|--|--|--|--|--|--|\n",
    );
    for (Planned { name, .. }, sweep) in rows {
        let (data, strategy) = name.split_once(' ').unwrap_or((name, ""));
        let Sweep { runs, largest_rhat, unfit, lost, divergences, diverging, .. } = sweep;
        let Sweep { warm_up_leapfrogs, leapfrogs_a_draw, .. } = sweep;
        let _ = writeln!(
            text,
            "| {data} | {strategy} | {runs} | {largest_rhat:.4} | {unfit} | {lost} | {divergences} | {diverging} | \
             {warm_up_leapfrogs:.0} | {leapfrogs_a_draw:.1} |"
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
    fn blocks_are_all_seeds() {
        assert_eq!(blocks(1).collect::<Vec<_>>(), [1..=1]);
        assert_eq!(blocks(500).collect::<Vec<_>>(), [1..=500]);
        assert_eq!(blocks(1001).collect::<Vec<_>>(), [1..=500, 501..=1000, 1001..=1001]);
    }

    /// 300 runs and 100: means are weighted by them.
    #[test]
    fn a_row_tells_what_was_found_of_all_blocks() {
        let first = Sweep {
            runs: 300,
            largest_rhat: 1.00484,
            unfit: 2,
            lost: 1,
            divergences: 7,
            diverging: 3,
            warm_up_leapfrogs: 65_220.4,
            leapfrogs_a_draw: 15.0,
        };
        let second = Sweep {
            runs: 100,
            largest_rhat: 1.2,
            unfit: 1,
            lost: 0,
            divergences: 1,
            diverging: 1,
            warm_up_leapfrogs: 65_224.4,
            leapfrogs_a_draw: 7.0,
        };
        let both = Sweep::default().and(&first).and(&second);
        let planned = Planned { name: "zero auto".to_owned(), arguments: Vec::new() };
        let text = table("abc1234", &[(planned, both)]);
        assert!(text.contains("at commit abc1234:"), "{text}");
        assert!(text.ends_with("| zero | auto | 400 | 1.2000 | 3 | 1 | 8 | 4 | 65221 | 13.0 |\n"), "{text}");
    }
}
