//! Distributions that particles are drawn from: normalised, so that weights give the evidence.

use super::evaluate::SamplerCoordinates;
use super::inverse_hessian::PathNormal;
use super::linear::{LowerFactor, dot};
use crate::config::ConfigError;
use octopus_random::{Draw, Gamma, Key, Purpose, Stream, StudentT, exact};
use std::ops::Range;

/// Degrees of freedom of what is to have heavy tails.
const HEAVY: f64 = 5.0;
/// The logarithm of the density of t with 5 degrees of freedom at 0, `8 / (3 pi sqrt(5))`.
const HEAVY_HEIGHT: f64 = -0.968_619_589_054_724_2;

/// The logarithm of a multivariate Student t's density at its center, with the unit matrix for its scale.
fn student_height(degrees: f64, dim: f64) -> f64 {
    exact::ln_gamma(0.5 * (degrees + dim))
        - exact::ln_gamma(0.5 * degrees)
        - 0.5 * dim * exact::ln(degrees * std::f64::consts::PI)
}

/// The number by which a normal draw becomes one of a multivariate Student t. `gamma` is chi-squared over its degrees of
/// freedom; NaN where all its turns were refused, one draw in 10^58.
fn stretch(gamma: &Gamma<f64>, key: Key, particle: usize) -> f64 {
    1.0 / gamma.draw(key, particle as u64).unwrap_or(f64::NAN).sqrt()
}

/// What a density tells of where it lies before anything is computed: independent Student t of 5 degrees of freedom about
/// the center in its units, where chains start, too.
#[derive(Clone, Debug)]
pub(super) struct WideProposal {
    center: Vec<f64>,
    units: Vec<f64>,
    standard: StudentT<f64>,
    height: f64,
}

impl WideProposal {
    pub(super) fn of(coordinates: &SamplerCoordinates<'_>) -> Self {
        let (center, units) = (coordinates.center.clone(), coordinates.units.clone());
        let height = units.iter().map(|unit| HEAVY_HEIGHT - exact::ln(*unit)).sum();
        let standard = StudentT::new(HEAVY, 0.0, 1.0).expect("5 degrees of freedom are allowed");
        Self { center, units, standard, height }
    }

    /// Writes the draws of the first particles to `out`, one after the other.
    pub(super) fn draw(&self, key: Key, out: &mut [f64]) {
        if self.standard.par_fill(key, 0, out).is_err() {
            out.fill(f64::NAN);
        }
        let units = self.center.iter().zip(&self.units).cycle();
        for (out, (center, unit)) in out.iter_mut().zip(units) {
            *out = center + unit * *out;
        }
    }

    /// Returns the log density at `x`.
    pub(super) fn log_density(&self, x: &[f64]) -> f64 {
        let log = |(x, (center, unit)): (&f64, (&f64, &f64))| {
            let z = (x - center) / unit;
            exact::ln_1p(z * z / HEAVY)
        };
        let logs: f64 = x.iter().zip(self.center.iter().zip(&self.units)).map(log).sum();
        self.height - 0.5 * (HEAVY + 1.0) * logs
    }
}

/// A multivariate Student t, or normal, of any covariance.
#[derive(Clone, Debug)]
pub(super) struct ShapedProposal {
    center: Vec<f64>,
    factor: LowerFactor,
    /// Degrees of freedom, and chi-squared over them; `None` for the normal.
    student: Option<(f64, Gamma<f64>)>,
    height: f64,
}

impl ShapedProposal {
    /// Makes a Student t of `degrees` degrees of freedom, a normal if they are infinite. `factor` is that of the scale
    /// matrix, which is the normal's covariance.
    ///
    /// # Errors
    /// When there is no such Student t.
    pub(super) fn new(center: Vec<f64>, factor: LowerFactor, degrees: f64) -> Result<Self, ConfigError> {
        let dim = center.len() as f64;
        let log_root: f64 = factor.diagonal().map(exact::ln).sum();
        let (student, height) = if degrees == f64::INFINITY {
            (None, -0.5 * dim * exact::ln(2.0 * std::f64::consts::PI))
        } else {
            let gamma = Gamma::new(0.5 * degrees, 2.0 / degrees).map_err(|_| bad_degrees(degrees))?;
            (Some((degrees, gamma)), student_height(degrees, dim))
        };
        Ok(Self { center, factor, student, height: height - log_root })
    }

    /// Writes the draw of a particle, which has this [stretch](Self::stretches), to `out`; overwrites `spare`, which is as
    /// long.
    pub(super) fn draw(&self, key: Key, particle: usize, stretch: f64, out: &mut [f64], spare: &mut [f64]) {
        let mut random = Stream::new(key.bits(), particle as u32, 0, Purpose::Particle);
        spare.iter_mut().for_each(|z| *z = random.normal());
        self.factor.times(spare, out);
        out.iter_mut().zip(&self.center).for_each(|(out, center)| *out = center + stretch * *out);
    }

    /// Returns the numbers by which normal draws of these particles become its own.
    pub(super) fn stretches(&self, key: Key, particles: Range<usize>) -> Vec<f64> {
        let mut stretches = vec![1.0; particles.len()];
        if let Some((_, gamma)) = &self.student {
            // One draw in 10^58 is refused at each of its turns.
            if gamma.par_fill(key, particles.start as u64, &mut stretches).is_err() {
                stretches.fill(f64::NAN);
            }
            stretches.iter_mut().for_each(|stretch| *stretch = 1.0 / stretch.sqrt());
        }
        stretches
    }

    /// Returns the log density at `x`; overwrites `spare`, which is as long.
    pub(super) fn log_density(&self, x: &[f64], spare: &mut [f64]) -> f64 {
        for (away, (x, center)) in spare.iter_mut().zip(x.iter().zip(&self.center)) {
            *away = x - center;
        }
        self.factor.solve(spare);
        let square = dot(spare, spare);
        let fall = match &self.student {
            Some((degrees, _)) => 0.5 * (degrees + x.len() as f64) * exact::ln_1p(square / degrees),
            None => 0.5 * square,
        };
        self.height - fall
    }
}

/// How much wider a reference is than the normals that it is made of: those with the highest evidence lower bound are
/// narrower than what they approximate. Without it the evidence of eight schools was 0.01 too low.
const WIDER: f64 = 1.5;

/// A mixture of multivariate Student t of 5 degrees of freedom with the centers of normals, and [wider](WIDER).
#[derive(Clone, Debug)]
pub(super) struct HeavyMixture {
    normals: Vec<PathNormal>,
    gamma: Gamma<f64>,
    height: f64,
}

impl HeavyMixture {
    pub(super) fn new(normals: Vec<PathNormal>) -> Self {
        let dim = normals.first().map_or(0, |normal| normal.mean().len()) as f64;
        let gamma = Gamma::new(0.5 * HEAVY, 2.0 / HEAVY).expect("5 degrees of freedom are allowed");
        let height = student_height(HEAVY, dim) - dim * exact::ln(WIDER) - exact::ln(normals.len() as f64);
        Self { normals, gamma, height }
    }

    /// Writes the draw of a particle to `out`; the parts take turns.
    pub(super) fn draw(&self, key: Key, particle: usize, out: &mut [f64]) {
        let normal = &self.normals[particle % self.normals.len()];
        normal.draw(&mut Stream::new(key.bits(), particle as u32, 0, Purpose::Particle), out);
        let stretch = WIDER * stretch(&self.gamma, key, particle);
        out.iter_mut().zip(normal.mean()).for_each(|(out, mean)| *out = mean + stretch * (*out - mean));
    }

    /// Returns the log density at `x`; adds `share` times its gradient to `gradient`.
    pub(super) fn log_density(&self, x: &[f64], share: f64, gradient: &mut [f64]) -> f64 {
        let parts: Vec<(Vec<f64>, f64, f64)> = self
            .normals
            .iter()
            .map(|normal| {
                let away = normal.away(x);
                let square = normal.square(&away).max(0.0) / (WIDER * WIDER);
                let log = normal.log_root() - 0.5 * (HEAVY + x.len() as f64) * exact::ln_1p(square / HEAVY);
                (away, square, log)
            })
            .collect();
        let all = parts.iter().map(|(.., log)| *log).reduce(exact::log_sum_exp).unwrap_or(f64::NEG_INFINITY);
        if share != 0.0 {
            for (normal, (away, square, log)) in self.normals.iter().zip(&parts) {
                let slope = exact::exp(log - all) * (HEAVY + x.len() as f64) / (WIDER * WIDER * (HEAVY + square));
                normal.add_slope(-share * slope, away, gradient);
            }
        }
        self.height + all
    }
}

pub(super) fn bad_degrees(degrees: f64) -> ConfigError {
    ConfigError { field: "degrees", value: degrees.to_string(), expected: "from 1 to 1000, or infinite for a normal" }
}
