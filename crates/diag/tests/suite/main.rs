//! The tests from outside, as one program.

mod arviz;
mod invariance;
mod support;
mod trace;
