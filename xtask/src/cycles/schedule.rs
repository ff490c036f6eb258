//! Warps go through their code on the schedulers of one multiprocessor, cycle by cycle.
//!
//! A warp issues in order: an instruction at the earliest its predecessor's stall after that one, when all scoreboards that
//! it waits for are free, its scheduler has issued nothing else in that cycle, and its unit takes it. Blocks are gone through
//! in the order of their addresses, each as often as it is executed: a loop's blocks one after the other, not in turns.
//! Instructions are always there, and caches always hit. Barriers of several warps cost their issue only.

use super::arch::{Architecture, SCHEDULERS, UNITS, Unit};
use super::kind::Kind;
use super::latency::{OPERANDS_READ, latency};
use super::program::{Program, kind_and_width};
use super::range::{Bound, Range};
use super::sass::Instruction;
use super::warp::Warp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a warp does with its cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Issue, and the stalls that ptxas has put behind instructions.
    Stall,
    /// It waits for a result of this kind of instruction.
    Result(Kind),
    /// It waits until operands have been read, before they are overwritten.
    Operands,
    /// A unit for f64 is busy.
    Doubles,
    /// Another unit is busy.
    Unit,
    /// Its scheduler issues for another warp.
    Scheduler,
}

/// How many warps there are, and how long they run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) warps: u32,
    /// Leapfrog steps of each.
    pub(super) steps: u32,
}

/// How it went.
#[derive(Clone, Debug)]
pub(super) struct ScheduledSteps {
    /// Leapfrog steps of a warp that the multiprocessor makes in a cycle.
    pub(super) steps_per_cycle: f64,
    /// Cycles of a warp for each leapfrog step, by what it does.
    pub(super) causes: BTreeMap<Cause, f64>,
    /// The same by block and instruction, in the program's order: an instruction's are its waits and its stall.
    pub(super) instructions: Vec<Vec<f64>>,
}

impl ScheduledSteps {
    /// Cycles of a warp for a leapfrog step.
    pub(super) fn cycles(&self) -> f64 {
        self.causes.values().sum()
    }
}

/// An instruction with its times.
struct Timed {
    stall: u64,
    write: Option<usize>,
    read: Option<usize>,
    waits: Vec<usize>,
    unit: Option<(Unit, u64)>,
    latency: u64,
    kind: Kind,
}

/// Runs `load` with one end of every assumption.
pub(super) fn run(program: &Program, architecture: &Architecture, load: Load, bound: Bound) -> ScheduledSteps {
    let blocks = timed(program, architecture, bound);
    let operands_read = cycles(OPERANDS_READ, bound);
    let rates: Vec<f64> = program.blocks.iter().map(|block| block.rate).collect();
    let mut multiprocessor = Multiprocessor::default();
    let mut warps: Vec<Warp> = (0..load.warps).map(|number| Warp::new(number, &rates, load.steps)).collect();
    // By the cycle, then the one that has issued nothing for longest: all warps get on equally fast.
    let mut queue: BinaryHeap<Reverse<(u64, u64, usize)>> = BinaryHeap::new();
    queue.extend(
        (0..warps.len()).filter(|number| !warps[*number].path.is_empty()).map(|number| Reverse((0, 0, number))),
    );
    let mut causes = BTreeMap::new();
    let mut instructions: Vec<Vec<f64>> = blocks.iter().map(|block| vec![0.0; block.len()]).collect();
    let mut end = 0;
    while let Some(Reverse((now, issued, number))) = queue.pop() {
        let warp = &mut warps[number];
        let block = warp.path[warp.at.0];
        let timed = &blocks[block][warp.at.1];
        let (ready, waits_for) = multiprocessor.earliest(warp, timed, now);
        let (cause, cycles) = if ready > now { (waits_for, ready - now) } else { (Cause::Stall, timed.stall) };
        *causes.entry(cause).or_default() += cycles as f64;
        instructions[block][warp.at.1] += cycles as f64;
        if ready > now {
            queue.push(Reverse((ready, issued, number)));
            continue;
        }
        multiprocessor.issue(warp, timed, now, operands_read);
        end = end.max(now + timed.stall);
        if warp.go_on(blocks[block].len()) {
            queue.push(Reverse((now + timed.stall, now, number)));
        }
    }
    let all = f64::from(load.steps) * f64::from(load.warps);
    causes.values_mut().chain(instructions.iter_mut().flatten()).for_each(|cycles| *cycles /= all);
    ScheduledSteps { steps_per_cycle: all / end.max(1) as f64, causes, instructions }
}

/// Each block's instructions with their times.
fn timed(program: &Program, architecture: &Architecture, bound: Bound) -> Vec<Vec<Timed>> {
    let time = |instruction: &Instruction| {
        let (kind, width) = kind_and_width(instruction);
        let control = instruction.control;
        Timed {
            stall: control.cycles(),
            write: control.write.map(usize::from),
            read: control.read.map(usize::from),
            waits: control.waits().collect(),
            unit: architecture.unit(kind, width).map(|(unit, interval)| (unit, cycles(interval, bound))),
            latency: cycles(latency(architecture.name, kind), bound),
            kind,
        }
    };
    program.blocks.iter().map(|block| program.code(block).iter().map(time).collect()).collect()
}

/// One end of an assumption, in whole cycles.
fn cycles(range: Range, bound: Bound) -> u64 {
    range.at(bound).round().max(1.0) as u64
}

/// When the units and schedulers of a multiprocessor are free again.
#[derive(Default)]
struct Multiprocessor {
    schedulers: [u64; SCHEDULERS as usize],
    of_schedulers: [[u64; UNITS]; SCHEDULERS as usize],
    shared: [u64; UNITS],
}

impl Multiprocessor {
    fn free(&mut self, warp: &Warp, unit: Unit) -> &mut u64 {
        match unit {
            Unit::OfScheduler(unit) => &mut self.of_schedulers[warp.scheduler][unit],
            Unit::Shared(unit) => &mut self.shared[unit],
        }
    }

    /// When a warp's instruction can be issued, and what it waits for last until then.
    fn earliest(&mut self, warp: &Warp, timed: &Timed, now: u64) -> (u64, Cause) {
        let mut last = (now, Cause::Stall);
        let mut wait = |until: u64, cause: Cause| {
            if until > last.0 {
                last = (until, cause);
            }
        };
        for &scoreboard in &timed.waits {
            let (until, cause) = warp.scoreboards[scoreboard];
            wait(until, cause);
        }
        if let Some((unit, _)) = timed.unit {
            wait(*self.free(warp, unit), if timed.kind.is_double() { Cause::Doubles } else { Cause::Unit });
        }
        wait(self.schedulers[warp.scheduler], Cause::Scheduler);
        last
    }

    fn issue(&mut self, warp: &mut Warp, timed: &Timed, now: u64, operands_read: u64) {
        self.schedulers[warp.scheduler] = now + 1;
        if let Some((unit, interval)) = timed.unit {
            *self.free(warp, unit) = now + interval;
        }
        for (scoreboard, until, cause) in [
            (timed.write, now + timed.latency, Cause::Result(timed.kind)),
            (timed.read, now + operands_read, Cause::Operands),
        ] {
            // One scoreboard may stand for several instructions.
            if let Some(entry) = scoreboard.map(|number| &mut warp.scoreboards[number]).filter(|entry| until > entry.0)
            {
                *entry = (until, cause);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sass::tests::written;
    use super::*;

    /// Runs code that each step goes through once, on an architecture.
    fn once(lines: &[&str], architecture: &str, load: Load, bound: Bound) -> ScheduledSteps {
        let listing = written(lines);
        let by_line = (0..lines.len() as u32).map(|line| (line, 1.0)).collect();
        run(&Program::new(&listing, &by_line), Architecture::named(architecture).unwrap(), load, bound)
    }

    const ALONE: Load = Load { warps: 1, steps: 1 };

    #[test]
    fn stalls_alone_add_up() {
        let outcome = once(&["4 - - | FADD R0", "5 - - | FADD R1", "0 - - | EXIT"], "sm_90", ALONE, Bound::Low);
        assert_eq!(outcome.causes, BTreeMap::from([(Cause::Stall, 10.0)]));
        assert_eq!(
            (outcome.cycles(), outcome.steps_per_cycle, outcome.instructions),
            (10.0, 0.1, vec![vec![4.0, 5.0, 1.0]])
        );
    }

    #[test]
    fn a_result_is_waited_for_from_its_issue_on() {
        // Issued in cycle 0, there in cycle 24 or 30; the warp had nothing else to do from cycle 1 on.
        let lines = ["1 2 - | LDS R0", "4 - 2 | FADD R0", "1 - - | EXIT"];
        for (bound, wait) in [(Bound::Low, 23.0), (Bound::High, 29.0)] {
            let outcome = once(&lines, "sm_86", ALONE, bound);
            assert_eq!(outcome.causes[&Cause::Result(Kind::SharedLoad)], wait);
            assert_eq!(outcome.cycles(), wait + 6.0);
        }
        // What nobody waits for costs its issue only.
        assert_eq!(once(&["1 2 - | LDS R0", "4 - - | FADD R1"], "sm_86", ALONE, Bound::High).cycles(), 5.0);
    }

    #[test]
    fn units_of_f64_are_busy_for_two_or_for_sixteen_cycles() {
        let lines = ["1 - - | DADD R0", "1 - - | DADD R2", "1 - - | DADD R4", "1 - - | EXIT"];
        let cycles = |architecture: &str| once(&lines, architecture, ALONE, Bound::Low).cycles();
        // The third is issued after two intervals, then comes the exit.
        assert_eq!(
            (cycles("sm_90"), cycles("sm_80"), cycles("sm_86")),
            (2.0 * 2.0 + 2.0, 2.0 * 4.0 + 2.0, 2.0 * 16.0 + 2.0)
        );
    }

    #[test]
    fn warps_hide_each_others_waits_until_their_scheduler_is_full() {
        // A warp issues in one of ten cycles: ten of them fill a scheduler, whichever cycles they begin with.
        for (warps, expected) in [(1, 0.1), (5, 0.5), (10, 1.0), (16, 1.0)] {
            let load = Load { warps: 4 * warps, steps: 400 };
            let issue = once(&["10 - - | NOP"], "sm_90", load, Bound::Low).steps_per_cycle / f64::from(SCHEDULERS);
            assert!((issue - expected).abs() < 0.02, "{warps} warps: {issue}");
        }
    }

    #[test]
    fn the_two_units_of_a_multiprocessor_serve_all_its_warps() {
        let lines = ["1 - - | DADD R0"];
        for warps in [4, 16] {
            let outcome = once(&lines, "sm_86", Load { warps, steps: 500 }, Bound::Low);
            assert!((outcome.steps_per_cycle - 1.0 / 16.0).abs() < 0.002, "{}", outcome.steps_per_cycle);
        }
    }

    #[test]
    fn blocks_are_gone_through_as_often_as_they_are_executed() {
        let lines = ["2 - - | FADD R0", "3 - - | @P0 BRA `(.L)", "7 - - | FADD R1", ".L:", "1 - - | EXIT"];
        let listing = written(&lines);
        let by_line = BTreeMap::from([(0, 1.0), (1, 1.0), (2, 0.25), (4, 3.0)]);
        let architecture = Architecture::named("sm_90").unwrap();
        let outcome = run(&Program::new(&listing, &by_line), architecture, Load { warps: 1, steps: 400 }, Bound::Low);
        for (cycles, expected) in outcome.instructions.iter().zip([5.0, 7.0 * 0.25, 3.0]) {
            assert!((cycles.iter().sum::<f64>() - expected).abs() < 0.02, "{:?}", outcome.instructions);
        }
    }
}
