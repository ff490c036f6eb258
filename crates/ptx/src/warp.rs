//! A warp: 32 threads that do the same instructions, together or apart.

use crate::compute::{compute, put};
use crate::fault::{LaunchFault, Place};
use crate::global::GlobalMemory;
use crate::instruction::{Guard, Instruction, MemoryAccess, Op, Special, SpecialKind, StateSpace};
use crate::lanes::{ALL, LANES, Registers, each};
use crate::late::{Before, LateWords};
use crate::launch::LaunchShape;
use crate::memory::{self, BlockMemory, Missed, Why};
use crate::module::{Code, Entry};
use crate::order::Turns;
use crate::watch::{Doing, Watch};

/// A warp of a block.
pub(crate) struct Warp<N> {
    pub(crate) number: u32,
    /// The lanes that have not left the kernel.
    pub(crate) live: u32,
    /// The lanes that there were at the start.
    pub(crate) all: u32,
    pub(crate) registers: Registers,
    pub(crate) notes: N,
    /// Lanes that can go on. In lock-step the lowest place is the last.
    pub(crate) ready: Vec<Group>,
    pub(crate) asleep: Vec<Group>,
    pub(crate) waiting: Vec<Waiting>,
}

/// Lanes that are at the same place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) at: u32,
    pub(crate) lanes: u32,
}

/// Lanes that wait for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) at: u32,
    pub(crate) lanes: u32,
    pub(crate) wait: Wait,
}

/// What lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// All threads of the block.
    Barrier,
    /// The lanes of a mask.
    Warp(u32),
    /// The lanes of a mask, to exchange values.
    Shuffle(u32),
}

/// Why a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// It can go on.
    Ready,
    Asleep,
    AtBarrier,
    Done,
}

/// What all warps of a launch share.
pub(crate) struct LaunchState<'a, 'm, W: Watch> {
    pub(crate) entry: &'a Entry,
    pub(crate) code: &'a Code,
    pub(crate) shape: LaunchShape,
    pub(crate) parameters: &'a [u8],
    pub(crate) global: &'a mut GlobalMemory<'m>,
    pub(crate) turns: Turns,
    pub(crate) late: LateWords,
    pub(crate) watch: W,
    /// How often groups of lanes may still come to a place where they may meet others.
    pub(crate) left: u64,
    /// How often warps, and lanes of them, have done each instruction.
    pub(crate) counts: Vec<Count>,
}

/// How often an instruction was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// By warps, those included whose guard left no lane.
    pub warps: u64,
    /// By lanes.
    pub lanes: u64,
}

/// What a warp sees of its block.
pub(crate) struct Surroundings<'a> {
    pub(crate) block: u32,
    /// x, y and z of the block.
    pub(crate) index: [u32; 3],
    pub(crate) shared: &'a mut [u8],
}

impl<N> Warp<N> {
    /// Adds lanes that can go on; those at the same place become one group.
    fn join(&mut self, group: Group) {
        let at = self.ready.partition_point(|other| other.at > group.at);
        match self.ready.get_mut(at).filter(|other| other.at == group.at) {
            Some(other) => other.lanes |= group.lanes,
            None => self.ready.insert(at, group),
        }
    }

    fn wait(&mut self, waiting: Waiting) {
        let same = self.waiting.iter_mut().find(|other| other.at == waiting.at && other.wait == waiting.wait);
        match same {
            Some(other) => other.lanes |= waiting.lanes,
            None => self.waiting.push(waiting),
        }
    }

    /// Lets the lanes at the barrier go on; returns where they were.
    pub(crate) fn pass_barrier(&mut self) -> Vec<Waiting> {
        let passed = std::mem::take(&mut self.waiting);
        for waiting in &passed {
            self.join(Group { at: waiting.at + 1, lanes: waiting.lanes });
        }
        passed
    }
}

impl<'a, W: Watch> LaunchState<'a, '_, W> {
    /// Runs a warp until it can do no more, or in a random order for a while.
    #[inline(always)]
    pub(crate) fn turn(
        &mut self,
        around: &mut Surroundings<'_>,
        warp: &mut Warp<W::Notes>,
    ) -> Result<TurnEnd, LaunchFault> {
        let asleep = std::mem::take(&mut warp.asleep);
        asleep.into_iter().for_each(|group| warp.join(group));
        loop {
            if warp.ready.is_empty() {
                if self.let_go(around.block, warp)? {
                    continue;
                }
                return self.rest(around.block, warp);
            }
            let chosen = self.turns.one_of(warp.ready.len());
            let group = warp.ready.remove(chosen);
            if self.group(around, warp, group)? {
                return Ok(TurnEnd::Ready);
            }
        }
    }

    /// Says why a warp without lanes that can go on has stopped.
    fn rest(&self, block: u32, warp: &Warp<W::Notes>) -> Result<TurnEnd, LaunchFault> {
        let first = warp.waiting.first();
        if !warp.asleep.is_empty() {
            return Ok(TurnEnd::Asleep);
        }
        let Some(first) = first else { return Ok(TurnEnd::Done) };
        let lanes = warp.waiting.iter().fold(0, |lanes, waiting| lanes | waiting.lanes);
        if warp.waiting.iter().any(|waiting| waiting.wait != Wait::Barrier) || lanes != warp.live {
            return Err(LaunchFault::Deadlock { block, waits: self.waits(warp) });
        }
        match warp.waiting.iter().find(|waiting| waiting.at != first.at) {
            None => Ok(TurnEnd::AtBarrier),
            Some(other) => {
                let line = self.code.instructions[first.at as usize].line;
                let what = format!("other lanes of the warp are at the barrier of line {line}");
                Err(self.meeting(block, warp.number, other.at, other.lanes, what))
            }
        }
    }

    /// Does instructions of a group until it ends, parts or waits. Returns whether the warp's turn is over.
    #[inline(always)]
    fn group(
        &mut self,
        around: &mut Surroundings<'_>,
        warp: &mut Warp<W::Notes>,
        group: Group,
    ) -> Result<bool, LaunchFault> {
        let Group { mut at, mut lanes } = group;
        let code: &'a Code = self.code;
        loop {
            let instruction = &code.instructions[at as usize];
            if instruction.joins {
                self.left = self.left.checked_sub(1).ok_or_else(|| self.endless(around.block, warp, at))?;
                if self.turns.is_random() {
                    if self.mix(warp, at, &mut lanes) {
                        warp.ready.push(Group { at, lanes });
                        return Ok(true);
                    }
                } else if let Some(lowest) = warp.ready.last().filter(|lowest| lowest.at <= at) {
                    // Those that are behind catch up.
                    if lowest.at < at {
                        warp.join(Group { at, lanes });
                        return Ok(false);
                    }
                    lanes |= lowest.lanes;
                    warp.ready.pop();
                }
            }
            let active = match instruction.guard {
                Guard::All => lanes,
                Guard::If(predicate) => lanes & warp.registers.predicate(predicate).get(),
                Guard::Unless(predicate) => lanes & !warp.registers.predicate(predicate).get(),
            };
            let count = &mut self.counts[at as usize];
            count.warps += 1;
            count.lanes += u64::from(active.count_ones());
            let doing = Doing { instruction, block: around.block, warp: warp.number, lanes: active };
            if W::LOOKS {
                self.watch.registers(doing, lanes, &mut warp.notes);
            }
            match instruction.op {
                Op::Branch => {
                    if active == lanes {
                        at = instruction.target;
                        continue;
                    }
                    if active != 0 {
                        warp.join(Group { at: instruction.target, lanes: active });
                        warp.join(Group { at: at + 1, lanes: lanes & !active });
                        return Ok(false);
                    }
                }
                Op::Return => {
                    warp.live &= !active;
                    lanes &= !active;
                    if lanes == 0 {
                        return Ok(false);
                    }
                }
                Op::Barrier | Op::WarpBarrier | Op::ShuffleXor | Op::ShuffleIndex => {
                    if active != lanes {
                        let what = "a guard leaves out some lanes".to_owned();
                        return Err(self.meeting(around.block, warp.number, at, lanes, what));
                    }
                    if !self.meet(around.block, warp, at, lanes)? {
                        return Ok(false);
                    }
                }
                Op::Sleep => {
                    warp.asleep.push(Group { at: at + 1, lanes });
                    return Ok(false);
                }
                Op::Fence => self.watch.fence(doing),
                Op::Load(access) | Op::Store(access) => {
                    let is_store = matches!(instruction.op, Op::Store(_));
                    let addresses = if W::LOOKS { memory::addresses(&warp.registers, instruction) } else { [0; LANES] };
                    let is_late = access.relaxed && self.turns.is_random();
                    let before =
                        is_late.then(|| self.before_late(around.block, warp, instruction, (access, is_store), active));
                    let mut reach =
                        BlockMemory { global: self.global, shared: around.shared, parameters: self.parameters };
                    let done = if is_store {
                        reach.store(&warp.registers, instruction, access, active)
                    } else {
                        reach.load(&warp.registers, instruction, access, active)
                    };
                    if is_store && let Some(before) = before {
                        self.late.take(
                            self.global,
                            &mut self.turns,
                            &before,
                            (around.block, warp.number),
                            access.width,
                        );
                    }
                    done.map_err(|missed| self.missed(doing, access, missed, around.shared.len()))?;
                    if W::LOOKS {
                        self.watch.memory(doing, access, &addresses, &warp.registers, is_store);
                    }
                }
                Op::Special(special) => {
                    let register = warp.registers.word(instruction.to[0]);
                    let mut values = register.all();
                    for lane in each(active) {
                        values[lane] = self.special(special, around.index, warp.number * 32 + lane as u32);
                    }
                    register.set_all(&values);
                }
                _ => compute(&warp.registers, instruction, active),
            }
            at += 1;
        }
    }

    /// Makes ready for a relaxed load, which finds what its warp has stored, or a store, whose words come late.
    fn before_late(
        &mut self,
        block: u32,
        warp: &Warp<W::Notes>,
        instruction: &Instruction,
        (access, is_store): (MemoryAccess, bool),
        lanes: u32,
    ) -> Before {
        let addresses = memory::addresses(&warp.registers, instruction);
        let width = u64::from(access.width);
        let words = |lane: usize| (0..u64::from(access.count)).map(move |k| addresses[lane].wrapping_add(k * width));
        let places: Vec<u64> = each(lanes).flat_map(words).collect();
        self.late.deliver_own(self.global, (block, warp.number), &places);
        if is_store { LateWords::before(self.global, &places, access.width) } else { Before::default() }
    }

    /// Lets lanes at a branch's target part or meet at random. Returns whether the warp's turn is over.
    fn mix(&mut self, warp: &mut Warp<W::Notes>, at: u32, lanes: &mut u32) -> bool {
        let random = self.turns.random();
        match random & 3 {
            0 => {
                let part = *lanes & (random >> 32) as u32;
                if part != 0 && part != *lanes {
                    warp.ready.push(Group { at, lanes: *lanes & !part });
                    *lanes = part;
                }
            }
            1 => warp.ready.retain(|other| {
                let same = other.at == at;
                if same {
                    *lanes |= other.lanes;
                }
                !same
            }),
            _ => {}
        }
        random >> 8 & 63 == 0
    }

    /// Lanes come to a barrier, or to others of their warp. Returns whether they go on.
    #[inline(always)]
    fn meet(&mut self, block: u32, warp: &mut Warp<W::Notes>, at: u32, lanes: u32) -> Result<bool, LaunchFault> {
        let instruction = &self.code.instructions[at as usize];
        let (operand, wait): (_, fn(u32) -> Wait) = match instruction.op {
            Op::Barrier => {
                warp.wait(Waiting { at, lanes, wait: Wait::Barrier });
                return Ok(false);
            }
            Op::WarpBarrier => (0, Wait::Warp),
            _ => {
                // All lanes are here, and each asks for one of them.
                if lanes == ALL && instruction.shuffle.is_whole {
                    if !shuffle_whole(&warp.registers, instruction) {
                        let values = warp.registers.word(instruction.from[0]).all();
                        self.shuffle(Doing { instruction, block, warp: warp.number, lanes }, warp, ALL, ALL, &values)?;
                    }
                    return Ok(true);
                }
                (3, Wait::Shuffle)
            }
        };
        let masks = warp.registers.word(instruction.from[operand]).all();
        let members = masks[lanes.trailing_zeros() as usize % LANES];
        let mut same = 0;
        for lane in 0..LANES {
            same |= u32::from(masks[lane] == members) << lane;
        }
        if lanes & !same != 0 || lanes != members & warp.live {
            self.wait_apart(block, warp, at, lanes, &masks, wait)?;
            return Ok(false);
        }
        let doing = Doing { instruction, block, warp: warp.number, lanes };
        if instruction.op == Op::WarpBarrier {
            self.watch.meet(doing);
        } else {
            let values = warp.registers.word(instruction.from[0]).all();
            self.shuffle(doing, warp, lanes, members, &values)?;
        }
        Ok(true)
    }

    /// Lanes wait for others, those of each mask by themselves.
    fn wait_apart(
        &mut self,
        block: u32,
        warp: &mut Warp<W::Notes>,
        at: u32,
        lanes: u32,
        masks: &[u32; LANES],
        wait: fn(u32) -> Wait,
    ) -> Result<(), LaunchFault> {
        let mut left = lanes;
        while left != 0 {
            let members = masks[left.trailing_zeros() as usize];
            let same = each(left).filter(|lane| masks[*lane] == members).fold(0, |same, lane| same | 1 << lane);
            if same & !members != 0 {
                let what = format!("the mask {members:08x} is without its own lanes");
                return Err(self.meeting(block, warp.number, at, same & !members, what));
            }
            warp.wait(Waiting { at, lanes: same, wait: wait(members) });
            left &= !same;
        }
        Ok(())
    }

    /// Lets lanes go on that have waited until all of a mask had come. Returns whether there are any.
    fn let_go(&mut self, block: u32, warp: &mut Warp<W::Notes>) -> Result<bool, LaunchFault> {
        for waiting in warp.waiting.clone() {
            let members = match waiting.wait {
                Wait::Barrier => continue,
                Wait::Warp(members) | Wait::Shuffle(members) => members & warp.live,
            };
            let here: Vec<Waiting> = warp.waiting.iter().copied().filter(|other| other.wait == waiting.wait).collect();
            if here.iter().fold(0, |lanes, other| lanes | other.lanes) != members {
                continue;
            }
            let code: &'a Code = self.code;
            let instruction = |waiting: &Waiting| &code.instructions[waiting.at as usize];
            let first = instruction(&here[0]);
            if matches!(waiting.wait, Wait::Warp(_)) {
                self.watch.meet(Doing { instruction: first, block, warp: warp.number, lanes: members });
            } else {
                let mut values = [0; LANES];
                for other in &here {
                    let row = warp.registers.word(instruction(other).from[0]);
                    each(other.lanes).for_each(|lane| values[lane] = row.lane(lane));
                }
                for other in &here {
                    let its = instruction(other);
                    let doing = Doing { instruction: its, block, warp: warp.number, lanes: other.lanes };
                    if its.op != first.op {
                        let what = format!("other lanes are in the other kind of shuffle in line {}", first.line);
                        return Err(self.meeting(block, warp.number, other.at, other.lanes, what));
                    }
                    if other.at != here[0].at {
                        self.watch.meet_elsewhere(doing, first);
                    }
                    self.shuffle(doing, warp, other.lanes, members, &values)?;
                }
            }
            warp.waiting.retain(|other| other.wait != waiting.wait);
            here.iter().for_each(|other| warp.join(Group { at: other.at + 1, lanes: other.lanes }));
            return Ok(true);
        }
        Ok(false)
    }

    /// Gives each of these lanes the value of the lane that it asks for (PTX ISA, `shfl.sync`).
    fn shuffle(
        &self,
        doing: Doing<'_>,
        warp: &Warp<W::Notes>,
        lanes: u32,
        members: u32,
        values: &[u32; LANES],
    ) -> Result<(), LaunchFault> {
        let instruction = doing.instruction;
        let row = |operand: usize| warp.registers.word(instruction.from[operand]);
        let to = warp.registers.word(instruction.to[0]);
        let asked = Asked::of(instruction.op == Op::ShuffleXor, &row(1).all(), &row(2).all());
        let there = members & warp.live;
        let mut absent = 0;
        for lane in 0..LANES {
            absent |= u32::from(there >> asked.sources[lane] & 1 == 0) << lane;
        }
        if let Some(lane) = each(absent & lanes).next() {
            let what = format!("it reads lane {}, which is not there", asked.sources[lane]);
            return Err(self.fault_at(doing, lane, what));
        }
        let mut result = to.all();
        for lane in 0..LANES {
            let value = values[asked.sources[lane] as usize % LANES];
            result[lane] = if lanes >> lane & 1 == 1 { value } else { result[lane] };
        }
        to.set_all(&result);
        put(warp.registers.predicate(instruction.to[1]), lanes, asked.valid);
        Ok(())
    }

    fn special(&self, special: Special, block: [u32; 3], thread: u32) -> u32 {
        let axis = usize::from(special.axis);
        match special.of {
            SpecialKind::Thread => split(thread, self.shape.block)[axis],
            SpecialKind::Threads => self.shape.block[axis],
            SpecialKind::Block => block[axis],
            SpecialKind::Blocks => self.shape.grid[axis],
        }
    }

    /// Says where the lanes of a warp stand that wait.
    pub(crate) fn waits(&self, warp: &Warp<W::Notes>) -> Vec<String> {
        let place = |at: u32| {
            let line = self.code.instructions[at as usize].line;
            format!("line {line} ({})", self.entry.opcodes[at as usize])
        };
        let waiting = warp.waiting.iter().map(|Waiting { at, lanes, .. }| (place(*at), *lanes, "wait"));
        let asleep = warp.asleep.iter().map(|Group { at, lanes }| (place(at - 1), *lanes, "sleep"));
        waiting
            .chain(asleep)
            .map(|(place, lanes, what)| format!("lanes {lanes:08x} of warp {} {what} at {place}", warp.number))
            .collect()
    }

    #[cold]
    fn endless(&self, block: u32, warp: &Warp<W::Notes>, at: u32) -> LaunchFault {
        let instruction = &self.code.instructions[at as usize];
        let doing = Doing { instruction, block, warp: warp.number, lanes: warp.live };
        LaunchFault::Endless { place: self.place(doing, 0) }
    }

    fn missed(&self, doing: Doing<'_>, access: MemoryAccess, missed: Missed, shared: usize) -> LaunchFault {
        let Missed { lane, address, why } = missed;
        let place = self.place(doing, lane);
        let bytes = access.bytes();
        match (why, access.space) {
            (Why::Alignment, _) => LaunchFault::Alignment { place, address, bytes },
            (Why::Bounds, StateSpace::Global) => LaunchFault::Address { place, address, bytes },
            (Why::Bounds, StateSpace::Shared) => {
                LaunchFault::Beyond { place, address, bytes, size: shared as u64, memory: "shared memory" }
            }
            (Why::Bounds, StateSpace::Parameter) => {
                LaunchFault::Beyond { place, address, bytes, size: self.parameters.len() as u64, memory: "parameters" }
            }
        }
    }

    fn meeting(&self, block: u32, warp: u32, at: u32, lanes: u32, what: String) -> LaunchFault {
        let instruction = &self.code.instructions[at as usize];
        self.fault_at(Doing { instruction, block, warp, lanes }, lanes.trailing_zeros() as usize % LANES, what)
    }

    fn fault_at(&self, doing: Doing<'_>, lane: usize, what: String) -> LaunchFault {
        LaunchFault::Meeting { place: self.place(doing, lane), what }
    }

    fn place(&self, doing: Doing<'_>, lane: usize) -> Place {
        let line = doing.instruction.line;
        let at = self.code.instructions.iter().position(|instruction| instruction.line == line);
        Place {
            entry: self.entry.name.clone(),
            line,
            opcode: at.map_or_else(String::new, |at| self.entry.opcodes[at].clone()),
            block: doing.block,
            thread: doing.warp * LANES as u32 + lane as u32,
        }
    }
}

/// Does a shuffle over the whole warp in which all lanes ask for the same one, or for the one at the same distance, as
/// nearly all do. Returns whether it is one.
#[inline(always)]
fn shuffle_whole(registers: &Registers, instruction: &Instruction) -> bool {
    let row = |operand: usize| registers.word(instruction.from[operand]);
    let which = match instruction.shuffle.asked {
        Some(asked) => usize::from(asked),
        None => {
            let asked = row(1).all();
            let mut differences = 0;
            for lane in 0..LANES {
                differences |= asked[lane] ^ asked[0];
            }
            if differences != 0 {
                return false;
            }
            asked[0] as usize % LANES
        }
    };
    let (values, to) = (row(0), registers.word(instruction.to[0]));
    if instruction.op == Op::ShuffleIndex {
        to.splat(ALL, values.lane(which));
    } else {
        to.set_exchanged(values, which);
    }
    registers.predicate(instruction.to[1]).set(ALL);
    true
}

/// Which lane each lane of a shuffle reads.
struct Asked {
    sources: [u32; LANES],
    /// The lanes that read what they ask for; others read themselves.
    valid: u32,
}

impl Asked {
    #[inline(always)]
    fn of(is_xor: bool, operands: &[u32; LANES], bounds: &[u32; LANES]) -> Self {
        let mut sources = [0; LANES];
        let mut valid = 0;
        for lane in 0..LANES {
            let own = lane as u32;
            let (clamp, segment) = (bounds[lane] & 31, bounds[lane] >> 8 & 31);
            let lowest = own & segment;
            let highest = lowest | clamp & !segment;
            let asked = if is_xor { own ^ operands[lane] & 31 } else { lowest | operands[lane] & 31 & !segment };
            let is_valid = asked <= highest;
            sources[lane] = if is_valid { asked } else { own };
            valid |= u32::from(is_valid) << lane;
        }
        Self { sources, valid }
    }
}

/// Returns x, y and z of a number that counts x fastest.
pub(crate) fn split(number: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [number % x, number / x % y, number / x / y]
}

/// Returns the mask of the first `count` lanes.
pub(crate) fn first_lanes(count: u32) -> u32 {
    if count >= 32 { ALL } else { (1 << count) - 1 }
}
