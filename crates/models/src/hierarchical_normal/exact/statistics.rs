//! The statistics of the data that the posterior depends on.

use super::ExactError;
use octopus_density::GroupedData;
use std::collections::BTreeMap;

/// The groups of one size: their means have the same variance, so sums over them need three numbers.
#[derive(Clone, Debug)]
pub(super) struct SizeClass {
    /// Observations in each of these groups.
    pub(super) size: f64,
    /// The number of these groups.
    pub(super) count: f64,
    /// The mean of their means.
    pub(super) mean: f64,
    /// The sum of squares of their means about `mean`.
    pub(super) spread: f64,
}

/// Sufficient statistics.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    /// Ascending by size.
    pub(super) classes: Vec<SizeClass>,
    /// The class of each group.
    pub(super) class: Vec<usize>,
    /// The mean of each group.
    pub(super) means: Vec<f64>,
    /// Observations of all groups.
    pub(super) observations: f64,
    /// The sum of squares of the observations about their group's mean.
    pub(super) within: f64,
}

impl Statistics {
    /// # Errors
    /// [`ExactError::Improper`] when the observations have no spread where the posterior needs one.
    pub(super) fn new(data: &GroupedData) -> Result<Self, ExactError> {
        let groups = data.groups();
        let mut means = Vec::with_capacity(groups);
        let mut within = 0.0;
        let mut by_size: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for j in 0..groups {
            let (mean, spread) = mean_and_spread(data.group(j));
            means.push(mean);
            within += spread;
            by_size.entry(data.group(j).len()).or_default().push(mean);
        }
        let observations = data.values().len();
        // Near sigma_obs = 0 the density goes as sigma_obs^-(N - G) when nothing varies within groups, and
        // near sigma_pop = sigma_obs = 0 as r^-(G - 1) when each group is one observation and all are equal.
        let (_, spread_of_means) = mean_and_spread(&means);
        if within == 0.0 && (observations > groups || (groups >= 3 && spread_of_means == 0.0)) {
            return Err(ExactError::Improper { observations, groups });
        }
        let sizes: Vec<usize> = by_size.keys().copied().collect();
        let class = (0..groups).map(|j| sizes.partition_point(|&size| size < data.group(j).len())).collect();
        let classes = by_size
            .iter()
            .map(|(&size, means)| {
                let (mean, spread) = mean_and_spread(means);
                SizeClass { size: size as f64, count: means.len() as f64, mean, spread }
            })
            .collect();
        Ok(Self { classes, class, means, observations: observations as f64, within })
    }

    /// Returns the number of groups.
    pub(super) fn groups(&self) -> f64 {
        self.means.len() as f64
    }
}

/// Returns the mean, and the sum of squares about it; exactly 0 when all values are equal.
fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let first = values[0];
    // Relative to the first value, so that equal values give a deviation of exactly 0.
    let shift = values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64;
    let spread = values.iter().map(|value| (value - first - shift).powi(2)).sum();
    (first + shift, spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Labels;

    fn of(groups: &[&[f64]]) -> Result<Statistics, ExactError> {
        let index: Vec<usize> = groups.iter().enumerate().flat_map(|(j, values)| vec![j; values.len()]).collect();
        Statistics::new(&GroupedData::new(Labels::Range(groups.len()), &index, &groups.concat()).unwrap())
    }

    /// By hand: groups of two have the means 2 and 6, 2 from their own mean, and one of three has the mean 5.
    #[test]
    fn groups_of_one_size_are_a_class() {
        let found = of(&[&[1.0, 3.0], &[2.0, 5.0, 8.0], &[6.0, 6.0]]).unwrap();
        assert_eq!((found.means.as_slice(), found.class.as_slice()), (&[2.0, 5.0, 6.0][..], &[0, 1, 0][..]));
        assert_eq!((found.observations, found.within, found.groups()), (7.0, 20.0, 3.0));
        let classes: Vec<[f64; 4]> =
            found.classes.iter().map(|class| [class.size, class.count, class.mean, class.spread]).collect();
        assert_eq!(classes, [[2.0, 2.0, 4.0, 8.0], [3.0, 1.0, 5.0, 0.0]]);
    }

    #[test]
    fn data_without_spread_have_no_posterior() {
        for proper in [&[&[5.0][..], &[5.0]][..], &[&[5.0], &[5.0], &[5.5]], &[&[5.0, 5.0], &[7.0, 7.25]]] {
            assert!(of(proper).is_ok(), "{proper:?}");
        }
        for improper in [&[&[5.0][..], &[5.0], &[5.0]][..], &[&[5.0, 5.0], &[7.0]]] {
            assert!(matches!(of(improper), Err(ExactError::Improper { .. })), "{improper:?}");
        }
    }
}
