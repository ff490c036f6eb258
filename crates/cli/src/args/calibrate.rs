//! The arguments of `octopus calibrate`, with their help and defaults: the level of the tests (`--false-alarm`), the
//! numbers of data sets and of sequences.

use super::{MachineArgs, ModelArgs, PictureFormat, SamplerArgs, ShareArgs};
use clap::builder::RangedU64ValueParser;
use clap::{Arg, Args};
use octopus_calibrate::GewekeSettings;
use std::path::PathBuf;

/// The most data sets: each has random numbers of its own.
const MOST: u32 = (1 << 30) - 1;

/// `octopus calibrate`
#[derive(Debug, Args)]
#[command(mut_args(|arg| calibration_default(arg)))]
pub(crate) struct CalibrateArgs {
    /// The model
    pub(crate) model: String,
    /// The folder for ranks, pictures and calibration.json; a calibration in it continues
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Settings file (TOML) of the simulator and the sampler; options override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Begin anew in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Data sets
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST)))]
    pub(crate) datasets: u32,
    /// Draws per data set, for ranks from 0 to N [default: at most 99; many-short: at most one per
    /// chain]
    #[arg(long, value_name = "N")]
    pub(crate) kept: Option<usize>,
    /// Geweke's test instead of ranks
    #[arg(long, conflicts_with_all = ["datasets", "kept"])]
    pub(crate) geweke: bool,
    /// Sequences of Geweke's test, each from a draw of its own
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = RangedU64ValueParser::<usize>::new().range(GewekeSettings::FEWEST as u64..=GewekeSettings::MOST as u64))]
    pub(crate) sequences: usize,
    /// Steps per sequence, each with new data, then new parameters [default: the model's, e.g. 500]
    #[arg(long, value_name = "N",
        value_parser = RangedU64ValueParser::<usize>::new().range(GewekeSettings::SHORTEST as u64..=GewekeSettings::MOST as u64))]
    pub(crate) steps: Option<usize>,
    /// Probability that a sampler without fault is called miscalibrated, over all tests together
    #[arg(long, value_name = "P", default_value_t = 1e-3)]
    pub(crate) false_alarm: f64,
    /// File formats of the pictures
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PictureFormat::Png])]
    pub(crate) format: Vec<PictureFormat>,
    /// Its settings.
    #[arg(skip)]
    pub(crate) model_settings: ModelArgs,
    /// Who does which data sets.
    #[command(flatten)]
    pub(crate) share: ShareArgs,
    /// Sampler.
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Machine.
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// The defaults of a calibration in place of a run's.
fn calibration_default(arg: Arg) -> Arg {
    let (said, default) = match arg.get_id().as_str() {
        "draws" => ("Draws per chain", "200, with --geweke 5, with many-short 8"),
        "tune" => ("Warm-up iterations per chain, at most; four-long: exactly this many", "300, with --geweke 50"),
        "chains" => ("Chains", "8, with --geweke 1, with many-short 64"),
        "target_accept" => ("Target of the acceptance rate", "0.9"),
        _ => return arg,
    };
    arg.help(format!("{said} [default: {default}]"))
}
