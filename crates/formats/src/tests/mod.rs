//! What holds for all formats: round trips, files of other programs, damaged files.

mod begin_corpus;
mod conventions;
mod damaged;
mod programs;
mod round_trips;

use std::fs;
use std::path::{Path, PathBuf};

/// A file of `tests/data`.
fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn json(name: &str) -> serde_json::Value {
    let path = data_file(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Unpacks what `tests/data/pack.py` packed.
fn unpack(name: &str, store: &Path) {
    for (file, content) in json(name).as_object().unwrap() {
        let content = content.as_str().unwrap();
        let bytes = content.strip_prefix("hex:").map_or_else(|| content.as_bytes().to_vec(), unhex);
        let path = store.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
