//! The further tables of phase 0's report: draws against the exact posterior, and those of the benchmark.

use super::Stages;
use octopus_report::Comparison;

/// Returns all tables.
pub(super) fn all(stages: &Stages) -> Vec<Comparison> {
    let benchmark = &stages.benchmark;
    let mut tables = vec![exact(stages)];
    tables.extend(benchmark.tables());
    if let Ok(gpu) = &stages.gpu {
        tables.push(gpu.table());
        tables.extend(benchmark.gpu_table());
    }
    tables.push(benchmark.repeats_table());
    tables
}

/// Returns the table of the population's parameters, and the worst of the others, beside the exact posterior.
fn exact(stages: &Stages) -> Comparison {
    let deviations = &stages.comparison.deviations;
    let mut chosen: Vec<_> = deviations.iter().filter(|d| !d.name.ends_with(']')).collect();
    let mut others: Vec<_> = deviations.iter().filter(|d| d.name.ends_with(']')).collect();
    others.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    chosen.extend(others.into_iter().take(6));
    let row = |d: &&super::compare::Deviation| {
        let numbers = [d.estimate, d.exact, d.mcse].map(|value| format!("{value:.5}"));
        let [estimate, exact, mcse] = numbers;
        vec![d.name.clone(), d.what.into(), estimate, exact, mcse, format!("{:.2}", d.distance), d.limit.to_string()]
    };
    Comparison::new(
        "Against the exact posterior",
        "By quadrature over the two scales, good to ten digits; the distance is in Monte Carlo standard \
               errors. All population parameters, and the six worst of the others.",
        "parameter | of | draws | exact | MCSE | distance | limit",
        chosen.iter().map(row),
    )
}
