//! Launches that are wrong, and kernels that are.

use super::scenario::{Scenario, must_succeed, scenario};
use super::session::Parameter::{self, F32, I32, U32, U64};
use super::session::{Shape, allocate, exercise, function, launch, load, ptx, ready, shape, to_device};
use crate::{Settings, Variant};
use std::process::Output;

scenario!(shapes_have_limits, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "nothing");
    let code = |grid, block| launch(&driver, function, Shape { grid, block, shared: 0 }, &[]);
    assert_eq!(code([1, 1, 1], [1024, 1, 1]), 0);
    assert_eq!(code([1, 1, 1], [1025, 1, 1]), 1);
    assert_eq!(code([1, 1, 1], [32, 32, 2]), 1);
    assert_eq!(code([1, 1, 1], [1, 1, 65]), 1);
    assert_eq!(code([0, 1, 1], [1, 1, 1]), 1);
    assert_eq!(code([1, 1, 1], [1, 0, 1]), 1);
    assert_eq!(code([1, 65_536, 1], [1, 1, 1]), 1);
    assert_eq!(code([1, 65_535, 1], [1, 1, 1]), 0);
    // A launch that was refused has harmed nothing.
    assert_eq!(driver.synchronize(), 0);
});

scenario!(a_kernels_own_bound_holds, Settings::new(), || {
    let driver = ready();
    let text = ptx("8.4", "sm_80", &[("nothing", &[])]).replace("nothing(\n\n)", "nothing()\n.maxntid 128, 1, 1");
    let module = load(&driver, &text).unwrap();
    let nothing = function(&driver, module, "nothing").unwrap();
    assert_eq!((launch(&driver, nothing, shape(1, 128), &[]), launch(&driver, nothing, shape(1, 129), &[])), (0, 1));
});

scenario!(a_kernel_without_its_twin_says_so, Settings::new(), || {
    let driver = ready();
    let module = load(&driver, &ptx("8.4", "sm_80", &[("only_in_the_ptx", &[8])])).unwrap();
    let function = function(&driver, module, "only_in_the_ptx").unwrap();
    assert_eq!(launch(&driver, function, shape(1, 1), &[U64(0)]), 801);
});

#[test]
fn a_twin_of_another_signature_ends_the_process() {
    let name = concat!(module_path!(), "::a_twin_of_another_signature_ends_the_process");
    let output = Scenario::new(name, Settings::new()).run(|| {
        let driver = ready();
        let module = load(&driver, &ptx("8.4", "sm_80", &[("warp_sum", &[8, 4])])).unwrap();
        let _ = function(&driver, module, "warp_sum");
    });
    let Some(output) = output else { return };
    assert_eq!(output.status.code(), Some(97));
    assert!(String::from_utf8_lossy(&output.stderr).contains("kernel warp_sum has other parameters in the PTX"));
}

/// Launches a kernel that fails: the launch succeeds, all that follows gives `code`, and the reason is told.
fn fails(
    name: &'static str,
    kernel: &str,
    how: Shape,
    parameters: impl FnOnce(u64) -> Vec<Parameter>,
    code: i32,
    reason: &str,
) {
    let started = std::time::Instant::now();
    let output: Option<Output> = Scenario::new(name, Settings::new().threads(3)).run(|| {
        let driver = ready();
        let output = to_device(&driver, &vec![0_i32; 4096]);
        let function = exercise(&driver, kernel);
        assert_eq!(launch(&driver, function, how, &parameters(output)), 0);
        assert_eq!(driver.synchronize(), code);
        assert_eq!(driver.allocate(&mut 0, 8), code);
        assert_eq!(driver.free(output), code);
        assert_eq!(launch(&driver, function, how, &[U64(output)]), code);
        // The device still tells what it is.
        let mut count = 0;
        assert_eq!((driver.device_count(&mut count), count), (0, 1));
    });
    let Some(error) = must_succeed(output) else { return };
    assert!(error.contains(&format!("error {code} in kernel {kernel}")) && error.contains(reason), "{error}");
    assert!(started.elapsed().as_secs() < 60, "it should be found out, not waited for");
}

macro_rules! fails {
    ($($name:ident: $kernel:literal, $shape:expr, $parameters:expr, $code:literal, $reason:literal;)*) => { $(
        #[test]
        fn $name() {
            fails(concat!(module_path!(), "::", stringify!($name)), $kernel, $shape, $parameters, $code, $reason);
        }
    )* };
}

fn only(output: u64) -> Vec<Parameter> {
    vec![U64(output)]
}

fails! {
    a_missed_shuffle: "misses_shuffle", shape(40, 64), only, 719,
        "in warp 0, lanes 7fffffff in an exchange (lane 0 in a shuffle with mask ffffffff), lanes 80000000 have left the kernel";
    a_missed_barrier: "misses_barrier", shape(1, 64), only, 719,
        "block (0, 0, 0) of 64 threads waits for ever: 63 threads at __syncthreads; 1 threads have left the kernel";
    a_shuffle_across_a_barrier: "crosses", shape(1, 32), only, 719, "16 threads at __syncthreads; in warp 0, lanes ffff0000";
    a_lane_outside_of_the_mask: "reads_outside_of_mask", shape(1, 32), only, 719,
        "lane 0 reads lane 20 in a shuffle with mask 0000ffff, which leaves that lane out";
    a_mask_without_oneself: "leaves_itself_out", shape(1, 32), only, 719,
        "a vote with mask 0000ffff, which leaves out its own lane 16";
    a_null_pointer: "writes_at", shape(8, 32), |_| vec![U64(0), I32(1)], 700,
        "block (3, 0, 0), thread (2, 0, 0): invalid address (nil)";
    a_wild_pointer: "writes_at", shape(8, 32), |_| vec![U64(0x1234_5678_9abc), I32(1)], 700, "invalid address 0x123456789abc";
    too_deep_a_stack: "sinks_in", shape(2, 4), |output| vec![U64(output), I32(100_000)], 700, "too deep a stack";
    a_division_by_zero: "divides", shape(1, 4), |output| vec![U64(output), U64(output)], 719, "integer division by zero";
    more_shared_memory_than_asked_for: "running_sum", Shape { shared: 80, ..shape(1, 10) },
        |output| vec![U64(output), U64(output), U32(10), U32(1)], 700, "it wrote beyond its dynamic shared memory";
}

/// Kernels that write to the end of an array and beyond it, under the sanitizers.
#[test]
fn the_sanitizer_finds_what_leaves_an_allocation() {
    let name = concat!(module_path!(), "::the_sanitizer_finds_what_leaves_an_allocation");
    let mut scenario = Scenario::new(name, Settings::new().threads(2));
    scenario.variant = Variant::Sanitized;
    let output = scenario.run(|| {
        let driver = ready();
        // What is right stays right: shuffles, barriers and shared memory on many stacks.
        let x = to_device(&driver, &vec![1.0_f32; 4096]);
        let output = allocate(&driver, 4 * 4096);
        let parameters = [U64(x), U64(output), I32(9)];
        assert_eq!(launch(&driver, exercise(&driver, "turn_round"), shape(16, 256), &parameters), 0);
        assert_eq!(launch(&driver, exercise(&driver, "half_warps"), shape(1, 32), &[U64(output)]), 0);
        let sums = to_device(&driver, &vec![1.0_f64; 64]);
        assert_eq!(launch(&driver, exercise(&driver, "warp_sum"), shape(2, 32), &[U64(sums), U64(sums)]), 0);
        let beyond = exercise(&driver, "writes_beyond");
        let small = allocate(&driver, 4 * 100);
        assert_eq!(launch(&driver, beyond, shape(1, 32), &[U64(small), U32(100)]), 0);
        eprintln!("now beyond");
        launch(&driver, beyond, shape(1, 32), &[U64(small), U32(101)]);
        eprintln!("not found out");
    });
    let Some(output) = output else { return };
    let error = String::from_utf8_lossy(&output.stderr);
    let found = error.contains("heap-buffer-overflow") && error.contains("writes_beyond");
    assert!(
        !output.status.success() && error.contains("now beyond") && !error.contains("not found out") && found,
        "{error}"
    );
}

scenario!(the_order_of_parameters_matters, Settings::new(), || {
    let driver = ready();
    let x = to_device(&driver, &[1.0_f32; 4]);
    let function = exercise(&driver, "add_number");
    assert_eq!(launch(&driver, function, shape(1, 256), &[U64(x), F32(1.0), U64(x), U64(4)]), 0);
    assert_eq!(super::session::to_host::<f32>(&driver, x, 4), [2.0; 4]);
    let none = std::ptr::null_mut();
    // A kernel that takes parameters must get some.
    assert_eq!(driver.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, 0, none, none), 1);
});
