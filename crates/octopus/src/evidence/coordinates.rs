//! The coordinates in which a posterior is compared with a normal distribution: a hierarchy's effects may have any, which
//! changes the evidence by nothing and its error by much.

use octopus_density::{Centering, DensityEffects, DensityError, EffectCoordinates, LogDensity, to_centered};

/// Draws that are looked at to learn what the data say of effects, at the most.
const LOOKS: usize = 64;

/// Coordinates of a density.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BridgeCoordinates {
    /// The density's own.
    Own,
    /// Others of its hierarchies.
    Hierarchies(Vec<Centering>),
    /// Others of its effects.
    Effects(EffectCoordinates),
}

impl BridgeCoordinates {
    /// Returns those that are worth a try, for `draws` in the density's own coordinates.
    pub(super) fn candidates(density: &dyn LogDensity, draws: &[f64]) -> Result<Vec<Self>, DensityError> {
        let mut all = vec![Self::Own];
        let hierarchies = density.hierarchies();
        if !hierarchies.is_empty() {
            let of = |centering: Centering| Self::Hierarchies(vec![centering; hierarchies.len()]);
            all.push(of(Centering::Centered));
            if hierarchies.iter().all(octopus_density::Hierarchy::is_informed) {
                all.push(of(Centering::Standardised));
            }
        }
        if let Some(effects) = density.effects() {
            let count = effects.blocks().iter().map(|block| block.coordinates.len()).sum();
            let mut centered = EffectCoordinates::natural(count);
            let mut first = 0;
            for block in effects.blocks() {
                let range = first..first + block.coordinates.len();
                first = range.end;
                if !block.is_plain {
                    centered.center(range);
                }
            }
            all.push(Self::Effects(centered));
            all.extend(learned(effects, draws, density.dim(), count)?.map(Self::Effects));
        }
        Ok(all)
    }

    /// Converts a point from the density's own coordinates to these.
    pub(super) fn take(&self, density: &dyn LogDensity, x: &mut [f64]) {
        match (self, density.effects()) {
            (Self::Hierarchies(centerings), _) => to_centered(density.hierarchies(), centerings, x),
            (Self::Effects(own), Some(effects)) => effects.take_natural(own, x),
            _ => {}
        }
    }

    /// Returns the log density in these coordinates; minus infinity where it vanishes.
    pub(super) fn value(&self, density: &dyn LogDensity, x: &[f64]) -> Result<f64, DensityError> {
        let mut slopes = vec![0.0; x.len()];
        let value = match (self, density.effects()) {
            (Self::Hierarchies(centerings), _) => density.logp_grad_centered(centerings, x, &mut slopes),
            (Self::Effects(own), Some(effects)) => effects.logp_grad_in(own, x, &mut slopes),
            _ => density.logp_grad(x, &mut slopes),
        };
        match value {
            Err(error) if error.is_recoverable() => Ok(f64::NEG_INFINITY),
            value => value,
        }
    }
}

/// The coordinates in which effects are standard normal where the likelihood of each is normal: the slope of the likelihood
/// falls with the effect by its precision, and is 0 where the data put the effect. None where no effect is told of.
fn learned(
    effects: &dyn DensityEffects,
    draws: &[f64],
    dim: usize,
    count: usize,
) -> Result<Option<EffectCoordinates>, DensityError> {
    let stride = (draws.len() / dim).div_ceil(LOOKS).max(1);
    let places: Vec<usize> = effects.blocks().iter().flat_map(|block| block.coordinates.clone()).collect();
    let (mut values, mut slopes) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    let mut gradient = vec![0.0; dim];
    for x in draws.chunks_exact(dim).step_by(stride) {
        let mut position = x.to_vec();
        let (own, _) = effects.values(x);
        places.iter().zip(&own).for_each(|(&at, &value)| position[at] = value);
        match effects.likelihood_grad(&position, &mut gradient) {
            Err(error) if error.is_recoverable() => continue,
            result => result?,
        };
        for (j, &at) in places.iter().enumerate() {
            values[j].push(own[j]);
            slopes[j].push(gradient[at]);
        }
    }
    let mut coordinates = EffectCoordinates::natural(count);
    let is_plain =
        effects.blocks().iter().flat_map(|block| std::iter::repeat_n(block.is_plain, block.coordinates.len()));
    let mut is_told = false;
    for (j, is_plain) in is_plain.enumerate() {
        let (mean, slope) = (mean(&values[j]), mean(&slopes[j]));
        let products = values[j].iter().zip(&slopes[j]).map(|(x, y)| (x - mean) * (y - slope)).sum::<f64>();
        let precision = -products / values[j].iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        if !is_plain && precision > 0.0 && precision.is_finite() {
            is_told = true;
            coordinates.tops[j] = mean + slope / precision;
            coordinates.precisions[j] = precision;
            coordinates.links[j] = 1.0;
        }
    }
    Ok(is_told.then_some(coordinates))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
