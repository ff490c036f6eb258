//! The kernels that expand draws and replicate observations, with the reason why each launch is sound.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::stream::RawStream;
use super::structures::{Addresses, data_structure};
use crate::CudaError;
use crate::nuts::NutsData;
use crate::nuts::expansion::{ExpansionBuffers, PredictionLaunch};
use crate::nuts::layout::{Structure, THREADS};
use std::sync::Arc;

/// A row is a warp's.
const ROWS_OF_BLOCK: usize = THREADS as usize / 32;
/// More warps than any device runs at a time: they go through the other rows in turns.
const MOST_BLOCKS: usize = 1 << 14;

/// The two kernels of one density and precision.
pub(crate) struct ExpansionFunctions {
    expand: RawFunction,
    predict: RawFunction,
}

impl ExpansionFunctions {
    pub(crate) fn find(module: &Arc<RawModule>, name: &str) -> Result<Self, CudaError> {
        Ok(Self {
            expand: RawFunction::find(module, &format!("nuts_expand_{name}"))?,
            predict: RawFunction::find(module, &format!("nuts_predict_{name}"))?,
        })
    }

    /// The buffers have room for `rows` draws and their variables (`NutsExpansion::expand`).
    pub(crate) fn expand(
        &self,
        stream: &RawStream,
        data: &NutsData,
        buffers: &mut ExpansionBuffers,
        rows: usize,
    ) -> Result<(), CudaError> {
        let mut addresses = Addresses::of(&self.expand);
        let data = data_structure(&mut addresses, data);
        // `Expansion` of kernels/nuts/expand.cuh.
        let mut launch = Structure::default();
        launch.long(addresses.address(&buffers.draws)).long(addresses.address(&buffers.results)).long(rows as u64);
        addresses.are_the_function_s()?;
        let queued = Launch::new(&self.expand, blocks(rows), [THREADS, 1, 1]).bytes(&data).bytes(&launch.finished());
        // SAFETY: the structures have the sizes that the PTX declares (`on` compares them). Each row below `rows` is a
        // warp's, which reads its draw and writes its variables: there is room for both (the caller), and the results
        // are borrowed for writing. That the density has as many coordinates and variables as its Rust side says, and
        // reads within its own data, is what `NutsExpansion::load` trusts the kernels for. Buffers are freed only when
        // the context is idle.
        unsafe { queued.on(stream) }
    }

    /// The buffers have room for `chains * draws_per_chain` draws, `picked` picks, each below `draws_per_chain`, and
    /// `chains * picked` replicates (`NutsExpansion::predict`).
    pub(crate) fn predict(
        &self,
        stream: &RawStream,
        data: &NutsData,
        observations: &NutsData,
        buffers: &mut ExpansionBuffers,
        launch: &PredictionLaunch,
    ) -> Result<(), CudaError> {
        let mut addresses = Addresses::of(&self.predict);
        let data = data_structure(&mut addresses, data);
        let observations = data_structure(&mut addresses, observations);
        // `Prediction` of kernels/nuts/expand.cuh.
        let mut whole = Structure::default();
        whole.long(launch.seed).long(addresses.address(&buffers.draws)).long(addresses.address(&buffers.results));
        whole.long(addresses.address(&buffers.picks)).word(launch.first_chain).word(launch.chains);
        whole.word(launch.draws_per_chain).word(launch.first_draw).word(launch.picked);
        addresses.are_the_function_s()?;
        let rows = launch.chains as usize * launch.picked as usize;
        let queued = Launch::new(&self.predict, blocks(rows), [THREADS, 1, 1]);
        let queued = queued.bytes(&data).bytes(&observations).bytes(&whole.finished());
        // SAFETY: as for `expand`. A warp reads the pick of its row and the draw that it names, which is within the
        // buffer because picks are below `draws_per_chain`, and writes the replicate of its row: there is room for all
        // of them (the caller).
        unsafe { queued.on(stream) }
    }
}

fn blocks(rows: usize) -> [u32; 3] {
    [rows.div_ceil(ROWS_OF_BLOCK).clamp(1, MOST_BLOCKS) as u32, 1, 1]
}
