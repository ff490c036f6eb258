//! Bridge sampling: the ratio of the normalising constants of two densities, from draws of both.
//!
//! Meng, X.-L., Wong, W. H. (1996). Simulating ratios of normalizing constants via a simple identity. Statistica Sinica 6,
//! 831-860: the optimal bridge. Draws count by their effective sample size, and the error is by Fruehwirth-Schnatter,
//! S. (2004). Estimating marginal likelihoods for mixture and Markov switching models using bridge sampling techniques.
//! Econometrics Journal 7, 143-167, with autocorrelations as in the R package bridgesampling (Gronau, Singmann and
//! Wagenmakers 2020, Journal of Statistical Software 92(10)).

use crate::chains::Chains;
use crate::error::DiagError;
use crate::estimators::ess::ess_mean;
use crate::numbers::moments::{mean, variance};

/// Halvings of the interval that has the estimate: as many as a double has bits, and its exponent's.
const HALVINGS: usize = 128;

/// The logarithm of the integral of a density, with how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgeEstimate {
    /// The logarithm of the integral.
    pub log_integral: f64,
    /// Its standard error, which is the relative error of the integral.
    pub standard_error: f64,
    /// How much the density and the proposal have in common, from 0 to 1: the mean of their bridge under either.
    pub overlap: f64,
    /// The effective sample size of the draws in the bridge.
    pub ess: f64,
}

/// Estimates the integral of a density p from draws of it, chains of a sampler, and independent draws of a proposal q that
/// integrates to 1. Both are given by ln p - ln q at the draws; minus infinity at a draw of q where p vanishes.
///
/// The integral r solves `mean over q of p / (s1 p + s2 r q) = mean over p of r q / (s1 p + s2 r q)`, where s1 and s2 are the
/// shares of the draws, those of p counted by their effective sample size. One side falls with r and the other rises, so
/// that there is one solution, which is found by halving an interval.
///
/// Numbers are NaN where a ratio is, or the effective sample size ([`ess_mean`](crate::ess_mean)).
///
/// # Errors
/// [`DiagError::Empty`] without draws of q.
pub fn bridge(of_density: &Chains, of_proposal: &[f64]) -> Result<BridgeEstimate, DiagError> {
    if of_proposal.is_empty() {
        return Err(DiagError::Empty { chains: 1, draws: 0 });
    }
    let nothing = BridgeEstimate { log_integral: f64::NAN, standard_error: f64::NAN, overlap: f64::NAN, ess: f64::NAN };
    let all = || of_density.values().iter().chain(of_proposal).copied();
    let bridge = OptimalBridge::new(of_density, of_proposal.len());
    if all().any(|x| x.is_nan() || x == f64::INFINITY) || bridge.shares[0].is_nan() {
        return Ok(nothing);
    }
    let finite = all().filter(|x| x.is_finite());
    let (mut low, mut high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (x.min(low), x.max(high)));
    // Where all ratios are equal, so is the integral.
    (low, high) = (low - 1.0, high + 1.0);
    for _ in 0..HALVINGS {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            break;
        }
        let is_low = mean(&bridge.of_q(of_proposal, middle)) > mean(&bridge.of_p(of_density.values(), middle));
        if is_low { low = middle } else { high = middle }
    }
    let log_integral = low + 0.5 * (high - low);
    let (of_q, of_p) = (bridge.of_q(of_proposal, log_integral), bridge.of_p(of_density.values(), log_integral));
    let ess = ess_mean(&of_density.with_values(&of_p)).min(of_density.values().len() as f64);
    let squared_error =
        relative_variance(&of_q, &of_q) / of_proposal.len() as f64 + relative_variance(&of_p, &of_p) / ess;
    Ok(BridgeEstimate { log_integral, standard_error: squared_error.sqrt(), overlap: mean(&of_q).min(1.0), ess })
}

/// Returns the covariance of two estimates by [`bridge`], each from one half of the draws of p with a proposal that was fitted
/// to the other half. It is told by one of the halves: `of_density` is ln p - ln q at its draws, `of_own_fit` the same with
/// the proposal that was fitted to these very draws, and `found` is its estimate from as many `proposals`.
///
/// What a half errs by because of its proposal is the deviation of the one half, by which the fit is off, times the deviation
/// of the other, by which the mean over draws is off: both halves err by the same product. The bridge to these draws
/// changes by the errors of both fits when one fit takes the place of the other, so that half of the change's variance is
/// one fit's.
pub fn bridge_covariance(of_density: &Chains, of_own_fit: &[f64], proposals: usize, found: &BridgeEstimate) -> f64 {
    let bridge = OptimalBridge::new(of_density, proposals);
    let of_p = bridge.of_p(of_density.values(), found.log_integral);
    let own = bridge.of_p(of_own_fit, found.log_integral);
    let change: Vec<f64> = of_p.iter().zip(&own).map(|(x, own)| x - own).collect();
    (0.5 * relative_variance(&change, &of_p)).min(relative_variance(&of_p, &of_p)) / found.ess
}

/// The optimal bridge between a density p and a proposal q, as a function of ln p - ln q and of ln r, the ratio of their
/// integrals.
struct OptimalBridge {
    /// The shares of p and q in all draws, where draws of p count by their effective sample size.
    shares: [f64; 2],
}

impl OptimalBridge {
    fn new(of_density: &Chains, proposals: usize) -> Self {
        let (effective, proposals) = (ess_mean(of_density).min(of_density.values().len() as f64), proposals as f64);
        Self { shares: [effective / (effective + proposals), proposals / (effective + proposals)] }
    }

    /// p / (s1 p + s2 r q) at draws of q.
    fn of_q(&self, of_proposal: &[f64], log: f64) -> Vec<f64> {
        of_proposal.iter().map(|x| 1.0 / (self.shares[0] + self.shares[1] * (log - x).exp())).collect()
    }

    /// r q / (s1 p + s2 r q) at draws of p.
    fn of_p(&self, of_density: &[f64], log: f64) -> Vec<f64> {
        of_density.iter().map(|x| 1.0 / (self.shares[0] * (x - log).exp() + self.shares[1])).collect()
    }
}

/// The variance of values in units of the squared mean of others.
fn relative_variance(values: &[f64], others: &[f64]) -> f64 {
    variance(values) / (mean(others) * mean(others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// ln of 7 times the density of N(shift, 1), over that of N(0, s).
    fn ratio(x: f64, shift: f64, s: f64) -> f64 {
        7_f64.ln() - 0.5 * (x - shift) * (x - shift) + 0.5 * (x / s) * (x / s) + s.ln()
    }

    fn estimate(seed: u64, draws: usize, shift: f64, s: f64, memory: f64) -> BridgeEstimate {
        let mut random = Stream::new(seed, 0, 0, Purpose::User);
        let mut x = random.normal();
        let fresh = (1.0 - memory * memory).sqrt();
        let chain: Vec<f64> = (0..draws)
            .map(|_| {
                x = memory * x + fresh * random.normal();
                ratio(x + shift, shift, s)
            })
            .collect();
        let proposals: Vec<f64> = (0..draws).map(|_| ratio(s * random.normal(), shift, s)).collect();
        bridge(&Chains::new(&chain, 1, draws).unwrap(), &proposals).unwrap()
    }

    /// A density that is 7 times a normal one integrates to 7, whatever the proposal; errors are as large as they say, of draws
    /// with a memory, too.
    #[test]
    fn integrals_are_right_within_their_errors() {
        for (shift, s, memory) in [(0.0, 1.0, 0.0), (0.5, 1.5, 0.0), (1.0, 0.8, 0.0), (0.5, 1.5, 0.8), (1.0, 0.8, 0.8)]
        {
            let deviations: Vec<f64> = (0..300)
                .map(|seed| {
                    let BridgeEstimate { log_integral, standard_error, overlap, .. } =
                        estimate(seed, 400, shift, s, memory);
                    assert!(overlap > 0.0 && overlap <= 1.0, "{overlap}");
                    if shift == 0.0 {
                        assert!(
                            (log_integral - 7_f64.ln()).abs() < 1e-14 && standard_error < 1e-12 && overlap > 0.999_999
                        );
                        return 0.0;
                    }
                    assert!(
                        (log_integral - 7_f64.ln()).abs() < 5.0 * standard_error,
                        "{log_integral} {standard_error}"
                    );
                    (log_integral - 7_f64.ln()) / standard_error
                })
                .collect();
            if shift != 0.0 {
                let sd = variance(&deviations).sqrt();
                assert!(mean(&deviations).abs() < 0.25 && (0.85..1.15).contains(&sd), "{shift} {s} {memory}: {sd}");
            }
        }
    }

    /// Proposals where the density vanishes count, and a density that cannot be compared has no estimate.
    #[test]
    fn vanishing_densities_count_and_nan_has_no_estimate() {
        // Uniform over half of the proposal's support: half of the proposals have no density.
        let chain = [2_f64.ln(); 40];
        let chains = Chains::new(&chain, 2, 20).unwrap();
        let proposals: Vec<f64> = (0..40).map(|k| if k % 2 == 0 { 2_f64.ln() } else { f64::NEG_INFINITY }).collect();
        let found = bridge(&chains, &proposals).unwrap();
        assert!(found.log_integral.abs() < 1e-14 && found.standard_error > 0.01, "{found:?}");
        assert!(bridge(&chains, &[f64::NAN]).unwrap().log_integral.is_nan());
        assert!(bridge(&chains, &[]).is_err());
    }
}
