//! A stand-in for NVML with one device, which supports some questions and refuses others. The result of
//! starting it is fixed when it is built, by the variable DOUBLE_INIT.

#![crate_type = "cdylib"]

use std::ffi::{c_char, c_void};

const NOT_SUPPORTED: u32 = 3;

type Handle = *mut c_void;

unsafe fn put(text: &str, to: *mut c_char, room: u32) -> u32 {
    if text.len() >= room as usize {
        return 7;
    }
    for (i, byte) in text.bytes().chain([0]).enumerate() {
        unsafe { *to.add(i) = byte as c_char };
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> u32 {
    env!("DOUBLE_INIT").parse().unwrap()
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> u32 {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(to: *mut c_char, room: u32) -> u32 {
    unsafe { put("550.54.15", to, room) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: *mut i32) -> u32 {
    unsafe { *version = 12040 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut u32) -> u32 {
    unsafe { *count = 2 };
    0
}

/// Device 1 is lost: NVML_ERROR_GPU_IS_LOST.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: u32, handle: *mut Handle) -> u32 {
    unsafe { *handle = 16 as Handle };
    if index == 0 { 0 } else { 15 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetName(_: Handle, to: *mut c_char, room: u32) -> u32 {
    unsafe { put("Test double", to, room) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUUID(_: Handle, to: *mut c_char, room: u32) -> u32 {
    unsafe { put("GPU-00000000-dead-4000-8000-000000000000", to, room) }
}

#[repr(C)]
pub struct Memory {
    version: u32,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(_: Handle, memory: *mut Memory) -> u32 {
    unsafe {
        (*memory).total = 48 << 30;
        (*memory).reserved = 1 << 30;
        (*memory).free = 40 << 30;
        (*memory).used = 7 << 30;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(_: Handle, major: *mut i32, minor: *mut i32) -> u32 {
    unsafe {
        *major = 8;
        *minor = 6;
    }
    0
}

/// Type 1 is the SM clock; the memory clock is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(_: Handle, kind: u32, clock: *mut u32) -> u32 {
    unsafe { *clock = 1410 };
    if kind == 1 { 0 } else { NOT_SUPPORTED }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerUsage(_: Handle, milliwatts: *mut u32) -> u32 {
    unsafe { *milliwatts = 24_500 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(_: Handle, sensor: u32, celsius: *mut u32) -> u32 {
    unsafe { *celsius = 38 };
    if sensor == 0 { 0 } else { NOT_SUPPORTED }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(_: Handle, current: *mut u32, pending: *mut u32) -> u32 {
    unsafe {
        *current = 1;
        *pending = 0;
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetMigMode(_: Handle, _: *mut u32, _: *mut u32) -> u32 {
    NOT_SUPPORTED
}
