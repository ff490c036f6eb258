//! The words that the language keeps for itself.

use crate::syntax::NamedConstraint;
use crate::types::BaseType;

/// Words that the grammar uses.
const GRAMMAR: [&str; 22] = [
    "functions",
    "data",
    "parameters",
    "model",
    "return",
    "if",
    "else",
    "while",
    "for",
    "in",
    "break",
    "continue",
    "void",
    "print",
    "reject",
    "fatal_error",
    "target",
    "jacobian",
    "profile",
    "lower",
    "upper",
    "offset",
];

/// Words without a use, and two more that the grammar uses.
const KEPT: [&str; 16] = [
    "multiplier",
    "generated",
    "quantities",
    "transformed",
    "repeat",
    "until",
    "then",
    "true",
    "false",
    "typedef",
    "struct",
    "var",
    "export",
    "extern",
    "static",
    "auto",
];

/// The words that begin types.
pub(super) const TYPES: [&str; 22] = [
    "int",
    "real",
    "vector",
    "row_vector",
    "matrix",
    "ordered",
    "positive_ordered",
    "simplex",
    "unit_vector",
    "sum_to_zero_vector",
    "sum_to_zero_matrix",
    "cholesky_factor_corr",
    "cholesky_factor_cov",
    "corr_matrix",
    "cov_matrix",
    "column_stochastic_matrix",
    "row_stochastic_matrix",
    "array",
    "tuple",
    "complex",
    "complex_vector",
    "complex_matrix",
];

/// What a word that begins a type says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TypeWord {
    /// A type without a constraint in its name.
    Plain(BaseType),
    /// A type whose name is its constraint.
    Constrained(BaseType, NamedConstraint),
    /// An array of another type.
    Array,
    /// A tuple, which is not supported.
    Tuple,
    /// Complex numbers, which are not supported; how many sizes they have.
    Complex(usize),
}

pub(super) fn type_word(word: &str) -> Option<TypeWord> {
    use NamedConstraint::*;
    let vector = |constraint| TypeWord::Constrained(BaseType::Vector, constraint);
    let matrix = |constraint| TypeWord::Constrained(BaseType::Matrix, constraint);
    Some(match word {
        "int" => TypeWord::Plain(BaseType::Int),
        "real" => TypeWord::Plain(BaseType::Real),
        "vector" => TypeWord::Plain(BaseType::Vector),
        "row_vector" => TypeWord::Plain(BaseType::RowVector),
        "matrix" => TypeWord::Plain(BaseType::Matrix),
        "ordered" => vector(Ordered),
        "positive_ordered" => vector(PositiveOrdered),
        "simplex" => vector(Simplex),
        "unit_vector" => vector(UnitVector),
        "sum_to_zero_vector" => vector(SumToZero),
        "sum_to_zero_matrix" => matrix(SumToZero),
        "cholesky_factor_corr" => matrix(CholeskyCorr),
        "cholesky_factor_cov" => matrix(CholeskyCov),
        "corr_matrix" => matrix(Corr),
        "cov_matrix" => matrix(Cov),
        "column_stochastic_matrix" => matrix(ColumnStochastic),
        "row_stochastic_matrix" => matrix(RowStochastic),
        "array" => TypeWord::Array,
        "tuple" => TypeWord::Tuple,
        "complex" => TypeWord::Complex(0),
        "complex_vector" | "complex_row_vector" => TypeWord::Complex(1),
        "complex_matrix" => TypeWord::Complex(2),
        _ => return None,
    })
}

/// Whether no variable and no function may have this name.
pub(super) fn is_kept(word: &str) -> bool {
    GRAMMAR.contains(&word) || KEPT.contains(&word) || type_word(word).is_some()
}
