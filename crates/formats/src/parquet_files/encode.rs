//! Encodes columns of draws for Parquet: lists, and compression and other properties of the writer.

use super::METADATA;
use arrow_array::{ArrayRef, FixedSizeListArray};
use arrow_schema::{ArrowError, Field};
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::sync::Arc;

/// Makes a column of lists, with `width` of the values in each row.
///
/// # Errors
/// When the number of values is not a multiple of `width`, or `width` does not fit an i32.
pub fn list_column(values: ArrayRef, width: usize) -> Result<ArrayRef, ArrowError> {
    let width = i32::try_from(width).map_err(|_| ArrowError::InvalidArgumentError("a draw is too wide".into()))?;
    let element = Arc::new(Field::new("element", values.data_type().clone(), false));
    Ok(Arc::new(FixedSizeListArray::try_new(element, width, values, None)?))
}

/// Returns the properties with which draws are written, with `metadata` as the entry `octopus` of the file.
///
/// Pages are plain: all but the leading bits of a draw are random, so neither a dictionary nor Snappy makes the file
/// smaller (pyarrow, 8000 x 306 normal draws: 19.6 MB with and without). Statistics are left out, because statistics of
/// draws help nobody.
pub fn writer_properties(metadata: &serde_json::Value) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by(format!("octopus {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(METADATA.to_owned(), metadata.to_string())]))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;

    #[test]
    fn a_list_has_no_element_that_is_null() {
        let list = list_column(Arc::new(arrow_array::Float64Array::from(vec![0.5, 1.5])), 2).unwrap();
        let element = Arc::new(Field::new("element", DataType::Float64, false));
        assert_eq!(*list.data_type(), DataType::FixedSizeList(element, 2));
    }

    #[test]
    fn pages_are_plain() {
        let properties = writer_properties(&serde_json::json!({}));
        assert!(!properties.dictionary_enabled(&parquet::schema::types::ColumnPath::from("mu")));
        assert_eq!(properties.compression(&"mu".into()), Compression::UNCOMPRESSED);
    }
}
