//! What is read before it is written.

use crate::kernel::{How, STORE, WARP, findings, run};

#[test]
fn registers_must_be_written_before_they_are_read() {
    let found = findings("add.s32 %r1, %r2, 5;", WARP);
    assert_eq!(found, ["unset register: %r2 is read before it is written at k line 21, block 0 thread 0"]);
    assert!(findings("mov.u32 %r2, 1;\nadd.s32 %r1, %r2, 5;", WARP).is_empty());
    // Of some lanes: written in one branch only.
    let body =
        "setp.lt.u32 %p0, %r30, 4;\n@%p0 bra $L_1;\nmov.f64 %fd1, 0d0000000000000000;\n$L_1:\nneg.f64 %fd2, %fd1;";
    let found = findings(body, WARP);
    assert!(found.len() == 1 && found[0].contains("%fd1") && found[0].ends_with("thread 0"), "{found:?}");
    // A guard is read by all lanes, and what it guards by those that it lets.
    assert!(findings("setp.lt.u32 %p0, %r30, 4;\n@%p0 mov.u32 %r1, 1;\n@%p0 add.s32 %r2, %r1, 1;", WARP).is_empty());
    assert_eq!(findings("@%p3 mov.u32 %r1, 1;", WARP).len(), 1);
    assert_eq!(findings("st.global.u32 [%rd30], %r9;", How { threads: 1, ..WARP }).len(), 1);
}

#[test]
fn shared_memory_must_be_written_before_it_is_read() {
    let body =
        |between: &str| format!(".shared .align 8 .b8 s[16];\nmov.u32 %r1, 4;\n{between}\nld.shared.u32 %r2, [s+4];");
    let found = findings(&body(""), WARP);
    assert!(found.len() == 1 && found[0].starts_with("unwritten memory: shared memory at 0x4, k line 24"), "{found:?}");
    assert!(findings(&body("st.shared.u32 [s+4], %r1;"), WARP).is_empty());
    assert_eq!(findings(&body("st.shared.u32 [s+8], %r1;"), WARP).len(), 1);
    // Each block has its own.
    let first = body("mov.u32 %r3, %ctaid.x; setp.eq.s32 %p0, %r3, 0;\n@%p0 st.shared.u32 [s+4], %r1;");
    assert!(findings(&first, WARP).is_empty());
    assert_eq!(findings(&first, How { blocks: 2, ..WARP }).len(), 1);
}

#[test]
fn global_memory_must_be_written_before_it_is_read() {
    let how = How { unwritten: true, ..WARP };
    let load = "ld.global.u32 %r2, [%rd32+8];";
    let found = findings(load, how);
    let expected = ["unwritten memory: global memory at 0x7f0002000008, k line 21, block 0 thread 0"];
    assert_eq!(found, expected);
    assert!(findings(load, WARP).is_empty());
    for (store, is_enough) in [
        ("mov.u32 %r1, 4; st.global.u32 [%rd32+8], %r1;", true),
        ("mov.u32 %r1, 4; st.global.u32 [%rd32+4], %r1;", false),
        ("mov.u32 %r1, 4; st.global.u32 [%rd32+12], %r1;", false),
        ("mov.f64 %fd1, 0d3ff0000000000000; st.global.f64 [%rd32+8], %fd1;", true),
        ("mov.f64 %fd1, 0d3ff0000000000000; st.global.f64 [%rd32], %fd1;", false),
        ("mov.u32 %r1, 4; st.volatile.global.u32 [%rd32+8], %r1;", true),
    ] {
        assert_eq!(findings(&format!("{store}\n{load}"), how).is_empty(), is_enough, "{store}");
    }
    // Of a number of two granules both must be.
    let wide = "mov.u32 %r1, 4; st.global.u32 [%rd32+8], %r1;\nld.global.f64 %fd1, [%rd32+8];";
    assert_eq!(findings(wide, how).len(), 1);
    // The last granule, which is no whole word of bits, and a volatile load.
    assert_eq!(findings("ld.volatile.global.u32 %r2, [%rd32+8188];", how).len(), 1);
}

/// Without checks it holds what no kernel takes for a result: ones, which are NaNs.
#[test]
fn unwritten_shared_memory_is_full_of_nans() {
    let body = format!(".shared .align 8 .b8 s[16];\nld.shared.u32 %r0, [s+4];\n{STORE}");
    assert_eq!(run(&body, WARP, 32).unwrap(), [u64::from(u32::MAX); 32]);
}
