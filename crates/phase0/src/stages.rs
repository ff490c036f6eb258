//! The results of all stages.

use crate::compare::Comparison;
use crate::gpu::OnGpu;
use crate::prd::Prd;
use crate::predict::Predicted;
use crate::sample::Sampled;
use crate::verify::VerifiedMachine;
use octopus_bench::engines;
use octopus_diag::Diagnosis;
use octopus_models::Problem;
use octopus_report::Stories;
use octopus_trace::Dataset;

/// The results of all stages.
pub(crate) struct Stages<'a> {
    pub(crate) problem: &'a dyn Problem,
    /// What the PRD asks of its own problem; `None` for any other.
    pub(crate) prd: Option<Prd>,
    pub(crate) machine: VerifiedMachine,
    pub(crate) sampled: Sampled,
    pub(crate) diagnosis: Diagnosis,
    /// The comparison with the exact posterior, or the reason why there is none.
    pub(crate) comparison: Result<Comparison, String>,
    /// The predictive check, or the reason why there is none.
    pub(crate) predicted: Result<Predicted, String>,
    /// The results of the run on the GPU, or the reason why there was none.
    pub(crate) gpu: Result<OnGpu, String>,
    /// The measurements of speed, or the reason why there are none.
    pub(crate) benchmark: Result<engines::Benchmarks, String>,
    /// The story of how each parameter converged, made while the draws are still in memory.
    pub(crate) stories: Stories,
    /// The statistics of the transitions, kept after the draws have gone into the file.
    pub(crate) stats: Option<Dataset>,
}
