//! Linear algebra: solutions of equations, inverses, determinants, decompositions, quadratic forms.
//!
//! Systems are solved by an orthogonal decomposition that is unrolled, column by column, so that it needs no pivots and has
//! slopes. Singular values and exponentials are for data.

use super::arrays::shape;
use super::{Arguments, Plain, dense};
use crate::constrained;
use crate::interpreter::nodes::elements_of;
use crate::interpreter::{Interpreter, Run, wrong};
use crate::value::{Element, Tensor, Value};
use octopus_program::Op;
use octopus_stan::{BaseType, Span, StanType};

impl Interpreter<'_> {
    pub(super) fn square(&self, x: &Tensor, span: Span) -> Run<usize> {
        let (rows, columns) = shape(x, span)?;
        if rows != columns {
            return wrong(span, format!("it takes a square matrix, and this one has sizes {rows} x {columns}"));
        }
        Ok(rows)
    }

    /// A as Q R: columns of length 1 that are at right angles, and an upper triangle with a positive diagonal.
    fn orthogonal(&mut self, a: &Tensor, span: Span) -> Run<(Tensor, Tensor)> {
        let (rows, columns) = shape(a, span)?;
        if rows < columns {
            return wrong(span, format!("{rows} x {columns}: it needs at least as many rows as columns"));
        }
        self.work(rows.saturating_mul(columns).saturating_mul(columns).saturating_mul(4), span)?;
        let mut q: Vec<Tensor> = Vec::with_capacity(columns);
        let mut r = vec![Element::Known(0.0); columns * columns];
        for j in 0..columns {
            let places = (0..rows).map(|i| (i * columns + j) as u32).collect();
            let elements = self.pick(&a.elements, places);
            let mut left = Tensor::new(StanType::VECTOR, vec![rows], false, elements);
            let mut parts: Vec<Tensor> = Vec::with_capacity(j);
            // Twice is enough: the second time takes away what rounding left.
            for turn in 0..2 {
                for (k, before) in q.iter().enumerate() {
                    let part = self.dot(before, &left, span)?;
                    let along = self.mul(&part, before, span)?;
                    left = self.sub(&left, &along, span)?;
                    if turn == 0 {
                        parts.push(part);
                    } else {
                        parts[k] = self.add(&parts[k], &part, span)?;
                    }
                }
            }
            let square = self.dot(&left, &left, span)?;
            let norm = self.apply(Op::Sqrt, &[square], span)?;
            q.push(self.div(&left, &norm, span)?);
            parts.push(norm);
            for (k, part) in parts.iter().enumerate() {
                r[k * columns + j] = self.single(part);
            }
        }
        let q: Vec<Element> = (0..rows * columns).map(|k| q[k % columns].elements.at(k / columns)).collect();
        let q = Tensor::new(StanType::MATRIX, vec![rows, columns], false, elements_of(q));
        Ok((q, Tensor::new(StanType::MATRIX, vec![columns, columns], false, elements_of(r))))
    }

    /// The only element of a scalar.
    fn single(&mut self, x: &Tensor) -> Element {
        match x.elements.at(0) {
            Element::Of(node, place) if self.graph.len(node) > 1 => {
                Element::Of(self.graph.element(node, place as usize), 0)
            }
            element => element,
        }
    }

    /// X with A X = B.
    pub(crate) fn left_divided(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        let n = self.square(a, span)?;
        if b.dims.first() != Some(&n) {
            return wrong(span, format!("a matrix of {n} rows, and {:?} on the other side", b.dims));
        }
        let (q, r) = self.orthogonal(a, span)?;
        let (q, l) = (self.transpose(&q), self.transpose(&r));
        let right = self.product(&q, b, span)?;
        self.solve_lower(&l, &right, true, span)
    }

    /// X with X A = B.
    pub(crate) fn right_divided(&mut self, b: &Tensor, a: &Tensor, span: Span) -> Run<Tensor> {
        let (a, right) = (self.transpose(a), self.transpose(b));
        let solution = self.left_divided(&a, &right, span)?;
        Ok(self.transpose(&solution))
    }

    /// X with A X = B for a symmetric A that is positive definite.
    fn left_divided_spd(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        let n = self.square(a, span)?;
        if b.dims.first() != Some(&n) {
            return wrong(span, format!("a matrix of {n} rows, and {:?} on the other side", b.dims));
        }
        let l = self.cholesky(a, span)?;
        let half = self.solve_lower(&l, b, false, span)?;
        self.solve_lower(&l, &half, true, span)
    }

    /// Demands that a matrix is symmetric: else it is an error where it is known, and a rejection at points where it is not.
    fn demand_symmetric(&mut self, x: &Tensor, n: usize, span: Span) -> Run<()> {
        if let Some(values) = x.known() {
            return constrained::asymmetry(values, n)
                .map_or(Ok(()), |reason| wrong(span, format!("the matrix {reason}")));
        }
        if !self.rejections_guard {
            return wrong(span, "whether the matrix is symmetric is known on a draw only");
        }
        let mirrored = self.transpose(x);
        let difference = self.sub(x, &mirrored, span)?;
        let size = self.apply(Op::Abs, &[difference], span)?;
        let is_near = self.apply(Op::Less, &[size, Tensor::number(constrained::TOLERANCE)], span)?;
        let node = self.node(&is_near);
        let place = self.program.place(span);
        self.graph
            .guard(node, &format!("the matrix is not symmetric ({}:{}:{})", place.file, place.line, place.column));
        Ok(())
    }

    /// The eigenvectors of a symmetric matrix, as columns, and its eigenvalues.
    fn eigendecompose_sym(&mut self, x: &Tensor, span: Span) -> Run<(Tensor, Tensor)> {
        let n = self.square(x, span)?;
        self.demand_symmetric(x, n, span)?;
        self.work(n.saturating_mul(n).saturating_mul(n).saturating_mul(10), span)?;
        let node = self.node(x);
        let (vectors, values) = self.graph.eigendecompose_sym(node, n);
        let vectors = self.made(vectors, StanType::MATRIX, vec![n, n]);
        Ok((vectors, self.made(values, StanType::VECTOR, vec![n])))
    }

    fn identity(&mut self, n: usize, span: Span) -> Run<Tensor> {
        self.room(&[n, n], span)?;
        let values = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
        Ok(Tensor::data(StanType::MATRIX, vec![n, n], values))
    }

    fn diagonal_of(&mut self, x: &Tensor, span: Span) -> Run<Tensor> {
        let (rows, columns) = shape(x, span)?;
        let places: Vec<u32> = (0..rows.min(columns)).map(|k| (k * columns + k) as u32).collect();
        let (count, elements) = (places.len(), self.pick(&x.elements, places));
        Ok(Tensor::new(StanType::VECTOR, vec![count], false, elements))
    }

    /// The sum of the logarithms of a diagonal.
    fn log_of_diagonal(&mut self, x: &Tensor, span: Span) -> Run<Tensor> {
        let diagonal = self.diagonal_of(x, span)?;
        let logs = self.apply(Op::Ln, &[diagonal], span)?;
        Ok(self.sum_of(&logs))
    }

    /// B' A B.
    fn quadratic_form(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Run<Tensor> {
        let turned = self.transpose(b);
        let right = self.product(a, b, span)?;
        self.product(&turned, &right, span)
    }

    /// The sum over the columns of each row, for products of two matrices.
    fn row_sums(&mut self, x: &Tensor, span: Span) -> Run<Tensor> {
        let (rows, columns) = shape(x, span)?;
        let ones = Tensor::data(StanType::VECTOR, vec![columns], vec![1.0; columns]);
        let sums = self.product(x, &ones, span)?;
        debug_assert_eq!(sums.count(), rows);
        Ok(sums)
    }
}

/// Products of two arguments, summed over rows or over columns.
fn summed_products(me: &mut Interpreter<'_>, a: &Arguments, second: usize, over_rows: bool) -> Run<Value> {
    let products = me.mul(&a.tensor(me, 0), &a.tensor(me, second), a.span)?;
    let base = a.types[0].base;
    let value = match (base, over_rows) {
        (BaseType::Matrix, true) => {
            let turned = me.transpose(&products.with_type(StanType::MATRIX));
            me.row_sums(&turned, a.span)?
        }
        (BaseType::Matrix, false) => me.row_sums(&products.with_type(StanType::MATRIX), a.span)?,
        // A vector is one column, and a row vector one row.
        (BaseType::Vector, false) | (BaseType::RowVector, true) => products,
        _ => Tensor { dims: vec![1], ..me.sum_of(&products) },
    };
    Ok(value.with_type(a.ty).into())
}

/// The numbers of a square matrix that depends on no parameter.
fn known_square(me: &mut Interpreter<'_>, a: &Arguments) -> Run<(usize, Vec<f64>)> {
    let (n, values) = known_matrix(me, a)?;
    if n.0 != n.1 {
        return wrong(a.span, format!("it takes a square matrix, and this one has sizes {} x {}", n.0, n.1));
    }
    Ok((n.0, values))
}

fn known_matrix(me: &mut Interpreter<'_>, a: &Arguments) -> Run<((usize, usize), Vec<f64>)> {
    let x = a.tensor(me, 0);
    let (rows, columns) = shape(&x, a.span)?;
    let longest = rows.max(columns);
    // Jacobi's method and exponentials take tens of times the cube.
    me.work(longest.saturating_mul(longest).saturating_mul(longest).saturating_mul(50), a.span)?;
    match x.known() {
        Some(values) => Ok(((rows, columns), values.to_vec())),
        None => wrong(a.span, "this function of a matrix of parameters is not supported yet; of data it is"),
    }
}

fn matrix(rows: usize, columns: usize, values: Vec<f64>) -> Run<Value> {
    Ok(Tensor::data(StanType::MATRIX, vec![rows, columns], values).into())
}

/// U and V of a matrix of any shape, and its singular values.
fn singular(me: &mut Interpreter<'_>, a: &Arguments) -> Run<(Value, Value, Value)> {
    let ((rows, columns), values) = known_matrix(me, a)?;
    let is_wide = rows < columns;
    let (tall, flat) = if is_wide { (columns, rows) } else { (rows, columns) };
    let values =
        if is_wide { (0..rows * columns).map(|k| values[k % rows * columns + k / rows]).collect() } else { values };
    let (u, s, v) = dense::singular(tall, flat, values);
    let (u, v) = (matrix(tall, flat, u)?, matrix(flat, flat, v)?);
    let s = Tensor::data(StanType::VECTOR, vec![flat], s).into();
    Ok(if is_wide { (v, s, u) } else { (u, s, v) })
}

/// X with L X = B, or X L = B, for a lower triangle L.
fn triangular(me: &mut Interpreter<'_>, a: &Arguments, is_left: bool) -> Run<Value> {
    let (l, b) = (a.tensor(me, usize::from(!is_left)), a.tensor(me, usize::from(is_left)));
    let n = me.square(&l, a.span)?;
    let b = if is_left { b } else { me.transpose(&b) };
    if b.dims.first() != Some(&n) {
        return wrong(a.span, format!("a triangle of {n} rows, and {:?} on the other side", b.dims));
    }
    let solution = me.solve_lower(&l, &b, !is_left, a.span)?;
    let solution = if is_left { solution } else { me.transpose(&solution) };
    Ok(solution.with_type(a.ty).into())
}

fn determinant(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let x = a.tensor(me, 0);
    let n = me.square(&x, a.span)?;
    if x.known().is_some() {
        let (n, values) = known_square(me, a)?;
        return Ok(Value::Real(dense::determinant(n, values)));
    }
    if n > 3 {
        return wrong(
            a.span,
            "the determinant of more than 3 x 3 parameters is not supported yet; `log_determinant` is, of any size",
        );
    }
    let at = |k: usize| Tensor::new(StanType::REAL, Vec::new(), false, elements_of(vec![x.elements.at(k)]));
    let two = |me: &mut Interpreter<'_>, [i, j, k, l]: [usize; 4]| {
        let (first, second) = (me.mul(&at(i), &at(j), a.span)?, me.mul(&at(k), &at(l), a.span)?);
        me.sub(&first, &second, a.span)
    };
    Ok(match n {
        0 => Tensor::number(1.0),
        1 => at(0),
        2 => two(me, [0, 3, 1, 2])?,
        _ => {
            let mut sum = Tensor::number(0.0);
            for (first, minor) in [(0, [4, 8, 5, 7]), (1, [5, 6, 3, 8]), (2, [3, 7, 4, 6])] {
                let minor = two(me, minor)?;
                let term = me.mul(&at(first), &minor, a.span)?;
                sum = me.add(&sum, &term, a.span)?;
            }
            sum
        }
    }
    .into())
}

/// The function of a name; its arguments have no lanes.
pub(super) fn linear(name: &str) -> Option<Plain> {
    Some(match name {
        "mdivide_left" => {
            |me, a| Ok(me.left_divided(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.with_type(a.ty).into())
        }
        "mdivide_right" => {
            |me, a| Ok(me.right_divided(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.with_type(a.ty).into())
        }
        "mdivide_left_spd" => {
            |me, a| Ok(me.left_divided_spd(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.with_type(a.ty).into())
        }
        "mdivide_right_spd" => |me, a| {
            let right = me.transpose(&a.tensor(me, 0));
            let solution = me.left_divided_spd(&a.tensor(me, 1), &right, a.span)?;
            Ok(me.transpose(&solution).with_type(a.ty).into())
        },
        "mdivide_left_tri_low" => |me, a| triangular(me, a, true),
        "mdivide_right_tri_low" => |me, a| triangular(me, a, false),
        "inverse" => |me, a| {
            let x = a.tensor(me, 0);
            let n = me.square(&x, a.span)?;
            let unit = me.identity(n, a.span)?;
            Ok(me.left_divided(&x, &unit, a.span)?.into())
        },
        "inverse_spd" => |me, a| {
            let x = a.tensor(me, 0);
            let n = me.square(&x, a.span)?;
            let unit = me.identity(n, a.span)?;
            Ok(me.left_divided_spd(&x, &unit, a.span)?.into())
        },
        "chol2inv" => |me, a| {
            let l = a.tensor(me, 0);
            let n = me.square(&l, a.span)?;
            let unit = me.identity(n, a.span)?;
            let half = me.solve_lower(&l, &unit, false, a.span)?;
            Ok(me.solve_lower(&l, &half, true, a.span)?.into())
        },
        "determinant" => determinant,
        "log_determinant" => |me, a| {
            let x = a.tensor(me, 0);
            me.square(&x, a.span)?;
            let (_, r) = me.orthogonal(&x, a.span)?;
            Ok(me.log_of_diagonal(&r, a.span)?.into())
        },
        "log_determinant_spd" => |me, a| {
            let x = a.tensor(me, 0);
            me.square(&x, a.span)?;
            let l = me.cholesky(&x, a.span)?;
            let half = me.log_of_diagonal(&l, a.span)?;
            Ok(me.mul(&Tensor::number(2.0), &half, a.span)?.into())
        },
        "qr_thin_Q" => |me, a| Ok(me.orthogonal(&a.tensor(me, 0), a.span)?.0.into()),
        "qr_thin_R" => |me, a| Ok(me.orthogonal(&a.tensor(me, 0), a.span)?.1.into()),
        "trace" => |me, a| {
            let diagonal = me.diagonal_of(&a.tensor(me, 0), a.span)?;
            Ok(me.sum_of(&diagonal).into())
        },
        "quad_form" => |me, a| Ok(me.quadratic_form(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.into()),
        "quad_form_sym" => |me, a| {
            let form = me.quadratic_form(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?;
            if form.is_scalar() {
                return Ok(form.into());
            }
            let turned = me.transpose(&form);
            let sum = me.add(&form, &turned, a.span)?;
            Ok(me.mul(&Tensor::number(0.5), &sum, a.span)?.into())
        },
        "trace_quad_form" => |me, a| {
            let form = me.quadratic_form(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?;
            if form.is_scalar() {
                return Ok(form.into());
            }
            let diagonal = me.diagonal_of(&form, a.span)?;
            Ok(me.sum_of(&diagonal).into())
        },
        "trace_gen_quad_form" => |me, a| {
            let form = me.quadratic_form(&a.tensor(me, 1), &a.tensor(me, 2), a.span)?;
            let product = me.product(&a.tensor(me, 0), &form, a.span)?;
            let diagonal = me.diagonal_of(&product, a.span)?;
            Ok(me.sum_of(&diagonal).into())
        },
        "symmetrize_from_lower_tri" => |me, a| {
            let x = a.tensor(me, 0);
            let n = me.square(&x, a.span)?;
            let places = (0..n * n).map(|k| ((k / n).max(k % n) * n + (k / n).min(k % n)) as u32).collect();
            let elements = me.pick(&x.elements, places);
            Ok(Tensor::new(a.ty, vec![n, n], false, elements).into())
        },
        "rows_dot_product" => |me, a| summed_products(me, a, 1, false),
        "rows_dot_self" => |me, a| summed_products(me, a, 0, false),
        "columns_dot_product" => |me, a| summed_products(me, a, 1, true),
        "columns_dot_self" => |me, a| summed_products(me, a, 0, true),
        "matrix_power" => |me, a| {
            let (x, mut rest) = (a.tensor(me, 0), a.size_at(me, 1)?);
            let n = me.square(&x, a.span)?;
            let (mut power, mut square) = (me.identity(n, a.span)?, x);
            while rest > 0 {
                if rest % 2 == 1 {
                    power = me.product(&power, &square, a.span)?;
                }
                rest /= 2;
                if rest > 0 {
                    square = me.product(&square, &square, a.span)?;
                }
            }
            Ok(power.into())
        },
        "matrix_exp" => |me, a| {
            let (n, values) = known_square(me, a)?;
            matrix(n, n, dense::exponential(n, &values))
        },
        "matrix_exp_multiply" => |me, a| {
            let (n, values) = known_square(me, a)?;
            let power = Tensor::data(StanType::MATRIX, vec![n, n], dense::exponential(n, &values));
            Ok(me.product(&power, &a.tensor(me, 1), a.span)?.into())
        },
        "eigenvalues_sym" => |me, a| Ok(me.eigendecompose_sym(&a.tensor(me, 0), a.span)?.1.into()),
        "eigenvectors_sym" => |me, a| Ok(me.eigendecompose_sym(&a.tensor(me, 0), a.span)?.0.into()),
        "singular_values" => |me, a| Ok(singular(me, a)?.1),
        "svd_U" => |me, a| Ok(singular(me, a)?.0),
        "svd_V" => |me, a| Ok(singular(me, a)?.2),
        _ => return None,
    })
}
