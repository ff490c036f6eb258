//! The program `polynomial` at any size: made-up data of which the truth is known, and the posterior in closed form.
//!
//! ```
//! use octopus_models::polynomial::{PolynomialPosterior, PolynomialSpec};
//!
//! let data = PolynomialSpec { points: 500, ..PolynomialSpec::default() }.generate()?;
//! let exact = PolynomialPosterior::of(&data.x, &data.y, data.noise).expect("a positive noise");
//! assert!((exact.mean[2] - 2.0).abs() < 4.0 * exact.covariance[2][2].sqrt());
//! # Ok::<(), octopus_models::ModelError>(())
//! ```

use crate::ModelError;
use crate::exact::{Exact, Moments};
use crate::fingerprint::data_sha256;
use octopus_bind::{Data, DataNumbers};
use octopus_random::{Draw, Key, Normal, exact};
use std::f64::consts::TAU;

/// The named sizes of benchmarks, with their numbers of points.
pub const NAMED_SIZES: [(&str, usize); 5] =
    [("small", 10), ("medium", 50), ("large", 100), ("xlarge", 500), ("xxlarge", 1000)];

/// The true a, b and c of `a + b x + c x^2`, as GenJAX's benchmark has them.
pub const TRUE_COEFFICIENTS: [f64; 3] = [0.5, -1.25, 2.0];

/// The most points that are made: beyond it a mistyped number fills the memory.
pub const MOST_POINTS: usize = 1_000_000;

/// The size of made-up data; the default is the data that ship with the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolynomialSpec {
    /// The number of points, which lie at equal distances from 0 to 1.
    pub points: usize,
    /// The seed of the noise.
    pub seed: u64,
    /// The standard deviation of the noise.
    pub noise: f64,
}

impl Default for PolynomialSpec {
    fn default() -> Self {
        Self { points: 50, seed: 42, noise: 0.05 }
    }
}

/// Points about the true polynomial.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialData {
    /// Where the points are.
    pub x: Vec<f64>,
    /// What was measured there.
    pub y: Vec<f64>,
    /// The standard deviation of the measurements.
    pub noise: f64,
}

impl PolynomialSpec {
    /// Makes the data. The noise of point `i` is draw `i` of `octopus random normal --seed SEED --scale NOISE`: smaller data
    /// have the first of these numbers.
    ///
    /// # Errors
    /// [`ModelError::Setting`] when there are no points or more than [`MOST_POINTS`], or the noise is not positive or so large
    /// that a draw could be infinite.
    pub fn generate(&self) -> Result<PolynomialData, ModelError> {
        let Self { points, seed, noise } = *self;
        if !(1..=MOST_POINTS).contains(&points) {
            return Err(ModelError::Setting { field: "n", value: points as f64, expected: "1 to 1,000,000 points" });
        }
        let expected = "a standard deviation must be positive, and so small that no draw is infinite";
        let normal = Normal::new(0.0, noise).ok().filter(|_| noise > 0.0);
        let normal = normal.ok_or(ModelError::Setting { field: "noise", value: noise, expected })?;
        let mut y = vec![0.0; points];
        normal.fill(Key::new(seed), 0, &mut y).map_err(|error| ModelError::Simulation(error.to_string()))?;
        let last = (points - 1).max(1) as f64;
        let x: Vec<f64> = (0..points).map(|point| point as f64 / last).collect();
        let [a, b, c] = TRUE_COEFFICIENTS;
        for (y, x) in y.iter_mut().zip(&x) {
            *y += a + b * x + c * (x * x);
        }
        Ok(PolynomialData { x, y, noise })
    }
}

impl PolynomialData {
    /// Returns them by the names of the program.
    pub fn as_data(&self) -> Data {
        Data::new("made-up points")
            .with_int("N", self.x.len() as i64)
            .with_reals("x", &self.x)
            .with_reals("y", &self.y)
            .with_real("noise", self.noise)
    }

    /// Returns their SHA-256: of a run with these data, `run.toml` has the same.
    pub fn sha256(&self) -> String {
        data_sha256(&self.as_data(), [].into_iter())
    }

    /// Returns them as JSON for the program, each number with the digits that tell it from all others.
    pub fn json(&self) -> String {
        let list = |values: &[f64]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
        let (points, x, y, noise) = (self.x.len(), list(&self.x), list(&self.y), self.noise);
        format!("{{\n  \"N\": {points},\n  \"x\": [{x}],\n  \"y\": [{y}],\n  \"noise\": {noise:?}\n}}\n")
    }
}

/// The posterior of the coefficients with standard normal priors and known noise: it is normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolynomialPosterior {
    /// The means of a, b and c.
    pub mean: [f64; 3],
    /// Their covariance.
    pub covariance: [[f64; 3]; 3],
    /// The logarithm of the data's probability density.
    pub log_evidence: f64,
}

impl PolynomialPosterior {
    /// Computes the posterior given points `(x, y)` and the noise's standard deviation; `None` where it is 0 or a number
    /// overflows.
    ///
    /// With the columns `X = (1, x, x^2)` in units of the noise, the precision is `P = I + X'X` and the mean `P^-1 X'y`. The
    /// evidence is prior times likelihood over the posterior density, at the mean, where nothing cancels.
    pub fn of(x: &[f64], y: &[f64], noise: f64) -> Option<Self> {
        let row = |x: f64| [1.0 / noise, x / noise, x * x / noise];
        let mut precision = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut weighted = [0.0; 3];
        for (&x, &y) in x.iter().zip(y) {
            let row = row(x);
            for i in 0..3 {
                weighted[i] += row[i] * (y / noise);
                for j in 0..3 {
                    precision[i][j] += row[i] * row[j];
                }
            }
        }
        let (covariance, log_determinant) = inverse(precision)?;
        let mean = covariance.map(|of| of.iter().zip(weighted).map(|(c, w)| c * w).sum());
        let [a, b, c] = mean;
        let misses = x.iter().zip(y).map(|(x, y)| (y - (a + b * x + c * (x * x))) / noise);
        let squares: f64 = misses.chain(mean).map(|miss| miss * miss).sum();
        let count = x.len() as f64;
        let log_evidence = -0.5 * (squares + log_determinant + count * exact::ln(TAU)) - count * exact::ln(noise);
        log_evidence.is_finite().then_some(Self { mean, covariance, log_evidence })
    }

    /// Computes it of the program's data.
    pub(crate) fn of_data(data: &Data) -> Option<Self> {
        let reals = |name: &str| match &data.get(name)?.numbers {
            DataNumbers::Reals(values) => Some(values.clone()),
            DataNumbers::Ints(values) => Some(values.iter().map(|&value| value as f64).collect()),
        };
        Self::of(&reals("x")?, &reals("y")?, *reals("noise")?.first()?)
    }
}

/// Returns the inverse of a symmetric positive matrix, and the logarithm of the matrix's determinant, by its Cholesky factor.
fn inverse(matrix: [[f64; 3]; 3]) -> Option<([[f64; 3]; 3], f64)> {
    let mut factor = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let rest = matrix[i][j] - (0..j).map(|k| factor[i][k] * factor[j][k]).sum::<f64>();
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    let log_determinant = (0..3).map(|i| 2.0 * exact::ln(factor[i][i])).sum::<f64>();
    let column = |unit: usize| {
        let mut x = [0.0; 3];
        for i in 0..3 {
            let own = if i == unit { 1.0 } else { 0.0 };
            x[i] = (own - (0..i).map(|k| factor[i][k] * x[k]).sum::<f64>()) / factor[i][i];
        }
        for i in (0..3).rev() {
            x[i] = (x[i] - (i + 1..3).map(|k| factor[k][i] * x[k]).sum::<f64>()) / factor[i][i];
        }
        x
    };
    let inverse = [column(0), column(1), column(2)];
    inverse.as_flattened().iter().all(|value| value.is_finite()).then_some((inverse, log_determinant))
}

impl Exact for PolynomialPosterior {
    fn method(&self) -> &'static str {
        "closed form: the posterior is normal"
    }

    fn moments_of(&self, variable: &str, index: usize) -> Option<Moments> {
        let at = ["a", "b", "c"].iter().position(|name| *name == variable).filter(|_| index == 0)?;
        Some(Moments { mean: *self.mean.get(at)?, sd: self.covariance.get(at)?.get(at)?.sqrt() })
    }

    fn log_evidence(&self) -> Option<f64> {
        Some(self.log_evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem, Registry, ShippedProgram, StanProblem};
    use serde_json::Value;

    fn named(size: &str) -> PolynomialData {
        let points = NAMED_SIZES.iter().find(|(name, _)| *name == size).unwrap().1;
        PolynomialSpec { points, ..PolynomialSpec::default() }.generate().unwrap()
    }

    fn bound(data: &PolynomialData) -> StanProblem {
        let text = ShippedProgram::find("polynomial").unwrap().text;
        let program = octopus_stan::StanProgram::parse("polynomial.stan", text).unwrap();
        StanProblem::bind(program, Data::json("made.json", &data.json()).unwrap()).unwrap()
    }

    /// What peers read is what these hashes say; a run's record has the same hash.
    #[test]
    fn named_sizes_are_as_recorded() {
        for (size, sha256) in [
            ("small", "1a80a55f7a19b0a4415ae385aec75e1f9b5683b830bc5fc23b74ce2865599d75"),
            ("medium", "5249cf5312e601c323d3d3f93d4e18f698cecfdee996269a4dc0c19dd70427f8"),
            ("large", "6fac587dff9241db6f0e0087f386442c3c861a4cb8d620d08809b1cab6d16777"),
            ("xlarge", "787ce7a436b6a112ce1764d232a16eb51051313719c8ee0bfbdadb67f97f994d"),
            ("xxlarge", "b4e4eb31e1d247755b92e92e8242870e2a8b426622ba1c6a0b1fde673abf0a1a"),
        ] {
            let data = named(size);
            assert_eq!(data.sha256(), sha256, "{size}");
            assert_eq!(bound(&data).data().sha256, sha256, "{size}");
        }
    }

    #[test]
    fn the_data_that_ship_are_the_medium_ones() {
        assert_eq!(ShippedProgram::find("polynomial").unwrap().data, named("medium").json());
    }

    /// The noise about the true polynomial has the spread that was asked for, and smaller data have the first numbers.
    #[test]
    fn points_are_about_the_true_polynomial() {
        let spec = PolynomialSpec { points: 10_000, seed: 7, noise: 0.3 };
        let data = spec.generate().unwrap();
        assert_eq!((data.x[0], data.x[9_999], data.x.len()), (0.0, 1.0, 10_000));
        let misses: Vec<f64> =
            data.x.iter().zip(&data.y).map(|(x, y)| (y - 0.5 + 1.25 * x - 2.0 * x * x) / 0.3).collect();
        let mean = misses.iter().sum::<f64>() / 1e4;
        let variance = misses.iter().map(|miss| miss * miss).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.04 && (variance - 1.0).abs() < 0.06, "{mean} {variance}");
        let mut normals = vec![0.0; 3];
        Normal::new(0.0, 0.3).unwrap().fill(Key::new(7), 0, &mut normals).unwrap();
        for (miss, normal) in misses.iter().zip(&normals) {
            assert!((0.3 * miss - normal).abs() < 1e-14, "{miss} {normal}");
        }
        let one = PolynomialSpec { points: 1, ..spec }.generate().unwrap();
        assert_eq!((one.x[0], one.y[0]), (0.0, data.y[0]));
    }

    #[test]
    fn sizes_and_noise_have_limits() {
        let fails = |spec: PolynomialSpec| spec.generate().unwrap_err().to_string();
        assert!(fails(PolynomialSpec { points: 0, ..PolynomialSpec::default() }).contains("n = 0: 1 to 1,000,000"));
        assert!(fails(PolynomialSpec { points: 1_000_001, ..PolynomialSpec::default() }).contains("n = 1000001"));
        for noise in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308] {
            assert!(fails(PolynomialSpec { noise, ..PolynomialSpec::default() }).contains("noise = "), "{noise}");
        }
    }

    /// SciPy's moments, covariance and evidence, by `models/polynomial/make.py`.
    #[test]
    fn the_posterior_is_that_of_scipy() {
        let data = named("medium");
        let found = PolynomialPosterior::of(&data.x, &data.y, data.noise).unwrap();
        let truth: Value = serde_json::from_str(include_str!("../../../models/polynomial/truth.json")).unwrap();
        for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
            let Moments { mean, sd } = found.moments_of(name, 0).unwrap();
            for (found, expected) in [(mean, &truth["moments"][name]["mean"]), (sd, &truth["moments"][name]["sd"])] {
                assert!((found / expected.as_f64().unwrap() - 1.0).abs() < 1e-7, "{name}: {found}, not {expected}");
            }
            for other in 0..3 {
                let (found, expected) = (found.covariance[at][other], &truth["covariance"][at][other]);
                assert!((found / expected.as_f64().unwrap() - 1.0).abs() < 1e-9, "{name}: {found}, not {expected}");
            }
        }
        assert!((found.log_evidence - truth["log_evidence"].as_f64().unwrap()).abs() < 1e-9, "{}", found.log_evidence);
        assert_eq!((found.moments_of("a", 1), found.moments_of("d", 0)), (None, None));
    }

    /// Prior times likelihood, which the program has, is the evidence times the posterior density at every point and size.
    #[test]
    fn prior_times_likelihood_is_evidence_times_posterior() {
        for (size, points) in NAMED_SIZES {
            let data = named(size);
            let PolynomialPosterior { mean, covariance, log_evidence } =
                PolynomialPosterior::of(&data.x, &data.y, data.noise).unwrap();
            let (precision, log_determinant) = inverse(covariance).unwrap();
            let problem = bound(&data);
            let density = problem.density();
            for offset in [[0.0, 0.0, 0.0], [1.0, -2.0, 0.5], [-0.3, 0.1, 4.0]] {
                let away: [f64; 3] = std::array::from_fn(|k| offset[k] * covariance[k][k].sqrt());
                let at: Vec<f64> = (0..3).map(|k| mean[k] + away[k]).collect();
                let joint = density.logp_grad(&at, &mut [0.0; 3]).unwrap() + density.log_constant().unwrap();
                let square: f64 = (0..9).map(|k| away[k / 3] * precision[k / 3][k % 3] * away[k % 3]).sum();
                let posterior = -0.5 * (square + log_determinant + 3.0 * TAU.ln());
                let off = joint - posterior - log_evidence;
                assert!(off.abs() < 1e-12 * points as f64 + 1e-9, "{size}: {off}");
            }
        }
    }

    /// Other data than those that ship have their posterior, too; without noise there is none.
    #[test]
    fn the_posterior_follows_the_data() {
        let model = Registry::shipped().find("polynomial").unwrap();
        let of = |settings: &str| model.build(&settings.parse().unwrap(), None).unwrap().exact().unwrap();
        let sd = |settings: &str| of(settings).unwrap().moments_of("b", 0).unwrap().sd;
        assert!(sd("set = { noise = 0.1 }") > 1.5 * sd(""));
        // Without points the posterior is the prior, whose evidence is 1.
        let none = of("set = { N = 0, x = [], y = [] }").unwrap();
        assert_eq!((none.moments_of("b", 0), none.log_evidence()), (Some(Moments { mean: 0.0, sd: 1.0 }), Some(0.0)));
        assert_eq!(PolynomialPosterior::of(&[0.0, 1.0], &[0.0, 1.0], 0.0), None);
    }
}
