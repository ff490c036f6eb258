//! The errors of run folders: each names the file and says what to do.

use crate::MemoryNeed;
use octopus_density::DensityError;
use octopus_device::{DeviceError, DeviceNameError};
use octopus_diag::DiagError;
use octopus_files::FileError;
use octopus_formats::FormatError;
use octopus_sampler::SamplerError;
use rayon::ThreadPoolBuildError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A run folder that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operating system refused an operation on a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The path is not a run, and its trace cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The folder for a new run holds something already.
    #[error("{} exists and is not empty: {}", path.display(), of_no_vacant(path, *is_run, *is_unfinished))]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
        /// Whether it holds a run.
        is_run: bool,
        /// Whether that run has draws to come.
        is_unfinished: bool,
    },
    /// A file stands where a folder is needed.
    #[error("{} is a file, where a folder is needed: choose another path", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// Warm-up is to be kept of a run whose warm-up has fewer chains than the run.
    #[error(
        "warm-up of many short chains is that of a few, and cannot be kept beside the run's draws: leave out --keep-warmup"
    )]
    KeepWarmup,
    /// The path does not hold a run.
    #[error("{} is not a run folder: it has no run.toml (`octopus sample ... --out DIR` makes one)", path.display())]
    NotARun {
        /// The path.
        path: PathBuf,
    },
    /// Another process writes this run.
    #[error("{} is in use by another octopus process: wait until it ends, or stop it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The disk has less room than the run takes.
    #[error(
        "the run takes {} MiB, and {} MiB are free at {}: choose another --out, free some space, or ask for fewer --draws \
         or --chains", .bytes.div_ceil(1 << 20), .free >> 20, path.display()
    )]
    DiskTooSmall {
        /// The folder of the run.
        path: PathBuf,
        /// The bytes that the run takes.
        bytes: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The host has less memory than the work takes.
    #[error(
        "{} takes at least {} MiB of memory on the CPU, and {} MiB are there: {}", .need.what,
        .need.bytes.div_ceil(1 << 20), .available >> 20, .need.advice
    )]
    MemoryTooSmall {
        /// What takes it, how much, and what to do.
        need: MemoryNeed,
        /// The bytes that this process can have.
        available: u64,
    },
    /// A finished run has nothing left to resume.
    #[error("the run in {} is complete: there is nothing to resume", path.display())]
    AlreadyComplete {
        /// The folder.
        path: PathBuf,
    },
    /// A field of the record has a wrong value.
    #[error("{}: field `{field}`: {message}; repair the file, or make the run again with --force", path.display())]
    Record {
        /// The `run.toml`.
        path: PathBuf,
        /// The field's path, e.g. `sampler.draws`; `.` for the whole file.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The record was written by a later version of the program.
    #[error("{} has schema {found}, this octopus reads up to {supported}: use a newer octopus", path.display())]
    RecordTooNew {
        /// The `run.toml`.
        path: PathBuf,
        /// The schema found.
        found: i64,
        /// The newest schema this program knows.
        supported: u32,
    },
    /// A part with draws is there but cannot be read.
    #[error("{} is damaged: {what}; {fix}", path.display())]
    DamagedPart {
        /// The Parquet file.
        path: PathBuf,
        /// What was found, in words.
        what: String,
        /// The advice: what to do.
        fix: String,
    },
    /// A part with draws is missing.
    #[error("{} is missing; {fix}", path.display())]
    MissingPart {
        /// The Parquet file.
        path: PathBuf,
        /// The advice: what to do.
        fix: String,
    },
    /// The run has no draw yet.
    #[error("the run in {} holds no draws yet: continue it with `octopus resume {}`", path.display(), path.display())]
    NoDraws {
        /// The folder.
        path: PathBuf,
    },
    /// The checkpoint cannot be trusted.
    #[error("{} is damaged: {what}; the draws stay readable, but the run cannot be resumed: make it again with `octopus sample ... --force`", path.display())]
    DamagedCheckpoint {
        /// The checkpoint.
        path: PathBuf,
        /// What was found, in words.
        what: String,
    },
    /// A name in the model is one that the run folder needs for itself.
    #[error("the model's variable or dimension `{name}` {why}: rename it")]
    Name {
        /// The name.
        name: String,
        /// Why the name cannot stay.
        why: &'static str,
    },
    /// A setting is out of range, or the density or the device failed.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The density reported that it is broken, at a draw.
    #[error(transparent)]
    Density(#[from] DensityError),
    /// The time was over before a population was drawn.
    #[error(
        "{}: the time was over (--max-seconds) before the population was drawn, and nothing is kept of it: give it more \
         time, or draw fewer particles",
        dir.display()
    )]
    LatePopulation {
        /// The run's folder.
        dir: PathBuf,
    },
    /// The device failed in the middle of a run, whose draws are kept.
    #[error("{source}; {advice}")]
    Stopped {
        /// The device's failure.
        source: SamplerError,
        /// The advice: how the run goes on.
        advice: String,
    },
    /// The draws cannot be summed up.
    #[error(transparent)]
    Diag(#[from] DiagError),
    /// The thread that looked at the draws of a run with a goal has ended without an answer.
    #[error("the draws could not be looked at")]
    LookFailed,
    /// A device that was asked for is not there or cannot be used.
    #[error("{0}")]
    NoDevice(String),
    /// The settings ask for a run that the device, or no device, can do.
    #[error("{0}")]
    CannotRun(String),
    /// A device cannot be used, or what it costs or was used for cannot be measured.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The record names a device that no machine has.
    #[error("run.toml: field `device`: {0}")]
    DeviceName(#[from] DeviceNameError),
    /// What a device was used for cannot be written.
    #[error("cannot write the device's usage: {what}")]
    Usage {
        /// TOML's words.
        what: String,
    },
    /// The system refuses threads.
    #[error("cannot start {threads} threads: give fewer with --threads ({source})")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The system's answer.
        source: ThreadPoolBuildError,
    },
    /// A block of draws does not fit the run.
    #[error("block of draws does not fit the run: {what} is {found}, expected {expected}")]
    Block {
        /// The property that differs.
        what: &'static str,
        /// The property's value in the run.
        expected: String,
        /// The property's value in the block.
        found: String,
    },
    /// A library refused to encode a file.
    #[error("cannot encode {}: {what}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The library's error message.
        what: String,
    },
}

impl RunError {
    /// Makes the error for `map_err`: the operation `action` on `path` failed.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = FileError::io(action, path);
        move |source| Self::File(error(source))
    }
}

/// What to do about a folder that is not empty.
fn of_no_vacant(path: &Path, is_run: bool, is_unfinished: bool) -> String {
    match (is_run, is_unfinished) {
        (true, true) => format!(
            "its run is unfinished; go on with `octopus resume {}`, choose another --out, or replace it with --force",
            path.display()
        ),
        (true, false) => "choose another --out, or replace the run in it with --force".to_owned(),
        (false, _) => "choose another --out; it is not a run folder, so --force does not replace it".to_owned(),
    }
}
