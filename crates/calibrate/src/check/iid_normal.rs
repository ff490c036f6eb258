//! The self-check of U-turns on independent standard normals.
//!
//! With a step of which a power of two makes a full turn, a trajectory ends where it began. Neither of its ends then
//! sees a turn, and without the checks across the seams it goes on for another round
//! (<https://github.com/stan-dev/stan/pull/2800>).

use super::{Tally, replay};
use crate::CalibrateError;
use octopus_density::{DensityError, Dim, Labels, Layout, LogDensity, Role, Transform, Variable};
use octopus_sampler::{Adaptation, MetricEstimate, SamplerConfig};
use std::f64::consts::PI;

const DIM: usize = 8;
/// Steps of a full turn, and how much of the turn they make.
const STEPS: [f64; 3] = [8.0, 16.0, 32.0];
const TURNS: [f64; 3] = [0.98, 1.0, 1.02];

struct IidNormal {
    layout: Layout,
}

impl LogDensity for IidNormal {
    fn dim(&self) -> usize {
        DIM
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let mut square = 0.0;
        for (g, x) in gradient.iter_mut().zip(position) {
            *g = -x;
            square += x * x;
        }
        Ok(-0.5 * square)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        out.copy_from_slice(position);
    }

    fn name(&self) -> &str {
        "independent normals"
    }
}

/// Transitions with each step size, one chain for each.
pub(super) fn compare(config: &SamplerConfig, tally: &mut Tally) -> Result<(), CalibrateError> {
    let dims = vec![Dim { name: "x".into(), labels: Labels::Range(DIM) }];
    let role = Role::Parameter { offset: 0, transform: Transform::Identity };
    let density = IidNormal { layout: Layout { variables: vec![Variable { name: "x".into(), dims, role }] } };
    let metric = MetricEstimate { diagonal: vec![1.0; DIM], ..MetricEstimate::default() };
    let adaptation = Adaptation { centerings: Vec::new(), metric };
    let x = vec![0.5; DIM];
    for (chain, (steps, turn)) in STEPS.into_iter().flat_map(|n| TURNS.map(|turn| (n, turn))).enumerate() {
        // A leapfrog step of size e turns a harmonic oscillator by 2 asin(e / 2).
        let step = 2.0 * (PI * turn / steps).sin();
        replay::compare(&density, &adaptation, config, &x, step, chain as u32, tally)?;
    }
    Ok(())
}
