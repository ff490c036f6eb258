//! A trace as a folder of Parquet files, one for each group, which DuckDB, Polars and pandas read as tables
//! and from which everything comes back.
//!
//! The rows of a file are the leading dimensions that all its variables share: `chain` and `draw` of what was
//! sampled, `obs` of observations, and a single row where they share none. A column is a variable, a list of
//! fixed length where it has further dimensions (row-major), or the labels of a dimension of the rows. The
//! entry `octopus` of the file's metadata is JSON: names of dimensions, shapes, labels, attributes.

mod draws;
mod encode;
mod read;
mod values;
mod write;

pub use read::read_parquet;
pub use write::write_parquet;

pub use encode::{list_column, writer_properties};
pub(crate) use read::{is_parquet, parquet_files, unknown_codec};

/// The entry of the metadata that is ours.
const METADATA: &str = "octopus";
/// The column of a group whose single row would otherwise be empty.
const ROW: &str = "row";

#[cfg(test)]
mod tests;
