//! Divides chains or data sets over devices. No draw depends on how.

use std::ops::Range;

/// Divides `count` things over devices of these weights by D'Hondt's rule: each thing goes to the device that has the
/// fewest for its weight, the first among equals. A device's share never shrinks when there are more things.
pub(super) fn shares(count: usize, weights: &[u32]) -> Vec<usize> {
    let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    // The rule gives at least the proportional part, rounded down; what is left is less than one for each device.
    let floor = |&weight: &u32| (count as u128 * u128::from(weight)).checked_div(all).unwrap_or(0) as usize;
    let mut shares: Vec<usize> = weights.iter().map(floor).collect();
    for _ in shares.iter().sum::<usize>()..count {
        // Weight for each thing, had it one more: the larger of two fractions.
        let with = |at: usize| (u128::from(weights[at]), shares[at] as u128 + 1);
        let best = (0..weights.len()).reduce(|best, at| {
            let ((weight, things), (most, fewest)) = (with(at), with(best));
            if weight * fewest > most * things { at } else { best }
        });
        let Some(best) = best else { break };
        shares[best] += 1;
    }
    shares
}

/// Divides a list of things with these costs over devices of these weights. Each device gets neighbours in the list,
/// with about the part of all costs that its weight is of all weights; empty parts are left out.
pub(super) fn pieces(costs: &[usize], weights: &[u32]) -> Vec<Range<usize>> {
    let sum = |values: &mut dyn Iterator<Item = u128>| values.sum::<u128>();
    let all_costs = sum(&mut costs.iter().map(|&cost| cost as u128));
    let all_weights = sum(&mut weights.iter().map(|&weight| u128::from(weight)));
    let (mut pieces, mut start, mut cost, mut weight) = (Vec::new(), 0, 0, 0);
    for (at, &own) in weights.iter().enumerate() {
        weight += u128::from(own);
        let mut end = start;
        // A thing is the device's in whose part its middle lies; whatever is left is the last one's.
        while end < costs.len() {
            let own = costs[end] as u128;
            if at + 1 < weights.len() && (2 * cost + own) * all_weights >= 2 * weight * all_costs {
                break;
            }
            (cost, end) = (cost + own, end + 1);
        }
        if end > start {
            pieces.push(start..end);
        }
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Range, pieces, shares};

    #[test]
    fn things_are_divided_by_weight() {
        assert_eq!(shares(4, &[84, 84]), [2, 2]);
        assert_eq!(shares(5, &[84, 84]), [3, 2]);
        assert_eq!(shares(10, &[132, 66]), [7, 3]);
        assert_eq!(shares(2, &[1, 1, 1]), [1, 1, 0]);
        assert_eq!(shares(3, &[100]), [3]);
        assert_eq!((shares(7, &[]), shares(0, &[1, 2])), (vec![], vec![0, 0]));
        assert_eq!(shares(3, &[0, 0]), [3, 0]);
    }

    #[test]
    fn neighbours_are_divided_by_cost() {
        assert_eq!(pieces(&[5, 5, 5, 5], &[1, 1]), [0..2, 2..4]);
        assert_eq!(pieces(&[9, 1, 1, 1, 1, 1, 1, 1, 1, 1], &[1, 1]), [0..1, 1..10]);
        assert_eq!(pieces(&[1; 12], &[132, 66]), [0..8, 8..12]);
        assert_eq!(pieces(&[3, 3], &[1, 1, 1]), [0..1, 1..2]);
        let one = |pieces: Vec<Range<usize>>| <[Range<usize>; 1]>::try_from(pieces).map(|[piece]| piece);
        assert_eq!(one(pieces(&[7], &[1, 1])), Ok(0..1));
        assert_eq!(one(pieces(&[1, 2, 3], &[9])), Ok(0..3));
        assert_eq!((pieces(&[], &[1, 1]), one(pieces(&[0, 0], &[1, 1]))), (vec![], Ok(0..2)));
    }

    /// Seats of a parliament by the rule itself, one after the other; the parties of Wikipedia's example have 8 seats by
    /// votes of 100, 80, 30 and 20 thousand: 4, 3, 1 and 0.
    #[test]
    fn the_rule_is_dhondts() {
        assert_eq!(shares(8, &[100, 80, 30, 20]), [4, 3, 1, 0]);
        for weights in [vec![100, 80, 30, 20], vec![7, 132, 84, 84, 1], vec![3, 3, 3]] {
            let mut by_one = vec![0_usize; weights.len()];
            for count in 1..200 {
                let quotient = |at: usize| f64::from(weights[at]) / (by_one[at] + 1) as f64;
                let best = (0..weights.len()).rev().max_by(|&a, &b| quotient(a).total_cmp(&quotient(b))).unwrap();
                by_one[best] += 1;
                assert_eq!(shares(count, &weights), by_one, "{count} over {weights:?}");
            }
        }
    }
}
