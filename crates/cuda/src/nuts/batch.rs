//! Many data sets of one model in one launch: what `NutsKernels` does for one, for as many as there are, to the bit.
//!
//! A data set is an item: its data, its coordinates and metric, its chains. All items share a density and a format, and
//! differ in sizes, seeds, chains and iterations. There are few buffers, each for all items, and few copies: a
//! launch has one to the device and one from it, however many items there are.
//!
//! | Part | Lives | Content |
//! |---|---|---|
//! | [`NutsBatchKernels`] | for the format | the two kernels |
//! | [`NutsBatch`] | for the run | of all items data, coordinates and metric, chains' states and vectors |
//! | [`NutsBatchSlot`] | for the run, two or more | what one launch leaves for the host of the items that are in it |
//!
//! The steps are those for one data set: set geometries and states, [`restart`](NutsBatchKernels::restart), then
//! [`run`](NutsBatchKernels::run) into one slot while the other is [fetched](NutsBatchSlot::fetch) by a second stream and
//! [waited](NutsBatchSlot::wait) for. A launch names its items: others rest. What the host sets between launches
//! (geometries, states, points) waits for all work that is queued; a run after a run waits for nothing.

pub(crate) mod places;
mod sets;
mod slot;

use super::layout::NutsFormat;
use super::{NutsEntry, NutsLaunch, NutsRestart, fits};
use crate::binding::{BatchFunctions, RawModule};
use crate::{Context, CudaError, Stream};
use std::fmt;
use std::sync::Arc;

pub use places::NutsBatchItem;
pub use sets::NutsBatch;
pub use slot::NutsBatchSlot;

/// The work of one item in a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct NutsBatchLaunch {
    /// The item's number in its [`NutsBatch`].
    pub item: usize,
    /// The launch of the item, as if it were launched alone.
    pub launch: NutsLaunch,
}

/// The two kernels for many data sets of one density, precision and format, loaded on one device.
pub struct NutsBatchKernels {
    functions: BatchFunctions,
    format: NutsFormat,
    name: String,
    most_blocks: usize,
}

impl NutsBatchKernels {
    /// Gives a PTX text to the driver and looks up `nuts_run_batch_<name>` and `nuts_restart_batch_<name>`.
    ///
    /// The text is code: it is trusted to be compiled from `kernels/nuts` with a density that reads its own data only.
    ///
    /// # Errors
    /// [`CudaError::Ptx`] when the driver refuses the text, [`CudaError::KernelMissing`] when a kernel is not in it.
    pub fn load(context: &Context, ptx: &str, name: &str, format: NutsFormat) -> Result<Self, CudaError> {
        let module = Arc::new(RawModule::from_ptx(context.session(), ptx)?);
        let functions = BatchFunctions::find(&module, name)?;
        Ok(Self { functions, format, name: name.to_owned(), most_blocks: usize::MAX })
    }

    /// Lets each kernel move about so many chains at most, and a block of threads at least, from now on: a launch of
    /// more chains is several kernels, one after the other. No bit depends on it.
    pub fn limit_chains(&mut self, most: usize) {
        self.most_blocks = (most / self.format.chains_of_block()).max(1);
    }

    /// Queues the iterations of these items; what they leave goes to `slot`. Items that are not among them stay as they
    /// are. No launches queue nothing.
    ///
    /// # Errors
    /// [`CudaError::ItemTwice`]; [`CudaError::RangeOutside`] for an item that there is not; [`CudaError::LengthMismatch`]
    /// when an item has fewer chains, the slot is too small or the parts are of other formats;
    /// [`CudaError::ContextMismatch`]; and when the driver refuses.
    pub fn run(
        &self,
        stream: &Stream,
        launches: &[NutsBatchLaunch],
        batch: &mut NutsBatch,
        slot: &mut NutsBatchSlot,
    ) -> Result<(), CudaError> {
        self.prepare(launches, batch, slot)?;
        self.functions.queue(NutsEntry::Run, stream, launches, self.most_blocks, batch, slot)
    }

    /// Takes the chains of these items to their points, one list for each launch of `chains x dim` in the sampler's
    /// coordinates, and queues their evaluation and what `kind` asks for.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] also when the numbers of lists or of coordinates differ; otherwise when
    /// [`run`](Self::run) fails.
    pub fn restart(
        &self,
        stream: &Stream,
        kind: NutsRestart,
        launches: &[NutsBatchLaunch],
        positions: &[&[f64]],
        batch: &mut NutsBatch,
        slot: &mut NutsBatchSlot,
    ) -> Result<(), CudaError> {
        let one = |own: &NutsBatchLaunch| {
            let launch = NutsLaunch { window: 0..0, ..kind.launch(&own.launch) };
            NutsBatchLaunch { item: own.item, launch }
        };
        let launches: Vec<NutsBatchLaunch> = launches.iter().map(one).collect();
        self.prepare(&launches, batch, slot)?;
        slot.place(positions)?;
        self.functions.queue(NutsEntry::Restart, stream, &launches, self.most_blocks, batch, slot)
    }

    fn prepare(
        &self,
        launches: &[NutsBatchLaunch],
        batch: &mut NutsBatch,
        slot: &mut NutsBatchSlot,
    ) -> Result<(), CudaError> {
        fits(&self.name, self.format, "format of the batch", batch.format())?;
        fits(&self.name, self.format, "format of the slot", slot.format())?;
        batch.upload_geometry()?;
        slot.prepare(batch, launches)
    }
}

impl fmt::Debug for NutsBatchKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NutsBatchKernels").field("name", &self.name).finish_non_exhaustive()
    }
}
