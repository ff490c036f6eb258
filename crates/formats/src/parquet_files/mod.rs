//! A trace as a folder of Parquet files, one for each group. DuckDB, Polars and pandas read them as tables, and the
//! whole trace can be read back from them.
//!
//! The rows of a file are the leading dimensions that all its variables share: `chain` and `draw` for sampled
//! variables, `obs` for observations, and a single row where the variables share none. A column is a variable, or the
//! labels of a dimension of the rows. A variable with further dimensions is a list of fixed length (row-major). The
//! entry `octopus` of the file's metadata is JSON: names of dimensions, shapes, labels, attributes.

mod arrow_schema;
mod claims;
mod encode;
mod numbers;
mod read;
mod stored;
mod types;
mod values;
mod write;

pub use read::read_parquet;
pub use write::write_parquet;

pub use encode::{ParquetColumn, decode_columns, encode_columns};
pub use numbers::parquet_plan;
pub(crate) use read::unknown_codec;
pub(crate) use stored::Cells;
pub use types::ParquetType;
pub(crate) use types::{FileColumn, columns};

use crate::{FormatError, TraceFormat, WriteTrace};
use octopus_trace::InferenceData;
use read::{files_at, is_parquet, parquet_files};
use std::path::Path;

/// The entry of the metadata that is ours.
const METADATA: &str = "octopus";
/// The name of a list's elements.
const ELEMENT: &str = "element";
/// The column of a group whose single row would otherwise be empty.
const ROW: &str = "row";

/// A Parquet file, or a folder of one for each group.
#[derive(Debug)]
pub(crate) struct Parquet;

impl TraceFormat for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn about(&self) -> &'static str {
        "A folder of Parquet files, one for each group: DuckDB, Polars, pandas"
    }

    fn kind(&self) -> &'static str {
        "Parquet"
    }

    fn has_file(&self, beginning: &[u8]) -> bool {
        beginning.starts_with(b"PAR1")
    }

    fn has_folder(&self, folder: &Path) -> Result<bool, FormatError> {
        Ok(files_at(folder)?.first().is_some_and(|(file, _)| is_parquet(file)))
    }

    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        read_parquet(path)
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_parquet)
    }

    fn may_replace(&self, path: &Path) -> bool {
        write::is_ours(path)
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
