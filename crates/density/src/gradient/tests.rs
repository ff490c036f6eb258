//! No right gradient is accused, wherever it is looked at; planted faults are found at the points where chains start.

use super::*;
use octopus_random::{Purpose, Stream};
use std::collections::BTreeSet;

/// A density whose gradient is right.
type Density = (&'static str, usize, Box<ValueAndGradient<'static>>);

fn finite(logp: f64) -> Result<f64, DensityError> {
    if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
}

fn of(
    name: &'static str,
    dim: usize,
    logp_grad: impl Fn(&[f64], &mut [f64]) -> Result<f64, DensityError> + 'static,
) -> Density {
    (name, dim, Box::new(logp_grad))
}

/// Normals with these standard deviations about these means.
fn normals(name: &'static str, of_each: Vec<(f64, f64)>) -> Density {
    of(name, of_each.len(), move |x, gradient| {
        let mut logp = 0.0;
        for ((x, g), (mean, sd)) in x.iter().zip(gradient).zip(&of_each) {
            let z = (x - mean) / sd;
            logp -= 0.5 * z * z;
            *g = -z / sd;
        }
        finite(logp)
    })
}

/// A sum of terms, one of each coordinate, with its slope.
fn separable(name: &'static str, dim: usize, term: impl Fn(f64) -> (f64, f64) + 'static) -> Density {
    of(name, dim, move |x, gradient| {
        let mut logp = 0.0;
        for (x, g) in x.iter().zip(gradient) {
            let (value, slope) = term(*x);
            logp += value;
            *g = slope;
        }
        finite(logp)
    })
}

fn densities() -> Vec<Density> {
    vec![
        normals("standard normal", vec![(0.0, 1.0); 5]),
        normals("scales from 1e-6 to 1e6", vec![(0.0, 1e-6), (0.0, 1e-3), (0.0, 1.0), (1e6, 1e3), (0.0, 1e6)]),
        normals("a mean far off in units of its width", vec![(1e6, 1e-3), (-1e8, 1.0)]),
        normals("3000 coordinates", (0..3000).map(|i| (f64::from(i % 7), 0.1 + f64::from(i % 13))).collect()),
        of("funnel", 10, |x, gradient| {
            let (v, precision) = (x[0], (-x[0]).exp());
            let squares: f64 = x[1..].iter().map(|x| x * x).sum();
            gradient[0] = -v / 9.0 - 4.5 + 0.5 * precision * squares;
            (1..10).for_each(|i| gradient[i] = -x[i] * precision);
            finite(-v * v / 18.0 - 4.5 * v - 0.5 * precision * squares)
        }),
        of("banana of bend 100", 2, |x, gradient| {
            let across = x[1] - 100.0 * x[0] * x[0];
            gradient[0] = -x[0] + 200.0 * across * x[0] * 1e4;
            gradient[1] = -across * 1e4;
            finite(-0.5 * x[0] * x[0] - 0.5e4 * across * across)
        }),
        separable("Poisson rates", 12, |x| (17.0 * x - x.exp(), 17.0 - x.exp())),
        separable("logits", 9, |x| {
            let p = 1.0 / (1.0 + (-x).exp());
            (3.0 * x - 40.0 * (x.max(0.0) + (-x.abs()).exp().ln_1p()), 3.0 - 40.0 * p)
        }),
        separable("Cauchy", 6, |x| (-(x * x).ln_1p(), -2.0 * x / (1.0 + x * x))),
        separable("Laplace, with a kink", 7, |x| (-x.abs(), -x.signum())),
        separable("fourth power", 3, |x| (-1e6 * x.powi(4), -4e6 * x.powi(3))),
        separable("two narrow modes", 3, |x| {
            let (near, far) = (-0.5e6 * (x - 1.0).powi(2), -0.5e6 * (x + 1.0).powi(2));
            let most = near.max(far);
            let (a, b) = ((near - most).exp(), (far - most).exp());
            (most + (a + b).ln(), -1e6 * (a * (x - 1.0) + b * (x + 1.0)) / (a + b))
        }),
        separable("waves", 4, |x| ((20.0 * x).sin() - 0.5 * x * x, 20.0 * (20.0 * x).cos() - x)),
        of("a constant of 1e9", 2, |x, gradient| {
            gradient.copy_from_slice(&[-x[0], -x[1]]);
            finite(1e9 - 0.5 * (x[0] * x[0] + x[1] * x[1]))
        }),
        of("terms of 1e9 that cancel", 2, |x, gradient| {
            gradient.copy_from_slice(&[-x[0], -x[1]]);
            let big = 1e9 * (1.0 + x[0].sin());
            finite((big - 0.5 * (x[0] * x[0] + x[1] * x[1])) - big)
        }),
        of("a value of 24 bits", 5, |x, gradient| {
            x.iter().zip(gradient).for_each(|(x, g)| *g = -x);
            finite(f64::from(-0.5 * x.iter().map(|&x| x as f32 * x as f32).sum::<f32>() - 300.0))
        }),
        of("a gradient of 24 bits", 5, |x, gradient| {
            x.iter().zip(gradient).for_each(|(x, g)| *g = f64::from(-(*x as f32)));
            finite(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
        }),
        of("a solver's noise of 1e-7", 3, |x, gradient| {
            x.iter().zip(gradient).for_each(|(x, g)| *g = -x);
            let noise: f64 = x.iter().map(|x| (x * 1e13).sin()).sum();
            finite(-0.5 * x.iter().map(|x| x * x).sum::<f64>() + 1e-7 * noise)
        }),
        of("a wall", 3, |x, gradient| {
            x.iter().zip(gradient).for_each(|(x, g)| *g = -x);
            finite(if x[0] > 0.4 { f64::NEG_INFINITY } else { -0.5 * x.iter().map(|x| x * x).sum::<f64>() })
        }),
        of("a step", 2, |x, gradient| {
            x.iter().zip(gradient).for_each(|(x, g)| *g = -x);
            finite(-0.5 * (x[0] * x[0] + x[1] * x[1]) + if x[0] > 0.4 { 3.0 } else { 0.0 })
        }),
        of("flat", 2, |_, gradient| {
            gradient.fill(0.0);
            Ok(-3.0)
        }),
        of("scale of normal data", 2, |x, gradient| {
            // 1000 observations of mean 20 and standard deviation 3.
            let (away, weight) = (20.0 - x[0], (-2.0 * x[1]).exp());
            let squares = 1000.0 * (away * away + 9.0);
            gradient.copy_from_slice(&[1000.0 * away * weight, squares * weight - 1000.0 - x[1].exp().powi(2)]);
            finite(-1000.0 * x[1] - 0.5 * squares * weight - 0.5 * x[1].exp().powi(2))
        }),
    ]
}

/// A point within `radius` of the origin, or as far as heavy tails go.
fn point(dim: usize, radius: f64, number: u32) -> Vec<f64> {
    let mut random = Stream::new(54, number, dim as u32, Purpose::User);
    let heavy = number % 4 == 3;
    let one = |u: f64, v: f64| radius * (2.0 * u - 1.0) / if heavy { v } else { 1.0 };
    (0..dim).map(|_| one(random.uniform(), random.uniform())).collect()
}

#[test]
fn no_right_gradient_is_accused() {
    let mut tried = 0;
    for (name, dim, logp_grad) in &densities() {
        let (points, mut unclear, mut directions) = (if *dim > 100 { 40 } else { 2000 }, 0, 0);
        for number in 0..points {
            let radius = [2.0, 1e-6, 30.0, 0.1, 1e3][number as usize % 5];
            let x = point(*dim, radius, number);
            let Ok(found) = check_gradient(logp_grad, &x, u64::from(number)) else { continue };
            assert_eq!(found.wrong, [], "{name} at {x:?}");
            (unclear, directions) = (unclear + found.unclear, directions + found.tried);
            tried += 1;
        }
        eprintln!("{name}: {unclear} of {directions} directions are unclear");
    }
    assert!(tried > 20_000, "{tried}");
    // The edges of f64, and places where slopes vanish.
    for (name, dim, logp_grad) in &densities() {
        for edge in [0.0, -0.0, f64::MIN_POSITIVE, 1e-300, 1e-160, 1e-9, 1e9, 1e15, 1e150, 1e160, 1e300, f64::MAX] {
            for x in [edge, -edge] {
                if let Ok(found) = check_gradient(logp_grad, &vec![x; *dim], 1) {
                    assert_eq!(found.wrong, [], "{name} at {x}");
                }
            }
        }
    }
}

/// A fault planted in the gradient at coordinate `at`.
type Fault = (&'static str, fn(&mut [f64], usize));

const FAULTS: [Fault; 6] = [
    ("a sign flipped", |gradient, at| gradient[at] = -gradient[at]),
    ("a factor 2", |gradient, at| gradient[at] *= 2.0),
    ("a factor 1/2", |gradient, at| gradient[at] *= 0.5),
    ("missing", |gradient, at| gradient[at] = 0.0),
    ("a log-Jacobian too few", |gradient, at| gradient[at] -= 1.0),
    ("2 percent", |gradient, at| gradient[at] *= 1.02),
];

/// As in a run: four points within 2 of the origin, and the fault counts as found with its coordinate and its slope.
#[test]
fn planted_faults_are_found_and_named() {
    let smooth = ["standard normal", "funnel", "Poisson rates", "logits", "Cauchy", "waves", "scale of normal data"];
    for (name, dim, logp_grad) in densities().iter().filter(|(name, ..)| smooth.contains(name)) {
        for (fault, plant) in FAULTS {
            let mut found = 0;
            for seed in 0..1000 {
                let at = seed as usize % dim;
                let wrong = |x: &[f64], gradient: &mut [f64]| {
                    let logp = logp_grad(x, gradient)?;
                    plant(gradient, at);
                    Ok(logp)
                };
                let of_point = |turn: u32| check_gradient(&wrong, &point(*dim, 2.0, 16 * seed + 4 * turn), turn.into());
                let checks: Vec<GradientCheck> = (0..4).filter_map(|turn| of_point(turn).ok()).collect();
                let named: Vec<&WrongSlope> = checks.iter().flat_map(|check| &check.wrong).collect();
                assert!(named.iter().all(|wrong| wrong.coordinate == at), "{name}, {fault} of {at}: {named:?}");
                found += u32::from(!named.is_empty());
            }
            eprintln!("{name}, {fault}: {found} of 1000");
            if *name == "scale of normal data" && fault.contains("Jacobian") {
                // Beside slopes of 1e7 a slope of 1 is less than what counts, and changes nothing.
                continue;
            }
            assert!(found >= 999, "{name}, {fault}: {found} of 1000");
        }
    }
}

/// Among 3000 coordinates a fault of one is found, in whatever group it is.
#[test]
fn one_of_thousands_is_found() {
    let all = densities();
    let (_, dim, logp_grad) = all.iter().find(|(_, dim, _)| *dim == 3000).unwrap();
    for (fault, plant) in &FAULTS[..5] {
        for seed in 0..25_u32 {
            let at = seed as usize * 119;
            let wrong = |x: &[f64], gradient: &mut [f64]| {
                let logp = logp_grad(x, gradient)?;
                plant(gradient, at);
                Ok(logp)
            };
            let of_point =
                |turn: u32| check_gradient(&wrong, &point(*dim, 2.0, 16 * seed + 4 * turn), turn.into()).unwrap();
            let named: BTreeSet<usize> = (0..4).flat_map(|k| of_point(k).wrong).map(|wrong| wrong.coordinate).collect();
            assert_eq!(named, BTreeSet::from([at]), "{fault}");
        }
    }
}

/// Two evaluations for each direction are enough nearly always, four at most: a run has tens of thousands.
#[test]
fn a_right_gradient_costs_little() {
    use std::cell::Cell;
    let most = |of: &str| {
        let all = densities();
        let (_, dim, logp_grad) = all.iter().find(|(name, ..)| *name == of).unwrap();
        let count = Cell::new(0);
        let counted = |x: &[f64], gradient: &mut [f64]| {
            count.set(count.get() + 1);
            logp_grad(x, gradient)
        };
        for number in 0..100 {
            check_gradient(&counted, &point(*dim, 2.0, 4 * number), 0).unwrap();
        }
        count.get() / 100
    };
    for (name, limit) in [("standard normal", 11), ("funnel", 40), ("3000 coordinates", 17), ("logits", 40)] {
        let found = most(name);
        assert!(found <= limit, "{name}: {found}");
    }
}

#[test]
fn reasons_are_guessed() {
    let reason = |analytic, numeric| WrongSlope { coordinate: 0, analytic, numeric, error: 1e-9 }.likely_reason();
    assert_eq!(reason(0.0, 3.0), Some("it is missing from the gradient"));
    assert_eq!(reason(3.0, 0.0), Some("the log density does not depend on this coordinate"));
    assert_eq!(reason(3.0, -3.0), Some("its sign is flipped"));
    assert_eq!(reason(6.0, 3.0), reason(3.0, 6.0));
    assert_eq!(reason(6.0, 3.0), Some("a factor 2 is in one of them only"));
    assert!(reason(5.0, 6.0).is_some_and(|words| words.contains("Jacobian")));
    assert_eq!(reason(5.0, 7.5), None);
}

#[test]
fn coordinates_have_the_names_of_their_parameters() {
    use crate::{Dim, Labels, Variable};
    let variable = |name: &str, dims: Vec<Dim>, role| Variable { name: name.into(), dims, role };
    let groups = Dim { name: "city".into(), labels: Labels::Strings(vec!["bern".into(), "rom".into()]) };
    let layout = Layout {
        variables: vec![
            variable("tau", vec![], Role::Parameter { offset: 2, transform: Transform::Exp }),
            variable("theta", vec![groups.clone()], Role::Derived),
            variable("z", vec![groups], Role::Parameter { offset: 0, transform: Transform::Identity }),
        ],
    };
    let names: Vec<String> = (0..4).map(|i| coordinate_name(&layout, i)).collect();
    assert_eq!(names, ["z[bern]", "z[rom]", "log(tau)", "coordinate 3"]);
}

/// The points at which `logp_grad` is asked, and what is found at `x`.
fn asked(logp_grad: &ValueAndGradient<'_>, x: &[f64], turn: u64) -> (Vec<Vec<f64>>, GradientCheck) {
    let points = std::cell::RefCell::new(Vec::new());
    let recorded = |x: &[f64], gradient: &mut [f64]| {
        points.borrow_mut().push(x.to_vec());
        logp_grad(x, gradient)
    };
    let found = check_gradient(&recorded, x, turn).unwrap();
    (points.into_inner(), found)
}

/// A sum of slopes times coordinates, with a gradient of its own.
fn linear(slopes: Vec<f64>, gradient: Vec<f64>) -> impl Fn(&[f64], &mut [f64]) -> Result<f64, DensityError> {
    move |x, out| {
        out.copy_from_slice(&gradient);
        Ok(x.iter().zip(&slopes).map(|(x, slope)| x * slope).sum())
    }
}

/// Eight groups, each moved both ways at once by a tenth of its units over the root of its number.
#[test]
fn the_neighbours_of_a_point_are_those_of_its_groups() {
    let slopes: Vec<f64> = (0..19).map(|i| [4.0, 0.25, -1.0, 1e-9, 1e20, 0.0][i % 6]).collect();
    let units = [0.5, 2.0, 1.0, 1e3, 1e-8, 1.0];
    for turn in [0, 3] {
        let (points, found) = asked(&linear(slopes.clone(), slopes.clone()), &[0.0; 19], turn);
        assert_eq!((points.len(), found.tried, found.unclear), (17, 8, 0), "{found:?}");
        for group in 0..8 {
            let members: Vec<usize> =
                (0..19).filter(|i| (*i as u64 + turn * (*i as u64 / 8)) % 8 == group as u64).collect();
            for (side, sign) in [(1, 1.0), (2, -1.0)] {
                for (i, &found) in points[2 * group + side].iter().enumerate() {
                    let step = 0.1 / (members.len() as f64).sqrt() * units[i % 6] * probe_sign(i, turn) * sign;
                    let expected = if members.contains(&i) { step } else { 0.0 };
                    assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{group} {i}: {found}, not {expected}");
                }
            }
        }
    }
}

/// Where the log density has a value at the point alone nothing is known, and each direction is counted once.
#[test]
fn directions_without_a_value_beside_the_point_are_unclear() {
    let point = [0.5, 0.25, 2.0];
    let alone = |x: &[f64], gradient: &mut [f64]| {
        gradient.fill(1.0);
        finite(if x == point { 0.0 } else { f64::NAN })
    };
    let found = check_gradient(&alone, &point, 0).unwrap();
    assert_eq!(found, GradientCheck { tried: 3, unclear: 3, ..GradientCheck::default() });
}

/// The signs are no part of any result, but a run is to say the same again.
#[test]
fn signs_are_both_and_the_same_everywhere() {
    let signs = |turn| -> String { (0..32).map(|i| if probe_sign(i, turn) == 1.0 { '+' } else { '-' }).collect() };
    assert!((0..32).all(|i| probe_sign(i, 1).abs() == 1.0));
    assert_eq!([signs(0), signs(1)], ["+-+++-+-+--++++-+++++-+-++++---+", "++----+-+--+--+-+++--++-+++--+-+"]);
}

/// What no distance agrees with is looked at from all twelve, each a quarter of the one before, and once more for its name.
#[test]
fn a_wrong_slope_is_looked_at_from_twelve_distances() {
    let (points, found) = asked(&linear(vec![1.0], vec![1.25]), &[0.0], 0);
    assert_eq!((points.len(), found.wrong.len(), found.unclear), (1 + 2 * 24, 1, 0), "{found:?}");
    for k in 0..12 {
        let expected = 0.1 * 0.25_f64.powi(k as i32) / 1.25_f64.sqrt();
        assert!((points[1 + 2 * k][0].abs() / expected - 1.0).abs() < 1e-14, "{k}");
    }
    let WrongSlope { coordinate, analytic, numeric, error } = found.wrong[0];
    assert!((coordinate, analytic) == (0, 1.25) && (numeric - 1.0).abs() < 1e-12 && error < 1e-10, "{found:?}");
    // For a cube the error is the squared distance, so two distances together give the exact slope.
    let cube = |x: &[f64], gradient: &mut [f64]| {
        gradient[0] = 3.0 * x[0] * x[0];
        Ok(x[0].powi(3))
    };
    assert_eq!(asked(&cube, &[1.0], 0).0.len(), 1 + 2 * 2);
}

/// A slope of 1/4 that is off by 10^-6 of itself agrees at once, one by 10^-4 is wrong, and between is neither.
#[test]
fn slopes_are_judged_by_their_share() {
    let off = |share: f64| asked(&linear(vec![0.25], vec![0.25 * (1.0 + share)]), &[0.0], 0);
    let (points, found) = off(0.75e-6);
    assert!(points.len() == 3 && (found.largest / 0.75e-6 - 1.0).abs() < 1e-3, "{found:?}");
    let (points, found) = off(1.5e-6);
    assert!(points.len() > 3 && found.wrong.is_empty(), "{found:?}");
    assert_eq!((off(0.75e-4).1.wrong.len(), off(0.75e-4).1.unclear, off(1.5e-4).1.wrong.len()), (0, 1, 1));
    let flat = asked(&linear(vec![0.0; 2], vec![0.0; 2]), &[0.0; 2], 0).1;
    assert_eq!(flat, GradientCheck { tried: 2, ..GradientCheck::default() });
    // Eight are wrong, and four are named.
    let found = asked(&linear(vec![1.0; 8], vec![2.0; 8]), &[0.0; 8], 0).1;
    assert_eq!(
        (found.wrong.iter().map(|wrong| wrong.coordinate).collect::<Vec<_>>(), found.unclear),
        (vec![0, 1, 2, 3], 4)
    );
    // One of twelve in a group, and of an odd number of twos.
    for at in [2, 40, 88] {
        let mut gradient = vec![1.0; 90];
        gradient[at] = 1.5;
        let found = asked(&linear(vec![1.0; 90], gradient), &[0.0; 90], 0).1;
        assert_eq!(found.wrong.iter().map(|wrong| wrong.coordinate).collect::<Vec<_>>(), [at]);
    }
}

/// Beside a log density of 10^9, whose rounding is 1.8e-5 of a slope at the first distance and four times that at the next:
/// there it excuses, and at no smaller one.
#[test]
fn rounding_excuses_at_the_two_largest_distances_only() {
    let agrees = |off: f64| {
        let logp_grad = |x: &[f64], _: &mut [f64]| Ok(1e9 + x[0]);
        let probe = Probe { logp_grad: &logp_grad, x: &[0.0], logp: 1e9, gradient: &[1.0 + off] };
        matches!(probe.judge(&[(0, 1.0)]).unwrap(), Judged::Agrees(_))
    };
    assert_eq!([1e-5, 4e-5, 1.5e-4, 5e-4].map(agrees), [true, true, false, false]);
}

/// Everything that two neighbours say, of a cube at 0.5 whose slope is given as 1.
#[test]
fn two_neighbours_say_what_they_are() {
    let cube = |x: &[f64], _: &mut [f64]| Ok(x[0].powi(3));
    let pair = |x: f64, unit: f64, step: f64| {
        Probe { logp_grad: &cube, x: &[x], logp: x.powi(3), gradient: &[1.0] }.pair(&[(0, unit)], step).unwrap()
    };
    let Pair { step, off, sides, bend, rounding, change, flat } = pair(0.5, 2.0, 0.1).unwrap();
    // 0.7^3 = 0.343 and 0.3^3 = 0.027 beside 0.125, and 0.2 expected on each side; 0.343 is the largest.
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
    near(step, 0.1);
    near(off, (0.316 - 0.4) / 0.2);
    near(sides[0], (0.218 - 0.2) / 0.1);
    near(sides[1], (0.098 - 0.2) / 0.1);
    near(bend, 0.12);
    near(rounding / (8.0 * f64::EPSILON), 0.343);
    near(change, 0.316);
    assert!(!flat);
    // Numbers of 24 bits have their rounding.
    let short = |x: &[f64], _: &mut [f64]| Ok(0.5 * x[0]);
    let probe = Probe { logp_grad: &short, x: &[0.5], logp: 0.25, gradient: &[0.5] };
    near(probe.pair(&[(0, 1.0)], 0.25).unwrap().unwrap().rounding, 8.0 * f64::from(f32::EPSILON) * 0.375);
    // Numbers that are 4 apart: a step of 5.8 becomes 4, and one of 1.9 is none.
    let coarse = 2_f64.powi(54) + 2_f64.powi(53);
    assert!(pair(coarse, 1.0, 5.8).is_some() && pair(coarse, 1.0, 1.9).is_none());
}

fn seen(step: f64, off: f64) -> Pair {
    Pair { step, off, sides: [off; 2], bend: 0.0, rounding: 0.0, change: 1.0, flat: false }
}

fn differs(pairs: &[Pair], slope: f64) -> bool {
    matches!(verdict(pairs, slope), Judged::Differs { .. })
}

#[test]
fn a_verdict_needs_two_distances_that_agree() {
    let two = |first: f64, second: f64| differs(&[seen(0.1, first), seen(0.025, second)], 1.0);
    // Ten times their difference is less than the slope's.
    assert!(two(1.0, 1.0) && two(1.0, 1.07) && !two(1.0, 1.15) && !two(1.0, 3.0));
    assert!(!differs(&[seen(0.1, 1.0)], 1.0) && !differs(&[], 1.0));
    // A hundred-thousandth of all slopes together is not enough.
    assert!(
        differs(&[seen(0.1, 3e-4), seen(0.025, 3e-4)], 20.0)
            && !differs(&[seen(0.1, 1.5e-4), seen(0.025, 1.5e-4)], 20.0)
    );
    // Nor is one where another distance nearly speaks for the slope.
    let with = |first: f64| differs(&[seen(0.1, first), seen(0.025, 1.0), seen(0.00625, 1.0)], 1.0);
    assert!(with(0.15) && !with(0.07));
}

#[test]
fn both_sides_are_to_be_off_by_half() {
    let sides = |other: f64| {
        let pairs = [0.1, 0.025].map(|step| Pair { sides: [0.02, other], ..seen(step, 0.02) });
        differs(&pairs, 1e-3)
    };
    assert!(sides(0.014) && !sides(0.008) && !sides(-0.02));
}

/// The bends of the last three distances are noise, those before are curvature.
#[test]
fn noise_is_that_of_the_three_smallest_distances() {
    let bent = |at: usize| {
        let pairs: Vec<Pair> = (0..8)
            .map(|k| Pair { bend: if k == at { 10.0 } else { 0.0 }, ..seen(0.1 * 0.25_f64.powi(k as i32), 1.0) })
            .collect();
        differs(&pairs, 1.0)
    };
    assert_eq!([3, 4, 5, 6, 7].map(bent), [true, true, false, false, false]);
}

/// Two errors and a thousandth: 3 is taken for 3.0045 and not for 3.006, where the error is a thousandth, too.
#[test]
fn reasons_are_guessed_as_near_as_the_numbers_are() {
    let reason = |analytic, error| WrongSlope { coordinate: 0, analytic, numeric: 3.0, error }.likely_reason();
    assert_eq!((reason(-3.0045, 1e-3), reason(-3.006, 1e-3)), (Some("its sign is flipped"), None));
}
