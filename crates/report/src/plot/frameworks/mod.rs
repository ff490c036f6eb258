//! Frameworks side by side: a measurement of each in each case, with its interval.

mod draw;

use super::axis::extent;
use crate::format::{bytes, rate, seconds, significant};

/// The data of a picture of frameworks side by side.
#[derive(Clone, Debug)]
pub struct FrameworksPlot {
    /// The quantity that was measured.
    pub measured: FrameworkMeasure,
    /// The measurements, those of one case beside each other.
    pub rows: Vec<FrameworkRow>,
}

/// The quantity that the picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameworkMeasure {
    /// Wall time in seconds.
    Seconds,
    /// Seconds over those of Octopus: above 1 Octopus is faster.
    TimesOctopus,
    /// The most memory of the process, in bytes.
    Bytes,
    /// Effective draws a second.
    EssPerSecond,
}

/// A framework in a case.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameworkRow {
    /// The case; rows of one stand together under it.
    pub case: String,
    /// The framework.
    pub framework: String,
    /// The median with the ends of its interval, or why there is none.
    pub value: Result<(f64, (f64, f64)), String>,
}

impl FrameworkMeasure {
    fn axis(self) -> &'static str {
        match self {
            Self::Seconds => "wall time, s",
            Self::TimesOctopus => "times as long as Octopus",
            Self::Bytes => "memory, bytes",
            Self::EssPerSecond => "effective draws / s",
        }
    }

    fn note(self) -> &'static str {
        match self {
            Self::Seconds => {
                "median of inference, warm-up included, with its 95 % interval; less is better; logarithmic axis"
            }
            Self::TimesOctopus => {
                "seconds over those of Octopus in the same repetitions, with the 95 % interval; above 1 Octopus is faster; \
                 logarithmic axis"
            }
            Self::Bytes => "the most memory of the framework's process; less is better; logarithmic axis",
            Self::EssPerSecond => {
                "smallest bulk ESS of a parameter for each second, with its 95 % interval; more is better; logarithmic axis"
            }
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Seconds => seconds(value),
            Self::TimesOctopus => format!("{}x", significant(value, 3)),
            Self::Bytes => bytes(value as u64),
            Self::EssPerSecond => rate(value),
        }
    }
}

impl FrameworksPlot {
    /// Returns the rows of each case, cases in order of appearance.
    fn cases(&self) -> Vec<(&str, Vec<&FrameworkRow>)> {
        let mut cases: Vec<(&str, Vec<&FrameworkRow>)> = Vec::new();
        for row in &self.rows {
            match cases.iter_mut().find(|(name, _)| *name == row.case) {
                Some((_, rows)) => rows.push(row),
                None => cases.push((&row.case, vec![row])),
            }
        }
        cases
    }

    /// Returns the range of all intervals with a little room, 1 in it where Octopus is the measure.
    fn range(&self) -> Option<(f64, f64)> {
        let ends = self.rows.iter().filter_map(|row| row.value.as_ref().ok());
        let ends = ends.flat_map(|&(median, (low, high))| [median, low, high]).filter(|v| *v > 0.0 && v.is_finite());
        let (mut low, mut high) = extent(ends)?;
        if self.measured == FrameworkMeasure::TimesOctopus {
            (low, high) = (low.min(1.0), high.max(1.0));
        }
        let room = (high / low).powf(0.05).max(1.2);
        Some((low / room, high * room))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn row(case: &str, framework: &str, median: f64) -> FrameworkRow {
        let value = Ok((median, (0.9 * median, 1.2 * median)));
        FrameworkRow { case: case.to_owned(), framework: framework.to_owned(), value }
    }

    fn plot(measured: FrameworkMeasure) -> FrameworksPlot {
        let why = Err("no method nuts here".to_owned());
        let case = "polynomial n=1000; importance particles=10000 proposal=laplace; f64, cpu, 1";
        let rows = vec![
            row("polynomial n=50; nuts", "octopus", 1.4),
            row("polynomial n=50; nuts", "numpyro", 250.0),
            FrameworkRow { value: why, ..row("polynomial n=50; nuts", "handwritten-jax", 1.0) },
            row(case, "octopus", 0.2),
            row(case, "handwritten-jax", 3.0),
        ];
        FrameworksPlot { measured, rows }
    }

    #[test]
    fn every_measure_is_drawn_without_a_flaw() {
        for measured in [
            FrameworkMeasure::Seconds,
            FrameworkMeasure::TimesOctopus,
            FrameworkMeasure::Bytes,
            FrameworkMeasure::EssPerSecond,
        ] {
            let scale = if measured == FrameworkMeasure::Bytes { 1e8 } else { 1.0 };
            let mut plot = plot(measured);
            for row in &mut plot.rows {
                row.value = row.value.clone().map(|(m, (low, high))| (scale * m, (scale * low, scale * high)));
            }
            assert_eq!(flaws(&plot), Vec::<String>::new(), "{measured:?}");
        }
    }

    #[test]
    fn one_is_on_the_axis_of_ratios_alone() {
        let mut slow = plot(FrameworkMeasure::TimesOctopus);
        slow.rows.retain(|row| row.value.as_ref().is_ok_and(|(median, _)| *median > 2.0));
        let (low, high) = slow.range().unwrap();
        assert!(low < 1.0 && high > 300.0);
        slow.measured = FrameworkMeasure::Seconds;
        assert!(slow.range().unwrap().0 > 1.0);
    }

    #[test]
    fn nothing_to_draw_is_told() {
        let nothing = FrameworksPlot { measured: FrameworkMeasure::Seconds, rows: Vec::new() };
        assert!(nothing.check().unwrap_err().to_string().contains("a measurement"));
    }
}
