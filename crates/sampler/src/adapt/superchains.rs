//! Whether superchains, chains that began at one point, have forgotten where they began (an analysis of variance).

use octopus_random::exact;

/// Computes a one-way analysis of variance over `groups` groups of equally many consecutive chains, for each coordinate
/// of the chains' points: the variance of the groups' means relative to its expectation if all chains were alike. For
/// alike chains the ratio is near 1. With n chains in a group, 1 + (ratio - 1) / n is about the square of nested R-hat
/// of one draw from each chain (Margossian et al. 2024), less its bias of 1 / n.
///
/// The ratio is NaN where no chain differs from another.
pub(crate) fn variance_ratios(points: &[&[f64]], groups: usize) -> Vec<f64> {
    let dim = points.first().map_or(0, |x| x.len());
    let size = points.len() / groups;
    let (g, n) = (groups as f64, size as f64);
    let square = |x: f64| x * x;
    // Chain by chain, all coordinates of one together: they lie side by side.
    let mut means = vec![0.0; groups * dim];
    let (mut mean, mut between, mut within) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    for (group, own) in points.chunks_exact(size).zip(means.chunks_exact_mut(dim.max(1))) {
        for point in group {
            own.iter_mut().zip(*point).for_each(|(sum, x)| *sum += x);
        }
        own.iter_mut().for_each(|sum| *sum /= n);
        mean.iter_mut().zip(&*own).for_each(|(sum, m)| *sum += m);
    }
    mean.iter_mut().for_each(|sum| *sum /= g);
    let mut squares = vec![0.0; dim];
    for (group, own) in points.chunks_exact(size).zip(means.chunks_exact(dim.max(1))) {
        squares.fill(0.0);
        for point in group {
            squares.iter_mut().zip(own).zip(*point).for_each(|((sum, m), x)| *sum += square(x - m));
        }
        within.iter_mut().zip(&squares).for_each(|(sum, own)| *sum += own);
        between.iter_mut().zip(own).zip(&mean).for_each(|((sum, m), mean)| *sum += square(m - mean));
    }
    let ratio = |(between, within): (&f64, &f64)| n * (between / (g - 1.0)) / (within / (g * (n - 1.0)));
    between.iter().zip(&within).map(ratio).collect()
}

/// Returns whether groups of chains that began together can no longer be told apart: no coordinate's
/// [`variance_ratios`] is larger than chance makes the largest of all of them, or than makes nested R-hat differ by a
/// hundredth.
pub(crate) fn are_mixed(points: &[&[f64]], groups: usize) -> bool {
    const EXCESS: f64 = 0.02;
    /// The share of alike chains that chance alone tells apart.
    const FALSE_ALARMS: f64 = 0.01;
    let (size, dim) = (points.len() / groups, points.first().map_or(0, |x| x.len()));
    let chance = f_quantile(FALSE_ALARMS / dim as f64, (groups - 1) as f64, (groups * (size - 1)) as f64);
    let limit = chance.max(1.0 + EXCESS * size as f64);
    variance_ratios(points, groups).into_iter().all(|ratio| ratio < limit)
}

/// Computes the number that a variable with the distribution F(d1, d2) exceeds with probability `p`, by Paulson's
/// approximation (1942, Annals of Mathematical Statistics 13): with u^3 = F, (b u - a) / sqrt(c2 u^2 + c1) is normal.
/// The result is a little too large, the more so the fewer degrees of freedom there are; it is infinite where they are
/// too few for any limit.
pub(crate) fn f_quantile(p: f64, d1: f64, d2: f64) -> f64 {
    let z = exact::normal_quantile(1.0 - p);
    let (c1, c2) = (2.0 / (9.0 * d1), 2.0 / (9.0 * d2));
    let (a, b) = (1.0 - c1, 1.0 - c2);
    // (b^2 - z^2 c2) u^2 - 2 a b u + a^2 - z^2 c1 = 0
    let (square, linear, constant) = (b * b - z * z * c2, a * b, a * a - z * z * c1);
    if square <= 0.0 {
        return f64::INFINITY;
    }
    let u = (linear + (linear * linear - square * constant).sqrt()) / square;
    u * u * u
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

    /// R 4.2.2: qf(p, d1, d2, lower.tail = FALSE).
    #[test]
    fn quantiles_of_f_are_those_of_r_or_somewhat_larger() {
        for (p, d1, d2, exact) in [
            (0.01 / 203.0, 63.0, 960.0, 1.901399),
            (0.01 / 1003.0, 15.0, 48.0, 4.977281),
            (0.01 / 203.0, 3.0, 28.0, 11.30589),
            (0.01 / 1003.0, 3.0, 12.0, 28.31651),
        ] {
            let ratio = f_quantile(p, d1, d2) / exact;
            assert!((1.0..1.11).contains(&ratio), "{p} {d1} {d2}: {ratio}");
        }
        assert_eq!(f_quantile(0.001, 1.0, 2.0), f64::INFINITY);
    }

    /// A few groups of many coordinates are no rare sight, and chance must not keep them in warm-up.
    #[test]
    fn chance_is_as_rare_for_few_groups_of_many_coordinates() {
        let mixed = (0..200).filter(|&seed| {
            let mut random = Stream::new(seed, 0, 0, Purpose::User);
            let points: Vec<Vec<f64>> = (0..16).map(|_| (0..300).map(|_| random.normal()).collect()).collect();
            are_mixed(&points.iter().map(Vec::as_slice).collect::<Vec<_>>(), 4)
        });
        assert!(mixed.count() >= 195);
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

    /// By the continued fraction of the incomplete beta function; the approximation is good to some thousandths there.
    #[test]
    fn quantiles_of_f_are_good_to_four_thousandths() {
        for (p, d1, d2, exact) in [
            (0.01, 3.0, 12.0, 5.952544681545869),
            (0.01, 3.0, 1000.0, 3.8012457715002665),
            (0.001, 20.0, 200.0, 2.424285878965981),
            (0.01, 64.0, 8000.0, 1.459353604283514),
            (0.01, 12.0, 40.0, 2.6648273557293396),
            (0.05, 10.0, 30.0, 2.164579917125473),
        ] {
            let ratio = f_quantile(p, d1, d2) / exact;
            assert!((ratio - 1.0).abs() < 0.004, "{p} {d1} {d2}: {ratio}");
        }
    }

    /// Groups whose means are alternately below and above 0, so that the first coordinate has this ratio and all others 0.
    fn of_ratio(ratio: f64, groups: usize, size: usize, dim: usize) -> Vec<Vec<f64>> {
        let mean = (ratio * (groups - 1) as f64 / (groups * (size - 1)) as f64).sqrt();
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let point = |k: usize| {
            let mut point = vec![sign(k); dim];
            point[0] += mean * sign(k / size);
            point
        };
        (0..groups * size).map(point).collect()
    }

    /// The limit is what one of a hundred runs exceeds by chance, or 2% for each chain of a group.
    #[test]
    fn groups_are_mixed_below_the_larger_limit() {
        let cases = [
            (4, 4, 1, f_quantile(0.01, 3.0, 12.0)),
            (4, 4, 3, f_quantile(0.01 / 3.0, 3.0, 12.0)),
            (2, 6, 2, f_quantile(0.01 / 2.0, 1.0, 10.0)),
            (64, 128, 3, 1.0 + 0.02 * 128.0),
            (16, 300, 1, 1.0 + 0.02 * 300.0),
        ];
        for (groups, size, dim, limit) in cases {
            for (share, mixed) in [(0.999, true), (1.001, false)] {
                let points = of_ratio(share * limit, groups, size, dim);
                let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
                assert!((variance_ratios(&points, groups)[0] / (share * limit) - 1.0).abs() < 1e-12);
                assert_eq!(are_mixed(&points, groups), mixed, "{groups} x {size}, {dim}: {share}");
            }
        }
    }

    #[test]
    fn points_of_no_coordinates_have_no_ratios() {
        let point: &[f64] = &[];
        assert!(variance_ratios(&[point; 8], 4).is_empty());
    }
}
