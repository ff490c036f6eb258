//! What shuffles ask for, as far as the text says it: the compiler puts masks, bounds and distances into registers that it
//! writes once.

use crate::instruction::{Class, Guard, Instruction, Op, ShuffleShape};
use crate::lanes::ALL;
use crate::module::Code;
use std::collections::HashMap;

/// The bounds of a shuffle over the whole warp.
const WHOLE_WARP: u32 = 31;

/// Notes what each shuffle is known to ask for.
pub(crate) fn note_shuffles(code: &mut Code) {
    let known = known_words(code);
    for instruction in &mut code.instructions {
        if let Op::ShuffleXor | Op::ShuffleIndex = instruction.op {
            let [_, asked, bounds, mask] = instruction.from.map(|register| known.get(&register).copied());
            let is_whole = bounds == Some(WHOLE_WARP) && mask == Some(ALL);
            let asked = asked.map(|asked| (asked & WHOLE_WARP) as u8);
            instruction.shuffle = ShuffleShape { is_whole, asked };
        }
    }
}

/// Returns the registers that hold one value wherever they are read, and these values: immediate operands, and what is
/// moved from one of them by the only instruction that writes the register.
fn known_words(code: &Code) -> HashMap<u16, u32> {
    let immediates: HashMap<u16, u32> = code.words.iter().copied().collect();
    let mut written: HashMap<u16, Vec<&Instruction>> = HashMap::new();
    for instruction in &code.instructions {
        instruction.each_write(|class, register| {
            if class == Class::Word {
                written.entry(register).or_default().push(instruction);
            }
        });
    }
    let mut known = immediates.clone();
    for (register, writes) in written {
        if let [Instruction { op: Op::Move32, guard: Guard::All, from: [from, ..], .. }] = writes[..]
            && let Some(value) = immediates.get(from)
        {
            known.insert(register, *value);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::instruction::{Op, ShuffleShape};

    /// What is known of the only shuffle of this body.
    fn shape(body: &str) -> ShuffleShape {
        let text = format!(".visible .entry k(\n)\n{{\n.reg .b32 %r<40>;\n.reg .pred %p<9>;\n{body}\nret;\n}}");
        let module = Module::parse(&text).unwrap();
        let code = &module.entry("k").unwrap().compact.code;
        let is_shuffle = |op| matches!(op, Op::ShuffleXor | Op::ShuffleIndex);
        code.instructions.iter().find(|instruction| is_shuffle(instruction.op)).unwrap().shuffle
    }

    #[test]
    fn what_is_written_once_is_known() {
        let shuffle = "shfl.sync.bfly.b32 %r1|%p1, %r2, %r3, %r4, %r5;";
        let moves = "mov.u32 %r2, 9; mov.u32 %r3, 16; mov.u32 %r4, 31; mov.u32 %r5, -1;";
        let known = ShuffleShape { is_whole: true, asked: Some(16) };
        assert_eq!(shape(&format!("{moves} {shuffle}")), known);
        assert_eq!(shape("mov.u32 %r2, 9; shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;"), known);
        for (more, expected) in [
            // Written twice, by another instruction, or under a guard.
            ("mov.u32 %r3, 8;", ShuffleShape { asked: None, ..known }),
            ("add.s32 %r3, %r3, 1;", ShuffleShape { asked: None, ..known }),
            ("mov.u32 %r4, 31;", ShuffleShape { is_whole: false, ..known }),
            ("setp.eq.s32 %p2, %r2, 1; @%p2 mov.u32 %r5, -1;", ShuffleShape { is_whole: false, ..known }),
        ] {
            assert_eq!(shape(&format!("{moves} {more} {shuffle}")), expected, "{more}");
        }
        let guarded = moves.replace("mov.u32 %r3", "setp.eq.s32 %p2, %r2, 1; @%p2 mov.u32 %r3");
        assert_eq!(shape(&format!("{guarded} {shuffle}")), ShuffleShape { asked: None, ..known });
        for (from, to) in [("31", "15"), ("-1", "65535")] {
            let other = moves.replace(from, to);
            assert_eq!(shape(&format!("{other} {shuffle}")), ShuffleShape { is_whole: false, ..known }, "{to}");
        }
    }
}
