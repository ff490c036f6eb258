//! Programs of ours that together use all transforms, distributions and functions, with Stan's values at five points.
//!
//! `programs/` has them with their data; `make_values.py` wrote `values.json`, whose log densities are as Stan samples:
//! constants dropped, Jacobians included.

use super::{Distance, Slopes, compiled, ours_at};
use octopus_bind::Data;
use octopus_stan::StanProgram;
use serde_json::Value;
use std::path::Path;

/// Programs whose value has not Stan's constant: Stan keeps terms of data that it could drop, ln k! of the negative
/// binomial and ln(2 pi) / 2 of the lognormal.
const OTHER_CONSTANTS: [&str; 3] = ["discrete", "sampled", "vectors"];

/// Stan approximates slopes of ln Phi by polynomials and trigamma by four terms: by mpmath it is off by up to 1.5e-6 in
/// `approximations`, as much as we are apart.
const STANS_OWN_ERROR: f64 = 2e-6;

/// Solutions of differential equations differ within their tolerances: 1e-10 in `odes`, and 1e-6 of what is data in it.
const OF_SOLUTIONS: f64 = 1e-6;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// How far a program is from Stan's values at its points, or why it has none.
fn distance(folder: &Path, name: &str, points: &Value) -> Result<Distance, String> {
    let file = |ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    let program = StanProgram::read(file("stan")).map_err(|error| error.to_string())?;
    let data = Data::read(file("json")).map_err(|error| error.to_string())?;
    let program = compiled(&program, &data)?;
    let (mut ours, mut stans): (Vec<Slopes>, Vec<Slopes>) = (Vec::new(), Vec::new());
    for point in points.as_array().expect("points") {
        let x = numbers(&point["x"]);
        if x.len() != program.dim() {
            return Err(format!("{} coordinates, Stan has {}", program.dim(), x.len()));
        }
        ours.push(ours_at(&program, &x).ok_or_else(|| format!("no value at {x:?}"))?);
        stans.push((point["value"].as_f64().expect("a value"), numbers(&point["gradient"])));
    }
    Ok(Distance::of(&ours, &stans))
}

#[test]
fn programs_of_ours_have_stans_values_and_gradients() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stan");
    let folder = here.join("programs");
    let values = std::fs::read_to_string(here.join("values.json")).expect("Stan's values");
    let values: Value = serde_json::from_str(&values).expect("JSON");
    let mut far_ones = Vec::new();
    for (name, points) in values["programs"].as_object().expect("programs") {
        match distance(&folder, name, points) {
            Ok(far) => {
                println!("{name}: {far}");
                let is_other = far.constant.abs() >= 1e-10 && !OTHER_CONSTANTS.contains(&name.as_str());
                let limit = match name.as_str() {
                    "approximations" => STANS_OWN_ERROR,
                    "odes" => OF_SOLUTIONS,
                    _ => 1e-10,
                };
                let of_value = if name == "odes" { OF_SOLUTIONS } else { 1e-10 };
                if far.slope >= limit || far.value >= of_value || is_other && name != "odes" {
                    far_ones.push(format!("{name}: {far}"));
                }
            }
            Err(error) => far_ones.push(format!("{name}: {error}")),
        }
    }
    let made = std::fs::read_dir(&folder).expect("programs").filter_map(Result::ok);
    let programs = made.filter(|entry| entry.path().extension().is_some_and(|end| end == "stan")).count();
    assert_eq!(values["programs"].as_object().map(|all| all.len()), Some(programs), "a program without values");
    assert!(far_ones.is_empty(), "far from Stan:\n{}", far_ones.join("\n"));
}
