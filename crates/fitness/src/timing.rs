//! The benchmark of an operation on a device: how long it takes, and how certain that is.
//!
//! Calls to warm up, the number of samples and their least time have their defaults here.

use octopus_array::{ArrayError, Engine};
use octopus_cuda::{CudaError, Event};
use octopus_device::{Device, with_device};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The settings of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchmarkConfig {
    /// Calls before the first sample, which meet cold caches, clocks and compilers; at least one is made.
    pub warm_up: u32,
    /// Samples; at least one is taken.
    pub samples: u32,
    /// A sample has enough calls to last at least this long: the clocks resolve half a microsecond.
    pub sample_time: Duration,
    /// Bytes that one call moves, for [`CallTiming::bytes_per_second`].
    pub bytes: Option<u64>,
}

impl Default for BenchmarkConfig {
    /// 3 calls to warm up, 15 samples of at least 1 ms.
    fn default() -> Self {
        Self { warm_up: 3, samples: 15, sample_time: Duration::from_millis(1), bytes: None }
    }
}

/// The most calls of a sample.
const MOST_CALLS: u32 = 1 << 20;

/// The clock that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchmarkClock {
    /// The processor's.
    Host,
    /// The device's own, by events on its stream: the time between the first call's start and the last one's end as the
    /// device sees it.
    DeviceEvents,
}

/// The time of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallTiming {
    /// The device on which the calls ran.
    pub device: Device,
    /// The clock that was read.
    pub clock: BenchmarkClock,
    /// The median of the samples, in seconds a call.
    pub median_seconds: f64,
    /// The median absolute deviation of the samples from their median, in seconds a call: half of them are nearer.
    pub mad_seconds: f64,
    /// The fastest sample, in seconds a call.
    pub fastest_seconds: f64,
    /// The samples in the order in which they were taken, in seconds a call.
    pub samples: Vec<f64>,
    /// Calls in each sample.
    pub calls: u32,
    /// Bytes a second at the median, where the bytes of a call were given.
    pub bytes_per_second: Option<f64>,
}

impl CallTiming {
    /// Returns the relative spread, `1.4826 * mad / median`: for samples with normal noise it estimates their standard
    /// deviation in units of the median, and single outliers, such as another program's turn, hardly move it. 0.01 is a
    /// quiet machine.
    #[must_use]
    pub fn spread(&self) -> f64 {
        if self.median_seconds > 0.0 { 1.4826 * self.mad_seconds / self.median_seconds } else { 0.0 }
    }
}

/// Measures `work` on `device`, which is [`Device::current`] while it runs.
///
/// On the CPU each sample is the processor's clock around the calls. On a GPU all work that was queued before is waited
/// for, and two events on the device's stream are put around the calls: the time is the device's own, and work that the
/// calls merely queue is timed too. A call that waits for results includes the waiting.
///
/// ```
/// use octopus_array::{Array, ArrayError};
/// use octopus_device::Device;
/// use octopus_fitness::{BenchmarkConfig, benchmark_device};
///
/// let x = Array::from_slice(&[1.0; 1000])?;
/// let config = BenchmarkConfig { samples: 5, bytes: Some(8 * 1000), ..BenchmarkConfig::default() };
/// let benchmark = benchmark_device(Device::Cpu, &config, || x.sum().map(drop))?;
/// assert!(benchmark.median_seconds > 0.0 && benchmark.bytes_per_second.unwrap() > 0.0);
/// # Ok::<(), ArrayError>(())
/// ```
///
/// # Errors
/// When the device cannot be used or fails, and what `work` fails with.
pub fn benchmark_device<E: From<ArrayError>>(
    device: Device,
    config: &BenchmarkConfig,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<CallTiming, E> {
    let mut of_work = None;
    let timing = timed(device, config, &mut |calls| {
        let done = (0..calls).try_for_each(|_| work());
        done.map_err(|error| {
            of_work = Some(error);
            EarlyEnd::Work
        })
    });
    match (timing, of_work) {
        (_, Some(error)) => Err(error),
        (Ok(timing), None) => Ok(timing),
        (Err(EarlyEnd::Device(source)), None) => Err(ArrayError::Cuda { device, source }.into()),
        (Err(EarlyEnd::Work), None) => unreachable!("work that fails has an error"),
    }
}

/// Why a benchmark ended early.
#[derive(Debug)]
enum EarlyEnd {
    /// The device failed.
    Device(CudaError),
    /// The work failed; its error is of a type that only the caller knows, who has it.
    Work,
}

impl From<CudaError> for EarlyEnd {
    fn from(error: CudaError) -> Self {
        Self::Device(error)
    }
}

/// [`benchmark_device`] of work that is repeated: compiled once, and not for each work.
fn timed(
    device: Device,
    config: &BenchmarkConfig,
    repeat: &mut dyn FnMut(u32) -> Result<(), EarlyEnd>,
) -> Result<CallTiming, EarlyEnd> {
    with_device(device, || match device {
        Device::Cpu => sampled(device, config, BenchmarkClock::Host, &mut |calls| {
            let clock = Instant::now();
            repeat(calls)?;
            Ok(clock.elapsed())
        }),
        Device::Cuda(ordinal) => {
            let engine = Engine::of(ordinal)?;
            let started = Event::new(engine.context())?;
            let done = Event::new(engine.context())?;
            sampled(device, config, BenchmarkClock::DeviceEvents, &mut |calls| {
                engine.stream().synchronize()?;
                started.record(engine.stream())?;
                repeat(calls)?;
                done.record(engine.stream())?;
                done.synchronize()?;
                Ok(done.elapsed_since(&started)?)
            })
        }
    })
}

/// Takes the samples; `time` gives the time of a number of calls.
fn sampled(
    device: Device,
    config: &BenchmarkConfig,
    clock: BenchmarkClock,
    time: &mut dyn FnMut(u32) -> Result<Duration, EarlyEnd>,
) -> Result<CallTiming, EarlyEnd> {
    time(config.warm_up.max(1))?;
    let calls = enough_calls(MOST_CALLS, config.sample_time, time)?;
    let mut samples = Vec::with_capacity(config.samples as usize);
    for _ in 0..config.samples.max(1) {
        samples.push(time(calls)?.as_secs_f64() / f64::from(calls));
    }
    let median_seconds = median(samples.iter().copied());
    let mad_seconds = median(samples.iter().map(|sample| (sample - median_seconds).abs()));
    let fastest_seconds = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let bytes_per_second = config.bytes.map(|bytes| bytes as f64 / median_seconds);
    Ok(CallTiming { device, clock, median_seconds, mad_seconds, fastest_seconds, samples, calls, bytes_per_second })
}

/// Returns the number of calls that fill a sample's time, doubled from one; bounded, for a clock that stands still must
/// not keep us here.
pub(crate) fn enough_calls<E>(
    most: u32,
    sample_time: Duration,
    time: &mut dyn FnMut(u32) -> Result<Duration, E>,
) -> Result<u32, E> {
    let mut calls = 1;
    while calls < most && time(calls)? < sample_time {
        calls *= 2;
    }
    Ok(calls)
}

/// Returns the middle value, or the mean of the two in the middle; 0 of none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([].into_iter()), 0.0);
        assert_eq!(median([7.0].into_iter()), 7.0);
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([9.0, 3.0, 1.0, 2.0, 8.0].into_iter()), 3.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }

    #[test]
    fn samples_are_long_enough_and_one_outlier_moves_neither_median_nor_spread() {
        let config =
            BenchmarkConfig { warm_up: 2, samples: 5, sample_time: Duration::from_micros(30), bytes: Some(1_000_000) };
        let mut asked = vec![];
        // A call takes 10 us, and one sample was disturbed.
        let benchmark = sampled(Device::Cpu, &config, BenchmarkClock::Host, &mut |calls| {
            asked.push(calls);
            let disturbed = if asked.len() == 6 { 500 } else { 10 };
            Ok(Duration::from_micros(disturbed) * calls)
        })
        .unwrap();
        assert_eq!(asked, [2, 1, 2, 4, 4, 4, 4, 4, 4]);
        assert_eq!((benchmark.calls, benchmark.samples.len()), (4, 5));
        assert!((benchmark.median_seconds - 1e-5).abs() < 1e-12 && benchmark.spread() < 1e-6, "{benchmark:?}");
        assert!((benchmark.bytes_per_second.unwrap() / 1e11 - 1.0).abs() < 1e-6);
        assert!((benchmark.samples[1] - 5e-4).abs() < 1e-12);
    }

    #[test]
    fn the_spread_is_that_of_the_middle_half() {
        let config = BenchmarkConfig { samples: 3, sample_time: Duration::from_micros(10), ..Default::default() };
        let mut times = [10, 10, 20, 10, 12].into_iter().map(Duration::from_micros);
        let benchmark = sampled(Device::Cpu, &config, BenchmarkClock::Host, &mut |calls| {
            // The first call that is timed lasts just long enough.
            assert!(calls == 1 || calls == config.warm_up);
            Ok(times.next().unwrap())
        })
        .unwrap();
        // Of 20, 10 and 12 us the median is 12; of the distances from it, 8, 2 and 0 us, it is 2.
        let shown = [benchmark.median_seconds, benchmark.mad_seconds, benchmark.fastest_seconds];
        let near = |(found, known): (&f64, f64)| (found - known).abs() < 1e-15;
        assert!(shown.iter().zip([12e-6, 2e-6, 10e-6]).all(near), "{shown:?}");
        assert!((benchmark.spread() - 0.2471).abs() < 1e-9, "{}", benchmark.spread());
    }

    #[test]
    fn a_clock_that_stands_still_does_not_keep_us() {
        let config = BenchmarkConfig { bytes: None, ..BenchmarkConfig::default() };
        let benchmark = sampled(Device::Cpu, &config, BenchmarkClock::Host, &mut |_| Ok(Duration::ZERO)).unwrap();
        assert_eq!((benchmark.calls, benchmark.spread()), (MOST_CALLS, 0.0));
    }

    #[test]
    fn the_work_runs_on_the_device_and_its_failure_ends_the_benchmark() {
        let mut calls = 0;
        let result = benchmark_device(Device::Cpu, &BenchmarkConfig::default(), || {
            assert_eq!(Device::current(), Device::Cpu);
            calls += 1;
            let error = ArrayError::Length { operation: "add", left: 1, right: 2 };
            if calls == 2 { Err(error) } else { Ok(()) }
        });
        assert!(matches!(result, Err(ArrayError::Length { .. })));
        assert_eq!(calls, 2);
    }
}
