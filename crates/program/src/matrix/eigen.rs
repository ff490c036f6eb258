//! Eigenvalues and eigenvectors of a symmetric matrix: Householder's tridiagonal form, then the implicit QL method (Golub
//! and Van Loan, Matrix Computations, 8.3). It takes + - * / and square roots in one order, so that bits are the same
//! everywhere.
//!
//! Eigenvalues ascend. An eigenvector has length 1, and its first element of at least [`LEADING`] of its largest one is
//! positive: rounding changes no sign where two elements have the same size, as symmetric kernels make them.

use crate::number::Number;

/// The share of the largest element that the element has whose sign is fixed. No simple ratio, so that it is seldom met.
const LEADING: f64 = 0.3;
/// Sweeps for one eigenvalue; two are the rule.
const MOST_SWEEPS: usize = 60;
/// A square that is nothing beside elements of about 1, and whose inverse is within range.
const NEGLIGIBLE: f64 = 1e-200;

/// Writes the eigenvalues of the symmetric matrix with this lower triangle, then the eigenvectors as columns.
///
/// A matrix that has a NaN or an infinity gives NaNs.
pub(super) fn decompose<N: Number>(a: &[N], out: &mut [N], n: usize) {
    let mut vectors: Vec<f64> = (0..n * n).map(|k| a[(k / n).max(k % n) * n + (k / n).min(k % n)].to_f64()).collect();
    let mut values = vec![0.0; n];
    if !solve(&mut vectors, &mut values, n) {
        out.fill(N::from_f64(f64::NAN));
        return;
    }
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let (of_values, of_vectors) = out.split_at_mut(n);
    for (j, &place) in places.iter().enumerate() {
        of_values[j] = N::from_f64(values[place]);
        let vector = &vectors[place * n..(place + 1) * n];
        let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let leading = vector.iter().find(|x| x.abs() >= LEADING * largest);
        let sign = if leading.is_some_and(|x| *x < 0.0) { -1.0 } else { 1.0 };
        for (i, x) in vector.iter().enumerate() {
            of_vectors[i * n + j] = N::from_f64(sign * x);
        }
    }
    if N::HAS_SLOPE {
        add_slopes(a, of_values, of_vectors, n);
    }
}

/// Adds the slopes along a direction D of the matrix, by perturbation: with T = V' D V, values have the slopes `T_jj`, and
/// vectors the sums of v_k T_kj / (w_j - w_k) over the others.
fn add_slopes<N: Number>(a: &[N], values: &mut [N], vectors: &mut [N], n: usize) {
    let zero = N::from_f64(0.0);
    let without_slope = |x: N| N::from_f64(x.to_f64());
    let v: Vec<N> = vectors.iter().copied().map(without_slope).collect();
    let slope = |i: usize, j: usize| {
        let element = a[i.max(j) * n + i.min(j)];
        element - without_slope(element)
    };
    let product: Vec<N> =
        (0..n * n).map(|k| (0..n).fold(zero, |sum, inner| sum + slope(k / n, inner) * v[inner * n + k % n])).collect();
    let turned: Vec<N> = (0..n * n)
        .map(|k| (0..n).fold(zero, |sum, inner| sum + v[inner * n + k / n] * product[inner * n + k % n]))
        .collect();
    let known: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
    for j in 0..n {
        values[j] = values[j] + turned[j * n + j];
        for k in (0..n).filter(|&k| known[k] != known[j]) {
            let share = turned[k * n + j] / N::from_f64(known[j] - known[k]);
            for i in 0..n {
                vectors[i * n + j] = vectors[i * n + j] + v[i * n + k] * share;
            }
        }
    }
}

/// Puts eigenvectors in the rows of `a`, a symmetric matrix, and its eigenvalues in `values`; returns whether it has any.
fn solve(a: &mut [f64], values: &mut [f64], n: usize) -> bool {
    let mut largest = 0.0_f64;
    for x in &*a {
        if !x.is_finite() {
            return false;
        }
        largest = largest.max(x.abs());
    }
    // Squares stay within range: the largest element is from 1 to 2. A power of 2 rounds nothing.
    let exponent = largest.to_bits() & f64::INFINITY.to_bits();
    let scale = if exponent == 0 { f64::MIN_POSITIVE } else { f64::from_bits(exponent) };
    a.iter_mut().for_each(|x| *x /= scale);
    let mut beside = vec![0.0; n];
    tridiagonal(a, values, &mut beside, n);
    let converged = implicit_ql(a, values, &mut beside, n);
    values.iter_mut().for_each(|x| *x *= scale);
    converged
}

/// `to` + `factor` `x`, element by element.
fn add_times(to: &mut [f64], factor: f64, x: &[f64]) {
    for (to, x) in to.iter_mut().zip(x) {
        *to += factor * x;
    }
}

/// Turns A to T = Q' A Q by reflections: the diagonal of T, the elements beside it, and Q' in place of A.
fn tridiagonal(a: &mut [f64], diagonal: &mut [f64], beside: &mut [f64], n: usize) {
    // A reflection takes factor v v' away; v stands in row k behind the diagonal.
    let (mut factors, mut v, mut p) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        diagonal[k] = a[k * n + k];
        let first = k + 1;
        if first >= n {
            break;
        }
        let x = &mut a[k * n + first..(k + 1) * n];
        let rest: f64 = x[1..].iter().map(|x| x * x).sum();
        beside[k] = x[0];
        if rest < NEGLIGIBLE {
            continue;
        }
        let length = (x[0] * x[0] + rest).sqrt();
        beside[k] = if x[0] > 0.0 { -length } else { length };
        x[0] -= beside[k];
        let factor = 2.0 / (x[0] * x[0] + rest);
        factors[k] = factor;
        let (v, p) = (&mut v[..n - first], &mut p[..n - first]);
        v.copy_from_slice(x);
        p.fill(0.0);
        for (j, &weight) in v.iter().enumerate() {
            add_times(p, factor * weight, &a[(first + j) * n + first..(first + j + 1) * n]);
        }
        let along: f64 = v.iter().zip(&*p).map(|(v, p)| v * p).sum();
        add_times(p, -0.5 * factor * along, v);
        for j in 0..v.len() {
            let row = &mut a[(first + j) * n + first..(first + j + 1) * n];
            add_times(row, -v[j], p);
            add_times(row, -p[j], v);
        }
    }
    // Q is made from the last reflection on, in the rows and columns that it has changed so far.
    for k in (0..n).rev() {
        let first = k + 1;
        let (v, p) = (&mut v[..n - first], &mut p[..n - first]);
        v.copy_from_slice(&a[k * n + first..(k + 1) * n]);
        a[k * n..(k + 1) * n].fill(0.0);
        a[k * n + k] = 1.0;
        p.fill(0.0);
        for (j, &weight) in v.iter().enumerate() {
            add_times(p, factors[k] * weight, &a[(first + j) * n + first..(first + j + 1) * n]);
        }
        for (j, &weight) in v.iter().enumerate() {
            let row = &mut a[(first + j) * n + k..(first + j + 1) * n];
            row[0] = 0.0;
            add_times(&mut row[1..], -weight, p);
        }
    }
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// Returns sqrt(a^2 + b^2) without squares that leave the range.
fn length_of(a: f64, b: f64) -> f64 {
    let (large, small) = if a.abs() < b.abs() { (b.abs(), a.abs()) } else { (a.abs(), b.abs()) };
    if large == 0.0 {
        return 0.0;
    }
    let ratio = small / large;
    large * (1.0 + ratio * ratio).sqrt()
}

/// Turns a tridiagonal matrix to its eigenvalues, and the rows of `vectors` with it; returns whether it converged.
fn implicit_ql(vectors: &mut [f64], d: &mut [f64], e: &mut [f64], n: usize) -> bool {
    // What rounds away beside the largest elements is 0: a bound by the neighbours alone may never be met.
    let rounding = f64::EPSILON * d.iter().zip(&*e).fold(0.0, |most: f64, (d, e)| most.max(d.abs() + e.abs()));
    for l in 0..n {
        let mut sweeps = 0;
        loop {
            let m = (l..n - 1).find(|&m| e[m].abs() <= rounding).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if sweeps == MOST_SWEEPS {
                return false;
            }
            sweeps += 1;
            // Wilkinson's shift.
            let half = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let root = length_of(half, 1.0);
            let mut g = d[m] - d[l] + e[l] / (half + if half < 0.0 { -root } else { root });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut is_whole = true;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = length_of(f, g);
                e[i + 1] = r;
                if r == 0.0 {
                    // The matrix parts in two here.
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    is_whole = false;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                let (upper, lower) = vectors[i * n..(i + 2) * n].split_at_mut(n);
                for (x, y) in upper.iter_mut().zip(lower) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
            if is_whole {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::decompose;

    /// The eigenvalues and eigenvectors.
    fn decomposed(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut out = vec![0.0; n * (n + 1)];
        decompose(a, &mut out, n);
        let vectors = out.split_off(n);
        (out, vectors)
    }

    /// Panics unless A V = V diag(w) and V' V = 1 up to rounding, in units of A's Frobenius norm, and w ascends.
    fn decomposes(a: &[f64], n: usize, what: &str) -> (Vec<f64>, Vec<f64>) {
        let (w, v) = decomposed(a, n);
        let size = a.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        assert!(w.is_sorted(), "{what}: {w:?}");
        let norm = a.iter().map(|x| (x / size).powi(2)).sum::<f64>().sqrt().max(1.0);
        let (mut residual, mut angle) = (0.0_f64, 0.0_f64);
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| a[i * n + k] / size * v[k * n + j]).sum();
                residual = residual.max((product - v[i * n + j] * (w[j] / size)).abs() / norm);
                let dot: f64 = (0..n).map(|k| v[k * n + i] * v[k * n + j]).sum();
                angle = angle.max((dot - f64::from(u8::from(i == j))).abs());
            }
        }
        let (rounding, turning) = (f64::EPSILON * (4.0 + 0.5 * n as f64), f64::EPSILON * (4.0 + 2.0 * n as f64));
        assert!(residual < rounding && angle < turning, "{what}, {n}: {residual:e} {angle:e}");
        for j in 0..n {
            let column: Vec<f64> = (0..n).map(|i| v[i * n + j]).collect();
            let most = column.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(column.iter().find(|x| x.abs() >= 0.3 * most).is_some_and(|x| *x > 0.0), "{what}: {column:?}");
        }
        (w, v)
    }

    /// Numbers from -1 to 1, by a linear congruence.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        let mut state = seed as u64 + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn symmetric(n: usize, element: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        (0..n * n).map(|k| element((k / n).max(k % n), (k / n).min(k % n))).collect()
    }

    #[test]
    fn random_matrices_are_decomposed() {
        for n in 0..=20 {
            for seed in 0..20 {
                let x = numbers(n * n, 31 * n + seed);
                decomposes(&symmetric(n, |i, j| x[i * n + j]), n, "random");
                // The rank is 2: all other eigenvalues are 0.
                decomposes(&symmetric(n, |i, j| x[i] * x[j] - x[n * n - 1 - i] * x[n * n - 1 - j]), n, "rank 2");
                decomposes(&symmetric(n, |i, j| if i - j < 2 { x[i * n + j] } else { 0.0 }), n, "tridiagonal");
                let graded = |i: usize, j: usize| x[i * n + j] * 0.01_f64.powi((i + j) as i32);
                decomposes(&symmetric(n, graded), n, "graded");
                let turned = symmetric(n, |i, j| graded(n - 1 - i, n - 1 - j));
                decomposes(&turned, n, "graded the other way");
                decomposes(&symmetric(n, |i, j| x[i * n + j] * 1e305), n, "huge");
                decomposes(&symmetric(n, |i, j| x[i * n + j] * 1e-300), n, "tiny");
            }
        }
        decomposes(&symmetric(60, |i, j| numbers(1, 60 * i + j)[0]), 60, "large");
    }

    #[test]
    fn equal_and_nearly_equal_eigenvalues_have_vectors_at_right_angles() {
        for n in 1..=20 {
            let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
            let (w, v) = decomposes(&symmetric(n, unit), n, "identity");
            assert!(w.iter().all(|&w| w == 1.0) && v == symmetric(n, unit));
            decomposes(&vec![0.0; n * n], n, "zero");
            let (w, _) = decomposes(&vec![1.0; n * n], n, "ones");
            assert!((w[n - 1] - n as f64).abs() < 1e-13 && w[..n - 1].iter().all(|w| w.abs() < 1e-13), "{w:?}");
            decomposes(&symmetric(n, |i, j| unit(i, j) + if i == j + 1 { 1e-15 } else { 0.0 }), n, "nearly equal");
            let x = numbers(n * n, n);
            decomposes(&symmetric(n, |i, j| unit(i, j) + 1e-14 * x[i * n + j]), n, "near to the identity");
            let far = |i: usize, j: usize| (i as f64 - j as f64).powi(2);
            // A Gaussian process's kernel: most eigenvalues are the number on the diagonal, up to rounding.
            let kernel = symmetric(n, |i, j| (-0.01 * far(i, j)).exp() + 1e-5 * unit(i, j));
            decomposes(&kernel, n, "kernel");
            decomposes(&symmetric(n, |i, j| 1.0 / (i + j + 1) as f64), n, "Hilbert");
        }
    }

    #[test]
    fn what_is_not_finite_has_no_eigenvalues() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let (w, v) = decomposed(&[1.0, 0.0, x, 2.0], 2);
            assert!(w.iter().chain(&v).all(|x| x.is_nan()));
        }
        // The upper triangle is not read.
        assert_eq!(decomposed(&[1.0, f64::NAN, 0.0, 2.0], 2), (vec![1.0, 2.0], vec![1.0, 0.0, 0.0, 1.0]));
    }
}
