//! The meaning of the numbers of a draw: names, dimensions, labels and transforms. The density declares them once;
//! traces, plots, diagnostics and reports use them.

use crate::{Labels, shown};
use serde::{Deserialize, Serialize};

/// A named axis with its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dim {
    /// The axis' name, e.g. `group`.
    pub name: String,
    /// The axis' labels, one for each index.
    pub labels: Labels,
}

/// The map from an unconstrained coordinate to a variable of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The variable is the coordinate.
    Identity,
    /// The variable is `exp(coordinate)`: positive.
    Exp,
}

/// The origin of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The variable is sampled: it occupies unconstrained coordinates from `offset` on, through `transform`.
    Parameter {
        /// The variable's first coordinate in the unconstrained vector.
        offset: usize,
        /// The map from the coordinate to the variable.
        transform: Transform,
    },
    /// The variable is computed from the parameters.
    Derived,
}

/// One variable of the model: a scalar, or an array over [`Dim`]s (row-major).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The variable's name, e.g. `mu_pop`.
    pub name: String,
    /// The variable's axes; none for a scalar.
    pub dims: Vec<Dim>,
    /// Whether the variable is sampled or derived.
    pub role: Role,
}

impl Variable {
    /// Returns the number of values in one draw.
    pub fn len(&self) -> usize {
        self.dims.iter().map(|dim| dim.labels.len()).product()
    }

    /// Returns whether the variable has no value in a draw.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the `index`-th value (row-major) as it is shown to people (see [`shown`]), e.g.
    /// `mu_group[berlin]`; the plain name for a scalar.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn element_name(&self, index: usize) -> String {
        assert!(index < self.len(), "value {index} of {}", self.len());
        if self.dims.is_empty() {
            return shown(&self.name).into_owned();
        }
        let mut rest = index;
        let mut labels = vec![String::new(); self.dims.len()];
        for (dim, label) in self.dims.iter().zip(&mut labels).rev() {
            *label = dim.labels.show(rest % dim.labels.len());
            rest /= dim.labels.len();
        }
        format!("{}[{}]", shown(&self.name), labels.join(", "))
    }
}

/// The variables of a model, in the order in which its density writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Parameters and derived variables.
    pub variables: Vec<Variable>,
}

impl Layout {
    /// Returns the number of values in one expanded draw.
    pub fn width(&self) -> usize {
        self.variables.iter().map(Variable::len).sum()
    }

    /// Returns the variables with the range that each one occupies in an expanded draw.
    pub fn ranges(&self) -> impl Iterator<Item = (&Variable, std::ops::Range<usize>)> {
        self.variables.iter().scan(0, |offset, variable| {
            let start = *offset;
            *offset += variable.len();
            Some((variable, start..*offset))
        })
    }
}
