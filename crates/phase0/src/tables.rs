//! The report's further tables.

use super::Stages;
use super::benchmark::Measurement;
use super::gpu_benchmark::GpuBenchmarks;
use super::speedup::break_even;
use super::{planned, target};
use octopus_report::{Comparison, EngineTimes};

/// Returns all tables.
pub(super) fn all(stages: &Stages) -> Vec<Comparison> {
    let strategies: Vec<&Measurement> = stages.benchmark.strategies.iter().collect();
    let benchmark = &stages.benchmark;
    let note = planned::against_best(&benchmark.strategies).unwrap_or_default();
    let note = format!("On all threads, collapsed likelihood; the median of three runs, with --quick one. {note}");
    let plans: Vec<_> = benchmark.plans.iter().collect();
    let missing = benchmark.gpu_figures().err();
    let mut tables = vec![
        exact(stages),
        runs("Strategies and configurations", &note, &strategies, true),
        planned::table(&plans),
        target::table(&benchmark.targets, missing.as_deref()),
        break_even(benchmark),
    ];
    if !stages.benchmark.sizes.is_empty() {
        let note =
            "The same model and settings on the PRD's other sizes, and as --strategy auto chooses, one run each.";
        let sizes: Vec<&Measurement> = stages.benchmark.sizes.iter().collect();
        tables.push(runs("Sizes", note, &sizes, true));
    }
    if let Ok(gpu) = &stages.gpu {
        tables.push(gpu.table());
        tables.extend(stages.benchmark.gpu.iter().map(GpuBenchmarks::table));
    }
    tables.push(batches(&stages.benchmark.engines));
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
    Comparison {
        title: "Against the exact posterior".into(),
        note: "By quadrature over the two scales, good to ten digits; the distance is in Monte Carlo standard \
               errors. All population parameters, and the six worst of the others."
            .into(),
        columns: words(&["parameter", "of", "draws", "exact", "MCSE", "distance", "limit"]),
        rows: chosen.iter().map(row).collect(),
    }
}

/// Returns a table of runs with their times, if `timed`, and the quality of their draws.
pub(super) fn runs(title: &str, note: &str, measurements: &[&Measurement], timed: bool) -> Comparison {
    let row = |m: &&Measurement| {
        let time = |digits: usize, f: fn(&EngineTimes) -> f64| match m.run.result.value() {
            Some(times) if timed => format!("{:.digits$}", f(times)),
            _ => "-".to_owned(),
        };
        let quality = &m.quality;
        vec![
            m.run.setting.clone(),
            m.run.groups.to_string(),
            time(3, EngineTimes::wall_s),
            format!("{:.1}", m.leapfrogs_per_draw),
            format!("{:.0}", quality.min_ess_bulk),
            format!("{:.0}", quality.min_ess_tail),
            format!("{:.4}", quality.max_rhat),
            quality.divergences.to_string(),
            time(0, EngineTimes::min_ess_per_s),
            if quality.converged() { "yes" } else { "no" }.into(),
        ]
    };
    Comparison {
        title: title.to_owned(),
        note: format!("{note} R-hat and ESS are the worst of all parameters; a run passes as P0.3 does."),
        columns: words(&[
            "configuration",
            "groups",
            "wall s",
            "leapfrogs/draw",
            "bulk ESS",
            "tail ESS",
            "R-hat",
            "divergences",
            "ESS/s",
            "passes",
        ]),
        rows: measurements.iter().map(row).collect(),
    }
}

/// Returns the table that shows how the engines were timed.
fn batches(measurements: &[Measurement]) -> Comparison {
    let row = |m: &Measurement| {
        let repeats = m.run.result.value().map(|times| times.repeats.as_slice()).unwrap_or_default();
        let shown: Vec<String> = repeats.iter().map(|repeat| format!("{:.4}", repeat.wall_s)).collect();
        vec![
            format!("{}{}", m.run.setting, ["", " (timed again)", " (timed twice again)"][m.again.min(2)]),
            m.batch.to_string(),
            shown.join("  "),
            m.variation().map_or_else(|| "-".to_owned(), |v| format!("{:.1}%", 100.0 * v)),
        ]
    };
    Comparison {
        title: "Repeats".into(),
        note: "After one run to warm up. A repeat is a batch of runs and counts as their mean; the variation is \
               the standard deviation (n - 1) over the mean of the repeats, and P1.4 takes the worst. An engine whose \
               times vary by 10% or more is timed again with repeats of twice the length, at most twice (not with \
               --quick), and the last count."
            .into(),
        columns: words(&["engine", "runs a repeat", "wall s of each repeat", "variation"]),
        rows: measurements.iter().map(row).collect(),
    }
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
