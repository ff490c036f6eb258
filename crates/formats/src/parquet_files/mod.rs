//! A trace as a folder of Parquet files, one for each group. DuckDB, Polars and pandas read them as tables, and the
//! whole trace can be read back from them.
//!
//! The rows of a file are the leading dimensions that all its variables share: `chain` and `draw` for sampled
//! variables, `obs` for observations, and a single row where the variables share none. A column is a variable, or the
//! labels of a dimension of the rows. A variable with further dimensions is a list of fixed length (row-major). The
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
