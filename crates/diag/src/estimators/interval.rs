//! Credible intervals: highest-density (HDI) and equal-tailed (ETI).

use crate::chains::{Chains, has_nan};
use crate::error::{DiagError, interval_probability};
use crate::numbers::order::{Sorted, quantile};

/// Returns the highest-density interval `[low, high]`: the narrowest that holds a share `prob` of the draws of all
/// chains, assuming one mode. A NaN among the values makes the upper end NaN, as in ArviZ; at `prob = 1` it is the
/// whole range. `az.hdi`.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` is not above 0 and at most 1.
pub fn hdi(chains: &Chains, prob: f64) -> Result<[f64; 2], DiagError> {
    interval_probability("prob", prob)?;
    Ok(hdi_of_sorted(&sorted_nan_last(chains.values()), prob))
}

/// Returns the equal-tailed interval: from the `(1 - prob) / 2` to the `1 - (1 - prob) / 2` quantile of the draws of
/// all chains, by linear interpolation. NaN when a value is.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` is not above 0 and at most 1.
pub fn eti(chains: &Chains, prob: f64) -> Result<[f64; 2], DiagError> {
    interval_probability("prob", prob)?;
    if has_nan(chains.values()) {
        return Ok([f64::NAN; 2]);
    }
    Ok(eti_of_sorted(&Sorted::of(chains.values()).values, prob))
}

/// Returns the highest-density interval of ascending values, NaN last: as [`hdi`], of values that are sorted already.
/// NaN when there is no value.
pub fn hdi_of_sorted(sorted: &[f64], prob: f64) -> [f64; 2] {
    let n = sorted.len();
    if n == 0 {
        return [f64::NAN; 2];
    }
    let span = (prob * n as f64).floor() as usize;
    if span >= n {
        return [sorted[0], sorted[n - 1]];
    }
    let mut best = 0;
    let mut narrowest = f64::INFINITY;
    for (i, (low, high)) in sorted.iter().zip(&sorted[span..]).enumerate() {
        let width = high - low;
        // As np.argmin: the first NaN, else the first of the smallest.
        if width.is_nan() {
            best = i;
            break;
        }
        if width < narrowest {
            (best, narrowest) = (i, width);
        }
    }
    [sorted[best], sorted[best + span]]
}

/// Returns the equal-tailed interval of sorted values without NaN.
pub(crate) fn eti_of_sorted(sorted: &[f64], prob: f64) -> [f64; 2] {
    let alpha = 1.0 - prob;
    [quantile(sorted, alpha / 2.0), quantile(sorted, 1.0 - alpha / 2.0)]
}

/// Sorts values that may be NaN.
pub(crate) fn sorted_nan_last(values: &[f64]) -> Vec<f64> {
    let kept: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let mut sorted = Sorted::of(&kept).values;
    sorted.resize(values.len(), f64::NAN);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowest_and_equal_tailed() {
        let values: Vec<f64> = [0.0, 1.0, 1.1, 1.2, 1.3, 5.0, 9.0, 20.0, 30.0, 50.0].into();
        let chains = Chains::new(&values, 2, 5).unwrap();
        assert_eq!(hdi(&chains, 0.3).unwrap(), [1.0, 1.3]);
        assert_eq!(hdi(&chains, 1.0).unwrap(), [0.0, 50.0]);
        assert_eq!(eti(&chains, 1.0).unwrap(), [0.0, 50.0]);
        let [low, high] = eti(&chains, 0.5).unwrap();
        assert!((low - 1.125).abs() < 1e-14 && (high - 17.25).abs() < 1e-14, "{low} {high}");
        for prob in [0.0, 1.1, f64::NAN] {
            assert!(hdi(&chains, prob).is_err() && eti(&chains, prob).is_err());
        }
    }

    #[test]
    fn nan_shows() {
        let chains = Chains::new(&[1.0, f64::NAN, 0.0, 2.0], 1, 4).unwrap();
        let [low, high] = hdi(&chains, 0.5).unwrap();
        assert!(low == 1.0 && high.is_nan());
        assert!(eti(&chains, 0.5).unwrap().iter().all(|v| v.is_nan()));
        let none = Chains::new(&[f64::NAN; 4], 1, 4).unwrap();
        assert!(hdi(&none, 0.5).unwrap().iter().all(|v| v.is_nan()));
    }

    #[test]
    fn one_value_is_its_own_interval() {
        assert_eq!(hdi_of_sorted(&[2.0], 0.5), [2.0, 2.0]);
        assert!(hdi_of_sorted(&[], 0.5).iter().all(|v| v.is_nan()));
        let one = Chains::new(&[2.0], 1, 1).unwrap();
        assert_eq!((hdi(&one, 0.89).unwrap(), eti(&one, 0.89).unwrap()), ([2.0; 2], [2.0; 2]));
    }
}
