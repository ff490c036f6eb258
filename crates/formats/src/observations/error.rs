//! What can be wrong with a user's table.

use octopus_trace::DataError;
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
        /// What was found.
        what: String,
    },
    /// A Parquet file that is cut short or damaged.
    #[error("{} is damaged: {what}; copy or write the file again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A Parquet file compressed by a method that this program was built without.
    #[error("{} is compressed with {codec}, which this octopus cannot read: write it with Snappy or without compression (pandas: compression=\"snappy\"; Polars: compression=\"snappy\")", path.display())]
    Codec {
        /// The file.
        path: PathBuf,
        /// The method.
        codec: String,
    },
    /// A column that is not there.
    #[error("{} has no column `{column}`{}; its columns are {}", path.display(), nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default(), list(existing))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// The columns that are there.
        existing: Vec<String>,
        /// The one most like it, if any is.
        nearest: Option<String>,
    },
    /// A name that two columns have.
    #[error("{} has two columns `{column}`: rename one", path.display())]
    ColumnTwice {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// A Parquet column of a type that cannot be used.
    #[error("{}: column `{column}` has type {found}; it must hold {expected}", path.display())]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What is needed.
        expected: &'static str,
    },
    /// A cell that cannot be used.
    #[error("{}: row {row}, column `{column}`: {problem}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The line of a CSV file (the header being line 1), the row of a Parquet file (from 1).
        row: u64,
        /// The column.
        column: String,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// A row with more or fewer cells than the header.
    #[error("{}: row {row} has {found} cells where the header has {expected}: complete the row, or quote cells that contain the separator", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line.
        row: u64,
        /// The header's cells.
        expected: u64,
        /// The row's cells.
        found: u64,
    },
    /// A table without a row.
    #[error("{} has no observations: it needs at least one row below the header", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// Observations that cannot be grouped.
    #[error("{}: {source}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: DataError,
    },
}

/// What is wrong with one cell.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellProblem {
    /// Nothing in it.
    #[error("the cell is empty; fill it in or remove the row")]
    Empty,
    /// Words where a number is needed.
    #[error("`{value}` is not a number{}", if decimal_comma(value) { "; write decimals with a point, not a comma" } else { "; correct it or remove the row" })]
    Text {
        /// The cell.
        value: String,
    },
    /// Not a number, or infinite.
    #[error("the value is {value}; observations must be finite: correct it or remove the row")]
    NotFinite {
        /// The value.
        value: f64,
    },
}

/// Whether the text would be a number with a point for its comma.
fn decimal_comma(text: &str) -> bool {
    text.matches(',').count() == 1 && text.replace(',', ".").parse::<f64>().is_ok()
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(20);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
