//! Statements, and whether they end the function that they stand in.

use super::Checker;
use crate::message::Finding;
use crate::source::Span;
use crate::syntax::{Act, Expr, Item, Name, Sampling, Stmt};
use crate::tree::{Expression, ExpressionKind, Printable, Statement, StatementKind, Tilde, VariableRole};
use crate::types::{BaseType, StanType};

/// How a statement goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// With the next one, at least on some path.
    GoesOn,
    /// It ends the function, or the program.
    Ends,
    /// It may leave the loop around it.
    Leaves,
}

impl Flow {
    /// How two statements in a row go on.
    fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Leaves, _) | (_, Self::Leaves) => Self::Leaves,
            (_, Self::Ends) => Self::Ends,
            _ => Self::GoesOn,
        }
    }

    /// Of either of two branches.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Leaves, _) | (_, Self::Leaves) => Self::Leaves,
            (Self::Ends, Self::Ends) => Self::Ends,
            _ => Self::GoesOn,
        }
    }

    /// Of a loop with such a body.
    fn looped(self) -> Self {
        if self == Self::Ends { Self::Ends } else { Self::GoesOn }
    }
}

impl Checker<'_> {
    /// Statements one after another. What follows an end is not reached.
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> (Vec<Statement>, Flow) {
        let (mut out, mut flow, mut is_reached) = (Vec::new(), Flow::GoesOn, true);
        for (at, statement) in statements.iter().enumerate() {
            let next = self.statement(statement, &mut out);
            if is_reached {
                flow = flow.then(next);
            }
            let ends = matches!(
                statement.act,
                Act::Break | Act::Continue | Act::Reject(_) | Act::FatalError(_) | Act::Return(_)
            );
            if let Some(unreached) = statements.get(at + 1).filter(|_| ends && is_reached) {
                let finding = Finding::warning(unreached.span, "this is never reached");
                self.report(finding.help("the statement before it ends the loop, the function or the program"));
                is_reached = false;
            }
        }
        (out, flow)
    }

    /// A statement that is the body of another, in a scope of its own.
    fn body(&mut self, statement: &Stmt) -> (Vec<Statement>, Flow) {
        self.scoped(|checker| match &statement.act {
            Act::Block(statements) => checker.statements(statements),
            _ => checker.statements(std::slice::from_ref(statement)),
        })
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Statement>) -> Flow {
        let span = statement.span;
        let (kind, flow) = match &statement.act {
            Act::Nothing => return Flow::GoesOn,
            Act::Declare(declarations) => {
                self.declarations(declarations, out);
                return Flow::GoesOn;
            }
            Act::Assign(to, op, value) => (self.assignment(to, *op, value, span), Flow::GoesOn),
            Act::Target(value) => {
                self.need_target(span, false);
                (self.expression(value).map(StatementKind::Target), Flow::GoesOn)
            }
            Act::Jacobian(value) => {
                self.need_jacobian(span);
                (self.expression(value).map(StatementKind::Jacobian), Flow::GoesOn)
            }
            Act::Tilde(sampling) => (self.tilde(sampling, span), Flow::GoesOn),
            Act::Call(call) => (self.call_alone(call).map(StatementKind::Call), Flow::GoesOn),
            Act::If(condition, then, otherwise) => {
                let condition = self.int(condition, "a condition");
                let (then, first) = self.body(then);
                let (otherwise, second) =
                    otherwise.as_ref().map_or((Vec::new(), Flow::GoesOn), |statement| self.body(statement));
                let made = |condition| StatementKind::If { condition, then, otherwise };
                (condition.map(made), first.or(second))
            }
            Act::While(condition, body) => {
                let condition = self.int(condition, "a condition");
                let (body, flow) = self.looped(body);
                let is_endless = condition.as_ref().is_some_and(is_true) && flow == Flow::GoesOn;
                let flow = if is_endless { Flow::Ends } else { flow.looped() };
                (condition.map(|condition| StatementKind::While { condition, body }), flow)
            }
            Act::For(name, range, body) => self.counted(name, range, body),
            Act::ForEach(name, over, body) => self.each(name, over, body),
            Act::Block(statements) => {
                let (body, flow) = self.scoped(|checker| checker.statements(statements));
                (Some(StatementKind::Block(body)), flow)
            }
            Act::Profile(name, statements) => {
                let (body, flow) = self.scoped(|checker| checker.statements(statements));
                (Some(StatementKind::Profile { name: name.clone(), body }), flow)
            }
            Act::Return(value) => (self.returned(value.as_ref(), span), Flow::Ends),
            Act::Break => (self.jump("break", span, StatementKind::Break), Flow::Leaves),
            Act::Continue => (self.jump("continue", span, StatementKind::Continue), Flow::GoesOn),
            Act::Print(items) => (self.items(items).map(StatementKind::Print), Flow::GoesOn),
            Act::Reject(items) => (self.items(items).map(StatementKind::Reject), Flow::Ends),
            Act::FatalError(items) => (self.items(items).map(StatementKind::FatalError), Flow::Ends),
        };
        out.extend(kind.map(|kind| Statement { kind, span }));
        flow
    }

    fn looped(&mut self, body: &Stmt) -> (Vec<Statement>, Flow) {
        let before = std::mem::replace(&mut self.context.in_loop, true);
        let result = self.body(body);
        self.context.in_loop = before;
        result
    }

    fn counted(&mut self, name: &Name, range: &(Expr, Expr), body: &Stmt) -> (Option<StatementKind>, Flow) {
        let from = self.int(&range.0, "the first number of a loop");
        let to = self.int(&range.1, "the last number of a loop");
        self.scoped(|checker| {
            let role = VariableRole::Loop(checker.context.block);
            let variable = checker.declare(name, Some(StanType::INT), role, true);
            let (body, flow) = checker.looped(body);
            let made = |(from, to)| StatementKind::For { variable, from, to, body };
            (from.zip(to).map(made), flow.looped())
        })
    }

    fn each(&mut self, name: &Name, over: &Expr, body: &Stmt) -> (Option<StatementKind>, Flow) {
        let over = self.expression(over);
        let ty = over.as_ref().and_then(|over| match over.ty {
            StanType { base, arrays: 0 } if base.dimensions() > 0 => Some(StanType::REAL),
            StanType { base, arrays: more @ 1.. } => Some(StanType { base, arrays: more - 1 }),
            StanType { base: BaseType::Int | BaseType::Real, .. } => {
                let message = format!("a loop runs over a range, an array, a vector or a matrix, found `{}`", over.ty);
                self.refuse(Finding::meaning(over.span, message).help("a range is written `1:n`"))
            }
            _ => None,
        });
        self.scoped(|checker| {
            let role = VariableRole::Loop(checker.context.block);
            let variable = checker.declare(name, ty, role, checker.is_data_here());
            let (body, flow) = checker.looped(body);
            let made = |over| StatementKind::ForEach { variable, over, body };
            (over.filter(|_| ty.is_some()).map(made), flow.looped())
        })
    }

    fn returned(&mut self, value: Option<&Expr>, span: Span) -> Option<StatementKind> {
        let Some(function) = self.context.function else {
            return self.refuse(Finding::meaning(span, "`return` stands in functions only"));
        };
        match (value, function.result) {
            (None, None) => Some(StatementKind::Return(None)),
            (None, Some(ty)) => {
                self.refuse(Finding::meaning(span, format!("this function gives `{ty}`: return a value")))
            }
            (Some(_), None) => {
                self.refuse(Finding::meaning(span, "this function gives nothing").help("write `return;`"))
            }
            (Some(value), Some(_)) if !function.is_known => {
                self.expression(value);
                None
            }
            (Some(value), Some(ty)) => {
                self.of_type(value, ty, "what this function gives").map(|value| StatementKind::Return(Some(value)))
            }
        }
    }

    fn jump(&mut self, word: &str, span: Span, kind: StatementKind) -> Option<StatementKind> {
        if self.context.in_loop {
            return Some(kind);
        }
        self.refuse(Finding::meaning(span, format!("`{word}` stands in loops only")))
    }

    fn items(&mut self, items: &[Item]) -> Option<Vec<Printable>> {
        let item = |checker: &mut Self, item: &Item| match item {
            Item::Text(text) => Some(Printable::Text(text.clone())),
            Item::Value(value) => checker.expression(value).map(Printable::Value),
        };
        let checked: Vec<_> = items.iter().map(|it| item(self, it)).collect();
        checked.into_iter().collect()
    }

    fn tilde(&mut self, sampling: &Sampling, span: Span) -> Option<StatementKind> {
        let Sampling { variate, distribution, arguments, lower, upper, truncation } = sampling;
        self.need_fair_name(distribution);
        self.need_target(span, false);
        if self.is_refused_density(distribution) {
            return None;
        }
        let variate = self.expression(variate);
        let arguments = self.expressions(arguments);
        let bounds = [lower, upper].map(|bound| bound.as_ref().map(|bound| self.truncated(bound)));
        let all = variate.zip(arguments).map(|(variate, mut rest)| {
            rest.insert(0, variate);
            rest
        });
        let density = self.density(distribution, all)?;
        let [lower, upper] = bounds;
        let (lower, upper) = (swapped(lower)?, swapped(upper)?);
        for bound in [&lower, &upper].into_iter().flatten() {
            let rest = density.arguments.get(1..).unwrap_or_default();
            self.need_cumulative(distribution, bound, rest, truncation.unwrap_or(span));
        }
        Some(StatementKind::Tilde(Tilde { density, lower, upper }))
    }

    fn truncated(&mut self, bound: &Expr) -> Option<Expression> {
        let checked = self.expression(bound)?;
        if checked.ty.is_scalar() {
            return Some(checked);
        }
        let message = format!("the bound of a truncation is `int` or `real`, found `{}`", checked.ty);
        self.refuse(Finding::meaning(bound.span, message))
    }
}

/// A bound that is not given is no error; one that is wrong is.
fn swapped(bound: Option<Option<Expression>>) -> Option<Option<Expression>> {
    match bound {
        None => Some(None),
        Some(bound) => bound.map(Some),
    }
}

/// Whether a condition is a number that is always true.
fn is_true(condition: &Expression) -> bool {
    matches!(condition.kind, ExpressionKind::Int(number) if number != 0)
}
