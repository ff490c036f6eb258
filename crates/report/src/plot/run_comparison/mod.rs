//! Compares two runs of one model: do they agree within their Monte Carlo errors, and which is faster?
//!
//! How many parameters it shows by name, and from where on differences lie at the edge, stands here.

mod draw;
mod spread;

use super::axis::extent;

/// With more parameters than this, differences are shown as distributions, and only the most different by name.
const MOST_ROWS: usize = 60;
/// The number of parameters shown by name then.
const MOST_DIFFERENT: usize = 20;
/// Differences beyond this are drawn at the edge, with their number.
const FURTHEST: f64 = 12.0;
/// The shares of independent standard normal numbers beyond 2 and beyond 4 (scipy.stats.norm.sf).
const BEYOND_2: f64 = 2.0 * 0.022_750_131_948_179_195;
const BEYOND_4: f64 = 2.0 * 3.167_124_183_311_996e-5;

/// The data of a comparison of two runs.
#[derive(Clone, Debug)]
pub struct RunComparisonPlot {
    /// The names of the two runs.
    pub runs: (String, String),
    /// The parameters that both runs have.
    pub rows: Vec<RunDifference>,
    /// The ratios that say how much better the second run is than the first.
    pub ratios: Vec<RunRatio>,
}

/// One parameter of two runs; NaN where something is not defined.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDifference {
    /// The parameter's name.
    pub name: String,
    /// The second mean less the first, in Monte Carlo standard errors of the difference.
    pub z_mean: f64,
    /// The second standard deviation less the first, in Monte Carlo standard errors of the difference.
    pub z_sd: f64,
    /// The second mean less the first, as a share of the first's size.
    pub relative_mean: f64,
    /// The second standard deviation less the first, as a share of the first.
    pub relative_sd: f64,
    /// The Wasserstein distance of the two samples, in the parameter's standard deviations.
    pub wasserstein: f64,
}

/// A figure of speed of the second run over that of the first: above 1 the second is better.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRatio {
    /// The quantity that is compared, e.g. `effective draws a second`.
    pub name: String,
    /// The ratio.
    pub ratio: f64,
}

impl RunDifference {
    /// Returns the larger of the two differences in standard errors; 0 where neither is defined.
    fn largest(&self) -> f64 {
        self.z_mean.abs().max(self.z_sd.abs()).max(0.0)
    }
}

impl RunComparisonPlot {
    /// Returns the rows to name: all of few, of many those that differ most, the most different first.
    fn named(&self) -> Vec<&RunDifference> {
        let mut rows: Vec<&RunDifference> = self.rows.iter().collect();
        if rows.len() > MOST_ROWS {
            rows.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
            rows.truncate(MOST_DIFFERENT);
        }
        rows
    }

    /// Half the width of the axis of differences.
    fn reach(&self) -> f64 {
        let largest = extent(self.rows.iter().map(RunDifference::largest)).map_or(0.0, |range| range.1);
        // An infinite one is drawn at the edge, too.
        let infinite = self.rows.iter().any(|row| row.largest().is_infinite());
        if infinite { FURTHEST } else { (1.1 * largest).clamp(5.0, FURTHEST) }
    }

    /// Returns how many of the differences are beyond `limit`, and how many there are.
    fn beyond(&self, of: impl Fn(&RunDifference) -> f64, limit: f64) -> (usize, usize) {
        let defined: Vec<f64> = self.rows.iter().map(of).filter(|z| !z.is_nan()).collect();
        (defined.iter().filter(|z| z.abs() > limit).count(), defined.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn row(name: &str, z_mean: f64, z_sd: f64) -> RunDifference {
        RunDifference {
            name: name.to_owned(),
            z_mean,
            z_sd,
            relative_mean: 0.012,
            relative_sd: -0.004,
            wasserstein: 0.02,
        }
    }

    fn plot(n: usize) -> RunComparisonPlot {
        let z = |i: usize, k: usize| 4.4 * (((i * k) % 997) as f64 / 997.0 - 0.5);
        let rows = (0..n).map(|i| row(&format!("mu_group[{i}]"), z(i, 7919), z(i, 6007))).collect();
        let ratio = |name: &str, ratio| RunRatio { name: name.to_owned(), ratio };
        let ratios = vec![ratio("effective draws a second", 2.31), ratio("wall time", 0.8)];
        RunComparisonPlot { runs: ("a".to_owned(), "b".to_owned()), rows, ratios }
    }

    #[test]
    fn the_most_different_of_many_are_named() {
        let mut many = plot(1003);
        many.rows[700].z_sd = -9.0;
        many.rows[3].z_mean = f64::NAN;
        many.rows[5].z_sd = 4.0;
        assert_eq!(many.named().len(), 20);
        assert_eq!(many.named()[0].name, "mu_group[700]");
        assert_eq!(many.beyond(|row| row.z_sd, 4.0), (1, 1003));
        assert_eq!(many.beyond(|row| row.z_mean, 4.0), (0, 1002));
        assert!((many.reach() - 9.9).abs() < 1e-12);
        assert_eq!((plot(60).named().len(), plot(60).reach()), (60, 5.0));
    }

    #[test]
    fn any_number_of_parameters() {
        for n in [1, 3, 60, 61, 1003, 10_003] {
            let plot = plot(n);
            assert_eq!(flaws(&plot), [""; 0], "{n}");
        }
    }

    #[test]
    fn odd_values_and_long_names() {
        let mut odd = plot(6);
        odd.runs = ("a very long name of a run ".repeat(5), "another very long name of a run ".repeat(5));
        odd.rows[0] = row(&"a very long name of a parameter ".repeat(5), 1e9, -400.0);
        odd.rows[1] = row("undefined", f64::NAN, f64::NAN);
        odd.rows[2] = row("infinite", f64::INFINITY, f64::NEG_INFINITY);
        odd.rows[3].relative_mean = f64::INFINITY;
        odd.rows[4].wasserstein = 1.234_567e-30;
        odd.rows[5].relative_sd = -123_456_789.0;
        odd.ratios[0] = RunRatio { name: "a very long name of a ratio ".repeat(5), ratio: 1e12 };
        odd.ratios[1].ratio = f64::NAN;
        odd.ratios.push(RunRatio { name: "nothing".to_owned(), ratio: 0.0 });
        assert_eq!(flaws(&odd), [""; 0]);
        odd.ratios.clear();
        assert_eq!(flaws(&odd), [""; 0]);
        let mut undefined = plot(61);
        undefined.rows.iter_mut().for_each(|row| row.z_mean = f64::NAN);
        assert_eq!(flaws(&undefined), [""; 0]);
        let error = plot(0).png().unwrap_err().to_string();
        assert!(error.contains("both runs"), "{error}");
    }
}
