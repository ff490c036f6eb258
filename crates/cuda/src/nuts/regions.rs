//! The layout of a slot's buffer: where draws, points, records and end states begin, and their alignment.

use super::NutsLaunch;
use super::layout::NutsFormat;
use super::record::RECORD;
use std::ops::Range;

/// Regions begin at multiples of this many bytes.
const REGION: usize = 16;

/// The sizes of what the chains of one data set leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaunchSizes {
    pub(super) chains: usize,
    pub(super) dim: usize,
    pub(super) iterations: usize,
    /// Whether there is room for points.
    pub(super) points: bool,
}

/// The places where the regions of a data set begin, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) end_states: usize,
    pub(crate) end_positions: usize,
    pub(crate) records: usize,
    pub(crate) draws: usize,
    pub(crate) points: usize,
    pub(super) iterations: usize,
    /// Iterations of the launch of which the points are kept.
    pub(super) window: Range<usize>,
}

impl Regions {
    /// Returns where the regions go on with chain `first`, of `dim` coordinates: each has the chains one after another.
    pub(super) fn from(&self, format: NutsFormat, dim: usize, first: usize) -> Self {
        let point = dim * format.element.bytes();
        let after = |region: usize, of_chain: usize| region + first * of_chain;
        Self {
            end_states: after(self.end_states, format.state_bytes()),
            end_positions: after(self.end_positions, point),
            records: after(self.records, self.iterations * RECORD),
            draws: after(self.draws, self.iterations * point),
            points: after(self.points, self.iterations * 2 * point),
            ..self.clone()
        }
    }
}

/// A buffer for one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) sets: Vec<Regions>,
    /// The place where the chains' points begin, those of all data sets one after another.
    pub(super) end_positions: usize,
    /// The place where points begin, which do not always leave the device.
    pub(super) points: usize,
    pub(super) end: usize,
}

impl Plan {
    /// Each kind of all data sets, one data set after another: end states at the front, points at the end. `None` for more
    /// than can be counted.
    pub(super) fn new(format: NutsFormat, sizes: &[LaunchSizes]) -> Option<Self> {
        let element = format.element.bytes();
        let mut sets: Vec<Regions> =
            sizes.iter().map(|sizes| Regions { iterations: sizes.iterations, ..Regions::default() }).collect();
        let mut place = |begin: usize, bytes: &dyn Fn(&LaunchSizes) -> Option<usize>, set: fn(&mut Regions, usize)| {
            let mut next = begin.checked_next_multiple_of(REGION)?;
            let first = next;
            for (sizes, regions) in sizes.iter().zip(&mut sets) {
                set(regions, next);
                next = next.checked_add(bytes(sizes)?)?;
            }
            Some((first, next))
        };
        let ends = |sizes: &LaunchSizes| sizes.chains.checked_mul(sizes.dim)?.checked_mul(element);
        let all = |sizes: &LaunchSizes, bytes: Option<usize>| bytes?.checked_mul(sizes.iterations);
        let (_, next) = place(0, &|sizes| sizes.chains.checked_mul(format.state_bytes()), |r, at| r.end_states = at)?;
        let (end_positions, next) = place(next, &ends, |r, at| r.end_positions = at)?;
        let (_, next) = place(next, &|sizes| all(sizes, sizes.chains.checked_mul(RECORD)), |r, at| r.records = at)?;
        let (_, next) = place(next, &|sizes| all(sizes, ends(sizes)), |r, at| r.draws = at)?;
        // Each with the gradient there.
        let both = |sizes: &LaunchSizes| ends(sizes)?.checked_mul(2);
        let of_windows = |sizes: &LaunchSizes| if sizes.points { all(sizes, both(sizes)) } else { Some(0) };
        let (points, next) = place(next, &of_windows, |r, at| r.points = at)?;
        let end = next.checked_next_multiple_of(REGION)?;
        Some(Self { sets, end_positions, points, end })
    }
}

/// Returns the iterations of a launch of which the points are kept, counted from its first.
pub(super) fn window(launch: &NutsLaunch) -> Range<usize> {
    let within = |iteration: u32| iteration.saturating_sub(launch.first_iteration).min(launch.iterations) as usize;
    within(launch.window.start)..within(launch.window.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Float;

    /// States of 72 bytes, records of 64, two and three chains of two and one coordinates.
    #[test]
    fn kinds_follow_each_other_and_data_sets_within_them() {
        let format = NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 1 };
        let sizes = [
            LaunchSizes { chains: 2, dim: 2, iterations: 1, points: false },
            LaunchSizes { chains: 3, dim: 1, iterations: 2, points: true },
        ];
        let plan = Plan::new(format, &sizes).unwrap();
        let places = |r: &Regions| [r.end_states, r.end_positions, r.records, r.draws, r.points];
        // 360 bytes of states and 8 of nothing, 32 + 24 of ends and 8, 128 + 384 of records, 32 + 48 of draws, and 96 of
        // points.
        assert_eq!(places(&plan.sets[0]), [0, 368, 432, 944, 1024]);
        assert_eq!(places(&plan.sets[1]), [144, 400, 560, 976, 1024]);
        assert_eq!((plan.end_positions, plan.points, plan.end), (368, 1024, 1120));
        // Two states, two ends, records and draws of two chains of two iterations, and their points with gradients.
        assert_eq!(places(&plan.sets[1].from(format, 1, 2)), [144 + 144, 400 + 16, 560 + 256, 976 + 32, 1024 + 64]);
        assert_eq!(Plan::new(format, &[LaunchSizes { chains: usize::MAX / 8, ..sizes[1] }]), None);
    }

    #[test]
    fn a_window_is_what_a_launch_has_of_it() {
        let launch = |first_iteration, iterations, window| NutsLaunch {
            seed: 0,
            first_chain: 0,
            chains: 1,
            first_iteration,
            iterations,
            tune: 0,
            window,
            max_energy_error: 1000.0,
            target_accept: 0.8,
        };
        assert_eq!(window(&launch(10, 5, 12..20)), 2..5);
        assert_eq!(window(&launch(10, 5, 0..12)), 0..2);
        assert!(window(&launch(10, 5, 0..10)).is_empty() && window(&launch(10, 5, 15..20)).is_empty());
    }
}
