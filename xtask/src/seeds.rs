//! `cargo xtask seeds`: every data set of `benchmarks/seeds` under many seeds with every strategy, as one table.
//!
//! The numbers of seeds, the strategies, and when what was found is kept, stand here.
//!
//! What was found is kept in a file of the repository, so that another machine goes on where one has stopped.

use crate::place::target;
use crate::ptx::sha256;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Seeds of each data set and strategy, where no number is given.
const SEEDS: u64 = 1000;
const STRATEGIES: [&str; 4] = ["cross-chain", "four-long", "auto", "many-short"];
/// Seeds of one process: what an interrupted run has to do again at most, and when the files are written anew.
const BLOCK: u64 = 500;
/// Where the table goes.
const TABLE: &str = "benchmarks/seeds/RESULTS.md";
/// What was found, for the next run to go on with.
const FOUND: &str = "benchmarks/seeds/results.json";
/// The recorded bits of runs: while they stay, seeds that were run need not be run again.
const BITS: &str = "kernels/expected-runs.json";

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct SeedsOptions {
    /// The number of seeds of each row of the table.
    seeds: u64,
    /// The data sets to run; all where there are none.
    data: Vec<String>,
}

/// The file of what was found.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Found {
    /// The SHA-256 of the recorded bits: another program's draws are not counted together with these.
    bits: String,
    /// The commits whose programs made the runs, in order.
    commits: Vec<String>,
    /// What was found of seeds from 1 on, by `data strategy`.
    rows: BTreeMap<String, Row>,
}

/// What was found of a row of the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Row {
    /// The [fingerprint](Planned::fingerprint) of the settings and data: runs of others are not counted with these.
    input: String,
    #[serde(flatten)]
    sweep: Sweep,
}

/// The output of `octopus sweep --json`, as far as the table tells of it.
#[derive(Debug, Deserialize)]
struct Report {
    sweep: Sweep,
}

/// What was found of a range of seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sweep {
    runs: u64,
    /// Infinite where a chain never moved; JSON has `null` for that.
    #[serde(with = "infinite_is_null")]
    largest_rhat: f64,
    unfit: u64,
    lost: u64,
    divergences: u64,
    diverging: u64,
    warm_up_leapfrogs: f64,
    leapfrogs_a_draw: f64,
}

mod infinite_is_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(value).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
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

impl SeedsOptions {
    /// Reads `[N] [--data NAME,NAME]`.
    ///
    /// # Errors
    /// When the arguments are something else.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { seeds: SEEDS, data: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--data" {
                let names = arguments.next().ok_or("--data needs names of data sets, divided by commas")?;
                options.data = names.split(',').map(str::to_owned).collect();
            } else if let Some(seeds) = argument.parse().ok().filter(|&seeds: &u64| seeds > 0) {
                options.seeds = seeds;
            } else {
                return Err(format!("seeds takes a number of seeds and --data NAME,NAME, got {argument:?}"));
            }
        }
        Ok(options)
    }
}

/// Sweeps the seeds that have not been swept yet, rows with the fewest first, and writes both files after each block.
///
/// # Errors
/// When a program cannot be started, or a file cannot be read or written.
pub(crate) fn run(root: &Path, options: &SeedsOptions) -> Result<TaskOutcome> {
    let planned = sweeps(root)?;
    if let Some(unknown) = options.data.iter().find(|&name| planned.iter().all(|sweep| sweep.data() != name)) {
        eprintln!("xtask: --data {unknown}: benchmarks/seeds has no such data set");
        return Ok(TaskOutcome::Failed(2));
    }
    if !run::build_octopus(root)? {
        return Ok(TaskOutcome::Failed(3));
    }
    // A copy, so that builds made meanwhile leave it alone.
    let program = target(root).join("seeds-octopus");
    std::fs::copy(run::released(root), &program).context("cannot copy the program")?;
    let commit = commit(root)?;
    let mut found = Found::read(root, &planned)?;
    found.write(root, &planned)?;
    let asked = |sweep: &&Planned| options.data.is_empty() || options.data.iter().any(|name| sweep.data() == name);
    while let Some((row, seeds)) = planned
        .iter()
        .filter(asked)
        .filter_map(|row| Some((row, next_block(found.runs(row), options.seeds)?)))
        .min_by_key(|(_, seeds)| *seeds.start())
    {
        let Some(sweep) = sweep(root, &program, row, &seeds)? else { return Ok(TaskOutcome::Failed(3)) };
        found.add(row, &sweep);
        if found.commits.last() != Some(&commit) {
            found.commits.push(commit.clone());
        }
        found.write(root, &planned)?;
        eprintln!("xtask: {TABLE} has the seeds of {} up to {}", row.name, seeds.end());
    }
    let mut of_planned = planned.iter().filter_map(|row| found.rows.get(&row.name));
    Ok(if of_planned.all(|row| row.sweep.lost == 0) { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
}

/// Returns the commit that the program is of, with `-dirty` if files differ from it; the two written here may.
fn commit(root: &Path) -> Result<String> {
    let commit = run::git(root, &["describe", "--always"])?;
    let others = [".".to_owned(), format!(":!{FOUND}"), format!(":!{TABLE}")];
    let mut changes = vec!["status", "--porcelain", "--"];
    changes.extend(others.iter().map(String::as_str));
    Ok(if run::git(root, &changes)?.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// The seeds that a process does next where those up to `done` are done.
fn next_block(done: u64, seeds: u64) -> Option<RangeInclusive<u64>> {
    (done < seeds).then(|| done + 1..=seeds.min(done + BLOCK))
}

impl Found {
    /// Reads what earlier runs have found, but for rows of other settings or data; nothing where they were of another
    /// program's draws.
    fn read(root: &Path, planned: &[Planned]) -> Result<Self> {
        let bits = std::fs::read(root.join(BITS)).with_context(|| BITS.to_owned())?;
        let bits = sha256(&bits);
        let mut found: Self = match std::fs::read(root.join(FOUND)) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| FOUND.to_owned())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(error) => return Err(error).with_context(|| FOUND.to_owned()),
        };
        if found.bits != bits {
            eprintln!("xtask: {FOUND} is of other draws ({BITS} has changed): all seeds are run anew");
            return Ok(Self { bits, ..Self::default() });
        }
        found.rows.retain(|name, row| {
            let same = planned.iter().any(|planned| planned.name == *name && planned.fingerprint == row.input);
            if !same {
                eprintln!("xtask: {FOUND} has {name:?} with other settings or data: its seeds are run anew");
            }
            same
        });
        Ok(found)
    }

    /// Returns the number of seeds that a row has.
    fn runs(&self, row: &Planned) -> u64 {
        self.rows.get(&row.name).map_or(0, |row| row.sweep.runs)
    }

    /// Adds what was found of more seeds of a row.
    fn add(&mut self, planned: &Planned, sweep: &Sweep) {
        let row = self.rows.entry(planned.name.clone()).or_default();
        *row = Row { input: planned.fingerprint.clone(), sweep: row.sweep.and(sweep) };
    }

    fn write(&self, root: &Path, planned: &[Planned]) -> Result<()> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        for (path, text) in [(FOUND, json), (TABLE, self.table(planned))] {
            let (path, new) = (root.join(path), root.join(format!("{path}.new")));
            std::fs::write(&new, text).with_context(|| new.display().to_string())?;
            std::fs::rename(&new, &path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    fn table(&self, planned: &[Planned]) -> String {
        let mut text = format!(
            "# Seeds\n\n\
             What `cargo xtask seeds` found (commits {}): runs of `octopus sample` with its default settings on the data\n\
             sets of this folder, seeds from 1 on, on the CPU. R-hat is the largest of all quantities of all runs, nested for\n\
             many short chains.\n\n\
             | data | strategy | runs | largest R-hat | 1.01 or above | above 1.05 | divergences | runs with any | \
             leapfrog steps of warm-up | of a draw |\n\
             |--|--|--|--|--|--|--|--|--|--|\n",
            self.commits.join(", ")
        );
        for (Planned { name, .. }, row) in planned.iter().filter_map(|row| Some((row, self.rows.get(&row.name)?))) {
            let (data, strategy) = name.split_once(' ').unwrap_or((name, ""));
            let Sweep { runs, largest_rhat, unfit, lost, divergences, diverging, .. } = row.sweep;
            let Sweep { warm_up_leapfrogs, leapfrogs_a_draw, .. } = row.sweep;
            let _ = writeln!(
                text,
                "| {data} | {strategy} | {runs} | {largest_rhat:.4} | {unfit} | {lost} | {divergences} | {diverging} | \
                 {warm_up_leapfrogs:.0} | {leapfrogs_a_draw:.1} |"
            );
        }
        text
    }
}

/// What `program` finds of these seeds; `None` where it fails.
fn sweep(root: &Path, program: &Path, planned: &Planned, seeds: &RangeInclusive<u64>) -> Result<Option<Sweep>> {
    let (first, last) = (seeds.start(), seeds.end());
    let mut octopus = Command::new(program);
    octopus.current_dir(root).args(["sweep", "--quiet", "--json"]).args(&planned.arguments);
    octopus.args(["--seed", &first.to_string(), "--seeds", &(last - first + 1).to_string()]);
    eprintln!("xtask: $ {}", run::show(&octopus));
    let output = octopus.stderr(Stdio::inherit()).output().context("cannot start the program")?;
    // 1 says that chains were lost: so does the table.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Ok(None);
    }
    let report: Report = serde_json::from_slice(&output.stdout).context("octopus sweep --json")?;
    ensure!(report.sweep.runs == last - first + 1, "{} made {} of these runs", run::show(&octopus), report.sweep.runs);
    Ok(Some(report.sweep))
}

/// One command and what the table calls it: `data strategy`.
#[derive(Debug)]
struct Planned {
    name: String,
    arguments: Vec<String>,
    /// The SHA-256 of the arguments and of the files that they name.
    fingerprint: String,
}

impl Planned {
    fn data(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// Every data set with every strategy, and Rubin's schools.
fn sweeps(root: &Path) -> Result<Vec<Planned>> {
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.to_owned()).collect() };
    let mut planned = Vec::new();
    for data in data_sets(root)? {
        let name = data.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let config = format!("benchmarks/seeds/{name}.toml");
        for strategy in STRATEGIES {
            let arguments = words(&["hierarchical-normal", "--config", &config, "--strategy", strategy]);
            let name = format!("{name} {strategy}");
            planned.push(Planned { name, fingerprint: fingerprint(root, &arguments, Some(&data))?, arguments });
        }
    }
    let arguments = words(&["eight-schools", "--strategy", "four-long", "--target-accept", "0.95", "--draws", "5000"]);
    let name = "schools four-long".to_owned();
    planned.push(Planned { name, fingerprint: fingerprint(root, &arguments, None)?, arguments });
    Ok(planned)
}

/// Returns the SHA-256 of the arguments, of the configuration, and of the table of data that it names.
fn fingerprint(root: &Path, arguments: &[String], config: Option<&Path>) -> Result<String> {
    let mut bytes = arguments.join("\n").into_bytes();
    if let Some(path) = config {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let settings: toml::Table = text.parse().with_context(|| path.display().to_string())?;
        bytes.extend(text.as_bytes());
        let file = settings.get("data").and_then(|data| data.get("file")?.get("path")?.as_str());
        if let Some(data) = file.map(|file| root.join(file)) {
            bytes.extend(std::fs::read(&data).with_context(|| data.display().to_string())?);
        }
    }
    Ok(sha256(&bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_a_number_and_data_sets() {
        let of = |seeds, data: &str| Ok(SeedsOptions { seeds, data: words(data) });
        assert_eq!(SeedsOptions::parse(&[]), of(SEEDS, ""));
        assert_eq!(SeedsOptions::parse(&words("20000")), of(20_000, ""));
        assert_eq!(SeedsOptions::parse(&words("--data zero,five 20")), of(20, "zero five"));
        for bad in ["0", "-1", "many", "--datum"] {
            assert!(SeedsOptions::parse(&words(bad)).unwrap_err().contains(bad), "{bad}");
        }
        assert!(SeedsOptions::parse(&words("20 --data")).unwrap_err().contains("names of data sets"));
    }

    #[test]
    fn every_data_set_meets_every_strategy() {
        let planned = sweeps(&crate::place::root()).unwrap();
        let files = data_sets(&crate::place::root()).unwrap().len();
        assert!(files >= 10, "{files} data sets");
        assert_eq!(planned.len(), STRATEGIES.len() * files + 1);
        assert!(planned.iter().any(|sweep| sweep.name == "single many-short"));
    }

    #[test]
    fn blocks_go_on_to_the_last_seed() {
        assert_eq!(next_block(0, 1), Some(1..=1));
        assert_eq!(next_block(0, 500), Some(1..=500));
        assert_eq!(next_block(1000, 1001), Some(1001..=1001));
        assert_eq!(next_block(750, 5000), Some(751..=1250));
        assert_eq!(next_block(1000, 1000), None);
        assert_eq!(next_block(2000, 1000), None, "what is done stays");
    }

    /// A folder with the recorded bits and one data set, `zero`, whose table is `zero.csv`.
    fn scenario(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("octopus-seeds-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("benchmarks/seeds")).unwrap();
        std::fs::create_dir_all(root.join("kernels")).unwrap();
        std::fs::write(root.join(BITS), "bits").unwrap();
        std::fs::write(root.join("benchmarks/seeds/zero.toml"), "data.file.path = \"zero.csv\"").unwrap();
        std::fs::write(root.join("zero.csv"), "group,value").unwrap();
        root
    }

    /// What one machine has found another goes on with, unless the recorded bits, the settings or the data are others.
    #[test]
    fn what_was_found_is_kept_while_bits_and_input_stay() {
        let root = scenario("kept");
        let planned = sweeps(&root).unwrap();
        let [zero, schools] = [&planned[2], &planned[4]];
        assert_eq!([zero.name.as_str(), schools.name.as_str()], ["zero auto", "schools four-long"]);
        let mut found = Found::read(&root, &planned).unwrap();
        assert_eq!((found.rows.len(), found.runs(zero)), (0, 0));
        found.add(zero, &Sweep { runs: 500, largest_rhat: 1.004, ..Sweep::default() });
        found.add(schools, &Sweep { runs: 3, largest_rhat: f64::INFINITY, ..Sweep::default() });
        found.write(&root, &planned).unwrap();
        assert_eq!(Found::read(&root, &planned).unwrap(), found);
        found.add(zero, &Sweep { runs: 500, ..Sweep::default() });
        found.write(&root, &planned).unwrap();

        let counts = || {
            let planned = sweeps(&root).unwrap();
            let again = Found::read(&root, &planned).unwrap();
            [again.runs(&planned[2]), again.runs(&planned[4])]
        };
        assert_eq!(counts(), [1000, 3]);
        let config = root.join("benchmarks/seeds/zero.toml");
        for (path, other) in [(config, "data.file.path = \"zero.csv\" # other"), (root.join("zero.csv"), "other")] {
            let before = std::fs::read(&path).unwrap();
            std::fs::write(&path, other).unwrap();
            assert_eq!(counts(), [0, 3], "{}", path.display());
            std::fs::write(&path, before).unwrap();
            assert_eq!(counts(), [1000, 3]);
        }
        std::fs::write(root.join(BITS), "other bits").unwrap();
        assert_eq!(counts(), [0, 0]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    /// The files that a sweep writes itself do not make its program another one.
    #[test]
    fn results_do_not_make_a_commit_dirty() {
        let root = scenario("commit");
        let git = |line: &str| run::git(&root, &line.split(' ').collect::<Vec<_>>()).unwrap();
        git("init --quiet");
        git("add .");
        git("-c user.name=a -c user.email=a@example.org commit --quiet -m first");
        let first = git("rev-parse --short HEAD");
        assert_eq!(commit(&root).unwrap(), first);
        std::fs::write(root.join(FOUND), "found").unwrap();
        std::fs::write(root.join(TABLE), "table").unwrap();
        assert_eq!(commit(&root).unwrap(), first);
        std::fs::write(root.join("zero.csv"), "other").unwrap();
        assert_eq!(commit(&root).unwrap(), format!("{first}-dirty"));
        std::fs::remove_dir_all(&root).unwrap();
    }

    /// A program that makes fewer runs than it was asked for is not counted; one that ends with 2 is a failure.
    #[cfg(unix)]
    #[test]
    fn a_program_that_makes_fewer_runs_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let root = scenario("fewer");
        let planned = sweeps(&root).unwrap();
        let program = root.join("program");
        let tell = |runs: u64, code: u8| {
            let sweep = Sweep { runs, ..Sweep::default() };
            let report = serde_json::json!({ "sweep": sweep });
            std::fs::write(&program, format!("#!/bin/sh\necho '{report}'\nexit {code}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            super::sweep(&root, &program, &planned[0], &(501..=510))
        };
        assert_eq!(tell(10, 0).unwrap().unwrap().runs, 10);
        assert_eq!(tell(10, 1).unwrap().unwrap().runs, 10, "chains that were lost are told by the table");
        assert_eq!(tell(10, 2).unwrap(), None);
        let error = tell(9, 0).unwrap_err().to_string();
        assert!(error.contains("--seed 501 --seeds 10 made 9 of these runs"), "{error}");
        std::fs::remove_dir_all(&root).unwrap();
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
        let planned = Planned { name: "zero auto".to_owned(), arguments: Vec::new(), fingerprint: "f".to_owned() };
        let mut found = Found { commits: vec!["abc1234".to_owned(), "def".to_owned()], ..Found::default() };
        found.add(&planned, &first);
        found.add(&planned, &second);
        let text = found.table(&[planned]);
        assert!(text.contains("(commits abc1234, def):"), "{text}");
        assert!(text.ends_with("| zero | auto | 400 | 1.2000 | 3 | 1 | 8 | 4 | 65221 | 13.0 |\n"), "{text}");
    }
}
