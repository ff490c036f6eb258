//! The data model: named groups of arrays with dimensions and coordinates, as ArviZ's InferenceData.

use indexmap::IndexMap;
use octopus_density::Labels;

/// The values of an array, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real numbers.
    F64(Vec<f64>),
    /// Counts and indices.
    I64(Vec<i64>),
    /// Flags.
    Bool(Vec<bool>),
}

impl Values {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values as real numbers (flags as 0 and 1).
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F64(values) => values.clone(),
            Self::I64(values) => values.iter().map(|&v| v as f64).collect(),
            Self::Bool(values) => values.iter().map(|&v| f64::from(u8::from(v))).collect(),
        }
    }
}

/// A named array: one name for each axis, row-major values.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The axes' names; of a sampled variable the first two are `chain` and `draw`.
    pub dims: Vec<String>,
    /// The axes' lengths.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Values,
}

/// An attribute of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A word or a text.
    Text(String),
    /// A real number.
    F64(f64),
    /// An integer.
    I64(i64),
}

/// One group: variables that share dimensions and coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    /// Arrays by name.
    pub variables: IndexMap<String, Array>,
    /// Labels of each dimension by its name.
    pub coords: IndexMap<String, Labels>,
    /// Attributes by name.
    pub attrs: IndexMap<String, Attribute>,
}

/// Groups by their ArviZ names: `posterior`, `sample_stats`, `observed_data`, ...
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InferenceData {
    /// The groups, in order.
    pub groups: IndexMap<String, Dataset>,
}

impl Dataset {
    /// The name of the `index`-th element of variable `name` beyond its first `skip` axes, with its
    /// labels, e.g. `mu_group[berlin]`; the plain name of a scalar.
    pub fn element_name(&self, name: &str, skip: usize, index: usize) -> String {
        let Some(array) = self.variables.get(name) else { return name.to_owned() };
        if array.dims.len() <= skip {
            return name.to_owned();
        }
        let mut rest = index;
        let mut labels: Vec<String> = Vec::new();
        for (dim, &len) in array.dims.iter().zip(&array.shape).skip(skip).rev() {
            let at = rest % len.max(1);
            rest /= len.max(1);
            labels.push(match self.coords.get(dim) {
                Some(coord) if at < coord.len() => coord.show(at),
                _ => at.to_string(),
            });
        }
        labels.reverse();
        format!("{name}[{}]", labels.join(", "))
    }
}
