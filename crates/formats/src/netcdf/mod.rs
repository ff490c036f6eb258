//! NetCDF-4, as ArviZ and xarray write and read it.

mod read;
mod tree;
mod write;

pub use read::read_netcdf;
pub use write::write_netcdf;

#[cfg(test)]
mod tests;
