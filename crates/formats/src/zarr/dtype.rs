//! The types of stored values (dtype), as version 2 (NumPy's letters) and version 3 name them, and fill values.

use crate::conventions::{StorageType, date_attributes, duration_attributes};
use octopus_trace::{Attribute, Calendar, TimeUnit, Values};
use serde_json::Value;

/// The meaning of a value's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Float,
    Integer,
    Unsigned,
    Bool,
    /// NumPy's `U`: code points of four bytes, padded with zeros.
    Utf32,
    /// NumPy's `S`: bytes padded with zeros.
    Bytes,
    /// Words of any length, which only the codec `vlen-utf8` stores.
    Words,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DataType {
    pub kind: Kind,
    /// The number of bytes of one value; for words of any length, of an empty one.
    pub width: usize,
    pub big_endian: bool,
    /// What integers mean that are times.
    pub time: Option<NumpyTime>,
}

/// NumPy's types of time, which count units from 1970 on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumpyTime {
    Date(TimeUnit),
    Duration(TimeUnit),
}

impl NumpyTime {
    /// Returns the type that counts in NumPy's unit `unit`; months and years have no length.
    fn of_unit(is_date: bool, unit: &str) -> Option<Self> {
        let unit = match unit {
            "D" => TimeUnit::Days,
            "h" => TimeUnit::Hours,
            "m" => TimeUnit::Minutes,
            "s" => TimeUnit::Seconds,
            "ms" => TimeUnit::Milliseconds,
            "us" => TimeUnit::Microseconds,
            "ns" => TimeUnit::Nanoseconds,
            _ => return None,
        };
        Some(if is_date { Self::Date(unit) } else { Self::Duration(unit) })
    }

    /// Returns the attributes by which the CF conventions say so.
    pub(super) fn attributes(self) -> [(&'static str, Attribute); 2] {
        match self {
            Self::Date(unit) => date_attributes(unit, Calendar::ProlepticGregorian),
            Self::Duration(unit) => duration_attributes(unit, "ns"),
        }
    }
}

impl DataType {
    pub(super) fn new(kind: Kind, width: usize) -> Self {
        Self { kind, width, big_endian: false, time: None }
    }

    pub(super) fn storage(self) -> StorageType {
        let bits = 8 * self.width as u32;
        match self.kind {
            Kind::Float => StorageType::Real { single: self.width < 8 },
            Kind::Integer => StorageType::Integer { bits, signed: true },
            Kind::Unsigned => StorageType::Integer { bits, signed: false },
            _ => StorageType::Other,
        }
    }

    /// `<f8`, `|b1`, `>i4`, `<U12`, `|O`.
    ///
    /// # Errors
    /// The type's name, of one that has no place in a trace.
    pub(super) fn of_numpy(name: &Value) -> Result<Self, String> {
        let refuse = || format!("type {name}");
        let text = name.as_str().filter(|text| text.is_ascii()).ok_or_else(refuse)?;
        let (order, rest) = text.split_at_checked(1).ok_or_else(refuse)?;
        let (letter, number) = rest.split_at_checked(1).ok_or_else(refuse)?;
        let big_endian = order == ">";
        if letter == "O" {
            return Ok(Self { big_endian, ..Self::new(Kind::Words, 4) });
        }
        if let ("M" | "m", Some(unit)) = (letter, number.strip_prefix("8[").and_then(|unit| unit.strip_suffix(']'))) {
            let time = Some(NumpyTime::of_unit(letter == "M", unit).ok_or_else(refuse)?);
            return Ok(Self { big_endian, time, ..Self::new(Kind::Integer, 8) });
        }
        let number: usize = number.parse().map_err(|_| refuse())?;
        let (kind, width) = match (letter, number) {
            ("f", 2 | 4 | 8) => (Kind::Float, number),
            ("i", 1 | 2 | 4 | 8) => (Kind::Integer, number),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, number),
            ("b", 1) => (Kind::Bool, 1),
            ("U", 0..1_000_000) => (Kind::Utf32, 4 * number),
            ("S", 0..1_000_000) => (Kind::Bytes, number),
            _ => return Err(refuse()),
        };
        Ok(Self { big_endian, ..Self::new(kind, width) })
    }

    /// `float64`, `bool`, `string`, `{"name": "fixed_length_utf32", ...}`.
    ///
    /// # Errors
    /// The type's name, of one that has no place in a trace.
    pub(super) fn of_version_3(name: &Value) -> Result<Self, String> {
        let refuse = || format!("type {name}");
        let length = || name.pointer("/configuration/length_bytes").and_then(Value::as_u64);
        let length = || length().filter(|&len| len < 4_000_000).ok_or_else(refuse).map(|len| len as usize);
        let (kind, width) = match name.as_str().or_else(|| name["name"].as_str()).ok_or_else(refuse)? {
            "float16" => (Kind::Float, 2),
            "float32" => (Kind::Float, 4),
            "float64" => (Kind::Float, 8),
            "int8" => (Kind::Integer, 1),
            "int16" => (Kind::Integer, 2),
            "int32" => (Kind::Integer, 4),
            "int64" => (Kind::Integer, 8),
            "uint8" => (Kind::Unsigned, 1),
            "uint16" => (Kind::Unsigned, 2),
            "uint32" => (Kind::Unsigned, 4),
            "uint64" => (Kind::Unsigned, 8),
            "bool" => (Kind::Bool, 1),
            "string" => (Kind::Words, 4),
            "fixed_length_utf32" => (Kind::Utf32, length()? / 4 * 4),
            "null_terminated_bytes" => (Kind::Bytes, length()?),
            time @ ("numpy.datetime64" | "numpy.timedelta64") => {
                let settings = &name["configuration"];
                let unit = settings["unit"].as_str().filter(|_| settings["scale_factor"] == 1).unwrap_or_default();
                let time = Some(NumpyTime::of_unit(time == "numpy.datetime64", unit).ok_or_else(refuse)?);
                return Ok(Self { time, ..Self::new(Kind::Integer, 8) });
            }
            _ => return Err(refuse()),
        };
        Ok(Self::new(kind, width))
    }

    /// `count` copies of `fill`, which may be absent.
    pub(super) fn filled(self, fill: &Value, count: usize) -> Result<Values, String> {
        let refuse = || format!("its fill value {fill} does not fit its type");
        let absent = fill.is_null();
        Ok(match self.kind {
            Kind::Float => Values::F64(vec![if absent { 0.0 } else { real(fill).ok_or_else(refuse)? }; count]),
            Kind::Integer if self.time.is_some() && fill == "NaT" => Values::I64(vec![i64::MIN; count]),
            Kind::Integer => Values::I64(vec![if absent { 0 } else { fill.as_i64().ok_or_else(refuse)? }; count]),
            // The bits of an integer beyond 2^63 are kept until all values are there.
            Kind::Unsigned => {
                Values::I64(vec![if absent { 0 } else { fill.as_u64().ok_or_else(refuse)? as i64 }; count])
            }
            Kind::Bool => {
                Values::Bool(vec![fill.as_bool().or(fill.as_i64().map(|flag| flag != 0)).unwrap_or(false); count])
            }
            Kind::Utf32 | Kind::Words => Values::Strings(vec![fill.as_str().unwrap_or_default().to_owned(); count]),
            // Version 2 writes them in base 64, and nobody but empty ones.
            Kind::Bytes => Values::Strings(vec![String::new(); count]),
        })
    }

    /// Returns the values in `bytes`, whose length is a multiple of the width.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<Values, String> {
        fn each<const N: usize, T>(bytes: &[u8], big_endian: bool, make: impl Fn([u8; N]) -> T) -> Vec<T> {
            let (values, _) = bytes.as_chunks::<N>();
            let ordered = |mut value: [u8; N]| {
                if big_endian {
                    value.reverse();
                }
                value
            };
            values.iter().map(|&value| make(ordered(value))).collect()
        }
        let big = self.big_endian;
        Ok(match (self.kind, self.width) {
            (Kind::Float, 2) => Values::F64(each(bytes, big, |value| half::f16::from_le_bytes(value).into())),
            (Kind::Float, 4) => Values::F64(each(bytes, big, |value| f32::from_le_bytes(value).into())),
            (Kind::Float, _) => Values::F64(each(bytes, big, f64::from_le_bytes)),
            (Kind::Integer, 1) => Values::I64(each(bytes, big, |value| i8::from_le_bytes(value).into())),
            (Kind::Integer, 2) => Values::I64(each(bytes, big, |value| i16::from_le_bytes(value).into())),
            (Kind::Integer, 4) => Values::I64(each(bytes, big, |value| i32::from_le_bytes(value).into())),
            (Kind::Integer | Kind::Unsigned, 8) => Values::I64(each(bytes, big, i64::from_le_bytes)),
            (Kind::Unsigned, 1) => Values::I64(each(bytes, big, |value| u8::from_le_bytes(value).into())),
            (Kind::Unsigned, 2) => Values::I64(each(bytes, big, |value| u16::from_le_bytes(value).into())),
            (Kind::Unsigned, _) => Values::I64(each(bytes, big, |value| u32::from_le_bytes(value).into())),
            (Kind::Integer, _) => return Err(format!("it has integers of {} bytes", self.width)),
            (Kind::Bool, _) => Values::Bool(bytes.iter().map(|&flag| flag != 0).collect()),
            (Kind::Utf32, width) => {
                let word = |bytes: &[u8]| {
                    let points = each(bytes, big, u32::from_le_bytes);
                    let end = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
                    points[..end].iter().map(|&point| char::from_u32(point)).collect::<Option<String>>()
                };
                let words: Option<_> = bytes.chunks_exact(width.max(1)).map(word).collect();
                Values::Strings(words.ok_or("its words are not Unicode")?)
            }
            (Kind::Bytes, width) => {
                let word = |bytes: &[u8]| {
                    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    String::from_utf8(bytes[..end].to_vec())
                };
                let words: Result<_, _> = bytes.chunks_exact(width.max(1)).map(word).collect();
                Values::Strings(words.map_err(|_| "its words are not Unicode")?)
            }
            (Kind::Words, _) => return Err("words of any length need the codec vlen-utf8".into()),
        })
    }
}

/// Returns a number as the metadata write it: also `"NaN"`, `"-Infinity"` and the bits in hexadecimal.
pub(super) fn real(value: &Value) -> Option<f64> {
    let Some(text) = value.as_str() else { return value.as_f64() };
    match text.strip_prefix("0x") {
        Some(bits) => {
            let number = u64::from_str_radix(bits, 16).ok()?;
            Some(match bits.len() {
                4 => half::f16::from_bits(number as u16).into(),
                8 => f32::from_bits(number as u32).into(),
                _ => f64::from_bits(number),
            })
        }
        None => ["NaN", "Infinity", "-Infinity"].contains(&text).then(|| text.parse().ok()).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_of_the_metadata() {
        for (value, expected) in [
            (json!(2.5), Some(2.5)),
            (json!("-Infinity"), Some(f64::NEG_INFINITY)),
            // IEEE 754: pi in half, single and double precision.
            (json!("0x4248"), Some(3.140625)),
            (json!("0x40490fdb"), Some(std::f32::consts::PI.into())),
            (json!("0x400921fb54442d18"), Some(std::f64::consts::PI)),
            (json!("0x"), None),
            (json!("inf"), None),
            (json!("2.5"), None),
            (json!(true), None),
        ] {
            assert_eq!(real(&value), expected, "{value}");
        }
        assert!(real(&json!("NaN")).unwrap().is_nan());
    }

    #[test]
    fn times_of_numpy_are_integers_with_a_unit() {
        let third = |name: &str, unit: &str, step: u64| {
            let configuration = json!({ "unit": unit, "scale_factor": step });
            DataType::of_version_3(&json!({ "name": name, "configuration": configuration }))
        };
        for (data_type, time) in [
            (DataType::of_numpy(&json!("<M8[ns]")), NumpyTime::Date(TimeUnit::Nanoseconds)),
            (DataType::of_numpy(&json!(">m8[D]")), NumpyTime::Duration(TimeUnit::Days)),
            (third("numpy.datetime64", "s", 1), NumpyTime::Date(TimeUnit::Seconds)),
            (third("numpy.timedelta64", "h", 1), NumpyTime::Duration(TimeUnit::Hours)),
        ] {
            let data_type = data_type.unwrap();
            assert_eq!((data_type.kind, data_type.width, data_type.time), (Kind::Integer, 8, Some(time)));
            assert_eq!(data_type.filled(&json!("NaT"), 1), Ok(Values::I64(vec![i64::MIN])));
        }
        for refused in [third("numpy.datetime64", "M", 1), third("numpy.datetime64", "ns", 10)] {
            assert!(refused.unwrap_err().starts_with("type "));
        }
        let date = NumpyTime::Date(TimeUnit::Days).attributes();
        assert_eq!(date[0].1, Attribute::from("days since 1970-01-01"));
        assert_eq!(NumpyTime::Duration(TimeUnit::Days).attributes()[0].1, Attribute::from("days"));
    }

    #[test]
    fn words_of_one_length_end_with_their_last_letter() {
        let fixed = |name: &str, bytes: usize| json!({ "name": name, "configuration": { "length_bytes": bytes } });
        let (points, bytes) = (b"a\0\0\0\xdf\0\0\0b\0\0\0\0\0\0\0", b"ab\0\0a\0b\0\0\0\0\0");
        let points_of = ["aß", "b"].map(str::to_owned).to_vec();
        let bytes_of = ["ab", "a\0b", ""].map(str::to_owned).to_vec();
        for (data_type, stored, expected) in [
            (DataType::of_numpy(&json!("<U2")), &points[..], &points_of),
            (DataType::of_version_3(&fixed("fixed_length_utf32", 8)), points, &points_of),
            (DataType::of_numpy(&json!("|S4")), bytes, &bytes_of),
            (DataType::of_version_3(&fixed("null_terminated_bytes", 4)), bytes, &bytes_of),
        ] {
            assert_eq!(data_type.unwrap().decode(stored), Ok(Values::Strings(expected.clone())));
        }
        for name in ["<f3", "<i3", "<u16", "|b2", "<c16", "<M8", "<M8[Y]", "<m8[10ns]", "<", "", "é"] {
            assert_eq!(DataType::of_numpy(&json!(name)).unwrap_err(), format!("type \"{name}\""));
        }
        for name in [json!("complex64"), json!(8), fixed("null_terminated_bytes", 4_000_000)] {
            assert_eq!(DataType::of_version_3(&name).unwrap_err(), format!("type {name}"));
        }
    }

    #[test]
    fn what_is_in_no_chunk_is_the_fill_value() {
        let filled = |name: &str, fill: Value| {
            let found = DataType::of_version_3(&json!(name)).unwrap().filled(&fill, 1);
            found.map_or_else(|message| message, |values| format!("{values:?}"))
        };
        for (name, fill, expected) in [
            ("float64", Value::Null, "F64([0.0])"),
            ("float64", json!("NaN"), "F64([NaN])"),
            ("float64", json!("word"), r#"its fill value "word" does not fit its type"#),
            ("int8", Value::Null, "I64([0])"),
            ("int8", json!(-3), "I64([-3])"),
            ("int8", json!(0.5), "its fill value 0.5 does not fit its type"),
            ("uint64", Value::Null, "I64([0])"),
            ("uint64", json!(u64::MAX), "I64([-1])"),
            ("uint64", json!(-1), "its fill value -1 does not fit its type"),
            ("bool", json!(true), "Bool([true])"),
            ("bool", json!(0), "Bool([false])"),
            ("bool", json!(2), "Bool([true])"),
            ("bool", Value::Null, "Bool([false])"),
            ("string", json!("a"), r#"Strings(["a"])"#),
            ("string", Value::Null, r#"Strings([""])"#),
        ] {
            assert_eq!(filled(name, fill), expected, "{name}");
        }
    }

    #[test]
    fn every_type_has_its_width() {
        let fixed = |name: &str, bytes: usize| json!({ "name": name, "configuration": { "length_bytes": bytes } });
        let time = |name: &str| json!({ "name": name, "configuration": { "unit": "s", "scale_factor": 1 } });
        for (name, third, kind, width) in [
            ("f2", json!("float16"), Kind::Float, 2),
            ("f4", json!("float32"), Kind::Float, 4),
            ("f8", json!("float64"), Kind::Float, 8),
            ("i1", json!("int8"), Kind::Integer, 1),
            ("i2", json!("int16"), Kind::Integer, 2),
            ("i4", json!("int32"), Kind::Integer, 4),
            ("i8", json!("int64"), Kind::Integer, 8),
            ("u1", json!("uint8"), Kind::Unsigned, 1),
            ("u2", json!("uint16"), Kind::Unsigned, 2),
            ("u4", json!("uint32"), Kind::Unsigned, 4),
            ("u8", json!("uint64"), Kind::Unsigned, 8),
            ("b1", json!("bool"), Kind::Bool, 1),
            ("O", json!("string"), Kind::Words, 4),
            ("U3", fixed("fixed_length_utf32", 12), Kind::Utf32, 12),
            ("U2", fixed("fixed_length_utf32", 11), Kind::Utf32, 8),
            ("S999999", fixed("null_terminated_bytes", 999_999), Kind::Bytes, 999_999),
            ("M8[s]", time("numpy.datetime64"), Kind::Integer, 8),
            ("m8[s]", time("numpy.timedelta64"), Kind::Integer, 8),
        ] {
            for (order, big_endian) in [("<", false), (">", true), ("|", false)] {
                let found = DataType::of_numpy(&json!(format!("{order}{name}"))).unwrap();
                assert_eq!((found.kind, found.width, found.big_endian), (kind, width, big_endian), "{order}{name}");
            }
            let found = DataType::of_version_3(&third).unwrap();
            assert_eq!((found.kind, found.width, found.big_endian), (kind, width, false), "{third}");
            let bits = 8 * width as u32;
            let storage = match kind {
                Kind::Float => StorageType::Real { single: width < 8 },
                Kind::Integer => StorageType::Integer { bits, signed: true },
                Kind::Unsigned => StorageType::Integer { bits, signed: false },
                _ => StorageType::Other,
            };
            assert_eq!(found.storage(), storage, "{third}");
        }
        let longest = DataType::of_version_3(&fixed("null_terminated_bytes", 3_999_999)).unwrap();
        assert_eq!(longest.width, 3_999_999);
    }

    #[test]
    fn bytes_have_either_order() {
        let reals = Values::F64(vec![1.5, -0.15625]);
        let (signed, unsigned) = (Values::I64(vec![-2, 77]), Values::I64(vec![2, 77]));
        let words = Values::Strings(vec!["ß☃".into(), "b".into()]);
        let halves = [1.5, -0.15625].map(half::f16::from_f64);
        macro_rules! orders {
            ($numbers:expr) => {
                (
                    $numbers.map(|number| number.to_le_bytes()).concat(),
                    $numbers.map(|number| number.to_be_bytes()).concat(),
                )
            };
        }
        let points = ['ß', '☃', 'b', '\0'].map(u32::from);
        for (name, (little, big), expected) in [
            ("f2", orders!(halves), &reals),
            ("f4", orders!([1.5f32, -0.15625]), &reals),
            ("f8", orders!([1.5f64, -0.15625]), &reals),
            ("i1", orders!([-2i8, 77]), &signed),
            ("i2", orders!([-2i16, 77]), &signed),
            ("i4", orders!([-2i32, 77]), &signed),
            ("i8", orders!([-2i64, 77]), &signed),
            ("u1", orders!([2u8, 77]), &unsigned),
            ("u2", orders!([2u16, 77]), &unsigned),
            ("u4", orders!([2u32, 77]), &unsigned),
            ("u8", orders!([2u64, 77]), &unsigned),
            ("U2", orders!(points), &words),
        ] {
            for (order, bytes) in [("<", little), (">", big)] {
                let data_type = DataType::of_numpy(&json!(format!("{order}{name}"))).unwrap();
                assert_eq!(data_type.decode(&bytes).as_ref(), Ok(expected), "{order}{name}");
            }
        }
    }

    #[test]
    fn words_may_be_short_or_empty() {
        let read = |name: &str, bytes: &[u8]| DataType::of_numpy(&json!(name)).unwrap().decode(bytes);
        let words = |words: &[&str]| Ok(Values::Strings(words.iter().map(|&word| word.to_owned()).collect()));
        assert_eq!(read("<U1", b"a\0\0\0\0\0\0\0"), words(&["a", ""]));
        assert_eq!(read("|S1", b"a\0c"), words(&["a", "", "c"]));
        assert_eq!((read("<U0", b""), read("|S0", b"")), (words(&[]), words(&[])));
    }
}
