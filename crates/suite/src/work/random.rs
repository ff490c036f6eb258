//! Draws of distributions, held to their laws: all repetitions together by Kolmogorov's test, and neighbours to be unrelated.

use super::{TimedOperation, copies, known_settings, name_of, whole};
use crate::SuiteError;
use crate::judge::{RepeatDraws, largest};
use crate::message::StartRequest;
use crate::suite::SuiteCase;
use octopus_array::{Array, ArrayShape, Scalar};
use octopus_device::{Device, with_device};
use octopus_random::{
    Beta, Draw, Exponential, Gamma, Key, Normal, StudentT, Uniform, VonMises, VonMisesFisher, WrappedNormal,
};
use serde_json::{Map, Value};
use std::f64::consts::{PI, SQRT_2};
use std::path::Path;

/// Kolmogorov's statistic, the distance times the root of the number of draws, is above this once in a million tests.
const DISTANCE: f64 = 2.69;
/// How many standard errors the correlation of neighbours may be off.
const CORRELATION: f64 = 5.0;
/// Parts of the interval over which a density is summed up.
const PARTS: usize = 20_000;

/// Returns the distribution of a case.
///
/// # Errors
/// When there is none, or a setting is none of it.
pub(super) fn check(case: &SuiteCase) -> Result<Family, SuiteError> {
    known_settings(&case.problem, &["program", "n"])?;
    whole(&case.problem, "n")?;
    Family::of(&case.method)
}

/// A distribution with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    Uniform,
    Normal,
    Exponential,
    Gamma(f64),
    Beta(f64, f64),
    StudentT(f64),
    WrappedNormal,
    VonMises(f64),
    VonMisesFisher(usize, f64),
}

impl Family {
    fn of(method: &Map<String, Value>) -> Result<Self, SuiteError> {
        let name = name_of(method);
        let number = |key: &str| {
            let value = method.get(key).and_then(Value::as_f64).filter(|value| *value > 0.0);
            value.ok_or_else(|| SuiteError::file(Path::new(name), format!("it needs {key}, a number above 0")))
        };
        let (family, settings): (Self, &[&str]) = match name {
            "uniform" => (Self::Uniform, &[]),
            "normal" => (Self::Normal, &[]),
            "exponential" => (Self::Exponential, &[]),
            "gamma" => (Self::Gamma(number("shape")?), &["shape"]),
            "beta" => (Self::Beta(number("a")?, number("b")?), &["a", "b"]),
            "student-t" => (Self::StudentT(number("df")?), &["df"]),
            "wrapped-normal" => (Self::WrappedNormal, &[]),
            "von-mises" => (Self::VonMises(number("concentration")?), &["concentration"]),
            "von-mises-fisher" => {
                let of = Self::VonMisesFisher(whole(method, "dimensions")?, number("concentration")?);
                (of, &["dimensions", "concentration"])
            }
            _ => {
                let known = "uniform, normal, exponential, gamma, beta, student-t, wrapped-normal, von-mises, \
                             von-mises-fisher"
                    .to_owned();
                return Err(SuiteError::Unknown { kind: "distribution", name: name.to_owned(), known });
            }
        };
        known_settings(method, &[&["name", "copies"], settings].concat())?;
        Ok(family)
    }

    /// Returns the distribution as Octopus has it: standard, but for the shape.
    fn distribution<T: Scalar>(self) -> Result<Box<dyn Draw<T>>, SuiteError> {
        let of = T::from_f64;
        let [zero, one] = [0.0, 1.0].map(T::from_f64);
        Ok(match self {
            Self::Uniform => Box::new(Uniform::new(zero, one)?),
            Self::Normal => Box::new(Normal::new(zero, one)?),
            Self::Exponential => Box::new(Exponential::new(one)?),
            Self::Gamma(shape) => Box::new(Gamma::new(of(shape), one)?),
            Self::Beta(a, b) => Box::new(Beta::new(of(a), of(b))?),
            Self::StudentT(df) => Box::new(StudentT::new(of(df), zero, one)?),
            Self::WrappedNormal => Box::new(WrappedNormal::new(zero, one)?),
            Self::VonMises(concentration) => Box::new(VonMises::new(zero, of(concentration))?),
            Self::VonMisesFisher(dimensions, concentration) => {
                Box::new(VonMisesFisher::new(&vec![one; dimensions], of(concentration))?)
            }
        })
    }

    fn dimensions(self) -> usize {
        if let Self::VonMisesFisher(dimensions, _) = self { dimensions } else { 1 }
    }

    /// Returns a number of a draw whose density is smooth and has an end on both sides.
    fn seen(self, draw: &[f64]) -> f64 {
        match self {
            Self::Gamma(_) => draw[0].sqrt(),
            Self::StudentT(df) => draw[0] / (df + draw[0] * draw[0]).sqrt(),
            Self::VonMisesFisher(dimensions, _) => {
                let length = draw.iter().map(|x| x * x).sum::<f64>().sqrt();
                // The mean direction is the diagonal.
                let cosine = draw.iter().sum::<f64>() / (dimensions as f64).sqrt();
                if (length - 1.0).abs() < 1e-3 { (1.0 - cosine).max(0.0).sqrt() } else { f64::NAN }
            }
            _ => draw[0],
        }
    }

    /// Returns the density of that number, up to a factor, and the ends between which nearly all of it lies.
    fn density(self) -> (Box<dyn Fn(f64) -> f64>, [f64; 2]) {
        match self {
            Self::Uniform => (Box::new(|_| 1.0), [0.0, 1.0]),
            Self::Normal => (Box::new(|x| (-0.5 * x * x).exp()), [-9.0, 9.0]),
            Self::Exponential => (Box::new(|x| (-x).exp()), [0.0, 40.0]),
            // The density of the root of a gamma variate.
            Self::Gamma(shape) => (Box::new(move |x| x.powf(2.0 * shape - 1.0) * (-x * x).exp()), [0.0, 8.0]),
            Self::Beta(a, b) => (Box::new(move |x| x.powf(a - 1.0) * (1.0 - x).powf(b - 1.0)), [0.0, 1.0]),
            // The density of the sine of the angle whose tangent is the variate over the root of the degrees of freedom.
            Self::StudentT(df) => (Box::new(move |x| (1.0 - x * x).max(0.0).powf(0.5 * df - 1.0)), [-1.0, 1.0]),
            Self::WrappedNormal => {
                let turns = |x: f64| (-3..=3).map(move |turn| x + 2.0 * PI * f64::from(turn));
                (Box::new(move |x| turns(x).map(|x| (-0.5 * x * x).exp()).sum()), [-PI, PI])
            }
            Self::VonMises(concentration) => {
                (Box::new(move |x: f64| (concentration * (x.cos() - 1.0)).exp()), [-PI, PI])
            }
            // The density of the root of 1 less the cosine.
            Self::VonMisesFisher(dimensions, concentration) => {
                let power = 0.5 * (dimensions as f64 - 3.0);
                let of = move |x: f64| {
                    let square = x * x;
                    (-concentration * square).exp() * (square * (2.0 - square)).max(0.0).powf(power) * x
                };
                (Box::new(of), [0.0, SQRT_2])
            }
        }
    }
}

/// The distribution function of what is seen of a draw, by the trapezoidal rule.
pub(crate) struct Law {
    family: Family,
    ends: [f64; 2],
    /// The shares below the ends of the parts.
    below: Vec<f64>,
}

impl Law {
    pub(super) fn of(family: Family) -> Self {
        let (density, ends) = family.density();
        let width = (ends[1] - ends[0]) / PARTS as f64;
        let at: Vec<f64> = (0..=PARTS).map(|part| density(ends[0] + width * part as f64)).collect();
        let mut below = vec![0.0];
        for pair in at.windows(2) {
            below.push(below[below.len() - 1] + f64::midpoint(pair[0], pair[1]));
        }
        let all = below[PARTS];
        below.iter_mut().for_each(|share| *share /= all);
        Self { family, ends, below }
    }

    /// Returns the chance of a smaller number.
    fn share_below(&self, seen: f64) -> f64 {
        if seen.is_nan() {
            return f64::NAN;
        }
        let place = (seen.clamp(self.ends[0], self.ends[1]) - self.ends[0]) / (self.ends[1] - self.ends[0]);
        let place = place * PARTS as f64;
        let part = (place as usize).min(PARTS - 1);
        self.below[part] + (place - part as f64) * (self.below[part + 1] - self.below[part])
    }

    pub(super) fn look_at(&self, all: &[RepeatDraws]) -> (Option<f64>, Option<String>) {
        let dimensions = self.family.dimensions();
        if let Some(found) = all.iter().find(|found| found.width != dimensions) {
            return (None, Some(format!("its draws have {} numbers each and not {dimensions}", found.width)));
        }
        if all.windows(2).any(|pair| pair[0].values == pair[1].values) {
            return (None, Some("two repetitions with other seeds drew the same".to_owned()));
        }
        let shares = |found: &RepeatDraws| -> Vec<f64> {
            found.values.chunks_exact(dimensions).map(|draw| self.share_below(self.family.seen(draw))).collect()
        };
        let each: Vec<Vec<f64>> = all.iter().map(shares).collect();
        let (distance, related) = (distance(&each), correlation(&each));
        let (far, tied) = (distance / DISTANCE, related.abs() / CORRELATION);
        let worst = if far.is_nan() || tied.is_nan() { f64::INFINITY } else { far.max(tied) };
        let fault = (worst > 1.0).then(|| {
            format!(
                "its draws have another distribution: Kolmogorov's statistic is {distance:.2} and may be {DISTANCE}, \
                 neighbours are correlated by {related:.1} standard errors"
            )
        });
        (Some(worst), fault)
    }
}

/// Returns Kolmogorov's statistic of uniform numbers; NaN where one is none.
fn distance(each: &[Vec<f64>]) -> f64 {
    let mut sorted: Vec<f64> = each.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let off =
        |(place, share): (usize, &f64)| (share - place as f64 / n).abs().max(((place + 1) as f64 / n - share).abs());
    largest(sorted.iter().enumerate().map(off)) * n.sqrt()
}

/// Returns the correlation of neighbours among uniform numbers, in standard errors.
fn correlation(each: &[Vec<f64>]) -> f64 {
    let pairs = each.iter().flat_map(|own| own.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)));
    let (count, sum) = pairs.fold((0.0, 0.0), |(count, sum), product| (count + 1.0, sum + product));
    // The product of two has variance 1/144.
    12.0 * sum / f64::sqrt(count)
}

/// Draws of Octopus.
pub(super) struct Drawing<T: Scalar> {
    distribution: Box<dyn Draw<T>>,
    device: Device,
    /// Whether all threads of the pool draw.
    all_threads: bool,
    copies: bool,
    /// The numbers, on the host.
    out: Vec<T>,
    /// The draws that stay on the device.
    last: Option<Array<T>>,
}

impl<T: Scalar> Drawing<T> {
    pub(super) fn new(start: &StartRequest, device: Device) -> Result<Self, SuiteError> {
        let family = Family::of(&start.method)?;
        // Of vectors about as many numbers are made as of numbers.
        let draws = (whole(&start.problem, "n")? / family.dimensions()).max(1);
        let out = vec![T::ZERO; draws * family.dimensions()];
        let (distribution, all_threads) = (family.distribution()?, start.threads > 1);
        Ok(Self { distribution, device, all_threads, copies: copies(&start.method), out, last: None })
    }
}

impl<T: Scalar> TimedOperation for Drawing<T> {
    fn call(&mut self, seed: u64) -> Result<(), SuiteError> {
        let (distribution, key) = (&*self.distribution, Key::new(seed));
        if self.device == Device::Cpu {
            let draw = if self.all_threads { Draw::par_fill } else { Draw::fill };
            return Ok(draw(distribution, key, 0, &mut self.out)?);
        }
        let shape = ArrayShape::of_draws(distribution, self.out.len() / distribution.dimensions());
        let drawn = with_device(self.device, || Array::drawn(distribution, key, shape))?;
        if self.copies {
            self.out = drawn.to_host()?;
        } else {
            self.last = Some(drawn);
        }
        Ok(())
    }

    fn result(&self) -> Result<(usize, Vec<f64>), SuiteError> {
        let numbers = |values: &[T]| values.iter().map(|value| value.to_f64()).collect();
        let values = match &self.last {
            Some(drawn) => numbers(&drawn.to_host()?),
            None => numbers(&self.out),
        };
        Ok((self.distribution.dimensions(), values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn law(method: &Value) -> Law {
        Law::of(Family::of(method.as_object().unwrap()).unwrap())
    }

    /// Chances in closed form, or of tables.
    #[test]
    fn chances_are_the_known_ones() {
        let below = |method: Value, draw: f64| {
            let law = law(&method);
            law.share_below(law.family.seen(&[draw]))
        };
        let known = [
            (below(json!({ "name": "uniform" }), 0.25), 0.25),
            (below(json!({ "name": "normal" }), 1.959_963_985), 0.975),
            (below(json!({ "name": "exponential" }), 2.0), 1.0 - (-2f64).exp()),
            (below(json!({ "name": "gamma", "shape": 3.0 }), 2.0), 1.0 - 5.0 * (-2f64).exp()),
            (below(json!({ "name": "gamma", "shape": 0.5 }), 0.5), 0.682_689_492),
            (below(json!({ "name": "beta", "a": 2.0, "b": 3.0 }), 0.5), 0.6875),
            // Student's t with 4 degrees of freedom: the quantile of 0.975.
            (below(json!({ "name": "student-t", "df": 4.0 }), 2.776_445_105), 0.975),
            (below(json!({ "name": "von-mises", "concentration": 1.0 }), 0.0), 0.5),
            // Nearly a normal distribution of standard deviation 0.01.
            (below(json!({ "name": "von-mises", "concentration": 1e4 }), 0.01), 0.841_345),
        ];
        for (place, (found, known)) in known.into_iter().enumerate() {
            assert!((found - known).abs() < 1e-4, "{place}: {found} and not {known}");
        }
        // In three dimensions the cosine has an exponential density.
        let law = law(&json!({ "name": "von-mises-fisher", "dimensions": 3, "concentration": 5.0 }));
        let (cosine, k) = (0.6f64, 5.0f64);
        let exact = ((k * cosine).exp() - (-k).exp()) / (k.exp() - (-k).exp());
        assert!((1.0 - law.share_below((1.0 - cosine).sqrt()) - exact).abs() < 1e-5);
    }
}
