//! Statistics of draws, held to ArviZ's: `benchmarks/suites/diagnostics.json` has them, made by
//! `benchmarks/peers/arviz/truth.py` of the same draws.

use super::{KnownNumbers, MOST, TimedOperation, WorkTruth, known_settings, name_of, whole};
use crate::SuiteError;
use crate::judge::numbers;
use crate::message::StartRequest;
use crate::suite::SuiteCase;
use octopus_diag::{DiagError, Elpd, LogLikelihood, ParameterSummary, loo, relative_eff, summary, waic};
use octopus_files::{NpyType, NpyWriter, Overwrite};
use octopus_random::{Purpose, Stream};
use octopus_trace::{Array, Dataset, Values};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What each operation gives of the draws of a shape.
#[derive(Deserialize)]
struct Truths {
    /// The statistics of the first parameters, which are the same whatever the number of parameters.
    summary: HashMap<String, Vec<f64>>,
    loo: HashMap<String, Vec<f64>>,
    waic: HashMap<String, Vec<f64>>,
}

/// Statistics of a parameter: mean, standard deviation, both ends of the interval, both standard errors, both effective
/// sample sizes, R-hat.
const STATISTICS: usize = 9;
/// The share of an interval.
const SHARE: f64 = 0.89;
/// The correlation of a draw with the one before it.
const CORRELATION: f64 = 0.5;
/// The largest relative error.
const LIMIT: f64 = 1e-8;

/// Chains, draws of each and parameters.
pub(super) struct DrawShape {
    chains: usize,
    draws: usize,
    n: usize,
}

impl DrawShape {
    pub(super) fn of(problem: &Map<String, Value>) -> Result<Self, SuiteError> {
        known_settings(problem, &["program", "chains", "draws", "n"])?;
        let [chains, draws, n] = ["chains", "draws", "n"].map(|key| whole(problem, key));
        let shape = Self { chains: chains?, draws: draws?, n: n? };
        if shape.n > MOST {
            return Err(SuiteError::file(
                Path::new("n"),
                format!("{} is given, and at most {MOST} are taken", shape.n),
            ));
        }
        Ok(shape)
    }

    /// Returns autoregressive draws: each parameter of each chain has random numbers of its own.
    fn values(&self) -> Vec<f64> {
        let Self { chains, draws, n } = *self;
        let mut values = vec![0.0; chains * draws * n];
        for (chain, parameter) in (0..chains).flat_map(|chain| (0..n).map(move |parameter| (chain, parameter))) {
            let mut random = Stream::new(42, chain as u32, parameter as u32, Purpose::User);
            let mut last = 0.0;
            for draw in 0..draws {
                last = CORRELATION * last + random.normal();
                values[(chain * draws + draw) * n + parameter] = last;
            }
        }
        values
    }

    /// Writes the draws, and returns their file and hash.
    pub(super) fn write(&self, folder: &Path) -> Result<(PathBuf, String), SuiteError> {
        let Self { chains, draws, n } = *self;
        std::fs::create_dir_all(folder).map_err(SuiteError::io("make", folder))?;
        let (path, values) = (folder.join(format!("draws-{chains}x{draws}x{n}.npy")), self.values());
        let shape = [chains, draws, n].map(|length| length as u64);
        let mut file = NpyWriter::create(&path, NpyType::F8, &shape, "draws of a benchmark", Overwrite::Replace)?;
        file.append(&values)?;
        file.finish()?;
        Ok((path, octopus_models::sha256(&values)))
    }
}

/// Returns the statistics of a case, and the draws that they are of.
///
/// # Errors
/// When there are none, or a setting is none of them.
pub(super) fn check(case: &SuiteCase) -> Result<(&str, DrawShape), SuiteError> {
    known_settings(&case.method, &["name"])?;
    match name_of(&case.method) {
        name @ ("summary" | "loo" | "waic") => Ok((name, DrawShape::of(&case.problem)?)),
        name => {
            let (name, known) = (name.to_owned(), "summary, loo, waic".to_owned());
            Err(SuiteError::Unknown { kind: "diagnostic", name, known })
        }
    }
}

/// Returns what the result of a case must be.
pub(super) fn truth(case: &SuiteCase) -> Result<WorkTruth, SuiteError> {
    let (name, DrawShape { chains, draws, n }) = check(case)?;
    let path = Path::new("benchmarks/suites/diagnostics.json");
    let truths: Truths = serde_json::from_str(include_str!("../../../../benchmarks/suites/diagnostics.json"))
        .map_err(|error| SuiteError::file(path, error.to_string()))?;
    let whole = format!("{chains}x{draws}x{n}");
    let (known, count) = match name {
        "summary" => (truths.summary.get(&format!("{chains}x{draws}")), STATISTICS * n),
        "loo" => (truths.loo.get(&whole), 3),
        _ => (truths.waic.get(&whole), 3),
    };
    let first = |known: &Vec<f64>| known.iter().map(|value| (*value, value.abs())).collect();
    let numbers = |known: &Vec<f64>| WorkTruth::Numbers(KnownNumbers { first: first(known), count, limit: LIMIT });
    Ok(known.map_or(WorkTruth::Unknown, numbers))
}

/// Statistics by Octopus.
pub(super) struct Statistics {
    name: String,
    posterior: Dataset,
    log_likelihood: Dataset,
    found: Vec<f64>,
}

impl Statistics {
    pub(super) fn new(start: &StartRequest) -> Result<Self, SuiteError> {
        let path = start.data.as_deref().unwrap_or(Path::new(""));
        let (shape, values) = numbers(path)?;
        let &[chains, draws, n] = &shape[..] else {
            return Err(SuiteError::file(path, format!("its shape is {shape:?}, not chains x draws x parameters")));
        };
        let group = |name: &str, values: Vec<f64>| {
            let mut group = Dataset::default();
            group.insert(name, Array::new([("chain", chains), ("draw", draws), ("i", n)], Values::F64(values)));
            group
        };
        // A log likelihood that suits such draws.
        let log_likelihood = group("y", values.iter().map(|x| -1.0 - 0.1 * x * x).collect());
        let posterior = group("x", values);
        Ok(Self { name: name_of(&start.method).to_owned(), posterior, log_likelihood, found: Vec::new() })
    }

    fn compute(&self) -> Result<Vec<f64>, DiagError> {
        let sums = |elpd: &Elpd| vec![elpd.elpd, elpd.se, elpd.p];
        let row = |row: &ParameterSummary| {
            let ParameterSummary { mean, sd, hdi, mcse_mean, mcse_sd, ess_bulk, ess_tail, rhat, .. } = *row;
            [mean, sd, hdi[0], hdi[1], mcse_mean, mcse_sd, ess_bulk, ess_tail, rhat]
        };
        let likelihood = || LogLikelihood::read(&self.log_likelihood, &[]);
        Ok(match self.name.as_str() {
            "summary" => summary(&self.posterior, SHARE)?.parameters.iter().flat_map(row).collect(),
            "loo" => sums(&loo(&likelihood()?, relative_eff(&self.posterior)?)?),
            _ => sums(&waic(&likelihood()?)),
        })
    }
}

impl TimedOperation for Statistics {
    fn call(&mut self, _seed: u64) -> Result<(), SuiteError> {
        self.found = self.compute()?;
        Ok(())
    }

    fn result(&self) -> Result<(usize, Vec<f64>), SuiteError> {
        let width = if self.name == "summary" { STATISTICS } else { self.found.len().max(1) };
        Ok((width, self.found.clone()))
    }
}
