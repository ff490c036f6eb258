//! The programs that ship, each held to its own truth: moments that a script beside it computes without sampling, and its
//! log density by SciPy.

use octopus::density::{Centering, LogDensity};
use octopus::models::{Problem, Registry};
use octopus::sampler::SamplerConfig;
use octopus::stan::ShippedProgram;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Table;

/// What a script `models/NAME/make.py` writes.
#[derive(Deserialize)]
struct Truth {
    /// The largest error of a moment, in posterior standard deviations.
    error: f64,
    points: Vec<Point>,
}

/// The log density at a point of the unconstrained coordinates, up to a constant.
#[derive(Deserialize)]
struct Point {
    x: Vec<f64>,
    log_density: f64,
}

fn folder(program: &ShippedProgram) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(program.name)
}

fn truth(program: &ShippedProgram) -> Truth {
    let text = fs::read_to_string(folder(program).join("truth.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn built(program: &ShippedProgram) -> Arc<dyn Problem> {
    Registry::shipped().find(program.name).unwrap().build(&Table::new(), None).unwrap()
}

/// What the log density gains by the units of effects that the program writes centered.
fn log_scales(density: &dyn LogDensity, natural: &[f64]) -> f64 {
    let Some(effects) = density.effects() else { return 0.0 };
    let blocks = effects.blocks().iter().flat_map(|block| std::iter::repeat_n(block, block.coordinates.len()));
    let scales = blocks.zip(effects.values(natural).1).filter(|(block, _)| block.written == Centering::Centered);
    scales.map(|(_, scale)| scale.ln()).sum()
}

/// Programs whose prior SciPy has as it is written: all orders of `cut` count there, and what is beyond the bounds of `phi`.
const NOT_CUT_OFF: [(&str, f64); 2] = [("ordinal", 1.0 / 6.0), ("state-space", 0.839_994_848_036_912_8)];

#[test]
fn log_densities_are_those_of_scipy() {
    let mut wrong = Vec::new();
    for program in ShippedProgram::all() {
        let (problem, truth) = (built(program), truth(program));
        let density = problem.density();
        let mut gradient = vec![0.0; density.dim()];
        let differences = truth.points.iter().map(|point| {
            assert_eq!(point.x.len(), density.dim(), "{}", program.name);
            // The density's own coordinates of effects are in units of their prior.
            let x = density.effects().map_or_else(|| point.x.clone(), |effects| effects.natural_of(&point.x));
            density.logp_grad(&x, &mut gradient).unwrap() - log_scales(density, &x) - point.log_density
        });
        let differences: Vec<f64> = differences.collect();
        assert!(differences.len() > 2);
        for (difference, point) in differences.iter().zip(&truth.points) {
            let off = (difference - differences[0]).abs();
            assert!(off < 1e-10 + 1e-13 * point.log_density.abs(), "{}: {differences:?}", program.name);
        }
        // With its constant it is SciPy's density itself.
        let cut_off = NOT_CUT_OFF.iter().find(|(name, _)| *name == program.name).map_or(0.0, |(_, left)| -left.ln());
        let missing = differences[0] + density.log_constant().unwrap() - cut_off;
        if missing.abs() > 1e-9 {
            wrong.push(format!("{}: {missing}", program.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn draws_have_the_moments_of_the_truth() {
    // With seed 1 an sd of the negative binomial is 4.4 standard errors off; over 60 seeds and its three parameters the root
    // mean square of such distances is 1.05 for means and 1.08 for sds.
    let config = SamplerConfig { seed: 2, ..SamplerConfig::default() };
    let mut wrong = Vec::new();
    for program in ShippedProgram::all() {
        let (problem, error) = (built(program), truth(program).error);
        let exact = problem.exact().unwrap().expect("a program that ships has a truth");
        let diagnosis = octopus::sample(&*problem, config.clone()).unwrap().diagnose().unwrap();
        let mut known = 0;
        for variable in &problem.density().layout().variables {
            for index in 0..variable.dims.iter().map(|dim| dim.labels.len()).product() {
                let Some(expected) = exact.moments_of(&variable.name, index) else { continue };
                let found = diagnosis.summary.get(&variable.element_name(index)).unwrap();
                known += 1;
                let exact_sd = expected.sd;
                for (what, found, expected, mcse) in
                    [("mean", found.mean, expected.mean, found.mcse_mean), ("sd", found.sd, expected.sd, found.mcse_sd)]
                {
                    let off = (found - expected) / (mcse * mcse + error * error * exact_sd * exact_sd).sqrt();
                    if off.abs() > 4.0 {
                        let name = variable.element_name(index);
                        wrong.push(format!(
                            "{}: {what} of {name} is {found}, not {expected}: {off:.1} errors",
                            program.name
                        ));
                    }
                }
            }
        }
        assert!(known > 1, "{}: its truth names no variable of it", program.name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The truth is of the data that ship, and of no others; in closed form, it is of any.
#[test]
fn other_data_have_no_truth() {
    let known = |name: &str, settings: &str| {
        let model = Registry::shipped().find(name).unwrap();
        model.build(&settings.parse().unwrap(), None).unwrap().exact().unwrap().is_some()
    };
    let name = "eight-schools-stan";
    assert_eq!([known(name, ""), known(name, "set = { sigma = [15, 10, 16, 11, 9, 11, 10, 19] }")], [true, false]);
    assert!(known("polynomial", "set = { noise = 0.1 }"));
}

/// `octopus validate NAME` leaves a folder in `reports/`, which nobody commits.
#[test]
fn git_ignores_what_validate_leaves() {
    let ignored = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.gitignore")).unwrap();
    for model in Registry::shipped().models() {
        let folder = format!("/reports/{}", model.name());
        assert!(ignored.lines().any(|line| line == folder), ".gitignore lacks {folder}");
    }
}
