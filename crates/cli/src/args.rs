//! The command line: one definition drives parsing, help and completions.
//!
//! Here are the list of commands, the help with the exit codes, and options of every command. So are the arguments of
//! `verify`, `resume`, `diagnose`, `compare`, `loo`, `evidence`, `plot`, `export`, `man` and `completions`. What clap says
//! of a mistyped command or option (usage, did you mean) comes from the definition here.

mod bench;
mod calibrate;
mod check;
mod data;
mod device;
mod model;
mod needs;
mod predict;
mod program;
mod random;
mod sample;
mod share;
mod submit;
mod sweep;
mod validate;

pub(crate) use bench::{
    BenchCommand, BenchCompareArgs, BenchExportArgs, BenchPlaceArgs, BenchPlotArgs, BenchRunArgs, BenchSetupArgs,
    BenchTestArgs,
};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use check::CheckArgs;
pub(crate) use data::{DataCommand, DataPolynomialArgs};
pub(crate) use device::{
    DeviceAcceptArgs, DeviceCommand, DeviceExactArgs, DeviceInfoArgs, DeviceMeasureArgs, DeviceSamplerArgs,
    DeviceWarmArgs, DeviceWatchArgs,
};
pub(crate) use model::{GivenOption, ModelArgs, OF_A_POSTERIOR, OF_A_SIMULATOR};
pub(crate) use predict::PredictArgs;
pub(crate) use program::{CopyArgs, ProgramArgs, ProgramCommand};
pub(crate) use random::{DistributionName, ParameterArgs, RandomArgs};
pub(crate) use sample::{DataArgs, MachineArgs, SampleArgs, SamplerArgs};
pub(crate) use share::ShareArgs;
pub(crate) use submit::SubmitArgs;
pub(crate) use sweep::SweepArgs;
pub(crate) use validate::ValidateArgs;

use sample::thread_count;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use octopus::Picture;
use octopus_device::DeviceChoice;
use octopus_formats::{FOLDERS_IN_SHORT, FORMATS, READ_IN_SHORT, TraceFormat, WRITTEN_IN_SHORT, WriteTrace};
use octopus_models::Registry;
use octopus_report::Format;
use std::path::PathBuf;

/// Bayesian sampling for hierarchical models: NUTS with a low-rank metric and standardised effects.
///
/// Results go to stdout, progress and warnings to stderr.
///
/// Exit codes: 0 success. 1 success with a bad answer (a check failed, R-hat too high). 2 usage error. 3 failure (bad
/// input, full disk; --dry-run: too little memory or disk). 4 needed hardware absent. 130 interrupted, results kept.
#[derive(Debug, Parser)]
#[command(name = "octopus", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub(crate) global: Global,
    /// Logs.
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Logs of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct LogArgs {
    /// Log decisions and stages to stderr; -vv adds files and launches; RUST_LOG selects crates
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Also write all log events to FILE as JSON lines; only an earlier log is replaced
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// Write a timeline of the program and its GPUs to FILE, for Perfetto, chrome://tracing or
    /// `octopus plot`; only an earlier profile is replaced
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
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
    /// The models that the program knows.
    #[arg(skip)]
    pub(crate) models: Registry,
}

impl Cli {
    /// The definition with the names and the options of these models.
    pub(crate) fn definition(models: Registry) -> clap::Command {
        let add = |command: clap::Command, name: &'static str| {
            command.mut_subcommand(name, |command| model::add(command, models, options_of(name)))
        };
        let definition = WITH_A_MODEL.into_iter().fold(Self::command(), add);
        let definition = definition.mut_subcommand("validate", |command| model::default_to_first(command, models));
        numbers_may_be_negative(definition)
    }

    /// Returns whether some command has the option of this name, other than options of models.
    pub(crate) fn has_option(name: &str) -> bool {
        fn has(command: &clap::Command, name: &str) -> bool {
            command.get_arguments().any(|arg| arg.get_long() == Some(name))
                || command.get_subcommands().any(|command| has(command, name))
        }
        has(&Self::command(), name)
    }

    /// Reads the command line.
    ///
    /// # Errors
    /// When it cannot be understood, and for `--help` and `--version`: clap says the rest.
    pub(crate) fn read(
        models: Registry,
        words: impl IntoIterator<Item = impl Into<std::ffi::OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let mut definition = Self::definition(models);
        let matches = definition.try_get_matches_from_mut(words)?;
        needs::check(&mut definition, &matches)?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.global.models = models;
        let Some((name, own)) = matches.subcommand() else { return Ok(cli) };
        let (word, settings) = match &mut cli.command {
            Command::Sample(args) => (&mut args.model, &mut args.model_settings),
            Command::Sweep(args) => (&mut args.model, &mut args.model_settings),
            Command::Calibrate(args) => (&mut args.model, &mut args.model_settings),
            Command::Check(args) => (&mut args.model, &mut args.model_settings),
            Command::Validate(args) => (&mut args.model, &mut args.model_settings),
            _ => return Ok(cli),
        };
        *settings = model::read(own, models, options_of(name));
        settings
            .take_file(word, models)
            .map_err(|why| definition.error(clap::error::ErrorKind::ArgumentConflict, why))?;
        Ok(cli)
    }
}

/// Lets every option that takes a number have one that begins with `-`. A number out of range is then refused by its
/// option's name.
fn numbers_may_be_negative(command: clap::Command) -> clap::Command {
    let takes_number = |arg: &clap::Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        arg.get_long().is_some() && names.iter().any(|name| NUMBERS.contains(&name.as_str()))
    };
    command
        .mut_args(move |arg| if takes_number(&arg) { arg.allow_hyphen_values(true) } else { arg })
        .mut_subcommands(numbers_may_be_negative)
}

/// What help calls values that are numbers.
const NUMBERS: [&str; 7] = ["N", "P", "X", "S", "SHARE", "N,N,...", "X,X,..."];

/// The commands that take a model and its settings.
const WITH_A_MODEL: [&str; 5] = ["check", "sample", "sweep", "calibrate", "validate"];

/// The settings of a model that a command takes.
fn options_of(command: &str) -> model::OptionsOf {
    if command == "calibrate" { OF_A_SIMULATOR } else { OF_A_POSTERIOR }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check whether a GPU of this machine is fit for use
    ///
    /// Looks at drivers, libraries and settings. Then it runs copies, kernels, matrix products and a tiny sampling run
    /// on the device. Kernels must give the CPU's bits.
    ///
    /// Exit codes: 0 fit, 1 a check failed, 4 no GPU here (fine for the CPU).
    Verify(VerifyArgs),
    /// List, describe and measure the GPUs of this machine
    #[command(subcommand)]
    Device(DeviceCommand),
    /// Sample a model and keep the draws in a run folder
    ///
    /// Exit codes: 0 the draws can be used, 1 they should not be, or the goal was not reached. A batch ends with 1 when a
    /// data set failed or its draws should not be used.
    Sample(Box<SampleArgs>),
    /// Continue a run that was interrupted or killed, to the same bits as without the interruption
    Resume(ResumeArgs),
    /// Summarise and check draws of any program: R-hat, effective sample sizes, divergences
    ///
    /// Exit codes: 0 the draws can be used, 1 they should not be.
    Diagnose(DiagnoseArgs),
    /// Draw pictures of a trace of any program
    Plot(PlotArgs),
    /// Compare two traces: posteriors, speed, settings
    ///
    /// The posteriors are the same when means agree within 5 % and standard deviations within 10 %. Besides, no mean,
    /// standard deviation or quantile may differ by more than chance allows. Differences of means are relative to the
    /// larger of the first's |mean| and its standard deviation.
    ///
    /// Exit codes: 0 the same as far as the draws can tell, 1 they differ.
    Compare(CompareArgs),
    /// Leave-one-out cross-validation of models by their traces, and their ranking
    ///
    /// Expected log predictive densities by Pareto smoothed importance sampling, as `az.loo` and `az.compare`. A trace needs a
    /// group `log_likelihood`; a run folder's is made again from its model.
    ///
    /// Exit codes: 0 fine, 1 an estimate is not reliable (Pareto k too large).
    Loo(LooArgs),
    /// How probable the data are by a model: evidence, and Bayes factors of several models
    ///
    /// The integral of prior times likelihood, with all constants, by a bridge from normal distributions that are fitted to
    /// the draws (Meng and Wong 1996). Its standard error is its relative error. Models of the same data are compared by
    /// the ratios of their evidences, the Bayes factors; probabilities are of models that were equally probable before the
    /// data. All of them depend on priors much more than posteriors do.
    ///
    /// Exit codes: 0 fine, 1 an estimate is doubtful.
    Evidence(EvidenceArgs),
    /// Is the sampler right about a model? Simulation-based calibration, or Geweke's test
    ///
    /// Parameters come from the prior, data from the parameters, and draws from the data's posterior. The ranks of
    /// the true values among the draws must be uniform. With --geweke the sampler moves the parameters, then new data are
    /// drawn, and so on; the parameters' moments must match the prior. Both tests also repeat a few transitions and
    /// warm-up's learning with a second implementation.
    ///
    /// By default each data set has 8 chains of 200 draws after 300 iterations of warm-up, at a target acceptance of
    /// 0.9. With --geweke a chain of 50 iterations learns each step's metric and step size, and 5 transitions follow.
    /// The same command on the same folder continues an interrupted calibration, or adds data sets.
    ///
    /// Exit codes: 0 calibrated, 1 not calibrated, 130 interrupted, with all finished work kept.
    Calibrate(Box<CalibrateArgs>),
    /// Is a model sound? Checks of gradient, values, layout and hierarchies, at draws from its prior
    ///
    /// Prints a line for each check, with what was observed and what was expected. It samples nothing; `octopus calibrate`
    /// finds what points cannot show, such as a log-Jacobian that value and gradient both lack.
    ///
    /// Exit codes: 0 no check failed, 1 one did.
    Check(Box<CheckArgs>),
    /// Which models are there, and what is a Stan program? Its data, parameters and functions, and its costs
    #[command(subcommand)]
    Model(ProgramCommand),
    /// Does every run converge? One data set, sampled under many seeds
    ///
    /// Takes the options of `octopus sample`. Counts the runs with a large R-hat and names runs that have lost a chain.
    /// Each run has a thread of its own: a thousand runs of phase 0 take about a minute.
    ///
    /// Exit codes: 0 no run has an R-hat above 1.05, 1 one has, 130 interrupted; a folder (--keep) keeps the runs.
    Sweep(Box<SweepArgs>),
    /// How far are the processes that share a folder by --part or --claim?
    ///
    /// Tells of each whether it is at work, stale (no sign of life for some seconds), interrupted, failed or complete, and
    /// the time that is left.
    ///
    /// Exit codes: 0 all is done or everyone at work, 1 somebody should look.
    Status(StatusArgs),
    /// Make an array job of a command: a script for Slurm or PBS, or a manifest for Kubernetes
    ///
    /// Each part is the command with `--part auto`; a job after them is the command itself, which finds the result of all.
    /// Options of submit stand before COMMAND. Memory and time are foretold, by a short measurement of this machine.
    Submit(SubmitArgs),
    /// Write a trace in another format.
    #[command(about = format!("Write a trace in another format: {WRITTEN_IN_SHORT}"))]
    Export(ExportArgs),
    /// Predict new rows and new groups by a run of a Stan program
    ///
    /// For each posterior draw the new data are drawn once: what was sampled is as drawn, what is new, such as the effect of
    /// a new group, comes from its distribution. Prints mean, standard deviation and quantiles of each number.
    Predict(PredictArgs),
    /// Does a model work on this machine? Verify, sample, diagnose, compare, benchmark, report
    ///
    /// Without a model and settings, this is the whole of phase 0 (docs/requirements.md): the PRD's model,
    /// data and criteria, with 100, 500 or 1000 --groups. For other models or data, only the general rows are
    /// judged. A row that the model cannot answer is SKIPPED with the reason.
    ///
    /// Exit codes: 0 no criterion failed, 1 one did, 4 with --require-gpu where there is no GPU.
    Validate(Box<ValidateArgs>),
    /// Draw random numbers of a distribution, the same on every machine: von Mises and others
    ///
    /// Draws go into a NumPy or Parquet file in batches, so they may exceed memory. Draw i depends on the seed, the
    /// distribution and i alone, not on the device, threads or memory.
    ///
    /// Exit codes: 0 success, 130 interrupted; `--resume` continues then, and after a kill or a full disk.
    Random(RandomArgs),
    /// Make data of which the truth is known, for programs that ship: points about a polynomial
    #[command(subcommand)]
    Data(DataCommand),
    /// Benchmark suites: Octopus beside other frameworks, each time with its posterior; draws of random numbers
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Print a shell's completion script
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command, for `man`
    Man(ManArgs),
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
    /// Small matrices and short copies: the same checks with other speeds
    #[arg(long, conflicts_with = "no_deep")]
    pub(crate) small: bool,
    /// Print a block to paste into an issue: no names of users, hosts or processes, no UUIDs
    #[arg(long, conflicts_with = "json")]
    pub(crate) report: bool,
}

/// `octopus status`
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The folder: --out of a batch or a calibration, --keep of a sweep
    pub(crate) folder: PathBuf,
    /// Wait until all is done
    #[arg(long)]
    pub(crate) wait: bool,
}

/// `octopus resume`
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// auto, cpu, cuda, cuda:N, cuda:0,1 or cuda:all; f64 draws stay the same [default: the run's]
    #[arg(long)]
    pub(crate) device: Option<DeviceChoice>,
    /// Fail instead of continuing on the CPU when a GPU is unusable or fails
    ///
    /// On a machine without a GPU only --device cuda fails.
    #[arg(long)]
    pub(crate) no_fallback: bool,
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
    /// The trace.
    #[arg(help = format!("A run folder; {READ_IN_SHORT}"), value_name = "TRACE", required = true, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,
    /// Show every parameter
    #[arg(long)]
    pub(crate) all: bool,
    /// The share of the draws inside intervals
    #[arg(long, value_name = "P", default_value_t = octopus_diag::DEFAULT_PROB)]
    pub(crate) prob: f64,
}

/// `octopus compare`
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A run folder, a trace of another program, or a report.json: the reference
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// The second run folder, trace or report.json
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Also write comparison.json into this folder, and a picture if both are traces
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Show every parameter
    #[arg(long)]
    pub(crate) all: bool,
    /// Largest relative difference of a mean, and of all means together (RMSE)
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) max_mean: f64,
    /// Largest relative difference of a standard deviation
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub(crate) max_sd: f64,
    /// False-alarm probability of the comparison of two traces [default: 0.001]
    #[arg(long, value_name = "P")]
    pub(crate) alpha: Option<f64>,
}

/// `octopus loo`
#[derive(Debug, Args)]
pub(crate) struct LooArgs {
    /// Traces of models of the same observations; for CmdStan a folder of CSV files for each
    #[arg(value_name = "TRACE", required = true, num_args = 1..)]
    pub(crate) models: Vec<PathBuf>,
    /// The widely applicable information criterion instead
    #[arg(long)]
    pub(crate) waic: bool,
    /// The variables of `log_likelihood` [default: its only one]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) var: Vec<String>,
    /// How the weights of several models are found
    #[arg(long, value_enum, default_value_t = ModelWeights::Stacking)]
    pub(crate) weights: ModelWeights,
    /// Draws per chain of a run folder to compute log likelihoods of
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) draws: usize,
}

/// `octopus evidence`
#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// Run folders of models of the same data
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Draws per chain that are used, evenly spread; each costs two to four log densities
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) draws: usize,
    /// Seed of the draws at the other end of the bridge
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// How models are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelWeights {
    /// The mixture that predicts best
    Stacking,
    /// By elpd, averaged over bootstraps of the observations
    BbPseudoBma,
    /// By elpd
    PseudoBma,
}

/// `octopus plot`
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// The trace, or a profile.
    #[arg(help = format!("A run folder; {READ_IN_SHORT}; the file of --profile"), value_name = "TRACE", required = true,
          num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,
    /// The folder for the pictures; earlier pictures in it are replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Which pictures [default: every picture that the trace has data for]
    #[arg(long, value_parser = pictures(), value_delimiter = ',')]
    pub(crate) kind: Vec<PlotKind>,
    /// Only these variables or elements; `*` stands for anything [default: all]
    ///
    /// The name of an observed variable chooses the data in pictures of predictions.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) var: Vec<String>,
    /// File formats
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PictureFormat::Png])]
    pub(crate) format: Vec<PictureFormat>,
}

/// What `octopus plot` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotKind {
    /// A picture of a trace.
    OfTrace(Picture),
    /// The picture of a profile.
    Profile,
}

/// The name of [`PlotKind::Profile`].
const PROFILE: &str = "profile";

/// A parser of pictures by their names.
fn pictures() -> impl TypedValueParser<Value = PlotKind> {
    let names = Picture::all().map(|picture| PossibleValue::new(picture.name()).help(picture.about()));
    let profile = PossibleValue::new(PROFILE).help("What a command did when, from the file of --profile");
    PossibleValuesParser::new(names.chain([profile]).collect::<Vec<_>>()).try_map(|name| {
        if name == PROFILE {
            return Ok(PlotKind::Profile);
        }
        Picture::named(&name).map(PlotKind::OfTrace).ok_or_else(|| format!("no picture is called {name}"))
    })
}

/// A file format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureFormat {
    /// Pixels, 150 dots an inch
    Png,
    /// Vectors, for pages
    Svg,
    /// Vectors, for papers
    Pdf,
}

impl PictureFormat {
    /// Returns the formats that were asked for, each once.
    pub(crate) fn all(asked: &[Self]) -> Vec<Format> {
        let mut formats = Vec::new();
        for format in asked {
            let format = match format {
                Self::Png => Format::Png,
                Self::Svg => Format::Svg,
                Self::Pdf => Format::Pdf,
            };
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        formats
    }
}

/// `octopus export`
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The trace.
    #[arg(help = format!("A run folder; {READ_IN_SHORT}"), value_name = "TRACE", required = true, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,
    /// The format
    #[arg(long, value_parser = ExportFormat::parser())]
    pub(crate) to: ExportFormat,
    /// The new file.
    #[arg(long, value_name = "PATH", help = format!("The new file ({FOLDERS_IN_SHORT}: folder)"))]
    pub(crate) out: PathBuf,
    /// Replace the file
    #[arg(long)]
    pub(crate) force: bool,
    /// Also write N predictive draws and log likelihoods per chain (NetCDF, Zarr and Parquet)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = draws_of_export())]
    pub(crate) predictive: usize,
    /// Also write N draws of the prior, and observations made from them (NetCDF, Zarr and Parquet)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = draws_of_export())]
    pub(crate) prior: usize,
}

/// As many draws as a chain can have.
fn draws_of_export() -> impl TypedValueParser<Value = usize> {
    RangedU64ValueParser::<usize>::new().range(0..1 << 31)
}

/// A format that traces can be written in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExportFormat {
    pub(crate) format: &'static dyn TraceFormat,
    pub(crate) write: WriteTrace,
}

impl ExportFormat {
    fn all() -> impl Iterator<Item = Self> {
        FORMATS.into_iter().filter_map(|format| Some(Self { format, write: format.writer()? }))
    }

    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        let values = Self::all().map(|to| PossibleValue::new(to.format.name()).help(to.format.about()));
        PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(|name| {
            Self::all().find(|to| to.format.name() == name).ok_or_else(|| format!("no format is called {name}"))
        })
    }
}

/// `octopus man`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder for the pages
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// `octopus completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RunConfig;
    use octopus_sampler::{MetricKind, Parameterization};

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        Cli::read(Registry::shipped(), words)
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::definition(Registry::shipped()).debug_assert();
    }

    #[test]
    fn words_are_those_of_the_settings() {
        for word in ["adaptive", "as-written", "centered", "non-centered"] {
            let cli = parse(&["octopus", "validate", "--parameterization", word]).unwrap();
            let Command::Validate(args) = cli.command else { panic!("another command") };
            let text = serde_json::to_string(&args.parameterization).unwrap();
            assert_eq!(text, format!("\"{word}\""));
        }
        for word in ["auto", "low-rank", "diag", "diag-draws", "identity"] {
            assert!(parse(&["octopus", "validate", "--metric", word]).is_ok(), "{word}");
        }
        assert!(parse(&["octopus", "validate", "--metric", "dense"]).is_err());
    }

    /// A command line, as words between spaces.
    fn command(words: &str) -> Command {
        parse(&words.split_whitespace().collect::<Vec<_>>()).unwrap().command
    }

    /// The settings that options of the model have given.
    fn given(settings: &ModelArgs, name: &str) -> Vec<&'static str> {
        let models = Registry::shipped();
        let model = models.find("hierarchical-normal").unwrap();
        let given = settings.given_for(model, models, options_of(name)).unwrap();
        given.iter().map(|given| given.option.setting).collect()
    }

    #[test]
    fn a_sweep_is_of_runs_on_the_cpu() {
        let words = "octopus sweep hierarchical-normal --config c.toml --data d.csv --group g --value y --mu-sd 2 \
                     --draws 7 --threads 3 --seeds 5 --out o.json";
        let Command::Sweep(args) = command(words) else { panic!("another command") };
        let run = args.into_sample();
        assert_eq!((run.model.as_str(), run.config), ("hierarchical-normal", Some("c.toml".into())));
        assert_eq!(
            (run.data.data, run.data.group, run.data.value),
            (Some("d.csv".into()), Some("g".into()), Some("y".into()))
        );
        assert_eq!((given(&run.model_settings, "sweep"), run.sampler.draws), (vec!["prior.mu_sd"], Some(7)));
        assert_eq!((run.machine.device, run.machine.threads), (Some(DeviceChoice::Cpu), Some(3)));
        // The file that the result is written to is no run folder.
        assert_eq!(run.out, None);
        assert!(!run.machine.no_fallback && run.machine.gpu_memory.is_none(), "{:?}", run.machine);
    }

    #[test]
    fn a_check_is_of_a_model_on_the_cpu() {
        let words = "octopus check hierarchical-normal --config c.toml --data d.csv --group g --value y --mu-sd 2";
        let Command::Check(args) = command(words) else { panic!("another command") };
        let run = args.into_sample();
        assert_eq!((run.model.as_str(), run.config), ("hierarchical-normal", Some("c.toml".into())));
        assert_eq!(
            (run.data.data, run.data.group, run.data.value),
            (Some("d.csv".into()), Some("g".into()), Some("y".into()))
        );
        assert_eq!(given(&run.model_settings, "check"), ["prior.mu_sd"]);
        assert_eq!((run.machine.device, run.machine.threads), (Some(DeviceChoice::Cpu), None));
        assert!(!run.machine.no_fallback && run.machine.gpu_memory.is_none(), "{:?}", run.machine);
    }

    /// What is inside is taken from the command line, whatever the model says of it then.
    #[test]
    fn whole_numbers_are_taken_up_to_their_limits_and_no_further() {
        let takes = |words: &str, number: &str| {
            let words = format!("octopus {words} {number}");
            parse(&words.split_whitespace().collect::<Vec<_>>()).is_ok()
        };
        for (words, inside, outside) in [
            ("export run --to netcdf --out o --predictive", ["0", "2147483647"], ["-1", "2147483648"]),
            ("export run --to netcdf --out o --prior", ["0", "2147483647"], ["-1", "2147483648"]),
            ("random normal --n", ["1", "9007199254740992"], ["0", "9007199254740993"]),
            ("calibrate eight-schools --out o --datasets", ["2", "1073741823"], ["1", "1073741824"]),
            ("calibrate eight-schools --out o --geweke --sequences", ["8", "1073741823"], ["7", "1073741824"]),
            ("calibrate eight-schools --out o --geweke --steps", ["4", "1073741823"], ["3", "1073741824"]),
            ("calibrate hierarchical-normal --out o --group-sizes", ["0", "3,0"], ["-1", "3,-1"]),
            (
                "sample hierarchical-normal --out o --groups",
                ["0", "9223372036854775807"],
                ["-1", "9223372036854775808"],
            ),
            ("sweep eight-schools --seeds", ["1", "18446744073709551615"], ["0", "18446744073709551616"]),
        ] {
            assert_eq!(inside.map(|number| takes(words, number)), [true; 2], "{words}");
            assert_eq!(outside.map(|number| takes(words, number)), [false; 2], "{words}");
        }
    }

    #[test]
    fn a_validation_is_of_a_run() {
        let words = "octopus validate hierarchical-normal --quick --out o --config c.toml --data d.csv --group g \
                     --value y --mu-sd 2 --seed 5 --parameterization centered --metric diag --device cpu --threads 3";
        let Command::Validate(args) = command(words) else { panic!("another command") };
        let run = args.into_sample();
        let folder = ("hierarchical-normal", Some("o".into()), Some("c.toml".into()));
        assert_eq!((run.model.as_str(), run.out, run.config), folder);
        assert_eq!(
            (run.data.data, run.data.group, run.data.value),
            (Some("d.csv".into()), Some("g".into()), Some("y".into()))
        );
        assert_eq!((given(&run.model_settings, "validate"), run.sampler.seed), (vec!["prior.mu_sd"], Some(5)));
        assert_eq!((run.sampler.draws, run.sampler.tune), (Some(1000), Some(500)), "so many as help says of --quick");
        let (coordinates, metric) = (run.sampler.parameterization, run.sampler.metric);
        assert_eq!((coordinates, metric), (Some(Parameterization::Centered), Some(MetricKind::Diag)));
        assert_eq!((run.machine.device, run.machine.threads), (Some(DeviceChoice::Cpu), Some(3)));
        let Command::Validate(args) = command("octopus validate") else { panic!("another command") };
        let run = args.into_sample();
        assert_eq!((run.model.as_str(), run.sampler.draws, run.sampler.tune), ("hierarchical-normal", None, None));
    }

    #[test]
    fn models_have_settings_for_runs_and_others_for_calibrations() {
        let Command::Sample(args) = command("octopus sample hierarchical-normal --out o --mu-sd 2") else {
            panic!("another command")
        };
        assert_eq!(given(&args.model_settings, "sample"), ["prior.mu_sd"]);
        let models = Registry::shipped();
        let other = models.find("eight-schools").unwrap();
        let error = args.model_settings.given_for(other, models, OF_A_POSTERIOR).unwrap_err().to_string();
        assert_eq!(error, "--mu-sd: eight-schools has no such setting; it is one of hierarchical-normal");
        let Command::Calibrate(args) = command("octopus calibrate hierarchical-normal --out o --group-sizes 3,4")
        else {
            panic!("another command")
        };
        assert_eq!(given(&args.model_settings, "calibrate").len(), 1);
        assert!(parse(&["octopus", "sample", "hierarchical-normal", "--out", "o", "--group-sizes", "3,4"]).is_err());
    }

    #[test]
    fn numbers_may_be_negative_and_other_values_may_not_be_options() {
        let sample = ["octopus", "sample", "eight-schools", "--out"];
        assert!(parse(&[&sample[..], &["o", "--target-accept", "-1"]].concat()).is_ok());
        assert!(parse(&[&sample[..], &["--force"]].concat()).is_err(), "--force is no folder");
    }

    #[test]
    fn every_format_that_can_be_written_is_exported_by_its_name() {
        let written: Vec<&str> =
            FORMATS.into_iter().filter(|format| format.writer().is_some()).map(|format| format.name()).collect();
        assert!(written.len() > 1, "{written:?}");
        for name in written {
            let Command::Export(args) = command(&format!("octopus export run --out o --to {name}")) else {
                panic!("another command")
            };
            assert_eq!(args.to.format.name(), name);
        }
    }

    #[test]
    fn threads_are_a_number_within_limits() {
        assert_eq!(["1", "4096"].map(|text| thread_count(text).unwrap()), [1, 4096]);
        assert!(["0", "4097", "-1", "x"].into_iter().all(|text| thread_count(text).is_err()));
    }

    /// Help without the breaks of its lines.
    fn in_one_line(help: &str) -> String {
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn help_is_wrapped() {
        let mut command = Cli::definition(Registry::shipped());
        let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for name in names {
            let help = command.find_subcommand_mut(&name).unwrap().render_long_help().to_string();
            // Headings are not wrapped.
            let indented = help.lines().filter(|line| line.starts_with(' '));
            indented.for_each(|line| assert!(line.chars().count() <= 100, "{name}: {line}"));
        }
    }

    #[test]
    fn help_states_the_true_defaults() {
        let mut command = Cli::definition(Registry::shipped());
        let sample = command.find_subcommand_mut("sample").unwrap();
        let help = sample.render_long_help().to_string();
        let help: Vec<&str> = help.split("\n\n").collect();
        let mut defaults = serde_json::to_value(RunConfig::default()).unwrap();
        let model = Registry::shipped().find("hierarchical-normal").unwrap();
        let settings = model.build(&toml::Table::new(), None).unwrap().settings().clone();
        let settings = serde_json::to_value(settings).unwrap();
        defaults.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        for (option, pointer) in [
            ("--draws", "/sampler/draws"),
            ("--tune", "/sampler/tune"),
            ("--chains", "/sampler/chains"),
            ("--algorithm", "/sampler/algorithm"),
            ("--strategy", "/sampler/strategy"),
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
            let text = in_one_line(help.iter().find(|text| text.lines().any(own)).unwrap());
            assert!(text.contains(&format!("[default: {value}]")), "{option} is {value} in truth: {text}");
        }
    }

    #[test]
    fn help_of_calibrate_states_its_own_defaults() {
        let mut command = Cli::definition(Registry::shipped());
        let help = command.find_subcommand_mut("calibrate").unwrap().render_long_help().to_string();
        let help: Vec<&str> = help.split("\n\n").collect();
        let said = |option: &str| {
            let own = |line: &str| line.trim_start().starts_with(&format!("{option} "));
            in_one_line(help.iter().find(|text| text.lines().any(own)).unwrap())
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
