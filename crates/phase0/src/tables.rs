//! The further tables of phase 0's report: draws against the exact posterior, and the benchmark's.

use crate::stages::Stages;
use octopus_bench::engines::Benchmarks;
use octopus_report::Comparison;

/// Returns all tables.
pub(super) fn all(stages: &Stages) -> Vec<Comparison> {
    let mut tables: Vec<Comparison> = exact(stages).into_iter().collect();
    let benchmark = stages.benchmark.as_ref().ok();
    tables.extend(benchmark.iter().flat_map(|benchmark| benchmark.tables()));
    if let Ok(gpu) = &stages.gpu {
        tables.push(gpu.table());
        tables.extend(gpu.parameter_table());
        tables.extend(benchmark.and_then(Benchmarks::gpu_table));
    }
    tables.extend(benchmark.map(Benchmarks::repeats_table));
    tables
}

/// Returns the table of the scalars, and the worst of the others, beside the exact posterior, where that is known.
fn exact(stages: &Stages) -> Option<Comparison> {
    let super::compare::Comparison { exact, deviations, .. } = stages.comparison.as_ref().ok()?;
    let mut chosen: Vec<_> = deviations.iter().filter(|d| !d.name.ends_with(']')).collect();
    let mut others: Vec<_> = deviations.iter().filter(|d| d.name.ends_with(']')).collect();
    others.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    chosen.extend(others.into_iter().take(6));
    let row = |d: &&super::compare::Deviation| {
        let numbers = [d.estimate, d.exact, d.mcse].map(|value| format!("{value:.5}"));
        let [estimate, exact, mcse] = numbers;
        vec![d.name.clone(), d.what.into(), estimate, exact, mcse, format!("{:.2}", d.distance), d.limit.to_string()]
    };
    let by = capitalised(exact.method());
    let scalars = if stages.problem.effects().is_some() { "population" } else { "scalar" };
    Some(Comparison::new(
        "Against the exact posterior",
        format!(
            "{by}; the distance is in Monte Carlo standard errors. All {scalars} parameters, and the six worst of the \
             others."
        ),
        "parameter | of | draws | exact | MCSE | distance | limit",
        chosen.iter().map(row),
    ))
}

/// Returns a text with its first letter as a capital.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
