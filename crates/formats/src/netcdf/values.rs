//! The values of a variable as they are in the file, in the types of a trace.
//!
//! Chunks of large variables are read and unpacked by several threads. Each writes into its own place of the array, so
//! that the values are the same whatever the number of threads.

use super::filters::ChunkLimit;
use crate::checked::memory_for;
use hdf5_reader::Hdf5File;
use netcdf_reader::{Error, NcFile, NcReadable, NcType, NcValue};
use octopus_trace::Values;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::OnceCell;

/// From so many bytes on, a variable is unpacked by several threads: below, handing it to them takes about as long.
const LARGE: usize = 1 << 20;

/// A little less than the largest block that glibc takes as a measure once it is freed: twice as much of what is freed
/// later is kept for the next chunk. Else the memory of each chunk goes back to the system and is cleared anew, which took
/// two thirds of the system's time.
const KEPT: usize = (32 << 20) - (1 << 16);

/// Returns how many bytes of memory are taken at once for one value while it is read: as we keep it, and twice more, for
/// chunks that are being unpacked and later while axes are put in order.
pub(super) fn memory_of(dtype: &NcType) -> usize {
    match dtype {
        NcType::Char => 8,
        NcType::String => 3 * size_of::<String>(),
        NcType::Enum { .. } => 2 * size_of::<NcValue>(),
        _ => 3 * size_of::<f64>(),
    }
}

/// A file whose variables are read.
pub(super) struct OpenFile {
    pub(super) file: NcFile,
    /// The same file as its parts of HDF5, of which it tells the chunks; `None` for a file of version 3.
    hdf5: Option<Hdf5File>,
    limit: ChunkLimit,
    threads: OnceCell<Option<ThreadPool>>,
}

impl OpenFile {
    /// A file whose filters keep to `limit`, which is the most for any of its chunks.
    pub(super) fn new(file: NcFile, hdf5: Option<Hdf5File>, limit: ChunkLimit) -> Self {
        Self { file, hdf5, limit, threads: OnceCell::new() }
    }

    /// Reads the variable at `path`.
    ///
    /// # Errors
    /// When it is damaged, or of a type without a place in a trace; a sentence that says what is wrong.
    pub(super) fn values(&self, path: &str, dtype: &NcType) -> Result<Values, String> {
        let most = self.limit.get();
        let chunks = self.chunks(path);
        if let Some(chunks) = &chunks {
            self.limit.set(chunks.limit().min(most));
        }
        let values = self.read(path, dtype, chunks.as_ref());
        self.limit.set(most);
        values.map_err(|error| error.to_string())
    }

    fn read(&self, path: &str, dtype: &NcType, chunks: Option<&Chunks>) -> Result<Values, Error> {
        fn integers<T: Into<i64>>(values: Vec<T>) -> Values {
            Values::I64(values.into_iter().map(Into::into).collect())
        }
        Ok(match dtype {
            NcType::Float => Values::F64(self.numbers::<f32>(path, chunks)?.into_iter().map(f64::from).collect()),
            NcType::Double => Values::F64(self.numbers(path, chunks)?),
            NcType::Byte => integers::<i8>(self.numbers(path, chunks)?),
            NcType::Short => integers::<i16>(self.numbers(path, chunks)?),
            NcType::Int => integers::<i32>(self.numbers(path, chunks)?),
            NcType::Int64 => Values::I64(self.numbers(path, chunks)?),
            NcType::UByte => integers::<u8>(self.numbers(path, chunks)?),
            NcType::UShort => integers::<u16>(self.numbers(path, chunks)?),
            NcType::UInt => integers::<u32>(self.numbers(path, chunks)?),
            NcType::UInt64 => {
                Values::I64(self.numbers::<u64>(path, chunks)?.into_iter().map(|value| value as i64).collect())
            }
            NcType::String | NcType::Char => Values::Strings(self.file.read_variable_as_strings(path)?),
            // Enumerations of flags; other types of users are left out before.
            _ => Values::Bool(self.file.read_variable_user_defined(path)?.iter().map(is_true).collect()),
        })
    }

    /// Returns the numbers of a variable in row-major order.
    fn numbers<T: NcReadable>(&self, path: &str, chunks: Option<&Chunks>) -> Result<Vec<T>, Error> {
        let array = match chunks.and_then(|chunks| self.threads_for(chunks)) {
            Some(threads) => self.file.read_variable_in_pool(path, threads)?,
            None => self.file.read_variable(path)?,
        };
        if !array.is_standard_layout() {
            return Ok(array.into_iter().collect());
        }
        let len = array.len();
        // The array's own memory, not a copy.
        let (mut values, start) = array.into_raw_vec_and_offset();
        values.drain(..start.unwrap_or(0));
        values.truncate(len);
        Ok(values)
    }

    fn threads_for(&self, chunks: &Chunks) -> Option<&ThreadPool> {
        if chunks.of_array < LARGE {
            return None;
        }
        let make = || {
            // Whether it is to be had matters to nobody.
            _ = memory_for(KEPT);
            // A panic on damaged bytes is handed on to this thread, which makes an error of it: nobody else need report it.
            ThreadPoolBuilder::new().start_handler(|_| octopus_files::guard_this_thread()).build().ok()
        };
        let threads = self.threads.get_or_init(make).as_ref()?;
        chunks.fit_in_memory(threads.current_num_threads()).then_some(threads)
    }

    /// Returns how a variable is cut into chunks; `None` where it is not.
    fn chunks(&self, path: &str) -> Option<Chunks> {
        let dataset = self.hdf5.as_ref()?.dataset(path).ok()?;
        let (chunk, width) = (dataset.chunks()?, dataset.raw_element_size().ok()?);
        Some(Chunks::new(dataset.shape(), &chunk, width))
    }
}

/// How an array is cut into chunks.
#[derive(Debug, PartialEq)]
struct Chunks {
    count: usize,
    /// Bytes of each, unpacked.
    each: usize,
    of_array: usize,
}

impl Chunks {
    /// Makes the chunks of an array whose values have `width` bytes. A damaged length counts as the largest possible one.
    fn new(shape: &[u64], chunk: &[u32], width: usize) -> Self {
        let product = |lengths: &mut dyn Iterator<Item = u64>, start: usize| {
            lengths.fold(start, |product, len| product.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX)))
        };
        Self {
            count: product(&mut shape.iter().zip(chunk).map(|(len, part)| len.div_ceil(u64::from(*part).max(1))), 1),
            each: product(&mut chunk.iter().map(|&len| len.into()), width),
            of_array: product(&mut shape.iter().copied(), width),
        }
    }

    /// What a chunk may unpack to before all its filters are undone: checksums, or deflate of what is deflated, add a
    /// little.
    fn limit(&self) -> usize {
        self.each.saturating_add(self.each / 8).saturating_add(4096)
    }

    /// Whether the chunks that so many threads unpack at once are within [`memory_of`] the array: a chunk may be far
    /// larger than the array.
    fn fit_in_memory(&self, threads: usize) -> bool {
        self.count.min(threads).saturating_mul(self.each) <= self.of_array.saturating_mul(2)
    }
}

fn is_true(value: &NcValue) -> bool {
    matches!(value, NcValue::Enum(flag) if flag.member.as_deref() == Some("TRUE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_types() {
        // In memory three times, each text as its address, length and room; flags as what the reader has for any value.
        let flags = NcType::Enum { base: Box::new(NcType::Byte), members: Vec::new() };
        let all = [NcType::Char, NcType::String, flags, NcType::Byte].map(|dtype| memory_of(&dtype));
        assert_eq!(all, [8, 72, 2 * size_of::<NcValue>(), 24]);
    }

    #[test]
    fn chunks_at_work_take_no_more_than_the_array() {
        // 4 x 10 values of 8 bytes in chunks of 1 x 4.
        let chunks = Chunks::new(&[4, 10], &[1, 4], 8);
        assert_eq!(chunks, Chunks { count: 12, each: 32, of_array: 320 });
        assert_eq!(chunks.limit(), 32 + 4 + 4096);
        assert!([1, 2, 12, 1000].iter().all(|&threads| chunks.fit_in_memory(threads)));
        // Each chunk is as large as the array.
        let wide = Chunks::new(&[4, 10], &[1, 40], 8);
        assert_eq!(wide, Chunks { count: 4, each: 320, of_array: 320 });
        assert!(wide.fit_in_memory(2) && !wide.fit_in_memory(3));
        let damaged = Chunks::new(&[u64::MAX, 2], &[0, u32::MAX], 8);
        assert_eq!(damaged, Chunks { count: usize::MAX, each: 0, of_array: usize::MAX });
        assert!(!Chunks::new(&[1], &[u32::MAX, u32::MAX], 8).fit_in_memory(1));
    }

    #[test]
    fn panics_of_threads_become_errors() {
        use netcdf_writer::{NcFileBuilder, NcWriteFormat, NcWriteOptions};
        let bytes = NcFileBuilder::new().to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
        let open = OpenFile::new(NcFile::from_bytes(&bytes).unwrap(), None, ChunkLimit::new(1));
        let chunks = |of_array: usize| Chunks { count: 2, each: of_array / 2, of_array };
        assert!(open.threads_for(&chunks(LARGE - 1)).is_none());
        let threads = open.threads_for(&chunks(LARGE)).unwrap();
        assert!(threads.install(octopus_files::panics_become_errors));
        let planted = || threads.install(|| -> Result<(), String> { panic!("planted") });
        assert!(octopus_files::decode(planted, |text| text).unwrap_err().contains("(planted)"));
    }
}
