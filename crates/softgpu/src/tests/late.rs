//! A device that runs queued work as late as allowed. A program that does not wait sees stale data; a program that waits
//! does not.

use super::scenario::{Scenario, must_succeed, scenario};
use super::session::Parameter::{F32, U64};
use super::session::{EXERCISES, allocate, exercise, function, launch_in, load, ptx, ready, shape, to_device, to_host};
use crate::Settings;
use crate::ffi::{Code, Double, Handle};
use std::collections::BTreeSet;

/// CU_STREAM_NON_BLOCKING
const NON_BLOCKING: u32 = 1;
const NOT_READY: Code = 600;
const LAUNCH_FAILED: Code = 719;
const COUNT: usize = 64;
const BYTES: usize = 4 * COUNT;

/// A device that does nothing before it must.
fn lazy() -> Settings {
    Settings::new().late(4)
}

/// A device that mostly does at once what it may, and not in the order of the calls.
fn hasty() -> Settings {
    Settings::new().late(7)
}

fn stream(driver: &Double, flags: u32) -> Handle {
    let mut stream = 0;
    assert_eq!(driver.create_stream(&mut stream, flags, 0), 0);
    stream
}

/// Queues `out = x + 1`.
fn add_one(driver: &Double, function: Handle, stream: Handle, x: u64, out: u64) {
    let parameters = [U64(x), F32(1.0), U64(out), U64(COUNT as u64)];
    assert_eq!(launch_in(driver, stream, function, shape(1, 64), &parameters), 0);
}

/// Page-locked memory full of `value`, and its address.
fn pinned(driver: &Double, value: f32) -> (&'static mut [f32], usize) {
    let mut address = 0;
    assert_eq!(driver.allocate_pinned(&mut address, BYTES), 0);
    let slice = crate::ffi::floats(address, COUNT);
    slice.fill(value);
    (slice, address)
}

fn are_unwritten(values: &[f32]) -> bool {
    values.iter().all(|value| value.to_bits() == u32::MAX)
}

scenario!(a_kernel_runs_when_its_stream_is_waited_for, lazy(), || {
    let driver = ready();
    let (kernel, own) = (exercise(&driver, "add_number"), stream(&driver, 0));
    let (x, out) = (to_device(&driver, &[1.0_f32; COUNT]), allocate(&driver, BYTES));
    let (host, address) = pinned(&driver, 5.0);
    add_one(&driver, kernel, own, x, out);
    assert_eq!(driver.copy_out_async(address, out, BYTES, own), 0);
    // Nobody knows what is there until the copy is done.
    assert!(are_unwritten(host));
    assert_eq!(driver.synchronize_stream(own), 0);
    assert_eq!(host, [2.0; COUNT]);
    assert_eq!(driver.ask_stream(own), 0);
});

scenario!(a_copy_without_a_stream_comes_behind_streams_that_block, lazy(), || {
    let driver = ready();
    let kernel = exercise(&driver, "add_number");
    let x = to_device(&driver, &[1.0_f32; COUNT]);
    for (flags, expected) in [(0, true), (NON_BLOCKING, false)] {
        let out = allocate(&driver, BYTES);
        add_one(&driver, kernel, stream(&driver, flags), x, out);
        let values = to_host::<f32>(&driver, out, COUNT);
        assert_eq!(values == [2.0; COUNT], expected, "{flags}: {values:?}");
        assert_eq!(are_unwritten(&values), !expected, "{flags}");
        assert_eq!(driver.synchronize(), 0);
        assert_eq!(to_host::<f32>(&driver, out, COUNT), [2.0; COUNT]);
    }
});

scenario!(streams_that_block_come_behind_the_default_stream, lazy(), || {
    let driver = ready();
    let (kernel, own) = (exercise(&driver, "add_number"), stream(&driver, 0));
    let (x, out) = (allocate(&driver, BYTES), allocate(&driver, BYTES));
    assert_eq!(driver.fill(x, 3.0_f32.to_bits(), COUNT), 0);
    add_one(&driver, kernel, own, x, out);
    assert_eq!(driver.synchronize_stream(own), 0);
    assert_eq!(to_host::<f32>(&driver, out, COUNT), [4.0; COUNT]);
    // In another stream the fill is not waited for.
    let apart = stream(&driver, NON_BLOCKING);
    assert_eq!(driver.fill(x, 5.0_f32.to_bits(), COUNT), 0);
    add_one(&driver, kernel, apart, x, out);
    assert_eq!(driver.synchronize_stream(apart), 0);
    assert_eq!(to_host::<f32>(&driver, out, COUNT), [4.0; COUNT]);
});

scenario!(a_stream_comes_behind_another_when_it_waits_for_an_event, lazy(), || {
    let driver = ready();
    let (kernel, mut event) = (exercise(&driver, "add_number"), 0);
    let (first, second) = (stream(&driver, 0), stream(&driver, 0));
    assert_eq!(driver.create_event(&mut event, 0), 0);
    let x = to_device(&driver, &[1.0_f32; COUNT]);
    for waits in [false, true] {
        let (between, out) = (allocate(&driver, BYTES), allocate(&driver, BYTES));
        add_one(&driver, kernel, first, x, between);
        assert_eq!(driver.record(event, first), 0);
        if waits {
            assert_eq!(driver.wait_event(second, event, 0), 0);
        }
        add_one(&driver, kernel, second, between, out);
        assert_eq!(driver.synchronize_stream(second), 0);
        assert_eq!(driver.synchronize_stream(first), 0);
        let values = to_host::<f32>(&driver, out, COUNT);
        assert_eq!(values == [3.0; COUNT], waits, "{values:?}");
    }
});

scenario!(an_event_is_where_it_was_recorded_last, lazy(), || {
    let driver = ready();
    let (kernel, mut event, mut other, mut time) = (exercise(&driver, "add_number"), 0, 0, 0.0);
    let own = stream(&driver, 0);
    assert_eq!((driver.create_event(&mut event, 0), driver.create_event(&mut other, 0)), (0, 0));
    let (x, out) = (to_device(&driver, &[1.0_f32; COUNT]), allocate(&driver, BYTES));
    let (host, address) = pinned(&driver, 5.0);
    // What was never recorded is no reason to wait.
    assert_eq!((driver.ask_event(event), driver.synchronize_event(event)), (0, 0));
    assert_eq!((driver.record(event, own), driver.record(other, own)), (0, 0));
    assert_eq!(driver.elapsed(&mut time, event, other), NOT_READY);
    add_one(&driver, kernel, own, x, out);
    assert_eq!(driver.copy_out_async(address, out, BYTES, own), 0);
    assert_eq!(driver.record(event, own), 0);
    assert_eq!(driver.synchronize_event(other), 0);
    assert!(are_unwritten(host));
    assert_eq!(driver.elapsed(&mut time, other, event), NOT_READY);
    // A program that asks sees the device go on.
    let asked = (0..1000).take_while(|_| driver.ask_event(event) == NOT_READY).count();
    assert!(asked > 0 && asked < 1000, "{asked}");
    assert_eq!(host, [2.0; COUNT]);
    assert_eq!(driver.elapsed(&mut time, other, event), 0);
    assert!(time >= 0.0);
    // What is queued outlives the event.
    assert_eq!((driver.record(event, own), driver.destroy_event(event)), (0, 0));
    assert_eq!(driver.synchronize(), 0);
});

scenario!(page_locked_memory_is_read_late_and_other_memory_at_once, lazy(), || {
    let driver = ready();
    let own = stream(&driver, 0);
    let (to, copied) = (allocate(&driver, BYTES), [1.0_f32; COUNT]);
    let (host, address) = pinned(&driver, 1.0);
    assert_eq!(driver.copy_in_async(to, std::ptr::with_exposed_provenance(address), BYTES, own), 0);
    host.fill(2.0);
    // What the device has yet to read is not spoiled by the copy that comes behind.
    assert_eq!(driver.copy_out_async(address, to, BYTES, own), 0);
    assert_eq!(host, [2.0; COUNT]);
    assert_eq!(to_host::<f32>(&driver, to, COUNT), [2.0; COUNT]);
    let mut other = copied;
    assert_eq!(driver.copy_in_async(to, other.as_ptr().cast(), BYTES, own), 0);
    other.fill(3.0);
    assert_eq!(to_host::<f32>(&driver, to, COUNT), copied);
    // A copy without a stream has read page-locked memory, too, when it returns.
    host.fill(4.0);
    assert_eq!(driver.copy_in(to, std::ptr::with_exposed_provenance(address), BYTES), 0);
    host.fill(5.0);
    assert_eq!(to_host::<f32>(&driver, to, COUNT), [4.0; COUNT]);
});

scenario!(to_free_memory_is_not_to_wait, lazy(), || {
    let driver = ready();
    let (kernel, own) = (exercise(&driver, "add_number"), stream(&driver, 0));
    let (x, out) = (to_device(&driver, &[1.0_f32; COUNT]), allocate(&driver, BYTES));
    assert_eq!(driver.synchronize(), 0);
    add_one(&driver, kernel, own, x, out);
    assert_eq!(driver.free(x), 0);
    assert!(to_host::<f32>(&driver, out, COUNT).iter().all(|value| value.is_nan()));
    // With nothing queued it goes at once.
    assert_eq!(driver.free(out), 0);
});

scenario!(to_unload_kernels_is_not_to_wait, lazy(), || {
    let driver = ready();
    let module = load(&driver, &ptx("8.4", "sm_80", EXERCISES)).unwrap();
    let kernel = function(&driver, module, "add_number").unwrap();
    let x = to_device(&driver, &[1.0_f32; COUNT]);
    add_one(&driver, kernel, stream(&driver, 0), x, x);
    assert_eq!(driver.unload_module(module), 0);
    assert_eq!(driver.synchronize(), LAUNCH_FAILED);
});

scenario!(who_waits_is_told_of_a_failure, lazy(), || {
    let driver = ready();
    let (kernel, own) = (exercise(&driver, "misses_barrier"), stream(&driver, 0));
    let (out, (host, address)) = (allocate(&driver, 4 * BYTES), pinned(&driver, 5.0));
    assert_eq!(launch_in(&driver, own, kernel, shape(1, 64), &[U64(out)]), 0);
    assert_eq!(driver.copy_out_async(address, out, BYTES, own), 0);
    assert_eq!(driver.synchronize_stream(own), LAUNCH_FAILED);
    // Behind a failure nothing is done.
    assert!(are_unwritten(host));
    assert_eq!(driver.synchronize(), LAUNCH_FAILED);
});

scenario!(what_streams_and_events_order_is_done_in_order, hasty(), || {
    let driver = ready();
    let (kernel, mut event) = (exercise(&driver, "add_number"), 0);
    let streams = [stream(&driver, 0), stream(&driver, NON_BLOCKING), stream(&driver, 0)];
    assert_eq!(driver.create_event(&mut event, 0), 0);
    let x = to_device(&driver, &[0.0_f32; COUNT]);
    assert_eq!(driver.synchronize(), 0);
    for step in 0..300 {
        let own = streams[step % 3];
        assert_eq!(driver.wait_event(own, event, 0), 0);
        add_one(&driver, kernel, own, x, x);
        assert_eq!(driver.record(event, own), 0);
    }
    assert_eq!(driver.synchronize_event(event), 0);
    assert_eq!(to_host::<f32>(&driver, x, COUNT), [300.0; COUNT]);
});

/// Either of two streams that do not wait for each other may be the last; the seed decides.
#[test]
fn seeds_draw_the_order() {
    let name = concat!(module_path!(), "::seeds_draw_the_order");
    let mut last = BTreeSet::new();
    for seed in 1..=16 {
        let told = Scenario::new(name, Settings::new().late(seed)).run(|| {
            let driver = ready();
            let (kernel, x) = (exercise(&driver, "add_number"), to_device(&driver, &[0.0_f32; COUNT]));
            let ones = to_device(&driver, &[1.0_f32; COUNT]);
            assert_eq!(driver.synchronize(), 0);
            add_one(&driver, kernel, stream(&driver, 0), x, x);
            add_one(&driver, kernel, stream(&driver, 0), ones, x);
            assert_eq!(driver.synchronize(), 0);
            eprintln!("LAST {}", to_host::<f32>(&driver, x, COUNT)[0]);
        });
        let Some(told) = must_succeed(told) else { return };
        last.extend(told.lines().filter_map(|line| line.strip_prefix("LAST ")).map(str::to_owned));
    }
    // 0 + 1 and then 1 + 1; or 1 + 1 and then 2 + 1.
    assert_eq!(last.into_iter().collect::<Vec<_>>(), ["2", "3"]);
}
