//! Starting values of parameters in a file.

use super::{TRIES, has_density};
use crate::TraceError;
use octopus_bind::Data;
use octopus_models::{BuildError, Problem};
use octopus_sampler::{SamplerConfig, jittered};
use std::path::Path;

/// Returns a starting point for each chain of warm-up, from a file of values of parameters. Parameters without a value start
/// around the density's center, several times if need be.
pub(super) fn of_file(problem: &dyn Problem, config: &SamplerConfig, path: &Path) -> Result<Vec<Vec<f64>>, TraceError> {
    let sets = Data::read_sets(path).map_err(|error| BuildError::StartingValues(error.to_string()))?;
    let (given, chains) = (sets.len(), config.first_chains());
    if given == 0 || given > 1 && given != chains {
        let what = format!(
            "{}: it has {given} objects of values, and {chains} chains start: give one for all, or one for each",
            path.display()
        );
        return Err(BuildError::StartingValues(what).into());
    }
    let density = problem.density();
    let center = density.center().unwrap_or_else(|| vec![0.0; density.dim()]);
    let mut told = String::new();
    let of_chain = |(chain, values): (usize, &Data)| {
        let first = problem.position_of(values, &center)?;
        if first.missing.is_empty() {
            return Ok(first.position);
        }
        let missing = first.missing.join(", ");
        if told != missing {
            tracing::info!("{}: without a value, and started by jitter: {missing}", values.source());
            told = missing;
        }
        let mut position = first.position;
        for number in 0..TRIES {
            position = problem.position_of(values, &jittered(density, config, chain, number))?.position;
            if has_density(density, &position) {
                break;
            }
        }
        // Where no point has a density, the sampler says what is wrong with the last one.
        Ok(position)
    };
    sets.iter().cycle().take(chains).enumerate().map(of_chain).collect()
}
