//! The constants that statements drop come back: a program with `~` and the same with `target += d_lpdf` have one log density
//! together with their constants.

use octopus_bind::{BoundModel, Data, StanDensity};
use octopus_density::LogDensity;
use octopus_stan::StanProgram;
use std::path::{Path, PathBuf};

/// Distributions of counts and categories, whose functions end in `_lpmf`.
const OF_COUNTS: [&str; 20] = [
    "bernoulli",
    "bernoulli_logit",
    "bernoulli_logit_glm",
    "binomial",
    "binomial_logit",
    "binomial_logit_glm",
    "beta_binomial",
    "beta_neg_binomial",
    "hypergeometric",
    "neg_binomial",
    "neg_binomial_2",
    "neg_binomial_2_log",
    "neg_binomial_2_log_glm",
    "poisson",
    "poisson_log",
    "poisson_log_glm",
    "categorical",
    "categorical_logit",
    "multinomial",
    "multinomial_logit",
];
const OF_COUNTS_TOO: [&str; 7] = [
    "categorical_logit_glm",
    "ordered_logistic",
    "ordered_logistic_glm",
    "ordered_probit",
    "discrete_range",
    "dirichlet_multinomial",
    "binomial_glm",
];

/// Programs with priors that bounds cut off, and the probability that is left: halves, one of the orders of elements, and of
/// N(0.5, 0.5) what is between -1 and 1.
const LEFT_BY_BOUNDS: [(&str, f64); 7] = [
    ("discrete", 1.0 / 6.0),
    ("loops", 0.5),
    ("reductions", 0.5),
    ("vectors", 1.0 / (24.0 * 6.0 * 36.0 * 16.0)),
    ("gp-regression", 0.25),
    ("ordinal", 1.0 / 6.0),
    ("state-space", 0.839_994_848_036_691_3),
];

/// The text with `target += d_lpdf(y | a)` for each `y ~ d(a)`, and `_lpdf` for each `_lupdf`; none where a distribution is
/// truncated.
fn with_all_constants(text: &str) -> Option<String> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let plain = lines.collect::<Vec<&str>>().join("\n").replace("_lupdf", "_lpdf").replace("_lupmf", "_lpmf");
    let mut out = String::new();
    for statement in plain.split_inclusive(';') {
        let Some((before, after)) = statement.split_once('~') else {
            out += statement;
            continue;
        };
        if after.contains(" T[") || after.contains("T [") {
            return None;
        }
        // What stands before the variate: blocks, and the heads of loops and branches.
        let mut start = before.rfind(['{', '}', ';']).map_or(0, |at| at + 1);
        loop {
            let rest = before[start..].trim_start();
            let head = ["for ", "for(", "if ", "if(", "else ", "while "].iter().find(|head| rest.starts_with(**head));
            let Some(head) = head else { break };
            start = before.len() - rest.len() + head.trim_end_matches('(').len();
            if !head.starts_with("else") {
                let mut depth = 0;
                let close = before[start..].char_indices().find(|(_, c)| {
                    depth += i32::from(*c == '(') - i32::from(*c == ')');
                    *c == ')' && depth == 0
                });
                start += close?.0 + 1;
            }
        }
        let (name, arguments) = after.trim().trim_end_matches(';').split_once('(')?;
        let arguments = arguments.trim_end().strip_suffix(')')?;
        let name = name.trim();
        let end = if OF_COUNTS.contains(&name) || OF_COUNTS_TOO.contains(&name) { "lpmf" } else { "lpdf" };
        let end = if plain.contains(&format!("{name}_lpmf(")) { "lpmf" } else { end };
        let bar = if arguments.trim().is_empty() { "" } else { " | " };
        out += &format!("{} target += {name}_{end}({}{bar}{arguments});", &before[..start], before[start..].trim());
    }
    Some(out)
}

fn density(name: &str, text: &str, data: &Data) -> Result<StanDensity, String> {
    let program = StanProgram::parse(name, text).map_err(|error| format!("{name}: {error}\n{text}"))?;
    let model = BoundModel::new(&program, data).map_err(|error| format!("{name}: {error}"))?;
    model.density(name).map_err(|error| format!("{name}: {error}"))
}

/// Points without a pattern.
fn point(dim: usize, turn: usize) -> Vec<f64> {
    (0..dim).map(|k| 0.7 * (0.9 + (1.7 + 0.3 * turn as f64) * k as f64 + turn as f64).sin()).collect()
}

/// Holds both forms of a program to each other; returns whether they could be compared.
fn compare(name: &str, text: &str, data: &Data) -> Result<bool, String> {
    let Some(whole_text) = with_all_constants(text) else { return Ok(false) };
    let (plain, whole) = (density(name, text, data)?, density(name, &whole_text, data)?);
    let constant = plain.log_constant().ok_or_else(|| format!("{name}: no constant"))?;
    let of_whole = whole.log_constant().ok_or_else(|| format!("{name}: no constant of {whole_text}"))?;
    let mut compared = false;
    for turn in 0..4 {
        let x = point(plain.dim(), turn);
        let mut slopes = vec![0.0; x.len()];
        let (Ok(a), Ok(b)) = (plain.logp_grad(&x, &mut slopes), whole.logp_grad(&x, &mut slopes)) else { continue };
        compared = true;
        let (a, b) = (a + constant, b + of_whole);
        if (a - b).abs() > 1e-12 * (1.0 + a.abs().max(b.abs())) {
            return Err(format!("{name}: {a}, not {b}: constants {constant} and {of_whole}"));
        }
    }
    // With all constants only the probability is missing that bounds leave, unless coordinates of effects have a constant.
    let cut_off = LEFT_BY_BOUNDS.iter().find(|(of, _)| *of == name).map_or(0.0, |(_, left)| -left.ln());
    if whole.effects().is_none() && (of_whole - cut_off).abs() > 1e-12 * (1.0 + constant.abs()) {
        return Err(format!("{name}: {of_whole} is missing with all constants, not {cut_off}"));
    }
    Ok(compared)
}

fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(programs_in(&path));
        } else if path.extension().is_some_and(|end| end == "stan") && path.with_extension("json").exists() {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Programs that use all distributions, and those that ship.
#[test]
fn both_forms_of_a_program_have_one_density() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut faults, mut compared) = (Vec::new(), 0);
    for folder in ["tests/stan/programs", "../../models"] {
        for path in programs_in(&here.join(folder)) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a program");
            let data = Data::read(path.with_extension("json").display().to_string()).expect("data");
            match compare(&name, &text, &data) {
                Ok(is_compared) => compared += usize::from(is_compared),
                Err(fault) => faults.push(fault),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared >= 30, "only {compared} programs could be compared");
}

const HEAD: &str = "data { int N; vector[N] y; } ";

fn constant_of(text: &str) -> (Option<f64>, Option<String>) {
    let data = Data::new("data").with_int("N", 3).with_reals("y", &[0.3, -1.0, 2.0]);
    let density = density("m.stan", &format!("{HEAD}{text}"), &data).expect("a density");
    (density.log_constant(), density.prior_obstacle())
}

/// What is weighted is weighted with its constants, in functions and loops, too.
#[test]
fn constants_inside_of_anything_are_found() {
    let normal = 0.5 * (2.0 * std::f64::consts::PI).ln();
    let function = "real half_lpdf(real x, real m) { return 0.5 * normal_lupdf(x | m, 2); }";
    for (text, expected) in [
        (
            "parameters { real m; } model { m ~ normal(0, 2); target += 3 * normal_lupdf(y | m, 1); }",
            -10.0 * normal - 2_f64.ln(),
        ),
        (
            "parameters { real m; } model { m ~ std_normal(); for (n in 1:N) if (y[n] > 0) y[n] ~ normal(m, 3); }",
            -3.0 * normal - 2.0 * 3_f64.ln(),
        ),
        // Half of a distribution in two ways.
        ("parameters { real<lower=0> s; } model { s ~ normal(0, 2); y ~ normal(0, s); }", -4.0 * normal),
        (
            "parameters { real<lower=0> s; } model { s ~ normal(0, 2) T[0, ]; y ~ normal(0, s); }",
            -4.0 * normal - 2_f64.ln(),
        ),
        (
            "parameters { real<lower=0> s; } model { target += normal_lpdf(s | 0, 2) - normal_lccdf(0 | 0, 2); y ~ normal(0, s); }",
            -3.0 * normal,
        ),
        // A uniform prior.
        (
            "parameters { vector<lower=1, upper=5>[2] a; } model { y ~ normal(a[1], a[2]); }",
            -3.0 * normal - 2.0 * 4_f64.ln(),
        ),
    ] {
        let (constant, obstacle) = constant_of(text);
        let constant = constant.expect("a constant");
        assert!(
            (constant - expected).abs() < 1e-12 && obstacle.is_none(),
            "{text}: {constant}, not {expected} {obstacle:?}"
        );
    }
    let of_function = StanProgram::parse(
        "f.stan",
        &format!("functions {{ {function} }} parameters {{ real m; }} model {{ m ~ half(1); }}"),
    );
    let bound = BoundModel::new(&of_function.expect("a program"), &Data::new("none")).expect("a model");
    let constant = bound.density("f").expect("a density").log_constant().expect("a constant");
    assert!((constant + 0.5 * (normal + 2_f64.ln())).abs() < 1e-13, "{constant}");
}

/// Where a branch on a parameter drops other terms than the other branch, nothing is constant. Priors that are not proper, or
/// not read, are told of.
#[test]
fn what_is_no_constant_and_no_prior_is_said() {
    let branch = "functions { real odd_lpdf(real x, real m) { return m > 0 ? normal_lupdf(x | m, 2) : cauchy_lupdf(x | m, 7); } }
        data { real y; } parameters { real m; } model { m ~ std_normal(); y ~ odd(m); }";
    let density = density("odd.stan", branch, &Data::new("one").with_real("y", 1.5)).expect("a density");
    assert_eq!(density.log_constant(), None);
    for (text, told) in [
        ("parameters { real m; } model { y ~ normal(m, 1); }", "`m` has no sampling statement"),
        (
            "parameters { real m; real<lower=0> s; } model { m ~ normal(0, 1); s ~ normal(m, 1); y ~ normal(0, s); }",
            "what the constraint of `s` leaves",
        ),
        (
            "parameters { real<lower=0> s; } model { target += -log(s); y ~ normal(0, s); }",
            "it does not say how one parameter",
        ),
        (
            "parameters { sum_to_zero_vector[3] z; } model { z ~ normal(0, 1); y ~ normal(z, 1); }",
            "what the constraint of `z` leaves",
        ),
    ] {
        let (constant, obstacle) = constant_of(text);
        assert!(constant.is_some() && obstacle.as_ref().is_some_and(|why| why.contains(told)), "{text}: {obstacle:?}");
    }
}
