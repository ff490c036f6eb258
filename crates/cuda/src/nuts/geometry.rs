//! Coordinates (centering) and metric of a run on the device, which all its chains share.

use super::data::padded;
use super::layout::NutsFormat;
use crate::{Context, CudaError, DeviceBuffer};

/// The coordinates of a density's hierarchical block; at first the density's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NutsCentering {
    /// 0 or 1: x_j = s^lambda z_j + lambda m; 0 where coordinates are standardised.
    pub lambda: f64,
    /// Lambda for each effect, summed.
    pub total: f64,
    /// Whether each effect is in units of its conditional distribution.
    pub standardised: bool,
}

impl NutsCentering {
    /// Returns whether these are the density's own coordinates.
    pub(crate) fn is_natural(&self) -> bool {
        self.lambda == 0.0 && !self.standardised
    }
}

/// How far the trajectories of Hamiltonian Monte Carlo go (`kernels/nuts/hmc.cuh`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NutsTrajectory {
    /// The mean number of leapfrog steps; 0 where the length and a chain's step size make it.
    pub leapfrogs: f64,
    /// The mean length, in whitened coordinates.
    pub length: f64,
    /// Lengths, or numbers of steps, are uniform within this share of their mean.
    pub jitter: f64,
}

/// The part of coordinates and metric that kernels take by value; at first natural coordinates and no directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GeometryNumbers {
    pub(crate) centering: NutsCentering,
    pub(crate) rank: u32,
}

/// The bytes of a metric that go to memory.
pub(super) struct MetricBytes {
    pub(super) scale: Vec<u8>,
    pub(super) directions: Vec<u8>,
    pub(super) stretch: Vec<u8>,
    /// The number of directions, at most as many as there is room for.
    pub(super) rank: u32,
}

impl MetricBytes {
    pub(super) fn new(
        format: NutsFormat,
        most_rank: usize,
        scale: &[f64],
        directions: &[&[f64]],
        stretch: &[f64],
    ) -> Result<Self, CudaError> {
        let (expected, found) = (directions.len(), stretch.len());
        if expected > most_rank || expected != found {
            let operation = format!("setting a metric of {expected} directions");
            let (what, expected) =
                if expected == found { ("the metric", most_rank) } else { ("the list of stretches", expected) };
            return Err(CudaError::LengthMismatch { operation, what, expected, found });
        }
        let rank = directions.len() as u32;
        let mut bytes = Self { scale: Vec::new(), directions: Vec::new(), stretch: Vec::new(), rank };
        padded(format, "the metric's diagonal", scale, &mut bytes.scale)?;
        for direction in directions {
            padded(format, "a direction of the metric", direction, &mut bytes.directions)?;
        }
        format.scalar.encode(stretch.iter().copied(), &mut bytes.stretch);
        Ok(bytes)
    }
}

/// Coordinates and metric, which all chains share.
pub struct NutsGeometry {
    pub(crate) numbers: GeometryNumbers,
    pub(crate) scale: DeviceBuffer<u8>,
    pub(crate) directions: DeviceBuffer<u8>,
    pub(crate) stretch: DeviceBuffer<u8>,
    pub(crate) trajectory: Option<NutsTrajectory>,
    /// The middle of the chains, where records are to tell how the criterion of the length grows.
    pub(crate) center: Option<DeviceBuffer<u8>>,
    /// What evaluations read besides the coordinates.
    pub(crate) inputs: Option<DeviceBuffer<u8>>,
    most_rank: usize,
    format: NutsFormat,
}

impl NutsGeometry {
    /// Makes room for a metric of at most `most_rank` directions, which is to be set before any launch; natural
    /// coordinates.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], and when the driver fails.
    pub fn new(context: &Context, format: NutsFormat, most_rank: usize) -> Result<Self, CudaError> {
        let vector = format.vector() * format.element.bytes();
        let zeroed = |bytes| DeviceBuffer::zeroed(context, bytes);
        Ok(Self {
            numbers: GeometryNumbers::default(),
            scale: zeroed(vector)?,
            directions: zeroed(most_rank * vector)?,
            stretch: zeroed(most_rank * format.scalar.bytes())?,
            trajectory: None,
            center: None,
            inputs: None,
            most_rank,
            format,
        })
    }

    /// Sets how far trajectories go, and the middle of the chains where the host learns how far: kernels of Hamiltonian Monte
    /// Carlo need it before any launch, and others have no use for it.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for a middle of more coordinates than there are, and when memory does not suffice or a
    /// copy fails.
    pub fn set_trajectory(
        &mut self,
        context: &Context,
        trajectory: NutsTrajectory,
        center: Option<&[f64]>,
    ) -> Result<(), CudaError> {
        self.trajectory = Some(trajectory);
        let Some(center) = center else {
            self.center = None;
            return Ok(());
        };
        let mut bytes = Vec::new();
        padded(self.format, "the middle of the chains", center, &mut bytes)?;
        let buffer = match &mut self.center {
            Some(buffer) => buffer,
            empty => empty.insert(DeviceBuffer::zeroed(context, bytes.len())?),
        };
        buffer.copy_from(&bytes)
    }

    /// Sets the numbers that evaluations read besides the coordinates, always as many.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for another number of them, and when memory does not suffice or a copy fails.
    pub fn set_inputs(&mut self, context: &Context, inputs: &[f64]) -> Result<(), CudaError> {
        let mut bytes = Vec::new();
        self.format.element.encode(inputs.iter().copied(), &mut bytes);
        let buffer = match &mut self.inputs {
            Some(buffer) => buffer,
            empty => empty.insert(DeviceBuffer::zeroed(context, bytes.len())?),
        };
        buffer.copy_from(&bytes)
    }

    /// Sets the coordinates.
    pub fn set_centering(&mut self, centering: NutsCentering) {
        self.numbers.centering = centering;
    }

    /// Sets the metric: square roots of the diagonal, unit vectors, and for each the square root of its variance,
    /// less 1.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for longer vectors than there are coordinates, for more directions than there is
    /// room for, and for another number of stretches; and when a copy fails.
    pub fn set_metric(&mut self, scale: &[f64], directions: &[&[f64]], stretch: &[f64]) -> Result<(), CudaError> {
        let bytes = MetricBytes::new(self.format, self.most_rank, scale, directions, stretch)?;
        self.scale.copy_from(&bytes.scale)?;
        self.directions.copy_range_from(0, &bytes.directions)?;
        self.stretch.copy_range_from(0, &bytes.stretch)?;
        self.numbers.rank = bytes.rank;
        Ok(())
    }

    pub(crate) fn format(&self) -> NutsFormat {
        self.format
    }
}
