//! Draws follow their distributions: chi-square over bins of 100,000 draws, whose probabilities are SciPy's
//! (`tests/data/make_generators.py`), with a false alarm of 1 in 10^6 for each row.

use super::*;
use octopus_random::Purpose;

const DRAWS: usize = 100_000;

struct Argument {
    dims: Vec<usize>,
    values: Vec<f64>,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().expect("a number")).collect()
}

fn argument(text: &str) -> Argument {
    let (dims, values) = text.split_once(':').expect("sizes and numbers");
    let dims = dims.split('x').filter(|part| !part.is_empty()).map(|part| part.parse().expect("a size")).collect();
    Argument { dims, values: numbers(values) }
}

fn statistic(name: &str, drawn: &[f64]) -> f64 {
    let Some((kind, weights)) = name.split_once(':') else { return drawn[0] };
    let weights = numbers(weights);
    let dot = |column: &mut dyn Iterator<Item = f64>| weights.iter().zip(column).map(|(w, x)| w * x).sum::<f64>();
    if kind == "linear" {
        return dot(&mut drawn.iter().copied());
    }
    let n = weights.len();
    (0..n).map(|j| dot(&mut (0..n).map(|i| drawn[i * n + j]))).map(|sum| sum * sum).sum()
}

fn drawn(name: &str, random: &mut Stream, arguments: &[Argument]) -> Drawn<Vec<f64>> {
    match generator(&format!("{name}_rng")).expect("a generator") {
        Generator::Each(draw) => {
            let scalars: Vec<f64> = arguments.iter().map(|argument| argument.values[0]).collect();
            Ok(vec![draw(random, &scalars)?])
        }
        Generator::Many(draw) | Generator::Square(draw) => {
            let parameters: Vec<DrawParameter<'_>> =
                arguments.iter().map(|a| DrawParameter { values: &a.values, dims: &a.dims }).collect();
            Ok(draw(random, &parameters)?.0)
        }
    }
}

#[test]
fn draws_follow_their_distributions() {
    let mut wrong = Vec::new();
    for (number, row) in include_str!("../../tests/data/generators.csv").lines().enumerate() {
        let fields: Vec<&str> = row.split(';').collect();
        let arguments: Vec<Argument> = fields[1].split(' ').filter(|text| !text.is_empty()).map(argument).collect();
        let (edges, probabilities) = (numbers(fields[3]), numbers(fields[4]));
        let limit: f64 = fields[5].parse().expect("a limit");
        let mut counts = vec![0_usize; probabilities.len()];
        for draw in 0..DRAWS {
            let mut random = Stream::new(56, number as u32, draw as u32, Purpose::User);
            let x = statistic(fields[2], &drawn(fields[0], &mut random, &arguments).expect("a draw"));
            counts[edges.partition_point(|&edge| edge < x)] += 1;
        }
        let chi_square: f64 = counts
            .iter()
            .zip(&probabilities)
            .map(|(&count, p)| {
                let expected = p * DRAWS as f64;
                (count as f64 - expected).powi(2) / expected
            })
            .sum();
        if chi_square.is_nan() || chi_square > limit {
            wrong.push(format!("{} {} {}: {chi_square} > {limit}, {counts:?}", fields[0], fields[1], fields[2]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_parameters_are_named() {
    let mut random = Stream::new(1, 0, 0, Purpose::User);
    let scalars = |values: &[f64]| -> Vec<Argument> {
        values.iter().map(|&x| Argument { dims: Vec::new(), values: vec![x] }).collect()
    };
    for (name, values, words) in [
        ("normal", &[0.0, -1.0][..], "sigma is -1"),
        ("normal", &[f64::NAN, 1.0], "mu is NaN"),
        ("poisson", &[0.0], "lambda is 0"),
        ("poisson", &[2e9], "less than 1073741824"),
        ("poisson_log", &[30.0], "exp(alpha)"),
        ("bernoulli", &[1.5], "theta is 1.5"),
        ("binomial", &[-1.0, 0.5], "N is -1"),
        ("uniform", &[2.0, 1.0], "greater than alpha"),
        ("beta_proportion", &[1.0, 1.0], "mu is 1"),
        ("hypergeometric", &[5.0, 2.0, 2.0], "a + b"),
        ("student_t", &[0.0, 0.0, 1.0], "nu is 0"),
    ] {
        let error = drawn(name, &mut random, &scalars(values)).expect_err(name);
        assert!(error.contains(words), "{name}: {error}");
    }
    let vector = |values: &[f64]| Argument { dims: vec![values.len()], values: values.to_vec() };
    let matrix = |n: usize, values: &[f64]| Argument { dims: vec![n, n], values: values.to_vec() };
    let error = drawn("categorical", &mut random, &[vector(&[0.5, 0.6])]).expect_err("no simplex");
    assert!(error.contains("not a valid simplex"), "{error}");
    let arguments = [vector(&[0.0, 0.0]), matrix(2, &[1.0, 2.0, 2.0, 1.0])];
    let error = drawn("multi_normal", &mut random, &arguments).expect_err("not positive definite");
    assert!(error.contains("not positive definite"), "{error}");
}

/// Every `_rng` function of Stan's library is there, and its draws are tested.
#[test]
fn all_generators_of_the_library_are_there() {
    let tested = include_str!("../../tests/data/generators.csv");
    let mut count = 0;
    for line in include_str!("../../../stan/src/signatures.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((names, forms)) = line.split_once(": ") else { continue };
        let has_generator = forms.split(" (").next().is_some_and(|words| words.split(' ').any(|word| word == "rng"));
        for name in names.split(' ').filter(|name| has_generator || name.ends_with("_rng")) {
            let name = name.trim_end_matches("_rng");
            assert!(generator(&format!("{name}_rng")).is_some(), "{name}");
            assert!(tested.lines().any(|row| row.split(';').next() == Some(name)), "{name} is not tested");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}
