//! NetCDF-4, as ArviZ and xarray write and read it.

mod filters;
mod read;
mod tree;
mod values;
mod write;

pub use read::read_netcdf;
pub use write::write_netcdf;

use crate::{FormatError, TraceFormat, WriteTrace};
use octopus_trace::InferenceData;
use std::path::Path;

/// NetCDF-4, as ArviZ, PyMC, nutpie and NumPyro's users save it.
#[derive(Debug)]
pub(crate) struct NetCdf;

impl TraceFormat for NetCdf {
    fn name(&self) -> &'static str {
        "netcdf"
    }

    fn about(&self) -> &'static str {
        "NetCDF-4: `arviz.from_netcdf`"
    }

    fn kind(&self) -> &'static str {
        "NetCDF file"
    }

    fn has_file(&self, beginning: &[u8]) -> bool {
        matches!(beginning, [0x89, b'H', b'D', b'F', ..] | [b'C', b'D', b'F', 1 | 2 | 5, ..])
    }

    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        read_netcdf(path)
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_netcdf)
    }
}

#[cfg(test)]
mod tests;
