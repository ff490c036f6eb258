//! The data that a density reads, on the device: its fields, and how vectors are padded.

use super::layout::NutsFormat;
use crate::{Context, CudaError, DeviceBuffer};

/// One member of the structure that a density's kernels read, in its order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NutsField<'a> {
    /// A whole number.
    Word(u32),
    /// A number of the chain's type.
    Scalar(f64),
    /// A pointer to one number for each coordinate, of the elements' type; padded with zeros to whole rows of lanes.
    PerCoordinate(&'a [f64]),
    /// A pointer to numbers of the elements' type.
    Reals(&'a [f64]),
    /// A pointer to whole numbers.
    Words(&'a [u32]),
}

/// A member, an array being an `A`: its bytes, the buffer that has them, or where they are in one.
pub(crate) enum DataPart<A> {
    Word(u32),
    Scalar(f64),
    Array(A),
}

impl NutsField<'_> {
    /// Returns the member with the bytes of an array.
    pub(super) fn encode(&self, format: NutsFormat) -> Result<DataPart<Vec<u8>>, CudaError> {
        let mut bytes = Vec::new();
        match *self {
            Self::Word(word) => return Ok(DataPart::Word(word)),
            Self::Scalar(scalar) => return Ok(DataPart::Scalar(scalar)),
            Self::PerCoordinate(values) => padded(format, "the density's data", values, &mut bytes)?,
            Self::Reals(values) => format.element.encode(values.iter().copied(), &mut bytes),
            Self::Words(words) => bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes())),
        }
        Ok(DataPart::Array(bytes))
    }
}

/// The data that a density reads, on the device.
pub struct NutsData {
    parts: Vec<DataPart<DeviceBuffer<u8>>>,
    format: NutsFormat,
}

impl NutsData {
    /// Copies the arrays to the device.
    ///
    /// # Errors
    /// [`CudaError::LengthMismatch`] when an array has more elements than there are coordinates,
    /// [`CudaError::OutOfMemory`]; and when a copy fails.
    pub fn upload(context: &Context, format: NutsFormat, fields: &[NutsField<'_>]) -> Result<Self, CudaError> {
        let part = |field: &NutsField<'_>| {
            Ok(match field.encode(format)? {
                DataPart::Word(word) => DataPart::Word(word),
                DataPart::Scalar(scalar) => DataPart::Scalar(scalar),
                DataPart::Array(bytes) => DataPart::Array(DeviceBuffer::from_slice(context, &bytes)?),
            })
        };
        Ok(Self { parts: fields.iter().map(part).collect::<Result<_, CudaError>>()?, format })
    }

    /// Returns the bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes =
            |part: &DataPart<DeviceBuffer<u8>>| if let DataPart::Array(buffer) = part { buffer.bytes() } else { 0 };
        self.parts.iter().map(bytes).sum()
    }

    pub(crate) fn parts(&self) -> &[DataPart<DeviceBuffer<u8>>] {
        &self.parts
    }

    pub(crate) fn format(&self) -> NutsFormat {
        self.format
    }
}

/// One vector with its padding.
pub(super) fn padded(
    format: NutsFormat,
    what: &'static str,
    values: &[f64],
    bytes: &mut Vec<u8>,
) -> Result<(), CudaError> {
    let room = format.vector();
    if values.len() > room {
        let operation = format!("copying to the device ({format})");
        return Err(CudaError::LengthMismatch { operation, what, expected: room, found: values.len() });
    }
    let padding = std::iter::repeat_n(0.0, room - values.len());
    format.element.encode(values.iter().copied().chain(padding), bytes);
    Ok(())
}
