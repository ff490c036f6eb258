//! The kind of a machine instruction, as far as its time goes: which unit takes it and what its result is waited for.

use super::sass::Instruction;

/// Kinds of instructions, each with times of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Integer additions, logic, shifts, selects, comparisons, moves.
    Integer,
    /// Multiplications and additions of f32.
    Float,
    /// Integer multiplications and additions, and moves that ptxas gives to the same unit.
    IntegerMultiply,
    /// Arithmetic and comparisons of f64.
    Double,
    /// Conversions from and to f64.
    DoubleConversion,
    /// Seeds of divisions and square roots.
    Special,
    /// Other conversions, counts of bits.
    Conversion,
    /// Exchanges between lanes.
    Shuffle,
    SharedLoad,
    SharedStore,
    /// From global or local memory.
    GlobalLoad,
    GlobalStore,
    Atomic,
    /// From a bank of constants: parameters of the kernel, numbers.
    ConstantLoad,
    /// What the unit for numbers that all lanes share does.
    Uniform,
    /// Constants for that unit, and moves to it.
    UniformLoad,
    /// Reads of the lane's number and the like.
    SpecialRegister,
    /// Orders memory.
    Fence,
    /// Waits of lanes or warps for each other.
    Barrier,
    Branch,
    /// What no kernel here spends time on.
    Other,
}

impl Kind {
    /// The kind of an instruction.
    pub(super) fn of(instruction: &Instruction) -> Self {
        let is_double = instruction.has("F64");
        match instruction.name() {
            "FADD" | "FMUL" | "FFMA" | "HFMA2" | "HADD2" | "HMUL2" => Self::Float,
            "IMAD" | "IDP" => Self::IntegerMultiply,
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Self::Double,
            "F2F" | "F2I" | "I2F" | "FRND" | "I2FP" | "F2FP" if is_double => Self::DoubleConversion,
            "MUFU" => Self::Special,
            "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "POPC" | "FLO" | "BREV" => Self::Conversion,
            "SHFL" => Self::Shuffle,
            "LDS" => Self::SharedLoad,
            "STS" => Self::SharedStore,
            "LDG" | "LD" | "LDL" => Self::GlobalLoad,
            "STG" | "ST" | "STL" => Self::GlobalStore,
            "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" => Self::Atomic,
            "LDC" => Self::ConstantLoad,
            "ULDC" | "LDCU" | "R2UR" | "UR2R" => Self::UniformLoad,
            "S2R" | "S2UR" | "CS2R" | "CS2UR" => Self::SpecialRegister,
            "MEMBAR" | "ERRBAR" | "CCTL" | "FENCE" => Self::Fence,
            "BAR" | "WARPSYNC" | "BSYNC" | "DEPBAR" | "NANOSLEEP" => Self::Barrier,
            "BRA" | "BRX" | "JMP" | "CALL" | "RET" | "EXIT" | "BREAK" | "BSSY" | "BMOV" | "BRXU" => Self::Branch,
            "NOP" => Self::Other,
            name if is_uniform(name) => Self::Uniform,
            _ => Self::Integer,
        }
    }

    /// Whether it takes the units for f64.
    pub(super) fn is_double(self) -> bool {
        matches!(self, Self::Double | Self::DoubleConversion)
    }
}

/// Opcodes of the unit for uniform numbers: `UMOV`, `UIADD3`, `USEL`, ...; `UNDEF` would be none.
fn is_uniform(name: &str) -> bool {
    name.starts_with('U') && name.len() > 3
}

/// The registers of 32 bits that an access to memory moves for each lane.
pub(super) fn width(instruction: &Instruction) -> u64 {
    match () {
        () if instruction.has("128") => 4,
        () if instruction.has("64") => 2,
        () => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sass::tests::written;
    use super::*;

    #[test]
    fn opcodes_are_known_with_what_their_modifiers_change() {
        for (code, kind, registers) in [
            ("DADD R0, R1, R2", Kind::Double, 1),
            ("FSEL R0, R1, R2, P0", Kind::Integer, 1),
            ("VIADD R0, R1, 0x1", Kind::Integer, 1),
            ("IMAD.MOV.U32 R0, RZ, RZ, R1", Kind::IntegerMultiply, 1),
            ("F2F.F64.F32 R0, R1", Kind::DoubleConversion, 1),
            ("I2F.U32.RP R0, R1", Kind::Conversion, 1),
            ("MUFU.RCP64H R0, R1", Kind::Special, 1),
            ("LDG.E.64 R0, desc[UR6][R2.64]", Kind::GlobalLoad, 2),
            ("LDS.128 R0, [R2]", Kind::SharedLoad, 4),
            ("LDC.64 R0, c[0x0][0x210]", Kind::ConstantLoad, 2),
            ("ULDC.64 UR4, c[0x0][0x210]", Kind::UniformLoad, 2),
            ("LDCU UR4, c[0x0][0x210]", Kind::UniformLoad, 1),
            ("UMOV UR4, 0x1", Kind::Uniform, 1),
            ("BRA.DIV UR4, `(.L)", Kind::Branch, 1),
            ("BAR.SYNC 0x0", Kind::Barrier, 1),
        ] {
            let line = format!("1 - - | {code}");
            let listing = written(&[line.as_str()]);
            let instruction = &listing.instructions[0];
            assert_eq!((Kind::of(instruction), width(instruction)), (kind, registers), "{code}");
        }
    }
}
