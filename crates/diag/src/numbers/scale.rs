//! Units in which squares and fourth powers of values are neither too large nor too small for their type.

use crate::numbers::order::range;

/// Values of these sizes keep their unit: sums of fourth powers are finite, and squares are not 0.
const PLAIN: std::ops::RangeInclusive<f64> = 1e-150..=1e75;

/// Returns a power of two by which values are to be multiplied before they are squared; 1 for values of usual sizes, and
/// where one is not finite. The multiplication rounds nothing.
pub(crate) fn unit(values: &[f64]) -> f64 {
    let (min, max) = range(values);
    let size = min.abs().max(max.abs());
    if !size.is_finite() || size == 0.0 || PLAIN.contains(&size) {
        return 1.0;
    }
    2f64.powi((-size.log2().floor() as i32).clamp(-1000, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_values_keep_their_unit() {
        for values in [[0.0, 0.0], [1.0, -3.0], [1e75, 0.0], [1e-150, 0.0], [f64::INFINITY, 1.0]] {
            assert_eq!(unit(&values), 1.0, "{values:?}");
        }
    }

    #[test]
    fn others_are_brought_near_1_without_rounding() {
        for size in [1e76, 1e200, -1.7e308, 1e-151, 1e-300, 1e-310, 5e-324] {
            let unit = unit(&[size, 0.25 * size]);
            let scaled = size * unit;
            // At the ends of the range the unit is as far from 1 as it can be.
            assert!((0.5..2.0).contains(&scaled.abs()) || !(1e-300..1e300).contains(&size.abs()), "{size}: {scaled}");
            assert!((1e-30..1e30).contains(&scaled.abs()) && scaled / unit == size, "{size}: {scaled}");
        }
    }
}
