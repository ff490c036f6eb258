//! The types of Stan's values, without sizes.

use std::fmt;

/// What a value is when all dimensions of arrays are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BaseType {
    /// A whole number of 32 bits.
    Int,
    /// A real number.
    Real,
    /// A column of reals.
    Vector,
    /// A row of reals.
    RowVector,
    /// Reals in rows and columns.
    Matrix,
}

impl BaseType {
    /// All of them, from the simplest on.
    pub const ALL: [Self; 5] = [Self::Int, Self::Real, Self::Vector, Self::RowVector, Self::Matrix];

    /// Its name in the language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Real => "real",
            Self::Vector => "vector",
            Self::RowVector => "row_vector",
            Self::Matrix => "matrix",
        }
    }

    /// How many indices lead to a scalar: 0, 1 or 2.
    #[must_use]
    pub fn dimensions(self) -> usize {
        match self {
            Self::Int | Self::Real => 0,
            Self::Vector | Self::RowVector => 1,
            Self::Matrix => 2,
        }
    }
}

/// The type of a value: a base type, in an array of any number of dimensions.
///
/// `array[,] vector` is `StanType { base: BaseType::Vector, arrays: 2 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StanType {
    /// The type of the elements.
    pub base: BaseType,
    /// The dimensions of the array; 0 for what is no array.
    pub arrays: u8,
}

impl StanType {
    /// `int`.
    pub const INT: Self = Self::plain(BaseType::Int);
    /// `real`.
    pub const REAL: Self = Self::plain(BaseType::Real);
    /// `vector`.
    pub const VECTOR: Self = Self::plain(BaseType::Vector);
    /// `row_vector`.
    pub const ROW_VECTOR: Self = Self::plain(BaseType::RowVector);
    /// `matrix`.
    pub const MATRIX: Self = Self::plain(BaseType::Matrix);

    /// A type that is no array.
    #[must_use]
    pub const fn plain(base: BaseType) -> Self {
        Self { base, arrays: 0 }
    }

    /// An array of `base` with `arrays` dimensions.
    #[must_use]
    pub const fn array(base: BaseType, arrays: u8) -> Self {
        Self { base, arrays }
    }

    /// How many indices lead to a scalar.
    #[must_use]
    pub fn dimensions(self) -> usize {
        usize::from(self.arrays) + self.base.dimensions()
    }

    /// Whether it is `int` or `real`.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        self.dimensions() == 0
    }

    /// Whether it holds integers: `int` and arrays of it.
    #[must_use]
    pub fn is_int(self) -> bool {
        self.base == BaseType::Int
    }

    /// The same with reals instead of integers.
    #[must_use]
    pub fn with_reals(self) -> Self {
        Self { base: if self.is_int() { BaseType::Real } else { self.base }, ..self }
    }

    /// Whether a value of it may stand where `wanted` is asked for: it is the same, or its integers become reals.
    #[must_use]
    pub fn becomes(self, wanted: Self) -> bool {
        self == wanted || self.with_reals() == wanted
    }

    /// The type that both become.
    #[must_use]
    pub fn shared_with(self, other: Self) -> Option<Self> {
        if self.becomes(other) { Some(other) } else { other.becomes(self).then_some(self) }
    }
}

impl fmt::Display for StanType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.arrays > 0 {
            write!(f, "array[{}] ", ",".repeat(usize::from(self.arrays) - 1))?;
        }
        f.write_str(self.base.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_in_the_language() {
        assert_eq!(StanType::array(BaseType::Vector, 2).to_string(), "array[,] vector");
        assert_eq!(StanType::array(BaseType::Int, 1).to_string(), "array[] int");
        assert_eq!(StanType::ROW_VECTOR.to_string(), "row_vector");
    }

    #[test]
    fn integers_become_reals_and_nothing_else_changes() {
        let ints = StanType::array(BaseType::Int, 1);
        assert!(ints.becomes(StanType::array(BaseType::Real, 1)) && !ints.becomes(StanType::VECTOR));
        assert!(!StanType::REAL.becomes(StanType::INT));
        assert_eq!(StanType::INT.shared_with(StanType::REAL), Some(StanType::REAL));
        assert_eq!(StanType::VECTOR.shared_with(StanType::REAL), None);
        assert_eq!(StanType::array(BaseType::Matrix, 3).dimensions(), 5);
    }
}
