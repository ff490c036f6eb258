//! Operations on matrices, row by row: products, Cholesky factors, triangular systems and eigenvectors, with their adjoints.

mod eigen;

use crate::error::ProgramError;
use crate::evaluate::ProductShape;
use crate::graph::{Graph, Node, NodeId};
use crate::number::Number;
use crate::order;
use std::sync::Arc;

/// Matrices of data with so many rows are taken column by column, where they have few columns.
const FEWEST_ROWS: usize = 16;
/// The same where they have more.
const FEWEST_ROWS_OF_MANY: usize = 64;
/// Wider matrices are not taken column by column: each column is two instructions.
const MOST_COLUMNS: usize = 128;

/// An operation on one or two matrices, whose elements are in rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MatrixOp {
    /// A B of `rows` x `columns`, the sums being over `inner`; A and B may be stored transposed.
    Product { rows: u32, inner: u32, columns: u32, left_transposed: bool, right_transposed: bool },
    /// The lower triangle L with L L' = A.
    Cholesky { rows: u32 },
    /// The matrix X of `rows` x `columns` with L X = B, or L' X = B.
    Solve { rows: u32, columns: u32, transposed: bool },
    /// The eigenvalues of a symmetric matrix, then the eigenvectors as columns of a matrix.
    EigendecomposeSym { rows: u32 },
}

impl MatrixOp {
    /// Returns the number of elements of the result.
    pub(crate) fn length(self) -> usize {
        let (rows, columns) = match self {
            Self::Product { rows, columns, .. } | Self::Solve { rows, columns, .. } => (rows, columns),
            Self::Cholesky { rows } => (rows, rows),
            Self::EigendecomposeSym { rows } => (rows + 1, rows),
        };
        rows as usize * columns as usize
    }

    /// Returns about how many multiplications it takes.
    pub(crate) fn work(self) -> usize {
        let product =
            |factors: &[u32]| factors.iter().fold(1_usize, |all, &factor| all.saturating_mul(factor as usize));
        match self {
            Self::Product { rows, inner, columns, .. } => product(&[rows, inner, columns]),
            Self::Cholesky { rows } => product(&[rows, rows + 1, rows + 2]) / 6,
            Self::Solve { rows, columns, .. } => product(&[rows, rows + 1, columns]) / 2,
            // Tridiagonal form, its eigenvalues, and the vectors turned back.
            Self::EigendecomposeSym { rows } => product(&[9, rows, rows, rows]),
        }
    }

    /// Returns the number of operands.
    pub(crate) fn arity(self) -> usize {
        if matches!(self, Self::Cholesky { .. } | Self::EigendecomposeSym { .. }) { 1 } else { 2 }
    }

    /// Returns the shapes of a product.
    pub(crate) fn product_shape(self) -> Option<ProductShape> {
        let Self::Product { rows, inner, columns, left_transposed, right_transposed } = self else { return None };
        let (rows, inner, columns) = (rows as usize, inner as usize, columns as usize);
        Some(ProductShape { rows, inner, columns, left_transposed, right_transposed })
    }

    /// Writes the result to `out`; `row` has room for a row of products.
    pub(crate) fn evaluate<N: Number>(self, a: &[N], b: &[N], out: &mut [N], row: &mut Vec<N>) {
        match self {
            Self::Product { rows, inner, columns, left_transposed, right_transposed } => {
                let (rows, inner, columns) = (rows as usize, inner as usize, columns as usize);
                for i in 0..rows {
                    for j in 0..columns {
                        let left = |k: usize| if left_transposed { a[k * rows + i] } else { a[i * inner + k] };
                        let right = |k: usize| if right_transposed { b[j * inner + k] } else { b[k * columns + j] };
                        out[i * columns + j] = if inner <= order::FEW {
                            (0..inner).fold(N::from_f64(0.0), |sum, k| sum + left(k) * right(k))
                        } else {
                            row.clear();
                            row.extend((0..inner).map(|k| left(k) * right(k)));
                            order::sum(row)
                        };
                    }
                }
            }
            Self::Cholesky { rows } => cholesky(a, out, rows as usize),
            Self::Solve { rows, columns, transposed } => {
                solve(a, b, out, rows as usize, columns as usize, transposed);
            }
            Self::EigendecomposeSym { rows } => eigen::decompose(a, out, rows as usize),
        }
    }
}

/// A matrix that is not positive definite gives NaNs.
fn cholesky<N: Number>(a: &[N], l: &mut [N], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let mut rest = a[i * n + j];
            for k in 0..j {
                rest = rest - l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
        l[i * n + i + 1..(i + 1) * n].fill(N::from_f64(0.0));
    }
}

fn solve<N: Number>(l: &[N], b: &[N], x: &mut [N], n: usize, columns: usize, transposed: bool) {
    for step in 0..n {
        let i = if transposed { n - 1 - step } else { step };
        for c in 0..columns {
            let mut rest = b[i * columns + c];
            for before in 0..step {
                let k = if transposed { n - 1 - before } else { before };
                let factor = if transposed { l[k * n + i] } else { l[i * n + k] };
                rest = rest - factor * x[k * columns + c];
            }
            x[i * columns + c] = rest / l[i * n + i];
        }
    }
}

/// The shape of a matrix and whether it is used transposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix {
    /// The elements, row by row.
    pub node: NodeId,
    /// Rows as stored.
    pub rows: usize,
    /// Columns as stored.
    pub columns: usize,
    /// Whether the transposed matrix is meant.
    pub transposed: bool,
}

impl Matrix {
    /// Describes a matrix by its elements, row by row.
    pub fn new(node: NodeId, rows: usize, columns: usize) -> Self {
        Self { node, rows, columns, transposed: false }
    }

    /// Returns the transposed matrix.
    pub fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    fn shape(self) -> (usize, usize) {
        if self.transposed { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }
}

impl Graph {
    /// Returns the product of two matrices, row by row; a vector is a matrix of one column.
    pub fn product(&mut self, a: Matrix, b: Matrix) -> NodeId {
        let ((rows, inner), (other, columns)) = (a.shape(), b.shape());
        if inner != other {
            return self.refuse(ProgramError::Lengths { operation: "product", first: inner, second: other });
        }
        if columns == 1 && self.len(a.node) == rows * inner && self.len(b.node) == inner && self.active[b.node.at()] {
            let fewest = if inner <= order::FEW { FEWEST_ROWS } else { FEWEST_ROWS_OF_MANY };
            if inner == 1 {
                return self.mul(a.node, b.node);
            }
            if rows >= fewest && inner <= MOST_COLUMNS && !self.active[a.node.at()] {
                return self.sum_of_columns(a, b.node);
            }
        }
        let op = MatrixOp::Product {
            rows: rows as u32,
            inner: inner as u32,
            columns: columns as u32,
            left_transposed: a.transposed,
            right_transposed: b.transposed,
        };
        self.matrix(op, [(a.node, a.rows, a.columns), (b.node, b.rows, b.columns)], "product")
    }

    /// The product of a matrix of data and a vector as a sum of columns, each times a number: it stays in the loop that
    /// reads it, which threads share, and so do the sums of its slopes.
    fn sum_of_columns(&mut self, a: Matrix, b: NodeId) -> NodeId {
        let mut sum = None;
        for (k, column) in self.columns_of(a).into_iter().enumerate() {
            let (column, factor) = (self.column(column), self.element(b, k));
            let term = self.mul(column, factor);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.add(sum, term),
            });
        }
        sum.unwrap_or(b)
    }

    /// The columns of a matrix of data, made once for all products.
    fn columns_of(&mut self, a: Matrix) -> Vec<Arc<[f64]>> {
        let (rows, inner) = a.shape();
        let Node::Column(data) = self.nodes[a.node.at()] else { return Vec::new() };
        let values = self.columns[data as usize].clone();
        let place = |i: usize, k: usize| if a.transposed { k * rows + i } else { i * inner + k };
        let column = |k: usize| (0..rows).map(|i| values[place(i, k)]).collect();
        let made = self.matrix_columns.entry((data, inner, a.transposed));
        made.or_insert_with(|| (0..inner).map(column).collect()).clone()
    }

    /// Returns L L' of a lower triangle L of `rows` x `rows` with a positive diagonal: its Cholesky factor is L as it is. A
    /// factor of the product would have errors as large as the square of L's condition number.
    pub fn product_of_factor(&mut self, l: NodeId, rows: usize) -> NodeId {
        let product = self.product(Matrix::new(l, rows, rows), Matrix::new(l, rows, rows).t());
        self.factors.insert(product, l);
        product
    }

    /// Returns the Cholesky factor of a symmetric matrix of `rows` x `rows`; its lower triangle is read.
    pub fn cholesky(&mut self, a: NodeId, rows: usize) -> NodeId {
        if let Some(&l) = self.factors.get(&a) {
            return l;
        }
        let op = MatrixOp::Cholesky { rows: rows as u32 };
        self.matrix(op, [(a, rows, rows), (a, rows, rows)], "cholesky")
    }

    /// Returns the matrix X with L X = B, or L' X = B; L is a lower triangle of `rows` x `rows`, B has `columns` columns.
    pub fn solve(&mut self, l: NodeId, b: NodeId, rows: usize, columns: usize, transposed: bool) -> NodeId {
        let op = MatrixOp::Solve { rows: rows as u32, columns: columns as u32, transposed };
        self.matrix(op, [(l, rows, rows), (b, rows, columns)], "solve")
    }

    /// Returns the eigenvectors of a symmetric matrix of `rows` x `rows`, as columns of a matrix, and its eigenvalues, which
    /// ascend; its lower triangle is read.
    ///
    /// The first element of a vector that has at least 0.3 of the largest one's size is positive. Eigenvectors have no
    /// derivative where eigenvalues are equal: they give nothing for each other there. This is right for eigenvalues that
    /// are equal at every point, as long as the result does not depend on which basis of theirs is taken.
    pub fn eigendecompose_sym(&mut self, a: NodeId, rows: usize) -> (NodeId, NodeId) {
        let op = MatrixOp::EigendecomposeSym { rows: rows as u32 };
        let both = self.matrix(op, [(a, rows, rows), (a, rows, rows)], "eigendecompose_sym");
        if self.len(both) != op.length() {
            return (both, both);
        }
        (self.slice(both, rows, rows * rows), self.slice(both, 0, rows))
    }

    /// Returns the diagonal of a matrix of `rows` x `rows`.
    pub fn diagonal(&mut self, a: NodeId, rows: usize) -> NodeId {
        let places: Vec<u32> = (0..rows).map(|i| (i * (rows + 1)) as u32).collect();
        self.gather(a, places)
    }

    fn matrix(&mut self, op: MatrixOp, args: [(NodeId, usize, usize); 2], operation: &'static str) -> NodeId {
        for (node, rows, columns) in args {
            let found = self.len(node);
            if found != rows * columns {
                return self.refuse(ProgramError::Shape { operation, rows, columns, found });
            }
        }
        let nodes = [args[0].0, if op.arity() == 2 { args[1].0 } else { NodeId::NONE }];
        let active = nodes.iter().any(|&node| node != NodeId::NONE && self.active[node.at()]);
        self.intern(Node::Matrix(op, nodes), op.length(), active)
    }

    /// Returns what the adjoint of operand `side` gets of `g`, the adjoint of `out`.
    pub(crate) fn matrix_slope(
        &mut self,
        op: MatrixOp,
        args: [NodeId; 2],
        out: NodeId,
        g: NodeId,
        side: usize,
    ) -> NodeId {
        match op {
            MatrixOp::Product { rows, inner, columns, left_transposed, right_transposed } => {
                let (rows, inner, columns) = (rows as usize, inner as usize, columns as usize);
                let stored = |node, r, c, transposed| {
                    let (rows, columns) = if transposed { (c, r) } else { (r, c) };
                    Matrix { node, rows, columns, transposed }
                };
                let a = stored(args[0], rows, inner, left_transposed);
                let b = stored(args[1], inner, columns, right_transposed);
                let g = Matrix::new(g, rows, columns);
                match (side, left_transposed, right_transposed) {
                    (0, false, _) => self.product(g, b.t()),
                    (0, true, _) => self.product(b, g.t()),
                    (_, _, false) => self.product(a.t(), g),
                    (_, _, true) => self.product(g.t(), a),
                }
            }
            MatrixOp::Cholesky { rows } => self.cholesky_slope(out, g, rows as usize),
            MatrixOp::Solve { rows, columns, transposed } => {
                let (n, columns) = (rows as usize, columns as usize);
                let on_b = self.solve(args[0], g, n, columns, !transposed);
                if side == 1 {
                    return on_b;
                }
                let (x, b) = (Matrix::new(out, n, columns), Matrix::new(on_b, n, columns));
                let product = if transposed { self.product(x, b.t()) } else { self.product(b, x.t()) };
                self.masked(product, n, |i, j| if j <= i { -1.0 } else { 0.0 })
            }
            MatrixOp::EigendecomposeSym { rows } => self.eigendecompose_sym_slope(out, g, rows as usize),
        }
    }

    /// The adjoint of A where A = V diag(w) V': V (diag(G_w) + F o (P - P') / 2) V' with P = V' G_V and
    /// F_ij = 1 / (w_j - w_i), or 0 where the two are equal; Stan divides by 0 there.
    ///
    /// F o P has the same symmetric part. But its elements for near eigenvalues are huge and cancel, and after the products
    /// with V they would not.
    fn eigendecompose_sym_slope(&mut self, out: NodeId, g: NodeId, n: usize) -> NodeId {
        let [(values, vectors), (g_values, g_vectors)] =
            [out, g].map(|both| (self.slice(both, 0, n), self.slice(both, n, n * n)));
        let (v, g_v) = (Matrix::new(vectors, n, n), Matrix::new(g_vectors, n, n));
        let products = self.product(v.t(), g_v);
        let columns: Arc<[u32]> = (0..n * n).map(|k| (k % n) as u32).collect();
        let rows: Arc<[u32]> = (0..n * n).map(|k| (k / n) as u32).collect();
        let (of_column, of_row) = (self.gather(values, columns.clone()), self.gather(values, rows));
        let gaps = self.sub(of_column, of_row);
        let turned = self.transposed(products, n);
        let difference = self.sub(products, turned);
        let shares = self.div(difference, gaps);
        let twice = self.when(gaps, shares);
        let half = self.constant(0.5);
        let off_diagonal = self.mul(half, twice);
        let repeated = self.gather(g_values, columns);
        let diagonal = self.masked(repeated, n, |i, j| if i == j { 1.0 } else { 0.0 });
        let middle = self.add(diagonal, off_diagonal);
        let right = self.product(Matrix::new(middle, n, n), v.t());
        let both = self.product(v, Matrix::new(right, n, n));
        self.on_lower_triangle(both, n)
    }

    /// The adjoint of A where A = L L': L'^-1 P(L' G) L^-1, made symmetric; P halves the diagonal of the lower triangle.
    /// Only the lower triangle of A is read, which gets all of it.
    fn cholesky_slope(&mut self, l: NodeId, g: NodeId, n: usize) -> NodeId {
        let lower = self.masked(g, n, |i, j| if j <= i { 1.0 } else { 0.0 });
        let (l_matrix, lower) = (Matrix::new(l, n, n), Matrix::new(lower, n, n));
        let product = self.product(l_matrix.t(), lower);
        let halved = self.masked(product, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        });
        let left = self.solve(l, halved, n, n, true);
        let left = self.transposed(left, n);
        let both = self.solve(l, left, n, n, true);
        self.on_lower_triangle(both, n)
    }

    /// The adjoint of a lower triangle that stands for a symmetric matrix with the adjoint `both`.
    fn on_lower_triangle(&mut self, both: NodeId, n: usize) -> NodeId {
        let turned = self.transposed(both, n);
        let sum = self.add(both, turned);
        self.masked(sum, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
    }

    fn masked(&mut self, a: NodeId, n: usize, weight: impl Fn(usize, usize) -> f64) -> NodeId {
        let weights: Vec<f64> = (0..n * n).map(|k| weight(k / n, k % n)).collect();
        let weights = self.column(weights);
        self.mul(weights, a)
    }

    fn transposed(&mut self, a: NodeId, n: usize) -> NodeId {
        let places: Vec<u32> = (0..n * n).map(|k| ((k % n) * n + k / n) as u32).collect();
        self.gather(a, places)
    }
}
