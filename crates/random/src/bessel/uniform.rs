//! I_nu(x) for orders from [`LEAST_ORDER`] and every x: the uniform expansions of DLMF 10.41.

use super::LN_TAU;

/// From this order the first [`TERMS`] terms have 17 digits at every argument.
pub(super) const LEAST_ORDER: f64 = 32.0;

/// Terms after the first.
const TERMS: usize = 14;

/// Row k has the coefficients of p^k, p^(k+2), ... p^(3k) in a polynomial of DLMF 10.41(ii).
type CoefficientTable = [[f64; TERMS + 1]; TERMS + 1];

/// The polynomials U_k of I and V_k of its derivative.
const POLYNOMIALS: (CoefficientTable, CoefficientTable) = polynomials();

/// The recurrences of DLMF 10.41(ii), power by power.
const fn polynomials() -> (CoefficientTable, CoefficientTable) {
    let mut u = [[0.0; TERMS + 1]; TERMS + 1];
    let mut v = [[0.0; TERMS + 1]; TERMS + 1];
    u[0][0] = 1.0;
    v[0][0] = 1.0;
    let mut k = 0;
    while k < TERMS {
        let mut j = 0;
        while j <= k {
            let power = (k + 2 * j) as f64;
            let coefficient = u[k][j];
            u[k + 1][j] += coefficient * (0.5 * power + 0.125 / (power + 1.0));
            u[k + 1][j + 1] -= coefficient * (0.5 * power + 0.625 / (power + 3.0));
            v[k + 1][j] -= coefficient * (power + 0.5);
            v[k + 1][j + 1] += coefficient * (power + 0.5);
            j += 1;
        }
        let mut j = 0;
        while j <= k + 1 {
            v[k + 1][j] += u[k + 1][j];
            j += 1;
        }
        k += 1;
    }
    (u, v)
}

/// I_order(x) in the terms of DLMF 10.41.3, with z = x/order.
pub(super) struct Expansion {
    order: f64,
    x: f64,
    z: f64,
    /// sqrt(1 + z^2)
    root: f64,
    /// The sum of U_k(1/root) / order^k.
    value: f64,
    /// The sum of V_k(1/root) / order^k.
    derivative: f64,
}

impl Expansion {
    /// Expands I_order(x), for orders from [`LEAST_ORDER`] and x that is no less than 0.
    pub(super) fn new(order: f64, x: f64) -> Self {
        let z = x / order;
        // Above 1e8 the 1 is lost in rounding, and far above it the square overflows.
        let root = if z > 1e8 { z } else { (1.0 + z * z).sqrt() };
        let (u, v) = &POLYNOMIALS;
        Self { order, x, z, root, value: sum(u, root, order), derivative: sum(v, root, order) }
    }

    /// ln(e^-x I_order(x))
    pub(super) fn log_scaled(&self) -> f64 {
        self.log_smooth() - self.order * libm::log((1.0 + self.root) / self.z)
    }

    /// ln(e^-x I_order(x) / x^order)
    pub(super) fn log_without_power(&self) -> f64 {
        self.log_smooth() - self.order * libm::log(self.order * (1.0 + self.root))
    }

    /// What is left of ln(e^-x I_order(x)) without the logarithm in order * eta.
    fn log_smooth(&self) -> f64 {
        self.order / (self.root + self.z) - 0.5 * (LN_TAU + libm::log(self.order) + libm::log(self.root))
            + libm::log(self.value)
    }

    /// I_order(x) / I_order-1(x)
    ///
    /// The inverse is I'/I + order/x (DLMF 10.29.2), a sum of positive numbers, with DLMF 10.41.5 for I'.
    pub(super) fn ratio(&self) -> f64 {
        if self.x == f64::INFINITY {
            return 1.0;
        }
        self.z / (self.root * (self.derivative / self.value) + 1.0)
    }
}

/// The sum of the polynomials at 1/root, each over its power of the order.
fn sum(rows: &CoefficientTable, root: f64, order: f64) -> f64 {
    let p = 1.0 / root;
    let square = p * p;
    let step = p / order;
    rows.iter().enumerate().rev().fold(0.0, |sum, (k, row)| {
        let polynomial = row[..=k].iter().rev().fold(0.0, |value, coefficient| value * square + coefficient);
        sum * step + polynomial
    })
}
