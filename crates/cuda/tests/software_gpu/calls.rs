//! How many calls of the driver the host makes: none without a reason.

use crate::scenario::context;
use octopus_cuda::{DeviceBuffer, Kernels, PinnedBuffer, Stream};
use std::path::PathBuf;

/// As `on_software_gpu`, on a double that writes down all calls.
macro_rules! with_trace {
    ($name:ident, $body:block) => {
        #[test]
        fn $name() {
            let file =
                std::env::temp_dir().join(format!("octopus-cuda-calls-{}-{}", stringify!($name), std::process::id()));
            let settings = format!("trace={}", file.display());
            $crate::scenario::run(concat!(module_path!(), "::", stringify!($name)), &settings, || $body);
            let _ = std::fs::remove_file(file);
        }
    };
}

pub(crate) use with_trace;

/// The calls of a function so far, in the process that runs the body.
pub(crate) fn calls(function: &str) -> usize {
    let settings = std::env::var("OCTOPUS_SOFTGPU").expect("there are settings");
    let file = settings.split(';').find_map(|setting| setting.strip_prefix("trace=")).expect("there is a trace");
    let trace = std::fs::read_to_string(PathBuf::from(file)).expect("it can be read");
    trace.lines().filter(|line| line.split(' ').next() == Some(function)).count()
}

with_trace!(a_copy_waits_only_where_something_was_queued, {
    let (context, waits) = (context(), || calls("cuCtxSynchronize"));
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let mut buffer = DeviceBuffer::<f64>::unfilled(&context, 10).unwrap();
    assert_eq!(waits(), 0);
    for start in 0..5 {
        buffer.copy_range_from(2 * start, &[start as f64, 0.5]).unwrap();
    }
    assert_eq!(buffer.to_vec().unwrap()[..4], [0.0, 0.5, 1.0, 0.5]);
    assert_eq!(waits(), 0, "nothing was queued");
    // A kernel, a fill, a copy on the device, and one in the background: whoever copies next waits, and no other.
    let mut other = DeviceBuffer::<f64>::unfilled(&context, 10).unwrap();
    let mut expect_one = |what: &str| {
        let before = waits();
        buffer.copy_range_from(0, &[1.0]).unwrap();
        assert_eq!(waits(), before + 1, "{what}");
        buffer.copy_range_from(0, &[2.0]).unwrap();
        buffer.copy_range_to(0, &mut [0.0; 3]).unwrap();
        assert_eq!(waits(), before + 1, "{what}, and again");
    };
    kernels.fill(&stream, 3.0, &mut other).unwrap();
    expect_one("a kernel");
    other.set_zero().unwrap();
    expect_one("a fill");
    let third = DeviceBuffer::<f64>::from_slice(&context, &[7.0; 10]).unwrap();
    other.copy_from_device(&third).unwrap();
    expect_one("a copy on the device");
    let pinned = PinnedBuffer::zeroed(&context, 10).unwrap();
    let pinned = other.download(0..10, pinned, &stream).unwrap().wait().unwrap();
    assert_eq!(pinned[..], [7.0; 10]);
    expect_one("a copy in the background");
    // Memory goes back only after a wait, whatever was queued.
    let before = waits();
    drop(third);
    assert_eq!(waits(), before + 1);
});

with_trace!(copies_in_the_background_use_their_events_again, {
    let events = || (calls("cuEventCreate"), calls("cuEventDestroy_v2"));
    {
        let context = context();
        let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
        let mut buffer = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
        let mut pinned = PinnedBuffer::from_slice(&context, &[1.5; 10]).unwrap();
        for _ in 0..5 {
            pinned = buffer.upload(0..10, pinned, &stream).unwrap().wait().unwrap();
        }
        assert_eq!(events(), (2, 0));
        // What is timed by `measure` takes the same.
        let ((), time) = stream.measure(|stream| kernels.fill(stream, 2.5, &mut buffer)).unwrap();
        assert!(!time.is_zero());
        assert_eq!(events(), (2, 0));
        // Two at a time need two pairs, and one that is not waited for gives its own back.
        let first = buffer.download(0..5, PinnedBuffer::zeroed(&context, 5).unwrap(), &stream).unwrap();
        let second = buffer.download(5..10, PinnedBuffer::zeroed(&context, 5).unwrap(), &stream).unwrap();
        drop(first);
        assert_eq!(second.wait().unwrap()[..], [2.5; 5]);
        assert_eq!(events(), (4, 0));
        let pinned = buffer.download(0..10, pinned, &stream).unwrap().wait().unwrap();
        assert_eq!((&pinned[..], events()), (&[2.5; 10][..], (4, 0)));
        assert!(!context.usage().download_time.is_zero() && !context.usage().upload_time.is_zero());
    }
    // They end with their context.
    assert_eq!(events(), (4, 4));
});
