//! A program with data whose parameters and data can be drawn.

use super::observed::lacking;
use super::outcomes::DrawnProgram;
use super::reach::DataReach;
use super::{Obstacle, joint};
use crate::bind::{BindOptions, BoundModel};
use crate::data::Data;
use crate::error::BindError;
use crate::generated::{GeneratedBlock, demand_bounds, for_each_bound};
use crate::interpreter::{Budget, Interpreter, Run, Stop};
use crate::stan_density::{StanDensity, own_stream};
use crate::value::Value;
use octopus_random::{Purpose, Stream};
use octopus_stan::{StanProgram, Statement, StatementKind, VariableId};
use std::slice;

/// Draws of everything until one is in the support, at the most.
const MOST_TRIES: usize = 1000;
/// What to do where a program cannot be drawn from.
const TELL: &str = "a second program can draw parameters and data: --simulator FILE.stan";

/// A program whose parameters and data can be drawn: each has its sampling statement, in an order that can be drawn.
///
/// The program's generated quantities are no part of it. Data of which no statement speaks, such as sizes and predictors,
/// are as given.
///
/// Where a constraint cuts off parts of the priors that differ in size over other parameters, or the program rejects, draws
/// outside of the support are thrown away: what is kept has the program's joint distribution.
#[derive(Debug)]
pub struct GenerativeModel {
    base: DrawnProgram,
    /// Draws everything that is lacking in `values`, as generated quantities.
    joint: StanProgram,
    /// The first of its statements draw the parameters.
    prior: Vec<Statement>,
    values: Vec<Option<Value>>,
    /// Draws data given parameters.
    replicate: Option<GeneratedBlock>,
    /// The declarations of the data that are drawn.
    bounded: Vec<Statement>,
    /// Whether draws of the data may be outside of their bounds: parameters are kept with data that are not.
    tries_data: bool,
    /// Whether a transformed parameter has a bound.
    has_bounds: bool,
    limits: Budget,
}

/// One draw of parameters and data.
#[derive(Clone, Debug, PartialEq)]
pub struct JointDraw {
    /// The parameters, as unconstrained coordinates.
    pub position: Vec<f64>,
    /// The data with a sampling statement, one after the other; elements without one are as observed.
    pub outcomes: Vec<f64>,
}

/// Why nothing was drawn.
struct NoDraw {
    reason: String,
    last: Option<Obstacle>,
}

impl GenerativeModel {
    /// Reads a program with its data, and tries one draw.
    ///
    /// # Errors
    /// As [`BoundModel::new`], and [`BindError::Refused`] with the statement that stands in the way.
    pub fn new(program: &StanProgram, data: &Data) -> Result<Self, BindError> {
        let mut program = program.clone();
        program.generated_quantities.clear();
        let refused = |obstacle: &Obstacle| BindError::Refused(vec![obstacle.diagnostic(&program, TELL)]);
        let (bound, values) = BoundModel::bound(&program, data, BindOptions::default(), &[])?;
        let statements = joint(&program).map_err(|obstacle| refused(&obstacle))?;
        let read = bound.read.as_ref();
        let outcomes = read.map(|read| read.outcomes.clone()).unwrap_or_default();
        let replicate = read.and_then(|read| read.replicate.clone());
        if statements.draws.draws_data() && replicate.is_none() {
            return Err(BindError::Refused(bound.unread().cloned().into_iter().collect()));
        }
        let ids: Vec<VariableId> = outcomes.iter().map(|outcome| outcome.variable.id).collect();
        if let Some(other) = DataReach::computed_from(&program, &ids) {
            let variable = &program.variables[other.0];
            let what = format!("`{}` is computed from data that are drawn", variable.name);
            return Err(refused(&Obstacle::new(variable.span, what)));
        }
        let mut joint = statements.draws.program;
        joint.generated_quantities = statements.draws.statements;
        let mut started = values;
        started.truncate(program.variables.len());
        started.resize(joint.variables.len(), None);
        for (of, copy) in statements.draws.observed {
            started[copy.0] = started[of.0].clone();
        }
        for outcome in &outcomes {
            started[outcome.variable.id.0] = Some(lacking(&outcome.value, &outcome.places));
        }
        let bounded = declarations_of(&program, &ids);
        let mut has_bounds = false;
        // Nothing is computed, so that nothing can be wrong.
        let _ = for_each_bound(&joint.transformed_parameters, |_, _, _| {
            has_bounds = true;
            Ok(())
        });
        let outcomes = outcomes.into_iter().map(|outcome| outcome.variable).collect();
        let model = Self {
            base: DrawnProgram::new(program, data, &bound, outcomes)?,
            replicate: replicate.map(|replicate| replicate.block.within(bounded.clone())),
            joint,
            prior: statements.prior,
            values: started,
            bounded,
            tries_data: statements.tries_data,
            has_bounds,
            limits: Budget::of(BindOptions::default()),
        };
        match model.tried(&mut Stream::new(0, 0, 0, Purpose::Prior), true) {
            Err(NoDraw { last: Some(last), .. }) => {
                Err(BindError::Refused(vec![last.diagnostic(&model.base.program, TELL)]))
            }
            _ => Ok(model),
        }
    }

    /// Returns the density of the given data, without generated quantities.
    pub fn density(&self) -> &StanDensity {
        &self.base.density
    }

    /// Draws parameters, as unconstrained coordinates.
    ///
    /// # Errors
    /// When none of many draws is in the support, or can be computed, with the last reason and its place.
    pub fn draw_parameters(&self, random: &mut Stream) -> Result<Vec<f64>, String> {
        self.tried(random, self.tries_data).map(|draw| draw.position).map_err(|none| none.reason)
    }

    /// Draws parameters, and data given them.
    ///
    /// # Errors
    /// As [`draw_parameters`](Self::draw_parameters).
    pub fn draw(&self, random: &mut Stream) -> Result<JointDraw, String> {
        self.tried(random, true).map_err(|none| none.reason)
    }

    /// Draws parameters with each of the streams, as [`draw_parameters`](Self::draw_parameters) does one after the other: the
    /// program is run once for all where it can be.
    ///
    /// # Errors
    /// As [`draw_parameters`](Self::draw_parameters), for each by itself.
    pub fn draw_parameters_of(&self, randoms: &mut [Stream]) -> Vec<Result<Vec<f64>, String>> {
        let first: Vec<Stream> = randoms.iter().map(|random| own_stream(&mut random.clone())).collect();
        let Some(positions) = self.drawn_at_once(first) else {
            return randoms.iter_mut().map(|random| self.draw_parameters(random)).collect();
        };
        let each = randoms.iter_mut().zip(positions).map(|(random, position)| {
            // A draw outside of the support is tried again, alone.
            if position.iter().any(|x| !x.is_finite()) {
                return self.draw_parameters(random);
            }
            own_stream(random);
            Ok(position)
        });
        each.collect()
    }

    /// The parameters of all draws by one run; `None` where draws may do different things.
    fn drawn_at_once(&self, mut randoms: Vec<Stream>) -> Option<Vec<Vec<f64>>> {
        // Bounds are demanded of each draw by itself.
        if randoms.len() < 2 || self.tries_data || self.has_bounds {
            return None;
        }
        let own = randoms.iter_mut().map(own_stream).collect();
        let mut me = Interpreter::on_draws(&self.joint, self.values.clone(), own);
        me.budget = self.limits;
        me.statements(&self.joint.parameters).ok()?;
        me.statements(&self.prior).ok()?;
        self.base.positions(&mut me, &mut randoms).ok()
    }

    fn tried(&self, random: &mut Stream, with_data: bool) -> Result<JointDraw, NoDraw> {
        let mut last = None;
        for _ in 0..MOST_TRIES {
            match self.drawn(own_stream(random), with_data) {
                Ok(draw) => return Ok(draw),
                Err(Stop::Wrong(span, message)) => last = Some(Obstacle::new(span, message)),
                Err(Stop::Lanes) => break,
            }
        }
        let reason = last.as_ref().map(|last| last.placed(&self.base.program)).unwrap_or_default();
        let reason = format!("none of {MOST_TRIES} draws of all parameters is in the support; the last: {reason}");
        Err(NoDraw { reason, last })
    }

    fn drawn(&self, mut random: Stream, with_data: bool) -> Run<JointDraw> {
        let mut me = Interpreter::on_draw(&self.joint, self.values.clone(), own_stream(&mut random));
        me.budget = self.limits;
        me.statements(&self.joint.parameters)?;
        me.statements(if with_data { &self.joint.generated_quantities } else { &self.prior })?;
        demand_bounds(&mut me, &self.joint.transformed_parameters)?;
        if with_data {
            demand_bounds(&mut me, &self.bounded)?;
        }
        let position = self.base.positions(&mut me, slice::from_mut(&mut random))?.concat();
        let numbers = |id: VariableId| me.values[id.0].as_ref().and_then(Value::numbers);
        let outcomes = self.base.outcomes.iter().filter_map(|outcome| numbers(outcome.id)).flatten().collect();
        Ok(JointDraw { position, outcomes })
    }

    /// Draws data given the parameters at a position, as [`JointDraw::outcomes`].
    ///
    /// # Errors
    /// When none of many draws obeys the bounds of the data, or can be computed, with the last reason and its place.
    pub fn replicate(&self, position: &[f64], random: &mut Stream) -> Result<Vec<f64>, String> {
        let Some(replicate) = &self.replicate else { return Ok(Vec::new()) };
        let known = self.base.density.known(position);
        let mut out = vec![0.0; replicate.width()];
        let mut last = String::new();
        for _ in 0..MOST_TRIES {
            match replicate.run(&known, own_stream(random), &mut out) {
                Ok(()) => return Ok(out),
                Err(failure) => last = failure.reason,
            }
        }
        Err(format!("none of {MOST_TRIES} draws of the data can be kept; the last: {last}"))
    }

    /// Returns the density of other data, which [`draw`](Self::draw) or [`replicate`](Self::replicate) has made.
    ///
    /// # Errors
    /// As [`BoundModel::new`].
    pub fn with_outcomes(&self, outcomes: &[f64]) -> Result<StanDensity, BindError> {
        self.base.with_outcomes(outcomes)
    }
}

/// The declarations of these data.
fn declarations_of(program: &StanProgram, ids: &[VariableId]) -> Vec<Statement> {
    let all = program.data.iter().chain(&program.transformed_data);
    let is_one = |statement: &&Statement| match &statement.kind {
        StatementKind::Declare(declaration) => ids.contains(&declaration.variable),
        _ => false,
    };
    all.filter(is_one).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(count: u32) -> Vec<Stream> {
        (0..count).map(|k| Stream::new(7, k, 3, Purpose::Prior)).collect()
    }

    /// Draws beside each other are what they are alone, to the bit, and leave their streams alike; `at_once` says whether one
    /// run makes them.
    #[test]
    fn draws_beside_each_other_are_the_draws_alone() {
        for (at_once, text) in [
            (true, "parameters { real a; vector[3] b; } model { a ~ normal(1, 2); b ~ normal(a, 3); }"),
            (
                true,
                "parameters { real<lower=0> s; array[6] real z; }
                model { s ~ exponential(2); for (i in 1:6) z[i] ~ normal(0, s); }",
            ),
            (
                true,
                "parameters { simplex[3] p; real<lower=0, upper=1> q; }
                model { p ~ dirichlet([1, 2, 3]'); q ~ beta(2, 3); }",
            ),
            (
                true,
                "parameters { real<lower=0> s; real<offset=2, multiplier=s> m; }
                model { s ~ exponential(1); m ~ normal(2, s); }",
            ),
            (false, "parameters { ordered[3] o; real c; } model { c ~ cauchy(0, 1); o ~ normal(c, 2); }"),
            // Half of all draws are below 0, and are drawn again.
            (true, "parameters { real<lower=0> s; real m; } model { m ~ normal(0, 1); s ~ normal(m, 1); }"),
            (
                false,
                "parameters { real m; } transformed parameters { real<lower=-1> t = m; }
                model { m ~ normal(0, 1); }",
            ),
        ] {
            let program = StanProgram::parse("m.stan", text).unwrap();
            let model = GenerativeModel::new(&program, &Data::new("none")).expect(text);
            let (mut alone, mut beside) = (streams(40), streams(40));
            let expected: Vec<_> = alone.iter_mut().map(|random| model.draw_parameters(random)).collect();
            assert_eq!(model.draw_parameters_of(&mut beside), expected, "{text}");
            assert_eq!(beside, alone, "{text}");
            assert_eq!(model.drawn_at_once(streams(40)).is_some(), at_once, "{text}");
        }
    }
}
