//! One data set: parameters from the prior, data, draws, and where the truth ranks among them.

use crate::address::{Part, sampler_seed, stream};
use crate::quantities::Quantities;
use crate::{CalibrateError, Simulator};
use octopus_density::gpu::Precision;
use octopus_density::{DensityError, LogDensity};
use octopus_diag::{Chains, ess_bulk, ess_tail, rank, rhat};
use octopus_sampler::{ConfigError, Phase, Sampler, SamplerConfig};

/// Iterations between two looks at whether to stop.
const TURN: usize = 100;

/// What every data set of a calibration shares.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Draws kept of each data set, evenly of all its chains: ranks go from 0 to `kept`.
    pub kept: usize,
    /// The sampler's settings; its seed is replaced for each data set.
    pub sampler: SamplerConfig,
}

impl Settings {
    /// # Errors
    /// When a setting of the sampler is out of range, or more draws are to be kept than there are.
    pub fn validate(&self) -> Result<(), CalibrateError> {
        self.sampler.validate()?;
        if self.sampler.precision != Precision::F64 {
            let value = self.sampler.precision.to_string();
            let expected = "data sets are sampled on the CPU, which computes in f64";
            return Err(ConfigError { field: "precision", value, expected }.into());
        }
        let all = self.sampler.chains.saturating_mul(self.sampler.draws);
        if self.kept == 0 || self.kept > all {
            let expected = format!("at least 1 and at most the {all} draws of all chains");
            return Err(CalibrateError::Setting { field: "kept", value: self.kept, expected });
        }
        Ok(())
    }
}

/// What became of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// Its number, from 0 on.
    pub number: u32,
    /// What was found, or why nothing was.
    pub outcome: Result<Found, String>,
}

/// What the draws of a data set say.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The rank of the true value of each quantity among the kept draws.
    pub ranks: Vec<usize>,
    /// The largest R-hat of all quantities; NaN for one chain.
    pub rhat: f64,
    /// The smallest effective sample size, bulk or tail, of all quantities, in draws.
    pub ess: f64,
    /// Correlation of neighbouring chains at equal iterations, the mean over pairs and quantities; NaN for one chain.
    pub correlation: f64,
    /// Divergent transitions after warm-up.
    pub divergences: u64,
    /// Leapfrog steps of all chains, warm-up included.
    pub leapfrogs: u64,
}

/// Does data set `number`; `None` when `stop` says so before it is done.
pub(crate) fn data_set<S: Simulator>(
    simulator: &S,
    settings: &Settings,
    quantities: &Quantities,
    number: u32,
    stop: &dyn Fn() -> bool,
) -> Option<DataSet> {
    let outcome = match found(simulator, settings, quantities, number, stop) {
        Ok(found) => Ok(found?),
        // One line, which a table can keep.
        Err(error) => Err(error.to_string().replace(['\n', '\r'], " ")),
    };
    Some(DataSet { number, outcome })
}

fn found<S: Simulator>(
    simulator: &S,
    settings: &Settings,
    quantities: &Quantities,
    number: u32,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Found>, CalibrateError> {
    let truth = simulator.draw_parameters(&mut stream(settings.seed, number, Part::Parameters));
    let density = simulator.simulate(&truth, &mut stream(settings.seed, number, Part::Data))?;
    let config = SamplerConfig { seed: sampler_seed(settings.seed, number), ..settings.sampler.clone() };
    let mut scratch = quantities.scratch(&density);
    let truth = quantities.evaluate(&density, &truth, &mut scratch)?;

    let mut sampler = Sampler::new(&density, config)?;
    // One list for each quantity and chain.
    let mut values: Vec<Vec<Vec<f64>>> = vec![Vec::new(); truth.len()];
    let (mut divergences, mut leapfrogs) = (0, 0);
    while let Some(block) = sampler.advance(TURN)? {
        if stop() {
            return Ok(None);
        }
        leapfrogs += block.leapfrogs();
        if block.phase == Phase::Warmup {
            continue;
        }
        values.iter_mut().for_each(|chains| chains.resize(block.chains.len(), Vec::new()));
        for (c, chain) in block.chains.iter().enumerate() {
            divergences += chain.stats.iter().filter(|stats| stats.diverging).count() as u64;
            for position in chain.positions.chunks_exact(density.dim()) {
                let found = quantities.evaluate(&density, position, &mut scratch)?;
                found.into_iter().zip(&mut values).for_each(|(value, chains)| chains[c].push(value));
            }
        }
    }
    let mut ties = stream(settings.seed, number, Part::Ties);
    let mut found =
        Found { ranks: Vec::new(), rhat: f64::NAN, ess: f64::INFINITY, correlation: 0.0, divergences, leapfrogs };
    for (truth, of_chains) in truth.into_iter().zip(&values) {
        let (chains, draws) = (of_chains.len(), of_chains.first().map_or(0, Vec::len));
        let all = of_chains.concat();
        let kept: Vec<f64> = kept(all.len(), settings.kept).map(|i| all[i]).collect();
        let rank = rank(truth, &kept, ties.uniform()).ok_or(DensityError::NotFinite { value: f64::NAN })?;
        found.ranks.push(rank);
        let view = Chains::new(&all, chains, draws)?;
        found.rhat = found.rhat.max(rhat(&view));
        // NaN, where it is not defined, must not look like enough.
        let ess = ess_bulk(&view).min(ess_tail(&view));
        found.ess = if ess.is_nan() { 0.0 } else { found.ess.min(ess) };
        found.correlation += neighbours(of_chains) / values.len() as f64;
    }
    Ok(Some(found))
}

/// `kept` places among `all`, evenly from the middle of the first share to that of the last.
fn kept(all: usize, kept: usize) -> impl Iterator<Item = usize> {
    (0..kept).map(move |k| (2 * k + 1) * all / (2 * kept))
}

/// The mean correlation of each chain with the next.
fn neighbours(chains: &[Vec<f64>]) -> f64 {
    let pairs = chains.len().saturating_sub(1);
    if pairs == 0 {
        return f64::NAN;
    }
    chains.windows(2).map(|pair| correlation(&pair[0], &pair[1])).sum::<f64>() / pairs as f64
}

/// Pearson's correlation; 0 where one of them does not move.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_draws_are_spread_evenly() {
        assert_eq!(kept(1600, 4).collect::<Vec<_>>(), [200, 600, 1000, 1400]);
        assert_eq!(kept(5, 5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let places: Vec<usize> = kept(1600, 99).collect();
        assert!(places.windows(2).all(|pair| (16..=17).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn correlations_by_hand() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-15);
        assert!((correlation(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]) - 0.5).abs() < 1e-15);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
        let same = vec![1.0, 5.0, 2.0];
        assert!((neighbours(&[same.clone(), same.clone(), same]) - 1.0).abs() < 1e-15);
        assert!(neighbours(&[vec![1.0, 2.0]]).is_nan());
    }

    #[test]
    fn settings_are_checked() {
        let sampler = SamplerConfig { chains: 2, draws: 10, ..Default::default() };
        let of = |kept| Settings { seed: 0, kept, sampler: sampler.clone() }.validate();
        assert!(of(20).is_ok() && of(1).is_ok());
        assert!(of(21).unwrap_err().to_string().contains("20 draws") && of(0).is_err());
    }
}
