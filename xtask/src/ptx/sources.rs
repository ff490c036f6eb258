//! The kernels' source files: their hash, what includes what, and the signatures that they declare.

use super::listing::Listed;
use super::manifest::Entry;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The file that includes all kernels, below `src`.
pub(super) const UNIT: &str = "octopus.cu";
/// Where files are included from.
const FOLDERS: [&str; 2] = ["include", "src"];
const KINDS: [&str; 2] = [".cuh", ".cu"];
/// How every kernel's declaration begins.
const MARK: &str = "extern \"C\" __global__";

/// Paths relative to the kernels' folder, with `/`, and the files' texts with plain line ends.
pub(super) struct Sources(BTreeMap<String, String>);

/// A kernel as the sources declare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    /// Type and name of each parameter.
    pub(super) parameters: Vec<String>,
}

impl Sources {
    /// All `.cu` and `.cuh` files in `include` and `src` below `folder`.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for name in FOLDERS {
            walk(&folder.join(name), name, &mut files)?;
        }
        Ok(Self(files))
    }

    /// SHA-256 over paths, lengths and texts, in the order of the paths.
    pub(super) fn hash(&self) -> String {
        let mut all = Vec::new();
        for (path, text) in &self.0 {
            all.extend_from_slice(format!("{path} {}\n{text}\n", text.len()).as_bytes());
        }
        sha256(&all)
    }

    /// The text of the file that includes the kernels.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn unit(&self) -> Result<&str> {
        let text = self.0.get(&format!("src/{UNIT}"));
        text.map(String::as_str).with_context(|| format!("src/{UNIT} is missing"))
    }

    /// All other files by the names under which they are included.
    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let name = |path: &'_ str| path.split_once('/').map_or(0, |(folder, _)| folder.len() + 1);
        let all = self.0.iter().map(|(path, text)| (&path[name(path)..], text.as_str()));
        all.filter(|(name, _)| *name != UNIT).collect()
    }

    /// The kernels' declarations, in the order of the files.
    ///
    /// # Errors
    /// When one cannot be understood.
    pub(super) fn signatures(&self) -> Result<Vec<Signature>> {
        let mut found = Vec::new();
        for (path, text) in &self.0 {
            for declaration in text.split(MARK).skip(1) {
                found.push(signature(declaration).with_context(|| format!("a kernel's declaration in {path}"))?);
            }
        }
        Ok(found)
    }
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

/// What follows the mark: `void __launch_bounds__(256) name(type name, ...) {`.
fn signature(declaration: &str) -> Result<Signature> {
    let (head, _) = declaration.split_once('{').context("no body")?;
    let (before, parameters) = head.rsplit_once('(').context("no parameters")?;
    let (parameters, _) = parameters.split_once(')').context("the parameters do not end")?;
    let name = before.split_whitespace().next_back().context("no name")?;
    let parameters = parameters.split(',').map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(Signature { name: name.to_owned(), parameters: parameters.filter(|text| !text.is_empty()).collect() })
}

/// PTX's kind of a parameter of C++.
fn kind(parameter: &str) -> Result<&'static str> {
    let (kind, name) = parameter.rsplit_once(' ').with_context(|| format!("{parameter:?} has no name"))?;
    Ok(match kind.strip_prefix("const ").unwrap_or(kind) {
        pointer if pointer.ends_with('*') => "u64",
        "unsigned long long" | "long long" => "u64",
        "unsigned" | "int" => "u32",
        "double" => "f64",
        "float" => "f32",
        other => bail!("{name}: a kernel takes no {other:?}; this list in xtask/src/ptx/sources.rs has what it takes"),
    })
}

/// The PTX's kernels with the declarations that they come from, in the order of their names, without resources.
///
/// # Errors
/// When sources and PTX disagree.
pub(super) fn join(signatures: Vec<Signature>, listed: Vec<Listed>) -> Result<Vec<Entry>> {
    let mut signatures: BTreeMap<String, Vec<String>> =
        signatures.into_iter().map(|signature| (signature.name, signature.parameters)).collect();
    let mut entries = Vec::new();
    for Listed { name, parameters, threads } in listed {
        let declared = signatures.remove(&name).with_context(|| format!("{name} is in the PTX and not in src"))?;
        let kinds = declared.iter().map(|parameter| kind(parameter)).collect::<Result<Vec<_>>>();
        let kinds = kinds.with_context(|| format!("the declaration of {name}"))?;
        if kinds != parameters {
            bail!("{name} takes {kinds:?} by its declaration and {parameters:?} by the PTX");
        }
        entries.push(Entry { name, parameters: declared, kinds: parameters, threads, resources: BTreeMap::new() });
    }
    if let Some((name, _)) = signatures.into_iter().next() {
        bail!("{name} is not in the PTX: does {UNIT} include its file?");
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// In hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    const SCALE: &str = "extern \"C\" __global__ void __launch_bounds__(256)\n    scale(const float* x, float a,\n unsigned long long n) {\n  f([=](u64 i) { x[i]; });\n}\n";

    fn listed(parameters: &[&str]) -> Vec<Listed> {
        let parameters = parameters.iter().map(|kind| (*kind).to_owned()).collect();
        vec![Listed { name: "scale".into(), parameters, threads: 256 }]
    }

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
    fn files_are_included_by_their_names_below_include_and_src() {
        let sources = sources(&[("include/octopus/m.cuh", "m"), ("src/a.cu", "a"), ("src/octopus.cu", "unit")]);
        assert_eq!(sources.headers(), [("octopus/m.cuh", "m"), ("a.cu", "a")]);
        assert_eq!(sources.unit().unwrap(), "unit");
    }

    #[test]
    fn declarations_are_read_over_several_lines() {
        let signatures = sources(&[("src/a.cu", SCALE)]).signatures().unwrap();
        assert_eq!(signatures[0].name, "scale");
        assert_eq!(signatures[0].parameters, ["const float* x", "float a", "unsigned long long n"]);
    }

    #[test]
    fn sources_and_ptx_must_agree() {
        let signatures = || sources(&[("src/a.cu", SCALE)]).signatures().unwrap();
        assert_eq!(join(signatures(), listed(&["u64", "f32", "u64"])).unwrap()[0].name, "scale");
        let error = |result: Result<Vec<Entry>>| result.unwrap_err().to_string();
        assert!(error(join(signatures(), listed(&["u64", "f64", "u64"]))).contains("scale takes"));
        assert!(error(join(signatures(), Vec::new())).contains("scale is not in the PTX"));
        assert!(error(join(Vec::new(), listed(&[]))).contains("in the PTX and not in src"));
    }

    #[test]
    fn every_file_of_kernels_is_in_the_unit() {
        let sources = Sources::read(&crate::root().join(super::super::FOLDER)).unwrap();
        let unit = sources.unit().unwrap();
        for (name, _) in sources.headers().into_iter().filter(|(name, _)| name.ends_with(".cu")) {
            assert!(unit.contains(&format!("#include \"{name}\"")), "{UNIT} does not include {name}");
        }
    }
}
