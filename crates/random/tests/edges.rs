//! Parameters at the edges of their type: refused with a message, or every draw is finite and where it belongs.

use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, ParameterError, StudentT, Uniform, VonMises,
    VonMisesFisher, WrappedNormal,
};
use rand::distr::Distribution;

/// Sizes of parameters, from the smallest number to the largest.
const SIZES: [f64; 26] = [
    0.0, 5e-324, 1e-320, 1e-310, 3e-308, 1e-306, 1e-300, 1e-100, 1e-45, 1e-40, 1e-37, 1e-30, 1e-10, 0.01, 0.06, 0.5,
    1.0, 30.0, 1e10, 1e30, 1e37, 3e38, 1e100, 1e300, 1e307, 1.7e308,
];

/// Numbers of bits among which many are all 0 or all 1, as those of the smallest and the largest uniform numbers are.
struct Extreme(octopus_random::Stream);

impl rand::TryRng for Extreme {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let choice = self.0.uniform();
        let bits = rand::Rng::next_u64(&mut self.0);
        Ok(if choice < 0.2 {
            bits & 1
        } else if choice < 0.4 {
            u64::MAX - (bits & 1)
        } else {
            bits
        })
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        for bytes in out.chunks_mut(8) {
            let bits = self.try_next_u64()?.to_le_bytes();
            bytes.copy_from_slice(&bits[..bytes.len()]);
        }
        Ok(())
    }
}

/// Counts what was refused and what was drawn.
#[derive(Default)]
struct Walk {
    refused: usize,
    drawn: usize,
}

impl Walk {
    /// Draws from a distribution, if there is one, by number and of extreme bits.
    fn take<T: FloatingPoint, D: Draw<T> + Distribution<T>>(
        &mut self,
        made: Result<D, ParameterError>,
        words: &str,
        is_inside: impl Fn(f64) -> bool,
    ) {
        let distribution = match made {
            Ok(distribution) => distribution,
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains(error.parameter) && message.contains("must be"), "{message}");
                self.refused += 1;
                return;
            }
        };
        self.drawn += 1;
        let mut draws = vec![T::default(); 200];
        distribution.fill(Key::new(3), 0, &mut draws).unwrap_or_else(|error| panic!("{words}: {error}"));
        let mut extreme = Extreme(octopus_random::Stream::new(4, 0, 0, octopus_random::Purpose::User));
        draws.extend((0..100).map(|_| distribution.sample(&mut extreme)));
        for draw in draws {
            let draw = draw.to_f64();
            assert!(draw.is_finite() && is_inside(draw), "{} {words}: {draw}", T::NAME);
        }
    }
}

fn walk<T: FloatingPoint>() -> Walk {
    let number = T::from_f64;
    let mut walk = Walk::default();
    let positive = |draw: f64| draw >= 0.0;
    let circle = |draw: f64| draw.abs() <= std::f64::consts::PI * (1.0 + 1e-7);
    for a in SIZES {
        let one = number(a);
        walk.take(Exponential::new(one), &format!("exponential {a}"), positive);
        for b in SIZES {
            let two = number(b);
            let words = |family: &str| format!("{family} {a} {b}");
            walk.take(Normal::new(one, two), &words("normal"), |_| true);
            walk.take(Normal::new(-one, two), &words("normal -"), |_| true);
            walk.take(Uniform::new(one, two), &words("uniform"), |draw| one.to_f64() <= draw && draw <= two.to_f64());
            // low + (high - low) u is rounded twice, and may be a unit of the last place above high.
            let unit = 2f64.powi(if T::NAME == "float32" { -23 } else { -52 }) * (one.to_f64() + two.to_f64());
            walk.take(Uniform::new(-one, two), &words("uniform -"), |draw| {
                -one.to_f64() <= draw && draw <= two.to_f64() + unit
            });
            walk.take(Gamma::new(one, two), &words("gamma"), positive);
            walk.take(Beta::new(one, two), &words("beta"), |draw| (0.0..=1.0).contains(&draw));
            walk.take(VonMises::new(one, two), &words("von Mises"), circle);
            walk.take(WrappedNormal::new(one, two), &words("wrapped normal"), circle);
            for loc in [0.0, -1.0, 1e30, 1e300] {
                walk.take(StudentT::new(one, number(loc), two), &format!("student {a} {loc} {b}"), |_| true);
            }
            for direction in [[1.0, a], [a, -a]] {
                let direction = direction.map(number);
                let Ok(fisher) = VonMisesFisher::new(&direction, two) else {
                    walk.refused += 1;
                    continue;
                };
                walk.drawn += 1;
                let mut rows = vec![[T::default(); 2]; 50];
                fisher.fill(Key::new(3), 0, rows.as_flattened_mut()).unwrap();
                for row in rows {
                    let length = row.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
                    assert!((length - 1.0).abs() < 1e-5, "{} {direction:?} {b}: {row:?}", T::NAME);
                }
            }
        }
    }
    walk
}

#[test]
fn every_draw_is_finite_or_the_parameter_is_refused() {
    for Walk { refused, drawn } in [walk::<f64>(), walk::<f32>()] {
        assert!(drawn > 3000 && refused > 500, "{drawn} {refused}");
    }
}

/// The limits that a refusal names are those from which on there are draws.
#[test]
fn the_limit_that_is_named_can_be_used() {
    let limit = |error: ParameterError| -> f64 {
        let words = error.must.to_string();
        // The last: a loc must be "no farther from 0 than" it.
        let mut numbers = words.split_whitespace().filter_map(|word| word.trim_end_matches(',').parse().ok());
        numbers.next_back().unwrap_or_else(|| panic!("{error}: no limit in {words}"))
    };
    let beta = Beta::new(1e-320, 2.0).unwrap_err();
    assert!(beta.to_string().starts_with("beta: a is 0.000"), "{beta}");
    // It is rounded to three digits.
    assert!(Beta::new(1.01 * limit(beta), 2.0).is_ok());
    assert!(Beta::new(1.0, 1.01 * limit(Beta::new(1.0, 1e-320).unwrap_err())).is_ok());
    assert!(StudentT::new(limit(StudentT::new(1e-320, 0.0, 1.0).unwrap_err()), 0.0, 1.0).is_ok());
    assert!(StudentT::new(limit(StudentT::new(0.01f32, 0.0, 1.0).unwrap_err()) as f32, 0.0, 1.0).is_ok());
    assert!(StudentT::new(1.0, 0.0, limit(StudentT::new(1.0, 0.0, 1e300).unwrap_err())).is_ok());
    assert!(Gamma::new(2.0, limit(Gamma::new(2.0, 1.7e308).unwrap_err())).is_ok());
    assert!(Normal::new(0.0, limit(Normal::new(0.0, 1.7e308).unwrap_err())).is_ok());
    assert!(Gamma::new(limit(Gamma::new(f64::MAX, 1e-300).unwrap_err()), 1e-300).is_ok());
    assert!(StudentT::new(limit(StudentT::new(f64::MAX, 0.0, 1.0).unwrap_err()), 0.0, 1.0).is_ok());
    assert!(Exponential::new(limit(Exponential::new(1.7e308).unwrap_err())).is_ok());
    assert!(Normal::new(limit(Normal::new(f64::MAX, 1e300).unwrap_err()), 1e300).is_ok());
    // They are no narrower than they must be: a little beyond there are none.
    let df = limit(StudentT::new(1e-320, 0.0, 1.0).unwrap_err());
    assert!(StudentT::new(0.97 * df, 0.0, 1.0).is_err());
    let df = limit(StudentT::new(0.01f32, 0.0, 1.0).unwrap_err()) as f32;
    assert!(StudentT::new(0.97 * df, 0.0, 1.0).is_err());
    let scale = limit(StudentT::new(1.0, 0.0, 1e300).unwrap_err());
    assert!(StudentT::new(1.0, 0.0, 1.04 * scale).is_err());
    let a = limit(Beta::new(1e-320, 2.0).unwrap_err());
    assert!(Beta::new(0.98 * a, 2.0).is_err());
    assert!(Gamma::new(0.249 * f64::MAX, 1e-300).is_ok() && Gamma::new(0.251 * f64::MAX, 1e-300).is_err());
    assert!(StudentT::new(0.498 * f64::MAX, 0.0, 1.0).is_ok() && StudentT::new(0.502 * f64::MAX, 0.0, 1.0).is_err());
    assert!(Normal::new(0.0, f64::MAX / 9.01).is_ok() && Normal::new(0.0, f64::MAX / 8.99).is_err());
    assert!(Exponential::new(f64::MAX / 38.01).is_ok() && Exponential::new(f64::MAX / 37.99).is_err());
    assert!(Normal::new(limit(Normal::new(f32::MAX, 1e32).unwrap_err()) as f32, 1e32).is_ok());
    assert!(limit(Normal::new(f64::MAX, 1e300).unwrap_err()) > 0.98 * f64::MAX);
    assert!(limit(Gamma::new(f64::MAX, 1e-300).unwrap_err()) > 0.24 * f64::MAX);
    assert!(limit(StudentT::new(f64::MAX, 0.0, 1.0).unwrap_err()) > 0.49 * f64::MAX);
    // What is left beside a loc is the scale's.
    let scale = limit(Normal::new(0.9 * f64::MAX, 1e308).unwrap_err());
    assert!(Normal::new(0.9 * f64::MAX, scale).is_ok() && Normal::new(0.9 * f64::MAX, 1.3 * scale).is_err());
}
