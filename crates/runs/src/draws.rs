//! All draws of one phase in memory, and ArviZ's groups of them.
//!
//! The attributes that ArviZ gives a group (version, created_at, the model's name) are made here, for every export.

use crate::RunRecord;
use crate::columns::STATS;
use octopus_density::{LogDensity, Role};
use octopus_sampler::{Block, Phase};
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};

/// All draws of one phase, chain after chain.
pub(crate) struct Draws {
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    /// The values of each variable of the layout.
    pub(crate) variables: Vec<Vec<f64>>,
    /// The positions, of `dim` coordinates each.
    pub(crate) positions: Vec<f64>,
    pub(crate) dim: usize,
    /// The statistics, in the order of [`STATS`].
    pub(crate) stats: Vec<Values>,
}

impl Draws {
    /// Puts the draws of blocks of one phase together.
    pub(crate) fn of_blocks(density: &dyn LogDensity, blocks: &[Block]) -> Self {
        let chains = blocks.first().map_or(0, |block| block.chains.len());
        let parts = || (0..chains).flat_map(|chain| blocks.iter().map(move |block| &block.chains[chain]));
        let stats: Vec<_> = parts().flat_map(|part| part.stats.iter().cloned()).collect();
        Self {
            chains,
            draws: blocks.iter().map(|block| block.draws).sum(),
            variables: expanded(density, parts().map(|part| part.positions.as_slice())),
            positions: parts().flat_map(|part| part.positions.iter().copied()).collect(),
            dim: density.dim(),
            stats: STATS.iter().map(|(_, read)| read.values(&stats)).collect(),
        }
    }

    /// Adds the groups of the draws; of warm-up their names begin with `warmup_`.
    pub(crate) fn add_groups(self, record: &RunRecord, phase: Phase, data: &mut InferenceData) {
        let Self { chains, draws, variables, positions, dim, stats } = self;
        let array = |axes: &[(&str, usize)], values: Values| {
            Array::new([("chain", chains), ("draw", draws)].into_iter().chain(axes.iter().copied()), values)
        };
        let prefix = if phase == Phase::Warmup { "warmup_" } else { "" };
        let mut posterior = Dataset { attrs: attributes(record), ..Dataset::default() };
        let mut unconstrained = posterior.clone();
        for (variable, values) in record.layout.variables.iter().zip(variables) {
            let axes: Vec<(&str, usize)> =
                variable.dims.iter().map(|dim| (dim.name.as_str(), dim.labels.len())).collect();
            let coords = variable.dims.iter().map(|dim| (dim.name.clone(), dim.labels.clone()));
            posterior.insert(&variable.name, array(&axes, Values::F64(values)));
            posterior.coords.extend(coords.clone());
            if let Role::Parameter { offset, .. } = variable.role
                && offset + variable.len() <= dim
            {
                let own = positions.chunks_exact(dim).flat_map(|row| &row[offset..offset + variable.len()]);
                unconstrained.insert(&variable.name, array(&axes, Values::F64(own.copied().collect())));
                unconstrained.coords.extend(coords);
            }
        }
        let mut of_draws = Dataset { attrs: attributes(record), ..Dataset::default() };
        for ((name, _), values) in STATS.iter().zip(stats) {
            of_draws.insert(*name, array(&[], values));
        }
        data.insert(format!("{prefix}posterior"), posterior);
        data.insert(format!("{prefix}unconstrained_posterior"), unconstrained);
        data.insert(format!("{prefix}sample_stats"), of_draws);
    }
}

/// Returns the values of each variable at positions, which come in rows of the density's dimension.
fn expanded<'a>(density: &dyn LogDensity, parts: impl Iterator<Item = &'a [f64]>) -> Vec<Vec<f64>> {
    let layout = density.layout();
    let mut columns = vec![Vec::new(); layout.variables.len()];
    let mut values = vec![0.0; layout.width()];
    for position in parts.flat_map(|positions| positions.chunks_exact(density.dim())) {
        density.expand(position, &mut values);
        for ((_, range), column) in layout.ranges().zip(&mut columns) {
            column.extend_from_slice(&values[range]);
        }
    }
    columns
}

/// Returns the attributes that ArviZ gives a group, and the model's name.
fn attributes(record: &RunRecord) -> indexmap::IndexMap<String, Attribute> {
    let limit = i64::try_from(record.sampler.tune).unwrap_or(i64::MAX);
    // Warm-up may end before its limit.
    let tune = record.adaptation.get("iterations").and_then(toml::Value::as_integer).unwrap_or(limit);
    [
        ("created_at", Attribute::from(record.created.as_str())),
        ("inference_library", Attribute::from("octopus")),
        ("inference_library_version", Attribute::from(record.octopus.as_str())),
        ("sampling_time", Attribute::F64(record.timing.sampling_s)),
        ("tuning_steps", Attribute::I64(tune)),
        ("modeling_interface", Attribute::from("octopus")),
        ("model_name", Attribute::from(record.model.name.as_str())),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
