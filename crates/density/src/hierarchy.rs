//! The description of hierarchical blocks that a density gives to a sampler.
//!
//! Whether the data say enough of the effects for standardised coordinates is decided here (`is_informed`).

use std::ops::Range;

/// A block of the hierarchy `theta_j = location + scale * z_j` with `z_j ~ N(0, 1)`. A density describes its blocks to
/// the sampler so that the sampler can choose the coordinates of the effects: see [`Centering`](crate::Centering).
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// The coordinate of the location.
    pub location: usize,
    /// The coordinate of the logarithm of the scale.
    pub log_scale: usize,
    /// The coordinates of `z`.
    pub z: Range<usize>,
    /// What the data say about the effects, where that is normal, or nearly so. The information is used only if it
    /// covers all effects.
    pub information: Option<Information>,
}

impl Hierarchy {
    /// Returns whether the block can be standardised. That needs information about each effect, some about the location
    /// and, where a noise is sampled, some about the noise: its data vary.
    pub fn is_informed(&self) -> bool {
        self.information_of_all().is_some()
    }

    pub(crate) fn information_of_all(&self) -> Option<&Information> {
        let of_all = |information: &&Information| information.mean.len() == self.z.len();
        self.information.as_ref().filter(of_all).filter(|information| {
            let Population { total, prior, within, between, .. } = information.population;
            total + prior > 0.0 && within + between > 0.0
        })
    }
}

/// What normal data say about the effects of a block: `theta_j` is measured as `origin + mean[j]` with the variance
/// `noise^2 / precision[j]`.
///
/// For groups of observations, the mean is each group's mean and the precision its number of observations. For a
/// meta-analysis, the mean is each study's effect and the precision is 1 / (its standard error)^2; there is no noise.
/// An effect with a precision of 0 was not measured. For data that are not normal the information may be an
/// approximation: the posterior stays the same, and the better the approximation, the better it is sampled.
///
/// ```
/// use octopus_density::{Hierarchy, Information};
///
/// // Three studies with known standard errors, in a density whose coordinates are z_0, z_1, z_2, mu, log tau, and in
/// // which mu ~ N(0, 5).
/// let effects = vec![28.0, 8.0, -3.0];
/// let precisions = [15.0, 10.0, 16.0].map(|error: f64| 1.0 / (error * error)).to_vec();
/// let information = Information::new(0.0, effects, precisions).with_prior(5.0);
/// let block = Hierarchy { location: 3, log_scale: 4, z: 0..3, information: Some(information) };
/// assert!(block.is_informed());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    origin: f64,
    mean: Vec<f64>,
    precision: Vec<f64>,
    noise: Option<Noise>,
    prior_sd: Option<f64>,
    population: Population,
    kinds: Kinds,
}

/// All kinds of effects, ascending by precision: effects that are measured with the same precision are a kind. Each
/// kind has what the scalars need of it once its effects are integrated out. All lists have one element for each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinds {
    /// The precision, in units of 1 / noise^2.
    pub precision: Vec<f64>,
    /// The number of effects of the kind.
    pub times: Vec<f64>,
    /// The mean of the kind's measured effects, less the origin.
    pub mean: Vec<f64>,
    /// The sum of the squared deviations of the measured effects from `mean`.
    pub spread: Vec<f64>,
}

impl Kinds {
    fn new(mean: &[f64], precision: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..precision.len()).collect();
        order.sort_by(|&i, &j| precision[i].total_cmp(&precision[j]));
        let mut kinds = Self::default();
        for alike in order.chunk_by(|&i, &j| precision[i] == precision[j]) {
            let times = alike.len() as f64;
            let middle = alike.iter().map(|&j| mean[j]).sum::<f64>() / times;
            kinds.precision.push(precision[alike[0]]);
            kinds.times.push(times);
            kinds.mean.push(middle);
            kinds.spread.push(alike.iter().map(|&j| (mean[j] - middle) * (mean[j] - middle)).sum());
        }
        kinds
    }
}

/// What the data say about the noise, the standard deviation of the observations of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The coordinate of the logarithm of the noise.
    pub log_scale: usize,
    /// The sum of the squared deviations of all observations from the means of their groups.
    pub within: f64,
    /// The number of observations.
    pub observations: f64,
}

/// What the data say about a block's scalars, as if all effects were measured equally well: see
/// [`Centering`](crate::Centering).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Population {
    /// The sum of all precisions.
    pub total: f64,
    /// The mean precision of an effect.
    pub typical: f64,
    /// The mean of what is measured, less the origin, weighted by precision.
    pub center: f64,
    /// 1 / variance of the location's prior; 0 where none is known.
    pub prior: f64,
    /// Squared deviations within groups for each observation; 1 where the noise is 1.
    pub within: f64,
    /// Squared deviations between groups for each observation; 0 where the noise is 1.
    pub between: f64,
}

impl Population {
    fn new(information: &Information) -> Self {
        let Information { mean, precision, noise, prior_sd, .. } = information;
        let measured = || mean.iter().zip(precision);
        let total = precision.iter().sum::<f64>();
        // Where nothing is measured, the prior decides.
        let center = if total > 0.0 { measured().map(|(a, p)| a * p).sum::<f64>() / total } else { 0.0 };
        let between = measured().map(|(a, p)| p * (a - center) * (a - center)).sum::<f64>();
        let (within, between) = match noise {
            Some(Noise { within, observations, .. }) => (within / observations, between / observations),
            None => (1.0, 0.0),
        };
        Self {
            total,
            typical: total / mean.len() as f64,
            center,
            prior: prior_sd.map_or(0.0, |sd| 1.0 / (sd * sd)),
            within,
            between,
        }
    }
}

impl Information {
    /// Makes the information from one mean, relative to `origin`, and one precision, finite and not negative, for each
    /// effect. The noise is 1, and nothing is known of the location's prior. If the lists differ in length, the longer
    /// one is cut.
    pub fn new(origin: f64, mut mean: Vec<f64>, mut precision: Vec<f64>) -> Self {
        mean.truncate(precision.len());
        precision.truncate(mean.len());
        let population = Population::default();
        let kinds = Kinds::new(&mean, &precision);
        Self { origin, mean, precision, noise: None, prior_sd: None, population, kinds }.summed_up()
    }

    /// Adds a noise that is sampled, too; precisions are then in units of 1 / noise^2.
    #[must_use]
    pub fn with_noise(self, noise: Noise) -> Self {
        Self { noise: Some(noise), ..self }.summed_up()
    }

    /// Adds the location's prior: normal about the origin, or nearly so, with the standard deviation `sd`.
    #[must_use]
    pub fn with_prior(self, sd: f64) -> Self {
        Self { prior_sd: Some(sd), ..self }.summed_up()
    }

    fn summed_up(self) -> Self {
        Self { population: Population::new(&self), ..self }
    }

    /// Returns the number that the means are relative to, which is near them, so that nothing cancels.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// Returns the measured value of each effect, less the origin.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the precision of each effect in units of 1 / noise^2.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// Returns the coordinate of the logarithm of the noise; `None` where the noise is 1.
    pub fn log_noise(&self) -> Option<usize> {
        self.noise.map(|noise| noise.log_scale)
    }

    /// Returns what the data say about the noise.
    pub fn noise(&self) -> Option<Noise> {
        self.noise
    }

    /// Returns the standard deviation of the location's prior.
    pub fn prior_sd(&self) -> Option<f64> {
        self.prior_sd
    }

    /// Returns what the data say about the scalars.
    pub fn population(&self) -> Population {
        self.population
    }

    /// Returns what the data say of the effects of each precision.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 2, 4 and 9 are 3, 1 and 4 from their mean.
    #[test]
    fn effects_of_one_precision_are_summed_up() {
        let information = Information::new(1.0, vec![2.0, 7.0, 4.0, -8.0, 9.0], vec![3.0, 1.0, 3.0, 0.5, 3.0]);
        let expected = Kinds {
            precision: vec![0.5, 1.0, 3.0],
            times: vec![1.0, 1.0, 3.0],
            mean: vec![-8.0, 7.0, 5.0],
            spread: vec![0.0, 0.0, 26.0],
        };
        assert_eq!(information.kinds(), &expected);
        assert_eq!(Information::new(0.0, Vec::new(), Vec::new()).kinds(), &Kinds::default());
    }

    /// Information about another number of effects than there are is none.
    #[test]
    fn information_is_of_all_effects() {
        let block = |effects: usize, means: usize, precisions: usize| Hierarchy {
            location: effects,
            log_scale: effects + 1,
            z: 0..effects,
            information: Some(Information::new(0.0, vec![1.0; means], vec![2.0; precisions])),
        };
        assert!(block(3, 3, 3).is_informed() && block(3, 4, 3).is_informed());
        assert!(!block(3, 2, 3).is_informed() && !block(3, 4, 4).is_informed());
        assert!(!Hierarchy { information: None, ..block(3, 3, 3) }.is_informed());
    }

    /// Precisions of 0 and no prior leave the location anywhere, and data that do not vary the noise.
    #[test]
    fn scalars_that_nothing_is_known_of_are_not_informed() {
        let nothing = Information::new(0.0, vec![1.0, 2.0], vec![0.0, 0.0]);
        let block = |information| Hierarchy { location: 2, log_scale: 3, z: 0..2, information: Some(information) };
        assert!(!block(nothing.clone()).is_informed());
        assert!(block(nothing.clone().with_prior(2.0)).is_informed());
        assert!(block(Information::new(0.0, vec![1.0, 2.0], vec![0.0, 1.0])).is_informed());
        let alike = |within| {
            let noise = Noise { log_scale: 4, within, observations: 2.0 };
            block(Information::new(0.0, vec![5.0; 2], vec![1.0; 2]).with_noise(noise))
        };
        assert!(!alike(0.0).is_informed() && alike(1e-9).is_informed());
        let expected = Population { prior: 0.25, within: 1.0, ..Population::default() };
        assert_eq!(nothing.with_prior(2.0).population(), expected);
    }

    /// By hand: the means 1 and 5 with the precisions 3 and 1 have the center 2, from which they are 1 and 3 away.
    #[test]
    fn populations_are_summed_up() {
        let noise = Noise { log_scale: 4, within: 6.0, observations: 4.0 };
        let information = Information::new(7.0, vec![1.0, 5.0], vec![3.0, 1.0]).with_prior(0.5);
        let expected = Population { total: 4.0, typical: 2.0, center: 2.0, prior: 4.0, within: 1.0, between: 0.0 };
        assert_eq!(information.population(), expected);
        let noisy = information.with_noise(noise);
        assert_eq!(noisy.population(), Population { within: 1.5, between: 3.0, ..expected });
        assert_eq!((noisy.log_noise(), noisy.prior_sd()), (Some(4), Some(0.5)));
    }
}
