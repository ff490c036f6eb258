//! Lets the linker find a `libcuda` where nobody installed one.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));

    // Without the workspace's patch, the build scripts of cust and cust_raw ask the linker for `-lcuda`. An archive
    // with nothing in it answers that; the symbols are those of `ffi::shim`.
    fs::write(out.join("libcuda.a"), "!<arch>\n").expect("OUT_DIR is writable");
    println!("cargo:rustc-link-search=native={}", out.display());
}
