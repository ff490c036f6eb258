//! The schedule of warm-up: a buffer for the step size alone, windows that double, a last buffer.
//!
//! The windows of many short chains, and how often spread chains are looked at, are decided here.

use crate::config::{SamplerConfig, WindowConfig};
use std::ops::Range;

/// Iterations between two looks at chains that have been spread.
pub(crate) const SPREADING: usize = 4;

/// The windows of one warm-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    start: usize,
    ends: Vec<usize>,
}

impl Schedule {
    /// Returns the schedule of a run with these settings.
    pub(crate) fn of(config: &SamplerConfig) -> Self {
        match config.nested() {
            Some(first) => Self::pooled(config.tune, first),
            None if config.warms_up_together() => Self::doubling(config.tune, config.windows, 1),
            None => Self::new(config.tune, config.windows),
        }
    }

    /// Stan's rule: windows double, and the last one takes what would be too short for another.
    pub(crate) fn new(tune: usize, config: WindowConfig) -> Self {
        Self::doubling(tune, config, 2)
    }

    /// Windows double. A window is the last one, and longer, where fewer than `least` times its length would be left. With
    /// too few iterations for the given lengths the parts take 15%, 75% and 10%.
    ///
    /// Chains that may settle at the end of any window have one window more than Stan's rule gives them.
    fn doubling(tune: usize, config: WindowConfig, least: usize) -> Self {
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
            at = if end + least * size > last { last } else { end };
            ends.push(at);
            size *= 2;
        }
        Self { start: init_buffer, ends }
    }

    /// Returns the schedule of chains that learn together: every few windows the windows grow by half, so that the run
    /// waits for chains that take long to arrive. The windows leave room for the chains to spread.
    fn pooled(tune: usize, chains: usize) -> Self {
        /// Iterations before the first window.
        const START: usize = 8;
        /// Windows of equal length, one after another.
        const EQUAL: usize = 8;
        /// Iterations of the first windows, and draws of all chains in them: a metric needs no more of them.
        const FIRST_ITERATIONS: usize = 4;
        const FIRST_DRAWS: usize = 128;
        let last = tune.saturating_sub(SPREADING);
        let start = START.min(last);
        let (mut at, mut size) = (start, FIRST_ITERATIONS.max(FIRST_DRAWS.div_ceil(chains)).min(last - start));
        let mut ends = Vec::new();
        while at < last {
            // The last window takes the iterations that would be too few for another.
            at = if at + 2 * size > last { last } else { at + size };
            ends.push(at);
            if ends.len().is_multiple_of(EQUAL) {
                size += size.div_ceil(2);
            }
        }
        Self { start, ends }
    }

    /// Returns the iteration at which window number `window`, counted from 1, ends; the end of the last window if there
    /// are fewer.
    pub(crate) fn end_of(&self, window: usize) -> usize {
        self.ends.get(window.saturating_sub(1)).or(self.ends.last()).copied().unwrap_or(self.start)
    }

    /// Returns where the round ends that is open, or opens next, with `done` iterations done. Rounds are for chains
    /// that share a step size: they double every other time, and end with their window.
    pub(crate) fn round_end(&self, done: usize) -> Option<usize> {
        let end = self.next_end(done)?;
        let begin = self.ends.iter().copied().rfind(|&end| end <= done).unwrap_or(0);
        let mut at = begin;
        for length in (0..).map(|round| 1 << (round / 2)) {
            at += length;
            if at > done {
                break;
            }
        }
        Some(at.min(end))
    }

    /// Returns the iterations whose draws belong to a window.
    pub(crate) fn windows(&self) -> Range<usize> {
        self.start..self.ends.last().copied().unwrap_or(self.start)
    }

    /// Returns the iterations of the longest window.
    pub(crate) fn longest(&self) -> usize {
        let starts = std::iter::once(self.start).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Returns whether a window ends with `done` iterations done.
    pub(crate) fn ends_at(&self, done: usize) -> bool {
        self.ends.binary_search(&done).is_ok()
    }

    /// Returns whether the last window ends with `done` iterations done, or has ended.
    pub(crate) fn is_past_windows(&self, done: usize) -> bool {
        done >= self.windows().end
    }

    /// Returns the end of the window that is open, or opens next, with `done` iterations done.
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

    /// The windows of the default, which recorded runs are too short for: whoever changes them finds this test, decision 6
    /// and `benchmarks/seeds`, whose results are of these windows.
    #[test]
    fn default_windows() {
        let schedule = Schedule::new(1000, WindowConfig::default());
        assert_eq!((schedule.start, schedule.ends.as_slice()), (10, &[25, 55, 115, 235, 950][..]));
    }

    /// A last window as long as the one before it is one of its own.
    #[test]
    fn windows_of_chains_that_may_settle() {
        let of = |tune| Schedule::of(&SamplerConfig { tune, ..SamplerConfig::default() }).ends;
        assert_eq!(of(1000), [25, 55, 115, 235, 475, 950]);
        assert_eq!(of(160), [25, 55, 110]);
        let long = SamplerConfig { strategy: crate::Strategy::FourLong, ..SamplerConfig::default() };
        let alone = SamplerConfig { chains: 1, ..SamplerConfig::default() };
        assert!([long, alone].iter().all(|config| Schedule::of(config) == Schedule::new(1000, config.windows)));
    }

    /// With 64 chains as measured; a few chains take longer windows.
    #[test]
    fn pooled_windows() {
        let schedule = Schedule::pooled(100, 64);
        assert_eq!((schedule.start, &schedule.ends[..10]), (8, &[12, 16, 20, 24, 28, 32, 36, 40, 46, 52][..]));
        assert_eq!(Schedule::pooled(1000, 4).ends[..3], [40, 72, 104]);
        let schedule = Schedule::pooled(1000, 2);
        let rounds: Vec<usize> = std::iter::successors(Some(72), |&done| schedule.round_end(done)).take(10).collect();
        assert_eq!(rounds, [72, 73, 74, 76, 78, 82, 86, 94, 102, 118]);
        assert_eq!(schedule.round_end(135), Some(136));
    }

    /// However short the limit: a window there is, in order, and room to spread after the last.
    #[test]
    fn pooled_windows_leave_room_to_spread() {
        for tune in crate::config::SHORTEST_WARM_UP..300 {
            for chains in [2, 4, 64, 1000] {
                let schedule = Schedule::pooled(tune, chains);
                assert!(schedule.ends.windows(2).all(|pair| pair[0] < pair[1]), "{tune}");
                assert_eq!(schedule.windows().end, tune - SPREADING, "{tune}, {chains} chains");
                for done in 0..tune - SPREADING {
                    let end = schedule.round_end(done).unwrap();
                    assert!(end > done && end <= schedule.next_end(done).unwrap());
                }
            }
        }
    }

    #[test]
    fn every_collected_draw_is_in_exactly_one_window() {
        for tune in 0..2000 {
            let schedule = Schedule::new(tune, WindowConfig::default());
            let collected = (0..tune).filter(|&i| schedule.windows().contains(&i)).count();
            let last = schedule.ends.last().copied().unwrap_or(schedule.start);
            assert_eq!(collected, last - schedule.start.min(last), "{tune}");
            assert!(last <= tune);
            assert!(schedule.ends.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    /// Of 20 iterations on there are windows; where the lengths are too long, 15% and 10% are rounded down.
    #[test]
    fn short_warm_ups_are_divided_in_parts() {
        let parts = |tune| {
            let Schedule { start, ends } = Schedule::new(tune, WindowConfig::STAN);
            (start, ends)
        };
        assert_eq!(parts(19), (19, vec![]));
        for (tune, start, end) in [(20, 3, 18), (119, 17, 108), (139, 20, 126), (140, 21, 126), (149, 22, 135)] {
            assert_eq!(parts(tune), (start, vec![end]), "{tune}");
        }
        let none = Schedule::new(19, WindowConfig::default());
        assert_eq!((none.longest(), none.windows(), none.end_of(1), none.next_end(0)), (0, 19..19, 19, None));
        let shortest = Schedule::new(20, WindowConfig { init_buffer: 0, base_window: 0, term_buffer: 0 });
        assert_eq!((shortest.start, shortest.ends), (0, vec![1, 3, 7, 20]));
    }

    #[test]
    fn windows_are_counted_from_1() {
        let schedule = Schedule::new(1000, WindowConfig::default());
        let ends: Vec<usize> = (0..8).map(|window| schedule.end_of(window)).collect();
        assert_eq!(ends, [25, 25, 55, 115, 235, 950, 950, 950]);
        assert_eq!((schedule.longest(), schedule.windows()), (715, 10..950));
    }

    /// The rule again: eight windows of each length, and each eight by half longer, rounded up, than those before; a window
    /// that leaves too little for another as long takes all.
    #[test]
    fn pooled_windows_grow_by_half_after_eight() {
        for tune in (20..400).chain([1000, 4000]) {
            for chains in [1, 2, 3, 5, 31, 32, 33, 40, 127, 129, 1000] {
                let (first, last) = (8.min(tune - 4), tune - 4);
                let mut length: usize = [128, 64, 43, 26, 5, 4][match chains {
                    1..=3 => chains - 1,
                    5 => 3,
                    31 => 4,
                    _ => 5,
                }];
                length = length.min(last - first);
                let (mut at, mut ends) = (first, Vec::new());
                while at < last {
                    let left = last - at;
                    at += if left < 2 * length { left } else { length };
                    ends.push(at);
                    length = if ends.len().is_multiple_of(8) { (3 * length).div_ceil(2) } else { length };
                }
                let schedule = Schedule::pooled(tune, chains);
                assert_eq!((schedule.start, &schedule.ends), (first, &ends), "{tune}, {chains} chains");
            }
        }
    }

    /// Rounds of 1, 1, 2, 2, 4, 4, ... iterations from the beginning on, which the first window ends.
    #[test]
    fn rounds_double_every_other_time() {
        let schedule = Schedule::pooled(1000, 2);
        let rounds: Vec<usize> = std::iter::successors(Some(0), |&done| schedule.round_end(done)).take(12).collect();
        assert_eq!(rounds, [0, 1, 2, 4, 6, 10, 14, 22, 30, 46, 62, 72]);
        assert_eq!(schedule.round_end(996), None);
    }
}
