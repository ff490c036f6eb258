//! On a device that does nothing before it must, what was queued has all that it needs until it is done.

use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{DeviceBuffer, Kernels, PinnedBuffer, Stream};

on_software_gpu!(buffers_live_until_kernels_have_read_them, "late=4", {
    let context = context();
    let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
    let mut y = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 3.0, &mut x).unwrap();
    stream.synchronize().unwrap();
    kernels.scale(&stream, 2.0, &x, &mut y).unwrap();
    drop(x);
    assert_eq!(y.to_vec().unwrap(), [6.0; 10]);
});

on_software_gpu!(kernels_come_behind_what_was_cleared_and_copied_before, "late=4", {
    let context = context();
    let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 3.0, &mut x).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(x.to_vec().unwrap(), [3.0; 10]);
    x.copy_from(&[4.0; 10]).unwrap();
    let mut y = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.scale(&stream, 2.0, &x, &mut y).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(y.to_vec().unwrap(), [8.0; 10]);
});

on_software_gpu!(kernels_stay_until_they_have_run, "late=4", {
    let context = context();
    let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 3.0, &mut x).unwrap();
    drop(kernels);
    assert_eq!(x.to_vec().unwrap(), [3.0; 10]);
});

on_software_gpu!(page_locked_memory_lives_until_it_is_copied, "late=4", {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let host = PinnedBuffer::from_slice(&context, &[4.0; 10]).unwrap();
    drop(x.upload(0..10, host, &stream).unwrap());
    assert_eq!(x.to_vec().unwrap(), [4.0; 10]);
});

on_software_gpu!(what_was_copied_is_there_after_the_wait, "late=4", {
    let context = context();
    let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let host = PinnedBuffer::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 5.0, &mut x).unwrap();
    let copy = x.download(0..10, host, &stream).unwrap();
    assert_eq!(*copy.wait().unwrap(), [5.0; 10]);
    let ((), time) = stream.measure(|stream| kernels.fill(stream, 6.0, &mut x)).unwrap();
    assert!(!time.is_zero());
});
