//! The only door to the CUDA driver, and the only module with unsafe code.
//!
//! [`shim`] gives the program the driver's symbols; above it `cust` and, where cust is silent (JIT logs, events by
//! reference, launches checked against their declaration), the declarations that it re-exports as `cust::sys`.
//! What leaves this module is safe: every object holds its [`DeviceSession`](crate::session::DeviceSession), makes the context
//! current before it calls, and keeps what the driver still uses alive until the driver is done with it.
//!
//! The crate's other modules see it as `binding`, and without the feature `cuda` they see `absent` in its place.
#![allow(unsafe_code)]

mod batch;
mod context;
mod device;
mod event;
mod kernels;
mod launch;
mod memory;
mod module;
mod nuts;
mod pinned;
mod shim;
mod start;
mod status;
mod stream;
mod structures;
mod timeline;
mod transfer;
mod wait;
mod windows;

pub(crate) use batch::BatchFunctions;
pub(crate) use context::PrimaryContext;
pub(crate) use device::RawDevice;
pub(crate) use event::{EventPool, RawEvent};
pub(crate) use kernels::KernelSet;
pub(crate) use memory::RawDeviceMemory;
pub(crate) use module::RawModule;
pub(crate) use nuts::NutsFunctions;
pub(crate) use pinned::PinnedMemory;
pub(crate) use start::{device_count, driver_version, set_library};
pub(crate) use stream::RawStream;
pub(crate) use timeline::Timeline;
pub(crate) use transfer::InFlight;
pub(crate) use windows::WindowFunctions;
