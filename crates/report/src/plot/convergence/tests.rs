//! Numbers are the same as in the summary, and the picture for every shape.

use super::*;
use crate::error::ReportError;
use crate::plot::{Plot, sound};
use crate::sample::{Sample, Shape};
use octopus_diag::limits;

fn sample(groups: usize, chains: usize, draws: usize) -> Sample {
    Sample::new(Shape { groups, chains, draws, truth: false, divergences: false })
}

fn plot(sample: &Sample) -> ConvergencePlot {
    ConvergencePlot::from_posterior(&sample.posterior, &sample.summary, None).unwrap()
}

#[test]
fn the_last_point_is_the_summary_of_all_draws() {
    let sample = sample(4, 2, 99);
    let found = plot(&sample);
    assert_eq!((found.draws.first(), found.draws.last(), found.draws.len()), (Some(&8), Some(&99), 12));
    let all = octopus_diag::summary(&sample.posterior, 0.89).unwrap();
    assert_eq!(found.parameters.len(), 11);
    for (series, row) in found.parameters.iter().zip(&all.parameters) {
        assert_eq!((&series.name, series.rhat[11]), (&row.name, row.rhat));
        assert_eq!((series.ess_bulk[11], series.ess_tail[11]), (row.ess_bulk, row.ess_tail));
    }
    let half: Vec<f64> = (0..2)
        .flat_map(|chain| {
            let draws = crate::draws::elements(&sample.posterior).next().unwrap().chains();
            draws[chain][..49].to_vec()
        })
        .collect();
    let rhat = octopus_diag::rhat(&octopus_diag::Chains::new(&half, 2, 49).unwrap());
    assert!((found.parameters[0].rhat[5] - rhat).abs() < 1e-12);
}

#[test]
fn only_parameters_with_a_row_and_superchains() {
    let mut sample = sample(5, 8, 40);
    sample.summary.retain(|row| row.name == "z[1]" || row.name == "mu_pop");
    assert_eq!(plot(&sample).parameters.len(), 2);
    let nested = ConvergencePlot::from_posterior(&sample.posterior, &sample.summary, Some(4)).unwrap();
    assert_ne!(nested.parameters[0].rhat.last(), plot(&sample).parameters[0].rhat.last());
    sound("nested", &nested);
    assert!(ConvergencePlot::from_posterior(&sample.posterior, &sample.summary, Some(3)).is_err());
}

#[test]
fn labels_name_the_parameters_of_the_first_draws_as_those_of_all() {
    let mut sample = sample(2, 2, 40);
    sample
        .posterior
        .coords
        .insert("group".to_owned(), octopus_trace::Labels::Strings(vec!["a".to_owned(), "b".to_owned()]));
    let names = HashSet::from(["mu_pop"]);
    assert_eq!(variables(&sample.posterior, &names).coords, sample.posterior.coords);
}

#[test]
fn every_shape_is_drawn_without_flaws() {
    for (groups, chains, draws) in [(1, 1, 60), (3, 4, 60), (500, 4, 40), (3, 64, 20), (2, 2, 4)] {
        sound("convergence", &plot(&sample(groups, chains, draws)));
    }
    let mut odd = plot(&sample(3, 2, 60));
    odd.parameters[0].rhat.fill(f64::NAN);
    odd.parameters[1].rhat = vec![1e7; 12];
    odd.parameters[1].ess_bulk.fill(f64::NAN);
    odd.parameters[2].ess_tail[3] = f64::INFINITY;
    odd.parameters[1].name = "a_very_long_name".repeat(9);
    sound("odd values", &odd);
    odd.parameters.truncate(2);
    sound("odd values of few", &odd);
    odd.parameters.iter_mut().for_each(|one| one.rhat.fill(f64::NAN));
    sound("not defined", &odd);
    // Six parameters have a key; a thousand is 1e3 on the axis.
    let mut six = plot(&sample(2, 4, 60));
    assert_eq!(six.parameters.len(), 7);
    sound("one too many for a key", &six);
    six.parameters.truncate(6);
    for one in &mut six.parameters {
        one.rhat.fill(limits::RHAT);
        one.ess_bulk.fill(limits::ESS);
        one.ess_tail.fill(limits::ESS);
    }
    sound("on the limits", &six);
    six.parameters[0].rhat[0] = 1001.0;
    sound("a thousand", &six);
    six.parameters[0].rhat[0] = 10_001.0;
    sound("ten thousand", &six);
    let drawn = format!("{:?}", odd.scene().unwrap().shapes);
    assert!(drawn.contains("\"not defined\"") && !drawn.contains("one chain has none"), "there are two chains");
}

#[test]
fn nothing_to_draw_says_what_is_missing() {
    let none = ConvergencePlot::from_posterior(&Dataset::default(), &[], None).unwrap();
    assert!(matches!(none.scene().unwrap_err(), ReportError::Empty { .. }));
    let without_draws = ConvergencePlot { draws: vec![], ..plot(&sample(1, 2, 40)) };
    assert!(matches!(without_draws.scene().unwrap_err(), ReportError::Empty { .. }));
    let error = plot(&sample(1, 2, 3)).scene().unwrap_err().to_string();
    assert!(error.contains("four draws"), "{error}");
}
