//! The C++ compiler (g++) of this machine, and the flags that the doubles and kernels are compiled with.

use crate::unavailable::{Unavailable, at};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The way the doubles and the kernels are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The program is as fast as the compiler makes it.
    #[default]
    Plain,
    /// The program has the sanitizers for addresses and undefined behaviour: a kernel's fault ends the process with a
    /// report. [`SoftwareGpu::command`](crate::SoftwareGpu::command) preloads the sanitizer's library.
    Sanitized,
}

impl Variant {
    /// Returns how much kernels are optimised: the additions of the sanitizers take the compiler long, and `-O3` takes
    /// two to three times as long as this.
    pub(crate) fn optimisation(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-O2", "-ftree-vectorize"],
            Self::Sanitized => &["-O1"],
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &[],
            Self::Sanitized => {
                // A report names lines; what else `-g` has takes a third of the time.
                &["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1"]
            }
        }
    }
}

/// The compiler's arguments for every unit. There is no contraction and no fast-math: the kernels' bits must be those
/// of the PTX, in which each operation is rounded by itself.
const ARGUMENTS: [&str; 8] = [
    "-std=c++17",
    "-O2",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    "-fno-extern-tls-init",
];

/// A compiler that starts.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    command: OsString,
    pub(crate) variant: Variant,
    /// The version that the compiler reports.
    pub(crate) version: String,
}

impl Compiler {
    /// The compiler that `CXX` names, or g++.
    pub(crate) fn find(variant: Variant) -> Result<Self, Unavailable> {
        let command = std::env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| "g++".into());
        Self::named(command, variant)
    }

    pub(crate) fn named(command: OsString, variant: Variant) -> Result<Self, Unavailable> {
        let output = Command::new(&command).arg("--version").output();
        let output = output.map_err(|source| no_compiler(&command, source))?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Self { command, variant, version })
    }

    /// Returns the same compiler without sanitizers.
    pub(crate) fn plain(&self) -> Self {
        Self { variant: Variant::Plain, ..self.clone() }
    }

    /// Returns the file that the compiler knows under this name.
    pub(crate) fn library(&self, name: &str) -> Result<PathBuf, Unavailable> {
        let output = self.run(name, &[OsString::from(format!("-print-file-name={name}"))])?;
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end()))
    }

    /// Returns the text that a kernel source becomes.
    pub(crate) fn preprocess(&self, source: &Path, arguments: &[OsString]) -> Result<String, Unavailable> {
        let mut all: Vec<OsString> = ["-E", "-P", "-x", "c++"].map(OsString::from).into();
        all.extend(self.common());
        all.extend_from_slice(arguments);
        all.push(source.into());
        let output = self.run(&source.display().to_string(), &all)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Compiles each source, on all cores, and links them to the shared library `library`.
    pub(crate) fn library_of(
        &self,
        library: &Path,
        sources: &[PathBuf],
        compile: &[OsString],
        link: &[OsString],
    ) -> Result<(), Unavailable> {
        let objects = sources.par_iter().map(|source| self.compile(source, compile));
        let objects = objects.collect::<Result<Vec<PathBuf>, Unavailable>>()?;
        let mut arguments: Vec<OsString> = vec!["-shared".into(), "-Wl,-z,now".into(), "-o".into(), library.into()];
        arguments.extend(self.variant.arguments().iter().map(OsString::from));
        arguments.extend(objects.into_iter().map(OsString::from));
        arguments.extend_from_slice(link);
        self.run(&library.display().to_string(), &arguments).map(drop)
    }

    /// Compiles a source to the object beside it.
    pub(crate) fn compile(&self, source: &Path, arguments: &[OsString]) -> Result<PathBuf, Unavailable> {
        let object = source.with_extension("o");
        let mut all: Vec<OsString> = self.common().collect();
        all.extend_from_slice(arguments);
        all.extend(["-c".into(), source.into(), "-o".into(), object.clone().into()]);
        self.run(&source.display().to_string(), &all)?;
        Ok(object)
    }

    fn common(&self) -> impl Iterator<Item = OsString> {
        ARGUMENTS.iter().chain(self.variant.arguments()).map(OsString::from)
    }

    fn run(&self, what: &str, arguments: &[OsString]) -> Result<Output, Unavailable> {
        let output = Command::new(&self.command).args(arguments).env("LC_ALL", "C").output();
        let output = output.map_err(|source| no_compiler(&self.command, source))?;
        if output.status.success() {
            return Ok(output);
        }
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Unavailable::Refused { what: what.to_owned(), output })
    }
}

fn no_compiler(command: &OsStr, source: std::io::Error) -> Unavailable {
    Unavailable::NoCompiler { command: command.to_string_lossy().into_owned(), source }
}

/// Returns the symbols that an object needs from elsewhere, by the tool that comes with every compiler.
pub(crate) fn undefined_symbols(object: &Path) -> Result<Vec<String>, Unavailable> {
    let output = Command::new("nm").arg("-u").arg(object).output().map_err(at(object))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_compiler_says_what_to_install() {
        let error = Compiler::named("no-such-compiler-anywhere".into(), Variant::Plain).unwrap_err();
        assert!(error.is_absence());
        let text = error.to_string();
        assert!(text.contains("no-such-compiler-anywhere") && text.contains("install g++"), "{text}");
    }

    #[test]
    fn a_source_that_does_not_compile_is_no_absence() {
        let Ok(compiler) = Compiler::find(Variant::Plain) else {
            eprintln!("SKIPPED: no g++");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("wrong.cpp");
        std::fs::write(&source, "int f() { return nothing; }").unwrap();
        let error = compiler.compile(&source, &[]).unwrap_err();
        assert!(!error.is_absence());
        assert!(error.to_string().contains("nothing"), "{error}");
    }
}
