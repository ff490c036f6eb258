//! The formats that ship, and how a file is recognised by its contents.

use crate::foreign::foreign_kind;
use crate::listing::listed;
use crate::netcdf::NetCdf;
use crate::parquet_files::Parquet;
use crate::stan::StanFiles;
use crate::table::CsvTable;
use crate::zarr::{Zarr, ZarrV2};
use crate::{FormatError, TraceFormat, read_stan_csv};
use octopus_files::open_regular;
use octopus_trace::InferenceData;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The formats that ship. What is read is asked of them in this order.
///
/// A new format is a module with its [`TraceFormat`], a line here, and its words in the texts below.
pub const FORMATS: [&dyn TraceFormat; 6] = [&NetCdf, &Zarr, &ZarrV2, &Parquet, &StanFiles, &CsvTable];

/// What can be read beside run folders, in short, for help texts.
pub const READ_IN_SHORT: &str =
    "a NetCDF file, Zarr store, Parquet or CSV table of any program; or the CSV files of CmdStan's chains";

/// What can be written, in short, for help texts.
pub const WRITTEN_IN_SHORT: &str = "NetCDF or Zarr (for ArviZ), Parquet, Stan CSV, or a CSV table";

/// The formats that are written as a folder, for help texts.
pub const FOLDERS_IN_SHORT: &str = "Zarr, Parquet, Stan CSV";

/// Returns the format of the trace at `path`, by its contents: names and endings matter only for the files in a folder.
///
/// # Errors
/// When there is nothing at `path`, it cannot be read, or it has none of the [`FORMATS`] that are read; the error says
/// what it is where that can be told.
pub fn detect_format(path: &Path) -> Result<&'static dyn TraceFormat, FormatError> {
    let metadata = std::fs::metadata(path).map_err(FormatError::io("read", path))?;
    let found = if metadata.is_dir() { of_folder(path)? } else { of_file(path)? };
    found.map_err(|found| FormatError::UnknownFormat { path: path.to_owned(), found: found.into_owned() })
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
/// When the format is not recognised (see [`detect_format`]), the reader of the format fails, or several paths are
/// given and one of them is no CSV of CmdStan.
pub fn read_trace(paths: &[PathBuf]) -> Result<InferenceData, FormatError> {
    if let [path] = paths {
        return detect_format(path)?.read(path);
    }
    for path in paths {
        let format = detect_format(path)?;
        if format.name() != StanFiles.name() || path.is_dir() {
            return Err(FormatError::SeveralTraces { path: path.clone(), format: format.kind().to_owned() });
        }
    }
    Ok(read_stan_csv(paths)?.data)
}

/// The format, or what it is instead.
pub(crate) type Found = Result<&'static dyn TraceFormat, Cow<'static, str>>;

/// What a file is of which nothing can be told.
const OF_ANOTHER_KIND: &str = "a file of another kind";

fn of_folder(path: &Path) -> Result<Found, FormatError> {
    for format in FORMATS {
        if format.has_folder(path)? {
            return Ok(Ok(format));
        }
    }
    let what = "a folder with neither run.toml, zarr.json, .zgroup, Parquet files nor CSV files of CmdStan";
    Ok(Err(match what_to_do_in(path)? {
        Some(hint) => format!("{what}; {hint}").into(),
        None => what.into(),
    }))
}

/// Returns what to do with the first file in a folder that is a trace by itself, or a CSV file in a form that is not read.
fn what_to_do_in(folder: &Path) -> Result<Option<String>, FormatError> {
    /// More files than anyone reads about, and few enough to look into.
    const MOST: usize = 100;
    let mut files = listed(folder)?;
    files.retain(|path| path.is_file());
    for file in files.iter().take(MOST) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_stan = |format: &dyn TraceFormat| format.name() == StanFiles.name();
        match of_file(file)? {
            Ok(format) if is_stan(format) => {
                return Ok(Some(format!(
                    "{name} is a {}: give the files by name, or end their names in .csv",
                    format.kind()
                )));
            }
            Ok(format) => return Ok(Some(format!("{name} is a {}: give the file itself", format.kind()))),
            Err(what) if what != OF_ANOTHER_KIND && name.contains(".csv") => {
                return Ok(Some(format!("{name} is {what}")));
            }
            Err(_) => {}
        }
    }
    Ok(None)
}

/// Returns the format of a file, or what it is instead.
pub(crate) fn of_file(path: &Path) -> Result<Found, FormatError> {
    let bytes = beginning(path)?;
    if let Some(other) = foreign_kind(path, &bytes) {
        return Ok(Err(other.into()));
    }
    Ok(FORMATS.into_iter().find(|format| format.has_file(&bytes)).ok_or_else(|| {
        if path.file_name().is_some_and(|name| name == "run.toml") {
            "the record of a run: give its folder".into()
        } else {
            OF_ANOTHER_KIND.into()
        }
    }))
}

/// Returns the first bytes of a file: the comments of CmdStan before the first column take 2 kB, and the names of 50 000
/// columns, of which R has those of chains and draws last, 1 MB.
fn beginning(path: &Path) -> Result<Vec<u8>, FormatError> {
    const BEGINNING: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(FormatError::io("read", path))?;
    file.take(BEGINNING).read_to_end(&mut bytes).map_err(FormatError::io("read", path))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::{Array, Dataset, Values};
    use std::fs;

    #[test]
    fn what_is_no_trace_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let refuse = |name: &str, contents: &[u8], words: &[&str]| {
            let path = dir.path().join(name);
            fs::write(&path, contents).unwrap();
            let message = detect_format(&path).unwrap_err().to_string();
            assert!(message.contains(name) && words.iter().all(|word| message.contains(word)), "{message}");
            assert_eq!(read_trace(&[path]).unwrap_err().to_string(), message);
        };
        refuse("a.nc", b"hello", &["no trace", "NetCDF"]);
        refuse("b.nc", b"", &["empty"]);
        refuse("c.zip", b"PK\x03\x04..", &["unpack"]);
        refuse("c.nc.gz", b"\x1f\x8b\x08..", &["compressed with gzip: unpack it"]);
        refuse("run.toml", b"schema = 1\n", &["give its folder"]);
        refuse("zarr.json", b"{}", &["give the folder"]);
        let folder = dir.path().join("thesis");
        fs::create_dir(&folder).unwrap();
        assert!(detect_format(&folder).unwrap_err().to_string().contains("run.toml"));
        assert!(detect_format(&dir.path().join("none")).unwrap_err().to_string().contains("check the path"));
        let stan = dir.path().join("s.csv");
        fs::write(&stan, "lp__,mu\n-1,0.5\n").unwrap();
        let several = read_trace(&[stan.clone(), folder]).unwrap_err().to_string();
        assert!(several.contains("thesis"), "{several}");
        let table = dir.path().join("draws.parquet");
        fs::write(&table, b"PAR1").unwrap();
        let several = read_trace(&[stan.clone(), table]).unwrap_err().to_string();
        assert!(several.contains("draws.parquet"), "{several}");
        let other = dir.path().join("t.csv");
        fs::write(&other, "lp__,mu\n-1,1.5\n").unwrap();
        let both = read_trace(&[stan.clone(), other]).unwrap();
        assert_eq!(both.posterior().unwrap().get("mu").unwrap().chains(), 2);
        assert!(read_trace(&[]).is_err());
    }

    #[test]
    fn what_lies_in_a_folder_is_told() {
        let chain = "# stan_version_major = 2\nlp__,mu\n-1,2\n";
        let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(chain.bytes().flat_map(|byte| [byte, 0])).collect();
        for (name, contents, words) in [
            ("m_1.csv.gz", &b"\x1f\x8b\x08.."[..], "m_1.csv.gz is compressed with gzip: unpack it"),
            (
                "m_1.txt",
                chain.as_bytes(),
                "m_1.txt is a CSV of CmdStan: give the files by name, or end their names in .csv",
            ),
            ("m_1.csv", &utf16, "m_1.csv is text in UTF-16: save it as UTF-8"),
            ("all.csv", b"chain,draw,mu\n0,0,1\n", "all.csv is a CSV table of draws: give the file itself"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(name), contents).unwrap();
            fs::write(dir.path().join("a.json"), "{}").unwrap();
            let message = detect_format(dir.path()).unwrap_err().to_string();
            assert!(message.contains("a folder with neither") && message.contains(words), "{message}");
        }
    }

    #[test]
    fn formats_say_what_they_are() {
        let words = |format: &&dyn TraceFormat| {
            let holds = if format.holds_draws_only() { "draws" } else { "all groups" };
            format!("{} | {} | {} | {holds}", format.name(), format.kind(), format.about())
        };
        assert_eq!(
            FORMATS.iter().map(words).collect::<Vec<_>>(),
            [
                "netcdf | NetCDF file | NetCDF-4: `arviz.from_netcdf` | all groups",
                "zarr | Zarr store | Zarr 3: `xarray.open_datatree`, `arviz.from_zarr` of ArviZ 1 | all groups",
                "zarr-v2 | zarr-v2 | Zarr 2: `arviz.from_zarr` of ArviZ 0.23 | all groups",
                "parquet | Parquet | A folder of Parquet files, one for each group: DuckDB, Polars, pandas | all groups",
                "stan-csv | CSV of CmdStan | A folder of CmdStan's CSV files, one for each chain: \
                 `arviz.from_cmdstan`, posterior, stansummary | draws",
                "csv | CSV table of draws | One line for each draw | draws",
            ]
        );
    }

    #[test]
    fn what_a_format_writes_is_known_and_read_again() {
        let mut posterior = Dataset::default();
        posterior.insert("mu", Array::new([("chain", 1), ("draw", 2)], Values::F64(vec![0.5, -1.0])));
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        let dir = tempfile::tempdir().unwrap();
        let readers = ["netcdf", "zarr", "zarr", "parquet", "stan-csv", "csv"];
        for (format, reader) in FORMATS.into_iter().zip(readers) {
            let path = dir.path().join(format.name());
            let write = format.writer().unwrap();
            assert!(format.may_write(&path, false).is_ok());
            write(&path, &data, false).unwrap();
            for again in [format.may_write(&path, false), write(&path, &data, false)] {
                assert!(matches!(again, Err(FormatError::FileExists { is_ours: true, .. })), "{again:?}");
            }
            format.may_write(&path, true).unwrap();
            write(&path, &data, true).unwrap();
            let found = detect_format(&path).map_or("none", |format| format.name());
            assert_eq!(found, reader, "{}", format.name());
            match format.read(&path) {
                Ok(read) => assert_eq!(read.groups["posterior"].variables, data.groups["posterior"].variables),
                Err(error) => {
                    let message = error.to_string();
                    assert!(format.name() != reader && message.contains("only written"), "{message}");
                }
            }
        }
    }

    #[test]
    fn a_hundred_files_and_a_mebibyte_are_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        for at in 0..99 {
            fs::write(dir.path().join(format!("{at}.bin")), "other").unwrap();
        }
        fs::write(dir.path().join("z.csv"), "chain,draw,mu\n0,0,1\n").unwrap();
        let hint = || what_to_do_in(dir.path()).unwrap();
        assert_eq!(hint().as_deref(), Some("z.csv is a CSV table of draws: give the file itself"));
        fs::write(dir.path().join("99.bin"), "other").unwrap();
        assert_eq!(hint(), None);

        let path = dir.path().join("long.csv");
        fs::write(&path, vec![b'x'; (1 << 20) + 1]).unwrap();
        assert_eq!(beginning(&path).unwrap().len(), 1 << 20);
    }
}
