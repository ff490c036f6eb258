//! Coordinates and metric.

use super::data::padded;
use super::layout::NutsFormat;
use crate::{Context, CudaError, DeviceBuffer};

/// Coordinates and metric, which all chains share.
pub struct NutsGeometry {
    pub(crate) lambda: DeviceBuffer<u8>,
    pub(crate) total: f64,
    pub(crate) uniform: Option<f64>,
    pub(crate) natural: bool,
    pub(crate) scale: DeviceBuffer<u8>,
    pub(crate) directions: DeviceBuffer<u8>,
    pub(crate) stretch: DeviceBuffer<u8>,
    pub(crate) rank: u32,
    most_rank: usize,
    format: NutsFormat,
}

impl NutsGeometry {
    /// Room for the coordinates' numbers and a metric of at most `most_rank` directions; unit metric, natural
    /// coordinates.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], and when the driver fails.
    pub fn new(context: &Context, format: NutsFormat, most_rank: usize) -> Result<Self, CudaError> {
        let vector = format.vector() * format.element.bytes();
        let zeroed = |bytes| DeviceBuffer::zeroed(context, bytes);
        Ok(Self {
            lambda: zeroed(vector)?,
            total: 0.0,
            uniform: Some(0.0),
            natural: true,
            scale: zeroed(vector)?,
            directions: zeroed(most_rank * vector)?,
            stretch: zeroed(most_rank * format.scalar.bytes())?,
            rank: 0,
            most_rank,
            format,
        })
    }

    /// Sets the centering: one lambda for each effect, their sum, and the one value if all are equal.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for more lambdas than coordinates; and when a copy fails.
    pub fn set_centering(&mut self, lambda: &[f64], total: f64, uniform: Option<f64>) -> Result<(), CudaError> {
        let mut bytes = Vec::new();
        padded(self.format, "the centering", lambda, &mut bytes)?;
        self.lambda.copy_from(&bytes)?;
        (self.total, self.uniform) = (total, uniform);
        self.natural = lambda.iter().all(|&lambda| lambda == 0.0);
        Ok(())
    }

    /// Sets the metric: square roots of the diagonal, unit vectors, and for each the square root of its variance,
    /// less 1.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] for longer vectors than there are coordinates, for more directions than there is
    /// room for, and for another number of stretches; and when a copy fails.
    pub fn set_metric(&mut self, scale: &[f64], directions: &[&[f64]], stretch: &[f64]) -> Result<(), CudaError> {
        let (expected, found) = (directions.len(), stretch.len());
        if expected > self.most_rank || expected != found {
            let operation = format!("setting a metric of {expected} directions");
            let (what, expected) =
                if expected == found { ("the metric", self.most_rank) } else { ("the list of stretches", expected) };
            return Err(CudaError::LengthMismatch { operation, what, expected, found });
        }
        let mut bytes = Vec::new();
        padded(self.format, "the metric's diagonal", scale, &mut bytes)?;
        self.scale.copy_from(&bytes)?;
        bytes.clear();
        for direction in directions {
            padded(self.format, "a direction of the metric", direction, &mut bytes)?;
        }
        self.directions.copy_range_from(0, &bytes)?;
        bytes.clear();
        self.format.scalar.encode(stretch.iter().copied(), &mut bytes);
        self.stretch.copy_range_from(0, &bytes)?;
        // At most `most_rank`, whose directions are in memory.
        self.rank = directions.len() as u32;
        Ok(())
    }

    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        [&self.lambda, &self.scale, &self.directions, &self.stretch].map(DeviceBuffer::bytes).iter().sum()
    }

    pub(crate) fn format(&self) -> NutsFormat {
        self.format
    }
}
