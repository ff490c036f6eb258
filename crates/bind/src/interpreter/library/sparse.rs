//! Sparse matrices in compressed rows: `w` has the values, `v` their columns and `u` where each row begins, from 1.

use super::arrays::shape;
use super::{Arguments, Plain};
use crate::interpreter::{Interpreter, Run, wrong};
use crate::value::{Element, Ints, Tensor, Value};
use octopus_stan::StanType;

/// A row and a column, counted from 0.
type SparsePlace = (u32, u32);

/// The numbers of rows and columns, and the place of each value.
fn places(me: &mut Interpreter<'_>, a: &Arguments) -> Run<(usize, usize, Vec<SparsePlace>)> {
    let (rows, columns) = (a.size_at(me, 0)?, a.size_at(me, 1)?);
    let (Some(v), Some(u)) = (me.ints(&a.values[3]), me.ints(&a.values[4])) else {
        return wrong(a.span, "columns and beginnings of rows must be known");
    };
    let count = a.values[2].count();
    me.room(&[count], a.span)?;
    let ends = u.values.first() == Some(&1) && u.values.last() == Some(&(count as i64 + 1));
    let rises = u.values.windows(2).all(|pair| pair[0] <= pair[1]);
    if v.count() != count || u.count() != rows + 1 || !ends || !rises {
        return wrong(
            a.span,
            format!(
                "{count} values need {count} columns, and the beginnings of {rows} rows are {} numbers that rise from 1 to {}",
                rows + 1,
                count + 1
            ),
        );
    }
    if let Some(column) = v.values.iter().find(|&&column| column < 1 || column > columns as i64) {
        return wrong(a.span, format!("column {column} is outside: there are {columns}"));
    }
    let rows_of = u.values.windows(2).enumerate().flat_map(|(row, pair)| (pair[0]..pair[1]).map(move |_| row as u32));
    let all = rows_of.zip(v.values.iter().map(|&column| column as u32 - 1)).collect();
    Ok((rows, columns, all))
}

fn times_vector(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let (rows, columns, places) = places(me, a)?;
    let (w, b) = (a.tensor(me, 2), a.tensor(me, 5));
    if b.count() != columns {
        return wrong(a.span, format!("a matrix of {columns} columns, and a vector of {} elements", b.count()));
    }
    if places.is_empty() {
        return Ok(Tensor::data(a.ty, vec![rows], vec![0.0; rows]).into());
    }
    let chosen = places.iter().map(|place| place.1).collect();
    let elements = me.pick(&b.elements, chosen);
    let chosen = Tensor::new(StanType::VECTOR, vec![places.len()], false, elements);
    let products = me.mul(&w, &chosen, a.span)?;
    let node = me.node(&products);
    let table = me.table(places.iter().map(|place| place.0).collect());
    let sums = me.graph.segment_sum(node, table, rows);
    let sums = me.graph.broadcast(sums, rows);
    Ok(me.made(sums, a.ty, vec![rows]).into())
}

fn dense(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let (rows, columns, places) = places(me, a)?;
    me.room(&[rows, columns], a.span)?;
    let w = a.tensor(me, 2);
    let mut elements = vec![Element::Known(0.0); rows * columns];
    for (k, (row, column)) in places.into_iter().enumerate() {
        elements[row as usize * columns + column as usize] = w.elements.at(k);
    }
    Ok(Tensor::new(a.ty, vec![rows, columns], false, crate::interpreter::nodes::elements_of(elements)).into())
}

/// The values of a known matrix that are not 0, their columns, and where rows begin.
fn extracted(me: &Interpreter<'_>, a: &Arguments) -> Run<(Vec<f64>, Vec<i64>, Vec<i64>)> {
    let x = a.tensor(me, 0);
    let (rows, columns) = shape(&x, a.span)?;
    let Some(values) = x.known() else { return wrong(a.span, "it takes a matrix of data") };
    let (mut w, mut v, mut u) = (Vec::new(), Vec::new(), vec![1]);
    for row in 0..rows {
        for column in 0..columns {
            let value = values[row * columns + column];
            if value != 0.0 {
                w.push(value);
                v.push(column as i64 + 1);
            }
        }
        u.push(w.len() as i64 + 1);
    }
    Ok((w, v, u))
}

fn whole(values: Vec<i64>) -> Run<Value> {
    Ok(Ints { dims: vec![values.len()], laned: false, values: values.into() }.into())
}

/// The function of a name; its arguments have no lanes.
pub(super) fn sparse(name: &str) -> Option<Plain> {
    Some(match name {
        "csr_matrix_times_vector" => times_vector,
        "csr_to_dense_matrix" => dense,
        "csr_extract_w" => |me, a| {
            let (w, ..) = extracted(me, a)?;
            Ok(Tensor::data(a.ty, vec![w.len()], w).into())
        },
        "csr_extract_v" => |me, a| whole(extracted(me, a)?.1),
        "csr_extract_u" => |me, a| whole(extracted(me, a)?.2),
        _ => return None,
    })
}
