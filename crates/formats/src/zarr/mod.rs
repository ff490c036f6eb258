//! Zarr stores: version 3, version 2 for programs of before 2025, and stores of either version that others write.
//!
//! A store is a folder with a folder for each group. A group's folder has a folder for each array, which holds the
//! chunks of the values. Specifications: <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html> and
//! <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>.

mod blosc;
mod codec;
mod dtype;
mod grid;
mod metadata;
mod read;
mod v2;
mod v3;
mod write;

pub(crate) use blosc::{decode as blosc, unshuffle};
pub(crate) use codec::zstandard;
pub use read::read_zarr;
pub use write::{write_zarr, write_zarr_v2};

use crate::{FormatError, TraceFormat, WriteTrace};
use octopus_trace::InferenceData;
use read::is_store;
use std::path::Path;

/// A Zarr store: version 3 to write, either to read.
#[derive(Debug)]
pub(crate) struct Zarr;

impl TraceFormat for Zarr {
    fn name(&self) -> &'static str {
        "zarr"
    }

    fn about(&self) -> &'static str {
        "Zarr 3: `xarray.open_datatree`, `arviz.from_zarr` of ArviZ 1"
    }

    fn kind(&self) -> &'static str {
        "Zarr store"
    }

    fn has_folder(&self, folder: &Path) -> Result<bool, FormatError> {
        Ok(is_store(folder))
    }

    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        read_zarr(path)
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_zarr)
    }

    fn may_replace(&self, path: &Path) -> bool {
        write::is_ours(path)
    }
}

/// A Zarr store of version 2 to write; what there is to read is taken for [`Zarr`].
#[derive(Debug)]
pub(crate) struct ZarrV2;

impl TraceFormat for ZarrV2 {
    fn name(&self) -> &'static str {
        "zarr-v2"
    }

    fn about(&self) -> &'static str {
        "Zarr 2: `arviz.from_zarr` of ArviZ 0.23"
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_zarr_v2)
    }

    fn may_replace(&self, path: &Path) -> bool {
        write::is_ours(path)
    }
}
