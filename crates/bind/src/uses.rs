//! What statements use: the variables that they read, write and declare, and the functions that they call.

use octopus_stan::{
    BinaryOp, Call, Expression, ExpressionKind, Index, LValue, Printable, Statement, StatementKind, Tilde, VariableId,
};
use std::collections::{HashMap, HashSet};

/// How often a variable is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Reads, but for the ones in `x = x + a`.
    pub(crate) reads: usize,
    /// Assignments to all of it.
    pub(crate) whole: usize,
    /// Assignments to elements.
    pub(crate) elements: usize,
    /// `x += a` and `x = x + a`.
    pub(crate) sums: usize,
    /// Reads in `x = x + a`.
    pub(crate) reads_in_sums: usize,
}

impl Usage {
    pub(crate) fn writes(&self) -> usize {
        self.whole + self.elements + self.sums
    }
}

/// The variables of some statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    pub(crate) variables: HashMap<VariableId, Usage>,
    pub(crate) declared: HashSet<VariableId>,
}

/// What `x = x + a` adds.
pub(crate) fn added<'a>(to: &LValue, op: Option<BinaryOp>, value: &'a Expression) -> Option<&'a Expression> {
    if !to.indices.is_empty() || !to.ty.is_scalar() || to.ty.is_int() {
        return None;
    }
    match (op, &value.kind) {
        (Some(BinaryOp::Add), _) => Some(value),
        (None, ExpressionKind::Binary(BinaryOp::Add, operands)) => match &operands.0.kind {
            ExpressionKind::Variable(id) if *id == to.variable => Some(&operands.1),
            _ => None,
        },
        _ => None,
    }
}

/// Finds the variables of statements.
pub(crate) fn uses_of(statements: &[Statement]) -> Uses {
    let mut uses = Uses::default();
    for_each_statement(statements, &mut |statement| match &statement.kind {
        StatementKind::Declare(declaration) => {
            uses.declared.insert(declaration.variable);
        }
        StatementKind::For { variable, .. } | StatementKind::ForEach { variable, .. } => {
            uses.declared.insert(*variable);
        }
        StatementKind::Assign { to, op, value } => {
            let usage = uses.variables.entry(to.variable).or_default();
            match added(to, *op, value) {
                Some(_) => {
                    usage.sums += 1;
                    // The walk over expressions below counts the read in `x = x + a`.
                    if op.is_none() {
                        usage.reads_in_sums += 1;
                    }
                }
                None if to.indices.is_empty() => {
                    usage.whole += 1;
                    usage.reads += usize::from(op.is_some());
                }
                None => usage.elements += 1,
            }
        }
        _ => {}
    });
    for_each_expression(statements, &mut |expression| {
        if let ExpressionKind::Variable(id) = expression.kind {
            uses.variables.entry(id).or_default().reads += 1;
        }
    });
    for usage in uses.variables.values_mut() {
        usage.reads = usage.reads.saturating_sub(usage.reads_in_sums);
    }
    uses
}

/// Visits statements with the ones inside of them.
pub(crate) fn for_each_statement<'a>(statements: &'a [Statement], visit: &mut impl FnMut(&'a Statement)) {
    for statement in statements {
        visit(statement);
        match &statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                for_each_statement(then, visit);
                for_each_statement(otherwise, visit);
            }
            StatementKind::While { body, .. }
            | StatementKind::For { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block(body)
            | StatementKind::Profile { body, .. } => for_each_statement(body, visit),
            _ => {}
        }
    }
}

/// Visits all expressions of statements with the ones inside of them.
pub(crate) fn for_each_expression<'a>(statements: &'a [Statement], visit: &mut impl FnMut(&'a Expression)) {
    for_each_statement(statements, &mut |statement| match &statement.kind {
        StatementKind::Declare(declaration) => {
            declaration.sizes.iter().chain(&declaration.value).for_each(|e| expression(e, visit));
        }
        StatementKind::Assign { to, value, .. } => {
            to.indices.iter().for_each(|index| index_expressions(index, visit));
            expression(value, visit);
        }
        StatementKind::Target(value) | StatementKind::Jacobian(value) => expression(value, visit),
        StatementKind::Tilde(Tilde { density, lower, upper }) => {
            call(density, visit);
            lower.iter().chain(upper).for_each(|e| expression(e, visit));
        }
        StatementKind::Call(of) => call(of, visit),
        StatementKind::If { condition, .. } | StatementKind::While { condition, .. } => expression(condition, visit),
        StatementKind::For { from, to, .. } => {
            expression(from, visit);
            expression(to, visit);
        }
        StatementKind::ForEach { over, .. } => expression(over, visit),
        StatementKind::Return(value) => value.iter().for_each(|e| expression(e, visit)),
        StatementKind::Print(parts) | StatementKind::Reject(parts) | StatementKind::FatalError(parts) => {
            for part in parts {
                if let Printable::Value(value) = part {
                    expression(value, visit);
                }
            }
        }
        _ => {}
    });
}

fn index_expressions<'a>(index: &'a Index, visit: &mut impl FnMut(&'a Expression)) {
    match index {
        Index::All => {}
        Index::Single(e) | Index::Multiple(e) | Index::From(e) | Index::UpTo(e) => expression(e, visit),
        Index::Between(from, to) => {
            expression(from, visit);
            expression(to, visit);
        }
    }
}

fn call<'a>(of: &'a Call, visit: &mut impl FnMut(&'a Expression)) {
    of.arguments.iter().for_each(|argument| expression(argument, visit));
}

/// Visits an expression with the ones inside of it.
pub(crate) fn for_each_inside<'a>(of: &'a Expression, visit: &mut impl FnMut(&'a Expression)) {
    expression(of, visit);
}

fn expression<'a>(of: &'a Expression, visit: &mut impl FnMut(&'a Expression)) {
    visit(of);
    match &of.kind {
        ExpressionKind::Promoted(inner) | ExpressionKind::Unary(_, inner) => expression(inner, visit),
        ExpressionKind::Call(inner) => call(inner, visit),
        ExpressionKind::Array(elements) | ExpressionKind::Row(elements) => {
            elements.iter().for_each(|e| expression(e, visit));
        }
        ExpressionKind::Index(inner, indices) => {
            expression(inner, visit);
            indices.iter().for_each(|index| index_expressions(index, visit));
        }
        ExpressionKind::Binary(_, operands) => {
            expression(&operands.0, visit);
            expression(&operands.1, visit);
        }
        ExpressionKind::Conditional(parts) => {
            expression(&parts.0, visit);
            expression(&parts.1, visit);
            expression(&parts.2, visit);
        }
        _ => {}
    }
}

/// Returns the calls of functions and densities in statements.
pub(crate) fn calls_in(statements: &[Statement]) -> Vec<&Call> {
    let mut calls = Vec::new();
    for_each_expression(statements, &mut |expression| {
        if let ExpressionKind::Call(call) = &expression.kind {
            calls.push(call);
        }
    });
    for_each_statement(statements, &mut |statement| match &statement.kind {
        StatementKind::Call(call) => calls.push(call),
        StatementKind::Tilde(tilde) => calls.push(&tilde.density),
        _ => {}
    });
    calls
}
