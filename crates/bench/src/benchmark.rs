//! Times of operations on arrays, and of draws into them, on the CPU and on a GPU, with and without copies: `octopus device
//! benchmark`.
//!
//! The numbers of elements and the sides of matrices that are timed stand here.

use crate::beside::{TimedBeside, TimedGpu};
use crate::error::BenchError;
use crate::{of_array, of_draws};
use octopus_array::{Array, ArrayError, Scalar};
use octopus_device::{Device, with_device};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_fitness::{BenchmarkConfig, CallTiming, benchmark_device};
use octopus_random::{Draw, Key, Normal, Uniform, VonMises};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// The numbers of elements of arrays, then the sides of matrices; a small benchmark takes only the first [`SMALL`] of
/// each.
const ELEMENTS: [usize; 4] = [1_000, 30_000, 1_000_000, 16_000_000];
const SIDES: [usize; 4] = [32, 128, 512, 1024];
const SMALL: usize = 1;

/// The times of an operation at one size.
#[derive(Debug, Serialize)]
struct TimingRow {
    operation: &'static str,
    precision: &'static str,
    /// The number of elements; for what goes by rows and columns, the side of the square matrices.
    n: usize,
    /// The median seconds on one thread of the CPU, and the relative spread.
    cpu_seconds: f64,
    cpu_spread: f64,
    /// The bytes read and written a second on the CPU.
    cpu_bytes_per_second: f64,
    /// The times on the GPU, where there is one.
    #[serde(flatten)]
    gpu: Option<GpuTimes>,
}

/// The times of an operation on a GPU.
#[derive(Debug, Serialize)]
struct GpuTimes {
    /// The median seconds on the device by the device's clock, with all data already there, and the relative spread.
    device_seconds: f64,
    device_spread: f64,
    /// The seconds on the device including the copies of the inputs to it and of the result back.
    with_transfers_seconds: f64,
    /// The bytes read and written a second on the device.
    device_bytes_per_second: f64,
    /// The additions and multiplications a second on the device, for matrix products only.
    device_flops: Option<f64>,
    speedup: f64,
    speedup_with_transfers: f64,
}

/// All operations, timed.
#[derive(Debug, Serialize)]
pub struct ArrayTimings {
    schema: u32,
    #[serde(flatten)]
    gpu: TimedGpu,
    rows: Vec<TimingRow>,
}

impl fmt::Display for ArrayTimings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

/// Measures one thread of the CPU and a GPU beside it, if any; `small` is for small arrays only.
///
/// # Errors
/// When there is no such device, or it fails.
pub fn run(beside: &TimedBeside, small: bool) -> Result<ArrayTimings, BenchError> {
    let gpu = TimedGpu::read(beside)?;
    let small = small || gpu.is_test_double();
    let (elements, sides) = if small { (&ELEMENTS[..SMALL], &SIDES[..SMALL]) } else { (&ELEMENTS[..], &SIDES[..]) };
    let mut bench = Bench { gpu: beside.device(), config: config(small), rows: Vec::new() };
    bench.all::<f32>(elements, sides).and_then(|()| bench.all::<f64>(elements, sides))?;
    Ok(ArrayTimings { schema: 2, gpu, rows: bench.rows })
}

pub(crate) fn config(small: bool) -> BenchmarkConfig {
    if small {
        return BenchmarkConfig { warm_up: 1, samples: 3, sample_time: Duration::from_micros(100), bytes: None };
    }
    BenchmarkConfig { samples: 9, ..BenchmarkConfig::default() }
}

/// A benchmark under way: the GPU, the settings, and the rows measured so far.
struct Bench {
    gpu: Option<Device>,
    config: BenchmarkConfig,
    rows: Vec<TimingRow>,
}

/// The amounts that an operation reads, writes and computes.
#[derive(Clone, Copy)]
struct Volume {
    n: usize,
    /// The number of elements read and written.
    elements: usize,
    flops: Option<f64>,
}

impl Bench {
    fn all<T: Scalar>(&mut self, elements: &[usize], sides: &[usize]) -> Result<(), BenchError> {
        for &n in elements {
            self.arrays::<T>(n).map_err(of_array)?;
            self.draws::<T>(n)?;
        }
        sides.iter().try_for_each(|&side| self.matrices::<T>(side)).map_err(of_array)
    }

    /// Times draws of three distributions.
    fn draws<T: Scalar>(&mut self, n: usize) -> Result<(), BenchError> {
        let [zero, one, five] = [0.0, 1.0, 5.0].map(T::from_f64);
        let distributions: [(&'static str, Box<dyn Draw<T>>); 3] = [
            ("uniform draws", Box::new(Uniform::new(zero, one)?)),
            ("normal draws", Box::new(Normal::new(zero, one)?)),
            ("von Mises draws", Box::new(VonMises::new(zero, five)?)),
        ];
        let nothing = self.inputs(Ok)?;
        for (name, distribution) in distributions {
            self.row::<T, _, _, _>(name, Volume { n, elements: n, flops: None }, &nothing, |&device: &Device| {
                match device {
                    // One thread, as the other rows have.
                    Device::Cpu => {
                        let mut out = vec![T::ZERO; n];
                        distribution.fill(Key::new(0), 0, &mut out)?;
                        Ok(Out::Array(Array::from(out)))
                    }
                    _ => with_device(device, || Array::drawn(&*distribution, Key::new(0), n)).map(Out::Array),
                }
            })
            .map_err(of_draws)?;
        }
        Ok(())
    }

    fn arrays<T: Scalar>(&mut self, n: usize) -> Result<(), ArrayError> {
        let host = [0.37, -1.25].map(|step| ramp::<T>(n, step));
        let [x, y] = [&host[0], &host[1]];
        let inputs = self.inputs(|device| Ok((on(device, x)?, on(device, y)?)))?;
        let volume = |elements| Volume { n, elements: elements * n, flops: None };
        let a = T::from_f64(1.5);
        // What is made has no inputs to be copied: only the number to fill it with.
        let nothing = self.inputs(Ok)?;
        self.row::<T, _, _, _>("fill", volume(1), &nothing, |&device| {
            with_device(device, || Array::full(n, a)).map(Out::Array)
        })?;
        self.row::<T, _, _, _>("arange", volume(1), &nothing, |&device| {
            let step = T::from_f64(0.5);
            with_device(device, || Array::arange(T::ZERO, T::from_f64(0.5 * n as f64), step)).map(Out::Array)
        })?;
        self.row::<T, _, _, _>("add", volume(3), &inputs, |(x, y)| x.add(y).map(Out::Array))?;
        self.row::<T, _, _, _>("axpy", volume(3), &inputs, |(x, y)| x.axpy(a, y).map(Out::Array))?;
        self.row::<T, _, _, _>("exp", volume(2), &inputs, |(x, _)| x.exp().map(Out::Array))?;
        self.row::<T, _, _, _>("tanh", volume(2), &inputs, |(x, _)| x.tanh().map(Out::Array))?;
        self.row::<T, _, _, _>("sum", volume(1), &inputs, |(x, _)| x.sum().map(|_| Out::Number))?;
        self.row::<T, _, _, _>("dot", volume(2), &inputs, |(x, y)| x.dot(y).map(|_| Out::Number))
    }

    fn matrices<T: Scalar>(&mut self, side: usize) -> Result<(), ArrayError> {
        let host = [0.37, -1.25].map(|step| ramp::<T>(side * side, step));
        let matrix = |device, values: &[T]| with_device(device, || Array::from_shape((side, side), values));
        let inputs = self.inputs(|device| Ok((matrix(device, &host[0])?, matrix(device, &host[1])?)))?;
        let flops = Some(2.0 * (side as f64).powi(3));
        let volume = Volume { n: side, elements: 3 * side * side, flops };
        let once = Volume { n: side, elements: side * side, flops: None };
        let rows = self.inputs(|device| on(device, &host[0][..side]))?;
        self.row::<T, _, _, _>("outer", once, &rows, |x| x.outer(x).map(Out::Array))?;
        self.row::<T, _, _, _>("sum_axis 0", once, &inputs, |(a, _)| a.sum_axis(0).map(Out::Array))?;
        self.row::<T, _, _, _>("sum_axis 1", once, &inputs, |(a, _)| a.sum_axis(1).map(Out::Array))?;
        self.row::<T, _, _, _>("matmul", volume, &inputs, |(a, b)| a.matmul(b).map(Out::Array))
    }

    /// Brings inputs to the CPU and to the GPU, if there is one.
    fn inputs<I, P: Fn(Device) -> Result<I, ArrayError>>(&self, place: P) -> Result<Inputs<I, P>, ArrayError> {
        Ok(Inputs { cpu: place(Device::Cpu)?, gpu: self.gpu.map(|gpu| Ok((gpu, place(gpu)?))).transpose()?, place })
    }

    /// Times an operation on the CPU, and where there is a GPU, on it with and without copies.
    fn row<T: Scalar, I, P: Fn(Device) -> Result<I, ArrayError>, E: From<ArrayError>>(
        &mut self,
        operation: &'static str,
        volume: Volume,
        inputs: &Inputs<I, P>,
        work: impl Fn(&I) -> Result<Out<T>, E>,
    ) -> Result<(), E> {
        let bytes = (volume.elements * size_of::<T>()) as u64;
        let config = BenchmarkConfig { bytes: Some(bytes), ..self.config };
        let cpu: CallTiming = benchmark_device(Device::Cpu, &config, || work(&inputs.cpu).map(drop))?;
        let on_gpu = |(gpu, placed): &(Device, I)| {
            let there: CallTiming = benchmark_device(*gpu, &config, || work(placed).map(drop))?;
            let copied: CallTiming = benchmark_device(*gpu, &config, || {
                work(&(inputs.place)(*gpu)?)?.fetch()?;
                Ok::<(), E>(())
            })?;
            let ratio = |seconds: f64| if seconds > 0.0 { cpu.median_seconds / seconds } else { 0.0 };
            Ok::<_, E>(GpuTimes {
                device_seconds: there.median_seconds,
                device_spread: there.spread(),
                with_transfers_seconds: copied.median_seconds,
                device_bytes_per_second: there.bytes_per_second.unwrap_or(0.0),
                device_flops: volume.flops.filter(|_| there.median_seconds > 0.0).map(|n| n / there.median_seconds),
                speedup: ratio(there.median_seconds),
                speedup_with_transfers: ratio(copied.median_seconds),
            })
        };
        self.rows.push(TimingRow {
            operation,
            precision: T::SUFFIX,
            n: volume.n,
            cpu_seconds: cpu.median_seconds,
            cpu_spread: cpu.spread(),
            cpu_bytes_per_second: cpu.bytes_per_second.unwrap_or(0.0),
            gpu: inputs.gpu.as_ref().map(on_gpu).transpose()?,
        });
        Ok(())
    }
}

/// The inputs of operations on each device, and how they come there.
struct Inputs<I, P> {
    cpu: I,
    gpu: Option<(Device, I)>,
    place: P,
}

/// The result of an operation; a number is on the CPU as soon as the operation returns.
enum Out<T: Scalar> {
    Array(Array<T>),
    Number,
}

impl<T: Scalar> Out<T> {
    fn fetch(self) -> Result<(), ArrayError> {
        match self {
            Self::Array(array) => array.to_host().map(drop),
            Self::Number => Ok(()),
        }
    }
}

fn on<T: Scalar>(device: Device, values: &[T]) -> Result<Array<T>, ArrayError> {
    with_device(device, || Array::from_slice(values))
}

/// Returns `n` numbers between -1 and 1, which all cost the same to compute with.
fn ramp<T: Scalar>(n: usize, step: f64) -> Vec<T> {
    (0..n).map(|i| T::from_f64((step * i as f64) % 1.0)).collect()
}

fn text(answer: &ArrayTimings) -> String {
    let of_cpu = ["n", "CPU us", "GB/s"];
    let of_gpu = ["GPU us", "with copies us", "speedup", "with copies", "GPU GB/s", "GPU GFLOP/s"];
    let numbers = of_cpu.iter().chain(of_gpu.iter().filter(|_| answer.gpu.is_timed()));
    let columns =
        [&[TextColumn::left("operation")][..], &numbers.map(|name| TextColumn::right(name)).collect::<Vec<_>>()];
    let cells = |row: &TimingRow| {
        let mut cells = vec![
            format!("{} {}", row.operation, row.precision),
            row.n.to_string(),
            format!("{:.2}", row.cpu_seconds * 1e6),
            format!("{:.2}", row.cpu_bytes_per_second / 1e9),
        ];
        if let Some(gpu) = &row.gpu {
            cells.extend([
                format!("{:.2}", gpu.device_seconds * 1e6),
                format!("{:.2}", gpu.with_transfers_seconds * 1e6),
                format!("{:.2}", gpu.speedup),
                format!("{:.2}", gpu.speedup_with_transfers),
                format!("{:.2}", gpu.device_bytes_per_second / 1e9),
                gpu.device_flops.map(|flops| format!("{:.1}", flops / 1e9)).unwrap_or_default(),
            ]);
        }
        cells
    };
    let rows: Vec<_> = answer.rows.iter().map(cells).collect();
    format!("CPU: one thread; GPU: {}\n{}", answer.gpu, text_table(&columns.concat(), &rows, TableLook::default()))
}
