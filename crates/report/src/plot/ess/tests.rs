//! Numbers are the same as in the diagnostics, and the pictures for every shape.

use super::*;
use crate::error::ReportError;
use crate::plot::{Plot, sound};
use crate::sample::{Sample, Shape};
use octopus_diag::{ess_bulk, ess_local, ess_quantile, ess_tail};

fn sample(groups: usize, chains: usize, draws: usize) -> Sample {
    Sample::new(Shape { groups, chains, draws, truth: false, divergences: false })
}

#[test]
fn the_last_point_has_the_effective_sample_size_of_all_draws() {
    let sample = sample(3, 2, 105);
    let plot = EssEvolutionPlot::from_posterior(&sample.posterior, &sample.summary);
    assert_eq!((plot.draws.len(), plot.draws[0], plot.draws[19]), (20, 12, 210));
    assert_eq!((plot.panels.len(), plot.least, plot.parameters), (9, 200.0, 9));
    let draws = crate::draws::elements(&sample.posterior).next().unwrap().pooled();
    let all = Chains::new(&draws, 2, 105).unwrap();
    assert_eq!((plot.panels[0].bulk[19], plot.panels[0].tail[19]), (ess_bulk(&all), ess_tail(&all)));
    // As ArviZ steps: 5 + 9 x 100 / 19 draws of each chain, and one more.
    let half: Vec<f64> = [&draws[..53], &draws[105..158]].concat();
    assert_eq!(plot.draws[9], 106);
    assert_eq!(plot.panels[0].bulk[9], ess_bulk(&Chains::new(&half, 2, 53).unwrap()));
}

#[test]
fn regions_have_the_effective_sample_sizes_of_their_ends() {
    let sample = sample(1, 2, 100);
    let plot = EssRegionsPlot::quantiles(&sample.posterior, &sample.summary);
    let draws = crate::draws::elements(&sample.posterior).next().unwrap().pooled();
    let all = Chains::new(&draws, 2, 100).unwrap();
    assert_eq!(plot.panels[0].ess.len(), 20);
    assert_eq!(plot.panels[0].ess[0], (0.05, 0.05, ess_quantile(&all, 0.05).unwrap()));
    let plot = EssRegionsPlot::intervals(&sample.posterior, &sample.summary);
    assert_eq!(plot.panels[0].ess.len(), 20);
    let (low, high, ess) = plot.panels[0].ess[19];
    assert!((low - 0.95).abs() < 1e-12 && (high - 1.0).abs() < 1e-12, "{low} {high}");
    assert_eq!(ess, ess_local(&all, low, high).unwrap());
}

#[test]
fn every_shape_is_drawn_without_flaws() {
    for (groups, chains, draws) in [(1, 1, 40), (3, 4, 60), (20, 2, 60), (3, 64, 20), (2, 2, 3), (2, 1, 1)] {
        let Sample { posterior, summary, .. } = sample(groups, chains, draws);
        sound("evolution", &EssEvolutionPlot::from_posterior(&posterior, &summary));
        sound("quantiles", &EssRegionsPlot::quantiles(&posterior, &summary));
        sound("intervals", &EssRegionsPlot::intervals(&posterior, &summary));
    }
    let mut odd = sample(2, 2, 60);
    for (i, array) in odd.posterior.variables.values_mut().enumerate() {
        if let octopus_trace::Values::F64(values) = &mut array.values {
            match i {
                0 => values.fill(3.0),
                1 => values.fill(f64::NAN),
                _ => values[0] = f64::INFINITY,
            }
        }
    }
    let mut plot = EssEvolutionPlot::from_posterior(&odd.posterior, &odd.summary);
    plot.panels[0].name = "a_very_long_name".repeat(9);
    sound("odd values", &plot);
    sound("odd values", &EssRegionsPlot::quantiles(&odd.posterior, &odd.summary));
    let Sample { posterior, summary, .. } = sample(1, 2, 60);
    let mut just_enough = EssRegionsPlot::intervals(&posterior, &summary);
    just_enough.least = just_enough.panels[0].ess[0].2;
    sound("just enough", &just_enough);
}

#[test]
fn nothing_to_draw_says_what_is_missing() {
    let none = Dataset::default();
    for scene in [
        EssEvolutionPlot::from_posterior(&none, &[]).scene(),
        EssRegionsPlot::quantiles(&none, &[]).scene(),
        EssRegionsPlot::intervals(&none, &[]).scene(),
    ] {
        assert!(matches!(scene.unwrap_err(), ReportError::Empty { missing: "a variable with draws", .. }));
    }
    let one = sample(1, 1, 40);
    let mut plot = EssEvolutionPlot::from_posterior(&one.posterior, &one.summary);
    plot.draws.clear();
    assert!(matches!(plot.scene().unwrap_err(), ReportError::Empty { .. }));
}
