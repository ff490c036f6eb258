//! Types of Parquet: decimals, dates and times, booleans, bytes that are text.

use super::*;
use arrow_array::types::{ArrowPrimitiveType, Decimal256Type};
use arrow_array::{
    Array, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, Float16Array,
    Time64MicrosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
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
        (numbers(), numbers(), ["`city` has type Float64", "whole numbers or text"]),
        (Arc::new(Time64MicrosecondArray::from(vec![1, 2])), numbers(), ["`city` has type Time64", "must hold text"]),
    ] {
        let message = read_columns(city, y).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}
