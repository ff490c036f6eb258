//! The memory that a transition overwrites: made once for a thread, so that nothing is allocated per draw.

use super::nuts::{Momenta, Subtree};
use super::state::{Point, Scratch};
use octopus_density::warp::Buffer;

/// Points of a tree kept at a time: both ends of the trajectory, the proposal, the candidate of the new half, and the next
/// leaf. They are known by number, so that none is ever copied.
pub(super) const POINTS: usize = 5;

/// Everything that a transition overwrites and nobody reads after it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) scratch: Scratch,
    pub(super) momenta: Momenta,
    pub(super) stack: Vec<Subtree>,
    pub(super) points: [Point; POINTS],
    pub(super) path: Path,
}

/// States that trajectories without a tree, and steps made of smaller ones, take turns in.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) points: [Point; 2],
    pub(super) momenta: [Buffer; 2],
}

impl Workspace {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            scratch: Scratch::new(dim),
            momenta: Momenta::new(dim),
            stack: Vec::new(),
            points: std::array::from_fn(|_| Point::zeros(dim)),
            path: Path {
                points: std::array::from_fn(|_| Point::zeros(dim)),
                momenta: std::array::from_fn(|_| Buffer::zeros(dim)),
            },
        }
    }
}
