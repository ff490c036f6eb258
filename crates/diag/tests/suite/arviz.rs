//! Every estimator against ArviZ 0.23.4, to 1e-10 relative: see `arviz/make_expected.py`.

use crate::expected::{Differences, array, expected, file, number, report, schools};
use octopus_diag::{
    Bandwidth, Chains, Definition, KdeOptions, autocorr, autocov, bfmi, ess_bulk, ess_folded, ess_identity, ess_local,
    ess_local_curve, ess_mad, ess_mean, ess_median, ess_quantile, ess_quantile_curve, ess_sd, ess_tail, ess_z_scale,
    eti, evolution, hdi, hdi_multimodal, kde, kde_with, mcse_mean, mcse_median, mcse_quantile, mcse_sd, rhat,
    rhat_folded, rhat_identity, rhat_split, rhat_z_scale,
};
use serde_json::Value;

/// Every estimator of one number for all chains, by its name in `arviz/make_expected.py`.
fn estimates(chains: &Chains) -> [(&'static str, f64); 22] {
    [
        ("rhat", rhat(chains)),
        ("rhat_split", rhat_split(chains)),
        ("rhat_folded", rhat_folded(chains)),
        ("rhat_z_scale", rhat_z_scale(chains)),
        ("rhat_identity", rhat_identity(chains)),
        ("ess_bulk", ess_bulk(chains)),
        ("ess_tail", ess_tail(chains)),
        ("ess_mean", ess_mean(chains)),
        ("ess_sd", ess_sd(chains)),
        ("ess_median", ess_median(chains)),
        ("ess_mad", ess_mad(chains)),
        ("ess_z_scale", ess_z_scale(chains)),
        ("ess_folded", ess_folded(chains)),
        ("ess_identity", ess_identity(chains)),
        ("ess_local", ess_local(chains, 0.3, 0.45).unwrap()),
        ("ess_quantile_10", ess_quantile(chains, 0.1).unwrap()),
        ("ess_quantile_75", ess_quantile(chains, 0.75).unwrap()),
        ("mcse_mean", mcse_mean(chains)),
        ("mcse_sd", mcse_sd(chains)),
        ("mcse_median", mcse_median(chains)),
        ("mcse_quantile_10", mcse_quantile(chains, 0.1).unwrap()),
        ("mcse_quantile_75", mcse_quantile(chains, 0.75).unwrap()),
    ]
}

fn check(label: &str, chains: &Chains, expected: &Value, differences: &mut Differences) {
    for (name, found) in estimates(chains) {
        differences.compare(&format!("{label} {name}"), found, number(&expected[name]), 0.0);
    }
    for (name, prob) in [("hdi_89", 0.89), ("hdi_50", 0.5), ("hdi_94", 0.94)] {
        differences.all(&format!("{label} {name}"), &hdi(chains, prob).unwrap(), &expected[name], 0.0);
    }
    // Near-zero quantiles and covariances are differences of larger numbers: relative to those.
    let row = chains.row(0);
    let variance = autocov(row)[0];
    differences.all(&format!("{label} eti_89"), &eti(chains, 0.89).unwrap(), &expected["eti_89"], 0.0);
    if label.starts_with("constant ") || label.starts_with("constant_tenth") {
        // ArviZ has 0 or NaN, as the rounding of the mean decides.
        assert!(bfmi(chains).iter().all(|v| v.is_nan()), "{label}");
    } else {
        differences.all(&format!("{label} bfmi"), &bfmi(chains), &expected["bfmi"], 0.0);
    }
    differences.all(&format!("{label} autocov"), &autocov(row), &expected["autocov"], variance * 1e-2);
    differences.all(&format!("{label} autocorr"), &autocorr(row), &expected["autocorr"], 1e-2);
}

#[test]
fn generated_arrays() {
    let mut differences = Differences::default();
    for case in expected()["cases"].as_array().unwrap() {
        let (label, values, chains, draws) = array(case);
        let last = format!("{:016x}", values[values.len() - 1].to_bits());
        assert_eq!(Some(last.as_str()), case["last"].as_str(), "{label} is not the array that ArviZ saw");
        check(&label, &Chains::new(&values, chains, draws).unwrap(), case, &mut differences);
    }
    report(differences, 2400);
}

/// Chains of few draws, mostly odd numbers of them: their halves leave the middle draw out.
#[test]
fn odd_and_few_draws() {
    let mut differences = Differences::default();
    for case in expected()["odd_draws"].as_array().unwrap() {
        let (label, values, chains, draws) = array(case);
        let chains = Chains::new(&values, chains, draws).unwrap();
        for ((name, found), expected) in estimates(&chains).into_iter().zip(case["estimates"].as_array().unwrap()) {
            differences.compare(&format!("{label} {name}"), found, number(expected), 0.0);
        }
    }
    report(differences, 5000);
}

#[test]
fn eight_schools() {
    let document = expected();
    let stored = &document["eight_schools"];
    let (chains, draws) = (stored["chains"].as_u64().unwrap() as usize, stored["draws"].as_u64().unwrap() as usize);
    let mut differences = Differences::default();
    for ((label, values), expected) in schools(&document).iter().zip(stored["arrays"].as_array().unwrap()) {
        check(label, &Chains::new(values, chains, draws).unwrap(), expected, &mut differences);
    }
    report(differences, 800);
}

/// What arviz-stats 0.8 defines in its own way.
#[test]
fn arviz_stats() {
    defined_by(Definition::ArvizStats, "expected_stats.json");
}

/// What R's posterior defines in its own way.
#[test]
fn posterior_of_r() {
    defined_by(Definition::Posterior, "expected_posterior.json");
}

fn defined_by(definition: Definition, name: &str) {
    let document: Value = serde_json::from_slice(&file(name)).unwrap();
    let mut differences = Differences::default();
    for case in document["cases"].as_array().unwrap() {
        let (label, values, chains, draws) = array(case);
        let x = Chains::new(&values, chains, draws).unwrap();
        // Constant chains that differ: between over within is a number over rounding errors.
        let rhat = if label.starts_with("constant_each") { number(&case["rhat"]) } else { definition.rhat(&x) };
        for (name, found) in [
            ("rhat", rhat),
            ("ess_bulk", definition.ess_bulk(&x)),
            ("ess_tail", definition.ess_tail(&x)),
            ("ess_mean", definition.ess_mean(&x)),
            ("ess_quantile_10", definition.ess_quantile(&x, 0.1).unwrap()),
            ("mcse_mean", definition.mcse_mean(&x)),
            ("mcse_sd", definition.mcse_sd(&x)),
            ("mcse_quantile_75", definition.mcse_quantile(&x, 0.75).unwrap()),
        ] {
            differences.compare(&format!("{label} {name}"), found, number(&case[name]), 0.0);
        }
    }
    report(differences, 400);
}

#[test]
fn densities_and_their_regions() {
    let mut differences = Differences::default();
    for case in expected()["densities"].as_array().unwrap() {
        let (label, values, chains, draws) = array(case);
        // A bandwidth of 0, which one rule gives, has no density.
        let bandwidth = |bandwidth| {
            kde_with(&values, &KdeOptions { bandwidth, ..Default::default() }).map_or(0.0, |density| density.bandwidth)
        };
        for (name, rule) in [
            ("bandwidth", Bandwidth::Experimental),
            ("isj", Bandwidth::Isj),
            ("silverman", Bandwidth::Silverman),
            ("scott", Bandwidth::Scott),
        ] {
            differences.compare(&format!("{label} {name}"), bandwidth(rule), number(&case[name]), 0.0);
        }
        let density = kde(&values).unwrap();
        let places: Vec<usize> =
            case["places"].as_array().unwrap().iter().map(|p| p.as_u64().unwrap() as usize).collect();
        let at = |values: &[f64]| places.iter().map(|&place| values[place]).collect::<Vec<f64>>();
        let total: f64 = density.density.iter().sum();
        let span = density.grid[511] - density.grid[0];
        differences.compare(&format!("{label} total"), total, number(&case["total"]), 0.0);
        differences.all(&format!("{label} grid"), &at(&density.grid), &case["grid"], span);
        differences.all(&format!("{label} density"), &at(&density.density), &case["density"], total * 1e-3);
        let chains = Chains::new(&values, chains, draws).unwrap();
        for (i, prob) in [0.5, 0.89].into_iter().enumerate() {
            let found = hdi_multimodal(&chains, prob).unwrap().concat();
            let expected = &case["hdi_multimodal"][i];
            assert_eq!(found.len(), expected.as_array().unwrap().len(), "{label} {prob}: {found:?} {expected}");
            differences.all(&format!("{label} hdi_multimodal {prob}"), &found, expected, span);
        }
    }
    report(differences, 400);
}

#[test]
fn curves() {
    let mut differences = Differences::default();
    for case in expected()["curves"].as_array().unwrap() {
        let (label, values, chains, draws) = array(case);
        let x = Chains::new(&values, chains, draws).unwrap();
        let found = evolution(&x, 20).unwrap();
        let second = |pairs: Vec<(f64, f64)>| pairs.into_iter().map(|pair| pair.1).collect();
        for (name, found) in [
            ("ess_bulk", found.ess_bulk),
            ("ess_tail", found.ess_tail),
            ("rhat", found.rhat),
            ("quantile", second(ess_quantile_curve(&x, 20).unwrap())),
            ("local", second(ess_local_curve(&x, 20).unwrap())),
        ] {
            assert_eq!(found.len(), 20);
            differences.all(&format!("{label} {name}"), &found, &case[name], 0.0);
        }
    }
    report(differences, 400);
}
