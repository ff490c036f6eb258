//! Functions that order, make and cut containers.

use super::{Arguments, Plain};
use crate::interpreter::{Interpreter, Run, Stop, wrong};
use crate::value::{Ints, Tensor, Value};
use octopus_program::Op;
use octopus_stan::{Span, StanType};

/// The known numbers of an argument.
fn data(me: &Interpreter<'_>, a: &Arguments, k: usize) -> Run<Vec<f64>> {
    match a.tensor(me, k).known() {
        Some(values) => Ok(values.to_vec()),
        None => wrong(a.span, "this function of parameters is not supported: it takes data here"),
    }
}

/// The places of the elements in their order; equal ones stay as they stand.
fn order(me: &Interpreter<'_>, a: &Arguments, descends: bool) -> Run<Vec<u32>> {
    let values = data(me, a, 0)?;
    if values.iter().any(|x| x.is_nan()) {
        return wrong(a.span, "numbers that are NaN have no order");
    }
    let mut places: Vec<u32> = (0..values.len() as u32).collect();
    places.sort_by(|&i, &j| {
        let (x, y) = (values[i as usize], values[j as usize]);
        if descends { y.total_cmp(&x) } else { x.total_cmp(&y) }
    });
    Ok(places)
}

fn sorted(me: &mut Interpreter<'_>, a: &Arguments, descends: bool) -> Run<Value> {
    let places = order(me, a, descends)?;
    Ok(by_places(me, &a.values[0], places, a.ty))
}

fn sort_indices(me: &Interpreter<'_>, a: &Arguments, descends: bool) -> Run<Value> {
    let places = order(me, a, descends)?;
    Ok(whole(places.into_iter().map(|place| i64::from(place) + 1).collect()))
}

/// Elements of a container of one dimension.
fn by_places(me: &mut Interpreter<'_>, of: &Value, places: Vec<u32>, ty: StanType) -> Value {
    let dims = of.dims().to_vec();
    me.taken(of, crate::interpreter::index::Places { dims, laned: false, places }, ty)
}

fn whole(values: Vec<i64>) -> Value {
    Ints { dims: vec![values.len()], laned: false, values: values.into() }.into()
}

/// `n` copies of a number, as a value of the result's type.
fn filled(me: &mut Interpreter<'_>, a: &Arguments, x: f64) -> Run<Value> {
    let n = a.size_at(me, 0)?;
    me.room(&[n], a.span)?;
    if a.ty.is_int() {
        return Ok(whole(vec![x as i64; n]));
    }
    Ok(Tensor::data(a.ty, vec![n], vec![x; n]).into())
}

fn one_hot(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let (n, k) = (a.size_at(me, 0)?, a.size_at(me, 1)?);
    if k < 1 || k > n {
        return wrong(a.span, format!("element {k} is outside: there are {n}"));
    }
    me.room(&[n], a.span)?;
    if a.ty.is_int() {
        return Ok(whole((1..=n).map(|i| i64::from(i == k)).collect()));
    }
    let values = (1..=n).map(|i| if i == k { 1.0 } else { 0.0 }).collect();
    Ok(Tensor::data(a.ty, vec![n], values).into())
}

fn linspaced(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let n = a.size_at(me, 0)?;
    me.room(&[n], a.span)?;
    let (from, to) = (data(me, a, 1)?[0], data(me, a, 2)?[0]);
    let step = (to - from) / (n.max(2) - 1) as f64;
    let values = (0..n).map(|k| if k + 1 == n { to } else { from + k as f64 * step }).collect();
    Ok(Tensor::data(a.ty, vec![n], values).into())
}

/// As Eigen spaces whole numbers: steps are cut to whole ones, and repeat where there are more places than numbers.
fn linspaced_ints(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let n = a.size_at(me, 0)?;
    me.room(&[n], a.span)?;
    let (low, high) = (a.count_at(me, 1)?, a.count_at(me, 2)?);
    if high < low {
        return wrong(a.span, format!("{high} is below {low}"));
    }
    let Some(width) = high.checked_sub(low).filter(|&width| width < 1 << 40) else {
        return wrong(a.span, "the ends are too far from each other");
    };
    let count = n as i64;
    let values = match n {
        0 => Vec::new(),
        1 => vec![high],
        _ if width + 1 < count => {
            let repeats = (count + width) / (width + 1);
            (0..count).map(|k| low + k / repeats).collect()
        }
        _ => (0..count).map(|k| low + k * (width / (count - 1))).collect(),
    };
    Ok(whole(values))
}

/// R's quantiles of type 7.
fn quantile(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let mut values = data(me, a, 0)?;
    let wanted = data(me, a, 1)?;
    if values.is_empty() || values.iter().any(|x| x.is_nan()) || wanted.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return wrong(a.span, "quantiles are of numbers, at least one, at probabilities from 0 to 1");
    }
    values.sort_by(f64::total_cmp);
    let at = |p: f64| {
        let place = p * (values.len() - 1) as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        values[below] + (place - place.floor()) * (values[above] - values[below])
    };
    let found = wanted.iter().map(|&p| at(p)).collect();
    Ok(Tensor::data(a.ty, a.values[1].dims().to_vec(), found).into())
}

/// `rows` x `columns` elements of a matrix from a place on.
fn block(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let x = a.tensor(me, 0);
    let (i, j, rows, columns) = (a.size_at(me, 1)?, a.size_at(me, 2)?, a.size_at(me, 3)?, a.size_at(me, 4)?);
    let (all_rows, all_columns) = shape(&x, a.span)?;
    if i < 1 || j < 1 || i - 1 + rows > all_rows || j - 1 + columns > all_columns {
        return wrong(
            a.span,
            format!("{rows} x {columns} elements from [{i}, {j}] on are outside of {all_rows} x {all_columns}"),
        );
    }
    me.room(&[rows, columns], a.span)?;
    let places = (0..rows * columns)
        .map(|k| ((i - 1 + k / columns.max(1)) * all_columns + j - 1 + k % columns.max(1)) as u32)
        .collect();
    let elements = me.pick(&x.elements, places);
    Ok(Tensor::new(a.ty, vec![rows, columns], false, elements).into())
}

/// Rows and columns of a matrix.
pub(super) fn shape(x: &Tensor, span: Span) -> Run<(usize, usize)> {
    match x.dims[..] {
        [rows, columns] => Ok((rows, columns)),
        _ => wrong(span, "it takes a matrix"),
    }
}

fn reversed(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Value> {
    let dims = a.values[0].dims().to_vec();
    let Some((&length, rest)) = dims.split_first() else { return Ok(a.values[0].clone()) };
    let inner: usize = rest.iter().product();
    let places = (0..length).rev().flat_map(|i| (0..inner).map(move |k| (i * inner + k) as u32)).collect();
    Ok(by_places(me, &a.values[0], places, a.ty))
}

/// Sums of whole numbers so far.
fn whole_sums(a: &Arguments, ints: &Ints) -> Run<Value> {
    let mut sum = 0_i64;
    let sums = ints.values.iter().map(|&x| {
        sum = sum.checked_add(x)?;
        Some(sum)
    });
    match sums.collect::<Option<Vec<i64>>>() {
        Some(sums) => Ok(whole(sums)),
        None => wrong(a.span, "a sum is no whole number that can be kept"),
    }
}

/// The function of a name; its arguments have no lanes.
pub(super) fn array(name: &str) -> Option<Plain> {
    Some(match name {
        "sort_asc" => |me, a| sorted(me, a, false),
        "sort_desc" => |me, a| sorted(me, a, true),
        "sort_indices_asc" => |me, a| sort_indices(me, a, false),
        "sort_indices_desc" => |me, a| sort_indices(me, a, true),
        "rank" => |me, a| {
            let (values, k) = (data(me, a, 0)?, a.size_at(me, 1)?);
            match k.checked_sub(1).and_then(|k| values.get(k)) {
                Some(own) => Ok(Value::Int(values.iter().filter(|x| *x < own).count() as i64)),
                None => wrong(a.span, format!("element {k} is outside: there are {}", values.len())),
            }
        },
        "quantile" => quantile,
        "zeros_array" | "zeros_int_array" => |me, a| filled(me, a, 0.0),
        "ones_array" | "ones_int_array" => |me, a| filled(me, a, 1.0),
        "uniform_simplex" => |me, a| {
            let n = a.size_at(me, 0)?;
            filled(me, a, 1.0 / n.max(1) as f64)
        },
        "one_hot_vector" | "one_hot_row_vector" | "one_hot_array" | "one_hot_int_array" => one_hot,
        "linspaced_vector" | "linspaced_row_vector" | "linspaced_array" => linspaced,
        "linspaced_int_array" => linspaced_ints,
        "block" => block,
        "reverse" => reversed,
        "cumulative_sum" => |me, a| {
            if let (true, Some(ints)) = (a.ty.is_int(), me.ints(&a.values[0])) {
                if ints.laned {
                    return Err(Stop::Lanes);
                }
                return whole_sums(a, &ints);
            }
            let x = a.tensor(me, 0);
            if let (false, Some(values)) = (x.laned, x.known()) {
                let mut sum = 0.0;
                let sums = values.iter().map(|x| {
                    sum += x;
                    sum
                });
                return Ok(Tensor::data(a.ty, x.dims.clone(), sums.collect()).into());
            }
            let mut sum = Tensor::number(0.0);
            let mut sums = Vec::new();
            for column in me.last_columns(&x) {
                sum = me.add(&sum, &column, a.span)?;
                sums.push(sum.clone().into());
            }
            me.stacked(&sums, a.ty, a.span)
        },
        "prod" => |me, a| {
            if let (true, Some(ints)) = (a.ty.is_int(), me.ints(&a.values[0])) {
                return match ints.values.iter().try_fold(1_i64, |product, &x| product.checked_mul(x)) {
                    Some(product) => Ok(Value::Int(product)),
                    None => wrong(a.span, "the product is no whole number that can be kept"),
                };
            }
            let x = super::flat(a.tensor(me, 0));
            let mut product = Tensor::number(1.0);
            for column in me.last_columns(&x) {
                product = me.mul(&product, &column, a.span)?;
            }
            Ok(product.into())
        },
        "norm1" => |me, a| {
            let sizes = me.apply(Op::Abs, &[a.tensor(me, 0)], a.span)?;
            Ok(me.sum_of(&sizes).into())
        },
        "norm2" => |me, a| {
            let x = a.tensor(me, 0);
            let square = me.dot(&x, &x, a.span)?;
            Ok(me.apply(Op::Sqrt, &[square], a.span)?.into())
        },
        _ => return None,
    })
}
