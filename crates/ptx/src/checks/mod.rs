//! Checks of a launch, as compute-sanitizer has them: races, reads before writes, barriers that threads
//! miss.

mod clock;
mod race;
mod shadow;
mod written;

use crate::global::Allocation;
use crate::instruction::{Class, Instruction, MemoryAccess, Op, StateSpace};
use crate::lanes::{LANES, Registers, each};
use crate::launch::LaunchShape;
use crate::module::{Code, Entry};
use crate::watch::{Doing, Watch};
use race::{Conflict, Races, Touch};
use std::collections::HashSet;
use written::WrittenMemory;

/// The most findings of a launch: more say nothing new.
const MOST_FINDINGS: usize = 100;

/// What a finding is called that memory was read before anybody wrote it.
const UNWRITTEN: &str = "unwritten memory";

/// Looks for everything.
pub(crate) struct Checks<'a> {
    entry: &'a Entry,
    races: Races,
    written: WrittenMemory<'a>,
    found: Findings,
}

/// What was found, each thing once.
#[derive(Default)]
pub(crate) struct Findings {
    texts: Vec<String>,
    /// A kind and the lines that it is about.
    known: HashSet<(&'static str, u32, u32)>,
}

impl Findings {
    fn add(&mut self, kind: &'static str, lines: (u32, u32), text: impl FnOnce() -> String) {
        if self.texts.len() < MOST_FINDINGS && self.known.insert((kind, lines.0, lines.1)) {
            self.texts.push(format!("{kind}: {}", text()));
        }
    }
}

/// The lanes of each register that have been written.
pub(crate) struct Notes {
    words: Vec<u32>,
    doubles: Vec<u32>,
    predicates: Vec<u32>,
}

impl Notes {
    fn of(&mut self, class: Class, register: u16) -> &mut u32 {
        let register = usize::from(register);
        match class {
            Class::Word | Class::None => &mut self.words[register],
            Class::Double => &mut self.doubles[register],
            Class::Predicate => &mut self.predicates[register],
        }
    }
}

impl<'a> Checks<'a> {
    pub(crate) fn of(entry: &'a Entry, shape: LaunchShape, allocations: &mut [Allocation<'a>]) -> Self {
        let threads: u32 = shape.block.iter().product();
        let has_fences = entry.code.instructions.iter().any(|instruction| instruction.op == Op::Fence);
        let written = WrittenMemory::of(allocations);
        Self { entry, races: Races::of(threads, has_fences), written, found: Findings::default() }
    }

    /// Returns the number of a lane's thread in the launch.
    fn number(&self, doing: Doing<'_>, lane: usize) -> u32 {
        doing.block * self.races.threads() + thread(doing, lane)
    }

    /// A lane has loaded or stored these bytes of global memory.
    fn global(&mut self, doing: Doing<'_>, lane: usize, address: u64, bytes: u64, is_store: bool) {
        if is_store {
            self.written.write(address, bytes);
        } else if self.written.lacks(address, bytes) {
            let place = self.place(doing.instruction, doing.block, thread(doing, lane));
            let line = doing.instruction.line;
            self.found.add(UNWRITTEN, (line, 0), || format!("global memory at {address:#x}, {place}"));
        }
    }

    fn place(&self, instruction: &Instruction, block: u32, thread: u32) -> String {
        format!("{} line {}, block {block} thread {thread}", self.entry.name(), instruction.line)
    }
}

fn thread(doing: Doing<'_>, lane: usize) -> u32 {
    doing.warp * LANES as u32 + lane as u32
}

/// Returns a lane that stores another value than the first of these lanes.
fn differs(instruction: &Instruction, access: MemoryAccess, registers: &Registers, lanes: u32) -> Option<usize> {
    let value = |element: usize, lane: usize| {
        let register = instruction.to[element];
        if access.doubles { registers.double(register).lane(lane) } else { registers.word(register).lane(lane).into() }
    };
    let first = lanes.trailing_zeros() as usize;
    let elements = 0..usize::from(access.count);
    each(lanes).find(|lane| elements.clone().any(|element| value(element, *lane) != value(element, first)))
}

impl Watch for Checks<'_> {
    type Notes = Notes;
    const LOOKS: bool = true;

    fn notes(&self, code: &Code) -> Notes {
        let registers = code.registers;
        let mut notes = Notes {
            words: vec![0; registers.words],
            doubles: vec![0; registers.doubles],
            predicates: vec![0; registers.predicates],
        };
        code.words.iter().for_each(|(register, _)| *notes.of(Class::Word, *register) = u32::MAX);
        code.doubles.iter().for_each(|(register, _)| *notes.of(Class::Double, *register) = u32::MAX);
        code.predicates.iter().for_each(|(register, _)| *notes.of(Class::Predicate, *register) = u32::MAX);
        notes
    }

    fn registers(&mut self, doing: Doing<'_>, arrived: u32, notes: &mut Notes) {
        let instruction = doing.instruction;
        let guard = instruction.guard.predicate();
        instruction.each_read(|class, register| {
            let is_guard = class == Class::Predicate && Some(register) == guard;
            let unset = if is_guard { arrived } else { doing.lanes } & !*notes.of(class, register);
            if unset != 0 {
                let name = self.entry.names.get(&(class, register)).map_or("an operand", String::as_str);
                let place = self.place(instruction, doing.block, thread(doing, unset.trailing_zeros() as usize));
                let lines = (instruction.line, u32::from(register));
                self.found.add("unset register", lines, || format!("{name} is read before it is written at {place}"));
            }
        });
        instruction.each_write(|class, register| *notes.of(class, register) |= doing.lanes);
    }

    fn memory(
        &mut self,
        doing: Doing<'_>,
        access: MemoryAccess,
        addresses: &[u64; LANES],
        registers: &Registers,
        is_store: bool,
    ) {
        if access.space == StateSpace::Parameter {
            return;
        }
        let mut lanes = doing.lanes;
        while lanes != 0 {
            let first = lanes.trailing_zeros() as usize;
            let address = addresses[first];
            let same = each(lanes).filter(|lane| addresses[*lane] == address).fold(0, |same, lane| same | 1 << lane);
            lanes &= !same;
            if access.space == StateSpace::Global {
                self.global(doing, first, address, access.bytes(), is_store);
            }
            if access.volatile {
                each(same).for_each(|lane| self.races.flag(self.number(doing, lane), address, is_store));
                continue;
            }
            let line = doing.instruction.line;
            if is_store && let Some(lane) = differs(doing.instruction, access, registers, same) {
                let place = self.place(doing.instruction, doing.block, thread(doing, lane));
                self.found
                    .add("race of two writes", (line, line), || format!("{place}: another lane writes another value"));
            }
            let who = Touch { block: doing.block, warp: doing.warp, lanes: same, line, relaxed: access.relaxed };
            let shared = (access.space == StateSpace::Shared).then_some(doing.block);
            if let Some(Conflict { kind, other }) = self.races.touch(who, shared, address, access.bytes(), is_store) {
                let place = self.place(doing.instruction, doing.block, thread(doing, first));
                let memory = if shared.is_some() { "shared" } else { "global" };
                self.found.add(kind, (line, other.map_or(0, |other| other.line)), || match other {
                    None => format!("{memory} memory at {address:#x}, {place}"),
                    Some(other) => {
                        let number = u32::from(other.warp) * LANES as u32 + other.lanes.trailing_zeros();
                        let (block, line) = (other.block, other.line);
                        format!(
                            "{memory} memory at {address:#x}, {place}: block {block} thread {number} in line {line}"
                        )
                    }
                });
            }
        }
    }

    fn meet(&mut self, doing: Doing<'_>) {
        self.races.warp(doing.block, doing.warp, doing.lanes);
    }

    fn fence(&mut self, doing: Doing<'_>) {
        each(doing.lanes).for_each(|lane| self.races.fence(self.number(doing, lane)));
    }

    fn barrier(&mut self, groups: &[Doing<'_>], some_have_left: bool) {
        let Some(first) = groups.first() else { return };
        self.races.barrier(groups, some_have_left);
        let line = first.instruction.line;
        if let Some(other) = groups.iter().find(|group| group.instruction.line != line) {
            let place = self.place(first.instruction, first.block, thread(*first, 0));
            let other = other.instruction.line;
            self.found.add("divergent barrier", (line, other), || format!("{place}: others are in line {other}"));
        }
        if some_have_left {
            let place = self.place(first.instruction, first.block, thread(*first, 0));
            self.found.add("barrier without some", (line, 0), || format!("{place}: threads have left before it"));
        }
    }

    fn meet_elsewhere(&mut self, doing: Doing<'_>, other: &Instruction) {
        let place = self.place(doing.instruction, doing.block, thread(doing, doing.lanes.trailing_zeros() as usize));
        let lines = (doing.instruction.line, other.line);
        self.found.add("divergent shuffle", lines, || format!("{place}: other lanes are in line {}", other.line));
    }

    fn begin(&mut self, block: u32) {
        self.races.begin(block);
    }

    fn findings(self) -> Vec<String> {
        self.found.texts
    }
}
