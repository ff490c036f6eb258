//! Why a program cannot be made, and why it has no value at a point.

use octopus_density::DensityError;
use thiserror::Error;

/// Why a program cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProgramError {
    /// Two vectors of different lengths met.
    #[error("{operation}: vectors of {first} and {second} elements; lengths must be equal, or one of them 1")]
    Lengths {
        /// The operation's name.
        operation: &'static str,
        /// The longer length met first.
        first: usize,
        /// The other length.
        second: usize,
    },
    /// An operation got the wrong number of operands.
    #[error("{operation}: {found} operands; it takes {expected}")]
    Arity {
        /// The operation's name.
        operation: &'static str,
        /// Operands that it takes.
        expected: usize,
        /// Operands that it got.
        found: usize,
    },
    /// An index points outside the vector.
    #[error("{operation}: index {index} at row {row}; the vector has {length} elements, counted from 0")]
    Index {
        /// The operation's name.
        operation: &'static str,
        /// The index.
        index: usize,
        /// The row of the index.
        row: usize,
        /// The vector's length.
        length: usize,
    },
    /// A matrix has the wrong number of elements.
    #[error("{operation}: {found} elements where a matrix of {rows} x {columns} is needed")]
    Shape {
        /// The operation's name.
        operation: &'static str,
        /// Rows of the matrix needed.
        rows: usize,
        /// Columns of the matrix needed.
        columns: usize,
        /// Elements found.
        found: usize,
    },
    /// A scan's body has something else than operations on scalars, or its counts differ.
    #[error("scan: {0}")]
    Scan(String),
    /// Differential equations that cannot be solved.
    #[error("differential equations: {0}")]
    Ode(String),
    /// A name is used twice.
    #[error("parameter {0} is declared twice: give each its own name")]
    Name(String),
    /// Something is longer than programs can be.
    #[error("{operation}: {length} elements; at most {most} are supported")]
    TooLong {
        /// The operation's name.
        operation: &'static str,
        /// The length asked for.
        length: usize,
        /// The longest.
        most: usize,
    },
    /// An evaluation needs too much memory.
    #[error(
        "a gradient keeps {numbers} numbers, {} MiB of memory, and {most} are the most: give fewer data, or sum what long loops \
         and vectors add up", .numbers >> 17
    )]
    Memory {
        /// The numbers that are kept at a time.
        numbers: usize,
        /// The most.
        most: usize,
    },
    /// The target is a vector.
    #[error("the log density has {0} elements; it must be one number: sum it")]
    Target(usize),
    /// A derivative needs the slope of an operation that has none.
    #[error("{operation}: its slope is not supported; its operand must be data")]
    NoSlope {
        /// The operation's name.
        operation: &'static str,
    },
    /// An argument of a distribution that must be data depends on a parameter.
    #[error("{distribution}: {argument} must be data")]
    NeedsData {
        /// The distribution's name.
        distribution: &'static str,
        /// The argument's name.
        argument: &'static str,
    },
    /// A value of the data is outside a distribution's domain.
    #[error("{distribution}: {argument} is {value} at element {}, counted from 1; it must be {must}", .row + 1)]
    Data {
        /// The distribution's name.
        distribution: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// The value found.
        value: f64,
        /// Its place, counted from 0; the message counts from 1.
        row: usize,
        /// The condition.
        must: &'static str,
    },
    /// There is no distribution of this name.
    #[error("there is no distribution `{0}`")]
    Distribution(String),
    /// A cumulative function is missing.
    #[error("{distribution}: its cumulative function {reason}")]
    Tail {
        /// The distribution's name.
        distribution: &'static str,
        /// What is missing.
        reason: &'static str,
    },
    /// Vectors or matrices of a distribution do not fit.
    #[error("{distribution}: {reason}")]
    Joint {
        /// The distribution's name.
        distribution: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// Why a program has no value at a point: a divergence for a sampler.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EvaluationError {
    /// A guard failed.
    #[error("{0}")]
    Guard(String),
    /// The log density or a slope is not finite.
    #[error("the log density is not finite here ({value})")]
    NotFinite {
        /// The value found.
        value: f64,
    },
}

impl From<EvaluationError> for DensityError {
    fn from(error: EvaluationError) -> Self {
        let value = match error {
            EvaluationError::Guard(_) => f64::NAN,
            EvaluationError::NotFinite { value } => value,
        };
        Self::NotFinite { value }
    }
}
