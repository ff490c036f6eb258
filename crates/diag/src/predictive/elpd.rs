//! Expected log predictive densities (elpd), and WAIC; which observations are unreliable, with warning and advice.
//!
//! Vehtari, A., Gelman, A., Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out cross-validation and
//! WAIC. Statistics and Computing 27, 1413-1432.

use crate::error::DiagError;
use crate::numbers::exp::sum_exp;
use crate::numbers::moments::{mean, squares_about_mean, sum_by};
use crate::numbers::order::range;
use crate::predictive::likelihood::LogLikelihood;
use crate::summary::summarise_means;
use octopus_trace::Dataset;

/// The variance of an observation's log likelihood above which WAIC cannot be trusted (Vehtari et al. 2017, section 2.2).
const MAX_P_WAIC: f64 = 0.4;

/// How an expected log predictive density was estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElpdMethod {
    /// Leave-one-out cross-validation by Pareto smoothed importance sampling.
    Loo,
    /// The widely applicable information criterion.
    Waic,
}

impl ElpdMethod {
    /// Returns `loo` or `waic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loo => "loo",
            Self::Waic => "waic",
        }
    }
}

/// How well a model predicts observations that it was not fitted to, on the log scale: larger is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Elpd {
    /// The criterion: which estimate this is.
    pub criterion: ElpdMethod,
    /// The expected log pointwise predictive density: the sum of `pointwise`. ArviZ's `elpd_loo` or `elpd_waic`.
    pub elpd: f64,
    /// The standard error of `elpd` over observations: `sqrt(n Var(pointwise))`.
    pub se: f64,
    /// The effective number of parameters. ArviZ's `p_loo` or `p_waic`.
    pub p: f64,
    /// The number of draws.
    pub n_samples: usize,
    /// The number of observations.
    pub n_data_points: usize,
    /// The part of each observation. ArviZ's `loo_i` or `waic_i`.
    pub pointwise: Vec<f64>,
    /// How reliable `pointwise` is, for each observation: for LOO the Pareto k, for WAIC the variance of the log
    /// likelihood.
    pub reliability: Vec<f64>,
    /// The limit that `reliability` should not exceed. ArviZ's `good_k`; for WAIC 0.4.
    pub good: f64,
}

impl Elpd {
    /// Returns the observations whose `reliability` is above `good`.
    pub fn unreliable(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.reliability.len()).filter(|&i| self.reliability[i] > self.good)
    }

    /// Returns the observations that have no estimate: a log likelihood of theirs is NaN or infinite.
    pub fn undefined(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.pointwise.len()).filter(|&i| !self.pointwise[i].is_finite())
    }

    /// Returns the same with the observations in another order: its first is the one that is numbered `order[0]` here.
    pub fn reordered(&self, order: &[usize]) -> Self {
        let of = |values: &[f64]| order.iter().filter_map(|&i| values.get(i).copied()).collect();
        Self { pointwise: of(&self.pointwise), reliability: of(&self.reliability), ..self.clone() }
    }

    /// Returns whether an observation is unreliable. ArviZ's `warning`.
    pub fn warning(&self) -> bool {
        self.unreliable().next().is_some()
    }

    /// Returns which observations are unreliable and what to do about them; `None` when no observation is.
    pub fn advice(&self) -> Option<String> {
        let worst = self.unreliable().max_by(|&a, &b| self.reliability[a].total_cmp(&self.reliability[b]))?;
        let (count, total, largest) = (self.unreliable().count(), self.n_data_points, self.reliability[worst]);
        let good = self.good;
        Some(match self.criterion {
            ElpdMethod::Loo => format!(
                "Pareto k of {count} of {total} observations is above {good:.2} (largest {largest:.2}, observation {worst}): \
                 these are too influential for importance sampling; fit again without each of them (exact \
                 cross-validation), or use a model with heavier tails"
            ),
            ElpdMethod::Waic => format!(
                "the log likelihood of {count} of {total} observations varies by more than {good} (largest {largest:.2}, \
                 observation {worst}): WAIC is not reliable here; use loo, which says where it fails"
            ),
        })
    }
}

/// `ln sum exp(x)` of values whose largest is `max`; NaN when no value is finite, or one is NaN or infinitely large.
pub(crate) fn log_sum_exp(values: &[f64], max: f64) -> f64 {
    if max.is_finite() { sum_exp(values, 1.0, max).ln() + max } else { f64::NAN }
}

/// Returns the widely applicable information criterion. An observation with a NaN or infinite log likelihood is NaN,
/// and so are the sums. Prefer [`loo`](crate::loo()), which is never less accurate and says where it fails. `az.waic`.
pub fn waic(log_likelihood: &LogLikelihood) -> Elpd {
    let samples = log_likelihood.samples() as f64;
    let found = log_likelihood.map(
        || (),
        |(), _, column| {
            let variance = squares_about_mean(column) / samples;
            (log_sum_exp(column, range(column).1) - samples.ln() - variance, variance)
        },
    );
    let (pointwise, variances): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    Elpd {
        criterion: ElpdMethod::Waic,
        elpd: sum_by(&pointwise, |v| v),
        se: standard_error(&pointwise),
        p: sum_by(&variances, |v| v),
        n_samples: log_likelihood.samples(),
        n_data_points: pointwise.len(),
        pointwise,
        reliability: variances,
        good: MAX_P_WAIC,
    }
}

/// `sqrt(n Var)`, the variance with divisor n.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    squares_about_mean(values).sqrt()
}

/// Returns the relative effective sample size of a posterior's draws: the mean over all its elements of
/// [`ess_mean`](crate::ess_mean), divided by the number of draws; 1 for one chain. Elements for which it is NaN say nothing
/// of the others' draws and are left out; NaN when all are. `az.loo` uses this number unless told otherwise, but NaN where
/// it is NaN for an element.
///
/// # Errors
/// When the posterior cannot be summarised: see [`summary`](crate::summary).
pub fn relative_eff(posterior: &Dataset) -> Result<f64, DiagError> {
    let (mut means, chains, draws) = summarise_means(posterior)?;
    means.retain(|ess| !ess.is_nan());
    Ok(if chains == 1 { 1.0 } else { mean(&means) / (chains * draws) as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictive::loo::loo;
    use octopus_random::{Purpose, Stream};
    use octopus_trace::{Array, Values};

    fn matrix(samples: usize, observations: usize, spread: f64) -> Vec<f64> {
        let mut random = Stream::new(5, 0, 0, Purpose::User);
        (0..samples * observations).map(|_| -1.0 - spread * random.normal().powi(2)).collect()
    }

    /// The short way through the sums is the definition: the log of the weighted mean of exp(l). The weights are those of
    /// `psis` of this crate, which `tests/suite/predictive.rs` holds to ArviZ's numbers.
    #[test]
    fn leaving_one_out_is_the_weighted_mean() {
        for (samples, spread) in [(40, 0.3), (1000, 0.1), (1000, 2.0), (4000, 40.0)] {
            let values = matrix(samples, 3, spread);
            let found = loo(&LogLikelihood::new(&values, samples, 3).unwrap(), 0.8).unwrap();
            for i in 0..3 {
                let column: Vec<f64> = values.iter().skip(i).step_by(3).copied().collect();
                let smoothed = crate::psis(&column.iter().map(|l| -l).collect::<Vec<_>>(), 0.8).unwrap();
                let terms: Vec<f64> = smoothed.log_weights.iter().zip(&column).map(|(w, l)| w + l).collect();
                let expected = log_sum_exp(&terms, range(&terms).1);
                assert!((found.pointwise[i] - expected).abs() < 1e-12 * expected.abs(), "{samples} {spread}");
                assert_eq!(found.reliability[i], smoothed.pareto_k);
            }
        }
    }

    #[test]
    fn advice_names_the_worst() {
        let mut values = matrix(1000, 4, 0.01);
        let calm = LogLikelihood::new(&values, 1000, 4).unwrap();
        let (left, criterion) = (loo(&calm, 1.0).unwrap(), waic(&calm));
        assert!(!left.warning() && left.advice().is_none() && criterion.advice().is_none(), "{left:?}");
        assert!((left.elpd - criterion.elpd).abs() < 1e-4);
        values.iter_mut().skip(2).step_by(4).for_each(|v| *v = -1.0 - (v.abs() - 1.0) * 1000.0);
        let wild = LogLikelihood::new(&values, 1000, 4).unwrap();
        let (left, criterion) = (loo(&wild, 1.0).unwrap(), waic(&wild));
        assert_eq!(left.unreliable().collect::<Vec<_>>(), [2]);
        assert!(left.warning() && left.advice().unwrap().contains("1 of 4") && criterion.warning());
        assert!(criterion.advice().unwrap().contains("observation 2"));
    }

    /// The first variable's draws are independent, the second's all NaN, as a variable that is not used may be.
    #[test]
    fn a_variable_of_nan_decides_nothing() {
        let mut posterior = Dataset::default();
        let mut random = Stream::new(6, 0, 0, Purpose::User);
        let axes = [("chain", 4), ("draw", 50)];
        posterior.insert("x", Array::new(axes, Values::F64((0..200).map(|_| random.normal()).collect())));
        let alone = relative_eff(&posterior).unwrap();
        posterior.insert("y", Array::new(axes, Values::F64(vec![f64::NAN; 200])));
        assert!(alone > 0.3 && relative_eff(&posterior).unwrap() == alone);
        posterior.variables.shift_remove("x");
        assert!(relative_eff(&posterior).unwrap().is_nan());
    }

    #[test]
    fn another_order_moves_observations() {
        let three = waic(&LogLikelihood::new(&[-1.0, -2.0, -5.0, -1.1, -2.2, -5.5], 2, 3).unwrap());
        let found = three.reordered(&[2, 0, 1]);
        assert_eq!(found.pointwise, [three.pointwise[2], three.pointwise[0], three.pointwise[1]]);
        assert_eq!((found.reliability[0], found.elpd), (three.reliability[2], three.elpd));
    }

    #[test]
    fn what_is_at_the_limit_is_reliable() {
        let calm = waic(&LogLikelihood::new(&[-1.0, -2.0, -1.1, -2.1], 2, 2).unwrap());
        let at = |reliability: [f64; 2]| Elpd { reliability: reliability.to_vec(), ..calm.clone() };
        assert_eq!((calm.good, at([0.4, 0.41]).unreliable().collect::<Vec<_>>()), (0.4, vec![1]));
        assert!(!at([0.4, 0.4]).warning());
    }

    #[test]
    fn odd_likelihoods() {
        let inf = f64::INFINITY;
        for broken in [f64::NAN, inf, -inf] {
            let mut values = matrix(100, 2, 0.1);
            values[41] = broken;
            let view = LogLikelihood::new(&values, 100, 2).unwrap();
            let (left, criterion) = (loo(&view, 1.0).unwrap(), waic(&view));
            assert!(left.pointwise[0].is_finite() && left.pointwise[1].is_nan() && left.elpd.is_nan(), "{broken}");
            assert!(criterion.pointwise[0].is_finite() && criterion.pointwise[1].is_nan(), "{broken}");
        }
        let equal = loo(&LogLikelihood::new(&[-2.0; 50], 50, 1).unwrap(), 1.0).unwrap();
        assert!((equal.elpd + 2.0).abs() < 1e-15 && equal.p.abs() < 1e-15 && equal.se == 0.0);
        assert_eq!(equal.reliability, [inf]);
        let one = loo(&LogLikelihood::new(&[-2.0, -3.0], 1, 2).unwrap(), f64::NAN).unwrap();
        assert_eq!((one.elpd, one.p), (-5.0, 0.0));
        assert!(loo(&LogLikelihood::new(&[-2.0, -3.0], 2, 1).unwrap(), 0.0).is_err());
    }

    #[test]
    fn the_first_observation_counts_too() {
        let calm = waic(&LogLikelihood::new(&[-1.0, -2.0, -1.1, -2.1], 2, 2).unwrap());
        let wild = Elpd { reliability: vec![0.5, 0.1], pointwise: vec![f64::NAN, -1.0], ..calm };
        assert_eq!(wild.unreliable().collect::<Vec<_>>(), [0]);
        assert_eq!(wild.undefined().collect::<Vec<_>>(), [0]);
        assert!((log_sum_exp(&[0.0, 1.0, 3.0], 3.0) - (1.0f64 + 1f64.exp() + 3f64.exp()).ln()).abs() < 1e-14);
        assert!(log_sum_exp(&[1.0, f64::INFINITY], f64::INFINITY).is_nan());
        let mut one = Dataset::default();
        let draws = (0..50).map(|k| f64::from(k / 10 + k % 2)).collect();
        one.insert("x", Array::new([("chain", 1), ("draw", 50)], Values::F64(draws)));
        assert_eq!(relative_eff(&one).unwrap(), 1.0);
        let Some(Values::F64(draws)) = one.variables.get("x").map(|array| array.values.clone()) else { unreachable!() };
        let mut two = Dataset::default();
        two.insert("x", Array::new([("chain", 2), ("draw", 25)], Values::F64(draws)));
        assert!(relative_eff(&two).unwrap() < 0.9);
    }
}
