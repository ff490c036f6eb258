//! Whole chains of NUTS on the device: the kernels of `kernels/nuts` over buffers that know their sizes.
//!
//! A kernel is compiled for one density, one precision and one [`NutsFormat`]. What it needs is in parts:
//!
//! | Part | Lives | Content |
//! |---|---|---|
//! | [`NutsData`] | for the density | what the density reads |
//! | [`NutsGeometry`] | from one adaptation to the next | centering and metric |
//! | [`NutsChains`] | for the run | each chain's state and vectors |
//! | [`NutsTeam`] | for the run, in [`NutsChains`] | where blocks meet that share a chain's evaluations |
//! | [`NutsWindows`] | for warm-up | the open window's points and gradients, for what is learned from all chains |
//! | [`NutsSlot`] | for the run, two or more | what one launch leaves for the host: draws, records, points, ends |
//!
//! [`NutsBatch`] holds many data sets, each with its own data, geometry and chains, for launches of all of them at once.
//!
//! Numbers are given as `f64` and rounded once to what the kernel computes in.

pub(crate) mod batch;
mod chains;
pub(crate) mod data;
pub(crate) mod geometry;
pub(crate) mod layout;
mod output;
mod record;
pub(crate) mod regions;
mod slot;
pub(crate) mod structures;
pub(crate) mod team;
pub(crate) mod windows;

use crate::binding::{NutsFunctions, RawModule};
use crate::{Context, CudaError, Stream};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use batch::{NutsBatch, NutsBatchItem, NutsBatchKernels, NutsBatchLaunch, NutsBatchSlot};
pub use chains::{NutsChain, NutsChains};
pub use data::{NutsData, NutsField};
pub use geometry::{NutsCentering, NutsGeometry, NutsTrajectory};
pub use layout::{Float, NutsFormat};
pub use output::NutsOutput;
pub use record::NutsRecord;
pub use slot::NutsSlot;
pub use team::{NutsTeam, NutsTeamWork};
pub use windows::{NutsWindows, WindowSide};

/// One launch, as all its chains share it.
#[derive(Clone, Debug, PartialEq)]
pub struct NutsLaunch {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the first chain.
    pub first_chain: u32,
    /// Chains, of which there may be fewer than there is room for.
    pub chains: u32,
    /// Iterations done before, warm-up included.
    pub first_iteration: u32,
    /// Iterations to do.
    pub iterations: u32,
    /// Iterations in which each chain adapts its own step size: those of warm-up, or 0 where the host sets step sizes.
    pub tune: u32,
    /// Iterations of which the points are kept with the gradients there, whether step sizes adapt or not.
    pub window: Range<u32>,
    /// Energy error beyond which a transition diverges.
    pub max_energy_error: f64,
    /// Target of the mean acceptance probability.
    pub target_accept: f64,
}

/// The work of a restart besides evaluating the chains' points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NutsRestart {
    /// Search a step size and begin dual averaging with it: after a change of coordinates or metric.
    Search,
    /// Leave step size and dual averaging as they are: a run that goes on.
    Place,
}

impl NutsRestart {
    /// Returns the launch that asks the kernels for it.
    fn launch(self, launch: &NutsLaunch) -> NutsLaunch {
        NutsLaunch { iterations: u32::from(self == Self::Search), ..launch.clone() }
    }
}

/// One of the two kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NutsEntry {
    Run,
    Restart,
}

/// The two kernels of one density, precision and format, loaded on one device.
pub struct NutsKernels {
    functions: NutsFunctions,
    format: NutsFormat,
    name: String,
    most_chains: u32,
}

impl NutsKernels {
    /// Gives a PTX text to the driver and looks up `<sampler>_run_<name>` and `<sampler>_restart_<name>`, where the sampler is
    /// `nuts` or `hmc`.
    ///
    /// The text is code: it is trusted to be compiled from `kernels/nuts` with a density that reads its own data only.
    ///
    /// # Errors
    /// [`CudaError::Ptx`] when the driver refuses the text, [`CudaError::KernelMissing`] when a kernel is not in it.
    pub fn load(
        context: &Context,
        ptx: &str,
        sampler: &str,
        name: &str,
        format: NutsFormat,
    ) -> Result<Self, CudaError> {
        let module = Arc::new(RawModule::from_ptx(context.session(), ptx)?);
        let functions = NutsFunctions::find(&module, sampler, name)?;
        Ok(Self { functions, format, name: name.to_owned(), most_chains: u32::MAX })
    }

    /// Returns the format that the kernels are compiled for.
    #[must_use]
    pub fn format(&self) -> NutsFormat {
        self.format
    }

    /// Lets each kernel move so many chains at most, and at least one, from now on: a launch of more chains is several
    /// kernels, one after the other. No bit depends on it.
    pub fn limit_chains(&mut self, most: usize) {
        self.most_chains = u32::try_from(most.max(1)).unwrap_or(u32::MAX);
    }

    /// Returns the number of blocks that the device holds at once: a team's must all be there. 0 where blocks cannot
    /// wait for each other.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn blocks_at_once(&self) -> Result<usize, CudaError> {
        self.functions.blocks_at_once()
    }

    /// Queues `launch.iterations` transitions of every chain; what they leave goes to `slot`.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the slot has too few iterations or the parts are of other sizes or formats,
    /// [`CudaError::ContextMismatch`]; and when the driver refuses.
    pub fn run(
        &self,
        stream: &Stream,
        launch: &NutsLaunch,
        data: &NutsData,
        geometry: &NutsGeometry,
        chains: &mut NutsChains,
        slot: &mut NutsSlot,
    ) -> Result<(), CudaError> {
        self.queue(NutsEntry::Run, stream, launch, data, geometry, chains, slot)
    }

    /// Queues the evaluation of every chain's point, which is in `slot` ([`NutsSlot::place`]), and what `kind` asks for.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the slot has too few iterations or the parts are of other sizes or formats,
    /// [`CudaError::ContextMismatch`]; and when the driver refuses.
    #[allow(clippy::too_many_arguments, reason = "what is read and what is written are parts of their own")]
    pub fn restart(
        &self,
        stream: &Stream,
        kind: NutsRestart,
        launch: &NutsLaunch,
        data: &NutsData,
        geometry: &NutsGeometry,
        chains: &mut NutsChains,
        slot: &mut NutsSlot,
    ) -> Result<(), CudaError> {
        self.queue(NutsEntry::Restart, stream, &kind.launch(launch), data, geometry, chains, slot)
    }

    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn queue(
        &self,
        entry: NutsEntry,
        stream: &Stream,
        launch: &NutsLaunch,
        data: &NutsData,
        geometry: &NutsGeometry,
        chains: &mut NutsChains,
        slot: &mut NutsSlot,
    ) -> Result<(), CudaError> {
        let fits = |what, format| fits(&self.name, self.format, what, format);
        fits("format of the data", data.format())?;
        fits("format of the geometry", geometry.format())?;
        fits("format of the chains", chains.format())?;
        if entry == NutsEntry::Restart {
            slot.expect_placed(launch)?;
        }
        slot.prepare(chains, launch)?;
        self.functions.queue(entry, stream.raw(), launch, self.most_chains, data, geometry, chains, slot)
    }
}

/// Whether a part is of the format of the kernels of this name.
fn fits(name: &str, own: NutsFormat, what: &'static str, format: NutsFormat) -> Result<(), CudaError> {
    if format == own {
        return Ok(());
    }
    let operation = format!("launching {name} ({own}): {what} is {format}");
    Err(CudaError::LengthMismatch { operation, what: "a vector", expected: own.vector(), found: format.vector() })
}

impl fmt::Debug for NutsKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NutsKernels").field("name", &self.name).finish_non_exhaustive()
    }
}
