//! Why a run cannot start or go on.

use crate::config::{ConfigError, INIT_TRIES};
use octopus_cuda::CudaError;
use octopus_density::gpu::{KernelTextError, Precision};
use octopus_density::{DensityError, WrongSlope};
use thiserror::Error;

/// Why a run cannot start or go on.
#[derive(Debug, Error)]
pub enum SamplerError {
    /// A setting is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No starting point with a finite density was found.
    #[error(
        "chain {chain}: no starting point with a finite log density in {INIT_TRIES} tries within +-{radius} of the \
         density's center ({last}{why}): check the data and the priors, or make init_radius smaller"
    )]
    Init {
        /// The chain.
        chain: usize,
        /// `init_radius` of the settings.
        radius: f64,
        /// The density's error at the last point that was tried.
        last: DensityError,
        /// What the density says of that point, behind a colon; it may be nothing.
        why: String,
    },
    /// The density has no value where a chain is to start.
    #[error("chain {chain} cannot start where it is to: {what}")]
    Start {
        /// The chain.
        chain: usize,
        /// What is wrong there.
        what: String,
    },
    /// The density reported that it is broken.
    #[error("chain {chain}, iteration {iteration}: {source}")]
    Density {
        /// The chain.
        chain: usize,
        /// The iteration, warm-up included.
        iteration: usize,
        /// The density's error.
        source: DensityError,
    },
    /// The density reported that it is broken where a particle is.
    #[error("particle {particle}: {source}")]
    Particle {
        /// The number of the particle, of the path, or of the coordinate that was moved.
        particle: usize,
        /// The density's error.
        source: DensityError,
    },
    /// A population was being drawn, and [was to stop](crate::Sampler::advance_unless).
    #[error("drawing was stopped before the population was drawn, and nothing is kept of it")]
    Stopped,
    /// The density vanishes at all particles.
    #[error("the density vanishes at all particles: check the data and the priors, or draw more particles")]
    NoWeights,
    /// No path of Pathfinder has met any curvature.
    #[error("none of {paths} paths has found a normal approximation: the log density may be flat or without bounds")]
    NoPath {
        /// The number of paths.
        paths: usize,
    },
    /// The density does not tell its likelihood apart from its prior.
    #[error("'{density}' does not tell its likelihood apart from its prior, which particles from the prior need")]
    NoLikelihood {
        /// The density's name.
        density: String,
    },
    /// The density has too many coordinates for a dense matrix.
    #[error("{dim} coordinates are too many for the curvature at the mode, which is computed for at most {most}")]
    ManyCoordinates {
        /// The number of coordinates.
        dim: usize,
        /// The most there may be.
        most: usize,
    },
    /// The gradient is not the derivative of the log density.
    #[error(transparent)]
    Gradient(Box<WrongGradient>),
    /// A checkpoint cannot be read or belongs to another run.
    #[error("the checkpoint cannot be used: {0}")]
    Checkpoint(String),
    /// The GPU, its driver or its memory failed.
    #[error("the GPU failed: {0}")]
    Device(#[from] CudaError),
    /// There are no kernels for the density.
    #[error(
        "no GPU kernel for '{density}' with {dim} coordinates in {precision}: {why}; use the CPU, or another precision"
    )]
    NoKernel {
        /// The density's name.
        density: String,
        /// The number of the density's coordinates.
        dim: usize,
        /// The precision that the run was to compute in.
        precision: Precision,
        /// What is missing, in words.
        why: String,
    },
    /// The kernels in this program are damaged.
    #[error(transparent)]
    KernelText(#[from] KernelTextError),
}

/// A gradient that is not the derivative of its log density, as finite differences at a starting point show: one of the
/// two is wrong.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "the gradient of '{density}' is not the derivative of its log density: at the starting point of chain {chain} its \
     slope by {name} (coordinate {}) is {}, and finite differences of the log density give {} +- {:.1e}{}; correct {}, \
     and look at more points with `octopus check`",
    slope.coordinate, slope.analytic, slope.numeric, slope.error,
    slope.likely_reason().map(|reason| format!(" ({reason})")).unwrap_or_default(),
    if *centered { "logp_grad_centered (logp_grad is right there)" } else { "logp_grad" }
)]
pub struct WrongGradient {
    /// The density's name.
    pub density: String,
    /// The chain whose starting point it is.
    pub chain: usize,
    /// The coordinate by the name of its parameter, e.g. `log(tau)`.
    pub name: String,
    /// The starting point, in the density's own coordinates.
    pub position: Vec<f64>,
    /// Whether only [`logp_grad_centered`](octopus_density::LogDensity::logp_grad_centered) is wrong; the slopes are then
    /// those of its coordinates.
    pub centered: bool,
    /// Both slopes.
    pub slope: WrongSlope,
}
