//! Draws follow their distributions: Kolmogorov-Smirnov and Anderson-Darling against exact distribution functions, with a
//! million draws each; and the same tests fail for a sampler that is wrong.

#[path = "distributions/fit.rs"]
mod fit;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "distributions/truth.rs"]
mod truth;

use fit::{Fit, distinct};
use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, StudentT, Uniform, VonMises, WrappedNormal,
};
use statrs::distribution::{self as exact, ContinuousCDF};
use std::f64::consts::PI;
use truth::VonMisesTruth;

const DRAWS: usize = 1_000_000;
const CONCENTRATIONS: [f64; 10] = [0.0, 1e-8, 1e-4, 0.1, 1.0, 5.0, 100.0, 1e4, 1e6, 1e8];

fn drawn<T: FloatingPoint>(distribution: &dyn Draw<T>, n: usize) -> Vec<f64> {
    let mut out = vec![T::default(); n];
    distribution.par_fill(Key::new(2026), 0, &mut out).unwrap();
    out.into_iter().map(T::to_f64).collect()
}

fn von_mises_of<T: FloatingPoint>() {
    for concentration in CONCENTRATIONS {
        let truth = VonMisesTruth::new(concentration);
        let own = VonMises::new(T::default(), T::from_f64(concentration)).unwrap();
        let draws = drawn(&own, DRAWS);
        assert!(draws.iter().all(|angle| angle.abs() <= PI + 1e-6));
        Fit::of(&draws, |angle| truth.cdf(angle)).assert_good(&format!("von Mises {concentration} {}", T::NAME));
        truth.assert_moments(&draws);
    }
}

#[test]
fn von_mises_draws_have_their_distribution() {
    von_mises_of::<f64>();
    von_mises_of::<f32>();
}

/// Around a direction near the cut, draws are those around 0, turned.
#[test]
fn von_mises_draws_turn_with_their_direction() {
    let turned = |loc: f64| drawn(&VonMises::new(loc, 2.0).unwrap(), 10_000);
    let (plain, around) = (turned(0.0), turned(3.0));
    for (a, b) in plain.iter().zip(&around) {
        let apart = (b - a - 3.0).rem_euclid(2.0 * PI);
        assert!(apart.min(2.0 * PI - apart) < 1e-14, "{a} {b}");
        assert!(b.abs() <= PI);
    }
    // Whole turns of the direction change nothing but its last digits.
    for (a, b) in around.iter().zip(turned(3.0 + 2000.0 * PI)) {
        let apart = (a - b).rem_euclid(2.0 * PI);
        assert!(apart.min(2.0 * PI - apart) < 1e-12, "{a} {b}");
    }
}

#[test]
fn von_mises_draws_have_no_visible_grid() {
    let n = 1 << 21;
    for concentration in CONCENTRATIONS {
        let draws = drawn(&VonMises::<f32>::new(0.0, concentration as f32).unwrap(), n);
        assert!(distinct(&draws) >= 1 << 20, "{concentration}: {}", distinct(&draws));
        let draws = drawn(&VonMises::<f64>::new(0.0, concentration).unwrap(), n);
        assert!(distinct(&draws) >= n - 8, "{concentration}: {}", distinct(&draws));
    }
}

/// Best and Fisher's algorithm as it is written, in f32: the angle is an arccosine.
fn with_arccosine(concentration: f32, n: usize) -> Vec<f64> {
    let tau = 1.0 + (1.0 + 4.0 * concentration * concentration).sqrt();
    let rho = (tau - (2.0 * tau).sqrt()) / (2.0 * concentration);
    let s = (1.0 + rho * rho) / (2.0 * rho);
    let mut stream = octopus_random::Stream::new(1, 0, 0, octopus_random::Purpose::User);
    let mut next = || stream.uniform() as f32;
    std::iter::from_fn(|| {
        for _ in 0..1000 {
            let z = (std::f32::consts::PI * next()).cos();
            let w = ((1.0 + s * z) / (s + z)).clamp(-1.0, 1.0);
            let y = concentration * (s - w);
            let u = next();
            if y * (2.0 - y) - u > 0.0 || (y / u).ln() + 1.0 - y >= 0.0 {
                return Some(f64::from(if next() > 0.5 { w.acos() } else { -w.acos() }));
            }
        }
        None
    })
    .take(n)
    .collect()
}

#[test]
fn the_tests_refuse_the_arccosine_in_f32() {
    for concentration in [1e6, 1e8] {
        let draws = with_arccosine(concentration as f32, DRAWS);
        let truth = VonMisesTruth::new(concentration);
        let is_good = draws.len() == DRAWS && Fit::of(&draws, |angle| truth.cdf(angle)).is_good();
        assert!(!is_good, "{concentration}");
    }
    let draws = with_arccosine(1e4, 1 << 21);
    assert!(distinct(&draws) < 1 << 20, "{}", distinct(&draws));
    // It is the algorithm that is refused, not the way in which it is called.
    let truth = VonMisesTruth::new(5.0);
    Fit::of(&with_arccosine(5.0, DRAWS), |angle| truth.cdf(angle)).assert_good("arccosine 5");
}

#[test]
fn an_infinite_concentration_is_its_direction() {
    for angle in drawn(&VonMises::new(1.25f32, f32::INFINITY).unwrap(), 1000) {
        assert_eq!(angle, 1.25);
    }
    // The greatest that is finite, and those around the change of formulas, are as narrow as they should be.
    for concentration in [f64::MAX, 2e34, 0.9e34, 1e20] {
        let scaled: Vec<f64> = drawn(&VonMises::new(0.0, concentration).unwrap(), DRAWS)
            .iter()
            .map(|x| x * concentration.sqrt())
            .collect();
        let normal = exact::Normal::new(0.0, 1.0).unwrap();
        Fit::of(&scaled, |x| normal.cdf(x)).assert_good(&format!("von Mises {concentration:e}"));
    }
    for concentration in [f32::MAX, 2e16, 0.9e16] {
        let draws = drawn(&VonMises::new(0.0, concentration).unwrap(), DRAWS);
        let scaled: Vec<f64> = draws.iter().map(|x| x * f64::from(concentration).sqrt()).collect();
        let normal = exact::Normal::new(0.0, 1.0).unwrap();
        Fit::of(&scaled, |x| normal.cdf(x)).assert_good(&format!("von Mises {concentration:e} in f32"));
    }
}

fn others_of<T: FloatingPoint>() {
    let number = T::from_f64;
    let check = |name: &str, distribution: &dyn Draw<T>, cdf: &dyn Fn(f64) -> f64| {
        Fit::of(&drawn(distribution, DRAWS), cdf).assert_good(&format!("{name} {}", T::NAME));
    };
    check("uniform", &Uniform::new(number(-2.0), number(3.0)).unwrap(), &|x| (x + 2.0) / 5.0);
    let normal = exact::Normal::new(1.0, 2.0).unwrap();
    check("normal", &Normal::new(number(1.0), number(2.0)).unwrap(), &|x| normal.cdf(x));
    check("exponential", &Exponential::new(number(3.0)).unwrap(), &|x| -(-x / 3.0).exp_m1());
    for shape in [0.01, 0.1, 0.5, 1.0, 3.0, 100.0, 1e4] {
        let gamma = exact::Gamma::new(shape, 0.5).unwrap();
        // The smallest draws of small shapes are 0 in either type.
        let own = Gamma::new(number(shape), number(2.0)).unwrap();
        let least = if size_of::<T>() == 8 { 1e-300 } else { 1e-36 };
        let draws: Vec<f64> = drawn(&own, DRAWS).into_iter().filter(|x| *x > least).collect();
        let below = gamma.cdf(least);
        let share = draws.len() as f64 / DRAWS as f64;
        assert!((share - (1.0 - below)).abs() < 4.0 * (below * (1.0 - below) / DRAWS as f64).sqrt() + 1e-12);
        let name = format!("gamma {shape} {}", T::NAME);
        Fit::of(&draws, |x| (gamma.cdf(x) - below) / (1.0 - below)).assert_good(&name);
    }
    for (a, b) in [(0.5, 0.5), (2.0, 3.0), (0.1, 4.0), (50.0, 1.5)] {
        let beta = exact::Beta::new(a, b).unwrap();
        // The smallest draws are 0, and close to 1 a type holds few digits: neither is looked at.
        let own = Beta::new(number(a), number(b)).unwrap();
        let name = format!("beta {a} {b} {}", T::NAME);
        let (least, most) = if size_of::<T>() == 8 { (1e-300, 0.99) } else { (1e-36, 0.99) };
        let draws: Vec<f64> = drawn(&own, DRAWS).into_iter().filter(|x| (least..most).contains(x)).collect();
        let (low, high) = (beta.cdf(least), beta.cdf(most));
        Fit::of(&draws, |x| (beta.cdf(x) - low) / (high - low)).assert_good(&name);
    }
    for df in [0.7, 1.0, 4.0, 30.0] {
        let t = exact::StudentsT::new(0.5, 2.0, df).unwrap();
        let own = StudentT::new(number(df), number(0.5), number(2.0)).unwrap();
        check(&format!("Student t {df}"), &own, &|x| t.cdf(x));
    }
    for scale in [0.3, 2.0, 8.9, 9.1] {
        let wrapped = truth::wrapped_normal(scale);
        check(&format!("wrapped normal {scale}"), &WrappedNormal::new(number(0.0), number(scale)).unwrap(), &wrapped);
    }
}

#[test]
fn other_draws_have_their_distributions() {
    others_of::<f64>();
    others_of::<f32>();
}

/// Of large shapes a test that subtracts large numbers would take and refuse by their rounding.
#[test]
fn gamma_draws_of_large_shapes_are_normal_in_both_types() {
    fn standard<T: FloatingPoint>(shape: f64) -> Vec<f64> {
        let draws = drawn(&Gamma::new(T::from_f64(shape), T::from_f64(1.0)).unwrap(), DRAWS);
        // Wilson and Hilferty's root, whose error is far below what a million draws show.
        let ninth = 1.0 / (9.0 * shape);
        draws.iter().map(|x| ((x / shape).cbrt() - (1.0 - ninth)) / ninth.sqrt()).collect()
    }
    let normal = exact::Normal::new(0.0, 1.0).unwrap();
    for shape in [1e6, 1e8] {
        Fit::of(&standard::<f64>(shape), |x| normal.cdf(x)).assert_good(&format!("gamma {shape:e}"));
    }
    Fit::of(&standard::<f32>(1e6), |x| normal.cdf(x)).assert_good("gamma 1e6 in f32");
}

/// Draws with a generator of `rand` have the distribution, too.
#[test]
fn other_generators_draw_the_same_distributions() {
    use rand::distr::Distribution;
    let mut stream = octopus_random::Stream::new(9, 0, 0, octopus_random::Purpose::User);
    let truth = VonMisesTruth::new(5.0);
    let draws: Vec<f64> = VonMises::new(0.0, 5.0).unwrap().sample_iter(&mut stream).take(100_000).collect();
    Fit::of(&draws, |angle| truth.cdf(angle)).assert_good("von Mises by rand");
    let beta = exact::Beta::new(0.5, 2.0).unwrap();
    let draws: Vec<f64> = Beta::new(0.5, 2.0).unwrap().sample_iter(&mut stream).take(100_000).collect();
    Fit::of(&draws, |x| beta.cdf(x)).assert_good("beta by rand");
    let t = exact::StudentsT::new(0.0, 1.0, 3.0).unwrap();
    let draws: Vec<f64> = StudentT::new(3.0, 0.0, 1.0).unwrap().sample_iter(&mut stream).take(100_000).collect();
    Fit::of(&draws, |x| t.cdf(x)).assert_good("Student t by rand");
}

/// Any piece, on any number of threads, has the draws of their numbers.
#[test]
fn draws_depend_on_key_and_number_alone() {
    fn pieces<T: FloatingPoint>(distribution: &dyn Draw<T>) {
        let key = Key::new(5).fold_in(1);
        let first = u64::from(u32::MAX) - 70_000;
        let mut whole = vec![T::default(); 200_000];
        distribution.fill(key, first, &mut whole).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut shared = vec![T::default(); whole.len()];
            pool.install(|| distribution.par_fill(key, first, &mut shared)).unwrap();
            assert!(whole == shared, "{threads} threads");
        }
        let mut piece = vec![T::default(); 1000];
        for at in [0, 1, 63, 64, 69_999, 70_001, 131_071] {
            distribution.fill(key, first + at, &mut piece).unwrap();
            assert!(piece == whole[at as usize..][..1000], "{at}");
        }
        for i in 0..300 {
            distribution.fill(key, first + i, &mut piece[..1]).unwrap();
            assert!(piece[0] == whole[i as usize], "{i}");
        }
        let mut other = vec![T::default(); 64];
        distribution.fill(Key::new(5).fold_in(2), first, &mut other).unwrap();
        assert!(other != whole[..64]);
    }
    fn all<T: FloatingPoint>() {
        let number = T::from_f64;
        pieces(&Uniform::new(number(0.0), number(1.0)).unwrap());
        pieces(&Normal::new(number(0.0), number(1.0)).unwrap());
        pieces(&Exponential::new(number(1.0)).unwrap());
        pieces(&Gamma::new(number(0.3), number(1.0)).unwrap());
        pieces(&Gamma::new(number(3.0), number(1.0)).unwrap());
        pieces(&Beta::new(number(0.5), number(2.0)).unwrap());
        pieces(&StudentT::new(number(1.5), number(0.0), number(1.0)).unwrap());
        pieces(&VonMises::new(number(0.5), number(3.0)).unwrap());
        pieces(&WrappedNormal::new(number(0.5), number(3.0)).unwrap());
    }
    all::<f64>();
    all::<f32>();
}

#[test]
fn parameters_with_which_there_is_no_distribution_are_refused() {
    let told = |error: octopus_random::ParameterError| error.to_string();
    assert_eq!(
        told(VonMises::new(0.0, -1e-9).unwrap_err()),
        "von Mises: concentration is -0.000000001; it must be at least 0"
    );
    assert_eq!(
        told(VonMises::new(0.0, f64::NAN).unwrap_err()),
        "von Mises: concentration is NaN; it must be at least 0"
    );
    assert_eq!(
        told(VonMises::new(f64::INFINITY, 1.0).unwrap_err()),
        "von Mises: loc is inf; it must be a finite number"
    );
    assert_eq!(
        told(Normal::new(0.0, -1.0).unwrap_err()),
        "normal: scale is -1; it must be a finite number, at least 0"
    );
    assert_eq!(told(Gamma::new(0.0, 1.0).unwrap_err()), "gamma: shape is 0; it must be a finite number above 0");
    assert_eq!(told(Gamma::new(1.0, f64::NAN).unwrap_err()), "gamma: scale is NaN; it must be a finite number above 0");
    assert_eq!(told(Beta::new(1.0, 0.0).unwrap_err()), "beta: b is 0; it must be a finite number above 0");
    assert_eq!(
        told(StudentT::new(-1.0, 0.0, 1.0).unwrap_err()),
        "Student t: df is -1; it must be a finite number above 0"
    );
    assert_eq!(told(Exponential::new(0.0).unwrap_err()), "exponential: scale is 0; it must be a finite number above 0");
    assert_eq!(
        told(Uniform::new(1.0, 0.5).unwrap_err()),
        "uniform: high is 0.5; it must be a finite number, not below low, and not too far from it"
    );
    assert_eq!(
        told(WrappedNormal::new(0.0, -0.5).unwrap_err()),
        "wrapped normal: scale is -0.5; it must be a finite number, at least 0"
    );
    // The least and the most that are allowed.
    assert!(VonMises::new(0.0, 0.0).is_ok() && VonMises::new(0.0, f64::INFINITY).is_ok());
    assert!(Normal::new(0.0, 0.0).is_ok() && Uniform::new(1.0, 1.0).is_ok());
    assert!(Uniform::new(f64::MIN, f64::MAX).is_err());
}
