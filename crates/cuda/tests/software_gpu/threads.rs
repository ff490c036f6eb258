use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{Context, CudaError, Device, DeviceBuffer, Event, Kernels, PinnedBuffer, Stream, Transfer};

/// What crosses threads and is shared by them: checked by the compiler.
#[test]
fn everything_may_cross_threads() {
    fn both<T: Send + Sync>() {}
    both::<(Device, Context, Stream, Event, Kernels, CudaError)>();
    both::<(DeviceBuffer<f64>, PinnedBuffer<f64>, Transfer<f64>)>();
}

on_software_gpu!(threads_share_a_context_and_its_kernels, "", {
    let context = context();
    let kernels = Kernels::load(&context).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (context, kernels) = (&context, &kernels);
            scope.spawn(move || {
                let stream = Stream::new(context).unwrap();
                for round in 0..10 {
                    let values: Vec<f64> = (0..500).map(|i| f64::from(i * thread + round)).collect();
                    let x = DeviceBuffer::from_slice(context, &values).unwrap();
                    let mut y = DeviceBuffer::zeroed(context, values.len()).unwrap();
                    kernels.add(&stream, &x, &x, &mut y).unwrap();
                    let doubled: Vec<f64> = values.iter().map(|value| value + value).collect();
                    assert_eq!(y.to_vec().unwrap(), doubled);
                }
            });
        }
    });
    let usage = context.usage();
    assert_eq!((usage.launches, usage.device_bytes), (80, 0));
    assert!(usage.peak_device_bytes >= 8000 && usage.peak_device_bytes <= 8 * 8000, "{usage:?}");
});

on_software_gpu!(things_may_be_dropped_on_another_thread, "", {
    let context = context();
    let buffer = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let stream = Stream::new(&context).unwrap();
    std::thread::spawn(move || {
        assert_eq!(buffer.to_vec().unwrap(), [0.0; 10]);
        drop((buffer, stream));
    })
    .join()
    .unwrap();
    assert_eq!(context.usage().device_bytes, 0);
});
