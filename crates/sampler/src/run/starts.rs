//! Where chains start, unless they start around the density's center.

use crate::adapt::centerings;
use crate::config::SamplerConfig;
use crate::error::SamplerError;
use crate::kernel::{Address, Space};
use crate::population::starts_on_paths;
use octopus_density::{LogDensity, coordinate_name};
use octopus_random::{Purpose, Stream};

/// A point in the sampler's coordinates, and the gradient there.
pub(crate) type PointAndGradient = (Vec<f64>, Vec<f64>);

/// Where the chains of a run start.
#[derive(Clone, Debug, PartialEq)]
pub enum Starts {
    /// Each chain starts at a draw of the normal of a [Pathfinder](crate::pathfinder) path of its own. A path that ends far
    /// below the best one gives its place to another draw of that one.
    Pathfinder,
    /// Chain `k` starts at point `k`, or where there are fewer points at `k` modulo their number, in the density's own
    /// coordinates.
    Points(Vec<Vec<f64>>),
    /// As at points, with what draws of the same posterior, or of one like it, tell warm-up.
    Warm(WarmStart),
}

/// What a run takes over from draws of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {
    /// The starting points, as [`Starts::Points`] has them.
    pub points: Vec<Vec<f64>>,
    /// Draws in the density's own coordinates, row-major: the run begins in the coordinates and with the metric that warm-up
    /// would learn from them. With fewer than 10 it begins as any other.
    pub draws: Vec<f64>,
    /// A step size from which each chain searches its first one; `None` for 1.
    pub step_size: Option<f64>,
}

impl Starts {
    /// Returns the starting points of the first `chains` chains in the sampler's coordinates, with the gradients there.
    ///
    /// # Errors
    /// When there is no point, or the density has no value or no gradient at one; the error names the coordinate.
    pub(super) fn points(
        &self,
        space: &Space<'_>,
        config: &SamplerConfig,
        chains: usize,
    ) -> Result<Vec<PointAndGradient>, SamplerError> {
        let points = match self {
            Self::Pathfinder => starts_on_paths(space.density, config.seed, chains)?,
            Self::Points(points) | Self::Warm(WarmStart { points, .. }) => {
                points.iter().cycle().take(chains).cloned().collect()
            }
        };
        if points.len() < chains {
            return Err(SamplerError::Start { chain: 0, what: "no point is given".to_owned() });
        }
        points.into_iter().enumerate().map(|(chain, point)| evaluated(space, chain, point)).collect()
    }
}

/// Returns a point around the density's center, in its own coordinates: the `number`-th one of a chain whose start is
/// partly known. It need not have a density.
pub fn jittered(density: &dyn LogDensity, config: &SamplerConfig, chain: usize, number: u32) -> Vec<f64> {
    let space = Space::new(density, centerings(density, config.parameterization));
    // The first iteration's numbers are those of chains of which nothing is known.
    let address = Address { seed: config.seed, chain: chain as u32, iteration: number + 1 };
    let mut x = jittered_start(&space, config.init_radius, &mut address.stream(Purpose::Init));
    space.make_natural(&mut x);
    x
}

/// Returns a random point within `radius` of the density's center, in its units, in the sampler's coordinates.
pub(super) fn jittered_start(space: &Space<'_>, radius: f64, random: &mut Stream) -> Vec<f64> {
    let dim = space.dim;
    let center = space.density.center().unwrap_or_else(|| vec![0.0; dim]);
    let scale = space.density.init_scale().unwrap_or_else(|| vec![1.0; dim]);
    let jitter: Vec<f64> = (0..dim).map(|_| radius * (2.0 * random.uniform() - 1.0)).collect();
    let from_center = center.iter().zip(&scale).zip(&jitter);
    let mut x: Vec<f64> = from_center.map(|((center, scale), jitter)| center + scale * jitter).collect();
    space.make_start(&mut x, &jitter);
    x
}

/// Returns what a density says of a point where it has no value, behind a colon.
pub(super) fn because(faults: &[String]) -> String {
    if faults.is_empty() { String::new() } else { format!(": {}", faults.join("; ")) }
}

/// Takes a point to the sampler's coordinates, and returns it with the gradient there.
fn evaluated(space: &Space<'_>, chain: usize, mut x: Vec<f64>) -> Result<PointAndGradient, SamplerError> {
    let bad = |what: String| SamplerError::Start { chain, what };
    if x.len() != space.dim {
        return Err(bad(format!("the point has {} coordinates, and the density {}", x.len(), space.dim)));
    }
    let name = |coordinate: usize| coordinate_name(space.density.layout(), coordinate);
    if let Some(at) = x.iter().position(|x| !x.is_finite()) {
        return Err(bad(format!("{} is {}", name(at), x[at])));
    }
    let natural = x.clone();
    space.take_natural(&mut x);
    let mut gradient = vec![0.0; space.dim];
    match space.logp_grad(&x, &mut gradient) {
        Ok(_) => {}
        Err(error) if error.is_recoverable() => {
            return Err(bad(error.to_string() + &because(&space.density.faults(&natural))));
        }
        Err(source) => return Err(SamplerError::Density { chain, iteration: 0, source }),
    }
    if let Some(at) = gradient.iter().position(|slope| !slope.is_finite()) {
        return Err(bad(format!("the slope of the log density by {} is {}", name(at), gradient[at])));
    }
    Ok((x, gradient))
}
