//! How diagnostics grow with the draws, and how they vary over the distribution: the curves of `az.plot_ess`.

use crate::chains::Chains;
use crate::error::DiagError;
use crate::estimators::ess::{ess_bulk, ess_local, ess_quantile, ess_tail};
use crate::estimators::rhat::rhat;
use rayon::prelude::*;

/// Diagnostics of the first draws of each chain, for growing numbers of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evolution {
    /// Draws of each chain that were used.
    pub draws: Vec<usize>,
    /// [`ess_bulk`] of them; it should grow in a straight line.
    pub ess_bulk: Vec<f64>,
    /// [`ess_tail`] of them.
    pub ess_tail: Vec<f64>,
    /// [`rhat`] of them.
    pub rhat: Vec<f64>,
}

/// Diagnostics at `points` even steps from `draws / points` draws to all. One more draw is used than the step says, except
/// at the end, as `az.plot_ess(kind="evolution")` does (its label slices include their ends).
///
/// # Errors
/// [`DiagError::Points`] without points, or with more than a chain has draws.
pub fn evolution(chains: &Chains, points: usize) -> Result<Evolution, DiagError> {
    let draws = chains.draws();
    if points == 0 || points > draws {
        return Err(DiagError::Points { points, draws });
    }
    let first = draws / points;
    let steps: Vec<usize> = (0..points)
        .map(|i| {
            // As np.linspace(first, draws, points, dtype=int): rounded down.
            let step = if points == 1 { 0.0 } else { (draws - first) as f64 / (points - 1) as f64 };
            let upto = (first as f64 + i as f64 * step) as usize;
            (upto + 1).min(draws)
        })
        .collect();
    let found: Vec<[f64; 3]> = steps
        .par_iter()
        .map(|&upto| {
            let values: Vec<f64> = chains.rows().flat_map(|row| &row[..upto]).copied().collect();
            let part = Chains::new(&values, chains.chains(), upto)?;
            Ok([ess_bulk(&part), ess_tail(&part), rhat(&part)])
        })
        .collect::<Result<_, DiagError>>()?;
    let column = |k: usize| found.iter().map(|row| row[k]).collect();
    Ok(Evolution { draws: steps, ess_bulk: column(0), ess_tail: column(1), rhat: column(2) })
}

/// Returns [`ess_quantile`] at `points` probabilities from `1 / points` to `1 - 1 / points`: pairs (probability,
/// draws). The curve of `az.plot_ess(kind="quantile")`.
///
/// # Errors
/// [`DiagError::Points`] with fewer than 2 points.
pub fn ess_quantile_curve(chains: &Chains, points: usize) -> Result<Vec<(f64, f64)>, DiagError> {
    if points < 2 {
        return Err(DiagError::Points { points, draws: chains.draws() });
    }
    let (low, high) = (1.0 / points as f64, 1.0 - 1.0 / points as f64);
    let step = (high - low) / (points - 1) as f64;
    let prob = |i: usize| if i + 1 == points { high } else { low + i as f64 * step };
    (0..points).into_par_iter().map(|i| Ok((prob(i), ess_quantile(chains, prob(i))?))).collect()
}

/// Returns [`ess_local`] of `points` intervals of equal probability: pairs (lower probability, draws). The curve of
/// `az.plot_ess(kind="local")`.
///
/// # Errors
/// [`DiagError::Points`] without points.
pub fn ess_local_curve(chains: &Chains, points: usize) -> Result<Vec<(f64, f64)>, DiagError> {
    if points == 0 {
        return Err(DiagError::Points { points, draws: chains.draws() });
    }
    let width = 1.0 / points as f64;
    let low = |i: usize| i as f64 * width;
    (0..points).into_par_iter().map(|i| Ok((low(i), ess_local(chains, low(i), low(i) + width)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last step is compared with `ess_bulk` and `rhat` of this crate; `tests/suite/arviz.rs` holds the curves to
    /// ArviZ's numbers.
    #[test]
    fn steps_end_with_all_draws() {
        let values: Vec<f64> = (0..202).map(|i| f64::from(i * 37 % 101)).collect();
        let chains = Chains::new(&values, 2, 101).unwrap();
        let found = evolution(&chains, 4).unwrap();
        assert_eq!(found.draws, [26, 51, 76, 101]);
        assert_eq!(found.ess_bulk[3], ess_bulk(&chains));
        assert_eq!(found.rhat[3], rhat(&chains));
        assert_eq!(evolution(&chains, 1).unwrap().draws, [101]);
        assert!(evolution(&chains, 0).is_err() && evolution(&chains, 102).is_err());
        assert!(ess_quantile_curve(&chains, 1).is_err() && ess_local_curve(&chains, 0).is_err());
        let only = DiagError::Points { points: 1, draws: 101 };
        assert_eq!(ess_quantile_curve(&chains, 1).unwrap_err(), only);
        let found = evolution(&chains, 101).unwrap();
        assert!(found.draws[0] == 2 && found.ess_bulk[0].is_nan() && found.ess_bulk[50].is_finite());
    }

    /// Steps of an uneven width end with all draws, and curves with the very probability `1 - 1 / points`.
    #[test]
    fn the_last_of_any_number_of_points_is_exact() {
        let values: Vec<f64> = (0..61).map(|i| f64::from(i * 37 % 61)).collect();
        let chains = Chains::new(&values, 1, 61).unwrap();
        for points in [2, 7, 27, 60, 61] {
            assert_eq!(evolution(&chains, points).unwrap().draws[points - 1], 61);
            let curve = ess_quantile_curve(&chains, points).unwrap();
            assert_eq!((curve.len(), curve[points - 1].0), (points, 1.0 - 1.0 / points as f64));
        }
    }
}
