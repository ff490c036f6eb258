//! The types of elements that a device buffer can hold.

use half::f16;
use std::fmt;

/// Closes [`Element`], [`Stored`] and [`Real`] to other crates: unsafe code relies on what they promise.
pub(crate) mod sealed {
    /// A type without padding and of which every pattern of bits is a value, aligned to at most 8 bytes.
    pub trait Sealed: Copy {
        /// Whether PTX declares a parameter of this type as `.f`.
        const IS_FLOAT: bool;
        /// Returns the value's bytes in memory order, at the front.
        fn argument(self) -> [u8; 8];
    }
}

/// A type that device and pinned buffers hold: `f16`, `f32`, `f64`, `u8`, `u32`, `i32`, `u64`.
///
/// Sealed: every pattern of bits is a value of these types, which makes copies from a device sound.
pub trait Element: sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {}

/// A type that the kernels copy, move and convert: `f16`, `f32` or `f64`.
pub trait Stored: Element {
    /// The end of the kernels' names: the type's own.
    const SUFFIX: &'static str;
}

/// A type that the kernels compute in: `f32` or `f64`.
pub trait Real: Stored {}

macro_rules! elements {
    ($($type:ty, $is_float:literal;)*) => {$(
        impl sealed::Sealed for $type {
            const IS_FLOAT: bool = $is_float;
            fn argument(self) -> [u8; 8] {
                let mut bytes = [0; 8];
                bytes[..size_of::<Self>()].copy_from_slice(&self.to_ne_bytes());
                bytes
            }
        }
        impl Element for $type {}
    )*};
}

elements! {
    // Kernels have its bits, as integers.
    f16, false;
    f32, true;
    f64, true;
    u8, false;
    u32, false;
    i32, false;
    u64, false;
}

impl Stored for f16 {
    const SUFFIX: &'static str = "f16";
}

impl Stored for f32 {
    const SUFFIX: &'static str = "f32";
}

impl Stored for f64 {
    const SUFFIX: &'static str = "f64";
}

impl Real for f32 {}

impl Real for f64 {}
