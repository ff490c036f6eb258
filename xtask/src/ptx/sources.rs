//! The kernels' source files: their hash, the modules that are made of them, and what includes what.

use super::signature::{Signature, signatures};
use anyhow::{Context, Result, bail};
use octopus_softgpu::sampler_units_in;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The file that includes all kernels of the module `octopus`.
const OCTOPUS: &str = "src/octopus.cu";
/// The functions that programs of vectors are made of: a module of its own.
const PROGRAM_FUNCTIONS: &str = "src/program_functions.cu";
/// Each unit here is a module of its own.
const UNITS: &str = "nuts/units/";
const FOLDERS: [&str; 3] = ["include", "src", "nuts"];
const KINDS: [&str; 2] = [".cuh", ".cu"];

/// Paths relative to the kernels' folder, with `/`, and the texts with plain line ends. The sampler's units are here as
/// if each were a file.
pub(super) struct Sources(BTreeMap<String, String>);

/// What becomes one PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// The unit's name without its ending.
    pub(super) name: String,
    /// The path of the text to compile.
    pub(super) unit: String,
}

impl Module {
    /// Whether it is a unit of the sampler's kernels.
    pub(super) fn is_sampler(&self) -> bool {
        self.unit.starts_with(UNITS)
    }

    /// Whether its PTX is packed.
    pub(super) fn is_packed(&self) -> bool {
        self.unit != OCTOPUS
    }

    /// The file of the PTX, in `kernels/ptx`.
    pub(super) fn file(&self) -> String {
        format!("{}.{}", self.name, if self.is_packed() { "ptx.gz" } else { "ptx" })
    }
}

impl Sources {
    /// All `.cu` and `.cuh` files in `include`, `src` and `nuts` below `folder`, and the sampler's units.
    ///
    /// # Errors
    /// When a file cannot be read, or there is a fault in what the units are made of.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for name in FOLDERS {
            walk(&folder.join(name), name, &mut files)?;
        }
        for unit in sampler_units_in(folder)? {
            files.insert(format!("{UNITS}{}.cu", unit.name), unit.text);
        }
        Ok(Self(files))
    }

    /// Writes the sampler's units to `folder`, for people: the compiler's messages have line numbers.
    ///
    /// # Errors
    /// When the folder cannot be made anew or a file cannot be written.
    pub(super) fn write_units(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (path, text) in &self.0 {
            if let Some(file) = path.strip_prefix(UNITS) {
                fs::write(folder.join(file), text).with_context(|| format!("cannot write {file}"))?;
            }
        }
        Ok(())
    }

    /// SHA-256 over paths, lengths and texts, in the order of the paths.
    pub(super) fn hash(&self) -> String {
        let mut all = Vec::new();
        for (path, text) in &self.0 {
            all.extend_from_slice(format!("{path} {}\n{text}\n", text.len()).as_bytes());
        }
        sha256(&all)
    }

    /// The modules of everything but NUTS, and one for each unit of NUTS, in the order of their names.
    pub(super) fn modules(&self) -> Vec<Module> {
        let units = self.0.keys().filter(|path| path.starts_with(UNITS) && path.ends_with(".cu"));
        let module = |unit: &str| {
            let file = unit.rsplit('/').next().unwrap_or(unit);
            Module { name: file.trim_end_matches(".cu").to_owned(), unit: unit.to_owned() }
        };
        [OCTOPUS, PROGRAM_FUNCTIONS].map(module).into_iter().chain(units.map(|unit| module(unit))).collect()
    }

    /// The text of a module's unit.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn unit(&self, module: &Module) -> Result<&str> {
        let text = self.0.get(&module.unit);
        text.map(String::as_str).with_context(|| format!("{} is missing", module.unit))
    }

    /// Every file that a module's unit includes, directly or not, by the name under which it is included, and its text.
    ///
    /// # Errors
    /// When one is not there.
    pub(super) fn headers(&self, module: &Module) -> Result<BTreeMap<&str, &str>> {
        let folders = ["include", module.unit.split('/').next().unwrap_or_default()];
        let mut found = BTreeMap::new();
        let mut waiting = vec![(module.unit.as_str(), self.unit(module)?)];
        while let Some((from, text)) = waiting.pop() {
            for name in included(text) {
                if found.contains_key(name) {
                    continue;
                }
                let places = folders.map(|folder| format!("{folder}/{name}"));
                let Some(text) = places.iter().find_map(|path| self.0.get(path)) else {
                    bail!("{from} includes {name}, and there is none of {}", places.join(", "))
                };
                found.insert(name, text.as_str());
                waiting.push((name, text));
            }
        }
        Ok(found)
    }

    /// The kernels that a module's files declare.
    ///
    /// # Errors
    /// When a declaration cannot be understood or a file is not there.
    pub(super) fn signatures(&self, module: &Module) -> Result<Vec<Signature>> {
        let mut found = signatures(self.unit(module)?).with_context(|| module.unit.clone())?;
        for (name, text) in self.headers(module)? {
            found.extend(signatures(text).with_context(|| name.to_owned())?);
        }
        Ok(found)
    }

    /// Files with kernels that no module includes.
    ///
    /// # Errors
    /// Those of [`Sources::headers`].
    pub(super) fn left_out(&self) -> Result<Vec<&str>> {
        let mut used = BTreeSet::new();
        for module in self.modules() {
            used.extend(self.headers(&module)?.into_keys().map(str::to_owned));
            used.insert(module.unit.rsplit('/').next().unwrap_or_default().to_owned());
        }
        let kernels = self.0.keys().filter(|path| path.ends_with(".cu"));
        Ok(kernels.map(String::as_str).filter(|path| !used.contains(path.rsplit('/').next().unwrap_or(path))).collect())
    }
}

/// The names in quotes of a text's `#include` lines.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next())
}

fn walk(folder: &Path, path: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &path, files)?;
        } else if KINDS.iter().any(|kind| path.ends_with(kind)) {
            let text = fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, text.replace("\r\n", "\n"));
        }
    }
    Ok(())
}

/// In hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    const FILES: [(&str, &str); 8] = [
        ("include/octopus/m.cuh", "#include \"octopus/n.cuh\"\n"),
        ("include/octopus/n.cuh", "#pragma once\n#include \"octopus/m.cuh\"\n"),
        ("nuts/run.cuh", "run\n  #include \"octopus/n.cuh\"\n"),
        ("nuts/units/nuts_a.cu", "// #include \"gone.cuh\"\n#include \"run.cuh\"\n"),
        ("nuts/units/nuts_b.cu", "#include \"b.cuh\"\n"),
        ("src/a.cu", "extern \"C\" __global__ void __launch_bounds__(32) a() {}"),
        ("src/octopus.cu", "#include \"a.cu\"\n"),
        ("src/program_functions.cu", ""),
    ];

    #[test]
    fn the_hash_is_of_names_and_texts() {
        let base = sources(&[("src/a.cu", "x"), ("src/b.cu", "y")]).hash();
        for other in [
            sources(&[("src/a.cu", "x"), ("src/b.cu", "z")]),
            sources(&[("src/a.cu", "x"), ("src/c.cu", "y")]),
            sources(&[("src/a.cu", "xy"), ("src/b.cu", "")]),
            sources(&[("src/a.cu", "x")]),
        ] {
            assert_ne!(base, other.hash());
        }
        // The known answer for the empty text.
        assert!(sha256(b"").starts_with("e3b0c44298fc1c14"));
    }

    #[test]
    fn every_unit_is_a_module() {
        let modules = sources(&FILES).modules();
        let files: Vec<String> = modules.iter().map(Module::file).collect();
        assert_eq!(files, ["octopus.ptx", "program_functions.ptx.gz", "nuts_a.ptx.gz", "nuts_b.ptx.gz"]);
        assert!(!modules[0].is_packed() && modules[1].is_packed());
        assert!(!modules[1].is_sampler() && modules[2].is_sampler());
    }

    #[test]
    fn a_module_has_the_files_that_it_includes_and_no_others() {
        let sources = sources(&FILES);
        let modules = sources.modules();
        assert_eq!(sources.headers(&modules[0]).unwrap().into_keys().collect::<Vec<_>>(), ["a.cu"]);
        let of_a = sources.headers(&modules[2]).unwrap();
        assert_eq!(of_a.keys().collect::<Vec<_>>(), [&"octopus/m.cuh", &"octopus/n.cuh", &"run.cuh"]);
        assert!(of_a["run.cuh"].starts_with("run"));
        let error = sources.headers(&modules[3]).unwrap_err().to_string();
        assert!(error.contains("nuts/units/nuts_b.cu includes b.cuh"), "{error}");
    }

    #[test]
    fn kernels_are_those_of_the_included_files() {
        let sources = sources(&FILES);
        let names: Vec<String> =
            sources.signatures(&sources.modules()[0]).unwrap().into_iter().map(|signature| signature.name).collect();
        assert_eq!(names, ["a"]);
    }

    #[test]
    fn a_file_of_kernels_that_nobody_includes_is_told() {
        let mut files = FILES[5..].to_vec();
        assert_eq!(sources(&files).left_out().unwrap(), [""; 0]);
        files.push(("src/b.cu", ""));
        assert_eq!(sources(&files).left_out().unwrap(), ["src/b.cu"]);
    }

    #[test]
    fn every_file_of_kernels_is_in_a_module() {
        let sources = Sources::read(&crate::place::root().join(super::super::FOLDER)).unwrap();
        assert_eq!(sources.left_out().unwrap(), [""; 0]);
    }
}
