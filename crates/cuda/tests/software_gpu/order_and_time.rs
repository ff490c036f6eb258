use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{CudaError, DeviceBuffer, DriverCode, Event, Kernels, Stream};
use std::time::Duration;

on_software_gpu!(events_give_the_devices_time, "", {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let (started, done) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    started.record(&stream).unwrap();
    let buffer = DeviceBuffer::<f64>::zeroed(&context, 1 << 20).unwrap();
    buffer.to_vec().unwrap();
    done.record(&stream).unwrap();
    done.synchronize().unwrap();
    assert!(done.is_done().unwrap() && stream.is_idle().unwrap());
    let time = done.elapsed_since(&started).unwrap();
    assert!(time > Duration::from_micros(10) && time < Duration::from_secs(60), "{time:?}");
    // The other way round is negative, which no duration is.
    assert_eq!(started.elapsed_since(&done).unwrap(), Duration::ZERO);
});

on_software_gpu!(measured_work_is_counted, "", {
    let context = context();
    let (stream, kernels) = (Stream::new(&context).unwrap(), Kernels::load(&context).unwrap());
    let mut buffer = DeviceBuffer::<f32>::zeroed(&context, 100_000).unwrap();
    let ((), time) = stream.measure(|stream| kernels.fill(stream, 2.0, &mut buffer)).unwrap();
    assert!(!time.is_zero());
    let usage = context.usage();
    assert_eq!((usage.launches, usage.measured_time), (1, time));
    // What fails inside is what comes out.
    let mut short = DeviceBuffer::<f32>::zeroed(&context, 1).unwrap();
    let error = stream.measure(|stream| kernels.copy(stream, &buffer, &mut short)).unwrap_err();
    assert!(matches!(error, CudaError::LengthMismatch { .. }));
    assert!(!kernels.load_time().is_zero());
});

on_software_gpu!(a_stream_waits_for_anothers_event, "", {
    let context = context();
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (kernels, event) = (Kernels::load(&context).unwrap(), Event::new(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let mut y = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&first, 3.0, &mut x).unwrap();
    event.record(&first).unwrap();
    second.wait_for(&event).unwrap();
    kernels.scale(&second, 2.0, &x, &mut y).unwrap();
    second.synchronize().unwrap();
    assert_eq!(y.to_vec().unwrap(), [6.0; 10]);
});

on_software_gpu!(work_that_is_not_done_yet_is_no_failure, "fail=cuEventQuery:600@1,cuStreamQuery:600@1", {
    let context = context();
    let (stream, event) = (Stream::new(&context).unwrap(), Event::new(&context).unwrap());
    assert_eq!((event.is_done(), stream.is_idle()), (Ok(false), Ok(false)));
    event.record(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((event.is_done(), stream.is_idle()), (Ok(true), Ok(true)));
});

on_software_gpu!(an_event_that_was_never_recorded_has_no_time, "fail=cuEventElapsedTime:400", {
    let context = context();
    let (first, second) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    assert_eq!(second.elapsed_since(&first).unwrap_err().code(), Some(DriverCode(400)));
});
