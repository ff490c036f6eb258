//! How far draws are from a distribution.

/// The distances of draws from a distribution function.
pub(crate) struct Fit {
    draws: usize,
    /// Kolmogorov and Smirnov's, times the root of the number of draws.
    kolmogorov: f64,
    /// Anderson and Darling's, which sees the tails.
    anderson: f64,
}

impl Fit {
    pub(crate) fn of(draws: &[f64], cdf: impl Fn(f64) -> f64) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let below: Vec<f64> = sorted.iter().map(|x| cdf(*x).clamp(1e-300, 1.0 - 1e-16)).collect();
        let (mut distance, mut sum) = (0f64, 0f64);
        for (i, p) in below.iter().enumerate() {
            distance = distance.max((p - i as f64 / n).abs()).max((p - (i + 1) as f64 / n).abs());
            let mirrored = below[below.len() - 1 - i];
            sum += (2 * i + 1) as f64 * (p.ln() + (-mirrored).ln_1p());
        }
        Self { draws: draws.len(), kolmogorov: distance * n.sqrt(), anderson: -n - sum / n }
    }

    /// Whether draws of the distribution are no nearer in one of 5000 trials, by either distance: Kolmogorov's limit
    /// distribution beyond 2.15, and Anderson and Darling's beyond 7.6 (Marsaglia and Marsaglia 2004).
    pub(crate) fn is_good(&self) -> bool {
        self.kolmogorov < 2.15 && self.anderson < 7.6
    }

    pub(crate) fn assert_good(&self, what: &str) {
        let Self { draws, kolmogorov, anderson } = self;
        assert!(self.is_good(), "{what}: {draws} draws, Kolmogorov {kolmogorov:.3}, Anderson {anderson:.3}");
    }
}

/// Returns the number of different values.
pub(crate) fn distinct(draws: &[f64]) -> usize {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    sorted.len()
}
