//! What a kernel takes on an architecture, from its machine code and how often each line of its PTX is executed.

use super::arch::{Architecture, Gpu, SCHEDULERS, Unit};
use super::counts::{Counts, LANES, Work, warps_of_a_chain};
use super::kind::Kind;
use super::latency::{FETCH_ALONE, FETCH_OF_MANY};
use super::program::{Program, kind_and_width};
use super::range::{Bound, Range};
use super::sass::{Instruction, Listing};
use super::schedule::{Cause, Load, ScheduledSteps, run};
use crate::ptx::resources::Used;
use serde::Serialize;
use std::collections::BTreeMap;

/// Steps of each warp that are gone through: one alone, and one of many.
const STEPS_ALONE: u32 = 96;
const STEPS_OF_MANY: u32 = 24;

/// One kernel on one architecture. Of a chain's leapfrog step, and of one warp of those that make it; or of 32 elements of
/// an array.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Estimate {
    pub(super) entry: String,
    pub(super) work: Work,
    pub(super) architecture: &'static str,
    /// The version of the assembler.
    pub(super) ptxas: String,
    pub(super) registers: u32,
    pub(super) spill_bytes: u32,
    /// Instructions of the PTX.
    pub(super) ptx_instructions: f64,
    /// Machine instructions, and those of them that are on f64.
    pub(super) instructions: f64,
    pub(super) double_instructions: f64,
    /// Code that every tenth step goes through at least.
    pub(super) hot_bytes: usize,
    /// How long a step takes a warp that is alone on its scheduler.
    pub(super) cycles: Range,
    /// The same by what it does.
    pub(super) causes: Vec<(&'static str, Range)>,
    /// The same by how often the code is executed.
    pub(super) parts: Vec<Part>,
    /// The same by the function of the sources that it is of, that with the most cycles first.
    pub(super) functions: Vec<Part>,
    /// The executions of each opcode, the most frequent first.
    pub(super) opcodes: Vec<(String, f64)>,
    /// Chains that a multiprocessor holds at once, or warps that make elements.
    pub(super) chains: f64,
    /// Instructions that a scheduler issues in a cycle when the multiprocessor is full.
    pub(super) issue: Range,
    pub(super) gpus: Vec<OnGpu>,
}

/// What a GPU makes of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OnGpu {
    pub(super) name: &'static str,
    /// How long a step takes one chain, or one warp.
    pub(super) microseconds: Range,
    /// Leapfrog steps that as many chains as it holds make together in a second, or elements.
    pub(super) per_second: Range,
    pub(super) limits: Limits,
}

/// What would be made in a second if nothing but one thing took time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Limits {
    /// Every scheduler issues as fast as its units take instructions.
    pub(super) issue: f64,
    /// Every warp waits for its own results only.
    pub(super) latency: Range,
    /// Elements come from memory and go there: from those loaded and stored to those stored only. Chains stay in caches.
    pub(super) memory: Option<Range>,
}

/// Code that is executed about equally often, or of one function.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) ptx_instructions: f64,
    pub(super) instructions: f64,
    pub(super) cycles: Range,
}

/// The least executions in a leapfrog step, and what is executed so often. The names say what it is in `nuts_run` kernels:
/// leapfrog, gradient and leaf; choices among leaves and joins of subtrees; what each transition does once.
const PARTS: [(f64, &str); 4] = [(0.95, "every step"), (0.2, "joins, choices"), (0.03, "transition"), (0.0, "rare")];

/// Which of [`PARTS`] code is in that is executed so often.
fn part(rate: f64) -> usize {
    PARTS.iter().position(|(least, _)| rate >= *least).unwrap_or(PARTS.len() - 1)
}

/// What warps wait for, as it is told.
fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Stall => "stall",
        Cause::Result(Kind::ConstantLoad) => "LDC",
        Cause::Result(Kind::SharedLoad) => "LDS",
        Cause::Result(Kind::GlobalLoad) => "LDG",
        Cause::Result(Kind::Shuffle) => "SHFL",
        Cause::Result(Kind::Special) => "MUFU",
        Cause::Result(Kind::Double) => "f64 result",
        Cause::Doubles => "f64 units",
        Cause::Result(_) | Cause::Operands => "other results",
        Cause::Unit | Cause::Scheduler => "other units",
    }
}

/// In the order of the table.
pub(super) const CAUSES: [&str; 11] =
    ["stall", "LDC", "LDS", "LDG", "SHFL", "MUFU", "f64 result", "other results", "f64 units", "other units", FETCH];
const FETCH: &str = "fetch";

/// What is known of a kernel beside its machine code.
pub(super) struct Kernel<'a> {
    pub(super) counts: &'a Counts,
    /// The most threads of a block.
    pub(super) threads: u32,
    /// The function that each line of its module's PTX is of, from the first line on.
    pub(super) owners: &'a [String],
}

impl Estimate {
    /// Estimates a kernel.
    pub(super) fn new(
        Kernel { counts, threads, owners }: &Kernel,
        architecture: &Architecture,
        ptxas: &str,
        (listing, used): (&Listing, Used),
    ) -> Self {
        let program = Program::new(listing, &counts.by_line());
        let alone = [Bound::Low, Bound::High]
            .map(|bound| run(&program, architecture, Load { warps: 1, steps: STEPS_ALONE }, bound));
        let warps_of_a_block = threads.div_ceil(32);
        let blocks = architecture.resident_blocks(warps_of_a_block, used.registers, used.shared_bytes);
        let warps = blocks * warps_of_a_block;
        let many = [Bound::Low, Bound::High]
            .map(|bound| run(&program, architecture, Load { warps, steps: STEPS_OF_MANY }, bound));
        let warps_of_a_chain = warps_of_a_chain(&counts.entry) as f64;
        let of = |outcomes: &[ScheduledSteps; 2], value: &dyn Fn(&ScheduledSteps) -> f64| Range {
            low: value(&outcomes[0]),
            high: value(&outcomes[1]),
        };
        let causes = causes(&alone);
        let sum = |bound| causes.iter().map(|(_, cycles)| cycles.at(bound)).sum();
        let cycles = Range { low: sum(Bound::Low), high: sum(Bound::High) };
        let speed = of(&many, &|outcome| outcome.steps_per_cycle);
        let speed = Range { low: speed.low * (1.0 - FETCH_OF_MANY.low), high: speed.high * (1.0 - FETCH_OF_MANY.high) };
        let instructions = program.of_a_step(|_| 1.0);
        let issue = 1.0 / busiest(&program, architecture);
        let latency = Range { low: f64::from(warps) / cycles.low, high: f64::from(warps) / cycles.high };
        let [stored, loaded] = counts.bytes();
        let on_gpu = |gpu: &Gpu| {
            let of_a_step = match counts.work {
                Work::Leapfrog => 1.0 / warps_of_a_chain,
                Work::Elements => LANES,
            };
            let all = f64::from(gpu.multiprocessors) * gpu.clock * of_a_step;
            let memory = (counts.work == Work::Elements).then(|| Range {
                low: LANES * gpu.bandwidth.high / stored,
                high: LANES * gpu.bandwidth.low / (stored + loaded),
            });
            let least =
                |bound: Bound| memory.map_or(f64::INFINITY, |memory| memory.at(bound)).min(all * speed.at(bound));
            OnGpu {
                name: gpu.name,
                microseconds: cycles * (1e6 / gpu.clock),
                per_second: Range { low: least(Bound::Low), high: least(Bound::High) },
                limits: Limits { issue: all * issue, latency: latency * all, memory },
            }
        };
        Self {
            entry: counts.entry.clone(),
            work: counts.work,
            architecture: architecture.name,
            ptxas: ptxas.to_owned(),
            registers: used.registers,
            spill_bytes: used.spill_bytes,
            ptx_instructions: counts.of_a_step().map(|(_, rate)| rate).sum(),
            instructions,
            double_instructions: program.of_a_step(|instruction| f64::from(Kind::of(instruction).is_double())),
            hot_bytes: program.hot_bytes(),
            cycles,
            causes,
            parts: parts(counts, &program, &alone),
            functions: functions(counts, owners, &program, &alone),
            opcodes: program.opcodes(),
            chains: f64::from(warps) / warps_of_a_chain,
            issue: speed * (instructions / f64::from(SCHEDULERS)),
            gpus: architecture.gpus.iter().map(on_gpu).collect(),
        }
    }
}

/// Cycles of a multiprocessor in which its schedulers, or the busiest of its units, are busy with a step of a warp.
fn busiest(program: &Program, architecture: &Architecture) -> f64 {
    let mut cycles = vec![program.of_a_step(|_| 1.0) / f64::from(SCHEDULERS)];
    for unit in Unit::ALL {
        let busy = |instruction: &Instruction| {
            let (kind, width) = kind_and_width(instruction);
            let own = architecture.unit(kind, width).filter(|(own, _)| *own == unit);
            own.map_or(0.0, |(_, interval)| interval.low)
        };
        cycles.push(program.of_a_step(busy) / f64::from(unit.of_a_multiprocessor()));
    }
    cycles.into_iter().fold(0.0, f64::max)
}

fn causes(alone: &[ScheduledSteps; 2]) -> Vec<(&'static str, Range)> {
    let sums = alone.each_ref().map(|outcome| {
        let mut sums = BTreeMap::<&str, f64>::new();
        for (cause, cycles) in &outcome.causes {
            *sums.entry(words(*cause)).or_default() += cycles;
        }
        sums
    });
    let sum = |cause: &str| sums.each_ref().map(|sums| sums.get(cause).copied().unwrap_or_default());
    let [low, high] = alone.each_ref().map(ScheduledSteps::cycles);
    let of_share = |cycles: f64, share: f64| cycles * share / (1.0 - share);
    CAUSES
        .map(|cause| {
            let [low, high] = match cause {
                FETCH => [of_share(low, FETCH_ALONE.low), of_share(high, FETCH_ALONE.high)],
                _ => sum(cause),
            };
            (cause, Range { low, high })
        })
        .into()
}

fn parts(counts: &Counts, program: &Program, alone: &[ScheduledSteps; 2]) -> Vec<Part> {
    let mut parts: Vec<Part> = PARTS.map(|(_, name)| Part { name: name.to_owned(), ..Part::default() }).into();
    for (_, rate) in counts.of_a_step() {
        parts[part(rate)].ptx_instructions += rate;
    }
    for (i, block) in program.blocks.iter().enumerate() {
        let part = &mut parts[part(block.rate)];
        part.instructions += block.rate * block.instructions.len() as f64;
        part.cycles.low += alone[0].instructions[i].iter().sum::<f64>();
        part.cycles.high += alone[1].instructions[i].iter().sum::<f64>();
    }
    parts
}

fn functions(counts: &Counts, owners: &[String], program: &Program, alone: &[ScheduledSteps; 2]) -> Vec<Part> {
    let owner = |line: u32| owners.get(line as usize - 1).map_or("", String::as_str);
    let mut parts = BTreeMap::<&str, Part>::new();
    for (executed, rate) in counts.of_a_step() {
        parts.entry(owner(executed.line)).or_default().ptx_instructions += rate;
    }
    for (i, block) in program.blocks.iter().enumerate() {
        for (j, instruction) in program.code(block).iter().enumerate() {
            let part = parts.entry(instruction.line.map_or("", owner)).or_default();
            part.instructions += block.rate;
            part.cycles.low += alone[0].instructions[i][j];
            part.cycles.high += alone[1].instructions[i][j];
        }
    }
    let mut parts: Vec<Part> = parts.into_iter().map(|(name, part)| Part { name: name.to_owned(), ..part }).collect();
    parts.sort_by(|a, b| b.cycles.high.total_cmp(&a.cycles.high));
    parts
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::sass::listings;
    use super::super::sass::tests::EXCERPT;
    use super::*;

    /// Makes the estimate of the excerpt, whose first lines are executed at each tenth step and the others at each.
    pub(in super::super) fn excerpt(architecture: &str) -> Estimate {
        estimate(architecture, "# array_dot_f64 leapfrogs 100\n")
    }

    /// The same of a kernel that loads two numbers of f64 for each element and stores one of f32.
    pub(in super::super) fn excerpt_of_elements(architecture: &str) -> Estimate {
        estimate(architecture, "1 ld.global.f64 0 6400\n1 st.global.f32 0 3200\n")
    }

    fn estimate(architecture: &str, begin: &str) -> Estimate {
        let listing = listings(EXCERPT).unwrap().remove("array_dot_f64").unwrap();
        let lines = (4544..=4587).map(|line| format!("{line} add.s32 {} 0\n", if line < 4575 { 10 } else { 100 }));
        let text = format!("{begin}{}", lines.collect::<String>());
        let counts = Counts::parse("array_dot_f64", &text).unwrap();
        let owners: Vec<String> =
            (1..=4587).map(|line| if line < 4575 { "a.cuh: begin" } else { "b.cuh: loop" }.into()).collect();
        let kernel = Kernel { counts: &counts, threads: 128, owners: &owners };
        let used = Used { registers: 22, shared_bytes: 512, ..Used::default() };
        Estimate::new(&kernel, Architecture::named(architecture).unwrap(), "12.4.131", (&listing, used))
    }

    #[test]
    fn instructions_are_those_of_blocks_by_how_often_they_are_executed() {
        let estimate = excerpt("sm_90");
        // 23 instructions lead to the branch at 0x160, 16 follow; one of these is on f64.
        assert!((estimate.instructions - (23.0 * 0.1 + 16.0)).abs() < 1e-9, "{}", estimate.instructions);
        assert!((estimate.double_instructions - 1.0).abs() < 1e-9);
        assert!((estimate.ptx_instructions - (31.0 * 0.1 + 13.0)).abs() < 1e-9);
        assert_eq!(estimate.hot_bytes, 39 * 16);
        // 22 registers: 64 warps by registers, of four a block.
        assert_eq!(estimate.chains, 64.0);
    }

    #[test]
    fn causes_parts_and_functions_are_the_same_cycles() {
        let Estimate { cycles, causes, parts, functions, gpus, .. } = excerpt("sm_90");
        let fetch = causes.iter().find(|(name, _)| *name == FETCH).unwrap().1;
        for bound in [Bound::Low, Bound::High] {
            let total = cycles.at(bound);
            let sums = [
                causes.iter().map(|(_, cycles)| cycles.at(bound)).sum::<f64>(),
                parts.iter().map(|part| part.cycles.at(bound)).sum::<f64>() + fetch.at(bound),
                functions.iter().map(|part| part.cycles.at(bound)).sum::<f64>() + fetch.at(bound),
            ];
            assert!(sums.iter().all(|sum| (sum - total).abs() < 1e-6 * total), "{sums:?} {total}");
        }
        assert_eq!(
            functions.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(),
            ["b.cuh: loop", "a.cuh: begin"]
        );
        // 0.11 of all cycles are waits for instructions at most.
        assert!((fetch.high / cycles.high - 0.11).abs() < 1e-9 && fetch.low == 0.0);
        assert!((gpus[0].microseconds.high - cycles.high / 1980.0).abs() < 1e-9);
    }

    #[test]
    fn code_is_told_apart_by_how_often_it_is_executed() {
        assert_eq!([1.0, 0.95, 0.5, 0.2, 0.1, 0.03, 0.001, 0.0].map(part), [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn two_units_of_f64_bind_many_warps_and_not_one() {
        let [narrow, wide] = ["sm_86", "sm_90"].map(excerpt);
        // Sixteen cycles of the multiprocessor for each f64 instruction, in each of which some other warp waits.
        let most = 84.0 * 1.8e9 / 16.0;
        let speed = narrow.gpus[0].per_second.low;
        assert!(speed < most && speed > 0.8 * most, "{speed} of {most}");
        assert!(wide.gpus[0].per_second.low > 3.0 * speed);
        let limit = narrow.gpus[0].limits.issue;
        assert!((limit / most - 1.0).abs() < 1e-9, "{limit} of {most}");
        assert!(narrow.gpus[0].limits.memory.is_none());
    }

    #[test]
    fn elements_are_limited_by_issue_by_latency_and_by_memory() {
        let Estimate { work, instructions, cycles, gpus, .. } = excerpt_of_elements("sm_90");
        let OnGpu { per_second, limits, .. } = &gpus[0];
        assert_eq!(work, Work::Elements);
        let all = 132.0 * 1.98e9 * 32.0;
        assert!((limits.issue / (all * 4.0 / instructions) - 1.0).abs() < 1e-9);
        // 64 warps, each of which has its 32 elements after so many cycles.
        assert!((limits.latency.low / (all * 64.0 / cycles.low) - 1.0).abs() < 1e-9);
        // Of an H200 the 4 bytes that are stored, of an H100 these and the 16 that are loaded.
        assert_eq!(limits.memory, Some(Range { low: 4.8e12 / 4.0, high: 3.35e12 / 20.0 }));
        assert_eq!(per_second.high, 3.35e12 / 20.0);
        assert!(per_second.low < limits.issue && per_second.low < limits.latency.low);
    }
}
