//! One draw of all that a program has: parameters from their statements, then data, in an order in which each is drawn
//! before it is read.

use super::Obstacle;
use super::draws::{DrawStatements, Drawing, reads};
use super::order::{in_order, without};
use super::prior::{PriorBounds, known_bounds, stays_inside};
use super::reach::DataReach;
use super::rewrite::{TermPlace, rewritten, rewritten_with_rejections};
use super::sampling::{DRAWN, MOST_STATEMENTS, Sampling, Term, called};
use octopus_stan::{
    Constraint, Declaration, Expression, ExpressionKind, LValue, ProgramBlock, Span, StanProgram, StanType, Statement,
    StatementKind, VariableId, VariableRole,
};
use std::collections::HashSet;

/// Statements that draw parameters and data.
#[derive(Clone, Debug)]
pub(crate) struct JointStatements {
    pub(crate) draws: DrawStatements,
    /// The statements that draw parameters: all of them where parameters depend on drawn data.
    pub(crate) prior: Vec<Statement>,
    /// Whether draws of data may be outside of the bounds of their declarations.
    pub(crate) tries_data: bool,
}

/// Rewrites transformed parameters and model to statements that draw what parameters and data lack.
pub(crate) fn joint(program: &StanProgram) -> Result<JointStatements, Obstacle> {
    let mut reading = JointReading::new(program, None);
    let mut statements = Vec::new();
    for block in [ProgramBlock::TransformedParameters, ProgramBlock::Model] {
        if let Some(jacobian) = first_jacobian(program.block(block)) {
            return Err(Obstacle::new(jacobian, "it changes the variables of a density"));
        }
        let rewritten = rewritten_with_rejections(program.block(block), &mut |term, place| reading.term(term, place))?;
        statements.extend(rewritten);
    }
    let JointReading { mut drawing, seen, tries_data, .. } = reading;
    let mut drawn: HashSet<VariableId> = seen.iter().map(|(sampling, _)| sampling.variable).collect();
    let mut all = Vec::new();
    for declaration in declarations(&program.parameters) {
        if drawn.insert(declaration.variable) {
            all.push(without_statement(&mut drawing, declaration)?);
        }
    }
    all.extend(statements);
    let statements = in_order(program, all, &drawn)?;
    let is_data = |id: &VariableId| program.variables[id.0].is_data;
    let (parameters, data): (HashSet<_>, HashSet<_>) = drawn.into_iter().partition(|id| !is_data(id));
    let prior = without(&statements, data, &parameters);
    Ok(JointStatements { draws: drawing.finish(statements), prior, tries_data })
}

/// Rewrites transformed parameters and model to statements that draw data, and what `wanted` parameters lack; all others are
/// given. Also returns the data that are drawn.
pub(crate) fn given_others(
    program: &StanProgram,
    wanted: &HashSet<VariableId>,
) -> Result<(DrawStatements, Vec<VariableId>), Obstacle> {
    let reach = DataReach::of_containers(program);
    let mut reading = JointReading::new(program, Some((wanted, reach)));
    let mut statements = Vec::new();
    for block in [ProgramBlock::TransformedParameters, ProgramBlock::Model] {
        statements.extend(rewritten(program.block(block), &mut |term, place| reading.term(term, place))?);
    }
    let JointReading { mut drawing, seen, .. } = reading;
    let mut drawn: HashSet<VariableId> = seen.iter().map(|(sampling, _)| sampling.variable).collect();
    let mut all = Vec::new();
    for declaration in declarations(&program.parameters).filter(|declaration| wanted.contains(&declaration.variable)) {
        if drawn.insert(declaration.variable) {
            all.push(without_statement(&mut drawing, declaration)?);
        }
    }
    all.extend(statements);
    let mut data: Vec<VariableId> = drawn.iter().filter(|id| program.variables[id.0].is_data).copied().collect();
    data.sort();
    let statements = in_order(program, all, &drawn)?;
    Ok((drawing.finish(statements), data))
}

/// The declarations among statements.
fn declarations(statements: &[Statement]) -> impl Iterator<Item = &Declaration> {
    statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Declare(declaration) => Some(declaration),
        _ => None,
    })
}

fn first_jacobian(statements: &[Statement]) -> Option<Span> {
    let mut found = None;
    crate::uses::for_each_statement(statements, &mut |statement| {
        if let StatementKind::Jacobian(value) = &statement.kind
            && !value.is_data
        {
            found = found.or(Some(statement.span));
        }
    });
    let calls = crate::uses::calls_in(statements);
    let adds = |call: &&&octopus_stan::Call| {
        matches!(call.suffix, octopus_stan::Suffix::Target | octopus_stan::Suffix::Jacobian)
    };
    found.or_else(|| calls.iter().find(adds).map(|call| call.span))
}

struct JointReading<'a> {
    program: &'a StanProgram,
    drawing: Drawing<'a>,
    seen: Vec<(Sampling<'a>, TermPlace<'a>)>,
    tries_data: bool,
    /// The parameters that are drawn, where others are given, and what data reach.
    wanted: Option<(&'a HashSet<VariableId>, DataReach)>,
}

impl<'a> JointReading<'a> {
    fn new(program: &'a StanProgram, wanted: Option<(&'a HashSet<VariableId>, DataReach)>) -> Self {
        Self { program, drawing: Drawing::new(program), seen: Vec::new(), tries_data: false, wanted }
    }

    /// Whether a term says nothing of what is drawn.
    fn is_of_others(&self, term: &Term<'a>) -> bool {
        let Some((wanted, reach)) = &self.wanted else { return false };
        match term {
            Term::Sampling(sampling) => {
                let is_drawn =
                    wanted.contains(&sampling.variable) || self.program.variables[sampling.variable.0].is_data;
                !is_drawn && !reach.reaches(sampling.variate)
            }
            Term::Other(value) => !reach.reaches(value) && !wanted.iter().any(|id| reads(value, *id)),
        }
    }

    fn term(&mut self, term: Term<'a>, place: &TermPlace<'a>) -> Result<Option<Statement>, Obstacle> {
        let refused = |what: String| Err(Obstacle::new(place.span, what));
        if self.is_of_others(&term) {
            return Ok(None);
        }
        let Term::Sampling(sampling) = term else {
            return refused("it does not say how one variable is distributed".to_owned());
        };
        let program = self.program;
        let variable = &program.variables[sampling.variable.0];
        let name = &variable.name;
        let is_parameter = match variable.role {
            VariableRole::Global(ProgramBlock::Parameters) => true,
            VariableRole::Global(ProgramBlock::Data | ProgramBlock::TransformedData) => false,
            _ => return refused(format!("`{name}` is no parameter and no data: it is computed from others")),
        };
        if place.branches.iter().any(|(condition, _)| reads(condition, sampling.variable)) {
            return refused(format!("`{name}` decides on its own distribution"));
        }
        if self.seen.iter().any(|(other, at)| other.meets(&sampling, program) && !at.excludes(place)) {
            return refused(format!("it is the second statement about `{name}`"));
        }
        let block = if is_parameter { &program.parameters } else { &program.data };
        let declaration = declarations(block).find(|own| own.variable == sampling.variable);
        let bounds = declaration
            .filter(|_| is_parameter)
            .map(|own| known_bounds(program, own, &sampling, self.wanted.is_some()));
        self.tries_data |= declaration.is_some_and(|own| !is_parameter && !stays_inside(program, own, &sampling));
        let PriorBounds { lower, upper, is_sorted } = bounds.unwrap_or_default();
        let mut statement = self.drawing.drawn(&sampling, lower, upper, place.span)?;
        if let (StatementKind::Assign { value, .. }, true) = (&mut statement.kind, is_sorted) {
            *value = called("sort_asc", vec![value.clone()], value.ty, value.span);
        }
        if self.seen.len() >= MOST_STATEMENTS {
            return refused(format!("more than {MOST_STATEMENTS} sampling statements are not drawn from"));
        }
        self.seen.push((sampling, place.clone()));
        Ok(Some(statement))
    }
}

/// What draws a parameter without a statement: its prior is uniform over its support, if that has an end.
fn without_statement(drawing: &mut Drawing<'_>, declaration: &Declaration) -> Result<Statement, Obstacle> {
    let variable = &drawing.program.variables[declaration.variable.0];
    let (name, ty, span) = (&variable.name, variable.ty, variable.span);
    let real = |x: f64| Expression { kind: ExpressionKind::Real(x), ty: StanType::REAL, is_data: true, span };
    let current = Expression { kind: ExpressionKind::Variable(declaration.variable), ty, is_data: false, span };
    let ones = |current: &Expression| {
        let size = declaration.sizes.last().cloned();
        let size = size.unwrap_or_else(|| called("size", vec![current.clone()], StanType::INT, span));
        called("rep_vector", vec![real(1.0), size], StanType::VECTOR, span)
    };
    let (base, arguments) = match &declaration.constraint {
        Constraint::LowerUpper(lower, upper) if lower.is_data && upper.is_data => {
            ("uniform", vec![lower.clone(), upper.clone()])
        }
        Constraint::LowerUpper(..) => {
            let what = format!("`{name}` has no sampling statement, and its bounds depend on parameters");
            return Err(Obstacle::new(span, what));
        }
        Constraint::Simplex => ("dirichlet", vec![ones(&current)]),
        Constraint::Corr => ("lkj_corr", vec![real(1.0)]),
        _ => {
            let what = format!("`{name}` has no sampling statement: its prior is not proper, and cannot be drawn from");
            return Err(Obstacle::new(span, what));
        }
    };
    let arguments = [current, real(f64::NEG_INFINITY), real(f64::INFINITY)].into_iter().chain(arguments).collect();
    let value = called(&format!("{base}{DRAWN}"), arguments, ty, span);
    let to = LValue { variable: declaration.variable, indices: Vec::new(), ty, span };
    Ok(Statement { kind: StatementKind::Assign { to, op: None, value }, span })
}
