//! Every estimator against ArviZ 0.23.4, to 1e-10 relative: see `arviz/make_expected.py`.

use octopus_diag::{
    Chains, autocorr, autocov, bfmi, ess_bulk, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail, eti, hdi,
    mcse_mean, mcse_median, mcse_quantile, mcse_sd, rhat, rhat_folded, rhat_identity, rhat_split,
};
use serde_json::Value;
use std::path::Path;

const TOLERANCE: f64 = 1e-10;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn expected() -> Value {
    serde_json::from_slice(&file("expected.json")).expect("expected.json is JSON")
}

/// A number, or NaN and infinities as Python writes them.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().unwrap_or_else(|_| panic!("{word} is not a number")),
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is not a number")),
    }
}

/// What differs from ArviZ; empty when all agrees.
#[derive(Default)]
struct Differences {
    lines: Vec<String>,
    compared: usize,
    worst: f64,
}

impl Differences {
    fn compare(&mut self, label: &str, found: f64, expected: f64, scale: f64) {
        self.compared += 1;
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let error = (found - expected).abs() / expected.abs().max(scale);
        if !same {
            self.worst = self.worst.max(error);
        }
        if !(same || error <= TOLERANCE) {
            self.lines.push(format!("{label}: {found} here, {expected} in ArviZ"));
        }
    }

    fn all(&mut self, label: &str, found: &[f64], expected: &Value, scale: f64) {
        let Some(expected) = expected.as_array() else { return };
        assert!(found.len() >= expected.len(), "{label}");
        for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
            self.compare(&format!("{label}[{i}]"), found, number(expected), scale);
        }
    }
}

fn check(label: &str, chains: &Chains, expected: &Value, differences: &mut Differences) {
    let estimates = [
        ("rhat", rhat(chains)),
        ("rhat_split", rhat_split(chains)),
        ("rhat_folded", rhat_folded(chains)),
        ("rhat_identity", rhat_identity(chains)),
        ("ess_bulk", ess_bulk(chains)),
        ("ess_tail", ess_tail(chains)),
        ("ess_mean", ess_mean(chains)),
        ("ess_sd", ess_sd(chains)),
        ("ess_median", ess_median(chains)),
        ("ess_quantile_10", ess_quantile(chains, 0.1).unwrap()),
        ("ess_quantile_75", ess_quantile(chains, 0.75).unwrap()),
        ("mcse_mean", mcse_mean(chains)),
        ("mcse_sd", mcse_sd(chains)),
        ("mcse_median", mcse_median(chains)),
        ("mcse_quantile_10", mcse_quantile(chains, 0.1).unwrap()),
        ("mcse_quantile_75", mcse_quantile(chains, 0.75).unwrap()),
    ];
    for (name, found) in estimates {
        differences.compare(&format!("{label} {name}"), found, number(&expected[name]), 0.0);
    }
    for (name, prob) in [("hdi_89", 0.89), ("hdi_50", 0.5), ("hdi_94", 0.94)] {
        differences.all(&format!("{label} {name}"), &hdi(chains, prob).unwrap(), &expected[name], 0.0);
    }
    // Near-zero quantiles and covariances are differences of larger numbers: relative to those.
    let row = chains.row(0);
    let variance = autocov(row)[0];
    differences.all(&format!("{label} eti_89"), &eti(chains, 0.89).unwrap(), &expected["eti_89"], 0.0);
    differences.all(&format!("{label} bfmi"), &bfmi(chains), &expected["bfmi"], 0.0);
    differences.all(&format!("{label} autocov"), &autocov(row), &expected["autocov"], variance * 1e-2);
    differences.all(&format!("{label} autocorr"), &autocorr(row), &expected["autocorr"], 1e-2);
}

fn report(differences: Differences, at_least: usize) {
    assert!(differences.compared >= at_least, "only {} numbers were compared", differences.compared);
    assert!(
        differences.lines.is_empty(),
        "{} of {} differ:\n{}",
        differences.lines.len(),
        differences.compared,
        differences.lines.join("\n")
    );
    println!("{} numbers agree, largest relative difference {:.1e}", differences.compared, differences.worst);
}

#[test]
fn generated_arrays() {
    let mut differences = Differences::default();
    for case in expected()["cases"].as_array().unwrap() {
        let (kind, seed) = (case["kind"].as_str().unwrap(), case["seed"].as_u64().unwrap());
        let (chains, draws) = (case["chains"].as_u64().unwrap() as usize, case["draws"].as_u64().unwrap() as usize);
        let values = crate::support::make(kind, chains, draws, seed);
        let last = format!("{:016x}", values[values.len() - 1].to_bits());
        assert_eq!(Some(last.as_str()), case["last"].as_str(), "{kind} is not the array that ArviZ saw");
        let label = format!("{kind} {chains}x{draws}");
        check(&label, &Chains::new(&values, chains, draws).unwrap(), case, &mut differences);
    }
    report(differences, 2000);
}

#[test]
fn eight_schools() {
    let document = expected();
    let schools = &document["eight_schools"];
    let (chains, draws) = (schools["chains"].as_u64().unwrap() as usize, schools["draws"].as_u64().unwrap() as usize);
    let values: Vec<f64> =
        file("eight_schools.f64").chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let mut differences = Differences::default();
    let arrays = schools["arrays"].as_array().unwrap();
    assert_eq!(values.len(), arrays.len() * chains * draws);
    for (expected, values) in arrays.iter().zip(values.chunks_exact(chains * draws)) {
        let label = expected["name"].as_str().unwrap();
        check(label, &Chains::new(values, chains, draws).unwrap(), expected, &mut differences);
    }
    report(differences, 700);
}
