//! Values as Arrow's columns, and back: the types of Parquet, nulls and lists.

use crate::conventions::label_values;
use crate::draw_table::DrawColumn;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DurationMicrosecondArray, DurationMillisecondArray,
    DurationNanosecondArray, Float32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray,
};
use arrow_schema::DataType;
use octopus_trace::{Calendar, Labels, TimeUnit, Values};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn to_arrow(values: &Values) -> ArrayRef {
    match values {
        Values::F64(values) => Arc::new(Float64Array::from(values.clone())),
        Values::I64(values) => Arc::new(Int64Array::from(values.clone())),
        Values::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Strings(values) => Arc::new(StringArray::from_iter_values(values)),
    }
}

/// Returns the labels at these places as a column of their type: dates of NumPy's calendar as dates or times, those of
/// other calendars as words.
pub(super) fn label_column(labels: &Labels, places: &[usize]) -> ArrayRef {
    let times = |counts: &[i64], scale: i64| -> Vec<Option<i64>> {
        let time = |&at: &usize| Some(counts[at]).filter(|&count| count != i64::MIN)?.checked_mul(scale);
        places.iter().map(time).collect()
    };
    // What Parquet has no unit for is counted in the next smaller one.
    let smaller = |unit: TimeUnit| match unit {
        TimeUnit::Nanoseconds | TimeUnit::Microseconds => unit,
        _ => TimeUnit::Milliseconds,
    };
    match labels {
        Labels::Dates(dates) if dates.calendar() == Calendar::ProlepticGregorian => {
            let unit = smaller(dates.unit());
            let counts = times(dates.counts(), dates.unit().nanoseconds() / unit.nanoseconds());
            match (dates.unit(), unit) {
                (TimeUnit::Days, _) => {
                    let day = |&at: &usize| i32::try_from(dates.counts()[at]).ok();
                    Arc::new(places.iter().map(day).collect::<Date32Array>())
                }
                (_, TimeUnit::Nanoseconds) => Arc::new(TimestampNanosecondArray::from(counts)),
                (_, TimeUnit::Microseconds) => Arc::new(TimestampMicrosecondArray::from(counts)),
                _ => Arc::new(TimestampMillisecondArray::from(counts)),
            }
        }
        Labels::Dates(_) => Arc::new(StringArray::from_iter_values(places.iter().map(|&at| labels.text(at)))),
        Labels::Durations(durations) => {
            let unit = smaller(durations.unit());
            let counts = times(durations.counts(), durations.unit().nanoseconds() / unit.nanoseconds());
            match unit {
                TimeUnit::Nanoseconds => Arc::new(DurationNanosecondArray::from(counts)),
                TimeUnit::Microseconds => Arc::new(DurationMicrosecondArray::from(counts)),
                _ => Arc::new(DurationMillisecondArray::from(counts)),
            }
        }
        Labels::Singles(values) => Arc::new(Float32Array::from_iter_values(places.iter().map(|&at| values[at]))),
        _ => to_arrow(&label_values(labels).gather(places)),
    }
}

/// Values as JSON, which has no NaN: real numbers are the text of their shortest digits.
pub(super) fn to_json(values: &Values) -> Value {
    match values {
        Values::F64(values) => json!(values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>()),
        Values::I64(values) => json!(values),
        Values::Bool(values) => json!(values),
        Values::Strings(values) => json!(values),
    }
}

/// Returns the values that [`to_json`] has written.
pub(super) fn from_json(kind: &Value, values: &Value) -> Result<Values, String> {
    let texts = || serde_json::from_value::<Vec<String>>(values.clone());
    match kind.as_str() {
        Some("f64") => {
            let reals: Result<_, _> =
                texts().map_err(|error| error.to_string())?.iter().map(|text| text.parse()).collect();
            reals.map(Values::F64).map_err(|error: std::num::ParseFloatError| error.to_string())
        }
        Some("i64") => serde_json::from_value(values.clone()).map(Values::I64).map_err(|error| error.to_string()),
        Some("bool") => serde_json::from_value(values.clone()).map(Values::Bool).map_err(|error| error.to_string()),
        Some("string") => texts().map(Values::Strings).map_err(|error| error.to_string()),
        _ => Err(format!("its type {kind} has no place in a trace")),
    }
}

/// Why a column has no values that a trace can hold.
#[derive(Debug, PartialEq)]
pub(super) enum NoValues {
    /// They are neither numbers nor words but of this type.
    Type(String),
    /// They are damaged, or lists of several lengths; a sentence says so.
    Damaged(String),
}

/// Returns the values of a column and how many each row has: `None` of a plain one. A number or flag that is null is NaN
/// (as pandas means it), for which whole numbers and flags become real. A dictionary (pandas' category) has the values
/// that it stands for.
pub(super) fn from_arrow(column: &dyn Array) -> Result<DrawColumn, NoValues> {
    let (values, width) = match column.data_type() {
        DataType::FixedSizeList(_, width) => {
            let lists = column.as_fixed_size_list();
            let width = usize::try_from(*width).unwrap_or(0);
            no_nulls(column)?;
            (lists.values().slice(lists.value_offset_at(0), width * lists.len()), Some(width))
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let ends: Vec<i64> = lists.value_offsets().iter().map(|&end| end.into()).collect();
            from_lists(column, lists.values(), &ends)?
        }
        DataType::LargeList(_) => {
            let lists = column.as_list::<i64>();
            from_lists(column, lists.values(), lists.value_offsets())?
        }
        _ => (column.slice(0, column.len()), None),
    };
    let values = plain(values.as_ref()).ok_or_else(|| NoValues::Type(column.data_type().to_string()))?;
    Ok((values, width))
}

/// Lists that are all of one length: all their values, and that length.
fn from_lists(column: &dyn Array, values: &ArrayRef, ends: &[i64]) -> Result<(ArrayRef, Option<usize>), NoValues> {
    no_nulls(column)?;
    let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else { return Ok((values.clone(), Some(0))) };
    let width = if ends.len() > 1 { ends[1] - first } else { 0 };
    if ends.windows(2).any(|pair| pair[1] - pair[0] != width) {
        return Err(NoValues::Damaged("its lists are not all of one length".into()));
    }
    Ok((values.slice(first as usize, (last - first) as usize), Some(width as usize)))
}

fn no_nulls(column: &dyn Array) -> Result<(), NoValues> {
    match column.null_count() {
        0 => Ok(()),
        nulls => Err(NoValues::Damaged(format!("{nulls} of its lists are null"))),
    }
}

/// Returns values that are numbers, flags or words; `None` of any other type.
fn plain(column: &dyn Array) -> Option<Values> {
    fn wide<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &dyn Array) -> Values {
        integers(&column.as_primitive::<T>().iter().map(|value| value.map(Into::into)).collect::<Vec<_>>())
    }
    fn reals<T: ArrowPrimitiveType<Native: Into<f64>>>(column: &dyn Array) -> Values {
        Values::F64(column.as_primitive::<T>().iter().map(|value| value.map_or(f64::NAN, Into::into)).collect())
    }
    fn words<'a>(words: impl Iterator<Item = Option<&'a str>>) -> Values {
        Values::Strings(words.map(|word| word.unwrap_or_default().to_owned()).collect())
    }
    Some(match column.data_type() {
        DataType::Float64 => reals::<Float64Type>(column),
        DataType::Float32 => reals::<Float32Type>(column),
        DataType::Float16 => reals::<Float16Type>(column),
        DataType::Int8 => wide::<Int8Type>(column),
        DataType::Int16 => wide::<Int16Type>(column),
        DataType::Int32 => wide::<Int32Type>(column),
        DataType::Int64 => wide::<Int64Type>(column),
        DataType::UInt8 => wide::<UInt8Type>(column),
        DataType::UInt16 => wide::<UInt16Type>(column),
        DataType::UInt32 => wide::<UInt32Type>(column),
        DataType::UInt64 => wide::<UInt64Type>(column),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(column),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(column),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(column),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(column),
        DataType::Boolean => flags(column.as_boolean()),
        DataType::Utf8 => words(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => words(column.as_string::<i64>().iter()),
        DataType::Utf8View => words(column.as_string_view().iter()),
        DataType::Dictionary(..) => looked_up(column)?,
        _ => return None,
    })
}

/// Whole numbers; real ones if one of them is null, or beyond the integers of a trace.
fn integers(values: &[Option<i128>]) -> Values {
    let whole: Option<Vec<i64>> = values.iter().map(|value| i64::try_from((*value)?).ok()).collect();
    let reals = || Values::F64(values.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect());
    whole.map_or_else(reals, Values::I64)
}

fn flags(column: &BooleanArray) -> Values {
    let plain: Option<Vec<bool>> = column.iter().collect();
    let reals = || column.iter().map(|flag| flag.map_or(f64::NAN, |flag| f64::from(u8::from(flag)))).collect();
    plain.map_or_else(|| Values::F64(reals()), Values::Bool)
}

/// Decimal numbers: whole ones if they have no decimals, else the nearest real ones.
fn decimals<T: DecimalType>(column: &dyn Array) -> Values {
    let column = column.as_primitive::<T>();
    let shown = |at: usize| column.is_valid(at).then(|| column.value_as_string(at));
    let whole = (column.scale() == 0).then(|| (0..column.len()).map(|at| shown(at)?.parse().ok()).collect());
    let real = |at: usize| shown(at).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
    match whole.flatten() {
        Some(whole) => Values::I64(whole),
        None => Values::F64((0..column.len()).map(real).collect()),
    }
}

/// The values that the keys of a dictionary stand for.
fn looked_up(column: &dyn Array) -> Option<Values> {
    fn take<T: Clone>(values: &[T], keys: impl Iterator<Item = Option<usize>>, null: T) -> Vec<T> {
        keys.map(|key| key.and_then(|key| values.get(key)).unwrap_or(&null).clone()).collect()
    }
    let dictionary = column.as_any_dictionary();
    let values = plain(dictionary.values().as_ref())?;
    // It refuses an empty dictionary, whose keys are all null.
    let keys = if values.is_empty() { vec![0; column.len()] } else { dictionary.normalized_keys() };
    let keys = || keys.iter().enumerate().map(|(row, &key)| column.is_valid(row).then_some(key));
    Some(match values {
        Values::Strings(words) => Values::Strings(take(&words, keys(), String::new())),
        Values::I64(values) if column.null_count() == 0 => Values::I64(take(&values, keys(), 0)),
        Values::Bool(values) if column.null_count() == 0 => Values::Bool(take(&values, keys(), false)),
        values => Values::F64(take(&values.to_f64(), keys(), f64::NAN)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Date32Array, Decimal128Array, DictionaryArray, FixedSizeListArray, Float16Array, Int8Array, Int16Array,
        Int32Array, LargeListArray, LargeStringArray, ListArray, NullArray, StringViewArray, UInt8Array, UInt16Array,
        UInt32Array, UInt64Array,
    };

    #[test]
    fn columns_of_every_type() {
        let whole: [ArrayRef; 8] = [
            Arc::new(Int8Array::from(vec![1, 2])),
            Arc::new(Int16Array::from(vec![1, 2])),
            Arc::new(Int32Array::from(vec![1, 2])),
            Arc::new(Int64Array::from(vec![1, 2])),
            Arc::new(UInt8Array::from(vec![1, 2])),
            Arc::new(UInt16Array::from(vec![1, 2])),
            Arc::new(UInt32Array::from(vec![1, 2])),
            Arc::new(UInt64Array::from(vec![1, 2])),
        ];
        for column in whole {
            assert_eq!(from_arrow(column.as_ref()), Ok((Values::I64(vec![1, 2]), None)), "{column:?}");
        }
        let reals: [ArrayRef; 3] = [
            Arc::new(Float32Array::from(vec![0.5, 2f32.powi(63)])),
            Arc::new(Float64Array::from(vec![0.5, 2f64.powi(63)])),
            // Beyond the integers of a trace.
            Arc::new(UInt64Array::from(vec![0, 1u64 << 63])),
        ];
        for (column, first) in reals.iter().zip([0.5, 0.5, 0.0]) {
            assert_eq!(from_arrow(column.as_ref()), Ok((Values::F64(vec![first, 2f64.powi(63)]), None)), "{column:?}");
        }
        let words: [ArrayRef; 3] = [
            Arc::new(StringArray::from(vec![Some("a"), None])),
            Arc::new(LargeStringArray::from(vec![Some("a"), None])),
            Arc::new(StringViewArray::from(vec![Some("a"), None])),
        ];
        for column in words {
            let expected = Values::Strings(vec!["a".into(), String::new()]);
            assert_eq!(from_arrow(column.as_ref()), Ok((expected, None)), "{column:?}");
        }
        let (flags, none) = (BooleanArray::from(vec![Some(true), None]), NullArray::new(1));
        assert_eq!(format!("{:?}", from_arrow(&flags)), "Ok((F64([1.0, NaN]), None))");
        assert_eq!(from_arrow(&none), Err(NoValues::Type("Null".into())));
        assert_eq!(format!("{:?}", from_arrow(&Int8Array::from(vec![Some(1), None]))), "Ok((F64([1.0, NaN]), None))");
    }

    #[test]
    fn lists_are_all_of_one_length() {
        let rows = [Some([Some(1), Some(2)]), Some([Some(3), Some(4)])];
        let short = ListArray::from_iter_primitive::<Int16Type, _, _>(rows);
        let long = LargeListArray::from_iter_primitive::<Int16Type, _, _>(rows);
        let columns: [ArrayRef; 2] = [Arc::new(short), Arc::new(long)];
        for column in columns {
            for (first, len, values) in [(0, 2, vec![1, 2, 3, 4]), (1, 1, vec![3, 4])] {
                let found = from_arrow(column.slice(first, len).as_ref());
                assert_eq!(found, Ok((Values::I64(values), Some(2))), "{column:?}");
            }
            assert_eq!(from_arrow(column.slice(1, 0).as_ref()), Ok((Values::I64(vec![]), Some(0))), "{column:?}");
        }
        for (last, told) in [(Some(vec![Some(2), Some(3)]), "one length"), (None, "1 of its lists are null")] {
            let column = LargeListArray::from_iter_primitive::<Int16Type, _, _>([Some(vec![Some(1)]), last]);
            let error = from_arrow(&column);
            assert!(matches!(&error, Err(NoValues::Damaged(what)) if what.contains(told)), "{column:?}: {error:?}");
        }
    }

    /// The right values are those that pyarrow shows of such columns.
    #[test]
    fn numbers_in_other_clothes() {
        let decimal = |values: Vec<Option<i128>>, scale| -> ArrayRef {
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(20, scale).unwrap())
        };
        let halves: Float16Array = [0.5, -2.0].into_iter().map(|value| Some(half::f16::from_f64(value))).collect();
        let keys = Int8Array::from(vec![Some(1), None, Some(0)]);
        let of_numbers = DictionaryArray::new(keys.clone(), Arc::new(Int32Array::from(vec![7, 9])));
        let of_all = DictionaryArray::new(Int8Array::from(vec![1, 0]), Arc::new(Int32Array::from(vec![7, 9])));
        let of_flags =
            DictionaryArray::new(Int8Array::from(vec![1, 0]), Arc::new(BooleanArray::from(vec![true, false])));
        let of_words = DictionaryArray::new(keys, Arc::new(StringArray::from(vec!["a", "b"])));
        let none: Int8Array = vec![None, None].into();
        let of_nothing = DictionaryArray::new(none, Arc::new(Float64Array::from(Vec::<f64>::new())));
        let columns: [(ArrayRef, &str); 10] = [
            (decimal(vec![Some(125), Some(-1)], 2), "F64([1.25, -0.01])"),
            (decimal(vec![Some(5), None], 1), "F64([0.5, NaN])"),
            (decimal(vec![Some(5), Some(7)], 0), "I64([5, 7])"),
            (decimal(vec![Some(10_i128.pow(19)), None], 0), "F64([1e19, NaN])"),
            (Arc::new(halves), "F64([0.5, -2.0])"),
            (Arc::new(of_numbers), "F64([9.0, NaN, 7.0])"),
            (Arc::new(of_all), "I64([9, 7])"),
            (Arc::new(of_flags), "Bool([false, true])"),
            (Arc::new(of_words), "Strings([\"b\", \"\", \"a\"])"),
            (Arc::new(of_nothing), "F64([NaN, NaN])"),
        ];
        for (column, expected) in columns {
            let found = from_arrow(column.as_ref()).map(|(values, width)| (format!("{values:?}"), width));
            assert_eq!(found, Ok((expected.to_owned(), None)), "{column:?}");
        }
    }

    #[test]
    fn what_is_no_number_names_its_type() {
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
        let lists = FixedSizeListArray::new(
            Arc::new(arrow_schema::Field::new("element", DataType::Date32, false)),
            1,
            dates.clone(),
            None,
        );
        let of_dates = DictionaryArray::new(Int8Array::from(vec![1, 0]), dates.clone());
        let columns: [(ArrayRef, &str); 3] =
            [(dates, "Date32"), (Arc::new(lists), "FixedSizeList"), (Arc::new(of_dates), "Dictionary(Int8, Date32)")];
        for (column, name) in columns {
            let found = from_arrow(column.as_ref());
            assert!(matches!(&found, Err(NoValues::Type(found)) if found.starts_with(name)), "{found:?}");
        }
    }
}
