//! Named groups of arrays with dimensions, coordinates and attributes, as in ArviZ's InferenceData.

use crate::statistics::{DrawStatistic, statistic_named};
use crate::{Labels, shown};
use indexmap::IndexMap;

/// The values of an array, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Real numbers.
    F64(Vec<f64>),
    /// Counts and indices.
    I64(Vec<i64>),
    /// Flags.
    Bool(Vec<bool>),
    /// Words: only in data that others wrote; no sampler draws them.
    Strings(Vec<String>),
}

impl Values {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Strings(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all values as real numbers (flags as 0 and 1, words as NaN).
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F64(values) => values.clone(),
            Self::I64(values) => values.iter().map(|&v| v as f64).collect(),
            Self::Bool(values) => values.iter().map(|&v| f64::from(u8::from(v))).collect(),
            Self::Strings(values) => vec![f64::NAN; values.len()],
        }
    }

    /// Returns the values of an array of the shape `shape` in the order of the array whose axis `i` is its axis
    /// `order[i]`.
    ///
    /// # Panics
    /// When `order` does not hold each axis once, or the shape has not as many values.
    pub fn transposed(&self, shape: &[usize], order: &[usize]) -> Self {
        match self {
            Self::F64(values) => Self::F64(transposed(values, shape, order)),
            Self::I64(values) => Self::I64(transposed(values, shape, order)),
            Self::Bool(values) => Self::Bool(transposed(values, shape, order)),
            Self::Strings(values) => Self::Strings(transposed(values, shape, order)),
        }
    }

    /// Returns the values at these places, in their order.
    ///
    /// # Panics
    /// When a place is not below [`len`](Self::len).
    pub fn gather(&self, places: &[usize]) -> Self {
        fn gather<T: Clone>(values: &[T], places: &[usize]) -> Vec<T> {
            places.iter().map(|&place| values[place].clone()).collect()
        }
        match self {
            Self::F64(values) => Self::F64(gather(values, places)),
            Self::I64(values) => Self::I64(gather(values, places)),
            Self::Bool(values) => Self::Bool(gather(values, places)),
            Self::Strings(values) => Self::Strings(gather(values, places)),
        }
    }

    /// Returns whether the values are numbers or flags.
    pub fn is_numeric(&self) -> bool {
        !matches!(self, Self::Strings(_))
    }
}

/// Returns [`Values::transposed`] of values of one type.
fn transposed<T: Clone>(values: &[T], shape: &[usize], order: &[usize]) -> Vec<T> {
    /// Rows and values of a row that are copied at once: the memory on both sides of so many squared fits a core's own.
    const BLOCK: usize = 64;
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let (Some((&last, before)), Some(any)) = (order.split_last(), values.first()) else { return values.to_vec() };
    // Where the rows of the result begin.
    let mut starts = vec![0];
    for &axis in before {
        let (len, stride) = (shape[axis], strides[axis]);
        starts = starts.iter().flat_map(|start| (0..len).map(move |at| start + at * stride)).collect();
    }
    let (row, stride) = (shape[last], strides[last]);
    let mut found = vec![any.clone(); values.len()];
    for (starts, rows) in starts.chunks(BLOCK).zip(found.chunks_mut(BLOCK * row)) {
        for begin in (0..row).step_by(BLOCK) {
            for at in begin..row.min(begin + BLOCK) {
                for (start, target) in starts.iter().zip(rows[at..].iter_mut().step_by(row)) {
                    target.clone_from(&values[start + at * stride]);
                }
            }
        }
    }
    found
}

/// An array: one name for each axis, row-major values.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The axes' names; for a sampled variable the first two are `chain` and `draw`.
    pub dims: Vec<String>,
    /// The axes' lengths.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Values,
}

impl Array {
    /// Makes an array over the named axes `(name, length)`.
    pub fn new<'a>(axes: impl IntoIterator<Item = (&'a str, usize)>, values: Values) -> Self {
        let (dims, shape) = axes.into_iter().map(|(name, len)| (name.to_owned(), len)).unzip();
        Self { dims, shape, values }
    }

    /// Returns the array with `chain` as its first axis and `draw` as the next, where it has them: axes go by their
    /// names, and other programs write them in any order.
    pub fn with_draws_first(self) -> Self {
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.sort_by_key(|&axis| match self.dims[axis].as_str() {
            "chain" => 0,
            "draw" => 1,
            _ => 2,
        });
        if order.is_sorted() {
            return self;
        }
        Self {
            dims: order.iter().map(|&axis| self.dims[axis].clone()).collect(),
            shape: order.iter().map(|&axis| self.shape[axis]).collect(),
            values: self.values.transposed(&self.shape, &order),
        }
    }

    /// Returns whether the first two axes are `chain` and `draw`.
    pub fn is_sampled(&self) -> bool {
        self.dims.len() >= 2 && self.dims[0] == "chain" && self.dims[1] == "draw"
    }

    /// Returns the number of chains; 0 when the array is not [sampled](Self::is_sampled).
    pub fn chains(&self) -> usize {
        if self.is_sampled() { self.shape[0] } else { 0 }
    }

    /// Returns the number of draws of each chain; 0 when the array is not [sampled](Self::is_sampled).
    pub fn draws(&self) -> usize {
        if self.is_sampled() { self.shape[1] } else { 0 }
    }

    /// Returns the number of values beyond the first `skip` axes; 1 for a scalar.
    pub fn elements(&self, skip: usize) -> usize {
        self.shape.iter().skip(skip).product()
    }
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
    /// Several of the above, of one kind.
    List(Vec<Attribute>),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Attribute {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

/// One group: variables that share dimensions and coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    /// Arrays by name.
    pub variables: IndexMap<String, Array>,
    /// Labels of each dimension by its name.
    pub coords: IndexMap<String, Labels>,
    /// Coordinates that label no dimension, by name: of the whole group, e.g. the number of a run, or along any
    /// dimensions, e.g. the state of each county.
    pub other_coords: IndexMap<String, Array>,
    /// Attributes by name.
    pub attrs: IndexMap<String, Attribute>,
    /// Attributes of variables and coordinates (`units`, `long_name`), by their names.
    pub variable_attrs: IndexMap<String, IndexMap<String, Attribute>>,
}

impl Dataset {
    /// Returns the variable `name`.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.variables.get(name)
    }

    /// Returns the statistic that ArviZ calls `name`, under that name or another sampler's, with the name that it has
    /// here.
    pub fn statistic(&self, name: &str) -> Option<(&str, &Array)> {
        let others = statistic_named(name).into_iter().flat_map(DrawStatistic::names_elsewhere);
        let here = |name: &str| self.variables.get_key_value(name).map(|(name, array)| (name.as_str(), array));
        here(name).or_else(|| others.into_iter().find_map(here))
    }

    /// Adds or replaces a variable; its axes `chain` and `draw` get the labels 0, 1, ... unless they
    /// have some.
    pub fn insert(&mut self, name: impl Into<String>, array: Array) {
        for (dim, &len) in array.dims.iter().zip(&array.shape) {
            if dim == "chain" || dim == "draw" {
                self.coords.entry(dim.clone()).or_insert(Labels::Range(len));
            }
        }
        self.variables.insert(name.into(), array);
    }

    /// Returns the name of the `index`-th element of variable `name` beyond its first `skip` axes, with its labels, as it
    /// is shown to people (see [`shown`]), e.g. `mu_group[berlin]`; the plain name of a scalar.
    pub fn element_name(&self, name: &str, skip: usize, index: usize) -> String {
        self.element(name, &shown(name), skip, index, Labels::show)
    }

    /// Returns the name of an element like [`element_name`](Self::element_name), whole, for data.
    pub fn element_text(&self, name: &str, skip: usize, index: usize) -> String {
        self.element(name, name, skip, index, Labels::text)
    }

    fn element(
        &self,
        name: &str,
        shown: &str,
        skip: usize,
        index: usize,
        label: fn(&Labels, usize) -> String,
    ) -> String {
        let array = self.variables.get(name).filter(|array| array.dims.len() > skip);
        let Some(array) = array else { return shown.to_owned() };
        let mut rest = index;
        let mut labels: Vec<String> = Vec::new();
        for (dim, &len) in array.dims.iter().zip(&array.shape).skip(skip).rev() {
            let at = rest % len.max(1);
            rest /= len.max(1);
            labels.push(match self.coords.get(dim) {
                Some(coord) if at < coord.len() => label(coord, at),
                _ => at.to_string(),
            });
        }
        labels.reverse();
        format!("{shown}[{}]", labels.join(", "))
    }

    /// Returns the length of each dimension, in order of first appearance in the variables, then of those that have
    /// only labels.
    ///
    /// # Errors
    /// When the lengths of a variable or dimension contradict each other; the error is a sentence that names it.
    pub fn dimensions(&self) -> Result<IndexMap<&str, usize>, String> {
        let mut sizes: IndexMap<&str, usize> = IndexMap::new();
        for (name, array) in self.variables.iter().chain(&self.other_coords) {
            if array.dims.len() != array.shape.len() {
                let (dims, lengths) = (array.dims.len(), array.shape.len());
                return Err(format!("variable {name} has {dims} dimension names for {lengths} lengths"));
            }
            let expected: usize = array.shape.iter().product();
            if array.values.len() != expected {
                let found = array.values.len();
                return Err(format!("variable {name} holds {found} values where its shape needs {expected}"));
            }
            for (dim, &len) in array.dims.iter().zip(&array.shape) {
                let known = *sizes.entry(dim).or_insert(len);
                if known != len {
                    return Err(format!("dimension {dim} has length {known}, but {len} in variable {name}"));
                }
            }
        }
        for (dim, labels) in &self.coords {
            let known = *sizes.entry(dim).or_insert(labels.len());
            if known != labels.len() {
                return Err(format!("dimension {dim} has length {known} but {} labels", labels.len()));
            }
        }
        Ok(sizes)
    }
}

/// Groups by their ArviZ names: `posterior`, `sample_stats`, `observed_data`, ...
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InferenceData {
    /// The groups, in order.
    pub groups: IndexMap<String, Dataset>,
    /// Attributes of the whole, by name. NetCDF and Zarr keep them.
    pub attrs: IndexMap<String, Attribute>,
    /// What a reader has to say of the files that it read, in sentences for the user: what it left out, what is not there
    /// that should be. No file keeps them.
    pub notes: Vec<String>,
}

impl InferenceData {
    /// Returns the group `name`.
    pub fn group(&self, name: &str) -> Option<&Dataset> {
        self.groups.get(name)
    }

    /// Returns the group `posterior`.
    pub fn posterior(&self) -> Option<&Dataset> {
        self.group("posterior")
    }

    /// Adds or replaces a group.
    pub fn insert(&mut self, name: impl Into<String>, dataset: Dataset) {
        self.groups.insert(name.into(), dataset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_names_use_labels_and_fall_back_on_indices() {
        let mut data = Dataset::default();
        data.insert("b", Array::new([("chain", 1), ("draw", 2), ("g", 2), ("k", 3)], Values::F64(vec![0.0; 12])));
        data.coords.insert("g".into(), Labels::Strings(vec!["x".into(), "y".into()]));
        assert_eq!(data.element_name("b", 2, 5), "b[y, 2]");
        assert_eq!(data.element_name("absent", 2, 5), "absent");
        assert_eq!(data.coords["draw"], Labels::Range(2));
    }

    #[test]
    fn names_of_elements_are_whole_in_data_and_harmless_to_people() {
        let mut data = Dataset::default();
        let name = format!("b\u{1b}{}", "x".repeat(5000));
        data.insert(&name, Array::new([("chain", 1), ("draw", 1), ("g", 1)], Values::F64(vec![0.0])));
        data.coords.insert("g".into(), Labels::Strings(vec!["y\u{9b}".repeat(5000)]));
        let shown = data.element_name(&name, 2, 0);
        assert!(shown.len() < 800 && shown.starts_with(r"b\u{1b}xxx") && shown.contains(r"[y\u{9b}y"), "{shown}");
        assert_eq!(data.element_text(&name, 2, 0), format!("{name}[{}]", "y\u{9b}".repeat(5000)));
    }

    #[test]
    fn chains_and_draws_come_first_wherever_they_are() {
        let values = |values: &[i64]| Values::I64(values.to_vec());
        // Value 100 chain + 10 draw + element, in every order of the axes.
        let expected = Array::new([("chain", 2), ("draw", 2), ("g", 2)], values(&[0, 1, 10, 11, 100, 101, 110, 111]));
        for (axes, stored) in [
            (["chain", "draw", "g"], [0, 1, 10, 11, 100, 101, 110, 111]),
            (["chain", "g", "draw"], [0, 10, 1, 11, 100, 110, 101, 111]),
            (["draw", "chain", "g"], [0, 1, 100, 101, 10, 11, 110, 111]),
            (["draw", "g", "chain"], [0, 100, 1, 101, 10, 110, 11, 111]),
            (["g", "chain", "draw"], [0, 10, 100, 110, 1, 11, 101, 111]),
            (["g", "draw", "chain"], [0, 100, 10, 110, 1, 101, 11, 111]),
        ] {
            assert_eq!(
                Array::new(axes.map(|axis| (axis, 2)), values(&stored)).with_draws_first(),
                expected,
                "{axes:?}"
            );
        }
        let other = Array::new([("b", 1), ("a", 2)], values(&[1, 2]));
        assert_eq!(other.clone().with_draws_first(), other);
        let six = values(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(six.transposed(&[2, 3], &[1, 0]), values(&[0, 3, 1, 4, 2, 5]));
        assert_eq!(six.transposed(&[1, 2, 3], &[1, 2, 0]), six);
        assert_eq!(six.transposed(&[1, 2, 3], &[2, 0, 1]), values(&[0, 3, 1, 4, 2, 5]));
        assert_eq!(values(&[]).transposed(&[2, 0], &[1, 0]), values(&[]));
        // More rows, and longer ones, than a block has.
        let shape = [3, 130, 70];
        let numbers: Vec<i64> = (0..3 * 130 * 70).collect();
        let Values::I64(turned) = values(&numbers).transposed(&shape, &[1, 2, 0]) else { panic!() };
        assert_eq!(turned.len(), numbers.len());
        for (at, &found) in turned.iter().enumerate() {
            let (row, column, block) = (at / 3 / 70, at / 3 % 70, at % 3);
            assert_eq!(found as usize, (block * 130 + row) * 70 + column);
        }
        let long: Vec<i64> = (0..200 * 150).collect();
        let Values::I64(turned) = values(&long).transposed(&[200, 150], &[1, 0]) else { panic!() };
        assert!(turned.iter().enumerate().all(|(at, &found)| found as usize == at % 200 * 150 + at / 200));
        assert_eq!(values(&[7]).transposed(&[], &[]), values(&[7]));
    }

    #[test]
    fn statistics_are_found_under_the_names_of_each_sampler() {
        let array = |value: f64| Array::new([("chain", 1), ("draw", 1)], Values::F64(vec![value]));
        for (arviz, name) in [
            ("diverging", "divergent__"),
            ("diverging", "divergent"),
            ("energy", "energy__"),
            ("tree_depth", "treedepth__"),
            ("tree_depth", "depth"),
            ("step_size", "stepsize__"),
            ("step_size", "step_size_bar"),
            ("n_steps", "n_leapfrog__"),
            ("n_steps", "num_steps"),
            ("reached_max_treedepth", "maxdepth_reached"),
        ] {
            let mut stats = Dataset::default();
            stats.insert(name, array(1.0));
            assert_eq!(stats.statistic(arviz), Some((name, &array(1.0))));
            // ArviZ's own name comes first.
            stats.insert(arviz, array(2.0));
            assert_eq!(stats.statistic(arviz), Some((arviz, &array(2.0))));
        }
        let mut stats = Dataset::default();
        stats.insert("lp", array(3.0));
        assert_eq!(stats.statistic("lp"), Some(("lp", &array(3.0))));
        assert_eq!(stats.statistic("energy"), None);
    }

    #[test]
    fn contradictions_are_named() {
        let mut data = Dataset::default();
        data.insert("a", Array::new([("chain", 2)], Values::F64(vec![0.0; 2])));
        assert_eq!(data.dimensions().unwrap()["chain"], 2);
        data.other_coords.insert("c".into(), Array::new([("chain", 3)], Values::I64(vec![0; 3])));
        assert!(data.dimensions().unwrap_err().contains("variable c"));
        data.other_coords.clear();
        data.insert("b", Array::new([("chain", 3)], Values::F64(vec![0.0; 3])));
        assert!(data.dimensions().unwrap_err().contains("variable b"));
        data.insert("b", Array::new([("chain", 2)], Values::F64(vec![0.0; 3])));
        assert!(data.dimensions().unwrap_err().contains("3 values"));
    }
}
