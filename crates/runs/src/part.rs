//! Draws on their way to a Parquet part: gathered column by column, then encoded.

use crate::RunError;
use crate::columns::{CHAIN, DRAW, UNCONSTRAINED, values};
use crate::draws::expand_all;
use octopus_density::{DensityError, DrawAddress, Layout, LogDensity};
use octopus_formats::{ParquetColumn, encode_columns};
use octopus_sampler::{Algorithm, Block, DrawStats, Phase};
use octopus_trace::Values;

/// Rows that wait to be written, all of one phase.
#[derive(Debug)]
pub(crate) struct PartBuffer {
    algorithm: Algorithm,
    phase: Phase,
    chain: Vec<i32>,
    draw: Vec<i32>,
    /// The values of each variable of the layout, `rows x elements`.
    variables: Vec<Vec<f64>>,
    unconstrained: Vec<f64>,
    stats: Vec<DrawStats>,
}

impl PartBuffer {
    pub(crate) fn new(layout: &Layout, algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            phase: Phase::Warmup,
            chain: Vec::new(),
            draw: Vec::new(),
            variables: vec![Vec::new(); layout.variables.len()],
            unconstrained: Vec::new(),
            stats: Vec::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn rows(&self) -> usize {
        self.stats.len()
    }

    /// About the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let values: usize = self.variables.iter().map(Vec::len).sum::<usize>() + self.unconstrained.len();
        8 * values + self.rows() * size_of::<DrawStats>()
    }

    pub(crate) fn clear(&mut self) {
        self.chain.clear();
        self.draw.clear();
        self.variables.iter_mut().for_each(Vec::clear);
        self.unconstrained.clear();
        self.stats.clear();
    }

    /// Adds the rows of a block whose shape has been checked, chain after chain. The buffer must be empty
    /// or hold rows of the same phase. `seed` is the run's.
    pub(crate) fn extend(&mut self, block: &Block, density: &dyn LogDensity, seed: u64) -> Result<(), DensityError> {
        let dim = density.dim();
        self.phase = block.phase;
        let mut draws_of_all = Vec::with_capacity(block.chains.len() * block.draws);
        for (chain, draws) in block.chains.iter().enumerate() {
            for draw in 0..block.draws {
                let position = &draws.positions[draw * dim..(draw + 1) * dim];
                draws_of_all.push((position, Some(address(seed, chain, block.first + draw, block.phase))));
                self.chain.push(chain as i32);
                self.draw.push((block.first + draw) as i32);
            }
            self.unconstrained.extend_from_slice(&draws.positions);
            self.stats.extend_from_slice(&draws.stats);
        }
        expand_all(density, &draws_of_all, &mut self.variables)
    }

    /// Returns the bytes of a Parquet file with the rows.
    pub(crate) fn encode(&self, layout: &Layout) -> Result<Vec<u8>, String> {
        let _span = tracing::debug_span!("encode draws", rows = self.rows()).entered();
        let reals = |name: &str, values: &[f64], width| ParquetColumn::new(name, Values::F64(values.to_vec()), width);
        let mut columns =
            vec![ParquetColumn::of_i32(CHAIN, self.chain.clone()), ParquetColumn::of_i32(DRAW, self.draw.clone())];
        for (variable, values) in layout.variables.iter().zip(&self.variables) {
            let width = Some(variable.len()).filter(|_| !variable.dims.is_empty());
            if width != Some(0) {
                columns.push(reals(&variable.name, values, width));
            }
        }
        if !self.unconstrained.is_empty() {
            columns.push(reals(UNCONSTRAINED, &self.unconstrained, Some(self.unconstrained.len() / self.rows())));
        }
        let statistics = self.algorithm.statistics();
        columns.extend(statistics.map(|(name, read)| ParquetColumn::new(name, values(read, &self.stats), None)));
        encode_columns(&columns, &metadata(layout, self.phase))
    }
}

/// The address of a draw. Draws of warm-up are beyond all others: no run has as many.
fn address(seed: u64, chain: usize, draw: usize, phase: Phase) -> DrawAddress {
    let beyond = if phase == Phase::Warmup { 1 << 31 } else { 0 };
    DrawAddress { seed, chain: chain as u32, draw: draw as u32 | beyond }
}

/// Returns the meaning of the columns as JSON, for readers that have only this file.
fn metadata(layout: &Layout, phase: Phase) -> serde_json::Value {
    let mut coords = serde_json::Map::new();
    let mut variables = serde_json::Map::new();
    for variable in &layout.variables {
        let dims: Vec<&str> = variable.dims.iter().map(|dim| dim.name.as_str()).collect();
        let shape: Vec<usize> = variable.dims.iter().map(|dim| dim.labels.len()).collect();
        variables.insert(variable.name.clone(), serde_json::json!({ "dims": dims, "shape": shape }));
        for dim in &variable.dims {
            coords.insert(dim.name.clone(), serde_json::json!(dim.labels));
        }
    }
    serde_json::json!({ "schema": 1, "phase": phase, "order": "row-major", "variables": variables, "coords": coords })
}

/// Whether a block has the run's shape and begins at draw `first`.
pub(crate) fn check_block(
    block: &Block,
    density: &dyn LogDensity,
    chains: usize,
    first: usize,
) -> Result<(), RunError> {
    let check = |what, expected: usize, found: usize| {
        if expected == found {
            return Ok(());
        }
        Err(RunError::Block { what, expected: expected.to_string(), found: found.to_string() })
    };
    check("its number of chains", chains, block.chains.len())?;
    check("its first draw", first, block.first)?;
    let end = block.first.saturating_add(block.draws);
    if i32::try_from(end).is_err() {
        return Err(RunError::Block { what: "its last draw", expected: "below 2^31".into(), found: end.to_string() });
    }
    for chain in &block.chains {
        check("the length of a chain's statistics", block.draws, chain.stats.len())?;
        check("the length of a chain's positions", block.draws * density.dim(), chain.positions.len())?;
    }
    Ok(())
}
