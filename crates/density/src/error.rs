//! What can go wrong with data and densities.

use thiserror::Error;

/// Why observations cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DataError {
    /// Two columns of one table differ in length.
    #[error("{groups} group indices but {values} values: give one group to each value")]
    Lengths {
        /// Group indices given.
        groups: usize,
        /// Values given.
        values: usize,
    },
    /// An empty table.
    #[error("no observations: the model needs at least one")]
    NoObservations,
    /// A group index beyond the labels.
    #[error("row {row}: group {group} has no label ({labels} labels)")]
    NoLabel {
        /// The row, counted from 0.
        row: usize,
        /// The group index in that row.
        group: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A label without observations.
    #[error("group '{label}' has no observations: leave it out of the labels")]
    EmptyGroup {
        /// The group's label.
        label: String,
    },
    /// NaN or an infinity among the values.
    #[error("row {row}: the value is {value}: remove the row or mend the value")]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// Effects and their standard errors differ in number.
    #[error("{effects} effects but {errors} standard errors: give one to each effect")]
    StandardErrors {
        /// Effects given.
        effects: usize,
        /// Standard errors given.
        errors: usize,
    },
    /// A standard error that is none.
    #[error("row {row}: the standard error is {value}: it must be positive, and 1 over its square a finite number")]
    StandardError {
        /// The row, counted from 0.
        row: usize,
        /// The standard error given.
        value: f64,
    },
    /// A setting of the model or its data that is out of range.
    #[error("{field} = {value}: {expected}")]
    Setting {
        /// The setting's name.
        field: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
}

/// Why a density has no value at a point.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DensityError {
    /// The point is outside the support or the arithmetic overflowed there: the sampler counts a divergence.
    #[error("the log density is not finite here ({value})")]
    NotFinite {
        /// The value found.
        value: f64,
    },
    /// The model itself is broken: the run stops with this message.
    #[error("the density failed: {0}")]
    Broken(String),
}

impl DensityError {
    /// Whether the sampler may go on: the point was bad, not the model.
    pub fn is_recoverable(&self) -> bool {
        matches!(self, Self::NotFinite { .. })
    }
}
