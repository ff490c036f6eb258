//! Tables of other programs, and what is refused.

use super::*;
use crate::FormatError;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, ListArray, RecordBatch, StringArray, UInt64Array,
};
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use parquet::arrow::ArrowWriter;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

fn table(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
    let batch = batch.unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn integers(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

#[test]
fn tables_of_draws_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("draws.parquet");
    let lists = ListArray::from_iter_primitive::<arrow_array::types::Float64Type, _, _>(
        (0..4).map(|row| Some([Some(f64::from(row)), None])),
    );
    table(
        &path,
        vec![
            (".chain", integers(&[2, 1, 2, 1])),
            (".iteration", integers(&[5, 5, 7, 7])),
            (".draw", integers(&[3, 1, 4, 2])),
            ("mu", Arc::new(Float32Array::from(vec![Some(2.5), Some(1.5), None, Some(1.75)]))),
            ("theta", Arc::new(lists)),
            ("diverging", Arc::new(BooleanArray::from(vec![true, false, false, false]))),
            ("city", Arc::new(StringArray::from(vec!["c", "a", "d", "b"]))),
            ("count", Arc::new(UInt64Array::from(vec![3, 1, 4, 2]))),
        ],
    );
    let data = read_parquet(&path).unwrap();
    let (posterior, stats) = (&data.groups["posterior"], &data.groups["sample_stats"]);
    assert_eq!(posterior.coords["chain"], Labels::Integers(vec![1, 2]));
    assert_eq!(posterior.coords["draw"], Labels::Integers(vec![5, 7]));
    let Values::F64(mu) = &posterior.variables["mu"].values else { panic!() };
    assert_eq!(mu[..3], [1.5, 1.75, 2.5]);
    assert!(mu[3].is_nan());
    let theta = &posterior.variables["theta"];
    assert_eq!((theta.dims[2].as_str(), &theta.shape[..]), ("theta_dim_0", &[2, 2, 2][..]));
    assert_eq!(theta.values.to_f64()[..5].iter().step_by(2).copied().collect::<Vec<_>>(), [1.0, 3.0, 0.0]);
    assert_eq!(stats.variables["diverging"].values, Values::Bool(vec![false, false, true, false]));
    assert_eq!(posterior.variables["city"].values, Values::Strings(["a", "b", "c", "d"].map(String::from).to_vec()));
    assert_eq!(posterior.variables["count"].values, Values::I64(vec![1, 2, 3, 4]));
    assert!(!posterior.variables.contains_key(".draw"));
}

#[test]
fn tables_that_are_no_traces_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let refuse = |columns: Vec<(&str, ArrayRef)>, words: &[&str]| {
        table(&path, columns);
        let message = read_parquet(&path).unwrap_err().to_string();
        assert!(message.contains("a.parquet") && words.iter().all(|word| message.contains(word)), "{message}");
    };
    let reals = || -> ArrayRef { Arc::new(Float64Array::from(vec![1.0, 2.0])) };
    refuse(vec![("draw", integers(&[0, 1])), ("mu", reals())], &["`chain`", "draw, mu"]);
    refuse(vec![("chain", reals()), ("draw", integers(&[0, 1]))], &["column chain", "whole numbers"]);
    refuse(vec![("chain", integers(&[0, 1])), ("draw", integers(&[0, 1]))], &["2 rows", "[1, 1]"]);
    refuse(vec![("chain", integers(&[0, 0])), ("draw", integers(&[0, 0]))], &["2 rows"]);
    refuse(vec![("chain", integers(&[0, 0, 1])), ("draw", integers(&[0, 1, 0]))], &["3 rows", "[2, 1]"]);
    let ragged =
        ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some(vec![Some(1)]), Some(vec![])]);
    refuse(
        vec![("chain", integers(&[0, 0])), ("draw", integers(&[0, 1])), ("x", Arc::new(ragged))],
        &["column x", "one length"],
    );
    fs::write(&path, "PAR1 and no more").unwrap();
    assert!(read_parquet(&path).unwrap_err().to_string().contains("not a whole Parquet file"));
    assert!(
        read_parquet(dir.path().join("none.parquet").as_path()).unwrap_err().to_string().contains("check the path")
    );
}

#[test]
fn rows_are_the_dimensions_that_all_share() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    let mut observed = Dataset::default();
    observed.insert("y", Array::new([("obs", 3)], Values::F64(vec![1.0, 2.0, 3.0])));
    observed.insert("x", Array::new([("obs", 3), ("k", 2)], Values::I64((0..6).collect())));
    observed.coords.insert("obs".into(), Labels::Strings(vec!["a".into(), "b".into(), "c".into()]));
    observed.attrs.insert("source".into(), Attribute::from("a table"));
    let mut constant = Dataset::default();
    constant.insert("n", Array::new([], Values::I64(vec![7])));
    constant.insert("w", Array::new([("obs", 3)], Values::F64(vec![0.5; 3])));
    let mut data = InferenceData::default();
    data.insert("observed_data", observed.clone());
    data.insert("constant_data", constant);
    write_parquet(&path, &data, false).unwrap();
    assert_eq!(read_parquet(&path).unwrap(), data);
    // One file alone.
    let alone = read_parquet(&path.join("observed_data.parquet")).unwrap();
    assert_eq!((alone.groups.len(), &alone.groups["observed_data"]), (1, &observed));
    let rows = |group: &str| {
        let file = File::open(path.join(format!("{group}.parquet"))).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        (reader.metadata().file_metadata().num_rows(), names.join(" "))
    };
    assert_eq!(rows("observed_data"), (3, "obs y x".into()));
    assert_eq!(rows("constant_data"), (1, "n w".into()));
    // Only a folder of ours is replaced.
    write_parquet(&path, &data, true).unwrap();
    table(&path.join("theirs.parquet"), vec![("x", integers(&[1]))]);
    assert!(matches!(write_parquet(&path, &data, true), Err(FormatError::FileExists { .. })));
    fs::remove_file(path.join("theirs.parquet")).unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    assert!(matches!(write_parquet(&path, &data, true), Err(FormatError::FileExists { .. })));
    data.groups["observed_data"].coords.shift_remove("obs");
    data.groups["observed_data"].insert("obs", Array::new([("obs", 3)], Values::F64(vec![0.0; 3])));
    let message = write_parquet(&dir.path().join("b"), &data, false).unwrap_err().to_string();
    assert!(message.contains("`obs` is both"), "{message}");
}

#[test]
fn what_lies_beside_parquet_files_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for (name, contents) in [("a.parquet", "PAR1"), (".b.parquet", "PAR1"), ("short", "PAR"), ("other", "PAR2")] {
        fs::write(path(name), contents).unwrap();
    }
    fs::create_dir(path("c.parquet")).unwrap();
    assert_eq!(parquet_files(dir.path()).unwrap(), [path("a.parquet")]);
    assert!(is_parquet(&path("a.parquet")));
    for name in ["short", "other", "none"] {
        assert!(!is_parquet(&path(name)), "{name}");
    }
}

/// Files whose entry `octopus` says what their columns are not.
#[test]
fn metadata_that_do_not_fit_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let described = |dims: &[&str], shape: &[usize]| {
        let variables = serde_json::json!({ "v": { "dims": dims, "shape": shape, "type": "i64" } });
        let nothing = serde_json::json!({});
        serde_json::json!({
            "schema": 1, "rows": dims, "group": "g", "variables": variables, "attrs": nothing, "coords": nothing,
        })
    };
    let read = |column: &str, metadata: &serde_json::Value| {
        let batch = RecordBatch::try_from_iter([(column, integers(&[7, 8]))]).unwrap();
        let properties = Some(writer_properties(metadata));
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), properties).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        read_parquet(&path).map_err(|error| error.to_string())
    };
    let good = described(&["x"], &[2]);
    assert_eq!(read("v", &good).unwrap().groups["g"].variables["v"].values, Values::I64(vec![7, 8]));
    let newer = |schema: serde_json::Value| {
        let mut metadata = good.clone();
        metadata["schema"] = schema;
        metadata
    };
    for (column, metadata, words) in [
        ("v", newer(2.into()), "its schema 2 is of a newer octopus"),
        ("v", newer(serde_json::Value::Null), "its schema null is of a newer octopus"),
        ("u", good.clone(), "variable v: its column is absent"),
        ("v", described(&["x"], &[3]), "variable v: it has 2 values for the shape [3]"),
        ("v", described(&["x", "y"], &[2]), "variable v: it has 2 values for the shape [2]"),
    ] {
        let message = read(column, &metadata).unwrap_err();
        assert!(message.contains("a.parquet") && message.contains(words), "{message}");
    }
}
