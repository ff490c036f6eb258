//! Defines the driver's 353 functions that `cust_raw` declares, and forwards each to the driver at run time.
//!
//! `cust` is written to be linked to `libcuda`, and a program so linked does not start where there is no driver.
//! Here the linker finds the functions in this module instead. The first call opens the driver library
//! ([`library`]); each function is looked up once ([`forward`]). Where there is no library a function answers 303
//! (`CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`), where the library lacks the function 302
//! (`CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`); [`last`] tells these from a driver that answers so itself.
//!
//! Codes: `CUresult` is an enum in Rust, and drivers newer than cust_raw have codes that it does not list. Such a
//! code becomes 999 (`CUDA_ERROR_UNKNOWN`) before it reaches Rust; [`last`] keeps the number.
//!
//! **Not for a `cdylib`.** An executable does not export these symbols, so the real driver, which refers to its own
//! functions only, never meets them. A shared library would export them and could take the place of the driver for
//! other libraries in the same process: give it a version script that hides `cu*`, or leave the feature `cuda` off.

mod describe;
mod forward;
mod library;

pub(in crate::ffi) use forward::{Last, last};
pub(in crate::ffi) use library::{choose, name, opened};

#[cfg(test)]
mod tests;
