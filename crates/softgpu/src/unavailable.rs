//! Why there is no software GPU.

use std::io;
use std::path::PathBuf;

/// Why the software GPU could not be built.
///
/// Only the first reason is the machine's; the others are mistakes, and a test must not pass over them:
/// [`Unavailable::is_absence`] tells them apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// There is no C++ compiler.
    #[error("the C++ compiler `{command}` does not start ({source}): install g++, or name another in CXX")]
    NoCompiler {
        /// The command that was tried.
        command: String,
        /// Why it does not start.
        source: io::Error,
    },
    /// The compiler refused a source.
    #[error("the C++ compiler refused {what}:\n{output}")]
    Refused {
        /// The source that was being compiled.
        what: String,
        /// The compiler's output.
        output: String,
    },
    /// A source of kernels declares none.
    #[error("no `extern \"C\" __global__` function in {path}")]
    NoKernels {
        /// The source.
        path: PathBuf,
    },
    /// The sampler has no kernels of this name.
    #[error("there is no unit {name}: kernels/nuts/units.toml has them")]
    NoUnit {
        /// The unit that was asked for.
        name: String,
    },
    /// The interpreter of PTX was not built.
    #[error("{} is not in {folder}: `cargo build` makes it beside the tests", octopus_ptx::LIBRARY)]
    NoInterpreter {
        /// The folder of this program.
        folder: PathBuf,
    },
    /// The table of the sampler's units or a template of them is wrong.
    #[error("{path}: {reason}")]
    Units {
        /// The table or the template.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Unavailable {
    /// Returns whether the machine lacks the compiler, so that tests may be skipped.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NoCompiler { .. })
    }
}

/// Names the file of an error of input or output.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Unavailable {
    let path = path.into();
    |source| Unavailable::File { path, source }
}
