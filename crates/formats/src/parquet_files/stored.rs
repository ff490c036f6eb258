//! Values as Parquet stores them, and its levels: which cells are null, and where lists begin.

use super::types::FileColumn;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use std::ops::Range;

/// Makes what depends on the physical type: for each its variant, its type in the parquet crate, the variant of that
/// crate's reader, and what stands where a cell is null.
macro_rules! physical_types {
    ($($variant:ident($value:ty), $data_type:ident, $reader:ident, $null:expr;)*) => {
        /// Values of one of Parquet's physical types.
        #[derive(Clone, Debug)]
        pub(crate) enum Stored {
            $($variant(Vec<$value>)),*
        }

        impl Stored {
            pub(crate) fn len(&self) -> usize {
                match self { $(Self::$variant(values) => values.len()),* }
            }

            /// Writes some of the values; levels are needed for those of columns with nulls or lists.
            pub(super) fn write(
                &self,
                range: Range<usize>,
                writer: &mut SerializedColumnWriter<'_>,
                definition: Option<&[i16]>,
                repetition: Option<&[i16]>,
            ) -> Result<(), ParquetError> {
                match self {
                    $(Self::$variant(values) => {
                        writer.typed::<$data_type>().write_batch(&values[range], definition, repetition)?;
                    })*
                }
                Ok(())
            }

            /// Reads the next rows, at most so many. Returns their number.
            fn read(reader: &mut ColumnReader, most: usize, levels: &mut Levels) -> Result<(Self, usize), ParquetError> {
                let (definition, repetition) = (&mut levels.definition, &mut levels.repetition);
                Ok(match reader {
                    $(ColumnReader::$reader(reader) => {
                        let mut values = Vec::new();
                        let read = reader.read_records(most, Some(definition), Some(repetition), &mut values)?;
                        (Self::$variant(values), read.0)
                    })*
                })
            }

            /// Puts each value where its cell is.
            fn spread(self, is_null: &[bool]) -> Self {
                match self { $(Self::$variant(values) => Self::$variant(spread(values, is_null, $null))),* }
            }
        }
    };
}

physical_types! {
    Booleans(bool), BoolType, BoolColumnReader, false;
    Int32(i32), Int32Type, Int32ColumnReader, 0;
    Int64(i64), Int64Type, Int64ColumnReader, 0;
    Int96(Int96), Int96Type, Int96ColumnReader, Int96::new();
    Float(f32), FloatType, FloatColumnReader, f32::NAN;
    Double(f64), DoubleType, DoubleColumnReader, f64::NAN;
    Bytes(ByteArray), ByteArrayType, ByteArrayColumnReader, ByteArray::from("");
    Fixed(FixedLenByteArray), FixedLenByteArrayType, FixedLenByteArrayColumnReader, ByteArray::from("").into();
}

fn spread<T: Clone>(values: Vec<T>, is_null: &[bool], null: T) -> Vec<T> {
    let mut values = values.into_iter();
    is_null.iter().map(|&is_null| if is_null { None } else { values.next() }.unwrap_or_else(|| null.clone())).collect()
}

/// For each value, null ones too, how much of its path is there, and whether it begins a row (0) or goes on with a list.
/// Both are empty where the schema leaves no choice.
#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// Some rows of a column.
pub(crate) struct Cells {
    /// A value for each cell, row after row; where a cell is null, a real number is NaN, and others are 0 or empty.
    pub(crate) values: Stored,
    /// Whether each cell is null; empty where none is.
    is_null: Vec<bool>,
    pub(crate) rows: usize,
    /// How many cells a row has, where it is a list.
    pub(crate) width: Option<usize>,
}

impl Cells {
    /// Reads the next rows of a column, at most so many; no rows at the end of a row group.
    ///
    /// # Errors
    /// When the file is damaged, a list is null, or lists are not all of one length; a sentence says so.
    pub(crate) fn read(reader: &mut ColumnReader, column: &FileColumn, most: usize) -> Result<Self, String> {
        let mut levels = Levels::default();
        let (mut values, rows) = Stored::read(reader, most, &mut levels).map_err(|error| error.to_string())?;
        let Levels { mut definition, repetition } = levels;
        let mut width = None;
        if let Some(empty) = column.empty_list {
            width = Some(list_width(&definition, &repetition, empty, rows)?);
            definition.retain(|&level| level > empty);
        }
        let mut is_null = Vec::new();
        if definition.len() > values.len() {
            is_null = definition.iter().map(|&level| level < column.all_defined).collect();
            values = values.spread(&is_null);
        }
        if values.len() != rows * width.unwrap_or(1) {
            return Err(format!("it has {} values in {rows} rows", values.len()));
        }
        Ok(Self { values, is_null, rows, width })
    }

    pub(crate) fn is_null(&self, at: usize) -> bool {
        self.is_null.get(at).copied().unwrap_or(false)
    }

    /// Returns what `value` says of each cell that is not null.
    pub(crate) fn each<T>(&self, mut value: impl FnMut(usize) -> T) -> Vec<Option<T>> {
        (0..self.values.len()).map(|at| (!self.is_null(at)).then(|| value(at))).collect()
    }
}

/// Returns the length that all lists have. A definition level below `empty` is a null list, and one above it an element.
fn list_width(definition: &[i16], repetition: &[i16], empty: i16, rows: usize) -> Result<usize, String> {
    let nulls = definition.iter().filter(|&&level| level < empty).count();
    if nulls > 0 {
        return Err(format!("{nulls} of its lists are null"));
    }
    let mut lengths = Vec::with_capacity(rows);
    for (&repetition, &definition) in repetition.iter().zip(definition) {
        if repetition == 0 {
            lengths.push(0);
        }
        if let Some(length) = lengths.last_mut().filter(|_| definition > empty) {
            *length += 1;
        }
    }
    let width = lengths.first().copied().unwrap_or(0);
    if lengths.iter().any(|&length| length != width) {
        return Err("its lists are not all of one length".into());
    }
    Ok(width)
}
