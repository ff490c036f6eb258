//! The memory that chains keep from launch to launch: states (step size, log density) and workspaces.

use super::layout::{Float, NutsFormat};
use super::team::{NutsTeam, NutsTeamWork};
use crate::{Context, CudaError, DeviceBuffer};
use std::time::Duration;

/// A chain's numbers besides its vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NutsChain {
    /// Dual averaging: target, mu, count, mean error, log step, mean log step.
    pub averaging: [f64; 6],
    /// The step size of the next transition.
    pub step_size: f64,
    /// The log density at the chain's point.
    pub logp: f64,
    /// The one of the workspace's two points that holds the chain's point; only the kernels use this.
    which: u32,
}

impl NutsChain {
    /// Makes a chain at a point that the kernels have not seen yet.
    #[must_use]
    pub fn new(averaging: [f64; 6], step_size: f64) -> Self {
        Self { averaging, step_size, ..Self::default() }
    }

    pub(super) fn encode(&self, scalar: Float, bytes: &mut Vec<u8>) {
        scalar.encode(self.averaging.into_iter().chain([self.step_size, self.logp]), bytes);
        bytes.extend_from_slice(&self.which.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
    }

    pub(super) fn decode(scalar: Float, bytes: &[u8]) -> Self {
        let mut reals = Vec::with_capacity(8);
        let (numbers, rest) = bytes.split_at(8 * scalar.bytes());
        scalar.decode(numbers, &mut reals);
        let mut averaging = [0.0; 6];
        averaging.copy_from_slice(&reals[..6]);
        let which = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]);
        Self { averaging, step_size: reals[6], logp: reals[7], which }
    }
}

/// Memory of the evaluations of all chains.
pub(crate) struct NutsRoom {
    pub(crate) memory: DeviceBuffer<u8>,
    /// Numbers of each chain.
    pub(crate) numbers: usize,
}

/// The states and workspaces of all chains.
pub struct NutsChains {
    pub(crate) states: DeviceBuffer<u8>,
    pub(crate) workspaces: DeviceBuffer<u8>,
    pub(crate) team: Option<NutsTeam>,
    pub(crate) room: Option<NutsRoom>,
    pub(super) chains: usize,
    pub(super) dim: usize,
    max_depth: u32,
    pub(super) format: NutsFormat,
}

impl NutsChains {
    /// Makes room for `chains` chains of `dim` coordinates with trees of at most `max_depth` doublings.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when the format is too narrow for the coordinates, [`CudaError::OutOfMemory`],
    /// [`CudaError::TooLarge`]; and when the driver fails.
    pub fn new(
        context: &Context,
        format: NutsFormat,
        chains: usize,
        dim: usize,
        max_depth: u32,
    ) -> Result<Self, CudaError> {
        if dim > format.vector() {
            let operation = format!("making room for {dim} coordinates in {format}");
            return Err(CudaError::LengthMismatch {
                operation,
                what: "a vector",
                expected: dim,
                found: format.vector(),
            });
        }
        let zeroed = |bytes: usize| DeviceBuffer::zeroed(context, chains.saturating_mul(bytes));
        Ok(Self {
            states: zeroed(format.state_bytes())?,
            workspaces: zeroed(format.workspace_bytes(max_depth))?,
            team: None,
            room: None,
            chains,
            dim,
            max_depth,
            format,
        })
    }

    /// Gives each chain memory for so many numbers in its evaluations: for kernels that take it after the launch.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::TooLarge`]; and when the driver fails.
    pub fn with_room(self, context: &Context, numbers: usize) -> Result<Self, CudaError> {
        let bytes = self.chains.saturating_mul(numbers).saturating_mul(self.format.element.bytes());
        let room = NutsRoom { memory: DeviceBuffer::zeroed(context, bytes)?, numbers };
        Ok(Self { room: Some(room), ..self })
    }

    /// Moves the same chains, each by a team of `blocks` blocks, with so much patience: for kernels that are compiled for
    /// teams.
    ///
    /// # Errors
    /// When memory does not suffice or the driver fails: see [`NutsTeam::new`].
    pub fn by_teams(
        self,
        context: &Context,
        work: NutsTeamWork,
        blocks: usize,
        patience: Duration,
    ) -> Result<Self, CudaError> {
        let team = NutsTeam::new(context, self.format, self.chains, work, blocks, patience)?;
        Ok(Self { team: Some(team), ..self })
    }

    /// Returns the states of the first `count` chains, after all work that is queued.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] for more chains than there is room for; and when the copy or any work before failed.
    pub fn states(&self, count: usize) -> Result<Vec<NutsChain>, CudaError> {
        let each = self.format.state_bytes();
        let mut bytes = vec![0; count * each];
        self.states.copy_range_to(0, &mut bytes)?;
        Ok(bytes.chunks_exact(each).map(|bytes| NutsChain::decode(self.format.scalar, bytes)).collect())
    }

    /// Sets the states of the first chains, after all work that is queued.
    ///
    /// # Errors
    /// [`CudaError::RangeOutside`] for more chains than there is room for; and when the copy or any work before failed.
    pub fn set_states(&mut self, states: &[NutsChain]) -> Result<(), CudaError> {
        let mut bytes = Vec::with_capacity(states.len() * self.format.state_bytes());
        states.iter().for_each(|state| state.encode(self.format.scalar, &mut bytes));
        self.states.copy_range_from(0, &bytes)
    }

    /// Returns the number of chains that so many blocks of threads carry.
    #[must_use]
    pub fn chains_of(&self, blocks: usize) -> usize {
        match &self.team {
            Some(team) => blocks / team.blocks as usize,
            None => blocks.saturating_mul(self.format.chains_of_block()),
        }
    }

    pub(crate) fn max_depth(&self) -> u32 {
        self.max_depth
    }

    pub(crate) fn format(&self) -> NutsFormat {
        self.format
    }
}
