//! Functions of single numbers, taken element by element, and questions about numbers.
//!
//! What depends on no parameter is computed by `octopus_random::exact`; of parameters a function is a formula of operations
//! that have slopes.

use super::{Arguments, Plain};
use crate::interpreter::{Interpreter, Run, Stop, wrong};
use crate::value::{Ints, Tensor, Value};
use octopus_program::Op;
use octopus_random::exact;
use octopus_stan::{BinaryOp, Span};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, PI, SQRT_2};

/// Operations on values, all at one place of the program.
pub(super) struct Formula<'m, 'p> {
    pub(super) me: &'m mut Interpreter<'p>,
    pub(super) span: Span,
}

impl Formula<'_, '_> {
    fn op(&mut self, op: Op, args: &[&Tensor]) -> Run<Tensor> {
        let args: Vec<Tensor> = args.iter().map(|&arg| arg.clone()).collect();
        self.me.apply(op, &args, self.span)
    }
    fn add(&mut self, a: &Tensor, b: &Tensor) -> Run<Tensor> {
        self.me.add(a, b, self.span)
    }
    fn sub(&mut self, a: &Tensor, b: &Tensor) -> Run<Tensor> {
        self.me.sub(a, b, self.span)
    }
    fn mul(&mut self, a: &Tensor, b: &Tensor) -> Run<Tensor> {
        self.me.mul(a, b, self.span)
    }
    fn div(&mut self, a: &Tensor, b: &Tensor) -> Run<Tensor> {
        self.me.div(a, b, self.span)
    }
    fn times(&mut self, x: f64, a: &Tensor) -> Run<Tensor> {
        self.mul(&Tensor::number(x), a)
    }
    fn plus(&mut self, x: f64, a: &Tensor) -> Run<Tensor> {
        self.add(&Tensor::number(x), a)
    }
    /// x - a
    fn less(&mut self, x: f64, a: &Tensor) -> Run<Tensor> {
        self.sub(&Tensor::number(x), a)
    }
    fn lgamma(&mut self, a: &Tensor) -> Run<Tensor> {
        self.op(Op::LnGamma, &[a])
    }
    /// `yes` where a < b, else `no`.
    fn if_below(&mut self, a: &Tensor, b: &Tensor, yes: &Tensor, no: &Tensor) -> Run<Tensor> {
        let below = self.op(Op::Less, &[a, b])?;
        self.op(Op::Select, &[&below, yes, no])
    }
    /// The logarithm of a function that is symmetric in its beginning: e^ln|x| with the sign of x.
    fn with_sign_of(&mut self, x: &Tensor, size: &Tensor) -> Run<Tensor> {
        let sign = self.op(Op::Sign, &[x])?;
        self.mul(&sign, size)
    }
}

type OfOne = fn(&mut Formula<'_, '_>, &Tensor) -> Run<Tensor>;
type OfTwo = fn(&mut Formula<'_, '_>, &Tensor, &Tensor) -> Run<Tensor>;

/// A function of one number as a formula of parameters.
pub(super) fn formula_of_one(name: &str) -> Option<OfOne> {
    Some(match name {
        "tgamma" => |f, x| {
            let log = f.lgamma(x)?;
            let value = f.op(Op::Exp, &[&log])?;
            // The logarithm is of |Gamma|, whose sign below 0 changes at each whole number.
            f.if_below(x, &Tensor::number(0.0), &Tensor::number(f64::NAN), &value)
        },
        "tan" => |f, x| {
            let (sine, cosine) = (f.op(Op::Sin, &[x])?, f.op(Op::Cos, &[x])?);
            f.div(&sine, &cosine)
        },
        "asin" => |f, x| {
            let (below, above) = (f.less(1.0, x)?, f.plus(1.0, x)?);
            let square = f.mul(&below, &above)?;
            let root = f.op(Op::Sqrt, &[&square])?;
            let ratio = f.div(x, &root)?;
            f.op(Op::Atan, &[&ratio])
        },
        "acos" => |f, x| {
            let (below, above) = (f.less(1.0, x)?, f.plus(1.0, x)?);
            let ratio = f.div(&below, &above)?;
            let root = f.op(Op::Sqrt, &[&ratio])?;
            let half = f.op(Op::Atan, &[&root])?;
            f.times(2.0, &half)
        },
        "sinh" => |f, x| {
            let e = f.op(Op::ExpM1, &[x])?;
            let above = f.plus(1.0, &e)?;
            let other = f.div(&e, &above)?;
            let sum = f.add(&e, &other)?;
            f.times(0.5, &sum)
        },
        "cosh" => |f, x| {
            let minus = f.op(Op::Neg, &[x])?;
            let (e, other) = (f.op(Op::Exp, &[x])?, f.op(Op::Exp, &[&minus])?);
            let sum = f.add(&e, &other)?;
            f.times(0.5, &sum)
        },
        "asinh" => |f, x| {
            // |x| + x^2 / (1 + sqrt(1 + x^2)) is what ln(1 + a) takes.
            let size = f.op(Op::Abs, &[x])?;
            let square = f.mul(x, x)?;
            let above = f.plus(1.0, &square)?;
            let root = f.op(Op::Sqrt, &[&above])?;
            let below = f.plus(1.0, &root)?;
            let rest = f.div(&square, &below)?;
            let sum = f.add(&size, &rest)?;
            let log = f.op(Op::Ln1p, &[&sum])?;
            f.with_sign_of(x, &log)
        },
        "acosh" => |f, x| {
            let (below, above) = (f.plus(-1.0, x)?, f.plus(1.0, x)?);
            let square = f.mul(&below, &above)?;
            let root = f.op(Op::Sqrt, &[&square])?;
            let sum = f.add(&below, &root)?;
            f.op(Op::Ln1p, &[&sum])
        },
        "atanh" => |f, x| {
            let (above, below) = (f.op(Op::Ln1p, &[x])?, f.op(Op::Ln1m, &[x])?);
            let difference = f.sub(&above, &below)?;
            f.times(0.5, &difference)
        },
        "log2" => |f, x| {
            let log = f.op(Op::Ln, &[x])?;
            f.div(&log, &Tensor::number(LN_2))
        },
        "log10" => |f, x| {
            let log = f.op(Op::Ln, &[x])?;
            f.div(&log, &Tensor::number(LN_10))
        },
        "exp2" => |f, x| {
            let power = f.times(LN_2, x)?;
            f.op(Op::Exp, &[&power])
        },
        "cbrt" => |f, x| {
            let size = f.op(Op::Abs, &[x])?;
            let log = f.op(Op::Ln, &[&size])?;
            let third = f.div(&log, &Tensor::number(3.0))?;
            let root = f.op(Op::Exp, &[&third])?;
            f.with_sign_of(x, &root)
        },
        "erf" => |f, x| {
            let scaled = f.times(SQRT_2, x)?;
            let phi = f.op(Op::Phi, &[&scaled])?;
            let twice = f.times(2.0, &phi)?;
            f.plus(-1.0, &twice)
        },
        "erfc" => |f, x| {
            let scaled = f.times(-SQRT_2, x)?;
            let phi = f.op(Op::Phi, &[&scaled])?;
            f.times(2.0, &phi)
        },
        "inv_erfc" => |f, x| {
            let half = f.times(0.5, x)?;
            let quantile = f.op(Op::NormalQuantile, &[&half])?;
            f.times(-FRAC_1_SQRT_2, &quantile)
        },
        "std_normal_qf" => |f, x| f.op(Op::NormalQuantile, &[x]),
        "inv_cloglog" => |f, x| {
            let e = f.op(Op::Exp, &[x])?;
            let minus = f.op(Op::Neg, &[&e])?;
            let rest = f.op(Op::ExpM1, &[&minus])?;
            f.op(Op::Neg, &[&rest])
        },
        _ => return None,
    })
}

/// A function of two numbers as a formula of parameters.
fn formula_of_two(name: &str) -> Option<OfTwo> {
    Some(match name {
        "lbeta" => |f, a, b| {
            let sum = f.add(a, b)?;
            let (a, b, sum) = (f.lgamma(a)?, f.lgamma(b)?, f.lgamma(&sum)?);
            let both = f.add(&a, &b)?;
            f.sub(&both, &sum)
        },
        "beta" => |f, a, b| {
            let sum = f.add(a, b)?;
            let (a, b, sum) = (f.lgamma(a)?, f.lgamma(b)?, f.lgamma(&sum)?);
            let both = f.add(&a, &b)?;
            let log = f.sub(&both, &sum)?;
            f.op(Op::Exp, &[&log])
        },
        "lchoose" => |f, n, k| {
            let rest = f.sub(n, k)?;
            let (n, k, rest) = (f.plus(1.0, n)?, f.plus(1.0, k)?, f.plus(1.0, &rest)?);
            let (n, k, rest) = (f.lgamma(&n)?, f.lgamma(&k)?, f.lgamma(&rest)?);
            let below = f.add(&k, &rest)?;
            f.sub(&n, &below)
        },
        "log_falling_factorial" => |f, x, n| {
            let above = f.plus(1.0, x)?;
            let below = f.sub(&above, n)?;
            let (above, below) = (f.lgamma(&above)?, f.lgamma(&below)?);
            f.sub(&above, &below)
        },
        "log_rising_factorial" => |f, x, n| {
            let above = f.add(x, n)?;
            let (above, below) = (f.lgamma(&above)?, f.lgamma(x)?);
            f.sub(&above, &below)
        },
        "log_diff_exp" => |f, x, y| {
            let difference = f.sub(y, x)?;
            let rest = f.op(Op::Ln1mExp, &[&difference])?;
            f.add(x, &rest)
        },
        "log_inv_logit_diff" => |f, x, y| {
            // ln((e^x - e^y) / ((1 + e^x) (1 + e^y)))
            let difference = f.sub(y, x)?;
            let rest = f.op(Op::Ln1mExp, &[&difference])?;
            let (a, b) = (f.op(Op::Neg, &[x])?, f.op(Op::Softplus, &[y])?);
            let a = f.op(Op::Softplus, &[&a])?;
            let below = f.add(&a, &b)?;
            f.sub(&rest, &below)
        },
        "lmultiply" => |f, x, y| {
            let log = f.op(Op::Ln, &[y])?;
            let product = f.mul(x, &log)?;
            f.op(Op::Select, &[x, &product, &Tensor::number(0.0)])
        },
        "fdim" => |f, x, y| {
            let difference = f.sub(x, y)?;
            f.op(Op::Max, &[&difference, &Tensor::number(0.0)])
        },
        "hypot" => |f, x, y| {
            let (x, y) = (f.mul(x, x)?, f.mul(y, y)?);
            let sum = f.add(&x, &y)?;
            f.op(Op::Sqrt, &[&sum])
        },
        "atan2" => |f, y, x| {
            let zero = Tensor::number(0.0);
            let ratio = f.div(y, x)?;
            let angle = f.op(Op::Atan, &[&ratio])?;
            let half = f.if_below(y, &zero, &Tensor::number(-PI), &Tensor::number(PI))?;
            let turn = f.if_below(x, &zero, &half, &zero)?;
            f.add(&angle, &turn)
        },
        "binary_log_loss" => |f, y, p| {
            let (yes, no) = (f.op(Op::Ln, &[p])?, f.op(Op::Ln1m, &[p])?);
            let log = f.op(Op::Select, &[y, &yes, &no])?;
            f.op(Op::Neg, &[&log])
        },
        _ => return None,
    })
}

/// A function of two known numbers, where it is better than its formula.
fn plain_of_two(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "lbeta" => exact::lbeta,
        "lchoose" => exact::lchoose,
        "log_diff_exp" => exact::log_diff_exp,
        "fmod" => |x, y| x % y,
        "hypot" => |x, y| {
            let (big, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
            let ratio = if big > 0.0 && big.is_finite() { small / big } else { 0.0 };
            big * (1.0 + ratio * ratio).sqrt()
        },
        "atan2" => angle,
        "ldexp" => |x, n| x * n.exp2(),
        _ => return None,
    })
}

/// The angle of a point, in [-pi, pi].
fn angle(y: f64, x: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let first = if x == 0.0 && y == 0.0 { 0.0 } else { exact::circle::arctangent(y.abs(), x.abs()) };
    let upper = if x.is_sign_negative() { PI - first } else { first };
    upper.copysign(y)
}

/// An operator by the name of its function.
fn operator(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "add" => BinaryOp::Add,
        "subtract" => BinaryOp::Subtract,
        "multiply" => BinaryOp::Multiply,
        "divide" => BinaryOp::Divide,
        "elt_multiply" => BinaryOp::ElementMultiply,
        "elt_divide" => BinaryOp::ElementDivide,
        "modulus" => BinaryOp::Modulo,
        "logical_eq" => BinaryOp::Equal,
        "logical_neq" => BinaryOp::NotEqual,
        "logical_lt" => BinaryOp::Less,
        "logical_lte" => BinaryOp::LessOrEqual,
        "logical_gt" => BinaryOp::Greater,
        "logical_gte" => BinaryOp::GreaterOrEqual,
        _ => return None,
    })
}

fn of_two(me: &mut Interpreter<'_>, a: &Arguments, name: &str) -> Run<Value> {
    let args = [a.tensor(me, 0), a.tensor(me, 1)];
    if let Some(plain) = plain_of_two(name)
        && let Some(value) = me.computed(&args, a.span, &|x| plain(x[0], x[1]))?
    {
        return Ok(value.into());
    }
    match formula_of_two(name) {
        Some(formula) => Ok(formula(&mut Formula { me, span: a.span }, &args[0], &args[1])?.into()),
        None => wrong(a.span, format!("`{name}` of parameters is not supported yet")),
    }
}

/// A whole-number function of two, for each element.
fn whole_of_two(me: &mut Interpreter<'_>, a: &Arguments, of: fn(i64, i64) -> Option<i64>) -> Run<Value> {
    let (Some(x), Some(y)) = (me.ints(&a.values[0]), me.ints(&a.values[1])) else {
        return wrong(a.span, "it takes whole numbers");
    };
    if x.laned || y.laned {
        return Err(Stop::Lanes);
    }
    let dims = if x.dims.is_empty() { y.dims.clone() } else { x.dims.clone() };
    if !x.dims.is_empty() && !y.dims.is_empty() && x.dims != y.dims {
        return wrong(a.span, format!("sizes differ: {:?} and {:?}", x.dims, y.dims));
    }
    let at = |ints: &Ints, k: usize| ints.values[if ints.dims.is_empty() { 0 } else { k }];
    let count = dims.iter().product();
    match (0..count).map(|k| of(at(&x, k), at(&y, k))).collect::<Option<Vec<i64>>>() {
        Some(values) => Ok(Ints { dims, laned: false, values: values.into() }.into()),
        None => wrong(a.span, "the result is no whole number that can be kept"),
    }
}

/// The product of `factors` numbers from `first` on, each `step` after the one before.
fn factorial(first: i64, factors: i64, step: i64) -> Option<i64> {
    if !(0..=1_000_000).contains(&factors) {
        return None;
    }
    (0..factors).try_fold(1_i64, |product, k| product.checked_mul(first.checked_add(k * step)?))
}

fn choose(n: i64, k: i64) -> Option<i64> {
    if k < 0 || k > n {
        return Some(0);
    }
    let k = k.min(n - k);
    // In this order each quotient is whole; a wider product keeps it exact.
    let wide = (1..=i128::from(k)).try_fold(1_i128, |product, i| {
        let next = product.checked_mul(i128::from(n) - i128::from(k) + i)? / i;
        (next <= i128::from(i64::MAX)).then_some(next)
    })?;
    i64::try_from(wide).ok()
}

/// x (x + step) (x + 2 step) .. with n factors, for each element.
fn factorials(me: &mut Interpreter<'_>, a: &Arguments, step: i64) -> Run<Value> {
    if a.ty.is_int() {
        let of = if step > 0 { |x, n| factorial(x, n, 1) } else { |x, n| factorial(x, n, -1) };
        return whole_of_two(me, a, of);
    }
    let Some(counts) = me.ints(&a.values[1]) else { return wrong(a.span, "the number of factors must be known") };
    let Some((&first, true)) = counts.values.first().map(|n| (n, counts.values.iter().all(|other| other == n))) else {
        return wrong(a.span, "different numbers of factors are not supported yet");
    };
    if !(0..=1000).contains(&first) {
        return wrong(a.span, format!("{first} factors; from 0 to 1000 are supported"));
    }
    let x = a.tensor(me, 0);
    let mut formula = Formula { me, span: a.span };
    let mut product = formula.times(0.0, &x)?;
    product = formula.plus(1.0, &product)?;
    for k in 0..first {
        let factor = formula.plus((k * step) as f64, &x)?;
        product = formula.mul(&product, &factor)?;
    }
    Ok(product.into())
}

/// The function of a name.
pub(super) fn scalar(name: &str) -> Option<Box<super::Function>> {
    if let Some(op) = operator(name) {
        return Some(Box::new(move |me, a| {
            me.binary(op, (&a.values[0], a.types[0]), (&a.values[1], a.types[1]), a.span)
        }));
    }
    if plain_of_two(name).is_some() || formula_of_two(name).is_some() {
        let name = name.to_owned();
        return Some(Box::new(move |me, a| of_two(me, a, &name)));
    }
    let function: Plain = match name {
        "minus" => |me, a| match &a.values[0] {
            Value::Int(x) => Ok(Value::Int(x.saturating_neg())),
            value => {
                let tensor = me.tensor(value);
                Ok(me.apply(Op::Neg, &[tensor], a.span)?.into())
            }
        },
        "plus" => |_, a| Ok(a.values[0].clone()),
        "choose" => |me, a| whole_of_two(me, a, choose),
        "rising_factorial" => |me, a| factorials(me, a, 1),
        "falling_factorial" => |me, a| factorials(me, a, -1),
        "logical_and" => |me, a| whole_of_two(me, a, |x, y| Some(i64::from(x != 0 && y != 0))),
        "logical_or" => |me, a| whole_of_two(me, a, |x, y| Some(i64::from(x != 0 || y != 0))),
        "logical_negation" => |me, a| Ok(Value::Int(i64::from(a.count_at(me, 0)? == 0))),
        "int_step" => |me, a| {
            let x = a.tensor(me, 0);
            let above = me.apply(Op::Less, &[Tensor::number(0.0), x], a.span)?;
            truths(above)
        },
        "is_nan" => |me, a| {
            // Neither below infinity nor above all that is finite.
            let x = a.tensor(me, 0);
            let finite = me.apply(Op::Less, &[x.clone(), Tensor::number(f64::INFINITY)], a.span)?;
            let large = me.apply(Op::Less, &[Tensor::number(f64::MAX), x], a.span)?;
            let either = me.add(&finite, &large, a.span)?;
            truths(me.sub(&Tensor::number(1.0), &either, a.span)?)
        },
        "is_inf" => |me, a| {
            let size = me.apply(Op::Abs, &[a.tensor(me, 0)], a.span)?;
            truths(me.apply(Op::Less, &[Tensor::number(f64::MAX), size], a.span)?)
        },
        "to_int" => |me, a| {
            let x = a.tensor(me, 0);
            let Some(values) = x.known() else { return wrong(a.span, "it takes data") };
            if let Some(value) = values.iter().find(|x| x.abs() > f64::from(i32::MAX) || x.is_nan()) {
                return wrong(a.span, format!("{value} is no whole number of 32 bits"));
            }
            let values: Vec<i64> = values.iter().map(|&x| x as i64).collect();
            Ok(Ints { dims: x.dims.clone(), laned: x.laned, values: values.into() }.into())
        },
        "lmgamma" => |me, a| {
            let n = a.count_at(me, 0)?;
            if !(0..=1000).contains(&n) {
                return wrong(a.span, format!("{n} dimensions; from 0 to 1000 are supported"));
            }
            let x = a.tensor(me, 1);
            let mut f = Formula { me, span: a.span };
            let mut sum = Tensor::number(0.25 * (n * (n - 1)) as f64 * exact::ln(PI));
            for j in 0..n {
                let shifted = f.plus(-0.5 * j as f64, &x)?;
                let log = f.lgamma(&shifted)?;
                sum = f.add(&sum, &log)?;
            }
            Ok(sum.into())
        },
        _ => return None,
    };
    Some(Box::new(function))
}

/// Comparisons of data are whole numbers; of parameters they are reals that are 0 or 1.
fn truths(x: Tensor) -> Run<Value> {
    Ok(match x.known() {
        Some(values) => {
            let values: Vec<i64> = values.iter().map(|&x| x as i64).collect();
            Ints { dims: x.dims.clone(), laned: x.laned, values: values.into() }.into()
        }
        None => x.into(),
    })
}
