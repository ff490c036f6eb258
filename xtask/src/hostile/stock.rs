//! A user's files: tables, settings, a run, and its draws in each format.

use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The user's files and folders, by the names that command lines have for them.
const NAMES: [&str; 13] = [
    "table.csv",
    "semicolons.csv",
    "settings.toml",
    "batch",
    "run",
    "other",
    "trace.nc",
    "trace.zarr",
    "trace.zarr2",
    "parquet",
    "stan",
    "draws.csv",
    "numbers.npy",
];

/// Command lines that make what is not written here.
const LINES: [&str; 9] = [
    "sample hierarchical-normal --data table.csv --group city --value sales --draws 60 --tune 60 --keep-warmup --out run",
    "sample eight-schools --draws 60 --tune 60 --out other",
    "export run --to netcdf --predictive 5 --prior 5 --out trace.nc",
    "export other --to zarr --out trace.zarr",
    "export run --to zarr-v2 --out trace.zarr2",
    "export other --to parquet --out parquet",
    "export other --to stan-csv --out stan",
    "export run --to csv --out draws.csv",
    "random normal --n 100 --out numbers.npy",
];

pub(super) fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

/// Makes the files in `dir`.
pub(super) fn make(program: &Path, dir: &Path) -> Result<()> {
    let batch = dir.join("batch");
    fs::create_dir_all(&batch).with_context(|| format!("cannot make {}", batch.display()))?;
    let mut table = String::from("city,sales\n");
    for row in 0..48 {
        writeln!(table, "city {},{}", row % 6, 40.0 + f64::from(row * 37 % 23) * 0.75)?;
    }
    for name in ["table.csv", "batch/a.csv", "batch/b.csv"] {
        fs::write(dir.join(name), &table)?;
    }
    fs::write(dir.join("semicolons.csv"), table.replace(',', ";").replace('.', ","))?;
    fs::write(dir.join("settings.toml"), "draws = 40\ntune = 40\nseed = 7\n")?;
    for line in LINES {
        let mut command = Command::new(program);
        command.args(line.split(' ')).args(["--quiet"]).current_dir(dir).stdout(Stdio::null());
        let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        // So few draws may fail a check.
        ensure!(matches!(output.status.code(), Some(0 | 1)), "octopus {line}: {}\n{said}", output.status);
    }
    Ok(())
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}
