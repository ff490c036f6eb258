//! The arguments of `octopus sample`, with their help, and the groups that other commands share.
//!
//! They are about data, batches, the sampler (chains, draws, warm-up, target of acceptance, tree depth, metric), goals,
//! and the machine (device, its memory, threads).

use super::{ModelArgs, ShareArgs};
use crate::config::StrategyChoice;
use crate::exit::UsageError;
use bytesize::ByteSize;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use octopus_device::DeviceChoice;
use octopus_formats::observations::DecimalMark;
use octopus_models::{RowFilter, TableFile};
use octopus_runs::{Goal, Init};
use octopus_sampler::{Algorithm, MetricKind, Parameterization, Precision, SamplerConfig, Strategy};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StrDeserializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `octopus sample`
#[derive(Debug, Default, Args)]
pub(crate) struct SampleArgs {
    /// The model
    pub(crate) model: String,
    /// The new run folder
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the memory that the run needs, with --json its settings too; sample nothing. Exit code 3
    /// if it does not fit
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Settings file (TOML); options on the command line override it
    ///
    /// The run reads `device`, `keep_warmup`, `init`, and the tables `sampler` and `goal`. Every other entry goes to the model.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Keep the draws of warm-up too
    #[arg(long)]
    pub(crate) keep_warmup: bool,
    /// Checkpoint every N iterations [default: about every second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) checkpoint_every: Option<u64>,
    /// How chains start: jitter, prior, pathfinder, a file of values, or a run [default: jitter]
    ///
    /// jitter: uniformly around the density's center (--init-radius). prior: at draws from the model's prior. pathfinder: at
    /// draws of normals along paths to the modes, for posteriors with places where chains are lost. A file has values of
    /// parameters as CmdStan's have: a JSON object for all chains, or a list with an object for each. Of a run folder, chains
    /// start at its last draws, and warm-up with the coordinates, the metric and the step size that suit its draws; a warning
    /// says where they do not fit. A batch has jitter, prior and pathfinder.
    #[arg(long, value_name = "HOW|FILE|RUN")]
    pub(crate) init: Option<Init>,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Many data sets.
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    /// Who samples which of them.
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// Its settings.
    #[arg(skip)]
    pub(crate) model_settings: ModelArgs,
    /// Sampler.
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Goal.
    #[command(flatten)]
    pub(crate) goal: GoalArgs,
    /// Machine.
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Where observations come from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Observations for models that read a table: CSV with a header line, after comments that begin
    /// with #, or Parquet as a file or a folder
    #[arg(long, value_name = "FILE", group = "table")]
    pub(crate) data: Option<PathBuf>,
    /// The column of group labels
    #[arg(long, value_name = "COL")]
    pub(crate) group: Option<String>,
    /// The column of values
    #[arg(long, value_name = "COL")]
    pub(crate) value: Option<String>,
    /// Leave out and count rows that lack a group or a value; without this option they are refused
    #[arg(long)]
    pub(crate) drop_missing: bool,
    /// The mark before decimals in CSV, a point or a comma [default: .]
    #[arg(long, value_name = "MARK", value_parser = words::<DecimalMark>(&[".", ","]))]
    pub(crate) decimal: Option<DecimalMark>,
}

impl DataArgs {
    /// Returns the table in `path` whose rows in `only` are read, with the columns that options name.
    pub(crate) fn table(&self, path: &Path, only: Option<RowFilter>, columns: &BTreeMap<String, String>) -> TableFile {
        TableFile {
            path: path.to_owned(),
            columns: columns.clone(),
            drop_missing: self.drop_missing,
            decimal: self.decimal.unwrap_or_default(),
            only,
        }
    }

    /// Returns the columns that `--group` and `--value` name, by the model's names for them.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'static str, &String)> {
        [("group", &self.group), ("value", &self.value)]
            .into_iter()
            .filter_map(|(name, column)| Some((name, column.as_ref()?)))
    }
}

/// Many data sets of one model.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Batches (one run per data set, in OUT/sets)")]
pub(crate) struct BatchArgs {
    /// Sample each file of a folder, or with --batch-by each part of one file
    ///
    /// The columns are named by --group and --value. The same command with the same --out continues an interrupted batch.
    #[arg(long, value_name = "DIR|FILE", group = "table")]
    #[arg(conflicts_with_all = ["dry_run", "checkpoint_every"])]
    #[arg(conflicts_with_all = ["target_ess", "target_rhat", "max_seconds"])]
    pub(crate) batch: Option<PathBuf>,
    /// The column that tells the data sets of the file apart
    #[arg(long, value_name = "COL")]
    pub(crate) batch_by: Option<String>,
}

/// Settings of the sampler.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Sampler")]
pub(crate) struct SamplerArgs {
    /// What draws; GPUs have nuts, hmc, chees, importance [default: nuts]
    ///
    /// nuts: the No-U-Turn Sampler. hmc: trajectories of a given length or number of steps. chees: hmc that learns the
    /// length of its trajectories from all chains, of which it should have 16 or more. mams: the adjusted microcanonical
    /// sampler, for many coordinates. walnuts: nuts whose steps are halved where the density bends sharply.
    ///
    /// The others move no chain and have no warm-up; run.toml has the evidence that they find. importance: draws are chosen
    /// among weighted particles. smc: sequential Monte Carlo, each chain a repetition and each of its draws a particle.
    /// pathfinder: an approximation by normals. Where Pareto k or the moves say that draws cannot be relied on, a warning
    /// says so and the exit code is 1.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Algorithm::NAMES))]
    pub(crate) algorithm: Option<String>,
    /// Settings of that sampler.
    #[command(flatten)]
    pub(crate) of_algorithm: AlgorithmArgs,
    /// Draws per chain, at most if there is a target; many-short: 16384 over all chains [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) draws: Option<usize>,
    /// Warm-up iterations per chain, at most; four-long: exactly this many [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) tune: Option<usize>,
    /// How chains warm up [default: cross-chain]
    ///
    /// cross-chain: all chains warm up together, until what they learn has settled. four-long: each chain has a step size of
    /// its own and warms up for all of --tune, as in Stan. many-short: a few chains warm up together; each is then copied.
    /// auto: the most chains that cost hardly more leapfrog steps than the fewest, for as many draws or for the target; the
    /// same choice on every machine.
    #[arg(long, value_parser = words::<StrategyChoice>(&["cross-chain", "four-long", "many-short", "auto"]))]
    pub(crate) strategy: Option<StrategyChoice>,
    /// Chains; with many-short 1024 [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) chains: Option<usize>,
    /// many-short: chains that warm up, each then copied to chains / superchains chains [default: at
    /// most 64, by --chains]
    #[arg(long, value_name = "N")]
    pub(crate) superchains: Option<usize>,
    /// Target of the acceptance rate [default: 0.95]
    #[arg(long, value_name = "P")]
    pub(crate) target_accept: Option<f64>,
    /// Seed of all random numbers of the run [default: 42]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Coordinates of the effects while sampling [default: adaptive]
    ///
    /// adaptive standardises each effect given the scales, and as-written takes a Stan program's effects as they are in the
    /// program. Reported draws are the model's own variables in any case.
    #[arg(long, value_parser = words::<Parameterization>(&["adaptive", "as-written", "centered", "non-centered"]))]
    pub(crate) parameterization: Option<Parameterization>,
    /// Metric [default: auto]
    #[arg(long, value_parser = words::<MetricKind>(&["auto", "low-rank", "diag", "diag-draws", "identity"]))]
    pub(crate) metric: Option<MetricKind>,
    /// Arithmetic: f64 gives identical draws on CPU and GPU; f32 and mixed need a GPU [default: f64]
    #[arg(long, value_parser = words::<Precision>(&["f64", "f32", "mixed"]))]
    pub(crate) precision: Option<Precision>,
    /// Most doublings of a trajectory [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Starting points are uniform within X of the density's center, in its units [default: 2]
    ///
    /// Where the density is absurdly steep beside other such points, a chain starts at the next.
    #[arg(long, value_name = "X")]
    pub(crate) init_radius: Option<f64>,
}

impl SamplerArgs {
    /// Lays the options that are given over `settings`.
    ///
    /// # Errors
    /// When superchains are asked for with a strategy that has none.
    pub(crate) fn lay_over(&self, settings: &mut SamplerConfig) -> Result<(), UsageError> {
        set(&mut settings.draws, self.draws);
        set(&mut settings.tune, self.tune);
        set(&mut settings.chains, self.chains);
        settings.strategy = match self.strategy {
            Some(StrategyChoice::ManyShort) => Strategy::ManyShort,
            Some(StrategyChoice::FourLong) => Strategy::FourLong,
            Some(StrategyChoice::CrossChain | StrategyChoice::Auto) => Strategy::CrossChain,
            None => settings.strategy,
        };
        set(&mut settings.superchains, self.superchains);
        set(&mut settings.target_accept, self.target_accept);
        set(&mut settings.seed, self.seed);
        set(&mut settings.parameterization, self.parameterization);
        set(&mut settings.metric, self.metric);
        set(&mut settings.precision, self.precision);
        set(&mut settings.max_depth, self.max_depth);
        set(&mut settings.init_radius, self.init_radius);
        if let Some(algorithm) = self.algorithm.as_deref().and_then(Algorithm::named)
            && algorithm.name() != settings.algorithm.name()
        {
            settings.algorithm = algorithm;
        }
        self.of_algorithm.lay_over(&mut settings.algorithm)?;
        if settings.strategy != Strategy::ManyShort && self.superchains.is_some() {
            return Err(UsageError("--superchains: needs --strategy many-short".into()));
        }
        Ok(())
    }
}

/// Settings that one sampler or another has.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Sampler other than nuts (--algorithm)")]
pub(crate) struct AlgorithmArgs {
    /// hmc: leapfrog steps of a trajectory, on average [default: as many as make --length]
    #[arg(long, value_name = "N")]
    pub(crate) leapfrogs: Option<u32>,
    /// hmc: step size, which warm-up does not adapt then [default: adapted to --target-accept]
    #[arg(long, value_name = "X")]
    pub(crate) step_size: Option<f64>,
    /// hmc: mean length of a trajectory in posterior standard deviations [default: a quarter of a
    /// period, 1.57]
    #[arg(long, value_name = "X")]
    pub(crate) length: Option<f64>,
    /// hmc, chees, mams: lengths vary by this share of their mean, 0 to 1 [default: chees 1, else 0.5]
    #[arg(long, value_name = "P")]
    pub(crate) jitter: Option<f64>,
    /// walnuts: most that the energy may vary along a step of the tree [default: 0.5]
    #[arg(long, value_name = "X")]
    pub(crate) max_error: Option<f64>,
    /// walnuts: most halvings of a step [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) max_halvings: Option<u32>,
    /// importance: particles among which draws are chosen [default: 10000]
    #[arg(long, value_name = "N")]
    pub(crate) particles: Option<u32>,
    /// importance: where particles are drawn [default: mixture]
    ///
    /// laplace: a Student t at the mode. mixture: one adapted to particles, and a wide one. prior: draws from the model's
    /// prior, weighted by the likelihood; for `octopus sample` of one data set on the CPU.
    #[arg(long, value_parser = PossibleValuesParser::new(["mixture", "laplace", "prior"]))]
    pub(crate) proposal: Option<String>,
    /// importance: degrees of freedom of the Student t, inf for a normal [default: 5]
    #[arg(long, value_name = "X")]
    pub(crate) degrees: Option<f64>,
    /// smc: share of the particles that their effective number may fall to from one temperature to the
    /// next [default: 0.5]
    #[arg(long, value_name = "P")]
    pub(crate) ess_share: Option<f64>,
    /// pathfinder: paths [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) paths: Option<u32>,
    /// pathfinder: draws that judge each point of a path [default: 25]
    #[arg(long, value_name = "N")]
    pub(crate) elbo_draws: Option<u32>,
    /// pathfinder: draws of each path, among which draws are chosen [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) draws_per_path: Option<u32>,
}

impl AlgorithmArgs {
    /// Lays the options that are given over the settings of `algorithm`.
    ///
    /// # Errors
    /// When an option is given that the sampler does not have.
    fn lay_over(&self, algorithm: &mut Algorithm) -> Result<(), UsageError> {
        let integer = |value: Option<u32>| value.map(|value| toml::Value::Integer(value.into()));
        let real = |value: Option<f64>| value.map(toml::Value::Float);
        let given = [
            ("--leapfrogs", "leapfrogs", integer(self.leapfrogs)),
            ("--step-size", "step_size", real(self.step_size)),
            ("--length", "length", real(self.length)),
            ("--jitter", "jitter", real(self.jitter)),
            ("--max-error", "max_error", real(self.max_error)),
            ("--max-halvings", "max_halvings", integer(self.max_halvings)),
            ("--particles", "particles", integer(self.particles)),
            ("--proposal", "proposal", self.proposal.clone().map(toml::Value::String)),
            ("--degrees", "degrees", real(self.degrees)),
            ("--ess-share", "ess_share", real(self.ess_share)),
            ("--paths", "paths", integer(self.paths)),
            ("--elbo-draws", "elbo_draws", integer(self.elbo_draws)),
            ("--draws-per-path", "draws_per_path", integer(self.draws_per_path)),
        ];
        for (option, setting, value) in given {
            let Some(value) = value else { continue };
            let name = algorithm.name();
            let wrong = || {
                UsageError(format!(
                    "{option}: the sampler {name} has no such setting; leave it out, or choose another --algorithm"
                ))
            };
            let mut settings = match toml::Value::try_from(&*algorithm) {
                Ok(toml::Value::Table(mut settings)) => match settings.remove(name) {
                    Some(toml::Value::Table(own)) => own,
                    _ => toml::Table::new(),
                },
                _ => toml::Table::new(),
            };
            settings.insert(setting.to_owned(), value);
            let written = toml::Table::from_iter([(name.to_owned(), toml::Value::Table(settings))]);
            *algorithm = written.try_into().map_err(|_| wrong())?;
        }
        Ok(())
    }
}

fn set<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// When a run ends before its last draw.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Goal (exit code 1 if --draws or --max-seconds ends the run first)")]
pub(crate) struct GoalArgs {
    /// End when bulk- and tail-ESS of every parameter are at least N
    #[arg(long, value_name = "N")]
    pub(crate) target_ess: Option<f64>,
    /// End when R-hat (many-short: nested R-hat) of every parameter is below X
    #[arg(long, value_name = "X")]
    pub(crate) target_rhat: Option<f64>,
    /// End after S seconds of warm-up and sampling, with at least one draw
    #[arg(long, value_name = "S")]
    pub(crate) max_seconds: Option<f64>,
}

impl GoalArgs {
    /// Lays the options that are given over `goal`.
    pub(crate) fn lay_over(&self, goal: &mut Goal) {
        goal.target_ess = self.target_ess.or(goal.target_ess);
        goal.target_rhat = self.target_rhat.or(goal.target_rhat);
        goal.max_seconds = self.max_seconds.or(goal.max_seconds);
    }
}

/// Where the work is done.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// auto, cpu, cuda, cuda:N, cuda:0,1 or cuda:all; without it OCTOPUS_DEVICE is read [default: auto]
    #[arg(long)]
    pub(crate) device: Option<DeviceChoice>,
    /// Fail instead of continuing on the CPU when a GPU is unusable or fails
    ///
    /// On a machine without a GPU only --device cuda fails.
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// Most memory to use on each GPU, e.g. 4GiB [default: all]
    ///
    /// Chains that do not fit take turns; the draws stay the same.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) gpu_memory: Option<u64>,
    /// CPU threads; the draws do not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

/// A parser of the words that serde knows for `T`, so that command line and files share them.
pub(super) fn words<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names)
        .try_map(|word| T::deserialize(StrDeserializer::<ValueError>::new(&word)).map_err(|error| error.to_string()))
}

/// Returns a size in bytes, of at least 1 MiB.
pub(super) fn size(text: &str) -> Result<u64, String> {
    match text.parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if bytes >= bytesize::MIB => Ok(bytes),
        _ => Err("a size of at least 1 MiB is needed, e.g. 4GiB, 512MiB or a number of bytes".into()),
    }
}

pub(super) fn thread_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=4096) => Ok(count),
        _ => Err("a number of threads from 1 to 4096 is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_the_options_say() {
        let args = DataArgs {
            data: None,
            group: Some("g".to_owned()),
            value: Some("y".to_owned()),
            drop_missing: true,
            decimal: Some(DecimalMark::Comma),
        };
        let columns: BTreeMap<String, String> =
            args.columns().map(|(name, column)| (name.to_owned(), column.clone())).collect();
        assert_eq!(columns, [("group", "g"), ("value", "y")].map(|(a, b)| (a.to_owned(), b.to_owned())).into());
        let rows = RowFilter { column: "study".to_owned(), label: "b".to_owned() };
        let expected = TableFile {
            path: "d.csv".into(),
            columns: columns.clone(),
            drop_missing: true,
            decimal: DecimalMark::Comma,
            only: Some(rows.clone()),
        };
        assert_eq!(args.table(Path::new("d.csv"), Some(rows), &columns), expected);
        let plain = DataArgs { drop_missing: false, decimal: None, value: None, ..args };
        let expected = TableFile { drop_missing: false, decimal: DecimalMark::Point, only: None, ..expected };
        assert_eq!(plain.table(Path::new("d.csv"), None, &columns), expected);
        assert_eq!(plain.columns().map(|(name, _)| name).collect::<Vec<_>>(), ["group"]);
    }

    #[test]
    fn a_goal_of_a_file_stays_where_no_option_says_another() {
        let file = Goal { target_ess: Some(5.0), target_rhat: Some(1.5), max_seconds: Some(7.0) };
        let mut goal = file;
        GoalArgs::default().lay_over(&mut goal);
        assert_eq!(goal, file);
        let other = GoalArgs { target_ess: Some(6.0), target_rhat: Some(1.25), max_seconds: Some(8.0) };
        other.lay_over(&mut goal);
        assert_eq!(goal, Goal { target_ess: Some(6.0), target_rhat: Some(1.25), max_seconds: Some(8.0) });
    }
}
