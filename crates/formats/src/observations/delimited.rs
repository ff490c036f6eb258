//! Observations from CSV: cells separated by commas, semicolons or tabs.
//!
//! How the separator (delimiter) is found, and which cells are numbers, is decided here.

use super::{CellProblem, Columns, ObservationsError, Rows, find_column};
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};
use std::path::Path;

pub(super) fn read(path: &Path, bytes: &[u8], columns: Columns<'_>) -> Result<Rows, ObservationsError> {
    let Columns { group: group_column, value: value_column, set: set_column } = columns;
    let not_a_table = |what: &str| ObservationsError::NotATable { path: path.to_owned(), what: what.to_owned() };
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if text.contains(&0) {
        return Err(not_a_table("it holds binary data"));
    }
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(not_a_table("it is empty"));
    }
    let delimiter = delimiter(path, text, group_column, value_column);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(text);
    let header: Vec<String> =
        reader.headers().map_err(|error| csv_error(path, error))?.iter().map(str::to_owned).collect();
    let group_index = find_column(path, &header, group_column)?;
    let value_index = find_column(path, &header, value_column)?;
    let set = set_column.map(|column| Ok((column, find_column(path, &header, column)?))).transpose()?;

    let mut rows = Rows::default();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| csv_error(path, error))? {
        let row = record.position().map_or(0, csv::Position::line);
        let fail = |column: &str, problem| ObservationsError::Cell {
            path: path.to_owned(),
            row,
            column: column.to_owned(),
            problem,
        };
        let label = record.get(group_index).unwrap_or("");
        if label.is_empty() {
            return Err(fail(group_column, CellProblem::Empty));
        }
        let value = number(record.get(value_index).unwrap_or("")).map_err(|problem| fail(value_column, problem))?;
        if let Some((column, index)) = set {
            let set =
                record.get(index).filter(|set| !set.is_empty()).ok_or_else(|| fail(column, CellProblem::Empty))?;
            rows.set.push(rows.sets.index(set));
        }
        rows.group.push(rows.labels.index(label));
        rows.values.push(value);
    }
    Ok(rows)
}

/// Returns a finite number.
fn number(cell: &str) -> Result<f64, CellProblem> {
    if cell.is_empty() {
        return Err(CellProblem::Empty);
    }
    let value: f64 = cell.parse().map_err(|_| CellProblem::Text { value: cell.to_owned() })?;
    if value.is_finite() { Ok(value) } else { Err(CellProblem::NotFinite { value }) }
}

/// Returns the separator under which the header has both columns; the usual one of the extension when none does.
fn delimiter(path: &Path, text: &[u8], group_column: &str, value_column: &str) -> u8 {
    // Of `y.tsv.gz` too.
    let ends = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let tabs = ends(path) || path.file_stem().is_some_and(|stem| ends(Path::new(stem)));
    let candidates = if tabs { [b'\t', b',', b';'] } else { [b',', b';', b'\t'] };
    let fits = |&delimiter: &u8| {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(text);
        reader.headers().is_ok_and(|header| {
            header.iter().any(|name| name == group_column) && header.iter().any(|name| name == value_column)
        })
    };
    candidates.into_iter().find(fits).unwrap_or(candidates[0])
}

fn csv_error(path: &Path, error: csv::Error) -> ObservationsError {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let row = pos.as_ref().map_or(0, csv::Position::line);
            ObservationsError::Ragged { path, row, expected: *expected_len, found: *len }
        }
        ErrorKind::Utf8 { pos, .. } => {
            let row = pos.as_ref().map_or(0, csv::Position::line);
            ObservationsError::NotATable { path, what: format!("row {row} is not UTF-8 text") }
        }
        _ => ObservationsError::NotATable { path, what: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_one_that_gives_both_columns() {
        for (name, header, separator) in [
            ("a.csv", "city,y", b','),
            ("a.csv", "city;y", b';'),
            ("a.csv", "city\ty", b'\t'),
            ("a.tsv", "city\ty", b'\t'),
            ("a.TSV", "city,y", b','),
            ("a.tsv.gz", "city;x", b'\t'),
            ("a.tsv.gz", "city,y", b','),
            // A comma gives one of the columns, too.
            ("a.csv", "city;y;x,y", b';'),
            ("a.csv", "y;city;x,city", b';'),
            // No separator gives both.
            ("a.csv", "city;x", b','),
            ("a.TSV", "city;x", b'\t'),
        ] {
            assert_eq!(delimiter(Path::new(name), header.as_bytes(), "city", "y"), separator, "{name}: {header}");
        }
    }
}
