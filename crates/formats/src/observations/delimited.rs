//! Observations from CSV: cells separated by commas, semicolons or tabs.
//!
//! How the separator (delimiter) is found, and which lines are comments, is decided here.

use super::columns::Asked;
use super::number::{integer, is_missing_word, kind_of_cell, number, wider};
use super::rows::{Cells, RowCells, Rows};
use super::text::{cell, decoded, line, skip_line_ends};
use super::{CellProblem, CellRules, ColumnKind, DecimalMark, ObservationsError, RowPlace, TableColumns, foreign};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::path::Path;

pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    asked: Asked<'_>,
    rules: CellRules,
    rows: &mut Rows,
) -> Result<(), ObservationsError> {
    let not_a_table = |what: String| ObservationsError::NotATable { path: path.to_owned(), what };
    let unreadable = |error: csv::Error| not_a_table(error.to_string());
    let all = decoded(path, bytes)?;
    if all.trim_ascii().is_empty() {
        return Err(not_a_table("it is empty".to_owned()));
    }
    let (start, comments) = skip_comments(all, asked);
    rows.comments = comments;
    let table = &all[start..];
    let delimiter = delimiter(path, table, asked, rules.decimal);
    let mut reader = reader(table, delimiter);
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let find = |column: &str| {
        asked.find(path, &header, column).map_err(|error| match &error {
            ObservationsError::NoColumn { .. } => {
                // A table of nothing else begins with its first comment.
                let comments = if all.trim_start().starts_with('#') && start == 0 { all } else { &all[..start] };
                foreign::of_text(path, all).or_else(|| header_in_comment(path, comments, asked)).unwrap_or(error)
            }
            _ => error,
        })
    };
    let columns = asked.among(&header);
    let indices: Vec<usize> = columns.iter().map(|one| find(&one.column)).collect::<Result<_, _>>()?;
    let set = asked.set.map(find).transpose()?;
    let found = match columns.iter().all(|one| one.kind.is_some()) {
        true => Vec::new(),
        false => kinds(table, delimiter, &indices, rules.decimal),
    };
    let kinds = columns.iter().enumerate().map(|(at, one)| one.kind.unwrap_or_else(|| found[at]));
    let cells: Vec<Cells> = kinds.map(Cells::new).collect();
    rows.columns = columns.into_iter().zip(cells).collect();

    let bytes = all.as_bytes();
    let place = |begin: usize, number: usize, row: u64| {
        let begin = cell(bytes, begin, number, delimiter).begin;
        RowPlace { line: Some(line(bytes, begin)), row }
    };
    let (mut record, mut row, mut begin) = (StringRecord::new(), 0, start);
    let mut commented = CommentedOut::default();
    while reader.read_record(&mut record).map_err(unreadable)? {
        let in_table = record.position().and_then(|position| usize::try_from(position.byte()).ok());
        begin = skip_line_ends(bytes, start + in_table.unwrap_or(0));
        if header.len() > 1 && record.len() == 1 && record[0].is_empty() && bytes.get(begin) != Some(&b'"') {
            // A line of spaces, which pandas skips too.
            continue;
        }
        row += 1;
        if record.len() != header.len() {
            let (path, place) = (path.to_owned(), place(begin, 0, row));
            if bytes.get(begin) == Some(&b'#') {
                return Err(ObservationsError::Comment { path, place });
            }
            if cell(bytes, begin, usize::MAX, delimiter).is_open {
                return Err(ObservationsError::OpenQuote { path, place });
            }
            let (expected, found) = (header.len() as u64, record.len() as u64);
            return Err(ObservationsError::Ragged { path, place, expected, found });
        }
        if bytes.get(begin) == Some(&b'#') && !header[0].starts_with('#') && !is_missing_word(&record[0]) {
            commented.count(|| place(begin, 0, row));
        }
        let cells = Record { record: &record, indices: &indices, set, decimal: rules.decimal };
        rows.push(&cells, asked.set, rules).map_err(|(column, problem)| {
            let index = header.iter().position(|name| *name == column).unwrap_or(0);
            let is_text = matches!(problem, CellProblem::Text { .. });
            if is_text && index == 0 && record[0].starts_with('#') {
                return ObservationsError::Comment { path: path.to_owned(), place: place(begin, 0, row) };
            }
            ObservationsError::Cell { path: path.to_owned(), place: place(begin, index, row), column, problem }
        })?;
    }
    // All that follows a quote that is not closed is in one cell: the rows after it would be lost.
    if row > 0 && cell(bytes, begin, usize::MAX, delimiter).is_open {
        return Err(ObservationsError::OpenQuote { path: path.to_owned(), place: place(begin, usize::MAX, row) });
    }
    rows.notes.extend(commented.note(row));
    Ok(())
}

/// A row, with the places of the columns that are read.
struct Record<'a> {
    record: &'a StringRecord,
    indices: &'a [usize],
    set: Option<usize>,
    decimal: DecimalMark,
}

impl RowCells for Record<'_> {
    fn real(&self, column: usize) -> Result<f64, CellProblem> {
        number(&self.record[self.indices[column]], self.decimal)
    }

    fn integer(&self, column: usize) -> Result<i64, CellProblem> {
        integer(&self.record[self.indices[column]], self.decimal)
    }

    fn label(&self, column: usize) -> Option<&str> {
        Some(&self.record[self.indices[column]])
    }

    fn set(&self) -> Option<&str> {
        Some(&self.record[self.set?])
    }
}

/// Returns the kinds of columns by all their cells. A table that cannot be read is not looked at to its end: whoever
/// reads it says what is wrong.
fn kinds(table: &str, delimiter: u8, indices: &[usize], decimal: DecimalMark) -> Vec<ColumnKind> {
    let mut found: Vec<Option<ColumnKind>> = vec![None; indices.len()];
    let (mut reader, mut record) = (reader(table, delimiter), StringRecord::new());
    while reader.read_record(&mut record).is_ok_and(|is_row| is_row) {
        for (kind, &index) in found.iter_mut().zip(indices) {
            if *kind != Some(ColumnKind::Label) {
                let cell = record.get(index).and_then(|cell| kind_of_cell(cell, decimal));
                *kind = [*kind, cell].into_iter().flatten().reduce(wider);
            }
        }
    }
    // A column without cells is not described.
    found.into_iter().map(|kind| kind.unwrap_or(ColumnKind::Label)).collect()
}

/// Rows that begin with `#` and have as many cells as the header: they may be commented out.
#[derive(Debug, Default)]
struct CommentedOut {
    count: u64,
    first: Option<RowPlace>,
}

impl CommentedOut {
    fn count(&mut self, place: impl FnOnce() -> RowPlace) {
        self.count += 1;
        self.first.get_or_insert_with(place);
    }

    /// Returns what users should know of them; of a table in which all of `rows` begin so, nothing.
    fn note(&self, rows: u64) -> Option<String> {
        let first = self.first.filter(|_| self.count < rows)?;
        let (begin, are) = if self.count == 1 { ("begins", "is") } else { ("begin", "are") };
        Some(format!(
            "{} of {rows} rows {begin} with `#`, from {first} on, and {are} read as data, since comments may stand \
             before the header only: what is commented out must be removed",
            self.count
        ))
    }
}

fn reader(table: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).flexible(true).from_reader(table.as_bytes())
}

/// The separators that are tried, the usual one first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Returns the separator under which the header has all columns that are asked for, or more than one where all are
/// read; the usual one of the extension, or beside decimal commas, when none does.
fn delimiter(path: &Path, table: &str, asked: Asked<'_>, decimal: DecimalMark) -> u8 {
    // Of `y.tsv.gz` too.
    let ends = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let tabs = ends(path) || path.file_stem().is_some_and(|stem| ends(Path::new(stem)));
    let [comma, semicolon, tab] = SEPARATORS;
    let candidates = match decimal {
        _ if tabs => [tab, comma, semicolon],
        DecimalMark::Comma => [semicolon, tab, comma],
        DecimalMark::Point => SEPARATORS,
    };
    let fits = |&delimiter: &u8| match asked.columns {
        TableColumns::All => reader(table, delimiter).headers().is_ok_and(|header| header.len() > 1),
        TableColumns::These(_) => has_columns(table, delimiter, asked),
    };
    candidates.into_iter().find(fits).unwrap_or(candidates[0])
}

/// Returns whether the first line has the columns that are asked for by name with this separator.
fn has_columns(table: &str, delimiter: u8, asked: Asked<'_>) -> bool {
    reader(table, delimiter).headers().is_ok_and(|header| asked.are_in(header.iter()))
}

/// Returns where the table begins after lines of comments, and their number. A line that begins with `#` and has all
/// columns that are asked for by name is the header. A first line such as `sep=;` tells Excel the separator.
fn skip_comments(text: &str, asked: Asked<'_>) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut at, mut comments) = (skip_line_ends(bytes, 0), 0);
    let first = text[at..].split(['\n', '\r']).next().unwrap_or_default();
    if first.strip_prefix("sep=").is_some_and(|separator| separator.chars().count() == 1) {
        at = skip_line_ends(bytes, at + first.len());
    }
    while bytes.get(at) == Some(&b'#') && !SEPARATORS.iter().any(|&one| has_columns(&text[at..], one, asked)) {
        comments += 1;
        at += text[at..].find(['\n', '\r']).unwrap_or(text.len() - at);
        at = skip_line_ends(bytes, at);
    }
    if at == text.len() { (0, 0) } else { (at, comments) }
}

/// Returns the error of a table whose header stands in a comment: NumPy writes such.
fn header_in_comment(path: &Path, comments: &str, asked: Asked<'_>) -> Option<ObservationsError> {
    let of_line = |bare: &str| SEPARATORS.iter().any(|&one| has_columns(bare, one, asked));
    let mut at = 0;
    for comment in comments.split_inclusive(['\n', '\r']) {
        if comment.starts_with('#') && of_line(comment.trim_start_matches('#').trim_start()) {
            let place = RowPlace { line: Some(line(comments.as_bytes(), at)), row: 0 };
            return Some(ObservationsError::HeaderInComment { path: path.to_owned(), place });
        }
        at += comment.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_one_that_gives_both_columns() {
        let columns = TableColumns::groups_and_values("city", "y");
        let asked = Asked { columns: &columns, set: None };
        let found = |name: &str, header: &str, decimal| delimiter(Path::new(name), header, asked, decimal);
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
            assert_eq!(found(name, header, DecimalMark::Point), separator, "{name}: {header}");
        }
        // Where all columns are read, it is the one that gives several.
        let all = Asked { columns: &TableColumns::All, set: None };
        for (header, separator) in [("a,b", b','), ("a;b", b';'), ("a\tb", b'\t'), ("a", b',')] {
            assert_eq!(delimiter(Path::new("a.csv"), header, all, DecimalMark::Point), separator, "{header}");
        }
        for (header, separator) in [("city,y", b','), ("city\ty", b'\t'), ("city;y", b';'), ("city,x", b';')] {
            assert_eq!(found("a.csv", header, DecimalMark::Comma), separator, "{header}");
        }
    }

    #[test]
    fn comments_come_before_the_header() {
        let columns = TableColumns::groups_and_values("city", "y");
        let asked = Asked { columns: &columns, set: None };
        for (text, expected) in [
            ("city,y\n", (0, 0)),
            ("# a\n#b\ncity,y\n", (7, 2)),
            ("\n# a\r\n\r\ncity,y\n", (8, 1)),
            // Its name begins so.
            ("#id,city,y\n1,a,2\n", (0, 0)),
            ("# all\n# are\n", (0, 0)),
            // Excel's first line.
            ("sep=;\r\ncity;y\r\n", (7, 0)),
            ("sep=\t\n# a\ncity\ty\n", (10, 1)),
            ("sep=;\n", (0, 0)),
            ("sep,city,y\n", (0, 0)),
        ] {
            assert_eq!(skip_comments(text, asked), expected, "{text:?}");
        }
    }
}
