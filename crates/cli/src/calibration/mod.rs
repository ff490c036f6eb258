//! The parts of `octopus calibrate`: its settings, its folder, its machine, and its results as text and pictures.
//!
//! The defaults stand here: chains and draws of a data set, and how many draws are kept, to which the ranks belong.

mod folder;
mod machine;
mod pictures;
mod text;

pub(crate) use folder::{Folder, is_of_a_calibration};
pub(crate) use machine::{CalibrationMachine, any_data_set, only_cpu, threads};
pub(crate) use pictures::{of_moments, of_ranks};
pub(crate) use text::{geweke_text, ranks_text};

use crate::config::{RunConfig, check_size, config_error, option};
use crate::exit::UsageError;
use anyhow::Result;
use octopus_calibrate::CalibrateError;
use octopus_models::{CalibrationTest, Model, Simulated};
use octopus_sampler::{SamplerConfig, SamplerError, Strategy};

/// The numbers of draws that may be kept of a data set, most first. Each gives one rank more than draws, 100 at most,
/// which many numbers of bins divide.
const KEPT: [usize; 4] = [99, 49, 19, 9];
const KEPT_OF_MANY: [usize; 6] = [99, 63, 49, 31, 15, 7];

/// The number of many short chains of a data set, and the draws of each.
pub(crate) const MANY_SHORT: (usize, usize) = (64, 8);

/// Returns the default settings of the sampler.
pub(crate) fn default_sampler(geweke: bool) -> SamplerConfig {
    let base = SamplerConfig { target_accept: 0.9, seed: 42, ..SamplerConfig::default() };
    if geweke {
        SamplerConfig { chains: 1, tune: 50, draws: 5, strategy: Strategy::FourLong, ..base }
    } else {
        SamplerConfig { chains: 8, tune: 300, draws: 200, ..base }
    }
}

/// Returns the simulator of a model with the settings of a calibration.
///
/// # Errors
/// When a setting is out of range, or a data set does not fit the memory.
pub(crate) fn simulated(config: &RunConfig, model: &dyn Model, geweke: bool) -> Result<Simulated> {
    let test = if geweke { CalibrationTest::Geweke } else { CalibrationTest::Ranks };
    let named = |error| config.explained(error, model.simulator_options());
    check_size(model.simulated_size(&config.settings, test).map_err(named)?)?;
    let none = || UsageError(format!("{}: the model has no simulator, so that it cannot be calibrated", model.name()));
    Ok(model.simulator(&config.settings, test).map_err(named)?.ok_or_else(none)?)
}

/// Checks the probability of a false alarm.
///
/// # Errors
/// When it is no probability, or cannot be reached.
pub(crate) fn check_false_alarm(false_alarm: f64) -> Result<(), UsageError> {
    if false_alarm > 0.0 && false_alarm < 1.0 {
        return Ok(());
    }
    Err(UsageError(format!("--false-alarm {false_alarm}: must lie between 0 and 1")))
}

/// Converts an error; a setting that is out of range is called by its option's name.
pub(crate) fn setting_in_options(error: CalibrateError) -> anyhow::Error {
    match error {
        CalibrateError::Setting { field, value, expected } => {
            UsageError(format!("{} {value}: {expected}", option(field, &[]))).into()
        }
        CalibrateError::Config(error) | CalibrateError::Sampler(SamplerError::Config(error)) => {
            config_error(&error).into()
        }
        other => other.into(),
    }
}

/// Returns how many draws of each data set are kept by default: at most one in eight, and of many short chains at most
/// one draw of each chain.
pub(crate) fn default_kept(sampler: &SamplerConfig) -> usize {
    if sampler.nested().is_some() {
        return KEPT_OF_MANY.into_iter().find(|&kept| kept <= sampler.chains).unwrap_or(sampler.chains);
    }
    let all = sampler.chains.saturating_mul(sampler.draws);
    let fits = |kept: &&usize| **kept * 8 <= all;
    KEPT.iter().find(fits).copied().unwrap_or_else(|| all.clamp(1, 9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use octopus_calibrate::{Judgement, RankedQuantity};
    use octopus_models::Registry;

    /// A judgement with nothing to warn of.
    pub(super) fn judged() -> Judgement {
        let quantity = RankedQuantity {
            name: "mu".to_owned(),
            counts: vec![25, 25],
            ecdf_p: 0.5,
            ecdf_at: 0,
            bins: 1,
            chi_square: 0.0,
            chi_square_p: 1.0,
            adjusted_p: 1.0,
            uniform: true,
        };
        Judgement {
            calibrated: true,
            false_alarm: 0.001,
            data_sets: 50,
            failed: 0,
            first_failure: None,
            kept: 99,
            quantities: vec![quantity],
            independence: None,
            together: None,
            low_ess: 0,
            median_ess: 150.0,
            high_rhat: 0,
            rhat_limit: 1.05,
            far_apart: 2,
            far_apart_allowed: 2,
            not_finite: 0,
            diverging: 0,
            divergences: 0,
            leapfrogs: 1000,
        }
    }

    /// The sampler of `octopus calibrate` with these options.
    fn given(options: &str) -> Result<SamplerConfig> {
        let (models, words) = (Registry::shipped(), format!("octopus calibrate eight-schools --out x {options}"));
        let cli = Cli::read(models, words.split_whitespace()).unwrap();
        let Command::Calibrate(args) = cli.command else { panic!("another command") };
        Ok(RunConfig::of_calibration(&args, models.find("eight-schools")?, models)?.sampler)
    }

    #[test]
    fn a_calibration_has_a_sampler_of_its_own() {
        let base = SamplerConfig { target_accept: 0.9, seed: 42, ..SamplerConfig::default() };
        let ranks = SamplerConfig { chains: 8, tune: 300, draws: 200, ..base };
        let many = |chains| SamplerConfig {
            strategy: Strategy::ManyShort,
            chains,
            superchains: SamplerConfig::many_short(chains).superchains,
            draws: 8,
            ..ranks.clone()
        };
        let strategy = Strategy::FourLong;
        assert_eq!(
            given("--geweke").unwrap(),
            SamplerConfig { chains: 1, tune: 50, draws: 5, strategy, ..ranks.clone() }
        );
        assert_eq!(given("--strategy many-short").unwrap(), many(64));
        assert_eq!(given("--strategy many-short --chains 96").unwrap(), many(96));
        let own = SamplerConfig { superchains: 6, draws: 3, ..many(12) };
        assert_eq!(given("--strategy many-short --chains 12 --superchains 6 --draws 3").unwrap(), own);
        assert_eq!(given("").unwrap(), ranks);
    }

    #[test]
    fn options_without_sense_are_refused() {
        for options in
            ["--strategy auto", "--strategy many-short --geweke", "--strategy cross-chain --geweke", "--draws 0"]
        {
            assert!(given(options).unwrap_err().is::<UsageError>(), "{options}");
        }
        for wrong in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
            let error = check_false_alarm(wrong).unwrap_err().to_string();
            assert!(error.starts_with("--false-alarm ") && error.ends_with("must lie between 0 and 1"), "{error}");
        }
        for right in [1e-9, 0.5, 0.999] {
            assert!(check_false_alarm(right).is_ok(), "{right}");
        }
    }

    #[test]
    fn kept_draws_are_few_of_all() {
        let of = |chains, draws| default_kept(&SamplerConfig { chains, draws, ..Default::default() });
        assert_eq!((of(8, 200), of(4, 100), of(2, 100), of(1, 100), of(1, 5)), (99, 49, 19, 9, 5));
        // Eight times as many draws as are kept, and one less.
        let of_one = |draws| of(1, draws);
        assert_eq!([800, 792, 791, 392, 391, 152, 151, 80].map(of_one), [99, 99, 49, 49, 19, 19, 9, 9]);
        assert_eq!([72, 71, 10, 9, 8, 1, 0].map(of_one), [9, 9, 9, 9, 8, 1, 1]);
        let of_many = |chains| default_kept(&SamplerConfig::many_short(chains));
        assert_eq!([4096, 64, 48, 16, 4].map(of_many), [99, 63, 31, 15, 4]);
        assert_eq!([100, 99, 98, 63, 62, 49].map(of_many), [99, 99, 63, 63, 49, 49]);
        assert_eq!([48, 31, 30, 15, 14, 7, 6].map(of_many), [31, 31, 15, 15, 7, 7, 6]);
    }
}
