//! What `octopus calibrate` is asked, keeps and shows.

mod folder;
mod machine;
mod pictures;
mod text;

pub(crate) use folder::Folder;
pub(crate) use machine::{Machine, any_data_set, only_cpu, threads};
pub(crate) use pictures::{of_moments, of_ranks};
pub(crate) use text::{geweke_text, ranks_text};

use crate::args::{CalibrateArgs, OF_A_SIMULATOR};
use crate::config::in_options;
use crate::config::{RunConfig, StrategyChoice};
use crate::exit::UsageError;
use anyhow::Result;
use octopus_models::settings::put;
use octopus_models::{CalibrationTest, Registry, Simulated};
use octopus_sampler::{SamplerConfig, Strategy};
use toml::Table;

/// Draws kept of a data set that has enough: a hundred ranks, or fewer, which many numbers of bins divide.
const KEPT: [usize; 4] = [99, 49, 19, 9];
const KEPT_OF_MANY: [usize; 6] = [99, 63, 49, 31, 15, 7];

/// Many short chains of a data set, and draws of each.
pub(crate) const MANY_SHORT: (usize, usize) = (64, 8);

/// The sampler's settings unless told otherwise.
pub(crate) fn default_sampler(geweke: bool) -> SamplerConfig {
    let base = SamplerConfig { target_accept: 0.9, seed: 42, ..SamplerConfig::default() };
    if geweke {
        SamplerConfig { chains: 1, tune: 50, draws: 5, ..base }
    } else {
        SamplerConfig { chains: 8, tune: 300, draws: 200, ..base }
    }
}

/// What simulates the model of the command line.
///
/// # Errors
/// When a setting is out of range, or is of another model.
pub(crate) fn simulated(args: &CalibrateArgs, models: Registry) -> Result<Simulated> {
    let model = models.find(&args.model)?;
    let mut settings = Table::new();
    let given = args.model_settings.of(model, models, OF_A_SIMULATOR)?;
    given.iter().for_each(|given| put(&mut settings, given.option.setting, given.value.clone()));
    let test = if args.geweke { CalibrationTest::Geweke } else { CalibrationTest::Ranks };
    let simulated = model.simulator(&settings, test).map_err(in_options)?;
    let none = || UsageError(format!("{}: the model has no simulator, so that it cannot be calibrated", model.name()));
    Ok(simulated.ok_or_else(none)?)
}

/// The sampler of the command line.
///
/// # Errors
/// When a value is out of range.
pub(crate) fn sampler(args: &CalibrateArgs) -> Result<SamplerConfig> {
    let mut config = RunConfig { sampler: default_sampler(args.geweke), ..RunConfig::default() };
    if args.sampler.strategy == Some(StrategyChoice::Auto) {
        let what = "--strategy auto: which chains to calibrate must be said: four-long or many-short";
        return Err(UsageError(what.to_owned()).into());
    }
    config.set_sampler(&args.sampler)?;
    if config.sampler.strategy == Strategy::ManyShort {
        if args.geweke {
            let what = "--strategy many-short: Geweke's test moves chains one by one, which have no strategy";
            return Err(UsageError(what.to_owned()).into());
        }
        let (chains, draws) = MANY_SHORT;
        config.sampler.chains = args.sampler.chains.unwrap_or(chains);
        config.sampler.draws = args.sampler.draws.unwrap_or(draws);
        let suited = || SamplerConfig::many_short(config.sampler.chains).superchains;
        config.sampler.superchains = args.sampler.superchains.unwrap_or_else(suited);
    }
    config.validate()?;
    if !(args.false_alarm > 0.0 && args.false_alarm < 1.0) {
        return Err(UsageError(format!("--false-alarm {}: must lie between 0 and 1", args.false_alarm)).into());
    }
    Ok(config.sampler)
}

/// How many draws of each data set are kept unless told otherwise: one in eight at most, of many short chains one of each.
pub(crate) fn default_kept(sampler: &SamplerConfig) -> usize {
    if sampler.strategy == Strategy::ManyShort {
        return KEPT_OF_MANY.into_iter().find(|&kept| kept <= sampler.chains).unwrap_or(sampler.chains);
    }
    let all = sampler.chains.saturating_mul(sampler.draws);
    let fits = |kept: &&usize| **kept * 8 <= all;
    KEPT.iter().find(fits).copied().unwrap_or_else(|| all.clamp(1, 9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_draws_are_few_of_all() {
        let of = |chains, draws| default_kept(&SamplerConfig { chains, draws, ..Default::default() });
        assert_eq!((of(8, 200), of(4, 100), of(2, 100), of(1, 100), of(1, 5)), (99, 49, 19, 9, 5));
        let of_many = |chains| default_kept(&SamplerConfig::many_short(chains));
        assert_eq!([4096, 64, 48, 16, 4].map(of_many), [99, 63, 31, 15, 4]);
    }
}
