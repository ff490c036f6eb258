//! Scaling: how time or speed grows with the size of a problem, the number of chains or threads.

mod draw;

use super::axis::extent;
use crate::format::{rate, seconds};

/// The data of a plot of scaling.
#[derive(Clone, Debug)]
pub struct ScalingPlot {
    /// What was measured, as the picture's title; empty for `Scaling with ...`.
    pub title: String,
    /// The size that grows, e.g. `groups`, `chains`, `observations` or `threads`.
    pub along: String,
    /// The quantity that was measured.
    pub measured: ScalingMeasure,
    /// One line for each engine or setting.
    pub series: Vec<ScalingSeries>,
}

/// The quantity that a plot of scaling shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingMeasure {
    /// Wall time in seconds: less is better.
    Seconds,
    /// Something of which more a second is better, in words, e.g. `effective draws`.
    PerSecond(&'static str),
}

/// One engine or setting.
#[derive(Clone, Debug)]
pub struct ScalingSeries {
    /// The name of the line.
    pub name: String,
    /// The size and the measurement of each point, in any order; repeats of a size stand beside each other, and their
    /// median is on the line.
    pub points: Vec<(f64, f64)>,
}

impl ScalingMeasure {
    fn axis(self) -> String {
        match self {
            Self::Seconds => "wall time, s".to_owned(),
            Self::PerSecond(what) => format!("{what} / s"),
        }
    }

    fn note(self) -> String {
        match self {
            Self::Seconds => "wall time, less is better".to_owned(),
            Self::PerSecond(what) => format!("{what} a second, more is better"),
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Seconds => seconds(value),
            Self::PerSecond(what) => format!("{} {what} / s", rate(value)),
        }
    }
}

impl ScalingSeries {
    /// Points that have a place on logarithmic axes, by size.
    fn shown(&self) -> Vec<(f64, f64)> {
        let good = |v: f64| v > 0.0 && v.is_finite();
        let mut points: Vec<(f64, f64)> = self.points.iter().copied().filter(|&(x, y)| good(x) && good(y)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points
    }

    /// Returns the median at each size, in order.
    fn medians(&self) -> Vec<(f64, f64)> {
        let points = self.shown();
        let of_size = points.chunk_by(|a, b| a.0 == b.0);
        of_size
            .map(|repeats| {
                let values: Vec<f64> = repeats.iter().map(|point| point.1).collect();
                (repeats[0].0, octopus_diag::quantile_of_sorted(&values, 0.5))
            })
            .collect()
    }

    /// Returns the exponent b of `y = a x^b` through the medians, by least squares of the logarithms; none with fewer
    /// than two sizes.
    fn slope(&self) -> Option<f64> {
        let logs: Vec<(f64, f64)> = self.medians().into_iter().map(|(x, y)| (x.ln(), y.ln())).collect();
        let n = logs.len() as f64;
        let (x, y) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
        let (xx, xy) = logs.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x).powi(2), b + (p.0 - x) * (p.1 - y)));
        (xx > 0.0).then_some(xy / xx)
    }
}

impl ScalingPlot {
    /// Returns the range of one coordinate of all points, with room at either end on a logarithmic axis, at most by the
    /// factor `most` at the upper one.
    fn range(&self, of: impl Fn((f64, f64)) -> f64, most: f64) -> Option<(f64, f64)> {
        let (low, high) = extent(self.series.iter().flat_map(ScalingSeries::shown).map(of))?;
        let room = (high / low).powf(0.06).max(1.15);
        Some((low / room, high * room.min(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn series(name: &str, scale: f64, power: f64) -> ScalingSeries {
        let points =
            [1e2, 1e3, 1e4, 1e5].iter().flat_map(|&x: &f64| [0.9, 1.0, 1.2].map(|j| (x, j * scale * x.powf(power))));
        ScalingSeries { name: name.to_owned(), points: points.collect() }
    }

    fn plot(series: Vec<ScalingSeries>) -> ScalingPlot {
        ScalingPlot { title: String::new(), along: "groups".to_owned(), measured: ScalingMeasure::Seconds, series }
    }

    /// By hand: the logarithms to base 10 of the sizes are 1, 2 and 3, so the slope is half the last less the first.
    #[test]
    fn the_slope_is_that_of_least_squares() {
        let one = ScalingSeries { name: "a".to_owned(), points: vec![(10.0, 1.0), (100.0, 5.0), (1000.0, 20.0)] };
        assert!((one.slope().unwrap() - 20f64.log10() / 2.0).abs() < 1e-12);
        let odd = vec![(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::INFINITY, 1.0), (2.0, 3.0)];
        assert_eq!(ScalingSeries { name: "b".to_owned(), points: odd }.shown(), [(2.0, 3.0)]);
    }

    #[test]
    fn the_slope_is_the_exponent_of_the_medians() {
        let one = series("a", 1e-3, 0.8);
        assert_eq!(one.medians().len(), 4);
        assert!((one.medians()[0].1 - 1e-3 * 1e2f64.powf(0.8)).abs() < 1e-12);
        assert!((one.slope().unwrap() - 0.8).abs() < 1e-12);
        assert_eq!(ScalingSeries { name: String::new(), points: vec![(2.0, 1.0), (2.0, 3.0)] }.slope(), None);
    }

    /// A name and a slope take 62 pixels; up to eleven lines have the height of one.
    #[test]
    fn the_picture_grows_with_the_names_beside_it() {
        let height = |lines: usize| plot(vec![series("a", 1.0, 1.0); lines]).scene().unwrap().height;
        assert_eq!([11, 12, 20].map(|lines| height(lines) - height(1)), [0.0, 44.0, 540.0]);
    }

    #[test]
    fn lines_that_end_together_and_odd_values() {
        let same: Vec<_> =
            (0..9).map(|i| series(&format!("engine {i}"), 1e-3 * (1.0 + 0.001 * f64::from(i)), 1.0)).collect();
        let odd = ScalingSeries {
            name: "a very long name of an engine ".repeat(4),
            points: vec![(0.0, 1.0), (1.0, f64::NAN), (3.0, 5.0), (4.0, f64::INFINITY), (5.0, -1.0)],
        };
        let nothing = ScalingSeries { name: "nothing".to_owned(), points: vec![] };
        for series in
            [same, vec![series("a", 1e-9, 2.0), odd.clone(), nothing.clone()], vec![odd], vec![series("one", 1.0, 0.0)]]
        {
            let mut plot = plot(series);
            assert_eq!(flaws(&plot), [""; 0]);
            plot.measured = ScalingMeasure::PerSecond("effective draws");
            plot.along = "a long name of what grows ".repeat(3);
            assert_eq!(flaws(&plot), [""; 0]);
        }
        for series in [vec![], vec![nothing]] {
            assert!(plot(series).png().unwrap_err().to_string().contains("measurement"));
        }
    }
}
