//! Two posteriors against each other: what chance does must pass, and what it does not do must not.

#![expect(clippy::disallowed_methods, reason = "the library's own hypotenuse is held to that of the machine")]

use crate::support::SplitMix;
use octopus_diag::{
    COMPARED_QUANTILES, Chains, DiagError, PosteriorDifference, mcse_mean, mcse_quantile, mcse_sd,
    posterior_difference, summary,
};
use octopus_trace::{Array, Dataset, Values};

const PARAMETERS: usize = 10;

/// Correlated draws of ten numbers, `shift` and `stretch` of their own sd away from the process's.
fn posterior(seed: u64, chains: usize, draws: usize, shift: f64, stretch: f64) -> Dataset {
    let mut rng = SplitMix(seed);
    let sd = 1.0 / (1.0f64 - 0.25).sqrt();
    let series: Vec<Vec<f64>> = (0..PARAMETERS * chains).map(|_| rng.autoregressive(0.5, draws)).collect();
    let mut values = Vec::new();
    for chain in 0..chains {
        for draw in 0..draws {
            values.extend((0..PARAMETERS).map(|k| {
                let x = series[k * chains + chain][draw];
                10.0 + if k == 3 { shift * sd + stretch * x } else { x }
            }));
        }
    }
    let mut group = Dataset::default();
    group.insert("x", Array::new([("chain", chains), ("draw", draws), ("k", PARAMETERS)], Values::F64(values)));
    group
}

fn compare(a: &Dataset, b: &Dataset) -> PosteriorDifference {
    posterior_difference(a, b, [None, None]).unwrap()
}

#[test]
fn chance_is_called_chance_as_often_as_it_should() {
    // 100 pairs of runs of the same posterior: at a family-wise 5 % some 5 should be called different. The statistics
    // hang together, so fewer; the errors are estimated, so a few more.
    let called = (0..100)
        .filter(|&seed| {
            let (a, b) = (posterior(2 * seed, 4, 250, 0.0, 1.0), posterior(2 * seed + 1, 3, 400, 0.0, 1.0));
            compare(&a, &b).p_value() < 0.05
        })
        .count();
    assert!((1..=13).contains(&called), "{called} of 100");
}

#[test]
fn a_mean_or_an_sd_that_differs_is_found_and_named() {
    let a = posterior(1, 4, 1000, 0.0, 1.0);
    for (shift, stretch) in [(0.3, 1.0), (0.0, 1.25)] {
        let found = compare(&a, &posterior(2, 4, 1000, shift, stretch));
        assert!(found.p_value() < 1e-3, "{}", found.p_value());
        assert_eq!(found.largest(|p| p.worst_z()).unwrap().name, "x[3]");
        assert_eq!(found.largest(|p| p.wasserstein_sds()).unwrap().name, "x[3]");
        assert_eq!(found.parameters.iter().filter(|p| p.p_value < 1e-3).count(), 1);
        let p = &found.parameters[3];
        // The two posteriors are normal with an sd of sqrt(4 / 3) before the stretch: within five of some 2 % errors.
        assert!((p.relative_sd - (stretch - 1.0)).abs() < 0.1, "{p:?}");
        let sd = p.sd[0];
        assert!((p.relative_mean - shift * sd / p.mean[0]).abs() < 0.1 * sd / p.mean[0], "{p:?}");
    }
}

/// The estimators are this crate's own, which `arviz.rs` holds to ArviZ's numbers; the root mean square error is written
/// out.
#[test]
fn every_figure_is_that_of_its_estimator() {
    let (a, b) = (posterior(5, 4, 300, 0.0, 1.0), posterior(6, 2, 501, 0.0, 1.0));
    let found = compare(&a, &b);
    let mut draws = [Vec::new(), Vec::new()];
    for (group, out) in [&a, &b].into_iter().zip(&mut draws) {
        let values = group.variables["x"].values.to_f64();
        out.extend(values.iter().skip(7).step_by(PARAMETERS));
    }
    let chains = [Chains::new(&draws[0], 4, 300).unwrap(), Chains::new(&draws[1], 2, 501).unwrap()];
    let p = &found.parameters[7];
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    let rows = [summary(&a, 0.89).unwrap(), summary(&b, 0.89).unwrap()];
    let [x, y] = [&rows[0].parameters[7], &rows[1].parameters[7]];
    assert_eq!((p.mean, p.sd), ([x.mean, y.mean], [x.sd, y.sd]));
    near(p.z_mean, (y.mean - x.mean) / mcse_mean(&chains[0]).hypot(mcse_mean(&chains[1])));
    near(p.z_sd, (y.sd - x.sd) / mcse_sd(&chains[0]).hypot(mcse_sd(&chains[1])));
    for (k, prob) in COMPARED_QUANTILES.into_iter().enumerate() {
        let error = |i: usize| mcse_quantile(&chains[i], prob).unwrap();
        near(p.z_quantiles[k], (p.quantiles[1][k] - p.quantiles[0][k]) / error(0).hypot(error(1)));
    }
    near(p.relative_mean, (y.mean - x.mean) / x.mean);
    let squares: f64 = found.parameters.iter().map(|p| (p.mean[1] - p.mean[0]).powi(2)).sum();
    let scales: f64 = found.parameters.iter().map(|p| p.mean[0].powi(2)).sum();
    near(found.rmse, (squares / scales).sqrt());
}

#[test]
fn the_same_draws_do_not_differ_at_all() {
    let a = posterior(3, 4, 100, 0.0, 1.0);
    let found = compare(&a, &a);
    assert_eq!((found.p_value(), found.rmse), (1.0, 0.0));
    assert!(found.parameters.iter().all(|p| p.worst_z() == 0.0 && p.wasserstein == 0.0));
}

#[test]
fn names_constants_flags_and_nan() {
    let scalar = |values| Array::new([("chain", 2), ("draw", 50)], values);
    let make = |seed: u64, constant: f64, nan: f64| {
        let mut rng = SplitMix(seed);
        let mut bells = || (0..100).map(|_| rng.bell()).collect::<Vec<f64>>();
        let mut group = Dataset::default();
        group.insert("mu", scalar(Values::F64(bells())));
        group.insert("c", scalar(Values::F64(vec![constant; 100])));
        let mut broken = bells();
        broken[7] = nan;
        group.insert("broken", scalar(Values::F64(broken)));
        group.insert("flag", scalar(Values::Bool(bells().iter().map(|&v| v > 0.0).collect())));
        group
    };
    let (a, mut b) = (make(1, 2.0, 0.0), make(2, 2.0, 0.0));
    b.insert("extra", scalar(Values::I64(vec![1; 100])));
    let found = compare(&a, &b);
    assert_eq!((found.only_first.len(), found.only_second.as_slice()), (0, &["extra".to_owned()][..]));
    assert!(found.p_value() > 0.01, "{found:?}");
    let c = &found.parameters[1];
    assert_eq!((c.z_mean, c.z_sd, c.p_value), (0.0, 0.0, 1.0));

    let found = compare(&a, &make(2, 2.5, 0.0));
    assert_eq!((found.parameters[1].z_mean, found.parameters[1].p_value), (f64::INFINITY, 0.0));
    // What cannot be compared must not pass.
    let found = compare(&a, &make(2, 2.0, f64::NAN));
    assert_eq!((found.parameters[2].p_value, found.p_value()), (0.0, 0.0));
    assert_eq!(found.largest(|p| p.relative_mean).unwrap().name, "broken");

    let mut other = Dataset::default();
    other.insert("beta", scalar(Values::F64(vec![0.5; 100])));
    let error = posterior_difference(&a, &other, [None, None]).unwrap_err();
    assert!(matches!(&error, DiagError::NothingInCommon { .. }));
    assert!(error.to_string().contains("`mu`") && error.to_string().contains("`beta`"), "{error}");
}

#[test]
fn many_short_chains_are_compared_without_quantiles() {
    let (a, b) = (posterior(1, 64, 20, 0.0, 1.0), posterior(2, 4, 400, 0.0, 1.0));
    let found = posterior_difference(&a, &b, [Some(8), None]).unwrap();
    assert!(found.parameters.iter().all(|p| p.z_quantiles.iter().all(|z| z.is_nan()) && !p.z_mean.is_nan()));
    assert!(found.p_value() > 0.01, "{}", found.p_value());
    let far = posterior_difference(&a, &posterior(3, 4, 400, 1.0, 1.0), [Some(8), None]).unwrap();
    assert!(far.p_value() < 1e-3);
}

/// A 2 x 3 matrix of ours is R's, which counts from 1, makes a column of each element and begins with a column.
#[test]
fn columns_of_other_programs_are_elements_of_one_variable() {
    let element = |k: usize| {
        let mut rng = SplitMix(k as u64);
        (0..40).map(|_| rng.bell() + 10.0 * k as f64).collect::<Vec<f64>>()
    };
    let mut ours = Dataset::default();
    let interleaved = (0..40).flat_map(|draw| (0..6).map(move |k| element(k)[draw])).collect();
    ours.insert("Sigma", Array::new([("chain", 2), ("draw", 20), ("row", 2), ("column", 3)], Values::F64(interleaved)));
    let mut theirs = Dataset::default();
    let column = |k: usize| Array::new([("chain", 2), ("draw", 20)], Values::F64(element(k)));
    theirs.insert("mu", column(7));
    for (name, k) in [("1,1", 0), ("2,1", 3), ("1,2", 1), ("2,2", 4), ("1,3", 2), ("2,3", 5)] {
        theirs.insert(format!("Sigma[{name}]"), column(k));
    }
    let found = compare(&ours, &theirs);
    assert_eq!(found.by_position, [["Sigma[0, 0]".to_owned(), "Sigma[1,1]".to_owned()]]);
    assert_eq!((found.parameters.len(), found.p_value(), found.rmse), (6, 1.0, 0.0));
    assert_eq!((found.only_first, found.only_second), (vec![], vec!["mu".to_owned()]));
    let back = compare(&theirs, &ours);
    assert_eq!((back.parameters.len(), back.rmse), (6, 0.0));
    assert_eq!(back.parameters[1].name, "Sigma[2,1]");

    // With one element more, the two are no longer one variable counted twice: nothing is paired.
    theirs.insert("Sigma[1,4]", column(8));
    let error = posterior_difference(&ours, &theirs, [None, None]).unwrap_err();
    assert!(matches!(error, DiagError::NothingInCommon { .. }), "{error}");
}
