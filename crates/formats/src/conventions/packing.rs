//! What stored numbers stand for: missing values, scales and offsets, signs and flags, as xarray's `decode_cf` takes
//! them.

use indexmap::IndexMap;
use octopus_trace::{Attribute, Values, shown};

/// How a variable's values are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StorageType {
    /// Real numbers, of single precision or less, or of double.
    Real {
        /// Whether they have single precision or less.
        single: bool,
    },
    /// Integers. Those of 64 bits without a sign are held as the signed ones with these bits.
    Integer {
        /// Their number of bits.
        bits: u32,
        /// Whether they have a sign.
        signed: bool,
    },
    /// Flags or words.
    Other,
}

/// The attributes by which stored numbers are understood; they say nothing of the values that come of it.
const ATTRIBUTES: [&str; 5] = ["_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned"];

/// What the attributes of a variable say about its stored numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Packing {
    is_bool: bool,
    /// Whether integers have a sign, if it is another than that of their type.
    signed: Option<bool>,
    /// What marks a missing value.
    missing: Vec<MissingMark>,
    scale: Option<f64>,
    offset: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum MissingMark {
    Integer(i128),
    Real(f64),
}

impl MissingMark {
    fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

impl Packing {
    /// Takes what is about stored numbers out of a variable's attributes.
    ///
    /// # Errors
    /// When a scale or an offset is no number: the values would be others than those that are meant.
    pub(crate) fn take(attrs: &mut IndexMap<String, Attribute>) -> Result<Self, String> {
        let is_text = |name: &str, text: &str| matches!(attrs.get(name), Some(Attribute::Text(found)) if found.eq_ignore_ascii_case(text));
        let numbers = |name: &str| attrs.get(name).map(numbers).unwrap_or_default();
        let number = |name: &str| match (numbers(name).first(), attrs.get(name)) {
            (Some(number), _) => Ok(Some(number.to_f64())),
            (None, None) => Ok(None),
            (None, Some(other)) => Err(no_number(name, other)),
        };
        let packing = Self {
            is_bool: is_text("dtype", "bool"),
            signed: [("true", false), ("false", true)]
                .into_iter()
                .find_map(|(text, signed)| is_text("_Unsigned", text).then_some(signed)),
            missing: ["_FillValue", "missing_value"].into_iter().flat_map(numbers).collect(),
            scale: number("scale_factor")?,
            offset: number("add_offset")?,
        };
        attrs.retain(|name, _| !(ATTRIBUTES.contains(&name.as_str()) || packing.is_bool && name == "dtype"));
        Ok(packing)
    }

    /// Adds a value that marks missing ones.
    pub(crate) fn add_missing(&mut self, value: &Attribute) {
        self.missing.extend(numbers(value));
    }

    /// Returns whole numbers as they are, and `None` for a missing one; nothing for values that are scaled, or are not
    /// stored as integers.
    pub(super) fn whole(&self, values: &Values, storage: StorageType) -> Option<Vec<Option<i128>>> {
        let (Values::I64(values), StorageType::Integer { bits, signed }) = (values, storage) else { return None };
        if self.is_packed() {
            return None;
        }
        let integers = self.integers(bits, signed);
        Some(values.iter().map(|&value| integers.of(value)).collect())
    }

    /// Returns whether stored values stand for real numbers of single precision.
    pub(super) fn keeps_single(&self, storage: StorageType) -> bool {
        storage == StorageType::Real { single: true } && !self.is_packed()
    }

    fn is_packed(&self) -> bool {
        self.scale.is_some() || self.offset.is_some()
    }

    fn integers(&self, bits: u32, signed: bool) -> Integers<'_> {
        let now = self.signed.unwrap_or(signed);
        Integers { packing: self, bits, signed: now, turned: now != signed }
    }

    /// Returns the values that stored numbers stand for. Integers become real numbers where one is missing, they are
    /// scaled, or one is beyond those of 64 bits.
    pub(crate) fn unpacked(&self, values: Values, storage: StorageType) -> Values {
        let (scale, offset) = (self.scale.unwrap_or(1.0), self.offset.unwrap_or(0.0));
        let scaled = |value: f64| if self.is_packed() { value * scale + offset } else { value };
        match (values, storage) {
            (Values::I64(values), _) if self.is_bool => {
                Values::Bool(values.into_iter().map(|flag| flag != 0).collect())
            }
            (Values::I64(values), StorageType::Integer { bits, signed }) => {
                let integers = self.integers(bits, signed);
                let whole: Option<Vec<i64>> = match self.is_packed() {
                    true => None,
                    false => values.iter().map(|&value| i64::try_from(integers.of(value)?).ok()).collect(),
                };
                whole.map_or_else(
                    || {
                        let real = |&value: &i64| integers.of(value).map_or(f64::NAN, |value| scaled(value as f64));
                        Values::F64(values.iter().map(real).collect())
                    },
                    Values::I64,
                )
            }
            (Values::F64(mut values), StorageType::Real { single }) => {
                // A mark is compared in the type in which it is stored.
                let mark =
                    |number: &MissingMark| if single { f64::from(number.to_f64() as f32) } else { number.to_f64() };
                let missing: Vec<f64> = self.missing.iter().map(mark).filter(|mark| !mark.is_nan()).collect();
                if self.is_packed() || !missing.is_empty() {
                    for value in &mut values {
                        *value = if missing.contains(value) { f64::NAN } else { scaled(*value) };
                    }
                }
                Values::F64(values)
            }
            (values, _) => values,
        }
    }
}

/// The integers of a variable.
struct Integers<'a> {
    packing: &'a Packing,
    bits: u32,
    signed: bool,
    /// Whether the sign is another than that of the type.
    turned: bool,
}

impl Integers<'_> {
    /// Returns the integer that stored bits are; `None` for one that marks a missing value.
    fn of(&self, value: i64) -> Option<i128> {
        let found = self.signs(value);
        let is_mark = |number: &MissingMark| match *number {
            MissingMark::Integer(mark) => found == if self.turned { self.signs(mark as i64) } else { mark },
            MissingMark::Real(mark) if self.turned && mark.fract() == 0.0 => found == self.signs(mark as i64),
            MissingMark::Real(mark) => found as f64 == mark,
        };
        (!self.packing.missing.iter().any(is_mark)).then_some(found)
    }

    fn signs(&self, value: i64) -> i128 {
        let unused = 64 - self.bits;
        let bits = (value as u64) << unused;
        if self.signed { i128::from(bits as i64 >> unused) } else { i128::from(bits >> unused) }
    }
}

/// Returns the numbers in an attribute.
fn numbers(attribute: &Attribute) -> Vec<MissingMark> {
    match attribute {
        Attribute::I64(value) => vec![MissingMark::Integer((*value).into())],
        Attribute::F64(value) => vec![MissingMark::Real(*value)],
        Attribute::Text(text) => {
            let real = in_text(text).map(MissingMark::Real);
            real.or_else(|| beyond_in_text(text).map(MissingMark::Integer)).into_iter().collect()
        }
        Attribute::List(items) => items.iter().flat_map(numbers).collect(),
    }
}

/// Returns an unsigned integer beyond those of a trace, of which attributes keep the digits.
fn beyond_in_text(text: &str) -> Option<i128> {
    text.parse::<u64>().ok().filter(|&value| i64::try_from(value).is_err()).map(i128::from)
}

fn no_number(name: &str, value: &Attribute) -> String {
    let found = match value {
        Attribute::Text(text) => format!("the text `{}`", shown(text)),
        other => format!("{other:?}"),
    };
    format!("its attribute {name} is {found}, not a number: write it as a number, or remove it if nothing is scaled")
}

/// Returns a real number as JSON holds it in text: an infinity, or the base 64 of its eight bytes, which xarray writes
/// into version 3 of Zarr.
fn in_text(text: &str) -> Option<f64> {
    if ["NaN", "Infinity", "-Infinity"].contains(&text) {
        return text.parse().ok();
    }
    let digits = text.strip_suffix('=').filter(|text| text.len() == 11)?;
    let mut bits: u128 = 0;
    for byte in digits.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u128::from(digit);
    }
    // Eleven digits are 66 bits, the last two of which fill up.
    Some(f64::from_bits(((bits >> 2) as u64).swap_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTE: StorageType = StorageType::Integer { bits: 8, signed: true };
    const DOUBLE: StorageType = StorageType::Real { single: false };

    fn packing<const N: usize>(attributes: [(&str, Attribute); N]) -> Packing {
        let mut attrs = attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let packing = Packing::take(&mut attrs).unwrap();
        assert!(attrs.is_empty(), "{attrs:?}");
        packing
    }

    #[test]
    fn fill_values_of_xarray() {
        // base64.standard_b64encode(struct.pack("<d", x)) in Python.
        assert_eq!(in_text("AAAAAAAA8D8="), Some(1.0));
        assert!(in_text("AAAAAAAA+H8=").unwrap().is_nan());
        assert_eq!(in_text("GC1EVPshCcA="), Some(-std::f64::consts::PI));
        assert_eq!(in_text("////////7/8="), Some(f64::MIN));
        // Every digit.
        for (text, real) in [
            ("ABCDEFGHIJI=", -2.286276530080927e-221),
            ("KLMNOPQRSTQ=", 7.987805134414229e-57),
            ("UVWXYZabcdc=", -1.693801762719895e113),
            ("efghijklmno=", 3.796744688526887e282),
            ("qrstuvwxyz0=", 4.9467894426844826e-11),
            ("0123456789A=", -9.359003368121489e81),
            ("+/+/+/+/+D8=", 1.5468749841675151),
        ] {
            assert_eq!(in_text(text), Some(real), "{text}");
        }
        assert_eq!(in_text("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(in_text("2.5"), None);
        assert_eq!(in_text("AAAA!AAA8D8="), None);
    }

    #[test]
    fn other_attributes_stay() {
        let all = ["_FillValue", "missing_value", "_Unsigned", "dtype", "units"];
        let mut attrs: IndexMap<String, Attribute> =
            all.iter().map(|&name| (name.to_owned(), Attribute::from("int8"))).collect();
        assert_eq!(Packing::take(&mut attrs), Ok(Packing::default()));
        assert_eq!(attrs.keys().collect::<Vec<_>>(), ["dtype", "units"]);
    }

    /// xarray refuses such a file, too.
    #[test]
    fn scales_and_offsets_are_numbers() {
        for (name, value) in [("scale_factor", Attribute::from("0.5")), ("add_offset", Attribute::List(Vec::new()))] {
            let mut attrs = IndexMap::from([(name.to_owned(), value)]);
            let told = Packing::take(&mut attrs).unwrap_err();
            assert!(told.starts_with(&format!("its attribute {name} is ")) && told.contains("write it as a"), "{told}");
        }
        let mut attrs = IndexMap::from([("scale_factor".to_owned(), Attribute::from("0.5"))]);
        assert!(Packing::take(&mut attrs).unwrap_err().contains("the text `0.5`, not a number"));
    }

    #[test]
    fn single_precision_stays_unless_it_is_scaled() {
        let single = StorageType::Real { single: true };
        let (filled, scaled) = ("_FillValue", ("scale_factor", Attribute::F64(0.5)));
        assert!(packing([(filled, Attribute::F64(-9.0))]).keeps_single(single));
        assert!(!packing([scaled]).keeps_single(single) && !Packing::default().keeps_single(DOUBLE));
    }

    /// What `xarray.decode_cf` of xarray 2026.9 makes of the same arrays.
    #[test]
    fn stored_numbers_stand_for_values() {
        let integers = |values: &[i64]| Values::I64(values.to_vec());
        let reals = |values: &[f64]| Values::F64(values.to_vec());
        let unsigned = |bits| StorageType::Integer { bits, signed: false };
        let (one, real) = (Attribute::I64, Attribute::F64);
        let text = |text: &str| Attribute::from(text);
        let plain = Packing::default;
        for (stored, storage, packing, expected) in [
            (integers(&[-1, 0]), BYTE, plain(), "I64([-1, 0])"),
            (integers(&[0, 1]), unsigned(64), plain(), "I64([0, 1])"),
            (integers(&[i64::MIN, 1]), unsigned(64), plain(), "F64([9.223372036854776e18, 1.0])"),
            (integers(&[0, 2]), BYTE, packing([("dtype", text("bool"))]), "Bool([false, true])"),
            (reals(&[0.0]), DOUBLE, packing([("dtype", text("bool"))]), "F64([0.0])"),
            (integers(&[-9, 3]), BYTE, packing([("_FillValue", one(-9))]), "F64([NaN, 3.0])"),
            (integers(&[1, 3]), BYTE, packing([("_FillValue", one(-9))]), "I64([1, 3])"),
            (integers(&[-9, 3]), BYTE, packing([("missing_value", real(-9.0))]), "F64([NaN, 3.0])"),
            (integers(&[44]), BYTE, packing([("_FillValue", one(300))]), "I64([44])"),
            (
                integers(&[1, 2, 3]),
                BYTE,
                packing([("missing_value", Attribute::List(vec![one(1), one(3)]))]),
                "F64([NaN, 2.0, NaN])",
            ),
            (integers(&[4]), BYTE, packing([("scale_factor", real(0.5))]), "F64([2.0])"),
            (integers(&[4]), BYTE, packing([("add_offset", one(1))]), "F64([5.0])"),
            (
                reals(&[4.0, -9.0]),
                DOUBLE,
                packing([("scale_factor", real(0.5)), ("add_offset", real(1.0)), ("_FillValue", real(-9.0))]),
                "F64([3.0, NaN])",
            ),
            // 1e20 in single precision.
            (
                reals(&[1e20f32.into(), 1.0]),
                StorageType::Real { single: true },
                packing([("_FillValue", real(1e20))]),
                "F64([NaN, 1.0])",
            ),
            (reals(&[f64::INFINITY]), DOUBLE, packing([("_FillValue", text("Infinity"))]), "F64([NaN])"),
            (integers(&[-1, 2]), BYTE, packing([("_Unsigned", text("true"))]), "I64([255, 2])"),
            (integers(&[-1, 2]), BYTE, packing([("_Unsigned", text("false"))]), "I64([-1, 2])"),
            (integers(&[255, 2]), unsigned(8), packing([("_Unsigned", text("false"))]), "I64([-1, 2])"),
            (
                integers(&[-32768]),
                StorageType::Integer { bits: 16, signed: true },
                packing([("_Unsigned", text("true"))]),
                "I64([32768])",
            ),
            (
                integers(&[-1]),
                StorageType::Integer { bits: 64, signed: true },
                packing([("_Unsigned", text("true"))]),
                "F64([1.8446744073709552e19])",
            ),
            // A mark beyond the integers of a trace.
            (
                integers(&[-1, -2, 2]),
                unsigned(64),
                packing([("_FillValue", text("18446744073709551615"))]),
                "F64([NaN, 1.8446744073709552e19, 2.0])",
            ),
            // The mark has the type of the stored numbers.
            (
                integers(&[-1, 2]),
                BYTE,
                packing([("_Unsigned", text("true")), ("_FillValue", one(-1))]),
                "F64([NaN, 2.0])",
            ),
            (
                integers(&[-1, 2]),
                BYTE,
                packing([("_Unsigned", text("true")), ("_FillValue", one(255))]),
                "F64([NaN, 2.0])",
            ),
            (
                integers(&[-1, 2]),
                BYTE,
                packing([("_Unsigned", text("true")), ("missing_value", real(-1.0))]),
                "F64([NaN, 2.0])",
            ),
            (
                integers(&[-1, 2, 3]),
                BYTE,
                packing([("_Unsigned", text("true")), ("_FillValue", one(3)), ("scale_factor", real(0.5))]),
                "F64([127.5, 1.0, NaN])",
            ),
            (Values::Bool(vec![true]), StorageType::Other, packing([("scale_factor", real(0.5))]), "Bool([true])"),
        ] {
            let shown = format!("{stored:?} as {storage:?}, {packing:?}");
            assert_eq!(format!("{:?}", packing.unpacked(stored, storage)), expected, "{shown}");
        }
    }

    #[test]
    fn whole_numbers_stay_whole_beside_missing_ones() {
        let packing = packing([("_FillValue", Attribute::I64(i64::MIN))]);
        let long = StorageType::Integer { bits: 64, signed: true };
        let large = 1_600_000_000_000_000_001;
        let found = packing.whole(&Values::I64(vec![large, i64::MIN]), long);
        assert_eq!(found, Some(vec![Some(large.into()), None]));
        assert_eq!(packing.whole(&Values::F64(vec![1.0]), DOUBLE), None);
    }
}
