//! Log densities with gradients: the trait, its layout, and the models Octopus ships.
#![forbid(unsafe_code)]

mod centering;
mod data;
mod density;
mod error;
pub mod exact;
pub mod gpu;
mod hierarchical;
mod hierarchy;
mod layout;
mod schools;
pub mod synthetic;
pub mod warp;

pub use centering::{Centering, gradient_to_centered, log_jacobian, to_centered, to_non_centered};
pub use data::GroupedData;
pub use density::LogDensity;
pub use error::{DataError, DensityError};
pub use hierarchical::{HierarchicalNormal, HierarchicalPrior, Likelihood};
pub use hierarchy::{Hierarchy, Information, Kinds, Noise, Population};
pub use layout::{Dim, Labels, Layout, Role, Transform, Variable};
pub use schools::EightSchools;
