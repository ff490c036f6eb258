//! The kernels of `kernels/nuts/expand.cuh`, which compute what people read of draws on the device, over buffers of a
//! bounded size.

mod parts;

use super::NutsData;
use super::layout::Float;
use crate::binding::{ExpansionFunctions, RawModule};
use crate::{Context, CudaError, DeviceBuffer, Stream};
use parts::{PickRange, Room, chains_at_once, parts};
use std::fmt;
use std::sync::Arc;

/// Numbers of a draw, and of what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionShape {
    /// Coordinates of a draw.
    pub dim: usize,
    /// Values of all variables of a draw.
    pub width: usize,
    /// Observations of a replicate.
    pub observations: usize,
}

impl ExpansionShape {
    /// Half of the bytes for what comes of draws, the rest for these; one row of each fits, whatever the bytes.
    fn room(&self, element: Float, bytes: usize) -> Room {
        let rows = |bytes: usize, row: usize| (bytes / row.max(1)).clamp(1, u32::MAX as usize);
        let result = self.result().saturating_mul(element.bytes()).saturating_add(size_of::<u32>());
        let results = rows(bytes / 2, result);
        let rest = bytes.saturating_sub(results.saturating_mul(result));
        Room { draws: rows(rest, self.dim.saturating_mul(element.bytes())), results }
    }

    /// Returns the longer of what is made of a draw.
    fn result(&self) -> usize {
        self.width.max(self.observations)
    }

    /// The kernels count within a row in 32 bits, and in steps of a warp beyond its end.
    fn check(&self) -> Result<(), CudaError> {
        let longest = self.dim.max(self.result());
        if longest > i32::MAX as usize {
            return Err(CudaError::TooLarge { elements: longest, element_bytes: size_of::<f64>() });
        }
        Ok(())
    }
}

/// The draws that are replicated, and the address of the random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NutsPrediction<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// Chains of the draws, which are numbered from 0 on.
    pub chains: u32,
    /// The draws that are picked of each chain, numbered from 0 on.
    pub picks: &'a [u32],
}

/// Through which draws come to the device and leave it again.
pub(crate) struct ExpansionBuffers {
    pub(crate) draws: DeviceBuffer<u8>,
    /// Variables or replicates.
    pub(crate) results: DeviceBuffer<u8>,
    pub(crate) picks: DeviceBuffer<u32>,
}

/// One launch of the second kernel: `Prediction` of kernels/nuts/expand.cuh without the addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PredictionLaunch {
    pub(crate) seed: u64,
    pub(crate) first_chain: u32,
    pub(crate) chains: u32,
    pub(crate) draws_per_chain: u32,
    pub(crate) first_draw: u32,
    pub(crate) picked: u32,
}

/// The two kernels that say what draws mean, of one density and precision, with the density's data and buffers.
///
/// Draws go through the buffers in parts, one after the other: device memory does not grow with them, and how they are
/// cut changes no bit.
pub struct NutsExpansion {
    functions: ExpansionFunctions,
    data: NutsData,
    observations: NutsData,
    buffers: ExpansionBuffers,
    shape: ExpansionShape,
    room: Room,
    name: String,
}

impl NutsExpansion {
    /// Gives a PTX text to the driver, looks up `nuts_expand_<name>` and `nuts_predict_<name>`, and makes buffers of at
    /// most `bytes` bytes, or of one row. `data` is what the density reads, `observations` what replicating reads
    /// besides, both in the kernels' precision.
    ///
    /// The text is code: it is trusted to be compiled from `kernels/nuts` with a density that has this shape and reads
    /// its own data only.
    ///
    /// # Errors
    /// [`CudaError::Ptx`] when the driver refuses the text, [`CudaError::KernelMissing`] when a kernel is not in it,
    /// [`CudaError::LengthMismatch`] when `observations` are of another format than `data`,
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn load(
        context: &Context,
        ptx: &str,
        name: &str,
        data: NutsData,
        observations: NutsData,
        shape: ExpansionShape,
        bytes: usize,
    ) -> Result<Self, CudaError> {
        shape.check()?;
        if data.format() != observations.format() {
            let operation =
                format!("loading {name} ({}): the observations are {}", data.format(), observations.format());
            let (expected, found) = (data.format().vector(), observations.format().vector());
            return Err(CudaError::LengthMismatch { operation, what: "a vector", expected, found });
        }
        let module = Arc::new(RawModule::from_ptx(context.session(), ptx)?);
        let functions = ExpansionFunctions::find(&module, name)?;
        let element = data.format().element;
        let room = shape.room(element, bytes);
        let rows = |rows: usize, row: usize| rows.saturating_mul(row).saturating_mul(element.bytes());
        let buffers = ExpansionBuffers {
            draws: DeviceBuffer::zeroed(context, rows(room.draws, shape.dim))?,
            results: DeviceBuffer::zeroed(context, rows(room.results, shape.result()))?,
            picks: DeviceBuffer::zeroed(context, room.results)?,
        };
        Ok(Self { functions, data, observations, buffers, shape, room, name: name.to_owned() })
    }

    /// Returns the bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let ExpansionBuffers { draws, results, picks } = &self.buffers;
        self.data.bytes() + self.observations.bytes() + draws.bytes() + results.bytes() + picks.bytes()
    }

    /// Returns the variables of draws, `rows x dim`, in the order of the layout, `rows x width`. Waits for them.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the draws are no whole rows, [`CudaError::TooLarge`] when the host has no room
    /// for what comes of them, [`CudaError::ContextMismatch`]; and when any work failed.
    pub fn expand(&mut self, stream: &Stream, draws: &[f64]) -> Result<Vec<f64>, CudaError> {
        let ExpansionShape { dim, width, .. } = self.shape;
        let rows = self.rows("expanding draws", draws.len(), dim)?;
        let at_once = self.room.draws.min(self.room.results);
        let mut out = room_on_the_host(rows, width)?;
        for first in (0..rows).step_by(at_once) {
            let rows = at_once.min(rows - first);
            self.put(std::iter::once(&draws[first * dim..(first + rows) * dim]))?;
            self.functions.expand(stream.raw(), &self.data, &mut self.buffers, rows)?;
            self.take(rows * width, &mut out)?;
        }
        Ok(out)
    }

    /// Returns replicated observations of the picked draws, `chains x picks x observations`; draws are `chains x draws
    /// x dim`. Waits for them.
    ///
    /// Observation `i` has the `i`-th random number of (seed, chain, draw, predictive), whatever else is picked.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the draws are no whole rows for each chain, [`CudaError::RangeOutside`] for a
    /// pick that is not among them, [`CudaError::TooLarge`] when the host has no room for the replicates,
    /// [`CudaError::ContextMismatch`]; and when any work failed.
    pub fn predict(
        &mut self,
        stream: &Stream,
        prediction: &NutsPrediction<'_>,
        draws: &[f64],
    ) -> Result<Vec<f64>, CudaError> {
        const WORDS: &str = "replicating observations";
        let NutsPrediction { seed, chains, picks } = *prediction;
        let ExpansionShape { dim, observations, .. } = self.shape;
        let chains = chains as usize;
        let of_chain = self.rows(WORDS, draws.len(), dim.saturating_mul(chains))?;
        if let Some(&pick) = picks.iter().find(|&&pick| pick as usize >= of_chain) {
            let start = pick as usize;
            return Err(CudaError::RangeOutside { operation: WORDS, start, end: start + 1, length: of_chain });
        }
        let parts = parts(picks, self.room);
        let at_once = chains_at_once(&parts, self.room);
        let mut out = room_on_the_host(chains.saturating_mul(picks.len()), observations)?;
        for first in (0..chains).step_by(at_once) {
            let chains = at_once.min(chains - first);
            for PickRange { picks: part, draws: range } in &parts {
                let numbers =
                    |chain: usize| (chain * of_chain + range.start) * dim..(chain * of_chain + range.end) * dim;
                self.put((first..first + chains).map(|chain| &draws[numbers(chain)]))?;
                // Below what they are subtracted from, and counted in 32 bits as the picks are.
                let start = range.start as u32;
                let places: Vec<u32> = picks[part.clone()].iter().map(|pick| pick - start).collect();
                self.buffers.picks.copy_range_from(0, &places)?;
                let launch = PredictionLaunch {
                    seed,
                    first_chain: first as u32,
                    chains: chains as u32,
                    draws_per_chain: range.len() as u32,
                    first_draw: start,
                    picked: part.len() as u32,
                };
                self.functions.predict(stream.raw(), &self.data, &self.observations, &mut self.buffers, &launch)?;
                self.take(chains * part.len() * observations, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Returns how many rows `numbers` numbers are.
    fn rows(&self, what: &str, numbers: usize, row: usize) -> Result<usize, CudaError> {
        let rows = numbers.checked_div(row).unwrap_or(0);
        if rows * row != numbers {
            let operation = format!("{what} ({}, {row} numbers each)", self.name);
            let expected = (rows + 1).saturating_mul(row);
            return Err(CudaError::LengthMismatch { operation, what: "the list of draws", expected, found: numbers });
        }
        Ok(rows)
    }

    /// Copies draws to the device, one after the other; they fit.
    fn put<'a>(&mut self, draws: impl Iterator<Item = &'a [f64]>) -> Result<(), CudaError> {
        let mut bytes = Vec::new();
        draws.for_each(|draws| self.data.format().element.encode(draws.iter().copied(), &mut bytes));
        self.buffers.draws.copy_range_from(0, &bytes)
    }

    /// Waits for the kernel and appends what it has left.
    fn take(&self, numbers: usize, out: &mut Vec<f64>) -> Result<(), CudaError> {
        let element = self.data.format().element;
        let mut bytes = vec![0; numbers * element.bytes()];
        self.buffers.results.copy_range_to(0, &mut bytes)?;
        element.decode(&bytes, out);
        Ok(())
    }
}

/// # Errors
/// [`CudaError::TooLarge`] when the host's memory does not suffice.
fn room_on_the_host(rows: usize, row: usize) -> Result<Vec<f64>, CudaError> {
    let mut room = Vec::new();
    let too_large = CudaError::TooLarge { elements: rows, element_bytes: row.saturating_mul(size_of::<f64>()) };
    room.try_reserve_exact(rows.saturating_mul(row)).map(|()| room).map_err(|_| too_large)
}

impl fmt::Debug for NutsExpansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NutsExpansion").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}
