//! `octopus loo` says of a file's draws what the library says of them, with their efficiency and by each weighting.

use crate::support::run;
use octopus::Trace;
use octopus_diag::{Elpd, LogLikelihood, WeightMethod, compare, loo, relative_eff};
use octopus_formats::write_netcdf;
use octopus_random::{Purpose, Stream};
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CHAINS: usize = 4;
const DRAWS: usize = 400;
const OBSERVATIONS: usize = 20;

/// Writes a trace of slow chains, always the same draws. Every second observation, from `first` on, is explained so
/// much worse than the others.
fn trace(dir: &Path, name: &str, first: usize, worse: f64) -> PathBuf {
    let mut x = Vec::new();
    for chain in 0..CHAINS as u32 {
        let mut random = Stream::new(3, chain, 0, Purpose::User);
        let mut last = 0.0;
        x.extend(
            std::iter::repeat_with(|| {
                last = 0.9 * last + random.normal();
                last
            })
            .take(DRAWS),
        );
    }
    let of_draw = |x: &f64| {
        let x = *x;
        (0..OBSERVATIONS).map(move |i| {
            let z = 0.4 * x - i as f64 / OBSERVATIONS as f64;
            let lower = if i % 2 == first { worse } else { 0.0 };
            -1.0 - 0.5 * z * z - lower
        })
    };
    let likelihood = x.iter().flat_map(of_draw).collect();
    let axes = [("chain", CHAINS), ("draw", DRAWS)];
    let (mut posterior, mut pointwise, mut data) = (Dataset::default(), Dataset::default(), InferenceData::default());
    posterior.insert("x", Array::new(axes, Values::F64(x)));
    pointwise.insert("y", Array::new(axes.into_iter().chain([("i", OBSERVATIONS)]), Values::F64(likelihood)));
    data.insert("posterior", posterior);
    data.insert("log_likelihood", pointwise);
    let path = dir.join(name);
    write_netcdf(&path, &data, false).unwrap();
    path
}

/// Leaves one out with the draws' own efficiency, or with that of independent draws.
fn expected(path: &Path, independent: bool) -> Elpd {
    let trace = Trace::open(&[path.to_owned()]).unwrap();
    let likelihood = LogLikelihood::read(trace.data.group("log_likelihood").unwrap(), &[]).unwrap();
    let reff = relative_eff(trace.posterior().unwrap()).unwrap();
    // In truth 0.1 of 1.9: a twentieth of the draws.
    assert!((0.03..0.08).contains(&reff), "{reff}");
    loo(&likelihood, if independent { 1.0 } else { reff }).unwrap()
}

/// JSON gives a number back to a digit or two of its last.
fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs()
}

#[test]
fn draws_count_by_their_efficiency() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "a.nc", 0, 0.0);
    let said = run(dir.path(), "loo {}/a.nc --json").json()["models"][0].clone();
    let (own, independent) = (expected(&path, false), expected(&path, true));
    let elpd = said["elpd"].as_f64().unwrap();
    assert!(near(elpd, own.elpd) && !near(elpd, independent.elpd), "{elpd}: {} {}", own.elpd, independent.elpd);
    for (said, (own, independent)) in
        said["reliability"].as_array().unwrap().iter().zip(own.reliability.iter().zip(&independent.reliability))
    {
        let k = said.as_f64().unwrap();
        assert!(near(k, *own) && !near(k, *independent), "{k}: {own} {independent}");
    }
}

#[test]
fn models_are_weighed_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [trace(dir.path(), "a.nc", 0, 1.0), trace(dir.path(), "b.nc", 1, 1.2)];
    let elpds = paths.each_ref().map(|path| expected(path, false));
    let names = paths.each_ref().map(|path| path.to_str().unwrap());
    let models = [(names[0], &elpds[0]), (names[1], &elpds[1])];
    let said = |option: &str| -> BTreeMap<String, f64> {
        let found = run(dir.path(), &format!("loo {{}}/a.nc {{}}/b.nc --json {option}")).json();
        let rows = found["comparison"].as_array().unwrap().iter();
        rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["weight"].as_f64().unwrap())).collect()
    };
    let weights = [
        ("", WeightMethod::Stacking),
        ("--weights stacking", WeightMethod::Stacking),
        ("--weights pseudo-bma", WeightMethod::PseudoBma),
        ("--weights bb-pseudo-bma", WeightMethod::BbPseudoBma { samples: 1000, seed: 0 }),
    ]
    .map(|(option, method)| {
        let found = said(option);
        for row in compare(&models, method).unwrap() {
            assert!(near(found[&row.name], row.weight), "{option}: {found:?} {row:?}");
        }
        found[names[0]]
    });
    assert_eq!(weights[0], weights[1], "stacking is what is done unless something else is asked for");
    for (i, one) in weights[1..].iter().enumerate() {
        let apart = weights[1..].iter().skip(i + 1).all(|other| (one - other).abs() > 0.01);
        assert!(apart, "two weightings could be taken for each other: {weights:?}");
    }
    // Akaike's weights are written out in a line.
    let akaike = 1.0 / (1.0 + (elpds[1].elpd - elpds[0].elpd).exp());
    assert!((weights[2] - akaike).abs() < 1e-12, "{} {akaike}", weights[2]);
}
