//! The kernels compiled: as a program whose lanes are arrays, also under the sanitizers, and as the software GPU's
//! library, whose lanes are fibers.

pub(crate) use octopus_density::gpu::Precision;
use octopus_softgpu::{KernelSources, SoftwareGpu, Variant, sampler_units};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The density and the precision that a program is compiled for, as flags of the compiler.
fn defines(density: &str, precision: Precision) -> Vec<String> {
    let (vectors, scalars) = match precision {
        Precision::F64 => ("double", "double"),
        Precision::F32 => ("float", "float"),
        Precision::Mixed => ("float", "double"),
    };
    // `eight_schools` is `EightSchools` in `eight_schools.cuh`.
    let name: String = density.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    vec![
        format!("-DOCTOPUS_R={vectors}"),
        format!("-DOCTOPUS_T={scalars}"),
        format!("-DOCTOPUS_PRECISION=\"{precision}\""),
        format!("-DOCTOPUS_DENSITY={name}"),
        format!("-DOCTOPUS_DENSITY_NAME=\"{density}\""),
        format!("-DOCTOPUS_DENSITY_HEADER=\"{density}.cuh\""),
    ]
}

/// How the kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The host's lane policy: the lanes of a chain are an array.
    Arrays,
    /// The same under the sanitizers of addresses and of undefined behaviour, whose first finding ends the program.
    Sanitized,
    /// The GPU's lane policy on the software GPU: each lane is a fiber, and lanes meet in shuffles and barriers. For
    /// runs and restarts.
    Fibers,
}

/// The compiled program, with NUTS or for what needs none; `None` where there is no compiler.
pub(crate) fn program(density: &str, precision: Precision, way: Way, nuts: bool) -> Option<PathBuf> {
    static PROGRAMS: Mutex<BTreeMap<String, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let sanitized = way == Way::Sanitized;
    let mut programs = PROGRAMS.lock().unwrap();
    let program = programs.entry(format!("{density} {precision} {sanitized} {nuts}"));
    program.or_insert_with(|| compile(density, precision, sanitized, nuts)).clone()
}

fn compile(density: &str, precision: Precision, sanitized: bool, nuts: bool) -> Option<PathBuf> {
    let compiler = std::env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| OsString::from("g++"));
    let answers = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !answers.is_ok_and(|status| status.success()) {
        return None;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (headers, kernels) = (package.join("../../kernels/include"), package.join("../../kernels/nuts"));
    let main = package.join("tests/gpu_bits/answers.cpp");
    // `OCTOPUS_HOST_FLAGS` adds to them: another level of optimisation, another instruction set.
    let more = std::env::var("OCTOPUS_HOST_FLAGS").unwrap_or_default();
    let mut defines = defines(density, precision);
    if !nuts {
        defines.push("-DOCTOPUS_WITHOUT_NUTS".into());
    } else if !has_unit(&format!("nuts_{density}_{precision}_32x4")) {
        defines.push("-DOCTOPUS_ONE_ROW".into());
    }
    let mut flags = vec!["-std=c++17", "-ffp-contract=off", "-fno-fast-math"];
    flags.extend(defines.iter().map(String::as_str));
    flags.extend(["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"]);
    let sanitizers = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    flags.extend(if sanitized { &sanitizers[..] } else { &["-O2", "-ftree-vectorize"] });
    flags.extend(more.split_whitespace());
    // Each test may be a process of its own: the first compiles, under a name that stands for the sources and flags.
    let mut hash = Sha256::new_with_prefix(compiler.as_encoded_bytes());
    flags.iter().for_each(|flag| hash.update(flag));
    for folder in [headers.join("octopus"), kernels.clone()] {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "cuh")).collect();
        files.sort();
        files.iter().for_each(|file| hash.update(fs::read(file).unwrap()));
    }
    hash.update(fs::read(&main).unwrap());
    let key: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let program = scratch(&format!("nuts-{key}"));
    // The others wait for it.
    let lock = File::create(scratch(&format!("nuts-{key}.lock"))).unwrap();
    lock.lock().unwrap();
    if program.exists() {
        return Some(program);
    }
    let fresh = scratch(&format!("nuts-{key}-{}", std::process::id()));
    let status = Command::new(&compiler)
        .args(flags)
        .arg("-I")
        .arg(&headers)
        .arg("-I")
        .arg(&kernels)
        .arg(&main)
        .arg("-ldl")
        .arg("-o")
        .arg(&fresh)
        .status()
        .unwrap();
    assert!(status.success(), "the kernels do not compile for the host");
    fs::rename(fresh, &program).unwrap();
    Some(program)
}

/// Whether the sampler's kernels have a unit of this name.
fn has_unit(name: &str) -> bool {
    sampler_units().unwrap().iter().any(|unit| unit.name == name)
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The library of the software GPU's kernels in the units whose names begin like this; `None`, said aloud, where there
/// is no compiler.
pub(crate) fn fibers(beginning: &str) -> Option<PathBuf> {
    let units = sampler_units().unwrap().into_iter().filter(|unit| unit.name.starts_with(beginning));
    let sources = KernelSources::of_sampler(units);
    let built = SoftwareGpu::unless_absent(SoftwareGpu::build_with(&sources, Variant::Plain));
    built.map(|gpu| gpu.kernels().to_path_buf())
}
