//! A module: its entries, with their parameters, shared memory and code.

use crate::body;
use crate::error::PtxError;
use crate::instruction::{Class, Instruction};
use crate::registers::Compact;
use crate::text;
use std::collections::{BTreeMap, HashMap};

/// A module of PTX that can be run.
#[derive(Clone, Debug)]
pub struct Module {
    entries: BTreeMap<String, Entry>,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<EntryParameter>,
    /// The bytes of the statically declared shared memory.
    pub(crate) shared_bytes: u64,
    /// The code with the registers of the text, for checks that tell them apart.
    pub(crate) code: Code,
    /// The same code with few registers, for speed.
    pub(crate) compact: Compact,
    /// The names of the registers.
    pub(crate) names: HashMap<(Class, u16), String>,
    /// The opcode of each instruction.
    pub(crate) opcodes: Vec<String>,
}

/// Where a parameter lies in the parameters' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryParameter {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Instructions, and the registers that they need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) registers: RegisterCounts,
    /// Registers that hold the immediate operands.
    pub(crate) words: Vec<(u16, u32)>,
    pub(crate) doubles: Vec<(u16, u64)>,
    pub(crate) predicates: Vec<(u16, bool)>,
}

/// How many registers of each class there are, those of immediate operands included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegisterCounts {
    pub(crate) words: usize,
    pub(crate) doubles: usize,
    pub(crate) predicates: usize,
}

impl RegisterCounts {
    pub(crate) fn of(&mut self, class: Class) -> &mut usize {
        match class {
            Class::Word | Class::None => &mut self.words,
            Class::Double => &mut self.doubles,
            Class::Predicate => &mut self.predicates,
        }
    }
}

/// A variable of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
}

impl Module {
    /// Reads the text of a module.
    ///
    /// # Errors
    /// When a line has something that is not understood: only the forms of this workspace's kernels are.
    pub fn parse(text: &str) -> Result<Self, PtxError> {
        let plain = text::without_comments(text);
        let lines: Vec<&str> = plain.lines().collect();
        let mut shared = HashMap::new();
        let mut entries = BTreeMap::new();
        let mut at = 0;
        while let Some(line) = lines.get(at).map(|line| line.trim()) {
            let number = line_number(at);
            if line.starts_with(".shared ") {
                let variable = variable(line, number)?;
                shared.insert(variable.name.clone(), variable);
            } else if line.contains(".entry") {
                let (entry, end) = read_entry(&lines, at, &shared)?;
                entries.insert(entry.name.clone(), entry);
                at = end;
            } else if !is_without_code(line) {
                return Err(PtxError::new(number, line, "this directive is not known here"));
            }
            at += 1;
        }
        Ok(Self { entries })
    }

    /// Returns the entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Returns the entries in the order of their names.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }
}

impl Entry {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where the parameters lie.
    pub fn parameters(&self) -> &[EntryParameter] {
        &self.parameters
    }

    /// Returns the bytes of all parameters.
    pub fn parameter_bytes(&self) -> u64 {
        self.parameters.last().map_or(0, |last| last.offset + last.bytes)
    }

    /// Returns the line and the opcode of each instruction.
    pub fn instructions(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        self.code
            .instructions
            .iter()
            .zip(&self.opcodes)
            .map(|(instruction, opcode)| (instruction.line, opcode.as_str()))
    }

    /// Returns the names of the registers that are read on some way through the code before anything is written to
    /// them.
    pub fn unset_registers(&self) -> Vec<&str> {
        let name = |register| self.names.get(register).map(String::as_str);
        let mut unset: Vec<&str> = self.compact.unset.iter().filter_map(name).collect();
        unset.sort_unstable();
        unset
    }
}

fn line_number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Whether a line outside of entries changes nothing: what an instruction says of a variable of another kind is an
/// error there.
fn is_without_code(line: &str) -> bool {
    let known = [".version", ".target", ".address_size", ".global", ".const", ".weak", ".file"];
    line.split_whitespace().next().is_none_or(|word| known.contains(&word))
}

/// Reads the entry that begins at a line; also returns the line of its last brace.
fn read_entry(
    lines: &[&str],
    begin: usize,
    shared: &HashMap<String, SharedVariable>,
) -> Result<(Entry, usize), PtxError> {
    let head = lines[begin].trim();
    let unended = || PtxError::new(line_number(begin), head, "the entry has no end");
    let name = head.split(".entry").nth(1).unwrap_or_default().trim().trim_end_matches('(').trim_end();
    let mut parameters: Vec<EntryParameter> = Vec::new();
    let mut at = begin + 1;
    loop {
        let line = lines.get(at).ok_or_else(unended)?.trim().trim_end_matches(',');
        if line.starts_with('{') {
            break;
        }
        if line.starts_with(".param") {
            let SharedVariable { bytes, align, .. } = variable(line, line_number(at))?;
            let end = parameters.last().map_or(0, |last| last.offset + last.bytes);
            parameters.push(EntryParameter { offset: end.next_multiple_of(align), bytes });
        }
        at += 1;
    }
    let first = at + 1;
    let mut depth = 1;
    while depth > 0 {
        at += 1;
        match lines.get(at).ok_or_else(unended)?.trim() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    let statements = text::statements(&lines[first..at], line_number(first));
    let entry = Entry { name: name.to_owned(), parameters, ..Entry::default() };
    Ok((body::read(entry, &statements, shared)?, at))
}

/// Reads the declaration of a variable: `.shared .align 8 .b8 name[64]`, `.param .u64 name`.
pub(crate) fn variable(text: &str, line: u32) -> Result<SharedVariable, PtxError> {
    let error = |reason: &str| PtxError::new(line, text, reason);
    let mut align = None;
    let mut bytes = None;
    let mut name = None;
    let mut words = text.trim_end_matches(';').split_whitespace();
    while let Some(word) = words.next() {
        match word {
            ".shared" | ".param" => {}
            ".align" => align = words.next().and_then(|number| number.parse::<u64>().ok()),
            ".b8" => bytes = Some(1),
            ".b32" | ".u32" | ".f32" => bytes = Some(4),
            ".b64" | ".u64" | ".f64" => bytes = Some(8),
            _ if word.starts_with('.') => return Err(error("this kind of variable is not known here")),
            _ => name = Some(word),
        }
    }
    let (Some(unit), Some(name)) = (bytes, name) else { return Err(error("it has no type or no name")) };
    let (name, count) = match name.split_once('[') {
        None => (name, 1),
        Some((name, rest)) => {
            let count = rest.trim_end_matches(']').parse::<u64>();
            (name, count.map_err(|_| error("it has no fixed size"))?)
        }
    };
    let align = align.unwrap_or(unit).max(1);
    Ok(SharedVariable { name: name.to_owned(), bytes: unit * count, align })
}
