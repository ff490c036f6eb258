//! The arguments of `octopus random`.

use super::sample::{size, thread_count};
use crate::share::WorkPart;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use octopus_device::DeviceChoice;
use octopus_files::NpyType;
use std::path::PathBuf;

/// `octopus random`
#[derive(Debug, Args)]
pub(crate) struct RandomArgs {
    /// The distribution
    #[arg(value_enum, value_name = "DISTRIBUTION")]
    pub(crate) distribution: DistributionName,
    /// The number of draws, e.g. 1000 or 1e9
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) n: u64,
    /// The file for the draws, .npy or .parquet, which may be larger than memory [default: print them]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The type of the draws; float16 angles are rounded float32 angles
    #[arg(long, default_value = "float64", value_parser = draw_types())]
    pub(crate) dtype: NpyType,
    /// Seed: a draw depends on the seed, the distribution and its own number alone
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Draw part K of N only, into a file of its own: FILE-K-of-N; auto: the part of this task of an array job
    ///
    /// The draws of all parts, one after the other, are the draws without --part.
    #[arg(long, value_name = "K/N", requires = "out")]
    pub(crate) part: Option<WorkPart>,
    /// Continue an interrupted file, to the same bytes as without the interruption
    #[arg(long, requires = "out", conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Replace the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The distribution's parameters.
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// auto, cpu, cuda, cuda:N, cuda:0,1 or cuda:all; auto is the CPU, which is as fast as a disk
    #[arg(long, help_heading = "Machine", default_value = "auto")]
    pub(crate) device: DeviceChoice,
    /// The most memory for draws, on the host and on each GPU
    #[arg(long, help_heading = "Machine", value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub(crate) memory: u64,
    /// CPU threads; the draws do not depend on it [default: all]
    #[arg(long, help_heading = "Machine", value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

impl RandomArgs {
    /// Returns the file that the draws go into: a part has its own beside the one that is named.
    pub(crate) fn own_out(&self) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        let (Some(part), Some(stem)) = (self.part, out.file_stem()) else { return Some(out.clone()) };
        let end = out.extension().map(|end| format!(".{}", end.display())).unwrap_or_default();
        Some(out.with_file_name(format!("{}-{}{end}", stem.display(), part.file_name())))
    }
}

/// The parameters of all distributions; each takes some of them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub(crate) struct ParameterArgs {
    /// Location, angles in radians: von-mises, wrapped-normal, normal, student-t [default: 0]
    #[arg(long, value_name = "X")]
    pub(crate) loc: Option<f64>,
    /// Mean direction, a vector of any length: von-mises-fisher, whose draws are unit vectors
    #[arg(long, value_name = "X,X,...", value_delimiter = ',')]
    pub(crate) direction: Vec<f64>,
    /// Concentration, 0 for a uniform distribution: von-mises, von-mises-fisher
    #[arg(long, value_name = "X")]
    pub(crate) concentration: Option<f64>,
    /// Scale: normal, wrapped-normal, student-t, gamma, exponential (its mean) [default: 1]
    #[arg(long, value_name = "X")]
    pub(crate) scale: Option<f64>,
    /// Shape: gamma
    #[arg(long, value_name = "X")]
    pub(crate) shape: Option<f64>,
    /// First shape: beta
    #[arg(long, value_name = "X")]
    pub(crate) a: Option<f64>,
    /// Second shape: beta
    #[arg(long, value_name = "X")]
    pub(crate) b: Option<f64>,
    /// Degrees of freedom: student-t
    #[arg(long, value_name = "X")]
    pub(crate) df: Option<f64>,
    /// Lower end: uniform [default: 0]
    #[arg(long, value_name = "X")]
    pub(crate) low: Option<f64>,
    /// Upper end: uniform [default: 1]
    #[arg(long, value_name = "X")]
    pub(crate) high: Option<f64>,
}

/// The distributions, as the command line calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DistributionName {
    /// Between two numbers
    Uniform,
    /// Normal
    Normal,
    /// Exponential
    Exponential,
    /// Gamma
    Gamma,
    /// Beta
    Beta,
    /// Student's t
    StudentT,
    /// Angles around a direction
    VonMises,
    /// Unit vectors around a direction
    VonMisesFisher,
    /// Angles: a normal distribution around the circle
    WrappedNormal,
}

/// Returns a parser of the types of draws, by NumPy's names.
fn draw_types() -> impl TypedValueParser<Value = NpyType> {
    PossibleValuesParser::new(["float64", "float32", "float16"]).map(|name| match name.as_str() {
        "float16" => NpyType::F2,
        "float32" => NpyType::F4,
        _ => NpyType::F8,
    })
}

/// Returns a number of draws, which may be written with an exponent.
fn count(text: &str) -> Result<u64, String> {
    /// Beyond, f64 does not hold every whole number.
    const MOST: u64 = 1 << 53;
    count_up_to(text, MOST)
}

/// Returns a number from 1 to `most`, which may be written with an exponent.
pub(super) fn count_up_to(text: &str, most: u64) -> Result<u64, String> {
    // What is negative becomes 0.
    let by_exponent = || text.parse::<f64>().ok().filter(|n| n.fract() == 0.0).map(|n| n as u64);
    match text.parse::<u64>().ok().or_else(by_exponent) {
        Some(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(format!("a whole number from 1 to {most} is needed, e.g. 1000 or 1e6")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_draws_may_have_exponents() {
        assert_eq!(["1", "1e9", "2.5e3", "9007199254740992"].map(count), [1, 1_000_000_000, 2500, 1 << 53].map(Ok));
        for bad in ["0", "-1", "-1e3", "0e0", "1.5", "9007199254740993", "1e300", "nan", "inf", "many", ""] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
