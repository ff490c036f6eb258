//! Races: what orders two threads, and what does not.

use crate::kernel::{How, WARP, findings};
use octopus_ptx::Order;

/// Each thread writes a number of the block's shared memory, and reads that of the thread `other` numbers on.
fn exchange(between: &str, other: u32, threads: u32) -> String {
    format!(
        ".shared .align 8 .b8 s[4096];
mul.wide.u32 %rd1, %r30, 4; mov.u64 %rd2, s; add.s64 %rd1, %rd2, %rd1; st.shared.u32 [%rd1], %r30;
{between}
add.s32 %r1, %r30, {other}; and.b32 %r1, %r1, {}; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd2, %rd3;
ld.shared.u32 %r0, [%rd3];",
        threads - 1
    )
}

#[track_caller]
fn kinds(body: &str, how: How, expected: &[&str]) {
    for order in [Order::LockStep, Order::Random(1), Order::Random(2)] {
        let found = findings(body, How { order, ..how });
        let kinds: Vec<&str> = found.iter().filter_map(|finding| finding.split(':').next()).collect();
        // A race shows from either side, as the order has it.
        let races = |kind: &&str| kind.starts_with("race") || kind.starts_with("unwritten");
        let same = kinds == expected || (expected.iter().any(races) && !kinds.is_empty() && kinds.iter().all(races));
        assert!(same, "{order:?}: {found:?}");
    }
}

const READ: &[&str] = &["race of a read with a write"];

#[test]
fn a_block_s_barrier_orders_all_its_threads() {
    let how = How { threads: 128, ..WARP };
    kinds(&exchange("bar.sync 0;", 1, 128), how, &[]);
    kinds(&exchange("bar.sync 0;", 64, 128), how, &[]);
    kinds(&exchange("bar.warp.sync -1;", 64, 128), how, READ);
    // The neighbour of the last of a warp is in the next.
    kinds(&exchange("bar.warp.sync -1;", 1, 128), how, READ);
}

#[test]
fn a_warp_s_barrier_orders_the_lanes_of_its_mask() {
    kinds(&exchange("bar.warp.sync -1;", 1, 32), WARP, &[]);
    kinds(&exchange("", 1, 32), WARP, READ);
    kinds(&exchange("shfl.sync.bfly.b32 %r9|%p1, %r30, 1, 31, -1;", 1, 32), WARP, READ);
    let halves = "setp.lt.u32 %p0, %r30, 16; selp.b32 %r2, 65535, -65536, %p0; bar.warp.sync %r2;";
    kinds(&exchange(halves, 16, 32), WARP, READ);
    // The neighbours of the last of each half are in the other one.
    let found = findings(&exchange(halves, 1, 32), WARP);
    assert_eq!(found.len(), 1);
    let ends = ["thread 15: block 0 thread 16 in line 22", "thread 31: block 0 thread 0 in line 22"];
    assert!(ends.iter().any(|end| found[0].ends_with(end)), "{found:?}");
    // Both halves, one after the other, do.
    let all = format!("{halves} setp.lt.u32 %p0, %r30, 8; bar.warp.sync -1;");
    kinds(&exchange(&all, 1, 32), WARP, &[]);
}

#[test]
fn writes_of_the_same_instruction_must_write_the_same() {
    let body = |value: &str| format!("mov.u64 %rd1, 5; cvt.u64.u32 %rd2, %r30;\nst.global.u64 [%rd30], {value};");
    kinds(&body("%rd1"), WARP, &[]);
    kinds(&body("%rd2"), WARP, &["race of two writes"]);
    // Of other warps they are two writes, whatever they write.
    kinds(&body("%rd1"), How { threads: 64, ..WARP }, &["race of two writes"]);
    // A lane may read what it has written with others, though they are not ordered.
    kinds(&format!("{}\nld.global.u64 %rd3, [%rd30];", body("%rd1")), WARP, &[]);
}

#[test]
fn a_write_comes_after_all_reads() {
    let body = |between: &str| {
        format!(
            "ld.global.u32 %r1, [%rd30];\n{between}\nsetp.eq.s32 %p0, %r30, 7;\n@!%p0 bra $L_1;\nst.global.u32 [%rd30], %r30;\n$L_1:"
        )
    };
    kinds(&body(""), WARP, &["race of a write with a read"]);
    kinds(&body("bar.warp.sync -1;"), WARP, &[]);
    kinds(&body("bar.warp.sync -1;"), How { threads: 64, ..WARP }, &["race of a write with a read"]);
    kinds(&body("bar.sync 0;"), How { threads: 64, ..WARP }, &[]);
}

/// Blocks of an ordinary launch are ordered by nothing, though here one ends before the other begins.
#[test]
fn blocks_are_not_ordered() {
    let own = "mov.u32 %r1, %ctaid.x; mul.lo.s32 %r2, %r1, 32; add.s32 %r2, %r2, %r30; mul.wide.u32 %rd1, %r2, 4; add.s64 %rd1, %rd30, %rd1; st.global.u32 [%rd1], %r2;";
    let how = How { blocks: 3, ..WARP };
    kinds(own, how, &[]);
    kinds(&own.replace("%r1, 32", "%r1, 16"), how, &["race of two writes"]);
    let read = format!("{own}\nld.global.u32 %r3, [%rd30];");
    assert!(!findings(&read, how).is_empty());
}

/// Two blocks' reads are kept, and the writer may be one of the two.
#[test]
fn any_block_that_writes_what_all_have_read_is_in_conflict() {
    let how = How { blocks: 5, ..WARP };
    for together in [false, true] {
        for writer in 0..5 {
            let body = format!(
                "ld.global.u32 %r3, [%rd30]; bar.warp.sync -1;
mov.u32 %r1, %ctaid.x; setp.eq.s32 %p0, %r1, {writer};
@%p0 st.global.u32 [%rd30], %r1;"
            );
            kinds(&body, How { together, ..how }, &["race of a write with a read"]);
        }
    }
}

/// A block writes what it has read and, after it, another: the read that comes second is kept, too.
#[test]
fn a_second_block_s_read_is_not_forgotten() {
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 1; mov.u32 %r2, 9;
ld.global.u32 %r4, [%rd31]; bar.warp.sync -1;
@%p1 bra $L_2;
$L_1:
nanosleep.u32 20;
ld.relaxed.gpu.u32 %r3, [%rd30]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $L_1;
st.global.u32 [%rd31], %r2;
bra $L_3;
$L_2:
st.relaxed.gpu.u32 [%rd30], %r2;
$L_3:";
    kinds(body, How { blocks: 2, together: true, ..WARP }, &["race of a write with a read"]);
}

/// One block tells another by a flag that its result is there.
fn flag(before: &str, after: &str) -> String {
    format!(
        "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 1; mov.u32 %r2, 9;
@%p1 bra $L_2;
$L_1:
nanosleep.u32 20;
ld.volatile.global.u32 %r3, [%rd30]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $L_1;
{after}
ld.global.u32 %r4, [%rd31];
bra $L_3;
$L_2:
st.global.u32 [%rd31], %r2;
{before}
st.volatile.global.u32 [%rd30], %r2;
$L_3:"
    )
}

/// One block reads what another writes meanwhile, again and again.
#[test]
fn relaxed_accesses_may_meet() {
    let how = How { blocks: 2, together: true, ..WARP };
    let body = |load: &str, store: &str| {
        let flag = flag("", "").replace("ld.global.u32 %r4, [%rd31];", "").replace("st.global.u32 [%rd31], %r2;", "");
        flag.replace("ld.volatile.global", load).replace("st.volatile.global", store)
    };
    let (load, store) = ("ld.relaxed.gpu", "st.relaxed.gpu");
    kinds(&body(load, store), how, &[]);
    kinds(&body("ld.global", store), how, READ);
    kinds(&body(load, "st.global"), how, READ);
    // They order nothing.
    let flag = flag("membar.gl;", "membar.gl;");
    kinds(&flag.replace("ld.volatile.global", load).replace("st.volatile.global", store), how, READ);
    // Two lanes must not write different words to one place, in whatever way.
    kinds("st.relaxed.gpu.u32 [%rd30], %r30;", WARP, &["race of two writes"]);
    kinds("st.relaxed.gpu.u32 [%rd30], 1;", How { blocks: 2, ..WARP }, &[]);
    kinds(
        "st.global.u32 [%rd30], 1;\nst.relaxed.gpu.u32 [%rd30], 1;",
        How { blocks: 2, ..WARP },
        &["race of two writes"],
    );
}

#[test]
fn a_flag_orders_what_fences_hold() {
    let how = How { blocks: 2, threads: 1, together: true, ..WARP };
    kinds(&flag("membar.gl;", "membar.gl;"), how, &[]);
    // What a block's barrier tells of the block itself takes away nothing of others.
    kinds(&flag("membar.gl;", "membar.gl;\nbar.sync 0;"), how, &[]);
    kinds(&flag("", "membar.gl;"), how, READ);
    kinds(&flag("membar.gl;", ""), how, READ);
    // The flag's lane speaks for its warp only after they have met.
    let warp = How { threads: 32, ..how };
    let one = |text: &str| {
        let own = "mul.wide.u32 %rd9, %r30, 8; add.s64 %rd9, %rd31, %rd9;";
        let text = text.replace("st.global.u32 [%rd31], %r2;", &format!("{own}\nst.global.u32 [%rd9], %r2;"));
        text.replace("st.volatile", "setp.eq.s32 %p9, %r30, 0;\n@%p9 st.volatile")
    };
    let met = flag("membar.gl;\nbar.warp.sync -1;\nmembar.gl;", "membar.gl;").replace("[%rd31];", "[%rd31+40];");
    kinds(&one(&met), warp, &[]);
    let alone = flag("membar.gl;", "membar.gl;").replace("[%rd31];", "[%rd31+40];");
    kinds(&one(&alone), warp, READ);
}

/// A write must come after each of the lanes that have read in one instruction.
#[test]
fn a_write_comes_after_the_reads_of_all_lanes() {
    let body = |mask: &str| {
        format!(
            "ld.global.u32 %r1, [%rd30]; setp.lt.u32 %p0, %r30, 16;
@!%p0 bra $L_1;
bar.warp.sync {mask};
setp.eq.s32 %p1, %r30, 7;
@!%p1 bra $L_1;
st.global.u32 [%rd30], %r30;
$L_1:"
        )
    };
    // Half of the lanes have met, and the others have read too.
    kinds(&body("65535"), WARP, &["race of a write with a read"]);
    kinds(&body("65535").replace("setp.lt.u32 %p0", "bar.warp.sync -1; setp.lt.u32 %p0"), WARP, &[]);
}

/// It is enough for a read to come after one of the lanes that have written the same in one instruction.
#[test]
fn a_read_comes_after_one_of_those_that_wrote_the_same() {
    let body = |mask: &str| {
        format!(
            "mov.u64 %rd1, 5; setp.lt.u32 %p0, %r30, 8; setp.lt.u32 %p1, %r30, 16; setp.eq.s32 %p2, %r30, 0;
@%p0 st.global.u64 [%rd30], %rd1;
@!%p1 bra $L_2;
@%p2 bra $L_1;
@%p0 bra $L_2;
$L_1:
bar.warp.sync {mask};
@%p2 bra $L_2;
ld.global.u64 %rd2, [%rd30];
$L_2:"
        )
    };
    // Lane 0 and lanes 8 to 15 meet.
    kinds(&body("65281"), WARP, &[]);
    let alone = body("65281").replace("@%p2 bra $L_1;\n@%p0", "@%p0").replace("65281", "65280");
    kinds(&alone, WARP, READ);
}

/// An older flag does not take away what a newer one has told.
#[test]
fn flags_may_be_read_in_any_order() {
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 1; mov.u32 %r2, 9;
@%p1 bra $L_2;
$L_1:
nanosleep.u32 20;
ld.volatile.global.u32 %r3, [%rd30+8]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $L_1;
membar.gl;
ld.volatile.global.u32 %r3, [%rd30];
membar.gl;
ld.global.u32 %r4, [%rd31+8];
bra $L_3;
$L_2:
st.global.u32 [%rd31], %r2;
membar.gl;
st.volatile.global.u32 [%rd30], %r2;
st.global.u32 [%rd31+8], %r2;
membar.gl;
st.volatile.global.u32 [%rd30+8], %r2;
$L_3:";
    let how = How { blocks: 2, threads: 1, together: true, ..WARP };
    kinds(body, how, &[]);
    let early = body.replace("ld.volatile.global.u32 %r3, [%rd30+8];", "ld.volatile.global.u32 %r3, [%rd30];");
    kinds(&early, how, READ);
}

/// What a third thread has told the second, the second tells the first.
#[test]
fn flags_tell_what_they_were_told() {
    let body = |fence: &str| {
        format!(
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, 9; setp.eq.s32 %p1, %r1, 0;
@%p1 bra $first;
setp.eq.s32 %p1, %r1, 1;
@%p1 bra $second;
$third:
nanosleep.u32 20;
ld.volatile.global.u32 %r3, [%rd30+8]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $third;
membar.gl;
ld.global.u32 %r4, [%rd31];
bra $end;
$second:
nanosleep.u32 20;
ld.volatile.global.u32 %r3, [%rd30]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $second;
{fence}
st.volatile.global.u32 [%rd30+8], %r2;
bra $end;
$first:
st.global.u32 [%rd31], %r2;
membar.gl;
st.volatile.global.u32 [%rd30], %r2;
$end:"
        )
    };
    let how = How { blocks: 3, threads: 1, together: true, ..WARP };
    kinds(&body("membar.gl;"), how, &[]);
    kinds(&body(""), how, READ);
}
