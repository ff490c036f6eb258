//! The tables of measurements that `octopus device sampler` prints.

use super::cell::SamplerCell;
use super::figures::SamplerFigures;
use super::start::Start;
use octopus_diag::{TableLook, TextColumn, text_table};
use std::fmt::Write as _;

pub(super) fn text(answer: &SamplerFigures) -> String {
    let mut text = answer.device.name.clone();
    if answer.test_double {
        text += " (these are no measurements of a GPU)";
    }
    let host = &answer.machine.host;
    let cpu = host.cpu.as_deref().unwrap_or("unnamed CPU");
    let _ = writeln!(text, "\n{cpu}, {} threads; {:.0} s in all", answer.machine.threads, answer.seconds);
    starts(answer, &mut text);
    launches(answer, &mut text);
    goals(answer, &mut text);
    batches(answer, &mut text);
    teams(answer, &mut text);
    cells(answer, &mut text);
    conclusions(answer, &mut text);
    for name in &answer.not_measured {
        let _ = writeln!(text, "not measured, no time left: {name}");
    }
    text
}

fn starts(answer: &SamplerFigures, text: &mut String) {
    let times = ["driver", "context", "sampler", "draw", "process"].map(TextColumn::right);
    let columns = [&[TextColumn::left("")], &times[..]].concat();
    let row = |start: &Start| {
        let phases = &start.phases;
        let all = [phases.driver, phases.context, phases.first_sampler, phases.first_draw, start.process_to_first_draw];
        let name = format!("{} {} {}", start.word(), start.groups, start.precision);
        [vec![name], all.map(|seconds| format!("{:.1}", seconds * 1e3)).into()].concat()
    };
    let rows: Vec<_> = answer.starts.iter().map(row).collect();
    *text += "\nstart, ms (cold: the driver's cache of compiled kernels is off)\n";
    *text += &text_table(&columns, &rows, TableLook::default());
}

fn launches(answer: &SamplerFigures, text: &mut String) {
    for cost in &answer.launches {
        let _ = writeln!(
            text,
            "\na launch, {} groups {}: {:.2} us and {:.3} us a leapfrog by the device's clock, {:.2} us and {:.3} us by \
             the host's",
            cost.groups,
            cost.precision,
            cost.device_us_per_launch,
            cost.device_us_per_leapfrog,
            cost.wall_us_per_launch,
            cost.wall_us_per_leapfrog
        );
    }
}

fn goals(answer: &SamplerFigures, text: &mut String) {
    for goal in &answer.goals {
        let word = if goal.reached { "" } else { " not reached:" };
        let _ = writeln!(
            text,
            "\n{:.0} effective draws of {} groups, {} chains, {}, on the {}:{word} {} + {} transitions, set-up {:.1} ms, \
             warm-up {:.1} ms, sampling {:.1} ms",
            goal.target_ess,
            goal.groups,
            goal.chains,
            goal.precision,
            goal.place,
            goal.warm_up,
            goal.draws,
            goal.setup_seconds * 1e3,
            goal.warmup_seconds * 1e3,
            goal.sampling_seconds * 1e3
        );
    }
}

fn batches(answer: &SamplerFigures, text: &mut String) {
    for batch in &answer.batches {
        let _ = writeln!(
            text,
            "\n{} data sets of {} groups, {} chains x ({} + {}), {}, on the {}: {:.3} s, {:.0} data sets a second, {} failed",
            batch.data_sets,
            batch.groups,
            batch.chains,
            batch.tune,
            batch.draws,
            batch.precision,
            batch.place,
            batch.seconds,
            batch.data_sets_per_second,
            batch.failed
        );
    }
}

fn teams(answer: &SamplerFigures, text: &mut String) {
    for cost in &answer.teams {
        let _ = write!(
            text,
            "\n{} observations, {}, {} chains, us a leapfrog:",
            cost.observations, cost.precision, cost.chains
        );
        for point in &cost.points {
            let _ = write!(
                text,
                " {} blocks {:.2} ({:.1} GB/s);",
                point.blocks(),
                point.device_us_per_leapfrog,
                point.gigabytes_per_second
            );
        }
        match cost.cpu_us_per_leapfrog {
            Some(cpu) => _ = writeln!(text, " CPU {cpu:.2}"),
            None => text.push('\n'),
        }
    }
}

fn cells(answer: &SamplerFigures, text: &mut String) {
    let [left, right] = [TextColumn::left, TextColumn::right];
    let columns = [
        left("engine"),
        right("groups"),
        left("form"),
        left("real"),
        right("chains"),
        right("us/leap"),
        right("leaps/s"),
        right("leaps/s dev"),
        right("/draw"),
        right("seconds"),
        right("min ESS"),
        right("R-hat"),
        right("min ESS/s"),
        right("MiB"),
        left(""),
    ];
    let rows: Vec<_> = answer.cells.iter().map(row).collect();
    *text += "\n";
    *text += &text_table(&columns, &rows, TableLook::default());
}

/// Returns a measurement under the columns of [`cells`]; of one that failed, only what it was and why.
fn row(cell: &SamplerCell) -> Vec<String> {
    let what = [
        cell.place.label().to_owned(),
        cell.groups.to_string(),
        cell.likelihood.name().to_owned(),
        cell.precision.to_string(),
        cell.chains.to_string(),
    ];
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let on_device = cell.device_seconds.filter(|seconds| *seconds > 0.0);
    let quality = cell.quality.as_ref();
    let figures = match &cell.error {
        Some(_) => Default::default(),
        None => [
            or_dash(cell.device_us_per_leapfrog.map(|us| format!("{us:.3}"))),
            format!("{:.4e}", cell.leapfrogs_per_second),
            or_dash(on_device.map(|seconds| format!("{:.4e}", cell.leapfrogs as f64 / seconds))),
            format!("{:.1}", cell.leapfrogs_per_draw),
            format!("{:.3}", cell.seconds()),
            or_dash(quality.map(|quality| format!("{:.0}", quality.min_ess_bulk))),
            // One chain has no R-hat.
            or_dash(
                quality.map(|quality| quality.max_rhat).filter(|rhat| !rhat.is_nan()).map(|rhat| format!("{rhat:.3}")),
            ),
            or_dash(cell.min_ess_per_second.map(|rate| format!("{rate:.0}"))),
            or_dash(cell.device_bytes.map(|bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)))),
        ],
    };
    let note = match &cell.error {
        Some(error) => error.clone(),
        None if cell.warm_up.is_none() => "(in warm-up)".to_owned(),
        None => String::new(),
    };
    what.into_iter().chain(figures).chain([note]).collect()
}

fn conclusions(answer: &SamplerFigures, text: &mut String) {
    text.push('\n');
    for even in &answer.break_even {
        let chains = even.chains.map_or_else(|| "never".into(), |chains| format!("from {chains:.0} chains on"));
        let _ = writeln!(
            text,
            "{} groups, {:?}, {}: more leapfrogs a second than all cores {chains}",
            even.groups, even.likelihood, even.precision
        );
    }
    for ratio in &answer.ratios {
        let what = if ratio.kind == 'a' { "(a) the PRD's run, CPU s / GPU s" } else { "(b) best min ESS/s, GPU / CPU" };
        let side =
            |side: &super::ratios::RatioSide| format!("{} chains {}: {:.4}", side.chains, side.precision, side.figure);
        let _ = writeln!(
            text,
            "{} groups, {:?}, {what}: {:.2} (CPU {}; GPU {})",
            ratio.groups,
            ratio.likelihood,
            ratio.ratio,
            side(&ratio.cpu),
            side(&ratio.gpu)
        );
    }
}
