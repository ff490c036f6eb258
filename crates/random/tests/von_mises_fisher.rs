//! Draws of unit vectors follow the von Mises-Fisher distribution: the angle from the mean direction and the direction of
//! the tangent by Kolmogorov-Smirnov and Anderson-Darling against quadrature, a million draws each.

#[path = "distributions/fit.rs"]
mod fit;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "distributions/truth.rs"]
mod truth;

use fit::{Fit, distinct};
use octopus_random::{Draw, FloatingPoint, Key, VonMises, VonMisesFisher, sample_von_mises_fisher};
use truth::{PolarTruth, VonMisesTruth};

const DRAWS: usize = 1_000_000;
const CONCENTRATIONS: [f64; 10] = [0.0, 1e-8, 1e-4, 0.1, 1.0, 5.0, 100.0, 1e4, 1e6, 1e8];

/// The axis in as many dimensions.
fn axis<T: FloatingPoint>(dimensions: usize, place: usize) -> Vec<T> {
    (0..dimensions).map(|own| T::from_f64(f64::from(u8::from(own == place)))).collect()
}

/// Angles of draws from the mean direction, and the tangent's number along an axis: around an axis, where no digit is lost.
fn angles<T: FloatingPoint>(dimensions: usize, concentration: f64) -> (Vec<f64>, Vec<f64>) {
    // The reflection's own axis is the last: another one is the harder case.
    let (place, other) = (dimensions / 2, dimensions / 2 - 1);
    let own = VonMisesFisher::new(&axis::<T>(dimensions, place), T::from_f64(concentration)).unwrap();
    let (mut polar, mut along) = (Vec::new(), Vec::new());
    let mut rows = vec![T::default(); 50_000 * dimensions];
    // A sum of so many squares has an error that grows with the root of their number.
    let unit = if size_of::<T>() == 8 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let bound = unit * (2.0 + (dimensions as f64).sqrt());
    for batch in 0..DRAWS as u64 / 50_000 {
        own.par_fill(Key::new(2026), batch * 50_000, &mut rows).unwrap();
        for row in rows.chunks(dimensions) {
            let number = |place: usize| row[place].to_f64();
            let square = (0..dimensions).filter(|j| *j != place).map(|j| number(j) * number(j)).sum::<f64>();
            let (across, length) = (square.sqrt(), (square + number(place) * number(place)).sqrt());
            assert!((length - 1.0).abs() < bound, "{length} {concentration} {dimensions}");
            polar.push(across.atan2(number(place)));
            along.push(number(other) / across);
        }
    }
    (polar, along)
}

fn drawn_in<T: FloatingPoint>(dimensions: usize) {
    let tangent = (dimensions > 2).then(|| PolarTruth::new(dimensions - 1, 0.0));
    for concentration in CONCENTRATIONS {
        let name = format!("von Mises-Fisher {concentration} in {dimensions} {}", T::NAME);
        let (polar, along) = angles::<T>(dimensions, concentration);
        let truth = PolarTruth::new(dimensions, concentration);
        Fit::of(&polar, |angle| truth.cdf(angle)).assert_good(&name);
        truth.assert_moment(&polar, &name);
        let enough = if size_of::<T>() == 8 { DRAWS - 8 } else { DRAWS / 2 };
        assert!(distinct(&polar) > enough, "{name}: {}", distinct(&polar));
        let Some(tangent) = &tangent else {
            let mean = along.iter().sum::<f64>() / DRAWS as f64;
            assert!(mean.abs() < 4.0 / (DRAWS as f64).sqrt(), "{name}: {mean}");
            continue;
        };
        let turned = |along: &[f64]| along.iter().map(|along| along.clamp(-1.0, 1.0).acos()).collect::<Vec<f64>>();
        Fit::of(&turned(&along), |angle| tangent.cdf(angle)).assert_good(&format!("the tangent of {name}"));
        // Whatever the polar angle.
        let near: Vec<f64> = polar.iter().zip(&along).filter(|(p, _)| truth.cdf(**p) < 0.2).map(|(_, a)| *a).collect();
        Fit::of(&turned(&near), |angle| tangent.cdf(angle)).assert_good(&format!("the tangent near {name}"));
    }
}

#[test]
fn draws_in_two_dimensions_have_their_distribution() {
    drawn_in::<f64>(2);
    drawn_in::<f32>(2);
}

#[test]
fn draws_in_three_dimensions_have_their_distribution() {
    drawn_in::<f64>(3);
    drawn_in::<f32>(3);
}

#[test]
fn draws_in_four_dimensions_have_their_distribution() {
    drawn_in::<f64>(4);
    drawn_in::<f32>(4);
}

#[test]
fn draws_in_ten_dimensions_have_their_distribution() {
    drawn_in::<f64>(10);
    drawn_in::<f32>(10);
}

#[test]
fn draws_in_a_hundred_dimensions_have_their_distribution() {
    drawn_in::<f64>(100);
}

#[test]
fn draws_in_a_hundred_dimensions_have_their_distribution_in_f32() {
    drawn_in::<f32>(100);
}

/// Around a direction that is no axis: the angle from it, and the tangent's number along a vector across.
fn around<T: FloatingPoint>(direction: &[f64], concentration: f64) {
    let dimensions = direction.len();
    let given: Vec<T> = direction.iter().map(|number| T::from_f64(*number)).collect();
    let own = VonMisesFisher::new(&given, T::from_f64(concentration)).unwrap();
    let mean: Vec<f64> = own.direction().iter().map(|number| number.to_f64()).collect();
    let length = mean.iter().map(|m| m * m).sum::<f64>().sqrt();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut across: Vec<f64> = (0..dimensions).map(|j| f64::from(j as u32 % 3) - 0.4).collect();
    let share = product(&across, &mean) / (length * length);
    across.iter_mut().zip(&mean).for_each(|(a, m)| *a -= share * m);
    let breadth = product(&across, &across).sqrt();
    let mut rows = vec![T::default(); DRAWS * dimensions];
    own.par_fill(Key::new(1), 0, &mut rows).unwrap();
    let (mut polar, mut along) = (Vec::new(), Vec::new());
    for row in rows.chunks(dimensions) {
        let row: Vec<f64> = row.iter().map(|number| number.to_f64()).collect();
        let apart: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m / length).collect();
        let angle = 2.0 * (0.5 * product(&apart, &apart).sqrt()).min(1.0).asin();
        polar.push(angle);
        along.push((product(&row, &across) / breadth / angle.sin()).clamp(-1.0, 1.0).acos());
    }
    let name = format!("{concentration} around {direction:?} {}", T::NAME);
    let truth = PolarTruth::new(dimensions, concentration);
    Fit::of(&polar, |angle| truth.cdf(angle)).assert_good(&name);
    let tangent = PolarTruth::new(dimensions - 1, 0.0);
    Fit::of(&along, |angle| tangent.cdf(angle)).assert_good(&format!("the tangent of {name}"));
}

#[test]
fn draws_turn_with_their_direction() {
    for direction in [&[1.0, 2.0, -2.0][..], &[0.3, -0.2, 0.1], &[-1e-3, 5.0, 1e-7, 2.0, 1.0, -9.0]] {
        around::<f64>(direction, 0.5);
        around::<f64>(direction, 1e6);
        around::<f32>(direction, 5.0);
    }
}

/// In two dimensions the angle is a von Mises angle.
#[test]
fn in_two_dimensions_draws_are_von_mises() {
    for concentration in [0.0, 0.7, 5.0, 1e4] {
        let own = VonMisesFisher::new(&[2.0, 0.0], concentration).unwrap();
        let mut rows = vec![[0f64; 2]; DRAWS];
        own.par_fill(Key::new(3), 0, rows.as_flattened_mut()).unwrap();
        let angles: Vec<f64> = rows.iter().map(|[x, y]| y.atan2(*x)).collect();
        let truth = VonMisesTruth::new(concentration);
        Fit::of(&angles, |angle| truth.cdf(angle)).assert_good(&format!("{concentration} in two dimensions"));
        truth.assert_moments(&angles);
        let circle = VonMises::new(0.0, concentration).unwrap();
        for angle in [0.0f64, 1.0, -3.0] {
            let (sine, cosine) = angle.sin_cos();
            assert!((own.log_density(&[cosine, sine]) - circle.log_density(angle)).abs() < 1e-11);
        }
    }
}

/// Tangents are normal at the largest concentrations, and an infinite concentration gives the direction itself.
#[test]
fn the_largest_concentrations_are_as_narrow_as_they_should_be() {
    fn scaled<T: FloatingPoint>(concentrations: &[f64]) {
        let truth = PolarTruth::new(4, 1e12);
        for concentration in concentrations {
            let own = VonMisesFisher::new(&axis::<T>(4, 3), T::from_f64(*concentration)).unwrap();
            let mut rows = vec![T::default(); 4 * DRAWS];
            own.par_fill(Key::new(4), 0, &mut rows).unwrap();
            let size =
                |row: &[T]| row[..3].iter().map(|x| x.to_f64() * concentration.sqrt()).map(|x| x * x).sum::<f64>();
            let angles: Vec<f64> = rows.chunks(4).map(|row| size(row).sqrt() / 1e6).collect();
            Fit::of(&angles, |angle| truth.cdf(angle)).assert_good(&format!("{concentration:e} {}", T::NAME));
        }
        let infinite = VonMisesFisher::new(&axis::<T>(3, 1), T::from_f64(f64::INFINITY)).unwrap();
        let mut rows = vec![T::default(); 3000];
        infinite.fill(Key::new(4), 0, &mut rows).unwrap();
        assert!(rows.chunks(3).all(|row| row.iter().map(|x| x.to_f64()).eq([0.0, 1.0, 0.0])));
    }
    scaled::<f64>(&[1e20, 2e33, 5e34, f64::MAX]);
    scaled::<f32>(&[1e15, 2e16, 1e20, f64::from(f32::MAX)]);
}

#[test]
fn many_dimensions_keep_their_length() {
    fn longest<T: FloatingPoint>() -> f64 {
        let direction: Vec<T> = std::iter::repeat_n(T::from_f64(1.0), 65_536).collect();
        let own = VonMisesFisher::new(&direction, T::from_f64(1e5)).unwrap();
        let row = own.draw(Key::new(5), 7).unwrap();
        (row.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt() - 1.0).abs()
    }
    assert!(longest::<f64>() < 256.0 * f64::EPSILON, "{}", longest::<f64>());
    assert!(longest::<f32>() < 256.0 * f64::from(f32::EPSILON), "{}", longest::<f32>());
}

/// A vector's length is no part of its density, be its squares too small or too large for their type.
#[test]
fn the_length_of_a_vector_does_not_matter() {
    let own = VonMisesFisher::new(&[1.0, -2.0, 2.0], 7.0).unwrap();
    let x = [0.25, -1.0, 1.5];
    let plain = own.log_density(&x);
    for length in [1e-300, 1e-160, 1e160, 1e300] {
        let scaled = own.log_density(&x.map(|number| number * length));
        assert!((scaled - plain).abs() < 1e-14 * plain.abs(), "{length:e}: {scaled} {plain}");
    }
}

/// By mpmath at 100 digits: `data/make_von_mises_fisher.py`.
#[test]
fn log_densities_are_those_of_mpmath() {
    let rows: serde_json::Value = serde_json::from_str(include_str!("data/von_mises_fisher.json")).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 300, "{}", rows.len());
    for row in rows {
        let (direction, x) = (numbers(&row["direction"]), numbers(&row["x"]));
        let [concentration, value] = ["concentration", "value"].map(|name| row[name].as_f64().unwrap());
        let own = VonMisesFisher::new(&direction, concentration).unwrap().log_density(&x);
        assert!((own - value).abs() < 1e-12 * value.abs(), "{own} {value} {concentration} {}", x.len());
    }
    let own = VonMisesFisher::new(&[0.0, 0.0, 1.0], 2.0).unwrap();
    assert!(own.log_density(&[0.0, 1.0]).is_nan() && own.log_density(&[0.0; 3]).is_nan());
    assert!(own.log_density(&[f64::INFINITY, 0.0, 0.0]).is_nan());
    let point = VonMisesFisher::new(&[0.0, 0.0, 1.0], f64::INFINITY).unwrap();
    assert_eq!(point.log_density(&[0.0, 0.0, 3.0]), f64::INFINITY);
    assert_eq!(point.log_density(&[0.0, 1e-30, 3.0]), f64::NEG_INFINITY);
}

/// Any piece, on any number of threads, has the draws of their numbers, and one array is the same.
#[test]
fn draws_depend_on_key_and_number_alone() {
    fn pieces<T: FloatingPoint>(dimensions: usize, rows: usize) {
        let direction = axis::<T>(dimensions, 0);
        let own = VonMisesFisher::new(&direction, T::from_f64(3.0)).unwrap();
        let (key, first) = (Key::new(5).fold_in(1), u64::from(u32::MAX) - 700);
        let mut whole = vec![T::default(); rows * dimensions];
        own.fill(key, first, &mut whole).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut shared = vec![T::default(); whole.len()];
            pool.install(|| own.par_fill(key, first, &mut shared)).unwrap();
            assert!(whole == shared, "{threads} threads");
        }
        for at in [0, 1, 63, 64, 699, 701, rows - 1] {
            assert!(own.draw(key, first + at as u64).unwrap() == whole[at * dimensions..][..dimensions], "{at}");
            // A row that has no room is cut off.
            let mut piece = vec![T::default(); 3 * dimensions - 1];
            let there = piece.len().min(whole.len() - at * dimensions);
            own.fill(key, first + at as u64, &mut piece[..there]).unwrap();
            assert!(piece[..there] == whole[at * dimensions..][..there], "{at}");
        }
        let sampled = sample_von_mises_fisher(key, &direction, T::from_f64(3.0), 50).unwrap();
        let mut from_zero = vec![T::default(); 50 * dimensions];
        own.fill(key, 0, &mut from_zero).unwrap();
        assert!(sampled == from_zero);
    }
    for (dimensions, rows) in [(2, 50_000), (3, 50_000), (6, 2_000), (1000, 900)] {
        pieces::<f64>(dimensions, rows);
        pieces::<f32>(dimensions, rows);
    }
}

/// Two rows and a part of the third.
#[test]
fn a_last_row_that_has_no_room_is_cut_off() {
    let own = VonMisesFisher::new(&[1.0, 2.0, -2.0], 3.0).unwrap();
    let mut whole = [0.0; 9];
    own.fill(Key::new(3), 5, &mut whole).unwrap();
    for room in 0..9 {
        let mut piece = vec![0.0; room];
        own.fill(Key::new(3), 5, &mut piece).unwrap();
        assert_eq!(piece, whole[..room]);
    }
}

/// All numbers of a tangent are drawn, and no more: then rows around an axis have the length of 1 and no 0.
#[test]
fn rows_of_another_generator_are_unit_vectors_in_no_plane() {
    use rand::distr::Distribution;
    let mut stream = octopus_random::Stream::new(9, 0, 0, octopus_random::Purpose::User);
    for dimensions in 2..7 {
        for place in [0, dimensions - 1] {
            let own = VonMisesFisher::new(&axis::<f64>(dimensions, place), 1.0).unwrap();
            for _ in 0..5 {
                let row: Vec<f64> = own.sample(&mut stream);
                let length = row.iter().map(|x| x * x).sum::<f64>();
                assert!((length - 1.0).abs() < 1e-14 && row.iter().all(|x| *x != 0.0), "{dimensions} {place}: {row:?}");
            }
        }
    }
}

/// Draws with a generator of `rand` have the distribution, too.
#[test]
fn another_generator_draws_the_same_distribution() {
    use rand::distr::Distribution;
    let mut stream = octopus_random::Stream::new(9, 0, 0, octopus_random::Purpose::User);
    let own = VonMisesFisher::new(&[0.0, 0.0, 1.0, 0.0], 4.0).unwrap();
    let angles: Vec<f64> = own.sample_iter(&mut stream).take(100_000).map(|row: Vec<f64>| row[2].acos()).collect();
    let truth = PolarTruth::new(4, 4.0);
    Fit::of(&angles, |angle| truth.cdf(angle)).assert_good("von Mises-Fisher by rand");
}

/// Wood's algorithm as it is written, in f32: the cosine of the angle.
#[test]
fn the_tests_refuse_the_cosine_in_f32() {
    let mut stream = octopus_random::Stream::new(1, 0, 0, octopus_random::Purpose::User);
    let mut next = || stream.uniform() as f32;
    let mut with_cosine = |concentration: f32| -> Vec<f64> {
        // In three dimensions z is uniform.
        let b = (-2.0 * concentration + (4.0 * concentration * concentration + 4.0).sqrt()) / 2.0;
        let x0 = (1.0 - b) / (1.0 + b);
        let c = concentration * x0 + 2.0 * (1.0 - x0 * x0).ln();
        std::iter::from_fn(|| {
            for _ in 0..1000 {
                let z = next();
                let w = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z);
                if concentration * w + 2.0 * (1.0 - x0 * w).ln() - c >= next().ln() {
                    return Some(f64::from(w.clamp(-1.0, 1.0).acos()));
                }
            }
            None
        })
        .take(DRAWS)
        .collect()
    };
    let truth = PolarTruth::new(3, 5.0);
    Fit::of(&with_cosine(5.0), |angle| truth.cdf(angle)).assert_good("the cosine at 5");
    for concentration in [1e6, 1e8] {
        let draws = with_cosine(concentration as f32);
        let truth = PolarTruth::new(3, concentration);
        assert!(draws.len() < DRAWS || !Fit::of(&draws, |angle| truth.cdf(angle)).is_good(), "{concentration}");
    }
}

#[test]
fn parameters_with_which_there_is_no_distribution_are_refused() {
    let told =
        |direction: &[f64], concentration: f64| VonMisesFisher::new(direction, concentration).unwrap_err().to_string();
    assert_eq!(told(&[1.0], 1.0), "von Mises-Fisher: number of dimensions is 1; it must be from 2 to 65536");
    assert_eq!(
        told(&vec![1.0; 65_537], 1.0),
        "von Mises-Fisher: number of dimensions is 65537; it must be from 2 to 65536"
    );
    assert_eq!(told(&[0.0, -0.0], 1.0), "von Mises-Fisher: direction is 0; it must be longer than 0");
    assert_eq!(told(&[1.0, f64::NAN], 1.0), "von Mises-Fisher: direction is NaN; it must be of finite numbers");
    assert_eq!(told(&[1.0, f64::INFINITY], 1.0), "von Mises-Fisher: direction is inf; it must be of finite numbers");
    assert_eq!(told(&[1.0, 0.0], -0.5), "von Mises-Fisher: concentration is -0.5; it must be at least 0");
    assert_eq!(told(&[1.0, 0.0], f64::NAN), "von Mises-Fisher: concentration is NaN; it must be at least 0");
    // The length does not matter, at the ends of the type either.
    for length in [5e-324, 1e-200, 1.0, 1e300, f64::MAX] {
        assert_eq!(VonMisesFisher::new(&[0.0, length, 0.0], 1.0).unwrap().direction(), [0.0, 1.0, 0.0]);
    }
    assert_eq!(VonMisesFisher::new(&[-3e300, 4e300], 1.0).unwrap().direction(), [-0.6, 0.8]);
    assert!(VonMisesFisher::new(&vec![1.0; 65_536], 0.0).is_ok());
}
