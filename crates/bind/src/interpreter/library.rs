//! Functions of the math library.

mod arrays;
mod covariance;
mod dense;
mod linear;
mod scalar;
mod sparse;

use super::arithmetic::SharedSizes;
use super::density::density;
use super::random::random_function;
use super::variate::drawn_function;
use super::{Interpreter, Run, Stop, wrong};
use crate::constrained;
use crate::value::{Element, Ints, Tensor, Value};
use octopus_program::{NodeId, Op};
use octopus_random::exact;
use octopus_stan::{BaseType, Span, StanType};

/// Elements up to which each is an operand of its own, and not one of a vector.
const FEW_ELEMENTS: usize = 16;

/// What a function is given.
pub(crate) struct Arguments {
    pub(crate) values: Vec<Value>,
    pub(crate) types: Vec<StanType>,
    /// The type of the result.
    pub(crate) ty: StanType,
    /// Whether terms that depend on no parameter may be left out.
    pub(crate) drops: bool,
    pub(crate) span: Span,
}

/// What a function of the library does.
pub(crate) type Function = dyn Fn(&mut Interpreter<'_>, &Arguments) -> Run<Value>;

/// Whether a function of the library can be bound.
pub(crate) fn is_supported(name: &str) -> bool {
    library(name).is_some()
}

/// An operation by its name.
pub(crate) fn op_named(name: &str) -> Option<Op> {
    Op::ALL.iter().copied().find(|op| op.name() == name)
}

/// Operations that are no functions of Stan.
const INNER_OPERATIONS: [&str; 5] = ["negate", "sign", "exp_minus_abs", "std_normal_lcdf_slope", "std_normal_lcdf"];

/// A function of known reals that the table of operations lacks.
fn plain(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "tgamma" => libm::tgamma,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "round" => f64::round,
        "trunc" => f64::trunc,
        "tan" => exact::tan,
        "asin" => exact::asin,
        "acos" => exact::acos,
        "sinh" => exact::sinh,
        "cosh" => exact::cosh,
        "asinh" => exact::asinh,
        "acosh" => exact::acosh,
        "atanh" => exact::atanh,
        "log2" => exact::log2,
        "log10" => exact::log10,
        "cbrt" => exact::cbrt,
        "erf" => exact::erf,
        "erfc" => exact::erfc,
        "exp2" => exact::exp2,
        "inv_cloglog" => exact::inv_cloglog,
        "step" => |x| f64::from(u8::from(x >= 0.0)),
        _ => return None,
    })
}

impl Arguments {
    fn tensor(&self, me: &Interpreter<'_>, k: usize) -> Tensor {
        let ty = self.types.get(k).copied().unwrap_or(StanType::REAL);
        let tensor = me.tensor(&self.values[k]);
        if ty.is_int() { tensor } else { tensor.with_type(ty) }
    }

    fn count_at(&self, me: &mut Interpreter<'_>, k: usize) -> Run<i64> {
        match &self.values[k] {
            Value::Int(x) => Ok(*x),
            Value::Ints(ints) if ints.dims.is_empty() => me.same_in_lanes(&ints.values),
            _ => wrong(self.span, "a size must not depend on parameters"),
        }
    }

    pub(super) fn size_at(&self, me: &mut Interpreter<'_>, k: usize) -> Run<usize> {
        let size = self.count_at(me, k)?;
        match usize::try_from(size) {
            Ok(size) if size <= me.budget.most_elements => Ok(size),
            _ => wrong(self.span, format!("{size} is no size")),
        }
    }
}

/// The function of a name.
pub(crate) fn library(name: &str) -> Option<Box<Function>> {
    if let Some(function) = random_function(name).or_else(|| drawn_function(name)) {
        return Some(function);
    }
    if let Some(density) = density(name) {
        return Some(density);
    }
    if let Some(function) = structural(name).or_else(|| reducing(name)) {
        return Some(Box::new(function));
    }
    if let Some(function) = covariance::covariance(name) {
        return Some(without_lanes(function));
    }
    if let ("cumulative_sum", Some(function)) = (name, arrays::array(name)) {
        return Some(Box::new(function));
    }
    let containers = arrays::array(name).or_else(|| linear::linear(name)).or_else(|| sparse::sparse(name));
    if let Some(function) = containers {
        return Some(without_lanes(Box::new(function)));
    }
    if let Some(function) = scalar::scalar(name) {
        return Some(function);
    }
    let unary = if name == "fabs" { "abs" } else { name };
    let (op, plain) = (op_named(unary).filter(|op| op.arity() == 1), plain(unary));
    let formula = scalar::formula_of_one(name);
    let is_there = op.is_some() || plain.is_some() || formula.is_some();
    if !is_there || INNER_OPERATIONS.contains(&name) {
        return None;
    }
    let name = name.to_owned();
    Some(Box::new(move |me, a| {
        let x = a.tensor(me, 0);
        if let (Some(plain), None) = (plain, op)
            && let Some(value) = me.computed(std::slice::from_ref(&x), a.span, &|x| plain(x[0]))?
        {
            return Ok(value.into());
        }
        match (op, formula) {
            (Some(op), _) => Ok(me.apply(op, &[x], a.span)?.into()),
            (None, Some(formula)) => Ok(formula(&mut scalar::Formula { me, span: a.span }, &x)?.into()),
            (None, None) => wrong(a.span, format!("`{name}` of parameters is not supported yet")),
        }
    }))
}

/// A function whose arguments may not have lanes: loops around it are bound pass by pass.
fn without_lanes(function: Box<Function>) -> Box<Function> {
    Box::new(move |me, a| {
        if a.values.iter().any(Value::is_laned) {
            return Err(Stop::Lanes);
        }
        function(me, a)
    })
}

type Plain = fn(&mut Interpreter<'_>, &Arguments) -> Run<Value>;

/// Functions that sum, compare or combine.
fn reducing(name: &str) -> Option<Plain> {
    Some(match name {
        "sum" => |me, a| {
            if let Value::Ints(ints) = &a.values[0]
                && !ints.laned
            {
                let sum = ints.values.iter().try_fold(0_i64, |sum, &x| sum.checked_add(x));
                return match sum {
                    Some(sum) => Ok(Value::Int(sum)),
                    None => wrong(a.span, "the sum is no whole number that can be kept"),
                };
            }
            let x = a.tensor(me, 0);
            Ok(me.sum_of(&x).into())
        },
        "mean" => |me, a| {
            let x = a.tensor(me, 0);
            let sum = me.sum_of(&x);
            Ok(me.div(&sum, &Tensor::number(x.count() as f64), a.span)?.into())
        },
        "sd" => |me, a| {
            let variance = variance(me, a)?;
            Ok(me.apply(Op::Sqrt, &[variance], a.span)?.into())
        },
        "variance" => |me, a| Ok(variance(me, a)?.into()),
        "min" => |me, a| extreme(me, a, Op::Min),
        "max" => |me, a| extreme(me, a, Op::Max),
        "fmin" => |me, a| Ok(me.apply(Op::Min, &[a.tensor(me, 0), a.tensor(me, 1)], a.span)?.into()),
        "fmax" => |me, a| Ok(me.apply(Op::Max, &[a.tensor(me, 0), a.tensor(me, 1)], a.span)?.into()),
        "dot_product" => |me, a| Ok(me.dot(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.into()),
        "dot_self" => |me, a| Ok(me.dot(&a.tensor(me, 0), &a.tensor(me, 0), a.span)?.into()),
        "squared_distance" => |me, a| {
            let difference = me.sub(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?;
            Ok(me.dot(&difference, &difference, a.span)?.into())
        },
        "distance" => |me, a| {
            let difference = me.sub(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?;
            let square = me.dot(&difference, &difference, a.span)?;
            Ok(me.apply(Op::Sqrt, &[square], a.span)?.into())
        },
        "square" => |me, a| {
            let x = a.tensor(me, 0);
            Ok(me.mul(&x, &x, a.span)?.into())
        },
        "inv" => |me, a| Ok(me.div(&Tensor::number(1.0), &a.tensor(me, 0), a.span)?.into()),
        "inv_sqrt" => |me, a| {
            let root = me.apply(Op::Sqrt, &[a.tensor(me, 0)], a.span)?;
            Ok(me.div(&Tensor::number(1.0), &root, a.span)?.into())
        },
        "inv_square" => |me, a| {
            let x = a.tensor(me, 0);
            let square = me.mul(&x, &x, a.span)?;
            Ok(me.div(&Tensor::number(1.0), &square, a.span)?.into())
        },
        "logit" => |me, a| {
            let x = a.tensor(me, 0);
            let (log, rest) = (me.apply(Op::Ln, std::slice::from_ref(&x), a.span)?, me.apply(Op::Ln1m, &[x], a.span)?);
            Ok(me.sub(&log, &rest, a.span)?.into())
        },
        "log_inv_logit" => |me, a| {
            let minus = me.apply(Op::Neg, &[a.tensor(me, 0)], a.span)?;
            let soft = me.apply(Op::Softplus, &[minus], a.span)?;
            Ok(me.apply(Op::Neg, &[soft], a.span)?.into())
        },
        "log1m_inv_logit" => |me, a| {
            let soft = me.apply(Op::Softplus, &[a.tensor(me, 0)], a.span)?;
            Ok(me.apply(Op::Neg, &[soft], a.span)?.into())
        },
        "Phi_approx" => |me, a| {
            let x = a.tensor(me, 0);
            let cube = me.power(&x, &Tensor::number(3.0), a.span)?;
            let cube = me.mul(&cube, &Tensor::number(0.07056), a.span)?;
            let linear = me.mul(&x, &Tensor::number(1.5976), a.span)?;
            let sum = me.add(&cube, &linear, a.span)?;
            Ok(me.apply(Op::Sigmoid, &[sum], a.span)?.into())
        },
        "pow" => |me, a| Ok(me.power(&a.tensor(me, 0), &a.tensor(me, 1), a.span)?.into()),
        "fma" => |me, a| Ok(me.apply(Op::MulAdd, &[a.tensor(me, 0), a.tensor(me, 1), a.tensor(me, 2)], a.span)?.into()),
        "log_sum_exp" => |me, a| {
            if a.values.len() == 2 {
                return Ok(me.apply(Op::LogSumExp, &[a.tensor(me, 0), a.tensor(me, 1)], a.span)?.into());
            }
            let x = flat(a.tensor(me, 0));
            Ok(me.log_sum_exp(&x, a.span)?.into())
        },
        "log_mix" => |me, a| {
            if a.values.len() == 2 {
                let log = me.apply(Op::Ln, &[a.tensor(me, 0)], a.span)?;
                let sum = me.add(&log, &a.tensor(me, 1), a.span)?;
                return Ok(me.log_sum_exp(&flat(sum), a.span)?.into());
            }
            let p = a.tensor(me, 0);
            let (log, rest) = (me.apply(Op::Ln, std::slice::from_ref(&p), a.span)?, me.apply(Op::Ln1m, &[p], a.span)?);
            let first = me.add(&log, &a.tensor(me, 1), a.span)?;
            let second = me.add(&rest, &a.tensor(me, 2), a.span)?;
            Ok(me.apply(Op::LogSumExp, &[first, second], a.span)?.into())
        },
        "log_softmax" => |me, a| {
            let x = flat(a.tensor(me, 0));
            let log = me.log_sum_exp(&x, a.span)?;
            Ok(me.sub(&x, &log, a.span)?.into())
        },
        "softmax" => |me, a| {
            let x = flat(a.tensor(me, 0));
            let log = me.log_sum_exp(&x, a.span)?;
            let difference = me.sub(&x, &log, a.span)?;
            Ok(me.apply(Op::Exp, &[difference], a.span)?.into())
        },
        "multiply_lower_tri_self_transpose" => |me, a| {
            let x = a.tensor(me, 0);
            let transposed = me.transpose(&x);
            Ok(me.product(&x, &transposed, a.span)?.into())
        },
        "tcrossprod" => |me, a| {
            let x = a.tensor(me, 0);
            let transposed = me.transpose(&x);
            Ok(me.product(&x, &transposed, a.span)?.into())
        },
        "crossprod" => |me, a| {
            let x = a.tensor(me, 0);
            let transposed = me.transpose(&x);
            Ok(me.product(&transposed, &x, a.span)?.into())
        },
        "cholesky_decompose" => |me, a| {
            let x = a.tensor(me, 0);
            Ok(me.cholesky(&x, a.span)?.into())
        },
        "diag_pre_multiply" => |me, a| {
            let (v, m) = (a.tensor(me, 0), a.tensor(me, 1));
            let [rows, columns] = m.dims[..] else { return Err(Stop::Lanes) };
            let places = (0..rows * columns).map(|k| (k / columns.max(1)) as u32).collect();
            scaled(me, &v, &m, places, a.span)
        },
        "diag_post_multiply" => |me, a| {
            let (m, v) = (a.tensor(me, 0), a.tensor(me, 1));
            let [rows, columns] = m.dims[..] else { return Err(Stop::Lanes) };
            let places = (0..rows * columns).map(|k| (k % columns.max(1)) as u32).collect();
            scaled(me, &v, &m, places, a.span)
        },
        "quad_form_diag" => |me, a| {
            let (m, v) = (a.tensor(me, 0), a.tensor(me, 1));
            let [rows, columns] = m.dims[..] else { return Err(Stop::Lanes) };
            let left = (0..rows * columns).map(|k| (k / columns.max(1)) as u32).collect();
            let right = (0..rows * columns).map(|k| (k % columns.max(1)) as u32).collect();
            let half = scaled(me, &v, &m, left, a.span)?;
            let half = me.tensor(&half).with_type(StanType::MATRIX);
            scaled(me, &v, &half, right, a.span)
        },
        _ => return None,
    })
}

/// A vector times a matrix of which each element has its place in the vector.
fn scaled(me: &mut Interpreter<'_>, v: &Tensor, m: &Tensor, places: Vec<u32>, span: Span) -> Run<Value> {
    if v.laned || m.laned {
        return Err(Stop::Lanes);
    }
    let elements = me.pick(&v.elements, places);
    let factors = Tensor::new(StanType::MATRIX, m.dims.clone(), false, elements);
    Ok(me.mul(&factors, m, span)?.into())
}

/// All elements in one dimension.
fn flat(x: Tensor) -> Tensor {
    let ty = if x.ty.dimensions() == 1 { x.ty } else { StanType::VECTOR };
    let dims = vec![x.count()];
    Tensor { dims, ty, ..x }
}

fn variance(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Tensor> {
    let x = flat(a.tensor(me, 0));
    let count = x.count() as f64;
    let sum = me.sum_of(&x);
    let mean = me.div(&sum, &Tensor::number(count), a.span)?;
    let difference = me.sub(&x, &mean, a.span)?;
    let squares = me.mul(&difference, &difference, a.span)?;
    let sum = me.sum_of(&squares);
    me.div(&sum, &Tensor::number(count - 1.0), a.span)
}

fn extreme(me: &mut Interpreter<'_>, a: &Arguments, op: Op) -> Run<Value> {
    let is_int = a.ty.is_int();
    let x = if a.values.len() == 2 {
        let (x, y) = (a.tensor(me, 0), a.tensor(me, 1));
        me.apply(op, &[x, y], a.span)?
    } else {
        let columns = {
            let x = flat(a.tensor(me, 0));
            me.last_columns(&x)
        };
        let mut columns = columns.into_iter();
        let Some(mut best) = columns.next() else { return wrong(a.span, "there is no element") };
        for column in columns {
            best = me.apply(op, &[best, column], a.span)?;
        }
        best
    };
    match (is_int, x.known()) {
        (true, Some(values)) => {
            let values: Vec<i64> = values.iter().map(|&x| x as i64).collect();
            Ok(Ints { dims: x.dims.clone(), laned: x.laned, values: values.into() }.into())
        }
        _ => Ok(x.into()),
    }
}

/// Functions that make, cut and join containers.
fn structural(name: &str) -> Option<Plain> {
    Some(match name {
        "rep_vector" | "rep_row_vector" => |me, a| {
            let n = a.size_at(me, 1)?;
            repeated(me, &a.tensor(me, 0), vec![n], a)
        },
        "rep_matrix" => |me, a| {
            let x = a.tensor(me, 0);
            if a.values.len() == 3 {
                let dims = vec![a.size_at(me, 1)?, a.size_at(me, 2)?];
                return repeated(me, &x, dims, a);
            }
            let n = a.size_at(me, 1)?;
            let length = x.count();
            if x.laned {
                return Err(Stop::Lanes);
            }
            me.room(&[length, n], a.span)?;
            let (dims, places) = if a.types[0].base == BaseType::Vector {
                (vec![length, n], (0..length * n).map(|k| (k / n.max(1)) as u32).collect())
            } else {
                (vec![n, length], (0..length * n).map(|k| (k % length.max(1)) as u32).collect())
            };
            let elements = me.pick(&x.elements, places);
            Ok(Tensor::new(a.ty, dims, false, elements).into())
        },
        "rep_array" => |me, a| {
            let mut dims = Vec::new();
            for k in 1..a.values.len() {
                dims.push(a.size_at(me, k)?);
            }
            if let (true, Some(ints)) = (a.ty.is_int(), me.ints(&a.values[0])) {
                let copies = me.room(&dims, a.span)?;
                me.room(&[copies, ints.count()], a.span)?;
                dims.extend(&ints.dims);
                if ints.laned {
                    return Err(Stop::Lanes);
                }
                let values: Vec<i64> = (0..copies).flat_map(|_| ints.values.iter().copied()).collect();
                return Ok(Ints { dims, laned: false, values: values.into() }.into());
            }
            repeated(me, &a.tensor(me, 0), dims, a)
        },
        "zeros_vector" | "zeros_row_vector" => |me, a| {
            let n = a.size_at(me, 0)?;
            Ok(Tensor::data(a.ty, vec![n], vec![0.0; n]).into())
        },
        "ones_vector" | "ones_row_vector" => |me, a| {
            let n = a.size_at(me, 0)?;
            Ok(Tensor::data(a.ty, vec![n], vec![1.0; n]).into())
        },
        "identity_matrix" => |me, a| {
            let n = a.size_at(me, 0)?;
            me.room(&[n, n], a.span)?;
            let values = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
            Ok(Tensor::data(a.ty, vec![n, n], values).into())
        },
        "diag_matrix" => |me, a| {
            let x = a.tensor(me, 0);
            let n = x.count();
            if x.laned {
                return Err(Stop::Lanes);
            }
            me.room(&[n, n], a.span)?;
            let elements =
                (0..n * n).map(|k| if k / n == k % n { x.elements.at(k % n) } else { Element::Known(0.0) }).collect();
            Ok(Tensor::new(a.ty, vec![n, n], false, super::nodes::elements_of(elements)).into())
        },
        "add_diag" => |me, a| {
            let (m, d) = (a.tensor(me, 0), a.tensor(me, 1));
            let [n, columns] = m.dims[..] else { return Err(Stop::Lanes) };
            if m.laned || d.laned {
                return Err(Stop::Lanes);
            }
            let at = |k: usize| if d.is_scalar() { d.elements.at(0) } else { d.elements.at(k) };
            let elements = (0..n * columns)
                .map(|k| if k / columns == k % columns { at(k / columns) } else { Element::Known(0.0) })
                .collect();
            let diagonal = Tensor::new(StanType::MATRIX, m.dims.clone(), false, super::nodes::elements_of(elements));
            Ok(me.add(&m, &diagonal, a.span)?.into())
        },
        "diagonal" => |me, a| {
            let m = a.tensor(me, 0);
            let [n, columns] = m.dims[..] else { return Err(Stop::Lanes) };
            if m.laned {
                return Err(Stop::Lanes);
            }
            let places = (0..n.min(columns)).map(|k| (k * columns + k) as u32).collect::<Vec<_>>();
            let count = places.len();
            let elements = me.pick(&m.elements, places);
            Ok(Tensor::new(a.ty, vec![count], false, elements).into())
        },
        "to_vector" | "to_row_vector" | "to_array_1d" => |me, a| {
            if let (true, Value::Ints(ints)) = (a.ty.is_int(), &a.values[0]) {
                return Ok(Ints { dims: vec![ints.count()], ..ints.clone() }.into());
            }
            let x = a.tensor(me, 0);
            let x = if a.types[0] == StanType::MATRIX { columns_first(me, &x)? } else { x };
            Ok(Tensor { dims: vec![x.count()], ty: a.ty, ..x }.into())
        },
        "to_matrix" => |me, a| {
            let x = a.tensor(me, 0);
            let dims = match (a.values.len(), a.types[0].base, a.types[0].arrays) {
                (1, BaseType::Matrix, _) => return Ok(x.into()),
                (1, BaseType::RowVector, 0) => vec![1, x.count()],
                (1, BaseType::Vector, 0) => vec![x.count(), 1],
                (1, ..) => return Ok(x.with_type(StanType::MATRIX).into()),
                _ => vec![a.size_at(me, 1)?, a.size_at(me, 2)?],
            };
            if dims.iter().product::<usize>() != x.count() {
                return wrong(a.span, format!("{} elements do not make {} x {}", x.count(), dims[0], dims[1]));
            }
            if x.laned {
                return Err(Stop::Lanes);
            }
            let is_by_rows = a.values.len() == 4 && a.count_at(me, 3)? == 0;
            let x = if a.types[0] == StanType::MATRIX { columns_first(me, &x)? } else { x };
            let elements = if is_by_rows {
                x.elements
            } else {
                let places = crate::shape::columns_to_rows(&dims).into_iter().map(|k| k as u32).collect();
                me.pick(&x.elements, places)
            };
            Ok(Tensor::new(a.ty, dims, false, elements).into())
        },
        "to_array_2d" => |me, a| Ok(a.tensor(me, 0).with_type(a.ty).into()),
        "num_elements" => |_, a| Ok(Value::Int(a.values[0].count() as i64)),
        "size" => |_, a| match a.types[0] == StanType::MATRIX {
            true => Ok(Value::Int(a.values[0].count() as i64)),
            false => Ok(Value::Int(a.values[0].dims().first().map_or(1, |&n| n as i64))),
        },
        "rows" => |_, a| match a.types[0] == StanType::ROW_VECTOR {
            true => Ok(Value::Int(1)),
            false => Ok(Value::Int(a.values[0].dims().first().map_or(1, |&n| n as i64))),
        },
        "dims" => |_, a| {
            let dims: Vec<i64> = a.values[0].dims().iter().map(|&n| n as i64).collect();
            Ok(Ints { dims: vec![dims.len()], laned: false, values: dims.into() }.into())
        },
        "cols" => |_, a| match a.types[0] == StanType::VECTOR {
            true => Ok(Value::Int(1)),
            false => Ok(Value::Int(a.values[0].dims().last().map_or(1, |&n| n as i64))),
        },
        "col" => |me, a| {
            let x = a.tensor(me, 0);
            let j = a.count_at(me, 1)?;
            let [rows, columns] = x.dims[..] else { return Err(Stop::Lanes) };
            let Some(j) = usize::try_from(j.saturating_sub(1)).ok().filter(|&j| j < columns) else {
                return wrong(a.span, format!("column {j} is outside"));
            };
            if x.laned {
                return Err(Stop::Lanes);
            }
            let places = (0..rows).map(|i| (i * columns + j) as u32).collect();
            let elements = me.pick(&x.elements, places);
            Ok(Tensor::new(a.ty, vec![rows], false, elements).into())
        },
        "row" => |me, a| {
            let (i, x) = (a.count_at(me, 1)?, a.values[0].clone());
            cut(me, &x, &Starts::same(i), 1, a).map(|value| first_dimension_gone(value, a.ty))
        },
        "transpose" => |me, a| {
            let x = a.tensor(me, 0);
            Ok(me.transpose(&x).into())
        },
        "sub_col" | "sub_row" => |me, a| {
            let x = a.tensor(me, 0);
            let (i, j, n) = (a.count_at(me, 1)?, a.count_at(me, 2)?, a.count_at(me, 3)?);
            let [rows, columns] = x.dims[..] else { return Err(Stop::Lanes) };
            let (down, right) = if a.ty == StanType::VECTOR { (n, 1) } else { (1, n) };
            let is_in =
                |from: i64, n: i64, size: usize| from >= 1 && n >= 0 && (from - 1).saturating_add(n) <= size as i64;
            if x.laned || n > 0 && !(is_in(i, down, rows) && is_in(j, right, columns)) {
                return if x.laned {
                    Err(Stop::Lanes)
                } else {
                    wrong(a.span, format!("{n} elements from [{i}, {j}] on are outside"))
                };
            }
            let step = if a.ty == StanType::VECTOR { columns as i64 } else { 1 };
            let first = (i - 1) * columns as i64 + j - 1;
            let places = (0..n).map(|k| (first + k * step) as u32).collect();
            let elements = me.pick(&x.elements, places);
            Ok(Tensor::new(a.ty, vec![n.max(0) as usize], false, elements).into())
        },
        "head" => |me, a| {
            let n = a.count_at(me, 1)?;
            cut(me, &a.values[0], &Starts::same(1), n, a)
        },
        "tail" => |me, a| {
            let (length, n) = (a.values[0].dims().first().copied().unwrap_or(0) as i64, a.count_at(me, 1)?);
            cut(me, &a.values[0], &Starts::same(length.saturating_sub(n).saturating_add(1)), n, a)
        },
        "segment" => |me, a| {
            let n = a.count_at(me, 2)?;
            let starts = match &a.values[1] {
                Value::Ints(ints) if ints.laned => Starts { laned: true, values: ints.values.to_vec() },
                _ => Starts::same(a.count_at(me, 1)?),
            };
            cut(me, &a.values[0], &starts, n, a)
        },
        "append_row" | "append_array" => |me, a| {
            let (x, y) = (&a.values[0], &a.values[1]);
            let is_column = a.ty == StanType::VECTOR || a.ty.arrays > 0;
            if let (true, Some(x), Some(y)) = (a.ty.is_int(), me.ints(x), me.ints(y)) {
                if x.laned || y.laned {
                    return Err(Stop::Lanes);
                }
                let values: Vec<i64> = x.values.iter().chain(y.values.iter()).copied().collect();
                let mut dims = x.dims.clone();
                dims[0] += y.dims[0];
                return Ok(Ints { dims, laned: false, values: values.into() }.into());
            }
            let (x, y) = (a.tensor(me, 0), a.tensor(me, 1));
            let laned = x.laned || y.laned;
            let lanes = if laned { me.lane_count() } else { 1 };
            let elements = (0..lanes).flat_map(|lane| lane_of(&x, lane).chain(lane_of(&y, lane))).collect::<Vec<_>>();
            let count = x.count() + y.count();
            let dims = if is_column && a.ty.dimensions() == 1 {
                vec![count]
            } else if a.ty.arrays > 0 {
                let mut dims = x.dims.clone();
                dims[0] += y.dims[0];
                dims
            } else {
                let columns = *x.dims.last().unwrap_or(&1);
                vec![count / columns.max(1), columns]
            };
            Ok(Tensor::new(a.ty, dims, laned, super::nodes::elements_of(elements)).into())
        },
        "append_col" => |me, a| {
            let (x, y) = (a.tensor(me, 0), a.tensor(me, 1));
            if x.laned || y.laned {
                return Err(Stop::Lanes);
            }
            if a.ty == StanType::ROW_VECTOR {
                let elements = all_of(&x).chain(all_of(&y)).collect::<Vec<_>>();
                return Ok(Tensor::new(a.ty, vec![elements.len()], false, super::nodes::elements_of(elements)).into());
            }
            let rows = x.dims.first().or(y.dims.first()).copied().unwrap_or(1);
            let width = |t: &Tensor| if t.dims.len() == 2 { t.dims[1] } else { 1 };
            let (w, v) = (width(&x), width(&y));
            let at =
                |t: &Tensor, i: usize, j: usize, w: usize| t.elements.at(if t.is_scalar() { 0 } else { i * w + j });
            let mut elements = Vec::with_capacity(rows * (w + v));
            for i in 0..rows {
                elements.extend((0..w).map(|j| at(&x, i, j, w)));
                elements.extend((0..v).map(|j| at(&y, i, j, v)));
            }
            Ok(Tensor::new(a.ty, vec![rows, w + v], false, super::nodes::elements_of(elements)).into())
        },
        "pi" => |_, _| Ok(Value::Real(std::f64::consts::PI)),
        "e" => |_, _| Ok(Value::Real(std::f64::consts::E)),
        "sqrt2" => |_, _| Ok(Value::Real(std::f64::consts::SQRT_2)),
        "log2" => |me, a| match a.values.first() {
            None => Ok(Value::Real(std::f64::consts::LN_2)),
            Some(_) => {
                let log = me.apply(Op::Ln, &[a.tensor(me, 0)], a.span)?;
                Ok(me.div(&log, &Tensor::number(std::f64::consts::LN_2), a.span)?.into())
            }
        },
        "negative_infinity" => |_, _| Ok(Value::Real(f64::NEG_INFINITY)),
        "positive_infinity" => |_, _| Ok(Value::Real(f64::INFINITY)),
        "not_a_number" => |_, _| Ok(Value::Real(f64::NAN)),
        "machine_precision" => |_, _| Ok(Value::Real(f64::EPSILON)),
        _ => return None,
    })
}

fn all_of(x: &Tensor) -> impl Iterator<Item = Element> + '_ {
    (0..x.count()).map(|k| x.elements.at(k))
}

/// The elements of a lane, or all where there are no lanes.
fn lane_of(x: &Tensor, lane: usize) -> impl Iterator<Item = Element> + '_ {
    let first = if x.laned { lane * x.count() } else { 0 };
    (first..first + x.count()).map(|k| x.elements.at(k))
}

fn repeated(me: &mut Interpreter<'_>, x: &Tensor, mut dims: Vec<usize>, a: &Arguments) -> Run<Value> {
    let copies = me.room(&dims, a.span)?;
    let (count, lanes, ty) = (x.count(), if x.laned { me.lane_count() } else { 1 }, a.ty);
    me.room(&[copies, count, lanes], a.span)?;
    dims.extend(&x.dims);
    let places = (0..lanes)
        .flat_map(|lane| (0..copies).flat_map(move |_| (0..count).map(move |k| (lane * count + k) as u32)))
        .collect();
    let elements = me.pick(&x.elements, places);
    Ok(Tensor::new(ty, dims, x.laned, elements).into())
}

/// A matrix with its first index fastest.
fn columns_first(me: &mut Interpreter<'_>, x: &Tensor) -> Run<Tensor> {
    if x.laned {
        return Err(Stop::Lanes);
    }
    let places = crate::shape::rows_to_columns(&x.dims).into_iter().map(|k| k as u32).collect();
    let elements = me.pick(&x.elements, places);
    Ok(Tensor { elements, ..x.clone() })
}

/// Where pieces of a container begin, counted from 1: in each lane at its own place, or at the same one.
struct Starts {
    laned: bool,
    values: Vec<i64>,
}

impl Starts {
    fn same(start: i64) -> Self {
        Self { laned: false, values: vec![start] }
    }
}

/// `n` elements of the first dimension from each start on.
fn cut(me: &mut Interpreter<'_>, x: &Value, starts: &Starts, n: i64, a: &Arguments) -> Run<Value> {
    let mut dims = x.dims().to_vec();
    let (length, count) = (dims.first().copied().unwrap_or(0) as i64, x.count());
    for &from in &starts.values {
        if n < 0 || from < 1 || (from - 1).saturating_add(n) > length {
            return wrong(a.span, format!("{n} elements from {from} on are outside: there are {length}"));
        }
    }
    let laned = x.is_laned() || starts.laned;
    let lanes = if laned { me.lane_count() } else { 1 };
    let rest: usize = dims[1..].iter().product();
    me.room(&[n as usize, rest, lanes], a.span)?;
    let places = (0..lanes).flat_map(|lane| {
        let from = starts.values[if starts.laned { lane } else { 0 }];
        let base = if x.is_laned() { lane * count } else { 0 };
        (base + (from as usize - 1) * rest..base + (from + n - 1) as usize * rest).map(|k| k as u32)
    });
    let places = places.collect();
    dims[0] = n as usize;
    Ok(me.taken(x, super::index::Places { dims, laned, places }, a.ty))
}

fn first_dimension_gone(value: Value, ty: StanType) -> Value {
    match value {
        Value::Reals(tensor) => Tensor { dims: tensor.dims[1..].to_vec(), ty, ..tensor }.into(),
        other => other,
    }
}

impl Interpreter<'_> {
    /// ln of the sum of e^x over the last dimension, in each lane.
    pub(crate) fn log_sum_exp(&mut self, x: &Tensor, span: Span) -> Run<Tensor> {
        let count = x.count();
        if count == 0 {
            return Ok(Tensor::number(f64::NEG_INFINITY));
        }
        let lanes = if x.laned { self.lane_count() } else { 1 };
        if count > FEW_ELEMENTS {
            let node = self.node(x);
            let most = self.largest_of_rows(node, lanes, count);
            let most = self.graph.apply(Op::Held, &[most]);
            let shared = SharedSizes { ty: StanType::REAL, dims: Vec::new(), laned: x.laned };
            let most = self.whole(most, shared);
            return self.log_sum_exp_above(x, &most, span);
        }
        let columns = self.last_columns(x);
        if let [first, second] = &columns[..] {
            return self.apply(Op::LogSumExp, &[first.clone(), second.clone()], span);
        }
        // The largest one is taken out; it is a number here, without a slope of its own.
        let mut most = columns[0].clone();
        for column in &columns[1..] {
            most = self.apply(Op::Max, &[most, column.clone()], span)?;
        }
        let most = self.apply(Op::Held, &[most], span)?;
        if x.laned {
            let mut sum = Tensor::number(0.0);
            for column in &columns {
                let difference = self.sub(column, &most, span)?;
                let power = self.apply(Op::Exp, &[difference], span)?;
                sum = self.add(&sum, &power, span)?;
            }
            let log = self.apply(Op::Ln, &[sum], span)?;
            return self.add(&most, &log, span);
        }
        self.log_sum_exp_above(x, &most, span)
    }

    /// The same, where the largest element of each lane is known.
    fn log_sum_exp_above(&mut self, x: &Tensor, most: &Tensor, span: Span) -> Run<Tensor> {
        let difference = self.sub(x, most, span)?;
        let powers = self.apply(Op::Exp, &[difference], span)?;
        let sum = self.sum_of(&powers);
        let log = self.apply(Op::Ln, &[sum], span)?;
        self.add(most, &log, span)
    }

    /// The largest element of each row of a matrix: the halves of all rows are compared, then the halves of what is left.
    pub(crate) fn largest_of_rows(&mut self, node: NodeId, rows: usize, columns: usize) -> NodeId {
        let (mut node, mut columns) = (node, columns);
        while columns > 1 {
            let half = columns.div_ceil(2);
            // Where the number is odd, both halves have the element in the middle.
            let places = |from: usize| {
                (0..rows)
                    .flat_map(|row| (0..half).map(move |k| (row * columns + from + k) as u32))
                    .collect::<Vec<u32>>()
            };
            let (first, second) = (places(0), places(columns - half));
            let (first, second) = (self.gather(node, first), self.gather(node, second));
            node = self.graph.apply(Op::Max, &[first, second]);
            columns = half;
        }
        node
    }

    /// The Cholesky factor.
    pub(crate) fn cholesky(&mut self, x: &Tensor, span: Span) -> Run<Tensor> {
        if x.laned {
            return Err(Stop::Lanes);
        }
        let n = self.square(x, span)?;
        self.multiplications(&[n, n, n], 6, span)?;
        if let Some(reason) = x.known().and_then(|values| constrained::asymmetry(values, n)) {
            return wrong(span, format!("the matrix {reason}"));
        }
        let node = self.node(x);
        let node = self.graph.cholesky(node, n);
        let l = self.made(node, StanType::MATRIX, vec![n, n]);
        match l.known() {
            Some(values) if values.iter().any(|x| x.is_nan()) => wrong(span, "the matrix is not positive definite"),
            _ => Ok(l),
        }
    }

    /// X with L X = B, or L' X = B.
    pub(crate) fn solve_lower(&mut self, l: &Tensor, b: &Tensor, transposed: bool, span: Span) -> Run<Tensor> {
        let Some(&n) = l.dims.first() else { return Err(Stop::Lanes) };
        if l.laned || b.laned {
            return Err(Stop::Lanes);
        }
        let columns = b.count() / n.max(1);
        self.multiplications(&[n, n, columns], 2, span)?;
        let (node, right) = (self.node(l), self.node(b));
        let node = self.graph.solve(node, right, n, columns, transposed);
        Ok(self.made(node, b.ty, b.dims.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::is_supported;
    use std::collections::BTreeSet;

    /// Functions of Stan's library that cannot be bound yet; densities, draws and the like are in `density.rs`.
    const ABSENT: [&str; 23] = [
        "bessel_first_kind",
        "bessel_second_kind",
        "gamma_p",
        "gamma_q",
        "generalized_inverse",
        "hmm_hidden_state_prob",
        "hmm_marginal",
        "hypergeometric_1F0",
        "hypergeometric_2F1",
        "hypergeometric_3F2",
        "hypergeometric_pFq",
        "inc_beta",
        "inv_inc_beta",
        "lambert_w0",
        "lambert_wm1",
        "log_modified_bessel_first_kind",
        "modified_bessel_first_kind",
        "modified_bessel_second_kind",
        "owens_t",
        "qr_Q",
        "qr_R",
        "scale_matrix_exp_multiply",
        "trace_dot",
    ];

    #[test]
    fn functions_that_are_absent_are_known() {
        let signatures = include_str!("../../../stan/src/signatures.txt");
        let functions = signatures.split("# Functions: names").nth(1).unwrap_or_default();
        let is_formula = |name: &str| {
            let endings = ["lpdf", "lpmf", "rng", "cdf", "qf", "constrain", "jacobian", "unnorm"];
            !endings.iter().any(|ending| name.ends_with(ending))
        };
        let names = functions
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .flat_map(|(names, _)| names.split_whitespace().filter(|name| is_formula(name)).collect::<Vec<_>>());
        let absent: BTreeSet<&str> = names.filter(|name| !is_supported(name)).collect();
        let unknown: Vec<_> = absent.iter().filter(|name| !ABSENT.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
