//! Tables of other programs, and what is refused.

mod columns;

use super::*;
use crate::FormatError;
use crate::parquet_files::sample::*;
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::{self, File};
use std::path::Path;

fn table(path: &Path, columns: Vec<(&str, Unnamed)>) {
    fs::write(path, parquet_bytes(columns)).unwrap();
}

#[test]
fn tables_of_draws_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("draws.parquet");
    table(
        &path,
        vec![
            (".chain", integers(&[2, 1, 2, 1])),
            (".iteration", integers(&[5, 5, 7, 7])),
            (".draw", integers(&[3, 1, 4, 2])),
            ("mu", singles(&[Some(2.5), Some(1.5), None, Some(1.75)])),
            ("theta", real_lists(&[0.0, f64::NAN, 1.0, f64::NAN, 2.0, f64::NAN, 3.0, f64::NAN], 2)),
            ("diverging", booleans(&[Some(true), Some(false), Some(false), Some(false)])),
            ("city", strings(&["c", "a", "d", "b"].map(Some))),
            ("count", wholes(64, false, &[3, 1, 4, 2].map(Some))),
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
    let refuse = |columns: Vec<(&str, Unnamed)>, words: &[&str]| {
        table(&path, columns);
        let message = read_parquet(&path).unwrap_err().to_string();
        assert!(message.contains("a.parquet") && words.iter().all(|word| message.contains(word)), "{message}");
    };
    refuse(vec![("draw", integers(&[0, 1])), ("mu", reals(&[1.0, 2.0]))], &["`chain`", "draw, mu"]);
    refuse(
        vec![("chain", reals(&[0.0, 0.5])), ("draw", integers(&[0, 1]))],
        &["column chain", "whole numbers", "has 0.5"],
    );
    refuse(vec![("chain", integers(&[0, 1])), ("draw", integers(&[0, 1]))], &["2 rows", "[1, 1]"]);
    refuse(vec![("chain", integers(&[0, 0])), ("draw", integers(&[0, 0]))], &["2 rows"]);
    refuse(vec![("chain", integers(&[0, 0, 1])), ("draw", integers(&[0, 1, 0]))], &["3 rows", "[2, 1]"]);
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
        let reader = SerializedFileReader::new(file).unwrap();
        let fields = reader.metadata().file_metadata().schema().get_fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
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

/// A list in each row may have one element. Lists of no element are no column.
#[test]
fn an_axis_of_length_one_or_none_comes_back() {
    let mut posterior = Dataset::default();
    posterior.insert("mu", Array::new([("chain", 1), ("draw", 2)], Values::F64(vec![0.5, 1.5])));
    posterior.insert("one", Array::new([("chain", 1), ("draw", 2), ("k", 1)], Values::F64(vec![2.5, 3.5])));
    posterior.insert("none", Array::new([("chain", 1), ("draw", 2), ("l", 0)], Values::F64(vec![])));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    write_parquet(&path, &data, false).unwrap();
    assert_eq!(read_parquet(&path).unwrap(), data);
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
        let entry = KeyValue::new(METADATA.to_owned(), metadata.to_string());
        fs::write(&path, with_entries(vec![(column, integers(&[7, 8]))], Some(vec![entry]))).unwrap();
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

/// Writes a table with the entry `pandas` of its metadata.
fn table_of_pandas(path: &Path, pandas: serde_json::Value, columns: Vec<(&str, Unnamed)>) {
    let entry = KeyValue::new("pandas".to_owned(), pandas.to_string());
    fs::write(path, with_entries(columns, Some(vec![entry]))).unwrap();
}

#[test]
fn the_index_of_pandas_is_no_variable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let columns = |index: &'static str| {
        vec![
            ("chain", integers(&[0, 0, 1, 1])),
            ("draw", integers(&[0, 1, 0, 1])),
            ("mu", reals(&[1.0, 2.0, 3.0, 4.0])),
            (index, integers(&[10, 11, 12, 13])),
        ]
    };
    let range = serde_json::json!({ "kind": "range", "name": null, "start": 0, "stop": 4, "step": 1 });
    for (index_columns, variables) in [
        (serde_json::json!(["__index_level_0__"]), &["mu"][..]),
        (serde_json::json!([range]), &["mu", "__index_level_0__"]),
        (serde_json::json!([]), &["mu", "__index_level_0__"]),
        // `chain` and `draw` are what they are, also as an index.
        (serde_json::json!(["chain", "draw", "__index_level_0__"]), &["mu"]),
    ] {
        table_of_pandas(&path, serde_json::json!({ "index_columns": index_columns }), columns("__index_level_0__"));
        let data = read_parquet(&path).unwrap();
        assert_eq!(data.posterior().unwrap().variables.keys().collect::<Vec<_>>(), variables, "{index_columns}");
        assert_eq!(data.posterior().unwrap().get("mu").unwrap().chains(), 2);
        assert!(data.notes.is_empty(), "{:?}", data.notes);
    }
    table_of_pandas(&path, serde_json::json!({ "index_columns": ["year"] }), columns("year"));
    assert_eq!(read_parquet(&path).unwrap().posterior().unwrap().variables.keys().collect::<Vec<_>>(), ["mu"]);
}

fn draws(path: &Path, chain: Option<i32>, first: f64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut columns = vec![("draw", integers(&[0, 1])), ("mu", reals(&[first, first + 1.0]))];
    columns.extend(chain.map(|chain| ("chain", integers(&[chain, chain]))));
    table(path, columns);
}

#[test]
fn parts_of_a_folder_are_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let mu = |folder: &str| {
        let data = crate::read_trace(&[dir.path().join(folder)]).unwrap();
        let posterior = data.posterior().unwrap();
        (posterior.coords["chain"].clone(), posterior.get("mu").unwrap().values.to_f64(), data.notes)
    };
    let expected = (Labels::Integers(vec![1, 2]), vec![5.0, 6.0, 7.0, 8.0], Vec::new());
    // Of Dask and Spark.
    draws(&dir.path().join("flat/part.0.parquet"), Some(2), 7.0);
    draws(&dir.path().join("flat/part.1.parquet"), Some(1), 5.0);
    assert_eq!(mu("flat"), expected);
    // Of DuckDB, Polars and pandas with partitions.
    draws(&dir.path().join("hive/chain=2/data_0.parquet"), None, 7.0);
    draws(&dir.path().join("hive/chain=1/data_0.parquet"), None, 5.0);
    assert_eq!(mu("hive"), expected);
    // A level more, and folders that are none of Hive's.
    draws(&dir.path().join("deep/model=a/chain=2/x.parquet"), None, 7.0);
    draws(&dir.path().join("deep/model=a/chain=1/x.parquet"), None, 5.0);
    draws(&dir.path().join("deep/other/x.parquet"), Some(9), 0.0);
    let (chains, values, notes) = mu("deep");
    assert_eq!((chains, values), (expected.0, expected.1));
    assert!(notes.len() == 1 && notes[0].contains("column model holds text"), "{notes:?}");
    // What a file itself says counts.
    draws(&dir.path().join("both/chain=7/x.parquet"), Some(3), 1.0);
    assert_eq!(mu("both").0, Labels::Integers(vec![3]));
    // The same part twice.
    draws(&dir.path().join("flat/part.2.parquet"), Some(1), 5.0);
    let message = crate::read_trace(&[dir.path().join("flat")]).unwrap_err().to_string();
    assert!(message.contains("chains have [4, 2]"), "{message}");
    // Other columns are another table, whose group is there already.
    table(
        &dir.path().join("hive/nu.parquet"),
        vec![("chain", integers(&[0])), ("draw", integers(&[0])), ("nu", integers(&[1]))],
    );
    let message = crate::read_trace(&[dir.path().join("hive")]).unwrap_err().to_string();
    assert!(message.contains("another file in the folder has the group posterior"), "{message}");
}

#[test]
fn links_that_go_in_circles_end() {
    let dir = tempfile::tempdir().unwrap();
    draws(&dir.path().join("a/chain=1/x.parquet"), None, 5.0);
    std::os::unix::fs::symlink(dir.path().join("a"), dir.path().join("a/loop=1")).unwrap();
    assert!(read_parquet(&dir.path().join("a")).is_err());
    // Six levels are read, and no more.
    let levels = |count: usize| (0..count).map(|at| format!("k{at}=1")).collect::<Vec<_>>().join("/");
    draws(&dir.path().join("six").join(levels(6)).join("x.parquet"), Some(1), 5.0);
    draws(&dir.path().join("six").join(levels(7)).join("x.parquet"), Some(2), 5.0);
    assert_eq!(files_at(&dir.path().join("six")).unwrap().len(), 1);
}

#[test]
fn files_without_rows_have_no_draws() {
    let dir = tempfile::tempdir().unwrap();
    draws(&dir.path().join("a.parquet"), Some(1), 5.0);
    table(&dir.path().join("b.parquet"), vec![("chain", integers(&[])), ("draw", integers(&[]))]);
    let message = read_parquet(&dir.path().join("b.parquet")).unwrap_err().to_string();
    assert!(message.contains("b.parquet: it has no rows, and so no draws"), "{message}");
    let data = read_parquet(dir.path()).unwrap();
    assert!(data.notes.len() == 1 && data.notes[0].contains("b.parquet has no rows"), "{:?}", data.notes);
    assert_eq!(data.posterior().unwrap().get("mu").unwrap().values.to_f64(), [5.0, 6.0]);
}

/// A copy of a file whose metadata claim so many rows and values of each column.
fn with_claims(bytes: &[u8], rows: i64, values: i64) -> Vec<u8> {
    use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.to_vec())).unwrap();
    let old = reader.metadata().file_metadata();
    let file =
        FileMetaData::new(old.version(), rows, None, old.key_value_metadata().cloned(), old.schema_descr_ptr(), None);
    let groups = reader.metadata().row_groups().iter().map(|group| {
        let columns =
            group.columns().iter().map(|column| column.clone().into_builder().set_num_values(values).build().unwrap());
        group.clone().into_builder().set_num_rows(rows).set_column_metadata(columns.collect()).build().unwrap()
    });
    let metadata = ParquetMetaDataBuilder::new(file).set_row_groups(groups.collect()).build();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let mut out = bytes[..bytes.len() - 8 - footer].to_vec();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// What a few bytes claim is refused before memory is taken for it.
#[test]
fn claims_beyond_the_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    draws(&path, Some(1), 5.0);
    let good = fs::read(&path).unwrap();
    let read = |rows, values| {
        fs::write(&path, with_claims(&good, rows, values)).unwrap();
        read_parquet(&path).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read(2, 2), Ok(()));
    for (rows, values) in [(1 << 40, 2), (2, 1 << 40), (i64::MAX, i64::MAX), (1 << 40, 1 << 40), (-1, 2), (2, -1)] {
        let message = read(rows, values).unwrap_err();
        assert!(message.contains("bytes of values, and has"), "{rows}, {values}: {message}");
    }
    // Three columns of 2^40 numbers.
    assert!(read(2, 1 << 40).unwrap_err().contains("it claims 26388279066624 bytes of values"));
    let message = read(2, 1).unwrap_err();
    assert!(message.contains("column draw has 2 values in its pages, which are more than it claims"), "{message}");
    assert!(read(3, 2).unwrap_err().contains("2 rows where it announces 3"));
    // The file claims -1 rows. Thrift's compact form writes the 2 of its third field as 4, and -1 as 1.
    let (mut negative, rows) = (good.clone(), [0x16, 4, 0x19]);
    let places: Vec<usize> = (0..good.len()).filter(|&at| good[at..].starts_with(&rows)).collect();
    let [at] = places[..] else { panic!("{places:?}") };
    negative[at + 1] = 1;
    fs::write(&path, negative).unwrap();
    let message = read_parquet(&path).unwrap_err().to_string();
    assert!(message.contains("2 rows where it announces 0"), "{message}");
}

#[test]
fn chains_are_whole_numbers_of_any_type() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    for (chain, draw, count) in
        [("chain", "draw", "row"), ("chain__", "iter__", "draw__"), ("chain", "iteration", "unconstrained")]
    {
        table(
            &path,
            vec![
                (chain, reals(&[1.0, 0.0])),
                (draw, reals(&[3.0, 3.0])),
                ("mu", reals(&[0.5, 1.5])),
                (count, reals(&[1.0, 2.0])),
            ],
        );
        let data = read_parquet(&path).unwrap();
        let posterior = data.posterior().unwrap();
        assert_eq!(posterior.coords["chain"], Labels::Range(2), "{chain}, {draw}");
        assert_eq!(posterior.coords["draw"], Labels::Integers(vec![3]), "{chain}, {draw}");
        assert_eq!(posterior.variables["mu"].values.to_f64(), [1.5, 0.5], "{chain}, {draw}");
        assert_eq!(posterior.variables.len(), if count == "row" { 2 } else { 1 }, "{chain}, {draw}");
    }
}

/// Columns of a chain of two draws.
fn one_chain<'a>(columns: impl IntoIterator<Item = (&'a str, [f64; 2])>) -> Vec<(&'a str, Unnamed)> {
    let own = [("chain", [0.0, 0.0]), ("draw", [0.0, 1.0])];
    let real = |(name, values): (&'a str, [f64; 2])| (name, reals(&values));
    own.into_iter().chain(columns).map(real).collect()
}

#[test]
fn statistics_of_stan_are_no_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let columns = [
        ("lp__", [-1.0, -2.0]),
        ("divergent__", [0.0, 1.0]),
        ("treedepth__", [3.0, 4.0]),
        ("energy__", [5.0, 6.0]),
        ("energy", [8.0, 9.0]),
        ("other__", [0.5, 0.5]),
        ("mu", [0.0, 7.0]),
    ];
    table(&path, one_chain(columns));
    let data = read_parquet(&path).unwrap();
    let stats = &data.groups["sample_stats"].variables;
    assert_eq!(stats.keys().collect::<Vec<_>>(), ["lp", "diverging", "tree_depth", "energy", "other"]);
    assert_eq!(stats["diverging"].values, Values::Bool(vec![false, true]));
    assert_eq!(stats["tree_depth"].values, Values::I64(vec![3, 4]));
    assert_eq!(stats["energy"].values.to_f64(), [5.0, 6.0]);
    // Beside Stan's own name, the plain one is a parameter's.
    let posterior = &data.groups["posterior"].variables;
    assert_eq!(posterior.keys().collect::<Vec<_>>(), ["energy", "mu"]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    // What ends so in a table of another program is a variable.
    table(&path, one_chain([("other__", [0.5, 0.5])]));
    assert!(read_parquet(&path).unwrap().groups["posterior"].variables.contains_key("other__"));
}

#[test]
fn columns_that_are_statistics_by_name_alone_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    table(&path, one_chain([("energy", [0.0, 1.0]), ("n_steps", [1.0, 3.0]), ("tau", [1.0, 2.0])]));
    let data = read_parquet(&path).unwrap();
    assert_eq!(data.groups["sample_stats"].variables.keys().collect::<Vec<_>>(), ["energy", "n_steps"]);
    let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
    assert!(note.contains("a.parquet: columns energy, n_steps are taken for statistics of the sampler"), "{note}");
    assert!(note.ends_with("rename those that are parameters"), "{note}");
    // Our own files say themselves what is what.
    let ours = dir.path().join("ours");
    write_parquet(&ours, &data, false).unwrap();
    assert!(read_parquet(&ours).unwrap().notes.is_empty());
}
