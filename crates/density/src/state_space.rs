//! Hidden states that move by chance, each seen through one observation: what a particle filter needs to know of them.

/// The random numbers by which a state moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateNoise {
    /// Standard normal numbers.
    Normal,
    /// Uniform numbers of (0, 1).
    Uniform,
}

/// A state-space model with known parameters, whose state is one number: how states move, and how probable an observation
/// is given its state.
///
/// All functions work on many particles at once. They must be deterministic, and treat each particle alone: the filter hands
/// them over in parts of any size.
pub trait StateSpaceModel: Send + Sync {
    /// Returns the number of steps, each with one observation.
    fn steps(&self) -> usize;

    /// Returns the kind of random numbers that [`advance`](Self::advance) takes.
    fn noise(&self) -> StateNoise;

    /// Moves particles to a step, each by a random number of its own; in step 0 it draws their first states, whatever they
    /// are. Both slices have the same length.
    fn advance(&self, step: usize, noise: &[f64], particles: &mut [f64]);

    /// Writes the log density of the observation of a step given each particle, constants included. Both slices have the
    /// same length.
    fn log_likelihood(&self, step: usize, particles: &[f64], out: &mut [f64]);
}
