//! What a device did when: each kernel and each copy once, in order, and nothing unless it is asked for.

use crate::calls::{calls, with_trace};
use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{
    DeviceBuffer, DeviceWork, DeviceWorkKind, Kernels, PinnedBuffer, Stream, record_device_work, take_device_work,
};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Kernels on two streams, and copies of each kind, with their results.
fn work() -> Vec<f64> {
    let context = context();
    let (kernels, stream, other) =
        (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = DeviceBuffer::from_slice(&context, &[1.5; 10]).unwrap();
    let mut y = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    for _ in 0..20 {
        kernels.scale(&stream, 2.0, &x, &mut y).unwrap();
        stream.synchronize().unwrap();
        kernels.fill(&other, 0.25, &mut x).unwrap();
        other.synchronize().unwrap();
    }
    x.copy_from_device(&y).unwrap();
    let pinned = PinnedBuffer::from_slice(&context, &[7.0; 4]).unwrap();
    let pinned = x.upload(0..4, pinned, &stream).unwrap().wait().unwrap();
    // One that nobody waits for.
    drop(x.download(0..3, pinned, &stream).unwrap());
    // Copies of nothing are none.
    x.copy_range_from(0, &[]).unwrap();
    x.to_vec().unwrap()
}

fn launches() -> usize {
    calls("cuLaunchKernel") + calls("cuLaunchCooperativeKernel")
}

/// By the driver's functions for copies that this crate calls.
fn copies() -> usize {
    ["cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"]
        .into_iter()
        .map(calls)
        .sum()
}

fn is_kernel(work: &&DeviceWork) -> bool {
    work.kind == DeviceWorkKind::Kernel
}

with_trace!(each_kernel_and_each_copy_is_recorded_once_where_that_is_asked_for, {
    let numbers = work();
    assert_eq!((take_device_work(), launches(), copies()), (vec![], 40, 5));
    let (before, began) = ((launches(), copies(), calls("cuEventRecord")), Instant::now());
    record_device_work(true);
    assert_eq!(work(), numbers);
    record_device_work(false);
    let (recorded, ended) = (take_device_work(), Instant::now());
    let kernels: Vec<&DeviceWork> = recorded.iter().filter(is_kernel).collect();
    assert_eq!(kernels.len(), launches() - before.0);
    assert_eq!(recorded.len() - kernels.len(), copies() - before.1);
    let names: Vec<&str> = kernels.iter().map(|kernel| &*kernel.name).collect();
    assert_eq!(names, ["array_scale_f64", "array_fill_f64"].repeat(20));
    let copied: Vec<(&str, DeviceWorkKind)> =
        recorded.iter().filter(|work| !is_kernel(work)).map(|work| (&*work.name, work.kind)).collect();
    let of = |bytes| DeviceWorkKind::Copy { bytes };
    let (to, from) = ("copy to the device", "copy from the device");
    assert_eq!(
        copied,
        [(to, of(80)), ("copy on the device", of(80)), (to, of(32)), (from, of(24)), (from, of(80))],
        "of all, in the order of their calls"
    );
    // Within the time of the work, and one after the other in each stream.
    let mut ends: HashMap<u64, Instant> = HashMap::new();
    for work in &recorded {
        let end = work.begin + work.duration;
        assert!(began <= work.begin && end <= ended && !work.duration.is_zero(), "{work:?}");
        let last = ends.insert(work.stream, end);
        assert!(last.is_none_or(|last| last <= work.begin), "{work:?}");
    }
    // The default stream, in which copies are made that are done at once, and two others.
    assert!(ends.len() == 3 && ends.contains_key(&0), "{ends:?}");
    // Once more without: nothing is left, and each call is one that there was before.
    let (events, own) = (calls("cuEventRecord"), before.2);
    assert_eq!(work(), numbers);
    assert_eq!((take_device_work(), calls("cuEventRecord") - events), (vec![], own));
});

// Time goes on while a program works, and the driver's numbers for it are short.
on_software_gpu!(times_stay_exact_when_much_time_has_passed, "", {
    record_device_work(true);
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let mut began = Vec::new();
    for pause in [0, 600, 600, 600] {
        std::thread::sleep(Duration::from_millis(pause));
        began.push(Instant::now());
        kernels.fill(&stream, 3.0, &mut x).unwrap();
        stream.synchronize().unwrap();
    }
    let recorded = take_device_work();
    assert_eq!(recorded.len(), 4);
    for (work, began) in recorded.iter().zip(began) {
        // The host is slow to look at its clock on a busy machine, and never early.
        assert!(work.begin >= began && work.begin.duration_since(began) < Duration::from_millis(300), "{work:?}");
    }
});

on_software_gpu!(what_is_not_done_comes_later, "late=4", {
    record_device_work(true);
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    kernels.fill(&stream, 3.0, &mut x).unwrap();
    let early = take_device_work();
    stream.synchronize().unwrap();
    kernels.fill(&stream, 4.0, &mut x).unwrap();
    // The end of the context waits for what is left.
    drop((x, kernels, stream, context));
    let names: Vec<_> = early.into_iter().chain(take_device_work()).map(|work| work.name).collect();
    assert_eq!(names, ["array_fill_f64"; 2]);
});

on_software_gpu!(a_lost_device_leaves_what_it_had_done, "sticky=700@3", {
    record_device_work(true);
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let mut x = DeviceBuffer::<f64>::zeroed(&context, 10).unwrap();
    let mut fill = || kernels.fill(&stream, 3.0, &mut x).and_then(|()| stream.synchronize());
    assert_eq!((fill(), fill()), (Ok(()), Ok(())));
    let lost = fill().unwrap_err();
    assert!(lost.is_sticky() && fill().unwrap_err() == lost, "{lost}");
    assert_eq!(take_device_work().len(), 2);
});

on_software_gpu!(an_event_that_cannot_be_recorded_is_a_gap, "fail=cuEventRecord:999@4", {
    record_device_work(true);
    // The first is the anchor, then come two for each piece of work.
    work();
    assert_eq!(take_device_work().len(), 44);
});
