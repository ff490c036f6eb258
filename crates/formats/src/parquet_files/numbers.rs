//! A Parquet file of one column of numbers, as a [`FilePlan`]: it may be larger than memory, and be written over hours.
//!
//! Pages are plain, so that a row group is a few bytes, which depend on its number of rows alone, and then its numbers as
//! they are in memory. The parquet crate encodes a group of zeros; what it writes before the zeros, and says of the group
//! in the file's metadata, holds for every group.

use super::encode::{ParquetColumn, writer_properties, written};
use super::stored::Stored;
use super::types::ParquetType;
use crate::FormatError;
use octopus_files::{FilePlan, NpyType};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use std::path::Path;

/// The numbers of a row group, which are one page; pyarrow's groups have as many.
const GROUP: u64 = 1 << 20;
/// The most row groups of a file: what is known of them is in memory at once.
const MOST_GROUPS: u64 = 1 << 17;
/// The bytes that begin a Parquet file.
const MAGIC: &[u8] = b"PAR1";

/// Plans the Parquet file at `path`, which has one column: of numbers, for the shape `[rows]`, or of lists of one length,
/// for `[rows, length]`. `metadata` is its entry `octopus`.
///
/// # Errors
/// [`FormatError::Encode`] when the shape is another one, or too large for a file.
pub fn parquet_plan(
    path: &Path,
    column: &str,
    dtype: NpyType,
    shape: &[u64],
    metadata: &Value,
) -> Result<FilePlan, FormatError> {
    let refused = |what| FormatError::Encode { path: path.to_owned(), what };
    let (rows, length) = match *shape {
        [rows] => (rows, None),
        [rows, length] if (1..=GROUP).contains(&length) => (rows, Some(length)),
        _ => return Err(refused(format!("the shape {shape:?} is not rows, of 1 to {GROUP} numbers each"))),
    };
    let column = NumberColumn { name: column, dtype, length };
    let most = MOST_GROUPS * column.group_rows();
    if rows > most {
        return Err(refused(format!("{rows} rows are more than the {most} of one file: write several files, or .npy")));
    }
    column.plan(rows, metadata).map_err(|error| refused(error.to_string()))
}

/// The one column of a file.
struct NumberColumn<'a> {
    name: &'a str,
    dtype: NpyType,
    /// How many numbers a row has, if it is a list.
    length: Option<u64>,
}

impl NumberColumn<'_> {
    /// Returns how many numbers a row has.
    fn per_row(&self) -> u64 {
        self.length.unwrap_or(1)
    }

    /// Returns how many rows a group has.
    fn group_rows(&self) -> u64 {
        GROUP / self.per_row()
    }

    fn plan(&self, rows: u64, metadata: &Value) -> Result<FilePlan, ParquetError> {
        let (groups, rest) = (rows / self.group_rows(), rows % self.group_rows());
        let whole = if groups > 0 { Some(self.group_of_zeros(self.group_rows(), metadata)?) } else { None };
        let (before_rest, last) = self.group_of_zeros(rest, metadata)?;
        let mut plan = FilePlan {
            group: self.group_rows() * self.per_row(),
            before_group: whole.as_ref().map_or_else(Vec::new, |(before, _)| before.clone()),
            before_rest,
            ..FilePlan::plain(self.contents(rows), self.dtype, rows * self.per_row(), MAGIC.to_vec())
        };
        let whole = whole.iter().flat_map(|(_, file)| std::iter::repeat_n(file.row_group(0), groups as usize));
        let found = whole.chain(last.row_groups()).zip(0..);
        let placed = found.map(|(group, at)| placed(group, at, plan.bytes_with(at as u64 * plan.group)));
        let metadata = ParquetMetaData::new(last.file_metadata().clone(), placed.collect::<Result<_, _>>()?);
        ParquetMetaDataWriter::new(&mut plan.end, &metadata).finish()?;
        Ok(plan)
    }

    /// Returns what a file of so many rows holds, in words.
    fn contents(&self, rows: u64) -> String {
        let each = self.length.map_or_else(String::new, |length| format!(", {length} in each"));
        format!("{} in {rows} rows of `{}`{each}", self.dtype, self.name)
    }

    /// Encodes a file of one group, whose numbers are zero, or of none. Returns what is before the zeros, and what the
    /// file's end says.
    fn group_of_zeros(&self, rows: u64, metadata: &Value) -> Result<(Vec<u8>, ParquetMetaData), ParquetError> {
        let count = (rows * self.per_row()) as usize;
        let (bits, values) = match self.dtype {
            NpyType::F8 => (64, Stored::Double(vec![0.0; count])),
            NpyType::F4 => (32, Stored::Float(vec![0.0; count])),
            NpyType::F2 => (16, Stored::Fixed(vec![ByteArray::from(vec![0; 2]).into(); count])),
        };
        let column = ParquetColumn::of(self.name, ParquetType::Real(bits), values);
        let column = column.in_lists(self.length.map(|length| length as usize));
        let mut writer = written(&[column], properties(metadata))?;
        let metadata = writer.finish()?;
        let Some(group) = metadata.row_groups().first() else { return Ok((Vec::new(), metadata)) };
        let (start, length) = group.column(0).byte_range();
        let before = length - count as u64 * self.dtype.bytes();
        Ok((writer.inner()[start as usize..(start + before) as usize].to_vec(), metadata))
    }
}

/// Returns the properties with which a group is one page.
fn properties(metadata: &Value) -> WriterProperties {
    writer_properties(metadata)
        .into_builder()
        .set_max_row_group_row_count(None)
        .set_data_page_size_limit(usize::MAX)
        .set_data_page_row_count_limit(usize::MAX)
        .build()
}

/// Puts the only group of a file into another file, as its group number `at`.
fn placed(group: &RowGroupMetaData, at: i32, offset: u64) -> Result<RowGroupMetaData, ParquetError> {
    let offset = offset as i64;
    let column = group.column(0).clone().into_builder().set_data_page_offset(offset).build()?;
    let group = group.clone().into_builder().set_ordinal(at).set_file_offset(offset);
    group.set_column_metadata(vec![column]).build()
}

#[cfg(test)]
mod tests;
