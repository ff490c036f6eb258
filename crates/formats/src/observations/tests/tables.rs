//! Tables of many columns: numbers, whole numbers and labels.

use super::*;

fn column(name: &str, column: &str, kind: ColumnKind) -> TableColumn {
    TableColumn { name: name.to_owned(), column: column.to_owned(), kind: Some(kind) }
}

/// Four columns, two of them under other names than the file's.
fn four() -> TableColumns {
    TableColumns::These(vec![
        column("age", "age", ColumnKind::Real),
        column("income", "INC", ColumnKind::Real),
        column("city", "town", ColumnKind::Label),
        column("smoker", "smoker", ColumnKind::Integer),
    ])
}

const TEXT: &str = "note,town,age,smoker,INC\nx,oslo,31,1,1.5\n,rio,45.5,0,-2e3\ny,oslo,28,1.0,0.1\n";

fn parquet() -> Vec<u8> {
    parquet_bytes(vec![
        ("note", strings(&[Some("x"), None, Some("y")])),
        ("town", strings(&[Some("oslo"), Some("rio"), Some("oslo")])),
        ("age", singles(&[31.0, 45.5, 28.0].map(Some))),
        ("smoker", wholes(8, false, &[1, 0, 1].map(Some))),
        ("INC", reals(&[1.5, -2e3, 0.1])),
    ])
}

fn is_the_table(data: &DataTable) {
    assert_eq!(data.rows(), 3);
    assert_eq!(*data.real("age").unwrap(), [31.0, 45.5, 28.0]);
    assert_eq!(*data.real("income").unwrap(), [1.5, -2e3, 0.1]);
    assert_eq!(data.integer("smoker").unwrap(), [1, 0, 1]);
    assert_eq!(*data.real("smoker").unwrap(), [1.0, 0.0, 1.0]);
    let city = data.labels("city").unwrap();
    assert_eq!((city.codes(), city.labels()), (&[0, 1, 0][..], &Labels::Strings(vec!["oslo".into(), "rio".into()])));
    let names: Vec<&str> = data.columns().map(|(name, _)| name).collect();
    assert_eq!(names, ["age", "income", "city", "smoker"]);
}

#[test]
fn columns_of_many_kinds_are_read_alike_in_every_format() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TEXT.as_bytes()).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    for (name, bytes) in [
        ("a.csv", TEXT.as_bytes().to_vec()),
        ("a.csv", TEXT.replace(',', ";").into_bytes()),
        ("a.tsv", TEXT.replace(',', "\t").into_bytes()),
        ("a.csv.gz", gzip.finish().unwrap()),
        ("a.csv.zst", ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), level)),
        ("a.parquet", parquet()),
    ] {
        let (_dir, path) = file(name, bytes);
        is_the_table(&read_table(&path, &four(), CellRules::default()).unwrap());
    }
    let (_dir, path) = file("a.csv", TEXT.replace(',', ";").replace('.', ","));
    let comma = CellRules { decimal: DecimalMark::Comma, ..CellRules::default() };
    is_the_table(&read_table(&path, &four(), comma).unwrap());
}

/// In a folder, the names of folders are columns of the kinds that all of them have.
#[test]
fn folders_give_columns_of_every_kind() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, count: &[i64]| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            path,
            parquet_bytes(vec![("count", wholes(64, true, &count.iter().copied().map(Some).collect::<Vec<_>>()))]),
        )
        .unwrap();
    };
    write("dose=0.5/year=2023/site=1/p.parquet", &[3]);
    write("dose=1/year=2024/site=b/p.parquet", &[4, 5]);
    let data = read_table(dir.path(), &TableColumns::All, CellRules::default()).unwrap();
    let kinds: Vec<_> = data.columns().map(|(name, values)| (name.to_owned(), values.kind())).collect();
    let expected = [
        ("count", ColumnKind::Integer),
        ("dose", ColumnKind::Real),
        ("year", ColumnKind::Integer),
        ("site", ColumnKind::Label),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(*data.real("dose").unwrap(), [0.5, 1.0, 1.0]);
    assert_eq!(
        (data.integer("count").unwrap(), data.integer("year").unwrap()),
        (&[3, 4, 5][..], &[2023, 2024, 2024][..])
    );
    assert_eq!(data.labels("site").unwrap().labels(), &Labels::Strings(vec!["1".into(), "b".into()]));
    let wanted = TableColumns::These(vec![column("year", "year", ColumnKind::Label)]);
    let years = read_table(dir.path(), &wanted, CellRules::default()).unwrap();
    assert_eq!(years.labels("year").unwrap().codes(), [0, 1, 1]);
}

#[test]
fn all_columns_are_read_with_the_kinds_that_are_found() {
    let text = "id,x,n,name,code\n1,0.5,3,a,007\n2,1,NA,b,8\n2,2.5,-4,a,9\n";
    let (_dir, path) = file("a.csv", text);
    let drop = CellRules { drop_missing: true, ..CellRules::default() };
    let data = read_table(&path, &TableColumns::All, drop).unwrap();
    let kinds: Vec<ColumnKind> = data.columns().map(|(_, values)| values.kind()).collect();
    use ColumnKind::{Integer, Label, Real};
    assert_eq!(kinds, [Integer, Real, Integer, Label, Label]);
    assert_eq!((data.rows(), data.left_out().without_value), (2, 1));
    assert_eq!(data.integer("n").unwrap(), [3, -4]);
    // Whole numbers are labels, too.
    let id = data.labels("id").unwrap();
    assert_eq!((id.codes(), id.labels()), (&[0, 1][..], &Labels::Integers(vec![1, 2])));
    // A type that is no cell's is left out where nobody asks for it, and refused where somebody does.
    let columns: Vec<(&str, Unnamed)> = vec![
        ("lists", real_lists(&[1.0, 2.0], 1)),
        ("flag", booleans(&[true, false].map(Some))),
        ("n", wholes(8, true, &[1, 2].map(Some))),
    ];
    let (_dir, path) = file("a.parquet", parquet_bytes(columns));
    let data = read_table(&path, &TableColumns::All, CellRules::default()).unwrap();
    let kinds: Vec<_> = data.columns().map(|(name, values)| (name, values.kind())).collect();
    assert_eq!(kinds, [("flag", Label), ("n", Integer)]);
    let flag = TableColumns::These(vec![column("flag", "flag", Integer)]);
    assert_eq!(read_table(&path, &flag, CellRules::default()).unwrap().integer("flag").unwrap(), [1, 0]);
    let asked = TableColumns::These(vec![column("lists", "lists", Real)]);
    let told = read_table(&path, &asked, CellRules::default()).unwrap_err().to_string();
    assert!(told.contains("a.parquet: column `lists` has type List") && told.contains("must hold numbers"), "{told}");
}

/// Files of pyarrow: `tests/data/make_parquet.py`.
#[test]
fn files_of_other_programs_are_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/snappy.parquet");
    let data = read_table(&path, &TableColumns::All, CellRules::default()).unwrap();
    assert_eq!(*data.real("y").unwrap(), [1.0, 2.0, 4.0]);
    assert_eq!(data.labels("city").unwrap().codes(), [0, 1, 0]);
}

#[test]
fn wrong_cells_are_told_by_file_line_column_and_value() {
    for (from, to, words) in [
        ("45.5", "old", &["line 3 (row 2), column `age`", "`old` is not a number"][..]),
        ("45.5", "", &["line 3 (row 2), column `age`", "the cell is empty"]),
        ("1.0", "1.5", &["line 4 (row 3), column `smoker`", "`1.5` is no whole number"]),
        ("1.0", "maybe", &["line 4 (row 3), column `smoker`", "`maybe` is not a number"]),
        ("rio", "", &["line 3 (row 2), column `town`", "the cell is empty"]),
        ("0.1", "inf", &["line 4 (row 3), column `INC`", "the value is inf"]),
        ("smoker", "smokes", &["no column `smoker` (did you mean `smokes`?)"]),
    ] {
        let (_dir, path) = file("a.csv", TEXT.replace(from, to));
        let told = read_table(&path, &four(), CellRules::default()).unwrap_err().to_string();
        assert!(told.contains("a.csv") && words.iter().all(|word| told.contains(word)), "{told}");
    }
    let halves: Unnamed = reals(&[1.0, 2.5]);
    let (_dir, path) = file("a.parquet", parquet_bytes(vec![("n", halves)]));
    let asked = TableColumns::These(vec![column("n", "n", ColumnKind::Integer)]);
    let told = read_table(&path, &asked, CellRules::default()).unwrap_err().to_string();
    assert!(told.contains("a.parquet: row 2, column `n`: `2.5` is no whole number"), "{told}");
    // One column for two names.
    let twice = [column("x", "age", ColumnKind::Real), column("z", "age", ColumnKind::Real)];
    let (_dir, path) = file("a.csv", TEXT);
    let told = read_table(&path, &TableColumns::These(twice.to_vec()), CellRules::default()).unwrap_err().to_string();
    assert!(told.contains("column `age` cannot be that of x and of z"), "{told}");
}

/// A row that lacks one cell is left out with all its cells, and adds no label.
#[test]
fn rows_that_lack_a_cell_are_left_out_whole() {
    let text = "a,b,n,x\np,q,1,0.5\nlost,,2,1.5\np,,2,1.5\n,r,3,2.5\nlost,q,,3.5\np,q,5,NA\ns,q,6,5.5\n";
    let asked = TableColumns::These(vec![
        column("x", "x", ColumnKind::Real),
        column("n", "n", ColumnKind::Integer),
        column("a", "a", ColumnKind::Label),
        column("b", "b", ColumnKind::Label),
    ]);
    let (_dir, path) = file("a.csv", text);
    let data = read_table(&path, &asked, CellRules { drop_missing: true, ..CellRules::default() }).unwrap();
    assert_eq!((data.integer("n").unwrap(), data.real("x").unwrap().to_vec()), (&[1, 6][..], vec![0.5, 5.5]));
    let labels = |name: &str| {
        let column = data.labels(name).unwrap();
        (0..column.labels().len()).map(|at| column.labels().text(at)).collect::<Vec<_>>()
    };
    assert_eq!((labels("a"), labels("b")), (vec!["p".into(), "s".into()], vec!["q".to_owned()]));
    assert_eq!(data.left_out(), LeftOut { without_value: 2, without_group: 3, comments: 0 });
}

#[test]
fn data_sets_have_their_own_rows_and_labels() {
    let text = "set,g,n,x\ns,b,1,0.5\nt,c,2,1.5\ns,a,3,2.5\nt,b,4,3.5\n";
    let asked = TableColumns::These(vec![
        column("x", "x", ColumnKind::Real),
        column("g", "g", ColumnKind::Label),
        column("n", "n", ColumnKind::Integer),
    ]);
    let (_dir, path) = file("a.csv", text);
    for asked in [&asked, &TableColumns::All] {
        let found = super::super::read_sets(&path, asked, "set", CellRules::default()).unwrap();
        let names: Vec<&str> = found.sets.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["s", "t"]);
        let t = found.sets[1].1.as_ref().unwrap();
        assert_eq!(
            (t.rows(), t.integer("n").unwrap(), t.real("x").unwrap().to_vec()),
            (2, &[2, 4][..], vec![1.5, 3.5])
        );
        let g = t.labels("g").unwrap();
        assert_eq!((g.codes(), g.labels()), (&[0, 1][..], &Labels::Strings(vec!["c".into(), "b".into()])));
        assert!(t.column("set").is_err());
        // Grouped as two columns are.
        let grouped = t.grouped("g", "x").unwrap();
        assert_eq!((grouped.values(), grouped.labels()), (&[1.5, 3.5][..], g.labels()));
    }
}

#[test]
fn what_a_column_is_not_is_told_with_its_value() {
    let (_dir, path) = file("a.csv", "age,n,city\n31,1,4\n45.5,2,5x\n");
    let data = read_table(&path, &TableColumns::All, CellRules::default()).unwrap();
    for (told, words) in [
        (data.real("city").unwrap_err(), &["column `city` has labels such as `5x`, where real numbers are needed"][..]),
        (data.integer("city").unwrap_err(), &["labels such as `5x`, where whole numbers"]),
        (data.integer("age").unwrap_err(), &["column `age` has real numbers such as `45.5`, where whole numbers"]),
        (data.labels("age").unwrap_err(), &["real numbers such as `45.5`, where labels are needed"]),
        (data.real("aeg").unwrap_err(), &["no column is read as `aeg` (did you mean `age`?)", "`age`, `n`, `city`"]),
        (data.grouped("city", "zzzz").unwrap_err(), &["`zzzz`; those that are read"]),
        (data.refuse("n", 1, "must be 1"), &["column `n` has 2 in row 2 of the rows that were read: it must be 1"]),
        (data.refuse("age", 1, "must be 1"), &["column `age` has 45.5 in row 2"]),
        (data.refuse("city", 1, "must be 4"), &["column `city` has 5x in row 2", "it must be 4; correct the cell"]),
        (data.refuse("city", 2, "must be 4"), &["has nothing in row 3"]),
        (data.refuse("cities", 0, "must be 4"), &["no column is read as `cities`"]),
    ] {
        let told = told.to_string();
        assert!(told.contains("a.csv") && words.iter().all(|word| told.contains(word)), "{told}");
    }
}

/// Whole numbers are sorted into groups as labels are.
#[test]
fn whole_numbers_may_be_groups() {
    let (_dir, path) = file("a.csv", "g,y\n7,1\n-3,2\n7,4\n");
    let table = read_table(&path, &TableColumns::All, CellRules::default()).unwrap();
    let grouped = table.grouped("g", "y").unwrap();
    assert_eq!(grouped, read_grouped(&path, "g", "y").unwrap());
    assert_eq!((grouped.values(), grouped.labels()), (&[1.0, 4.0, 2.0][..], &Labels::Integers(vec![7, -3])));
}

/// A line of spaces is nothing in a table of several columns, and an empty cell in a table of one.
#[test]
fn a_table_may_have_one_column() {
    let read = |text: &str| {
        let (_dir, path) = file("a.csv", text);
        read_table(&path, &TableColumns::All, CellRules::default())
    };
    assert_eq!(read("x\n1\n2\n").unwrap().integer("x").unwrap(), [1, 2]);
    assert_eq!(read("x,y\n1,3\n  \n2,4\n").unwrap().integer("y").unwrap(), [3, 4]);
    let told = read("x\n1\n  \n2\n").unwrap_err().to_string();
    assert!(told.contains("line 3 (row 2), column `x`: the cell is empty"), "{told}");
}
