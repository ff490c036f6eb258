//! What tells data from others: their source, their SHA-256, and how many they are.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The data that the model was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord {
    /// Where they came from: a file's path, or the generator's name and settings.
    pub source: String,
    /// SHA-256 of the values as little-endian f64, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The number of observations.
    pub observations: usize,
    /// The number of groups.
    pub groups: usize,
    /// What of their table was left out; nothing where they are of no table.
    #[serde(default, skip_serializing_if = "LeftOut::is_nothing")]
    pub left_out: LeftOut,
}

/// What was left out of a table of observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeftOut {
    /// Rows without a value.
    pub without_value: usize,
    /// Rows with a value and without a group.
    pub without_group: usize,
    /// Lines of comments before the header.
    pub comments: usize,
}

impl LeftOut {
    /// Returns whether nothing was left out.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What was left out in words, e.g. `2 rows without a value, 1 comment line before the header`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.without_value, "row", " without a value"),
            (self.without_group, "row", " without a group"),
            (self.comments, "comment line", " before the header"),
        ];
        let words = |(count, what, which): &(usize, &str, &str)| {
            format!("{count} {what}{}{which}", if *count == 1 { "" } else { "s" })
        };
        let words: Vec<String> = counts.iter().filter(|(count, ..)| *count > 0).map(words).collect();
        f.write_str(if words.is_empty() { "nothing" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_counted() {
        let left_out = LeftOut { without_value: 2, without_group: 0, comments: 1 };
        assert_eq!(left_out.to_string(), "2 rows without a value, 1 comment line before the header");
        assert_eq!(LeftOut { without_group: 1, ..LeftOut::default() }.to_string(), "1 row without a group");
        assert_eq!(LeftOut::default().to_string(), "nothing");
        assert!(LeftOut::default().is_nothing() && !left_out.is_nothing());
    }
}
