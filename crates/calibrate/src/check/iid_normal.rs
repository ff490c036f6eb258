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

pub(super) struct IidNormal {
    layout: Layout,
}

impl IidNormal {
    pub(super) fn new() -> Self {
        let dims = vec![Dim { name: "x".into(), labels: Labels::Range(DIM) }];
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        Self { layout: Layout { variables: vec![Variable { name: "x".into(), dims, role }] } }
    }
}

/// Coordinates in which the normals are what they are.
pub(super) fn plain() -> Adaptation {
    let metric = MetricEstimate { diagonal: vec![1.0; DIM], ..MetricEstimate::default() };
    Adaptation { metric, ..Adaptation::default() }
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

/// The mean length of trajectories, where a sampler would learn it.
const LENGTH: f64 = 1.0;

/// Transitions with each step size, one chain for each.
pub(super) fn compare(config: &SamplerConfig, tally: &mut Tally) -> Result<(), CalibrateError> {
    let (density, adaptation, x) = (IidNormal::new(), plain(), vec![0.5; DIM]);
    for (chain, (steps, turn)) in STEPS.into_iter().flat_map(|n| TURNS.map(|turn| (n, turn))).enumerate() {
        let step = step_size(turn, steps);
        replay::compare(&density, &adaptation, config, &x, (step, Some(LENGTH)), chain as u32, tally)?;
    }
    Ok(())
}

/// Returns the step size of which so many steps make this much of a full turn: a leapfrog step of size e turns a
/// harmonic oscillator by 2 asin(e / 2).
fn step_size(turn: f64, steps: f64) -> f64 {
    2.0 * (PI * turn / steps).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// -(1 + 4 + ... + 64) / 2 = -102.
    #[test]
    fn the_normals_are_standard_and_independent() {
        let density = IidNormal::new();
        let x: Vec<f64> = (1..=8).map(f64::from).collect();
        let (mut gradient, mut expanded) = (vec![0.0; 8], vec![0.0; density.layout().width()]);
        assert_eq!((density.dim(), density.logp_grad(&x, &mut gradient).unwrap()), (8, -102.0));
        assert!(gradient.iter().zip(&x).all(|(g, x)| *g == -x), "{gradient:?}");
        density.expand(&x, &mut expanded);
        assert_eq!((expanded, density.name()), (x, "independent normals"));
        assert!(matches!(density.layout().variables[0].role, Role::Parameter { offset: 0, .. }));
        assert_eq!(plain().metric.diagonal, [1.0; 8], "in their own units the orbits are closed");
    }

    /// Nine step sizes, 24 transitions with each.
    #[test]
    fn both_implementations_agree_on_closed_orbits() {
        let mut tally = Tally::new("orbits", "transitions");
        compare(&SamplerConfig { seed: 5, ..SamplerConfig::default() }, &mut tally).unwrap();
        assert_eq!(tally.done().detail, "216 transitions agree");
    }

    /// An oscillator at (1, 0) is there again after the steps of a full turn, and opposite after half as many.
    #[test]
    fn trajectories_are_closed() {
        for steps in STEPS {
            let e = step_size(1.0, steps);
            let (mut x, mut r) = (1.0, 0.0);
            for step in 1..=steps as usize {
                r -= 0.5 * e * x;
                x += e * r;
                r -= 0.5 * e * x;
                let expected = (2.0 * PI * step as f64 / steps).cos();
                assert!((x - expected).abs() < 1e-12, "step {step} of {steps}: {x}, not {expected}");
            }
            // Half the turn takes half as large an angle.
            assert!((step_size(0.5, steps) - step_size(1.0, 2.0 * steps)).abs() < 1e-15);
        }
    }
}
