//! A file system's root, which tests replace by a folder of their own.

use std::collections::VecDeque;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// More links than any system follows (Linux: 40); a ring of links ends here.
const MOST_LINKS: usize = 40;

/// The folder that stands for `/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root<'a>(pub(crate) &'a Path);

impl Root<'_> {
    /// Returns where the absolute `path` of the machine lies below the root.
    pub(crate) fn at(self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the first line of a small file; `None` when it cannot be read or is empty.
    pub(crate) fn line(self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read_to_string(self.at(path)).ok()?;
        text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// Returns the names in a folder, sorted; none when it cannot be read.
    pub(crate) fn names(self, folder: impl AsRef<Path>) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.at(folder))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// Returns the file that `path` leads to, all links followed within this root; `None` when there is none.
    pub(crate) fn resolve(self, path: &Path) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<PathBuf> {
            path.components()
                .filter(|part| !matches!(part, Component::RootDir | Component::CurDir | Component::Prefix(_)))
                .map(|part| PathBuf::from(part.as_os_str()))
                .collect()
        };
        let mut waiting: VecDeque<PathBuf> = parts(path).into();
        let (mut reached, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = waiting.pop_front() {
            if part.as_os_str() == ".." {
                reached.pop();
                continue;
            }
            let next = reached.join(part);
            if !fs::symlink_metadata(self.at(&next)).ok()?.is_symlink() {
                reached = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            let target = fs::read_link(self.at(&next)).ok()?;
            if target.is_absolute() {
                reached = PathBuf::from("/");
            }
            for part in parts(&target).into_iter().rev() {
                waiting.push_front(part);
            }
        }
        Some(reached)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_inside_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root(folder.path());
        fs::create_dir_all(root.at("/usr/lib/deep")).unwrap();
        fs::write(root.at("/usr/lib/libx.so.1.2"), "").unwrap();
        symlink("usr/lib", root.at("/lib")).unwrap();
        symlink("/usr/lib/libx.so.1.2", root.at("/usr/lib/deep/libx.so.1")).unwrap();
        symlink("deep/../deep/libx.so.1", root.at("/usr/lib/libx.so")).unwrap();
        symlink("ring", root.at("/ring")).unwrap();
        for path in ["/lib/libx.so", "/usr/lib/./libx.so", "/lib/deep/libx.so.1", "/usr/lib/libx.so.1.2"] {
            assert_eq!(root.resolve(Path::new(path)).as_deref(), Some(Path::new("/usr/lib/libx.so.1.2")), "{path}");
        }
        assert_eq!(root.resolve(Path::new("/ring")), None);
        assert_eq!(root.resolve(Path::new("/usr/none")), None);
        // A chain as long as Linux follows, and one longer (`man 7 path_resolution`: 40).
        fs::write(root.at("/chain0"), "").unwrap();
        for link in 1..=41 {
            symlink(format!("chain{}", link - 1), root.at(format!("/chain{link}"))).unwrap();
        }
        assert_eq!(root.resolve(Path::new("/chain40")).as_deref(), Some(Path::new("/chain0")));
        assert_eq!(root.resolve(Path::new("/chain41")), None);
        // Upwards from the top is the top, as in any root.
        assert_eq!(root.resolve(Path::new("/../usr/lib")).as_deref(), Some(Path::new("/usr/lib")));
    }
}
