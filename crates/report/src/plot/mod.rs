//! Pictures: each module prepares the data of a plot and lays them out as a scene, which is drawn as PNG or SVG.

mod autocorr;
mod axis;
mod bitmap;
mod calibration;
mod chain_ranks;
mod choose;
mod convergence;
mod energy;
mod ess;
mod font;
mod forest;
mod forest_compared;
mod frameworks;
mod front;
mod grid;
mod label;
mod loo_pit;
#[cfg(test)]
mod on_record;
mod pair;
pub(crate) mod palette;
mod panel;
mod parallel;
mod pareto_k;
mod pdf;
mod performance;
mod posterior;
mod ppc;
mod ppc_ecdf;
mod ppc_statistic;
mod prior_posterior;
mod profile;
mod run_comparison;
mod scaling;
mod scene;
mod shrinkage;
mod spread;
mod svg;
mod trace;

use std::fmt;
use std::path::{Path, PathBuf};

pub use autocorr::{AutocorrPanel, AutocorrPlot};
pub use calibration::{EcdfPanel, EcdfPlot, MomentRow, MomentsPlot, RankHeading, RankPanel, RankPlot};
pub use chain_ranks::{ChainRankPanel, ChainRankPlot, ChainRanks};
pub use convergence::{ConvergencePlot, ConvergenceSeries};
pub use energy::EnergyPlot;
pub use ess::{EssEvolutionPanel, EssEvolutionPlot, EssRegions, EssRegionsPanel, EssRegionsPlot};
pub use forest::{ForestPlot, ForestRow, ForestSection};
pub use forest_compared::{ComparedRow, ComparedSection, ForestComparisonPlot};
pub use frameworks::{FrameworkMeasure, FrameworkRow, FrameworksPlot};
pub use front::{FrontPoint, ParetoFrontPlot};
pub use loo_pit::LooPitPlot;
pub use pair::{PairPlot, PairVariable};
pub use panel::PictureWidth;
pub use parallel::{ParallelPlot, ParallelVariable};
pub use pareto_k::ParetoKPlot;
pub use performance::{PerformancePlot, PerformanceResult, PerformanceRow};
pub use posterior::{PosteriorPanel, PosteriorPlot};
pub use ppc::PpcPlot;
pub use ppc_ecdf::PpcEcdfPlot;
pub use ppc_statistic::PpcStatisticPlot;
pub use prior_posterior::{Narrowing, PriorPosteriorPanel, PriorPosteriorPlot, WidthMeasure};
pub use profile::{ProfilePlot, ProfileRow};
pub use run_comparison::{RunComparisonPlot, RunDifference, RunRatio};
pub use scaling::{ScalingMeasure, ScalingPlot, ScalingSeries};
pub use scene::Scene;
pub use shrinkage::{ShrinkagePlot, ShrunkGroup};
pub use trace::{TracePlot, TraceRow};

pub(crate) use svg::theme_rules;

use crate::error::ReportError;
use octopus_files::write_file;

/// A file format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.png`, 1800 pixels wide, 150 dots an inch.
    Png,
    /// `.svg`.
    Svg,
    /// `.pdf`, 12 inches wide.
    Pdf,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Png => ".png",
            Self::Svg => ".svg",
            Self::Pdf => ".pdf",
        }
    }
}

/// What a picture is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// What the data say about each parameter.
    Posterior,
    /// Whether the draws can be trusted.
    Convergence,
    /// Whether the model could have made the data.
    Predictive,
    /// What the draws cost.
    Performance,
    /// Whether the sampler is right over many data sets.
    Calibration,
}

/// The usual words around a plot, and where it belongs on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The file's name without ending, e.g. `trace_plot`.
    pub stem: &'static str,
    /// The heading on the page.
    pub title: &'static str,
    /// The caption: what the picture shows and how to read it.
    pub caption: &'static str,
    /// The subject, under which the page shows the picture.
    pub subject: Subject,
}

impl About {
    fn new(subject: Subject, stem: &'static str, title: &'static str, caption: &'static str) -> Self {
        Self { stem, title, caption, subject }
    }
}

/// A picture with its data. Each module of this crate's plots implements it; other crates use it only, because the
/// shapes of a [`Scene`] are private.
pub trait Plot: fmt::Debug + Send + Sync {
    /// Returns the words around the picture.
    fn about(&self) -> About;

    /// Lays the picture out for a window of this width.
    ///
    /// # Errors
    /// [`ReportError::Empty`] with what is missing, when there is nothing to draw.
    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError>;

    /// Lays the picture out for a file.
    ///
    /// # Errors
    /// When there is nothing to draw: see [`layout`](Self::layout).
    fn scene(&self) -> Result<Scene, ReportError> {
        self.layout(PictureWidth::Wide)
    }

    /// Checks whether there is something to draw.
    ///
    /// # Errors
    /// [`ReportError::Empty`] with what is missing.
    fn check(&self) -> Result<(), ReportError> {
        self.scene().map(drop)
    }

    /// Returns the bytes of a PNG file, 1800 pixels wide, 150 dots an inch.
    ///
    /// # Errors
    /// [`ReportError::Empty`] when there is nothing to draw, [`ReportError::Draw`] when drawing fails.
    fn png(&self) -> Result<Vec<u8>, ReportError> {
        self.scene()?.png()
    }

    /// Returns an SVG document.
    ///
    /// # Errors
    /// When the picture cannot be drawn: see [`png`](Self::png).
    fn svg(&self) -> Result<String, ReportError> {
        Ok(self.scene()?.svg())
    }

    /// Returns the bytes of a PDF file of one page.
    ///
    /// # Errors
    /// When the picture cannot be drawn: see [`png`](Self::png).
    fn pdf(&self) -> Result<Vec<u8>, ReportError> {
        pdf::pdf(&self.scene()?)
    }
}

/// Draws `plot` into a file for each format, `stem` with the format's ending, and returns the files; each appears whole or
/// not at all.
///
/// # Errors
/// [`ReportError::Empty`] and [`ReportError::Draw`] when [`Plot::png`] fails; [`ReportError::File`] when a file cannot
/// be written.
pub fn render(plot: &dyn Plot, stem: &Path, formats: &[Format]) -> Result<Vec<PathBuf>, ReportError> {
    let name = stem.file_name().ok_or_else(|| ReportError::Name { path: stem.to_owned() })?;
    let scene = plot.scene()?;
    let mut files = Vec::new();
    for &format in formats {
        // Not `with_extension`: a stem may have a dot of its own.
        let mut name = name.to_owned();
        name.push(format.ending());
        let path = stem.with_file_name(name);
        let bytes = match format {
            Format::Png => bitmap::png(&scene)?,
            Format::Svg => svg::svg(&scene).into_bytes(),
            Format::Pdf => pdf::pdf(&scene)?,
        };
        write_file(&path, &bytes)?;
        files.push(path);
    }
    Ok(files)
}

/// A picture of the report with its file's stem and the words around it.
#[derive(Debug)]
pub struct Figure {
    /// The file's name without ending, e.g. `trace_plot`.
    pub stem: String,
    /// The heading on the page.
    pub title: String,
    /// The caption: what the picture shows and how to read it.
    pub caption: String,
    /// The picture.
    pub plot: Box<dyn Plot>,
}

impl Figure {
    /// Makes a figure under the plot's usual name, heading and caption.
    pub fn new(plot: impl Plot + 'static) -> Self {
        let About { stem, title, caption, .. } = plot.about();
        Self { stem: stem.to_owned(), title: title.to_owned(), caption: caption.to_owned(), plot: Box::new(plot) }
    }
}

/// Lists the flaws of a plot in all its widths.
#[cfg(test)]
fn flaws(plot: &dyn Plot) -> Vec<String> {
    let [wide, narrow] = [PictureWidth::Wide, PictureWidth::Narrow].map(|width| plot.layout(width).unwrap());
    let mut flaws = Vec::from_iter(on_record::changed(&[&wide, &narrow]));
    flaws.extend(scene::layout_flaws(&wide));
    flaws.extend(scene::layout_flaws(&narrow).into_iter().map(|flaw| format!("narrow: {flaw}")));
    let small =
        narrow.shapes.iter().filter(|shape| matches!(shape, scene::Shape::Text(text) if text.size < panel::SMALL));
    flaws.extend(small.map(|shape| format!("narrow: too small: {shape:?}")));
    flaws
}

/// Fails when a reader would stumble over the picture.
#[cfg(test)]
#[track_caller]
fn sound(what: &str, plot: &dyn Plot) {
    let flaws = flaws(plot);
    assert!(flaws.is_empty(), "{what}: {flaws:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Measured;
    use crate::sample::{Sample, Shape, benchmark};

    fn shape(groups: usize, chains: usize) -> Shape {
        Shape { groups, chains, draws: 150, truth: true, divergences: true }
    }

    fn plots(sample: &Sample) -> [Box<dyn Plot>; 4] {
        [Box::new(sample.trace()), Box::new(sample.posterior_plot()), Box::new(sample.forest()), Box::new(sample.ppc())]
    }

    /// Pictures of a calibration, every second quantity bad, one without a number.
    fn calibration_plots(quantities: usize, name: &str) -> [Box<dyn Plot>; 3] {
        let heading = |i: usize| RankHeading {
            name: format!("{name} {i}"),
            p_value: if i == 1 { 1.2e-13 } else { 0.5 },
            uniform: i.is_multiple_of(2),
        };
        let ecdf = |i: usize| EcdfPanel {
            heading: heading(i),
            difference: (0..20).map(|k| 0.01 * i as f64 * (f64::from(k) * 0.4).sin()).collect(),
            lower: vec![-0.03; 20],
            upper: vec![0.03; 20],
        };
        let ranks = |i: usize| RankPanel {
            heading: heading(i),
            counts: (0..25).map(|k| 40 + k * i as u64 % 9).collect(),
            expected: (28, 54),
        };
        let moment = |i: usize| MomentRow {
            name: format!("{name} {i}"),
            z: if i == 2 { f64::NAN } else { i as f64 - 3.0 },
            agrees: i.is_multiple_of(2),
        };
        [
            Box::new(EcdfPlot { coverage: 0.999, panels: (0..quantities).map(ecdf).collect() }),
            Box::new(RankPlot { coverage: 0.99, panels: (0..quantities).map(ranks).collect() }),
            Box::new(MomentsPlot { limit: 4.2, rows: (0..quantities).map(moment).collect() }),
        ]
    }

    #[track_caller]
    fn check(what: &str, plot: &dyn Plot) {
        sound(what, plot);
    }

    #[test]
    fn no_text_is_cut_or_overlaps_for_any_number_of_groups_and_chains() {
        for (groups, chains) in [(1, 1), (3, 4), (60, 2), (61, 2), (100, 8), (1000, 2), (4, 64), (2500, 1)] {
            for truth in [true, false] {
                let sample = Sample::new(Shape { truth, ..shape(groups, chains) });
                for plot in plots(&sample) {
                    check(&format!("{groups} groups, {chains} chains"), &*plot);
                }
            }
        }
        check("performance", &benchmark(false).plot());
        check("performance with a GPU", &benchmark(true).plot());
        for quantities in [1, 2, 3, 10, 31] {
            for plot in calibration_plots(quantities, "mu_group[50]") {
                check(&format!("{quantities} quantities"), &*plot);
            }
        }
    }

    #[test]
    fn nan_constant_and_far_off_values_are_drawn() {
        let mut sample = Sample::new(shape(70, 2));
        for row in &mut sample.summary {
            row.rhat = f64::NAN;
            row.ess_bulk = f64::NAN;
        }
        sample.summary[0].truth = Some(1e6);
        sample.summary[1].hdi = [f64::NAN; 2];
        sample.summary[5].mean = f64::NAN;
        for (i, array) in sample.posterior.variables.values_mut().enumerate() {
            if let octopus_trace::Values::F64(values) = &mut array.values {
                match i {
                    0 => values.fill(3.0),
                    1 => values.fill(f64::NAN),
                    _ => values[0] = f64::INFINITY,
                }
            }
        }
        sample.statistics[0].p_value = f64::NAN;
        sample.statistics[1].replicated.clear();
        sample.observed.fill(7.0);
        for plot in plots(&sample) {
            check("odd values", &*plot);
        }
        // The truth at a million squeezes the trace of mu_pop, which is then all it can show.
        assert!(plots(&sample)[1].png().is_ok());
    }

    #[test]
    fn long_names_are_cut_with_an_ellipsis() {
        let mut sample = Sample::new(shape(3, 2));
        let mut forest = sample.forest();
        for section in &mut forest.sections {
            section.name = "a very long name of a variable ".repeat(6);
            for row in &mut section.rows {
                row.label = "a_very_long_label_of_a_group_".repeat(6);
            }
        }
        check("forest", &forest);
        for plot in calibration_plots(3, &"a very long name of a quantity ".repeat(6)) {
            check("calibration", &*plot);
        }
        sample.statistics.truncate(1);
        let mut trace = sample.trace();
        trace.rows[0].name = "a very long name of a variable ".repeat(6);
        check("trace", &trace);
        let mut posterior = sample.posterior_plot();
        posterior.panels[0].name = "a very long name of a variable ".repeat(6);
        check("posterior", &posterior);
        let mut performance = benchmark(false).plot();
        performance.rows[0].label = "an engine with a very long description of its settings ".repeat(3);
        performance.rows[1].problem = "a very long problem ".repeat(9);
        performance.rows[3].result = PerformanceResult::Run {
            wall_s: Measured::missing("why ".repeat(90)),
            samples_per_s: None,
            min_ess_per_s: None,
            gpu: true,
            speedup: None,
        };
        check("performance", &performance);
    }

    #[test]
    fn nothing_to_draw_is_an_error_that_says_what_is_missing() {
        let empty: [(Box<dyn Plot>, &str); 8] = [
            (Box::new(TracePlot { rows: vec![], divergences: vec![], parameters: 0 }), "draws"),
            (Box::new(PosteriorPlot { panels: vec![] }), "draws"),
            (Box::new(ForestPlot { sections: vec![] }), "draws"),
            (Box::new(PpcPlot { observed: vec![], replicates: vec![], statistics: vec![] }), "observations"),
            (Box::new(PerformancePlot { rows: vec![] }), "measurement"),
            (Box::new(EcdfPlot { coverage: 0.9, panels: vec![] }), "ranks"),
            (Box::new(RankPlot { coverage: 0.9, panels: vec![] }), "ranks"),
            (Box::new(MomentsPlot { limit: 3.0, rows: vec![] }), "moments"),
        ];
        for (plot, missing) in empty {
            let error = plot.png().unwrap_err().to_string();
            assert!(error.contains(missing), "{error}");
        }
    }

    #[test]
    fn files_have_the_promised_size_resolution_and_ink() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::new(shape(3, 2));
        for (i, plot) in plots(&sample).iter().enumerate() {
            let files =
                render(&**plot, &folder.path().join(format!("plot.{i}")), &[Format::Png, Format::Svg, Format::Pdf])
                    .unwrap();
            assert!(files[0].ends_with(format!("plot.{i}.png")) && files[1].ends_with(format!("plot.{i}.svg")));
            let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&files[0]).unwrap()))
                .read_info()
                .unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let info = reader.info();
            assert_eq!((info.width, info.pixel_dims.map(|d| d.xppu)), (1800, Some(5906)));
            let scene = plot.scene().unwrap();
            assert_eq!(f64::from(info.height), scene.height.ceil());
            let inked = pixels.chunks(3).filter(|pixel| *pixel != [255, 255, 255]).count();
            let share = inked as f64 / (pixels.len() / 3) as f64;
            assert!((0.01..0.6).contains(&share), "plot {i}: {share}");

            let svg = std::fs::read_to_string(&files[1]).unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let texts = document.descendants().filter(|node| node.has_tag_name("text")).count();
            let expected = scene.shapes.iter().filter(|shape| matches!(shape, scene::Shape::Text(_))).count();
            assert_eq!(texts, expected, "every text is in the SVG");
            assert!(files[2].ends_with(format!("plot.{i}.pdf")));
            assert!(std::fs::read(&files[2]).unwrap() == plot.pdf().unwrap(), "the same bytes each time");
        }
    }

    #[test]
    fn text_lies_where_the_scene_says_in_the_bitmap() {
        // The middle of a capital's height is its place, for the tests above to mean anything.
        let mut scene = scene::Scene::new(200.0, 100.0, "");
        scene.text(scene::Text::new((50.0, 40.0), "H", 40.0, palette::INK));
        let bytes = bitmap::png(&scene).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let dark: Vec<usize> = (0..20_000).filter(|i| pixels[3 * i] < 128).collect();
        let (top, bottom) = (dark[0] / 200, dark[dark.len() - 1] / 200);
        let left = dark.iter().map(|i| i % 200).min().unwrap();
        assert!((0.5 * (top + bottom + 1) as f64 - 40.0).abs() <= 1.5, "{top} to {bottom}");
        assert!((50..56).contains(&left), "{left}");
    }
}
