//! How long results take that are waited for: assumptions, each with where it is from.
//!
//! Results of fixed latency need no assumption: ptxas has put their cycles into the control words. The others are waited for
//! by scoreboards, and NVIDIA does not say how long. All caches are taken to hit.

use super::kind::Kind;
use super::range::Range;

/// The columns of the table.
const COLUMNS: [&str; 5] = ["sm_80", "sm_86", "sm_90", "sm_100", "sm_120"];

/// What is assumed of some kinds of instructions.
pub(super) struct Assumption {
    pub(super) what: &'static str,
    kinds: &'static [Kind],
    /// Cycles from the least to the most, by architecture.
    cycles: [(f64, f64); 5],
    pub(super) source: &'static str,
}

/// Where several agree, the range has all of them; where nobody has measured, it is wide and says so.
pub(super) const ASSUMPTIONS: [Assumption; 10] = [
    Assumption {
        what: "LDS",
        kinds: &[Kind::SharedLoad],
        cycles: [(23.0, 29.0), (24.0, 30.0), (29.0, 33.0), (24.0, 34.0), (29.0, 34.0)],
        source: "A100 23: arXiv:2208.11174; A100, H100 29.0, RTX 4090 30.1: arXiv:2402.13499; A6000 24: \
                 arXiv:2503.20481; sm_120 29 to 34: arXiv:2507.10789; B200 as its neighbours",
    },
    Assumption {
        what: "LDG, first-level cache",
        kinds: &[Kind::GlobalLoad],
        cycles: [(33.0, 38.0), (32.0, 38.0), (33.0, 41.0), (33.0, 44.0), (30.0, 44.0)],
        source: "A100 33: arXiv:2208.11174; A100 37.9, H100 40.7: arXiv:2402.13499; A6000 32 to 38: arXiv:2503.20481; \
                 H100 32 to 33: arXiv:2501.12084; sm_120 30 to 44: arXiv:2507.10789; B200 as its neighbours",
    },
    Assumption {
        what: "LDC",
        kinds: &[Kind::ConstantLoad],
        cycles: [(26.0, 40.0), (26.0, 29.0), (26.0, 40.0), (26.0, 40.0), (26.0, 40.0)],
        source: "A6000 26 to 29: arXiv:2503.20481; V100 27 in the first level of constants: arXiv:1804.06826; \
                 others unmeasured, up to half as much again",
    },
    Assumption {
        what: "ULDC, R2UR",
        kinds: &[Kind::UniformLoad, Kind::Uniform],
        cycles: [(10.0, 14.0), (10.0, 14.0), (10.0, 14.0), (12.0, 30.0), (12.0, 30.0)],
        source: "no source: the stalls by which ptxas separates such pairs; on Blackwell LDCU, up to an LDC",
    },
    Assumption {
        what: "SHFL",
        kinds: &[Kind::Shuffle],
        cycles: [(23.0, 27.0), (23.0, 27.0), (23.0, 27.0), (23.0, 27.0), (23.0, 27.0)],
        source: "V100 22 to 23 and RTX 40 25 by microbenchmarks on GitHub, 27 with the address; beside LDS of the same chip",
    },
    Assumption {
        what: "MUFU",
        kinds: &[Kind::Special],
        cycles: [(18.0, 40.0), (18.0, 40.0), (18.0, 40.0), (18.0, 40.0), (22.0, 44.0)],
        source: "V100 18: arXiv:1804.06826; A100, H100 23: configurations of Accel-Sim; sm_120 22 to 44 by a \
                 microbenchmark on GitHub; seeds of f64 unmeasured",
    },
    Assumption {
        what: "conversions, counts of bits",
        kinds: &[Kind::Conversion, Kind::DoubleConversion],
        cycles: [(14.0, 24.0), (14.0, 24.0), (14.0, 24.0), (14.0, 24.0), (22.0, 45.0)],
        source: "V100 14: arXiv:1804.06826; Accel-Sim 20 to 23; sm_120 22 to 45 by a microbenchmark on GitHub",
    },
    Assumption {
        what: "f64",
        kinds: &[Kind::Double],
        cycles: [(8.0, 18.0), (40.0, 64.0), (8.0, 18.0), (8.0, 18.0), (64.0, 64.0)],
        source: "counts where ptxas uses a scoreboard: with two units a multiprocessor. sm_120 63.6: arXiv:2507.10789; \
                 sm_86 unmeasured; of the others DSETP",
    },
    Assumption {
        what: "S2R",
        kinds: &[Kind::SpecialRegister],
        cycles: [(15.0, 30.0), (15.0, 30.0), (15.0, 30.0), (15.0, 30.0), (15.0, 30.0)],
        source: "no source, and rare",
    },
    Assumption {
        what: "atomics, fences",
        kinds: &[Kind::Atomic, Kind::Fence],
        cycles: [(200.0, 500.0), (200.0, 500.0), (250.0, 700.0), (250.0, 700.0), (300.0, 700.0)],
        source: "a trip to the second level at least: A100 200 to 262, H100 263, sm_120 358",
    },
];

/// Until the operands of a store or a load have been read, whatever the architecture: A6000 9 to 16 (arXiv:2503.20481).
pub(super) const OPERANDS_READ: Range = Range { low: 9.0, high: 16.0 };
/// Shares of a warp's cycles that it waits for its instructions, alone on its scheduler and with others: the least is none.
/// On an H100 Nsight Compute found 7 (f32) to 11 % (f64) of one chain and 18 % of 4096 (docs/performance.md).
pub(super) const FETCH_ALONE: Range = Range { low: 0.0, high: 0.11 };
pub(super) const FETCH_OF_MANY: Range = Range { low: 0.0, high: 0.18 };
/// What else has a scoreboard.
const OTHERWISE: Range = Range { low: 10.0, high: 25.0 };

/// How long after its issue the result of an instruction is there that a scoreboard stands for, in cycles.
pub(super) fn latency(architecture: &str, kind: Kind) -> Range {
    let column = COLUMNS.iter().position(|name| *name == architecture);
    let row = ASSUMPTIONS.iter().find(|row| row.kinds.contains(&kind));
    match (row, column) {
        (Some(row), Some(column)) => latency_of(row, column),
        _ => OTHERWISE,
    }
}

/// One cell of the table.
pub(super) fn latency_of(assumption: &Assumption, column: usize) -> Range {
    let (low, high) = assumption.cycles[column];
    Range { low, high }
}

#[cfg(test)]
mod tests {
    use super::super::arch::ARCHITECTURES;
    use super::*;

    #[test]
    fn every_architecture_has_its_column() {
        assert_eq!(COLUMNS, ARCHITECTURES.map(|architecture| architecture.name));
    }

    #[test]
    fn no_range_is_upside_down_and_no_kind_has_two() {
        let mut seen = Vec::new();
        for Assumption { kinds, cycles, what, .. } in ASSUMPTIONS {
            assert!(cycles.iter().all(|(low, high)| 0.0 < *low && low <= high), "{what}");
            for kind in kinds {
                assert!(!seen.contains(kind), "{kind:?} twice");
                seen.push(*kind);
            }
        }
    }
}
