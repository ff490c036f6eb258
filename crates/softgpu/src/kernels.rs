//! Kernel sources: which kernels they hold, and what the build adds to them.

use crate::compiler::{Compiler, undefined_symbols};
use crate::unavailable::{Unavailable, at};
use crate::units::SamplerUnit;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Returns the workspace's folder of kernels.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// CUDA C++ sources to compile for the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSources {
    /// The units of compilation.
    pub units: Vec<KernelUnit>,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
}

/// One unit of compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelUnit {
    /// A file.
    File(PathBuf),
    /// A unit of the sampler. It has no file, so that the build writes one beside what it makes: `<name>.cu`.
    Sampler(SamplerUnit),
}

impl KernelSources {
    /// Takes the kernels of this workspace: `kernels/src/octopus.cu`, which includes all others.
    pub fn of_workspace() -> Self {
        let kernels = folder();
        Self {
            units: vec![KernelUnit::File(kernels.join("src/octopus.cu"))],
            include: vec![kernels.join("include"), kernels.join("src")],
        }
    }

    /// Takes these units of the sampler's kernels, with the headers of this workspace.
    pub fn of_sampler(units: impl IntoIterator<Item = SamplerUnit>) -> Self {
        let kernels = folder();
        Self {
            units: units.into_iter().map(KernelUnit::Sampler).collect(),
            include: vec![kernels.join("include"), kernels.join("nuts")],
        }
    }

    /// Takes one source without headers of its own.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { units: vec![KernelUnit::File(path.into())], include: Vec::new() }
    }

    /// Returns the text of every unit and of every file that one includes, directly or not: what a build depends on.
    pub(crate) fn contents(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>, Unavailable> {
        let mut all = BTreeMap::new();
        let mut waiting = Vec::new();
        for unit in &self.units {
            match unit {
                KernelUnit::File(path) => waiting.push(path.clone()),
                KernelUnit::Sampler(SamplerUnit { name, text }) => {
                    waiting.extend(self.headers(text, None));
                    all.insert(PathBuf::from(format!("{name}.cu")), text.clone().into_bytes());
                }
            }
        }
        while let Some(path) = waiting.pop() {
            if all.contains_key(&path) {
                continue;
            }
            let text = std::fs::read(&path).map_err(at(&path))?;
            waiting.extend(self.headers(&String::from_utf8_lossy(&text), path.parent()));
            all.insert(path, text);
        }
        Ok(all)
    }

    /// Returns the files that a text includes. As the compiler looks: `beside` the text's file, then in the folders.
    /// What is in none is the compiler's own.
    fn headers(&self, text: &str, beside: Option<&Path>) -> Vec<PathBuf> {
        let places = || beside.into_iter().chain(self.include.iter().map(PathBuf::as_path));
        included(text).filter_map(|name| places().map(|place| place.join(name)).find(|path| path.is_file())).collect()
    }

    /// Compiles everything to `library`, with `flags` besides. `doubles` has the header in `src/` and the core's
    /// library.
    pub(crate) fn build(
        &self,
        compiler: &Compiler,
        flags: &[&str],
        doubles: &Path,
        scratch: &Path,
        library: &Path,
    ) -> Result<(), Unavailable> {
        let header = doubles.join("src/kernel_host.hpp");
        let mut arguments: Vec<OsString> = vec!["-include".into(), header.into(), "-Wno-unknown-pragmas".into()];
        arguments.extend(compiler.variant.optimisation().iter().chain(flags).map(OsString::from));
        arguments.extend(self.include.iter().flat_map(|folder| ["-I".into(), folder.into()]));
        let search = [arguments.as_slice(), &["-DOCTOPUS_SOFTGPU_SEARCH".into()]].concat();

        let mut sources = Vec::new();
        let mut dynamic = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            let unit = unit_file(unit, scratch)?;
            let words = words(&compiler.preprocess(&unit, &search)?);
            let names = kernel_names(&words);
            if names.is_empty() {
                return Err(Unavailable::NoKernels { path: unit });
            }
            let path = scratch.join(format!("unit{number}.cpp"));
            std::fs::write(&path, unit_text(&unit, &names)).map_err(at(&path))?;
            let arrays = dynamic_arrays(&words);
            if !arrays.is_empty() {
                let symbols = undefined_symbols(&compiler.compile(&path, &arguments)?)?;
                dynamic
                    .extend(symbols.into_iter().filter(|symbol| arrays.iter().any(|name| is_symbol_of(symbol, name))));
            }
            sources.push(path);
        }
        dynamic.sort();
        dynamic.dedup();
        let path = scratch.join("shared.cpp");
        std::fs::write(&path, shared_text(&dynamic)).map_err(at(&path))?;
        sources.push(path);

        // The doubles have loaded the core before they load the kernels; the path is for those who load them alone.
        let mut rpath = OsString::from("-Wl,-rpath,");
        rpath.push(doubles);
        compiler.library_of(library, &sources, &arguments, &[doubles.join("liboctopus-softgpu.so").into(), rpath])
    }
}

/// Returns the unit's file, which is written to the folder if it has none.
fn unit_file(unit: &KernelUnit, folder: &Path) -> Result<PathBuf, Unavailable> {
    let path = match unit {
        KernelUnit::File(path) => path.clone(),
        KernelUnit::Sampler(SamplerUnit { name, text }) => {
            let path = folder.join(format!("{name}.cu"));
            std::fs::write(&path, text).map_err(at(&path))?;
            path
        }
    };
    std::path::absolute(&path).map_err(at(&path))
}

/// Returns the names in quotes of a text's `#include` lines.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    })
}

/// Returns the source, and after it what makes each kernel known.
fn unit_text(source: &Path, names: &[String]) -> String {
    let mut text = format!("#include \"{}\"\n", source.display());
    for name in names {
        let _ = writeln!(text, "OCTOPUS_SOFTGPU_KERNEL({name})");
    }
    text
}

/// Returns the source of shared memory: an anchor in the thread-local block, and the arrays that sources declare
/// `extern`.
fn shared_text(dynamic: &[String]) -> String {
    let mut text = String::from("namespace octopus_softgpu {\n");
    for (number, symbol) in dynamic.iter().enumerate() {
        let _ = writeln!(
            text,
            "extern thread_local char array{number}[DYNAMIC_SHARED_MOST + DYNAMIC_SHARED_GUARD] asm(\"{symbol}\");\n\
             alignas(256) thread_local char array{number}[DYNAMIC_SHARED_MOST + DYNAMIC_SHARED_GUARD];\n\
             static void* where{number}() {{ return array{number}; }}"
        );
    }
    let list: String = (0..dynamic.len()).map(|number| format!("where{number}, ")).collect();
    let _ = writeln!(
        text,
        "static thread_local char anchor_byte;\n\
         static void* anchor() {{ return &anchor_byte; }}\n\
         static void* (*const arrays[])() = {{{list}nullptr}};\n\
         const SharedMemory shared_memory_of_library = {{anchor, {}, arrays}};\n\
         }}  // namespace octopus_softgpu",
        dynamic.len()
    );
    text
}

/// Returns whether the symbol is a variable of this name, at the top or in a namespace.
fn is_symbol_of(symbol: &str, name: &str) -> bool {
    symbol == name || (symbol.starts_with("_ZN") && symbol.ends_with(&format!("{}{name}E", name.len())))
}

/// Identifiers, strings and single signs.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut word = String::from(first);
        if first.is_alphanumeric() || first == '_' {
            while let Some(next) = characters.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(next);
            }
        } else if first == '"' {
            while let Some(next) = characters.next() {
                word.push(next);
                match next {
                    '"' => break,
                    '\\' => word.extend(characters.next()),
                    _ => {}
                }
            }
        }
        words.push(word);
    }
    words
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the names of the functions that are declared `extern "C" __global__`.
fn kernel_names(words: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, window) in words.windows(3).enumerate() {
        if window != ["extern", "\"C\"", "__global__"] {
            continue;
        }
        // The name is the word before the first parenthesis that is not an attribute's.
        let rest = &words[at + 3..];
        let mut i = 0;
        while i + 1 < rest.len() {
            if ["__launch_bounds__", "__attribute__"].contains(&rest[i].as_str()) && rest[i + 1] == "(" {
                i += parenthesised(&rest[i + 1..]) + 1;
            } else if is_identifier(&rest[i]) && rest[i + 1] == "(" {
                if !names.contains(&rest[i]) {
                    names.push(rest[i].clone());
                }
                break;
            } else {
                i += 1;
            }
        }
    }
    names
}

/// Returns the number of words from an opening parenthesis to beyond its partner.
fn parenthesised(words: &[String]) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

/// Returns the names of the arrays that are declared `extern __shared__`.
fn dynamic_arrays(words: &[String]) -> Vec<String> {
    let declared = words.windows(2).enumerate().filter(|(_, window)| *window == ["extern", "__shared__"]);
    declared
        .filter_map(|(at, _)| {
            let bracket = words[at..].iter().position(|word| word == "[")? + at;
            is_identifier(&words[bracket - 1]).then(|| words[bracket - 1].clone())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        kernel_names(&words(text))
    }

    #[test]
    fn a_build_depends_on_what_its_units_include_and_on_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let unit =
            put("units/a.cu", "#include <cmath>\n  # include \"run.cuh\"\n#include \"beside.cuh\"\n// #include \"no\"");
        let expected = [
            put("include/run.cuh", "#include \"deep/run.cuh\"\n"),
            put("include/deep/run.cuh", "#include \"run.cuh\"\n#include \"not there\"\n"),
            put("units/beside.cuh", ""),
            unit.clone(),
        ];
        put("units/b.cu", "");
        put("include/other.cuh", "");
        let include = vec![folder.path().join("include")];
        let sources = KernelSources { units: vec![KernelUnit::File(unit)], include: include.clone() };
        let found: Vec<PathBuf> = sources.contents().unwrap().into_keys().collect();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(found, expected);

        // A unit without a file has nothing beside it.
        let text = "#include \"run.cuh\"\n#include \"beside.cuh\"\n".to_owned();
        let units = vec![KernelUnit::Sampler(SamplerUnit { name: "nuts_x".into(), text: text.clone() })];
        let contents = KernelSources { units, include }.contents().unwrap();
        assert_eq!(contents[Path::new("nuts_x.cu")], text.into_bytes());
        expected.retain(|path| path.ends_with("run.cuh"));
        assert_eq!(contents.into_keys().filter(|path| path.is_absolute()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn kernels_are_found_by_their_declaration() {
        assert_eq!(names("extern \"C\" __global__ void add(const float* x) { f(x); }"), ["add"]);
        let bounds = "extern \"C\" __global__ void __launch_bounds__(256, (1 + 1))\n  mul_f32(float* x) {}";
        assert_eq!(names(bounds), ["mul_f32"]);
        assert_eq!(
            names("extern \"C\" __global__ __launch_bounds__(8) void a(int); extern \"C\" __global__ void b();"),
            ["a", "b"]
        );
    }

    #[test]
    fn other_functions_are_not_kernels() {
        assert!(names("extern \"C\" void host(int x) {} inline int f(int x) { return g(x); }").is_empty());
        // A template has no name until it is instantiated.
        assert!(names("template <class T> __global__ void t(T* x) {}").is_empty());
    }

    #[test]
    fn a_declaration_and_its_definition_are_one_kernel() {
        assert_eq!(names("extern \"C\" __global__ void a(int); extern \"C\" __global__ void a(int) {}"), ["a"]);
    }

    #[test]
    fn dynamic_arrays_are_found_with_any_type() {
        let text = "extern __shared__ float a[]; extern __shared__ __attribute__((aligned(16))) unsigned char bytes[];\
                    __shared__ float fixed[3];";
        assert_eq!(dynamic_arrays(&words(text)), ["a", "bytes"]);
        assert!(is_symbol_of("a", "a") && is_symbol_of("_ZN7octopus5bytesE", "bytes"));
        assert!(!is_symbol_of("_ZN7octopus6nbytesE", "bytes") && !is_symbol_of("ba", "a"));
    }
}
