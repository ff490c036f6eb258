//! Group labels in order of first appearance.

use super::instant::{in_longest_unit, shortened};
use indexmap::IndexSet;
use octopus_trace::Labels;

/// What labels are that are written as a whole column of them needs it, once all are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LabelKind {
    /// Anything else.
    #[default]
    Plain,
    /// Instants, with all their digits.
    Instants,
    /// Lengths of time, in nanoseconds.
    Durations,
}

/// Gives each label the number of its first appearance.
#[derive(Debug, Default)]
pub(super) struct LabelIndex {
    labels: IndexSet<String>,
    /// Whether the last label was new.
    was_new: bool,
    pub(super) kind: LabelKind,
}

impl LabelIndex {
    /// Returns the number of `label`, a new one if it has not been seen.
    pub(super) fn index(&mut self, label: &str) -> usize {
        let known = self.labels.get_index_of(label);
        self.was_new = known.is_none();
        known.unwrap_or_else(|| self.labels.insert_full(label.to_owned()).0)
    }

    /// Takes the last label back: if it was new, it has not been seen.
    pub(super) fn take_back(&mut self) {
        if self.was_new {
            self.labels.pop();
            self.was_new = false;
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

    /// Writes instants as pandas and DuckDB write a whole column of them, without digits that are 0 in all, and lengths
    /// of time in one unit.
    pub(super) fn shorten_times(&mut self) {
        let labels = self.labels.iter().map(String::as_str);
        let short = match self.kind {
            LabelKind::Plain => None,
            LabelKind::Instants => shortened(labels),
            LabelKind::Durations => in_longest_unit(labels),
        };
        if let Some(short) = short {
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
