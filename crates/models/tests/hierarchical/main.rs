//! The hierarchical normal density against a second, plain implementation of the same model.
//!
//! [`reference`] writes the model as its definition reads, over any kind of [`number`]: with `f64` it is the
//! value that the vector code must reproduce to 1e-12, with dual numbers its gradient.

mod cases;
mod centering;
mod gradient;
mod number;
mod observations;
mod reference;
