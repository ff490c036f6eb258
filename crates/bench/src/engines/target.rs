//! The time that each engine takes to the PRD's quality target, which is R-hat and effective sample sizes of every
//! parameter. It is measured with the PRD's chains, and with the chains that `--strategy auto` takes for this target.
//!
//! The number of seeds, of which the median counts, stands here.

use crate::error::BenchError;
use crate::quality::{Quality, summary_of_run};
use octopus_density::LogDensity;
use octopus_device::DeviceChoice;
use octopus_diag::limits;
use octopus_report::Comparison;
use octopus_runs::{DrawsWanted, Goal, Placement, Reach, plan, posterior_of, reach};
use octopus_sampler::SamplerConfig;
use rayon::ThreadPool;
use std::time::Instant;

/// The number of runs, each with another seed, of which the median counts; [`QUICK_SEEDS`] with --quick.
const SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 1;

/// The time to the target on one engine with one strategy.
pub(super) struct Reached {
    engine: String,
    config: SamplerConfig,
    /// Whether these are the chains that `--strategy auto` takes.
    auto: bool,
    reach: Reach,
    quality: Quality,
}

/// An engine on which the time to the target is measured.
pub(super) struct TimedEngine<'a> {
    /// The engine's name: `CPU` or `GPU`.
    pub(super) name: &'a str,
    pub(super) place: &'a Placement,
    pub(super) choice: DeviceChoice,
    pub(super) pool: &'a ThreadPool,
}

impl TimedEngine<'_> {
    /// Measures the time with the settings' own chains, and with the chains that are best for the target.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn measure(
        &self,
        model: &dyn LogDensity,
        base: &SamplerConfig,
        quick: bool,
    ) -> Result<Vec<Reached>, BenchError> {
        let goal = Goal { target_ess: Some(limits::ESS), target_rhat: Some(limits::RHAT), ..Goal::default() };
        let wanted = DrawsWanted::new(base, &goal, false);
        let best = plan(base, wanted, model.dim(), self.choice)?.config;
        // The own chains may draw as much as the best ones, so that they reach the target also where R-hat takes long.
        let own = &SamplerConfig { draws: base.draws.max(best.draws), ..base.clone() };
        [(own, false), (&best, true)]
            .into_iter()
            .map(|(config, auto)| self.median(model, config, auto, quick))
            .collect()
    }

    fn median(
        &self,
        model: &dyn LogDensity,
        config: &SamplerConfig,
        auto: bool,
        quick: bool,
    ) -> Result<Reached, BenchError> {
        let seeds = if quick { QUICK_SEEDS } else { SEEDS };
        let run = |seed| self.once(model, SamplerConfig { seed, ..config.clone() }, auto);
        let mut all = (config.seed..config.seed + seeds).map(run).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let middle = all.len() / 2;
        all.into_iter().nth(middle).ok_or(BenchError::Nothing("no seed was asked for"))
    }

    fn once(&self, model: &dyn LogDensity, config: SamplerConfig, auto: bool) -> Result<Reached, BenchError> {
        self.pool.install(|| {
            let begin = Instant::now();
            let mut sampler = self.place.start(model, &config)?;
            let start_s = begin.elapsed().as_secs_f64();
            let mut found = None;
            let mut reach = reach(&mut sampler, |blocks| -> Result<bool, BenchError> {
                let summary = summary_of_run(&posterior_of(model, blocks)?, &config)?;
                Ok(found.insert(Quality::of(&summary.parameters)).converged())
            })?;
            reach.warmup_s += start_s;
            let quality = found.ok_or(BenchError::Nothing("nothing was drawn"))?;
            Ok(Reached { engine: self.name.to_owned(), config, auto, reach, quality })
        })
    }
}

impl Reached {
    fn seconds(&self) -> f64 {
        self.reach.warmup_s + self.reach.sampling_s
    }
}

/// Returns the table of all times to the target; `missing` is the reason where the GPU is missing.
pub(super) fn table(reached: &[Reached], missing: Option<&str>) -> Comparison {
    let row = |reached: &Reached| {
        let Reached { engine, config, auto, reach, quality } = reached;
        let Reach { warm_up, draws, warmup_s, sampling_s, .. } = reach;
        let strategy = config.strategy.name();
        let chains = format!("{}{strategy}, {} chains", if *auto { "auto: " } else { "" }, config.chains);
        let seconds = [reached.seconds(), *warmup_s, *sampling_s].map(|s| format!("{s:.4}"));
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
            if reach.met { "yes" } else { "no" }.into(),
        ]
    };
    let mut rows: Vec<Vec<String>> = reached.iter().map(row).collect();
    let columns = "engine | chains | wall s | warm-up s | sampling s | warm-up | draws | bulk ESS | tail ESS | R-hat | \
                   reached";
    if let Some(why) = missing {
        let mut row = vec!["-".to_owned(); columns.split(" | ").count()];
        (row[0], row[1]) = ("GPU".into(), format!("SKIPPED: {why}"));
        rows.push(row);
    }
    Comparison::new(
        "Time to the quality target",
        format!(
            "Until R-hat is below {rhat} and bulk and tail ESS are above {ess} for every parameter, warm-up \
             included; the median of several seeds. Warm-up and draws are those of each chain.",
            rhat = limits::RHAT,
            ess = limits::ESS,
        ),
        columns,
        rows,
    )
}
