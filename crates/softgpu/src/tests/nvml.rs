//! NVML's double tells of the same machine as the driver's.

use super::scenario::scenario;
use super::session::{allocate, nvml, ready};
use crate::Settings;
use crate::ffi::{Double, Handle, text};
use std::ffi::c_char;

fn text_of(ask: impl FnOnce(*mut c_char, u32) -> i32) -> String {
    let mut buffer = [0 as c_char; 96];
    assert_eq!(ask(buffer.as_mut_ptr(), 96), 0);
    text(buffer.as_ptr())
}

/// NVML and its device 0.
fn started() -> (Double, Handle) {
    let nvml = nvml();
    assert_eq!(nvml.nvml_init(), 0);
    let mut device = 0;
    assert_eq!(nvml.nvml_device(0, &mut device), 0);
    (nvml, device)
}

scenario!(both_tell_of_one_machine, Settings::new().memory(1_000, 900).version("560.1"), || {
    let driver = ready();
    let (nvml, device) = started();
    assert_eq!(text_of(|text, length| nvml.nvml_name(device, text, length)), "Octopus software GPU (test double)");
    let uuid = text_of(|text, length| nvml.nvml_uuid(device, text, length));
    let mut bytes = [0; 16];
    assert_eq!(driver.device_uuid(&mut bytes, 0), 0);
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(uuid.replace('-', ""), format!("GPU{digits}"));
    assert_eq!(text_of(|text, length| nvml.nvml_driver_version(text, length)), "560.1");
    assert_eq!(nvml.nvml_driver_version([0; 3].as_mut_ptr(), 3), 7);
    // Version word, total, reserved, free, used.
    let mut memory = [0; 5];
    assert_eq!(nvml.nvml_memory(device, &mut memory), 0);
    assert_eq!(memory[1..], [1_000 << 20, 0, 900 << 20, 100 << 20]);
    allocate(&driver, 10 << 20);
    assert_eq!(nvml.nvml_memory(device, &mut memory), 0);
    assert_eq!(memory[1..], [1_000 << 20, 0, 890 << 20, 110 << 20]);
});

scenario!(nothing_works_before_the_start_and_after_the_end, Settings::new(), || {
    let nvml = nvml();
    assert_eq!(nvml.nvml_count(&mut 0), 1);
    assert_eq!(nvml.nvml_shutdown(), 1);
    assert_eq!(
        (nvml.nvml_init(), nvml.nvml_count(&mut 0), nvml.nvml_shutdown(), nvml.nvml_count(&mut 0)),
        (0, 0, 0, 1)
    );
});

scenario!(handles_are_checked, Settings::new().devices(2), || {
    let (nvml, device) = started();
    assert_eq!(nvml.nvml_device(2, &mut 0), 2);
    assert_eq!(nvml.nvml_throttle(0, &mut 0), 2);
    let mut other = 0;
    assert_eq!((nvml.nvml_device(1, &mut other), nvml.nvml_throttle(other, &mut 0)), (0, 0));
    assert_ne!(device, other);
});

scenario!(mig_is_not_supported_everywhere, Settings::new().compute_capability(8, 6), || {
    let (nvml, device) = started();
    assert_eq!(nvml.nvml_mig(device, &mut 0, &mut 0), 3);
});

scenario!(mig_can_be_off, Settings::new().compute_capability(9, 0), || {
    let (nvml, device) = started();
    let (mut current, mut pending) = (9, 9);
    assert_eq!((nvml.nvml_mig(device, &mut current, &mut pending), current, pending), (0, 0, 0));
});

scenario!(
    a_busy_machine,
    Settings::new().mig(true).compute_mode(3).processes(3).temperature(88).throttle(0x40),
    || {
        let (nvml, device) = started();
        let (mut current, mut pending) = (9, 9);
        assert_eq!((nvml.nvml_mig(device, &mut current, &mut pending), current, pending), (0, 1, 1));
        let mut mode = 0;
        assert_eq!((nvml.nvml_compute_mode(device, &mut mode), mode), (0, 3));
        let mut celsius = 0;
        assert_eq!((nvml.nvml_temperature(device, 0, &mut celsius), celsius), (0, 88));
        let mut reasons = 0;
        assert_eq!((nvml.nvml_throttle(device, &mut reasons), reasons), (0, 0x40));
        let mut count = 0;
        assert_eq!((nvml.nvml_processes(device, &mut count, std::ptr::null_mut()), count), (7, 3));
        let mut list = [0_u64; 3 * 4];
        count = 4;
        assert_eq!((nvml.nvml_processes(device, &mut count, list.as_mut_ptr().cast()), count), (0, 3));
        // pid, memory in bytes, and two instances that are none.
        assert_eq!(list[..3], [4001, 300 << 20, u64::MAX]);
    }
);

macro_rules! refused {
    ($($name:ident: $code:literal;)*) => { $(
        scenario!($name, Settings::new().fail("nvmlInit_v2", $code), || {
            let nvml = nvml();
            assert_eq!((nvml.nvml_init(), nvml.nvml_count(&mut 0)), ($code, 1));
        });
    )* };
}

refused! {
    not_permitted: 4;
    driver_not_loaded: 9;
    versions_differ: 18;
}

scenario!(all_that_the_wrapper_asks_of_a_device_is_there, Settings::new(), || {
    let nvml = nvml();
    let names = "nvmlSystemGetCudaDriverVersion_v2 nvmlSystemGetNVMLVersion nvmlDeviceGetHandleByUUID nvmlDeviceGetPciInfo_v3 \
        nvmlDeviceGetCudaComputeCapability nvmlDeviceGetNumGpuCores nvmlDeviceGetClockInfo nvmlDeviceGetMaxClockInfo \
        nvmlDeviceGetPowerUsage nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetEccMode nvmlDeviceGetPersistenceMode \
        nvmlDeviceGetPerformanceState nvmlDeviceGetUtilizationRates nvmlDeviceGetMemoryInfo nvmlDeviceGetIndex \
        nvmlDeviceGetGraphicsRunningProcesses_v3 nvmlDeviceGetTemperatureThreshold nvmlErrorString";
    let missing: Vec<&str> = names.split_whitespace().filter(|name| !nvml.has(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
});
