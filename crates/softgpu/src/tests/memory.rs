//! The account of a device's memory, and the register of allocations.

use super::scenario::{Scenario, must_succeed, scenario};
use super::session::{allocate, nvml, ready, to_device, to_host};
use crate::Settings;
use crate::ffi::Double;

fn free_bytes(driver: &Double) -> usize {
    let (mut free, mut total) = (0, 0);
    assert_eq!(driver.memory(&mut free, &mut total), 0);
    assert_eq!(total, 1_000 << 20);
    free
}

scenario!(memory_is_accounted, Settings::new().memory(1_000, 600), || {
    let driver = ready();
    assert_eq!(free_bytes(&driver), 600 << 20);
    let small = allocate(&driver, 1);
    // Memory comes in units.
    assert_eq!(free_bytes(&driver), (600 << 20) - 256);
    let large = allocate(&driver, 500 << 20);
    let mut none = 0;
    assert_eq!(driver.allocate(&mut none, 100 << 20), 2);
    assert_eq!(driver.allocate(&mut none, usize::MAX), 2);
    assert_eq!(driver.allocate(&mut none, 0), 1);
    assert_eq!((driver.free(large), driver.free(small)), (0, 0));
    assert_eq!(free_bytes(&driver), 600 << 20);
    // Managed memory counts, pinned host memory does not.
    let (mut managed, mut pinned) = (0, 0);
    assert_eq!(
        (driver.allocate_managed(&mut managed, 1 << 20, 1), driver.allocate_pinned(&mut pinned, 1 << 20)),
        (0, 0)
    );
    assert_eq!(free_bytes(&driver), 599 << 20);
    assert_eq!((driver.free(managed), driver.free_pinned(pinned)), (0, 0));
});

scenario!(each_device_has_its_memory, Settings::new().devices(3).memory_of(&[(1_000, 600), (100, 50)]), || {
    let (driver, nvml) = (ready(), nvml());
    assert_eq!((free_bytes(&driver), nvml.nvml_init()), (600 << 20, 0));
    // The third is as the last of the list.
    for device in [1, 2] {
        let (mut context, mut handle, mut memory, mut bytes, mut free) = (0, 0, [0; 5], 0, 0);
        assert_eq!((driver.retain(&mut context, device), driver.set_current(context)), (0, 0));
        assert_eq!((driver.memory(&mut free, &mut bytes), free, bytes), (0, 50 << 20, 100 << 20));
        assert_eq!(driver.allocate(&mut 0, 51 << 20), 2);
        allocate(&driver, 20 << 20);
        assert_eq!((driver.total_memory(&mut bytes, device), bytes), (0, 100 << 20));
        assert_eq!(nvml.nvml_device(device as u32, &mut handle), 0);
        assert_eq!(nvml.nvml_memory(handle, &mut memory), 0);
        assert_eq!((memory[1], memory[3]), (100 << 20, 30 << 20));
    }
});

scenario!(wrong_addresses_are_refused, Settings::new(), || {
    let driver = ready();
    let address = allocate(&driver, 100);
    let mut bytes = [0_u8; 200];
    let pointer = bytes.as_mut_ptr().cast();
    assert_eq!(driver.copy_in(address, pointer, 100), 0);
    assert_eq!(driver.copy_in(address, pointer, 101), 1);
    assert_eq!(driver.copy_in(address + 60, pointer, 40), 0);
    assert_eq!(driver.copy_out(pointer, address + 60, 41), 1);
    assert_eq!(driver.copy_in(0, pointer, 1), 1);
    // Nothing is done with nothing, wherever it is.
    assert_eq!(driver.copy_in(0, pointer, 0), 0);
    let other = allocate(&driver, 50);
    assert_eq!(driver.copy(other, address, 51), 1);
    assert_eq!(driver.copy(other, address, 50), 0);
    assert_eq!((driver.fill(address, 7, 25), driver.fill(address, 7, 26), driver.fill(address + 1, 7, 1)), (0, 1, 1));
    assert_eq!(driver.copy_in_async(address, pointer, 100, 0xbad), 400);
    assert_eq!(driver.free(address + 4), 1);
    assert_eq!((driver.free(address), driver.free(address)), (0, 1));
    assert_eq!(driver.copy_out(pointer, address, 1), 1);
    let mut pinned = 0;
    assert_eq!(driver.allocate_pinned(&mut pinned, 8), 0);
    assert_eq!((driver.free(pinned as u64), driver.free_pinned(pinned)), (1, 0));
});

scenario!(what_is_not_written_is_nan, Settings::new(), || {
    let driver = ready();
    // Small memory is filled, large memory is mapped; 40 GB of it cost nothing.
    for bytes in [64, 5 << 20, 40 << 30] {
        let address = allocate(&driver, bytes);
        for offset in [0, bytes / 3 / 8 * 8, bytes - 8] {
            let values: Vec<f64> = to_host(&driver, address + offset as u64, 1);
            assert!(values[0].is_nan(), "{} at {offset} of {bytes}", values[0]);
        }
        let halves: Vec<f32> = to_host(&driver, address, 2);
        assert!(halves.iter().all(|x| x.is_nan()));
        assert_eq!(driver.free(address), 0);
    }
});

scenario!(large_memory_keeps_what_is_written, Settings::new(), || {
    let driver = ready();
    let values: Vec<u32> = (0..20_000_000).collect();
    let address = to_device(&driver, &values);
    let copy = allocate(&driver, 80_000_000);
    assert_eq!(driver.copy(copy, address, 80_000_000), 0);
    assert_eq!(to_host::<u32>(&driver, copy, 20_000_000), values);
});

#[test]
fn calls_and_leaks_are_traced() {
    let name = concat!(module_path!(), "::calls_and_leaks_are_traced");
    // Parent and child know the same file.
    let file = std::env::temp_dir().join(format!("octopus-softgpu-trace-{}", std::process::id()));
    let settings = Settings::new().trace(&file).fail("cuMemAlloc_v2", 2).at_call(2);
    let output = Scenario::new(name, settings).run(|| {
        let driver = ready();
        allocate(&driver, 1_000);
        assert_eq!(driver.allocate(&mut 0, 5), 2);
        allocate(&driver, 24);
    });
    if must_succeed(output).is_none() {
        return;
    }
    let trace = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    assert_eq!(
        lines,
        [
            "cuInit 0",
            "cuDevicePrimaryCtxRetain 0",
            "cuCtxSetCurrent 0",
            "cuMemAlloc_v2 0 1000",
            "cuMemAlloc_v2 2",
            "cuMemAlloc_v2 0 24",
            "leak 0 2 allocations, 1024 bytes",
        ]
    );
}
