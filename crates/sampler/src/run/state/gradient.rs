//! Finite differences at the starting points of a run whose density does not say that its gradient is tested.
//!
//! They take no random number, and about as many evaluations of the density as ten iterations of its chains.

use crate::error::{SamplerError, WrongGradient};
use crate::kernel::Space;
use octopus_density::{DensityError, ValueAndGradient, WrongSlope, check_gradient, coordinate_name};

/// The starting points at which the gradient is checked: each tries the coordinates in other groups.
const POINTS: usize = 4;

/// Checks the gradient at the starting points, which are in the sampler's coordinates.
///
/// # Errors
/// [`SamplerError::Gradient`] when it is wrong, and [`SamplerError::Density`] when the density is broken.
pub(super) fn check_starts<'p>(space: &Space<'_>, starts: impl Iterator<Item = &'p [f64]>) -> Result<(), SamplerError> {
    let density = space.density;
    if density.has_tested_gradient() {
        return Ok(());
    }
    let _span = tracing::debug_span!("check the gradient").entered();
    for (chain, x) in starts.take(POINTS).enumerate() {
        let of_chain = |source| SamplerError::Density { chain, iteration: 0, source };
        let walked = |x: &[f64], gradient: &mut [f64]| space.logp_grad(x, gradient);
        let Some(mut wrong) = first_wrong(&walked, x, chain).map_err(of_chain)? else { continue };
        // A fault is best told where the model's author looks for it.
        let (mut at, own) = (x.to_vec(), |x: &[f64], gradient: &mut [f64]| density.logp_grad(x, gradient));
        space.make_natural(&mut at);
        let natural = first_wrong(&own, &at, chain).map_err(of_chain)?;
        let centered = natural.is_none();
        if let Some(natural) = natural {
            wrong = natural;
        }
        return Err(SamplerError::Gradient(Box::new(WrongGradient {
            density: density.name().to_owned(),
            chain,
            name: coordinate_name(density.layout(), wrong.coordinate),
            position: at,
            centered,
            slope: wrong,
        })));
    }
    Ok(())
}

/// Returns the first slope at `x` that is wrong; where the density has no value there is none.
fn first_wrong(logp_grad: &ValueAndGradient<'_>, x: &[f64], turn: usize) -> Result<Option<WrongSlope>, DensityError> {
    match check_gradient(logp_grad, x, turn as u64) {
        Ok(check) => Ok(check.wrong.into_iter().next()),
        Err(error) if error.is_recoverable() => Ok(None),
        Err(error) => Err(error),
    }
}
