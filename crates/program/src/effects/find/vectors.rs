//! Vectors that are normal together, such as the intercept and the slopes of each group: for each place in them a block.
//!
//! Given the elements before it, an element is normal around its location and the sum of what these are in units of their
//! prior, times a row of the triangular matrix.
//!
//! One vector alone, such as a Gaussian process at all its places, is a block as a whole: what the data say of any element
//! says something of all.

use super::readers::OtherReaders;
use super::{FoundEffects, NormalKind, NormalStatement, elements, of_one_parameter, other_operand};
use crate::graph::{Graph, Node, NodeId};
use crate::matrix::{Matrix, MatrixOp};
use crate::operation::Op;
use octopus_density::Centering;
use std::collections::HashSet;

/// Longer vectors that are normal together are no effects of groups.
const MOST_COLUMNS: usize = 8;
/// The same for one vector alone: its coordinates take a Cholesky factor of their own.
const MOST_ELEMENTS: usize = 256;

/// The blocks of vectors that are parameters.
pub(super) fn themselves(
    graph: &mut Graph,
    statement: &NormalStatement,
    columns: usize,
    first: usize,
) -> Option<Vec<FoundEffects>> {
    let &NormalStatement { variate, location, scale, term, .. } = statement;
    let elements = elements(graph, variate)?;
    let is_known = |node: NodeId| !graph.depends_on_parameters(node);
    let is_triangle = graph.len(scale) == columns * columns && graph.len(location).checked_rem(columns) == Some(0);
    if !(1..=MOST_COLUMNS).contains(&columns) || !is_triangle || is_known(location) && is_known(scale) {
        return None;
    }
    let rows = elements.len() / columns;
    let mut blocks = Vec::with_capacity(columns);
    for k in 0..columns {
        let own: Vec<(NodeId, u32)> = elements.iter().skip(k).step_by(columns).copied().collect();
        let (parameter, places) = of_one_parameter(own)?;
        let of_rows: Vec<u32> = (0..graph.len(location) / columns).map(|row| (row * columns + k) as u32).collect();
        let location = graph.gather(location, of_rows);
        let earlier = (0..k).map(|l| (first + l, graph.element(scale, k * columns + l))).collect();
        blocks.push(FoundEffects {
            parameter,
            places,
            effect: None,
            location,
            earlier: Some(earlier),
            triangle: None,
            scale: graph.element(scale, k * columns + k),
            term: Some(term),
            written: Centering::Centered,
            is_affine: false,
            is_log: false,
            label: format!("{}, element {} of {rows} vectors", statement.label, k + 1),
        });
    }
    Some(blocks)
}

/// The blocks of standard normal vectors of which nothing but products with one square matrix is read, as in
/// `diag_pre_multiply(tau, L) * z`.
pub(super) fn in_units_of_their_prior(
    graph: &mut Graph,
    readers: &OtherReaders<'_>,
    statement: &NormalStatement,
    first: usize,
) -> Option<Vec<FoundEffects>> {
    let &NormalStatement { variate, location, scale, kind, term, .. } = statement;
    let is = |node: NodeId, x: f64| graph.known(node).is_some_and(|values| values.iter().all(|&value| value == x));
    let all = elements(graph, variate)?;
    let &(parameter, _) = all.first()?;
    if kind != NormalKind::Plain || !is(location, 0.0) || !is(scale, 1.0) {
        return None;
    }
    let only = |node: NodeId| readers.only(node);
    let mut node = parameter;
    while let Node::Gather(..) = graph.nodes[only(node)?.at()] {
        node = only(node)?;
    }
    let product = only(node)?;
    let Node::Matrix(op @ MatrixOp::Product { .. }, [left, right]) = graph.nodes[product.at()] else { return None };
    let shape = op.product_shape()?;
    let is_right = right == node;
    let (columns, rows) = if is_right { (shape.rows, shape.columns) } else { (shape.columns, shape.rows) };
    let matrix = if is_right { left } else { right };
    let most = if rows == 1 { MOST_ELEMENTS } else { MOST_COLUMNS };
    if columns != shape.inner || columns > most || matrix == node || !graph.depends_on_parameters(matrix) {
        return None;
    }
    // Where element k of vector j is, and element (k, l) of the matrix that a vector is multiplied by from the left.
    let of_vector = |j: usize, k: usize| match (is_right, shape.left_transposed, shape.right_transposed) {
        (true, _, true) | (false, false, _) => j * columns + k,
        (true, _, false) | (false, true, _) => k * rows + j,
    };
    let of_matrix = |k: usize, l: usize| match (is_right, shape.left_transposed, shape.right_transposed) {
        (true, false, _) | (false, _, true) => k * columns + l,
        (true, true, _) | (false, _, false) => l * columns + k,
    };
    let own = elements(graph, node)?;
    // The statement is of the elements of the product, each once.
    let of_statement: HashSet<(NodeId, u32)> = all.iter().copied().collect();
    let is_own = own.iter().all(|element| of_statement.contains(element));
    if !is_own || own.len() != all.len() || of_statement.len() != all.len() {
        return None;
    }
    let zero = graph.constant(0.0);
    if rows == 1 {
        let is_transposed = if is_right { shape.left_transposed } else { !shape.right_transposed };
        if is_transposed || !is_lower_triangle(graph, matrix) {
            return None;
        }
        let (parameter, places) = of_one_parameter(own)?;
        let squares = graph.square(matrix);
        let one = graph.constant(1.0);
        let ones = graph.broadcast(one, columns);
        let variances = graph.product(Matrix::new(squares, columns, columns), Matrix::new(ones, columns, 1));
        // Where every reader adds the same location, that is where the vector is.
        let sum = only(product).filter(|&sum| graph.len(sum) == columns);
        let location = sum.and_then(|sum| other_operand(graph, sum, Op::Add, product));
        return Some(vec![FoundEffects {
            parameter,
            places,
            effect: None,
            location: location.unwrap_or(zero),
            earlier: None,
            triangle: Some(matrix),
            scale: graph.apply(Op::Sqrt, &[variances]),
            term: Some(term),
            written: Centering::NonCentered,
            is_affine: false,
            is_log: false,
            label: format!("{}, a vector times a matrix", statement.label),
        }]);
    }
    let mut blocks = Vec::with_capacity(columns);
    for k in 0..columns {
        let of_place = (0..rows).map(|j| own.get(of_vector(j, k)).copied()).collect::<Option<Vec<_>>>()?;
        let (parameter, places) = of_one_parameter(of_place)?;
        blocks.push(FoundEffects {
            parameter,
            places,
            effect: None,
            location: zero,
            earlier: Some((0..k).map(|l| (first + l, graph.element(matrix, of_matrix(k, l)))).collect()),
            triangle: None,
            scale: graph.element(matrix, of_matrix(k, k)),
            term: Some(term),
            written: Centering::NonCentered,
            is_affine: false,
            is_log: false,
            label: format!("{}, element {} of {rows} vectors", statement.label, k + 1),
        });
    }
    Some(blocks)
}

/// Whether a matrix is a Cholesky factor, or such a factor times what scales its elements.
fn is_lower_triangle(graph: &Graph, matrix: NodeId) -> bool {
    let (mut waiting, mut seen) = (vec![matrix], HashSet::new());
    while let Some(node) = waiting.pop() {
        if graph.len(node) != graph.len(matrix) || !seen.insert(node) {
            continue;
        }
        match graph.nodes[node.at()] {
            Node::Matrix(MatrixOp::Cholesky { .. }, _) => return true,
            Node::Map(Op::Mul, [a, b, _]) => waiting.extend([a, b]),
            Node::Map(Op::Div, [a, ..]) => waiting.push(a),
            _ => {}
        }
    }
    false
}
