//! All statistics of one quantity at once: one sort serves ranks, folded ranks, quantiles and intervals.

use crate::Chains;
use crate::chains::has_nan;
use crate::ess::{CONSTANT, Ess, indicate, lesser};
use crate::interval::{eti_of_sorted, hdi_of_sorted, sorted_nan_last};
use crate::many::{from_means, nested};
use crate::mcse::sd_error;
use crate::moments::{mean, sum_by};
use crate::normal::NormalScores;
use crate::order::{Folder, Sorted, Sorter, median, quantile, rank_normalize};
use crate::rhat::{greater, scale_reduction};
use std::sync::Arc;

/// Draws of a chain that tell their correlations; of fewer the spread of the chains' means says what they are worth.
const CORRELATED: usize = 100;

/// The numbers of one row of a summary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) hdi: [f64; 2],
    pub(crate) eti: [f64; 2],
    pub(crate) mcse_mean: f64,
    pub(crate) mcse_sd: f64,
    pub(crate) ess_bulk: f64,
    pub(crate) ess_tail: f64,
    pub(crate) rhat: f64,
    pub(crate) not_finite: usize,
    pub(crate) constant: bool,
}

/// Buffers and tables for quantities of one shape; one for each thread.
#[derive(Clone)]
pub(crate) struct Workspace {
    /// Groups of chains that began together, for many chains of few draws.
    superchains: Option<usize>,
    scores: Arc<NormalScores>,
    ess: Ess,
    sorter: Sorter,
    sorted: Sorted,
    halves: Sorted,
    folder: Folder,
    folded: Sorted,
    split: Vec<f64>,
    series: Vec<f64>,
}

impl Workspace {
    /// For quantities of `chains x draws`; with `superchains` for what compares chains.
    pub(crate) fn new(chains: usize, draws: usize, superchains: Option<usize>) -> Self {
        let half = draws / 2;
        let ranked = superchains.map_or(2 * chains * half, |_| chains * draws);
        Self {
            superchains,
            scores: Arc::new(NormalScores::new(ranked)),
            ess: Ess::new(half.max(1)),
            sorter: Sorter::default(),
            sorted: Sorted::default(),
            halves: Sorted::default(),
            folder: Folder::default(),
            folded: Sorted::default(),
            split: Vec::new(),
            series: Vec::new(),
        }
    }

    /// All statistics of `chains`, as `az.summary` defines them. (For an odd number of draws its R-hat
    /// folds about the median of all draws; `az.rhat`, and [`rhat`](crate::rhat), leave the middle draw out.)
    pub(crate) fn statistics(&mut self, chains: &Chains, prob: f64) -> Statistics {
        let values = chains.values();
        let size = values.len() as f64;
        let mean = mean(values);
        let squares = |v: f64| (v - mean) * (v - mean);
        let sum_of_squares = sum_by(values, squares);
        let nan = has_nan(values);
        let mut found = Statistics {
            mean,
            sd: (sum_of_squares / (size - 1.0)).sqrt(),
            hdi: [f64::NAN; 2],
            eti: [f64::NAN; 2],
            mcse_mean: f64::NAN,
            mcse_sd: f64::NAN,
            ess_bulk: f64::NAN,
            ess_tail: f64::NAN,
            rhat: f64::NAN,
            not_finite: if nan || !mean.is_finite() { values.iter().filter(|v| !v.is_finite()).count() } else { 0 },
            constant: false,
        };
        if nan {
            found.hdi = hdi_of_sorted(&sorted_nan_last(values), prob);
            return found;
        }
        self.sorter.sort(values, &mut self.sorted);
        let (min, max) = (self.sorted.values[0], self.sorted.values[values.len() - 1]);
        found.constant = min == max;
        found.hdi = hdi_of_sorted(&self.sorted.values, prob);
        found.eti = eti_of_sorted(&self.sorted.values, prob);
        if let Some(superchains) = self.superchains {
            self.compare_chains(chains, superchains, squares, sum_of_squares, &mut found);
            return found;
        }
        if chains.draws() < 4 {
            return found;
        }

        let split = chains.split(&mut self.split);
        self.series.clear();
        self.series.extend(split.values().iter().map(|&v| squares(v)));
        let ess_squares = self.ess.estimate(&self.series, split.chains());
        let fourth = sum_by(values, |v| squares(v) * squares(v)) / size;
        found.mcse_sd = sd_error(sum_of_squares / size, fourth, ess_squares);
        let ess_mean = self.ess.estimate_known(split.values(), split.chains(), max - min < CONSTANT);
        found.mcse_mean = (sum_of_squares / (size - 1.0) / ess_mean).sqrt();

        let mut tail = [0.0; 2];
        for (ess, prob) in tail.iter_mut().zip([0.05, 0.95]) {
            indicate(split.values(), quantile(&self.sorted.values, prob), &mut self.series);
            *ess = self.ess.estimate(&self.series, split.chains());
        }
        found.ess_tail = lesser(tail[0], tail[1]);

        let center = median(&self.sorted.values);
        let halves = halves(&self.sorted, chains.draws(), &mut self.halves);
        self.series.resize(halves.values.len(), 0.0);
        rank_normalize(halves, &self.scores, &mut self.series);
        found.ess_bulk = self.ess.estimate(&self.series, split.chains());
        if chains.chains() < 2 {
            return found;
        }
        let bulk = scale_reduction(&self.series, split.draws());
        found.rhat = if self.folder.fold(halves, center, &mut self.folded) {
            rank_normalize(&self.folded, &self.scores, &mut self.series);
            greater(bulk, scale_reduction(&self.series, split.draws()))
        } else {
            bulk
        };
        found
    }

    /// What superchains say about each other; the values are sorted. Effective sample sizes are those of the draws' own
    /// correlations where a chain has enough draws to tell them.
    fn compare_chains(
        &mut self,
        chains: &Chains,
        superchains: usize,
        squares: impl Fn(f64) -> f64,
        sum_of_squares: f64,
        found: &mut Statistics,
    ) {
        let (values, draws) = (chains.values(), chains.draws());
        let size = values.len() as f64;
        let Self { ess, split, series, sorted, scores, .. } = self;
        let mut ess = |values: &[f64]| {
            if draws < CORRELATED {
                return from_means(values, draws);
            }
            let halves = chains.with_values(values).split(split);
            ess.estimate(halves.values(), halves.chains())
        };
        series.clear();
        series.extend(values.iter().map(|&v| squares(v)));
        let fourth = sum_by(series, |square| square * square) / size;
        found.mcse_sd = sd_error(sum_of_squares / size, fourth, ess(series));
        found.mcse_mean = (sum_of_squares / (size - 1.0) / ess(values)).sqrt();
        let [low, high] = [0.05, 0.95].map(|prob| {
            indicate(values, quantile(&sorted.values, prob), series);
            ess(series)
        });
        found.ess_tail = lesser(low, high);
        series.resize(values.len(), 0.0);
        rank_normalize(sorted, scores, series);
        found.ess_bulk = ess(series);
        if found.constant {
            return;
        }
        found.rhat = nested(&self.series, draws, superchains);
        if self.folder.fold(&self.sorted, median(&self.sorted.values), &mut self.folded) {
            rank_normalize(&self.folded, &self.scores, &mut self.series);
            found.rhat = greater(found.rhat, nested(&self.series, draws, superchains));
        }
    }
}

/// The sorted values of the split chains: all for an even number of draws, all but each chain's middle
/// draw for an odd one, with their places in the split array.
fn halves<'a>(sorted: &'a Sorted, draws: usize, buffer: &'a mut Sorted) -> &'a Sorted {
    if draws.is_multiple_of(2) {
        return sorted;
    }
    let half = draws / 2;
    buffer.values.clear();
    buffer.places.clear();
    for (&value, &place) in sorted.values.iter().zip(&sorted.places) {
        let (chain, draw) = (place as usize / draws, place as usize % draws);
        if draw != half {
            buffer.values.push(value);
            buffer.places.push((chain * 2 * half + draw - usize::from(draw > half)) as u32);
        }
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ess_bulk, ess_tail, eti, hdi, mcse_mean, mcse_sd, rhat};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_estimators_one_by_one(
            values in prop::collection::vec(prop_oneof![-2.0..2.0f64, (-1i32..2).prop_map(f64::from)], 160..170),
            chains in 1..5usize,
        ) {
            let draws = values.len() / chains / 2 * 2;
            let chains = Chains::new(&values[..chains * draws], chains, draws).unwrap();
            let found = Workspace::new(chains.chains(), draws, None).statistics(&chains, 0.89);
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

    #[test]
    fn odd_chains_lose_their_middle_place() {
        let places = vec![5, 0, 2, 9, 7, 1, 3, 4, 6, 8];
        let sorted = Sorted { values: places.iter().copied().map(f64::from).collect(), places };
        let mut buffer = Sorted::default();
        let places = &halves(&sorted, 5, &mut buffer).places;
        assert_eq!(*places, [4, 0, 7, 1, 2, 3, 5, 6]);
    }
}
