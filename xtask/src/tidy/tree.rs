//! The files that checks look at.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Folders that a walk without git leaves out.
const NOT_SOURCES: [&str; 4] = [".git", ".venv", "runs", "shared"];

/// Paths relative to the checkout, with `/`, and the files' bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// The files that git tracks at `root`; every file outside of build folders where there is no git.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let paths = match tracked(root) {
            Some(paths) => paths,
            None => {
                let mut paths = Vec::new();
                walk(root, "", &mut paths)?;
                paths
            }
        };
        if paths.is_empty() {
            bail!("{} has no files", root.display());
        }
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            // A file that is deleted and not yet committed is still tracked; links lead out of the tree.
            if fs::symlink_metadata(&full).is_ok_and(|data| data.is_file()) {
                let bytes = fs::read(&full).with_context(|| format!("cannot read {}", full.display()))?;
                files.insert(path, bytes);
            }
        }
        Ok(Self { files })
    }

    /// A tree for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect() }
    }

    /// All paths, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All paths with the files' sizes in bytes.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&str, usize)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.len()))
    }

    /// The text of the file at `path`; `None` when there is no such file or it is no text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok().filter(|text| !text.contains('\0'))
    }

    /// All files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.paths().filter_map(|path| Some((path, self.text(path)?)))
    }

    /// All files of Rust.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// Folders of the workspace's packages with their manifests.
    pub(crate) fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter_map(|(path, text)| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let member = ["xtask", "xtask/launch", "benchmarks"].contains(&folder)
                || folder.strip_prefix("crates/").is_some_and(|name| !name.contains('/'));
            member.then_some((folder, text))
        })
    }
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git").current_dir(root).args(["ls-files", "-z", "--cached"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|text| output.status.success() && !text.is_empty())?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    let full = root.join(folder);
    for entry in fs::read_dir(&full).with_context(|| format!("cannot read {}", full.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !entry.file_type()?.is_dir() {
            paths.push(path);
        } else if !(NOT_SOURCES.contains(&name.as_str()) || folder.is_empty() && name.starts_with("target")) {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_the_members_of_the_workspace() {
        let tree = Tree::of(&[
            ("Cargo.toml", ""),
            ("crates/a/Cargo.toml", "a"),
            ("crates/a/examples/own/Cargo.toml", "no"),
            ("xtask/Cargo.toml", "x"),
        ]);
        assert_eq!(tree.packages().collect::<Vec<_>>(), [("crates/a", "a"), ("xtask", "x")]);
    }

    #[test]
    fn files_that_are_no_text_have_none() {
        let mut tree = Tree::of(&[("a.txt", "words")]);
        tree.files.insert("b.png".into(), vec![0x89, 0x50, 0xff]);
        tree.files.insert("c.bin".into(), vec![b'a', 0, b'b']);
        assert_eq!(tree.texts().collect::<Vec<_>>(), [("a.txt", "words")]);
        assert_eq!(tree.sizes().count(), 3);
    }

    #[test]
    fn a_checkout_without_git_is_walked() {
        let root = std::env::temp_dir().join(format!("octopus-tidy-walk-{}", std::process::id()));
        for file in ["src/a.rs", "target/debug/b.rs", "target-x/c.rs", ".ci/run", "runs/d.toml"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "x").unwrap();
        }
        let mut paths = Vec::new();
        walk(&root, "", &mut paths).unwrap();
        fs::remove_dir_all(&root).unwrap();
        paths.sort();
        assert_eq!(paths, [".ci/run", "src/a.rs"]);
    }

    #[test]
    fn this_checkout_has_its_own_manifest() {
        let tree = Tree::read(&crate::place::root()).unwrap();
        assert!(tree.text("Cargo.toml").unwrap().contains("[workspace]"));
        assert!(tree.packages().any(|(folder, _)| folder == "xtask"));
        assert!(!tree.paths().any(|path| path.starts_with("target")));
    }
}
