//! Which data a value depends on, through the variables that are computed from them.

use crate::uses::for_each_statement;
use octopus_stan::{Expression, ExpressionKind, ProgramBlock, StanProgram, Statement, StatementKind, VariableId};
use std::collections::HashSet;

/// The variables whose values change with the numbers of some data. An index chooses among numbers and is none itself.
pub(crate) struct DataReach {
    variables: HashSet<VariableId>,
    /// Whether there were too many definitions to follow: then all variables count as reached.
    is_lost: bool,
}

/// How often definitions are gone through at the most: as often as they stand against their order, and once more.
const MOST_PASSES: usize = 64;

impl DataReach {
    /// Follows the containers among the program's data: what they hold was mostly observed, and single data are settings.
    pub(crate) fn of_containers(program: &StanProgram) -> Self {
        let declared = |statement: &Statement| match &statement.kind {
            StatementKind::Declare(declaration) => Some(declaration.variable),
            _ => None,
        };
        let containers = program.data.iter().filter_map(declared);
        let containers = containers.filter(|id| !program.variables[id.0].ty.is_scalar());
        let mut reach = Self { variables: containers.collect(), is_lost: false };
        let blocks = [ProgramBlock::TransformedData, ProgramBlock::TransformedParameters, ProgramBlock::Model];
        reach.follow(program, &blocks);
        reach
    }

    /// The first variable that is computed from some of the data before there are parameters, but for those `of` itself.
    pub(crate) fn computed_from(program: &StanProgram, of: &[VariableId]) -> Option<VariableId> {
        let mut reach = Self { variables: of.iter().copied().collect(), is_lost: false };
        reach.follow(program, &[ProgramBlock::TransformedData]);
        reach.variables.into_iter().filter(|id| !of.contains(id)).min()
    }

    fn follow(&mut self, program: &StanProgram, blocks: &[ProgramBlock]) {
        for _ in 0..MOST_PASSES {
            let before = self.variables.len();
            for &block in blocks {
                for_each_statement(program.block(block), &mut |statement| {
                    let (to, value) = match &statement.kind {
                        StatementKind::Declare(declaration) => (declaration.variable, declaration.value.as_ref()),
                        StatementKind::Assign { to, value, .. } => (to.variable, Some(value)),
                        StatementKind::ForEach { variable, over, .. } => (*variable, Some(over)),
                        _ => return,
                    };
                    if value.is_some_and(|value| self.reaches(value)) {
                        self.variables.insert(to);
                    }
                });
            }
            if self.variables.len() == before {
                return;
            }
        }
        self.is_lost = true;
    }

    /// Whether the value of an expression changes with the data.
    pub(crate) fn reaches(&self, expression: &Expression) -> bool {
        let all = |expressions: &[Expression]| expressions.iter().any(|one| self.reaches(one));
        match &expression.kind {
            ExpressionKind::Variable(id) => self.is_lost || self.variables.contains(id),
            ExpressionKind::Promoted(inner) | ExpressionKind::Unary(_, inner) => self.reaches(inner),
            ExpressionKind::Index(inner, _) => self.reaches(inner),
            ExpressionKind::Call(call) => all(&call.arguments),
            ExpressionKind::Array(elements) | ExpressionKind::Row(elements) => all(elements),
            ExpressionKind::Binary(_, parts) => self.reaches(&parts.0) || self.reaches(&parts.1),
            ExpressionKind::Conditional(parts) => {
                self.reaches(&parts.0) || self.reaches(&parts.1) || self.reaches(&parts.2)
            }
            _ => false,
        }
    }
}
