//! Nested R-hat and effective sample sizes of many chains, each of few draws.
//!
//! What compares chains takes the place of what compares draws within one.
//!
//! With a handful of draws of each chain there is no autocorrelation to estimate, and split R-hat is far above 1 for
//! chains that are fine. Chains are independent, so the spread of their means says how well the mean of all is known;
//! and chains that began together (a superchain) must not be nearer to each other than to the rest.
//!
//! Margossian, C. C., Hoffman, M. D., Sountsov, P., Riou-Durand, L., Vehtari, A., Gelman, A. (2024). Nested R-hat:
//! Assessing the convergence of Markov chain Monte Carlo when running many short chains. Bayesian Analysis.

use crate::chains::{Chains, has_nan};
use crate::error::DiagError;
use crate::estimators::ess::{indicate, lesser};
use crate::numbers::moments::{mean, variance};
use crate::numbers::normal::NormalScores;
use crate::numbers::order::{Sorted, quantile, rank_normalize};

/// Returns nested R-hat: `sqrt(1 + B / W)`, B the variance between the means of superchains and W that within
/// superchains (between and within their chains; one draw of each chain is enough). `superchain_ids` has the superchain
/// of each chain. Well mixed superchains of m chains with e effective draws each give about `1 + 1 / (2 m e)`. NaN when
/// a value is not finite, all are equal, or there is one superchain. `posterior::rhat_nested`.
///
/// # Errors
/// [`DiagError::Superchains`] when there is not one id for each chain, or superchains differ in size.
pub fn rhat_nested(chains: &Chains, superchain_ids: &[usize]) -> Result<f64, DiagError> {
    let wrong = |what: String| Err(DiagError::Superchains { what });
    if superchain_ids.len() != chains.chains() {
        return wrong(format!("{} ids for {} chains", superchain_ids.len(), chains.chains()));
    }
    let mut order: Vec<usize> = (0..chains.chains()).collect();
    // A stable sort: chains of a superchain stay in their order.
    order.sort_by_key(|&chain| superchain_ids[chain]);
    let sizes: Vec<usize> =
        order.chunk_by(|&a, &b| superchain_ids[a] == superchain_ids[b]).map(<[usize]>::len).collect();
    if sizes.iter().any(|&size| size != sizes[0]) {
        return wrong(format!("superchains of {sizes:?} chains"));
    }
    let values: Vec<f64> = order.iter().flat_map(|&chain| chains.row(chain)).copied().collect();
    let (low, high) = crate::numbers::order::range(&values);
    if values.iter().any(|value| !value.is_finite()) || low == high {
        return Ok(f64::NAN);
    }
    Ok(nested(&values, chains.draws(), sizes.len()))
}

/// Nested R-hat of `values` (`chains x draws`) with `superchains` groups of consecutive chains.
pub(crate) fn nested(values: &[f64], draws: usize, superchains: usize) -> f64 {
    let size = values.len() / superchains;
    let of_one = |variance: f64, count: usize| if count == 1 { 0.0 } else { variance };
    let means: Vec<f64> = values.chunks_exact(size).map(mean).collect();
    let within: Vec<f64> = values
        .chunks_exact(size)
        .map(|superchain| {
            let chains = superchain.chunks_exact(draws);
            let of_chains: Vec<f64> = chains.clone().map(variance).collect();
            let chain_means: Vec<f64> = chains.map(mean).collect();
            of_one(mean(&of_chains), draws) + of_one(variance(&chain_means), chain_means.len())
        })
        .collect();
    (1.0 + variance(&means) / mean(&within)).sqrt()
}

/// Returns the effective sample size for the mean, in draws, from the spread of the chains' means: `Var(x) / (Var(chain
/// mean) / m)` of m chains, whatever the correlation of draws within a chain; its relative error is about `sqrt(2 /
/// m)`. NaN for one chain or when a value is NaN; the number of draws when all are equal.
pub fn ess_mean_of_chains(chains: &Chains) -> f64 {
    if chains.chains() < 2 || has_nan(chains.values()) {
        return f64::NAN;
    }
    from_means(chains.values(), chains.draws())
}

/// Returns the bulk effective sample size, as [`ess_mean_of_chains`] of the normal scores of the ranks.
pub fn ess_bulk_of_chains(chains: &Chains) -> f64 {
    if chains.chains() < 2 || has_nan(chains.values()) {
        return f64::NAN;
    }
    let sorted = Sorted::of(chains.values());
    let mut normal = vec![0.0; chains.values().len()];
    rank_normalize(&sorted, &NormalScores::new(normal.len()), &mut normal, &mut Sorted::default());
    from_means(&normal, chains.draws())
}

/// Returns the tail effective sample size: the smaller of those of the indicators of being at most the 5% and the 95%
/// quantile, as [`ess_mean_of_chains`].
pub fn ess_tail_of_chains(chains: &Chains) -> f64 {
    if chains.chains() < 2 || has_nan(chains.values()) {
        return f64::NAN;
    }
    let sorted = Sorted::of(chains.values());
    let mut indicator = Vec::new();
    let [low, high] = [0.05, 0.95].map(|prob| {
        indicate(chains.values(), quantile(&sorted.values, prob), &mut indicator);
        from_means(&indicator, chains.draws())
    });
    lesser(low, high)
}

/// Returns the effective sample size of `values` (`chains x draws`, none NaN) from the chains' means.
pub(crate) fn from_means(values: &[f64], draws: usize) -> f64 {
    let size = values.len() as f64;
    let means: Vec<f64> = values.chunks_exact(draws).map(mean).collect();
    let (all, between) = (variance(values), variance(&means));
    if all == 0.0 {
        return size;
    }
    // Antithetic draws are credited up to the limit that ArviZ sets, too.
    (means.len() as f64 * all / between).min(size * size.log10())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    #[test]
    fn nested_by_hand() {
        let values = [1.0, 3.0, 1.0, 3.0, 3.0, 4.0, 5.0, 8.0];
        let chains = Chains::new(&values, 4, 2).unwrap();
        // Superchain means 2 and 5: variance 4.5. Within: (2 + 2) / 2 + 0 and (0.5 + 4.5) / 2 + 4.5.
        let expected = (1.0f64 + 4.5 / ((2.0 + 7.0) / 2.0)).sqrt();
        assert!((rhat_nested(&chains, &[0, 0, 1, 1]).unwrap() - expected).abs() < 1e-15);
        let mixed = [1.0, 3.0, 3.0, 4.0, 1.0, 3.0, 5.0, 8.0];
        let chains = Chains::new(&mixed, 4, 2).unwrap();
        assert!((rhat_nested(&chains, &[7, 2, 7, 2]).unwrap() - expected).abs() < 1e-15);
    }

    /// `posterior` 1.7.1 in R 4.2.2, `rhat_nested(x, superchain_ids)` of
    /// `x[d, c] = ((31 c + 17 d + 5 c d) %% 23) / 4 + 0.375 (c %% 3)`, c and d counted from 0.
    #[test]
    fn nested_as_in_posterior() {
        type Id = fn(usize) -> usize;
        let cases: [(usize, usize, Id, f64); 6] = [
            (5, 4, |c| c / 2, 1.023_146_847_401_34),
            (1, 64, |c| c / 8, 1.031_527_415_146_135_3),
            (10, 12, |c| c, 1.073_928_928_875_966),
            (7, 6, |c| c % 3, 1.115_022_296_625_384_2),
            (1, 6, |c| c % 3, 13.472_193_585_307_48),
            (50, 32, |c| c / 8, 1.001_469_063_189_257),
        ];
        for (draws, chains, id, expected) in cases {
            let value = |c: usize, d: usize| ((c * 31 + d * 17 + c * d * 5) % 23) as f64 / 4.0 + 0.375 * (c % 3) as f64;
            let values: Vec<f64> = (0..chains).flat_map(|c| (0..draws).map(move |d| value(c, d))).collect();
            let ids: Vec<usize> = (0..chains).map(id).collect();
            let found = rhat_nested(&Chains::new(&values, chains, draws).unwrap(), &ids).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{draws} x {chains}: {found}, not {expected}");
        }
    }

    #[test]
    fn what_is_not_defined() {
        let of = |values: &[f64], ids: &[usize]| rhat_nested(&Chains::new(values, ids.len(), 1).unwrap(), ids);
        assert!(of(&[1.0, 2.0, f64::NAN, 4.0], &[0, 0, 1, 1]).unwrap().is_nan());
        assert!(of(&[1.0, 2.0, f64::INFINITY, 4.0], &[0, 0, 1, 1]).unwrap().is_nan());
        assert!(of(&[1.0; 4], &[0, 0, 1, 1]).unwrap().is_nan());
        assert!(of(&[1.0, 2.0, 3.0, 4.0], &[0, 0, 0, 0]).unwrap().is_nan());
        let message = of(&[1.0, 2.0, 3.0, 4.0], &[0, 0, 0, 1]).unwrap_err().to_string();
        assert!(message.contains("superchains of [3, 1] chains"), "{message}");
        let chains = Chains::new(&[1.0, 2.0], 2, 1).unwrap();
        assert!(rhat_nested(&chains, &[0]).unwrap_err().to_string().contains("1 ids for 2 chains"));
    }

    /// Chains of an autoregression of order 1, whose effective sample size is known, with few draws of each: for the mean
    /// of `n` draws it is `n / tau`, tau = 1 + 2 sum over lags k of (1 - k / n) phi^k.
    #[test]
    fn the_spread_of_means_knows_the_correlation() {
        let (chains, draws) = (4096, 8);
        for phi in [0.0f64, 0.6, -0.5] {
            let mut random = Stream::new(1, 0, 0, Purpose::User);
            let mut values = Vec::with_capacity(chains * draws);
            for _ in 0..chains {
                let mut x = random.normal();
                for _ in 0..draws {
                    values.push(x);
                    x = phi * x + (1.0 - phi * phi).sqrt() * random.normal();
                }
            }
            let lags = (1..draws).map(|k| (1.0 - k as f64 / draws as f64) * f64::powi(phi, k as i32));
            let expected = (chains * draws) as f64 / (1.0 + 2.0 * lags.sum::<f64>());
            let view = Chains::new(&values, chains, draws).unwrap();
            for found in [ess_mean_of_chains(&view), ess_bulk_of_chains(&view)] {
                let error = found / expected - 1.0;
                assert!(error.abs() < 4.0 * (2.0 / chains as f64).sqrt(), "{phi}: {found}, not {expected}");
            }
            let tail = ess_tail_of_chains(&view);
            assert!(phi != 0.0 || (tail / expected - 1.0).abs() < 0.12, "{tail}");
        }
    }

    #[test]
    fn constant_and_damaged_values() {
        let chains = Chains::new(&[2.0; 12], 4, 3).unwrap();
        assert_eq!(
            (ess_mean_of_chains(&chains), ess_bulk_of_chains(&chains), ess_tail_of_chains(&chains)),
            (12.0, 12.0, 12.0)
        );
        let damaged = [1.0, f64::NAN, 3.0, 4.0];
        let chains = Chains::new(&damaged, 2, 2).unwrap();
        assert!(ess_bulk_of_chains(&chains).is_nan() && ess_tail_of_chains(&chains).is_nan());
        let one = Chains::new(&[1.0, 2.0, 3.0], 1, 3).unwrap();
        assert!(ess_mean_of_chains(&one).is_nan());
    }

    #[test]
    fn two_chains_are_enough() {
        let chains = Chains::new(&[1.0, 2.0, 5.0, 8.0], 2, 2).unwrap();
        // Means 1.5 and 6.5: variance 12.5; that of all values is 10.
        assert!((ess_mean_of_chains(&chains) - 1.6).abs() < 1e-14);
        // Normal scores -a, -b, b, a of the ranks: a = 1.049131, b = 0.299307 (Python's statistics.NormalDist).
        assert!((ess_bulk_of_chains(&chains) - 1.745_616_697).abs() < 1e-8, "{}", ess_bulk_of_chains(&chains));
        // One draw stands apart: 2 * 0.25 / 0.125 = 4 draws, more than the limit n log10(n).
        assert!((ess_tail_of_chains(&chains) - 4.0 * 4f64.log10()).abs() < 1e-14);
    }
}
