//! Log densities with gradients: the trait, its layout, and the models Octopus ships.
#![forbid(unsafe_code)]

mod centering;
mod density;
mod error;
pub mod exact;
pub mod gpu;
mod hierarchical;
mod hierarchy;
mod schools;
pub mod synthetic;
pub mod warp;

pub use centering::{Centering, gradient_to_centered, log_jacobian, to_centered, to_non_centered};
pub use density::LogDensity;
pub use error::{DensityError, ModelError};
pub use hierarchical::{HierarchicalNormal, HierarchicalPrior, Likelihood};
pub use hierarchy::{Hierarchy, Information, Kinds, Noise, Population};
pub use octopus_trace::{DataError, Dim, GroupedData, Labels, Layout, Role, Transform, Variable};
pub use schools::EightSchools;
