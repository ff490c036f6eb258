//! Measures how fast host and device exchange memory, and the device with itself.
//!
//! The bytes that are copied, and the speeds below which a check fails or remarks, stand here.

use crate::live::{Live, remark};
use octopus_cuda::{CudaError, DeviceBuffer, PinnedBuffer};
use octopus_device::{Finding, Question};
use std::time::{Duration, Instant};

pub(crate) const QUESTION: Question = Question {
    id: "bandwidth",
    title: "Memory bandwidth",
    expected: "at least 0.1 GB/s between host and device, 1 GB/s on the device",
};

/// Bytes of each copy, and fewer where all is small.
const BYTES: usize = 64 << 20;
const SMALL_BYTES: usize = 4 << 20;
/// Copies between host and device in each direction; the median counts.
const REPEATS: usize = 5;
/// Copies on the device, timed together: one alone takes some microseconds.
const ON_DEVICE: u32 = 20;

/// GB/s below which the device is of no use, host and device, device alone: something is broken, not slow.
const LEAST: (f64, f64) = (0.1, 1.0);
/// GB/s below which a line says so: PCIe 3.0 x4, and the slowest cards of compute capability 8.0.
const USUAL: (f64, f64) = (3.0, 50.0);

pub(crate) fn check(live: &mut Live) -> Result<Finding, CudaError> {
    let bytes = if live.config.small { SMALL_BYTES } else { BYTES };
    let words = bytes / size_of::<u32>();
    let source: Vec<u32> = (0..words as u32).map(|word| word.wrapping_mul(0x9e37_79b9)).collect();
    let mut host = PinnedBuffer::from_slice(&live.context, &source)?;
    let mut device = DeviceBuffer::zeroed(&live.context, words)?;
    let (mut up, mut down) = (Vec::new(), Vec::new());
    // The first round is a warm-up and does not count.
    for round in 0..=REPEATS {
        let (copy, time) = live.stream.measure(|stream| device.upload(0..words, host, stream))?;
        host = copy.wait()?;
        let (copy, back) = live.stream.measure(|stream| device.download(0..words, host, stream))?;
        host = copy.wait()?;
        if round > 0 {
            up.push(time);
            down.push(back);
        }
    }
    let (copied, on_device) = on_device(live, &device)?;
    let speeds = [median(&mut up), median(&mut down)].map(|time| gigabytes(bytes, time));
    let device_speed = gigabytes_on_device(bytes, ON_DEVICE, on_device);
    if [&host[..], &copied[..]] != [&source[..], &source[..]] {
        return Ok(QUESTION.fail(
            format!("{} copied to the device and back came back changed", octopus_device::memory_text(bytes as u64)),
            "the bus or the device's memory is faulty",
            "do not trust results of this device: see memory-errors, and reseat the card",
        ));
    }
    Ok(judge(live.test_double, speeds, device_speed))
}

fn judge(test_double: bool, [up, down]: [f64; 2], device: f64) -> Finding {
    let speeds = format!("host to device {up:.1} GB/s, back {down:.1} GB/s, on the device {device:.1} GB/s");
    match speed(up.min(down), device) {
        // The software GPU is as fast as the machine has time for it, which is no fault of a device.
        Speed::Useless if !test_double => QUESTION.fail(
            speeds,
            "the bus hardly works: too few lanes, a bad riser, or another process that copies all the time",
            "look at `nvidia-smi -q -d PCI` (link width and generation) under load, and at other-processes",
        ),
        Speed::Slow(why) => QUESTION.pass(format!("{speeds}{}", remark(test_double, Some(why)))),
        Speed::Useless | Speed::Usual => QUESTION.pass(format!("{speeds}{}", remark(test_double, None))),
    }
}

/// The judgement of measured speeds.
#[derive(Debug, PartialEq)]
enum Speed {
    Usual,
    /// And where to look.
    Slow(&'static str),
    Useless,
}

/// Judges the speed of the slower direction between host and device, and of the device alone, in GB/s.
fn speed(bus: f64, device: f64) -> Speed {
    if bus < LEAST.0 || device < LEAST.1 {
        Speed::Useless
    } else if bus < USUAL.0 {
        Speed::Slow("see the link's width and generation in `nvidia-smi -q -d PCI`")
    } else if device < USUAL.1 {
        Speed::Slow("is another process busy on it? see other-processes and clocks")
    } else {
        Speed::Usual
    }
}

/// Copies on the device, by the clock of the host: what arrived, and the time of all.
fn on_device(live: &Live, source: &DeviceBuffer<u32>) -> Result<(Vec<u32>, Duration), CudaError> {
    let mut target = DeviceBuffer::zeroed(&live.context, source.len())?;
    target.copy_from_device(source)?;
    live.context.synchronize()?;
    let clock = Instant::now();
    for _ in 0..ON_DEVICE {
        target.copy_from_device(source)?;
    }
    live.context.synchronize()?;
    let time = clock.elapsed();
    Ok((target.to_vec()?, time))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// 10^9 bytes a second; a clock that did not move gives none.
fn gigabytes(bytes: usize, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { bytes as f64 / seconds / 1e9 } else { 0.0 }
}

/// [`gigabytes`] of several copies on the device, each of which reads and writes.
fn gigabytes_on_device(bytes: usize, copies: u32, time: Duration) -> f64 {
    gigabytes(2 * bytes, time / copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::FindingStatus::{Fail, Pass};

    #[test]
    fn the_slower_direction_is_judged_and_the_software_gpu_never() {
        for (test_double, speeds, device, status, end) in [
            (false, [25.0, 24.0], 1500.0, Pass, "host to device 25.0 GB/s, back 24.0 GB/s, on the device 1500.0 GB/s"),
            (false, [25.0, 1.5], 1500.0, Pass, "`nvidia-smi -q -d PCI`)"),
            (false, [1.5, 25.0], 1500.0, Pass, "`nvidia-smi -q -d PCI`)"),
            (false, [25.0, 0.05], 1500.0, Fail, "on the device 1500.0 GB/s"),
            (false, [0.05, 25.0], 1500.0, Fail, "on the device 1500.0 GB/s"),
            (true, [0.05, 25.0], 1500.0, Pass, "1500.0 GB/s (a test double: no measurement of a GPU)"),
            (true, [1.5, 1.5], 1.0, Pass, "1.0 GB/s (a test double: no measurement of a GPU)"),
        ] {
            let finding = judge(test_double, speeds, device);
            assert_eq!(finding.status, status, "{finding:?}");
            assert!(finding.observed.ends_with(end), "{finding:?}");
        }
    }

    #[test]
    fn only_absurd_speeds_are_failures() {
        assert_eq!(speed(25.0, 1500.0), Speed::Usual);
        assert_eq!(speed(USUAL.0, USUAL.1), Speed::Usual);
        assert_ne!(speed(LEAST.0, LEAST.1), Speed::Useless);
        assert!(matches!(speed(1.5, 1500.0), Speed::Slow(why) if why.contains("PCI")));
        assert!(matches!(speed(25.0, 20.0), Speed::Slow(why) if why.contains("busy")));
        assert_eq!(speed(0.05, 1500.0), Speed::Useless);
        assert_eq!(speed(25.0, 0.0), Speed::Useless);
    }

    #[test]
    fn speeds_are_of_the_middle_repeat() {
        let mut times = [5, 1, 900, 2, 3].map(Duration::from_millis);
        assert_eq!(median(&mut times), Duration::from_millis(3));
        assert!((gigabytes(3_000_000, Duration::from_millis(3)) - 1.0).abs() < 1e-12);
        assert!((gigabytes_on_device(3_000_000, 20, Duration::from_millis(60)) - 2.0).abs() < 1e-12);
        assert_eq!(gigabytes(1, Duration::ZERO), 0.0);
    }
}
