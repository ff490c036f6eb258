//! The legacy generator against NumPy's own output (tests/data/make_numpy.py).

use octopus_random::numpy::LegacyRandom;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The SHA-256 of the values as little-endian f64, in hexadecimal.
fn sha256(values: &[f64]) -> String {
    let mut hash = Sha256::new();
    for value in values {
        hash.update(value.to_le_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares `values` with one summary of the fixture: the head first, since a number says more than a hash.
fn check(what: &str, seed: u32, values: &[f64], expected: &Value) {
    assert_eq!(values.len() as u64, expected["n"].as_u64().expect("n"), "{what}, seed {seed}");
    for (k, number) in expected["head"].as_array().expect("head").iter().enumerate() {
        assert_eq!(values[k], number.as_f64().expect("number"), "{what}[{k}], seed {seed}");
    }
    assert_eq!(values[values.len() - 1], expected["last"].as_f64().expect("last"), "last {what}, seed {seed}");
    assert_eq!(sha256(values), expected["sha256"], "{what}, seed {seed}");
}

fn cases() -> Vec<(u32, Value)> {
    let fixture: Value = serde_json::from_str(include_str!("data/numpy.json")).expect("JSON");
    let cases = fixture["cases"].as_array().expect("cases").clone();
    assert!(cases.len() >= 6);
    cases.into_iter().map(|case| (u32::try_from(case["seed"].as_u64().expect("seed")).expect("u32"), case)).collect()
}

#[test]
fn uniform_numbers() {
    for (seed, case) in cases() {
        let mut values = vec![0.0; 20_000];
        LegacyRandom::new(seed).fill(&mut values);
        check("uniform", seed, &values, &case["uniform"]);
    }
}

#[test]
fn normal_numbers() {
    for (seed, case) in cases() {
        let mut values = vec![0.0; 200_001];
        LegacyRandom::new(seed).fill_normal(50.0, 10.0, &mut values);
        check("normal", seed, &values, &case["normal"]);
    }
}

/// The cached second normal survives uniform numbers drawn in between, as in NumPy.
#[test]
fn mixed_calls() {
    for (seed, case) in cases() {
        let mut random = LegacyRandom::new(seed);
        let mut values = Vec::new();
        for k in 0..999 {
            values.push(random.normal(-1.0, 0.25));
            values.push(random.random_sample());
            let mut pair = [0.0; 2];
            random.fill_normal(f64::from(k), 3.0, &mut pair);
            values.extend(pair);
        }
        check("mixed", seed, &values, &case["mixed"]);
    }
}
