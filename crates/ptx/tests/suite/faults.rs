//! Addresses that are not there, and launches that end otherwise.

use crate::kernel::{How, WARP, counts, launch, run};
use octopus_ptx::{LaunchFault, Module};
use std::time::Duration;

fn message(body: &str, code: i32) -> String {
    let fault = run(body, WARP, 32).unwrap_err();
    assert_eq!(fault.code(), code, "{fault}");
    fault.to_string()
}

#[test]
fn global_memory_ends_where_its_allocation_does() {
    // The last lane's is the last of 32 numbers.
    let body = "mul.wide.u32 %rd1, %r30, 8; add.s64 %rd1, %rd30, %rd1; mov.u64 %rd2, 5;\nst.global.u64 [%rd1+0], %rd2;";
    assert_eq!(run(body, WARP, 32).unwrap(), [5; 32]);
    for (from, to) in [("+0", "+8"), ("+0", "+-8"), ("st.global.u64 [%rd1+0], %rd2", "ld.global.u64 %rd2, [%rd1+8]")] {
        let text = message(&body.replace(from, to), 700);
        let lane = if to == "+-8" { 0 } else { 31 };
        assert!(text.starts_with("k line 22 (") && text.contains(&format!("thread {lane}: 8 bytes at 0x")), "{text}");
        assert!(text.ends_with("are in no allocation"), "{text}");
    }
    // Half of them are in another allocation, and none is between.
    let halves = "setp.lt.u32 %p0, %r30, 16; selp.b64 %rd3, %rd30, %rd31, %p0; mul.wide.u32 %rd1, %r30, 8; add.s64 %rd1, %rd3, %rd1; mov.u64 %rd2, 5;\nst.global.u64 [%rd1], %rd2; ld.global.u64 %rd4, [%rd1];";
    let found = run(halves, WARP, 32).unwrap();
    assert_eq!((&found[..16], &found[16..]), (&[5; 16][..], &[0; 16][..]));
    assert!(message("mov.u64 %rd1, 0;\nld.global.u32 %r1, [%rd1];", 700).contains("4 bytes at 0x0 "));
    assert!(message("mov.u64 %rd1, -4;\nld.global.u32 %r1, [%rd1];", 700).contains("4 bytes at 0xfffffffffffffffc "));
}

#[test]
fn addresses_are_multiples_of_what_is_read() {
    for (instruction, bytes) in [
        ("ld.global.u64 %rd2, [%rd30+4];", 8),
        ("ld.global.u32 %r1, [%rd30+2];", 4),
        ("ld.global.u16 %rs1, [%rd30+1];", 2),
        ("st.global.v2.u32 [%rd30+4], {%r1, %r1};", 8),
        ("ld.shared.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [s+2];", 4),
        ("ld.param.u64 %rd2, [k_param_0+4];", 8),
    ] {
        let body = format!(".shared .align 8 .b8 s[16];\nmov.u32 %r1, 0;\n{instruction}");
        let text = message(&body, 716);
        assert!(text.starts_with("k line 23 (") && text.ends_with(&format!("is no multiple of {bytes}")), "{text}");
    }
}

/// Rows of elements that follow each other, and others, of which each is off by half an element.
#[test]
fn addresses_of_rows_are_multiples_of_what_is_read() {
    for stride in [8, 16] {
        for instruction in [
            "ld.global.u64 %rd2, [%rd1+4];",
            "st.global.u64 [%rd1+4], %rd3;",
            "ld.shared.u64 %rd2, [%rd4+4];",
            "st.shared.u64 [%rd4+4], %rd3;",
        ] {
            let body = format!(
                ".shared .align 8 .b8 s[520];\nmul.wide.u32 %rd1, %r30, {stride}; mov.u64 %rd4, s; add.s64 %rd4, %rd4, %rd1; add.s64 %rd1, %rd30, %rd1; mov.u64 %rd3, 5;\n{instruction}"
            );
            let text = run(&body, WARP, 65).unwrap_err().to_string();
            assert!(
                text.contains("thread 0: ") && text.ends_with("is no multiple of 8"),
                "{stride}, {instruction}: {text}"
            );
        }
    }
}

/// Addresses that follow each other in all lanes but the last: rows are only done at once when all do.
#[test]
fn a_lane_apart_reaches_its_own_place() {
    let address = "setp.eq.s32 %p0, %r30, 31; selp.b32 %r1, 3, %r30, %p0; mul.wide.u32 %rd1, %r1, 8; add.s64 %rd2, %rd30, %rd1; add.s64 %rd3, %rd31, %rd1; cvt.u64.u32 %rd4, %r30;";
    let mut buffers = [vec![7; 32], vec![7; 32], vec![0; 32]];
    assert_eq!(launch(&format!("{address}\nst.global.u64 [%rd2], %rd4;"), WARP, &mut buffers).fault, None);
    // The last lane has written over the fourth, and nobody the last place.
    let expected: Vec<u64> = (0..31).map(|lane| if lane == 3 { 31 } else { lane }).chain([7]).collect();
    assert_eq!(buffers[0], expected);
    let mut buffers = [vec![0; 32], (100..132).collect(), vec![0; 32]];
    let own = "mul.wide.u32 %rd5, %r30, 8; add.s64 %rd5, %rd30, %rd5;";
    let body = format!("{address} {own}\nld.global.u64 %rd6, [%rd3]; st.global.u64 [%rd5], %rd6;");
    assert_eq!(launch(&body, WARP, &mut buffers).fault, None);
    assert_eq!(buffers[0], (100..131).chain([103]).collect::<Vec<u64>>());
}

#[test]
fn shared_memory_and_parameters_have_an_end() {
    let shared = ".shared .align 8 .b8 s[16];\nmov.u32 %r1, 0;\nst.shared.u32 [s+12], %r1;";
    run(shared, WARP, 32).unwrap();
    let text = message(&shared.replace("+12", "+16"), 719);
    assert!(text.ends_with("4 bytes at 0x10 are beyond the 16 bytes of shared memory"), "{text}");
    let lanes = ".shared .align 8 .b8 s[128];\nmul.wide.u32 %rd1, %r30, 4; mov.u64 %rd2, s; add.s64 %rd1, %rd2, %rd1;\nst.shared.u32 [%rd1+0], %r30;";
    run(lanes, WARP, 32).unwrap();
    let text = message(&lanes.replace("+0", "+4"), 719);
    assert!(text.contains("thread 31: 4 bytes at 0x80 are beyond the 128 bytes"), "{text}");
    let text = message("ld.param.u64 %rd1, [k_param_2+8];", 719);
    assert!(text.ends_with("8 bytes at 0x18 are beyond the 24 bytes of parameters"), "{text}");
}

/// A kernel that waits for what nobody writes.
#[test]
fn threads_that_sleep_for_too_long_end_the_launch() {
    let body =
        "$L_1:\nnanosleep.u32 20;\nld.volatile.global.u32 %r1, [%rd30]; setp.eq.s32 %p0, %r1, 0;\n@%p0 bra $L_1;";
    let how = How { patience: Duration::from_millis(30), ..WARP };
    let fault = run(body, how, 32).unwrap_err();
    assert_eq!(fault.code(), 702);
    let expected = "threads wait for what does not come within 30 ms: block 0: lanes ffffffff of warp 0 sleep at line 22 (nanosleep.u32)";
    assert_eq!(fault.to_string(), expected);
}

/// A loop of which no lane ever leaves.
#[test]
fn kernels_that_do_not_end_are_ended() {
    let body = "mov.u32 %r1, 0;\n$L_1:\nadd.s32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100;\n@%p0 bra $L_1;";
    // The label is passed a hundred times, and what follows the branch once.
    assert!(run(body, How { most_joins: 101, ..WARP }, 1).is_ok());
    let fault = run(body, How { most_joins: 100, ..WARP }, 1).unwrap_err();
    assert_eq!(
        (fault.code(), fault.to_string().as_str()),
        (702, "k line 25 (ret), block 0 thread 0: the kernel does not end")
    );
}

/// Blocks that wait for a later one end when they run side by side, and never one after the other.
#[test]
fn blocks_together_wait_for_each_other() {
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p1, %r1, 1; mov.u32 %r2, 9;
@%p1 bra $L_2;
$L_1:
nanosleep.u32 20;
ld.volatile.global.u32 %r3, [%rd30]; setp.eq.s32 %p0, %r3, 0;
@%p0 bra $L_1;
bra $L_3;
$L_2:
st.volatile.global.u32 [%rd30], %r2;
$L_3:";
    let how = How { blocks: 2, patience: Duration::from_millis(50), ..WARP };
    assert_eq!(run(body, How { together: true, ..how }, 32).unwrap()[0], 9);
    assert_eq!(run(body, how, 32).unwrap_err().code(), 702);
}

#[test]
fn launches_of_impossible_shapes_are_refused() {
    for (blocks, threads) in [(0, 32), (1, 0), (1, 1025)] {
        let fault = run("", How { blocks, threads, ..WARP }, 1).unwrap_err();
        assert!(matches!(fault, LaunchFault::Shape(_)) && fault.code() == 1, "{fault}");
    }
    assert!(run("", How { threads: 1024, ..WARP }, 1).is_ok());
}

/// Special registers and launches of more than a warp and a block.
#[test]
fn threads_know_where_they_are() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r30; mov.u32 %r4, %nctaid.x;
mad.lo.s32 %r5, %r4, 1000, %r3; mul.wide.u32 %rd1, %r3, 8; add.s64 %rd1, %rd30, %rd1; cvt.u64.u32 %rd2, %r5; st.global.u64 [%rd1], %rd2;";
    let found = run(body, How { blocks: 3, threads: 40, ..WARP }, 120).unwrap();
    assert_eq!(found, (3000..3120).collect::<Vec<u64>>());
    let other = "mov.u32 %r0, %tid.y; mov.u32 %r1, %tid.z; mov.u32 %r2, %ntid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.y;
or.b32 %r0, %r0, %r1; or.b32 %r0, %r0, %r3; add.s32 %r0, %r0, %r2; add.s32 %r0, %r0, %r4; cvt.u64.u32 %rd1, %r0; st.global.u64 [%rd30], %rd1;";
    assert_eq!(run(other, WARP, 1).unwrap(), [2]);
}

/// Loads and stores of several elements, of bytes, and of words into wide registers.
#[test]
fn elements_of_every_width() {
    let body = ".shared .align 8 .b8 s[16];
mov.u32 %r1, 258; mov.u32 %r2, 7; st.shared.v2.u32 [s], {%r1, %r2};
ld.shared.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [s]; cvt.u32.u16 %r3, %rs1; cvt.u32.u16 %r4, %rs2;
st.shared.v4.u8 [s+8], {%rs2, %rs1, %rs3, %rs4}; ld.shared.u32 %r5, [s+8]; ld.shared.v2.f32 {%f1, %f2}, [s]; mov.b32 %r6, %f2;
st.global.v2.u32 [%rd30], {%r3, %r4}; st.global.v2.u32 [%rd30+8], {%r5, %r6};
ld.global.u32 %rd5, [%rd30]; st.global.u64 [%rd30+16], %rd5; mov.u64 %rd6, -1; st.u32 [%rd30+24], %rd6; ld.u32 %r7, [%rd30+4]; st.u32 [%rd30+28], %r7;";
    let found = run(body, WARP, 4).unwrap();
    assert_eq!(found, [2 | 1 << 32, 513 | 7 << 32, 2, 0xffff_ffff | 1 << 32]);
}

/// A store of two bytes writes a register's lowest bits, also where the register is wider.
#[test]
fn elements_of_two_bytes() {
    let body = ".shared .align 8 .b8 s[64];
mul.wide.u32 %rd1, %r30, 2; mov.u64 %rd2, s; add.s64 %rd2, %rd2, %rd1; add.s64 %rd3, %rd30, %rd1; add.s32 %r1, %r30, 196608;
st.shared.u16 [%rd2], %r1; ld.shared.u16 %rd4, [%rd2]; add.s64 %rd4, %rd4, 196608; st.global.u16 [%rd3], %rd4;
ld.shared.u16 %rs1, [%rd2]; setp.lt.u32 %p0, %r30, 16; @%p0 st.global.u16 [%rd3], %rs1;";
    let found = run(body, WARP, 8).unwrap();
    let expected: Vec<u64> = (0..8).map(|word| (0..4).map(|place| (4 * word + place) << (16 * place)).sum()).collect();
    assert_eq!(found, expected);
}

/// How often warps and lanes have done an instruction.
#[test]
fn what_was_done_is_counted() {
    let body = "mov.u32 %r1, 0;
$L_1:
add.s32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %r30;
@%p0 bra $L_1;";
    let found = counts(body, How { blocks: 2, ..WARP });
    let warps: Vec<u64> = found.iter().map(|count| count.warps).collect();
    // Lane n goes round n times, at least once, and the warp as often as the last.
    assert_eq!(warps, [2, 62, 62, 62, 2]);
    let rounds = 2 * (1 + (1..32).sum::<u64>());
    assert_eq!(found.iter().map(|count| count.lanes).collect::<Vec<_>>(), [64, rounds, rounds, rounds - 64, 64]);
}

#[test]
fn entries_tell_what_they_are() {
    let module = Module::parse(&crate::kernel::text("add.s32 %r1, %r2, 5;")).unwrap();
    let entry = module.entries().next().unwrap();
    assert_eq!((entry.name(), entry.parameter_bytes(), entry.parameters().len()), ("k", 24, 3));
    assert_eq!(entry.instructions().nth(4), Some((21, "add.s32")));
    assert_eq!(entry.unset_registers(), ["%r2"]);
    assert!(module.entry("l").is_none());
    // A parameter's place depends on those before it.
    let odd = crate::kernel::text("").replace(".param .u64 k_param_1", ".param .align 4 .b8 k_param_1[12]");
    let module = Module::parse(&odd).unwrap();
    let offsets: Vec<u64> = module.entry("k").unwrap().parameters().iter().map(|parameter| parameter.offset).collect();
    assert_eq!(offsets, [0, 8, 24]);
    let mut buffers = [vec![0], vec![0], vec![0]];
    let short = launch("", How { threads: 1, ..WARP }, &mut buffers);
    assert_eq!(short.fault, None);
}
