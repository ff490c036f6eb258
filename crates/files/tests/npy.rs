//! Arrays to and from NumPy, named in `OCTOPUS_PYTHON` (it comes with ArviZ), and a writer that is killed from outside.

use octopus_files::resumable::{record_path, unfinished_path};
use octopus_files::{NpyResumed, NpyType, NpyValues, NpyWriter, Overwrite, read_npy};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

const TYPES: [NpyType; 3] = [NpyType::F8, NpyType::F4, NpyType::F2];
const SHAPES: [&[u64]; 8] = [&[], &[0], &[1], &[1000], &[5, 2], &[0, 3], &[3, 0], &[2, 3, 4]];

/// The folder with arrays by NumPy, or for it; `None` where there is no Python, which is said.
fn numpy(verb: &str, folder: &Path) -> Option<()> {
    let Some(python) = env::var_os("OCTOPUS_PYTHON").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with NumPy: set OCTOPUS_PYTHON (see crates/files/tests/npy/numpy_files.py)");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/npy/numpy_files.py");
    let output = Command::new(python).arg("-B").arg(script).arg(verb).arg(folder).output();
    let output = output.expect("OCTOPUS_PYTHON cannot be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// The name that `numpy_files.py` gives an array.
fn array_path(folder: &Path, dtype: NpyType, shape: &[u64]) -> PathBuf {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let lengths = if shape.is_empty() { "single".into() } else { lengths.join("x") };
    folder.join(format!("{}-{lengths}.npy", &dtype.descr()[1..]))
}

/// The square roots of 0, 1, 2, ...; of half precision only the bits of few are needed, by `half_of`.
fn roots(count: u64) -> Vec<f64> {
    (0..count).map(|index| (index as f64).sqrt()).collect()
}

/// The nearest half-precision number to a positive one of its normal range, ties to even.
fn half_of(value: f64) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let exponent = value.log2().floor() as i32;
    let steps = (value / f64::from(exponent - 10).exp2()).round_ties_even() as i32;
    u16::try_from(((exponent + 14) << 10) + steps).unwrap()
}

fn expected(dtype: NpyType, shape: &[u64]) -> NpyValues {
    let roots = roots(shape.iter().product());
    match dtype {
        NpyType::F8 => NpyValues::F8(roots),
        NpyType::F4 => NpyValues::F4(roots.iter().map(|&root| root as f32).collect()),
        NpyType::F2 => NpyValues::F2(roots.iter().map(|&root| half_of(root)).collect()),
    }
}

#[test]
fn numpy_reads_what_we_write() {
    let dir = tempfile::tempdir().unwrap();
    for dtype in TYPES {
        for shape in SHAPES {
            let path = array_path(dir.path(), dtype, shape);
            let mut writer = NpyWriter::create(&path, dtype, shape, "roots", Overwrite::Refuse).unwrap();
            match expected(dtype, shape) {
                NpyValues::F8(values) => writer.append(&values).unwrap(),
                NpyValues::F4(values) => writer.append(&values).unwrap(),
                NpyValues::F2(values) => writer.append(&values).unwrap(),
            }
            writer.finish().unwrap();
            let read = read_npy(&path).unwrap();
            assert_eq!((read.shape.as_slice(), read.values), (shape, expected(dtype, shape)));
        }
    }
    numpy("read", dir.path());
}

#[test]
fn what_numpy_writes_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let Some(()) = numpy("write", dir.path()) else { return };
    for dtype in TYPES {
        for shape in SHAPES {
            let read = read_npy(&array_path(dir.path(), dtype, shape)).unwrap();
            assert_eq!((read.shape.as_slice(), read.values), (shape, expected(dtype, shape)));
        }
    }
    for (name, words) in [
        ("big", "'>f8'"),
        ("fortran", "Fortran's order"),
        ("object", "'|O'"),
        ("record", "[('a', '<f8'), ('b', '<i4')]"),
        ("integer", "'<i8'"),
    ] {
        let error = read_npy(&dir.path().join(format!("bad-{name}.npy"))).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(&format!("bad-{name}.npy")), "{error}");
    }
}

const ENDLESS: u64 = 1 << 24;
const FOLDER: &str = "OCTOPUS_FILES_TEST_FOLDER";

/// The child of the test below: appends until it is killed.
#[test]
#[ignore = "started by other tests"]
fn writes_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let path = Path::new(&folder).join("a.npy");
    let resumed = NpyWriter::resume(&path, NpyType::F8, &[ENDLESS], "counting");
    let mut writer = match resumed {
        Ok(NpyResumed::Unfinished(writer)) => writer,
        _ => NpyWriter::create(&path, NpyType::F8, &[ENDLESS], "counting", Overwrite::Refuse).unwrap(),
    };
    println!("\nfrom {}", writer.written());
    loop {
        for _ in 0..3 {
            let from = writer.written();
            let values: Vec<f64> = (from..from + 1001).map(|index| index as f64).collect();
            writer.append(&values).unwrap();
        }
        writer.checkpoint().unwrap();
        println!("\nat {}", writer.written());
    }
}

#[test]
fn a_writer_killed_from_outside_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npy");
    let mut safe = 0;
    for round in 0..4u64 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "writes_until_it_is_killed", "--nocapture"])
            .env(FOLDER, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut number = |word: &str| -> u64 {
            lines.find_map(|line| line.strip_prefix(word)?.trim().parse().ok()).expect("the child writes on")
        };
        let from = number("from ");
        assert!(from >= safe, "the child began at {from}, and {safe} were safe");
        for _ in 0..3 {
            safe = number("at ");
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!path.exists() && record_path(&path).exists());
    }
    let Ok(NpyResumed::Unfinished(writer)) = NpyWriter::resume(&path, NpyType::F8, &[ENDLESS], "counting") else {
        panic!("it is unfinished")
    };
    assert!(writer.written() >= safe && writer.written().is_multiple_of(3003));
    let bytes = fs::read(unfinished_path(&path)).unwrap();
    assert_eq!(bytes.len() as u64, 128 + 8 * writer.written());
    let found = bytes[128..].chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
    assert!(found.enumerate().all(|(index, value)| value == index as f64));
}
