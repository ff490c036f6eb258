//! Fewer registers: those whose values are never needed at the same place share one.
//!
//! The text has a register for each value. A warp's registers then take megabytes; shared as a compiler shares them they
//! fit the processor's caches. Lanes that have gone apart do not matter: each has its own part of a register.

use crate::constants::note_shuffles;
use crate::instruction::{Class, Guard, Instruction, Op};
use crate::module::{Code, RegisterCounts};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Code with shared registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compact {
    pub(crate) code: Code,
    /// Registers of the text that may be read before anything is written to them.
    pub(crate) unset: Vec<(Class, u16)>,
}

/// A register of the text.
type Register = (Class, u16);

/// Returns the same code with shared registers.
pub(crate) fn compact(code: &Code) -> Compact {
    let lives = Lives::of(code);
    let mut numbers: HashMap<Register, u16> = HashMap::new();
    let mut counts = RegisterCounts::default();
    let next = |class: Class, counts: &mut RegisterCounts| {
        let count = counts.of(class);
        *count += 1;
        // There are no more of these than registers of the text.
        (*count - 1) as u16
    };
    let immediates: Vec<Register> = immediates(code).collect();
    for register in &immediates {
        numbers.insert(*register, next(register.0, &mut counts));
    }
    for class in [Class::Word, Class::Double, Class::Predicate] {
        let mut spans: Vec<(u32, u32, u16)> = lives
            .spans
            .iter()
            .filter(|((of, number), _)| *of == class && !numbers.contains_key(&(*of, *number)))
            .map(|((_, number), (from, to))| (*from, *to, *number))
            .collect();
        spans.sort_unstable();
        let mut free: Vec<u16> = Vec::new();
        let mut taken: BinaryHeap<Reverse<(u32, u16)>> = BinaryHeap::new();
        for (from, to, register) in spans {
            while let Some(Reverse((_, number))) = taken.peek().copied().filter(|Reverse((end, _))| *end < from) {
                taken.pop();
                free.push(number);
            }
            let number = free.pop().unwrap_or_else(|| next(class, &mut counts));
            numbers.insert((class, register), number);
            taken.push(Reverse((to, number)));
        }
    }
    let number = |class: Class, register: u16| numbers.get(&(class, register)).copied().unwrap_or(0);
    let mut shared = code.clone();
    note_shuffles(&mut shared);
    shared.registers = counts;
    shared.instructions.iter_mut().for_each(|instruction| instruction.renumber(number));
    shared.words.iter_mut().for_each(|(register, _)| *register = number(Class::Word, *register));
    shared.doubles.iter_mut().for_each(|(register, _)| *register = number(Class::Double, *register));
    shared.predicates.iter_mut().for_each(|(register, _)| *register = number(Class::Predicate, *register));
    Compact { code: shared, unset: lives.unset }
}

fn immediates(code: &Code) -> impl Iterator<Item = Register> {
    let words = code.words.iter().map(|(register, _)| (Class::Word, *register));
    let doubles = code.doubles.iter().map(|(register, _)| (Class::Double, *register));
    words.chain(doubles).chain(code.predicates.iter().map(|(register, _)| (Class::Predicate, *register)))
}

/// From which instruction to which a register's values are needed.
struct Lives {
    spans: HashMap<Register, (u32, u32)>,
    unset: Vec<Register>,
}

/// Instructions that are always done one after the other.
struct Block {
    begin: usize,
    end: usize,
    next: Vec<usize>,
    /// Registers that are read before the block writes them, and those that it writes.
    needs: Set,
    gives: Set,
    live_before: Set,
    live_after: Set,
}

impl Lives {
    fn of(code: &Code) -> Self {
        let numbering = Numbering::of(code);
        let mut blocks = blocks(&code.instructions, &numbering);
        spread(&mut blocks);
        let known: HashSet<Register> = immediates(code).collect();
        let unset = blocks.first().map_or_else(Vec::new, |first| {
            first
                .live_before
                .members()
                .map(|member| numbering.register(member))
                .filter(|r| !known.contains(r))
                .collect()
        });
        let mut spans: HashMap<Register, (u32, u32)> = HashMap::new();
        let mut needed = |register: Register, at: usize| {
            let at = at as u32;
            let span = spans.entry(register).or_insert((at, at));
            *span = (span.0.min(at), span.1.max(at));
        };
        for (at, instruction) in code.instructions.iter().enumerate() {
            instruction.each_read(|class, register| needed((class, register), at));
            instruction.each_write(|class, register| needed((class, register), at));
        }
        for block in &blocks {
            block.live_before.members().for_each(|member| needed(numbering.register(member), block.begin));
            block.live_after.members().for_each(|member| needed(numbering.register(member), block.end - 1));
        }
        Self { spans, unset }
    }
}

fn blocks(code: &[Instruction], numbering: &Numbering) -> Vec<Block> {
    let ends = |instruction: &Instruction| matches!(instruction.op, Op::Branch | Op::Return);
    let begins: Vec<usize> = (0..code.len()).filter(|&at| at == 0 || code[at].joins || ends(&code[at - 1])).collect();
    let block_at: HashMap<usize, usize> = begins.iter().enumerate().map(|(block, at)| (*at, block)).collect();
    let mut blocks = Vec::with_capacity(begins.len());
    for (number, &begin) in begins.iter().enumerate() {
        let end = begins.get(number + 1).copied().unwrap_or(code.len());
        let last = &code[end - 1];
        let mut next = Vec::new();
        if last.op == Op::Branch {
            next.push(block_at[&(last.target as usize)]);
        }
        if (!ends(last) || last.guard != Guard::All) && end < code.len() {
            next.push(number + 1);
        }
        let (mut needs, mut gives) = (numbering.nothing(), numbering.nothing());
        for instruction in &code[begin..end] {
            instruction.each_read(|class, register| {
                let member = numbering.member((class, register));
                if !gives.has(member) {
                    needs.add(member);
                }
            });
            // Lanes that a guard leaves out keep what they have.
            if instruction.guard == Guard::All {
                instruction.each_write(|class, register| gives.add(numbering.member((class, register))));
            }
        }
        let (live_before, live_after) = (needs.clone(), numbering.nothing());
        blocks.push(Block { begin, end, next, needs, gives, live_before, live_after });
    }
    blocks
}

/// Finds what is live between blocks: what is needed after a block and not given by it is needed before.
fn spread(blocks: &mut [Block]) {
    let mut changed = true;
    while changed {
        changed = false;
        for number in (0..blocks.len()).rev() {
            let mut after = blocks[number].live_after.clone();
            for next in &blocks[number].next {
                after.add_all(&blocks[*next].live_before);
            }
            let block = &mut blocks[number];
            if after != block.live_after {
                changed = true;
                block.live_before = after.without(&block.gives);
                block.live_before.add_all(&block.needs);
                block.live_after = after;
            }
        }
    }
}

/// Numbers all registers of all classes.
struct Numbering {
    words: usize,
    doubles: usize,
    all: usize,
}

impl Numbering {
    fn of(code: &Code) -> Self {
        let RegisterCounts { words, doubles, predicates } = code.registers;
        Self { words, doubles, all: words + doubles + predicates }
    }

    fn nothing(&self) -> Set {
        Set(vec![0; self.all.div_ceil(64)])
    }

    fn member(&self, (class, register): Register) -> usize {
        usize::from(register)
            + match class {
                Class::Word | Class::None => 0,
                Class::Double => self.words,
                Class::Predicate => self.words + self.doubles,
            }
    }

    fn register(&self, member: usize) -> Register {
        let (class, number) = if member < self.words {
            (Class::Word, member)
        } else if member < self.words + self.doubles {
            (Class::Double, member - self.words)
        } else {
            (Class::Predicate, member - self.words - self.doubles)
        };
        (class, number as u16)
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    fn add(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(word, bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit))
    }
}

#[cfg(test)]
mod tests {
    use crate::Module;

    /// The registers that the code of this body needs when they are shared, those of immediate operands aside.
    fn needed(body: &str) -> (usize, usize) {
        let text = format!(".visible .entry k(\n)\n{{\n.reg .b32 %r<40>;\n.reg .pred %p<9>;\n{body}\nret;\n}}");
        let module = Module::parse(&text).unwrap();
        let code = &module.entry("k").unwrap().compact.code;
        (code.registers.words - code.words.len(), code.registers.predicates - code.predicates.len())
    }

    #[test]
    fn values_that_are_not_needed_together_share_a_register() {
        let chain = "mov.u32 %r1, 1; add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1; add.s32 %r4, %r3, 1;";
        assert_eq!(needed(chain), (2, 0));
        assert_eq!(needed(&format!("{chain} add.s32 %r5, %r1, %r2; add.s32 %r6, %r5, %r4;")), (4, 0));
    }

    /// A value that the next round reads is needed in the whole loop, also where another one comes after its last read.
    #[test]
    fn values_live_on_from_one_round_of_a_loop_to_the_next() {
        let body = "mov.u32 %r1, 0; mov.u32 %r2, 0;
$L_1:
add.s32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 5;
mov.u32 %r3, 7;
add.s32 %r4, %r3, 1;
add.s32 %r2, %r2, %r4;
@%p1 bra $L_1;
mov.u32 %r5, %r2;";
        // The counter, the sum, and two for what is added, one of which the last line has too.
        assert_eq!(needed(body), (4, 1));
    }

    /// Lanes that a guard leaves out keep what they have: it is needed before, too.
    #[test]
    fn a_guarded_write_does_not_end_a_value() {
        let body = |guard: &str| {
            format!(
                "mov.u32 %r1, 1; setp.eq.s32 %p1, %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; add.s32 %r4, %r3, 1;\n{guard} mov.u32 %r2, %r4;\nadd.s32 %r5, %r2, 1;"
            )
        };
        assert_eq!(needed(&body("@%p1")), (3, 1));
        let module = |guard: &str| {
            let text = format!(
                ".visible .entry k(\n)\n{{\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\nsetp.eq.s32 %p1, 1, 1;\n{guard} mov.u32 %r2, 1;\nadd.s32 %r1, %r2, 1;\nret;\n}}"
            );
            Module::parse(&text).unwrap()
        };
        assert_eq!(module("@%p1").entry("k").unwrap().unset_registers(), ["%r2"]);
        assert_eq!(module("").entry("k").unwrap().unset_registers(), [""; 0]);
    }
}
