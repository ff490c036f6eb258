//! The cost of work on this machine's processor and on one of its devices, measured once and kept.
//!
//! | Concept | Here |
//! |---|---|
//! | The cost of one kernel or copy: a part to start it, and a part for each unit | [`LinearCost`] |
//! | Measured costs of both sides, with what they were measured on | [`DeviceCosts`], made by `measure_costs` of `octopus-fitness` |
//! | What makes a measurement stale | [`CostsKey`]: device, driver, binary |
//! | Where measurements are kept | [`CostsCache`] |
//! | What is to be done | [`Work`] |
//! | Which side would be done first | [`choose`] |
//!
//! **Kernels and units.** A kernel is known by the name of its GPU form, and its work is counted in units:
//!
//! | Kernel | Unit | Measured by |
//! |---|---|---|
//! | `array_axpy_f32`, `array_axpy_f64` | one element; stands for all element-wise arithmetic | `measure_costs` |
//! | `array_exp_f32`, `array_exp_f64` | one element; stands for exp and ln | `measure_costs` |
//! | `array_dot_f32`, `array_dot_f64` | one element; stands for all reductions | `measure_costs` |
//! | `matmul_f32`, `matmul_f64` | one multiplication with its addition: `m k n` in all | `measure_costs` |
//! | `nuts_leapfrog_...` | a leapfrog step of one chain; a launch is one of every chain | the first run that needs it, or `octopus device measure` |
//! | others | as their owner says | [`DeviceCosts::record`] |
//!
//! The cost of `n` units in `l` launches is `l * fixed + n * per_unit` seconds. It holds where the work of a launch fills
//! the device or is small against the start of it; in between a GPU is a little faster than predicted.

mod cache;
mod choice;
mod fingerprint;
mod key;
mod model;
mod why;
mod work;

pub use cache::{CostsCache, CostsCacheError, CostsMiss};
pub use choice::{Choice, Prediction, Seconds, choose};
pub use key::{CostsKey, kernels_fingerprint};
pub use model::{DeviceCosts, KernelCost, LinearCost, TransferCost};
pub use why::DeviceReason;
pub use work::{Work, WorkStep};
