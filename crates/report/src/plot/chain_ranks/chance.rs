//! The heights of bars by chance alone (the band of rank plots): the hypergeometric distribution.

/// Returns the central interval of at least the probability `coverage` for how many of `drawn` things out of `total`
/// are among the `marked` ones.
pub(super) fn interval(drawn: u64, total: u64, marked: u64, coverage: f64) -> (u64, u64) {
    let lowest = (drawn + marked).saturating_sub(total);
    let highest = drawn.min(marked);
    // Weights relative to the lowest outcome, each from the one before; their logarithm, since they span hundreds of
    // powers of ten.
    let ratio = |k: u64| {
        let up = (marked - k) as f64 * (drawn - k) as f64;
        let down = (k + 1) as f64 * (total + k + 1 - marked - drawn) as f64;
        (up / down).ln()
    };
    let mut logs = vec![0.0];
    for k in lowest..highest {
        logs.push(logs[logs.len() - 1] + ratio(k));
    }
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let tail = 0.5 * (1.0 - coverage) * sum;
    let low = lowest + first_above(weights.iter(), tail);
    let high = highest - first_above(weights.iter().rev(), tail);
    (low, high)
}

/// Returns the first place up to which the weights sum to `tail`.
fn first_above<'a>(weights: impl Iterator<Item = &'a f64>, tail: f64) -> u64 {
    let mut sum = 0.0;
    let up_to = |weight: &f64| {
        sum += weight;
        sum
    };
    weights.map(up_to).take_while(|&sum| sum < tail).count() as u64
}

#[cfg(test)]
mod tests {
    use super::interval;

    /// scipy.stats.hypergeom(total, marked, drawn).ppf of 0.005 and 0.995.
    #[test]
    fn as_scipy() {
        for (drawn, total, marked, expected) in [
            (2000, 8000, 348, (67, 108)),
            (100, 400, 25, (1, 12)),
            (500, 32_000, 1684, (14, 40)),
            (10, 10, 3, (3, 3)),
            (2, 4, 1, (0, 1)),
            (1000, 1000, 50, (50, 50)),
            (0, 0, 0, (0, 0)),
        ] {
            assert_eq!(interval(drawn, total, marked, 0.99), expected, "{drawn} {total} {marked}");
        }
    }
    /// By whole numbers: `math.comb` of Python, summed up to the tails. The last is a tie, half on either side.
    #[test]
    fn as_counted() {
        for (drawn, total, marked, coverage, expected) in [
            (20, 60, 25, 0.75, (6, 10)),
            (8, 40, 20, 0.75, (3, 5)),
            (5000, 20_000, 5000, 0.75, (1220, 1281)),
            (1, 2, 1, 0.0, (0, 1)),
        ] {
            assert_eq!(interval(drawn, total, marked, coverage), expected, "{drawn} {total} {marked}");
        }
    }
}
