//! Finds copies of a driver library (libcuda), in the order in which the loader would take them.
//!
//! The folders that loaders search, and others where drivers are known to lie, stand here.

use super::loader_cache;
use super::root::Root;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders that loaders search without being told, on the systems for which NVIDIA makes drivers.
const DEFAULT_FOLDERS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
#[cfg(target_arch = "aarch64")]
const ARM_FOLDERS: [&str; 2] = ["/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
#[cfg(not(target_arch = "aarch64"))]
const ARM_FOLDERS: [&str; 0] = [];

/// Folders where drivers are known to lie that the loader must be told of: WSL, Debian's alternatives,
/// NixOS, Google's container nodes, the forward-compatibility package.
const OTHER_FOLDERS: [&str; 5] = [
    "/usr/lib/wsl/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/run/opengl-driver/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/cuda/compat",
];

/// One copy of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryCopy {
    /// The name under which it was found, e.g. `/usr/lib64/libcuda.so.1`.
    pub path: String,
    /// The file that this name leads to, e.g. `/usr/lib64/libcuda.so.550.54.15`.
    pub file: String,
    /// The driver's version, as far as the file's name tells it.
    pub version: Option<String>,
    /// Why it is on the list.
    pub found: FoundBy,
}

/// The way a copy was found, in the order in which loaders look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// A variable of Octopus names it: no other is looked for.
    Override,
    /// A folder of `LD_LIBRARY_PATH`.
    LdLibraryPath,
    /// The loader's cache.
    LoaderCache,
    /// A folder that loaders search without being told.
    DefaultFolder,
    /// A folder that the loader does not search.
    Elsewhere,
}

impl LibraryCopy {
    /// Returns whether this is a toolkit's stub for linking, which is no driver.
    pub fn is_stub(&self) -> bool {
        self.lies_in("stubs")
    }

    /// Returns whether this is of a forward-compatibility package, newer than the kernel module on purpose.
    pub fn is_compat(&self) -> bool {
        self.lies_in("compat")
    }

    /// Returns whether this is the copy that Windows provides under WSL.
    pub fn is_of_wsl(&self) -> bool {
        self.path.starts_with("/usr/lib/wsl/") || self.file.starts_with("/usr/lib/wsl/")
    }

    fn lies_in(&self, folder: &str) -> bool {
        [&self.path, &self.file].into_iter().any(|path| path.split('/').any(|part| part == folder))
    }

    /// Returns the copy in words: its file and the version, if the file's name does not tell it.
    pub(crate) fn describe(&self) -> String {
        match (&self.version, self.found) {
            (_, FoundBy::Elsewhere) => format!("{} (not searched)", self.file),
            (Some(version), _) if !self.file.ends_with(version.as_str()) => format!("{} ({version})", self.file),
            _ => self.file.clone(),
        }
    }
}

/// The settings that decide where the loader looks.
pub(super) struct Search<'a> {
    pub(super) root: Root<'a>,
    pub(super) ld_library_path: Option<&'a str>,
    /// The current folder, for relative entries of `LD_LIBRARY_PATH`.
    pub(super) current: Option<&'a str>,
    pub(super) cache: &'a [u8],
}

impl Search<'_> {
    /// Returns every copy of `soname` for this program's architecture. A file that is reached in several ways is listed
    /// once, as the loader would find it first.
    pub(super) fn copies(&self, soname: &str, named: Option<&str>) -> Vec<LibraryCopy> {
        let mut seen = BTreeSet::new();
        self.candidates(soname, named)
            .into_iter()
            .filter_map(|(path, found)| {
                let file = self.root.resolve(&path)?;
                let real = self.root.at(&file);
                if !real.is_file() || foreign(&real) || !seen.insert(file.clone()) {
                    return None;
                }
                let version = version_of(&file).or_else(|| version_of(&path));
                Some(LibraryCopy { path: path.display().to_string(), file: file.display().to_string(), version, found })
            })
            .collect()
    }

    fn candidates(&self, soname: &str, named: Option<&str>) -> Vec<(PathBuf, FoundBy)> {
        let mut candidates: Vec<(PathBuf, FoundBy)> = Vec::new();
        // A name without a folder is searched for as usual.
        candidates.extend(named.filter(|name| name.contains('/')).map(|name| (PathBuf::from(name), FoundBy::Override)));
        // The loader takes `:` and `;`, and an empty entry for the current folder.
        let folders = self.ld_library_path.filter(|path| !path.is_empty());
        for folder in folders.into_iter().flat_map(|path| path.split([':', ';'])) {
            let folder = if folder.starts_with('/') {
                PathBuf::from(folder)
            } else {
                let Some(current) = self.current else { continue };
                Path::new(current).join(folder)
            };
            candidates.push((folder.join(soname), FoundBy::LdLibraryPath));
        }
        let cached = loader_cache::paths(self.cache, soname);
        candidates.extend(cached.into_iter().map(|path| (path.into(), FoundBy::LoaderCache)));
        for folder in DEFAULT_FOLDERS.iter().chain(&ARM_FOLDERS) {
            candidates.push((Path::new(folder).join(soname), FoundBy::DefaultFolder));
        }
        for folder in OTHER_FOLDERS {
            candidates.push((Path::new(folder).join(soname), FoundBy::Elsewhere));
        }
        candidates
    }
}

/// Returns whether a file says that it is a library of another architecture, such as a 32-bit one. A file that is no
/// library at all is not foreign: the loader would stumble over it.
fn foreign(file: &Path) -> bool {
    let mut head = [0_u8; 20];
    if File::open(file).and_then(|mut file| file.read_exact(&mut head)).is_err() || !head.starts_with(b"\x7fELF") {
        return false;
    }
    let class = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
    let machine = u16::from_ne_bytes([head[18], head[19]]);
    head[4] != class || machine_of(std::env::consts::ARCH).is_some_and(|ours| ours != machine)
}

/// Returns the number by which ELF files name an architecture, of those for which NVIDIA makes drivers.
fn machine_of(architecture: &str) -> Option<u16> {
    match architecture {
        "x86_64" => Some(62),
        "aarch64" => Some(183),
        _ => None,
    }
}

/// `550.54.15` of `libcuda.so.550.54.15`. The `1` and `1.1` that other names end with count interfaces.
fn version_of(file: &Path) -> Option<String> {
    let (_, version) = file.file_name()?.to_str()?.split_once(".so.")?;
    let mut parts = version.split('.');
    let branch: u32 = parts.next()?.parse().ok()?;
    let numbers = parts.all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    (branch >= 100 && numbers).then(|| version.to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::loader_cache::tests::cache;
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const SONAME: &str = "libcuda.so.1";

    fn install(root: Root<'_>, folder: &str, version: &str) {
        fs::create_dir_all(root.at(folder)).unwrap();
        let name = format!("libcuda.so.{version}");
        fs::write(root.at(folder).join(&name), "").unwrap();
        symlink(name, root.at(folder).join(SONAME)).unwrap();
    }

    fn search<'a>(root: Root<'a>, path: Option<&'a str>, cache: &'a [u8]) -> Search<'a> {
        Search { root, ld_library_path: path, current: Some("/srv"), cache }
    }

    fn brief(copies: &[LibraryCopy]) -> Vec<(&str, Option<&str>, FoundBy)> {
        copies.iter().map(|copy| (copy.file.as_str(), copy.version.as_deref(), copy.found)).collect()
    }

    #[test]
    fn copies_come_in_the_loaders_order_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root(folder.path());
        install(root, "/usr/lib/x86_64-linux-gnu", "550.54.15");
        install(root, "/opt/old", "470.82.01");
        install(root, "/usr/local/cuda/compat", "560.28.03");
        install(root, "/srv/here", "535.104.05");
        symlink("usr/lib", root.at("/lib")).unwrap();
        let cache = cache(&[(SONAME, "/lib/x86_64-linux-gnu/libcuda.so.1"), (SONAME, "/gone/libcuda.so.1")]);
        let copies = search(root, Some("/opt/old:/none;here"), &cache).copies(SONAME, None);
        assert_eq!(
            brief(&copies),
            [
                ("/opt/old/libcuda.so.470.82.01", Some("470.82.01"), FoundBy::LdLibraryPath),
                ("/srv/here/libcuda.so.535.104.05", Some("535.104.05"), FoundBy::LdLibraryPath),
                ("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15", Some("550.54.15"), FoundBy::LoaderCache),
                ("/usr/local/cuda/compat/libcuda.so.560.28.03", Some("560.28.03"), FoundBy::Elsewhere),
            ]
        );
        assert!(copies[3].is_compat() && !copies[0].is_compat());
        assert_eq!(copies[3].describe(), "/usr/local/cuda/compat/libcuda.so.560.28.03 (not searched)");
        assert_eq!(copies[0].describe(), "/opt/old/libcuda.so.470.82.01");
    }

    #[test]
    fn a_named_library_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root(folder.path());
        install(root, "/usr/lib64", "550.54.15");
        install(root, "/mine", "535.104.05");
        let copies = search(root, None, &[]).copies(SONAME, Some("/mine/libcuda.so.1"));
        assert_eq!(brief(&copies)[0].2, FoundBy::Override);
        assert_eq!(brief(&copies)[1].2, FoundBy::DefaultFolder);
        // A bare name is looked for where every library is.
        assert_eq!(search(root, None, &[]).copies(SONAME, Some(SONAME)).len(), 1);
    }

    #[test]
    fn other_architectures_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root(folder.path());
        fs::create_dir_all(root.at("/usr/lib64")).unwrap();
        fs::create_dir_all(root.at("/usr/lib")).unwrap();
        let mut head = vec![0_u8; 64];
        head[..5].copy_from_slice(b"\x7fELF\x01");
        fs::write(root.at("/usr/lib/libcuda.so.1"), &head).unwrap();
        assert_eq!(search(root, None, &[]).copies(SONAME, None), []);
        // Of 64 bits, for a machine that nobody has a driver for: MIPS.
        (head[4], head[18]) = (2, 8);
        fs::write(root.at("/usr/lib/libcuda.so.1"), &head).unwrap();
        assert_eq!(search(root, None, &[]).copies(SONAME, None), []);
        // What is no library, or the beginning of one, is of no architecture: the loader stumbles over it.
        for (text, version) in [(&b"a text of more than 20 bytes"[..], "1.1"), (&b"\x7fELF\x01"[..], "1.2")] {
            let path = format!("/usr/lib/libcuda.so.{version}");
            fs::write(root.at(&path), text).unwrap();
            assert!(!foreign(&root.at(&path)), "{path}");
        }
        // This test itself is of the right architecture.
        fs::copy(std::env::current_exe().unwrap(), root.at("/usr/lib64/libcuda.so.1")).unwrap();
        let copies = search(root, None, &[]).copies(SONAME, None);
        assert_eq!(brief(&copies), [("/usr/lib64/libcuda.so.1", None, FoundBy::DefaultFolder)]);
    }

    #[test]
    fn architectures_have_the_numbers_of_the_elf_standard() {
        // EM_X86_64 and EM_AARCH64 of elf.h; EM_MIPS (8) is there too, but has no driver.
        let numbers = ["x86_64", "aarch64", "mips"].map(machine_of);
        assert_eq!(numbers, [Some(62), Some(183), None]);
    }

    #[test]
    fn stubs_and_interface_numbers_are_no_versions() {
        let copy = |path: &str| LibraryCopy {
            path: path.into(),
            file: path.into(),
            version: version_of(Path::new(path)),
            found: FoundBy::LdLibraryPath,
        };
        assert!(copy("/usr/local/cuda/lib64/stubs/libcuda.so").is_stub());
        assert!(!copy("/opt/mystubs/libcuda.so").is_stub());
        assert!(copy("/usr/lib/wsl/lib/libcuda.so.1.1").is_of_wsl());
        let (linked, wsl) = (copy("/usr/lib64/libcuda.so.1"), "/usr/lib/wsl/lib/libcuda.so.1");
        assert!(LibraryCopy { file: wsl.into(), ..linked.clone() }.is_of_wsl());
        assert!(LibraryCopy { path: wsl.into(), ..linked.clone() }.is_of_wsl() && !linked.is_of_wsl());
        let told = LibraryCopy { version: Some("550.54.15".into()), ..copy("/x/libcuda.so.1") };
        assert_eq!(told.describe(), "/x/libcuda.so.1 (550.54.15)");
        for (path, version) in [
            ("/x/libcuda.so.1", None),
            ("/x/libcuda.so.1.1", None),
            ("/x/libcuda.so.550.54.15", Some("550.54.15")),
            ("/x/libcuda.so.580.95", Some("580.95")),
            ("/x/libcuda.so.550.bak", None),
            ("/x/libcuda.so", None),
        ] {
            assert_eq!(copy(path).version.as_deref(), version, "{path}");
        }
    }
}
