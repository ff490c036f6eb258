//! Covariance and correlation matrices, and their Cholesky factors. All is done by operations on whole vectors, since the
//! elements of a matrix are many, but for correlations of few rows.

use super::{LONG, add};
use crate::interpreter::Interpreter;
use octopus_program::{NodeId, Op};

/// The Cholesky factor of a correlation matrix.
pub(super) fn cholesky_corr(me: &mut Interpreter<'_>, n: usize) -> NodeId {
    let place = |i: usize, j: usize| i * (i.max(1) - 1) / 2 + j;
    correlation_factor(me, n, place, |i, j| 0.5 * (i - j - 1) as f64)
}

pub(super) fn corr(me: &mut Interpreter<'_>, n: usize) -> NodeId {
    // The coordinates stand column by column.
    let place = |i: usize, j: usize| j * (2 * n - j - 1) / 2 + i - j - 1;
    let l = correlation_factor(me, n, place, |_, j| 0.5 * (n - j - 2) as f64);
    if n == 0 {
        return l;
    }
    me.graph.product_of_factor(l, n)
}

/// A factor of new coordinates: the partial correlation of row i and column j, below the diagonal, is the hyperbolic tangent z
/// of coordinate `place(i, j)`. Row i has there z times the root of what the columns before have left of 1, which is the
/// product of their 1 - z^2. The log-Jacobian is the sum of ln(1 - z^2), for the tangent once, and `times(i, j)` times
/// for the rest.
fn correlation_factor(
    me: &mut Interpreter<'_>,
    n: usize,
    place: impl Fn(usize, usize) -> usize,
    times: impl Fn(usize, usize) -> f64,
) -> NodeId {
    let one = me.graph.constant(1.0);
    if n <= 1 {
        return if n == 1 { one } else { me.graph.column(Vec::new()) };
    }
    let x = me.graph.parameter(n * (n - 1) / 2);
    let z = me.graph.apply(Op::Tanh, &[x]);
    let square = me.graph.square(z);
    let rest = me.graph.apply(Op::Ln1m, &[square]);
    let mut weights = vec![0.0; n * (n - 1) / 2];
    for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        weights[place(i, j)] = 1.0 + times(i, j);
    }
    let weights = me.column(&weights.into());
    let jacobian = me.graph.dot(weights, rest);
    me.target.push(jacobian);
    if n > LONG {
        return long_correlation_factor(me, z, n, place);
    }
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let (mut row, mut rest) = (Vec::with_capacity(n), one);
        for j in 0..i {
            let z = me.graph.element(z, place(i, j));
            row.push(below_diagonal(me, z, &mut rest));
        }
        row.push(me.graph.apply(Op::Sqrt, &[rest]));
        rows.push(row);
    }
    let zero = me.graph.constant(0.0);
    let all: Vec<NodeId> = rows.iter().flat_map(|row| (0..n).map(|j| row.get(j).copied().unwrap_or(zero))).collect();
    me.graph.concat(&all)
}

/// The same column by column, over all rows at once. Rows that have ended have z = 0, which changes nothing.
fn long_correlation_factor(
    me: &mut Interpreter<'_>,
    z: NodeId,
    n: usize,
    place: impl Fn(usize, usize) -> usize,
) -> NodeId {
    let (mut rest, zero) = (me.graph.constant(1.0), me.graph.constant(0.0));
    let zero_at = me.graph.len(z);
    let z_or_zero = me.graph.concat(&[z, zero]);
    // All columns at once: a slope of each would be as long as z.
    let all = (0..n - 1).flat_map(|j| (0..n).map(move |i| (i, j)));
    let places = all.map(|(i, j)| if i > j { place(i, j) } else { zero_at } as u32).collect();
    let z = me.gather(z_or_zero, places);
    let mut columns = Vec::with_capacity(n + 1);
    for j in 0..n - 1 {
        let z = me.graph.slice(z, j * n, n);
        columns.push(below_diagonal(me, z, &mut rest));
    }
    columns.push(me.graph.apply(Op::Sqrt, &[rest]));
    columns.push(zero);
    let all = me.graph.concat(&columns);
    let element = |i: usize, j: usize| match j.cmp(&i) {
        std::cmp::Ordering::Less => j * n + i,
        std::cmp::Ordering::Equal => (n - 1) * n + i,
        std::cmp::Ordering::Greater => n * n,
    };
    let places = (0..n * n).map(|k| element(k / n, k % n) as u32).collect();
    me.gather(all, places)
}

/// The element of a partial correlation, and what is left of 1 after it.
fn below_diagonal(me: &mut Interpreter<'_>, z: NodeId, rest: &mut NodeId) -> NodeId {
    let root = me.graph.apply(Op::Sqrt, &[*rest]);
    let (one, square) = (me.graph.constant(1.0), me.graph.square(z));
    let left = me.graph.sub(one, square);
    *rest = me.graph.mul(*rest, left);
    me.graph.mul(z, root)
}

/// A lower triangle with a positive diagonal, whose coordinates stand row by row, and the logarithms of the diagonal.
fn positive_triangle(me: &mut Interpreter<'_>, rows: usize, columns: usize) -> (NodeId, NodeId) {
    let start = |i: usize| {
        let above = i.min(columns);
        above * (above + 1) / 2 + (i - above) * columns
    };
    let count = start(rows);
    if count == 0 {
        let none = me.graph.column(Vec::new());
        return (none, none);
    }
    let x = me.graph.parameter(count);
    let logs = me.gather(x, (0..columns).map(|j| (start(j) + j) as u32).collect());
    let (diagonal, zero) = (me.graph.exp(logs), me.graph.constant(0.0));
    let all = me.graph.concat(&[x, diagonal, zero]);
    let element = |i: usize, j: usize| match j.cmp(&i) {
        std::cmp::Ordering::Less => start(i) + j,
        std::cmp::Ordering::Equal => count + j,
        std::cmp::Ordering::Greater => count + columns,
    };
    let places = (0..rows * columns).map(|k| element(k / columns, k % columns) as u32).collect();
    (me.gather(all, places), logs)
}

pub(super) fn cov(me: &mut Interpreter<'_>, n: usize) -> NodeId {
    let (l, logs) = positive_triangle(me, n, n);
    let constant = me.graph.constant(n as f64 * std::f64::consts::LN_2);
    me.target.push(constant);
    if n == 0 {
        return l;
    }
    let powers: Vec<f64> = (0..n).map(|k| (n - k + 1) as f64).collect();
    let powers = me.column(&powers.into());
    let jacobian = me.graph.dot(powers, logs);
    me.target.push(jacobian);
    me.graph.product_of_factor(l, n)
}

pub(super) fn cholesky_cov(me: &mut Interpreter<'_>, rows: usize, columns: usize) -> NodeId {
    let (l, logs) = positive_triangle(me, rows, columns);
    add(me, logs);
    l
}
