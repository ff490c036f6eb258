//! How large a table is, before it is read.

use super::folder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of a file, from which the length of its lines is guessed.
const START: u64 = 1 << 16;

/// The size of a table on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    /// The bytes of text that are held while it is read; none of Parquet, which is read in parts.
    pub text: u64,
    /// About how many rows it has; 0 where they are packed.
    pub rows: u64,
}

/// Returns the size of the table in `path` without reading it; `None` where it does not tell, such as a pipe. Whoever
/// reads it says what is wrong with it.
pub fn table_size(path: &Path) -> Option<TableSize> {
    let there = std::fs::metadata(path).ok()?;
    if there.is_dir() {
        let parts = folder::parts(path).ok()?;
        let rows = parts.iter().filter_map(|part| parquet_rows(&part.path)).fold(0, u64::saturating_add);
        return Some(TableSize { text: 0, rows });
    }
    if !there.is_file() {
        return None;
    }
    if let Some(rows) = parquet_rows(path) {
        return Some(TableSize { text: 0, rows });
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(START).read_to_end(&mut start).ok()?;
    let lines = start.iter().filter(|&&byte| byte == b'\n').count() as u64;
    // What is packed has bytes that no text has.
    let is_text = std::str::from_utf8(&start).map_or_else(|error| error.error_len().is_none(), |_| true);
    let rows = if is_text { there.len().saturating_mul(lines) / (start.len() as u64).max(1) } else { 0 };
    Some(TableSize { text: there.len(), rows })
}

/// Returns the rows of a Parquet file by what stands at its end; `None` where it is none, or is damaged.
fn parquet_rows(path: &Path) -> Option<u64> {
    let rows = || -> Result<u64, String> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let mut first = [0; 4];
        file.read_exact(&mut first).map_err(|error| error.to_string())?;
        if &first != b"PAR1" {
            return Err("it is no Parquet file".to_owned());
        }
        let reader = SerializedFileReader::new(file).map_err(|error| error.to_string())?;
        u64::try_from(reader.metadata().file_metadata().num_rows()).map_err(|error| error.to_string())
    };
    octopus_files::decode(rows, |panic| panic).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_text_are_guessed_by_its_first_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("y.csv");
        let rows = 50_000;
        let text: String =
            std::iter::once("g,y\n".to_owned()).chain((0..rows).map(|i| format!("a,{}\n", i % 7))).collect();
        std::fs::write(&path, &text).unwrap();
        let found = table_size(&path).unwrap();
        assert_eq!(found.text, text.len() as u64);
        assert!(found.rows.abs_diff(rows) < 10, "{found:?}");
        assert_eq!(table_size(&dir.path().join("none.csv")), None);
        std::fs::write(&path, b"\x1f\x8b\x08\xff\xfe\n\n\n").unwrap();
        assert_eq!(table_size(&path), Some(TableSize { text: 8, rows: 0 }));
        for (text, rows) in [("", 0), ("\n", 1)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(table_size(&path), Some(TableSize { text: rows, rows }));
        }
    }

    #[test]
    fn the_rows_of_parquet_stand_in_its_files() {
        use crate::parquet_files::sample::{parquet_bytes, reals};
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, rows: usize| {
            std::fs::write(dir.path().join(name), parquet_bytes(vec![("y", reals(&vec![0.5; rows]))])).unwrap();
        };
        write("a.parquet", 2);
        write("b.parquet", 3);
        assert_eq!(table_size(&dir.path().join("a.parquet")), Some(TableSize { text: 0, rows: 2 }));
        assert_eq!(table_size(dir.path()), Some(TableSize { text: 0, rows: 5 }));
    }
}
