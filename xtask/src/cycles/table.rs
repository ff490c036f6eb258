//! The estimates as text: what each kernel takes, what its cycles go to, and what all that rests on.

use super::arch::{ARCHITECTURES, Architecture};
use super::counts::Work;
use super::estimate::{CAUSES, Estimate, Part};
use super::latency::{ASSUMPTIONS, FETCH_ALONE, FETCH_OF_MANY, latency_of};
use super::range::Range;
use crate::aligned::aligned;

/// What the figures are, for whoever reads only these.
const HEADING: &str = "\
Predictions, none of them measured: instructions, registers and stalls are ptxas' own, executed counts are those of the\n\
PTX interpreter, latencies are assumed (below), each from a lower to an upper bound. All caches of data hit, and chains are equally long:\n\
of many chains the figures are what a GPU makes at most. Of a leapfrog step of one chain, or of 32 elements of an array;\n\
cycles are those of one warp alone on its scheduler.";

/// All of it.
pub(super) fn text(estimates: &[Estimate]) -> String {
    let of = |work| estimates.iter().filter(|estimate| estimate.work == work).collect::<Vec<&Estimate>>();
    let (runs, arrays) = (of(Work::Leapfrog), of(Work::Elements));
    let mut sections = vec![HEADING.to_owned()];
    if !runs.is_empty() {
        sections.push(format!("Leapfrog steps:\n{}", leapfrogs(&runs)));
    }
    if !arrays.is_empty() {
        sections.push(format!(
            "Elements of arrays, 1e9 a second: if nothing but issue, the warps' own waits or memory took time, and likely:\n{}",
            elements(&arrays)
        ));
    }
    sections.push(format!("Cycles of a warp, by what it does:\n{}", causes(estimates)));
    if !runs.is_empty() {
        sections.push(format!(
            "By how often code is executed, instructions of PTX / machine instructions / cycles:\n{}",
            parts(&runs)
        ));
    }
    sections.extend([
        format!("By function, tools counted as who uses them:\n{}", functions(estimates)),
        format!("The most frequent opcodes:\n{}", opcodes(estimates)),
        format!("Assumed latencies, in cycles:\n{}", assumptions()),
        format!("GPUs:\n{}", gpus()),
    ]);
    sections.join("\n\n")
}

fn rows(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> impl Iterator<Item = Vec<String>> {
    [header.iter().map(|word| (*word).to_owned()).collect()].into_iter().chain(rows)
}

fn name(estimate: &Estimate) -> [String; 2] {
    [estimate.entry.clone(), estimate.architecture.to_owned()]
}

/// The columns that both kinds of work begin with.
const FIRST: [&str; 8] = ["kernel", "arch", "ptxas", "registers", "spilled", "PTX", "instructions", "f64"];

fn first(estimate: &Estimate) -> Vec<String> {
    let mut row: Vec<String> = name(estimate).into();
    row.extend([
        estimate.ptxas.clone(),
        estimate.registers.to_string(),
        estimate.spill_bytes.to_string(),
        format!("{:.0}", estimate.ptx_instructions),
        format!("{:.0}", estimate.instructions),
        format!("{:.0} %", 100.0 * estimate.double_instructions / estimate.instructions),
    ]);
    row
}

fn leapfrogs(estimates: &[&Estimate]) -> String {
    let header = [&FIRST[..], &["hot KiB", "cycles", "us", "chains/SM", "issue", "leapfrogs/s", "GPU"]].concat();
    let lines = estimates.iter().flat_map(|estimate| {
        estimate.gpus.iter().map(move |gpu| {
            let mut row = first(estimate);
            row.extend([
                format!("{:.0}", estimate.hot_bytes as f64 / 1024.0),
                estimate.cycles.text(0),
                gpu.microseconds.text(2),
                format!("{}", estimate.chains),
                estimate.issue.text(2),
                format!("{}e6", (gpu.per_second * 1e-6).text(1)),
                gpu.name.to_owned(),
            ]);
            row
        })
    });
    aligned(3, rows(&header, lines))
}

fn elements(estimates: &[&Estimate]) -> String {
    let header =
        [&FIRST[..], &["cycles", "warps/SM", "by issue", "by latency", "by memory", "issue", "likely", "GPU"]].concat();
    let lines = estimates.iter().flat_map(|estimate| {
        estimate.gpus.iter().map(move |gpu| {
            let billions = |range: Range| (range * 1e-9).text(1);
            let mut row = first(estimate);
            row.extend([
                estimate.cycles.text(0),
                format!("{}", estimate.chains),
                billions(Range::exact(gpu.limits.issue)),
                billions(gpu.limits.latency),
                gpu.limits.memory.map_or_else(String::new, billions),
                estimate.issue.text(2),
                billions(gpu.per_second),
                gpu.name.to_owned(),
            ]);
            row
        })
    });
    aligned(3, rows(&header, lines))
}

fn causes(estimates: &[Estimate]) -> String {
    let header = [&["kernel", "arch"], &CAUSES[..]].concat();
    let lines = estimates.iter().map(|estimate| {
        let mut row: Vec<String> = name(estimate).into();
        row.extend(estimate.causes.iter().map(|(_, cycles)| cycles.text(0)));
        row
    });
    aligned(2, rows(&header, lines))
}

fn parts(estimates: &[&Estimate]) -> String {
    let Some(first) = estimates.first() else { return String::new() };
    let header: Vec<&str> =
        ["kernel", "arch"].into_iter().chain(first.parts.iter().map(|part| part.name.as_str())).collect();
    let lines =
        estimates.iter().map(|estimate| {
            let mut row: Vec<String> = name(estimate).into();
            row.extend(estimate.parts.iter().map(|part| {
                format!("{:.0} / {:.0} / {}", part.ptx_instructions, part.instructions, part.cycles.text(0))
            }));
            row
        });
    aligned(2, rows(&header, lines))
}

fn functions(estimates: &[Estimate]) -> String {
    /// Functions with fewer cycles are added up.
    const LEAST: f64 = 0.01;
    let header = ["kernel", "arch", "file: function", "PTX", "instructions", "cycles"];
    let lines = estimates.iter().flat_map(|estimate| {
        let (shown, few): (Vec<&Part>, Vec<&Part>) =
            estimate.functions.iter().partition(|part| part.cycles.high >= LEAST * estimate.cycles.high);
        let mut rest = Part { name: format!("{} others", few.len()), ..Part::default() };
        for part in few {
            rest.ptx_instructions += part.ptx_instructions;
            rest.instructions += part.instructions;
            rest.cycles.low += part.cycles.low;
            rest.cycles.high += part.cycles.high;
        }
        let row = |part: &Part| {
            let mut row: Vec<String> = name(estimate).into();
            let numbers = [part.ptx_instructions, part.instructions].map(|number| format!("{number:.0}"));
            row.extend([part.name.clone()].into_iter().chain(numbers).chain([part.cycles.text(0)]));
            row
        };
        shown.into_iter().chain([&rest]).map(row).collect::<Vec<_>>()
    });
    aligned(3, rows(&header, lines))
}

fn opcodes(estimates: &[Estimate]) -> String {
    const MOST: usize = 12;
    let lines = estimates.iter().map(|estimate| {
        let mut row: Vec<String> = name(estimate).into();
        row.extend(estimate.opcodes.iter().take(MOST).map(|(opcode, times)| format!("{opcode} {times:.0}")));
        row
    });
    aligned(2 + MOST, lines)
}

fn assumptions() -> String {
    let header = [&["what"], &ARCHITECTURES.map(|architecture| architecture.name)[..], &["source"]].concat();
    let lines = ASSUMPTIONS.iter().map(|assumption| {
        let mut row = vec![assumption.what.to_owned()];
        row.extend((0..ARCHITECTURES.len()).map(|column| latency_of(assumption, column).text(0)));
        row.push(assumption.source.to_owned());
        row
    });
    let fetch = [
        ("instructions, share of cycles", FETCH_ALONE, "Nsight Compute of one chain on an H100: docs/performance.md"),
        ("the same of many warps", FETCH_OF_MANY, "of 4096 chains"),
    ];
    let fetch = fetch.into_iter().map(|(what, share, source)| {
        let cells = vec![share.text(2); ARCHITECTURES.len()];
        [vec![what.to_owned()], cells, vec![source.to_owned()]].concat()
    });
    aligned(2 + ARCHITECTURES.len(), rows(&header, lines.chain(fetch)))
}

fn gpus() -> String {
    let header = ["GPU", "arch", "multiprocessors", "GHz", "GB/s", "source"];
    let lines = ARCHITECTURES.iter().flat_map(|architecture: &Architecture| {
        architecture.gpus.iter().map(|gpu| {
            vec![
                gpu.name.to_owned(),
                architecture.name.to_owned(),
                gpu.multiprocessors.to_string(),
                Range::exact(gpu.clock / 1e9).text(3),
                (gpu.bandwidth * 1e-9).text(0),
                gpu.source.to_owned(),
            ]
        })
    });
    aligned(header.len(), rows(&header, lines))
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::{excerpt, excerpt_of_elements};
    use super::*;

    #[test]
    fn every_estimate_has_its_row_in_every_table() {
        let text = text(&["sm_86", "sm_90"].map(excerpt));
        for architecture in ["sm_86", "sm_90"] {
            let rows = text.lines().filter(|line| line.starts_with("array_dot_f64") && line.contains(architecture));
            // Totals, causes, parts, opcodes; two functions and the others.
            assert_eq!(rows.count(), 4 + 3, "{text}");
        }
        let total = text.lines().find(|line| line.starts_with("array_dot_f64")).unwrap();
        assert!(total.contains("12.4.131") && total.ends_with("RTX A6000"), "{total}");
        assert!(text.starts_with("Predictions, none of them measured"));
    }

    #[test]
    fn who_makes_arrays_has_a_row_of_its_limits_and_no_parts() {
        let text = text(&[excerpt_of_elements("sm_90")]);
        let row = text.lines().find(|line| line.starts_with("array_dot_f64")).unwrap();
        // Memory: an H200 stores 4 bytes an element, an H100 loads 16 more.
        assert!(row.contains("  167.5..1200.0  ") && row.ends_with("H100 SXM, H200"), "{row}");
        assert!(!text.contains("By how often code is executed") && !text.contains("leapfrogs/s"), "{text}");
    }

    #[test]
    fn every_assumption_is_told_with_its_source() {
        let text = assumptions();
        assert_eq!(text.lines().count(), 1 + ASSUMPTIONS.len() + 2);
        assert!(ASSUMPTIONS.iter().all(|assumption| text.contains(assumption.source)));
    }
}
