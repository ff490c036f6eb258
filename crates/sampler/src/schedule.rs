//! When warm-up learns what: a buffer for the step size alone, windows that double, a last buffer.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Lengths of the parts of warm-up, in iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowConfig {
    /// Iterations before the first window: chains find the typical set, only the step size adapts.
    pub init_buffer: usize,
    /// Length of the first window; each next one is twice as long.
    pub base_window: usize,
    /// Iterations after the last window: the step size settles for the final metric.
    pub term_buffer: usize,
}

impl Default for WindowConfig {
    /// Shorter than Stan's 75, 25, 50: pooled over chains, a metric is worth having after a few iterations.
    fn default() -> Self {
        Self { init_buffer: 10, base_window: 15, term_buffer: 50 }
    }
}

impl WindowConfig {
    /// Stan's lengths.
    pub const STAN: Self = Self { init_buffer: 75, base_window: 25, term_buffer: 50 };
}

/// The windows of one warm-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    start: usize,
    ends: Vec<usize>,
}

impl Schedule {
    /// Stan's rule: windows double, and the last one takes what would be too short for another. With too few
    /// iterations for the given lengths the parts take 15%, 75% and 10%.
    pub(crate) fn new(tune: usize, config: WindowConfig) -> Self {
        const SHORTEST: usize = 20;
        let WindowConfig { mut init_buffer, mut base_window, mut term_buffer } = config;
        if tune < SHORTEST {
            return Self { start: tune, ends: Vec::new() };
        }
        if init_buffer + base_window + term_buffer > tune {
            init_buffer = tune * 15 / 100;
            term_buffer = tune / 10;
            base_window = tune - init_buffer - term_buffer;
        }
        let last = tune - term_buffer;
        let (mut at, mut size) = (init_buffer, base_window.max(1));
        let mut ends = Vec::new();
        while at < last {
            let end = at + size;
            at = if end + 2 * size > last { last } else { end };
            ends.push(at);
            size *= 2;
        }
        Self { start: init_buffer, ends }
    }

    /// The iterations whose draws belong to a window.
    pub(crate) fn windows(&self) -> Range<usize> {
        self.start..self.ends.last().copied().unwrap_or(self.start)
    }

    /// Iterations of the longest window.
    pub(crate) fn longest(&self) -> usize {
        let starts = std::iter::once(self.start).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Whether the draw of this iteration belongs to a window.
    pub(crate) fn collects(&self, iteration: usize) -> bool {
        self.windows().contains(&iteration)
    }

    /// Whether a window ends with `done` iterations done.
    pub(crate) fn ends_at(&self, done: usize) -> bool {
        self.ends.binary_search(&done).is_ok()
    }

    /// The end of the window that is open, or opens next, with `done` iterations done.
    pub(crate) fn next_end(&self, done: usize) -> Option<usize> {
        self.ends.iter().copied().find(|&end| end > done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows that Stan prints for 1000 and 150 warm-up iterations.
    #[test]
    fn stan_windows() {
        let schedule = Schedule::new(1000, WindowConfig::STAN);
        assert_eq!((schedule.start, schedule.ends.as_slice()), (75, &[100, 150, 250, 450, 950][..]));
        let schedule = Schedule::new(150, WindowConfig::STAN);
        assert_eq!((schedule.start, schedule.ends.as_slice()), (75, &[100][..]));
        let schedule = Schedule::new(100, WindowConfig::STAN);
        assert_eq!((schedule.start, schedule.ends.as_slice()), (15, &[90][..]));
    }

    #[test]
    fn every_collected_draw_is_in_exactly_one_window() {
        for tune in 0..2000 {
            let schedule = Schedule::new(tune, WindowConfig::default());
            let collected = (0..tune).filter(|&i| schedule.collects(i)).count();
            let last = schedule.ends.last().copied().unwrap_or(schedule.start);
            assert_eq!(collected, last - schedule.start.min(last), "{tune}");
            assert!(last <= tune);
            assert!(schedule.ends.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
