//! Values as Parquet's columns, and back: types and nulls.

use super::encode::ParquetColumn;
use super::stored::{Cells, Stored};
use super::types::{DECIMAL_BYTES, ParquetType};
use crate::conventions::label_values;
use half::f16;
use octopus_trace::{Calendar, Labels, TimeUnit, Values};
use parquet::data_type::Int96;
use serde_json::{Value, json};

/// Returns the labels at these places as a column of their type: dates of NumPy's calendar as dates or times, those of
/// other calendars as words.
pub(super) fn label_column(name: &str, labels: &Labels, places: &[usize]) -> ParquetColumn {
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
            if dates.unit() == TimeUnit::Days {
                let days = places.iter().map(|&at| i32::try_from(dates.counts()[at]).ok()).collect();
                return ParquetColumn::nullable(name, ParquetType::Date, days, Stored::Int32);
            }
            let unit = smaller(dates.unit());
            let counts = times(dates.counts(), dates.unit().nanoseconds() / unit.nanoseconds());
            ParquetColumn::nullable(name, ParquetType::Timestamp(unit, None), counts, Stored::Int64)
        }
        Labels::Dates(_) => {
            let words = places.iter().map(|&at| labels.text(at)).collect();
            ParquetColumn::new(name, Values::Strings(words), None)
        }
        Labels::Durations(durations) => {
            let unit = smaller(durations.unit());
            let counts = times(durations.counts(), durations.unit().nanoseconds() / unit.nanoseconds());
            ParquetColumn::nullable(name, ParquetType::Duration(unit), counts, Stored::Int64)
        }
        Labels::Singles(values) => {
            let values = places.iter().map(|&at| values[at]).collect();
            ParquetColumn::of(name, ParquetType::Real(32), Stored::Float(values))
        }
        _ => ParquetColumn::new(name, label_values(labels).gather(places), None),
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

/// Returns the cells of a column of a type that a trace can hold. A number or flag that is null is NaN (as pandas means
/// it), for which whole numbers and flags become real.
///
/// # Errors
/// When the cells are damaged; a sentence says so.
pub(super) fn trace_values(cells: Cells, kind: &ParquetType) -> Result<Values, String> {
    Ok(match kind {
        ParquetType::Real(_) => Values::F64(cells.reals()),
        ParquetType::Integer { signed, .. } => {
            let numbers = cells.wholes(*signed);
            let whole: Option<Vec<i64>> = numbers.iter().map(|number| i64::try_from((*number)?).ok()).collect();
            let real = |number: &Option<i128>| number.map_or(f64::NAN, |number| number as f64);
            whole.map_or_else(|| Values::F64(numbers.iter().map(real).collect()), Values::I64)
        }
        ParquetType::Decimal { .. } => {
            // Whole ones have no decimals.
            let texts = cells.exact(kind)?;
            let whole = texts.iter().map(|text| text.as_ref()?.parse().ok()).collect::<Option<_>>();
            let real = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
            whole.map_or_else(|| Values::F64(texts.iter().map(real).collect()), Values::I64)
        }
        ParquetType::Boolean => {
            let flags = cells.flags();
            let plain: Option<Vec<bool>> = flags.iter().copied().collect();
            let real = |flag: &Option<bool>| flag.map_or(f64::NAN, |flag| f64::from(u8::from(flag)));
            plain.map_or_else(|| Values::F64(flags.iter().map(real).collect()), Values::Bool)
        }
        _ => Values::Strings(cells.words()?.into_iter().map(Option::unwrap_or_default).collect()),
    })
}

impl Cells {
    /// Returns real numbers; NaN where a cell is null.
    pub(crate) fn reals(self) -> Vec<f64> {
        match self.values {
            Stored::Double(values) => values,
            Stored::Float(values) => values.into_iter().map(f64::from).collect(),
            Stored::Fixed(values) => {
                let half = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, |bytes| f16::from_le_bytes(bytes).to_f64());
                values.iter().map(|value| half(value.data())).collect()
            }
            _ => vec![f64::NAN; self.values.len()],
        }
    }

    /// Returns whole numbers, and counts of days and times.
    fn wholes(&self, signed: bool) -> Vec<Option<i128>> {
        self.each(|at| match &self.values {
            Stored::Int32(values) if signed => values[at].into(),
            Stored::Int32(values) => (values[at] as u32).into(),
            Stored::Int64(values) if signed => values[at].into(),
            Stored::Int64(values) => (values[at] as u64).into(),
            _ => 0,
        })
    }

    /// Returns points or lengths of time, in their unit.
    pub(crate) fn counts(&self, unit: TimeUnit) -> Vec<Option<i64>> {
        let in_unit = |time: &Int96| match unit {
            TimeUnit::Nanoseconds => time.to_nanos(),
            TimeUnit::Microseconds => time.to_micros(),
            TimeUnit::Milliseconds => time.to_millis(),
            _ => time.to_seconds(),
        };
        self.each(|at| match &self.values {
            Stored::Int32(values) => values[at].into(),
            Stored::Int64(values) => values[at],
            Stored::Int96(values) => in_unit(&values[at]),
            _ => 0,
        })
    }

    pub(crate) fn flags(&self) -> Vec<Option<bool>> {
        self.each(|at| matches!(&self.values, Stored::Booleans(values) if values[at]))
    }

    /// Returns the text in each cell.
    ///
    /// # Errors
    /// When a cell holds other bytes; a sentence says so.
    pub(crate) fn words(&self) -> Result<Vec<Option<String>>, String> {
        let text = |at: usize| match &self.values {
            Stored::Bytes(values) => std::str::from_utf8(values[at].data()).map(str::to_owned),
            _ => Ok(String::new()),
        };
        let words = self.each(text).into_iter().map(Option::transpose).collect::<Result<_, _>>();
        words.map_err(|_| "holds bytes, not text".to_owned())
    }

    /// Returns whole numbers and decimals with all their digits.
    ///
    /// # Errors
    /// When a decimal has more bytes than any reader has room for; a sentence says so.
    pub(crate) fn exact(&self, kind: &ParquetType) -> Result<Vec<Option<String>>, String> {
        let &ParquetType::Decimal { scale, .. } = kind else {
            let signed = !matches!(kind, ParquetType::Integer { signed: false, .. });
            return Ok(self.wholes(signed).into_iter().map(|number| Some(number?.to_string())).collect());
        };
        let scale = usize::try_from(scale).unwrap_or(0);
        let text = |at: usize| match &self.values {
            Stored::Int32(values) => decimal(&values[at].to_be_bytes(), scale),
            Stored::Int64(values) => decimal(&values[at].to_be_bytes(), scale),
            Stored::Bytes(values) => decimal(values[at].data(), scale),
            Stored::Fixed(values) => decimal(values[at].data(), scale),
            _ => Ok("0".to_owned()),
        };
        self.each(text).into_iter().map(Option::transpose).collect()
    }
}

/// Returns the text of a decimal number: a whole number in two's complement, of which `scale` digits are decimals.
fn decimal(bytes: &[u8], scale: usize) -> Result<String, String> {
    if bytes.len() > DECIMAL_BYTES {
        return Err(format!("holds a decimal number of {} bytes, and may have {DECIMAL_BYTES}", bytes.len()));
    }
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    // As large as any, with its sign, and then without.
    let mut wide = [if is_negative { 0xff } else { 0 }; DECIMAL_BYTES];
    wide[DECIMAL_BYTES - bytes.len()..].copy_from_slice(bytes);
    let mut parts: Vec<u32> =
        wide.chunks_exact(4).map(|part| part.iter().fold(0, |all, &byte| all << 8 | u32::from(byte))).collect();
    if is_negative {
        let mut carry = true;
        for part in parts.iter_mut().rev() {
            (*part, carry) = (!*part).overflowing_add(carry.into());
        }
    }
    // Nine digits at a time, the last first.
    let mut digits = Vec::new();
    while digits.is_empty() || parts.iter().any(|&part| part > 0) {
        let mut rest = 0;
        for part in &mut parts {
            let all = rest << 32 | u64::from(*part);
            (*part, rest) = ((all / 1_000_000_000) as u32, all % 1_000_000_000);
        }
        digits.push(format!("{rest:09}"));
    }
    digits.reverse();
    let digits = digits.concat();
    let digits = format!("{:0>1$}", digits.trim_start_matches('0'), scale + 1);
    let (whole, decimals) = digits.split_at(digits.len() - scale);
    let (sign, point) = (if is_negative { "-" } else { "" }, if scale > 0 { "." } else { "" });
    Ok(format!("{sign}{whole}{point}{decimals}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's whole numbers are the truth.
    #[test]
    fn decimals_of_any_size() {
        let mut least = vec![0; 32];
        least[0] = 0x80;
        let nines = 999_999_999_i64.to_be_bytes();
        for (bytes, scale, text) in [
            (&[][..], 0, "0"),
            (&[], 2, "0.00"),
            (&[0], 1, "0.0"),
            (&[0xff], 0, "-1"),
            (&[0xff; 32], 2, "-0.01"),
            (&[0x7f], 1, "12.7"),
            (&[0x80], 3, "-0.128"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0], 0, "18446744073709551616"),
            (&[0xff, 0, 0, 0, 0], 4, "-429496.7296"),
            (&nines, 9, "0.999999999"),
            (&1_000_000_000_i64.to_be_bytes(), 0, "1000000000"),
            (&i64::MIN.to_be_bytes(), 0, "-9223372036854775808"),
            (&least, 0, "-57896044618658097711785492504343953926634992332820282019728792003956564819968"),
        ] {
            assert_eq!(decimal(bytes, scale).as_deref(), Ok(text));
        }
        assert!(decimal(&[0; 33], 0).unwrap_err().contains("33 bytes, and may have 32"));
    }
}
