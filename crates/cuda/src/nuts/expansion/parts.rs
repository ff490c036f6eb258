//! Cuts picked draws into parts that the buffers hold.

use std::ops::Range;

/// Rows for which there is room, at least one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Rows of draws.
    pub(super) draws: usize,
    /// Rows of variables, or of replicates and their picks.
    pub(super) results: usize,
}

/// Picks that go through the buffers together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PickRange {
    /// Their places in the list.
    pub(super) picks: Range<usize>,
    /// The draws of a chain among which they are.
    pub(super) draws: Range<usize>,
}

/// Cuts one chain's picks into parts that fit, as long as may be and in their order.
///
/// A pick is at once the place of a draw in the buffer and, counted from the first there, its number, by which its
/// random numbers are addressed: so the draws between two picks go to the device as well.
pub(super) fn parts(picks: &[u32], room: Room) -> Vec<PickRange> {
    let mut parts: Vec<PickRange> = Vec::new();
    for (at, pick) in picks.iter().map(|&pick| pick as usize).enumerate() {
        if let Some(part) = parts.last_mut() {
            let draws = part.draws.start.min(pick)..part.draws.end.max(pick + 1);
            if part.picks.len() < room.results && draws.len() <= room.draws {
                *part = PickRange { picks: part.picks.start..at + 1, draws };
                continue;
            }
        }
        parts.push(PickRange { picks: at..at + 1, draws: pick..pick + 1 });
    }
    parts
}

/// Chains that fit together, if all their picks are one part; else they come one after the other.
pub(super) fn chains_at_once(parts: &[PickRange], room: Room) -> usize {
    match parts {
        [part] => (room.draws / part.draws.len()).min(room.results / part.picks.len()),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(picks: &[u32], draws: usize, results: usize) -> Vec<(Range<usize>, Range<usize>)> {
        let room = Room { draws, results };
        parts(picks, room).into_iter().map(|part| (part.picks, part.draws)).collect()
    }

    #[test]
    fn parts_hold_what_fits_in_order() {
        let picks = [2, 3, 7, 20, 21];
        assert_eq!(cut(&picks, 100, 100), [(0..5, 2..22)]);
        assert_eq!(cut(&picks, 20, 100), [(0..5, 2..22)]);
        assert_eq!(cut(&picks, 19, 100), [(0..4, 2..21), (4..5, 21..22)]);
        assert_eq!(cut(&picks, 100, 2), [(0..2, 2..4), (2..4, 7..21), (4..5, 21..22)]);
        assert_eq!(cut(&picks, 1, 1), [(0..1, 2..3), (1..2, 3..4), (2..3, 7..8), (3..4, 20..21), (4..5, 21..22)]);
        assert_eq!(cut(&[], 1, 1), []);
    }

    #[test]
    fn picks_may_come_in_any_order_and_again() {
        assert_eq!(cut(&[9, 4, 4, 0], 6, 100), [(0..3, 4..10), (3..4, 0..1)]);
        assert_eq!(cut(&[u32::MAX, 0], 6, 100), [(0..1, 4294967295..4294967296), (1..2, 0..1)]);
    }

    #[test]
    fn chains_go_together_only_whole() {
        let at_once = |picks: &[u32], draws, results| {
            let room = Room { draws, results };
            chains_at_once(&parts(picks, room), room)
        };
        assert_eq!(at_once(&[0, 9], 35, 100), 3);
        assert_eq!(at_once(&[0, 9], 100, 5), 2);
        assert_eq!(at_once(&[0, 9], 10, 2), 1);
        assert_eq!(at_once(&[0, 9], 9, 100), 1);
        assert_eq!(at_once(&[], 9, 100), 1);
    }
}
