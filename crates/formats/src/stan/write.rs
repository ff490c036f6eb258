//! InferenceData to CSV files as CmdStan writes them.
//!
//! The comments with settings, adaptation and version are made here.

use super::StanMetric;
use super::columns::{columns_of, keeps_its_name, name_in_stan, statistics};
use super::metric::{InverseMetric, to_json};
use crate::FormatError;
use crate::checked;
use crate::export::export_folder;
use octopus_files::{Disk, Storage};
use octopus_trace::{Array, Dataset, InferenceData, Values};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// Writes `chain-1.csv`, `chain-2.csv`, ... into the folder `path`, whole or not at all. `metrics` has one metric for
/// each chain, written as `chain-1_metric.json`, ..., or is empty. Without metrics no such file is written, and the CSV
/// files name the metric `unit_e`, for which Stan's readers expect no numbers.
///
/// A Stan CSV holds `posterior` (as real numbers) and the variables of `sample_stats` that CmdStan knows (lp,
/// acceptance_rate, step_size, tree_depth, n_steps, diverging, energy), for warm-up and sampling. Other groups, other
/// statistics, variables of words, and warm-up that has not the statistics of the draws are left out, and a warning names
/// them; the names and labels of dimensions, attributes and arrays of length 0 are not kept. Numbers keep all their
/// digits.
///
/// # Errors
/// When there is no `posterior`, or a variable in it is not over chains and draws, or has a name that would be read as
/// another; when the number of metrics is neither 0 nor the number of chains; when `path` exists and
/// `overwrite` is false or it holds anything else; or when a file cannot be written.
pub fn write_stan_csv(
    path: &Path,
    data: &InferenceData,
    metrics: &[StanMetric],
    overwrite: bool,
) -> Result<(), FormatError> {
    let invalid = |what: String| FormatError::Invalid { group: "posterior".into(), what };
    let posterior = data.posterior().ok_or_else(|| invalid("it is not in the trace".into()))?;
    let sampling = Table::new(data, "")?;
    let warmup = data.group("warmup_posterior").map(|_| Table::new(data, "warmup_")).transpose()?;
    let mut warmup = warmup.filter(|warmup| warmup.draws > 0);
    if let Some(found) = &warmup
        && (found.parameters() != sampling.parameters() || found.chains != sampling.chains)
    {
        return Err(invalid("the chains and variables of warm-up are not those of the draws".into()));
    }
    // A file has one header, and a number for each of its columns in each line: what warm-up lacks cannot be left empty.
    if warmup.as_ref().is_some_and(|found| found.header != sampling.header) {
        warmup = None;
        tracing::warn!("warm-up is left out: it has not the statistics that the draws have (warmup_sample_stats)");
    }
    if !metrics.is_empty() && metrics.len() != sampling.chains {
        return Err(invalid(format!("there are {} metrics for {} chains", metrics.len(), sampling.chains)));
    }
    let model = match posterior.attrs.get("model_name").or_else(|| posterior.attrs.get("model")) {
        Some(octopus_trace::Attribute::Text(name)) => name.split_whitespace().collect::<Vec<_>>().join("_"),
        _ => "octopus".into(),
    };
    let max_depth = match posterior.attrs.get("max_depth") {
        Some(octopus_trace::Attribute::I64(depth)) => Some(*depth),
        _ => None,
    };
    let lost = what_is_lost(data, &sampling, max_depth.is_some());
    if !lost.is_empty() {
        tracing::warn!("left out, since a Stan CSV has no place for it: {}", lost.join(", "));
    }
    export_folder(path, overwrite, is_ours, |folder| {
        for chain in 0..sampling.chains {
            let metric = metrics.get(chain);
            let step_size = metric.and_then(|metric| metric.step_size).or_else(|| sampling.step_size(chain));
            let file = folder.join(format!("chain-{}.csv", chain + 1));
            let fill = &mut |out: &mut dyn Write| {
                let warmup_draws = warmup.as_ref().map(|warmup| warmup.draws);
                out.write_all(settings(&model, chain, sampling.draws, warmup_draws, metric, max_depth).as_bytes())?;
                writeln!(out, "{}", sampling.header.join(","))?;
                warmup.iter().try_for_each(|warmup| warmup.write(chain, out))?;
                out.write_all(adaptation(step_size, metric).as_bytes())?;
                sampling.write(chain, out)?;
                out.write_all(b"# \n#  Elapsed Time: 0 seconds (Warm-up)\n#                0 seconds (Sampling)\n#                0 seconds (Total)\n# \n")
            };
            Disk.write(&file, fill).map_err(FormatError::io("write", &file))?;
            if let Some(metric) = metric {
                let (file, json) = (folder.join(format!("chain-{}_metric.json", chain + 1)), to_json(metric)?);
                Disk.write(&file, &mut |out| out.write_all(json.as_bytes()))
                    .map_err(FormatError::io("write", &file))?;
            }
        }
        Ok(())
    })
}

/// Returns what of a trace is not written: variables of words, the statistics that CmdStan does not know, and groups. The
/// depth limit tells which trees reached it.
pub(super) fn what_is_lost(data: &InferenceData, sampling: &Table<'_>, has_max_depth: bool) -> Vec<String> {
    let words = sampling.words.iter().map(|name| format!("{name} (text)"));
    let is_written = |name: &str| {
        let column = name_in_stan(name);
        let has = |column: &str| sampling.statistics().iter().any(|written| written == column);
        column.is_some_and(has) || name == "reached_max_treedepth" && has_max_depth && has("treedepth__")
    };
    let statistics = sampling.stats.into_iter().flat_map(|stats| stats.variables.keys());
    let statistics = statistics.filter(|name| !is_written(name)).map(|name| format!("the statistic {name}"));
    let kept = ["posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"];
    let groups =
        data.groups.iter().filter(|(name, dataset)| !kept.contains(&name.as_str()) && !dataset.variables.is_empty());
    words.chain(statistics).chain(groups.map(|(name, _)| format!("the group {name}"))).collect()
}

/// Returns whether a folder holds what this wrote and nothing else.
pub(super) fn is_ours(path: &Path) -> bool {
    let is_ours = |name: &str| {
        let number = name.strip_prefix("chain-");
        let number = number.and_then(|rest| rest.strip_suffix(".csv").or_else(|| rest.strip_suffix("_metric.json")));
        number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    std::fs::read_dir(path).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.file_name().to_string_lossy())))
    })
}

/// The columns of one phase.
pub(super) struct Table<'a> {
    chains: usize,
    draws: usize,
    header: Vec<String>,
    /// How many of the columns are the sampler's; they come first.
    of_the_sampler: usize,
    /// The variables of words, which Stan does not have.
    words: Vec<String>,
    /// The columns: the array, the elements of a draw in it, and the element that the column has.
    columns: Vec<(&'a Array, usize, usize)>,
    stats: Option<&'a Dataset>,
}

impl<'a> Table<'a> {
    pub(super) fn new(data: &'a InferenceData, prefix: &str) -> Result<Self, FormatError> {
        let group = format!("{prefix}posterior");
        let invalid = |what: String| FormatError::Invalid { group: group.clone(), what };
        let posterior = data.group(&group).ok_or_else(|| invalid("it is not in the trace".into()))?;
        let sizes = checked::dimensions(&group, posterior)?;
        let size = |dim: &str| sizes.get(dim).copied().unwrap_or(0);
        let mut table = Self {
            chains: size("chain"),
            draws: size("draw"),
            header: Vec::new(),
            of_the_sampler: 0,
            words: Vec::new(),
            columns: Vec::new(),
            stats: data.group(&format!("{prefix}sample_stats")),
        };
        for (column, name) in statistics() {
            let array = table.stats.and_then(|stats| stats.get(name));
            let fits = |array: &&Array| array.is_sampled() && array.shape == [table.chains, table.draws];
            if let Some(array) = array.filter(fits).filter(|array| array.values.is_numeric()) {
                table.header.push(column.into());
                table.columns.push((array, 1, 0));
            }
        }
        table.of_the_sampler = table.header.len();
        for (name, array) in &posterior.variables {
            if !array.values.is_numeric() {
                table.words.push(name.clone());
                continue;
            }
            if !array.is_sampled() {
                return Err(invalid(format!("variable {name} is not over chains and draws, as Stan's are")));
            }
            if !keeps_its_name(name) {
                return Err(invalid(format!("the name `{name}` would be read as another in a Stan CSV: rename it")));
            }
            for (column, place) in columns_of(name, &array.shape[2..]) {
                table.header.push(column);
                table.columns.push((array, array.elements(2), place));
            }
        }
        Ok(table)
    }

    /// Returns the columns of the sampler's statistics.
    fn statistics(&self) -> &[String] {
        &self.header[..self.of_the_sampler]
    }

    /// Returns the columns of the variables.
    fn parameters(&self) -> &[String] {
        &self.header[self.of_the_sampler..]
    }

    fn step_size(&self, chain: usize) -> Option<f64> {
        let sizes = self.stats?.get("step_size").filter(|array| array.is_sampled())?;
        let last = ((chain + 1) * self.draws).checked_sub(1)?;
        sizes.values.to_f64().get(last).copied()
    }

    fn write(&self, chain: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for draw in chain * self.draws..(chain + 1) * self.draws {
            line.clear();
            for &(array, elements, place) in &self.columns {
                if !line.is_empty() {
                    line.push(',');
                }
                push_number(&mut line, &array.values, draw * elements + place);
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

fn push_number(line: &mut String, values: &Values, at: usize) {
    let result = match values {
        // C++ writes and reads these words.
        Values::F64(values) if values[at].is_nan() => write!(line, "nan"),
        // The debug form is the shortest that reads back to the same bits, with an exponent where it is far from 1.
        Values::F64(values) if values[at].fract() == 0.0 && values[at].abs() < 1e15 => write!(line, "{}", values[at]),
        Values::F64(values) => write!(line, "{:?}", values[at]),
        Values::I64(values) => write!(line, "{}", values[at]),
        Values::Bool(values) => write!(line, "{}", u8::from(values[at])),
        Values::Strings(_) => Ok(()),
    };
    debug_assert!(result.is_ok(), "a String takes all");
}

/// Returns the comments that Stan's readers look for. The version in them is that of the format.
fn settings(
    model: &str,
    chain: usize,
    draws: usize,
    warmup: Option<usize>,
    metric: Option<&StanMetric>,
    max_depth: Option<i64>,
) -> String {
    let max_depth =
        max_depth.map_or(String::new(), |depth| format!("#           nuts\n#             max_depth = {depth}\n"));
    let (saved, warmup) = (warmup.is_some(), warmup.unwrap_or(0));
    let kind = match metric.map(|metric| &metric.inverse) {
        None => "unit_e",
        Some(InverseMetric::Diagonal(_)) => "diag_e",
        Some(InverseMetric::Dense(_)) => "dense_e",
    };
    format!(
        "# stan_version_major = 2\n# stan_version_minor = 37\n# stan_version_patch = 0\n# model = {model}\n\
         # written_by = octopus {}\n# method = sample\n#   sample\n#     num_samples = {draws}\n\
         #     num_warmup = {warmup}\n#     save_warmup = {saved}\n#     thin = 1\n#     adapt\n#       engaged = true\n\
         #     algorithm = hmc\n#       hmc\n#         engine = nuts\n{max_depth}#         metric = {kind}\n\
         #     num_chains = 1\n# id = {}\n",
        env!("CARGO_PKG_VERSION"),
        chain + 1
    )
}

fn adaptation(step_size: Option<f64>, metric: Option<&StanMetric>) -> String {
    let numbers = |row: &[f64]| format!("# {}\n", row.iter().map(f64::to_string).collect::<Vec<_>>().join(", "));
    let mut text = String::from("# Adaptation terminated\n");
    if let Some(step_size) = step_size {
        text.push_str(&format!("# Step size = {step_size}\n"));
    }
    match metric.map(|metric| (&metric.inverse, metric.inverse.dim())) {
        None => text.push_str("# No free parameters for unit metric\n"),
        Some((InverseMetric::Diagonal(values), _)) => {
            text.push_str("# Diagonal elements of inverse mass matrix:\n");
            text.push_str(&numbers(values));
        }
        Some((InverseMetric::Dense(values), dim)) => {
            text.push_str("# Elements of inverse mass matrix:\n");
            values.chunks(dim.max(1)).for_each(|row| text.push_str(&numbers(row)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As CmdStan's readers take them; with an exponent or a point where a number is no count.
    #[test]
    fn numbers_are_whole_below_1e15() {
        let written = |value: f64| {
            let mut line = String::new();
            push_number(&mut line, &Values::F64(vec![value]), 0);
            line
        };
        for (value, expected) in
            [(3.0, "3"), (-0.25, "-0.25"), (-7e14, "-700000000000000"), (1e15, "1000000000000000.0"), (f64::NAN, "nan")]
        {
            assert_eq!(written(value), expected);
        }
    }
}
