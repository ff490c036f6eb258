//! A gradient allocates nothing once its memory is made. This test is alone in its process, whose allocations it counts.

use octopus_bind::{BoundModel, Data, DataNumbers, DataValue};
use octopus_density::LogDensity;
use octopus_stan::StanProgram;
use rayon::{ThreadPool, ThreadPoolBuilder};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sums by segment; of many rows threads share the loop.
const CLINICS: &str = "data { int N; int J; int K; vector[N] age; array[N] int<lower=1, upper=J> clinic;
                              array[N] int<lower=1, upper=K> patient; array[N] int<lower=0, upper=1> ill; }
    parameters { real slope; real<lower=0> spread; vector[J] level; vector[K] own; }
    model { slope ~ normal(0, 1); spread ~ normal(0, 1); level ~ normal(0, 1); own ~ normal(0, 0.5);
            ill ~ bernoulli_logit(slope * age + spread * level[clinic] + own[patient]); }";

const GARCH: &str = "data { int T; vector[T] age; }
    parameters { real mu; real<lower=0> a; real<lower=0, upper=1> b; real<lower=0, upper=1> c; }
    model { vector[T] s; s[1] = 1;
            for (t in 2:T) s[t] = sqrt(a + b * square(age[t - 1] - mu) + c * square(s[t - 1]));
            age ~ normal(mu, s); }";

const MATRICES: &str = "data { int N; int K; matrix[N, K] x; vector[N] age; vector[K] z; }
    parameters { vector[K] beta; cov_matrix[K] S; cholesky_factor_corr[K] L; real<lower=0> rho; }
    model { matrix[K, K] C = cholesky_decompose(S);
            matrix[K, K] G;
            for (i in 1:K) for (j in 1:K) G[i, j] = exp(-rho * abs(i - j)) + (i == j ? 0.1 : 0.0);
            age ~ normal(x * beta, 2); beta ~ multi_normal_cholesky(z, C); z ~ multi_normal(beta, G);
            L ~ lkj_corr_cholesky(2); S ~ wishart(K + 2, diag_matrix(rep_vector(1, K)));
            to_vector(crossprod(x * L)) ~ normal(0, 1000); z ~ multi_normal_cholesky(beta, L); }";

/// Differential equations by both methods.
const SOLVED: &str = "functions { vector f(real t, vector y, vector rate) {
        return [(rate[1] - rate[2] * y[2]) * y[1], (rate[2] * y[1] - rate[3]) * y[2]]'; } }
    data { int T; vector[T] age; }
    parameters { vector<lower=0>[3] rate; vector<lower=0>[2] first; }
    model { array[2] vector[2] y = ode_rk45(f, first, 0, {1, 2}, rate);
            array[2] vector[2] z = ode_bdf(f, first, 0, {1, 2}, rate);
            age[1:2] ~ normal(y[2] + z[1], 1); rate ~ lognormal(0, 1); first ~ lognormal(0, 1); }";

fn noise(i: usize, k: usize) -> f64 {
    ((i * 7919 + k * 104_729 + 13) % 1009) as f64 / 504.0 - 1.0
}

/// Data with so many rows and patients for all of the programs.
fn data(rows: usize, patients: usize) -> Data {
    let columns = 6;
    let ints = |size: usize, step: usize| (0..rows).map(|i| (i * step % size) as i64 + 1).collect::<Vec<_>>();
    let age: Vec<f64> = (0..rows).map(|i| noise(i, 0)).collect();
    let ill: Vec<i64> = (0..rows).map(|i| i64::from(noise(i, 9) > 0.1)).collect();
    let x: Vec<f64> = (0..rows * columns).map(|i| noise(i, 3)).collect();
    Data::new("noise")
        .with_int("N", rows as i64)
        .with_int("T", rows as i64)
        .with_int("J", 7)
        .with_int("K", patients as i64)
        .with_reals("age", &age)
        .with_ints("clinic", &ints(7, 3))
        .with_ints("patient", &ints(patients, 1))
        .with_ints("ill", &ill)
        .with_reals("z", &x[..columns])
        .with("x", DataValue { shape: vec![rows, columns], numbers: DataNumbers::Reals(x) })
}

/// Returns how often the process asks for memory during 10 gradients, after two that make theirs.
fn allocations(density: &impl LogDensity, pool: &ThreadPool) -> usize {
    pool.install(|| {
        let mut x: Vec<f64> = (0..density.dim()).map(|k| 0.1 + 0.2 * noise(k, 5)).collect();
        let mut gradient = vec![0.0; x.len()];
        let mut evaluate = |x: &[f64]| density.logp_grad(x, &mut gradient).expect("a value");
        evaluate(&x);
        evaluate(&x);
        let before = Region::new(ALLOCATOR);
        for _ in 0..10 {
            x[0] += 0.01;
            evaluate(&x);
        }
        let now = before.change();
        now.allocations + now.reallocations
    })
}

#[test]
fn a_gradient_allocates_nothing() {
    // Threads that begin or end allocate: these live as long as the test.
    let [alone, shared] = [1, 2].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
    // What other threads of the process still do is not in every trial.
    let least = |density: &_, pool: &_| (0..5).map(|_| allocations(density, pool)).min().unwrap_or(0);
    for (name, text, rows, patients) in [
        ("clinics", CLINICS, 150_000, 500),
        ("short segments", CLINICS, 40, 30),
        ("garch", GARCH, 3000, 6),
        ("matrices", MATRICES, 5000, 6),
        ("solved", SOLVED, 3000, 6),
    ] {
        let program = StanProgram::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        let model = BoundModel::new(&program, &data(rows, patients)).unwrap_or_else(|error| panic!("{error}"));
        let density = model.density(name).expect("a density");
        assert_eq!(least(&density, &alone), 0, "{name}");
        // Threads share long loops only. Each shared loop has lists of its pieces, and rayon's tasks allocate at times.
        let count = least(&density, &shared);
        eprintln!("{name}: {count} allocations in 10 gradients of 2 threads");
        let is_long = |&(rows, _): &(usize, usize)| rows > octopus_program::order::SPAN;
        let long = density.program().loops().into_iter().filter(is_long).count();
        assert_eq!(long > 0, name == "clinics");
        assert!(count <= 10 * 16 * long, "{name}: {count}");
    }
}
