//! From the GPU to smaller batches to the CPU, one said step after the other.
//!
//! Work that consists of independent items, such as chains, is done in batches. What a device cannot hold at once is
//! split; what a device cannot do at all goes to the CPU, if that is allowed. Batches that are done stay done, and only
//! the rest moves: with exact kernels the results do not depend on where or in what batches they were made.

use crate::{ArrayError, Device};
use octopus_cuda::CudaError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// What a failure means for the rest of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Fewer items at once would have done: memory, or a limit of a launch.
    TooLarge,
    /// The device is absent, broken or lost; the CPU could do it.
    Device,
    /// It would fail anywhere.
    Final,
}

/// Errors that can tell what they mean for a fall-back.
pub trait FallbackError: fmt::Display {
    /// What this failure means.
    fn failure(&self) -> Failure;
}

impl FallbackError for CudaError {
    fn failure(&self) -> Failure {
        match self {
            error if error.is_out_of_memory() => Failure::TooLarge,
            Self::LaunchShape { .. } => Failure::TooLarge,
            // These are mistakes of the program, which other devices do not mend.
            Self::LengthMismatch { .. } | Self::RangeOutside { .. } | Self::ContextMismatch { .. } => Failure::Final,
            _ => Failure::Device,
        }
    }
}

impl FallbackError for ArrayError {
    fn failure(&self) -> Failure {
        self.cuda().map_or(Failure::Final, FallbackError::failure)
    }
}

/// Whether other ways than the one asked for may be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackPolicy {
    /// Smaller batches, then the CPU.
    #[default]
    Allow,
    /// Smaller batches, but not the CPU.
    SmallerBatches,
    /// Neither: the first failure is the end (`--no-fallback`).
    Never,
}

/// How the work is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FallbackPlan {
    /// Where.
    pub device: Device,
    /// The most items at once on that device; 0 counts as 1. See [`MemoryPlan::chains_at_once`](crate::MemoryPlan).
    pub batch: u64,
    /// The least items at once that are still worth the device; below it, the CPU. 0 counts as 1.
    pub smallest_batch: u64,
    /// What may be done when that fails.
    pub policy: FallbackPolicy,
}

impl FallbackPlan {
    /// All items at once on `device`, halved down to one, then the CPU.
    #[must_use]
    pub fn new(device: Device) -> Self {
        Self { device, batch: u64::MAX, smallest_batch: 1, policy: FallbackPolicy::Allow }
    }
}

/// A step away from the plan, to be told to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackStep {
    /// The rest goes on in smaller batches.
    SmallerBatches {
        /// Where it goes on.
        device: Device,
        /// Items that were too many at once.
        from: u64,
        /// Items at once from now on.
        to: u64,
        /// What failed, in its own words.
        cause: String,
    },
    /// One of several devices is given up; the others go on with what it had to do. [`run`] has one device and never
    /// says this.
    OtherDevices {
        /// The device that is given up.
        from: Device,
        /// What failed, in its own words.
        cause: String,
    },
    /// The rest goes on on the CPU.
    Cpu {
        /// The device that is given up.
        from: Device,
        /// Items that are left.
        items: u64,
        /// What failed, in its own words.
        cause: String,
    },
}

impl fmt::Display for FallbackStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmallerBatches { device, from, to, cause } => {
                write!(f, "{device}: {from} at once is too much, going on with {to} at once ({cause})")
            }
            Self::OtherDevices { from, cause } => {
                write!(f, "{from} is given up, the other devices go on with what it had to do ({cause})")
            }
            Self::Cpu { from, items, cause } => {
                write!(f, "{from} is given up, the remaining {items} go to the CPU ({cause})")
            }
        }
    }
}

/// One batch that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<R> {
    /// Where it was done.
    pub device: Device,
    /// Its items.
    pub items: Range<u64>,
    /// What it gave.
    pub result: R,
}

/// All work, done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed<R> {
    /// The batches in the order of their items.
    pub batches: Vec<Batch<R>>,
    /// The steps away from the plan, in their order; empty when it went as planned.
    pub steps: Vec<FallbackStep>,
}

/// Does `items` items, in batches, by calling `attempt` with a device and a range of them.
///
/// An attempt that fails must leave nothing behind: its items are attempted again. A batch that was too large is halved,
/// down to `smallest_batch`; what is still too large, or failed for the device's sake, goes to the CPU in one
/// batch with all that is left. Each step is told to `say` before it is taken.
///
/// ```
/// use octopus_device::fallback::{Failure, FallbackError, FallbackPlan, run};
/// use octopus_device::Device;
///
/// struct TooMany;
/// impl std::fmt::Display for TooMany {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("out of memory")
///     }
/// }
/// impl FallbackError for TooMany {
///     fn failure(&self) -> Failure {
///         Failure::TooLarge
///     }
/// }
///
/// // A device that holds 30 chains at once, and 100 to do.
/// let mut log = vec![];
/// let done = run(&FallbackPlan::new(Device::Cuda(0)), 100, |step| log.push(step.to_string()), |_, chains| {
///     if chains.end - chains.start > 30 { Err(TooMany) } else { Ok(chains.end - chains.start) }
/// })
/// .map_err(|error| error.to_string())?;
/// assert_eq!(done.batches.iter().map(|batch| batch.result).collect::<Vec<_>>(), [25, 25, 25, 25]);
/// assert_eq!(log[0], "cuda:0: 100 at once is too much, going on with 50 at once (out of memory)");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The first failure when the policy is [`FallbackPolicy::Never`]; otherwise one that no step is left for.
pub fn run<R, E: FallbackError>(
    plan: &FallbackPlan,
    items: u64,
    mut say: impl FnMut(&FallbackStep),
    mut attempt: impl FnMut(Device, Range<u64>) -> Result<R, E>,
) -> Result<Completed<R>, E> {
    let (mut batches, mut steps) = (vec![], vec![]);
    let (mut device, mut batch) = (plan.device, plan.batch.max(1));
    let smallest = plan.smallest_batch.max(1);
    let mut start = 0;
    while start < items {
        let range = start..items.min(start.saturating_add(batch));
        let asked = range.end - range.start;
        let error = match attempt(device, range.clone()) {
            Ok(result) => {
                start = range.end;
                batches.push(Batch { device, items: range, result });
                continue;
            }
            Err(error) => error,
        };
        let failure = error.failure();
        if failure == Failure::Final || plan.policy == FallbackPolicy::Never || !device.is_cuda() {
            return Err(error);
        }
        let half = asked / 2;
        let step = if failure == Failure::TooLarge && half >= smallest {
            FallbackStep::SmallerBatches { device, from: asked, to: half, cause: error.to_string() }
        } else if plan.policy == FallbackPolicy::Allow {
            FallbackStep::Cpu { from: device, items: items - start, cause: error.to_string() }
        } else {
            return Err(error);
        };
        say(&step);
        (device, batch) = match step {
            FallbackStep::SmallerBatches { to, .. } => (device, to),
            FallbackStep::OtherDevices { .. } => (device, batch),
            FallbackStep::Cpu { .. } => (Device::Cpu, items),
        };
        steps.push(step);
    }
    Ok(Completed { batches, steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Fault(Failure);

    impl fmt::Display for Fault {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{:?}", self.0)
        }
    }

    impl FallbackError for Fault {
        fn failure(&self) -> Failure {
            self.0
        }
    }

    const GPU: Device = Device::Cuda(0);

    /// A device with room for so many items; results are the items themselves.
    fn room(limit: u64) -> impl FnMut(Device, Range<u64>) -> Result<Vec<u64>, Fault> {
        move |device, range| {
            let fits = !device.is_cuda() || range.end - range.start <= limit;
            if fits { Ok(range.collect()) } else { Err(Fault(Failure::TooLarge)) }
        }
    }

    fn all(done: &Completed<Vec<u64>>) -> Vec<u64> {
        done.batches.iter().flat_map(|batch| batch.result.iter().copied()).collect()
    }

    #[test]
    fn every_item_is_done_once_whatever_fits() {
        for items in [0, 1, 2, 3, 7, 8, 33, 100] {
            for limit in 0..=items + 1 {
                let mut said = vec![];
                let plan = FallbackPlan::new(GPU);
                let done = run(&plan, items, |step| said.push(step.clone()), room(limit)).unwrap();
                assert_eq!(all(&done), (0..items).collect::<Vec<_>>(), "{items} items, room for {limit}");
                assert_eq!(done.steps, said);
                assert_eq!(said.is_empty(), limit >= items);
            }
        }
    }

    #[test]
    fn the_cpu_takes_what_is_too_much_in_the_smallest_batches() {
        let plan = FallbackPlan { smallest_batch: 4, ..FallbackPlan::new(GPU) };
        let done = run(&plan, 16, |_| {}, room(3)).unwrap();
        assert_eq!(done.batches.len(), 1);
        assert_eq!(done.batches[0].device, Device::Cpu);
        let words: Vec<_> = done.steps.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "cuda:0: 16 at once is too much, going on with 8 at once (TooLarge)",
                "cuda:0: 8 at once is too much, going on with 4 at once (TooLarge)",
                "cuda:0 is given up, the remaining 16 go to the CPU (TooLarge)",
            ]
        );
    }

    #[test]
    fn a_device_lost_half_way_keeps_what_was_done() {
        let plan = FallbackPlan { batch: 3, ..FallbackPlan::new(GPU) };
        let done = run(
            &plan,
            10,
            |_| {},
            |device, range| {
                if device.is_cuda() && range.start == 6 {
                    Err(Fault(Failure::Device))
                } else {
                    Ok(range.collect::<Vec<_>>())
                }
            },
        )
        .unwrap();
        let where_done: Vec<_> = done.batches.iter().map(|batch| (batch.device, batch.items.clone())).collect();
        assert_eq!(where_done, [(GPU, 0..3), (GPU, 3..6), (Device::Cpu, 6..10)]);
        assert_eq!(all(&done), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn what_may_not_be_done_is_not_done() {
        let mut calls = 0;
        let mut counted = |plan: &FallbackPlan, fault: Failure| {
            calls = 0;
            let error = run(
                plan,
                8,
                |_| {},
                |_, _| -> Result<(), _> {
                    calls += 1;
                    Err(Fault(fault))
                },
            )
            .unwrap_err();
            (error, calls)
        };
        let plan = |policy| FallbackPlan { policy, ..FallbackPlan::new(GPU) };
        for fault in [Failure::TooLarge, Failure::Device, Failure::Final] {
            assert_eq!(counted(&plan(FallbackPolicy::Never), fault), (Fault(fault), 1));
        }
        assert_eq!(counted(&plan(FallbackPolicy::Allow), Failure::Final).1, 1);
        assert_eq!(counted(&plan(FallbackPolicy::SmallerBatches), Failure::Device).1, 1);
        // 8, 4, 2, 1; and once more on the CPU, which is the end.
        assert_eq!(counted(&plan(FallbackPolicy::SmallerBatches), Failure::TooLarge).1, 4);
        assert_eq!(counted(&plan(FallbackPolicy::Allow), Failure::TooLarge).1, 5);
        assert_eq!(counted(&FallbackPlan::new(Device::Cpu), Failure::TooLarge).1, 1);
    }
}
