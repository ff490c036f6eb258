//! Predictions of new data: parameters as they were drawn, what is new among them from its statements, then the data.

use super::joint::given_others;
use super::{DrawStatements, Obstacle};
use crate::bind::{BindOptions, BoundModel, give_data};
use crate::data::Data;
use crate::error::BindError;
use crate::generated::SizedVariable;
use crate::interface::DeclaredVariable;
use crate::interpreter::{Budget, Interpreter, Run, Stop};
use crate::stan_density::{StanDensity, own_stream};
use crate::value::{Elements, Tensor, Value};
use octopus_random::Stream;
use octopus_stan::{Diagnostic, ProgramBlock, StanProgram, StatementKind, VariableId};
use std::collections::HashSet;

/// What to do where new data cannot be drawn.
const TELL: &str = "predictions are drawn by sampling statements: write it as `variable ~ distribution(...)`";

/// New data of a program that was sampled: sizes, predictors and labels are given, what has a sampling statement is drawn.
///
/// The sizes of a parameter say which of its elements are the ones that were sampled. A size that the drawn data have, such
/// as the number of rows, counts other things in other data: all elements are new. Of other sizes, such as a number of
/// groups, the first elements are the sampled ones, and the elements after them are new.
#[derive(Debug)]
pub struct NewData {
    joint: StanProgram,
    values: Vec<Option<Value>>,
    parameters: Vec<GrownParameter>,
    outcomes: Vec<SizedVariable>,
    limits: Budget,
}

/// A parameter with the sizes of new data.
#[derive(Debug)]
struct GrownParameter {
    name: String,
    variable: SizedVariable,
    /// For each element its place among the numbers of a sampled draw, unless it is new.
    places: Vec<Option<usize>>,
}

impl NewData {
    /// Joins the program that `sampled` was bound of with new data. `counted` are sizes that count the same things in all
    /// data, from the first on, although drawn data have them.
    ///
    /// # Errors
    /// [`BindError::Data`] where the data do not fit, [`BindError::Refused`] with the statement that stands in the way.
    pub fn new(
        program: &StanProgram,
        sampled: &BoundModel,
        data: &Data,
        counted: &[String],
    ) -> Result<Self, BindError> {
        let refused = |obstacle: Obstacle| BindError::Refused(vec![obstacle.diagnostic(program, TELL)]);
        let stopped = |stop: Stop| {
            let told: Diagnostic = match stop {
                Stop::Wrong(span, message) => program.diagnostic(span, message, None),
                Stop::Lanes => program.diagnostic(Default::default(), "sizes differ over the passes of a loop", None),
            };
            BindError::Refused(vec![told])
        };
        let nothing = HashSet::new();
        let (_, drawn) = given_others(program, &nothing).map_err(refused)?;
        let mut me = Interpreter::new(program);
        let mut problems = Vec::new();
        give_data(&mut me, data, &drawn, &mut problems).map_err(stopped)?;
        if !problems.is_empty() {
            return Err(BindError::Data(problems));
        }
        // What is computed of drawn data is drawn itself, if it has a statement.
        for statement in &program.transformed_data {
            if let StatementKind::Declare(declaration) = &statement.kind
                && drawn.contains(&declaration.variable)
            {
                me.values[declaration.variable.0] = None;
                let bare = octopus_stan::Declaration { value: None, ..declaration.clone() };
                me.declare(&bare).map_err(stopped)?;
            }
        }
        let rows = row_sizes(program, &drawn, counted);
        let mut parameters = Vec::new();
        for statement in &program.parameters {
            let StatementKind::Declare(declaration) = &statement.kind else { continue };
            let dims = me.sizes_of(declaration).map_err(stopped)?;
            let declared = DeclaredVariable::of(program, declaration);
            let keeps: Vec<bool> = declared
                .sizes
                .iter()
                .map(|size| size.variable.as_ref().is_none_or(|name| !rows.contains(name)))
                .collect();
            let Some(quantity) = sampled.quantities().iter().find(|quantity| quantity.name == declared.name) else {
                continue;
            };
            let places = places(&dims, &quantity.shape, &keeps, quantity.offset);
            let variable = SizedVariable { id: declaration.variable, ty: declared.ty, dims };
            parameters.push(GrownParameter { name: declared.name, variable, places });
        }
        let is_new = |parameter: &&GrownParameter| parameter.places.iter().any(Option::is_none);
        let wanted: HashSet<VariableId> = parameters.iter().filter(is_new).map(|one| one.variable.id).collect();
        let (DrawStatements { program: mut joint, statements, observed }, drawn) =
            given_others(program, &wanted).map_err(refused)?;
        joint.generated_quantities = statements;
        let outcomes: Vec<SizedVariable> = drawn
            .iter()
            .map(|&id| {
                let dims = me.values[id.0].as_ref().map(|value| value.dims().to_vec()).unwrap_or_default();
                SizedVariable { id, ty: program.variables[id.0].ty, dims }
            })
            .collect();
        let mut values = std::mem::take(&mut me.values);
        values.resize(joint.variables.len(), None);
        if let Some((_, copy)) = observed.first() {
            let what = "a distribution of counts with a given sum, and the sums of new counts are not known";
            return Err(refused(Obstacle::new(joint.variables[copy.0].span, what)));
        }
        Ok(Self { joint, values, parameters, outcomes, limits: Budget::of(BindOptions::default()) })
    }

    /// Returns the data that are drawn: names and sizes.
    pub fn outcomes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        let name = |variable: &SizedVariable| self.joint.variables[variable.id.0].name.as_str();
        self.outcomes.iter().map(move |variable| (name(variable), &variable.dims[..]))
    }

    /// Returns the parameters of which elements are new: the name, how many are new, and of how many.
    pub fn grown(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let count = |parameter: &GrownParameter| parameter.places.iter().filter(|place| place.is_none()).count();
        let all = self.parameters.iter().map(move |one| (one.name.as_str(), count(one), one.places.len()));
        all.filter(|(_, new, _)| *new > 0)
    }

    /// Draws new data given the parameters at a position of the density that was sampled: the numbers of
    /// [`outcomes`](Self::outcomes), one after the other, the last index fastest.
    ///
    /// # Errors
    /// When a statement cannot be drawn from, with its place.
    pub fn draw(&self, density: &StanDensity, position: &[f64], random: &mut Stream) -> Result<Vec<f64>, String> {
        self.drawn(&density.known(position), own_stream(random)).map_err(|stop| match stop {
            Stop::Wrong(span, message) => Obstacle::new(span, message).placed(&self.joint),
            Stop::Lanes => "sizes differ over the passes of a loop".to_owned(),
        })
    }

    fn drawn(&self, known: &[f64], random: Stream) -> Run<Vec<f64>> {
        let mut me = Interpreter::on_draw(&self.joint, self.values.clone(), random);
        me.budget = self.limits;
        for GrownParameter { variable, places, .. } in &self.parameters {
            let number = |place: &Option<usize>| place.and_then(|place| known.get(place).copied()).unwrap_or(f64::NAN);
            let numbers: Vec<f64> = places.iter().map(number).collect();
            let tensor = Tensor::new(variable.ty, variable.dims.clone(), false, Elements::Data(numbers.into()));
            me.values[variable.id.0] = Some(tensor.into());
        }
        me.statements(&self.joint.generated_quantities)?;
        let numbers = |outcome: &SizedVariable| me.values[outcome.id.0].as_ref().and_then(Value::numbers);
        Ok(self.outcomes.iter().filter_map(numbers).flatten().collect())
    }
}

/// The sizes that drawn data have, but for those that count the same things in all data.
fn row_sizes(program: &StanProgram, drawn: &[VariableId], counted: &[String]) -> HashSet<String> {
    let names: HashSet<&str> = drawn.iter().map(|id| program.variables[id.0].name.as_str()).collect();
    let declared = [ProgramBlock::Data, ProgramBlock::TransformedData]
        .into_iter()
        .flat_map(|block| DeclaredVariable::in_block(program, block));
    let sizes = declared.filter(|one| names.contains(one.name.as_str())).flat_map(|one| one.sizes);
    sizes.filter_map(|size| size.variable).filter(|name| !counted.contains(name)).collect()
}

/// For each element of a container its place in one of other sizes; none where it is new.
fn places(dims: &[usize], sampled: &[usize], keeps: &[bool], offset: usize) -> Vec<Option<usize>> {
    let count: usize = dims.iter().product();
    let place = |k: usize| {
        let mut rest = k;
        let mut index = vec![0; dims.len()];
        for (at, &size) in index.iter_mut().zip(dims).rev() {
            *at = rest % size.max(1);
            rest /= size.max(1);
        }
        let is_known = index.iter().zip(sampled).zip(keeps).all(|((&at, &size), &keeps)| keeps && at < size);
        is_known.then(|| offset + index.iter().zip(sampled).fold(0, |before, (&at, &size)| before * size + at))
    };
    (0..count).map(place).collect()
}
