//! `octopus calibrate MODEL --out DIR`

use crate::args::{CalibrateArgs, Global, PictureFormat};
use crate::calibration::{
    Folder, Model, asked, default_kept, geweke_text, hierarchical, of_moments, of_ranks, ranks_text,
};
use crate::config::config_error;
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use anyhow::Result;
use octopus_calibrate::{
    CalibrateError, DataSet, GewekeSettings, SchoolsSimulator, SelfCheck, Settings, Simulator, Table, geweke, judge,
    run as run_data_sets, self_check,
};
use octopus_report::{Figure, Format, Plot, write_figures};
use octopus_sampler::SamplerConfig;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Between two parts of ranks: what a power cut costs at most.
const PART: Duration = Duration::from_secs(2);
/// Between two lines of progress.
const LINE: Duration = Duration::from_secs(10);

/// Calibrates a model.
///
/// # Errors
/// When settings are out of range, or the folder holds another calibration or cannot be written.
pub(crate) fn run(args: &CalibrateArgs, global: Global) -> Result<Exit> {
    let (model, sampler) = asked(args)?;
    let work = Work { args, global, model: &model, sampler, interrupt: Interrupt::install()? };
    match &model {
        Model::EightSchools => work.start(&SchoolsSimulator::rubin()),
        Model::HierarchicalNormal { group_sizes, prior, likelihood } => {
            work.start(&hierarchical(group_sizes, *prior, *likelihood)?)
        }
    }
}

/// Settings by their options' names.
fn in_options(error: CalibrateError) -> anyhow::Error {
    match error {
        CalibrateError::Setting { field, value, expected } => {
            UsageError(format!("--{field} {value}: {expected}")).into()
        }
        CalibrateError::Config(error) => config_error(&error).into(),
        other => other.into(),
    }
}

struct Work<'a> {
    args: &'a CalibrateArgs,
    global: Global,
    model: &'a Model,
    sampler: SamplerConfig,
    interrupt: Interrupt,
}

impl Work<'_> {
    fn start<S: Simulator>(&self, simulator: &S) -> Result<Exit> {
        if self.args.geweke { self.geweke(simulator) } else { self.ranks(simulator) }
    }

    fn threads(&self) -> usize {
        self.args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    fn ranks<S: Simulator>(&self, simulator: &S) -> Result<Exit> {
        let Self { args, sampler, model, interrupt, .. } = self;
        let kept = args.kept.unwrap_or_else(|| default_kept(sampler));
        let settings = Settings { seed: sampler.seed, kept, sampler: sampler.clone() };
        settings.validate().map_err(in_options)?;
        let record = json!({ "schema": 1, "test": "ranks", "model": model, "sampler": sampler, "kept": kept });
        let mut folder = Folder::open(&args.out, &record, Some(Table::of(simulator)), args.force)?;
        let mut done = folder.data_sets()?;
        let missing: Vec<u32> = (0..args.datasets).filter(|number| !done.contains_key(number)).collect();
        if !self.global.quiet {
            let (all, there) = (args.datasets, args.datasets as usize - missing.len());
            output::note(format!("{all} data sets of {}, {there} of them are there", model.describe()));
        }
        let mut new: Vec<DataSet> = Vec::new();
        let (mut written, mut said, begin) = (Instant::now(), Instant::now(), Instant::now());
        let (all, mut finished) = (missing.len(), 0);
        run_data_sets(simulator, &settings, missing, self.threads(), &|| interrupt.asked(), &mut |data_set| {
            new.push(data_set);
            finished += 1;
            if written.elapsed() >= PART {
                folder.add(&new)?;
                done.extend(new.drain(..).map(|data_set| (data_set.number, data_set)));
                written = Instant::now();
            }
            if said.elapsed() >= LINE && !self.global.quiet {
                let left = begin.elapsed().as_secs_f64() * (all as f64 / f64::from(finished) - 1.0);
                output::note(format!("{finished}/{all} data sets, {left:.0} s left"));
                said = Instant::now();
            }
            anyhow::Ok(())
        })?;
        folder.add(&new)?;
        done.extend(new.into_iter().map(|data_set| (data_set.number, data_set)));
        let there = (0..args.datasets).filter(|number| done.contains_key(number)).count();
        if there < args.datasets as usize {
            let kept = format!("{there} of {} data sets are kept, the same command goes on", args.datasets);
            return self.interrupted(&kept);
        }
        folder.finish(&done.values().cloned().collect::<Vec<_>>())?;
        // More may be there, of an earlier session that was asked for more.
        let mut judged: Vec<DataSet> = done.into_values().filter(|data_set| data_set.number < args.datasets).collect();
        let judgement = judge(simulator, &settings, &mut judged, args.false_alarm)?;
        let checks = self_check(simulator, settings.seed, sampler)?;
        let text = ranks_text(&judgement, &checks, &model.describe());
        let result = json!({ "ranks": judgement });
        self.conclude(&folder, record, result, &checks, judgement.calibrated, of_ranks(&judgement)?.into(), &text)
    }

    fn geweke<S: Simulator>(&self, simulator: &S) -> Result<Exit> {
        let Self { args, sampler, model, interrupt, .. } = self;
        let settings = GewekeSettings {
            seed: sampler.seed,
            sequences: args.sequences,
            steps: args.steps.unwrap_or_else(|| model.geweke_steps()),
            sampler: sampler.clone(),
            false_alarm: args.false_alarm,
        };
        let record = json!({
            "schema": 1,
            "test": "geweke",
            "model": model,
            "sampler": sampler,
            "sequences": args.sequences,
            "steps": settings.steps,
        });
        let folder = Folder::open(&args.out, &record, None, args.force)?;
        if !self.global.quiet {
            output::note(format!("{} sequences of {} steps of {}", args.sequences, settings.steps, model.describe()));
        }
        let Some(found) = geweke(simulator, &settings, self.threads(), &|| interrupt.asked()).map_err(in_options)?
        else {
            return self.interrupted("Geweke's sequences are not kept, the same command begins again");
        };
        let checks = self_check(simulator, settings.seed, sampler)?;
        let text = geweke_text(&found, &checks, &model.describe());
        let pictures = vec![of_moments(&found)];
        self.conclude(&folder, record, json!({ "geweke": found }), &checks, found.calibrated, pictures, &text)
    }

    fn interrupted(&self, kept: &str) -> Result<Exit> {
        output::note(format!("interrupted: {kept}"));
        if self.global.json {
            output::print_json(&json!({ "schema": 1, "status": "interrupted", "kept": kept }))?;
        }
        Ok(Exit::Interrupted)
    }

    #[allow(clippy::too_many_arguments, reason = "all that both tests have found, written in one place")]
    fn conclude(
        &self,
        folder: &Folder,
        settings: Value,
        found: Value,
        checks: &[SelfCheck],
        calibrated: bool,
        pictures: Vec<Plot>,
        text: &str,
    ) -> Result<Exit> {
        let calibrated = calibrated && checks.iter().all(|check| check.passed);
        let mut result = json!({ "schema": 1, "calibrated": calibrated, "settings": settings, "self_check": checks });
        if let (Value::Object(result), Value::Object(found)) = (&mut result, found) {
            result.extend(found);
        }
        folder.write_result(&result)?;
        let figures: Vec<Figure> = pictures.into_iter().map(Figure::new).collect();
        write_figures(&folder.join(""), &figures, PictureFormat::all(&self.args.format))?;
        if self.global.json {
            output::print_json(&result)?;
        } else {
            output::print(&format!("{text}\nfolder: {}", self.args.out.display()))?;
        }
        Ok(if calibrated { Exit::Fine } else { Exit::Bad })
    }
}

impl PictureFormat {
    /// What pictures are written as, for a list of formats.
    pub(super) fn all(asked: &[Self]) -> Format {
        match (asked.contains(&Self::Png), asked.contains(&Self::Svg)) {
            (true, true) => Format::PngAndSvg,
            (false, true) => Format::Svg,
            _ => Format::Png,
        }
    }
}
