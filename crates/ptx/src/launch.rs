//! A launch: a grid of blocks that run a kernel.

use crate::checks::Checks;
use crate::dispatch;
use crate::fault::LaunchFault;
use crate::global::{Allocation, GlobalMemory};
use crate::lanes::Registers;
use crate::late::LateWords;
use crate::module::{Code, Entry};
use crate::order::{Order, Turns};
use crate::warp::{Count, Group, LaunchState, Surroundings, TurnEnd, Warp, first_lanes, split};
use crate::watch::{Doing, Unwatched, Watch};
use std::time::{Duration, Instant};

/// The numbers of blocks and of threads of each, along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// How a kernel is launched.
#[derive(Debug)]
pub struct Launch<'a> {
    /// Blocks and threads.
    pub shape: LaunchShape,
    /// The parameters as they lie in memory: see [`Entry::parameters`].
    pub parameters: &'a [u8],
    /// The bytes of shared memory beyond those that the kernel declares.
    pub dynamic_shared: u32,
    /// All blocks run side by side, since they wait for each other.
    pub together: bool,
    /// The global memory that the kernel may reach.
    pub allocations: Vec<Allocation<'a>>,
    /// The order of lanes, warps and blocks.
    pub order: Order,
    /// Whether to look for races, for registers and memory that are read before they are written, and for barriers that
    /// threads miss.
    pub checked: bool,
    /// How long threads may sleep (`nanosleep`) in the launch after the first did.
    pub patience: Duration,
    /// How often groups of lanes may come to places where they may meet others, which they do in each round of a loop:
    /// a kernel that wants more is taken to be endless.
    pub most_joins: u64,
}

/// What a launch was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchOutcome {
    /// How often each instruction was done, in the order of [`Entry::instructions`].
    pub counts: Vec<Count>,
    /// Why it failed, if it did.
    pub fault: Option<LaunchFault>,
}

impl Entry {
    /// Runs the kernel; what it leaves in memory is in the launch's allocations.
    pub fn run<'a>(&'a self, mut launch: Launch<'a>) -> LaunchOutcome {
        if let Err(fault) = check_shape(self, &launch) {
            return LaunchOutcome { counts: vec![Count::default(); self.code.instructions.len()], fault: Some(fault) };
        }
        let checks = launch.checked.then(|| Checks::of(self, launch.shape, &mut launch.allocations));
        match checks {
            Some(checks) => finish(self, &self.code, launch, checks),
            None => finish(self, &self.compact.code, launch, Unwatched),
        }
    }
}

fn check_shape(entry: &Entry, launch: &Launch<'_>) -> Result<(), LaunchFault> {
    let product = |sizes: [u32; 3]| sizes.iter().map(|size| u64::from(*size)).product::<u64>();
    let (blocks, threads) = (product(launch.shape.grid), product(launch.shape.block));
    if blocks == 0 || blocks > u64::from(u32::MAX) || threads == 0 || threads > 1024 {
        return Err(LaunchFault::Shape(format!("{blocks} blocks of {threads} threads cannot be launched")));
    }
    let (given, expected) = (launch.parameters.len() as u64, entry.parameter_bytes());
    if given != expected {
        return Err(LaunchFault::Shape(format!("{} has {expected} bytes of parameters, not {given}", entry.name())));
    }
    Ok(())
}

fn finish<W: Watch>(entry: &Entry, code: &Code, launch: Launch<'_>, watch: W) -> LaunchOutcome {
    let Launch { shape, parameters, dynamic_shared, together, allocations, order, patience, most_joins, .. } = launch;
    let mut global = GlobalMemory::new(allocations);
    let run = LaunchState {
        entry,
        code,
        shape,
        parameters,
        global: &mut global,
        turns: Turns::of(order),
        late: LateWords::default(),
        watch,
        left: most_joins,
        counts: vec![Count::default(); code.instructions.len()],
    };
    let mut grid = Grid { run, dynamic_shared, together, patience, first_sleep: None, unlooked: 0 };
    let fault = grid.all_blocks().err();
    let LaunchState { watch, counts, .. } = grid.run;
    let fault = fault.or_else(|| {
        let findings = watch.findings();
        (!findings.is_empty()).then_some(LaunchFault::Findings(findings))
    });
    LaunchOutcome { counts, fault }
}

struct Block<N> {
    number: u32,
    index: [u32; 3],
    shared: Vec<u8>,
    warps: Vec<Warp<N>>,
    /// Why each warp's last turn ended.
    states: Vec<TurnEnd>,
}

struct Grid<'a, 'm, W: Watch> {
    run: LaunchState<'a, 'm, W>,
    dynamic_shared: u32,
    together: bool,
    patience: Duration,
    /// When a block first slept.
    first_sleep: Option<Instant>,
    /// Rounds since somebody looked at the clock.
    unlooked: u32,
}

/// What is in shared memory before anything is written: NaNs.
const UNWRITTEN: u8 = 0xff;

/// The clock is looked at once in so many rounds in which all sleep.
const ROUNDS_A_LOOK: u32 = 64;

impl<W: Watch> Grid<'_, '_, W> {
    fn all_blocks(&mut self) -> Result<(), LaunchFault> {
        let count: u32 = self.run.shape.grid.iter().product();
        let most = if self.together { count as usize } else { self.run.turns.side_by_side() };
        let mut waiting = 0..count;
        let mut open: Vec<Block<W::Notes>> = Vec::new();
        loop {
            while open.len() < most
                && let Some(number) = waiting.next()
            {
                open.push(self.block(number));
            }
            if open.is_empty() {
                self.run.late.deliver_all(self.run.global);
                return Ok(());
            }
            self.run.late.deliver_due(self.run.global);
            let first = self.run.turns.first_of(open.len());
            let mut all_sleep = true;
            for k in 0..open.len() {
                let at = (first + k) % open.len();
                all_sleep &= self.turn(&mut open[at])?;
            }
            open.retain(|block| block.states.iter().any(|state| *state != TurnEnd::Done));
            if all_sleep {
                self.look_at_the_clock(&open)?;
            }
        }
    }

    fn block(&mut self, number: u32) -> Block<W::Notes> {
        let [x, y, z] = self.run.shape.block;
        let threads = x * y * z;
        let warps: Vec<Warp<W::Notes>> = (0..threads.div_ceil(32))
            .map(|warp| {
                let all = first_lanes(threads - warp * 32);
                Warp {
                    number: warp,
                    live: all,
                    all,
                    registers: Registers::of(self.run.code),
                    notes: self.run.watch.notes(self.run.code),
                    ready: vec![Group { at: 0, lanes: all }],
                    asleep: Vec::new(),
                    waiting: Vec::new(),
                }
            })
            .collect();
        let bytes = self.run.entry.shared_bytes + u64::from(self.dynamic_shared);
        self.run.watch.begin(number);
        Block {
            number,
            index: split(number, self.run.shape.grid),
            shared: vec![UNWRITTEN; bytes as usize],
            states: vec![TurnEnd::Ready; warps.len()],
            warps,
        }
    }

    /// Runs the warps of a block until none can go on, or in a random order one turn each. Returns whether the block
    /// can only sleep.
    fn turn(&mut self, block: &mut Block<W::Notes>) -> Result<bool, LaunchFault> {
        loop {
            let first = self.run.turns.first_of(block.warps.len());
            let mut moved = false;
            for k in 0..block.warps.len() {
                let at = (first + k) % block.warps.len();
                if matches!(block.states[at], TurnEnd::Done | TurnEnd::AtBarrier) {
                    continue;
                }
                let Block { number, index, shared, warps, states } = &mut *block;
                let mut around = Surroundings { block: *number, index: *index, shared };
                states[at] = dispatch::turn(&mut self.run, &mut around, &mut warps[at])?;
                moved |= states[at] != TurnEnd::Asleep;
            }
            let all = |wanted: &[TurnEnd]| block.states.iter().all(|state| wanted.contains(state));
            if all(&[TurnEnd::Done]) {
                return Ok(false);
            }
            if all(&[TurnEnd::Done, TurnEnd::AtBarrier]) {
                self.pass_barrier(block);
                moved = true;
            }
            if self.run.turns.is_random() || !moved {
                return Ok(!moved);
            }
        }
    }

    fn pass_barrier(&mut self, block: &mut Block<W::Notes>) {
        let code: &Code = self.run.code;
        let mut groups = Vec::new();
        let some_have_left = block.warps.iter().any(|warp| warp.live != warp.all);
        for (warp, state) in block.warps.iter_mut().zip(&mut block.states) {
            if *state == TurnEnd::AtBarrier {
                *state = TurnEnd::Ready;
                groups.extend(warp.pass_barrier().into_iter().map(|waiting| Doing {
                    instruction: &code.instructions[waiting.at as usize],
                    block: block.number,
                    warp: warp.number,
                    lanes: waiting.lanes,
                }));
            }
        }
        self.run.watch.barrier(&groups, some_have_left);
    }

    /// Ends a launch whose threads have slept for too long.
    fn look_at_the_clock(&mut self, open: &[Block<W::Notes>]) -> Result<(), LaunchFault> {
        let first = *self.first_sleep.get_or_insert_with(Instant::now);
        self.unlooked += 1;
        if self.unlooked < ROUNDS_A_LOOK {
            return Ok(());
        }
        self.unlooked = 0;
        if first.elapsed() < self.patience {
            return Ok(());
        }
        let milliseconds = self.patience.as_millis() as u64;
        let waits = open.iter().flat_map(|block| {
            let number = block.number;
            let waits = block.warps.iter().flat_map(|warp| self.run.waits(warp));
            waits.map(move |wait| format!("block {number}: {wait}"))
        });
        Err(LaunchFault::Timeout { milliseconds, waits: waits.take(MOST_TOLD).collect() })
    }
}

/// Sleeping threads that a message names.
const MOST_TOLD: usize = 8;
