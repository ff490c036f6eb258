//! What is asked to go wrong goes wrong, at the call that was named and at no other.

use super::scenario::{Scenario, scenario};
use super::session::Parameter::{I32, U64};
use super::session::{allocate, driver, exercise, launch, nvml, ready, shape};
use crate::Settings;
use crate::ffi::{Code, Double, text};
use std::time::Duration;

fn allocations(driver: &Double, count: usize) -> Vec<Code> {
    (0..count).map(|_| driver.allocate(&mut 0, 8)).collect()
}

scenario!(a_function_always_fails, Settings::new().fail("cuMemAlloc_v2", 2), || {
    assert_eq!(allocations(&ready(), 3), [2, 2, 2]);
});

scenario!(one_call_fails, Settings::new().fail("cuMemAlloc_v2", 2).at_call(3), || {
    assert_eq!(allocations(&ready(), 5), [0, 0, 2, 0, 0]);
});

scenario!(calls_fail_from_one_on, Settings::new().fail("cuMemAlloc_v2", 2).from_call(3), || {
    assert_eq!(allocations(&ready(), 5), [0, 0, 2, 2, 2]);
});

scenario!(
    a_function_has_several_faults,
    Settings::new().fail("cuMemAlloc_v2", 2).at_call(1).fail("cuMemAlloc_v2", 999).from_call(3),
    || assert_eq!(allocations(&ready(), 4), [2, 0, 999, 999])
);

macro_rules! starts {
    ($($name:ident: $code:literal;)*) => { $(
        scenario!($name, Settings::new().fail("cuInit", $code), || {
            assert_eq!(driver().init(0), $code);
            // Nothing else works then.
            assert_eq!(driver().device_count(&mut 0), 3);
        });
    )* };
}

starts! {
    no_device: 100;
    system_not_ready: 802;
    driver_mismatch: 803;
    compatibility_not_supported: 804;
    unknown: 999;
    a_code_that_no_header_lists: 12345;
}

scenario!(a_code_without_a_name_has_none, Settings::new(), || {
    let driver = driver();
    let mut name = std::ptr::null();
    assert_eq!(driver.error_name(12345, &mut name), 1);
    assert!(name.is_null());
    assert_eq!(driver.error_name(222, &mut name), 0);
    assert_eq!(text(name), "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
});

scenario!(
    a_watchdog_ends_a_launch_that_takes_too_long,
    Settings::new().watchdog(Duration::from_millis(300)).threads(1),
    || {
        let driver = ready();
        let mut watches = 0;
        assert_eq!((driver.attribute(&mut watches, 17, 0), watches), (0, 1));
        let (x, out) = (allocate(&driver, 4 * 1024), allocate(&driver, 4 * 1024));
        let kernel = exercise(&driver, "turn_round");
        let turn_round = |times| launch(&driver, kernel, shape(1, 1024), &[U64(x), U64(out), I32(times)]);
        assert_eq!((turn_round(1), driver.synchronize()), (0, 0));
        // Twenty million times a lane lets another run.
        assert_eq!((turn_round(10_000), driver.synchronize(), turn_round(1)), (0, 702, 702));
    }
);

scenario!(without_a_display_there_is_no_watchdog, Settings::new(), || {
    let mut watches = -1;
    assert_eq!((ready().attribute(&mut watches, 17, 0), watches), (0, 0));
});

/// The second launch does not end, and what comes after it neither; what came before is done.
fn never_ends(driver: &Double) -> [usize; 2] {
    let mut events = [0; 2];
    let out = allocate(driver, 4 * 7 + 8 + 4);
    let count_up = || {
        let parameters = [U64(out), U64(out + 32), U64(out + 28)];
        launch(driver, exercise(driver, "count_up"), shape(1, 32), &parameters)
    };
    assert_eq!(driver.fill(out, 0, 10), 0);
    for event in &mut events {
        assert_eq!((driver.create_event(event, 0), count_up(), driver.record(*event, 0)), (0, 0, 0));
    }
    assert_eq!((count_up(), driver.fill(out, 7, 1)), (0, 0));
    assert_eq!(events.map(|event| driver.ask_event(event)), [0, 600]);
    assert_eq!((driver.ask_stream(0), driver.elapsed(&mut 0.0, events[0], events[1])), (600, 600));
    assert_eq!(driver.synchronize_event(events[0]), 0);
    events
}

scenario!(a_launch_hangs, Settings::new().hang(2), || {
    never_ends(&ready());
});

/// Ends the program at the call that would wait for ever.
fn waits_for_ever(name: &'static str, call: &str, wait: impl Fn(&Double, [usize; 2]) -> Code) {
    let ended = Scenario::new(name, Settings::new().hang(2)).run(|| {
        let driver = ready();
        let events = never_ends(&driver);
        let code = wait(&driver, events);
        unreachable!("the wait ended with {code}");
    });
    let Some(ended) = ended else { return };
    let error = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(97), "{error}");
    assert!(error.contains(&format!("{call} waits for a launch that never ends (setting hang)")), "{error}");
}

macro_rules! waits {
    ($($name:ident: $call:literal, $wait:expr;)*) => { $(
        #[test]
        fn $name() {
            waits_for_ever(concat!(module_path!(), "::", stringify!($name)), $call, $wait);
        }
    )* };
}

waits! {
    whoever_waits_for_the_context_never_goes_on: "cuCtxSynchronize", |driver, _| driver.synchronize();
    whoever_waits_for_a_stream_never_goes_on: "cuStreamSynchronize", |driver, _| driver.synchronize_stream(0);
    whoever_waits_for_an_event_never_goes_on: "cuEventSynchronize", |driver, events| driver.synchronize_event(events[1]);
    whoever_copies_to_the_host_never_goes_on: "cuMemcpyDtoH_v2",
        |driver, _| driver.copy_out([0_u8; 4].as_mut_ptr().cast(), allocate(driver, 4), 4);
    whoever_frees_memory_never_goes_on: "cuMemFree_v2", |driver, _| driver.free(allocate(driver, 4));
}

scenario!(a_sticky_error_stays, Settings::new().sticky(700, 2), || {
    let driver = ready();
    let function = exercise(&driver, "nothing");
    let address = allocate(&driver, 8);
    assert_eq!((launch(&driver, function, shape(1, 1), &[]), driver.synchronize()), (0, 0));
    assert_eq!(launch(&driver, function, shape(1, 1), &[]), 700);
    assert_eq!((driver.synchronize(), driver.free(address), driver.allocate(&mut 0, 8)), (700, 700, 700));
    assert_eq!((driver.retain(&mut 0, 0), driver.release(0)), (700, 700));
    // What the driver knows without the device it still tells.
    assert_eq!((driver.version(&mut 0), driver.device_count(&mut 0)), (0, 0));
});

scenario!(a_lost_device_answers_nothing, Settings::new().lost(5), || {
    let (driver, nvml) = (ready(), nvml());
    assert_eq!(nvml.nvml_init(), 0);
    let mut device = 0;
    assert_eq!(nvml.nvml_device(0, &mut device), 0);
    // Calls 1 to 3 were those of `ready`.
    assert_eq!((driver.synchronize(), driver.synchronize(), driver.device_count(&mut 0)), (0, 719, 719));
    assert_eq!(driver.version(&mut 0), 0);
    assert_eq!(nvml.nvml_memory(device, &mut [0; 5]), 15);
    assert_eq!(nvml.nvml_shutdown(), 0);
});

scenario!(a_device_is_lost_from_the_start, Settings::new().lost(0), || {
    let nvml = nvml();
    assert_eq!((nvml.nvml_init(), nvml.nvml_count(&mut 0)), (0, 15));
    assert_eq!(driver().init(0), 719);
});

scenario!(one_of_two_devices_is_lost, Settings::new().devices(2).lost_device(1, 3), || {
    let (driver, nvml) = (ready(), nvml());
    assert_eq!(nvml.nvml_init(), 0);
    let (mut first, mut second, mut handles) = (0, 0, [0; 2]);
    assert_eq!((driver.retain(&mut first, 0), driver.retain(&mut second, 1)), (0, 0));
    for (index, handle) in (0..).zip(&mut handles) {
        assert_eq!(nvml.nvml_device(index, handle), 0);
    }
    // Calls in the other's context do not count.
    assert_eq!(allocations(&driver, 5), [0; 5]);
    assert_eq!(driver.set_current(second), 0);
    assert_eq!(allocations(&driver, 2), [0, 0]);
    assert_eq!(nvml.nvml_memory(handles[1], &mut [0; 5]), 0);
    assert_eq!((driver.synchronize(), driver.synchronize()), (719, 719));
    assert_eq!((driver.retain(&mut 0, 1), driver.device_count(&mut 0)), (719, 0));
    assert_eq!((nvml.nvml_memory(handles[1], &mut [0; 5]), nvml.nvml_memory(handles[0], &mut [0; 5])), (15, 0));
    assert_eq!((driver.set_current(first), driver.synchronize()), (0, 0));
    assert_eq!(allocations(&driver, 1), [0]);
});

scenario!(one_of_two_devices_is_lost_from_the_start, Settings::new().devices(2).lost_device(0, 0), || {
    let driver = driver();
    assert_eq!((driver.init(0), driver.retain(&mut 0, 0), driver.retain(&mut 0, 1)), (0, 719, 0));
});

/// Settings that make no sense end the process with a message.
fn refused(name: &'static str, settings: Settings, reason: &str) {
    let output = Scenario::new(name, settings).run(|| {
        driver().init(0);
    });
    let Some(output) = output else { return };
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(97), "{error}");
    assert!(error.contains("octopus software GPU") && error.contains(reason), "{error}");
}

macro_rules! refused {
    ($($name:ident: $settings:expr, $reason:literal;)*) => { $(
        #[test]
        fn $name() {
            refused(concat!(module_path!(), "::", stringify!($name)), $settings, $reason);
        }
    )* };
}

refused! {
    an_unknown_function: Settings::new().fail("cuMemAllok", 2), "fail=cuMemAllok: there is no such function here";
    a_function_of_nobody: Settings::new().fail("malloc", 2), "fail=malloc: neither a driver nor an NVML function";
    more_free_than_there_is: Settings::new().memory(10, 20), "free_mb is more than total_mb";
    more_free_than_one_has: Settings::new().memory_of(&[(20, 10), (10, 20)]), "free_mb is more than total_mb";
    a_mode_that_is_none: Settings::new().compute_mode(7), "`7` is no number up to 3";
    kernels_that_are_not_there: Settings::new().version("1;nonsense=3"), "`nonsense=3` is no known key=value";
}
