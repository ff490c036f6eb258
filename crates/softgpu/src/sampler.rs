//! The sampler's kernels on the software GPU: their PTX, or their sources with lanes as threads or as arrays.
//!
//! Sources are built apart from the others: all of them take a minute, and few tests need any.

use crate::kernels::KernelSources;
use crate::unavailable::Unavailable;
use crate::units::sampler_units;

/// The way the lanes of a chain run in the sampler's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// The interpreter runs the text that the program loads, as a GPU's driver would get it: the masks, barriers,
    /// shared memory and parameters of the compiler that made it. That goes for all kernels, not the sampler's alone. See
    /// [`Settings::checked`](crate::Settings::checked) and [`Settings::order`](crate::Settings::order).
    Ptx,
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
            Self::Ptx | Self::Fibers => &[],
            // Wider vectors give the same bits in two thirds of the time.
            Self::Arrays if has_avx2() => &["-DOCTOPUS_HOST_LANES", "-mavx2"],
            Self::Arrays => &["-DOCTOPUS_HOST_LANES"],
        }
    }

    /// Returns the beginning of a build's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
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

/// Returns the sources of the unit of this name.
///
/// # Errors
/// When there is none.
pub(crate) fn unit(name: &str) -> Result<KernelSources, Unavailable> {
    let unit = sampler_units()?.into_iter().find(|unit| unit.name == name);
    Ok(KernelSources::of_sampler([unit.ok_or_else(|| Unavailable::NoUnit { name: name.to_owned() })?]))
}
