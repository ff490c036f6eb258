use crate::numbers::numbers;
use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{CudaError, DeviceBuffer, PinnedBuffer, Stream};

on_software_gpu!(pinned_memory_is_a_slice_of_zeros, "", {
    let context = context();
    let mut pinned = PinnedBuffer::<f64>::zeroed(&context, 5).unwrap();
    assert_eq!(pinned[..], [0.0; 5]);
    assert_eq!(pinned.as_ptr().align_offset(align_of::<f64>()), 0);
    pinned[2] = 1.5;
    assert_eq!(pinned.iter().sum::<f64>(), 1.5);
    assert!(PinnedBuffer::<u64>::zeroed(&context, 0).unwrap().is_empty());
});

on_software_gpu!(copies_in_the_background_bring_the_same_numbers, "", {
    let context = context();
    let (stream, values) = (Stream::new(&context).unwrap(), numbers(10_000));
    let mut buffer = DeviceBuffer::zeroed(&context, values.len()).unwrap();
    let pinned = PinnedBuffer::from_slice(&context, &values).unwrap();
    let pinned = buffer.upload(0..values.len(), pinned, &stream).unwrap().wait().unwrap();
    assert_eq!((&pinned[..], buffer.to_vec().unwrap()), (&values[..], values.clone()));

    // A part, into the front of a longer buffer.
    let target = PinnedBuffer::zeroed(&context, 20).unwrap();
    let transfer = buffer.download(100..110, target, &stream).unwrap();
    while !transfer.is_done().unwrap() {
        std::thread::yield_now();
    }
    let target = transfer.wait().unwrap();
    assert_eq!((&target[..10], &target[10..]), (&values[100..110], &[0.0; 10][..]));

    let usage = context.usage();
    assert_eq!((usage.uploaded_bytes, usage.downloaded_bytes), (80_000, 80_000 + 80));
});

on_software_gpu!(transfers_that_do_not_fit_are_refused, "", {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut buffer = DeviceBuffer::<f32>::zeroed(&context, 10).unwrap();
    let pinned = |length| PinnedBuffer::<f32>::zeroed(&context, length).unwrap();
    let error = buffer.upload(0..11, pinned(20), &stream).unwrap_err();
    assert!(matches!(error, CudaError::RangeOutside { start: 0, end: 11, length: 10, .. }), "{error}");
    #[allow(clippy::reversed_empty_ranges)]
    let error = buffer.upload(2..1, pinned(20), &stream).unwrap_err();
    assert!(matches!(error, CudaError::RangeOutside { start: 2, end: 1, .. }), "{error}");
    let error = buffer.download(0..10, pinned(9), &stream).unwrap_err();
    assert!(matches!(error, CudaError::LengthMismatch { expected: 10, found: 9, .. }), "{error}");
    // Nothing to copy is no mistake.
    assert!(buffer.upload(10..10, pinned(0), &stream).unwrap().wait().unwrap().is_empty());
    assert_eq!(context.usage().pinned_bytes, 0, "refused buffers are freed");
});

on_software_gpu!(a_transfer_dropped_or_forgotten_does_no_harm, "", {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut buffer = DeviceBuffer::<u64>::zeroed(&context, 1000).unwrap();
    let pinned = || PinnedBuffer::from_slice(&context, &[7_u64; 1000]).unwrap();
    drop(buffer.upload(0..1000, pinned(), &stream).unwrap());
    assert_eq!(context.usage().pinned_bytes, 0);
    std::mem::forget(buffer.upload(0..1000, pinned(), &stream).unwrap());
    assert_eq!(context.usage().pinned_bytes, 8000, "forgotten memory is never freed");
    assert_eq!(buffer.to_vec().unwrap(), [7; 1000]);
    drop(buffer);
    assert_eq!(context.usage().device_bytes, 0);
});
