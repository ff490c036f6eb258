//! The order in which lanes, warps and blocks come to their turns.

/// How lanes, warps and blocks take turns. A kernel that is right gives the same bits in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The lanes of a warp go together, those that went apart meet as soon as they can, and blocks follow each other.
    #[default]
    LockStep,
    /// Lanes split and meet, and warps and blocks take turns, as this seed has it.
    Random(u64),
}

/// What an order decides.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    is_random: bool,
    state: u64,
}

/// The ordinary blocks that are side by side in a random order: enough for each to find others half way.
const SIDE_BY_SIDE: usize = 4;

impl Turns {
    pub(crate) fn of(order: Order) -> Self {
        match order {
            Order::LockStep => Self { is_random: false, state: 1 },
            Order::Random(seed) => Self { is_random: true, state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 },
        }
    }

    #[inline(always)]
    pub(crate) fn is_random(&self) -> bool {
        self.is_random
    }

    /// Returns how many blocks that do not wait for each other run side by side.
    pub(crate) fn side_by_side(&self) -> usize {
        if self.is_random { SIDE_BY_SIDE } else { 1 }
    }

    /// Returns the next random number (Marsaglia 2003, xorshift).
    pub(crate) fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Returns one of the first `count` numbers: the last one in lock-step.
    pub(crate) fn one_of(&mut self, count: usize) -> usize {
        if self.is_random { self.random() as usize % count } else { count - 1 }
    }

    /// Returns where a round of turns begins.
    pub(crate) fn first_of(&mut self, count: usize) -> usize {
        if self.is_random { self.random() as usize % count } else { 0 }
    }
}
