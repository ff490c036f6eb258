//! CSV files of CmdStan to InferenceData, one file for each chain.

use super::StanMetric;
use super::columns::{STATISTICS, StanVariable, variables};
use super::file::{self, ChainFile};
use crate::FormatError;
use crate::format::files_ending;
use indexmap::IndexMap;
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use std::path::{Path, PathBuf};

/// The contents of the files of a run of CmdStan.
#[derive(Clone, Debug, PartialEq)]
pub struct StanCsv {
    /// The draws.
    pub data: InferenceData,
    /// The step size and inverse metric of each chain; `None` where the chain's file does not give them.
    pub metrics: Vec<Option<StanMetric>>,
}

/// Reads one chain from each of `paths`, or from all `.csv` files of a folder. Chains are in the order of their `id`,
/// then of the number at the end of the file's name.
///
/// Groups are the same as of `arviz.from_cmdstan`: `posterior`, `sample_stats` under ArviZ's names, `log_likelihood`
/// from the variable `log_lik`, and `warmup_*` from saved draws of warm-up. Other generated quantities stay in
/// `posterior`. Variables are real numbers; an axis of `theta` is `theta_dim_0`, labelled from 0. A complex variable
/// `z` becomes `z.real` and `z.imag`, a part of a tuple keeps Stan's name `t:1`. Settings on which the files agree are
/// attributes. The last line of a file that was cut short is left out.
///
/// # Errors
/// When a file cannot be read, was made by another method than `sample`, or is damaged (the error names file and line);
/// when the chains have different columns or lengths.
pub fn read_stan_csv(paths: &[PathBuf]) -> Result<StanCsv, FormatError> {
    let (mut chains, in_folder) = match paths {
        [folder] if folder.is_dir() => (read_all(&files_ending(folder, "csv")?)?, true),
        files => (read_all(files)?, false),
    };
    if in_folder {
        let id = |chain: &ChainFile| chain.settings.get("id").and_then(|id| id.parse().ok()).unwrap_or(u64::MAX);
        chains.sort_by_key(|chain| (id(chain), number(&chain.path), chain.path.clone()));
    }
    let Some((first, others)) = chains.split_first() else {
        let path = paths.first().cloned().unwrap_or_default();
        return Err(FormatError::Unreadable { path, what: "there is no CSV file of CmdStan".into() });
    };
    let unreadable = |what: String| FormatError::Unreadable { path: first.path.clone(), what };
    if let Some(other) = others.iter().find(|other| other.header != first.header) {
        let what = format!("its columns are not those of {}: give the chains of one run", first.path.display());
        return Err(FormatError::Unreadable { path: other.path.clone(), what });
    }
    let variables = variables(&first.header).map_err(unreadable)?;
    let warmup = common_length(&chains, |chain| chain.warmup, "warm-up draws")?;
    let draws = common_length(&chains, |chain| chain.values.len() / chain.header.len() - chain.warmup, "draws")?;
    if warmup + draws == 0 {
        return Err(unreadable("it holds no draws".into()));
    }
    let mut data = InferenceData::default();
    for (prefix, first, count) in [("", warmup, draws), ("warmup_", 0, warmup)] {
        if count > 0 {
            Phase { chains: &chains, first, count }.add_groups(prefix, &variables, &mut data);
        }
    }
    Ok(StanCsv { data, metrics: chains.into_iter().map(|chain| chain.adaptation).collect() })
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<ChainFile>, FormatError> {
    paths.iter().map(|path| file::read(path)).collect()
}

/// Returns the number at the end of a file's name: `schools_12.csv`.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    name[name.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..].parse().ok()
}

/// Returns the number that all chains share.
fn common_length(chains: &[ChainFile], of: impl Fn(&ChainFile) -> usize, what: &str) -> Result<usize, FormatError> {
    let counts: Vec<usize> = chains.iter().map(of).collect();
    if counts.iter().all(|&count| count == counts[0]) {
        return Ok(counts[0]);
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let short = chains.iter().zip(&counts).filter(|(_, count)| **count < most);
    let short: Vec<String> =
        short.map(|(chain, count)| format!("{} has {count} {what} of {most}", chain.path.display())).collect();
    let path = chains[0].path.parent().unwrap_or(Path::new("")).to_owned();
    let fix = format!("{}: name the other files alone, or sample anew", short.join(", "));
    Err(FormatError::UnequalChains { path, counts, fix })
}

/// A span of rows of all chains.
struct Phase<'a> {
    chains: &'a [ChainFile],
    first: usize,
    count: usize,
}

impl Phase<'_> {
    fn add_groups(&self, prefix: &str, variables: &[StanVariable], data: &mut InferenceData) {
        let attrs = attributes(self.chains);
        let empty = || Dataset { attrs: attrs.clone(), ..Dataset::default() };
        let (mut posterior, mut likelihood, mut stats) = (empty(), empty(), empty());
        for variable in variables {
            let group = if variable.name == "log_lik" { &mut likelihood } else { &mut posterior };
            let dims: Vec<String> =
                (0..variable.shape.len()).map(|axis| format!("{}_dim_{axis}", variable.name)).collect();
            let axes = dims.iter().map(String::as_str).zip(variable.shape.iter().copied());
            group.insert(&variable.name, self.array(axes, Values::F64(self.gather(&variable.columns))));
            group.coords.extend(dims.iter().zip(&variable.shape).map(|(dim, &len)| (dim.clone(), Labels::Range(len))));
        }
        for (column, name) in self.chains[0].header.iter().enumerate().filter(|(_, name)| name.ends_with("__")) {
            let known = STATISTICS.iter().find(|(theirs, _)| theirs == name).map(|(_, ours)| *ours);
            let name = known.unwrap_or(name.trim_end_matches('_'));
            stats.insert(name, self.array([], statistic(name, self.gather(&[column]))));
        }
        for (group, dataset) in [("posterior", posterior), ("sample_stats", stats), ("log_likelihood", likelihood)] {
            if !dataset.variables.is_empty() {
                data.insert(format!("{prefix}{group}"), dataset);
            }
        }
    }

    fn array<'a>(&self, axes: impl IntoIterator<Item = (&'a str, usize)>, values: Values) -> Array {
        Array::new([("chain", self.chains.len()), ("draw", self.count)].into_iter().chain(axes), values)
    }

    /// Returns the values of some columns, chain after chain, draw after draw.
    fn gather(&self, columns: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.chains.len() * self.count * columns.len());
        for chain in self.chains {
            for row in chain.values.chunks_exact(chain.header.len()).skip(self.first).take(self.count) {
                out.extend(columns.iter().map(|&column| row[column]));
            }
        }
        out
    }
}

/// Returns a statistic in the type that ArviZ gives it, if all its values have it.
fn statistic(name: &str, values: Vec<f64>) -> Values {
    let whole = values.iter().all(|value| value.fract() == 0.0 && value.abs() < 9.0e15);
    match name {
        "diverging" => Values::Bool(values.into_iter().map(|flag| flag != 0.0).collect()),
        "tree_depth" | "n_steps" if whole => Values::I64(values.into_iter().map(|value| value as i64).collect()),
        _ => Values::F64(values),
    }
}

/// Returns the settings on which all chains agree.
fn attributes(chains: &[ChainFile]) -> IndexMap<String, Attribute> {
    let mut attributes = IndexMap::from([("inference_library".to_owned(), Attribute::from("Stan"))]);
    for (name, value) in &chains[0].settings {
        if value.is_empty() || chains.iter().any(|chain| chain.settings.get(name) != Some(value)) {
            continue;
        }
        let integer = value.parse::<i64>().ok().map(Attribute::I64);
        let real = || value.parse::<f64>().ok().filter(|value| value.is_finite()).map(Attribute::F64);
        let value = integer.or_else(real).unwrap_or_else(|| Attribute::from(value.as_str()));
        attributes.insert(name.clone(), value);
    }
    attributes
}
