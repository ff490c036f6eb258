//! Races: two threads touch the same memory, one of them writes, and nothing orders them.
//!
//! What orders threads are the block's barrier, the warp's barrier, and a flag: one thread writes, fences and sets a
//! volatile; the other reads the volatile, fences and reads (the happens-before relation of FastTrack, Flanagan and
//! Freund 2009). Blocks of an ordinary launch are ordered by nothing else, whatever the order that they ran in here.
//!
//! Relaxed accesses may meet each other, and order nothing: a relaxed and an ordinary access of which one writes are a
//! race. Of an ordinary write over a relaxed read the next relaxed read tells.

use super::clock::{BlockSize, Clock, Time, Whom, join_all};
use super::shadow::{GRANULE, Shadow, Touched};
use crate::lanes::{LANES, each};
use crate::warp::first_lanes;
use crate::watch::Doing;
use std::collections::HashMap;
use std::rc::Rc;

/// Lanes of a warp that touch the same memory in one instruction. If they write, they write the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) block: u32,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) line: u32,
    pub(crate) relaxed: bool,
}

/// Lanes have touched what they should not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) kind: &'static str,
    /// What they are in conflict with, if that is another access.
    pub(crate) other: Option<Touched>,
}

/// What one thread knows.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    clock: Rc<Clock>,
    /// What its flags tell: what it knew at its last fence.
    fenced: Rc<Clock>,
    /// What flags have told it, which counts from its next fence on.
    told: Option<Rc<Clock>>,
}

/// The races of a launch.
pub(crate) struct Races {
    sizes: BlockSize,
    /// Whether something of one block can come to happen before something of another.
    orders_blocks: bool,
    now: Time,
    /// The threads of each block that has begun.
    blocks: HashMap<u32, Vec<Knowledge>>,
    flags: HashMap<u64, Rc<Clock>>,
    shadow: Shadow,
}

impl Races {
    /// Makes those of a launch of blocks with so many threads, whose kernel has fences or none.
    pub(crate) fn of(threads: u32, has_fences: bool) -> Self {
        let sizes = BlockSize { block: threads };
        let (blocks, flags) = (HashMap::new(), HashMap::new());
        Self { sizes, orders_blocks: has_fences, now: 1, blocks, flags, shadow: Shadow::default() }
    }

    /// Returns the threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.sizes.block
    }

    pub(crate) fn begin(&mut self, block: u32) {
        self.blocks.insert(block, vec![Knowledge::default(); self.sizes.block as usize]);
    }

    fn knowledge(&mut self, thread: u32) -> Option<&mut Knowledge> {
        let block = self.blocks.get_mut(&self.sizes.block_of(thread))?;
        block.get_mut((thread % self.sizes.block) as usize)
    }

    /// All threads of a block that have not left it have met.
    pub(crate) fn barrier(&mut self, groups: &[Doing<'_>], some_have_left: bool) {
        let Some(block) = groups.first().map(|group| group.block) else { return };
        let threads: Vec<u32> = groups.iter().flat_map(|group| lanes_of(group.warp, group.lanes)).collect();
        self.join(block, &threads, |clock, now, sizes| {
            if some_have_left {
                threads.iter().for_each(|thread| clock.set(Whom::Thread(block * sizes.block + thread), now));
            } else {
                clock.set_block(block, now, sizes);
            }
        });
    }

    /// Lanes of a warp have met.
    pub(crate) fn warp(&mut self, block: u32, warp: u32, lanes: u32) {
        let threads: Vec<u32> = lanes_of(warp, lanes).collect();
        let whole = first_lanes(self.sizes.block - warp * LANES as u32);
        self.join(block, &threads, |clock, now, sizes| {
            if lanes == whole {
                clock.set(Whom::Warp(sizes.warp(block, warp)), now);
            } else {
                threads.iter().for_each(|thread| clock.set(Whom::Thread(block * sizes.block + thread), now));
            }
        });
    }

    fn join(&mut self, block: u32, threads: &[u32], add: impl FnOnce(&mut Clock, Time, BlockSize)) {
        let (now, sizes) = (self.now, self.sizes);
        let Some(known) = self.blocks.get_mut(&block) else { return };
        let mut clock = join_all(threads.iter().map(|thread| &known[*thread as usize].clock));
        add(&mut clock, now, sizes);
        let clock = Rc::new(clock);
        threads.iter().for_each(|thread| known[*thread as usize].clock = Rc::clone(&clock));
        self.now += 1;
    }

    /// A thread orders what it has done before what it does from now on.
    pub(crate) fn fence(&mut self, thread: u32) {
        let now = self.now;
        let Some(known) = self.knowledge(thread) else { return };
        let mut clock = Clock::clone(&known.clock);
        if let Some(told) = known.told.take() {
            clock.join(&told);
            known.clock = Rc::new(clock.clone());
        }
        clock.set(Whom::Thread(thread), now);
        known.fenced = Rc::new(clock);
        self.now += 1;
    }

    /// A thread sets or reads a flag.
    pub(crate) fn flag(&mut self, thread: u32, address: u64, is_store: bool) {
        if is_store {
            let fenced = self.knowledge(thread).map(|known| Rc::clone(&known.fenced));
            self.flags.insert(address, fenced.unwrap_or_default());
        } else if let Some(flag) = self.flags.get(&address).cloned()
            && let Some(known) = self.knowledge(thread)
        {
            known.told = Some(match known.told.take() {
                None => flag,
                Some(told) if Rc::ptr_eq(&told, &flag) => told,
                Some(told) => Rc::new(join_all([&told, &flag])),
            });
        }
    }

    /// Lanes read or write memory: the shared memory of a block, or global memory.
    pub(crate) fn touch(
        &mut self,
        who: Touch,
        shared: Option<u32>,
        address: u64,
        bytes: u64,
        is_store: bool,
    ) -> Option<Conflict> {
        let known = self.blocks.get(&who.block)?;
        let past = Past { sizes: self.sizes, known, who };
        let Touch { block, warp, lanes, line, relaxed } = who;
        let own = Touched { block, warp: warp as u16, lanes, line, time: self.now, relaxed };
        let mut found = None;
        for at in (address / GRANULE..(address + bytes).div_ceil(GRANULE)).map(|granule| granule * GRANULE) {
            let granule = self.shadow.granule(shared, at);
            let written = granule.write.line != 0;
            if written && !(relaxed && granule.write.relaxed) && !past.has_written(&granule.write) {
                let kind = if is_store { "race of two writes" } else { "race of a read with a write" };
                found = Some(Conflict { kind, other: Some(granule.write) });
            } else if !written && !is_store && shared.is_some() {
                found = Some(Conflict { kind: super::UNWRITTEN, other: None });
            }
            if is_store {
                if let Some(read) = granule.reads.iter().find(|read| !past.has_read(read)) {
                    found = Some(Conflict { kind: "race of a write with a read", other: Some(*read) });
                }
                granule.reads.clear();
                granule.write = own;
            } else if !relaxed {
                // What a read comes after, a write that comes after the read comes after too.
                granule.reads.retain(|read| !past.has_read(read));
                // Without order between blocks, whoever writes next is in conflict with one of two blocks that have read.
                if self.orders_blocks || !are_of_two_blocks(&granule.reads) {
                    granule.reads.push(own);
                }
            }
        }
        found
    }
}

fn are_of_two_blocks(reads: &[Touched]) -> bool {
    reads.iter().any(|read| read.block != reads[0].block)
}

/// What is past for lanes of a warp.
struct Past<'a> {
    sizes: BlockSize,
    /// What the threads of the block know.
    known: &'a [Knowledge],
    who: Touch,
}

impl Past<'_> {
    /// Whether a write happened before, for each lane: that of one of the lanes that wrote the same, or its own.
    fn has_written(&self, write: &Touched) -> bool {
        let own = if self.is_same_warp(write) { write.lanes } else { 0 };
        self.clocks(self.who.lanes & !own).all(|(_, clock)| {
            self.knows_all(clock, write) || each(write.lanes).any(|lane| self.knows(clock, write, lane))
        })
    }

    /// Whether the reads of all lanes happened before, for each lane, its own aside.
    fn has_read(&self, read: &Touched) -> bool {
        let own = self.is_same_warp(read);
        self.clocks(self.who.lanes).all(|(lane, clock)| {
            let others = if own { read.lanes & !(1 << lane) } else { read.lanes };
            self.knows_all(clock, read) || each(others).all(|other| self.knows(clock, read, other))
        })
    }

    fn is_same_warp(&self, access: &Touched) -> bool {
        (access.block, u32::from(access.warp)) == (self.who.block, self.who.warp)
    }

    fn clocks(&self, lanes: u32) -> impl Iterator<Item = (usize, &Clock)> {
        each(lanes).map(|lane| (lane, &*self.known[self.who.warp as usize * LANES + lane].clock))
    }

    /// Whether all that the warp did at that time happened before.
    fn knows_all(&self, clock: &Clock, access: &Touched) -> bool {
        clock.of_warp(access.block, access.warp.into(), self.sizes) >= access.time
    }

    fn knows(&self, clock: &Clock, access: &Touched, lane: usize) -> bool {
        clock.of_thread(self.sizes.thread(access.block, access.warp.into(), lane)) >= access.time
    }
}

fn lanes_of(warp: u32, lanes: u32) -> impl Iterator<Item = u32> {
    each(lanes).map(move |lane| warp * LANES as u32 + lane as u32)
}
