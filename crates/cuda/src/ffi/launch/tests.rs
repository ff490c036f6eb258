use super::Launch;
use crate::binding::RawModule;
use crate::ffi::module::RawFunction;
use crate::scenario::{self, context, on_software_gpu};
use crate::{CudaError, DeviceBuffer, PTX, Stream};
use octopus_softgpu::KernelSources;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

on_software_gpu!(a_launch_is_compared_to_the_kernels_declaration, "", {
    let (context, stream) = start();
    let module = Arc::new(RawModule::from_ptx(context.session(), PTX).unwrap());
    let fill = RawFunction::find(&module, "array_fill_f64").unwrap();
    let mut out = DeviceBuffer::<f64>::zeroed(&context, 4).unwrap();

    let too_few = Launch::new(&fill, [1, 1, 1], [1, 1, 1]).output(&mut out).value(1.0);
    // SAFETY: what is refused is not launched.
    let refused = unsafe { too_few.on(stream.raw()) };
    assert_eq!(
        refused.unwrap_err().to_string(),
        "kernel array_fill_f64 takes (integer of 64 bits, float of 64 bits, integer of 64 bits) and would be given \
         (integer of 64 bits, float of 64 bits): its PTX is not of this program's version, build the program again"
    );
    let of_four_bytes = Launch::new(&fill, [1, 1, 1], [1, 1, 1]).output(&mut out).value(1.0_f32).value(4_u64);
    // SAFETY: what is refused is not launched.
    let refused = unsafe { of_four_bytes.on(stream.raw()) };
    assert!(matches!(refused, Err(CudaError::KernelSignature { .. })), "{refused:?}");
    let short_count = Launch::new(&fill, [1, 1, 1], [1, 1, 1]).output(&mut out).value(1.0).value(4_u32);
    // SAFETY: what is refused is not launched.
    let refused = unsafe { short_count.on(stream.raw()) };
    assert!(matches!(refused, Err(CudaError::KernelSignature { .. })), "{refused:?}");
    assert_eq!(out.to_vec().unwrap(), [0.0; 4]);

    let fits = Launch::new(&fill, [1, 1, 1], [32, 1, 1]).output(&mut out).value(1.0).value(4_u64);
    // SAFETY: array_fill writes out[0..4], which is all of it.
    unsafe { fits.on(stream.raw()) }.unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
});

/// As a compiler declares the kernel of `tests/kernels/structures.cu`.
const STRUCTURES: &str = ".version 8.4\n.target sm_80\n.address_size 64\n\
    .visible .entry fill_line(\n\t.param .align 8 .b8 fill_line_param_0[24],\n\t.param .u64 fill_line_param_1\n)\n\
    .maxntid 128, 1, 1\n{\n\tret;\n}\n";

#[test]
fn structures_are_passed_by_value_and_compared_by_size() {
    let name = concat!(module_path!(), "::structures_are_passed_by_value_and_compared_by_size");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/structures.cu");
    scenario::run_with(&KernelSources::file(source), name, "", || {
        let (context, stream) = start();
        let module = Arc::new(RawModule::from_ptx(context.session(), STRUCTURES).unwrap());
        let fill_line = RawFunction::find(&module, "fill_line").unwrap();
        let out = DeviceBuffer::<f64>::zeroed(&context, 6).unwrap();
        let launch = |structure: &[u8]| {
            let launch = Launch::new(&fill_line, [1, 1, 1], [32, 1, 1]).bytes(structure).value(2_u64);
            // SAFETY: fill_line writes out[0], out[2] and out[4] of 6; what is refused is not launched.
            unsafe { launch.on(stream.raw()) }
        };
        // slope, count, start and the address.
        let line = [
            &0.25_f64.to_ne_bytes()[..],
            &3_u32.to_ne_bytes(),
            &10.0_f32.to_ne_bytes(),
            &out.memory().address().to_ne_bytes(),
        ]
        .concat();
        launch(&line).unwrap();
        assert_eq!(out.to_vec().unwrap(), [10.0, 0.0, 10.25, 0.0, 10.5, 0.0]);
        for wrong in [&line[..23], &[line.as_slice(), &[0; 8]].concat(), &[]] {
            let error = launch(wrong).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "kernel fill_line takes (structure of 24 bytes, integer of 64 bits) and would be given (structure of \
                     {} bytes, integer of 64 bits): its PTX is not of this program's version, build the program again",
                    wrong.len()
                )
            );
        }
        let numbers = Launch::new(&fill_line, [1, 1, 1], [32, 1, 1]).value(0_u64).value(2_u64);
        // SAFETY: what is refused is not launched.
        let refused = unsafe { numbers.on(stream.raw()) };
        assert!(matches!(refused, Err(CudaError::KernelSignature { .. })), "{refused:?}");
        assert_eq!(context.usage().launches, 1);
    });
}

on_software_gpu!(shapes_that_no_device_takes_are_refused, "", {
    let (context, stream) = start();
    let module = Arc::new(RawModule::from_ptx(context.session(), PTX).unwrap());
    let fill = RawFunction::find(&module, "array_fill_f32").unwrap();
    let mut out = DeviceBuffer::<f32>::zeroed(&context, 4).unwrap();
    let most = i32::MAX as u32;
    for (blocks, threads) in [
        ([0, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1, 0, 1]),
        ([most + 1, 1, 1], [1, 1, 1]),
        ([1, 65_536, 1], [1, 1, 1]),
        ([1, 1, 1], [32, 32, 2]),
        ([1, 1, 1], [u32::MAX, u32::MAX, 1]),
    ] {
        let launch = Launch::new(&fill, blocks, threads).output(&mut out).value(1.0_f32).value(4_u64);
        // SAFETY: what is refused is not launched.
        let refused = unsafe { launch.on(stream.raw()) };
        assert!(matches!(refused, Err(CudaError::LaunchShape { .. })), "{blocks:?} {threads:?}: {refused:?}");
    }
    assert_eq!(context.usage().launches, 0);
});

/// Longer than any of these launches takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// As a compiler declares the kernel of `tests/kernels/together.cu`, for a device of this architecture.
fn takes_turns(architecture: &str) -> String {
    format!(
        ".version 8.4\n.target {architecture}\n.address_size 64\n\
         .visible .entry takes_turns(\n\t.param .u64 takes_turns_param_0,\n\t.param .u64 takes_turns_param_1,\n\
         \t.param .u32 takes_turns_param_2\n)\n.maxntid 128, 1, 1\n{{\n\tret;\n}}\n"
    )
}

/// A test on a software GPU with these settings and the kernel of `tests/kernels/together.cu`.
macro_rules! with_blocks_that_wait {
    ($name:ident, $settings:expr, $body:block) => {
        #[test]
        fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/together.cu");
            scenario::run_with(&KernelSources::file(source), name, $settings, || $body);
        }
    };
}

fn loaded(context: &crate::Context, architecture: &str) -> RawFunction {
    let module = Arc::new(RawModule::from_ptx(context.session(), &takes_turns(architecture)).unwrap());
    RawFunction::find(&module, "takes_turns").unwrap()
}

/// Launches blocks of 128 threads that wait for each other, from 1 in `value` and 0 in `turn`, and waits for them.
fn take_turns(function: &RawFunction, stream: &Stream, blocks: u32, rounds: u32) -> Result<f64, CudaError> {
    let mut value = DeviceBuffer::from_slice(stream.context(), &[1.0])?;
    let mut turn = DeviceBuffer::from_slice(stream.context(), &[0_u32])?;
    let launch = Launch::new(function, [blocks, 1, 1], [128, 1, 1]).output(&mut value).output(&mut turn).value(rounds);
    // SAFETY: takes_turns writes value[0] and turn[0], and its blocks run side by side.
    unsafe { launch.together(PATIENCE).on(stream.raw()) }?;
    Ok(value.to_vec()?[0])
}

with_blocks_that_wait!(blocks_of_one_launch_wait_for_each_other, "", {
    let (context, stream) = start();
    let function = loaded(&context, "sm_80");
    for (blocks, rounds) in [(1, 3), (2, 9), (5, 3), (40, 2)] {
        let numbers = (0..rounds).flat_map(|_| 1..=blocks).map(f64::from);
        let expected = numbers.fold(1.0, |value, number| value * number + number);
        assert_eq!(take_turns(&function, &stream, blocks, rounds).unwrap(), expected, "{blocks} blocks");
    }
    assert_eq!(context.usage().launches, 4);
});

// 1536 threads on each of the multiprocessors, and no more than 16 blocks.
with_blocks_that_wait!(a_grid_that_the_device_does_not_hold_is_refused, "sms=2", {
    let (context, stream) = start();
    let function = loaded(&context, "sm_80");
    assert_eq!([128, 96, 1].map(|threads| function.blocks_at_once(threads).unwrap()), [24, 32, 32]);
    take_turns(&function, &stream, 24, 2).unwrap();
    let error = take_turns(&function, &stream, 25, 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "launching takes_turns (cuLaunchCooperativeKernel) failed with 720 (CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE): the \
         device does not hold all blocks of this kernel at once; let fewer of them share the work"
    );
    // Nothing is lost, and what was refused is not counted.
    assert!(!error.is_sticky());
    take_turns(&function, &stream, 24, 2).unwrap();
    assert_eq!(context.usage().launches, 2);
    // More threads than the kernel takes fit nowhere; blocks of none are the driver's to judge.
    assert_eq!(function.blocks_at_once(129).unwrap(), 0);
    assert_eq!(function.blocks_at_once(0).unwrap_err().code(), Some(crate::DriverCode::INVALID_VALUE));
});

with_blocks_that_wait!(a_device_whose_blocks_cannot_wait_holds_none, "cc=5.2", {
    let (context, stream) = start();
    let function = loaded(&context, "sm_52");
    assert_eq!(function.blocks_at_once(128).unwrap(), 0);
    assert_eq!(take_turns(&function, &stream, 2, 1).unwrap_err().code(), Some(crate::DriverCode(801)));
});

with_blocks_that_wait!(
    what_the_driver_does_not_tell_is_passed_on,
    "fail=cuOccupancyMaxActiveBlocksPerMultiprocessor:1@1,cuDeviceGetAttribute:101@2,cuLaunchCooperativeKernel:701@1",
    {
        let (context, stream) = start();
        let function = loaded(&context, "sm_80");
        assert_eq!(
            function.blocks_at_once(128).unwrap_err().to_string(),
            "reading a device's attribute (cuDeviceGetAttribute) failed with 101 (CUDA_ERROR_INVALID_DEVICE): there is no \
             device of this number; see `octopus device list`"
        );
        assert_eq!(
            function.blocks_at_once(128).unwrap_err().to_string(),
            "asking for the occupancy of takes_turns (cuOccupancyMaxActiveBlocksPerMultiprocessor) failed with 1 \
             (CUDA_ERROR_INVALID_VALUE): see `octopus verify`, and the kernel's log (`dmesg`) for Xid messages"
        );
        assert_eq!(take_turns(&function, &stream, 2, 1).unwrap_err().code(), Some(crate::DriverCode(701)));
        assert!(take_turns(&function, &stream, 2, 1).is_ok());
        assert_eq!(function.blocks_at_once(128).unwrap(), 84 * 12);
    }
);

with_blocks_that_wait!(a_wait_that_never_ends_loses_the_device, "timeout_ms=300", {
    let (context, stream) = start();
    let function = loaded(&context, "sm_80");
    let mut value = DeviceBuffer::from_slice(&context, &[1.0]).unwrap();
    let mut turn = DeviceBuffer::from_slice(&context, &[1_000_u32]).unwrap();
    let launch = Launch::new(&function, [2, 1, 1], [128, 1, 1]).output(&mut value).output(&mut turn).value(1_u32);
    // SAFETY: as in `take_turns`. It is nobody's turn.
    unsafe { launch.together(PATIENCE).on(stream.raw()) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(error.is_sticky() && error.code() == Some(crate::DriverCode(702)), "{error}");
    assert_eq!(function.blocks_at_once(128).unwrap_err(), error);
    assert_eq!(take_turns(&function, &stream, 1, 1).unwrap_err(), error);
});

with_blocks_that_wait!(launches_whose_blocks_wait_are_checked_as_all_are, "devices=2", {
    let (context, stream) = start();
    let other = crate::Context::primary(&crate::Device::get(1).unwrap()).unwrap();
    let (foreign, away) = (loaded(&other, "sm_80"), Stream::new(&other).unwrap());
    let function = loaded(&context, "sm_80");
    let mut value = DeviceBuffer::from_slice(&context, &[1.0]).unwrap();
    let mut turn = DeviceBuffer::from_slice(&context, &[0_u32]).unwrap();
    let mut launch = |function: &RawFunction, threads: u32, stream: &Stream| {
        let launch = Launch::new(function, [2, 1, 1], [threads, 1, 1]).output(&mut value).output(&mut turn);
        // SAFETY: what is refused is not launched; what is not, is as in `take_turns`.
        unsafe { launch.value(1_u32).together(PATIENCE).on(stream.raw()) }
    };
    assert!(matches!(launch(&function, 128, &away), Err(CudaError::ContextMismatch { .. })));
    assert!(matches!(launch(&foreign, 128, &stream), Err(CudaError::ContextMismatch { .. })));
    // The buffers are of the first device.
    assert!(matches!(launch(&foreign, 128, &away), Err(CudaError::ContextMismatch { .. })));
    assert!(matches!(launch(&function, 1025, &stream), Err(CudaError::LaunchShape { .. })));
    launch(&function, 128, &stream).unwrap();
    let without = Launch::new(&function, [2, 1, 1], [128, 1, 1]).output(&mut value).output(&mut turn);
    // SAFETY: what is refused is not launched.
    let refused = unsafe { without.together(PATIENCE).on(stream.raw()) };
    assert!(matches!(refused, Err(CudaError::KernelSignature { .. })), "{refused:?}");
    assert_eq!((context.usage().launches, other.usage().launches), (1, 0));
});

fn start() -> (crate::Context, Stream) {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}
