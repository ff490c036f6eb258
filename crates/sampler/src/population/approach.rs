//! The way from a start that is far off to where the density is.

use super::evaluate::{Halted, SamplerCoordinates};
use super::lbfgs::{PathPoint, ascend};
use crate::error::SamplerError;
use crate::run::PointAndGradient;
use std::ops::ControlFlow;

/// A start is far off where a slope is larger, in the units in which chains start. From there NUTS comes near by
/// trajectories that turn at once, WALNUTS may not come at all, and windows learn a metric from the way.
const FAR: f64 = 1e3;
/// The units by which a step moves a coordinate at the most.
const LONGEST: f64 = 10.0;
/// A step that gains less for each coordinate and each unit of its length is not taken. In the region where draws are the
/// log density varies by about half a unit for each coordinate, and a hierarchy's neck gains one for each effect and unit:
/// the way leads neither to a mode nor into a neck.
const GAIN: f64 = 2.0;

/// Returns a point nearer to where the density is, with the gradient there: the start itself unless it is far off. A
/// density that has a center says itself where to start.
///
/// # Errors
/// When the density is broken.
pub(crate) fn approach(
    coordinates: &SamplerCoordinates<'_>,
    chain: usize,
    (x, mut gradient): PointAndGradient,
) -> Result<PointAndGradient, SamplerError> {
    let is_far = |gradient: &[f64]| gradient.iter().zip(&coordinates.units).any(|(g, unit)| (g * unit).abs() > FAR);
    if coordinates.density().center().is_some() || !is_far(&gradient) {
        return Ok((x, gradient));
    }
    let gain_of_unit = GAIN * coordinates.dim() as f64;
    let climb = || {
        let logp = coordinates.value_at(&x, &mut gradient)?;
        let mut reached = PathPoint { x: x.clone(), logp, gradient };
        ascend(coordinates, x, LONGEST, |point, _| {
            let step: Vec<f64> = point.x.iter().zip(&reached.x).map(|(to, from)| to - from).collect();
            if point.logp - reached.logp < gain_of_unit * coordinates.length(&step).max(1.0) {
                return Ok(ControlFlow::Break(()));
            }
            reached = point.clone();
            Ok(if is_far(&reached.gradient) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok((reached.x, reached.gradient))
    };
    climb().map_err(|why| match why {
        Halted::Stopped => SamplerError::Stopped,
        Halted::Broken(source) => SamplerError::Density { chain, iteration: 0, source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SamplerConfig;
    use crate::config::Parameterization;
    use crate::run::{RunState, Starts};
    use octopus_density::{DensityError, Layout, LogDensity};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const DIM: usize = 12;

    /// A normal distribution about 50 in all coordinates but the last. Along that one the log density grows without end.
    struct FarNormal {
        start: Vec<f64>,
        sd: f64,
        /// What the log density gains for each unit by which the last coordinate falls.
        neck: f64,
        center: Option<Vec<f64>>,
        /// The density breaks after so many evaluations.
        broken_from: usize,
        evaluations: AtomicUsize,
        layout: Layout,
    }

    impl FarNormal {
        /// The neck gains one for each coordinate, as where a hierarchy's scale vanishes.
        fn new(sd: f64) -> Self {
            let (evaluations, layout) = (AtomicUsize::new(0), Layout::default());
            Self { start: start(DIM), sd, neck: DIM as f64, center: None, broken_from: usize::MAX, evaluations, layout }
        }

        /// Returns the start and where its climb ends.
        fn climbed(&self) -> Result<[PointAndGradient; 2], SamplerError> {
            let mut gradient = vec![0.0; self.dim()];
            self.logp_grad(&self.start, &mut gradient).expect("a value");
            let coordinates = SamplerCoordinates::of(self, Parameterization::Adaptive);
            let reached = approach(&coordinates, 3, (self.start.clone(), gradient.clone()))?;
            Ok([(self.start.clone(), gradient), reached])
        }
    }

    fn start(dim: usize) -> Vec<f64> {
        (0..dim).map(|i| 0.3 * (i % DIM) as f64 - 2.0).collect()
    }

    impl LogDensity for FarNormal {
        fn dim(&self) -> usize {
            self.start.len()
        }
        fn layout(&self) -> &Layout {
            &self.layout
        }
        fn center(&self) -> Option<Vec<f64>> {
            self.center.clone()
        }
        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            if self.evaluations.fetch_add(1, Ordering::Relaxed) >= self.broken_from {
                return Err(DensityError::Broken("out of order".into()));
            }
            let last = self.dim() - 1;
            let mut logp = -self.neck * x[last];
            gradient[last] = -self.neck;
            for (x, slope) in x[..last].iter().zip(gradient) {
                let z = (x - 50.0) / self.sd;
                logp -= 0.5 * z * z;
                *slope = -z / self.sd;
            }
            Ok(logp)
        }
        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(x);
        }
        fn name(&self) -> &str {
            "far"
        }
    }

    /// The slopes are up to 5200 at the start, and 1000 at 10 units from the middle: steps of ten units come within two.
    #[test]
    fn a_climb_takes_bounded_steps_and_ends_where_the_density_is_no_longer_steep() {
        let [(x, _), (reached, gradient)] = FarNormal::new(0.1).climbed().expect("no error");
        assert!((reached[0] - (x[0] + 50.0)).abs() < 0.1, "{reached:?}");
        assert!(reached[..DIM - 1].iter().all(|x| (1.0..3.0).contains(&(50.0 - x))), "{reached:?}");
        assert!((reached[DIM - 1] - x[DIM - 1]).abs() < 1.0, "{reached:?}");
        assert_eq!(gradient[0], -((reached[0] - 50.0) / 0.1) / 0.1);
    }

    /// Where slopes of draws are above 1000, too.
    #[test]
    fn a_climb_reaches_where_draws_are() {
        let [(x, _), (reached, _)] = FarNormal::new(2e-4).climbed().expect("no error");
        let away: f64 = reached[..DIM - 1].iter().map(|x| ((x - 50.0) / 2e-4).powi(2)).sum();
        assert!(away < 4.0 * DIM as f64, "{away}");
        assert!((reached[DIM - 1] - x[DIM - 1]).abs() < 1.0, "{reached:?}");
    }

    /// The slopes are 5000 where draws of 12 coordinates are, and 1500 along the neck of a thousand coordinates. Both are
    /// above the limit, and a step would gain little.
    #[test]
    fn a_climb_goes_neither_to_a_mode_nor_into_a_neck() {
        let at_draw = FarNormal { start: vec![50.0 + 2e-4; DIM], neck: 1.0, ..FarNormal::new(2e-4) };
        let at_neck = FarNormal { start: start(1000), neck: 1500.0, ..FarNormal::new(1e3) };
        for density in [at_draw, at_neck] {
            let [from, reached] = density.climbed().expect("no error");
            assert_eq!(reached, from);
        }
    }

    /// Such a slope with 12 coordinates is one that no posterior has: a thousand steps of ten units.
    #[test]
    fn a_density_without_bounds_is_climbed_by_bounded_steps() {
        let [(x, _), (reached, _)] = FarNormal { neck: 1500.0, ..FarNormal::new(1.0) }.climbed().expect("no error");
        let away = x[DIM - 1] - reached[DIM - 1];
        assert!((10.0..=10_001.0).contains(&away), "{away}");
        assert!(reached.iter().all(|x| x.is_finite()));
    }

    /// Slopes of 832, and a density that says where to start.
    #[test]
    fn a_start_that_is_near_or_that_the_density_chose_stays() {
        let of_center = FarNormal { center: Some(vec![0.0; DIM]), ..FarNormal::new(0.1) };
        for density in [FarNormal::new(0.25), of_center] {
            let [from, reached] = density.climbed().expect("no error");
            assert_eq!(reached, from);
            // The one evaluation is the start's.
            assert_eq!(density.evaluations.into_inner(), 1);
        }
    }

    #[test]
    fn a_density_that_breaks_on_the_way_is_an_error() {
        for broken_from in [1, 2, 4] {
            let error = FarNormal { broken_from, ..FarNormal::new(0.1) }.climbed().expect_err("it breaks");
            let SamplerError::Density { chain: 3, iteration: 0, source } = error else { panic!("{error:?}") };
            assert_eq!(source, DensityError::Broken("out of order".into()));
        }
    }

    /// All chains of a run come near, unless their points are given.
    #[test]
    fn chains_climb_unless_they_are_given_points() {
        let (density, config) = (FarNormal::new(0.1), SamplerConfig::default());
        let given = Starts::Points(vec![start(DIM)]);
        for (starts, near) in [(None, 45.0..50.0), (Some(&given), -2.0..2.0)] {
            let (_, chains) = RunState::start_at(&density, config.clone(), starts).expect("starts");
            assert_eq!(chains.len(), config.chains);
            assert!(chains.iter().all(|chain| chain.x[..DIM - 1].iter().all(|x| near.contains(x))), "{near:?}");
        }
    }
}
