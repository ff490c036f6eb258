//! Trajectories: the phase space that chains move in between two adaptations, and one transition of NUTS.
//!
//! Nothing here knows what a run is, or how metric and step size are learned.

mod address;
mod initial_step;
mod metric;
mod nuts;
mod phase_space;
mod space;
mod state;
mod vector;

pub(crate) use address::Address;
pub(crate) use initial_step::find_reasonable;
pub(crate) use metric::Metric;
pub use metric::MetricEstimate;
pub(crate) use nuts::{NutsSettings, Workspace, transition};
pub(crate) use phase_space::PhaseSpace;
pub(crate) use space::Space;
pub(crate) use state::{Point, State, StateMut};
pub(crate) use vector::Vectors;
