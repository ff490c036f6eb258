//! Whether chains have forgotten where they began.

/// One-way analysis of variance over `groups` groups of as many consecutive chains, for each coordinate of the chains'
/// points: the variance of the groups' means, relative to the one that it would have if all chains were alike; then it is
/// near 1. With n chains in a group, 1 + (ratio - 1) / n is about the square of nested R-hat of one draw from each chain
/// (Margossian et al. 2024), less its bias of 1 / n.
///
/// NaN where no chain differs from another.
pub(crate) fn variance_ratios(points: &[&[f64]], groups: usize) -> Vec<f64> {
    let dim = points.first().map_or(0, |x| x.len());
    let size = points.len() / groups;
    let (g, n) = (groups as f64, size as f64);
    let square = |x: f64| x * x;
    (0..dim)
        .map(|i| {
            let members = || points.chunks_exact(size);
            let means: Vec<f64> = members().map(|group| group.iter().map(|x| x[i]).sum::<f64>() / n).collect();
            let mean = means.iter().sum::<f64>() / g;
            let between = means.iter().map(|m| square(m - mean)).sum::<f64>() / (g - 1.0);
            let squares = |(group, m): (&[&[f64]], &f64)| group.iter().map(|x| square(x[i] - m)).sum::<f64>();
            let within = members().zip(&means).map(squares).sum::<f64>() / (g * (n - 1.0));
            n * between / within
        })
        .collect()
}

/// Whether groups of chains that began together can no longer be told apart: no coordinate's [`variance_ratios`] is
/// larger than chance makes it or than makes nested R-hat differ by a hundredth.
pub(crate) fn are_mixed(points: &[&[f64]], groups: usize) -> bool {
    const EXCESS: f64 = 0.02;
    const DEVIATIONS: f64 = 5.0;
    let size = points.len() / groups;
    let limit = (EXCESS * size as f64).max(DEVIATIONS * (2.0 / (groups as f64 - 1.0)).sqrt());
    variance_ratios(points, groups).into_iter().all(|ratio| ratio - 1.0 < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// scipy.stats.f_oneway([1, 2, 3], [2, 4, 6], [5, 5, 8]): F = 4.5.
    #[test]
    fn ratios_are_those_of_an_analysis_of_variance() {
        let values = [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 5.0, 5.0, 8.0];
        let points: Vec<[f64; 2]> = values.iter().map(|&x| [x, 7.0 - 2.0 * x]).collect();
        let points: Vec<&[f64]> = points.iter().map(|x| x.as_slice()).collect();
        let ratios = variance_ratios(&points, 3);
        assert!(ratios.iter().all(|ratio| (ratio - 4.5).abs() < 1e-12), "{ratios:?}");
    }

    /// Independent points are mixed, whatever the number of groups and their size; shifted groups are not.
    #[test]
    fn chains_that_differ_by_group_are_told_apart() {
        let mut random = Stream::new(3, 0, 0, Purpose::User);
        for (groups, size) in [(16, 4), (64, 16), (64, 128)] {
            for shift in [0.0, 2.0] {
                let points: Vec<Vec<f64>> = (0..groups)
                    .flat_map(|group| std::iter::repeat_n(group, size))
                    .map(|group| {
                        let mut x: Vec<f64> = (0..50).map(|_| random.normal()).collect();
                        x[7] += shift * f64::from(group % 2);
                        x
                    })
                    .collect();
                let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
                assert_eq!(are_mixed(&points, groups as usize), shift == 0.0, "{groups} x {size}, {shift}");
            }
        }
    }

    #[test]
    fn chains_that_do_not_move_are_not_mixed() {
        let point: &[f64] = &[1.0, 2.0];
        assert!(!are_mixed(&[point; 8], 4));
    }
}
