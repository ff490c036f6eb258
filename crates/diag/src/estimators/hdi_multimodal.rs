//! Highest-density regions (HDI) of distributions with several modes.

use crate::chains::Chains;
use crate::error::{DiagError, interval_probability};
use crate::estimators::kde::kde;
use crate::numbers::order::range;

/// Returns the highest-density region that holds a share `prob` of the draws of all chains, as intervals in ascending
/// order: the highest points of the [`kde`] whose mass adds up to `prob`, cut where neighbouring points of its grid are
/// missing. Values that are not finite are left out; `[v, v]` when all are equal to v, from the smallest to the largest where
/// they differ by too little for a density, no interval without values. What
/// is narrower than the grid's step (1/512 of the range) is not seen. `az.hdi(multimodal=True)`, which gives `[0, 0]`
/// for a constant.
///
/// # Errors
/// [`DiagError::Probability`] when `prob` is not above 0 and at most 1.
pub fn hdi_multimodal(chains: &Chains, prob: f64) -> Result<Vec<[f64; 2]>, DiagError> {
    interval_probability("prob", prob)?;
    let Some(density) = kde(chains.values()) else {
        let finite: Vec<f64> = chains.values().iter().copied().filter(|v| v.is_finite()).collect();
        let (low, high) = range(&finite);
        return Ok(if low <= high { vec![[low, high]] } else { Vec::new() });
    };
    let (grid, n) = (&density.grid, density.grid.len());
    let step = (grid[n - 1] - grid[0]) / n as f64;
    let mass: Vec<f64> = density.density.iter().map(|d| d * step).collect();
    let mut highest: Vec<usize> = (0..n).collect();
    highest.sort_by(|&a, &b| mass[b].total_cmp(&mass[a]));
    let mut sum = 0.0;
    let mut inside: Vec<usize> = highest
        .into_iter()
        .take_while(|&place| {
            sum += mass[place];
            sum <= prob
        })
        .collect();
    inside.sort_unstable();
    if inside.is_empty() {
        return Ok(vec![[grid[0], grid[0]]]);
    }
    Ok(inside.chunk_by(|a, b| a + 1 == *b).map(|run| [grid[run[0]], grid[run[run.len() - 1]]]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_two_intervals() {
        let values: Vec<f64> = (0..1000)
            .map(|i| (f64::from(i % 500) + 0.5) / 500.0)
            .map(|p: f64| 0.3 * (p / (1.0 - p)).ln())
            .enumerate()
            .map(|(i, v)| if i < 500 { v - 5.0 } else { v + 5.0 })
            .collect();
        let chains = Chains::new(&values, 2, 500).unwrap();
        let found = hdi_multimodal(&chains, 0.9).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0][0] < -5.5 && found[0][1] > -4.5 && found[0][1] < 0.0, "{found:?}");
        assert!(found[1][0] > 0.0 && found[1][1] > 5.5, "{found:?}");
        assert!(hdi_multimodal(&chains, 0.0).is_err());
    }

    #[test]
    fn constants_and_nothing() {
        let region = |values: &[f64]| hdi_multimodal(&Chains::new(values, 1, values.len()).unwrap(), 0.5).unwrap();
        assert_eq!(region(&[2.0, 2.0, f64::NAN]), [[2.0, 2.0]]);
        assert!(region(&[f64::NAN, f64::INFINITY]).is_empty());
    }
}
