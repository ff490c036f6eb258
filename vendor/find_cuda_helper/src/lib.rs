//! Stands in for `find_cuda_helper` 0.2, which the build scripts of `cust` and `cust_raw` call.
//!
//! The original looks for a CUDA toolkit, stops the build where there is none, and links the program to
//! `libcuda`. Octopus needs neither: `octopus-cuda` defines the driver's symbols itself and opens the
//! driver when the program runs.

/// Looks for nothing and links nothing; only tells cargo that the calling build script never needs to run again.
pub fn include_cuda() {
    println!("cargo:rerun-if-changed=build.rs");
}
