//! What a Parquet file claims to hold, checked before it is decoded: a few bytes may claim any number of values.

use crate::checked::{ALLOWANCE, EXPANSION, MAX_VARIABLE_BYTES, memory_for};
use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Checks that a file claims no more than its bytes can hold and than there is memory for, and that its pages have no
/// more values than it claims.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn check_parquet_claims(file: &Bytes) -> std::result::Result<(), String> {
    let damaged = |error: parquet::errors::ParquetError| format!("it is not a whole Parquet file ({error})");
    let reader = SerializedFileReader::new(file.clone()).map_err(damaged)?;
    let most = ALLOWANCE.saturating_add(file.len().saturating_mul(EXPANSION));
    let mut all = 0_usize;
    let mut columns: Vec<usize> = Vec::new();
    for group in reader.metadata().row_groups() {
        columns.resize(columns.len().max(group.num_columns()), 0);
        for (bytes, column) in columns.iter_mut().zip(group.columns()) {
            *bytes = bytes.saturating_add(claimed(group, column));
        }
    }
    columns.iter().for_each(|&bytes| all = all.saturating_add(bytes));
    if all > most || columns.iter().any(|&bytes| bytes > MAX_VARIABLE_BYTES) {
        return Err(format!("it claims {all} bytes of values, and has {} bytes itself", file.len()));
    }
    memory_for(all)?;
    if let Some((column, values)) = more_than_claimed(&reader).map_err(damaged)? {
        return Err(format!("column {column} has {values} values in its pages, which are more than it claims"));
    }
    Ok(())
}

/// Returns the bytes that a column of a row group takes in memory.
fn claimed(group: &RowGroupMetaData, column: &ColumnChunkMetaData) -> usize {
    // What is negative is damaged, and more than anything has.
    let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let values = count(column.num_values()).max(count(group.num_rows()));
    values.saturating_mul(size_of::<f64>()).max(count(column.uncompressed_size()))
}

/// Returns the first column whose pages have more values than the file claims, with their number.
fn more_than_claimed(reader: &SerializedFileReader<Bytes>) -> Result<Option<(String, usize)>> {
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at)?;
        for column in 0..group.num_columns() {
            let mut pages = group.get_column_page_reader(column)?;
            let mut values = 0_usize;
            while let Some(page) = pages.peek_next_page()? {
                let own = if page.is_dict { 0 } else { page.num_levels.unwrap_or(0) };
                values = values.saturating_add(own);
                pages.skip_next_page()?;
            }
            let metadata = group.metadata().column(column);
            if usize::try_from(metadata.num_values()).map_or(true, |claimed| values > claimed) {
                return Ok(Some((metadata.column_path().string(), values)));
            }
        }
    }
    Ok(None)
}
