//! What the rows of a case come to: medians with bootstrap intervals, and ratios of repetitions that took turns.

use crate::judge::SuiteVerdict;
use crate::peer::OCTOPUS;
use crate::row::SuiteRow;
use octopus_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Resampled data sets of a bootstrap.
const RESAMPLED: usize = 2000;
/// The share of an interval.
const SHARE: f64 = 0.95;

/// A framework in a case: a line of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteSummary {
    /// The suite.
    pub suite: String,
    /// The name of the case.
    pub case: String,
    /// The framework.
    pub framework: String,
    /// The program.
    pub program: String,
    /// The method.
    pub method: String,
    /// The size of the data.
    pub n: Option<u64>,
    /// Particles.
    pub particles: Option<u64>,
    /// The number of cores.
    pub threads: usize,
    /// `f64` or `f32`.
    pub precision: String,
    /// The verdict on its posterior.
    pub verdict: SuiteVerdict,
    /// Repetitions that were timed.
    pub repeats: usize,
    /// The median of the seconds, with the ends of its interval.
    pub seconds: Option<f64>,
    /// The lower end.
    pub seconds_low: Option<f64>,
    /// The upper end.
    pub seconds_high: Option<f64>,
    /// Seconds of compilation and a first run.
    pub compile_seconds: Option<f64>,
    /// The most memory of its process in bytes.
    pub peak_bytes: Option<u64>,
    /// The median of the effective draws a second, with the ends of its interval.
    pub ess_per_second: Option<f64>,
    /// The lower end.
    pub ess_per_second_low: Option<f64>,
    /// The upper end.
    pub ess_per_second_high: Option<f64>,
    /// Its seconds over those of Octopus in the same repetitions: the median of the ratios.
    pub times_octopus: Option<f64>,
    /// The lower end.
    pub times_octopus_low: Option<f64>,
    /// The upper end.
    pub times_octopus_high: Option<f64>,
    /// Whether the interval of the ratio leaves out 1.
    pub significant: Option<bool>,
    /// Why the verdict is not `passed`, and what the suite expects.
    pub note: String,
}

/// A median with the ends of its bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The median.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl MedianInterval {
    /// Returns the median of some values with a percentile interval (Efron 1979), which is the same at each call; `None`
    /// without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        Self::by(&[values], |samples| median(&mut samples[0].clone()))
    }

    /// Returns the ratio of the medians of two samples that are not paired.
    pub fn of_ratio(over: &[f64], under: &[f64]) -> Option<Self> {
        Self::by(&[over, under], |samples| median(&mut samples[0].clone()) / median(&mut samples[1].clone()))
    }

    /// Returns whether the interval leaves a value out.
    pub fn excludes(&self, value: f64) -> bool {
        !(self.low..=self.high).contains(&value)
    }

    fn by(samples: &[&[f64]], of: impl Fn(&[Vec<f64>]) -> f64) -> Option<Self> {
        if samples.iter().any(|values| values.is_empty()) {
            return None;
        }
        let found = of(&samples.iter().map(|values| values.to_vec()).collect::<Vec<_>>());
        let mut random = Stream::new(0, 0, 0, Purpose::User);
        let mut drawn: Vec<f64> = (0..RESAMPLED)
            .map(|_| {
                let again = |values: &&[f64]| -> Vec<f64> {
                    let place = |uniform: f64| ((uniform * values.len() as f64) as usize).min(values.len() - 1);
                    (0..values.len()).map(|_| values[place(random.uniform())]).collect()
                };
                of(&samples.iter().map(again).collect::<Vec<_>>())
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        let end = |share: f64| octopus_diag::quantile_of_sorted(&drawn, share);
        Some(Self { median: found, low: end((1.0 - SHARE) / 2.0), high: end((1.0 + SHARE) / 2.0) })
    }
}

/// Returns the median; the values are sorted.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    octopus_diag::quantile_of_sorted(values, 0.5)
}

/// Returns a line for each framework in each case, in the order of the rows.
pub fn summarise(rows: &[SuiteRow]) -> Vec<SuiteSummary> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if !seen.contains(&(&row.case, &row.framework)) {
            seen.push((&row.case, &row.framework));
        }
    }
    let of = |case: &str, framework: &str| -> Vec<&SuiteRow> {
        rows.iter().filter(|row| row.case == case && row.framework == framework).collect()
    };
    seen.into_iter().filter_map(|(case, framework)| line(&of(case, framework), &of(case, OCTOPUS))).collect()
}

fn line(own: &[&SuiteRow], octopus: &[&SuiteRow]) -> Option<SuiteSummary> {
    let first = *own.first()?;
    // A time beside a posterior that fails is in the rows and in no summary.
    let counted: Vec<&SuiteRow> = own.iter().copied().filter(|row| row.counts()).collect();
    let seconds = MedianInterval::of(&counted.iter().filter_map(|row| row.seconds).collect::<Vec<_>>());
    let rates = MedianInterval::of(&counted.iter().filter_map(|row| row.ess_per_second()).collect::<Vec<_>>());
    let ratio = |row: &&SuiteRow| {
        let beside = octopus.iter().find(|other| other.repeat == row.repeat && other.counts())?;
        Some(row.seconds? / beside.seconds?)
    };
    let times = MedianInterval::of(&counted.iter().filter_map(ratio).collect::<Vec<_>>());
    let times = times.filter(|_| first.framework != OCTOPUS);
    Some(SuiteSummary {
        suite: first.suite.clone(),
        case: first.case.clone(),
        framework: first.framework.clone(),
        program: first.program.clone(),
        method: first.method.clone(),
        n: first.n,
        particles: first.particles,
        threads: first.threads,
        precision: first.precision.clone(),
        verdict: first.verdict,
        repeats: counted.len(),
        seconds: seconds.map(|found| found.median),
        seconds_low: seconds.map(|found| found.low),
        seconds_high: seconds.map(|found| found.high),
        compile_seconds: first.compile_seconds,
        peak_bytes: counted.iter().filter_map(|row| row.peak_bytes).max(),
        ess_per_second: rates.map(|found| found.median),
        ess_per_second_low: rates.map(|found| found.low),
        ess_per_second_high: rates.map(|found| found.high),
        times_octopus: times.map(|found| found.median),
        times_octopus_low: times.map(|found| found.low),
        times_octopus_high: times.map(|found| found.high),
        significant: times.map(|found| found.excludes(1.0)),
        note: first.note.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Stream::new(seed, 0, 0, Purpose::User);
        (0..count).map(|_| random.normal()).collect()
    }

    /// An interval of 95 % holds the true median in 95 of 100 samples. 400 samples may differ from that by four binomial
    /// standard errors (4.4 of 100), and samples of 25 numbers by two more.
    #[test]
    fn intervals_hold_the_median_as_often_as_they_say() {
        const SETS: u64 = 400;
        let held = (1..=SETS).filter(|&seed| !MedianInterval::of(&normals(25, seed)).unwrap().excludes(0.0)).count();
        let share = held as f64 / SETS as f64;
        assert!((0.89..=0.99).contains(&share), "{share}");
    }

    #[test]
    fn medians_and_ratios_by_hand() {
        let found = MedianInterval::of(&[3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!(found.median, 2.5);
        assert!(found.low >= 1.0 && found.high <= 10.0 && found.low < found.high);
        let ratio = MedianInterval::of_ratio(&[2.0, 2.0, 2.0], &[4.0, 4.0, 4.0]).unwrap();
        assert_eq!((ratio.median, ratio.low, ratio.high), (0.5, 0.5, 0.5));
        assert!(ratio.excludes(1.0) && !ratio.excludes(0.5));
        assert_eq!(MedianInterval::of(&[]), None);
        assert_eq!(MedianInterval::of_ratio(&[1.0], &[]), None);
    }
}
