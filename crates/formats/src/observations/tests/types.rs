//! Types of Parquet: decimals, dates and times, booleans, bytes that are text.

use super::*;
use crate::observations::rows::Cells;
use octopus_trace::TimeUnit;

fn read_columns(city: Unnamed, y: Unnamed) -> Result<GroupedData, ObservationsError> {
    let (_dir, path) = file("a.parquet", parquet_bytes(vec![("city", city), ("y", y)]));
    read_grouped(&path, "city", "y")
}

fn city() -> Unnamed {
    strings(&[Some("a"), Some("b")])
}

/// The labels of a column.
fn labels(rows: usize, column: Unnamed) -> Labels {
    let values = some_reals((0..rows).map(|row| Some(row as f64)));
    read_columns(column, values).unwrap().labels().clone()
}

fn words(words: &[&str]) -> Labels {
    Labels::Strings(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn decimals_are_numbers_and_labels() {
    let decimal = |precision, scale, values: [i128; 2]| decimals(precision, scale, &values.map(Some));
    assert_eq!(read_columns(city(), decimal(10, 2, [150, -7])).unwrap().values(), [1.5, -0.07]);
    assert_eq!(labels(2, decimal(10, 2, [150, -7])), words(&["1.50", "-0.07"]));
    // To 30 digits: the nearest numbers are those that are written 0.1 and 0.3.
    let tenths = decimal(38, 30, [10_i128.pow(29), 3 * 10_i128.pow(29)]);
    assert_eq!(read_columns(city(), tenths).unwrap().values(), [0.1, 0.3]);
    assert_eq!(labels(2, decimal(38, 0, [9, -9])), Labels::Integers(vec![9, -9]));
    let message = read_columns(city(), decimals(10, 2, &[Some(150), None])).unwrap_err().to_string();
    assert!(message.contains("row 2, column `y`: the cell is empty"), "{message}");
}

/// The values are those in `tests/data/make_parquet.py`.
#[test]
fn columns_of_pyarrow_are_values_and_labels() {
    for (column, values) in [
        ("int8", &[1.0, 2.0, 100.0][..]),
        ("uint16", &[1.0, 2.0, 100.0]),
        ("uint32", &[0.0, 1.0, 2.0, 4_294_967_295.0]),
        ("uint64", &[0.0, 1.0, 2.0, 2f64.powi(63)]),
        ("float", &[0.5, -2.0, f64::from(1e30_f32)]),
        ("half", &[0.5, -2.0, 1.0]),
        ("price", &[1.25, -0.5, -12_345_678.9]),
        ("wide", &[1.5, -0.07, 0.0, -1e50]),
        ("level", &[7.0, 9.0, 7.0, 9.0]),
    ] {
        let mut found = of_types("draw", column).unwrap().values().to_vec();
        let mut expected = values.to_vec();
        found.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        assert_eq!(found, expected, "{column}");
    }
    for (column, labels) in [
        ("price", &["1.25", "-0.50", "-12345678.90"][..]),
        ("small", &["5.5", "7.0", "-1.1", "0.0"]),
        ("bool", &["true", "false"]),
        ("bytes", &["oslo", "rome"]),
        ("date", &["2020-01-31", "1969-12-31"]),
        ("date64", &["2020-01-31", "1969-12-31", "1970-01-01"]),
        ("seconds", &["2020-01-31 12:34:56", "1970-01-01 00:00:00", "1969-12-31 23:59:59"]),
        ("millis", &["2020-01-31 12:34:56.000", "1970-01-01 00:00:00.000", "1969-12-31 23:59:59.999"]),
        ("micros", &["2020-01-31 12:34:56.000000", "1970-01-01 00:00:00.000000", "1969-12-31 23:59:59.999999"]),
        ("nanos", &["2020-01-31 12:34:56.000000000", "1970-01-01 00:00:00.000000000", "1969-12-31 23:59:59.999999999"]),
        (
            "ahead",
            &[
                "2020-01-31 13:34:56.000000+01:00",
                "1970-01-01 01:00:00.000000+01:00",
                "1970-01-01 00:59:59.999999+01:00",
            ],
        ),
        ("days", &["1 days", "2 days", "0 days"]),
        ("hours", &["-24 hours", "1 hours", "0 hours"]),
    ] {
        assert_eq!(*of_types(column, "uint32").unwrap().labels(), words(labels), "{column}");
    }
    assert_eq!(*of_types("whole", "uint32").unwrap().labels(), Labels::Integers(vec![5, 7, -1, 0]));
    for (column, kind) in [
        ("clock", "Time64(µs)"),
        ("fixed", "FixedSizeBinary(2)"),
        ("list", "List(Int16)"),
        ("of_lists", "List of lists or structures"),
        ("struct", "Struct"),
        ("map", "Map"),
        ("null", "Null"),
    ] {
        let message = of_types(column, "uint32").unwrap_err().to_string();
        assert!(message.contains(&format!("column `{column}` has type {kind}; it must hold text")), "{message}");
    }
    // Times as Spark and Impala wrote them.
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/old.parquet");
    let rules = CellRules { drop_missing: true, ..CellRules::default() };
    let data = super::super::read_grouped(&old, "time", "n", rules).unwrap();
    let micros = ["2020-01-31 12:34:56.000000", "1970-01-01 00:00:00.000000", "1969-12-31 23:59:59.999999"];
    assert_eq!((data.labels(), data.values()), (&words(&micros), &[1.0, 2.0, 40.0][..]));
}

#[test]
fn half_precision_is_a_number() {
    assert_eq!(read_columns(city(), halves(&[1.5, -0.25])).unwrap().values(), [1.5, -0.25]);
}

/// The microseconds of 2020-01-31 12:34:56.
const MICROSECONDS: i64 = 1_580_474_096_000_000;
const DAY: i64 = 86_400_000_000;

/// The texts are those of `pandas.DataFrame.to_csv`.
#[test]
fn dates_and_times_are_the_labels_that_text_has() {
    assert_eq!(labels(3, dates(&[18292, -1, 18292])), words(&["2020-01-31", "1969-12-31"]));
    let midnight = MICROSECONDS - MICROSECONDS % DAY;
    let of = |unit, zone, counts: &[i64]| labels(counts.len(), instants(unit, zone, counts));
    let instants = |counts: Vec<i64>| of(TimeUnit::Microseconds, None, &counts);
    assert_eq!(instants(vec![midnight, midnight + DAY]), words(&["2020-01-31", "2020-02-01"]));
    assert_eq!(instants(vec![midnight, MICROSECONDS]), words(&["2020-01-31 00:00:00", "2020-01-31 12:34:56"]));
    let fractions = instants(vec![MICROSECONDS, MICROSECONDS + 500_000]);
    assert_eq!(fractions, words(&["2020-01-31 12:34:56.000", "2020-01-31 12:34:56.500"]));
    let fractions = instants(vec![MICROSECONDS, MICROSECONDS + 1]);
    assert_eq!(fractions, words(&["2020-01-31 12:34:56.000000", "2020-01-31 12:34:56.000001"]));
    assert_eq!(instants(vec![-1]), words(&["1969-12-31 23:59:59.999999"]));
    let milliseconds = of(TimeUnit::Milliseconds, None, &[MICROSECONDS / 1000]);
    assert_eq!(milliseconds, words(&["2020-01-31 12:34:56"]));
    // Parquet has no seconds: the writer's schema tells.
    assert_eq!(of(TimeUnit::Seconds, None, &[MICROSECONDS / 1_000_000]), words(&["2020-01-31 12:34:56"]));
    let nanoseconds = of(TimeUnit::Nanoseconds, None, &[MICROSECONDS * 1000 + 1]);
    assert_eq!(nanoseconds, words(&["2020-01-31 12:34:56.000000001"]));
    assert_eq!(of(TimeUnit::Microseconds, Some("UTC"), &[midnight]), words(&["2020-01-31 00:00:00+00:00"]));
    // The same instants over many batches are one label each.
    let many = instants((0..20_000).map(|row| midnight + DAY * (row % 2)).collect());
    assert_eq!(many, words(&["2020-01-31", "2020-02-01"]));
}

/// As in CSV that pandas writes: 12:34:56 UTC is 13:34:56 where clocks are an hour ahead.
#[test]
fn times_of_a_zone_with_one_offset_are_its_own() {
    let in_zone = |zone: &str, count| instants(TimeUnit::Microseconds, Some(zone), &[count]);
    let of = |zone: &str| labels(1, in_zone(zone, MICROSECONDS));
    assert_eq!(of("+01:00"), words(&["2020-01-31 13:34:56+01:00"]));
    assert_eq!(of("-03:30"), words(&["2020-01-31 09:04:56-03:30"]));
    assert_eq!(of("Etc/UTC"), words(&["2020-01-31 12:34:56+00:00"]));
    let message = read_columns(in_zone("+01:00", i64::MAX), reals(&[1.0])).unwrap_err().to_string();
    assert!(message.contains("row 1 holds no time that can be written"), "{message}");
}

#[test]
fn zones_whose_offsets_are_not_known_are_told() {
    let notes = |zone: &str| {
        let times = instants(TimeUnit::Microseconds, Some(zone), &[MICROSECONDS]);
        let y: Unnamed = reals(&[1.0]);
        let (_dir, path) = file("a.parquet", parquet_bytes(vec![("city", times), ("y", y)]));
        let rows = read(&path, Asked { columns: &two("city", "y"), set: None }, CellRules::default()).unwrap();
        let Cells::Label(labels, _) = &rows.columns[0].1 else { panic!("no labels") };
        assert!(labels.label(0).starts_with("2020-01-31 1"), "{}", labels.label(0));
        rows.notes
    };
    let told = notes("Europe/Rome");
    assert!(told.len() == 1 && told[0].contains("`city` are those of Europe/Rome") && told[0].contains("in UTC"));
    assert!(notes("+01:00").is_empty() && notes("UTC").is_empty());
}

/// Parquet has whole numbers for them; the writer's schema tells.
#[test]
fn lengths_of_time_are_labels_with_their_unit() {
    assert_eq!(labels(2, durations(TimeUnit::Seconds, &[86_400, 172_800])), words(&["1 days", "2 days"]));
    let microseconds = durations(TimeUnit::Microseconds, &[-DAY, DAY / 24]);
    assert_eq!(labels(2, microseconds), words(&["-24 hours", "1 hours"]));
}

#[test]
fn data_sets_have_dates_too() {
    let columns: Vec<(&str, Unnamed)> =
        vec![("day", dates(&[18292, 18293])), ("city", city()), ("y", reals(&[1.0, 2.0]))];
    let (_dir, path) = file("a.parquet", parquet_bytes(columns));
    let names: Vec<String> = read_sets(&path, "city", "y", "day").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["2020-01-31", "2020-02-01"]);
}

/// DuckDB's enums are bytes.
#[test]
fn booleans_and_bytes_that_are_text_are_labels() {
    assert_eq!(labels(3, booleans(&[true, false, true].map(Some))), words(&["true", "false"]));
    assert_eq!(labels(2, binary(&[b"oslo", "são".as_bytes()])), words(&["oslo", "são"]));
    let message = read_columns(binary(&[b"\xff"]), reals(&[1.0])).unwrap_err().to_string();
    assert!(message.contains("column `city` holds bytes, not text"), "{message}");
}

#[test]
fn types_that_cannot_be_used_say_what_to_do() {
    let numbers = || -> Unnamed { reals(&[1.0, 2.0]) };
    for (city, y, words) in [
        (city(), city(), ["`y` has type Utf8", "convert the text to numbers"]),
        (city(), booleans(&[true, false].map(Some)), ["`y` has type Boolean", "to 0 and 1"]),
        (city(), dates(&[1, 2]), ["`y` has type Date32", "must hold numbers"]),
        (city(), durations(TimeUnit::Microseconds, &[DAY, 2 * DAY]), ["`y` has type Duration", "dt.total_seconds()"]),
        (numbers(), numbers(), ["`city` has type Float64", "whole numbers or text"]),
    ] {
        let message = read_columns(city, y).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}
