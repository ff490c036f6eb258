//! The forms of instructions that our kernels have. Any other is an error.

use crate::instruction::Class::{self, Double as D, Predicate as P, Word as W};
use crate::instruction::Compare::{self, Eq, Ge, GeU, Gt, GtU, Le, LeU, Lt, LtU, Nan, Ne, NeU};
use crate::instruction::Op::{self, *};
use crate::instruction::{MemoryAccess, Special, SpecialKind, StateSpace};

/// What a form does, and the classes of what it writes and reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) op: Op,
    pub(crate) writes: &'static [Class],
    pub(crate) reads: &'static [Class],
}

/// Names without the parts that only say how an operand is seen.
#[rustfmt::skip]
const FORMS: &[(&str, Op, &[Class], &[Class])] = &[
    ("add.rn.f64", AddF64, &[D], &[D, D]), ("sub.rn.f64", SubF64, &[D], &[D, D]), ("mul.rn.f64", MulF64, &[D], &[D, D]),
    ("div.rn.f64", DivF64, &[D], &[D, D]), ("sqrt.rn.f64", SqrtF64, &[D], &[D]), ("rcp.rn.f64", RcpF64, &[D], &[D]),
    ("neg.f64", NegF64, &[D], &[D]), ("min.f64", MinF64, &[D], &[D, D]),
    ("max.f64", MaxF64, &[D], &[D, D]),
    ("add.rn.f32", AddF32, &[W], &[W, W]), ("sub.rn.f32", SubF32, &[W], &[W, W]), ("mul.rn.f32", MulF32, &[W], &[W, W]),
    ("div.rn.f32", DivF32, &[W], &[W, W]), ("sqrt.rn.f32", SqrtF32, &[W], &[W]), ("rcp.rn.f32", RcpF32, &[W], &[W]),
    ("neg.f32", NegF32, &[W], &[W]), ("min.f32", MinF32, &[W], &[W, W]),
    ("add.s32", Add32, &[W], &[W, W]), ("sub.s32", Sub32, &[W], &[W, W]), ("and.b32", And32, &[W], &[W, W]),
    ("and.b16", And32, &[W], &[W, W]), ("or.b16", Or32, &[W], &[W, W]), ("or.b32", Or32, &[W], &[W, W]),
    ("xor.b32", Xor32, &[W], &[W, W]), ("not.b32", Not32, &[W], &[W]), ("shl.b32", Shl32, &[W], &[W, W]), ("shr.u32", Shr32, &[W], &[W, W]),
    ("mul.lo.s32", Mul32, &[W], &[W, W]), ("mad.lo.s32", MulAdd32, &[W], &[W, W, W]),
    ("mul.wide.u32", MulWide, &[D], &[W, W]), ("div.u32", Div32, &[W], &[W, W]), ("max.u32", Max32, &[W], &[W, W]),
    ("min.u32", Min32, &[W], &[W, W]),
    ("bfi.b32", InsertBits32, &[W], &[W, W, W, W]), ("brev.b32", ReverseBits, &[W], &[W]),
    ("bfind.shiftamt.u32", FindShift, &[W], &[W]), ("cvt.s32.s8", SignExtend8, &[W], &[W]),
    ("cvt.u32.u16", ZeroExtend16, &[W], &[W]),
    ("add.s64", Add64, &[D], &[D, D]), ("sub.s64", Sub64, &[D], &[D, D]), ("and.b64", And64, &[D], &[D, D]),
    ("or.b64", Or64, &[D], &[D, D]), ("not.b64", Not64, &[D], &[D]), ("max.u64", Max64, &[D], &[D, D]),
    ("xor.b64", Xor64, &[D], &[D, D]), ("shl.b64", Shl64, &[D], &[D, W]),
    ("shr.u64", Shr64, &[D], &[D, W]), ("mul.lo.s64", Mul64, &[D], &[D, D]), ("div.u64", Div64, &[D], &[D, D]),
    ("min.u64", Min64, &[D], &[D, D]), ("bfi.b64", InsertBits64, &[D], &[D, D, W, W]),
    ("cvta.to.global.u64", Move64, &[D], &[D]),
    ("cvt.u32.u64", Narrow, &[W], &[D]), ("cvt.u64.u32", Widen, &[D], &[W]), ("cvt.f64.f32", F32ToF64, &[D], &[W]),
    ("cvt.rn.f32.f64", F64ToF32, &[W], &[D]), ("cvt.rn.f32.u32", U32ToF32, &[W], &[W]),
    ("cvt.rn.f32.u16", U16ToF32, &[W], &[W]),
    ("cvt.rn.f64.u32", U32ToF64, &[D], &[W]), ("cvt.rn.f32.u64", U64ToF32, &[W], &[D]),
    ("cvt.rn.f64.u64", U64ToF64, &[D], &[D]),
    ("abs.f64", AbsF64, &[D], &[D]), ("abs.f32", AbsF32, &[W], &[W]),
    ("selp.f32", Select32, &[W], &[W, W, P]), ("selp.b32", Select32, &[W], &[W, W, P]),
    ("selp.u32", Select32, &[W], &[W, W, P]), ("selp.u16", Select32, &[W], &[W, W, P]),
    ("selp.f64", Select64, &[D], &[D, D, P]), ("selp.b64", Select64, &[D], &[D, D, P]),
    ("and.pred", AndPredicate, &[P], &[P, P]), ("or.pred", OrPredicate, &[P], &[P, P]),
    ("xor.pred", XorPredicate, &[P], &[P, P]), ("not.pred", NotPredicate, &[P], &[P]),
    ("mov.pred", MovePredicate, &[P], &[P]),
    ("mov.u32", Move32, &[W], &[W]), ("mov.b32", Move32, &[W], &[W]), ("mov.f32", Move32, &[W], &[W]),
    ("mov.u16", Move32, &[W], &[W]),
    ("mov.u64", Move64, &[D], &[D]), ("mov.f64", Move64, &[D], &[D]), ("mov.b64", Move64, &[D], &[D]),
    ("bra", Branch, &[], &[]), ("bra.uni", Branch, &[], &[]), ("ret", Return, &[], &[]),
    ("bar.sync", Barrier, &[], &[W]), ("bar.warp.sync", WarpBarrier, &[], &[W]), ("membar.gl", Fence, &[], &[]),
    ("nanosleep.u32", Sleep, &[], &[W]),
    ("shfl.sync.bfly.b32", ShuffleXor, &[W, P], &[W, W, W, W]),
    ("shfl.sync.idx.b32", ShuffleIndex, &[W, P], &[W, W, W, W]),
];

/// `mov.b64` from or to the two halves.
pub(crate) const PACK: Form = Form { op: Pack, writes: &[D], reads: &[W, W] };
pub(crate) const UNPACK: Form = Form { op: Unpack, writes: &[W, W], reads: &[D] };

/// Returns the form of this name.
pub(crate) fn form(name: &str) -> Option<Form> {
    if let Some(&(_, op, writes, reads)) = FORMS.iter().find(|(known, ..)| *known == name) {
        return Some(Form { op, writes, reads });
    }
    match name.split('.').collect::<Vec<_>>()[..] {
        ["setp", compare, kind] => comparison(compare, kind),
        _ => None,
    }
}

fn comparison(compare: &str, kind: &str) -> Option<Form> {
    let ordered = match compare {
        "eq" => Eq,
        "ne" => Ne,
        "lt" => Lt,
        "le" => Le,
        "gt" => Gt,
        "ge" => Ge,
        _ => return real_comparison(compare, kind),
    };
    let (op, reads): (Op, &[Class]) = match (kind, ordered) {
        ("s16" | "s32", _) | ("b32", Eq | Ne) => (CompareS32(ordered), &[W, W]),
        ("u16", _) => (CompareU16(ordered), &[W, W]),
        ("u32", _) => (CompareU32(ordered), &[W, W]),
        ("s64", _) | ("b64", Eq | Ne) => (CompareS64(ordered), &[D, D]),
        ("u64", _) => (CompareU64(ordered), &[D, D]),
        ("f32", _) => (CompareF32(ordered), &[W, W]),
        ("f64", _) => (CompareF64(ordered), &[D, D]),
        _ => return None,
    };
    Some(Form { op, writes: &[P], reads })
}

fn real_comparison(compare: &str, kind: &str) -> Option<Form> {
    let compare: Compare = match compare {
        "neu" => NeU,
        "ltu" => LtU,
        "leu" => LeU,
        "gtu" => GtU,
        "geu" => GeU,
        "nan" => Nan,
        _ => return None,
    };
    match kind {
        "f32" => Some(Form { op: CompareF32(compare), writes: &[P], reads: &[W, W] }),
        "f64" => Some(Form { op: CompareF64(compare), writes: &[P], reads: &[D, D] }),
        _ => None,
    }
}

/// Returns how an instruction like `ld.global.v2.u32` reaches memory; nothing when it is no load or store of ours.
pub(crate) fn access(name: &str) -> Option<(bool, MemoryAccess)> {
    let mut parts = name.split('.').peekable();
    let is_load = match parts.next()? {
        "ld" => true,
        "st" => false,
        _ => return None,
    };
    let relaxed = parts.next_if_eq(&"relaxed").is_some();
    if relaxed && parts.next() != Some("gpu") {
        return None;
    }
    let volatile = parts.next_if_eq(&"volatile").is_some();
    let space = match *parts.peek()? {
        "shared" => StateSpace::Shared,
        "param" => StateSpace::Parameter,
        _ => StateSpace::Global,
    };
    parts.next_if(|part| ["global", "shared", "param"].contains(part));
    let count = match *parts.peek()? {
        "v2" => 2,
        "v4" => 4,
        _ => 1,
    };
    parts.next_if(|part| ["v2", "v4"].contains(part));
    let width = match parts.next()? {
        "u8" => 1,
        "u16" => 2,
        "u32" | "f32" => 4,
        "u64" | "f64" => 8,
        _ => return None,
    };
    let doubles = width == 8;
    // No store changes a parameter, and nothing of ours waits for what is in shared memory.
    let exists = (is_load || space != StateSpace::Parameter) && (!(volatile || relaxed) || space == StateSpace::Global);
    (parts.next().is_none() && exists)
        .then_some((is_load, MemoryAccess { space, width, count, volatile, relaxed, doubles, uniform: false }))
}

/// Returns the special register of this name.
pub(crate) fn special(name: &str) -> Option<Special> {
    let (kind, axis) = name.split_once('.')?;
    let of = match kind {
        "%tid" => SpecialKind::Thread,
        "%ntid" => SpecialKind::Threads,
        "%ctaid" => SpecialKind::Block,
        "%nctaid" => SpecialKind::Blocks,
        _ => return None,
    };
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    Some(Special { of, axis: axis as u8 })
}
