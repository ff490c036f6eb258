//! Start, devices and contexts.

use super::scenario::{Scenario, Way, must_succeed, scenario};
use super::session::{driver, ready};
use crate::Settings;
use crate::ffi::{Double, text};
use std::ffi::c_char;
use std::path::Path;

fn name_of(ask: impl FnOnce(*mut c_char) -> i32) -> String {
    let mut buffer = [0 as c_char; 96];
    assert_eq!(ask(buffer.as_mut_ptr()), 0);
    text(buffer.as_ptr())
}

scenario!(
    a_device_says_what_it_is,
    Settings::new().driver(12_060).compute_capability(9, 0).multiprocessors(132),
    || {
        let driver = driver();
        let mut version = 0;
        // The version is known before the start; devices are not.
        assert_eq!((driver.version(&mut version), version), (0, 12_060));
        let mut count = 0;
        assert_eq!(driver.device_count(&mut count), 3);
        assert_eq!(driver.init(1), 1);
        assert_eq!(driver.init(0), 0);
        assert_eq!((driver.device_count(&mut count), count), (0, 1));
        assert_eq!(driver.device(&mut count, 1), 101);
        let name = name_of(|buffer| driver.device_name(buffer, 96, 0));
        assert_eq!(name, "Octopus software GPU (test double)");
        assert_eq!(name_of(|buffer| driver.bus_id(buffer, 32, 0)), "0000:01:00.0");
        for (number, expected) in
            [(75, 9), (76, 0), (16, 132), (10, 32), (1, 1024), (39, 2048), (97, 232_448), (115, 1)]
        {
            let mut value = 0;
            assert_eq!(driver.attribute(&mut value, number, 0), 0);
            assert_eq!(value, expected, "attribute {number}");
        }
        let mut bytes = 0;
        assert_eq!((driver.total_memory(&mut bytes, 0), bytes), (0, 48_685 << 20));
    }
);

scenario!(contexts_are_counted_and_stacked, Settings::new().devices(2), || {
    let driver = driver();
    assert_eq!(driver.init(0), 0);
    // Nothing that needs a context works without one.
    assert_eq!(driver.synchronize(), 201);
    assert_eq!(driver.release(0), 201);
    // Two ways to schedule at once are none.
    assert_eq!((driver.set_flags(0, 8), driver.set_flags(0, 3), driver.set_flags(2, 0)), (0, 1, 101));
    let (mut first, mut again, mut second) = (0, 0, 0);
    assert_eq!((driver.retain(&mut first, 0), driver.retain(&mut again, 0), driver.retain(&mut second, 1)), (0, 0, 0));
    assert_eq!(first, again);
    assert_ne!(first, second);
    assert_eq!((driver.push(first), driver.push(second)), (0, 0));
    let mut current = 0;
    assert_eq!((driver.current(&mut current), current), (0, second));
    assert_eq!((driver.pop(&mut current), current), (0, second));
    // A context is each thread's own affair.
    std::thread::scope(|scope| {
        let other = scope.spawn(|| (driver.synchronize(), driver.set_current(first), driver.synchronize()));
        assert_eq!(other.join().unwrap(), (201, 0, 0));
    });
    assert_eq!(driver.release(0), 0);
    assert_eq!(driver.synchronize(), 0);
    assert_eq!(driver.release(0), 0);
    assert_eq!(driver.synchronize(), 709);
    assert_eq!(driver.set_current(first), 201);
    assert_eq!(driver.set_current(0xdead), 201);
});

scenario!(no_device_is_an_answer, Settings::new().devices(0), || assert_eq!(driver().init(0), 100));

scenario!(prohibited_devices_give_no_context, Settings::new().compute_mode(2), || {
    let driver = driver();
    assert_eq!(driver.init(0), 0);
    assert_eq!(driver.retain(&mut 0, 0), 46);
});

scenario!(exclusive_devices_give_one_to_the_first, Settings::new().compute_mode(3), || {
    let driver = ready();
    assert_eq!(driver.retain(&mut 0, 0), 0);
});

scenario!(exclusive_devices_give_none_beside_others, Settings::new().compute_mode(3).processes(1), || {
    let driver = driver();
    assert_eq!((driver.init(0), driver.retain(&mut 0, 0)), (0, 46));
});

/// Runs with CUDA_VISIBLE_DEVICES; the child sees these devices of four by the last byte of their UUIDs.
fn visible(name: &'static str, value: &'static str, expected: &[u8]) {
    let mut scenario = Scenario::new(name, Settings::new().devices(4));
    scenario.variables.push(("CUDA_VISIBLE_DEVICES", value));
    must_succeed(scenario.run(|| {
        let driver = driver();
        let start = driver.init(0);
        assert_eq!(start, if expected.is_empty() { 100 } else { 0 });
        let mut count = 0;
        if start == 0 {
            assert_eq!(driver.device_count(&mut count), 0);
        }
        let uuid = |device| {
            let mut uuid = [0; 16];
            assert_eq!(driver.device_uuid(&mut uuid, device), 0);
            uuid[15]
        };
        assert_eq!((0..count).map(uuid).collect::<Vec<u8>>(), expected);
    }));
}

macro_rules! visible {
    ($($name:ident: $value:literal => $expected:expr;)*) => { $(
        #[test]
        fn $name() {
            visible(concat!(module_path!(), "::", stringify!($name)), $value, &$expected);
        }
    )* };
}

visible! {
    an_empty_list_hides_all: "" => [];
    minus_one_hides_all: "-1" => [];
    a_list_has_its_order: "2,0" => [2, 0];
    a_wrong_entry_ends_the_list: "1,7,0" => [1];
    only_wrong_entries_hide_all: "9" => [];
    words_hide_all: "none" => [];
    a_device_twice_hides_all: "1,1" => [];
    a_uuid_names_a_device: "GPU-4f63746f-7075-7353-6f66-744750550003, 1" => [3, 1];
    a_beginning_that_fits_all_names_none: "GPU-4f" => [];
}

#[test]
fn the_loader_finds_the_doubles_by_their_names() {
    let name = concat!(module_path!(), "::the_loader_finds_the_doubles_by_their_names");
    let mut scenario = Scenario::new(name, Settings::new().driver(12_010));
    scenario.way = Way::LoaderPath;
    must_succeed(scenario.run(|| {
        let driver = Double::load(Path::new("libcuda.so.1"));
        let mut version = 0;
        assert_eq!((driver.init(0), driver.version(&mut version), version), (0, 0, 12_010));
        assert_eq!(Double::load(Path::new("libnvidia-ml.so.1")).nvml_init(), 0);
    }));
}

#[test]
fn nvml_may_be_missing() {
    let name = concat!(module_path!(), "::nvml_may_be_missing");
    let mut scenario = Scenario::new(name, Settings::new());
    scenario.way = Way::WithoutNvml;
    must_succeed(scenario.run(|| {
        assert!(!Path::new(&std::env::var_os("OCTOPUS_LIBNVML").unwrap()).exists());
        assert_eq!(driver().init(0), 0);
    }));
}
