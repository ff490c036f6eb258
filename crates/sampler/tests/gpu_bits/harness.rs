//! The compiled kernels as a program: jobs go to its standard input and answers come from its standard output, in words
//! of 8 bytes. `answers.cpp` reads them in this order.

use octopus_density::Centering;
pub(crate) use octopus_density::gpu::Precision;
use octopus_density::gpu::{GpuDensity, KernelField};
use octopus_density::warp::{Buffer, padded};
use octopus_sampler::{Adaptation, DrawStats};
use octopus_softgpu::{KernelSources, SoftwareGpu, Variant};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
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
        format!("-DOCTOPUS_DRAW={name}Draw"),
        format!("-DOCTOPUS_DENSITY_NAME=\"{density}\""),
        format!("-DOCTOPUS_DENSITY_HEADER=\"{density}.cuh\""),
        format!("-DOCTOPUS_DRAW_HEADER=\"{density}_draw.cuh\""),
    ]
}

/// The compiled program; `None` where there is no compiler.
fn program(density: &str, precision: Precision) -> Option<PathBuf> {
    static PROGRAMS: Mutex<BTreeMap<String, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap();
    programs.entry(format!("{density} {precision}")).or_insert_with(|| compile(density, precision)).clone()
}

fn compile(density: &str, precision: Precision) -> Option<PathBuf> {
    let compiler = std::env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| OsString::from("g++"));
    let answers = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !answers.is_ok_and(|status| status.success()) {
        return None;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (headers, kernels) = (package.join("../../kernels/include"), package.join("../../kernels/nuts"));
    let main = package.join("tests/gpu_bits/answers.cpp");
    // `OCTOPUS_HOST_FLAGS` adds to them: sanitizers, or another level of optimisation.
    let more = std::env::var("OCTOPUS_HOST_FLAGS").unwrap_or_default();
    let defines = defines(density, precision);
    let mut flags = vec!["-std=c++17", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-fast-math"];
    flags.extend(defines.iter().map(String::as_str));
    flags.extend(["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"]);
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
    hash.update(fs::read(package.join("tests/gpu_bits/threads.hpp")).unwrap());
    let key: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let program = scratch(&format!("nuts-{key}"));
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

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// How the kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The host's lane policy: the lanes of a chain are an array.
    Arrays,
    /// The GPU's lane policy on the software GPU: each lane is a fiber, and lanes meet in shuffles and barriers. For
    /// runs and restarts.
    Fibers,
}

/// The library of the software GPU's kernels in the units whose names begin like this; `None`, said aloud, where there
/// is no compiler.
fn fibers(of_density: &str) -> Option<PathBuf> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let files = fs::read_dir(kernels.join("nuts/units")).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(of_density));
    let mut units: Vec<PathBuf> = files.map(|file| file.path()).collect();
    units.sort();
    let sources = KernelSources { units, include: vec![kernels.join("include"), kernels.join("nuts")] };
    let built = SoftwareGpu::unless_absent(SoftwareGpu::build_with(&sources, Variant::Plain));
    built.map(|gpu| gpu.kernels().to_path_buf())
}

/// What is asked of the kernels.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    Evaluate = 0,
    Leapfrog = 1,
    Run = 2,
    Restart = 3,
    Expand = 4,
    Predict = 5,
}

/// A job as it is written.
pub(crate) struct Job {
    density: String,
    precision: Precision,
    /// How the names of the units begin in which its entries are.
    units: String,
    bytes: Vec<u8>,
}

impl Job {
    /// `task` for `model` in the coordinates and with the metric of `adaptation`, in f64.
    pub(crate) fn new(task: Task, model: &impl GpuDensity, adaptation: &Adaptation) -> Self {
        Self::in_precision(Precision::F64, task, model, adaptation)
    }

    /// The same in any precision.
    pub(crate) fn in_precision(
        precision: Precision,
        task: Task,
        model: &impl GpuDensity,
        adaptation: &Adaptation,
    ) -> Self {
        let density = model.kernel_name();
        let units = match task {
            Task::Expand | Task::Predict => format!("nuts_expand_{density}_{precision}."),
            _ => format!("nuts_{density}_{precision}_"),
        };
        let mut job = Self { density: density.into(), precision, units, bytes: Vec::new() };
        let (dim, effects) = (model.dim(), model.hierarchies()[0].z.len());
        job.integer(task as u64).integer(dim as u64).fields(&model.kernel_data());
        let non_centered = Centering::constant(0.0, effects);
        let centering = adaptation.centerings.first().unwrap_or(&non_centered);
        let mut lambda = Buffer::zeros(dim);
        lambda[..effects].copy_from_slice(centering.lambda());
        job.reals(&lambda).real(centering.total()).real(centering.uniform().unwrap_or(0.0));
        job.integer(u64::from(centering.uniform().is_some()));
        job.integer(u64::from(centering.lambda().iter().all(|&lambda| lambda == 0.0)));
        let metric = &adaptation.metric;
        let scale: Vec<f64> = metric.diagonal.iter().map(|d| d.sqrt()).collect();
        job.reals(&Buffer::from_slice(&scale)).integer(metric.directions.len() as u64);
        let directions: Vec<f64> = metric.directions.iter().flat_map(|u| Buffer::from_slice(u).to_vec()).collect();
        assert_eq!(directions.len(), metric.directions.len() * padded(dim));
        let stretch: Vec<f64> = metric.variances.iter().map(|variance| variance.sqrt() - 1.0).collect();
        job.reals(&directions).reals(&stretch);
        job
    }

    /// A struct of the density's data, field by field.
    pub(crate) fn fields(&mut self, fields: &[KernelField<'_>]) -> &mut Self {
        self.integer(fields.len() as u64);
        for field in fields {
            match field {
                KernelField::Word(word) => _ = self.integer(0).integer((*word).into()),
                KernelField::Scalar(value) => _ = self.integer(1).real(*value),
                KernelField::PerCoordinate(values) => _ = self.integer(2).reals(values),
                KernelField::Reals(values) => _ = self.integer(3).reals(values),
                KernelField::Words(words) => {
                    self.integer(4).integer(words.len() as u64);
                    words.iter().for_each(|&word| _ = self.integer(word.into()));
                }
            }
        }
        self
    }

    pub(crate) fn integer(&mut self, word: u64) -> &mut Self {
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self
    }

    pub(crate) fn real(&mut self, value: f64) -> &mut Self {
        self.integer(value.to_bits())
    }

    /// The values after their number.
    pub(crate) fn reals(&mut self, values: &[f64]) -> &mut Self {
        self.integer(values.len() as u64);
        values.iter().for_each(|&value| _ = self.real(value));
        self
    }

    /// What the kernels answer; `None`, said aloud, where there is no compiler.
    pub(crate) fn ask(&self, way: Way) -> Option<Answer> {
        let Some(program) = program(&self.density, self.precision) else {
            eprintln!(
                "SKIPPED: no C++ compiler (CXX or g++): the kernels of NUTS are not compared with the CPU engine"
            );
            return None;
        };
        let library = if way == Way::Fibers { Some(fibers(&self.units)?) } else { None };
        let mut child =
            Command::new(program).args(library).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // A program that has failed reads no more: its exit status says so below.
            scope.spawn(move || _ = input.write_all(&self.bytes));
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "the compiled kernels: {}", output.status);
        Some(Answer { bytes: output.stdout, at: 0 })
    }
}

/// An answer that is read from the front.
pub(crate) struct Answer {
    bytes: Vec<u8>,
    at: usize,
}

impl Answer {
    pub(crate) fn integer(&mut self) -> u64 {
        self.at += 8;
        u64::from_le_bytes(self.bytes[self.at - 8..self.at].try_into().unwrap())
    }

    pub(crate) fn real(&mut self) -> f64 {
        f64::from_bits(self.integer())
    }

    pub(crate) fn reals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.real()).collect()
    }

    /// `Record` of `kernels/nuts/transition.cuh`.
    pub(crate) fn stats(&mut self) -> DrawStats {
        let reals = self.reals(6);
        let (counts, rest) = (self.integer(), self.integer());
        DrawStats {
            lp: reals[0],
            acceptance_rate: reals[1],
            step_size: reals[2],
            energy: reals[3],
            energy_error: reals[4],
            max_energy_error: reals[5],
            tree_depth: counts as u32,
            n_steps: (counts >> 32) as u32,
            index_in_trajectory: rest as u32 as i32,
            diverging: rest >> 32 & 1 != 0,
            reached_max_treedepth: rest >> 33 & 1 != 0,
        }
    }

    pub(crate) fn end(&self) {
        assert_eq!(self.at, self.bytes.len(), "the answer is longer than what was read");
    }
}

/// Of a NaN only that it is one is promised.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[track_caller]
pub(crate) fn assert_same(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (&ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!(same(ours, theirs), "{what}, {i}: {theirs:e} in the kernels, {ours:e} here");
    }
}

#[track_caller]
pub(crate) fn assert_same_stats(what: &str, ours: &DrawStats, theirs: &DrawStats) {
    let reals = |s: &DrawStats| [s.lp, s.acceptance_rate, s.step_size, s.energy, s.energy_error, s.max_energy_error];
    assert_same(what, &reals(ours), &reals(theirs));
    let whole = |s: &DrawStats| (s.tree_depth, s.n_steps, s.index_in_trajectory, s.diverging, s.reached_max_treedepth);
    assert_eq!(whole(ours), whole(theirs), "{what}");
}
