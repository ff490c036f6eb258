//! The arguments of `octopus predict`, and how many draws of each chain it takes.

use super::ExportFormat;
use super::model::entry;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;
use toml::Value;

/// `octopus predict`
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The run folder of a Stan program
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The new data: CSV, Parquet, JSON or R's dump, without the values that are predicted
    ///
    /// Labels that the run had are the same groups; for new ones effects are drawn from the population's distribution.
    /// Data that are left out are as they were.
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// A value of the new data, over the file's: --set N=3 --set x=[1,2.5]; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = entry)]
    pub(crate) set: Vec<(String, Value)>,
    /// At most N draws of each chain are taken, evenly spread
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..1 << 31))]
    pub(crate) draws: usize,
    /// The file for all predictions, as ArviZ's group `predictions`
    #[arg(long, value_name = "PATH", requires = "to")]
    pub(crate) out: Option<PathBuf>,
    /// The file's format
    #[arg(long, value_parser = ExportFormat::parser(), requires = "out")]
    pub(crate) to: Option<ExportFormat>,
    /// Replace the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
