//! Damaged files: every reader answers with an error or with values, never with a panic.

#[path = "../../../../fuzz/folder.rs"]
pub(super) mod folder;

use super::{data_file, unpack};
use crate::{read_csv, read_netcdf, read_parquet, read_stan_csv, read_trace, read_zarr};
use std::fs;
use std::path::{Path, PathBuf};

/// Knuth's linear congruential generator: the same damage in every run.
struct Damage(u64);

impl Damage {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// Cuts, changes or doubles a part of the file.
    fn apply(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(8) {
                0 => bytes.truncate(at),
                1 => {
                    let end = bytes.len().min(at + self.below(64));
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                2 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                3 => bytes[at..].iter_mut().take(1).for_each(|byte| *byte = b'9'),
                _ => {
                    let bit = self.below(8);
                    bytes[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << bit);
                }
            }
        }
    }
}

/// Reads copies of a file with damage. What is read may be an error or, where only values changed, a trace.
fn damage_file(name: &str, copies: u64, read: fn(&Path)) {
    let good = fs::read(data_file(name)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged");
    for seed in 0..copies {
        let mut bytes = good.clone();
        Damage(seed).apply(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        read(&path);
    }
}

/// The same of one file at a time of a folder, which is whole again after.
fn damage_folder(folder: &Path, copies: u64, read: fn(&Path)) {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut choose = Damage(0);
    for seed in 0..copies {
        let file = &files[choose.below(files.len())];
        let good = fs::read(file).unwrap();
        let mut bytes = good.clone();
        Damage(seed).apply(&mut bytes);
        fs::write(file, &bytes).unwrap();
        read(folder);
        fs::write(file, &good).unwrap();
    }
}

#[test]
fn netcdf() {
    for name in ["nutpie/schools.nc", "conventions/xarray.nc"] {
        damage_file(name, 150, |path| _ = read_netcdf(path));
    }
}

#[test]
fn parquet() {
    let dir = tempfile::tempdir().unwrap();
    for (at, name) in ["numpyro/schools.nc", "conventions/xarray.nc"].into_iter().enumerate() {
        let data = read_trace(&[data_file(name)]).unwrap();
        let folder = dir.path().join(at.to_string());
        crate::write_parquet(&folder, &data, false).unwrap();
        damage_folder(&folder, 200, |path| _ = read_parquet(path));
    }
}

#[test]
fn zarr() {
    let dir = tempfile::tempdir().unwrap();
    let stores = ["zarr/v2", "zarr/v3", "conventions/xarray_v2", "conventions/xarray_v3"];
    for (version, name) in stores.map(|name| format!("{name}.zarr.json")).iter().enumerate() {
        let store = dir.path().join(version.to_string());
        unpack(name, &store);
        damage_folder(&store, 60, |path| _ = read_zarr(path));
    }
}

#[test]
fn stan() {
    for name in ["cmdstan/dense.csv", "cmdstan/warmup_1.csv"] {
        damage_file(name, 300, |path| _ = read_stan_csv(&[path.to_owned()]));
    }
}

#[test]
fn csv_tables() {
    let dir = tempfile::tempdir().unwrap();
    let data = read_trace(&[data_file("cmdstan/warmup_1.csv")]).unwrap();
    crate::write_csv(&dir.path().join("a.csv"), &data, false).unwrap();
    damage_folder(dir.path(), 300, |folder| _ = read_csv(&folder.join("a.csv")));
}

/// A pipe in the place of any file of a store is told, and waited for by nobody.
#[cfg(unix)]
#[test]
fn pipes_in_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    unpack("zarr/v3.zarr.json", &store);
    for file in ["posterior/zstd/zarr.json", "posterior/zstd/c/0/0/0", "posterior/zarr.json"] {
        let path = store.join(file);
        let good = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let message = read_zarr(&store).unwrap_err().to_string();
        assert!(message.contains(file) && message.contains("it is a named pipe"), "{message}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, good).unwrap();
    }
    read_zarr(&store).unwrap();
}

#[test]
fn any_format() {
    for name in ["cmdstan/dense.csv", "gzip.parquet", "numpyro/schools.nc", "cmdstan/dense_metric.json"] {
        damage_file(name, 40, |path| _ = read_trace(&[path.to_owned()]));
    }
}

/// What fuzzing found (see `fuzz/README.md`) and what it began with: each file through its reader.
#[test]
fn corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut read = 0;
    for target in fs::read_dir(&corpus).unwrap() {
        let target = target.unwrap();
        for file in fs::read_dir(target.path()).unwrap() {
            replay(&target.file_name().to_string_lossy(), &file.unwrap().path());
            read += 1;
        }
    }
    assert!(read > 10, "{read} files");
}

fn replay(target: &str, file: &Path) {
    let dir = tempfile::tempdir().unwrap();
    match target {
        "netcdf" => _ = read_netcdf(file),
        "parquet" => _ = read_parquet(file),
        "stan_csv" => _ = read_stan_csv(&[file.to_owned()]),
        "zarr" => {
            folder::unpack(&fs::read(file).unwrap(), dir.path());
            _ = read_zarr(dir.path());
        }
        // `octopus-runs` and `octopus-bind` read these.
        "run" | "stan" => {}
        other => panic!("fuzz/corpus/{other}: no such target"),
    }
}
