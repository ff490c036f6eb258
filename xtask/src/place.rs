//! Where the workspace and its builds are.

use std::path::{Path, PathBuf};

/// The workspace's folder. Cargo tells where this package lies when it runs it; the place where it was
/// built is only the fall-back.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let package = Path::new(&package);
    package.parent().unwrap_or(package).to_path_buf()
}

/// Where builds go.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}
