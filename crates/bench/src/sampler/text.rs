//! The measurements as tables.

use super::cell::SamplerCell;
use super::figures::SamplerFigures;
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
    let _ = writeln!(
        text,
        "\nstart, ms (cold: the driver's cache of compiled kernels is off)\n{:<22} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "driver", "context", "sampler", "draw", "process"
    );
    for start in &answer.starts {
        let phases = &start.phases;
        let name = format!("{} {} {}", start.word(), start.groups, start.precision);
        let _ = write!(text, "{name:<22}");
        let all = [phases.driver, phases.context, phases.first_sampler, phases.first_draw, start.process_to_first_draw];
        for seconds in all {
            let _ = write!(text, " {:>10.1}", seconds * 1e3);
        }
        text.push('\n');
    }
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
    let _ = writeln!(
        text,
        "\n{:<10} {:>6} {:<9} {:<5} {:>6} {:>10} {:>12} {:>12} {:>6} {:>8} {:>8} {:>7} {:>11} {:>9}",
        "engine",
        "groups",
        "form",
        "real",
        "chains",
        "us/leap",
        "leaps/s",
        "leaps/s dev",
        "/draw",
        "seconds",
        "min ESS",
        "R-hat",
        "min ESS/s",
        "MiB"
    );
    for cell in &answer.cells {
        let _ = writeln!(text, "{}", line(cell));
    }
}

fn line(cell: &SamplerCell) -> String {
    let (place, form) = (cell.place.label(), cell.likelihood.name());
    let mut line = format!("{place:<10} {:>6} {form:<9} {:<5} {:>6}", cell.groups, cell.precision, cell.chains);
    if let Some(error) = &cell.error {
        return format!("{line} {error}");
    }
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let on_device = cell.device_seconds.filter(|seconds| *seconds > 0.0);
    let quality = cell.quality.as_ref();
    let _ = write!(
        line,
        " {:>10} {:>12.4e} {:>12} {:>6.1} {:>8.3} {:>8} {:>7} {:>11} {:>9}",
        or_dash(cell.device_us_per_leapfrog.map(|us| format!("{us:.3}"))),
        cell.leapfrogs_per_second,
        or_dash(on_device.map(|seconds| format!("{:.4e}", cell.leapfrogs as f64 / seconds))),
        cell.leapfrogs_per_draw,
        cell.seconds(),
        or_dash(quality.map(|quality| format!("{:.0}", quality.min_ess))),
        // One chain has no R-hat.
        or_dash(quality.filter(|quality| !quality.max_rhat.is_nan()).map(|quality| format!("{:.3}", quality.max_rhat))),
        or_dash(cell.min_ess_per_second.map(|rate| format!("{rate:.0}"))),
        or_dash(cell.device_bytes.map(|bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)))),
    );
    if cell.warm_up.is_none() {
        line += "  (in warm-up)";
    }
    line
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
