//! Priors that integrate to 1: what bounds leave of a distribution is divided by its probability.
//!
//! `sigma ~ normal(0, 1)` of a positive `sigma` means half of a normal distribution, and a number between bounds without a
//! statement is uniform: so draws of the prior read them, and so the evidence needs them. The density as it is written
//! integrates to a half, and to the distance of the bounds.

use super::Obstacle;
use super::prior::{PriorBounds, known_bounds, stays_inside};
use super::reach::DataReach;
use super::sampling::{Sampling, Term, called, sampling, terms};
use octopus_stan::{
    BinaryOp, Constraint, Declaration, Expression, ExpressionKind, ProgramBlock, Span, StanProgram, StanType,
    Statement, StatementKind, Tilde, VariableId, VariableRole,
};
use std::collections::HashSet;

/// A program whose priors integrate to 1, as far as its statements are read.
pub(crate) struct ProperPriors {
    pub(crate) program: StanProgram,
    /// The first thing because of which the prior may not integrate to 1.
    pub(crate) obstacle: Option<Obstacle>,
}

/// Truncates priors at the bounds of their parameters, and gives uniform ones to parameters without a statement. A
/// distribution that is truncated already, or added to the target together with other terms, stays as it is written.
pub(crate) fn with_proper_priors(program: &StanProgram) -> ProperPriors {
    let mut reading =
        PriorReading { program, reach: DataReach::of_containers(program), stated: HashSet::new(), obstacle: None };
    reading.other_terms(&program.transformed_parameters);
    let mut model = reading.all(&program.model);
    for statement in &program.parameters {
        if let StatementKind::Declare(declaration) = &statement.kind
            && reading.stated.insert(declaration.variable)
        {
            model.extend(reading.uniform(declaration));
        }
    }
    let obstacle = reading.obstacle;
    let mut program = program.clone();
    program.model = model;
    ProperPriors { program, obstacle }
}

struct PriorReading<'a> {
    program: &'a StanProgram,
    reach: DataReach,
    /// Parameters with a statement.
    stated: HashSet<VariableId>,
    obstacle: Option<Obstacle>,
}

impl<'a> PriorReading<'a> {
    fn refuse(&mut self, span: Span, message: impl Into<String>) {
        self.obstacle.get_or_insert(Obstacle::new(span, message));
    }

    /// Statements in whose place nothing is put.
    fn other_terms(&mut self, statements: &'a [Statement]) {
        crate::uses::for_each_statement(statements, &mut |statement| {
            terms(statement).into_iter().for_each(|term| self.note(&term, statement.span));
        });
    }

    fn all(&mut self, statements: &'a [Statement]) -> Vec<Statement> {
        let mut all = Vec::with_capacity(statements.len());
        for statement in statements {
            let kind = match &statement.kind {
                StatementKind::Tilde(_) | StatementKind::Target(_) => {
                    all.extend(self.term(statement));
                    continue;
                }
                StatementKind::If { condition, then, otherwise } => {
                    let (then, otherwise) = (self.all(then), self.all(otherwise));
                    StatementKind::If { condition: condition.clone(), then, otherwise }
                }
                StatementKind::While { condition, body } => {
                    StatementKind::While { condition: condition.clone(), body: self.all(body) }
                }
                StatementKind::For { variable, from, to, body } => {
                    let body = self.all(body);
                    StatementKind::For { variable: *variable, from: from.clone(), to: to.clone(), body }
                }
                StatementKind::ForEach { variable, over, body } => {
                    StatementKind::ForEach { variable: *variable, over: over.clone(), body: self.all(body) }
                }
                StatementKind::Block(body) | StatementKind::Profile { body, .. } => {
                    StatementKind::Block(self.all(body))
                }
                StatementKind::Jacobian(value) if !value.is_data => {
                    self.refuse(statement.span, "it changes the variables of a density");
                    statement.kind.clone()
                }
                other => other.clone(),
            };
            all.push(Statement { kind, span: statement.span });
        }
        all
    }

    /// What a term says of a parameter; whether it is a prior is not known where it says something else.
    fn note(&mut self, term: &Term<'a>, span: Span) {
        match term {
            Term::Sampling(sampling) if self.is_parameter(sampling.variable) => {
                self.stated.insert(sampling.variable);
            }
            Term::Sampling(Sampling { variate: value, .. }) | Term::Other(value) => {
                if !value.is_data && !self.reach.reaches(value) {
                    self.refuse(span, "it does not say how one parameter is distributed");
                }
            }
        }
    }

    fn is_parameter(&self, variable: VariableId) -> bool {
        self.program.variables[variable.0].role == VariableRole::Global(ProgramBlock::Parameters)
    }

    /// A statement with its distribution truncated, and what follows it.
    fn term(&mut self, statement: &'a Statement) -> Vec<Statement> {
        let span = statement.span;
        terms(statement).iter().for_each(|term| self.note(term, span));
        let unchanged = || vec![statement.clone()];
        // A density by itself.
        let density = match &statement.kind {
            StatementKind::Tilde(Tilde { density, lower: None, upper: None }) => density,
            StatementKind::Target(Expression { kind: ExpressionKind::Call(call), .. }) => call,
            _ => return unchanged(),
        };
        let Some(read) = sampling(density).filter(|read| self.is_parameter(read.variable)) else { return unchanged() };
        let declaration = self.program.parameters.iter().find_map(|statement| match &statement.kind {
            StatementKind::Declare(declaration) if declaration.variable == read.variable => Some(declaration),
            _ => None,
        });
        let Some(declaration) = declaration else { return unchanged() };
        let PriorBounds { lower, upper, is_sorted } = known_bounds(self.program, declaration, &read, false);
        let is_ordered = matches!(declaration.constraint, Constraint::Ordered | Constraint::PositiveOrdered);
        let is_inside =
            stays_inside(self.program, declaration, &read) && is_of_its_kind(&declaration.constraint, read.base());
        if is_ordered && !is_sorted || !is_inside && lower.is_none() && upper.is_none() {
            let name = &self.program.variables[read.variable.0].name;
            self.refuse(span, format!("what the constraint of `{name}` leaves of this distribution is not known"));
        }
        let mut all = match is_inside && !is_ordered {
            true => unchanged(),
            false => {
                let kind = StatementKind::Tilde(Tilde { density: density.clone(), lower, upper });
                vec![Statement { kind, span }]
            }
        };
        if is_sorted {
            all.push(orders(read.variate, span));
        }
        all
    }

    /// A uniform distribution of a parameter without a statement.
    fn uniform(&mut self, declaration: &Declaration) -> Option<Statement> {
        let variable = &self.program.variables[declaration.variable.0];
        let (name, ty, span) = (&variable.name, variable.ty, variable.span);
        let current = Expression { kind: ExpressionKind::Variable(declaration.variable), ty, is_data: false, span };
        let of = |name: &str, arguments: Vec<Expression>| {
            let call = called(name, arguments, StanType::REAL, span);
            Some(Statement { kind: StatementKind::Target(call), span })
        };
        match &declaration.constraint {
            Constraint::LowerUpper(lower, upper) if lower.is_data && upper.is_data => {
                of("uniform_lpdf", vec![current, lower.clone(), upper.clone()])
            }
            Constraint::Simplex => {
                let size = declaration.sizes.last()?.clone();
                of(
                    "dirichlet_lpdf",
                    vec![current, called("rep_vector", vec![real(1.0, span), size], StanType::VECTOR, span)],
                )
            }
            Constraint::Corr if ty.arrays == 0 => of("lkj_corr_lpdf", vec![current, real(1.0, span)]),
            _ => {
                self.refuse(span, format!("`{name}` has no sampling statement: its prior is not proper"));
                None
            }
        }
    }
}

fn real(x: f64, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Real(x), ty: StanType::REAL, is_data: true, span }
}

/// Whether a distribution is one of simplexes or matrices as the constraint asks for; of other constraints nothing is asked.
fn is_of_its_kind(constraint: &Constraint, base: &str) -> bool {
    match constraint {
        Constraint::Simplex => base == "dirichlet",
        Constraint::Corr => base == "lkj_corr",
        Constraint::CholeskyCorr => base == "lkj_corr_cholesky",
        Constraint::Cov => matches!(base, "wishart" | "inv_wishart"),
        Constraint::CholeskyCov => matches!(base, "wishart_cholesky" | "inv_wishart_cholesky"),
        Constraint::UnitVector | Constraint::SumToZero | Constraint::RowStochastic | Constraint::ColumnStochastic => {
            false
        }
        _ => true,
    }
}

/// The logarithm of the number of orders that elements may have, of which one is allowed.
fn orders(variate: &Expression, span: Span) -> Statement {
    let size = called("size", vec![variate.clone()], StanType::INT, span);
    let kind = ExpressionKind::Binary(BinaryOp::Add, Box::new((size, real(1.0, span))));
    let one_more = Expression { kind, ty: StanType::REAL, is_data: false, span };
    Statement { kind: StatementKind::Target(called("lgamma", vec![one_more], StanType::REAL, span)), span }
}
