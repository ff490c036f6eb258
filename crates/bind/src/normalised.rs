//! The log density of a program with all constants, whatever its statements drop: the program is bound once more for it,
//! when somebody asks.

use crate::bind::run_density;
use crate::interpreter::{Budget, Interpreter};
use crate::value::Value;
use octopus_density::{LogDensity, constant_between};
use octopus_program::evaluate;
use octopus_stan::StanProgram;

/// A program with its data, ready to be bound with all constants.
#[derive(Clone, Debug)]
pub(crate) struct NormalisedProgram {
    program: StanProgram,
    /// Data and transformed data, by the variable's number.
    values: Vec<Option<Value>>,
    uses_lanes: bool,
    limits: Budget,
}

impl NormalisedProgram {
    /// Keeps what is needed. `me` knows the data; `values` are the ones before parameters got theirs.
    pub(crate) fn new(me: &Interpreter<'_>, program: &StanProgram, values: &[Option<Value>]) -> Self {
        let values = values[..program.variables.len()].to_vec();
        Self { program: program.clone(), values, uses_lanes: me.uses_lanes, limits: me.budget.renewed() }
    }

    /// What the log density of `density` lacks; none where that is no constant, as where functions that drop constants branch
    /// on parameters.
    pub(crate) fn log_constant(&self, density: &dyn LogDensity) -> Option<f64> {
        let mut me = Interpreter::new(&self.program);
        me.values.clone_from(&self.values);
        me.keeps_constants = true;
        me.uses_lanes = self.uses_lanes;
        me.budget = self.limits;
        run_density(&mut me).ok()?;
        let terms = me.graph.concat(&me.target);
        let target = me.graph.sum(terms);
        if me.graph.fault().is_some() {
            return None;
        }
        constant_between(density, |position| evaluate(&me.graph, &[target], position)[0][0])
    }
}
