//! Traces in memory and on disk: run folders, Parquet, NetCDF, Zarr, CSV.
#![forbid(unsafe_code)]

mod model;

pub use model::{Array, Attribute, Dataset, InferenceData, Values};
