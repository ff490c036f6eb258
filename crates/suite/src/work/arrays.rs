//! Operations on arrays. Vectors have `n` elements, and matrices as many, of which the side is the root of `n` rounded down.
//! Element `i` of the first input is 1.5 and the remainder of 0.37 i by 1; the second has -0.725 in place of 0.37.

use super::{KnownNumbers, TimedOperation, copies, known_settings, name_of, thinned, whole};
use crate::SuiteError;
use crate::message::StartRequest;
use crate::suite::SuiteCase;
use half::f16;
use octopus_array::{Array, ArrayError, Scalar};
use octopus_device::{Device, with_device};

/// The operations.
const OPERATIONS: [&str; 32] = [
    "zeros",
    "arange",
    "add",
    "axpy",
    "div",
    "scale",
    "exp",
    "ln",
    "sqrt",
    "tanh",
    "sigmoid",
    "relu",
    "clip",
    "select",
    "to-f16",
    "sum",
    "max",
    "dot",
    "norm",
    "std",
    "add-row",
    "add-column",
    "outer",
    "transpose",
    "concatenate",
    "sum-axis-0",
    "sum-axis-1",
    "max-axis-0",
    "max-axis-1",
    "std-axis-0",
    "std-axis-1",
    "matmul",
];
/// The factor of `scale` and `axpy`, and the limits of `clip`.
const FACTOR: f64 = 1.5;
const CLIP: [f64; 2] = [1.6, 2.0];
/// The largest errors, relative to the terms of a number: in f64, in f32, and of numbers in half precision.
const LIMITS: [f64; 3] = [1e-12, 1e-4, 1e-3];

/// Returns element `i` of an input.
fn element(i: usize, step: f64) -> f64 {
    (step * i as f64) % 1.0 + 1.5
}

const STEPS: [f64; 2] = [0.37, -0.725];

fn side(n: usize) -> usize {
    n.isqrt()
}

/// Returns the operation of a case, and the number of elements.
///
/// # Errors
/// When there is no such operation, or a setting is none of it.
pub(super) fn check(case: &SuiteCase) -> Result<(&str, usize), SuiteError> {
    known_settings(&case.problem, &["program", "n"])?;
    known_settings(&case.method, &["name", "copies"])?;
    let name = name_of(&case.method);
    if !OPERATIONS.contains(&name) {
        let (name, known) = (name.to_owned(), OPERATIONS.join(", "));
        return Err(SuiteError::Unknown { kind: "operation on arrays", name, known });
    }
    Ok((name, whole(&case.problem, "n")?))
}

/// Returns what the result of an operation must be, by the plainest loops, with sums that are compensated.
pub(super) fn truth(case: &SuiteCase) -> Result<KnownNumbers, SuiteError> {
    let (name, n) = check(case)?;
    let single = case.precision == "f32";
    let rounded = |value: f64| if single { f64::from(value as f32) } else { value };
    let [x, y] = STEPS.map(|step| move |i: usize| rounded(element(i, step)));
    let side = side(n);
    let whole = move |f: &dyn Fn(usize) -> f64| sum((0..n).map(f));
    let line =
        move |axis: usize, at: usize| (0..side).map(move |k| x(if axis == 0 { k * side + at } else { at * side + k }));
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
    let deviation = |values: &dyn Fn() -> Box<dyn Iterator<Item = f64>>, count: usize| {
        let mean = sum(values()) / count as f64;
        (sum(values().map(|value| (value - mean).powi(2))) / count as f64).sqrt()
    };
    let plain = |value: f64| (value, value.abs());
    // The error of a sum is relative to its terms, which are all positive here.
    let of: Box<dyn Fn(usize) -> (f64, f64)> = match name {
        "zeros" => Box::new(|_| (0.0, 1.0)),
        "arange" => Box::new(move |i| plain(0.5 * i as f64)),
        "add" => Box::new(move |i| plain(x(i) + y(i))),
        "axpy" => Box::new(move |i| plain(FACTOR * x(i) + y(i))),
        "div" => Box::new(move |i| plain(x(i) / y(i))),
        "scale" => Box::new(move |i| plain(FACTOR * x(i))),
        "exp" => Box::new(move |i| plain(x(i).exp())),
        "ln" => Box::new(move |i| plain(x(i).ln())),
        "sqrt" => Box::new(move |i| plain(x(i).sqrt())),
        "tanh" => Box::new(move |i| plain(x(i).tanh())),
        "sigmoid" => Box::new(move |i| plain(1.0 / (1.0 + (-x(i)).exp()))),
        "relu" | "to-f16" | "select" => Box::new(move |i| plain(x(i))),
        "clip" => Box::new(move |i| plain(x(i).clamp(rounded(CLIP[0]), rounded(CLIP[1])))),
        "sum" => Box::new(move |_| plain(whole(&x))),
        "max" => Box::new(move |_| plain(largest(&mut (0..n).map(x)))),
        "dot" => Box::new(move |_| plain(whole(&|i| x(i) * y(i)))),
        "norm" => Box::new(move |_| plain(whole(&|i| x(i) * x(i)).sqrt())),
        "std" => Box::new(move |_| plain(deviation(&|| Box::new((0..n).map(x)), n))),
        "add-row" => Box::new(move |i| plain(x(i) + x(i % side))),
        "add-column" => Box::new(move |i| plain(x(i) + x(i / side * side))),
        "outer" => Box::new(move |i| plain(x(i / side) * x(i % side))),
        "transpose" => Box::new(move |i| plain(x(i % side * side + i / side))),
        "concatenate" => Box::new(move |i| plain(x(i / (2 * side) * side + i % side))),
        "sum-axis-0" => Box::new(move |i| plain(sum(line(0, i)))),
        "sum-axis-1" => Box::new(move |i| plain(sum(line(1, i)))),
        "max-axis-0" => Box::new(move |i| plain(largest(&mut line(0, i)))),
        "max-axis-1" => Box::new(move |i| plain(largest(&mut line(1, i)))),
        "std-axis-0" => Box::new(move |i| plain(deviation(&|| Box::new(line(0, i)), side))),
        "std-axis-1" => Box::new(move |i| plain(deviation(&|| Box::new(line(1, i)), side))),
        _ => Box::new(move |i| plain(sum((0..side).map(|k| x(i / side * side + k) * y(k * side + i % side))))),
    };
    let all = match name {
        "sum" | "max" | "dot" | "norm" | "std" => 1,
        "concatenate" => 2 * side * side,
        "add-row" | "add-column" | "outer" | "transpose" | "matmul" => side * side,
        _ if name.contains("-axis-") => side,
        _ => n,
    };
    let first: Vec<(f64, f64)> = (0..all).step_by(thinned(all)).map(of).collect();
    let limit = LIMITS[if name == "to-f16" { 2 } else { usize::from(single) }];
    Ok(KnownNumbers { count: first.len(), first, limit })
}

/// Returns a sum, compensated (Kahan 1965).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for value in values {
        let next: f64 = value - lost;
        let more = sum + next;
        lost = (more - sum) - next;
        sum = more;
    }
    sum
}

/// What an operation makes; a number is on the CPU as soon as it is there.
enum Made<T: Scalar> {
    Array(Array<T>),
    Half(Array<f16>),
    Number(T),
    Host(Vec<f64>),
}

impl<T: Scalar> Made<T> {
    fn numbers(&self) -> Result<Vec<f64>, ArrayError> {
        Ok(match self {
            Self::Array(array) => array.to_f64()?.to_host()?,
            Self::Half(array) => array.to_f64()?.to_host()?,
            Self::Number(number) => vec![number.to_f64()],
            Self::Host(values) => values.clone(),
        })
    }
}

/// Returns the inputs that an operation takes, on this thread's device.
fn taken<T: Scalar>(name: &str, [x, y]: &[Vec<T>; 2]) -> Result<Vec<Array<T>>, ArrayError> {
    let side = side(x.len());
    let vector = |values: &[T]| Array::from_slice(values);
    let square = |values: &[T]| Array::from_shape((side, side), &values[..side * side]);
    Ok(match name {
        "zeros" | "arange" => Vec::new(),
        "add" | "axpy" | "div" | "select" | "dot" => vec![vector(x)?, vector(y)?],
        "outer" => vec![vector(&x[..side])?],
        "add-row" => vec![square(x)?, vector(&x[..side])?],
        "add-column" => {
            let column: Vec<T> = (0..side).map(|i| x[i * side]).collect();
            vec![square(x)?, Array::from_shape((side, 1), &column)?]
        }
        "matmul" => vec![square(x)?, square(y)?],
        "transpose" | "concatenate" => vec![square(x)?],
        _ if name.contains("-axis-") => vec![square(x)?],
        _ => vec![vector(x)?],
    })
}

/// An operation of Octopus.
pub(super) struct ArrayOperation<T: Scalar> {
    name: String,
    device: Device,
    n: usize,
    /// The inputs on the host where they are copied within the time.
    copied: Option<[Vec<T>; 2]>,
    inputs: Vec<Array<T>>,
    last: Option<Made<T>>,
}

impl<T: Scalar> ArrayOperation<T> {
    pub(super) fn new(start: &StartRequest, device: Device) -> Result<Self, SuiteError> {
        let (name, n) = (name_of(&start.method).to_owned(), whole(&start.problem, "n")?);
        let host = STEPS.map(|step| (0..n).map(|i| T::from_f64(element(i, step))).collect::<Vec<T>>());
        let inputs = with_device(device, || taken(&name, &host))?;
        let copied = copies(&start.method).then_some(host);
        Ok(Self { name, device, n, copied, inputs, last: None })
    }

    fn made(&self, inputs: &[Array<T>]) -> Result<Made<T>, ArrayError> {
        let [factor, low, high] = [FACTOR, CLIP[0], CLIP[1]].map(T::from_f64);
        let array = match (self.name.as_str(), inputs) {
            ("zeros", _) => Array::zeros(self.n),
            ("arange", _) => Array::arange(T::ZERO, T::from_f64(0.5 * self.n as f64), T::from_f64(0.5)),
            ("add" | "add-row" | "add-column", [x, y]) => x.add(y),
            ("axpy", [x, y]) => x.axpy(factor, y),
            ("div", [x, y]) => x.div(y),
            ("select", [x, y]) => Array::select(x, x, y),
            ("matmul", [x, y]) => x.matmul(y),
            ("dot", [x, y]) => return x.dot(y).map(Made::Number),
            ("scale", [x]) => x.scale(factor),
            ("exp", [x]) => x.exp(),
            ("ln", [x]) => x.ln(),
            ("sqrt", [x]) => x.sqrt(),
            ("tanh", [x]) => x.tanh(),
            ("sigmoid", [x]) => x.sigmoid(),
            ("relu", [x]) => x.relu(),
            ("clip", [x]) => x.clip(low, high),
            ("outer", [x]) => x.outer(x),
            ("transpose", [x]) => x.transpose(),
            ("concatenate", [x]) => Array::concatenate(&[x, x], 1),
            ("sum-axis-0", [x]) => x.sum_axis(0),
            ("sum-axis-1", [x]) => x.sum_axis(1),
            ("max-axis-0", [x]) => x.max_axis(0),
            ("max-axis-1", [x]) => x.max_axis(1),
            ("std-axis-0", [x]) => x.std_axis(0, 0),
            ("std-axis-1", [x]) => x.std_axis(1, 0),
            ("to-f16", [x]) => return x.to_f16().map(Made::Half),
            ("sum", [x]) => return x.sum().map(Made::Number),
            ("max", [x]) => return x.max().map(Made::Number),
            ("norm", [x]) => return x.norm().map(Made::Number),
            ("std", [x]) => return x.std(0).map(Made::Number),
            // The runner refuses other names, with the known ones.
            _ => return Ok(Made::Host(Vec::new())),
        };
        array.map(Made::Array)
    }
}

impl<T: Scalar> TimedOperation for ArrayOperation<T> {
    fn call(&mut self, _seed: u64) -> Result<(), SuiteError> {
        let made = with_device(self.device, || match &self.copied {
            Some(host) => self.made(&taken(&self.name, host)?)?.numbers().map(Made::Host),
            None => self.made(&self.inputs),
        });
        self.last = Some(made?);
        Ok(())
    }

    fn result(&self) -> Result<(usize, Vec<f64>), SuiteError> {
        let numbers = self.last.as_ref().map(Made::numbers).transpose()?;
        Ok((1, numbers.unwrap_or_default()))
    }
}
