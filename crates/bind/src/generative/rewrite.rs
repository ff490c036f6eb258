//! Statements with others in place of the terms of the log density.

use super::Obstacle;
use super::sampling::{Term, terms};
use octopus_stan::{Expression, Span, Statement, StatementKind};

/// What a term becomes: a statement, or nothing.
pub(super) type Rewritten = Result<Option<Statement>, Obstacle>;

/// Where a term stands: its statement, and the branches around it, each with whether it is the one of a true condition.
#[derive(Clone, Debug)]
pub(super) struct TermPlace<'a> {
    pub(super) span: Span,
    pub(super) branches: Vec<(&'a Expression, bool)>,
}

impl TermPlace<'_> {
    /// Whether a run comes to one of both places only.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let is_other_side = |(condition, side): &(&Expression, bool)| {
            other.branches.iter().any(|(theirs, other_side)| theirs.span == condition.span && side != other_side)
        };
        self.branches.iter().any(is_other_side)
    }
}

/// Rewrites statements: definitions, loops and branches stay, each term becomes what `term` makes of it, and what prints,
/// rejects or adds a Jacobian goes, with the loops and branches that had nothing else.
pub(super) fn rewritten<'a>(
    statements: &'a [Statement],
    term: &mut dyn FnMut(Term<'a>, &TermPlace<'a>) -> Rewritten,
) -> Result<Vec<Statement>, Obstacle> {
    Rewriting { keeps_rejections: false, branches: Vec::new() }.all(statements, term)
}

/// The same, but what rejects stays.
pub(super) fn rewritten_with_rejections<'a>(
    statements: &'a [Statement],
    term: &mut dyn FnMut(Term<'a>, &TermPlace<'a>) -> Rewritten,
) -> Result<Vec<Statement>, Obstacle> {
    Rewriting { keeps_rejections: true, branches: Vec::new() }.all(statements, term)
}

struct Rewriting<'a> {
    keeps_rejections: bool,
    branches: Vec<(&'a Expression, bool)>,
}

impl<'a> Rewriting<'a> {
    fn all(
        &mut self,
        statements: &'a [Statement],
        term: &mut dyn FnMut(Term<'a>, &TermPlace<'a>) -> Rewritten,
    ) -> Result<Vec<Statement>, Obstacle> {
        let mut all = Vec::new();
        for statement in statements {
            let span = statement.span;
            let kind = match &statement.kind {
                StatementKind::Tilde(_) | StatementKind::Target(_) => {
                    let place = TermPlace { span, branches: self.branches.clone() };
                    for one in terms(statement) {
                        all.extend(term(one, &place)?);
                    }
                    continue;
                }
                StatementKind::Print(_) | StatementKind::Jacobian(_) => continue,
                StatementKind::Reject(_) | StatementKind::FatalError(_) if !self.keeps_rejections => continue,
                StatementKind::If { condition, then, otherwise } => {
                    let mut branch = |statements: &'a [Statement], side: bool| {
                        self.branches.push((condition, side));
                        let made = self.all(statements, term);
                        self.branches.pop();
                        made
                    };
                    let (then, otherwise) = (branch(then, true)?, branch(otherwise, false)?);
                    if then.is_empty() && otherwise.is_empty() {
                        continue;
                    }
                    StatementKind::If { condition: condition.clone(), then, otherwise }
                }
                StatementKind::While { condition, body } => {
                    StatementKind::While { condition: condition.clone(), body: self.all(body, term)? }
                }
                StatementKind::For { variable, from, to, body } => {
                    let body = self.all(body, term)?;
                    if body.is_empty() {
                        continue;
                    }
                    StatementKind::For { variable: *variable, from: from.clone(), to: to.clone(), body }
                }
                StatementKind::ForEach { variable, over, body } => {
                    let body = self.all(body, term)?;
                    if body.is_empty() {
                        continue;
                    }
                    StatementKind::ForEach { variable: *variable, over: over.clone(), body }
                }
                StatementKind::Block(body) | StatementKind::Profile { body, .. } => {
                    StatementKind::Block(self.all(body, term)?)
                }
                other => other.clone(),
            };
            all.push(Statement { kind, span });
        }
        Ok(all)
    }
}
