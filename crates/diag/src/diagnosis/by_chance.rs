//! How far R-hat strays by chance, and what the largest of many parameters may reach.
//!
//! The groups that R-hat compares (the halves of chains, or superchains) have means that differ by chance, the more the
//! fewer effective draws they have. Of m groups of n draws, e of them effective, of a parameter whose chains are well
//! mixed, e (R^2 - 1 + 1 / n) is distributed as F(m - 1, m (e - 1)); of superchains e (R^2 - 1) is.
//!
//! One parameter stays below the limit but for a probability p. The largest of thousands would exceed it far more often,
//! and a run would fail for being large. So the largest of K parameters may reach the value that one exceeds with
//! probability p / K (Bonferroni). For the j-th largest the probability is p j / K (Simes 1986, Biometrika 73). A run
//! then fails by chance with probability p, whatever K is. Parameters that all disagree a little still fail together.

use crate::limits;
use crate::numbers::tails::ln_fisher_above;
use crate::summary::Summary;

/// The distribution of R-hat of a parameter of a trace whose chains are well mixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RhatByChance {
    /// Groups that are compared.
    groups: f64,
    /// Effective draws of each.
    effective: f64,
    /// What R-hat squared has beside its distribution.
    base: f64,
    /// The limit of one parameter.
    limit: f64,
}

impl RhatByChance {
    /// Takes the draws of `summary` for as effective as those of its median parameter are. The slowest may be slow
    /// because its chains disagree, and its own effective draws would excuse it. They count for no more than there are
    /// draws, and for no fewer than a diagnosis asks for.
    pub(super) fn of(summary: &Summary, limit: f64) -> Self {
        let draws = (summary.chains * summary.draws) as f64;
        let (groups, base, least) = match summary.superchains {
            Some(superchains) => (superchains as f64, 1.0, limits::ESS),
            None => {
                let (groups, half) = (2.0 * summary.chains as f64, (summary.draws / 2).max(1) as f64);
                (groups, 1.0 - 1.0 / half, limits::ESS_PER_CHAIN * summary.chains as f64)
            }
        };
        let mut sizes: Vec<f64> = summary.parameters.iter().map(|p| p.ess_bulk.min(p.ess_tail)).collect();
        sizes.retain(|size| !size.is_nan());
        sizes.sort_by(f64::total_cmp);
        let median = sizes.get(sizes.len() / 2).copied().unwrap_or(draws);
        Self { groups, effective: median.max(least).min(draws) / groups, base, limit }
    }

    /// Returns the logarithm of the probability that R-hat is at least this.
    fn ln_above(&self, rhat: f64) -> f64 {
        let f = self.effective * (rhat * rhat - self.base);
        ln_fisher_above(f, self.groups - 1.0, self.groups * (self.effective - 1.0))
    }

    /// Returns how many of `parameters` chance lifts to the limit. Location and scale are two chances.
    pub(super) fn expected(&self, parameters: usize) -> f64 {
        parameters as f64 * (2.0 * self.ln_above(self.limit).exp()).min(1.0)
    }

    /// Returns the limit of the largest of `share` parameters: what one exceeds `share` times as rarely as the limit.
    fn limit_of(&self, share: f64) -> f64 {
        let wanted = self.ln_above(self.limit) - share.ln();
        let (mut low, mut high) = (self.limit, self.limit + 1.0);
        if wanted.is_nan() {
            return low;
        }
        while self.ln_above(high) > wanted && high < f64::MAX / 4.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.ln_above(middle) > wanted { low = middle } else { high = middle }
        }
        high
    }

    /// Returns the limit that the parameters' R-hat are held to, and how many of the largest must not all reach it: the
    /// limit of the largest alone, unless so many reach a lower one that chance does not explain them together.
    pub(super) fn limit_of_all(&self, rhat: impl Iterator<Item = f64>) -> (f64, usize) {
        let mut above = Vec::new();
        let mut parameters = 0;
        for rhat in rhat.filter(|rhat| !rhat.is_nan()) {
            parameters += 1;
            if rhat >= self.limit {
                above.push(rhat);
            }
        }
        above.sort_by(|a, b| b.total_cmp(a));
        let share = |place: usize| parameters as f64 / (place + 1) as f64;
        let chance = self.ln_above(self.limit);
        let too_many = |(place, rhat): &(usize, &f64)| self.ln_above(**rhat) <= chance - share(*place).ln();
        let failing = above.iter().enumerate().find(too_many);
        match failing {
            // Its rounding must not turn the verdict.
            Some((place, &rhat)) => (self.limit_of(share(place)).min(rhat), place + 1),
            None if parameters == 0 => (self.limit, 1),
            None => (self.limit_of(share(0)), 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::parameter::ParameterSummary;

    /// Parameters with these effective sample sizes, the smaller of bulk and tail, of so many chains and draws.
    fn by_chance(
        (chains, draws): (usize, usize),
        superchains: Option<usize>,
        sizes: &[f64],
        limit: f64,
    ) -> RhatByChance {
        let parameter = |(k, &size): (usize, &f64)| {
            let (ess_bulk, ess_tail) = if k % 2 == 0 { (size, 2.0 * size) } else { (3.0 * size, size) };
            ParameterSummary { ess_bulk, ess_tail, ..ParameterSummary::default() }
        };
        let parameters = sizes.iter().enumerate().map(parameter).collect();
        RhatByChance::of(&Summary { prob: 0.89, chains, draws, superchains, parameters }, limit)
    }

    /// Eight halves of 500 draws, 250 of them effective.
    fn usual(limit: f64) -> RhatByChance {
        by_chance((4, 1001), None, &[3200.0, 800.0, f64::NAN, 2000.0, 1600.0, 2400.0], limit)
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found}, not {expected}");
    }

    #[test]
    fn the_median_parameter_says_how_many_draws_are_effective() {
        let of = |found: RhatByChance| (found.groups, found.effective, found.base, found.limit);
        assert_eq!(of(usual(1.01)), (8.0, 250.0, 1.0 - 1.0 / 500.0, 1.01));
        // At least 100 for each chain, and no more than there are draws.
        assert_eq!(of(by_chance((4, 1001), None, &[100.0; 3], 1.01)), (8.0, 50.0, 1.0 - 1.0 / 500.0, 1.01));
        for sizes in [&[9000.0][..], &[]] {
            assert_eq!(of(by_chance((4, 1001), None, sizes, 1.02)), (8.0, 500.5, 1.0 - 1.0 / 500.0, 1.02));
        }
        assert_eq!(of(by_chance((64, 10), Some(16), &[50.0], 1.01)), (16.0, 25.0, 1.0, 1.01));
        assert_eq!(of(by_chance((64, 10), Some(16), &[1e4], 1.01)), (16.0, 40.0, 1.0, 1.01));
        assert_eq!(by_chance((4, 1), None, &[], 1.01).base, 0.0);
    }

    /// scipy.stats.f.logsf (SciPy 1.17) with 7 and 8 * 249 degrees of freedom, and with 15 and 16 * 39.
    #[test]
    fn the_chance_of_an_rhat_is_fishers() {
        let found = usual(1.01);
        assert_near(found.ln_above(1.01), -12.861_213_094_777_74);
        assert_near(found.ln_above(1.02), -28.611_973_034_027_26);
        assert_near(found.ln_above(1.05), -77.580_345_809_254_24);
        let nested = by_chance((64, 10), Some(16), &[1e4], 1.01);
        assert_near(nested.ln_above(1.01), -0.394_810_813_825_858_1);
        assert_near(nested.ln_above(1.1), -38.999_315_355_561_89);
        assert_near(found.expected(100), 0.000_519_369_112_463_218_2);
        // Each of them reaches 1 in location or in scale, with a probability of 0.84.
        assert_eq!(usual(1.0).expected(7), 7.0);
    }

    /// The first two by scipy.stats.f.isf; what one parameter exceeds so many times as rarely is that of so many.
    #[test]
    fn the_limit_of_many_is_exceeded_as_much_more_rarely() {
        let found = usual(1.01);
        assert_near(found.limit_of(2.0), 1.010_454_373_924_242_9);
        assert_near(found.limit_of(1000.0), 1.014_451_565_445_938_5);
        let slow = by_chance((4, 1001), None, &[100.0], 1.01);
        for (found, share) in [(found, 1e12), (slow, 1e6), (slow, 1e200)] {
            let limit = found.limit_of(share);
            let below = found.ln_above(found.limit) - found.ln_above(limit);
            assert!((below - f64::ln(share)).abs() < 1e-9 * below, "{share}: {limit}");
        }
        assert!(slow.limit_of(1e200) > 2.01);
        assert_eq!(slow.limit_of(f64::NAN), 1.01);
    }

    /// 186 of 1000 parameters at 1.0111 are too many: `1000 p(1.0111) / p(1.01)` is 185.7.
    #[test]
    fn the_largest_alone_or_many_together_are_judged() {
        let found = usual(1.01);
        let with = |above: usize| (0..1000).map(move |k| if k < above { 1.0111 } else { 1.0 }).chain([f64::NAN]);
        for above in [0, 1, 185] {
            let (limit, largest) = found.limit_of_all(with(above));
            assert_near(limit, 1.014_451_565_445_938_5);
            assert_eq!(largest, 1, "{above}");
        }
        for above in [186, 500] {
            let (limit, largest) = found.limit_of_all(with(above));
            assert_near(limit, 1.011_098_963_421_306_8);
            assert_eq!(largest, 186, "{above}");
        }
        assert_eq!(found.limit_of_all([f64::NAN].into_iter()), (1.01, 1));
        // One far beyond its own limit is the largest that fails.
        let (limit, largest) = found.limit_of_all([1.0, 1.2].into_iter());
        assert_near(limit, 1.010_454_373_924_242_9);
        assert_eq!(largest, 1);
    }
}
