//! Data, priors, centerings and positions to try.

use octopus_density::{Centering, GroupedData, Labels, LogDensity, to_centered};
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_random::{Purpose, Stream};

/// Below, at and above every boundary of the virtual warp: a row of 32 lanes, the change to 128 lanes at 256
/// coordinates (253 groups), several rows.
pub(crate) const GROUPS: [usize; 11] = [1, 2, 7, 31, 32, 33, 100, 253, 254, 500, 1000];

pub(crate) const BOTH: [Likelihood; 2] = [Likelihood::Collapsed, Likelihood::Pointwise];

/// Groups of `size(j)` observations about means of their own.
pub(crate) fn data(groups: usize, size: impl Fn(usize) -> usize) -> GroupedData {
    let mut random = Stream::new(17, groups as u32, 0, Purpose::User);
    let (mut group, mut values) = (Vec::new(), Vec::new());
    for j in 0..groups {
        let mean = 50.0 + 10.0 * random.normal();
        for _ in 0..size(j) {
            group.push(j);
            values.push(mean + 2.0 * random.normal());
        }
    }
    GroupedData::new(Labels::Range(groups), &group, &values).expect("valid")
}

/// 10 observations in each group, and 1 to 30; in few groups also so many that some are summed in tiles of 2048: a
/// part of a tile, two whole ones, two and a part.
pub(crate) fn shapes(groups: usize) -> Vec<(&'static str, GroupedData)> {
    let mut shapes = vec![("balanced", data(groups, |_| 10)), ("ragged", data(groups, |j| 1 + (j * 7 + j / 5) % 30))];
    if groups <= 33 {
        shapes.push(("large", data(groups, |j| [300, 3, 4133, 256, 257, 4096][j % 6])));
    }
    shapes
}

pub(crate) const CENTERINGS: [Centering; 3] = [Centering::NonCentered, Centering::Centered, Centering::Standardised];

pub(crate) const PRIORS: [HierarchicalPrior; 2] = [
    HierarchicalPrior { mu_mean: 50.0, mu_sd: 20.0, sigma_pop_scale: 15.0, sigma_obs_scale: 5.0 },
    HierarchicalPrior { mu_mean: -3.0, mu_sd: 70.0, sigma_pop_scale: 2.5, sigma_obs_scale: 0.7 },
];

pub(crate) fn model(data: &GroupedData, prior: HierarchicalPrior, likelihood: Likelihood) -> HierarchicalNormal {
    HierarchicalNormal::new(data.clone(), prior, likelihood).expect("valid")
}

/// A plausible position in non-centered coordinates.
pub(crate) fn position(groups: usize, number: u32) -> Vec<f64> {
    let mut random = Stream::new(23, groups as u32, number, Purpose::User);
    let mut position: Vec<f64> = (0..groups).map(|_| random.normal()).collect();
    position.push(50.0 + 5.0 * random.normal());
    position.push(2.0 + 0.5 * random.normal());
    position.push(0.7 + 0.3 * random.normal());
    position
}

/// A plausible position in the coordinates of `centering`: standardised effects are standard normal given the data, as
/// non-centered ones are without them, and so is the location; the noise is near what the data say.
pub(crate) fn position_in(model: &HierarchicalNormal, centering: Centering, number: u32) -> Vec<f64> {
    let groups = model.dim() - 3;
    let mut position = position(groups, number);
    match centering {
        Centering::NonCentered => {}
        Centering::Centered => to_centered(model.hierarchies(), &[centering], &mut position),
        Centering::Standardised => {
            let [mu, log_pop, log_obs] = [0, 1, 2].map(|k| position[groups + k]);
            position[groups..].copy_from_slice(&[(mu - 50.0) / 5.0, log_pop - log_obs, log_obs - 0.7]);
        }
    }
    position
}
