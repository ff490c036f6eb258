//! Good and bad tables.

mod missing;
mod other_files;
mod places;
mod tables;
mod types;

use super::*;
use crate::parquet_files::sample::*;
use octopus_trace::Labels;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

fn read_grouped(path: &Path, group: &str, value: &str) -> Result<GroupedData, ObservationsError> {
    super::read_grouped(path, group, value, CellRules::default())
}

fn read_sets(
    path: &Path,
    group: &str,
    value: &str,
    set: &str,
) -> Result<Vec<(String, GroupedData)>, ObservationsError> {
    let found = super::read_sets(path, &two(group, value), set, CellRules::default())?;
    found.sets.into_iter().map(|(name, data)| Ok((name, data?.into_grouped(GROUPS, VALUES)?))).collect()
}

/// The columns of grouped observations.
fn two(group: &str, value: &str) -> TableColumns {
    TableColumns::groups_and_values(group, value)
}

fn file(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn read_text(name: &str, text: &str) -> Result<GroupedData, ObservationsError> {
    let (_dir, path) = file(name, text);
    read_grouped(&path, "city", "y")
}

/// The message must name the file and all of `words`.
fn refuses(name: &str, bytes: impl AsRef<[u8]>, words: &[&str]) {
    let (_dir, path) = file(name, bytes);
    let message = read_grouped(&path, "city", "y").unwrap_err().to_string();
    for word in words.iter().chain([&name]) {
        assert!(message.contains(word), "{word:?} not in: {message}");
    }
}

#[test]
fn labels_keep_the_order_of_first_appearance() {
    let text = "y,city,other\n1.5,oslo,x\n-2,\"são, paulo\",x\n3e2, oslo ,x\n";
    let data = read_text("a.csv", text).unwrap();
    assert_eq!(data.labels(), &Labels::Strings(vec!["oslo".into(), "são, paulo".into()]));
    assert_eq!(data.values(), [1.5, 300.0, -2.0]);
    for (name, text) in [
        ("a.csv", "\u{feff}city;y\r\n3;1\r\n-1;2\r\n3;4\r\n"),
        ("a.tsv", "city\ty\n3\t1\n-1\t2\n3\t4\n"),
        ("a.txt", "city\ty\n3\t1\n\n-1\t2\n3\t4"),
    ] {
        let data = read_text(name, text).unwrap();
        assert_eq!(data.labels(), &Labels::Integers(vec![3, -1]));
        assert_eq!(data.values(), [1.0, 4.0, 2.0]);
    }
    let data = read_text("a.csv", "city,y\n007,1\n7,2\n").unwrap();
    assert_eq!(data.labels(), &Labels::Strings(vec!["007".into(), "7".into()]));
}

/// Each data set has its own groups, by their first appearance in it.
#[test]
fn a_column_tells_the_data_sets() {
    let (_dir, csv) = file("a.csv", "city,y,study\n3,1,b\n-1,2,a\n3,4,b\n5,8,b\n-1,16,a\n3,32,a\n");
    let columns: Vec<(&str, Unnamed)> = vec![
        ("study", strings(&[Some("b"), Some("a"), Some("b"), Some("b"), Some("a"), Some("a")])),
        ("city", wholes(16, true, &[3, -1, 3, 5, -1, 3].map(Some))),
        ("y", reals(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])),
    ];
    let (_dir2, parquet) = file("a.parquet", parquet_bytes(columns));
    for path in [&csv, &parquet] {
        let sets = read_sets(path, "city", "y", "study").unwrap();
        let shown: Vec<_> = sets.iter().map(|(name, data)| (name.as_str(), data.labels(), data.values())).collect();
        let (b, a) = (Labels::Integers(vec![3, 5]), Labels::Integers(vec![-1, 3]));
        assert_eq!(shown, [("b", &b, &[1.0, 4.0, 8.0][..]), ("a", &a, &[2.0, 16.0, 32.0])]);
        let message = read_sets(path, "city", "y", "studies").unwrap_err().to_string();
        assert!(message.contains("did you mean `study`"), "{message}");
    }
    let (_dir, path) = file("b.csv", "city,y,study\n3,1,b\n-1,2,\n");
    let message = read_sets(&path, "city", "y", "study").unwrap_err().to_string();
    assert!(
        message.contains("line 3 (row 2)") && message.contains("`study`") && message.contains("empty"),
        "{message}"
    );
}

#[test]
fn bad_csv_is_told_by_row_column_and_value() {
    refuses("a.csv", "city,y\na,1\nb,two\n", &["line 3", "`y`", "`two`", "not a number"]);
    refuses("a.csv", "city;y\na;1,5\n", &["line 2", "`1,5`", "decimals with a point", "--decimal ,"]);
    refuses("a.csv", "city;y\na;1,x\n", &["line 2", "`1,x`", "correct it"]);
    refuses("a.csv", "city;y\na;1,234,567\n", &["line 2", "`1,234,567`", "separator (`,`) between thousands"]);
    refuses("a.csv", "city,y\na,\n", &["line 2", "`y`", "empty"]);
    refuses("a.csv", "city,y\n\"\",1\n", &["line 2", "`city`", "empty"]);
    refuses("a.csv", "city,y\na,1\na,NaN\n", &["line 3", "`y`", "NaN", "finite"]);
    refuses("a.csv", "city,y\na,-inf\n", &["line 2", "-inf"]);
    refuses("a.csv", "city,y\na,1e999\n", &["line 2", "inf"]);
    refuses("a.csv", "city,y\na,1,2\n", &["line 2", "3 cells", "2"]);
    refuses("a.csv", "city,y\n\"a\nb\",1\nc,x\n", &["line 4", "`x`"]);
    refuses("a.csv", "city,y\n", &["no observations"]);
    refuses("a.csv", "", &["empty", "header line"]);
    refuses("a.csv", "city,y,y\na,1,2\n", &["two columns `y`"]);
    refuses("a.csv", "City,value\na,1\n", &["no column `city`", "did you mean `City`", "`value`"]);
    refuses("a.csv", "city,value\na,1\n", &["no column `y`", "`city`, `value`"]);
    refuses("a.csv", b"city,y\n\xff\xfe,1\n", &["line 2, column 1", "0xFF", "UTF-8"]);
    refuses("a.csv", b"\x7fELF\x00\x01", &["not a table", "binary"]);
    let missing = Path::new("no/such/file.csv");
    let message = read_grouped(missing, "city", "y").unwrap_err().to_string();
    assert!(message.contains("no/such/file.csv") && message.contains("--data"), "{message}");
}

#[test]
fn compressed_text_is_unpacked() {
    let text = "city,y\na,1\nb,2.5\na,-3\n".to_owned();
    let rows: String = (0..30_000).map(|k| format!("{},{}\n", k % 7, k)).collect();
    let long = format!("city,y\n{rows}");
    for text in [text, long] {
        let (_dir, plain) = file("y.csv", text.as_bytes());
        let expected = read_grouped(&plain, "city", "y").unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut gzip = gzip.finish().unwrap();
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let mut zstandard = ruzstd::encoding::compress_to_vec(text.as_bytes(), level);
        for (name, bytes) in [("y.csv.gz", &gzip), ("y.csv.zst", &zstandard), ("any", &gzip)] {
            let (_dir, path) = file(name, bytes);
            assert_eq!(read_grouped(&path, "city", "y").unwrap(), expected, "{name}");
            let (_dir, cut) = file(name, &bytes[..bytes.len() / 2]);
            let message = read_grouped(&cut, "city", "y").unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("is damaged"), "{message}");
        }
        // Files that were joined are one.
        let mut more = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        more.write_all(b"c,7\n").unwrap();
        gzip.extend(more.finish().unwrap());
        let (_dir, path) = file("y.csv.gz", &gzip);
        assert_eq!(read_grouped(&path, "city", "y").unwrap().values().len(), expected.values().len() + 1);
        zstandard.extend(ruzstd::encoding::compress_to_vec(&b"c,7\n"[..], level));
        let (_dir, path) = file("y.csv.zst", &zstandard);
        assert_eq!(read_grouped(&path, "city", "y").unwrap().values().len(), expected.values().len() + 1);
    }
}

/// A pipe has its bytes once.
#[cfg(unix)]
#[test]
fn pipes_are_read_once() {
    let columns: Vec<(&str, Unnamed)> =
        vec![("city", strings(&[Some("a"), Some("b"), Some("a")])), ("y", reals(&[1.0, 2.5, -3.0]))];
    let long: String = (0..50_000).map(|k| format!("{},{}\n", k % 7, k)).collect();
    for (bytes, rows) in [
        (b"city,y\na,1\nb,2.5\na,-3\n".to_vec(), 3),
        (format!("city,y\n{long}").into_bytes(), 50_000),
        (parquet_bytes(columns), 3),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let data = std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(&pipe, &bytes).unwrap());
            read_grouped(&pipe, "city", "y").unwrap()
        });
        assert_eq!(data.values().len(), rows);
    }
    let message = read_grouped(Path::new("/dev/zero"), "city", "y").unwrap_err().to_string();
    assert!(message.contains("/dev/zero is not a table: it holds binary data"), "{message}");
}

#[test]
fn twenty_columns_are_named() {
    for (columns, told) in [(20, "`c18`, `c19`"), (21, "`c18`, `c19` and 1 more"), (22, "`c18`, `c19` and 2 more")] {
        let header: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
        let message = read_text("a.csv", &format!("{}\n", header.join(","))).unwrap_err().to_string();
        assert!(message.ends_with(told), "{message}");
    }
}

#[test]
fn parquet_of_many_types() {
    let groups: [(Unnamed, Labels); 2] = [
        (strings(&[Some("b"), Some("a"), Some("b")]), Labels::Strings(vec!["b".into(), "a".into()])),
        (wholes(16, true, &[9, -9, 9].map(Some)), Labels::Integers(vec![9, -9])),
    ];
    let values: [Unnamed; 3] =
        [reals(&[1.0, 2.0, 4.0]), singles(&[1.0, 2.0, 4.0].map(Some)), wholes(16, true, &[1, 2, 4].map(Some))];
    for (group, labels) in &groups {
        for value in &values {
            let bytes = parquet_bytes(vec![("x", strings(&[None; 3])), ("city", group.clone()), ("y", value.clone())]);
            // With its extension, and without: by its first bytes.
            for name in ["a.parquet", "a.dat"] {
                let (_dir, path) = file(name, &bytes);
                let data = read_grouped(&path, "city", "y").unwrap();
                assert_eq!(data.labels(), labels);
                assert_eq!(data.values(), [1.0, 4.0, 2.0]);
            }
        }
    }
}

#[test]
fn integers_of_every_width_are_labels_and_values() {
    let columns: [Unnamed; 8] = [
        wholes(8, true, &[9, 1, 9].map(Some)),
        wholes(16, true, &[9, 1, 9].map(Some)),
        integers(&[9, 1, 9]),
        wholes(64, true, &[9, 1, 9].map(Some)),
        wholes(8, false, &[9, 1, 9].map(Some)),
        wholes(16, false, &[9, 1, 9].map(Some)),
        wholes(32, false, &[9, 1, 9].map(Some)),
        wholes(64, false, &[9, 1, 9].map(Some)),
    ];
    for column in columns {
        let (_dir, path) = file("a.parquet", parquet_bytes(vec![("city", column.clone()), ("y", column.clone())]));
        let data = read_grouped(&path, "city", "y").unwrap();
        assert_eq!(data.labels(), &Labels::Integers(vec![9, 1]), "{column:?}");
        assert_eq!(data.values(), [9.0, 9.0, 1.0], "{column:?}");
    }
}

/// Reads two columns of pyarrow's file `types.parquet`, without the rows that lack a cell: `tests/data/make_parquet.py`.
fn of_types(group: &str, value: &str) -> Result<GroupedData, ObservationsError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/types.parquet");
    super::read_grouped(&path, group, value, CellRules { drop_missing: true, ..CellRules::default() })
}

#[test]
fn text_of_every_kind_is_a_label() {
    for column in ["text", "large", "view", "city"] {
        let data = of_types(column, "uint32").unwrap();
        let c = if column == "text" {
            "são"
        } else if column == "city" {
            "rome"
        } else {
            "b"
        };
        let first = if column == "city" { "oslo" } else { "a" };
        assert_eq!(data.labels(), &Labels::Strings(vec![first.into(), c.into()]), "{column}");
    }
}

#[test]
fn bad_parquet_is_told() {
    let city = || ("city", strings(&[Some("a"), Some("b")]));
    let reals = |values: &[Option<f64>]| some_reals(values.iter().copied());
    let with = |value: Unnamed| parquet_bytes(vec![city(), ("y", value)]);
    refuses("a.parquet", with(strings(&[Some("1"), Some("2")])), &["`y`", "Utf8", "numbers"]);
    refuses("a.parquet", with(reals(&[Some(1.0), None])), &["row 2", "`y`", "empty"]);
    refuses("a.parquet", with(reals(&[Some(f64::NAN), None])), &["row 1", "`y`", "NaN"]);
    refuses("a.parquet", with(reals(&[Some(1.0), Some(f64::INFINITY)])), &["row 2", "inf"]);
    let groups = reals(&[Some(1.0), Some(2.0)]);
    refuses("a.parquet", parquet_bytes(vec![("city", groups.clone()), ("y", groups.clone())]), &["`city`", "Float64"]);
    let nulls = strings(&[Some("a"), None]);
    refuses("a.parquet", parquet_bytes(vec![("city", nulls), ("y", groups.clone())]), &["row 2", "`city`", "empty"]);
    refuses("a.parquet", parquet_bytes(vec![city(), ("Y", groups)]), &["no column `y`", "`Y`"]);
    refuses("a.parquet", parquet_bytes(vec![("city", strings(&[])), ("y", reals(&[]))]), &["no observations"]);
    refuses("a.parquet", "city,y\na,1\n", &["damaged"]);
}

/// Files of pyarrow: `tests/data/make_parquet.py`.
#[test]
fn compressed_parquet_is_read_or_told() {
    let read = |codec: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{codec}.parquet"));
        read_grouped(&path, "city", "y")
    };
    let mut codecs = vec!["gzip", "snappy"];
    if cfg!(feature = "zstd") {
        codecs.push("zstd");
    } else {
        let message = read("zstd").unwrap_err().to_string();
        assert!(message.contains("ZSTD") && message.contains("Snappy"), "{message}");
    }
    for codec in codecs {
        let data = read(codec).unwrap();
        assert_eq!(data.labels(), &Labels::Strings(vec!["oslo".into(), "rome".into()]));
        assert_eq!(data.values(), [1.0, 4.0, 2.0]);
    }
}

/// Octopus cannot unpack the column `note` of `brotli.parquet`, and reads the others.
#[test]
fn a_codec_that_is_not_known_is_told_where_it_matters() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/brotli.parquet");
    assert_eq!(read_grouped(&path, "city", "y").unwrap().values(), [1.0, 4.0, 2.0]);
    let error = read_grouped(&path, "note", "y").unwrap_err();
    assert!(matches!(&error, ObservationsError::Codec { codec, .. } if codec == "BROTLI"), "{error}");
}

#[test]
fn damaged_parquet_never_panics() {
    let n = 400;
    let towns: Vec<String> = (0..n).map(|i| format!("town {}", i % 7)).collect();
    let city = strings(&towns.iter().map(|town| Some(town.as_str())).collect::<Vec<_>>());
    let y = reals(&(0..n).map(f64::from).collect::<Vec<_>>());
    let good = parquet_bytes(vec![("city", city), ("y", y)]);
    let (_dir, path) = file("a.parquet", &good);
    read_grouped(&path, "city", "y").unwrap();
    for len in (0..good.len()).step_by(11) {
        fs::write(&path, &good[..len]).unwrap();
        let message = read_grouped(&path, "city", "y").unwrap_err().to_string();
        assert!(message.contains("a.parquet"), "{message}");
    }
    for byte in 0..good.len() {
        let mut bad = good.clone();
        bad[byte] ^= [0x01, 0x80, 0xff][byte % 3];
        fs::write(&path, &bad).unwrap();
        // Some bits are values: the table then reads, with another number.
        let _ = read_grouped(&path, "city", "y");
    }
}
