//! How arrays in files become variables, labels and coordinates, and back: the conventions of NetCDF and CF, as xarray
//! understands them. NetCDF and both versions of Zarr share them.
//!
//! Here are `scale_factor`, `_FillValue` and `_Unsigned`, the attribute `coordinates`, dates and durations, and the order
//! of axes.

mod group;
mod labels;
mod packing;
mod remarks;
mod time;

pub(crate) use group::{StoredVariable, WrittenVariable, inherit_labels, read_group, written};
pub(crate) use labels::{label_values, labels_of};
pub(crate) use packing::{Packing, StorageType};
pub(crate) use remarks::Remarks;
pub(crate) use time::{date_attributes, duration_attributes};
