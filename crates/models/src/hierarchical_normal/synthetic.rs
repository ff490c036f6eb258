//! Made-up data with a known truth, bit for bit as a NumPy script makes it. The defaults of its shape (groups,
//! observations in each, true values, seed) stand here.
//!
//! ```
//! use octopus_models::synthetic::HierarchicalSpec;
//!
//! let synthetic = HierarchicalSpec::default().generate()?;
//! assert_eq!(synthetic.data.groups(), 100);
//! assert_eq!(synthetic.data.group(0)[0], 52.1364000460115);
//! assert!(synthetic.sha256.starts_with("6f909ab7"));
//! # Ok::<(), octopus_models::ModelError>(())
//! ```

use crate::{DataSize, ModelError, sha256};
use octopus_density::{GroupedData, Labels};
use octopus_random::numpy::LegacyRandom;
use serde::{Deserialize, Serialize};

/// The most observations that are made: beyond it a mistyped number fills the memory.
const MOST_OBSERVATIONS: usize = 1_000_000_000;

/// # Errors
/// When so many groups, each of at most `largest` observations, could have too many observations; `field` gave them.
pub(super) fn check_size(field: &'static str, groups: usize, largest: usize) -> Result<(), ModelError> {
    if groups.saturating_mul(largest) <= MOST_OBSERVATIONS {
        return Ok(());
    }
    Err(ModelError::Setting { field, value: groups as f64 * largest as f64, expected: "at most 10^9 observations" })
}

/// The settings that give the number of observations together.
pub(super) const BALANCED: &str = "groups * per_group";

/// The shape of made-up data of three levels (population, groups, observations); the default is that of phase 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HierarchicalSpec {
    /// The number of groups.
    pub groups: usize,
    /// Observations in each group.
    pub per_group: usize,
    /// Mean of the group means: the true `mu_pop`.
    pub mean: f64,
    /// Standard deviation of the group means: the true `sigma_pop`; may be 0.
    pub between_sd: f64,
    /// Standard deviation of the observations about their group's mean: the true `sigma_obs`.
    pub within_sd: f64,
    /// The argument of `np.random.seed`.
    pub seed: u32,
}

impl Default for HierarchicalSpec {
    fn default() -> Self {
        Self { groups: 100, per_group: 10, mean: 50.0, between_sd: 10.0, within_sd: 2.0, seed: 42 }
    }
}

/// Made-up observations and the truth behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// The observations; groups are labelled 0, 1, 2, ...
    pub data: GroupedData,
    /// The true mean of each group.
    pub group_means: Vec<f64>,
    /// The [`sha256`](sha256()) of the observations.
    pub sha256: String,
}

impl HierarchicalSpec {
    /// Checks every field.
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a field is out of range; the error is about the first one.
    pub fn validate(&self) -> Result<(), ModelError> {
        let fail = |field, value, expected| Err(ModelError::Setting { field, value, expected });
        if self.groups == 0 {
            return fail("groups", 0.0, "at least one group");
        }
        if self.per_group == 0 {
            return fail("per_group", 0.0, "at least one observation in each group");
        }
        if !self.mean.is_finite() {
            return fail("mean", self.mean, "must be finite");
        }
        if !(self.between_sd >= 0.0 && self.between_sd.is_finite()) {
            return fail("between_sd", self.between_sd, "a standard deviation must be finite and not negative");
        }
        if !(self.within_sd > 0.0 && self.within_sd.is_finite()) {
            return fail("within_sd", self.within_sd, "a standard deviation must be finite and positive");
        }
        Ok(())
    }

    /// Returns how large the data are that [`generate`](Self::generate) makes.
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a field is out of range or there would be more than 10^9 observations.
    pub fn size(&self) -> Result<DataSize, ModelError> {
        self.validate()?;
        check_size(BALANCED, self.groups, self.per_group)?;
        Ok(DataSize::of_groups(self.groups, self.groups * self.per_group))
    }

    /// Makes the data of this NumPy script:
    ///
    /// ```python
    /// np.random.seed(seed)
    /// means = np.random.normal(mean, between_sd, groups)
    /// y = np.random.normal(means[np.repeat(np.arange(groups), per_group)], within_sd)
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a field is out of range or there would be more than 10^9 observations.
    pub fn generate(&self) -> Result<Synthetic, ModelError> {
        self.make(|_| vec![self.per_group; self.groups], self.per_group)
    }

    /// Makes unbalanced data: every third group (0, 3, 6, ...) has one observation, the others between 1 and `3 *
    /// per_group`, each number equally likely (with the default 1 to 30). The NumPy script is
    ///
    /// ```python
    /// np.random.seed(seed)
    /// means = np.random.normal(mean, between_sd, groups)
    /// sizes = 1 + np.floor(3 * per_group * np.random.random_sample(groups)).astype(int)
    /// sizes[::3] = 1
    /// y = np.random.normal(np.repeat(means, sizes), within_sd)
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a field is out of range or there could be more than 10^9 observations.
    pub fn unbalanced(&self) -> Result<Synthetic, ModelError> {
        let most = self.per_group.saturating_mul(3);
        let sizes = |random: &mut LegacyRandom| {
            let mut sizes: Vec<usize> =
                (0..self.groups).map(|_| 1 + (most as f64 * random.random_sample()).floor() as usize).collect();
            sizes.iter_mut().step_by(3).for_each(|size| *size = 1);
            sizes
        };
        self.make(sizes, most)
    }

    /// Makes data with the given number of observations in each group, which replaces `groups` and `per_group`.
    /// Otherwise the data are made as by [`generate`](Self::generate).
    ///
    /// # Errors
    /// [`ModelError::Setting`] when a field is out of range, a size is 0, or the number of groups times the largest
    /// size exceeds 10^9.
    pub fn with_sizes(&self, sizes: &[usize]) -> Result<Synthetic, ModelError> {
        if sizes.contains(&0) {
            return Err(ModelError::Setting { field: "sizes", value: 0.0, expected: "at least one observation each" });
        }
        let largest = sizes.iter().copied().max().unwrap_or(0);
        Self { groups: sizes.len(), per_group: largest, ..*self }.make(|_| sizes.to_vec(), largest)
    }

    /// Checks, draws the means, then the sizes, then the observations.
    fn make(
        &self,
        sizes: impl FnOnce(&mut LegacyRandom) -> Vec<usize>,
        largest: usize,
    ) -> Result<Synthetic, ModelError> {
        self.validate()?;
        check_size(BALANCED, self.groups, largest)?;
        let mut random = LegacyRandom::new(self.seed);
        let mut group_means = vec![0.0; self.groups];
        random.fill_normal(self.mean, self.between_sd, &mut group_means);
        let sizes = sizes(&mut random);
        let all = sizes.iter().sum();
        let (mut group, mut values) = (Vec::with_capacity(all), Vec::with_capacity(all));
        for (j, (&mean, &size)) in group_means.iter().zip(&sizes).enumerate() {
            for _ in 0..size {
                group.push(j);
                values.push(random.normal(mean, self.within_sd));
            }
        }
        let sha256 = sha256(&values);
        let data = GroupedData::new(Labels::Range(self.groups), &group, &values)?;
        Ok(Synthetic { data, group_means, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_million_observations_are_the_most() {
        assert_eq!(check_size("groups", 500_000_000, 2), Ok(()));
        assert!(check_size("groups", 1, 1_000_000_001).is_err() && check_size("groups", 1_000_000_001, 1).is_err());
    }

    #[test]
    fn small_deviations_are_valid() {
        let spec = HierarchicalSpec { between_sd: 0.0, within_sd: 0.5, ..HierarchicalSpec::default() };
        assert_eq!(spec.validate(), Ok(()));
        let told = |spec: HierarchicalSpec| spec.validate().unwrap_err().to_string();
        assert!(told(HierarchicalSpec { groups: 0, ..spec }).starts_with("groups = 0:"));
        assert!(told(HierarchicalSpec { per_group: 0, ..spec }).starts_with("per_group = 0:"));
        assert!(spec.with_sizes(&[2, 0]).unwrap_err().to_string().starts_with("sizes = 0:"));
        let prd =
            HierarchicalSpec { groups: 100, per_group: 10, mean: 50.0, between_sd: 10.0, within_sd: 2.0, seed: 42 };
        assert_eq!(HierarchicalSpec::default(), prd);
    }

    #[test]
    fn sizes_replace_groups_and_observations() {
        let none = HierarchicalSpec { groups: 0, per_group: 0, ..HierarchicalSpec::default() };
        let made = none.with_sizes(&[2, 3]).unwrap().data;
        assert_eq!((made.groups(), made.group(0).len(), made.group(1).len()), (2, 2, 3));
    }
}
