//! Random numbers addressed by what they are for.

/// What a random number is for: streams of different purposes never share numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Starting points.
    Init = 1,
    /// Momenta.
    Momentum = 2,
    /// Directions and acceptances of NUTS.
    Tree = 3,
    /// Posterior predictive draws.
    Predictive = 4,
    /// Anything of the user's own.
    User = 5,
}

/// A sequence of random numbers that depends only on (seed, chain, iteration, purpose).
#[derive(Clone, Debug)]
pub struct Stream {}
