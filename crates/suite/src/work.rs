//! Kinds of work beside models: arrays, draws of distributions, diagnostics. A time counts only beside a result that passes,
//! as with models: each framework hands its result over, and it is held to a truth that no framework has computed.
//!
//! A kind stands in a suite where a program would (`program = "arrays"`), and an operation where a method would.

mod arrays;
mod diagnostics;
mod random;

use crate::SuiteError;
use crate::judge::RepeatDraws;
use crate::message::StartRequest;
use crate::suite::SuiteCase;
use octopus_device::{Device, DeviceIdentity};
use octopus_fitness::{BenchmarkConfig, benchmark_device};
use rayon::ThreadPool;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The most rows of a result that a framework hands over: of more, every k-th.
const MOST: usize = 1 << 16;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// Operations on arrays of `n` elements.
    Arrays,
    /// `n` draws of a distribution.
    Random,
    /// Statistics of the draws of `n` parameters.
    Diagnostics,
}

/// What a result must be.
pub(crate) enum WorkTruth {
    /// Numbers in their order.
    Numbers(KnownNumbers),
    /// Draws of a distribution.
    Draws(random::Law),
    /// Nothing is known.
    Unknown,
}

/// Numbers that a result must have.
pub(crate) struct KnownNumbers {
    /// The first numbers, each with the magnitude to which its error is relative.
    pub(crate) first: Vec<(f64, f64)>,
    /// How many numbers there are in all.
    pub(crate) count: usize,
    /// The largest error that is allowed.
    pub(crate) limit: f64,
}

impl WorkKind {
    /// Returns the kind of this name; `None` of a program.
    pub(crate) fn of(program: &str) -> Option<Self> {
        let all = [("arrays", Self::Arrays), ("random", Self::Random), ("diagnostics", Self::Diagnostics)];
        all.into_iter().find_map(|(name, work)| (name == program).then_some(work))
    }

    /// Writes what the work is done on into a folder, and returns it with its SHA-256; nothing where there is no input, or
    /// where every framework makes it by one formula.
    pub(crate) fn input(self, case: &SuiteCase, folder: &Path) -> Result<Option<(PathBuf, String)>, SuiteError> {
        match self {
            Self::Arrays | Self::Random => Ok(None),
            Self::Diagnostics => diagnostics::DrawShape::of(&case.problem)?.write(folder).map(Some),
        }
    }

    /// Finds out whether there is such work.
    ///
    /// # Errors
    /// When there is no such operation, or a setting is none of it.
    pub(crate) fn check(self, case: &SuiteCase) -> Result<(), SuiteError> {
        match self {
            Self::Arrays => arrays::check(case).map(drop),
            Self::Random => random::check(case).map(drop),
            Self::Diagnostics => diagnostics::check(case).map(drop),
        }
    }

    /// Returns what the result of a case must be.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn truth(self, case: &SuiteCase) -> Result<WorkTruth, SuiteError> {
        match self {
            Self::Arrays => Ok(WorkTruth::Numbers(arrays::truth(case)?)),
            Self::Random => Ok(WorkTruth::Draws(random::Law::of(random::check(case)?))),
            Self::Diagnostics => diagnostics::truth(case),
        }
    }

    /// Prepares the work as Octopus does it; `Ok(Err(why))` where it does not.
    pub(crate) fn prepare(self, start: &StartRequest) -> Result<Result<OwnWork, String>, SuiteError> {
        let (device, device_name) = match start.device.parse() {
            Ok(Device::Cpu) => (Device::Cpu, None),
            Ok(device @ Device::Cuda(ordinal)) => match DeviceIdentity::read(ordinal) {
                Ok(identity) => (device, Some(identity.name)),
                Err(error) => return Ok(Err(octopus::with_causes(&error))),
            },
            Err(error) => return Ok(Err(error.to_string())),
        };
        let copies = copies(&start.method);
        if copies && device == Device::Cpu {
            return Ok(Err("the CPU needs no copies".to_owned()));
        }
        let operation: Box<dyn TimedOperation> = match (self, start.precision.as_str()) {
            (Self::Arrays, "f32") => Box::new(arrays::ArrayOperation::<f32>::new(start, device)?),
            (Self::Arrays, _) => Box::new(arrays::ArrayOperation::<f64>::new(start, device)?),
            (Self::Random, "f32") => Box::new(random::Drawing::<f32>::new(start, device)?),
            (Self::Random, _) => Box::new(random::Drawing::<f64>::new(start, device)?),
            (Self::Diagnostics, "f64") if device == Device::Cpu => Box::new(diagnostics::Statistics::new(start)?),
            (Self::Diagnostics, _) => return Ok(Err("diagnostics are computed in f64 on the CPU".to_owned())),
        };
        let pool = octopus_runs::pool(Some(start.threads))?;
        Ok(Ok(OwnWork { operation, device, device_name, pool }))
    }
}

/// An operation as Octopus does it.
trait TimedOperation: Send {
    /// Does it once, and keeps the result where it was made.
    fn call(&mut self, seed: u64) -> Result<(), SuiteError>;

    /// Returns the result: the length of its vectors, which is 1 of numbers, and the numbers.
    fn result(&self) -> Result<(usize, Vec<f64>), SuiteError>;
}

/// Work of Octopus that can be timed.
pub(crate) struct OwnWork {
    operation: Box<dyn TimedOperation>,
    device: Device,
    /// The name of a GPU.
    pub(crate) device_name: Option<String>,
    pool: ThreadPool,
}

impl OwnWork {
    /// Returns the seconds of a call, of as many as last a millisecond; on a GPU by the device's own clock.
    pub(crate) fn run(&mut self, seed: u64) -> Result<f64, SuiteError> {
        let config = BenchmarkConfig { warm_up: 1, samples: 1, ..BenchmarkConfig::default() };
        let Self { operation, device, pool, .. } = self;
        let timing = pool.install(|| benchmark_device(*device, &config, || operation.call(seed)))?;
        Ok(timing.median_seconds)
    }

    /// Returns the length of the vectors of the result, and its rows, of many every k-th.
    pub(crate) fn result(&self) -> Result<(usize, Vec<f64>), SuiteError> {
        let (width, values) = self.operation.result()?;
        let step = thinned(values.len() / width);
        Ok((width, values.chunks_exact(width).step_by(step).flatten().copied().collect()))
    }
}

/// Returns k: every k-th of so many rows is handed over.
fn thinned(rows: usize) -> usize {
    rows.div_ceil(MOST).max(1)
}

/// Returns whether inputs are copied to the device, and the result back, within the time.
fn copies(method: &Map<String, Value>) -> bool {
    method.get("copies").is_some_and(|value| value == true)
}

/// Refuses a setting that is none of the known ones.
pub(crate) fn known_settings(table: &Map<String, Value>, known: &[&str]) -> Result<(), SuiteError> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let (name, known) = (key.clone(), known.join(", "));
            Err(SuiteError::Unknown { kind: "setting", name, known })
        }
    }
}

/// Returns a whole number above 0 that a suite gives.
fn whole(table: &Map<String, Value>, key: &str) -> Result<usize, SuiteError> {
    let value = table.get(key).and_then(Value::as_u64).filter(|value| *value > 0);
    value.map(|value| value as usize).ok_or_else(|| {
        let given = table.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string);
        SuiteError::file(Path::new(key), format!("{given} is given, and a whole number above 0 is needed"))
    })
}

/// Returns the name of a method.
fn name_of(method: &Map<String, Value>) -> &str {
    method.get("name").and_then(Value::as_str).unwrap_or_default()
}

impl WorkTruth {
    /// Returns the largest error of the results, as a share of the error that is allowed, and what is wrong with them.
    pub(crate) fn look_at(&self, all: &[RepeatDraws]) -> (Option<f64>, Option<String>) {
        match self {
            Self::Unknown => (None, None),
            Self::Numbers(known) => known.look_at(all),
            Self::Draws(law) => law.look_at(all),
        }
    }
}

impl KnownNumbers {
    fn look_at(&self, all: &[RepeatDraws]) -> (Option<f64>, Option<String>) {
        if let Some(found) = all.iter().find(|found| found.values.len() != self.count) {
            return (None, Some(format!("its result has {} numbers and not {}", found.values.len(), self.count)));
        }
        let error = |(found, (known, size)): (&f64, &(f64, f64))| {
            let share = (found - known).abs() / size.max(f64::MIN_POSITIVE) / self.limit;
            // What is no number is wrong.
            if share.is_nan() { f64::INFINITY } else { share }
        };
        let errors = all.iter().flat_map(|found| found.values.iter().zip(&self.first).map(error));
        let worst = errors.fold(0.0, f64::max);
        let fault =
            format!("its result is off by {:.1e} of its size, {:.0e} is allowed", worst * self.limit, self.limit);
        (Some(worst), (worst > 1.0).then_some(fault))
    }
}
