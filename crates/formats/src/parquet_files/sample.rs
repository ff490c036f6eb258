//! Tables that tests write.

use super::encode::{ParquetColumn, written};
use super::stored::Stored;
use super::types::ParquetType;
use octopus_trace::{TimeUnit, Values};
use parquet::data_type::ByteArray;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

/// A column without its name.
pub(crate) type Unnamed = ParquetColumn;

/// Returns the bytes of a table, whose pages have dictionaries.
pub(crate) fn parquet_bytes(columns: Vec<(&str, Unnamed)>) -> Vec<u8> {
    with_entries(columns, None)
}

/// Returns the bytes of a table with these entries in its metadata.
pub(crate) fn with_entries(columns: Vec<(&str, Unnamed)>, entries: Option<Vec<KeyValue>>) -> Vec<u8> {
    let columns: Vec<ParquetColumn> =
        columns.into_iter().map(|(name, column)| ParquetColumn { name: name.to_owned(), ..column }).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(entries).build();
    written(&columns, properties).unwrap().into_inner().unwrap()
}

/// Writes a table by its schema in Parquet's words, with the stored values of each leaf and their levels.
pub(crate) fn raw(schema: &str, leaves: Vec<(Stored, &[i16], &[i16])>) -> Vec<u8> {
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (values, definition, repetition) in leaves {
        let mut leaf = group.next_column().unwrap().unwrap();
        let [definition, repetition] =
            [definition, repetition].map(|levels| Some(levels).filter(|all| !all.is_empty()));
        values.write(0..values.len(), &mut leaf, definition, repetition).unwrap();
        leaf.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn reals(values: &[f64]) -> Unnamed {
    ParquetColumn::new("", Values::F64(values.to_vec()), None)
}

pub(crate) fn some_reals(values: impl IntoIterator<Item = Option<f64>>) -> Unnamed {
    ParquetColumn::nullable("", ParquetType::Real(64), values.into_iter().collect(), Stored::Double)
}

pub(crate) fn real_lists(values: &[f64], width: usize) -> Unnamed {
    reals(values).in_lists(Some(width))
}

pub(crate) fn singles(values: &[Option<f32>]) -> Unnamed {
    ParquetColumn::nullable("", ParquetType::Real(32), values.to_vec(), Stored::Float)
}

pub(crate) fn halves(values: &[f64]) -> Unnamed {
    let half = |&value: &f64| ByteArray::from(half::f16::from_f64(value)).into();
    ParquetColumn::of("", ParquetType::Real(16), Stored::Fixed(values.iter().map(half).collect()))
}

pub(crate) fn integers(values: &[i32]) -> Unnamed {
    ParquetColumn::of_i32("", values.to_vec())
}

/// Whole numbers that are stored in so many bits.
pub(crate) fn wholes(bits: u8, signed: bool, values: &[Option<i64>]) -> Unnamed {
    let kind = ParquetType::Integer { bits, signed };
    if bits > 32 {
        return ParquetColumn::nullable("", kind, values.to_vec(), Stored::Int64);
    }
    let values = values.iter().map(|value| value.map(|value| value as i32)).collect();
    ParquetColumn::nullable("", kind, values, Stored::Int32)
}

pub(crate) fn booleans(values: &[Option<bool>]) -> Unnamed {
    ParquetColumn::nullable("", ParquetType::Boolean, values.to_vec(), Stored::Booleans)
}

pub(crate) fn strings(values: &[Option<&str>]) -> Unnamed {
    let texts = values.iter().map(|text| text.map(ByteArray::from)).collect();
    ParquetColumn::nullable("", ParquetType::Text, texts, Stored::Bytes)
}

pub(crate) fn binary(values: &[&[u8]]) -> Unnamed {
    let bytes = values.iter().map(|&bytes| ByteArray::from(bytes)).collect();
    ParquetColumn::of("", ParquetType::Bytes, Stored::Bytes(bytes))
}

pub(crate) fn decimals(precision: i32, scale: i32, values: &[Option<i128>]) -> Unnamed {
    let bytes = values.iter().map(|value| value.map(|value| ByteArray::from(value.to_be_bytes().to_vec()))).collect();
    ParquetColumn::nullable("", ParquetType::Decimal { precision, scale }, bytes, Stored::Bytes)
}

pub(crate) fn dates(days: &[i32]) -> Unnamed {
    ParquetColumn::of("", ParquetType::Date, Stored::Int32(days.to_vec()))
}

pub(crate) fn instants(unit: TimeUnit, zone: Option<&str>, counts: &[i64]) -> Unnamed {
    ParquetColumn::of("", ParquetType::Timestamp(unit, zone.map(str::to_owned)), Stored::Int64(counts.to_vec()))
}

pub(crate) fn durations(unit: TimeUnit, counts: &[i64]) -> Unnamed {
    ParquetColumn::of("", ParquetType::Duration(unit), Stored::Int64(counts.to_vec()))
}
