//! Chains that are copies of each other: one file given twice, or chains that had the same random numbers.

use crate::summary::{Summary, numeric};
use octopus_trace::{Dataset, Values};
use std::cmp::Ordering;

/// Changes from draw to draw after which equal whole numbers are no chance: of so many among at least twice as many draws
/// hardly one pair of chains in 10^5 has all at the same places.
const CHANGES: usize = 16;

/// Returns the groups of chains whose draws of every variable are equal to the last bit, each in order; `summary` is that
/// of the same posterior. Chains that do not move, and whole numbers that hardly change, may be equal by chance.
pub(super) fn copies(posterior: &Dataset, summary: &Summary) -> Vec<Vec<usize>> {
    let variables: Vec<&Values> = numeric(posterior).map(|(_, array)| &array.values).collect();
    let of = |values: &'_ Values, chain: usize| {
        let size = values.len() / summary.chains.max(1);
        chain * size..(chain + 1) * size
    };
    let compare = |a: usize, b: usize| {
        let one_by_one = |values: &&Values| match values {
            Values::F64(v) => {
                let bits = |chain| v[of(values, chain)].iter().map(|v| v.to_bits());
                bits(a).cmp(bits(b))
            }
            Values::I64(v) => v[of(values, a)].cmp(&v[of(values, b)]),
            Values::Bool(v) => v[of(values, a)].cmp(&v[of(values, b)]),
            Values::Strings(_) => Ordering::Equal,
        };
        variables.iter().map(one_by_one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<usize> = (0..summary.chains).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut found: Vec<Vec<usize>> = order
        .chunk_by(|&a, &b| compare(a, b).is_eq())
        .filter(|group| group.len() > 1 && is_no_chance(&variables, summary, group[0]))
        .map(<[usize]>::to_vec)
        .collect();
    found.sort_unstable();
    found
}

/// Returns whether a chain's draws are of a kind that another chain does not have by chance.
fn is_no_chance(variables: &[&Values], summary: &Summary, chain: usize) -> bool {
    variables.iter().any(|values| {
        let values = values.to_f64();
        let size = values.len() / summary.chains.max(1);
        let width = (size / summary.draws.max(1)).max(1);
        let own = &values[chain * size..(chain + 1) * size];
        (0..width).any(|element| {
            let draws = || own.iter().skip(element).step_by(width);
            let changes = draws().zip(draws().skip(1)).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            changes >= CHANGES || (changes > 0 && draws().any(|v| v.fract() != 0.0))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summary;
    use octopus_trace::Array;

    /// Four chains of `theta`, two numbers a draw, the draws of chain c being those of `like[c]`.
    fn found(like: [usize; 4], draws: usize, value: fn(usize) -> f64) -> Vec<Vec<usize>> {
        let chain = |c: usize| (0..2 * draws).map(move |k| value(c * 7919 + k * 31 + k * k));
        let theta: Vec<f64> = like.into_iter().flat_map(chain).collect();
        let mut posterior = Dataset::default();
        posterior.insert("theta", Array::new([("chain", 4), ("draw", draws), ("i", 2)], Values::F64(theta)));
        copies(&posterior, &summary(&posterior, 0.89).unwrap())
    }

    #[test]
    fn copies_are_grouped() {
        let real = |k: usize| (k % 1009) as f64 / 7.0;
        assert!(found([0, 1, 2, 3], 100, real).is_empty());
        assert_eq!(found([0, 1, 0, 3], 100, real), [vec![0, 2]]);
        assert_eq!(found([5, 5, 5, 5], 100, real), [vec![0, 1, 2, 3]]);
        assert_eq!(found([3, 1, 1, 3], 2, real), [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn what_may_be_equal_by_chance_is_no_copy() {
        assert!(found([5, 5, 5, 5], 100, |_| 1.5).is_empty(), "chains that do not move");
        assert!(found([5, 5, 5, 5], 5, |k| (k % 2) as f64).is_empty(), "a few whole numbers");
        assert_eq!(found([5, 5, 1, 2], 100, |k| (k % 5) as f64), [vec![0, 1]], "many of them");
    }

    /// One variable alone may be equal, and the last bit counts.
    #[test]
    fn all_draws_must_be_equal() {
        let real = |k: usize| (k * 7919 % 1009) as f64 / 7.0;
        let mut posterior = Dataset::default();
        let axes = [("chain", 2), ("draw", 50)];
        posterior.insert("x", Array::new(axes, Values::F64((0..100).map(|k| real(k % 50)).collect())));
        let of = |posterior: &Dataset| copies(posterior, &summary(posterior, 0.89).unwrap());
        assert_eq!(of(&posterior), [vec![0, 1]]);
        let mut y: Vec<f64> = (0..100).map(|k| real(k % 50 + 3)).collect();
        y[99] = f64::from_bits(y[99].to_bits() + 1);
        posterior.insert("y", Array::new(axes, Values::F64(y)));
        assert!(of(&posterior).is_empty());
    }

    /// Chains of `x` with these draws.
    fn of_rows(rows: &[&[f64]]) -> Vec<Vec<usize>> {
        let mut posterior = Dataset::default();
        let axes = [("chain", rows.len()), ("draw", rows[0].len())];
        posterior.insert("x", Array::new(axes, Values::F64(rows.concat())));
        copies(&posterior, &summary(&posterior, 0.89).unwrap())
    }

    #[test]
    fn whole_numbers_that_change_sixteen_times_are_no_chance() {
        let switches: Vec<f64> = (0..17).map(|draw| f64::from(draw % 2)).collect();
        assert_eq!(of_rows(&[&switches, &switches]), [vec![0, 1]]);
        assert!(of_rows(&[&switches[1..], &switches[1..]]).is_empty());
        // One change of a fraction is enough.
        let once = [0.5, 0.5, 1.25];
        assert_eq!(of_rows(&[&once, &once]), [vec![0, 1]]);
    }

    /// Chains 0 and 2 rest at the same value: that chain 1 moves makes them no copies.
    #[test]
    fn chains_that_rest_are_no_copies_whatever_others_do() {
        let moving = [0.5, 1.5, 2.25, 0.125];
        assert!(of_rows(&[&[1.5; 4], &moving, &[1.5; 4], &[1.5; 4]]).is_empty());
        assert_eq!(of_rows(&[&[1.5; 4], &moving, &[1.5; 4], &moving]), [vec![1, 3]]);
    }
}
