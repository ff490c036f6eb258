//! The C++ sources of the doubles, part of this program: a build needs no other file.

use crate::unavailable::{Unavailable, at};
use std::path::Path;

macro_rules! sources {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../cpp/", $path)))),*] };
}

/// Each file's path below `cpp/` and its text.
pub(crate) const SOURCES: &[(&str, &str)] = sources![
    "kernel_host.hpp",
    "core/block.cpp",
    "core/block.hpp",
    "core/context_switch.cpp",
    "core/context_switch.hpp",
    "core/faults.cpp",
    "core/faults.hpp",
    "core/grid.cpp",
    "core/lane.hpp",
    "core/machine.cpp",
    "core/machine.hpp",
    "core/settings.cpp",
    "core/settings.hpp",
    "core/shared_memory.cpp",
    "core/shared_memory.hpp",
    "core/stacks.cpp",
    "core/stacks.hpp",
    "core/trap.cpp",
    "core/trap.hpp",
    "core/unwritten.hpp",
    "core/workers.cpp",
    "core/workers.hpp",
    "cuda/backing.cpp",
    "cuda/contexts.cpp",
    "cuda/copies.cpp",
    "cuda/devices.cpp",
    "cuda/driver.cpp",
    "cuda/driver.hpp",
    "cuda/errors.cpp",
    "cuda/interpreter.cpp",
    "cuda/interpreter.hpp",
    "cuda/launch.cpp",
    "cuda/memory.cpp",
    "cuda/memory.hpp",
    "cuda/modules.cpp",
    "cuda/ptx.cpp",
    "cuda/ptx.hpp",
    "cuda/queue.cpp",
    "cuda/queue.hpp",
    "cuda/report.cpp",
    "cuda/report.hpp",
    "cuda/streams.cpp",
    "nvml/about.cpp",
    "nvml/condition.cpp",
    "nvml/nvml.cpp",
    "nvml/nvml.hpp",
];

/// Returns the files to compile below this folder of `cpp/`.
pub(crate) fn units(folder: &str) -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(path, _)| *path).filter(move |path| {
        path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) && path.ends_with(".cpp")
    })
}

/// Writes all sources below `folder`.
pub(crate) fn write_to(folder: &Path) -> Result<(), Unavailable> {
    for (path, text) in SOURCES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(at(parent))?;
        }
        std::fs::write(&path, text).map_err(at(path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_below_cpp_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpp");
        let mut found = BTreeSet::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        assert_eq!(found, SOURCES.iter().map(|(path, _)| path.to_string()).collect());
    }
}
