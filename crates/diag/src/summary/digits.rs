//! The digits of a number that are written: as many as its uncertainty leaves, in one notation for a column.

/// From this size on, or with more decimals than this, plain digits are too long to be read.
const MOST_DIGITS: f64 = 1e10;
const MOST_DECIMALS: i32 = 8;

/// A least number of decimals that asks for none: it is below the place of any digit.
const ANY_PLACE: i32 = -400;

/// The digits of a double: more say nothing.
const DIGITS_OF_A_DOUBLE: i32 = 17;

/// A number of a table, with what decides its digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UncertainNumber {
    /// The number.
    pub value: f64,
    /// Its uncertainty, e.g. the standard deviation of what `value` is the mean of, in the same unit.
    pub scale: f64,
    /// The number of significant digits of `scale` that a table shows; it shows `value` down to the same place.
    pub digits: i32,
}

impl UncertainNumber {
    /// Returns the decimals down to which the number is written. Of a number without an uncertainty one significant digit
    /// more is written than of an uncertainty, 4 for 3.
    fn decimals(self, least: i32) -> i32 {
        let known = |scale: f64| scale.is_finite() && scale > 0.0;
        let place = if known(self.scale) {
            self.digits - 1 - exponent(self.scale)
        } else if known(self.value.abs()) {
            self.digits - exponent(self.value)
        } else {
            least
        };
        place.max(least)
    }

    /// Returns whether plain digits would be too long.
    fn is_long(self, least: i32) -> bool {
        self.value.is_finite() && (self.value.abs() >= MOST_DIGITS || self.decimals(least) > MOST_DECIMALS)
    }
}

/// Writes the numbers of one column, with at least `least` decimals: all in plain digits, or all with an exponent.
///
/// ```
/// use octopus_diag::{UncertainNumber, number_column};
///
/// let mean = |value, sd| UncertainNumber { value, scale: sd, digits: 3 };
/// assert_eq!(number_column(&[mean(49.123, 1.9), mean(1e9, 1e-3)], 0), ["49.12", "1000000000.00000"]);
/// assert_eq!(number_column(&[mean(49.123, 1.9), mean(3e-12, 1e-12)], 0), ["4.912e1", "3.00e-12"]);
/// ```
pub fn number_column(numbers: &[UncertainNumber], least: usize) -> Vec<String> {
    let least = i32::try_from(least).unwrap_or(i32::MAX);
    let long = numbers.iter().any(|number| number.is_long(least));
    let text = |number: &UncertainNumber| match (number.value, number.decimals(if long { ANY_PLACE } else { least })) {
        (value, decimals) if long => {
            let digits = decimals.saturating_add(exponent(value)).clamp(number.digits - 1, DIGITS_OF_A_DOUBLE - 1);
            format!("{value:.*e}", usize::try_from(digits).unwrap_or(0))
        }
        (value, decimals) => format!("{value:.*}", usize::try_from(decimals).unwrap_or(0)),
    };
    numbers.iter().map(text).collect()
}

/// Writes pairs of means and pairs of standard deviations, as tables that compare two posteriors have them: down to the
/// fourth significant digit of a pair's smaller standard deviation, means and standard deviations in one notation each.
///
/// ```
/// use octopus_diag::moments_as_text;
///
/// let texts = moments_as_text(&[([50.0, 50.1], [1.9, 2.0])]);
/// assert_eq!(texts, [[["50.000", "50.100"], ["1.900", "2.000"]]]);
/// ```
pub fn moments_as_text(pairs: &[([f64; 2], [f64; 2])]) -> Vec<[[String; 2]; 2]> {
    let column = |of_sds: bool| {
        let measured = |&(means, sds): &([f64; 2], [f64; 2])| {
            let (values, scale) = (if of_sds { sds } else { means }, sds[0].min(sds[1]));
            values.map(|value| UncertainNumber { value, scale, digits: 4 })
        };
        number_column(&pairs.iter().flat_map(measured).collect::<Vec<_>>(), 0).into_iter()
    };
    let (mut means, mut sds) = (column(false), column(true));
    let mut next = |_| [&mut means, &mut sds].map(|texts| [(); 2].map(|()| texts.next().unwrap_or_default()));
    pairs.iter().map(&mut next).collect()
}

/// Adds spaces behind the texts of a column that stand at its right side, so that their points are below each other.
pub(crate) fn align_points(texts: &mut [String]) {
    let behind = |text: &str| text.find('.').map_or(0, |point| text.len() - point);
    let most = texts.iter().map(|text| behind(text)).max().unwrap_or(0);
    for text in texts {
        // What is not finite has no point, and stands at the right side.
        let spaces = if text.contains('.') { most - behind(text) } else { 0 };
        text.push_str(&" ".repeat(spaces));
    }
}

/// Returns the decimal exponent: 2 of 123.4, -1 of 0.5, and 0 of 0.
fn exponent(value: f64) -> i32 {
    if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(numbers: &[(f64, f64)], least: usize) -> Vec<String> {
        let numbers: Vec<UncertainNumber> =
            numbers.iter().map(|&(value, scale)| UncertainNumber { value, scale, digits: 3 }).collect();
        number_column(&numbers, least)
    }

    #[test]
    fn digits_follow_the_uncertainty() {
        for (value, scale, text) in [
            (50.123_456, 1.9, "50.12"),
            (50.123_456, 0.019, "50.1235"),
            (20_000.4, 5000.0, "20000"),
            (-0.004, 2.0, "-0.00"),
            (1e9 + 0.125, 1e-3, "1000000000.12500"),
            (0.001_234_5, 0.001_234_5, "0.00123"),
            (1.234_567e-6, 1e-6, "0.00000123"),
            // Without an uncertainty there are four digits.
            (0.001_234_56, 0.0, "0.001235"),
            (123.456, f64::NAN, "123.5"),
            (0.0, 0.0, "0"),
            (f64::INFINITY, 1.0, "inf"),
            (f64::NAN, 1.0, "NaN"),
        ] {
            assert_eq!(texts(&[(value, scale)], 0), [text], "{value} +- {scale}");
        }
        assert_eq!(texts(&[(20_000.4, 5000.0), (0.02, 0.02)], 3), ["20000.400", "0.0200"]);
    }

    #[test]
    fn a_column_has_one_notation() {
        // The last that are written in plain digits, and the first that are not.
        assert_eq!(texts(&[(9_999_999_999.0, 100.0)], 0), ["9999999999"]);
        assert_eq!(texts(&[(1e10, 1e8)], 0), ["1.0000e10"]);
        assert_eq!(texts(&[(1e-6, 1e-6), (0.0, 1e-6)], 3), ["0.00000100", "0.00000000"]);
        assert_eq!(texts(&[(9e-7, 9e-7), (0.0, 1.0)], 3), ["9.00e-7", "0.00e0"]);
        assert_eq!(texts(&[(-50.123, 2.0), (1e12 + 0.125, 1e-3)], 3), ["-5.012e1", "1.0000000000001250e12"]);
        assert_eq!(texts(&[(1e300, 1e-300), (f64::NAN, 1.0)], 3), ["1.0000000000000001e300", "NaN"]);
        assert_eq!(texts(&[(1e300, 1e-300), (-f64::INFINITY, 1.0)], 3), ["1.0000000000000001e300", "-inf"]);
    }

    #[test]
    fn points_are_below_each_other() {
        let mut texts = ["1.5", "22.125", "NaN", "7"].map(str::to_owned);
        align_points(&mut texts);
        assert_eq!(texts, ["1.5  ", "22.125", "NaN", "7"]);
    }

    /// As many digits as asked for, of numbers far below their uncertainty and of the largest.
    #[test]
    fn exponents_leave_the_digits_that_were_asked_for() {
        assert_eq!(texts(&[(9e-7, 9e-7), (1e-3, 1.0)], 3), ["9.00e-7", "1.00e-3"]);
        assert_eq!(texts(&[(1e300, 1e300), (1.0, 1e307)], 3), ["1.00e300", "1.00e0"]);
        assert_eq!(texts(&[(1.5e308, 0.0)], 3), ["1.500e308"]);
        assert_eq!(texts(&[(9e-7, 9e-7), (0.0, 1e-3)], 3), ["9.00e-7", "0.00000e0"]);
        let mut none: [String; 0] = [];
        align_points(&mut none);
    }

    #[test]
    fn pairs_are_written_down_to_the_smaller_deviation() {
        let found = moments_as_text(&[([50.0, 50.125], [1.9, 0.25]), ([-0.5, 7.0], [12.0, 11.0])]);
        assert_eq!(found[0], [["50.0000", "50.1250"], ["1.9000", "0.2500"]]);
        assert_eq!(found[1], [["-0.50", "7.00"], ["12.00", "11.00"]]);
        let found = moments_as_text(&[([20_000.0, 30_000.0], [5000.0, 6000.0])]);
        assert_eq!(found, [[["20000", "30000"], ["5000", "6000"]]]);
    }
}
