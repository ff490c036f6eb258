//! Group labels in order of first appearance.

use super::instant::shortened;
use indexmap::IndexSet;
use octopus_trace::Labels;

/// Gives each label the number of its first appearance.
#[derive(Debug, Default)]
pub(super) struct LabelIndex {
    labels: IndexSet<String>,
    /// Whether the labels are instants, with all their digits.
    pub(super) has_instants: bool,
}

impl LabelIndex {
    /// Returns the number of `label`, a new one if it has not been seen.
    pub(super) fn index(&mut self, label: &str) -> usize {
        match self.labels.get_index_of(label) {
            Some(index) => index,
            None => self.labels.insert_full(label.to_owned()).0,
        }
    }

    /// Returns the label of this number; an empty text where there is none.
    pub(super) fn label(&self, number: usize) -> &str {
        self.labels.get_index(number).map_or("", String::as_str)
    }

    /// Returns all labels, in the order of their first appearance.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.labels.iter()
    }

    /// Writes instants as pandas and DuckDB write a whole column of them: without digits that are 0 in all.
    pub(super) fn shorten_instants(&mut self) {
        if self.has_instants
            && let Some(short) = shortened(self.labels.iter().map(String::as_str))
        {
            self.labels = short.into_iter().collect();
        }
    }

    /// Integers if every label is one as people write it (not `007`, which differs from `7`), else words.
    pub(super) fn into_labels(self) -> Labels {
        let integer = |label: &String| label.parse::<i64>().ok().filter(|value| value.to_string() == *label);
        match self.labels.iter().map(integer).collect() {
            Some(integers) => Labels::Integers(integers),
            None => Labels::Strings(self.labels.into_iter().collect()),
        }
    }
}
