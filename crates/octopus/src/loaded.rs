//! Traces that have been read: from a run folder, or from files of another program.

use crate::{Material, Picture, PointwiseLikelihood, PredictiveAccuracy, TraceError, problem};
use octopus_diag::{DiagnoseOptions, Diagnosis, ParameterSummary, diagnose, loo};
use octopus_formats::FORMATS;
use octopus_models::{Problem, Registry};
use octopus_report::{Figure, SummaryRow};
use octopus_runs::{RunError, RunFolder, RunRecord, RunStatus, diagnose_options, open_trace};
use octopus_trace::{Attribute, Dataset, InferenceData};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The endings of file names by which [`Trace::save`] knows a format, each with the format's name.
const ENDINGS: [(&str, &str); 4] = [("nc", "netcdf"), ("zarr", "zarr"), ("parquet", "parquet"), ("csv", "csv")];

/// The draws of a run, with the run's record where there is one.
pub struct Trace {
    /// All groups of the trace.
    pub data: InferenceData,
    /// The run's record; `None` for files that another program wrote.
    pub record: Option<RunRecord>,
    /// The path or paths that the trace was read from, as text.
    pub name: String,
}

impl Trace {
    /// Reads a trace of any format: a run folder, a file or store of another program, or the CSV files of CmdStan's
    /// chains, which are several paths.
    ///
    /// # Errors
    /// When there is no trace at a path, or it is damaged.
    pub fn open(paths: &[PathBuf]) -> Result<Self, TraceError> {
        let name = match paths {
            [path] => path.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
            [] => String::new(),
        };
        if let [path] = paths
            && RunFolder::is_run(path)
        {
            let folder = RunFolder::open(path)?;
            return Ok(Self { data: folder.read()?, record: Some(folder.record().clone()), name });
        }
        Ok(Self { data: open_trace(paths)?, record: None, name })
    }

    /// Returns the draws without warm-up: the group `posterior`.
    ///
    /// # Errors
    /// When the run is still in warm-up, or the file has no group `posterior`.
    pub fn posterior(&self) -> Result<&Dataset, TraceError> {
        let name = &self.name;
        let warmup = || self.data.group("warmup_posterior").is_some();
        match (self.data.posterior(), &self.record) {
            (Some(posterior), _) => Ok(posterior),
            (None, Some(_)) => Err(TraceError::InWarmUp { name: name.clone() }),
            (None, None) if warmup() => Err(TraceError::lacks(format!(
                "{name} has no draws yet, only those of warm-up: its chains were stopped in warm-up, are still in it, or were to draw none after it"
            ))),
            (None, None) => Err(TraceError::lacks(format!("{name} has no group `posterior`: it is no trace of draws"))),
        }
    }

    /// Returns the options with which the draws are diagnosed: those of the run's settings, and the depth limit where the
    /// attributes of another program's trace tell it.
    pub fn diagnose_options(&self) -> DiagnoseOptions {
        let of_run = self.record.as_ref().map(diagnose_options);
        of_run.unwrap_or_else(|| DiagnoseOptions {
            max_tree_depth: self.told_depth_limit(),
            ..DiagnoseOptions::default()
        })
    }

    /// Returns the depth limit of all chains, as the attributes of a group tell it. ArviZ has the settings of CmdStan as
    /// lists of text, with an entry for each chain.
    fn told_depth_limit(&self) -> Option<u32> {
        fn whole(value: &Attribute) -> Option<u32> {
            match value {
                Attribute::I64(number) => u32::try_from(*number).ok(),
                Attribute::F64(number) => (number.fract() == 0.0 && *number > 0.0).then_some(*number as u32),
                Attribute::Text(text) => text.trim().parse().ok(),
                Attribute::List(values) => {
                    let first = whole(values.first()?)?;
                    values.iter().all(|value| whole(value) == Some(first)).then_some(first)
                }
            }
        }
        const NAMES: [&str; 4] = ["max_treedepth", "max_tree_depth", "max_depth", "maxdepth"];
        let groups = ["sample_stats", "posterior"].into_iter().filter_map(|group| self.data.group(group));
        groups.flat_map(|group| NAMES.iter().filter_map(|name| group.attrs.get(*name))).find_map(whole)
    }

    /// Summarises the draws and checks them with the statistics of their transitions: R-hat, effective sample sizes,
    /// divergences, E-BFMI, tree depth. Printed, it is the table, one line for each check, and advice.
    ///
    /// # Errors
    /// When there are no draws, or they cannot be summarised.
    pub fn diagnose(&self) -> Result<Diagnosis, TraceError> {
        let posterior = self.posterior()?;
        let found = diagnose(posterior, self.data.group("sample_stats"), &self.diagnose_options());
        found.map_err(|source| TraceError::Named { name: self.name.clone(), source })
    }

    /// Estimates how well the model predicts, by leave-one-out cross-validation (PSIS-LOO) of the group
    /// `log_likelihood`.
    ///
    /// # Errors
    /// When the trace has no draws or no log likelihoods.
    pub fn loo(&self) -> Result<PredictiveAccuracy, TraceError> {
        let PointwiseLikelihood { log_likelihood, reff } = PointwiseLikelihood::read(self, &[])?;
        Ok(PredictiveAccuracy::new(loo(&log_likelihood, reff)?, &log_likelihood))
    }

    /// Makes a picture of all parameters, or of what the trace predicts. [`Material`] chooses parameters, and adds what only
    /// the model knows.
    ///
    /// # Errors
    /// When the trace lacks something that the picture needs.
    pub fn picture(&self, picture: Picture) -> Result<Figure, TraceError> {
        picture.figure(&Material::new(self, None, &[])?)
    }

    /// Writes all groups in the format of the file name's ending: `.nc` (NetCDF, for ArviZ), `.zarr`, `.parquet`, `.csv`.
    /// A trace that is there already is replaced.
    ///
    /// # Errors
    /// When the ending is another, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TraceError> {
        let path = path.as_ref();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let name = ENDINGS.iter().find(|(of_format, _)| ending.as_deref() == Some(of_format)).map(|(_, name)| *name);
        let writer = FORMATS.iter().find(|format| Some(format.name()) == name).and_then(|format| format.writer());
        let Some(write) = writer else {
            let known = ENDINGS.map(|(ending, _)| format!(".{ending}")).join(", ");
            return Err(TraceError::lacks(format!("{}: a trace is saved as one of {known}", path.display())));
        };
        Ok(write(path, &self.data, true).map_err(RunError::from)?)
    }

    /// Returns whether the trace is of a run that is not complete and can still grow.
    pub fn unfinished(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.status != RunStatus::Complete)
    }

    /// Builds the model of the run again, with its data.
    ///
    /// # Errors
    /// When the trace is a file of another program, the model is not in `models`, or the data have gone or changed.
    pub fn problem(&self, models: Registry) -> Result<Arc<dyn Problem>, TraceError> {
        problem::of_run(models, self.record.as_ref().ok_or(TraceError::NoModel)?)
    }
}

/// Converts summaries of parameters to rows for pictures and reports; `truth` has the true values by name.
pub fn rows(parameters: &[ParameterSummary], truth: &HashMap<String, f64>) -> Vec<SummaryRow> {
    let row = |p: &ParameterSummary| SummaryRow { summary: p.clone(), truth: truth.get(&p.name).copied() };
    parameters.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(groups: &[&str], record: Option<RunRecord>) -> Trace {
        let mut data = InferenceData::default();
        groups.iter().for_each(|group| data.insert(*group, Dataset::default()));
        Trace { data, record, name: "runs/a".into() }
    }

    #[test]
    fn a_trace_without_draws_says_what_to_do() {
        let record = || Some(RunRecord::new(Default::default(), Default::default(), Default::default()));
        let told = |groups: &[&str], record| trace(groups, record).posterior().unwrap_err().to_string();
        let in_warm_up = told(&["warmup_posterior"], record());
        assert!(in_warm_up.contains("no draws yet") && in_warm_up.contains("octopus resume runs/a"), "{in_warm_up}");
        let of_others = told(&["warmup_posterior"], None);
        assert!(of_others.contains("runs/a has no draws yet, only those of warm-up"), "{of_others}");
        assert!(told(&["prior"], None).contains("no group `posterior`"));
        assert!(trace(&["posterior"], None).posterior().is_ok());
    }

    #[test]
    fn the_depth_limit_is_that_of_the_run_or_of_the_attributes() {
        let limit = |group: &str, name: &str, value: Attribute| {
            let mut trace = trace(&["posterior", "sample_stats"], None);
            trace.data.groups[group].attrs.insert(name.into(), value);
            trace.diagnose_options().max_tree_depth
        };
        let text = |words: &[&str]| Attribute::List(words.iter().map(|&word| word.into()).collect());
        for (group, name, value, expected) in [
            ("sample_stats", "max_treedepth", Attribute::I64(8), Some(8)),
            ("posterior", "max_depth", Attribute::I64(12), Some(12)),
            ("posterior", "maxdepth", Attribute::F64(10.0), Some(10)),
            ("posterior", "max_tree_depth", Attribute::from(" 9 "), Some(9)),
            // `arviz.from_cmdstan(...).to_netcdf(...)`.
            ("posterior", "max_depth", text(&["8", "8", "8", "8"]), Some(8)),
            ("posterior", "max_depth", text(&["8", "10"]), None),
            ("posterior", "max_depth", text(&[]), None),
            ("posterior", "max_depth", Attribute::I64(-1), None),
            ("posterior", "max_depth", Attribute::F64(0.5), None),
            ("posterior", "max_depth", Attribute::from("deep"), None),
            ("posterior", "depth", Attribute::I64(8), None),
        ] {
            assert_eq!(limit(group, name, value.clone()), expected, "{group}: {name} = {value:?}");
        }
        let mut of_run =
            trace(&["posterior"], Some(RunRecord::new(Default::default(), Default::default(), Default::default())));
        of_run.record.as_mut().unwrap().sampler.max_depth = 7;
        of_run.data.groups["posterior"].attrs.insert("max_depth".into(), Attribute::I64(8));
        assert_eq!(of_run.diagnose_options().max_tree_depth, Some(7));
    }
}
