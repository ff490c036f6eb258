//! `octopus resume RUN` goes on with a run that was stopped.

use super::sample::{advise, advise_memory, conclude};
use crate::args::{Global, ResumeArgs};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Watcher;
use anyhow::{Context, Result, bail};
use octopus::{begin, of_run};
use octopus_device::{DeviceRequest, Source};
use octopus_runs::{PreparedRun, RunError, RunFolder, RunRequest, RunStatus, RunWriter, Session};
use octopus_sampler::{Begin, Phase};
use serde_json::json;

/// Goes on with a run from its last checkpoint.
///
/// # Errors
/// When the folder holds no run, or its data, record or checkpoint have gone or changed.
pub(crate) fn run(args: &ResumeArgs, global: Global) -> Result<Exit> {
    // Everything is read before anything is written: a run whose data are gone must stay as it is.
    let folder = RunFolder::open(&args.run)?;
    if folder.record().status == RunStatus::Complete {
        return complete(args, global);
    }
    let recorded = folder.record().device.parse().context("run.toml: field `device`")?;
    let chosen = DeviceRequest { choice: args.device.unwrap_or(recorded), source: Source::Flag, note: None };
    let problem = of_run(global.models, folder.record())?;
    let density = problem.density();
    let sampler = folder.record().sampler.clone();
    let (no_fallback, threads) = (args.no_fallback, args.threads);
    let request = RunRequest { sampler, device: chosen, no_fallback, threads, ..RunRequest::default() };
    let mut prepared = PreparedRun::of_run(density, request)?;
    let place = prepared.device.open()?;
    let PreparedRun { cost, device, pool, .. } = &prepared;
    let interrupt = Interrupt::listen();
    let mut resumed = match RunWriter::resume(&args.run) {
        Ok(resumed) => resumed,
        // Another process may have completed the run meanwhile.
        Err(RunError::AlreadyComplete { .. }) => return complete(args, global),
        Err(error) => return Err(error.into()),
    };
    let config = &resumed.record.sampler;
    let begun = match resumed.state.take() {
        // Particles are in no checkpoint.
        Some(state) if !config.algorithm.takes_particles() => Begin::GoOn(state),
        _ => pool.install(|| begin(&*problem, config, &resumed.record.init))?,
    };
    let groups = problem.data().groups;
    let sampler = pool.install(|| place.begin(density, begun));
    let mut sampler = sampler.inspect_err(|error| advise_memory(error, cost, groups))?;
    if sampler.config() != config {
        bail!(
            "{}: field `sampler` was changed after the run began: put the old settings back, or begin a new run",
            args.run.join("run.toml").display()
        );
    }
    let note = format!("run: {}; going on at iteration {}", octopus_runs::describe(config), sampler.done());
    output::unless_quiet(global.quiet, &[note]).iter().for_each(output::note);
    let began_on = resumed.record.device.clone();
    let mut writer = resumed.go_on()?;
    // What the folder has of particles that are drawn again is passed over.
    let kept = if sampler.config().algorithm.takes_particles() { writer.draws(Phase::Sampling) } else { 0 };
    while sampler.done() < kept {
        pool.install(|| sampler.advance(kept - sampler.done()))?;
    }
    if device.name() != began_on {
        let reason = format!("{}; begun on {began_on}", device.reason());
        writer.update(|record| (record.device, record.device_reason) = (device.name(), reason))?;
    }
    let observer = &mut Watcher::new(interrupt, global.quiet);
    let session = Session { pool, checkpoints: args.checkpoint_every.into(), observer };
    let outcome = octopus_runs::drive(sampler, density, writer, session);
    let outcome = outcome.inspect_err(|error| advise(error, &args.run, cost, groups))?;
    conclude(&args.run, &outcome, &*problem, global)
}

fn complete(args: &ResumeArgs, global: Global) -> Result<Exit> {
    let run = &args.run;
    RunWriter::clear_complete(run);
    if global.json {
        output::print_json(&json!({ "schema": 1, "run": run, "status": RunStatus::Complete, "resumed": false }))?;
    } else {
        output::print(&format!("the run in {} is complete: there is nothing to resume", run.display()))?;
    }
    Ok(Exit::Fine)
}
