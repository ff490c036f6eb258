//! Arrays and matrices that live on a device, and what is computed with them there.
//!
//! | You have | Use |
//! |---|---|
//! | numbers that should live on a device | [`Array`], in one dimension |
//! | a product of matrices to form | [`Matrix`], row-major |
//! | slices, and no device in mind | [`cpu`]: the same operations, names and argument order |
//!
//! **Where results live.** A result lives where its operands live; operands of different devices are an error and never
//! copied in silence: [`Array::to_device`] copies.
//!
//! **The same bits everywhere.** Each operation is rounded once, to the nearest; nothing is fused, reordered or
//! approximated. Reductions have one shape, set by the length alone: chunks of 16 384 elements; within a chunk of `m`
//! elements, element `i` belongs to lane `i mod L`, with `L` 32 up to 256 elements and 128 above; each lane takes its
//! elements in order, then the lanes are joined as a halving tree (`L/2`, `L/4`, ... 1); the chunks' results are reduced
//! in the same way until one is left. Elements of a matrix product are summed over k in order. So a GPU's results and
//! those of [`cpu`] agree bit for bit, in `f32` and `f64`. The one exception: where a result is NaN, the
//! NaN's sign and payload may differ.

pub mod cpu;
mod elementwise;
mod engine;
mod error;
mod matrix;
mod pool;
mod reduce;
mod scalar;
pub(crate) mod storage;

pub use engine::Engine;
pub use error::ArrayError;
pub use matrix::Matrix;
pub use scalar::Scalar;
pub use storage::Array;
