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
    within(file, DEEPEST, MOST)
}

/// Whether the groups are no deeper than `deepest`, and with the root no more than `most`.
fn within(file: &Hdf5File, deepest: usize, most: usize) -> Result<(), String> {
    let told = |error: hdf5_reader::error::Error| error.to_string();
    let mut open = vec![(file.root_group().map_err(told)?, 0)];
    let mut seen = 0;
    while let Some((group, depth)) = open.pop() {
        seen += 1;
        if depth > deepest || seen > most {
            return Err(format!(
                "its groups hold each other, or are more than {most} (a damaged link?): copy it again"
            ));
        }
        open.extend(group.groups().map_err(told)?.into_iter().map(|child| (child, depth + 1)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcdf_writer::{NcFileBuilder, NcWriteFormat, NcWriteOptions};

    #[test]
    fn groups_may_be_as_deep_and_as_many_as_the_limits() {
        // The root, three groups in each other, and one beside them.
        let mut file = NcFileBuilder::new();
        for path in ["a/b/c/v", "d/v"] {
            let variable = file.add_variable_path::<f64>(path, &[]).unwrap();
            file.write_variable(variable, &[1.0]).unwrap();
        }
        let options = NcWriteOptions { format: NcWriteFormat::Nc4 };
        let file = Hdf5File::from_vec(file.to_vec(options).unwrap().1).unwrap();
        assert_eq!(within(&file, 3, 5), Ok(()));
        assert!(within(&file, 2, 5).unwrap_err().contains("hold each other"));
        assert!(within(&file, 3, 4).unwrap_err().contains("more than 4"));
        assert_eq!(check(&file), Ok(()));
    }

    #[test]
    fn thirty_two_groups_may_lie_in_each_other() {
        let told = |depth: usize| {
            let mut file = NcFileBuilder::new();
            let variable = file.add_variable_path::<f64>(format!("{}v", "g/".repeat(depth)), &[]).unwrap();
            file.write_variable(variable, &[1.0]).unwrap();
            let bytes = file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
            check(&Hdf5File::from_vec(bytes).unwrap())
        };
        assert_eq!(told(32), Ok(()));
        assert!(told(33).unwrap_err().contains("hold each other, or are more than 10000"));
    }
}
