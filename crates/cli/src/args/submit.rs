//! The arguments of `octopus submit`, with their help, defaults and limits.

use super::sample::thread_count;
use bytesize::ByteSize;
use clap::Args;
use clap::builder::RangedU64ValueParser;

/// `octopus submit`
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("scheduler").required(true))]
pub(crate) struct SubmitArgs {
    /// For Slurm: a shell script that calls sbatch
    #[arg(long, group = "scheduler")]
    pub(crate) slurm: bool,
    /// For Kubernetes: a manifest of two Jobs, for `kubectl apply -f -`
    #[arg(long, group = "scheduler", requires_all = ["image", "volume"])]
    pub(crate) kubernetes: bool,
    /// For PBS: a shell script that calls qsub
    #[arg(long, group = "scheduler")]
    pub(crate) pbs: bool,
    /// Submit it too, by sh or kubectl
    #[arg(long)]
    pub(crate) run: bool,
    /// Parts, each a task of the array
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub(crate) parts: usize,
    /// CPU threads of each part
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Memory of each part, e.g. 2GiB [default: twice what is foretold, and 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<ByteSize>,
    /// Minutes of each part; it goes on in a new turn then [default: three times what is foretold, at
    /// least 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) minutes: Option<u64>,
    /// GPUs of each part
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) gpus: u32,
    /// Kubernetes: the image that has octopus (docs/clusters.md)
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    pub(crate) image: Option<String>,
    /// Kubernetes: the claim of the volume that all parts work in
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    pub(crate) volume: Option<String>,
    /// The command: sample --batch, calibrate, or sweep --keep, with its options
    #[arg(value_name = "COMMAND", required = true, num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}
