//! Estimates that only pictures need. Whatever is reported as a number comes from the diagnostics.

mod interval;
mod kde;
mod smirnov;

pub(crate) use interval::{quantile, shortest_interval};
pub(crate) use kde::Density;
pub(crate) use smirnov::smirnov;
