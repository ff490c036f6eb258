//! PSIS, LOO, WAIC, comparisons, LOO-PIT and p-values against ArviZ 0.23.4; the summary of 2003 variables.

use crate::expected::{Differences, array, expected, number, report, schools};
use crate::support::{make, matrix};
use octopus_diag::{
    ComparedModel, Elpd, LogLikelihood, Statistic, Ties, WeightMethod, bayesian_p_value, bayesian_p_values,
    bayesian_u_values, compare, loo, loo_pit, psis, relative_eff, summary, waic,
};
use octopus_trace::{Array, Dataset, Values};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn smoothed_weights() {
    let mut differences = Differences::default();
    for case in expected()["psis"].as_array().unwrap() {
        let (label, values, ..) = array(case);
        let scale = case["scale"].as_f64().unwrap();
        let raw: Vec<f64> = values.iter().map(|v| scale * v).collect();
        let found = psis(&raw, number(&case["reff"])).unwrap();
        differences.compare(&format!("{label} k"), found.pareto_k, number(&case["pareto_k"]), 0.0);
        let mut ascending = found.log_weights;
        ascending.sort_by(f64::total_cmp);
        let places = case["places"].as_array().unwrap();
        let found: Vec<f64> = places.iter().map(|place| ascending[place.as_u64().unwrap() as usize]).collect();
        differences.all(&format!("{label} weights"), &found, &case["log_weights"], 0.0);
    }
    report(differences, 200);
}

fn check_elpd(label: &str, left: &Elpd, criterion: &Elpd, expected: &Value, differences: &mut Differences) {
    for (name, found) in [
        ("elpd_loo", left.elpd),
        ("se_loo", left.se),
        ("good_k", left.good),
        ("elpd_waic", criterion.elpd),
        ("se_waic", criterion.se),
        ("p_waic", criterion.p),
    ] {
        differences.compare(&format!("{label} {name}"), found, number(&expected[name]), 0.0);
    }
    // A difference of two sums.
    differences.compare(&format!("{label} p_loo"), left.p, number(&expected["p_loo"]), 1e-2 * left.elpd.abs());
    for (name, found) in [("loo_i", &left.pointwise), ("pareto_k", &left.reliability), ("waic_i", &criterion.pointwise)]
    {
        // Of k itself 1e-10: it is an estimate of order 1 around 0.
        let scale = if name == "pareto_k" { 1.0 } else { 0.0 };
        assert_eq!(found.len(), expected[name].as_array().unwrap().len(), "{label} {name}");
        differences.all(&format!("{label} {name}"), found, &expected[name], scale);
    }
    assert_eq!(Some(left.warning()), expected["warning_loo"].as_bool(), "{label}");
    assert_eq!(Some(criterion.warning()), expected["warning_waic"].as_bool(), "{label}");
    assert_eq!(left.advice().is_some(), left.warning());
}

/// Rows as ArviZ's; weights that ArviZ's optimiser or random numbers leave open within what those leave open.
fn check_comparisons(models: &[(&str, &Elpd)], ic: &str, expected: &Value, differences: &mut Differences) {
    for (name, method) in [
        ("stacking", WeightMethod::Stacking),
        ("pseudo-BMA", WeightMethod::PseudoBma),
        ("BB-pseudo-BMA", WeightMethod::BbPseudoBma { samples: 4000, seed: 1 }),
    ] {
        let found = compare(models, method).unwrap();
        assert_eq!(found.len(), models.len());
        for row in found {
            let ComparedModel { name: model, rank, elpd, p, elpd_diff, weight, se, dse, .. } = row;
            let theirs = numbers(&expected[format!("{ic} {name}")][&model]);
            let label = format!("{ic} {name} {model}");
            assert_eq!(rank as f64, theirs[0], "{label}");
            differences.compare(&format!("{label} elpd"), elpd, theirs[1], 0.0);
            differences.compare(&format!("{label} p"), p, theirs[2], 1e-2 * elpd.abs());
            differences.compare(&format!("{label} elpd_diff"), elpd_diff, theirs[3], 1e-2 * elpd.abs());
            differences.compare(&format!("{label} dse"), dse, theirs[6], 0.0);
            match method {
                WeightMethod::PseudoBma => {
                    differences.compare(&format!("{label} weight"), weight, theirs[4], 1e-10);
                    differences.compare(&format!("{label} se"), se, theirs[5], 0.0);
                }
                WeightMethod::Stacking => {
                    let best = number(&expected[format!("{ic} best")][&model]);
                    assert!((weight - best).abs() < 1e-3, "{label}: {weight}, best {best}, ArviZ {}", theirs[4]);
                    differences.compare(&format!("{label} se"), se, theirs[5], 0.0);
                }
                WeightMethod::BbPseudoBma { .. } => {
                    assert!((weight - theirs[4]).abs() < 0.03, "{label}: {weight} {}", theirs[4]);
                    assert!((se / theirs[5] - 1.0).abs() < 0.06, "{label}: {se} {}", theirs[5]);
                }
            }
        }
    }
}

const Y: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const SIGMA: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];

/// Row-major `samples x width` of one array for each element.
fn interleaved(elements: &[&Vec<f64>]) -> Vec<f64> {
    (0..elements[0].len()).flat_map(|i| elements.iter().map(move |element| element[i])).collect()
}

#[test]
fn eight_schools() {
    let document = expected();
    let stored = &document["eight_schools"];
    let (chains, draws) = (stored["chains"].as_u64().unwrap() as usize, stored["draws"].as_u64().unwrap() as usize);
    let arrays = schools(&document);
    let mut differences = Differences::default();
    let mut models = Vec::new();
    for name in ["centered_eight", "non_centered_eight"] {
        let expected = &stored["predictive"][name];
        let variable = |variable: &str| -> Vec<&Vec<f64>> {
            let start = format!("{name}.{variable}[");
            arrays.iter().filter(|(label, _)| label.starts_with(&start)).map(|(_, values)| values).collect()
        };
        let theta = interleaved(&variable("theta"));
        let mut posterior = Dataset::default();
        let axes = [("chain", chains), ("draw", draws)];
        posterior.insert("mu", Array::new(axes, Values::F64(variable("mu")[0].clone())));
        posterior.insert("tau", Array::new(axes, Values::F64(variable("tau")[0].clone())));
        let axes = [("chain", chains), ("draw", draws), ("school", 8)];
        posterior.insert("theta", Array::new(axes, Values::F64(theta.clone())));
        let reff = relative_eff(&posterior).unwrap();
        differences.compare(&format!("{name} reff"), reff, number(&expected["reff"]), 0.0);

        let density = |(i, theta): (usize, &f64)| {
            let sigma: f64 = SIGMA[i % 8];
            let z = (Y[i % 8] - theta) / sigma;
            -0.5 * z * z - (sigma * (2.0 * std::f64::consts::PI).sqrt()).ln()
        };
        let mut group = Dataset::default();
        group.insert("obs", Array::new(axes, Values::F64(theta.iter().enumerate().map(density).collect())));
        let likelihood = LogLikelihood::read(&group, &[]).unwrap();
        let (left, criterion) = (loo(&likelihood, reff).unwrap(), waic(&likelihood));
        check_elpd(name, &left, &criterion, expected, &mut differences);

        let found = loo_pit(&likelihood, &theta, &Y, reff, Ties::Below).unwrap();
        differences.all(&format!("{name} loo_pit"), &found, &expected["loo_pit"], 0.0);
        models.push((name, left, criterion));
    }
    let left: Vec<(&str, &Elpd)> = models.iter().map(|(name, left, _)| (*name, left)).collect();
    check_comparisons(&left, "loo", &stored["compare"], &mut differences);
    let criterion: Vec<(&str, &Elpd)> = models.iter().map(|(name, _, criterion)| (*name, criterion)).collect();
    check_comparisons(&criterion, "waic", &stored["compare"], &mut differences);
    report(differences, 120);
}

/// `make_expected.likelihoods`.
fn likelihood(name: &str, spread: f64, seed: u64) -> Vec<f64> {
    let (samples, width) = (1000, 20);
    let mut values = matrix(samples, width, seed);
    let lower = 0.1 * (seed - 511) as f64;
    for (i, value) in values.iter_mut().enumerate() {
        let z = spread * *value + (i % width) as f64 / width as f64;
        *value = -1.0 - 0.5 * (z * z) - lower;
    }
    if name == "wild" {
        for (row, noise) in values.chunks_exact_mut(width).zip(matrix(samples, 1, 520)) {
            row[3] *= 4.0;
            row[7] -= 0.3 * (noise * noise) * 10.0;
        }
    }
    values
}

#[test]
fn likelihoods_with_influential_observations() {
    let document = expected();
    let stored = &document["likelihoods"];
    let mut posterior = Dataset::default();
    let axes = [("chain", 4), ("draw", 250)];
    posterior.insert("x", Array::new(axes, Values::F64(make("ar_plus", 4, 250, 501))));
    let z = [make("iid", 4, 250, 502), make("iid", 4, 250, 503)];
    let axes = [("chain", 4), ("draw", 250), ("k", 2)];
    posterior.insert("z", Array::new(axes, Values::F64(interleaved(&[&z[0], &z[1]]))));
    let reff = relative_eff(&posterior).unwrap();
    let mut differences = Differences::default();
    differences.compare("reff", reff, number(&stored["reff"]), 0.0);

    let models: Vec<(&str, Vec<f64>)> = [("calm", 0.3, 511), ("wild", 0.8, 512), ("worse", 0.5, 513)]
        .map(|(name, spread, seed)| (name, likelihood(name, spread, seed)))
        .into();
    let found: Vec<(&str, Elpd, Elpd)> = models
        .iter()
        .map(|(name, values)| {
            let view = LogLikelihood::new(values, 1000, 20).unwrap();
            let (left, criterion) = (loo(&view, reff).unwrap(), waic(&view));
            check_elpd(name, &left, &criterion, &stored[*name], &mut differences);
            (*name, left, criterion)
        })
        .collect();
    assert!([3, 7].iter().all(|&i| found[1].1.reliability[i] > 1.0), "{:?}", found[1].1.reliability);
    let left: Vec<(&str, &Elpd)> = found.iter().map(|(name, left, _)| (*name, left)).collect();
    check_comparisons(&left, "loo", &stored["compare"], &mut differences);
    let criterion: Vec<(&str, &Elpd)> = found.iter().map(|(name, _, criterion)| (*name, criterion)).collect();
    check_comparisons(&criterion, "waic", &stored["compare"], &mut differences);

    let (observed, draws) = (matrix(1, 20, 530), matrix(1000, 20, 531));
    let view = LogLikelihood::new(&models[1].1, 1000, 20).unwrap();
    let pit = loo_pit(&view, &draws, &observed, 0.7, Ties::Below).unwrap();
    differences.all("loo_pit", &pit, &stored["loo_pit"], 0.0);
    let floor = |values: &[f64]| values.iter().map(|v| v.floor()).collect::<Vec<f64>>();
    let pit = loo_pit(&view, &floor(&draws), &floor(&observed), 0.7, Ties::Below).unwrap();
    differences.all("loo_pit of counts", &pit, &stored["loo_pit_counts"], 0.0);

    let bpv = &stored["bpv"];
    for (name, statistic) in [
        ("mean", Statistic::Mean),
        ("std", Statistic::Sd),
        ("min", Statistic::Min),
        ("max", Statistic::Max),
        ("median", Statistic::Median),
        ("quantile_20", Statistic::Quantile(0.2)),
    ] {
        let found = bayesian_p_value(&draws, &observed, statistic).unwrap();
        differences.compare(&format!("p value of {name}"), found.p_value, number(&bpv[name]), 0.0);
    }
    differences.all("p values", &bayesian_p_values(&draws, &observed).unwrap(), &bpv["p_values"], 0.0);
    differences.all("u values", &bayesian_u_values(&draws, &observed).unwrap(), &bpv["u_values"], 0.0);
    report(differences, 320);
}

#[test]
fn summary_of_2003_variables() {
    let document = expected();
    let wide = &document["wide"];
    let whole = |key: &str| wide[key].as_u64().unwrap() as usize;
    let (variables, chains, draws) = (whole("variables"), whole("chains"), whole("draws"));
    assert_eq!(variables, 2003);
    let columns: Vec<Vec<f64>> =
        (0..variables).map(|i| make(["iid", "ar_plus", "ar_minus"][i % 3], chains, draws, 1000 + i as u64)).collect();
    let mut posterior = Dataset::default();
    let axes = [("chain", chains), ("draw", draws), ("i", variables)];
    posterior.insert("x", Array::new(axes, Values::F64(interleaved(&columns.iter().collect::<Vec<_>>()))));
    let table: Vec<[f64; 9]> = (summary(&posterior, 0.89).unwrap().parameters.iter())
        .map(|p| [p.mean, p.sd, p.hdi[0], p.hdi[1], p.mcse_mean, p.mcse_sd, p.ess_bulk, p.ess_tail, p.rhat])
        .collect();
    let mut differences = Differences::default();
    let rows = wide["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize);
    for (row, expected) in rows.zip(wide["summary"].as_array().unwrap()) {
        // A mean near 0 is known to the digits of its standard deviation.
        for (column, expected) in expected.as_array().unwrap().iter().enumerate() {
            let scale = if column == 0 { table[row][1] } else { 0.0 };
            differences.compare(&format!("row {row} column {column}"), table[row][column], number(expected), scale);
        }
    }
    for (column, expected) in wide["column_sums"].as_array().unwrap().iter().enumerate() {
        let sum = table.iter().map(|row| row[column]).sum();
        let size: f64 = table.iter().map(|row| row[column].abs()).sum();
        differences.compare(&format!("sum of column {column}"), sum, number(expected), size);
    }
    report(differences, 190);
}
