//! The exact posteriors of the models that ship, to judge a sampler.

pub use crate::eight_schools::SchoolsPosterior;
pub use crate::hierarchical_normal::exact::{ExactError, ExactPosterior, Interval, Marginal, Quantity};
pub use crate::moments::Moments;

/// An exact posterior, as far as it is known: what draws are compared with.
pub trait Exact: Send + Sync {
    /// Returns how it was computed and how well, e.g. `by quadrature over the two scales, good to ten digits`.
    fn method(&self) -> &'static str;

    /// Returns mean and standard deviation of the value `index` of a variable; `None` where they are not known, or an
    /// estimate of them from draws has no standard error.
    fn moments_of(&self, variable: &str, index: usize) -> Option<Moments>;

    /// Returns the ends of the highest-density interval with this probability of the value `index` of a variable;
    /// `None` where it is not known.
    fn hdi_of(&self, _variable: &str, _index: usize, _probability: f64) -> Option<(f64, f64)> {
        None
    }

    /// Returns the logarithm of the evidence, the data's probability by the model; `None` where it is not known.
    fn log_evidence(&self) -> Option<f64> {
        None
    }
}
