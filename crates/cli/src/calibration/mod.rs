//! What `octopus calibrate` is asked, keeps and shows.

mod folder;
mod machine;
mod pictures;
mod text;

pub(crate) use folder::Folder;
pub(crate) use machine::{Machine, any_data_set, only_cpu, threads};
pub(crate) use pictures::{of_moments, of_ranks};
pub(crate) use text::{geweke_text, ranks_text};

use crate::args::{CalibrateArgs, ModelArgs};
use crate::config::{RunConfig, StrategyChoice, setting_error};
use crate::exit::UsageError;
use anyhow::Result;
use octopus_calibrate::HierarchicalSimulator;
use octopus_density::{HierarchicalPrior, Likelihood};
use octopus_sampler::{SamplerConfig, Strategy};
use serde::Serialize;

/// Draws kept of a data set that has enough: a hundred ranks, or fewer, which many numbers of bins divide.
const KEPT: [usize; 4] = [99, 49, 19, 9];
const KEPT_OF_MANY: [usize; 6] = [99, 63, 49, 31, 15, 7];

/// Many short chains of a data set, and draws of each.
pub(crate) const MANY_SHORT: (usize, usize) = (64, 8);

/// The model that is calibrated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub(crate) enum Model {
    /// Groups of these sizes.
    HierarchicalNormal {
        /// Observations in each group.
        group_sizes: Vec<usize>,
        /// The constants of the priors.
        prior: HierarchicalPrior,
        /// How the likelihood is evaluated.
        likelihood: Likelihood,
    },
    /// Rubin's schools with their standard errors.
    EightSchools,
}

impl Model {
    /// Steps in which sequences of Geweke's test get about: tau of eight schools may be so large that the data pin it.
    pub(crate) fn geweke_steps(&self) -> usize {
        match self {
            Self::EightSchools => 1000,
            Self::HierarchicalNormal { .. } => 500,
        }
    }

    /// In words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::EightSchools => "eight-schools".to_owned(),
            Self::HierarchicalNormal { group_sizes, .. } => {
                let (least, most) = (group_sizes.iter().min(), group_sizes.iter().max());
                let sizes = match (least, most) {
                    (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
                    _ => most.copied().unwrap_or(0).to_string(),
                };
                format!("hierarchical-normal, {} groups of {sizes}", group_sizes.len())
            }
        }
    }
}

/// The simulator of a hierarchical model; settings out of range by their options' names.
///
/// # Errors
/// When there is no group, a group is empty, or a constant is out of range.
pub(crate) fn hierarchical(
    sizes: &[usize],
    prior: HierarchicalPrior,
    likelihood: Likelihood,
) -> Result<HierarchicalSimulator> {
    if sizes.is_empty() || sizes.contains(&0) {
        let said = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        return Err(UsageError(format!(
            "groups of {said:?} observations: one group and one observation each at least"
        ))
        .into());
    }
    Ok(HierarchicalSimulator::new(sizes.to_vec(), prior, likelihood).map_err(|error| setting_error(&error))?)
}

/// The sampler's settings unless told otherwise.
pub(crate) fn default_sampler(geweke: bool) -> SamplerConfig {
    let base = SamplerConfig { target_accept: 0.9, seed: 42, ..SamplerConfig::default() };
    if geweke {
        SamplerConfig { chains: 1, tune: 50, draws: 5, ..base }
    } else {
        SamplerConfig { chains: 8, tune: 300, draws: 200, ..base }
    }
}

/// Model and sampler of the command line.
///
/// # Errors
/// When a value is out of range, or is of another model.
pub(crate) fn asked(args: &CalibrateArgs) -> Result<(Model, SamplerConfig)> {
    let mut config = RunConfig { sampler: default_sampler(args.geweke), ..RunConfig::default() };
    config.set_model(&args.model_settings);
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
    if args.model == "eight-schools" {
        let ModelArgs { likelihood, mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale } = &args.model_settings;
        let numbers = [mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale].into_iter().any(Option::is_some);
        let sizes = args.groups.is_some() || args.per_group.is_some() || args.group_sizes.is_some();
        if numbers || sizes || likelihood.is_some() {
            let what = "eight-schools has no options for data and priors: those are hierarchical-normal's";
            return Err(UsageError(what.to_owned()).into());
        }
        return Ok((Model::EightSchools, config.sampler));
    }
    // Where data say much about parameters, new data keep them where they are: Geweke's sequences want few.
    let (groups, per_group) = if args.geweke { (4, 1) } else { (100, 10) };
    let even = || vec![args.per_group.unwrap_or(per_group); args.groups.unwrap_or(groups)];
    let group_sizes = args.group_sizes.clone().unwrap_or_else(even);
    let model = Model::HierarchicalNormal { group_sizes, prior: config.prior, likelihood: config.likelihood };
    Ok((model, config.sampler))
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

    #[test]
    fn models_in_words() {
        let of = |sizes: &[usize]| {
            let (prior, likelihood) = Default::default();
            Model::HierarchicalNormal { group_sizes: sizes.to_vec(), prior, likelihood }.describe()
        };
        assert_eq!(of(&[10; 100]), "hierarchical-normal, 100 groups of 10");
        assert_eq!(of(&[3, 1, 7]), "hierarchical-normal, 3 groups of 1 to 7");
    }
}
