//! Encodes columns of draws for Parquet, and decodes them: lists, and compression and other properties of the writer.

use super::claims::check_parquet_claims;
use super::read::whole_column;
use super::stored::Stored;
use super::types::{ParquetType, columns};
use super::{ELEMENT, METADATA, arrow_schema};
use bytes::Bytes;
use indexmap::IndexMap;
use octopus_trace::Values;
use parquet::basic::{Compression, LogicalType, Repetition};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::ops::Range;
use std::sync::Arc;

/// About how many values of lists are handed to the parquet crate at once, with their levels.
const PIECE: usize = 1 << 16;

/// A column that is to be written.
#[derive(Clone, Debug)]
pub struct ParquetColumn {
    pub(super) name: String,
    pub(super) kind: ParquetType,
    /// How many values each row has, if it is a list.
    pub(super) width: Option<usize>,
    /// The values that are not null.
    pub(super) values: Stored,
    /// 1 for each row that has a value, and 0 where it is null; empty if none is.
    pub(super) definition: Vec<i16>,
}

impl ParquetColumn {
    /// Makes a column of values, or of lists with `width` of them in each row, row after row.
    pub fn new(name: &str, values: Values, width: Option<usize>) -> Self {
        let whole = ParquetType::Integer { bits: 64, signed: true };
        let (kind, values) = match values {
            Values::F64(values) => (ParquetType::Real(64), Stored::Double(values)),
            Values::I64(values) => (whole, Stored::Int64(values)),
            Values::Bool(values) => (ParquetType::Boolean, Stored::Booleans(values)),
            Values::Strings(values) => {
                let bytes = values.into_iter().map(|value| ByteArray::from(value.into_bytes()));
                (ParquetType::Text, Stored::Bytes(bytes.collect()))
            }
        };
        Self::of(name, kind, values).in_lists(width)
    }

    /// Makes a column of whole numbers of 32 bits.
    pub fn of_i32(name: &str, values: Vec<i32>) -> Self {
        Self::of(name, ParquetType::Integer { bits: 32, signed: true }, Stored::Int32(values))
    }

    /// Makes a column of values that are stored as those of `kind` are.
    pub(super) fn of(name: &str, kind: ParquetType, values: Stored) -> Self {
        Self { name: name.to_owned(), kind, width: None, values, definition: Vec::new() }
    }

    /// Makes a column in which some rows are null.
    pub(super) fn nullable<T>(
        name: &str,
        kind: ParquetType,
        cells: Vec<Option<T>>,
        stored: fn(Vec<T>) -> Stored,
    ) -> Self {
        let definition: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        let values = stored(cells.into_iter().flatten().collect());
        let definition = if values.len() < definition.len() { definition } else { Vec::new() };
        Self { definition, ..Self::of(name, kind, values) }
    }

    /// Makes each row a list of so many values.
    pub(super) fn in_lists(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    pub(super) fn is_nullable(&self) -> bool {
        !self.definition.is_empty()
    }

    fn rows(&self) -> usize {
        if self.is_nullable() { self.definition.len() } else { self.values.len() / self.width.unwrap_or(1).max(1) }
    }

    /// Returns the field of the file's root.
    fn field(&self) -> Result<Type, ParquetError> {
        let required = Repetition::REQUIRED;
        let repetition = if self.is_nullable() { Repetition::OPTIONAL } else { required };
        let Some(width) = self.width else { return self.kind.field(&self.name, repetition) };
        if i32::try_from(width).is_err() || width == 0 || !self.values.len().is_multiple_of(width) {
            let what = format!("{} values of {} are no lists of {width} values", self.values.len(), self.name);
            return Err(ParquetError::General(what));
        }
        let element = Arc::new(self.kind.field(ELEMENT, required)?);
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
        let list = Arc::new(list.with_fields(vec![element]).build()?);
        let field = Type::group_type_builder(&self.name).with_repetition(required);
        field.with_logical_type(Some(LogicalType::List)).with_fields(vec![list]).build()
    }

    fn write(&self, rows: Range<usize>, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let Some(width) = self.width else {
            if !self.is_nullable() {
                return self.values.write(rows, writer, None, None);
            }
            let count = |levels: &[i16]| levels.iter().filter(|&&level| level > 0).count();
            let (before, levels) = (count(&self.definition[..rows.start]), &self.definition[rows]);
            return self.values.write(before..before + count(levels), writer, Some(levels), None);
        };
        let step = (PIECE / width).clamp(1, rows.len());
        let definition = vec![1; step * width];
        let repetition: Vec<i16> = (0..step * width).map(|at| i16::from(at % width != 0)).collect();
        for from in rows.clone().step_by(step) {
            let values = from * width..rows.end.min(from + step) * width;
            let levels = ..values.len();
            self.values.write(values, writer, Some(&definition[levels]), Some(&repetition[levels]))?;
        }
        Ok(())
    }
}

/// Returns the properties with which draws are written, with `metadata` as the entry `octopus` of the file.
///
/// Pages are plain: all but the leading bits of a draw are random, so neither a dictionary nor Snappy makes the file
/// smaller (pyarrow, 8000 x 306 normal draws: 19.6 MB with and without). Statistics are left out, because statistics of
/// draws help nobody.
pub(super) fn writer_properties(metadata: &serde_json::Value) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by(format!("octopus {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(METADATA.to_owned(), metadata.to_string())]))
        .build()
}

/// Writes row groups of these columns, which have as many rows each. The file's end is not written yet.
pub(super) fn written(
    columns: &[ParquetColumn],
    properties: WriterProperties,
) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_, _>>()?;
    let rows = columns.first().map_or(0, ParquetColumn::rows);
    if let Some(other) = columns.iter().find(|column| column.rows() != rows) {
        let what = format!("{} has {} rows, and others have {rows}", other.name, other.rows());
        return Err(ParquetError::General(what));
    }
    let root = Arc::new(Type::group_type_builder("arrow_schema").with_fields(fields).build()?);
    let most = properties.max_row_group_row_count().unwrap_or(usize::MAX);
    let mut writer = SerializedFileWriter::new(Vec::new(), root, Arc::new(properties))?;
    writer.append_key_value_metadata(KeyValue::new(arrow_schema::KEY.to_owned(), arrow_schema::encoded(columns)));
    for from in (0..rows).step_by(most) {
        let mut group = writer.next_row_group()?;
        for column in columns {
            let own = group.next_column()?;
            let mut own = own.ok_or_else(|| ParquetError::General(format!("{} has no place", column.name)))?;
            column.write(from..rows.min(from.saturating_add(most)), &mut own)?;
            own.close()?;
        }
        group.close()?;
    }
    Ok(writer)
}

/// Returns the bytes of a Parquet file of these columns, with `metadata` as the entry `octopus` of the file.
///
/// # Errors
/// When the columns have other numbers of rows, or are too large for the format; a sentence says so.
pub fn encode_columns(columns: &[ParquetColumn], metadata: &serde_json::Value) -> Result<Vec<u8>, String> {
    let bytes = written(columns, writer_properties(metadata)).and_then(SerializedFileWriter::into_inner);
    bytes.map_err(|error| error.to_string())
}

/// Returns the columns of a Parquet file that hold numbers, flags or words and are wanted by their names: their values, row
/// after row, and how many each row has where it is a list.
///
/// # Errors
/// When the file is damaged or has no rows, or a column may have nulls; a sentence says so.
pub fn decode_columns(
    bytes: Bytes,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<IndexMap<String, (Values, Option<usize>)>, String> {
    check_parquet_claims(&bytes)?;
    let reader =
        SerializedFileReader::new(bytes).map_err(|error| format!("it is not a whole Parquet file ({error})"))?;
    let mut found = IndexMap::new();
    for column in columns(reader.metadata().file_metadata()) {
        let named = |what: String| format!("column {}: {what}", column.name);
        if column.is_nullable() {
            return Err(named("it may have nulls".to_owned()));
        }
        if !is_wanted(&column.name) {
            continue;
        }
        if let Some(values) = whole_column(&reader, &column).map_err(named)? {
            found.insert(column.name, values);
        }
    }
    if found.is_empty() {
        return Err("it has no rows".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_plain() {
        let properties = writer_properties(&serde_json::json!({}));
        assert!(!properties.dictionary_enabled(&parquet::schema::types::ColumnPath::from("mu")));
        assert_eq!(properties.compression(&"mu".into()), Compression::UNCOMPRESSED);
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let column = |name, count, width| ParquetColumn::new(name, Values::F64(vec![0.5; count]), width);
        let told = |columns: &[ParquetColumn]| encode_columns(columns, &serde_json::json!({})).unwrap_err();
        assert!(told(&[column("a", 2, None), column("b", 3, None)]).contains("b has 3 rows, and others have 2"));
        for (count, width) in [(3, 2), (2, 0), (0, usize::MAX)] {
            let what = format!("{count} values of a are no lists of {width} values");
            assert!(told(&[column("a", count, Some(width))]).contains(&what));
        }
    }

    /// The values of a row group begin after those that earlier ones have.
    #[test]
    fn nulls_are_in_their_row_groups() {
        let cells = vec![Some(1), None, Some(3), Some(4), None, Some(6), None];
        let whole = ParquetType::Integer { bits: 64, signed: true };
        let column = ParquetColumn::nullable("n", whole, cells, Stored::Int64);
        let groups = WriterProperties::builder().set_max_row_group_row_count(Some(2)).build();
        let bytes = written(&[column], groups).unwrap().into_inner().unwrap();
        assert!(decode_columns(bytes.clone().into(), |_| true).unwrap_err().contains("column n: it may have nulls"));
        let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
        assert_eq!(reader.num_row_groups(), 4);
        let column = columns(reader.metadata().file_metadata()).remove(0);
        let Ok(Some((Values::F64(values), None))) = whole_column(&reader, &column) else { panic!() };
        assert_eq!(format!("{values:?}"), "[1.0, NaN, 3.0, 4.0, NaN, 6.0, NaN]");
    }
}
