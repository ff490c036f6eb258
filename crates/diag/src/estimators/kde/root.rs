//! Brent's root finder as SciPy has it (`scipy/optimize/Zeros/brentq.c`): the bandwidth of a density is only as exact as its
//! tolerance, so that the same steps must be taken to come to the same number.

/// Tolerances of `scipy.optimize.brentq`: absolute, and relative.
const TOLERANCE: (f64, f64) = (2e-12, 4.0 * f64::EPSILON);

/// Steps before it gives up.
const STEPS: usize = 100;

/// Returns the root of `f` between `low` and `high`; `None` when the signs there are equal, a value is NaN, or it is
/// not found in 100 steps.
pub(super) fn brentq(f: impl Fn(f64) -> f64, low: f64, high: f64) -> Option<f64> {
    let (mut x_before, mut x) = (low, high);
    let (mut f_before, mut f_x) = (f(x_before), f(x));
    if f_before == 0.0 {
        return Some(x_before);
    }
    if f_x == 0.0 {
        return Some(x);
    }
    if f_before.is_nan() || f_x.is_nan() || f_before.is_sign_negative() == f_x.is_sign_negative() {
        return None;
    }
    let (mut x_other, mut f_other) = (0.0, 0.0);
    let (mut step_before, mut step) = (0.0f64, 0.0f64);
    for _ in 0..STEPS {
        if f_before.is_sign_negative() != f_x.is_sign_negative() {
            (x_other, f_other) = (x_before, f_before);
            step = x - x_before;
            step_before = step;
        }
        if f_other.abs() < f_x.abs() {
            (x_before, x, x_other) = (x, x_other, x);
            (f_before, f_x, f_other) = (f_x, f_other, f_x);
        }
        let delta = (TOLERANCE.0 + TOLERANCE.1 * x.abs()) / 2.0;
        let bisection = (x_other - x) / 2.0;
        if f_x == 0.0 || bisection.abs() < delta {
            return Some(x);
        }
        let mut next = None;
        if step_before.abs() > delta && f_x.abs() < f_before.abs() {
            let attempt = if x_before == x_other {
                -f_x * (x - x_before) / (f_x - f_before)
            } else {
                let before = (f_before - f_x) / (x_before - x);
                let other = (f_other - f_x) / (x_other - x);
                -f_x * (f_other * other - f_before * before) / (other * before * (f_other - f_before))
            };
            let limit = step_before.abs().min(3.0 * bisection.abs() - delta);
            next = Some(attempt).filter(|attempt| 2.0 * attempt.abs() < limit);
        }
        (step_before, step) = next.map_or((bisection, bisection), |attempt| (step, attempt));
        (x_before, f_before) = (x, f_x);
        x += if step.abs() > delta { step } else { delta.copysign(bisection) };
        f_x = f(x);
        if f_x.is_nan() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots() {
        let root = brentq(|x| x * x - 2.0, 0.0, 2.0).unwrap();
        assert!((root - 2f64.sqrt()).abs() < 2e-12);
        let root = brentq(|x| x.cos() - x, 0.0, 1.0).unwrap();
        assert!((root - 0.739_085_133_215_160_6).abs() < 2e-12);
        assert_eq!(brentq(|x| x, 0.0, 1.0), Some(0.0));
        assert_eq!(brentq(|x| x + 1.0, 0.0, 1.0), None);
        assert_eq!(brentq(|_| f64::NAN, 0.0, 1.0), None);
        assert_eq!(brentq(|x| if x == 0.0 { f64::NAN } else { -1.0 }, 0.0, 1.0), None);
    }

    /// Kind of function, its two parameters, the bracket, the bits of the root, and how often `f` was called.
    type Row = (String, f64, f64, f64, f64, Option<u64>, u32);

    /// `tests/brentq/expected.py`: the same steps to the same bits, and to no root where SciPy finds none.
    #[test]
    fn steps_are_those_of_scipy() {
        let rows: Vec<Row> = serde_json::from_str(include_str!("../../../tests/brentq/expected.json")).unwrap();
        assert!(rows.len() > 200);
        for (kind, a, b, low, high, root, calls) in rows {
            let called = std::cell::Cell::new(0);
            let f = |x: f64| {
                called.set(called.get() + 1);
                match &*kind {
                    "cubic" => x * x * x - a * x - b,
                    "rational" => (x - a) / (1.0 + (x - a) * (x - a)) - b,
                    "flat" => (x - a) * (x - a) * (x - a) * (x - a) * (x - a) + b * (x - a),
                    "step" => {
                        if x < a {
                            -b
                        } else {
                            1.0
                        }
                    }
                    "kink" => {
                        if x < a {
                            (x - a) * b
                        } else {
                            x - a
                        }
                    }
                    "square" => a * x * x - b,
                    other => panic!("{other}"),
                }
            };
            let found = brentq(f, low, high).map(f64::to_bits);
            assert_eq!((found, called.get()), (root, calls), "{kind} {a} {b} {low} {high}");
        }
    }
}
