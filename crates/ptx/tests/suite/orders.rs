//! Orders: the same seed gives the same, kernels that are right give the same in all, and others show.

use crate::kernel::{How, STORE, WARP, run};
use octopus_ptx::Order;
use std::collections::HashSet;

/// A sum over a block by a tree in shared memory, which is right with all its barriers.
fn sum(barrier: &str) -> String {
    format!(
        ".shared .align 8 .b8 s[4096];
mul.wide.u32 %rd1, %r30, 4; mov.u64 %rd2, s; add.s64 %rd1, %rd2, %rd1; add.s32 %r1, %r30, 1; st.shared.u32 [%rd1], %r1;
mov.u32 %r2, 64;
$L_1:
{barrier}
setp.ge.u32 %p0, %r30, %r2;
@%p0 bra $L_2;
add.s32 %r3, %r30, %r2; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd2, %rd3;
ld.shared.u32 %r4, [%rd3]; ld.shared.u32 %r5, [%rd1]; add.s32 %r4, %r4, %r5; st.shared.u32 [%rd1], %r4;
$L_2:
shr.u32 %r2, %r2, 1; setp.ne.s32 %p1, %r2, 0;
@%p1 bra $L_1;
bar.sync 0;
ld.shared.u32 %r0, [s];
{STORE}"
    )
}

const BLOCK: How = How { threads: 128, ..WARP };

fn found(body: &str, order: Order) -> Vec<u64> {
    run(body, How { order, ..BLOCK }, 128).unwrap()
}

#[test]
fn what_is_right_is_right_in_every_order() {
    let body = sum("bar.sync 0;");
    assert_eq!(found(&body, Order::LockStep), [128 * 129 / 2; 128]);
    for seed in 1..200 {
        assert_eq!(found(&body, Order::Random(seed)), [128 * 129 / 2; 128], "seed {seed}");
    }
}

#[test]
fn a_missing_barrier_shows_in_a_random_order() {
    let body = sum("");
    let results: HashSet<Vec<u64>> = (1..20).map(|seed| found(&body, Order::Random(seed))).collect();
    assert!(results.len() > 1);
    let race = run(&body, How { checked: true, ..BLOCK }, 128).unwrap_err();
    assert!(race.to_string().contains("race of a read with a write: shared memory"), "{race}");
}

#[test]
fn a_seed_gives_the_same_again() {
    let body = sum("");
    for seed in 1..20 {
        assert_eq!(found(&body, Order::Random(seed)), found(&body, Order::Random(seed)));
    }
}

/// In lock-step the lanes of a warp do what a GPU's do: those behind catch up.
#[test]
fn lanes_in_lock_step_meet_after_a_branch() {
    let body = "setp.lt.u32 %p0, %r30, 4;\n@%p0 bra $L_1;\nmov.u32 %r1, 1;\nbra $L_2;\n$L_1:\nmov.u32 %r1, 2;\n$L_2:\nmov.u32 %r2, 3;";
    let counts = crate::kernel::counts(body, WARP);
    // The last is done once, by all.
    assert_eq!((counts[5].warps, counts[5].lanes), (1, 32));
}

/// One block stores two words at once, and another one waits for the first of them.
#[test]
fn words_of_a_relaxed_store_come_one_by_one_in_a_random_order() {
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 1; mov.u64 %rd1, 5; mov.u64 %rd2, 7;
@%p1 bra $L_2;
$L_1:
nanosleep.u32 8;
ld.relaxed.gpu.v2.u64 {%rd3, %rd4}, [%rd30+16]; setp.eq.s64 %p0, %rd3, 0;
@%p0 bra $L_1;
st.global.v2.u64 [%rd30], {%rd3, %rd4};
bra $L_3;
$L_2:
st.relaxed.gpu.v2.u64 [%rd30+16], {%rd1, %rd2};
st.relaxed.gpu.v2.u64 [%rd30+32], {%rd1, %rd2};
ld.relaxed.gpu.v2.u64 {%rd3, %rd4}, [%rd30+32];
st.global.v2.u64 [%rd30+48], {%rd3, %rd4};
$L_3:";
    let how = How { blocks: 2, threads: 1, together: true, ..WARP };
    let read = |order: Order| {
        let memory = run(body, How { order, ..how }, 8).unwrap();
        // All have come in the end, and their own thread has found them at once.
        assert_eq!(memory[2..], [5, 7, 5, 7, 5, 7], "{order:?}");
        (memory[0], memory[1])
    };
    assert_eq!(read(Order::LockStep), (5, 7));
    let results: HashSet<(u64, u64)> = (1..100).map(|seed| read(Order::Random(seed))).collect();
    assert_eq!(results, HashSet::from([(5, 7), (5, 0)]));
}
