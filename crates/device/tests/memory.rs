//! The memory planner's arithmetic, and falling back when memory does not suffice after all.

mod software_gpu;

use octopus_device::fallback::{Failure, FallbackError, FallbackPlan, FallbackPolicy, FallbackStep, run};
use octopus_device::{Array, ArrayError, Device, DeviceMemory, Engine, MemoryAttempt, MemoryPlan, PlanPart};
use std::ops::Range;

const GPU: Device = Device::Cuda(0);

/// Something fixed, and so much for each chain.
fn attempt(chains: u64) -> MemoryAttempt {
    let part = |name: &str, bytes| PlanPart { name: name.into(), bytes };
    let parts = vec![part("data", 80_000), part("chains", chains.saturating_mul(66_416))];
    MemoryAttempt { chains_at_once: chains, parts }
}

/// From all chains to one, by halves.
fn halves(chains: u64) -> impl Iterator<Item = MemoryAttempt> {
    std::iter::successors(Some(chains), |&at_once| (at_once > 1).then_some(at_once / 2)).map(attempt)
}

#[test]
fn the_first_attempt_that_fits_is_the_plan() {
    let mut state = 12345_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) % limit
    };
    let mut kinds = [0; 3];
    for _ in 0..2000 {
        let (chains, total) = (below(1 << 16), below(8 << 30) + (1 << 30));
        let memory = DeviceMemory { free: below(total), total };
        let plan = MemoryPlan::new(chains, memory, halves(chains)).unwrap();
        let taken = |at_once: u64| attempt(at_once).bytes() + plan.reserve_bytes;
        match plan.turns() {
            None => assert!(taken(1) > memory.free, "{plan:?}"),
            Some(turns) => {
                assert!(plan.total_bytes + plan.reserve_bytes <= memory.free, "{plan:?}");
                assert_eq!(plan.total_bytes, attempt(plan.chains_at_once).bytes());
                // Twice as many, or one more where halving has lost it, do not fit.
                assert!(turns == 1 || taken(2 * plan.chains_at_once + 1) > memory.free, "{plan:?}");
                assert!(turns * plan.chains_at_once >= chains && (turns - 1) * plan.chains_at_once < chains);
            }
        }
        kinds[plan.turns().map_or(0, |turns| turns.min(2)) as usize] += 1;
    }
    assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
}

#[test]
fn nothing_overflows_and_nothing_is_planned_of_nothing() {
    let memory = DeviceMemory { free: 47 << 30, total: 48 << 30 };
    let plan = MemoryPlan::new(u64::MAX, memory, halves(u64::MAX)).unwrap();
    assert!(plan.chains_at_once > 1000 && plan.turns().unwrap() > 1_000_000, "{plan:?}");
    assert!(MemoryPlan::new(4, memory, []).is_none());
    let misread = MemoryPlan::new(4, DeviceMemory { free: 2, total: 1 }, halves(4)).unwrap();
    assert_eq!(misread.chains_at_once, 0);
}

#[test]
fn the_text_says_all() {
    let plan = MemoryPlan::new(1000, DeviceMemory { free: 300 << 20, total: 4 << 30 }, halves(1000)).unwrap();
    assert_eq!(
        plan.to_string(),
        "  data                       80000 bytes
  chains                  33208000 bytes
  together                33288000 bytes (31 MiB)
  300 MiB free of 4.0 GiB, 256 MiB of it left alone
  500 of 1000 chains at once, in 2 turns"
    );
    let all = MemoryPlan::new(4, DeviceMemory { free: 3 << 30, total: 4 << 30 }, halves(4)).unwrap();
    assert!(all.to_string().ends_with("all 4 chains fit at once"));
    let none = MemoryPlan::new(4, DeviceMemory { free: 1 << 20, total: 4 << 30 }, halves(4)).unwrap();
    assert!(none.turns().is_none() && none.to_string().contains("that does not fit"));
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
