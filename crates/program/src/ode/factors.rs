//! Linear systems by Gauss's elimination with pivots: of a few states.

/// Replaces a matrix of `pivots.len()` rows by its triangular factors; rows are exchanged as `pivots` says. Returns
/// whether it has an inverse.
#[inline(always)]
pub(super) fn factorise(matrix: &mut [f64], pivots: &mut [u32]) -> bool {
    let n = pivots.len();
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if matrix[best * n + k].abs() < matrix[i * n + k].abs() {
                best = i;
            }
        }
        pivots[k] = best as u32;
        if best != k {
            for j in 0..n {
                matrix.swap(k * n + j, best * n + j);
            }
        }
        let pivot = matrix[k * n + k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        let (above, below) = matrix.split_at_mut((k + 1) * n);
        let row = &above[k * n + k + 1..];
        for other in below.chunks_exact_mut(n) {
            let factor = other[k] / pivot;
            other[k] = factor;
            if factor != 0.0 {
                for (x, y) in other[k + 1..].iter_mut().zip(row) {
                    *x -= factor * y;
                }
            }
        }
    }
    true
}

/// Solves the system for `columns` right-hand sides, which stand side by side in the rows of `x`.
#[inline(always)]
pub(super) fn solve(matrix: &[f64], pivots: &[u32], x: &mut [f64], columns: usize) {
    let n = pivots.len();
    for (k, &pivot) in pivots.iter().enumerate() {
        let pivot = pivot as usize;
        if pivot != k {
            let (above, below) = x.split_at_mut(pivot * columns);
            above[k * columns..(k + 1) * columns].swap_with_slice(&mut below[..columns]);
        }
        subtract_rows(matrix, x, k, 0..k, (n, columns));
    }
    for k in (0..n).rev() {
        subtract_rows(matrix, x, k, k + 1..n, (n, columns));
        let pivot = matrix[k * n + k];
        for x in &mut x[k * columns..(k + 1) * columns] {
            *x /= pivot;
        }
    }
}

/// Subtracts from row k the rows of `others` times their factors.
#[inline(always)]
fn subtract_rows(
    matrix: &[f64],
    x: &mut [f64],
    k: usize,
    others: std::ops::Range<usize>,
    (n, columns): (usize, usize),
) {
    for other in others {
        let factor = matrix[k * n + other];
        if factor == 0.0 {
            continue;
        }
        let (first, second) = x.split_at_mut(k.max(other) * columns);
        let (row, other) = if other < k {
            (&mut second[..columns], &first[other * columns..(other + 1) * columns])
        } else {
            (&mut first[k * columns..(k + 1) * columns], &second[..columns])
        };
        for (x, y) in row.iter_mut().zip(other) {
            *x -= factor * y;
        }
    }
}
