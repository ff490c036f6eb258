//! Each limit of the verdict: a number just inside passes its row, and a number just outside does not.

use super::criteria::asked;
use super::{Deliverable, Evidence, MemoryUse, PosteriorMatch, WorstVariation};
use crate::measured::Measured;
use crate::summary::{PredictiveStatistic, SummaryRow};
use octopus_diag::ParameterSummary;

/// The numbers that rows with a limit are judged by.
#[derive(Clone, Debug)]
struct Numbers {
    rhat: f64,
    ess_bulk: f64,
    ess_tail: f64,
    speedup: f64,
    rmse: f64,
    means: f64,
    sds: f64,
    /// The peak of the memory over what was foretold.
    peak: f64,
    variation: f64,
    strategies: f64,
    samplers: f64,
    /// The true value of a scalar whose 89% HDI is 48 to 52.
    truth: f64,
    p_value: f64,
}

/// Numbers with which every row passes.
const SOUND: Numbers = Numbers {
    rhat: 1.002,
    ess_bulk: 3000.0,
    ess_tail: 2000.0,
    speedup: 20.0,
    rmse: 0.01,
    means: 0.01,
    sds: 0.01,
    peak: 1.0,
    variation: 0.02,
    strategies: 3.0,
    samplers: 3.0,
    truth: 50.0,
    p_value: 0.5,
};

/// One limit of a row.
struct Limit {
    /// The row.
    id: &'static str,
    /// The words of the row's threshold that state the limit.
    stated: &'static str,
    /// What sets the number that is limited.
    set: fn(&mut Numbers, f64),
    /// A number just inside.
    inside: f64,
    /// A number just outside.
    outside: f64,
    /// What the row says of the number outside.
    status: &'static str,
}

const fn limit(
    id: &'static str,
    stated: &'static str,
    set: fn(&mut Numbers, f64),
    inside: f64,
    outside: f64,
    status: &'static str,
) -> Limit {
    Limit { id, stated, set, inside, outside, status }
}

const LIMITS: [Limit; 19] = [
    limit("P0.3", "R-hat < 1.01", |n, x| n.rhat = x, 1.0099, 1.01, "FAIL"),
    limit("P0.3", "bulk and tail ESS > 400", |n, x| n.ess_bulk = x, 400.1, 400.0, "FAIL"),
    limit("P0.3", "bulk and tail ESS > 400", |n, x| n.ess_tail = x, 400.1, 400.0, "FAIL"),
    limit("P0.4", ">= 3x", |n, x| n.speedup = x, 3.0, 2.999, "WARN"),
    limit("P1.1", ">= 5x", |n, x| n.speedup = x, 5.0, 4.999, "WARN"),
    limit("P2.1", ">= 8x", |n, x| n.speedup = x, 8.0, 7.999, "WARN"),
    limit("P1.2", "within 10 % of what was foretold", |n, x| n.peak = x, 1.0999, 1.101, "FAIL"),
    limit("P1.2", "within 10 % of what was foretold", |n, x| n.peak = x, 0.9001, 0.899, "FAIL"),
    limit("P1.3", "RMSE and means within 5 %", |n, x| n.rmse = x, 0.05, 0.0501, "FAIL"),
    limit("P1.3", "RMSE and means within 5 %", |n, x| n.means = x, 0.05, 0.0501, "FAIL"),
    limit("P1.3", "sds within 10 %", |n, x| n.sds = x, 0.10, 0.1001, "FAIL"),
    limit("P1.4", "vary < 10 %", |n, x| n.variation = x, 0.0999, 0.10, "WARN"),
    limit("P2.2", "at least 2", |n, x| n.strategies = x, 2.0, 1.0, "SKIPPED"),
    limit("P2.3", "at least 2", |n, x| n.samplers = x, 2.0, 1.0, "SKIPPED"),
    limit("Q.1", "inside their 89% HDI", |n, x| n.truth = x, 48.0, 47.999, "FAIL"),
    limit("Q.1", "inside their 89% HDI", |n, x| n.truth = x, 52.0, 52.001, "FAIL"),
    limit("Q.2", "p-value in 0.01 to 0.99", |n, x| n.p_value = x, 0.01, 0.0099, "FAIL"),
    limit("Q.2", "p-value in 0.01 to 0.99", |n, x| n.p_value = x, 0.99, 0.9901, "FAIL"),
    // Where nothing was replicated as large as observed, or everything.
    limit("Q.2", "p-value in 0.01 to 0.99", |n, x| n.p_value = x, 0.5, 1.0, "FAIL"),
];

/// Returns each row's status for these numbers, in the order of [`asked`].
fn statuses(numbers: &Numbers) -> Vec<&'static str> {
    let summary = ParameterSummary {
        name: "mu_pop".to_owned(),
        mean: 50.0,
        sd: 1.0,
        hdi: [48.0, 52.0],
        rhat: numbers.rhat,
        ess_bulk: numbers.ess_bulk,
        ess_tail: numbers.ess_tail,
        ..ParameterSummary::default()
    };
    let names = |count: f64| (0..count as usize).map(|k| format!("number {k}")).collect::<Vec<_>>();
    let p_value = numbers.p_value;
    let predictive = [PredictiveStatistic { name: "max".to_owned(), observed: 1.0, replicated: vec![], p_value }];
    let evidence = Evidence {
        require_gpu: true,
        gpu: Measured::Value("NVIDIA H200".to_owned()),
        test_double: false,
        gpu_run: Measured::Value(Ok("6000 transitions".to_owned())),
        parameters: &[SummaryRow { summary, truth: Some(numbers.truth) }],
        divergences: 0,
        speedup: Measured::Value(numbers.speedup),
        deliverables: Measured::Value(&[Deliverable { name: "trace_plot.png".to_owned(), made: true }]),
        gpu_memory: Measured::Value(MemoryUse {
            peak_bytes: (numbers.peak * 1e9) as u64,
            foretold_bytes: 1_000_000_000,
            per_chain_bytes: 1 << 20,
            share: 0.1,
        }),
        posterior_match: Measured::Value(PosteriorMatch { rmse: numbers.rmse, means: numbers.means, sds: numbers.sds }),
        timing_variation: Measured::Value(WorstVariation { variation: numbers.variation, engine: "CPU".to_owned() }),
        strategies: &names(numbers.strategies),
        samplers: &names(numbers.samplers),
        dashboard: true,
        exact_hdi89: &[],
        other_model: false,
        predictive: Measured::Value(&predictive),
    };
    evidence.verdict().rows.iter().map(|row| row.status.word()).collect()
}

#[test]
fn a_number_passes_just_inside_its_limit_and_not_just_outside() {
    let criteria = asked(false);
    assert_eq!(statuses(&SOUND), vec!["PASS"; criteria.len()]);
    for Limit { id, set, inside, outside, status, .. } in LIMITS {
        let at = criteria.iter().position(|criterion| criterion.id == id).unwrap();
        let with = |x: f64| {
            let mut numbers = SOUND;
            set(&mut numbers, x);
            statuses(&numbers)
        };
        assert_eq!(with(inside)[at], "PASS", "{id}: {inside} is allowed");
        let found = with(outside);
        assert_eq!(found[at], status, "{id}: {outside} is not allowed");
        // A row is judged by its own number; three rows have the speed-up in common.
        let others = (criteria.iter().zip(&found))
            .filter(|(other, _)| other.id != id && other.criterion != criteria[at].criterion);
        for (other, status) in others {
            assert_eq!(*status, "PASS", "{} does not depend on the number of {id}", other.id);
        }
    }
}

/// A new criterion with a number, or a number that is changed in the words alone, needs a line in the table.
#[test]
fn every_limit_that_is_stated_is_in_the_table() {
    let criteria = asked(false);
    for Limit { id, stated, .. } in LIMITS {
        let criterion = criteria.iter().find(|criterion| criterion.id == id).unwrap();
        assert!(criterion.threshold.contains(stated), "{id}: {} does not say {stated}", criterion.threshold);
    }
    for criterion in criteria.iter().filter(|criterion| criterion.threshold.contains(|c: char| c.is_ascii_digit())) {
        assert!(LIMITS.iter().any(|limit| limit.id == criterion.id), "{criterion:?} has no limit in the table");
    }
}
