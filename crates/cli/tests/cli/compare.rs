//! `octopus compare`: two runs of one posterior, and two that differ.

use crate::support::run;
use octopus_formats::write_netcdf;
use octopus_random::{Purpose, Stream};
use octopus_trace::{Array, Dataset, InferenceData, Labels, Values};
use std::fs;
use std::path::Path;

const COMMON: &str = "sample hierarchical-normal --groups 8 --draws 400 --tune 300 --device cpu --quiet";

fn sample(dir: &Path, name: &str, more: &str) {
    run(dir, &format!("{COMMON} {more} --out {{}}/{name}")).sampled();
}

#[test]
fn runs_of_one_posterior_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    sample(dir.path(), "b", "--seed 7 --parameterization centered --chains 3");
    let text = run(dir.path(), "compare {}/a {}/b --max-mean 0.2 --max-sd 0.3");
    let said = &text.succeeds().stdout;
    for words in ["the same posterior", "PASS     chance", "mu_group[7]", "sampler.seed", "centered", "each second"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("sampler.target_accept") && !said.contains("not told"), "{said}");

    let json =
        run(dir.path(), "compare {}/a {}/b --json --max-mean 0.2 --max-sd 0.3 --out {}/compared").succeeds().json();
    assert_eq!((&json["schema"], &json["same"]), (&1.into(), &true.into()));
    let parameters = json["posterior"]["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 19);
    for field in ["mean", "sd", "q5", "q50", "q95", "relative_mean", "z_mean", "z_sd", "wasserstein", "p_value"] {
        assert!(!parameters[0][field].is_null(), "{field}");
    }
    assert!(json["runs"][1]["speed"]["min_ess_per_1000_gradients"].as_f64().unwrap() > 0.0);
    let written = fs::read_to_string(dir.path().join("compared/comparison.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), json);

    // A file holds the same draws: nothing differs, and what it does not tell is said.
    run(dir.path(), "export {}/a --to netcdf --out {}/a.nc").succeeds();
    let own = run(dir.path(), "compare {}/a {}/a.nc --json --alpha 1 --max-mean 0 --max-sd 0").succeeds().json();
    assert_eq!(own["posterior"]["rmse"], 0.0);
    assert!(own["posterior"]["parameters"].as_array().unwrap().iter().all(|p| p["wasserstein"] == 0.0));
}

#[test]
fn runs_of_other_data_differ() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    sample(dir.path(), "b", "--data-seed 3");
    let text = run(dir.path(), "compare {}/a {}/b");
    assert_eq!(text.code, Some(1), "{text:#?}");
    for words in ["they differ", "FAIL     means", "FAIL     chance", "WARN     data", "data.sha256"] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
}

/// Writes a trace of the variable `theta` with three elements, with labels or without.
fn write(dir: &Path, name: &str, draws: usize, labels: Option<[i64; 3]>, value: impl Fn(usize, usize) -> f64) {
    let values = (0..4 * draws).flat_map(|k| [0, 1, 2].map(|element| value(k, element))).collect();
    let (mut posterior, mut data) = (Dataset::default(), InferenceData::default());
    posterior.insert("theta", Array::new([("chain", 4), ("draw", draws), ("i", 3)], Values::F64(values)));
    if let Some(labels) = labels {
        posterior.coords.insert("i".into(), Labels::Integers(labels.into()));
    }
    data.insert("posterior", posterior);
    write_netcdf(&dir.join(name), &data, true).unwrap();
}

fn random(seed: u32) -> impl Fn(usize, usize) -> f64 {
    move |k, element| Stream::new(11, seed, (k * 3 + element) as u32, Purpose::User).normal()
}

/// Draws whose squares are too large for their type, one draw of each chain, and draws that are no numbers: two copies
/// are the same, and two runs of what is usual but for its unit as alike as in any other.
#[test]
fn copies_are_the_same_whatever_the_draws_are() {
    let dir = tempfile::tempdir().unwrap();
    type Series<'a> = (&'a str, usize, &'a dyn Fn(usize, usize) -> f64);
    let series: [Series; 6] = [
        ("usual", 100, &random(1)),
        ("huge", 100, &|k, element| 1e200 * random(1)(k, element)),
        ("largest", 100, &|k, element| 1e308 * (0.5 - random(1)(k, element).abs() / 10.0)),
        ("tiny", 100, &|k, element| 1e-310 * random(1)(k, element)),
        ("one", 1, &random(1)),
        ("nan", 100, &|k, element| if element == 1 { f64::NAN } else { random(1)(k, element) }),
    ];
    for (name, draws, value) in series {
        for copy in ["a", "b"] {
            write(dir.path(), &format!("{name}_{copy}.nc"), draws, None, value);
        }
        let found = run(dir.path(), &format!("compare {{}}/{name}_a.nc {{}}/{name}_b.nc"));
        let said = &found.succeeds().stdout;
        assert!(said.contains("the same posterior") && !said.contains("NaN %"), "{name}: {said}");
    }
    let p_value = |unit: f64| {
        write(dir.path(), "first.nc", 200, None, |k, element| unit * random(1)(k, element));
        write(dir.path(), "second.nc", 200, None, |k, element| unit * random(2)(k, element));
        let json = run(dir.path(), "compare {}/first.nc {}/second.nc --json").json();
        [&json["posterior"]["p_value"], &json["posterior"]["rmse"]].map(|v| v.as_f64().unwrap())
    };
    let [plain, huge] = [1.0, 2f64.powi(660)].map(p_value);
    assert!(plain.iter().zip(&huge).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{plain:?} {huge:?}");
}

/// One program counts elements from 0, the other from 1: the variable is paired as a whole, which is said.
#[test]
fn elements_that_are_counted_from_0_and_from_1_are_paired_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let value = |k: usize, element: usize| 10.0 * element as f64 + random(1)(k, element);
    write(dir.path(), "from_0.nc", 200, Some([0, 1, 2]), value);
    write(dir.path(), "from_1.nc", 200, Some([1, 2, 3]), value);
    write(dir.path(), "unlabelled.nc", 200, None, value);
    let found = run(dir.path(), "compare {}/from_0.nc {}/from_1.nc");
    let said = &found.succeeds().stdout;
    assert!(said.contains("the same posterior") && said.contains("WARN     labels"), "{said}");
    assert!(said.contains("theta[0] of the first is theta[1] of the second") && !said.contains("only in"), "{said}");
    assert!(!run(dir.path(), "compare {}/from_0.nc {}/unlabelled.nc").succeeds().stdout.contains("WARN     labels"));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), "a", "");
    run(dir.path(), "compare {}/a {}/a --max-sd -1").fails(2, &["--max-sd", "-1", "0 or more"]);
    run(dir.path(), "compare {}/a {}/absent").fails(3, &["absent"]);
}

/// Reports are compared criterion by criterion, engine by engine and parameter by parameter.
#[test]
fn reports_are_compared_by_what_they_judge() {
    let dir = tempfile::tempdir().unwrap();
    let validate = "validate eight-schools --quick --stages compare --device cpu --quiet --out {}/a";
    run(dir.path(), validate).succeeds();
    let text = fs::read_to_string(dir.path().join("a/report.json")).unwrap();
    let mut worse: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = worse["verdict"]["rows"].as_array_mut().unwrap();
    rows.iter_mut().find(|row| row["status"] == "PASS").unwrap()["status"] = "FAIL".into();
    fs::write(dir.path().join("worse.json"), worse.to_string()).unwrap();
    let compared = |other: &str| run(dir.path(), &format!("compare {{}}/a/report.json {{}}/{other} --json")).code;
    assert_eq!([compared("a/report.json"), compared("worse.json")], [Some(0), Some(1)]);
}

#[test]
fn two_reports() {
    let dir = tempfile::tempdir().unwrap();
    let validate = "validate --quick --groups 10 --stages benchmark --device cpu --quiet --out {}/first";
    assert!(matches!(run(dir.path(), validate).code, Some(0 | 1)));
    let first = dir.path().join("first/report.json");
    let text = fs::read_to_string(&first).unwrap();
    let with = |name: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
        change(&mut report);
        fs::write(dir.path().join(name), report.to_string()).unwrap();
        run(dir.path(), &format!("compare {{}}/first/report.json {{}}/{name}"))
    };
    let same = with("same.json", &|_| {});
    same.succeeds();
    for words in ["every criterion has the same status", "CPU, 2 threads", "within the limits", "B is as good as A"] {
        assert!(same.stdout.contains(words), "{words} is not in {}", same.stdout);
    }
    let slower = with("slower.json", &|report| {
        let run = &mut report["benchmark"]["runs"][0]["result"]["value"]["repeats"];
        run.as_array_mut().unwrap().iter_mut().for_each(|repeat| repeat["wall_s"] = 1000.0.into());
        report["versions"]["commit"] = "another".into();
    });
    assert!(
        slower.succeeds().stdout.contains("16 min 40 s") && slower.stdout.contains("versions.commit"),
        "{slower:#?}"
    );
    let worse = with("worse.json", &|report| {
        let rows = report["verdict"]["rows"].as_array_mut().unwrap();
        rows.iter_mut().find(|row| row["id"] == "P0.3").unwrap()["status"] = "FAIL".into();
    });
    assert_eq!(worse.code, Some(1), "{worse:#?}");
    assert!(worse.stdout.contains("B is worse than A"), "{worse:#?}");
    let moved = with("moved.json", &|report| {
        let row = &mut report["parameters"][0];
        row["sd"] = (row["sd"].as_f64().unwrap() * 1.2).into();
    });
    assert_eq!(moved.code, Some(1), "{moved:#?}");
    assert!(moved.stdout.contains("+20.00 %"), "{moved:#?}");
    let allowed = run(dir.path(), "compare {}/first/report.json {}/moved.json --max-sd 0.21 --json");
    assert_eq!(allowed.succeeds().json()["parameters"].as_array().unwrap().len(), 23);
    // What is no report of this version.
    with("newer.json", &|report| report["schema"] = 99.into()).fails(3, &["newer.json", "schema = 99"]);
    with("none.json", &|report| *report = 3.into()).fails(3, &["none.json", "no report of `octopus validate`"]);
    run(dir.path(), "compare {}/first/report.json {}/first/run").fails(2, &["two report.json"]);
    let by_chance = "compare {}/first/report.json {}/moved.json --alpha 0.001";
    run(dir.path(), by_chance).fails(2, &["--alpha", "not by chance"]);
}
