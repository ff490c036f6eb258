//! What the numbers of a draw mean: names, dimensions, labels and transforms, declared once by the
//! density and used by traces, plots, diagnostics and reports.

use serde::{Deserialize, Serialize};

/// The labels along one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// `0, 1, ..., n - 1`.
    Range(usize),
    /// Integers of the user's own.
    Integers(Vec<i64>),
    /// Words of the user's own.
    Strings(Vec<String>),
}

impl Labels {
    /// The number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::Range(n) => *n,
            Self::Integers(labels) => labels.len(),
            Self::Strings(labels) => labels.len(),
        }
    }

    /// Whether there is no label at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label at `index` as it is shown to people.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn show(&self, index: usize) -> String {
        assert!(index < self.len(), "label {index} of {}", self.len());
        match self {
            Self::Range(_) => index.to_string(),
            Self::Integers(labels) => labels[index].to_string(),
            Self::Strings(labels) => labels[index].clone(),
        }
    }
}

/// A named axis with its labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dim {
    /// The axis' name, e.g. `group`.
    pub name: String,
    /// Its labels, one for each index.
    pub labels: Labels,
}

/// How an unconstrained coordinate becomes a variable of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The variable is the coordinate.
    Identity,
    /// The variable is `exp(coordinate)`: positive.
    Exp,
}

/// Where a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sampled: it occupies unconstrained coordinates from `offset` on, through `transform`.
    Parameter {
        /// Its first coordinate in the unconstrained vector.
        offset: usize,
        /// From the coordinate to the variable.
        transform: Transform,
    },
    /// Computed from the parameters.
    Derived,
}

/// One variable of the model: a scalar, or an array over [`Dim`]s (row-major).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The variable's name, e.g. `mu_pop`.
    pub name: String,
    /// Its axes; none for a scalar.
    pub dims: Vec<Dim>,
    /// Sampled or derived.
    pub role: Role,
}

impl Variable {
    /// The number of values in one draw.
    pub fn len(&self) -> usize {
        self.dims.iter().map(|dim| dim.labels.len()).product()
    }

    /// Whether a draw holds no value of this variable.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the `index`-th value (row-major), e.g. `mu_group[berlin]`; the plain name for a scalar.
    ///
    /// # Panics
    /// When `index` is not below [`len`](Self::len).
    pub fn element_name(&self, index: usize) -> String {
        assert!(index < self.len(), "value {index} of {}", self.len());
        if self.dims.is_empty() {
            return self.name.clone();
        }
        let mut rest = index;
        let mut labels = vec![String::new(); self.dims.len()];
        for (dim, label) in self.dims.iter().zip(&mut labels).rev() {
            *label = dim.labels.show(rest % dim.labels.len());
            rest /= dim.labels.len();
        }
        format!("{}[{}]", self.name, labels.join(", "))
    }
}

/// The variables of a model, in the order in which its density writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Parameters and derived variables.
    pub variables: Vec<Variable>,
}

impl Layout {
    /// The number of values in one expanded draw.
    pub fn width(&self) -> usize {
        self.variables.iter().map(Variable::len).sum()
    }

    /// The variables with the range that each one occupies in an expanded draw.
    pub fn ranges(&self) -> impl Iterator<Item = (&Variable, std::ops::Range<usize>)> {
        self.variables.iter().scan(0, |offset, variable| {
            let start = *offset;
            *offset += variable.len();
            Some((variable, start..*offset))
        })
    }
}
