//! The bytes of a file of observations, read once: a pipe has them only once. Text may be compressed with gzip or
//! Zstandard.

use super::{ObservationsError, foreign};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

/// The bytes that each kind of file begins with.
const PARQUET: &[u8] = b"PAR1";
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The bytes that are looked at before the rest is read.
const START: usize = 1 << 16;

/// What a file holds.
pub(super) enum Source {
    /// A Parquet file on disk.
    ParquetFile(File),
    /// A Parquet file that came through a pipe.
    ParquetBytes(Bytes),
    /// Text, unpacked.
    Text(Vec<u8>),
    /// A folder, which may hold the parts of a table.
    Folder,
}

impl Source {
    /// Reads a file; one of `.parquet` is taken for Parquet whatever it begins with.
    ///
    /// # Errors
    /// When it cannot be read or unpacked, or holds neither Parquet nor text.
    pub(super) fn read(path: &Path) -> Result<Self, ObservationsError> {
        let failed = |source| ObservationsError::Io { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let regular = metadata.is_file();
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        let mut start = Vec::new();
        (&mut file).take(START as u64).read_to_end(&mut start).map_err(failed)?;
        if let Some(error) = foreign::of_bytes(path, &start) {
            return Err(error);
        }
        let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if start.starts_with(PARQUET) || named {
            if regular {
                file.rewind().map_err(failed)?;
                return Ok(Self::ParquetFile(file));
            }
            return Ok(Self::ParquetBytes(all(start, file).map_err(failed)?.into()));
        }
        let cannot_unpack = |method: &str, error: &dyn ToString| ObservationsError::Damaged {
            path: path.to_owned(),
            what: format!("{method}: {}", error.to_string()),
        };
        if start.starts_with(GZIP) {
            let unpacked = all(Vec::new(), MultiGzDecoder::new(Cursor::new(start).chain(file)));
            return Self::of_unpacked(path, unpacked.map_err(|error| cannot_unpack("gzip", &error))?);
        }
        if start.starts_with(ZSTANDARD) {
            let unpacked = octopus_files::decode(|| frames(Cursor::new(start).chain(file)), |panic| panic);
            return Self::of_unpacked(path, unpacked.map_err(|error| cannot_unpack("Zstandard", &error))?);
        }
        // Found before the rest is read: of `/dev/zero` there is no end.
        if start.contains(&0) {
            return Err(ObservationsError::NotATable {
                path: path.to_owned(),
                what: "it holds binary data".to_owned(),
            });
        }
        all(start, file).map(Self::Text).map_err(failed)
    }

    /// Returns what was packed.
    fn of_unpacked(path: &Path, bytes: Vec<u8>) -> Result<Self, ObservationsError> {
        if bytes.starts_with(PARQUET) {
            return Ok(Self::ParquetBytes(bytes.into()));
        }
        let start = &bytes[..bytes.len().min(START)];
        foreign::of_bytes(path, start).map_or(Ok(()), Err)?;
        Ok(Self::Text(bytes))
    }
}

/// Unpacks Zstandard: files that were joined, and those of several threads, have one frame after another.
fn frames(packed: impl Read) -> Result<Vec<u8>, String> {
    let (mut packed, mut text) = (BufReader::new(packed), Vec::new());
    while !packed.fill_buf().map_err(|error| error.to_string())?.is_empty() {
        let frame = StreamingDecoder::new(&mut packed).map_err(|error| error.to_string())?;
        text = all(text, frame).map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// Returns what has been read, and the rest. Too much for the memory is an error.
fn all(mut read: Vec<u8>, mut rest: impl Read) -> io::Result<Vec<u8>> {
    loop {
        let len = read.len();
        read.try_reserve(START.max(len / 2)).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        if (&mut rest).take((read.capacity() - len) as u64).read_to_end(&mut read)? == 0 {
            return Ok(read);
        }
    }
}
