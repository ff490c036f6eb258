//! How long each engine takes to the PRD's quality target, R-hat and effective sample sizes of every parameter: with the
//! PRD's chains, and with those that `--strategy auto` takes for it.

use super::benchmark::{Quality, quality_of};
use super::diagnose::{MAX_RHAT, MIN_ESS};
use super::tables::words;
use crate::auto::{Costs, Wanted, plan};
use crate::collect::InMemory;
use crate::output;
use crate::place::Place;
use crate::progress::Tally;
use crate::work::Demand;
use anyhow::{Context, Result};
use octopus_density::{HierarchicalNormal, LogDensity};
use octopus_device::DeviceChoice;
use octopus_report::Comparison;
use octopus_sampler::{Phase, SamplerConfig, Strategy};
use octopus_trace::Goal;
use rayon::ThreadPool;
use std::time::{Duration, Instant};

/// Runs of different seeds, of which the median counts; fewer with --quick.
const SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 1;

/// One engine with one strategy.
pub(super) struct Reached {
    engine: String,
    config: SamplerConfig,
    warmup_s: f64,
    sampling_s: f64,
    /// Iterations of warm-up, and draws, of each chain.
    iterations: (usize, usize),
    quality: Quality,
}

/// Where it is measured.
pub(super) struct Engine<'a> {
    /// `CPU` or `GPU`.
    pub(super) name: &'a str,
    pub(super) place: &'a Place,
    pub(super) choice: DeviceChoice,
    pub(super) costs: &'a Costs,
    pub(super) pool: &'a ThreadPool,
}

impl Engine<'_> {
    /// Measures the settings' own chains, and those that are best for the target.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn measure(
        &self,
        model: &HierarchicalNormal,
        base: &SamplerConfig,
        quick: bool,
    ) -> Result<Vec<Reached>> {
        let goal = Goal { target_ess: Some(MIN_ESS), target_rhat: Some(MAX_RHAT), ..Goal::default() };
        let wanted = Wanted::of(base, &goal, false);
        let best =
            plan(base, wanted, model.dim(), self.choice, &|config| Demand::of_run(model, config), self.costs)?.config;
        // As many draws as it takes, also where R-hat takes long.
        let own = &SamplerConfig { draws: base.draws.max(best.draws), ..base.clone() };
        [own, &best].into_iter().map(|config| self.median(model, config, quick)).collect()
    }

    fn median(&self, model: &HierarchicalNormal, config: &SamplerConfig, quick: bool) -> Result<Reached> {
        let seeds = if quick { QUICK_SEEDS } else { SEEDS };
        let run = |seed| self.reach(model, SamplerConfig { seed, ..config.clone() });
        let mut all = (config.seed..config.seed + seeds).map(run).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let middle = all.len() / 2;
        all.into_iter().nth(middle).context("no seed was asked for")
    }

    /// Draws until the target is met. The clock stands still while the draws are looked at, which a run with a goal does
    /// beside the sampling.
    fn reach(&self, model: &HierarchicalNormal, config: SamplerConfig) -> Result<Reached> {
        self.pool.install(|| {
            let begin = Instant::now();
            let mut sampler = self.place.start(model, &config, &mut |step| output::warn(step.to_string()))?;
            let mut run = InMemory { blocks: Vec::new(), warmup_s: 0.0, sampling_s: 0.0, tally: Tally::default() };
            while sampler.warm_up().is_none() && sampler.advance(usize::MAX)?.is_some() {}
            run.warmup_s = begin.elapsed().as_secs_f64();
            let warm_up = sampler.warm_up().unwrap_or(0);
            let mut look = if config.strategy == Strategy::ManyShort { 1 } else { 50 };
            let (mut drawn, mut sampling) = (0, Duration::ZERO);
            loop {
                let begin = Instant::now();
                let block = sampler.advance(look - drawn)?;
                sampling += begin.elapsed();
                let ended = block.is_none();
                for block in block.into_iter().filter(|block| block.phase == Phase::Sampling) {
                    drawn += block.draws;
                    run.tally.add(&block);
                    run.blocks.push(block);
                }
                if drawn < look && !ended {
                    continue;
                }
                let quality = quality_of(model, &run, &config)?;
                if quality.converged() || ended {
                    let (warmup_s, sampling_s) = (run.warmup_s, sampling.as_secs_f64());
                    let (engine, iterations) = (self.name.to_owned(), (warm_up, drawn));
                    return Ok(Reached { engine, config, warmup_s, sampling_s, iterations, quality });
                }
                look += look.div_ceil(4);
            }
        })
    }
}

impl Reached {
    fn seconds(&self) -> f64 {
        self.warmup_s + self.sampling_s
    }
}

/// All of them, and why engines are missing.
pub(super) fn table(reached: &[Reached], missing: Option<&str>) -> Comparison {
    let row = |reached: &Reached| {
        let Reached { engine, config, iterations: (warm_up, draws), quality, .. } = reached;
        let chains = match config.strategy {
            Strategy::FourLong => format!("four-long, {} chains", config.chains),
            Strategy::ManyShort => format!("auto: many-short, {} chains", config.chains),
        };
        let seconds = [reached.seconds(), reached.warmup_s, reached.sampling_s].map(|s| format!("{s:.4}"));
        let [wall, warmup, sampling] = seconds;
        vec![
            engine.clone(),
            chains,
            wall,
            warmup,
            sampling,
            warm_up.to_string(),
            draws.to_string(),
            format!("{:.0}", quality.min_ess_bulk),
            format!("{:.0}", quality.min_ess_tail),
            format!("{:.4}", quality.max_rhat),
            if quality.converged() { "yes" } else { "no" }.into(),
        ]
    };
    let mut rows: Vec<Vec<String>> = reached.iter().map(row).collect();
    let columns = words(&[
        "engine",
        "chains",
        "wall s",
        "warm-up s",
        "sampling s",
        "warm-up",
        "draws",
        "bulk ESS",
        "tail ESS",
        "R-hat",
        "reached",
    ]);
    if let Some(why) = missing {
        let mut row = vec!["-".to_owned(); columns.len()];
        (row[0], row[1]) = ("GPU".into(), format!("SKIPPED: {why}"));
        rows.push(row);
    }
    Comparison {
        title: "Time to the quality target".into(),
        note: format!(
            "Until R-hat is below {MAX_RHAT} and bulk and tail ESS are above {MIN_ESS} for every parameter, warm-up \
             included; the median of several seeds. Warm-up and draws are those of each chain."
        ),
        columns,
        rows,
    }
}
