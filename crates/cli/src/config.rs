//! Everything that describes a run, as one value that files and options fill.

use crate::args::{DataArgs, MachineArgs, ModelArgs, SampleArgs, SamplerArgs};
use crate::device::choice_text;
use crate::exit::UsageError;
use anyhow::{Context, Result, anyhow};
use octopus_density::synthetic::HierarchicalSpec;
use octopus_density::{DataError, HierarchicalPrior, Likelihood};
use octopus_device::{Chosen, DeviceChoice, Source};
use octopus_sampler::{ConfigError, SamplerConfig};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where observations come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum DataSource {
    /// Made up.
    Synthetic(HierarchicalSpec),
    /// A table of the user's.
    File {
        /// The file.
        path: PathBuf,
        /// The column of group labels.
        group: String,
        /// The column of values.
        value: String,
    },
}

/// A run of `octopus sample`. Options on the command line override a file, which overrides the defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunConfig {
    /// How the likelihood is evaluated.
    pub(crate) likelihood: Likelihood,
    /// `auto`, `cpu`, `cuda`, `cuda:N`.
    #[serde(with = "choice_text")]
    pub(crate) device: DeviceChoice,
    /// Whether the draws of warm-up are kept.
    pub(crate) keep_warmup: bool,
    /// Where observations come from.
    pub(crate) data: DataSource,
    /// The constants of the priors.
    pub(crate) prior: HierarchicalPrior,
    /// The sampler's settings.
    pub(crate) sampler: SamplerConfig,
}

impl Default for RunConfig {
    /// The PRD's data and settings.
    fn default() -> Self {
        Self {
            likelihood: Likelihood::default(),
            device: DeviceChoice::default(),
            keep_warmup: false,
            data: DataSource::Synthetic(HierarchicalSpec::default()),
            prior: HierarchicalPrior::default(),
            sampler: prd_sampler(),
        }
    }
}

/// The sampler's settings in the PRD.
pub(crate) fn prd_sampler() -> SamplerConfig {
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..SamplerConfig::default() }
}

impl RunConfig {
    /// The run that `args` ask for.
    ///
    /// # Errors
    /// When the file given with --config cannot be used, or a value is out of range.
    pub(crate) fn from_args(args: &SampleArgs) -> Result<Self> {
        let mut config = match &args.config {
            Some(path) => Self::read(path)?,
            None => Self::default(),
        };
        config.set_data(&args.data);
        config.set_model(&args.model_settings);
        config.set_sampler(&args.sampler);
        config.keep_warmup |= args.keep_warmup;
        config.validate()?;
        Ok(config)
    }

    /// A file's settings over the defaults.
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the settings in {shown}"))?;
        let file: toml::Table =
            toml::from_str(&text).map_err(|error| anyhow!("{shown} is no TOML file: {}", error.to_string().trim()))?;
        let mut merged = toml::Table::try_from(Self::default()).context("cannot write the default settings")?;
        overlay(&mut merged, file);
        serde_path_to_error::deserialize(toml::Value::Table(merged)).map_err(|error| {
            let (field, what) = (error.path().to_string(), error.inner().message().to_owned());
            let field = if field == "." { String::new() } else { format!(" field `{field}`:") };
            anyhow!("{shown}:{field} {what}; correct the file (see `octopus help sample`)")
        })
    }

    fn set_data(&mut self, args: &DataArgs) {
        if let (Some(path), Some(group), Some(value)) = (&args.data, &args.group, &args.value) {
            self.data = DataSource::File { path: path.clone(), group: group.clone(), value: value.clone() };
        }
        if args.groups.is_none() && args.per_group.is_none() && args.data_seed.is_none() {
            return;
        }
        let mut spec = match &self.data {
            DataSource::Synthetic(spec) => *spec,
            DataSource::File { .. } => HierarchicalSpec::default(),
        };
        set(&mut spec.groups, args.groups);
        set(&mut spec.per_group, args.per_group);
        set(&mut spec.seed, args.data_seed);
        self.data = DataSource::Synthetic(spec);
    }

    pub(crate) fn set_model(&mut self, args: &ModelArgs) {
        set(&mut self.likelihood, args.likelihood);
        set(&mut self.prior.mu_mean, args.mu_mean);
        set(&mut self.prior.mu_sd, args.mu_sd);
        set(&mut self.prior.sigma_pop_scale, args.sigma_pop_scale);
        set(&mut self.prior.sigma_obs_scale, args.sigma_obs_scale);
    }

    pub(crate) fn set_sampler(&mut self, args: &SamplerArgs) {
        let sampler = &mut self.sampler;
        set(&mut sampler.draws, args.draws);
        set(&mut sampler.tune, args.tune);
        set(&mut sampler.chains, args.chains);
        set(&mut sampler.target_accept, args.target_accept);
        set(&mut sampler.seed, args.seed);
        set(&mut sampler.parameterization, args.parameterization);
        set(&mut sampler.metric, args.metric);
        set(&mut sampler.precision, args.precision);
        set(&mut sampler.max_depth, args.max_depth);
        set(&mut sampler.init_radius, args.init_radius);
    }

    /// The device that the command line, else the environment, else the settings ask for.
    ///
    /// # Errors
    /// When the environment asks for what is no device.
    pub(crate) fn device(&self, args: &MachineArgs) -> Result<Chosen> {
        let chosen = chosen(args)?;
        let asked = if chosen.source == Source::Default { self.device } else { chosen.choice };
        Ok(Chosen { choice: asked, ..chosen })
    }

    /// Checks every value, whether it came from a file or the command line.
    pub(crate) fn validate(&self) -> Result<()> {
        self.sampler.validate().map_err(|error| config_error(&error))?;
        self.prior.validate().map_err(|error| setting_error(&error))?;
        if let DataSource::Synthetic(spec) = &self.data {
            spec.validate().map_err(|error| setting_error(&error))?;
        }
        Ok(())
    }
}

/// The device that the command line, else the environment asks for.
///
/// # Errors
/// When the environment asks for what is no device.
pub(crate) fn chosen(args: &MachineArgs) -> Result<Chosen> {
    let flag = args.device.map(|choice| choice.to_string());
    DeviceChoice::from_flag(flag.as_deref()).map_err(|error| UsageError(error.to_string()).into())
}

/// A sampler's setting that is out of range, by its option's name.
pub(crate) fn config_error(error: &ConfigError) -> UsageError {
    UsageError(format!("{} {}: {}", option(error.field), error.value, error.expected))
}

/// A model's setting that is out of range, by its option's name.
pub(crate) fn setting_error(error: &DataError) -> UsageError {
    UsageError(match error {
        DataError::Setting { field, value, expected } => format!("{} {value}: {expected}", option(field)),
        other => other.to_string(),
    })
}

fn option(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

fn set<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Lays `over` upon `base`, table by table. A source of data replaces the other kind.
fn overlay(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => {
                if key == "data" && new.contains_key("file") {
                    old.remove("synthetic");
                }
                overlay(old, new);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RunConfig> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        std::fs::write(&path, text).unwrap();
        RunConfig::read(&path)
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        assert_eq!(read("").unwrap(), RunConfig::default());
        let config = read("likelihood = \"pointwise\"\n[sampler]\ndraws = 7\n[prior]\nmu_sd = 3.0").unwrap();
        let mut expected = RunConfig { likelihood: Likelihood::Pointwise, ..RunConfig::default() };
        expected.sampler.draws = 7;
        expected.prior.mu_sd = 3.0;
        assert_eq!(config, expected);
        assert_eq!(config.sampler.target_accept, 0.95, "the rest keeps the PRD's values");
        let config = read("[data.file]\npath = \"a.csv\"\ngroup = \"g\"\nvalue = \"y\"").unwrap();
        assert!(matches!(config.data, DataSource::File { group, .. } if group == "g"));
    }

    #[test]
    fn a_bad_file_is_named_with_the_field() {
        for (text, words) in [
            ("[sampler]\ndrawz = 3", ["settings.toml", "drawz"]),
            ("[sampler]\ndraws = \"many\"", ["sampler.draws", "many"]),
            ("[sampler", ["settings.toml", "line 1"]),
            ("colour = 1", ["settings.toml", "colour"]),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    #[test]
    fn values_out_of_range_are_named_by_their_option() {
        let mut config = RunConfig::default();
        config.sampler.target_accept = 1.5;
        let message = config.validate().unwrap_err().to_string();
        assert!(message.contains("--target-accept 1.5"), "{message}");
        config = RunConfig::default();
        config.prior.sigma_obs_scale = -2.0;
        let message = config.validate().unwrap_err().to_string();
        assert!(message.contains("--sigma-obs-scale -2"), "{message}");
        config = RunConfig::default();
        config.data = DataSource::Synthetic(HierarchicalSpec { per_group: 0, ..Default::default() });
        assert!(config.validate().unwrap_err().to_string().contains("--per-group 0"));
    }
}
