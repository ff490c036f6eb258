//! One data set of a calibration: parameters from the prior, data, draws, and where the truth ranks among them.
//!
//! Its R-hat and effective sample size are computed here, too; `kept.rs` says which draws the truth is ranked among.

use crate::CalibrateError;
use crate::address::{Part, sampler_seed, stream};
use crate::kept::kept;
use crate::likeness::{neighbours, together};
use crate::quantities::{DensityScratch, Quantities};
use octopus_density::{DensityError, LogDensity};
use octopus_diag::{
    Chains, DiagError, ess_bulk, ess_bulk_of_chains, ess_tail, ess_tail_of_chains, rank, rhat, rhat_nested,
};
use octopus_models::Simulator;
use octopus_sampler::{Block, Phase, SamplerConfig, Strategy};

/// The settings that all data sets of a calibration share.
#[derive(Clone, Debug)]
pub struct CalibrationSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// The number of draws kept of each data set, evenly of all its chains: ranks go from 0 to `kept`. With many short
    /// chains ([`Strategy::ManyShort`]), each chain gives at most one draw where there are enough chains, taken evenly
    /// from its first to its last.
    pub kept: usize,
    /// The sampler's settings; its seed is replaced for each data set.
    pub sampler: SamplerConfig,
}

impl CalibrationSettings {
    /// # Errors
    /// When a setting of the sampler is out of range, or more draws are to be kept than there are.
    pub fn validate(&self) -> Result<(), CalibrateError> {
        self.sampler.validate()?;
        let all = self.sampler.chains.saturating_mul(self.sampler.draws);
        if self.kept == 0 || self.kept > all {
            let expected = format!("at least 1 and at most the {all} draws of all chains");
            return Err(CalibrateError::Setting { field: "kept", value: self.kept, expected });
        }
        Ok(())
    }
}

/// The outcome of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedSet {
    /// The number of the data set, from 0 on.
    pub number: u32,
    /// The result, or the reason why there is none.
    pub outcome: Result<Found, String>,
}

/// The result of a data set's draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The rank of the true value of each quantity among the kept draws.
    pub ranks: Vec<usize>,
    /// The largest R-hat of all quantities; for many short chains nested R-hat. NaN for one chain.
    pub rhat: f64,
    /// The smallest effective sample size, bulk or tail, of all quantities, in draws. For many short chains it is the
    /// effective sample size from the spread of superchains.
    pub ess: f64,
    /// The mean correlation, over pairs and quantities, of chains that share nothing, at equal iterations. The pairs
    /// are neighbouring chains, or with many short chains those in neighbouring superchains. NaN for one chain, and for
    /// fewer than three draws.
    pub correlation: f64,
    /// The mean correlation, over quantities, of draws at equal iterations of short chains that began together; `None`
    /// for other chains.
    pub together: Option<f64>,
    /// Divergent transitions after warm-up.
    pub divergences: u64,
    /// Leapfrog steps of all chains, warm-up included.
    pub leapfrogs: u64,
}

/// A data set that waits for its draws.
pub(crate) struct Posed {
    pub(crate) number: u32,
    pub(crate) density: Box<dyn LogDensity>,
    /// The settings of the data set's run.
    pub(crate) config: SamplerConfig,
    /// The true value of each quantity.
    truth: Vec<f64>,
}

impl Posed {
    /// Draws parameters, and data from them.
    ///
    /// # Errors
    /// When that gives no data that the density takes.
    pub(crate) fn new(
        simulator: &dyn Simulator,
        settings: &CalibrationSettings,
        quantities: &Quantities,
        number: u32,
    ) -> Result<Self, CalibrateError> {
        let truth = simulator.draw_parameters(&mut stream(settings.seed, number, Part::Parameters));
        let density = simulator.simulate(&truth, &mut stream(settings.seed, number, Part::Data))?;
        let config = SamplerConfig { seed: sampler_seed(settings.seed, number), ..settings.sampler.clone() };
        let truth = quantities.evaluate(&*density, &truth, &mut quantities.scratch(&*density))?;
        Ok(Self { number, density, config, truth })
    }
}

/// The draws of a data set so far.
pub(crate) struct Drawn<'a> {
    posed: &'a Posed,
    quantities: &'a Quantities,
    scratch: DensityScratch,
    /// The draws of each quantity and chain.
    values: Vec<Vec<Vec<f64>>>,
    divergences: u64,
    leapfrogs: u64,
}

impl<'a> Drawn<'a> {
    pub(crate) fn new(posed: &'a Posed, quantities: &'a Quantities) -> Self {
        let (scratch, values) = (quantities.scratch(&*posed.density), vec![Vec::new(); posed.truth.len()]);
        Self { posed, quantities, scratch, values, divergences: 0, leapfrogs: 0 }
    }

    /// Takes what the chains have drawn.
    ///
    /// # Errors
    /// When the density has no value at a draw.
    pub(crate) fn take(&mut self, block: &Block) -> Result<(), DensityError> {
        self.leapfrogs += block.leapfrogs();
        if block.phase == Phase::Warmup {
            return Ok(());
        }
        let density = &*self.posed.density;
        self.values.iter_mut().for_each(|chains| chains.resize(block.chains.len(), Vec::new()));
        for (c, chain) in block.chains.iter().enumerate() {
            self.divergences += chain.stats.iter().filter(|stats| stats.diverging).count() as u64;
            for position in chain.positions.chunks_exact(density.dim()) {
                let found = self.quantities.evaluate(density, position, &mut self.scratch)?;
                found.into_iter().zip(&mut self.values).for_each(|(value, chains)| chains[c].push(value));
            }
        }
        Ok(())
    }

    /// Ranks the truth among all draws.
    ///
    /// # Errors
    /// When a quantity is not a number.
    pub(crate) fn found(self, settings: &CalibrationSettings) -> Result<Found, CalibrateError> {
        let Self { posed, values, divergences, leapfrogs, .. } = self;
        let mut ties = stream(settings.seed, posed.number, Part::Ties);
        let quantities = values.len() as f64;
        let (rhat, ess) = (f64::NAN, f64::INFINITY);
        let mut found =
            Found { ranks: Vec::new(), rhat, ess, correlation: 0.0, together: None, divergences, leapfrogs };
        let superchains = (settings.sampler.strategy == Strategy::ManyShort).then_some(settings.sampler.superchains);
        for (&truth, chains) in posed.truth.iter().zip(&values) {
            let kept: Vec<f64> = kept(settings).map(|(chain, draw)| chains[chain][draw]).collect();
            let rank = rank(truth, &kept, ties.uniform()).ok_or(DensityError::NotFinite { value: f64::NAN })?;
            found.ranks.push(rank);
            let (rhat, ess) = convergence(chains, superchains)?;
            found.rhat = found.rhat.max(rhat);
            // NaN, where it is not defined, must not look like enough.
            found.ess = if ess.is_nan() { 0.0 } else { found.ess.min(ess) };
            let size = superchains.map_or(1, |groups| chains.len() / groups);
            found.correlation += neighbours(chains, size) / quantities;
            if size > 1 {
                *found.together.get_or_insert(0.0) += together(chains, size) / quantities;
            }
        }
        Ok(found)
    }
}

/// R-hat, and the effective sample size: with superchains nested R-hat, and what the spread of superchains' means says,
/// which counts in that their chains began together.
fn convergence(chains: &[Vec<f64>], superchains: Option<usize>) -> Result<(f64, f64), DiagError> {
    let (all, draws) = (chains.concat(), chains.first().map_or(0, Vec::len));
    let view = Chains::new(&all, chains.len(), draws)?;
    let Some(groups) = superchains else { return Ok((rhat(&view), ess_bulk(&view).min(ess_tail(&view)))) };
    let size = chains.len() / groups;
    let ids: Vec<usize> = (0..chains.len()).map(|chain| chain / size).collect();
    let of_groups = Chains::new(&all, groups, size * draws)?;
    Ok((rhat_nested(&view, &ids)?, ess_bulk_of_chains(&of_groups).min(ess_tail_of_chains(&of_groups))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let sampler = SamplerConfig { chains: 2, draws: 10, ..Default::default() };
        let of = |kept| CalibrationSettings { seed: 0, kept, sampler: sampler.clone() }.validate();
        assert!(of(20).is_ok() && of(1).is_ok());
        assert!(of(21).unwrap_err().to_string().contains("20 draws") && of(0).is_err());
    }
}
