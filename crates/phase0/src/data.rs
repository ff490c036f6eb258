//! The PRD's data, with a check that they equal NumPy's to the last bit.

use crate::error::Phase0Error;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{DataSource, HierarchicalNormalProblem, HierarchicalSettings, Problem};

/// The SHA-256 of y as NumPy makes it, by number of groups: `np.random.seed(42)`, groups x 10, little-endian f64.
const NUMPY: [(usize, &str); 3] = [
    (100, "6f909ab7a3029624491e4f8446c59a8787d5c6adcd6e60a83eeda6560adf1efe"),
    (500, "004cf66d5ff503dc12dbbbfd81d33356b604b9ffeffbeca66dbf79f57b6393f5"),
    (1000, "bf4a18f38c104e57fd4b9ec942871808f3cdb02ac074443ea0027593c92f64ab"),
];

/// The problem of phase 0.
pub(super) struct Data {
    /// The model with its data.
    pub(super) problem: HierarchicalNormalProblem,
    /// Whether the data are NumPy's; `None` for a size whose hash is not known.
    pub(super) is_numpys: Option<bool>,
}

/// Makes the data, and compares their hash with NumPy's.
///
/// # Errors
/// When there is no group.
pub(super) fn run(groups: usize) -> Result<Data, Phase0Error> {
    let problem = of_size(groups)?;
    let known = NUMPY.iter().find(|(size, _)| *size == groups);
    let is_numpys = known.map(|(_, sha256)| *sha256 == problem.data().sha256);
    Ok(Data { problem, is_numpys })
}

/// Makes the PRD's problem with `groups` groups.
///
/// # Errors
/// When there is no group.
pub fn of_size(groups: usize) -> Result<HierarchicalNormalProblem, Phase0Error> {
    let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
    let settings = HierarchicalSettings { data: DataSource::Synthetic(spec), ..HierarchicalSettings::default() };
    Ok(HierarchicalNormalProblem::new(settings, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prds_sizes_are_numpys() {
        for groups in [100, 500, 1000] {
            assert_eq!(run(groups).unwrap().is_numpys, Some(true), "{groups} groups");
        }
        assert_eq!(run(7).unwrap().is_numpys, None);
    }
}
