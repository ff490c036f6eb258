//! Stan's transforms of unconstrained coordinates to parameters, with the logarithms of their Jacobians, in Stan's order
//! of coordinates: arrays row by row, matrices column by column.

mod factors;

use crate::interpreter::{Interpreter, Run, wrong};
use crate::value::{Element, Elements, Tensor, Value};
use factors::{cholesky_corr, cholesky_cov, corr, cov};
use octopus_program::{Matrix, NodeId, Op, ScanStep};
use octopus_stan::{BaseType, Constraint, Declaration, Expression, Span, StanType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Vectors of more elements than these are transformed by operations on whole vectors, not element by element.
const LONG: usize = 32;

/// A parameter's value, made of new coordinates.
pub(crate) fn parameter(me: &mut Interpreter<'_>, declaration: &Declaration, span: Span) -> Run<Value> {
    let ty = me.program.variables[declaration.variable.0].ty;
    let dims = me.sizes_of(declaration)?;
    let (arrays, inner) = dims.split_at(usize::from(ty.arrays));
    let copies: usize = arrays.iter().product();
    let length: usize = inner.iter().product();
    let elements = match &declaration.constraint {
        Constraint::None
        | Constraint::Lower(_)
        | Constraint::Upper(_)
        | Constraint::LowerUpper(..)
        | Constraint::Affine { .. } => {
            let free = free(me, ty, copies, inner);
            let free = Tensor::new(ty, dims.clone(), false, free);
            return Ok(bounded(me, &declaration.constraint, free, span)?.with_type(ty).into());
        }
        Constraint::Ordered | Constraint::PositiveOrdered => {
            let is_positive = matches!(declaration.constraint, Constraint::PositiveOrdered);
            ordered(me, copies, length, is_positive)
        }
        Constraint::Simplex => simplexes(me, copies, length),
        Constraint::ColumnStochastic => {
            // The coordinates stand column after column, as the simplexes do.
            let (rows, columns) = (inner[0], inner[1]);
            let simplexes = simplexes(me, copies * columns, rows);
            let at = |k: usize| (k / length * columns + k % columns) * rows + k / columns % rows;
            Elements::Mixed(Arc::new((0..copies * length).map(|k| simplexes.at(at(k))).collect()))
        }
        Constraint::RowStochastic => {
            let (rows, columns) = (inner[0], inner[1]);
            match free(me, ty, copies, &[rows, columns.saturating_sub(1)]) {
                Elements::Whole(node) => simplex(me, node, copies * rows, columns),
                _ => simplexes(me, copies * rows, columns),
            }
        }
        Constraint::SumToZero if length == 0 => return wrong(span, "it must have at least one element"),
        Constraint::SumToZero if ty.base == BaseType::Matrix => {
            each(me, copies, |me| sum_to_zero_matrix(me, inner[0], inner[1]))
        }
        Constraint::SumToZero if length == 1 || copies == 0 => Elements::Data(vec![0.0; copies * length].into()),
        Constraint::SumToZero => {
            let free = me.graph.parameter(copies * (length - 1));
            Elements::Whole(sum_to_zero(me, free, copies, length))
        }
        Constraint::UnitVector => each(me, copies, |me| unit_vector(me, length)),
        Constraint::CholeskyCorr => each(me, copies, |me| cholesky_corr(me, inner[0])),
        Constraint::Corr => each(me, copies, |me| corr(me, inner[0])),
        Constraint::Cov => each(me, copies, |me| cov(me, inner[0])),
        Constraint::CholeskyCov => {
            let (rows, columns) = (inner[0], inner[1]);
            if rows < columns {
                return wrong(
                    span,
                    format!("a Cholesky factor has at least as many rows as columns, not {rows} x {columns}"),
                );
            }
            each(me, copies, |me| cholesky_cov(me, rows, columns))
        }
    };
    Ok(Tensor::new(ty, dims, false, elements).into())
}

/// Free coordinates with the last index fastest.
fn free(me: &mut Interpreter<'_>, ty: StanType, copies: usize, inner: &[usize]) -> Elements {
    let length: usize = inner.iter().product();
    if copies * length == 0 {
        return Elements::Data(Vec::new().into());
    }
    let node = me.graph.parameter(copies * length);
    if ty.base != BaseType::Matrix {
        return Elements::Whole(node);
    }
    let order = crate::shape::columns_to_rows(inner);
    let places = (0..copies).flat_map(|copy| order.iter().map(move |&k| (copy * length + k) as u32)).collect();
    Elements::Whole(me.gather(node, places))
}

/// Bounds, or an offset and a multiplier.
fn bounded(me: &mut Interpreter<'_>, constraint: &Constraint, x: Tensor, span: Span) -> Run<Tensor> {
    let bound = |me: &mut Interpreter<'_>, expression: &Expression| {
        let value = me.expression(expression)?;
        let tensor = me.tensor(&value);
        if !tensor.is_scalar() && tensor.dims != x.dims {
            return wrong(expression.span, format!("sizes {:?} where {:?} are needed", tensor.dims, x.dims));
        }
        Ok(tensor)
    };
    let (lower, upper) = match constraint {
        Constraint::Lower(lower) => (Some(bound(me, lower)?), None),
        Constraint::Upper(upper) => (None, Some(bound(me, upper)?)),
        Constraint::LowerUpper(lower, upper) => (Some(bound(me, lower)?), Some(bound(me, upper)?)),
        Constraint::Affine { offset, multiplier } => {
            let offset = offset.as_ref().map(|offset| bound(me, offset)).transpose()?.unwrap_or(Tensor::number(0.0));
            let multiplier = multiplier.as_ref().map(|by| bound(me, by)).transpose()?.unwrap_or(Tensor::number(1.0));
            let known = |tensor: &Tensor| tensor.known().unwrap_or_default().to_vec();
            if let Some(x) = known(&offset).into_iter().find(|x| !x.is_finite()) {
                return wrong(span, format!("the offset is {x}; it must be finite"));
            }
            if let Some(x) = known(&multiplier).into_iter().find(|&x| !(x > 0.0 && x.is_finite())) {
                return wrong(span, format!("the multiplier is {x}; it must be above 0 and finite"));
            }
            let [free, offset, multiplier] = [&x, &offset, &multiplier].map(|tensor| me.node(tensor));
            let (value, jacobian) = me.graph.offset_and_multiplied(free, offset, multiplier);
            let jacobian = me.graph.sum_of_rows(jacobian, x.count());
            me.target.push(jacobian);
            return Ok(Tensor { elements: Elements::Whole(value), ..x });
        }
        _ => (None, None),
    };
    between(me, x, [lower, upper], span)
}

/// Numbers between a lower and an upper bound. Bounds of elements may be infinite, as data say.
fn between(me: &mut Interpreter<'_>, x: Tensor, bounds: [Option<Tensor>; 2], span: Span) -> Run<Tensor> {
    let known = |bound: &Option<Tensor>, k: usize, none: f64| {
        let values = bound.as_ref().map_or(Some(&[][..]), |tensor| tensor.known())?;
        Some(if values.len() == 1 { values[0] } else { values.get(k).copied().unwrap_or(none) })
    };
    if x.count() == 0 || bounds.iter().all(Option::is_none) {
        return Ok(x);
    }
    let differ = bounds.iter().flatten().filter_map(Tensor::known).any(|values| values.len() > 1);
    // Elements by which of their bounds count: what depends on parameters does.
    let mut alike: BTreeMap<[bool; 2], Vec<u32>> = BTreeMap::new();
    for k in 0..if differ { x.count() } else { 1 } {
        let (lower, upper) = (known(&bounds[0], k, f64::NEG_INFINITY), known(&bounds[1], k, f64::INFINITY));
        let [low, high] = [lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)];
        if low.is_nan() || high.is_nan() || low >= high {
            return wrong(span, format!("no number is above the lower bound {low} and below the upper bound {high}"));
        }
        alike.entry([lower, upper].map(|bound| bound.is_none_or(f64::is_finite))).or_default().push(k as u32);
    }
    let free = me.node(&x);
    let mut elements = vec![Element::Known(f64::NAN); x.count()];
    let is_one_kind = alike.len() == 1;
    for (counts, places) in alike {
        let part = |me: &mut Interpreter<'_>, node: NodeId| {
            if is_one_kind || me.graph.len(node) == 1 { node } else { me.gather(node, places.clone()) }
        };
        let own = part(me, free);
        let limit = |me: &mut Interpreter<'_>, side: usize| {
            let bound = bounds[side].as_ref().filter(|_| counts[side])?;
            let node = me.node(bound);
            Some(part(me, node))
        };
        let (lower, upper) = (limit(me, 0), limit(me, 1));
        let value = if lower.is_none() && upper.is_none() {
            own
        } else {
            let (value, jacobian) = me.graph.bounded(own, lower, upper);
            if let Some(jacobian) = jacobian {
                let count = if is_one_kind { x.count() } else { places.len() };
                let jacobian = me.graph.sum_of_rows(jacobian, count);
                me.target.push(jacobian);
            }
            value
        };
        if is_one_kind {
            return Ok(Tensor { elements: Elements::Whole(value), ..x });
        }
        for (at, place) in places.into_iter().enumerate() {
            elements[place as usize] = Element::Of(value, at as u32);
        }
    }
    Ok(Tensor { elements: Elements::Mixed(elements.into()), ..x })
}

/// Column k of vectors that stand one after the other.
fn column(me: &mut Interpreter<'_>, node: NodeId, copies: usize, length: usize, k: usize) -> NodeId {
    let places = (0..copies).map(|copy| (copy * length + k) as u32).collect();
    me.gather(node, places)
}

fn add(me: &mut Interpreter<'_>, node: NodeId) {
    let sum = me.graph.sum(node);
    me.target.push(sum);
}

/// The elements of columns, vector after vector.
fn interleaved(columns: &[NodeId], copies: usize) -> Elements {
    let all: Vec<Element> =
        (0..copies).flat_map(|copy| columns.iter().map(move |&column| Element::Of(column, copy as u32))).collect();
    Elements::Mixed(all.into())
}

fn ordered(me: &mut Interpreter<'_>, copies: usize, length: usize, is_positive: bool) -> Elements {
    if copies * length == 0 {
        return Elements::Data(Vec::new().into());
    }
    if length > LONG.max(copies) {
        return each(me, copies, |me| long_ordered(me, length, is_positive));
    }
    let node = me.graph.parameter(copies * length);
    let mut columns: Vec<NodeId> = Vec::new();
    for k in 0..length {
        let x = column(me, node, copies, length, k);
        let value = match columns.last() {
            None if !is_positive => x,
            before => {
                let before = before.copied();
                add(me, x);
                let e = me.graph.exp(x);
                before.map_or(e, |before| me.graph.add(before, e))
            }
        };
        columns.push(value);
    }
    interleaved(&columns, copies)
}

/// A long ordered vector: a scan sums what its elements rise by.
fn long_ordered(me: &mut Interpreter<'_>, length: usize, is_positive: bool) -> NodeId {
    let x = me.graph.parameter(length);
    let (first, rises) = (me.graph.element(x, 0), me.graph.slice(x, 1, length - 1));
    add(me, if is_positive { x } else { rises });
    let first = if is_positive { me.graph.exp(first) } else { first };
    let rises = me.graph.exp(rises);
    let mut sums = me.graph.scan(length - 1, &[first], &[rises], |body, sum, rise| {
        let sum = body.add(sum[0], rise[0]);
        ScanStep { next: vec![sum], outputs: vec![sum] }
    });
    sums.insert(0, first);
    me.graph.concat(&sums)
}

/// Vectors whose sum is 0: an orthonormal map of one coordinate less.
fn sum_to_zero(me: &mut Interpreter<'_>, node: NodeId, copies: usize, length: usize) -> NodeId {
    if length > LONG {
        return long_sum_to_zero(me, node, copies, length);
    }
    let free = length - 1;
    let weights: Vec<f64> = (0..free)
        .flat_map(|j| {
            let j1 = (j + 1) as f64;
            let weight = 1.0 / (j1 * (j1 + 1.0)).sqrt();
            (0..length).map(move |i| match i.cmp(&(j + 1)) {
                std::cmp::Ordering::Less => weight,
                std::cmp::Ordering::Equal => -j1 * weight,
                std::cmp::Ordering::Greater => 0.0,
            })
        })
        .collect();
    let weights = me.column(&weights.into());
    me.graph.product(Matrix::new(node, copies, free), Matrix::new(weights, free, length))
}

/// The same for long vectors, by sums in place of a matrix of all weights. Coordinate j has weight w_j = 1 / sqrt(j (j + 1)),
/// and with y = w x element i is the sum of y_j over j > i, less i y_i, where i counts from 0 and j from 1.
fn long_sum_to_zero(me: &mut Interpreter<'_>, node: NodeId, copies: usize, length: usize) -> NodeId {
    let free = length - 1;
    let weights = (0..copies * free).map(|k| (k % free + 1) as f64).map(|j| 1.0 / (j * (j + 1.0)).sqrt());
    let weights = me.column(&weights.collect());
    let y = me.graph.mul(node, weights);
    let zero = me.graph.constant(0.0);
    let y_or_zero = me.graph.concat(&[y, zero]);
    let zero_at = (copies * free) as u32;
    // Sums to the end: inside of blocks, and of the blocks behind.
    let width = (1..length).find(|width| width * width >= length).unwrap_or(1);
    let blocks = length.div_ceil(width);
    let padded = (0..copies)
        .flat_map(|copy| (0..blocks * width).map(move |i| if i < free { (copy * free + i) as u32 } else { zero_at }));
    let padded = padded.collect();
    let padded = me.gather(y_or_zero, padded);
    let ones = |me: &mut Interpreter<'_>, size: usize, is_one: fn(usize, usize) -> bool| {
        let values = (0..size * size).map(|k| f64::from(u8::from(is_one(k / size, k % size))));
        Matrix::new(me.column(&values.collect()), size, size)
    };
    let from_here = ones(me, width, |j, i| j >= i);
    let inside = me.graph.product(Matrix::new(padded, copies * blocks, width), from_here);
    let totals = column(me, inside, copies * blocks, width, 0);
    let behind = ones(me, blocks, |j, i| j > i);
    let behind = me.graph.product(Matrix::new(totals, copies, blocks), behind);
    let each = |place: &dyn Fn(usize, usize) -> u32| -> Vec<u32> {
        (0..copies * length).map(|k| place(k / length, k % length)).collect()
    };
    let inside = me.gather(inside, each(&|copy, i| (copy * blocks * width + i) as u32));
    let behind = me.gather(behind, each(&|copy, i| (copy * blocks + i / width) as u32));
    let before = me.gather(y_or_zero, each(&|copy, i| if i == 0 { zero_at } else { (copy * free + i - 1) as u32 }));
    let counts: Vec<f64> = (0..copies * length).map(|k| (k % length) as f64).collect();
    let counts = me.column(&counts.into());
    let spent = me.graph.mul(counts, before);
    let sums = me.graph.add(inside, behind);
    me.graph.sub(sums, spent)
}

/// A matrix whose rows and columns sum to 0: an orthonormal map of one row and one column less, from both sides.
fn sum_to_zero_matrix(me: &mut Interpreter<'_>, rows: usize, columns: usize) -> NodeId {
    if rows == 1 || columns == 1 {
        return me.graph.column(vec![0.0; rows * columns]);
    }
    let inner = [rows - 1, columns - 1];
    let coordinates = me.graph.parameter(inner[0] * inner[1]);
    let order = crate::shape::columns_to_rows(&inner).into_iter().map(|k| k as u32).collect();
    let x = me.gather(coordinates, order);
    let mut map = |n: usize| {
        let weights: Vec<f64> = (0..n)
            .flat_map(|i| {
                (0..n - 1).map(move |k| {
                    let k1 = (k + 1) as f64;
                    let weight = 1.0 / (k1 * (k1 + 1.0)).sqrt();
                    match i.cmp(&k) {
                        std::cmp::Ordering::Equal => k1 * weight,
                        std::cmp::Ordering::Greater if i + 1 < n => 0.0,
                        _ => -weight,
                    }
                })
            })
            .collect();
        Matrix::new(me.column(&weights.into()), n, n - 1)
    };
    let (left, right) = (map(rows), map(columns));
    let half = me.graph.product(left, Matrix::new(x, inner[0], inner[1]));
    me.graph.product(Matrix::new(half, rows, inner[1]), right.t())
}

/// Simplexes of new coordinates.
fn simplexes(me: &mut Interpreter<'_>, copies: usize, length: usize) -> Elements {
    if length <= 1 || copies == 0 {
        return Elements::Data(vec![1.0; copies * length].into());
    }
    let free = me.graph.parameter(copies * (length - 1));
    simplex(me, free, copies, length)
}

/// Stan's isometric log ratios, since 2.37: a vector whose sum is 0, then softmax.
fn simplex(me: &mut Interpreter<'_>, free: NodeId, copies: usize, length: usize) -> Elements {
    let z = sum_to_zero(me, free, copies, length);
    if length > LONG {
        return long_softmax(me, z, copies, length);
    }
    let columns: Vec<NodeId> = (0..length).map(|k| column(me, z, copies, length, k)).collect();
    let mut total = columns[0];
    for &column in &columns[1..] {
        total = me.graph.apply(Op::LogSumExp, &[total, column]);
    }
    add_simplex_jacobian(me, total, copies, length);
    let values: Vec<NodeId> = columns
        .into_iter()
        .map(|column| {
            let log = me.graph.sub(column, total);
            me.graph.exp(log)
        })
        .collect();
    interleaved(&values, copies)
}

/// Softmax of long vectors: the elements of all vectors are one vector here.
fn long_softmax(me: &mut Interpreter<'_>, z: NodeId, copies: usize, length: usize) -> Elements {
    let of_copy: Vec<u32> = (0..copies * length).map(|k| (k / length) as u32).collect();
    let most = me.largest_of_rows(z, copies, length);
    // It is a number here, without a slope of its own.
    let most = me.graph.apply(Op::Held, &[most]);
    let each_most = me.gather(most, of_copy.clone());
    let below = me.graph.sub(z, each_most);
    let powers = me.graph.exp(below);
    let table = me.table(of_copy.clone());
    let sums = me.graph.segment_sum(powers, table, copies);
    let logs = me.graph.ln(sums);
    let total = me.graph.add(most, logs);
    add_simplex_jacobian(me, total, copies, length);
    let each_total = me.gather(total, of_copy);
    let logs = me.graph.sub(z, each_total);
    Elements::Whole(me.graph.exp(logs))
}

/// `total` has for each simplex the logarithm of the sum that its elements are divided by.
fn add_simplex_jacobian(me: &mut Interpreter<'_>, total: NodeId, copies: usize, length: usize) {
    let minus = me.graph.constant(-(length as f64));
    let jacobian = me.graph.mul(minus, total);
    add(me, jacobian);
    let constant = me.graph.constant(0.5 * (length as f64).ln() * copies as f64);
    me.target.push(constant);
}

/// The same for each element of an array.
fn each(me: &mut Interpreter<'_>, copies: usize, mut make: impl FnMut(&mut Interpreter<'_>) -> NodeId) -> Elements {
    let nodes: Vec<NodeId> = (0..copies).map(|_| make(me)).collect();
    Elements::Whole(me.graph.concat(&nodes))
}

fn unit_vector(me: &mut Interpreter<'_>, length: usize) -> NodeId {
    let x = me.graph.parameter(length);
    let square = me.graph.dot(x, x);
    let half = me.graph.constant(-0.5);
    let jacobian = me.graph.mul(half, square);
    me.target.push(jacobian);
    let norm = me.graph.apply(Op::Sqrt, &[square]);
    me.graph.div(x, norm)
}
