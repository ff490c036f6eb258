//! Diagnostics of draws that are not kept: sums only, brought up to date chunk by chunk.
//!
//! Nested R-hat, means and variances are exactly those of all draws; effective sample sizes come from the spread of the
//! means of batches and of chains, since correlations of draws that are gone cannot be computed.
//!
//! Flegal, J. M., Jones, G. L. (2010). Batch means and spectral variance estimators in Markov chain Monte Carlo. Annals of
//! Statistics 38(2), 1034-1070.

use crate::{Chains, DiagError};

/// Mean and variance of values that come one by one (Welford 1962). Two can be merged (Chan, Golub, LeVeque 1979): what
/// comes out is the same whenever the same parts are merged in the same order. A NaN or infinite value shows in both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningMoments {
    count: u64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl RunningMoments {
    /// Takes one more value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Takes all values of another.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (own, added) = (self.count as f64, other.count as f64);
        let total = own + added;
        let apart = other.mean - self.mean;
        self.count += other.count;
        self.mean += apart * (added / total);
        self.squares += other.squares + apart * apart * (own * added / total);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean of the values; NaN without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// Returns the variance of the values, divisor `n - 1`; NaN of fewer than two.
    pub fn variance(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.squares / (self.count - 1) as f64 }
    }

    /// Returns the standard deviation of the values.
    pub fn sd(&self) -> f64 {
        self.variance().sqrt()
    }
}

/// Running diagnostics of one quantity over chains whose draws come in chunks and are not kept: memory is a few numbers for
/// each chain.
///
/// ```
/// use octopus_diag::{Chains, RunningChains};
/// let mut running = RunningChains::new(4, 2, 10)?;
/// for chunk in 0..20u32 {
///     let values: Vec<f64> = (0..40).map(|i| f64::from((chunk * 40 + i) * 7919 % 1009)).collect();
///     running.append(&Chains::new(&values, 4, 10)?)?;
/// }
/// assert_eq!(running.draws(), 200);
/// assert!(running.rhat_nested() < 1.1);
/// # Ok::<(), octopus_diag::DiagError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunningChains {
    superchains: usize,
    batch: u64,
    chains: Vec<RunningChain>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RunningChain {
    all: RunningMoments,
    /// The draws of the batch that is not full yet.
    open: RunningMoments,
    batch_means: RunningMoments,
}

impl RunningChains {
    /// Makes the sums for `chains` chains in `superchains` groups of consecutive chains that began together, and for
    /// batches of `batch` draws. A batch should be longer than draws remember each other.
    ///
    /// # Errors
    /// [`DiagError::Superchains`] when the chains cannot be divided into `superchains` equal groups,
    /// [`DiagError::Empty`] without chains or when a batch has no draw.
    pub fn new(chains: usize, superchains: usize, batch: usize) -> Result<Self, DiagError> {
        if chains == 0 || batch == 0 {
            return Err(DiagError::Empty { chains, draws: batch });
        }
        if superchains == 0 || !chains.is_multiple_of(superchains) {
            return Err(DiagError::Superchains { what: format!("{superchains} of {chains} chains") });
        }
        Ok(Self { superchains, batch: batch as u64, chains: vec![RunningChain::default(); chains] })
    }

    /// Takes the next draws of every chain, as many as there are.
    ///
    /// # Errors
    /// [`DiagError::Size`] when the number of chains is not that of the beginning.
    pub fn append(&mut self, chunk: &Chains) -> Result<(), DiagError> {
        if chunk.chains() != self.chains.len() {
            let (found, expected) = (chunk.chains(), self.chains.len());
            return Err(DiagError::Size { what: "chains of a chunk", found, expected });
        }
        for (chain, row) in self.chains.iter_mut().zip(chunk.rows()) {
            for &value in row {
                chain.all.push(value);
                chain.open.push(value);
                if chain.open.count == self.batch {
                    chain.batch_means.push(chain.open.mean);
                    chain.open = RunningMoments::default();
                }
            }
        }
        Ok(())
    }

    /// Returns the draws of each chain so far.
    pub fn draws(&self) -> u64 {
        self.chains[0].all.count
    }

    /// Returns the mean and variance of all draws.
    pub fn moments(&self) -> RunningMoments {
        merged(self.chains.iter().map(|chain| &chain.all))
    }

    /// Returns nested R-hat of all draws: [`rhat_nested`](crate::rhat_nested) with the superchains of the beginning.
    /// NaN for one superchain, when all draws are equal, or when one is not finite.
    pub fn rhat_nested(&self) -> f64 {
        let size = self.chains.len() / self.superchains;
        let of_one = |variance: f64| if variance.is_nan() { 0.0 } else { variance };
        let (mut between, mut within) = (RunningMoments::default(), RunningMoments::default());
        for superchain in self.chains.chunks_exact(size) {
            let (mut means, mut variances) = (RunningMoments::default(), RunningMoments::default());
            for chain in superchain {
                means.push(chain.all.mean());
                variances.push(of_one(chain.all.variance()));
            }
            between.push(means.mean());
            within.push(variances.mean() + of_one(means.variance()));
        }
        let (between, within) = (between.variance(), within.mean());
        // 0 / 0: all draws are equal, or there is none. A value that is not finite leaves no variance finite.
        if self.moments().variance().is_finite() { (1.0 + between / within).sqrt() } else { f64::NAN }
    }

    /// Returns the effective sample size for the mean, in draws, from the means of batches: `N Var(x) / (b Var(batch
    /// mean))` over all full batches of b draws of all chains, with the variance of the means about that of all: chains
    /// that stay apart count for little. The relative error is about `sqrt(2 / batches)`. NaN before two batches are
    /// full and when a value is not finite; the number of draws when all are equal.
    pub fn ess_mean_by_batch(&self) -> f64 {
        let means = merged(self.chains.iter().map(|chain| &chain.batch_means));
        self.worth(means.variance(), self.batch as f64)
    }

    /// Returns the effective sample size for the mean, in draws, from the spread of the chains' means:
    /// [`ess_mean_of_chains`](crate::ess_mean_of_chains).
    pub fn ess_mean_of_chains(&self) -> f64 {
        let mut means = RunningMoments::default();
        self.chains.iter().for_each(|chain| means.push(chain.all.mean()));
        self.worth(means.variance(), self.draws() as f64)
    }

    /// Returns the effective sample size of all draws when means of `size` draws vary by `variance`.
    fn worth(&self, variance: f64, size: f64) -> f64 {
        let all = self.moments();
        let count = all.count as f64;
        if all.variance() == 0.0 && !variance.is_nan() {
            return count;
        }
        let ess = count * all.variance() / (size * variance);
        // f64::min would hide NaN.
        let most = count * count.log10();
        if ess > most { most } else { ess }
    }
}

/// All of them, in order.
fn merged<'a>(parts: impl Iterator<Item = &'a RunningMoments>) -> RunningMoments {
    parts.fold(RunningMoments::default(), |mut all, part| {
        all.merge(part);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::{mean, variance};
    use crate::{ess_mean, ess_mean_of_chains, rhat_nested};
    use octopus_random::{Purpose, Stream};

    fn draws(chains: usize, draws: usize, phi: f64) -> Vec<f64> {
        let mut random = Stream::new(7, 0, 0, Purpose::User);
        let mut values = Vec::new();
        for _ in 0..chains {
            let mut x = random.normal();
            for _ in 0..draws {
                values.push(1e3 + x);
                x = phi * x + (1.0 - phi * phi).sqrt() * random.normal();
            }
        }
        values
    }

    /// The first draws of all chains, then the next.
    fn stream(values: &[f64], chains: usize, superchains: usize, batch: usize, chunk: usize) -> RunningChains {
        let draws = values.len() / chains;
        let mut running = RunningChains::new(chains, superchains, batch).unwrap();
        for first in (0..draws).step_by(chunk) {
            let count = chunk.min(draws - first);
            let part: Vec<f64> =
                values.chunks_exact(draws).flat_map(|row| &row[first..first + count]).copied().collect();
            running.append(&Chains::new(&part, chains, count).unwrap()).unwrap();
        }
        running
    }

    fn near(found: f64, expected: f64, error: f64) {
        assert!((found / expected - 1.0).abs() < error, "{found}, not {expected}");
    }

    #[test]
    fn equal_to_the_functions_of_all_draws() {
        let values = draws(32, 250, 0.6);
        let chains = Chains::new(&values, 32, 250).unwrap();
        let ids: Vec<usize> = (0..32).map(|chain| chain / 4).collect();
        let whole = stream(&values, 32, 8, 25, 250);
        for chunk in [1, 7, 100] {
            let running = stream(&values, 32, 8, 25, chunk);
            assert_eq!(running, whole, "chunks of {chunk}");
        }
        assert_eq!(whole.draws(), 250);
        near(whole.moments().mean(), mean(&values), 1e-13);
        near(whole.moments().variance(), variance(&values), 1e-11);
        near(whole.rhat_nested(), rhat_nested(&chains, &ids).unwrap(), 1e-12);
        near(whole.ess_mean_of_chains(), ess_mean_of_chains(&chains), 1e-9);
    }

    #[test]
    fn batches_know_the_correlation() {
        for phi in [0.0, 0.5, 0.9] {
            let values = draws(8, 20_000, phi);
            let running = stream(&values, 8, 1, 200, 1000);
            near(running.ess_mean_by_batch(), 160_000.0 * (1.0 - phi) / (1.0 + phi), 0.15);
            near(running.ess_mean_by_batch(), ess_mean(&Chains::new(&values, 8, 20_000).unwrap()), 0.2);
        }
    }

    #[test]
    fn merging_is_taking_one_after_the_other() {
        let values = draws(1, 1000, 0.3);
        let moments = |values: &[f64]| {
            values.iter().fold(RunningMoments::default(), |mut moments, &v| {
                moments.push(v);
                moments
            })
        };
        for cut in [0, 1, 500, 1000] {
            let mut merged = moments(&values[..cut]);
            merged.merge(&moments(&values[cut..]));
            assert_eq!(merged.count(), 1000);
            near(merged.mean(), mean(&values), 1e-14);
            near(merged.sd(), variance(&values).sqrt(), 1e-12);
        }
    }

    #[test]
    fn undefined_cases() {
        let empty = RunningChains::new(2, 2, 5).unwrap();
        assert!(empty.rhat_nested().is_nan() && empty.ess_mean_by_batch().is_nan() && empty.moments().mean().is_nan());
        assert!(RunningChains::new(0, 1, 1).is_err() && RunningChains::new(4, 3, 1).is_err());
        assert!(RunningChains::new(4, 2, 0).is_err() && RunningChains::new(4, 0, 1).is_err());
        let constant = stream(&[2.5; 40], 4, 2, 5, 3);
        assert!(constant.rhat_nested().is_nan());
        assert_eq!((constant.ess_mean_by_batch(), constant.ess_mean_of_chains()), (40.0, 40.0));
        let mut broken = draws(4, 10, 0.0);
        for bad in [f64::NAN, f64::INFINITY] {
            broken[13] = bad;
            let running = stream(&broken, 4, 2, 5, 10);
            assert!(running.rhat_nested().is_nan() && running.ess_mean_by_batch().is_nan(), "{bad}");
            assert!(running.ess_mean_of_chains().is_nan() && running.moments().variance().is_nan(), "{bad}");
        }
        let mut running = RunningChains::new(2, 2, 5).unwrap();
        assert!(running.append(&Chains::new(&[1.0], 1, 1).unwrap()).is_err());
    }
}
