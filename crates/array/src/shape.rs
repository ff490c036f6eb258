//! The shape of an array, in one or two dimensions, and the shape to which two arrays are broadcast.

use crate::ArrayError;
use std::fmt;

/// The shape of an array: one dimension or two, in C order (the last index runs fastest), without gaps.
///
/// It is written as NumPy writes it, and made of a number, a pair or an array:
/// ```
/// use octopus_array::ArrayShape;
///
/// assert_eq!(ArrayShape::from(3).to_string(), "(3,)");
/// assert_eq!(ArrayShape::from((2, 4)).to_string(), "(2, 4)");
/// assert_eq!(ArrayShape::from([2, 4]).sides(), (2, 4));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayShape {
    /// One dimension, of so many elements.
    Vector(usize),
    /// Two dimensions: rows and columns.
    Matrix(usize, usize),
}

impl ArrayShape {
    /// Returns the number of dimensions: 1 or 2.
    #[must_use]
    pub fn dimensions(self) -> usize {
        match self {
            Self::Vector(_) => 1,
            Self::Matrix(..) => 2,
        }
    }

    /// Returns rows and columns; a vector is one row, as in NumPy's broadcasting.
    #[must_use]
    pub fn sides(self) -> (usize, usize) {
        match self {
            Self::Vector(length) => (1, length),
            Self::Matrix(rows, columns) => (rows, columns),
        }
    }

    /// Returns the number of elements, which `operation` wants to have.
    pub(crate) fn elements(self, operation: &'static str) -> Result<usize, ArrayError> {
        let (rows, columns) = self.sides();
        rows.checked_mul(columns).ok_or(ArrayError::TooLarge { operation, rows, columns })
    }

    /// Returns the shape to which arrays of these shapes are broadcast: of two sides, equal ones stay and a 1 becomes the
    /// other.
    pub(crate) fn broadcast(self, other: Self, operation: &'static str) -> Result<Self, ArrayError> {
        let side = |a: usize, b: usize| match (a, b) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(ArrayError::Broadcast { operation, left: self, right: other }),
        };
        let ((rows, columns), (other_rows, other_columns)) = (self.sides(), other.sides());
        let sides = (side(rows, other_rows)?, side(columns, other_columns)?);
        Ok(match (self, other) {
            (Self::Vector(_), Self::Vector(_)) => Self::Vector(sides.1),
            _ => Self::Matrix(sides.0, sides.1),
        })
    }

    /// Returns how far the next row and the next column of an array of this shape are when it is broadcast: 0 where it has
    /// one only.
    pub(crate) fn distances(self) -> (usize, usize) {
        let (rows, columns) = self.sides();
        (if rows == 1 { 0 } else { columns }, usize::from(columns != 1))
    }
}

impl From<usize> for ArrayShape {
    fn from(length: usize) -> Self {
        Self::Vector(length)
    }
}

impl From<(usize, usize)> for ArrayShape {
    fn from((rows, columns): (usize, usize)) -> Self {
        Self::Matrix(rows, columns)
    }
}

impl From<[usize; 1]> for ArrayShape {
    fn from([length]: [usize; 1]) -> Self {
        Self::Vector(length)
    }
}

impl From<[usize; 2]> for ArrayShape {
    fn from([rows, columns]: [usize; 2]) -> Self {
        Self::Matrix(rows, columns)
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector(length) => write!(f, "({length},)"),
            Self::Matrix(rows, columns) => write!(f, "({rows}, {columns})"),
        }
    }
}

impl fmt::Debug for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
