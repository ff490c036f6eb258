//! How long the host waits for a launch of teams: blocks that wait for each other may do so for ever.
//!
//! A wait that is too short would end a run that is well, one that is too long only tells later of a run that is lost. So
//! all that is not known is taken for many times as slow as it can be.

use super::{GpuConfig, most_steps};
use std::time::Duration;

/// Bytes of data that a device reads in a second, and does arithmetic with: hundreds of times as many for a large one,
/// and some ten for the smallest that the kernels run on, in f64.
const BYTES_A_SECOND: f64 = 1e9;
/// Two launches are queued, and other programs may use the device as much as this one.
const LAUNCHES: f64 = 4.0;

/// Returns how long the host waits for a launch of so many chains, whose density reads so many bytes.
///
/// A launch of several iterations is one that would take [`GpuConfig::launch_time`] if its trajectories were as long as
/// those before; it takes so many times as long, at most, as the longest trajectory has steps. The first launch is one
/// iteration, in which each chain reads the data at every step.
pub(super) fn of_launch(gpu: &GpuConfig, chains: usize, max_depth: u32, data_bytes: usize) -> Duration {
    let steps = most_steps(max_depth);
    let of_paced = LAUNCHES * gpu.launch_time.as_secs_f64() * steps;
    let of_first = LAUNCHES * chains as f64 * steps * data_bytes as f64 / BYTES_A_SECOND;
    gpu.patience.max(Duration::try_from_secs_f64(of_paced + of_first).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_with_what_a_launch_may_have_to_do() {
        let gpu = GpuConfig::default();
        // Four launches of 20 ms, and 1023 times as long; nothing is read.
        assert_eq!(of_launch(&gpu, 4, 10, 0), Duration::from_secs_f64(81.84));
        // Four chains that read a million doubles each of 1023 times, at 1 GB a second, four times over.
        let read = 4.0 * 4.0 * 1023.0 * 0.008;
        let found = of_launch(&gpu, 4, 10, 8_000_000).as_secs_f64();
        assert!((found - (81.84 + read)).abs() < 1e-6, "{found}");
        // Short trees leave the least, and nothing overflows.
        assert_eq!(of_launch(&gpu, 4, 2, 0), gpu.patience);
        let slow = GpuConfig { launch_time: Duration::MAX, ..gpu };
        assert_eq!(of_launch(&slow, 4, 20, usize::MAX), Duration::MAX);
    }
}
