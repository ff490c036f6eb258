//! How long the host waits for kernels whose blocks wait for each other. Where one of these blocks never comes, such a
//! kernel never ends, and whoever waits for it as for any other never goes on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the host expects of such kernels that may be under way.
#[derive(Debug, Default)]
pub(crate) struct Patience(Mutex<Launches>);

#[derive(Debug, Default)]
struct Launches {
    /// The number of such kernels that were launched.
    launches: u64,
    expected: Option<Expected>,
}

/// The kernel that was launched last, and the longest of the times that are given to those that may be under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) kernel: String,
    pub(crate) within: Duration,
}

impl Patience {
    /// A kernel was launched, and whoever waits for it does so for so long.
    pub(crate) fn expect(&self, kernel: &str, within: Duration) {
        let mut state = self.state();
        state.launches += 1;
        match &mut state.expected {
            Some(expected) if expected.kernel == kernel => expected.within = expected.within.max(within),
            other => {
                let longest = other.as_ref().map_or(within, |before| before.within.max(within));
                *other = Some(Expected { kernel: kernel.to_owned(), within: longest });
            }
        }
    }

    /// Returns what is expected, and the number of launches so far. Nothing, where none may be under way.
    pub(crate) fn now(&self) -> (Option<Expected>, u64) {
        let state = self.state();
        (state.expected.clone(), state.launches)
    }

    /// All that was launched is done, if these were all launches.
    pub(crate) fn all_done(&self, launches: u64) {
        let mut state = self.state();
        if state.launches == launches {
            state.expected = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, Launches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_holds_until_all_is_done() {
        let patience = Patience::default();
        assert_eq!(patience.now(), (None, 0));
        let expected =
            |kernel: &str, seconds| Some(Expected { kernel: kernel.into(), within: Duration::from_secs(seconds) });
        for (kernel, seconds) in [("a", 5), ("a", 3), ("b", 4)] {
            patience.expect(kernel, Duration::from_secs(seconds));
        }
        assert_eq!(patience.now(), (expected("b", 5), 3));
        // Another was launched while somebody waited.
        patience.all_done(2);
        assert_eq!(patience.now(), (expected("b", 5), 3));
        patience.all_done(3);
        assert_eq!(patience.now(), (None, 3));
        patience.expect("a", Duration::from_secs(1));
        assert_eq!(patience.now(), (expected("a", 1), 4));
    }
}
