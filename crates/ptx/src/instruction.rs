//! An instruction as the interpreter runs it.

/// The kind of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// There is no operand.
    #[default]
    None,
    /// 32 bits, or 16 of them.
    Word,
    /// 64 bits.
    Double,
    /// One bit.
    Predicate,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(crate) enum Op {
    AddF64, SubF64, MulF64, DivF64, SqrtF64, RcpF64, NegF64, MinF64, MaxF64, AbsF64,
    AddF32, SubF32, MulF32, DivF32, SqrtF32, RcpF32, NegF32, MinF32, AbsF32,
    Add32, Sub32, And32, Or32, Xor32, Not32, Shl32, Shr32, Mul32, MulAdd32, MulWide, Div32, Min32, Max32, Select32,
    InsertBits32, ReverseBits, FindShift, SignExtend8, ZeroExtend16, Move32,
    Add64, Sub64, And64, Or64, Xor64, Not64, Shl64, Shr64, Mul64, Div64, Min64, Max64, Select64, InsertBits64, Move64, Pack, Unpack,
    Narrow, Widen, F32ToF64, F64ToF32, U16ToF32, U32ToF32, U32ToF64, U64ToF32, U64ToF64,
    AndPredicate, OrPredicate, XorPredicate, NotPredicate, MovePredicate,
    CompareS32(Compare), CompareU16(Compare), CompareU32(Compare), CompareS64(Compare), CompareU64(Compare),
    CompareF32(Compare), CompareF64(Compare),
    Branch, Return, Barrier, WarpBarrier, Sleep, Fence, ShuffleXor, ShuffleIndex,
    Load(MemoryAccess), Store(MemoryAccess), Special(Special),
}

/// A comparison; those that end in `U` hold of a NaN too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(crate) enum Compare { Eq, Ne, Lt, Le, Gt, Ge, NeU, LtU, LeU, GtU, GeU, Nan }

/// A special register of three dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Special {
    pub(crate) of: SpecialKind,
    /// 0 for x, 1 for y, 2 for z.
    pub(crate) axis: u8,
}

/// `%tid`, `%ntid`, `%ctaid` and `%nctaid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialKind {
    Thread,
    Threads,
    Block,
    Blocks,
}

/// Where an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateSpace {
    /// Also generic addresses: none of ours point anywhere else.
    Global,
    Shared,
    Parameter,
}

/// How a load or store reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryAccess {
    pub(crate) space: StateSpace,
    /// The bytes of an element: 1, 2, 4 or 8.
    pub(crate) width: u8,
    /// The elements: 1, 2 or 4.
    pub(crate) count: u8,
    /// Other threads may read it or have written it: a flag.
    pub(crate) volatile: bool,
    /// Other threads may read it or write it meanwhile: it orders nothing else.
    pub(crate) relaxed: bool,
    /// The registers have 64 bits, whatever the elements have.
    pub(crate) doubles: bool,
    /// All lanes have the same address: that of a parameter or a variable.
    pub(crate) uniform: bool,
}

impl MemoryAccess {
    /// Returns the bytes that each lane reaches.
    #[inline(always)]
    pub(crate) fn bytes(self) -> u64 {
        u64::from(self.width) * u64::from(self.count)
    }
}

/// What is known of a shuffle before it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShuffleShape {
    /// It is over the whole warp: of all its lanes, with no bounds between them.
    pub(crate) is_whole: bool,
    /// The lane, or the distance, that all lanes ask for.
    pub(crate) asked: Option<u8>,
}

/// The most operands of either side.
pub(crate) const MOST: usize = 4;

/// One instruction. Immediate operands have registers of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    /// What is written; a store has here what it reads.
    pub(crate) to: [u16; MOST],
    /// What is read.
    pub(crate) from: [u16; MOST],
    pub(crate) writes: [Class; MOST],
    pub(crate) reads: [Class; MOST],
    /// What is added to the address of a load or store.
    pub(crate) offset: i64,
    pub(crate) guard: Guard,
    pub(crate) shuffle: ShuffleShape,
    /// Where a branch goes.
    pub(crate) target: u32,
    /// Lanes that went apart may meet here: branches end here, or lanes go on from one.
    pub(crate) joins: bool,
    /// The line of the text.
    pub(crate) line: u32,
}

/// Which lanes do the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    All,
    If(u16),
    Unless(u16),
}

impl Guard {
    /// Returns the predicate that it looks at.
    pub(crate) fn predicate(self) -> Option<u16> {
        match self {
            Self::All => None,
            Self::If(predicate) | Self::Unless(predicate) => Some(predicate),
        }
    }
}

impl Instruction {
    /// Calls `visit` with each register that is read, the guard's included.
    pub(crate) fn each_read(&self, mut visit: impl FnMut(Class, u16)) {
        let stored: &[Class] = if let Op::Store(_) = self.op { &self.writes } else { &[] };
        let of = |classes: &[Class], registers: &[u16; MOST], visit: &mut dyn FnMut(Class, u16)| {
            let operands = classes.iter().zip(registers).filter(|(class, _)| **class != Class::None);
            operands.for_each(|(class, register)| visit(*class, *register));
        };
        of(&self.reads, &self.from, &mut visit);
        of(stored, &self.to, &mut visit);
        if let Some(predicate) = self.guard.predicate() {
            visit(Class::Predicate, predicate);
        }
    }

    /// Calls `visit` with each register that is written.
    pub(crate) fn each_write(&self, mut visit: impl FnMut(Class, u16)) {
        if let Op::Store(_) = self.op {
            return;
        }
        let operands = self.writes.iter().zip(&self.to).filter(|(class, _)| **class != Class::None);
        operands.for_each(|(class, register)| visit(*class, *register));
    }

    /// Gives each register the number that `number` says.
    pub(crate) fn renumber(&mut self, number: impl Fn(Class, u16) -> u16) {
        for (class, register) in self.reads.iter().zip(&mut self.from).chain(self.writes.iter().zip(&mut self.to)) {
            if *class != Class::None {
                *register = number(*class, *register);
            }
        }
        self.guard = match self.guard {
            Guard::All => Guard::All,
            Guard::If(predicate) => Guard::If(number(Class::Predicate, predicate)),
            Guard::Unless(predicate) => Guard::Unless(number(Class::Predicate, predicate)),
        };
    }
}
