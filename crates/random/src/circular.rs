//! Distributions of angles and directions: log densities, distribution functions, quantiles and entropies.
//!
//! | you want | use |
//! |--|--|
//! | the von Mises distribution's log density | [`von_mises_log_density`] |
//! | its lower and upper tail | [`von_mises_cdf`], [`von_mises_survival`] |
//! | its mass between the mean direction and an angle | [`von_mises_mass_from_loc`] |
//! | its quantiles | [`von_mises_quantile`] |
//! | its entropy and its moments | [`von_mises_entropy`], [`von_mises_mean_resultant_length`], [`von_mises_circular_variance`] |
//! | the wrapped normal distribution | [`wrapped_normal_log_density`], [`wrapped_normal_cdf`], [`wrapped_normal_survival`] |
//! | the von Mises-Fisher distribution on a sphere | [`von_mises_fisher_log_normalizer`], [`von_mises_fisher_log_normalizer_scaled`], [`von_mises_fisher_mean_resultant_length`] |
//!
//! Angles are in radians. A log density has the period 2 pi. Distribution functions are of the angle that lies
//! within pi of `loc`: they are 0 below `loc - pi` and 1 above `loc + pi`. At `loc = 0` they are SciPy's
//! `vonmises.cdf` from -pi to pi.
//!
//! The real number pi is no `f64`: [`PI`](std::f64::consts::PI) is 1.2e-16 below it, and the lower tail at `-PI` is not
//! 0 but the density times 1.2e-16. Differences from pi are computed in two parts, so that tails close to the antipode
//! of `loc` have their own relative accuracy.
//!
//! NaN in gives NaN out, and so do a negative concentration or scale, a `loc` that is infinite, and a probability
//! outside of 0 to 1. Nothing panics. An infinite concentration, or a scale of 0, is the point mass at `loc`: the
//! density is infinite there and 0 elsewhere, the distribution function steps from 0 to 1 at `loc`, all quantiles are
//! `loc`, and the entropy is -infinity. A concentration of 0, or an infinite scale, is the uniform distribution.
//!
//! Elementary functions come from the crate `libm`, which is Rust on every platform: none of the bits here depends on
//! the C library. A GPU has other bits.

mod angle;
mod quadrature;
mod quantile;
mod von_mises;
mod von_mises_fisher;
mod wrapped_normal;

pub use quantile::von_mises_quantile;
pub use von_mises::{
    von_mises_cdf, von_mises_circular_variance, von_mises_entropy, von_mises_log_density, von_mises_mass_from_loc,
    von_mises_mean_resultant_length, von_mises_survival,
};
pub use von_mises_fisher::{
    von_mises_fisher_log_normalizer, von_mises_fisher_log_normalizer_scaled, von_mises_fisher_mean_resultant_length,
};
pub use wrapped_normal::{wrapped_normal_cdf, wrapped_normal_log_density, wrapped_normal_survival};
