//! Reads the body of an entry: registers, variables of shared memory, labels and instructions.

use crate::error::PtxError;
use crate::forms::{self, Form, PACK, UNPACK};
use crate::instruction::{Class, Guard, Instruction, MOST, Op, ShuffleShape};
use crate::module::{Entry, SharedVariable, variable};
use crate::registers;
use crate::text::{Statement, operands};
use std::collections::HashMap;

/// Adds to an entry what the statements of its body say. `shared` has the module's variables.
pub(crate) fn read(
    entry: Entry,
    statements: &[Statement],
    shared: &HashMap<String, SharedVariable>,
) -> Result<Entry, PtxError> {
    let mut reader =
        Reader { entry, shared, names: HashMap::new(), placed: HashMap::new(), immediates: HashMap::new() };
    reader.declarations(statements)?;
    reader.instructions(statements)?;
    let Reader { mut entry, names, .. } = reader;
    entry.names = names.into_iter().map(|(name, register)| (register, name)).collect();
    entry.compact = registers::compact(&entry.code);
    Ok(entry)
}

struct Reader<'a> {
    entry: Entry,
    shared: &'a HashMap<String, SharedVariable>,
    names: HashMap<String, (Class, u16)>,
    /// Where variables of shared memory lie.
    placed: HashMap<String, u64>,
    /// The register of each immediate operand.
    immediates: HashMap<(Class, u64), u16>,
}

/// The reason of an error; its place is added later.
type Reason<T> = Result<T, String>;

impl Reader<'_> {
    fn declarations(&mut self, statements: &[Statement]) -> Result<(), PtxError> {
        for Statement { text, line } in statements {
            if let Some(rest) = text.strip_prefix(".reg") {
                self.registers(rest).map_err(|reason| PtxError::new(*line, text, reason))?;
            } else if text.starts_with(".shared") {
                self.place(&variable(text, *line)?);
            } else if text.starts_with('.') && ![".pragma", ".loc"].contains(&first_word(text)) {
                return Err(PtxError::new(*line, text, "this directive is not known here"));
            }
        }
        Ok(())
    }

    /// Reads `.b32 %r<5>` or `.pred p, q`.
    fn registers(&mut self, text: &str) -> Reason<()> {
        let (kind, names) = text.trim().split_once(char::is_whitespace).ok_or("there are no names")?;
        let class = match kind {
            ".pred" => Class::Predicate,
            ".b16" | ".b32" | ".f32" | ".u32" | ".s32" => Class::Word,
            ".b64" | ".f64" | ".u64" | ".s64" => Class::Double,
            _ => return Err("registers of this type are not known here".into()),
        };
        for name in names.split(',').map(str::trim) {
            if let Some((stem, count)) = name.split_once('<') {
                let count: u16 = count.trim_end_matches('>').parse().map_err(|_| "this number of registers")?;
                for number in 0..count {
                    let register = self.new_register(class)?;
                    self.names.insert(format!("{stem}{number}"), (class, register));
                }
            } else {
                let register = self.new_register(class)?;
                self.names.insert(name.to_owned(), (class, register));
            }
        }
        Ok(())
    }

    fn new_register(&mut self, class: Class) -> Reason<u16> {
        let count = self.entry.code.registers.of(class);
        *count += 1;
        u16::try_from(*count - 1).map_err(|_| "there are more than 65536 registers".into())
    }

    fn place(&mut self, variable: &SharedVariable) -> u64 {
        let at = self.entry.shared_bytes.next_multiple_of(variable.align);
        self.entry.shared_bytes = at + variable.bytes;
        self.placed.insert(variable.name.clone(), at);
        at
    }

    fn instructions(&mut self, statements: &[Statement]) -> Result<(), PtxError> {
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut branches = Vec::new();
        for Statement { text, line } in statements {
            let at = self.entry.code.instructions.len();
            if text.starts_with('.') {
                continue;
            }
            if let Some(label) = text.strip_suffix(':') {
                labels.insert(label, at);
                continue;
            }
            let (guard, rest) = split_guard(text);
            let (opcode, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let operands = operands(rest);
            let error = |reason| PtxError::new(*line, text, reason);
            let guard = self.guard(guard).map_err(error)?;
            let instruction = self.instruction(opcode, &operands).map_err(error)?;
            if instruction.op == Op::Branch {
                branches.push((at, *operands.first().ok_or_else(|| error("it goes nowhere".into()))?, *line));
            }
            self.entry.code.instructions.push(Instruction { guard, line: *line, ..instruction });
            self.entry.opcodes.push(opcode.to_owned());
        }
        let code = &mut self.entry.code.instructions;
        for (at, label, line) in branches {
            // A label after the last instruction leads nowhere.
            let target = labels.get(label).copied().filter(|target| *target < code.len());
            let target = target.ok_or_else(|| PtxError::new(line, format!("bra {label}"), "there is no such place"))?;
            code[at].target = u32::try_from(target).unwrap_or(u32::MAX);
            code[target].joins = true;
            if let Some(next) = code.get_mut(at + 1) {
                next.joins = true;
            }
        }
        if code.last().is_none_or(|last| !matches!(last.op, Op::Return | Op::Branch) || last.guard != Guard::All) {
            let line = statements.last().map_or(0, |last| last.line);
            return Err(PtxError::new(line, self.entry.name.clone(), "the code does not end with `ret`"));
        }
        Ok(())
    }

    fn guard(&mut self, text: Option<&str>) -> Reason<Guard> {
        let Some(text) = text else { return Ok(Guard::All) };
        let (name, guard): (_, fn(u16) -> Guard) = match text.strip_prefix('!') {
            Some(name) => (name, Guard::Unless),
            None => (text, Guard::If),
        };
        self.operand(Class::Predicate, name).map(guard)
    }

    fn instruction(&mut self, opcode: &str, operands: &[&str]) -> Reason<Instruction> {
        if let Some((is_load, access)) = forms::access(opcode) {
            return self.access(is_load, access, operands);
        }
        let mut instruction = blank(Op::Return);
        if let (true, [to, from]) = (opcode.starts_with("mov."), operands) {
            if let Some(special) = forms::special(from) {
                instruction.op = Op::Special(special);
                self.fill(Form { op: instruction.op, writes: &[Class::Word], reads: &[] }, &[to], &mut instruction)?;
                return Ok(instruction);
            }
            if let Some(halves) = in_braces(to).or_else(|| in_braces(from)) {
                let form = if in_braces(to).is_some() { UNPACK } else { PACK };
                let ([low, high], "mov.b64") = (&halves[..], opcode) else { return Err("this vector".into()) };
                let all = if in_braces(to).is_some() { [low, high, *from] } else { [*to, low, high] };
                self.fill(form, &all, &mut instruction)?;
                return Ok(instruction);
            }
        }
        let form = forms::form(opcode).ok_or("this form of instruction is not known here")?;
        match form.op {
            Op::Branch => instruction.op = form.op,
            Op::Barrier if operands != ["0"] => return Err("only barrier 0 of all threads is known here".into()),
            Op::ShuffleXor | Op::ShuffleIndex => {
                let (value, valid) = operands.first().and_then(|to| to.split_once('|')).ok_or("it has no predicate")?;
                let all: Vec<&str> = [value, valid].into_iter().chain(operands[1..].iter().copied()).collect();
                self.fill(form, &all, &mut instruction)?;
            }
            _ => self.fill(form, operands, &mut instruction)?,
        }
        Ok(instruction)
    }

    /// Sets the operands, those that are written first.
    fn fill(&mut self, form: Form, operands: &[&str], instruction: &mut Instruction) -> Reason<()> {
        instruction.op = form.op;
        if operands.len() != form.writes.len() + form.reads.len() {
            let expected = form.writes.len() + form.reads.len();
            return Err(format!("it has {} operands, and {expected} are known here", operands.len()));
        }
        let (written, read) = operands.split_at(form.writes.len());
        for (k, (class, name)) in form.writes.iter().zip(written).enumerate() {
            instruction.writes[k] = *class;
            instruction.to[k] = self.register(*class, name)?;
        }
        for (k, (class, name)) in form.reads.iter().zip(read).enumerate() {
            instruction.reads[k] = *class;
            instruction.from[k] = self.operand(*class, name)?;
        }
        Ok(())
    }

    fn access(
        &mut self,
        is_load: bool,
        access: crate::instruction::MemoryAccess,
        operands: &[&str],
    ) -> Reason<Instruction> {
        let &[first, second] = operands else { return Err("it has not two operands".into()) };
        let (values, address) = if is_load { (first, second) } else { (second, first) };
        let values = in_braces(values).unwrap_or_else(|| vec![values]);
        if values.len() != usize::from(access.count) {
            return Err(format!("it has {} registers for {} elements", values.len(), access.count));
        }
        let mut access = access;
        // A register may be wider than what is loaded.
        access.doubles |=
            matches!(access.width, 2 | 4) && matches!(self.names.get(values[0]), Some((Class::Double, _)));
        let inner = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or("it has no address")?;
        let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
        let mut offset: i64 = offset.parse().map_err(|_| format!("`{offset}` is no offset"))?;
        let mut instruction = blank(Op::Return);
        instruction.reads[0] = Class::Double;
        if self.names.contains_key(base) {
            instruction.from[0] = self.operand(Class::Double, base)?;
        } else {
            offset = offset.wrapping_add(self.number(base)?.cast_signed());
            instruction.from[0] = self.immediate(Class::Double, 0)?;
            access.uniform = true;
        }
        let class = if access.doubles { Class::Double } else { Class::Word };
        for (k, value) in values.iter().enumerate() {
            instruction.writes[k] = class;
            instruction.to[k] = if is_load { self.register(class, value)? } else { self.operand(class, value)? };
        }
        instruction.op = if is_load { Op::Load(access) } else { Op::Store(access) };
        instruction.offset = offset;
        Ok(instruction)
    }

    /// Returns the number of a register that the text declares.
    fn register(&self, class: Class, name: &str) -> Reason<u16> {
        match self.names.get(name) {
            Some(&(of, number)) if of == class => Ok(number),
            Some(_) => Err(format!("{name} is of another type")),
            None => Err(format!("there is no register {name}")),
        }
    }

    /// Returns the number of a register, or of the one that holds an immediate operand.
    fn operand(&mut self, class: Class, name: &str) -> Reason<u16> {
        if self.names.contains_key(name) {
            return self.register(class, name);
        }
        let value = self.number(name)?;
        self.immediate(class, if class == Class::Word { value & u64::from(u32::MAX) } else { value })
    }

    fn immediate(&mut self, class: Class, value: u64) -> Reason<u16> {
        if let Some(register) = self.immediates.get(&(class, value)) {
            return Ok(*register);
        }
        let register = self.new_register(class)?;
        self.immediates.insert((class, value), register);
        let code = &mut self.entry.code;
        match class {
            Class::Double => code.doubles.push((register, value)),
            Class::Predicate => code.predicates.push((register, value != 0)),
            Class::Word | Class::None => code.words.push((register, value as u32)),
        }
        Ok(register)
    }

    /// Returns what a literal or a variable's name stands for.
    fn number(&mut self, text: &str) -> Reason<u64> {
        let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no number"));
        if let Some(digits) = ["0d", "0D", "0f", "0F"].iter().find_map(|prefix| text.strip_prefix(prefix)) {
            return hexadecimal(digits);
        }
        if let Ok(value) = text.parse::<i64>() {
            return Ok(value.cast_unsigned());
        }
        if let Ok(value) = text.parse::<u64>() {
            return Ok(value);
        }
        self.address(text).ok_or_else(|| format!("`{text}` is not known here"))
    }

    /// Returns where a parameter or a variable of shared memory lies.
    fn address(&mut self, name: &str) -> Option<u64> {
        if let Some(at) = self.placed.get(name) {
            return Some(*at);
        }
        if let Some(variable) = self.shared.get(name) {
            return Some(self.place(variable));
        }
        let number: usize = name.strip_prefix(&self.entry.name)?.strip_prefix("_param_")?.parse().ok()?;
        self.entry.parameters.get(number).map(|parameter| parameter.offset)
    }
}

fn blank(op: Op) -> Instruction {
    Instruction {
        op,
        to: [0; MOST],
        from: [0; MOST],
        writes: [Class::None; MOST],
        reads: [Class::None; MOST],
        offset: 0,
        guard: Guard::All,
        target: 0,
        joins: false,
        shuffle: ShuffleShape::default(),
        line: 0,
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Splits off `@%p1` or `@!%p1`, without the `@`.
fn split_guard(text: &str) -> (Option<&str>, &str) {
    match text.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((guard, rest)) => (Some(guard), rest.trim_start()),
        None => (None, text),
    }
}

/// Returns the parts of `{a, b}`.
fn in_braces(text: &str) -> Option<Vec<&str>> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.split(',').map(str::trim).collect())
}
