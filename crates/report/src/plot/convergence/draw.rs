//! Drawing of R-hat and effective sample sizes against draws: scales, limits, title, caption and key.

use super::super::axis::{Axis, extent};
use super::super::grid::{Grid, say};
use super::super::palette::{GRID, MUTED, VERMILLION, series};
use super::super::panel::{Keys, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::spread::{Spread, spread_key};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ConvergencePlot, ConvergenceSeries};
use crate::error::ReportError;
use crate::format::{count, rate, significant};
use octopus_diag::limits;

const INSIDE: f64 = 470.0;
/// More parameters than this are not told apart by colour; their range is shown.
const MOST_KEYS: usize = 6;
/// R-hat is laid out by the logarithm of what it has above 1; this little is as good as none.
const SMALLEST_EXCESS: f64 = 1e-3;

/// One of the three diagnostics.
struct Diagnostic {
    name: &'static str,
    values: fn(&ConvergenceSeries) -> &[f64],
    /// The limit, and whether good values lie above it.
    limit: f64,
    more_is_better: bool,
}

impl Diagnostic {
    fn show(&self, value: f64) -> String {
        if self.more_is_better { rate(value) } else { significant(value, 4) }
    }

    /// Returns the parameter that is worst at the end, and its value; one that is not defined is worst.
    fn worst<'a>(&self, parameters: &'a [ConvergenceSeries]) -> Option<(&'a ConvergenceSeries, f64)> {
        let badness = |value: f64| match (value.is_nan(), self.more_is_better) {
            (true, _) => f64::INFINITY,
            (false, true) => -value,
            (false, false) => value,
        };
        let last = parameters.iter().filter_map(|one| Some((one, *(self.values)(one).last()?)));
        last.max_by(|a, b| badness(a.1).total_cmp(&badness(b.1)))
    }

    fn axis(&self, parameters: &[ConvergenceSeries], panel: &Panel) -> Axis {
        let all = parameters.iter().flat_map(|one| (self.values)(one).iter().copied());
        let highest = extent(all).map_or(self.limit, |(_, high)| high).max(self.limit);
        if self.more_is_better {
            panel.y((0.0, 1.06 * highest))
        } else {
            Axis::log((SMALLEST_EXCESS, (1.3 * (highest - 1.0)).max(0.05)), panel.bottom, panel.top)
        }
    }

    /// Returns a value's place on that axis; NaN stays NaN.
    fn place(&self, value: f64) -> f64 {
        if self.more_is_better || value.is_nan() { value } else { (value - 1.0).max(SMALLEST_EXCESS) }
    }
}

const CAPTION: &str = "R-hat and effective sample sizes of every parameter while the run went on.";

impl Plot for ConvergencePlot {
    fn about(&self) -> About {
        About::new(Subject::Convergence, "convergence_plot", "Convergence", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.parameters.is_empty() || self.draws.is_empty() {
            return Err(ReportError::Empty {
                plot: "the convergence plot",
                missing: "a parameter with four draws or more of each chain",
            });
        }
        let mut scene = Scene::new(width.pixels(), 0.0, "R-hat and effective sample sizes while the run went on");
        let what = match self.parameters.len() {
            1 => "one parameter".to_owned(),
            n => format!("all {} parameters", count(n as u64)),
        };
        let chains = match self.superchains {
            Some(groups) => format!("{} chains in {groups} superchains (nested R-hat)", self.chains),
            None if self.chains == 1 => "one chain".to_owned(),
            None => format!("{} chains", self.chains),
        };
        let note =
            format!("{what} over the first draws of {chains}: R-hat falls below 1.01 and effective draws grow evenly");
        let top = head(&mut scene, "Convergence", &note);
        let top = top + self.draw_key(&mut scene, top + 8.0);
        let least = limits::ESS_PER_CHAIN * self.chains as f64;
        let diagnostics = [
            Diagnostic { name: "R-hat", values: |one| &one.rhat, limit: limits::RHAT, more_is_better: false },
            Diagnostic { name: "Bulk ESS", values: |one| &one.ess_bulk, limit: least, more_is_better: true },
            Diagnostic { name: "Tail ESS", values: |one| &one.ess_tail, limit: least, more_is_better: true },
        ];
        let grid = Grid::new(&scene, diagnostics.len(), top + 36.0, INSIDE);
        for (i, diagnostic) in diagnostics.iter().enumerate() {
            let figures = match diagnostic.worst(&self.parameters) {
                Some((worst, value)) if value.is_nan() => format!("not defined: {}", worst.name),
                Some((worst, value)) => format!("worst {}: {}", diagnostic.show(value), worst.name),
                None => String::new(),
            };
            let place = grid.place(&mut scene, i, diagnostic.name, &figures);
            self.draw_panel(&mut scene, diagnostic, &place);
            if grid.is_lowest(i) {
                place.name_x(&mut scene, "draws of each chain");
            }
        }
        scene.height = grid.bottom();
        Ok(scene)
    }
}

impl ConvergencePlot {
    fn draw_panel(&self, scene: &mut Scene, diagnostic: &Diagnostic, panel: &Panel) {
        let x = panel.x((0.0, self.draws.last().copied().unwrap_or(1) as f64));
        let y = diagnostic.axis(&self.parameters, panel);
        panel.draw_x(scene, &x);
        if diagnostic.more_is_better {
            panel.draw_y(scene, &y);
        } else {
            draw_excess_ticks(scene, panel, &y);
        }
        let limit = y.px(diagnostic.place(diagnostic.limit));
        let places: Vec<Vec<f64>> = self
            .parameters
            .iter()
            .map(|one| (diagnostic.values)(one).iter().map(|&v| diagnostic.place(v)).collect())
            .collect();
        let pixels: Vec<f64> = self.draws.iter().map(|&n| x.px(n as f64)).collect();
        if places.iter().flatten().all(|v| v.is_nan()) {
            let why = if self.chains == 1 && !diagnostic.more_is_better { "one chain has none" } else { "not defined" };
            say(scene, panel, why);
        } else if places.len() > MOST_KEYS {
            Spread::measure(places.iter().map(Vec::as_slice), pixels.len()).draw(scene, &pixels, &y);
            // The parameter that ends worst, all along the run.
            let worst = diagnostic.worst(&self.parameters).map(|(worst, _)| &worst.name);
            if let Some(at) = self.parameters.iter().position(|one| Some(&one.name) == worst) {
                line(scene, &pixels, &places[at], &y, VERMILLION);
            }
        } else {
            for (i, values) in places.iter().enumerate() {
                line(scene, &pixels, values, &y, series(i));
            }
        }
        scene.dashed((panel.left, limit), (panel.right, limit), MUTED, 2.5);
        self.draw_tips(scene, diagnostic, panel, &pixels);
    }

    fn draw_tips(&self, scene: &mut Scene, diagnostic: &Diagnostic, panel: &Panel, pixels: &[f64]) {
        let half = 0.5 * (panel.right - panel.left) / pixels.len() as f64;
        for (i, (&n, &at)) in self.draws.iter().zip(pixels).enumerate() {
            let values = self.parameters.iter().filter_map(|one| (diagnostic.values)(one).get(i).copied());
            let values: Vec<f64> = values.filter(|v| !v.is_nan()).collect();
            let Some((low, high)) = extent(values.iter().copied()) else { continue };
            let good = |v: &&f64| {
                if diagnostic.more_is_better { **v >= diagnostic.limit } else { **v < diagnostic.limit }
            };
            let words = format!(
                "{} draws of each chain\n{} {} to {}\n{} of {} parameters as good as asked for",
                count(n as u64),
                diagnostic.name,
                diagnostic.show(low),
                diagnostic.show(high),
                count(values.iter().filter(good).count() as u64),
                count(self.parameters.len() as u64)
            );
            let (left, right) = ((at - half).max(panel.left), (at + half).min(panel.right));
            scene.tip((left, panel.top), (right, panel.bottom), words);
        }
    }

    /// Returns the height of the key's lines below the first.
    fn draw_key(&self, scene: &mut Scene, y: f64) -> f64 {
        let mut keys = Keys::new(y);
        if self.parameters.len() > MOST_KEYS {
            spread_key(scene, &mut keys, "the parameters");
            keys.stroke(scene, VERMILLION, false, "the one that ends worst");
        } else {
            for (i, parameter) in self.parameters.iter().enumerate() {
                let name = font::fit(&parameter.name, SMALL, Weight::Regular, 180.0);
                keys.stroke(scene, series(i), false, &name);
            }
        }
        let least = rate(limits::ESS_PER_CHAIN * self.chains as f64);
        keys.stroke(scene, MUTED, true, &format!("to ask for: 1.01, {least}"));
        keys.below(y)
    }
}

fn line(scene: &mut Scene, pixels: &[f64], values: &[f64], y: &Axis, colour: super::super::palette::Colour) {
    let points: Vec<_> = pixels.iter().zip(values).filter(|(_, v)| !v.is_nan()).map(|(&x, &v)| (x, y.px(v))).collect();
    for &point in &points {
        scene.disc(point, 4.0, colour);
    }
    scene.line(points, colour, 2.5);
}

/// Ticks at 1.001, 1.01, 1.1, 2, 11, ... on an axis of what R-hat has above 1.
fn draw_excess_ticks(scene: &mut Scene, panel: &Panel, y: &Axis) {
    let powers = (-3..9).flat_map(|power| [1.0, 3.0].map(|m| (m * 10f64.powi(power), m == 1.0, power)));
    for (excess, whole, power) in powers.filter(|(excess, ..)| y.contains(*excess)) {
        let at = y.px(excess);
        scene.line(vec![(panel.left, at), (panel.right, at)], GRID, 1.5);
        if whole {
            let decimals = usize::try_from(-power).unwrap_or(0);
            let at_most = if power == -3 { "\u{2264}\u{2009}" } else { "" };
            let value = 1.0 + excess;
            let label = if power > 3 { format!("{value:.0e}") } else { format!("{at_most}{value:.decimals$}") };
            scene.text(Text::new((panel.left - 12.0, at), label, SMALL, MUTED).align(Align::Right));
        }
    }
}
