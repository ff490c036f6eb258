//! What sampling statements say of a program's observations once it has data: their log likelihoods as nodes of the graph, and
//! a block that replicates them on draws.

use super::{DrawStatements, LikelihoodStatements, ModelledData, Obstacle, replicate};
use crate::generated::{GeneratedBlock, SizedVariable};
use crate::interpreter::{Interpreter, Stop};
use crate::observations::ObservedData;
use crate::value::{Element, Elements, Ints, Tensor, Value};
use octopus_program::NodeId;
use octopus_stan::{Span, StanProgram};

/// What the sampling statements about data give.
#[derive(Clone, Debug)]
pub(crate) struct ReadObservations {
    /// The data, one after the other.
    pub(crate) observed: Vec<ObservedData>,
    /// The log likelihoods of all observations.
    pub(crate) terms: Option<NodeId>,
    /// What replicates all of them.
    pub(crate) replicate: Option<ReplicateBlock>,
    pub(crate) outcomes: Vec<BoundOutcome>,
}

/// Draws data given parameters.
#[derive(Clone, Debug)]
pub(crate) struct ReplicateBlock {
    pub(crate) block: GeneratedBlock,
    /// The places of the observations among the block's numbers.
    places: Vec<usize>,
}

impl ReplicateBlock {
    /// Replicates the data on a draw with these parameters and transformed parameters; all are NaN where that fails.
    pub(crate) fn run(&self, known: &[f64], random: octopus_random::Stream, out: &mut [f64]) {
        let mut all = vec![0.0; self.block.width()];
        // What fails is NaN.
        let _ = self.block.run(known, random, &mut all);
        out.iter_mut().zip(&self.places).for_each(|(out, &place)| *out = all.get(place).copied().unwrap_or(f64::NAN));
    }
}

/// An outcome with its data.
#[derive(Clone, Debug)]
pub(crate) struct BoundOutcome {
    pub(crate) variable: SizedVariable,
    pub(crate) value: Value,
    /// The places of the numbers that a statement is about.
    pub(crate) places: Vec<usize>,
}

/// Binds the statements about data: `me` has run the model, `values` are the data, and `known` the parameters and transformed
/// parameters.
pub(crate) fn observations(
    me: &mut Interpreter<'_>,
    program: &StanProgram,
    statements: &LikelihoodStatements,
    values: &[Option<Value>],
    known: Vec<SizedVariable>,
) -> Result<ReadObservations, Obstacle> {
    // Each term is whole, as functions by the names `_lupdf` are not.
    me.drops_constants = false;
    me.statements(&statements.statements).map_err(stopped)?;
    let (mut observed, mut pieces, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    for outcome in &statements.outcomes {
        if let Some((data, bound, node)) = bound(me, outcome, values) {
            observed.push(data);
            outcomes.push(bound);
            pieces.push(node);
        }
    }
    if observed.is_empty() {
        return Err(Obstacle::new(Span::default(), "with these data no statement says how data are distributed"));
    }
    let terms = Some(me.graph.concat(&pieces));
    let replicate = replicate(program).ok().map(|draws| block(me, draws, values, known, &outcomes));
    Ok(ReadObservations { observed, terms, replicate, outcomes })
}

fn stopped(stop: Stop) -> Obstacle {
    match stop {
        Stop::Wrong(span, message) => Obstacle::new(span, message),
        Stop::Lanes => Obstacle::new(Span::default(), "sizes differ over the passes of a loop"),
    }
}

/// The observations of an outcome with their log likelihoods; none where no element has one.
fn bound(
    me: &mut Interpreter<'_>,
    outcome: &ModelledData,
    values: &[Option<Value>],
) -> Option<(ObservedData, BoundOutcome, NodeId)> {
    let program = me.program;
    let variable = &program.variables[outcome.variable.0];
    let value = values.get(outcome.variable.0)?.clone()?;
    let terms = me.values[outcome.terms.0].clone()?;
    let terms = me.tensor(&terms);
    let has_term = |k: &usize| !matches!(terms.elements.at(*k), Element::Known(x) if x.is_nan());
    let chosen: Vec<usize> = (0..terms.count()).filter(has_term).collect();
    if chosen.is_empty() {
        return None;
    }
    let dims = value.dims().to_vec();
    let width: usize = dims[dims.len() - outcome.own_dimensions..].iter().product();
    let places: Vec<usize> = chosen.iter().flat_map(|&term| term * width..(term + 1) * width).collect();
    let numbers = value.numbers()?;
    let is_whole = places.len() == numbers.len();
    let observed = ObservedData {
        name: variable.name.clone(),
        shape: if is_whole { dims.clone() } else { vec![places.len()] },
        values: places.iter().map(|&place| numbers[place]).collect(),
        terms: chosen.len(),
        places: (!is_whole).then(|| places.clone()),
    };
    let node = me.node(&terms);
    let node = me.graph.broadcast(node, terms.count());
    let node = me.gather(node, chosen.iter().map(|&term| term as u32).collect());
    let variable = SizedVariable { id: outcome.variable, ty: variable.ty, dims };
    Some((observed, BoundOutcome { variable, value, places }, node))
}

fn block(
    me: &Interpreter<'_>,
    draws: DrawStatements,
    values: &[Option<Value>],
    known: Vec<SizedVariable>,
    outcomes: &[BoundOutcome],
) -> ReplicateBlock {
    let DrawStatements { mut program, statements, observed } = draws;
    program.generated_quantities = statements;
    let mut values: Vec<Option<Value>> = values.to_vec();
    values.resize(program.variables.len(), None);
    for (of, copy) in observed {
        values[copy.0] = values[of.0].clone();
    }
    let (mut places, mut from) = (Vec::new(), 0);
    for outcome in outcomes {
        values[outcome.variable.id.0] = Some(lacking(&outcome.value, &outcome.places));
        places.extend(outcome.places.iter().map(|place| from + place));
        from += outcome.variable.len();
    }
    let quantities = outcomes.iter().map(|outcome| outcome.variable.clone()).collect();
    ReplicateBlock { block: GeneratedBlock::of_statements(me, program, values, known, quantities), places }
}

/// A value without the numbers at these places.
pub(super) fn lacking(value: &Value, places: &[usize]) -> Value {
    match value {
        Value::Int(_) => Value::Int(i64::from(i32::MIN)),
        Value::Real(_) => Value::Real(f64::NAN),
        Value::Ints(ints) => {
            let mut values = ints.values.to_vec();
            places.iter().for_each(|&place| values[place] = i64::from(i32::MIN));
            Ints { values: values.into(), ..ints.clone() }.into()
        }
        Value::Reals(tensor) => {
            let mut values = tensor.known().unwrap_or_default().to_vec();
            places.iter().for_each(|&place| values[place] = f64::NAN);
            Tensor { elements: Elements::Data(values.into()), ..tensor.clone() }.into()
        }
        Value::Void => Value::Void,
    }
}
