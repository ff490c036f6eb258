//! Compares whole runs on the device with the CPU and with the recorded hashes, bit for bit: `octopus device exact --runs`.

mod batches;
mod bits;
mod cases;
mod record;

use super::{context, of_cuda, of_sampler};
use crate::error::BenchError;
use crate::exact::ExactOptions;
use batches::batches;
use bits::Bits;
use cases::{Case, cases};
use octopus_device::{CudaContext, DeviceIdentity};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_sampler::{Backend, Begin, Precision, Sampler};
use record::{Record, Recorded};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Instant;

/// The comparison of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunRow {
    pub(crate) name: String,
    pub(crate) precision: Precision,
    /// The SHA-256 over the little-endian bits of draws and statistics.
    pub(crate) hash: String,
    /// The hash of the CPU's run, made on this machine; `None` except in f64, in which alone the CPU computes.
    pub(crate) cpu: Option<String>,
    /// The recorded hash; `None` without `--expected`, or when the file does not have it.
    pub(crate) expected: Option<String>,
    equal: bool,
    /// The place where the bits first differ.
    pub(crate) difference: Option<String>,
    leapfrogs: u64,
    seconds: f64,
}

/// All runs, compared.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunBits {
    schema: u32,
    pub(crate) device: DeviceIdentity,
    pub(crate) runs: Vec<RunRow>,
    equal: bool,
    /// What differs besides the rows.
    pub(crate) problems: Vec<String>,
}

/// The bits that the device has made, and those of the CPU where there are any.
struct Made {
    name: String,
    precision: Precision,
    device: Bits,
    cpu: Option<Bits>,
    seconds: f64,
}

impl RunBits {
    /// Whether everything is equal, bit for bit.
    pub fn equal(&self) -> bool {
        self.equal
    }
}

impl fmt::Display for RunBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

/// Makes all runs and compares.
///
/// # Errors
/// When there is no such device, it fails, or a file cannot be used.
pub fn run(args: &ExactOptions<'_>) -> Result<RunBits, BenchError> {
    let expected = args.expected.map(Record::read).transpose()?;
    let device = DeviceIdentity::read(args.device).map_err(of_cuda)?;
    let context = context(args.device)?;
    let mut rows = Vec::new();
    let mut recorded = Vec::new();
    let mut take = |made: Made| {
        rows.push(judge(&made, expected.as_ref()));
        recorded.push(to_record(&made));
    };
    for case in cases(args.small) {
        take(make(case, &context)?);
    }
    for batch in batches(args.small) {
        batch.make(&context)?.into_iter().for_each(&mut take);
    }
    let answer = sum_up(device, rows, expected.as_ref(), args.small);
    if let Some(path) = args.record {
        if let Some(row) = answer.runs.iter().find(|row| !row.equal) {
            let what = format!("nothing is recorded: {} differs from the CPU's", row.name);
            return Err(BenchError::Contradiction(what));
        }
        Record::of(recorded).write(path)?;
    }
    Ok(answer)
}

fn make(case: Case, context: &CudaContext) -> Result<Made, BenchError> {
    let model = case.model()?;
    let clock = Instant::now();
    let on_device = || {
        Bits::of_run(
            Sampler::begin(&model, Begin::Anew(case.config()), Backend::gpu(context, &case.launches()))?,
            &model,
        )
    };
    let device = on_device().map_err(|error| of_sampler(error).at(case.name()))?;
    let seconds = clock.elapsed().as_secs_f64();
    let twin = || Bits::of_run(Sampler::new(&model, case.config())?, &model);
    let cpu = (case.precision == Precision::F64).then(twin).transpose()?;
    Ok(Made { name: case.name(), precision: case.precision, device, cpu, seconds })
}

fn judge(made: &Made, expected: Option<&Record>) -> RunRow {
    let name = made.name.clone();
    let hash = made.device.hash();
    let cpu = made.cpu.as_ref().map(Bits::hash);
    let record = expected.map(|expected| expected.by_name().get(name.as_str()).map(|run| (*run).clone()));
    // Without a file there is nothing to compare with; in a file that lacks the run, something is missing.
    let as_recorded = record.as_ref().is_none_or(|run| run.as_ref().is_some_and(|run| run.hash == hash));
    let record = record.flatten();
    let from_cpu = made.cpu.as_ref().and_then(|cpu| made.device.first_difference(cpu));
    let from_record = || record.as_ref().and_then(|run| made.device.difference_from_record(&run.trail()));
    RunRow {
        precision: made.precision,
        equal: as_recorded && cpu.as_ref().is_none_or(|cpu| *cpu == hash),
        difference: from_cpu.or_else(from_record),
        expected: record.as_ref().map(|run| run.hash.clone()),
        leapfrogs: made.device.leapfrogs(),
        seconds: made.seconds,
        name,
        hash,
        cpu,
    }
}

fn to_record(made: &Made) -> Recorded {
    let trail = made.device.trail();
    let (name, hash) = (made.name.clone(), made.device.hash());
    Recorded { name, hash, iterations: trail.iterations, chains: trail.chains }
}

fn sum_up(device: DeviceIdentity, runs: Vec<RunRow>, expected: Option<&Record>, small: bool) -> RunBits {
    let mut left = expected.map(Record::by_name).unwrap_or_default();
    for row in &runs {
        left.remove(row.name.as_str());
    }
    let mut problems = Vec::new();
    if !left.is_empty() && !small {
        let names: Vec<&str> = left.into_keys().collect();
        problems.push(format!("recorded, but not made: {}", names.join(", ")));
    }
    let equal = problems.is_empty() && runs.iter().all(|row| row.equal);
    RunBits { schema: 1, device, runs, equal, problems }
}

fn text(answer: &RunBits) -> String {
    let device = &answer.device;
    let mut text = format!("{}, compute capability {}\n", device.name, device.compute_capability);
    let cells = |row: &RunRow| {
        let word = if row.equal { "equal" } else { "DIFFERS" };
        let other = |hash: &&String| **hash != row.hash;
        let told = [
            Some(row.hash.clone()),
            row.cpu.as_ref().filter(other).map(|cpu| format!("on the CPU {cpu}")),
            row.expected.as_ref().filter(other).map(|expected| format!("recorded   {expected}")),
            row.difference.clone(),
        ];
        [word.to_owned(), row.name.clone(), told.into_iter().flatten().collect::<Vec<_>>().join("\n")]
    };
    let rows: Vec<_> = answer.runs.iter().map(cells).collect();
    text += &text_table(&[TextColumn::left(""); 3], &rows, TableLook::default());
    for problem in &answer.problems {
        text += &format!("DIFFERS  {problem}\n");
    }
    let equal = answer.runs.iter().filter(|row| row.equal).count();
    let with_cpu = answer.runs.iter().filter(|row| row.cpu.is_some()).count();
    text += &format!(
        "{equal} of {} runs are equal, bit for bit; {with_cpu} were compared with the CPU's",
        answer.runs.len()
    );
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

    /// Returns a small run of the CPU, which stands in for the device's run, too.
    fn made() -> Made {
        let case = cases(true)[0];
        let model = case.model().unwrap();
        let bits = Bits::of_run(Sampler::new(&model, case.config()).unwrap(), &model).unwrap();
        Made { name: case.name(), precision: case.precision, device: bits.clone(), cpu: Some(bits), seconds: 0.0 }
    }

    #[test]
    fn the_cpu_and_the_record_must_both_agree() {
        let sound = made();
        assert_eq!(sound.precision, Precision::F64);
        let row = judge(&sound, None);
        assert!(row.equal && row.difference.is_none() && row.expected.is_none() && row.cpu.is_some());
        let record = Record::of(vec![to_record(&sound)]);
        assert!(judge(&sound, Some(&record)).equal);
        let mut other = to_record(&sound);
        other.hash = "0".repeat(64);
        other.chains.replace_range(4..8, "zzzz");
        other.iterations.replace_range(8..12, "zzzz");
        let row = judge(&sound, Some(&Record::of(vec![other])));
        assert!(!row.equal && row.cpu.as_ref() == Some(&row.hash));
        let words = row.difference.clone().unwrap();
        assert!(words.contains("iteration 2;") && words.contains("the first is 1"), "{words}");
        let answer = sum_up(device(), vec![row], None, false);
        assert!(!answer.equal && text(&answer).contains("0 of 1 runs") && text(&answer).contains("DIFFERS"));
    }

    #[test]
    fn a_record_must_have_the_same_runs_but_for_a_small_one() {
        let sound = made();
        assert!(!judge(&sound, Some(&Record::of(Vec::new()))).equal);
        let mut more = to_record(&sound);
        more.name = "another".into();
        let record = Record::of(vec![to_record(&sound), more]);
        let row = judge(&sound, Some(&record));
        assert!(row.equal);
        assert!(sum_up(device(), vec![row.clone()], Some(&record), true).equal);
        let answer = sum_up(device(), vec![row], Some(&record), false);
        assert!(!answer.equal && answer.problems[0].contains("not made: another"));
    }
}
