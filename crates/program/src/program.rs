//! A compiled program: a log density with its gradient, and other values of the graph, as a plan.

use crate::error::{EvaluationError, ProgramError};
use crate::evaluate::{EvaluationOptions, VectorWidth, Workspace, rows::BLOCK};
use crate::graph::{Graph, NodeId};
use crate::kernel::{self, KernelBody, KernelRefusal};
use crate::lower::{lower, lower_density};
use crate::number::Number;
use crate::order;
use crate::pack::pack;
use crate::plain;
use crate::plan::{PackedProgram, PlanStep, RootPlace};
use std::sync::Arc;

/// Numbers that an evaluation may keep at a time: 2 GiB of memory.
const MOST_NUMBERS: usize = 1 << 28;

/// A program that computes a log density and its gradient. Clones share it.
#[derive(Clone, Debug)]
pub struct Program {
    plan: Arc<PackedProgram>,
    graph: Arc<Graph>,
    roots: Arc<[NodeId]>,
    guards: Arc<[Arc<str>]>,
    /// The first coordinate and the length of each parameter, with the place of its slope among the roots.
    slopes: Arc<[(usize, usize, Option<usize>)]>,
    /// Coordinates; what comes after them in a position are inputs.
    dim: usize,
    options: EvaluationOptions,
}

impl Program {
    /// Differentiates, simplifies and packs a program whose log density is the scalar `target`.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph, or a target that is a vector.
    pub fn compile(graph: &Graph, target: NodeId) -> Result<Self, ProgramError> {
        Self::compile_by(graph, target, graph.dim())
    }

    /// The same with slopes by the first `dim` coordinates; the others are inputs.
    pub(crate) fn compile_by(graph: &Graph, target: NodeId, dim: usize) -> Result<Self, ProgramError> {
        if let Some(error) = graph.fault() {
            return Err(error.clone());
        }
        if graph.len(target) != 1 {
            return Err(ProgramError::Target(graph.len(target)));
        }
        let mut whole = graph.clone();
        let target = whole.with_fewer_rows(target);
        let mut length = 0;
        let mut parameters = whole.parameters.clone();
        parameters.retain(|&parameter| {
            length += whole.len(parameter);
            length <= dim
        });
        let gradient = whole.gradient(target, &parameters);
        if let Some(error) = whole.fault() {
            return Err(error.clone());
        }
        let mut roots = vec![target];
        roots.extend(whole.guards.iter().map(|guard| guard.violations));
        let mut offset = 0;
        let mut slopes = Vec::new();
        for (&parameter, slope) in parameters.iter().zip(&gradient) {
            let length = whole.len(parameter);
            let place = slope.map(|slope| {
                roots.push(slope);
                roots.len() - 1
            });
            slopes.push((offset, length, place));
            offset += length;
        }
        let (graph, roots) = lower_density(&whole, &roots);
        let plan = pack(&graph, &roots);
        let numbers = plan.slots.iter().fold(0_usize, |sum, &length| sum.saturating_add(length));
        if numbers > MOST_NUMBERS {
            return Err(ProgramError::Memory { numbers, most: MOST_NUMBERS });
        }
        Ok(Self {
            plan: plan.into(),
            graph: graph.into(),
            roots: roots.into(),
            guards: whole.guards.iter().map(|guard| guard.message.clone()).collect(),
            slopes: slopes.into(),
            dim,
            options: EvaluationOptions::widest(),
        })
    }

    /// Returns the program for these vector instructions, or the widest ones below; no bit of a result changes.
    pub fn with_width(self, width: VectorWidth) -> Self {
        Self { options: EvaluationOptions { width, ..self.options }, ..self }
    }

    /// Returns the program with blocks of about so many rows, at most 512; no bit of a result changes.
    pub fn with_block(self, rows: usize) -> Self {
        let block = rows.next_power_of_two().clamp(order::LANES, BLOCK);
        Self { options: EvaluationOptions { block, ..self.options }, ..self }
    }

    /// Returns the program whose long loops are shared by threads, or not; no bit of a result changes.
    pub fn with_threads(self, threads: bool) -> Self {
        Self { options: EvaluationOptions { threads, ..self.options }, ..self }
    }

    /// Returns the number of unconstrained coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the memory of one evaluation at a time. Evaluations with it allocate nothing while no loop is shared by
    /// threads.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(&self.plan, self.options)
    }

    /// Returns the log density at `position` and writes its gradient. Both slices have length [`dim`](Self::dim).
    ///
    /// # Errors
    /// [`EvaluationError`] where a guard fails, or the density or a slope is not finite.
    pub fn logp_grad(
        &self,
        workspace: &mut Workspace,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvaluationError> {
        workspace.run(&self.plan, self.options, position);
        for (k, message) in self.guards.iter().enumerate() {
            if self.scalar(workspace, position, k + 1) != 0.0 {
                return Err(EvaluationError::Guard(message.to_string()));
            }
        }
        for &(offset, length, root) in &*self.slopes {
            let out = &mut gradient[offset..offset + length];
            match root.map(|root| self.plan.roots[root]) {
                None => out.fill(0.0),
                Some(RootPlace::Scalar(scalar)) => out.fill(workspace.scalars[scalar as usize]),
                Some(RootPlace::Vector(view, _)) => {
                    out.copy_from_slice(workspace.inputs(&self.plan, position).view(view, length));
                }
            }
        }
        let value = self.scalar(workspace, position, 0);
        let wrong = std::iter::once(&value).chain(gradient.iter()).find(|x| !x.is_finite());
        match wrong {
            None => Ok(value),
            Some(&value) => Err(EvaluationError::NotFinite { value }),
        }
    }

    fn scalar(&self, workspace: &Workspace, position: &[f64], root: usize) -> f64 {
        match self.plan.roots[root] {
            RootPlace::Scalar(scalar) => workspace.scalars[scalar as usize],
            RootPlace::Vector(view, length) => workspace.inputs(&self.plan, position).view(view, length)[0],
        }
    }

    /// Evaluates log density and gradient plainly over any number type, node by node: the twin that tests compare with.
    /// In f64 it has the same bits.
    pub fn plain<N: Number>(&self, position: &[N]) -> (N, Vec<N>) {
        let values = plain::evaluate(&self.graph, &self.roots, position);
        let mut gradient = vec![N::from_f64(0.0); self.dim()];
        for &(offset, length, root) in &*self.slopes {
            if let Some(root) = root {
                for (k, slope) in gradient[offset..offset + length].iter_mut().enumerate() {
                    *slope = values[root][if values[root].len() == 1 { 0 } else { k }];
                }
            }
        }
        (values[0][0], gradient)
    }

    /// Writes the program as PTX for chains of 32 or 128 threads: the value is the log density, a NaN where
    /// [`logp_grad`](Self::logp_grad) has an error, and the outputs are the gradient. Bits are the CPU's.
    ///
    /// # Errors
    /// [`KernelRefusal`] where an operation has no text, or the program is too long.
    pub fn kernel(&self, lanes: u32) -> Result<KernelBody, KernelRefusal> {
        kernel::density(&self.plan, self.dim, self.guards.len(), &self.slopes, lanes)
    }

    /// Returns whether it solves differential equations.
    pub fn solves_equations(&self) -> bool {
        self.plan.steps.iter().any(|step| matches!(step, PlanStep::Solve(_)))
    }

    /// Returns about how many operations on numbers log density and gradient take together.
    pub fn work(&self) -> usize {
        self.plan.work()
    }

    pub(crate) fn plan(&self) -> &PackedProgram {
        &self.plan
    }

    /// Returns the loops of the program: for each its rows, and the instructions of a row.
    pub fn loops(&self) -> Vec<(usize, usize)> {
        let of_loop =
            |step: &PlanStep| if let PlanStep::Loop(rows) = step { Some((rows.rows, rows.code.len())) } else { None };
        self.plan.steps.iter().filter_map(of_loop).collect()
    }

    /// Shows the plan, step by step.
    pub fn describe(&self) -> String {
        let steps = self.plan.steps.iter().map(|step| match step {
            PlanStep::Loop(rows) => {
                let code: Vec<String> = rows.code.iter().map(|code| format!("    {code:?}\n")).collect();
                format!("loop over {} rows, {} registers\n{}", rows.rows, rows.registers, code.concat())
            }
            PlanStep::Scan(scan) => format!("scan of {} steps\n    {:?}\n", scan.steps, scan.code),
            other => format!("{other:?}\n"),
        });
        steps.collect()
    }
}

/// Values of a program at a point, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    plan: Arc<PackedProgram>,
    lengths: Vec<usize>,
    options: EvaluationOptions,
}

impl Values {
    pub(crate) fn compile(graph: &Graph, values: &[NodeId]) -> Self {
        let lengths = values.iter().map(|&value| graph.len(value)).collect();
        let (graph, roots) = lower(graph, values);
        Self { plan: pack(&graph, &roots).into(), lengths, options: EvaluationOptions::widest() }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::new(&self.plan, self.options)
    }

    /// Writes them as PTX: the outputs are the values, and the value is the last one. Positions have `dim` coordinates, and
    /// inputs behind them.
    pub(crate) fn kernel(&self, dim: usize, lanes: u32) -> Result<KernelBody, KernelRefusal> {
        kernel::values(&self.plan, dim, &self.lengths, lanes)
    }

    pub(crate) fn write(&self, workspace: &mut Workspace, position: &[f64], out: &mut [f64]) {
        workspace.run(&self.plan, self.options, position);
        let inputs = workspace.inputs(&self.plan, position);
        let mut rest = out;
        for (place, &length) in self.plan.roots.iter().zip(&self.lengths) {
            let (own, after) = rest.split_at_mut(length);
            match *place {
                RootPlace::Scalar(scalar) => own.fill(workspace.scalars[scalar as usize]),
                RootPlace::Vector(view, length) => own.copy_from_slice(inputs.view(view, length)),
            }
            rest = after;
        }
    }
}
