//! One CSV file of CmdStan: settings in comments, a line of names, a line for each draw.

use super::metric::{InverseMetric, StanMetric};
use crate::FormatError;
use indexmap::IndexMap;
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
}

/// Returns whether a file that begins so is a CSV of CmdStan: comments with Stan's version, or the column `lp__`.
pub(crate) fn looks_like_stan(beginning: &str) -> bool {
    let mut lines = beginning.lines();
    beginning.starts_with("# stan_version") || {
        let first = lines.find(|line| !line.starts_with('#') && !line.trim().is_empty());
        first.is_some_and(|line| line.split(',').any(|name| name.trim() == "lp__"))
    }
}

pub(super) fn read(path: &Path) -> Result<ChainFile, FormatError> {
    let bytes = std::fs::read(path).map_err(FormatError::io("read", path))?;
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not text, so no CSV of CmdStan".into()))?;
    parse(path, &text).map_err(unreadable)
}

fn parse(path: &Path, text: &str) -> Result<ChainFile, String> {
    let mut file = ChainFile {
        path: path.to_owned(),
        settings: IndexMap::new(),
        header: Vec::new(),
        values: Vec::new(),
        warmup: 0,
        adaptation: None,
    };
    let mut adaptation = Adaptation::default();
    let mut rows = 0;
    let mut adapted_after = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_whole = line.ends_with('\n');
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(comment) = line.strip_prefix('#') {
            if comment.contains("Adaptation terminated") {
                adapted_after.get_or_insert(rows);
            }
            adaptation.line(comment.trim());
            if file.header.is_empty() {
                setting(comment, &mut file.settings);
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        if file.header.is_empty() {
            file.header = line.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect();
            continue;
        }
        let before = file.values.len();
        let row: Result<(), _> =
            line.split(',').try_for_each(|number| number.trim().parse().map(|number| file.values.push(number)));
        let complete = row.is_ok() && file.values.len() - before == file.header.len();
        // The last line of a chain that was killed is cut; its last number may be cut, too, without showing it.
        if !is_whole {
            file.values.truncate(before);
            break;
        }
        if !complete {
            let (fields, names) = (line.split(',').count(), file.header.len());
            let what = if fields == names { "a value that is no number".into() } else { format!("{fields} values") };
            return Err(format!("line {} has {what}, where the header names {names} columns", number + 1));
        }
        rows += 1;
    }
    if file.header.is_empty() {
        return Err("it has no line of column names, so it is no CSV of CmdStan".into());
    }
    if let Some(method) = file.settings.get("method").filter(|method| *method != "sample") {
        return Err(format!("it was made by CmdStan's method {method}; only those of `sample` are traces"));
    }
    file.warmup = adapted_after.unwrap_or_else(|| saved_warmup(&file.settings).min(rows));
    file.adaptation = adaptation.finish();
    Ok(file)
}

/// Returns the draws of warm-up that the settings say are in the file: of a chain that does not adapt, or was killed
/// before it had, no comment tells where warm-up ends.
fn saved_warmup(settings: &IndexMap<String, String>) -> usize {
    let number = |name: &str| settings.get(name).and_then(|value| value.parse::<usize>().ok());
    let saved = settings.get("save_warmup").is_some_and(|saved| saved == "true" || saved == "1");
    if saved { number("num_warmup").unwrap_or(0).div_ceil(number("thin").unwrap_or(1).max(1)) } else { 0 }
}

/// `#   num_samples = 1000 (Default)`
fn setting(comment: &str, settings: &mut IndexMap<String, String>) {
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
