//! Every function against mpmath at 60 digits: relative to the value, or to 1 where a logarithm crosses zero.

use octopus_random::bessel::{
    i_ratio, i0_scaled, i1_over_i0, i1_scaled, log_i, log_i_scaled, log_i_without_power, log_i0, log_i0_scaled, log_i1,
    one_minus_i1_over_i0,
};
use octopus_random::circular::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// What all functions but small tails are held to: the worst error is 4e-15.
const TOLERANCE: f64 = 1e-14;
/// What small tails are held to, with exponents of up to 700: the worst error is 9e-14.
const TOLERANCE_OF_TAILS: f64 = 2e-13;
/// Below this, numbers lose bits before they vanish.
const SMALL: f64 = 1e-305;

/// The worst errors by function and parameter, with where they are.
#[derive(Default)]
struct Errors {
    worst: BTreeMap<String, (f64, String)>,
    compared: usize,
}

impl Errors {
    /// Compares relative to what is expected, and no closer than `floor`.
    fn compare(&mut self, what: String, at: String, got: f64, expected: f64, floor: f64) {
        self.compared += 1;
        let error = if got == expected { 0.0 } else { (got - expected).abs() / expected.abs().max(floor) };
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let worst = self.worst.entry(what).or_default();
        if error > worst.0 || worst.1.is_empty() {
            *worst = (error, format!("{at}: {got:e} is not {expected:e}"));
        }
    }

    /// Prints all and asserts that each is within the tolerance.
    fn judge(self, tolerance: f64, at_least: usize) {
        for (what, (error, at)) in &self.worst {
            println!("{what:<44} {error:8.1e}  {at}");
        }
        let bad: Vec<_> = self.worst.iter().filter(|(_, (error, _))| *error > tolerance).collect();
        assert!(bad.is_empty(), "{bad:#?}");
        assert!(self.compared >= at_least, "only {} numbers", self.compared);
    }
}

fn table(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../data/von_mises.json")).expect("JSON");
    all[name].as_array().expect("rows").clone()
}

fn f(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn rows<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row[key].as_array().expect("rows")
}

#[test]
fn orders_zero_and_one() {
    let mut errors = Errors::default();
    for row in table("bessel") {
        let x = f(&row, "x");
        let mut check = |name: &str, got: f64, floor: f64| {
            errors.compare(name.into(), format!("x = {x:e}"), got, f(&row, name), floor);
        };
        check("i0_scaled", i0_scaled(x), f64::MIN_POSITIVE);
        check("i1_scaled", i1_scaled(x), SMALL);
        check("log_i0", log_i0(x), SMALL);
        check("log_i0_scaled", log_i0_scaled(x), SMALL);
        check("ratio", i1_over_i0(x), SMALL);
        check("complement", one_minus_i1_over_i0(x), SMALL);
        if x > 0.0 {
            check("log_i1", log_i1(x), 1.0);
        }
    }
    errors.judge(TOLERANCE, 150);
}

#[test]
fn any_order() {
    let mut errors = Errors::default();
    for row in table("orders") {
        let (order, x) = (f(&row, "order"), f(&row, "x"));
        // Terms of this size cancel, so that neither the argument nor the result has more digits.
        let largest = f(&row, "largest");
        let mut check = |name: &str, got: f64, floor: f64| {
            errors.compare(name.into(), format!("order {order}, x = {x:e}"), got, f(&row, name), floor);
        };
        check("log_i", log_i(order, x), largest);
        check("log_i_scaled", log_i_scaled(order, x), largest);
        check("without_power", log_i_without_power(order, x), 1.0);
        check("ratio", i_ratio(order, x), SMALL);
    }
    errors.judge(TOLERANCE, 500);
}

#[test]
fn the_general_order_meets_zero_and_one() {
    for row in table("bessel") {
        let x = f(&row, "x");
        assert_eq!(log_i(0.0, x), log_i0(x));
        assert_eq!(log_i_scaled(0.0, x), log_i0_scaled(x));
        assert!((i_ratio(1.0, x) - i1_over_i0(x)).abs() <= 2e-15 * i1_over_i0(x), "{x:e}");
        if x > 0.0 {
            assert!((log_i(1.0, x) - log_i1(x)).abs() <= 2e-15 * log_i1(x).abs().max(1.0), "{x:e}");
        }
    }
}

#[test]
fn von_mises() {
    let (mut errors, mut tails) = (Errors::default(), Errors::default());
    for row in table("von_mises") {
        let k = f(&row, "concentration");
        let name = |what: &str| format!("{what} at {k:e}");
        errors.compare(name("entropy"), String::new(), von_mises_entropy(k), f(&row, "entropy"), 1.0);
        for point in rows(&row, "points") {
            let y = f(point, "y");
            let at = || format!("y = {y:e}");
            let (tail, mass) = (f(point, "tail"), f(point, "mass"));
            for angle in [-y, y] {
                let log = von_mises_log_density(angle, 0.0, k);
                errors.compare(name("log density"), at(), log, f(point, "log_density"), 1.0);
                let got = von_mises_mass_from_loc(angle, 0.0, k);
                errors.compare(name("mass"), at(), got, mass.copysign(angle), SMALL);
            }
            tails.compare(name("cdf, lower"), at(), von_mises_cdf(-y, 0.0, k), tail, SMALL);
            tails.compare(name("cdf, upper"), at(), von_mises_cdf(y, 0.0, k), 1.0 - tail, SMALL);
            tails.compare(name("survival, upper"), at(), von_mises_survival(y, 0.0, k), tail, SMALL);
            tails.compare(name("survival, lower"), at(), von_mises_survival(-y, 0.0, k), 1.0 - tail, SMALL);
        }
        for quantile in rows(&row, "quantiles") {
            let p = f(quantile, "p");
            let got = von_mises_quantile(p, 0.0, k);
            errors.compare(name("quantile"), format!("p = {p:e}"), got, f(quantile, "angle"), SMALL);
        }
    }
    tails.judge(TOLERANCE_OF_TAILS, 700);
    errors.judge(TOLERANCE, 700);
}

#[test]
fn wrapped_normal() {
    let (mut errors, mut tails) = (Errors::default(), Errors::default());
    for row in table("wrapped_normal") {
        let scale = f(&row, "scale");
        let name = |what: &str| format!("wrapped {what} at {scale:e}");
        for point in rows(&row, "points") {
            let (y, tail) = (f(point, "y"), f(point, "tail"));
            let at = || format!("y = {y:e}");
            for angle in [-y, y] {
                let log = wrapped_normal_log_density(angle, 0.0, scale);
                errors.compare(name("log density"), at(), log, f(point, "log_density"), 1.0);
            }
            tails.compare(name("cdf, lower"), at(), wrapped_normal_cdf(-y, 0.0, scale), tail, SMALL);
            tails.compare(name("cdf, upper"), at(), wrapped_normal_cdf(y, 0.0, scale), 1.0 - tail, SMALL);
            tails.compare(name("survival, upper"), at(), wrapped_normal_survival(y, 0.0, scale), tail, SMALL);
        }
    }
    tails.judge(TOLERANCE_OF_TAILS, 150);
    errors.judge(TOLERANCE, 100);
}

#[test]
fn von_mises_fisher() {
    let mut errors = Errors::default();
    for row in table("fisher") {
        let dimension = u32::try_from(row["dimension"].as_u64().expect("dimension")).expect("u32");
        let k = f(&row, "concentration");
        let at = format!("concentration {k:e}");
        let got = von_mises_fisher_log_normalizer_scaled(dimension, k);
        errors.compare(format!("scaled, {dimension}"), at.clone(), got, f(&row, "scaled"), 1.0);
        let got = von_mises_fisher_log_normalizer(dimension, k);
        errors.compare(format!("plain, {dimension}"), at, got, f(&row, "plain"), 1.0);
    }
    errors.judge(TOLERANCE, 200);
}
