//! Checks of a group before it is written, and of the memory (bytes) that files claim before they are read.
//!
//! They are the same for every format, so that a group that can be written in one format can be written in all.

use crate::FormatError;
use indexmap::IndexMap;
use octopus_trace::Dataset;

/// No variable may claim more than this: a damaged header must not ask for all the memory there is.
pub(crate) const MAX_VARIABLE_BYTES: usize = 8 << 30;

/// What a few bytes may grow to when they are unpacked; beyond it, so many times their number.
pub(crate) const ALLOWANCE: usize = 64 << 20;
pub(crate) const EXPANSION: usize = 1 << 14;

/// Returns whether so many bytes can be had, or else a sentence: what is decoded by others' code is taken without asking,
/// and a process that gets no memory ends at once.
pub(crate) fn memory_for(bytes: usize) -> Result<(), String> {
    let mut room: Vec<u8> = Vec::new();
    let had = room.try_reserve_exact(bytes);
    // Or the compiler leaves out an allocation that nobody uses.
    std::hint::black_box(&mut room);
    let mib = bytes.div_ceil(1 << 20);
    had.map_err(|_| {
        format!("it needs {mib} MiB of memory, which are not to be had: free memory, or use a larger machine")
    })
}

/// What the arrays of a trace may claim in all beyond what the bytes of its files can unpack to: most are stored, but
/// arrays that hold one value only, the fill value, need not be.
const UNBACKED: usize = 1 << 30;

/// How many arrays as long as all draws of a scalar are in memory at once while it is summed up.
const ARRAYS_OF_A_SUMMARY: usize = 10;

/// How much memory the arrays of a trace may claim before it is taken.
#[derive(Debug)]
pub(crate) struct Budget {
    each: usize,
    left: usize,
}

impl Budget {
    /// What `stored` bytes can unpack to, each to `expansion`; no array may claim more than `each`.
    pub(crate) fn new(stored: usize, expansion: usize, each: usize) -> Self {
        Self { each, left: stored.saturating_mul(expansion).saturating_add(UNBACKED) }
    }

    /// Adds what `stored` bytes can unpack to.
    pub(crate) fn add(&mut self, stored: u64, expansion: usize) {
        let stored = usize::try_from(stored).unwrap_or(usize::MAX);
        self.left = self.left.saturating_add(stored.saturating_mul(expansion));
    }

    /// Takes the bytes that an array over these axes has in its file, `in_file` for each value. While it is read, each
    /// takes `in_memory`, and what cannot be summed up afterwards need not be read.
    ///
    /// # Errors
    /// When there are no so many left, or so much memory cannot be had; a sentence that says what to do.
    pub(crate) fn take<'a>(
        &mut self,
        axes: impl IntoIterator<Item = (&'a str, usize)>,
        in_file: usize,
        in_memory: usize,
    ) -> Result<(), String> {
        let (mut count, mut draws) = (1usize, 1usize);
        for (name, len) in axes {
            count = count.saturating_mul(len);
            if name == "chain" || name == "draw" {
                draws = draws.saturating_mul(len);
            }
        }
        let claimed = count.saturating_mul(in_file);
        let left = self.left.checked_sub(claimed).filter(|_| claimed <= self.each);
        self.left = left.ok_or_else(|| {
            format!("it claims {claimed} bytes, more than its file can hold (a damaged file?): copy or write it again")
        })?;
        let summed_up = draws.saturating_mul(ARRAYS_OF_A_SUMMARY * size_of::<f64>());
        memory_for(count.saturating_mul(in_memory).max(if count > 0 { summed_up } else { 0 }))
    }
}

/// Returns the length of each dimension of a group. Refuses a group that contradicts itself, or with names that cannot
/// be names of files.
pub(crate) fn dimensions<'a>(group: &str, dataset: &'a Dataset) -> Result<IndexMap<&'a str, usize>, FormatError> {
    let invalid = |what: String| FormatError::Invalid { group: group.to_owned(), what };
    let sizes = dataset.dimensions().map_err(invalid)?;
    let names = dataset.variables.keys().chain(dataset.other_coords.keys()).chain(dataset.coords.keys());
    for name in names.map(String::as_str).chain(sizes.keys().copied()).chain([group]) {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return Err(invalid(format!("the name `{name}` is empty, begins with `.` or contains `/`")));
        }
    }
    for (name, array) in dataset.variables.iter().chain(&dataset.other_coords) {
        if dataset.coords.contains_key(name) {
            return Err(invalid(format!("`{name}` is both a variable and a dimension with labels")));
        }
        if dataset.variables.contains_key(name) && dataset.other_coords.contains_key(name) {
            return Err(invalid(format!("`{name}` is both a variable and a coordinate")));
        }
        if let Some(dim) =
            array.dims.iter().enumerate().find_map(|(at, dim)| array.dims[..at].contains(dim).then_some(dim))
        {
            return Err(invalid(format!("variable {name} has the dimension {dim} twice")));
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_as_far_as_files_can_fill_it() {
        let x = |len: usize| [("x", len)];
        let mut budget = Budget::new(10, 100, usize::MAX);
        assert_eq!(budget.take(x(UNBACKED), 1, 0), Ok(()));
        assert_eq!(budget.take(x(125), 8, 8), Ok(()));
        assert!(budget.take(x(1), 1, 0).unwrap_err().contains("more than its file can hold"));
        let mut budget = Budget::new(usize::MAX, 2, 64);
        assert_eq!(budget.take(x(8), 8, 8), Ok(()));
        assert!(budget.take(x(9), 8, 8).unwrap_err().contains("more than its file can hold"));
        assert!(budget.take(x(1), 0, usize::MAX / 2).unwrap_err().contains("not to be had"));
        // As a scalar, such draws could be read, but not be summed up.
        let draws = [("chain", 4), ("draw", usize::MAX / 400)];
        assert!(budget.take(draws, 0, 0).unwrap_err().contains("not to be had"));
        assert_eq!(budget.take(draws.into_iter().chain([("none", 0)]), 8, 8), Ok(()));
        let mut budget = Budget::new(0, 0, usize::MAX);
        budget.add(5, 2);
        assert_eq!(budget.left, UNBACKED + 10);
    }

    /// 1 GiB without bytes that fill it, and for each draw ten real numbers.
    #[test]
    fn limits_are_told_in_numbers() {
        let mut budget = Budget::new(0, 0, usize::MAX);
        assert_eq!(budget.take([("x", 1 << 30)], 1, 0), Ok(()));
        assert!(budget.take([("x", 1)], 1, 0).unwrap_err().contains("it claims 1 bytes, more than"));
        // 80 bytes for each of 2^50 draws, and 2^63 - 1 bytes, are MiB that no machine has.
        let told = budget.take([("chain", 1 << 10), ("draw", 1 << 40)], 0, 0).unwrap_err();
        assert!(told.starts_with("it needs 85899345920 MiB of memory, which are not to be had"), "{told}");
        let told = memory_for(usize::MAX / 2).unwrap_err();
        assert!(told.starts_with("it needs 8796093022208 MiB of memory"), "{told}");
    }
}
