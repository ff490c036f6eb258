//! `octopus validate`

use super::sample::words;
use super::{DataArgs, MachineArgs, ModelArgs, SampleArgs, SamplerArgs};
use clap::Args;
use octopus_phase0::ValidationStage;
use octopus_sampler::{MetricKind, Parameterization};
use std::path::PathBuf;

/// `octopus validate`
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The model
    pub(crate) model: String,
    /// The folder for the report and the run [default: reports/phase0; other models or data reports/MODEL]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Fail with exit code 4 where there is no GPU
    #[arg(long)]
    pub(crate) require_gpu: bool,
    /// 1000 draws, 500 warm-up iterations, small benchmarks
    #[arg(long)]
    pub(crate) quick: bool,
    /// Results of `octopus bench run hierarchical`: the other frameworks in them stand in the report
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,
    /// The stages to do beside verify, sample, diagnose and report, joined by commas [default: all]
    #[arg(long, value_name = "STAGES", value_delimiter = ',', default_values_t = ValidationStage::ALL, hide_default_value = true,
        value_parser = words::<ValidationStage>(&["compare", "predict", "gpu", "benchmark", "plot"]))]
    pub(crate) stages: Vec<ValidationStage>,
    /// Settings file (TOML), read as by `octopus sample`; of the strategies cross-chain and four-long
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Seed of all random numbers of the run; made-up data have their own [default: 42]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Coordinates of the effects while sampling [default: adaptive]
    ///
    /// adaptive standardises each effect given the scales. Reported draws are always of the non-centered model.
    #[arg(long, value_parser = words::<Parameterization>(&["adaptive", "as-written", "centered", "non-centered"]))]
    pub(crate) parameterization: Option<Parameterization>,
    /// Metric [default: auto]
    #[arg(long, value_parser = words::<MetricKind>(&["auto", "low-rank", "diag", "diag-draws", "identity"]))]
    pub(crate) metric: Option<MetricKind>,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Its settings.
    #[arg(skip)]
    pub(crate) model_settings: ModelArgs,
    /// Machine.
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// The draws and warm-up iterations with --quick. With fewer draws the largest R-hat of 203 good parameters would come
/// close to 1.01 by chance.
const QUICK: (usize, usize) = (1000, 500);

impl ValidateArgs {
    /// The same as one run.
    pub(crate) fn into_sample(self) -> SampleArgs {
        let (draws, tune) = self.quick.then_some(QUICK).unzip();
        let Self { seed, parameterization, metric, .. } = self;
        SampleArgs {
            model: self.model,
            out: self.out,
            config: self.config,
            data: self.data,
            model_settings: self.model_settings,
            sampler: SamplerArgs { draws, tune, seed, parameterization, metric, ..SamplerArgs::default() },
            machine: self.machine,
            ..SampleArgs::default()
        }
    }
}
