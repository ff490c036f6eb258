//! Known matrices as plain numbers, row by row: determinants, singular values and exponentials.

/// Turns of Jacobi's method, each over all pairs; a dozen are enough for any size.
const MOST_TURNS: usize = 60;

/// The determinant, by elimination with pivots.
pub(super) fn determinant(n: usize, mut a: Vec<f64>) -> f64 {
    let mut product = 1.0;
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p * n + i].abs().total_cmp(&a[q * n + i].abs())).unwrap_or(i);
        if pivot != i {
            for c in 0..n {
                a.swap(i * n + c, pivot * n + c);
            }
            product = -product;
        }
        let first = a[i * n + i];
        product *= first;
        if first == 0.0 {
            return 0.0;
        }
        for r in i + 1..n {
            let factor = a[r * n + i] / first;
            for c in i..n {
                a[r * n + c] -= factor * a[i * n + c];
            }
        }
    }
    product
}

/// The rotation that makes the product of two directions 0: cosine and sine.
fn rotation(first: f64, second: f64, both: f64) -> (f64, f64) {
    let theta = (second - first) / (2.0 * both);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (t * t + 1.0).sqrt();
    (cosine, t * cosine)
}

/// U, the singular values from the largest on, and V of a matrix that has at least as many rows as columns: A = U diag(s) V'.
pub(super) fn singular(rows: usize, columns: usize, mut a: Vec<f64>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let n = columns;
    let mut v: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    for _ in 0..MOST_TURNS {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let dot = |i: usize, j: usize| (0..rows).map(|k| a[k * n + i] * a[k * n + j]).sum::<f64>();
                let (first, second, both) = (dot(p, p), dot(q, q), dot(p, q));
                if both.abs() <= f64::EPSILON * (first * second).sqrt() || both.is_nan() {
                    continue;
                }
                turned = true;
                let (c, s) = rotation(first, second, both);
                for (matrix, height) in [(&mut a, rows), (&mut v, n)] {
                    for k in 0..height {
                        let (x, y) = (matrix[k * n + p], matrix[k * n + q]);
                        (matrix[k * n + p], matrix[k * n + q]) = (c * x - s * y, s * x + c * y);
                    }
                }
            }
        }
        if !turned {
            break;
        }
    }
    let norms: Vec<f64> = (0..n).map(|j| (0..rows).map(|k| a[k * n + j].powi(2)).sum::<f64>().sqrt()).collect();
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    let values: Vec<f64> = places.iter().map(|&j| norms[j]).collect();
    let u = (0..rows * n).map(|k| a[k / n * n + places[k % n]] / values[k % n]).collect();
    let v = (0..n * n).map(|k| v[k / n * n + places[k % n]]).collect();
    (u, values, v)
}

fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..n * n).map(|k| (0..n).map(|i| a[k / n * n + i] * b[i * n + k % n]).sum()).collect()
}

/// e^A, by its series for a matrix that is halved until it is small, and squares.
pub(super) fn exponential(n: usize, a: &[f64]) -> Vec<f64> {
    let norm = (0..n).map(|i| (0..n).map(|j| a[i * n + j].abs()).sum::<f64>()).fold(0.0, f64::max);
    if !norm.is_finite() {
        return vec![f64::NAN; n * n];
    }
    let halvings = if norm > 0.25 { (norm / 0.25).log2().ceil() as i32 } else { 0 };
    let small: Vec<f64> = a.iter().map(|x| x * 0.5_f64.powi(halvings)).collect();
    let unit: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    // Horner's scheme: 1 + A (1 + A / 2 (1 + A / 3 ..)); 0.25^16 / 16! is below the rounding.
    let mut sum = unit.clone();
    for k in (1..=16).rev() {
        sum = product(n, &small, &sum);
        for (x, one) in sum.iter_mut().zip(&unit) {
            *x = *x / f64::from(k) + one;
        }
    }
    for _ in 0..halvings {
        sum = product(n, &sum, &sum);
    }
    sum
}
