//! `octopus sweep MODEL` runs one data set under many seeds.
//!
//! How many lost runs are named stands here.

use super::sample::tell_of_data;
use crate::args::{Global, SweepArgs};
use crate::calibration::setting_in_options;
use crate::config::RunConfig;
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Countdown;
use anyhow::{Result, bail};
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

/// Runs one data set under many seeds and counts the runs that have not converged.
///
/// # Errors
/// When the data or settings cannot be used, a run fails, or the file cannot be written.
pub(crate) fn run(args: SweepArgs, global: Global) -> Result<Exit> {
    let (seeds, out) = (args.seeds, args.out.clone());
    let asked = args.into_sample();
    let model = global.models.find(&asked.model)?;
    let mut config = RunConfig::from_args(&asked, model, global.models)?;
    config.without_particles("octopus sweep")?;
    config.of_draws_alone("sweep")?;
    config.on_cpu_alone("sweep")?;
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
    let found = sweep.run(density, &config.sampler)?;
    let Some(found) = found else {
        output::note("interrupted: nothing is kept of a sweep");
        return Ok(Exit::Interrupted);
    };
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
    /// Makes all runs; returns `None` when the user has stopped them.
    fn run(&self, density: &dyn LogDensity, sampler: &SamplerConfig) -> Result<Option<SeedSweep>> {
        let Some(end) = sampler.seed.checked_add(self.seeds) else {
            bail!(UsageError(format!("--seeds {}: there are not so many from --seed {} on", self.seeds, sampler.seed)));
        };
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
        Ok(Some(SeedSweep::count(&runs, sampler, density.layout().width() + 1)))
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
        sweep.run(problem.density(), sampler).unwrap()
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
