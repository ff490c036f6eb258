//! Loops over rows. A row's lane is the row modulo 32, so that the lanes of a warp are the lanes of a sum; the tiles of sums
//! are dealt out to warps. Without sums, all threads take rows.

use super::KernelRefusal;
use super::emitter::{Emitter, MemoryPlace, NUMBER, WARP};
use super::text::{number, say};
use crate::operation::Op;
use crate::order::{FEW, TILE};
use crate::plan::{Instruction, Loop, Operand, View};
use std::collections::HashMap;

/// What is known while the code of a row is written.
struct RowCode {
    /// The register of the row's number.
    index: String,
    /// The address of the row's element, by the register of the memory.
    addresses: HashMap<&'static str, String>,
    loaded: HashMap<MemoryPlace, String>,
    /// What the registers of the plan are.
    registers: Vec<String>,
}

/// Where a loop puts what it sums.
struct LoopSums {
    /// The lanes of the sums.
    lanes: Vec<String>,
    /// The rows of the sums by segment.
    segments: Vec<MemoryPlace>,
    /// Few rows are added in order: a lane has one row.
    few: bool,
}

impl Emitter<'_> {
    /// Writes a loop over rows.
    pub(super) fn row_loop(&mut self, rows: &Loop) -> Result<(), KernelRefusal> {
        let tiles = rows.rows.div_ceil(TILE);
        if tiles > TILE {
            return Err(KernelRefusal::Operation(format!("sums of {} rows", rows.rows)));
        }
        for view in views(rows) {
            self.make_ready(view);
        }
        let summed: Vec<Operand> = rows.code.iter().filter_map(segment_values).collect();
        let segments = summed.iter().map(|values| match values {
            Operand::Vector(view) => self.place(*view),
            _ => self.new_scratch(rows.rows),
        });
        let segments = segments.collect();
        let few = rows.rows <= FEW;
        let mut sums = LoopSums { lanes: Vec::new(), segments, few };
        if rows.sums.is_empty() {
            let open = self.begin_elements(rows.rows);
            self.row(rows, &open.index, &sums)?;
            self.text.end(open);
        } else {
            sums.lanes = rows.sums.iter().map(|_| self.text.new_real()).collect();
            self.tiles(rows, tiles, &sums)?;
        }
        for &slot in &rows.stores {
            self.set_written(slot);
        }
        if summed.iter().any(|values| !matches!(values, Operand::Vector(_))) {
            self.barrier();
        }
        for (table, &values) in rows.segment_sums.iter().zip(&sums.segments) {
            self.segment_sum(rows.rows, table, values);
        }
        Ok(())
    }

    /// Writes a loop with sums.
    fn tiles(&mut self, rows: &Loop, tiles: usize, sums: &LoopSums) -> Result<(), KernelRefusal> {
        let warps = self.lanes / WARP;
        let stays = tiles == 1 && warps == 1;
        let of_tiles = if stays { MemoryPlace::of_scratch(0) } else { self.new_scratch(tiles * sums.lanes.len()) };
        let (warp, warp_lane) = (self.warp.clone(), self.warp_lane.clone());
        let open = (!stays).then(|| {
            if tiles == 1 {
                let is_first_warp = self.text.truth("setp.eq.u32", &[&warp, "0"]);
                self.text.only_if(&is_first_warp)
            } else {
                self.text.begin(&warp, &tiles.to_string(), warps)
            }
        });
        for lane in &sums.lanes {
            say!(self.text, "mov.f64 {lane}, {}", number(0.0));
        }
        let of_rows = match &open {
            Some(open) if tiles > 1 => {
                let first = self.text.word("shl.b32", &[&open.index, &TILE.ilog2().to_string()]);
                let end = self.text.word("add.s32", &[&first, &TILE.to_string()]);
                let end = self.text.word("min.u32", &[&end, &rows.rows.to_string()]);
                let first = self.text.word("add.s32", &[&first, &warp_lane]);
                self.text.begin(&first, &end, WARP)
            }
            _ => self.text.begin_lanes(&warp_lane, rows.rows, WARP),
        };
        self.row(rows, &of_rows.index, sums)?;
        self.text.end(of_rows);
        for lane in &sums.lanes {
            if sums.few {
                self.join_few(lane, rows.rows);
            } else {
                self.text.join_lanes(lane);
            }
        }
        if let Some(open) = open {
            let first_of_warp = self.is_first_of_warp.clone();
            let tile = if tiles == 1 { "0" } else { &open.index };
            let address = self.text.address("~s", tile, NUMBER as u32);
            for (k, lane) in sums.lanes.iter().enumerate() {
                let place = of_tiles.after(k * tiles);
                say!(self.text, "@{first_of_warp} st.global.f64 [{address}+{}], {lane}", place.byte);
            }
            self.text.end(open);
            self.barrier();
        }
        for (k, (lane, &scalar)) in sums.lanes.iter().zip(&rows.sums).enumerate() {
            let sum = if stays { lane.clone() } else { self.sum_of(of_tiles.after(k * tiles), tiles) };
            self.set_scalar(scalar, sum);
        }
        Ok(())
    }

    /// Replaces the lanes of few rows by their sum, in order.
    fn join_few(&mut self, lane: &str, rows: usize) {
        let halves = self.text.halves(lane);
        let values: Vec<String> = (0..rows).map(|row| self.text.shuffle("idx", &halves, row as u32)).collect();
        say!(self.text, "mov.f64 {lane}, {}", number(0.0));
        for value in values {
            say!(self.text, "add.rn.f64 {lane}, {lane}, {value}");
        }
    }

    /// The sum of numbers in memory, at most a tile, in each thread.
    pub(super) fn sum_of(&mut self, place: MemoryPlace, count: usize) -> String {
        if count == 1 {
            return self.load(place);
        }
        if count <= FEW {
            let values: Vec<String> = (0..count).map(|k| self.load(place.after(k))).collect();
            let mut sum = number(0.0);
            for value in values {
                sum = self.text.real("add.rn.f64", &[&sum, &value]);
            }
            return sum;
        }
        let (sum, warp_lane) = (self.text.new_real(), self.warp_lane.clone());
        say!(self.text, "mov.f64 {sum}, {}", number(0.0));
        let open = self.text.begin_lanes(&warp_lane, count, WARP);
        let value = self.load_element(place, &open.index);
        say!(self.text, "add.rn.f64 {sum}, {sum}, {value}");
        self.text.end(open);
        self.text.join_lanes(&sum);
        sum
    }

    /// Writes the code of one row.
    fn row(&mut self, rows: &Loop, index: &str, sums: &LoopSums) -> Result<(), KernelRefusal> {
        let registers = vec![String::new(); rows.registers];
        let mut row = RowCode { index: index.to_owned(), addresses: HashMap::new(), loaded: HashMap::new(), registers };
        for instruction in &rows.code {
            match *instruction {
                Instruction::Map { op, out, args } => {
                    let mut read = [(); 3].map(|()| String::new());
                    for (to, &arg) in read.iter_mut().zip(&args[..op.arity()]) {
                        *to = self.operand(&mut row, arg);
                    }
                    row.registers[out as usize] = self.operate(op, read.each_ref().map(String::as_str))?;
                }
                Instruction::Gather { out, source, index, .. } => {
                    let (source, first) = (self.place(source), self.index(index));
                    let words = self.row_address(&mut row, "~w");
                    let element = self.text.word("ld.global.u32", &[&format!("[{words}+{}]", 4 * first)]);
                    row.registers[out as usize] = self.load_element(source, &element);
                }
                Instruction::Store { from, store } => {
                    let slot = rows.stores[store as usize];
                    self.store(&mut row, from, self.slot(slot));
                    if self.slopes.contains(&slot) {
                        let slope = self.operand(&mut row, from);
                        self.look_at(&slope);
                    }
                }
                Instruction::Sum { sum, values } => {
                    let value = self.operand(&mut row, values);
                    self.add(sums, sum, &value);
                }
                Instruction::Dot { sum, a, b } => {
                    let (a, b) = (self.operand(&mut row, a), self.operand(&mut row, b));
                    let product = self.operate(Op::Mul, [&a, &b, ""])?;
                    self.add(sums, sum, &product);
                }
                Instruction::SegmentSum { sum, values } => {
                    if !matches!(values, Operand::Vector(_)) {
                        self.store(&mut row, values, sums.segments[sum as usize]);
                    }
                }
                Instruction::Columns { out, from, first, count } => {
                    let mut value = self.operand(&mut row, from);
                    for &(view, scalar) in &rows.terms[first as usize..(first + count) as usize] {
                        let (column, factor) = (self.operand(&mut row, Operand::Vector(view)), self.scalar(scalar));
                        let product = self.operate(Op::Mul, [&column, &factor, ""])?;
                        value = self.operate(Op::Add, [&value, &product, ""])?;
                    }
                    row.registers[out as usize] = value;
                }
                Instruction::Dots { values, first, count } => {
                    let value = self.operand(&mut row, values);
                    for &(view, sum) in &rows.terms[first as usize..(first + count) as usize] {
                        let column = self.operand(&mut row, Operand::Vector(view));
                        let product = self.operate(Op::Mul, [&column, &value, ""])?;
                        self.add(sums, sum, &product);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a row to its lane of a sum.
    fn add(&mut self, sums: &LoopSums, sum: u32, value: &str) {
        let lane = &sums.lanes[sum as usize];
        if sums.few {
            say!(self.text, "mov.f64 {lane}, {value}");
        } else {
            say!(self.text, "add.rn.f64 {lane}, {lane}, {value}");
        }
    }

    fn store(&mut self, row: &mut RowCode, from: Operand, to: MemoryPlace) {
        let (value, address) = (self.operand(row, from), self.row_address(row, to.base));
        say!(self.text, "st.global.f64 [{address}+{}], {value}", to.byte);
    }

    /// What an operand is in a row.
    fn operand(&mut self, row: &mut RowCode, operand: Operand) -> String {
        match operand {
            Operand::Register(register) => row.registers[register as usize].clone(),
            Operand::Scalar(scalar) => self.scalar(scalar),
            Operand::None => number(0.0),
            Operand::Vector(view) => {
                let place = self.place(view);
                if let Some(value) = row.loaded.get(&place) {
                    return value.clone();
                }
                let address = self.row_address(row, place.base);
                let value = self.text.real("ld.global.f64", &[&format!("[{address}+{}]", place.byte)]);
                row.loaded.insert(place, value.clone());
                value
            }
        }
    }

    /// The register of the memory plus the row.
    fn row_address(&mut self, row: &mut RowCode, base: &'static str) -> String {
        if let Some(address) = row.addresses.get(base) {
            return address.clone();
        }
        let bytes = if base == "~w" { 4 } else { NUMBER as u32 };
        let address = self.text.address(base, &row.index, bytes);
        row.addresses.insert(base, address.clone());
        address
    }
}

/// The vectors that a loop reads.
fn views(rows: &Loop) -> Vec<View> {
    let mut views: Vec<View> = rows.terms.iter().map(|term| term.0).collect();
    let mut add = |operands: &[Operand]| {
        views.extend(operands.iter().filter_map(|operand| match operand {
            Operand::Vector(view) => Some(*view),
            _ => None,
        }));
    };
    for instruction in &rows.code {
        match *instruction {
            Instruction::Map { args, .. } => add(&args),
            Instruction::Gather { source, .. } => add(&[Operand::Vector(source)]),
            Instruction::Store { from: a, .. }
            | Instruction::Sum { values: a, .. }
            | Instruction::SegmentSum { values: a, .. }
            | Instruction::Columns { from: a, .. }
            | Instruction::Dots { values: a, .. } => add(&[a]),
            Instruction::Dot { a, b, .. } => add(&[a, b]),
        }
    }
    views
}

/// What is summed by segment.
fn segment_values(instruction: &Instruction) -> Option<Operand> {
    match *instruction {
        Instruction::SegmentSum { values, .. } => Some(values),
        _ => None,
    }
}
