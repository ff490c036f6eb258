//! Where the numbers of a file lie, and all else that the file has.

use crate::NpyType;

/// All of a file but its numbers: what begins it, what stands before each group of numbers, and what ends it.
///
/// It is known before the first number is, so that every number has its place in the file, whenever it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// What the file holds, in its format's words, e.g. `<f8 of shape (50, 3)`. No other file is taken for it.
    pub contents: String,
    /// The type of its numbers, which are little-endian.
    pub dtype: NpyType,
    /// How many numbers it has.
    pub count: u64,
    /// The bytes that begin it.
    pub start: Vec<u8>,
    /// How many numbers a group has, at least 1. The last group may have fewer.
    pub group: u64,
    /// The bytes before each group.
    pub before_group: Vec<u8>,
    /// The bytes before a last group that has fewer numbers.
    pub before_rest: Vec<u8>,
    /// The bytes that end the file.
    pub end: Vec<u8>,
}

impl FilePlan {
    /// Makes the plan of a file that has all its numbers after `start`, and nothing after them.
    pub fn plain(contents: String, dtype: NpyType, count: u64, start: Vec<u8>) -> Self {
        let nothing = Vec::new;
        Self {
            contents,
            dtype,
            count,
            start,
            group: count.max(1),
            before_group: nothing(),
            before_rest: nothing(),
            end: nothing(),
        }
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> u64 {
        self.bytes_with(self.count) + self.end.len() as u64
    }

    /// Returns the bytes that the file has when so many numbers are written: each group's beginning comes with its
    /// first number.
    pub fn bytes_with(&self, numbers: u64) -> u64 {
        let whole = numbers / self.group;
        let begun = if numbers.is_multiple_of(self.group) { 0 } else { self.before(whole).len() as u64 };
        self.start.len() as u64 + whole * self.before_group.len() as u64 + begun + numbers * self.dtype.bytes()
    }

    /// Returns the bytes before a group.
    pub(super) fn before(&self, group: u64) -> &[u8] {
        if group < self.count / self.group { &self.before_group } else { &self.before_rest }
    }

    /// Returns what the file begins with when it has any number.
    pub(super) fn beginning(&self) -> Vec<u8> {
        [&self.start, self.before(0)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_after_what_begins_their_group() {
        let plan = |count| FilePlan {
            group: 3,
            before_group: b"four".to_vec(),
            before_rest: b"to".to_vec(),
            end: b"end".to_vec(),
            ..FilePlan::plain("numbers".into(), NpyType::F2, count, b"s".to_vec())
        };
        let bytes = |count| (0..=count).map(|numbers| plan(count).bytes_with(numbers)).collect::<Vec<u64>>();
        assert_eq!(bytes(7), [1, 7, 9, 11, 17, 19, 21, 25]);
        assert_eq!(bytes(6), [1, 7, 9, 11, 17, 19, 21]);
        assert_eq!(bytes(2), [1, 5, 7]);
        assert_eq!([7, 6, 2, 0].map(|count| plan(count).bytes()), [28, 24, 10, 4]);
        assert_eq!([7, 2, 0].map(|count| plan(count).beginning()), [&b"sfour"[..], b"sto", b"sto"]);
        let plain = FilePlan::plain("numbers".into(), NpyType::F8, 5, b"start".to_vec());
        assert_eq!(([0, 1, 5].map(|numbers| plain.bytes_with(numbers)), plain.bytes()), ([5, 13, 45], 45));
        assert_eq!(FilePlan::plain("none".into(), NpyType::F8, 0, Vec::new()).bytes(), 0);
    }
}
