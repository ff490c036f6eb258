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

/// How much memory the arrays of a trace may claim before it is taken.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
}

impl Budget {
    /// What `stored` bytes can unpack to, each to `expansion`.
    pub(crate) fn of(stored: usize, expansion: usize) -> Self {
        Self { left: stored.saturating_mul(expansion).saturating_add(UNBACKED) }
    }

    /// Adds what `stored` bytes can unpack to.
    pub(crate) fn add(&mut self, stored: u64, expansion: usize) {
        let stored = usize::try_from(stored).unwrap_or(usize::MAX);
        self.left = self.left.saturating_add(stored.saturating_mul(expansion));
    }

    /// Takes `claimed` bytes of values, for which `needed` bytes of memory are taken at once while they are read.
    ///
    /// # Errors
    /// When there are no so many left, or the system has no so much memory for this process; a sentence that says what to
    /// do.
    pub(crate) fn take(&mut self, claimed: usize, needed: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(claimed).ok_or_else(|| {
            format!("it claims {claimed} bytes, more than its file can hold (a damaged file?): copy or write it again")
        })?;
        memory_for(needed)
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
        let mut budget = Budget::of(10, 100);
        assert_eq!(budget.take(UNBACKED, 0), Ok(()));
        assert_eq!(budget.take(1000, 1000), Ok(()));
        assert!(budget.take(1, 0).unwrap_err().contains("more than its file can hold"));
        let mut budget = Budget::of(usize::MAX, 2);
        assert!(budget.take(0, usize::MAX / 2).unwrap_err().contains("not to be had"));
        assert_eq!(budget.take(usize::MAX, 0), Ok(()));
    }
}
