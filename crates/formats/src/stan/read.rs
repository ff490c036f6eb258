//! CSV files of CmdStan to InferenceData, one file for each chain.

use super::columns::{StanVariable, in_type_of_statistic, statistic_name, variables};
use super::file::{self, ChainFile};
use super::{StanFiles, StanMetric};
use crate::checked::memory_for;
use crate::listing::files_ending;
use crate::registry::of_file;
use crate::{FormatError, TraceFormat as _};
use indexmap::IndexMap;
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The contents of the files of a run of CmdStan.
#[derive(Clone, Debug, PartialEq)]
pub struct StanCsv {
    /// The draws.
    pub data: InferenceData,
    /// The step size and inverse metric of each chain; `None` where the chain's file does not give them.
    pub metrics: Vec<Option<StanMetric>>,
}

/// Reads one chain from each of `paths`, or from all `.csv` files of a folder. Chains of a folder are in the order of
/// their `id`, then of the number at the end of the file's name.
///
/// Groups are the same as of `arviz.from_cmdstan`: `posterior`, `sample_stats` under ArviZ's names, `log_likelihood`
/// from the variable `log_lik`, and `warmup_*` from saved draws of warm-up. Other generated quantities stay in
/// `posterior`. Variables are real numbers; an axis of `theta` is `theta_dim_0`, labelled from 0. A complex variable
/// `z` becomes `z.real` and `z.imag`, a part of a tuple keeps Stan's name `t:1`. Settings on which the files agree are
/// attributes. Each file's own depth limit makes the statistic `reached_max_treedepth`.
///
/// What is done with a file that is not as expected stands in the notes: what in a folder is no chain is left out, and
/// so are the last line of a file that was cut short and warm-up of which the chains keep unequal numbers; files with the
/// same bytes are one chain; a chain with fewer draws than its settings ask for counts with those that it has.
///
/// # Errors
/// When a file cannot be read, was made by another method than `sample`, or is damaged (the error names file, line,
/// column and value); when the chains have different columns or lengths.
pub fn read_stan_csv(paths: &[PathBuf]) -> Result<StanCsv, FormatError> {
    let mut notes = Vec::new();
    let chains = match paths {
        [folder] if folder.is_dir() => chains_in(folder, &mut notes)?,
        files => files.iter().map(|path| chain_at(path)).collect::<Result<_, _>>()?,
    };
    let chains = distinct(chains, &mut notes);
    if let [folder] = paths
        && folder.is_dir()
    {
        notes.extend(what_may_be_several_runs(&chains).map(|what| format!("{}: {what}", folder.display())));
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
    let draws = common_length(&chains)?;
    let warmup = common_warmup(&chains, draws, &mut notes);
    if warmup + draws == 0 {
        return Err(unreadable(match first.expected_draws() {
            Some(0) => "it holds no draws, and its settings ask for none after warm-up: sample with more".into(),
            _ => "it holds no draws yet".into(),
        }));
    }
    let bytes = chains.iter().map(|chain| chain.values.len().saturating_mul(size_of::<f64>()));
    memory_for(bytes.fold(0, usize::saturating_add)).map_err(unreadable)?;
    notes.extend(chains.iter().filter_map(what_is_short));
    let mut data = InferenceData { notes, ..InferenceData::default() };
    for (prefix, of_warmup, count) in [("", false, draws), ("warmup_", true, warmup)] {
        if count > 0 {
            Phase { chains: &chains, of_warmup, count }.add_groups(prefix, &variables, &mut data);
        }
    }
    Ok(StanCsv { data, metrics: chains.into_iter().map(|chain| chain.adaptation).collect() })
}

/// Reads the chain in a file.
fn chain_at(path: &Path) -> Result<ChainFile, FormatError> {
    let chain = file::read(path)?;
    match what_is_no_chain(&chain) {
        Some(what) => Err(FormatError::Unreadable { path: path.to_owned(), what: format!("it is {what}") }),
        None => Ok(chain),
    }
}

/// Returns what a file of CmdStan is that holds no chain.
fn what_is_no_chain(chain: &ChainFile) -> Option<String> {
    if chain.is_diagnostic() {
        return Some("CmdStan's diagnostic file, with momenta and gradients".into());
    }
    let method = chain.method();
    (method != "sample").then(|| format!("of CmdStan's method {method}; only files of `sample` are traces"))
}

/// Reads the chains among the CSV files of a folder.
fn chains_in(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<ChainFile>, FormatError> {
    let mut chains = Vec::new();
    let mut others: IndexMap<String, Vec<String>> = IndexMap::new();
    for path in files_ending(folder, "csv")? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let metadata = std::fs::metadata(&path).map_err(FormatError::io("read", &path))?;
        if metadata.is_dir() || name.starts_with('.') {
            continue;
        }
        let other = if !metadata.is_file() {
            Some("a pipe or a device".to_owned())
        } else {
            match of_file(&path)? {
                Ok(format) if format.name() == StanFiles.name() => {
                    let chain = file::read(&path)?;
                    let other = what_is_no_chain(&chain);
                    if other.is_none() {
                        chains.push(chain);
                    }
                    other
                }
                Ok(format) => Some(format!("a {}", format.kind())),
                Err(what) => Some(what.into_owned()),
            }
        };
        if let Some(what) = other {
            others.entry(what).or_default().push(name);
        }
    }
    let told: Vec<String> = others.iter().map(|(what, names)| format!("{} ({what})", shortened(names))).collect();
    if chains.is_empty() {
        let what = format!("none of its CSV files is a chain of CmdStan: {}", told.join(", "));
        return Err(FormatError::Unreadable { path: folder.to_owned(), what });
    }
    if !told.is_empty() {
        notes.push(format!("{}: left out, as no chains: {}", folder.display(), told.join(", ")));
    }
    chains.sort_by_key(|chain| (chain.id().unwrap_or(u64::MAX), number(&chain.path), chain.path.clone()));
    Ok(chains)
}

/// Returns names in a line, of very many the first.
fn shortened(names: &[String]) -> String {
    const MOST: usize = 10;
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// Returns the chains without those whose files have the bytes of an earlier one: a copy, a link, or a file that is named
/// twice is no second chain.
fn distinct(chains: Vec<ChainFile>, notes: &mut Vec<String>) -> Vec<ChainFile> {
    let mut distinct: Vec<ChainFile> = Vec::with_capacity(chains.len());
    for chain in chains {
        match distinct.iter().find(|earlier| earlier.fingerprint == chain.fingerprint) {
            None => distinct.push(chain),
            Some(earlier) if earlier.path == chain.path => {
                notes.push(format!("{} is named twice: it is one chain, and counts once", chain.path.display()));
            }
            Some(earlier) => {
                let (copy, first) = (chain.path.display(), earlier.path.display());
                notes.push(format!("{copy} has the same bytes as {first}: both are one chain, and count once"));
            }
        }
    }
    distinct
}

/// Returns the note on chains of which several have one number. CmdStan gives all chains of a process one number, or each
/// its own: numbers that differ and come again are as if of several runs.
fn what_may_be_several_runs(chains: &[ChainFile]) -> Option<String> {
    let mut of_ids: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for chain in chains {
        let name = chain.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        of_ids.entry(chain.id()?).or_default().push(name);
    }
    let (id, names) = of_ids.iter().find(|(_, names)| names.len() > 1)?;
    (of_ids.len() > 1).then(|| {
        format!(
            "{} have one chain's number (id = {id}), as if of several runs: all {} files are read as chains of one; \
             give the files of one run if they are not",
            shortened(names),
            chains.len()
        )
    })
}

/// Returns the note on a chain that has not all the draws that it was to have.
fn what_is_short(chain: &ChainFile) -> Option<String> {
    let (path, draws) = (chain.path.display(), chain.draws());
    let cut = if chain.is_cut { "; its last line is cut, and left out" } else { "" };
    match chain.expected_draws().filter(|&expected| draws < expected) {
        // There are only draws of warm-up, and whoever asks for others is told.
        Some(_) if draws == 0 => None,
        Some(expected) => Some(format!(
            "{path} has {draws} of {expected} draws, as if its chain was stopped early; the {draws} are used{cut}"
        )),
        None if chain.is_cut => Some(format!("{path} ends within a line, which is left out")),
        None => None,
    }
}

/// Returns the number at the end of a file's name: `schools_12.csv`.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    name[name.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..].parse().ok()
}

/// Returns the number of draws that all chains share.
fn common_length(chains: &[ChainFile]) -> Result<usize, FormatError> {
    let counts: Vec<usize> = chains.iter().map(ChainFile::draws).collect();
    if counts.iter().all(|&count| count == counts[0]) {
        return Ok(counts[0]);
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let short = chains.iter().zip(&counts).filter(|(_, count)| **count < most);
    let short: Vec<String> =
        short.map(|(chain, count)| format!("{} has {count} draws of {most}", chain.path.display())).collect();
    let path = chains[0].path.parent().unwrap_or(Path::new("")).to_owned();
    let fix = format!("{}: name the other files alone, or sample anew", short.join(", "));
    Err(FormatError::UnequalChains { path, counts, fix })
}

/// Returns the number of draws of warm-up that all chains share; 0 where they keep unequal numbers, as chains of
/// different `save_warmup` do: then warm-up is left out.
fn common_warmup(chains: &[ChainFile], draws: usize, notes: &mut Vec<String>) -> usize {
    let counts: Vec<usize> = chains.iter().map(|chain| chain.warmup).collect();
    if counts.iter().all(|&count| count == counts[0]) {
        return counts[0];
    }
    if draws > 0 {
        notes.push(format!("warm-up is left out: the chains keep unequal numbers of draws of it ({counts:?})"));
    }
    0
}

/// The rows of warm-up, or those after it, of all chains.
struct Phase<'a> {
    chains: &'a [ChainFile],
    of_warmup: bool,
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
            let name = statistic_name(name);
            stats.insert(name, self.array([], in_type_of_statistic(name, self.gather(&[column]))));
        }
        if let Some(reached) = self.reached_max_depth() {
            stats.insert("reached_max_treedepth", self.array([], Values::Bool(reached)));
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

    /// Returns whether each transition reached the depth limit of its own chain, where every file tells its own.
    fn reached_max_depth(&self) -> Option<Vec<bool>> {
        let column = self.chains[0].header.iter().position(|name| name == "treedepth__")?;
        let limits: Vec<f64> = self.chains.iter().map(ChainFile::max_depth).collect::<Option<_>>()?;
        let depths = self.gather(&[column]);
        Some(
            depths
                .chunks(self.count)
                .zip(limits)
                .flat_map(|(own, limit)| own.iter().map(move |&d| d >= limit))
                .collect(),
        )
    }

    /// Returns the values of some columns, chain after chain, draw after draw.
    fn gather(&self, columns: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.chains.len() * self.count * columns.len());
        for chain in self.chains {
            let first = if self.of_warmup { 0 } else { chain.warmup };
            for row in chain.values.chunks_exact(chain.header.len()).skip(first).take(self.count) {
                out.extend(columns.iter().map(|&column| row[column]));
            }
        }
        out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_names_are_told() {
        let told = |count: usize| shortened(&(0..count).map(|at| at.to_string()).collect::<Vec<_>>());
        assert_eq!(told(10), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
        assert_eq!(told(11), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more");
    }
}
