//! The data of a program as they come from outside: numbers with names, types and shapes, not yet checked.

mod json;
mod rdump;

use crate::error::BindError;
use std::collections::BTreeMap;
use std::path::Path;

/// DataNumbers of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum DataNumbers {
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Reals.
    Reals(Vec<f64>),
}

impl DataNumbers {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One variable's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DataValue {
    /// Its sizes, none for a scalar.
    pub shape: Vec<usize>,
    /// As many as the product of the sizes, the last index fastest.
    pub numbers: DataNumbers,
}

/// Named data of a program.
///
/// ```
/// use octopus_bind::Data;
///
/// let data = Data::json("coin.json", r#"{"N": 3, "y": [1, 0, 1]}"#)?;
/// assert_eq!(data.get("y").map(|y| y.shape.clone()), Some(vec![3]));
/// # Ok::<(), octopus_bind::BindError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Data {
    source: String,
    values: BTreeMap<String, DataValue>,
    /// The sources of values that are from elsewhere.
    others: BTreeMap<String, String>,
}

impl Data {
    /// Returns no data; `source` stands in messages.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), ..Self::default() }
    }

    /// Whether a file's name is one of Stan's JSON or of R's dump: it ends in `.json`, `.R` or `.Rdump`.
    pub fn is_file_name(path: &Path) -> bool {
        has_ending(path, &["json", "r", "rdump"])
    }

    /// Reads Stan's JSON, or R's dump where the file's name ends in `.R` or `.Rdump`.
    ///
    /// # Errors
    /// [`BindError::Unreadable`] or [`BindError::Format`], with the place.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, BindError> {
        let path = path.as_ref();
        let (name, text) = text_of(path)?;
        if has_ending(path, &["r", "rdump"]) { Self::r_dump(&name, &text) } else { Self::json(&name, &text) }
    }

    /// Reads Stan's JSON from a text.
    ///
    /// # Errors
    /// [`BindError::Format`], with the place.
    pub fn json(source: &str, text: &str) -> Result<Self, BindError> {
        Ok(Self { source: source.to_owned(), values: json::read(source, text)?, ..Self::default() })
    }

    /// Reads R's dump from a text: `N <- 3`, `y <- c(1, 2)`, `structure(c(...), .Dim = c(2, 3))`.
    ///
    /// # Errors
    /// [`BindError::Format`], with the place.
    pub fn r_dump(source: &str, text: &str) -> Result<Self, BindError> {
        Ok(Self { source: source.to_owned(), values: rdump::read(source, text)?, ..Self::default() })
    }

    /// Reads a file of one or more sets of values: Stan's JSON as an object or a list of objects, or R's dump.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_sets(path: impl AsRef<Path>) -> Result<Vec<Self>, BindError> {
        let path = path.as_ref();
        if has_ending(path, &["r", "rdump"]) {
            return Ok(vec![Self::read(path)?]);
        }
        let (name, text) = text_of(path)?;
        let sets = json::read_sets(&name, &text)?;
        let source = |k: usize| if sets.len() == 1 { name.clone() } else { format!("{name} (object {})", k + 1) };
        let sources: Vec<String> = (0..sets.len()).map(source).collect();
        let all = sources.into_iter().zip(sets);
        Ok(all.map(|(source, values)| Self { source, values, ..Self::default() }).collect())
    }

    /// Adds a whole number, or takes the place of an older value.
    #[must_use]
    pub fn with_int(self, name: &str, value: i64) -> Self {
        self.with(name, DataValue { shape: Vec::new(), numbers: DataNumbers::Ints(vec![value]) })
    }

    /// Adds a real number, or takes the place of an older value.
    #[must_use]
    pub fn with_real(self, name: &str, value: f64) -> Self {
        self.with(name, DataValue { shape: Vec::new(), numbers: DataNumbers::Reals(vec![value]) })
    }

    /// Adds whole numbers, or takes the place of an older value.
    #[must_use]
    pub fn with_ints(self, name: &str, values: &[i64]) -> Self {
        self.with(name, DataValue { shape: vec![values.len()], numbers: DataNumbers::Ints(values.to_vec()) })
    }

    /// Adds reals, or takes the place of an older value.
    #[must_use]
    pub fn with_reals(self, name: &str, values: &[f64]) -> Self {
        self.with(name, DataValue { shape: vec![values.len()], numbers: DataNumbers::Reals(values.to_vec()) })
    }

    /// Adds a value of any shape, or takes the place of an older one.
    #[must_use]
    pub fn with(mut self, name: &str, value: DataValue) -> Self {
        self.others.remove(name);
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Adds other data, whose values take the place of older ones and keep their source in messages.
    #[must_use]
    pub fn overlaid(mut self, over: Self) -> Self {
        let Self { source, values, others } = over;
        for (name, value) in values {
            let from = others.get(&name).unwrap_or(&source).clone();
            self.others.insert(name.clone(), from);
            self.values.insert(name, value);
        }
        self
    }

    /// Returns the value of this name.
    pub fn get(&self, name: &str) -> Option<&DataValue> {
        self.values.get(name)
    }

    /// Returns where the data are from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns where the value of this name is from.
    pub fn source_of(&self, name: &str) -> &str {
        self.others.get(name).unwrap_or(&self.source)
    }

    /// Returns the names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// A file's name as messages show it, and its text.
fn text_of(path: &Path) -> Result<(String, String), BindError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| BindError::Unreadable { path: name.clone(), reason: error.to_string() })?;
    // Editors of Windows put a mark before the text.
    Ok((name, text.trim_start_matches('\u{feff}').to_owned()))
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|found| endings.iter().any(|ending| found.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_laid_over_others_keep_their_source() {
        let file = Data::new("y.json").with_int("N", 3).with_real("a", 1.0);
        let data = file.overlaid(Data::new("--set").with_int("N", 4).with_int("K", 2));
        assert_eq!(data.get("N").map(|value| value.numbers.clone()), Some(DataNumbers::Ints(vec![4])));
        assert_eq!(["N", "K", "a", "none"].map(|name| data.source_of(name)), ["--set", "--set", "y.json", "y.json"]);
        assert_eq!(data.with_int("N", 5).source_of("N"), "y.json");
    }

    #[test]
    fn files_are_known_by_their_endings() {
        let is = |name: &str| Data::is_file_name(Path::new(name));
        assert!(["a.json", "a.data.R", "a.r", "b/a.JSON", "a.Rdump"].into_iter().all(is));
        assert!(!["a.csv", "json", "a.json.csv", "a.parquet", ".json"].into_iter().any(is));
    }
}
