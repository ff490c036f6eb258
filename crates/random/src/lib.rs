//! Counter-based random numbers and exact elementary functions with the same bits everywhere.
#![forbid(unsafe_code)]

mod stream;

pub use stream::{Purpose, Stream};
