//! The doubles' C functions, called as a program would call them. For this crate's tests only.
#![allow(unsafe_code)]
// As many as C has.
#![allow(clippy::too_many_arguments)]

use libloading::{Library, Symbol};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

/// `CUresult` or `nvmlReturn_t`.
pub(crate) type Code = c_int;
/// A handle of any kind.
pub(crate) type Handle = usize;

/// One of the doubles, loaded.
pub(crate) struct Double(Library);

impl Double {
    pub(crate) fn load(path: &Path) -> Self {
        // SAFETY: the library was built by this crate; its initialisers have no precondition.
        let library = unsafe { Library::new(path) };
        Self(library.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        // SAFETY: the symbol is looked up and not used.
        unsafe { self.0.get::<*const c_void>(name.as_bytes()) }.is_ok()
    }
}

macro_rules! functions {
    ($($symbol:ident as $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Double {
            $(pub(crate) fn $name(&self, $($argument: $type),*) -> Code {
                type Function = unsafe extern "C" fn($($type),*) -> Code;
                // SAFETY: the symbol has this signature in NVIDIA's header and in the double (references are pointers
                // that are not null). Slices and texts are as long as the lengths that the tests give.
                unsafe {
                    let function: Symbol<'_, Function> = self.0.get(stringify!($symbol).as_bytes()).unwrap();
                    function($($argument),*)
                }
            })*
        }
    };
}

functions! {
    cuInit as init(flags: c_uint);
    cuDriverGetVersion as version(version: &mut c_int);
    cuDeviceGetCount as device_count(count: &mut c_int);
    cuDeviceGet as device(device: &mut c_int, ordinal: c_int);
    cuDeviceGetName as device_name(name: *mut c_char, length: c_int, device: c_int);
    cuDeviceGetUuid_v2 as device_uuid(uuid: &mut [u8; 16], device: c_int);
    cuDeviceGetAttribute as attribute(value: &mut c_int, attribute: c_int, device: c_int);
    cuDeviceGetPCIBusId as bus_id(text: *mut c_char, length: c_int, device: c_int);
    cuDeviceTotalMem_v2 as total_memory(bytes: &mut usize, device: c_int);
    cuDevicePrimaryCtxRetain as retain(context: &mut Handle, device: c_int);
    cuDevicePrimaryCtxRelease_v2 as release(device: c_int);
    cuDevicePrimaryCtxSetFlags_v2 as set_flags(device: c_int, flags: c_uint);
    cuCtxSetCurrent as set_current(context: Handle);
    cuCtxGetCurrent as current(context: &mut Handle);
    cuCtxPushCurrent_v2 as push(context: Handle);
    cuCtxPopCurrent_v2 as pop(context: &mut Handle);
    cuCtxSynchronize as synchronize();
    cuMemGetInfo_v2 as memory(free: &mut usize, total: &mut usize);
    cuMemAlloc_v2 as allocate(address: &mut u64, bytes: usize);
    cuMemFree_v2 as free(address: u64);
    cuMemAllocHost_v2 as allocate_pinned(address: &mut usize, bytes: usize);
    cuMemFreeHost as free_pinned(address: usize);
    cuMemAllocManaged as allocate_managed(address: &mut u64, bytes: usize, flags: c_uint);
    cuMemcpyHtoD_v2 as copy_in(to: u64, from: *const c_void, bytes: usize);
    cuMemcpyDtoH_v2 as copy_out(to: *mut c_void, from: u64, bytes: usize);
    cuMemcpyDtoD_v2 as copy(to: u64, from: u64, bytes: usize);
    cuMemcpyHtoDAsync_v2 as copy_in_async(to: u64, from: *const c_void, bytes: usize, stream: Handle);
    cuMemcpyDtoHAsync_v2 as copy_out_async(to: usize, from: u64, bytes: usize, stream: Handle);
    cuMemsetD32_v2 as fill(to: u64, value: c_uint, count: usize);
    cuModuleLoadDataEx as load_module(module: &mut Handle, image: *const c_char, count: c_uint, options: *mut c_int, values: *mut *mut c_void);
    cuModuleUnload as unload_module(module: Handle);
    cuModuleGetFunction as function(function: &mut Handle, module: Handle, name: *const c_char);
    cuFuncGetAttribute as function_attribute(value: &mut c_int, attribute: c_int, function: Handle);
    cuFuncSetAttribute as set_function_attribute(function: Handle, attribute: c_int, value: c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor as occupancy(blocks: &mut c_int, function: Handle, threads: c_int, dynamic: usize);
    cuLaunchKernel as launch_kernel(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    cuLaunchCooperativeKernel as launch_cooperatively(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, parameters: *mut *mut c_void);
    cuStreamCreateWithPriority as create_stream(stream: &mut Handle, flags: c_uint, priority: c_int);
    cuStreamQuery as ask_stream(stream: Handle);
    cuStreamSynchronize as synchronize_stream(stream: Handle);
    cuStreamWaitEvent as wait_event(stream: Handle, event: Handle, flags: c_uint);
    cuStreamDestroy_v2 as destroy_stream(stream: Handle);
    cuEventCreate as create_event(event: &mut Handle, flags: c_uint);
    cuEventRecord as record(event: Handle, stream: Handle);
    cuEventQuery as ask_event(event: Handle);
    cuEventSynchronize as synchronize_event(event: Handle);
    cuEventElapsedTime as elapsed(milliseconds: &mut f32, start: Handle, end: Handle);
    cuEventDestroy_v2 as destroy_event(event: Handle);
    cuGetErrorName as error_name(code: Code, text: &mut *const c_char);

    nvmlInit_v2 as nvml_init();
    nvmlShutdown as nvml_shutdown();
    nvmlDeviceGetCount_v2 as nvml_count(count: &mut c_uint);
    nvmlDeviceGetHandleByIndex_v2 as nvml_device(index: c_uint, device: &mut Handle);
    nvmlDeviceGetName as nvml_name(device: Handle, name: *mut c_char, length: c_uint);
    nvmlDeviceGetUUID as nvml_uuid(device: Handle, uuid: *mut c_char, length: c_uint);
    nvmlDeviceGetMemoryInfo_v2 as nvml_memory(device: Handle, memory: &mut [u64; 5]);
    nvmlDeviceGetMigMode as nvml_mig(device: Handle, current: &mut c_uint, pending: &mut c_uint);
    nvmlDeviceGetComputeMode as nvml_compute_mode(device: Handle, mode: &mut c_int);
    nvmlDeviceGetComputeRunningProcesses_v3 as nvml_processes(device: Handle, count: &mut c_uint, out: *mut c_void);
    nvmlDeviceGetTemperature as nvml_temperature(device: Handle, sensor: c_int, celsius: &mut c_uint);
    nvmlDeviceGetCurrentClocksThrottleReasons as nvml_throttle(device: Handle, reasons: &mut u64);
    nvmlSystemGetDriverVersion as nvml_driver_version(text: *mut c_char, length: c_uint);
}

/// Returns page-locked memory that was allocated at this address, as so many numbers.
pub(crate) fn floats(address: usize, count: usize) -> &'static mut [f32] {
    // SAFETY: the tests pass what `allocate_pinned` has given, once each, and free none of it. Any bits are an f32.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(address), count) }
}

/// Returns the text that a C function gave.
pub(crate) fn text(pointer: *const c_char) -> String {
    // SAFETY: the tests pass what a function of the doubles has written: a text that ends with 0 and stays.
    unsafe { std::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
