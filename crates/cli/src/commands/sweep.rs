//! `octopus sweep MODEL` runs one data set under many seeds.
//!
//! How many lost runs are named, and how many runs are claimed together, stand here.

use super::sample::tell_of_data;
use crate::args::{Global, ShareArgs, SweepArgs};
use crate::calibration::setting_in_options;
use crate::config::RunConfig;
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Countdown;
use crate::share::{KeptKind, OutcomeTable, Outcomes, SharedWork, tell_share};
use anyhow::{Context, Result};
use octopus::model_record;
use octopus_calibrate::{SeedRun, SeedSweep, sweep_bytes, sweep_seeds};
use octopus_density::LogDensity;
use octopus_diag::{counted, limits};
use octopus_files::{WithInfinities, write_named};
use octopus_runs::MemoryNeed;
use octopus_sampler::SamplerConfig;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// The most lost runs that are named.
const NAMED: usize = 10;
/// The number of runs that are claimed together: some seconds of work, so that claims cost little.
const BLOCK: usize = 16;
/// The result in the folder of a sweep.
const RESULT: &str = "sweep.json";
const KIND: KeptKind = KeptKind { work: "sweep", table: SeedTable::NAME, results: &[RESULT] };

/// Whether a path in the folder of a sweep is the sweep's.
pub(crate) fn is_of_a_sweep(path: &Path) -> bool {
    KIND.owns(path)
}

/// Runs one data set under many seeds and counts the runs that have not converged.
///
/// # Errors
/// When the data or settings cannot be used, a run fails, or the file cannot be written.
pub(crate) fn run(args: SweepArgs, global: Global) -> Result<Exit> {
    let (seeds, out, keep, share) = (args.seeds, args.out.clone(), args.keep.clone(), args.share.clone());
    let asked = args.into_sample();
    let model = global.models.find(&asked.model)?;
    let mut config = RunConfig::from_args(&asked, model, global.models)?;
    config.without_particles("octopus sweep")?;
    config.of_draws_alone("sweep")?;
    config.on_cpu_alone("sweep")?;
    share.without_auto(config.auto.is_some())?;
    let problem = config.problem(model)?;
    tell_of_data(&*problem, global);
    let (density, data) = (problem.density(), problem.data().source.clone());
    let pool = octopus_runs::pool(asked.machine.threads)?;
    let threads = pool.current_num_threads();
    let sweep = Sweep { seeds, threads, quiet: global.quiet, interrupt: Interrupt::listen() };
    let mut request = config.request(&asked.machine)?;
    request.settle_strategy(density)?;
    config.sampler = request.sampler;
    sweep_need(density, &config.sampler, threads.min(usize::try_from(seeds).unwrap_or(usize::MAX))).check()?;
    let (found, out) = match keep {
        None => {
            let Some(runs) = sweep.run(density, &config.sampler)? else {
                output::note("interrupted: nothing is kept of a sweep without --keep");
                return Ok(Exit::Interrupted);
            };
            (runs, out)
        }
        Some(folder) => {
            let (record, data) = (model_record(&*problem), problem.data());
            let settings = json!({ "schema": 1, "model": record, "data": data, "sampler": config.sampler });
            let kept = KIND.open(&folder, &settings, false, share.is_shared()).context("--keep")?;
            let stop = || sweep.interrupt.asked();
            let work = sweep.work(&folder, &share, config.sampler.seed, &stop)?;
            let mut outcomes = Outcomes::open(&folder, SeedTable, &work.label())?;
            let is_complete = work.find(&mut outcomes, &mut |numbers, keep| {
                sweep_seeds(density, &config.sampler, numbers, threads, &stop, keep).map_err(setting_in_options)
            })?;
            let there: Vec<SeedRun> =
                outcomes.found().range(work.first..work.first + seeds).map(|(_, run)| run.clone()).collect();
            if !is_complete {
                output::note(format!(
                    "interrupted: {} of {seeds} runs are kept, the same command goes on",
                    there.len()
                ));
                return Ok(Exit::Interrupted);
            }
            if share.is_shared() {
                return tell_share(&folder, &share, ("runs", work.all, there.len()), global.json);
            }
            outcomes.finish()?;
            (there, Some(kept.join(RESULT)))
        }
    };
    let found = SeedSweep::count(&found, &config.sampler, density.layout().width() + 1);
    let good = found.good();
    let result = json!({
        "schema": 1,
        "model": asked.model,
        "data": data,
        "sampler": config.sampler,
        "octopus": env!("CARGO_PKG_VERSION"),
        "good": good,
        "sweep": WithInfinities(&found),
    });
    if let Some(path) = &out {
        write_result(path, &result)?;
    }
    if global.json {
        output::print_json(&result)?;
    } else {
        output::print(&text(&found, &config.sampler, &data))?;
    }
    Ok(if good { Exit::Fine } else { Exit::Bad })
}

/// Returns what as many runs at once take of the memory.
fn sweep_need(density: &dyn LogDensity, sampler: &SamplerConfig, at_once: usize) -> MemoryNeed {
    let SamplerConfig { chains, draws, .. } = *sampler;
    MemoryNeed {
        what: format!("--chains {chains} --draws {draws}: {} at once", counted(at_once, "run")),
        bytes: sweep_bytes(density, sampler, at_once),
        advice: "ask for fewer --chains, --draws or --threads, or a shorter --tune".to_owned(),
    }
}

fn write_result(path: &Path, result: &Value) -> Result<()> {
    let mut text = serde_json::to_string_pretty(&WithInfinities(result))?;
    text.push('\n');
    write_named(path, text.as_bytes())?;
    Ok(())
}

struct Sweep {
    seeds: u64,
    threads: usize,
    quiet: bool,
    interrupt: Interrupt,
}

impl Sweep {
    /// The runs as pieces of work in a folder.
    fn work<'a>(
        &self,
        folder: &'a Path,
        share: &'a ShareArgs,
        first: u64,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<SharedWork<'a>> {
        self.end(first)?;
        let all = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        Ok(SharedWork { folder, share, all, first, pieces: "runs", block: BLOCK, quiet: self.quiet, stop })
    }

    /// The seed after the last one.
    fn end(&self, first: u64) -> Result<u64> {
        let too_many = || UsageError(format!("--seeds {}: there are not so many from --seed {first} on", self.seeds));
        Ok(first.checked_add(self.seeds).ok_or_else(too_many)?)
    }

    /// Makes all runs, by seed; returns `None` when the user has stopped them.
    fn run(&self, density: &dyn LogDensity, sampler: &SamplerConfig) -> Result<Option<Vec<SeedRun>>> {
        let end = self.end(sampler.seed)?;
        let all = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        let mut countdown = Countdown::begin(all, "runs", self.quiet, Instant::now());
        let mut runs: Vec<SeedRun> = Vec::new();
        let mut keep = |run| {
            runs.push(run);
            countdown.one_more(Instant::now()).iter().for_each(output::note);
            Ok::<(), std::convert::Infallible>(())
        };
        sweep_seeds(density, sampler, sampler.seed..end, self.threads, &|| self.interrupt.asked(), &mut keep)
            .map_err(setting_in_options)?;
        if (runs.len() as u64) < self.seeds {
            return Ok(None);
        }
        runs.sort_by_key(|run| run.seed);
        Ok(Some(runs))
    }
}

/// The table of outcomes, `runs.csv`.
struct SeedTable;

impl OutcomeTable for SeedTable {
    type Outcome = SeedRun;
    const NAME: &'static str = "runs";
    const PIECES: &'static str = "its runs";

    fn number(outcome: &SeedRun) -> u64 {
        outcome.seed
    }

    fn write(&self, outcomes: &[SeedRun]) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        outcomes.iter().try_for_each(|run| writer.serialize(run))?;
        Ok(writer.into_inner()?)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<SeedRun>> {
        Ok(csv::Reader::from_reader(bytes).deserialize().collect::<Result<_, _>>()?)
    }
}

fn text(found: &SeedSweep, sampler: &SamplerConfig, data: &str) -> String {
    let SeedSweep { runs, unfit, chance, lost, diverging, divergences, saturated, .. } = found;
    let nested = if sampler.nested().is_some() { "nested R-hat" } else { "R-hat" };
    let mut text = format!("{runs} runs of {}\non {data}\n", octopus_runs::describe(sampler));
    text += &format!("{nested}: median {:.4}, largest {:.4}\n", found.median_rhat, found.largest_rhat);
    text += &format!(
        "at {} or above: {unfit} runs (independent draws: at most {:.2})\n",
        limits::RHAT,
        chance * *runs as f64
    );
    text += &format!("above 1.05: {lost} runs\n");
    text += &format!("with divergences: {diverging} runs ({divergences} divergences)\n");
    text += &format!("trajectories cut at the depth limit: {saturated}\n");
    text += &format!(
        "leapfrog steps: {:.0} of a run's warm-up, {:.2} of a draw\n",
        found.warm_up_leapfrogs, found.leapfrogs_a_draw
    );
    for run in found.worst.iter().take(NAMED) {
        let SeedRun { seed, rhat, quantity, divergences, step_size, .. } = run;
        text += &format!(
            "LOST  seed {seed}: R-hat {rhat:.2} of {quantity}, {divergences} divergences, smallest step size {step_size:.1e}\n"
        );
    }
    text += if found.good() { "good: every chain of every run arrived" } else { "BAD: chains were lost" };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::Registry;
    use octopus_sampler::Strategy;
    use std::sync::atomic::AtomicBool;

    fn swept(sampler: &SamplerConfig, asked: &'static AtomicBool) -> Option<SeedSweep> {
        let problem = Registry::shipped().find("eight-schools").unwrap().build(&toml::Table::new(), None).unwrap();
        let sweep = Sweep { seeds: 3, threads: 1, quiet: true, interrupt: Interrupt::by_flag(asked) };
        let runs = sweep.run(problem.density(), sampler).unwrap()?;
        Some(SeedSweep::count(&runs, sampler, problem.density().layout().width() + 1))
    }

    /// The quantities of eight schools: mu, tau, theta and theta_trans of eight each, and the log density.
    #[test]
    fn chance_is_that_of_all_quantities_and_a_stopped_sweep_is_none() {
        static GOES_ON: AtomicBool = AtomicBool::new(false);
        static STOPS: AtomicBool = AtomicBool::new(true);
        let sampler = SamplerConfig { draws: 200, tune: 100, ..SamplerConfig::default() };
        let found = swept(&sampler, &GOES_ON).unwrap();
        let of_one = SeedSweep::count(&[], &sampler, 1).chance;
        assert_eq!(found.runs, 3);
        assert!((found.chance / of_one - 19.0).abs() < 1e-9 && found.chance < 1.0, "{} {of_one}", found.chance);
        assert_eq!(swept(&sampler, &STOPS), None);
        for (strategy, name) in [(Strategy::FourLong, "R-hat: median"), (Strategy::ManyShort, "nested R-hat: median")] {
            let shown = text(&found, &SamplerConfig { strategy, ..sampler.clone() }, "these data");
            assert!(shown.lines().nth(2).is_some_and(|line| line.starts_with(name)), "{shown}");
        }
    }

    /// Also an infinite R-hat, a name with a comma, and numbers that no decimal is short for.
    #[test]
    fn outcomes_come_back_to_the_bit() {
        let run = SeedRun {
            seed: u64::MAX,
            rhat: f64::INFINITY,
            quantity: "theta[a, \"b\"]".to_owned(),
            divergences: 2,
            saturated: 1,
            step_size: 0.1 + 0.2,
            warm_up: 100,
            warm_up_leapfrogs: 500,
            leapfrogs: 900,
        };
        let runs = [run.clone(), SeedRun { seed: 3, rhat: 1.0 + 1.0 / 3.0, step_size: 5e-324, ..run }];
        let bytes = SeedTable.write(&runs).unwrap();
        assert_eq!(SeedTable.read(&bytes).unwrap(), runs);
        let text = String::from_utf8(bytes).unwrap();
        assert!(SeedTable.read(text.replace(",900", "").as_bytes()).is_err(), "half a line is no line");
        assert!(SeedTable.read(text.replace("rhat", "r_hat").as_bytes()).is_err(), "other columns");
    }

    #[test]
    fn ten_lost_runs_are_named() {
        let sampler = SamplerConfig::default();
        let run = |seed| SeedRun {
            seed,
            rhat: 1.5,
            quantity: "mu".to_owned(),
            divergences: 2,
            saturated: 0,
            step_size: 0.125,
            warm_up: 100,
            warm_up_leapfrogs: 500,
            leapfrogs: 900,
        };
        for (lost, named) in [(9, 9), (10, 10), (13, 10)] {
            let found = SeedSweep { worst: (0..lost).map(run).collect(), ..SeedSweep::count(&[], &sampler, 1) };
            let shown = text(&found, &sampler, "these data");
            let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("LOST")).collect();
            assert_eq!(lines.len(), named, "{shown}");
            assert_eq!(lines[0], "LOST  seed 0: R-hat 1.50 of mu, 2 divergences, smallest step size 1.2e-1");
        }
    }
}
