//! Measuring the costs of a device and of the processor beside it: `octopus device measure`.
//!
//! The sizes that are timed, and samples and their least time, stand here.

use crate::exact::of_twin;
use crate::timing::{enough_calls, median};
use octopus_array::{ArrayError, Engine, Scalar, cpu};
use octopus_cuda::{CudaError, DeviceBuffer, Kernels, MatrixShape, Stream};
use octopus_device::{CostsKey, Device, DeviceCosts, DeviceError, KernelCost, LinearCost, TEST_DOUBLE, TransferCost};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The sizes that are measured. Costs are lines through the times of a small and a large size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostsConfig {
    /// Elements of the small and the large array. The large one should be beyond the caches: three such arrays in f64 are
    /// on the device at a time.
    pub elements: (usize, usize),
    /// Sides of the small and the large square matrix.
    pub sides: (usize, usize),
    /// Times that each size is measured; the median counts.
    pub samples: u32,
    /// The least time of a sample, made of as many calls as it takes.
    pub sample_time: Duration,
}

impl Default for CostsConfig {
    /// 1024 and 2^24 elements (384 MiB on the device), sides of 16 and 512, five samples of at least 1 ms: some seconds.
    fn default() -> Self {
        Self { elements: (1024, 1 << 24), sides: (16, 512), samples: 5, sample_time: Duration::from_millis(1) }
    }
}

impl CostsConfig {
    /// Returns smaller sizes and fewer samples: some tenths of a second. Arrays of a mebibyte stay in the caches, on
    /// either side.
    #[must_use]
    pub fn quick() -> Self {
        Self { elements: (1024, 1 << 18), sides: (16, 128), samples: 3, sample_time: Duration::from_micros(200) }
    }

    /// Returns settings for the software GPU. They are just enough to run the code, since its times say nothing.
    #[must_use]
    pub fn of_the_double() -> Self {
        Self { elements: (256, 16_384), sides: (8, 32), samples: 3, sample_time: Duration::from_micros(100) }
    }
}

/// Measures the device `ordinal` and the processor for this program as [`measure_costs`] does, by [`CostsConfig::quick`];
/// `driver_version` is NVML's. An [`AutoDevice`](octopus_device::AutoDevice) measures by it:
///
/// ```
/// use octopus_array::Array;
/// use octopus_device::{AutoDevice, Work, with_device};
/// use octopus_fitness::quick_costs;
///
/// let mut auto = AutoDevice::look(quick_costs);
/// let x = vec![1.0_f64; 1000];
/// let work = Work::new("a sum of products").step("array_dot_f64", 1, 1000.0).upload(2, 16_000).download(1, 8);
/// let chosen = auto.for_work(&work);
/// println!("{}", chosen.why); // e.g. "there is no CUDA device"
/// let sum = with_device(chosen.device, || Array::from_slice(&x)?.dot(&Array::from_slice(&x)?))?;
/// assert_eq!(sum, 1000.0);
/// # Ok::<(), octopus_array::ArrayError>(())
/// ```
///
/// # Errors
/// When the device cannot be used, its memory does not suffice, or it fails.
pub fn quick_costs(ordinal: u32, driver_version: Option<&str>) -> Result<DeviceCosts, DeviceError> {
    let measured = || {
        let engine = Engine::of(ordinal)?;
        let key = CostsKey::of_device(ordinal, driver_version)?;
        let name = engine.context().device().name()?;
        let config = if name.contains(TEST_DOUBLE) { CostsConfig::of_the_double() } else { CostsConfig::quick() };
        costs(&engine, key, &config)
    };
    measured().map_err(|source| DeviceError { device: Device::Cuda(ordinal), source })
}

/// Measures the device `ordinal` and the processor, for `key`.
///
/// Kernels are timed by the processor's clock from the call until the device has done all of them, launched back to back:
/// what a program pays that launches many. Reductions are timed with the copy of their result. The processor
/// runs the twins in [`cpu`] on one thread. The start-up time is that of this process's context, and of loading
/// the kernels once the driver has them compiled: what later processes pay.
///
/// # Errors
/// When the device cannot be used, its memory does not suffice, or it fails.
pub fn measure_costs(ordinal: u32, key: CostsKey, config: &CostsConfig) -> Result<DeviceCosts, DeviceError> {
    let measured = Engine::of(ordinal).and_then(|engine| costs(&engine, key, config));
    measured.map_err(|source| DeviceError { device: Device::Cuda(ordinal), source })
}

/// [`measure_costs`] on a device that is ready.
fn costs(engine: &Engine, key: CostsKey, config: &CostsConfig) -> Result<DeviceCosts, CudaError> {
    let bench = CostBench { engine, config };
    let mut kernels = BTreeMap::new();
    bench.arrays::<f32>(&mut kernels)?;
    bench.arrays::<f64>(&mut kernels)?;
    bench.matrices::<f32>(&mut kernels)?;
    bench.matrices::<f64>(&mut kernels)?;
    let (transfer, device_bytes_per_second) = bench.copies()?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(DeviceCosts {
        key,
        device_name: engine.context().device().name()?,
        measured_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        cpu_threads: u32::try_from(threads).unwrap_or(u32::MAX),
        startup_seconds: (engine.startup() + bench.load()?).as_secs_f64(),
        launch_seconds: bench.launch()?,
        transfer,
        device_bytes_per_second,
        kernels,
    })
}

/// The most calls of a sample.
const MOST_CALLS: u32 = 1 << 16;

/// The settings of a measurement: what is measured, and how.
struct CostBench<'a> {
    engine: &'a Engine,
    config: &'a CostsConfig,
}

/// Seconds of one call on the processor and on the device.
#[derive(Clone, Copy)]
struct Times {
    cpu: f64,
    device: f64,
}

/// The lines through the times of both sides at two sizes.
fn through(small: (f64, Times), large: (f64, Times)) -> KernelCost {
    KernelCost {
        cpu: LinearCost::through((small.0, small.1.cpu), (large.0, large.1.cpu)),
        device: LinearCost::through((small.0, small.1.device), (large.0, large.1.device)),
    }
}

/// Seconds a call: the median over samples of as many calls as fill the sample's time. `finish` ends a sample.
fn seconds(
    config: &CostsConfig,
    call: &mut dyn FnMut() -> Result<(), CudaError>,
    finish: &dyn Fn() -> Result<(), CudaError>,
) -> Result<f64, CudaError> {
    let mut time = |calls: u32| {
        let clock = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        finish()?;
        Ok::<_, CudaError>(clock.elapsed())
    };
    // Once to warm up: the driver compiles or loads on first use.
    time(1)?;
    let calls = enough_calls(MOST_CALLS, config.sample_time, &mut time)?;
    let samples: Result<Vec<_>, _> = (0..config.samples.max(1)).map(|_| time(calls)).collect();
    Ok(median(samples?.into_iter().map(|sample| sample.as_secs_f64() / f64::from(calls))))
}

/// Bytes a second of copies of so many bytes: each is read and written.
fn copied_each_second(bytes: usize, seconds: f64) -> f64 {
    2.0 * bytes as f64 / seconds
}

impl CostBench<'_> {
    fn on_cpu(&self, mut call: impl FnMut() -> Result<(), ArrayError>) -> Result<f64, CudaError> {
        seconds(self.config, &mut || of_twin(call()), &|| Ok(()))
    }

    fn on_device(&self, mut call: impl FnMut(&Kernels, &Stream) -> Result<(), CudaError>) -> Result<f64, CudaError> {
        let (kernels, stream) = (self.engine.kernels(), self.engine.stream());
        seconds(self.config, &mut || call(kernels, stream), &|| stream.synchronize())
    }

    fn buffer<T: Scalar>(&self, elements: &[T]) -> Result<DeviceBuffer<T>, CudaError> {
        DeviceBuffer::from_slice(self.engine.context(), elements)
    }

    /// Returns the time that loading the kernels takes once the driver has compiled them.
    fn load(&self) -> Result<Duration, CudaError> {
        let clock = Instant::now();
        Kernels::load(self.engine.context())?;
        Ok(clock.elapsed())
    }

    /// Returns the smallest launch, waited for each time.
    fn launch(&self) -> Result<f64, CudaError> {
        let mut one = self.buffer(&[0.0_f32])?;
        self.on_device(|kernels, stream| {
            kernels.fill(stream, 1.0, &mut one)?;
            stream.synchronize()
        })
    }

    /// The element-wise and reducing kernels.
    fn arrays<T: Scalar>(&self, costs: &mut BTreeMap<String, KernelCost>) -> Result<(), CudaError> {
        let (small, large) = self.config.elements;
        let (small_times, large_times) = (self.array_times::<T>(small)?, self.array_times::<T>(large)?);
        for ((name, small_time), (_, large_time)) in small_times.into_iter().zip(large_times) {
            let cost = through((small as f64, small_time), (large as f64, large_time));
            costs.insert(format!("{name}_{}", T::SUFFIX), cost);
        }
        Ok(())
    }

    fn array_times<T: Scalar>(&self, length: usize) -> Result<[(&'static str, Times); 3], CudaError> {
        let (x, y) = (ordinary::<T>(length), vec![T::from_f64(1.25); length]);
        let mut out = vec![T::ZERO; length];
        let a = T::from_f64(1.5);
        let (dx, dy, mut dout) = (self.buffer(&x)?, self.buffer(&y)?, self.buffer(&out)?);
        let axpy = Times {
            cpu: self.on_cpu(|| cpu::axpy(black_box(a), &x, &y, black_box(&mut out)))?,
            device: self.on_device(|kernels, stream| kernels.axpy(stream, a, &dx, &dy, &mut dout))?,
        };
        let exp = Times {
            cpu: self.on_cpu(|| cpu::exp(&x, black_box(&mut out)))?,
            device: self.on_device(|kernels, stream| kernels.exp(stream, &dx, &mut dout))?,
        };
        let dot = Times {
            cpu: self.on_cpu(|| {
                black_box(cpu::dot(black_box(&x), &y)?);
                Ok(())
            })?,
            device: self.on_device(|kernels, stream| kernels.dot(stream, &dx, &dy).map(|_| ()))?,
        };
        Ok([("array_axpy", axpy), ("array_exp", exp), ("array_dot", dot)])
    }

    /// The product of matrices.
    fn matrices<T: Scalar>(&self, costs: &mut BTreeMap<String, KernelCost>) -> Result<(), CudaError> {
        let (small, large) = self.config.sides;
        let units = |side: usize| (side as f64).powi(3);
        let small = (units(small), self.matrix_times::<T>(small)?);
        let large = (units(large), self.matrix_times::<T>(large)?);
        costs.insert(format!("matmul_{}", T::SUFFIX), through(small, large));
        Ok(())
    }

    fn matrix_times<T: Scalar>(&self, side: usize) -> Result<Times, CudaError> {
        let shape = MatrixShape { m: side, k: side, n: side };
        let a = ordinary::<T>(side * side);
        let mut c = vec![T::ZERO; side * side];
        let (da, mut dc) = (self.buffer(&a)?, self.buffer(&c)?);
        Ok(Times {
            cpu: self.on_cpu(|| cpu::matmul(shape, &a, &a, black_box(&mut c)))?,
            device: self.on_device(|kernels, stream| kernels.matmul(stream, shape, &da, &da, &mut dc))?,
        })
    }

    /// Copies between host and device, and the bytes a second that the device's own copying reads and writes.
    fn copies(&self) -> Result<(TransferCost, f64), CudaError> {
        let (small, large) = self.config.elements;
        let mut host = ordinary::<f32>(large);
        let (mut buffer, mut out) = (self.buffer(&host)?, self.buffer(&host)?);
        let copying = self.on_device(|kernels, stream| kernels.copy(stream, &buffer, &mut out))?;
        let mut up = |elements: usize| {
            let seconds = self.on_device(|_, _| buffer.copy_range_from(0, &host[..elements]))?;
            Ok::<_, CudaError>((size_of_val(&host[..elements]) as f64, seconds))
        };
        let upload = LinearCost::through(up(small)?, up(large)?);
        let mut down = |elements: usize| {
            let seconds = self.on_device(|_, _| out.copy_range_to(0, &mut host[..elements]))?;
            Ok::<_, CudaError>((size_of_val(&host[..elements]) as f64, seconds))
        };
        let download = LinearCost::through(down(small)?, down(large)?);
        Ok((TransferCost { upload, download }, copied_each_second(size_of_val(&host[..]), copying)))
    }
}

/// Numbers without zeros and denormals, which some operations do faster or slower than others.
fn ordinary<T: Scalar>(length: usize) -> Vec<T> {
    (0..length).map(|i| T::from_f64(0.5 + (i % 1000) as f64 / 1000.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the first run that asks, arrays stay in the caches and times are short.
    #[test]
    fn quick_costs_are_smaller_in_every_way() {
        let (quick, whole) = (CostsConfig::quick(), CostsConfig::default());
        assert_eq!(quick.elements.1 * size_of::<f32>(), 1 << 20);
        assert!(quick.elements.0 < quick.elements.1 && quick.elements.1 < whole.elements.1);
        assert!(quick.sides.0 < quick.sides.1 && quick.sides.1 < whole.sides.1);
        assert!(quick.samples < whole.samples && quick.sample_time < whole.sample_time);
    }

    #[test]
    fn ordinary_numbers_are_a_thousand_between_a_half_and_one_and_a_half() {
        let numbers = ordinary::<f64>(2001);
        assert_eq!((numbers.len(), numbers[0], numbers[500], numbers[1000]), (2001, 0.5, 1.0, 0.5));
        assert!(numbers.iter().all(|number| (0.5..1.5).contains(number)));
        assert!(numbers[..1000].is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_sample_has_as_many_calls_as_fill_its_time() {
        // One call warms up; then come one, twice as many until the time is filled or there are 2^16, and the samples.
        for (sample_time, samples, expected) in [
            (Duration::ZERO, 3, 1 + 1 + 3),
            (Duration::ZERO, 0, 1 + 1 + 1),
            (Duration::from_secs(3600), 2, 1 + (65_536 - 1) + 2 * 65_536),
        ] {
            let config = CostsConfig { samples, sample_time, ..CostsConfig::default() };
            let (mut called, clock) = (0, Instant::now());
            let mut count = || {
                called = black_box(called + 1);
                Ok(())
            };
            let found = seconds(&config, &mut count, &|| Ok(())).unwrap();
            assert_eq!(called, expected);
            // No sample lasts longer than all of them, and one of many calls takes time.
            let calls = if sample_time.is_zero() { 1.0 } else { 65_536.0 };
            assert!(found * calls <= clock.elapsed().as_secs_f64(), "{found}");
            assert!(found > 0.0 || sample_time.is_zero());
        }
    }

    #[test]
    fn a_copied_byte_is_read_and_written() {
        assert_eq!(copied_each_second(500, 0.25), 4000.0);
    }
}
