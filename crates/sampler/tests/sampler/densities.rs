//! Small densities with known answers.
#![allow(dead_code, reason = "the crate's own tests and its integration tests each take what they need")]

use octopus_density::{DensityError, Layout, LogDensity};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a density made of one function needs to be a [`LogDensity`].
macro_rules! log_density {
    ($name:ty, $title:literal) => {
        impl LogDensity for $name {
            fn dim(&self) -> usize {
                self.dim
            }

            fn layout(&self) -> &Layout {
                &self.layout
            }

            fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
                self.value(position, gradient)
            }

            fn expand(&self, position: &[f64], out: &mut [f64]) {
                out.copy_from_slice(position);
            }

            fn name(&self) -> &str {
                $title
            }
        }
    };
}

/// A normal distribution with mean `mean` and covariance `factor factor^T`, the factor having a diagonal and
/// one diagonal below it.
pub(crate) struct Gaussian {
    dim: usize,
    layout: Layout,
    pub(crate) mean: Vec<f64>,
    diagonal: Vec<f64>,
    below: Vec<f64>,
}

impl Gaussian {
    /// Standard deviations from 0.1 to 10 on a logarithmic scale, neighbours correlated: row `i` of the factor
    /// is `sd_i (rho, sqrt(1 - rho^2))` in columns `i - 1` and `i`.
    pub(crate) fn correlated(dim: usize, rho: f64) -> Self {
        let sd = |i: usize| 10f64.powf(2.0 * i as f64 / (dim - 1).max(1) as f64 - 1.0);
        Self {
            dim,
            layout: Layout::default(),
            mean: (0..dim).map(|i| i as f64 - 1.0).collect(),
            diagonal: (0..dim).map(|i| if i == 0 { sd(i) } else { sd(i) * (1.0 - rho * rho).sqrt() }).collect(),
            below: (0..dim).map(|i| if i == 0 { 0.0 } else { sd(i) * rho }).collect(),
        }
    }

    /// Variance of coordinate `i`.
    pub(crate) fn variance(&self, i: usize) -> f64 {
        self.diagonal[i] * self.diagonal[i] + self.below[i] * self.below[i]
    }

    /// The logarithm of its integral.
    pub(crate) fn log_integral(&self) -> f64 {
        self.diagonal.iter().map(|sd| (sd * (2.0 * std::f64::consts::PI).sqrt()).ln()).sum()
    }

    /// Covariance of coordinates `i - 1` and `i`.
    pub(crate) fn covariance(&self, i: usize) -> f64 {
        self.diagonal[i - 1] * self.below[i]
    }

    fn value(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        // u = L^-1 (x - m) by forward substitution, then the gradient is -L^-T u by backward substitution.
        let mut square = 0.0;
        for i in 0..self.dim {
            let known = if i == 0 { 0.0 } else { self.below[i] * gradient[i - 1] };
            gradient[i] = (position[i] - self.mean[i] - known) / self.diagonal[i];
            square += gradient[i] * gradient[i];
        }
        for i in (0..self.dim).rev() {
            let known = if i + 1 == self.dim { 0.0 } else { self.below[i + 1] * gradient[i + 1] };
            gradient[i] = (-gradient[i] - known) / self.diagonal[i];
        }
        Ok(-0.5 * square)
    }
}
log_density!(Gaussian, "gaussian");

/// `x_0 ~ N(0, 1)`, `x_1 | x_0 ~ N(bend (x_0^2 - 1), 0.5)`, `x_2 ~ N(0, 1)`: mean 0, variances 1,
/// `2 bend^2 + 0.25` and 1.
pub(crate) struct Banana {
    dim: usize,
    layout: Layout,
    pub(crate) bend: f64,
}

impl Banana {
    pub(crate) const WIDTH: f64 = 0.5;

    pub(crate) fn new(bend: f64) -> Self {
        Self { dim: 3, layout: Layout::default(), bend }
    }

    /// The standardised distance from the banana's axis: standard normal and independent of `x_0`.
    pub(crate) fn across(&self, x: &[f64]) -> f64 {
        (x[1] - self.bend * (x[0] * x[0] - 1.0)) / Self::WIDTH
    }

    fn value(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let across = self.across(x);
        gradient[0] = -x[0] + across * 2.0 * self.bend * x[0] / Self::WIDTH;
        gradient[1] = -across / Self::WIDTH;
        gradient[2] = -x[2];
        Ok(-0.5 * (x[0] * x[0] + across * across + x[2] * x[2]))
    }
}
log_density!(Banana, "banana");

/// A standard normal cut off at `x_0 = limit`: beyond there is no density.
pub(crate) struct Wall {
    dim: usize,
    layout: Layout,
    pub(crate) limit: f64,
}

impl Wall {
    pub(crate) fn new(dim: usize, limit: f64) -> Self {
        Self { dim, layout: Layout::default(), limit }
    }

    fn value(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if x[0] > self.limit {
            return Err(DensityError::NotFinite { value: f64::NEG_INFINITY });
        }
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = -x;
        }
        Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
    }
}
log_density!(Wall, "wall");

/// Normals of variance 1 around `x_0 = 8` and `x_0 = -8`, between which no chain finds its way.
pub(crate) struct Bimodal {
    dim: usize,
    layout: Layout,
}

impl Default for Bimodal {
    fn default() -> Self {
        Self { dim: 2, layout: Layout::default() }
    }
}

impl Bimodal {
    const MODE: f64 = 8.0;

    /// log(exp(-(x - m)^2 / 2) + exp(-(x + m)^2 / 2)), less what does not depend on x.
    fn value(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let along = Self::MODE * x[0];
        gradient[0] = Self::MODE * along.tanh() - x[0];
        gradient[1] = -x[1];
        Ok(along.abs() + (-2.0 * along.abs()).exp().ln_1p() - 0.5 * (x[0] * x[0] + x[1] * x[1]))
    }
}
log_density!(Bimodal, "bimodal");

/// A standard normal that breaks after `calls` evaluations.
pub(crate) struct Breaking {
    dim: usize,
    layout: Layout,
    calls: usize,
    made: AtomicUsize,
}

impl Breaking {
    pub(crate) const MESSAGE: &'static str = "the solver lost its licence";

    pub(crate) fn after(calls: usize) -> Self {
        Self { dim: 2, layout: Layout::default(), calls, made: AtomicUsize::new(0) }
    }

    fn value(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.made.fetch_add(1, Ordering::Relaxed) >= self.calls {
            return Err(DensityError::Broken(Self::MESSAGE.into()));
        }
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = -x;
        }
        Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
    }
}
log_density!(Breaking, "breaking");

/// Neal's funnel (2003): `x_0 ~ N(0, 3)`, and each other coordinate `~ N(0, exp(x_0 / 2))`.
pub(crate) struct Funnel {
    dim: usize,
    layout: Layout,
}

impl Funnel {
    pub(crate) const SD: f64 = 3.0;

    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, layout: Layout::default() }
    }

    fn value(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let (v, others) = (x[0], &x[1..]);
        let precision = (-v).exp();
        let square: f64 = others.iter().map(|x| x * x).sum();
        gradient[0] = -v / (Self::SD * Self::SD) + 0.5 * (precision * square - others.len() as f64);
        gradient[1..].iter_mut().zip(others).for_each(|(g, x)| *g = -precision * x);
        Ok(-0.5 * (v * v / (Self::SD * Self::SD) + precision * square + v * others.len() as f64))
    }
}
log_density!(Funnel, "funnel");
