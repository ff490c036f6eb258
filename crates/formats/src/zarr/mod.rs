//! Zarr stores: version 3, version 2 for programs of before 2025, and what others write in either.
//!
//! A store is a folder with a folder for each group, a folder for each array in it, and in those the chunks
//! of the values. Specifications: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html> and
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
