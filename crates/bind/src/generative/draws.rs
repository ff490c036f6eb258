//! Draws in place of sampling statements: `y ~ d(a)` becomes `y = d_drawn(y, lower, upper, a)`, which draws what `y` lacks.

use super::Obstacle;
use super::order::in_order;
use super::reach::DataReach;
use super::rewrite::rewritten;
use super::sampling::{DRAWN, Sampling, Term, called};
use crate::generator::generator;
use crate::interpreter::OF_PREDICTORS;
use crate::uses::uses_of;
use octopus_stan::{
    BinaryOp, Callee, Expression, ExpressionKind, LValue, ProgramBlock, Span, StanProgram, StanType, StanVariable,
    Statement, StatementKind, VariableId, VariableRole,
};
use std::collections::HashSet;

/// Distributions of counts whose sum is known: the generator needs it, and takes it from the observed counts.
const OF_TOTALS: [&str; 3] = ["multinomial", "multinomial_logit", "dirichlet_multinomial"];

/// Statements that draw data in the place of the model's.
#[derive(Clone, Debug)]
pub(crate) struct DrawStatements {
    /// The program with a variable for the observed values of some data.
    pub(crate) program: StanProgram,
    pub(crate) statements: Vec<Statement>,
    /// Variables, each with the one for its observed values.
    pub(crate) observed: Vec<(VariableId, VariableId)>,
}

impl DrawStatements {
    /// Whether data are drawn.
    pub(crate) fn draws_data(&self) -> bool {
        let mut found = false;
        crate::uses::for_each_statement(&self.statements, &mut |statement| {
            if let StatementKind::Assign { to, .. } = &statement.kind {
                found |= self.program.variables[to.variable.0].is_data;
            }
        });
        found
    }
}

/// Rewrites the model to statements that draw its data given its parameters.
pub(crate) fn replicate(program: &StanProgram) -> Result<DrawStatements, Obstacle> {
    let mut drawing = Drawing::new(program);
    let reach = DataReach::of_containers(program);
    let statements = rewritten(&program.model, &mut |term, place| {
        let refused = |what: String| Err(Obstacle::new(place.span, what));
        match term {
            Term::Sampling(sampling) if program.variables[sampling.variable.0].is_data => {
                if place.branches.iter().any(|(condition, _)| reads(condition, sampling.variable)) {
                    let name = &program.variables[sampling.variable.0].name;
                    return refused(format!("`{name}` decides on its own distribution"));
                }
                drawing.drawn(&sampling, None, None, place.span).map(Some)
            }
            Term::Sampling(sampling) if reach.reaches(sampling.variate) => {
                let name = &program.variables[sampling.variable.0].name;
                refused(format!("`{name}` is computed from the data"))
            }
            Term::Other(value) if reach.reaches(value) => {
                refused("it does not say of one data variable how it is distributed".to_owned())
            }
            _ => Ok(None),
        }
    })?;
    // Data that others' statements read are drawn first; a loop in which each waits for the other stays as it is.
    let is_data = |id: &VariableId| program.variables.get(id.0).is_some_and(|variable| variable.is_data);
    let drawn: HashSet<VariableId> = uses_of(&statements).variables.into_keys().filter(is_data).collect();
    let statements = in_order(program, statements.clone(), &drawn).unwrap_or(statements);
    Ok(drawing.finish(statements))
}

/// Makes draws of sampling statements.
pub(super) struct Drawing<'a> {
    pub(super) program: &'a StanProgram,
    observed: Vec<(VariableId, VariableId)>,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(program: &'a StanProgram) -> Self {
        Self { program, observed: Vec::new() }
    }

    pub(super) fn finish(self, statements: Vec<Statement>) -> DrawStatements {
        let mut program = self.program.clone();
        for (of, _) in &self.observed {
            let variable =
                StanVariable { role: VariableRole::Local(ProgramBlock::Model), ..program.variables[of.0].clone() };
            program.variables.push(variable);
        }
        DrawStatements { program, statements, observed: self.observed }
    }

    /// The assignment that draws what the variate of a statement lacks, between bounds.
    pub(super) fn drawn(
        &mut self,
        sampling: &Sampling<'_>,
        lower: Option<Expression>,
        upper: Option<Expression>,
        span: Span,
    ) -> Result<Statement, Obstacle> {
        let ty = sampling.variate.ty;
        let own = self.program.variables[sampling.variable.0].ty;
        if own.is_int() && !ty.is_int() {
            let name = &self.program.variables[sampling.variable.0].name;
            return Err(Obstacle::new(span, format!("`{name}` has whole numbers, and its distribution is of reals")));
        }
        let infinite = |x: f64| Expression { kind: ExpressionKind::Real(x), ty: StanType::REAL, is_data: true, span };
        let lower = sampling.lower.cloned().or(lower).unwrap_or_else(|| infinite(f64::NEG_INFINITY));
        let upper = sampling.upper.cloned().or(upper).unwrap_or_else(|| infinite(f64::INFINITY));
        let current = sampling.variate.clone();
        let value = match sampling.density.callee {
            Callee::Math => {
                let (base, arguments) = self.generator(sampling, span)?;
                let arguments = [current, lower, upper].into_iter().chain(arguments).collect();
                called(&format!("{base}{DRAWN}"), arguments, ty, span)
            }
            Callee::User(_) | Callee::Solver(_) => {
                let value = self.own_generator(sampling, span)?;
                called(DRAWN, vec![current, lower, upper, value], ty, span)
            }
        };
        let value = if sampling.is_unrolled { sampling.rolled(self.program, value) } else { value };
        let to = LValue { variable: sampling.variable, indices: sampling.indices.clone(), ty: value.ty, span };
        Ok(Statement { kind: StatementKind::Assign { to, op: None, value }, span })
    }

    /// The name of the distribution that is drawn from, and what its generator is given.
    fn generator(&mut self, sampling: &Sampling<'_>, span: Span) -> Result<(String, Vec<Expression>), Obstacle> {
        let base = sampling.base();
        let arguments = sampling.density.arguments.get(1..).unwrap_or_default();
        let missing = |what: &str| Err(Obstacle::new(span, format!("`{what}` has no generator of random numbers")));
        if let Some(&(_, distribution, place, has_intercept)) = OF_PREDICTORS.iter().find(|row| row.0 == base) {
            let Some((before, rest)) = arguments.split_at_checked(place - 1) else { return missing(base) };
            let (eta, rest) = match rest {
                [x, alpha, beta, rest @ ..] if has_intercept && beta.ty != StanType::MATRIX => {
                    (sum(&product(x, beta, span), alpha, span), rest)
                }
                [x, beta, rest @ ..] if !has_intercept => (product(x, beta, span), rest),
                _ => return missing(base),
            };
            let all: Vec<Expression> = before.iter().cloned().chain([eta]).chain(rest.iter().cloned()).collect();
            return Ok(drawn_from(distribution, all, span));
        }
        let (base, mut all) = drawn_from(base, arguments.to_vec(), span);
        let base = base.as_str();
        if generator(&format!("{base}_rng")).is_none() {
            return missing(base);
        }
        if OF_TOTALS.contains(&base) {
            all.push(self.observed_values(sampling));
        }
        Ok((base.to_owned(), all))
    }

    /// The observed values of what a statement is about.
    fn observed_values(&mut self, sampling: &Sampling<'_>) -> Expression {
        let known = self.observed.iter().find(|(of, _)| *of == sampling.variable).map(|(_, copy)| *copy);
        let copy = known.unwrap_or_else(|| {
            let copy = VariableId(self.program.variables.len() + self.observed.len());
            self.observed.push((sampling.variable, copy));
            copy
        });
        let ty = self.program.variables[sampling.variable.0].ty;
        let span = sampling.variate.span;
        let whole = Expression { kind: ExpressionKind::Variable(copy), ty, is_data: true, span };
        if sampling.indices.is_empty() {
            return whole;
        }
        let kind = ExpressionKind::Index(Box::new(whole), sampling.indices.clone());
        Expression { kind, ty: sampling.variate.ty, is_data: true, span }
    }

    /// The call of the program's own generator of a density of its own: `d_rng` of `d_lpdf`.
    fn own_generator(&self, sampling: &Sampling<'_>, span: Span) -> Result<Expression, Obstacle> {
        let name = format!("{}_rng", sampling.base());
        let arguments = sampling.density.arguments.get(1..).unwrap_or_default();
        let types: Vec<StanType> = sampling.density.signature.arguments.iter().skip(1).map(|one| one.ty).collect();
        let fits = |function: &&octopus_stan::StanFunction| {
            let own: Vec<StanType> = function.signature.arguments.iter().map(|one| one.ty).collect();
            function.name == name && own == types && function.signature.result == Some(sampling.variate.ty)
        };
        let Some(at) = self.program.functions.iter().position(|function| fits(&function)) else {
            let density = &sampling.density.name;
            let what = format!("the program has no function `{name}` that draws what `{density}` is the density of");
            return Err(Obstacle::new(span, what));
        };
        let call = octopus_stan::Call {
            callee: Callee::User(octopus_stan::FunctionId(at)),
            name,
            suffix: octopus_stan::Suffix::Rng,
            signature: self.program.functions[at].signature.clone(),
            arguments: arguments.to_vec(),
            span,
        };
        Ok(Expression { kind: ExpressionKind::Call(call), ty: sampling.variate.ty, is_data: false, span })
    }
}

/// The distribution with a generator that another one is, with its arguments.
fn drawn_from(base: &str, arguments: Vec<Expression>, span: Span) -> (String, Vec<Expression>) {
    match (base, &arguments[..]) {
        ("binomial_logit", [trials, log_odds]) => {
            let theta = called("inv_logit", vec![log_odds.clone()], log_odds.ty, span);
            ("binomial".to_owned(), vec![trials.clone(), theta])
        }
        _ => (base.to_owned(), arguments),
    }
}

/// Whether an expression reads a variable.
pub(super) fn reads(expression: &Expression, variable: VariableId) -> bool {
    let mut is_read = false;
    crate::uses::for_each_inside(expression, &mut |inside| {
        is_read |= matches!(inside.kind, ExpressionKind::Variable(id) if id == variable);
    });
    is_read
}

/// `x * beta`, for each row of x.
fn product(x: &Expression, beta: &Expression, span: Span) -> Expression {
    let ty = if x.ty == StanType::MATRIX { StanType::VECTOR } else { StanType::REAL };
    binary(BinaryOp::Multiply, x, beta, ty, span)
}

fn sum(a: &Expression, b: &Expression, span: Span) -> Expression {
    let ty = if a.ty.is_scalar() { b.ty } else { a.ty };
    binary(BinaryOp::Add, a, b, ty, span)
}

fn binary(op: BinaryOp, a: &Expression, b: &Expression, ty: StanType, span: Span) -> Expression {
    let kind = ExpressionKind::Binary(op, Box::new((a.clone(), b.clone())));
    Expression { kind, ty, is_data: false, span }
}
