//! The arguments of `octopus bench ...`.

use super::PictureFormat;
use super::random::count_up_to;
use crate::share::WorkPart;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use octopus_suite::{SuiteExport, SuitePicture, SuiteRun};
use std::path::PathBuf;

/// `octopus bench`
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// List the suites that ship, and the frameworks that are here
    ///
    /// Exit codes: 0 listed, 3 a description of a framework cannot be read.
    List(BenchPlaceArgs),
    /// Make the environments of frameworks, each in its own folder
    ///
    /// Each framework says in its peer.toml which commands make it; most take Python and packages from the network.
    /// Exit codes: 0 all are made, 3 a command failed.
    Setup(BenchSetupArgs),
    /// Run suites: Octopus and other frameworks in turns, each time beside its posterior
    ///
    /// A suite is the name of one that ships (`octopus bench list`) or a file that ends in .toml. Frameworks that are not
    /// installed are skipped aloud. The same command with --out goes on where it was stopped. Exit codes: 0 all ran, 2 an
    /// option or the suite is wrong, 3 it failed, 130 interrupted: the cases that are finished are kept.
    Run(BenchRunArgs),
    /// Draw the pictures of results, from their tables alone
    ///
    /// scaling: time against the size of the data. particles: time against particles. bars: times of all frameworks. speedup:
    /// times as long as Octopus. memory, ess: memory, effective draws a second. pareto: effective draws a second against
    /// the error of means. --page: these and the tables in one file of HTML. Exit codes: 0 drawn, 3 results cannot be read, or nothing of them can be drawn.
    Plot(BenchPlotArgs),
    /// Compare two folders of results: what became slower or faster for sure
    ///
    /// For sure is beyond 10 % where a 95 % bootstrap interval leaves out no change. Exit codes: 0 nothing is slower, 1
    /// something is, 3 results cannot be read, or are of two machines.
    Compare(BenchCompareArgs),
    /// Print results as csv, markdown, criterion (for critcmp) or gha (for github-action-benchmark)
    ///
    /// Exit codes: 0 printed, 3 results cannot be read.
    Export(BenchExportArgs),
    /// Run the smallest case of each suite with all frameworks that are here
    ///
    /// Exit codes: 0 no posterior failed that should not, 1 one did or a framework broke off, 130
    /// interrupted.
    Test(BenchTestArgs),
    /// Answer as a framework: requests from stdin, a line each
    #[command(hide = true)]
    Answer,
}

/// Where frameworks are.
#[derive(Debug, Args)]
pub(crate) struct BenchPlaceArgs {
    /// The folder with a folder for each framework
    #[arg(long, value_name = "DIR", default_value = "benchmarks/peers")]
    pub(crate) peers: PathBuf,
}

/// `octopus bench setup`
#[derive(Debug, Args)]
pub(crate) struct BenchSetupArgs {
    /// Frameworks [default: all]
    #[arg(value_name = "PEER")]
    pub(crate) names: Vec<String>,
    /// Where they are.
    #[command(flatten)]
    pub(crate) place: BenchPlaceArgs,
}

/// `octopus bench run`
#[derive(Debug, Args)]
pub(crate) struct BenchRunArgs {
    /// Suites by name, or files that end in .toml
    #[arg(required = true, value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Only these frameworks, e.g. octopus,numpyro [default: all of the suite]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) frameworks: Vec<String>,
    /// Repetitions of each case [default: as the suite says]
    #[arg(long, value_name = "N", value_parser = repeats)]
    pub(crate) repeats: Option<u64>,
    /// Only these sizes of the data: points, groups
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) data_size: Vec<u64>,
    /// Only these numbers of particles, where a method has them
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) n_particles: Vec<u64>,
    /// Devices in place of the suite's, e.g. cpu,cuda:0
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) device: Vec<String>,
    /// Write programs and data of all cases here, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) export_data: Option<PathBuf>,
    /// The folder for the results of a single suite [default: benchmarks/data/SUITE_TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run part K of N of the cases, on a machine like the others; auto: the part of this task of an array job
    ///
    /// All parts use one folder. Afterwards the same command without --part puts their results together.
    #[arg(long, value_name = "K/N", requires = "out")]
    pub(crate) part: Option<WorkPart>,
    /// Where frameworks are.
    #[command(flatten)]
    pub(crate) place: BenchPlaceArgs,
}

impl BenchRunArgs {
    /// Returns the folder of this process's results, if one is given: a part has its own in it.
    pub(crate) fn own_out(&self) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        Some(self.part.map_or_else(|| out.clone(), |part| SuiteRun::part_folder(out, &part.file_name())))
    }
}

/// `octopus bench plot`
#[derive(Debug, Args)]
pub(crate) struct BenchPlotArgs {
    /// The results
    #[arg(value_name = "DIR")]
    pub(crate) results: PathBuf,
    /// Only these pictures [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = pictures())]
    pub(crate) plot_type: Vec<SuitePicture>,
    /// Only methods whose names begin so, e.g. nuts,importance [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Write a page with the tables and these pictures, too: index.html
    #[arg(long)]
    pub(crate) page: bool,
    /// The folder for the pictures [default: plots, in the folder of the results]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Formats of the files
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PictureFormat::Png])]
    pub(crate) format: Vec<PictureFormat>,
}

/// `octopus bench compare`
#[derive(Debug, Args)]
pub(crate) struct BenchCompareArgs {
    /// The earlier results
    #[arg(value_name = "DIR")]
    pub(crate) then: PathBuf,
    /// The later results
    #[arg(value_name = "DIR")]
    pub(crate) now: PathBuf,
    /// Compare results of two kinds of machines
    #[arg(long)]
    pub(crate) force: bool,
}

/// `octopus bench export`
#[derive(Debug, Args)]
pub(crate) struct BenchExportArgs {
    /// The results
    #[arg(value_name = "DIR")]
    pub(crate) results: PathBuf,
    /// The form
    #[arg(long, default_value = "csv", value_parser = forms())]
    pub(crate) format: SuiteExport,
}

/// `octopus bench test`
#[derive(Debug, Args)]
pub(crate) struct BenchTestArgs {
    /// Only these frameworks, e.g. octopus,numpyro [default: all of each suite]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) frameworks: Vec<String>,
    /// Where frameworks are.
    #[command(flatten)]
    pub(crate) place: BenchPlaceArgs,
}

fn repeats(text: &str) -> Result<u64, String> {
    count_up_to(text, 100_000)
}

fn forms() -> impl TypedValueParser<Value = SuiteExport> {
    named(SuiteExport::ALL)
}

fn pictures() -> impl TypedValueParser<Value = SuitePicture> {
    named(SuitePicture::ALL)
}

/// Reads one of some names as what it stands for.
fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let of = move |name: String| all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    PossibleValuesParser::new(all.map(|(name, _)| name)).try_map(move |name| of(name).ok_or("it is none of them"))
}
