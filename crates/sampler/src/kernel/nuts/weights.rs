//! The multinomial weights by which points of a trajectory are chosen.

use octopus_random::exact;

/// When a weight exceeds the reference by this many units of log density, the reference moves.
const RESCALE: f64 = 300.0;

/// Sums of exp(H0 - H) relative to a reference that moves only when they would overflow.
#[derive(Debug)]
pub(super) struct Weights {
    /// The gain whose weight is 1.
    pub(super) reference: f64,
    /// The sum over the trajectory as it was before this doubling.
    pub(super) tree: f64,
    /// The sum over the new half.
    pub(super) subtree: f64,
}

impl Weights {
    /// The start alone, whose energy is the reference.
    pub(super) fn of_the_start() -> Self {
        Self { reference: 0.0, tree: 1.0, subtree: 0.0 }
    }

    /// Returns whether the reference is still the energy of the start.
    #[inline(always)]
    pub(super) fn are_of_the_start(&self) -> bool {
        self.reference == 0.0
    }

    /// Adds a leaf with H0 - H = `gain`; returns its weight.
    #[inline(always)]
    pub(super) fn add(&mut self, gain: f64) -> f64 {
        if gain > self.reference + RESCALE {
            let factor = exact::exp(self.reference - gain);
            self.tree *= factor;
            self.subtree *= factor;
            self.reference = gain;
        }
        let weight = exact::exp(gain - self.reference);
        self.subtree += weight;
        weight
    }
}
