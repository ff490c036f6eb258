//! InferenceData to CSV: one line for each draw, with its columns and the form of numbers.

use crate::FormatError;
use crate::draw_table::OF_STATISTICS;
use crate::export::export_file;
use csv::{Writer, WriterBuilder};
use indexmap::IndexSet;
use octopus_trace::{Array, Dataset, InferenceData, Labels, Values};
use std::io;
use std::path::Path;

/// Writes one line for each chain and draw: `chain`, `draw`, every element of every variable of `posterior`
/// (`mu_group[berlin]`), then the variables of `sample_stats`. Real numbers keep all their digits. A name that an earlier
/// column has is made another, and statistics that are not over the chains and draws of the posterior are left out; a
/// warning says so.
///
/// # Errors
/// When there is no `posterior`, a variable in it does not have the axes `chain` and `draw` of the others, `path`
/// exists and `overwrite` is false, or the file cannot be written.
pub fn write_csv(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    let invalid = |group: &str, what: String| FormatError::Invalid { group: group.to_owned(), what };
    let posterior = data.posterior().ok_or_else(|| invalid("posterior", "it is not in the trace".into()))?;
    let mut columns = Columns::default();
    posterior.dimensions().map_err(|what| invalid("posterior", what))?;
    if let Some(other) = columns.add_all(posterior, "").first() {
        return Err(invalid("posterior", format!("variable {other} has no place in a table of chains and draws")));
    }
    if let Some(stats) = data.group("sample_stats") {
        stats.dimensions().map_err(|what| invalid("sample_stats", what))?;
        let others = columns.add_all(stats, OF_STATISTICS);
        if !others.is_empty() {
            tracing::warn!("sample_stats: left out, as not over the table's chains and draws: {}", others.join(", "));
        }
    }
    let Columns { shape, header, variables, renamed } = columns;
    if !renamed.is_empty() {
        tracing::warn!("columns whose names are there already get others: {}", renamed.join(", "));
    }
    let (chains, draws) = shape.unwrap_or((0, 0));
    export_file(path, overwrite, &mut |file| {
        let mut table = WriterBuilder::new().from_writer(file);
        table.write_record(&header)?;
        for chain in 0..chains {
            for draw in 0..draws {
                table.write_field(label(posterior, "chain", chain))?;
                table.write_field(label(posterior, "draw", draw))?;
                for &(array, elements) in &variables {
                    let first = (chain * draws + draw) * elements;
                    write_fields(&mut table, &array.values, first..first + elements)?;
                }
                table.write_record(None::<&[u8]>)?;
            }
        }
        table.flush()
    })
}

/// The columns of a table.
struct Columns<'a> {
    /// The numbers of chains and draws, which all variables share.
    shape: Option<(usize, usize)>,
    header: IndexSet<String>,
    /// The variables, each with the number of its elements.
    variables: Vec<(&'a Array, usize)>,
    /// What is said of each name that was made another.
    renamed: Vec<String>,
}

impl Default for Columns<'_> {
    fn default() -> Self {
        let header = ["chain", "draw"].map(str::to_owned).into();
        Self { shape: None, header, variables: Vec::new(), renamed: Vec::new() }
    }
}

impl<'a> Columns<'a> {
    /// Adds all variables of a group, and returns those that have no place in the table. `of_group` tells names from those
    /// of earlier columns.
    fn add_all(&mut self, dataset: &'a Dataset, of_group: &str) -> Vec<String> {
        let mut others = Vec::new();
        for (name, array) in &dataset.variables {
            if self.has_place_for(array) {
                self.add(dataset, name, array, of_group);
            } else {
                others.push(format!("{name} over ({})", array.dims.join(", ")));
            }
        }
        others
    }

    /// Returns whether a variable is over the chains and draws of those before it.
    fn has_place_for(&self, array: &Array) -> bool {
        array.is_sampled() && self.shape.is_none_or(|shape| shape == (array.chains(), array.draws()))
    }

    /// Adds a column for each element of a variable.
    fn add(&mut self, dataset: &Dataset, variable: &str, array: &'a Array, of_group: &str) {
        self.shape = Some((array.chains(), array.draws()));
        let elements = array.elements(2);
        for index in 0..elements {
            let name = dataset.element_text(variable, 2, index);
            let own = self.free(&name, of_group);
            if own != name {
                self.renamed.push(format!("{name} becomes {own}"));
            }
            self.header.insert(own);
        }
        self.variables.push((array, elements));
    }

    /// Returns a name that no column has: this one, else with that of its group, else with a number.
    fn free(&self, name: &str, of_group: &str) -> String {
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut names = [name.to_owned(), format!("{of_group}{name}")].into_iter().chain(numbered);
        names.find(|name| !self.header.contains(name)).unwrap_or_default()
    }
}

fn label(dataset: &Dataset, dim: &str, index: usize) -> String {
    dataset.coords.get(dim).map_or_else(|| index.to_string(), |labels: &Labels| labels.text(index))
}

fn write_fields<W: io::Write>(
    table: &mut Writer<W>,
    values: &Values,
    range: std::ops::Range<usize>,
) -> Result<(), csv::Error> {
    match values {
        // The debug form is the shortest that reads back to the same bits, with an exponent where it is far from 1.
        Values::F64(values) => values[range].iter().try_for_each(|value| table.write_field(format!("{value:?}"))),
        Values::I64(values) => values[range].iter().try_for_each(|value| table.write_field(value.to_string())),
        Values::Bool(values) => values[range].iter().try_for_each(|value| table.write_field(value.to_string())),
        Values::Strings(values) => values[range].iter().try_for_each(|value| table.write_field(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_for_each_draw() {
        let mut posterior = Dataset::default();
        posterior
            .insert("mu", Array::new([("chain", 2), ("draw", 2)], Values::F64(vec![1.0, 1e300, f64::NAN, 0.1 + 0.2])));
        let m = Array::new([("chain", 2), ("draw", 2), ("city", 2)], Values::F64((0..8).map(f64::from).collect()));
        posterior.insert("m", m);
        posterior.coords.insert("city".into(), Labels::Strings(vec!["oslo".into(), "a, b".into()]));
        let mut stats = Dataset::default();
        stats.insert("n", Array::new([("chain", 2), ("draw", 2)], Values::I64(vec![1, 2, 3, 4])));
        stats.insert("bad", Array::new([("chain", 2), ("draw", 2)], Values::Bool(vec![true, false, false, true])));
        let mut data = InferenceData::default();
        data.insert("sample_stats", stats);
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        write_csv(&path, &data, false).unwrap();
        let expected = "chain,draw,mu,m[oslo],\"m[a, b]\",n,bad\n\
                        0,0,1.0,0.0,1.0,1,true\n\
                        0,1,1e300,2.0,3.0,2,false\n\
                        1,0,NaN,4.0,5.0,3,false\n\
                        1,1,0.30000000000000004,6.0,7.0,4,true\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert!(matches!(write_csv(&path, &data, false), Err(FormatError::FileExists { .. })));

        data.groups["posterior"].insert("loose", Array::new([("city", 2)], Values::F64(vec![0.0; 2])));
        let message = write_csv(&path, &data, true).unwrap_err().to_string();
        assert!(message.contains("loose"), "{message}");
        assert!(write_csv(&path, &InferenceData::default(), true).unwrap_err().to_string().contains("posterior"));
    }

    /// Draws of these variables over one chain.
    fn dataset(variables: &[(&str, &[f64])]) -> Dataset {
        let mut dataset = Dataset::default();
        for (name, values) in variables {
            dataset.insert(*name, Array::new([("chain", 1), ("draw", values.len())], Values::F64(values.to_vec())));
        }
        dataset
    }

    fn written(data: &InferenceData) -> (String, InferenceData) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        write_csv(&path, data, false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        (text, crate::read_trace(&[path]).unwrap())
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let mut posterior = dataset(&[("energy", &[1.0, 2.0]), ("mu", &[3.0, 4.0]), ("draw", &[5.0, 6.0])]);
        let theta = Array::new([("chain", 1), ("draw", 2), ("k", 3)], Values::F64(vec![0.5; 6]));
        posterior.insert("theta", theta);
        posterior.coords.insert("k".into(), Labels::Strings(["a", "a", "a"].map(String::from).to_vec()));
        let stats = dataset(&[("energy", &[7.0, 8.0]), ("mu", &[9.0, 10.0]), ("lp", &[-1.0, -2.0])]);
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        data.insert("sample_stats", stats);
        let (text, read) = written(&data);
        let header = "chain,draw,energy,mu,draw (2),theta[a],theta[a] (2),theta[a] (3),\
                      sample_stats.energy,sample_stats.mu,lp\n";
        assert!(text.starts_with(header), "{text}");
        // Each is again what it was.
        let values = |group: &str, name: &str| read.groups[group].variables[name].values.to_f64();
        assert_eq!((values("posterior", "energy"), values("sample_stats", "energy")), (vec![1.0, 2.0], vec![7.0, 8.0]));
        assert_eq!((values("posterior", "mu"), values("sample_stats", "mu")), (vec![3.0, 4.0], vec![9.0, 10.0]));
        let mut columns = Columns::default();
        columns.add_all(&data.groups["posterior"], "");
        assert_eq!(
            columns.renamed,
            ["draw becomes draw (2)", "theta[a] becomes theta[a] (2)", "theta[a] becomes theta[a] (3)"]
        );
    }

    #[test]
    fn statistics_without_draws_are_left_out() {
        let mut stats = dataset(&[("lp", &[-1.0, -2.0])]);
        stats.insert("scaling", Array::new([("chain", 1)], Values::F64(vec![0.5])));
        stats.insert("short", Array::new([("chain", 1), ("draw", 1)], Values::F64(vec![0.5])));
        let mut columns = Columns { shape: Some((1, 2)), ..Columns::default() };
        assert_eq!(columns.add_all(&stats, OF_STATISTICS), ["scaling over (chain)", "short over (chain, draw)"]);
        stats.variables.shift_remove("short");
        let mut data = InferenceData::default();
        data.insert("posterior", dataset(&[("mu", &[1.0, 2.0])]));
        data.insert("sample_stats", stats);
        let (text, read) = written(&data);
        assert!(text.starts_with("chain,draw,mu,lp\n"), "{text}");
        assert_eq!(read.groups["sample_stats"].variables["lp"].values.to_f64(), [-1.0, -2.0]);
        let [note] = &read.notes[..] else { panic!("{:?}", read.notes) };
        assert!(
            note.ends_with(
                "column lp is taken for a statistic of the sampler, by name: rename it if it is a parameter"
            )
        );
    }
}
