//! A folder of results: `metadata.json`, `summary.csv`, `checks.csv`, a table for each framework, and the data.

use crate::SuiteError;
use crate::judge::PosteriorCheck;
use crate::peer::OCTOPUS;
use crate::row::{SuiteRow, read_table, write_table};
use crate::suite::Suite;
use crate::summary::{SuiteSummary, summarise};
use octopus_device::HostInfo;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The version of what the files say.
const SCHEMA: u32 = 1;
const METADATA: &str = "metadata.json";
const SUMMARY: &str = "summary.csv";
const CHECKS: &str = "checks.csv";
/// How the names of the folders of parts begin.
pub(crate) const PART: &str = "part-";

/// What was measured where: `metadata.json`, whose form is `benchmarks/results.schema.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuiteMetadata {
    /// The version of the form.
    pub schema: u32,
    /// The suite as it was run.
    pub suite: Suite,
    /// The suite's name.
    pub name: String,
    /// When it began, in UTC.
    pub begun: String,
    /// The machine.
    pub machine: HostInfo,
    /// The same for machines that are alike: only their times are compared.
    pub machine_id: String,
    /// Commit, compiler and version of Octopus.
    pub program: BTreeMap<String, String>,
    /// The frameworks that took part, with their versions.
    pub versions: BTreeMap<String, String>,
    /// The SHA-256 of the data in each file, as the record of a run has it.
    pub data: BTreeMap<String, String>,
}

/// The results of a suite.
#[derive(Clone, Debug)]
pub struct SuiteResults {
    /// Their folder.
    pub folder: PathBuf,
    /// What was measured where.
    pub metadata: SuiteMetadata,
    /// A row for each repetition.
    pub rows: Vec<SuiteRow>,
    /// What each posterior was held to.
    pub checks: Vec<PosteriorCheck>,
}

impl SuiteResults {
    /// Begins results of a suite in a folder.
    pub(crate) fn begin(folder: &Path, suite: &Suite, program: BTreeMap<String, String>) -> Self {
        let machine = HostInfo::read();
        let metadata = SuiteMetadata {
            schema: SCHEMA,
            name: suite.name.clone(),
            suite: suite.clone(),
            begun: octopus_runs::now_utc(),
            machine_id: machine_id(&machine),
            machine: HostInfo { memory_available: None, ..machine },
            program,
            versions: BTreeMap::new(),
            data: BTreeMap::new(),
        };
        Self { folder: folder.to_owned(), metadata, rows: Vec::new(), checks: Vec::new() }
    }

    /// Reads results.
    ///
    /// # Errors
    /// When a file is missing, or is of another version.
    pub fn open(folder: &Path) -> Result<Self, SuiteError> {
        let path = folder.join(METADATA);
        let text = std::fs::read_to_string(&path).map_err(SuiteError::io("read", &path))?;
        let mut metadata: SuiteMetadata =
            serde_json::from_str(&text).map_err(|error| SuiteError::file(&path, error.to_string()))?;
        if metadata.schema != SCHEMA {
            let what =
                format!("schema {} is not {SCHEMA}, which this program reads: run the suite again", metadata.schema);
            return Err(SuiteError::file(&path, what));
        }
        metadata.suite.name.clone_from(&metadata.name);
        let mut rows = Vec::new();
        for framework in &metadata.suite.frameworks {
            let path = folder.join(table_of(framework));
            if path.exists() {
                rows.extend(read_table::<SuiteRow>(&path)?);
            }
        }
        let checks: Vec<PosteriorCheck> = read_table(&folder.join(CHECKS))?;
        // Case by case, as they were measured.
        let places: HashMap<_, _> =
            checks.iter().enumerate().map(|(place, check)| ((&check.case, &check.framework), place)).collect();
        rows.sort_by_key(|row| places.get(&(&row.case, &row.framework)).copied());
        Ok(Self { folder: folder.to_owned(), metadata, rows, checks })
    }

    /// Reads the results in a folder; `None` where there are none. Results of parts are added and written, all in the order
    /// of `names`.
    ///
    /// # Errors
    /// When results cannot be read or written, or are of another suite, program or kind of machine.
    pub(crate) fn gathered(folder: &Path, names: &[String]) -> Result<Option<Self>, SuiteError> {
        let is_there = |folder: &Path| folder.join(METADATA).exists();
        let mut all = is_there(folder).then(|| Self::open(folder)).transpose()?;
        let io = || SuiteError::io("read", folder);
        let entries = folder.read_dir().map_err(io())?.collect::<Result<Vec<_>, _>>().map_err(io())?;
        let is_part = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PART));
        let mut parts: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).filter(is_part).collect();
        parts.retain(|part| is_there(part));
        parts.sort();
        for part in &parts {
            let part = Self::open(part)?;
            match &mut all {
                Some(all) => all.take(part)?,
                None => all = Some(Self { folder: folder.to_owned(), ..part }),
            }
        }
        if let Some(all) = all.as_mut().filter(|_| !parts.is_empty()) {
            let place = |case: &String| names.iter().position(|name| name == case);
            all.checks.sort_by_key(|check| place(&check.case));
            all.rows.sort_by_key(|row| place(&row.case));
            all.write()?;
        }
        Ok(all)
    }

    /// Whether the case of this name was run.
    pub(crate) fn has(&self, case: &str) -> bool {
        self.checks.iter().any(|check| check.case == case)
    }

    /// Takes the cases of another one that are not here.
    fn take(&mut self, other: Self) -> Result<(), SuiteError> {
        let Self { folder, metadata: theirs, rows, checks } = other;
        let own = &self.metadata;
        for (what, own, theirs) in [
            ("the suite", &own.name, &theirs.name),
            ("machines like", &own.machine_id, &theirs.machine_id),
            ("programs", &format!("{:?}", own.program), &format!("{:?}", theirs.program)),
        ] {
            if own != theirs {
                let what = format!("its results are of {what} {theirs}, the others of {own}: run it there anew");
                return Err(SuiteError::file(&folder, what));
            }
        }
        let rows: Vec<SuiteRow> = rows.into_iter().filter(|row| !self.has(&row.case)).collect();
        let checks: Vec<PosteriorCheck> = checks.into_iter().filter(|check| !self.has(&check.case)).collect();
        self.rows.extend(rows);
        self.checks.extend(checks);
        self.metadata.versions.extend(theirs.versions);
        self.metadata.data.extend(theirs.data);
        self.metadata.suite.add_frameworks(&theirs.suite.frameworks);
        Ok(())
    }

    /// Returns a line for each framework in each case.
    pub fn summary(&self) -> Vec<SuiteSummary> {
        summarise(&self.rows)
    }

    /// Returns how many times as many effective draws a second Octopus makes as each other framework, in each case of a program
    /// that both have passed, with the words for it.
    pub fn beside_octopus(&self, program: &str) -> Vec<(String, f64)> {
        let summary = self.summary();
        let beside = |line: &SuiteSummary| {
            let own = |other: &&SuiteSummary| other.case == line.case && other.framework == OCTOPUS;
            let ratio = summary.iter().find(own)?.ess_per_second? / line.ess_per_second?;
            let size = line.n.map(|n| format!("{n} groups, ")).unwrap_or_default();
            let versions = self.metadata.versions.get(&line.framework).map_or("", String::as_str);
            let SuiteSummary { framework, method, threads, .. } = line;
            Some((format!("{size}{method}, {threads} core(s): {framework} ({versions})"), ratio))
        };
        let others = summary.iter().filter(|line| line.program == program && line.framework != OCTOPUS);
        others.filter_map(beside).collect()
    }

    /// Writes all files, each whole or not at all.
    pub(crate) fn write(&self) -> Result<(), SuiteError> {
        let path = self.folder.join(METADATA);
        let mut text =
            serde_json::to_string_pretty(&self.metadata).map_err(|error| SuiteError::file(&path, error.to_string()))?;
        text.push('\n');
        octopus_files::write_named(&path, text.as_bytes())?;
        for framework in &self.metadata.suite.frameworks {
            let own: Vec<&SuiteRow> = self.rows.iter().filter(|row| row.framework == *framework).collect();
            write_table(&self.folder.join(table_of(framework)), &own)?;
        }
        write_table(&self.folder.join(CHECKS), &self.checks)?;
        write_table(&self.folder.join(SUMMARY), &self.summary())
    }
}

fn table_of(framework: &str) -> String {
    format!("{framework}.csv")
}

/// Returns a name that machines of one kind share: processor and cores.
fn machine_id(machine: &HostInfo) -> String {
    let processor = machine.cpu.as_deref().unwrap_or(&machine.architecture);
    let words = processor.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}-{}-cores", words.collect::<Vec<_>>().join("-"), machine.threads)
}
