//! Draws of whole numbers from a [`Stream`], with the same bits everywhere: Poisson, binomial, hypergeometric.
//!
//! | Distribution | How it is drawn |
//! |--|--|
//! | Poisson | a product of uniforms below a mean of 10, else PTRS (Hörmann 1993, Insurance: Mathematics and Economics 12) |
//! | binomial | waiting times below a mean of 10 (Devroye 1986, X.4.3), else BTRS (Hörmann 1993, JSCS 46) |
//! | hypergeometric | ball by ball up to 1000 balls, else HRUA (Stadlober 1990, JCAM 31), as in NumPy |
//!
//! The methods of Hörmann and Stadlober propose by a transformed uniform, and refuse by the mass function itself.

use crate::Stream;
use crate::exact::{exp, ln, ln_1p, ln_gamma};

/// From this mean on draws are made by transformed rejection.
const REJECTION_FROM: f64 = 10.0;

/// Up to this number balls are drawn one by one.
const MOST_BALLS: f64 = 1000.0;

/// Largest mean of [`poisson`]: beyond, the mass function loses digits that the test needs.
pub const LARGEST_POISSON_MEAN: f64 = 1_073_741_824.0;

/// Returns a draw of the Poisson distribution; `mean` is from 0 to [`LARGEST_POISSON_MEAN`], else the draw is NaN.
pub fn poisson(random: &mut Stream, mean: f64) -> f64 {
    if !(0.0..=LARGEST_POISSON_MEAN).contains(&mean) {
        return f64::NAN;
    }
    if mean < REJECTION_FROM {
        let (limit, mut product, mut count) = (exp(-mean), random.uniform(), 0.0);
        while product > limit {
            product *= random.uniform();
            count += 1.0;
        }
        return count;
    }
    let (root, log_mean) = (mean.sqrt(), ln(mean));
    let b = 0.931 + 2.53 * root;
    let a = -0.059 + 0.02483 * b;
    let log_inverse_alpha = ln(1.1239 + 1.1328 / (b - 3.4));
    let quick = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (random.uniform() - 0.5, random.uniform());
        let distance = 0.5 - u.abs();
        let count = ((2.0 * a / distance + b) * u + mean + 0.43).floor();
        if distance >= 0.07 && v <= quick {
            return count;
        }
        if count < 0.0 || (distance < 0.013 && v > distance) {
            continue;
        }
        let height = ln(v) + log_inverse_alpha - ln(a / (distance * distance) + b);
        if height <= count * log_mean - mean - ln_gamma(count + 1.0) {
            return count;
        }
    }
}

/// Returns a draw of the binomial distribution of `trials` trials, a whole number, that succeed with `probability`, from 0
/// to 1; else the draw is NaN.
pub fn binomial(random: &mut Stream, trials: f64, probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || !(0.0..=9e15).contains(&trials) {
        return f64::NAN;
    }
    if probability > 0.5 {
        return trials - binomial(random, trials, 1.0 - probability);
    }
    if trials * probability < REJECTION_FROM {
        return by_waiting_times(random, trials, probability);
    }
    let (p, q) = (probability, 1.0 - probability);
    let root = (trials * p * q).sqrt();
    let b = 1.15 + 2.53 * root;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let center = trials * p + 0.5;
    let alpha = (2.83 + 5.1 / b) * root;
    let quick = 0.92 - 4.2 / b;
    let mode = ((trials + 1.0) * p).floor();
    let log_odds = ln(p / q);
    let at_mode = ln_gamma(mode + 1.0) + ln_gamma(trials - mode + 1.0);
    loop {
        let (u, v) = (random.uniform() - 0.5, random.uniform());
        let distance = 0.5 - u.abs();
        let count = ((2.0 * a / distance + b) * u + center).floor();
        if distance >= 0.07 && v <= quick {
            return count;
        }
        if count < 0.0 || count > trials {
            continue;
        }
        let height = ln(v * alpha / (a / (distance * distance) + b));
        let mass = at_mode - ln_gamma(count + 1.0) - ln_gamma(trials - count + 1.0) + (count - mode) * log_odds;
        if height <= mass {
            return count;
        }
    }
}

/// The trials until the next success are geometric: as many successes as have room.
fn by_waiting_times(random: &mut Stream, trials: f64, probability: f64) -> f64 {
    let log_failure = ln_1p(-probability);
    if log_failure == 0.0 {
        return 0.0;
    }
    let (mut used, mut count) = (0.0, 0.0);
    loop {
        used += (ln(random.uniform()) / log_failure).floor() + 1.0;
        if used > trials {
            return count;
        }
        count += 1.0;
    }
}

/// Returns how many of `drawn` balls are white, taken out of `white` and `black` ones; NaN where there are fewer balls.
pub fn hypergeometric(random: &mut Stream, drawn: u32, white: u32, black: u32) -> f64 {
    let all = f64::from(white) + f64::from(black);
    let drawn = f64::from(drawn);
    if drawn > all {
        return f64::NAN;
    }
    // The balls that are left are a draw, too.
    let is_rest = drawn > 0.5 * all;
    let (mut white_left, mut left) = (f64::from(white), all);
    let mut count = 0.0;
    let mut taken = if is_rest { all - drawn } else { drawn };
    if taken > MOST_BALLS {
        let count = by_ratio_of_uniforms(random, taken, white_left, f64::from(black));
        return if is_rest { f64::from(white) - count } else { count };
    }
    while taken > 0.0 {
        if random.uniform() * left < white_left {
            white_left -= 1.0;
            count += 1.0;
        }
        left -= 1.0;
        taken -= 1.0;
    }
    if is_rest { f64::from(white) - count } else { count }
}

/// White balls among `drawn` ones, which are at most half of all.
fn by_ratio_of_uniforms(random: &mut Stream, drawn: f64, white: f64, black: f64) -> f64 {
    // Stadlober's constants: 2 sqrt(2 / e), and 3 - 2 sqrt(3 / e).
    const SLOPE: f64 = 1.715_527_769_921_413_5;
    const WIDTH: f64 = 0.898_916_162_058_898_8;
    let all = white + black;
    // The colour of which there are fewer balls is counted.
    let (few, many) = (white.min(black), white.max(black));
    let (p, q) = (few / all, many / all);
    let center = drawn * p + 0.5;
    let deviation = ((all - drawn) * drawn * p * q / (all - 1.0) + 0.5).sqrt();
    let width = SLOPE * deviation + WIDTH;
    let end = (drawn.min(few) + 1.0).min((center + 16.0 * deviation).floor());
    let log_inverse_mass = |count: f64| {
        let rest = [count, few - count, drawn - count, many - drawn + count];
        rest.into_iter().fold(0.0, |sum, balls| sum + ln_gamma(balls + 1.0))
    };
    let at_mode = log_inverse_mass(((drawn + 1.0) * (few + 1.0) / (all + 2.0)).floor());
    loop {
        let (u, v) = (random.uniform(), random.uniform());
        let place = center + width * (v - 0.5) / u;
        if !(place >= 0.0 && place < end) {
            continue;
        }
        let count = place.floor();
        let height = at_mode - log_inverse_mass(count);
        let is_refused_at_once = u * (u - height) >= 1.0;
        if u * (4.0 - u) - 3.0 <= height || (!is_refused_at_once && 2.0 * ln(u) <= height) {
            return if white > black { drawn - count } else { count };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    #[test]
    fn what_is_certain_needs_no_luck() {
        let mut random = Stream::new(1, 0, 0, Purpose::User);
        assert_eq!(poisson(&mut random, 0.0), 0.0);
        assert_eq!(binomial(&mut random, 7.0, 0.0), 0.0);
        assert_eq!(binomial(&mut random, 7.0, 1.0), 7.0);
        assert_eq!(binomial(&mut random, 0.0, 0.3), 0.0);
        assert_eq!(hypergeometric(&mut random, 5, 5, 0), 5.0);
        assert_eq!(hypergeometric(&mut random, 9, 3, 6), 3.0);
        for bad in [
            poisson(&mut random, -1.0),
            poisson(&mut random, f64::NAN),
            binomial(&mut random, 3.0, 1.5),
            binomial(&mut random, -1.0, 0.5),
            hypergeometric(&mut random, 3, 1, 1),
        ] {
            assert!(bad.is_nan());
        }
    }

    /// Mean and variance on both sides of the change of methods, and far out: 5 standard errors of 100,000 draws.
    #[test]
    fn moments_are_the_distributions() {
        const DRAWS: usize = 100_000;
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let all: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
            let mean = all.iter().sum::<f64>() / DRAWS as f64;
            (mean, all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (DRAWS - 1) as f64)
        };
        let check = |(mean, variance): (f64, f64), expected: (f64, f64), fourth: f64, what: &str| {
            let n = DRAWS as f64;
            assert!((mean - expected.0).abs() < 5.0 * (expected.1 / n).sqrt(), "{what}: mean {mean}");
            let error = ((fourth - expected.1 * expected.1) / n).sqrt();
            assert!((variance - expected.1).abs() < 5.0 * error, "{what}: variance {variance}");
        };
        let mut random = Stream::new(3, 0, 0, Purpose::User);
        for mean in [0.2, 3.0, 9.9, 10.0, 25.0, 1e4, 1e9] {
            let found = moments(&mut || poisson(&mut random, mean));
            check(found, (mean, mean), mean + 3.0 * mean * mean, &format!("Poisson {mean}"));
        }
        for (n, p) in [(5.0, 0.3), (100.0, 0.05), (40.0, 0.25), (1000.0, 0.9), (1e6, 0.4), (1e9, 1e-8)] {
            let found = moments(&mut || binomial(&mut random, n, p));
            let variance = n * p * (1.0 - p);
            let fourth = variance * (1.0 + 3.0 * (n - 2.0) * p * (1.0 - p));
            check(found, (n * p, variance), fourth, &format!("binomial {n} {p}"));
        }
        // Both methods, both colours, and more balls than are left.
        for (drawn, white, black) in [
            (900, 3000, 5000),
            (1500, 3000, 5000),
            (1500, 5000, 3000),
            (6000, 3000, 5000),
            (1_000_000_000, 1_000_000_000, 1_000_000_000),
            (2_000_000_000, 1_000_000_000, 2_147_483_647),
            (2_000_000, 4, 2_147_483_647),
        ] {
            let found = moments(&mut || hypergeometric(&mut random, drawn, white, black));
            let (n, all, p) = (f64::from(drawn), f64::from(white) + f64::from(black), f64::from(white));
            let p = p / all;
            let variance = n * p * (1.0 - p) * (all - n) / (all - 1.0);
            // At most a binomial distribution's.
            let fourth = variance * (1.0 + 3.0 * variance);
            check(found, (n * p, variance), fourth, &format!("hypergeometric {drawn} {white} {black}"));
        }
    }
}
