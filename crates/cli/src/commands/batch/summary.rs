//! The summary of a batch (`summary.csv`, `batch.json`): one row for each data set, also as a table for people.

use super::read_back;
use super::sets::{Set, SetState};
use anyhow::{Context, Result};
use octopus_diag::{Diagnosis, TableLook, TextColumn, text_table};
use octopus_files::{WithInfinities, write_file};
use octopus_runs::{PreparedRun, StrategyPlan, now_utc};
use octopus_sampler::SamplerConfig;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The most rows of the table for people.
const ROWS: usize = 24;

/// The end of a data set's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ended {
    /// The run has failed.
    Failed,
    /// The run's draws should not be used as they are.
    Unfit,
    /// The run has not ended, because the batch was interrupted.
    Open,
    /// The run's draws can be used.
    Fit,
}

impl Ended {
    fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Unfit => "unfit",
            Self::Open => "open",
            Self::Fit => "fit",
        }
    }
}

/// The mean, standard deviation and R-hat of a parameter that is one number.
#[derive(Clone, Debug, Serialize)]
struct Parameter {
    name: String,
    mean: f64,
    sd: f64,
    rhat: f64,
}

/// The results of one data set.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SetRow {
    name: String,
    status: Ended,
    /// The run folder of the data set.
    run: PathBuf,
    /// The seed with which `octopus sample --data` gives the same draws.
    seed: u64,
    observations: Option<usize>,
    groups: Option<usize>,
    max_rhat: Option<f64>,
    min_ess_bulk: Option<f64>,
    min_ess_tail: Option<f64>,
    divergences: Option<u64>,
    parameters: Vec<Parameter>,
    error: Option<String>,
}

/// The results of a batch: the contents of `batch.json`.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    schema: u32,
    created: String,
    octopus: &'static str,
    source: &'a Path,
    device: String,
    device_reason: String,
    /// Why these chains were chosen; empty where the user asked for them.
    strategy_reason: String,
    /// The sampler's settings; each data set has its own seed.
    sampler: &'a SamplerConfig,
    fit: usize,
    unfit: usize,
    failed: usize,
    open: usize,
    sets: Vec<SetRow>,
}

/// Reads back and judges the draws of a data set.
///
/// # Errors
/// When the run of the data set cannot be read.
pub(super) fn row(set: &Set) -> Result<SetRow> {
    let diagnosis = match &set.state {
        SetState::Complete(record) => Some(read_back(&set.dir, record)?),
        _ => None,
    };
    let status = match (&set.state, &diagnosis) {
        (SetState::Failed(_), _) => Ended::Failed,
        (_, Some(diagnosis)) if diagnosis.usable() => Ended::Fit,
        (_, Some(_)) => Ended::Unfit,
        _ => Ended::Open,
    };
    let data = set.problem.as_ref().map(|problem| problem.data());
    let error = match &set.state {
        SetState::Failed(error) => Some(error.clone()),
        _ => None,
    };
    let summary = diagnosis.as_ref().map(|diagnosis| &diagnosis.summary);
    Ok(SetRow {
        name: set.name.clone(),
        status,
        run: set.dir.clone(),
        seed: set.config.seed,
        observations: data.map(|data| data.observations),
        groups: data.map(|data| data.groups),
        max_rhat: summary.map(|summary| summary.max_rhat()),
        min_ess_bulk: summary.map(|summary| summary.min_ess_bulk()),
        min_ess_tail: summary.map(|summary| summary.min_ess_tail()),
        divergences: diagnosis.as_ref().and_then(|diagnosis| diagnosis.divergences),
        parameters: diagnosis.as_ref().map(scalars).unwrap_or_default(),
        error,
    })
}

/// Returns the parameters that are one number each.
fn scalars(diagnosis: &Diagnosis) -> Vec<Parameter> {
    let all = diagnosis.summary.parameters.iter().filter(|p| !p.name.contains('['));
    all.map(|p| Parameter { name: p.name.clone(), mean: p.mean, sd: p.sd, rhat: p.rhat }).collect()
}

impl<'a> Summary<'a> {
    pub(super) fn new(source: &'a Path, prepared: &'a PreparedRun, sets: Vec<SetRow>) -> Self {
        let count = |status| sets.iter().filter(|row| row.status == status).count();
        let PreparedRun { request, plan, device, .. } = prepared;
        Self {
            schema: 1,
            created: now_utc(),
            octopus: env!("CARGO_PKG_VERSION"),
            source,
            device: device.name(),
            device_reason: device.reason(),
            strategy_reason: plan.as_ref().map(StrategyPlan::reason).unwrap_or_default(),
            sampler: &request.sampler,
            fit: count(Ended::Fit),
            unfit: count(Ended::Unfit),
            failed: count(Ended::Failed),
            open: count(Ended::Open),
            sets,
        }
    }

    pub(super) fn all_fit(&self) -> bool {
        self.fit == self.sets.len()
    }

    /// Writes `batch.json` and `summary.csv`, with the suffix of the batch's part in their names.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub(super) fn write(&self, out: &Path, suffix: &str) -> Result<()> {
        std::fs::create_dir_all(out).with_context(|| format!("cannot create the folder {}", out.display()))?;
        let json = serde_json::to_vec_pretty(&WithInfinities(self)).context("cannot write the result as JSON")?;
        write_file(&out.join(format!("batch{suffix}.json")), &json)?;
        let csv = self.to_csv().context("cannot write the summary as CSV")?;
        Ok(write_file(&out.join(format!("summary{suffix}.csv")), &csv)?)
    }

    fn to_csv(&self) -> Result<Vec<u8>> {
        let first = self.sets.iter().find(|row| !row.parameters.is_empty());
        let names: Vec<&str> =
            first.map(|row| row.parameters.iter().map(|p| p.name.as_str()).collect()).unwrap_or_default();
        let mut table = csv::Writer::from_writer(Vec::new());
        let fixed = ["name", "status", "seed", "observations", "groups", "max_rhat", "min_ess_bulk", "min_ess_tail"];
        let mut header: Vec<String> = fixed.iter().chain(&["divergences"]).map(|&name| name.to_owned()).collect();
        header.extend(names.iter().flat_map(|name| [format!("{name}_mean"), format!("{name}_sd")]));
        header.push("error".to_owned());
        table.write_record(&header)?;
        let real = |x: Option<f64>| x.filter(|x| x.is_finite()).map(|x| format!("{x:?}")).unwrap_or_default();
        let whole = |x: Option<usize>| x.map(|x| x.to_string()).unwrap_or_default();
        for row in &self.sets {
            let mut cells = vec![row.name.clone(), row.status.word().to_owned(), row.seed.to_string()];
            cells.extend([whole(row.observations), whole(row.groups)]);
            cells.extend([row.max_rhat, row.min_ess_bulk, row.min_ess_tail].map(real));
            cells.push(row.divergences.map(|count| count.to_string()).unwrap_or_default());
            for name in &names {
                let own = row.parameters.iter().find(|p| p.name == *name);
                cells.extend([real(own.map(|p| p.mean)), real(own.map(|p| p.sd))]);
            }
            cells.push(row.error.clone().unwrap_or_default());
            table.write_record(&cells)?;
        }
        Ok(table.into_inner()?)
    }

    /// Returns the table for people; data sets that need a look come first.
    pub(super) fn to_text(&self, out: &Path, suffix: &str) -> String {
        let mut rows: Vec<&SetRow> = self.sets.iter().collect();
        rows.sort_by_key(|row| row.status);
        let words = ["data set", "status"].map(TextColumn::left);
        let numbers = ["obs", "groups", "r_hat", "ess_bulk", "ess_tail", "div"].map(TextColumn::right);
        let columns = [&words[..], &numbers, &[TextColumn::left("means (sd)")]].concat();
        let real = |x: Option<f64>, digits| x.map(|x| format!("{x:.digits$}")).unwrap_or_default();
        let whole = |x: Option<usize>| x.map(|x| x.to_string()).unwrap_or_default();
        let cells = |row: &&SetRow| {
            let means: Vec<String> =
                row.parameters.iter().map(|p| format!("{} {:.4} ({:.4})", p.name, p.mean, p.sd)).collect();
            [
                row.name.clone(),
                row.status.word().to_owned(),
                whole(row.observations),
                whole(row.groups),
                real(row.max_rhat, 4),
                real(row.min_ess_bulk, 0),
                real(row.min_ess_tail, 0),
                row.divergences.map(|count| count.to_string()).unwrap_or_default(),
                row.error.clone().unwrap_or_else(|| means.join(", ")),
            ]
        };
        let shown: Vec<_> = rows.iter().take(ROWS).map(cells).collect();
        let mut text = text_table(&columns, &shown, TableLook::default());
        if rows.len() > ROWS {
            text += &format!("... and {} more\n", rows.len() - ROWS);
        }
        let Self { fit, unfit, failed, open, .. } = self;
        let open = if *open > 0 { format!(", {open} not complete") } else { String::new() };
        text + &format!(
            "{} data sets: {fit} fit for use, {unfit} not, {failed} failed{open}\nsummary: {}\nrun folders: {}",
            rows.len(),
            out.join(format!("summary{suffix}.csv")).display(),
            out.join("sets").display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{DeviceChoice, DeviceRequest};
    use octopus_diag::{DiagnoseOptions, diagnose};
    use octopus_runs::RunRequest;
    use octopus_trace::{Array, Dataset, Values};

    /// A row of a run that can be used, with a parameter; of another one without.
    fn made(number: usize, status: Ended) -> SetRow {
        let parameter = Parameter { name: "mu".to_owned(), mean: 2.5, sd: 0.5, rhat: 1.001 };
        SetRow {
            name: format!("set {number}"),
            status,
            run: PathBuf::new(),
            seed: 3,
            observations: Some(20),
            groups: None,
            max_rhat: Some(1.25),
            min_ess_bulk: Some(f64::NAN),
            min_ess_tail: None,
            divergences: Some(4),
            parameters: if status == Ended::Fit { vec![parameter] } else { Vec::new() },
            error: (status == Ended::Failed).then(|| "torn".to_owned()),
        }
    }

    fn prepared() -> PreparedRun {
        let device = DeviceRequest { choice: DeviceChoice::Cpu, ..DeviceRequest::default() };
        PreparedRun::of_batch(&[], RunRequest { device, ..RunRequest::default() }).unwrap()
    }

    fn with_summary<T>(status: &[Ended], look: impl Fn(&Summary<'_>) -> T) -> T {
        let rows = status.iter().enumerate().map(|(number, &status)| made(number, status)).collect();
        look(&Summary::new(Path::new("in"), &prepared(), rows))
    }

    #[test]
    fn a_table_has_the_columns_of_the_first_run_with_parameters() {
        let csv = with_summary(&[Ended::Failed, Ended::Fit], |summary| summary.to_csv().unwrap());
        let expected = "name,status,seed,observations,groups,max_rhat,min_ess_bulk,min_ess_tail,divergences,mu_mean,\
                        mu_sd,error\nset 0,failed,3,20,,1.25,,,4,,,torn\nset 1,fit,3,20,,1.25,,,4,2.5,0.5,\n";
        assert_eq!(String::from_utf8(csv).unwrap(), expected);
    }

    #[test]
    fn people_see_what_needs_a_look_first_and_how_much_is_left_out() {
        let text = |status: &[Ended]| with_summary(status, |summary| summary.to_text(Path::new("out"), ""));
        let few = text(&[Ended::Fit, Ended::Open, Ended::Failed]);
        let names: Vec<&str> = few.lines().filter_map(|line| line.trim_start().get(..5)).collect();
        let of_sets: Vec<&&str> = names.iter().filter(|name| name.starts_with("set ")).collect();
        assert_eq!(of_sets, [&"set 2", &"set 1", &"set 0"], "{few}");
        assert!(few.contains("3 data sets: 1 fit for use, 0 not, 1 failed, 1 not complete\n"), "{few}");
        assert!(!text(&[Ended::Fit; 24]).contains("more"));
        let many = text(&[Ended::Fit; 26]);
        assert!(many.contains("... and 2 more\n") && !many.contains("not complete"), "{many}");
        assert_eq!(many.lines().filter(|line| line.starts_with("set ")).count(), 24, "{many}");
    }

    #[test]
    fn numbers_have_as_many_decimals_as_count() {
        let prepared = prepared();
        let row = SetRow { min_ess_bulk: Some(1234.75), min_ess_tail: Some(987.25), ..made(0, Ended::Fit) };
        let summary = Summary::new(Path::new("in"), &prepared, vec![row]);
        let text = summary.to_text(Path::new("out"), "");
        let line = text.lines().find(|line| line.contains("set 0")).unwrap();
        let words: Vec<&str> = line.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).collect();
        assert_eq!(words, ["0", "20", "1.2500", "1235", "987", "4", "2.5000"], "{line}");
        let json = serde_json::to_value(WithInfinities(&summary)).unwrap();
        assert_eq!((&json["schema"], &json["sets"][0]["seed"], &json["fit"]), (&1.into(), &3.into(), &1.into()));
    }

    #[test]
    fn a_row_tells_its_data_set_and_why_it_has_failed() {
        let config = SamplerConfig { seed: 17, ..SamplerConfig::default() };
        let state = SetState::Failed("torn".to_owned());
        let set = Set { number: 0, name: "oslo".to_owned(), dir: "out/sets/oslo".into(), config, problem: None, state };
        let found = row(&set).unwrap();
        assert_eq!((found.name.as_str(), found.run.as_path(), found.seed), ("oslo", Path::new("out/sets/oslo"), 17));
        assert_eq!((found.status, found.error.as_deref()), (Ended::Failed, Some("torn")));
    }

    /// The variables that are one number, each with what the summary says of it.
    #[test]
    fn parameters_are_those_of_one_number() {
        let mut posterior = Dataset::default();
        let draws = |scale: f64| (0..80).map(|i| scale * f64::from(i * 37 % 80)).collect::<Vec<f64>>();
        posterior.insert("mu", Array::new([("chain", 2), ("draw", 40)], Values::F64(draws(1.0))));
        let effects = draws(1.0).into_iter().flat_map(|x| [x, -x]).collect();
        posterior.insert("effect", Array::new([("chain", 2), ("draw", 40), ("group", 2)], Values::F64(effects)));
        posterior.insert("tau", Array::new([("chain", 2), ("draw", 40)], Values::F64(draws(3.0))));
        let diagnosis = diagnose(&posterior, None, &DiagnoseOptions::default()).unwrap();
        let found = scalars(&diagnosis);
        assert_eq!(found.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["mu", "tau"]);
        for (found, scale) in found.iter().zip([1.0, 3.0]) {
            // The numbers 0 to 79 in another order: mean 39.5, variance (80^2 - 1) / 12 * 80 / 79.
            assert!((found.mean - scale * 39.5).abs() < 1e-9, "{found:?}");
            assert!((found.sd - scale * (6399.0_f64 / 12.0 * 80.0 / 79.0).sqrt()).abs() < 1e-9, "{found:?}");
        }
        let rhats = diagnosis.summary.parameters.iter().filter(|p| !p.name.contains("effect")).map(|p| p.rhat);
        assert!(found.iter().map(|p| p.rhat).eq(rhats) && found[0].rhat > 0.9, "{found:?}");
    }

    #[test]
    fn a_batch_is_fit_when_every_data_set_is() {
        let fit = |status: &[Ended]| with_summary(status, |summary| summary.all_fit());
        assert!(fit(&[Ended::Fit, Ended::Fit]));
        for other in [Ended::Failed, Ended::Unfit, Ended::Open] {
            assert!(!fit(&[Ended::Fit, other]));
        }
    }
}
