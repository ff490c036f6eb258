//! Arrays made of a rule: zeros, full, eye, arange.

use crate::storage::on_host;
use crate::{Array, ArrayError, ArrayShape, Engine, Scalar, cpu};
use octopus_device::Device;

impl<T: Scalar> Array<T> {
    /// Makes an array of zeros on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn zeros(shape: impl Into<ArrayShape>) -> Result<Self, ArrayError> {
        Self::full(shape, T::ZERO)
    }

    /// Makes an array whose elements are all `value` on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn full(shape: impl Into<ArrayShape>, value: T) -> Result<Self, ArrayError> {
        let shape = shape.into();
        let Device::Cuda(ordinal) = Device::current() else {
            return on_host(shape, |_, out| {
                out.fill(value);
                Ok(())
            });
        };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, shape, |out| engine.kernels().fill(engine.stream(), value, out))
    }

    /// Makes the identity with `side` rows on this thread's [`Device::current`].
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn eye(side: usize) -> Result<Self, ArrayError> {
        let shape = ArrayShape::from((side, side));
        let Device::Cuda(ordinal) = Device::current() else {
            return on_host(shape, |range, out| {
                out.fill(T::ZERO);
                // Ones are `side + 1` elements apart.
                let first = range.start.next_multiple_of(side + 1) - range.start;
                out.iter_mut().skip(first).step_by(side + 1).for_each(|one| *one = T::ONE);
                Ok(())
            });
        };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, shape, |out| engine.kernels().eye(engine.stream(), side, out))
    }

    /// Makes the numbers `start + step * i` below `stop` (above it, where `step` is negative) on this thread's
    /// [`Device::current`]: i is rounded to the type, then the product, then the sum.
    ///
    /// ```
    /// use octopus_array::Array;
    ///
    /// assert_eq!(Array::arange(1.0, 2.0, 0.25)?.to_host()?, [1.0, 1.25, 1.5, 1.75]);
    /// # Ok::<(), octopus_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// When `step` is 0 or a number is not finite, the device is not there, its memory does not suffice, or it fails.
    pub fn arange(start: T, stop: T, step: T) -> Result<Self, ArrayError> {
        // As in NumPy, the number of elements is the quotient, rounded up.
        let length = ((stop.to_f64() - start.to_f64()) / step.to_f64()).ceil();
        if !length.is_finite() || [start, stop, step].iter().any(|x| !x.to_f64().is_finite()) {
            let [start, stop, step] = [start, stop, step].map(|x| x.to_string());
            return Err(ArrayError::Range { start, stop, step });
        }
        // A negative quotient is no elements. A float that is too large becomes the greatest integer, which no memory holds.
        let shape = ArrayShape::from(length.max(0.0) as usize);
        let Device::Cuda(ordinal) = Device::current() else {
            return on_host(shape, |range, out| {
                cpu::arange(start, step, range.start, out);
                Ok(())
            });
        };
        let engine = Engine::ready(ordinal)?;
        Self::made_on(&engine, shape, |out| engine.kernels().arange(engine.stream(), start, step, out))
    }
}
