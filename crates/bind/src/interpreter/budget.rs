//! Limits of a run, so that no program runs for ever or takes all of the memory: steps, elements, nodes, depth.

use super::{Interpreter, Run, wrong};
use crate::bind::BindOptions;
use crate::value::Value;
use octopus_program::Graph;
use octopus_stan::{Constraint, Declaration, Span};

/// Steps whose nodes are kept on a draw.
const FEW_STEPS: u64 = 16;
/// Calls inside of calls.
const MOST_CALLS: usize = 100;
/// Statements and expressions inside of each other, those of functions that are called included: each takes stack.
const DEEPEST: usize = 1000;
/// Elements that are made in the time of a step, which is 50 ns.
const ELEMENTS_OF_A_STEP: usize = 16;
/// Steps that an operation takes on any number of elements.
const STEPS_OF_AN_OPERATION: u64 = 4;
/// Multiplications of matrices in the time of a step.
const MULTIPLICATIONS_OF_A_STEP: u64 = 64;
/// Elements that take the memory of a pass, and of its random numbers, when all passes are bound at once.
const ELEMENTS_OF_A_LANE: usize = 2;
const ELEMENTS_OF_A_STREAM: usize = 16;
/// Elements for which there may be one node of the graph, since a node with its slopes takes as much memory.
const ELEMENTS_OF_A_NODE: usize = 16;

/// What a run may take, and what it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Steps that may be carried out.
    pub(crate) most_steps: u64,
    /// Elements that the variables may have together.
    pub(crate) most_elements: usize,
    steps: u64,
    /// Elements of the variables that are declared now.
    held: usize,
    depth: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(BindOptions::default())
    }
}

impl Budget {
    pub(crate) fn of(options: BindOptions) -> Self {
        Self { most_steps: options.most_steps, most_elements: options.most_elements, steps: 0, held: 0, depth: 0 }
    }

    /// Returns the same limits, of which nothing has been taken.
    pub(crate) fn renewed(self) -> Self {
        Self { steps: 0, held: 0, depth: 0, ..self }
    }

    /// Returns how many passes of a loop may be bound at once: each has its number, and a stream where numbers are drawn.
    pub(crate) fn most_lanes(&self, draws_numbers: bool) -> usize {
        self.most_elements / if draws_numbers { ELEMENTS_OF_A_STREAM } else { ELEMENTS_OF_A_LANE }
    }

    /// Returns how many operations on single numbers may be done at once: now, of those that are left, or later.
    pub(crate) fn work_left(&self, now: bool) -> usize {
        let steps = if now { self.most_steps.saturating_sub(self.steps) } else { self.most_steps };
        usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(ELEMENTS_OF_A_STEP)
    }

    /// Counts operations where none can be refused; the next one is.
    pub(crate) fn count(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(STEPS_OF_AN_OPERATION.saturating_mul(steps as u64));
    }

    /// Returns whether more steps were asked for than may be carried out.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps > self.most_steps
    }

    /// Takes back the declarations since `before`; steps are not taken back.
    pub(crate) fn restore_variables(&mut self, before: Self) {
        *self = Self { steps: self.steps, ..before };
    }
}

impl Interpreter<'_> {
    /// Counts a step, and ends a run that is too long.
    pub(crate) fn step(&mut self, span: Span) -> Run<()> {
        self.steps(1, span)?;
        // On a draw all values are numbers: nobody asks for a node of the statement before.
        let is_large = self.lanes.is_some() || self.budget.steps.is_multiple_of(FEW_STEPS);
        if self.is_on_draw && is_large && !self.graph.is_empty() {
            self.graph = Graph::new();
        }
        Ok(())
    }

    fn steps(&mut self, steps: u64, span: Span) -> Run<()> {
        let Budget { most_steps, most_elements, .. } = self.budget;
        self.budget.steps += steps;
        if self.budget.is_spent() {
            return wrong(span, format!("the program has not come to its end after {most_steps} steps here"));
        }
        if let Some(fault) = self.graph.fault() {
            return wrong(span, fault.to_string());
        }
        let most = most_elements / ELEMENTS_OF_A_NODE;
        if self.graph.node_count() > most {
            return wrong(
                span,
                format!("the program has more than {most} operations on parameters here; write loops as vectors"),
            );
        }
        if self.graph.element_count() > most_elements.saturating_mul(2) {
            return wrong(span, "the program needs too much memory for what depends on parameters here");
        }
        Ok(())
    }

    /// Counts an operation that consists of so many `operations` on single numbers.
    pub(crate) fn work(&mut self, operations: usize, span: Span) -> Run<()> {
        self.steps(STEPS_OF_AN_OPERATION + (operations / ELEMENTS_OF_A_STEP) as u64, span)
    }

    /// Counts an operation on matrices with so many multiplications, and refuses one that alone takes too long.
    pub(crate) fn multiplications(&mut self, factors: &[usize], divisor: usize, span: Span) -> Run<()> {
        let count =
            factors.iter().fold(1_u64, |product, &factor| product.saturating_mul(factor as u64)) / divisor as u64;
        let most = self.budget.most_steps.saturating_mul(MULTIPLICATIONS_OF_A_STEP);
        if count > most {
            return wrong(
                span,
                format!(
                    "this takes {:.1e} multiplications, and {:.1e} are the most; give fewer rows",
                    count as f64, most as f64
                ),
            );
        }
        self.steps(STEPS_OF_AN_OPERATION + count / MULTIPLICATIONS_OF_A_STEP, span)
    }

    /// Demands that a value of these sizes can be made, and counts the work; returns its number of elements.
    pub(crate) fn room(&mut self, sizes: &[usize], span: Span) -> Run<usize> {
        let most = self.budget.most_elements;
        // A dimension without elements makes the others no smaller: loops may run over them.
        match sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size.max(1))) {
            Some(count) if count <= most => {
                self.work(count, span)?;
                Ok(sizes.iter().product())
            }
            _ => wrong(span, format!("sizes {sizes:?} are too many elements; {most} are the most")),
        }
    }

    /// Counts the work of a value that has been made.
    pub(crate) fn worked(&mut self, value: &Value, span: Span) -> Run<()> {
        if value.dims().is_empty() && !value.is_laned() {
            return Ok(());
        }
        let lanes = if value.is_laned() { self.lane_count() } else { 1 };
        self.work(value.count().saturating_mul(lanes), span)
    }

    /// A variable of `count` elements begins in place of one of `before` elements.
    pub(crate) fn hold(&mut self, before: usize, count: usize, span: Span) -> Run<()> {
        let most = self.budget.most_elements;
        self.budget.held = self.budget.held.saturating_sub(before).saturating_add(count);
        if self.budget.held > most {
            let held = self.budget.held;
            return wrong(span, format!("with this one the variables have {held} elements; {most} are the most"));
        }
        self.work(count, span)
    }

    /// Demands that a parameter's transform can be made: most need some nodes for each element, some a matrix.
    pub(crate) fn room_for_parameter(&mut self, declaration: &Declaration) -> Run<()> {
        let variable = &self.program.variables[declaration.variable.0];
        let (span, arrays) = (variable.span, usize::from(variable.ty.arrays));
        let dims = self.sizes_of(declaration)?;
        self.hold(0, dims.iter().product(), span)?;
        let (copies, inner) = dims.split_at(arrays.min(dims.len()));
        let (copies, length): (usize, usize) = (copies.iter().product(), inner.iter().product());
        let made = match &declaration.constraint {
            Constraint::None
            | Constraint::Lower(_)
            | Constraint::Upper(_)
            | Constraint::LowerUpper(..)
            | Constraint::Affine { .. } => copies.saturating_mul(length),
            Constraint::SumToZero | Constraint::Simplex => copies.saturating_mul(length).saturating_mul(length),
            _ => copies.saturating_mul(length).saturating_mul(ELEMENTS_OF_A_NODE),
        };
        self.room(&[made], span)?;
        let rows = inner.first().copied().unwrap_or(0);
        match &declaration.constraint {
            // A factor times itself.
            Constraint::Corr | Constraint::Cov => self.multiplications(&[copies, length, rows], 1, span),
            _ => Ok(()),
        }
    }

    /// Does something inside of a statement or an expression; the stack must not overflow.
    pub(crate) fn deeper<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if self.budget.depth >= DEEPEST {
            return wrong(span, "functions and expressions are nested too deeply here");
        }
        self.budget.depth += 1;
        let result = run(self);
        self.budget.depth -= 1;
        result
    }

    /// Runs the body of a function; its variables end with it.
    pub(crate) fn called<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if self.calls >= MOST_CALLS {
            return wrong(span, format!("functions call each other more than {MOST_CALLS} deep"));
        }
        // Each call has room for all variables of the program.
        self.work(self.values.len(), span)?;
        let held = self.budget.held;
        self.calls += 1;
        let result = run(self);
        self.calls -= 1;
        self.budget.held = held;
        result
    }
}
