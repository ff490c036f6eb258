//! The arguments of `octopus bench ...`.

use super::random::count_up_to;
use clap::{Args, Subcommand};

/// `octopus bench`
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Time draws of each distribution, on one core, on all cores and on the GPU
    ///
    /// Without a GPU the CPU alone is timed. Exit codes: 0 all were timed, 3 the GPU failed, 4 there is no GPU N.
    Random(BenchRandomArgs),
}

/// `octopus bench random`
#[derive(Debug, Args)]
pub(crate) struct BenchRandomArgs {
    /// Draws per pass on the CPU; a GPU makes 64 times as many
    #[arg(long, value_name = "N", default_value = "1e6", value_parser = draws)]
    pub(crate) n: u64,
    /// The N of cuda:N [default: 0 where there is a GPU]
    #[arg(long, value_name = "N")]
    pub(crate) device: Option<u32>,
    /// Few draws and passes; the software GPU of the tests is never given others
    #[arg(long)]
    pub(crate) small: bool,
}

fn draws(text: &str) -> Result<u64, String> {
    /// A GPU makes 64 times as many: 8 GiB of double precision.
    const MOST: u64 = 1 << 24;
    count_up_to(text, MOST)
}
