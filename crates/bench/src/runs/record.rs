//! The recorded hashes of whole runs and of expansions of draws, in `kernels/expected-runs.json`.

use super::bits::Trail;
use anyhow::{Context, Result, bail};
use octopus_files::write_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the file's format.
const SCHEMA: u32 = 1;

/// The hashes of runs and expansions on every sound device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    schema: u32,
    runs: Vec<Recorded>,
}

/// The hashes of one run or expansion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) name: String,
    /// The SHA-256 of all bits.
    pub(super) hash: String,
    /// The short hashes, of 4 digits for each iteration or row.
    pub(super) iterations: String,
    /// The short hashes, of 4 digits for each chain.
    pub(super) chains: String,
}

impl Recorded {
    pub(super) fn trail(&self) -> Trail {
        Trail { iterations: self.iterations.clone(), chains: self.chains.clone() }
    }
}

impl Record {
    pub(super) fn of(runs: Vec<Recorded>) -> Self {
        Self { schema: SCHEMA, runs }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a record in a format that this program knows.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let record: Self = serde_json::from_str(&text)
            .with_context(|| format!("{shown} is no record of `octopus device exact --runs --record`"))?;
        if record.schema != SCHEMA {
            bail!("{shown}: schema {} is not {SCHEMA}: record the runs again", record.schema);
        }
        Ok(record)
    }

    /// Writes the record with one run a line, so that changes are easy to read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let lines = self.runs.iter().map(|run| serde_json::to_string(run).map(|run| format!("    {run}")));
        let lines = lines.collect::<Result<Vec<_>, _>>()?.join(",\n");
        let text = format!("{{\n  \"schema\": {},\n  \"runs\": [\n{lines}\n  ]\n}}\n", self.schema);
        Ok(write_file(path, text.as_bytes())?)
    }

    /// Returns the runs and expansions by their names.
    pub(super) fn by_name(&self) -> BTreeMap<&str, &Recorded> {
        self.runs.iter().map(|run| (run.name.as_str(), run)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let run = Recorded { name: "a".into(), hash: "0f".into(), iterations: "0001".into(), chains: "0002".into() };
        let record = Record::of(vec![run.clone()]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.json");
        record.write(&path).unwrap();
        let read = Record::read(&path).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.by_name()["a"], &run);
        std::fs::write(&path, "{\"schema\": 9, \"runs\": []}").unwrap();
        assert!(Record::read(&path).unwrap_err().to_string().contains("schema 9"));
    }
}
