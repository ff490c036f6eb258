//! Ranks of chains' draws in the page's stories of parameters, in twenty bins; the rank plot counts its own.
//!
//! Vehtari et al. (2021), section 4.3.

/// Bins: a twentieth of 2000 draws is 100, give or take 10 by chance.
const BINS: usize = 20;

/// Counts the draws of each chain of `draws` values by the bin of their rank; draws that are equal share their mean
/// rank. The result is empty where a value is not finite.
pub(super) fn counts(values: &[f64], draws: usize) -> Vec<Vec<u32>> {
    if draws == 0 || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts = vec![vec![0; BINS]; values.len().div_ceil(draws)];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        // Ranks from 0; twice the mean rank is a whole number.
        let twice = 2 * before + equal.len() - 1;
        let bin = twice * BINS / (2 * values.len());
        for &(_, place) in equal {
            counts[place / draws][bin] += 1;
        }
        before += equal.len();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_lies_above_the_other_has_the_upper_ranks() {
        let values: Vec<f64> = (0..80).map(f64::from).collect();
        let found = counts(&values, 40);
        assert_eq!(found[0], [[4; 10], [0; 10]].concat());
        assert_eq!(found[1], [[0; 10], [4; 10]].concat());
        let alternating: Vec<f64> =
            (0..40).map(|i| f64::from(2 * i)).chain((0..40).map(|i| f64::from(2 * i + 1))).collect();
        assert_eq!(counts(&alternating, 40), [vec![2; 20], vec![2; 20]]);
    }

    #[test]
    fn equal_draws_of_all_chains_share_a_bin() {
        // Ranks 0 to 3 are one value, of both chains: their mean rank 1.5 of 8 is in the bin 3.
        let found = counts(&[1.0, 5.0, 1.0, 6.0, 1.0, 7.0, 1.0, 8.0], 4);
        assert_eq!((found[0][3], found[1][3]), (2, 2));
        assert_eq!(found.concat().iter().sum::<u32>(), 8);
        assert!(counts(&[1.0, f64::NAN], 1).is_empty());
    }
}
