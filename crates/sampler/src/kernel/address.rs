//! Where the random numbers of a transition are: the streams of one seed, chain and iteration.

use octopus_random::{Purpose, Stream};

/// The address of a transition's random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) seed: u64,
    pub(crate) chain: u32,
    pub(crate) iteration: u32,
}

impl Address {
    pub(crate) fn stream(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, self.chain, self.iteration, purpose)
    }
}
