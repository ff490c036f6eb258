//! The recorded results of the kernels, in `kernels/expected.json`.

use crate::error::BenchError;
use octopus_device::PTX;
use octopus_files::write_named;
use octopus_fitness::ExactRow;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the file's format.
const SCHEMA: u32 = 1;

/// The results that the kernels of one PTX give on the fixed inputs, on every sound device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    schema: u32,
    /// The SHA-256 of the PTX.
    pub(super) ptx_sha256: String,
    kernels: Vec<Recorded>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    name: String,
    n: usize,
    hash: String,
}

/// Returns the SHA-256 of the PTX in this program, in hexadecimal digits.
pub(super) fn ptx_sha256() -> String {
    Sha256::digest(PTX.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Expected {
    /// Makes a record of these results.
    pub(super) fn of(rows: &[ExactRow]) -> Self {
        let recorded = |row: &ExactRow| Recorded { name: row.name.clone(), n: row.n, hash: row.hash.clone() };
        Self { schema: SCHEMA, ptx_sha256: ptx_sha256(), kernels: rows.iter().map(recorded).collect() }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a record in a format that this program knows.
    pub(super) fn read(path: &Path) -> Result<Self, BenchError> {
        let expected: Self = read_record(path, "octopus device exact --record")?;
        let again = "record it again with `octopus device exact --record`";
        check_schema(path, (expected.schema, SCHEMA), again).map(|()| expected)
    }

    /// Writes the record with one kernel a line, so that changes are easy to read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<(), BenchError> {
        let (schema, ptx, lines) = (self.schema, &self.ptx_sha256, lines(&self.kernels)?);
        let text =
            format!("{{\n  \"schema\": {schema},\n  \"ptx_sha256\": {ptx:?},\n  \"kernels\": [\n{lines}\n  ]\n}}\n");
        Ok(write_named(path, text.as_bytes())?)
    }

    /// Returns the recorded hashes by kernel and size.
    pub(super) fn hashes(&self) -> BTreeMap<(String, usize), String> {
        self.kernels.iter().map(|row| ((row.name.clone(), row.n), row.hash.clone())).collect()
    }
}

/// Reads what `command` has recorded.
///
/// # Errors
/// When the file cannot be read, or is no such record.
pub(super) fn read_record<T: DeserializeOwned>(path: &Path, command: &str) -> Result<T, BenchError> {
    let text = std::fs::read_to_string(path).map_err(BenchError::io("read", path))?;
    serde_json::from_str(&text).map_err(BenchError::json(|| format!("{} is no record of `{command}`", path.display())))
}

/// # Errors
/// When a record has another schema than the one wanted; `advice` says what to do.
pub(super) fn check_schema(path: &Path, (found, wanted): (u32, u32), advice: &'static str) -> Result<(), BenchError> {
    if found == wanted { Ok(()) } else { Err(BenchError::Schema { path: path.to_owned(), found, wanted, advice }) }
}

/// Returns the rows of a record, one a line.
pub(super) fn lines(rows: &[impl Serialize]) -> Result<String, BenchError> {
    let lines = rows.iter().map(|row| serde_json::to_string(row).map(|row| format!("    {row}")));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let row = |name: &str, n| ExactRow { name: name.into(), n, hash: "0f".into(), cpu: "0f".into() };
        let expected = Expected::of(&[row("array_add_f32", 1), row("matmul_f64", 16)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expected.json");
        expected.write(&path).unwrap();
        assert_eq!(Expected::read(&path).unwrap(), expected);
        assert_eq!(expected.hashes()[&("matmul_f64".to_owned(), 16)], "0f");
        std::fs::write(&path, "{\"schema\": 9, \"ptx_sha256\": \"\", \"kernels\": []}").unwrap();
        assert!(Expected::read(&path).unwrap_err().to_string().contains("schema 9"));
    }

    #[test]
    fn the_hash_is_that_of_the_manifest() {
        let manifest = include_str!("../../../kernels/ptx/manifest.toml");
        assert!(manifest.contains(&format!("ptx = \"{}\"", ptx_sha256())));
    }
}
