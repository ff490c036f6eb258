//! The options of phase 0.

use crate::ValidationStage;
use octopus_bench::engines::PeerRatio;
use octopus_device::DeviceChoice;
use octopus_models::Problem;
use octopus_runs::PreparedRun;
use octopus_sampler::SamplerConfig;
use std::path::PathBuf;

/// The options of phase 0.
pub struct Phase0Options<'a> {
    /// The model with its data.
    pub problem: &'a dyn Problem,
    /// The folder that everything is written to.
    pub out: PathBuf,
    /// The run: its settings, device and threads.
    pub run: PreparedRun,
    /// Whether benchmarks are kept small.
    pub quick: bool,
    /// The stages that are done, of those that may be left out.
    pub stages: Vec<ValidationStage>,
    /// Other frameworks on the PRD's problem, from the results of a suite.
    pub peers: Vec<PeerRatio>,
    /// Whether a missing GPU counts as a failure.
    pub require_gpu: bool,
    /// A function that is told each stage as it begins, and what became of an interrupted run.
    pub say: &'a (dyn Fn(String) + Sync),
}

impl Phase0Options<'_> {
    /// Returns the sampler's settings.
    pub(crate) fn sampler(&self) -> &SamplerConfig {
        &self.run.request.sampler
    }

    /// Returns the device that was asked for.
    pub(crate) fn asked(&self) -> DeviceChoice {
        self.run.request.device.choice
    }

    /// Returns whether a stage is done, as an error with the reason where it is not.
    pub(crate) fn does(&self, stage: ValidationStage) -> Result<(), String> {
        if self.stages.contains(&stage) { Ok(()) } else { Err(format!("`--stages` leaves {stage} out")) }
    }
}
