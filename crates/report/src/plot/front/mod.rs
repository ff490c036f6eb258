//! Pareto front: speed against accuracy of samplers and settings, and which of them no other beats in both.

mod draw;

/// The data of a plot of speed against error.
#[derive(Clone, Debug)]
pub struct ParetoFrontPlot {
    /// The name of the error, e.g. `largest error of a mean, in posterior sds`.
    pub error: String,
    /// The points, one for each sampler and setting.
    pub points: Vec<FrontPoint>,
}

/// One setting of one sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPoint {
    /// The setting, e.g. `4 chains`.
    pub label: String,
    /// The sampler; points of one have one colour.
    pub sampler: String,
    /// The sampler's error: less is better.
    pub error: f64,
    /// Effective draws a second: more is better.
    pub ess_per_s: f64,
}

impl FrontPoint {
    /// Returns whether it has a place on logarithmic axes.
    fn drawable(&self) -> bool {
        let good = |v: f64| v > 0.0 && v.is_finite();
        good(self.error) && good(self.ess_per_s)
    }
}

impl ParetoFrontPlot {
    fn shown(&self) -> Vec<&FrontPoint> {
        self.points.iter().filter(|point| point.drawable()).collect()
    }

    /// Samplers in order of appearance.
    fn samplers(&self) -> Vec<&str> {
        let mut samplers: Vec<&str> = Vec::new();
        for point in self.shown() {
            if !samplers.contains(&point.sampler.as_str()) {
                samplers.push(&point.sampler);
            }
        }
        samplers
    }

    /// Points that none beats, from the smallest error: one is beaten by another that is as good in both and better in
    /// one.
    fn front(&self) -> Vec<&FrontPoint> {
        let mut points = self.shown();
        points.sort_by(|a, b| a.error.total_cmp(&b.error).then(b.ess_per_s.total_cmp(&a.ess_per_s)));
        let mut front: Vec<&FrontPoint> = Vec::new();
        for point in points {
            match front.last() {
                Some(last) if point.ess_per_s < last.ess_per_s => {}
                Some(last) if point.ess_per_s == last.ess_per_s && point.error > last.error => {}
                _ => front.push(point),
            }
        }
        front
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn point(label: &str, error: f64, ess_per_s: f64) -> FrontPoint {
        FrontPoint { label: label.to_owned(), sampler: "NUTS".to_owned(), error, ess_per_s }
    }

    fn plot(points: Vec<FrontPoint>) -> ParetoFrontPlot {
        ParetoFrontPlot { error: "error of the means, in sds".to_owned(), points }
    }

    #[test]
    fn the_front_is_what_none_beats() {
        let plot = plot(vec![
            point("accurate", 0.01, 10.0),
            point("beaten", 0.02, 10.0),
            point("fast", 0.5, 1000.0),
            point("middle", 0.1, 200.0),
            point("worse", 0.2, 150.0),
            point("same", 0.1, 200.0),
            point("none", f64::NAN, 1e9),
        ]);
        let names: Vec<&str> = plot.front().iter().map(|p| p.label.as_str()).collect();
        assert_eq!(names, ["accurate", "middle", "same", "fast"]);
    }

    #[test]
    fn crowded_points_and_odd_values() {
        let crowd = (0..60).map(|i| FrontPoint {
            label: format!("setting number {i}"),
            sampler: format!("sampler {}", i % 7),
            error: 0.01 * (1.0 + 0.01 * f64::from(i % 9)),
            ess_per_s: 100.0 + f64::from(i),
        });
        let long = point(&"a very long name of a setting ".repeat(5), 0.1, 3.0);
        let long = FrontPoint { sampler: "a very long name of a sampler ".repeat(5), ..long };
        let odd = vec![point("zero", 0.0, 1.0), point("nan", f64::NAN, f64::NAN), long, point("", 0.2, 1e12)];
        for points in [crowd.collect(), odd, vec![point("one", 0.1, 5.0)]] {
            let mut plot = plot(points);
            assert_eq!(flaws(&plot), [""; 0]);
            plot.error = "a very long name of an error ".repeat(9);
            assert_eq!(flaws(&plot), [""; 0]);
        }
        for points in [vec![], vec![point("zero", 0.0, 1.0)]] {
            assert!(plot(points).png().unwrap_err().to_string().contains("error"));
        }
    }
}
