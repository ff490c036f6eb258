//! A plan at a point: scalars, loops, scans and matrices in their order, in memory that is made once.

mod block;
mod product;
pub(crate) mod rows;
mod scan;
mod small;
mod triangular;
pub(crate) mod width;

use crate::matrix::MatrixOp;
use crate::ode::OdeScratch;
use crate::order;
use crate::plan::{Loop, PackedProgram, PlanStep, SolvePlan};
pub(crate) use product::{ProductShape, SHORT};
use rayon::prelude::*;
use rows::{Inputs, LoopScratch, Stores};
pub(crate) use small::{padded, rows_with_padding, scalar};
use std::mem;
pub use width::VectorWidth;

/// How a plan is evaluated. Nothing here changes a bit of the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvaluationOptions {
    pub(crate) width: VectorWidth,
    /// Rows of a block: a divisor of [`order::TILE`], at most [`rows::BLOCK`].
    pub(crate) block: usize,
    /// Whether long loops are shared by threads.
    pub(crate) threads: bool,
}

impl EvaluationOptions {
    /// The widest vectors, and threads for long loops.
    pub(crate) fn widest() -> Self {
        let width = VectorWidth::available().first().copied().unwrap_or(VectorWidth::Baseline);
        Self { width, block: rows::BLOCK, threads: true }
    }
}

/// The memory of one evaluation at a time.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) scalars: Vec<f64>,
    pub(crate) slots: Vec<Vec<f64>>,
    /// One for each unit of the longest loop.
    scratch: Vec<LoopScratch>,
    /// Vectors that a step writes.
    taken: Vec<Vec<f64>>,
    /// Sums of tiles, of all sums of a loop.
    tiles: Vec<f64>,
    of_one_sum: Vec<f64>,
    /// Lanes of sums by segment, unit by unit.
    partial: Vec<f64>,
    scan: scan::ScanScratch,
    /// One for each solution of differential equations.
    solutions: Vec<OdeScratch>,
    products: Vec<f64>,
    /// The point, with room behind it.
    position: Vec<f64>,
    chunks: Vec<small::Chunk>,
}

impl Workspace {
    pub(crate) fn new(plan: &PackedProgram, options: EvaluationOptions) -> Self {
        let loops =
            || plan.steps.iter().filter_map(|step| if let PlanStep::Loop(rows) = step { Some(rows) } else { None });
        let units = |l: &Loop| l.rows.div_ceil(l.unit);
        let most = |of: &dyn Fn(&Loop) -> usize| loops().map(of).max().unwrap_or(0);
        let scratches = if options.threads { most(&units).max(1) } else { 1 };
        let scratch = LoopScratch::new(most(&|l| l.registers), most(&|l| l.sums.len()));
        let tiles = |l: &Loop| l.rows.div_ceil(order::TILE);
        let scans =
            || plan.steps.iter().filter_map(|step| if let PlanStep::Scan(scan) = step { Some(scan) } else { None });
        Self {
            scalars: plan.scalars.iter().copied().chain([0.0; order::LANES]).collect(),
            slots: plan.slots.iter().map(|&length| vec![0.0; small::padded(length)]).collect(),
            scratch: vec![scratch; scratches],
            taken: Vec::with_capacity(most(&|l| l.stores.len())),
            tiles: vec![0.0; most(&|l| tiles(l) * l.sums.len())],
            of_one_sum: Vec::with_capacity(most(&tiles)),
            partial: vec![0.0; most(&|l| l.partial * units(l))],
            scan: scan::ScanScratch::new(scans()),
            solutions: plan.steps.iter().filter_map(scratch_of_solution).collect(),
            products: Vec::new(),
            position: vec![0.0; small::padded(plan.dim)],
            chunks: small::registers(plan),
        }
    }

    /// Runs the plan at `position`; one with room behind it is not copied.
    pub(crate) fn run(&mut self, plan: &PackedProgram, options: EvaluationOptions, position: &[f64]) {
        for &(offset, scalar) in &plan.parameters {
            self.scalars[scalar as usize] = position[offset as usize];
        }
        let mut own = mem::take(&mut self.position);
        let padded = if position.len() < own.len() {
            own[..plan.dim].copy_from_slice(&position[..plan.dim]);
            &own[..]
        } else {
            position
        };
        let mut steps = &plan.steps[..];
        while let Some((step, rest)) = steps.split_first() {
            let together = steps.iter().take_while(|step| step.is_small()).count();
            if together > 0 {
                let (small, rest) = steps.split_at(together);
                let Self { scalars, slots, chunks, .. } = self;
                let position = padded;
                options.width.run(small::SmallSteps { steps: small, plan, position, scalars, slots, chunks });
                steps = rest;
                continue;
            }
            match step {
                PlanStep::Loop(rows) => self.run_loop(plan, rows, options, padded),
                PlanStep::Scan(scan) => self.run_scan(plan, scan, options, position),
                PlanStep::Solve(solve) => self.run_solve(plan, solve, options.width, padded),
                PlanStep::Matrix { op, args: [a, b], lengths, out } => {
                    let mut to = mem::take(&mut self.slots[*out as usize]);
                    let mut products = mem::take(&mut self.products);
                    let inputs = self.inputs(plan, padded);
                    let (a, b) = (inputs.view_with_room(*a, lengths[0]), inputs.view_with_room(*b, lengths[1]));
                    matrix(options, *op, *lengths, [a, b], &mut to[..op.length()], &mut products);
                    self.products = products;
                    self.slots[*out as usize] = to;
                }
                PlanStep::Scalars(_) | PlanStep::Concat { .. } => {}
            }
            steps = rest;
        }
        self.position = own;
    }

    fn run_solve(&mut self, plan: &PackedProgram, solve: &SolvePlan, width: VectorWidth, position: &[f64]) {
        let SolvePlan { problem, args: [initial, parameters], out, slopes, number } = solve;
        let mut to = mem::take(&mut self.slots[*out as usize]);
        let mut to_slopes = slopes.map(|slot| mem::take(&mut self.slots[slot as usize]));
        let mut solutions = mem::take(&mut self.solutions);
        let inputs = self.inputs(plan, position);
        let given = (inputs.view(*initial, problem.states()), inputs.view(*parameters, problem.parameters()));
        let wanted = to_slopes.as_mut().map(|slopes| &mut slopes[..problem.slopes_length()]);
        problem.solve(&mut solutions[*number], width, given, &mut to[..problem.length()], wanted);
        self.solutions = solutions;
        self.slots[*out as usize] = to;
        if let (Some(slot), Some(made)) = (slopes, to_slopes) {
            self.slots[*slot as usize] = made;
        }
    }

    /// What steps read.
    pub(crate) fn inputs<'a>(&'a self, plan: &'a PackedProgram, position: &'a [f64]) -> Inputs<'a> {
        Inputs { columns: &plan.columns, indexes: &plan.indexes, position, slots: &self.slots, scalars: &self.scalars }
    }

    fn run_loop(&mut self, plan: &PackedProgram, rows: &Loop, options: EvaluationOptions, position: &[f64]) {
        let mut taken = mem::take(&mut self.taken);
        taken.extend(rows.stores.iter().map(|&slot| mem::take(&mut self.slots[slot as usize])));
        let (mut scratch, mut tiles, mut partial) =
            (mem::take(&mut self.scratch), mem::take(&mut self.tiles), mem::take(&mut self.partial));
        let units = rows.rows.div_ceil(rows.unit);
        let unit_tiles = rows.unit / order::TILE * rows.sums.len();
        let all_tiles = rows.rows.div_ceil(order::TILE) * rows.sums.len();
        let all_partial = rows.partial * units;
        partial[..all_partial].fill(0.0);
        let inputs = self.inputs(plan, position);
        let range = |unit: usize| unit * rows.unit..((unit + 1) * rows.unit).min(rows.rows);
        if options.threads && units > 1 && rayon::current_num_threads() > 1 {
            let mut of_units: Vec<Vec<&mut [f64]>> = Vec::new();
            of_units.resize_with(units, || Vec::with_capacity(taken.len()));
            for vector in &mut taken {
                for (piece, pieces) in vector.chunks_mut(rows.unit).zip(&mut of_units) {
                    pieces.push(piece);
                }
            }
            // A loop without sums has no chunk of them: each unit gets its own, which may be empty.
            let tiles = pieces(&mut tiles[..all_tiles], unit_tiles, units);
            let partial = pieces(&mut partial[..all_partial], rows.partial, units);
            let work = of_units.into_par_iter().zip(tiles).zip(partial).zip(&mut scratch).enumerate();
            work.for_each(|(unit, (((stores, tiles), partial), scratch))| {
                let mut stores = Stores::Unit(unit * rows.unit, stores);
                rows::run(options, rows, &inputs, range(unit), scratch, &mut stores, tiles, partial);
            });
        } else {
            let mut stores = Stores::Whole(&mut taken);
            for unit in 0..units {
                let end = ((unit + 1) * unit_tiles).min(all_tiles);
                let tiles = &mut tiles[unit * unit_tiles..end];
                let partial = &mut partial[unit * rows.partial..(unit + 1) * rows.partial];
                rows::run(options, rows, &inputs, range(unit), &mut scratch[0], &mut stores, tiles, partial);
            }
        }
        for (vector, &slot) in taken.drain(..).zip(&rows.stores) {
            self.slots[slot as usize] = vector;
        }
        (self.taken, self.scratch) = (taken, scratch);
        for (k, &sum) in rows.sums.iter().enumerate() {
            self.scalars[sum as usize] = if rows.rows <= order::TILE {
                tiles[k]
            } else {
                self.of_one_sum.clear();
                self.of_one_sum.extend(tiles[..all_tiles].iter().skip(k).step_by(rows.sums.len()));
                order::sum(&self.of_one_sum)
            };
        }
        for table in &rows.segment_sums {
            let sums = &mut self.slots[table.slot as usize];
            let spans = rows.rows.div_ceil(table.span);
            for span in 0..spans {
                let (unit, within) = (span * table.span / rows.unit, span * table.span % rows.unit / table.span);
                let lanes = table.segments * table.lanes;
                let from = unit * rows.partial + table.offset + within * lanes;
                let lanes = &mut partial[from..from + lanes];
                if table.lanes == 1 && span == 0 {
                    sums[..table.segments].copy_from_slice(lanes);
                    continue;
                }
                for (sum, lanes) in sums.iter_mut().zip(lanes.chunks_mut(table.lanes)) {
                    let of_span = order::halve(lanes);
                    *sum = if span == 0 { of_span } else { *sum + of_span };
                }
            }
        }
        (self.tiles, self.partial) = (tiles, partial);
    }
}

/// Writes the result of an operation on matrices; there may be room behind the operands.
fn matrix(
    options: EvaluationOptions,
    op: MatrixOp,
    lengths: [usize; 2],
    [a, b]: [&[f64]; 2],
    out: &mut [f64],
    products: &mut Vec<f64>,
) {
    match op {
        MatrixOp::Cholesky { rows } => triangular::cholesky(options, a, out, rows as usize, products),
        MatrixOp::Solve { rows, columns, transposed } => {
            let (n, columns) = (rows as usize, columns as usize);
            triangular::solve(options, a, b, out, n, columns, transposed, products);
        }
        MatrixOp::Product { .. } => match op.product_shape() {
            Some(shape) => product::product(options, shape, a, b, out, products),
            None => op.evaluate(a, b, out, products),
        },
        MatrixOp::EigendecomposeSym { .. } => op.evaluate(&a[..lengths[0]], &b[..lengths[1]], out, products),
    }
}

/// The result of an operation on matrices of data.
pub(crate) fn matrix_of_data(op: MatrixOp, operands: [&[f64]; 2]) -> Vec<f64> {
    let [a, b] = operands.map(|values| {
        let mut with_room = values.to_vec();
        with_room.resize(small::padded(values.len()), 0.0);
        with_room
    });
    let mut out = vec![0.0; op.length()];
    let lengths = operands.map(<[f64]>::len);
    matrix(EvaluationOptions::widest(), op, lengths, [&a, &b], &mut out, &mut Vec::new());
    out
}

fn scratch_of_solution(step: &PlanStep) -> Option<OdeScratch> {
    let PlanStep::Solve(solve) = step else { return None };
    Some(solve.problem.scratch(solve.slopes.is_some()))
}

/// Cuts memory in `count` pieces of `length`; the last one is what is left.
fn pieces(mut memory: &mut [f64], length: usize, count: usize) -> Vec<&mut [f64]> {
    let mut pieces = Vec::with_capacity(count);
    for _ in 0..count {
        let (piece, rest) = memory.split_at_mut(length.min(memory.len()));
        pieces.push(piece);
        memory = rest;
    }
    pieces
}
