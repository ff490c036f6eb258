//! Walks the groups of an HDF5 file, with limits of their depth and number.
//!
//! They need not be a tree: a damaged link may lead back to a group that holds it.

use hdf5_reader::Hdf5File;

/// Groups in groups; ArviZ's schema has one level, PyMC's stores none more.
const DEEPEST: usize = 32;

/// Groups in all.
const MOST: usize = 10_000;

/// Whether the groups can be walked through: netcdf-reader does so by recursion, and a circle would overflow its stack, which
/// no guard can catch.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn check(file: &Hdf5File) -> Result<(), String> {
    let told = |error: hdf5_reader::error::Error| error.to_string();
    let mut open = vec![(file.root_group().map_err(told)?, 0)];
    let mut seen = 0;
    while let Some((group, depth)) = open.pop() {
        seen += 1;
        if depth > DEEPEST || seen > MOST {
            return Err(format!(
                "its groups hold each other, or are more than {MOST} (a damaged link?): copy it again"
            ));
        }
        open.extend(group.groups().map_err(told)?.into_iter().map(|child| (child, depth + 1)));
    }
    Ok(())
}
