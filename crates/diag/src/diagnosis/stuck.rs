//! Stuck chains, which have stopped moving while others move.
//!
//! From which share of the others' range on a chain counts as stuck, and from how many draws, stands here.

use crate::summary::{Summary, numeric};
use octopus_trace::{Dataset, Values};

/// A chain hardly moves where the range of its later draws is below this share of the median chain's.
const SHARE: f64 = 1e-3;
/// Draws of a chain below which a small range may be chance.
const LEAST_DRAWS: usize = 16;
/// Elements whose chains agree better than this are not looked at: an indicator may be the same in all draws of a chain.
const RHAT: f64 = 1.1;

/// A chain that has stopped, and the quantity that shows it most clearly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StuckChain {
    pub(crate) chain: usize,
    /// The quantity's name.
    pub(crate) name: String,
    /// The draw from which on the chain has stopped, counted from 0.
    pub(crate) since: usize,
    /// Whether all draws from then on are equal.
    pub(crate) constant: bool,
    /// The chain's range in units of the median chain's.
    share: f64,
}

/// Returns the chains that have stopped, in order; `summary` is that of the same posterior.
pub(crate) fn stuck_chains(posterior: &Dataset, summary: &Summary) -> Vec<StuckChain> {
    let Summary { chains, draws, .. } = *summary;
    let mut found: Vec<Option<StuckChain>> = vec![None; chains];
    if chains < 2 || draws < LEAST_DRAWS {
        return Vec::new();
    }
    let mut rows = summary.parameters.iter();
    for (_, array) in numeric(posterior) {
        let width = array.elements(2);
        let Values::F64(values) = &array.values else {
            rows.by_ref().take(width).for_each(drop);
            continue;
        };
        for (element, row) in (0..width).zip(rows.by_ref()) {
            if row.rhat < RHAT || row.not_finite > 0 {
                continue;
            }
            let value = |chain: usize, draw: usize| values[(chain * draws + draw) * width + element];
            let ranges: Vec<f64> =
                (0..chains).map(|chain| range(draws / 2..draws, |draw| value(chain, draw))).collect();
            let mut sorted = ranges.clone();
            sorted.sort_by(f64::total_cmp);
            let typical = sorted[chains / 2];
            for (chain, &range) in ranges.iter().enumerate() {
                let share = range / typical;
                if share.is_nan() || share >= SHARE || found[chain].as_ref().is_some_and(|before| before.share <= share)
                {
                    continue;
                }
                let since = since(draws, SHARE * typical, |draw| value(chain, draw));
                found[chain] = Some(StuckChain { chain, name: row.name.clone(), since, constant: range == 0.0, share });
            }
        }
    }
    found.into_iter().flatten().collect()
}

fn range(draws: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> f64 {
    let (low, high) = draws.map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    high - low
}

/// Returns the first draw from which on all are within `limit` of each other.
fn since(draws: usize, limit: f64, value: impl Fn(usize) -> f64) -> usize {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for draw in (0..draws).rev() {
        (low, high) = (low.min(value(draw)), high.max(value(draw)));
        if high - low > limit {
            return draw + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summary;
    use octopus_trace::Array;

    /// Numbers from 0 to 4.
    fn moving(k: usize) -> f64 {
        4.0 * f64::from((k * 7919 % 1009) as u32) / 1009.0
    }

    /// Four chains of 100 draws, from 0 to 4, of `mu` and of `theta[0], theta[1]`; `theta[1]` of chain 2 as given.
    fn posterior(of_chain_2: impl Fn(usize) -> f64) -> Dataset {
        let mut theta: Vec<f64> = (0..800).map(moving).collect();
        (0..100).for_each(|draw| theta[(200 + draw) * 2 + 1] = of_chain_2(draw));
        let array = |dims: &[&str], shape: &[usize], values| Array {
            dims: dims.iter().map(|&dim| dim.to_owned()).collect(),
            shape: shape.to_vec(),
            values: Values::F64(values),
        };
        let mut posterior = Dataset::default();
        posterior.variables.insert("mu".into(), array(&["chain", "draw"], &[4, 100], (0..400).map(moving).collect()));
        posterior.variables.insert("theta".into(), array(&["chain", "draw", "i"], &[4, 100, 2], theta));
        posterior
    }

    fn found(of_chain_2: impl Fn(usize) -> f64) -> Vec<(usize, String, usize, bool)> {
        found_in(&posterior(of_chain_2))
    }

    fn found_in(posterior: &Dataset) -> Vec<(usize, String, usize, bool)> {
        let summary = summary(posterior, 0.89).unwrap();
        let name = |stuck: StuckChain| (stuck.chain, stuck.name, stuck.since, stuck.constant);
        stuck_chains(posterior, &summary).into_iter().map(name).collect()
    }

    /// Chains of `x`, of which all draws are numbered.
    fn scalar(chains: usize, draws: usize, value: impl Fn(usize) -> f64) -> Dataset {
        let mut posterior = Dataset::default();
        let values = Values::F64((0..chains * draws).map(value).collect());
        posterior.insert("x", Array::new([("chain", chains), ("draw", draws)], values));
        posterior
    }

    #[test]
    fn a_chain_that_stops_is_named_with_quantity_and_draw() {
        let stops = |draw: usize| if draw < 30 { f64::from(draw as u32) / 30.0 } else { 5.0 };
        assert_eq!(found(stops), [(2, "theta[1]".to_owned(), 30, true)]);
        let stops_among_others = |draw: usize| if draw < 30 { f64::from(draw as u32) / 30.0 } else { 3.9 };
        assert_eq!(found(stops_among_others), [(2, "theta[1]".to_owned(), 30, true)]);
        let creeps = |draw: usize| 5.0 + 1e-8 * f64::from(draw as u32);
        assert_eq!(found(creeps), [(2, "theta[1]".to_owned(), 0, false)]);
    }

    /// Just inside and just beyond a thousandth of the others' range, and a chain that is elsewhere and moves.
    #[test]
    fn a_chain_that_moves_is_not_stuck() {
        let of_range = |range: f64| found(move |draw| 5.0 + range * f64::from((draw % 2) as u32));
        assert!(of_range(0.0044).is_empty() && of_range(0.8).is_empty());
        assert_eq!(of_range(0.0036), [(2, "theta[1]".to_owned(), 0, false)]);
    }

    /// The last chain rests from its first draw on.
    #[test]
    fn two_chains_of_16_draws_can_be_compared() {
        for (chains, draws, expected) in [(1, 100, vec![]), (2, 100, vec![1]), (4, 15, vec![]), (4, 16, vec![3])] {
            let value = |k: usize| if k / draws + 1 == chains { 5.0 } else { moving(k) };
            let found: Vec<usize> = found_in(&scalar(chains, draws, value)).iter().map(|stuck| stuck.0).collect();
            assert_eq!(found, expected, "{chains} {draws}");
        }
    }

    /// The later draws of chain 2 are equal by chance, which R-hat tells.
    #[test]
    fn an_indicator_may_rest_where_chains_agree() {
        let rare = |k: usize| f64::from(u8::from(k % 100 == 10 || (k % 100 == 70 && k / 100 != 2)));
        let posterior = scalar(4, 100, rare);
        let mut rows = summary(&posterior, 0.89).unwrap();
        assert!(rows.parameters[0].rhat < RHAT && stuck_chains(&posterior, &rows).is_empty());
        rows.parameters[0].rhat = RHAT;
        let found: Vec<usize> = stuck_chains(&posterior, &rows).iter().map(|stuck| stuck.chain).collect();
        assert_eq!(found, [2]);
    }

    #[test]
    fn a_quantity_with_nan_is_not_looked_at() {
        assert!(found(|draw| if draw == 0 { f64::NAN } else { 5.0 }).is_empty());
    }

    /// In chain 2 one number of `theta` rests and the other creeps.
    #[test]
    fn the_quantity_that_moves_least_is_named() {
        for rests in [0, 1] {
            let mut posterior = posterior(|_| 0.0);
            if let Values::F64(theta) = &mut posterior.variables["theta"].values {
                for draw in 0..100 {
                    theta[(200 + draw) * 2 + rests] = 5.0;
                    theta[(200 + draw) * 2 + 1 - rests] = 5.0 + 1e-8 * draw as f64;
                }
            }
            assert_eq!(found_in(&posterior), [(2, format!("theta[{rests}]"), 0, true)]);
        }
    }

    #[test]
    fn draws_as_far_apart_as_the_limit_are_within_it() {
        assert_eq!(since(4, 1.0, |draw| [0.0, 1.0, 2.0, 2.0][draw]), 1);
    }

    /// An odd number of draws has one in the middle, where the last chain moves or rests.
    #[test]
    fn the_middle_draw_is_a_later_one() {
        let found = |rests: usize| {
            let value = |k: usize| if k / 17 == 3 && k % 17 >= rests { 5.0 } else { moving(k) };
            found_in(&scalar(4, 17, value)).iter().map(|stuck| (stuck.0, stuck.2)).collect::<Vec<_>>()
        };
        assert_eq!((found(8), found(9)), (vec![(3, 8)], vec![]));
    }

    /// Two of three chains have a range of 4, and the third one 2000 times as much.
    #[test]
    fn the_middle_one_of_three_chains_is_the_measure() {
        let value = |k: usize| 1e4 * (k / 100) as f64 + moving(k) * if k / 100 == 2 { 2000.0 } else { 1.0 };
        assert!(found_in(&scalar(3, 100, value)).is_empty());
    }

    /// The check looks at the last 50 of 100 draws.
    #[test]
    fn a_chain_that_stops_late_is_not_stuck() {
        let stops = |last: usize| found(move |draw| if draw < last { draw as f64 / 30.0 } else { 5.0 });
        assert_eq!(stops(45), [(2, "theta[1]".to_owned(), 45, true)]);
        assert_eq!(stops(50), [(2, "theta[1]".to_owned(), 50, true)]);
        assert!(stops(52).is_empty());
    }
}
