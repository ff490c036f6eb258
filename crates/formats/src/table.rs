//! InferenceData to CSV: one line for each draw, with its columns and the form of numbers.

use crate::export::export_file;
use crate::{FormatError, TraceFormat, WriteTrace};
use csv::{Writer, WriterBuilder};
use octopus_trace::Labels;
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::io;
use std::path::Path;

/// A table, which is only written: it does not tell variables from their elements.
#[derive(Debug)]
pub(crate) struct CsvTable;

impl TraceFormat for CsvTable {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "One line for each draw"
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_csv)
    }

    fn holds_draws_only(&self) -> bool {
        true
    }
}

/// Writes one line for each chain and draw: `chain`, `draw`, every element of every variable of `posterior`
/// (`mu_group[berlin]`), then the variables of `sample_stats`. Real numbers keep all their digits.
///
/// # Errors
/// When there is no `posterior`, a variable in it does not have the axes `chain` and `draw` of the others, `path`
/// exists and `overwrite` is false, or the file cannot be written.
pub fn write_csv(path: &Path, data: &InferenceData, overwrite: bool) -> Result<(), FormatError> {
    let invalid = |group: &str, what: String| FormatError::Invalid { group: group.to_owned(), what };
    let posterior = data.posterior().ok_or_else(|| invalid("posterior", "it is not in the trace".into()))?;
    let mut groups = vec![("posterior", posterior)];
    groups.extend(data.group("sample_stats").map(|stats| ("sample_stats", stats)));
    let mut shape = None;
    let mut header = vec!["chain".to_owned(), "draw".to_owned()];
    let mut columns: Vec<(&Array, usize)> = Vec::new();
    for (name, dataset) in groups {
        dataset.dimensions().map_err(|what| invalid(name, what))?;
        for (variable, array) in &dataset.variables {
            let own = array.is_sampled().then(|| (array.chains(), array.draws()));
            if own.is_none() || *shape.get_or_insert(own) != own {
                let dims = array.dims.join(", ");
                let what = format!("variable {variable} over ({dims}) has no place in a table of chains and draws");
                return Err(invalid(name, what));
            }
            let elements = array.elements(2);
            header.extend((0..elements).map(|index| dataset.element_text(variable, 2, index)));
            columns.push((array, elements));
        }
    }
    let (chains, draws) = shape.flatten().unwrap_or((0, 0));
    export_file(path, overwrite, &mut |file| {
        let mut table = WriterBuilder::new().from_writer(file);
        table.write_record(&header)?;
        for chain in 0..chains {
            for draw in 0..draws {
                table.write_field(label(posterior, "chain", chain))?;
                table.write_field(label(posterior, "draw", draw))?;
                for &(array, elements) in &columns {
                    let first = (chain * draws + draw) * elements;
                    write_fields(&mut table, &array.values, first..first + elements)?;
                }
                table.write_record(None::<&[u8]>)?;
            }
        }
        table.flush()
    })
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
}
