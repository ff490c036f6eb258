//! Predicts how much device memory a run takes, before it takes it.
//!
//! Pure arithmetic: [`MemoryPlan::new`] compares what a run would take, which its engine foretells, to
//! [`DeviceMemory`]; nothing is allocated and no device is asked. The engine says what a run takes, since it
//! allocates: this module knows no formula of its own.
//!
//! Free memory is what the driver calls free. Of it a **reserve** is left alone, the greater of 256 MiB and one
//! twentieth of the device: the context and the kernels take some, allocations are rounded up to pages, and other
//! programs come and go.

mod plan;

pub use plan::{DeviceMemory, MemoryAttempt, MemoryPlan, PlanPart};
