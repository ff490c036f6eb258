//! Rows without a group or a value, and decimal marks.

use super::*;

const DROP: CellRules = CellRules { drop_missing: true, decimal: DecimalMark::Point };
const COMMA: CellRules = CellRules { drop_missing: false, decimal: DecimalMark::Comma };

fn read_by(name: &str, bytes: impl AsRef<[u8]>, rules: CellRules) -> Result<GroupedData, ObservationsError> {
    let (_dir, path) = file(name, bytes);
    super::super::read_grouped(&path, "city", "y", rules)
}

/// As `pandas.read_csv(...).dropna(subset=["city", "y"])` has it.
#[test]
fn rows_without_a_group_or_a_value_are_left_out_and_counted() {
    let text = "city,y,z\na,1,\n,2,x\nb,,x\nNA,NA,x\na,NaN,x\nNA,4,x\nb,8,NA\nnull,16,x\nb,nan,\n";
    let data = read_by("a.csv", text, DROP).unwrap();
    assert_eq!((data.values(), data.labels()), (&[1.0, 8.0][..], &Labels::Strings(vec!["a".into(), "b".into()])));
    let left_out = LeftOut { without_value: 4, without_group: 3, comments: 0 };
    assert_eq!(data.left_out(), left_out);
    let columns: Vec<(&str, Unnamed)> = vec![
        ("city", strings(&[Some("a"), None, Some("b"), Some(""), Some("b"), Some("a")])),
        ("y", some_reals([Some(1.0), Some(2.0), None, Some(4.0), Some(8.0), Some(f64::NAN)])),
    ];
    let bytes = parquet_bytes(columns);
    let data = read_by("a.parquet", &bytes, DROP).unwrap();
    assert_eq!((data.values(), data.labels()), (&[1.0, 8.0][..], &Labels::Strings(vec!["a".into(), "b".into()])));
    assert_eq!(data.left_out(), LeftOut { without_value: 2, without_group: 2, comments: 0 });
    // Without it the first such row is refused.
    refuses("a.csv", text, &["line 3 (row 2)", "`city`", "--drop-missing"]);
    refuses("a.parquet", bytes, &["row 2", "`city`", "--drop-missing"]);
    refuses("a.csv", "city,y\na,NA\n", &["line 2 (row 1)", "`NA` stands for a missing value", "--drop-missing"]);
    refuses("a.csv", "city,y\na,NaN\n", &["the value is NaN", "--drop-missing"]);
}

/// As CSV and as Parquet, with each group's name as a cell of text.
fn in_every_format(cities: &[&str], check: impl Fn(&str, &[u8])) {
    let text: String = cities.iter().enumerate().map(|(row, city)| format!("{city},{row}\n")).collect();
    check("a.csv", format!("city,y\n{text}").as_bytes());
    let values = some_reals((0..cities.len()).map(|row| Some(row as f64)));
    let words = strings(&cities.iter().copied().map(Some).collect::<Vec<_>>());
    check("a.parquet", &parquet_bytes(vec![("city", words), ("y", values)]));
}

#[test]
fn words_for_missing_labels_are_left_out_of_every_format() {
    in_every_format(&["a", "NA", "b", "n/a", " null ", "NAB"], |name, bytes| {
        let data = read_by(name, bytes, DROP).unwrap();
        assert_eq!(data.values(), [0.0, 2.0, 5.0], "{name}");
        assert_eq!(data.left_out(), LeftOut { without_value: 0, without_group: 3, comments: 0 }, "{name}");
        // Without the option they are names, of which a warning is given before sampling.
        assert_eq!(read_by(name, bytes, CellRules::default()).unwrap().groups(), 6, "{name}");
    });
    let columns: Vec<(&str, Unnamed)> = vec![
        ("study", strings(&[Some("s"), Some("NA")])),
        ("city", strings(&[Some("a"), Some("a")])),
        ("y", reals(&[1.0, 2.0])),
    ];
    let (_dir, path) = file("a.parquet", parquet_bytes(columns));
    let found = super::super::read_sets(&path, &two("city", "y"), "study", DROP).unwrap();
    assert_eq!((found.sets.len(), found.without_set), (1, 1));
}

#[test]
fn spaces_around_labels_are_dropped_in_every_format() {
    in_every_format(&["a", " a", "a ", "b c", "\u{a0}a\t"], |name, bytes| {
        let data = read_by(name, bytes, CellRules::default()).unwrap();
        assert_eq!(data.labels(), &Labels::Strings(vec!["a".into(), "b c".into()]), "{name}");
        assert_eq!(data.values(), [0.0, 1.0, 2.0, 4.0, 3.0], "{name}");
    });
    in_every_format(&["a", "  "], |name, bytes| {
        let message = read_by(name, bytes, CellRules::default()).unwrap_err().to_string();
        assert!(message.contains("(row 2)") || message.contains("row 2,"), "{message}");
        assert!(message.contains("column `city`: the cell is empty"), "{message}");
        assert_eq!(read_by(name, bytes, DROP).unwrap().left_out().without_group, 1, "{name}");
    });
    in_every_format(&[" 7", "7 "], |name, bytes| {
        assert_eq!(read_by(name, bytes, CellRules::default()).unwrap().labels(), &Labels::Integers(vec![7]), "{name}");
    });
}

#[test]
fn what_is_wrong_is_never_left_out() {
    for text in ["city,y\na,1\nb,two\n", "city,y\na,1\n,two\n", "city,y\na,1\nb,inf\n", "city,y\na,1\nb,1e999\n"] {
        let message = read_by("a.csv", text, DROP).unwrap_err().to_string();
        assert!(message.contains("line 3 (row 2), column `y`"), "{message}");
    }
    let message = read_by("a.csv", "city,y\na,\n,2\n", DROP).unwrap_err().to_string();
    assert!(message.contains("has no observations: 1 row without a value, 1 row without a group"), "{message}");
}

#[test]
fn each_data_set_counts_its_own() {
    let (_dir, path) = file("a.csv", "city,y,study\na,1,s\na,,s\nb,2,t\n,4,t\nb,,u\na,8,\na,16,NA\n");
    let found = super::super::read_sets(&path, &two("city", "y"), "study", DROP).unwrap();
    assert_eq!(found.without_set, 2);
    let counts = |left_out: LeftOut| (left_out.without_value, left_out.without_group);
    let shown: Vec<_> = found
        .sets
        .iter()
        .map(|(name, data)| (name.as_str(), data.as_ref().map(|data| (data.rows(), counts(data.left_out())))))
        .collect();
    assert!(matches!(shown[..2], [("s", Ok((1, (1, 0)))), ("t", Ok((1, (0, 1))))]), "{shown:?}");
    let error = found.sets[2].1.as_ref().unwrap_err().to_string();
    assert!(error.contains("data set `u`, has no observations: 1 row without a value"), "{error}");
    let message = read_sets(&path, "city", "y", "study").unwrap_err().to_string();
    assert!(message.contains("line 3 (row 2)"), "{message}");
}

#[test]
fn decimals_have_the_mark_that_was_given() {
    for (name, text) in [
        ("a.csv", "city;y\na;1,5\nb;-2,25e1\n"),
        ("a.tsv", "city\ty\na\t1,5\nb\t-2,25e1\n"),
        ("a.csv", "city,y\na,\"1,5\"\nb,\"-2,25e1\"\n"),
    ] {
        assert_eq!(read_by(name, text, COMMA).unwrap().values(), [1.5, -22.5], "{text}");
    }
    for (text, words) in [
        ("city;y\na;1.5\n", "`1.5` has a decimal point"),
        ("city;y\na;1.234,5\n", "`1.234,5` has a separator (`.`) between thousands"),
        ("city;y\na;1 234,5\n", "`1 234,5` has a separator (` `) between thousands"),
        ("city,y\na,1,5\n", "has 3 cells"),
    ] {
        let message = read_by("a.csv", text, COMMA).unwrap_err().to_string();
        assert!(message.contains("line 2 (row 1)") && message.contains(words), "{message}");
    }
    let parquet = parquet_bytes(vec![("city", strings(&[Some("a")])), ("y", reals(&[1.0]))]);
    let message = read_by("a.parquet", parquet, COMMA).unwrap_err().to_string();
    assert!(message.contains("--decimal") && message.contains("Parquet"), "{message}");
}

#[test]
fn no_column_is_two_things() {
    let (_dir, path) = file("a.csv", "city,y,study\n1,2,3\n");
    let message = read_grouped(&path, "y", "y").unwrap_err().to_string();
    assert!(message.contains("column `y` cannot be that of groups and of values"), "{message}");
    let message = read_sets(&path, "city", "y", "city").unwrap_err().to_string();
    assert!(message.contains("column `city` cannot be that of groups and of data sets"), "{message}");
}
