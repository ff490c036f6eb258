//! Estimates that pictures need beside the diagnostics.

mod kde;
mod smirnov;

pub(crate) use kde::Density;
pub(crate) use smirnov::smirnov;
