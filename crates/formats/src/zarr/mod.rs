//! Zarr stores: version 3, version 2 for programs of before 2025, and stores of either version that others write.
//!
//! A store is a folder with a folder for each group. A group's folder has a folder for each array, which holds the
//! chunks of the values. Specifications: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html> and
//! <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>.

mod blosc;
mod codec;
mod dtype;
mod metadata;
mod read;
mod v2;
mod v3;
mod write;

pub use read::read_zarr;
pub use write::{write_zarr, write_zarr_v2};

pub(crate) use read::is_store;
