//! The von Mises-Fisher distribution of unit vectors: a polar angle by half its tangent, and a tangent in a uniform
//! direction.
//!
//! Wood (1994, Communications in Statistics - Simulation 23) proposes the cosine w of the angle between a draw and the mean
//! direction, in d + 1 dimensions, as (1 - (1 + b) z) / (1 - (1 - b) z) with z of the beta distribution of d/2 and d/2 and
//! b = (sqrt(4 c^2 + d^2) - 2 c) / d of the concentration c. For large concentrations that is 1 in any type. Here
//!
//! tan^2(angle / 2) = b z / (1 - z), b = d / (sqrt(4 c^2 + d^2) + 2 c),
//!
//! and Wood's test, whose three terms nearly cancel, is ln u <= d (ln y - (y - 1)) with
//!
//! y = (1 + b) / (2 (1 - z + b z)), y - 1 = (1 - b) (2 z - 1) / (2 (1 - z + b z)).
//!
//! By Ulrich (1984, Applied Statistics 33) 2 z - 1 = -s cos(pi v), s^2 = 1 - u^(2 / (d - 1)), so that z and 1 - z are sums
//! of positive numbers: a / (2 (1 + s)), a = 1 - s^2, and s sin^2(pi v / 2) or s cos^2(pi v / 2). In two dimensions s is 1,
//! and all of this is what [`VonMises`](super::VonMises) does.
//!
//! The tangent has the direction of d normal numbers, which a Householder reflection takes from the last axis to the
//! mean direction. It is written as c mean + s tangent, in which nothing cancels either.

use super::gamma::{SERIES_BELOW, series};
use super::proposals::{self, PART, Propose, SPAN};
use super::{Draw, Family, ParameterError, TurnsExhausted};
use crate::{FloatingPoint, Key, circular};
use pulp::{Arch, Simd, WithSimd};

/// The von Mises-Fisher distribution of unit vectors, around a mean direction; uniform on the sphere for a concentration
/// of 0.
///
/// A draw is a row of as many numbers as there are dimensions: [`fill`](Draw::fill) writes rows one after the other.
///
/// ```
/// use octopus_random::{Draw, Key, VonMisesFisher};
///
/// let north = VonMisesFisher::new(&[0.0, 0.0, 1.0], 5.0)?;
/// let mut points = vec![[0.0; 3]; 1000];
/// north.fill(Key::new(42), 0, points.as_flattened_mut())?;
/// assert_eq!(points[17].to_vec(), north.draw(Key::new(42), 17)?);
/// let mean = points.iter().map(|point| point[2]).sum::<f64>() / 1000.0;
/// assert!((mean - north.mean_resultant_length()).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VonMisesFisher<T> {
    direction: Vec<T>,
    concentration: T,
    polar: Polar<T>,
}

const NAME: &str = "von Mises-Fisher";

/// The most dimensions.
pub const MOST_DIMENSIONS: usize = 1 << 16;

/// Numbers of rows that are worked on together, if that is not too few rows: they stay in the cache.
const WORKED_ON: usize = 1 << 15;
/// Rows that are worked on together at the least: whole vectors of the processor.
const FEWEST: usize = 16;

impl<T: FloatingPoint> VonMisesFisher<T> {
    /// Makes the distribution around `direction`, a vector of 2 to [`MOST_DIMENSIONS`] numbers of any length but 0.
    ///
    /// An infinite concentration gives the direction always.
    ///
    /// # Errors
    /// When `direction` has another number of dimensions, is not finite or is 0, or `concentration` is negative or NaN.
    pub fn new(direction: &[T], concentration: T) -> Result<Self, ParameterError> {
        let wrong = |parameter, value, must: &'static str| {
            Err(ParameterError { distribution: NAME, parameter, value, must: must.into() })
        };
        if !(2..=MOST_DIMENSIONS).contains(&direction.len()) {
            return wrong("number of dimensions", direction.len() as f64, "from 2 to 65536");
        }
        if let Some(bad) = direction.iter().find(|number| !number.is_finite()) {
            return wrong("direction", bad.to_f64(), "of finite numbers");
        }
        let known = concentration.partial_cmp(&T::default());
        if known.is_none_or(std::cmp::Ordering::is_lt) {
            return wrong("concentration", concentration.to_f64(), "at least 0");
        }
        // Beside the largest no square is too large or too small.
        let largest = direction.iter().map(|number| number.to_f64().abs()).fold(0.0, f64::max);
        if largest == 0.0 {
            return wrong("direction", 0.0, "longer than 0");
        }
        let part = |number: &T| number.to_f64() / largest;
        let length = direction.iter().map(part).map(|part| part * part).sum::<f64>().sqrt();
        let direction: Vec<T> = direction.iter().map(|number| T::from_f64(part(number) / length)).collect();
        let polar = Polar::new(direction.len(), concentration);
        Ok(Self { direction, concentration, polar })
    }

    /// Returns the concentration.
    #[must_use]
    pub fn concentration(&self) -> T {
        self.concentration
    }

    /// Returns draw `index`, a unit vector.
    ///
    /// # Errors
    /// When all turns of the draw were refused.
    pub fn draw(&self, key: Key, index: u64) -> Result<Vec<T>, TurnsExhausted> {
        let mut row = vec![T::default(); self.dimensions()];
        self.fill(key, index, &mut row)?;
        Ok(row)
    }

    /// Returns the logarithm of the density in the direction of `x`, per unit of the sphere's surface.
    ///
    /// The length of `x` does not matter. NaN where `x` is 0, not finite or of other dimensions.
    #[must_use]
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let concentration = self.concentration.to_f64();
        let less = if x.len() == self.dimensions() { one_minus_cosine(x, &self.direction) } else { f64::NAN };
        let at_mean = circular::von_mises_fisher_log_normalizer_scaled(x.len() as u32, concentration);
        match concentration == f64::INFINITY {
            true if less > 0.0 => f64::NEG_INFINITY,
            true => at_mean + less,
            false => at_mean - concentration * less,
        }
    }

    /// Returns the length of the mean of all draws.
    #[must_use]
    pub fn mean_resultant_length(&self) -> f64 {
        let dimensions = self.dimensions() as u32;
        circular::von_mises_fisher_mean_resultant_length(dimensions, self.concentration.to_f64())
    }

    /// Fills whole rows, no more than a span of them.
    fn fill_rows(&self, key: Key, first: u64, rows: &mut [T]) -> Result<(), TurnsExhausted> {
        let mut tangents = [T::default(); SPAN];
        let tangents = &mut tangents[..rows.len() / self.dimensions()];
        proposals::fill(&self.polar, (key, first, 0), tangents)?;
        Arch::new().dispatch(DrawRows { direction: &self.direction, tangents, key, first, rows });
        Ok(())
    }
}

/// 1 - cos of the angle between two vectors of any length, with its digits where it is small.
fn one_minus_cosine<T: FloatingPoint>(x: &[f64], direction: &[T]) -> f64 {
    let largest = x.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let direction = || direction.iter().map(|number| number.to_f64());
    let square = direction().map(|number| number * number).sum::<f64>();
    let shares = |x: &[f64]| x.iter().zip(direction()).map(|(x, number)| x * number).sum::<f64>() / square;
    let mut apart: Vec<f64> = x.iter().map(|x| x / largest).collect();
    let mut along = 0.0;
    // What rounding left along the direction the second time takes away: then what is across has all of its digits.
    for _ in 0..2 {
        let share = shares(&apart);
        along += share;
        apart.iter_mut().zip(direction()).for_each(|(x, number)| *x = (-share).mul_add(number, *x));
    }
    let (along, across) = (along * square.sqrt(), apart.iter().map(|x| x * x).sum::<f64>());
    let length = (along * along + across).sqrt();
    if along > 0.0 { across / (length * (length + along)) } else { (length - along) / length }
}

/// What proposes tangents of half the angle between a draw and the mean direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Polar<T> {
    /// d, one less than there are dimensions.
    size: T,
    /// 2 / (d - 1), or as good as infinite.
    power: T,
    /// The square root of b.
    root: T,
    /// b
    square: T,
    /// (1 + b) / 2 and (1 - b) / 2.
    halves: [T; 2],
}

impl<T: FloatingPoint> Polar<T> {
    fn new(dimensions: usize, concentration: T) -> Self {
        let number = T::from_f64;
        let (one, half) = (number(1.0), number(0.5));
        let size = number((dimensions - 1) as f64);
        let power = if dimensions == 2 { number(NEVER) } else { number(2.0) / (size - one) };
        let quotient = concentration / size;
        if quotient > number(T::ROOT_IS_HUGE) {
            // 1 is nothing beside the quotient, and nor is b beside 1.
            let root = half / quotient.sqrt();
            return Self { size, power, root, square: root * root, halves: [half, half] };
        }
        let double = quotient + quotient;
        let side = (one + double * double).sqrt();
        let square = one / (side + double);
        let rest = double * (one + double / (side + one)) * square;
        Self { size, power, root: square.sqrt(), square, halves: [half * (one + square), half * rest] }
    }
}

/// A power by which every number of (0, 1) is 0.
const NEVER: f64 = 1e30;
/// The logarithm of the least number beside which s is not 1 in either type.
const LEAST_LN: f64 = 80.0;

impl<T: FloatingPoint> Propose<T, 4> for Polar<T> {
    #[inline(always)]
    fn propose(&self, bits: [T::Bits; 4]) -> ([T; 2], T) {
        let number = T::from_f64;
        let (one, half) = (number(1.0), number(0.5));
        let (_, far, x) = T::halves(bits[0]);
        let (sine, cosine) = x.sin_cos_quarter();
        let (above, below) = (if far { cosine } else { sine }, if far { sine } else { cosine });
        // a and s: 1 - a is not subtracted, as a is near 1 in many dimensions.
        let exponent = self.power * -T::uniform(bits[1]).ln();
        let exponent = if exponent > number(LEAST_LN) { number(LEAST_LN) } else { exponent };
        let grown = exponent.exp_minus_one();
        let left = one / (one + grown);
        let s = (grown * left).sqrt();
        let both = half * left / (one + s);
        let (z, rest) = (both + s * (above * above), both + s * (below * below));
        let scale = one / (rest + self.square * z);
        let y = self.halves[0] * scale;
        let excess = self.halves[1] * (s * ((above - below) * (above + below))) * scale;
        let small = excess * excess * (excess * (number(1.0 / 3.0) + excess * series(excess)) - half);
        let bracket = if excess.abs() < number(SERIES_BELOW) { small } else { y.ln() - excess };
        ([z, rest], self.size * bracket)
    }

    #[inline(always)]
    fn takes(&self, most: T, bits: [T::Bits; 4]) -> bool {
        T::uniform(bits[2]).ln() <= most
    }

    #[inline(always)]
    fn finish(&self, [z, rest]: [T; 2], _: T::Bits) -> T {
        self.root * (z / rest).sqrt()
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// Rows of draws, given the tangents of half their polar angles.
struct DrawRows<'a, T> {
    direction: &'a [T],
    tangents: &'a [T],
    key: Key,
    first: u64,
    rows: &'a mut [T],
}

impl<T: FloatingPoint> WithSimd for DrawRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { direction, tangents, key, first, rows } = self;
        let (n, dimensions) = (tangents.len(), direction.len());
        let mut bits = [[T::Bits::default(); SPAN]; 4];
        let mut normals = [T::default(); SPAN];
        let (mut squares, mut along) = ([T::default(); SPAN], [T::default(); SPAN]);
        let (normals, squares, along) = (&mut normals[..n], &mut squares[..n], &mut along[..n]);
        for (four, means) in direction[..dimensions - 1].chunks(4).enumerate() {
            proposals::fill_bits::<T, 4>((key, first, PART + four as u32), &mut bits, n);
            for place in 0..means.len() {
                let (mean, bits, column) = (means[place], &bits[place][..n], 4 * four + place);
                for l in 0..n {
                    normals[l] = T::normal(bits[l]);
                    squares[l] = squares[l] + normals[l] * normals[l];
                    along[l] = along[l] + mean * normals[l];
                }
                for l in 0..n {
                    rows[l * dimensions + column] = normals[l];
                }
            }
        }
        for (l, row) in rows.chunks_exact_mut(dimensions).enumerate() {
            finish_row(row, direction, tangents[l], squares[l], along[l]);
        }
    }
}

/// Makes a draw of a row that begins with normal numbers, given the tangent of half its polar angle, the sum of their
/// squares and their product with the direction.
#[inline(always)]
fn finish_row<T: FloatingPoint>(row: &mut [T], direction: &[T], tangent: T, mut square: T, mut along: T) {
    let one = T::from_f64(1.0);
    let ([front @ .., last], [means @ .., pole]) = (row, direction) else { return };
    if square == T::default() {
        // A normal number of f32 may be 0: one in 10^7.
        (front[0], square, along) = (one, one, means[0]);
    }
    let share = one / (one + tangent * tangent);
    let cosine = (one - tangent) * (one + tangent) * share;
    let scale = (tangent + tangent) * share / square.sqrt();
    let tilt = along / (one + pole.abs());
    let means = &means[..front.len()];
    for place in 0..front.len() {
        front[place] = cosine * means[place] + scale * (tilt * means[place] - front[place]);
    }
    let across = if *pole < T::default() { -along } else { along };
    *last = cosine * *pole + scale * across;
}

impl<T: FloatingPoint> Draw<T> for VonMisesFisher<T> {
    fn family(&self) -> (Family, [T; 3]) {
        (Family::VonMisesFisher, [self.concentration, T::default(), T::default()])
    }

    fn direction(&self) -> &[T] {
        &self.direction
    }

    fn fill(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        T::fill(self, key, first, out)
    }
}

impl<T: FloatingPoint> VonMisesFisher<T> {
    pub(super) fn fill_here(&self, key: Key, first: u64, out: &mut [T]) -> Result<(), TurnsExhausted> {
        let dimensions = self.dimensions();
        let most = 1 << (WORKED_ON / dimensions).clamp(FEWEST, SPAN).ilog2();
        let (mut first, mut rest) = (first, out);
        while rest.len() >= dimensions {
            // No span goes beyond a multiple of its size, so that the upper half of all its indices is the same.
            let count = (rest.len() / dimensions).min(most - (first % most as u64) as usize);
            let (rows, behind) = rest.split_at_mut(count * dimensions);
            self.fill_rows(key, first, rows)?;
            first += count as u64;
            rest = behind;
        }
        if !rest.is_empty() {
            let row = self.draw(key, first)?;
            rest.copy_from_slice(&row[..rest.len()]);
        }
        Ok(())
    }
}

/// With a generator of `rand`: NaN where it refuses [`MOST_TURNS`](super::MOST_TURNS) times in a row, as none does whose
/// numbers are random.
impl<T: FloatingPoint> rand::distr::Distribution<Vec<T>> for VonMisesFisher<T> {
    fn sample<R: rand::Rng + ?Sized>(&self, generator: &mut R) -> Vec<T> {
        let tangent = proposals::draw_with(&self.polar, generator);
        let (mut square, mut along) = (T::default(), T::default());
        let mut row = vec![T::default(); self.direction.len()];
        // The last axis is the reflection's.
        for (out, mean) in row.iter_mut().zip(&self.direction).take(self.direction.len() - 1) {
            *out = T::normal(T::bits_of(generator));
            square = square + *out * *out;
            along = along + *mean * *out;
        }
        finish_row(&mut row, &self.direction, tangent, square, along);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand numbers of 1 + e and 1 - e by turns are at an angle whose cosine is 1 / sqrt(1 + e^2) from as many that are
    /// alike. Rounding leaves a part of 1e-14 along the direction, beside which an e of 2^-44 is small.
    #[test]
    fn a_small_angle_has_its_digits_in_many_dimensions() {
        let size = 0.5_f64.powi(44);
        let x: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 1.0 + size } else { 1.0 - size }).collect();
        let found = one_minus_cosine(&x, &[1.0 / 1000_f64.sqrt(); 1000]);
        assert!((found / (0.5 * size * size) - 1.0).abs() < 1e-9, "{found:e}");
    }

    /// The largest uniform number of f32 is 1, whose logarithm is 0: no power of it is NaN, on a circle either.
    #[test]
    fn every_word_proposes_numbers() {
        for dimensions in [2, 3, 4, 1000] {
            for concentration in [0.0, 1e-8, 1.0, 1e8, 1e30, f32::INFINITY] {
                let polar = Polar::new(dimensions, concentration);
                for bits in [0, 1 << 30, u32::MAX] {
                    for power in [0, 1 << 31, u32::MAX] {
                        let ([z, rest], most) = polar.propose([bits, power, 0, 0]);
                        let own = format!("{dimensions} {concentration} {bits:x} {power:x}: {z} {rest} {most}");
                        assert!(z >= 0.0 && rest >= 0.0 && z + rest > 0.0 && !most.is_nan(), "{own}");
                    }
                }
            }
        }
    }
}
