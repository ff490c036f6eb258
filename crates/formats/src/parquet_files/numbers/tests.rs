//! Files of numbers against the parquet crate's own writer, and pyarrow.

use super::*;
use crate::parquet_files::encode::written as written_whole;
use crate::parquet_files::sample;
use half::f16;
use octopus_files::{Overwrite, ResumableFile, Resumption};
use octopus_trace::Values;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const WHAT: &str = "roots";

/// The square roots of 0, 1, 2, ...
fn roots(count: u64) -> Vec<f64> {
    (0..count).map(|index| (index as f64).sqrt()).collect()
}

fn singles(count: u64) -> Vec<f32> {
    roots(count).into_iter().map(|root| root as f32).collect()
}

fn halves(count: u64) -> Vec<f16> {
    singles(count).into_iter().map(f16::from_f32).collect()
}

fn planned(path: &Path, dtype: NpyType, shape: &[u64]) -> FilePlan {
    parquet_plan(path, "root", dtype, shape, &json!({ "what": WHAT })).unwrap()
}

/// Appends the numbers that are missing, in pieces of `step`.
fn append(file: &mut ResumableFile, dtype: NpyType, step: u64) {
    while file.written() < file.count() {
        let (from, to) = (file.written() as usize, (file.written() + step).min(file.count()));
        match dtype {
            NpyType::F8 => file.append(&roots(to)[from..]),
            NpyType::F4 => file.append(&singles(to)[from..]),
            NpyType::F2 => file.append(&halves(to)[from..].iter().map(|half| half.to_bits()).collect::<Vec<u16>>()),
        }
        .unwrap();
    }
}

fn written(path: &Path, dtype: NpyType, shape: &[u64]) -> Vec<u8> {
    let plan = planned(path, dtype, shape);
    let bytes = plan.bytes();
    let mut file = ResumableFile::create(path, plan, WHAT, Overwrite::Replace).unwrap();
    append(&mut file, dtype, 700_001);
    file.finish().unwrap();
    let found = fs::read(path).unwrap();
    assert_eq!(found.len() as u64, bytes);
    found
}

/// The column with all numbers in memory.
fn column(dtype: NpyType, shape: &[u64]) -> ParquetColumn {
    let count = shape.iter().product();
    let values = match dtype {
        NpyType::F8 => sample::reals(&roots(count)),
        NpyType::F4 => sample::singles(&singles(count).into_iter().map(Some).collect::<Vec<_>>()),
        NpyType::F2 => sample::halves(&halves(count).into_iter().map(f64::from).collect::<Vec<_>>()),
    };
    ParquetColumn { name: "root".to_owned(), ..values }.in_lists(shape.get(1).map(|&length| length as usize))
}

/// The file as the parquet crate writes it from all numbers in memory.
fn by_parquet(dtype: NpyType, shape: &[u64]) -> Vec<u8> {
    let group = GROUP / shape.get(1).unwrap_or(&1);
    let properties = properties(&json!({ "what": WHAT })).into_builder();
    let properties = properties.set_max_row_group_row_count(Some(group as usize)).build();
    written_whole(&[column(dtype, shape)], properties).unwrap().into_inner().unwrap()
}

const SHAPES: [(NpyType, &[u64]); 14] = [
    (NpyType::F8, &[1]),
    (NpyType::F8, &[1000]),
    (NpyType::F8, &[GROUP]),
    (NpyType::F8, &[2 * GROUP + 7]),
    (NpyType::F4, &[GROUP - 1]),
    (NpyType::F4, &[GROUP + 1]),
    (NpyType::F4, &[3 * GROUP]),
    (NpyType::F2, &[GROUP + 1]),
    (NpyType::F2, &[5]),
    (NpyType::F8, &[4, 1]),
    (NpyType::F8, &[4, 3]),
    (NpyType::F4, &[GROUP / 3 + 1, 3]),
    (NpyType::F2, &[GROUP, 2]),
    (NpyType::F4, &[2, GROUP]),
];

#[test]
fn files_are_those_of_the_parquet_crate_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("roots.parquet");
    for (dtype, shape) in SHAPES {
        assert!(written(&path, dtype, shape) == by_parquet(dtype, shape), "{dtype} {shape:?}");
        let found = super::super::decode_columns(fs::read(&path).unwrap().into(), |_| true).unwrap();
        let count = shape.iter().product();
        let expected = match dtype {
            NpyType::F8 => roots(count),
            NpyType::F4 => singles(count).into_iter().map(f64::from).collect(),
            NpyType::F2 => halves(count).into_iter().map(f64::from).collect(),
        };
        let width = shape.get(1).map(|&length| length as usize);
        assert!(found["root"] == (Values::F64(expected), width), "{dtype} {shape:?}");
    }
}

/// Wherever a writer ends, at the end of a group or within it, the file has the same bytes.
#[test]
fn an_interrupted_file_has_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("roots.parquet");
    let (dtype, shape) = (NpyType::F4, [GROUP + 5]);
    for kept in [0, 1, GROUP - 1, GROUP, GROUP + 1, GROUP + 5] {
        let mut file = ResumableFile::create(&path, planned(&path, dtype, &shape), WHAT, Overwrite::Replace).unwrap();
        file.append(&singles(kept)).unwrap();
        file.checkpoint().unwrap();
        // What comes after a checkpoint is lost.
        file.append(&vec![0.5f32; (file.count() - kept) as usize]).unwrap();
        drop(file);
        let resumed = ResumableFile::resume(&path, planned(&path, dtype, &shape), WHAT).unwrap();
        let Resumption::Unfinished(mut file) = resumed else { panic!("it was not finished") };
        assert_eq!(file.written(), kept);
        append(&mut file, dtype, 999_999);
        file.finish().unwrap();
        assert!(fs::read(&path).unwrap() == by_parquet(dtype, &shape), "{kept}");
    }
    // The end of a finished file tells what it is.
    let resume = |plan| ResumableFile::resume(&path, plan, WHAT);
    assert!(matches!(resume(planned(&path, dtype, &shape)), Ok(Resumption::Finished)));
    let other = parquet_plan(&path, "root", dtype, &shape, &json!({ "what": "others" })).unwrap();
    let error = resume(other).unwrap_err().to_string();
    assert!(error.contains("is another file") && error.contains("<f4 in 1048581 rows of `root` is asked"), "{error}");
}

#[test]
fn shapes_that_no_file_has_are_told() {
    let path = Path::new("a.parquet");
    let told = |shape: &[u64]| parquet_plan(path, "x", NpyType::F4, shape, &json!({})).unwrap_err().to_string();
    assert!(parquet_plan(path, "x", NpyType::F4, &[3, 1], &json!({})).is_ok());
    for shape in [&[][..], &[3, 0], &[3, GROUP + 1], &[3, 4, 5]] {
        assert!(told(shape).contains("cannot encode a.parquet: the shape"), "{shape:?}");
    }
    for (shape, most) in
        [(&[(1 << 37) + 1][..], "137438953472"), (&[1 << 53], "137438953472"), (&[1 << 37, 2], "68719")]
    {
        assert!(told(shape).contains(&format!("rows are more than the {most}")), "{shape:?}");
    }
}

/// The file has more groups than 16 bits count: the parquet crate then leaves their numbers out, and so does the plan.
#[test]
fn a_file_of_many_groups_has_an_end() {
    let rows = 70_000 * GROUP + 1;
    let plan = planned(Path::new("a.parquet"), NpyType::F8, &[rows]);
    let mut reader = parquet::file::metadata::ParquetMetaDataReader::new();
    // The reader is given the end alone.
    let end = bytes::Bytes::from(plan.end.clone());
    let metadata = reader.try_parse(&end).map(|()| reader.finish().unwrap()).unwrap();
    assert_eq!(metadata.file_metadata().num_rows() as u64, rows);
    assert_eq!(metadata.num_row_groups(), 70_001);
    let place = |group: usize| metadata.row_group(group).column(0).byte_range();
    let (before, whole) = place(0);
    assert_eq!(place(69_999), (before + 69_999 * whole, whole));
    let (last, rest) = place(70_000);
    assert_eq!(last + rest + plan.end.len() as u64, plan.bytes());
}

/// pyarrow is of `crates/runs/tests/arviz/requirements-zarr3.txt`.
#[test]
fn pyarrow_reads_our_files() {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON_ZARR3").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with pyarrow: set OCTOPUS_PYTHON_ZARR3");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> = Vec::new();
    for (dtype, shape) in SHAPES {
        let shape_of: Vec<String> = shape.iter().map(u64::to_string).collect();
        let path = dir.path().join(format!("{}-{}.parquet", &dtype.descr()[1..], shape_of.join("x")));
        written(&path, dtype, shape);
        files.push(path);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pyarrow/roots.py");
    let output = Command::new(python).arg("-B").arg(script).args(&files).output();
    let output = output.expect("OCTOPUS_PYTHON_ZARR3 cannot be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), files.len());
}
