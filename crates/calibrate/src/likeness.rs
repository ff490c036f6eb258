//! How alike chains of one data set are: correlations of neighbours, and of chains that began together.
//!
//! Chains that share nothing must not be alike at all, and chains that began together ought to have forgotten it.

/// Returns the mean correlation of each chain with the one `apart` chains further on, over iterations; NaN where there
/// is none, or fewer than three draws, of which two always lie on a line.
pub(crate) fn neighbours(chains: &[Vec<f64>], apart: usize) -> f64 {
    let draws = chains.first().map_or(0, Vec::len);
    let pairs: Vec<(&Vec<f64>, &Vec<f64>)> = chains.iter().zip(chains.iter().skip(apart)).collect();
    if pairs.is_empty() || draws < 3 {
        return f64::NAN;
    }
    pairs.iter().map(|(a, b)| correlation(a, b)).sum::<f64>() / pairs.len() as f64
}

/// Pearson's correlation; 0 where one of them does not move.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let product = aa * bb;
    if product.is_normal() {
        return ab / product.sqrt();
    }
    // Squares that are too large or too small for their type: in units of the largest deviation they are not.
    let in_unit = |x: &[f64], mean: f64| -> Option<Vec<f64>> {
        let largest = x.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
        let moves = largest > 0.0 && largest.is_finite();
        moves.then(|| x.iter().map(|x| (x - mean) / largest).collect())
    };
    let (Some(a), Some(b)) = (in_unit(a, mean_a), in_unit(b, mean_b)) else { return 0.0 };
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt()
}

/// Returns the intraclass correlation of draws of different chains among `size` consecutive ones, the mean over
/// iterations: products of standardized draws, over the pairs within groups. Chains that are all alike have `-1 /
/// (chains - 1)` by chance, since the draws' own mean is taken off: that is made up for, so that the mean of
/// independent chains is 0 exactly.
pub(crate) fn together(chains: &[Vec<f64>], size: usize) -> f64 {
    let (n, m) = (chains.len() as f64, size as f64);
    let draws = chains.first().map_or(0, Vec::len);
    let at = |draw: usize| {
        let values: Vec<f64> = chains.iter().map(|chain| chain[draw]).collect();
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let of_group = |group: &[f64]| group.iter().map(|x| x - mean).sum::<f64>().powi(2);
        let products = values.chunks(size).map(of_group).sum::<f64>() - squares;
        // Each product twice; n (m - 1) of them.
        products / (m - 1.0) / squares + 1.0 / (n - 1.0)
    };
    (0..draws).map(at).sum::<f64>() / draws as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    #[test]
    fn correlations_by_hand() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-15);
        assert!((correlation(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]) - 0.5).abs() < 1e-15);
        assert_eq!((correlation(&[1.0, 1.0], &[1.0, 2.0]), correlation(&[1.0, 2.0], &[1.0, 1.0])), (0.0, 0.0));
        for unit in [1e-300, 1e-170, 1e-90, 1e90, 1e170, 1e300] {
            let found = correlation(&[1.0, 2.0, 3.0].map(|x| x * unit), &[unit, 3.0 * unit, 2.0 * unit]);
            assert!((found - 0.5).abs() < 1e-9, "{unit}: {found}");
        }
        assert_eq!(correlation(&[1.0, f64::INFINITY, 2.0], &[1.0, 2.0, 3.0]), 0.0);
        let (up, turn) = (vec![1.0, 2.0, 3.0], vec![1.0, 3.0, 2.0]);
        assert!((neighbours(&[up.clone(), up.clone(), up.clone()], 1) - 1.0).abs() < 1e-15);
        let four = [up.clone(), turn.clone(), up.clone(), turn];
        assert!((neighbours(&four, 1) - 0.5).abs() < 1e-15 && (neighbours(&four, 2) - 1.0).abs() < 1e-15);
        assert!(neighbours(&[up], 1).is_nan() && neighbours(&[vec![1.0, 2.0], vec![2.0, 1.0]], 1).is_nan());
    }

    /// Groups (1, 2) and (4, 7) around the mean 3.5: products (-2.5)(-1.5) and (0.5)(3.5), their mean 2.75 over the variance
    /// 5.25, and a third.
    #[test]
    fn intraclass_correlation_by_hand() {
        // The second draws are the first in other units, and so far from 0 that differences of squares would lose them.
        let chains = [1.0, 2.0, 4.0, 7.0].map(|x| vec![x, 2f64.powi(53) + 4.0 * x]);
        assert!((together(&chains, 2) - (2.75 / 5.25 + 1.0 / 3.0)).abs() < 1e-15);
    }

    /// Chains that share a tenth of their variance, or nothing.
    #[test]
    fn what_is_shared_is_found_and_nothing_is_zero() {
        for shared in [0.0f64, 0.1] {
            let mut random = Stream::new(7, 0, 0, Purpose::User);
            let mut one = || {
                let mut chains = Vec::new();
                for _ in 0..16 {
                    let common = shared.sqrt() * random.normal();
                    chains.extend((0..4).map(|_| vec![common + (1.0 - shared).sqrt() * random.normal()]));
                }
                together(&chains, 4)
            };
            let found: Vec<f64> = (0..2000).map(|_| one()).collect();
            let mean = found.iter().sum::<f64>() / 2000.0;
            let error = (found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2000.0).sqrt() / 2000f64.sqrt();
            // The draws' own mean takes a little of what is shared: 1 in 16.
            assert!(mean > shared * 15.0 / 16.0 - 4.0 * error && mean < shared + 4.0 * error, "{mean} +- {error}");
        }
    }
}
