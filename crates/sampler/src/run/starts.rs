//! Where chains start, unless they start around the density's center.

use crate::config::SamplerConfig;
use crate::error::SamplerError;
use crate::kernel::Space;
use crate::population::starts_on_paths;
use octopus_density::coordinate_name;

/// A point in the sampler's coordinates, and the gradient there.
type PointAndGradient = (Vec<f64>, Vec<f64>);

/// Where the chains of a run start.
#[derive(Clone, Debug, PartialEq)]
pub enum Starts {
    /// Each chain starts at a draw of the normal of a [Pathfinder](crate::pathfinder) path of its own. A path that ends far
    /// below the best one gives its place to another draw of that one.
    Pathfinder,
    /// Chain `k` starts at point `k`, or where there are fewer points at `k` modulo their number, in the density's own
    /// coordinates.
    Points(Vec<Vec<f64>>),
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
            Self::Points(points) => points.iter().cycle().take(chains).cloned().collect(),
        };
        if points.len() < chains {
            return Err(SamplerError::Start { chain: 0, what: "no point is given".to_owned() });
        }
        points.into_iter().enumerate().map(|(chain, point)| evaluated(space, chain, point)).collect()
    }
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
    space.take_natural(&mut x);
    let mut gradient = vec![0.0; space.dim];
    match space.logp_grad(&x, &mut gradient) {
        Ok(_) => {}
        Err(error) if error.is_recoverable() => return Err(bad(error.to_string())),
        Err(source) => return Err(SamplerError::Density { chain, iteration: 0, source }),
    }
    if let Some(at) = gradient.iter().position(|slope| !slope.is_finite()) {
        return Err(bad(format!("the slope of the log density by {} is {}", name(at), gradient[at])));
    }
    Ok((x, gradient))
}
