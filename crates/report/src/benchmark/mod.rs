//! Times of engines and settings, what follows from them (median of the repeats, variation, speed-up), and what the PRD
//! expects.

mod posterior;
mod text;

pub(crate) use text::{EXPECTATION_COLUMNS, TIMING_COLUMNS, data_facts, machine_facts, report_text, settings_facts};

use serde::{Deserialize, Serialize};

use crate::format::count;
use crate::measured::Measured;
use crate::nullable;

/// Everything that was timed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// One entry for each engine, setting and problem.
    pub runs: Vec<EngineRun>,
    /// Speed-ups by each definition.
    pub speedups: Vec<Speedup>,
    /// Whether these are times of another problem than the PRD's, of which the PRD expects nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_model: bool,
}

/// One engine with one setting on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRun {
    /// `CPU`, `GPU`, or a peer such as `PyMC 5.26`.
    pub engine: String,
    /// Whether the engine ran on a GPU.
    pub gpu: bool,
    /// The setting that tells this run from others of the engine: `2 threads, collapsed`.
    pub setting: String,
    /// The form in which the likelihood was evaluated, where the model has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<String>,
    /// The number of groups of the data.
    pub groups: usize,
    /// The number of observations of the data.
    pub observations: usize,
    /// The number of chains.
    pub chains: usize,
    /// The number of draws kept of each chain.
    pub draws: usize,
    /// The number of warm-up iterations of each chain.
    pub tune: usize,
    /// The times, or why there are none.
    pub result: Measured<EngineTimes>,
}

/// Times of a run and its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineTimes {
    /// One entry for each repeat, at least one.
    pub repeats: Vec<Repeat>,
    /// Leapfrog steps of one run, all chains, warm-up included.
    pub leapfrogs: u64,
    /// The smallest bulk effective sample size of all parameters.
    #[serde(with = "nullable")]
    pub min_ess_bulk: f64,
    /// The largest R-hat of all parameters; NaN in a report that is older than this field.
    #[serde(with = "nullable", default = "nullable::nan")]
    pub max_rhat: f64,
}

/// One timed run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// The time from the start of warm-up to the last draw.
    pub wall_s: f64,
    /// The part of `wall_s` before the first kept draw.
    pub warmup_s: f64,
    /// The rest of `wall_s`.
    pub sampling_s: f64,
}

/// A definition of what a speed-up compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedupDefinition {
    /// (a) The PRD's own definition: wall time of the same 4 chains, by the same algorithm on both devices.
    IdenticalConfiguration,
    /// (b) All CPU cores against the whole GPU, each with its best chain strategy; this one decides.
    WholeDevice,
    /// (c) Against the PRD's own baselines, PyMC and NumPyro, and other frameworks: effective draws a second in one run of a
    /// suite, whose machine and cores are named.
    Baselines,
}

impl SpeedupDefinition {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::IdenticalConfiguration, Self::WholeDevice, Self::Baselines];

    /// Describes in words what is compared.
    pub fn words(self) -> &'static str {
        match self {
            Self::IdenticalConfiguration => "(a) the PRD's own: wall time of the same 4 chains, same algorithm",
            Self::WholeDevice => {
                "(b) whole device: min-ESS/s, all cores against the whole GPU (decides P0.4, P1.1, P2.1)"
            }
            Self::Baselines => {
                "(c) against other frameworks, such as PyMC and NumPyro, by a suite (--peers): min-ESS/s"
            }
        }
    }

    /// Describes in words what is compared for a model of which the PRD asks nothing; `None` where nothing is.
    fn words_of_other_model(self) -> Option<&'static str> {
        match self {
            Self::IdenticalConfiguration => Some("(a) wall time of the same chains, same algorithm"),
            Self::WholeDevice => Some("(b) whole device: min-ESS/s, all cores against the whole GPU"),
            Self::Baselines => None,
        }
    }
}

/// A ratio of two measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// The definition by which the measurements are compared.
    pub definition: SpeedupDefinition,
    /// The settings that are compared, e.g. `100 groups, pointwise`.
    pub what: String,
    /// The speed-up as a ratio, or the reason why it is not known.
    pub ratio: Measured<f64>,
}

/// The PRD's expectation for a problem size, on its reference GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The number of groups, of ten observations each.
    pub groups: usize,
    /// The range of the wall time on the CPU in seconds.
    pub cpu_s: (f64, f64),
    /// The range of the wall time on the GPU in seconds.
    pub gpu_s: (f64, f64),
    /// The range of the speed-up.
    pub speedup: (f64, f64),
}

/// The PRD's chains.
const CHAINS: usize = 4;

/// The PRD's table; its reference GPU is an RTX A6000 (48 GB, CUDA 12.4, 38.7 TFLOPS f32).
pub const EXPECTATIONS: [Expectation; 3] = [
    Expectation { groups: 100, cpu_s: (60.0, 120.0), gpu_s: (15.0, 30.0), speedup: (3.0, 8.0) },
    Expectation { groups: 500, cpu_s: (300.0, 600.0), gpu_s: (60.0, 120.0), speedup: (5.0, 10.0) },
    Expectation { groups: 1000, cpu_s: (900.0, 1800.0), gpu_s: (120.0, 240.0), speedup: (8.0, 15.0) },
];

impl EngineTimes {
    /// Returns the median wall time in seconds, NaN without a repeat.
    pub fn wall_s(&self) -> f64 {
        self.median(|repeat| repeat.wall_s)
    }

    /// Returns the median warm-up time in seconds.
    pub fn warmup_s(&self) -> f64 {
        self.median(|repeat| repeat.warmup_s)
    }

    /// Returns the median sampling time in seconds.
    pub fn sampling_s(&self) -> f64 {
        self.median(|repeat| repeat.sampling_s)
    }

    /// Returns the coefficient of variation of the wall time over the repeats (sd with n - 1, over the mean); `None`
    /// below two.
    pub fn variation(&self) -> Option<f64> {
        let n = self.repeats.len() as f64;
        if n < 2.0 {
            return None;
        }
        let mean = self.repeats.iter().map(|repeat| repeat.wall_s).sum::<f64>() / n;
        let squares: f64 = self.repeats.iter().map(|repeat| (repeat.wall_s - mean).powi(2)).sum();
        Some((squares / (n - 1.0)).sqrt() / mean)
    }

    /// Returns the smallest bulk ESS for each second of wall time, warm-up included.
    pub fn min_ess_per_s(&self) -> f64 {
        self.min_ess_bulk / self.wall_s()
    }

    fn median(&self, of: impl Fn(&Repeat) -> f64) -> f64 {
        let mut values: Vec<f64> = self.repeats.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        octopus_diag::quantile_of_sorted(&values, 0.5)
    }
}

impl EngineRun {
    /// Returns the number of kept draws of all chains.
    pub fn samples(&self) -> usize {
        self.chains * self.draws
    }

    /// Returns the size of the data in words, e.g. `100 groups`.
    pub fn size(&self) -> String {
        size_name(self.groups)
    }

    /// Returns whether two runs are of the same chains of the same model, by whatever engine.
    pub fn alike(&self, other: &Self) -> bool {
        let of = |run: &Self| (run.groups, run.chains, run.tune, run.draws, run.likelihood.clone());
        of(self) == of(other)
    }

    pub(crate) fn problem(&self) -> String {
        let groups =
            if self.groups == 1 { "1 group".to_owned() } else { format!("{} groups", count(self.groups as u64)) };
        format!("{groups}, {} obs.", count(self.observations as u64))
    }
}

/// Returns a number of groups in words, e.g. `100 groups`.
pub fn size_name(groups: usize) -> String {
    format!("{groups} group{}", if groups == 1 { "" } else { "s" })
}

impl Benchmark {
    /// Returns the definitions by which speed-ups are compared, each with its words.
    pub(crate) fn definitions(&self) -> Vec<(SpeedupDefinition, &'static str)> {
        let words = |definition: SpeedupDefinition| {
            if self.other_model { definition.words_of_other_model() } else { Some(definition.words()) }
        };
        SpeedupDefinition::ALL.into_iter().filter_map(|definition| Some((definition, words(definition)?))).collect()
    }

    /// Returns what the PRD expects of the times; of those of another model it expects nothing.
    pub(crate) fn expectations(&self) -> &'static [Expectation] {
        if self.other_model { &[] } else { &EXPECTATIONS }
    }

    /// Returns the shortest median wall time at `groups` on a GPU or not, of the PRD's chains: runs of many short ones
    /// are not what its table is about.
    fn best_wall(&self, groups: usize, gpu: bool) -> Option<f64> {
        let of = |run: &EngineRun| run.groups == groups && run.gpu == gpu && run.chains == CHAINS;
        self.fastest(of).map(|(_, times)| times.wall_s())
    }

    /// Returns the run with the shortest median wall time of those that `of` chooses.
    fn fastest(&self, of: impl Fn(&EngineRun) -> bool) -> Option<(&EngineRun, &EngineTimes)> {
        let timed = self.runs.iter().filter(|run| of(run)).filter_map(|run| Some((run, run.result.value()?)));
        timed.min_by(|a, b| a.1.wall_s().total_cmp(&b.1.wall_s()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(walls: &[f64]) -> EngineTimes {
        let repeats = walls.iter().map(|&wall_s| Repeat { wall_s, warmup_s: 0.4 * wall_s, sampling_s: 0.6 * wall_s });
        EngineTimes { repeats: repeats.collect(), leapfrogs: 1000, min_ess_bulk: 600.0, max_rhat: 1.002 }
    }

    #[test]
    fn medians_variation_and_rates() {
        let found = times(&[1.0, 3.0, 2.0]);
        assert_eq!(found.wall_s(), 2.0);
        assert_eq!(found.variation(), Some(0.5), "sd 1, mean 2");
        assert_eq!(found.min_ess_per_s(), 300.0);
        let two = times(&[1.0, 3.0]).variation().unwrap();
        assert!((two - 0.5f64.sqrt()).abs() < 1e-12, "sd √2, mean 2: {two}");
        assert_eq!(times(&[1.0]).variation(), None);
        assert!(times(&[]).wall_s().is_nan());
    }

    /// What is printed at the end: the fastest of the run's own chains on each side, and how they compare.
    #[test]
    fn the_terminal_has_the_best_times_of_the_same_chains() {
        let run = |gpu: bool, setting: &str, chains: usize, walls: &[f64]| EngineRun {
            engine: if gpu { "GPU" } else { "CPU" }.to_owned(),
            gpu,
            setting: setting.to_owned(),
            likelihood: None,
            groups: 100,
            observations: 1000,
            chains,
            draws: 2000,
            tune: 1000,
            result: Measured::Value(times(walls)),
        };
        let cpu =
            vec![run(false, "1 thread", 4, &[2.0]), run(false, "2 threads", 4, &[1.0]), run(false, "64", 64, &[0.1])];
        let text = |runs: Vec<EngineRun>| Benchmark { runs, ..Benchmark::default() }.times_text();
        let gpu = vec![run(true, "f64", 4, &[0.5]), run(true, "f32", 4, &[0.25]), run(true, "many", 1024, &[0.01])];
        assert_eq!(
            text([cpu.clone(), gpu].concat()),
            "CPU time: 1.00 s, 8,000 samples/s, max R-hat 1.002 (2 threads)\n\
             GPU time: 250 ms, 32,000 samples/s, max R-hat 1.002 (f32)\n\
             speed-up: 4.00x (these wall times, of 4 chains each)\n"
        );
        let none = EngineRun { result: Measured::missing("no driver"), ..run(true, "", 4, &[1.0]) };
        let without = text([cpu.clone(), vec![none]].concat());
        assert!(
            without.contains("GPU time: not measured: no driver\nspeed-up: not measured: no driver ("),
            "{without}"
        );
        assert!(text(cpu).contains("GPU time: not measured: no run\n"));
        assert_eq!(text(vec![]), "");
        let old: EngineTimes =
            serde_json::from_str("{\"repeats\": [], \"leapfrogs\": 1, \"min_ess_bulk\": 3.0}").unwrap();
        assert!(old.max_rhat.is_nan(), "a report from before there was this field");
    }

    #[test]
    fn the_picture_has_the_prd_ranges_beside_our_rows() {
        let run = |groups, result| EngineRun {
            engine: "CPU".to_owned(),
            gpu: false,
            setting: "1 thread".to_owned(),
            likelihood: None,
            groups,
            observations: 10 * groups,
            chains: 4,
            draws: 2000,
            tune: 1000,
            result,
        };
        let many = EngineRun { chains: 1024, ..run(100, Measured::Value(times(&[0.5]))) };
        let runs = vec![run(100, Measured::Value(times(&[1.0]))), run(70, Measured::missing("no time"))];
        let benchmark = Benchmark { runs, ..Benchmark::default() };
        let labels: Vec<_> = benchmark.plot().rows.into_iter().map(|row| row.label).collect();
        assert_eq!(labels, ["CPU, 1 thread", "CPU, 1 thread", "PRD expects, CPU", "PRD expects, GPU"]);
        assert_eq!(benchmark.best_wall(100, false), Some(1.0));
        assert_eq!(benchmark.best_wall(70, false), None);
        let other = Benchmark { other_model: true, ..benchmark.clone() };
        assert_eq!(other.plot().rows.len(), 2, "the PRD expects nothing of another model");
        assert_eq!((other.definitions().len(), benchmark.definitions().len()), (2, 3), "no baselines of another model");
        let with_many = Benchmark { runs: [benchmark.runs, vec![many]].concat(), ..Benchmark::default() };
        assert_eq!(with_many.best_wall(100, false), Some(1.0), "many chains are another run");
    }
}
