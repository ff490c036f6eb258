//! The configuration of a run: one value that describes the whole run and is filled from files and options.
//!
//! Decided here: the defaults of the command (`prd_sampler`, many short chains), that options come before the file of
//! `--config`, how `--strategy auto` is settled, and that an error names the option.

use crate::args::{
    CalibrateArgs, Cli, DataArgs, GivenOption, MachineArgs, OF_A_POSTERIOR, OF_A_SIMULATOR, SampleArgs, SamplerArgs,
};
use crate::calibration::{MANY_SHORT, default_sampler};
use crate::exit::UsageError;
use anyhow::{Context, Result};
use octopus_device::{DeviceChoice, DeviceRequest, Source};
use octopus_formats::observations::DataTable;
use octopus_models::settings::put;
use octopus_models::{
    BuildError, DataSize, Model, ModelError, ModelOption, OptionGroup, OptionKind, Problem, Registry, TableFile,
};
use octopus_runs::device::choice_text;
use octopus_runs::{Goal, Init, MemoryNeed, RunError, RunRequest};
use octopus_sampler::{Algorithm, ConfigError, SamplerConfig, Strategy};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::{Table, Value};

/// The configuration of a run of `octopus sample`. Options on the command line override a file, which overrides the
/// defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunConfig {
    /// The device that is asked for, e.g. `auto`, `cpu`, `cuda` or `cuda:N`.
    #[serde(with = "choice_text")]
    pub(crate) device: DeviceChoice,
    /// Whether the draws of warm-up are kept.
    pub(crate) keep_warmup: bool,
    /// The sampler's settings.
    pub(crate) sampler: SamplerConfig,
    /// How chains start.
    pub(crate) init: Init,
    /// The goal at which the run ends before its last draw.
    pub(crate) goal: Goal,
    /// `Some` while strategy and chains are still to be chosen; the value tells whether the user gave the number of
    /// draws.
    #[serde(skip)]
    pub(crate) auto: Option<bool>,
    /// The model's settings; those that are left out have their defaults.
    #[serde(skip)]
    pub(crate) settings: Table,
    /// The columns of the user's table that options name, by the model's names for them.
    #[serde(skip)]
    pub(crate) columns: BTreeMap<String, String>,
    /// The places where the model's settings were given.
    #[serde(skip)]
    pub(crate) given: Given,
    /// What the user is warned of.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// The places where the model's settings were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Given {
    /// The file of settings.
    file: Option<PathBuf>,
    /// Settings with the options that gave them, e.g. `prior.mu_sd` and `--mu-sd -1`.
    options: Vec<(Cow<'static, str>, String)>,
}

/// The values that `--strategy` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StrategyChoice {
    /// [`Strategy::FourLong`]
    FourLong,
    /// [`Strategy::ManyShort`]
    ManyShort,
    /// [`Strategy::CrossChain`]
    CrossChain,
    /// The strategy that needs the fewest leapfrog steps, or hardly more.
    Auto,
}

impl Default for RunConfig {
    /// Returns the PRD's data and settings.
    fn default() -> Self {
        Self {
            device: DeviceChoice::default(),
            keep_warmup: false,
            sampler: prd_sampler(),
            init: Init::default(),
            goal: Goal::default(),
            auto: None,
            settings: Table::new(),
            columns: BTreeMap::new(),
            given: Given::default(),
            warnings: Vec::new(),
        }
    }
}

/// The entries of a file of settings that are about the run; all others are settings of the model.
const OF_THE_RUN: [&str; 5] = ["device", "keep_warmup", "init", "sampler", "goal"];

/// The number of draws of many short chains together. They make about as many effective draws of every parameter as the
/// PRD's chains.
const MANY_SHORT_DRAWS: usize = 16384;

/// The fields of the goal.
const GOALS: [&str; 3] = ["target_ess", "target_rhat", "max_seconds"];

/// The most bytes of a file of settings.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the PRD's settings of the sampler.
pub(crate) fn prd_sampler() -> SamplerConfig {
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..SamplerConfig::default() }
}

impl RunConfig {
    /// Returns the configuration of the run of `model` that `args` ask for.
    ///
    /// # Errors
    /// When the file given with --config cannot be used, or a value is out of range.
    pub(crate) fn from_args(args: &SampleArgs, model: &dyn Model, models: Registry) -> Result<Self> {
        let mut file = args.config.as_deref().map(read_table).transpose()?;
        let in_file = file.as_mut().is_some_and(take_auto);
        let mut config = match (&args.config, &file) {
            (Some(path), Some(file)) => Self::default().overlaid(path, file.clone())?,
            _ => Self::default(),
        };
        let in_file_alone = config.out_of_range();
        config.set_model(args, model, models)?;
        args.sampler.lay_over(&mut config.sampler)?;
        let given = |name: &str, option: bool| option || file.as_ref().is_some_and(|file| sets_sampler(file, name));
        config.suit_algorithm(given("target_accept", args.sampler.target_accept.is_some()));
        if args.sampler.strategy.map_or(in_file, |choice| choice == StrategyChoice::Auto) {
            if config.sampler.algorithm.draws_population() {
                let name = config.sampler.algorithm.name();
                return Err(UsageError(format!("--strategy auto: {name} moves no chains; leave it out")).into());
            }
            config.auto = Some(given("draws", args.sampler.draws.is_some()));
        } else if config.sampler.strategy == Strategy::ManyShort {
            config.fill_many_short(&args.sampler, &given)?;
        }
        config.set_init(args)?;
        if args.batch.batch.is_some() {
            config.without_particles("--batch")?;
        }
        args.goal.lay_over(&mut config.goal);
        config.keep_warmup |= args.keep_warmup;
        config.check_file(args.config.as_deref().zip(file.as_ref()), in_file_alone.as_ref())?;
        config.validate()?;
        Ok(config)
    }

    /// Takes how chains start; a file or run folder by its whole path, from which a run that is resumed may read it again.
    ///
    /// # Errors
    /// When there is no such file, or the run has no use for it.
    fn set_init(&mut self, args: &SampleArgs) -> Result<(), UsageError> {
        if let Some(init) = &args.init {
            self.init = init.clone();
        }
        let init = &self.init;
        let fail = |why: &str| Err(UsageError(format!("--init {init}: {why}")));
        if !init.is_default() && self.sampler.algorithm.draws_population() {
            return fail(&format!("{} moves no chains; leave it out", self.sampler.algorithm.name()));
        }
        let Init::From(path) = init else { return Ok(()) };
        if args.batch.batch.is_some() {
            return fail("the chains of a batch start by jitter, prior or pathfinder");
        }
        if !path.exists() {
            return fail("no such file or run folder, and none of jitter, prior, pathfinder");
        }
        match std::path::absolute(path) {
            Ok(whole) => self.init = Init::From(whole),
            Err(error) => return fail(&error.to_string()),
        }
        Ok(())
    }

    /// Takes the target of acceptance that suits another sampler than NUTS, unless one is given; a population has no
    /// warm-up.
    fn suit_algorithm(&mut self, given: bool) {
        let SamplerConfig { algorithm, target_accept, tune, .. } = &mut self.sampler;
        if algorithm.draws_population() {
            *tune = 0;
        }
        if *algorithm != Algorithm::Nuts && !given {
            *target_accept = algorithm.target_accept();
        }
    }

    /// Checks that no draws from the prior are asked for as particles, which `command` does not make.
    ///
    /// # Errors
    /// When they are.
    pub(crate) fn without_particles(&self, command: &str) -> Result<(), UsageError> {
        if !self.sampler.algorithm.takes_particles() {
            return Ok(());
        }
        let what = "draws particles from no prior: take another proposal, or `octopus sample` of one data set";
        Err(UsageError(format!("--proposal prior: {command} {what}")))
    }

    /// Returns the configuration of a calibration of `model`: the settings of its simulator and of the sampler, and the
    /// device.
    ///
    /// # Errors
    /// When the file given with --config cannot be used, or a value is out of range.
    pub(crate) fn of_calibration(args: &CalibrateArgs, model: &dyn Model, models: Registry) -> Result<Self> {
        let mut file = args.config.as_deref().map(read_table).transpose()?;
        let in_file = file.as_mut().is_some_and(take_auto);
        if args.sampler.strategy.map_or(in_file, |choice| choice == StrategyChoice::Auto) {
            let file = args.config.as_ref().filter(|_| args.sampler.strategy.is_none());
            let of_file = file.map_or_else(String::new, |path| format!("--config {}: ", path.display()));
            let what = "--strategy auto: which chains to calibrate must be said: cross-chain, four-long or many-short";
            return Err(UsageError(of_file + what).into());
        }
        let base = Self { sampler: default_sampler(args.geweke), ..Self::default() };
        let mut config = match (&args.config, &file) {
            (Some(path), Some(file)) => base.overlaid(path, file.clone())?,
            _ => base,
        };
        let in_file_alone = config.out_of_range();
        config.of_draws_alone("calibrate")?;
        config.put_options(&args.model_settings.given_for(model, models, OF_A_SIMULATOR)?);
        args.sampler.lay_over(&mut config.sampler)?;
        config.without_particles("octopus calibrate")?;
        let of_file = file.as_ref().is_some_and(|file| sets_sampler(file, "target_accept"));
        config.suit_algorithm(of_file || args.sampler.target_accept.is_some());
        if args.geweke && config.sampler.strategy != Strategy::FourLong {
            let what = "Geweke's test moves chains one by one, which have no strategy";
            return Err(UsageError(format!("--strategy {}: {what}", config.sampler.strategy.name())).into());
        }
        if config.sampler.strategy == Strategy::ManyShort {
            let given = |name: &str, option: bool| option || file.as_ref().is_some_and(|file| sets_sampler(file, name));
            let (chains, draws) = MANY_SHORT;
            if !given("chains", args.sampler.chains.is_some()) {
                config.sampler.chains = chains;
            }
            if !given("draws", args.sampler.draws.is_some()) {
                config.sampler.draws = draws;
            }
            if !given("superchains", args.sampler.superchains.is_some()) {
                config.sampler.superchains = SamplerConfig::many_short(config.sampler.chains).superchains;
            }
        }
        config.check_file(args.config.as_deref().zip(file.as_ref()), in_file_alone.as_ref())?;
        config.validate()?;
        Ok(config)
    }

    /// Checks what the file says of the sampler and the goal, whose values are called by their names in the file where no
    /// option has changed them: `in_file_alone` is the first that was out of range before there were options.
    ///
    /// # Errors
    /// When a value is out of range, or needs another.
    fn check_file(&self, file: Option<(&Path, &Table)>, in_file_alone: Option<&ConfigError>) -> Result<(), UsageError> {
        let Some((path, file)) = file else { return Ok(()) };
        let many_short = self.sampler.strategy == Strategy::ManyShort || self.auto.is_some();
        if sets_sampler(file, "superchains") && !(many_short || sets_sampler(file, "strategy")) {
            let why = "sampler.superchains needs sampler.strategy = \"many-short\"; give it, or leave superchains out";
            return Err(UsageError(format!("{}: {why}", path.display())));
        }
        if let Some(error) = self.out_of_range()
            && in_file_alone == Some(&error)
        {
            let ConfigError { field, value, expected } = error;
            let table = if GOALS.contains(&field) { "goal" } else { "sampler" };
            return Err(UsageError(format!("{}: {table}.{field} = {value}: {expected}", path.display())));
        }
        Ok(())
    }

    /// Puts options of the model into its settings.
    fn put_options(&mut self, options: &[GivenOption<'_>]) {
        for option in options {
            let setting = option.option.setting;
            if let (OptionKind::Entries, Value::Table(entries)) = (option.option.kind, option.value) {
                for (name, value) in entries {
                    let entry = format!("{setting}.{name}");
                    put(&mut self.settings, &entry, value.clone());
                    self.given.options.push((entry.into(), format!("{} {name}={value}", option.option)));
                }
                continue;
            }
            self.given.options.push((setting.into(), option.to_string()));
            put(&mut self.settings, setting, option.value.clone());
        }
    }

    /// Returns these settings with those of a file in place of them.
    fn overlaid(self, path: &Path, file: Table) -> Result<Self> {
        let shown = path.display();
        let (of_run, settings): (Table, Table) =
            file.into_iter().partition(|(key, _)| OF_THE_RUN.contains(&key.as_str()));
        let mut merged = Table::try_from(self).context("cannot write the default settings")?;
        overlay(&mut merged, of_run);
        let config: Self = serde_path_to_error::deserialize(Value::Table(merged)).map_err(|error| {
            let (field, what) = (error.path().to_string(), error.inner().message().to_owned());
            wrong_in_file(&shown, &field, &what)
        })?;
        let given = Given { file: Some(path.to_owned()), options: Vec::new() };
        Ok(Self { settings, given, ..config })
    }

    /// # Errors
    /// When an option is given that the model does not have, or that does not go with another.
    fn set_model(&mut self, args: &SampleArgs, model: &dyn Model, models: Registry) -> Result<()> {
        let DataArgs { data, .. } = &args.data;
        let given = data.as_ref().map(|_| "--data").or(args.batch.batch.as_ref().map(|_| "--batch"));
        if let Some(option) = given.filter(|_| !model.reads_table()) {
            let name = model.name();
            return Err(UsageError(format!("{option}: {name} reads no table of observations; leave it out")).into());
        }
        let in_file = || {
            let path = self.given.file.as_ref().filter(|_| self.settings.get("data").is_some_and(names_a_table))?;
            Some(format!("data.file in {}", path.display()))
        };
        let table = given.map(str::to_owned).or_else(in_file);
        let options = args.model_settings.given_for(model, models, OF_A_POSTERIOR)?;
        let (of_columns, options): (Vec<_>, Vec<_>) = options.into_iter().partition(|given| column_of(given).is_some());
        let of_data = options.iter().find(|option| option.option.group == OptionGroup::Data);
        if let (Some(table), Some(GivenOption { option, .. })) = (&table, of_data) {
            return Err(UsageError(format!("{option}: the data come from {table}; leave out one of both")).into());
        }
        self.put_options(&options);
        match (given, table, of_columns.first()) {
            (Some(given), ..) => {
                self.name_columns(args, &of_columns);
                self.check_columns(given, model)?;
            }
            (None, None, Some(GivenOption { option, .. })) => {
                return Err(UsageError(format!("{option}: needs --data, the table of the column")).into());
            }
            // The table is the one in the file of settings.
            (None, ..) => self.put_options(&of_columns),
        }
        if let Some(path) = data {
            let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
            if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
                self.warnings.push(format!(
                    "{} is no file: what needs the data again (`resume`, `loo`, predictive pictures) will not find them",
                    path.display()
                ));
            }
            put_table(&mut self.settings, &args.data.table(path, None, &self.columns))?;
        }
        Ok(())
    }

    /// Takes the columns that options name, for the table of `--data` or `--batch`.
    fn name_columns(&mut self, args: &SampleArgs, options: &[GivenOption<'_>]) {
        self.columns = args.data.columns().map(|(name, column)| (name.to_owned(), column.clone())).collect();
        for given in options {
            self.given.options.push((given.option.setting.into(), given.to_string()));
            if let (Some(name), Some(column)) = (column_of(given), given.value.as_str()) {
                self.columns.insert(name.to_owned(), column.to_owned());
            }
        }
    }

    /// Checks the columns that options name against those that the model reads: `table` is the option of the table.
    ///
    /// # Errors
    /// When the model does not read one, or one has no name.
    fn check_columns(&self, table: &str, model: &dyn Model) -> Result<()> {
        let columns = model.columns(&self.settings).map_err(|error| self.explained(error, model.options()))?;
        let options = model.options();
        if let Some(other) = self.columns.keys().find(|name| columns.iter().all(|column| column.name != **name)) {
            let names: Vec<String> = columns.iter().map(|column| format!("`{}`", column.name)).collect();
            let read = if names.is_empty() { "all columns by their names".to_owned() } else { names.join(", ") };
            let (option, model) = (option_of_column(other, options), model.name());
            let why = format!("{option}: {model} reads no column that it could name, it reads {read}; leave it out");
            return Err(UsageError(why).into());
        }
        let lacking = columns.iter().filter(|one| one.must_be_named && !self.columns.contains_key(&*one.name));
        let lacking: Vec<String> = lacking.map(|column| option_of_column(&column.name, options)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let lacking = lacking.join(" and ");
        Err(UsageError(format!("{table}: needs {lacking}, to name columns of the table")).into())
    }

    /// Builds the model with its data.
    ///
    /// # Errors
    /// When a setting of the model is unknown or out of range, or its data cannot be read or do not fit the memory.
    pub(crate) fn problem(&self, model: &dyn Model) -> Result<Arc<dyn Problem>> {
        let size = model.data_size(&self.settings).map_err(|error| self.explained(error, model.options()))?;
        check_size(size)?;
        model.read_and_build(&self.settings, None).map_err(|error| self.explained(error, model.options()))
    }

    /// Builds the model with the table in `file`, which is in `table` if it has been read.
    ///
    /// # Errors
    /// When a setting of the model is unknown or out of range, the table cannot be read, or the model does not take the
    /// data.
    pub(crate) fn problem_of(
        &self,
        model: &dyn Model,
        file: &TableFile,
        table: Option<DataTable>,
    ) -> Result<Arc<dyn Problem>> {
        let mut settings = self.settings.clone();
        put_table(&mut settings, file)?;
        model.read_and_build(&settings, table).map_err(|error| self.explained(error, model.options()))
    }

    /// Returns an error of the model's settings that names the option or the file that gave the setting.
    pub(crate) fn explained(&self, error: BuildError, options: &[ModelOption]) -> anyhow::Error {
        let BuildError::Form { field, what } = error else { return in_options(error, options) };
        if let Some((_, option)) = self.given.options.iter().find(|(setting, _)| *setting == field) {
            return UsageError(format!("{option}: {what}")).into();
        }
        match &self.given.file {
            Some(path) => wrong_in_file(&path.display(), &field, &beside_the_models(&field, what)),
            None => BuildError::Form { field, what }.into(),
        }
    }

    /// Fills in settings of many short chains that neither file nor options give, since the PRD's defaults are for a few
    /// long ones.
    ///
    /// # Errors
    /// When no usual number of superchains divides that of the chains.
    fn fill_many_short(&mut self, args: &SamplerArgs, given: &dyn Fn(&str, bool) -> bool) -> Result<(), UsageError> {
        const CHAINS: usize = 1024;
        const LEAST_DRAWS: usize = 4;
        let sampler = &mut self.sampler;
        if !given("chains", args.chains.is_some()) {
            sampler.chains = CHAINS;
        }
        if !given("superchains", args.superchains.is_some()) {
            let (chains, most) = (sampler.chains, SamplerConfig::MOST_SUPERCHAINS);
            sampler.superchains = SamplerConfig::many_short(chains).superchains;
            if sampler.superchains > most {
                let near = chains - chains % 4;
                return Err(UsageError(format!(
                    "--chains {chains}: no number of superchains up to {most} divides it; take {near}, or give --superchains"
                )));
            }
        }
        if !given("draws", args.draws.is_some()) {
            sampler.draws = MANY_SHORT_DRAWS.div_ceil(sampler.chains.max(1)).max(LEAST_DRAWS);
        }
        Ok(())
    }

    /// Returns the device that the command line, else the environment, else the settings ask for.
    ///
    /// # Errors
    /// When the environment does not name a device.
    pub(crate) fn device(&self, args: &MachineArgs) -> Result<DeviceRequest> {
        let chosen = chosen(args)?;
        let asked = if chosen.source == Source::Default { self.device } else { chosen.choice };
        if chosen.source == Source::Default && asked == DeviceChoice::Cpu {
            heard(args, "device = \"cpu\" in the file of --config")?;
        }
        Ok(DeviceRequest { choice: asked, ..chosen })
    }

    /// Returns what is asked of the run on the machine that the command line asks for.
    ///
    /// # Errors
    /// When the environment does not name a device.
    pub(crate) fn request(&self, args: &MachineArgs) -> Result<RunRequest> {
        Ok(RunRequest {
            sampler: self.sampler.clone(),
            init: self.init.clone(),
            goal: self.goal,
            keep_warmup: self.keep_warmup,
            auto: self.auto,
            device: self.device(args)?,
            no_fallback: args.no_fallback,
            threads: args.threads,
        })
    }

    /// Checks every value, which is called by its option's name, and what goes together.
    pub(crate) fn validate(&self) -> Result<(), UsageError> {
        if let Some(error) = self.out_of_range() {
            return Err(config_error(&error));
        }
        if self.keep_warmup && self.auto.is_some() {
            let why = "--keep-warmup: needs --strategy cross-chain or four-long, auto may choose another";
            return Err(UsageError(why.into()));
        }
        if self.keep_warmup && self.sampler.strategy == Strategy::ManyShort {
            let why = "--keep-warmup: warm-up of many short chains is that of a few, whose draws are not kept";
            return Err(UsageError(why.into()));
        }
        Ok(())
    }

    /// Checks that no goal is set, no warm-up is kept and no way to start is given, which `command` has no use for.
    ///
    /// # Errors
    /// When the file of settings has one of them.
    pub(crate) fn of_draws_alone(&self, command: &str) -> Result<(), UsageError> {
        let why = if self.goal != Goal::default() {
            "all draws are drawn; leave the table `goal`"
        } else if self.keep_warmup {
            "the draws of warm-up are not kept; leave `keep_warmup`"
        } else if !self.init.is_default() {
            "all chains start by jitter; leave `init`"
        } else {
            return Ok(());
        };
        Err(UsageError(format!("{command}: {why} out of the file of --config")))
    }

    /// Checks that the file of settings asks for no GPU, where `command` is on the CPU alone.
    ///
    /// # Errors
    /// When it does.
    pub(crate) fn on_cpu_alone(&self, command: &str) -> Result<(), UsageError> {
        if matches!(self.device, DeviceChoice::Auto | DeviceChoice::Cpu) {
            return Ok(());
        }
        Err(UsageError(format!("{command}: all runs are on the CPU; leave `device` out of the file of --config")))
    }

    /// Returns the first setting of the sampler or the goal that is out of range.
    fn out_of_range(&self) -> Option<ConfigError> {
        if let Err(error) = self.sampler.validate() {
            return Some(error);
        }
        let Goal { target_ess, target_rhat, max_seconds } = self.goal;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let [of_ess, of_rhat, of_seconds] = GOALS;
        let goals = [
            (of_ess, target_ess, target_ess.is_none_or(positive), "a positive number is needed"),
            (of_rhat, target_rhat, target_rhat.is_none_or(|x| positive(x - 1.0)), "a number above 1 is needed"),
            (of_seconds, max_seconds, max_seconds.is_none_or(positive), "a positive number is needed"),
        ];
        let (field, value, _, expected) = goals.into_iter().find(|(_, _, good, _)| !good)?;
        Some(ConfigError { field, value: value.map_or_else(String::new, |value| value.to_string()), expected })
    }
}

/// Checks that the memory is there for a model with its data, before they are made or read.
///
/// # Errors
/// When it is not.
pub(crate) fn check_size(size: Option<DataSize>) -> Result<(), RunError> {
    let need = |DataSize { what, bytes, advice }| MemoryNeed { what, bytes, advice: advice.to_owned() };
    size.map_or(Ok(()), |size| need(size).check())
}

/// Puts a table of observations into a model's settings.
///
/// # Errors
/// When the path of the table is not valid text.
fn put_table(settings: &mut Table, table: &TableFile) -> Result<(), UsageError> {
    let file =
        Table::try_from(table).map_err(|error| UsageError(format!("--data {}: {error}", table.path.display())))?;
    put(settings, "data.file", Value::Table(file));
    Ok(())
}

/// Returns the model's name for the column that an option names, if it names one.
fn column_of(given: &GivenOption<'_>) -> Option<&'static str> {
    given.option.setting.strip_prefix("data.file.")
}

/// Returns the option that names a column: the program's own or the model's, else the setting.
fn option_of_column(name: &str, options: &[ModelOption]) -> String {
    let setting = format!("data.file.{name}");
    match options.iter().find(|option| option.setting == setting) {
        Some(option) => option.to_string(),
        None if ["group", "value"].contains(&name) => format!("--{name}"),
        None => setting,
    }
}

/// Adds to the complaint about an entry that no setting of the model has where it belongs, or what else a file may have.
fn beside_the_models(entry: &str, what: String) -> String {
    if entry.contains('.') || !what.starts_with("unknown field") {
        return what;
    }
    let of_sampler = Table::try_from(prd_sampler()).is_ok_and(|sampler| sampler.contains_key(entry));
    let table = if of_sampler { Some("sampler") } else { GOALS.contains(&entry).then_some("goal") };
    match table {
        Some(table) => format!("it belongs in the table `{table}`, as `{table}.{entry}`"),
        None => format!("{what}, and of the run `{}`", OF_THE_RUN.join("`, `")),
    }
}

fn wrong_in_file(shown: &dyn std::fmt::Display, field: &str, what: &str) -> anyhow::Error {
    let field = if field.is_empty() || field == "." { String::new() } else { format!(" field `{field}`:") };
    UsageError(format!("{shown}:{field} {what}; correct the file (see `octopus help sample`)")).into()
}

fn read_table(path: &Path) -> Result<Table> {
    let shown = path.display();
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    let bytes = read.with_context(|| format!("cannot read the settings in {shown}"))?;
    if bytes as u64 > MOST_BYTES {
        return Err(UsageError(format!("{shown} is no file of settings: it has more than {MOST_BYTES} bytes")).into());
    }
    toml::from_str(&text)
        .map_err(|error| UsageError(format!("{shown} is no TOML file: {}", error.to_string().trim())).into())
}

/// Takes the strategy `auto`, which the sampler's settings do not know, out of a file; returns whether it was there.
fn take_auto(file: &mut Table) -> bool {
    let Some(sampler) = file.get_mut("sampler").and_then(Value::as_table_mut) else { return false };
    let auto = sampler.get("strategy").and_then(Value::as_str) == Some("auto");
    if auto {
        sampler.remove("strategy");
    }
    auto
}

/// Returns whether a file has the setting `name` of the sampler.
fn sets_sampler(file: &Table, name: &str) -> bool {
    file.get("sampler").and_then(Value::as_table).is_some_and(|sampler| sampler.contains_key(name))
}

/// Returns the device that the command line, else the environment asks for, and limits the memory of GPUs as asked.
///
/// # Errors
/// When the environment does not name a device.
pub(crate) fn chosen(args: &MachineArgs) -> Result<DeviceRequest> {
    if let Some(bytes) = args.gpu_memory {
        octopus_device::limit_device_memory(bytes);
    }
    let flag = args.device.map(|choice| choice.to_string());
    let chosen = DeviceChoice::from_flag(flag.as_deref()).map_err(|error| UsageError(error.to_string()))?;
    if chosen.source == Source::Variable && chosen.choice == DeviceChoice::Cpu {
        heard(args, "OCTOPUS_DEVICE=cpu")?;
    }
    Ok(chosen)
}

/// Checks that no option about GPUs was given where `place` says that the run is on the CPU. What `--device cpu` says is
/// checked with the command line.
fn heard(args: &MachineArgs, place: &str) -> Result<(), UsageError> {
    let given = [("--gpu-memory", args.gpu_memory.is_some()), ("--no-fallback", args.no_fallback)];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(UsageError(format!(
            "{option}: has no effect with {place}, as it is about GPUs; leave it out, or give --device"
        ))),
        None => Ok(()),
    }
}

/// Converts the error of a sampler's setting that is out of range; the setting is called by its option's name.
pub(crate) fn config_error(error: &ConfigError) -> UsageError {
    UsageError(format!("{} {}: {}", option(error.field, &[]), error.value, error.expected))
}

/// Converts an error. A setting that is out of range is called by its option's name; other errors stay as they are.
pub(crate) fn in_options(error: BuildError, options: &[ModelOption]) -> anyhow::Error {
    match error {
        BuildError::Model(ModelError::Setting { field, value, expected }) => {
            UsageError(format!("{} {value}: {expected}", option(field, options))).into()
        }
        BuildError::NoTable => UsageError(BuildError::NoTable.to_string()).into(),
        BuildError::Program(messages) => UsageError(messages).into(),
        other => other.into(),
    }
}

/// Returns the option that gives a setting, of the program's own or of the model's `options`; of settings that are too
/// much together, e.g. `draws + tune`, the options. A setting that has no option keeps its name, as files have it.
pub(crate) fn option(field: &str, options: &[ModelOption]) -> String {
    let name = |word: &str| {
        let option = word.replace('_', "-");
        let is_known = Cli::has_option(&option) || options.iter().any(|one| one.name == option);
        if is_known { format!("--{option}") } else { word.to_owned() }
    };
    field.split(' ').map(name).collect::<Vec<_>>().join(" ")
}

/// Lays the settings `over` upon `base`, table by table.
fn overlay(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => {
                overlay(old, new);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Whether the settings of a model's data are those of a table.
fn names_a_table(data: &Value) -> bool {
    data.get("file").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Command;
    use octopus_sampler::{Hmc, MetricKind, Parameterization, Precision, WindowConfig};

    fn read(text: &str) -> Result<RunConfig> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        std::fs::write(&path, text).unwrap();
        RunConfig::default().overlaid(&path, read_table(&path)?)
    }

    #[test]
    fn a_file_of_settings_has_a_mebibyte_at_most() {
        let of = |bytes: u64| read(&"#".repeat(usize::try_from(bytes).unwrap()));
        assert!(of(MOST_BYTES).is_ok());
        let error = of(MOST_BYTES + 1).unwrap_err().to_string();
        assert!(error.ends_with("it has more than 1048576 bytes"), "{error}");
    }

    fn built(config: &RunConfig) -> Result<Arc<dyn Problem>> {
        config.problem(Registry::shipped().find("hierarchical-normal").unwrap())
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let config = read("").unwrap();
        assert_eq!(RunConfig { given: Given::default(), ..config }, RunConfig::default());
        let config = read("likelihood = \"pointwise\"\n[sampler]\ndraws = 7\n[prior]\nmu_sd = 3.0").unwrap();
        let mut expected = RunConfig { given: config.given.clone(), ..RunConfig::default() };
        expected.sampler.draws = 7;
        expected.settings = "likelihood = \"pointwise\"\n[prior]\nmu_sd = 3.0".parse().unwrap();
        assert_eq!(config, expected);
        assert_eq!(config.sampler.target_accept, 0.95, "the rest keeps the PRD's values");
        let settings = built(&config).unwrap().settings().clone();
        assert_eq!(settings["prior"]["mu_mean"].as_float(), Some(50.0), "so do the model's");
        assert_eq!(settings["prior"]["mu_sd"].as_float(), Some(3.0));
    }

    #[test]
    fn a_bad_file_is_named_with_the_field() {
        for (text, words) in [
            ("[sampler]\ndrawz = 3", ["settings.toml", "drawz"]),
            ("[sampler]\ndraws = \"many\"", ["sampler.draws", "many"]),
            ("[sampler", ["settings.toml", "line 1"]),
            ("colour = 1", ["settings.toml", "field `colour`"]),
            ("[prior]\nmu_sd = \"much\"", ["settings.toml", "field `prior.mu_sd`"]),
        ] {
            let message = read(text).and_then(|config| built(&config)).map(|_| ()).unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    #[test]
    fn values_out_of_range_are_named_by_their_option() {
        let mut config = RunConfig::default();
        config.sampler.target_accept = 1.5;
        let message = config.validate().unwrap_err().to_string();
        assert!(message.contains("--target-accept 1.5"), "{message}");
        for (settings, words) in [
            ("[prior]\nsigma_obs_scale = -2.0", "--sigma-obs-scale -2"),
            ("[data.synthetic]\nper_group = 0", "--per-group 0"),
        ] {
            let config = RunConfig { settings: settings.parse().unwrap(), ..RunConfig::default() };
            let message = built(&config).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn settings_are_called_by_their_options() {
        let own = Registry::shipped().find("hierarchical-normal").unwrap().options();
        let names = ["mu_sd", "draws", "draws + tune", "groups * per_group", "within_sd", "max_energy_error"]
            .map(|field| option(field, own));
        let options = ["--mu-sd", "--draws", "--draws + --tune", "--groups * --per-group"];
        assert_eq!(names, [&options[..], &["within_sd", "max_energy_error"]].concat()[..]);
        assert_eq!(option("mu_sd", &[]), "mu_sd", "other models have no such option");
        let of = |field: &str| wrong_in_file(&"f.toml", field, "what").to_string();
        for none in ["", "."] {
            assert_eq!(of(none), "f.toml: what; correct the file (see `octopus help sample`)");
        }
        assert_eq!(of("a.b"), "f.toml: field `a.b`: what; correct the file (see `octopus help sample`)");
    }

    #[test]
    fn an_entry_that_no_model_has_is_told_its_place() {
        let told = |entry: &str, what: &str| beside_the_models(entry, what.to_owned());
        assert_eq!(told("draws", "unknown field"), "it belongs in the table `sampler`, as `sampler.draws`");
        assert_eq!(told("target_ess", "unknown field"), "it belongs in the table `goal`, as `goal.target_ess`");
        let own = "unknown field `drawz`, expected `prior`, and of the run `device`, `keep_warmup`, `init`, `sampler`, `goal`";
        assert_eq!(told("drawz", "unknown field `drawz`, expected `prior`"), own);
        // What is within a table of the model, or known to it, is left as it is.
        assert_eq!(told("prior.draws", "unknown field"), "unknown field");
        assert_eq!(told("likelihood", "invalid type"), "invalid type");
    }

    #[test]
    fn goals_are_positive_and_an_rhat_is_above_1() {
        let check = |target_ess, target_rhat, max_seconds| {
            let goal = Goal { target_ess, target_rhat, max_seconds };
            RunConfig { goal, ..RunConfig::default() }.validate().map_err(|error| error.to_string())
        };
        for x in [0.0, -0.1, -1.0, f64::INFINITY, f64::NAN] {
            assert!(check(Some(x), None, None).unwrap_err().starts_with("--target-ess "), "{x}");
            assert!(check(None, Some(1.0 + x), None).unwrap_err().starts_with("--target-rhat "), "{x}");
            assert!(check(None, None, Some(x)).unwrap_err().starts_with("--max-seconds "), "{x}");
        }
        for x in [0.001, 400.0] {
            assert_eq!(check(Some(x), Some(1.0 + x), Some(x)), Ok(()));
        }
    }

    #[test]
    fn warm_up_is_kept_of_few_long_chains_only() {
        let check = |keep_warmup, auto, strategy| {
            let sampler = SamplerConfig { strategy, ..prd_sampler() };
            RunConfig { keep_warmup, auto, sampler, ..RunConfig::default() }.validate().is_ok()
        };
        let (long, short) = (Strategy::FourLong, Strategy::ManyShort);
        assert!(check(true, None, long) && check(false, Some(true), long) && check(false, None, short));
        assert!(check(true, None, Strategy::CrossChain));
        assert!(!check(true, Some(false), long) && !check(true, None, short));
    }

    /// Each option has a value that is not its default. The settings are written out: a new one needs a line here, and
    /// its option on the command line.
    #[test]
    fn every_option_of_a_run_reaches_its_setting() {
        let words = "octopus sample hierarchical-normal --out run --keep-warmup --draws 7 --tune 33 --chains 6 \
                     --target-accept 0.7 --max-depth 3 --seed 9 --parameterization centered --metric diag-draws \
                     --init-radius 0.5 --precision mixed --algorithm hmc --leapfrogs 3 --target-ess 123 --target-rhat 1.07 --max-seconds 45";
        let given = |words: &str| {
            let models = Registry::shipped();
            let cli = Cli::read(models, words.split_whitespace()).unwrap();
            let Command::Sample(args) = cli.command else { panic!("another command") };
            RunConfig::from_args(&args, models.find("hierarchical-normal").unwrap(), models).unwrap()
        };
        let config = given(words);
        let expected = SamplerConfig {
            draws: 7,
            tune: 33,
            chains: 6,
            strategy: Strategy::CrossChain,
            superchains: 4,
            target_accept: 0.7,
            max_depth: 3,
            max_energy_error: 1000.0,
            seed: 9,
            parameterization: Parameterization::Centered,
            metric: MetricKind::DiagDraws,
            init_radius: 0.5,
            windows: WindowConfig::default(),
            precision: Precision::Mixed,
            algorithm: Algorithm::Hmc(Hmc { leapfrogs: Some(3), ..Hmc::default() }),
        };
        assert_eq!(config.sampler, expected);
        assert_eq!(config.goal, Goal { target_ess: Some(123.0), target_rhat: Some(1.07), max_seconds: Some(45.0) });
        assert!(config.keep_warmup);
        // Those that go together with many short chains, which have no warm-up to keep.
        let config = given(&words.replace("--keep-warmup", "--strategy many-short --superchains 3"));
        assert_eq!(config.sampler, SamplerConfig { strategy: Strategy::ManyShort, superchains: 3, ..expected });
        // An option whose value is the default would not show that it is heard.
        let settings = |sampler: &SamplerConfig| serde_json::to_value(sampler).unwrap().as_object().unwrap().clone();
        let default = settings(&prd_sampler());
        for (name, value) in settings(&config.sampler) {
            let has_no_option = ["max_energy_error", "windows"].contains(&name.as_str());
            assert_eq!(value == default[&name], has_no_option, "{name} is {value}");
        }
    }

    /// The settings of many short chains with these options.
    fn many_short(options: &str) -> Result<SamplerConfig> {
        let models = Registry::shipped();
        let words = format!("octopus sample eight-schools --out run --strategy many-short {options}");
        let Command::Sample(args) = Cli::read(models, words.split_whitespace()).unwrap().command else {
            panic!("another command")
        };
        Ok(RunConfig::from_args(&args, models.find("eight-schools").unwrap(), models)?.sampler)
    }

    /// 16384 draws of all chains together, rounded up, and at least 4 of each.
    #[test]
    fn many_short_chains_have_numbers_of_their_own() {
        for (options, numbers) in [
            ("", (1024, 64, 16)),
            ("--chains 3", (3, 3, 5462)),
            ("--chains 100", (100, 25, 164)),
            ("--chains 2048", (2048, 64, 8)),
            ("--chains 4096", (4096, 64, 4)),
            ("--chains 8192", (8192, 64, 4)),
            ("--chains 12 --superchains 2 --draws 9", (12, 2, 9)),
        ] {
            let found = many_short(options).unwrap();
            assert_eq!((found.chains, found.superchains, found.draws), numbers, "{options}");
        }
        for (chains, near) in [(1009, 1008), (1013, 1012), (67, 64), (71, 68)] {
            let error = many_short(&format!("--chains {chains}")).unwrap_err().to_string();
            let words = format!("--chains {chains}: no number of superchains up to 64 divides it; take {near}, or");
            assert!(error.starts_with(&words), "{error}");
            assert!(many_short(&format!("--chains {near}")).is_ok(), "{near}");
        }
        for (options, said) in [("--chains 0", "--chains 0: "), ("--chains 1", "--superchains 1: ")] {
            assert!(many_short(options).unwrap_err().to_string().starts_with(said), "{options}");
        }
    }

    #[test]
    fn data_that_do_not_fit_are_told_with_what_they_are_and_what_to_do() {
        let size = |bytes| Some(DataSize { what: "9 observations".to_owned(), bytes, advice: "ask for fewer" });
        assert!(check_size(None).is_ok() && check_size(size(1)).is_ok());
        if octopus_device::HostInfo::read().memory_available.is_some() {
            let error = check_size(size(u64::MAX)).unwrap_err().to_string();
            assert!(error.starts_with("9 observations take") && error.ends_with(": ask for fewer"), "{error}");
        }
    }
}
