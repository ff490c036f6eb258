//! What a density tells a sampler about its hierarchical blocks.

use std::ops::Range;

/// A block of the hierarchy `theta_j = location + scale * z_j` with `z_j ~ N(0, 1)`, told to the sampler
/// so that it can choose the coordinates of the effects: see [`Centering`](crate::Centering).
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// The coordinate of the location.
    pub location: usize,
    /// The coordinate of the logarithm of the scale.
    pub log_scale: usize,
    /// The coordinates of `z`.
    pub z: Range<usize>,
    /// What the data say about the effects, if that is normal, or nearly so. It is used if it is of all effects.
    pub information: Option<Information>,
}

impl Hierarchy {
    /// Whether the effects can be standardised: there is information about each.
    pub fn is_informed(&self) -> bool {
        self.information_of_all().is_some()
    }

    pub(crate) fn information_of_all(&self) -> Option<&Information> {
        self.information.as_ref().filter(|information| information.mean.len() == self.z.len())
    }
}

/// What normal data say about the effects of a block: `theta_j` is measured as `origin + mean[j]` with the variance
/// `noise^2 / precision[j]`.
///
/// For groups of observations that is each group's mean with its number of observations, and for a meta-analysis each
/// study's effect with 1 / (its standard error)^2 and no noise of its own. A precision of 0 says nothing. For data that are
/// not normal it may be an approximation: the posterior is the same, and sampled the better the nearer it is.
///
/// ```
/// use octopus_density::{Hierarchy, Information};
///
/// // Three studies with known standard errors, in a density whose coordinates are z_0, z_1, z_2, mu, log tau.
/// let effects = vec![28.0, 8.0, -3.0];
/// let precisions = [15.0, 10.0, 16.0].map(|error: f64| 1.0 / (error * error)).to_vec();
/// let information = Information::new(0.0, effects, precisions, None);
/// let block = Hierarchy { location: 3, log_scale: 4, z: 0..3, information: Some(information) };
/// assert!(block.is_informed());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    origin: f64,
    mean: Vec<f64>,
    precision: Vec<f64>,
    log_noise: Option<usize>,
    /// The precisions that there are, ascending, and how many effects have each.
    distinct: Vec<f64>,
    times: Vec<f64>,
}

impl Information {
    /// One mean, relative to `origin`, and one precision, finite and not negative, for each effect; the noise is 1 where no
    /// coordinate of its logarithm is given. Of two lists the longer is cut to the length of the other.
    pub fn new(origin: f64, mut mean: Vec<f64>, mut precision: Vec<f64>, log_noise: Option<usize>) -> Self {
        mean.truncate(precision.len());
        precision.truncate(mean.len());
        let mut sorted = precision.clone();
        sorted.sort_by(f64::total_cmp);
        let (mut distinct, mut times) = (Vec::<f64>::new(), Vec::<f64>::new());
        for value in sorted {
            match (distinct.last(), times.last_mut()) {
                (Some(&last), Some(times)) if last == value => *times += 1.0,
                _ => {
                    distinct.push(value);
                    times.push(1.0);
                }
            }
        }
        Self { origin, mean, precision, log_noise, distinct, times }
    }

    /// What the means are relative to: a number near them, so that nothing cancels.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// What is measured of each effect, less the origin.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The precision of each in units of 1 / noise^2.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// The coordinate of the logarithm of the noise.
    pub fn log_noise(&self) -> Option<usize> {
        self.log_noise
    }

    /// The precisions that there are, ascending, and how many effects have each.
    pub fn distinct(&self) -> (&[f64], &[f64]) {
        (&self.distinct, &self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_are_counted() {
        let information = Information::new(1.0, vec![0.0; 5], vec![3.0, 1.0, 3.0, 0.5, 3.0], None);
        assert_eq!(information.distinct(), (&[0.5, 1.0, 3.0][..], &[1.0, 1.0, 3.0][..]));
        assert_eq!(Information::new(0.0, Vec::new(), Vec::new(), None).distinct(), (&[][..], &[][..]));
    }

    /// Information about another number of effects than there are is none.
    #[test]
    fn information_is_of_all_effects() {
        let block = |effects: usize, means: usize, precisions: usize| Hierarchy {
            location: effects,
            log_scale: effects + 1,
            z: 0..effects,
            information: Some(Information::new(0.0, vec![1.0; means], vec![2.0; precisions], None)),
        };
        assert!(block(3, 3, 3).is_informed() && block(3, 4, 3).is_informed());
        assert!(!block(3, 2, 3).is_informed() && !block(3, 4, 4).is_informed());
        assert!(!Hierarchy { information: None, ..block(3, 3, 3) }.is_informed());
    }
}
