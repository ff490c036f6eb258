//! Compiled modules: a density's kernels in one precision.

use super::{KernelText, Precision};

/// PTX with the two entries of one density, precision and shape: `nuts_run_<density>_<precision>_<lanes>x<rows>` and
/// `nuts_restart_<density>_<precision>_<lanes>x<rows>`. Entries for a team end with `_team`; entries for many data sets
/// have `batch_` before the density.
#[derive(Clone, Copy, Debug)]
pub struct KernelModule {
    /// The precision in which the kernels compute.
    pub precision: Precision,
    /// Threads that carry one chain: 32 up to 256 coordinates, 128 above.
    pub lanes: u32,
    /// Coordinates that each thread holds. A module holds densities of up to `lanes * rows` coordinates; more rows than
    /// are needed cost time and change no bits.
    pub rows: u32,
    /// Whether several blocks of threads share the evaluations of a chain (`kernels/nuts/team.cuh`).
    pub team: bool,
    /// The PTX.
    pub ptx: KernelText,
}

/// The work of one evaluation for a team of blocks: tasks, one warp for each. A task may wait for the answers of tasks with
/// lower numbers. No bit depends on which block does which task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamWork {
    /// The number of tasks.
    pub tasks: usize,
    /// The number of results of all tasks together, of the scalars' type.
    pub answers: usize,
}

impl KernelModule {
    /// Returns the name of the entry that does `what` for the density of this kernel name. `what` is `run` or
    /// `restart`; for a batch it is `run_batch` or `restart_batch`.
    pub fn entry(&self, what: &str, density: &str) -> String {
        format!("nuts_{what}_{density}_{}", self.kernel())
    }

    /// Returns the end of the entries' names, after the density's name, such as `f64_32x4`.
    pub fn kernel(&self) -> String {
        let Self { precision, lanes, rows, team, .. } = self;
        format!("{precision}_{lanes}x{rows}{}", if *team { "_team" } else { "" })
    }
}
