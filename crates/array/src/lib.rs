//! Arrays that live on a device, and what is computed with them there, under NumPy's names.
//!
//! | You want | Use |
//! |---|---|
//! | random numbers | [`Array::drawn`], [`drawn_von_mises`](Array::drawn_von_mises) |
//! | to make an array | [`Array::zeros`], [`full`](Array::full), [`eye`](Array::eye), [`arange`](Array::arange), [`from_slice`](Array::from_slice), [`from_rows`](Array::from_rows), [`from_shape`](Array::from_shape), [`on`](Array::on), [`to_device`](Array::to_device) |
//! | arithmetic, broadcast | [`Array::add`], [`sub`](Array::sub), [`mul`](Array::mul), [`div`](Array::div), [`select`](Array::select) (NumPy's `where`) |
//! | arithmetic with a number | [`Array::add_scalar`], [`div_scalar`](Array::div_scalar), [`scale`](Array::scale), [`axpy`](Array::axpy), [`clip`](Array::clip) |
//! | a function of each element | [`Array::exp`], [`ln`](Array::ln), [`sqrt`](Array::sqrt), [`tanh`](Array::tanh), [`sigmoid`](Array::sigmoid), [`relu`](Array::relu), [`abs`](Array::abs) |
//! | one number of all elements | [`Array::sum`], [`mean`](Array::mean), [`std`](Array::std), [`norm`](Array::norm), [`min`](Array::min), [`max`](Array::max), [`dot`](Array::dot) |
//! | one number of each column or row | [`Array::sum_axis`], [`mean_axis`](Array::mean_axis), [`std_axis`](Array::std_axis), [`norm_axis`](Array::norm_axis), [`min_axis`](Array::min_axis), [`max_axis`](Array::max_axis) |
//! | products of matrices | [`Array::matmul`], [`outer`](Array::outer) |
//! | the same elements in other places | [`Array::reshape`], [`transpose`](Array::transpose), [`slice`](Array::slice), [`concatenate`](Array::concatenate) |
//! | a file of NumPy (`.npy`) | [`Array::save`], [`load`](Array::load) |
//! | more random numbers than memory holds | [`draw_batches`], [`draw_batches_onto`] |
//! | layers that learn, on arrays | [`layers`]: [`LayerHierarchy`](layers::LayerHierarchy) |
//! | another type (NumPy's `astype`) | [`Array::to_f16`], [`to_f32`](Array::to_f32), [`to_f64`](Array::to_f64) |
//! | slices, and no device in mind | [`cpu`]: the same operations over slices, in the argument order of the kernels |
//!
//! **Shapes** are of one dimension or two ([`ArrayShape`]), written as NumPy writes them. Two arrays are broadcast as in
//! NumPy: a vector is one row, and a side of 1 is repeated.
//!
//! **Where results live.** A result lives where its operands live; operands of different devices are an error and never
//! copied in silence: [`Array::to_device`] copies. Results that are arrays stay there, and nothing waits for them.
//!
//! **Types.** Arithmetic is done in `f32` and `f64`. `f16` stores numbers at half the memory of `f32`: such arrays are made,
//! moved, cut, put together and converted, and to compute with them is to convert them to `f32` first; CuPy, which has
//! arithmetic of `f16`, rounds after each operation what is rounded here once, at the end.
//!
//! **The same bits everywhere.** Each operation is rounded once, to the nearest; nothing is fused, reordered or
//! approximated. Reductions have one shape, set by the length alone: chunks of 16 384 elements; within a chunk of `m`
//! elements, element `i` belongs to lane `i mod L`, with `L` 32 up to 256 elements and 128 above; each lane takes its
//! elements in order, then the lanes are joined as a halving tree (`L/2`, `L/4`, ... 1); the chunks' results are reduced
//! in the same way until one is left. Along axis 1 each row is reduced so. Along axis 0 rows are taken in groups of 64: in
//! each, a column's numbers are joined one after the other, and the groups' results are reduced in the same way until one
//! row is left. Elements of a matrix product are summed over k in order. So results of a GPU and of [`cpu`] agree bit
//! for bit, in `f32` and `f64`, but for one thing: where a result is NaN, the NaN's sign and payload may differ.

mod axes;
mod cast;
pub mod cpu;
mod create;
mod draws;
mod element;
mod elementwise;
mod engine;
mod error;
mod half;
pub mod layers;
mod layout;
mod npy;
mod pool;
mod product;
mod reduce;
mod scalar;
mod shape;
mod storage;

pub use draws::{BatchConfig, DrawError, DrawSource, draw_batches, draw_batches_onto};
pub use element::ArrayElement;
pub use engine::Engine;
pub use error::ArrayError;
pub use npy::ArrayFileError;
pub use scalar::Scalar;
pub use shape::ArrayShape;
pub use storage::Array;
