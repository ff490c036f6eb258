//! Dates and times of Parquet as labels: the text that pandas writes into CSV.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Date64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_schema::{DataType, TimeUnit};

/// The digits of a second that instants are written with first.
const DIGITS: usize = 9;
/// The time of day of a date.
const MIDNIGHT: &str = " 00:00:00.000000000";
/// What follows an instant that is one on the whole earth: Parquet knows no other zone.
const UTC: &str = "+00:00";

/// Returns the days of a column of dates as text, `2020-01-31`; `None` where a cell is null.
///
/// # Errors
/// When a day lies beyond those that can be written.
pub(super) fn days(column: &dyn Array) -> Result<Vec<Option<String>>, String> {
    let day = |at: usize| {
        if column.is_null(at) {
            return Ok(None);
        }
        let date = match column.data_type() {
            DataType::Date64 => column.as_primitive::<Date64Type>().value_as_date(at),
            _ => column.as_primitive::<Date32Type>().value_as_date(at),
        };
        date.map(|date| Some(date.to_string()))
            .ok_or_else(|| format!("row {} holds no day that can be written", at + 1))
    };
    (0..column.len()).map(day).collect()
}

/// Returns the instants of a column as text with all digits, to be [`shortened`]; `None` where a cell is null.
///
/// # Errors
/// When an instant lies beyond those that can be written.
pub(super) fn instants(column: &dyn Array) -> Result<Vec<Option<String>>, String> {
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, zone) => of_unit::<TimestampSecondType>(column, zone.is_some()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => of_unit::<TimestampMillisecondType>(column, zone.is_some()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => of_unit::<TimestampMicrosecondType>(column, zone.is_some()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => of_unit::<TimestampNanosecondType>(column, zone.is_some()),
        other => Err(format!("{other} holds no instants")),
    }
}

fn of_unit<T: ArrowTimestampType>(column: &dyn Array, in_utc: bool) -> Result<Vec<Option<String>>, String> {
    let column = column.as_primitive::<T>();
    let one = |at: usize| {
        if column.is_null(at) {
            return Ok(None);
        }
        let instant = column.value_as_datetime(at);
        let instant = instant.ok_or_else(|| format!("row {} holds no time that can be written", at + 1))?.to_string();
        let (whole, fraction) = instant.split_once('.').unwrap_or((&instant, ""));
        Ok(Some(format!("{whole}.{fraction:0<DIGITS$}{}", if in_utc { UTC } else { "" })))
    };
    (0..column.len()).map(one).collect()
}

/// Returns instants without digits that are 0 in all of them: as dates, to the second, or with 3, 6 or 9 digits; `None`
/// where some labels are no instants.
pub(super) fn shortened<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> Option<Vec<String>> {
    let is_instant =
        |label: &str| label.strip_suffix(UTC).unwrap_or(label).len() >= MIDNIGHT.len() && label.contains('.');
    if !labels.clone().all(is_instant) {
        return None;
    }
    if labels.clone().all(|label| label.ends_with(MIDNIGHT)) {
        return Some(labels.map(|label| label.trim_end_matches(MIDNIGHT).to_owned()).collect());
    }
    let parts = |label: &'a str| {
        let (bare, zone) = label.strip_suffix(UTC).map_or((label, ""), |bare| (bare, UTC));
        let (whole, fraction) = bare.split_once('.').unwrap_or((bare, ""));
        (whole, fraction, zone)
    };
    let used = labels.clone().map(|label| parts(label).1.trim_end_matches('0').len().next_multiple_of(3)).max()?;
    let short = |label: &'a str| {
        let (whole, fraction, zone) = parts(label);
        let digits = fraction.get(..used).filter(|digits| !digits.is_empty());
        format!("{whole}{}{zone}", digits.map(|digits| format!(".{digits}")).unwrap_or_default())
    };
    Some(labels.map(short).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_lose_the_digits_that_are_0_in_all() {
        let of = |labels: &[&str]| shortened(labels.iter().copied());
        let day = "2020-01-31 00:00:00.000000000";
        let second = "2020-01-31 12:34:56.000000000";
        let tenth = "2020-01-31 12:34:56.500000000";
        assert_eq!(of(&[day]), Some(vec!["2020-01-31".to_owned()]));
        assert_eq!(of(&[day, second]), Some(vec!["2020-01-31 00:00:00".to_owned(), "2020-01-31 12:34:56".to_owned()]));
        let with_digits = ["2020-01-31 00:00:00.000", "2020-01-31 12:34:56.500"].map(str::to_owned);
        assert_eq!(of(&[day, tenth]), Some(with_digits.to_vec()));
        assert_eq!(of(&["2020-01-31 12:34:56.000000001"]), Some(vec!["2020-01-31 12:34:56.000000001".to_owned()]));
        let in_utc = format!("{day}{UTC}");
        assert_eq!(of(&[&in_utc]), Some(vec!["2020-01-31 00:00:00+00:00".to_owned()]));
        assert_eq!(of(&[day, "oslo"]), None);
    }
}
