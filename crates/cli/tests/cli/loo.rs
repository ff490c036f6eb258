//! `octopus loo` says of a file's draws what the library says of them, with their efficiency and by each weighting.

use crate::support::run;
use octopus::Trace;
use octopus_diag::{Elpd, LogLikelihood, WeightMethod, compare, loo, relative_eff};
use octopus_formats::write_netcdf;
use octopus_random::{Purpose, Stream};
use octopus_trace::{Array, Dataset, InferenceData, Labels, Values};
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

/// The log likelihoods of a run are made of as many draws of each chain as are asked for.
#[test]
fn a_run_alone_is_judged_and_not_ranked() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample eight-schools --chains 2 --draws 20 --tune 20 --device cpu --quiet --out {}/run").sampled();
    run(dir.path(), "loo {}/run --draws 0").fails(2, &["--draws 0: at least one of each chain is needed"]);
    for (draws, samples) in [("", 40), ("--draws 3", 6), ("--draws 1", 2)] {
        let found = run(dir.path(), &format!("loo {{}}/run {draws}"));
        assert!(matches!(found.code, Some(0 | 1)), "{found:#?}");
        assert!(found.stdout.contains(&format!(": {samples} samples of 8 observations")), "{found:#?}");
        assert!(!found.stdout.contains("rank"), "{found:#?}");
    }
}

/// Writes the trace `from` again after a change.
fn changed(dir: &Path, from: &Path, name: &str, change: impl FnOnce(&mut InferenceData)) {
    let mut data = Trace::open(&[from.to_owned()]).unwrap().data;
    change(&mut data);
    write_netcdf(&dir.join(name), &data, true).unwrap();
}

/// Gives the observations labels, and puts the one with label `order[0]` first.
fn label(data: &mut InferenceData, prefix: &str, order: &[usize]) {
    let group = &mut data.groups["log_likelihood"];
    let Values::F64(values) = &mut group.variables["y"].values else { panic!("no numbers") };
    for draw in values.chunks_exact_mut(OBSERVATIONS) {
        let before = draw.to_vec();
        draw.iter_mut().zip(order).for_each(|(value, &from)| *value = before[from]);
    }
    let labels = order.iter().map(|from| format!("{prefix}{from}")).collect();
    group.coords.insert("i".into(), Labels::Strings(labels));
}

/// One log likelihood of one observation is infinite: it is named, and nothing is called reliable or ranked.
#[test]
fn an_observation_without_an_estimate_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "a.nc", 0, 0.0);
    let order: Vec<usize> = (0..OBSERVATIONS).collect();
    for (bad, options) in [(f64::INFINITY, ""), (f64::NAN, ""), (f64::NEG_INFINITY, ""), (f64::NAN, "--waic")] {
        changed(dir.path(), &path, "bad.nc", |data| {
            label(data, "city ", &order);
            let Values::F64(values) = &mut data.groups["log_likelihood"].variables["y"].values else { panic!() };
            values[3 * OBSERVATIONS + 7] = bad;
        });
        let found = run(dir.path(), &format!("loo {{}}/bad.nc {{}}/a.nc {options}"));
        assert_eq!(found.code, Some(1), "{found:#?}");
        for words in ["FAIL  1 of 20 observations", "1 of 1600 log likelihoods of y[city 7]", "cannot be ranked"] {
            assert!(found.stdout.contains(words), "{bad} {words}: {found:#?}");
        }
        let (of_bad, _) = found.stdout.split_once("a.nc:").unwrap();
        assert!(!of_bad.contains("PASS"), "{found:#?}");
        let json = run(dir.path(), &format!("loo {{}}/bad.nc --json {options}")).json();
        let model = &json["models"][0];
        assert_eq!((&model["undefined"], &model["elpd"]), (&serde_json::json!([7]), &serde_json::Value::Null));
        assert!(model["advice"].as_str().unwrap().contains("y[city 7]"), "{model}");
    }
}

/// A model whose observations stand in another order is compared by their labels, and refused where it has others.
#[test]
fn observations_are_paired_by_their_labels() {
    let dir = tempfile::tempdir().unwrap();
    let paths = [trace(dir.path(), "a.nc", 0, 1.0), trace(dir.path(), "b.nc", 1, 1.2)];
    let order: Vec<usize> = (0..OBSERVATIONS).collect();
    let backwards: Vec<usize> = (0..OBSERVATIONS).rev().collect();
    let write = |name: &str, of: usize, prefix: &str, order: &[usize]| {
        changed(dir.path(), &paths[of], name, |data| label(data, prefix, order));
    };
    write("named_a.nc", 0, "city ", &order);
    write("named_b.nc", 1, "city ", &order);
    write("back_b.nc", 1, "city ", &backwards);
    write("from_1_b.nc", 1, "", &order);
    write("others_b.nc", 1, "town ", &order);
    let rows = |other: &str| {
        let found = run(dir.path(), &format!("loo {{}}/named_a.nc {{}}/{other} --json"));
        let rows = found.json()["comparison"].clone();
        let row = |name: &str| {
            let of = |row: &&serde_json::Value| row["name"].as_str().unwrap().ends_with(name);
            let row = rows.as_array().unwrap().iter().find(of).unwrap();
            ["elpd", "elpd_diff", "dse", "weight"].map(|field| row[field].as_f64().unwrap())
        };
        ([row("named_a.nc"), row(other)], found.stderr)
    };
    let (expected, quiet) = rows("named_b.nc");
    assert!(expected.iter().flatten().any(|v| *v > 0.1) && !quiet.contains("paired"), "{expected:?} {quiet}");
    for (other, words) in
        [("back_b.nc", "another order"), ("b.nc", "only counts them"), ("from_1_b.nc", "only counts them")]
    {
        let (found, said) = rows(other);
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-9, "{other}: {found} {expected}");
        }
        assert!(said.contains(words), "{other}: {said}");
    }
    run(dir.path(), "loo {}/named_a.nc {}/others_b.nc").fails(3, &["\"city 0\"", "lacks", "same observations"]);
}

/// A variable of NaN, as of an unused parameter, says nothing about how much the draws are worth.
#[test]
fn a_variable_of_nan_does_not_decide_the_efficiency() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "a.nc", 0, 0.0);
    changed(dir.path(), &path, "nan.nc", |data| {
        let nan = Values::F64(vec![f64::NAN; CHAINS * DRAWS]);
        data.groups["posterior"].insert("unused", Array::new([("chain", CHAINS), ("draw", DRAWS)], nan));
    });
    let elpd = |name: &str| run(dir.path(), &format!("loo {{}}/{name} --json")).json()["models"][0]["elpd"].clone();
    assert_eq!(elpd("nan.nc"), elpd("a.nc"));
    assert!(near(elpd("nan.nc").as_f64().unwrap(), expected(&path, false).elpd));
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
