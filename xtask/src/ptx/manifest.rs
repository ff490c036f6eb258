//! `kernels/ptx/manifest.toml`: where the committed PTX comes from and what is in it.

use super::resources::Used;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// SHA-256 of the sources.
    pub(super) sources: String,
    pub(super) compiler: Compiler,
    /// That of everything but NUTS, then NUTS by name.
    #[serde(rename = "module", default)]
    pub(super) modules: Vec<Text>,
    /// Module after module, by name.
    #[serde(rename = "entry", default)]
    pub(super) entries: Vec<Entry>,
}

/// What made the PTX and the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compiler {
    pub(super) nvrtc: String,
    pub(super) ptxas: String,
    /// The newest assembler, which is asked as well.
    pub(super) newest_ptxas: String,
    pub(super) options: Vec<String>,
}

/// One PTX.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    /// As entries name it.
    pub(super) name: String,
    /// In `kernels/ptx`.
    pub(super) file: String,
    /// SHA-256 of the text, unpacked.
    pub(super) ptx: String,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The PTX that has it.
    pub(super) module: String,
    /// Type and name of each parameter, as the source declares it.
    pub(super) parameters: Vec<String>,
    /// The same as kinds of PTX; `b8[96]` is a structure of 96 bytes.
    pub(super) kinds: Vec<String>,
    /// The most threads of a block.
    pub(super) threads: u32,
    /// What it uses, by architecture.
    pub(super) resources: BTreeMap<String, Used>,
    /// The same by the newest assembler.
    pub(super) newest: BTreeMap<String, Used>,
}

impl Manifest {
    /// # Errors
    /// When the file cannot be read or is not a manifest.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not understood", path.display()))
    }

    /// Whether it is of this text of a module.
    pub(super) fn has(&self, module: &str, ptx: &str) -> bool {
        self.modules.iter().any(|text| text.name == module && text.ptx == ptx)
    }

    /// One line a kernel and architecture, so that a difference is easy to read.
    pub(super) fn to_toml(&self) -> String {
        let Compiler { nvrtc, ptxas, newest_ptxas, options } = &self.compiler;
        let mut text = String::from("# Written by `cargo xtask ptx`, as the PTX beside it. Do not edit.\n");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "sources = {:?}\n", self.sources);
        let _ = writeln!(text, "[compiler]\nnvrtc = {nvrtc:?}\nptxas = {ptxas:?}");
        let _ = writeln!(text, "newest_ptxas = {newest_ptxas:?}\noptions = {options:?}");
        for Text { name, file, ptx } in &self.modules {
            let _ = writeln!(text, "\n[[module]]\nname = {name:?}\nfile = {file:?}\nptx = {ptx:?}");
        }
        for Entry { name, module, parameters, kinds, threads, resources, newest } in &self.entries {
            let _ = writeln!(text, "\n[[entry]]\nname = {name:?}\nmodule = {module:?}\nparameters = {parameters:?}");
            let _ = writeln!(text, "kinds = {kinds:?}\nthreads = {threads}");
            let resources = resources.iter().map(|used| ("resources", used));
            let newest = newest.iter().map(|used| ("newest", used));
            for (by, (architecture, used)) in resources.chain(newest) {
                let Used { registers, spill_bytes, local_bytes, shared_bytes } = used;
                let _ = writeln!(
                    text,
                    "{by}.{architecture} = {{ registers = {registers}, spill_bytes = {spill_bytes}, \
                     local_bytes = {local_bytes}, shared_bytes = {shared_bytes} }}"
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let used = Used { registers: 14, spill_bytes: 0, local_bytes: 8, shared_bytes: 512 };
        let manifest = Manifest {
            sources: "ab".into(),
            compiler: Compiler {
                nvrtc: "12.4.127".into(),
                ptxas: "12.4.131".into(),
                newest_ptxas: "13.5.37".into(),
                options: vec!["--std=c++17".into(), "--fmad=false".into()],
            },
            modules: vec![Text { name: "octopus".into(), file: "octopus.ptx".into(), ptx: "cd".into() }],
            entries: vec![Entry {
                name: "scale".into(),
                module: "octopus".into(),
                parameters: vec!["const float* x".into(), "Pair<u32, u32> n".into()],
                kinds: vec!["u64".into(), "b8[8]".into()],
                threads: 256,
                resources: [("sm_80".to_owned(), used), ("sm_90".to_owned(), used)].into(),
                newest: [("sm_120".to_owned(), Used { registers: 16, ..used })].into(),
            }],
        };
        assert_eq!(toml::from_str::<Manifest>(&manifest.to_toml()).unwrap(), manifest);
        let none = Manifest { modules: Vec::new(), entries: Vec::new(), ..manifest };
        assert_eq!(toml::from_str::<Manifest>(&none.to_toml()).unwrap(), none);
    }
}
