use crate::numbers::numbers;
use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{Context, CudaError, Device, DeviceBuffer, Element, PinnedBuffer};

fn round_trip<T: Element>(values: &[T]) {
    let context = context();
    for length in [0, 1, values.len()] {
        let mut buffer = DeviceBuffer::from_slice(&context, &values[..length]).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), values[..length]);
        assert_eq!(
            (buffer.len(), buffer.bytes(), buffer.is_empty()),
            (length, size_of_val(&values[..length]), length == 0)
        );
        buffer.set_zero().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), vec![T::default(); length]);
        buffer.copy_from(&values[..length]).unwrap();
        let mut back = vec![T::default(); length];
        buffer.copy_to(&mut back).unwrap();
        assert_eq!(back, values[..length]);
        let mut other = DeviceBuffer::zeroed(&context, length).unwrap();
        other.copy_from_device(&buffer).unwrap();
        assert_eq!(other.to_vec().unwrap(), values[..length]);
    }
}

on_software_gpu!(every_element_comes_back_as_it_went, "", {
    round_trip(&[0.5_f32, f32::MIN_POSITIVE, -0.0, f32::INFINITY]);
    round_trip(&numbers(1000));
    round_trip(&(0..=255_u8).collect::<Vec<_>>());
    round_trip(&[0_u32, 1, u32::MAX]);
    round_trip(&[i32::MIN, -1, 0, i32::MAX]);
    round_trip(&[0_u64, 1 << 40, u64::MAX]);
});

on_software_gpu!(parts_are_copied_within_their_bounds_only, "", {
    let context = context();
    let mut buffer = DeviceBuffer::from_slice(&context, &[1_u32, 2, 3, 4, 5]).unwrap();
    buffer.copy_range_from(1, &[20, 30]).unwrap();
    let mut part = [0; 3];
    buffer.copy_range_to(2, &mut part).unwrap();
    assert_eq!((part, buffer.to_vec().unwrap().as_slice()), ([30, 4, 5], &[1, 20, 30, 4, 5][..]));
    buffer.copy_range_from(3, &[8, 9]).unwrap();
    buffer.copy_range_from(5, &[]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1, 20, 30, 8, 9]);

    let outside =
        |result: Result<(), CudaError>| assert!(matches!(result, Err(CudaError::RangeOutside { .. })), "{result:?}");
    outside(buffer.copy_range_from(4, &[1, 2]));
    outside(buffer.copy_range_from(6, &[]));
    outside(buffer.copy_range_from(usize::MAX, &[1]));
    outside(buffer.copy_range_to(3, &mut part));
    let error = buffer.copy_range_to(3, &mut part).unwrap_err().to_string();
    assert_eq!(error, "copying from the device: elements 3..6 are not within the buffer's 5");

    let unequal =
        |result: Result<(), CudaError>| assert!(matches!(result, Err(CudaError::LengthMismatch { .. })), "{result:?}");
    unequal(buffer.copy_from(&[1]));
    unequal(buffer.copy_to(&mut part));
    unequal(buffer.copy_from_device(&DeviceBuffer::from_slice(&context, &[7_u32, 8, 9]).unwrap()));
    assert_eq!(buffer.to_vec().unwrap(), [1, 20, 30, 8, 9]);
});

on_software_gpu!(sizes_that_no_address_can_count_are_refused_before_the_driver_is_asked, "", {
    let context = context();
    for length in [usize::MAX, usize::MAX / 8 + 1, isize::MAX as usize / 8 + 1] {
        let error = DeviceBuffer::<f64>::zeroed(&context, length).unwrap_err();
        assert_eq!(error, CudaError::TooLarge { elements: length, element_bytes: 8 });
        assert!(error.is_out_of_memory());
        assert!(matches!(PinnedBuffer::<f64>::zeroed(&context, length), Err(CudaError::TooLarge { .. })));
    }
    assert_eq!(context.usage().device_bytes, 0);
});

on_software_gpu!(memory_of_two_devices_does_not_mix, "devices=2", {
    let contexts = [0, 1].map(|ordinal| Context::primary(&Device::get(ordinal).unwrap()).unwrap());
    let [mut first, second] =
        contexts.each_ref().map(|context| DeviceBuffer::from_slice(context, &[1.0, 2.0]).unwrap());
    let error = first.copy_from_device(&second).unwrap_err();
    assert_eq!(error.to_string(), "copying on the device: its arguments are on different devices; copy them to one");
    assert_eq!((first.to_vec().unwrap(), second.to_vec().unwrap()), (vec![1.0, 2.0], vec![1.0, 2.0]));
});

on_software_gpu!(memory_and_copies_are_counted, "", {
    let context = context();
    let first = DeviceBuffer::from_slice(&context, &[1.0_f64; 100]).unwrap();
    let second = DeviceBuffer::<f32>::zeroed(&context, 50).unwrap();
    drop(first);
    second.to_vec().unwrap();
    let pinned = PinnedBuffer::<u8>::zeroed(&context, 10).unwrap();
    let usage = context.usage();
    assert_eq!((usage.device_bytes, usage.peak_device_bytes), (200, 1000));
    assert_eq!((usage.uploaded_bytes, usage.downloaded_bytes), (800, 200));
    assert_eq!((usage.pinned_bytes, usage.peak_pinned_bytes), (10, 10));
    assert!(!usage.upload_time.is_zero() && !usage.download_time.is_zero());
    drop((second, pinned));
    context.reset_usage();
    assert_eq!(context.usage(), octopus_cuda::Usage::default());
});

on_software_gpu!(a_context_is_one_for_all_who_ask, "", {
    let (first, second) = (context(), context());
    let _buffer = DeviceBuffer::<u8>::zeroed(&first, 7).unwrap();
    assert_eq!(second.usage().device_bytes, 7);
    drop((first, second));
    // The buffer keeps the context.
    assert_eq!(context().usage().device_bytes, 7);
});
