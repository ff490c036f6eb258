//! Draws in a file, of NumPy's or Parquet, which may be larger than memory and take hours.

use super::chosen::NamedDistribution;
use crate::args::{Global, RandomArgs};
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Timer;
use anyhow::{Result, bail};
use half::f16;
use octopus_array::{BatchConfig, DrawError, Scalar, draw_batches};
use octopus_device::device_names;
use octopus_files::{FilePlan, NpyElement, NpyHeader, NpyType, Overwrite, ResumableError, ResumableFile, Resumption};
use octopus_formats::parquet_plan;
use octopus_random::{FloatingPoint, Key};
use serde_json::json;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The time between checkpoints: what a kill costs at the most.
const CHECKPOINT: Duration = Duration::from_secs(5);

/// Draws as a file holds them.
pub(super) trait Stored: NpyElement {
    /// Appends draws, as half the digits where the file has those.
    fn append_to(draws: &[Self], file: &mut ResumableFile, halves: Option<&mut Vec<u16>>)
    -> Result<(), ResumableError>;

    /// Returns the number that a file of the type holds.
    fn shown(self, dtype: NpyType) -> f64;
}

impl Stored for f64 {
    fn append_to(draws: &[Self], file: &mut ResumableFile, _: Option<&mut Vec<u16>>) -> Result<(), ResumableError> {
        file.append(draws)
    }

    fn shown(self, _: NpyType) -> f64 {
        self
    }
}

impl Stored for f32 {
    fn append_to(
        draws: &[Self],
        file: &mut ResumableFile,
        halves: Option<&mut Vec<u16>>,
    ) -> Result<(), ResumableError> {
        let Some(halves) = halves else { return file.append(draws) };
        halves.clear();
        halves.extend(draws.iter().map(|draw| f16::from_f32(*draw).to_bits()));
        file.append(halves)
    }

    fn shown(self, dtype: NpyType) -> f64 {
        if dtype == NpyType::F2 {
            return f16::from_f32(self).to_f64();
        }
        // The shortest decimal number that is this one in f32, not all digits that it has in f64.
        self.to_string().parse().unwrap_or(f64::from(self))
    }
}

/// Why draws stop coming into a file.
#[derive(Debug, Error)]
enum StopError {
    #[error(transparent)]
    Draw(#[from] DrawError),
    #[error(transparent)]
    File(#[from] ResumableError),
    #[error("interrupted")]
    Interrupted,
}

/// Writes the draws into `out`.
///
/// # Errors
/// When the file exists, is of other draws or cannot be written, or draws cannot be made.
pub(super) fn write<T: Scalar + Stored>(
    out: &Path,
    args: &RandomArgs,
    chosen: &NamedDistribution<T>,
    config: &BatchConfig,
    global: Global,
) -> Result<Exit> {
    let Range { start: first, end } = args.numbers()?;
    let n = end - first;
    // What the draws depend on: neither device nor memory.
    let from = args.part.map(|_| format!(" from draw {first}")).unwrap_or_default();
    let description = format!("octopus random {} --seed {}{from}", chosen.words, args.seed);
    // A file counts numbers: those of a vector are written together.
    let dimensions = chosen.distribution.dimensions() as u64;
    let written = |writer: &ResumableFile| writer.written() / dimensions;
    let mut writer = match opened(out, args, plan(out, args, chosen, first..end)?, &description)? {
        Resumption::Unfinished(writer) => writer,
        Resumption::Finished => {
            if !global.quiet {
                output::note(format!("{} has all of its {n} draws", out.display()));
            }
            return told(out, args, chosen, config, (n, 0, Duration::ZERO), global);
        }
    };
    let interrupt = Interrupt::listen();
    let (begin, done_before) = (Instant::now(), written(&writer));
    if done_before > 0 && !global.quiet {
        output::note(format!("{done_before} of {n} draws are there already"));
    }
    let mut halves = (args.dtype == NpyType::F2).then(Vec::new);
    let mut line = Timer::of_line(global.quiet, begin);
    let mut checkpoint = Timer::start(CHECKPOINT, begin);
    let stopped =
        draw_batches(chosen.distribution.as_ref(), Key::new(args.seed), first + done_before..end, config, |batch| {
            T::append_to(batch, &mut writer, halves.as_mut())?;
            let now = Instant::now();
            if line.due(now) {
                line = Timer::of_line(false, now);
                let written = written(&writer);
                output::note(progress(written, n, written - done_before, now - begin));
            }
            if interrupt.asked() {
                return Err(StopError::Interrupted);
            }
            if checkpoint.due(now) {
                writer.checkpoint()?;
                checkpoint = Timer::start(CHECKPOINT, Instant::now());
            }
            Ok(())
        });
    match stopped {
        Ok(()) => {}
        Err(StopError::Interrupted) => {
            writer.checkpoint()?;
            let (written, path) = (written(&writer), out.display());
            output::note(format!("interrupted: {written} of {n} draws are kept; --resume goes on with {path}"));
            return Ok(Exit::Interrupted);
        }
        // What was made before is kept, so that --resume does not make it again; the first error is the one to tell.
        Err(StopError::Draw(error)) => {
            let _ = writer.checkpoint();
            return Err(error.into());
        }
        Err(other) => return Err(other.into()),
    }
    let made = written(&writer) - done_before;
    writer.finish()?;
    told(out, args, chosen, config, (n, made, begin.elapsed()), global)
}

/// Plans the file that its name asks for.
fn plan<T: FloatingPoint>(
    out: &Path,
    args: &RandomArgs,
    chosen: &NamedDistribution<T>,
    numbers: Range<u64>,
) -> Result<FilePlan> {
    let n = numbers.end - numbers.start;
    let dimensions = chosen.distribution.dimensions() as u64;
    let shape: &[u64] = if dimensions == 1 { &[n] } else { &[n, dimensions] };
    match out.extension().and_then(OsStr::to_str) {
        Some("npy") => Ok(NpyHeader::new(out, args.dtype, shape)?.plan()),
        Some("parquet") => {
            let mut metadata =
                json!({ "schema": 1, "command": "random", "distribution": chosen.words, "seed": args.seed });
            if args.part.is_some() {
                metadata["first"] = numbers.start.into();
            }
            let plan = parquet_plan(out, &chosen.name.replace('-', "_"), args.dtype, shape, &metadata);
            Ok(plan.map_err(|error| UsageError(format!("--n {n}: {error}")))?)
        }
        _ => Err(UsageError(format!("--out {}: the name must end in .npy or .parquet", out.display())).into()),
    }
}

/// Begins the file, or goes on with it.
fn opened(out: &Path, args: &RandomArgs, plan: FilePlan, description: &str) -> Result<Resumption<ResumableFile>> {
    if args.resume {
        return Ok(ResumableFile::resume(out, plan, description)?);
    }
    let overwrite = if args.force { Overwrite::Replace } else { Overwrite::Refuse };
    match ResumableFile::create(out, plan, description, overwrite) {
        Ok(file) => Ok(Resumption::Unfinished(file)),
        Err(ResumableError::TargetExists { path }) => {
            bail!("{} already exists: name another file, or replace it with --force", path.display())
        }
        Err(ResumableError::UnfinishedExists { path, unfinished }) => bail!(
            "{} was begun and not finished ({}): go on with --resume, or begin anew with --force",
            path.display(),
            unfinished.display()
        ),
        Err(other) => Err(other.into()),
    }
}

/// Tells what was made, and how fast.
fn told<T: Scalar + Stored>(
    out: &Path,
    args: &RandomArgs,
    chosen: &NamedDistribution<T>,
    config: &BatchConfig,
    (n, made, time): (u64, u64, Duration),
    global: Global,
) -> Result<Exit> {
    let seconds = time.as_secs_f64();
    let devices = device_names(&config.devices);
    if global.json {
        output::print_json(&json!({
            "schema": 1, "file": out, "distribution": chosen.words, "seed": args.seed, "n": n,
            "dtype": args.dtype.to_string(), "device": devices, "made": made, "seconds": seconds,
        }))?;
    } else {
        output::print(&out.display().to_string())?;
        if made > 0 && !global.quiet {
            let rate = made as f64 / seconds;
            let bytes = rate * (args.dtype.bytes() * chosen.distribution.dimensions() as u64) as f64;
            output::note(format!(
                "{made} draws of {} in {seconds:.2} s on {devices}: {} million a second, {:.0} MB a second",
                chosen.words,
                in_millions(rate),
                bytes / 1e6
            ));
        }
    }
    Ok(Exit::Fine)
}

fn progress(written: u64, all: u64, made: u64, time: Duration) -> String {
    let rate = made as f64 / time.as_secs_f64();
    let left = (all - written) as f64 / rate;
    let percent = 100.0 * written as f64 / all as f64;
    format!("{percent:.0} % of {all} draws, {} million a second, {left:.0} s left", in_millions(rate))
}

/// Returns a rate in millions with three digits that count.
fn in_millions(rate: f64) -> String {
    let millions = rate / 1e6;
    if millions < 9.995 { format!("{millions:.2}") } else { format!("{millions:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 million draws are written: 1 million by an earlier session, 3 million in the last 2 seconds.
    #[test]
    fn a_line_tells_how_far_and_how_fast() {
        let line = progress(4_000_000, 10_000_000, 3_000_000, Duration::from_secs(2));
        assert_eq!(line, "40 % of 10000000 draws, 1.50 million a second, 4 s left");
    }

    #[test]
    fn a_rate_has_three_digits_that_count() {
        let found = [1e3, 5e6, 9.99e6, 9.996e6, 1.25e7, 1.9e7, 1.234e8].map(in_millions);
        assert_eq!(found, ["0.00", "5.00", "9.99", "10", "12", "19", "123"]);
    }
}
