//! Whether known numbers are what a constraint of Stan asks: simplexes, correlations, factors, within Stan's tolerance.

use octopus_stan::Constraint;

/// How far sums, lengths and mirrored elements may be from what they should be.
pub(crate) const TOLERANCE: f64 = 1e-8;

/// What is wrong with a vector or a matrix of `columns` columns, its rows one after the other, that is declared so. Bounds
/// of elements are no matter of this.
pub(crate) fn fault(constraint: &Constraint, values: &[f64], columns: usize) -> Option<String> {
    let rows = values.len() / columns.max(1);
    let row = |i: usize| values[i * columns..(i + 1) * columns].iter().copied();
    let column = |j: usize| (0..rows).map(move |i| values[i * columns + j]);
    match constraint {
        Constraint::None
        | Constraint::Lower(_)
        | Constraint::Upper(_)
        | Constraint::LowerUpper(..)
        | Constraint::Affine { .. } => None,
        Constraint::Ordered | Constraint::PositiveOrdered => {
            let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
            let is_positive = !matches!(constraint, Constraint::PositiveOrdered) || values.iter().all(|&x| x >= 0.0);
            (!rises || !is_positive).then(|| "begins a vector whose elements are not in order".into())
        }
        Constraint::Simplex => {
            simplex(values.iter().copied()).map(|sum| format!("begins a vector that is no simplex: {sum}"))
        }
        Constraint::RowStochastic => (0..rows)
            .find_map(|i| Some(format!("begins a matrix whose row {} is no simplex: {}", i + 1, simplex(row(i))?))),
        Constraint::ColumnStochastic => (0..columns).find_map(|j| {
            Some(format!("begins a matrix whose column {} is no simplex: {}", j + 1, simplex(column(j))?))
        }),
        Constraint::UnitVector => {
            let square: f64 = values.iter().map(|x| x * x).sum();
            (!near(square, 1.0)).then(|| format!("begins a vector of length {}, not 1", square.sqrt()))
        }
        Constraint::SumToZero => {
            let is_zero = |sum: f64| near(sum, 0.0);
            let fits = if rows == 1 || columns == 1 {
                is_zero(values.iter().sum())
            } else {
                (0..rows).all(|i| is_zero(row(i).sum())) && (0..columns).all(|j| is_zero(column(j).sum()))
            };
            (!fits).then(|| "begins elements whose sum is not 0".into())
        }
        Constraint::CholeskyCov | Constraint::CholeskyCorr => {
            let mut all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
            let is_triangle = all.all(|(i, j)| {
                let x = values[i * columns + j];
                if i == j { x > 0.0 } else { i > j && x.is_finite() || x == 0.0 }
            });
            if !is_triangle {
                return Some("begins a matrix that is no lower triangle with a positive diagonal".into());
            }
            let is_corr = matches!(constraint, Constraint::CholeskyCorr);
            let long = (0..rows).find(|&i| is_corr && !near(row(i).map(|x| x * x).sum(), 1.0))?;
            Some(format!("begins a matrix whose row {} has not the length 1", long + 1))
        }
        Constraint::Cov | Constraint::Corr => {
            if let Some(reason) = asymmetry(values, columns) {
                return Some(format!("begins a matrix that {reason}"));
            }
            if matches!(constraint, Constraint::Corr) && !(0..rows).all(|i| near(values[i * columns + i], 1.0)) {
                return Some("begins a matrix whose diagonal is not 1".into());
            }
            (!is_positive_definite(values, columns)).then(|| "begins a matrix that is not positive definite".into())
        }
    }
}

/// Where a square matrix is not symmetric, as what it then "is".
pub(crate) fn asymmetry(values: &[f64], n: usize) -> Option<String> {
    let (i, j) =
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).find(|&(i, j)| !near(values[i * n + j], values[j * n + i]))?;
    let (low, high) = (values[i * n + j], values[j * n + i]);
    Some(format!("is not symmetric: [{},{}] is {low} and [{},{}] is {high}", i + 1, j + 1, j + 1, i + 1))
}

/// False for NaN.
fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= TOLERANCE
}

fn simplex(values: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let sum: f64 = values.clone().sum();
    let least = values.fold(f64::INFINITY, f64::min);
    if !near(sum, 1.0) {
        return Some(format!("the sum is {sum}"));
    }
    (least < 0.0).then(|| format!("it has the element {least}"))
}

/// Whether the Cholesky factor has a positive diagonal.
fn is_positive_definite(values: &[f64], n: usize) -> bool {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let (before, own) = l.split_at(i * n);
            let (row, other) = (&own[..j], if i == j { &own[..j] } else { &before[j * n..j * n + j] });
            let rest = values[i * n + j] - row.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
            if i == j && (rest.is_nan() || rest <= 0.0) {
                return false;
            }
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fits, and what does not.
    #[test]
    fn each_constraint_has_its_faults() {
        let root = 0.5_f64.sqrt();
        for (constraint, columns, good, bad) in [
            (Constraint::Ordered, 1, vec![-1.0, 2.0], vec![vec![2.0, 2.0], vec![f64::NAN, 1.0]]),
            (Constraint::PositiveOrdered, 1, vec![1.0, 2.0], vec![vec![-1.0, 2.0]]),
            (Constraint::Simplex, 1, vec![0.25, 0.75], vec![vec![0.5, 0.6], vec![1.5, -0.5], vec![f64::NAN, 1.0]]),
            (Constraint::UnitVector, 1, vec![0.6, 0.8], vec![vec![1.0, 1.0]]),
            (Constraint::SumToZero, 1, vec![1.0, -1.0], vec![vec![1.0, 1.0]]),
            (Constraint::SumToZero, 2, vec![1.0, -1.0, -1.0, 1.0], vec![vec![1.0, -1.0, 1.0, -1.0]]),
            (Constraint::RowStochastic, 2, vec![0.5, 0.5, 0.0, 1.0], vec![vec![0.5, 0.0, 0.5, 1.0]]),
            (Constraint::ColumnStochastic, 2, vec![0.5, 0.0, 0.5, 1.0], vec![vec![0.5, 0.5, 0.0, 1.0]]),
            (
                Constraint::CholeskyCov,
                2,
                vec![2.0, 0.0, -1.0, 3.0],
                vec![vec![2.0, 1.0, 0.0, 3.0], vec![2.0, 0.0, 0.0, -3.0], vec![2.0, 0.0, f64::NAN, 3.0]],
            ),
            (Constraint::CholeskyCorr, 2, vec![1.0, 0.0, root, root], vec![vec![1.0, 0.0, 0.5, 0.5]]),
            (
                Constraint::Cov,
                2,
                vec![2.0, 1.0, 1.0, 2.0],
                vec![vec![2.0, 1.0, 0.5, 2.0], vec![1.0, 2.0, 2.0, 1.0], vec![f64::NAN, 0.0, 0.0, 1.0]],
            ),
            (Constraint::Corr, 2, vec![1.0, 0.5, 0.5, 1.0], vec![vec![2.0, 1.0, 1.0, 2.0], vec![1.0, 1.5, 1.5, 1.0]]),
        ] {
            assert_eq!(fault(&constraint, &good, columns), None, "{constraint:?}");
            for values in bad {
                assert!(fault(&constraint, &values, columns).is_some(), "{constraint:?}: {values:?}");
            }
        }
        assert_eq!(fault(&Constraint::Cov, &[], 0), None);
    }
}
