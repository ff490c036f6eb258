//! The recorded hashes of whole runs, in `kernels/expected-runs.json`.

use super::bits::Trail;
use crate::error::BenchError;
use crate::expected::{check_schema, lines, read_record};
use octopus_files::write_named;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the file's format.
const SCHEMA: u32 = 1;

/// The hashes of runs on every sound device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    schema: u32,
    runs: Vec<Recorded>,
}

/// The hashes of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    pub(super) name: String,
    /// The SHA-256 of all bits.
    pub(super) hash: String,
    /// The short hashes, of 4 digits for each iteration.
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
    pub(super) fn read(path: &Path) -> Result<Self, BenchError> {
        let record: Self = read_record(path, "octopus device exact --runs --record")?;
        check_schema(path, (record.schema, SCHEMA), "record the runs again").map(|()| record)
    }

    /// Writes the record with one run a line, so that changes are easy to read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<(), BenchError> {
        let (schema, lines) = (self.schema, lines(&self.runs)?);
        let text = format!("{{\n  \"schema\": {schema},\n  \"runs\": [\n{lines}\n  ]\n}}\n");
        Ok(write_named(path, text.as_bytes())?)
    }

    /// Returns the runs by their names.
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
