//! Where the targets put their files: memory, if the machine has a folder for that.

use std::sync::Once;
use tempfile::TempDir;

pub(crate) fn scratch() -> TempDir {
    // libFuzzer's own hook ends the process at every panic, also at one of a library that the readers' guard makes an
    // error of. What no guard catches still ends it.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))));
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("no folder for temporary files")
}
