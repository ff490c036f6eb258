//! All statistics of a summary's row at once: one sort serves ranks, folded ranks, quantiles and intervals.

use crate::chains::has_nan;
use crate::estimators::ess::{Ess, lesser};
use crate::estimators::interval::{eti_of_sorted, hdi_of_sorted, sorted_nan_last};
use crate::estimators::many::{from_means, nested};
use crate::estimators::mcse::sd_error;
use crate::estimators::rhat::{greater, scale_reduction};
use crate::numbers::fold::fold;
use crate::numbers::moments::{mean, sum_by};
use crate::numbers::normal::NormalScores;
use crate::numbers::order::{Sorted, Sorter, median, quantile, rank_normalize};
use crate::numbers::scale;
use crate::summary::parameter::ParameterSummary;
use std::sync::Arc;

/// Draws of a chain that tell their correlations; of fewer the spread of the chains' means says what they are worth.
const CORRELATED: usize = 100;

/// Buffers and tables for quantities of one shape; one for each thread. Of millions of values each buffer weighs, and so it
/// serves for more than one thing: two `Sorted` and the values themselves are all there are.
#[derive(Clone)]
pub(crate) struct ElementWorkspace {
    chains: usize,
    draws: usize,
    /// Groups of chains that began together, for many chains of few draws.
    superchains: Option<usize>,
    scores: Arc<NormalScores>,
    ess: Ess,
    sorter: Sorter,
    sorted: Sorted,
    /// The folded values, sorted; until they are made, space for other work.
    folded: Sorted,
}

impl ElementWorkspace {
    /// Makes the buffers for quantities of `chains x draws`; with `superchains`, chains are compared in that many
    /// groups.
    pub(crate) fn new(chains: usize, draws: usize, superchains: Option<usize>) -> Self {
        let half = draws / 2;
        let ranked = superchains.map_or(2 * chains * half, |_| chains * draws);
        Self {
            chains,
            draws,
            superchains,
            scores: Arc::new(NormalScores::new(ranked)),
            ess: Ess::new(half.max(1)),
            sorter: Sorter::default(),
            sorted: Sorted::default(),
            folded: Sorted::default(),
        }
    }

    /// All statistics of `values` (`chains x draws`), as `az.summary` defines them, but for the parameter's name;
    /// afterwards the values are without meaning.
    /// R-hat is [`rhat`](crate::rhat), as `az.rhat` defines it. `az.summary` has another for an odd number of draws: it
    /// folds about the median of all draws, not of the halves that it compares, and differs by up to 0.2 at 5 draws.
    pub(crate) fn statistics(&mut self, values: &mut [f64], prob: f64) -> ParameterSummary {
        debug_assert_eq!(values.len(), self.chains * self.draws);
        let unit = scale::unit(values);
        if unit == 1.0 {
            return self.in_this_unit(values, prob);
        }
        values.iter_mut().for_each(|value| *value *= unit);
        let found = self.in_this_unit(values, prob);
        ParameterSummary {
            mean: found.mean / unit,
            sd: found.sd / unit,
            hdi: found.hdi.map(|end| end / unit),
            eti: found.eti.map(|end| end / unit),
            mcse_mean: found.mcse_mean / unit,
            mcse_sd: found.mcse_sd / unit,
            ..found
        }
    }

    /// Does what [`statistics`](Self::statistics) does, for values whose fourth powers are no larger than their type holds.
    fn in_this_unit(&mut self, values: &mut [f64], prob: f64) -> ParameterSummary {
        let size = values.len() as f64;
        // The sum of equal numbers is rounded: the mean of large ones would lie beside them.
        let constant = values.first().is_some_and(|first| values.iter().all(|value| value == first));
        let mean = if constant { values[0] } else { mean(values) };
        let squares = |v: f64| (v - mean) * (v - mean);
        let sum_of_squares = sum_by(values, squares);
        let nan = has_nan(values);
        let mut found = ParameterSummary {
            mean,
            sd: (sum_of_squares / (size - 1.0)).sqrt(),
            not_finite: if nan || !mean.is_finite() { values.iter().filter(|v| !v.is_finite()).count() } else { 0 },
            constant,
            ..ParameterSummary::default()
        };
        if nan {
            found.hdi = hdi_of_sorted(&sorted_nan_last(values), prob);
            return found;
        }
        self.sorter.sort(values, &mut self.sorted);
        let sorted = &self.sorted.values;
        found.hdi = hdi_of_sorted(sorted, prob);
        found.eti = eti_of_sorted(sorted, prob);
        if self.draws < 4 && self.superchains.is_none() {
            return found;
        }
        let tails = [0.05, 0.95].map(|prob| quantile(sorted, prob));

        let fourth = sum_by(values, |v| squares(v) * squares(v)) / size;
        let ess_squares = self.worth_of(values, squares);
        found.mcse_sd = sd_error(sum_of_squares / size, fourth, ess_squares);
        found.mcse_mean = (sum_of_squares / (size - 1.0) / self.worth_of(values, |v| v)).sqrt();
        let [low, high] = tails.map(|bound| self.worth_below(values, bound));
        found.ess_tail = lesser(low, high);
        self.compare(values, &mut found);
        found
    }

    /// Compares chains by the ranks of the values and of their distances from the median. The scores overwrite the
    /// values.
    fn compare(&mut self, values: &mut [f64], found: &mut ParameterSummary) {
        let comparable = match self.superchains {
            Some(_) => !found.constant,
            None => self.chains > 1,
        };
        if self.superchains.is_none() {
            drop_middles(&mut self.sorted, self.draws);
        }
        let center = median(&self.sorted.values);
        let scores = &mut values[..self.sorted.values.len()];
        rank_normalize(&self.sorted, &self.scores, scores, &mut self.folded);
        if comparable {
            found.rhat = self.reduction(scores);
        }
        found.ess_bulk = self.worth(scores);
        if comparable && fold(&mut self.sorted, center, &mut self.folded) {
            rank_normalize(&self.folded, &self.scores, scores, &mut self.sorted);
            found.rhat = greater(found.rhat, self.reduction(scores));
        }
    }

    /// Returns R-hat of scores: of halves of chains, or of superchains.
    fn reduction(&self, scores: &[f64]) -> f64 {
        match self.superchains {
            Some(superchains) => nested(scores, self.draws, superchains),
            None => scale_reduction(scores, self.draws / 2),
        }
    }

    /// Returns the effective sample size for the mean of `f`.
    fn worth_of(&mut self, values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        self.folded.reserve(values.len());
        let mut series = std::mem::take(&mut self.folded.values);
        series.clear();
        series.extend(values.iter().map(|&v| f(v)));
        let found = self.worth(&mut series);
        self.folded.values = series;
        found
    }

    /// Returns the effective sample size for the probability of being at most `bound`.
    fn worth_below(&mut self, values: &[f64], bound: f64) -> f64 {
        if self.by_means() {
            return self.worth_of(values, |v| f64::from(u8::from(v <= bound)));
        }
        self.ess.estimate_indicator(values, self.draws, |v| v <= bound)
    }

    /// Returns whether chains are too short to tell the draws' own correlations.
    fn by_means(&self) -> bool {
        self.superchains.is_some() && self.draws < CORRELATED
    }

    /// Returns the effective sample size for the mean of `series`, of whole chains or of their halves; afterwards it is
    /// without meaning. It is that of the draws' own correlations where a chain has enough draws to tell them.
    fn worth(&mut self, series: &mut [f64]) -> f64 {
        if self.by_means() {
            return from_means(series, self.draws);
        }
        let halves = if series.len() == self.chains * self.draws { halves(series, self.draws) } else { series };
        self.ess.estimate_in_place(halves)
    }
}

/// Returns the halves of chains: an odd chain loses its middle draw, and those behind it move up.
fn halves(series: &mut [f64], draws: usize) -> &mut [f64] {
    if draws.is_multiple_of(2) {
        return series;
    }
    let mut len = 0;
    for from in (0..series.len()).step_by(draws) {
        for range in [from..from + draws / 2, from + draws / 2 + 1..from + draws] {
            let size = range.len();
            series.copy_within(range, len);
            len += size;
        }
    }
    &mut series[..len]
}

/// Leaves the sorted values of the halves of chains: an odd chain loses its middle draw. Places are then those among them.
fn drop_middles(sorted: &mut Sorted, draws: usize) {
    if draws.is_multiple_of(2) {
        return;
    }
    let half = draws / 2;
    let mut len = 0;
    for k in 0..sorted.values.len() {
        let (chain, draw) = (sorted.places[k] as usize / draws, sorted.places[k] as usize % draws);
        if draw != half {
            sorted.values[len] = sorted.values[k];
            sorted.places[len] = (chain * 2 * half + draw - usize::from(draw > half)) as u32;
            len += 1;
        }
    }
    sorted.values.truncate(len);
    sorted.places.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chains::Chains;
    use crate::estimators::ess::{ess_bulk, ess_tail};
    use crate::estimators::interval::{eti, hdi};
    use crate::estimators::mcse::{mcse_mean, mcse_sd};
    use crate::estimators::rhat::rhat;
    use proptest::prelude::*;

    proptest! {
        /// Compares one pass over a variable with this crate's estimators, which `tests/suite/arviz.rs` holds to ArviZ's
        /// numbers.
        #[test]
        fn agrees_with_the_estimators_one_by_one(
            values in prop::collection::vec(prop_oneof![-2.0..2.0f64, (-1i32..2).prop_map(f64::from)], 160..170),
            chains in 1..5usize,
        ) {
            let draws = values.len() / chains;
            let chains = Chains::new(&values[..chains * draws], chains, draws).unwrap();
            let mut values = chains.values().to_vec();
            let found = ElementWorkspace::new(chains.chains(), draws, None).statistics(&mut values, 0.89);
            let same = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * b.abs();
            prop_assert!(same(found.rhat, rhat(&chains)));
            prop_assert!(same(found.ess_bulk, ess_bulk(&chains)));
            prop_assert!(same(found.ess_tail, ess_tail(&chains)));
            prop_assert!(same(found.mcse_mean, mcse_mean(&chains)));
            prop_assert!(same(found.mcse_sd, mcse_sd(&chains)));
            prop_assert_eq!(found.hdi, hdi(&chains, 0.89).unwrap());
            prop_assert_eq!(found.eti, eti(&chains, 0.89).unwrap());
            prop_assert!(!found.constant && found.not_finite == 0);
        }
    }

    /// Finite draws are so, also where their sum is not.
    #[test]
    fn draws_that_are_not_finite_are_counted() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (mut values, count) in
            [([1.0, 2.0, 4.0, 3.0], 0), ([nan, inf, 1.0, -inf], 3), ([inf, 1.0, 2.0, inf], 2), ([f64::MAX; 4], 0)]
        {
            assert_eq!(ElementWorkspace::new(2, 2, None).statistics(&mut values, 0.89).not_finite, count);
        }
    }

    /// Draws that are as they are in another unit: all but the unit is the same, to the last bit.
    #[test]
    fn squares_of_huge_and_tiny_draws_are_no_matter() {
        let plain: Vec<f64> = (0..400).map(|k| f64::from(k * 7919 % 1009) / 64.0 - 7.0).collect();
        let of = |unit: f64| {
            let mut values: Vec<f64> = plain.iter().map(|v| v * unit).collect();
            ElementWorkspace::new(4, 100, None).statistics(&mut values, 0.89)
        };
        let expected = of(1.0);
        assert!(expected.sd > 4.0 && expected.mcse_sd > 0.0);
        for exponent in [1000, 660, 260, -510, -1000] {
            let unit = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            let found = of(unit);
            assert_eq!(
                [found.rhat, found.ess_bulk, found.ess_tail],
                [expected.rhat, expected.ess_bulk, expected.ess_tail]
            );
            for (found, expected) in [
                (found.mean, expected.mean),
                (found.sd, expected.sd),
                (found.hdi[0], expected.hdi[0]),
                (found.eti[1], expected.eti[1]),
                (found.mcse_mean, expected.mcse_mean),
                (found.mcse_sd, expected.mcse_sd),
            ] {
                assert!((found / (expected * unit) - 1.0).abs() <= 1e-15, "2^{exponent}: {found} {expected}");
            }
            assert_eq!(found.not_finite, 0);
        }
    }

    #[test]
    fn odd_chains_lose_their_middle_place() {
        let places = vec![5, 0, 2, 9, 7, 1, 3, 4, 6, 8];
        let mut sorted = Sorted { values: places.iter().copied().map(f64::from).collect(), places };
        drop_middles(&mut sorted, 5);
        assert_eq!(sorted.places, [4, 0, 7, 1, 2, 3, 5, 6]);
        assert_eq!(sorted.values, [5.0, 0.0, 9.0, 1.0, 3.0, 4.0, 6.0, 8.0]);
        let mut series: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(halves(&mut series, 5), [0.0, 1.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0]);
    }
}
