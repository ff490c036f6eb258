//! One configuration, timed: repeats, each a batch of runs. Nothing is written while the clock runs.
//!
//! The numbers of repeats, their least seconds and the limit of the variation over repeats stand here.

use super::known::error_of_means;
use crate::error::BenchError;
use crate::quality::{Quality, summary_of_run};
use octopus_density::LogDensity;
use octopus_models::Problem;
use octopus_models::exact::Exact;
use octopus_report::{EngineRun, EngineTimes, Measured, Repeat};
use octopus_runs::{MemoryRun, Placement, posterior_of, sample_in_memory};
use octopus_sampler::{Begin, SamplerConfig};
use rayon::ThreadPool;
use std::time::Instant;

/// The number of repeats of an engine; [`QUICK_REPEATS`] with --quick.
const REPEATS: usize = 5;
const QUICK_REPEATS: usize = 2;
/// The least work in one repeat, in seconds: shorter runs are batched. Where the times vary too much, most likely
/// because of a neighbour on the machine, all repeats are timed again with the next, longer value, and the new times
/// count.
const REPEAT_SECONDS: [f64; 3] = [0.25, 0.5, 1.0];
/// The PRD's limit of the variation over repeats.
const MAX_VARIATION: f64 = 0.1;

/// The measurement of one configuration.
pub struct Measurement {
    /// The configuration and its times.
    pub run: EngineRun,
    /// The settings of the sampler.
    pub config: SamplerConfig,
    /// The quality of the draws.
    pub quality: Quality,
    /// The number of divergent transitions.
    pub divergences: u64,
    /// The root mean square error of the means, in exact standard deviations, where it was asked for.
    pub error: Option<f64>,
    /// The leapfrog steps for each draw after warm-up.
    pub leapfrogs_per_draw: f64,
    /// The number of runs in each repeat; a repeat's times are the means of its runs.
    pub batch: usize,
    /// How often the configuration was timed again because the times varied too much.
    pub again: usize,
}

impl Measurement {
    /// Returns the variation over the repeats; `None` for a single repeat.
    pub fn variation(&self) -> Option<f64> {
        self.run.result.value().and_then(EngineTimes::variation)
    }
}

/// A density that is timed, and what the report says of it.
#[derive(Clone, Copy)]
pub(super) struct Timed<'a> {
    pub(super) density: &'a dyn LogDensity,
    /// The form of the likelihood, where the model has several.
    pub(super) likelihood: Option<&'static str>,
    /// The number of groups of the data.
    pub(super) groups: usize,
}

impl<'a> Timed<'a> {
    /// Returns the density of a problem.
    pub(super) fn of(problem: &'a dyn Problem) -> Self {
        Self { density: problem.density(), likelihood: problem.likelihood(), groups: problem.data().groups }
    }
}

/// A configuration to time, and the place where it runs.
pub(super) struct Case<'a> {
    pub(super) setting: String,
    pub(super) model: Timed<'a>,
    pub(super) config: &'a SamplerConfig,
    pub(super) place: &'a Placement,
    pub(super) pool: &'a ThreadPool,
}

impl Case<'_> {
    /// Times the case with the repeats of an engine, and again with longer ones while the times vary too much; with
    /// --quick once.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn measure_until_steady(
        &self,
        quick: bool,
        quality: &mut Option<Quality>,
    ) -> Result<Measurement, BenchError> {
        let repeats = if quick { QUICK_REPEATS } else { REPEATS };
        let mut measured = self.measure(repeats, REPEAT_SECONDS[0], quality)?;
        for (again, seconds) in REPEAT_SECONDS.into_iter().enumerate().skip(1) {
            if quick || measured.variation().is_none_or(|variation| variation < MAX_VARIATION) {
                break;
            }
            measured = Measurement { again, ..self.measure(repeats, seconds, quality)? };
        }
        Ok(measured)
    }

    /// Times the case, and computes the quality of its draws unless it is known.
    ///
    /// # Errors
    /// When a run fails.
    pub(super) fn measure(
        &self,
        repeats: usize,
        seconds: f64,
        quality: &mut Option<Quality>,
    ) -> Result<Measurement, BenchError> {
        self.measure_against(None, repeats, seconds, quality)
    }

    /// Times the case like [`measure`](Self::measure), and with `exact` also computes the error of the means.
    pub(super) fn measure_against(
        &self,
        exact: Option<&dyn Exact>,
        repeats: usize,
        seconds: f64,
        quality: &mut Option<Quality>,
    ) -> Result<Measurement, BenchError> {
        let density = self.model.density;
        // This run lets caches, clocks and the allocator settle, has a GPU's driver compile what it must, and tells how many
        // runs a repeat needs.
        let begin = Instant::now();
        sample_in_memory(density, Begin::Anew(self.config.clone()), self.place, self.pool)?;
        let batch = (seconds / begin.elapsed().as_secs_f64()).ceil().clamp(1.0, 1000.0) as usize;
        let mut times = Vec::with_capacity(repeats);
        let mut last: Option<MemoryRun> = None;
        for _ in 0..repeats {
            let (mut warmup_s, mut sampling_s) = (0.0, 0.0);
            for _ in 0..batch {
                // The last run's draws are freed while the clock stands still, since a user would keep them.
                drop(last.take());
                let run = sample_in_memory(density, Begin::Anew(self.config.clone()), self.place, self.pool)?;
                warmup_s += run.warmup_s / batch as f64;
                sampling_s += run.sampling_s / batch as f64;
                last = Some(run);
            }
            times.push(Repeat { wall_s: warmup_s + sampling_s, warmup_s, sampling_s });
        }
        let run = last.ok_or(BenchError::Nothing("no repeat was asked for"))?;
        let (quality, error) = match (*quality, exact) {
            (Some(quality), None) => (quality, None),
            (_, exact) => {
                let summary = summary_of_run(&posterior_of(density, &run.blocks)?, self.config)?;
                let error = exact.map(|exact| error_of_means(density, &summary, exact));
                (*quality.insert(Quality::of(&summary.parameters)), error)
            }
        };
        let (config, gpu) = (self.config, !self.place.is_cpu());
        let Quality { min_ess_bulk, max_rhat, .. } = quality;
        let result = EngineTimes { repeats: times, leapfrogs: run.tally.leapfrogs, min_ess_bulk, max_rhat };
        Ok(Measurement {
            run: EngineRun {
                engine: if gpu { "GPU" } else { "CPU" }.into(),
                gpu,
                setting: self.setting.clone(),
                likelihood: self.model.likelihood.map(str::to_owned),
                groups: self.model.groups,
                observations: density.observations(),
                chains: config.chains,
                draws: config.draws,
                tune: config.tune,
                result: Measured::Value(result),
            },
            config: config.clone(),
            quality,
            divergences: run.tally.divergences,
            error,
            leapfrogs_per_draw: run.tally.sampling_leapfrogs as f64 / (config.chains * config.draws) as f64,
            batch,
            again: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Layout, Role, Transform, Variable};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A standard normal that counts its evaluations.
    struct Counted {
        layout: Layout,
        evaluations: AtomicUsize,
    }

    impl LogDensity for Counted {
        fn dim(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            self.evaluations.fetch_add(1, Ordering::Relaxed);
            gradient[0] = -x[0];
            Ok(-0.5 * x[0] * x[0])
        }

        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(x);
        }

        fn name(&self) -> &str {
            "normal"
        }
    }

    /// A first run, in which memory is touched and kernels are compiled, comes before those that count, however few.
    #[test]
    fn the_first_run_does_not_count() {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let x = Variable { name: "x".into(), dims: Vec::new(), role };
        let density = Counted { layout: Layout { variables: vec![x] }, evaluations: AtomicUsize::new(0) };
        let pool = octopus_runs::pool(Some(1)).unwrap();
        let config = SamplerConfig { tune: 100, draws: 50, ..SamplerConfig::default() };
        sample_in_memory(&density, Begin::Anew(config.clone()), &Placement::Cpu, &pool).unwrap();
        let of_a_run = density.evaluations.swap(0, Ordering::Relaxed);
        let model = Timed { density: &density, likelihood: None, groups: 1 };
        let case = Case { setting: "CPU".into(), model, config: &config, place: &Placement::Cpu, pool: &pool };
        for repeats in [1, 3] {
            let measured = case.measure(repeats, 0.0, &mut None).unwrap();
            assert_eq!(measured.run.result.value().map(|times| times.repeats.len()), Some(repeats));
            assert_eq!(density.evaluations.swap(0, Ordering::Relaxed), (1 + repeats) * of_a_run, "{repeats}");
        }
    }
}
