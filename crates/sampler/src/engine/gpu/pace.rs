//! Chooses the number of iterations of the next launch, so that it takes the wished time.

use super::watchdog::Watchdog;
use std::time::Duration;

/// Parts of a long span: enough that copying one hides behind the next.
const PARTS: usize = 4;

/// Learned from the launches so far, so that one takes about as long as is wished. No draw depends on it.
#[derive(Debug)]
pub(super) struct Pace {
    target: Duration,
    most: usize,
    limit: usize,
    watchdog: Option<Watchdog>,
}

impl Pace {
    /// Launches of about `target`, and of at most `most` iterations, and of kernels that the device's watchdog allows.
    pub(super) fn new(target: Duration, most: usize, watchdog: Option<Watchdog>) -> Self {
        Self { target, most, limit: 1, watchdog }
    }

    /// Returns what is known for other numbers of chains: how much a kernel may do.
    pub(super) fn anew(self) -> Self {
        Self { limit: 1, ..self }
    }

    /// Returns the iterations of the next launch of so many chains when `left` are to be done: at least one.
    pub(super) fn next(&self, left: usize, chains: usize) -> usize {
        let allowed = self.watchdog.as_ref().map_or(usize::MAX, |watchdog| watchdog.iterations(chains));
        left.min(self.limit).min(left.div_ceil(PARTS).max(PARTS)).min(allowed).max(1)
    }

    /// Returns the most chains of the next kernel; a launch of more is several.
    pub(super) fn chains_of_kernel(&self) -> usize {
        self.watchdog.as_ref().map_or(usize::MAX, Watchdog::chains)
    }

    /// Learns from a launch of `iterations` iterations that took the time `took`; `steps` counts the leapfrog steps of
    /// all its chains.
    pub(super) fn learn(&mut self, iterations: usize, took: Duration, steps: impl FnOnce() -> u64) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.learn(steps(), took);
        }
        let fit = iterations as f64 * self.target.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Trajectories grow and shrink in warm-up: carefully up, at once down.
        self.limit = (fit as usize).min(4 * self.limit).clamp(1, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(pace: &Pace, left: usize) -> usize {
        pace.next(left, 4)
    }

    #[test]
    fn launches_come_to_the_wished_time_and_never_stop() {
        let mut pace = Pace::new(Duration::from_millis(20), 512, None);
        assert_eq!(next(&pace, 1000), 1);
        for _ in 0..20 {
            let iterations = next(&pace, 100_000);
            pace.learn(iterations, Duration::from_micros(100) * iterations as u32, || unreachable!());
        }
        assert_eq!(next(&pace, 100_000), 200);
        assert_eq!((next(&pace, 3), next(&pace, 1), next(&pace, 0)), (3, 1, 1));
        for _ in 0..20 {
            pace.learn(1, Duration::from_nanos(1), || unreachable!());
        }
        assert_eq!(next(&pace, 100_000), 512);
        pace.learn(512, Duration::from_secs(100), || unreachable!());
        assert_eq!(next(&pace, 100_000), 1);
    }

    /// A span that one launch could do is done in parts, of which one is copied while the next runs.
    #[test]
    fn a_span_has_parts() {
        let mut pace = Pace::new(Duration::from_secs(1), 1000, None);
        for _ in 0..10 {
            pace.learn(1, Duration::from_micros(1), || unreachable!());
        }
        assert_eq!((next(&pace, 400), next(&pace, 5), next(&pace, 2)), (100, 4, 2));
    }

    /// Launch by launch: at most four times as many as before, rounded down, and at once as few as it must be.
    #[test]
    fn launches_grow_by_four() {
        let mut pace = Pace::new(Duration::from_millis(20), 100, None);
        let mut limits = Vec::new();
        for micros in [1, 1, 1, 1, 390, 30_000, 7_000, 1, 1] {
            let iterations = next(&pace, 100_000);
            pace.learn(iterations, Duration::from_micros(micros * iterations as u64), || unreachable!());
            limits.push(next(&pace, 100_000));
        }
        assert_eq!(limits, [4, 16, 64, 100, 51, 1, 2, 8, 32]);
        assert_eq!((next(&pace, 101), next(&pace, 17), next(&pace.anew(), 1000)), (26, 5, 1));
        // Begun anew, it grows from one on again.
        let mut pace = Pace::new(Duration::from_millis(20), 100, None).anew();
        pace.learn(1, Duration::from_micros(1), || unreachable!());
        assert_eq!(next(&pace, 1000), 4);
    }

    /// On a device with a watchdog a launch is no longer than that allows, and the watchdog learns from it.
    #[test]
    fn launches_are_as_short_as_the_watchdog_asks() {
        let watchdog = Watchdog::new(Duration::from_secs(1), 10, 8);
        let mut pace = Pace::new(Duration::from_secs(1), 1000, Some(watchdog));
        assert_eq!((pace.chains_of_kernel(), pace.next(1000, 4)), (8, 1));
        pace.learn(1, Duration::from_millis(1), || 1023);
        assert_eq!((pace.chains_of_kernel(), pace.next(1000, 4), pace.next(1000, 16)), (32, 4, 2));
    }
}
