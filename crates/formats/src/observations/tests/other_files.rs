//! Files of other programs and folders that are given for a table.

use super::*;

/// The beginning of a ZIP archive whose first file has this name.
fn zip(name: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00\x21\x00".to_vec();
    bytes.extend([0; 12]);
    bytes.extend([name.len() as u8, 0, 0, 0]);
    bytes.extend(name.as_bytes());
    bytes.extend([1; 40]);
    bytes
}

fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2], mark: bool) -> Vec<u8> {
    let mark = mark.then_some('\u{feff}');
    mark.into_iter().chain(text.chars()).flat_map(|char| bytes_of(char as u16)).collect()
}

#[test]
fn files_of_other_programs_are_named_with_what_to_do() {
    let table = "city,y\na,1\nb,2\n";
    let mut tar = vec![b'a'; 257];
    tar.extend(b"ustar\x0000");
    for (name, bytes, words) in [
        ("y.xlsx", zip("[Content_Types].xml"), ["an Excel workbook (.xlsx)", "CSV UTF-8"]),
        ("y.csv", zip("xl/workbook.xml"), ["an Excel workbook (.xlsx)", "CSV UTF-8"]),
        ("y.ods", zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), ["(.ods)", "CSV UTF-8"]),
        ("y.zip", zip("y.csv"), ["a ZIP archive", "unpack it"]),
        ("y.npz", zip("y.npy"), [".npz", "CSV or Parquet"]),
        ("y.xls", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest".to_vec(), ["(.xls)", "CSV UTF-8"]),
        ("y.feather", b"ARROW1\x00\x00rest".to_vec(), ["Arrow IPC (Feather)", "to_parquet"]),
        ("y.feather", b"FEA1rest".to_vec(), ["Feather", "to_parquet"]),
        ("y.arrows", b"\xFF\xFF\xFF\xFF\x10\x00\x00\x00".to_vec(), ["stream of Arrow IPC", "to_parquet"]),
        ("y.csv.bz2", b"BZh91AY&SY".to_vec(), ["bzip2", "unpack it"]),
        ("y.csv.xz", b"\xFD7zXZ\x00\x00".to_vec(), ["xz", "unpack it"]),
        ("y.tar", tar, ["tar archive", "unpack it"]),
        ("y.json", b"[{\"city\": \"a\", \"y\": 1}]".to_vec(), ["is JSON", "to_csv"]),
        ("y.jsonl", b"{\"city\": \"a\", \"y\": 1}\n".to_vec(), ["is JSON", "to_csv"]),
        ("y.xls", b"<html><table>".to_vec(), ["HTML or XML", "as CSV"]),
        ("y.nc", b"\x89HDF\r\n\x1a\n".to_vec(), ["HDF5 or NetCDF", "CSV or Parquet"]),
        ("y.db", b"SQLite format 3\x00".to_vec(), ["SQLite", "export"]),
        ("y.parquet", b"FEA1rest".to_vec(), ["Feather", "to_parquet"]),
        ("y.csv", utf16(table, u16::to_le_bytes, true), ["UTF-16", "iconv -f UTF-16"]),
        ("y.csv", utf16(table, u16::to_be_bytes, true), ["UTF-16", "iconv -f UTF-16"]),
        ("y.csv", utf16(table, u16::to_le_bytes, false), ["UTF-16", "iconv -f UTF-16"]),
        ("y.csv", utf16(table, u16::to_be_bytes, false), ["UTF-16", "iconv -f UTF-16"]),
    ] {
        refuses(name, bytes, &words);
    }
    // A table may begin as JSON does.
    assert_eq!(read_text("a.csv", "[x],city,y\n1,a,2\n").unwrap().values(), [2.0]);
}

#[test]
fn what_is_packed_is_looked_at_too() {
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let columns = || -> Vec<(&str, Unnamed)> { vec![("city", strings(&[Some("a")])), ("y", reals(&[1.5]))] };
    let (_dir, path) = file("a.parquet.gz", gzip(&parquet_bytes(columns())));
    assert_eq!(read_grouped(&path, "city", "y").unwrap().values(), [1.5]);
    refuses("a.xlsx.gz", gzip(&zip("xl/workbook.xml")), &["an Excel workbook"]);
    refuses("a.csv.gz", gzip(b"city,y\nS\xe3o,1\n"), &["line 2, column 2", "iconv"]);
    refuses("a.csv.gz", gzip(b"city,y\na,1\n\0\n"), &["it holds binary data"]);
}

/// As DuckDB, Spark and pyarrow write them: `COPY ... TO 'y' (FORMAT parquet, PARTITION_BY (year, city))`.
#[test]
fn a_folder_of_parquet_files_is_one_table() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, columns: Vec<(&str, Unnamed)>| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, parquet_bytes(columns)).unwrap();
    };
    let y = |values: &[f64]| -> Unnamed { reals(values) };
    write("t/year=2024/city=S%C3%A3o%20Paulo/part-0.parquet", vec![("y", y(&[1.0, 2.0]))]);
    write("t/year=2023/city=oslo/part-0.parquet", vec![("y", y(&[4.0]))]);
    write("t/year=2024/city=oslo/part-1.parquet", vec![("y", y(&[8.0]))]);
    fs::write(dir.path().join("t/_SUCCESS"), "").unwrap();
    let table = dir.path().join("t");
    let data = read_grouped(&table, "city", "y").unwrap();
    assert_eq!(data.labels(), &Labels::Strings(vec!["oslo".into(), "São Paulo".into()]));
    assert_eq!(data.values(), [4.0, 8.0, 1.0, 2.0]);
    let years = read_grouped(&table, "year", "y").unwrap();
    assert_eq!((years.labels(), years.values()), (&Labels::Integers(vec![2023, 2024]), &[4.0, 1.0, 2.0, 8.0][..]));
    let sets = read_sets(&table, "city", "y", "year").unwrap();
    assert_eq!(
        sets.iter().map(|(name, data)| (name.as_str(), data.groups())).collect::<Vec<_>>(),
        [("2023", 1), ("2024", 2)]
    );
    let message = read_grouped(&table, "town", "y").unwrap_err().to_string();
    assert!(message.contains("no column `town`") && message.contains("`year`, `city`"), "{message}");
    // What is wrong is in one of the files.
    write("t/year=2025/city=__HIVE_DEFAULT_PARTITION__/part-0.parquet", vec![("y", y(&[16.0]))]);
    let message = read_grouped(&table, "city", "y").unwrap_err().to_string();
    assert!(message.contains("part-0.parquet: row 1, column `city`: the cell is empty"), "{message}");
    let rules = CellRules { drop_missing: true, ..CellRules::default() };
    let data = super::super::read_grouped(&table, "city", "y", rules).unwrap();
    assert_eq!((data.values().len(), data.left_out().without_group), (4, 1));
    // Files without folders of columns, such as those of Spark.
    for part in ["flat/part-00000.snappy.parquet", "flat/part-00001.snappy.parquet"] {
        write(part, vec![("city", strings(&[Some("a"), Some("b")])), ("y", y(&[1.0, 2.0]))]);
    }
    assert_eq!(read_grouped(&dir.path().join("flat"), "city", "y").unwrap().values(), [1.0, 1.0, 2.0, 2.0]);
    let message = read_grouped(dir.path(), "city", "y").unwrap_err().to_string();
    assert!(message.contains("is a folder") && message.contains("`flat` in it"), "{message}");
}
