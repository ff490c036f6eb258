//! Everything that describes a run, as one value that files and options fill.

use crate::args::{DataArgs, GoalArgs, MachineArgs, ModelArgs, SampleArgs, SamplerArgs};
use crate::auto::{Costs, Plan, Wanted, plan};
use crate::device::{Machine, choice_text};
use crate::exit::UsageError;
use crate::work::Demand;
use anyhow::{Context, Result, anyhow};
use octopus_density::synthetic::HierarchicalSpec;
use octopus_density::{HierarchicalNormal, HierarchicalPrior, Likelihood, LogDensity, ModelError};
use octopus_device::{Chosen, DeviceChoice, Source};
use octopus_runs::Goal;
use octopus_sampler::{ConfigError, SamplerConfig, Strategy};
use rayon::ThreadPool;
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
        /// Where only some rows belong to the data set: which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Rows>,
    },
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rows {
    /// Those that have in this column
    pub(crate) column: String,
    /// this label.
    pub(crate) label: String,
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
    /// When it ends before its last draw.
    pub(crate) goal: Goal,
    /// Whether strategy and chains are still to be chosen, and if so whether the number of draws was given.
    #[serde(skip)]
    pub(crate) auto: Option<DrawsGiven>,
}

/// Whether the user has said how many draws there are to be.
pub(crate) type DrawsGiven = bool;

/// What `--strategy` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StrategyChoice {
    /// [`Strategy::FourLong`]
    FourLong,
    /// [`Strategy::ManyShort`]
    ManyShort,
    /// Whichever is done first.
    Auto,
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
            goal: Goal::default(),
            auto: None,
        }
    }
}

/// Draws of all chains together, of many short ones: about as many effective draws of every parameter as the PRD's chains
/// draw.
const MANY_SHORT_DRAWS: usize = 16384;

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
        let mut file = args.config.as_deref().map(read_table).transpose()?;
        let in_file = file.as_mut().is_some_and(take_auto);
        let mut config = match (&args.config, &file) {
            (Some(path), Some(file)) => Self::over_defaults(path, file.clone())?,
            _ => Self::default(),
        };
        config.set_data(&args.data);
        config.set_model(&args.model_settings);
        config.set_sampler(&args.sampler)?;
        let given = |name: &str, option: bool| option || file.as_ref().is_some_and(|file| sets_sampler(file, name));
        if args.sampler.strategy.map_or(in_file, |choice| choice == StrategyChoice::Auto) {
            config.auto = Some(given("draws", args.sampler.draws.is_some()));
        } else if config.sampler.strategy == Strategy::ManyShort {
            config.fill_many_short(&args.sampler, &given);
        }
        config.set_goal(&args.goal);
        config.keep_warmup |= args.keep_warmup;
        config.validate()?;
        Ok(config)
    }

    /// A file's settings over the defaults.
    fn over_defaults(path: &Path, file: toml::Table) -> Result<Self> {
        let shown = path.display();
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
            let (path, group, value) = (path.clone(), group.clone(), value.clone());
            self.data = DataSource::File { path, group, value, only: None };
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

    /// # Errors
    /// When superchains are asked for of a strategy that has none.
    pub(crate) fn set_sampler(&mut self, args: &SamplerArgs) -> Result<(), UsageError> {
        let sampler = &mut self.sampler;
        set(&mut sampler.draws, args.draws);
        set(&mut sampler.tune, args.tune);
        set(&mut sampler.chains, args.chains);
        sampler.strategy = match args.strategy {
            Some(StrategyChoice::ManyShort) => Strategy::ManyShort,
            Some(StrategyChoice::FourLong | StrategyChoice::Auto) => Strategy::FourLong,
            None => sampler.strategy,
        };
        set(&mut sampler.superchains, args.superchains);
        set(&mut sampler.target_accept, args.target_accept);
        set(&mut sampler.seed, args.seed);
        set(&mut sampler.parameterization, args.parameterization);
        set(&mut sampler.metric, args.metric);
        set(&mut sampler.precision, args.precision);
        set(&mut sampler.max_depth, args.max_depth);
        set(&mut sampler.init_radius, args.init_radius);
        if sampler.strategy != Strategy::ManyShort && args.superchains.is_some() {
            return Err(UsageError("--superchains: needs --strategy many-short".into()));
        }
        Ok(())
    }

    /// What neither file nor options say of many short chains: the PRD's defaults are those of four long ones.
    fn fill_many_short(&mut self, args: &SamplerArgs, given: &dyn Fn(&str, bool) -> bool) {
        const CHAINS: usize = 1024;
        const LEAST_DRAWS: usize = 4;
        let sampler = &mut self.sampler;
        if !given("chains", args.chains.is_some()) {
            sampler.chains = CHAINS;
        }
        if !given("superchains", args.superchains.is_some()) {
            sampler.superchains = SamplerConfig::many_short(sampler.chains).superchains;
        }
        if !given("draws", args.draws.is_some()) {
            sampler.draws = MANY_SHORT_DRAWS.div_ceil(sampler.chains.max(1)).max(LEAST_DRAWS);
        }
    }

    fn set_goal(&mut self, args: &GoalArgs) {
        let goal = &mut self.goal;
        goal.target_ess = args.target_ess.or(goal.target_ess);
        goal.target_rhat = args.target_rhat.or(goal.target_rhat);
        goal.max_seconds = args.max_seconds.or(goal.max_seconds);
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

    /// Chooses strategy and chains, if that was left to the machine, among runs of which `demand` says what they take; what
    /// was chosen and why.
    ///
    /// # Errors
    /// When the model cannot be sampled, or no run can draw as much as is wanted.
    pub(crate) fn settle_strategy(
        &mut self,
        model: &HierarchicalNormal,
        machine: &Machine,
        pool: &ThreadPool,
        demand: &dyn Fn(&SamplerConfig) -> Demand,
    ) -> Result<Option<Plan>> {
        let Some(draws_given) = self.auto else { return Ok(None) };
        let wanted = Wanted::of(&self.sampler, &self.goal, draws_given);
        let plan =
            plan(&self.sampler, wanted, model.dim(), machine.asked(), demand, &Costs::measure(model, pool, machine)?)?;
        self.sampler = plan.config.clone();
        Ok(Some(plan))
    }

    /// Checks every value, whether it came from a file or the command line.
    pub(crate) fn validate(&self) -> Result<()> {
        self.sampler.validate().map_err(|error| config_error(&error))?;
        if self.keep_warmup && self.auto.is_some() {
            let why = "--keep-warmup: needs --strategy four-long, auto may choose another";
            return Err(UsageError(why.into()).into());
        }
        if self.keep_warmup && self.sampler.strategy == Strategy::ManyShort {
            let why = "--keep-warmup: warm-up of many short chains is that of a few, whose draws are not kept";
            return Err(UsageError(why.into()).into());
        }
        let Goal { target_ess, target_rhat, max_seconds } = self.goal;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        for (field, value, good, expected) in [
            ("target_ess", target_ess, target_ess.is_none_or(positive), "a positive number is needed"),
            ("target_rhat", target_rhat, target_rhat.is_none_or(|x| positive(x - 1.0)), "a number above 1 is needed"),
            ("max_seconds", max_seconds, max_seconds.is_none_or(positive), "a positive number is needed"),
        ] {
            if !good {
                let value = value.map_or_else(String::new, |value| value.to_string());
                return Err(config_error(&ConfigError { field, value, expected }).into());
            }
        }
        self.prior.validate().map_err(|error| setting_error(&error))?;
        if let DataSource::Synthetic(spec) = &self.data {
            spec.validate().map_err(|error| setting_error(&error))?;
        }
        Ok(())
    }
}

fn read_table(path: &Path) -> Result<toml::Table> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the settings in {shown}"))?;
    toml::from_str(&text).map_err(|error| anyhow!("{shown} is no TOML file: {}", error.to_string().trim()))
}

/// Whether the strategy in a file is to be chosen, which the sampler's settings have no word for: takes it out.
fn take_auto(file: &mut toml::Table) -> bool {
    let Some(sampler) = file.get_mut("sampler").and_then(toml::Value::as_table_mut) else { return false };
    let auto = sampler.get("strategy").and_then(toml::Value::as_str) == Some("auto");
    if auto {
        sampler.remove("strategy");
    }
    auto
}

/// Whether a file has a setting of the sampler.
fn sets_sampler(file: &toml::Table, name: &str) -> bool {
    file.get("sampler").and_then(toml::Value::as_table).is_some_and(|sampler| sampler.contains_key(name))
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
pub(crate) fn setting_error(error: &ModelError) -> UsageError {
    UsageError(match error {
        ModelError::Setting { field, value, expected } => format!("{} {value}: {expected}", option(field)),
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
        RunConfig::over_defaults(&path, read_table(&path)?)
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
