//! The only door to C: three functions of the CUDA driver library, opened at run time.
//!
//! Only the safe [`ask_driver`] leaves this module. It asks how the driver starts; it creates no context
//! and no allocation, so nothing has to be released.
#![allow(unsafe_code)]

use crate::{DriverCode, DriverFacts, DriverFailure, Version};
use libloading::{Library, Symbol};
use std::ffi::{OsStr, c_int, c_uint};

/// `CUresult`, an `enum` in C, taken as an integer: a code that Rust does not list must not be undefined
/// behaviour.
type Code = c_int;

const SUCCESS: Code = 0;

/// Loads the driver library, starts it and asks for its version and device count.
///
/// # Errors
/// When the library cannot be loaded or lacks a function. A driver that does not start is no error
/// here: [`DriverFacts::failure`] tells.
pub(crate) fn ask_driver(library_name: &OsStr) -> Result<DriverFacts, DriverFailure> {
    let library_text = library_name.to_string_lossy().into_owned();
    // SAFETY: loading runs the library's initialisers. The name is the CUDA driver's own, installed by
    // the machine's administrator, or a path that the caller gives for exactly this purpose; the driver's
    // initialisers have no precondition.
    let library = unsafe { Library::new(library_name) }
        .map_err(|error| DriverFailure::LibraryMissing { library: library_text.clone(), detail: error.to_string() })?;
    // The driver starts threads in cuInit that live as long as the process: unloading its code under
    // them would crash, so the library stays.
    let library: &'static Library = Box::leak(Box::new(library));
    let missing = |symbol: &str| DriverFailure::SymbolMissing { library: library_text.clone(), symbol: symbol.into() };

    // SAFETY: the signature is that of cuda.h since CUDA 2.2, `CUresult cuDriverGetVersion(int *)`.
    let driver_version: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> Code> =
        unsafe { library.get(b"cuDriverGetVersion\0") }.map_err(|_| missing("cuDriverGetVersion"))?;
    // SAFETY: the signature is that of cuda.h, `CUresult cuInit(unsigned int)`.
    let init: Symbol<'_, unsafe extern "C" fn(c_uint) -> Code> =
        unsafe { library.get(b"cuInit\0") }.map_err(|_| missing("cuInit"))?;
    // SAFETY: the signature is that of cuda.h, `CUresult cuDeviceGetCount(int *)`.
    let device_count: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> Code> =
        unsafe { library.get(b"cuDeviceGetCount\0") }.map_err(|_| missing("cuDeviceGetCount"))?;

    let mut number: c_int = 0;
    // SAFETY: the pointer is to a live, writable int; this function may be called before cuInit.
    let code = unsafe { driver_version(&raw mut number) };
    let cuda_version = if code == SUCCESS { Version::from_cuda(number) } else { None };

    // SAFETY: zero is the only flag word cuInit accepts; it may be called again and from any thread.
    let code = unsafe { init(0) };
    if code != SUCCESS {
        return Ok(DriverFacts { cuda_version, devices: 0, failure: Some(DriverCode(code)) });
    }
    let mut count: c_int = 0;
    // SAFETY: cuInit has succeeded and the pointer is to a live, writable int.
    let code = unsafe { device_count(&raw mut count) };
    let failure = (code != SUCCESS).then_some(DriverCode(code));
    let devices = if failure.is_none() { u32::try_from(count).unwrap_or(0) } else { 0 };
    Ok(DriverFacts { cuda_version, devices, failure })
}
