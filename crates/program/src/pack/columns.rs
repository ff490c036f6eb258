//! Products of columns and scalars that are added one after the other: several columns are read for one sum that is written.

use super::registers::operands;
use crate::operation::Op;
use crate::order::LANES;
use crate::plan::{Instruction, Loop, Operand, View};
use std::collections::{BTreeMap, HashMap};

/// Fewer products are added one by one.
const FEWEST: usize = 4;

/// Additions of which each reads the one before, and nothing else does.
struct ColumnChain {
    from: Operand,
    terms: Vec<(View, u32)>,
    /// The same one by one.
    code: Vec<Instruction>,
}

/// Joins the chains of a loop; results are still numbered by their nodes.
pub(super) fn join(made: &mut Loop) {
    if made.rows <= LANES {
        return;
    }
    let mut reads: HashMap<u32, usize> = HashMap::new();
    for operand in made.code.iter_mut().flat_map(operands) {
        if let Operand::Register(id) = *operand {
            *reads.entry(id).or_default() += 1;
        }
    }
    let mut chains: HashMap<u32, ColumnChain> = HashMap::new();
    // By the values: the place of the first one, and all columns with their sums.
    let mut dots: BTreeMap<u32, (usize, Vec<(View, u32)>)> = BTreeMap::new();
    for mut instruction in std::mem::take(&mut made.code) {
        if let Some((values, term)) = dot(&instruction) {
            let (at, terms) = dots.entry(values).or_insert((made.code.len(), Vec::new()));
            if terms.is_empty() {
                write(made, &mut chains, Operand::Register(values));
                *at = made.code.len();
                made.code.push(instruction);
            }
            terms.push(term);
            continue;
        }
        let Some((out, term, from)) = term(&instruction) else {
            for operand in operands(&mut instruction) {
                write(made, &mut chains, *operand);
            }
            made.code.push(instruction);
            continue;
        };
        let before = match from {
            Operand::Register(id) if reads.get(&id) == Some(&1) => chains.remove(&id),
            _ => None,
        };
        write(made, &mut chains, from);
        let mut chain = before.unwrap_or(ColumnChain { from, terms: Vec::new(), code: Vec::new() });
        chain.terms.push(term);
        chain.code.push(instruction);
        chains.insert(out, chain);
    }
    for (values, (at, terms)) in dots.into_iter().filter(|(_, (_, terms))| terms.len() > 1) {
        let (first, count) = (made.terms.len() as u32, terms.len() as u32);
        made.terms.extend(terms);
        made.code[at] = Instruction::Dots { values: Operand::Register(values), first, count };
    }
}

/// A sum of products of a column and values.
fn dot(instruction: &Instruction) -> Option<(u32, (View, u32))> {
    match *instruction {
        Instruction::Dot { sum, a: Operand::Vector(view), b: Operand::Register(values) }
        | Instruction::Dot { sum, a: Operand::Register(values), b: Operand::Vector(view) } => {
            Some((values, (view, sum)))
        }
        _ => None,
    }
}

/// The result of an addition of a column times a scalar, the column with the scalar, and what is added to.
fn term(instruction: &Instruction) -> Option<(u32, (View, u32), Operand)> {
    match *instruction {
        Instruction::Map {
            op: Op::MulAdd,
            out,
            args:
                [Operand::Vector(view), Operand::Scalar(scalar), from]
                | [Operand::Scalar(scalar), Operand::Vector(view), from],
        } => Some((out, (view, scalar), from)),
        _ => None,
    }
}

/// Writes the chain that an operand is the result of, if it is that.
fn write(made: &mut Loop, chains: &mut HashMap<u32, ColumnChain>, operand: Operand) {
    let Operand::Register(out) = operand else { return };
    let Some(ColumnChain { from, terms, code }) = chains.remove(&out) else { return };
    if terms.len() < FEWEST {
        made.code.extend(code);
        return;
    }
    let (first, count) = (made.terms.len() as u32, terms.len() as u32);
    made.terms.extend(terms);
    made.code.push(Instruction::Columns { out, from, first, count });
}
