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

    /// Four chains of 100 draws, from 0 to 4, of `mu` and of `theta[0], theta[1]`; `theta[1]` of chain 2 as given.
    fn posterior(of_chain_2: impl Fn(usize) -> f64) -> Dataset {
        let moving = |k: usize| 4.0 * f64::from((k * 7919 % 1009) as u32) / 1009.0;
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
        let posterior = posterior(of_chain_2);
        let summary = summary(&posterior, 0.89).unwrap();
        let name = |stuck: StuckChain| (stuck.chain, stuck.name, stuck.since, stuck.constant);
        stuck_chains(&posterior, &summary).into_iter().map(name).collect()
    }

    #[test]
    fn a_chain_that_stops_is_named_with_quantity_and_draw() {
        let stops = |draw: usize| if draw < 30 { f64::from(draw as u32) / 30.0 } else { 5.0 };
        assert_eq!(found(stops), [(2, "theta[1]".to_owned(), 30, true)]);
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
}
