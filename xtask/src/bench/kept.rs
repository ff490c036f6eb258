//! Times of criterion's benchmarks in a file, and their comparison with another day's.

use crate::aligned::aligned;
use crate::run::git;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The version of the file.
const SCHEMA: u32 = 1;

/// The times of a run, with what they depend on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct KeptTimes {
    schema: u32,
    commit: String,
    cpu: String,
    threads: usize,
    /// The time of each benchmark by its name.
    pub(super) benchmarks: BTreeMap<String, MedianTime>,
}

/// The median of a benchmark's times and criterion's 95 % interval for it, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct MedianTime {
    median_s: f64,
    low_s: f64,
    high_s: f64,
}

/// What a comparison found.
pub(super) struct TimesComparison {
    /// A table, and a line that says what it means.
    pub(super) text: String,
    /// The number of benchmarks that are slower than the limit allows.
    pub(super) slower: usize,
}

impl KeptTimes {
    /// Reads what criterion has measured in the target folder since `start`.
    ///
    /// # Errors
    /// When a file of criterion cannot be read.
    pub(super) fn of_criterion(root: &Path, start: SystemTime) -> Result<Self> {
        let mut benchmarks = BTreeMap::new();
        find(&crate::place::target(root).join("criterion"), start, &mut benchmarks)?;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|(_, cpu)| cpu);
        Ok(Self {
            schema: SCHEMA,
            commit: git(root, &["rev-parse", "HEAD"]).unwrap_or_else(|_| "unknown".to_owned()),
            cpu: cpu.unwrap_or("unknown").trim().to_owned(),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            benchmarks,
        })
    }

    /// Reads a kept file.
    ///
    /// # Errors
    /// When it cannot be read, or is none of ours.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let kept: Self = serde_json::from_str(&text)
            .with_context(|| format!("{}: not a file of `cargo xtask bench --keep`", file.display()))?;
        if kept.schema != SCHEMA {
            bail!("{}: schema {} is not known, only {SCHEMA}", file.display(), kept.schema);
        }
        Ok(kept)
    }

    /// Writes the file; it is never seen half written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let unfinished = file.with_extension("unfinished");
        let text = serde_json::to_string_pretty(self).context("cannot write JSON")? + "\n";
        fs::write(&unfinished, text)
            .and_then(|()| fs::rename(&unfinished, file))
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Compares these times with `earlier` ones. A benchmark is slower when its median is more than `limit` times the
    /// earlier one and the intervals do not meet; on another machine none is, since nothing can be said.
    pub(super) fn against(&self, earlier: &Self, limit: f64) -> TimesComparison {
        let same_machine = (&self.cpu, self.threads) == (&earlier.cpu, earlier.threads);
        let mut slower = 0;
        let mut rows = vec![["benchmark", "kept", "now", "ratio", ""].map(str::to_owned).to_vec()];
        for (name, now) in &self.benchmarks {
            let Some(then) = earlier.benchmarks.get(name) else {
                rows.push(vec![name.clone(), "-".to_owned(), time(now.median_s), String::new(), "new".to_owned()]);
                continue;
            };
            let ratio = now.median_s / then.median_s;
            let is_slower = same_machine && ratio > limit && now.low_s > then.high_s;
            slower += usize::from(is_slower);
            let word = if is_slower { "SLOWER" } else { "" };
            rows.push(vec![
                name.clone(),
                time(then.median_s),
                time(now.median_s),
                format!("{ratio:.3}"),
                word.to_owned(),
            ]);
        }
        let verdict = if same_machine {
            format!("{slower} of {} benchmarks are more than {limit} times as slow as kept", self.benchmarks.len())
        } else {
            format!(
                "the kept times are of another machine ({}, {} threads): the ratios tell nothing of the program",
                earlier.cpu, earlier.threads
            )
        };
        TimesComparison { text: format!("{}\n{verdict}\n", aligned(1, rows)), slower }
    }
}

/// Finds the results below a folder of criterion: `benchmark.json` and `estimates.json` in folders named `new`.
fn find(folder: &Path, start: SystemTime, found: &mut BTreeMap<String, MedianTime>) -> Result<()> {
    let estimates = folder.join("estimates.json");
    if folder.ends_with("new") && estimates.is_file() {
        if fs::metadata(&estimates)?.modified()? >= start {
            let (name, time) = read_result(folder).with_context(|| folder.display().to_string())?;
            found.insert(name, time);
        }
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, start, found)?;
        }
    }
    Ok(())
}

/// Reads the name and the times of one benchmark, which criterion keeps in nanoseconds.
fn read_result(folder: &Path) -> Result<(String, MedianTime)> {
    let json = |name: &str| -> Result<Value> { Ok(serde_json::from_str(&fs::read_to_string(folder.join(name))?)?) };
    let (benchmark, estimates) = (json("benchmark.json")?, json("estimates.json")?);
    let name = benchmark["full_id"].as_str().context("benchmark.json has no full_id")?;
    let median = &estimates["median"];
    let seconds =
        |value: &Value| Ok::<_, anyhow::Error>(1e-9 * value.as_f64().context("estimates.json has no median")?);
    let interval = &median["confidence_interval"];
    let time = MedianTime {
        median_s: seconds(&median["point_estimate"])?,
        low_s: seconds(&interval["lower_bound"])?,
        high_s: seconds(&interval["upper_bound"])?,
    };
    Ok((name.to_owned(), time))
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", 1e9 * s),
        s if s < 1e-3 => format!("{:.2} us", 1e6 * s),
        s if s < 1.0 => format!("{:.2} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(cpu: &str, times: &[(&str, f64)]) -> KeptTimes {
        let time = |s: f64| MedianTime { median_s: s, low_s: 0.98 * s, high_s: 1.02 * s };
        let benchmarks = times.iter().map(|(name, s)| ((*name).to_owned(), time(*s))).collect();
        KeptTimes { schema: SCHEMA, commit: "abc".to_owned(), cpu: cpu.to_owned(), threads: 2, benchmarks }
    }

    #[test]
    fn what_is_slower_than_the_limit_is_told() {
        let then = kept("A", &[("same", 1.0), ("within", 1.0), ("beyond", 1e-3)]);
        let now = kept("A", &[("same", 1.0), ("within", 1.0999), ("beyond", 1.1001e-3), ("new", 2e-7)]);
        let found = now.against(&then, 1.1);
        assert_eq!(found.slower, 1);
        let line = |name: &str| found.text.lines().find(|line| line.starts_with(name)).unwrap().trim().to_owned();
        assert!(line("beyond").ends_with("1.100  SLOWER") && line("beyond").contains("1.00 ms"), "{}", found.text);
        assert!(!line("within").contains("SLOWER") && line("new").contains("200.0 ns"), "{}", found.text);
        assert_eq!(then.against(&then, 1.0).slower, 0);
        // Beyond the limit, but the intervals meet.
        assert_eq!(kept("A", &[("same", 1.03)]).against(&then, 1.01).slower, 0);
    }

    #[test]
    fn another_machine_proves_nothing() {
        let found = kept("B", &[("same", 9.0)]).against(&kept("A", &[("same", 1.0)]), 1.1);
        assert_eq!(found.slower, 0);
        assert!(found.text.contains("another machine (A, 2 threads)"), "{}", found.text);
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_others_are_refused() {
        let file = std::env::temp_dir().join(format!("octopus-kept-{}.json", std::process::id()));
        let times = kept("A", &[("one", 0.1 + 0.2)]);
        times.write(&file).unwrap();
        assert_eq!(KeptTimes::read(&file).unwrap(), times);
        for (text, word) in [("{}", "not a file of"), ("", "not a file of")] {
            fs::write(&file, text).unwrap();
            assert!(format!("{:#}", KeptTimes::read(&file).unwrap_err()).contains(word));
        }
        fs::write(&file, serde_json::to_string(&KeptTimes { schema: 2, ..times }).unwrap()).unwrap();
        assert!(KeptTimes::read(&file).unwrap_err().to_string().contains("schema 2"));
        fs::remove_file(&file).unwrap();
        assert!(KeptTimes::read(&file).unwrap_err().to_string().starts_with("cannot read"));
    }

    #[test]
    fn results_of_criterion_are_found_by_their_names() {
        let folder = std::env::temp_dir().join(format!("octopus-criterion-{}", std::process::id()));
        let new = folder.join("gradient/100/new");
        fs::create_dir_all(&new).unwrap();
        fs::write(new.join("benchmark.json"), r#"{"full_id": "gradient/100"}"#).unwrap();
        let estimates = r#"{"median": {"point_estimate": 250.0, "confidence_interval": {"lower_bound": 240.0, "upper_bound": 260.0}}}"#;
        fs::write(new.join("estimates.json"), estimates).unwrap();
        let mut found = BTreeMap::new();
        find(&folder, SystemTime::UNIX_EPOCH, &mut found).unwrap();
        let time = found["gradient/100"];
        assert!(
            (time.median_s / 250e-9 - 1.0).abs() < 1e-12 && time.low_s < time.median_s && time.median_s < time.high_s
        );
        // What was measured before the start is of another run.
        let mut none = BTreeMap::new();
        find(&folder, SystemTime::now() + std::time::Duration::from_secs(60), &mut none).unwrap();
        assert!(none.is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
