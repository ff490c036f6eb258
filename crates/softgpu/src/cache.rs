//! Builds are kept below the target folder, under a name that tells what they were made of.

use crate::unavailable::{Unavailable, at};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Returns the folder of all builds: `softgpu` in cargo's target folder, which is where tests run from; else in the
/// system's folder for temporary files.
pub(crate) fn root() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    target.map_or_else(std::env::temp_dir, Path::to_path_buf).join("softgpu")
}

/// The folder below `root` for a build of these inputs, made by `build` if it is not there.
///
/// `build` fills the folder it is given, which is then renamed to the second one. Another process that wants the same
/// build waits for it; one that dies leaves nothing that anybody would take for complete.
pub(crate) fn folder(
    root: &Path,
    name: &str,
    inputs: impl Hash,
    build: impl FnOnce(&Path, &Path) -> Result<(), Unavailable>,
) -> Result<PathBuf, Unavailable> {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let name = format!("{name}-{:016x}", hasher.finish());
    let complete = root.join(&name);
    if complete.is_dir() {
        return Ok(complete);
    }
    std::fs::create_dir_all(root).map_err(at(root))?;
    let lock_path = root.join(format!("{name}.lock"));
    let lock = File::create(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;
    if complete.is_dir() {
        return Ok(complete);
    }
    let unfinished = root.join(format!("{name}.unfinished"));
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(at(&unfinished))?;
    }
    std::fs::create_dir(&unfinished).map_err(at(&unfinished))?;
    build(&unfinished, &complete)?;
    std::fs::rename(&unfinished, &complete).map_err(at(&complete))?;
    Ok(complete)
}

/// Returns the contents of all files below a folder, with their paths, in one order.
pub(crate) fn contents(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, Unavailable> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(at(&folder))? {
            let path = entry.map_err(at(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).map_err(at(&path))?;
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_build_is_made_once_also_by_many_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let builds = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let made = folder(root.path(), "one", 7, |unfinished, _| {
                        builds.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(30));
                        std::fs::write(unfinished.join("file"), "done").map_err(at(unfinished))
                    });
                    assert_eq!(std::fs::read_to_string(made.unwrap().join("file")).unwrap(), "done");
                });
            }
        });
        assert_eq!(builds.into_inner(), 1);
    }

    #[test]
    fn a_failed_build_leaves_nothing_to_be_taken_for_complete() {
        let root = tempfile::tempdir().unwrap();
        let refuse = |folder: &Path, _: &Path| {
            std::fs::write(folder.join("half"), "").map_err(at(folder))?;
            Err(Unavailable::Refused { what: "it".into(), output: String::new() })
        };
        assert!(folder(root.path(), "one", 7, refuse).is_err());
        let made = folder(root.path(), "one", 7, |_, _| Ok(())).unwrap();
        assert!(made.is_dir() && !made.join("half").exists());
    }

    #[test]
    fn other_inputs_are_another_build() {
        let root = tempfile::tempdir().unwrap();
        let a = folder(root.path(), "one", "a", |_, _| Ok(())).unwrap();
        let b = folder(root.path(), "one", "b", |_, _| Ok(())).unwrap();
        assert_ne!(a, b);
    }
}
