//! Drawing of the performance comparison as dots, with its title and caption. Bars would have lengths, which mean nothing
//! on a logarithmic axis.

use super::super::axis::Axis;
use super::super::palette::{BLUE, GREEN, INK, MUTED, SHADE};
use super::super::panel::{HEADING, MARGIN, Panel, SMALL, head};
use super::super::scene::{Align, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{PerformancePlot, PerformanceResult, PerformanceRow};
use crate::error::ReportError;
use crate::format::{rate, round_seconds, seconds, significant};
use crate::measured::Measured;

const ROW: f64 = 46.0;
/// The height of a range.
const BAR: f64 = 26.0;
/// The radius of a dot.
const DOT: f64 = 9.0;
const PROBLEM: f64 = 58.0;
const WIDEST_LABEL: f64 = 520.0;
/// Room right of a panel for the value beside its last dot: of a time and of a rate.
const VALUE: f64 = 190.0;
const RATE: f64 = 114.0;

/// The parts of the width beside the labels: of wall time, and of each of the two rates.
const TIMES: f64 = 0.42;
const RATES: f64 = 0.29;

const CAPTION: &str = "Wall time with warm-up, and samples and effective draws for each second of it. Beside the dot of a GPU: how \
                       many times as fast it is as the CPU with the same chains.";

impl Plot for PerformancePlot {
    fn about(&self) -> About {
        About::new(Subject::Performance, "performance_comparison", "Performance", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        if self.rows.is_empty() {
            return Err(ReportError::Empty { plot: "the performance comparison", missing: "a measurement" });
        }
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Performance comparison: wall time, samples and effective draws a second");
        let top = head(
            &mut scene,
            "Performance",
            "wall time with warm-up (less is better); samples and smallest bulk ESS for each second of it (more is better); logarithmic axes",
        );
        if scene.is_narrow() {
            scene.height = self.draw_narrow(&mut scene, top);
            return Ok(scene);
        }
        let problems = self.problems();
        let labels = self.rows.iter().map(|row| font::width(&row.label, SMALL, Weight::Regular));
        let headings = problems.iter().map(|(problem, _)| font::width(problem, HEADING, Weight::Bold));
        let left = MARGIN + labels.chain(headings).fold(0.0, f64::max).min(WIDEST_LABEL) + 20.0;
        let height = PROBLEM * problems.len() as f64 + ROW * self.rows.len() as f64;
        let at = |share: f64| left + share * (scene.width - MARGIN - left);
        let times = Panel { left, top: top + 40.0, right: at(TIMES) - VALUE, bottom: top + 40.0 + height };
        let rate = |from: f64| Panel { left: at(from), right: at(from + RATES) - RATE, ..times };
        let (samples, ess) = (rate(TIMES), rate(TIMES + RATES));
        let axis =
            |range: Option<(f64, f64)>, panel: &Panel| range.map(|range| Axis::log(range, panel.left, panel.right));
        let axes = Axes {
            time: axis(self.wall_range(), &times),
            samples: axis(self.samples_range(), &samples),
            ess: axis(self.ess_range(), &ess),
        };
        let panels = [
            (&times, &axes.time, Measure::Time),
            (&samples, &axes.samples, Measure::Samples),
            (&ess, &axes.ess, Measure::Ess),
        ];
        for (panel, axis, measure) in panels {
            if let Some(axis) = axis {
                panel.draw_x(&mut scene, axis);
                scene.text(Text::new((panel.left, top + 12.0), measure.name(), SMALL, INK).bold());
            }
        }
        let mut y = times.top;
        for (problem, rows) in problems {
            scene.text(
                Text::new(
                    (MARGIN, y + 0.55 * PROBLEM),
                    font::fit(problem, HEADING, Weight::Bold, left - MARGIN - 10.0),
                    HEADING,
                    INK,
                )
                .bold(),
            );
            y += PROBLEM;
            for row in rows {
                let label = font::fit(&row.label, SMALL, Weight::Regular, WIDEST_LABEL);
                scene.text(Text::new((left - 14.0, y + 0.5 * ROW), label, SMALL, INK).align(Align::Right));
                draw_row(&mut scene, row, y + 0.5 * ROW, left, &axes);
                scene.tip((MARGIN, y), (scene.width - MARGIN, y + ROW), row.tip());
                y += ROW;
            }
        }
        scene.height = times.bottom + 60.0;
        Ok(scene)
    }
}

impl PerformancePlot {
    /// Three panels below each other, with the label of each row above it; returns where they end.
    fn draw_narrow(&self, scene: &mut Scene, top: f64) -> f64 {
        const LABELLED: f64 = ROW + 26.0;
        let room = scene.width - 2.0 * MARGIN;
        let mut y = top;
        for measure in [Measure::Time, Measure::Samples, Measure::Ess] {
            let range = self.range(measure);
            // The first panel also says what was not measured.
            if range.is_none() && measure != Measure::Time {
                continue;
            }
            let shown = |row: &PerformanceRow| row.has(measure);
            let problems = self.problems();
            let rows: usize = self.rows.iter().filter(|row| shown(row)).count();
            let headings = problems.iter().filter(|(_, rows)| rows.iter().any(|row| shown(row))).count();
            scene.text(Text::new((MARGIN, y + 12.0), measure.name(), SMALL, INK).bold());
            let height = PROBLEM * headings as f64 + LABELLED * rows as f64;
            let right = scene.width - MARGIN - measure.room();
            let panel = Panel { left: MARGIN, top: y + 40.0, right, bottom: y + 40.0 + height };
            let axis = range.map(|range| Axis::log(range, panel.left, panel.right));
            if let Some(axis) = &axis {
                panel.draw_x(scene, axis);
            }
            let axes = measure.axes(axis);
            y = panel.top;
            for (problem, rows) in problems {
                let rows: Vec<_> = rows.into_iter().filter(|row| shown(row)).collect();
                if rows.is_empty() {
                    continue;
                }
                let heading = font::fit(problem, HEADING, Weight::Bold, room);
                scene.text(Text::new((MARGIN, y + 0.55 * PROBLEM), heading, HEADING, INK).bold());
                y += PROBLEM;
                for row in rows {
                    let label = font::fit(&row.label, SMALL, Weight::Regular, room);
                    scene.text(Text::new((MARGIN, y + 12.0), label, SMALL, MUTED));
                    draw_row(scene, row, y + 12.0 + 0.7 * ROW, panel.left, &axes);
                    // The words tell all measures: once is enough.
                    if measure == Measure::Time {
                        scene.tip((MARGIN, y), (scene.width - MARGIN, y + LABELLED), row.tip());
                    }
                    y += LABELLED;
                }
            }
            y = panel.bottom + 76.0;
        }
        y
    }

    fn range(&self, measure: Measure) -> Option<(f64, f64)> {
        match measure {
            Measure::Time => self.wall_range(),
            Measure::Samples => self.samples_range(),
            Measure::Ess => self.ess_range(),
        }
    }
}

/// What a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Time,
    Samples,
    Ess,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Time => "wall time, s",
            Self::Samples => "samples / s",
            Self::Ess => "min ESS / s",
        }
    }

    /// Returns the room right of the panel for the value beside its last dot.
    fn room(self) -> f64 {
        if self == Self::Time { VALUE } else { RATE }
    }

    /// Returns the axes of a picture of this measure alone.
    fn axes(self, axis: Option<Axis>) -> Axes {
        match self {
            Self::Time => Axes { time: axis, ..Axes::default() },
            Self::Samples => Axes { samples: axis, ..Axes::default() },
            Self::Ess => Axes { ess: axis, ..Axes::default() },
        }
    }
}

impl PerformanceRow {
    /// Returns whether the row has something to show in the panel of this measure.
    fn has(&self, measure: Measure) -> bool {
        let rates = match &self.result {
            PerformanceResult::Run { wall_s: Measured::Value(_), samples_per_s, min_ess_per_s, .. } => {
                (samples_per_s.is_some(), min_ess_per_s.is_some())
            }
            _ => (false, false),
        };
        match measure {
            Measure::Time => true,
            Measure::Samples => rates.0,
            Measure::Ess => rates.1,
        }
    }

    /// All of its words, which the picture may have to cut.
    fn tip(&self) -> String {
        let told = match &self.result {
            PerformanceResult::Run { wall_s: Measured::NotMeasured(reason), .. } => format!("not measured: {reason}"),
            PerformanceResult::Run { wall_s: Measured::Value(wall), samples_per_s, min_ess_per_s, speedup, .. } => {
                let told = |name: &str, value: Option<f64>| {
                    value.map_or(String::new(), |value| format!(", {name} {}", rate(value)))
                };
                let speedup = speedup.map_or(String::new(), |ratio| format!(" ({}x)", significant(ratio, 3)));
                let rates = told("samples / s", *samples_per_s) + &told("min ESS / s", *min_ess_per_s);
                format!("wall time {}{speedup}{rates}", seconds(*wall))
            }
            PerformanceResult::Expected { wall_s: (low, high) } => {
                format!("wall time {} to {}", round_seconds(*low), round_seconds(*high))
            }
        };
        format!("{}, {}\n{told}", self.label, self.problem)
    }
}

/// The axes of the three panels, where there is anything to span.
#[derive(Default)]
struct Axes {
    time: Option<Axis>,
    samples: Option<Axis>,
    ess: Option<Axis>,
}

/// The result of a row at height `y`, right of `left`, without its label.
fn draw_row(scene: &mut Scene, row: &PerformanceRow, y: f64, left: f64, axes: &Axes) {
    match &row.result {
        PerformanceResult::Run { wall_s: Measured::NotMeasured(reason), .. } => {
            let words = format!("not measured: {reason}");
            let words = font::fit(&words, SMALL, Weight::Regular, scene.width - MARGIN - left - 10.0);
            scene.text(Text::new((left + 10.0, y), words, SMALL, MUTED));
        }
        PerformanceResult::Run { wall_s: Measured::Value(wall), samples_per_s, min_ess_per_s, gpu, speedup } => {
            let colour = if *gpu { GREEN } else { BLUE };
            let speedup = speedup.map_or(String::new(), |ratio| format!(" ({}x)", significant(ratio, 3)));
            dot(scene, axes.time.as_ref(), *wall, y, colour, seconds(*wall) + &speedup);
            for (axis, value) in [(&axes.samples, samples_per_s), (&axes.ess, min_ess_per_s)] {
                if let Some(value) = value {
                    dot(scene, axis.as_ref(), *value, y, colour, rate(*value));
                }
            }
        }
        PerformanceResult::Expected { wall_s: (low, high) } => {
            let Some(axis) = &axes.time else { return };
            let (from, to) = (axis.px(*low), axis.px(*high));
            hatched(scene, from, to, y);
            let words = format!("{} to {}", round_seconds(*low), round_seconds(*high));
            // Beside the range, on the side with room.
            let text = Text::new((0.0, y), words, SMALL, MUTED);
            let (_, end) = axis.range();
            if to + 12.0 + text.width() < axis.px(end) + VALUE {
                scene.text(Text { at: (to + 12.0, y), ..text });
            } else {
                scene.text(Text { at: (from - 12.0, y), ..text }.align(Align::Right));
            }
        }
    }
}

/// A dot at a value with a thin line to it, and the value in words.
fn dot(
    scene: &mut Scene,
    axis: Option<&Axis>,
    value: f64,
    y: f64,
    colour: super::super::palette::Colour,
    words: String,
) {
    let Some(axis) = axis else { return };
    let start = axis.px(axis.range().0);
    if value.is_nan() || value <= 0.0 {
        scene.text(Text::new((start + 10.0, y), words, SMALL, MUTED));
        return;
    }
    let x = axis.px(value);
    scene.faint_line(vec![(start, y), (x, y)], colour, 2.0, 0.3);
    scene.disc((x, y), DOT, colour);
    scene.text(Text::new((x + DOT + 8.0, y), words, SMALL, INK));
}

/// A grey range with strokes at a slant.
fn hatched(scene: &mut Scene, from: f64, to: f64, y: f64) {
    const PITCH: f64 = 12.0;
    let (top, bottom) = (y - 0.5 * BAR, y + 0.5 * BAR);
    scene.rect((from, top), (to.max(from + 2.0), bottom), SHADE, 0.55);
    let mut start = from - BAR;
    while start < to {
        // The stroke from (start, bottom) to (start + BAR, top), cut to the range.
        let (low, high) = (start.max(from), (start + BAR).min(to));
        if high > low {
            scene.line(vec![(low, bottom - (low - start)), (high, bottom - (high - start))], MUTED, 2.0);
        }
        start += PITCH;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn words_about_a_range_stand_on_the_side_with_room() {
        let axis = Axis::log((3600.0, 36_000.0), 700.0, 900.0);
        for (wall_s, words, at, align) in [
            ((7800.0, 36_000.0), "2 h 10 min to 10 h 0 min", axis.px(7800.0) - 12.0, Align::Right),
            ((3600.0, 7200.0), "60 min to 2 h 0 min", axis.px(7200.0) + 12.0, Align::Left),
        ] {
            let result = PerformanceResult::Expected { wall_s };
            let row = PerformanceRow { problem: String::new(), label: String::new(), result };
            let mut scene = Scene::new(WIDTH, 100.0, "");
            draw_row(&mut scene, &row, 50.0, 700.0, &Axes { time: Some(axis), ..Axes::default() });
            let expected = Text::new((at, 50.0), words, SMALL, MUTED).align(align);
            assert_eq!(scene.shapes.last(), Some(&Shape::Text(expected)));
        }
    }

    #[test]
    fn words_beside_a_range_have_room_for_their_gap_too() {
        let words = Text::new((0.0, 0.0), "60 min to 2 h 0 min", SMALL, MUTED).width();
        // The range ends so that words and gap fit the room beside the axis, or miss it by a pixel.
        for (room, align) in [(words + 12.5, Align::Left), (words + 11.5, Align::Right)] {
            // Two hours are at this place.
            let place = 900.0 + VALUE - room;
            let end = 3600.0 * (200.0 * 2.0_f64.ln() / (place - 700.0)).exp();
            let axis = Axis::log((3600.0, end), 700.0, 900.0);
            let result = PerformanceResult::Expected { wall_s: (3600.0, 7200.0) };
            let row = PerformanceRow { problem: String::new(), label: String::new(), result };
            let mut scene = Scene::new(WIDTH, 100.0, "");
            draw_row(&mut scene, &row, 50.0, 700.0, &Axes { time: Some(axis), ..Axes::default() });
            let Some(Shape::Text(text)) = scene.shapes.last() else { panic!("{:?}", scene.shapes) };
            assert_eq!(text.align, align, "{room}: {text:?}");
        }
    }

    #[test]
    fn a_range_is_hatched_from_end_to_end() {
        let mut scene = Scene::new(WIDTH, 100.0, "");
        hatched(&mut scene, 100.0, 120.0, 50.0);
        let strokes: Vec<Vec<(f64, f64)>> = scene
            .shapes
            .iter()
            .filter_map(|shape| if let Shape::Line { points, .. } = shape { Some(points.clone()) } else { None })
            .collect();
        let expected = [
            vec![(100.0, 49.0), (112.0, 37.0)],
            vec![(100.0, 61.0), (120.0, 41.0)],
            vec![(110.0, 63.0), (120.0, 53.0)],
        ];
        assert_eq!(strokes, expected);
        // A range of no length is two pixels wide.
        let mut scene = Scene::new(WIDTH, 100.0, "");
        hatched(&mut scene, 100.0, 100.0, 50.0);
        let points = vec![(100.0, 37.0), (102.0, 37.0), (102.0, 63.0), (100.0, 63.0)];
        assert_eq!(scene.shapes[0], Shape::Area { points, colour: SHADE, opacity: 0.55 });
    }

    #[test]
    fn a_dot_is_at_its_value_or_there_are_words_alone() {
        let axis = Axis::log((1.0, 10.0), 100.0, 500.0);
        let drawn = |value: f64| {
            let mut scene = Scene::new(WIDTH, 100.0, "");
            dot(&mut scene, Some(&axis), value, 50.0, BLUE, "words".to_owned());
            scene.shapes
        };
        let alone = [Shape::Text(Text::new((110.0, 50.0), "words", SMALL, MUTED))];
        for value in [f64::NAN, 0.0, -1.0] {
            assert_eq!(drawn(value), alone, "{value}");
        }
        for (value, x) in [(1.0, 100.0), (10.0, 500.0)] {
            let line = Shape::Line { points: vec![(100.0, 50.0), (x, 50.0)], colour: BLUE, width: 2.0, opacity: 0.3 };
            let disc = Shape::Disc { at: (x, 50.0), radius: DOT, colour: BLUE };
            let words = Text::new((x + DOT + 8.0, 50.0), "words", SMALL, INK);
            assert_eq!(drawn(value), [line, disc, Shape::Text(words)], "{value}");
        }
    }
}
