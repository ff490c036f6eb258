//! All files of a report in one folder.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ReportError;
use crate::benchmark::report_text;
use crate::html::page;
use crate::json;
use crate::junit::junit;
use crate::plot::{EssRegions, Format, Plot, render};
use crate::report::Report;
use crate::text::Charset;
use crate::verdict::Deliverable;
use octopus_files::write_file;

/// A picture of the report with its file's stem and the words around it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The file's name without ending, e.g. `trace_plot`.
    pub stem: String,
    /// The heading on the page.
    pub title: String,
    /// The caption: what the picture shows and how to read it.
    pub caption: String,
    /// The picture.
    pub plot: Plot,
}

impl Figure {
    /// Makes a figure under the usual name, heading and caption of its kind.
    pub fn new(plot: Plot) -> Self {
        let (stem, title, caption) = match &plot {
            Plot::Trace(_) => (
                "trace_plot",
                "Trace",
                "Draws of each chain in order, their densities, and their ranks among all draws. Good chains look alike, wander nowhere, and have flat ranks.",
            ),
            Plot::Posterior(_) => (
                "posterior_plot",
                "Posterior",
                "What the data say about each scalar: its density, mean, and 89% highest-density interval.",
            ),
            Plot::Forest(_) => (
                "forest_plot",
                "Forest",
                "Every variable at a glance: mean, 50% and 89% highest-density intervals, and R-hat.",
            ),
            Plot::Ppc(_) => (
                "ppc_plot",
                "Posterior predictive check",
                "Data drawn from the fitted model beside the observed data; p is the share of replicated values at or above the observed one.",
            ),
            Plot::Performance(_) => (
                "performance_comparison",
                "Performance",
                "Wall time with warm-up, and effective draws for each second of it.",
            ),
            Plot::Ecdf(_) => (
                "rank_ecdf",
                "Ranks of true values: distribution",
                "Of each quantity the share of ranks up to each rank, less what is expected, with simultaneous bands.",
            ),
            Plot::Ranks(_) => (
                "rank_histogram",
                "Ranks of true values: histograms",
                "How many data sets have each rank; a calibrated quantity is flat.",
            ),
            Plot::Moments(_) => (
                "geweke_moments",
                "Geweke's test",
                "Moments with parameters from the sampler less those with parameters from the prior, in standard errors.",
            ),
            Plot::PpcEcdf(_) => (
                "ppc_ecdf_plot",
                "Predictive check: distribution functions",
                "The distribution function of the observed data among those of data drawn from the fitted model, and the same less the replicated one.",
            ),
            Plot::PpcStatistic(_) => (
                "ppc_statistic_plot",
                "Predictive check: statistics",
                "Statistics of data drawn from the fitted model, with the observed value and the share of replicated values at or above it.",
            ),
            Plot::PriorPosterior(_) => (
                "prior_posterior_plot",
                "Prior and posterior",
                "What was believed before and what the data left of it, with how many times narrower it became.",
            ),
            Plot::LooPit(_) => (
                "loo_pit_plot",
                "LOO-PIT",
                "The probability of values at or below each observation, predicted from the others: uniform where predictions are calibrated, with a simultaneous 95% band.",
            ),
            Plot::ParetoK(_) => (
                "pareto_k_plot",
                "Pareto k",
                "How far each observation moves the posterior; above the lines its leave-one-out estimate cannot be trusted.",
            ),
            Plot::Shrinkage(_) => (
                "shrinkage_plot",
                "Shrinkage",
                "The posterior mean of each group against the mean of its own observations, and by how much it was pulled.",
            ),
            Plot::Scaling(_) => (
                "scaling_plot",
                "Scaling",
                "Time or speed against the size of the problem, on logarithmic axes, with the power it grows with.",
            ),
            Plot::ParetoFront(_) => (
                "pareto_front_plot",
                "Speed against error",
                "Effective draws a second against the error, with the settings that no other beats in both.",
            ),
            Plot::ForestComparison(_) => (
                "forest_comparison_plot",
                "Forest of several runs",
                "Mean, 50% and 89% highest-density intervals of every variable, run beside run.",
            ),
            Plot::RunComparison(_) => (
                "run_comparison_plot",
                "Comparison of two runs",
                "Differences of means and standard deviations in Monte Carlo standard errors, and the ratio of speeds.",
            ),
            Plot::ChainRanks(_) => (
                "rank_plot",
                "Ranks of chains",
                "Where the draws of each chain stand among the draws of all; chains that draw from the same distribution are flat.",
            ),
            Plot::Energy(_) => (
                "energy_plot",
                "Energy",
                "Energies of all draws against their steps, and E-BFMI of each chain: below 0.3 the tails may be missed.",
            ),
            Plot::Autocorr(_) => (
                "autocorr_plot",
                "Autocorrelation",
                "How long each chain remembers: the sooner the correlation vanishes, the more each draw is worth.",
            ),
            Plot::EssEvolution(_) => (
                "ess_evolution_plot",
                "ESS by draws",
                "Effective sample sizes of the first draws, more and more of them; they grow evenly where chains mix.",
            ),
            Plot::EssRegions(plot) => match plot.regions {
                EssRegions::Quantiles => (
                    "ess_quantile_plot",
                    "ESS of quantiles",
                    "How well each quantile is known; a valley is a region that chains reach seldom.",
                ),
                EssRegions::Intervals => (
                    "ess_local_plot",
                    "ESS of small intervals",
                    "How well the probability of each twentieth of a distribution is known; a valley is a region that chains reach seldom.",
                ),
            },
            Plot::Convergence(_) => (
                "convergence_plot",
                "Convergence",
                "R-hat and effective sample sizes of every parameter while the run went on.",
            ),
            Plot::Pair(_) => (
                "pair_plot",
                "Pairs",
                "Pairs of variables with the draws whose transitions diverged: where those gather, the posterior is hard to sample.",
            ),
            Plot::Parallel(_) => (
                "parallel_plot",
                "Divergences across variables",
                "Each line is a draw; where divergent ones run together, something about the posterior is hard to sample.",
            ),
        };
        Self { stem: stem.to_owned(), title: title.to_owned(), caption: caption.to_owned(), plot }
    }
}

/// Returns the draws every figure into `folder` as its stem says, on all cores, and returns the files, sorted.
///
/// # Errors
/// When a figure cannot be drawn or written; the others are written all the same.
pub fn write_figures(folder: &Path, figures: &[Figure], format: Format) -> Result<Vec<PathBuf>, ReportError> {
    // A canvas takes about 100 MB while it is drawn: few at a time.
    const MOST_AT_ONCE: usize = 4;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_AT_ONCE).min(figures.len());
    let next = AtomicUsize::new(0);
    let draw = || {
        let mut drawn = Vec::new();
        while let Some(figure) = figures.get(next.fetch_add(1, Ordering::Relaxed)) {
            drawn.push(render(&figure.plot, &folder.join(&figure.stem), format));
        }
        drawn
    };
    let drawn: Vec<Result<Vec<PathBuf>, ReportError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(draw)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.flat_map(|worker| worker.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut files = drawn.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    files.sort();
    Ok(files)
}

/// Writes `report.json`, `junit.xml`, `benchmark_report.txt` and `index.html` into `folder` and returns the files.
///
/// # Errors
/// When a figure cannot be drawn for the page or a file cannot be written; no file is left half written.
pub fn write_report(folder: &Path, report: &Report, figures: &[Figure]) -> Result<Vec<PathBuf>, ReportError> {
    let files = [
        ("report.json", json::text(report)?),
        ("junit.xml", junit(&report.verdict, &report.title, &report.created)),
        ("benchmark_report.txt", report_text(report, Charset::Ascii)),
        ("index.html", page(report, figures)?),
    ];
    let mut written = Vec::new();
    for (name, content) in files {
        let path = folder.join(name);
        write_file(&path, content.as_bytes())?;
        written.push(path);
    }
    Ok(written)
}

/// Returns which of the named files are in `folder` with any content: the evidence for "all deliverables made".
pub fn deliverables(folder: &Path, names: &[&str]) -> Vec<Deliverable> {
    let made = |name: &str| std::fs::metadata(folder.join(name)).is_ok_and(|file| file.is_file() && file.len() > 0);
    names.iter().map(|&name| Deliverable { name: name.to_owned(), made: made(name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, Shape, benchmark, report};

    const SMALL: Shape = Shape { groups: 3, chains: 2, draws: 120, truth: true, divergences: false };

    fn figures(sample: &Sample) -> Vec<Figure> {
        [
            Plot::Trace(sample.trace()),
            Plot::Posterior(sample.posterior_plot()),
            Plot::Forest(sample.forest()),
            Plot::Ppc(sample.ppc()),
            Plot::Performance(benchmark().plot()),
        ]
        .map(Figure::new)
        .into()
    }

    #[test]
    fn the_folder_holds_every_file_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::new(SMALL);
        let figures = figures(&sample);
        let mut files = write_figures(folder.path(), &figures, Format::Png).unwrap();
        files.extend(write_report(folder.path(), &report(&sample, SMALL), &figures).unwrap());
        let names = [
            "trace_plot.png",
            "posterior_plot.png",
            "forest_plot.png",
            "ppc_plot.png",
            "performance_comparison.png",
            "benchmark_report.txt",
            "report.json",
            "junit.xml",
            "index.html",
        ];
        assert_eq!(files.len(), names.len());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), names.len(), "and no temporary file");
        assert!(deliverables(folder.path(), &names).iter().all(|deliverable| deliverable.made));
        assert!(!deliverables(folder.path(), &["missing.png"])[0].made);
    }

    #[test]
    fn a_figure_that_cannot_be_drawn_is_named_and_the_others_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut figures = figures(&Sample::new(SMALL));
        figures[0].plot = Plot::Trace(crate::TracePlot { rows: vec![], divergences: vec![], parameters: 0 });
        let error = write_figures(folder.path(), &figures, Format::Svg).unwrap_err().to_string();
        assert!(error.contains("trace plot"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
        assert!(write_figures(folder.path(), &[], Format::Svg).unwrap().is_empty());
    }

    #[test]
    fn json_comes_back_and_its_fields_are_pinned() {
        let sample = Sample::new(SMALL);
        let mut report = report(&sample, SMALL);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["schema"], 1);
        insta::assert_snapshot!(fields(&json).join("\n"));
        // What is left out of the file is what the pictures alone need.
        report.predictive.iter_mut().for_each(|statistic| statistic.replicated.clear());
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
    }

    /// Paths and types of all values, of a list those of its first element.
    fn fields(value: &serde_json::Value) -> Vec<String> {
        use serde_json::Value;
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(list) => {
                let inner = list.first().map(fields).unwrap_or_default();
                return inner.into_iter().map(|path| format!("[]{path}")).collect();
            }
            Value::Object(map) => {
                let inner = |(name, value): (&String, &Value)| {
                    fields(value).into_iter().map(|path| format!(".{name}{path}")).collect::<Vec<_>>()
                };
                return map.iter().flat_map(inner).collect();
            }
        };
        vec![format!(": {kind}")]
    }

    #[test]
    fn benchmark_report_names_everything_that_was_asked_for() {
        let sample = Sample::new(SMALL);
        let text = report_text(&report(&sample, SMALL), Charset::Ascii);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_page_holds_every_row_and_needs_nothing_from_outside() {
        let shape = Shape { groups: 1000, chains: 4, draws: 60, truth: true, divergences: false };
        let sample = Sample::new(shape);
        let report = report(&sample, shape);
        let figures = figures(&sample);
        let page = page(&report, &figures).unwrap();
        assert!(page.len() < 3_000_000, "{}", page.len());
        for outside in ["http://", "https://", "src=\"/", "href=\"/", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        for row in &report.parameters {
            assert!(page.contains(&format!("<td>{}</td>", row.name)), "{}", row.name);
        }
        for row in &report.verdict.rows {
            assert!(page.contains(&row.criterion) && page.contains(&format!("<b>{}</b>", row.id)));
        }
        for figure in &figures {
            assert!(page.contains(&format!("<figure id=\"{}\"", figure.stem)));
        }
        let pictures =
            ["svg ", "img src=\"data:image/png;base64,"].map(|kind| format!("<div class=\"picture\"><{kind}"));
        assert_eq!(pictures.iter().map(|start| page.matches(start).count()).sum::<usize>(), figures.len());
        let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(links.len(), 13, "{links:?}");
        for id in links {
            assert!(page.contains(&format!("id=\"{id}\"")), "the link to {id} leads somewhere");
        }
    }

    #[test]
    fn the_page_of_the_prd_run_stays_small_with_twenty_figures() {
        let shape = Shape { groups: 100, chains: 4, draws: 2000, truth: true, divergences: false };
        let sample = Sample::new(shape);
        let five = figures(&sample);
        let twenty: Vec<Figure> = (0..4).flat_map(|_| five.clone()).collect();
        let page = page(&report(&sample, shape), &twenty).unwrap();
        assert!(page.len() < 2_000_000, "{}", page.len());
        assert!(!page.contains("data:image/png"), "pictures are sharp and have tips");
    }

    #[test]
    fn a_page_of_user_data_without_truth_check_or_timing() {
        let shape = Shape { truth: false, chains: 64, ..SMALL };
        let sample = Sample::new(shape);
        let mut report = report(&sample, shape);
        report.benchmark = None;
        report.predictive.clear();
        report.comparisons.clear();
        report.settings.insert("windows".to_owned(), serde_json::json!({"base_window": 15}));
        report.parameters[0].name = "<script>alert(1)</script>".to_owned();
        report.parameters[0].rhat = f64::NAN;
        let page = page(&report, &[]).unwrap();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(page.contains("<td class=\"bad\">NaN</td>"));
        assert!(!page.contains(">truth<") && page.contains("Nothing was timed"));
        assert!(page.contains("64 chains"));
        assert!(page.contains("<dt>windows.base_window</dt><dd>15</dd>"));
    }
}
