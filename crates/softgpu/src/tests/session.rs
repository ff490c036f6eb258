//! What most scenarios begin with: a context, a module, buffers.

use crate::ffi::{Code, Double, Handle};
use std::ffi::{CString, c_void};
use std::path::PathBuf;

pub(super) fn driver() -> Double {
    Double::load(&PathBuf::from(std::env::var_os("OCTOPUS_LIBCUDA").unwrap()))
}

pub(super) fn nvml() -> Double {
    Double::load(&PathBuf::from(std::env::var_os("OCTOPUS_LIBNVML").unwrap()))
}

/// A driver with a current context.
pub(super) fn ready() -> Double {
    let driver = driver();
    assert_eq!(driver.init(0), 0);
    let mut context = 0;
    assert_eq!(driver.retain(&mut context, 0), 0);
    assert_eq!(driver.set_current(context), 0);
    driver
}

/// PTX as a compiler would write it for these entries: name and sizes of the parameters. Bodies do nothing.
pub(super) fn ptx(version: &str, target: &str, entries: &[(&str, &[usize])]) -> String {
    let mut text = format!("//\n// Made for a test\n//\n.version {version}\n.target {target}\n.address_size 64\n");
    for (name, sizes) in entries {
        let parameters: Vec<String> =
            sizes.iter().enumerate().map(|(i, size)| format!("\t.param .u{} {name}_param_{i}", size * 8)).collect();
        text +=
            &format!("\n\t// .globl {name}\n.visible .entry {name}(\n{}\n)\n{{\n\tret;\n}}\n", parameters.join(",\n"));
    }
    text
}

/// The entries of `tests/kernels/exercises.cu`.
pub(super) const EXERCISES: &[(&str, &[usize])] = &[
    ("add_number", &[8, 4, 8, 8]),
    ("warp_sum", &[8, 8]),
    ("shuffles", &[8]),
    ("half_warps", &[8]),
    ("turn_round", &[8, 8, 4]),
    ("running_sum", &[8, 8, 4, 4]),
    ("coordinates", &[8]),
    ("count_up", &[8, 8, 8]),
    ("multiply", &[8, 8, 8, 4]),
    ("nothing", &[]),
    ("unwritten_shared", &[8]),
    ("misses_shuffle", &[8]),
    ("misses_barrier", &[8]),
    ("crosses", &[8]),
    ("reads_outside_of_mask", &[8]),
    ("leaves_itself_out", &[8]),
    ("writes_at", &[8, 4]),
    ("sinks_in", &[8, 4]),
    ("divides", &[8, 8]),
    ("writes_beyond", &[8, 4]),
    ("relaxes", &[8, 8, 8, 4]),
    ("asks_around", &[8, 8, 8, 4]),
    ("lanes_wait_for_lanes", &[8]),
    ("waits_for_another", &[8, 4]),
    ("fails_while_others_wait", &[8, 8, 4]),
];

pub(super) fn load(driver: &Double, ptx: &str) -> Result<Handle, Code> {
    let text = CString::new(ptx).unwrap();
    let mut module = 0;
    match driver.load_module(&mut module, text.as_ptr(), 0, std::ptr::null_mut(), std::ptr::null_mut()) {
        0 => Ok(module),
        code => Err(code),
    }
}

pub(super) fn function(driver: &Double, module: Handle, name: &str) -> Result<Handle, Code> {
    let name = CString::new(name).unwrap();
    let mut function = 0;
    match driver.function(&mut function, module, name.as_ptr()) {
        0 => Ok(function),
        code => Err(code),
    }
}

/// A kernel of the exercises.
pub(super) fn exercise(driver: &Double, name: &str) -> Handle {
    let module = load(driver, &ptx("8.4", "sm_80", EXERCISES)).unwrap();
    function(driver, module, name).unwrap()
}

/// A parameter of a kernel, by value.
#[derive(Clone, Copy)]
pub(super) enum Parameter {
    U64(u64),
    U32(u32),
    I32(i32),
    F32(f32),
}

#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
}

pub(super) fn shape(grid: u32, block: u32) -> Shape {
    Shape { grid: [grid, 1, 1], block: [block, 1, 1], shared: 0 }
}

/// By `cuLaunchKernel` in the default stream.
pub(super) fn launch(driver: &Double, function: Handle, shape: Shape, parameters: &[Parameter]) -> Code {
    launch_in(driver, 0, function, shape, parameters)
}

/// By `cuLaunchKernel` in this stream.
pub(super) fn launch_in(
    driver: &Double,
    stream: Handle,
    function: Handle,
    shape: Shape,
    parameters: &[Parameter],
) -> Code {
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    let none = std::ptr::null_mut();
    with_pointers(parameters, |pointers| {
        driver.launch_kernel(function, gx, gy, gz, bx, by, bz, shape.shared, stream, pointers, none)
    })
}

/// By `cuLaunchCooperativeKernel`.
pub(super) fn launch_together(driver: &Double, function: Handle, shape: Shape, parameters: &[Parameter]) -> Code {
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    with_pointers(parameters, |pointers| {
        driver.launch_cooperatively(function, gx, gy, gz, bx, by, bz, shape.shared, 0, pointers)
    })
}

/// Parameters as a launch takes them: an array of pointers to their values.
fn with_pointers(parameters: &[Parameter], launch: impl FnOnce(*mut *mut c_void) -> Code) -> Code {
    let mut values = parameters.to_vec();
    let mut pointers: Vec<*mut c_void> = values
        .iter_mut()
        .map(|value| match value {
            Parameter::U64(x) => (x as *mut u64).cast(),
            Parameter::U32(x) => (x as *mut u32).cast(),
            Parameter::I32(x) => (x as *mut i32).cast(),
            Parameter::F32(x) => (x as *mut f32).cast(),
        })
        .collect();
    launch(pointers.as_mut_ptr())
}

/// Device memory with these values.
pub(super) fn to_device<T: Copy>(driver: &Double, values: &[T]) -> u64 {
    let bytes = size_of_val(values);
    let address = allocate(driver, bytes);
    assert_eq!(driver.copy_in(address, values.as_ptr().cast(), bytes), 0);
    address
}

pub(super) fn allocate(driver: &Double, bytes: usize) -> u64 {
    let mut address = 0;
    assert_eq!(driver.allocate(&mut address, bytes), 0);
    address
}

pub(super) fn to_host<T: Copy + Default>(driver: &Double, address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    assert_eq!(driver.copy_out(values.as_mut_ptr().cast(), address, count * size_of::<T>()), 0);
    values
}
