//! The comparison of models by expected log predictive density: their ranking, differences and weights.
//!
//! Weights are by stacking (its own file), pseudo-BMA, or pseudo-BMA with Bayesian bootstraps.
//!
//! Yao, Y., Vehtari, A., Simpson, D., Gelman, A. (2018). Using stacking to average Bayesian predictive distributions.
//! Bayesian Analysis 13(3), 917-1007.

mod stacking;

use crate::error::DiagError;
use crate::numbers::moments::{squares_about_mean, sum_by};
use crate::predictive::elpd::{Elpd, standard_error};

/// How the weights of models are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightMethod {
    /// The mixture of the models that predicts best. ArviZ stops at 1e-6 of the log score; the weights here are the optimum.
    #[default]
    Stacking,
    /// Akaike-like weights `exp(elpd)`, averaged over Bayesian bootstraps of the observations.
    BbPseudoBma {
        /// Bootstraps.
        samples: u32,
        /// The seed of the bootstrap's random numbers, which are not NumPy's.
        seed: u64,
    },
    /// Akaike-like weights `exp(elpd)`.
    PseudoBma,
}

/// One model of a comparison: a row of `az.compare`, whose `scale` is `log`.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedModel {
    /// The model's name.
    pub name: String,
    /// The model's place, 0 for the best.
    pub rank: usize,
    /// The model's expected log predictive density.
    pub elpd: f64,
    /// The model's effective number of parameters.
    pub p: f64,
    /// The best model's `elpd` less this model's.
    pub elpd_diff: f64,
    /// The model's weight; the weights of all models sum to 1.
    pub weight: f64,
    /// The standard error of `elpd`; by bootstrap for BB-pseudo-BMA.
    pub se: f64,
    /// The standard error of `elpd_diff`.
    pub dse: f64,
    /// Whether the estimate is unreliable for an observation.
    pub warning: bool,
}

/// Ranks models of the same observations, best first. `az.compare`.
///
/// # Errors
/// [`DiagError::Models`] for fewer than two models, different criteria or numbers of observations, a name that comes twice,
/// or an elpd that is not finite.
pub fn compare(models: &[(&str, &Elpd)], method: WeightMethod) -> Result<Vec<ComparedModel>, DiagError> {
    check(models)?;
    let mut sorted = models.to_vec();
    // Stable, and no elpd is NaN: equal models stay in their order.
    sorted.sort_by(|a, b| b.1.elpd.total_cmp(&a.1.elpd));
    let pointwise: Vec<&[f64]> = sorted.iter().map(|(_, elpd)| elpd.pointwise.as_slice()).collect();
    let (weights, errors) = match method {
        WeightMethod::Stacking => (stacking::weights(&pointwise), None),
        WeightMethod::PseudoBma => (softmax(&sorted.iter().map(|(_, elpd)| elpd.elpd).collect::<Vec<_>>()), None),
        WeightMethod::BbPseudoBma { samples, seed } => {
            let (weights, errors) = bootstrap(&pointwise, samples.max(1), seed);
            (weights, Some(errors))
        }
    };
    let best = pointwise[0];
    Ok((sorted.iter().zip(weights).enumerate())
        .map(|(rank, (&(name, elpd), weight))| {
            let lacks: Vec<f64> = best.iter().zip(&elpd.pointwise).map(|(best, own)| best - own).collect();
            ComparedModel {
                name: name.to_owned(),
                rank,
                elpd: elpd.elpd,
                p: elpd.p,
                elpd_diff: sum_by(&lacks, |v| v),
                weight,
                se: errors.as_ref().map_or(elpd.se, |errors: &Vec<f64>| errors[rank]),
                dse: standard_error(&lacks),
                warning: elpd.warning(),
            }
        })
        .collect())
}

fn check(models: &[(&str, &Elpd)]) -> Result<(), DiagError> {
    let wrong = |what: String| Err(DiagError::Models { what });
    let [(first, one), rest @ ..] = models else { return wrong("none was given".to_owned()) };
    if rest.is_empty() {
        return wrong(format!("{first} is the only one"));
    }
    for (i, (name, elpd)) in models.iter().enumerate() {
        if !elpd.pointwise.iter().all(|v| v.is_finite()) {
            return wrong(format!("{name} has an observation whose elpd is not finite"));
        }
        if models[..i].iter().any(|(other, _)| other == name) {
            return wrong(format!("{name} comes twice"));
        }
        if elpd.criterion != one.criterion {
            let (a, b) = (one.criterion.name(), elpd.criterion.name());
            return wrong(format!("{first} was judged by {a}, {name} by {b}"));
        }
        if elpd.pointwise.len() != one.pointwise.len() {
            let (a, b) = (one.pointwise.len(), elpd.pointwise.len());
            return wrong(format!("{first} has {a} observations, {name} {b}"));
        }
    }
    Ok(())
}

/// `exp(x)` over their sum.
fn softmax(values: &[f64]) -> Vec<f64> {
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raw: Vec<f64> = values.iter().map(|v| (v - max).exp()).collect();
    let total: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / total).collect()
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    /// Returns the draws a number in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
    }
}

/// Returns the mean weight of each model over Bayesian bootstraps, and the standard deviation of its elpd.
fn bootstrap(pointwise: &[&[f64]], samples: u32, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let observations = pointwise[0].len();
    let mut weights = vec![0.0; pointwise.len()];
    let mut elpds = vec![Vec::new(); pointwise.len()];
    let mut random = SplitMix(seed);
    for _ in 0..samples {
        // Exponentials over their sum are uniform on the simplex: Dirichlet(1, ..., 1).
        let shares: Vec<f64> = (0..observations).map(|_| -(1.0 - random.uniform()).ln()).collect();
        let scale = observations as f64 / shares.iter().sum::<f64>();
        let found: Vec<f64> = pointwise
            .iter()
            .map(|model| scale * model.iter().zip(&shares).map(|(v, share)| v * share).sum::<f64>())
            .collect();
        weights.iter_mut().zip(softmax(&found)).for_each(|(sum, weight)| *sum += weight / f64::from(samples));
        elpds.iter_mut().zip(found).for_each(|(all, elpd)| all.push(elpd));
    }
    let deviation = |values: &Vec<f64>| (squares_about_mean(values) / values.len() as f64).sqrt();
    (weights, elpds.iter().map(deviation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictive::elpd::ElpdMethod;

    fn elpd(pointwise: Vec<f64>) -> Elpd {
        Elpd {
            criterion: ElpdMethod::Loo,
            elpd: pointwise.iter().sum(),
            se: standard_error(&pointwise),
            p: 1.0,
            n_samples: 100,
            n_data_points: pointwise.len(),
            reliability: vec![0.1; pointwise.len()],
            pointwise,
            good: 0.5,
        }
    }

    #[test]
    fn ranks_differences_and_weights() {
        let (good, bad) = (elpd(vec![-1.0, -2.0, -1.5, -1.0]), elpd(vec![-1.5, -2.5, -2.5, -1.5]));
        let found = compare(&[("bad", &bad), ("good", &good)], WeightMethod::PseudoBma).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].rank, found[0].elpd_diff, found[0].dse), ("good", 0, 0.0, 0.0));
        assert_eq!((found[1].elpd_diff, found[1].rank), (2.5, 1));
        // The model lacks 0.5, 0.5, 1 and 0.5: their mean is 0.625, and that of their squares 0.4375.
        assert!((found[1].dse - (4.0f64 * (0.4375 - 0.390_625)).sqrt()).abs() < 1e-12, "{}", found[1].dse);
        assert!((found[0].weight - 1.0 / (1.0 + (-2.5f64).exp())).abs() < 1e-15);
        // Better everywhere: the mixture is the better model alone.
        let stacked = compare(&[("bad", &bad), ("good", &good)], WeightMethod::Stacking).unwrap();
        assert!(stacked[0].weight > 1.0 - 1e-9 && (stacked[0].weight + stacked[1].weight - 1.0).abs() < 1e-14);
    }

    /// The standard deviation of the bootstrapped elpd is `sqrt(n Var n / (n + 1))`.
    #[test]
    fn weights_of_elpds_far_from_zero_are_finite() {
        assert_eq!(softmax(&[-5000.0, -5000.0]), [0.5, 0.5]);
        assert!((softmax(&[2000.0, 2000.0 + 3f64.ln()])[1] - 0.75).abs() < 1e-12);
    }

    /// The first numbers of SplitMix64 from the seed 0, as its authors print them.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(0);
        for bits in [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f] {
            assert_eq!(random.uniform(), (bits >> 11) as f64 * 2f64.powi(-53));
        }
    }

    #[test]
    fn bootstraps_know_the_standard_error() {
        let values: Vec<f64> = (0..200).map(|i| -f64::from(i * 37 % 101) / 50.0).collect();
        let (model, other) = (elpd(values.clone()), elpd(values.iter().map(|v| v - 0.002).collect()));
        let method = WeightMethod::BbPseudoBma { samples: 4000, seed: 3 };
        let found = compare(&[("a", &model), ("b", &other)], method).unwrap();
        assert!((found[0].se / (model.se * (200.0f64 / 201.0).sqrt()) - 1.0).abs() < 0.05, "{found:?}");
        // The difference is the same in every bootstrap.
        assert!((found[0].weight - 1.0 / (1.0 + (-0.4f64).exp())).abs() < 1e-12, "{found:?}");
    }

    /// One bootstrap of two observations: the shares are exponential quantiles at the generator's published numbers.
    #[test]
    fn shares_are_exponential() {
        let (one, other) = (elpd(vec![-1.0, -2.0]), elpd(vec![-2.0, -1.5]));
        let found = compare(&[("a", &one), ("b", &other)], WeightMethod::BbPseudoBma { samples: 1, seed: 0 }).unwrap();
        let [first, second] = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4].map(|bits| {
            let uniform = (bits >> 11) as f64 * 2f64.powi(-53);
            -(1.0 - uniform).ln()
        });
        // The second model is ahead by -1 at the first observation and by 0.5 at the second.
        let ahead = 2.0 * (0.5 * second - first) / (first + second);
        assert!((found[0].weight - 1.0 / (1.0 + ahead.exp())).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_cannot_be_compared() {
        let (model, short, broken) = (elpd(vec![-1.0, -2.0]), elpd(vec![-1.0]), elpd(vec![-1.0, f64::NAN]));
        let waic = Elpd { criterion: ElpdMethod::Waic, ..model.clone() };
        let error = |models: &[(&str, &Elpd)]| compare(models, WeightMethod::Stacking).unwrap_err().to_string();
        assert!(error(&[]).contains("none") && error(&[("a", &model)]).contains("only"));
        assert!(error(&[("a", &model), ("b", &short)]).contains("2 observations, b 1"));
        assert!(error(&[("a", &model), ("b", &broken)]).contains("not finite"));
        assert!(error(&[("a", &model), ("b", &waic)]).contains("waic"));
        assert!(error(&[("a", &model), ("a", &model)]).contains("twice"));
    }

    #[test]
    fn no_bootstrap_counts_as_one() {
        let (one, other) = (elpd(vec![-1.0, -2.0]), elpd(vec![-2.0, -1.5]));
        let of =
            |samples| compare(&[("a", &one), ("b", &other)], WeightMethod::BbPseudoBma { samples, seed: 9 }).unwrap();
        assert_eq!(of(0), of(1));
        assert!(of(1).iter().all(|model| model.weight > 0.0 && model.p == 1.0));
    }
}
