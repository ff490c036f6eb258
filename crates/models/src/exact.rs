//! The exact posteriors of the models that ship, to judge a sampler.

pub use crate::eight_schools::SchoolsPosterior;
pub use crate::hierarchical_normal::exact::{ExactError, ExactPosterior, Interval, Marginal, Quantity};
pub use crate::moments::Moments;
