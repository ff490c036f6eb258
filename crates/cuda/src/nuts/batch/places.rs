//! The layout of a batch's buffers: where each data set's part is, its bytes, and how arrays are aligned.
//!
//! The number of blocks of threads for a number of chains is here, too.

use crate::CudaError;
use crate::nuts::NutsLaunch;
use crate::nuts::data::{DataPart, NutsField};
use crate::nuts::geometry::GeometryNumbers;
use crate::nuts::layout::{NutsFormat, Structure};
use crate::nuts::structures::{Places, data_structure, launch_structure};

/// Arrays begin at multiples of this many bytes: a line of the device's caches.
const LINE: usize = 128;

/// Bytes of `Part` in `kernels/nuts/batch.cuh`.
pub(crate) const PART: usize = 8;

/// One data set of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NutsBatchItem<'a> {
    /// The fields that the item's density reads, of the same kinds as those of all other items.
    pub fields: &'a [NutsField<'a>],
    /// Chains, of which a launch may have fewer.
    pub chains: usize,
    /// Coordinates.
    pub dim: usize,
}

/// An item on the device.
pub(crate) struct Item {
    /// The item's data, in which an array is the place where it begins in the batch's.
    pub(crate) parts: Vec<DataPart<usize>>,
    pub(crate) chains: usize,
    pub(crate) dim: usize,
    /// Chains of the items before it.
    pub(crate) first_chain: usize,
    pub(crate) geometry: GeometryNumbers,
}

/// Sizes of the batch's buffers in bytes, and where things are in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    format: NutsFormat,
    max_depth: u32,
    pub(crate) most_rank: usize,
}

impl Sizes {
    pub(crate) fn new(format: NutsFormat, max_depth: u32, most_rank: usize) -> Self {
        Self { format, max_depth, most_rank }
    }

    /// One vector, such as the diagonal of an item's metric.
    pub(crate) fn vector(&self) -> usize {
        self.format.vector() * self.format.element.bytes()
    }

    /// Returns where the stretches come after an item's directions.
    pub(crate) fn stretch(&self) -> usize {
        self.most_rank * self.vector()
    }

    /// Returns the bytes of an item's directions and stretches.
    pub(crate) fn directions(&self) -> usize {
        (self.stretch() + self.most_rank * self.format.scalar.bytes()).next_multiple_of(LINE)
    }

    pub(crate) fn workspace(&self) -> usize {
        self.format.workspace_bytes(self.max_depth)
    }

    /// Returns the bytes of all buffers of these items.
    pub(crate) fn bytes(&self, items: &[NutsBatchItem<'_>]) -> Option<usize> {
        let chain = self.format.state_bytes().checked_add(self.workspace())?;
        let geometry = self.vector().checked_add(self.directions())?;
        items.iter().try_fold(0_usize, |sum, item| {
            let chains = item.chains.checked_mul(chain)?;
            sum.checked_add(data_bytes(self.format, item.fields)?)?.checked_add(geometry)?.checked_add(chains)
        })
    }
}

/// Returns the bytes of an item's arrays.
fn data_bytes(format: NutsFormat, fields: &[NutsField<'_>]) -> Option<usize> {
    let array = |field: &NutsField<'_>| match *field {
        NutsField::Word(_) | NutsField::Scalar(_) => Some(0),
        NutsField::PerCoordinate(_) => Some(format.vector() * format.element.bytes()),
        NutsField::Reals(values) => values.len().checked_mul(format.element.bytes()),
        NutsField::Words(words) => words.len().checked_mul(4),
    };
    fields.iter().try_fold(0_usize, |sum, field| sum.checked_add(array(field)?.checked_next_multiple_of(LINE)?))
}

/// Appends an item's arrays to `data`; its members.
pub(super) fn packed(
    format: NutsFormat,
    fields: &[NutsField<'_>],
    data: &mut Vec<u8>,
) -> Result<Vec<DataPart<usize>>, CudaError> {
    let part = |field: &NutsField<'_>| {
        Ok(match field.encode(format)? {
            DataPart::Word(word) => DataPart::Word(word),
            DataPart::Scalar(scalar) => DataPart::Scalar(scalar),
            DataPart::Array(bytes) => {
                let start = data.len();
                data.extend(bytes);
                data.resize(data.len().next_multiple_of(LINE), 0);
                DataPart::Array(start)
            }
        })
    };
    fields.iter().map(part).collect()
}

/// Returns whether two lists are of the same kinds of fields: members of one structure.
pub(super) fn same_kinds(a: &[NutsField<'_>], b: &[NutsField<'_>]) -> bool {
    let pointer = |field: &NutsField<'_>| !matches!(field, NutsField::Word(_) | NutsField::Scalar(_));
    let same = |(a, b): (&NutsField<'_>, &NutsField<'_>)| match (a, b) {
        (NutsField::Word(_), NutsField::Word(_)) | (NutsField::Scalar(_), NutsField::Scalar(_)) => true,
        _ => pointer(a) && pointer(b),
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// `Item` of `kernels/nuts/batch.cuh`.
pub(crate) fn item_structure(
    format: NutsFormat,
    launch: &NutsLaunch,
    max_depth: u32,
    item: &Item,
    data: u64,
    at: &Places,
) -> Vec<u8> {
    let data = data_structure(format.scalar, &item.parts, |start| data + *start as u64);
    let launch = launch_structure(format.scalar, launch, max_depth, &item.geometry, at);
    let mut whole = Structure::default();
    whole.structure(&data).structure(&launch);
    whole.finished()
}

/// Returns the bytes of an item's structure, which do not depend on its contents.
pub(super) fn item_bytes(format: NutsFormat, fields: &[NutsField<'_>]) -> usize {
    let part = |field: &NutsField<'_>| match field {
        NutsField::Word(_) => DataPart::Word(0),
        NutsField::Scalar(_) => DataPart::Scalar(0.0),
        _ => DataPart::Array(0),
    };
    let parts = fields.iter().map(part).collect();
    let item = Item { parts, chains: 0, dim: 0, first_chain: 0, geometry: GeometryNumbers::default() };
    let nothing = NutsLaunch {
        seed: 0,
        first_chain: 0,
        chains: 0,
        first_iteration: 0,
        iterations: 0,
        tune: 0,
        window: 0..0,
        max_energy_error: 0.0,
        target_accept: 0.0,
    };
    item_structure(format, &nothing, 0, &item, 0, &Places::default()).len()
}

/// Blocks that carry so many chains.
pub(crate) fn blocks(format: NutsFormat, chains: usize) -> usize {
    chains.div_ceil(format.chains_of_block())
}
