//! Recognises and reads any trace by its contents.

use crate::parquet_files::{is_parquet, parquet_files};
use crate::stan::{csv_files, looks_like_stan};
use crate::{FormatError, read_netcdf, read_parquet, read_stan_csv, read_zarr};
use octopus_trace::InferenceData;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many bytes of a file are looked at; the comments of CmdStan before the first column take 2 kB.
const BEGINNING: u64 = 1 << 16;

/// The formats of traces that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFormat {
    /// NetCDF-4, as ArviZ, PyMC, nutpie and NumPyro's users save it.
    NetCdf,
    /// A Zarr store of version 2 or 3.
    Zarr,
    /// A Parquet file, or a folder of one for each group.
    Parquet,
    /// CSV files of CmdStan, one for each chain, or a folder of them.
    StanCsv,
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NetCdf => "NetCDF file",
            Self::Zarr => "Zarr store",
            Self::Parquet => "Parquet",
            Self::StanCsv => "CSV of CmdStan",
        })
    }
}

impl TraceFormat {
    /// Returns the format of the trace at `path`, by its contents: names and endings matter only for the files in a
    /// folder.
    ///
    /// # Errors
    /// When there is nothing at `path`, it cannot be read, or it has none of these formats; the error says what it is
    /// where that can be told.
    pub fn detect(path: &Path) -> Result<Self, FormatError> {
        let metadata = std::fs::metadata(path).map_err(FormatError::io("read", path))?;
        let found = if metadata.is_dir() { of_folder(path)? } else { of_file(path)? };
        found.map_err(|found| FormatError::UnknownFormat { path: path.to_owned(), found: found.to_owned() })
    }
}

/// Reads a trace of any format: a single path, or the CSV files of CmdStan's chains.
///
/// ```no_run
/// # fn main() -> Result<(), octopus_formats::FormatError> {
/// let data = octopus_formats::read_trace(&["schools.nc".into()])?;
/// let chains = octopus_formats::read_trace(&["chain-1.csv".into(), "chain-2.csv".into()])?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the format is not recognised (see [`TraceFormat::detect`]), the reader of the format fails, or several paths
/// are given and one of them is no CSV of CmdStan.
pub fn read_trace(paths: &[PathBuf]) -> Result<InferenceData, FormatError> {
    let [path] = paths else {
        for path in paths {
            let format = TraceFormat::detect(path)?;
            if format != TraceFormat::StanCsv || path.is_dir() {
                return Err(FormatError::SeveralTraces { path: path.clone(), format: format.to_string() });
            }
        }
        return Ok(read_stan_csv(paths)?.data);
    };
    match TraceFormat::detect(path)? {
        TraceFormat::NetCdf => read_netcdf(path),
        TraceFormat::Zarr => read_zarr(path),
        TraceFormat::Parquet => read_parquet(path),
        TraceFormat::StanCsv => Ok(read_stan_csv(paths)?.data),
    }
}

/// The format, or what it is instead.
type Found = Result<TraceFormat, &'static str>;

fn of_folder(path: &Path) -> Result<Found, FormatError> {
    if crate::zarr::is_store(path) {
        return Ok(Ok(TraceFormat::Zarr));
    }
    if parquet_files(path)?.first().is_some_and(|file| is_parquet(file)) {
        return Ok(Ok(TraceFormat::Parquet));
    }
    Ok(match csv_files(path)?.first() {
        Some(file) if of_file(file)? == Ok(TraceFormat::StanCsv) => Ok(TraceFormat::StanCsv),
        _ => Err("a folder with neither run.toml, zarr.json, .zgroup, Parquet files nor CSV files of CmdStan"),
    })
}

fn of_file(path: &Path) -> Result<Found, FormatError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(FormatError::io("read", path))?;
    file.take(BEGINNING).read_to_end(&mut bytes).map_err(FormatError::io("read", path))?;
    Ok(match bytes.as_slice() {
        [0x89, b'H', b'D', b'F', ..] | [b'C', b'D', b'F', 1 | 2 | 5, ..] => Ok(TraceFormat::NetCdf),
        [b'P', b'A', b'R', b'1', ..] => Ok(TraceFormat::Parquet),
        [b'P', b'K', 3, 4, ..] => Err("a zip archive: unpack it"),
        [0x1f, 0x8b, ..] => Err("compressed with gzip: unpack it"),
        [] => Err("an empty file"),
        [b'{', ..] => Err("JSON: of a Zarr store give the folder"),
        bytes => {
            let text = String::from_utf8_lossy(bytes);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if looks_like_stan(&text) {
                Ok(TraceFormat::StanCsv)
            } else if name == "run.toml" {
                Err("the record of a run: give its folder")
            } else if text.starts_with("chain,draw,") {
                Err("a CSV table of draws, which does not tell variables from elements: give what it was made from")
            } else {
                Err("a file of another kind")
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_no_trace_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let refuse = |name: &str, contents: &[u8], words: &[&str]| {
            let path = dir.path().join(name);
            fs::write(&path, contents).unwrap();
            let message = TraceFormat::detect(&path).unwrap_err().to_string();
            assert!(message.contains(name) && words.iter().all(|word| message.contains(word)), "{message}");
            assert_eq!(read_trace(&[path]).unwrap_err().to_string(), message);
        };
        refuse("a.nc", b"hello", &["no trace", "NetCDF"]);
        refuse("b.nc", b"", &["empty"]);
        refuse("c.zip", b"PK\x03\x04..", &["unpack"]);
        refuse("run.toml", b"schema = 1\n", &["give its folder"]);
        refuse("zarr.json", b"{}", &["give the folder"]);
        refuse("d.csv", b"chain,draw,mu\n", &["table of draws"]);
        let folder = dir.path().join("thesis");
        fs::create_dir(&folder).unwrap();
        assert!(TraceFormat::detect(&folder).unwrap_err().to_string().contains("run.toml"));
        assert!(TraceFormat::detect(&dir.path().join("none")).unwrap_err().to_string().contains("check the path"));
        let stan = dir.path().join("s.csv");
        fs::write(&stan, "lp__,mu\n-1,0.5\n").unwrap();
        let several = read_trace(&[stan.clone(), folder]).unwrap_err().to_string();
        assert!(several.contains("thesis"), "{several}");
        let twice = read_trace(&[stan.clone(), stan]).unwrap();
        assert_eq!(twice.posterior().unwrap().get("mu").unwrap().chains(), 2);
        assert!(read_trace(&[]).is_err());
    }
}
