use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{CudaError, CudaVersion, Device, DeviceAttribute, driver_start, driver_version};

on_software_gpu!(a_device_is_described, "devices=2;cc=8.6;sms=84;total_mb=48685", {
    let start = driver_start().unwrap();
    assert_eq!((start.cuda_version, start.devices), (CudaVersion { major: 12, minor: 4 }, 2));
    let devices = Device::all().unwrap();
    assert_eq!(devices.iter().map(Device::ordinal).collect::<Vec<_>>(), [0, 1]);
    let device = &devices[0];
    assert_eq!(device.name().unwrap(), "Octopus software GPU (test double)");
    assert_eq!(device.compute_capability().unwrap(), CudaVersion { major: 8, minor: 6 });
    assert_eq!((device.multiprocessors().unwrap(), device.total_memory().unwrap()), (84, 48685 << 20));
    assert_ne!(device.uuid().unwrap(), devices[1].uuid().unwrap());
    assert!(device.uuid().unwrap().to_string().starts_with("GPU-"));
    assert_eq!(device.pci_bus_id().unwrap().matches([':', '.']).count(), 3, "{:?}", device.pci_bus_id());
    assert!(device.attribute(DeviceAttribute::ClockKilohertz).unwrap() > 0);
    assert_eq!(device.attribute(DeviceAttribute::ComputeMode).unwrap(), 0);
});

on_software_gpu!(a_device_that_is_not_there_is_an_error_with_the_count, "devices=2", {
    assert_eq!(Device::get(2).unwrap_err(), CudaError::DeviceMissing { ordinal: 2, count: 2 });
    let words = Device::get(u32::MAX).unwrap_err().to_string();
    assert_eq!(
        words,
        "there is no CUDA device 4294967295: the driver shows 2, counted from 0; see `octopus device list`"
    );
});

on_software_gpu!(an_old_driver_tells_its_version, "driver=11040", {
    assert_eq!(driver_version().unwrap().to_string(), "11.4");
});

on_software_gpu!(a_driver_that_answers_302_does_not_lack_the_function, "fail=cuDeviceGetUuid_v2:302", {
    let error = Device::get(0).unwrap().uuid().unwrap_err();
    assert!(matches!(error, CudaError::Driver { .. }), "{error}");
});

on_software_gpu!(free_memory_falls_with_what_is_taken, "total_mb=1000;free_mb=900", {
    let context = context();
    let before = context.memory_info().unwrap();
    let buffer = octopus_cuda::DeviceBuffer::<u8>::zeroed(&context, 100 << 20).unwrap();
    let after = context.memory_info().unwrap();
    assert_eq!((before.total, before.free - after.free), (1000 << 20, 100 << 20));
    drop(buffer);
    assert_eq!(context.memory_info().unwrap(), before);
});
