//! A second program that draws the parameters and the data of a first one: its generated quantities have their names.

use super::Obstacle;
use super::model::JointDraw;
use super::outcomes::DrawnProgram;
use crate::bind::{BindOptions, BoundModel};
use crate::data::Data;
use crate::error::BindError;
use crate::generated::{GeneratedBlock, SizedVariable};
use crate::interface::DeclaredVariable;
use crate::interpreter::{Interpreter, Stop};
use crate::stan_density::{StanDensity, own_stream};
use crate::value::{Elements, Tensor, Value};
use octopus_random::{Purpose, Stream};
use octopus_stan::{ProgramBlock, StanProgram, StatementKind, VariableId};
use std::ops::Range;

/// A program with a second one that makes its parameters and data.
///
/// Each generated quantity of the second program that has the name of a parameter of the first one, or this name with `_`
/// behind, is its true value; each that has the name of one of its data takes the place of these. Both programs are given
/// the same data.
#[derive(Debug)]
pub struct SimulatorProgram {
    base: DrawnProgram,
    values: Vec<Option<Value>>,
    block: GeneratedBlock,
    /// The parameters, each with the places of its numbers among those of the block.
    parameters: Vec<(SizedVariable, Range<usize>)>,
    outcomes: Vec<Range<usize>>,
}

impl SimulatorProgram {
    /// Joins both programs, and tries one draw.
    ///
    /// # Errors
    /// As [`BoundModel::new`], for each of the programs; [`BindError::Data`] where the second one lacks what the first one
    /// needs, or fails.
    pub fn new(program: &StanProgram, simulator: &StanProgram, data: &Data) -> Result<Self, BindError> {
        let mut program = program.clone();
        program.generated_quantities.clear();
        let (bound, values) = BoundModel::bound(&program, data, BindOptions::default(), &[])?;
        let (second, _) = BoundModel::bound(simulator, data, BindOptions::default(), &[])?;
        let source = simulator.files().next().map(|(name, _)| name.to_owned()).unwrap_or_default();
        let fault = |what: String| BindError::Data(vec![format!("{source}: {what}")]);
        let Some(block) = second.block.clone() else {
            let why = second.warnings.first().cloned();
            return Err(fault(why.unwrap_or_else(|| "it generates no random quantities".to_owned())));
        };
        if second.dim() > 0 {
            return Err(fault(
                "it has parameters: a simulator draws all it needs in `generated quantities`".to_owned(),
            ));
        }
        let mut generated: Vec<(String, Vec<usize>, Range<usize>)> = Vec::new();
        for quantity in &block.quantities {
            let from = generated.last().map_or(0, |(_, _, place)| place.end);
            let name = simulator.variables[quantity.id.0].name.clone();
            generated.push((name, quantity.dims.clone(), from..from + quantity.len()));
        }
        let find = |name: &str, dims: &[usize]| {
            let found = generated.iter().find(|(own, ..)| own == name || own.strip_suffix('_') == Some(name));
            match found {
                Some((own, sizes, _)) if sizes != dims => {
                    Err(fault(format!("`{own}` has sizes {sizes:?}, but {dims:?} are needed")))
                }
                found => Ok(found.map(|(_, _, place)| place.clone())),
            }
        };
        let mut parameters = Vec::new();
        for quantity in bound.quantities().iter().filter(|quantity| quantity.block == ProgramBlock::Parameters) {
            let Some(place) = find(&quantity.name, &quantity.shape)? else {
                let what = format!("no generated quantity is named `{}`, the parameter of the program", quantity.name);
                return Err(fault(what));
            };
            let Some((id, ty)) = declared(&program, ProgramBlock::Parameters, &quantity.name) else { continue };
            parameters.push((SizedVariable { id, ty, dims: quantity.shape.clone() }, place));
        }
        let (mut drawn, mut outcomes) = (Vec::new(), Vec::new());
        for variable in DeclaredVariable::in_block(&program, ProgramBlock::Data) {
            let Some((id, ty)) = declared(&program, ProgramBlock::Data, &variable.name) else { continue };
            let dims = values[id.0].as_ref().map(|value| value.dims().to_vec()).unwrap_or_default();
            if let Some(place) = find(&variable.name, &dims)? {
                drawn.push(SizedVariable { id, ty, dims });
                outcomes.push(place);
            }
        }
        if outcomes.is_empty() {
            return Err(fault("no generated quantity has the name of data of the program".to_owned()));
        }
        let base = DrawnProgram::new(program, data, &bound, drawn)?;
        let made = Self { base, values, block, parameters, outcomes };
        made.draw(&mut Stream::new(0, 0, 0, Purpose::Prior)).map_err(BindError::simulation)?;
        Ok(made)
    }

    /// Returns the density of the given data, without generated quantities.
    pub fn density(&self) -> &StanDensity {
        &self.base.density
    }

    /// Draws parameters and data.
    ///
    /// # Errors
    /// When the second program fails, or gives parameters outside of their support, with the reason and its place.
    pub fn draw(&self, random: &mut Stream) -> Result<JointDraw, String> {
        let mut all = vec![0.0; self.block.width()];
        self.block.run(&[], own_stream(random), &mut all).map_err(|failure| failure.reason)?;
        let mut me = Interpreter::on_draw(&self.base.program, self.values.clone(), own_stream(random));
        for (variable, place) in &self.parameters {
            let numbers = all[place.clone()].to_vec();
            let tensor = Tensor::new(variable.ty, variable.dims.clone(), false, Elements::Data(numbers.into()));
            me.values[variable.id.0] = Some(tensor.into());
        }
        let positions = self.base.positions(&mut me, &mut [own_stream(random)]);
        let position = positions.map(|each| each.concat()).map_err(|stop| match stop {
            Stop::Wrong(span, message) => Obstacle::new(span, message).placed(&self.base.program),
            Stop::Lanes => "sizes differ over the passes of a loop".to_owned(),
        })?;
        let outcomes = self.outcomes.iter().flat_map(|place| all[place.clone()].to_vec()).collect();
        Ok(JointDraw { position, outcomes })
    }

    /// Returns the density of other data, which [`draw`](Self::draw) has made.
    ///
    /// # Errors
    /// As [`BoundModel::new`].
    pub fn with_outcomes(&self, outcomes: &[f64]) -> Result<StanDensity, BindError> {
        self.base.with_outcomes(outcomes)
    }
}

/// The variable of a name that a block declares.
fn declared(program: &StanProgram, block: ProgramBlock, name: &str) -> Option<(VariableId, octopus_stan::StanType)> {
    program.block(block).iter().find_map(|statement| match &statement.kind {
        StatementKind::Declare(declaration) => {
            let variable = &program.variables[declaration.variable.0];
            (variable.name == name).then_some((declaration.variable, variable.ty))
        }
        _ => None,
    })
}
