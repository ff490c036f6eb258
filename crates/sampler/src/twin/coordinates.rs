//! The twin's coordinates (centering), in which a chain walks.
//!
//! With lambda 0 or 1 for all effects x_j = s^lambda z_j + lambda m, z_j being the density's own, or standardised ones.

use super::population::{Place, Population};
use super::real::{TwinReal, to};
use super::standardised::{Alike, Frame, Integrated, Measured};
use octopus_density::{Centering, Hierarchy, Information};

/// The coordinates of the one hierarchical block that a kernel knows.
#[derive(Clone, Debug)]
pub(super) struct Coordinates<R, T> {
    block: Hierarchy,
    pub(super) kind: CoordinateKind<R, T>,
}

/// What the coordinates are.
#[derive(Clone, Debug)]
pub(super) enum CoordinateKind<R, T> {
    /// One lambda for all effects, 0 or 1, and the sum of all of them.
    Uniform {
        lambda: T,
        total: T,
    },
    Standardised(Known<R, T>),
}

/// What the data say of the block.
#[derive(Clone, Debug)]
pub(super) struct Known<R, T> {
    effects: Vec<Measured<R>>,
    alike: Alike<R>,
    population: Population<T>,
    /// The coordinates of the scalars.
    location: usize,
    log_scale: usize,
    log_noise: Option<usize>,
}

impl<R: TwinReal, T: TwinReal> Known<R, T> {
    fn new(block: &Hierarchy, information: &Information) -> Self {
        let effects = information.mean().iter().zip(information.precision());
        Self {
            effects: effects.map(|(&mean, &precision)| Measured::new(mean, precision)).collect(),
            alike: Alike::new(information.mean(), information.precision()),
            population: Population::new(information),
            location: block.location,
            log_scale: block.log_scale,
            log_noise: information.log_noise(),
        }
    }

    /// Returns the place of the scalars at `x`.
    pub(super) fn place(&self, x: &[R]) -> Place<T> {
        let at = |i: usize| to::<R, T>(x[i]);
        self.population.place(at(self.location), at(self.log_scale), self.log_noise.map(at))
    }
}

impl<R: TwinReal, T: TwinReal> Coordinates<R, T> {
    /// # Panics
    /// When coordinates are to be standardised and the data say nothing of the effects.
    pub(super) fn new(block: &Hierarchy, centering: Centering) -> Self {
        let kind = match centering.lambda() {
            Some(lambda) => {
                CoordinateKind::Uniform { lambda: T::of(lambda), total: T::of(lambda * block.z.len() as f64) }
            }
            None => {
                let information = block.information.as_ref().expect("data that say something");
                CoordinateKind::Standardised(Known::new(block, information))
            }
        };
        Self { block: block.clone(), kind }
    }

    /// `x` in the density's own coordinates: z_j = s^-lambda (x_j - lambda m), or what standardised ones stand for.
    pub(super) fn make_natural(&self, x: &[R]) -> Vec<R> {
        let mut natural = x.to_vec();
        let effects = &mut natural[self.block.z.clone()];
        match &self.kind {
            CoordinateKind::Uniform { lambda, .. } if *lambda == T::ZERO => {}
            CoordinateKind::Uniform { lambda, .. } => {
                // The power is a number of the chain, and rounded where it meets the effects.
                let power: R = to((-*lambda * to::<R, T>(x[self.block.log_scale])).exp());
                let origin = to::<T, R>(*lambda) * x[self.block.location];
                effects.iter_mut().for_each(|x| *x = power * (*x - origin));
            }
            CoordinateKind::Standardised(known) => {
                let place = known.place(x);
                let frame = Frame::of(&place);
                let measured = effects.iter_mut().zip(&known.effects);
                measured.for_each(|(x, &measured)| *x = frame.effect(measured, *x).z);
                natural[known.location] = to(known.population.origin + place.scalars.shift);
                natural[known.log_scale] = to(place.scalars.log_scale);
                if let Some(log_noise) = known.log_noise {
                    natural[log_noise] = to(place.scalars.log_noise);
                }
            }
        }
        natural
    }

    /// Returns the log-Jacobian, which the log density at `x` contains and that in the density's own coordinates does
    /// not.
    pub(super) fn log_jacobian(&self, x: &[R]) -> T {
        match &self.kind {
            CoordinateKind::Uniform { lambda, .. } if *lambda == T::ZERO => T::ZERO,
            CoordinateKind::Uniform { total, .. } => -*total * to(x[self.block.log_scale]),
            CoordinateKind::Standardised(known) => {
                let place = known.place(x);
                let Integrated { logs, .. }: Integrated<T> = Frame::of(&place).integrated(x.len(), &known.alike);
                T::of(-0.5) * (logs + place.log_precision)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::{Model, Modelled};
    use octopus_density::{GroupedData, Labels};
    use octopus_models::{EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood};

    const OBSERVATIONS: [&[f64]; 3] = [&[48.0], &[51.0, 56.0], &[62.0, 60.0, 67.0]];
    const MEASURED: [(f64, f64); 3] = [(28.0, 15.0), (8.0, 10.0), (-3.0, 16.0)];

    fn normal(likelihood: Likelihood) -> HierarchicalNormal {
        let groups: Vec<usize> = (0..3).flat_map(|j| OBSERVATIONS[j].iter().map(move |_| j)).collect();
        let data = GroupedData::new(Labels::Range(3), &groups, &OBSERVATIONS.concat()).expect("valid");
        HierarchicalNormal::new(data, HierarchicalPrior::default(), likelihood).expect("valid")
    }

    fn schools() -> EightSchools {
        let (y, sigma): (Vec<f64>, Vec<f64>) = MEASURED.into_iter().unzip();
        EightSchools::new(&y, &sigma).expect("valid")
    }

    /// Points of three effects, location, log scale and log noise: where the data say little of an effect, and where much.
    const POINTS: [[f64; 6]; 3] =
        [[0.3, -0.7, 1.1, 0.4, -0.2, 0.15], [1.2, 0.1, -0.4, -1.3, 1.7, -0.6], [-0.5, 0.8, 0.2, 0.9, -2.1, 0.4]];

    /// A density in its own coordinates and in standardised ones.
    struct Case {
        model: Box<dyn Model<f64, f64>>,
        own: Coordinates<f64, f64>,
        standardised: Coordinates<f64, f64>,
        points: [Vec<f64>; 3],
    }

    fn case(density: &impl Modelled) -> Case {
        let coordinates = |centering| Coordinates::new(&density.hierarchies()[0], centering);
        Case {
            model: density.model(),
            own: coordinates(Centering::NonCentered),
            standardised: coordinates(Centering::Standardised),
            points: POINTS.map(|x| x[..density.dim()].to_vec()),
        }
    }

    /// With a noise and without.
    fn cases() -> [Case; 3] {
        [case(&normal(Likelihood::Collapsed)), case(&normal(Likelihood::Pointwise)), case(&schools())]
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        let error = (found - expected).abs();
        assert!(error < 1e-6 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    /// (f(x + h e_k) - f(x - h e_k)) / 2 h
    fn slopes(f: impl Fn(&[f64]) -> Vec<f64>, x: &[f64], k: usize) -> Vec<f64> {
        const H: f64 = 1e-5;
        let at = |h: f64| {
            let mut x = x.to_vec();
            x[k] += h;
            f(&x)
        };
        at(H).iter().zip(at(-H)).map(|(right, left)| (right - left) / (2.0 * H)).collect()
    }

    /// Laplace's expansion.
    fn determinant(rows: &[Vec<f64>]) -> f64 {
        let Some((first, rest)) = rows.split_first() else { return 1.0 };
        let minor = |k: usize| rest.iter().map(|row| [&row[..k], &row[k + 1..]].concat()).collect::<Vec<_>>();
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        first.iter().enumerate().map(|(k, value)| sign(k) * value * determinant(&minor(k))).sum()
    }

    /// Returns what a density's own coordinates say of a location, given its scale and its noise, if each of three
    /// effects, (mean, precision) less the origin, had the mean precision: mean and standard deviation.
    fn location(effects: &[(f64, f64); 3], [scale, noise]: [f64; 2], prior_sd: f64) -> (f64, f64) {
        let total: f64 = effects.iter().map(|(_, p)| p).sum();
        let center = effects.iter().map(|(a, p)| a * p).sum::<f64>() / total;
        // Three means about the location with the variance of effects and of their measurement.
        let by_data = 3.0 / (scale * scale + noise * noise / (total / 3.0));
        let precision = prior_sd.powi(-2) + by_data;
        (by_data * center / precision, precision.powf(-0.5))
    }

    /// z given the scalars, from one effect.
    fn effect((a, p): (f64, f64), [shift, scale, noise]: [f64; 3], x: f64) -> f64 {
        let precision = 1.0 + p * scale * scale / (noise * noise);
        p * scale * (a - shift) / (noise * noise) / precision + x / precision.sqrt()
    }

    #[test]
    fn natural_ones_are_what_standardised_ones_are_defined_by() {
        let mut within = 0.0;
        let effects = OBSERVATIONS.map(|group| {
            let count = group.len() as f64;
            let mean = group.iter().sum::<f64>() / count;
            within += group.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
            (mean - 50.0, count)
        });
        let center = effects.iter().map(|(a, p)| a * p).sum::<f64>() / 6.0;
        let between: f64 = effects.iter().map(|(a, p)| p * (a - center).powi(2)).sum();
        let Case { standardised, points, .. } = case(&normal(Likelihood::Collapsed));
        for x in points {
            let natural = standardised.make_natural(&x);
            let [mu, log_scale, log_noise] = [3, 4, 5].map(|i| natural[i]);
            let (scale, noise) = (log_scale.exp(), log_noise.exp());
            assert_near(log_scale - log_noise, x[4]);
            let likely = (within + between / (1.0 + 2.0 * (scale / noise).powi(2))) / 6.0;
            assert_near((noise / likely.sqrt()).ln(), x[5]);
            let (mean, sd) = location(&effects, [scale, noise], 20.0);
            assert_near((mu - 50.0 - mean) / sd, x[3]);
            (0..3).for_each(|j| assert_near(natural[j], effect(effects[j], [mu - 50.0, scale, noise], x[j])));
        }

        let effects = MEASURED.map(|(y, sigma): (f64, f64)| (y, sigma.powi(-2)));
        let Case { standardised, points, .. } = case(&schools());
        for x in points {
            let natural = standardised.make_natural(&x);
            let (mu, tau) = (natural[3], natural[4].exp());
            assert_near(natural[4], x[4]);
            let (mean, sd) = location(&effects, [tau, 1.0], 5.0);
            assert_near((mu - mean) / sd, x[3]);
            (0..3).for_each(|j| assert_near(natural[j], effect(effects[j], [mu, tau, 1.0], x[j])));
        }
    }

    #[test]
    fn the_log_jacobian_is_that_of_the_map() {
        for Case { standardised, points, .. } in cases() {
            for x in points {
                let columns: Vec<_> = (0..x.len()).map(|k| slopes(|x| standardised.make_natural(x), &x, k)).collect();
                assert_near(standardised.log_jacobian(&x), determinant(&columns).ln());
            }
        }
    }

    #[test]
    fn standardised_coordinates_change_a_density_by_their_jacobian_only() {
        for Case { model, own, standardised, points } in cases() {
            for x in points {
                let (natural, _) = model.evaluate(&own, &standardised.make_natural(&x));
                let (logp, gradient) = model.evaluate(&standardised, &x);
                assert_near(logp - standardised.log_jacobian(&x), natural);
                for (k, &slope) in gradient.iter().enumerate() {
                    let expected = slopes(|x| vec![model.evaluate(&standardised, x).0], &x, k);
                    assert_near(slope, expected[0]);
                }
            }
        }
    }
}
