//! Reads a table of draws of any origin: one row for each draw of each chain.

use super::read::{Column, coords};
use super::values::append;
use crate::conventions::labels_of;
use indexmap::IndexMap;
use octopus_trace::{Array, Dataset, SAMPLE_STATS, Values};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// The columns that number chains and draws: ours and ArviZ's, R's.
const INDICES: [(&str, &str); 2] = [("chain", "draw"), (".chain", ".iteration")];
/// R's count of the draws of all chains, and our coordinates of the sampler, whose axes have no names.
const LEFT_OUT: [&str; 2] = [".draw", "unconstrained"];

/// A table of draws as it lies in one file, or in several with the same columns.
#[derive(Default)]
pub(super) struct DrawTable {
    /// That of a run folder's part; null of another program's.
    pub metadata: Value,
    pub columns: IndexMap<String, Column>,
    pub rows: usize,
    /// The columns that pandas keeps its index in.
    pub index: Vec<String>,
    /// The columns whose values a trace cannot hold, with their types.
    pub left_out: IndexMap<String, String>,
}

impl DrawTable {
    /// Adds the columns that the names of folders give to all rows; what the file itself says counts.
    pub(super) fn add_keys(&mut self, keys: &[(String, String)]) {
        for (name, value) in keys {
            let values = match (value.parse(), value.parse()) {
                (Ok(whole), _) => Values::I64(vec![whole; self.rows]),
                (_, Ok(real)) => Values::F64(vec![real; self.rows]),
                _ => Values::Strings(vec![value.clone(); self.rows]),
            };
            self.columns.entry(name.clone()).or_insert((values, None));
        }
    }

    /// Returns whether another table has the same columns: both are then parts of one.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let names = |table: &Self| {
            let mut names: Vec<String> = table.columns.keys().chain(table.left_out.keys()).cloned().collect();
            names.sort_unstable();
            names
        };
        self.metadata == other.metadata && names(self) == names(other)
    }

    /// Adds the rows of a table that is alike.
    pub(super) fn append(&mut self, mut other: Self) -> Result<(), String> {
        self.rows += other.rows;
        self.left_out.append(&mut other.left_out);
        self.columns.retain(|name, _| !self.left_out.contains_key(name));
        for (name, column) in &mut self.columns {
            let more = other.columns.shift_remove(name).ok_or_else(|| format!("column {name} is absent"))?;
            append(column, more).map_err(|what| format!("column {name}: {what}"))?;
        }
        Ok(())
    }

    /// Returns what there is to say of the columns that are no variables of numbers.
    pub(super) fn notes(&self, file: &Path) -> Vec<String> {
        let (file, is_index) = (file.display(), |name: &String| self.index.contains(name));
        let left_out = self.left_out.iter().filter(|(name, _)| !is_index(name));
        let left_out = left_out
            .map(|(name, kind)| format!("{file}: column {name} is left out: its type {kind} is none of numbers"));
        let words = self.columns.iter().filter(|(name, (values, _))| !values.is_numeric() && !is_index(name));
        let words = words
            .map(|(name, _)| format!("{file}: column {name} is kept as text, and is no parameter: it holds words"));
        left_out.chain(words).collect()
    }
}

/// Returns the groups in a table.
pub(super) fn groups(table: DrawTable) -> Result<Vec<(String, Dataset)>, String> {
    let DrawTable { metadata, mut columns, rows, index, left_out } = table;
    let has = |name: &str| columns.contains_key(name) || left_out.contains_key(name);
    let found = INDICES.iter().find(|(chain, draw)| has(chain) && has(draw));
    let (chain, draw) = found.ok_or_else(|| {
        let names: Vec<&str> = columns.keys().map(String::as_str).take(10).collect();
        format!("it is no trace: it has no columns `chain` and `draw`, but {}", names.join(", "))
    })?;
    let mut numbers = |name: &str| match columns.shift_remove(name) {
        Some((Values::I64(values), None)) => Ok(values),
        _ => Err(format!("column {name}: it must hold whole numbers, none of them null")),
    };
    let (chains, draws) = (Axis::of(numbers(chain)?), Axis::of(numbers(draw)?));
    let places = places(&chains, &draws, rows)?;
    let none = Map::new();
    let variables = metadata["variables"].as_object().unwrap_or(&none);
    let mut labels = coords(metadata["coords"].as_object().unwrap_or(&none))?;
    labels.insert("chain".into(), labels_of(Values::I64(chains.labels.clone())));
    labels.insert("draw".into(), labels_of(Values::I64(draws.labels.clone())));
    let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
    columns.retain(|name, _| !LEFT_OUT.contains(&name.as_str()) && !index.contains(name));
    for (name, (values, width)) in columns {
        let mut array = Array::new(
            [("chain", chains.labels.len()), ("draw", draws.labels.len())],
            scattered(values, width.unwrap_or(1), &places).map_err(|what| format!("column {name}: {what}"))?,
        );
        if let Some(width) = width {
            let (dims, shape) = axes(&name, width, &variables.get(&name).cloned().unwrap_or_default());
            array.dims.extend(dims);
            array.shape.extend(shape);
        }
        let group = if width.is_none() && SAMPLE_STATS.contains(&name.as_str()) { &mut stats } else { &mut posterior };
        for dim in &array.dims {
            if let Some(labels) = labels.get(dim) {
                group.coords.insert(dim.clone(), labels.clone());
            }
        }
        group.variables.insert(name, array);
    }
    let prefix = if metadata["phase"] == "warmup" { "warmup_" } else { "" };
    let groups = [("posterior", posterior), ("sample_stats", stats)];
    let groups = groups.into_iter().filter(|(_, dataset)| !dataset.variables.is_empty());
    Ok(groups.map(|(name, dataset)| (format!("{prefix}{name}"), dataset)).collect())
}

/// Returns the names and lengths of the axes of a list: what the metadata say, if they fit.
fn axes(name: &str, width: usize, described: &Value) -> (Vec<String>, Vec<usize>) {
    let dims: Option<Vec<String>> = serde_json::from_value(described["dims"].clone()).ok();
    let shape: Option<Vec<usize>> = serde_json::from_value(described["shape"].clone()).ok();
    match (dims, shape) {
        (Some(dims), Some(shape))
            if dims.len() == shape.len()
                && shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len)) == Some(width) =>
        {
            (dims, shape)
        }
        _ => (vec![format!("{name}_dim_0")], vec![width]),
    }
}

/// The numbers of the chains or draws, and which of them each row has.
struct Axis {
    labels: Vec<i64>,
    rows: Vec<usize>,
}

impl Axis {
    fn of(values: Vec<i64>) -> Self {
        let mut labels = values.clone();
        labels.sort_unstable();
        labels.dedup();
        let at: HashMap<i64, usize> = labels.iter().enumerate().map(|(at, &label)| (label, at)).collect();
        Self { rows: values.iter().map(|value| at[value]).collect(), labels }
    }
}

/// Returns the place of each row in chain-major order. Every place must be filled exactly once.
fn places(chains: &Axis, draws: &Axis, rows: usize) -> Result<Vec<usize>, String> {
    let per_chain = draws.labels.len();
    if chains.labels.len().checked_mul(per_chain) != Some(rows) {
        let counts: Vec<usize> =
            (0..chains.labels.len()).map(|chain| chains.rows.iter().filter(|&&at| at == chain).count()).collect();
        return Err(format!(
            "it has {rows} rows for {} chains and {per_chain} numbers of draws: every chain needs every draw once (the chains have {counts:?})",
            chains.labels.len()
        ));
    }
    let mut filled = vec![false; rows];
    let mut places = Vec::with_capacity(rows);
    for (&chain, &draw) in chains.rows.iter().zip(&draws.rows) {
        let place = chain * per_chain + draw;
        if std::mem::replace(&mut filled[place], true) {
            return Err(format!("draw {} of chain {} is there twice", draws.labels[draw], chains.labels[chain]));
        }
        places.push(place);
    }
    Ok(places)
}

/// Returns the rows in their places.
fn scattered(values: Values, width: usize, places: &[usize]) -> Result<Values, String> {
    fn scatter<T: Clone + Default>(values: &[T], width: usize, places: &[usize]) -> Vec<T> {
        let mut out = vec![T::default(); values.len()];
        for (row, &place) in values.chunks_exact(width.max(1)).zip(places) {
            out[place * width..(place + 1) * width].clone_from_slice(row);
        }
        out
    }
    if values.len() != places.len() * width {
        return Err(format!("it has {} values for {} rows", values.len(), places.len()));
    }
    Ok(match values {
        Values::F64(values) => Values::F64(scatter(&values, width, places)),
        Values::I64(values) => Values::I64(scatter(&values, width, places)),
        Values::Bool(values) => Values::Bool(scatter(&values, width, places)),
        Values::Strings(values) => Values::Strings(scatter(&values, width, places)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn axes_are_those_of_the_metadata_where_they_fit() {
        let fits = json!({ "dims": ["a", "b"], "shape": [2, 3] });
        assert_eq!(axes("v", 6, &fits), (vec!["a".into(), "b".into()], vec![2, 3]));
        for described in [
            json!({ "dims": ["a", "b"], "shape": [2, 2] }),
            json!({ "dims": ["a"], "shape": [2, 3] }),
            json!({ "dims": ["a", "b"], "shape": [usize::MAX, 2] }),
            json!({ "dims": ["a", "b"] }),
            Value::Null,
        ] {
            assert_eq!(axes("v", 6, &described), (vec!["v_dim_0".into()], vec![6]), "{described}");
        }
    }
}
