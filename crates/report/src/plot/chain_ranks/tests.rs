//! Ranks by hand, and the picture for every shape.

use super::*;
use crate::error::ReportError;
use crate::plot::{Plot, sound};

fn chains(count: usize, draws: usize) -> Vec<Vec<f64>> {
    let value = |chain: usize, draw: usize| ((draw * count + chain) * 7919 % 10_007) as f64;
    (0..count).map(|chain| (0..draws).map(|draw| value(chain, draw)).collect()).collect()
}

fn plot(name: &str, panels: usize, values: &[Vec<f64>]) -> ChainRankPlot {
    let ranks = ChainRanks::new(values, 300.0);
    let panel = |i| ChainRankPanel { name: format!("{name}[{i}]"), rhat: 1.002, ranks: ranks.clone() };
    ChainRankPlot { panels: (0..panels).map(panel).collect(), parameters: 1003 }
}

#[test]
fn equal_draws_share_their_mean_rank() {
    // Ranks 1, 2, 4, 4, 4, 6, 7, 8 of 8 draws; log2(4) = 2 gives 5 bins of 1.6 ranks.
    let ranks = ChainRanks::new(&[vec![0.0, 3.0, 3.0, 9.0], vec![3.0, 1.0, f64::INFINITY, 5.0]], f64::NAN);
    assert_eq!(ranks.counts, [[1, 0, 2, 0, 1], [1, 0, 1, 1, 1]]);
    assert_eq!(ranks.expected, 0.8);
    assert_eq!((ranks.not_a_number, ranks.constant), (0, false));
}

#[test]
fn a_chain_apart_is_far_outside_the_band_and_equal_ones_are_not() {
    let mut values = chains(4, 500);
    let outside = |ranks: &ChainRanks| {
        let beyond = |&&n: &&u64| (n as f64) < ranks.chance.0 || n as f64 > ranks.chance.1;
        ranks.counts.iter().flatten().filter(beyond).count()
    };
    assert!(outside(&ChainRanks::new(&values, 2000.0)) <= 3);
    values[2].iter_mut().for_each(|v| *v += 8000.0);
    assert!(outside(&ChainRanks::new(&values, 2000.0)) > 20);
}

#[test]
fn the_band_is_wider_where_draws_resemble_their_neighbours() {
    let values = chains(4, 500);
    let (independent, sticky) = (ChainRanks::new(&values, 2000.0), ChainRanks::new(&values, 500.0));
    let width = |ranks: &ChainRanks| ranks.chance.1 - ranks.expected;
    assert!((width(&sticky) / width(&independent) - 2.0).abs() < 1e-12);
    assert_eq!(independent.counts, sticky.counts);
}

#[test]
fn every_shape_is_drawn_without_flaws() {
    // Seven chains have a key, sixteen a strip each.
    for count in [1, 4, 7, 8, 12, 16, 17, 64] {
        for panels in [1, 3, 9] {
            sound("ranks", &plot("mu_group", panels, &chains(count, 200)));
        }
    }
    sound("long names", &plot(&"a_very_long_name".repeat(9), 4, &chains(4, 200)));
    let odd = [vec![f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY], vec![0.0, -0.0, 2.0, 3.0]];
    sound("odd values", &plot("x", 2, &odd));
    sound("constant", &plot("x", 1, &[vec![2.0; 50], vec![2.0; 50]]));
    sound("NaN", &plot("x", 1, &[vec![f64::NAN; 50]]));
    sound("one draw", &plot("x", 1, &[vec![1.0], vec![2.0]]));
}

#[test]
fn nothing_to_draw_says_what_is_missing() {
    let error = ChainRankPlot { panels: vec![], parameters: 0 }.scene().unwrap_err();
    assert!(matches!(error, ReportError::Empty { missing: "a variable with draws", .. }), "{error}");
}
