//! The inputs of kernels when they are tried: numbers that are the same on every machine, made by Philox.
//!
//! Special values (zeros, infinities, subnormal numbers) stand here.

use octopus_array::ArrayElement;
use octopus_random::exact::normal_quantile;
use octopus_random::{Purpose, Stream};

/// The seed of the inputs, and of the recorded results: another seed makes other hashes.
pub(crate) const SEED: u64 = 0x0c70_9005;

/// The first numbers of longer inputs: corner cases of rounding, overflow and comparison.
const CORNERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    1.175_494_350_822_287_5e-38,
    1e-45,
    3.402_823_466_385_288_6e38,
    88.0,
    -87.0,
    709.0,
];

/// `n` numbers of both signs, spread over twenty powers of two. `which` tells apart the inputs of one kernel.
pub(crate) fn numbers<T: ArrayElement>(n: usize, which: u32) -> Vec<T> {
    let stream = Stream::new(SEED, which, 0, Purpose::User);
    let number = |i: usize| {
        let normal = normal_quantile(stream.uniform_at(i as u64));
        T::nearest(normal * 2_f64.powi((8 * i % 21) as i32 - 12))
    };
    (0..n).map(number).collect()
}

/// Makes numbers as [`numbers`] does, with the corner cases in front, where there is room for them.
pub(crate) fn numbers_with_corners<T: ArrayElement>(n: usize, which: u32) -> Vec<T> {
    let mut numbers = numbers(n, which);
    if n >= 2 * CORNERS.len() {
        for (number, corner) in numbers.iter_mut().zip(CORNERS) {
            *number = T::nearest(corner);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_same_numbers_every_time_and_differ_by_their_place() {
        let x: Vec<f64> = numbers(1000, 0);
        assert_eq!(x, numbers::<f64>(1000, 0));
        assert_ne!(x, numbers::<f64>(1000, 1));
        assert!(x.iter().all(|x| x.is_finite()) && x.iter().any(|x| *x < 0.0));
        let largest = x.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!((100.0..3000.0).contains(&largest), "{largest}");
    }

    #[test]
    fn every_power_of_two_comes_about_equally_often() {
        let x: Vec<f64> = numbers(21_000, 0);
        // The exponent of a normal number of the bulk is about its power's.
        let small = x.iter().filter(|x| x.abs() < 2_f64.powi(-10)).count();
        let large = x.iter().filter(|x| x.abs() > 64.0).count();
        assert!((1000..6000).contains(&small) && (1000..6000).contains(&large), "{small} {large}");
    }

    #[test]
    fn powers_of_two_are_taken_eight_at_a_time_around_21() {
        let stream = Stream::new(SEED, 2, 0, Purpose::User);
        let x: Vec<f64> = numbers(21, 2);
        // 8 i modulo 21 comes upon each of 0 to 20 once.
        let powers = [0, 8, 16, 3, 11, 19, 6, 14, 1, 9, 17, 4, 12, 20, 7, 15, 2, 10, 18, 5, 13];
        for (i, power) in powers.into_iter().enumerate() {
            assert_eq!(x[i], normal_quantile(stream.uniform_at(i as u64)) * 2_f64.powi(power - 12), "{i}");
        }
    }

    #[test]
    fn corners_have_both_signs() {
        let corners = CORNERS.map(f64::to_bits);
        let has = |x: f64| corners.contains(&x.to_bits());
        assert!([0.0, 1.0, f64::INFINITY].into_iter().all(|x| has(x) && has(-x)) && has(-87.0));
    }

    #[test]
    fn corners_come_only_where_there_is_room() {
        assert!(numbers_with_corners::<f32>(100, 0)[6].is_nan());
        assert_eq!(numbers_with_corners::<f32>(5, 0), numbers::<f32>(5, 0));
        assert_eq!(numbers_with_corners::<f64>(31, 0), numbers::<f64>(31, 0));
        let (with, without) = (numbers_with_corners::<f64>(32, 0), numbers::<f64>(32, 0));
        assert_eq!((with[15], &with[16..]), (709.0, &without[16..]));
    }
}
