//! The quantile of the standard normal distribution, and its table over ranks.
//!
//! Wichura, M. J. (1988). Algorithm AS 241: The percentage points of the normal distribution.
//! Applied Statistics 37(3), 477-484; routine PPND16, relative accuracy about 1e-16.
//!
//! `octopus_random::exact` has the algorithm too, for draws: this crate knows no crate that draws, and neither's bits may
//! change. There the sums have the order of the kernels, the logarithm is its own, and one coefficient has other digits.

/// Coefficients of one branch: numerator and denominator, from the constant term up.
type Ratio = ([f64; 8], [f64; 8]);

/// |p - 1/2| <= 0.425.
const CENTER: Ratio = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

/// exp(-25) <= tail probability < 0.075.
const MIDDLE: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

/// Tail probability below exp(-25).
const TAIL: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

fn ratio((numerator, denominator): &Ratio, x: f64) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, &c| sum * x + c);
    horner(numerator) / horner(denominator)
}

/// Returns the `p` quantile of N(0, 1): infinite at 0 and 1, NaN outside [0, 1].
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTER, 0.180_625 - q * q);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // NaN for p outside [0, 1], through the logarithm.
    let r = (-tail.ln()).sqrt();
    let z = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&TAIL, r - 5.0) };
    if q < 0.0 { -z } else { z }
}

/// Normal scores of the ranks 1..=n: `z(r) = Phi^-1((r - 3/8) / (n + 1/4))` (Blom 1958).
#[derive(Clone, Debug)]
pub(crate) struct NormalScores {
    scores: Vec<f64>,
}

impl NormalScores {
    /// The scores of `n` values.
    pub(crate) fn new(n: usize) -> Self {
        Self { scores: (1..=n).map(|rank| score(rank as f64, n)).collect() }
    }

    /// Returns the number of values ranked.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Returns the score shared by the tied values at sorted places `first..end`: that of their average rank.
    pub(crate) fn tied(&self, first: usize, end: usize) -> f64 {
        let twice = first + 1 + end;
        if twice.is_multiple_of(2) { self.scores[twice / 2 - 1] } else { score(twice as f64 / 2.0, self.len()) }
    }

    /// Returns the scores of values of which none are tied, by sorted place.
    pub(crate) fn all(&self) -> &[f64] {
        &self.scores
    }
}

fn score(rank: f64, n: usize) -> f64 {
    normal_quantile((rank - 0.375) / (n as f64 - 0.75 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_quantiles() {
        // mpmath, 40 digits: sqrt(2) erfinv(2p - 1).
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054_2),
            (0.05, -1.644_853_626_951_472_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-10, -6.361_340_902_404_056),
            (1e-12, -7.034_483_825_301_132),
            (1e-100, -21.273_453_560_965_324),
            (1e-300, -37.047_096_299_361_2),
        ] {
            let found = normal_quantile(p);
            assert!((found - z).abs() <= 4e-16 * z.abs(), "{p}: {found} {z}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(1.1).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn scores_are_antisymmetric_and_ties_average_ranks() {
        let scores = NormalScores::new(7);
        assert_eq!(scores.len(), 7);
        for place in 0..7 {
            assert!((scores.all()[place] + scores.all()[6 - place]).abs() < 1e-15);
        }
        assert_eq!(scores.tied(0, 3), scores.all()[1]);
        assert_eq!(scores.tied(0, 2), score(1.5, 7));
    }
}
