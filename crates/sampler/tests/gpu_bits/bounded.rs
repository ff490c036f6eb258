//! Numbers with a bound of the error that rounding has made: running error analysis (Higham, Accuracy and Stability of
//! Numerical Algorithms, section 3.3). What a chain of operations in any precision may be off by is computed along with
//! its exact value.

/// An exact value, computed in f64, and how far from it the same operations in another precision can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// A number that both have.
pub(crate) fn exact(value: f64) -> Bounded {
    Bounded { value, error: 0.0 }
}

/// A precision whose results are off by `unit` of themselves at most, and by `smallest` where they underflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arithmetic {
    unit: f64,
    smallest: f64,
}

impl Arithmetic {
    pub(crate) const F32: Self = Self { unit: f32::EPSILON as f64 / 2.0, smallest: f32::MIN_POSITIVE as f64 };
    pub(crate) const F64: Self = Self { unit: f64::EPSILON / 2.0, smallest: f64::MIN_POSITIVE };

    /// A result whose operands make it off by `error` already, rounded `times` times.
    fn result(&self, value: f64, error: f64, times: f64) -> Bounded {
        Bounded { value, error: error + times * self.unit * (value.abs() + error) + self.smallest }
    }

    /// The same number in this precision.
    pub(crate) fn round(&self, a: Bounded) -> Bounded {
        self.result(a.value, a.error, 1.0)
    }

    pub(crate) fn add(&self, a: Bounded, b: Bounded) -> Bounded {
        self.result(a.value + b.value, a.error + b.error, 1.0)
    }

    pub(crate) fn sub(&self, a: Bounded, b: Bounded) -> Bounded {
        self.result(a.value - b.value, a.error + b.error, 1.0)
    }

    pub(crate) fn mul(&self, a: Bounded, b: Bounded) -> Bounded {
        let error = a.value.abs() * b.error + b.value.abs() * a.error + a.error * b.error;
        self.result(a.value * b.value, error, 1.0)
    }

    pub(crate) fn div(&self, a: Bounded, b: Bounded) -> Bounded {
        let least = b.value.abs() - b.error;
        let error = (a.value.abs() * b.error + b.value.abs() * a.error) / (b.value.abs() * least);
        self.result(a.value / b.value, if least > 0.0 { error } else { f64::INFINITY }, 1.0)
    }

    /// The kernels' exp is right to one unit in the last place, two units of rounding (`crates/random`).
    pub(crate) fn exp(&self, a: Bounded) -> Bounded {
        let value = a.value.exp();
        self.result(value, value * a.error.exp_m1(), 2.0)
    }

    /// The kernels' ln is right to two units in the last place.
    pub(crate) fn ln(&self, a: Bounded) -> Bounded {
        self.result(a.value.ln(), -(-a.error / a.value).ln_1p(), 4.0)
    }

    pub(crate) fn sqrt(&self, a: Bounded) -> Bounded {
        let value = a.value.sqrt();
        self.result(value, value - (a.value - a.error).max(0.0).sqrt(), 1.0)
    }

    /// A sum in whatever order, each summand meeting `additions` at most.
    pub(crate) fn sum(&self, parts: &[Bounded], additions: usize) -> Bounded {
        let value = parts.iter().map(|part| part.value).sum();
        let error: f64 = parts.iter().map(|part| part.error).sum();
        let size: f64 = parts.iter().map(|part| part.value.abs() + part.error).sum();
        // (1 + u)^n - 1 is below 1.01 n u for all n here.
        Bounded { value, error: error + 1.01 * additions as f64 * self.unit * size + self.smallest }
    }
}

#[test]
fn bounds_hold_for_single_precision_and_are_no_wider_than_a_few_roundings() {
    let mut random = crate::models::random(8);
    let r = Arithmetic::F32;
    for _ in 0..10_000 {
        let (a, b) = (random.normal() as f32, random.normal() as f32);
        let (x, y) = (exact(a.into()), exact(b.into()));
        let more = r.add(r.mul(y, y), exact(2.0));
        let ours = r.mul(r.exp(r.sub(x, y)), r.div(r.mul(x, r.ln(more)), r.sqrt(more)));
        let theirs = (a - b).exp() * (a * (b * b + 2.0).ln() / (b * b + 2.0).sqrt());
        let off = (f64::from(theirs) - ours.value).abs();
        assert!(off <= ours.error, "{ours:?} and {theirs:e}");
        assert!(ours.error <= 30.0 * r.unit * ours.value.abs() * (1.0 + (x.value - y.value).abs()) + 1e-30, "{ours:?}");
    }
}
