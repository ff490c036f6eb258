//! Values as Arrow's columns, and back: the types of Parquet, nulls and lists.

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
pub(super) fn from_arrow(column: &dyn Array) -> Result<(Values, Option<usize>), String> {
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
fn from_lists(column: &dyn Array, values: &ArrayRef, ends: &[i64]) -> Result<(Values, Option<usize>), String> {
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
pub(super) fn append(target: &mut Values, more: Values) -> Result<(), String> {
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

    #[test]
    fn later_batches_come_after_earlier_ones() {
        let (words, reals) = (|word: &str| Values::Strings(vec![word.into()]), |value| Values::F64(vec![value]));
        let joined = |mut target: Values, more| append(&mut target, more).map(|()| target);
        assert_eq!(joined(Values::I64(vec![1]), Values::I64(vec![2])), Ok(Values::I64(vec![1, 2])));
        assert_eq!(joined(reals(1.5), reals(2.5)), Ok(Values::F64(vec![1.5, 2.5])));
        assert_eq!(joined(Values::I64(vec![1]), reals(0.5)), Ok(Values::F64(vec![1.0, 0.5])));
        assert_eq!(joined(words("a"), words("b")), Ok(Values::Strings(vec!["a".into(), "b".into()])));
        assert!(joined(words("a"), reals(1.0)).is_err() && joined(reals(1.0), words("a")).is_err());
    }
}
