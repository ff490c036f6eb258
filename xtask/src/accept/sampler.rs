//! The sampler's figures: what must be there, and `sampler.md`.

use super::many;
use super::ncu;
use super::report::commit;
use super::results::{json, optional_json};
use super::rows;
use super::tables::{Table, number, show, word};
use anyhow::Result;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What is missing from the sampler's figures, or cannot be.
pub(super) fn objections(sampler: &Value) -> Vec<String> {
    let mut objections = Vec::new();
    for name in ["starts", "launches", "teams"] {
        // They come first and last; without time they are said to be missing.
        if rows(sampler, name).is_empty() && rows(sampler, "not_measured").is_empty() {
            objections.push(format!("sampler: no {name}"));
        }
    }
    let cells = rows(sampler, "cells");
    let on = |place: &str| cells.iter().filter(|cell| word(cell, "/place") == place).count();
    for (place, name) in [("gpu", "GPU"), ("cpu", "CPU")] {
        if on(place) == 0 {
            objections.push(format!("sampler: nothing was measured on the {name}"));
        }
    }
    for batch in rows(sampler, "batches").iter().filter(|batch| number(batch, "/failed") != Some(0.0)) {
        let [failed, all] = ["/failed", "/data_sets"].map(|pointer| show_whole(batch, pointer));
        objections.push(format!("sampler: {failed} of {all} data sets failed on the {}", word(batch, "/place")));
    }
    for cell in cells.iter().filter(|cell| cell.get("error").is_none_or(Value::is_null)) {
        let positive = |pointer| number(cell, pointer).is_some_and(|value| value > 0.0 && value.is_finite());
        let on_device = word(cell, "/place") == "cpu" || positive("/device_us_per_leapfrog");
        if !(positive("/leapfrogs_per_second") && on_device) {
            objections.push(format!("sampler: no speed of {}", name(cell)));
        }
        // The memory is what was foretold.
        let bytes = ["/device_bytes", "/foretold_bytes"].map(|pointer| number(cell, pointer));
        if bytes[0] != bytes[1] {
            let [found, foretold] = bytes.map(show);
            objections.push(format!("sampler: {} took {found} bytes, foretold were {foretold}", name(cell)));
        }
    }
    objections
}

fn name(cell: &Value) -> String {
    format!(
        "{} groups, {}, {}, {} chains on the {}",
        show_whole(cell, "/groups"),
        word(cell, "/likelihood"),
        word(cell, "/precision"),
        show_whole(cell, "/chains"),
        word(cell, "/place")
    )
}

pub(super) fn show_whole(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).map_or_else(|| "-".into(), Value::to_string)
}

/// `sampler.md`.
///
/// # Errors
/// When there are no figures, or files cannot be read.
pub(super) fn report(results: &Path, device: &str) -> Result<String> {
    let sampler = json(results, "sampler.json")?;
    let mut text = head(results, &sampler, device)?;
    text += &latency(&sampler);
    text += &starts(&sampler);
    text += &many::report(&sampler);
    text += &teams(&sampler);
    text += &throughput(&sampler);
    text += &repeats(&sampler, results);
    text += &ratios(&sampler, &peers(results));
    text += &roofline(results);
    let missing = rows(&sampler, "not_measured");
    if !missing.is_empty() {
        text += "\n## Not measured, for want of time\n\n";
        for name in missing {
            let _ = writeln!(text, "- {}", name.as_str().unwrap_or("?"));
        }
    }
    Ok(text)
}

fn head(results: &Path, sampler: &Value, device: &str) -> Result<String> {
    let manifest = json(results, "manifest.json")?;
    let gpu = |field: &str| show_whole(sampler, &format!("/machine/gpu/{field}"));
    let compiled =
        [("rustc", "/rustc"), ("PTX", "/ptx_sha256")].map(|(name, at)| format!("{name} {}", word(&manifest, at)));
    Ok(format!(
        "# The sampler on {device}\n\n\
         Measured by `octopus device sampler` within `./run-acceptance.sh` of {} ({}).\n\
         Driver {}, clocks before: {} of {} MHz (multiprocessors), {} of {} MHz (memory); {} multiprocessors.\n\
         Host: {}, {} threads for the CPU engine.\n\n\
         Microseconds a leapfrog are the device's time of a launch, divided by the leapfrogs of one chain.\n\
         Leapfrogs a second are by the host's clock, copies and the host's work included.\n\
         Effective draws a second count everything from the starting points on, warm-up included, and are given for \
         converged runs only (R-hat below 1.01 and ESS above 400 for all that was looked at).\n",
        commit(&manifest),
        compiled.join(", "),
        word(sampler, "/device/driver"),
        gpu("sm_clock_mhz"),
        gpu("sm_clock_max_mhz"),
        gpu("memory_clock_mhz"),
        gpu("memory_clock_max_mhz"),
        gpu("sm_count"),
        word(sampler, "/machine/host/cpu"),
        show_whole(sampler, "/machine/threads"),
    ))
}

/// The cells of one engine without an error.
fn cells<'a>(sampler: &'a Value, place: &'a str) -> impl Iterator<Item = &'a Value> {
    rows(sampler, "cells")
        .iter()
        .filter(move |cell| word(cell, "/place") == place && cell.get("error").is_none_or(Value::is_null))
}

fn latency(sampler: &Value) -> String {
    let mut table =
        Table::new(["groups", "likelihood", "precision", "us a leapfrog", "leapfrogs/s", "leapfrogs a draw"]);
    for cell in cells(sampler, "gpu").filter(|cell| number(cell, "/chains") == Some(1.0)) {
        table.row(&[
            show_whole(cell, "/groups"),
            word(cell, "/likelihood").to_owned(),
            word(cell, "/precision").to_owned(),
            show(number(cell, "/device_us_per_leapfrog")),
            show(number(cell, "/leapfrogs_per_second")),
            show(number(cell, "/leapfrogs_per_draw")),
        ]);
    }
    format!("\n## One chain\n\n{}", table.or("Not measured."))
}

fn starts(sampler: &Value) -> String {
    let mut table = Table::new(["start", "driver ms", "context ms", "first sampler ms", "first draw ms", "process ms"]);
    for start in rows(sampler, "starts") {
        let cold = if start.get("cold") == Some(&Value::Bool(true)) { "cold" } else { "warm" };
        let name = format!("{cold}, {} groups, {}", show_whole(start, "/groups"), word(start, "/precision"));
        let phases = ["driver", "context", "first_sampler", "first_draw"].map(|phase| format!("/phases/{phase}"));
        let all = phases.iter().map(String::as_str).chain(["/process_to_first_draw"]);
        let milliseconds = all.map(|pointer| show(number(start, pointer).map(|seconds| seconds * 1e3)));
        table.row(&std::iter::once(name).chain(milliseconds).collect::<Vec<_>>());
    }
    let starts = table.or("Not measured.");
    let head = ["launches of", "device us a launch", "device us a leapfrog", "host us a launch", "host us a leapfrog"];
    let mut table = Table::new(head);
    for cost in rows(sampler, "launches") {
        let name = format!("{} groups, {}", show_whole(cost, "/groups"), word(cost, "/precision"));
        let figures = ["device_us_per_launch", "device_us_per_leapfrog", "wall_us_per_launch", "wall_us_per_leapfrog"];
        let figures = figures.map(|figure| show(number(cost, &format!("/{figure}"))));
        table.row(&std::iter::once(name).chain(figures).collect::<Vec<_>>());
    }
    format!(
        "\n## Start and launches\n\nA cold start is one without the driver's cache of compiled kernels ({}).\n\
         The cost of a launch is the intercept of a line through the same run cut into more and more launches.\n\n\
         {starts}\n{}",
        word(sampler, "/machine/driver_cache"),
        table.or("Not measured.")
    )
}

fn teams(sampler: &Value) -> String {
    let mut table = Table::new([
        "observations",
        "precision",
        "chains",
        "blocks a chain",
        "us a leapfrog",
        "GB/s",
        "CPU us a leapfrog",
    ]);
    for cost in rows(sampler, "teams") {
        for point in rows(cost, "points") {
            // `null`: as many as the device holds.
            let blocks = number(point, "/blocks");
            table.row(&[
                show_whole(cost, "/observations"),
                word(cost, "/precision").to_owned(),
                show_whole(cost, "/chains"),
                blocks.map_or_else(|| "all".into(), |blocks| format!("{blocks}")),
                show(number(point, "/device_us_per_leapfrog")),
                show(number(point, "/gigabytes_per_second")),
                show(number(cost, "/cpu_us_per_leapfrog")),
            ]);
        }
    }
    format!(
        "\n## Many observations\n\nPointwise, 100 groups; several blocks share each evaluation of a chain. Of a draw no \
         bit depends on how many.\n\n{}",
        table.or("Not measured.")
    )
}

fn throughput(sampler: &Value) -> String {
    let head = [
        "engine",
        "groups",
        "likelihood",
        "precision",
        "chains",
        "leapfrogs/s",
        "us a leapfrog",
        "s",
        "draws a chain",
        "min ESS",
        "max R-hat",
        "min ESS/s",
        "device MiB",
    ];
    let mut table = Table::new(head);
    for cell in rows(sampler, "cells") {
        let seconds = ["setup", "warmup", "sampling"].map(|part| number(cell, &format!("/{part}_seconds")));
        let error = cell.get("error").and_then(Value::as_str);
        table.row(&[
            word(cell, "/place").to_uppercase(),
            show_whole(cell, "/groups"),
            word(cell, "/likelihood").to_owned(),
            word(cell, "/precision").to_owned(),
            show_whole(cell, "/chains"),
            error.map_or_else(|| show(number(cell, "/leapfrogs_per_second")), str::to_owned),
            show(number(cell, "/device_us_per_leapfrog")),
            show(Some(seconds.into_iter().flatten().sum())),
            show_whole(cell, "/draws"),
            show(number(cell, "/quality/min_ess")),
            number(cell, "/quality/max_rhat").map_or_else(|| "-".into(), |rhat| format!("{rhat:.4}")),
            show(number(cell, "/min_ess_per_second")),
            show(number(cell, "/device_bytes").map(|bytes| bytes / f64::from(1 << 20))),
        ]);
    }
    let mut even = Table::new(["groups", "likelihood", "precision", "CPU leapfrogs/s", "chains"]);
    for row in rows(sampler, "break_even") {
        even.row(&[
            show_whole(row, "/groups"),
            word(row, "/likelihood").to_owned(),
            word(row, "/precision").to_owned(),
            show(number(row, "/cpu_leapfrogs_per_second")),
            number(row, "/chains").map_or_else(|| "never".into(), |chains| show(Some(chains))),
        ]);
    }
    format!(
        "\n## Throughput by chains\n\nA run is ended after about a second; 4 chains are the PRD's run (1000 + 2000), \
         more warm up together (many-short) and draw less each.\nR-hat of these is nested.\n\n{}\n\
         ## From how many chains on the GPU does more than all cores\n\n{}",
        table.or("Not measured."),
        even.or("Not measured on both.")
    )
}

/// How far the same cells of both parts are apart.
fn repeats(sampler: &Value, results: &Path) -> String {
    let Some(again) = optional_json(results, "sampler_again.json") else { return String::new() };
    let key = |cell: &Value| (name(cell), number(cell, "/leapfrogs_per_second"));
    let second: std::collections::BTreeMap<_, _> = cells(&again, "gpu").map(key).collect();
    let mut apart: Vec<f64> = cells(sampler, "gpu")
        .map(key)
        .filter_map(|(name, rate)| Some(second.get(&name).copied()?? / rate? - 1.0))
        .map(f64::abs)
        .collect();
    apart.sort_by(f64::total_cmp);
    let Some(most) = apart.last() else { return String::new() };
    format!(
        "\n## Repeated\n\nOf {} runs on the GPU that were timed in both parts, leapfrogs a second differ by {:.1} % in \
         the median and by {:.1} % at most.\n",
        apart.len(),
        100.0 * apart[apart.len() / 2],
        100.0 * most
    )
}

/// NumPyro's measurements of both precisions.
fn peers(results: &Path) -> Vec<Value> {
    let files = ["numpyro_f32.json", "numpyro_f64.json"].into_iter().filter_map(|name| optional_json(results, name));
    files.flat_map(|file| file.as_array().cloned().unwrap_or_default()).collect()
}

fn ratios(sampler: &Value, peers: &[Value]) -> String {
    let mut table = Table::new(["ratio", "groups", "likelihood", "CPU", "GPU", "GPU faster by"]);
    for row in rows(sampler, "ratios") {
        let side = |side: &str| {
            let at = |field: &str| format!("/{side}/{field}");
            format!(
                "{} ({} chains, {})",
                show(number(row, &at("figure"))),
                show_whole(row, &at("chains")),
                word(row, &at("precision"))
            )
        };
        table.row(&[
            if word(row, "/kind") == "a" { "(a) seconds" } else { "(b) min ESS/s" }.to_owned(),
            show_whole(row, "/groups"),
            word(row, "/likelihood").to_owned(),
            side("cpu"),
            side("gpu"),
            show(number(row, "/ratio")),
        ]);
    }
    format!(
        "\n## The three ratios\n\n(a) identical configuration: the PRD's run of 4 chains in f64 on both engines; (b) \
         whole device: all cores and the whole GPU, each with its best number of chains and precision; (c) against \
         NumPyro on the same GPU.\n(b) decides.\n\n{}\n{}\n{}",
        table.or("(a) and (b) were not measured."),
        against_peers(sampler, peers),
        expectations(sampler)
    )
}

/// What the PRD expects of the CPU and of the GPU, in seconds: groups, from, to.
const EXPECTED: [(f64, &str, &str); 3] =
    [(100.0, "60 to 120", "15 to 30"), (500.0, "300 to 600", "60 to 120"), (1000.0, "900 to 1800", "120 to 240")];

/// The PRD's run beside what the PRD expects, pointwise as it is written there.
fn expectations(sampler: &Value) -> String {
    let mut table =
        Table::new(["groups", "expected of a CPU, s", "expected of a GPU, s", "CPU engine, s", "GPU engine, s"]);
    for (groups, cpu, gpu) in EXPECTED {
        let own = rows(sampler, "ratios").iter().find(|row| {
            (word(row, "/kind"), word(row, "/likelihood")) == ("a", "pointwise")
                && number(row, "/groups") == Some(groups)
        });
        if let Some(row) = own {
            let figures = ["/cpu/figure", "/gpu/figure"].map(|pointer| show(number(row, pointer)));
            let [own_cpu, own_gpu] = figures;
            table.row(&[groups.to_string(), cpu.into(), gpu.into(), own_cpu, own_gpu]);
        }
    }
    format!("The PRD's expectations of its run of 4 chains, beside (a), pointwise:\n\n{}", table.or("Not measured."))
}

fn against_peers(sampler: &Value, peers: &[Value]) -> String {
    if peers.is_empty() {
        return "(c) was not measured: there was no jax and NumPyro on the machine, or its time was over.\n".into();
    }
    let best = |likelihood: &str, groups: Option<f64>| {
        let own = cells(sampler, "gpu")
            .filter(|cell| word(cell, "/likelihood") == likelihood && number(cell, "/groups") == groups);
        own.filter_map(|cell| number(cell, "/min_ess_per_second"))
            .fold(None, |best: Option<f64>, rate| Some(best.map_or(rate, |best| best.max(rate))))
    };
    let head = [
        "(c) NumPyro",
        "groups",
        "chains",
        "metric",
        "cold s",
        "warm s",
        "leapfrogs",
        "min ESS",
        "max R-hat",
        "min ESS/s warm",
        "ours, pointwise",
        "ours over warm",
        "ours over cold",
        "on",
    ];
    let mut table = Table::new(head);
    for peer in peers {
        let [cold, warm, ess] = ["/cold_seconds", "/warm_seconds", "/min_ess"].map(|pointer| number(peer, pointer));
        let converged = peer.get("converged") == Some(&Value::Bool(true));
        // ESS of a run that has not converged says nothing.
        let rate = |seconds: Option<f64>| Some(ess? / seconds?).filter(|_| converged);
        let ours = best("pointwise", number(peer, "/groups"));
        let over = |seconds| Some(ours? / rate(seconds)?);
        table.row(&[
            word(peer, "/precision").to_owned(),
            show_whole(peer, "/groups"),
            show_whole(peer, "/chains"),
            word(peer, "/metric").to_owned(),
            show(cold),
            show(warm),
            show(number(peer, "/leapfrogs")),
            show(ess),
            number(peer, "/max_rhat").map_or_else(|| "-".into(), |rhat| format!("{rhat:.4}")),
            show(rate(warm)),
            show(ours),
            show(over(warm)),
            show(over(cold)),
            word(peer, "/platform").to_owned(),
        ]);
    }
    let note =
        "NumPyro's likelihood is pointwise, and so is ours beside it; a run that has not converged has no rate.\n";
    format!("{}\n{note}", table.or("(c) was not measured."))
}

fn roofline(results: &Path) -> String {
    let text = fs::read_to_string(results.join("ncu_sampler.out")).unwrap_or_default();
    let head = [
        "launch",
        "ms",
        "GFLOP/s",
        "GB/s",
        "FLOP a byte",
        "compute, % of peak",
        "memory, % of peak",
        "occupancy %",
        "registers",
    ];
    let mut table = Table::new(head);
    for (at, launch) in ncu::launches(&text).iter().enumerate() {
        let (seconds, flops, bytes) = (launch.seconds(), launch.flops(), launch.bytes());
        let rate = |amount: Option<f64>| Some(amount? / seconds? / 1e9);
        table.row(&[
            (at + 1).to_string(),
            show(seconds.map(|seconds| seconds * 1e3)),
            show(rate(flops)),
            show(rate(bytes)),
            show(flops.zip(bytes).map(|(flops, bytes)| flops / bytes)),
            show(launch.get("Compute (SM) Throughput")),
            show(launch.get("Memory Throughput")),
            show(launch.get("Achieved Occupancy")),
            show(launch.get("Registers Per Thread")),
        ]);
    }
    let none = "Not measured: Nsight Compute was not there, or may not count.";
    format!(
        "\n## Roofline\n\nLaunches of 4096 chains, 100 groups, collapsed, f64, as Nsight Compute counts them; bytes are \
         those of the device's memory.\n\n{}",
        table.or(none)
    )
}
