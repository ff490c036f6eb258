//! Triangular factors of small dense matrices, row after row. Sums have one order, so that bits depend on numbers alone.

use rayon::prelude::*;

/// Partial sums of a dot product: the compiler makes vector code of them.
const LANES: usize = 8;

/// Returns `a . b`.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (first, second) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = first.remainder().iter().zip(second.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in first.zip(second) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// `out += factor v`
pub(super) fn axpy(factor: f64, v: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(v).for_each(|(out, v)| *out += factor * v);
}

/// The lower triangular factor `L` of a symmetric positive definite matrix `L L^T`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LowerFactor {
    dim: usize,
    /// `dim x dim`, row-major; nothing above the diagonal is read.
    rows: Vec<f64>,
}

impl LowerFactor {
    /// Factors `matrix` (`dim x dim`, row-major, of which the lower triangle is read); `None` unless it is positive
    /// definite.
    pub(super) fn of(mut matrix: Vec<f64>, dim: usize) -> Option<Self> {
        for i in 0..dim {
            let (before, from) = matrix.split_at_mut(i * dim);
            let row = &mut from[..dim];
            for j in 0..i {
                let other = &before[j * dim..j * dim + dim];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(Self { dim, rows: matrix })
    }

    /// Returns the factor of a matrix's diagonal, 1 where that is not positive.
    pub(super) fn diagonal_of(matrix: &[f64], dim: usize) -> Self {
        let mut rows = vec![0.0; dim * dim];
        for i in 0..dim {
            let root = matrix[i * dim + i].sqrt();
            rows[i * dim + i] = if root.is_normal() { root } else { 1.0 };
        }
        Self { dim, rows }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dim..i * self.dim + i + 1]
    }

    /// Returns the diagonal.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.dim).map(|i| self.rows[i * self.dim + i])
    }

    /// `out = L v`
    pub(super) fn times(&self, v: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = dot(self.row(i), &v[..=i]);
        }
    }

    /// `out = L^T v`
    pub(super) fn transposed_times(&self, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, v) in v.iter().enumerate() {
            axpy(*v, self.row(i), &mut out[..=i]);
        }
    }

    /// Solves `L x = v`, in place.
    pub(super) fn solve(&self, v: &mut [f64]) {
        for i in 0..self.dim {
            let row = self.row(i);
            v[i] = (v[i] - dot(&row[..i], &v[..i])) / row[i];
        }
    }

    /// Returns the inverse of the matrix that was factored, `dim x dim`.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.dim * self.dim];
        inverse.par_chunks_exact_mut(self.dim).enumerate().for_each(|(i, row)| {
            row[i] = 1.0;
            self.solve(row);
            self.solve_transposed(row);
        });
        inverse
    }

    /// Solves `L^T x = v`, in place.
    pub(super) fn solve_transposed(&self, v: &mut [f64]) {
        for i in (0..self.dim).rev() {
            let row = self.row(i);
            let x = v[i] / row[i];
            axpy(-x, &row[..i], &mut v[..i]);
            v[i] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[[4, 2, -2], [2, 10, 2], [-2, 2, 6]]` has the factor `[[2], [1, 3], [-1, 1, 2]]`.
    #[test]
    fn a_factor_by_hand() {
        let factor = LowerFactor::of(vec![4.0, 0.0, 0.0, 2.0, 10.0, 0.0, -2.0, 2.0, 6.0], 3).unwrap();
        assert_eq!(factor.diagonal().collect::<Vec<_>>(), [2.0, 3.0, 2.0]);
        let mut out = [0.0; 3];
        factor.times(&[1.0, 2.0, 3.0], &mut out);
        assert_eq!(out, [2.0, 7.0, 7.0]);
        factor.transposed_times(&[1.0, 2.0, 3.0], &mut out);
        assert_eq!(out, [1.0, 9.0, 6.0]);
        factor.solve_transposed(&mut out);
        assert_eq!(out, [1.0, 2.0, 3.0]);
        factor.times(&[1.0, 2.0, 3.0], &mut out);
        factor.solve(&mut out);
        assert_eq!(out, [1.0, 2.0, 3.0]);
        // Its determinant is 144, and the minor of the last corner 36.
        let inverse = factor.inverse();
        assert!((inverse[8] - 0.25).abs() < 1e-15 && (inverse[1] - inverse[3]).abs() < 1e-15, "{inverse:?}");
        assert_eq!(LowerFactor::of(vec![1.0, 0.0, 2.0, 1.0], 2), None);
        assert_eq!(LowerFactor::of(vec![f64::NAN], 1), None);
    }

    #[test]
    fn long_dot_products() {
        for n in [0, 1, 7, 8, 9, 30] {
            let numbers: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = f64::from(n * (n + 1) * (2 * n + 1) / 6);
            assert_eq!(dot(&numbers, &numbers), expected);
        }
    }
}
