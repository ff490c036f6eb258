//! One CSV file of CmdStan, RStan or PyStan 2: settings in comments, a line of names, a line for each draw.
//!
//! What the settings say of warm-up, thinning and the depth limit, and which words are numbers, is decided here.

use super::metric::{InverseMetric, StanMetric};
use crate::FormatError;
use crate::csv_text::{header_of, names_in, number, shown_cell, text_of, without_mark};
use crate::draw_table::index_columns;
use indexmap::IndexMap;
use octopus_files::read_regular;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

/// A chain as it lies in its file.
#[derive(Debug)]
pub(super) struct ChainFile {
    pub path: PathBuf,
    /// The settings in the comments, such as `num_samples = 1000`; the first one where a name occurs twice.
    pub settings: IndexMap<String, String>,
    pub header: Vec<String>,
    /// All rows, one after another, each with one number for each name of the header.
    pub values: Vec<f64>,
    /// The number of rows that are of warm-up.
    pub warmup: usize,
    pub adaptation: Option<StanMetric>,
    /// Whether the last line ends without its end of line, and is left out.
    pub is_cut: bool,
    /// The length and a hash of the file's bytes: a copy has the same.
    pub fingerprint: (usize, u64),
}

impl ChainFile {
    /// Returns the number of rows after warm-up.
    pub(super) fn draws(&self) -> usize {
        self.values.len() / self.header.len() - self.warmup
    }

    /// Returns the method of CmdStan that made the file; RStan and PyStan name none.
    pub(super) fn method(&self) -> &str {
        self.settings.get("method").map_or("sample", String::as_str)
    }

    /// Returns the number of the chain that its sampler gave it.
    pub(super) fn id(&self) -> Option<u64> {
        setting(&self.settings, &["id", "chain_id"])
    }

    /// Returns the draws after warm-up that the settings ask for.
    pub(super) fn expected_draws(&self) -> Option<usize> {
        let of_rstan = || {
            let iterations: usize = setting(&self.settings, &["iter"])?;
            iterations.checked_sub(setting(&self.settings, &["warmup"])?)
        };
        let draws: usize = setting(&self.settings, &["num_samples"]).or_else(of_rstan)?;
        Some(thinned(draws, &self.settings))
    }

    /// Returns the depth limit of the trees.
    pub(super) fn max_depth(&self) -> Option<f64> {
        setting(&self.settings, &["max_depth", "max_treedepth"])
    }

    /// Returns whether the file is CmdStan's `diagnostic_file`: coordinates, momenta `p_` and gradients `g_` of each. A
    /// model may have such parameters, too; then the settings name no such file.
    pub(super) fn is_diagnostic(&self) -> bool {
        if self.settings.get("diagnostic_file").is_none_or(String::is_empty) {
            return false;
        }
        let own: Vec<&str> = self.header.iter().map(String::as_str).filter(|name| !name.ends_with("__")).collect();
        let (names, rest) = own.split_at(own.len() / 3);
        let has = |prefix: &str, found: &[&str]| {
            names.len() == found.len()
                && names.iter().zip(found).all(|(name, of)| of.strip_prefix(prefix) == Some(*name))
        };
        let (momenta, gradients) = rest.split_at(names.len());
        !names.is_empty() && has("p_", momenta) && has("g_", gradients)
    }
}

/// Returns whether a file that begins so is a CSV of Stan: comments with Stan's version, or the column `lp__`. A table
/// whose columns number chains and draws, which programs make of all chains, is none.
pub(crate) fn looks_like_stan(beginning: &[u8]) -> bool {
    without_mark(beginning).starts_with(b"# stan_version")
        || header_of(beginning)
            .is_some_and(|names| names.iter().any(|name| name == "lp__") && index_columns(&names).is_none())
}

pub(super) fn read(path: &Path) -> Result<ChainFile, FormatError> {
    let bytes = read_regular(path).map_err(FormatError::io("read", path))?;
    parse(path, &bytes).map_err(|what| FormatError::Unreadable { path: path.to_owned(), what })
}

fn parse(path: &Path, bytes: &[u8]) -> Result<ChainFile, String> {
    let mut file = ChainFile {
        path: path.to_owned(),
        settings: IndexMap::new(),
        header: Vec::new(),
        values: Vec::new(),
        warmup: 0,
        adaptation: None,
        is_cut: false,
        fingerprint: fingerprint(bytes),
    };
    let mut adaptation = Adaptation::default();
    let mut rows = 0;
    let mut adapted_after = None;
    for (at, line) in without_mark(bytes).split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_whole = line.ends_with(b"\n");
        let line = line.trim_ascii_end();
        if let Some(comment) = line.strip_prefix(b"#") {
            let comment = text_of(comment);
            if comment.contains("Adaptation terminated") {
                adapted_after.get_or_insert(rows);
            }
            adaptation.line(comment.trim());
            if file.header.is_empty() {
                add_setting(&comment, &mut file.settings);
            }
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if file.header.is_empty() {
            file.header = names_in(line);
            continue;
        }
        // The last line of a chain that was killed is cut; its last number may be cut, too, without showing it.
        if !is_whole {
            file.is_cut = true;
            break;
        }
        add_row(line, &mut file).map_err(|what| format!("line {}: {what}", at + 1))?;
        rows += 1;
    }
    if file.header.is_empty() {
        return Err("it has no line of column names, so it is no CSV of CmdStan".into());
    }
    file.warmup = adapted_after.unwrap_or_else(|| saved_warmup(&file.settings).min(rows));
    file.adaptation = adaptation.finish();
    Ok(file)
}

fn fingerprint(bytes: &[u8]) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    (bytes.len(), hasher.finish())
}

/// Adds the numbers of a line.
fn add_row(line: &[u8], file: &mut ChainFile) -> Result<(), String> {
    let columns = file.header.len();
    let fields = line.split(|&byte| byte == b',').count();
    if fields != columns {
        return Err(format!("it has {fields} values, where the header names {columns} columns"));
    }
    file.values.try_reserve(columns).map_err(|_| "there is no memory for its values".to_owned())?;
    for (field, name) in line.split(|&byte| byte == b',').zip(&file.header) {
        let value = number(field).ok_or_else(|| {
            if field.trim_ascii() == name.as_bytes() {
                return "it has the names of the columns again: give each chain a file of its own".to_owned();
            }
            format!("column {name}: `{}` is no number: correct the value, or sample anew", shown_cell(field))
        })?;
        file.values.push(value);
    }
    Ok(())
}

/// Returns the draws of warm-up that the settings say are in the file: of a chain that does not adapt, or was killed
/// before it had, no comment tells where warm-up ends.
fn saved_warmup(settings: &IndexMap<String, String>) -> usize {
    // Whatever the settings say, Stan runs no warm-up for parameters that are fixed.
    let is_fixed = |name| settings.get(name).is_some_and(|value: &String| value.eq_ignore_ascii_case("fixed_param"));
    if is_fixed("algorithm") || is_fixed("sampler_t") {
        return 0;
    }
    let saved = settings.get("save_warmup").is_some_and(|saved| saved == "true" || saved == "1");
    if saved { thinned(setting(settings, &["num_warmup", "warmup"]).unwrap_or(0), settings) } else { 0 }
}

/// Returns how many of so many iterations are kept: Stan keeps the first, and then each `thin`-th.
fn thinned(iterations: usize, settings: &IndexMap<String, String>) -> usize {
    iterations.div_ceil(setting(settings, &["thin"]).unwrap_or(1).max(1))
}

/// Returns the first of these settings that is there: CmdStan has one name, RStan and PyStan 2 another.
fn setting<T: std::str::FromStr>(settings: &IndexMap<String, String>, names: &[&str]) -> Option<T> {
    names.iter().find_map(|name| settings.get(*name))?.parse().ok()
}

/// `#   num_samples = 1000 (Default)`
fn add_setting(comment: &str, settings: &mut IndexMap<String, String>) {
    if let Some((name, value)) = comment.split_once('=') {
        let value = value.trim().trim_end_matches("(Default)").trim();
        settings.entry(name.trim().to_owned()).or_insert_with(|| value.to_owned());
    }
}

/// The results of warm-up that the comments give at its end.
#[derive(Default)]
struct Adaptation {
    step_size: Option<f64>,
    rows: Vec<Vec<f64>>,
    is_dense: bool,
    reading: bool,
}

impl Adaptation {
    fn line(&mut self, comment: &str) {
        if let Some(value) = comment.strip_prefix("Step size =") {
            self.step_size = value.trim().parse().ok();
        } else if comment.ends_with("inverse mass matrix:") && self.rows.is_empty() {
            self.is_dense = comment.starts_with("Elements");
            self.reading = true;
        } else if self.reading {
            match comment.split(',').map(|number| number.trim().parse()).collect() {
                Ok(row) => self.rows.push(row),
                Err(_) => self.reading = false,
            }
            self.reading &= self.is_dense;
        }
    }

    fn finish(self) -> Option<StanMetric> {
        let len = self.rows.first()?.len();
        let whole = self.rows.iter().all(|row| row.len() == len) && (!self.is_dense || self.rows.len() == len);
        let values = self.rows.concat();
        let inverse = if self.is_dense { InverseMetric::Dense(values) } else { InverseMetric::Diagonal(values) };
        whole.then_some(StanMetric { step_size: self.step_size, inverse })
    }
}
