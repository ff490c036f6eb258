//! The data sets of a batch: their names, seeds and folders, and how far their runs are.
//!
//! Their order, and which of them belong to a part (`--part`), are decided here; `WorkPart` (`share/part.rs`) counts.

use crate::args::SampleArgs;
use crate::config::RunConfig;
use crate::exit::UsageError;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use octopus::model_record;
use octopus_density::LogDensity;
use octopus_diag::counted;
use octopus_formats::observations::{DataTable, ObservationsError};
use octopus_models::{Model, Problem, RowFilter, TableFile};
use octopus_random::philox4x32_10;
use octopus_runs::{Init, RunFolder, RunRecord, RunStatus, RunWriter, is_vacant};
use octopus_sampler::{Begin, SamplerConfig};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A data set of a batch.
pub(super) struct Set {
    /// Its number among all of the batch, from 0.
    pub(super) number: usize,
    /// The name of the data set: the file's name without its extension, or the label in the table.
    pub(super) name: String,
    /// The run folder of the data set.
    pub(super) dir: PathBuf,
    /// The settings of the run, including its own seed.
    pub(super) config: SamplerConfig,
    /// The model with the data; `None` where the data cannot be used.
    pub(super) problem: Option<Arc<dyn Problem>>,
    pub(super) state: SetState,
}

/// The state of a data set's run.
pub(super) enum SetState {
    /// The run is to be drawn from this point on, into a folder that may have been begun.
    Open(Begin, Option<Box<RunWriter>>),
    /// The run has all its draws.
    Complete(Box<RunRecord>),
    /// The run has failed, with this error.
    Failed(String),
}

impl SetState {
    /// Returns whether nothing is left to be drawn.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self, Self::Open(..))
    }
}

impl Set {
    /// Returns the same data set with a run that is to be drawn from its beginning.
    pub(super) fn to_draw(&self) -> Self {
        let (name, dir, config) = (self.name.clone(), self.dir.clone(), self.config.clone());
        let state = SetState::Open(Begin::Anew(config.clone()), None);
        Self { number: self.number, name, dir, config, problem: self.problem.clone(), state }
    }

    /// Returns the density, unless the data cannot be used.
    pub(super) fn density(&self) -> Option<&dyn LogDensity> {
        self.problem.as_ref().map(|problem| problem.density())
    }
}

/// Returns the seed of data set `number` (from 0, in the order of names) of a batch: the first 53 bits of Philox4x32-10
/// with the batch's seed as the key and the counter (number, 0, 0, 0), which no run uses. The seed has 53 bits so that
/// every program that reads the files reads it whole.
fn seed(batch: u64, number: usize) -> u64 {
    let number = number as u64;
    let [low, high, ..] =
        philox4x32_10([number as u32, (number >> 32) as u32, 0, 0], [batch as u32, (batch >> 32) as u32]);
    (u64::from(high) << 32 | u64::from(low)) >> 11
}

/// Reads the data sets of a folder or a table, in the order of their names. If the command line asks for a part of
/// them, only the data sets of this part are returned; beside them is the number of all.
///
/// # Errors
/// When there are no data sets, or the folder or the table cannot be read.
pub(super) fn read(
    source: &Path,
    args: &SampleArgs,
    config: &RunConfig,
    model: &dyn Model,
    out: &Path,
) -> Result<(Vec<Set>, usize)> {
    let file = |path: &Path, only| args.data.table(path, only, &config.columns);
    std::fs::metadata(source).with_context(|| format!("--batch: cannot read {}", source.display()))?;
    // A file is read when its model is built.
    let found: Vec<(String, TableFile, Result<Option<DataTable>>)> = match (&args.batch.batch_by, source.is_dir()) {
        (None, true) => tables(source)?.into_iter().map(|(name, path)| (name, file(&path, None), Ok(None))).collect(),
        (Some(column), false) => {
            let whole = file(source, None);
            let columns = model.columns(&config.settings)?;
            let found = whole.read_sets(&columns, column)?;
            if found.without_set > 0 {
                let rows = counted(found.without_set, "row");
                output::warn(format!("{}: {rows} without a value in `{column}` left out", source.display()));
            }
            let one = |(label, data): (String, Result<DataTable, ObservationsError>)| {
                let rows = RowFilter { column: column.clone(), label: label.clone() };
                (label, TableFile { only: Some(rows), ..whole.clone() }, data.map(Some).map_err(Into::into))
            };
            let mut found: Vec<_> = found.sets.into_iter().map(one).collect();
            found.sort_by(|a, b| by_name(&a.0, &b.0));
            found
        }
        (Some(_), true) => {
            let why = format!("--batch-by: {} is a folder, whose files are the data sets", source.display());
            return Err(UsageError(why).into());
        }
        (None, false) => {
            let why = format!(
                "--batch: {} is no folder; for one table of many data sets, --batch-by names the column that tells them apart",
                source.display()
            );
            return Err(UsageError(why).into());
        }
    };
    let set = |(number, (name, source, data)): (usize, (String, TableFile, Result<Option<DataTable>>))| {
        let problem = data.and_then(|table| config.problem_of(model, &source, table));
        let sampler = SamplerConfig { seed: seed(config.sampler.seed, number), ..config.sampler.clone() };
        let (problem, state) = match problem {
            Ok(problem) => (Some(problem), SetState::Open(Begin::Anew(sampler.clone()), None)),
            Err(error) => (None, SetState::Failed(output::chain(&error))),
        };
        Set { number, dir: out.join("sets").join(folder(&name)), name, config: sampler, problem, state }
    };
    let mine = |number| args.share.part.is_none_or(|part| part.has(number));
    if !(0..found.len()).any(mine) {
        let why = format!("--part: there are {} data sets, and none is in this part", found.len());
        return Err(UsageError(why).into());
    }
    let all = found.len();
    Ok((found.into_iter().enumerate().filter(|(number, _)| mine(*number)).map(set).collect(), all))
}

/// Lists the files of a folder by their names without extension; hidden files are left out.
fn tables(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let shown = folder.display();
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read the folder {shown}"))? {
        let path = entry.with_context(|| format!("cannot read the folder {shown}"))?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !path.is_file() || stem.starts_with('.') {
            continue;
        }
        if let Some(other) = found.insert(stem.clone(), path.clone()) {
            bail!("{} and {} are both called `{stem}`: rename one", other.display(), path.display());
        }
    }
    if found.is_empty() {
        bail!("{shown} holds no files: it needs one CSV or Parquet file for each data set");
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|a, b| by_name(&a.0, &b.0));
    Ok(found)
}

/// Compares names for sorting: whole numbers by their values and before words, words by their bytes.
fn by_name(a: &str, b: &str) -> std::cmp::Ordering {
    let key = |name: &str| name.parse::<i64>().map_or((1, 0), |number| (0, number));
    key(a).cmp(&key(b)).then_with(|| a.cmp(b))
}

/// Returns the name of a data set's folder, which every file system takes and which differs for each name: characters
/// other than letters, digits, `-`, `_` and inner `.` are written as their bytes.
fn folder(name: &str) -> String {
    let plain = |at: usize, byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || byte == b'.' && at > 0;
    let one =
        |(at, byte): (usize, u8)| if plain(at, byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().enumerate().map(one).collect()
}

/// Gives every data set the strategy and chains that were chosen for the batch. Its seed stays its own.
pub(super) fn settle(sets: &mut [Set], chosen: &SamplerConfig) {
    for set in sets {
        set.config = SamplerConfig { seed: set.config.seed, ..chosen.clone() };
        if let SetState::Open(begin, _) = &mut set.state {
            *begin = Begin::Anew(set.config.clone());
        }
    }
}

/// Takes up the runs that are in their folders already; with `force` they are begun again. Where strategy and chains are
/// chosen by the machine (`auto`), a run goes on with those that were chosen when it began.
///
/// # Errors
/// When folders hold runs of other settings or data, or are damaged; each is named.
pub(super) fn take_up(sets: &mut [Set], force: bool, auto: bool, init: &Init) -> Result<()> {
    let mut failed = Vec::new();
    for set in sets.iter_mut().filter(|set| !force && set.dir.exists()) {
        failed.extend(set.take_up(auto, init).err());
    }
    let Some(first) = failed.pop() else { return Ok(()) };
    if failed.is_empty() {
        return Err(first);
    }
    failed.push(first);
    let is_usage = failed.iter().all(|error| error.is::<UsageError>());
    let lines: Vec<String> = failed.iter().map(output::chain).collect();
    let why = format!("{} cannot be taken up:\n{}", counted(lines.len(), "run"), lines.join("\n"));
    if is_usage { Err(UsageError(why).into()) } else { Err(anyhow!(why)) }
}

impl Set {
    /// Checks that a run that was begun in its folder, if there is one, is of its settings and data.
    pub(super) fn check_begun(&self, init: &Init) -> Result<()> {
        match &self.problem {
            Some(problem) if self.dir.exists() && (RunFolder::is_run(&self.dir) || !is_vacant(&self.dir)?) => {
                self.check(&**problem, RunFolder::open(&self.dir)?.record(), init)
            }
            _ => Ok(()),
        }
    }

    fn check(&self, problem: &dyn Problem, record: &RunRecord, init: &Init) -> Result<()> {
        let same = record.sampler == self.config
            && record.init == *init
            && record.model == model_record(problem)
            && record.data.as_ref() == Some(problem.data());
        if same {
            return Ok(());
        }
        let why = format!(
            "--out: {} holds a run of other settings or data than this batch's: give another folder, or begin all runs \
             again with --force",
            self.dir.display()
        );
        Err(UsageError(why).into())
    }

    /// Takes up the run in its folder.
    fn take_up(&mut self, auto: bool, init: &Init) -> Result<()> {
        let (Some(problem), SetState::Open(..)) = (&self.problem, &self.state) else { return Ok(()) };
        // A batch that was killed before it had written the run's record has left nothing that could be taken up.
        if !RunFolder::is_run(&self.dir) && is_vacant(&self.dir)? {
            return Ok(());
        }
        let folder = RunFolder::open(&self.dir)?;
        let record = folder.record();
        if auto && !record.strategy_reason.is_empty() {
            let SamplerConfig { strategy, chains, superchains, draws, tune, .. } = record.sampler;
            self.config = SamplerConfig { strategy, chains, superchains, draws, tune, ..self.config.clone() };
        }
        self.check(&**problem, record, init)?;
        self.state = if record.status == RunStatus::Complete {
            RunWriter::clear_complete(&self.dir);
            SetState::Complete(Box::new(record.clone()))
        } else {
            let mut resumed = RunWriter::resume(&self.dir)?;
            let begin = resumed.state.take().map_or_else(|| Begin::Anew(self.config.clone()), Begin::GoOn);
            SetState::Open(begin, Some(Box::new(resumed.go_on()?)))
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use octopus_models::Registry;
    use octopus_runs::CreateOptions;
    use octopus_sampler::Strategy;
    use std::ffi::OsString;
    use std::fs;

    /// The data sets of a batch of this folder, with further options.
    fn sets_of(source: &Path, options: &[&str]) -> Result<Vec<Set>> {
        let words = ["octopus", "sample", "hierarchical-normal", "--group", "g", "--value", "y", "--out", "out"];
        let words = words.iter().chain(options).map(OsString::from).chain(["--batch".into(), source.into()]);
        let models = Registry::shipped();
        let Command::Sample(args) = Cli::read(models, words).unwrap().command else { panic!("another command") };
        let model = models.find("hierarchical-normal").unwrap();
        let config = RunConfig::from_args(&args, model, models)?;
        Ok(read(source, &args, &config, model, Path::new("out"))?.0)
    }

    #[test]
    fn each_file_of_a_folder_is_a_data_set_with_a_seed_and_a_folder_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(tables(dir.path()).unwrap_err().to_string().contains("holds no files"));
        for name in ["9.csv", "10.csv", "b.csv", ".hidden.csv"] {
            fs::write(at(name), "g,y\na,1\na,2\nb,4\nb,7\nc,3\nc,5\n").unwrap();
        }
        fs::write(at("torn.csv"), "g,y\na,one\n").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let facts = |sets: &[Set]| -> Vec<(String, PathBuf, u64, bool)> {
            let of = |set: &Set| (set.name.clone(), set.dir.clone(), set.config.seed, set.density().is_some());
            sets.iter().map(of).collect()
        };
        let expected = |number: usize, name: &str| {
            (name.to_owned(), Path::new("out/sets").join(name), seed(42, number), name != "torn")
        };
        let all = sets_of(dir.path(), &[]).unwrap();
        assert_eq!(facts(&all), [expected(0, "9"), expected(1, "10"), expected(2, "b"), expected(3, "torn")]);
        assert!(all.iter().all(|set| set.state.has_ended() == (set.name == "torn")));
        let part = sets_of(dir.path(), &["--part", "2/2"]).unwrap();
        assert_eq!(facts(&part), [expected(1, "10"), expected(3, "torn")]);
        assert!(sets_of(dir.path(), &["--part", "5/5"]).err().unwrap().is::<UsageError>());
        fs::write(at("b.parquet"), "").unwrap();
        assert!(tables(dir.path()).unwrap_err().to_string().contains("both called `b`"));
    }

    /// All that a machine chooses is off what the batch has; the rest is the batch's, and the seed the data set's.
    #[test]
    fn a_run_goes_on_with_what_was_chosen_when_it_began() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("all.csv");
        fs::write(&path, "s,g,y\n1,a,1\n1,a,2\n1,b,4\n1,b,7\n").unwrap();
        let mut sets = sets_of(&path, &["--batch-by", "s", "--seed", "5", "--max-depth", "7"]).unwrap();
        let of_batch = sets[0].config.clone();
        let (strategy, chains, superchains) = (Strategy::ManyShort, 24, 8);
        let chosen = SamplerConfig { strategy, chains, superchains, draws: 11, tune: 77, ..of_batch.clone() };
        settle(&mut sets, &SamplerConfig { seed: 1, ..chosen.clone() });
        let SetState::Open(Begin::Anew(begun), None) = &sets[0].state else { panic!("begun otherwise") };
        assert_eq!((&sets[0].config, begun), (&chosen, &chosen));

        (sets[0].config, sets[0].dir) = (of_batch, dir.path().join("run"));
        let problem = Arc::clone(sets[0].problem.as_ref().unwrap());
        let layout = problem.density().layout().clone();
        let mut record = RunRecord::new(model_record(&*problem), chosen.clone(), layout);
        (record.data, record.strategy_reason) = (Some(problem.data().clone()), "it was faster".to_owned());
        drop(RunWriter::create(&sets[0].dir, record, CreateOptions::default()).unwrap());
        assert!(take_up(&mut sets, false, false, &Init::Jitter).unwrap_err().is::<UsageError>());
        take_up(&mut sets, false, true, &Init::Jitter).unwrap();
        assert_eq!(sets[0].config, chosen);
    }

    #[test]
    fn folders_have_names_of_their_own() {
        for (name, expected) in [
            ("a-1_b.c", "a-1_b.c"),
            ("a.b", "a.b"),
            ("../x", "%2E.%2Fx"),
            ("a b", "a%20b"),
            ("a%20b", "a%2520b"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(folder(name), expected);
        }
    }

    #[test]
    fn numbers_come_in_their_order_and_before_words() {
        let mut names = ["b", "10", "-3", "9", "a", "007"];
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(names, ["-3", "007", "9", "10", "a", "b"]);
    }

    /// Checks Random123's known answer for a counter and a key of zeros: 6627e8d5 e169c58d.
    #[test]
    fn seeds_are_philoxs() {
        assert_eq!(seed(0, 0), 0xe169_c58d_6627_e8d5 >> 11);
        let seeds: std::collections::BTreeSet<u64> = (0..1000).flat_map(|k| [seed(42, k), seed(43, k)]).collect();
        assert_eq!(seeds.len(), 2000);
        assert!(seeds.iter().all(|&seed| seed < 1 << 53));
        // Batch and number have 64 bits each, the low ones first.
        let of = |number: [u32; 2], batch: [u32; 2]| {
            let [low, high, ..] = philox4x32_10([number[0], number[1], 0, 0], batch);
            (u64::from(high) * (1 << 32) + u64::from(low)) / 2048
        };
        assert_eq!(seed(7 << 32 | 5, 3 << 32 | 2), of([2, 3], [5, 7]));
    }

    #[test]
    fn runs_have_ended_when_they_are_complete_or_have_failed() {
        assert!(SetState::Failed("no data".to_owned()).has_ended());
        assert!(!SetState::Open(Begin::Anew(SamplerConfig::default()), None).has_ended());
    }

    #[test]
    fn a_part_of_a_table_is_a_data_set_that_reads_its_rows_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("all.csv");
        fs::write(&path, "study,g,y\nb,a,1\nb,a,2\n10,a,4\nb,c,7\n10,b,3\n10,b,5\n,a,9\n").unwrap();
        let options = ["--batch-by", "study", "--drop-missing", "--draws", "7", "--chains", "3", "--seed", "5"];
        let sets = sets_of(&path, &options).unwrap();
        let facts: Vec<_> = sets.iter().map(|set| (set.name.as_str(), set.config.clone())).collect();
        let base = SamplerConfig { draws: 7, chains: 3, ..crate::config::prd_sampler() };
        let expected = |number| SamplerConfig { seed: seed(5, number), ..base.clone() };
        assert_eq!(facts, [("10", expected(0)), ("b", expected(1))]);
        for set in &sets {
            let problem = set.problem.as_ref().unwrap();
            assert_eq!(problem.data().observations, 3);
            let only = &problem.settings()["data"]["file"]["only"];
            let rows = [&only["column"], &only["label"]].map(|word| word.as_str().unwrap());
            assert_eq!(rows, ["study", set.name.as_str()]);
        }
    }
}
