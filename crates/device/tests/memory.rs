//! The memory planner's arithmetic.

use octopus_device::{DeviceMemory, MemoryAttempt, MemoryPlan, PlanPart};

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
fn a_twentieth_of_a_large_device_is_left_alone() {
    let memory = |total| DeviceMemory { free: total, total };
    assert_eq!(memory(48_u64 << 30).reserve(), (48 << 30) / 20);
    assert_eq!((memory(4 << 30).reserve(), memory(4 << 30).usable()), (256 << 20, (4 << 30) - (256 << 20)));
}

#[test]
fn a_plan_may_take_the_last_byte_that_is_usable() {
    let memory = |bytes: u64| DeviceMemory { free: (256 << 20) + bytes, total: 4 << 30 };
    let at_once = |bytes| MemoryPlan::new(4, memory(bytes), halves(4)).unwrap().chains_at_once;
    let whole = attempt(4).bytes();
    assert_eq!([at_once(whole - 1), at_once(whole), at_once(whole + 1)], [2, 4, 4]);
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
