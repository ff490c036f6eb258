//! Random numbers while a program runs on one draw, or makes its data.
//!
//! A pass of a loop has a stream of its own, addressed by the loop and the pass: so a loop that is run for all of its passes
//! at once, in lanes, draws the numbers that it draws pass by pass.

use super::library::{Arguments, Function};
use super::{Interpreter, Run, wrong};
use crate::generator::{DrawMany, DrawNumber, DrawParameter, Drawn, Generator, generator};
use crate::value::{Ints, Tensor, Value};
use octopus_random::{Key, Purpose, Stream};
use octopus_stan::Span;

/// Elements that are computed in the time of a draw.
const ELEMENTS_OF_A_DRAW: usize = 64;
/// Elements that are computed in the time in which a draw of a category looks at one.
const ELEMENTS_OF_A_LOOK: usize = 4;

/// The streams from which numbers are drawn: one, or one for each lane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RandomStreams {
    pub(crate) each: Vec<Stream>,
    pub(crate) is_laned: bool,
}

impl RandomStreams {
    pub(crate) fn one(stream: Stream) -> Self {
        Self { each: vec![stream], is_laned: false }
    }
}

/// The addresses of a loop's passes: a key for each lane outside.
#[derive(Debug)]
pub(crate) struct PassStreams {
    keys: Vec<Key>,
    is_laned: bool,
    /// The number of the first pass.
    first: u64,
}

impl PassStreams {
    /// The addresses without the first passes.
    pub(crate) fn after(&self, passes: u64) -> Self {
        Self { keys: self.keys.clone(), is_laned: self.is_laned, first: self.first + passes }
    }

    /// The streams of a pass, counted from 0.
    pub(crate) fn pass(&self, number: u64) -> RandomStreams {
        let each = self.keys.iter().map(|key| stream_of(*key, self.first + number)).collect();
        RandomStreams { each, is_laned: self.is_laned }
    }

    /// The streams of passes, counted from 0, as lanes of a loop that has none around it.
    pub(crate) fn lanes(&self, passes: &[u32]) -> RandomStreams {
        let numbers = || passes.iter().map(|&pass| self.first + u64::from(pass));
        let each = self.keys.iter().flat_map(|key| numbers().map(|number| stream_of(*key, number))).collect();
        RandomStreams { each, is_laned: true }
    }
}

fn stream_of(key: Key, number: u64) -> Stream {
    Stream::new(key.fold_in(number).bits(), 0, 0, Purpose::Predictive)
}

/// The function of the library that draws random numbers, by its name.
pub(super) fn random_function(name: &str) -> Option<Box<Function>> {
    let generator = generator(name)?;
    let name = name.to_owned();
    Some(Box::new(move |me, a| {
        let Some(mut streams) = me.random.take() else {
            return wrong(a.span, "random numbers are made once for each draw");
        };
        let drawn = match generator {
            Generator::Each(draw) => me.each_drawn(draw, &mut streams, a),
            Generator::Many(draw) => me.many_drawn(draw, &mut streams, a),
            Generator::Square(draw) => {
                me.room_for_square(&streams, a).and_then(|()| me.many_drawn(draw, &mut streams, a))
            }
        };
        me.random = Some(streams);
        match drawn? {
            Ok(value) => Ok(value),
            Err(reason) => wrong(a.span, format!("{name}: {reason}")),
        }
    }))
}

impl Interpreter<'_> {
    /// Demands that the matrices can be made of which the first argument is the number of rows.
    fn room_for_square(&mut self, streams: &RandomStreams, a: &Arguments) -> Run<()> {
        let rows = a.size_at(self, 0)?;
        let elements = self.room(&[rows, rows], a.span)?;
        self.room(&[elements, streams.each.len()], a.span)?;
        let numbers = elements.saturating_mul(ELEMENTS_OF_A_DRAW);
        self.work(elements.saturating_mul(rows).saturating_add(numbers).saturating_mul(streams.each.len()), a.span)
    }

    /// Begins a loop: the addresses of its passes, if numbers can be drawn.
    pub(crate) fn pass_streams(&mut self) -> Option<PassStreams> {
        let streams = self.random.as_mut()?;
        let keys = streams.each.iter_mut().map(|stream| Key::new(stream.next_bits())).collect();
        Some(PassStreams { keys, is_laned: streams.is_laned, first: 0 })
    }

    /// One number for each element, element after element in each lane.
    fn each_drawn(&mut self, draw: DrawNumber, streams: &mut RandomStreams, a: &Arguments) -> Run<Drawn<Value>> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let shared = self.shared(&args, a.span)?;
        let count = if a.ty.dimensions() == 0 { 1 } else { shared.count() };
        let dims = if a.ty.dimensions() == 0 { Vec::new() } else { vec![count] };
        let known = all_known(&args, a.span)?;
        let drawn = self.room(&[count, streams.each.len()], a.span)?;
        self.work(drawn.saturating_mul(ELEMENTS_OF_A_DRAW), a.span)?;
        let mut values = Vec::with_capacity(drawn);
        let mut x = vec![0.0; args.len()];
        for (lane, stream) in streams.each.iter_mut().enumerate() {
            for k in 0..count {
                for ((x, arg), known) in x.iter_mut().zip(&args).zip(&known) {
                    let own = if arg.is_scalar() { 1 } else { count };
                    *x = known[if arg.laned { lane * own } else { 0 } + if arg.is_scalar() { 0 } else { k }];
                }
                match draw(stream, &x) {
                    Ok(value) => values.push(value),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        }
        Ok(Ok(made(a, dims, streams.is_laned, values)))
    }

    /// One container for each lane.
    fn many_drawn(&mut self, draw: DrawMany, streams: &mut RandomStreams, a: &Arguments) -> Run<Drawn<Value>> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let known = all_known(&args, a.span)?;
        for arg in &args {
            // A draw may take one number for each element of a vector, and a factor of a matrix.
            let count = arg.count();
            let of_one = match (&arg.dims[..], a.ty.dimensions()) {
                (&[rows, _], _) if arg.ty.arrays == 0 => count.saturating_mul(rows),
                (_, 0) => count.saturating_mul(ELEMENTS_OF_A_LOOK),
                _ => count.saturating_mul(ELEMENTS_OF_A_DRAW),
            };
            self.work(of_one.saturating_mul(streams.each.len()), a.span)?;
        }
        let (mut values, mut dims) = (Vec::new(), Vec::new());
        for (lane, stream) in streams.each.iter_mut().enumerate() {
            let mut parameters = Vec::with_capacity(args.len());
            for (arg, known) in args.iter().zip(&known) {
                let count = arg.count();
                let from = if arg.laned { lane * count } else { 0 };
                parameters.push(DrawParameter { values: &known[from..from + count], dims: &arg.dims });
            }
            match draw(stream, &parameters) {
                Ok((drawn, sizes)) => {
                    values.extend(drawn);
                    dims = sizes;
                }
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(made(a, dims, streams.is_laned, values)))
    }
}

pub(super) fn all_known(args: &[Tensor], span: Span) -> Run<Vec<&[f64]>> {
    match args.iter().map(Tensor::known).collect() {
        Some(known) => Ok(known),
        None => wrong(span, "random numbers are made once for each draw"),
    }
}

/// Numbers as a value of the function's type.
pub(super) fn made(a: &Arguments, dims: Vec<usize>, laned: bool, values: Vec<f64>) -> Value {
    if a.ty.is_int() {
        let values: Vec<i64> = values.into_iter().map(|x| x as i64).collect();
        return Ints { dims, laned, values: values.into() }.into();
    }
    Tensor::new(a.ty, dims, laned, crate::value::Elements::Data(values.into())).into()
}
