//! A figure that is known from a lower to an upper bound.

use serde::Serialize;
use std::ops::Mul;

/// Both bounds belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// One end of every assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Low,
    High,
}

impl Range {
    /// A figure that is known.
    pub(super) const fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// One end.
    pub(super) fn at(self, bound: Bound) -> f64 {
        match bound {
            Bound::Low => self.low,
            Bound::High => self.high,
        }
    }

    /// From the smaller to the larger end, as text with `digits` digits behind the point.
    pub(super) fn text(self, digits: usize) -> String {
        let (low, high) = (self.low.min(self.high), self.low.max(self.high));
        let [low, high] = [low, high].map(|end| format!("{end:.digits$}"));
        if low == high { low } else { format!("{low}..{high}") }
    }
}

impl Mul<f64> for Range {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_told_from_its_smaller_to_its_larger_end() {
        assert_eq!(Range { low: 3.0, high: 1.25 }.text(1), "1.2..3.0");
        assert_eq!(Range { low: 1.01, high: 1.04 }.text(1), "1.0");
        assert_eq!((Range { low: 1.0, high: 2.0 } * 3.0).at(Bound::High), 6.0);
    }
}
