//! A pipeline of devices: some draw, and one works on what they have drawn.

use super::{BatchConfig, DrawError, draw_batches};
use crate::{Array, ArrayShape, Scalar};
use octopus_device::{Device, with_device};
use octopus_random::{Draw, Key};
use std::ops::Range;

/// Makes draws `range` on the devices of `config` and hands them to `work` in order, batch by batch, as arrays of another
/// device, which is [`Device::current`] meanwhile; vectors are rows. The next batches are drawn and copied while `work`
/// works on one.
///
/// Batches go from device to device by way of pinned memory of the host. Array operations queue on a GPU: what `work`
/// asks for may still be under way when it returns, and the next batch arrives after it.
///
/// ```
/// use octopus_array::{Array, BatchConfig, DrawError, draw_batches_onto};
/// use octopus_device::Device;
/// use octopus_random::{Key, Normal};
///
/// // On a machine with two GPUs: draws on Device::Cuda(0), sums on Device::Cuda(1).
/// let (draws_on, sums_on) = (Device::Cpu, Device::Cpu);
/// let config = BatchConfig { devices: vec![draws_on], memory: 4 << 20, threads: None };
/// let mut sum_of_squares = 0.0;
/// draw_batches_onto(sums_on, &Normal::new(0.0, 1.0)?, Key::new(42), 0..1_000_000, &config, |batch: Array<f64>| {
///     sum_of_squares += batch.dot(&batch)?;
///     Ok::<(), DrawError>(())
/// })?;
/// assert!((sum_of_squares / 1e6 - 1.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `work`'s own, and those of [`draw_batches`]; when the other device is not there, its memory does not suffice, or it
/// fails.
pub fn draw_batches_onto<T: Scalar, E: From<DrawError>>(
    device: Device,
    distribution: &dyn Draw<T>,
    key: Key,
    range: Range<u64>,
    config: &BatchConfig,
    mut work: impl FnMut(Array<T>) -> Result<(), E>,
) -> Result<(), E> {
    draw_batches(distribution, key, range, config, |batch| {
        let shape = ArrayShape::of_draws(distribution, batch.len() / distribution.dimensions());
        let batch = Array::on(device, batch).and_then(|array| array.reshape(shape)).map_err(DrawError::from)?;
        with_device(device, || work(batch))
    })
}
