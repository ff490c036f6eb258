//! How far R-hat strays by chance, and what the largest of many parameters may reach.
//!
//! The groups that R-hat compares (the halves of chains, or superchains) have means that differ by chance, the more the
//! fewer effective draws they have. Of m groups of n draws, e of them effective, of a parameter whose chains are well
//! mixed, e (R^2 - 1 + 1 / n) is distributed as F(m - 1, m (e - 1)); of superchains e (R^2 - 1) is.
//!
//! One parameter stays below the limit but for a probability p. The largest of thousands would exceed it far more often,
//! and a run would fail for being large. So the limit of the largest of K parameters is what one exceeds with probability
//! p / K (Bonferroni), and that of the j-th largest p j / K (Simes 1986, Biometrika 73): then the whole fails by chance
//! with probability p, as it does of one parameter, and parameters that all disagree a little fail together.

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
