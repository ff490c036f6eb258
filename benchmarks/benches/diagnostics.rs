//! The cost of diagnostics: summaries, effective sample sizes, leave-one-out cross-validation.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use octopus_diag::{Chains, DEFAULT_PROB, LogLikelihood, ess_bulk, ess_tail, kde, loo, psis, rhat, summary};
use octopus_trace::{Array, Dataset, Values};
use std::hint::black_box;

const CHAINS: usize = 4;
const DRAWS: usize = 2000;

/// Correlated draws, `CHAINS x DRAWS x width`.
fn draws(width: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * 2f64.powi(-53) - 0.5
    };
    let mut values = vec![0.0; CHAINS * DRAWS * width];
    for i in 0..values.len() {
        let before = if (i / width).is_multiple_of(DRAWS) { 0.0 } else { values[i - width] };
        values[i] = 0.5 * before + uniform() + uniform() + uniform();
    }
    values
}

fn one_quantity(c: &mut Criterion) {
    let values = draws(1);
    let chains = Chains::new(&values, CHAINS, DRAWS).expect("whole");
    let mut group = c.benchmark_group("diagnostics");
    group.bench_function("rhat", |b| b.iter(|| rhat(black_box(&chains))));
    group.bench_function("ess_bulk", |b| b.iter(|| ess_bulk(black_box(&chains))));
    group.bench_function("ess_tail", |b| b.iter(|| ess_tail(black_box(&chains))));
    group.bench_function("kde", |b| b.iter(|| kde(black_box(&values))));
    group.bench_function("psis", |b| b.iter(|| psis(black_box(&values), 1.0)));
    group.finish();
}

fn tables(c: &mut Criterion) {
    let mut group = c.benchmark_group("summary");
    group.sample_size(10);
    for width in [203, 2003] {
        let mut posterior = Dataset::default();
        let axes = [("chain", CHAINS), ("draw", DRAWS), ("i", width)];
        posterior.insert("x", Array::new(axes, Values::F64(draws(width))));
        group.bench_function(BenchmarkId::from_parameter(width), |b| b.iter(|| summary(&posterior, DEFAULT_PROB)));
    }
    group.finish();
}

fn leave_one_out(c: &mut Criterion) {
    let values: Vec<f64> = draws(1000).iter().map(|v| -1.0 - 0.3 * v * v).collect();
    let likelihood = LogLikelihood::new(&values, CHAINS * DRAWS, 1000).expect("whole");
    let mut group = c.benchmark_group("loo");
    group.sample_size(10);
    group.bench_function(BenchmarkId::from_parameter(1000), |b| b.iter(|| loo(black_box(&likelihood), 0.7)));
    group.finish();
}

criterion_group!(benches, one_quantity, tables, leave_one_out);
criterion_main!(benches);
