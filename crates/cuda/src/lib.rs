//! The CUDA driver behind safe types, in programs that also build and start where there is no CUDA.
//!
//! | Concept | Here |
//! |---|---|
//! | Is there CUDA, and which | [`driver_start`], [`driver_version`], [`set_driver_library`] |
//! | The devices | [`Device`], [`DeviceAttribute`], [`DeviceUuid`] |
//! | A process's place on one | [`Context`], with [`MemoryInfo`] and what it was used for, [`Usage`] |
//! | Arrays | [`DeviceBuffer`] on the device, [`PinnedBuffer`] on the host, of [`Element`]s |
//! | Copies in the background | [`Transfer`] |
//! | Order and time | [`Stream`], [`Event`], [`Stream::measure`] |
//! | What a device did when | [`record_device_work`], [`take_device_work`] |
//! | Kernels | [`Kernels`]: arrays, reductions, matrix products; [`PTX`] |
//! | Chains of NUTS | [`NutsKernels`] over [`NutsData`], [`NutsGeometry`], [`NutsChains`], [`NutsTeam`], [`NutsSlot`] |
//! | Many data sets at once | [`NutsBatchKernels`] over [`NutsBatch`], [`NutsBatchSlot`] |
//! | What went wrong | [`CudaError`], [`DriverCode`] |
//!
//! **No CUDA is a value.** The program is not linked to `libcuda`: the first call opens it, and without a library,
//! every entry answers [`CudaError::LibraryMissing`]. Without the feature `cuda` (on by default) the same API answers
//! [`CudaError::NotBuilt`], and neither cust nor any unsafe code is compiled; callers need no `cfg`.
//!
//! **Which library.** `libcuda.so.1` by the loader's rules; the variable `OCTOPUS_LIBCUDA` or [`set_driver_library`]
//! name another file.
//!
//! **In another workspace** the build scripts of `cust` and `cust_raw` look for a CUDA toolkit. Without one,
//! set `CUDA_LIBRARY_PATH=/`, for example by two lines in that workspace's `.cargo/config.toml`:
//! `[env]` and `CUDA_LIBRARY_PATH = "/"`. Nothing of the toolkit is used.
//!
//! **Not in a `cdylib`**: the driver's symbols that this crate defines would be exported. Hide `cu*` by a version
//! script, or leave the feature off.
//!
//! # Example
//! ```
//! use octopus_cuda::{Context, CudaError, Device, DeviceBuffer, Kernels, Stream};
//!
//! fn norm(x: &[f64]) -> Result<f64, CudaError> {
//!     let context = Context::primary(&Device::get(0)?)?;
//!     let kernels = Kernels::load(&context)?;
//!     let stream = Stream::new(&context)?;
//!     let x = DeviceBuffer::from_slice(&context, x)?;
//!     kernels.dot(&stream, &x, &x).map(f64::sqrt)
//! }
//!
//! match norm(&[3.0, 4.0]) {
//!     Ok(norm) => assert_eq!(norm, 5.0),
//!     // Says what is missing and what to do.
//!     Err(error) => println!("{error}"),
//! }
//! ```
//! It prints "the CUDA driver library libcuda.so.1 cannot be opened (...): install the NVIDIA driver, or run on the
//! CPU" where there is no driver.

// Nothing can be made there, so the compiler finds what is built on it unreachable and what makes it unused. The build
// with the feature is the one that judges them.
#![cfg_attr(not(feature = "cuda"), allow(dead_code, unreachable_code, unused_variables))]

#[cfg(not(feature = "cuda"))]
mod absent;
mod advice;
mod buffer;
mod bytes;
mod code;
mod context;
mod device;
mod driver;
mod element;
mod error;
#[cfg(feature = "cuda")]
mod ffi;
mod kernels;
mod limit;
mod nuts;
mod patience;
mod pinned;
mod ptx;
mod session;
mod stream;
mod timeline;
mod transfer;
mod usage;

// The tests of `ffi` use the software GPU as those of the whole crate do.
#[cfg(all(test, feature = "cuda"))]
extern crate self as octopus_cuda;
#[cfg(all(test, feature = "cuda"))]
#[path = "../tests/software_gpu/scenario.rs"]
mod scenario;

#[cfg(not(feature = "cuda"))]
use absent as binding;
#[cfg(feature = "cuda")]
use ffi as binding;

pub use buffer::DeviceBuffer;
pub use code::DriverCode;
pub use context::{Context, MemoryInfo};
pub use device::{Device, DeviceAttribute, DeviceUuid};
pub use driver::{CudaVersion, DriverStart, driver_start, driver_version, set_driver_library};
pub use element::{Element, Real, Stored};
pub use error::CudaError;
pub use kernels::{
    Arithmetic, AxisReduction, BroadcastOperand, COLUMN_PART, DrawRange, DrawnFrom, Kernels, MatrixShape, NumberStream,
    ROW_PART, WindowPlace,
};
pub use limit::limit_device_memory;
pub use nuts::{
    Float, NutsBatch, NutsBatchItem, NutsBatchKernels, NutsBatchLaunch, NutsBatchSlot, NutsCentering, NutsChain,
    NutsChains, NutsData, NutsField, NutsFormat, NutsGeometry, NutsKernels, NutsLaunch, NutsOutput, NutsRecord,
    NutsRestart, NutsSlot, NutsTeam, NutsTeamWork, NutsTrajectory, NutsWindows, WindowSide,
};
pub use pinned::PinnedBuffer;
pub use stream::{Event, Stream};
pub use timeline::{DeviceWork, DeviceWorkKind, record_device_work, take_device_work};
pub use transfer::Transfer;
pub use usage::Usage;

/// The kernels of this program, compiled to PTX from `kernels/src` (`cargo xtask ptx`).
pub static PTX: &str = include_str!("../../../kernels/ptx/octopus.ptx");

/// The manifest of all compiled kernels, the sampler's included: hashes of their sources and texts, compiler,
/// resources. It changes whenever a kernel changes.
pub const KERNELS_MANIFEST: &str = include_str!("../../../kernels/ptx/manifest.toml");
