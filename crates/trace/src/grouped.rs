//! Observations in groups, and which are refused.

use crate::{Labels, LeftOut};
use thiserror::Error;

/// Why observations cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DataError {
    /// Two columns of one table differ in length.
    #[error("{groups} group indices but {values} values: give one group to each value")]
    Lengths {
        /// The number of group indices given.
        groups: usize,
        /// The number of values given.
        values: usize,
    },
    /// The table is empty.
    #[error("no observations: the model needs at least one")]
    NoObservations,
    /// A group index is beyond the labels.
    #[error("row {}: group {group} has no label ({labels} labels)", row + 1)]
    NoLabel {
        /// The row, counted from 0; the message counts from 1.
        row: usize,
        /// The group index in that row.
        group: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A label has no observations.
    #[error("group '{label}' has no observations: leave it out of the labels")]
    EmptyGroup {
        /// The group's label.
        label: String,
    },
    /// A value is NaN or infinite.
    #[error("row {}: the value is {value}: remove the row or mend the value", row + 1)]
    NotFinite {
        /// The row, counted from 0; the message counts from 1.
        row: usize,
        /// The value: NaN or an infinity.
        value: f64,
    },
}

/// Observations that belong to groups, sorted by group and in input order within each.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedData {
    labels: Labels,
    values: Vec<f64>,
    /// Group `j` owns `values[starts[j]..starts[j + 1]]`.
    starts: Vec<usize>,
    left_out: LeftOut,
}

impl GroupedData {
    /// Sorts `values` into groups: `group[i]` is the index into `labels` of observation `i`.
    ///
    /// # Errors
    /// When the lengths differ, there is no observation, a group index has no label, a group has no
    /// observation, or a value is not finite.
    pub fn new(labels: Labels, group: &[usize], values: &[f64]) -> Result<Self, DataError> {
        Self::sorted(labels, group.iter().copied(), values)
    }

    /// Sorts `values` into groups as [`new`](Self::new) does, by group indices of half the size.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    pub fn of_codes(labels: Labels, group: &[u32], values: &[f64]) -> Result<Self, DataError> {
        Self::sorted(labels, group.iter().map(|&j| j as usize), values)
    }

    fn sorted(
        labels: Labels,
        group: impl ExactSizeIterator<Item = usize> + Clone,
        values: &[f64],
    ) -> Result<Self, DataError> {
        if group.len() != values.len() {
            return Err(DataError::Lengths { groups: group.len(), values: values.len() });
        }
        if values.is_empty() {
            return Err(DataError::NoObservations);
        }
        let mut counts = vec![0usize; labels.len()];
        for (row, (j, &value)) in group.clone().zip(values).enumerate() {
            if j >= labels.len() {
                return Err(DataError::NoLabel { row, group: j, labels: labels.len() });
            }
            if !value.is_finite() {
                return Err(DataError::NotFinite { row, value });
            }
            counts[j] += 1;
        }
        if let Some(j) = counts.iter().position(|&n| n == 0) {
            return Err(DataError::EmptyGroup { label: labels.show(j) });
        }
        let mut starts = vec![0];
        for n in &counts {
            starts.push(starts[starts.len() - 1] + n);
        }
        let mut next = starts.clone();
        let mut sorted = vec![0.0; values.len()];
        for (j, &value) in group.zip(values) {
            sorted[next[j]] = value;
            next[j] += 1;
        }
        Ok(Self { labels, values: sorted, starts, left_out: LeftOut::default() })
    }

    /// Notes what was left out of the table that the observations come from.
    #[must_use]
    pub fn with_left_out(self, left_out: LeftOut) -> Self {
        Self { left_out, ..self }
    }

    /// Returns what was left out of the table that the observations come from.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns one label for each group.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.labels.len()
    }

    /// Returns all observations, group after group.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the observations of group `j`.
    ///
    /// # Panics
    /// When there is no group `j`.
    pub fn group(&self, j: usize) -> &[f64] {
        &self.values[self.starts[j]..self.starts[j + 1]]
    }

    /// Returns the group of each observation, in the order of [`values`](Self::values).
    pub fn group_index(&self) -> Vec<usize> {
        (0..self.groups()).flat_map(|j| std::iter::repeat_n(j, self.group(j).len())).collect()
    }
}
