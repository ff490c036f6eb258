//! The estimated Bayesian fraction of missing information.

use crate::Chains;
use crate::moments::{sum_by, variance};

/// E-BFMI of each chain from the energies of its draws: the mean squared step of the energy over its
/// variance. Below 0.3 the momentum refresh is too weak for the spread of energies, and tails may be
/// missed (Betancourt 2016, arXiv:1604.00695). NaN for a single draw or constant energy. `az.bfmi`.
pub fn bfmi(energy: &Chains) -> Vec<f64> {
    energy
        .rows()
        .map(|row| {
            let steps: Vec<f64> = row.windows(2).map(|pair| pair[1] - pair[0]).collect();
            sum_by(&steps, |step| step * step) / steps.len() as f64 / variance(row)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_and_sticky_energies() {
        let independent: Vec<f64> = (0..1000).map(|i| ((i * 7919 + 13) % 1009) as f64).collect();
        let sticky: Vec<f64> = (0..1000).map(|i| f64::from(i % 250)).collect();
        let values = [independent, sticky].concat();
        let found = bfmi(&Chains::new(&values, 2, 1000).unwrap());
        assert!(found[0] > 1.0 && found[1] < 0.1, "{found:?}");
        assert_eq!(bfmi(&Chains::new(&[1.0, 3.0], 1, 2).unwrap()), [2.0]);
        assert!(bfmi(&Chains::new(&[1.0], 1, 1).unwrap())[0].is_nan());
    }
}
