//! The coordinates of hierarchical blocks (centering), with their Jacobians and gradients.
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
//!
//! With standardised effects the sampler walks in other scalars, too. Were all effects measured with the mean precision
//! `p`, with effects integrated out,
//!
//! ```text
//! v = log(s / o)                                          the ratio, of which the data may say little
//! u = log(o / n(v)),   n(v)^2 = within + between / (1 + p s^2 / o^2)
//! x = (m - E[m | s, o, y]) / SD[m | s, o, y]
//! ```
//!
//! where `n(v)` is the most likely noise at that ratio. So `u` is near 0 and as wide at every ratio, and `x ~ N(0, 1)`:
//! the posterior of `s` and `o` may be an L (one observation of each effect: the data know only `s^2 + o^2`) or a funnel
//! of `m` over `s` (few effects), and the posterior of `v`, `u`, `x` is round. Where effects are measured unequally
//! well this holds nearly, and the density is exact in any case.

use crate::warp::{halve, lanes};
use crate::{DensityError, Hierarchy, Information, Kinds, LogDensity, Population};
use octopus_random::exact;
use serde::{Deserialize, Serialize};

/// The coordinates of one hierarchical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centering {
    /// The density's own coordinates: `x_j = z_j`.
    NonCentered,
    /// The effects themselves: `x_j = m + s z_j`.
    Centered,
    /// Effects and scalars in units of their conditional distributions. A block that is not
    /// [informed](Hierarchy::is_informed) is non-centered instead.
    Standardised,
}

impl Centering {
    /// Returns the lambda of `x_j = s^lambda z_j + lambda m`; `None` for standardised coordinates.
    pub fn lambda(self) -> Option<f64> {
        match self {
            Self::NonCentered => Some(0.0),
            Self::Centered => Some(1.0),
            Self::Standardised => None,
        }
    }

    /// Returns the centering as far as `block` can have it: standardised coordinates need the block's information.
    fn possible_in(self, block: &Hierarchy) -> Of<'_> {
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

/// Applies one function to several numbers, so that a vector unit can do them at once.
#[inline(always)]
fn each<const N: usize>(mut x: [f64; N], f: impl Fn(f64) -> f64) -> [f64; N] {
    x.iter_mut().for_each(|x| *x = f(*x));
    x
}

/// Divides several numbers, for the same reason.
#[inline(always)]
fn quotients<const N: usize>(mut x: [f64; N], by: [f64; N]) -> [f64; N] {
    x.iter_mut().zip(by).for_each(|(x, by)| *x /= by);
    x
}

/// The scalars of a block at one place in standardised coordinates, and all numbers that the coordinates compute from
/// them: location `m`, scale `s` and noise `o`. The operations and their order are the same as in the kernels
/// (`kernels/nuts/centering.cuh`).
///
/// A density that evaluates itself in standardised coordinates in one pass
/// ([`LogDensity::logp_grad_centered`]) begins with [`at`](Self::at) and ends with [`slopes`](Self::slopes); others
/// need this type for nothing.
#[derive(Clone, Copy, Debug)]
pub struct StandardisedScalars {
    /// log s
    pub log_scale: f64,
    /// log o, which is 0 where the noise is 1.
    pub log_noise: f64,
    /// s
    pub scale: f64,
    /// o
    pub noise: f64,
    /// 1 / o^2
    pub weight: f64,
    /// s / o^2
    pub gain: f64,
    /// s^2 / o^2
    pub ratio: f64,
    /// The location less the information's origin.
    pub shift: f64,
    /// 1 - h of an effect of the mean precision: 1 / d with d = 1 + p s^2 / o^2.
    pub inverse: f64,
    log_d: f64,
    /// -d log n / d v
    slope: f64,
    /// log n(v)
    log_likely: f64,
    /// The logarithm of 1 / variance of the location given the scales: its log-Jacobian, negative and doubled.
    pub log_precision: f64,
    /// The data's share of what is known of the location, between 0 and 1.
    held: f64,
    /// The location's coordinate: `shift = held center + own`, `own = width x`.
    width: f64,
    own: f64,
}

/// What is left of the effects once they are integrated out: the density of what is measured given the scalars, in which
/// `a_j ~ N(shift, o^2 d_j / p_j)` with `d_j = 1 + p_j s^2 / o^2`, as sums over all effects `j`; `h_j = 1 - 1 / d_j`.
#[derive(Clone, Copy, Debug)]
pub struct IntegratedEffects {
    /// The sum of h_j.
    pub shares: f64,
    /// The sum of ln d_j. It is -2 times the log-Jacobian of the effects' coordinates, and the log-determinant of the
    /// density.
    pub logs: f64,
    /// The sum of p_j / d_j (a_j - shift): o^2 times the derivative of the log density by the location.
    pub pull: f64,
    /// The sum of p_j / d_j (a_j - shift)^2.
    pub squares: f64,
    /// The sum of h_j p_j / d_j (a_j - shift)^2: o^2 times what the data add to the derivative by the logarithm of the
    /// scale, and to that by the logarithm of the noise with the other sign.
    pub drawn: f64,
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

impl StandardisedScalars {
    /// Reads a place in standardised coordinates: those of the location, of the scale (`v`) and of the noise (`u`; 0 where
    /// the noise is 1).
    #[inline(always)]
    pub fn at(information: &Information, [location, v, u]: [f64; 3]) -> Self {
        let [root, factor] = each([v, u], exact::exp);
        let place = Self::without_location(information, root, factor, u);
        let log_noise = u + place.log_likely;
        let own = place.width * location;
        let shift = place.held * information.population().center + own;
        Self { log_noise, log_scale: v + log_noise, own, shift, ..place }
    }

    /// Reads a place in the density's own coordinates, from which no engine comes while it draws.
    fn natural(block: &Hierarchy, information: &Information, position: &[f64]) -> Self {
        let log_scale = position[block.log_scale];
        let log_noise = information.log_noise().map_or(0.0, |noise| position[noise]);
        let root = exact::exp(log_scale - log_noise);
        let likely = Self::without_location(information, root, 1.0, 0.0).log_likely;
        let u = log_noise - likely;
        let place = Self::without_location(information, root, exact::exp(u), u);
        let shift = position[block.location] - information.origin();
        Self { log_scale, log_noise, own: shift - place.held * information.population().center, shift, ..place }
    }

    /// Computes what does not depend on the location: `root` is the ratio of scale and noise, and the noise is `factor`, e^u,
    /// times the likely one.
    #[inline(always)]
    fn without_location(information: &Information, root: f64, factor: f64, u: f64) -> Self {
        let Population { total, typical, prior, within, between, .. } = information.population();
        let ratio = root * root;
        let d = 1.0 + typical * ratio;
        // The likely noise squared is scaled / d, and the noise squared is q / d.
        let scaled = within * d + between;
        let q = scaled * (factor * factor);
        // The prior and the data together know the location with the precision both / q.
        let both = prior * q + total;
        let [inverse, weight, held, variance, square] = quotients([1.0, d, total, q, q], [d, q, both, both, d]);
        let [width, noise] = each([variance, square], f64::sqrt);
        let slope = (between * (1.0 - inverse)) / scaled;
        let [log_scaled, log_d, log_both] = each([scaled, d, both], exact::ln);
        let log_likely = 0.5 * (log_scaled - log_d);
        let scale = root * noise;
        Self {
            log_scale: 0.0,
            log_noise: 0.0,
            scale,
            noise,
            weight,
            gain: scale * weight,
            ratio,
            shift: 0.0,
            inverse,
            log_d,
            slope,
            log_likely,
            log_precision: (log_both - log_scaled) - 2.0 * u,
            held,
            width,
            own: 0.0,
        }
    }

    /// Turns slopes of the log density by the location and by the logarithms of scale and noise into slopes by their coordinates, and adds that
    /// of the location's log-Jacobian. Where the noise is 1 its slope is 0, and the last result means nothing.
    #[inline(always)]
    pub fn slopes(&self, information: &Information, [location, scale, noise]: [f64; 3]) -> [f64; 3] {
        let Self { held, width, own, inverse, slope, .. } = *self;
        let center = information.population().center;
        // The location's mean and width depend on the scales through its precision: this is half of the slope by the
        // logarithm of that.
        let turn = (location * held) * ((2.0 * (1.0 - held)) * center - own) - held;
        let rest = (1.0 - inverse) * turn;
        let both = (scale + noise) - turn;
        [location * width, (scale - slope * both) - rest, both]
    }

    fn effect(&self, mean: f64, precision: f64) -> Effect {
        let inverse = 1.0 / (1.0 + precision * self.ratio);
        let push = (precision * self.gain) * inverse;
        Effect { inverse, width: inverse.sqrt(), drawn: push * (mean - self.shift), push }
    }

    /// Returns all effects of a block.
    fn effects<'a>(&'a self, information: &'a Information) -> impl Iterator<Item = Effect> + 'a {
        information.mean().iter().zip(information.precision()).map(|(&mean, &precision)| self.effect(mean, precision))
    }

    /// Integrates all effects out: sums over them, in the order of vectors of `dim` coordinates.
    #[inline(always)]
    pub fn integrated(&self, information: &Information, dim: usize) -> IntegratedEffects {
        let kinds = information.kinds();
        let sums = match kinds.precision[..] {
            [precision] => {
                // Nearly always the mean precision is that of all, and known already.
                let known = precision == information.population().typical;
                let d = 1.0 + precision * self.ratio;
                let [inverse, log] = if known { [self.inverse, self.log_d] } else { [1.0 / d, exact::ln(d)] };
                let kind = [precision, kinds.times[0], kinds.mean[0], kinds.spread[0]];
                self.terms(kind, inverse, log)
            }
            // Lanes without a kind are zeros, which change no sum: few kinds need no wide tree.
            _ if kinds.precision.len() <= ROW => self.sums::<ROW>(kinds),
            _ if lanes(dim) == 32 || kinds.precision.len() <= 32 => self.sums::<32>(kinds),
            _ => self.sums::<128>(kinds),
        };
        let [shares, logs, pull, squares, drawn] = sums;
        IntegratedEffects { shares, logs, pull, squares, drawn }
    }

    /// The summands of a kind, its precision, number, mean and spread, given 1 / d and ln d of d = 1 + p s^2 / o^2.
    #[inline(always)]
    fn terms(&self, [precision, times, mean, spread]: [f64; 4], inverse: f64, log: f64) -> [f64; 5] {
        let share = 1.0 - inverse;
        let asked = precision * inverse;
        let away = mean - self.shift;
        let pull = times * away;
        let asks = asked * (spread + pull * away);
        [times * share, times * log, asked * pull, asks, asks * share]
    }

    /// Kind k is in lane k mod `L`, and `L` is a multiple of [`ROW`].
    #[inline(always)]
    fn sums<const L: usize>(&self, kinds: &Kinds) -> [f64; 5] {
        let mut parts = [[0.0; L]; 5];
        for at in (0..kinds.precision.len()).step_by(ROW) {
            let [precision, times, mean, spread] =
                [&kinds.precision, &kinds.times, &kinds.mean, &kinds.spread].map(|list| row(&list[at..]));
            let d = precision.map(|precision| 1.0 + precision * self.ratio);
            let (inverse, log) = (quotients([1.0; ROW], d), each(d, exact::ln));
            for l in 0..ROW {
                let kind = [precision[l], times[l], mean[l], spread[l]];
                for (part, term) in parts.iter_mut().zip(self.terms(kind, inverse[l], log[l])) {
                    part[(at + l) % L] += term;
                }
            }
        }
        parts.map(halve)
    }
}

/// The number of kinds that are worked on at a time.
const ROW: usize = 8;

/// Returns the first [`ROW`] numbers of a list, zeros after its end.
#[inline(always)]
fn row(list: &[f64]) -> [f64; ROW] {
    let mut row = [0.0; ROW];
    let len = list.len().min(ROW);
    row[..len].copy_from_slice(&list[..len]);
    row
}

/// Converts `position` from the density's own coordinates to those of `centerings`, in place.
pub fn to_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        match centering.possible_in(block) {
            Of::NonCentered => {}
            Of::Centered => {
                let scale = exact::exp(log_scale);
                position[block.z.clone()].iter_mut().for_each(|x| *x = scale * *x + location);
            }
            Of::Standardised(information) => {
                let standard = StandardisedScalars::natural(block, information, position);
                for (x, effect) in position[block.z.clone()].iter_mut().zip(standard.effects(information)) {
                    *x = (*x - effect.drawn) / effect.width;
                }
                position[block.location] = standard.own / standard.width;
                position[block.log_scale] = standard.log_scale - standard.log_noise;
                if let Some(noise) = information.log_noise() {
                    position[noise] = standard.log_noise - standard.log_likely;
                }
            }
        }
    }
}

/// Converts `position` from the coordinates of `centerings` to the density's own, in place.
pub fn to_non_centered(hierarchies: &[Hierarchy], centerings: &[Centering], position: &mut [f64]) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        let (location, log_scale) = (position[block.location], position[block.log_scale]);
        match centering.possible_in(block) {
            Of::NonCentered => {}
            Of::Centered => {
                let slope = exact::exp(-log_scale);
                position[block.z.clone()].iter_mut().for_each(|x| *x = slope * (*x - location));
            }
            Of::Standardised(information) => {
                let standard = standard_at(block, information, position);
                for (x, effect) in position[block.z.clone()].iter_mut().zip(standard.effects(information)) {
                    *x = effect.drawn + effect.width * *x;
                }
                position[block.location] = information.origin() + standard.shift;
                position[block.log_scale] = standard.log_scale;
                if let Some(noise) = information.log_noise() {
                    position[noise] = standard.log_noise;
                }
            }
        }
    }
}

/// Reads a block's standardised coordinates at `x`.
fn standard_at(block: &Hierarchy, information: &Information, x: &[f64]) -> StandardisedScalars {
    let noise = information.log_noise().map_or(0.0, |noise| x[noise]);
    StandardisedScalars::at(information, [x[block.location], x[block.log_scale], noise])
}

/// Returns the log-Jacobian of the map from `x` in the coordinates of `centerings` to the density's own coordinates.
pub fn log_jacobian(hierarchies: &[Hierarchy], centerings: &[Centering], x: &[f64]) -> f64 {
    let of_block = |(block, centering): (&Hierarchy, &Centering)| match centering.possible_in(block) {
        Of::NonCentered => 0.0,
        Of::Centered => -(block.z.len() as f64) * x[block.log_scale],
        Of::Standardised(information) => {
            let standard = standard_at(block, information, x);
            -0.5 * (standard.integrated(information, x.len()).logs + standard.log_precision)
        }
    };
    hierarchies.iter().zip(centerings).map(of_block).sum()
}

/// Converts the gradient to the coordinates of `centerings`, in place, given the non-centered `position` and the
/// `gradient` there.
pub fn gradient_to_centered(
    hierarchies: &[Hierarchy],
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) {
    for (block, centering) in hierarchies.iter().zip(centerings) {
        match centering.possible_in(block) {
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
    let standard = StandardisedScalars::natural(block, information, position);
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
    let noise = information.log_noise();
    let by_noise = noise.map_or(0.0, |noise| gradient[noise] + noise_part + shares);
    let natural =
        [gradient[block.location] - location_part, gradient[block.log_scale] + (scale_part - shares), by_noise];
    let [location, scale, by_noise] = standard.slopes(information, natural);
    gradient[block.location] = location;
    gradient[block.log_scale] = scale;
    if let Some(noise) = noise {
        gradient[noise] = by_noise;
    }
}

/// Computes what [`LogDensity::logp_grad_centered`] does by the chain rule around [`LogDensity::logp_grad`], in the
/// coordinates that `centerings` have in `blocks`: those of the density, or the same with other information.
///
/// # Errors
/// Those of [`LogDensity::logp_grad`].
pub fn logp_grad_by_chain_rule<D: LogDensity + ?Sized>(
    density: &D,
    blocks: &[Hierarchy],
    centerings: &[Centering],
    position: &[f64],
    gradient: &mut [f64],
) -> Result<f64, DensityError> {
    let mut natural = position.to_vec();
    to_non_centered(blocks, centerings, &mut natural);
    let logp = density.logp_grad(&natural, gradient)?;
    gradient_to_centered(blocks, centerings, &natural, gradient);
    Ok(logp + log_jacobian(blocks, centerings, position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Noise};

    const ALL: [Centering; 3] = [Centering::NonCentered, Centering::Centered, Centering::Standardised];

    /// A density that knows nothing of a hierarchy, with a block of three effects, a location and a scale, and a noise or
    /// none.
    struct Waves {
        dim: usize,
        layout: Layout,
        blocks: [Hierarchy; 1],
    }

    impl LogDensity for Waves {
        fn dim(&self) -> usize {
            self.dim
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            let of = |i: usize| 1.0 + 0.3 * i as f64;
            gradient.iter_mut().zip(x).enumerate().for_each(|(i, (g, x))| *g = of(i) * (of(i) * x).cos() - 0.2 * x);
            Ok(x.iter().enumerate().map(|(i, x)| (of(i) * x).sin() - 0.1 * x * x).sum())
        }

        fn expand(&self, _: &[f64], _: &mut [f64]) {}

        fn name(&self) -> &str {
            "waves"
        }

        fn hierarchies(&self) -> &[Hierarchy] {
            &self.blocks
        }
    }

    fn information() -> Information {
        Information::new(0.4, vec![0.9, -0.7, 0.2], vec![2.0, 0.5, 3.0]).with_prior(1.7)
    }

    /// Without a noise and with one.
    fn densities() -> [Waves; 2] {
        [false, true].map(|noisy| {
            let noise = Noise { log_scale: 5, within: 3.1, observations: 6.0 };
            let information = if noisy { information().with_noise(noise) } else { information() };
            let block = Hierarchy { location: 3, log_scale: 4, z: 0..3, information: Some(information) };
            Waves { dim: 5 + usize::from(noisy), layout: Layout { variables: Vec::new() }, blocks: [block] }
        })
    }

    const PLACE: [f64; 6] = [0.3, -0.8, 0.5, 0.7, -0.4, 0.2];

    /// The conditional distributions of the file's head, as they read.
    #[test]
    fn coordinates_are_those_of_the_definition() {
        assert_eq!(ALL.map(Centering::lambda), [Some(0.0), Some(1.0), None]);
        for density in densities() {
            let (place, blocks) = (&PLACE[..density.dim], density.hierarchies());
            assert_eq!(density.observations(), 0);
            let (m, s) = (place[3], place[4].exp());
            let o = if density.dim == 6 { place[5].exp() } else { 1.0 };
            let means = information().mean().iter().map(|mean| mean + 0.4).collect::<Vec<f64>>();
            let precisions = information().precision().to_vec();
            let total: f64 = precisions.iter().sum();
            let center = means.iter().zip(&precisions).map(|(a, p)| a * p).sum::<f64>() / total;
            let between: f64 = means.iter().zip(&precisions).map(|(a, p)| p * (a - center).powi(2)).sum();
            for centering in ALL {
                let mut at = place.to_vec();
                to_centered(blocks, &[centering], &mut at);
                let mut expected = place.to_vec();
                match centering {
                    Centering::NonCentered => {}
                    Centering::Centered => (0..3).for_each(|j| expected[j] = m + s * place[j]),
                    Centering::Standardised => {
                        for j in 0..3 {
                            let p = precisions[j];
                            let h = p * s * s / (o * o + p * s * s);
                            expected[j] = (s * place[j] - h * (means[j] - m)) / (s * (1.0 - h).sqrt());
                        }
                        let typical = total / 3.0;
                        let by_data = total / (o * o + typical * s * s);
                        let variance = 1.0 / (by_data + 1.0 / (1.7 * 1.7));
                        let mean = variance * (by_data * center + 0.4 / (1.7 * 1.7));
                        expected[3] = (m - mean) / variance.sqrt();
                        expected[4] = (s / o).ln();
                        if density.dim == 6 {
                            let d = 1.0 + typical * s * s / (o * o);
                            expected[5] = (o / ((3.1 + between / d) / 6.0).sqrt()).ln();
                        }
                    }
                }
                let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
                assert!(near(&at, &expected), "{centering:?}: {at:?}, not {expected:?}");
                to_non_centered(blocks, &[centering], &mut at);
                assert!(near(&at, place), "{centering:?}: {at:?}, not {place:?}");
            }
        }
    }

    /// The volume that the map makes of a small box, and the slope of the whole density, by central differences.
    #[test]
    fn jacobians_and_gradients_are_those_of_the_map() {
        for density in densities() {
            let dim = density.dim;
            for centering in ALL {
                let blocks = density.hierarchies();
                let mut at = PLACE[..dim].to_vec();
                to_centered(blocks, &[centering], &mut at);
                let moved = |i: usize, steps: f64| {
                    let mut x = at.clone();
                    x[i] += 1e-3 * steps;
                    x
                };
                let fifth = |value: &dyn Fn(f64) -> f64| {
                    (8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / 0.012
                };
                let mut rows: Vec<Vec<f64>> = (0..dim)
                    .map(|i| {
                        let natural = |steps: f64, k: usize| {
                            let mut x = moved(i, steps);
                            to_non_centered(blocks, &[centering], &mut x);
                            x[k]
                        };
                        (0..dim).map(|k| fifth(&|steps| natural(steps, k))).collect()
                    })
                    .collect();
                let mut expected = 0.0;
                for k in 0..dim {
                    let pivot = (k..dim).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
                    rows.swap(k, pivot);
                    expected += rows[k][k].abs().ln();
                    for i in k + 1..dim {
                        let factor = rows[i][k] / rows[k][k];
                        for j in k..dim {
                            rows[i][j] -= factor * rows[k][j];
                        }
                    }
                }
                let found = log_jacobian(blocks, &[centering], &at);
                assert!((found - expected).abs() < 1e-9, "{centering:?}, {dim}: {found}, not {expected}");
                let mut gradient = vec![f64::NAN; dim];
                density.logp_grad_centered(&[centering], &at, &mut gradient).unwrap();
                for i in 0..dim {
                    let value = |steps: f64| {
                        density.logp_grad_centered(&[centering], &moved(i, steps), &mut vec![0.0; dim]).unwrap()
                    };
                    let slope = fifth(&value);
                    assert!(
                        (gradient[i] - slope).abs() < 1e-8,
                        "{centering:?}, {dim}, {i}: {}, not {slope}",
                        gradient[i]
                    );
                }
            }
        }
    }

    /// Sums over effects, kind after kind in lanes: 32 up to 256 coordinates and 128 above, where that shows.
    #[test]
    fn integrated_effects_are_sums_over_all_effects() {
        let scalars = |information: &Information| StandardisedScalars::at(information, [0.4, -0.3, 0.2]);
        let noise = Noise { log_scale: 0, within: 3.1, observations: 6.0 };
        for (kinds, dim) in
            [(1, 40), (2, 40), (7, 40), (8, 40), (9, 40), (12, 300), (33, 40), (33, 300), (70, 200), (200, 300)]
        {
            let effects = kinds + kinds / 2;
            let precision: Vec<f64> = (0..effects).map(|j| 0.1 + ((j % kinds) * 7919 % 1009) as f64 / 97.0).collect();
            let mean: Vec<f64> = (0..effects).map(|j| ((j * 613) % 1009) as f64 / 500.0 - 1.0).collect();
            let information = Information::new(0.0, mean.clone(), precision.clone()).with_noise(noise).with_prior(2.0);
            let standard = scalars(&information);
            let mut expected = [0.0; 5];
            for (a, p) in mean.iter().zip(&precision) {
                let d = 1.0 + p * standard.scale.powi(2) / standard.noise.powi(2);
                let (h, away) = (1.0 - 1.0 / d, a - standard.shift);
                let of = [h, d.ln(), p / d * away, p / d * away * away, h * p / d * away * away];
                expected.iter_mut().zip(of).for_each(|(sum, term)| *sum += term);
            }
            let IntegratedEffects { shares, logs, pull, squares, drawn } = standard.integrated(&information, dim);
            for (found, expected) in [shares, logs, pull, squares, drawn].into_iter().zip(expected) {
                let bound = 1e-12 * expected.abs().max(effects as f64);
                assert!((found - expected).abs() < bound, "{kinds} kinds: {found}, not {expected}");
            }
        }
        // One precision, which its mean misses by rounding.
        let information = Information::new(0.0, vec![1.0, 2.0, 4.0], vec![0.1; 3]);
        assert_ne!(information.population().typical, 0.1);
        let standard = scalars(&information);
        let d = 1.0 + 0.1 * standard.ratio;
        let found = standard.integrated(&information, 5);
        assert!((found.logs - 3.0 * d.ln()).abs() < 1e-14 && (found.shares - 3.0 * (1.0 - 1.0 / d)).abs() < 1e-14);
    }

    #[test]
    fn the_lanes_of_many_kinds_are_those_of_the_coordinates() {
        let precision: Vec<f64> = (0..200).map(|j| 0.1 + (j * 7919 % 1009) as f64 / 97.0).collect();
        let mean: Vec<f64> = (0..200).map(|j| (j * 613 % 1009) as f64 / 500.0 - 1.0).collect();
        let information = Information::new(0.0, mean, precision);
        let standard = StandardisedScalars::at(&information, [0.4, -0.3, 0.0]);
        let kinds = information.kinds().precision.iter().zip(&information.kinds().mean);
        let terms: Vec<f64> =
            kinds.map(|(p, mean)| p * (1.0 / (1.0 + p * standard.ratio)) * (mean - standard.shift)).collect();
        let found = [202, 300].map(|dim| standard.integrated(&information, dim).pull.to_bits());
        assert_eq!(found, [202, 300].map(|dim| crate::warp::sum_in_order(&terms, dim).to_bits()));
        assert_ne!(found[0], found[1], "the order shows");
    }
}
