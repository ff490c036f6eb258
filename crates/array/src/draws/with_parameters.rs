//! Von Mises draws whose parameters are arrays, on the device where those are.

use super::{DrawError, range_of};
use crate::elementwise::{loop_sides, on_device};
use crate::pool::{HostBuffer, PooledBuffer};
use crate::storage::Pair;
use crate::{Array, ArrayShape, Engine, Scalar};
use octopus_cuda::DeviceBuffer;
use octopus_random::{BroadcastParameter, Key, SampleError, VonMises, fill_von_mises};
use std::f64::consts::PI;
use std::sync::Arc;

const NAME: &str = "drawn_von_mises";

impl<T: Scalar> Array<T> {
    /// Makes an array of von Mises draws, angles in [-pi, pi], where each has its own parameters: `loc` (radians) and
    /// `concentration` are broadcast to `shape` as NumPy does. It lives where they live.
    ///
    /// Draw `i`, in C order, depends on the key, on `i` and on its own parameters alone, and is that of
    /// [`sample_von_mises`](octopus_random::sample_von_mises). On a GPU the draws are queued once the parameters were
    /// looked at, which waits for them.
    ///
    /// ```
    /// use octopus_array::Array;
    /// use octopus_random::Key;
    ///
    /// // A thousand directions of wind for each of three stations.
    /// let loc = Array::from_slice(&[0.0, 1.5, -3.0])?;
    /// let concentration = Array::from_slice(&[2.0, 50.0, 1e6])?;
    /// let angles = Array::drawn_von_mises(&loc, &concentration, Key::new(42), (1000, 3))?;
    /// assert!((angles.sub(&loc)?.abs()?.mean_axis(0)?.to_host()?[2]) < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a concentration is negative or NaN, a loc is not finite, the parameters' shapes do not suit, they are on
    /// different devices, memory does not suffice, or the device fails.
    pub fn drawn_von_mises(
        loc: &Self,
        concentration: &Self,
        key: Key,
        shape: impl Into<ArrayShape>,
    ) -> Result<Self, DrawError> {
        let shape = shape.into();
        for (parameter, given) in [("loc", loc), ("concentration", concentration)] {
            if given.shape().broadcast(shape, NAME).ok() != Some(shape) {
                let (own, shape) = (given.shape().to_string(), shape.to_string());
                return Err(SampleError::Shapes { parameter, own, shape }.into());
            }
        }
        match loc.beside(NAME, concentration)? {
            Pair::Host(of_loc, of_concentration) => {
                let mut out = HostBuffer::unfilled(shape.elements(NAME)?)?;
                let (own, other) = (sides(loc.shape()), sides(concentration.shape()));
                let loc = BroadcastParameter::new(of_loc, &own)?;
                let concentration = BroadcastParameter::new(of_concentration, &other)?;
                fill_von_mises(key, loc, concentration, &sides(shape), &mut out)?;
                Ok(Self::from(out).reshape(shape)?)
            }
            Pair::Cuda(engine, of_loc, of_concentration) => {
                concentration.check_concentrations()?;
                let on_circle = loc.turned_to_circle(engine)?;
                let of_loc = on_circle.as_deref().unwrap_or(of_loc);
                let parameters = [(loc, of_loc), (concentration, of_concentration)]
                    .map(|(own, elements)| on_device(own.shape(), shape, elements));
                // Nobody reads it: a draw that is refused is NaN.
                let mut refused = PooledBuffer::filled(engine, 1, |_| Ok(()))?;
                let (kernels, stream, columns) = (engine.kernels(), engine.stream(), loop_sides(shape).1.max(1));
                Ok(Self::made_on(engine, shape, |out: &mut DeviceBuffer<T>| {
                    kernels.draw_von_mises_each(stream, parameters, columns, range_of(key, 0), (&mut refused, out))
                })?)
            }
        }
    }

    /// # Errors
    /// When an element is negative or NaN: the first one is named.
    fn check_concentrations(&self) -> Result<(), DrawError> {
        // The minimum of elements among which there is a NaN is NaN.
        if self.min()? >= T::ZERO {
            return Ok(());
        }
        let checked = |concentration| VonMises::new(T::ZERO, concentration).map(drop);
        Ok(self.to_host()?.into_iter().try_for_each(checked).map_err(SampleError::from)?)
    }

    /// Returns the angles of [-pi, pi] that these are, where they are others: made on the host.
    ///
    /// # Errors
    /// When an element is not finite: the first one is named.
    fn turned_to_circle(&self, engine: &Arc<Engine>) -> Result<Option<PooledBuffer<T>>, DrawError> {
        // In f32 the number next to pi is beyond it.
        if self.min()?.to_f64() >= -PI && self.max()?.to_f64() <= PI {
            return Ok(None);
        }
        let turned = |loc: T| Ok(VonMises::new(loc, T::ZERO)?.loc());
        let all = self.to_host()?.into_iter().map(turned).collect::<Result<Vec<T>, SampleError>>()?;
        Ok(Some(PooledBuffer::filled(engine, all.len(), |buffer| buffer.copy_from(&all))?))
    }
}

/// The sides of a shape, as many as it has dimensions.
fn sides(shape: ArrayShape) -> Vec<usize> {
    match shape {
        ArrayShape::Vector(length) => vec![length],
        ArrayShape::Matrix(rows, columns) => vec![rows, columns],
    }
}
