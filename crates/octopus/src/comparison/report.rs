//! Comparison of two reports of `octopus validate`: their criteria, times, parameters, and what else differs.

use super::settings::{difference, flatten};
use super::{ComparisonLimits, DifferingSetting};
use octopus_diag::{TextColumn, moments_as_text, text_table};
use octopus_report::{Charset, EngineRun, EngineTimes, Report, Status, SummaryRow, rate, seconds, significant};
use serde::Serialize;
use std::collections::BTreeMap;

/// A criterion in two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCriterion {
    /// The criterion's id, e.g. `P0.3`.
    pub id: String,
    /// Its status in each report; `None` where a report does not have it.
    pub statuses: [Option<&'static str>; 2],
    /// Its value in each report.
    pub values: [String; 2],
    /// Whether the second report's status is worse than the first's: it fails and the first did not, or it warns and the
    /// first passed.
    pub worse: bool,
}

/// Times of one engine with one setting in two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedTimes {
    /// The engine and its setting, e.g. `CPU, 2 threads, collapsed`.
    pub engine: String,
    /// The number of groups of the data.
    pub groups: usize,
    /// The median wall times in seconds.
    pub wall_s: [f64; 2],
    /// The smallest effective sample sizes for each second.
    pub min_ess_per_s: [f64; 2],
}

/// One parameter in two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedParameter {
    /// The parameter's name.
    pub name: String,
    /// The means.
    pub mean: [f64; 2],
    /// The standard deviations.
    pub sd: [f64; 2],
    /// The difference of the means over the larger of the first |mean| and its standard deviation.
    pub relative_mean: f64,
    /// The difference of the standard deviations over the first.
    pub relative_sd: f64,
}

/// The result of comparing two reports.
#[derive(Clone, Debug, Serialize)]
pub struct ReportComparison {
    schema: u32,
    /// Whether no criterion is worse in the second report, and all parameters are within the limits.
    pub same: bool,
    /// The names of the reports' files.
    pub names: [String; 2],
    limits: ComparisonLimits,
    /// All criteria.
    pub criteria: Vec<ComparedCriterion>,
    /// The engines that both reports timed.
    pub times: Vec<ComparedTimes>,
    /// The parameters that both reports have.
    pub parameters: Vec<ComparedParameter>,
    /// The facts of machines, versions, settings and data that differ.
    pub facts: Vec<DifferingSetting>,
}

impl ReportComparison {
    /// Compares two reports; `names` are their files.
    pub fn new(names: [String; 2], reports: &[Report; 2], limits: ComparisonLimits) -> Self {
        let criteria = criteria(reports);
        let parameters = parameters(reports);
        let same = !criteria.iter().any(|row| row.worse) && parameters.iter().all(|p| p.within(limits));
        let facts = difference(facts(&reports[0]), facts(&reports[1]));
        Self { schema: 1, same, names, limits, criteria, times: times(reports), parameters, facts }
    }

    /// Returns the comparison as text. With `all` it has every criterion and every parameter, else those that differ.
    pub fn to_text(&self, all: bool) -> String {
        let style = Charset::from_environment().table();
        let mut text = String::new();
        for (letter, name) in ["A", "B"].into_iter().zip(&self.names) {
            text += &format!("{letter}  {name}\n");
        }
        let table = |columns: &[TextColumn<'_>], rows: Vec<Vec<String>>, none: &str| match rows.is_empty() {
            true => format!("\n{none}\n"),
            false => format!("\n{}", text_table(columns, &rows, style)),
        };
        let word = |status: Option<&'static str>| status.unwrap_or("-").to_owned();
        let criteria = self.criteria.iter().filter(|row| all || row.statuses[0] != row.statuses[1]).map(|row| {
            let [a, b] = row.statuses.map(word);
            vec![row.id.clone(), a, b, row.values[0].clone(), row.values[1].clone()]
        });
        let columns = [
            TextColumn::left("criterion"),
            TextColumn::left("A"),
            TextColumn::left("B"),
            TextColumn::wrapped("value of A", 36),
            TextColumn::wrapped("value of B", 36),
        ];
        text += &table(&columns, criteria.collect(), "every criterion has the same status");
        let ratio = |[a, b]: [f64; 2]| significant(b / a, 3);
        let times = self.times.iter().map(|times| {
            let [a, b] = times.wall_s.map(seconds);
            let [slow, fast] = times.min_ess_per_s.map(rate);
            let ratios = [ratio(times.wall_s), ratio(times.min_ess_per_s)];
            let [wall, ess] = ratios;
            vec![times.engine.clone(), times.groups.to_string(), a, b, wall, slow, fast, ess]
        });
        let columns = [
            TextColumn::wrapped("engine", 40),
            TextColumn::right("groups"),
            TextColumn::right("wall A"),
            TextColumn::right("wall B"),
            TextColumn::right("B over A"),
            TextColumn::right("ESS/s A"),
            TextColumn::right("ESS/s B"),
            TextColumn::right("B over A"),
        ];
        text += &table(&columns, times.collect(), "no engine is timed in both");
        let share = |share: f64| format!("{:+.2} %", 100.0 * share);
        let apart: Vec<_> = self.parameters.iter().filter(|p| all || !p.within(self.limits)).collect();
        let moments = moments_as_text(&apart.iter().map(|p| (p.mean, p.sd)).collect::<Vec<_>>());
        let apart = apart.into_iter().zip(moments).map(|(p, [[mean_a, mean_b], [sd_a, sd_b]])| {
            vec![p.name.clone(), mean_a, mean_b, share(p.relative_mean), sd_a, sd_b, share(p.relative_sd)]
        });
        let columns = [
            TextColumn::wrapped("parameter", 40),
            TextColumn::right("mean A"),
            TextColumn::right("mean B"),
            TextColumn::right("apart"),
            TextColumn::right("sd A"),
            TextColumn::right("sd B"),
            TextColumn::right("apart"),
        ];
        let within = format!("all {} parameters that both have are within the limits", self.parameters.len());
        text += &table(&columns, apart.collect(), &within);
        let facts = self.facts.iter().map(|fact| {
            let [a, b] = fact.values.clone().map(|value| value.unwrap_or_else(|| "-".to_owned()));
            vec![fact.name.clone(), a, b]
        });
        let columns = [TextColumn::left("differs"), TextColumn::wrapped("A", 40), TextColumn::wrapped("B", 40)];
        text += &table(&columns, facts.collect(), "the same machine, versions, settings and data");
        let verdict = if self.same { "B is as good as A" } else { "B is worse than A, or differs from it" };
        format!("{text}\n{verdict}\n")
    }
}

impl ComparedParameter {
    /// Returns whether the differences are within the limits; NaN is not.
    fn within(&self, limits: ComparisonLimits) -> bool {
        self.relative_mean.abs() <= limits.mean && self.relative_sd.abs() <= limits.sd
    }
}

fn criteria(reports: &[Report; 2]) -> Vec<ComparedCriterion> {
    let rows = reports.each_ref().map(|report| &report.verdict.rows);
    let mut ids: Vec<&str> = rows[0].iter().map(|row| row.id.as_str()).collect();
    ids.extend(rows[1].iter().map(|row| row.id.as_str()).filter(|id| !rows[0].iter().any(|row| row.id == *id)));
    let compare = |id: &str| {
        let found = rows.map(|rows| rows.iter().find(|row| row.id == id));
        let [first, second] = found.map(|row| row.map(|row| &row.status));
        ComparedCriterion {
            id: id.to_owned(),
            statuses: found.map(|row| row.map(|row| row.status.word())),
            values: found.map(|row| row.map_or_else(|| "-".to_owned(), |row| row.value.clone())),
            worse: match second {
                Some(Status::Fail) => first != Some(&Status::Fail),
                Some(Status::Warn) => first == Some(&Status::Pass),
                _ => false,
            },
        }
    };
    ids.into_iter().map(compare).collect()
}

fn times(reports: &[Report; 2]) -> Vec<ComparedTimes> {
    let runs = |i: usize| reports[i].benchmark.iter().flat_map(|benchmark: &octopus_report::Benchmark| &benchmark.runs);
    let same = |a: &EngineRun, b: &EngineRun| (&a.engine, &a.setting) == (&b.engine, &b.setting) && a.alike(b);
    let compare = |first: &EngineRun| {
        let second = runs(1).find(|second| same(first, second))?;
        let times = [first.result.value()?, second.result.value()?];
        Some(ComparedTimes {
            engine: [first.engine.as_str(), first.setting.as_str()].join(", "),
            groups: first.groups,
            wall_s: times.map(EngineTimes::wall_s),
            min_ess_per_s: times.map(EngineTimes::min_ess_per_s),
        })
    };
    runs(0).filter_map(compare).collect()
}

fn parameters(reports: &[Report; 2]) -> Vec<ComparedParameter> {
    let second: BTreeMap<&str, &SummaryRow> =
        reports[1].parameters.iter().map(|row| (row.name.as_str(), row)).collect();
    let compare = |a: &SummaryRow| {
        let b = second.get(a.name.as_str())?;
        Some(ComparedParameter {
            name: a.name.clone(),
            mean: [a.mean, b.mean],
            sd: [a.sd, b.sd],
            relative_mean: (b.mean - a.mean) / a.mean.abs().max(a.sd),
            relative_sd: (b.sd - a.sd) / a.sd,
        })
    };
    reports[0].parameters.iter().filter_map(compare).collect()
}

/// Returns the facts of a report that say under which circumstances it was made.
fn facts(report: &Report) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let parts = [
        ("machine", serde_json::to_value(&report.machine)),
        ("versions", serde_json::to_value(&report.versions)),
        ("settings", serde_json::to_value(&report.settings)),
        ("data", serde_json::to_value(&report.data)),
        ("model", serde_json::to_value(&report.model)),
    ];
    for (name, value) in parts {
        // A report that has been read can be written.
        if let Ok(value) = value {
            flatten(name, &value, &mut found);
        }
    }
    // How much memory was in use is an outcome.
    found.remove("machine.host_peak_bytes");
    found
}
