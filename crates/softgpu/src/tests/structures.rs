//! Structures by value: what PTX declares, what a program passes, and what the kernel reads.

use super::scenario::{Scenario, must_succeed, scenario};
use super::session::{allocate, function, load, ready, to_host};
use crate::Settings;
use crate::ffi::{Code, Double, Handle};
use std::ffi::c_void;

/// As a compiler declares `takes_structures` of `tests/kernels/exercises.cu`, the second of so many bytes.
fn ptx(second: usize) -> String {
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry takes_structures(\n\
         \t.param .align 4 .b8 takes_structures_param_0[16],\n\
         \t.param .align 8 .b8 takes_structures_param_1[{second}],\n\
         \t.param .u32 takes_structures_param_2\n)\n{{\n\tret;\n}}\n"
    )
}

/// The structures in memory that is aligned to nothing: a program may pass them from anywhere.
fn launch(driver: &Double, function: Handle, first: &[u8], second: &[u8], number: u32) -> Code {
    let mut places = [first, second, &number.to_ne_bytes()].map(|bytes| [&[0xff], bytes].concat());
    let mut pointers = places.each_mut().map(|place| place[1..].as_mut_ptr().cast::<c_void>());
    driver.launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, 0, pointers.as_mut_ptr(), std::ptr::null_mut())
}

fn inner(at: [f32; 3], flag: u8) -> Vec<u8> {
    [at.map(f32::to_ne_bytes).concat(), vec![flag, 0xee, 0xee, 0xee]].concat()
}

scenario!(structures_come_as_they_were_passed, Settings::new(), || {
    let driver = ready();
    let module = load(&driver, &ptx(40)).unwrap();
    let takes = function(&driver, module, "takes_structures").unwrap();
    let out = allocate(&driver, 4 * 7);
    let second = [
        &7_u32.to_ne_bytes()[..],
        &[0xee; 4],
        &2.0_f64.to_ne_bytes(),
        &inner([0.5, 0.25, 0.125], 100),
        &out.to_ne_bytes(),
    ]
    .concat();
    assert_eq!(launch(&driver, takes, &inner([1.0, 2.0, 3.0], 10), &second, 1000), 0);
    assert_eq!(driver.synchronize(), 0);
    let expected = [1112.5, 1114.25, 1116.125, 1112.5, 1114.25, 1116.125, 1112.5];
    assert_eq!(to_host::<f32>(&driver, out, 7), expected);
});

#[test]
fn a_structure_of_another_size_than_its_twins_ends_the_process() {
    let name = concat!(module_path!(), "::a_structure_of_another_size_than_its_twins_ends_the_process");
    let output = Scenario::new(name, Settings::new()).run(|| {
        let driver = ready();
        let module = load(&driver, &ptx(48)).unwrap();
        let _ = function(&driver, module, "takes_structures");
    });
    let Some(output) = output else { return };
    assert_eq!(output.status.code(), Some(97));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("kernel takes_structures has other parameters in the PTX"), "{error}");
}

/// Kernels are found in every library of the setting, and one library may be missing what another has.
#[test]
fn kernels_are_looked_for_in_all_libraries() {
    let name = concat!(module_path!(), "::kernels_are_looked_for_in_all_libraries");
    let Some(gpu) = crate::SoftwareGpu::for_test() else { return };
    let exercises = crate::SoftwareGpu::build_with(&super::scenario::exercises(), crate::Variant::Plain).unwrap();
    let both = format!("{}:{}", gpu.kernels().display(), exercises.kernels().display());
    let output = Scenario::new(name, Settings::new().kernels(both.as_ref())).run(|| {
        let driver = ready();
        let module = load(&driver, include_str!("../../../../kernels/ptx/octopus.ptx")).unwrap();
        let fill = function(&driver, module, "array_fill_f64").unwrap();
        let out = allocate(&driver, 8);
        let (mut address, mut value, mut count) = (out, 2.5_f64, 1_u64);
        let mut pointers: [*mut c_void; 3] =
            [(&raw mut address).cast(), (&raw mut value).cast(), (&raw mut count).cast()];
        let none = std::ptr::null_mut();
        assert_eq!(driver.launch_kernel(fill, 1, 1, 1, 32, 1, 1, 0, 0, pointers.as_mut_ptr(), none), 0);
        assert_eq!(to_host::<f64>(&driver, out, 1), [2.5]);
        let nothing = super::session::exercise(&driver, "nothing");
        assert_eq!(super::session::launch(&driver, nothing, super::session::shape(1, 1), &[]), 0);
    });
    must_succeed(output);
}
