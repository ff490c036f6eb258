//! `octopus sample MODEL --batch DIR|FILE --out DIR` makes a run folder for each data set, and one summary.

mod claimed;
mod draw;
mod sets;
mod summary;

use super::sample::{advise_memory, read_back};
use super::submit::{Foretold, core_seconds};
use crate::args::{Global, SampleArgs};
use crate::config::RunConfig;
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::share::{CLAIMS, Claims, RECORDS, Worker, WorkerState, clear, left_by_parts, tell_share};
use anyhow::{Result, bail};
use octopus_diag::counted;
use octopus_runs::{Goal, PreparedRun, RunCost};
use octopus_sampler::SamplerError;
use rayon::prelude::*;
use sets::{Set, SetState};
use std::path::Path;
use summary::Summary;

/// The most lines about data sets' data.
const TOLD: usize = 10;

/// Whether a path in the folder of a batch is the batch's, besides its summary.
pub(crate) fn is_of_a_batch(path: &Path) -> bool {
    ["sets", claimed::DRAWING, RECORDS, CLAIMS].iter().any(|name| path.starts_with(name))
}

/// Samples every data set of `source`.
///
/// # Errors
/// When there are no data sets, the folder holds others, or it cannot be written; and when the device fails.
pub(super) fn run(source: &Path, args: &SampleArgs, global: Global) -> Result<Exit> {
    let model = global.models.find(&args.model)?;
    let mut config = RunConfig::from_args(args, model, global.models)?;
    if config.goal != Goal::default() {
        let why = "--batch: all draws are drawn of each data set; leave the goal out of the settings";
        return Err(UsageError(why.into()).into());
    }
    let out = args.out.as_deref().ok_or_else(|| UsageError("--out DIR is needed".into()))?;
    args.share.without_auto(config.auto.is_some())?;
    let (mut sets, all) = sets::read(source, args, &config, model, out)?;
    tell_of_data(&sets, global);
    let densities: Vec<_> = sets.iter().filter_map(Set::density).collect();
    let mut prepared = PreparedRun::of_batch(&densities, config.request(&args.machine)?)?;
    let largest = densities.iter().copied().max_by_key(|density| density.dim());
    config.sampler.clone_from(&prepared.request.sampler);
    // Advice on memory is about the largest data set: the others are begun with less of it.
    let one = largest.map(|density| RunCost::of_run(density, &config.sampler));
    let groups = sets.iter().filter_map(|set| set.problem.as_deref()).map(|problem| problem.data().groups).max();
    // Those that are complete have their room.
    let open = sets.iter().filter(|set| !matches!(set.state, SetState::Complete(_))).filter_map(Set::density);
    prepared.check_room(out, &open.collect::<Vec<_>>())?;
    let interrupt = Interrupt::listen();
    // The devices are opened before any folder is made, so that a batch that cannot start leaves nothing behind.
    let place = prepared.device.open()?;
    sets::settle(&mut sets, &config.sampler);
    if !args.share.claim {
        sets::take_up(&mut sets, args.force, config.auto.is_some(), &config.init)?;
    }
    let complete = sets.iter().filter(|set| matches!(set.state, SetState::Complete(_))).count();
    let mut notes: Vec<String> = prepared.plan.iter().map(|plan| format!("strategy: {}", plan.reason())).collect();
    notes.extend(prepared.device.lines());
    notes.push(format!("data: {} ({})", counted(sets.len(), "data set"), source.display()));
    notes.push(format!("each run: {}, from which each has its own", octopus_runs::describe(&config.sampler)));
    notes.extend(already(complete));
    output::unless_quiet(global.quiet, &notes).iter().for_each(output::note);
    let worker = Worker::begin(out, &args.share, all)?;
    if !args.share.is_shared() && worker.is_some() {
        let is_missing = |number: usize| sets.get(number).is_some_and(|set| !set.state.has_ended());
        left_by_parts(out, "data sets", &is_missing)?.iter().for_each(output::note);
    }
    if let Some(worker) = &worker {
        worker.are_done(sets.iter().filter(|set| set.state.has_ended()).count());
    }
    let mut session = draw::BatchSession {
        prepared: &mut prepared,
        place: &place,
        interrupt,
        worker: worker.as_ref(),
        quiet: global.quiet,
    };
    let drawn = match &worker {
        Some(worker) if args.share.claim => {
            let mut claims = Claims::begin(out, worker, args.share.lease())?;
            claimed::draw(&mut sets, &mut session, &config, (out, worker), &mut claims)
        }
        _ => session.draw(&mut sets),
    };
    let interrupted = drawn.inspect_err(|error| {
        if let (Some(cost), Some(error)) = (&one, error.downcast_ref::<SamplerError>()) {
            advise_memory(error, cost, groups.unwrap_or(0));
        }
    })?;
    if let Some(worker) = worker {
        worker.end(if interrupted { WorkerState::Interrupted } else { WorkerState::Complete })?;
    }
    if args.share.claim {
        if interrupted {
            output::note("interrupted: the draws are kept; the same command goes on");
            return Ok(Exit::Interrupted);
        }
        return tell_share(out, &args.share, ("data sets", all, all), global.json);
    }
    if !args.share.is_shared() && !interrupted {
        clear(out, &[claimed::DRAWING])?;
    }
    let rows = prepared.pool.install(|| sets.par_iter().map(summary::row).collect::<Result<Vec<_>>>())?;
    let summary = Summary::new(source, &prepared, rows);
    let suffix = args.share.part.map(|part| format!("-{}", part.file_name())).unwrap_or_default();
    summary.write(out, &suffix)?;
    if global.json {
        output::print_json(&summary)?;
    } else {
        output::print(&summary.to_text(out, &suffix))?;
    }
    if interrupted {
        output::note("interrupted: the draws are kept; the same command goes on");
        return Ok(Exit::Interrupted);
    }
    Ok(if summary.all_fit() { Exit::Fine } else { Exit::Bad })
}

/// Foretells what a batch takes in a process of so many threads.
///
/// # Errors
/// When the data sets cannot be read.
pub(super) fn foretold_batch(args: &SampleArgs, threads: usize, global: Global) -> Result<Foretold> {
    let source = args.batch.batch.as_deref().unwrap_or(Path::new(""));
    let model = global.models.find(&args.model)?;
    let config = RunConfig::from_args(args, model, global.models)?;
    if config.auto.is_some() {
        return Err(UsageError("--strategy auto: each machine would choose by itself; give a strategy".into()).into());
    }
    let (sets, pieces) = sets::read(source, args, &config, model, args.out.as_deref().unwrap_or(Path::new("")))?;
    let densities: Vec<_> = sets.iter().filter_map(Set::density).collect();
    let Some(&largest) = densities.iter().max_by_key(|density| density.dim()) else {
        bail!("--batch: no data set of {} can be sampled", source.display());
    };
    let cost = RunCost::of_batch(&densities, &config.sampler);
    let bytes = cost.host_bytes.saturating_mul((draw::SETS_OF_A_THREAD * threads) as u64);
    Ok(Foretold { pieces, called: "data sets", bytes, seconds: core_seconds(largest, &cost)? })
}

/// Says what was left out of the data sets' tables, and warns of what their data cannot tell: of so many data sets.
fn tell_of_data(sets: &[Set], global: Global) {
    let all = sets.iter().filter_map(|set| Some((&set.name, set.problem.as_deref()?)));
    let left_out = all.clone().map(|(name, problem)| (name, problem.data().left_out));
    let left_out: Vec<String> = left_out
        .filter(|(_, left_out)| !left_out.is_nothing())
        .map(|(name, left_out)| format!("data set `{name}`: left out: {left_out}"))
        .collect();
    let findings = all.flat_map(|(name, problem)| problem.findings().into_iter().map(move |what| (name, what)));
    let findings: Vec<String> = findings.map(|(name, what)| format!("data set `{name}`: {what}")).collect();
    shortened(&left_out).iter().filter(|_| !global.quiet).for_each(output::note);
    shortened(&findings).iter().for_each(output::warn);
}

/// Returns the first lines, and how many there are besides.
fn shortened(lines: &[String]) -> Vec<String> {
    let more = lines.len().saturating_sub(TOLD);
    let last = (more > 0).then(|| format!("{} of this kind on other data sets", counted(more, "line")));
    lines.iter().take(TOLD).cloned().chain(last).collect()
}

/// Returns the note on data sets that are complete before the batch begins, if there are any.
fn already(complete: usize) -> Option<String> {
    (complete > 0).then(|| format!("complete already, and not drawn again: {}", counted(complete, "data set")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_lines_the_first_are_told() {
        let lines = |count: usize| -> Vec<String> { (0..count).map(|line| line.to_string()).collect() };
        assert_eq!(shortened(&lines(10)), lines(10));
        for (all, more) in [(11, "1 line of"), (13, "3 lines of")] {
            let told = shortened(&lines(all));
            assert_eq!(told[..10], lines(10));
            assert_eq!(told[10..], [format!("{more} this kind on other data sets")]);
        }
    }

    #[test]
    fn data_sets_that_are_complete_are_told_if_there_are_any() {
        assert_eq!(already(0), None);
        assert_eq!(already(1).as_deref(), Some("complete already, and not drawn again: 1 data set"));
        assert_eq!(already(2).as_deref(), Some("complete already, and not drawn again: 2 data sets"));
    }
}
