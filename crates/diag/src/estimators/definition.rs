//! The estimators of this crate as other programs define them: ArviZ or the R package posterior.

mod posterior;

use crate::chains::Chains;
use crate::error::DiagError;
use crate::estimators::ess::{ess_below, indicate, lesser};
use crate::estimators::mcse::{quantile_error_with, sd_error};
use crate::estimators::rhat::rank_normalized;
use crate::numbers::moments::{mean, sum_by};
use crate::numbers::order::{Sorted, quantile_of_sorted};

/// Whose definition of an estimator is meant, where programs differ. The functions of this crate are
/// [`Arviz`](Self::Arviz)'s; the methods here are those of the program named.
///
/// | | ArviZ 0.23 | arviz-stats 0.8 | posterior (R) 1.4 |
/// |--|--|--|--|
/// | `mcse_sd` rests on the effective sample size of | `(x - mean)^2` | `x` | `(x - mean)^2` |
/// | all values equal: effective sample size, standard error | number of draws, 0 | number of draws, 0 | not defined |
/// | all values up to a quantile: its effective sample size | number of draws | number of draws | not defined |
/// | a value is infinite | ranks are used where they can be | as ArviZ 0.23 | R-hat and bulk ESS use ranks, others are not defined |
/// | one chain: R-hat | not defined | not defined | of its two halves |
/// | R-hat folds about the median of | the halves | the halves | the whole chains |
/// | correlations of n draws (of half a chain) are added up to lag | n - 2 | n - 2 | n - 3; below 6 draws none is |
/// | quantiles (the same but for the last bit) | `mquantiles` | `np.quantile` | type 7 |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Definition {
    /// ArviZ 0.23.
    #[default]
    Arviz,
    /// arviz-stats 0.8, of ArviZ 1.
    ArvizStats,
    /// The R package posterior 1.4.
    Posterior,
}

impl Definition {
    /// Computes [`rhat`](crate::rhat) by this definition.
    pub fn rhat(self, chains: &Chains) -> f64 {
        if self != Self::Posterior {
            return crate::rhat(chains);
        }
        if chains.valid(1) { posterior::rhat(chains) } else { f64::NAN }
    }

    /// Computes [`ess_bulk`](crate::ess_bulk) by this definition.
    pub fn ess_bulk(self, chains: &Chains) -> f64 {
        match self {
            Self::Posterior if chains.valid(1) => posterior::ess_of(chains, rank_normalized),
            _ => crate::ess_bulk(chains),
        }
    }

    /// Computes [`ess_mean`](crate::ess_mean) by this definition.
    pub fn ess_mean(self, chains: &Chains) -> f64 {
        match self {
            Self::Posterior if chains.valid(1) => posterior::ess_of(chains, |split| split.values().to_vec()),
            _ => crate::ess_mean(chains),
        }
    }

    /// Computes [`ess_tail`](crate::ess_tail) by this definition.
    pub fn ess_tail(self, chains: &Chains) -> f64 {
        if self == Self::Arviz {
            return crate::ess_tail(chains);
        }
        if !chains.valid(1) {
            return f64::NAN;
        }
        let [low, high] = [0.05, 0.95].map(|prob| self.below_quantile(chains, prob));
        if self == Self::Posterior && high.is_nan() { high } else { lesser(low, high) }
    }

    /// Computes [`ess_quantile`](crate::ess_quantile) by this definition.
    ///
    /// # Errors
    /// [`DiagError::Probability`] when `prob` does not lie between 0 and 1, both excluded.
    pub fn ess_quantile(self, chains: &Chains, prob: f64) -> Result<f64, DiagError> {
        let found = crate::ess_quantile(chains, prob)?;
        Ok(if self == Self::Arviz || !chains.valid(1) { found } else { self.below_quantile(chains, prob) })
    }

    /// Computes [`mcse_mean`](crate::mcse_mean) by this definition.
    pub fn mcse_mean(self, chains: &Chains) -> f64 {
        if self != Self::Posterior {
            return crate::mcse_mean(chains);
        }
        let squares = crate::estimators::ess::squared_deviations(chains.values());
        let size = squares.len() as f64;
        (mean(&squares) * size / (size - 1.0) / self.ess_mean(chains)).sqrt()
    }

    /// Computes [`mcse_sd`](crate::mcse_sd) by this definition.
    pub fn mcse_sd(self, chains: &Chains) -> f64 {
        if self == Self::Arviz || !chains.valid(1) {
            return crate::mcse_sd(chains);
        }
        let squares = crate::estimators::ess::squared_deviations(chains.values());
        let fourth = sum_by(&squares, |square| square * square) / squares.len() as f64;
        let ess = match self {
            Self::Posterior => self.ess_mean(&chains.with_values(&squares)),
            _ => crate::ess_mean(chains),
        };
        sd_error(mean(&squares), fourth, ess)
    }

    /// Computes [`mcse_quantile`](crate::mcse_quantile) by this definition.
    ///
    /// # Errors
    /// [`DiagError::Probability`] when `prob` does not lie between 0 and 1, both excluded.
    pub fn mcse_quantile(self, chains: &Chains, prob: f64) -> Result<f64, DiagError> {
        let found = crate::mcse_quantile(chains, prob)?;
        if self == Self::Arviz || !chains.valid(1) {
            return Ok(found);
        }
        Ok(quantile_error_with(chains, prob, self.below_quantile(chains, prob)))
    }

    fn below_quantile(self, chains: &Chains, prob: f64) -> f64 {
        if self == Self::Posterior && !posterior::defined(chains) {
            return f64::NAN;
        }
        let bound = quantile_of_sorted(&Sorted::of(chains.values()).values, prob);
        if self != Self::Posterior {
            return ess_below(chains, bound);
        }
        posterior::ess_of(chains, |split| {
            let mut below = Vec::new();
            indicate(split.values(), bound, &mut below);
            below
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posterior_judges_one_chain_and_no_constant() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i * 7919 % 1009)).collect();
        let (one, halves) = (Chains::new(&values, 1, 400).unwrap(), Chains::new(&values, 2, 200).unwrap());
        assert!(Definition::Arviz.rhat(&one).is_nan() && Definition::ArvizStats.rhat(&one).is_nan());
        let by_halves =
            crate::estimators::rhat::scale_reduction(&crate::estimators::rhat::rank_normalized(halves), 200);
        assert!(Definition::Posterior.rhat(&one) >= by_halves && Definition::Posterior.rhat(&one) < 1.02);
        let even = Chains::new(&values, 4, 100).unwrap();
        assert_eq!(Definition::Posterior.rhat(&even), crate::rhat(&even));
        assert_eq!(Definition::Posterior.mcse_sd(&even), crate::mcse_sd(&even));
        assert_eq!(Definition::Arviz.mcse_sd(&even), crate::mcse_sd(&even));
        assert_ne!(Definition::ArvizStats.mcse_sd(&even), crate::mcse_sd(&even));

        let constant = Chains::new(&[1.5; 40], 2, 20).unwrap();
        let p = Definition::Posterior;
        let none = [p.rhat(&constant), p.ess_bulk(&constant), p.ess_mean(&constant), p.ess_tail(&constant)];
        assert!(none.iter().all(|v| v.is_nan()) && p.mcse_mean(&constant).is_nan());
        assert!(p.ess_quantile(&constant, 0.5).unwrap().is_nan() && p.mcse_quantile(&constant, 0.5).unwrap().is_nan());
        assert_eq!(Definition::ArvizStats.ess_tail(&constant), 40.0);
        let infinite = Chains::new(&[1.0, 2.0, f64::INFINITY, 3.0, 4.0, 5.0, 6.0, 7.0], 2, 4).unwrap();
        assert!(p.ess_mean(&infinite).is_nan() && p.ess_tail(&infinite).is_nan() && p.rhat(&infinite).is_finite());
    }

    /// The halves of an odd chain leave its middle draw out, and a NaN there counts all the same.
    #[test]
    fn a_nan_in_the_middle_draw_makes_all_nan() {
        let mut values: Vec<f64> = (0..22).map(|i| f64::from(i * 7 % 23)).collect();
        values[5] = f64::NAN;
        let chains = Chains::new(&values, 2, 11).unwrap();
        for definition in [Definition::Arviz, Definition::ArvizStats, Definition::Posterior] {
            let sizes = [definition.ess_bulk(&chains), definition.ess_mean(&chains), definition.ess_tail(&chains)];
            let others = [definition.rhat(&chains), definition.mcse_mean(&chains), definition.mcse_sd(&chains)];
            assert!(sizes.iter().chain(&others).all(|v| v.is_nan()), "{definition:?}: {sizes:?} {others:?}");
        }
    }

    /// R-hat of one chain is posterior's alone.
    #[test]
    fn one_chain_of_four_draws_is_enough() {
        let chains = Chains::new(&[1.0, 5.0, 2.0, 4.0, 3.0, 7.0, 6.0, 8.0], 1, 8).unwrap();
        for definition in [Definition::Arviz, Definition::ArvizStats, Definition::Posterior] {
            let found = [
                definition.ess_bulk(&chains),
                definition.ess_mean(&chains),
                definition.ess_tail(&chains),
                definition.ess_quantile(&chains, 0.3).unwrap(),
                definition.mcse_mean(&chains),
                definition.mcse_sd(&chains),
                definition.mcse_quantile(&chains, 0.3).unwrap(),
            ];
            assert!(found.iter().all(|v| v.is_finite()), "{definition:?}: {found:?}");
            assert_eq!(definition.rhat(&chains).is_finite(), definition == Definition::Posterior);
        }
        let short = Chains::new(&[1.0, 2.0, 3.0], 1, 3).unwrap();
        assert!(Definition::Posterior.rhat(&short).is_nan() && Definition::ArvizStats.ess_tail(&short).is_nan());
    }
}
