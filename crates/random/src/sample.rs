//! Arrays of draws in one call: `sample_von_mises`, whose parameters are arrays, too, as NumPy and JAX have it, and unit
//! vectors.

use crate::distribution::{SPAN, checked_concentration, checked_loc, fill_von_mises_each};
use crate::{Draw, FloatingPoint, Key, ParameterError, TurnsExhausted, VonMises, VonMisesFisher};
use rayon::prelude::*;
use thiserror::Error;

/// A parameter of [`sample_von_mises`]: one number, or an array that is broadcast to the draws' shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BroadcastParameter<'a, T> {
    values: &'a [T],
    shape: &'a [usize],
}

impl<'a, T: FloatingPoint> BroadcastParameter<'a, T> {
    /// Makes an array of a shape, in C order.
    ///
    /// # Errors
    /// When the shape asks for another number of values.
    pub fn new(values: &'a [T], shape: &'a [usize]) -> Result<Self, SampleError> {
        if elements(shape) == Some(values.len()) {
            Ok(Self { values, shape })
        } else {
            Err(SampleError::Values { shape: text(shape), found: values.len() })
        }
    }

    /// Fills `out` with the numbers for the draws from `start` on, in the C order of `shape`: NumPy's rule of
    /// broadcasting, the last axis first.
    fn fill(&self, start: usize, shape: &[usize], out: &mut [T]) {
        let length = shape.last().copied().unwrap_or(1);
        let along = self.shape.last().is_some_and(|own| *own > 1);
        let (mut index, mut rest) = (start, out);
        while !rest.is_empty() {
            let column = index % length;
            let (row, behind) = rest.split_at_mut(rest.len().min(length - column));
            let place = self.place(index, shape);
            if along {
                row.copy_from_slice(&self.values[place..place + row.len()]);
            } else {
                row.fill(self.values[place]);
            }
            index += row.len();
            rest = behind;
        }
    }

    /// The place of the number for the draw at `index` of `shape`.
    fn place(&self, mut index: usize, shape: &[usize]) -> usize {
        let (mut place, mut step) = (0, 1);
        for (own, side) in self.shape.iter().rev().zip(shape.iter().rev()) {
            if *own > 1 {
                place += (index % side) * step;
            }
            step *= own;
            index /= side;
        }
        place
    }

    fn suits(&self, shape: &[usize]) -> bool {
        let sides = self.shape.iter().rev().zip(shape.iter().rev());
        self.shape.len() <= shape.len() && sides.into_iter().all(|(own, side)| own == side || *own == 1)
    }
}

impl<'a, T: FloatingPoint> From<&'a T> for BroadcastParameter<'a, T> {
    fn from(value: &'a T) -> Self {
        Self { values: std::slice::from_ref(value), shape: &[] }
    }
}

/// Draws that cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A shape asks for another number of values than there are.
    #[error("an array of shape {shape} was given {found} values")]
    Values {
        /// The shape.
        shape: String,
        /// The number of values.
        found: usize,
    },
    /// A parameter's shape is not that of the draws.
    #[error("{parameter} of shape {own} cannot be broadcast to draws of shape {shape}")]
    Shapes {
        /// The parameter's name.
        parameter: &'static str,
        /// Its shape.
        own: String,
        /// The shape of the draws.
        shape: String,
    },
    /// The shape asks for more numbers than memory has addresses.
    #[error("draws of shape {shape} are more than memory holds")]
    Memory {
        /// The shape.
        shape: String,
    },
    /// There is no such distribution.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// All turns of a draw were refused.
    #[error(transparent)]
    Turns(#[from] TurnsExhausted),
}

/// Draws angles of von Mises distributions, in [-pi, pi], as an array of `shape` in C order.
///
/// `loc` (radians) and `concentration` are one number each, or arrays that NumPy's rules broadcast to `shape`. Draw `i`
/// (in C order) depends on the key, on `i` and on its own parameters alone: with the same numbers in an array and alone,
/// the draws are the same.
///
/// ```
/// use octopus_random::{Key, BroadcastParameter, sample_von_mises};
///
/// let angles = sample_von_mises(Key::new(42), (&0.0f32).into(), (&5.0).into(), &[10, 100])?;
/// assert_eq!(angles.len(), 1000);
///
/// // A concentration for each column:
/// let concentration = BroadcastParameter::new(&[0.0, 1.0, 1e8], &[3])?;
/// let angles = sample_von_mises(Key::new(42), (&0.0f64).into(), concentration, &[500, 3])?;
/// assert!(angles.chunks(3).all(|row| row[2].abs() < 1e-3));
/// # Ok::<(), octopus_random::SampleError>(())
/// ```
///
/// # Errors
/// When the shapes do not suit each other, a concentration is negative or NaN, a loc is not finite, or memory does not
/// suffice.
pub fn sample_von_mises<T: FloatingPoint>(
    key: Key,
    loc: BroadcastParameter<'_, T>,
    concentration: BroadcastParameter<'_, T>,
    shape: &[usize],
) -> Result<Vec<T>, SampleError> {
    let mut out = room(shape)?;
    fill_von_mises(key, loc, concentration, shape, &mut out)?;
    Ok(out)
}

/// Does the same as [`sample_von_mises`] in memory that is there: `out` has as many numbers as the shape asks for.
///
/// # Errors
/// As those of [`sample_von_mises`], and when `out` has another length; what is in it then means nothing.
pub fn fill_von_mises<T: FloatingPoint>(
    key: Key,
    loc: BroadcastParameter<'_, T>,
    concentration: BroadcastParameter<'_, T>,
    shape: &[usize],
    out: &mut [T],
) -> Result<(), SampleError> {
    if elements(shape) != Some(out.len()) {
        return Err(SampleError::Values { shape: text(shape), found: out.len() });
    }
    for (parameter, given) in [("loc", &loc), ("concentration", &concentration)] {
        if !given.suits(shape) {
            return Err(SampleError::Shapes { parameter, own: text(given.shape), shape: text(shape) });
        }
    }
    if let ([loc], [concentration]) = (loc.values, concentration.values) {
        return Ok(VonMises::new(*loc, *concentration)?.par_fill(key, 0, out)?);
    }
    // Checked as often as they stand there, and not for each draw.
    let locs = loc.values.iter().map(|loc| checked_loc(*loc)).collect::<Result<Vec<_>, _>>()?;
    concentration.values.iter().try_for_each(|one| checked_concentration(*one).map(drop))?;
    let loc = BroadcastParameter { values: &locs, ..loc };
    out.par_chunks_mut(SPAN).enumerate().try_for_each(|(span, out)| {
        let (start, zeros) = (span * SPAN, [T::default(); SPAN]);
        let (mut locs, mut concentrations, mut draws) = (zeros, zeros, zeros);
        loc.fill(start, shape, &mut locs[..out.len()]);
        concentration.fill(start, shape, &mut concentrations[..out.len()]);
        // What is behind the last draw is drawn, too, and left.
        fill_von_mises_each([&locs, &concentrations], (key, start as u64), &mut draws)?;
        out.copy_from_slice(&draws[..out.len()]);
        Ok(())
    })
}

/// Draws `n` unit vectors of the von Mises-Fisher distribution around `direction`, as an array of shape (`n`,
/// dimensions) in C order.
///
/// `direction` may have any length but 0. Draw `i` is row `i`, and depends on the key, on `i` and on the parameters alone.
///
/// ```
/// use octopus_random::{Key, sample_von_mises_fisher};
///
/// let points = sample_von_mises_fisher(Key::new(42), &[0.0f32, 0.0, 1.0], 100.0, 1000)?;
/// assert!(points.chunks(3).all(|point| point[2] > 0.7));
/// # Ok::<(), octopus_random::SampleError>(())
/// ```
///
/// # Errors
/// When there are fewer than 2 dimensions or too many, the direction is not finite or is 0, the concentration is negative
/// or NaN, or memory does not suffice.
pub fn sample_von_mises_fisher<T: FloatingPoint>(
    key: Key,
    direction: &[T],
    concentration: T,
    n: usize,
) -> Result<Vec<T>, SampleError> {
    let distribution = VonMisesFisher::new(direction, concentration)?;
    let mut out = room(&[n, direction.len()])?;
    distribution.par_fill(key, 0, &mut out)?;
    Ok(out)
}

/// Returns memory for an array.
fn room<T: FloatingPoint>(shape: &[usize]) -> Result<Vec<T>, SampleError> {
    let too_large = || SampleError::Memory { shape: text(shape) };
    let count = elements(shape).ok_or_else(too_large)?;
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| too_large())?;
    out.resize(count, T::default());
    Ok(out)
}

fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |all, side| all.checked_mul(*side))
}

/// Returns a shape as NumPy prints it.
fn text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        sides => format!("({})", sides.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_broadcast_as_numpy_does() {
        broadcast_in::<f32>();
        broadcast_in::<f64>();
    }

    /// Shapes of the draws, of loc and of concentration, within a span and over several.
    fn broadcast_in<T: FloatingPoint>() {
        let key = Key::new(3);
        for (shape, of_loc, of_concentration) in [
            (&[4, 2, 3][..], &[2, 1][..], &[1, 3][..]),
            (&[4, 2, 3], &[4, 1, 1], &[]),
            (&[3, 700], &[700], &[3, 1]),
            (&[3, 700], &[1, 1], &[3, 700]),
            (&[1300, 1], &[1300, 1], &[1]),
            (&[2, 1, 5, 103], &[5, 1], &[2, 1, 1, 103]),
            (&[1500], &[], &[1500]),
            (&[700, 2], &[2], &[700, 1]),
            (&[2, 2], &[2, 2], &[1, 2]),
            (&[3, 5], &[], &[1]),
        ] {
            let numbers = |shape: &[usize], number: fn(f64) -> f64| -> Vec<T> {
                (0..elements(shape).unwrap()).map(|i| T::from_f64(number(i as f64))).collect()
            };
            // Beyond the circle, and from 0 to infinity.
            let locs = numbers(of_loc, |i| 0.37 * i - 9.0);
            let concentrations = numbers(of_concentration, |i| 10f64.powf((i * 1.7) % 90.0 - 40.0));
            let loc = BroadcastParameter::new(&locs, of_loc).unwrap();
            let concentration = BroadcastParameter::new(&concentrations, of_concentration).unwrap();
            let angles = sample_von_mises(key, loc, concentration, shape).unwrap();
            for (i, angle) in angles.iter().enumerate() {
                let own = VonMises::new(naive(&loc, i, shape), naive(&concentration, i, shape)).unwrap();
                assert_eq!(own.draw(key, i as u64), Ok(*angle), "{i} of {shape:?}");
            }
        }
    }

    /// The number for the draw at `index`, axis by axis as NumPy's page on broadcasting has it.
    fn naive<T: FloatingPoint>(parameter: &BroadcastParameter<'_, T>, index: usize, shape: &[usize]) -> T {
        let (mut rest, mut own) = (index, parameter.shape.to_vec());
        let mut at = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            (at[axis], rest) = (rest % shape[axis], rest / shape[axis]);
        }
        while own.len() < shape.len() {
            own.insert(0, 1);
        }
        let place = at.iter().zip(&own).fold(0, |place, (at, side)| place * side + if *side == 1 { 0 } else { *at });
        parameter.values[place]
    }

    #[test]
    fn shapes_that_do_not_suit_are_named() {
        let three = [1.0; 3];
        let concentration = BroadcastParameter::new(&three, &[3]).unwrap();
        let error = sample_von_mises(Key::new(1), (&0.0).into(), concentration, &[3, 4]).unwrap_err();
        assert_eq!(error.to_string(), "concentration of shape (3,) cannot be broadcast to draws of shape (3, 4)");
        let error = BroadcastParameter::new(&three, &[2, 2]).unwrap_err();
        assert_eq!(error.to_string(), "an array of shape (2, 2) was given 3 values");
        let error = sample_von_mises(Key::new(1), (&0.0).into(), (&1.0).into(), &[usize::MAX, 3]).unwrap_err();
        assert!(error.to_string().ends_with("are more than memory holds"), "{error}");
        let bad = [1.0, f64::NAN];
        let error = sample_von_mises(Key::new(1), (&0.0).into(), BroadcastParameter::new(&bad, &[2]).unwrap(), &[2])
            .unwrap_err();
        assert_eq!(error.to_string(), "von Mises: concentration is NaN; it must be at least 0");
        let loc = BroadcastParameter::new(&[0.0, f64::INFINITY], &[2]).unwrap();
        let error = sample_von_mises(Key::new(1), loc, (&1.0).into(), &[2]).unwrap_err();
        assert_eq!(error.to_string(), "von Mises: loc is inf; it must be a finite number");
        let error = fill_von_mises(Key::new(1), (&0.0).into(), (&1.0).into(), &[2, 3], &mut [0.0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "an array of shape (2, 3) was given 5 values");
    }

    #[test]
    fn unit_vectors_are_the_draws_of_their_rows() {
        let own = VonMisesFisher::new(&[1.0, 2.0, -2.0], 3.0).unwrap();
        let rows = sample_von_mises_fisher(Key::new(4), &[1.0, 2.0, -2.0], 3.0, 70).unwrap();
        for (i, row) in rows.chunks(3).enumerate() {
            assert_eq!(own.draw(Key::new(4), i as u64).unwrap(), row, "{i}");
        }
    }

    #[test]
    fn no_draws_are_no_error() {
        assert_eq!(sample_von_mises(Key::new(1), (&0.0).into(), (&1.0).into(), &[0, 3]), Ok(Vec::<f64>::new()));
    }
}
