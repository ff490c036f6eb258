//! The interpreter as a library of C, for the software GPU's driver: `crates/softgpu/cpp/cuda/interpreter.cpp` declares
//! the same.
#![allow(unsafe_code)]

use crate::{Allocation, Count, Entry, Launch, LaunchShape, Module, Order, RecordedMemory, Recording};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A module, and what its launches have done so far.
struct Loaded {
    module: Module,
    counts: Mutex<BTreeMap<String, Vec<Count>>>,
    /// How many launches of each kernel are on record.
    recorded: Mutex<BTreeMap<String, usize>>,
}

/// Of the launches of each kernel of a module the first is recorded, the second, the fourth and so on up to this one:
/// later ones have other coordinates and metrics than the first.
const LAST_RECORDED: usize = 64;

/// Launches that can reach more memory are not recorded.
const MOST_RECORDED_BYTES: usize = 16 << 20;

/// How a kernel is launched.
#[repr(C)]
pub(crate) struct OctopusPtxLaunch {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    /// Not 0: all blocks run side by side.
    together: u32,
    /// 0: lock-step; else a seed.
    order: u64,
    /// Not 0: with all checks.
    checked: u32,
    patience_ms: u32,
    /// For each an address, a number of bytes, and the address of a bit for each four bytes, 1 where they have been
    /// written, or 0 where that is not known.
    allocations: *const u64,
    allocation_count: usize,
    /// The folder for counts; null for none.
    counts: *const c_char,
    /// The folder for recordings; null for none.
    record: *const c_char,
}

/// The code of a launch that failed here, not in the kernel.
const UNKNOWN: i32 = 999;

/// Reads a module's text. Returns null, and says why in `message`, when it has what is not understood.
///
/// # Safety
/// `text` must be a string of C, and `message` must have room for `size` bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn octopus_ptx_load(
    text: *const c_char,
    message: *mut c_char,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller gives a string of C.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let loaded = catch_unwind(|| Module::parse(&text));
    let complaint = match loaded {
        Ok(Ok(module)) => {
            return Box::into_raw(Box::new(Loaded { module, counts: Mutex::default(), recorded: Mutex::default() }))
                .cast();
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the interpreter has failed".to_owned(),
    };
    // SAFETY: the caller gives room for `size` bytes.
    unsafe { tell(&complaint, message, size) };
    std::ptr::null_mut()
}

/// Frees a module.
///
/// # Safety
/// `module` must come from [`octopus_ptx_load`], and nothing may use it from now on.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn octopus_ptx_unload(module: *mut c_void) {
    // SAFETY: the pointer is that of a box which nobody uses any more.
    drop(unsafe { Box::from_raw(module.cast::<Loaded>()) });
}

/// Runs a kernel. Returns 0, or the code of the driver's error, which `message` explains.
///
/// # Safety
/// `module` must come from [`octopus_ptx_load`]; `name` must be a string of C; `parameters` must point to one pointer for
/// each parameter of the kernel, to that many bytes; the allocations of `launch`, and what tells of each
/// which of its bytes have been written, must be memory of this process that may be read and written until this returns; `message` must have room for `size` bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn octopus_ptx_launch(
    module: *mut c_void,
    name: *const c_char,
    parameters: *const *const u8,
    launch: *const OctopusPtxLaunch,
    message: *mut c_char,
    size: usize,
) -> i32 {
    // SAFETY: the caller gives a module, a string and a launch that live until this returns.
    let (loaded, name, launch) = unsafe { (&*module.cast::<Loaded>(), CStr::from_ptr(name), &*launch) };
    let name = name.to_string_lossy();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let entry = loaded.module.entry(&name).ok_or((UNKNOWN, format!("there is no entry {name}")))?;
        // SAFETY: as the caller promises.
        unsafe { run(loaded, entry, parameters, launch) }
    }));
    let (code, complaint) = match result {
        Ok(Ok(())) => return 0,
        Ok(Err(failed)) => failed,
        Err(_) => (UNKNOWN, "the interpreter has failed".to_owned()),
    };
    // SAFETY: the caller gives room for `size` bytes.
    unsafe { tell(&complaint, message, size) };
    code
}

/// Runs a kernel; returns the driver's code and why it failed.
///
/// # Safety
/// As [`octopus_ptx_launch`].
unsafe fn run(
    loaded: &Loaded,
    entry: &Entry,
    parameters: *const *const u8,
    launch: &OctopusPtxLaunch,
) -> Result<(), (i32, String)> {
    // SAFETY: as the caller promises.
    let (parameters, mut allocations) = unsafe { (bytes_of(entry, parameters), memory_of(launch)) };
    let total: usize = allocations.iter().map(|allocation| allocation.memory.len()).sum();
    // SAFETY: the caller gives strings of C, or null.
    let [counts, record] = unsafe { [path_of(launch.counts), path_of(launch.record)] };
    let record = record.filter(|_| total <= MOST_RECORDED_BYTES);
    let mut recording =
        record.and_then(|folder| Some((folder, next_recording(loaded, entry)?))).map(|(folder, number)| {
            let path = folder.join(format!("{}-{number}.launch", entry.name()));
            (path, begin_recording(entry, launch, &parameters, &allocations))
        });
    let outcome = entry.run(Launch {
        shape: LaunchShape { grid: launch.grid, block: launch.block },
        parameters: &parameters,
        dynamic_shared: launch.dynamic_shared,
        together: launch.together != 0,
        allocations: allocations
            .iter_mut()
            .map(|Allocation { address, memory, written }| Allocation {
                address: *address,
                memory,
                written: written.as_deref_mut(),
            })
            .collect(),
        order: if launch.order == 0 { Order::LockStep } else { Order::Random(launch.order) },
        checked: launch.checked != 0,
        patience: Duration::from_millis(u64::from(launch.patience_ms)),
        most_joins: u64::MAX,
    });
    if let Some((path, recording)) = &mut recording {
        let memory = recording.memory.iter_mut().zip(&allocations);
        memory.for_each(|(recorded, allocation)| recorded.after = allocation.memory.to_vec());
        recording.write(path).map_err(|error| (UNKNOWN, format!("{}: {error}", path.display())))?;
    }
    if let Some(folder) = counts {
        keep(loaded, entry, &outcome.counts, &folder).map_err(|error| (UNKNOWN, error))?;
    }
    outcome.fault.map_or(Ok(()), |fault| Err((fault.code(), fault.to_string())))
}

/// Returns the parameters as the kernel sees them.
///
/// # Safety
/// As [`octopus_ptx_launch`].
unsafe fn bytes_of(entry: &Entry, parameters: *const *const u8) -> Vec<u8> {
    let mut bytes = vec![0; entry.parameter_bytes() as usize];
    for (number, parameter) in entry.parameters().iter().enumerate() {
        let to = &mut bytes[parameter.offset as usize..][..parameter.bytes as usize];
        // SAFETY: the caller gives a pointer to that many bytes for each parameter.
        unsafe { (*parameters.add(number)).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
    }
    bytes
}

/// Returns the memory that the kernel may reach.
///
/// # Safety
/// As [`octopus_ptx_launch`]; nothing else may reach it while this is used.
unsafe fn memory_of<'a>(launch: &OctopusPtxLaunch) -> Vec<Allocation<'a>> {
    // SAFETY: the caller gives three numbers for each.
    let triples = unsafe { std::slice::from_raw_parts(launch.allocations, 3 * launch.allocation_count) };
    let allocation = |triple: &[u64]| {
        let first = with_exposed_provenance_mut::<u8>(triple[0] as usize);
        // SAFETY: the caller promises that each is memory of this process that may be read and written.
        let memory = unsafe { std::slice::from_raw_parts_mut(first, triple[1] as usize) };
        let map = with_exposed_provenance_mut::<u32>(triple[2] as usize);
        let words = memory.len().div_ceil(4 * 32);
        // SAFETY: the caller promises a bit for each four bytes where this is not null.
        let written = (!map.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(map, words) });
        Allocation { address: triple[0], memory, written }
    };
    triples.chunks(3).map(allocation).collect()
}

/// Returns the path that a string of C is; nothing for null.
///
/// # Safety
/// `text` must be null or a string of C.
unsafe fn path_of(text: *const c_char) -> Option<PathBuf> {
    // SAFETY: it is a string of C when it is not null.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned().into())
}

/// Begins the recording of a launch: what the kernel is given.
fn begin_recording(
    entry: &Entry,
    launch: &OctopusPtxLaunch,
    parameters: &[u8],
    allocations: &[Allocation<'_>],
) -> Recording {
    let memory = allocations.iter().map(|allocation| RecordedMemory {
        address: allocation.address,
        before: allocation.memory.to_vec(),
        after: Vec::new(),
    });
    Recording {
        entry: entry.name().to_owned(),
        grid: launch.grid,
        block: launch.block,
        parameters: parameters.to_vec(),
        dynamic_shared: launch.dynamic_shared,
        together: launch.together != 0,
        memory: memory.collect(),
    }
}

/// Returns the number of the next recording of a kernel, if there is to be one more.
fn next_recording(loaded: &Loaded, entry: &Entry) -> Option<usize> {
    let mut recorded = loaded.recorded.lock().unwrap_or_else(PoisonError::into_inner);
    let number = recorded.entry(entry.name().to_owned()).or_default();
    *number += 1;
    (number.is_power_of_two() && *number <= LAST_RECORDED).then_some(*number)
}

/// Adds up what launches of a kernel have done, and writes it: `line opcode warps lanes` for each instruction.
fn keep(loaded: &Loaded, entry: &Entry, counts: &[Count], folder: &Path) -> Result<(), String> {
    let mut all = loaded.counts.lock().unwrap_or_else(PoisonError::into_inner);
    let sums = all.entry(entry.name().to_owned()).or_insert_with(|| vec![Count::default(); counts.len()]);
    let mut text = String::new();
    for ((sum, count), (line, opcode)) in sums.iter_mut().zip(counts).zip(entry.instructions()) {
        sum.warps += count.warps;
        sum.lanes += count.lanes;
        let _ = writeln!(text, "{line} {opcode} {} {}", sum.warps, sum.lanes);
    }
    let path = folder.join(format!("{}.counts", entry.name()));
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a message as a string of C, cut to what there is room for.
///
/// # Safety
/// `message` must have room for `size` bytes.
unsafe fn tell(text: &str, message: *mut c_char, size: usize) {
    let Some(most) = size.checked_sub(1) else { return };
    let bytes = &text.as_bytes()[..text.len().min(most)];
    // SAFETY: there is room for these bytes and a zero.
    unsafe {
        bytes.as_ptr().copy_to_nonoverlapping(message.cast(), bytes.len());
        message.add(bytes.len()).write(0);
    }
}
