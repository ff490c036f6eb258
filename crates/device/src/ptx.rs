//! Finds the driver (CUDA version) that a version of PTX needs: the table of NVIDIA's release notes.

use crate::Version;

/// Returns the oldest CUDA version whose driver compiles PTX of version `isa`; `None` for a version that this program
/// does not know.
///
/// Source: PTX ISA, "Release Notes", table of release history.
pub(crate) fn cuda_for_ptx(isa: Version) -> Option<Version> {
    let Version { major, minor } = isa;
    Some(match (major, minor) {
        (7, 0..=8) => Version { major: 11, minor },
        (8, 0..=5) => Version { major: 12, minor },
        // CUDA 12.6 brought no PTX of its own.
        (8, 6..=8) => Version { major: 12, minor: minor + 1 },
        (9, _) => Version { major: 13, minor },
        _ => return None,
    })
}

/// Returns the newest PTX that a driver of CUDA version `cuda` compiles, as far as this program knows.
pub(crate) fn newest_ptx(cuda: Version) -> Option<Version> {
    (7..=9)
        .flat_map(|major| (0..100).map(move |minor| Version { major, minor }))
        .filter(|isa| cuda_for_ptx(*isa).is_some_and(|needed| needed <= cuda))
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(major: u32, minor: u32) -> Version {
        Version { major, minor }
    }

    #[test]
    fn versions_of_ptx_and_cuda_belong_together() {
        for (isa, cuda) in [(v(7, 0), v(11, 0)), (v(7, 8), v(11, 8)), (v(8, 4), v(12, 4)), (v(8, 5), v(12, 5))] {
            assert_eq!(cuda_for_ptx(isa), Some(cuda));
            assert_eq!(newest_ptx(cuda), Some(isa));
        }
        assert_eq!(cuda_for_ptx(v(8, 7)), Some(v(12, 8)));
        assert_eq!(cuda_for_ptx(v(9, 0)), Some(v(13, 0)));
        assert_eq!(newest_ptx(v(12, 6)), Some(v(8, 5)));
        assert_eq!((cuda_for_ptx(v(6, 5)), cuda_for_ptx(v(8, 9)), newest_ptx(v(10, 2))), (None, None, None));
    }
}
