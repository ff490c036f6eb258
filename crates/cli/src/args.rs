//! The command line: one definition drives parsing, help and completions.

use crate::config::StrategyChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use octopus_density::Likelihood;
use octopus_device::DeviceChoice;
use octopus_sampler::{MetricKind, Parameterization, Precision};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StrDeserializer};
use std::path::PathBuf;

/// Bayesian sampling for hierarchical models: NUTS with a low-rank metric and adaptive centering.
///
/// Results go to stdout, progress and warnings to stderr.
///
/// Exit codes: 0 fine; 1 it worked and the answer is bad (a check failed, R-hat too high); 2 usage; 3 the
/// command failed (bad input, full disk); 4 needed hardware absent; 130 interrupted, results kept.
#[derive(Debug, Parser)]
#[command(name = "octopus", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Global {
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress, no notes; warnings and errors stay
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check whether a GPU of this machine is fit for use
    ///
    /// Looks at drivers, libraries and settings, then runs on the device: copies, kernels against the CPU bit for
    /// bit, matrix products, and a tiny sampling run.
    ///
    /// Exit codes: 0 fit, 1 a check failed, 4 no GPU here (fine for the CPU).
    Verify(VerifyArgs),
    /// List, describe and measure the GPUs of this machine
    #[command(subcommand)]
    Device(DeviceCommand),
    /// Sample a model and keep the draws in a run folder
    Sample(Box<SampleArgs>),
    /// Go on with a run that was interrupted or killed, to the same bits as if it had not been
    Resume(ResumeArgs),
    /// Summarise and check draws: R-hat, effective sample sizes, divergences
    ///
    /// Exit codes: 0 the draws can be used, 1 they should not be.
    Diagnose(DiagnoseArgs),
    /// Draw pictures of a run or of a NetCDF file
    Plot(PlotArgs),
    /// Is the sampler right about a model? Simulation-based calibration, or Geweke's test
    ///
    /// Parameters come from the prior, data from the parameters, and draws from the posterior of the data: the ranks of
    /// the true values among the draws must be uniform. With --geweke, data and parameters alternate, the sampler
    /// moving the parameters, and their moments must be those of the prior. Both also do a few transitions and the
    /// learning of warm-up over again by a second implementation.
    ///
    /// Without other options for the sampler: 8 chains of 200 draws after 300 iterations of warm-up at a target of 0.9
    /// for each data set; with --geweke a chain of 50 iterations learns each step's metric and step size, and 5
    /// transitions follow. Run again with the same folder, what was interrupted goes on, and more data sets are added.
    ///
    /// Exit codes: 0 calibrated, 1 not, 130 interrupted, all that was done being kept.
    Calibrate(Box<CalibrateArgs>),
    /// Write a run as NetCDF or Zarr (for ArviZ), or as CSV
    Export(ExportArgs),
    /// Run the whole of phase 0: verify, data, sample, diagnose, compare with the exact posterior, benchmark, report
    ///
    /// Exit codes: 0 no criterion failed, 1 one did, 4 with --require-gpu where there is no GPU.
    Validate(ValidateArgs),
    /// Print a shell's completion script
    Completions(CompletionsArgs),
}

/// `octopus verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Judge only this device (its number in `octopus device list`)
    #[arg(long, value_name = "N")]
    pub(crate) device: Option<u32>,
    /// Only look at the machine; run nothing on the device
    #[arg(long)]
    pub(crate) no_deep: bool,
    /// Small matrices and short copies: the same answers but for the speeds
    #[arg(long, conflicts_with = "no_deep")]
    pub(crate) small: bool,
    /// Print a block to paste into an issue: no names of users, hosts or processes, no UUIDs
    #[arg(long, conflicts_with = "json")]
    pub(crate) report: bool,
}

/// `octopus device`
#[derive(Debug, Subcommand)]
pub(crate) enum DeviceCommand {
    /// One line for each GPU
    ///
    /// Exit codes: 0 there is one, 4 there is none.
    List,
    /// Everything that is known of each GPU, or of one
    ///
    /// Exit codes: 0 there is one, 4 there is none.
    Info(DeviceInfoArgs),
    /// Time operations on the CPU and on the GPU, with and without copies between them
    Benchmark(DeviceBenchmarkArgs),
    /// Measure what work costs on CPU and GPU, for `--device auto`, and keep it in the cache
    Calibrate(DeviceCalibrateArgs),
    /// Run every kernel on fixed inputs and compare its bits with the CPU's, and with recorded ones
    ///
    /// Exit codes: 0 all are equal, 1 some differ, 4 there is no GPU.
    Exact(DeviceExactArgs),
    /// Time the sampler on the GPU and on all cores: latency, launches, start-up, throughput by size and chains
    Sampler(DeviceSamplerArgs),
}

/// `octopus device info`
#[derive(Debug, Args)]
pub(crate) struct DeviceInfoArgs {
    /// Its number in `octopus device list`
    #[arg(value_name = "N")]
    pub(crate) device: Option<u32>,
}

/// `octopus device benchmark`
#[derive(Debug, Args)]
pub(crate) struct DeviceBenchmarkArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// Small arrays only; the software GPU of the tests is never given others
    #[arg(long)]
    pub(crate) small: bool,
}

/// `octopus device calibrate`
#[derive(Debug, Args)]
pub(crate) struct DeviceCalibrateArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// The folder that keeps measurements [default: octopus/calibration in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

/// `octopus device exact`
#[derive(Debug, Args)]
pub(crate) struct DeviceExactArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// Compare whole runs of the sampler, and what draws mean, instead of single kernels: in f64 with the CPU's
    #[arg(long)]
    pub(crate) runs: bool,
    /// Little work, for tools that slow kernels down (compute-sanitizer, ncu)
    #[arg(long)]
    pub(crate) small: bool,
    /// Compare with the results in this file, too
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub(crate) expected: Option<PathBuf>,
    /// Write the results to this file, for --expected
    #[arg(long, value_name = "FILE", conflicts_with = "small")]
    pub(crate) record: Option<PathBuf>,
}

/// `octopus device sampler`
#[derive(Debug, Args)]
pub(crate) struct DeviceSamplerArgs {
    /// The N of cuda:N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: u32,
    /// Few and short runs; the software GPU of the tests is never given others
    #[arg(long)]
    pub(crate) small: bool,
    /// Begin nothing after so many seconds; what was not measured then is said
    #[arg(long, value_name = "S", default_value_t = 150)]
    pub(crate) seconds: u64,
    /// Write what is measured as JSON to this file after each measurement, so that a run that is cut off leaves it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Only start, draw once with so many groups and tell the times: what the command runs to measure a start
    #[arg(long, hide = true, value_name = "GROUPS:PRECISION")]
    pub(crate) first_draw: Option<String>,
}

/// `octopus sample`
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// The model
    #[arg(value_parser = ["hierarchical-normal"])]
    pub(crate) model: String,
    /// The new run folder
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Say how much memory the run would take on CPU and GPU; sample nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Settings as TOML (tables data.file, data.synthetic, prior, sampler; likelihood, device, ...); options
    /// on the command line come first
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Many data sets.
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
    /// Model.
    #[command(flatten)]
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
    /// Keep the draws of warm-up too
    #[arg(long)]
    pub(crate) keep_warmup: bool,
    /// Checkpoint every N iterations [default: about every second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) checkpoint_every: Option<u64>,
}

/// Where observations come from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Data: a file, or made up as NumPy would")]
pub(crate) struct DataArgs {
    /// Observations: CSV with a header line, or Parquet
    #[arg(long, value_name = "FILE", group = "table", requires = "group", requires = "value")]
    pub(crate) data: Option<PathBuf>,
    /// The column of group labels
    #[arg(long, value_name = "COL", requires = "table")]
    pub(crate) group: Option<String>,
    /// The column of values
    #[arg(long, value_name = "COL", requires = "table")]
    pub(crate) value: Option<String>,
    /// Groups of made-up data [default: 100]
    #[arg(long, value_name = "N", conflicts_with = "data")]
    pub(crate) groups: Option<usize>,
    /// Observations in each group of made-up data [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "data")]
    pub(crate) per_group: Option<usize>,
    /// Seed of made-up data [default: 42]
    #[arg(long, value_name = "N", conflicts_with = "data")]
    pub(crate) data_seed: Option<u32>,
}

/// Many data sets of one model.
#[derive(Debug, Default, Args)]
#[command(
    next_help_heading = "Many data sets, each with a run of its own below the folder of --out; exit code 1 where one \
                               failed or should not be used"
)]
pub(crate) struct BatchArgs {
    /// Sample every data set: each file of a folder, or with --batch-by the parts of one file; --group and --value as for
    /// --data. Given again with the same --out, it goes on where it was interrupted
    #[arg(long, value_name = "DIR|FILE", group = "table", requires = "group", requires = "value")]
    #[arg(conflicts_with_all = ["groups", "per_group", "data_seed", "dry_run", "checkpoint_every"])]
    #[arg(conflicts_with_all = ["target_ess", "target_rhat", "max_seconds"])]
    pub(crate) batch: Option<PathBuf>,
    /// The column that tells the data sets of the file apart
    #[arg(long, value_name = "COL", requires = "batch")]
    pub(crate) batch_by: Option<String>,
}

/// Priors and likelihood.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// How the likelihood is evaluated; both give the same value [default: collapsed]
    #[arg(long, value_parser = words::<Likelihood>(&["collapsed", "pointwise"]))]
    pub(crate) likelihood: Option<Likelihood>,
    /// Mean of the normal prior of mu_pop [default: 50]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) mu_mean: Option<f64>,
    /// Standard deviation of the normal prior of mu_pop [default: 20]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) mu_sd: Option<f64>,
    /// Scale of the half-normal prior of sigma_pop [default: 15]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) sigma_pop_scale: Option<f64>,
    /// Scale of the half-normal prior of sigma_obs [default: 5]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) sigma_obs_scale: Option<f64>,
}

/// Settings of NUTS.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Sampler")]
pub(crate) struct SamplerArgs {
    /// Draws of each chain, with a target the most; with many-short 16384 of all chains [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) draws: Option<usize>,
    /// Warm-up iterations of each chain, with many-short the most [default: 1000]
    #[arg(long, value_name = "N")]
    pub(crate) tune: Option<usize>,
    /// four-long: chains that warm up each for itself, for --tune iterations; many-short: a few warm up together, until that
    /// has settled, and each then becomes many; auto: as many draws as --chains x --draws, or as --target-ess needs, by the
    /// strategy, chains and device that are predicted to be done first [default: four-long]
    #[arg(long, value_parser = words::<StrategyChoice>(&["four-long", "many-short", "auto"]))]
    pub(crate) strategy: Option<StrategyChoice>,
    /// Chains; with many-short 1024 [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) chains: Option<usize>,
    /// With many-short: chains that warm up, each then the start of as many [default: at most 64, by --chains]
    #[arg(long, value_name = "N")]
    pub(crate) superchains: Option<usize>,
    /// Target of the acceptance rate [default: 0.95]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) target_accept: Option<f64>,
    /// Seed of all random numbers of the run [default: 42]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Coordinates of the hierarchy; draws are always those of the non-centered model [default: adaptive]
    #[arg(long, value_parser = words::<Parameterization>(&["adaptive", "centered", "non-centered"]))]
    pub(crate) parameterization: Option<Parameterization>,
    /// Metric [default: auto]
    #[arg(long, value_parser = words::<MetricKind>(&["auto", "low-rank", "diag", "diag-draws"]))]
    pub(crate) metric: Option<MetricKind>,
    /// What is computed in: f64 has the same bits on CPU and GPU, f32 and mixed are for GPUs only [default: f64]
    #[arg(long, value_parser = words::<Precision>(&["f64", "f32", "mixed"]))]
    pub(crate) precision: Option<Precision>,
    /// Most doublings of a trajectory [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Half-width of the spread of the starting points [default: 2]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) init_radius: Option<f64>,
}

/// When a run ends before its last draw.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Goal: looked at while sampling; exit code 1 where --draws or --max-seconds comes first")]
pub(crate) struct GoalArgs {
    /// End when bulk- and tail-ESS of every parameter are at least N
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) target_ess: Option<f64>,
    /// End when R-hat (many-short: nested R-hat) of every parameter is below X
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) target_rhat: Option<f64>,
    /// End after so many seconds of warm-up and sampling, with at least one draw
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<f64>,
}

/// Where the work is done.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct MachineArgs {
    /// auto, cpu, cuda, cuda:N, or several GPUs: cuda:0,1 or cuda:all; else OCTOPUS_DEVICE counts [default: auto]
    #[arg(long)]
    pub(crate) device: Option<DeviceChoice>,
    /// Fail where a GPU is there and cannot be used, instead of going on with the CPU
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// CPU threads; the draws do not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

/// `octopus resume`
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Go on elsewhere: auto, cpu, cuda, cuda:N, cuda:0,1 or cuda:all; in f64 the draws stay the same [default: where it was]
    #[arg(long)]
    pub(crate) device: Option<DeviceChoice>,
    /// CPU threads; the draws do not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
    /// Checkpoint every N iterations [default: about every second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) checkpoint_every: Option<u64>,
}

/// `octopus diagnose`
#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// A run folder, or a NetCDF file of ArviZ's
    #[arg(value_name = "RUN|FILE.nc")]
    pub(crate) trace: PathBuf,
    /// Show every parameter
    #[arg(long)]
    pub(crate) all: bool,
    /// The share of the draws inside intervals
    #[arg(long, value_name = "P", default_value_t = octopus_diag::DEFAULT_PROB, allow_negative_numbers = true)]
    pub(crate) prob: f64,
}

/// `octopus plot`
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// A run folder, or a NetCDF file of ArviZ's
    #[arg(value_name = "RUN|FILE.nc")]
    pub(crate) trace: PathBuf,
    /// The folder for the pictures; those in it are replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// File formats
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PictureFormat::Png])]
    pub(crate) format: Vec<PictureFormat>,
}

/// A file format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureFormat {
    /// Pixels, 150 dots an inch
    Png,
    /// Vectors
    Svg,
}

/// `octopus calibrate`
#[derive(Debug, Args)]
#[command(mut_args(|arg| calibration_default(arg)))]
pub(crate) struct CalibrateArgs {
    /// The model
    #[arg(value_parser = ["hierarchical-normal", "eight-schools"])]
    pub(crate) model: String,
    /// The folder for ranks, pictures and calibration.json; what is in it goes on
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Begin anew in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Data sets
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..1 << 30))]
    pub(crate) datasets: u32,
    /// Draws kept of each data set: ranks go from 0 to N [default: 99, or what fewer draws allow, with many-short one of
    /// each chain]
    #[arg(long, value_name = "N")]
    pub(crate) kept: Option<usize>,
    /// Geweke's test instead of ranks
    #[arg(long, conflicts_with_all = ["datasets", "kept"])]
    pub(crate) geweke: bool,
    /// Sequences of Geweke's test, each from a draw of its own
    #[arg(long, value_name = "N", default_value_t = 64, requires = "geweke")]
    pub(crate) sequences: usize,
    /// Steps of each sequence: new data, and transitions given them [default: 500, of eight-schools 1000]
    #[arg(long, value_name = "N", requires = "geweke")]
    pub(crate) steps: Option<usize>,
    /// The probability that a sampler without fault is called miscalibrated, over all tests together
    #[arg(long, value_name = "P", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub(crate) false_alarm: f64,
    /// Groups of each data set [default: 100, with --geweke 4]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub(crate) groups: Option<usize>,
    /// Observations in each group [default: 10, with --geweke 1]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub(crate) per_group: Option<usize>,
    /// Observations in each group, one number for each
    #[arg(
        long,
        value_name = "N,N,...",
        value_delimiter = ',',
        conflicts_with_all = ["groups", "per_group"],
        help_heading = "Data"
    )]
    pub(crate) group_sizes: Option<Vec<usize>>,
    /// Model.
    #[command(flatten)]
    pub(crate) model_settings: ModelArgs,
    /// Sampler.
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Machine.
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// File formats of the pictures
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PictureFormat::Png])]
    pub(crate) format: Vec<PictureFormat>,
}

/// The defaults of a calibration in place of a run's.
fn calibration_default(arg: Arg) -> Arg {
    let (said, default) = match arg.get_id().as_str() {
        "draws" => ("Draws of each chain", "200, with --geweke 5, with many-short 8"),
        "tune" => ("Warm-up iterations of each chain, with many-short the most", "300, with --geweke 50"),
        "chains" => ("Chains", "8, with --geweke 1, with many-short 64"),
        "target_accept" => ("Target of the acceptance rate", "0.9"),
        _ => return arg,
    };
    arg.help(format!("{said} [default: {default}]"))
}

/// `octopus export`
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    pub(crate) to: ExportFormat,
    /// The new file (Zarr: folder)
    #[arg(long, value_name = "PATH")]
    pub(crate) out: PathBuf,
    /// Replace the file
    #[arg(long)]
    pub(crate) force: bool,
    /// Also write posterior predictive draws and log likelihoods, N of each chain (NetCDF and Zarr)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) predictive: usize,
}

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// NetCDF-4, `arviz.from_netcdf`
    Netcdf,
    /// Zarr, `arviz.from_zarr`
    Zarr,
    /// One line for each draw
    Csv,
}

/// `octopus validate`
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The folder for reports, pictures and the run
    #[arg(long, value_name = "DIR", default_value = "reports/phase0")]
    pub(crate) out: PathBuf,
    /// Fail with exit code 4 where there is no GPU
    #[arg(long)]
    pub(crate) require_gpu: bool,
    /// 1000 draws, 500 warm-up iterations, small benchmarks
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of all random numbers of the run; the data are always the PRD's
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Coordinates of the hierarchy [default: adaptive]
    #[arg(long, value_parser = words::<Parameterization>(&["adaptive", "centered", "non-centered"]))]
    pub(crate) parameterization: Option<Parameterization>,
    /// Metric [default: auto]
    #[arg(long, value_parser = words::<MetricKind>(&["auto", "low-rank", "diag", "diag-draws"]))]
    pub(crate) metric: Option<MetricKind>,
    /// Groups of 10 observations; the PRD's table has 100, 500 and 1000
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) groups: usize,
    /// Machine.
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `octopus completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// A parser of the words that serde knows for `T`, so that command line and files share them.
fn words<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names)
        .try_map(|word| T::deserialize(StrDeserializer::<ValueError>::new(&word)).map_err(|error| error.to_string()))
}

fn thread_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=4096) => Ok(count),
        _ => Err("a number of threads from 1 to 4096 is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RunConfig;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn words_are_those_of_the_settings() {
        for word in ["adaptive", "centered", "non-centered"] {
            let cli = Cli::parse_from(["octopus", "validate", "--parameterization", word]);
            let Command::Validate(args) = cli.command else { panic!("another command") };
            let text = serde_json::to_string(&args.parameterization).unwrap();
            assert_eq!(text, format!("\"{word}\""));
        }
        for word in ["auto", "low-rank", "diag", "diag-draws"] {
            assert!(Cli::try_parse_from(["octopus", "validate", "--metric", word]).is_ok(), "{word}");
        }
        assert!(Cli::try_parse_from(["octopus", "validate", "--metric", "dense"]).is_err());
    }

    #[test]
    fn help_states_the_true_defaults() {
        let mut command = Cli::command();
        let sample = command.find_subcommand_mut("sample").unwrap();
        let help = sample.render_long_help().to_string();
        let help: Vec<&str> = help.split("\n\n").collect();
        let defaults = serde_json::to_value(RunConfig::default()).unwrap();
        for (option, pointer) in [
            ("--draws", "/sampler/draws"),
            ("--tune", "/sampler/tune"),
            ("--chains", "/sampler/chains"),
            ("--target-accept", "/sampler/target_accept"),
            ("--seed", "/sampler/seed"),
            ("--parameterization", "/sampler/parameterization"),
            ("--metric", "/sampler/metric"),
            ("--precision", "/sampler/precision"),
            ("--max-depth", "/sampler/max_depth"),
            ("--init-radius", "/sampler/init_radius"),
            ("--likelihood", "/likelihood"),
            ("--mu-mean", "/prior/mu_mean"),
            ("--mu-sd", "/prior/mu_sd"),
            ("--sigma-pop-scale", "/prior/sigma_pop_scale"),
            ("--sigma-obs-scale", "/prior/sigma_obs_scale"),
            ("--groups", "/data/synthetic/groups"),
            ("--per-group", "/data/synthetic/per_group"),
            ("--data-seed", "/data/synthetic/seed"),
            ("--device", "/device"),
        ] {
            let value = defaults.pointer(pointer).unwrap_or_else(|| panic!("{pointer} in {defaults}"));
            let value =
                value.as_str().map_or_else(|| value.to_string().trim_end_matches(".0").to_owned(), str::to_owned);
            let own = |line: &str| line.trim_start().starts_with(&format!("{option} "));
            let text = help.iter().find(|text| text.lines().any(own)).unwrap();
            assert!(text.contains(&format!("[default: {value}]")), "{option} is {value} in truth: {text}");
        }
    }

    #[test]
    fn help_of_calibrate_states_its_own_defaults() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("calibrate").unwrap().render_long_help().to_string();
        let help: Vec<&str> = help.split("\n\n").collect();
        let said = |option: &str| {
            let own = |line: &str| line.trim_start().starts_with(&format!("{option} "));
            *help.iter().find(|text| text.lines().any(own)).unwrap()
        };
        for (geweke, with) in [(false, "[default: "), (true, "with --geweke ")] {
            let sampler = crate::calibration::default_sampler(geweke);
            for (option, value) in [("--draws", sampler.draws), ("--tune", sampler.tune), ("--chains", sampler.chains)]
            {
                assert!(said(option).contains(&format!("{with}{value}")), "{}", said(option));
            }
            assert!(said("--target-accept").contains(&format!("[default: {}]", sampler.target_accept)));
        }
        let (chains, draws) = crate::calibration::MANY_SHORT;
        assert!(said("--chains").contains(&format!("with many-short {chains}]")), "{}", said("--chains"));
        assert!(said("--draws").contains(&format!("with many-short {draws}]")), "{}", said("--draws"));
    }
}
