//! Draws of matrices, by rows.

use super::reals::beta;
use super::vectors::cholesky;
use super::{DrawMany, DrawParameter, Drawn, chi_square, positive};
use octopus_random::Stream;

pub(super) fn generator(name: &str) -> Option<DrawMany> {
    Some(match name {
        "wishart" => |random, x| {
            let (n, nu) = degrees(x)?;
            let factor = product(&cholesky(x[1])?, &bartlett(random, n, nu)?, n);
            Ok((with_own_transpose(&factor, n), vec![n, n]))
        },
        "wishart_cholesky" => |random, x| {
            let (n, nu) = degrees(x)?;
            Ok((product(x[1].values, &bartlett(random, n, nu)?, n), vec![n, n]))
        },
        "inv_wishart" => |random, x| {
            let (n, nu) = degrees(x)?;
            let sigma = inverse_wishart(random, &cholesky(x[1])?, n, nu)?;
            Ok((sigma, vec![n, n]))
        },
        "inv_wishart_cholesky" => |random, x| {
            let (n, nu) = degrees(x)?;
            let sigma = inverse_wishart(random, x[1].values, n, nu)?;
            Ok((cholesky(DrawParameter { values: &sigma, dims: &[n, n] })?, vec![n, n]))
        },
        _ => return None,
    })
}

/// Draws whose first parameter is the number of rows, a whole number that is not below 0.
pub(super) fn square(name: &str) -> Option<DrawMany> {
    Some(match name {
        "lkj_corr_cholesky" => |random, x| {
            let n = x[0].values[0] as usize;
            Ok((lkj(random, n, positive("eta", x[1].values[0])?)?, vec![n, n]))
        },
        "lkj_corr" => |random, x| {
            let n = x[0].values[0] as usize;
            let l = lkj(random, n, positive("eta", x[1].values[0])?)?;
            Ok((with_own_transpose(&l, n), vec![n, n]))
        },
        _ => return None,
    })
}

/// The rows of a scale matrix, and the degrees of freedom.
fn degrees(x: &[DrawParameter<'_>]) -> Drawn<(usize, f64)> {
    let (nu, &[n, columns]) = (x[0].values[0], x[1].dims) else { return Err("the scale must be a matrix".into()) };
    if n != columns {
        return Err(format!("the scale must be square, not {n} x {columns}"));
    }
    if nu > n as f64 - 1.0 && nu.is_finite() {
        Ok((n, nu))
    } else {
        Err(format!("nu is {nu}, but must be finite and greater than {}", n as f64 - 1.0))
    }
}

/// The Cholesky factor of a Wishart draw with the identity as its scale (Bartlett 1933).
fn bartlett(random: &mut Stream, n: usize, nu: f64) -> Drawn<Vec<f64>> {
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..i {
            a[i * n + j] = random.normal();
        }
        a[i * n + i] = chi_square(random, nu - i as f64)?.sqrt();
    }
    Ok(a)
}

/// The product of two lower triangles.
fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let element = |i: usize, j: usize| (j..=i).fold(0.0, |sum, k| sum + a[i * n + k] * b[k * n + j]);
    (0..n * n).map(|at| if at % n > at / n { 0.0 } else { element(at / n, at % n) }).collect()
}

/// A A' of any square matrix.
fn with_own_transpose(a: &[f64], n: usize) -> Vec<f64> {
    let element = |i: usize, j: usize| (0..n).fold(0.0, |sum, k| sum + a[i * n + k] * a[j * n + k]);
    (0..n * n).map(|at| element(at / n, at % n)).collect()
}

/// L W^-1 L' with W = A A' a Wishart draw with the identity as its scale: M' M with A M = L'.
fn inverse_wishart(random: &mut Stream, l: &[f64], n: usize, nu: f64) -> Drawn<Vec<f64>> {
    let a = bartlett(random, n, nu)?;
    // The columns of M are the rows of its transpose.
    let mut transposed = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            let rest = (0..i).fold(l[j * n + i], |rest, k| rest - a[i * n + k] * transposed[j * n + k]);
            transposed[j * n + i] = rest / a[i * n + i];
        }
    }
    Ok(with_own_transpose(&transposed, n))
}

/// The Cholesky factor of a correlation matrix, by partial correlations (Lewandowski, Kurowicka and Joe 2009).
fn lkj(random: &mut Stream, n: usize, eta: f64) -> Drawn<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    let mut rest = vec![1.0; n];
    for j in 0..n {
        l[j * n + j] = f64::sqrt(rest[j]);
        let alpha = eta + 0.5 * (n - 1 - j) as f64 - 0.5;
        for i in j + 1..n {
            let z = 2.0 * beta(random, alpha, alpha)? - 1.0;
            l[i * n + j] = z * rest[i].sqrt();
            rest[i] *= 1.0 - z * z;
        }
    }
    Ok(l)
}
