//! Compares every kernel on fixed inputs with the CPU and with a record, bit for bit: `octopus device exact`.

use super::expected::{Expected, ptx_sha256};
use super::of_cuda;
use crate::error::BenchError;
use octopus_device::DeviceIdentity;
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_fitness::{ExactRow, ExactSize, exact_kernels};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// What is compared, here and in [`runs`](crate::runs).
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactOptions<'a> {
    /// The N of cuda:N.
    pub device: u32,
    /// Little work, for tools that slow kernels down.
    pub small: bool,
    /// A record to compare with, too.
    pub expected: Option<&'a Path>,
    /// The file to which the results are recorded.
    pub record: Option<&'a Path>,
}

/// The comparison of one kernel's result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KernelRow {
    pub(crate) name: String,
    n: usize,
    pub(crate) hash: String,
    pub(crate) cpu: String,
    /// The recorded hash; `None` without `--expected`, or when the file does not have it.
    pub(crate) expected: Option<String>,
    equal: bool,
}

/// All kernels' results, compared.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelBits {
    schema: u32,
    pub(crate) device: DeviceIdentity,
    pub(crate) ptx_sha256: String,
    pub(crate) kernels: Vec<KernelRow>,
    equal: bool,
    /// Differences other than those in the rows.
    problems: Vec<String>,
}

impl KernelBits {
    /// Whether everything is equal, bit for bit.
    pub fn equal(&self) -> bool {
        self.equal
    }
}

impl fmt::Display for KernelBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

/// Runs all kernels and compares.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be used.
pub fn run(args: &ExactOptions<'_>) -> Result<KernelBits, BenchError> {
    let expected = args.expected.map(Expected::read).transpose()?;
    let size = if args.small { ExactSize::Small } else { ExactSize::Full };
    let report = exact_kernels(args.device, size).map_err(of_cuda)?;
    if let Some(path) = args.record {
        if let Some(row) = report.rows.iter().find(|row| !row.equal()) {
            let what = format!("nothing is recorded: {} of {} differs from the CPU's result", row.name, row.n);
            return Err(BenchError::Contradiction(what));
        }
        Expected::of(&report.rows).write(path)?;
    }
    Ok(judge(report.device, report.rows, expected.as_ref(), args.small))
}

fn judge(device: DeviceIdentity, rows: Vec<ExactRow>, expected: Option<&Expected>, small: bool) -> KernelBits {
    let mut recorded = expected.map(Expected::hashes);
    let mut problems = Vec::new();
    if let Some(expected) = expected.filter(|expected| expected.ptx_sha256 != ptx_sha256()) {
        let then = expected.ptx_sha256.get(..16).unwrap_or(&expected.ptx_sha256);
        problems.push(format!("the results were recorded for another PTX (SHA-256 {then}...): record them again"));
    }
    let compare = |row: ExactRow| {
        let hash = recorded.as_mut().map(|recorded| recorded.remove(&(row.name.clone(), row.n)));
        // Without a file there is nothing to compare with; in a file that lacks the row, something is missing.
        let as_recorded = hash.as_ref().is_none_or(|hash| hash.as_ref() == Some(&row.hash));
        KernelRow {
            expected: hash.flatten(),
            equal: row.equal() && as_recorded,
            name: row.name,
            n: row.n,
            hash: row.hash,
            cpu: row.cpu,
        }
    };
    let kernels: Vec<KernelRow> = rows.into_iter().map(compare).collect();
    let left: Vec<String> = recorded.unwrap_or_default().keys().map(|(name, n)| format!("{name} of {n}")).collect();
    if !left.is_empty() && !small {
        problems.push(format!("recorded, but not computed: {}", left.join(", ")));
    }
    let equal = problems.is_empty() && kernels.iter().all(|row| row.equal);
    KernelBits { schema: 1, device, ptx_sha256: ptx_sha256(), kernels, equal, problems }
}

fn text(answer: &KernelBits) -> String {
    let device = &answer.device;
    let mut text = format!("{}, compute capability {}\n", device.name, device.compute_capability);
    let [words, number] = [TextColumn::left(""), TextColumn::right("")];
    let columns = [words, words, number, words, words, words];
    let cells = |row: &KernelRow| {
        let word = if row.equal { "equal" } else { "DIFFERS" };
        let other = |hash: &&String| **hash != row.hash;
        [
            word.to_owned(),
            row.name.clone(),
            row.n.to_string(),
            row.hash.clone(),
            Some(&row.cpu).filter(other).map(|cpu| format!("on the CPU {cpu}")).unwrap_or_default(),
            row.expected.as_ref().filter(other).map(|hash| format!("recorded {hash}")).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = answer.kernels.iter().map(cells).collect();
    text += &text_table(&columns, &rows, TableLook::default());
    for problem in &answer.problems {
        text += &format!("DIFFERS  {problem}\n");
    }
    let equal = answer.kernels.iter().filter(|row| row.equal).count();
    text += &format!("{equal} of {} results are equal, bit for bit", answer.kernels.len());
    if device.test_double {
        text += " (on a test double: this says nothing of a GPU)";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::Version;

    fn device() -> DeviceIdentity {
        DeviceIdentity {
            name: "Scripted".into(),
            uuid: None,
            compute_capability: Version { major: 8, minor: 0 },
            driver: None,
            cuda: Version { major: 12, minor: 4 },
            test_double: false,
        }
    }

    fn rows(hashes: [&str; 2]) -> Vec<ExactRow> {
        let row =
            |n: usize, hash: &str| ExactRow { name: "array_add_f32".into(), n, hash: hash.into(), cpu: "a".into() };
        vec![row(1, hashes[0]), row(9, hashes[1])]
    }

    #[test]
    fn the_cpu_and_the_record_must_both_agree() {
        assert!(judge(device(), rows(["a", "a"]), None, false).equal);
        assert!(!judge(device(), rows(["a", "b"]), None, false).equal);
        let record = Expected::of(&rows(["a", "a"]));
        assert!(judge(device(), rows(["a", "a"]), Some(&record), false).equal);
        let other = Expected::of(&rows(["a", "c"]));
        let answer = judge(device(), rows(["a", "a"]), Some(&other), false);
        assert!(!answer.equal && answer.kernels[0].equal && !answer.kernels[1].equal);
        assert!(text(&answer).contains("DIFFERS  array_add_f32  9  a  recorded c"), "{}", text(&answer));
    }

    #[test]
    fn a_record_must_have_the_same_rows_but_for_a_small_run() {
        let record = Expected::of(&rows(["a", "a"]));
        let first = || rows(["a", "a"])[..1].to_vec();
        assert!(!judge(device(), first(), Some(&record), false).equal);
        assert!(judge(device(), first(), Some(&record), true).equal);
        let short = Expected::of(&first());
        assert!(!judge(device(), rows(["a", "a"]), Some(&short), false).equal);
    }

    #[test]
    fn a_record_of_another_ptx_is_no_record() {
        let mut record = Expected::of(&rows(["a", "a"]));
        record.ptx_sha256 = "0".repeat(64);
        let answer = judge(device(), rows(["a", "a"]), Some(&record), false);
        assert!(!answer.equal && answer.problems[0].contains("another PTX"));
    }
}
