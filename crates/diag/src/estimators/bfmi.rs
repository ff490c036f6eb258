//! E-BFMI, the estimated Bayesian fraction of missing information, from the energies of draws.

use crate::chains::Chains;
use crate::numbers::moments::{sum_by, variance};
use crate::numbers::scale;

/// Returns E-BFMI of each chain from the energies of its draws: the mean squared step of the energy over its variance.
/// Below 0.3 the momentum refresh is too weak for the spread of energies, and tails may be missed (Betancourt 2016,
/// arXiv:1604.00695). NaN for a single draw or constant energy. `az.bfmi`.
pub fn bfmi(energy: &Chains) -> Vec<f64> {
    energy
        .rows()
        .map(|row| {
            let steps: Vec<f64> = row.windows(2).map(|pair| pair[1] - pair[0]).collect();
            fraction(&steps, row)
        })
        .collect()
}

/// Returns E-BFMI of all chains together, for many chains of few draws, of which one alone says nothing: the mean
/// squared step over the variance of all energies. NaN where [`bfmi`] is.
pub fn bfmi_of_chains(energy: &Chains) -> f64 {
    let steps: Vec<f64> = energy.rows().flat_map(|row| row.windows(2).map(|pair| pair[1] - pair[0])).collect();
    fraction(&steps, energy.values())
}

/// The mean squared step over the variance. Whether the variance of equal energies is 0 is a matter of rounding: that they
/// are equal is asked of themselves.
fn fraction(steps: &[f64], energies: &[f64]) -> f64 {
    if energies.iter().all(|&energy| energy == energies[0]) {
        return f64::NAN;
    }
    let unit = scale::unit(energies);
    if unit != 1.0 {
        let scaled = |values: &[f64]| values.iter().map(|value| value * unit).collect::<Vec<f64>>();
        return fraction(&scaled(steps), &scaled(energies));
    }
    sum_by(steps, |step| step * step) / steps.len() as f64 / variance(energies)
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
        // The same numbers in many short chains: steps between chains do not count.
        let short = bfmi_of_chains(&Chains::new(&values[..1000], 100, 10).unwrap());
        assert!((short / found[0] - 1.0).abs() < 0.1, "{short}");
        let sticky = bfmi_of_chains(&Chains::new(&values[1000..], 4, 250).unwrap());
        assert!((sticky / (12.0 / (250.0 * 250.0 - 1.0) * 999.0 / 1000.0) - 1.0).abs() < 1e-12, "{sticky}");
        assert!(bfmi_of_chains(&Chains::new(&[1.0, 2.0], 2, 1).unwrap()).is_nan());
    }

    /// The mean of many equal numbers may differ from them in its last bit.
    #[test]
    fn constant_energy_has_none_whatever_its_value() {
        for energy in [0.0, 0.1, -1e9 / 3.0, 1e-310, 1e300] {
            for draws in [2, 7, 100, 1001] {
                let values = vec![energy; 2 * draws];
                let chains = Chains::new(&values, 2, draws).unwrap();
                assert!(bfmi(&chains).iter().all(|v| v.is_nan()) && bfmi_of_chains(&chains).is_nan(), "{energy}");
            }
        }
    }
}
