use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{Context, CudaError, Device, DeviceBuffer, DriverCode, Event, Kernels, PinnedBuffer, Stream};

on_software_gpu!(after_an_illegal_address_everything_returns_the_first_error, "sticky=700@2", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let (event, pinned) = (Event::new(&context).unwrap(), PinnedBuffer::<f64>::zeroed(&context, 10).unwrap());
    let mut buffer = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 1.0, &mut buffer).unwrap();
    let first = kernels.fill(&stream, 2.0, &mut buffer).and_then(|()| stream.synchronize()).unwrap_err();
    assert_eq!(first.code(), Some(DriverCode::ILLEGAL_ADDRESS));
    assert!(first.is_sticky());
    assert_eq!(
        first.to_string(),
        "launching array_fill_f64 (cuLaunchKernel) failed with 700 (CUDA_ERROR_ILLEGAL_ADDRESS): a kernel did \
         something illegal, and the device is lost to this process; start the program again, and please report it"
    );
    let device = *context.device();
    let later = [
        context.healthy(),
        context.synchronize(),
        context.memory_info().map(drop),
        stream.synchronize(),
        stream.is_idle().map(drop),
        stream.wait_for(&event),
        event.record(&stream),
        event.is_done().map(drop),
        event.synchronize(),
        buffer.to_vec().map(drop),
        buffer.set_zero(),
        buffer.copy_from(&[0.0; 10]),
        kernels.sum(&stream, &buffer).map(drop),
        Stream::new(&context).map(drop),
        Event::new(&context).map(drop),
        Kernels::load(&context).map(drop),
        DeviceBuffer::<f64>::zeroed(&context, 1).map(drop),
        // Even what needs no call.
        DeviceBuffer::<f64>::zeroed(&context, 0).map(drop),
        PinnedBuffer::<f64>::zeroed(&context, 0).map(drop),
        buffer.download(0..10, pinned, &stream).map(drop),
        Context::primary(&device).map(drop),
    ];
    for (number, result) in later.into_iter().enumerate() {
        assert_eq!(result.unwrap_err(), first, "{number}");
    }
    assert_eq!(context.healthy().unwrap_err(), first);
    assert_eq!(Context::primary(&device).unwrap_err(), first);
    // Another thread sees the same, and drops in any order.
    std::thread::spawn(move || {
        assert_eq!(buffer.to_vec().unwrap_err(), first);
        drop((context, buffer, stream, event, kernels));
        assert_eq!(Context::primary(&device).unwrap_err(), first, "the process remembers");
    })
    .join()
    .unwrap();
});

on_software_gpu!(a_device_lost_half_way_ends_every_call, "lost=60", {
    let work = || -> Result<(), CudaError> {
        let context = Context::primary(&Device::get(0)?)?;
        let (kernels, stream) = (Kernels::load(&context)?, Stream::new(&context)?);
        loop {
            let x = DeviceBuffer::from_slice(&context, &[1.0, 2.0])?;
            assert_eq!(kernels.sum(&stream, &x)?, 3.0, "never a wrong number");
        }
    };
    assert_eq!(work().unwrap_err().code(), Some(DriverCode::LAUNCH_FAILED));
    assert_eq!(work().unwrap_err().code(), Some(DriverCode::LAUNCH_FAILED));
});

on_software_gpu!(the_other_device_goes_on, "devices=2;fail=cuMemcpyDtoH_v2:719@1", {
    let [first, second] = [0, 1].map(|ordinal| Context::primary(&Device::get(ordinal).unwrap()).unwrap());
    let lost = DeviceBuffer::from_slice(&first, &[1.0]).unwrap();
    let error = lost.to_vec().unwrap_err();
    assert_eq!(error.code(), Some(DriverCode::LAUNCH_FAILED));
    assert_eq!(DeviceBuffer::from_slice(&first, &[1.0]).unwrap_err(), error);
    assert_eq!(DeviceBuffer::from_slice(&second, &[2.0]).unwrap().to_vec().unwrap(), [2.0]);
    drop(lost);
    assert_eq!(first.usage().device_bytes, 8, "memory of a lost context is left to the driver");
});

on_software_gpu!(memory_that_may_still_be_in_use_is_not_freed, "fail=cuCtxSynchronize:999@1", {
    let context = context();
    let buffer = DeviceBuffer::from_slice(&context, &[1.0]).unwrap();
    drop(buffer);
    assert_eq!(context.usage().device_bytes, 8, "the driver could not say that it is idle");
    drop(DeviceBuffer::from_slice(&context, &[1.0]).unwrap());
    assert_eq!(context.usage().device_bytes, 8);
});

on_software_gpu!(a_copy_in_the_background_that_fails_keeps_its_memory, "fail=cuEventSynchronize:700@1", {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut buffer = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let pinned = PinnedBuffer::zeroed(&context, 10).unwrap();
    let error = buffer.upload(0..10, pinned, &stream).unwrap().wait().unwrap_err();
    assert_eq!(error.code(), Some(DriverCode::ILLEGAL_ADDRESS));
    assert_eq!(context.usage().pinned_bytes, 80, "the device may still read it");
});
