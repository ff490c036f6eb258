//! What a program asks for and gives, before there are data: its variables with their sizes, its functions.

use crate::interpreter::is_supported;
use crate::uses::{calls_in, for_each_expression, for_each_statement};
use octopus_stan::{
    BaseType, Call, Callee, Constraint, Declaration, Diagnostic, Expression, ExpressionKind, Index, ProgramBlock,
    StanProgram, StanType, Statement, StatementKind, Suffix, VariableId,
};
use std::collections::BTreeSet;

/// One size of a variable, as the program writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredSize {
    /// The expression, e.g. `N + 1`.
    pub text: String,
    /// The variable, where the expression is nothing else.
    pub variable: Option<String>,
}

/// A variable at the top of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredVariable {
    /// Its name.
    pub name: String,
    /// The block of its declaration.
    pub block: ProgramBlock,
    /// Its type, without sizes.
    pub ty: StanType,
    /// Its sizes, first the array's.
    pub sizes: Vec<DeclaredSize>,
    /// What its elements obey, e.g. `<lower=0>` or `simplex`; empty for nothing.
    pub constraint: String,
    /// The variable that is its upper bound.
    pub upper: Option<String>,
    /// Whether its elements are at least 1 by declaration.
    pub counts_from_one: bool,
}

impl DeclaredVariable {
    /// Returns the variables at the top of a block, in order.
    pub fn in_block(program: &StanProgram, block: ProgramBlock) -> Vec<Self> {
        let declared = |statement: &Statement| match &statement.kind {
            StatementKind::Declare(declaration) => Some(Self { block, ..Self::of(program, declaration) }),
            _ => None,
        };
        program.block(block).iter().filter_map(declared).collect()
    }

    pub(crate) fn of(program: &StanProgram, declaration: &Declaration) -> Self {
        let variable = &program.variables[declaration.variable.0];
        let text = |expression: &Expression| program.text(expression.span).to_owned();
        let size = |expression: &Expression| DeclaredSize {
            text: text(expression),
            variable: variable_of(expression).map(|id| program.variables[id.0].name.clone()),
        };
        let (lower, upper) = match &declaration.constraint {
            Constraint::Lower(lower) => (Some(lower), None),
            Constraint::Upper(upper) => (None, Some(upper)),
            Constraint::LowerUpper(lower, upper) => (Some(lower), Some(upper)),
            _ => (None, None),
        };
        let is_one = |expression: &&Expression| matches!(plain(expression).kind, ExpressionKind::Int(1));
        Self {
            name: variable.name.clone(),
            block: ProgramBlock::Data,
            ty: variable.ty,
            sizes: declaration.sizes.iter().map(size).collect(),
            constraint: constraint_text(&declaration.constraint, &text),
            upper: upper.and_then(variable_of).map(|id| program.variables[id.0].name.clone()),
            counts_from_one: lower.filter(is_one).is_some(),
        }
    }

    /// Returns the declaration as Stan writes it, without the name: `array[N] int<lower=0>`.
    pub fn text(&self) -> String {
        let sizes: Vec<&str> = self.sizes.iter().map(|size| size.text.as_str()).collect();
        let (of_array, own) = sizes.split_at(sizes.len().min(usize::from(self.ty.arrays)));
        let array = if of_array.is_empty() { String::new() } else { format!("array[{}] ", of_array.join(", ")) };
        let own = if own.is_empty() { String::new() } else { format!("[{}]", own.join(", ")) };
        let base = self.ty.base.name();
        if self.constraint.is_empty() || self.constraint.starts_with('<') {
            format!("{array}{base}{}{own}", self.constraint)
        } else {
            format!("{array}{}{own}", self.constraint)
        }
    }

    /// Returns the data variable, an `int`, that counts what this variable's elements number: its upper bound, or the size of
    /// what it is an index of. The variable is an array of `int` with one dimension.
    pub fn counted_by(&self, program: &StanProgram) -> Option<String> {
        if self.ty != StanType::array(BaseType::Int, 1) {
            return None;
        }
        let is_count = |name: &String| {
            let all = DeclaredVariable::in_block(program, ProgramBlock::Data);
            all.iter().any(|one| one.name == *name && one.ty == StanType::INT)
        };
        self.upper.clone().or_else(|| size_of_indexed(program, &self.name)).filter(is_count)
    }
}

/// The names of the library's functions that a program calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedFunctions {
    /// Densities and mass functions, without the ends of their names: `normal`, `poisson_log`.
    pub distributions: BTreeSet<String>,
    /// All others.
    pub functions: BTreeSet<String>,
    /// Calls of what is not supported, with their places.
    pub unsupported: Vec<Diagnostic>,
}

impl UsedFunctions {
    /// Returns what a program calls anywhere.
    pub fn of(program: &StanProgram) -> Self {
        let mut found = Self::default();
        let bodies = program.functions.iter().map(|function| function.body.as_slice());
        let blocks = ProgramBlock::ALL.into_iter().map(|block| program.block(block));
        for statements in bodies.chain(blocks) {
            let calls = calls_in(statements).into_iter();
            calls.filter(|call| !matches!(call.callee, Callee::User(_))).for_each(|call| found.add(program, call));
        }
        found.unsupported.sort_by_key(|diagnostic| (diagnostic.place.line, diagnostic.place.column));
        found
    }

    fn add(&mut self, program: &StanProgram, call: &Call) {
        const ENDS: [&str; 4] = ["_lupdf", "_lupmf", "_lpdf", "_lpmf"];
        let is_density = matches!(Suffix::of(&call.name), Suffix::Density { .. } | Suffix::Mass { .. });
        let base = ENDS.iter().find_map(|end| call.name.strip_suffix(end)).filter(|_| is_density);
        match base {
            Some(base) => self.distributions.insert(base.to_owned()),
            None => self.functions.insert(call.name.clone()),
        };
        if call.callee == Callee::Math && !is_supported(&call.name) {
            let message = format!("the function `{}` is not supported yet", call.name);
            self.unsupported.push(program.diagnostic(call.span, message, None));
        }
    }
}

fn plain(expression: &Expression) -> &Expression {
    if let ExpressionKind::Promoted(inner) = &expression.kind { plain(inner) } else { expression }
}

fn variable_of(expression: &Expression) -> Option<VariableId> {
    if let ExpressionKind::Variable(id) = plain(expression).kind { Some(id) } else { None }
}

fn constraint_text(constraint: &Constraint, text: &impl Fn(&Expression) -> String) -> String {
    let named = match constraint {
        Constraint::None => "",
        Constraint::Lower(lower) => return format!("<lower={}>", text(lower)),
        Constraint::Upper(upper) => return format!("<upper={}>", text(upper)),
        Constraint::LowerUpper(lower, upper) => return format!("<lower={}, upper={}>", text(lower), text(upper)),
        Constraint::Affine { offset, multiplier } => {
            let parts = [("offset", offset), ("multiplier", multiplier)];
            let given = parts.into_iter().filter_map(|(name, of)| Some(format!("{name}={}", text(of.as_ref()?))));
            return format!("<{}>", given.collect::<Vec<_>>().join(", "));
        }
        Constraint::Ordered => "ordered",
        Constraint::PositiveOrdered => "positive_ordered",
        Constraint::Simplex => "simplex",
        Constraint::UnitVector => "unit_vector",
        Constraint::SumToZero => "sum_to_zero",
        Constraint::CholeskyCorr => "cholesky_factor_corr",
        Constraint::CholeskyCov => "cholesky_factor_cov",
        Constraint::Corr => "corr_matrix",
        Constraint::Cov => "cov_matrix",
        Constraint::ColumnStochastic => "column_stochastic_matrix",
        Constraint::RowStochastic => "row_stochastic_matrix",
    };
    named.to_owned()
}

/// The variable that is the size, in the dimension that `index` is an index of, of the first variable that is indexed so:
/// `J` where `alpha[county[n]]` or `alpha[county]` is read and `vector[J] alpha` declared.
fn size_of_indexed(program: &StanProgram, index: &str) -> Option<String> {
    let mut indexed: Vec<(VariableId, usize)> = Vec::new();
    for block in ProgramBlock::ALL {
        for_each_expression(program.block(block), &mut |expression| {
            let ExpressionKind::Index(of, indices) = &expression.kind else { return };
            let Some(of) = variable_of(of) else { return };
            for (dimension, one) in indices.iter().enumerate() {
                let (Index::Single(one) | Index::Multiple(one)) = one else { continue };
                let number = match &plain(one).kind {
                    ExpressionKind::Index(inner, _) => variable_of(inner),
                    _ => variable_of(one),
                };
                if number.is_some_and(|id| program.variables[id.0].name == index) {
                    indexed.push((of, dimension));
                }
            }
        });
    }
    let mut sizes = None;
    for block in ProgramBlock::ALL {
        for_each_statement(program.block(block), &mut |statement| {
            let StatementKind::Declare(declaration) = &statement.kind else { return };
            for (_, dimension) in indexed.iter().filter(|(of, _)| *of == declaration.variable) {
                let size = declaration.sizes.get(*dimension).and_then(variable_of);
                sizes = sizes.take().or_else(|| size.map(|id| program.variables[id.0].name.clone()));
            }
        });
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIERARCHY: &str = "data { int<lower=0> N; int<lower=1> J; int K; array[N] int<lower=1, upper=J> county;
            array[N] int<lower=1> site; array[N] int<lower=0, upper=1> y; vector[K] x; matrix[N, 2] z; }
        parameters { real<lower=0> tau; vector<multiplier=tau>[J] alpha; array[2] simplex[K] p; vector[K] gamma; }
        model { alpha ~ normal(0, tau); y ~ bernoulli_logit(alpha[county]);
                for (n in 1:N) target += normal_lpdf(z[n, 1] | gamma[site[n]], log1p_exp(tau)); }";

    #[test]
    fn declarations_are_written_as_in_the_program() {
        let program = StanProgram::parse("m.stan", HIERARCHY).unwrap();
        let texts = |block| -> Vec<String> {
            let all = DeclaredVariable::in_block(&program, block);
            all.iter().map(|one| format!("{} {}", one.text(), one.name)).collect()
        };
        let data = [
            "int<lower=0> N",
            "int<lower=1> J",
            "int K",
            "array[N] int<lower=1, upper=J> county",
            "array[N] int<lower=1> site",
            "array[N] int<lower=0, upper=1> y",
            "vector[K] x",
            "matrix[N, 2] z",
        ];
        assert_eq!(texts(ProgramBlock::Data), data);
        let parameters =
            ["real<lower=0> tau", "vector<multiplier=tau>[J] alpha", "array[2] simplex[K] p", "vector[K] gamma"];
        assert_eq!(texts(ProgramBlock::Parameters), parameters);
    }

    #[test]
    fn labels_are_counted_by_their_bound_or_by_the_size_of_what_they_index() {
        let program = StanProgram::parse("m.stan", HIERARCHY).unwrap();
        let all = DeclaredVariable::in_block(&program, ProgramBlock::Data);
        let counted = |name: &str| all.iter().find(|one| one.name == name).unwrap().counted_by(&program);
        assert_eq!(counted("county").as_deref(), Some("J"));
        assert_eq!(counted("site").as_deref(), Some("K"));
        assert_eq!((counted("y"), counted("N"), counted("x")), (None, None, None));
        assert!(all[3].counts_from_one && !all[5].counts_from_one);
    }

    #[test]
    fn functions_are_listed_with_what_is_not_supported() {
        let used = UsedFunctions::of(&StanProgram::parse("m.stan", HIERARCHY).unwrap());
        assert_eq!(used.distributions.iter().map(String::as_str).collect::<Vec<_>>(), ["bernoulli_logit", "normal"]);
        assert!(used.functions.contains("log1p_exp") && used.unsupported.is_empty(), "{used:?}");
    }
}
