//! Gives names their declarations, expressions their types and calls their signatures, and reports all that is wrong.
//!
//! A part that is wrong is left out, and nothing is said of what depends on it: one mistake gives one message.

mod call;
mod declaration;
mod expression;
mod function;
mod lvalue;
mod scope;
mod solver;
mod statement;

use crate::message::Finding;
use crate::program::Parts;
use crate::source::Sources;
use crate::syntax::{self, Stmt};
use crate::tree::{FunctionId, ProgramBlock, StanFunction, StanVariable, Statement, Suffix, VariableId};
use crate::types::StanType;
use std::collections::HashMap;

/// Messages of a program at the most.
const MOST_FINDINGS: usize = 100;

/// Checks a whole program. The parts are whole if no finding is an error.
pub(crate) fn check(sources: &Sources, tree: &syntax::Tree) -> (Parts, Vec<Finding>) {
    let mut checker = Checker {
        sources,
        findings: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        by_name: HashMap::new(),
        scopes: vec![HashMap::new()],
        context: Context::of(ProgramBlock::Functions),
    };
    checker.functions(&tree.functions);
    let mut parts = Parts::default();
    for (block, statements) in &tree.blocks {
        let statements = checker.block(*block, statements);
        *parts.block_mut(*block) = statements;
    }
    parts.variables = checker.variables.into_iter().map(|declared| declared.variable).collect();
    parts.functions = checker.functions.into_iter().map(|declared| declared.function).collect();
    (parts, checker.findings)
}

struct Checker<'a> {
    sources: &'a Sources,
    findings: Vec<Finding>,
    variables: Vec<DeclaredVariable>,
    functions: Vec<DeclaredFunction>,
    /// The functions of a name, in the order of the text.
    by_name: HashMap<String, Vec<FunctionId>>,
    /// The variables that can be seen, the outermost scope first.
    scopes: Vec<HashMap<String, VariableId>>,
    context: Context,
}

/// A variable, and whether its type is known: it is not if it is wrong or not supported.
struct DeclaredVariable {
    variable: StanVariable,
    is_known: bool,
}

/// A function that has been declared.
struct DeclaredFunction {
    function: StanFunction,
    /// Whether its types are all known.
    is_known: bool,
    /// Whether it has a body.
    is_defined: bool,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Context {
    block: ProgramBlock,
    /// The function around it.
    function: Option<Within>,
    /// Whether a loop is around it.
    in_loop: bool,
    /// Whether it is a size of a variable that the program shows.
    in_sizes: bool,
}

/// The function around a statement.
#[derive(Clone, Copy)]
struct Within {
    suffix: Suffix,
    /// What it gives; `None` is void.
    result: Option<StanType>,
    /// Whether the result's type is known.
    is_known: bool,
}

impl Context {
    fn of(block: ProgramBlock) -> Self {
        Self { block, function: None, in_loop: false, in_sizes: false }
    }

    fn in_function(self, suffix: Suffix) -> bool {
        self.function.is_some_and(|function| function.suffix == suffix)
    }
}

impl Checker<'_> {
    fn report(&mut self, finding: Finding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// Reports, and says that there is nothing.
    fn refuse<T>(&mut self, finding: Finding) -> Option<T> {
        self.report(finding);
        None
    }

    /// The statements of a block. Variables of the model and of loops are forgotten after it, the others are not.
    fn block(&mut self, block: ProgramBlock, statements: &[Stmt]) -> Vec<Statement> {
        self.context = Context::of(block);
        let is_model = block == ProgramBlock::Model;
        if is_model {
            self.open_scope();
        }
        let (checked, _) = self.statements(statements);
        if is_model {
            self.close_scope();
        }
        checked
    }
}
