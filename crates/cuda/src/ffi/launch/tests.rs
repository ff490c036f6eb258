use super::Launch;
use crate::binding::RawModule;
use crate::ffi::module::RawFunction;
use crate::scenario::{self, context, on_software_gpu};
use crate::{CudaError, DeviceBuffer, PTX, Stream};
use octopus_softgpu::KernelSources;
use std::path::Path;
use std::sync::Arc;

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

fn start() -> (crate::Context, Stream) {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}
