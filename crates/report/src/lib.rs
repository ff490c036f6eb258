//! Plots, verdict and reports: from draws and their summary to pictures, a page, and an answer.
//!
//! | Concept | What it is |
//! |---|---|
//! | [`SummaryRow`] | the numbers of one parameter, as the diagnostics computed them |
//! | [`Plot`], [`About`], [`render`] | a picture with its data and its words, drawn as PNG (1800 pixels wide, 150 dots an inch) or SVG |
//! | [`PpcPlot`], [`PpcEcdfPlot`], [`PpcStatisticPlot`] | do data drawn from the fitted model look like the observed ones: densities, distribution functions, statistics |
//! | [`PriorPosteriorPlot`], [`ShrinkagePlot`] | what the data added to the prior, and how far groups are pulled together |
//! | [`LooPitPlot`], [`ParetoKPlot`] | are predictions of each observation from the others calibrated, and can leave-one-out be trusted |
//! | [`ForestComparisonPlot`], [`RunComparisonPlot`] | several runs or models side by side; two runs in Monte Carlo standard errors |
//! | [`ScalingPlot`], [`ParetoFrontPlot`] | time or speed against the size of a problem, and speed against error |
//! | [`FrameworksPlot`] | frameworks side by side, each with its interval |
//! | [`TracePlot`], [`ChainRankPlot`], [`AutocorrPlot`], [`EnergyPlot`] | do chains agree and mix: draws, ranks, memory, energies |
//! | [`ConvergencePlot`], [`EssEvolutionPlot`], [`EssRegionsPlot`] | R-hat and effective sample sizes along the run and over a distribution |
//! | [`PairPlot`], [`ParallelPlot`] | where transitions diverge |
//! | [`Evidence`], [`Verdict`] | what was measured, and each criterion judged: PASS, FAIL or SKIPPED with a reason |
//! | [`Stories`] | how each parameter converged, by chain and by draws, for who asks of one |
//! | [`Measured`] | a number, or why it is missing |
//! | [`Benchmark`] | times of engines, speed-ups by three definitions, and the PRD's expectations |
//! | [`Report`] | all of it; `report.json` is this structure |
//! | [`Figure`], [`write_figures`], [`write_report`] | the files: pictures; `report.json`, `junit.xml`, `benchmark_report.txt`, `index.html` |
//!
//! Fonts ship inside the program, and every file is written under a temporary name first: it appears whole or not at all.
//! What this crate does not do: it has no diagnostic of its own (it shows those from `octopus-diag`), opens no device,
//! reads no file, and prints nothing.
//!
//! `index.html` is one file that asks for nothing from outside: the verdict first, each table sorts and filters, a row of the
//! parameters opens that parameter's story, pictures tell what is pointed at, light and dark follow the reader, and it prints.
//!
//! # Example
//! A posterior of two chains, drawn, judged and written as a page:
//! ```
//! use octopus_report::*;
//! use octopus_diag::ParameterSummary;
//! use octopus_trace::{Array, Dataset, Values};
//!
//! # fn main() -> Result<(), ReportError> {
//! let draws: Vec<f64> = (0..400).map(|i| (f64::from(i) * 0.7).sin()).collect();
//! let mut posterior = Dataset::default();
//! let dims = vec!["chain".to_owned(), "draw".to_owned()];
//! posterior.variables.insert("mu".to_owned(), Array { dims, shape: vec![2, 200], values: Values::F64(draws) });
//! let summary = ParameterSummary {
//!     name: "mu".to_owned(),
//!     mean: 0.0,
//!     sd: 0.7,
//!     hdi: [-1.0, 0.9],
//!     eti: [-1.0, 1.0],
//!     rhat: 1.001,
//!     ess_bulk: 390.0,
//!     ess_tail: 410.0,
//!     mcse_mean: 0.04,
//!     ..ParameterSummary::default()
//! };
//! let parameters = vec![SummaryRow { summary, truth: Some(0.1) }];
//! let none = || "no NVIDIA driver was found".to_owned();
//! let evidence = Evidence {
//!     require_gpu: false,
//!     test_double: false,
//!     gpu: Measured::missing(none()),
//!     gpu_run: Measured::missing(none()),
//!     parameters: &parameters,
//!     divergences: 0,
//!     speedup: Measured::missing(none()),
//!     deliverables: Measured::Value(&[Deliverable { name: "index.html".to_owned(), made: true }]),
//!     gpu_memory: Measured::missing(none()),
//!     posterior_match: Measured::missing(none()),
//!     timing_variation: Measured::missing("timed once"),
//!     strategies: &[],
//!     samplers: &[],
//!     dashboard: true,
//!     exact_hdi89: &[],
//!     predictive: Measured::missing("none was made"),
//!     other_model: true,
//! };
//! let verdict = evidence.verdict();
//! assert_eq!(verdict.exit_code(), 1, "390 effective draws are too few");
//! println!("{}", verdict.text(Charset::from_environment()));
//!
//! let figures = [
//!     Figure::new(TracePlot::from_posterior(&posterior, None, &parameters)),
//!     Figure::new(PosteriorPlot::from_posterior(&posterior, &parameters)),
//! ];
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let folder = folder.path();
//! write_figures(folder, &figures, &[Format::Png])?;
//! let report = Report {
//!     schema: SCHEMA,
//!     title: "An example".to_owned(),
//!     created: "2026-11-21T08:00:00Z".to_owned(),
//!     program: "octopus 0.1.0".to_owned(),
//!     reproduce: vec!["octopus validate".to_owned()],
//!     verdict,
//!     data: DataFacts {
//!         source: "by hand".to_owned(),
//!         groups: 1,
//!         observations: 3,
//!         group_sizes: Some((3, 3)),
//!         sha256: "0".repeat(64),
//!     },
//!     model: ModelFacts {
//!         name: "normal".to_owned(),
//!         statements: vec!["mu ~ Normal(0, 1)".to_owned()],
//!         likelihood: None,
//!         dimension: 1,
//!     },
//!     settings: Default::default(),
//!     machine: Machine {
//!         cpu: "a processor".to_owned(),
//!         cores: 2,
//!         memory_bytes: 8 << 30,
//!         os: "linux x86_64".to_owned(),
//!         host_peak_bytes: None,
//!         gpu: Measured::missing(none()),
//!         gpu_facts: None,
//!     },
//!     versions: Default::default(),
//!     convergence: Convergence { chains: 2, draws: 200, ..Default::default() },
//!     parameters,
//!     stories: Stories::from_posterior(&posterior, None)?,
//!     predictive: vec![],
//!     benchmark: None,
//!     comparisons: vec![],
//! };
//! let files = write_report(folder, &report, &figures)?;
//! assert!(files.iter().any(|file| file.ends_with("index.html")));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod benchmark;
mod bundle;
mod draws;
mod error;
mod estimate;
mod format;
mod html;
mod json;
mod junit;
mod measured;
mod nullable;
mod plot;
mod predictive;
mod report;
mod story;
mod summary;
mod text;
mod verdict;

pub use benchmark::{
    Benchmark, EXPECTATIONS, EngineRun, EngineTimes, Expectation, Repeat, Speedup, SpeedupDefinition, size_name,
};
pub use bundle::{deliverables, read_report, write_figures, write_report};
pub use error::ReportError;
pub use format::{count, percent, rate, seconds, significant};
pub use html::{ResultsPage, ResultsPart};
pub use measured::Measured;
pub use plot::*;
pub use predictive::Predictions;
pub use report::{Comparison, Convergence, DataFacts, GpuFacts, Machine, ModelFacts, Report, SCHEMA};
pub use story::{ParameterStory, Stories};
pub use summary::{PredictiveStatistic, SummaryRow};
pub use text::Charset;
pub use verdict::{
    Criterion, Deliverable, Evidence, MemoryUse, Outcome, PosteriorMatch, Status, StatusCounts, Verdict, VerdictRow,
    WorstVariation,
};

// The gallery's synthetic results also serve the tests.
#[cfg(test)]
extern crate self as octopus_report;
#[cfg(test)]
#[path = "../examples/gallery/sample.rs"]
mod sample;
