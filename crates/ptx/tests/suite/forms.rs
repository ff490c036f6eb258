//! What each form of instruction gives, against Rust's own arithmetic.

use crate::kernel::{Buffers, WARP, launch};
use octopus_ptx::Module;

/// Numbers that make trouble, as bits of 64.
const WIDE: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    0xffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x3ff0_0000_0000_0000, // 1
    0xbff8_0000_0000_0001, // -1.5, a little more
    0x7ff0_0000_0000_0000, // infinity
    0x7ff8_0000_0000_0000, // NaN
    0x000f_ffff_ffff_ffff, // subnormal
    0x4197_d784_0000_0000, // 1e8
];

/// The same of 32 bits.
const NARROW: [u32; 16] = [
    0,
    1,
    2,
    31,
    32,
    33,
    255,
    0x80,
    0x8000_0000,
    u32::MAX,
    0x3f80_0000, // 1
    0xbfc0_0001, // -1.5, a little more
    0x7f80_0000, // infinity
    0x7fc0_0000, // NaN
    0x007f_ffff, // subnormal
    0x4cbe_bc20, // 1e8
];

/// Runs `instruction` for each of the pairs, with all lanes and with those that an odd number leaves. The first operand is
/// in `%rd0`, `%fd0`, `%r0`, `%f0`, `%rs0` and `%p0` (whether it is odd), the second in those with 1; the result is
/// taken from `%rd2`, the first of `take`.
fn results(instruction: &str, take: &str, pairs: &[[u64; 2]]) -> Vec<u64> {
    let load = "mul.wide.u32 %rd10, %r30, 8;
add.s64 %rd11, %rd31, %rd10; add.s64 %rd12, %rd32, %rd10; add.s64 %rd13, %rd30, %rd10;
ld.global.u64 %rd0, [%rd11]; ld.global.u64 %rd1, [%rd12]; ld.global.f64 %fd0, [%rd11]; ld.global.f64 %fd1, [%rd12];
ld.global.u32 %r0, [%rd11]; ld.global.u32 %r1, [%rd12]; ld.global.f32 %f0, [%rd11]; ld.global.f32 %f1, [%rd12];
mov.b32 %rs0, %r0; mov.b32 %rs1, %r1; and.b32 %r10, %r0, 1; and.b32 %r11, %r1, 1;
setp.eq.s32 %p0, %r10, 1; setp.eq.s32 %p1, %r11, 1;
mov.u64 %rd2, 77; mov.u32 %r2, 77; mov.f32 %f2, %r2; mov.f64 %fd2, %rd2; mov.u32 %r3, 78; setp.eq.s32 %p2, %r30, 40;";
    // Lanes above 19 do it apart from the others, which it must not touch.
    let body = format!(
        "{load}\nsetp.lt.u32 %p3, %r30, 20;\n@%p3 bra $L_1;\n{instruction}\nbra $L_2;\n$L_1:\n{instruction}\n$L_2:\n{take}\nst.global.u64 [%rd13], %rd2;"
    );
    let whole = format!("{load}\n{instruction}\n{take}\nst.global.u64 [%rd13], %rd2;");
    let mut found = Vec::new();
    for chunk in pairs.chunks(32) {
        let mut results = Vec::new();
        for body in [&body, &whole] {
            let column = |k: usize| chunk.iter().map(|pair| pair[k]).chain(std::iter::repeat(0)).take(32).collect();
            let mut buffers: Buffers = [vec![0; 32], column(0), column(1)];
            assert_eq!(launch(body, WARP, &mut buffers).fault, None, "{instruction}");
            results.push(buffers[0][..chunk.len()].to_vec());
        }
        assert_eq!(results[0], results[1], "{instruction}: some lanes at a time");
        found.extend(results.remove(0));
    }
    found
}

/// How the result becomes a number of 64 bits in `%rd2`.
const OF_R: &str = "cvt.u64.u32 %rd2, %r2;";
const OF_F: &str = "mov.b32 %r2, %f2; cvt.u64.u32 %rd2, %r2;";
const OF_RS: &str = "cvt.u32.u16 %r2, %rs2; cvt.u64.u32 %rd2, %r2;";
const OF_FD: &str = "mov.b64 %rd2, %fd2;";
const OF_RD: &str = "";
const OF_P: &str = "selp.b64 %rd2, 1, 0, %p2;";

/// Checks an instruction on all pairs of the numbers that make trouble.
fn check(instruction: &str, take: &str, wide: bool, expected: impl Fn(u64, u64) -> u64) {
    let numbers: Vec<u64> = if wide { WIDE.to_vec() } else { NARROW.map(u64::from).to_vec() };
    let pairs: Vec<[u64; 2]> = numbers.iter().flat_map(|a| numbers.iter().map(move |b| [*a, *b])).collect();
    for ([a, b], found) in pairs.iter().zip(results(instruction, take, &pairs)) {
        let expected = expected(*a, *b);
        // A NaN is a NaN, whichever.
        let both_nan = (take == OF_FD && f64::from_bits(found).is_nan() && f64::from_bits(expected).is_nan())
            || (take == OF_F && f32::from_bits(found as u32).is_nan() && f32::from_bits(expected as u32).is_nan());
        assert!(found == expected || both_nan, "{instruction} of {a:#x} and {b:#x}: {found:#x}, not {expected:#x}");
    }
}

fn f64_2(instruction: &str, expected: impl Fn(f64, f64) -> f64) {
    check(instruction, OF_FD, true, |a, b| expected(f64::from_bits(a), f64::from_bits(b)).to_bits());
}

fn f32_2(instruction: &str, expected: impl Fn(f32, f32) -> f32) {
    let of = |bits: u64| f32::from_bits(bits as u32);
    check(instruction, OF_F, false, |a, b| u64::from(expected(of(a), of(b)).to_bits()));
}

fn u32_2(instruction: &str, expected: impl Fn(u32, u32) -> u32) {
    check(instruction, OF_R, false, |a, b| u64::from(expected(a as u32, b as u32)));
}

fn u64_2(instruction: &str, expected: impl Fn(u64, u64) -> u64) {
    check(instruction, OF_RD, true, expected);
}

#[test]
fn arithmetic_of_64_bits_is_ieee() {
    f64_2("add.rn.f64 %fd2, %fd0, %fd1;", |a, b| a + b);
    f64_2("sub.rn.f64 %fd2, %fd0, %fd1;", |a, b| a - b);
    f64_2("mul.rn.f64 %fd2, %fd0, %fd1;", |a, b| a * b);
    f64_2("div.rn.f64 %fd2, %fd0, %fd1;", |a, b| a / b);
    f64_2("sqrt.rn.f64 %fd2, %fd0;", |a, _| a.sqrt());
    f64_2("rcp.rn.f64 %fd2, %fd0;", |a, _| 1.0 / a);
    f64_2("neg.f64 %fd2, %fd0;", |a, _| -a);
    f64_2("abs.f64 %fd2, %fd0;", |a, _| a.abs());
    f64_2("mov.f64 %fd2, %fd0;", |a, _| a);
    f64_2("mov.f64 %fd2, 0d4008000000000000;", |_, _| 3.0);
    f64_2("selp.f64 %fd2, %fd0, %fd1, %p0;", |a, b| if a.to_bits() & 1 == 1 { a } else { b });
}

#[test]
fn arithmetic_of_32_bits_is_ieee() {
    f32_2("add.rn.f32 %f2, %f0, %f1;", |a, b| a + b);
    f32_2("sub.rn.f32 %f2, %f0, %f1;", |a, b| a - b);
    f32_2("mul.rn.f32 %f2, %f0, %f1;", |a, b| a * b);
    f32_2("div.rn.f32 %f2, %f0, %f1;", |a, b| a / b);
    f32_2("sqrt.rn.f32 %f2, %f0;", |a, _| a.sqrt());
    f32_2("rcp.rn.f32 %f2, %f0;", |a, _| 1.0 / a);
    f32_2("neg.f32 %f2, %f0;", |a, _| -a);
    f32_2("abs.f32 %f2, %f0;", |a, _| a.abs());
    f32_2("mov.f32 %f2, %f0;", |a, _| a);
    f32_2("mov.f32 %f2, 0f40400000;", |_, _| 3.0);
    f32_2("selp.f32 %f2, %f0, %f1, %p0;", |a, b| if a.to_bits() & 1 == 1 { a } else { b });
}

/// PTX ISA, `min` and `max`: of a number and a NaN both give the number, and -0 is smaller than +0.
#[test]
fn the_smaller_and_the_larger_of_two_numbers() {
    let swap = |a: bool, less: bool, equal: bool, b: bool| a || less || (equal && b);
    f64_2(
        "min.f64 %fd2, %fd0, %fd1;",
        |a, b| if swap(a.is_nan(), b < a, a == b, b.is_sign_negative()) { b } else { a },
    );
    f64_2(
        "max.f64 %fd2, %fd0, %fd1;",
        |a, b| if swap(a.is_nan(), a < b, a == b, b.is_sign_positive()) { b } else { a },
    );
    f32_2("min.f32 %f2, %f0, %f1;", |a, b| if swap(a.is_nan(), b < a, a == b, b.is_sign_negative()) { b } else { a });
}

#[test]
fn whole_numbers_of_32_bits() {
    u32_2("add.s32 %r2, %r0, %r1;", u32::wrapping_add);
    u32_2("sub.s32 %r2, %r0, %r1;", u32::wrapping_sub);
    u32_2("sub.s32 %r2, %r0, -3;", |a, _| a.wrapping_add(3));
    u32_2("mul.lo.s32 %r2, %r0, %r1;", u32::wrapping_mul);
    u32_2("mad.lo.s32 %r2, %r0, %r1, %r1;", |a, b| a.wrapping_mul(b).wrapping_add(b));
    u32_2("div.u32 %r2, %r0, %r1;", |a, b| a.checked_div(b).unwrap_or(u32::MAX));
    u32_2("max.u32 %r2, %r0, %r1;", u32::max);
    u32_2("min.u32 %r2, %r0, %r1;", u32::min);
    u32_2("and.b32 %r2, %r0, %r1;", |a, b| a & b);
    u32_2("or.b32 %r2, %r0, %r1;", |a, b| a | b);
    u32_2("xor.b32 %r2, %r0, %r1;", |a, b| a ^ b);
    u32_2("not.b32 %r2, %r0;", |a, _| !a);
    u64_2("not.b64 %rd2, %rd0;", |a, _| !a);
    u32_2("shl.b32 %r2, %r0, %r1;", |a, b| a.checked_shl(b).unwrap_or(0));
    u32_2("shr.u32 %r2, %r0, %r1;", |a, b| a.checked_shr(b).unwrap_or(0));
    u32_2("brev.b32 %r2, %r0;", |a, _| a.reverse_bits());
    u32_2("bfind.shiftamt.u32 %r2, %r0;", |a, _| {
        (0..32).rev().find(|bit| a >> bit & 1 == 1).map_or(u32::MAX, |b| 31 - b)
    });
    u32_2("mov.u32 %r2, %r0;", |a, _| a);
    u32_2("mov.b32 %r2, %f0;", |a, _| a);
    u32_2("selp.b32 %r2, %r0, %r1, %p0;", |a, b| if a & 1 == 1 { a } else { b });
    u32_2("selp.u32 %r2, 1, 0, %p0;", |a, _| a & 1);
    u32_2("cvt.s32.s8 %r2, %r0;", |a, _| (a as i8) as i32 as u32);
    check("and.b16 %rs2, %rs0, 255;", OF_RS, false, |a, _| a & 255);
    check("or.b16 %rs2, %rs0, 256;", OF_RS, false, |a, _| (a & 0xffff) | 256);
    check("mov.u16 %rs2, %rs0;", OF_RS, false, |a, _| a & 0xffff);
    check("mov.u16 %rs2, 9;", OF_RS, false, |_, _| 9);
    check("selp.u16 %rs2, 1, 0, %p0;", OF_RS, false, |a, _| a & 1);
}

#[test]
fn whole_numbers_of_64_bits() {
    u64_2("add.s64 %rd2, %rd0, %rd1;", u64::wrapping_add);
    u64_2("sub.s64 %rd2, %rd0, %rd1;", u64::wrapping_sub);
    u64_2("mul.lo.s64 %rd2, %rd0, %rd1;", u64::wrapping_mul);
    u64_2("mul.wide.u32 %rd2, %r0, %r1;", |a, b| u64::from(a as u32) * u64::from(b as u32));
    u64_2("div.u64 %rd2, %rd0, %rd1;", |a, b| a.checked_div(b).unwrap_or(u64::MAX));
    u64_2("min.u64 %rd2, %rd0, %rd1;", u64::min);
    u64_2("max.u64 %rd2, %rd0, %rd1;", u64::max);
    u64_2("and.b64 %rd2, %rd0, %rd1;", |a, b| a & b);
    u64_2("or.b64 %rd2, %rd0, %rd1;", |a, b| a | b);
    u64_2("xor.b64 %rd2, %rd0, %rd1;", |a, b| a ^ b);
    u64_2("shl.b64 %rd2, %rd0, %r1;", |a, b| a.checked_shl(b as u32).unwrap_or(0));
    u64_2("shr.u64 %rd2, %rd0, %r1;", |a, b| a.checked_shr(b as u32).unwrap_or(0));
    u64_2("mov.u64 %rd2, %rd0;", |a, _| a);
    u64_2("mov.b64 %rd2, %fd0;", |a, _| a);
    u64_2("cvta.to.global.u64 %rd2, %rd0;", |a, _| a);
    u64_2("selp.b64 %rd2, %rd0, %rd1, %p1;", |a, b| if b & 1 == 1 { a } else { b });
    u64_2("mov.b64 %rd2, {%r0, %r1};", |a, b| a & 0xffff_ffff | b << 32);
    u64_2("mov.b64 {%r2, %r3}, %rd0; cvt.u64.u32 %rd2, %r3;", |a, _| a >> 32);
    u64_2("mov.b64 {%r2, %r3}, %rd0; cvt.u64.u32 %rd2, %r2;", |a, _| a & 0xffff_ffff);
}

/// PTX ISA, `bfi`, bit by bit.
#[test]
fn bits_are_inserted() {
    let bfi = |a: u64, b: u64, position: u64, length: u64, width: u64| {
        (0..length & 255).fold(b, |bits, k| {
            let at = (position & 255) + k;
            if at < width { bits & !(1 << at) | (a >> k & 1) << at } else { bits }
        })
    };
    for (position, length) in [(0, 1), (6, 26), (32, 32), (31, 40), (0, 64), (70, 3), (5, 0), (255, 255), (256, 257)] {
        let narrow = format!("bfi.b32 %r2, %r0, %r1, {position}, {length};");
        u32_2(&narrow, |a, b| bfi(a.into(), b.into(), position, length, 32) as u32);
        u64_2(&format!("bfi.b64 %rd2, %rd0, %rd1, {position}, {length};"), |a, b| bfi(a, b, position, length, 64));
    }
}

#[test]
fn conversions_round_to_the_nearest() {
    u64_2("cvt.u64.u32 %rd2, %r0;", |a, _| a & 0xffff_ffff);
    check("cvt.u32.u64 %r2, %rd0;", OF_R, true, |a, _| a & 0xffff_ffff);
    check("cvt.f64.f32 %fd2, %f0;", OF_FD, false, |a, _| f64::from(f32::from_bits(a as u32)).to_bits());
    check("cvt.rn.f32.f64 %f2, %fd0;", OF_F, true, |a, _| u64::from((f64::from_bits(a) as f32).to_bits()));
    check("cvt.rn.f32.u16 %f2, %rs0;", OF_F, false, |a, _| u64::from(f32::from(a as u16).to_bits()));
    check("cvt.rn.f32.u32 %f2, %r0;", OF_F, false, |a, _| u64::from((a as u32 as f32).to_bits()));
    check("cvt.rn.f64.u32 %fd2, %r0;", OF_FD, false, |a, _| f64::from(a as u32).to_bits());
    check("cvt.rn.f32.u64 %f2, %rd0;", OF_F, true, |a, _| u64::from((a as f32).to_bits()));
    check("cvt.rn.f64.u64 %fd2, %rd0;", OF_FD, true, |a, _| (a as f64).to_bits());
    check("cvt.u32.u16 %r2, %rs0;", OF_R, false, |a, _| a & 0xffff);
}

#[test]
fn comparisons() {
    let real = |name: &str, holds: fn(Option<std::cmp::Ordering>) -> bool| {
        check(&format!("setp.{name}.f64 %p2, %fd0, %fd1;"), OF_P, true, |a, b| {
            u64::from(holds(f64::from_bits(a).partial_cmp(&f64::from_bits(b))))
        });
        check(&format!("setp.{name}.f32 %p2, %f0, %f1;"), OF_P, false, |a, b| {
            u64::from(holds(f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32))))
        });
    };
    real("eq", |order| order.is_some_and(|o| o.is_eq()));
    real("ne", |order| order.is_some_and(|o| o.is_ne()));
    real("lt", |order| order.is_some_and(|o| o.is_lt()));
    real("le", |order| order.is_some_and(|o| o.is_le()));
    real("gt", |order| order.is_some_and(|o| o.is_gt()));
    real("ge", |order| order.is_some_and(|o| o.is_ge()));
    real("ltu", |order| order.is_none_or(|o| o.is_lt()));
    real("leu", |order| order.is_none_or(|o| o.is_le()));
    real("neu", |order| order.is_none_or(|o| o.is_ne()));
    real("gtu", |order| order.is_none_or(|o| o.is_gt()));
    real("geu", |order| order.is_none_or(|o| o.is_ge()));
    real("nan", |order| order.is_none());
    type Holds = fn(std::cmp::Ordering) -> bool;
    let whole: [(&str, Holds); 6] = [
        ("eq", |o| o.is_eq()),
        ("ne", |o| o.is_ne()),
        ("lt", |o| o.is_lt()),
        ("le", |o| o.is_le()),
        ("gt", |o| o.is_gt()),
        ("ge", |o| o.is_ge()),
    ];
    for (name, holds) in whole {
        let narrow = |kind: &str| format!("setp.{name}.{kind} %p2, %r0, %r1;");
        let wide = |kind: &str| format!("setp.{name}.{kind} %p2, %rd0, %rd1;");
        check(&narrow("u32"), OF_P, false, |a, b| u64::from(holds((a as u32).cmp(&(b as u32)))));
        check(&narrow("s32"), OF_P, false, |a, b| u64::from(holds((a as i32).cmp(&(b as i32)))));
        check(&wide("u64"), OF_P, true, |a, b| u64::from(holds(a.cmp(&b))));
        check(&wide("s64"), OF_P, true, |a, b| u64::from(holds((a as i64).cmp(&(b as i64)))));
    }
    check("setp.eq.b32 %p2, %r0, %r1;", OF_P, false, |a, b| u64::from(a as u32 == b as u32));
    check("setp.eq.b64 %p2, %rd0, 1;", OF_P, true, |a, _| u64::from(a == 1));
    for (name, holds) in whole {
        let narrow = format!("setp.{name}.u16 %p2, %rs0, %rs1;");
        check(&narrow, OF_P, false, |a, b| u64::from(holds((a as u16).cmp(&(b as u16)))));
    }
    check("setp.eq.s16 %p2, %rs0, 0;", OF_P, false, |a, _| u64::from(a == 0));
}

#[test]
fn predicates() {
    check("and.pred %p2, %p0, %p1;", OF_P, false, |a, b| a & b & 1);
    check("or.pred %p2, %p0, %p1;", OF_P, false, |a, b| (a | b) & 1);
    check("xor.pred %p2, %p0, %p1;", OF_P, false, |a, b| (a ^ b) & 1);
    check("not.pred %p2, %p0;", OF_P, false, |a, _| !a & 1);
    check("mov.pred %p2, %p0;", OF_P, false, |a, _| a & 1);
    check("mov.pred %p2, -1;", OF_P, false, |_, _| 1);
    check("mov.pred %p2, 0;", OF_P, false, |_, _| 0);
    check("@%p0 mov.u32 %r2, 5;", OF_R, false, |a, _| if a & 1 == 1 { 5 } else { 77 });
    check("@!%p0 mov.u32 %r2, 5;", OF_R, false, |a, _| if a & 1 == 1 { 77 } else { 5 });
}

/// Any other form is an error that names its line and itself.
#[test]
fn other_forms_are_refused() {
    for (wrong, reason) in [
        ("fma.rn.f64 %fd0, %fd1, %fd2, %fd3;", "this form of instruction is not known here"),
        ("ex2.approx.ftz.f32 %f0, %f1;", "this form of instruction is not known here"),
        ("rcp.approx.ftz.f32 %f0, %f1;", "this form of instruction is not known here"),
        ("add.f64 %fd0, %fd1, %fd2;", "this form of instruction is not known here"),
        ("setp.lo.u32 %p0, %r0, %r1;", "this form of instruction is not known here"),
        ("setp.lt.b32 %p0, %r0, %r1;", "this form of instruction is not known here"),
        ("setp.ltu.s32 %p0, %r0, %r1;", "this form of instruction is not known here"),
        ("ld.local.u32 %r0, [%rd0];", "this form of instruction is not known here"),
        ("ld.global.s8 %r0, [%rd0];", "this form of instruction is not known here"),
        ("ld.acquire.gpu.u32 %r0, [%rd0];", "this form of instruction is not known here"),
        ("st.relaxed.cta.u32 [%rd0], %r0;", "this form of instruction is not known here"),
        ("ld.relaxed.gpu.shared.u32 %r0, [%rd0];", "this form of instruction is not known here"),
        ("ld.volatile.shared.u32 %r0, [%rd0];", "this form of instruction is not known here"),
        ("st.param.u32 [k_param_0], %r0;", "this form of instruction is not known here"),
        ("bar.sync 1;", "only barrier 0 of all threads is known here"),
        ("bar.sync 0, 64;", "only barrier 0 of all threads is known here"),
        ("add.s32 %r0, %r1;", "it has 2 operands, and 3 are known here"),
        ("add.s32 %r0, %r1, %rd2;", "%rd2 is of another type"),
        ("add.s32 %r0, %r1, %r99;", "`%r99` is not known here"),
        ("add.s32 5, %r1, %r2;", "there is no register 5"),
        ("mov.u32 %r0, %laneid;", "`%laneid` is not known here"),
        ("mov.b64 %rd0, {%r0, %r1, %r2};", "this vector"),
        ("ld.global.v2.u32 {%r0}, [%rd0];", "it has 1 registers for 2 elements"),
        ("ld.global.u32 %r0, %rd0;", "it has no address"),
        ("ld.global.u32 %r0, [%rd0+x];", "`x` is no offset"),
        ("ld.global.u32 %r0;", "it has not two operands"),
        ("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;", "it has no predicate"),
        ("@%r0 bra $L_9;", "%r0 is of another type"),
        ("bra;", "it goes nowhere"),
    ] {
        let error = Module::parse(&crate::kernel::text(wrong)).unwrap_err();
        assert_eq!(error.line, crate::kernel::FIRST, "{wrong}");
        assert_eq!(error.reason, reason, "{wrong}");
        assert!(error.to_string().contains(wrong.trim_end_matches(';')), "{error}");
    }
}

#[test]
fn texts_that_have_no_sense_are_refused() {
    let whole = crate::kernel::text("");
    let error = |text: &str| Module::parse(text).map(drop).expect_err(text).to_string();
    assert_eq!(error(&crate::kernel::text("bra $L_9;")), "line 21: `bra $L_9`: there is no such place");
    assert_eq!(
        error(&crate::kernel::text("@%p0 bra $end;").replace("ret;\n}", "$end:\n}")),
        "line 21: `bra $end`: there is no such place"
    );
    assert_eq!(error(&whole.replace("\tret;\n", "")), "line 20: `k`: the code does not end with `ret`");
    assert!(error(&whole.replace("}\n", "")).ends_with("the entry has no end"), "{}", error(&whole.replace("}\n", "")));
    assert_eq!(error(".visible .func f()"), "line 1: `.visible .func f()`: this directive is not known here");
    assert_eq!(
        error(".shared .align 8 .b16 x[4];"),
        "line 1: `.shared .align 8 .b16 x[4];`: this kind of variable is not known here"
    );
    assert_eq!(error(".shared .align 8 .b8 x[];"), "line 1: `.shared .align 8 .b8 x[];`: it has no fixed size");
    assert_eq!(error(".shared .align 8 x;"), "line 1: `.shared .align 8 x;`: it has no type or no name");
    let local = whole.replace("\t.reg .pred", "\t.local .b8 x[4];\n\t.reg .pred");
    assert_eq!(error(&local), "line 11: `.local .b8 x[4]`: this directive is not known here");
    let kind = whole.replace(".reg .b16", ".reg .b128");
    assert_eq!(error(&kind), "line 12: `.reg .b128 %rs<40>`: registers of this type are not known here");
}
