//! The axis of a plot, linear or logarithmic: its ticks and tick labels, and how values become pixels.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    /// Base 10; every value is positive.
    Log,
}

/// A range of values on a range of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

impl Axis {
    /// Values from `low` to `high` on pixels `from` to `to`. An empty range is widened around its value.
    pub(crate) fn linear((low, high): (f64, f64), from: f64, to: f64) -> Self {
        let (low, high) = match (low.is_finite(), high.is_finite()) {
            (true, true) if high > low => (low, high),
            (true, true) => {
                let room = (low.abs() * 1e-3).max(1e-9);
                (low - room, low + room)
            }
            _ => (0.0, 1.0),
        };
        Self { kind: Kind::Linear, low, high, from, to }
    }

    /// Positive values from `low` to `high` on pixels `from` to `to`, logarithmically.
    pub(crate) fn log((low, high): (f64, f64), from: f64, to: f64) -> Self {
        let good = low > 0.0 && high >= low && high.is_finite();
        let (low, high) = if good { (low, high) } else { (1.0, 10.0) };
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, low * 2.0) };
        Self { kind: Kind::Log, low, high, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        match self.kind {
            // A span that is too large for its type is measured in halves.
            Kind::Linear if (self.high - self.low).is_infinite() => {
                (0.5 * value - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low)
            }
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Returns the pixel of `value`, held within the axis.
    pub(crate) fn px(&self, value: f64) -> f64 {
        self.from + self.place(value).clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Returns whether `value` lies on the axis.
    pub(crate) fn contains(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// Returns the range of values.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns at most `wanted` ticks at round values (at least two, except on a logarithmic axis without any).
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.kind {
            Kind::Linear => linear_ticks(self.low, self.high, wanted),
            Kind::Log => log_ticks(self.low, self.high, wanted),
        }
    }
}

/// Returns the widest range that holds all finite values; `None` when there is none.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| v.is_finite()).fold(None, |range, v| match range {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

/// `range` with a `share` of its length added at either end.
pub(crate) fn widened((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let room = (high - low) * share;
    (low - room, high + room)
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    /// Finer steps have no power of ten, and the ends of the axis must do.
    const FINEST: f64 = 1e-300;
    let wanted = wanted.max(2);
    let finest = (high - low) / wanted as f64;
    if !finest.is_finite() || finest < FINEST {
        let end = |value: f64| Tick { value, label: minus(&format!("{value:.2e}")) };
        return vec![end(low), end(high)];
    }
    let magnitude = ((high - low) / wanted as f64).log10().floor() as i32;
    // Steps 1, 2, 5 times a power of ten, growing, until few enough ticks remain.
    let mut finer: Vec<Tick> = Vec::new();
    for exponent in magnitude..magnitude + 4 {
        for mantissa in [1.0, 2.0, 5.0] {
            let ticks = even_ticks(low, high, mantissa, exponent);
            if ticks.len() > wanted {
                finer = ticks;
            } else if ticks.len() < 2 && !finer.is_empty() {
                // One tick tells no scale: some of the finer ones do.
                let every = finer.len().div_ceil(wanted);
                return finer.into_iter().step_by(every).collect();
            } else {
                return ticks;
            }
        }
    }
    finer.truncate(wanted);
    finer
}

/// Returns the multiples of `mantissa` times ten to the `exponent` within the range.
fn even_ticks(low: f64, high: f64, mantissa: f64, exponent: i32) -> Vec<Tick> {
    let step = mantissa * 10f64.powi(exponent);
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let decimals = usize::try_from(-exponent).unwrap_or(0);
    let large = low.abs().max(high.abs()) >= 1e7 || decimals > 6;
    // Whole numbers are added first, so that zero is zero, and has no minus.
    let mut values: Vec<f64> = (0..(last - first + 1.0).max(0.0) as usize).map(|i| (first + i as f64) * step).collect();
    // Where the step is less than a digit of the values, several are one.
    values.dedup();
    let labels = |digits: usize| -> Vec<String> {
        let label = |value: &f64| if large { format!("{value:.digits$e}") } else { format!("{value:.decimals$}") };
        values.iter().map(|value| minus(&label(value))).collect()
    };
    // As many digits as tell neighbours apart: 3.000000000000001e14.
    let told_apart = |digits: &usize| labels(*digits).windows(2).all(|pair| pair[0] != pair[1]);
    let digits = if large { (2..16).find(told_apart).unwrap_or(16) } else { 2 };
    let labels = labels(digits);
    values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect()
}

fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let at = |mantissas: &[f64], every: i32| {
        let mut ticks = Vec::new();
        for exponent in (low.log10().floor() as i32)..=(high.log10().ceil() as i32) {
            if exponent.rem_euclid(every) != 0 {
                continue;
            }
            for mantissa in mantissas {
                let value = mantissa * 10f64.powi(exponent);
                if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                    ticks.push(Tick { value, label: power_label(value, exponent) });
                }
            }
        }
        ticks
    };
    let sparser: [(&[f64], i32); 5] = [(&[1.0, 2.0, 5.0], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 4)];
    for (mantissas, every) in sparser {
        let ticks = at(mantissas, every);
        if ticks.len() <= wanted.max(2) {
            return ticks;
        }
    }
    Vec::new()
}

fn power_label(value: f64, exponent: i32) -> String {
    match exponent {
        -3..=-1 => format!("{value:.*}", exponent.unsigned_abs() as usize),
        0..=3 => format!("{value:.0}"),
        4..=5 => format!("{:.0}k", value / 1e3),
        6..=8 => format!("{:.0}M", value / 1e6),
        _ => format!("{value:.0e}"),
    }
}

/// Returns the typographic minus sign, as wide as a plus.
fn minus(label: &str) -> String {
    label.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn zero_has_no_minus() {
        let labels: Vec<String> = even_ticks(-1e-12, 0.2, 1.0, -1).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0.0", "0.1", "0.2"]);
    }

    #[test]
    fn an_empty_range_is_widened() {
        let ends = |axis: Axis| (axis.low, axis.high);
        assert_eq!(ends(Axis::linear((500.0, 500.0), 0.0, 1.0)), (499.5, 500.5));
        assert_eq!(ends(Axis::linear((0.0, 0.0), 0.0, 1.0)), (-1e-9, 1e-9));
        assert_eq!(ends(Axis::log((8.0, 8.0), 0.0, 1.0)), (4.0, 16.0));
        for odd in [(0.0, 1.0), (2.0, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(ends(Axis::log(odd, 0.0, 1.0)), (1.0, 10.0));
        }
    }

    #[test]
    fn linear_ticks_are_round_and_few() {
        assert_eq!(labels(&Axis::linear((0.0, 10.0), 0.0, 100.0).ticks(6)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&Axis::linear((-0.13, 0.31), 0.0, 1.0).ticks(6)), ["−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(&Axis::linear((48.7, 51.2), 0.0, 1.0).ticks(4)), ["49", "50", "51"]);
        assert_eq!(labels(&Axis::linear((1.57, 2.45), 0.0, 1.0).ticks(4)), ["1.6", "2.0", "2.4"]);
        assert!(labels(&Axis::linear((1e8, 3e8), 0.0, 1.0).ticks(4)).contains(&"2.00e8"));
        assert!(labels(&Axis::linear((0.0, 4e-8), 0.0, 1.0).ticks(6)).contains(&"1.00e−8"));
        assert!(labels(&Axis::linear((0.0, 4e-6), 0.0, 1.0).ticks(6)).contains(&"0.000001"));
        for wanted in 2..12 {
            for (low, high) in [(0.0, 1.0), (-3.0, 17.0), (1e-5, 9e-5), (0.95, 1.0500001), (-1e6, 1.0)] {
                let ticks = Axis::linear((low, high), 0.0, 1.0).ticks(wanted);
                assert!((1..=wanted).contains(&ticks.len()), "{low} {high} {wanted}: {ticks:?}");
                assert!(ticks.iter().all(|t| t.value >= low - 1e-6 * (high - low) && t.value <= high * 1.0001 + 1e-9));
            }
        }
    }

    /// Ticks of ranges that have hardly a number between their ends, or more than all numbers, end soon and can be told
    /// apart.
    #[test]
    fn ticks_of_odd_ranges() {
        assert_eq!(labels(&Axis::linear((1e8, 1e8 + 4.0), 0.0, 1.0).ticks(5)).len(), 5);
        for (low, high) in [
            (3e14 - 1.0, 3e14 + 1.0),
            (1.0, 1.0 + f64::EPSILON),
            (1.0, 1.0 + 8.0 * f64::EPSILON),
            (0.0, 5e-324),
            (1e-310, 3e-310),
            (-1e-320, 1e-310),
            (1e300, 1.000_000_000_000_001e300),
            (-f64::MAX, f64::MAX),
            (0.0, f64::MAX),
            (1e-310, 1e300),
        ] {
            for wanted in [2, 4, 8] {
                let axis = Axis::linear((low, high), 0.0, 100.0);
                let ticks = axis.ticks(wanted);
                assert!((1..=wanted).contains(&ticks.len()), "{low} {high} {wanted}: {ticks:?}");
                assert!(
                    ticks.windows(2).all(|pair| pair[0].label != pair[1].label),
                    "{low} {high} {wanted}: {ticks:?}"
                );
                assert!(ticks.iter().all(|tick| axis.px(tick.value).is_finite()), "{low} {high}");
                assert_eq!((axis.px(low), axis.px(high)), (0.0, 100.0), "{low} {high}");
            }
        }
    }

    #[test]
    fn log_ticks_thin_out() {
        assert_eq!(labels(&Axis::log((0.05, 3.0), 0.0, 1.0).ticks(8)), ["0.05", "0.1", "0.2", "0.5", "1", "2"]);
        assert_eq!(labels(&Axis::log((1.0, 100.0), 0.0, 1.0).ticks(8)), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(&Axis::log((0.01, 2e6), 0.0, 1.0).ticks(5)), ["0.01", "1", "100", "10k", "1M"]);
    }

    #[test]
    fn pixels() {
        let axis = Axis::linear((0.0, 10.0), 100.0, 200.0);
        assert_eq!(axis.px(5.0), 150.0);
        assert_eq!(axis.px(99.0), 200.0, "held within the axis");
        assert!(axis.contains(0.0) && !axis.contains(10.1));
        let axis = Axis::log((1.0, 100.0), 0.0, 100.0);
        assert!((axis.px(10.0) - 50.0).abs() < 1e-12);
    }

    #[test]
    fn ranges_that_are_none_still_make_an_axis() {
        for axis in [
            Axis::linear((3.0, 3.0), 0.0, 1.0),
            Axis::linear((f64::NAN, 1.0), 0.0, 1.0),
            Axis::log((0.0, 5.0), 0.0, 1.0),
            Axis::log((4.0, 4.0), 0.0, 1.0),
        ] {
            let (low, high) = axis.range();
            assert!(high > low && axis.px(low).is_finite());
            assert!(axis.ticks(5).len() <= 5);
        }
        assert_eq!(extent([f64::NAN, f64::INFINITY]), None);
        assert_eq!(extent([f64::NAN, 2.0, -1.0]), Some((-1.0, 2.0)));
    }
}
