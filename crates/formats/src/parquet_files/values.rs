//! Values as Arrow's columns, and back: the types of Parquet, nulls and lists.

use super::read::Column;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use octopus_trace::Values;
use std::sync::Arc;

pub(super) fn to_arrow(values: &Values) -> ArrayRef {
    match values {
        Values::F64(values) => Arc::new(Float64Array::from(values.clone())),
        Values::I64(values) => Arc::new(Int64Array::from(values.clone())),
        Values::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Strings(values) => Arc::new(StringArray::from_iter_values(values)),
    }
}

/// Returns the values of a column and how many each row has: `None` of a plain one. A real number that is null is NaN
/// (as pandas means it), and integers among which one is null become real.
pub(super) fn from_arrow(column: &dyn Array) -> Result<Column, String> {
    match column.data_type() {
        DataType::FixedSizeList(_, width) => {
            let lists = column.as_fixed_size_list();
            let width = usize::try_from(*width).unwrap_or(0);
            let inner = lists.values().slice(lists.value_offset_at(0), width * lists.len());
            no_nulls(column)?;
            Ok((plain(inner.as_ref())?, Some(width)))
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let ends: Vec<i64> = lists.value_offsets().iter().map(|&end| end.into()).collect();
            from_lists(column, lists.values(), &ends)
        }
        DataType::LargeList(_) => {
            let lists = column.as_list::<i64>();
            from_lists(column, lists.values(), lists.value_offsets())
        }
        _ => Ok((plain(column)?, None)),
    }
}

/// Lists that are all of one length.
fn from_lists(column: &dyn Array, values: &ArrayRef, ends: &[i64]) -> Result<Column, String> {
    no_nulls(column)?;
    let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else {
        return Ok((plain(values.as_ref())?, Some(0)));
    };
    let width = if ends.len() > 1 { ends[1] - first } else { 0 };
    if ends.windows(2).any(|pair| pair[1] - pair[0] != width) {
        return Err("its lists are not all of one length".into());
    }
    let inner = values.slice(first as usize, (last - first) as usize);
    Ok((plain(inner.as_ref())?, Some(width as usize)))
}

fn no_nulls(column: &dyn Array) -> Result<(), String> {
    if column.null_count() > 0 { Err(format!("{} of its values are null", column.null_count())) } else { Ok(()) }
}

fn plain(column: &dyn Array) -> Result<Values, String> {
    fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &dyn Array) -> Values {
        let wide = || column.as_primitive::<T>().iter().map(|value| value.map(Into::<i128>::into));
        let whole: Option<Vec<i64>> = wide().map(|value| i64::try_from(value?).ok()).collect();
        let reals = || Values::F64(wide().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect());
        whole.map_or_else(reals, Values::I64)
    }
    fn words<'a>(words: impl Iterator<Item = Option<&'a str>>) -> Values {
        Values::Strings(words.map(|word| word.unwrap_or_default().to_owned()).collect())
    }
    let reals = |values: &mut dyn Iterator<Item = Option<f64>>| {
        Values::F64(values.map(|value| value.unwrap_or(f64::NAN)).collect())
    };
    Ok(match column.data_type() {
        DataType::Float64 => reals(&mut column.as_primitive::<Float64Type>().iter()),
        DataType::Float32 => reals(&mut column.as_primitive::<Float32Type>().iter().map(|value| value.map(f64::from))),
        DataType::Int8 => integers::<Int8Type>(column),
        DataType::Int16 => integers::<Int16Type>(column),
        DataType::Int32 => integers::<Int32Type>(column),
        DataType::Int64 => integers::<Int64Type>(column),
        DataType::UInt8 => integers::<UInt8Type>(column),
        DataType::UInt16 => integers::<UInt16Type>(column),
        DataType::UInt32 => integers::<UInt32Type>(column),
        DataType::UInt64 => integers::<UInt64Type>(column),
        DataType::Boolean => {
            no_nulls(column)?;
            Values::Bool(column.as_boolean().values().iter().collect())
        }
        DataType::Utf8 => words(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => words(column.as_string::<i64>().iter()),
        DataType::Utf8View => words(column.as_string_view().iter()),
        other => return Err(format!("its type {other} has no place in a trace")),
    })
}

/// Puts the values of a later batch after those of an earlier one.
pub(super) fn append((target, width): &mut Column, (more, more_width): Column) -> Result<(), String> {
    if *width != more_width {
        return Err("its lists are not all of one length".into());
    }
    match (target, more) {
        (Values::F64(target), Values::F64(more)) => target.extend(more),
        (Values::I64(target), Values::I64(more)) => target.extend(more),
        (Values::Bool(target), Values::Bool(more)) => target.extend(more),
        (Values::Strings(target), Values::Strings(more)) => target.extend(more),
        // One part had a null among its integers.
        (target, more) if target.is_numeric() && more.is_numeric() => {
            let mut all = target.to_f64();
            all.extend(more.to_f64());
            *target = Values::F64(all);
        }
        _ => return Err("its parts have different types".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Float32Array, Int8Array, Int16Array, Int32Array, LargeListArray, LargeStringArray, ListArray, NullArray,
        StringViewArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
    };

    #[test]
    fn later_batches_come_after_earlier_ones() {
        let (words, reals) = (|word: &str| Values::Strings(vec![word.into()]), |value| Values::F64(vec![value]));
        let joined = |target: Values, more: Values| {
            let mut column = (target, None);
            append(&mut column, (more, None)).map(|()| column.0)
        };
        assert_eq!(joined(Values::I64(vec![1]), Values::I64(vec![2])), Ok(Values::I64(vec![1, 2])));
        assert_eq!(joined(reals(1.5), reals(2.5)), Ok(Values::F64(vec![1.5, 2.5])));
        assert_eq!(joined(Values::I64(vec![1]), reals(0.5)), Ok(Values::F64(vec![1.0, 0.5])));
        assert_eq!(joined(words("a"), words("b")), Ok(Values::Strings(vec!["a".into(), "b".into()])));
        let flags = (Values::Bool(vec![true]), Values::Bool(vec![false]));
        assert_eq!(joined(flags.0, flags.1), Ok(Values::Bool(vec![true, false])));
        assert!(joined(words("a"), reals(1.0)).is_err() && joined(reals(1.0), words("a")).is_err());
        let mut lists = (reals(1.0), Some(1));
        assert_eq!(append(&mut lists, (reals(2.0), Some(1))), Ok(()));
        assert_eq!(lists, (Values::F64(vec![1.0, 2.0]), Some(1)));
        for width in [None, Some(2)] {
            assert!(append(&mut lists, (reals(2.0), width)).unwrap_err().contains("one length"));
        }
    }

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
        assert!(from_arrow(&flags).unwrap_err().contains("1 of its values are null"));
        assert!(from_arrow(&none).unwrap_err().contains("no place in a trace"));
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
        for (last, told) in [(Some(vec![Some(2), Some(3)]), "one length"), (None, "1 of its values are null")] {
            let column = LargeListArray::from_iter_primitive::<Int16Type, _, _>([Some(vec![Some(1)]), last]);
            assert!(from_arrow(&column).unwrap_err().contains(told), "{column:?}");
        }
    }
}
