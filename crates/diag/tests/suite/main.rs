//! The tests from outside, as one program.

mod arviz;
mod invariance;
mod many;
mod support;
mod trace;
