//! One compiled module: a density's kernels in one precision for vectors of one size.

use super::{KernelText, Precision};

/// PTX with the two entries of one density, precision and shape: `nuts_run_<density>_<precision>_<lanes>x<rows>` and
/// `nuts_restart_<density>_<precision>_<lanes>x<rows>`.
#[derive(Clone, Copy, Debug)]
pub struct KernelModule {
    /// What it computes in.
    pub precision: Precision,
    /// Threads that carry one chain: 32 up to 256 coordinates, 128 above.
    pub lanes: u32,
    /// Coordinates that each of them holds. A module holds densities of up to `lanes * rows` coordinates; more rows than
    /// are needed cost time and change no bits.
    pub rows: u32,
    /// The text.
    pub ptx: KernelText,
}

impl KernelModule {
    /// The name of the entry that does `what` (`run` or `restart`) for the density of this kernel name.
    pub fn entry(&self, what: &str, density: &str) -> String {
        format!("nuts_{what}_{density}_{}_{}x{}", self.precision, self.lanes, self.rows)
    }
}
