//! The threads (four warps) of a block, lanes and rows of a kernel of NUTS, and the layout of structures in memory.
//!
//! Here are the bytes of a chain's state and workspace, and structures by value, byte for byte as in C.

use std::fmt;

/// Threads of a block of the sampler's kernels: set in their sources.
pub(crate) const THREADS: u32 = 128;

/// A type of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// 4 bytes.
    F32,
    /// 8 bytes.
    F64,
}

impl Float {
    /// Returns the bytes of one number.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Numbers as the device has them, each rounded once.
    pub(crate) fn encode(self, values: impl IntoIterator<Item = f64>, out: &mut Vec<u8>) {
        for value in values {
            match self {
                Self::F32 => out.extend_from_slice(&(value as f32).to_ne_bytes()),
                Self::F64 => out.extend_from_slice(&value.to_ne_bytes()),
            }
        }
    }

    /// The numbers that the device has left in `bytes`, appended to `out`.
    pub(crate) fn decode(self, bytes: &[u8], out: &mut Vec<f64>) {
        match self {
            Self::F32 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_ne_bytes(bytes)))),
            Self::F64 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes))),
        }
    }
}

/// The format that a kernel of NUTS is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NutsFormat {
    /// The type of vectors' elements.
    pub element: Float,
    /// The type of what is one for a whole chain.
    pub scalar: Float,
    /// Lanes of a chain: 32 or 128.
    pub lanes: u32,
    /// Rows of lanes that hold a vector.
    pub rows: u32,
}

impl NutsFormat {
    /// Elements of a vector in memory, padding included.
    #[must_use]
    pub fn vector(&self) -> usize {
        self.lanes as usize * self.rows as usize
    }

    /// Returns the number of chains that a block of threads carries, where they are not moved by teams.
    #[must_use]
    pub fn chains_of_block(&self) -> usize {
        (THREADS / self.lanes) as usize
    }

    /// Vectors of each chain's workspace for trees of at most `max_depth` doublings.
    #[must_use]
    pub fn workspace_vectors(max_depth: u32) -> usize {
        11 + 3 * max_depth as usize
    }

    /// Returns the bytes of a chain's workspace.
    #[must_use]
    pub fn workspace_bytes(&self, max_depth: u32) -> usize {
        Self::workspace_vectors(max_depth) * self.vector() * self.element.bytes()
    }

    /// Returns the bytes of a chain's state: six numbers of dual averaging, step size, log density, and two whole
    /// numbers.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        8 * self.scalar.bytes() + 8
    }
}

impl fmt::Display for NutsFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = |float: Float| 8 * float.bytes();
        write!(f, "{}x{} of {} and {} bits", self.lanes, self.rows, bits(self.element), bits(self.scalar))
    }
}

/// A structure in the making: members at multiples of their size, the whole a multiple of the largest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structure {
    bytes: Vec<u8>,
    alignment: usize,
}

impl Structure {
    fn align(&mut self, alignment: usize) {
        self.alignment = self.alignment.max(alignment);
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    pub(crate) fn word(&mut self, value: u32) -> &mut Self {
        self.align(4);
        self.bytes.extend_from_slice(&value.to_ne_bytes());
        self
    }

    /// An address or another whole number of 64 bits.
    pub(crate) fn long(&mut self, value: u64) -> &mut Self {
        self.align(8);
        self.bytes.extend_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn real(&mut self, float: Float, value: f64) -> &mut Self {
        self.align(float.bytes());
        float.encode([value], &mut self.bytes);
        self
    }

    pub(crate) fn structure(&mut self, inner: &Self) -> &mut Self {
        self.align(inner.alignment.max(1));
        self.bytes.extend(inner.finished());
        self
    }

    /// Returns the bytes, the end padded.
    pub(crate) fn finished(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.resize(bytes.len().next_multiple_of(self.alignment.max(1)), 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets and sizes that a C compiler gives.
    #[test]
    fn members_are_where_c_puts_them() {
        let mut inner = Structure::default();
        inner.long(0x1122).real(Float::F32, 1.5).word(7).word(8);
        assert_eq!(inner.finished().len(), 24);
        let mut outer = Structure::default();
        outer.word(1).structure(&inner).real(Float::F32, 2.0).real(Float::F64, 3.0).word(9);
        let bytes = outer.finished();
        assert_eq!(bytes.len(), 56);
        assert_eq!(bytes[8..16], 0x1122_u64.to_ne_bytes());
        assert_eq!(bytes[32..36], 2.0_f32.to_ne_bytes());
        assert_eq!(bytes[40..48], 3.0_f64.to_ne_bytes());
        assert_eq!(bytes[48..52], 9_u32.to_ne_bytes());
    }

    #[test]
    fn numbers_are_rounded_once_and_come_back() {
        for (float, expected) in [(Float::F64, 0.1), (Float::F32, f64::from(0.1_f32))] {
            let (mut bytes, mut back) = (Vec::new(), Vec::new());
            float.encode([0.1, -0.0], &mut bytes);
            assert_eq!(bytes.len(), 2 * float.bytes());
            float.decode(&bytes, &mut back);
            assert_eq!(
                back.iter().map(|x: &f64| x.to_bits()).collect::<Vec<_>>(),
                [expected, -0.0_f64].map(f64::to_bits)
            );
        }
    }

    #[test]
    fn sizes_are_those_of_the_kernels() {
        let format = NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 4 };
        assert_eq!((format.vector(), format.state_bytes(), format.workspace_bytes(10)), (128, 72, 41 * 1024));
        let mixed = NutsFormat { element: Float::F32, ..format };
        assert_eq!((mixed.state_bytes(), mixed.workspace_bytes(10)), (72, 41 * 512));
        assert_eq!(mixed.to_string(), "32x4 of 32 and 64 bits");
    }
}
