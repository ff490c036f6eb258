//! `octopus submit` makes of a command an array job of its parts, and a job after them that puts the whole together.
//!
//! What is asked for each part is foretold by the arithmetic of `--dry-run` and a short measurement of this machine.

mod kubernetes;
mod script;

use super::batch::foretold_batch;
use crate::args::{CalibrateArgs, Cli, Command, Global, SubmitArgs, SweepArgs};
use crate::calibration::{any_data_set, default_kept, simulated};
use crate::config::RunConfig;
use crate::exit::{Exit, HardwareError, UsageError};
use crate::output;
use anyhow::{Context, Result, bail};
use octopus_calibrate::{CalibrationSettings, at_work_bytes, found_bytes, sweep_bytes};
use octopus_density::LogDensity;
use octopus_runs::{RunCost, cpu_step_seconds};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};

/// What a command takes, foretold.
pub(crate) struct Foretold {
    /// The number of its pieces.
    pub(crate) pieces: usize,
    /// What they are called.
    pub(crate) called: &'static str,
    /// The bytes that one process takes at least.
    pub(crate) bytes: u64,
    /// The seconds of one core of this machine for all pieces.
    pub(crate) seconds: f64,
}

/// An array job: what is asked of the scheduler, and the command.
struct ArrayJob {
    name: String,
    parts: usize,
    threads: usize,
    gpus: u32,
    mebibytes: u64,
    minutes: u64,
    /// The words of the command, without the program.
    words: Vec<String>,
    folder: PathBuf,
    /// What is foretold, in a line.
    foretold: String,
}

/// Prints the script or the manifest, and submits it if asked to.
///
/// # Errors
/// When parts cannot share the command, or it cannot be carried out; and when the scheduler is not there or refuses.
pub(crate) fn run(args: &SubmitArgs, global: Global) -> Result<Exit> {
    let words = &args.command;
    // A mistyped command is refused in the words of the command itself.
    let cli = Cli::read(global.models, std::iter::once("octopus").chain(words.iter().map(String::as_str)));
    let cli = cli.map_err(|error| UsageError(format!("COMMAND: {}", error.render())))?;
    for (option, instead) in [("--part", "--parts"), ("--claim", "--parts"), ("--threads", "--threads")] {
        if words.iter().any(|word| word == option || word.starts_with(&format!("{option}="))) {
            let why = format!("COMMAND: {option} is for submit to say: give it {instead} N before the command");
            return Err(UsageError(why).into());
        }
    }
    let threads = args.threads;
    let none = || UsageError("COMMAND: parts share sample --batch, calibrate (ranks), and sweep --keep only".into());
    let (folder, found) = match cli.command {
        Command::Sample(sample) if sample.batch.batch.is_some() && sample.out.is_some() => {
            (sample.out.clone().unwrap_or_default(), foretold_batch(&sample, threads, cli.global)?)
        }
        Command::Calibrate(calibrate) if !calibrate.geweke => {
            (calibrate.out.clone(), foretold_calibration(&calibrate, threads, cli.global)?)
        }
        Command::Sweep(sweep) => (sweep.keep.clone().ok_or_else(none)?, foretold_sweep(*sweep, threads, cli.global)?),
        _ => return Err(none().into()),
    };
    let job = ArrayJob::new(args, folder, &found);
    // What is handed over, to which words, and the program of the scheduler that must be there.
    let (text, submit, scheduler) = if args.kubernetes {
        let (image, volume) = (args.image.as_deref().unwrap_or_default(), args.volume.as_deref().unwrap_or_default());
        (kubernetes::manifest(&job, image, volume)?, ["kubectl", "apply", "-f", "-"].as_slice(), "kubectl")
    } else {
        let program = std::env::current_exe().context("cannot tell where this program is")?;
        let (script, scheduler): (fn(&ArrayJob, &str) -> String, _) =
            if args.slurm { (script::slurm, "sbatch") } else { (script::pbs, "qsub") };
        (script(&job, &program.to_string_lossy()), ["sh"].as_slice(), scheduler)
    };
    output::print(&text)?;
    if args.run {
        hand_over(scheduler, submit, &text)?;
    }
    Ok(Exit::Fine)
}

/// Hands a script or a manifest to the scheduler.
fn hand_over(scheduler: &str, words: &[&str], text: &str) -> Result<()> {
    let is_there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(scheduler).is_file()));
    if !is_there {
        return Err(HardwareError(format!(
            "--run: there is no {scheduler} here; save what is printed, and submit it there"
        ))
        .into());
    }
    let mut child = Process::new(words[0]).args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).context("cannot hand it to the scheduler")?;
    }
    let ended = child.wait_with_output()?;
    String::from_utf8_lossy(&ended.stdout).lines().for_each(output::note);
    if !ended.status.success() {
        bail!("{scheduler} has refused it ({})", ended.status);
    }
    Ok(())
}

impl ArrayJob {
    fn new(args: &SubmitArgs, folder: PathBuf, found: &Foretold) -> Self {
        let parts = args.parts.min(found.pieces.max(1));
        let seconds = found.seconds / (parts * args.threads) as f64;
        let asked = found.bytes.saturating_mul(2).saturating_add(256 << 20);
        let mebibytes = args.memory.map_or(asked, |memory| memory.as_u64()).div_ceil(1 << 20);
        let minutes = args.minutes.unwrap_or_else(|| ((3.0 * seconds / 60.0).ceil() as u64).max(10));
        let foretold = format!(
            "foretold of each of {parts} parts of {} {}: {:.0} s on {} of this machine's cores, {} MiB",
            found.pieces,
            found.called,
            seconds,
            args.threads,
            found.bytes.div_ceil(1 << 20)
        );
        let words = args.command.clone();
        // The same command has the same name: submitted twice, the second goes on.
        let hash = crc32fast::hash(words.join("\0").as_bytes());
        let name = format!("octopus-{}-{hash:08x}", words.first().map(String::as_str).unwrap_or_default());
        Self { name, parts, threads: args.threads, gpus: args.gpus, mebibytes, minutes, words, folder, foretold }
    }

    /// The words of a part's command, or of the whole's.
    fn command(&self, program: &str, is_part: bool) -> Vec<String> {
        let threads = self.threads.to_string();
        let own: &[&str] = if is_part { &["--part", "auto"] } else { &[] };
        let more = own.iter().copied().chain(["--threads", &threads]);
        std::iter::once(program).chain(self.words.iter().map(String::as_str)).chain(more).map(str::to_owned).collect()
    }
}

/// The seconds of one core for all leapfrog steps of a cost.
pub(crate) fn core_seconds(density: &dyn LogDensity, cost: &RunCost) -> Result<f64> {
    let steps: f64 = cost.work.steps.iter().map(|step| step.units).sum();
    Ok(steps * cpu_step_seconds(density)?)
}

fn foretold_calibration(args: &CalibrateArgs, threads: usize, global: Global) -> Result<Foretold> {
    let model = global.models.find(&args.model)?;
    let config = RunConfig::of_calibration(args, model, global.models)?;
    let simulated = simulated(&config, model, false)?;
    let density = any_data_set(&*simulated.simulator)?;
    let sampler = config.sampler;
    let kept = args.kept.unwrap_or_else(|| default_kept(&sampler));
    let settings = CalibrationSettings { seed: sampler.seed, kept, sampler: sampler.clone() };
    let pieces = args.datasets as usize;
    let at_work = at_work_bytes(&*density, &settings, threads, true);
    let bytes = at_work.saturating_add(found_bytes(&*density, args.datasets));
    let seconds = core_seconds(&*density, &RunCost::of_equals(&*density, &sampler, pieces))?;
    Ok(Foretold { pieces, called: "data sets", bytes, seconds })
}

fn foretold_sweep(args: SweepArgs, threads: usize, global: Global) -> Result<Foretold> {
    let pieces = usize::try_from(args.seeds).unwrap_or(usize::MAX);
    let asked = args.into_sample();
    let model = global.models.find(&asked.model)?;
    let config = RunConfig::from_args(&asked, model, global.models)?;
    let problem = config.problem(model)?;
    let (density, sampler) = (problem.density(), &config.sampler);
    let seconds = core_seconds(density, &RunCost::of_equals(density, sampler, pieces))?;
    Ok(Foretold { pieces, called: "runs", bytes: sweep_bytes(density, sampler, threads), seconds })
}
