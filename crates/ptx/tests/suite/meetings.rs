//! How lanes meet: shuffles, barriers of a warp and of a block.

use crate::kernel::{How, STORE, WARP, run};
use octopus_ptx::LaunchFault;

fn stored(body: &str, how: How) -> Vec<u64> {
    run(&format!("{body}\n{STORE}"), how, how.threads as usize).unwrap_or_else(|fault| panic!("{fault}"))
}

/// PTX ISA, `shfl.sync`, lane by lane.
#[test]
fn every_shuffle_reads_its_lane() {
    for (mode, operand, bounds) in [
        ("bfly", 1, 31),
        ("bfly", 16, 31),
        ("bfly", 31, 31),
        ("bfly", 0, 31),
        ("bfly", 2, 31),
        ("bfly", 4, 31),
        ("bfly", 13, 31),
        ("bfly", 40, 31),
        ("bfly", 8, 0x1807), // within 8 lanes: what is beyond them is not read
        ("bfly", 3, 0x1807),
        ("idx", 0, 31),
        ("idx", 13, 31),
        ("idx", 40, 31),
        ("idx", 5, 0x181f), // the sixth of each 8
        ("idx", 6, 0x1803), // beyond the bound
    ] {
        let (clamp, segment) = (bounds & 31, bounds >> 8 & 31);
        let expected: Vec<u64> = (0..32)
            .map(|lane: u64| {
                let lowest = lane & segment;
                let highest = lowest | clamp & !segment;
                let asked = if mode == "bfly" { lane ^ operand & 31 } else { lowest | operand & 31 & !segment };
                // 100 more where the lane is one that may be read.
                if asked <= highest { 107 * asked + 100 } else { 107 * lane }
            })
            .collect();
        let body = format!(
            "mul.lo.s32 %r1, %r30, 107;\nshfl.sync.{mode}.b32 %r2|%p1, %r1, {operand}, {bounds}, -1;\nselp.b32 %r3, 100, 0, %p1;\nadd.s32 %r0, %r2, %r3;"
        );
        assert_eq!(stored(&body, WARP), expected, "{mode} {operand} {bounds:#x}");
    }
}

/// Each lane may ask for another one.
#[test]
fn lanes_ask_for_different_lanes() {
    let body = "mul.lo.s32 %r1, %r30, 7; and.b32 %r1, %r1, 31; shfl.sync.idx.b32 %r0|%p1, %r30, %r1, 31, -1;";
    let expected: Vec<u64> = (0..32).map(|lane| lane * 7 % 32).collect();
    assert_eq!(stored(body, WARP), expected);
}

/// A branch that parts the lanes of a mask does not part their meeting.
#[test]
fn lanes_that_went_apart_meet_in_a_shuffle() {
    let body = "setp.lt.u32 %p0, %r30, 9; mov.u32 %r1, 5;
@%p0 bra $L_1;
mul.lo.s32 %r1, %r30, 3;
$L_1:
shfl.sync.bfly.b32 %r0|%p1, %r1, 16, 31, -1;";
    let value = |lane: u64| if lane < 9 { 5 } else { 3 * lane };
    assert_eq!(stored(body, WARP), (0..32).map(|lane| value(lane ^ 16)).collect::<Vec<_>>());
    // In two places, which a GPU allows.
    let body = "setp.lt.u32 %p0, %r30, 16;
@%p0 bra $L_1;
shfl.sync.bfly.b32 %r0|%p1, %r30, 16, 31, -1;
bra $L_2;
$L_1:
shfl.sync.bfly.b32 %r0|%p1, %r30, 16, 31, -1;
add.s32 %r0, %r0, 100;
$L_2:";
    let expected: Vec<u64> = (0..32).map(|lane| (lane ^ 16) + if lane < 16 { 100 } else { 0 }).collect();
    assert_eq!(stored(body, WARP), expected);
    assert_eq!(crate::kernel::findings(body, WARP).len(), 1, "the checks tell it");
}

/// Lanes that come together may have different masks.
#[test]
fn halves_meet_by_themselves_in_one_instruction() {
    let body =
        "setp.lt.u32 %p0, %r30, 16; selp.b32 %r1, 65535, -65536, %p0; shfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, %r1;";
    assert_eq!(stored(body, WARP), (0..32).map(|lane| lane ^ 1).collect::<Vec<_>>());
}

/// Halves of a warp that have masks of their own do not wait for each other.
#[test]
fn masks_of_some_lanes() {
    let body = "setp.lt.u32 %p0, %r30, 16; mov.u32 %r0, 1;
@!%p0 bra $L_1;
shfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, 65535;
bar.warp.sync 65535;
$L_1:";
    let expected: Vec<u64> = (0..32).map(|lane| if lane < 16 { lane ^ 1 } else { 1 }).collect();
    assert_eq!(stored(body, WARP), expected);
}

fn fault(body: &str, how: How) -> LaunchFault {
    run(body, how, 1024).unwrap_err()
}

fn meeting(body: &str, how: How) -> String {
    let fault = fault(body, how);
    assert!(matches!(fault, LaunchFault::Meeting { .. }), "{fault}");
    assert_eq!(fault.code(), 719);
    fault.to_string()
}

#[test]
fn lanes_that_are_not_there_are_not_read() {
    let left = "setp.eq.s32 %p0, %r30, 3;\n@%p0 ret;\nshfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, -1;";
    let expected = "k line 23 (shfl.sync.bfly.b32), block 0 thread 2: it reads lane 3, which is not there";
    assert_eq!(meeting(left, WARP), expected);
    let outside = "setp.ge.u32 %p0, %r30, 8;\n@%p0 bra $L_1;\nshfl.sync.bfly.b32 %r0|%p1, %r30, 8, 31, 255;\n$L_1:";
    assert!(meeting(outside, WARP).ends_with("thread 0: it reads lane 8, which is not there"));
    let few = How { threads: 20, ..WARP };
    assert!(
        meeting("shfl.sync.bfly.b32 %r0|%p1, %r30, 16, 31, -1;", few)
            .ends_with("thread 4: it reads lane 20, which is not there")
    );
}

#[test]
fn masks_must_have_their_own_lanes_and_be_the_same() {
    let own = "shfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, 255;";
    assert!(meeting(own, WARP).ends_with("the mask 000000ff is without its own lanes"), "{}", meeting(own, WARP));
    let different =
        "setp.eq.s32 %p0, %r30, 31; selp.b32 %r1, 2147483647, -1, %p0;\nshfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, %r1;";
    assert!(meeting(different, WARP).ends_with("thread 31: the mask 7fffffff is without its own lanes"));
    let guarded = "setp.eq.s32 %p0, %r30, 31;\n@%p0 shfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, -1;";
    assert!(meeting(guarded, WARP).ends_with("a guard leaves out some lanes"));
    let kinds = "setp.lt.u32 %p0, %r30, 16;
@%p0 bra $L_1;
shfl.sync.bfly.b32 %r0|%p1, %r30, 16, 31, -1;
bra $L_2;
$L_1:
shfl.sync.idx.b32 %r0|%p1, %r30, 16, 31, -1;
$L_2:";
    assert!(meeting(kinds, WARP).contains("other lanes are in the other kind of shuffle in line 2"));
}

/// Warps write in turns what others then read.
#[test]
fn threads_of_a_block_wait_at_its_barrier() {
    let how = How { threads: 96, ..WARP };
    let body = "mul.wide.u32 %rd1, %r30, 8; add.s64 %rd2, %rd31, %rd1; cvt.u64.u32 %rd3, %r30; st.global.u64 [%rd2], %rd3;
bar.sync 0;
mov.u32 %r1, 95; sub.s32 %r1, %r1, %r30; mul.wide.u32 %rd1, %r1, 8; add.s64 %rd2, %rd31, %rd1; ld.global.u32 %r0, [%rd2];";
    assert_eq!(stored(body, how), (0..96).rev().collect::<Vec<_>>());
    assert!(crate::kernel::findings(&format!("{body}\n{STORE}"), how).is_empty());
    assert_eq!(crate::kernel::findings(&format!("{body}\n{STORE}").replace("bar.sync 0;", ""), how).len(), 2);
}

#[test]
fn lanes_that_wait_in_vain_are_told_with_where_they_stand() {
    let body = "setp.lt.u32 %p0, %r30, 4;
@%p0 bra $L_1;
bar.warp.sync -1;
bra $L_2;
$L_1:
shfl.sync.bfly.b32 %r0|%p1, %r30, 1, 31, -1;
$L_2:";
    let fault = fault(body, WARP);
    assert_eq!(fault.code(), 719);
    let text = fault.to_string();
    let (a, b) = (
        "lanes fffffff0 of warp 0 wait at line 23 (bar.warp.sync)",
        "lanes 0000000f of warp 0 wait at line 26 (shfl.sync.bfly.b32)",
    );
    assert!(text.starts_with("block 0 waits for ever: ") && text.contains(a) && text.contains(b), "{text}");
}

/// The lanes of a warp must come to a barrier together; warps may come to different ones, which the checks tell.
#[test]
fn barriers_in_different_lines() {
    let of_lanes = "setp.lt.u32 %p0, %r30, 4;\n@%p0 bra $L_1;\nbar.sync 0;\nbra $L_2;\n$L_1:\nbar.sync 0;\n$L_2:";
    assert!(meeting(of_lanes, WARP).contains("other lanes of the warp are at the barrier of line 2"));
    let of_warps = of_lanes.replace("%r30, 4", "%r30, 32");
    let how = How { threads: 64, ..WARP };
    assert_eq!(run(&of_warps, how, 64).unwrap().len(), 64);
    let found = crate::kernel::findings(&of_warps, how);
    assert!(found.len() == 1 && found[0].starts_with("divergent barrier: k line 2"), "{found:?}");
    let left = "setp.ge.u32 %p0, %r30, 32;\n@%p0 ret;\nbar.sync 0;";
    let found = crate::kernel::findings(left, how);
    assert!(found.len() == 1 && found[0].starts_with("barrier without some: k line 23"), "{found:?}");
}
