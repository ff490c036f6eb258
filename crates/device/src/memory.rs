//! How much device memory a run takes, before it takes it.
//!
//! Pure arithmetic: [`MemoryPlan::new`] adds up what [`RunShape`] needs and compares it to [`DeviceMemory`]; nothing is
//! allocated and no device is asked.
//!
//! **The formula.** `R` is the bytes of a real of the run's [`Precision`], `L` the lanes of the virtual warp (32
//! up to 256 coordinates, 128 above), `V = R * dim` rounded up to whole rows of lanes, `J = max_depth`. For each chain:
//!
//! | Part | Bytes | What it holds |
//! |---|---|---|
//! | state | `2 V` | position and gradient |
//! | trajectory | `8 V` | position, momentum and gradient at both ends; the momenta's sums of the tree and of the subtree |
//! | proposals | `4 V` | position and gradient drawn from the tree and from the subtree |
//! | checkpoints | `2 J V` | momentum and momentum sum of each open subtree, for the U-turn criteria |
//! | adaptation | `V + 16 dim` | the metric; mean and squares of Welford's sums, in f64 |
//! | draws | `B N (R dim + 72)` | `B` buffers of `N` draws in flight, each with nine statistics of 8 bytes |
//! | scalars | `256` | step size and its averaging, energies, counters, the address of the random numbers |
//!
//! Once for all chains:
//!
//! | Part | Bytes | What it holds |
//! |---|---|---|
//! | data | `data_bytes` | the observations and what the model makes of them |
//! | shared | `2 V` | the pooled metric and centering |
//!
//! Free memory is what the driver calls free once the context exists. Of it a **reserve** is left alone, the greater of
//! 256 MiB and one twentieth of the device: allocations are rounded up to pages, kernels that spill have their stacks
//! there, and other programs come and go.

mod bytes;
mod plan;
mod shape;

pub use plan::{DeviceMemory, MemoryPlan, MemoryPlanError, PlanPart};
pub use shape::{Precision, RunShape};
