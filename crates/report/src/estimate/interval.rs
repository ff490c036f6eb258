//! Quantiles and shortest intervals of draws.

/// The `p`-quantile of ascending values by linear interpolation (Hyndman and Fan 1996, type 7).
///
/// NaN when there is no value.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = at.ceil() as usize;
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

/// The shortest interval that holds the share `mass` of ascending values: of the windows with
/// `floor(mass n)` steps, the narrowest (Chen and Shao 1999, as ArviZ's `hdi`).
///
/// NaN when there is no value.
pub(crate) fn shortest_interval(sorted: &[f64], mass: f64) -> (f64, f64) {
    if sorted.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let steps = ((mass * sorted.len() as f64).floor() as usize).min(sorted.len() - 1);
    let mut best = (sorted[0], sorted[steps]);
    for (low, high) in sorted.iter().zip(&sorted[steps..]) {
        if high - low < best.1 - best.0 {
            best = (*low, *high);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert_eq!(quantile(&values, 1.0), 8.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_shortest_interval_of_an_exponential_starts_at_its_mode() {
        // Quantiles of Exponential(1): the exact 89% highest-density interval is (0, -ln 0.11).
        let n = 20_000;
        let sorted: Vec<f64> = (0..n).map(|i| -(1.0 - (i as f64 + 0.5) / n as f64).ln()).collect();
        let (low, high) = shortest_interval(&sorted, 0.89);
        assert!(low < 1e-3 && (high + 0.11f64.ln()).abs() < 2e-3, "{low} {high}");
    }

    #[test]
    fn one_value_and_equal_values() {
        assert_eq!(shortest_interval(&[3.0], 0.89), (3.0, 3.0));
        assert_eq!(shortest_interval(&[3.0; 50], 0.5), (3.0, 3.0));
        assert!(shortest_interval(&[], 0.5).0.is_nan());
    }
}
