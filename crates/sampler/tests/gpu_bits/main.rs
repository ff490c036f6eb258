//! The kernels of `kernels/nuts` have the CPU engine's bits in f64: compiled for the host with arrays for lanes, against
//! density, leapfrog, transitions and whole runs of Rust. In f32 and mixed they are what f64 is, but for rounding.
//!
//! Needs a C++ compiler: `CXX`, or `g++`. Without one the tests say SKIPPED and pass.

mod bounded;
mod bounded_normal;
mod evaluation;
mod harness;
mod leapfrog;
mod models;
mod precisions;
mod program;
mod runs;
mod sanitizers;
mod schools;
mod transitions;
