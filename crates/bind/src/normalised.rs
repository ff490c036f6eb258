//! The log density of a program with all constants, whatever its statements drop: the program is bound once more for it,
//! when somebody asks, with priors that integrate to 1.

use crate::bind::run_density;
use crate::generative::{ProperPriors, with_proper_priors};
use crate::interpreter::{Budget, Interpreter};
use crate::value::Value;
use octopus_density::{LogDensity, constant_between};
use octopus_program::Program;
use octopus_stan::StanProgram;

/// A program with its data, ready to be bound with all constants.
#[derive(Clone, Debug)]
pub(crate) struct NormalisedProgram {
    pub(crate) program: StanProgram,
    /// Data and transformed data, by the variable's number.
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) uses_lanes: bool,
    pub(crate) limits: Budget,
}

impl NormalisedProgram {
    /// Keeps what is needed. `me` knows the data; `values` are the ones before parameters got theirs.
    pub(crate) fn new(me: &Interpreter<'_>, program: &StanProgram, values: &[Option<Value>]) -> Self {
        let values = values[..program.variables.len()].to_vec();
        Self { program: program.clone(), values, uses_lanes: me.uses_lanes, limits: me.budget.renewed() }
    }

    /// What the log density of `density` lacks; none where that is no constant, as where functions that drop constants branch
    /// on parameters. Also why the prior may not integrate to 1 with it.
    pub(crate) fn log_constant(&self, density: &dyn LogDensity) -> (Option<f64>, Option<String>) {
        let ProperPriors { program, obstacle } = with_proper_priors(&self.program);
        let told = obstacle.map(|obstacle| obstacle.placed(&self.program));
        match self.constant_of(&program, density) {
            // Not every distribution can be truncated.
            None => {
                let why = || "what bounds leave of a distribution is not known".to_owned();
                (self.constant_of(&self.program, density), told.or_else(|| Some(why())))
            }
            constant => (constant, told),
        }
    }

    fn constant_of(&self, program: &StanProgram, density: &dyn LogDensity) -> Option<f64> {
        let mut me = Interpreter::new(program);
        me.values.clone_from(&self.values);
        me.keeps_constants = true;
        me.uses_lanes = self.uses_lanes;
        me.budget = self.limits;
        run_density(&mut me).ok()?;
        let terms = me.graph.concat(&me.target);
        let target = me.graph.sum(terms);
        let whole = Program::compile(&me.graph, target).ok()?;
        // With slopes, as solvers of differential equations take other steps without.
        let (mut workspace, mut slopes) = (whole.workspace(), vec![0.0; whole.dim()]);
        constant_between(density, |position| whole.logp_grad(&mut workspace, position, &mut slopes).ok())
    }
}
