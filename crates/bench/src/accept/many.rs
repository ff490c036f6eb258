//! The acceptance report's tables of many short chains and of batches, beside our targets for them.
//!
//! The targets are here: milliseconds to 8000 effective draws, chains from which the GPU pays, GPU against CPU.

use super::tables::{show, show_ms, table};
use crate::sampler::{SamplerFigures, Where};
use octopus_sampler::Precision;

/// What an H200 is to reach at the PRD's size: our own targets.
const GROUPS: usize = 100;
const ESS: f64 = 8000.0;
const MILLISECONDS: f64 = 50.0;
const CHAINS: f64 = 64.0;
const RATIO: f64 = 20.0;

pub(super) fn report(sampler: &SamplerFigures) -> String {
    let head = "engine | chains | precision | warm-up | draws | set-up ms | warm-up ms | sampling ms | reached";
    let goals = sampler.goals.iter().map(|goal| {
        [
            goal.place.label().to_owned(),
            format!("{} in {}", goal.chains, goal.superchains),
            goal.precision.to_string(),
            goal.warm_up.to_string(),
            goal.draws.to_string(),
            show_ms(goal.setup_seconds),
            show_ms(goal.warmup_seconds),
            show_ms(goal.sampling_seconds),
            yes_or_no(goal.reached),
        ]
    });
    let batches = sampler.batches.iter().map(|batch| {
        [
            batch.place.label().to_owned(),
            batch.data_sets.to_string(),
            batch.precision.to_string(),
            show(batch.seconds),
            show(batch.data_sets_per_second),
        ]
    });
    format!(
        "\n## The shortest runs\n\nMany short chains to 8000 effective draws of bulk and tails of every quantity and nested \
         R-hat below 1.01, 100 groups, collapsed; the median of three seeds. Warm-up and draws are transitions of a \
         chain; a tenth of the draws on a machine that is only tried.\n\n{}\n\
         ## Many data sets at once\n\nThe PRD's model, four chains each, collapsed; starting points and buffers included.\n\n{}\n\
         ## Targets\n\n{}",
        table(head, goals, "Not measured."),
        table("engine | data sets | precision | s | data sets/s", batches, "Not measured."),
        targets(sampler)
    )
}

/// Returns what was to be reached, and what was.
fn targets(sampler: &SamplerFigures) -> String {
    let goals = sampler
        .goals
        .iter()
        .filter(|goal| goal.reached && (goal.place, goal.target_ess, goal.groups) == (Where::Gpu, ESS, GROUPS));
    let fastest = goals.map(|goal| (goal.warmup_seconds + goal.sampling_seconds) * 1e3).min_by(f64::total_cmp);
    let even = sampler.break_even.iter().filter(|row| (row.groups, row.precision) == (GROUPS, Precision::F64));
    let even = even.filter_map(|row| row.chains).min_by(f64::total_cmp);
    let ratios = sampler.ratios.iter().filter(|row| (row.groups, row.kind) == (GROUPS, 'b') && row.gpu.chains >= 4096);
    let ratio = ratios.map(|row| row.ratio).max_by(f64::total_cmp);
    let met = |met: Option<bool>| met.map_or_else(|| "-".into(), yes_or_no);
    let rows = [
        [
            format!("8000 effective draws, 100 groups, in under {MILLISECONDS} ms of warm-up and sampling"),
            fastest.map_or_else(|| "-".into(), |ms| format!("{} ms", show(ms))),
            met(fastest.map(|ms| ms < MILLISECONDS)),
        ],
        [
            format!("more leapfrogs a second than all cores from at most {CHAINS} chains on, 100 groups"),
            show(even),
            met(even.map(|chains| chains <= CHAINS)),
        ],
        [
            format!("at least {RATIO} times the CPU's effective draws a second, 100 groups"),
            show(ratio),
            met(ratio.map(|ratio| ratio >= RATIO)),
        ],
    ];
    table("target | measured | met", rows, "")
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}
