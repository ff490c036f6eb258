//! Where errors say that a cell stands: the line as an editor counts it, and the row.

use super::*;

/// The place of `two`, in the second row, whatever ends the lines and stands between them.
#[test]
fn lines_are_those_of_an_editor() {
    for (name, text, line) in [
        ("newline", "city,y\na,1\nb,two\n", 3),
        ("windows", "city,y\r\na,1\r\nb,two\r\n", 3),
        ("old mac", "city,y\ra,1\rb,two\r", 3),
        ("mark and windows", "\u{feff}city,y\r\na,1\r\nb,two\r\n", 3),
        ("blank lines", "\ncity,y\n\na,1\n\n\nb,two\n", 7),
        ("blank lines of windows", "\r\ncity,y\r\n\r\na,1\r\n\r\n\r\nb,two\r\n", 7),
        ("lines of spaces", "city,y\n  \na,1\n\t\nb,two\n", 5),
        ("comments", "# made by\n# me\ncity,y\na,1\nb,two\n", 5),
        ("comments of windows", "\u{feff}# made by\r\n\r\n# me\r\ncity,y\r\na,1\r\nb,two\r\n", 6),
        ("quotes", "city,y\n\"a\nb\nc\",1\nb,two\n", 5),
        ("quotes of windows", "city,y\r\n\"a\r\nb\r\nc\",1\r\nb,two\r\n", 5),
        ("quotes in the row itself", "city,y\na,1\n\"b\n\nc\",two\n", 5),
        ("quotes in the header", "city,y,\"a\nb\"\na,1,x\nb,two,x\n", 4),
        ("no end", "city,y\na,1\nb,two", 3),
    ] {
        let message = read_text("a.csv", text).unwrap_err().to_string();
        let place = format!("a.csv: line {line} (row 2), column `y`: `two` is not a number");
        assert!(message.contains(&place), "{name}: {message}");
    }
}

#[test]
fn rows_of_another_length_have_their_line() {
    for (text, place) in [
        ("city,y\r\na,1\r\nb\r\n", "line 3 (row 2) has 1 cells where the header has 2"),
        ("city,y\ra,1\rb,2,3\r", "line 3 (row 2) has 3 cells where the header has 2"),
        ("city,y\r\na,1\r\n# the end\r\n", "line 3 (row 2) begins with `#` and is no row"),
        ("city,y\n\"a\nb\",1,2\n", "line 2 (row 1) has 3 cells where the header has 2"),
    ] {
        let message = read_text("a.csv", text).unwrap_err().to_string();
        assert!(message.contains(place), "{message}");
    }
}

/// Rows are counted alike in text and in Parquet, over batches and groups of rows too.
#[test]
fn rows_are_counted_alike_in_every_format() {
    let n = 5000;
    let bad = 4321;
    let cities: Vec<Option<&str>> = (0..n).map(|row| ["c0", "c1", "c2"].get(row as usize % 3).copied()).collect();
    let cities = strings(&cities);
    let values = some_reals((0..n).map(|row| if row + 1 == bad { None } else { Some(f64::from(row)) }));
    let cell = |row: i32| if row + 1 == bad { String::new() } else { row.to_string() };
    let text: String = (0..n).map(|row| format!("c{},{}\r\n", row % 3, cell(row))).collect();
    let (_dir, parquet) = file("a.parquet", parquet_bytes(vec![("city", cities), ("y", values)]));
    let (_dir2, csv) = file("a.csv", format!("city,y\r\n{text}"));
    let told = |path: &Path| read_grouped(path, "city", "y").unwrap_err().to_string();
    assert!(told(&parquet).contains("a.parquet: row 4321, column `y`: the cell is empty"), "{}", told(&parquet));
    assert!(told(&csv).contains("a.csv: line 4322 (row 4321), column `y`: the cell is empty"), "{}", told(&csv));
}

#[test]
fn what_is_no_utf_8_has_line_and_column() {
    for (bytes, line, column, byte) in [
        (&b"city,y\nS\xe3o,1\n"[..], 2, 2, "0xE3"),
        (b"city,y\r\nS\xc3\xa3o,1\r\nx,2,\xfc\r\n", 3, 5, "0xFC"),
        (b"\xEF\xBB\xBFcity,y,\xdf\n", 1, 8, "0xDF"),
        (b"city,y\n\"\xc3\xa3\xe4\",1\n", 2, 3, "0xE4"),
        (b"city,y\na,1\nS\xe3", 3, 2, "0xE3"),
    ] {
        let place = format!("line {line}, column {column}: the byte {byte} is no UTF-8");
        refuses("a.csv", bytes, &[&place, "iconv -f WINDOWS-1252 -t UTF-8"]);
    }
}

/// All that follows a quote that is not closed would be one cell: rows would be lost.
#[test]
fn a_quote_that_is_not_closed_is_told() {
    for (text, line) in [
        ("y,city\n1,\"a\n2,b\n3,c\n", 2),
        ("y,city\n1,a\n2,\"b\n3,c\n", 3),
        ("city,y\na,1\n\"b,2\nc,3\n", 3),
        ("city,y\na,1\nb,\"2\nc,3\n", 3),
    ] {
        let message = read_text("a.csv", text).unwrap_err().to_string();
        assert!(message.contains(&format!("line {line} ")), "{message}");
        assert!(message.contains("never closed") || message.contains("not a number"), "{message}");
    }
    assert_eq!(read_text("a.csv", "y,city\n1,\"a\"\n2,\"b\"\"\"").unwrap().values(), [1.0, 2.0]);
}

#[test]
fn comments_come_before_the_header() {
    let data = read_text("a.csv", "# one\n#two\n\ncity;y\na;1\n").unwrap();
    assert_eq!((data.values(), data.left_out().comments), (&[1.0][..], 2));
    assert_eq!(read_text("a.csv", "#id,city,y\n1,a,2\n").unwrap().left_out().comments, 0);
    refuses("a.csv", "# table\n# city, y\na,1\n", &["line 2 names the columns in a comment", "remove the `#`"]);
    refuses("a.csv", "# a\n# b\n", &["no column `city`"]);
    // All of it is in comments.
    refuses("a.csv", "# city,y\n", &["line 1 names the columns in a comment", "remove the `#`"]);
    refuses("a.csv", "# made by me\n# city,y\n# a,1\n", &["line 2 names the columns in a comment"]);
    // A label may begin so.
    assert_eq!(read_text("a.csv", "city,y\n#1,2\n").unwrap().labels(), &Labels::Strings(vec!["#1".into()]));
}

fn notes(text: &str) -> Vec<String> {
    let (_dir, path) = file("a.csv", text);
    let rows = read(&path, Asked { columns: &two("city", "y"), set: None }, CellRules::default()).unwrap();
    rows.notes.into_iter().collect()
}

#[test]
fn rows_that_are_commented_out_are_told() {
    let told = notes("city,y\na,51\na,52\n#b,53\nb,54\nb,53\n");
    assert!(told.len() == 1 && told[0].starts_with("1 of 5 rows begins with `#`, from line 4 (row 3) on"), "{told:?}");
    // In a column that is not read, too.
    let told = notes("id,city,y\n1,a,51\n#2,b,52\n# 3,b,53\n");
    assert!(told.len() == 1 && told[0].starts_with("2 of 3 rows begin with `#`, from line 3 (row 2) on"), "{told:?}");
    for fine in [
        "city,y\n#1,51\n#2,52\n",
        "city,y\na,51\n\"#b\",52\n",
        "city,y\na,51\n#N/A,52\n",
        "#id,city,y\n1,a,51\n#2,b,52\n",
        "city,z,y\na,#,51\nb,,52\n",
    ] {
        assert_eq!(notes(fine), [""; 0], "{fine}");
    }
    refuses("a.csv", "y,city\n51,a\n#53,b\n", &["line 3 (row 2) begins with `#` and is no row", "remove the line"]);
}

/// As Excel reads it.
#[test]
fn the_line_that_tells_excel_the_separator_is_no_header() {
    let data = read_text("a.csv", "sep=;\r\ncity;y\r\na;1\r\nb;2\r\n").unwrap();
    assert_eq!((data.values(), data.left_out().comments), (&[1.0, 2.0][..], 0));
    refuses("a.csv", "sep=;\ncity;y\na;x\n", &["line 3 (row 1)", "`x`"]);
    refuses("a.csv", "sep=;\nCity;y\na;1\n", &["no column `city`", "columns are `City;y`"]);
}

#[test]
fn columns_that_are_alike_are_suggested() {
    let told = |header: &str, group: &str, value: &str| {
        let (_dir, path) = file("a.csv", format!("{header}\n1,2\n"));
        read_grouped(&path, group, value).unwrap_err().to_string()
    };
    for (header, group, value) in [("x,v", "g", "v"), ("y,x", "g", "y"), ("ct,x", "cy", "ct")] {
        let message = told(header, group, value);
        assert!(message.contains("has no column") && !message.contains("did you mean"), "{message}");
    }
    assert!(told("G,v", "g", "v").contains("did you mean `G`?"));
    // Of five letters, three may be others.
    assert!(told("abxyz,v", "abcde", "v").contains("did you mean `abxyz`?"));
    assert!(!told("axyzw,v", "abcde", "v").contains("did you mean"));
    assert!(told("gr,v", "g", "v").contains("did you mean `gr`?"));
}

#[test]
fn a_table_without_rows_is_told_alike_in_every_format() {
    let parquet = parquet_bytes(vec![("city", strings(&[])), ("y", reals(&[]))]);
    for (name, bytes) in [("a.csv", b"city,y\n".to_vec()), ("a.parquet", parquet)] {
        let (_dir, path) = file(name, bytes);
        let message = read_grouped(&path, "city", "y").unwrap_err().to_string();
        assert!(message.ends_with("has no observations: it needs at least one row"), "{message}");
    }
}
