//! Log densities with gradients: the trait, its layout, and the models Octopus ships.
#![forbid(unsafe_code)]

mod data;
mod density;
mod error;
mod layout;

pub use data::GroupedData;
pub use density::{Hierarchy, LogDensity};
pub use error::{DataError, DensityError};
pub use layout::{Dim, Labels, Layout, Role, Transform, Variable};
