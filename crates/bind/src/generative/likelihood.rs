//! The log likelihood of each observation: the statements of the model with an assignment in place of each sampling statement
//! about data, and without those about parameters.

use super::Obstacle;
use super::reach::DataReach;
use super::rewrite::{Rewritten, TermPlace, rewritten};
use super::sampling::{EACH, MOST_STATEMENTS, Sampling, Term, densities, sampling, terms};
use crate::uses::{calls_in, for_each_statement};
use octopus_stan::{
    BaseType, Call, Callee, Constraint, Declaration, Expression, ExpressionKind, LValue, ProgramBlock, Span,
    StanProgram, StanType, StanVariable, Statement, StatementKind, Suffix, VariableId, VariableRole,
};

/// Statements that compute log likelihoods in the place of the model's.
#[derive(Clone, Debug)]
pub(crate) struct LikelihoodStatements {
    /// The program with variables for the log likelihoods.
    pub(crate) program: StanProgram,
    pub(crate) statements: Vec<Statement>,
    pub(crate) outcomes: Vec<ModelledData>,
}

/// Data that sampling statements are about.
#[derive(Clone, Debug)]
pub(crate) struct ModelledData {
    pub(crate) variable: VariableId,
    /// The variable with a log likelihood for each observation.
    pub(crate) terms: VariableId,
    /// How many dimensions of the data one observation has.
    pub(crate) own_dimensions: usize,
}

/// Rewrites the model; what stands in the way is the first statement in which no log likelihoods can be told apart.
pub(crate) fn likelihood(program: &StanProgram) -> Result<LikelihoodStatements, Obstacle> {
    for block in [ProgramBlock::TransformedParameters, ProgramBlock::Model] {
        let adds = |call: &&&Call| call.suffix == Suffix::Target;
        if let Some(call) = calls_in(program.block(block)).iter().find(adds) {
            return Err(Obstacle::new(call.span, format!("`{}` adds to the log density by itself", call.name)));
        }
    }
    let mut reading =
        Reading { program, reach: DataReach::of_containers(program), seen: Vec::new(), outcomes: Vec::new() };
    reading.refuse_terms(&program.transformed_parameters)?;
    let statements = rewritten(&program.model, &mut |term, place| reading.term(term, place))?;
    let Reading { outcomes, .. } = reading;
    if outcomes.is_empty() {
        let span = program.model.first().map(|statement| statement.span).unwrap_or_default();
        return Err(Obstacle::new(span, "no statement says how data are distributed"));
    }
    let mut program = program.clone();
    let declarations = outcomes.iter().map(|outcome| declared(&mut program, outcome));
    let all = declarations.chain(statements.into_iter().map(Ok)).collect::<Result<_, Obstacle>>()?;
    Ok(LikelihoodStatements { program, statements: all, outcomes })
}

struct Reading<'a> {
    program: &'a StanProgram,
    reach: DataReach,
    /// The statements about data so far.
    seen: Vec<(Sampling<'a>, TermPlace<'a>)>,
    outcomes: Vec<ModelledData>,
}

impl<'a> Reading<'a> {
    /// Refuses statements about data among the transformed parameters.
    fn refuse_terms(&self, statements: &'a [Statement]) -> Result<(), Obstacle> {
        let mut refused = Ok(());
        for_each_statement(statements, &mut |statement| {
            let is_about_data = |term: &Term<'_>| match term {
                Term::Sampling(sampling) => self.reach.reaches(sampling.variate),
                Term::Other(value) => self.reach.reaches(value),
            };
            if refused.is_ok() && terms(statement).iter().any(is_about_data) {
                refused = Err(Obstacle::new(statement.span, "data are compared outside of the model block"));
            }
        });
        refused
    }

    fn term(&mut self, term: Term<'a>, place: &TermPlace<'a>) -> Rewritten {
        let span = place.span;
        let sampling = match term {
            Term::Other(value) => return self.other(value, place),
            Term::Sampling(sampling) => sampling,
        };
        let program = self.program;
        let variable = &program.variables[sampling.variable.0];
        match variable.role {
            VariableRole::Global(ProgramBlock::Data | ProgramBlock::TransformedData) => {}
            _ if !self.reach.reaches(sampling.variate) => return self.of_parameters(place),
            _ => return Err(Obstacle::new(span, format!("`{}` is computed from the data", variable.name))),
        }
        if sampling.is_truncated() {
            return Err(Obstacle::new(span, "its distribution is truncated"));
        }
        let outcome = self.outcome(&sampling, place)?;
        Ok(Some(assigned(program, &sampling, &outcome, span)))
    }

    /// A term that is no density of a variable: it may be the log likelihood of one number, such as of a mixture.
    fn other(&mut self, value: &'a Expression, place: &TermPlace<'a>) -> Rewritten {
        let all = densities(value);
        let is_known = |density: &&Call| density.arguments.first().is_some_and(|variate| variate.is_data);
        let of_data: Vec<Sampling<'a>> =
            all.iter().filter_map(|density| sampling(density)).filter(|one| self.is_data(one)).collect();
        let text = |one: &Sampling<'a>| self.program.text(one.variate.span);
        if let [first, rest @ ..] = &of_data[..]
            && first.variate.ty.is_scalar()
            && rest.iter().all(|one| text(one) == text(first))
        {
            let outcome = self.outcome(first, place)?;
            let (span, ty) = (place.span, StanType::REAL);
            let to = LValue { variable: outcome.terms, indices: first.indices.clone(), ty, span };
            return Ok(Some(Statement { kind: StatementKind::Assign { to, op: None, value: value.clone() }, span }));
        }
        if value.is_data || self.reach.reaches(value) || all.iter().any(is_known) {
            return Err(Obstacle::new(place.span, "it does not say of one data variable how it is distributed"));
        }
        self.of_parameters(place)
    }

    fn is_data(&self, sampling: &Sampling<'_>) -> bool {
        let role = self.program.variables[sampling.variable.0].role;
        matches!(role, VariableRole::Global(ProgramBlock::Data | ProgramBlock::TransformedData))
    }

    /// A term that data do not reach is left out, unless data decide whether it is added.
    fn of_parameters(&self, place: &TermPlace<'a>) -> Rewritten {
        match place.branches.iter().any(|(condition, _)| self.reach.reaches(condition)) {
            true => Err(Obstacle::new(place.span, "data decide whether it counts")),
            false => Ok(None),
        }
    }

    /// The outcome that a statement is about.
    fn outcome(&mut self, sampling: &Sampling<'a>, place: &TermPlace<'a>) -> Result<ModelledData, Obstacle> {
        let program = self.program;
        if self.seen.iter().any(|(other, at)| other.meets(sampling, program) && !at.excludes(place)) {
            let name = &program.variables[sampling.variable.0].name;
            return Err(Obstacle::new(place.span, format!("it is the second statement about `{name}`")));
        }
        if self.seen.len() >= MOST_STATEMENTS {
            return Err(Obstacle::new(place.span, format!("more than {MOST_STATEMENTS} statements about data")));
        }
        self.seen.push((sampling.clone(), place.clone()));
        let own_dimensions = observation_dimensions(program, sampling)?;
        if let Some(known) = self.outcomes.iter().find(|outcome| outcome.variable == sampling.variable) {
            return match known.own_dimensions == own_dimensions {
                true => Ok(known.clone()),
                false => Err(Obstacle::new(place.span, "its variates are of another size than another statement's")),
            };
        }
        let terms = VariableId(program.variables.len() + self.outcomes.len());
        let outcome = ModelledData { variable: sampling.variable, terms, own_dimensions };
        self.outcomes.push(outcome.clone());
        Ok(outcome)
    }
}

/// How many dimensions of its data one variate of a statement has.
fn observation_dimensions(program: &StanProgram, sampling: &Sampling<'_>) -> Result<usize, Obstacle> {
    let of_data = program.variables[sampling.variable.0].ty.dimensions();
    let Some(own) = sampling.variate_dimensions() else {
        let what = format!("`{}` gives one number for many observations", sampling.density.name);
        return Err(Obstacle::new(sampling.density.span, what));
    };
    if own > 0 && sampling.indices.len() + own > of_data {
        return Err(Obstacle::new(sampling.variate.span, "it is a part of an observation"));
    }
    Ok(own)
}

/// The assignment of a statement's terms.
fn assigned(program: &StanProgram, sampling: &Sampling<'_>, outcome: &ModelledData, span: Span) -> Statement {
    let density = sampling.density;
    let is_of_library = density.callee == Callee::Math;
    let name = match is_of_library {
        true => format!("{}{EACH}", sampling.base()),
        false => density.name.replace("_lupdf", "_lpdf").replace("_lupmf", "_lpmf"),
    };
    let dimensions = sampling.variate.ty.dimensions().saturating_sub(outcome.own_dimensions);
    let ty = StanType::array(BaseType::Real, dimensions as u8);
    let suffix = if is_of_library { Suffix::Plain } else { Suffix::of(&name) };
    let call = Call { name, suffix, ..density.clone() };
    let value = Expression { kind: ExpressionKind::Call(call), ty, is_data: false, span };
    let value = if sampling.is_unrolled { sampling.rolled(program, value) } else { value };
    let to = LValue { variable: outcome.terms, indices: sampling.indices.clone(), ty: value.ty, span };
    Statement { kind: StatementKind::Assign { to, op: None, value }, span }
}

/// Adds the variable for the terms of an outcome, and declares it.
fn declared(program: &mut StanProgram, outcome: &ModelledData) -> Result<Statement, Obstacle> {
    let data = program.variables[outcome.variable.0].clone();
    let sizes = |statement: &Statement| match &statement.kind {
        StatementKind::Declare(declaration) if declaration.variable == outcome.variable => {
            Some(declaration.sizes.clone())
        }
        _ => None,
    };
    let found = program.data.iter().chain(&program.transformed_data).find_map(sizes);
    let Some(mut sizes) = found else { return Err(Obstacle::new(data.span, "its sizes are not known")) };
    sizes.truncate(sizes.len().saturating_sub(outcome.own_dimensions));
    let ty = StanType::array(BaseType::Real, sizes.len() as u8);
    let (role, span) = (VariableRole::Local(ProgramBlock::Model), data.span);
    program.variables.push(StanVariable { name: data.name, ty, role, is_data: false, span });
    let declaration = Declaration { variable: outcome.terms, sizes, constraint: Constraint::None, value: None };
    Ok(Statement { kind: StatementKind::Declare(declaration), span })
}
