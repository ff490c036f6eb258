//! The sampler's kernels, which are built apart from the others: all of them take a minute, and few tests need any.

use crate::kernels::KernelSources;
use crate::unavailable::{Unavailable, at};
use std::path::{Path, PathBuf};

/// The way the lanes of a chain run in the sampler's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// Each lane is a thread of its own, as on a GPU: lanes meet in shuffles and barriers. Faithful, and slow.
    Fibers,
    /// The lanes are an array, and one thread of each chain does the work of all. This gives the same bits some hundred
    /// times faster: for tests of whole runs.
    Arrays,
}

impl Lanes {
    /// Returns the additional arguments of the compiler.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Fibers => &[],
            // Wider vectors give the same bits in two thirds of the time.
            Self::Arrays if has_avx2() => &["-DOCTOPUS_HOST_LANES", "-mavx2"],
            Self::Arrays => &["-DOCTOPUS_HOST_LANES"],
        }
    }

    /// Returns the beginning of a build's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fibers => "fibers",
            Self::Arrays => "arrays",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Returns the names of all units of the sampler's kernels, in alphabetical order, such as
/// `nuts_hierarchical_normal_f64_32x4`: one for each density, precision and shape.
///
/// # Errors
/// When the workspace's folder of kernels cannot be read.
pub fn sampler_units() -> Result<Vec<String>, Unavailable> {
    let folder = kernels().join(UNITS);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(at(&folder))? {
        let path = entry.map_err(at(&folder))?.path();
        if path.extension().is_some_and(|ending| ending == "cu") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Below the kernels' folder.
const UNITS: &str = "nuts/units";

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// Returns the sources of the unit of this name.
///
/// # Errors
/// When there is none.
pub(crate) fn unit(name: &str) -> Result<KernelSources, Unavailable> {
    if !sampler_units()?.iter().any(|there| there == name) {
        return Err(Unavailable::NoUnit { name: name.to_owned() });
    }
    let kernels = kernels();
    let unit = kernels.join(UNITS).join(format!("{name}.cu"));
    Ok(KernelSources { units: vec![unit], include: vec![kernels.join("include"), kernels.join("nuts")] })
}
