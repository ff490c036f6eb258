//! The facts about a chip that follow from its compute capability: cores of a multiprocessor.

use crate::Version;

/// CUDA cores (lanes for f32) of one streaming multiprocessor; `None` for a chip that this program does not know.
///
/// Source: CUDA C++ Programming Guide, "Compute Capabilities", arithmetic instructions per clock.
fn cores_per_multiprocessor(capability: Version) -> Option<u32> {
    Some(match (capability.major, capability.minor) {
        (5, _) | (6, 1 | 2) | (8, 6 | 7 | 9) | (9..=12, _) => 128,
        (6 | 8, 0) | (7, _) => 64,
        _ => return None,
    })
}

/// Returns the number of streaming multiprocessors; NVML tells cores, and the driver multiprocessors.
pub(crate) fn multiprocessors(capability: Version, cores: u32) -> Option<u32> {
    let each = cores_per_multiprocessor(capability)?;
    cores.is_multiple_of(each).then_some(cores / each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sheets_agree() {
        // Product, compute capability, cores and multiprocessors of NVIDIA's data sheets.
        for (product, major, minor, cores, count) in [
            ("V100", 7, 0, 5120, 80),
            ("A100", 8, 0, 6912, 108),
            ("RTX A6000", 8, 6, 10752, 84),
            ("RTX 4090", 8, 9, 16384, 128),
            ("H100 SXM", 9, 0, 16896, 132),
            ("P100", 6, 0, 3584, 56),
            ("GTX 1080", 6, 1, 2560, 20),
        ] {
            assert_eq!(multiprocessors(Version { major, minor }, cores), Some(count), "{product}");
        }
        assert_eq!(multiprocessors(Version { major: 8, minor: 6 }, 100), None);
        assert_eq!(multiprocessors(Version { major: 3, minor: 5 }, 2880), None);
    }
}
