//! What is refused in a user's table of observations, and what the error says.

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
        /// What was found, in words.
        what: String,
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
    /// Two columns have the same name.
    #[error("{} has two columns `{column}`: rename one", path.display())]
    ColumnTwice {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// The Parquet column has a type that cannot be used.
    #[error("{}: column `{column}` has type {found}; it must hold {expected}", path.display())]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The column's type.
        found: String,
        /// The types that can be used, in words.
        expected: &'static str,
    },
    /// The cell cannot be used.
    #[error("{}: row {row}, column `{column}`: {problem}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The row: in a CSV file the line (the header is line 1), in a Parquet file the row, counted from 1.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong with the cell.
        problem: CellProblem,
    },
    /// The row has more or fewer cells than the header.
    #[error("{}: row {row} has {found} cells where the header has {expected}: complete the row, or quote cells that contain the separator", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line of the row.
        row: u64,
        /// The number of the header's cells.
        expected: u64,
        /// The number of the row's cells.
        found: u64,
    },
    /// The table has no row.
    #[error("{} has no observations: it needs at least one row below the header", path.display())]
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

/// What is wrong with one cell.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellProblem {
    /// The cell is empty.
    #[error("the cell is empty; fill it in or remove the row")]
    Empty,
    /// The cell holds words where a number is needed.
    #[error("`{value}` is not a number{}", if decimal_comma(value) { "; write decimals with a point, not a comma" } else { "; correct it or remove the row" })]
    Text {
        /// The text of the cell.
        value: String,
    },
    /// The cell holds NaN or an infinity.
    #[error("the value is {value}; observations must be finite: correct it or remove the row")]
    NotFinite {
        /// The value.
        value: f64,
    },
}

/// Returns whether the text would be a number with a point for its comma.
fn decimal_comma(text: &str) -> bool {
    text.matches(',').count() == 1 && text.replace(',', ".").parse::<f64>().is_ok()
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(20);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
