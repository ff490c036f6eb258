//! What a thread knows to have happened before.
//!
//! A vector clock (Lamport 1978, Fidge 1988) has a time for each thread. Here all times are of one clock, which goes on
//! with each meeting of threads; a time that holds for all threads of a warp or a block is kept once.

use std::rc::Rc;

/// The time of a launch.
pub(crate) type Time = u64;

/// For whom a time holds. Numbers of warps and threads are those of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whom {
    Block(u32),
    Warp(u32),
    Thread(u32),
}

/// How many threads a warp and a block have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSize {
    pub(crate) block: u32,
}

impl BlockSize {
    /// Returns the number of a thread in the launch.
    pub(crate) fn thread(self, block: u32, warp: u32, lane: usize) -> u32 {
        block * self.block + warp * 32 + lane as u32
    }

    pub(crate) fn block_of(self, thread: u32) -> u32 {
        thread / self.block
    }

    /// Returns the number of a warp in the launch.
    pub(crate) fn warp(self, block: u32, warp: u32) -> u32 {
        block * self.block.div_ceil(32) + warp
    }
}

/// Up to when everything that some have done happened before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<(Whom, Time)>);

impl Clock {
    /// Returns up to when all that a warp of a block has done happened before.
    pub(crate) fn of_warp(&self, block: u32, warp: u32, sizes: BlockSize) -> Time {
        self.of(Whom::Block(block)).max(self.of(Whom::Warp(sizes.warp(block, warp))))
    }

    /// Returns up to when what a thread has done happened before, if more is known of it than of its warp.
    pub(crate) fn of_thread(&self, thread: u32) -> Time {
        self.of(Whom::Thread(thread))
    }

    fn of(&self, whom: Whom) -> Time {
        self.0.binary_search_by_key(&whom, |(of, _)| *of).map_or(0, |at| self.0[at].1)
    }

    /// Adds what another clock knows.
    pub(crate) fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(whom, time)| self.set(*whom, *time));
    }

    /// Sets up to when all that these have done happened before, unless more is known.
    pub(crate) fn set(&mut self, whom: Whom, time: Time) {
        match self.0.binary_search_by_key(&whom, |(of, _)| *of) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(time),
            Err(at) => self.0.insert(at, (whom, time)),
        }
    }

    /// Sets up to when all that a block has done happened before, which is now: what was known of its warps and threads
    /// is no longer needed.
    pub(crate) fn set_block(&mut self, block: u32, now: Time, sizes: BlockSize) {
        let warps = sizes.block.div_ceil(32);
        self.0.retain(|(whom, _)| match whom {
            Whom::Block(_) => true,
            Whom::Warp(warp) => warp / warps != block,
            Whom::Thread(thread) => thread / sizes.block != block,
        });
        self.set(Whom::Block(block), now);
    }
}

/// Joins the clocks of several threads, most of which share one.
pub(crate) fn join_all<'a>(clocks: impl IntoIterator<Item = &'a Rc<Clock>>) -> Clock {
    let mut seen: Vec<&Rc<Clock>> = Vec::new();
    for clock in clocks {
        if !seen.iter().any(|other| Rc::ptr_eq(other, clock)) {
            seen.push(clock);
        }
    }
    let Some((first, others)) = seen.split_first() else { return Clock::default() };
    let mut all = Clock::clone(first);
    others.iter().for_each(|other| all.join(other));
    all
}
