//! A program as a log density that samplers run.

use crate::error::ProgramError;
use crate::evaluate::Workspace;
use crate::graph::{Graph, NodeId};
use crate::program::{Program, Values};
use octopus_density::{DensityError, Layout, LogDensity};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A compiled program with named variables. Workspaces are kept and used again, one for each thread at work.
#[derive(Debug)]
pub struct ProgramDensity {
    name: String,
    layout: Layout,
    program: Program,
    values: Values,
    idle: Mutex<Vec<(Workspace, Workspace)>>,
}

impl ProgramDensity {
    /// Compiles a program whose variables, in the layout's order, are the nodes `values`.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph.
    pub fn compile(
        name: &str,
        graph: &Graph,
        target: NodeId,
        layout: Layout,
        values: &[NodeId],
    ) -> Result<Self, ProgramError> {
        let program = Program::compile(graph, target)?;
        let values = Values::compile(graph, values);
        Ok(Self { name: name.into(), layout, program, values, idle: Mutex::default() })
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Workspace, Workspace)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_workspaces<T>(&self, work: impl FnOnce(&mut (Workspace, Workspace)) -> T) -> T {
        let idle = self.idle().pop();
        let mut own = idle.unwrap_or_else(|| (self.program.workspace(), self.values.workspace()));
        let result = work(&mut own);
        self.idle().push(own);
        result
    }
}

impl LogDensity for ProgramDensity {
    fn dim(&self) -> usize {
        self.program.dim()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.with_workspaces(|own| Ok(self.program.logp_grad(&mut own.0, position, gradient)?))
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.with_workspaces(|own| self.values.write(&mut own.1, position, out));
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// Slopes come from the table, whose rows are tested.
    fn has_tested_gradient(&self) -> bool {
        true
    }
}
