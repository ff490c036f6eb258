//! Checks of a group before it is written, and the most memory (bytes) that a variable may claim when it is read.
//!
//! They are the same for every format, so that a group that can be written in one format can be written in all.

use crate::FormatError;
use indexmap::IndexMap;
use octopus_trace::Dataset;

/// No variable may claim more than this: a damaged header must not ask for all the memory there is.
pub(crate) const MAX_VARIABLE_BYTES: usize = 8 << 30;

/// Returns the length of each dimension of a group. Refuses a group that contradicts itself, or with names that cannot
/// be names of files.
pub(crate) fn dimensions<'a>(group: &str, dataset: &'a Dataset) -> Result<IndexMap<&'a str, usize>, FormatError> {
    let invalid = |what: String| FormatError::Invalid { group: group.to_owned(), what };
    let sizes = dataset.dimensions().map_err(invalid)?;
    let names = dataset.variables.keys().chain(dataset.coords.keys());
    for name in names.map(String::as_str).chain(sizes.keys().copied()).chain([group]) {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return Err(invalid(format!("the name `{name}` is empty, begins with `.` or contains `/`")));
        }
    }
    for (name, array) in &dataset.variables {
        if dataset.coords.contains_key(name) {
            return Err(invalid(format!("`{name}` is both a variable and a dimension with labels")));
        }
        if let Some(dim) =
            array.dims.iter().enumerate().find_map(|(at, dim)| array.dims[..at].contains(dim).then_some(dim))
        {
            return Err(invalid(format!("variable {name} has the dimension {dim} twice")));
        }
    }
    Ok(sizes)
}
