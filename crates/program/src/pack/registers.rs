//! Few registers for a loop, so that they stay in the cache: each is free after its last use.

use crate::plan::{Instruction, Loop, Operand};
use std::collections::HashMap;

/// Replaces the nodes' numbers by registers. The result's register is never an operand's.
pub(crate) fn assign(made: &mut Loop) {
    let mut last: HashMap<u32, usize> = HashMap::new();
    for (at, instruction) in made.code.iter_mut().enumerate() {
        for operand in operands(instruction) {
            if let Operand::Register(id) = operand {
                last.insert(*id, at);
            }
        }
    }
    let mut free: Vec<u32> = Vec::new();
    let mut register: HashMap<u32, u32> = HashMap::new();
    let mut count = 0;
    for (at, instruction) in made.code.iter_mut().enumerate() {
        if let Instruction::Map { out, .. } | Instruction::Gather { out, .. } | Instruction::Columns { out, .. } =
            instruction
        {
            let id = *out;
            let own = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            *out = own;
            register.insert(id, own);
            if !last.contains_key(&id) {
                free.push(own);
            }
        }
        let mut done = Vec::new();
        for operand in operands(instruction) {
            if let Operand::Register(id) = operand {
                let own = register.get(id).copied().unwrap_or(0);
                if last.get(id) == Some(&at) && !done.contains(&own) {
                    done.push(own);
                }
                *operand = Operand::Register(own);
            }
        }
        free.extend(done);
    }
    made.registers = count as usize;
}

pub(super) fn operands(instruction: &mut Instruction) -> impl Iterator<Item = &mut Operand> {
    let operands: [Option<&mut Operand>; 3] = match instruction {
        Instruction::Map { args: [a, b, c], .. } => [Some(a), Some(b), Some(c)],
        Instruction::Gather { .. } => [None, None, None],
        Instruction::Store { from, .. } => [Some(from), None, None],
        Instruction::Sum { values, .. } | Instruction::SegmentSum { values, .. } => [Some(values), None, None],
        Instruction::Dot { a, b, .. } => [Some(a), Some(b), None],
        Instruction::Columns { from, .. } => [Some(from), None, None],
        Instruction::Dots { values, .. } => [Some(values), None, None],
    };
    operands.into_iter().flatten()
}
