//! The files of CmdStan: one CSV for each chain, and the metric as JSON. Formats: CmdStan's guide,
//! "Stan CSV file format" and "Metric file".

mod columns;
mod file;
mod metric;
mod read;
mod write;

pub use metric::{InverseMetric, StanMetric};
pub use read::{StanCsv, read_stan_csv};
pub use write::write_stan_csv;

pub(crate) use file::looks_like_stan;
pub(crate) use read::csv_files;

#[cfg(test)]
mod tests;
