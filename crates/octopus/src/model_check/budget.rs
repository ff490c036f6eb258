//! How much each check does: operations are counted and no clock is read, so that a model always has the same report.

use octopus_density::{DensityError, LogDensity};
use std::cell::Cell;

/// Operations of a check: one or two seconds.
pub(super) const MOST_OPERATIONS: usize = 1 << 31;
/// Operations for each number of a draw: what is drawn or generated may run statement by statement.
const OPERATIONS_OF_A_NUMBER: usize = 64;
/// Points at which each check looks, however much one takes.
pub(super) const FEWEST: usize = 1;

/// What a check has done of what it may do.
pub(super) struct CheckBudget {
    of_gradient: usize,
    of_draw: usize,
    done: Cell<usize>,
}

impl CheckBudget {
    pub(super) fn new(density: &dyn LogDensity) -> Self {
        let numbers = [density.dim(), density.layout().width(), density.observations(), density.predictions()];
        let numbers = numbers.into_iter().fold(0, usize::saturating_add);
        Self {
            of_gradient: density.operations().max(1),
            of_draw: OPERATIONS_OF_A_NUMBER.saturating_mul(numbers),
            done: Cell::new(0),
        }
    }

    /// Returns whether more may be done.
    pub(super) fn is_left(&self) -> bool {
        self.done.get() < MOST_OPERATIONS
    }

    /// Counts gradients, and draws of what is not of the gradient.
    pub(super) fn count(&self, gradients: usize, draws: usize) {
        let work = self.of_gradient.saturating_mul(gradients).saturating_add(self.of_draw.saturating_mul(draws));
        self.done.set(self.done.get().saturating_add(work));
    }

    /// Items with their numbers, while something is left to do.
    pub(super) fn items<T>(&self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = (usize, T)> {
        all.into_iter().enumerate().take_while(|&(k, _)| k < FEWEST || self.is_left())
    }

    /// A log density with its gradient that counts itself, and has no value when nothing is left: differences cannot tell
    /// then.
    pub(super) fn counted(
        &self,
        of: impl Fn(&[f64], &mut [f64]) -> Result<f64, DensityError>,
    ) -> impl Fn(&[f64], &mut [f64]) -> Result<f64, DensityError> {
        move |x, gradient| {
            if !self.is_left() {
                return Err(DensityError::NotFinite { value: f64::NAN });
            }
            self.count(1, 0);
            of(x, gradient)
        }
    }
}
