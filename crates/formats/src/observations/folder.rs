//! A folder of Parquet files that are one table, as Spark, DuckDB, Polars and pyarrow write them: folders in it such as
//! `year=2024` (Hive's partitions) are columns.

use super::{ColumnKind, DecimalMark, ObservationsError, number};
use std::fs;
use std::path::{Path, PathBuf};

/// How deep folders lie in each other at the most.
const DEPTH: usize = 16;
/// What stands for a missing value in the name of a folder.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";
/// Folders that say that not all files beside them are of the table: older versions of it are among them.
const VERSIONED: [(&str, &str); 2] = [("_delta_log", "Delta"), (".hoodie", "Hudi")];

/// One file of the table, with the columns that its folders give it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartitionFile {
    pub(super) path: PathBuf,
    /// Names and values; `None` where the value is missing.
    pub(super) columns: Vec<(String, Option<String>)>,
}

/// Returns the files of the table in a folder, in the order of their paths.
///
/// # Errors
/// When the folder cannot be read, or is no table of Parquet files.
pub(super) fn parts(folder: &Path) -> Result<Vec<PartitionFile>, ObservationsError> {
    let mut found = Vec::new();
    collect(folder, folder, &[], &mut found)?;
    let not_one = |what: String| ObservationsError::NotOneTable { path: folder.to_owned(), what };
    let Some(first) = found.first() else { return Err(not_one("it holds no Parquet files".to_owned())) };
    let names = |part: &PartitionFile| part.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if let Some(other) = found.iter().find(|part| names(part) != names(first)) {
        let shown = |part: &PartitionFile| part.path.strip_prefix(folder).unwrap_or(&part.path).display().to_string();
        return Err(not_one(format!("{} and {} lie in folders of other columns", shown(first), shown(other))));
    }
    Ok(found)
}

/// Returns the kinds of the columns that the folders give, by all their values.
pub(super) fn kinds(parts: &[PartitionFile]) -> Vec<ColumnKind> {
    let columns = parts.first().map_or(0, |part| part.columns.len());
    let kind = |at: usize| {
        let cells = parts.iter().filter_map(|part| part.columns.get(at)?.1.as_deref());
        number::kind(cells, DecimalMark::Point).unwrap_or(ColumnKind::Label)
    };
    (0..columns).map(kind).collect()
}

fn collect(
    top: &Path,
    folder: &Path,
    columns: &[(String, Option<String>)],
    found: &mut Vec<PartitionFile>,
) -> Result<(), ObservationsError> {
    let failed = |source| ObservationsError::Io { path: folder.to_owned(), source };
    let not_one = |what: String| Err(ObservationsError::NotOneTable { path: top.to_owned(), what });
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((_, format)) = VERSIONED.iter().find(|(known, _)| *known == name) {
            return not_one(format!("it is a {format} table, whose folder holds older versions too: export it"));
        }
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            let Some((column, value)) = name.split_once('=').filter(|_| columns.len() < DEPTH) else {
                return not_one(format!("`{name}` in it is no folder such as `year=2024`"));
            };
            let (column, value) = (unescaped(column), unescaped(value));
            let within = [columns, &[(column, Some(value).filter(|value| value != NULL))]].concat();
            collect(top, &path, &within, found)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            found.push(PartitionFile { path, columns: columns.to_vec() });
        } else {
            return not_one(format!("`{name}` in it is no Parquet file"));
        }
    }
    Ok(())
}

/// Returns the text that stands in a folder's name with characters such as `%20`.
fn unescaped(text: &str) -> String {
    let (bytes, mut plain, mut at) = (text.as_bytes(), Vec::new(), 0);
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_unescaped() {
        for (name, text) in
            [("a%20b", "a b"), ("a%2Fb%3D", "a/b="), ("100%", "100%"), ("%zz", "%zz"), ("%gg", "%gg"), ("%ff", "%ff")]
        {
            assert_eq!(unescaped(name), text);
        }
    }

    #[test]
    fn folders_that_are_not_one_table_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let told = || parts(dir.path()).unwrap_err().to_string();
        let file = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert!(told().contains("holds no Parquet files"), "{}", told());
        file("year=2024/city=a%20b/p.parquet");
        file("year=__HIVE_DEFAULT_PARTITION__/city=c/q.parquet");
        file("_SUCCESS");
        let columns: Vec<_> = parts(dir.path()).unwrap().into_iter().map(|part| part.columns).collect();
        let column = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(
            columns,
            [
                vec![column("year", Some("2024")), column("city", Some("a b"))],
                vec![column("year", None), column("city", Some("c"))],
            ]
        );
        file("year=2025/r.parquet");
        assert!(told().contains("folders of other columns"), "{}", told());
        fs::remove_dir_all(dir.path().join("year=2025")).unwrap();
        file("draws/r.parquet");
        assert!(told().contains("`draws` in it is no folder such as"), "{}", told());
        fs::remove_dir_all(dir.path().join("draws")).unwrap();
        file("y.csv");
        assert!(told().contains("`y.csv` in it is no Parquet file"), "{}", told());
        file("_delta_log/0.json");
        assert!(told().contains("Delta"), "{}", told());
    }

    #[test]
    fn folders_lie_sixteen_deep_in_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut within = dir.path().to_owned();
        for depth in 1..=17 {
            within.push(format!("c{depth}=1"));
            fs::create_dir(&within).unwrap();
            if depth == 16 {
                fs::write(within.join("p.parquet"), "").unwrap();
                assert_eq!(parts(dir.path()).unwrap()[0].columns.len(), 16);
            }
        }
        assert!(parts(dir.path()).unwrap_err().to_string().contains("`c17=1` in it is no folder such as"));
    }
}
