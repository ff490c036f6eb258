//! The header of a `.npy` file, byte for byte as NumPy writes it.
//!
//! It is written here and not by the crate npyz, which brings a parser generator and big integers for it. The format is
//! described in NumPy's `numpy/lib/_format_impl.py`.

use super::NpyError;
use super::dict::{self, Entries};
use crate::{FilePlan, NpyType};
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Data begin at a multiple of so many bytes.
const ALIGNMENT: usize = 64;
/// NumPy leaves room for the first axis to grow to so many digits.
const GROWING_DIGITS: usize = 21;
/// NumPy before version 2 knows no more dimensions.
const MOST_DIMENSIONS: usize = 32;
/// A longer header belongs to something else than an array of floating-point numbers.
const LONGEST: usize = 1 << 16;

/// The type and the shape of an array, which fits a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    dtype: NpyType,
    shape: Vec<u64>,
}

impl NpyHeader {
    /// Makes the header of the array at `path`.
    ///
    /// # Errors
    /// [`NpyError::Shape`] when the array is too large for a file.
    pub fn new(path: &Path, dtype: NpyType, shape: &[u64]) -> Result<Self, NpyError> {
        let header = Self { dtype, shape: shape.to_vec() };
        if header.fits_a_file() { Ok(header) } else { Err(NpyError::Shape { path: path.into(), shape: shape.into() }) }
    }

    /// Returns the type of the array's numbers.
    pub fn dtype(&self) -> NpyType {
        self.dtype
    }

    /// Returns the array's lengths along each axis; none for a single number.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Whether no length, count or size that is made of the shape overflows.
    fn fits_a_file(&self) -> bool {
        let mut lengths = self.shape.iter().map(|&length| length.max(1));
        let bytes = lengths.try_fold(self.dtype.bytes(), u64::checked_mul);
        self.shape.len() <= MOST_DIMENSIONS && bytes.is_some_and(|bytes| bytes <= i64::MAX as u64 - LONGEST as u64)
    }

    /// Returns how many numbers the array has.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns the bytes that so many numbers take.
    pub fn bytes_of(&self, elements: u64) -> u64 {
        elements * self.dtype.bytes()
    }

    /// Returns the bytes that begin the file, as NumPy 2 writes them.
    pub fn encode(&self) -> Vec<u8> {
        let shape = dict::tuple(&self.shape);
        let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", self.dtype);
        if let Some(first) = self.shape.first() {
            text.extend(std::iter::repeat_n(' ', GROWING_DIGITS - first.to_string().len()));
        }
        // Before the text are the magic bytes, two of the version and two of the length; after it is a line's end.
        let before = MAGIC.len() + 4;
        let padding = ALIGNMENT - (before + text.len() + 1) % ALIGNMENT;
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        // At most 32 lengths of 20 digits each fit 64 KiB.
        let length = text.len() as u16;
        [&MAGIC[..], &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
    }

    /// Returns what the array's file has beside its numbers.
    pub fn plan(&self) -> FilePlan {
        FilePlan::plain(self.to_string(), self.dtype, self.count(), self.encode())
    }

    /// Reads a header and returns it with the bytes that it takes in the file.
    ///
    /// # Errors
    /// [`NpyError::Unreadable`] when the file is no array of little-endian floating-point numbers in C order.
    pub fn read(path: &Path, file: &mut dyn Read) -> Result<(Self, u64), NpyError> {
        read(file).map_err(|what| NpyError::Unreadable { path: path.to_owned(), what })
    }
}

impl fmt::Display for NpyHeader {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} of shape {}", self.dtype, dict::tuple(&self.shape))
    }
}

fn read(file: &mut dyn Read) -> Result<(NpyHeader, u64), String> {
    let mut start = [0; 8];
    fill(file, &mut start)?;
    if &start[..6] != MAGIC {
        return Err("it is no .npy file: its first bytes are others".into());
    }
    let mut digits = [0; 4];
    let width = match start[6] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("its format has the version {other}, and 1 to 3 are known")),
    };
    fill(file, &mut digits[..width])?;
    let length = u32::from_le_bytes(digits) as usize;
    if length > LONGEST {
        return Err(format!("its header has {length} bytes: it is damaged, or of a record type"));
    }
    let mut text = vec![0; length];
    fill(file, &mut text)?;
    let text = String::from_utf8(text).map_err(|_| "its header is no text: it is damaged")?;
    let header = interpret(Entries::parse(&text)?)?;
    Ok((header, (start.len() + width + length) as u64))
}

fn fill(file: &mut dyn Read, bytes: &mut [u8]) -> Result<(), String> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends within its header: it is no .npy file, or cut off".to_owned(),
        _ => error.to_string(),
    })
}

fn interpret(entries: Entries) -> Result<NpyHeader, String> {
    let descr = entries.get("descr")?;
    let dtype = dict::quoted(descr).and_then(NpyType::of_descr).ok_or_else(|| {
        format!("its numbers are of {descr}, and '<f8', '<f4' and '<f2' are read: convert it with NumPy's astype")
    })?;
    match entries.get("fortran_order")? {
        "False" => {}
        "True" => {
            return Err(format!("its {dtype} are in Fortran's order: save it with NumPy's ascontiguousarray"));
        }
        other => return Err(format!("its fortran_order is {other}: it is damaged")),
    }
    let shape = entries.get("shape")?;
    let lengths = dict::lengths(shape).ok_or_else(|| format!("its shape is {shape}: it is damaged"))?;
    let header = NpyHeader { dtype, shape: lengths };
    if header.fits_a_file() { Ok(header) } else { Err(format!("its shape {shape} is larger than a file can be")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NpyType::{F2, F4, F8};

    /// NumPy's own headers, made by `tests/npy/numpy_files.py headers`.
    const NUMPYS: &str = include_str!("../../tests/npy/headers.txt");

    fn read_bytes(mut bytes: &[u8]) -> Result<(NpyHeader, u64), String> {
        NpyHeader::read(Path::new("a.npy"), &mut bytes).map_err(|error| error.to_string())
    }

    /// A file of version 1 with `text` for a header.
    fn file_of(text: &str) -> Vec<u8> {
        [&MAGIC[..], &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn headers_are_numpys_byte_for_byte() {
        let mut seen = 0;
        for line in NUMPYS.lines() {
            let (array, hex) = line.split_once(' ').unwrap();
            let (descr, lengths) = array.split_once(':').unwrap();
            let shape: Vec<u64> = lengths.split_terminator(',').map(|length| length.parse().unwrap()).collect();
            let header = NpyHeader::new(Path::new("a.npy"), NpyType::of_descr(descr).unwrap(), &shape).unwrap();
            let bytes = header.encode();
            let ours: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(ours, hex, "{array}");
            assert_eq!(bytes.len() % 64, 0, "{array}");
            assert_eq!(read_bytes(&bytes), Ok((header, bytes.len() as u64)));
            seen += 1;
        }
        assert!(seen > 10);
    }

    #[test]
    fn what_other_programs_write_is_read() {
        let header = |dtype, shape: &[u64]| NpyHeader { dtype, shape: shape.into() };
        for (text, expected) in [
            ("{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}", header(F4, &[2, 3])),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3L,), }\n", header(F8, &[3])),
            ("{'descr': '<f2', 'fortran_order': False, 'shape': (), }", header(F2, &[])),
        ] {
            assert_eq!(read_bytes(&file_of(text)).unwrap(), (expected, 10 + text.len() as u64), "{text}");
        }
        let text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }";
        let later = [&MAGIC[..], &[3, 0], &(text.len() as u32).to_le_bytes(), text].concat();
        let (found, length) = read_bytes(&later).unwrap();
        assert_eq!((found.count(), length), (0, later.len() as u64));
    }

    #[test]
    fn what_is_not_read_is_said_in_words() {
        let text = |descr: &str, order: &str, shape: &str| {
            file_of(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"))
        };
        let good = text("'<f8'", "False", "(3,)");
        for (bytes, words) in [
            (text("'>f8'", "False", "(3,)"), "of '>f8', and '<f8'"),
            (text("'|O'", "False", "(3,)"), "of '|O'"),
            (text("[('a', '<f8'), ('b', '<i4')]", "False", "(3,)"), "of [('a', '<f8'), ('b', '<i4')], and"),
            (text("'<f8'", "True", "(3, 2)"), "<f8 are in Fortran's order"),
            (text("'<f8'", "0", "(3,)"), "fortran_order is 0"),
            (text("'<f8'", "False", "(-3,)"), "shape is (-3,): it is damaged"),
            (text("'<f8'", "False", "3"), "shape is 3: it is damaged"),
            (text("'<f8'", "False", "(4294967296, 4294967296)"), "larger than a file"),
            (file_of("{'descr': '<f8', 'shape': (3,), }"), "has no 'fortran_order'"),
            (file_of("[1, 2]"), "no dictionary"),
            (file_of("{'descr': '<f8"), "no dictionary"),
            (file_of("\u{e9}\u{e8}"), "no dictionary"),
            ([&MAGIC[..], &[1, 0, 1, 0, 0xff]].concat(), "no text"),
            ([&MAGIC[..], &[4, 0, 1, 0, 0xff]].concat(), "version 4"),
            ([&MAGIC[..], &[2, 0, 0xff, 0xff, 0xff, 0xff]].concat(), "4294967295 bytes"),
            (b"PK\x03\x04 and so on".to_vec(), "no .npy file"),
            (Vec::new(), "ends within its header"),
            (good[..20].to_vec(), "ends within its header"),
        ] {
            let error = read_bytes(&bytes).unwrap_err();
            assert!(error.contains(words) && error.contains("a.npy"), "{error}");
        }
    }

    #[test]
    fn damaged_headers_do_not_panic() {
        let good = NpyHeader { dtype: F8, shape: vec![3, 2] }.encode();
        for at in 0..good.len() {
            for byte in [0, b'(', b'\'', b'[', b',', b'9', 0xff] {
                let mut bytes = good.clone();
                bytes[at] = byte;
                let _ = read_bytes(&bytes);
            }
        }
    }

    #[test]
    fn shapes_that_no_file_has_are_refused() {
        let path = Path::new("a.npy");
        for shape in [vec![1 << 60], vec![1 << 32, 1 << 32], vec![0, u64::MAX], vec![1; 33]] {
            let error = NpyHeader::new(path, F8, &shape).unwrap_err().to_string();
            assert!(error.contains("a.npy cannot have the shape"), "{error}");
        }
        assert_eq!(NpyHeader::new(path, F8, &[5, 0]).unwrap().count(), 0);
        assert_eq!(NpyHeader::new(path, F8, &[]).unwrap().count(), 1);
        assert_eq!(NpyHeader::new(path, F4, &[5, 2]).unwrap().to_string(), "<f4 of shape (5, 2)");
    }
}
