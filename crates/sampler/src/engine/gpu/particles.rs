//! Particles on GPUs: the log density at many points, by the kernels that place chains.

use super::{GpuConfig, GpuEngine, kernel};
use crate::adapt::Adaptation;
use crate::config::{SamplerConfig, Strategy};
use crate::engine::gpu_note::GpuNote;
use crate::engine::{ChainState, NEVER, SamplerEngine, Shared, Tuning};
use crate::error::SamplerError;
use crate::kernel::MetricEstimate;
use crate::population::{SamplerCoordinates, halted, or_nothing};
use octopus_cuda::Context;
use octopus_density::LogDensity;

/// The most particles that are evaluated at once: as many warps as the largest GPU carries at once.
const PIECE: usize = 2048;

/// The devices that evaluate the density where particles are.
pub(crate) struct GpuParticles {
    engine: GpuEngine,
    config: SamplerConfig,
    adaptation: Adaptation,
}

/// Returns the settings of chains that are only placed, as many as there are particles at once.
pub(super) fn as_chains(config: &SamplerConfig) -> SamplerConfig {
    let (chains, draws, tune, max_depth) = (PIECE, 1, 0, 1);
    SamplerConfig { chains, draws, tune, max_depth, strategy: Strategy::FourLong, ..config.clone() }
}

impl GpuParticles {
    /// Makes room for particles.
    ///
    /// # Errors
    /// When there are no kernels for the density or the method, or all devices or their memories fail.
    pub(crate) fn new(
        density: &dyn LogDensity,
        config: &SamplerConfig,
        contexts: &[Context],
        gpu: &GpuConfig,
    ) -> Result<Self, SamplerError> {
        let kernels = kernel::of_density(density, config)?;
        let config = as_chains(config);
        let dim = density.dim();
        let state = ChainState::start(vec![0.0; dim], config.target_accept, 1.0);
        let engine = GpuEngine::new(kernels, &config, contexts, gpu, vec![state; PIECE])?;
        let metric = MetricEstimate { diagonal: vec![1.0; dim], ..MetricEstimate::default() };
        Ok(Self { engine, config, adaptation: Adaptation { metric, ..Adaptation::default() } })
    }

    /// Returns the log density at each of these points (`n x dim`), minus infinity where there is none, with the bits of
    /// the CPU.
    ///
    /// # Errors
    /// When evaluations are to stop, or the devices fail.
    pub(crate) fn log_densities(
        &mut self,
        coordinates: &SamplerCoordinates<'_>,
        points: &[f64],
    ) -> Result<Vec<f64>, SamplerError> {
        let Self { engine, config, adaptation } = self;
        let space = coordinates.space();
        let shared = Shared {
            config,
            space,
            adaptation,
            done: 0,
            tuning: Tuning::Over,
            length: None,
            center: None,
            windows: 0..0,
            stop: NEVER,
        };
        let mut found = Vec::with_capacity(points.len() / space.dim.max(1));
        for piece in points.chunks(PIECE * space.dim.max(1)) {
            coordinates.go_on().map_err(|why| halted(found.len(), why))?;
            found.extend(engine.log_densities(&shared, piece.chunks_exact(space.dim))?.map(or_nothing));
        }
        Ok(found)
    }

    /// Returns what has happened to the devices since the last call.
    pub(crate) fn take_notes(&mut self) -> Vec<GpuNote> {
        self.engine.take_notes()
    }
}
