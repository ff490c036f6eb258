//! The architectures and GPUs that are predicted for: how often their units take an instruction, and how many warps they hold.

use super::kind::Kind;
use super::range::Range;

/// Registers of a multiprocessor, of 32 bits; a quarter belongs to each scheduler.
const REGISTERS: u32 = 65_536;
/// Schedulers of a multiprocessor.
pub(super) const SCHEDULERS: u32 = 4;
/// A warp is given registers of its 32 lanes by eights.
const REGISTERS_AT_ONCE: u32 = 8;
/// What the system keeps of the shared memory for each block, from sm_80 on.
const SHARED_RESERVED: u32 = 1024;

/// A GPU: what leapfrog steps and elements of arrays a second are predicted for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gpu {
    pub(super) name: &'static str,
    pub(super) multiprocessors: u32,
    /// Hz.
    pub(super) clock: f64,
    /// The bytes that its memory moves a second; where the name is of two GPUs, from the slower to the faster.
    pub(super) bandwidth: Range,
    /// Where they are from.
    pub(super) source: &'static str,
}

/// An architecture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Architecture {
    /// As ptxas names it.
    pub(super) name: &'static str,
    pub(super) gpus: &'static [Gpu],
    /// Whether the pinned ptxas 12.4 knows it; the newest one knows all.
    pub(super) is_in_pinned: bool,
    /// The most warps and blocks of a multiprocessor.
    warps: u32,
    blocks: u32,
    /// Shared memory of a multiprocessor, in KiB.
    shared: u32,
    /// Results a clock and multiprocessor, as the CUDA C++ programming guide tabulates them ("Arithmetic instructions"):
    /// f32 and f64 additions and multiplications, integer additions and logic.
    float: u32,
    double: u32,
    integer: Range,
}

/// Throughputs are those of the guide's table, sizes those of its "Technical specifications per compute capability".
pub(super) const ARCHITECTURES: [Architecture; 5] = [
    Architecture {
        name: "sm_80",
        gpus: &[Gpu {
            name: "A100 SXM",
            multiprocessors: 108,
            clock: 1.41e9,
            bandwidth: Range { low: 1.555e12, high: 2.039e12 },
            source: "NVIDIA A100 white paper, boost clock; memory of 40 and of 80 GB",
        }],
        is_in_pinned: true,
        warps: 64,
        blocks: 32,
        shared: 164,
        float: 64,
        double: 32,
        integer: Range::exact(64.0),
    },
    Architecture {
        name: "sm_86",
        gpus: &[Gpu {
            name: "RTX A6000",
            multiprocessors: 84,
            clock: 1.80e9,
            bandwidth: Range::exact(768e9),
            source: "NVIDIA RTX A6000 data sheet, boost clock",
        }],
        is_in_pinned: true,
        warps: 48,
        blocks: 16,
        shared: 100,
        float: 128,
        double: 2,
        integer: Range::exact(64.0),
    },
    Architecture {
        name: "sm_90",
        gpus: &[Gpu {
            name: "H100 SXM, H200",
            multiprocessors: 132,
            clock: 1.98e9,
            bandwidth: Range { low: 3.35e12, high: 4.8e12 },
            source: "both measured here: reports/h100-80gb-hbm3 and reports/h200; memory of NVIDIA's data sheets",
        }],
        is_in_pinned: true,
        warps: 64,
        blocks: 32,
        shared: 228,
        float: 128,
        double: 64,
        integer: Range::exact(64.0),
    },
    Architecture {
        name: "sm_100",
        gpus: &[Gpu {
            name: "B200",
            multiprocessors: 148,
            clock: 1.965e9,
            bandwidth: Range::exact(8e12),
            source: "148 multiprocessors: arXiv:2512.02189; the boost clock is what lists of GPUs give, 1.965 to 1.98 GHz; \
                     memory of NVIDIA's data sheet of HGX B200",
        }],
        is_in_pinned: false,
        warps: 64,
        blocks: 32,
        shared: 228,
        float: 128,
        double: 64,
        integer: Range::exact(64.0),
    },
    Architecture {
        name: "sm_120",
        gpus: &[Gpu {
            name: "RTX PRO 6000",
            multiprocessors: 188,
            clock: 2.617e9,
            bandwidth: Range::exact(1.792e12),
            source: "NVIDIA RTX PRO 6000 Blackwell data sheet, boost clock",
        }],
        is_in_pinned: false,
        warps: 48,
        blocks: 24,
        shared: 100,
        float: 128,
        double: 2,
        // Additions and logic 128, shifts and multiplications 64: arXiv:2507.10789 found one unit for f32 and integers.
        integer: Range { low: 64.0, high: 128.0 },
    },
];

/// What takes an instruction and is then busy for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// One of a scheduler's own.
    OfScheduler(usize),
    /// One that the schedulers of a multiprocessor share.
    Shared(usize),
}

impl Unit {
    pub(super) const ALL: [Self; UNITS + 2] = [
        Self::OfScheduler(INTEGER),
        Self::OfScheduler(FLOAT),
        Self::OfScheduler(DOUBLE),
        Self::OfScheduler(SPECIAL),
        Self::OfScheduler(UNIFORM),
        Self::Shared(MEMORY),
        Self::Shared(DOUBLE),
    ];

    /// How many a multiprocessor has.
    pub(super) fn of_a_multiprocessor(self) -> u32 {
        match self {
            Self::OfScheduler(_) => SCHEDULERS,
            Self::Shared(_) => 1,
        }
    }
}

/// The numbers of units, within each of the two kinds.
pub(super) const UNITS: usize = 5;
const INTEGER: usize = 0;
const FLOAT: usize = 1;
const DOUBLE: usize = 2;
const SPECIAL: usize = 3;
const UNIFORM: usize = 4;
const MEMORY: usize = 0;

impl Architecture {
    /// The architecture of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ARCHITECTURES.iter().find(|architecture| architecture.name == name)
    }

    /// The unit that takes instructions of a kind and how many cycles it is busy with one whose lanes each move `width`
    /// registers; `None` where nothing can be in the way.
    pub(super) fn unit(&self, kind: Kind, width: u64) -> Option<(Unit, Range)> {
        // Of a scheduler, for the 32 lanes of a warp.
        let by_throughput = |results: f64| Range::exact(32.0 * f64::from(SCHEDULERS) / results);
        Some(match kind {
            Kind::Integer => (
                Unit::OfScheduler(INTEGER),
                Range { low: by_throughput(self.integer.high).low, high: by_throughput(self.integer.low).high },
            ),
            Kind::Float => (Unit::OfScheduler(FLOAT), by_throughput(self.float.into())),
            // 64 results a clock on all of them.
            Kind::IntegerMultiply => (Unit::OfScheduler(FLOAT), by_throughput(64.0)),
            Kind::Double | Kind::DoubleConversion if self.double < SCHEDULERS => {
                (Unit::Shared(DOUBLE), Range::exact(32.0 / f64::from(self.double)))
            }
            Kind::Double => (Unit::OfScheduler(DOUBLE), by_throughput(self.double.into())),
            // 16 results a clock on all of them, conversions from and to f64 of the wide ones included.
            Kind::DoubleConversion | Kind::Special | Kind::Conversion => {
                (Unit::OfScheduler(SPECIAL), by_throughput(16.0))
            }
            // 32 lanes of 32 bits a clock and multiprocessor.
            Kind::Shuffle
            | Kind::SharedLoad
            | Kind::SharedStore
            | Kind::GlobalLoad
            | Kind::GlobalStore
            | Kind::Atomic => (Unit::Shared(MEMORY), Range::exact(width as f64)),
            // It works every other cycle: 16 lanes wide in Accel-Sim's configurations of sm_75 to sm_86.
            Kind::Uniform => (Unit::OfScheduler(UNIFORM), Range { low: 1.0, high: 2.0 }),
            _ => return None,
        })
    }

    /// The blocks of `warps` warps that a multiprocessor holds at once.
    pub(super) fn resident_blocks(&self, warps: u32, registers: u32, shared_bytes: u32) -> u32 {
        let of_a_warp = registers.max(1).div_ceil(REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE * 32;
        let by_registers = REGISTERS / SCHEDULERS / of_a_warp * SCHEDULERS / warps;
        let by_shared = self.shared * 1024 / (shared_bytes + SHARED_RESERVED);
        by_registers.min(by_shared).min(self.warps / warps).min(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_are_those_that_registers_and_shared_memory_allow() {
        // docs/performance.md, "Registers and occupancy": warps of four a block.
        let warps = |name: &str, registers, shared| {
            4 * Architecture::named(name).unwrap().resident_blocks(4, registers, shared)
        };
        for (registers, shared, expected) in [
            (110, 608, 16),
            (168, 608, 12),
            (128, 17592, 16),
            (71, 368, 28),
            (80, 368, 24),
            (230, 17596, 8),
            (96, 8812, 20),
        ] {
            assert_eq!(warps("sm_86", registers, shared), expected, "{registers} registers, {shared} bytes");
            assert_eq!(warps("sm_90", registers, shared), expected, "{registers} registers, {shared} bytes");
        }
        // 48 warps are the most of sm_86 and sm_120, 64 of the others; five blocks of 20 KiB fill 100 KiB.
        assert_eq!((warps("sm_86", 32, 0), warps("sm_90", 32, 0), warps("sm_120", 32, 0)), (48, 64, 48));
        assert_eq!(warps("sm_86", 32, 19 * 1024), 20);
    }

    #[test]
    fn units_are_busy_for_as_long_as_their_lanes_need() {
        let unit = |name: &str, kind| Architecture::named(name).unwrap().unit(kind, 1).unwrap();
        for (name, shared, cycles) in [
            ("sm_80", false, 4.0),
            ("sm_86", true, 16.0),
            ("sm_90", false, 2.0),
            ("sm_100", false, 2.0),
            ("sm_120", true, 16.0),
        ] {
            let (place, interval) = unit(name, Kind::Double);
            assert_eq!((matches!(place, Unit::Shared(_)), interval), (shared, Range::exact(cycles)), "{name}");
        }
        assert_eq!(unit("sm_80", Kind::Float).1, Range::exact(2.0));
        assert_eq!(unit("sm_90", Kind::Float).1, Range::exact(1.0));
        assert_eq!(unit("sm_120", Kind::Integer).1, Range { low: 1.0, high: 2.0 });
        assert_eq!(unit("sm_90", Kind::Special).1, Range::exact(8.0));
    }
}
