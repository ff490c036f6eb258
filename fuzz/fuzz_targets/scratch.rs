//! Where the targets put their files: memory, if the machine has a folder for that.

use tempfile::TempDir;

pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("no folder for temporary files")
}
