//! Finds the folder where the platform keeps caches.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the user's folder for caches, by the environment that `variable` reads.
///
/// XDG's rule everywhere it is set (a relative path counts as unset, as the XDG Base Directory Specification says),
/// else what the platform's own programs do.
pub(super) fn user_caches(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            Some(folder("HOME")?.join("Library").join("Caches"))
        } else {
            Some(folder("HOME")?.join(".cache"))
        }
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn xdg_comes_first_and_relative_paths_count_as_unset() {
        let caches = |xdg: Option<&str>, home: Option<&str>| {
            let (xdg, home) = (xdg.map(OsString::from), home.map(OsString::from));
            user_caches(|name| if name == "XDG_CACHE_HOME" { xdg.clone() } else { home.clone() })
        };
        assert_eq!(caches(Some("/x"), Some("/people/a")), Some("/x".into()));
        assert_eq!(caches(Some("x"), Some("/people/a")), Some("/people/a/.cache".into()));
        assert_eq!(caches(Some(""), Some("/people/a")), Some("/people/a/.cache".into()));
        assert_eq!(caches(None, Some("/people/a")), Some("/people/a/.cache".into()));
        assert_eq!(caches(None, None), None);
    }
}
