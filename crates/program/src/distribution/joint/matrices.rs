//! Normal, Student's and Gaussian-process vectors; covariance and correlation matrices.
//!
//! Each works on Cholesky factors: no determinant, no inverse.

use super::super::real_line::{HALF_LN_TAU, LN_PI};
use super::{Block, Extent, JointDistribution, Symbol, joint, same_columns};
use std::f64::consts::LN_2;

/// Differences of variates and means as columns.
fn columns_of_differences<'a>(y: Block<'a>, mu: Block<'a>, extent: Extent) -> Block<'a> {
    let (y, mu) = (y.repeated(extent.rows), mu.repeated(extent.rows));
    Block { x: y.x - mu.x, ..y }.transposed()
}

/// The sum of squares of each column, or of all together where they are not asked for one by one.
fn squares<'a>(z: Block<'a>, apart: bool) -> Symbol<'a> {
    let square = z.x.square();
    if !apart || z.columns == 1 {
        return square.sum();
    }
    let segments: Vec<u32> = (0..z.rows * z.columns).map(|k| (k % z.columns) as u32).collect();
    square.segment_sum(&segments.into(), z.columns)
}

/// Terms of normal vectors of which z is standard, given the logarithm of the determinant of the deviations' factor.
fn normal<'a>(z: Block<'a>, ln_determinant: Symbol<'a>, extent: Extent) -> Vec<Symbol<'a>> {
    let constant = z.x.number(-HALF_LN_TAU * z.rows as f64);
    vec![-0.5 * squares(z, extent.apart), extent.each(-ln_determinant), extent.each(constant)]
}

fn by_factor<'a>(y: Block<'a>, mu: Block<'a>, l: Block<'a>, extent: Extent) -> Result<Vec<Symbol<'a>>, String> {
    same_columns(&[y, mu, l])?;
    let z = l.solve(columns_of_differences(y, mu, extent));
    Ok(normal(z, l.ln_diagonal(|_| 1.0), extent))
}

fn student<'a>([y, mu, l]: [Block<'a>; 3], nu: Symbol<'a>, extent: Extent) -> Result<Vec<Symbol<'a>>, String> {
    let n = same_columns(&[y, mu, l])? as f64;
    let square = squares(l.solve(columns_of_differences(y, mu, extent)), true);
    let power = 0.5 * nu + 0.5 * n;
    Ok(vec![
        extent.each(-power * (square / nu).ln_1p()),
        extent.each(-l.ln_diagonal(|_| 1.0)),
        extent.each(power.ln_gamma() - (0.5 * nu).ln_gamma() - 0.5 * n * nu.ln()),
        extent.each(nu.number(-0.5 * n * LN_PI)),
    ])
}

/// Rows that are normal around 0 with the covariance L L' / w.
fn process<'a>(y: Block<'a>, l: Block<'a>, w: Block<'a>, extent: Extent) -> Result<Vec<Symbol<'a>>, String> {
    let n = same_columns(&[y, l])? as f64;
    let square = squares(l.solve(y.repeated(extent.rows).transposed()), true);
    Ok(vec![
        extent.each(-0.5 * w.x * square),
        extent.each(0.5 * n * w.x.ln()),
        extent.each(-l.ln_diagonal(|_| 1.0)),
        extent.each(y.x.number(-HALF_LN_TAU * n)),
    ])
}

/// ln of the multivariate gamma function of dimension n.
fn ln_gamma_of_dimension(x: Symbol<'_>, n: usize) -> Symbol<'_> {
    let below = x.column((0..n).map(|j| 0.5 * j as f64).collect());
    let constant = 0.25 * (n * n.saturating_sub(1)) as f64 * LN_PI;
    (x - below).ln_gamma().sum() + constant
}

/// Demands more degrees of freedom than a matrix of this size has rows, less 1.
fn demand_degrees(nu: Symbol<'_>, n: usize) {
    nu.number(n as f64 - 1.0).below(nu).demand(&format!("the degrees of freedom must be above {}", n as f64 - 1.0));
}

/// Wishart's density of L L', given its factor and the scale's.
fn wishart<'a>(l: Block<'a>, nu: Symbol<'a>, scale: Block<'a>) -> Result<Vec<Symbol<'a>>, String> {
    let n = same_columns(&[l, scale])?;
    demand_degrees(nu, n);
    let trace = squares(scale.solve(l), false);
    Ok(vec![
        -0.5 * trace,
        (nu - (n + 1) as f64) * l.ln_diagonal(|_| 1.0),
        -nu * scale.ln_diagonal(|_| 1.0),
        -0.5 * LN_2 * n as f64 * nu - ln_gamma_of_dimension(0.5 * nu, n),
    ])
}

/// The density of the inverse of a Wishart matrix, given the factors.
fn inverse_wishart<'a>(l: Block<'a>, nu: Symbol<'a>, scale: Block<'a>) -> Result<Vec<Symbol<'a>>, String> {
    let n = same_columns(&[l, scale])?;
    demand_degrees(nu, n);
    let trace = squares(l.solve(scale), false);
    Ok(vec![
        -0.5 * trace,
        -(nu + (n + 1) as f64) * l.ln_diagonal(|_| 1.0),
        nu * scale.ln_diagonal(|_| 1.0),
        -0.5 * LN_2 * n as f64 * nu - ln_gamma_of_dimension(0.5 * nu, n),
    ])
}

/// The logarithm of the Jacobian of L to L L'.
fn of_factor<'a>(l: Block<'a>, mut terms: Vec<Symbol<'a>>) -> Vec<Symbol<'a>> {
    let n = l.rows;
    terms.push(l.ln_diagonal(|k| (n - k) as f64));
    terms.push(l.x.number(LN_2 * n as f64));
    terms
}

/// The constant of the density of Lewandowski, Kurowicka and Joe (2009), theorem 5.
fn lkj_constant(eta: Symbol<'_>, n: usize) -> Symbol<'_> {
    let last = n.saturating_sub(1);
    if last == 0 {
        return eta.number(0.0);
    }
    let more = eta.column((1..n).map(|k| 0.5 * (last - k) as f64).collect());
    let powers: f64 = (1..n).map(|k| 0.5 * k as f64 * LN_PI).sum();
    let all = (eta + more).ln_gamma().sum_of_rows(last);
    last as f64 * (eta + 0.5 * last as f64).ln_gamma() - all - powers
}

pub(super) const ROWS: &[JointDistribution] = &[
    joint!(multi_normal (y: Vectors Real, mu: Vectors Real, sigma: Square Real), extent =>
        by_factor(y, mu, sigma.cholesky(), extent)),
    joint!(multi_normal_cholesky (y: Vectors Real, mu: Vectors Real, l: Square Real), extent =>
        by_factor(y, mu, l, extent)),
    joint!(multi_normal_prec (y: Vectors Real, mu: Vectors Real, omega: Square Real), extent => {
        same_columns(&[y, mu, omega])?;
        let (l, difference) = (omega.cholesky(), columns_of_differences(y, mu, extent));
        let z = Block { x: l.x.transposed_product(difference.x, l.rows, difference.columns), ..difference };
        Ok(normal(z, -l.ln_diagonal(|_| 1.0), extent))
    }),
    joint!(multi_student_t (y: Vectors Real, nu: Number Positive, mu: Vectors Real, sigma: Square Real), extent =>
        student([y, mu, sigma.cholesky()], nu.x, extent)),
    joint!(multi_student_t_cholesky (y: Vectors Real, nu: Number Positive, mu: Vectors Real, l: Square Real), extent =>
        student([y, mu, l], nu.x, extent)),
    joint!(multi_gp (y: Vectors Real, sigma: Square Real, w: Numbers Positive), extent =>
        process(y, sigma.cholesky(), w, extent)),
    joint!(multi_gp_cholesky (y: Vectors Real, l: Square Real, w: Numbers Positive), extent => process(y, l, w, extent)),
    joint!(wishart (w: Square Real, nu: Number Positive, sigma: Square Real), _extent =>
        wishart(w.cholesky(), nu.x, sigma.cholesky())),
    joint!(wishart_cholesky (l: Square Real, nu: Number Positive, scale: Square Real), _extent =>
        Ok(of_factor(l, wishart(l, nu.x, scale)?))),
    joint!(inv_wishart (w: Square Real, nu: Number Positive, sigma: Square Real), _extent =>
        inverse_wishart(w.cholesky(), nu.x, sigma.cholesky())),
    joint!(inv_wishart_cholesky (l: Square Real, nu: Number Positive, scale: Square Real), _extent =>
        Ok(of_factor(l, inverse_wishart(l, nu.x, scale)?))),
    joint!(lkj_corr (y: Square Real, eta: Number Positive), _extent =>
        Ok(vec![2.0 * (eta.x - 1.0) * y.cholesky().ln_diagonal(|_| 1.0), lkj_constant(eta.x, y.rows)])),
    joint!(lkj_corr_cholesky (l: Square Real, eta: Number Positive), _extent => {
        let n = l.rows;
        // The first element of the diagonal is 1.
        let rest = Block { x: l.pick((1..n).flat_map(|i| (1..n).map(move |j| i * n + j))), rows: n.max(1) - 1, columns: n.max(1) - 1 };
        if n <= 1 {
            return Ok(vec![l.x.number(0.0)]);
        }
        let fixed = rest.ln_diagonal(|k| n as f64 - 4.0 - k as f64);
        Ok(vec![2.0 * eta.x * rest.ln_diagonal(|_| 1.0) + fixed, lkj_constant(eta.x, n)])
    }),
];
