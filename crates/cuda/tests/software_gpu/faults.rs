use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{
    Context, CudaError, Device, DeviceBuffer, DriverCode, Kernels, PTX, PinnedBuffer, Stream, driver_start,
    driver_version,
};

on_software_gpu!(a_code_that_nobody_lists_is_shown_as_it_came, "fail=cuInit:12345", {
    let error = driver_start().unwrap_err();
    assert_eq!(
        error.to_string(),
        "starting the driver (cuInit) failed with 12345 (not a code this program knows): see `octopus verify`, and the \
         kernel's log (`dmesg`) for Xid messages"
    );
    assert_eq!(driver_version().unwrap().to_string(), "12.4", "the version needs no start");
});

on_software_gpu!(no_device_is_absence, "devices=0", {
    let error = Device::all().unwrap_err();
    assert!(error.is_absence() && error.code() == Some(DriverCode::NO_DEVICE), "{error}");
});

on_software_gpu!(a_driver_of_another_version_is_not_absence, "fail=cuInit:803", {
    let error = driver_start().unwrap_err();
    assert!(!error.is_absence());
    assert_eq!(
        error.to_string(),
        "starting the driver (cuInit) failed with 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH): the kernel module and the \
         driver library are of different versions; reboot, or reinstall the driver"
    );
});

on_software_gpu!(a_start_that_failed_may_be_tried_again, "fail=cuInit:802@1", {
    assert_eq!(driver_start().unwrap_err().code(), Some(DriverCode::SYSTEM_NOT_READY));
    assert_eq!(driver_start().unwrap().devices, 1);
});

on_software_gpu!(
    every_early_call_may_fail,
    "fail=cuDeviceGetCount:999@2,cuDeviceGet:101@1,cuDevicePrimaryCtxRetain:46@1",
    {
        driver_start().unwrap();
        assert_eq!(Device::all().unwrap_err().code(), Some(DriverCode::UNKNOWN));
        assert_eq!(Device::get(0).unwrap_err().code(), Some(DriverCode(101)));
        let device = Device::get(0).unwrap();
        let error = Context::primary(&device).unwrap_err();
        assert_eq!(
            error.to_string(),
            "making a context on the device (cuDevicePrimaryCtxRetain) failed with 46 (CUDA_ERROR_DEVICE_UNAVAILABLE): \
         another process has the device, which is in exclusive compute mode; end it, or `nvidia-smi -c 0`"
        );
        Context::primary(&device).unwrap();
    }
);

on_software_gpu!(the_third_allocation_finds_no_memory, "total_mb=2048;free_mb=1024;fail=cuMemAlloc_v2:2@3", {
    let context = context();
    let _first = DeviceBuffer::<f64>::zeroed(&context, 1000).unwrap();
    let _second = DeviceBuffer::<f64>::zeroed(&context, 1000).unwrap();
    let error = DeviceBuffer::<f64>::zeroed(&context, 1 << 20).unwrap_err();
    let CudaError::OutOfMemory { requested, free, total } = error else { panic!("{error}") };
    assert_eq!((requested, total), (8 << 20, 2048 << 20));
    assert!(free > 1000 << 20 && free < 1024 << 20, "{free}");
    assert!(error.is_out_of_memory() && !error.is_sticky());
    assert_eq!(context.usage().device_bytes, 16_000, "what was not given is not counted");
    // The context is as good as before.
    DeviceBuffer::<f64>::zeroed(&context, 1 << 20).unwrap();
});

on_software_gpu!(more_than_there_is_finds_no_memory, "total_mb=2048;free_mb=1024", {
    let context = context();
    let error = DeviceBuffer::<u8>::zeroed(&context, 2 << 30).unwrap_err();
    assert_eq!(
        error.to_string(),
        "out of memory: 2.0 GiB asked for, 1.0 GiB of 2.0 GiB free on the device; use fewer chains or smaller batches, \
         or end what else uses the device"
    );
});

on_software_gpu!(pages_that_cannot_be_locked, "fail=cuMemAllocHost_v2:2@1", {
    let context = context();
    assert!(PinnedBuffer::<f64>::zeroed(&context, 100).unwrap_err().is_out_of_memory());
    assert_eq!(context.usage().pinned_bytes, 0);
    PinnedBuffer::<f64>::zeroed(&context, 100).unwrap();
});

on_software_gpu!(memory_that_ran_out_unasked_is_the_drivers_word, "fail=cuMemAlloc_v2:2,cuMemGetInfo_v2:999", {
    let error = DeviceBuffer::<f64>::zeroed(&context(), 100).unwrap_err();
    assert!(error.is_out_of_memory() && matches!(error, CudaError::Driver { .. }), "{error}");
});

on_software_gpu!(ptx_that_the_driver_refuses, "fail=cuModuleLoadDataEx:222@1", {
    let context = context();
    let error = Kernels::load(&context).unwrap_err();
    assert!(matches!(&error, CudaError::Ptx { code: DriverCode::UNSUPPORTED_PTX_VERSION, .. }), "{error}");
    assert!(
        error.to_string().starts_with(
            "the driver refused the kernels' PTX with 222 (CUDA_ERROR_UNSUPPORTED_PTX_VERSION): the driver is older \
             than the kernels; install one that supports CUDA 12.4 or newer"
        ),
        "{error}"
    );
    assert!(!error.is_sticky());
    Kernels::load(&context).unwrap();
});

on_software_gpu!(a_kernel_that_is_missing_is_named, "fail=cuModuleGetFunction:500@3", {
    let error = Kernels::load(&context()).unwrap_err();
    let CudaError::KernelMissing { kernel } = &error else { panic!("{error}") };
    assert!(PTX.contains(&format!(".entry {kernel}(")), "{kernel}");
});

on_software_gpu!(
    failures_that_lose_nothing_are_passed_on,
    "fail=cuMemcpyHtoD_v2:1@1,cuMemcpyDtoH_v2:1@1,cuMemsetD8_v2:1@1,cuStreamCreateWithPriority:1@1,cuEventCreate:1@1,\
     cuLaunchKernel:701@1",
    {
        let context = context();
        let code = |error: CudaError| error.code().map(|code| code.0);
        assert_eq!(code(DeviceBuffer::from_slice(&context, &[1.0]).unwrap_err()), Some(1));
        assert_eq!(code(DeviceBuffer::<f64>::zeroed(&context, 10).unwrap_err()), Some(1));
        assert_eq!(code(Stream::new(&context).unwrap_err()), Some(1));
        assert_eq!(context.usage().device_bytes, 0, "what could not be filled is freed");
        let mut buffer = DeviceBuffer::from_slice(&context, &[1.0]).unwrap();
        assert_eq!(code(buffer.to_vec().unwrap_err()), Some(1));
        let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
        assert_eq!(code(octopus_cuda::Event::new(&context).unwrap_err()), Some(1));
        let error = kernels.fill(&stream, 2.0, &mut buffer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "launching array_fill_f64 (cuLaunchKernel) failed with 701 (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES): the \
             kernel needs more registers or shared memory than the device has; use a smaller problem"
        );
        kernels.fill(&stream, 2.0, &mut buffer).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2.0]);
    }
);
