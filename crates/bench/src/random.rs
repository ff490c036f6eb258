//! Times of draws of each distribution, on the CPU and on a GPU: `octopus bench random`.
//!
//! The distributions that are timed stand here.

use crate::benchmark::config;
use crate::beside::{TimedBeside, TimedGpu};
use crate::error::BenchError;
use crate::of_draws;
use octopus_array::{Array, ArrayShape, BatchConfig, DrawError, Scalar, draw_batches};
use octopus_device::{Device, with_device};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_fitness::{BenchmarkConfig, benchmark_device};
use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, ParameterError, StudentT, Uniform, VonMises,
    VonMisesFisher, WrappedNormal,
};
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// The draws of a pass of a small benchmark, and of the software GPU of the tests.
const SMALL: usize = 1000;
/// A GPU makes so many times the draws of the CPU at once: fewer do not keep all of it busy.
const GPU_SHARE: usize = 64;
/// Passes of which the least counts where batches come to the host.
const PASSES: usize = 3;
/// Bytes for the batches that come to the host.
const BATCH_MEMORY: u64 = 256 << 20;

/// The times of a distribution's draws.
#[derive(Debug, Serialize)]
struct DrawRow {
    distribution: String,
    dtype: &'static str,
    /// Nanoseconds a draw on one core of the CPU.
    one_core_ns: f64,
    /// Nanoseconds a draw on all cores.
    all_cores_ns: f64,
    /// The times on the GPU, where there is one.
    #[serde(flatten)]
    gpu: Option<GpuDrawTimes>,
}

/// The times of a distribution's draws on a GPU.
#[derive(Debug, Serialize)]
struct GpuDrawTimes {
    /// Nanoseconds a draw that stays on the device, by the device's clock.
    device_ns: f64,
    /// Nanoseconds a draw that comes to the host, batch by batch.
    to_host_ns: f64,
}

/// The times of all distributions' draws: the least of many passes.
#[derive(Debug, Serialize)]
pub struct DrawTimings {
    schema: u32,
    #[serde(flatten)]
    gpu: TimedGpu,
    /// The numbers of a pass on the CPU, and on the GPU: as many draws, or fewer vectors.
    draws: usize,
    gpu_draws: usize,
    rows: Vec<DrawRow>,
}

/// Times draws of each distribution in `f64` and `f32`, `draws` of them in a pass, on the CPU and a GPU beside it, if any.
///
/// # Errors
/// When there is no such device, or it fails.
pub fn run(beside: &TimedBeside, draws: usize, small: bool) -> Result<DrawTimings, BenchError> {
    let gpu = TimedGpu::read(beside)?;
    let small = small || gpu.is_test_double();
    let (draws, gpu_draws) = if small { (SMALL, SMALL) } else { (draws, GPU_SHARE * draws) };
    let config = if small { config(small) } else { BenchmarkConfig::default() };
    let mut bench = DrawBench { gpu: beside.device(), config, draws, gpu_draws, rows: Vec::new() };
    bench.all::<f64>().and_then(|()| bench.all::<f32>())?;
    Ok(DrawTimings { schema: 1, gpu, draws, gpu_draws, rows: bench.rows })
}

/// A benchmark under way.
struct DrawBench {
    gpu: Option<Device>,
    config: BenchmarkConfig,
    draws: usize,
    gpu_draws: usize,
    rows: Vec<DrawRow>,
}

impl DrawBench {
    fn all<T: Scalar>(&mut self) -> Result<(), BenchError> {
        for (name, distribution) in distributions::<T>()? {
            let mut out = vec![T::ZERO; self.draws];
            self.row(name, &*distribution, &mut out).map_err(of_draws)?;
        }
        Ok(())
    }

    fn row<T: Scalar>(&mut self, name: String, distribution: &dyn Draw<T>, out: &mut Vec<T>) -> Result<(), DrawError> {
        let key = Key::new(0);
        // Of vectors about as many numbers are made as of numbers.
        let draws = (out.len() / distribution.dimensions()).max(1);
        out.resize(draws * distribution.dimensions(), T::ZERO);
        let on_cpu = |work: &mut dyn FnMut() -> Result<(), DrawError>| {
            let timing = benchmark_device(Device::Cpu, &self.config, work)?;
            Ok::<f64, DrawError>(timing.fastest_seconds * 1e9 / draws as f64)
        };
        let one_core_ns = on_cpu(&mut || Ok(distribution.fill(key, 0, out)?))?;
        let all_cores_ns = on_cpu(&mut || Ok(distribution.par_fill(key, 0, out)?))?;
        let gpu = self.gpu.map(|gpu| self.on_gpu(gpu, distribution, key)).transpose()?;
        self.rows.push(DrawRow { distribution: name, dtype: T::NAME, one_core_ns, all_cores_ns, gpu });
        Ok(())
    }

    fn on_gpu<T: Scalar>(&self, gpu: Device, distribution: &dyn Draw<T>, key: Key) -> Result<GpuDrawTimes, DrawError> {
        let draws = (self.gpu_draws / distribution.dimensions()).max(1);
        let a_draw = |seconds: f64| seconds * 1e9 / draws as f64;
        let shape = ArrayShape::of_draws(distribution, draws);
        let kept = benchmark_device(gpu, &self.config, || {
            with_device(gpu, || Array::drawn(distribution, key, shape)).map(drop)
        })?;
        let batches = BatchConfig { devices: vec![gpu], memory: BATCH_MEMORY, threads: None };
        let mut least = f64::INFINITY;
        for _ in 0..PASSES {
            let begin = Instant::now();
            draw_batches(distribution, key, 0..draws as u64, &batches, |_: &[T]| Ok::<(), DrawError>(()))?;
            least = least.min(begin.elapsed().as_secs_f64());
        }
        Ok(GpuDrawTimes { device_ns: a_draw(kept.fastest_seconds), to_host_ns: a_draw(least) })
    }
}

/// A distribution with its name and parameters in words.
type Named<T> = (String, Box<dyn Draw<T>>);

fn distributions<T: FloatingPoint>() -> Result<Vec<Named<T>>, ParameterError> {
    let number = T::from_f64;
    let (zero, one) = (number(0.0), number(1.0));
    let mut all: Vec<Named<T>> = vec![
        named("uniform", Uniform::new(zero, one)?),
        named("normal", Normal::new(zero, one)?),
        named("exponential", Exponential::new(one)?),
        named("gamma 3", Gamma::new(number(3.0), one)?),
        named("gamma 0.5", Gamma::new(number(0.5), one)?),
        named("beta 2 3", Beta::new(number(2.0), number(3.0))?),
        named("student-t 4", StudentT::new(number(4.0), zero, one)?),
        named("wrapped-normal", WrappedNormal::new(zero, one)?),
    ];
    for concentration in [0.1, 1.0, 5.0, 1e4] {
        all.push(named(&format!("von-mises {concentration}"), VonMises::new(zero, number(concentration))?));
    }
    for (dimensions, concentration) in [(3, 0.1), (3, 5.0), (3, 1e4), (100, 5.0)] {
        let own = VonMisesFisher::new(&vec![one; dimensions], number(concentration))?;
        all.push(named(&format!("von-mises-fisher {dimensions} {concentration}"), own));
    }
    Ok(all)
}

fn named<T: FloatingPoint>(name: &str, distribution: impl Draw<T> + 'static) -> Named<T> {
    (name.to_owned(), Box::new(distribution))
}

impl fmt::Display for DrawTimings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = vec!["one core ns", "all cores ns", "million/s"];
        if self.gpu.is_timed() {
            numbers.extend(["GPU ns", "GPU million/s", "to the host ns", "speedup"]);
        }
        let columns = [TextColumn::left("draws of"), TextColumn::left("type")].into_iter();
        let columns: Vec<TextColumn> = columns.chain(numbers.into_iter().map(TextColumn::right)).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(DrawRow::cells).collect();
        writeln!(f, "a draw, the least of many passes over {} draws; GPU: {}", self.draws, self.gpu)?;
        f.write_str(&text_table(&columns, &rows, TableLook::default()))
    }
}

impl DrawRow {
    fn cells(&self) -> Vec<String> {
        let millions = |ns: f64| format!("{:.0}", 1e3 / ns);
        let mut cells = vec![
            self.distribution.clone(),
            self.dtype.to_owned(),
            format!("{:.2}", self.one_core_ns),
            format!("{:.2}", self.all_cores_ns),
            millions(self.all_cores_ns),
        ];
        if let Some(gpu) = &self.gpu {
            cells.extend([
                format!("{:.4}", gpu.device_ns),
                millions(gpu.device_ns),
                format!("{:.3}", gpu.to_host_ns),
                format!("{:.1}", self.all_cores_ns / gpu.device_ns),
            ]);
        }
        cells
    }
}
