//! The verdict on what a framework drew: a time counts only beside a posterior that passes.
//!
//! A framework cannot claim these itself: its log density is ours up to one constant, its draws have the moments of the
//! exact posterior, its chains agree, and its evidence is the exact one. Draws of all repetitions count together.

use crate::SuiteError;
use crate::work::WorkTruth;
use octopus_diag::{Chains, ess_bulk, mcse_mean, mcse_sd, rhat};
use octopus_files::{NpyValues, read_npy};
use octopus_models::exact::Moments;
use octopus_random::exact;
use octopus_report::significant;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The chance that a right posterior is called wrong by its moments, all of them together (Holm 1979).
const LEVEL: f64 = 0.001;
/// The fewest effective draws of a repetition.
const FEWEST: f64 = 100.0;
/// The largest R-hat of all chains of all repetitions.
const RHAT: f64 = 1.01;
/// How many standard errors an evidence may be off.
const EVIDENCE_ERRORS: f64 = 4.0;

/// What one repetition drew.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatDraws {
    /// Chains and draws of each.
    chains: usize,
    draws: usize,
    pub(crate) width: usize,
    /// `chains x draws x parameters`.
    pub(crate) values: Vec<f64>,
    /// The logarithms of the weights of all draws; none where they weigh the same.
    log_weights: Vec<f64>,
    /// The logarithm of the evidence.
    pub(crate) log_evidence: Option<f64>,
}

impl RepeatDraws {
    /// Reads what a framework has written into a folder; nothing where it draws none.
    pub(crate) fn read(folder: &Path, log_evidence: Option<f64>) -> Result<Self, SuiteError> {
        let path = folder.join("draws.npy");
        if !path.exists() {
            return Ok(Self { log_evidence, ..Self::default() });
        }
        let (shape, values) = numbers(&path)?;
        let &[chains, draws, width] = &shape[..] else {
            return Err(SuiteError::file(&path, format!("its shape is {shape:?}, not chains x draws x parameters")));
        };
        let weights = folder.join("log_weights.npy");
        let log_weights = if weights.exists() { numbers(&weights)?.1 } else { Vec::new() };
        if !log_weights.is_empty() && log_weights.len() != chains * draws {
            let what = format!("{} weights are not one for each of {} draws", log_weights.len(), chains * draws);
            return Err(SuiteError::file(&weights, what));
        }
        Ok(Self { chains, draws, width, values, log_weights, log_evidence })
    }

    /// Returns the least effective sample size of all parameters; `None` without draws.
    pub(crate) fn least_ess(&self) -> Option<f64> {
        if !self.log_weights.is_empty() {
            return Some(ess_of(&weights(&self.log_weights)));
        }
        let of = |parameter| self.chains_of(parameter, |chains| ess_bulk(&chains));
        (0..self.width).map(of).reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) })
    }

    fn chains_of(&self, parameter: usize, of: impl FnOnce(Chains<'_>) -> f64) -> f64 {
        let mut buffer = Vec::new();
        let gathered = Chains::gather(&self.values, self.chains, self.draws, self.width, parameter, &mut buffer);
        gathered.map_or(f64::NAN, of)
    }
}

/// Reads an array of doubles.
pub(crate) fn numbers(path: &Path) -> Result<(Vec<usize>, Vec<f64>), SuiteError> {
    let array = read_npy(path)?;
    let NpyValues::F8(values) = array.values else {
        return Err(SuiteError::file(path, "its numbers are not f64"));
    };
    Ok((array.shape.iter().map(|&length| length as usize).collect(), values))
}

/// The verdict on a framework in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteVerdict {
    /// The posterior is right, as far as all of this tells: the times count.
    Passed,
    /// The posterior is wrong, or too little is known of it: the times do not count.
    Failed,
    /// The posterior is wrong, as the suite says that it is in every framework: the times tell of the same work, and of no
    /// inference.
    Expected,
    /// Nothing is known that the draws could be held to.
    Unchecked,
    /// The framework does not do this.
    Cannot,
    /// The framework is not installed.
    Absent,
    /// The framework broke off.
    Error,
}

impl SuiteVerdict {
    /// Returns the word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Expected => "expected",
            Self::Unchecked => "unchecked",
            Self::Cannot => "cannot",
            Self::Absent => "absent",
            Self::Error => "error",
        }
    }
}

/// What the draws of a framework were held to, and what came of it: a line of `checks.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PosteriorCheck {
    /// The name of the case.
    pub case: String,
    /// The framework.
    pub framework: String,
    /// The verdict.
    pub verdict: SuiteVerdict,
    /// Why it is not `passed`; what the suite expects of the case.
    pub note: String,
    /// The largest difference of its log density from ours, less their mean, relative to the value.
    pub log_density_error: Option<f64>,
    /// The least effective sample size of a repetition: the median of all repetitions.
    pub least_ess: Option<f64>,
    /// The largest R-hat of a parameter, over all chains of all repetitions.
    pub largest_rhat: Option<f64>,
    /// The root mean square error of the means of all repetitions, in standard deviations of the posterior.
    pub mean_error: Option<f64>,
    /// The distance of the worst mean or standard deviation from the truth, in standard errors.
    pub worst_z: Option<f64>,
    /// The parameter, as a number in the program's order, from 0.
    pub worst_parameter: Option<usize>,
    /// How far the logarithm of the mean evidence is from the exact one.
    pub evidence_error: Option<f64>,
    /// How far the result of a kind of work is from what it must be, as a share of what is allowed.
    pub result_error: Option<f64>,
}

/// What a posterior is held to.
pub(crate) struct Truth {
    /// The moments of each parameter in the program's order, where they are known.
    pub(crate) moments: Vec<Option<Moments>>,
    /// The standard error of these moments, in standard deviations.
    pub(crate) moments_error: f64,
    /// The logarithm of the evidence, or of the likelihood that a filter estimates.
    pub(crate) log_evidence: Option<f64>,
    /// Whether there should be draws of a posterior.
    pub(crate) has_draws: bool,
    /// What the result of a kind of work must be.
    pub(crate) result: WorkTruth,
    /// Whether the suite says that no framework gets this posterior.
    pub(crate) fails: bool,
    /// The chains and the draws of each that the suite asks for.
    pub(crate) asked: [Option<u64>; 2],
}

/// Log densities at the same points.
pub(crate) struct ComparedDensities<'a> {
    /// By Octopus.
    pub(crate) ours: &'a [f64],
    /// By the framework, where it tells them.
    pub(crate) theirs: Option<&'a [f64]>,
    /// Whether they are computed in f64.
    pub(crate) precise: bool,
}

impl PosteriorCheck {
    /// Makes the line of a framework that was not judged.
    pub(crate) fn unjudged(case: &str, framework: &str, verdict: SuiteVerdict, note: String) -> Self {
        Self {
            case: case.to_owned(),
            framework: framework.to_owned(),
            verdict,
            note,
            log_density_error: None,
            least_ess: None,
            largest_rhat: None,
            mean_error: None,
            worst_z: None,
            worst_parameter: None,
            evidence_error: None,
            result_error: None,
        }
    }

    /// Judges the log density and the draws of all repetitions.
    pub(crate) fn judge(mut self, densities: &ComparedDensities<'_>, all: &[RepeatDraws], truth: &Truth) -> Self {
        let mut faults = Vec::new();
        if let Some(theirs) = densities.theirs {
            let error = log_density_error(densities.ours, theirs);
            self.log_density_error = Some(error);
            let limit = if densities.precise { 1e-9 } else { 1e-4 };
            if !at_most(error, limit) {
                faults.push(format!("its log density is another one, by {error:.1e} of the value"));
            }
        }
        // What the suite expects to fail is what is drawn, not the density.
        let is_expected = truth.fails && faults.is_empty();
        if truth.has_draws {
            self.look_at_draws(all, truth, &mut faults);
        }
        let found: Vec<f64> = all.iter().filter_map(|drawn| drawn.log_evidence).collect();
        if let (Some(exact), true) = (truth.log_evidence, found.len() >= 3) {
            let (off, error) = evidence_error(&found, exact);
            self.evidence_error = Some(off);
            if !at_most(off.abs(), EVIDENCE_ERRORS * error.max(1e-9)) {
                faults.push(format!("its evidence is off by {off:.3}, its standard error is {error:.3}"));
            }
        }
        let (error, fault) = truth.result.look_at(all);
        self.result_error = error;
        faults.extend(fault);
        let known = truth.moments.iter().any(Option::is_some) || self.evidence_error.is_some() || error.is_some();
        self.verdict = match (faults.is_empty(), known) {
            (false, _) if is_expected => SuiteVerdict::Expected,
            (false, _) => SuiteVerdict::Failed,
            (true, true) => SuiteVerdict::Passed,
            (true, false) => SuiteVerdict::Unchecked,
        };
        if self.verdict == SuiteVerdict::Unchecked {
            faults.push("there is nothing to hold its result to: its times are in the rows only".to_owned());
        }
        faults.extend((!self.note.is_empty()).then(|| self.note.clone()));
        self.note = faults.join("; ");
        self
    }

    fn look_at_draws(&mut self, all: &[RepeatDraws], truth: &Truth, faults: &mut Vec<String>) {
        let width = all.first().map_or(0, |drawn| drawn.width);
        if width == 0 || all.iter().any(|drawn| drawn.width != width) || width != truth.moments.len() {
            faults.push(format!("it draws {width} parameters, and the program has {}", truth.moments.len()));
            return;
        }
        for (found, asked, what) in [
            (&(|drawn: &RepeatDraws| drawn.chains) as &dyn Fn(&RepeatDraws) -> usize, truth.asked[0], "chains"),
            (&|drawn| drawn.draws, truth.asked[1], "draws"),
        ] {
            if let (Some(asked), Some(drawn)) =
                (asked, all.iter().find(|drawn| asked.is_some_and(|asked| found(drawn) as u64 != asked)))
            {
                faults.push(format!("it makes {} {what} and not {asked}: that is other work", found(drawn)));
            }
        }
        if all.iter().any(|drawn| drawn.values.iter().any(|value| !value.is_finite())) {
            faults.push("a draw is not a finite number".to_owned());
            return;
        }
        let same = |a: &RepeatDraws, b: &RepeatDraws| a.values == b.values && a.log_weights == b.log_weights;
        if all.windows(2).any(|pair| same(&pair[0], &pair[1])) {
            faults.push("two repetitions with other seeds drew the same".to_owned());
        }
        let mut least: Vec<f64> = all.iter().filter_map(RepeatDraws::least_ess).collect();
        least.sort_by(f64::total_cmp);
        let least = least.get(least.len() / 2).copied().unwrap_or(f64::NAN);
        self.least_ess = Some(least);
        if !at_most(FEWEST, least) {
            faults.push(format!("{least:.0} effective draws are too few to judge by"));
        }
        if all.iter().all(|drawn| drawn.log_weights.is_empty()) {
            let of = |parameter| pooled(all, parameter, |chains| rhat(&chains)).unwrap_or(f64::NAN);
            let worst = largest((0..width).map(of));
            self.largest_rhat = Some(worst);
            if !at_most(worst, RHAT) {
                faults.push(format!("R-hat is {}", significant(worst, 5)));
            }
        }
        let known = truth.moments.iter().enumerate().filter_map(|(parameter, exact)| Some((parameter, (*exact)?)));
        let (mut distances, mut squares) = (Vec::new(), 0.0);
        for (parameter, exact) in known {
            let Estimate { mean, sd, mean_error, sd_error } = Estimate::of(all, parameter);
            let own = truth.moments_error * exact.sd;
            let [mean_error, sd_error] = [mean_error, sd_error].map(|error| (error * error + own * own).sqrt());
            let two = [(mean - exact.mean) / mean_error, (sd - exact.sd) / sd_error];
            distances.extend(two.map(|z| (parameter, z.abs())));
            squares += ((mean - exact.mean) / exact.sd).powi(2);
        }
        let Some(&(parameter, worst)) = distances.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        (self.worst_z, self.worst_parameter) = (Some(worst), Some(parameter));
        self.mean_error = Some((squares / (distances.len() / 2) as f64).sqrt());
        let chance = exact::erfc(worst / std::f64::consts::SQRT_2) * distances.len() as f64;
        if !at_most(LEVEL, chance) {
            faults.push(format!("parameter {parameter} is off by {} standard errors", significant(worst, 3)));
        }
    }
}

/// Estimates of a parameter's moments with their standard errors, from all repetitions.
struct Estimate {
    mean: f64,
    sd: f64,
    mean_error: f64,
    sd_error: f64,
}

impl Estimate {
    fn of(all: &[RepeatDraws], parameter: usize) -> Self {
        if all.iter().all(|drawn| drawn.log_weights.is_empty()) {
            let of_chains = |chains: Chains<'_>| Self {
                mean: mean_of(chains.values()),
                sd: variance_of(chains.values()).sqrt(),
                mean_error: mcse_mean(&chains),
                sd_error: mcse_sd(&chains),
            };
            let unknown = Self { mean: f64::NAN, sd: f64::NAN, mean_error: f64::NAN, sd_error: f64::NAN };
            return pooled(all, parameter, of_chains).unwrap_or(unknown);
        }
        let log_weights: Vec<f64> = all.iter().flat_map(|drawn| drawn.log_weights.iter().copied()).collect();
        let values = all.iter().flat_map(|drawn| drawn.values.chunks_exact(drawn.width).map(|row| row[parameter]));
        let weighted: Vec<(f64, f64)> = weights(&log_weights).into_iter().zip(values).collect();
        let mean: f64 = weighted.iter().map(|(w, x)| w * x).sum();
        let variance: f64 = weighted.iter().map(|(w, x)| w * (x - mean) * (x - mean)).sum();
        // The variance of a ratio of means (Owen, Monte Carlo theory, equation 9.8).
        let mean_error = weighted.iter().map(|(w, x)| (w * (x - mean)).powi(2)).sum::<f64>().sqrt();
        let of_variance =
            weighted.iter().map(|(w, x)| (w * ((x - mean).powi(2) - variance)).powi(2)).sum::<f64>().sqrt();
        Self { mean, sd: variance.sqrt(), mean_error, sd_error: of_variance / (2.0 * variance.sqrt()) }
    }
}

/// Computes a statistic of a parameter over the chains of all repetitions.
fn pooled<T>(all: &[RepeatDraws], parameter: usize, of: impl FnOnce(Chains<'_>) -> T) -> Option<T> {
    let draws = all.iter().map(|drawn| drawn.draws).min().unwrap_or(0);
    let rows = all
        .iter()
        .flat_map(|drawn| drawn.values.chunks_exact((drawn.draws * drawn.width).max(1)).map(move |c| (drawn, c)));
    let mut values = Vec::new();
    let mut chains = 0;
    for (drawn, chain) in rows {
        values.extend(chain.chunks_exact(drawn.width).take(draws).map(|row| row[parameter]));
        chains += 1;
    }
    Chains::new(&values, chains, draws).ok().map(of)
}

/// Returns the largest of some numbers, or NaN if one of them is NaN: an unknown error is not a small one.
pub(crate) fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |worst: f64, next| if worst.is_nan() || next.is_nan() { f64::NAN } else { worst.max(next) })
}

/// Whether a number keeps to a limit; what is no number does not.
fn at_most(value: f64, limit: f64) -> bool {
    value <= limit
}

/// Returns the largest difference of two densities, which may differ by one constant, relative to the values.
fn log_density_error(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() || ours.is_empty() {
        return f64::NAN;
    }
    let differences: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| theirs - ours).collect();
    let shift = mean_of(&differences);
    let scale = |ours: f64| ours.abs().max(shift.abs()).max(1.0);
    let relative = differences.iter().zip(ours).map(|(difference, &ours)| (difference - shift).abs() / scale(ours));
    largest(relative)
}

/// Returns how far the mean evidence is from the exact one, in logarithms, and its standard error.
fn evidence_error(found: &[f64], exact: f64) -> (f64, f64) {
    let ratios: Vec<f64> = found.iter().map(|found| exact::exp(found - exact)).collect();
    let mean = mean_of(&ratios);
    (exact::ln(mean), (variance_of(&ratios) / ratios.len() as f64).sqrt() / mean)
}

/// Returns weights that sum to 1.
fn weights(log_weights: &[f64]) -> Vec<f64> {
    let most = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raw: Vec<f64> = log_weights.iter().map(|log_weight| exact::exp(log_weight - most)).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|weight| weight / sum).collect()
}

/// Returns how many draws weighted ones are worth (Kish).
fn ess_of(weights: &[f64]) -> f64 {
    1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>()
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance_of(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}
