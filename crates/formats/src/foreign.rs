//! The kind of a file that is no trace, by its first bytes, and what to do with it.

use std::path::Path;

/// What to do with a table of another program.
macro_rules! as_parquet {
    ($what:literal) => {
        concat!($what, ": save its draws as Parquet, with the columns `chain` and `draw`")
    };
}

const EXCEL: &str = as_parquet!("an Excel workbook");
const ARROW: &str = as_parquet!("an Arrow or Feather file");
const OF_R: &str =
    "an object of R: save its draws as Parquet (`arrow::write_parquet(posterior::as_draws_df(fit), ...)`)";
const PICKLE: &str = "a Python pickle: open it in Python and save NetCDF (`idata.to_netcdf(...)`)";
const NUMPY: &str = "an array of NumPy: save NetCDF instead (`arviz.from_dict(...).to_netcdf(...)`)";
const JSON: &str = "JSON: of a Zarr store give the folder; of ArviZ's JSON save NetCDF instead (`arviz.from_json(...).to_netcdf(...)`)";

/// Returns what a file that begins so is, with what to do, where no format of traces begins so.
///
/// Formats are asked after this: what is in an archive may be seen through it.
pub(crate) fn foreign_kind(path: &Path, beginning: &[u8]) -> Option<&'static str> {
    let holds = |word: &[u8]| beginning.windows(word.len()).any(|window| window == word);
    Some(match beginning {
        [] => "an empty file",
        [b'P', b'K', 3, 4, ..] if holds(b"[Content_Types].xml") || holds(b"xl/") => EXCEL,
        [b'P', b'K', 3, 4, ..] if holds(b".npy") => NUMPY,
        [b'P', b'K', 3, 4, ..] => "a zip archive: unpack it",
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => EXCEL,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [b'F', b'E', b'A', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => ARROW,
        [0x80, 2..=5, ..] => PICKLE,
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => NUMPY,
        [b'R', b'D', b'X' | b'A' | b'B', b'2' | b'3', b'\n', ..] | [b'X', b'\n', 0, 0, 0, ..] => OF_R,
        [0x1f, 0x8b, ..] if is_named_as_of_r(path) => OF_R,
        [0x1f, 0x8b, ..] => "compressed with gzip: unpack it",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "compressed with bzip2: unpack it",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "compressed with xz: unpack it",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed with Zstandard: unpack it",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16: save it as UTF-8",
        _ if beginning.starts_with(b"SQLite format 3\0") => as_parquet!("an SQLite database"),
        _ if is_json(beginning) => JSON,
        _ => return None,
    })
}

/// Returns whether a text begins as JSON does; a list must not be a heading of TOML (`[table]`).
fn is_json(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning);
    let mut marks = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    match marks.next() {
        Some(b'{') => true,
        Some(b'[') => marks
            .find(|&&mark| mark != b'[')
            .is_some_and(|mark| matches!(mark, b'{' | b'"' | b'-' | b']' | b'0'..=b'9')),
        _ => false,
    }
}

fn is_named_as_of_r(path: &Path) -> bool {
    let endings = ["rds", "rda", "rdata"];
    path.extension().is_some_and(|ending| endings.iter().any(|of_r| ending.eq_ignore_ascii_case(of_r)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_named() {
        for (name, beginning, words) in [
            ("a.xlsx", &b"PK\x03\x04\x14\0\x06\0........[Content_Types].xml"[..], "Excel"),
            ("a.xlsx", b"PK\x03\x04........xl/workbook.xml", "Excel"),
            ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel"),
            ("a.npz", b"PK\x03\x04........mu.npy", "NumPy"),
            ("a.zip", b"PK\x03\x04........a.nc", "a zip archive: unpack it"),
            ("a.feather", b"ARROW1\0\0", "Feather"),
            ("a.feather", b"FEA1....", "Feather"),
            ("a.arrows", b"\xff\xff\xff\xff\x10\0", "Arrow"),
            ("a.pkl", b"\x80\x04\x95", "pickle"),
            ("a.npy", b"\x93NUMPY\x01\0", "NumPy"),
            ("a.rds", b"\x1f\x8b\x08", "R: save"),
            ("a.RData", b"RDX3\nX\n", "R: save"),
            ("a.rds", b"X\n\0\0\0\x03", "R: save"),
            ("a.gz", b"\x1f\x8b\x08", "gzip"),
            ("a.bz2", b"BZh91AY", "bzip2"),
            ("a.xz", b"\xfd7zXZ\0\0", "xz"),
            ("a.zst", b"\x28\xb5\x2f\xfd\0", "Zstandard"),
            ("a.csv", b"\xff\xfel\0p\0", "UTF-16"),
            ("a.db", b"SQLite format 3\0", "SQLite"),
            ("a.json", b" {\"posterior\": 1}", "from_json"),
            ("a.json", b"\xef\xbb\xbf[ [1, 2]]", "from_json"),
            ("a.json", b"[{\"mu\": 1}]", "from_json"),
            ("a.csv", b"", "empty"),
        ] {
            let found = foreign_kind(Path::new(name), beginning);
            assert!(found.is_some_and(|found| found.contains(words)), "{name}: {found:?}");
        }
        for (name, beginning) in [
            ("run.toml", &b"[sampler]\nchains = 4"[..]),
            ("c.toml", b"[[run]]\n"),
            ("a.csv", b"lp__,mu\n"),
            ("a.nc", b"\x89HDF\r\n"),
            ("a.parquet", b"PAR1"),
            ("a.csv", b"BZ,mu\n"),
            ("a", b"P"),
        ] {
            assert_eq!(foreign_kind(Path::new(name), beginning), None, "{name}");
        }
    }
}
