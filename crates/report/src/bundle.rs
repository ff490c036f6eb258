//! Writes all files of a report into one folder.
//!
//! How many figures are drawn at once, and what counts as a deliverable, is decided here.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::benchmark::report_text;
use crate::error::ReportError;
use crate::html::page;
use crate::json;
use crate::junit::junit;
use crate::plot::{Figure, Format, render};
use crate::report::{Report, SCHEMA};
use crate::text::Charset;
use crate::verdict::Deliverable;
use octopus_files::write_file;

/// Draws every figure into `folder` in each format as its stem says, on all cores, and returns the files, sorted.
///
/// # Errors
/// When a figure cannot be drawn or written; the others are written all the same.
pub fn write_figures(folder: &Path, figures: &[Figure], formats: &[Format]) -> Result<Vec<PathBuf>, ReportError> {
    // A canvas takes about 100 MB while it is drawn: few at a time.
    const MOST_AT_ONCE: usize = 4;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_AT_ONCE).min(figures.len());
    let next = AtomicUsize::new(0);
    let draw = || {
        let mut drawn = Vec::new();
        while let Some(figure) = figures.get(next.fetch_add(1, Ordering::Relaxed)) {
            drawn.push(render(&*figure.plot, &folder.join(&figure.stem), formats));
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

/// Reads a `report.json`.
///
/// # Errors
/// When the file cannot be read, or is no report of this version's schema.
pub fn read_report(path: &Path) -> Result<Report, ReportError> {
    let text = std::fs::read_to_string(path).map_err(octopus_files::FileError::io("read", path))?;
    let no_report = |message: String| ReportError::NoReport { path: path.to_owned(), message };
    let report: Report = serde_json::from_str(&text).map_err(|error| no_report(error.to_string()))?;
    if report.schema == SCHEMA {
        return Ok(report);
    }
    Err(no_report(format!("schema = {}: this program reads {SCHEMA}; use the version that wrote it", report.schema)))
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

    #[test]
    fn a_deliverable_is_a_file_with_content() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("full"), "1").unwrap();
        std::fs::write(folder.path().join("empty"), "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let made: Vec<bool> =
            deliverables(folder.path(), &["full", "empty", "folder", "none"]).iter().map(|file| file.made).collect();
        assert_eq!(made, [true, false, false, false]);
    }

    const SMALL: Shape = Shape { groups: 3, chains: 2, draws: 120, truth: true, divergences: false };

    fn figures(sample: &Sample) -> Vec<Figure> {
        [
            Figure::new(sample.trace()),
            Figure::new(sample.posterior_plot()),
            Figure::new(sample.forest()),
            Figure::new(sample.ppc()),
            Figure::new(benchmark(false).plot()),
        ]
        .into()
    }

    #[test]
    fn the_folder_holds_every_file_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::new(SMALL);
        let figures = figures(&sample);
        let mut files = write_figures(folder.path(), &figures, &[Format::Png]).unwrap();
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
        figures[0].plot = Box::new(crate::plot::TracePlot { rows: vec![], divergences: vec![], parameters: 0 });
        let error = write_figures(folder.path(), &figures, &[Format::Svg]).unwrap_err().to_string();
        assert!(error.contains("trace plot"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
        assert!(write_figures(folder.path(), &[], &[Format::Svg]).unwrap().is_empty());
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

    /// Reports that were committed stay readable, and no report without a GPU has a figure of one.
    #[test]
    fn the_reports_of_machines_are_read() {
        let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
        // The machines are those that README lists: commands leave reports of their own beside them.
        let listed = std::fs::read_to_string(reports.join("README.md")).unwrap();
        let mut read = 0;
        for path in ["report.json", "phase0/report.json"].iter().flat_map(|name| {
            let folders = std::fs::read_dir(&reports).unwrap().map(Result::unwrap);
            let of_machines = folders.filter(|folder| listed.contains(&format!("]({}/", folder.file_name().display())));
            of_machines.map(move |folder| folder.path().join(name)).collect::<Vec<_>>()
        }) {
            if !path.is_file() {
                continue;
            }
            let report = read_report(&path).unwrap();
            let again = crate::Verdict::new(report.verdict.rows.clone(), report.verdict.require_gpu);
            assert_eq!(again, report.verdict, "{}", path.display());
            assert!(!report.machine.cpu.is_empty() && report.parameters.len() == 203, "{}", path.display());
            let commit = &report.versions["commit"];
            assert!(
                commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()),
                "{}: {commit}",
                path.display()
            );
            let benchmark = report.benchmark.unwrap();
            let of_gpu = benchmark.runs.iter().filter(|run| run.gpu && run.result.value().is_some()).count();
            assert!(of_gpu == 0 || report.machine.gpu.value().is_some(), "{}", path.display());
            read += 1;
        }
        assert!(read > 0, "no report is in reports/");
    }

    #[test]
    fn what_is_no_report_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        assert!(read_report(&path).unwrap_err().to_string().contains("cannot read"));
        for (text, words) in [("{}", "missing field"), ("no", "expected")] {
            std::fs::write(&path, text).unwrap();
            let message = read_report(&path).unwrap_err().to_string();
            assert!(
                message.contains("report.json: no report of `octopus validate`") && message.contains(words),
                "{message}"
            );
        }
        let mut value = serde_json::to_value(report(&Sample::new(SMALL), SMALL)).unwrap();
        std::fs::write(&path, value.to_string()).unwrap();
        assert_eq!(read_report(&path).unwrap().schema, SCHEMA);
        for schema in [SCHEMA - 1, SCHEMA + 1] {
            value["schema"] = schema.into();
            std::fs::write(&path, value.to_string()).unwrap();
            let message = read_report(&path).unwrap_err().to_string();
            assert!(message.contains(&format!("schema = {schema}: this program reads 1")), "{message}");
        }
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
        for width in ["on-wide", "on-narrow"] {
            let pictures = ["svg ", "img src=\"data:image/png;base64,"]
                .map(|kind| format!("<div class=\"picture {width}\"><{kind}"));
            assert_eq!(pictures.iter().map(|start| page.matches(start).count()).sum::<usize>(), figures.len());
        }
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
        let twenty: Vec<Figure> = (0..4).flat_map(|_| figures(&sample)).collect();
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
        let text = |report: &Report| report_text(report, Charset::Ascii);
        assert!(text(&report).contains("\nPosterior\n") && !text(&report).contains("truth"));
        report.parameters.clear();
        assert!(!text(&report).contains("\nPosterior\n"));
    }
}
