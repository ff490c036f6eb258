//! Reads and writes traces on disk (NetCDF, Zarr, Parquet, CSV of CmdStan, CSV tables), and reads users' observations.
//!
//! | task | begin with |
//! |--|--|
//! | read a trace of any format, also of PyMC, NumPyro, nutpie, CmdStan | [`read_trace`], [`detect_format`] |
//! | hand draws to ArviZ, xarray, pandas, Stan's tools, a spreadsheet | the writers below |
//! | write numbers into one Parquet file, more than memory holds | [`parquet_plan`] |
//! | read a user's observations | [`observations::read_table`], [`observations::read_grouped`] |
//!
//! Run folders, which grow while a run samples, are `octopus-runs`.
//!
//! | format | write | read | keeps |
//! |--|--|--|--|
//! | NetCDF-4 | [`write_netcdf`] | [`read_netcdf`] | all but what has no values, and attributes that are long lists |
//! | Zarr 3 | [`write_zarr`] | [`read_zarr`] | all |
//! | Zarr 2, for ArviZ 0.23 | [`write_zarr_v2`] | [`read_zarr`] | all |
//! | Parquet, a file for each group | [`write_parquet`] | [`read_parquet`] | all |
//! | CSV of CmdStan, a file for each chain | [`write_stan_csv`] | [`read_stan_csv`] | numbers of the posterior, CmdStan's statistics |
//! | CSV table, a line for each draw | [`write_csv`] | [`read_csv`] | draws and statistics, each element a column |
//!
//! "All" are the groups, variables, dimensions, labels of every type, other coordinates and attributes of
//! [`InferenceData`](octopus_trace::InferenceData); attributes of the whole are kept by NetCDF and Zarr alone. Attributes
//! that are not finite become words in Zarr and Parquet, whose metadata are JSON. Every file appears whole or not at all. A table has labels in the names of its columns.
//!
//! ```
//! use octopus_formats::{read_trace, write_netcdf};
//! use octopus_trace::{Array, Dataset, InferenceData, Values};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let mut posterior = Dataset::default();
//! posterior.insert("mu", Array::new([("chain", 1), ("draw", 2)], Values::F64(vec![0.5, -1.0])));
//! let mut data = InferenceData::default();
//! data.insert("posterior", posterior);
//!
//! let path = folder.path().join("trace.nc");
//! write_netcdf(&path, &data, false)?;
//! assert_eq!(read_trace(&[path])?.groups["posterior"].variables["mu"].values.to_f64(), [0.5, -1.0]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod checked;
mod chunks;
mod conventions;
mod csv_text;
mod draw_table;
mod error;
mod export;
mod foreign;
mod format;
mod json;
mod listing;
mod netcdf;
pub mod observations;
mod parquet_files;
mod registry;
mod stan;
mod table;
#[cfg(test)]
mod tests;
mod zarr;

pub use error::FormatError;
pub use format::{TraceFormat, WriteTrace};
pub use netcdf::{read_netcdf, write_netcdf};
pub use parquet_files::{
    ParquetColumn, ParquetType, decode_columns, encode_columns, parquet_plan, read_parquet, write_parquet,
};
pub use registry::{FOLDERS_IN_SHORT, FORMATS, READ_IN_SHORT, WRITTEN_IN_SHORT, detect_format, read_trace};
pub use stan::{InverseMetric, StanCsv, StanMetric, read_stan_csv, write_stan_csv};
pub use table::{read_csv, write_csv};
pub use zarr::{read_zarr, write_zarr, write_zarr_v2};
