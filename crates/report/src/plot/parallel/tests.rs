//! Values by hand, and the picture for every shape.

use super::*;
use crate::error::ReportError;
use crate::plot::{Plot, sound};
use crate::sample::{Sample, Shape};

fn sample(groups: usize, chains: usize, draws: usize, divergences: bool) -> Sample {
    Sample::new(Shape { groups, chains, draws, truth: false, divergences })
}

fn plot(sample: &Sample) -> ParallelPlot {
    ParallelPlot::from_posterior(&sample.posterior, Some(&sample.stats), &sample.summary)
}

#[test]
fn values_are_in_standard_deviations_of_the_summary() {
    let mut sample = sample(1, 2, 30, false);
    if let octopus_trace::Values::Bool(flags) = &mut sample.stats.variables[0].values {
        flags[35] = true;
    }
    let found = plot(&sample);
    assert_eq!((found.draws, found.divergences, found.divergent.len(), found.others.len()), (60, 1, 1, 59));
    let draws = crate::draws::elements(&sample.posterior).nth(1).unwrap().pooled();
    let row = &sample.summary[1];
    assert_eq!(found.divergent[0][1], (draws[35] - row.mean) / row.sd);
    assert_eq!(found.variables[1].name, "sigma_pop");
    assert_eq!((normalised(3.0, 3.0, 0.0), normalised(f64::INFINITY, 1.0, 2.0)), (0.0, f64::INFINITY));
}

#[test]
fn lines_are_thinned_evenly() {
    let all: Vec<usize> = (0..1000).collect();
    let kept: Vec<usize> = evenly(&all, 4).copied().collect();
    assert_eq!(kept, [0, 250, 500, 750]);
    assert_eq!(evenly(&all[..3], 4).count(), 3);
    assert_eq!(evenly(&[], 4).count(), 0);
}

#[test]
fn every_shape_is_drawn_without_flaws() {
    for (groups, chains, draws, divergences) in
        [(1, 1, 50, false), (3, 4, 400, true), (500, 2, 50, true), (3, 64, 50, true), (1, 1, 1, false)]
    {
        let mut sample = sample(groups, chains, draws, divergences);
        sound("parallel", &plot(&sample));
        sample.summary.truncate(1);
        sound("one variable", &plot(&sample));
    }
    let mut odd = sample(20, 2, 60, true);
    for row in &mut odd.summary[..5] {
        row.name = "a_very_long_name".repeat(9);
    }
    (odd.summary[5].sd, odd.summary[6].mean, odd.summary[7].sd) = (0.0, f64::NAN, f64::NAN);
    sound("odd values", &plot(&odd));
    let mut named = plot(&odd);
    named.variables[0].name = "a_very_long_name".repeat(9);
    named.divergent.push(vec![f64::INFINITY; named.variables.len()]);
    sound("infinite", &named);
}

#[test]
fn nothing_to_draw_says_what_is_missing() {
    let error = ParallelPlot::from_posterior(&Dataset::default(), None, &[]).scene().unwrap_err();
    assert!(matches!(error, ReportError::Empty { missing: "a variable with draws", .. }), "{error}");
}
