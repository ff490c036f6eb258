//! Summaries and diagnoses of whole traces: against ArviZ's table, and as text and JSON.

use crate::support::SplitMix;
use octopus_density::Labels;
use octopus_diag::{
    Chains, CheckStatus, CoordinatesInUse, DiagError, DiagnoseOptions, Rows, SettingsInUse, diagnose, ess_tail,
    ess_tail_of_chains, summary, summary_of_many,
};
use octopus_trace::{Array, Dataset, Values};
use serde_json::Value;
use std::path::Path;

fn sampled(axes: &[(&str, usize)], values: Values) -> Array {
    Array::new(axes.iter().copied(), values)
}

/// A posterior of `chains x draws`: a scalar, an integer, a vector with labels and a matrix.
fn posterior(chains: usize, draws: usize) -> Dataset {
    let mut rng = SplitMix(7);
    let mut bells = |n: usize| Values::F64((0..n).map(|_| rng.bell()).collect());
    let (chain, draw) = (("chain", chains), ("draw", draws));
    let mut group = Dataset::default();
    group.variables.insert("mu".into(), sampled(&[chain, draw], bells(chains * draws)));
    group.variables.insert("theta".into(), sampled(&[chain, draw, ("school", 3)], bells(3 * chains * draws)));
    group.variables.insert("cov".into(), sampled(&[chain, draw, ("a", 5), ("b", 4)], bells(20 * chains * draws)));
    let counts = (0..chains * draws).map(|i| (i * 7919 % 13) as i64).collect();
    group.variables.insert("k".into(), sampled(&[chain, draw], Values::I64(counts)));
    group.coords.insert("school".into(), Labels::Strings(["choate", "deerfield", "exeter"].map(String::from).into()));
    group
}

fn stats(chains: usize, draws: usize) -> Dataset {
    let mut rng = SplitMix(8);
    let axes = [("chain", chains), ("draw", draws)];
    let mut group = Dataset::default();
    let energy = (0..chains * draws).map(|_| rng.bell()).collect();
    group.variables.insert("energy".into(), sampled(&axes, Values::F64(energy)));
    group.variables.insert("diverging".into(), sampled(&axes, Values::Bool(vec![false; chains * draws])));
    group.variables.insert("step_size".into(), sampled(&axes, Values::F64(vec![0.4; chains * draws])));
    group.variables.insert("reached_max_treedepth".into(), sampled(&axes, Values::Bool(vec![false; chains * draws])));
    group
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

#[test]
fn every_row_is_arvizs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz/expected.json");
    let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let expected_columns = &expected["summary_columns"];
    let mut compared = 0;
    for case in expected["cases"].as_array().unwrap() {
        let (kind, seed) = (case["kind"].as_str().unwrap(), case["seed"].as_u64().unwrap());
        let (chains, draws) = (case["chains"].as_u64().unwrap() as usize, case["draws"].as_u64().unwrap() as usize);
        // The case stands at place 9 of 11, among other numbers: gathering must not mix them up.
        let values = crate::support::make(kind, chains, draws, seed);
        let spread = values.iter().flat_map(|&v| (0..11).map(move |k| if k == 9 { v } else { f64::from(k) })).collect();
        let mut group = Dataset::default();
        let array = sampled(&[("chain", chains), ("draw", draws), ("x_dim_0", 11)], Values::F64(spread));
        group.variables.insert("x".into(), array);
        let table = summary(&group, 0.89).unwrap();
        let row = table.get("x[9]").unwrap();
        let found = [
            row.mean,
            row.sd,
            row.hdi[0],
            row.hdi[1],
            row.mcse_mean,
            row.mcse_sd,
            row.ess_bulk,
            row.ess_tail,
            row.rhat,
        ];
        for (i, (found, expected)) in found.into_iter().zip(case["summary"].as_array().unwrap()).enumerate() {
            let column = &expected_columns[i];
            // The R-hat of `az.summary` is not that of `az.rhat` where the number of draws is odd.
            let expected = number(if column == "rhat" { &case["rhat"] } else { expected });
            let scale = if i == 0 { row.sd.max(1e-300) } else { 0.0 };
            let same = found == expected || (found.is_nan() && expected.is_nan());
            assert!(
                same || (found - expected).abs() <= 1e-10 * expected.abs().max(scale),
                "{kind} {chains}x{draws} {column} ({i}): {found} here, {expected} in ArviZ"
            );
            compared += 1;
        }
    }
    assert!(compared > 500);
}

#[test]
fn names_rows_and_extremes() {
    let table = summary(&posterior(4, 500), 0.89).unwrap();
    let names: Vec<&str> = table.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), 1 + 3 + 20 + 1);
    assert_eq!(names[..5], ["mu", "theta[choate]", "theta[deerfield]", "theta[exeter]", "cov[0, 0]"]);
    assert_eq!(names[23..], ["cov[4, 3]", "k"]);
    assert_eq!((table.chains, table.draws), (4, 500));
    assert_eq!(table.max_rhat(), table.parameters.iter().map(|p| p.rhat).fold(0.0, f64::max));
    assert_eq!(table.min_ess_tail(), table.parameters.iter().map(|p| p.ess_tail).fold(f64::MAX, f64::min));
    assert_eq!(table.worst_ess_bulk().unwrap().ess_bulk, table.min_ess_bulk());
}

#[test]
fn a_sound_trace_is_good() {
    let diagnosis = diagnose(&posterior(4, 500), Some(&stats(4, 500)), &DiagnoseOptions::default()).unwrap();
    assert!(diagnosis.good(), "{diagnosis}");
    assert!(
        diagnosis.checks.iter().all(|check| check.status == CheckStatus::Pass && check.advice.is_none()),
        "{diagnosis}"
    );
    assert!(diagnosis.advice().is_empty());
    assert_eq!((diagnosis.divergences, diagnosis.reached_max_treedepth), (Some(0), Some(0)));
    assert_eq!(diagnosis.bfmi.len(), 4);
    let text = diagnosis.to_text(Rows::All);
    assert_eq!(text.lines().filter(|line| line.starts_with("PASS")).count(), 11, "{text}");
    assert!(text.contains("theta[deerfield]") && text.contains("hdi_5.5%"), "{text}");
    assert!(text.contains("0 of 2000 transitions") && text.contains("0 of 2000 trajectories"), "{text}");
    assert_eq!(diagnosis.to_string(), diagnosis.to_text(Rows::default()).trim_end());
}

/// A constant warns, a divergence fails, and a check that is skipped for want of a statistic has advice, too.
#[test]
fn advice_begins_with_what_failed() {
    let (mut posterior, mut stats) = (posterior(4, 500), stats(4, 500));
    edit(&mut posterior, "mu", |_, _| 1.5);
    edit(&mut stats, "diverging", |i, _| f64::from(u8::from(i == 9)));
    edit(&mut stats, "energy", |_, _| 0.0);
    let diagnosis = diagnose(&posterior, Some(&stats), &DiagnoseOptions::default()).unwrap();
    let check = |id: &str| diagnosis.checks.iter().find(|check| check.id == id).unwrap();
    assert_eq!(check("bfmi").status, CheckStatus::Skipped);
    let expected = ["divergences", "constant"].map(|id| check(id).advice.as_deref().unwrap());
    assert_eq!(diagnosis.advice(), expected);
}

/// Chains of 99 draws are judged by the spread of their means, those of 100 by their draws' correlations: with the very
/// operations of the estimators, which have tests of their own.
#[test]
fn superchains_of_100_draws_tell_correlations() {
    for draws in [99, 100] {
        for seed in 1..7 {
            let values = crate::support::matrix(8, draws, seed);
            let mut group = Dataset::default();
            group.insert("x", sampled(&[("chain", 8), ("draw", draws)], Values::F64(values.clone())));
            let found = summary_of_many(&group, 0.89, 2).unwrap().min_ess_tail();
            let chains = Chains::new(&values, 8, draws).unwrap();
            let expected = if draws < 100 { ess_tail_of_chains(&chains) } else { ess_tail(&chains) };
            assert_eq!(found, expected, "{draws} {seed}");
        }
    }
}

fn status(posterior: &Dataset, stats: Option<&Dataset>, options: &DiagnoseOptions, id: &str) -> CheckStatus {
    let diagnosis = diagnose(posterior, stats, options).unwrap();
    let check = diagnosis.checks.iter().find(|check| check.id == id).unwrap();
    assert_eq!(check.advice.is_some(), check.status != CheckStatus::Pass, "{check:?}");
    if check.status == CheckStatus::Fail {
        assert!(!diagnosis.good());
    }
    check.status
}

/// Replaces the values of a real variable.
fn edit(group: &mut Dataset, name: &str, f: impl Fn(usize, f64) -> f64) {
    let array = group.variables.get_mut(name).unwrap();
    let values = array.values.to_f64().into_iter().enumerate().map(|(i, v)| f(i, v)).collect();
    array.values = Values::F64(values);
}

#[test]
fn each_check_finds_its_fault() {
    let options = DiagnoseOptions::default();
    let (sound, stats) = (posterior(4, 500), stats(4, 500));
    let fault = |id: &str, name: &str, f: &dyn Fn(usize, f64) -> f64| {
        let (mut posterior, mut stats) = (sound.clone(), stats.clone());
        edit(if posterior.variables.contains_key(name) { &mut posterior } else { &mut stats }, name, f);
        status(&posterior, Some(&stats), &options, id)
    };
    assert_eq!(fault("finite", "mu", &|i, v| if i == 77 { f64::NAN } else { v }), CheckStatus::Fail);
    assert_eq!(fault("finite", "theta", &|i, v| if i == 77 { f64::INFINITY } else { v }), CheckStatus::Fail);
    assert_eq!(fault("constant", "mu", &|_, _| 1.5), CheckStatus::Warn);
    assert_eq!(fault("stuck", "mu", &|i, v| if i < 500 { 9.0 } else { v }), CheckStatus::Fail);
    assert_eq!(fault("step_size", "step_size", &|i, _| if i < 500 { 0.99e-8 } else { 0.3 }), CheckStatus::Fail);
    assert_eq!(fault("step_size", "step_size", &|i, _| if i < 500 { 1.01e-8 } else { 0.3 }), CheckStatus::Pass);
    assert_eq!(fault("rhat", "mu", &|i, v| if i < 500 { v + 1.0 } else { v }), CheckStatus::Fail);
    assert_eq!(fault("rhat", "mu", &|i, v| if i < 500 { 3.0 * v } else { v }), CheckStatus::Fail);
    assert_eq!(fault("ess_bulk", "mu", &|i, _| ((i % 500) as f64 / 40.0).sin()), CheckStatus::Fail);
    assert_eq!(fault("ess_tail", "mu", &|i, v| if i % 500 < 30 { 9.0 + v } else { v }), CheckStatus::Fail);
    assert_eq!(fault("bfmi", "energy", &|i, _| (i % 500) as f64), CheckStatus::Fail);
    assert_eq!(fault("divergences", "diverging", &|i, _| f64::from(u8::from(i == 9))), CheckStatus::Fail);
    assert_eq!(fault("tree_depth", "reached_max_treedepth", &|i, _| f64::from(u8::from(i == 9))), CheckStatus::Warn);
}

/// Other programs keep constants beside the draws, one step size of each chain, and flags that nobody knows.
#[test]
fn what_is_not_of_every_draw_is_left_out() {
    let options = DiagnoseOptions::default();
    let (sound, all) = (posterior(4, 500), stats(4, 500));
    let mut more = sound.clone();
    more.insert("scale", sampled(&[], Values::F64(vec![3.0])));
    more.insert("x", sampled(&[("school", 3), ("year", 2)], Values::F64(vec![1.0; 6])));
    assert_eq!(summary(&more, 0.89).unwrap(), summary(&sound, 0.89).unwrap());
    for (name, odd) in [
        ("step_size", sampled(&[("chain", 4)], Values::F64(vec![1e-9; 4]))),
        ("energy", sampled(&[("chain", 4), ("draw", 500), ("k", 2)], Values::F64(vec![1.0; 4000]))),
        ("diverging", sampled(&[], Values::Bool(vec![true]))),
        ("diverging", sampled(&[("chain", 4), ("draw", 500)], Values::Strings(vec!["False".to_owned(); 2000]))),
    ] {
        let id = match name {
            "energy" => "bfmi",
            "diverging" => "divergences",
            _ => name,
        };
        let mut odd_stats = all.clone();
        odd_stats.insert(name, odd);
        assert_eq!(status(&sound, Some(&all), &options, id), CheckStatus::Pass);
        assert_eq!(status(&sound, Some(&odd_stats), &options, id), CheckStatus::Skipped, "{name}");
    }
}

#[test]
fn flags_that_are_not_known_are_not_raised() {
    let mut stats = stats(4, 500);
    for name in ["diverging", "reached_max_treedepth"] {
        edit(&mut stats, name, |i, _| if i % 100 == 7 { 1.0 } else { f64::NAN });
    }
    let found = diagnose(&posterior(4, 500), Some(&stats), &DiagnoseOptions::default()).unwrap();
    assert_eq!((found.divergences, found.reached_max_treedepth), (Some(20), Some(20)));
}

#[test]
fn chains_without_energy_are_counted() {
    let (posterior, mut stats) = (posterior(4, 500), stats(4, 500));
    edit(&mut stats, "energy", |i, v| if i < 500 { v } else { f64::NAN });
    let bfmi = |options: &DiagnoseOptions| {
        let found = diagnose(&posterior, Some(&stats), options).unwrap();
        found.checks.into_iter().find(|check| check.id == "bfmi").unwrap()
    };
    let found = bfmi(&DiagnoseOptions::default());
    assert_eq!(found.status, CheckStatus::Warn);
    assert!(found.message.ends_with("3 of 4 chains have none, as their energy is constant or not finite"), "{found}");
    assert_eq!(bfmi(&DiagnoseOptions { min_bfmi: 9.0, ..DiagnoseOptions::default() }).status, CheckStatus::Fail);
}

/// The sum of equal numbers is rounded, their mean and standard deviation are not.
#[test]
fn constants_are_exact() {
    for value in [0.1, 1e300, -1e-300, 3.3e15] {
        let mut group = Dataset::default();
        group.insert("c", sampled(&[("chain", 4), ("draw", 1000)], Values::F64(vec![value; 4000])));
        let row = &summary(&group, 0.89).unwrap().parameters[0];
        assert_eq!((row.mean, row.sd, row.constant), (value, 0.0, true));
    }
}

/// What is in use is not recommended, and the stuck chain is named with its step size.
#[test]
fn advice_knows_the_settings() {
    let moved = |i: usize, v: f64| if i < 500 { v + 9.0 } else { v };
    let (mut posterior, mut stats) = (posterior(4, 500), stats(4, 500));
    if let Values::F64(mu) = &mut posterior.variables["mu"].values {
        mu.iter_mut().enumerate().for_each(|(i, v)| *v = moved(i, *v));
    }
    if let Values::Bool(diverging) = &mut stats.variables["diverging"].values {
        diverging[9] = true;
    }
    let advice = |settings| {
        let options = DiagnoseOptions { settings, ..DiagnoseOptions::default() };
        diagnose(&posterior, Some(&stats), &options).unwrap().advice().join("\n")
    };
    use CoordinatesInUse::{Adaptive, NoHierarchy, NoInformation, Plain};
    let of = |coordinates, low_rank_metric, target_accept| {
        advice(Some(SettingsInUse { coordinates, low_rank_metric, target_accept }))
    };
    assert!(advice(None).contains("--parameterization adaptive --metric auto"));
    let all_on = of(Adaptive, true, 0.99);
    assert!(!all_on.contains("--parameterization") && !all_on.contains("--metric"), "{all_on}");
    assert!(!all_on.contains("raise target_accept") && all_on.contains("in use already"), "{all_on}");
    let diagonal = of(Adaptive, false, 0.9);
    assert!(diagonal.contains("--metric auto") && !diagonal.contains("--parameterization"), "{diagonal}");
    assert!(diagonal.contains("it is 0.9"), "{diagonal}");
    let centered = of(Plain, true, 0.9);
    assert!(centered.contains("--parameterization adaptive") && !centered.contains("--metric"), "{centered}");
    // Nothing is said to be in use that is not, and no option is advised that changes nothing.
    for (coordinates, words) in [(NoHierarchy, "declares no hierarchy"), (NoInformation, "sampled non-centered")] {
        for low_rank in [true, false] {
            let none = of(coordinates, low_rank, 0.9);
            assert!(none.contains(words) && none.contains("LogDensity::hierarchies"), "{none}");
            assert!(!none.contains("--parameterization") && !none.contains("in use already"), "{none}");
            assert_eq!(none.contains("--metric auto"), !low_rank, "{none}");
        }
    }

    if let Values::F64(mu) = &mut posterior.variables["mu"].values {
        mu.iter_mut().take(500).for_each(|v| *v = 1e-27);
    }
    if let Values::F64(steps) = &mut stats.variables["step_size"].values {
        steps.iter_mut().take(500).for_each(|step| *step = 1e-16);
    }
    let diagnosis = diagnose(&posterior, Some(&stats), &DiagnoseOptions::default()).unwrap();
    let check = diagnosis.checks.iter().find(|check| check.id == "stuck").unwrap();
    assert_eq!(check.message, "chain 0 has one value of mu from draw 0 on, step size 1.0e-16");
}

#[test]
fn limits_are_the_users() {
    let (posterior, stats) = (posterior(4, 500), stats(4, 500));
    let with = |options: DiagnoseOptions, id| status(&posterior, Some(&stats), &options, id);
    let options = DiagnoseOptions::default();
    assert_eq!(with(DiagnoseOptions { max_rhat: 1.0, ..options }, "rhat"), CheckStatus::Fail);
    assert_eq!(with(DiagnoseOptions { min_ess: Some(1e5), ..options }, "ess_bulk"), CheckStatus::Fail);
    assert_eq!(with(DiagnoseOptions { min_ess: Some(1e5), ..options }, "ess_tail"), CheckStatus::Fail);
    assert_eq!(with(DiagnoseOptions { min_bfmi: 4.0, ..options }, "bfmi"), CheckStatus::Fail);
}

#[test]
fn other_samplers_traces() {
    let posterior = posterior(2, 100);
    let options = DiagnoseOptions { min_ess: Some(50.0), max_rhat: 1.1, ..DiagnoseOptions::default() };
    // No statistics at all: those checks are skipped and nothing fails.
    let diagnosis = diagnose(&posterior, None, &options).unwrap();
    assert!(diagnosis.usable() && !diagnosis.good(), "{diagnosis}");
    assert_eq!(diagnosis.not_checked(), ["divergences", "bfmi", "tree_depth"]);
    let skipped: Vec<&str> =
        diagnosis.checks.iter().filter(|check| check.status == CheckStatus::Skipped).map(|check| check.id).collect();
    assert_eq!(skipped, ["bfmi", "divergences", "step_size", "tree_depth"]);
    assert_eq!((diagnosis.divergences, diagnosis.reached_max_treedepth, diagnosis.bfmi.len()), (None, None, 0));

    // Stan's own names, integers for flags, the depth without the limit.
    let axes = [("chain", 2), ("draw", 100)];
    let mut stan = Dataset::default();
    stan.variables
        .insert("divergent__".into(), sampled(&axes, Values::I64((0..200).map(|i| i64::from(i == 3)).collect())));
    stan.variables.insert("treedepth__".into(), sampled(&axes, Values::I64((0..200).map(|i| 3 + i % 8).collect())));
    let diagnosis = diagnose(&posterior, Some(&stan), &options).unwrap();
    assert_eq!((diagnosis.divergences, diagnosis.reached_max_treedepth), (Some(1), None));
    let options = DiagnoseOptions { max_tree_depth: Some(10), ..options };
    assert_eq!(diagnose(&posterior, Some(&stan), &options).unwrap().reached_max_treedepth, Some(25));
}

#[test]
fn one_chain_and_few_draws() {
    let options = DiagnoseOptions::default();
    assert_eq!(status(&posterior(1, 500), None, &options, "rhat"), CheckStatus::Fail);
    let mut constant = Dataset::default();
    constant.variables.insert("mu".into(), sampled(&[("chain", 4), ("draw", 500)], Values::F64(vec![1.5; 2000])));
    assert_eq!(status(&constant, None, &options, "rhat"), CheckStatus::Fail);
    assert_eq!(status(&posterior(4, 3), None, &options, "rhat"), CheckStatus::Fail);
    assert_eq!(status(&posterior(4, 3), None, &options, "ess_bulk"), CheckStatus::Fail);
    let least = summary(&posterior(4, 4), 0.89).unwrap();
    assert!(least.parameters.iter().all(|p| p.rhat.is_finite() && p.ess_bulk.is_finite()), "{least}");
    assert_eq!(status(&posterior(1, 1), Some(&stats(1, 1)), &options, "bfmi"), CheckStatus::Skipped);
}

#[test]
fn json_has_the_schema_and_null_for_what_is_undefined() {
    let mut posterior = posterior(4, 100);
    edit(&mut posterior, "mu", |_, _| 2.0);
    let diagnosis = diagnose(&posterior, Some(&stats(4, 100)), &DiagnoseOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&serde_json::to_string(&diagnosis).unwrap()).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    for key in [
        "schema",
        "prob",
        "chains",
        "draws",
        "parameters",
        "max_rhat",
        "min_ess_bulk",
        "min_ess_tail",
        "divergences",
        "reached_max_treedepth",
        "bfmi",
        "advice",
        "good",
        "checks",
    ] {
        assert!(keys.contains(&key), "{key} is missing in {keys:?}");
    }
    assert_eq!((&json["schema"], &json["chains"], &json["draws"]), (&2.into(), &4.into(), &100.into()));
    let mu = &json["parameters"][0];
    assert_eq!(mu["name"], "mu");
    assert_eq!((&mu["hdi"], &mu["eti"]), (&serde_json::json!([2.0, 2.0]), &serde_json::json!([2.0, 2.0])));
    assert!(mu["rhat"].is_null() && mu["mcse_sd"].is_null());
    assert_eq!(mu["ess_bulk"], 400.0);
    assert_eq!(json["parameters"][1]["name"], "theta[choate]");
    assert_eq!(json["parameters"][1]["rhat"], diagnosis.summary.parameters[1].rhat);
    assert_eq!(json["bfmi"].as_array().unwrap().len(), 4);
    assert_eq!(json["divergences"], 0);
    assert_eq!(
        json["checks"][0],
        serde_json::json!({
            "id": "finite", "status": "pass", "observed": 0.0, "threshold": 0.0,
            "message": "all draws are finite", "advice": null
        })
    );
    let other = serde_json::to_value(summary(&posterior, 0.955).unwrap()).unwrap();
    assert_eq!((&json["prob"], &other["prob"]), (&0.89.into(), &0.955.into()));
    assert!(other["parameters"][0]["hdi"].is_array(), "{other}");
}

#[test]
fn what_cannot_be_summarised_is_named() {
    let error = |group: &Dataset, prob: f64| summary(group, prob).unwrap_err();
    assert_eq!(error(&Dataset::default(), 0.89), DiagError::NoVariables);
    assert!(matches!(error(&posterior(2, 10), 1.5), DiagError::Probability { .. }));
    for (superchains, fits) in [(0, false), (1, false), (2, true), (3, false), (4, true)] {
        let found = summary_of_many(&posterior(4, 10), 0.89, superchains);
        let refused = matches!(found, Err(DiagError::Superchains { .. }));
        assert_eq!((found.is_ok(), refused), (fits, !fits), "{superchains}");
    }

    let mut group = Dataset::default();
    group.variables.insert("theta".into(), sampled(&[("sample", 20), ("school", 1)], Values::I64(vec![1; 20])));
    assert_eq!(
        error(&group, 0.89).to_string(),
        "variable `theta` has dimensions (sample, school): `chain` and `draw` must be among them; rename the dimensions, or \
         drop the variable"
    );
    let mut group = posterior(2, 10);
    group.variables.get_mut("k").unwrap().values = Values::I64(vec![1; 19]);
    assert!(matches!(error(&group, 0.89), DiagError::Values { variable, values: 19, .. } if variable == "k"));
    let mut group = posterior(2, 10);
    group.variables.insert("late".into(), sampled(&[("chain", 2), ("draw", 9)], Values::F64(vec![0.0; 18])));
    assert!(error(&group, 0.89).to_string().contains("`late` has 2 chains of 9 draws, `mu` has 2 of 10"));
    let mut group = Dataset::default();
    group.variables.insert("word".into(), sampled(&[("chain", 1), ("draw", 1)], Values::Strings(vec!["a".into()])));
    assert_eq!(error(&group, 0.89), DiagError::NoVariables);

    let options = DiagnoseOptions::default();
    let error = diagnose(&posterior(2, 10), Some(&stats(2, 11)), &options).unwrap_err();
    assert!(matches!(&error, DiagError::Disagree { variable, .. } if variable == "diverging"), "{error}");
}
