//! A table of draws of any origin: one row for each draw of each chain. Parquet and CSV give its columns.
//!
//! Which columns number chains and draws, which are the sampler's statistics, and which are no variables, is decided here.

use crate::conventions::labels_of;
use crate::json::labels_from_json;
use crate::stan::{in_type_of_statistic, name_in_stan, statistic_name, statistics};
use indexmap::IndexMap;
use octopus_trace::{Array, Dataset, Values, statistic_named};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// The columns that number chains and draws: ours, ArviZ's and PyStan's; R's; CmdStanPy's; and those of many a table made
/// by hand.
const INDICES: [(&str, &str); 4] =
    [("chain", "draw"), (".chain", ".iteration"), ("chain__", "iter__"), ("chain", "iteration")];
/// What is no variable: R's and CmdStanPy's count of the draws of all chains, our coordinates of the sampler, whose axes
/// have no names, and the row numbers that pandas and R write into CSV.
const LEFT_OUT: [&str; 5] = [".draw", "draw__", "unconstrained", "", "Unnamed: 0"];
/// The column of PyStan 2 that says which draws are of warm-up.
const WARMUP: &str = "warmup";
/// What our own CSV tables put before a statistic's name that a parameter has, too.
pub(crate) const OF_STATISTICS: &str = "sample_stats.";

/// A column: its values and how many each row has, if it is one of lists.
pub(crate) type DrawColumn = (Values, Option<usize>);

/// Returns the columns that number chains and draws, where a table of these columns has them.
pub(crate) fn index_columns(names: &[String]) -> Option<(&'static str, &'static str)> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    INDICES.into_iter().find(|(chain, draw)| has(chain) && has(draw))
}

/// A table of draws as it lies in one file, or in several with the same columns.
#[derive(Default)]
pub(crate) struct DrawTable {
    /// What the file says of itself if a run folder's writer made it; null in files of other programs.
    pub metadata: Value,
    pub columns: IndexMap<String, DrawColumn>,
    pub rows: usize,
    /// The columns that pandas keeps its index in.
    pub index: Vec<String>,
    /// The columns whose values a trace cannot hold, with their types.
    pub left_out: IndexMap<String, String>,
}

impl DrawTable {
    /// Adds the columns that the names of folders give to all rows; what the file itself says counts.
    pub(crate) fn add_keys(&mut self, keys: &[(String, String)]) {
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
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let names = |table: &Self| {
            let mut names: Vec<String> = table.columns.keys().chain(table.left_out.keys()).cloned().collect();
            names.sort_unstable();
            names
        };
        self.metadata == other.metadata && names(self) == names(other)
    }

    /// Adds the rows of a table that is alike.
    pub(crate) fn append(&mut self, mut other: Self) -> Result<(), String> {
        self.rows += other.rows;
        self.left_out.append(&mut other.left_out);
        self.columns.retain(|name, _| !self.left_out.contains_key(name));
        for (name, column) in &mut self.columns {
            let more = other.columns.shift_remove(name).ok_or_else(|| format!("column {name} is absent"))?;
            append(column, more).map_err(|what| format!("column {name}: {what}"))?;
        }
        Ok(())
    }

    /// Returns the name of the sampler's statistic that a column is: under ArviZ's name or Stan's, which in a table of
    /// Stan ends with two underscores; or under its group's name, as our own tables have those that are no longer unique.
    fn statistic<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (_, width) = self.columns.get(name)?;
        if width.is_some() {
            return None;
        }
        if let Some(own) = name.strip_prefix(OF_STATISTICS).filter(|own| !own.is_empty()) {
            return Some(own);
        }
        let is_of_stan = || statistics().iter().any(|(theirs, _)| self.columns.contains_key(*theirs));
        if name.ends_with("__") && is_of_stan() {
            return Some(statistic_name(name));
        }
        (statistic_named(name).is_some() && !self.has_other_name_of(name)).then_some(name)
    }

    /// Returns whether the statistic `name` has a column that nobody takes for a parameter: then `name` is one.
    fn has_other_name_of(&self, name: &str) -> bool {
        name_in_stan(name).is_some_and(|theirs| self.columns.contains_key(theirs))
            || self.columns.contains_key(&format!("{OF_STATISTICS}{name}"))
    }

    /// Returns whether a column is no variable at all.
    fn is_left_out(&self, name: &str) -> bool {
        LEFT_OUT.contains(&name) || self.index.iter().any(|index| index == name)
    }

    /// Returns which rows are of warm-up, if a column of flags says so. A run folder's part says it in its metadata.
    fn warmup_rows(&self) -> Option<Vec<bool>> {
        let (values, None) = self.columns.get(WARMUP)? else { return None };
        let is_flag = |value: &f64| *value == 0.0 || *value == 1.0;
        let flags = values.to_f64();
        (self.metadata.is_null() && flags.iter().all(is_flag)).then(|| flags.iter().map(|flag| *flag != 0.0).collect())
    }

    /// Returns what there is to say of the columns that are no variables of numbers, or are taken for something else than
    /// parameters.
    pub(crate) fn notes(&self, file: &Path) -> Vec<String> {
        let file = file.display();
        let left_out = self.left_out.iter().filter(|(name, _)| !self.is_left_out(name));
        let left_out = left_out
            .map(|(name, kind)| format!("{file}: column {name} is left out: it holds no numbers (its type is {kind})"));
        let words = self.columns.iter().filter(|(name, (values, _))| !values.is_numeric() && !self.is_left_out(name));
        let words = words.map(|(name, _)| format!("{file}: column {name} holds text: it is kept, but is no parameter"));
        let warmup = self.warmup_rows().map_or(0, |rows| rows.iter().filter(|&&is_warmup| is_warmup).count());
        let warmup = (warmup > 0).then(|| {
            format!("{file}: column {WARMUP} marks {warmup} of {} rows: they are of warm-up, and no draws", self.rows)
        });
        left_out.chain(words).chain(warmup).chain(self.note_of_statistics(&file.to_string())).collect()
    }

    /// Returns the note on columns that are statistics by nothing but a name that a parameter may have, too.
    fn note_of_statistics(&self, file: &str) -> Option<String> {
        let is_taken = |name: &&str| self.statistic(name) == Some(*name);
        let taken: Vec<&str> = self.columns.keys().map(String::as_str).filter(is_taken).collect();
        let (columns, are, rename) = match taken.len() {
            1 => ("column", "is taken for a statistic", "it if it is a parameter"),
            _ => ("columns", "are taken for statistics", "those that are parameters"),
        };
        // What we wrote ourselves is what it says.
        (self.metadata.is_null() && !taken.is_empty())
            .then(|| format!("{file}: {columns} {} {are} of the sampler, by name: rename {rename}", taken.join(", ")))
    }

    /// Returns the groups in a table.
    ///
    /// # Errors
    /// When no columns number chains and draws, or a chain does not have every draw once; a sentence names the column.
    pub(crate) fn groups(mut self) -> Result<Vec<(String, Dataset)>, String> {
        let names: Vec<String> = self.columns.keys().chain(self.left_out.keys()).cloned().collect();
        let index = index_columns(&names).ok_or_else(|| {
            let shown: Vec<&str> = names.iter().map(String::as_str).take(10).collect();
            format!("it is no trace: it has no columns `chain` and `draw`, but {}", shown.join(", "))
        })?;
        let is_warmup = self.metadata["phase"] == "warmup";
        let Some(of_warmup) = self.warmup_rows() else { return self.groups_of_phase(index, is_warmup) };
        self.columns.shift_remove(WARMUP);
        let rows = |wanted: bool| -> Vec<usize> { (0..self.rows).filter(|&row| of_warmup[row] == wanted).collect() };
        let (draws, warmup) = (rows(false), rows(true));
        if warmup.is_empty() {
            return self.groups_of_phase(index, false);
        }
        let mut groups = self.with_rows(&warmup).groups_of_phase(index, true)?;
        if !draws.is_empty() {
            groups.extend(self.with_rows(&draws).groups_of_phase(index, false)?);
        }
        Ok(groups)
    }

    /// Returns the table with these of its rows alone.
    fn with_rows(&self, rows: &[usize]) -> Self {
        let column = |(name, (values, width)): (&String, &DrawColumn)| {
            let len = width.unwrap_or(1);
            let places: Vec<usize> = rows.iter().flat_map(|row| row * len..(row + 1) * len).collect();
            (name.clone(), (values.gather(&places), *width))
        };
        Self {
            metadata: self.metadata.clone(),
            columns: self.columns.iter().map(column).collect(),
            rows: rows.len(),
            index: self.index.clone(),
            left_out: self.left_out.clone(),
        }
    }

    /// Returns the groups of a table whose rows are all of one phase.
    fn groups_of_phase(
        mut self,
        (chain, draw): (&str, &str),
        is_warmup: bool,
    ) -> Result<Vec<(String, Dataset)>, String> {
        let mut numbers = |name: &str| {
            whole_numbers(self.columns.shift_remove(name)).map_err(|what| format!("column {name}: {what}"))
        };
        let (chains, draws) = (IndexAxis::of(numbers(chain)?), IndexAxis::of(numbers(draw)?));
        let places = places(&chains, &draws, self.rows)?;
        let none = Map::new();
        let variables = self.metadata["variables"].as_object().unwrap_or(&none);
        let mut labels = labels_from_json(self.metadata["coords"].as_object().unwrap_or(&none))?;
        labels.insert("chain".into(), labels_of(Values::I64(chains.labels.clone())));
        labels.insert("draw".into(), labels_of(Values::I64(draws.labels.clone())));
        let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
        let of_the_sampler: HashMap<String, String> =
            self.columns.keys().filter_map(|name| Some((name.clone(), self.statistic(name)?.to_owned()))).collect();
        // Each column is dropped when it is in its place: there is not room for all of them twice.
        for (name, (values, width)) in std::mem::take(&mut self.columns) {
            if self.is_left_out(&name) {
                continue;
            }
            let statistic = of_the_sampler.get(&name);
            let values = match statistic {
                Some(own) if *own != name && values.is_numeric() => in_type_of_statistic(own, values.to_f64()),
                _ => values,
            };
            let mut array = Array::new(
                [("chain", chains.labels.len()), ("draw", draws.labels.len())],
                scattered(values, width.unwrap_or(1), &places).map_err(|what| format!("column {name}: {what}"))?,
            );
            if let Some(width) = width {
                let (dims, shape) = axes(&name, width, &variables.get(&name).cloned().unwrap_or_default());
                array.dims.extend(dims);
                array.shape.extend(shape);
            }
            let group = if statistic.is_some() { &mut stats } else { &mut posterior };
            for dim in &array.dims {
                if let Some(labels) = labels.get(dim) {
                    group.coords.insert(dim.clone(), labels.clone());
                }
            }
            group.variables.insert(statistic.cloned().unwrap_or(name), array);
        }
        let prefix = if is_warmup { "warmup_" } else { "" };
        let groups = [("posterior", posterior), ("sample_stats", stats)];
        let groups = groups.into_iter().filter(|(_, dataset)| !dataset.variables.is_empty());
        Ok(groups.map(|(name, dataset)| (format!("{prefix}{name}"), dataset)).collect())
    }
}

/// Returns the numbers of chains or draws, which some programs store as real numbers.
fn whole_numbers(column: Option<DrawColumn>) -> Result<Vec<i64>, String> {
    let expected = "it must hold whole numbers, none of them null";
    match column {
        Some((Values::I64(values), None)) => Ok(values),
        Some((Values::F64(values), None)) => match values.iter().find(|value| !is_whole(**value)) {
            Some(other) => Err(format!("{expected}, and has {other}")),
            None => Ok(values.into_iter().map(|value| value as i64).collect()),
        },
        _ => Err(expected.into()),
    }
}

/// Returns whether a real number is a whole one that no rounding has made.
pub(crate) fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 9.0e15
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
struct IndexAxis {
    labels: Vec<i64>,
    rows: Vec<usize>,
}

impl IndexAxis {
    fn of(values: Vec<i64>) -> Self {
        let mut labels = values.clone();
        labels.sort_unstable();
        labels.dedup();
        let at: HashMap<i64, usize> = labels.iter().enumerate().map(|(at, &label)| (label, at)).collect();
        Self { rows: values.iter().map(|value| at[value]).collect(), labels }
    }
}

/// Returns the place of each row in chain-major order. Every place must be filled exactly once.
fn places(chains: &IndexAxis, draws: &IndexAxis, rows: usize) -> Result<Vec<usize>, String> {
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

/// Puts the values of a later batch after those of an earlier one.
pub(crate) fn append((target, width): &mut DrawColumn, (more, more_width): DrawColumn) -> Result<(), String> {
    if *width != more_width {
        return Err("its lists are not all of one length".into());
    }
    match (target, more) {
        (Values::F64(target), Values::F64(more)) => target.extend(more),
        (Values::I64(target), Values::I64(more)) => target.extend(more),
        (Values::Bool(target), Values::Bool(more)) => target.extend(more),
        (Values::Strings(target), Values::Strings(more)) => target.extend(more),
        // One part had a null among its integers.
        (target, more) if target.is_numeric() && more.is_numeric() => {
            let mut all = target.to_f64();
            all.extend(more.to_f64());
            *target = Values::F64(all);
        }
        _ => return Err("its parts have different types".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_batches_come_after_earlier_ones() {
        let (words, reals) = (|word: &str| Values::Strings(vec![word.into()]), |value| Values::F64(vec![value]));
        let joined = |target: Values, more: Values| {
            let mut column = (target, None);
            append(&mut column, (more, None)).map(|()| column.0)
        };
        assert_eq!(joined(Values::I64(vec![1]), Values::I64(vec![2])), Ok(Values::I64(vec![1, 2])));
        assert_eq!(joined(reals(1.5), reals(2.5)), Ok(Values::F64(vec![1.5, 2.5])));
        assert_eq!(joined(Values::I64(vec![1]), reals(0.5)), Ok(Values::F64(vec![1.0, 0.5])));
        assert_eq!(joined(words("a"), words("b")), Ok(Values::Strings(vec!["a".into(), "b".into()])));
        let flags = (Values::Bool(vec![true]), Values::Bool(vec![false]));
        assert_eq!(joined(flags.0, flags.1), Ok(Values::Bool(vec![true, false])));
        assert!(joined(words("a"), reals(1.0)).is_err() && joined(reals(1.0), words("a")).is_err());
        let mut lists = (reals(1.0), Some(1));
        assert_eq!(append(&mut lists, (reals(2.0), Some(1))), Ok(()));
        assert_eq!(lists, (Values::F64(vec![1.0, 2.0]), Some(1)));
        for width in [None, Some(2)] {
            assert!(append(&mut lists, (reals(2.0), width)).unwrap_err().contains("one length"));
        }
    }

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

    fn table(columns: &[(&str, &[i64])]) -> DrawTable {
        let column = |&(name, values): &(&str, &[i64])| (name.to_owned(), (Values::I64(values.to_vec()), None));
        DrawTable { columns: columns.iter().map(column).collect(), rows: columns[0].1.len(), ..DrawTable::default() }
    }

    #[test]
    fn a_table_that_is_no_trace_tells_ten_of_its_columns() {
        let names: Vec<String> = (0..12).map(|at| format!("c{at}")).collect();
        let columns: Vec<(&str, &[i64])> = names.iter().map(|name| (name.as_str(), &[1][..])).collect();
        let told = table(&columns).groups().unwrap_err();
        assert!(told.ends_with("but c0, c1, c2, c3, c4, c5, c6, c7, c8, c9"), "{told}");
    }

    /// A column tells it, or the metadata of a part of a run; an index is no variable of either.
    #[test]
    fn warm_up_has_groups_of_its_own() {
        let own: [(&str, &[i64]); 4] =
            [("chain", &[0, 0, 0]), ("draw", &[0, 1, 2]), ("mu", &[7, 8, 9]), ("index", &[3, 4, 5])];
        let names = |table: DrawTable| -> Vec<String> {
            let groups = table.groups().unwrap().into_iter();
            groups.map(|(name, data)| format!("{name} {:?}", data.variables.keys().collect::<Vec<_>>())).collect()
        };
        let indexed = |columns: &[(&str, &[i64])], metadata: Value| DrawTable {
            index: vec!["index".to_owned()],
            metadata,
            ..table(columns)
        };
        let with_flags = [&own[..], &[("warmup", &[1, 0, 0])]].concat();
        let both = ["warmup_posterior [\"mu\"]", "posterior [\"mu\"]"];
        assert_eq!(names(indexed(&with_flags, Value::Null)), both);
        assert_eq!(names(indexed(&own, json!({ "phase": "warmup" }))), both[..1]);
        assert_eq!(names(indexed(&own, json!({ "phase": "draws" }))), both[1..]);
    }

    #[test]
    fn every_draw_is_there_once() {
        let twice = table(&[("chain", &[0, 0, 1, 1]), ("draw", &[5, 5, 6, 6]), ("mu", &[1, 2, 3, 4])]);
        assert_eq!(twice.groups().unwrap_err(), "draw 5 of chain 0 is there twice");
        let lists = Values::F64(vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(scattered(lists, 2, &[1, 0]), Ok(Values::F64(vec![3.0, 4.0, 1.0, 2.0])));
        assert_eq!(scattered(Values::F64(vec![]), 0, &[1, 0]), Ok(Values::F64(vec![])));
    }
}
