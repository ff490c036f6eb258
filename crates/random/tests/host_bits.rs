//! The kernels' headers have this crate's bits: `kernels/include/octopus/{math,philox,exact/*}.cuh`, compiled for the
//! host, against [`octopus_random`] at millions of points.
//!
//! Needs a C++ compiler: `CXX`, or `g++`. Without one the tests say SKIPPED and pass.

use octopus_random::{Purpose, Stream, exact, philox4x32_10};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const PURPOSES: [Purpose; 7] = [
    Purpose::Init,
    Purpose::Momentum,
    Purpose::Tree,
    Purpose::StepSize,
    Purpose::Metric,
    Purpose::Predictive,
    Purpose::User,
];

/// The compiled program; `None` where there is no compiler.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(compile).as_deref()
}

fn compile() -> Option<PathBuf> {
    let compiler = std::env::var_os("CXX").filter(|name| !name.is_empty()).unwrap_or_else(|| OsString::from("g++"));
    let silent = || Stdio::null();
    let answers = Command::new(&compiler).arg("--version").stdout(silent()).stderr(silent()).status();
    if !answers.is_ok_and(|status| status.success()) {
        return None;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (headers, main) = (package.join("../../kernels/include"), package.join("tests/host_bits/answers.cpp"));
    // Each test may be a process of its own: the first compiles, under a name that stands for the sources.
    let folders = ["octopus", "octopus/exact"].map(|folder| fs::read_dir(headers.join(folder)).unwrap());
    let mut sources: Vec<PathBuf> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.is_file());
    sources.sort_unstable();
    let mut hash = Sha256::new_with_prefix(compiler.as_encoded_bytes());
    sources.iter().chain([&main]).for_each(|file| hash.update(fs::read(file).unwrap()));
    let key: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let program = scratch(&format!("answers-{key}"));
    if program.exists() {
        return Some(program);
    }
    let fresh = scratch(&format!("answers-{key}-{}", std::process::id()));
    let status = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror", "-I"])
        .args([&headers, &main])
        .arg("-o")
        .arg(&fresh)
        .status()
        .unwrap();
    assert!(status.success(), "the kernels' headers do not compile for the host");
    fs::rename(fresh, &program).unwrap();
    Some(program)
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What the program answers to `points`; `None`, said aloud, where there is no compiler.
fn ask(function: &str, points: &[u8]) -> Option<Vec<u8>> {
    let Some(program) = program() else {
        eprintln!("SKIPPED: no C++ compiler (CXX or g++): {function} of the kernels is not compared with ours");
        return None;
    };
    let file = |kind: &str| scratch(&format!("{function}-{}.{kind}", std::process::id()));
    let (input, output) = (file("in"), file("out"));
    fs::write(&input, points).unwrap();
    let status = Command::new(program)
        .arg(function)
        .stdin(File::open(&input).unwrap())
        .stdout(File::create(&output).unwrap())
        .status()
        .unwrap();
    assert!(status.success(), "{function}: {status}");
    let answers = fs::read(&output).unwrap();
    fs::remove_file(input).unwrap();
    fs::remove_file(output).unwrap();
    Some(answers)
}

/// 64 bits that depend on `i` only.
fn bits(i: u64) -> u64 {
    let words = philox4x32_10([i as u32, (i >> 32) as u32, 0, 0], [2026, 11]);
    u64::from(words[0]) << 32 | u64::from(words[1])
}

/// Every sign and exponent with the least, the next, the middle and the greatest mantissa (zeros, subnormal numbers,
/// infinities and NaN among them) and `random` others.
fn all_exponents(random: u64) -> Vec<f64> {
    let mut points = Vec::new();
    for top in 0..1u64 << 12 {
        let fixed = [0, 1, 1 << 51, (1 << 51) + 1, (1 << 52) - 1];
        let others = (0..random).map(|k| bits(top * random + k) >> 12);
        points.extend(fixed.into_iter().chain(others).map(|mantissa| f64::from_bits(top << 52 | mantissa)));
    }
    points
}

/// `count` numbers of [low, high).
fn between(low: f64, high: f64, count: u64) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| low + (high - low) * (bits(i) >> 11) as f64 / (1u64 << 53) as f64)
}

/// `x` with the three numbers on either side of it.
fn around(x: f64) -> impl Iterator<Item = f64> {
    (-3i64..=3).map(move |step| f64::from_bits(x.to_bits().wrapping_add_signed(step)))
}

fn around_f32(x: f32) -> impl Iterator<Item = f32> {
    (-3i32..=3).map(move |step| f32::from_bits(x.to_bits().wrapping_add_signed(step)))
}

fn compare(function: &str, points: &[f64], ours: fn(f64) -> f64) {
    let raw: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    let Some(answers) = ask(function, &raw) else { return };
    assert_eq!(answers.len(), raw.len());
    for (x, answer) in points.iter().zip(answers.chunks_exact(8)) {
        let (theirs, ours) = (f64::from_le_bytes(answer.try_into().unwrap()), ours(*x));
        // Of a NaN only that it is one is promised.
        let same = theirs.to_bits() == ours.to_bits() || theirs.is_nan() && ours.is_nan();
        assert!(same, "{function}({x:e}): {theirs:e} in the kernels, {ours:e} here");
    }
    eprintln!("{function}: {} points have the same bits", points.len());
}

/// The same of a function of two numbers.
fn compare_pairs(function: &str, points: &[[f64; 2]], ours: fn(f64, f64) -> f64) {
    let raw: Vec<u8> = points.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let Some(answers) = ask(function, &raw) else { return };
    assert_eq!(answers.len(), raw.len() / 2);
    for ([x, y], answer) in points.iter().zip(answers.chunks_exact(8)) {
        let (theirs, ours) = (f64::from_le_bytes(answer.try_into().unwrap()), ours(*x, *y));
        let same = theirs.to_bits() == ours.to_bits() || theirs.is_nan() && ours.is_nan();
        assert!(same, "{function}({x:e}, {y:e}): {theirs:e} in the kernels, {ours:e} here");
    }
    eprintln!("{function}: {} points have the same bits", points.len());
}

fn compare_f32(function: &str, points: &[f32], ours: fn(f32) -> f32) {
    let raw: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    let Some(answers) = ask(function, &raw) else { return };
    assert_eq!(answers.len(), raw.len());
    for (x, answer) in points.iter().zip(answers.chunks_exact(4)) {
        let (theirs, ours) = (f32::from_le_bytes(answer.try_into().unwrap()), ours(*x));
        let same = theirs.to_bits() == ours.to_bits() || theirs.is_nan() && ours.is_nan();
        assert!(same, "{function}({x:e}): {theirs:e} in the kernels, {ours:e} here");
    }
    eprintln!("{function}: {} points have the same bits", points.len());
}

#[test]
fn exp_has_the_same_bits() {
    let mut points = all_exponents(250);
    points.extend(between(-720.0, 720.0, 2_000_000));
    points.extend(between(-1.0, 1.0, 1_000_000));
    points.extend([-708.0, 709.0].into_iter().flat_map(around));
    // Half-way between two powers of two, where rounding to an integer is a tie or nearly one.
    points.extend((-1022..1023).flat_map(|k| around((f64::from(k) + 0.5) * std::f64::consts::LN_2)));
    compare("exp_f64", &points, exact::exp);
}

#[test]
fn ln_has_the_same_bits() {
    let mut points = all_exponents(750);
    points.extend(between(0.0, 4.0, 1_000_000));
    points.extend((-1022..1023).flat_map(|k| around(2f64.powi(k))));
    points.extend((-1022..1023).flat_map(|k| around(2f64.powi(k) * std::f64::consts::SQRT_2)));
    compare("ln_f64", &points, exact::ln);
}

#[test]
fn the_normal_quantile_has_the_same_bits() {
    let mut points = all_exponents(250);
    points.extend(between(0.0, 1.0, 3_000_000));
    // Tails, both of them.
    points.extend(between(-300.0, 0.0, 500_000).map(|power| exact::exp(power * std::f64::consts::LN_10)));
    points.extend(between(-16.0, 0.0, 500_000).map(|power| 1.0 - exact::exp(power * std::f64::consts::LN_10)));
    // Where one approximation gives way to the next.
    let seams = [0.075, 0.5, 0.925, exact::exp(-25.0), 1.0 - exact::exp(-25.0), 1.0, f64::MIN_POSITIVE];
    points.extend(seams.into_iter().flat_map(around));
    compare("normal_quantile_f64", &points, exact::normal_quantile);
}

/// Every 1021st bit pattern, and what the function asks for.
fn points_f32(special: impl Iterator<Item = f32>) -> Vec<f32> {
    let fixed =
        (0..1u32 << 9).flat_map(|top| [0, 1, 1 << 22, (1 << 23) - 1].map(|low| f32::from_bits(top << 23 | low)));
    (0..=u32::MAX).step_by(1021).map(f32::from_bits).chain(fixed).chain(special).collect()
}

#[test]
fn exp_of_f32_has_the_same_bits() {
    let ties = (-126..127).map(|k| (k as f32 + 0.5) * std::f32::consts::LN_2);
    let special = ties.chain([-87.0, 88.0]).flat_map(around_f32);
    compare_f32("exp_f32", &points_f32(special), exact::single::exp);
}

#[test]
fn ln_of_f32_has_the_same_bits() {
    let powers = (-126..127).flat_map(|k| [2f32.powi(k), 2f32.powi(k) * std::f32::consts::SQRT_2]);
    compare_f32("ln_f32", &points_f32(powers.flat_map(around_f32)), exact::single::ln);
}

#[test]
fn the_normal_quantile_of_f32_has_the_same_bits() {
    let seams = [0.075, 0.5, 0.925, exact::single::exp(-25.0), 1.0, f32::MIN_POSITIVE];
    let inside = (0..2_000_000).map(|i| (bits(i) >> 41) as f32 / (1u32 << 23) as f32);
    let special = seams.into_iter().flat_map(around_f32).chain(inside);
    compare_f32("normal_quantile_f32", &points_f32(special), exact::single::normal_quantile);
}

#[test]
fn tanh_and_sigmoid_have_the_same_bits() {
    let mut points = all_exponents(150);
    points.extend(between(-45.0, 45.0, 1_000_000));
    points.extend(between(-0.5, 0.5, 500_000));
    points.extend([20.0, -20.0, -708.0, 708.0].into_iter().flat_map(around));
    points.extend((0..60).flat_map(|k| around((f64::from(k) + 0.5) * std::f64::consts::LN_2 / 2.0)));
    compare("tanh_f64", &points, exact::tanh);
    compare("sigmoid_f64", &points, exact::sigmoid);
    let ties = (0..30).map(|k| (k as f32 + 0.5) * std::f32::consts::LN_2 / 2.0);
    let points = points_f32(ties.chain([10.0, -10.0, -87.0, 87.0]).flat_map(around_f32));
    compare_f32("tanh_f32", &points, exact::single::tanh);
    compare_f32("sigmoid_f32", &points, exact::single::sigmoid);
}

/// Points for any of the functions for models: all exponents, where they bend, integers and half-integers, and around each
/// border between two formulas.
fn points_of_models() -> Vec<f64> {
    let mut points = all_exponents(30);
    points.extend([-800.0, -45.0, -4.0, -1.5].into_iter().flat_map(|low| between(low, -low, 100_000)));
    points.extend(between(-1e6, 1e6, 100_000));
    points.extend((-400..400).flat_map(|k| around(0.5 * f64::from(k))));
    points.extend((-1022..1023).flat_map(|k| around((f64::from(k) + 0.5) * std::f64::consts::LN_2)));
    points.extend((-2000..2000).flat_map(|k| around(f64::from(k) * std::f64::consts::FRAC_PI_4)));
    let borders = [
        1e-17,
        1e-20,
        0.3,
        0.8,
        1e20,
        1e154,
        1e-154,
        5.6e-309,
        2.5e305,
        1e17,
        1e300,
        40.0,
        60.0,
        709.79,
        710.0,
        720.0,
        760.0,
        1.461_632_144_968_362_2,
        35_184_372_088_832.0,
        4_503_599_627_370_496.0,
        2_251_799_813_685_248.0,
    ];
    points.extend(borders.into_iter().flat_map(|x| [x, -x]).flat_map(around));
    points
}

#[test]
fn functions_for_models_have_the_same_bits() {
    let points = points_of_models();
    compare("ln_1p", &points, exact::ln_1p);
    compare("exp_m1", &points, exact::exp_m1);
    compare("ln_gamma", &points, exact::ln_gamma);
    compare("digamma", &points, exact::digamma);
    compare("trigamma", &points, exact::trigamma);
    compare("phi", &points, exact::phi);
    compare("ln_phi", &points, exact::ln_phi);
    compare("ln_phi_slope", &points, exact::ln_phi_slope);
    compare("sin", &points, exact::sin);
    compare("cos", &points, exact::cos);
    compare("atan", &points, exact::atan);
}

#[test]
fn powers_have_the_same_bits() {
    let special = all_exponents(0);
    // Each with twenty others, small powers, and integers with their halves.
    let small: Vec<f64> = between(-1.5, 1.5, 20).collect();
    let mut pairs: Vec<[f64; 2]> = Vec::new();
    for (i, x) in special.iter().enumerate() {
        pairs.extend(special.iter().skip(i % 997).step_by(997).map(|y| [*x, *y]));
        pairs.extend(small.iter().map(|y| [*x, *y]));
        pairs.extend((-12..=12).map(|k| [*x, 0.5 * f64::from(k)]));
    }
    pairs.extend(between(0.0, 3.0, 500_000).zip(between(-600.0, 600.0, 500_001).skip(1)).map(|(x, y)| [x, y]));
    compare_pairs("pow", &pairs, exact::pow);
}

#[test]
fn philox_has_the_same_words() {
    let blocks: Vec<[u32; 6]> = (0..1_000_000)
        .map(|i| {
            let [a, b, c] = [3 * i, 3 * i + 1, 3 * i + 2].map(bits);
            [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, c as u32, (c >> 32) as u32]
        })
        .chain([[0; 6], [u32::MAX; 6]])
        .collect();
    let raw: Vec<u8> = blocks.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let Some(answers) = ask("philox", &raw) else { return };
    assert_eq!(answers.len(), 16 * blocks.len());
    for ([c0, c1, c2, c3, k0, k1], answer) in blocks.iter().zip(answers.chunks_exact(16)) {
        let ours = philox4x32_10([*c0, *c1, *c2, *c3], [*k0, *k1]).map(u32::to_le_bytes);
        assert_eq!(answer, ours.as_flattened());
    }
}

#[test]
fn uniforms_have_the_same_bits_at_every_address() {
    let addresses: Vec<(u64, u64, u32, u32, Purpose)> = (0..1_000_000)
        .map(|i| {
            let (a, b) = (bits(2 * i), bits(2 * i + 1));
            // Mostly small indices, as in use; some so large that the block's number wraps.
            let index = if i % 16 == 0 { b >> 20 } else { b >> 52 };
            (a, index, b as u32, (b >> 16) as u32, PURPOSES[(i % 7) as usize])
        })
        .collect();
    let raw: Vec<u8> = addresses
        .iter()
        .flat_map(|(seed, index, chain, iteration, purpose)| {
            let words = [*chain, *iteration, *purpose as u32, 0].map(u32::to_le_bytes);
            [seed.to_le_bytes(), index.to_le_bytes()].into_iter().flatten().chain(words.into_iter().flatten())
        })
        .collect();
    let Some(answers) = ask("uniform", &raw) else { return };
    assert_eq!(answers.len(), 8 * addresses.len());
    for ((seed, index, chain, iteration, purpose), answer) in addresses.iter().zip(answers.chunks_exact(8)) {
        let ours = Stream::new(*seed, *chain, *iteration, *purpose).uniform_at(*index);
        assert_eq!(answer, ours.to_le_bytes(), "seed {seed}, chain {chain}, iteration {iteration}, number {index}");
    }
}
