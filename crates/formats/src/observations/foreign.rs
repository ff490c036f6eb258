//! Files of other programs that are given for a table: what they are, by their first bytes, and what to do.

use super::ObservationsError;
use std::path::Path;

/// A kind of file: where its mark stands, the mark, what it is, and what to do with it.
struct ForeignKind(usize, &'static [u8], &'static str, &'static str);

const SAVE_AS: &str = "save the sheet as CSV UTF-8 (in the program: Save As; pandas: read_excel(...).to_csv(...))";
const UNPACK: &str = "unpack it first; only gzip and Zstandard are unpacked here";
const WRITE: &str = "write the table as CSV or Parquet in the program that made it";
const FEATHER: &str =
    "write it as Parquet (pandas: read_feather(...).to_parquet(...); Polars: read_ipc(...).write_parquet(...))";
const TEXT: &str = "convert it: `iconv -f UTF-16 -t UTF-8 FILE > NEW`, in a spreadsheet save it as CSV UTF-8";
const JSON: &str =
    "write the table as CSV or Parquet (pandas: read_json(...).to_csv(...); DuckDB: COPY ... TO 'y.parquet')";

/// The kinds that are known. A mark that begins as another comes before it.
const KINDS: &[ForeignKind] = &[
    ForeignKind(0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel workbook of the old kind (.xls)", SAVE_AS),
    ForeignKind(0, b"ARROW1", "a file of Arrow IPC (Feather)", FEATHER),
    ForeignKind(0, b"FEA1", "a Feather file of version 1", FEATHER),
    ForeignKind(0, b"\xFF\xFF\xFF\xFF", "a stream of Arrow IPC", FEATHER),
    ForeignKind(0, b"PARE", "an encrypted Parquet file", "write it without encryption"),
    ForeignKind(0, b"BZh", "a file packed with bzip2", UNPACK),
    ForeignKind(0, b"\xFD7zXZ\x00", "a file packed with xz", UNPACK),
    ForeignKind(0, b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", UNPACK),
    ForeignKind(0, b"Rar!\x1A\x07", "a RAR archive", UNPACK),
    ForeignKind(0, b"\x04\x22\x4D\x18", "a file packed with LZ4", UNPACK),
    ForeignKind(257, b"ustar", "a tar archive", UNPACK),
    ForeignKind(0, b"\x89HDF\r\n\x1a\n", "an HDF5 or NetCDF file", WRITE),
    ForeignKind(0, b"CDF\x01", "a NetCDF file", WRITE),
    ForeignKind(0, b"CDF\x02", "a NetCDF file", WRITE),
    ForeignKind(0, b"CDF\x05", "a NetCDF file", WRITE),
    ForeignKind(0, b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    ForeignKind(8, b"DUCK", "a DuckDB database", "export the table: COPY ... TO 'y.parquet'"),
    ForeignKind(0, b"ORC", "an ORC file", "write it as Parquet"),
    ForeignKind(0, b"Obj\x01", "an Avro file", "write it as Parquet"),
    ForeignKind(0, b"\x93NUMPY", "an array of NumPy", WRITE),
    ForeignKind(0, b"RDX2\n", "a file of R", "write the table with write.csv(..., row.names = FALSE)"),
    ForeignKind(0, b"RDX3\n", "a file of R", "write the table with write.csv(..., row.names = FALSE)"),
    ForeignKind(0, b"X\n\x00\x00\x00", "a file of R (.rds)", "write the table with write.csv(..., row.names = FALSE)"),
    ForeignKind(0, b"\x80\x04\x95", "a pickle of Python", WRITE),
    ForeignKind(0, b"\x80\x05\x95", "a pickle of Python", WRITE),
    ForeignKind(0, b"<stata_dta>", "a file of Stata", "write the table with `export delimited`"),
    ForeignKind(0, b"$FL2", "a file of SPSS", WRITE),
    ForeignKind(0, b"%PDF-", "a PDF", WRITE),
    ForeignKind(0, b"\xFF\xFE\x00\x00", "UTF-32 text", "convert it: `iconv -f UTF-32 -t UTF-8 FILE > NEW`"),
    ForeignKind(0, b"\xFF\xFE", "UTF-16 text", TEXT),
    ForeignKind(0, b"\xFE\xFF", "UTF-16 text", TEXT),
];

const ZIP: &[u8] = b"PK\x03\x04";

/// Returns the error of a file that begins with the mark of another kind.
pub(super) fn of_bytes(path: &Path, start: &[u8]) -> Option<ObservationsError> {
    let error = |what, remedy| Some(ObservationsError::Foreign { path: path.to_owned(), what, remedy });
    if start.starts_with(ZIP) {
        let (what, remedy) = zipped(start);
        return error(what, remedy);
    }
    let has_mark =
        |ForeignKind(at, mark, ..): &&ForeignKind| start.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    if let Some(ForeignKind(_, _, what, remedy)) = KINDS.iter().find(has_mark) {
        return error(what, remedy);
    }
    if is_utf16(start) { error("UTF-16 text", TEXT) } else { None }
}

/// Returns what a ZIP archive holds: workbooks are such.
fn zipped(start: &[u8]) -> (&'static str, &'static str) {
    let has = |mark: &[u8]| start.windows(mark.len()).any(|window| window == mark);
    if has(b"[Content_Types].xml") || has(b"xl/") {
        ("an Excel workbook (.xlsx)", SAVE_AS)
    } else if has(b"opendocument") {
        ("a workbook of LibreOffice (.ods)", SAVE_AS)
    } else if has(b".npy") {
        ("an archive of NumPy (.npz)", WRITE)
    } else {
        ("a ZIP archive", UNPACK)
    }
}

/// Returns whether every other byte of the first line is 0, as where text has two bytes for a character.
fn is_utf16(start: &[u8]) -> bool {
    let pairs = start.chunks_exact(2).take(16);
    let of = |zero: usize| pairs.clone().all(|pair| pair[zero] == 0 && pair[1 - zero] != 0);
    start.len() >= 8 && (of(0) || of(1))
}

/// Returns the error of text that is another kind's.
pub(super) fn of_text(path: &Path, text: &str) -> Option<ObservationsError> {
    let (what, remedy) = match text.trim_start().chars().next()? {
        '{' | '[' => ("JSON", JSON),
        '<' => ("HTML or XML", "save the table as CSV; spreadsheets from web pages are often HTML under another name"),
        _ => return None,
    };
    Some(ObservationsError::Foreign { path: path.to_owned(), what, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sniffer needs four characters and looks at sixteen at most.
    #[test]
    fn text_of_two_bytes_is_known_without_its_mark() {
        let pairs = |count: usize| [b'a', 0].repeat(count);
        for (start, expected) in [
            (pairs(4), true),
            (pairs(4)[..7].to_vec(), false),
            ([0, b'a'].repeat(4), true),
            (vec![0; 8], false),
            ([1, 0].repeat(4), true),
            ([1, 1].repeat(4), false),
            ([pairs(1), vec![b'a'; 2], pairs(6)].concat(), false),
            ([pairs(15), vec![b'a'; 2]].concat(), false),
            ([pairs(16), vec![b'a'; 2]].concat(), true),
        ] {
            assert_eq!(is_utf16(&start), expected, "{start:?}");
        }
    }
}
