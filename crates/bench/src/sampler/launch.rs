//! The cost of a launch besides its leapfrog steps, measured by cutting the same run into more and more launches.

use super::model::model;
use crate::error::BenchError;
use crate::json::null_is_nan;
use octopus_device::CudaContext;
use octopus_models::Likelihood;
use octopus_sampler::{Backend, Begin, GpuConfig, Precision, Sampler, SamplerConfig};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The most iterations of a launch, one number for each way to cut the run. The draws are the same in all.
const ITERATIONS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const TUNE: usize = 100;

/// The plan of a measurement: a run of one chain whose draws are timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaunchPlan {
    groups: usize,
    precision: Precision,
    draws: usize,
}

/// The times of the run cut in one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaunchPoint {
    pub(crate) most_iterations: usize,
    pub(crate) launches: u64,
    pub(crate) leapfrogs: u64,
    /// The seconds by the device's clock, from the begin to the end of launches.
    pub(crate) device_seconds: f64,
    /// The seconds by the host's clock, including copies and everything else.
    pub(crate) wall_seconds: f64,
}

/// The result of a measurement: a straight line through the points, of the time of a launch over its leapfrog steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchCost {
    pub(crate) groups: usize,
    pub(crate) precision: Precision,
    /// The microseconds that a launch without leapfrog steps would take.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) device_us_per_launch: f64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) device_us_per_leapfrog: f64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) wall_us_per_launch: f64,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) wall_us_per_leapfrog: f64,
    pub(crate) points: Vec<LaunchPoint>,
}

impl LaunchPlan {
    pub(super) fn new(groups: usize, precision: Precision, draws: usize) -> Self {
        Self { groups, precision, draws }
    }

    pub(super) fn name(&self) -> String {
        format!("launches, {} groups, {}", self.groups, self.precision)
    }

    /// # Errors
    /// When the device fails, or the draws depend on the launches.
    pub(super) fn measure(&self, context: &CudaContext) -> Result<LaunchCost, BenchError> {
        let points = ITERATIONS.into_iter().map(|most| self.point(context, most)).collect::<Result<Vec<_>, _>>()?;
        if points.iter().any(|point| point.leapfrogs != points[0].leapfrogs) {
            let what = format!("{}: runs cut into other launches take other leapfrogs: {points:?}", self.name());
            return Err(BenchError::Contradiction(what));
        }
        let line = |seconds: fn(&LaunchPoint) -> f64| {
            let per_launch = |value: f64, point: &LaunchPoint| value / point.launches.max(1) as f64;
            line(points.iter().map(|p| (per_launch(p.leapfrogs as f64, p), 1e6 * per_launch(seconds(p), p))))
        };
        let (device, wall) = (line(|point| point.device_seconds), line(|point| point.wall_seconds));
        Ok(LaunchCost {
            groups: self.groups,
            precision: self.precision,
            device_us_per_launch: device.0,
            device_us_per_leapfrog: device.1,
            wall_us_per_launch: wall.0,
            wall_us_per_leapfrog: wall.1,
            points,
        })
    }

    fn point(&self, context: &CudaContext, most_iterations: usize) -> Result<LaunchPoint, BenchError> {
        let model = model(self.groups, Likelihood::Collapsed)?;
        let (draws, precision) = (self.draws, self.precision);
        let config = SamplerConfig { tune: TUNE, draws, chains: 1, precision, seed: 42, ..SamplerConfig::default() };
        let gpu = GpuConfig { most_iterations, launch_time: Duration::from_secs(3600), ..GpuConfig::default() };
        let mut sampler = Sampler::begin(&model, Begin::Anew(config), Backend::gpu(context, &gpu))?;
        while sampler.done() < TUNE {
            sampler.advance(TUNE)?;
        }
        let (clock, before) = (Instant::now(), context.usage());
        let mut leapfrogs = 0;
        while let Some(block) = sampler.advance(usize::MAX)? {
            leapfrogs += block.leapfrogs();
        }
        let (wall, after) = (clock.elapsed(), context.usage());
        Ok(LaunchPoint {
            most_iterations,
            launches: after.launches - before.launches,
            leapfrogs,
            device_seconds: (after.measured_time - before.measured_time).as_secs_f64(),
            wall_seconds: wall.as_secs_f64(),
        })
    }
}

/// Returns intercept and slope of the line through points by least squares of relative errors, so that short launches
/// count as much as long ones.
fn line(points: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let [mut s, mut sx, mut sy, mut sxx, mut sxy] = [0.0; 5];
    for (x, y) in points {
        let weight = 1.0 / (y * y).max(f64::MIN_POSITIVE);
        s += weight;
        sx += weight * x;
        sy += weight * y;
        sxx += weight * x * x;
        sxy += weight * x * y;
    }
    let slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
    ((sy - slope * sx) / s, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found() {
        let exact = [15.0, 30.0, 60.0, 960.0].map(|x| (x, 7.0 + 0.5 * x));
        let (cost, slope) = line(exact.into_iter());
        assert!((cost - 7.0).abs() < 1e-9 && (slope - 0.5).abs() < 1e-12, "{cost} {slope}");
    }
}
