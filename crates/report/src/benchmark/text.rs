//! The text of `benchmark_report.txt`: facts, the posterior, timings, speedups, what the PRD expects, comparisons and the
//! verdict.

use super::{Benchmark, EngineTimes, SpeedupDefinition, posterior};
use crate::format::{bytes, count, percent, rate, round_seconds, seconds, significant};
use crate::measured::Measured;
use crate::report::Report;
use crate::text::{Charset, ROWS, heading};
use octopus_diag::{TextColumn, text_table};

/// Returns the whole report as text.
pub(crate) fn report_text(report: &Report, charset: Charset) -> String {
    let mut text = heading(&format!("{}: benchmark report", report.title), charset);
    text += &format!("{}\n{}\n\n", report.created, report.program);
    text += &facts("Hardware", &machine_facts(report), charset);
    let versions: Vec<_> = report.versions.iter().map(|(name, version)| (name.clone(), version.clone())).collect();
    text += &facts("Versions", &versions, charset);
    text += &facts("Settings", &settings_facts(report), charset);
    text += &facts("Data", &data_facts(report), charset);
    text += &posterior::parameters(report, charset);
    match &report.benchmark {
        Some(benchmark) => text += &benchmark.text(charset),
        None => text += "Nothing was timed.\n",
    }
    text.push('\n');
    report.comparisons.iter().for_each(|table| text += &posterior::comparison(table, charset));
    text + &heading("Verdict", charset) + &report.verdict.text(charset)
}

/// Names and values of the machine.
pub(crate) fn machine_facts(report: &Report) -> Vec<(String, String)> {
    let machine = &report.machine;
    let gpu = match &machine.gpu {
        Measured::Value(name) => name.clone(),
        Measured::NotMeasured(reason) => format!("none: {reason}"),
    };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("CPU", machine.cpu.clone()),
        fact("logical cores", machine.cores.to_string()),
        fact("memory", bytes(machine.memory_bytes)),
    ];
    facts.extend(machine.host_peak_bytes.map(|peak| fact("memory at the most", bytes(peak))));
    facts.extend([fact("system", machine.os.clone()), fact("GPU", gpu)]);
    let of_gpu = machine.gpu_facts.clone().unwrap_or_default();
    let mhz = |clock: Option<u32>| clock.map(|clock| format!("{clock} MHz"));
    let told = [
        ("GPU driver", of_gpu.driver),
        ("CUDA", of_gpu.cuda.map(|version| format!("at most {version}"))),
        ("compute capability", of_gpu.compute_capability),
        ("GPU memory", of_gpu.memory_bytes.map(bytes)),
        ("highest clock", mhz(of_gpu.sm_clock_max_mhz)),
        ("clock before the run", mhz(of_gpu.sm_clock_mhz)),
        ("highest memory clock", mhz(of_gpu.memory_clock_max_mhz)),
        ("power limit", of_gpu.power_limit_watts.map(|watts| format!("{watts:.0} W"))),
    ];
    facts.extend(told.into_iter().filter_map(|(name, value)| Some(fact(name, value?))));
    facts
}

/// Names and values of the settings; those of a table in the settings by its name, a dot and theirs.
pub(crate) fn settings_facts(report: &Report) -> Vec<(String, String)> {
    fn add(facts: &mut Vec<(String, String)>, name: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(table) => {
                table.iter().for_each(|(inner, value)| add(facts, &format!("{name}.{inner}"), value));
            }
            serde_json::Value::String(word) => facts.push((name.to_owned(), word.clone())),
            other => facts.push((name.to_owned(), other.to_string())),
        }
    }
    let mut facts = Vec::new();
    report.settings.iter().for_each(|(name, value)| add(&mut facts, name, value));
    facts
}

/// Names and values of the data.
pub(crate) fn data_facts(report: &Report) -> Vec<(String, String)> {
    let data = &report.data;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("source", data.source.clone()),
        fact("groups", count(data.groups as u64)),
        fact("observations", count(data.observations as u64)),
    ];
    if let Some((least, most)) = data.group_sizes {
        let sizes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        facts.push(fact("observations a group", sizes));
    }
    facts.push(fact("SHA-256 of y", data.sha256.clone()));
    facts
}

fn facts(title: &str, facts: &[(String, String)], charset: Charset) -> String {
    let rows: Vec<[String; 2]> = facts.iter().cloned().map(Into::into).collect();
    heading(title, charset) + &text_table(&[TextColumn::left(""); 2], &rows, ROWS) + "\n"
}

/// The columns of the table of timings.
pub(crate) const TIMING_COLUMNS: [&str; 12] = [
    "engine",
    "groups",
    "obs.",
    "wall",
    "warm-up",
    "sampling",
    "samples/s",
    "time/1000",
    "leapfrogs",
    "max R-hat",
    "min ESS/s",
    "variation",
];

impl Benchmark {
    fn text(&self, charset: Charset) -> String {
        let mut text = heading("Timings", charset);
        let columns: Vec<TextColumn<'_>> = TIMING_COLUMNS
            .iter()
            .enumerate()
            .map(|(i, name)| if i == 0 { TextColumn::wrapped(name, 40) } else { TextColumn::right(name) })
            .collect();
        text += &text_table(&columns, &self.timing_rows(), charset.table());
        for run in &self.runs {
            if let Measured::NotMeasured(reason) = &run.result {
                text += &format!("  {} at {}: not measured: {reason}\n", run.engine, run.size());
            }
        }
        text += "\n  wall: median of the repeats, from the start of warm-up to the last draw; samples: kept draws of all\n  \
                 chains; samples/s, time for 1000 samples and min ESS/s count the whole wall time; leapfrogs: one run,\n  \
                 warm-up included; variation: sd over mean of the repeats' wall times (number of repeats)\n\n";
        text += &heading("Speed-up of the GPU", charset);
        for (definition, words) in self.definitions() {
            text += &format!("  {words}\n");
            for (what, value) in self.speedup_lines(definition) {
                text += &format!("      {what}: {value}\n");
            }
        }
        if self.expectations().is_empty() {
            return text;
        }
        text.push('\n');
        text += &heading("What the PRD expects (on an RTX A6000, 48 GB, CUDA 12.4) beside this machine", charset);
        let columns: Vec<TextColumn<'_>> = EXPECTATION_COLUMNS.iter().map(|&name| TextColumn::right(name)).collect();
        text += &text_table(&columns, &self.expectation_rows(), charset.table());
        text
    }

    /// Returns three lines for the terminal: the best wall time of the run's chains on the CPU, that on the GPU, and their
    /// ratio; nothing where nothing was timed.
    pub fn times_text(&self) -> String {
        let Some(own) = self.runs.first() else { return String::new() };
        let of = |run: &super::EngineRun| (run.groups, run.chains, run.tune, run.draws);
        let best = |gpu: bool| self.fastest(|run| run.gpu == gpu && of(run) == of(own));
        let reason = self.runs.iter().filter(|run| run.gpu).find_map(|run| match &run.result {
            Measured::NotMeasured(reason) => Some(reason.as_str()),
            Measured::Value(_) => None,
        });
        let missing = format!("not measured: {}", reason.unwrap_or("no run"));
        let line = |found: Option<(&super::EngineRun, &EngineTimes)>| match found {
            None => missing.clone(),
            Some((run, times)) => format!(
                "{}, {} samples/s, max R-hat {} ({})",
                seconds(times.wall_s()),
                rate(run.samples() as f64 / times.wall_s()),
                significant(times.max_rhat, 4),
                run.setting
            ),
        };
        let (cpu, gpu) = (best(false), best(true));
        let ratio =
            cpu.zip(gpu).map(|((_, cpu), (_, gpu))| format!("{}x", significant(cpu.wall_s() / gpu.wall_s(), 3)));
        format!(
            "CPU time: {}\nGPU time: {}\nspeed-up: {} (these wall times, of {} chains each)\n",
            line(cpu),
            line(gpu),
            ratio.unwrap_or_else(|| missing.clone()),
            own.chains
        )
    }

    /// Cells under [`TIMING_COLUMNS`].
    pub(crate) fn timing_rows(&self) -> Vec<Vec<String>> {
        let row = |run: &super::EngineRun| {
            let name = format!("{}, {}", run.engine, run.setting);
            let mut cells =
                vec![name.trim_end_matches(", ").to_owned(), count(run.groups as u64), count(run.observations as u64)];
            match &run.result {
                Measured::Value(times) => cells.extend(timing_cells(times, run.samples() as f64)),
                Measured::NotMeasured(_) => cells.extend(std::iter::repeat_n("-".to_owned(), 9)),
            }
            cells
        };
        self.runs.iter().map(row).collect()
    }

    /// Returns lines with what was compared by a definition and the results; one line that says so where nothing was
    /// compared.
    pub(crate) fn speedup_lines(&self, definition: SpeedupDefinition) -> Vec<(String, String)> {
        let found: Vec<_> = self
            .speedups
            .iter()
            .filter(|speedup| speedup.definition == definition)
            .map(|speedup| {
                let value = match &speedup.ratio {
                    Measured::Value(ratio) => format!("{}x", significant(*ratio, 3)),
                    Measured::NotMeasured(reason) => format!("SKIPPED ({reason})"),
                };
                (speedup.what.clone(), value)
            })
            .collect();
        if found.is_empty() {
            vec![("all sizes".to_owned(), "SKIPPED (not measured in this run)".to_owned())]
        } else {
            found
        }
    }

    /// Cells under [`EXPECTATION_COLUMNS`].
    pub(crate) fn expectation_rows(&self) -> Vec<Vec<String>> {
        let range = |(low, high): (f64, f64)| format!("{} to {}", round_seconds(low), round_seconds(high));
        let here = |wall: Option<f64>| wall.map_or("-".to_owned(), seconds);
        self.expectations()
            .iter()
            .map(|expected| {
                let (cpu, gpu) = (self.best_wall(expected.groups, false), self.best_wall(expected.groups, true));
                let ratio = cpu.zip(gpu).map_or("-".to_owned(), |(cpu, gpu)| format!("{}x", significant(cpu / gpu, 3)));
                vec![
                    expected.groups.to_string(),
                    range(expected.cpu_s),
                    here(cpu),
                    range(expected.gpu_s),
                    here(gpu),
                    format!("{}x to {}x", expected.speedup.0, expected.speedup.1),
                    ratio,
                ]
            })
            .collect()
    }
}

/// The columns of the table of expectations; what is here is the best wall time of this run.
pub(crate) const EXPECTATION_COLUMNS: [&str; 7] =
    ["groups", "CPU expected", "CPU here", "GPU expected", "GPU here", "speed-up expected", "wall ratio here"];

fn timing_cells(times: &EngineTimes, samples: f64) -> [String; 9] {
    let wall = times.wall_s();
    let variation = match times.variation() {
        Some(variation) => format!("{} ({})", percent(variation), times.repeats.len()),
        None => "- (1)".to_owned(),
    };
    [
        seconds(wall),
        seconds(times.warmup_s()),
        seconds(times.sampling_s()),
        rate(samples / wall),
        seconds(1000.0 * wall / samples),
        count(times.leapfrogs),
        significant(times.max_rhat, 4),
        rate(times.min_ess_per_s()),
        variation,
    ]
}
