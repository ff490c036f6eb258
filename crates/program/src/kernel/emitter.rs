//! What all steps share: memory and barriers, scalars, and vectors that are copied.

use super::operations::operate;
use super::text::{BodyText, number, say};
use super::{KernelBody, KernelRefusal, MOST_NUMBERS, MOST_STATEMENTS};
use crate::operation::Op;
use crate::plan::{Base, PackedProgram, PlanStep, ScalarInstruction, View};
use std::collections::{HashMap, HashSet};

/// Bytes of a number.
pub(super) const NUMBER: usize = 8;

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// Memory: the register that it begins at, and bytes from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MemoryPlace {
    pub(super) base: &'static str,
    pub(super) byte: usize,
}

impl MemoryPlace {
    /// Numbers of the chain's memory from this one on.
    pub(super) fn of_scratch(number: usize) -> Self {
        Self { base: "~s", byte: number * NUMBER }
    }

    /// The same from a later number on.
    pub(super) fn after(self, numbers: usize) -> Self {
        Self { byte: self.byte + numbers * NUMBER, ..self }
    }
}

impl std::fmt::Display for MemoryPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}+{}]", self.base, self.byte)
    }
}

/// Writes a body.
pub(super) struct Emitter<'a> {
    pub(super) text: BodyText,
    pub(super) plan: &'a PackedProgram,
    pub(super) dim: usize,
    pub(super) lanes: u32,
    outputs: usize,
    constants: Vec<f64>,
    pub(super) words: Vec<u32>,
    /// Numbers of the chain's memory so far.
    scratch: usize,
    columns: HashMap<u32, usize>,
    indexes: HashMap<u32, usize>,
    slots: Vec<usize>,
    /// Slots that are slopes and stand among the outputs.
    pub(super) slopes: HashSet<u32>,
    /// Whether a thread has seen a slope that is not finite.
    pub(super) has_seen: Option<String>,
    /// The number of barriers before each slot was written.
    written: Vec<usize>,
    barriers: usize,
    /// What each scalar is: a number or a register.
    scalars: Vec<String>,
    /// Scalars that are in memory too.
    in_memory: HashMap<u32, MemoryPlace>,
    /// The lane of a warp, and the warp of a block.
    pub(super) warp_lane: String,
    pub(super) warp: String,
    /// Whether a thread is the chain's first, and whether it is its warp's.
    pub(super) is_first: String,
    pub(super) is_first_of_warp: String,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(plan: &'a PackedProgram, dim: usize, outputs: usize, lanes: u32) -> Result<Self, KernelRefusal> {
        let mut text = BodyText::default();
        let is_first = text.truth("setp.eq.u32", &["~l", "0"]);
        let (warp_lane, warp, is_first_of_warp) = match lanes {
            WARP => ("~l".to_owned(), "0".to_owned(), is_first.clone()),
            128 => {
                let lane = text.word("and.b32", &["~l", "31"]);
                let warp = text.word("shr.u32", &["~l", "5"]);
                let is_first_of_warp = text.truth("setp.eq.u32", &[&lane, "0"]);
                (lane, warp, is_first_of_warp)
            }
            other => return Err(KernelRefusal::Lanes(other)),
        };
        let mut scratch = dim + outputs;
        let slots = plan.slots.iter().map(|&length| {
            scratch += length;
            scratch - length
        });
        let slots = slots.collect();
        let mut emitter = Self {
            text,
            plan,
            dim,
            lanes,
            outputs,
            constants: Vec::new(),
            words: Vec::new(),
            scratch,
            columns: HashMap::new(),
            indexes: HashMap::new(),
            slots,
            slopes: HashSet::new(),
            has_seen: None,
            written: vec![0; plan.slots.len()],
            barriers: 1,
            scalars: plan.scalars.iter().map(|&x| number(x)).collect(),
            in_memory: HashMap::new(),
            warp_lane,
            warp,
            is_first,
            is_first_of_warp,
        };
        for &(offset, scalar) in &plan.parameters {
            let place = emitter.place(View { base: Base::Position, start: offset });
            let value = emitter.load(place);
            emitter.set_scalar(scalar, value);
        }
        Ok(emitter)
    }

    fn check_memory(&self) -> Result<(), KernelRefusal> {
        let numbers = self.scratch.max(self.constants.len()).max(self.words.len());
        if numbers > MOST_NUMBERS { Err(KernelRefusal::Memory { numbers }) } else { Ok(()) }
    }

    pub(super) fn finish(self) -> Result<KernelBody, KernelRefusal> {
        self.check_memory()?;
        let statements = self.text.statements();
        if statements > MOST_STATEMENTS {
            return Err(KernelRefusal::Length { statements });
        }
        let Self { text, constants, words, scratch, outputs, .. } = self;
        Ok(KernelBody { text: text.finish(), constants, words, scratch, outputs, statements })
    }

    /// Writes all steps.
    pub(super) fn steps(&mut self) -> Result<(), KernelRefusal> {
        let plan = self.plan;
        for step in &plan.steps {
            match step {
                PlanStep::Scalars(code) => self.scalars(code)?,
                PlanStep::Loop(rows) => self.row_loop(rows)?,
                PlanStep::Scan(scan) => self.scan(scan)?,
                PlanStep::Solve(_) => return Err(KernelRefusal::Operation("differential equations".into())),
                PlanStep::Matrix { op, args, out, .. } => self.matrix(*op, *args, *out)?,
                PlanStep::Concat { pieces, out } => self.join(pieces, *out),
            }
        }
        Ok(())
    }

    fn scalars(&mut self, code: &[ScalarInstruction]) -> Result<(), KernelRefusal> {
        for instruction in code {
            match *instruction {
                ScalarInstruction::Map { op, out, args } => {
                    let args = args.map(|scalar| self.scalar(scalar));
                    let value = self.operate(op, args.each_ref().map(String::as_str))?;
                    self.set_scalar(out, value);
                }
                ScalarInstruction::Element { out, view } => {
                    self.make_ready(view);
                    let place = self.place(view);
                    let value = self.load(place);
                    self.set_scalar(out, value);
                }
            }
        }
        Ok(())
    }

    /// Copies vectors to stand together; all threads copy.
    fn join(&mut self, pieces: &[(View, usize)], out: u32) {
        for &(view, length) in pieces {
            if (view.base, length) != (Base::Scalars, 1) {
                self.make_ready(view);
            }
        }
        let mut to = self.slot(out);
        for &(view, length) in pieces {
            if let (Base::Scalars, 1) = (view.base, length) {
                let value = self.scalar(view.start);
                say!(self.text, "@{} st.global.f64 {to}, {value}", self.is_first);
            } else {
                let from = self.place(view);
                self.copy(from, to, length);
            }
            to = to.after(length);
        }
        self.set_written(out);
    }

    /// Copies numbers, an element by each thread.
    pub(super) fn copy(&mut self, from: MemoryPlace, to: MemoryPlace, length: usize) {
        let open = self.begin_elements(length);
        let value = self.load_element(from, &open.index);
        self.store_element(to, &open.index, &value);
        self.text.end(open);
    }

    /// Begins what all threads of the chain do for `count` elements.
    pub(super) fn begin_elements(&mut self, count: usize) -> super::text::OpenLoop {
        self.text.begin_lanes("~l", count, self.lanes)
    }

    /// An operation on registers and numbers.
    pub(super) fn operate(&mut self, op: Op, args: [&str; 3]) -> Result<String, KernelRefusal> {
        operate(&mut self.text, op, args).ok_or_else(|| KernelRefusal::Operation(op.name().into()))
    }

    /// What a scalar is: a number or a register.
    pub(super) fn scalar(&self, scalar: u32) -> String {
        self.scalars[scalar as usize].clone()
    }

    pub(super) fn set_scalar(&mut self, scalar: u32, value: String) {
        self.scalars[scalar as usize] = value;
    }

    /// Takes memory of the chain.
    pub(super) fn new_scratch(&mut self, numbers: usize) -> MemoryPlace {
        self.scratch += numbers;
        MemoryPlace::of_scratch(self.scratch - numbers)
    }

    /// Waits until all threads of the chain have come, and see what the others have written.
    pub(super) fn barrier(&mut self) {
        self.barriers += 1;
        if self.lanes == WARP {
            say!(self.text, "bar.warp.sync -1");
        } else {
            say!(self.text, "bar.sync 0");
        }
    }

    /// The memory of a slot, to be written.
    pub(super) fn slot(&self, slot: u32) -> MemoryPlace {
        MemoryPlace::of_scratch(self.slots[slot as usize])
    }

    /// Puts a slot among the outputs.
    pub(super) fn move_slot(&mut self, slot: u32, output: usize) {
        self.slots[slot as usize] = self.dim + output;
        self.slopes.insert(slot);
    }

    /// A slot has been written.
    pub(super) fn set_written(&mut self, slot: u32) {
        self.written[slot as usize] = self.barriers;
    }

    /// Waits for a vector, if it was written since all have waited.
    pub(super) fn make_ready(&mut self, view: View) {
        match view.base {
            Base::Slot(slot) if self.written[slot as usize] == self.barriers => self.barrier(),
            Base::Scalars if !self.in_memory.contains_key(&view.start) => {
                let (place, value) = (self.new_scratch(1), self.scalar(view.start));
                say!(self.text, "@{} st.global.f64 {place}, {value}", self.is_first);
                self.in_memory.insert(view.start, place);
                self.barrier();
            }
            _ => {}
        }
    }

    /// Where a vector is that is [ready](Self::make_ready).
    pub(super) fn place(&mut self, view: View) -> MemoryPlace {
        let start = view.start as usize;
        match view.base {
            Base::Column(column) => {
                let first = *self.columns.entry(column).or_insert_with(|| {
                    let values = self.plan.columns[column as usize].values();
                    self.constants.extend_from_slice(values);
                    self.constants.len() - values.len()
                });
                MemoryPlace { base: "~c", byte: (first + start) * NUMBER }
            }
            Base::Position if start < self.dim => MemoryPlace::of_scratch(start),
            Base::Position => MemoryPlace { base: "~i", byte: (start - self.dim) * NUMBER },
            Base::Slot(slot) => self.slot(slot).after(start),
            Base::Scalars => self.in_memory.get(&view.start).copied().unwrap_or(MemoryPlace::of_scratch(0)),
        }
    }

    pub(super) fn load(&mut self, place: MemoryPlace) -> String {
        self.text.real("ld.global.f64", &[&place.to_string()])
    }

    /// Loads an element of a vector.
    pub(super) fn load_element(&mut self, place: MemoryPlace, element: &str) -> String {
        let address = self.text.address(place.base, element, NUMBER as u32);
        self.text.real("ld.global.f64", &[&format!("[{address}+{}]", place.byte)])
    }

    pub(super) fn store_element(&mut self, place: MemoryPlace, element: &str, value: &str) {
        let address = self.text.address(place.base, element, NUMBER as u32);
        say!(self.text, "st.global.f64 [{address}+{}], {value}", place.byte);
    }

    /// Where an index begins among the words.
    pub(super) fn index(&mut self, index: u32) -> usize {
        if let Some(&first) = self.indexes.get(&index) {
            return first;
        }
        let first = self.new_words(&self.plan.indexes[index as usize].clone());
        self.indexes.insert(index, first);
        first
    }

    /// Adds words and returns where they begin.
    pub(super) fn new_words(&mut self, words: &[u32]) -> usize {
        self.words.extend_from_slice(words);
        self.words.len() - words.len()
    }
}
