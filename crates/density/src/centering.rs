//! The coordinates of hierarchical blocks.
//!
//! A density is written with non-centered effects `z_j ~ N(0, 1)`, `theta_j = m + s z_j`. Samplers may walk in other
//! coordinates `x_j` of the same effects:
//!
//! ```text
//! non-centered   x_j = z_j
//! centered       x_j = theta_j
//! standardised   x_j = (z_j - E[z_j | m, s, o, y]) / SD[z_j | m, s, o, y]
//! ```
//!
//! Non-centered coordinates suit data that say little about each effect, centered ones data that say much
//! (Papaspiliopoulos, Roberts and Skoeld 2007, Statistical Science 22). Standardised ones suit both, at every place of the
//! posterior: with normal data, which measure `theta_j` as `a_j` with variance `o^2 / p_j`, given the scalars
//!
//! ```text
//! theta_j | m, s, o, y ~ N(m + h_j (a_j - m), s^2 (1 - h_j)),     h_j = p_j s^2 / (o^2 + p_j s^2)
//! ```
//!
//! so that `x_j ~ N(0, 1)` whatever the scalars are: no funnel is left, neither where `s` is small nor where it is large.

use crate::warp::{halve, lanes};
use crate::{DensityError, Hierarchy, Information, LogDensity};
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// The coordinates of one hierarchical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centering {
    /// The density's own: `x_j = z_j`.
    NonCentered,
    /// The effects themselves: `x_j = m + s z_j`.
    Centered,
    /// The effects in units of their conditional distribution. A block without [`Information`] of all its effects has none:
    /// they are non-centered then.
    Standardised,
}

impl Centering {
    /// The lambda of `x_j = s^lambda z_j + lambda m`; `None` for standardised coordinates.
    pub fn lambda(self) -> Option<f64> {
        match self {
            Self::NonCentered => Some(0.0),
            Self::Centered => Some(1.0),
            Self::Standardised => None,
        }
    }

    /// What there is of it for a block: standardised coordinates need its information.
    fn of(self, block: &Hierarchy) -> Of<'_> {
        match (self, block.information_of_all()) {
            (Self::NonCentered, _) | (Self::Standardised, None) => Of::NonCentered,
            (Self::Centered, _) => Of::Centered,
            (Self::Standardised, Some(information)) => Of::Standardised(information),
        }
    }
}

/// A centering with what it needs.
enum Of<'a> {
    NonCentered,
    Centered,
    Standardised(&'a Information),
}

/// The scalars of a block at a place, from which the coordinates of all its effects follow. Operations and their order are
/// those of the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standard {
    /// The location less the information's origin.
    pub(crate) shift: f64,
    /// s / o^2
    pub(crate) gain: f64,
    /// s^2 / o^2
    pub(crate) ratio: f64,
}

/// One effect's coordinates: `z = push (a - shift) + width x`.
struct Effect {
    /// 1 - h
    inverse: f64,
    width: f64,
    /// push (a - shift): the conditional mean of z.
    drawn: f64,
    push: f64,
}

impl Standard {
    /// At a scale, with `weight` 1 / o^2.
    #[inline(always)]
    pub(crate) fn new(shift: f64, scale: f64, weight: f64) -> Self {
        let gain = scale * weight;
        Self { shift, gain, ratio: scale * gain }
    }

    fn at(block: &Hierarchy, information: &Information, position: &[f64]) -> Self {
        let scale = exact::exp(position[block.log_scale]);
        let weight = match information.log_noise() {
            Some(noise) => {
                let noise = exact::exp(position[noise]);
                1.0 / (noise * noise)
            }
            None => 1.0,
        };
        Self::new(position[block.location] - information.origin(), scale, weight)
    }

    fn effect(&self, mean: f64, precision: f64) -> Effect {
        let inverse = 1.0 / (1.0 + precision * self.ratio);
        let push = (precision * self.gain) * inverse;
        Effect { inverse, width: inverse.sqrt(), drawn: push * (mean - self.shift), push }
    }

    /// All effects of a block.
    fn effects<'a>(&'a self, information: &'a Information) -> impl Iterator<Item = Effect> + 'a {
        information.mean().iter().zip(information.precision()).map(|(&mean, &precision)| self.effect(mean, precision))
    }

    /// The sums over all effects of h_j and of `ln(1 + p_j s^2 / o^2)`, for vectors of `dim` coordinates.
    #[inline(always)]
    pub(crate) fn shares_and_logs(&self, information: &Information, dim: usize) -> [f64; 2] {
        let (values, times) = information.distinct();
        if let (&[value], &[times]) = (values, times) {
            return self.share_and_log(value, times);
        }
        match lanes(dim) {
            32 => self.sum_of_shares_and_logs::<32>(values, times),
            _ => self.sum_of_shares_and_logs::<128>(values, times),
        }
    }

    #[inline(always)]
    fn share_and_log(&self, value: f64, times: f64) -> [f64; 2] {
        let d = 1.0 + value * self.ratio;
        [times * (1.0 - 1.0 / d), times * exact::ln(d)]
    }

    fn sum_of_shares_and_logs<const L: usize>(&self, values: &[f64], times: &[f64]) -> [f64; 2] {
        let mut parts = [[0.0; L]; 2];
        for (k, (&value, &times)) in values.iter().zip(times).enumerate() {
            let [share, log] = self.share_and_log(value, times);
            parts[0][k % L] += share;
            parts[1][k % L] += log;
        }
        parts.map(halve)
    }
}

/// From the density's own coordinates to those of `centerings`, in place.
pub fn to_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        match centering.of(block) {
            Of::NonCentered => {}
            Of::Centered => {
                let scale = exact::exp(log_scale);
                position[block.z.clone()].iter_mut().for_each(|x| *x = scale * *x + location);
            }
            Of::Standardised(information) => {
                let standard = Standard::at(block, information, position);
                for (x, effect) in position[block.z.clone()].iter_mut().zip(standard.effects(information)) {
                    *x = (*x - effect.drawn) / effect.width;
                }
            }
        }
    }
}

/// From the coordinates of `centerings` to the density's own, in place.
pub fn to_non_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        match centering.of(block) {
            Of::NonCentered => {}
            Of::Centered => {
                let slope = exact::exp(-log_scale);
                position[block.z.clone()].iter_mut().for_each(|x| *x = slope * (*x - location));
            }
            Of::Standardised(information) => {
                let standard = Standard::at(block, information, position);
                for (x, effect) in position[block.z.clone()].iter_mut().zip(standard.effects(information)) {
                    *x = effect.drawn + effect.width * *x;
                }
            }
        }
    }
}

/// The log-Jacobian of the way from the coordinates of `centerings` to the density's own, at a position (in either).
pub fn log_jacobian(hierarchies: &[Hierarchy], centerings: &[Centering], position: &[f64]) -> f64 {
    let of_block = |(block, centering): (&Hierarchy, &Centering)| match centering.of(block) {
        Of::NonCentered => 0.0,
        Of::Centered => -(block.z.len() as f64) * position[block.log_scale],
        Of::Standardised(information) => {
            let [_, logs] = Standard::at(block, information, position).shares_and_logs(information, position.len());
            -0.5 * logs
        }
    };
    hierarchies.iter().zip(centerings).map(of_block).sum()
}

/// The gradient in the coordinates of `centerings`, in place, given the non-centered `position` and the `gradient` there.
pub fn gradient_to_centered(
    hierarchies: &[Hierarchy],
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        match centering.of(block) {
            Of::NonCentered => {}
            Of::Centered => {
                let slope = exact::exp(-position[block.log_scale]);
                let (mut location_part, mut scale_part) = (0.0, 0.0);
                for i in block.z.clone() {
                    // dz/dx = 1/s, dz/dm = -1/s, dz/d(log s) = -z.
                    location_part += slope * gradient[i];
                    scale_part += position[i] * gradient[i];
                    gradient[i] *= slope;
                }
                gradient[block.location] -= location_part;
                gradient[block.log_scale] -= scale_part + block.z.len() as f64;
            }
            Of::Standardised(information) => gradient_to_standardised(block, information, position, gradient),
        }
    }
}

/// With h = 1 - inverse, z = drawn + own: dz/dx = width, dz/dm = -push, dz/d(log s) = drawn - h (drawn + z) and
/// dz/d(log o) = own - inverse (drawn + z). The log-Jacobian is the sum of the logarithms of the widths, of which the
/// derivatives by log s and log o are -h and h.
fn gradient_to_standardised(block: &Hierarchy, information: &Information, position: &[f64], gradient: &mut [f64]) {
    let standard = Standard::at(block, information, position);
    let (mut location_part, mut scale_part, mut noise_part, mut shares) = (0.0, 0.0, 0.0, 0.0);
    for (i, Effect { inverse, width, drawn, push }) in block.z.clone().zip(standard.effects(information)) {
        let z = position[i];
        let slope = gradient[i];
        let own = z - drawn;
        let both = drawn + z;
        let share = 1.0 - inverse;
        location_part += slope * push;
        scale_part += slope * (drawn - share * both);
        noise_part += slope * (own - inverse * both);
        shares += share;
        gradient[i] = slope * width;
    }
    gradient[block.location] -= location_part;
    gradient[block.log_scale] += scale_part - shares;
    if let Some(noise) = information.log_noise() {
        gradient[noise] += noise_part + shares;
    }
}

/// [`LogDensity::logp_grad_centered`] for any density, by the chain rule around [`LogDensity::logp_grad`].
pub(crate) fn logp_grad_by_chain_rule<D: LogDensity + ?Sized>(
    density: &D,
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) -> Result<f64, DensityError> {
    let blocks = density.hierarchies();
    let mut natural = position.to_vec();
    to_non_centered(blocks, centerings, &mut natural);
    let logp = density.logp_grad(&natural, gradient)?;
    gradient_to_centered(blocks, centerings, &natural, gradient);
    Ok(logp + log_jacobian(blocks, centerings, &natural))
}
