//! Compiled modules: a density's kernels in one precision.

use super::{KernelText, Precision};

/// PTX with the two entries of one density, precision and shape: `nuts_run_<density>_<precision>_<lanes>x<rows>` and
/// `nuts_restart_<density>_<precision>_<lanes>x<rows>`, with `_team` at the end where they are a team's, and `batch_` before
/// the density where they are for many data sets.
#[derive(Clone, Copy, Debug)]
pub struct KernelModule {
    /// What it computes in.
    pub precision: Precision,
    /// Threads that carry one chain: 32 up to 256 coordinates, 128 above.
    pub lanes: u32,
    /// Coordinates that each of them holds. A module holds densities of up to `lanes * rows` coordinates; more rows than
    /// are needed cost time and change no bits.
    pub rows: u32,
    /// Whether several blocks of threads share the evaluations of a chain (`kernels/nuts/team.cuh`).
    pub team: bool,
    /// The text.
    pub ptx: KernelText,
}

/// One evaluation's work for a team of blocks: tasks that do not depend on each other, each a warp's. No bit depends on
/// who does which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamWork {
    /// How many there are.
    pub tasks: usize,
    /// Numbers that all of them together answer with, of the scalars' type.
    pub answers: usize,
}

impl KernelModule {
    /// The name of the entry that does `what` (`run` or `restart`, of a batch `run_batch` or `restart_batch`) for the density of this kernel name.
    pub fn entry(&self, what: &str, density: &str) -> String {
        format!("nuts_{what}_{density}_{}", self.kernel())
    }

    /// What comes after the density's name in the entries' names, such as `f64_32x4`.
    pub fn kernel(&self) -> String {
        let Self { precision, lanes, rows, team, .. } = self;
        format!("{precision}_{lanes}x{rows}{}", if *team { "_team" } else { "" })
    }
}

/// PTX with the entries that turn a density's draws into what people read: `nuts_expand_<density>_<precision>` gives the
/// variables of its layout, `nuts_predict_<density>_<precision>` replicated observations. One for any number of
/// coordinates.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionModule {
    /// What it computes in.
    pub precision: Precision,
    /// The text.
    pub ptx: KernelText,
}

impl ExpansionModule {
    /// The name of the entry that does `what` (`expand` or `predict`) for the density of this kernel name.
    pub fn entry(&self, what: &str, density: &str) -> String {
        format!("nuts_{what}_{density}_{}", self.precision)
    }
}
