//! Orders statements so that each variable is drawn before a statement reads it.

use super::Obstacle;
use super::sampling::DRAWN;
use crate::uses::{for_each_expression, for_each_statement, uses_of};
use octopus_stan::{Callee, Expression, ExpressionKind, Span, StanProgram, Statement, StatementKind, VariableId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Statements that are put in order at the most: each is compared with all others.
const MOST: usize = 300;
/// Functions that tell sizes: they read no value.
const OF_SIZES: [&str; 5] = ["rows", "cols", "size", "num_elements", "dims"];

/// Puts statements in order, bare blocks opened, and the statements inside of loops and branches too. `drawn` are the
/// variables whose assignments are draws.
pub(super) fn in_order(
    program: &StanProgram,
    statements: Vec<Statement>,
    drawn: &HashSet<VariableId>,
) -> Result<Vec<Statement>, Obstacle> {
    let statements = opened(statements);
    if let Some(statement) = statements.get(MOST) {
        return Err(Obstacle::new(statement.span, format!("more than {MOST} statements are not put in order")));
    }
    sorted(statements, drawn).map_err(|(id, span)| {
        let name = &program.variables[id.0].name;
        Obstacle::new(span, format!("`{name}` is read here, and cannot be drawn before"))
    })
}

/// The statements, which are in order, but for those that write or read some data, and those that read what these write; all,
/// where one that is left out draws a parameter.
pub(super) fn without(
    statements: &[Statement],
    data: HashSet<VariableId>,
    parameters: &HashSet<VariableId>,
) -> Vec<Statement> {
    let (mut reached, mut kept) = (data, Vec::new());
    for statement in statements {
        let unit = StatementUses::of(statement);
        if unit.writes.iter().chain(&unit.reads).all(|id| !reached.contains(id)) {
            kept.push(statement.clone());
            continue;
        }
        if unit.writes.iter().any(|id| parameters.contains(id)) {
            return statements.to_vec();
        }
        reached.extend(unit.writes);
    }
    kept
}

/// Statements with those of bare blocks in their place: each variable is one of its own, wherever it is declared.
fn opened(statements: Vec<Statement>) -> Vec<Statement> {
    let open = |statement: Statement| match statement.kind {
        StatementKind::Block(body) => opened(body),
        _ => vec![statement],
    };
    statements.into_iter().flat_map(open).collect()
}

/// What a statement does with variables.
struct StatementUses {
    reads: HashSet<VariableId>,
    writes: HashSet<VariableId>,
}

impl StatementUses {
    fn of(statement: &Statement) -> Self {
        let uses = uses_of(std::slice::from_ref(statement));
        let mut reads: HashMap<VariableId, usize> =
            uses.variables.iter().map(|(&id, usage)| (id, usage.reads + usage.reads_in_sums)).collect();
        // What is drawn is given as it is, and sizes are no values.
        for_each_expression(std::slice::from_ref(statement), &mut |expression| {
            let ExpressionKind::Call(call) = &expression.kind else { return };
            if call.callee != Callee::Math || !(call.name.ends_with(DRAWN) || OF_SIZES.contains(&call.name.as_str())) {
                return;
            }
            if let Some(count) = call.arguments.first().and_then(variable_of).and_then(|id| reads.get_mut(&id)) {
                *count = count.saturating_sub(1);
            }
        });
        let written = uses.variables.iter().filter(|(_, usage)| usage.writes() > 0).map(|(&id, _)| id);
        Self {
            writes: written.chain(uses.declared.iter().copied()).collect(),
            reads: reads.into_iter().filter(|(_, count)| *count > 0).map(|(id, _)| id).collect(),
        }
    }

    /// Whether this one must come before another one, which stands behind it in the program or not.
    fn is_before(&self, other: &Self, stands_before: bool, drawn: &HashSet<VariableId>) -> bool {
        let drawn_here = self.writes.iter().any(|id| drawn.contains(id) && other.reads.contains(id));
        let meets =
            |a: &HashSet<VariableId>, b: &HashSet<VariableId>| a.iter().any(|id| !drawn.contains(id) && b.contains(id));
        let in_turn = || {
            meets(&self.writes, &other.reads) || meets(&self.writes, &other.writes) || meets(&self.reads, &other.writes)
        };
        drawn_here || (stands_before && in_turn())
    }
}

/// The variable that an expression is or takes elements of.
fn variable_of(expression: &Expression) -> Option<VariableId> {
    match &expression.kind {
        ExpressionKind::Variable(id) => Some(*id),
        ExpressionKind::Promoted(inner) | ExpressionKind::Index(inner, _) => variable_of(inner),
        ExpressionKind::Call(call) => call.arguments.first().and_then(variable_of),
        _ => None,
    }
}

/// The statements in order; a variable that is read before it can be drawn, and where, if there is no order.
fn sorted(statements: Vec<Statement>, drawn: &HashSet<VariableId>) -> Result<Vec<Statement>, (VariableId, Span)> {
    let units: Vec<StatementUses> = statements.iter().map(StatementUses::of).collect();
    let count = units.len();
    let comes_before = |a: usize, b: usize| a != b && units[a].is_before(&units[b], a < b, drawn);
    let after: Vec<Vec<usize>> = (0..count).map(|a| (0..count).filter(|&b| comes_before(a, b)).collect()).collect();
    let mut awaited = vec![0_usize; count];
    after.iter().flatten().for_each(|&b| awaited[b] += 1);
    let mut free: BTreeSet<usize> = (0..count).filter(|&at| awaited[at] == 0).collect();
    let mut all: Vec<Option<Statement>> = statements.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(count);
    while let Some(next) = free.pop_first() {
        ordered.extend(all[next].take().map(|statement| with_body_in_order(statement, drawn)));
        for &later in &after[next] {
            awaited[later] -= 1;
            if awaited[later] == 0 {
                free.insert(later);
            }
        }
    }
    let Some((first, waiting)) = all.iter().enumerate().find_map(|(at, one)| Some((at, one.as_ref()?))) else {
        return Ok(ordered);
    };
    let is_waited_for = |id: &&VariableId| {
        drawn.contains(id)
            && (0..count).any(|other| all[other].is_some() && other != first && units[other].writes.contains(id))
    };
    let read = units[first].reads.iter().filter(is_waited_for).min().copied();
    Err((read.unwrap_or(VariableId(0)), waiting.span))
}

/// A statement with those inside of it in order, where there is one: in a loop a pass may read what earlier passes drew.
fn with_body_in_order(mut statement: Statement, drawn: &HashSet<VariableId>) -> Statement {
    let sort = |body: &mut Vec<Statement>| {
        let mut has_jumps = false;
        for_each_statement(body, &mut |inner| {
            has_jumps |= matches!(inner.kind, StatementKind::Break | StatementKind::Continue);
        });
        if has_jumps || body.len() > MOST {
            return;
        }
        if let Ok(ordered) = sorted(opened(body.clone()), drawn) {
            *body = ordered;
        }
    };
    match &mut statement.kind {
        StatementKind::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(sort),
        StatementKind::While { body, .. } | StatementKind::For { body, .. } | StatementKind::ForEach { body, .. } => {
            sort(body);
        }
        _ => {}
    }
    statement
}
