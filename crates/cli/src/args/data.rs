//! The arguments of `octopus data ...`.

use super::random::count_up_to;
use clap::{Args, Subcommand};
use octopus_models::polynomial::{MOST_POINTS, NAMED_SIZES};
use std::path::PathBuf;

/// `octopus data`
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Points about a polynomial of degree 2, as JSON for the program `polynomial`
    ///
    /// The points lie at equal distances from 0 to 1 about 0.5 - 1.25 x + 2 x^2. The noise of point i depends on the seed and
    /// on i alone. With default options these are the data that ship with the program.
    ///
    /// Exit codes: 0 made, 3 a file is there already or cannot be written.
    Polynomial(DataPolynomialArgs),
}

/// `octopus data polynomial`
#[derive(Debug, Args)]
pub(crate) struct DataPolynomialArgs {
    /// The number of points, or small (10), medium (50), large (100), xlarge (500), xxlarge (1000)
    #[arg(long, value_name = "N", default_value = "medium", value_parser = points)]
    pub(crate) n: usize,
    /// Seed of the noise
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Standard deviation of the noise, which the program knows
    #[arg(long, value_name = "X", default_value_t = 0.05)]
    pub(crate) noise: f64,
    /// The file for the data [default: print them]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// Returns a number of points, which may be written by its name or with an exponent.
fn points(text: &str) -> Result<usize, String> {
    match NAMED_SIZES.iter().find(|(name, _)| *name == text) {
        Some((_, points)) => Ok(*points),
        None => match count_up_to(text, MOST_POINTS as u64) {
            Ok(count) => Ok(count as usize),
            Err(why) => Err(format!("{why}, or one of {}", NAMED_SIZES.map(|(name, _)| name).join(", "))),
        },
    }
}
