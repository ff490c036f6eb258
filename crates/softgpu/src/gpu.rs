//! The built software GPU, and how a program comes to use it.

use crate::cache;
use crate::compiler::{Compiler, Variant};
use crate::kernels::KernelSources;
use crate::sampler::{Lanes, unit};
use crate::sources::{SOURCES, units, write_to};
use crate::unavailable::{Unavailable, at};
use rayon::prelude::*;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The doubles of NVIDIA's libraries and a library of kernels, built and ready.
#[derive(Clone, Debug)]
pub struct SoftwareGpu {
    /// The folder where builds are kept.
    root: PathBuf,
    compiler: Compiler,
    folder: PathBuf,
    /// Libraries of kernels; the first is the one that it was built with.
    kernels: Vec<PathBuf>,
    /// The interpreter of PTX, if that runs the kernels.
    interpreter: Option<PathBuf>,
    /// The library that must be loaded before anything else.
    preload: Option<PathBuf>,
}

impl SoftwareGpu {
    /// Builds the doubles and the kernels of this workspace, or finds them built.
    ///
    /// # Errors
    /// When there is no C++ compiler or it refuses a source, or the build cannot be stored.
    pub fn build() -> Result<Self, Unavailable> {
        Self::build_with(&KernelSources::of_workspace(), Variant::Plain)
    }

    /// Builds the doubles and these kernels, or finds them built.
    ///
    /// # Errors
    /// When there is no C++ compiler or it refuses a source, or the build cannot be stored.
    pub fn build_with(kernels: &KernelSources, variant: Variant) -> Result<Self, Unavailable> {
        Self::build_in(&cache::root(), kernels, variant)
    }

    /// Builds as [`SoftwareGpu::build_with`] does, and stores the build below `root` instead of cargo's target folder.
    ///
    /// # Errors
    /// When there is no C++ compiler or it refuses a source, or the build cannot be stored.
    pub fn build_in(root: &Path, kernels: &KernelSources, variant: Variant) -> Result<Self, Unavailable> {
        let compiler = Compiler::find(variant)?;
        let inputs = (SOURCES, variant, &compiler.version);
        let doubles = cache::folder(root, "doubles", inputs, |folder, _| build_doubles(&compiler, folder))?;
        let library = library(root, &compiler, &doubles, "kernels", kernels, &[])?;
        let preload = match variant {
            Variant::Plain => None,
            Variant::Sanitized => Some(compiler.library("libasan.so")?),
        };
        Ok(Self {
            root: root.to_owned(),
            compiler,
            folder: doubles,
            kernels: vec![library],
            interpreter: None,
            preload,
        })
    }

    /// Adds these of the sampler's kernels, by the names of [`sampler_units`](crate::sampler_units): those that a test
    /// needs, since the compiler takes some seconds for each. Several are compiled at a time, and each is built
    /// once for all processes until its sources change.
    ///
    /// # Errors
    /// When there is no C++ compiler or it refuses a source, the build cannot be stored, there is no unit of a name, or
    /// the interpreter is not there.
    pub fn with_sampler(mut self, lanes: Lanes, units: &[impl AsRef<str>]) -> Result<Self, Unavailable> {
        if lanes == Lanes::Ptx {
            self.interpreter = Some(interpreter()?);
            return Ok(self);
        }
        let mut units: Vec<&str> = units.iter().map(AsRef::as_ref).collect();
        // Warm-up needs its windows whatever the density.
        if !units.contains(&WINDOWS) {
            units.push(WINDOWS);
        }
        let built = units.par_iter().map(|name| {
            let name_of_build = format!("{}-{name}", lanes.name());
            library(&self.root, &self.compiler, &self.folder, &name_of_build, &unit(name)?, lanes.flags())
        });
        self.kernels.extend(built.collect::<Result<Vec<PathBuf>, Unavailable>>()?);
        Ok(self)
    }

    /// Builds as [`SoftwareGpu::build`] does, for a test: without a C++ compiler it says SKIPPED on standard error, and
    /// the test passes.
    ///
    /// # Panics
    /// When there is a compiler and the build fails all the same.
    pub fn for_test() -> Option<Self> {
        Self::unless_absent(Self::build())
    }

    /// Builds as [`SoftwareGpu::for_test`] does, with these of the sampler's kernels: see
    /// [`SoftwareGpu::with_sampler`].
    ///
    /// # Panics
    /// When there is a compiler and the build fails all the same, or there is no unit of a name.
    pub fn for_test_with_sampler(lanes: Lanes, units: &[impl AsRef<str>]) -> Option<Self> {
        Self::unless_absent(Self::build().and_then(|gpu| gpu.with_sampler(lanes, units)))
    }

    /// Does for a build of any kind what [`SoftwareGpu::for_test`] does.
    ///
    /// # Panics
    /// When there is a compiler and the build has failed all the same.
    pub fn unless_absent(built: Result<Self, Unavailable>) -> Option<Self> {
        match built {
            Ok(gpu) => {
                // `cargo xtask test` counts these lines.
                eprintln!("TOOK PART: software GPU");
                Some(gpu)
            }
            Err(error) if error.is_absence() => {
                eprintln!("SKIPPED: no software GPU: {error}");
                None
            }
            Err(error) => panic!("the software GPU does not build: {error}"),
        }
    }

    /// Returns the folder that holds both doubles under the names that the loader knows.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the double of the driver's library.
    pub fn libcuda(&self) -> PathBuf {
        self.folder.join(LIBCUDA)
    }

    /// Returns the double of NVML.
    pub fn libnvml(&self) -> PathBuf {
        self.folder.join(LIBNVML)
    }

    /// Returns the library of the kernels that it was built with. It can be used alone, too:
    /// `octopus_launch_<kernel>(parameters, grid x, y, z, block x, y, z, bytes of dynamic shared memory, message, its
    /// size)` runs a grid and returns 0 or a `CUresult`.
    pub fn kernels(&self) -> &Path {
        &self.kernels[0]
    }

    /// Returns the libraries of all kernels: that of [`SoftwareGpu::kernels`], and one for each unit of the sampler
    /// that was added, in this order.
    pub fn libraries(&self) -> &[PathBuf] {
        &self.kernels
    }

    /// Lets a program find the doubles by `OCTOPUS_LIBCUDA` and `OCTOPUS_LIBNVML`. `settings` are [`Settings`] or text
    /// of the same form.
    ///
    /// [`Settings`]: crate::Settings
    pub fn command<'a>(&self, command: &'a mut Command, settings: impl Display) -> &'a mut Command {
        self.configure(command, settings);
        command.env("OCTOPUS_LIBCUDA", self.libcuda()).env("OCTOPUS_LIBNVML", self.libnvml())
    }

    /// Lets a program find the doubles where the loader looks, by `LD_LIBRARY_PATH`, as NVIDIA's own would be found.
    pub fn command_by_loader_path<'a>(&self, command: &'a mut Command, settings: impl Display) -> &'a mut Command {
        self.configure(command, settings);
        let mut path = OsString::from(&self.folder);
        if let Some(old) = std::env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
            path.push(":");
            path.push(old);
        }
        command.env("LD_LIBRARY_PATH", path).env_remove("OCTOPUS_LIBCUDA").env_remove("OCTOPUS_LIBNVML")
    }

    /// Prepares `command` as [`SoftwareGpu::command`] does, on a machine where NVML is not installed.
    pub fn command_without_nvml<'a>(&self, command: &'a mut Command, settings: impl Display) -> &'a mut Command {
        self.command(command, settings).env("OCTOPUS_LIBNVML", self.folder.join("no-such-library").join(LIBNVML))
    }

    fn configure(&self, command: &mut Command, settings: impl Display) {
        let mut text = settings.to_string();
        let mut add = |key: &str, value: String| {
            if !text.split(';').any(|part| part.starts_with(key)) {
                let separator = if text.is_empty() || text.ends_with(';') { "" } else { ";" };
                text = format!("{text}{separator}{key}{value}");
            }
        };
        let libraries: Vec<String> = self.kernels.iter().map(|path| path.display().to_string()).collect();
        add("kernels=", libraries.join(":"));
        if let Some(interpreter) = &self.interpreter {
            add("ptx=", interpreter.display().to_string());
        }
        if let Ok(seed) = std::env::var(LATE) {
            add("late=", seed);
        }
        command.env("OCTOPUS_SOFTGPU", text).env_remove("CUDA_VISIBLE_DEVICES");
        if let Some(library) = &self.preload {
            // The program under test is not compiled for the sanitizer, and what it leaks is its own affair.
            command.env("LD_PRELOAD", library).env("ASAN_OPTIONS", "detect_leaks=0");
        }
    }
}

/// The variable with the seed of [`Settings::late`](crate::Settings::late) for programs whose settings have none: with it
/// all tests can be run on a device that is late.
const LATE: &str = "OCTOPUS_SOFTGPU_LATE";
/// The unit of warm-up's windows.
const WINDOWS: &str = "nuts_windows";
const LIBCUDA: &str = "libcuda.so.1";
const LIBNVML: &str = "libnvidia-ml.so.1";
const CORE: &str = "liboctopus-softgpu.so";
const KERNELS: &str = "libkernels.so";

/// Returns the interpreter's library, which cargo puts beside what it builds.
fn interpreter() -> Result<PathBuf, Unavailable> {
    let program = std::env::current_exe().map_err(at("this program"))?;
    let folder = program.parent().unwrap_or(Path::new("."));
    // Tests lie in `deps` themselves; other programs lie beside it.
    let places = [folder.join(octopus_ptx::LIBRARY), folder.join("deps").join(octopus_ptx::LIBRARY)];
    // A build of tests leaves the one beside programs as an earlier build has made it.
    let built = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let found = places.into_iter().filter(|path| path.is_file()).max_by_key(built);
    found.ok_or_else(|| Unavailable::NoInterpreter { folder: folder.to_owned() })
}

/// Returns a library of these kernels, built or found built.
fn library(
    root: &Path,
    compiler: &Compiler,
    doubles: &Path,
    name: &str,
    kernels: &KernelSources,
    flags: &[&str],
) -> Result<PathBuf, Unavailable> {
    let inputs = (kernels.contents()?, flags, doubles);
    let built = cache::folder(root, name, inputs, |folder, _| {
        kernels.build(compiler, flags, doubles, folder, &folder.join(KERNELS))
    })?;
    Ok(built.join(KERNELS))
}

/// Compiles the three libraries. The sources stay in `src/`, where the kernels' build finds its header.
fn build_doubles(compiler: &Compiler, folder: &Path) -> Result<(), Unavailable> {
    let sources = folder.join("src");
    write_to(&sources)?;
    let core = folder.join(CORE);
    let link = |name: &str, others: &[OsString]| -> Vec<OsString> {
        let own = [format!("-Wl,-soname,{name}"), "-Wl,-rpath,$ORIGIN".into(), "-pthread".into(), "-ldl".into()];
        others.iter().cloned().chain(own.map(OsString::from)).collect()
    };
    let warnings = ["-Wall", "-Wextra", "-Werror", "-pthread"].map(OsString::from);
    let build = |compiler: &Compiler, part: &str, name: &str, needs: &[OsString]| {
        let sources: Vec<PathBuf> = units(part).map(|path| sources.join(path)).collect();
        compiler.library_of(&folder.join(name), &sources, &warnings, &link(name, needs))
    };
    build(compiler, "core", CORE, &[])?;
    // Sanitizers are for the kernels and what runs them.
    build(&compiler.plain(), "cuda", LIBCUDA, &[core.clone().into()])?;
    build(&compiler.plain(), "nvml", LIBNVML, &[core.into()])?;
    for object in cache::contents(&sources)?
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.extension().is_some_and(|e| e == "o"))
    {
        std::fs::remove_file(&object).map_err(at(&object))?;
    }
    Ok(())
}
