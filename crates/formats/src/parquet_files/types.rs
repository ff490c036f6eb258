//! Types of Parquet's columns, under Arrow's names, and which column of a file has which.

use super::arrow_schema;
use octopus_trace::TimeUnit;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::Type;
use std::fmt;

/// The type of a Parquet column. It is shown under Arrow's name for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParquetType {
    /// True or false.
    Boolean,
    /// Whole numbers.
    Integer {
        /// Bits of a number: 8, 16, 32 or 64.
        bits: u8,
        /// Whether numbers may be negative.
        signed: bool,
    },
    /// Real numbers of 16, 32 or 64 bits.
    Real(u8),
    /// Decimal numbers.
    Decimal {
        /// Digits of a number, at most 76.
        precision: i32,
        /// How many of the digits are decimals.
        scale: i32,
    },
    /// Text in UTF-8.
    Text,
    /// Bytes that may be text, such as DuckDB's enums.
    Bytes,
    /// Days since 1 January 1970.
    Date,
    /// Days, as milliseconds since 1 January 1970.
    DateInMilliseconds,
    /// Points in time, counted from 1 January 1970, with the name of their zone.
    Timestamp(TimeUnit, Option<String>),
    /// Lengths of time.
    Duration(TimeUnit),
    /// What is not read, by name.
    Other(String),
}

impl fmt::Display for ParquetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => write!(f, "Boolean"),
            Self::Integer { bits, signed } => write!(f, "{}Int{bits}", if *signed { "" } else { "U" }),
            Self::Real(bits) => write!(f, "Float{bits}"),
            Self::Decimal { precision, scale } => {
                write!(f, "Decimal{}({precision}, {scale})", if *precision > 38 { 256 } else { 128 })
            }
            Self::Text => write!(f, "Utf8"),
            Self::Bytes => write!(f, "Binary"),
            Self::Date => write!(f, "Date32"),
            Self::DateInMilliseconds => write!(f, "Date64"),
            Self::Timestamp(unit, None) => write!(f, "Timestamp({})", letters(*unit)),
            Self::Timestamp(unit, Some(zone)) => write!(f, "Timestamp({}, {zone:?})", letters(*unit)),
            Self::Duration(unit) => write!(f, "Duration({})", letters(*unit)),
            Self::Other(name) => write!(f, "{name}"),
        }
    }
}

/// Returns the sign of a unit.
pub(super) fn letters(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Nanoseconds => "ns",
        TimeUnit::Microseconds => "µs",
        TimeUnit::Milliseconds => "ms",
        _ => "s",
    }
}

/// The most bytes and digits of a decimal number: those of Arrow's widest.
pub(super) const DECIMAL_BYTES: usize = 32;
const DECIMAL_DIGITS: i32 = 76;

impl ParquetType {
    /// Returns the type of a primitive field, by what Parquet says of it.
    fn of(field: &Type) -> Self {
        let info = field.get_basic_info();
        let Type::PrimitiveType { physical_type, type_length, precision, scale, .. } = field else {
            return Self::Other("Struct".into());
        };
        let other = |name: &str| Self::Other(name.to_owned());
        let integer = |bits, signed| Self::Integer { bits, signed };
        // `INT_8` or `UINT_64`.
        if let Some((sign, bits)) = info.converted_type().to_string().split_once("INT_")
            && let Ok(bits) = bits.parse()
        {
            return integer(bits, sign.is_empty());
        }
        let utc = |is_utc: bool| is_utc.then(|| "UTC".to_owned());
        match (physical_type, info.logical_type_ref(), info.converted_type()) {
            (_, Some(LogicalType::Unknown), _) => other("Null"),
            (Physical::BOOLEAN, ..) => Self::Boolean,
            (Physical::FLOAT, ..) => Self::Real(32),
            (Physical::DOUBLE, ..) => Self::Real(64),
            (Physical::INT96, ..) => Self::Timestamp(TimeUnit::Nanoseconds, None),
            (_, _, ConvertedType::DECIMAL)
                if (0..=DECIMAL_DIGITS).contains(scale)
                    && (1..=DECIMAL_DIGITS).contains(precision)
                    && *type_length <= DECIMAL_BYTES as i32 =>
            {
                Self::Decimal { precision: *precision, scale: *scale }
            }
            (_, _, ConvertedType::DECIMAL) => other("Decimal"),
            (Physical::BYTE_ARRAY, _, ConvertedType::UTF8 | ConvertedType::JSON) => Self::Text,
            (Physical::BYTE_ARRAY, ..) => Self::Bytes,
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) if *type_length == 2 => Self::Real(16),
            (Physical::FIXED_LEN_BYTE_ARRAY, _, ConvertedType::INTERVAL) => other("Interval"),
            (Physical::FIXED_LEN_BYTE_ARRAY, ..) => Self::Other(format!("FixedSizeBinary({type_length})")),
            (Physical::INT32, _, ConvertedType::DATE) => Self::Date,
            (Physical::INT32, None, ConvertedType::NONE) => integer(32, true),
            (Physical::INT64, Some(LogicalType::Timestamp(time)), _) => {
                let unit = match time.unit {
                    parquet::basic::TimeUnit::MILLIS => TimeUnit::Milliseconds,
                    parquet::basic::TimeUnit::MICROS => TimeUnit::Microseconds,
                    parquet::basic::TimeUnit::NANOS => TimeUnit::Nanoseconds,
                };
                Self::Timestamp(unit, utc(time.is_adjusted_to_u_t_c))
            }
            (Physical::INT64, _, ConvertedType::TIMESTAMP_MILLIS) => Self::Timestamp(TimeUnit::Milliseconds, utc(true)),
            (Physical::INT64, _, ConvertedType::TIMESTAMP_MICROS) => Self::Timestamp(TimeUnit::Microseconds, utc(true)),
            (Physical::INT64, None, ConvertedType::NONE) => integer(64, true),
            (Physical::INT32, _, ConvertedType::TIME_MILLIS) => other("Time32(ms)"),
            (Physical::INT64, _, ConvertedType::TIME_MICROS) => other("Time64(µs)"),
            (Physical::INT64, Some(LogicalType::Time(_)), _) => other("Time64(ns)"),
            (physical, _, converted) => Self::Other(format!("{physical} of {converted}")),
        }
    }

    /// Returns whether a trace can hold such values: numbers, flags or words.
    pub(super) fn is_of_a_trace(&self) -> bool {
        matches!(self, Self::Boolean | Self::Integer { .. } | Self::Real(_) | Self::Decimal { .. } | Self::Text)
    }

    /// Returns the type with what the writer's Arrow schema says more of it: Parquet has whole numbers for lengths of
    /// time, and no zones. What does not fit the column is ignored.
    fn hinted(self, field: &Type, hint: Option<Self>) -> Self {
        let whole = |bits: u8| self == Self::Integer { bits, signed: true };
        match (&self, hint) {
            (Self::Timestamp(unit, _), Some(Self::Timestamp(hint, Some(zone)))) if *unit == hint => {
                Self::Timestamp(hint, Some(zone))
            }
            // They have days and nanoseconds, which 64 bits cannot always count.
            (_, Some(hint @ Self::Timestamp(..))) if field.get_physical_type() == Physical::INT96 => hint,
            (_, Some(hint @ (Self::Timestamp(..) | Self::Duration(_) | Self::DateInMilliseconds))) if whole(64) => hint,
            // Times of day.
            (_, Some(hint @ Self::Other(_))) if whole(32) || whole(64) => hint,
            _ => self,
        }
    }

    /// Returns the field of Parquet that has values of this type.
    pub(super) fn field(&self, name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
        use parquet::basic::TimeUnit as Unit;
        let field = |physical| Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let logical = |physical, logical| field(physical).with_logical_type(Some(logical));
        match self {
            Self::Boolean => field(Physical::BOOLEAN),
            Self::Integer { bits: 32, signed: true } => field(Physical::INT32),
            Self::Integer { bits: 64, signed: true } | Self::Duration(_) | Self::DateInMilliseconds => {
                field(Physical::INT64)
            }
            &Self::Integer { bits, signed } => {
                let physical = if bits > 32 { Physical::INT64 } else { Physical::INT32 };
                logical(physical, LogicalType::integer(bits as i8, signed))
            }
            Self::Real(16) => logical(Physical::FIXED_LEN_BYTE_ARRAY, LogicalType::Float16).with_length(2),
            Self::Real(32) => field(Physical::FLOAT),
            Self::Real(_) => field(Physical::DOUBLE),
            &Self::Decimal { precision, scale } => {
                let decimal = logical(Physical::BYTE_ARRAY, LogicalType::decimal(scale, precision));
                decimal.with_precision(precision).with_scale(scale)
            }
            Self::Text => logical(Physical::BYTE_ARRAY, LogicalType::String),
            Self::Bytes | Self::Other(_) => field(Physical::BYTE_ARRAY),
            Self::Date => logical(Physical::INT32, LogicalType::Date),
            Self::Timestamp(unit, zone) => {
                let unit = match unit {
                    TimeUnit::Nanoseconds => Unit::NANOS,
                    TimeUnit::Microseconds => Unit::MICROS,
                    TimeUnit::Milliseconds => Unit::MILLIS,
                    _ => return field(Physical::INT64).build(),
                };
                logical(Physical::INT64, LogicalType::timestamp(zone.is_some(), unit))
            }
        }
        .build()
    }
}

/// A column of a file: a field of its root.
#[derive(Clone, Debug)]
pub(crate) struct FileColumn {
    pub(crate) name: String,
    /// The type of its values: of the elements, if it has lists.
    pub(crate) kind: ParquetType,
    /// The number of its leaf, the first if it has many.
    pub(crate) leaf: usize,
    /// The definition level of a list without elements; `None` of a column without lists.
    pub(super) empty_list: Option<i16>,
    /// The definition level of a value that is not null.
    pub(super) all_defined: i16,
}

impl FileColumn {
    /// Returns whether its cells, or lists of them, may be null.
    pub(super) fn is_nullable(&self) -> bool {
        self.all_defined > i16::from(self.empty_list.is_some())
    }

    /// Returns the type of its cells.
    pub(crate) fn cell_type(&self) -> ParquetType {
        match self.empty_list {
            Some(_) => ParquetType::Other(format!("List({})", self.kind)),
            None => self.kind.clone(),
        }
    }
}

/// Returns the columns of a file.
pub(crate) fn columns(file: &FileMetaData) -> Vec<FileColumn> {
    let schema = file.schema_descr();
    let entries = file.key_value_metadata();
    let written =
        entries.and_then(|entries| entries.iter().find(|entry| entry.key == arrow_schema::KEY)?.value.as_ref());
    let hints = written.and_then(|text| arrow_schema::times(text)).unwrap_or_default();
    let mut columns: Vec<FileColumn> = Vec::new();
    for leaf in 0..schema.num_columns() {
        let (at, descriptor) = (schema.get_column_root_idx(leaf), schema.column(leaf));
        if leaf > 0 && schema.get_column_root_idx(leaf - 1) == at {
            // Another leaf of the same field, which is then no column of values.
            continue;
        }
        let (root, field) = (schema.get_column_root(leaf), descriptor.self_type());
        let nesting = nesting(root);
        let hint = hints.get(at).filter(|(name, _)| name == root.name()).and_then(|(_, hint)| hint.clone());
        let kind = match nesting {
            Nesting::Other(name) => ParquetType::Other(name.to_owned()),
            _ => ParquetType::of(field).hinted(field, hint),
        };
        let may_be_null = root.get_basic_info().repetition() == Repetition::OPTIONAL;
        let empty_list = matches!(nesting, Nesting::List).then_some(i16::from(may_be_null));
        let all_defined = descriptor.max_def_level();
        columns.push(FileColumn { name: root.name().to_owned(), kind, leaf, empty_list, all_defined });
    }
    columns
}

/// How values lie in a field of the root.
enum Nesting {
    Plain,
    /// Lists of values.
    List,
    /// What is not read: lists of lists, structures and maps.
    Other(&'static str),
}

/// Returns how values lie in a field, by the rules of Parquet's format for lists, old ones too.
fn nesting(root: &Type) -> Nesting {
    let is_repeated = |field: &Type| field.get_basic_info().repetition() == Repetition::REPEATED;
    if root.is_primitive() {
        return if is_repeated(root) { Nesting::List } else { Nesting::Plain };
    }
    match root.get_basic_info().converted_type() {
        ConvertedType::LIST if !is_repeated(root) => {}
        ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE => return Nesting::Other("Map"),
        _ => return Nesting::Other("Struct"),
    }
    let [list] = root.get_fields() else { return Nesting::Other("List") };
    if !is_repeated(list) {
        return Nesting::Other("List");
    }
    if list.is_primitive() {
        return Nesting::List;
    }
    let of_tuples = list.name() == "array" || list.name() == format!("{}_tuple", root.name());
    match list.get_fields() {
        [element] if element.is_primitive() && !is_repeated(element) && !of_tuples => Nesting::List,
        _ => Nesting::Other("List of lists or structures"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Today's annotations and those of old files.
    #[test]
    fn types_have_arrows_names() {
        for (field, name) in [
            ("boolean x", "Boolean"),
            ("int32 x", "Int32"),
            ("int64 x", "Int64"),
            ("int32 x (INT_8)", "Int8"),
            ("int32 x (UINT_16)", "UInt16"),
            ("int64 x (INT_64)", "Int64"),
            ("int64 x (UINT_64)", "UInt64"),
            ("int32 x (INTEGER(32, false))", "UInt32"),
            ("int32 x (INTEGER(16, true))", "Int16"),
            ("float x", "Float32"),
            ("double x", "Float64"),
            ("fixed_len_byte_array(2) x (FLOAT16)", "Float16"),
            ("fixed_len_byte_array(2) x", "FixedSizeBinary(2)"),
            ("fixed_len_byte_array(12) x (INTERVAL)", "Interval"),
            ("int32 x (DECIMAL(9, 2))", "Decimal128(9, 2)"),
            ("fixed_len_byte_array(32) x (DECIMAL(76, 0))", "Decimal256(76, 0)"),
            ("fixed_len_byte_array(33) x (DECIMAL(76, 0))", "Decimal"),
            ("binary x (DECIMAL(77, 2))", "Decimal"),
            ("binary x (UTF8)", "Utf8"),
            ("binary x (STRING)", "Utf8"),
            ("binary x (JSON)", "Utf8"),
            ("binary x (ENUM)", "Binary"),
            ("binary x", "Binary"),
            ("int32 x (DATE)", "Date32"),
            ("int96 x", "Timestamp(ns)"),
            ("int64 x (TIMESTAMP_MILLIS)", "Timestamp(ms, \"UTC\")"),
            ("int64 x (TIMESTAMP_MICROS)", "Timestamp(µs, \"UTC\")"),
            ("int64 x (TIMESTAMP(NANOS, false))", "Timestamp(ns)"),
            ("int32 x (TIME_MILLIS)", "Time32(ms)"),
            ("int64 x (TIME_MICROS)", "Time64(µs)"),
            ("int64 x (TIME(NANOS, true))", "Time64(ns)"),
        ] {
            let schema = format!("message m {{ required {field}; }}");
            let schema = parquet::schema::parser::parse_message_type(&schema).unwrap();
            assert_eq!(ParquetType::of(&schema.get_fields()[0]).to_string(), name, "{field}");
        }
    }

    #[test]
    fn what_a_writer_says_counts_where_it_fits() {
        let (us, ns) = (TimeUnit::Microseconds, TimeUnit::Nanoseconds);
        let rome = |unit| ParquetType::Timestamp(unit, Some("Europe/Rome".to_owned()));
        let clock = ParquetType::Other("Time(s)".to_owned());
        for (field, hint, name) in [
            ("int64 x (TIMESTAMP(MICROS, true))", rome(us), "Timestamp(µs, \"Europe/Rome\")"),
            ("int64 x (TIMESTAMP(MICROS, true))", rome(ns), "Timestamp(µs, \"UTC\")"),
            ("int64 x (TIMESTAMP(MICROS, true))", ParquetType::Timestamp(us, None), "Timestamp(µs, \"UTC\")"),
            ("int64 x", ParquetType::Timestamp(TimeUnit::Seconds, None), "Timestamp(s)"),
            ("int64 x", ParquetType::Duration(ns), "Duration(ns)"),
            ("int64 x", ParquetType::DateInMilliseconds, "Date64"),
            ("int32 x", ParquetType::Duration(ns), "Int32"),
            ("int64 x (UINT_64)", ParquetType::Duration(ns), "UInt64"),
            ("int32 x", clock.clone(), "Time(s)"),
            ("int64 x", clock.clone(), "Time(s)"),
            ("double x", clock, "Float64"),
            ("int96 x", ParquetType::Timestamp(us, None), "Timestamp(µs)"),
            ("int96 x", ParquetType::Duration(us), "Timestamp(ns)"),
        ] {
            let schema = format!("message m {{ required {field}; }}");
            let schema = parquet::schema::parser::parse_message_type(&schema).unwrap();
            let field_type = &schema.get_fields()[0];
            let found = ParquetType::of(field_type).hinted(field_type, Some(hint.clone()));
            assert_eq!(found.to_string(), name, "{field}, {hint:?}");
        }
    }
}
