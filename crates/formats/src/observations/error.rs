//! The errors of a user's table of observations, with their messages.

use super::{ColumnKind, DecimalMark};
use crate::ParquetType;
use octopus_trace::{DataError, LeftOut};
use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A table of observations that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObservationsError {
    /// The system refused to read the file.
    #[error("cannot read {}: {source}{}", path.display(), if source.kind() == io::ErrorKind::NotFound { "; check the path given to --data" } else { "" })]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is neither CSV nor Parquet.
    #[error("{} is not a table: {what}; give a CSV file with a header line, or a Parquet file", path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
        /// What was found, in words.
        what: String,
    },
    /// The file is of another kind.
    #[error("{} is {what}: {remedy}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is, in words.
        what: &'static str,
        /// What to do, in words.
        remedy: &'static str,
    },
    /// The text is not UTF-8.
    #[error("{}: line {line}, column {column}: the byte {byte:#04X} is no UTF-8 text; if the file is in Latin-1 (Windows-1252), convert it: `iconv -f WINDOWS-1252 -t UTF-8 {} > NEW.csv`", path.display(), path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The column in the line, counted from 1 in characters.
        column: u64,
        /// The byte that stands there.
        byte: u8,
    },
    /// The folder is not one table of Parquet files.
    #[error("{} is a folder, and not of one table in Parquet files: {what}; give one file, or a folder of Parquet files", path.display())]
    NotOneTable {
        /// The folder.
        path: PathBuf,
        /// What was found, in words.
        what: String,
    },
    /// The same column is asked for twice.
    #[error("{}: column `{column}` cannot be that of {first} and of {second}: name two columns", path.display())]
    SameColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What it is asked for.
        first: String,
        /// What else it is asked for.
        second: String,
    },
    /// A decimal mark was given for a Parquet file.
    #[error("{} is Parquet, whose numbers have no decimal mark: leave out --decimal", path.display())]
    DecimalOfParquet {
        /// The file.
        path: PathBuf,
    },
    /// A comment stands among the rows.
    #[error("{}: {place} begins with `#` and is no row: comments may stand before the header only; remove the line", path.display())]
    Comment {
        /// The file.
        path: PathBuf,
        /// Where the comment stands.
        place: RowPlace,
    },
    /// The names of the columns stand in a comment.
    #[error("{}: {place} names the columns in a comment: remove the `#` before them", path.display())]
    HeaderInComment {
        /// The file.
        path: PathBuf,
        /// Where the comment stands.
        place: RowPlace,
    },
    /// A quote is never closed.
    #[error("{}: {place}: a quote (\") is opened and never closed, so that all that follows is in one cell: close it or remove it", path.display())]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// Where the quote stands.
        place: RowPlace,
    },
    /// Every row was left out.
    #[error("{}{} has no observations: {left_out}", path.display(), set.as_ref().map(|set| format!(", data set `{set}`,")).unwrap_or_default())]
    AllLeftOut {
        /// The file.
        path: PathBuf,
        /// The data set, where the table is divided.
        set: Option<String>,
        /// What was left out.
        left_out: LeftOut,
    },
    /// The Parquet file is cut short or damaged.
    #[error("{} is damaged: {what}; copy or write the file again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found, in words.
        what: String,
    },
    /// The Parquet file is compressed by a method that this program was built without.
    #[error("{} is compressed with {codec}, which this octopus cannot read: write it with Snappy or without compression (pandas: compression=\"snappy\"; Polars: compression=\"snappy\")", path.display())]
    Codec {
        /// The file.
        path: PathBuf,
        /// The method.
        codec: String,
    },
    /// The table has no column of this name.
    #[error("{} has no column `{column}`{}; its columns are {}", path.display(), nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default(), list(existing))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// The columns that are there.
        existing: Vec<String>,
        /// The existing column whose name is most like it, if any is.
        nearest: Option<String>,
    },
    /// No column was read by this name.
    #[error("{}: no column is read as `{name}`{}; those that are read: {}", path.display(), nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default(), list(read))]
    NotRead {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names of the columns that are read.
        read: Vec<String>,
        /// The one whose name is most like it, if any is.
        nearest: Option<String>,
    },
    /// A column has values of another kind than are asked for.
    #[error("{}: column `{column}` has {found}{}, where {wanted} are needed: correct the column, or name another one", path.display(), example.as_ref().map(|value| format!(" such as `{value}`")).unwrap_or_default())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The column, by its name in the file.
        column: String,
        /// The kind of its values.
        found: ColumnKind,
        /// One of its values that does not fit.
        example: Option<String>,
        /// The kind asked for.
        wanted: ColumnKind,
    },
    /// A model does not take a value.
    #[error("{}: column `{column}` has {value} in row {} of the rows that were read: it {expected}; correct the cell", path.display(), row + 1)]
    Refused {
        /// The file.
        path: PathBuf,
        /// The column, by its name in the file.
        column: String,
        /// The row of the table, counted from 0; the message counts from 1. Rows that were left out do not count.
        row: usize,
        /// The value.
        value: String,
        /// The values that are allowed, e.g. `must be 0 or 1`.
        expected: &'static str,
    },
    /// Two columns have the same name.
    #[error("{} has two columns `{column}`: rename one", path.display())]
    ColumnTwice {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// The Parquet column has a type that cannot be used.
    #[error("{}: column `{column}` has type {found}; it must hold {expected}: {}", path.display(), cast(found))]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The column's type.
        found: ParquetType,
        /// The types that can be used, in words.
        expected: &'static str,
    },
    /// The cell cannot be used.
    #[error("{}: {place}, column `{column}`: {problem}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Where the cell stands.
        place: RowPlace,
        /// The column.
        column: String,
        /// What is wrong with the cell.
        problem: CellProblem,
    },
    /// The row has more or fewer cells than the header.
    #[error("{}: {place} has {found} cells where the header has {expected}: complete the row, or quote cells that contain the separator", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Where the row stands.
        place: RowPlace,
        /// The number of the header's cells.
        expected: u64,
        /// The number of the row's cells.
        found: u64,
    },
    /// The table has no row.
    #[error("{} has no observations: it needs at least one row", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// The observations cannot be grouped.
    #[error("{}: {source}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Why they cannot be grouped.
        source: DataError,
    },
}

/// Where a row stands: `line 3 (row 2)` in text, `row 2` in Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// The line as an editor counts it, from 1; `None` where there are no lines.
    pub line: Option<u64>,
    /// The row below the header, counted from 1; 0 for what stands before the rows.
    pub row: u64,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.row) {
            (Some(line), 0) => write!(f, "line {line}"),
            (Some(line), row) => write!(f, "line {line} (row {row})"),
            (None, row) => write!(f, "row {row}"),
        }
    }
}

/// What is wrong with one cell.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellProblem {
    /// The cell is empty.
    #[error("the cell is empty; fill it in or remove the row (--drop-missing leaves out such rows)")]
    Empty,
    /// The cell holds a word that programs write where a value is missing.
    #[error("`{value}` stands for a missing value; fill it in or remove the row (--drop-missing leaves out such rows)")]
    MissingWord {
        /// The text of the cell.
        value: String,
    },
    /// The cell holds words where a number is needed.
    #[error("`{value}` is not a number; correct it or remove the row")]
    Text {
        /// The text of the cell.
        value: String,
    },
    /// The cell holds a number that is not whole, or is beyond 64 bits.
    #[error("`{value}` is no whole number of 64 bits; correct it or remove the row")]
    NotWhole {
        /// The text of the cell.
        value: String,
    },
    /// The cell holds a number with another decimal mark than the file is read with.
    #[error("`{value}` has a decimal {} and is not read so: {}{}", name(*mark), advice(*mark), if *thousands { "; if it is a separator between thousands, write the numbers without it" } else { "" })]
    OtherMark {
        /// The text of the cell.
        value: String,
        /// The mark in it.
        mark: DecimalMark,
        /// Whether the mark may stand between thousands.
        thousands: bool,
    },
    /// The cell holds a number with separators between thousands.
    #[error(
        "`{value}` has a separator (`{separator}`) between thousands: write the numbers without it (in a spreadsheet, a format of the cells without thousands separators; pandas reads it with thousands=\"{separator}\")"
    )]
    Thousands {
        /// The text of the cell.
        value: String,
        /// The separator.
        separator: char,
    },
    /// The rows before it fill the memory.
    #[error("the rows up to here fill the memory; give a table of fewer rows, or more memory")]
    NoMemory,
    /// The cell holds NaN or an infinity.
    #[error("the value is {value}; observations must be finite: correct it or remove the row{}", if value.is_nan() { " (--drop-missing leaves out such rows)" } else { "" })]
    NotFinite {
        /// The value.
        value: f64,
    },
}

impl CellProblem {
    /// Returns whether the cell has no value, rather than a wrong one.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Empty | Self::MissingWord { .. } => true,
            Self::NotFinite { value } => value.is_nan(),
            _ => false,
        }
    }
}

fn name(mark: DecimalMark) -> &'static str {
    match mark {
        DecimalMark::Point => "point",
        DecimalMark::Comma => "comma",
    }
}

/// What to do about numbers with this mark.
fn advice(mark: DecimalMark) -> &'static str {
    match mark {
        DecimalMark::Point => "leave out `--decimal ,`, or write all decimals with a comma",
        DecimalMark::Comma => "give `--decimal ,`, or write decimals with a point, not a comma",
    }
}

/// What to do about a column of this type.
fn cast(found: &ParquetType) -> &'static str {
    match found {
        ParquetType::Text | ParquetType::Bytes => {
            "convert the text to numbers where the file is written (pandas: to_numeric)"
        }
        ParquetType::Real(_) => {
            "convert it to whole numbers or text where the file is written (pandas: astype(\"Int64\"), which may have missing cells)"
        }
        ParquetType::Duration(_) => {
            "convert it to numbers of one unit where the file is written (pandas: dt.total_seconds(); Polars: dt.total_seconds())"
        }
        ParquetType::Boolean => "convert it to 0 and 1 where the file is written",
        _ => "convert the column where the file is written",
    }
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(20);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
