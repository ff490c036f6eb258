//! The sampler's figures in the acceptance report: what must be there, and the tables of `sampler.md`.
//!
//! Tables: latency, starts, teams, throughput, ratios of GPU to CPU, repeats, peers, roofline, what the PRD expects.

use super::many;
use super::ncu::Launch;
use super::results::{Peer, Results};
use super::tables::{aligned, or_dash, show, show_ms, show_rhat, table};
use crate::sampler::{RatioSide, SamplerCell, SamplerFigures, Where};
use octopus_models::Likelihood;
use octopus_report::{EXPECTATIONS, Expectation};
use std::collections::BTreeMap;

/// Returns what is missing from the sampler's figures, or cannot be.
pub(super) fn objections(sampler: &SamplerFigures) -> Vec<String> {
    let mut objections = Vec::new();
    let none = [
        ("starts", sampler.starts.is_empty()),
        ("launches", sampler.launches.is_empty()),
        ("teams", sampler.teams.is_empty()),
    ];
    for (name, _) in none.into_iter().filter(|(_, none)| *none) {
        // They come first and last; without time they are said to be missing.
        if sampler.not_measured.is_empty() {
            objections.push(format!("sampler: no {name}"));
        }
    }
    for place in [Where::Gpu, Where::Cpu] {
        if !sampler.cells.iter().any(|cell| cell.place == place) {
            objections.push(format!("sampler: nothing was measured on the {}", place.label()));
        }
    }
    for batch in sampler.batches.iter().filter(|batch| batch.failed != 0) {
        let (failed, all) = (batch.failed, batch.data_sets);
        objections.push(format!("sampler: {failed} of {all} data sets failed on the {}", batch.place));
    }
    for cell in sampler.cells.iter().filter(|cell| cell.error.is_none()) {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let on_device = cell.place == Where::Cpu || cell.device_us_per_leapfrog.is_some_and(positive);
        if !(positive(cell.leapfrogs_per_second) && on_device) {
            objections.push(format!("sampler: no speed of {}", name(cell)));
        }
        // The memory is what was foretold.
        if cell.device_bytes != cell.foretold_bytes {
            let [found, foretold] =
                [cell.device_bytes, cell.foretold_bytes].map(|bytes| show(bytes.map(|bytes| bytes as f64)));
            objections.push(format!("sampler: {} took {found} bytes, foretold were {foretold}", name(cell)));
        }
    }
    objections
}

fn name(cell: &SamplerCell) -> String {
    let SamplerCell { groups, likelihood, precision, chains, place, .. } = cell;
    format!("{groups} groups, {}, {precision}, {chains} chains on the {place}", likelihood.name())
}

/// Returns `sampler.md`.
pub(super) fn report(sampler: &SamplerFigures, results: &Results, device: &str) -> String {
    let mut text = head(sampler, results, device) + &measured(sampler);
    text += &results.sampler_again.as_ref().map_or_else(String::new, |again| repeats(sampler, again));
    text += &ratios(sampler, &results.peers);
    text += &roofline(&results.launches);
    text + &not_measured(sampler)
}

/// Returns what `octopus device sampler` prints: the same tables, as far as they need nothing else.
pub(crate) fn text(sampler: &SamplerFigures) -> String {
    let double = if sampler.test_double { " (these are no measurements of a GPU)" } else { "" };
    let cpu = sampler.machine.host.cpu.as_deref().unwrap_or("unnamed CPU");
    let (device, threads, seconds) = (&sampler.device.name, sampler.machine.threads, sampler.seconds);
    let head = format!("{device}{double}\n{cpu}, {threads} threads; {seconds:.0} s in all\n");
    let tables = format!("{}\n## GPU and all cores\n\n{}", measured(sampler), own_ratios(sampler));
    aligned(&(head + &tables + &not_measured(sampler)))
}

fn measured(sampler: &SamplerFigures) -> String {
    let parts = [latency, starts, many::report, teams, throughput];
    parts.iter().map(|part| part(sampler)).collect()
}

fn not_measured(sampler: &SamplerFigures) -> String {
    if sampler.not_measured.is_empty() {
        return String::new();
    }
    let names: String = sampler.not_measured.iter().map(|name| format!("- {name}\n")).collect();
    format!("\n## Not measured, for want of time\n\n{names}")
}

fn head(sampler: &SamplerFigures, results: &Results, device: &str) -> String {
    let (manifest, machine) = (&results.manifest, &sampler.machine);
    let gpu = machine.gpu.clone().unwrap_or_default();
    format!(
        "# The sampler on {device}\n\n\
         Measured by `octopus device sampler` within `./run-acceptance.sh` of {} (rustc {}, PTX {}).\n\
         Driver {}, clocks before: {} of {} MHz (multiprocessors), {} of {} MHz (memory); {} multiprocessors.\n\
         Host: {}, {} threads for the CPU engine.\n\n\
         Microseconds a leapfrog are the device's time of a launch, divided by the leapfrogs of one chain.\n\
         Leapfrogs a second are by the host's clock, copies and the host's work included.\n\
         Effective draws a second count everything from the starting points on, warm-up included, and are given for \
         converged runs only (R-hat below 1.01 and ESS above 400 for all that was looked at).\n",
        manifest.commit(),
        manifest.rustc,
        manifest.ptx_sha256,
        or_dash(sampler.device.driver.as_ref()),
        or_dash(gpu.sm_clock_mhz),
        or_dash(gpu.sm_clock_max_mhz),
        or_dash(gpu.memory_clock_mhz),
        or_dash(gpu.memory_clock_max_mhz),
        or_dash(gpu.sm_count),
        or_dash(machine.host.cpu.as_ref()),
        machine.threads,
    )
}

/// Returns the cells of the GPU without an error.
fn on_gpu(sampler: &SamplerFigures) -> impl Iterator<Item = &SamplerCell> {
    sampler.cells.iter().filter(|cell| cell.place == Where::Gpu && cell.error.is_none())
}

fn latency(sampler: &SamplerFigures) -> String {
    let head = "groups | likelihood | precision | us a leapfrog | leapfrogs/s | leapfrogs a draw";
    let rows = on_gpu(sampler).filter(|cell| cell.chains == 1).map(|cell| {
        [
            cell.groups.to_string(),
            cell.likelihood.name().to_owned(),
            cell.precision.to_string(),
            show(cell.device_us_per_leapfrog),
            show(cell.leapfrogs_per_second),
            show(cell.leapfrogs_per_draw),
        ]
    });
    format!("\n## One chain\n\n{}", table(head, rows, "Not measured."))
}

fn starts(sampler: &SamplerFigures) -> String {
    let head = "start | driver ms | context ms | first sampler ms | first draw ms | process ms";
    let starts = sampler.starts.iter().map(|start| {
        let phases = &start.phases;
        [
            format!("{}, {} groups, {}", start.word(), start.groups, start.precision),
            show_ms(phases.driver),
            show_ms(phases.context),
            show_ms(phases.first_sampler),
            show_ms(phases.first_draw),
            show_ms(start.process_to_first_draw),
        ]
    });
    let starts = table(head, starts, "Not measured.");
    let head = "launches of | device us a launch | device us a leapfrog | host us a launch | host us a leapfrog";
    let launches = sampler.launches.iter().map(|cost| {
        [
            format!("{} groups, {}", cost.groups, cost.precision),
            show(cost.device_us_per_launch),
            show(cost.device_us_per_leapfrog),
            show(cost.wall_us_per_launch),
            show(cost.wall_us_per_leapfrog),
        ]
    });
    format!(
        "\n## Start and launches\n\nA cold start is one without the driver's cache of compiled kernels ({}).\n\
         The cost of a launch is the intercept of a line through the same run cut into more and more launches.\n\n\
         {starts}\n{}",
        sampler.machine.driver_cache,
        table(head, launches, "Not measured.")
    )
}

fn teams(sampler: &SamplerFigures) -> String {
    let head = "observations | precision | chains | blocks a chain | us a leapfrog | GB/s | CPU us a leapfrog";
    let rows = sampler.teams.iter().flat_map(|cost| {
        cost.points.iter().map(|point| {
            [
                cost.observations.to_string(),
                cost.precision.to_string(),
                cost.chains.to_string(),
                point.blocks(),
                show(point.device_us_per_leapfrog),
                show(point.gigabytes_per_second),
                show(cost.cpu_us_per_leapfrog),
            ]
        })
    });
    format!(
        "\n## Many observations\n\nPointwise, 100 groups; several blocks share each evaluation of a chain. Of a draw no \
         bit depends on how many.\n\n{}",
        table(head, rows, "Not measured.")
    )
}

fn throughput(sampler: &SamplerFigures) -> String {
    let head = "engine | groups | likelihood | precision | chains | leapfrogs/s | us a leapfrog | s | \
                draws a chain | min ESS | max R-hat | min ESS/s | device MiB";
    let cells = sampler.cells.iter().map(|cell| {
        [
            cell.place.label().to_owned(),
            cell.groups.to_string(),
            cell.likelihood.name().to_owned(),
            cell.precision.to_string(),
            cell.chains.to_string(),
            cell.error.clone().unwrap_or_else(|| show(cell.leapfrogs_per_second)),
            show(cell.device_us_per_leapfrog),
            show(cell.seconds()),
            cell.draws.to_string(),
            show(cell.quality.as_ref().map(|quality| quality.min_ess_bulk)),
            show_rhat(cell.quality.as_ref().map(|quality| quality.max_rhat)),
            show(cell.min_ess_per_second),
            show(cell.device_bytes.map(|bytes| bytes as f64 / f64::from(1 << 20))),
        ]
    });
    let cells = table(head, cells, "Not measured.");
    let head = "groups | likelihood | precision | CPU leapfrogs/s | chains";
    let even = sampler.break_even.iter().map(|row| {
        [
            row.groups.to_string(),
            row.likelihood.name().to_owned(),
            row.precision.to_string(),
            show(row.cpu_leapfrogs_per_second),
            row.chains.map_or_else(|| "never".into(), show),
        ]
    });
    format!(
        "\n## Throughput by chains\n\nA run is ended after about a second; 4 chains are the PRD's run (1000 + 2000), \
         more warm up together (many-short) and draw less each.\nR-hat of these is nested.\n\n{cells}\n\
         ## From how many chains on the GPU does more than all cores\n\n{}",
        table(head, even, "Not measured on both.")
    )
}

/// Returns how far the same cells of both parts are apart.
fn repeats(sampler: &SamplerFigures, again: &SamplerFigures) -> String {
    let second: BTreeMap<_, _> = on_gpu(again).map(|cell| (name(cell), cell.leapfrogs_per_second)).collect();
    let apart = |cell: &SamplerCell| Some((second.get(&name(cell))? / cell.leapfrogs_per_second - 1.0).abs());
    let mut apart: Vec<f64> = on_gpu(sampler).filter_map(apart).collect();
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

/// Returns the table of the ratios of both engines.
fn own_ratios(sampler: &SamplerFigures) -> String {
    let side = |side: &RatioSide| format!("{} ({} chains, {})", show(side.figure), side.chains, side.precision);
    let rows = sampler.ratios.iter().map(|row| {
        [
            if row.kind == 'a' { "(a) seconds" } else { "(b) min ESS/s" }.to_owned(),
            row.groups.to_string(),
            row.likelihood.name().to_owned(),
            side(&row.cpu),
            side(&row.gpu),
            show(row.ratio),
        ]
    });
    let head = "ratio | groups | likelihood | CPU | GPU | GPU faster by";
    table(head, rows, "(a) and (b) were not measured.")
}

fn ratios(sampler: &SamplerFigures, peers: &[Peer]) -> String {
    format!(
        "\n## The three ratios\n\n(a) identical configuration: the PRD's run of 4 chains in f64 on both engines; (b) \
         whole device: all cores and the whole GPU, each with its best number of chains and precision; (c) against \
         NumPyro on the same GPU.\n(b) decides.\n\n{}\n{}\n{}",
        own_ratios(sampler),
        against_peers(sampler, peers),
        expectations(sampler)
    )
}

/// Returns the PRD's run beside what the PRD expects, pointwise as it is written there.
fn expectations(sampler: &SamplerFigures) -> String {
    let range = |(from, to): (f64, f64)| format!("{from} to {to}");
    let rows = EXPECTATIONS.into_iter().filter_map(|Expectation { groups, cpu_s, gpu_s, .. }| {
        let asked = ('a', Likelihood::Pointwise, groups);
        let own = sampler.ratios.iter().find(|row| (row.kind, row.likelihood, row.groups) == asked)?;
        Some([groups.to_string(), range(cpu_s), range(gpu_s), show(own.cpu.figure), show(own.gpu.figure)])
    });
    let head = "groups | expected of a CPU, s | expected of a GPU, s | CPU engine, s | GPU engine, s";
    let rows = table(head, rows, "Not measured.");
    format!("The PRD's expectations of its run of 4 chains, beside (a), pointwise:\n\n{rows}")
}

fn against_peers(sampler: &SamplerFigures, peers: &[Peer]) -> String {
    if peers.is_empty() {
        return "(c) was not measured: there was no jax and NumPyro on the machine, or its time was over.\n".into();
    }
    let best = |groups: usize| {
        let own = on_gpu(sampler).filter(|cell| (cell.likelihood, cell.groups) == (Likelihood::Pointwise, groups));
        own.filter_map(|cell| cell.min_ess_per_second).max_by(f64::total_cmp)
    };
    let head = "(c) NumPyro | groups | chains | metric | cold s | warm s | leapfrogs | min ESS | max R-hat | \
                min ESS/s warm | ours, pointwise | ours over warm | ours over cold | on";
    let rows = peers.iter().map(|peer| {
        // ESS of a run that has not converged says nothing.
        let rate = |seconds: f64| peer.converged.then_some(peer.min_ess / seconds);
        let ours = best(peer.groups);
        let over = |seconds| Some(ours? / rate(seconds)?);
        [
            peer.precision.clone(),
            peer.groups.to_string(),
            peer.chains.to_string(),
            peer.metric.clone(),
            show(peer.cold_seconds),
            show(peer.warm_seconds),
            show(peer.leapfrogs as f64),
            show(peer.min_ess),
            show_rhat(peer.max_rhat),
            show(rate(peer.warm_seconds)),
            show(ours),
            show(over(peer.warm_seconds)),
            show(over(peer.cold_seconds)),
            peer.platform.clone(),
        ]
    });
    let note = "NumPyro's likelihood is pointwise, and so is ours beside it, with its best number of chains and precision; a \
                run that has not converged has no rate.\n";
    format!("{}\n{note}", table(head, rows, "(c) was not measured."))
}

fn roofline(launches: &[Launch]) -> String {
    let head = "launch | ms | GFLOP/s | GB/s | FLOP a byte | compute, % of peak | memory, % of peak | \
                occupancy % | registers";
    let rows = launches.iter().enumerate().map(|(at, launch)| {
        let (seconds, flops, bytes) = (launch.seconds(), launch.flops(), launch.bytes());
        let rate = |amount: Option<f64>| Some(amount? / seconds? / 1e9);
        [
            (at + 1).to_string(),
            show_ms(seconds),
            show(rate(flops)),
            show(rate(bytes)),
            show(flops.zip(bytes).map(|(flops, bytes)| flops / bytes)),
            show(launch.get("Compute (SM) Throughput")),
            show(launch.get("Memory Throughput")),
            show(launch.get("Achieved Occupancy")),
            show(launch.get("Registers Per Thread")),
        ]
    });
    let none = "Not measured: Nsight Compute was not there, or may not count.";
    format!(
        "\n## Roofline\n\nLaunches of 4096 chains, 100 groups, collapsed, f64, as Nsight Compute counts them; bytes are \
         those of the device's memory.\n\n{}",
        table(head, rows, none)
    )
}
