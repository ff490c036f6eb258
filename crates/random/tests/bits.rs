//! Exact functions and draws have the bits of a second implementation, in NumPy (`data/make_draws.py`).
//!
//! The distributions themselves are tested beside this; here it is that nobody's draws change, not by their last bit.

use octopus_random::exact::single;
use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, Purpose, Stream, StudentT, Uniform, VonMises,
    VonMisesFisher, WrappedNormal, exact,
};
use rand::distr::Distribution;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::convert::Infallible;

const PURPOSES: [Purpose; 12] = [
    Purpose::Init,
    Purpose::Momentum,
    Purpose::Tree,
    Purpose::StepSize,
    Purpose::Metric,
    Purpose::Predictive,
    Purpose::User,
    Purpose::Calibration,
    Purpose::Prior,
    Purpose::Draws,
    Purpose::Key,
    Purpose::Probe,
];

/// A type with its exact functions.
trait Exact: FloatingPoint {
    const END: f64;
    fn bytes(self) -> Vec<u8>;
    /// The numbers at some steps beside the root of 2, where the mantissa of a logarithm is halved.
    fn beside_root(step: i32) -> Self;
    fn tanh(self) -> Self;
    fn sigmoid(self) -> Self;
    fn normal_quantile(self) -> Self;
}

impl Exact for f64 {
    const END: f64 = 720.0;
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
    fn beside_root(step: i32) -> Self {
        Self::from_bits(std::f64::consts::SQRT_2.to_bits().wrapping_add_signed(step.into()))
    }
    fn tanh(self) -> Self {
        exact::tanh(self)
    }
    fn sigmoid(self) -> Self {
        exact::sigmoid(self)
    }
    fn normal_quantile(self) -> Self {
        exact::normal_quantile(self)
    }
}

impl Exact for f32 {
    const END: f64 = 90.0;
    fn bytes(self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
    fn beside_root(step: i32) -> Self {
        Self::from_bits(std::f32::consts::SQRT_2.to_bits().wrapping_add_signed(step))
    }
    fn tanh(self) -> Self {
        single::tanh(self)
    }
    fn sigmoid(self) -> Self {
        single::sigmoid(self)
    }
    fn normal_quantile(self) -> Self {
        single::normal_quantile(self)
    }
}

fn rows() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("data/draws.json")).expect("JSON");
    all.as_array().expect("rows").clone()
}

fn parameters(row: &Value) -> Vec<f64> {
    let texts = row["parameters"].as_array().expect("parameters").iter();
    texts.map(|text| text.as_str().expect("text").parse().expect("number")).collect()
}

/// Compares with a row: some numbers first, since a number says more than a hash.
fn check<T: Exact>(row: &Value, values: &[T]) {
    let what = format!("{} {} from {} in {}", row["name"], row["parameters"], row["first"], T::NAME);
    assert_eq!(values.len() as u64, row["n"].as_u64().expect("n"), "{what}");
    let step = (values.len() / 4).max(1);
    for (k, some) in row["some"].as_array().expect("some").iter().enumerate() {
        assert_eq!(values[k * step].to_f64(), some.as_f64().expect("number"), "{what}: {}", k * step);
    }
    let hash = values.iter().fold(Sha256::new(), |hash, value| hash.chain_update(value.bytes()));
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, row["sha256"], "{what}");
}

/// Numbers in the middle of as many cells.
fn ramp<T: FloatingPoint>(low: f64, high: f64) -> Vec<T> {
    (0..20_000).map(|i| T::from_f64(low + (high - low) * ((f64::from(i) + 0.5) / 20_000.0))).collect()
}

fn functions_of<T: Exact>() -> usize {
    let one = T::from_f64(1.0);
    let everywhere = ramp::<T>(-T::END, T::END);
    let (unit, half) = (ramp::<T>(0.0, 1.0), ramp::<T>(0.0, 0.5));
    let small: Vec<T> = ramp::<T>(0.95 * -T::END, 0.0).into_iter().map(T::exp).collect();
    let of = |f: fn(T) -> T, points: &[&[T]]| -> Vec<T> { points.concat().into_iter().map(f).collect() };
    let inverse: Vec<T> = small.iter().map(|x| one / *x).collect();
    let below_one = |x: &[T]| -> Vec<T> { x.iter().copied().filter(|x| *x < one).collect() };
    let rest: Vec<T> = unit.iter().map(|x| one - *x).collect();
    let ones = vec![one; unit.len()];
    let sides = [[&unit, &ones], [&ones, &unit], [&unit, &rest]];
    let beside = |k: i32| (-2..=2).map(move |step| T::from_f64(2f64.powi(k)) * T::beside_root(step));
    let roots: Vec<T> = (-5..=5).flat_map(beside).collect();
    let mut checked = 0;
    for row in rows().iter().filter(|row| row["type"] == T::NAME) {
        let values = match row["name"].as_str().expect("name") {
            "exp" => of(T::exp, &[&everywhere]),
            "ln" => of(T::ln, &[&ramp(0.0, 4.0), &small, &inverse]),
            "ln beside a root" => of(T::ln, &[&roots]),
            "minus_ln_of_rest" => of(T::minus_ln_of_rest, &[&half]),
            "exp_minus_one" => of(T::exp_minus_one, &[&ramp(0.0, 80.0), &small]),
            "tanh" => of(T::tanh, &[&ramp(-25.0, 25.0), &small]),
            "sigmoid" => of(T::sigmoid, &[&everywhere]),
            "normal_quantile" => of(T::normal_quantile, &[&below_one(&unit), &below_one(&small)]),
            "sine" => of(|x| x.sin_cos_quarter().0, &[&half]),
            "cosine" => of(|x| x.sin_cos_quarter().1, &[&half]),
            "arctangent" => {
                let points = sides.iter().flat_map(|[above, below]| above.iter().zip(*below));
                points.map(|(above, below)| T::arctangent(*above, *below)).collect()
            }
            _ => continue,
        };
        check(row, &values);
        checked += 1;
    }
    checked
}

#[test]
fn exact_functions_have_the_bits_of_a_second_implementation() {
    assert_eq!((functions_of::<f64>(), functions_of::<f32>()), (11, 11));
}

/// Where a function ends, the last number on either side.
#[test]
fn exact_functions_end_where_they_say() {
    let far = |x: f64| (exact::exp(x), exact::exp(-x), exact::sigmoid(-x));
    assert!(far(709.0).0.is_finite() && far(709.0f64.next_up()).0 == f64::INFINITY);
    assert!(far(708.0).1 > 0.0 && far(708.0f64.next_up()).1 == 0.0);
    assert!(far(708.0).2 > 0.0 && far(708.0f64.next_up()).2 == 0.0);
    assert!(single::exp(88.0).is_finite() && single::exp(88.0f32.next_up()) == f32::INFINITY);
    assert!(single::exp(-87.0) > 0.0 && single::exp((-87.0f32).next_down()) == 0.0);
    assert!(exact::ln(f64::MIN_POSITIVE).is_finite() && exact::ln(f64::MIN_POSITIVE.next_down()) == f64::NEG_INFINITY);
}

fn distribution<T: FloatingPoint>(name: &str, parameters: &[f64]) -> Option<Box<dyn Draw<T>>> {
    let p: Vec<T> = parameters.iter().map(|p| T::from_f64(*p)).collect();
    Some(match (name, p.as_slice()) {
        ("uniform", [low, high]) => Box::new(Uniform::new(*low, *high).unwrap()),
        ("normal", [loc, scale]) => Box::new(Normal::new(*loc, *scale).unwrap()),
        ("exponential", [scale]) => Box::new(Exponential::new(*scale).unwrap()),
        ("gamma", [shape, scale]) => Box::new(Gamma::new(*shape, *scale).unwrap()),
        ("beta", [a, b]) => Box::new(Beta::new(*a, *b).unwrap()),
        ("student_t", [df, loc, scale]) => Box::new(StudentT::new(*df, *loc, *scale).unwrap()),
        ("von_mises", [loc, concentration]) => Box::new(VonMises::new(*loc, *concentration).unwrap()),
        ("wrapped_normal", [loc, scale]) => Box::new(WrappedNormal::new(*loc, *scale).unwrap()),
        ("von_mises_fisher", [direction @ .., concentration]) => {
            Box::new(VonMisesFisher::new(direction, *concentration).unwrap())
        }
        _ => return None,
    })
}

fn key() -> Key {
    Key::new(0x0123_4567_89ab_cdef).fold_in((1 << 40) + 7)
}

fn draws_of<T: Exact>() -> usize {
    let mut checked = 0;
    for row in rows().iter().filter(|row| row["type"] == T::NAME) {
        let own = distribution::<T>(row["name"].as_str().expect("name"), &parameters(row));
        let Some(own) = own else { continue };
        let mut draws = vec![T::default(); row["n"].as_u64().expect("n") as usize];
        own.fill(key(), row["first"].as_u64().expect("first"), &mut draws).unwrap();
        check(row, &draws);
        checked += 1;
    }
    checked
}

#[test]
fn draws_have_the_bits_of_a_second_implementation() {
    assert_eq!((draws_of::<f64>(), draws_of::<f32>()), (70, 70));
}

#[test]
fn streams_have_the_bits_of_a_second_implementation() {
    let mut checked = 0;
    for row in rows().iter().filter(|row| row["name"] == "stream") {
        let mut stream = Stream::new(0x0123_4567_89ab_cdef, 2, 5, PURPOSES[parameters(row)[0] as usize - 1]);
        let numbers: Vec<f64> = (0..6).map(|_| stream.uniform()).collect();
        check(row, &numbers);
        checked += 1;
    }
    assert_eq!(checked, PURPOSES.len());
}

/// Gives the bits that it has, and then zeros.
struct Given {
    bits: std::vec::IntoIter<u64>,
    beyond: bool,
}

impl rand::TryRng for Given {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| bits as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let next = self.bits.next();
        self.beyond |= next.is_none();
        Ok(next.unwrap_or(0))
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("no distribution asks for bytes")
    }
}

/// A draw of these bits, if it takes all of them and no more.
fn made<V>(own: &impl Distribution<V>, bits: &[&[u64]]) -> Option<V> {
    let mut given = Given { bits: bits.concat().into_iter(), beyond: false };
    let draw = own.sample(&mut given);
    (given.bits.len() == 0 && !given.beyond).then_some(draw)
}

/// Turns of one part of a draw.
const PART: u32 = 1 << 16;

/// The bits of the first `count` turns of a part of draw `index`.
fn turns<T: FloatingPoint<Bits: Into<u64>>, const N: usize>(index: u64, part: u32, count: u32) -> Vec<u64> {
    (0..count).flat_map(|turn| T::bits::<N>(key(), index, part + turn)).map(Into::into).collect()
}

fn given_bits_in<T: FloatingPoint<Bits: Into<u64>>>() {
    let number = T::from_f64;
    let small = Gamma::new(number(0.3), number(2.0)).unwrap();
    let large = Gamma::new(number(2.5), number(2.0)).unwrap();
    let mises = VonMises::new(number(0.5), number(3.0)).unwrap();
    let beta = Beta::new(number(0.5), number(2.0)).unwrap();
    let student = StudentT::new(number(1.5), number(0.5), number(2.0)).unwrap();
    let direction: Vec<T> = (0..6).map(|k| number(f64::from(k) - 2.0)).collect();
    let fisher = VonMisesFisher::new(&direction, number(4.0)).unwrap();
    for index in 0..100 {
        // It is not known here how many turns a draw has had: with one number of them it is that draw.
        let with_one_count = |name: &str, is_made: &dyn Fn(u32) -> bool| {
            assert_eq!((1..25).filter(|n| is_made(*n)).count(), 1, "{name}: draw {index} in {}", T::NAME);
        };
        let first = |n| turns::<T, 2>(index, 0, n);
        let extra = &turns::<T, 2>(index, PART - 1, 1)[..1];
        let draw = large.draw(key(), index).ok();
        with_one_count("gamma", &|n| made(&large, &[&first(n)]) == draw);
        let draw = mises.draw(key(), index).ok();
        with_one_count("von Mises", &|n| made(&mises, &[&first(n)]) == draw);
        let draw = small.draw(key(), index).ok();
        with_one_count("raised gamma", &|n| made(&small, &[&first(n), extra]) == draw);
        let draw = student.draw(key(), index).ok();
        let normal = turns::<T, 2>(index, PART, 1);
        with_one_count("Student t", &|n| made(&student, &[&first(n), extra, &normal]) == draw);
        let draw = beta.draw(key(), index).ok();
        let second = |n| turns::<T, 2>(index, PART, n);
        with_one_count("beta", &|n| (1..9).any(|m| made(&beta, &[&first(n), extra, &second(m)]) == draw));
        let draw = fisher.draw(key(), index).ok();
        // The last of the six axes has no normal number of its own, and a turn has four.
        let normals = &turns::<T, 4>(index, PART, 2)[..5];
        with_one_count("von Mises-Fisher", &|n| made(&fisher, &[&turns::<T, 4>(index, 0, n), normals]) == draw);
    }
}

#[test]
fn a_generator_that_gives_the_bits_of_a_draw_makes_that_draw() {
    given_bits_in::<f64>();
    given_bits_in::<f32>();
}
