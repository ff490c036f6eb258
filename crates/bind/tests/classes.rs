//! Loops whose passes differ on account of data: passes that do the same are bound at once.

mod unrolled;

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_density::{DrawAddress, LogDensity};
use octopus_stan::StanProgram;
use unrolled::{compared, numbers};

/// Data whose branches go to and fro: counts from 0 to 3, places of pieces of a vector of 80 numbers.
fn individuals(count: usize) -> Data {
    let of = |f: fn(i64) -> i64| (0..count as i64).map(f).collect::<Vec<i64>>();
    Data::new("individuals")
        .with_int("N", count as i64)
        .with_reals("x", &numbers(count, 0.3))
        .with_ints("y", &of(|i| (i * 7 + i / 5) % 4))
        .with_ints("s", &of(|i| (i * 5 + i / 7) % 3 % 2))
        .with_ints("n", &of(|i| 2 + i * i % 3))
        .with_ints("p", &of(|i| 1 + (i * 11) % 70))
}

const HEAD: &str = "data { int N; vector[N] x; array[N] int y; array[N] int s; array[N] int n; array[N] int p; }
    parameters { vector[N] a; vector[80] b; real<lower=0, upper=1> q; }";

/// Steps for each of many passes, which are enough only where passes are bound at once.
const STEPS_OF_A_PASS: u64 = 10;

/// The body of a model, with priors after it: the same numbers as pass by pass, in steps that are enough or not.
fn check(functions: &str, body: &str, is_at_once: bool) {
    let text = format!("{functions} {HEAD} model {{ {body} a ~ std_normal(); b ~ std_normal(); q ~ beta(2, 2); }}");
    compared(&text, &individuals(60));
    let (count, program) = (3000, StanProgram::parse("model.stan", &text).expect("a program"));
    let bound = |vectorise_loops| {
        let options =
            BindOptions { vectorise_loops, most_steps: STEPS_OF_A_PASS * count as u64, ..BindOptions::default() };
        BoundModel::with_options(&program, &individuals(count), options).is_ok()
    };
    assert!(!bound(false), "the steps are enough pass by pass\n{body}");
    assert_eq!(bound(true), is_at_once, "{body}");
}

#[test]
fn branches_on_data() {
    let body = "for (i in 1:N) {
        if (y[i] > 1) target += bernoulli_lpmf(1 | q) + binomial_logit_lpmf(y[i] | 3, a[i]);
        else target += log_sum_exp(bernoulli_lpmf(1 | q) + binomial_logit_lpmf(0 | 3, a[i]), bernoulli_lpmf(0 | q)); }";
    check("", body, true);
    // Branches inside of branches, and a condition of which the second half is for some passes only.
    let body = "for (i in 1:N) { real m = 0; if (y[i] > 0 && x[y[i]] < 0.5) { m = q * x[i]; if (s[i]) m += a[i]; }
        else if (s[i] || y[i] == 2) m = sin(a[i]); m ~ normal(x[i], 1); }";
    check("", body, true);
    // A class of one pass.
    let body = "for (i in 1:N) { if (i == 17) target += -square(a[i]); else a[i] ~ normal(q * x[i] + b[p[i]], 2); }";
    check("", body, true);
}

#[test]
fn inner_loops_and_pieces_of_data_s_length() {
    let body = "for (i in 1:N) { real m = 0; for (j in 1:n[i]) m += exp(0.1 * b[p[i] + j]); m ~ normal(a[i], 1 + q); }";
    check("", body, true);
    let body = "for (i in 1:N) { vector[n[i]] v = a[i] - segment(b, p[i], n[i]);
        target += -0.1 * sum(square(cumulative_sum(append_row(q, v))));
        target += -0.1 * sum(square(b[p[i]:(p[i] + n[i] - 1)] - head(tail(v, 2), 1)[1])); }";
    check("", body, true);
    let body = "for (i in 1:N) { int k = 0; while (k < y[i]) { target += -0.1 * square(a[i] - b[k + 1]); k += 1; } }";
    check("", body, true);
}

#[test]
fn what_classes_write() {
    // Elements of a vector from outside, a sum, and a variable of which the last pass counts.
    let body = "vector[N] m; real total = 0; real last;
        for (i in 1:N) { if (s[i]) { m[i] = a[i] * q; last = a[i]; } else { m[i] = x[i] + a[i]; last = 2 * a[i] + b[p[i]]; }
            total += last * 0.1; }
        x ~ normal(m, 1); target += -square(total) - 3 * square(last);";
    check("", body, true);
}

#[test]
fn a_class_reads_nothing_that_another_one_writes() {
    // A pass of one class reads what a pass of another one wrote before it.
    let body = "vector[N] m = rep_vector(0.5, N);
        for (i in 1:N) { if (y[i] > 1) m[i] = a[i] * q; else if (i > 3) m[i] = sin(m[i - 3]) + a[i]; }
        x ~ normal(m, 1);";
    check("", body, false);
    // What the last pass left is read by the next one.
    let body =
        "real before = 0; for (i in 1:N) { if (s[i]) before = a[i]; else x[i] ~ normal(before * q, 1 + b[p[i]]^2); }";
    check("", body, false);
}

#[test]
fn functions_that_branch() {
    let functions = "functions {
        real of(int y, real a, vector b) { vector[rows(b) + 1] u = append_row(rep_vector(0.0, 1), a - b);
            if (y == 0) return log1m(0.5 * inv_logit(u[2]));
            return categorical_lpmf(min({y, rows(b)}) + 1 | softmax(cumulative_sum(u))); } }";
    let body = "for (i in 1:N) target += of(y[i], a[i] * q, segment(b, p[i], n[i]));";
    check(functions, body, true);
}

/// Each pass has its own numbers, whatever its class.
#[test]
fn classes_draw_what_passes_draw() {
    let text = format!(
        "{HEAD} model {{ a ~ std_normal(); b ~ std_normal(); }}
        generated quantities {{ array[N] int z; vector[N] w;
            for (i in 1:N) {{ if (y[i] > 1) {{ z[i] = 1; w[i] = normal_rng(a[i], 1); }}
                else {{ z[i] = bernoulli_rng(q); w[i] = z[i] + exponential_rng(1) + normal_rng(b[p[i]], 2); }} }}
            real other = normal_rng(0, 1); }}"
    );
    let program = StanProgram::parse("model.stan", &text).expect("a program");
    let drawn = |vectorise_loops| {
        let options = BindOptions { vectorise_loops, ..BindOptions::default() };
        let model = BoundModel::with_options(&program, &individuals(60), options).expect("a model");
        let (x, density) = (numbers(model.dim(), 0.7), model.density("model").expect("a density"));
        let mut all = Vec::new();
        for draw in 0..5 {
            let mut out = vec![0.0; density.layout().width()];
            density.expand_draw(&x, DrawAddress { seed: 56, chain: 0, draw }, &mut out).expect("values");
            all.extend(out.iter().map(|x| x.to_bits()));
        }
        assert_eq!(density.failures(), Default::default());
        all
    };
    assert_eq!(drawn(true), drawn(false));
}
