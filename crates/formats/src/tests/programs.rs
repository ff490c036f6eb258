//! Files of other programs, held to what Python saw in them.

use super::{data_file, json, unpack};
use crate::{InverseMetric, detect_format, read_stan_csv, read_trace, read_zarr};
use octopus_trace::{Attribute, InferenceData, Values};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn assert_values(values: &Values, expected: &[Value], place: &str) {
    let expected: Vec<&str> = expected.iter().map(|value| value.as_str().unwrap()).collect();
    assert_eq!(values.len(), expected.len(), "{place}");
    match values {
        Values::F64(values) => {
            for (value, text) in values.iter().zip(expected) {
                let expected: f64 = text.parse().unwrap_or_else(|_| panic!("{place}: {text} is no number"));
                assert!(*value == expected || value.is_nan() && expected.is_nan(), "{place}: {value}, not {text}");
            }
        }
        Values::I64(values) => {
            assert!(values.iter().zip(&expected).all(|(value, text)| value.to_string() == **text), "{place}")
        }
        Values::Bool(flags) => {
            let text = |flag: bool| if flag { "True" } else { "False" };
            assert!(flags.iter().zip(&expected).all(|(&flag, expected)| text(flag) == *expected), "{place}")
        }
        Values::Strings(words) => assert!(words.iter().zip(&expected).all(|(word, text)| word == text), "{place}"),
    }
}

fn check(data: &InferenceData, described: &Value, place: &str) -> usize {
    let groups = described.as_object().unwrap();
    let mut names: Vec<&String> = groups.keys().collect();
    let mut found: Vec<&String> = data.groups.keys().collect();
    names.sort();
    found.sort();
    assert_eq!(found, names, "{place}");
    let mut compared = 0;
    for (group, expected) in groups {
        let dataset = &data.groups[group];
        for (name, expected) in expected["variables"].as_object().unwrap() {
            let place = format!("{place}: {group}: {name}");
            let array = dataset.variables.get(name).unwrap_or_else(|| panic!("{place} is absent"));
            assert_eq!(json!(array.dims), expected["dims"], "{place}");
            assert_eq!(json!(array.shape), expected["shape"], "{place}");
            assert_values(&array.values, expected["values"].as_array().unwrap(), &place);
            compared += array.values.len();
        }
        for (name, labels) in expected["coords"].as_object().unwrap() {
            let own = &dataset.coords[name];
            let own: Vec<String> = (0..own.len()).map(|at| own.show(at)).collect();
            assert_eq!(&json!(own), labels, "{place}: {group}: {name}");
        }
        for (name, text) in expected["attrs"].as_object().unwrap() {
            assert_eq!(dataset.attrs[name], Attribute::from(text.as_str().unwrap()), "{place}: {group}: {name}");
        }
    }
    compared
}

#[test]
fn traces_of_pymc_nutpie_and_numpyro() {
    let dir = tempfile::tempdir().unwrap();
    for program in ["pymc", "nutpie", "numpyro"] {
        let path = data_file(&format!("{program}/schools.nc"));
        assert_eq!(detect_format(&path).unwrap().name(), "netcdf");
        let compared = check(&read_trace(&[path]).unwrap(), &json(&format!("{program}/schools.json")), program);
        assert!(compared > 150, "{program}: {compared}");
    }
    for program in ["nutpie", "numpyro"] {
        let store = dir.path().join(program);
        unpack(&format!("{program}/schools.zarr.json"), &store);
        assert_eq!(detect_format(&store).unwrap().name(), "zarr");
        let compared = check(&read_trace(&[store]).unwrap(), &json(&format!("{program}/schools_zarr.json")), program);
        assert!(compared > 150, "{program}: {compared}");
    }
}

#[test]
fn every_codec_and_type_of_zarr() {
    let dir = tempfile::tempdir().unwrap();
    for (version, least) in [("v2", 40), ("v3", 35)] {
        let store = dir.path().join(version);
        unpack(&format!("zarr/{version}.zarr.json"), &store);
        let data = read_zarr(&store).unwrap();
        let posterior = data.posterior().unwrap();
        assert_eq!(posterior.attrs["note"], Attribute::from("naïve"));
        let described = json(&format!("zarr/{version}_values.json"));
        let arrays = described["arrays"].as_object().unwrap();
        assert!(arrays.len() >= least, "{}", arrays.len());
        for (name, expected) in arrays {
            let expected = if expected == "draws" { &described["draws"] } else { expected };
            let array = posterior.get(name).unwrap_or_else(|| panic!("{name} is absent"));
            assert_eq!(json!(array.shape), expected["shape"], "{version}: {name}");
            assert_values(&array.values, expected["values"].as_array().unwrap(), &format!("{version}: {name}"));
        }
        assert_eq!(posterior.get("zstd").unwrap().dims, ["chain", "draw", "g"]);
    }
}

fn cmdstan(name: &str) -> PathBuf {
    data_file("cmdstan").join(name)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn chains_of_cmdstan() {
    let paths = [cmdstan("warmup_1.csv"), cmdstan("warmup_2.csv")];
    assert_eq!(detect_format(&paths[0]).unwrap().name(), "stan-csv");
    let read = read_stan_csv(&paths).unwrap();
    check(&read.data, &json("cmdstan/warmup.json"), "warmup");
    let posterior = read.data.posterior().unwrap();
    assert_eq!(posterior.attrs["num_warmup"], Attribute::I64(30));
    assert_eq!(posterior.attrs["delta"], Attribute::F64(0.8));
    assert_eq!(posterior.attrs["model"], Attribute::from("prophet_model"));
    // The comments of CmdStan have six digits.
    let is_close = |told: f64, saved: f64| (told - saved).abs() <= 1e-5 * saved.abs();
    for (chain, metric) in read.metrics.iter().enumerate() {
        let (told, saved) = (metric.as_ref().unwrap(), json(&format!("cmdstan/warmup_metric_{}.json", chain + 1)));
        assert_eq!(told.inverse, InverseMetric::Diagonal(numbers(&saved["inv_metric"])));
        assert!(is_close(told.step_size.unwrap(), saved["stepsize"].as_f64().unwrap()));
    }

    let dense = read_stan_csv(&[cmdstan("dense.csv")]).unwrap();
    check(&dense.data, &json("cmdstan/dense.json"), "dense");
    let rows = &json("cmdstan/dense_metric.json")["inv_metric"];
    let saved: Vec<f64> = rows.as_array().unwrap().iter().flat_map(numbers).collect();
    let InverseMetric::Dense(told) = &dense.metrics[0].as_ref().unwrap().inverse else { panic!() };
    assert_eq!((told.len(), saved.len()), (49, 49));
    assert!(told.iter().zip(&saved).all(|(&told, &saved)| is_close(told, saved)), "{told:?}");
}
