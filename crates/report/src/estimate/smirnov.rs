//! Smirnov's distance between two samples (two-sample Kolmogorov-Smirnov statistic).

/// Smirnov's distance, from 0 to 1: the largest difference between the distribution functions of the marked
/// values and of the others. It sees another scale as well as another place; 0 when one of both has no values.
///
/// NaN is left out. The marked values are meant to be few.
pub(crate) fn smirnov(values: &[f64], marked: &[bool]) -> f64 {
    let numbers = || values.iter().zip(marked).filter(|(v, _)| !v.is_nan());
    let mut few: Vec<f64> = numbers().filter(|(_, marked)| **marked).map(|(v, _)| *v).collect();
    few.sort_by(f64::total_cmp);
    // How many of the others lie below, and at or below, each marked value.
    let (mut below, mut up_to) = (vec![0u64; few.len() + 1], vec![0u64; few.len() + 1]);
    let mut others = 0u64;
    for (v, _) in numbers().filter(|(_, marked)| !**marked) {
        below[few.partition_point(|x| x <= v)] += 1;
        up_to[few.partition_point(|x| x < v)] += 1;
        others += 1;
    }
    if few.is_empty() || others == 0 {
        return 0.0;
    }
    let share = |n: u64, of: u64| n as f64 / of as f64;
    let (mut left, mut right, mut distance) = (0, 0, 0.0f64);
    for (i, x) in few.iter().enumerate() {
        left += below[i];
        right += up_to[i];
        let smaller = few.partition_point(|v| v < x) as u64;
        let at_most = few.partition_point(|v| v <= x) as u64;
        distance = distance.max((share(left, others) - share(smaller, few.len() as u64)).abs());
        distance = distance.max((share(right, others) - share(at_most, few.len() as u64)).abs());
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(few: &[f64], others: &[f64]) -> f64 {
        let marked: Vec<bool> = (0..few.len() + others.len()).map(|i| i < few.len()).collect();
        smirnov(&[few, others].concat(), &marked)
    }

    /// scipy.stats.ks_2samp(few, others).statistic.
    #[test]
    fn as_scipy() {
        assert_eq!(distance(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(distance(&[1.0, 3.0], &[2.0, 4.0]), 0.5);
        assert!((distance(&[2.0, 2.0, 5.0], &[1.0, 2.0, 2.0, 3.0]) - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(distance(&[0.0, 0.1, -0.1], &[-2.0, -1.0, 1.0, 2.0]), 0.5);
    }

    #[test]
    fn ends_are_seen_and_nan_is_not() {
        assert_eq!(distance(&[9.0], &[1.0, 2.0, f64::NAN]), 1.0);
        assert_eq!(distance(&[f64::INFINITY], &[1.0]), 1.0);
        assert_eq!(distance(&[], &[1.0]), 0.0);
        assert_eq!(distance(&[f64::NAN], &[1.0]), 0.0);
    }
}
