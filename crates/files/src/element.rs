//! The numbers that a file is of.

use half::f16;
use std::borrow::Cow;
use std::fmt;

/// The type of a file's numbers, as NumPy names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NpyType {
    /// `<f8`: double precision, `f64`.
    F8,
    /// `<f4`: single precision, `f32`.
    F4,
    /// `<f2`: half precision, whose bits are in a `u16`.
    F2,
}

impl NpyType {
    /// Returns NumPy's name of it, as in a file's header.
    pub fn descr(self) -> &'static str {
        match self {
            Self::F8 => "<f8",
            Self::F4 => "<f4",
            Self::F2 => "<f2",
        }
    }

    /// Returns the type of that name.
    pub fn of_descr(descr: &str) -> Option<Self> {
        [Self::F8, Self::F4, Self::F2].into_iter().find(|known| known.descr() == descr)
    }

    /// Returns the bytes of one number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F8 => 8,
            Self::F4 => 4,
            Self::F2 => 2,
        }
    }
}

impl fmt::Display for NpyType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.descr())
    }
}

/// A number that a file can be of: `f64`, `f32`, `f16`, and `u16` for the bits of a half-precision number.
pub trait NpyElement: bytemuck::Pod {
    /// The numbers' type.
    const TYPE: NpyType;

    /// Puts the bytes of the number into the other order.
    #[must_use]
    fn swapped(self) -> Self;
}

impl NpyElement for f64 {
    const TYPE: NpyType = NpyType::F8;

    fn swapped(self) -> Self {
        Self::from_bits(self.to_bits().swap_bytes())
    }
}

impl NpyElement for f32 {
    const TYPE: NpyType = NpyType::F4;

    fn swapped(self) -> Self {
        Self::from_bits(self.to_bits().swap_bytes())
    }
}

impl NpyElement for u16 {
    const TYPE: NpyType = NpyType::F2;

    fn swapped(self) -> Self {
        self.swap_bytes()
    }
}

impl NpyElement for f16 {
    const TYPE: NpyType = NpyType::F2;

    fn swapped(self) -> Self {
        Self::from_bits(self.to_bits().swap_bytes())
    }
}

/// Returns the numbers as a file has them; on a little-endian machine they are so in memory.
pub(crate) fn in_file_order<T: NpyElement>(values: &[T]) -> Cow<'_, [T]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(values)
    } else {
        values.iter().map(|value| value.swapped()).collect()
    }
}

/// Puts numbers as a file has them into the machine's order.
pub(crate) fn to_machine_order<T: NpyElement>(values: &mut [T]) {
    if cfg!(target_endian = "big") {
        values.iter_mut().for_each(|value| *value = value.swapped());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_numpys_names_and_sizes() {
        for (known, name, bytes) in [(NpyType::F8, "<f8", 8), (NpyType::F4, "<f4", 4), (NpyType::F2, "<f2", 2)] {
            assert_eq!((known.to_string().as_str(), known.bytes()), (name, bytes));
            assert_eq!(NpyType::of_descr(name), Some(known));
        }
        assert_eq!(NpyType::of_descr(">f8"), None);
    }

    #[test]
    fn a_file_is_little_endian() {
        assert_eq!(bytemuck::cast_slice::<f64, u8>(&in_file_order(&[1.5])), 1.5f64.to_le_bytes());
        let mut values: [f32; 1] = bytemuck::cast(2.5f32.to_le_bytes());
        to_machine_order(&mut values);
        assert_eq!(values, [2.5]);
        assert_eq!(1.5f64.swapped().to_le_bytes(), 1.5f64.to_be_bytes());
        assert_eq!(1.5f32.swapped().to_le_bytes(), 1.5f32.to_be_bytes());
        assert_eq!(0x1234u16.swapped(), 0x3412);
        assert_eq!(f16::from_bits(0x1234).swapped().to_bits(), 0x3412);
    }
}
