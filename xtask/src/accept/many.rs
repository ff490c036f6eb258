//! Of the sampler's figures those of many short chains and of batches, and the targets that they were made for.

use super::rows;
use super::sampler::show_whole;
use super::tables::{Table, number, show, word};
use serde_json::Value;

/// What an H200 is to reach at the PRD's size: our own targets.
const GROUPS: f64 = 100.0;
const MILLISECONDS: f64 = 50.0;
const CHAINS: f64 = 64.0;
const RATIO: f64 = 20.0;

pub(super) fn report(sampler: &Value) -> String {
    let mut goals = Table::new([
        "engine",
        "chains",
        "precision",
        "warm-up",
        "draws",
        "set-up ms",
        "warm-up ms",
        "sampling ms",
        "reached",
    ]);
    for goal in rows(sampler, "goals") {
        let milliseconds = ["setup", "warmup", "sampling"].map(|part| number(goal, &format!("/{part}_seconds")));
        let [setup, warmup, sampling] = milliseconds.map(|seconds| show(seconds.map(|seconds| seconds * 1e3)));
        goals.row(&[
            word(goal, "/place").to_uppercase(),
            format!("{} in {}", show_whole(goal, "/chains"), show_whole(goal, "/superchains")),
            word(goal, "/precision").to_owned(),
            show_whole(goal, "/warm_up"),
            show_whole(goal, "/draws"),
            setup,
            warmup,
            sampling,
            if goal.get("reached") == Some(&Value::Bool(true)) { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let mut batches = Table::new(["engine", "data sets", "precision", "s", "data sets/s"]);
    for batch in rows(sampler, "batches") {
        batches.row(&[
            word(batch, "/place").to_uppercase(),
            show_whole(batch, "/data_sets"),
            word(batch, "/precision").to_owned(),
            show(number(batch, "/seconds")),
            show(number(batch, "/data_sets_per_second")),
        ]);
    }
    format!(
        "\n## The shortest runs\n\nMany short chains to 8000 effective draws of bulk and tails of every quantity and nested \
         R-hat below 1.01, 100 groups, collapsed; the median of three seeds. Warm-up and draws are transitions of a \
         chain; a tenth of the draws on a machine that is only tried.\n\n{}\n\
         ## Many data sets at once\n\nThe PRD's model, four chains each, collapsed; starting points and buffers included.\n\n{}\n\
         ## Targets\n\n{}",
        goals.or("Not measured."),
        batches.or("Not measured."),
        targets(sampler)
    )
}

/// What was to be reached, and what was.
fn targets(sampler: &Value) -> String {
    let mut table = Table::new(["target", "measured", "met"]);
    let met = |value: Option<f64>, good: &dyn Fn(f64) -> bool| match value {
        Some(value) => if good(value) { "yes" } else { "no" }.to_owned(),
        None => "-".to_owned(),
    };
    let of_goal = |goal: &Value| {
        let reached = goal.get("reached") == Some(&Value::Bool(true)) && word(goal, "/place") == "gpu";
        let whole = number(goal, "/target_ess") == Some(8000.0) && number(goal, "/groups") == Some(GROUPS);
        let [warmup, sampling] = ["/warmup_seconds", "/sampling_seconds"].map(|part| number(goal, part));
        (reached && whole).then_some((warmup? + sampling?) * 1e3)
    };
    let fastest = rows(sampler, "goals").iter().filter_map(of_goal).min_by(f64::total_cmp);
    table.row(&[
        format!("8000 effective draws, 100 groups, in under {MILLISECONDS} ms of warm-up and sampling"),
        fastest.map_or_else(|| "-".into(), |ms| format!("{} ms", show(Some(ms)))),
        met(fastest, &|ms| ms < MILLISECONDS),
    ]);
    let of_size = |row: &&Value| number(row, "/groups") == Some(GROUPS);
    let even = rows(sampler, "break_even").iter().filter(of_size).filter(|row| word(row, "/precision") == "f64");
    let even = even.filter_map(|row| number(row, "/chains")).min_by(f64::total_cmp);
    table.row(&[
        format!("more leapfrogs a second than all cores from at most {CHAINS} chains on, 100 groups"),
        show(even),
        met(even, &|chains| chains <= CHAINS),
    ]);
    let ratio = rows(sampler, "ratios").iter().filter(of_size).filter(|row| word(row, "/kind") == "b");
    let many = ratio.filter(|row| number(row, "/gpu/chains").is_some_and(|chains| chains >= 4096.0));
    let ratio = many.filter_map(|row| number(row, "/ratio")).max_by(f64::total_cmp);
    table.row(&[
        format!("at least {RATIO} times the CPU's effective draws a second, 100 groups"),
        show(ratio),
        met(ratio, &|ratio| ratio >= RATIO),
    ]);
    table.or("")
}
