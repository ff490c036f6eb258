//! All draws of one phase in memory, and ArviZ's groups of them.
//!
//! The attributes that ArviZ gives a group (version, created_at, the model's name) are made here, for every export.

use crate::RunRecord;
use crate::columns::{UNCONSTRAINED, values};
use octopus_density::{DensityError, DrawAddress, Labels, Layout, LogDensity, Role, Variable};
use octopus_sampler::{Block, ChainBlock, Phase, SamplerConfig};
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use rayon::prelude::*;

/// The axis of positions of which no parameter has a name for each coordinate.
const COORDINATE: &str = "coordinate";

/// All draws of one phase, chain after chain.
pub(crate) struct Draws {
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    /// The values of each variable of the layout.
    pub(crate) variables: Vec<Vec<f64>>,
    /// The positions, of `dim` coordinates each.
    pub(crate) positions: Vec<f64>,
    pub(crate) dim: usize,
    /// The statistics that the sampler reports.
    pub(crate) stats: Vec<(&'static str, Values)>,
}

impl Draws {
    /// Puts the draws of blocks after warm-up together.
    pub(crate) fn of_blocks(
        density: &dyn LogDensity,
        blocks: &[Block],
        config: &SamplerConfig,
    ) -> Result<Self, DensityError> {
        let (chains, draws) = shape(blocks);
        let stats: Vec<_> = parts(blocks).flat_map(|part| part.stats.iter().cloned()).collect();
        Ok(Self {
            chains,
            draws,
            variables: expanded(density, positions(blocks), Some((config.seed, draws)))?,
            positions: positions(blocks).flatten().copied().collect(),
            dim: density.dim(),
            stats: config.algorithm.statistics().map(|(name, read)| (name, values(read, &stats))).collect(),
        })
    }

    /// Adds the groups of the draws; of warm-up their names begin with `warmup_`.
    pub(crate) fn add_groups(self, record: &RunRecord, phase: Phase, data: &mut InferenceData) {
        let Self { chains, draws, variables, positions, dim, stats } = self;
        let array = |axes: &[(&str, usize)], values: Values| {
            Array::new([("chain", chains), ("draw", draws)].into_iter().chain(axes.iter().copied()), values)
        };
        let prefix = if phase == Phase::Warmup { "warmup_" } else { "" };
        let posterior = Dataset { attrs: attributes(record), ..posterior(&record.layout, chains, draws, variables) };
        let mut unconstrained = Dataset { attrs: attributes(record), ..Dataset::default() };
        for variable in &record.layout.variables {
            let (axes, coords) = (axes(variable), coords(variable));
            if let Role::Parameter { offset, .. } = variable.role
                && offset + variable.len() <= dim
            {
                let own = positions.chunks_exact(dim).flat_map(|row| &row[offset..offset + variable.len()]);
                unconstrained.insert(&variable.name, array(&axes, Values::F64(own.copied().collect())));
                unconstrained.coords.extend(coords);
            }
        }
        // Where parameters do not name each coordinate, the positions stand as they are.
        if unconstrained.variables.values().map(|array| array.elements(2)).sum::<usize>() < dim {
            unconstrained = Dataset { attrs: attributes(record), ..Dataset::default() };
            unconstrained.coords.insert(COORDINATE.into(), Labels::Range(dim));
            unconstrained.insert(UNCONSTRAINED, array(&[(COORDINATE, dim)], Values::F64(positions)));
        }
        let mut of_draws = Dataset { attrs: attributes(record), ..Dataset::default() };
        for (name, values) in stats {
            of_draws.insert(name, array(&[], values));
        }
        data.insert(format!("{prefix}posterior"), posterior);
        data.insert(format!("{prefix}unconstrained_posterior"), unconstrained);
        data.insert(format!("{prefix}sample_stats"), of_draws);
    }
}

/// Returns the number of chains of blocks, and of draws of each.
pub(crate) fn shape(blocks: &[Block]) -> (usize, usize) {
    (blocks.first().map_or(0, |block| block.chains.len()), blocks.iter().map(|block| block.draws).sum())
}

/// Returns the parts of blocks, chain after chain.
fn parts(blocks: &[Block]) -> impl Iterator<Item = &ChainBlock> {
    (0..shape(blocks).0).flat_map(move |chain| blocks.iter().map(move |block| &block.chains[chain]))
}

/// Returns the positions of blocks, chain after chain.
pub(crate) fn positions(blocks: &[Block]) -> impl Iterator<Item = &[f64]> {
    parts(blocks).map(|part| part.positions.as_slice())
}

/// Returns the variables of a layout as a group; `values` has those of each variable, chain after chain.
pub(crate) fn posterior(layout: &Layout, chains: usize, draws: usize, values: Vec<Vec<f64>>) -> Dataset {
    let mut group = Dataset::default();
    for (variable, values) in layout.variables.iter().zip(values) {
        let axes = [("chain", chains), ("draw", draws)].into_iter().chain(axes(variable));
        group.insert(&variable.name, Array::new(axes, Values::F64(values)));
        group.coords.extend(coords(variable));
    }
    group
}

/// Returns the axes of a variable, each with its length.
fn axes(variable: &Variable) -> Vec<(&str, usize)> {
    variable.dims.iter().map(|dim| (dim.name.as_str(), dim.labels.len())).collect()
}

/// Returns the axes of a variable, each with its labels.
fn coords(variable: &Variable) -> impl Iterator<Item = (String, Labels)> {
    variable.dims.iter().map(|dim| (dim.name.clone(), dim.labels.clone()))
}

/// Returns the values of each variable at positions, which come in rows of the density's dimension, chain after chain. With
/// a seed, and the number of draws of a chain, they are the draws of a run.
pub(crate) fn expanded<'a>(
    density: &dyn LogDensity,
    parts: impl Iterator<Item = &'a [f64]>,
    run: Option<(u64, usize)>,
) -> Result<Vec<Vec<f64>>, DensityError> {
    let address = |row: usize| {
        let (seed, draws) = run?;
        Some(DrawAddress { seed, chain: (row / draws.max(1)) as u32, draw: (row % draws.max(1)) as u32 })
    };
    let rows = parts.flat_map(|positions| positions.chunks_exact(density.dim())).enumerate();
    let draws: Vec<_> = rows.map(|(row, position)| (position, address(row))).collect();
    let mut columns = vec![Vec::new(); density.layout().variables.len()];
    expand_all(density, &draws, &mut columns)?;
    Ok(columns)
}

/// Numbers that are expanded before they go to their columns.
const BATCH: usize = 1 << 20;
/// Numbers that one thread expands before it looks for more work.
const SHARE: usize = 1 << 12;

/// Adds the values of each variable at many draws to the variables' columns. All threads of rayon's pool take part; no bit
/// depends on their number.
pub(crate) fn expand_all(
    density: &dyn LogDensity,
    draws: &[(&[f64], Option<DrawAddress>)],
    columns: &mut [Vec<f64>],
) -> Result<(), DensityError> {
    let layout = density.layout();
    let width = layout.width();
    if width == 0 {
        return Ok(());
    }
    let mut values = Vec::new();
    for batch in draws.chunks((BATCH / width).max(1)) {
        values.resize(batch.len() * width, 0.0);
        let rows = values.par_chunks_mut(width).zip(batch).with_min_len((SHARE / width).max(1));
        rows.try_for_each(|(out, (position, address))| match address {
            Some(address) => density.expand_draw(position, *address, out),
            None => {
                density.expand(position, out);
                Ok(())
            }
        })?;
        for ((_, range), column) in layout.ranges().zip(&mut *columns) {
            column.extend(values.chunks_exact(width).flat_map(|row| &row[range.clone()]));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelRecord;
    use octopus_density::Transform;
    use octopus_sampler::SamplerConfig;

    /// Two chains of three draws of two coordinates.
    fn positions_of(roles: &[Role]) -> InferenceData {
        let variable = |(at, role): (usize, &Role)| Variable { name: format!("v{at}"), dims: vec![], role: *role };
        let layout = Layout { variables: roles.iter().enumerate().map(variable).collect() };
        let draws = Draws {
            chains: 2,
            draws: 3,
            variables: vec![vec![0.0; 6]; roles.len()],
            positions: (0..12).map(f64::from).collect(),
            dim: 2,
            stats: Vec::new(),
        };
        let record = RunRecord::new(ModelRecord::default(), SamplerConfig::default(), layout);
        let mut data = InferenceData::default();
        draws.add_groups(&record, Phase::Sampling, &mut data);
        data
    }

    #[test]
    fn positions_have_the_names_of_parameters_or_one_name() {
        let named = |offset| Role::Parameter { offset, transform: Transform::Identity };
        let group = |roles: &[Role]| positions_of(roles).groups["unconstrained_posterior"].clone();
        let both = group(&[named(0), Role::Derived, named(1)]);
        assert_eq!(both.variables.keys().collect::<Vec<_>>(), ["v0", "v2"]);
        assert_eq!(both.variables["v2"].values, Values::F64(vec![1.0, 3.0, 5.0, 7.0, 9.0, 11.0]));
        for roles in [&[Role::Derived][..], &[named(0), Role::Derived]] {
            let whole = group(roles);
            assert_eq!(whole.variables.keys().collect::<Vec<_>>(), [UNCONSTRAINED]);
            let array = &whole.variables[UNCONSTRAINED];
            assert_eq!((array.shape.clone(), array.values.to_f64()), (vec![2, 3, 2], (0..12).map(f64::from).collect()));
        }
    }
}
