//! Chooses the number of iterations of the next launch, so that it takes the wished time.

use std::time::Duration;

/// Parts of a long span: enough that copying one hides behind the next.
const PARTS: usize = 4;

/// Learned from the launches so far, so that one takes about as long as is wished. No draw depends on it.
#[derive(Debug)]
pub(super) struct Pace {
    target: Duration,
    most: usize,
    limit: usize,
}

impl Pace {
    /// Launches of about `target`, and of at most `most` iterations.
    pub(super) fn new(target: Duration, most: usize) -> Self {
        Self { target, most, limit: 1 }
    }

    /// Returns the iterations of the next launch when `left` are to be done: at least one.
    pub(super) fn next(&self, left: usize) -> usize {
        left.min(self.limit).min(left.div_ceil(PARTS).max(PARTS)).max(1)
    }

    /// Learns from a launch of `iterations` iterations that took the time `took`.
    pub(super) fn learn(&mut self, iterations: usize, took: Duration) {
        let fit = iterations as f64 * self.target.as_secs_f64() / took.as_secs_f64().max(1e-9);
        // Trajectories grow and shrink in warm-up: carefully up, at once down.
        self.limit = (fit as usize).min(4 * self.limit).clamp(1, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_come_to_the_wished_time_and_never_stop() {
        let mut pace = Pace::new(Duration::from_millis(20), 512);
        assert_eq!(pace.next(1000), 1);
        for _ in 0..20 {
            let iterations = pace.next(100_000);
            pace.learn(iterations, Duration::from_micros(100) * iterations as u32);
        }
        assert_eq!(pace.next(100_000), 200);
        assert_eq!((pace.next(3), pace.next(1)), (3, 1));
        for _ in 0..20 {
            pace.learn(1, Duration::from_nanos(1));
        }
        assert_eq!(pace.next(100_000), 512);
        pace.learn(512, Duration::from_secs(100));
        assert_eq!(pace.next(100_000), 1);
    }

    /// A span that one launch could do is done in parts, of which one is copied while the next runs.
    #[test]
    fn a_span_has_parts() {
        let mut pace = Pace::new(Duration::from_secs(1), 1000);
        for _ in 0..10 {
            pace.learn(1, Duration::from_micros(1));
        }
        assert_eq!((pace.next(400), pace.next(5), pace.next(2)), (100, 4, 2));
    }
}
