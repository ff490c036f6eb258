//! A program with data of which some are drawn: positions of its parameters' values, and densities of other data.

use crate::bind::{BindOptions, BoundModel};
use crate::data::{Data, DataNumbers, DataValue};
use crate::error::BindError;
use crate::generated::SizedVariable;
use crate::interpreter::{Interpreter, Run, wrong};
use crate::stan_density::StanDensity;
use crate::unconstrain::unconstrained;
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_density::LogDensity;
use octopus_random::Stream;
use octopus_stan::{ProgramBlock, StanProgram, StatementKind, VariableRole};

/// The name of densities.
const NAME: &str = "stan";

/// A program without generated quantities, with its data and what of them is drawn.
#[derive(Debug)]
pub(super) struct DrawnProgram {
    pub(super) program: StanProgram,
    pub(super) data: Data,
    pub(super) density: StanDensity,
    pub(super) outcomes: Vec<SizedVariable>,
}

impl DrawnProgram {
    pub(super) fn new(
        program: StanProgram,
        data: &Data,
        bound: &BoundModel,
        outcomes: Vec<SizedVariable>,
    ) -> Result<Self, BindError> {
        Ok(Self { program, data: data.clone(), density: bound.density(NAME)?, outcomes })
    }

    /// The coordinates of the parameters that a run on draws has, for each draw; what the coordinates say and the values do not
    /// is drawn. Demands of a draw that is alone that its values are in their support; draws beside each other have coordinates
    /// that are not finite where theirs are not.
    pub(super) fn positions(&self, me: &mut Interpreter<'_>, randoms: &mut [Stream]) -> Run<Vec<Vec<f64>>> {
        let mut positions = vec![Vec::new(); randoms.len()];
        let is_alone = positions.len() == 1;
        for statement in &self.program.parameters {
            let StatementKind::Declare(declaration) = &statement.kind else { continue };
            let variable = &self.program.variables[declaration.variable.0];
            let numbers = me.values[declaration.variable.0].as_ref().and_then(Value::numbers).unwrap_or_default();
            if is_alone && numbers.iter().any(|x| x.is_nan()) {
                return wrong(variable.span, format!("elements of `{}` have no sampling statement", variable.name));
            }
            let own = unconstrained(me, declaration, randoms)?;
            if is_alone && own.iter().flatten().any(|x| !x.is_finite()) {
                return wrong(variable.span, format!("`{}` is outside of its support", variable.name));
            }
            positions.iter_mut().zip(own).for_each(|(position, own)| position.extend(own));
        }
        if let Some(effects) = self.density.effects() {
            positions.iter_mut().for_each(|position| *position = effects.natural_of(position));
        }
        Ok(positions)
    }

    /// The density of other data, which were drawn.
    pub(super) fn with_outcomes(&self, outcomes: &[f64]) -> Result<StanDensity, BindError> {
        let mut data = self.data.clone();
        let mut replaced = Vec::new();
        let mut rest = outcomes;
        for outcome in &self.outcomes {
            let (own, after) = rest.split_at(outcome.len().min(rest.len()));
            rest = after;
            let variable = &self.program.variables[outcome.id.0];
            let (is_int, dims) = (variable.ty.is_int(), outcome.dims.clone());
            let whole = || own.iter().map(|&x| x as i64).collect::<Vec<i64>>();
            if variable.role == VariableRole::Global(ProgramBlock::Data) {
                let numbers = if is_int { DataNumbers::Ints(whole()) } else { DataNumbers::Reals(own.to_vec()) };
                data = data.with(&variable.name, DataValue { shape: dims, numbers });
                continue;
            }
            let value = match is_int {
                true => Ints { dims, laned: false, values: whole().into() }.into(),
                false => Tensor::new(variable.ty, dims, false, Elements::Data(own.into())).into(),
            };
            replaced.push((outcome.id, value));
        }
        let (bound, _) = BoundModel::bound(&self.program, &data, BindOptions::default(), &replaced)?;
        bound.density(NAME)
    }
}
