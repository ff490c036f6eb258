//! The statistics of a transition.

use super::layout::Float;

/// Bytes of a transition's record.
pub(super) const RECORD: usize = 64;

/// The statistics of one transition, as `Record` of `kernels/nuts/transition.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NutsRecord {
    /// Log density of the draw in the density's own coordinates.
    pub lp: f64,
    /// Mean Metropolis acceptance probability over the trajectory.
    pub acceptance_rate: f64,
    /// Step size.
    pub step_size: f64,
    /// Hamiltonian of the draw.
    pub energy: f64,
    /// Hamiltonian of the draw less that of the start.
    pub energy_error: f64,
    /// Largest energy error met, by magnitude.
    pub max_energy_error: f64,
    /// Completed doublings.
    pub tree_depth: u32,
    /// Leapfrog steps.
    pub n_steps: u32,
    /// Place of the draw on the trajectory, the start being 0.
    pub index_in_trajectory: i32,
    /// Whether the energy error passed the limit.
    pub diverging: bool,
    /// Whether the density had no value at the draw in its own coordinates, where the gradient was to be kept.
    pub without_gradient: bool,
    /// Whether the trajectory ended only because the depth limit was reached.
    pub reached_max_treedepth: bool,
}

impl NutsRecord {
    pub(super) fn decode(bytes: &[u8; RECORD]) -> Self {
        let mut reals = Vec::with_capacity(6);
        Float::F64.decode(&bytes[..48], &mut reals);
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            lp: reals[0],
            acceptance_rate: reals[1],
            step_size: reals[2],
            energy: reals[3],
            energy_error: reals[4],
            max_energy_error: reals[5],
            tree_depth: word(48),
            n_steps: word(52),
            index_in_trajectory: word(56).cast_signed(),
            diverging: word(60) & 1 != 0,
            reached_max_treedepth: word(60) & 2 != 0,
            without_gradient: word(60) & 4 != 0,
        }
    }
}
