//! Types of Parquet: decimals, dates and times, booleans, bytes that are text.

use super::*;
use crate::observations::rows::Cells;
use arrow_array::types::{ArrowPrimitiveType, Decimal256Type};
use arrow_array::{
    Array, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DurationMicrosecondArray,
    DurationSecondArray, Float16Array, Time64MicrosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use half::f16;

fn read_columns(city: ArrayRef, y: ArrayRef) -> Result<GroupedData, ObservationsError> {
    let (_dir, path) = file("a.parquet", parquet_bytes(vec![("city", city), ("y", y)]));
    read_grouped(&path, "city", "y")
}

fn city() -> ArrayRef {
    strings(&[Some("a"), Some("b")])
}

/// The labels of a column.
fn labels(column: impl Array + 'static) -> Labels {
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..column.len()).map(|row| row as f64)));
    read_columns(Arc::new(column), values).unwrap().labels().clone()
}

fn words(words: &[&str]) -> Labels {
    Labels::Strings(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn decimals_are_numbers_and_labels() {
    let short = Decimal128Array::from(vec![150, -7]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(read_columns(city(), Arc::new(short.clone())).unwrap().values(), [1.5, -0.07]);
    assert_eq!(labels(short), words(&["1.50", "-0.07"]));
    // To 30 digits: the nearest numbers are those that are written 0.1 and 0.3.
    let tenths = Decimal128Array::from(vec![10_i128.pow(29), 3 * 10_i128.pow(29)]);
    let tenths = tenths.with_precision_and_scale(38, 30).unwrap();
    assert_eq!(read_columns(city(), Arc::new(tenths)).unwrap().values(), [0.1, 0.3]);
    let wide = [150, -7].map(<Decimal256Type as ArrowPrimitiveType>::Native::from_i128).to_vec();
    let wide = Decimal256Array::from(wide).with_precision_and_scale(60, 2).unwrap();
    assert_eq!(read_columns(city(), Arc::new(wide)).unwrap().values(), [1.5, -0.07]);
    let whole = Decimal128Array::from(vec![9, -9]).with_precision_and_scale(38, 0).unwrap();
    assert_eq!(labels(whole), Labels::Integers(vec![9, -9]));
    let missing = Decimal128Array::from(vec![Some(150), None]).with_precision_and_scale(10, 2).unwrap();
    let message = read_columns(city(), Arc::new(missing)).unwrap_err().to_string();
    assert!(message.contains("row 2, column `y`: the cell is empty"), "{message}");
}

#[test]
fn half_precision_is_a_number() {
    let halves = Float16Array::from(vec![f16::from_f32(1.5), f16::from_f32(-0.25)]);
    assert_eq!(read_columns(city(), Arc::new(halves)).unwrap().values(), [1.5, -0.25]);
}

/// The microseconds of 2020-01-31 12:34:56.
const MICROSECONDS: i64 = 1_580_474_096_000_000;
const DAY: i64 = 86_400_000_000;

/// The texts are those of `pandas.DataFrame.to_csv`.
#[test]
fn dates_and_times_are_the_labels_that_text_has() {
    assert_eq!(labels(Date32Array::from(vec![18292, -1, 18292])), words(&["2020-01-31", "1969-12-31"]));
    let midnight = MICROSECONDS - MICROSECONDS % DAY;
    let instants = |values: Vec<i64>| labels(TimestampMicrosecondArray::from(values));
    assert_eq!(instants(vec![midnight, midnight + DAY]), words(&["2020-01-31", "2020-02-01"]));
    assert_eq!(instants(vec![midnight, MICROSECONDS]), words(&["2020-01-31 00:00:00", "2020-01-31 12:34:56"]));
    let fractions = instants(vec![MICROSECONDS, MICROSECONDS + 500_000]);
    assert_eq!(fractions, words(&["2020-01-31 12:34:56.000", "2020-01-31 12:34:56.500"]));
    let fractions = instants(vec![MICROSECONDS, MICROSECONDS + 1]);
    assert_eq!(fractions, words(&["2020-01-31 12:34:56.000000", "2020-01-31 12:34:56.000001"]));
    assert_eq!(instants(vec![-1]), words(&["1969-12-31 23:59:59.999999"]));
    let milliseconds = TimestampMillisecondArray::from(vec![MICROSECONDS / 1000]);
    assert_eq!(labels(milliseconds), words(&["2020-01-31 12:34:56"]));
    let nanoseconds = TimestampNanosecondArray::from(vec![MICROSECONDS * 1000 + 1]);
    assert_eq!(labels(nanoseconds), words(&["2020-01-31 12:34:56.000000001"]));
    let in_utc = TimestampMicrosecondArray::from(vec![midnight]).with_timezone("UTC");
    assert_eq!(labels(in_utc), words(&["2020-01-31 00:00:00+00:00"]));
    // The same instants over many batches are one label each.
    let many = TimestampMicrosecondArray::from_iter_values((0..5000).map(|row| midnight + DAY * (row % 2)));
    assert_eq!(labels(many), words(&["2020-01-31", "2020-02-01"]));
}

/// As in CSV that pandas writes: 12:34:56 UTC is 13:34:56 where clocks are an hour ahead.
#[test]
fn times_of_a_zone_with_one_offset_are_its_own() {
    let of = |zone: &str| labels(TimestampMicrosecondArray::from(vec![MICROSECONDS]).with_timezone(zone));
    assert_eq!(of("+01:00"), words(&["2020-01-31 13:34:56+01:00"]));
    assert_eq!(of("-03:30"), words(&["2020-01-31 09:04:56-03:30"]));
    assert_eq!(of("Etc/UTC"), words(&["2020-01-31 12:34:56+00:00"]));
    let beyond: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX]).with_timezone("+01:00"));
    let message = read_columns(beyond, Arc::new(Float64Array::from(vec![1.0]))).unwrap_err().to_string();
    assert!(message.contains("row 1 holds no time that can be written"), "{message}");
}

#[test]
fn zones_whose_offsets_are_not_known_are_told() {
    let notes = |zone: &str| {
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![MICROSECONDS]).with_timezone(zone));
        let y: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
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
    assert_eq!(labels(DurationSecondArray::from(vec![86_400, 172_800])), words(&["1 days", "2 days"]));
    let microseconds = DurationMicrosecondArray::from(vec![-DAY, DAY / 24]);
    assert_eq!(labels(microseconds), words(&["-24 hours", "1 hours"]));
}

#[test]
fn data_sets_have_dates_too() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("day", Arc::new(Date32Array::from(vec![18292, 18293]))),
        ("city", city()),
        ("y", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
    ];
    let (_dir, path) = file("a.parquet", parquet_bytes(columns));
    let names: Vec<String> = read_sets(&path, "city", "y", "day").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["2020-01-31", "2020-02-01"]);
}

/// DuckDB's enums are bytes.
#[test]
fn booleans_and_bytes_that_are_text_are_labels() {
    assert_eq!(labels(BooleanArray::from(vec![true, false, true])), words(&["true", "false"]));
    assert_eq!(labels(BinaryArray::from(vec![&b"oslo"[..], "são".as_bytes()])), words(&["oslo", "são"]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff"[..]]));
    let message = read_columns(bytes, Arc::new(Float64Array::from(vec![1.0]))).unwrap_err().to_string();
    assert!(message.contains("column `city` holds bytes, not text"), "{message}");
}

#[test]
fn types_that_cannot_be_used_say_what_to_do() {
    let numbers = || -> ArrayRef { Arc::new(Float64Array::from(vec![1.0, 2.0])) };
    for (city, y, words) in [
        (city(), city(), ["`y` has type Utf8", "convert the text to numbers"]),
        (city(), Arc::new(BooleanArray::from(vec![true, false])), ["`y` has type Boolean", "to 0 and 1"]),
        (city(), Arc::new(Date32Array::from(vec![1, 2])), ["`y` has type Date32", "must hold numbers"]),
        (
            city(),
            Arc::new(DurationMicrosecondArray::from(vec![DAY, 2 * DAY])),
            ["`y` has type Duration", "dt.total_seconds()"],
        ),
        (numbers(), numbers(), ["`city` has type Float64", "whole numbers or text"]),
        (Arc::new(Time64MicrosecondArray::from(vec![1, 2])), numbers(), ["`city` has type Time64", "must hold text"]),
    ] {
        let message = read_columns(city, y).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}
