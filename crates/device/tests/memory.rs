//! The memory planner's arithmetic, and falling back when memory does not suffice after all.

mod software_gpu;

use octopus_device::fallback::{Failure, FallbackError, FallbackPlan, FallbackPolicy, FallbackStep, run};
use octopus_device::{
    Array, ArrayError, Device, DeviceMemory, Engine, MemoryPlan, MemoryPlanError, Precision, RunShape,
};
use std::ops::Range;

const A6000: DeviceMemory = DeviceMemory { free: 47 << 30, total: 48 << 30 };
const GPU: Device = Device::Cuda(0);

fn shape() -> RunShape {
    RunShape {
        chains: 1000,
        dim: 103,
        max_depth: 10,
        draws_in_flight: 16,
        draw_buffers: 2,
        precision: Precision::F64,
        data_bytes: 80_000,
    }
}

/// The table of the module, with a pencil: 103 coordinates are 4 rows of 32 lanes, V = 8 * 128 = 1024 bytes.
#[test]
fn the_parts_are_those_of_the_table() {
    let plan = MemoryPlan::new(shape(), A6000).unwrap();
    let parts: Vec<_> = plan.chain_parts.iter().map(|part| (part.name.as_str(), part.bytes)).collect();
    assert_eq!(
        parts,
        [
            ("state", 2048),
            ("trajectory", 8192),
            ("proposals", 4096),
            ("checkpoints", 20_480),
            ("adaptation", 1024 + 16 * 103),
            ("draws", 2 * 16 * (8 * 103 + 72)),
            ("scalars", 256),
        ]
    );
    assert_eq!(plan.chain_bytes, 66_416);
    assert_eq!(plan.fixed_bytes, 80_000 + 2048);
    assert_eq!(plan.total_bytes, Some(66_416_000 + 82_048));
    assert_eq!(plan.reserve_bytes, (48 << 30) / 20);
    assert_eq!(plan.largest_batch, ((47 << 30) - (48 << 30) / 20 - 82_048) / 66_416);
    assert!(plan.fits());
    // Wider vectors beyond 256 coordinates: 257 are 3 rows of 128 lanes.
    let wide = MemoryPlan::new(RunShape { dim: 257, precision: Precision::F32, ..shape() }, A6000).unwrap();
    assert_eq!(wide.chain_parts[0].bytes, 2 * 4 * 384);
}

#[test]
fn the_largest_batch_fits_and_one_more_does_not() {
    let mut state = 12345_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) % limit
    };
    for _ in 0..2000 {
        let shape = RunShape {
            chains: below(1 << 20),
            dim: below(5000),
            max_depth: below(12),
            draws_in_flight: below(64),
            draw_buffers: below(3),
            precision: if below(2) == 1 { Precision::F32 } else { Precision::F64 },
            data_bytes: below(1 << 30),
        };
        let total = below(80 << 30) + (1 << 30);
        let memory = DeviceMemory { free: below(total), total };
        let plan = MemoryPlan::new(shape, memory).unwrap();
        let taken = |chains: u64| plan.fixed_bytes + chains * plan.chain_bytes + plan.reserve_bytes;
        assert!(plan.largest_batch == 0 || taken(plan.largest_batch) <= memory.free, "{plan:?}");
        assert!(taken(plan.largest_batch + 1) > memory.free, "{plan:?}");
        if let Some(batches) = plan.batches() {
            assert!(batches * plan.largest_batch >= shape.chains && (batches - 1) * plan.largest_batch < shape.chains);
            assert_eq!(plan.fits(), batches == 1);
        }
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_and_nothing_overflows() {
    let refuse = |shape| MemoryPlan::new(shape, A6000).unwrap_err();
    assert_eq!(refuse(RunShape { chains: 0, ..shape() }).to_string(), "chains is 0: it must be 1 or more");
    assert_eq!(refuse(RunShape { dim: 0, ..shape() }), MemoryPlanError::Zero { field: "dim" });
    for too_large in [
        RunShape { dim: u64::MAX, ..shape() },
        RunShape { dim: u64::MAX / 8, ..shape() },
        RunShape { max_depth: u64::MAX, ..shape() },
        RunShape { draws_in_flight: u64::MAX / 2, ..shape() },
        RunShape { draw_buffers: u64::MAX, ..shape() },
    ] {
        assert!(matches!(refuse(too_large), MemoryPlanError::TooLarge { .. }), "{too_large:?}");
    }
    let data = RunShape { data_bytes: u64::MAX, ..shape() };
    assert!(matches!(refuse(data), MemoryPlanError::TooLarge { part: "shared", .. }));
    let misread = DeviceMemory { free: 2, total: 1 };
    assert!(MemoryPlan::new(shape(), misread).is_err());
    // Chains alone do not overflow: they go in batches.
    let many = MemoryPlan::new(RunShape { chains: u64::MAX, ..shape() }, A6000).unwrap();
    assert_eq!((many.total_bytes, many.fits()), (None, false));
    assert!(many.batches().unwrap() > 1);
}

#[test]
fn the_text_says_all_and_what_to_do_about_it_follows() {
    let plan = MemoryPlan::new(shape(), DeviceMemory { free: 300 << 20, total: 4 << 30 }).unwrap();
    let text = plan.to_string();
    assert_eq!(
        text,
        "1000 chains of 103 coordinates in f64
  state                       2048 bytes
  trajectory                  8192 bytes
  proposals                   4096 bytes
  checkpoints                20480 bytes
  adaptation                  2672 bytes
  draws                      28672 bytes
  scalars                      256 bytes
  one chain                  66416 bytes
  data                       80000 bytes
  shared                      2048 bytes
  the run                 66498048 bytes (63 MiB)
  300 MiB free of 4.0 GiB, 256 MiB of it left alone
  2 batches of up to 693 chains"
    );
    let none = MemoryPlan::new(shape(), DeviceMemory { free: 1 << 20, total: 4 << 30 }).unwrap();
    assert!(none.batches().is_none() && none.to_string().ends_with("not even one chain fits"));
}

/// Some work on items of 8 KiB each, on any device: the sum of the items' numbers.
fn work(device: Device, items: Range<u64>) -> Result<f64, ArrayError> {
    let numbers: Vec<f64> = items.flat_map(|item| (0..1024).map(move |i| (item * 1024 + i) as f64)).collect();
    let x = Array::on(device, &numbers)?;
    // A second array of the same size, as work has.
    x.scale(0.5)?.sum()
}

#[test]
fn injected_failures_of_allocation_halve_the_batches() {
    // The first two allocations are the first attempt's, and the second of them fails.
    software_gpu::run("injected_failures_of_allocation_halve_the_batches", "devices=1;fail=cuMemAlloc_v2:2@2", || {
        let mut said = vec![];
        let done = run(&FallbackPlan::new(GPU), 10, |step| said.push(step.to_string()), work).unwrap();
        assert_eq!(done.batches.iter().map(|batch| batch.items.clone()).collect::<Vec<_>>(), [0..5, 5..10]);
        assert!(done.batches.iter().all(|batch| batch.device == GPU));
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("cuda:0: 10 at once is too much, going on with 5 at once (cuda:0: "),
            "{}",
            said[0]
        );
        assert!(said[0].contains("out of memory"), "{}", said[0]);
        let on_cpu = work(Device::Cpu, 0..5).unwrap() + work(Device::Cpu, 5..10).unwrap();
        assert_eq!(done.batches.iter().map(|batch| batch.result).sum::<f64>(), on_cpu);
    });
}

#[test]
fn memory_that_is_out_for_good_ends_on_the_cpu() {
    software_gpu::run("memory_that_is_out_for_good_ends_on_the_cpu", "devices=1;fail=cuMemAlloc_v2:2", || {
        let plan = FallbackPlan { smallest_batch: 4, ..FallbackPlan::new(GPU) };
        let done = run(&plan, 16, |_| {}, work).unwrap();
        assert_eq!(done.batches.len(), 1);
        assert_eq!(done.batches[0].device, Device::Cpu);
        assert_eq!(done.batches[0].result, work(Device::Cpu, 0..16).unwrap());
        assert_eq!(done.steps.len(), 3);
        assert!(matches!(done.steps[2], FallbackStep::Cpu { from: GPU, items: 16, .. }));
    });
}

#[test]
fn a_device_that_is_really_small_is_used_as_far_as_it_goes() {
    // 1 MiB free, one item takes 16 KiB: 50 at once fit, and 100 do not.
    software_gpu::run(
        "a_device_that_is_really_small_is_used_as_far_as_it_goes",
        "devices=1;total_mb=64;free_mb=1",
        || {
            let done = run(&FallbackPlan::new(GPU), 100, |_| {}, work).unwrap();
            assert!(done.batches.iter().all(|batch| batch.device == GPU), "{:?}", done.steps);
            assert!(!done.steps.is_empty());
            for batch in done.batches {
                assert_eq!(batch.result, work(Device::Cpu, batch.items).unwrap());
            }
            let memory = Engine::of(0).unwrap().context().memory_info().unwrap();
            assert_eq!(memory.total, 64 << 20);
        },
    );
}

#[test]
fn without_fallback_the_first_failure_is_the_answer() {
    software_gpu::run("without_fallback_the_first_failure_is_the_answer", "devices=1;fail=cuMemAlloc_v2:2", || {
        let plan = FallbackPlan { policy: FallbackPolicy::Never, ..FallbackPlan::new(GPU) };
        let error = run(&plan, 8, |step| panic!("{step}"), work).unwrap_err();
        assert_eq!(error.failure(), Failure::TooLarge);
        assert!(error.to_string().contains("out of memory"), "{error}");
    });
}

#[test]
fn a_device_lost_in_the_middle_leaves_the_rest_to_the_cpu() {
    software_gpu::run("a_device_lost_in_the_middle_leaves_the_rest_to_the_cpu", "devices=1;sticky=719@5", || {
        let plan = FallbackPlan { batch: 2, ..FallbackPlan::new(GPU) };
        let done = run(&plan, 8, |_| {}, work).unwrap();
        let first = &done.batches[0];
        assert_eq!((first.device, first.items.clone()), (GPU, 0..2));
        assert_eq!(done.batches.last().unwrap().device, Device::Cpu);
        let mut next = 0;
        for batch in done.batches {
            assert_eq!(batch.items.start, next);
            next = batch.items.end;
            assert_eq!(batch.result, work(Device::Cpu, batch.items).unwrap());
        }
        assert_eq!(next, 8);
        assert!(matches!(&done.steps[..], [FallbackStep::Cpu { cause, .. }] if cause.contains("719")));
    });
}

#[test]
fn a_machine_without_a_driver_falls_back_before_it_begins() {
    if octopus_cuda::driver_start().is_ok() {
        eprintln!("SKIPPED: this machine has a CUDA driver");
        return;
    }
    let done = run(&FallbackPlan::new(GPU), 3, |_| {}, work).unwrap();
    assert_eq!((done.batches.len(), done.batches[0].device, done.steps.len()), (1, Device::Cpu, 1));
}
