//! The kernels of `kernels/nuts` have the CPU engine's bits: compiled for the host with arrays for lanes, against
//! density, leapfrog, transitions and whole runs of Rust.
//!
//! Needs a C++ compiler: `CXX`, or `g++`. Without one the tests say SKIPPED and pass.

mod evaluation;
mod expansions;
mod harness;
mod leapfrog;
mod models;
mod runs;
mod schools;
mod transitions;
