//! What is chosen, and the picture for every shape.

use super::*;
use crate::error::ReportError;
use crate::plot::{Plot, sound};
use crate::sample::{Sample, Shape};

fn sample(groups: usize, chains: usize, draws: usize, divergences: bool) -> Sample {
    Sample::new(Shape { groups, chains, draws, truth: true, divergences })
}

fn plot(sample: &Sample) -> PairPlot {
    PairPlot::from_posterior(&sample.posterior, Some(&sample.stats), &sample.summary)
}

#[test]
fn divergent_draws_keep_their_places() {
    let mut sample = sample(1, 2, 30, false);
    if let octopus_trace::Values::Bool(flags) = &mut sample.stats.variables[0].values {
        (flags[4], flags[35]) = (true, true);
    }
    sample.summary.retain(|row| row.name != "z[0]");
    let found = plot(&sample);
    assert_eq!((found.divergent, found.parameters), (vec![4, 35], 4));
    let names: Vec<_> = found.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["mu_pop", "sigma_pop", "sigma_obs", "mu_group[0]"]);
    let draws = crate::draws::elements(&sample.posterior).next().unwrap().pooled();
    assert_eq!(found.variables[0].draws, draws);
    let without = PairPlot::from_posterior(&sample.posterior, None, &sample.summary);
    assert!(without.divergent.is_empty() && without.variables.len() == 4);
}

#[test]
fn every_shape_is_drawn_without_flaws() {
    for (groups, chains, draws, divergences) in
        [(1, 1, 50, false), (3, 4, 400, true), (500, 2, 50, true), (3, 64, 50, true), (1, 1, 1, false)]
    {
        let mut sample = sample(groups, chains, draws, divergences);
        sound("pairs", &plot(&sample));
        for kept in [4, 2, 1] {
            sample.summary.truncate(kept);
            sound("few", &plot(&sample));
        }
    }
    let mut all = plot(&sample(3, 2, 60, false));
    all.divergent = (0..120).collect();
    sound("all divergent", &all);
    for (variable, fill) in all.variables.iter_mut().zip([3.0, f64::NAN, f64::INFINITY]) {
        variable.draws.fill(fill);
        variable.name = "a_very_long_name".repeat(9);
    }
    all.variables[3].draws[0] = f64::NEG_INFINITY;
    all.variables[4].draws.iter_mut().for_each(|v| *v *= 1e9);
    sound("odd values", &all);
}

#[test]
fn nothing_to_draw_says_what_is_missing() {
    let error = PairPlot::from_posterior(&Dataset::default(), None, &[]).scene().unwrap_err();
    assert!(matches!(error, ReportError::Empty { missing: "a variable with draws", .. }), "{error}");
}
