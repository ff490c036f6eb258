//! Draws of what a variate lacks: elements that are known stay, the others come from the distribution, between bounds.
//!
//! The functions are given the variate as it is, the lower bound, the upper bound, and the distribution's arguments.

use super::library::{Arguments, Function};
use super::random::{RandomStreams, all_known, made};
use super::{Interpreter, Run, wrong};
use crate::generative::DRAWN;
use crate::generator::{DrawMany, DrawNumber, DrawParameter, Drawn, Generator, generator};
use crate::value::{Tensor, Value};
use octopus_program::{JointDistribution, JointShape};
use octopus_random::Stream;

/// Draws until one lies between the bounds, at the most.
const MOST_TRIES: usize = 100_000;
/// Elements that are computed in the time of a draw.
const ELEMENTS_OF_A_DRAW: usize = 64;
/// Arguments before those of the distribution.
const BEFORE: usize = 3;

/// What draws what a variate lacks, by its name.
pub(super) fn drawn_function(name: &str) -> Option<Box<Function>> {
    let base = name.strip_suffix(DRAWN)?.to_owned();
    if base.is_empty() {
        return Some(Box::new(|me, a| me.given(a)));
    }
    let generator = generator(&format!("{base}_rng"))?;
    Some(Box::new(move |me, a| {
        let Some(mut streams) = me.random.take() else {
            return wrong(a.span, "random numbers are made once for each draw");
        };
        let drawn = match generator {
            Generator::Each(draw) => me.numbers_lacking(draw, &mut streams, a),
            Generator::Many(draw) => me.containers_lacking(&base, draw, false, &mut streams, a),
            Generator::Square(draw) => me.containers_lacking(&base, draw, true, &mut streams, a),
        };
        me.random = Some(streams);
        match drawn? {
            Ok(value) => Ok(value),
            Err(reason) => wrong(a.span, format!("{base}: {reason}")),
        }
    }))
}

/// The numbers of an argument in a lane.
#[derive(Clone, Copy)]
struct LaneNumbers<'a> {
    values: &'a [f64],
    dims: &'a [usize],
}

impl<'a> LaneNumbers<'a> {
    fn of(arg: &'a Tensor, known: &'a [f64], lane: usize) -> Self {
        let count = arg.count();
        let from = if arg.laned { lane * count } else { 0 };
        Self { values: known.get(from..from + count).unwrap_or_default(), dims: &arg.dims }
    }

    /// The number for an element: a scalar serves all.
    fn at(&self, k: usize) -> f64 {
        self.values.get(if self.dims.is_empty() { 0 } else { k }).copied().unwrap_or(f64::NAN)
    }
}

/// Whether a number of a variate is still to be drawn.
fn is_lacking(x: f64, is_int: bool) -> bool {
    if is_int { x == f64::from(i32::MIN) } else { x.is_nan() }
}

impl Interpreter<'_> {
    /// One number for each element that lacks one.
    fn numbers_lacking(&mut self, draw: DrawNumber, streams: &mut RandomStreams, a: &Arguments) -> Run<Drawn<Value>> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        self.shared(&args, a.span)?;
        let known = all_known(&args, a.span)?;
        let count = args[0].count();
        let drawn = self.room(&[count, streams.each.len()], a.span)?;
        self.work(drawn.saturating_mul(ELEMENTS_OF_A_DRAW), a.span)?;
        let mut values = Vec::with_capacity(drawn);
        let mut x = vec![0.0; args.len().saturating_sub(BEFORE)];
        for (lane, stream) in streams.each.iter_mut().enumerate() {
            let all: Vec<LaneNumbers<'_>> =
                args.iter().zip(&known).map(|(arg, known)| LaneNumbers::of(arg, known, lane)).collect();
            for k in 0..count {
                let current = all[0].at(k);
                if !is_lacking(current, a.ty.is_int()) {
                    values.push(current);
                    continue;
                }
                x.iter_mut().zip(&all[BEFORE..]).for_each(|(x, arg)| *x = arg.at(k));
                match between(all[1].at(k), all[2].at(k), &mut || draw(stream, &x)) {
                    Ok(value) => values.push(value),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        }
        Ok(Ok(made(a, args[0].dims.clone(), streams.is_laned, values)))
    }

    /// One container for each variate that lacks all of its numbers.
    fn containers_lacking(
        &mut self,
        base: &str,
        draw: DrawMany,
        is_square: bool,
        streams: &mut RandomStreams,
        a: &Arguments,
    ) -> Run<Drawn<Value>> {
        let Some(row) = JointDistribution::named(base) else { return wrong(a.span, format!("{base} has no variates")) };
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let known = all_known(&args, a.span)?;
        let own = row.arguments.first().map_or(0, |variate| variate.shape.dimensions());
        let inner = args[0].dims[args[0].dims.len().saturating_sub(own)..].to_vec();
        let width: usize = inner.iter().product();
        let variates = args[0].count().checked_div(width).unwrap_or(0);
        let largest = args.iter().map(Tensor::count).max().unwrap_or(0).max(width.saturating_mul(ELEMENTS_OF_A_DRAW));
        self.work(largest.saturating_mul(variates).saturating_mul(streams.each.len()), a.span)?;
        let mut values = Vec::new();
        for (lane, stream) in streams.each.iter_mut().enumerate() {
            let all: Vec<LaneNumbers<'_>> =
                args.iter().zip(&known).map(|(arg, known)| LaneNumbers::of(arg, known, lane)).collect();
            for k in 0..variates {
                let current = &all[0].values[k * width..(k + 1) * width];
                let lacking = current.iter().filter(|&&x| is_lacking(x, a.ty.is_int())).count();
                if lacking == 0 {
                    values.extend_from_slice(current);
                    continue;
                }
                if lacking < width {
                    return Ok(Err("some elements of a variate are known and others are not".to_owned()));
                }
                let parameters =
                    DividedArguments { row, is_square, width, variates, inner: &inner }.of(&all[BEFORE..], k);
                let drawn = parameters.and_then(|parameters| parameters.draw(draw, stream));
                match drawn {
                    Ok(drawn) => values.extend(drawn),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        }
        Ok(Ok(made(a, args[0].dims.clone(), streams.is_laned, values)))
    }

    /// A value that was drawn already, for the elements that lack one.
    fn given(&mut self, a: &Arguments) -> Run<Value> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let known = all_known(&args, a.span)?;
        let laned = args.iter().any(|arg| arg.laned);
        let lanes = if laned { self.lane_count() } else { 1 };
        let count = args[0].count();
        if args.get(BEFORE).is_none_or(|value| value.count() != count) {
            return wrong(a.span, "what was drawn has other sizes than the variate");
        }
        let mut values = Vec::with_capacity(lanes * count);
        for lane in 0..lanes {
            let of = |k: usize| LaneNumbers::of(&args[k], known[k], lane);
            let (current, lower, upper, drawn) = (of(0), of(1), of(2), of(BEFORE));
            for k in 0..count {
                let is_lacking = is_lacking(current.at(k), a.ty.is_int());
                let value = if is_lacking { drawn.at(k) } else { current.at(k) };
                if is_lacking && !(lower.at(k)..=upper.at(k)).contains(&value) {
                    return wrong(a.span, format!("{value} was drawn, which is out of bounds"));
                }
                values.push(value);
            }
        }
        Ok(made(a, args[0].dims.clone(), laned, values))
    }
}

/// A draw that lies between bounds.
fn between(lower: f64, upper: f64, draw: &mut dyn FnMut() -> Drawn<f64>) -> Drawn<f64> {
    for _ in 0..MOST_TRIES {
        let value = draw()?;
        if lower <= value && value <= upper {
            return Ok(value);
        }
    }
    Err(format!("none of {MOST_TRIES} draws lies between {lower} and {upper}"))
}

/// How the arguments of a distribution are divided among its variates.
struct DividedArguments<'a> {
    row: &'static JointDistribution,
    is_square: bool,
    width: usize,
    variates: usize,
    inner: &'a [usize],
}

/// What the generator of one variate is given.
struct VariateArguments<'a> {
    numbers: Vec<(Vec<f64>, &'a [usize])>,
    width: usize,
}

impl<'a> DividedArguments<'a> {
    fn of(&self, args: &[LaneNumbers<'a>], k: usize) -> Drawn<VariateArguments<'a>> {
        let mut numbers: Vec<(Vec<f64>, &[usize])> = Vec::new();
        if self.is_square {
            numbers.push((vec![self.inner.first().map_or(0.0, |&rows| rows as f64)], &[]));
        }
        let shapes = self.row.arguments.iter().skip(1).map(|argument| argument.shape);
        for (arg, shape) in args.iter().zip(shapes) {
            let own = shape.dimensions().min(arg.dims.len());
            let inner = &arg.dims[arg.dims.len() - own..];
            let width: usize = inner.iter().product();
            let many = arg.values.len().checked_div(width).unwrap_or(0);
            let from = match (shape, many) {
                (JointShape::Number | JointShape::Square, _) | (_, 1) => 0,
                (_, many) if many == self.variates => k * width,
                (_, many) => return Err(format!("there are {many} arguments for {} variates", self.variates)),
            };
            numbers.push((arg.values.get(from..from + width).unwrap_or_default().to_vec(), inner));
        }
        // The counts whose sum is to be kept.
        if let Some(counts) = args.get(self.row.arguments.len() - 1) {
            let own = counts.values.get(k * self.width..(k + 1) * self.width).unwrap_or_default();
            numbers.push((vec![own.iter().sum()], &[]));
        }
        Ok(VariateArguments { numbers, width: self.width })
    }
}

impl VariateArguments<'_> {
    fn draw(&self, draw: DrawMany, stream: &mut Stream) -> Drawn<Vec<f64>> {
        let parameters: Vec<DrawParameter<'_>> =
            self.numbers.iter().map(|(values, dims)| DrawParameter { values, dims }).collect();
        let (drawn, _) = draw(stream, &parameters)?;
        if drawn.len() == self.width {
            Ok(drawn)
        } else {
            Err(format!("{} numbers are drawn for a variate of {}", drawn.len(), self.width))
        }
    }
}
