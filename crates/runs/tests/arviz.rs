//! Traces to and from the real ArviZ. Needs a Python with `tests/arviz/requirements.txt` installed, named in
//! `OCTOPUS_PYTHON`, and one with `tests/arviz/requirements-zarr3.txt` in `OCTOPUS_PYTHON_ZARR3` (ArviZ 0.23 refuses
//! zarr 3); says aloud when it is skipped.

use octopus_density::{DensityError, LogDensity};
use octopus_formats::{
    InverseMetric, StanMetric, read_netcdf, read_trace, write_netcdf, write_parquet, write_stan_csv, write_zarr,
    write_zarr_v2,
};
use octopus_runs::{CreateOptions, ModelRecord, RunFolder, RunRecord, RunWriter};
use octopus_sampler::{Block, ChainBlock, DrawStats, Phase, SamplerConfig};
use octopus_trace::{Array, Attribute, Dataset, Dim, InferenceData, Labels, Layout, Role, Transform, Values, Variable};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

/// The Python to test with, of which `variable` has the path.
fn python(variable: &str) -> Option<String> {
    let python = std::env::var(variable).ok().filter(|python| !python.is_empty());
    if python.is_none() {
        eprintln!("SKIPPED: no Python with ArviZ: set {variable} (see crates/runs/tests/arviz/check.py)");
    }
    python
}

fn run(python: &str, script: &str, verb: &str, folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz").join(script);
    let output = Command::new(python).arg(script).arg(verb).arg(folder).output().expect("OCTOPUS_PYTHON cannot be run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    print!("{}", text(&output.stdout));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// `mu`, `tau > 0` and `theta[city]`.
struct Model(Layout);

impl LogDensity for Model {
    fn dim(&self) -> usize {
        4
    }
    fn layout(&self) -> &Layout {
        &self.0
    }
    fn logp_grad(&self, _: &[f64], _: &mut [f64]) -> Result<f64, DensityError> {
        unreachable!("the draws are made up")
    }
    fn expand(&self, position: &[f64], out: &mut [f64]) {
        out.copy_from_slice(position);
        out[1] = position[1].exp();
    }
    fn name(&self) -> &str {
        "model"
    }
}

/// A real run folder, read, with the groups that a pipeline adds.
fn trace(folder: &Path) -> InferenceData {
    let city = Dim { name: "city".into(), labels: Labels::Strings(vec!["oslo".into(), "são paulo".into()]) };
    let variable = |name: &str, dims, offset, transform| Variable {
        name: name.into(),
        dims,
        role: Role::Parameter { offset, transform },
    };
    let model = Model(Layout {
        variables: vec![
            variable("mu", vec![], 0, Transform::Identity),
            variable("tau", vec![], 1, Transform::Exp),
            variable("theta", vec![city], 2, Transform::Identity),
        ],
    });
    let stats = |i: usize| DrawStats {
        lp: -(i as f64).sqrt(),
        acceptance_rate: 0.5,
        step_size: 0.1,
        energy: f64::INFINITY,
        energy_error: f64::NAN,
        max_energy_error: -1e300,
        tree_depth: 2,
        n_steps: 3,
        index_in_trajectory: -1,
        diverging: i.is_multiple_of(3),
        reached_max_treedepth: false,
        ..DrawStats::default()
    };
    let chain = |chain: usize| ChainBlock {
        positions: (0..40).map(|i| ((chain * 40 + i) as f64).cos()).collect(),
        stats: (0..10).map(stats).collect(),
    };
    let config = SamplerConfig { chains: 2, draws: 10, tune: 5, ..SamplerConfig::default() };
    let record = RunRecord::new(ModelRecord { name: "modèle".into(), ..Default::default() }, config, model.0.clone());
    let options = CreateOptions { keep_warmup: true, ..Default::default() };
    let mut writer = RunWriter::create(&folder.join("run"), record, options).unwrap();
    for phase in [Phase::Warmup, Phase::Sampling] {
        writer.append(&Block { phase, first: 0, draws: 10, chains: vec![chain(0), chain(1)] }, &model).unwrap();
    }
    writer.finish(|record| record.timing.sampling_s = 0.125).unwrap();
    let mut data = RunFolder::open(&folder.join("run")).unwrap().read().unwrap();

    let mut observed = Dataset::default();
    observed.insert("y", Array::new([("obs", 3)], Values::F64(vec![1.5, -2.0, 0.1])));
    observed.insert("group_idx", Array::new([("obs", 3)], Values::I64(vec![0, 1, 1])));
    observed.insert("names", Array::new([("obs", 3)], Values::Strings(vec!["a".into(), "ß".into(), "long".into()])));
    observed.coords.insert("obs".into(), Labels::Integers(vec![10, -20, 30]));
    observed.attrs.insert("created_at".into(), Attribute::from("2026-11-21T00:00:00Z"));
    data.insert("observed_data", observed);
    let mut likelihood = Dataset::default();
    likelihood.insert("y", Array::new([("chain", 2), ("draw", 10), ("obs", 3)], Values::F64(vec![-0.5; 60])));
    likelihood.coords.insert("obs".into(), Labels::Integers(vec![10, -20, 30]));
    data.insert("log_likelihood", likelihood);
    data
}

fn strings(values: &Values) -> (&'static str, Vec<Value>) {
    match values {
        Values::F64(values) => ("f64", values.iter().map(|value| json!(format!("{value:?}"))).collect()),
        Values::I64(values) => ("i64", values.iter().map(|value| json!(value)).collect()),
        Values::Bool(values) => ("bool", values.iter().map(|value| json!(value)).collect()),
        Values::Strings(values) => ("str", values.iter().map(|value| json!(value)).collect()),
    }
}

fn describe(data: &InferenceData) -> Value {
    let mut groups = Map::new();
    for (name, dataset) in &data.groups {
        let mut variables = Map::new();
        for (name, array) in &dataset.variables {
            let (kind, values) = strings(&array.values);
            let described = json!({ "dims": array.dims, "shape": array.shape, "kind": kind, "values": values });
            variables.insert(name.clone(), described);
        }
        let mut coords = Map::new();
        for (name, labels) in &dataset.coords {
            coords.insert(
                name.clone(),
                match labels {
                    Labels::Range(n) => json!((0..*n).collect::<Vec<_>>()),
                    Labels::Integers(values) => json!(values),
                    Labels::Strings(values) => json!(values),
                    other => panic!("{name} has other labels: {other:?}"),
                },
            );
        }
        let mut attrs = Map::new();
        for (name, attribute) in &dataset.attrs {
            attrs.insert(
                name.clone(),
                match attribute {
                    Attribute::Text(text) => json!(text),
                    Attribute::F64(value) => json!(value),
                    Attribute::I64(value) => json!(value),
                    Attribute::List(_) => unreachable!("no list in this trace"),
                },
            );
        }
        groups.insert(name.clone(), json!({ "variables": variables, "coords": coords, "attrs": attrs }));
    }
    Value::Object(groups)
}

/// The trace in every format, and what a reader must find in them.
fn write_all(folder: &Path) -> InferenceData {
    let data = trace(folder);
    write_netcdf(&folder.join("trace.nc"), &data, false).unwrap();
    write_zarr(&folder.join("trace.zarr"), &data, false).unwrap();
    write_zarr_v2(&folder.join("trace_v2.zarr"), &data, false).unwrap();
    write_parquet(&folder.join("trace.parquet"), &data, false).unwrap();
    let metric = |step_size| StanMetric {
        step_size: Some(step_size),
        inverse: InverseMetric::Diagonal(vec![0.5, 2.0, 1.0 / 3.0, 1e-9]),
    };
    write_stan_csv(&folder.join("stan"), &data, &[metric(0.1), metric(0.25)], false).unwrap();
    std::fs::write(folder.join("expected.json"), describe(&data).to_string()).unwrap();
    data
}

#[test]
fn arviz_opens_our_files() {
    let Some(python) = python("OCTOPUS_PYTHON") else { return };
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path());
    run(&python, "check.py", "open", folder.path());
}

#[test]
fn xarray_and_pandas_open_our_files() {
    let Some(python) = python("OCTOPUS_PYTHON_ZARR3") else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = write_all(folder.path());
    run(&python, "check_zarr3.py", "open", folder.path());
    // And back: xarray's copy of our store.
    let copy = read_trace(&[folder.path().join("copy.zarr")]).unwrap();
    // NaN is no reason to differ.
    let shown = |data: &InferenceData| describe(data).to_string();
    assert_eq!(shown(&copy), shown(&data));
}

#[test]
fn we_open_the_files_of_arviz() {
    let Some(python) = python("OCTOPUS_PYTHON") else { return };
    let folder = tempfile::tempdir().unwrap();
    run(&python, "check.py", "write", folder.path());
    let theirs: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("theirs.json")).unwrap()).unwrap();
    let theirs = theirs.as_object().unwrap();
    assert_eq!(theirs.len(), 5);
    for (file, described) in theirs {
        let data = read_netcdf(Path::new(described["path"].as_str().unwrap())).unwrap();
        let groups = described["groups"].as_object().unwrap();
        assert_eq!(data.groups.len(), groups.len(), "{file}");
        let mut compared = 0;
        for (group, expected) in groups {
            let dataset = &data.groups[group];
            let variables = expected["variables"].as_object().unwrap();
            assert_eq!(dataset.variables.len(), variables.len(), "{file}: {group}");
            for (name, expected) in variables {
                let place = format!("{file}: {group}: {name}");
                let array = &dataset.variables[name];
                assert_eq!(json!(array.dims), expected["dims"], "{place}");
                assert_eq!(json!(array.shape), expected["shape"], "{place}");
                let expected: Vec<&str> =
                    expected["values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
                assert_eq!(array.values.len(), expected.len(), "{place}");
                compared += expected.len();
                match &array.values {
                    Values::F64(values) => {
                        for (value, text) in values.iter().zip(expected) {
                            let expected: f64 = text.parse().unwrap();
                            assert!(*value == expected || value.is_nan() && expected.is_nan(), "{place}: {text}");
                        }
                    }
                    Values::I64(values) => {
                        assert!(values.iter().zip(expected).all(|(v, t)| v.to_string() == t), "{place}")
                    }
                    Values::Bool(values) => {
                        assert!(
                            values.iter().zip(expected).all(|(&v, t)| t == if v { "True" } else { "False" }),
                            "{place}"
                        );
                    }
                    Values::Strings(values) => assert!(values.iter().zip(expected).all(|(v, t)| v == t), "{place}"),
                }
            }
            for (name, labels) in expected["coords"].as_object().unwrap() {
                let found: Vec<String> =
                    (0..dataset.coords[name].len()).map(|i| dataset.coords[name].show(i)).collect();
                assert_eq!(&json!(found), labels, "{file}: {group}: {name}");
            }
            for (name, text) in expected["attrs"].as_object().unwrap() {
                assert_eq!(dataset.attrs[name], Attribute::from(text.as_str().unwrap()), "{file}: {group}: {name}");
            }
        }
        println!("{file}: {} groups, {compared} values equal", groups.len());
    }
}
