//! How much one kernel may do where a watchdog ends kernels that take too long: the device drives a display.
//!
//! How long the next trajectories are nobody knows, and they may be a thousand times as long as the last ones. So a
//! kernel gets as many chains and iterations as would not take too long if every trajectory were as long as can be; as a
//! rule it takes a small part of that time.

use super::most_steps;
use crate::error::SamplerError;
use octopus_cuda::Context;
use std::time::Duration;

/// What kernels may do. No draw depends on it.
#[derive(Clone, Debug)]
pub(super) struct Watchdog {
    /// The time that a kernel may take.
    limit: Duration,
    /// The most leapfrog steps of a chain in one iteration.
    longest: f64,
    /// Chains that are each on multiprocessors of their own: fewer would not be done sooner.
    least: usize,
    /// The leapfrog steps of all chains that a kernel may take.
    steps: f64,
}

impl Watchdog {
    /// Returns what kernels may do on a device with a watchdog, for trees of at most `max_depth` doublings; the device
    /// moves `least` chains as soon as one. `None` on a device without a watchdog.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub(super) fn of_device(
        context: &Context,
        limit: Duration,
        max_depth: u32,
        least: usize,
    ) -> Result<Option<Self>, SamplerError> {
        Ok(context.device().has_watchdog()?.then(|| Self::new(limit, max_depth, least)))
    }

    pub(super) fn new(limit: Duration, max_depth: u32, least: usize) -> Self {
        let (longest, least) = (most_steps(max_depth), least.max(1));
        Self { limit, longest, least, steps: least as f64 * longest }
    }

    /// Returns the most chains of a kernel.
    pub(super) fn chains(&self) -> usize {
        self.least.max((self.steps / self.longest) as usize)
    }

    /// Returns the most iterations of a launch of so many chains: one, where they are more than a kernel may have.
    pub(super) fn iterations(&self, chains: usize) -> usize {
        ((self.steps / (self.longest * chains.max(1) as f64)) as usize).max(1)
    }

    /// Learns from a launch that took the time `took` for so many leapfrog steps of all its chains.
    pub(super) fn learn(&mut self, steps: u64, took: Duration) {
        let fit = steps as f64 * self.limit.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Carefully up: few chains leave the device idle, and many may be slowed down by its memory.
        self.steps = fit.min(4.0 * self.steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that takes a second for 2e6 leapfrog steps, and 50 us for each of a chain: what an A6000 is thought to
    /// take for 1000 groups in f64.
    fn time(chains: usize, steps_of_chain: f64) -> Duration {
        Duration::from_secs_f64((chains as f64 * steps_of_chain / 2e6).max(steps_of_chain * 50e-6))
    }

    #[test]
    fn no_kernel_takes_too_long_however_long_trajectories_become() {
        let limit = Duration::from_secs(1);
        let mut watchdog = Watchdog::new(limit, 10, 84);
        let mut most = 0;
        for iteration in 0..200 {
            // Short ones for a while, then as long as can be, then short ones again.
            let steps = if (60..90).contains(&iteration) { 1023.0 } else { 7.0 };
            let chains = watchdog.chains();
            assert!(time(chains, 1023.0) <= limit, "{chains} chains at once");
            assert_eq!(watchdog.iterations(16384), 1);
            most = most.max(chains);
            let kernels = 16384_usize.div_ceil(chains);
            let took = time(chains, steps) * kernels as u32;
            watchdog.learn((16384.0 * steps) as u64, took);
        }
        // 2e6 / 1023, as many as can be.
        assert!(most > 1800, "{most}");
    }

    #[test]
    fn few_chains_go_on_in_one_kernel_for_several_iterations() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1), 10, 336);
        assert_eq!(watchdog.chains(), 336);
        for _ in 0..10 {
            watchdog.learn(4 * 31 * 10, Duration::from_micros(31 * 10 * 10));
        }
        // A second of 10 us each is 1e5 steps of each of four chains.
        assert_eq!(watchdog.iterations(4), 1e5 as usize / 1023);
        assert!(watchdog.chains() >= 336);
    }

    /// Where one chain alone takes too long there is nothing to divide, and kernels do not become smaller and smaller.
    #[test]
    fn a_kernel_never_has_fewer_chains_than_run_side_by_side() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1), 10, 84);
        for _ in 0..50 {
            watchdog.learn(84 * 7, Duration::from_secs(10));
        }
        assert_eq!((watchdog.chains(), watchdog.iterations(1)), (84, 1));
    }

    #[test]
    fn a_search_of_a_step_size_may_be_longer_than_a_trajectory() {
        let steps = |max_depth| Watchdog::new(Duration::from_secs(1), max_depth, 1).longest;
        assert_eq!((steps(1), steps(6), steps(7), steps(20)), (64.0, 64.0, 127.0, 1_048_575.0));
    }

    /// The steps that fit a second, at most four times as many as before; iterations and chains are rounded down.
    #[test]
    fn kernels_grow_by_four() {
        let mut watchdog = Watchdog::new(Duration::from_secs(1), 10, 2);
        assert_eq!((watchdog.chains(), watchdog.iterations(1), watchdog.iterations(0)), (2, 2, 2));
        watchdog.learn(1023, Duration::from_micros(1));
        assert_eq!((watchdog.chains(), watchdog.iterations(3), watchdog.iterations(100)), (8, 2, 1));
        // 1023 x 29 steps in four seconds are a little more than 7 trajectories in one.
        watchdog.learn(1023 * 29, Duration::from_secs(4));
        assert_eq!((watchdog.chains(), watchdog.iterations(1), watchdog.iterations(2)), (7, 7, 3));
        assert_eq!(Watchdog::new(Duration::from_secs(1), 10, 0).chains(), 1);
    }
}
