//! Sampling statements: `y ~ d(a)`, and terms `d_lpdf(y | a)` that are added to the target by themselves.

use octopus_program::JointDistribution;
use octopus_stan::{
    ArgumentType, BinaryOp, Call, Callee, Expression, ExpressionKind, Index, Signature, Span, StanProgram, StanType,
    Statement, StatementKind, Suffix, VariableId,
};

/// The end of the name of the function that gives the log density of each variate. No program can call it.
pub(crate) const EACH: &str = "_each";
/// The end of the name of the function that draws what a variate lacks. No program can call it.
pub(crate) const DRAWN: &str = "_drawn";

/// Sampling statements that are read at the most: each is compared with all others.
pub(super) const MOST_STATEMENTS: usize = 1000;

/// A statement that says how a variable is distributed.
#[derive(Clone, Debug)]
pub(crate) struct Sampling<'a> {
    pub(crate) variable: VariableId,
    /// Its indices; all but the last brackets' are single.
    pub(crate) indices: Vec<Index>,
    /// Whether the elements of a matrix are meant, column by column.
    pub(crate) is_unrolled: bool,
    /// The variate, with its type.
    pub(crate) variate: &'a Expression,
    pub(crate) density: &'a Call,
    /// The truncation's bounds.
    pub(crate) lower: Option<&'a Expression>,
    pub(crate) upper: Option<&'a Expression>,
}

/// One term that a statement adds to the log density.
#[derive(Clone, Debug)]
pub(crate) enum Term<'a> {
    Sampling(Sampling<'a>),
    /// Any other term. It has the value that is added, or the statement's variate, which is no variable.
    Other(&'a Expression),
}

/// The terms that a statement adds to the log density, but for those that are known; none for other statements.
pub(crate) fn terms(statement: &Statement) -> Vec<Term<'_>> {
    match &statement.kind {
        StatementKind::Tilde(tilde) => {
            let Some(variate) = tilde.density.arguments.first() else { return Vec::new() };
            let term = sampling(&tilde.density).map(|sampling| Sampling {
                lower: tilde.lower.as_ref(),
                upper: tilde.upper.as_ref(),
                ..sampling
            });
            vec![term.map_or(Term::Other(variate), Term::Sampling)]
        }
        StatementKind::Target(value) => {
            let mut found = Vec::new();
            split(value, &mut found);
            // What stands beside a density may be a part of what it says.
            let is_mixed = found.len() > 1 && found.iter().any(|term| matches!(term, Term::Other(_)));
            if is_mixed { vec![Term::Other(value)] } else { found }
        }
        _ => Vec::new(),
    }
}

/// The terms of a sum.
fn split<'a>(value: &'a Expression, found: &mut Vec<Term<'a>>) {
    if value.is_data {
        return;
    }
    match &value.kind {
        ExpressionKind::Binary(BinaryOp::Add, parts) if value.ty.is_scalar() => {
            split(&parts.0, found);
            split(&parts.1, found);
        }
        ExpressionKind::Binary(BinaryOp::Subtract, parts) if value.ty.is_scalar() && parts.1.is_data => {
            split(&parts.0, found);
        }
        ExpressionKind::Call(call) => found.push(sampling(call).map_or(Term::Other(value), Term::Sampling)),
        _ => found.push(Term::Other(value)),
    }
}

/// The densities that an expression calls.
pub(super) fn densities(value: &Expression) -> Vec<&Call> {
    let mut found = Vec::new();
    crate::uses::for_each_inside(value, &mut |expression| {
        if let ExpressionKind::Call(call) = &expression.kind
            && matches!(call.suffix, Suffix::Density { .. } | Suffix::Mass { .. })
        {
            found.push(call);
        }
    });
    found
}

/// What the call of a density says of its variate, if that is a variable or elements of one.
pub(super) fn sampling(density: &Call) -> Option<Sampling<'_>> {
    if !matches!(density.suffix, Suffix::Density { .. } | Suffix::Mass { .. }) {
        return None;
    }
    let variate = density.arguments.first()?;
    let (variable, indices, is_unrolled) = elements_of(variate)?;
    Some(Sampling { variable, indices, is_unrolled, variate, density, lower: None, upper: None })
}

/// The variable and the indices of an expression that is nothing else, and whether it is a matrix as a vector.
fn elements_of(expression: &Expression) -> Option<(VariableId, Vec<Index>, bool)> {
    match &expression.kind {
        ExpressionKind::Variable(id) => Some((*id, Vec::new(), false)),
        ExpressionKind::Promoted(inner) => elements_of(inner),
        ExpressionKind::Index(inner, indices) => {
            let (id, mut all, is_unrolled) = elements_of(inner)?;
            let are_single = all.iter().all(|index| matches!(index, Index::Single(_)));
            all.extend(indices.iter().cloned());
            (are_single && !is_unrolled).then_some((id, all, false))
        }
        ExpressionKind::Call(call) if call.callee == Callee::Math && call.name == "to_vector" => {
            let [of] = &call.arguments[..] else { return None };
            let (id, indices, is_unrolled) = elements_of(of)?;
            let is_matrix = of.ty == StanType::MATRIX && indices.is_empty();
            (is_matrix || of.ty.dimensions() == 1).then_some((id, indices, is_unrolled || is_matrix))
        }
        _ => None,
    }
}

impl Sampling<'_> {
    /// The distribution's name, e.g. `normal`.
    pub(crate) fn base(&self) -> &str {
        const ENDS: [&str; 4] = ["_lupdf", "_lupmf", "_lpdf", "_lpmf"];
        let name = self.density.name.as_str();
        ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
    }

    /// How many dimensions one variate has: 1 for a normal vector; `None` where the program's own density takes a container.
    pub(crate) fn variate_dimensions(&self) -> Option<usize> {
        if self.density.callee != Callee::Math {
            return self.variate.ty.is_scalar().then_some(0);
        }
        let variate = JointDistribution::named(self.base()).and_then(|row| row.arguments.first());
        Some(variate.map_or(0, |variate| variate.shape.dimensions()))
    }

    /// A value for the elements of a matrix, column by column, as the matrix.
    pub(crate) fn rolled(&self, program: &StanProgram, value: Expression) -> Expression {
        let span = value.span;
        let matrix = Expression {
            kind: ExpressionKind::Variable(self.variable),
            ty: program.variables[self.variable.0].ty,
            is_data: false,
            span,
        };
        let size = |name: &str| called(name, vec![matrix.clone()], StanType::INT, span);
        let sizes = [size("rows"), size("cols")];
        let arguments = std::iter::once(value).chain(sizes).collect();
        called("to_matrix", arguments, StanType::MATRIX, span)
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.lower.is_some() || self.upper.is_some()
    }

    /// Whether two statements are about the same elements as they stand.
    pub(crate) fn meets(&self, other: &Self, program: &StanProgram) -> bool {
        let is_whole = self.indices.is_empty() || other.indices.is_empty();
        let text = |of: &Self| program.text(of.variate.span).split_whitespace().collect::<String>();
        self.variable == other.variable && (is_whole || text(self) == text(other))
    }
}

/// The call of a function of the library.
pub(crate) fn called(name: &str, arguments: Vec<Expression>, ty: StanType, span: Span) -> Expression {
    let types = arguments.iter().map(|argument| ArgumentType { ty: argument.ty, is_data: false });
    let signature = Signature { arguments: types.collect(), result: Some(ty) };
    let (callee, suffix) = (Callee::Math, Suffix::Plain);
    let call = Call { callee, name: name.to_owned(), suffix, signature, arguments, span };
    Expression { kind: ExpressionKind::Call(call), ty, is_data: false, span }
}
